//! What can go wrong, in sentences that say what was expected, what came and what to do.

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// The crate's error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is empty or holds only white space.
    #[error("There is no text to read: write at least one word.")]
    EmptyText,
    /// A configuration file is not what it should be.
    #[error("{file} cannot be used: {reason}")]
    Config {
        /// Which file.
        file: &'static str,
        /// What is wrong with it and what was expected.
        reason: String,
    },
    /// A weights file is damaged, or of another model.
    #[error("The weights cannot be used: {0}")]
    Weights(String),
    /// A setting of the caller is out of range.
    #[error("{name} is {value}, but must be {expected}.")]
    Setting {
        /// The setting's name, as in the API.
        name: &'static str,
        /// What came.
        value: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The tokenizer failed.
    #[error("The tokenizer failed: {0}")]
    Tokenizer(String),
    /// A tensor operation failed; a fault of this program.
    #[error("A tensor operation failed: {0}")]
    Tensor(#[from] candle_core::Error),
}

impl From<tokenizers::Error> for Error {
    fn from(error: tokenizers::Error) -> Self {
        Self::Tokenizer(error.to_string())
    }
}
