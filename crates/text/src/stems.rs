//! Maps English words to their stems.
//!
//! Uses Snowball's English stemmer: `hashed`, `hashes` and `hashing` have the stem `hash`. The index has the stem next to
//! the word, after a mark that no word has, so that exact words are still found and rank above other forms.

use std::cell::LazyCell;

use rust_stemmers::{Algorithm, Stemmer};

/// The mark before a stem: a letter for FTS5's `ascii` tokenizer, but not for `extract::words`.
const MARK: char = '·';

/// Words of fewer bytes have no other forms.
const MIN_BYTES: usize = 3;

thread_local! {
    static STEMMER: LazyCell<Stemmer> = LazyCell::new(|| Stemmer::create(Algorithm::English));
}

/// Returns the marked stem of a token of the index; `None` for anything but English words, such as numbers, names with
/// digits and other scripts.
pub fn stem(token: &str) -> Option<String> {
    let is_word = token.len() >= MIN_BYTES && token.bytes().all(|byte| byte.is_ascii_lowercase());
    is_word.then(|| STEMMER.with(|stemmer| format!("{MARK}{}", stemmer.stem(token))))
}

/// Returns whether a token of the index is a stem.
pub fn is_stem(token: &str) -> bool {
    token.starts_with(MARK)
}

/// Returns a token without the mark of a stem.
pub fn strip_stem_mark(token: &str) -> &str {
    token.strip_prefix(MARK).unwrap_or(token)
}

/// Appends the stems of the tokens of a stream in their order, so that phrases stay together.
pub fn add_stems(stream: &mut String) {
    let stems: Vec<String> = stream.split_ascii_whitespace().filter_map(stem).collect();
    for stem in stems {
        stream.push(' ');
        stream.push_str(&stem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_share_a_stem_and_names_have_none() {
        for words in [&["hash", "hashed", "hashes", "hashing"][..], &["retry", "retries", "retried"]] {
            assert!(words.iter().all(|word| stem(word) == stem(words[0])), "{words:?}");
        }
        assert_ne!(stem("general"), stem("generate"));
        for token in ["id", "sha256", "größe", "日本語", ""] {
            assert_eq!(stem(token), None, "{token}");
        }
    }

    #[test]
    fn a_stem_is_one_token_behind_all_words() {
        let mut stream = "hashed passwords sha256".to_owned();
        add_stems(&mut stream);
        assert_eq!(stream, "hashed passwords sha256 ·hash ·password");
    }
}
