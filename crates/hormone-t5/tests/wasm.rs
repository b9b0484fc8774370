//! The same comparisons in wasm32 + simd128 inside a browser.
#![cfg(target_arch = "wasm32")]

mod common;

use common::parity::{self, V1_0, V1_1};
use hormone_t5::Result;
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
