//! Cuts text into the tokens of the builtin model, without its table.

use super::wordpiece::WordPiece;

/// The vocabulary of the builtin model. A program that has no more of it than that links only the vocabulary.
#[derive(Debug)]
pub struct Tokenizer(WordPiece);

impl Tokenizer {
    /// Reads the vocabulary out of the binary.
    pub fn builtin() -> Self {
        Self(WordPiece::new(memod_models::VOCABULARY))
    }

    /// Returns the tokens of one text that make up its vector, in their order: the known ones among the first 256, without
    /// punctuation.
    pub fn token_ids(&self, text: &str) -> Vec<u32> {
        self.0.ids(text)
    }
}
