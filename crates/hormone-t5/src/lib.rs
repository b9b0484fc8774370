//! T5 with a hormone emotion block, after *A Hormone-inspired Emotion Layer for Transformer language models* (HELT, arXiv:2605.13858).
//!
//! The encoder reads a sentence; the block turns the encoder's hidden states `H` into six levels between 0 and 1; an embedding `e` of these
//! levels scales what the decoder sees: `H~ = H * (1 + alpha * e)`. Levels are computational abstractions: nothing here feels.
//!
//! Start with [`HormoneT5`]: [`HormoneT5::analyze`] reads, [`HormoneT5::generate`] replies.
//!
//! Symbols in shape comments, everywhere in this crate:
//!
//! | symbol | meaning |
//! |---|---|
//! | `B` | batch |
//! | `S` | source tokens (encoder) |
//! | `T` | target tokens (decoder) |
//! | `D` | `d_model`, width of hidden states |
//! | `I` | `num_heads * d_kv`, inner width of attention |
//! | `V` | `vocab_size` |
//! | `N` | 6 hormones, in the order of [`Hormone::ALL`] |
//! | `J` | 4 attention heads of each hormone |

pub mod analysis;
pub mod config;
pub mod error;
pub mod generation;
pub mod hormone_block;
pub mod linear;
pub mod manifest;
pub mod ops;
pub mod pipeline;
pub mod q8;
pub mod t5;
pub mod tokenizer;
pub mod weights;

pub use analysis::{Analysis, Hormone, HormoneLevels, Tone};
pub use config::{HormoneConfig, T5Config};
pub use error::{Error, Result};
pub use generation::{Decoding, GenerationConfig};
pub use hormone_block::HormoneBlock;
pub use pipeline::{Encoded, GeneratedToken, Generation, HormoneT5};
pub use t5::{DecoderCache, T5};
pub use tokenizer::{TextTokenizer, TrainingTokenizer};
pub use weights::Weights;
