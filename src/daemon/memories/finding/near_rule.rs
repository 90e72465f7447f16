//! Decides whether two memories say nearly the same.
//!
//! `memory.add` and `memory.dedupe` both ask here, so that one never calls near-duplicates what the other does not.

use memod_memory::text_difference::ComparedText;
use memod_memory_db::MemoryRecord;

/// Most neighbours that are compared with a memory.
pub(super) const MOST_NEAR: usize = 50;

/// Most contradictions that an answer lists.
pub(super) const MOST_CONTRADICTIONS: usize = 3;

/// Lowest cosine of texts with the same words that say nearly the same. Measured among 1,283 facts of conversations and 1,685
/// subjects of commits: of some 3,400 pairs with a cosine between 0.6 and 0.9, none has the same words. Of 85 pairs with a cosine
/// of at least 0.8, six say the same, so a lower `memory.near_cosine` would refuse many new memories.
pub(super) const MIN_SAME_WORDS_COSINE: f64 = 0.6;

/// How alike two memories are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    /// They say nearly the same.
    Same,
    /// Their texts are nearly the same, except for `numbers`, a `negation` or an `opposite` word.
    Contradicts(&'static str),
    Different,
}

/// The rule by which two memories say nearly the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearRule {
    /// Lowest cosine that suffices, whatever the words are.
    pub(super) cosine: f64,
    /// Whether texts with the same words need only [`MIN_SAME_WORDS_COSINE`].
    pub(super) compares_words: bool,
}

impl NearRule {
    /// Returns the lowest cosine of a pair that has to be judged.
    pub(super) fn least_cosine(self) -> f64 {
        if self.compares_words { self.cosine.min(MIN_SAME_WORDS_COSINE) } else { self.cosine }
    }

    /// Judges two memories whose vectors have this cosine. Words do not count for a chunk of a document, because another memory may
    /// quote the document.
    pub(super) fn judge_pair(self, cosine: f64, left: &ComparedRecord, right: &ComparedRecord) -> Likeness {
        let has_same_words = || {
            self.compares_words
                && cosine >= MIN_SAME_WORDS_COSINE
                && !left.is_document
                && !right.is_document
                && left.text.has_same_words(&right.text)
        };
        if cosine < self.cosine && !has_same_words() {
            return Likeness::Different;
        }
        left.text.find_difference(&right.text).map_or(Likeness::Same, Likeness::Contradicts)
    }
}

/// The parts of a memory that are compared.
pub(super) struct ComparedRecord {
    text: ComparedText,
    /// Whether the memory is a chunk of a document.
    is_document: bool,
}

impl ComparedRecord {
    pub(super) fn new(record: &MemoryRecord) -> Self {
        Self { text: ComparedText::new(&record.content), is_document: record.key.is_some() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cosine_or_the_same_words_suffice() {
        let record = |content: &str, key: Option<&str>| {
            let (content, key) = (content.to_owned(), key.map(str::to_owned));
            ComparedRecord::new(&MemoryRecord { content, key, ..MemoryRecord::default() })
        };
        let rule = NearRule { cosine: 0.9, compares_words: true };
        let cosine_only = NearRule { compares_words: false, ..rule };
        let (tokens, token) = (record("tokens expire", None), record("a token expires", None));
        let (chunk, other) = (record("tokens expire", Some("doc")), record("sessions end", None));
        assert_eq!(rule.judge_pair(0.6, &tokens, &token), Likeness::Same);
        assert_eq!(rule.judge_pair(0.59, &tokens, &token), Likeness::Different);
        assert_eq!(rule.judge_pair(0.6, &chunk, &token), Likeness::Different);
        assert_eq!(rule.judge_pair(0.9, &chunk, &other), Likeness::Same);
        assert_eq!(rule.judge_pair(0.89, &tokens, &other), Likeness::Different);
        assert_eq!(cosine_only.judge_pair(0.89, &tokens, &token), Likeness::Different);
        let never = record("tokens never expire", None);
        assert_eq!(rule.judge_pair(0.95, &tokens, &never), Likeness::Contradicts("negation"));
        assert_eq!(rule.judge_pair(0.7, &tokens, &never), Likeness::Contradicts("negation"));
        assert!((rule.least_cosine() - 0.6).abs() < 1e-9 && (cosine_only.least_cosine() - 0.9).abs() < 1e-9);
    }
}
