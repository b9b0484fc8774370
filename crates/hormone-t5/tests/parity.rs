//! Equal to Hugging Face's T5 and to a PyTorch block, natively.

mod common;

use common::parity::{self, V1_0, V1_1};
use hormone_t5::Result;

#[test]
fn hidden_states_and_logits_equal_hugging_faces() -> Result<()> {
    parity::hidden_states_and_logits(&V1_0)?;
    parity::hidden_states_and_logits(&V1_1)
}

#[test]
fn a_padded_batch_equals_hugging_faces() -> Result<()> {
    parity::padded_batch(&V1_0)?;
    parity::padded_batch(&V1_1)
}

#[test]
fn cross_attention_equals_hugging_faces() -> Result<()> {
    parity::cross_attention(&V1_0)?;
    parity::cross_attention(&V1_1)
}

#[test]
fn greedy_and_beam_ids_equal_hugging_faces() -> Result<()> {
    parity::generation(&V1_0)?;
    parity::generation(&V1_1)
}

#[test]
fn position_buckets_equal_hugging_faces() {
    parity::position_buckets();
}

#[test]
fn rules_on_scores_equal_hugging_faces() {
    parity::logits_processors();
}

#[test]
fn the_block_equals_its_pytorch_reference() -> Result<()> {
    parity::hormone_block()
}

#[test]
fn fresh_queries_start_orthogonal_as_described() -> Result<()> {
    parity::initial_queries()
}
