//! Maps English words to their stems.
//!
//! Uses the English stemmer of Snowball: `hashed`, `hashes` and `hashing` have the stem `hash`. The index contains stems in
//! addition to words. A stem begins with a mark that no word contains, so that exact words are still found and rank above other
//! forms.

use std::cell::LazyCell;

use rust_stemmers::{Algorithm, Stemmer};

/// The mark at the beginning of a stem. FTS5's tokenizer `ascii` treats it as a letter, but [`crate::words`] does not.
const MARK: char = '·';

/// Bytes of the shortest word that is stemmed. Shorter words have no other forms.
const MIN_BYTES: usize = 3;

thread_local! {
    /// The stemmer of the thread.
    static STEMMER: LazyCell<Stemmer> = LazyCell::new(|| Stemmer::create(Algorithm::English));
}

/// Returns the stem of a token of the index, with its mark; `None` for numbers, names with digits, words of other scripts, and very
/// short words.
pub fn marked_stem(token: &str) -> Option<String> {
    let is_word = token.len() >= MIN_BYTES && token.bytes().all(|byte| byte.is_ascii_lowercase());
    is_word.then(|| STEMMER.with(|stemmer| format!("{MARK}{}", stemmer.stem(token))))
}

/// Returns whether a token of the index is a stem, which begins with the mark.
pub fn is_stem(token: &str) -> bool {
    token.starts_with(MARK)
}

/// Returns a token without the mark, if it is a stem.
pub fn strip_stem_mark(token: &str) -> &str {
    token.strip_prefix(MARK).unwrap_or(token)
}

/// Appends the stems of all tokens of a stream to the stream. Stems are in the order of their words, so that they form phrases too.
pub fn add_stems(stream: &mut String) {
    let stems: Vec<String> = stream.split_ascii_whitespace().filter_map(marked_stem).collect();
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
            assert!(words.iter().all(|word| marked_stem(word) == marked_stem(words[0])), "{words:?}");
        }
        assert_ne!(marked_stem("general"), marked_stem("generate"));
        for token in ["id", "sha256", "größe", "日本語", ""] {
            assert_eq!(marked_stem(token), None, "{token}");
        }
    }

    #[test]
    fn a_stem_is_one_token_behind_all_words() {
        let mut stream = "hashed passwords sha256".to_owned();
        add_stems(&mut stream);
        assert_eq!(stream, "hashed passwords sha256 ·hash ·password");
    }
}
