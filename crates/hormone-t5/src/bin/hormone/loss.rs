//! The losses, all differentiable.
//!
//! ```text
//! L           = L_seq + 5 L_hormone + 0.5 L_diversity
//! L_seq       = token cross-entropy, padding left out
//! L_hormone   = MSE(h, h*) + 0.3 L_margin
//! L_margin    = mean over targets > 0.8 of ReLU(0.7 - h)  +  mean over targets < 0.2 of ReLU(h - 0.3)
//! L_diversity = mean of |cos(q_i, q_j)| over the 30 ordered pairs of different hormones
//! ```
//!
//! Source: HELT (arXiv:2605.13858). Every mean is a sum over a count that the caller gives, so that parts of a batch add up to the whole.

use candle_core::{Device, Tensor};
use hormone_t5::{Result, ops};

/// Weight of the hormone loss.
pub(crate) const HORMONE_WEIGHT: f64 = 5.0;
/// Weight of the margin loss within the hormone loss.
pub(crate) const MARGIN_WEIGHT: f64 = 0.3;
/// Weight of the diversity loss.
pub(crate) const DIVERSITY_WEIGHT: f64 = 0.5;

/// Cross-entropy of `labels [B, T]` (u32) under `logits [B, T, V]`, each times its `weights [B, T]` (0 on padding), summed, over `count`.
pub(crate) fn sequence_loss(logits: &Tensor, labels: &Tensor, weights: &Tensor, count: f64) -> Result<Tensor> {
    let (batch, length, vocabulary) = logits.dims3()?;
    let losses = ops::cross_entropy(&logits.reshape((batch * length, vocabulary))?, &labels.flatten_all()?)?; // [B*T]
    Ok(((losses * weights.flatten_all()?)?.sum_all()? / count)?)
}

/// Squared error of `levels [B, N]` against `targets [B, N]`, over the rows where `mask [B]` is 1; `count` values in all.
pub(crate) fn level_mse(levels: &Tensor, targets: &Tensor, mask: &Tensor, count: f64) -> Result<Tensor> {
    let squared = (levels - targets)?.sqr()?.broadcast_mul(&mask.unsqueeze(1)?)?;
    Ok((squared.sum_all()? / count)?)
}

/// Absolute error of `levels [B, N]` against `targets [B, N]`, like [`level_mse`]. Where a text may show one of two tones, the squared error is least half-way
/// between them and this at the likelier one.
pub(crate) fn level_mae(levels: &Tensor, targets: &Tensor, mask: &Tensor, count: f64) -> Result<Tensor> {
    let absolute = (levels - targets)?.abs()?.broadcast_mul(&mask.unsqueeze(1)?)?;
    Ok((absolute.sum_all()? / count)?)
}

/// How many targets ask for a high and for a low level.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct MarginCounts {
    pub(crate) high: usize,
    pub(crate) low: usize,
}

impl MarginCounts {
    pub(crate) fn of(targets: impl IntoIterator<Item = f32>) -> Self {
        let mut counts = Self::default();
        for target in targets {
            counts.high += usize::from(target > 0.8);
            counts.low += usize::from(target < 0.2);
        }
        counts
    }
}

/// Pushes high targets' levels above 0.7 and low targets' below 0.3.
pub(crate) fn margin_loss(levels: &Tensor, targets: &Tensor, mask: &Tensor, counts: MarginCounts) -> Result<Tensor> {
    let mask = mask.unsqueeze(1)?.broadcast_as(targets.shape())?; // [B, N]
    let high = (targets.gt(0.8f32)?.to_dtype(candle_core::DType::F32)? * &mask)?;
    let low = (targets.lt(0.2f32)?.to_dtype(candle_core::DType::F32)? * &mask)?;
    let too_low = ((levels.neg()? + 0.7)?.relu()? * high)?.sum_all()?;
    let too_high = ((levels - 0.3)?.relu()? * low)?.sum_all()?;
    Ok(((too_low / counts.high.max(1) as f64)? + (too_high / counts.low.max(1) as f64)?)?)
}

/// Mean absolute cosine between the queries of different hormones, `queries [N, D]`.
pub(crate) fn diversity_loss(queries: &Tensor) -> Result<Tensor> {
    let norms = queries.sqr()?.sum_keepdim(1)?.sqrt()?.clamp(1e-8f32, f32::MAX)?;
    let unit = queries.broadcast_div(&norms)?;
    let cosines = unit.matmul(&unit.t()?)?.abs()?; // [N, N]
    let count = queries.dim(0)?;
    let others = Tensor::from_iter((0..count * count).map(|place| f32::from(place / count != place % count)), &Device::Cpu)?;
    let others = others.reshape((count, count))?;
    Ok(((cosines * others)?.sum_all()? / (count * (count - 1)) as f64)?)
}

#[cfg(test)]
mod tests {
    use candle_core::Var;

    use super::*;

    #[test]
    fn between_two_targets_the_squared_error_settles_at_their_mean_and_the_absolute_one_at_the_likelier() -> Result<()> {
        let targets = Tensor::new(&[[0.9f32], [0.9], [0.9], [0.1]], &Device::Cpu)?;
        let mask = Tensor::ones(4, candle_core::DType::F32, &Device::Cpu)?;
        let pull = |at: f32, loss: fn(&Tensor, &Tensor, &Tensor, f64) -> Result<Tensor>| -> Result<f32> {
            let level = Var::new(at, &Device::Cpu)?;
            let gradients = loss(&level.broadcast_as((4, 1))?, &targets, &mask, 4.0)?.backward()?;
            Ok(gradients.get(&level).map(Tensor::to_scalar::<f32>).transpose()?.unwrap_or_default())
        };
        assert!(pull(0.7, level_mse)?.abs() < 1e-6 && pull(0.7, level_mae)? < -0.4);
        assert!(pull(0.95, level_mae)? > 0.9);
        Ok(())
    }

    #[test]
    fn rows_without_a_target_have_no_error() -> Result<()> {
        let targets = Tensor::new(&[[0.9f32, 0.1], [0.0, 0.0]], &Device::Cpu)?;
        let levels = Tensor::new(&[[0.7f32, 0.2], [0.6, 0.6]], &Device::Cpu)?;
        let mask = Tensor::new(&[1f32, 0.0], &Device::Cpu)?;
        assert!((level_mse(&levels, &targets, &mask, 2.0)?.to_scalar::<f32>()? - 0.025).abs() < 1e-6);
        assert!((level_mae(&levels, &targets, &mask, 2.0)?.to_scalar::<f32>()? - 0.15).abs() < 1e-6);
        Ok(())
    }
}
