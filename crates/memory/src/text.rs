//! Hashes the text of a memory, lists its words for the full-text index, and builds FTS5 expressions.

use std::collections::BTreeSet;

use memod_base::types::file_name;
use memod_proto::anchor::Anchor;
use memod_text::scripts::is_unspaced;
use memod_text::stems::{self, add_stems};
use memod_text::words::{self, GRAM_CHARS, TokenForm, write_index_words};

/// Returns the blake3 hash of a memory's content, ignoring line ends, and space around the content and at the ends of lines.
pub fn hash_content(content: &str) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    let lines = content.trim().split('\n').map(str::trim_end);
    lines.for_each(|line| {
        hasher.update(line.as_bytes()).update(b"\n");
    });
    *hasher.finalize().as_bytes()
}

/// Returns the blake3 hash, in hex, of exactly the title and content from which a vector is computed.
pub fn hash_vector_text(title: Option<&str>, content: &str) -> String {
    let title = title.unwrap_or_default();
    let mut hasher = blake3::Hasher::new();
    hasher.update(&title.len().to_le_bytes()).update(title.as_bytes()).update(content.as_bytes());
    hasher.finalize().to_hex().to_string()
}

/// Returns the words of title, tags and content for the full-text index, with their stems. The words of tags include the names of
/// the files and definitions that a memory is about.
pub fn list_index_words(
    title: Option<&str>,
    tags: &[String],
    anchors: &[Anchor],
    content: &str,
) -> [String; 3] {
    let files = anchors.iter().map(|anchor| file_name(&anchor.path));
    let definitions = anchors.iter().filter_map(|anchor| anchor.symbol.as_deref());
    let labels: Vec<&str> = tags.iter().map(String::as_str).chain(files).chain(definitions).collect();
    [title.unwrap_or_default(), &labels.join(" "), content].map(|text| {
        let mut words = String::new();
        write_index_words(text, &mut words);
        add_stems(&mut words);
        words
    })
}

/// Returns the FTS5 expression for texts that have all words of `text`; `None` if `text` has no word.
pub fn build_all_words_query(text: &str) -> Option<String> {
    let terms: Vec<String> = split_words(text).iter().map(|token| quote_term(token)).collect();
    (!terms.is_empty()).then(|| terms.join(" AND "))
}

/// Returns the FTS5 expression for texts that have at least one of `terms`, which are words of the index or their stems.
pub fn build_any_term_query<'a>(terms: impl IntoIterator<Item = &'a String>) -> String {
    let terms: Vec<String> = terms.into_iter().map(|token| quote_term(token)).collect();
    terms.join(" OR ")
}

/// Words that add nothing to the subject of a title.
const LITTLE_WORDS: [&str; 16] =
    ["a", "an", "and", "at", "by", "for", "from", "in", "my", "of", "on", "our", "the", "to", "with", "your"];

/// Returns the subject of a title: the stems of its words without articles and prepositions.
pub fn title_stems(title: &str) -> BTreeSet<String> {
    let words = split_words(title).into_iter().filter(|word| !LITTLE_WORDS.contains(&word.as_str()));
    words.map(|word| stems::marked_stem(&word).unwrap_or(word)).collect()
}

/// Returns the words of a text as the full-text index has them, with each name as one word.
pub fn split_words(text: &str) -> Vec<String> {
    let mut tokens = String::new();
    words::write_words(text, TokenForm::Whole, &mut tokens);
    tokens.split_ascii_whitespace().map(str::to_owned).collect()
}

/// Quotes a token, which has only letters and digits. Short runs of unspaced scripts become prefixes of trigrams.
fn quote_term(token: &str) -> String {
    let is_short = token.starts_with(is_unspaced) && token.chars().count() < GRAM_CHARS;
    format!("\"{token}\"{}", if is_short { "*" } else { "" })
}

/// Maximum length of the line that represents a memory, characters.
const LINE_CHARS: usize = 100;

/// Returns one line that represents a memory: its title, or the beginning of its first line.
pub fn summary_line(title: Option<&str>, content: &str) -> String {
    shorten_text(title.unwrap_or_else(|| content.lines().next().unwrap_or_default()), LINE_CHARS)
}

/// Returns the first `most` characters of a text, with `…` if there are more.
pub(super) fn shorten_text(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_and_line_ends_make_no_other_text() {
        let same = ["a b\n  c", " a b\r\n  c\n", "a b \n  c\n\n"];
        let other = ["a b\nc", "a  b\n  c", "A b\n  c", "a b c"];
        assert!(same.iter().all(|text| hash_content(text) == hash_content(same[0])));
        assert!(other.iter().all(|text| hash_content(text) != hash_content(same[0])));
    }

    #[test]
    fn words_become_terms() {
        assert_eq!(build_all_words_query("JWT getUserById").as_deref(), Some("\"jwt\" AND \"getuserbyid\""));
        assert_eq!(build_all_words_query("\" OR * 処").as_deref(), Some("\"or\" AND \"処\"*"));
        assert_eq!(build_all_words_query("… ()"), None);
    }

    #[test]
    fn a_line_stands_for_a_memory() {
        assert_eq!(summary_line(Some("t"), "a\nb"), "t");
        assert_eq!(summary_line(None, "a\nb"), "a");
        assert_eq!(summary_line(None, &"é".repeat(101)), "é".repeat(100) + "…");
    }
}
