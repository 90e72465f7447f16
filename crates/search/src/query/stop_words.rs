//! Lists the words that are too common to search for.

use memod_text::words as tokens;

/// Words of English questions, and the remains of words with an apostrophe. Sorted.
///
/// Three of them added to a two-word query took FTS5 from 4 to 112 ms over 100,000 rows. Words that name
/// something in code (`for`, `if`, `new`, `not`, `this`, `while`) stay out unless questions are full of them.
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

/// Returns whether `text` has only stop words.
pub(super) fn is_stop_text(text: &str) -> bool {
    let mut stream = String::new();
    tokens::write_words(text, tokens::Form::Both, &mut stream);
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
