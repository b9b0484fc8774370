//! Fused operations with gradients.
//!
//! candle's own `softmax_last_dim` and norms stop gradients, and the same formulas written with its plain operations cost several passes over
//! memory forwards and twice as many backwards. Each operation here is one pass each way; its plain twin stands in the tests at the bottom.
//! All work on contiguous f32 tensors of the CPU, row by row over the last dimension.

use candle_core::{CpuStorage, CustomOp1, CustomOp2, CustomOp3, D, Layout, Shape, Tensor, bail};

use crate::Result;

/// `exp(x - max) / sum(exp(x - max))` over the last dimension.
pub(crate) fn softmax_last_dim(x: &Tensor) -> Result<Tensor> {
    Ok(x.contiguous()?.apply_op1(Softmax)?)
}

/// `weight * x / sqrt(mean(x^2) + epsilon)` over the last dimension; `weight [D]`.
pub(crate) fn rms_norm(x: &Tensor, weight: &Tensor, epsilon: f64) -> Result<Tensor> {
    Ok(x.contiguous()?.apply_op2(weight, RmsNorm { epsilon: epsilon as f32 })?)
}

/// `log(sum(exp(logits))) - logits[label]` of each row: `logits [R, V]`, `labels [R]` (u32) to `[R]`.
pub fn cross_entropy(logits: &Tensor, labels: &Tensor) -> Result<Tensor> {
    Ok(logits.contiguous()?.apply_op2(&labels.contiguous()?, CrossEntropy)?)
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

type Output = candle_core::Result<(CpuStorage, Shape)>;

/// The values of a contiguous tensor.
pub(crate) fn values<'a, T: candle_core::WithDType>(storage: &'a CpuStorage, layout: &Layout) -> candle_core::Result<&'a [T]> {
    match layout.contiguous_offsets() {
        Some((start, end)) => Ok(&storage.as_slice::<T>()?[start..end]),
        None => bail!("a contiguous tensor was expected"),
    }
}

/// Lends the values of a contiguous f32 tensor of the CPU.
pub(crate) fn with_values<R>(tensor: &Tensor, work: impl FnOnce(&[f32]) -> R) -> Result<R> {
    let (storage, layout) = tensor.storage_and_layout();
    match &*storage {
        candle_core::Storage::Cpu(storage) => Ok(work(values(storage, layout)?)),
        _ => Err(candle_core::Error::Msg("a tensor of the CPU was expected".to_string()).into()),
    }
}

fn row_width(layout: &Layout) -> usize {
    layout.dims().last().copied().unwrap_or(1).max(1)
}

/// In eight sums at once, which the compiler makes vectors of.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    rest + sums.iter().sum::<f32>()
}

/// `y = x W^T`: `x [rows, inputs]`, `weight [outputs, inputs]`, `y [rows, outputs]`.
pub(crate) fn product(x: &[f32], weight: &[f32], inputs: usize, y: &mut [f32]) {
    let outputs = weight.len() / inputs;
    for (output, weight) in weight.chunks_exact(inputs).enumerate() {
        for (row, x) in x.chunks_exact(inputs).enumerate() {
            y[row * outputs + output] = dot(x, weight);
        }
    }
}

/// `row <- weight * row / sqrt(mean(row^2) + epsilon)`.
pub(crate) fn rms_norm_row(row: &mut [f32], weight: &[f32], epsilon: f32) {
    let scale = RmsNorm { epsilon }.scale(row);
    row.iter_mut().zip(weight).for_each(|(value, weight)| *value *= scale * weight);
}

/// `y = x w`: `x [rows, inner]`, `w [inner, columns]`, `y [rows, columns]`.
pub(crate) fn matmul(x: &[f32], w: &[f32], inner: usize, y: &mut [f32]) {
    const ROWS: usize = 4;
    let columns = w.len() / inner;
    for (x, y) in x.chunks(ROWS * inner).zip(y.chunks_mut(ROWS * columns)) {
        if x.len() == ROWS * inner {
            matmul_strip::<ROWS>(x, w, inner, y);
        } else {
            x.chunks_exact(inner).zip(y.chunks_exact_mut(columns)).for_each(|(x, y)| matmul_strip::<1>(x, w, inner, y));
        }
    }
}

/// `R` rows, as many columns at a time as registers hold.
fn matmul_strip<const R: usize>(x: &[f32], w: &[f32], inner: usize, y: &mut [f32]) {
    let columns = w.len() / inner;
    let mut first = 0;
    while first < columns {
        first += match columns - first {
            8.. => matmul_tile::<R, 8>(x, w, first, y),
            4.. => matmul_tile::<R, 4>(x, w, first, y),
            _ => matmul_tile::<R, 1>(x, w, first, y),
        };
    }
}

/// `R` rows and `C` columns from `first` on; gives `C`.
fn matmul_tile<const R: usize, const C: usize>(x: &[f32], w: &[f32], first: usize, y: &mut [f32]) -> usize {
    let (inner, columns) = (x.len() / R, y.len() / R);
    let rows: [&[f32]; R] = std::array::from_fn(|row| &x[row * inner..][..inner]);
    let mut sums = [[0.0f32; C]; R];
    for (place, w) in w.chunks_exact(columns).enumerate().take(inner) {
        let w = &w[first..first + C];
        for (x, sums) in rows.iter().zip(&mut sums) {
            sums.iter_mut().zip(w).for_each(|(sum, w)| *sum += x[place] * w);
        }
    }
    for (y, sums) in y.chunks_exact_mut(columns).zip(sums) {
        y[first..first + C].copy_from_slice(&sums);
    }
    C
}

/// `row <- softmax(row)`.
pub(crate) fn softmax_row(row: &mut [f32]) {
    let max = row.iter().fold(f32::NEG_INFINITY, |max, value| if *value > max { *value } else { max });
    row.iter_mut().for_each(|value| *value = exp(*value - max));
    let scale = 1.0 / row.iter().sum::<f32>();
    row.iter_mut().for_each(|value| *value *= scale);
}

/// `e^x` for `x <= 0` with a relative error below 1e-6, 0 below -87: `x = n ln 2 + r`, a polynomial in `r`, and `n` into the exponent's bits. The
/// compiler makes vectors of it, and of the standard library's not.
pub(crate) fn exp(x: f32) -> f32 {
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    const TO_INTEGER: f32 = 12_582_912.0; // 1.5 * 2^23: leaves no fraction
    let n = (x * std::f32::consts::LOG2_E + TO_INTEGER) - TO_INTEGER;
    let r = x - n * LN_2_HIGH - n * LN_2_LOW;
    let series = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0 + r / 720.0)))));
    let power = f32::from_bits((((n as i32) + 127) << 23) as u32) * series;
    if x < -87.0 { 0.0 } else { power }
}

/// `log(sum(exp(x)))`.
pub fn log_sum_exp(scores: &[f32]) -> f64 {
    let max = scores.iter().copied().fold(f32::NEG_INFINITY, |max, score| if score > max { score } else { max });
    // Short sums in f32, which the compiler makes vectors of; their sum in f64.
    let sum: f64 = scores.chunks(256).map(|scores| f64::from(sum_exp(scores, max))).sum();
    f64::from(max) + sum.ln()
}

fn sum_exp(scores: &[f32], max: f32) -> f32 {
    let mut sums = [0.0f32; 8];
    let chunks = scores.chunks_exact(8);
    let rest: f32 = chunks.remainder().iter().map(|score| exp(score - max)).sum();
    for scores in chunks {
        for (sum, score) in sums.iter_mut().zip(scores) {
            *sum += exp(score - max);
        }
    }
    rest + sums.iter().sum::<f32>()
}

struct Softmax;

impl CustomOp1 for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Output {
        let mut y = values::<f32>(storage, layout)?.to_vec();
        y.chunks_exact_mut(row_width(layout)).for_each(softmax_row);
        Ok((CpuStorage::F32(y), layout.shape().clone()))
    }

    fn bwd(&self, _x: &Tensor, y: &Tensor, grad: &Tensor) -> candle_core::Result<Option<Tensor>> {
        Ok(Some(y.apply_op2_no_bwd(&grad.contiguous()?, &SoftmaxGradient)?))
    }
}

/// `y * (g - sum(g * y))`.
struct SoftmaxGradient;

impl CustomOp2 for SoftmaxGradient {
    fn name(&self) -> &'static str {
        "softmax-gradient"
    }

    fn cpu_fwd(&self, y: &CpuStorage, layout: &Layout, grad: &CpuStorage, grad_layout: &Layout) -> Output {
        let width = row_width(layout);
        let mut result = values::<f32>(grad, grad_layout)?.to_vec();
        for (grad, y) in result.chunks_exact_mut(width).zip(values::<f32>(y, layout)?.chunks_exact(width)) {
            let mean = dot(grad, y);
            grad.iter_mut().zip(y).for_each(|(grad, y)| *grad = y * (*grad - mean));
        }
        Ok((CpuStorage::F32(result), layout.shape().clone()))
    }
}

#[derive(Clone, Copy)]
struct RmsNorm {
    epsilon: f32,
}

impl RmsNorm {
    /// `1 / sqrt(mean(x^2) + epsilon)`.
    fn scale(self, row: &[f32]) -> f32 {
        1.0 / (dot(row, row) / row.len() as f32 + self.epsilon).sqrt()
    }
}

impl CustomOp2 for RmsNorm {
    fn name(&self) -> &'static str {
        "rms-norm"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout, weight: &CpuStorage, weight_layout: &Layout) -> Output {
        let weight = values::<f32>(weight, weight_layout)?;
        let mut y = values::<f32>(x, layout)?.to_vec();
        y.chunks_exact_mut(row_width(layout)).for_each(|row| rms_norm_row(row, weight, self.epsilon));
        Ok((CpuStorage::F32(y), layout.shape().clone()))
    }

    fn bwd(&self, x: &Tensor, weight: &Tensor, _y: &Tensor, grad: &Tensor) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        let (x, grad) = (x.contiguous()?, grad.contiguous()?);
        let x_gradient = x.apply_op3_no_bwd(weight, &grad, &RmsNormGradient(*self))?;
        let weight_gradient = x.apply_op2_no_bwd(&grad, &RmsNormWeightGradient(*self))?;
        Ok((Some(x_gradient), Some(weight_gradient)))
    }
}

/// `s * g * w - x * s^3 / D * sum(g * w * x)`, with `s` the row's scale.
struct RmsNormGradient(RmsNorm);

impl CustomOp3 for RmsNormGradient {
    fn name(&self) -> &'static str {
        "rms-norm-gradient"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
        grad: &CpuStorage,
        grad_layout: &Layout,
    ) -> Output {
        let width = row_width(layout);
        let weight = values::<f32>(weight, weight_layout)?;
        let mut result = values::<f32>(grad, grad_layout)?.to_vec();
        for (grad, x) in result.chunks_exact_mut(width).zip(values::<f32>(x, layout)?.chunks_exact(width)) {
            let scale = self.0.scale(x);
            grad.iter_mut().zip(weight).for_each(|(grad, weight)| *grad *= weight);
            let along = dot(grad, x) * scale * scale * scale / width as f32;
            grad.iter_mut().zip(x).for_each(|(grad, x)| *grad = *grad * scale - x * along);
        }
        Ok((CpuStorage::F32(result), layout.shape().clone()))
    }
}

/// `sum over rows of g * x * s`.
struct RmsNormWeightGradient(RmsNorm);

impl CustomOp2 for RmsNormWeightGradient {
    fn name(&self) -> &'static str {
        "rms-norm-weight-gradient"
    }

    fn cpu_fwd(&self, x: &CpuStorage, layout: &Layout, grad: &CpuStorage, grad_layout: &Layout) -> Output {
        let width = row_width(layout);
        let mut sum = vec![0.0; width];
        for (x, grad) in values::<f32>(x, layout)?.chunks_exact(width).zip(values::<f32>(grad, grad_layout)?.chunks_exact(width)) {
            let scale = self.0.scale(x);
            sum.iter_mut().zip(x.iter().zip(grad)).for_each(|(sum, (x, grad))| *sum += x * grad * scale);
        }
        Ok((CpuStorage::F32(sum), Shape::from(width)))
    }
}

struct CrossEntropy;

impl CustomOp2 for CrossEntropy {
    fn name(&self) -> &'static str {
        "cross-entropy"
    }

    fn cpu_fwd(&self, logits: &CpuStorage, layout: &Layout, labels: &CpuStorage, labels_layout: &Layout) -> Output {
        let rows = values::<f32>(logits, layout)?.chunks_exact(row_width(layout));
        let labels = values::<u32>(labels, labels_layout)?;
        if labels.iter().any(|label| *label as usize >= row_width(layout)) {
            bail!("a label lies outside the vocabulary");
        }
        let losses: Vec<f32> = rows.zip(labels).map(|(row, label)| log_sum_exp(row) as f32 - row[*label as usize]).collect();
        Ok((CpuStorage::F32(losses), labels_layout.shape().clone()))
    }

    fn bwd(
        &self,
        logits: &Tensor,
        labels: &Tensor,
        _losses: &Tensor,
        grad: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Option<Tensor>)> {
        Ok((Some(logits.apply_op3_no_bwd(labels, &grad.contiguous()?, &CrossEntropyGradient)?), None))
    }
}

/// `g * (softmax(logits) - onehot(label))`.
struct CrossEntropyGradient;

impl CustomOp3 for CrossEntropyGradient {
    fn name(&self) -> &'static str {
        "cross-entropy-gradient"
    }

    fn cpu_fwd(
        &self,
        logits: &CpuStorage,
        layout: &Layout,
        labels: &CpuStorage,
        labels_layout: &Layout,
        grad: &CpuStorage,
        grad_layout: &Layout,
    ) -> Output {
        let width = row_width(layout);
        let logits = values::<f32>(logits, layout)?;
        let mut result = vec![0.0; logits.len()];
        let labels = values::<u32>(labels, labels_layout)?.iter().zip(values::<f32>(grad, grad_layout)?);
        for ((result, row), (label, grad)) in result.chunks_exact_mut(width).zip(logits.chunks_exact(width)).zip(labels) {
            // Padding has no gradient: its row stays 0.
            if *grad != 0.0 {
                let log_sum = log_sum_exp(row) as f32;
                result.iter_mut().zip(row).for_each(|(result, value)| *result = grad * exp(value - log_sum));
                result[*label as usize] -= grad;
            }
        }
        Ok((CpuStorage::F32(result), layout.shape().clone()))
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Var};

    use super::*;

    fn variable(shape: &[usize], seed: f32) -> Result<Var> {
        let count: usize = shape.iter().product();
        let values: Vec<f32> = (0..count).map(|place| ((place as f32 + seed) * 1.7).sin() * 2.0).collect();
        Ok(Var::from_tensor(&Tensor::from_vec(values, shape, &Device::Cpu)?)?)
    }

    /// Values, and gradients of a weighted sum of them, of both forms.
    fn assert_same(fast: &Tensor, plain: &Tensor, variables: &[&Var]) -> Result<()> {
        let weights = variable(fast.dims(), 9.0)?;
        let (fast_gradients, plain_gradients) =
            ((fast * weights.as_tensor())?.sum_all()?.backward()?, (plain * weights.as_tensor())?.sum_all()?.backward()?);
        let difference = |a: &Tensor, b: &Tensor| -> Result<f32> { Ok((a - b)?.abs()?.max_all()?.to_scalar()?) };
        assert!(difference(fast, plain)? < 1e-5);
        for variable in variables {
            let (Some(fast), Some(plain)) = (fast_gradients.get(variable), plain_gradients.get(variable)) else {
                panic!("a gradient is missing")
            };
            assert!(difference(fast, plain)? < 1e-5, "{fast} {plain}");
        }
        Ok(())
    }

    #[test]
    fn softmax_and_its_gradient_equal_the_plain_formula() -> Result<()> {
        let x = variable(&[2, 3, 5], 0.0)?;
        let exponentials = x.exp()?;
        let plain = exponentials.broadcast_div(&exponentials.sum_keepdim(D::Minus1)?)?;
        assert_same(&softmax_last_dim(&x)?, &plain, &[&x])
    }

    #[test]
    fn exponentials_are_the_standard_librarys_and_0_far_down() {
        for step in 0..87_000 {
            let x = -step as f32 / 1000.0;
            let exact = f64::from(x).exp();
            assert!((f64::from(exp(x)) - exact).abs() <= 1e-6 * exact, "{x}");
        }
        assert_eq!((exp(-90.0), exp(f32::NEG_INFINITY), exp(0.0)), (0.0, 0.0, 1.0));
        assert!(exp(f32::NAN).is_nan());
    }

    #[test]
    fn the_sum_of_exponentials_equals_the_plain_one() {
        for count in [1, 7, 8, 300, 5000] {
            let mut scores: Vec<f32> = (0..count).map(|place| ((place * place) as f32 * 0.37).sin() * 9.0).collect();
            scores[count / 2] = f32::NEG_INFINITY;
            scores[0] = 4.0;
            let plain = scores.iter().map(|score| f64::from(*score).exp()).sum::<f64>().ln();
            assert!((log_sum_exp(&scores) - plain).abs() < 1e-6, "{count}");
        }
    }

    #[test]
    fn a_product_of_any_shape_equals_the_plain_one() {
        for (rows, inner, columns) in [(1, 1, 1), (3, 5, 7), (4, 64, 8), (9, 16, 29), (25, 25, 64)] {
            let wave = |count: usize, step: f32| -> Vec<f32> { (0..count).map(|place| (place as f32 * step).sin()).collect() };
            let (x, w) = (wave(rows * inner, 0.37), wave(inner * columns, 0.71));
            let mut y = vec![f32::NAN; rows * columns];
            matmul(&x, &w, inner, &mut y);
            for (place, y) in y.iter().enumerate() {
                let (row, column) = (place / columns, place % columns);
                let plain: f32 = (0..inner).map(|place| x[row * inner + place] * w[place * columns + column]).sum();
                assert!((y - plain).abs() < 1e-5, "{rows} x {inner} x {columns}: {y} {plain}");
            }
        }
    }

    #[test]
    fn softmax_gives_nothing_to_masked_places() -> Result<()> {
        let x = Tensor::new(&[[1.0f32, f32::NEG_INFINITY, 2.0]], &Device::Cpu)?;
        let y: Vec<Vec<f32>> = softmax_last_dim(&x)?.to_vec2()?;
        assert_eq!(y[0][1], 0.0);
        assert!((y[0].iter().sum::<f32>() - 1.0).abs() < 1e-6);
        Ok(())
    }

    #[test]
    fn rms_norm_and_its_gradients_equal_the_plain_formula() -> Result<()> {
        let (x, weight) = (variable(&[2, 3, 8], 1.0)?, variable(&[8], 5.0)?);
        let mean_square = x.sqr()?.mean_keepdim(D::Minus1)?;
        let plain = x.broadcast_div(&(mean_square + 1e-6)?.sqrt()?)?.broadcast_mul(&weight)?;
        assert_same(&rms_norm(&x, &weight, 1e-6)?, &plain, &[&x, &weight])
    }

    #[test]
    fn cross_entropy_and_its_gradient_equal_the_plain_formula() -> Result<()> {
        let logits = variable(&[4, 7], 2.0)?;
        let labels = Tensor::new(&[0u32, 6, 3, 3], &Device::Cpu)?;
        let log_sum = logits.exp()?.sum_keepdim(1)?.log()?;
        let plain = (log_sum - logits.gather(&labels.unsqueeze(1)?, 1)?)?.squeeze(1)?;
        assert_same(&cross_entropy(&logits, &labels)?, &plain, &[&logits])
    }

    #[test]
    fn a_label_outside_the_vocabulary_is_an_error() -> Result<()> {
        let labels = Tensor::new(&[0u32, 7, 3, 3], &Device::Cpu)?;
        assert!(cross_entropy(variable(&[4, 7], 2.0)?.as_tensor(), &labels).is_err());
        Ok(())
    }
}
