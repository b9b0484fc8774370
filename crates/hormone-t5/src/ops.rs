//! Operations that candle offers only without gradients, written so that gradients flow.

use candle_core::{D, Tensor};

use crate::Result;

/// `exp(x - max) / sum(exp(x - max))` over the last dimension.
pub(crate) fn softmax_last_dim(x: &Tensor) -> Result<Tensor> {
    // The maximum only guards against overflow; the result does not depend on it, so no gradient is lost.
    let shifted = x.broadcast_sub(&x.max_keepdim(D::Minus1)?.detach())?;
    let exponentials = shifted.exp()?;
    Ok(exponentials.broadcast_div(&exponentials.sum_keepdim(D::Minus1)?)?)
}

/// `weight * (x - mean) / sqrt(variance + epsilon) + bias` over the last dimension.
pub(crate) fn layer_norm(x: &Tensor, weight: &Tensor, bias: &Tensor, epsilon: f64) -> Result<Tensor> {
    let centred = x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)?;
    let variance = centred.sqr()?.mean_keepdim(D::Minus1)?;
    let normed = centred.broadcast_div(&(variance + epsilon)?.sqrt()?)?;
    Ok(normed.broadcast_mul(weight)?.broadcast_add(bias)?)
}

/// `1 / (1 + exp(-x))`.
pub(crate) fn sigmoid(x: &Tensor) -> Result<Tensor> {
    Ok((x.neg()?.exp()? + 1.0)?.recip()?)
}
