//! Muon: the momentum of a matrix, made orthogonal, is its update, so that every direction is learnt at the same pace, rare ones too.
//!
//! Source: K. Jordan and others, *Muon: An optimizer for hidden layers in neural networks* (2024); the scale, by which Adam's learning rates serve, is
//! that of J. Liu and others, *Muon is scalable for LLM training* (arXiv:2502.16982).

use candle_core::{Device, Tensor};
use hormone_t5::Result;

/// Share of the momentum that stays.
const MOMENTUM: f32 = 0.95;

/// Coefficients and number of the Newton-Schulz iterations, which push every singular value towards 1.
const COEFFICIENTS: (f64, f64, f64) = (3.4445, -4.775, 2.0315);
const ITERATIONS: usize = 5;

/// Root mean square of an update, relative to the learning rate: about what Adam's updates have.
const UPDATE_SCALE: f64 = 0.2;

/// Takes `gradient` of a matrix `[rows, columns]` into `momentum`; gives the update, to be multiplied by the learning rate and subtracted.
pub(super) fn update(momentum: &mut [f32], gradient: &[f32], shape: (usize, usize)) -> Result<Vec<f32>> {
    for (momentum, gradient) in momentum.iter_mut().zip(gradient) {
        *momentum = MOMENTUM * *momentum + gradient;
    }
    // Nesterov's look ahead.
    let ahead: Vec<f32> = momentum.iter().zip(gradient).map(|(momentum, gradient)| gradient + MOMENTUM * momentum).collect();
    let scale = UPDATE_SCALE * (shape.0.max(shape.1) as f64).sqrt();
    Ok((orthogonal(&Tensor::from_vec(ahead, shape, &Device::Cpu)?)? * scale)?.flatten_all()?.to_vec1()?)
}

/// `U V^T` of `matrix = U S V^T`, roughly: singular values come out between about 0.7 and 1.2.
fn orthogonal(matrix: &Tensor) -> Result<Tensor> {
    let (rows, columns) = matrix.dims2()?;
    if rows > columns {
        return Ok(orthogonal(&matrix.t()?.contiguous()?)?.t()?.contiguous()?);
    }
    let norm = matrix.sqr()?.sum_all()?.sqrt()?.to_scalar::<f32>()?;
    let mut x = (matrix / (f64::from(norm) + 1e-7))?;
    let (a, b, c) = COEFFICIENTS;
    for _ in 0..ITERATIONS {
        let square = x.matmul(&x.t()?)?; // [rows, rows]
        let polynomial = ((&square * b)? + (square.matmul(&square)? * c)?)?;
        x = ((&x * a)? + polynomial.matmul(&x)?)?;
    }
    Ok(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: usize, columns: usize) -> Tensor {
        let value = |place: usize| ((place * 7919 + 13) % 101) as f32 / 50.0 - 1.0;
        Tensor::from_iter((0..rows * columns).map(value), &Device::Cpu).expect("values").reshape((rows, columns)).expect("a matrix")
    }

    #[test]
    fn rows_of_an_orthogonalised_matrix_are_about_orthonormal_whether_it_is_wide_or_tall() {
        for (rows, columns) in [(6, 20), (20, 6)] {
            let x = orthogonal(&matrix(rows, columns)).expect("orthogonal");
            let short = if rows <= columns { x } else { x.t().expect("transposed") };
            let square: Vec<Vec<f32>> = short.matmul(&short.t().expect("transposed")).expect("a product").to_vec2().expect("values");
            for (row, values) in square.iter().enumerate() {
                for (column, value) in values.iter().enumerate() {
                    // Squares of singular values, which end between about 0.7 and 1.2.
                    let expected = if row == column { 0.4..1.5 } else { -0.4..0.4 };
                    assert!(expected.contains(value), "{row}, {column}: {value}");
                }
            }
        }
    }

    #[test]
    fn updates_have_the_same_size_whatever_the_gradients() {
        for factor in [1e-6f32, 1.0, 1e3] {
            let gradient: Vec<f32> = matrix(8, 32).flatten_all().and_then(|flat| flat.to_vec1()).expect("values");
            let gradient: Vec<f32> = gradient.iter().map(|value| value * factor).collect();
            let update = update(&mut vec![0.0; 256], &gradient, (8, 32)).expect("an update");
            let size = (update.iter().map(|value| value * value).sum::<f32>() / 256.0).sqrt();
            assert!((0.1..0.3).contains(&size), "{factor}: {size}");
        }
    }
}
