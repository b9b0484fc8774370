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

use candle_core::{D, Device, Tensor};
use hormone_t5::hormone_block::levels_tensor;
use hormone_t5::{HormoneLevels, Result, Tone, ops};

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

/// How many tokens back [`repetition_loss`] looks.
const RECENT: usize = 4;

/// Unlikelihood of saying one of the last [`RECENT`] tokens again: the mean of `-log(1 - p(token))` over `count`, where the label is another token.
/// `decoder_input_ids [B, T]` are the labels shifted right; `weights [B, T]` are 0 on padding.
///
/// Source: Welleck et al., *Neural text generation with unlikelihood training* (2020), whose candidates are all tokens so far.
pub(crate) fn repetition_loss(
    logits: &Tensor,
    labels: &Tensor,
    decoder_input_ids: &Tensor,
    weights: &Tensor,
    count: f64,
) -> Result<Tensor> {
    let (batch, length, vocabulary) = logits.dims3()?;
    let (said, wanted): (Vec<Vec<u32>>, Vec<Vec<u32>>) = (decoder_input_ids.to_vec2()?, labels.to_vec2()?);
    let counts: Vec<Vec<f32>> = weights.to_vec2()?;
    let (mut recent, mut mask) = (Vec::with_capacity(batch * length * RECENT), Vec::with_capacity(batch * length * RECENT));
    for ((said, wanted), counts) in said.iter().zip(&wanted).zip(&counts) {
        for (place, label) in wanted.iter().enumerate() {
            for back in 0..RECENT {
                // The first token said is the start token.
                let token = place.checked_sub(back).filter(|place| *place > 0).map(|place| said[place]);
                recent.push(token.unwrap_or(*label));
                mask.push(f32::from(counts[place] > 0.0 && token.is_some_and(|token| token != *label)));
            }
        }
    }
    let rows = batch * length;
    let logits = logits.reshape((rows, vocabulary))?;
    let labels = labels.flatten_all()?;
    let recent = Tensor::from_vec(recent, (rows, RECENT), &Device::Cpu)?;
    let chosen = logits.gather(&Tensor::cat(&[&labels.unsqueeze(1)?, &recent], 1)?.contiguous()?, 1)?; // [R, 1 + RECENT]
    let log_sum = (ops::cross_entropy(&logits, &labels)?.unsqueeze(1)? + chosen.narrow(1, 0, 1)?)?; // [R, 1]
    let likely = chosen.narrow(1, 1, RECENT)?.broadcast_sub(&log_sum)?.exp()?;
    let unlikely = likely.affine(-1.0, 1.0)?.clamp(1e-4f32, 1.0)?.log()?.neg()?;
    Ok(((unlikely * Tensor::from_vec(mask, (rows, RECENT), &Device::Cpu)?)?.sum_all()? / count)?)
}

/// Squared error of `levels [B, N]` against `targets [B, N]`, over the rows where `mask [B]` is 1; `count` values in all.
pub(crate) fn level_mse(levels: &Tensor, targets: &Tensor, mask: &Tensor, count: f64) -> Result<Tensor> {
    mean_of_rows(&(levels - targets)?.sqr()?, mask, count)
}

/// Absolute error of `levels [B, N]` against `targets [B, N]`, like [`level_mse`]. Where a text may show one of two tones, the squared error is
/// least half-way between them and this at the likelier one.
pub(crate) fn level_mae(levels: &Tensor, targets: &Tensor, mask: &Tensor, count: f64) -> Result<Tensor> {
    mean_of_rows(&(levels - targets)?.abs()?, mask, count)
}

/// How quickly a tone becomes unlikely with its squared distance: at the levels of one tone, no other has more than about a hundredth.
const TONE_TEMPERATURE: f64 = 0.15;

/// Cross-entropy of the tones `wanted [B, tones]` under those of `levels [B, N]`, where a tone is the likelier the nearer its levels are:
/// `p(tone) = softmax(-|h - h_tone|^2 / T)`. Which tone is nearest is what the squared error of single levels says little about.
pub(crate) fn tone_loss(levels: &Tensor, wanted: &Tensor, mask: &Tensor, count: f64) -> Result<Tensor> {
    let tones = levels_tensor(&Tone::ALL.map(Tone::levels))?.unsqueeze(0)?; // [1, tones, N]
    let distances = levels.unsqueeze(1)?.broadcast_sub(&tones)?.sqr()?.sum(D::Minus1)?;
    let scores = (distances / -TONE_TEMPERATURE)?;
    let max = scores.max_keepdim(1)?.detach();
    let log_sum = (scores.broadcast_sub(&max)?.exp()?.sum_keepdim(1)?.log()? + max)?; // [B, 1]
    mean_of_rows(&(wanted * log_sum.broadcast_sub(&scores)?)?, mask, count)
}

/// How likely each tone is at `levels`, as [`tone_loss`] sees it.
pub(crate) fn tones_of(levels: HormoneLevels) -> [f32; Tone::ALL.len()] {
    let near = Tone::ALL.map(|tone| (-levels.distance(tone.levels()).powi(2) / TONE_TEMPERATURE as f32).exp());
    let sum = near.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    near.map(|near| near / sum)
}

/// Sum of `values [B, N]` over the rows where `mask [B]` is 1, over `count`.
fn mean_of_rows(values: &Tensor, mask: &Tensor, count: f64) -> Result<Tensor> {
    Ok((values.broadcast_mul(&mask.unsqueeze(1)?)?.sum_all()? / count)?)
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
    fn saying_a_recent_token_again_costs_and_the_label_and_padding_do_not() -> Result<()> {
        let (labels, said) = (Tensor::new(&[[2u32, 3, 3, 0]], &Device::Cpu)?, Tensor::new(&[[0u32, 2, 3, 3]], &Device::Cpu)?);
        let weights = Tensor::new(&[[1f32, 1.0, 1.0, 0.0]], &Device::Cpu)?;
        let loss = |likely: u32, place: usize| -> Result<f32> {
            let mut logits = vec![0f32; 4 * 5];
            logits[place * 5 + likely as usize] = 6.0;
            let logits = Tensor::from_vec(logits, (1, 4, 5), &Device::Cpu)?;
            Ok(repetition_loss(&logits, &labels, &said, &weights, 3.0)?.to_scalar()?)
        };
        // Place 1 says 3 after 2, place 2 says 3 after 2 and 3: only 2 is another token than the label there.
        let even = loss(4, 0)?;
        assert!((even - 2.0 * -(0.8f32.ln()) / 3.0).abs() < 1e-5, "{even}");
        assert!(loss(2, 1)? > even + 1.0 && loss(2, 2)? > even + 1.0);
        assert!(loss(3, 2)? < even && loss(3, 3)? == even);
        Ok(())
    }

    #[test]
    fn the_gradient_of_repetition_lowers_what_was_just_said() -> Result<()> {
        let logits = Var::zeros((1, 2, 4), candle_core::DType::F32, &Device::Cpu)?;
        let (labels, said) = (Tensor::new(&[[2u32, 3]], &Device::Cpu)?, Tensor::new(&[[0u32, 2]], &Device::Cpu)?);
        let weights = Tensor::ones((1, 2), candle_core::DType::F32, &Device::Cpu)?;
        let gradients = repetition_loss(&logits, &labels, &said, &weights, 1.0)?.backward()?;
        let gradient: Vec<Vec<f32>> = gradients.get(&logits).expect("a gradient").squeeze(0)?.to_vec2()?;
        assert_eq!(gradient[0], [0.0; 4]);
        // -log(1 - p) at p = 1/4: p / (1 - p) * (1 - p) for the token itself, -p / (1 - p) * p for each other.
        let expected = [-1.0 / 12.0, -1.0 / 12.0, 0.25, -1.0 / 12.0];
        assert!(gradient[1].iter().zip(expected).all(|(value, expected)| (value - expected).abs() < 1e-5), "{gradient:?}");
        Ok(())
    }

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
    fn the_tone_loss_falls_as_the_right_tone_comes_nearest_and_is_least_at_the_likelier_of_two() -> Result<()> {
        let levels = |tone: Tone| levels_tensor(&[tone.levels()]);
        let mask = Tensor::ones(1, candle_core::DType::F32, &Device::Cpu)?;
        let wanted = |tones: [f32; 5]| Tensor::new(&[tones], &Device::Cpu);
        let (sad, rude) = (levels(Tone::Sad)?, levels(Tone::Rude)?);
        let between = |share: f64| -> Result<f32> {
            let levels = ((&sad * share)? + (&rude * (1.0 - share))?)?;
            Ok(tone_loss(&levels, &wanted(tones_of(Tone::Sad.levels()))?, &mask, 1.0)?.to_scalar()?)
        };
        let losses = [0.0, 0.3, 0.5, 0.7, 1.0].map(|share| between(share).expect("a loss"));
        assert!(losses.is_sorted_by(|before, after| before > after) && losses[4] < 0.06, "{losses:?}");
        let read_as =
            |tone: Tone| -> Result<f32> { Ok(tone_loss(&levels(tone)?, &wanted([0.4, 0.6, 0.0, 0.0, 0.0])?, &mask, 1.0)?.to_scalar()?) };
        assert!(read_as(Tone::Neutral)? < read_as(Tone::Friendly)?);
        Ok(())
    }

    #[test]
    fn each_tone_is_all_but_certain_at_its_own_levels() {
        for (place, tone) in Tone::ALL.into_iter().enumerate() {
            let tones = tones_of(tone.levels());
            assert!(tones[place] > 0.98 && (tones.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{tone:?}: {tones:?}");
        }
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
