//! The same comparisons in wasm32 + simd128 inside a browser.
#![cfg(target_arch = "wasm32")]

mod common;

use common::parity::{self, V1_0, V1_1};
use hormone_t5::Result;
use hormone_t5::q8::{Activations, Q8Matrix};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

fn passes(result: Result<()>) {
    if let Err(error) = result {
        panic!("{error}");
    }
}

#[wasm_bindgen_test]
fn hidden_states_and_logits_equal_hugging_faces() {
    passes(parity::hidden_states_and_logits(&V1_0));
    passes(parity::hidden_states_and_logits(&V1_1));
}

#[wasm_bindgen_test]
fn a_padded_batch_equals_hugging_faces() {
    passes(parity::padded_batch(&V1_0));
    passes(parity::padded_batch(&V1_1));
}

#[wasm_bindgen_test]
fn cross_attention_equals_hugging_faces() {
    passes(parity::cross_attention(&V1_0));
    passes(parity::cross_attention(&V1_1));
}

#[wasm_bindgen_test]
fn greedy_and_beam_ids_equal_hugging_faces() {
    passes(parity::generation(&V1_0));
    passes(parity::generation(&V1_1));
}

#[wasm_bindgen_test]
fn the_block_equals_its_pytorch_reference() {
    passes(parity::hormone_block());
}

/// Bytes of Q8_0 blocks: a scale of 2^-8 or 2^-7, and any weights.
fn q8_0(outputs: usize, inputs: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..outputs * inputs / 32).flat_map(|block| [0x00, 0x1c + 4 * (block % 2) as u8].into_iter().chain([(); 32].map(|()| next()))).collect()
}

#[wasm_bindgen_test]
fn the_vector_kernel_equals_its_plain_reference_bit_for_bit() {
    for (outputs, inputs) in [(1, 32), (8, 64), (50, 96), (64, 512)] {
        let bytes = q8_0(outputs, inputs);
        let Ok(matrix) = Q8Matrix::from_q8_0(&bytes, outputs, inputs) else { panic!("the bytes are a matrix") };
        for rows in [1, 2, 3, 4, 7, 24] {
            let x: Vec<f32> = (0..rows * inputs).map(|place| (place as f32 * 0.37).sin() * (1 + place % 9) as f32).collect();
            let mut activations = Activations::default();
            activations.set(&x, inputs);
            let (mut fast, mut plain) = (vec![f32::NAN; rows * outputs], vec![0.0; rows * outputs]);
            matrix.product(&activations, &mut fast);
            matrix.plain_product(&activations, &mut plain);
            assert!(fast == plain, "{outputs} x {inputs}, {rows} rows");
        }
    }
}
