//! Known answers, computed before anything is shown.
//!
//! Browsers have said that they support SIMD and then computed nonsense (Safari 16.4), so the arithmetic itself is tested, not its announcement.

use candle_core::{Device, Tensor};

/// A matrix product, an exponential and a sum whose results are known.
pub(super) fn arithmetic() -> Result<(), String> {
    let wrong = |what: &str| format!("self test failed: {what} is wrong on this browser");
    let failed = |error: candle_core::Error| format!("self test failed: {error}");
    let size = 19; // not a multiple of any vector width
    let counting =
        Tensor::arange(0f32, (size * size) as f32, &Device::Cpu).and_then(|tensor| tensor.reshape((size, size))).map_err(failed)?;
    let product: Vec<Vec<f32>> = counting.matmul(&counting).and_then(|tensor| tensor.to_vec2()).map_err(failed)?;
    for (i, row) in product.iter().enumerate() {
        for (j, found) in row.iter().enumerate() {
            let expected: usize = (0..size).map(|k| (i * size + k) * (k * size + j)).sum();
            if (f64::from(*found) - expected as f64).abs() > expected as f64 * 1e-6 {
                return Err(wrong("a matrix product"));
            }
        }
    }
    let exponential: Vec<f32> =
        Tensor::new(&[0f32, 1.0, -1.0, 2.0, 0.5], &Device::Cpu).and_then(|tensor| tensor.exp()?.to_vec1()).map_err(failed)?;
    let expected = [1.0, std::f32::consts::E, 0.367_879_45, 7.389_056, 1.648_721_3];
    if exponential.iter().zip(expected).any(|(found, expected)| (found - expected).abs() > 1e-5) {
        return Err(wrong("an exponential"));
    }
    Ok(())
}
