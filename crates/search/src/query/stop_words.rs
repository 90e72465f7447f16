//! Lists the words that are too common to search for.

use memod_text::words as tokens;

/// Common words of English questions, and the parts of words with an apostrophe (`don`, `t`). Sorted.
///
/// Three of these words, added to a query of two words, raised the time of FTS5 over 100,000 rows from 4 to 112 ms. Words that
/// have a meaning in code (`new`, `not`, `while`) are included only if they are very common in questions (`for`, `if`, `this`).
const STOP_WORDS: [&str; 75] = [
    "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by",
    "can", "could", "d", "did", "do", "does", "doesn", "doing", "don", "for", "from", "had", "has", "have",
    "here", "how", "i", "if", "in", "into", "is", "isn", "it", "its", "ll", "me", "my", "of", "on", "or",
    "our", "re", "s", "should", "so", "some", "such", "t", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "to", "was", "we", "were", "what", "when", "where", "which", "who",
    "will", "with", "you",
];

/// Returns whether a token of the index is a stop word.
pub(crate) fn is_stop_word(token: &str) -> bool {
    STOP_WORDS.binary_search(&token).is_ok()
}

/// Returns whether `text` contains only stop words.
pub(super) fn is_stop_text(text: &str) -> bool {
    let mut stream = String::new();
    tokens::write_words(text, tokens::TokenForm::Both, &mut stream);
    stream.split_ascii_whitespace().all(is_stop_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_as_its_search_needs() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn stop_texts() {
        for (text, expected) in
            [("The", true), ("isn't", true), ("auth", false), ("in_the", false), ("...", true)]
        {
            assert_eq!(is_stop_text(text), expected, "{text}");
        }
    }
}
