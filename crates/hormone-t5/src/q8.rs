//! Products with 8-bit weights: `y = x W^T`, where 32 neighbours of a row of `W` share one scale (GGUF's Q8_0).
//!
//! Weights keep their 8 bits. A row of `x` becomes 16-bit integers with one scale, which costs no more than 8 bits would (the CPU multiplies
//! 16-bit pairs either way) and loses next to nothing: the error of a product stays near `1e-5 |x| |w|`. Sums of 32 products are exact
//! integers; scales enter once per 32.
//!
//! Eight rows of `W` lie interleaved, two neighbours of each side by side: a register of 16-bit pairs times a repeated pair of `x` gives four
//! rows' sums at once (`i32x4.dot_i16x8_s`), and no sum across a register is ever needed. Every row of `y` is computed in the same order
//! however many there are, so a batch equals its rows one by one, bit for bit. `Plain` is the same in safe Rust; it runs where there is
//! no simd128, and the tests compare both.

use candle_core::{Device, Tensor};

use crate::{Error, Result};

/// Weights that share a scale.
const BLOCK: usize = 32;
/// Rows of `W` that lie interleaved.
const PANEL: usize = 8;
/// Rows of `x` that share each load of weights.
const ROWS: usize = 4;
/// Largest 16-bit integer of an activation; `32 * 128 * 32767` still fits 32 bits.
const LARGEST: f32 = 32767.0;

/// 32 neighbours of eight rows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Block {
    scales: [f32; PANEL],
    weights: [[[i8; 2]; PANEL]; BLOCK / 2],
}

/// A matrix `W [outputs, inputs]` of 8-bit weights.
#[derive(Debug)]
pub struct Q8Matrix {
    /// Panel after panel, each along its inputs; rows that fill up the last panel are zeros.
    blocks: Vec<Block>,
    outputs: usize,
    inputs: usize,
}

/// Rows of `x` as 16-bit integers with a scale each. Kept from product to product, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Activations {
    /// Group after group of [`ROWS`] rows, the last of fewer; in a group `[pair][row][2]`, as the kernel reads them.
    values: Vec<i16>,
    scales: Vec<f32>,
}

impl Activations {
    /// Takes the rows of `x [rows, inputs]`.
    pub fn set(&mut self, x: &[f32], inputs: usize) {
        self.values.resize(x.len(), 0);
        self.scales.clear();
        for (group, x) in self.values.chunks_mut(ROWS * inputs).zip(x.chunks(ROWS * inputs)) {
            let rows = x.len() / inputs;
            for (row, x) in x.chunks_exact(inputs).enumerate() {
                let largest = largest(x);
                let factor = if largest > 0.0 { LARGEST / largest } else { 0.0 };
                for (pair, x) in group[2 * row..].chunks_mut(2 * rows).zip(x.chunks_exact(2)) {
                    (pair[0], pair[1]) = (round(x[0] * factor), round(x[1] * factor));
                }
                self.scales.push(largest / LARGEST);
            }
        }
    }

    fn groups(&self, inputs: usize) -> impl Iterator<Item = Group<'_>> {
        self.values.chunks(ROWS * inputs).zip(self.scales.chunks(ROWS)).map(|(values, scales)| Group { values, scales })
    }
}

/// At most [`ROWS`] rows.
#[derive(Clone, Copy)]
struct Group<'a> {
    values: &'a [i16],
    scales: &'a [f32],
}

/// The largest magnitude, NaN where any value is; in eight at once, which the compiler makes vectors of.
fn largest(x: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a || b.is_nan() { b } else { a };
    let mut lanes = [0.0f32; 8];
    let chunks = x.chunks_exact(8);
    let rest = chunks.remainder().iter().map(|value| value.abs()).fold(0.0, larger);
    for x in chunks {
        lanes.iter_mut().zip(x).for_each(|(lane, value)| *lane = larger(*lane, value.abs()));
    }
    lanes.into_iter().fold(rest, larger)
}

/// The nearest integer, ties to even: adding 1.5 * 2^23 leaves it in the lowest bits.
fn round(value: f32) -> i16 {
    (value + 12_582_912.0).to_bits() as i16
}

impl Q8Matrix {
    /// Reads rows of Q8_0 blocks: a 16-bit float and 32 bytes each.
    pub fn from_q8_0(bytes: &[u8], outputs: usize, inputs: usize) -> Result<Self> {
        const STORED: usize = 2 + BLOCK;
        if !inputs.is_multiple_of(BLOCK) || inputs == 0 || bytes.len() != outputs * inputs / BLOCK * STORED {
            return Err(Error::Weights(format!("{} bytes are no Q8_0 matrix of {outputs} x {inputs}.", bytes.len())));
        }
        let blocks_a_row = inputs / BLOCK;
        let empty = Block { scales: [0.0; PANEL], weights: [[[0; 2]; PANEL]; BLOCK / 2] };
        let mut blocks = vec![empty; outputs.div_ceil(PANEL) * blocks_a_row];
        for (index, stored) in bytes.chunks_exact(STORED).take(outputs * blocks_a_row).enumerate() {
            let (row, column) = (index / blocks_a_row, index % blocks_a_row);
            let block = &mut blocks[row / PANEL * blocks_a_row + column];
            block.scales[row % PANEL] = half::f16::from_le_bytes([stored[0], stored[1]]).to_f32();
            for (pair, weights) in stored[2..].chunks_exact(2).enumerate() {
                block.weights[pair][row % PANEL] = [weights[0] as i8, weights[1] as i8];
            }
        }
        Ok(Self { blocks, outputs, inputs })
    }

    /// All rows as a dense tensor, `[outputs, inputs]`.
    pub fn dequantized(&self) -> Result<Tensor> {
        let mut values = vec![0.0; self.outputs * self.inputs];
        values.chunks_exact_mut(self.inputs).enumerate().for_each(|(row, y)| self.row(row, y));
        Ok(Tensor::from_vec(values, (self.outputs, self.inputs), &Device::Cpu)?)
    }

    /// Rows of `W`.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Columns of `W`.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Writes row `row` of `W`.
    pub fn row(&self, row: usize, y: &mut [f32]) {
        let blocks_a_row = self.inputs / BLOCK;
        let first = row / PANEL * blocks_a_row;
        for (block, y) in self.blocks[first..first + blocks_a_row].iter().zip(y.chunks_exact_mut(BLOCK)) {
            for (pair, y) in block.weights.iter().zip(y.chunks_exact_mut(2)) {
                y[0] = f32::from(pair[row % PANEL][0]) * block.scales[row % PANEL];
                y[1] = f32::from(pair[row % PANEL][1]) * block.scales[row % PANEL];
            }
        }
    }

    /// `y = x W^T`: `y [rows, outputs]`.
    pub fn product(&self, x: &Activations, y: &mut [f32]) {
        #[cfg(target_feature = "simd128")]
        self.product_by::<simd128::Simd128>(x, y);
        #[cfg(not(target_feature = "simd128"))]
        self.product_by::<Plain>(x, y);
    }

    /// The same in safe Rust everywhere: what [`Q8Matrix::product`] is compared with.
    pub fn plain_product(&self, x: &Activations, y: &mut [f32]) {
        self.product_by::<Plain>(x, y);
    }

    fn product_by<K: Kernel>(&self, x: &Activations, y: &mut [f32]) {
        for (index, x) in x.groups(self.inputs).enumerate() {
            let y = &mut y[index * ROWS * self.outputs..];
            // Fewer rows of `x` leave registers for more panels; and several panels are several streams, which memory serves faster.
            match x.scales.len() {
                1 => self.group_product::<K, 1, 4>(x, y),
                2 => self.group_product::<K, 2, 2>(x, y),
                3 => self.group_product::<K, 3, 1>(x, y),
                _ => self.group_product::<K, ROWS, 1>(x, y),
            }
        }
    }

    /// `N` rows of `x`, `P` panels at a time.
    fn group_product<K: Kernel, const N: usize, const P: usize>(&self, x: Group<'_>, y: &mut [f32]) {
        let panel_blocks = self.inputs / BLOCK;
        let mut first = 0;
        let mut write = |sums: &[[f32; PANEL]; N]| {
            let width = PANEL.min(self.outputs - first);
            for (row, sums) in sums.iter().enumerate() {
                let start = row * self.outputs + first;
                for (y, sum) in y[start..start + width].iter_mut().zip(sums) {
                    *y = sum * x.scales[row];
                }
            }
            first += width;
        };
        let several = self.blocks.chunks_exact(P * panel_blocks);
        let rest = several.remainder();
        for panels in several {
            K::sums::<N, P>(panels, x.values).iter().for_each(&mut write);
        }
        for panel in rest.chunks_exact(panel_blocks) {
            K::sums::<N, 1>(panel, x.values).iter().for_each(&mut write);
        }
    }
}

/// The innermost loop.
trait Kernel {
    /// Products of a group of `N` rows of `x` with `P` panels, without the rows' own scales.
    fn sums<const N: usize, const P: usize>(panels: &[Block], x: &[i16]) -> [[[f32; PANEL]; N]; P];
}

struct Plain;

impl Kernel for Plain {
    fn sums<const N: usize, const P: usize>(panels: &[Block], x: &[i16]) -> [[[f32; PANEL]; N]; P] {
        let mut sums = [[[0.0; PANEL]; N]; P];
        for (sums, panel) in sums.iter_mut().zip(panels.chunks_exact(panels.len() / P)) {
            for (block, x) in panel.iter().zip(x.chunks_exact(BLOCK * N)) {
                let mut exact = [[0i32; PANEL]; N];
                for (weights, x) in block.weights.iter().zip(x.chunks_exact(2 * N)) {
                    for (exact, x) in exact.iter_mut().zip(x.chunks_exact(2)) {
                        for (exact, weights) in exact.iter_mut().zip(weights) {
                            *exact += i32::from(weights[0]) * i32::from(x[0]) + i32::from(weights[1]) * i32::from(x[1]);
                        }
                    }
                }
                for (sums, exact) in sums.iter_mut().zip(exact) {
                    for ((sum, exact), scale) in sums.iter_mut().zip(exact).zip(block.scales) {
                        *sum += exact as f32 * scale;
                    }
                }
            }
        }
        sums
    }
}

#[cfg(target_feature = "simd128")]
mod simd128 {
    #![allow(unsafe_code)] // Loads of a chosen width take pointers.

    use std::arch::wasm32::*;

    use super::{BLOCK, Block, Kernel, PANEL};

    pub(super) struct Simd128;

    impl Kernel for Simd128 {
        fn sums<const N: usize, const P: usize>(panels: &[Block], x: &[i16]) -> [[[f32; PANEL]; N]; P] {
            // The sums of more would not fit the 16 registers that CPUs have.
            const { assert!(N * P <= 4) };
            let panel_blocks = panels.len() / P;
            assert!(panels.len() == P * panel_blocks && x.len() == panel_blocks * BLOCK * N);
            let mut sums = [[[f32x4_splat(0.0); 2]; N]; P];
            for index in 0..panel_blocks {
                let blocks: [&Block; P] = std::array::from_fn(|panel| &panels[panel * panel_blocks + index]);
                let mut exact = [[[i32x4_splat(0); 2]; N]; P];
                for pair in 0..BLOCK / 2 {
                    // SAFETY: a block has `BLOCK / 2` pairs and `x` has `N` pairs for each of them, as was checked; no alignment is needed.
                    let x: [v128; N] = std::array::from_fn(|row| unsafe {
                        v128_load32_splat(x.as_ptr().cast::<u32>().add((index * BLOCK / 2 + pair) * N + row))
                    });
                    for (exact, block) in exact.iter_mut().zip(blocks) {
                        let weights = block.weights[pair].as_ptr().cast::<i8>();
                        // SAFETY: `weights` points to the 16 bytes of one pair of eight rows.
                        let (low, high) = unsafe { (i16x8_load_extend_i8x8(weights), i16x8_load_extend_i8x8(weights.add(8))) };
                        for (exact, x) in exact.iter_mut().zip(x) {
                            exact[0] = i32x4_add(exact[0], i32x4_dot_i16x8(low, x));
                            exact[1] = i32x4_add(exact[1], i32x4_dot_i16x8(high, x));
                        }
                    }
                }
                for ((sums, exact), block) in sums.iter_mut().zip(exact).zip(blocks) {
                    let scales = block.scales.as_ptr().cast::<v128>();
                    // SAFETY: `scales` points to eight floats.
                    let scales = unsafe { [v128_load(scales), v128_load(scales.add(1))] };
                    for (sums, exact) in sums.iter_mut().zip(exact) {
                        for half in 0..2 {
                            sums[half] = f32x4_add(sums[half], f32x4_mul(f32x4_convert_i32x4(exact[half]), scales[half]));
                        }
                    }
                }
            }
            sums.map(|sums| sums.map(row))
        }
    }

    fn row([low, high]: [v128; 2]) -> [f32; PANEL] {
        let mut row = [0.0; PANEL];
        let (left, right) = row.split_at_mut(PANEL / 2);
        left.copy_from_slice(&lanes(low));
        right.copy_from_slice(&lanes(high));
        row
    }

    fn lanes(x: v128) -> [f32; 4] {
        [f32x4_extract_lane::<0>(x), f32x4_extract_lane::<1>(x), f32x4_extract_lane::<2>(x), f32x4_extract_lane::<3>(x)]
    }
}

#[cfg(test)]
mod tests {
    use candle_core::quantized::{GgmlDType, QTensor};

    use super::*;

    fn wave(count: usize, step: f32) -> Vec<f32> {
        (0..count).map(|place| (place as f32 * step).sin() * (1.0 + (place % 7) as f32)).collect()
    }

    fn matrix(outputs: usize, inputs: usize) -> Result<Q8Matrix> {
        let dense = Tensor::from_vec(wave(outputs * inputs, 0.71), (outputs, inputs), &Device::Cpu)?;
        Q8Matrix::from_q8_0(&QTensor::quantize(&dense, GgmlDType::Q8_0)?.data()?, outputs, inputs)
    }

    fn product(matrix: &Q8Matrix, x: &[f32]) -> Vec<f32> {
        let mut activations = Activations::default();
        activations.set(x, matrix.inputs());
        let mut y = vec![f32::NAN; x.len() / matrix.inputs() * matrix.outputs()];
        matrix.product(&activations, &mut y);
        y
    }

    #[test]
    fn the_matrix_holds_the_files_very_weights() -> Result<()> {
        let dense = Tensor::from_vec(wave(13 * 64, 0.71), (13, 64), &Device::Cpu)?;
        let stored = QTensor::quantize(&dense, GgmlDType::Q8_0)?;
        let expected: Vec<f32> = stored.dequantize(&Device::Cpu)?.flatten_all()?.to_vec1()?;
        let found: Vec<f32> = matrix(13, 64)?.dequantized()?.flatten_all()?.to_vec1()?;
        assert_eq!(found, expected);
        Ok(())
    }

    #[test]
    fn a_product_is_near_the_dense_one_even_beside_outliers() -> Result<()> {
        for (outputs, inputs, rows) in [(1, 32, 1), (8, 64, 2), (13, 96, 3), (40, 512, 4), (65, 128, 9)] {
            let (matrix, mut x) = (matrix(outputs, inputs)?, wave(rows * inputs, 0.37));
            x[5] = 300.0; // an outlier, as T5's hidden states have them
            let dense: Vec<f32> = matrix.dequantized()?.flatten_all()?.to_vec1()?;
            let length = |row: &[f32]| row.iter().map(|value| value * value).sum::<f32>().sqrt();
            for (place, y) in product(&matrix, &x).into_iter().enumerate() {
                let (x, w) = (&x[place / outputs * inputs..][..inputs], &dense[place % outputs * inputs..][..inputs]);
                let exact: f64 = x.iter().zip(w).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum();
                let tolerance = 4e-5 * f64::from(length(x) * length(w));
                assert!((f64::from(y) - exact).abs() <= tolerance, "{outputs} x {inputs}, {rows} rows, {place}: {y} {exact}");
            }
        }
        Ok(())
    }

    #[test]
    fn a_batch_equals_its_rows_one_by_one_bit_for_bit() -> Result<()> {
        let (matrix, x) = (matrix(50, 64)?, wave(7 * 64, 0.37));
        let one_by_one: Vec<f32> = x.chunks_exact(64).flat_map(|row| product(&matrix, row)).collect();
        assert_eq!(product(&matrix, &x), one_by_one);
        Ok(())
    }

    #[test]
    fn zeros_give_zeros() -> Result<()> {
        assert_eq!(product(&matrix(9, 32)?, &[0.0; 32]), [0.0; 9]);
        Ok(())
    }

    #[test]
    fn numbers_that_are_none_stay_none_wherever_they_stand() -> Result<()> {
        for place in [0, 7, 31, 32, 63] {
            for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                let mut x = [0.5; 64];
                x[place] = broken;
                let y = product(&matrix(9, 64)?, &x);
                assert!(y.iter().all(|value| !value.is_finite()), "{broken} at {place}: {y:?}");
            }
        }
        Ok(())
    }

    #[test]
    fn bytes_of_another_shape_are_an_error() {
        assert!(Q8Matrix::from_q8_0(&[0; 34], 2, 32).is_err());
        assert!(Q8Matrix::from_q8_0(&[0; 34], 1, 31).is_err());
    }
}
