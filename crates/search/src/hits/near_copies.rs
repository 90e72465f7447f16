//! Finds hits that are copies of other hits: changed texts, vendored definitions, translated sections.
//!
//! Two texts are copies if most of their shingles, which are sequences of three words, are equal (Broder, "On the resemblance and
//! containment of documents", 1997). A translation shares its path and position with the original, but no words. Pure.

use std::cell::OnceCell;
use std::hash::{DefaultHasher, Hash, Hasher};

use memod_base::types::{ChunkKind, ClassSet, FileClass};
use memod_text::words::{self as tokens, TokenForm};

use crate::paths::translation;

/// Number of words in a shingle.
const SHINGLE_WORDS: usize = 3;
/// Most shingles of a text that are compared. Later shingles of the text are ignored.
const MOST_SHINGLES: usize = 2_000;
/// Least share of all shingles of two copies that both have.
const LEAST_COMMON: f64 = 0.75;
/// Texts with fewer words are copies only if they are equal except for whitespace.
const MIN_SHINGLED_WORDS: usize = 12;
/// Largest difference between the positions of a section and its translation, as shares of their files.
const MAX_POSITION_DIFFERENCE: f64 = 0.12;

/// A hit in a file, prepared for comparison.
#[derive(Clone, Debug)]
pub struct HitPassage<'a> {
    kind: ChunkKind,
    name: Option<&'a str>,
    path: &'a str,
    /// The path without marks of a language.
    bare_path: String,
    is_translation: bool,
    /// Position of the first line, as a share of the file, 0 to 1.
    position: f64,
    text: String,
    /// The words of the text, computed on demand, because most passages differ in their names already.
    words: OnceCell<PassageWords>,
}

/// The words of a text, prepared for comparison.
#[derive(Clone, Debug)]
struct PassageWords {
    /// Hashes of the shingles, ascending.
    shingles: Vec<u64>,
    /// The text without whitespace, if it has few words. Words alone would leave out operators.
    short: Option<String>,
}

impl<'a> HitPassage<'a> {
    /// Creates a passage from the text of a hit. `name` is the name of the definition, the heading or the file; `position` is
    /// the first line as a share of the file.
    pub fn new(
        kind: ChunkKind,
        name: Option<&'a str>,
        (path, classes): (&'a str, ClassSet),
        position: f64,
        text: &str,
    ) -> Self {
        Self {
            kind,
            name,
            path,
            bare_path: translation::strip_language_marks(path),
            is_translation: classes.contains(FileClass::Translation),
            position,
            text: text.to_owned(),
            words: OnceCell::new(),
        }
    }

    /// Returns the words of the text; the first call computes them.
    fn compared_words(&self) -> &PassageWords {
        self.words.get_or_init(|| PassageWords::from_text(&self.text))
    }

    /// Returns whether a hit may be a copy of this passage, judging by kind, name and path only. `bare_path` is the result of
    /// [`translation::strip_language_marks`] for `path`.
    pub fn may_be_copy(&self, kind: ChunkKind, name: Option<&str>, path: &str, bare_path: &str) -> bool {
        let has_name = name.is_some() && self.name == name;
        self.kind == kind && self.path != path && (has_name || self.bare_path == bare_path)
    }

    /// Returns whether this passage and `other` are copies in different files. Definitions must have the same name.
    pub fn is_copy_of(&self, other: &Self) -> bool {
        if self.kind != other.kind || self.path == other.path {
            return false;
        }
        if self.kind == ChunkKind::Symbol && self.name != other.name {
            return false;
        }
        if self.kind != ChunkKind::Symbol
            && (self.is_translation || other.is_translation)
            && self.bare_path == other.bare_path
            && (self.position - other.position).abs() <= MAX_POSITION_DIFFERENCE
        {
            return true;
        }
        let (own, of_other) = (self.compared_words(), other.compared_words());
        if own.short.is_some() || of_other.short.is_some() {
            return own.short == of_other.short && self.name == other.name;
        }
        let (n_own, n_of_other) = (own.shingles.len() as f64, of_other.shingles.len() as f64);
        if n_own.min(n_of_other) < LEAST_COMMON * n_own.max(n_of_other) {
            return false; // the share is too small even if one text contains the other
        }
        let n_common = count_common(&own.shingles, &of_other.shingles) as f64;
        let n_all = n_own + n_of_other - n_common;
        n_common >= LEAST_COMMON * n_all
    }
}

impl PassageWords {
    fn from_text(text: &str) -> Self {
        let mut stream = String::new();
        tokens::write_words(text, TokenForm::Whole, &mut stream);
        let words = stream.split_ascii_whitespace().take(MOST_SHINGLES + SHINGLE_WORDS);
        let words: Vec<u64> = words.map(hash_word).collect();
        let mut shingles: Vec<u64> =
            words.windows(SHINGLE_WORDS.min(words.len().max(1))).map(combine_hashes).collect();
        shingles.sort_unstable();
        shingles.dedup();
        let is_short = words.len() < MIN_SHINGLED_WORDS;
        Self { shingles, short: is_short.then(|| text.split_whitespace().collect()) }
    }
}

fn hash_word(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// Returns one hash of several word hashes, in which their order counts. The factor is the prime of FNV-1a, 64 bits.
fn combine_hashes(words: &[u64]) -> u64 {
    words.iter().fold(0, |hash: u64, word| (hash ^ word).wrapping_mul(0x100_0000_01b3).rotate_left(29))
}

/// Returns how many numbers are in both lists. Both lists must ascend.
fn count_common(left: &[u64], right: &[u64]) -> usize {
    let mut right = right.iter().peekable();
    left.iter()
        .filter(|number| {
            while right.next_if(|other| other < number).is_some() {}
            right.peek() == Some(number)
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "The session keeps who is logged in, for how long, and with which key the token was signed by \
        the server. It expires after a day, and the client renews it an hour before, without asking anybody.";

    fn doc<'a>(path: &'a str, text: &str) -> HitPassage<'a> {
        HitPassage::new(ChunkKind::Doc, Some("Session"), (path, ClassSet::default()), 0.1, text)
    }

    #[test]
    fn forks_of_a_text_are_near_copies() {
        let own = doc("docs/a.md", TEXT);
        assert!(own.is_copy_of(&doc("old/a.md", &TEXT.replace("a day", "two days"))));
        assert!(!own.is_copy_of(&doc("docs/a.md", TEXT)), "the same file");
        assert!(!own.is_copy_of(&doc("old/a.md", "The session of the parliament ended.")));
        let half = format!("{} And then many other words follow here that the first has not.", &TEXT[..120]);
        assert!(!own.is_copy_of(&doc("old/a.md", &half)));
        let short = doc("docs/b.md", "See above.");
        assert!(short.is_copy_of(&doc("docs/c.md", "See\n  above.\n")));
        assert!(!doc("docs/b.md", "if a > b").is_copy_of(&doc("docs/c.md", "if a < b")));
        assert!(!short.is_copy_of(&doc("docs/c.md", "See below.")));
        assert!(!doc("a.md", "").is_copy_of(&doc("b.md", "a")));
    }

    #[test]
    fn definitions_must_have_one_name() {
        let of = |name, path| {
            HitPassage::new(ChunkKind::Symbol, Some(name), (path, ClassSet::default()), 0.0, TEXT)
        };
        assert!(of("a", "x.rs").is_copy_of(&of("a", "vendor/x.rs")));
        assert!(!of("a", "x.rs").is_copy_of(&of("b", "vendor/x.rs")));
    }

    #[test]
    fn translations_are_known_by_path_and_position() {
        let of =
            |path, classes, position| HitPassage::new(ChunkKind::Doc, None, (path, classes), position, path);
        let at = |path, position| of(path, ClassSet::default(), position);
        let translated =
            |path, position| of(path, ClassSet::from_classes(&[FileClass::Translation]), position);
        assert!(at("docs/en/a.md", 0.30).is_copy_of(&translated("docs/uk/a.md", 0.35)));
        assert!(translated("docs/uk/a.md", 0.30).is_copy_of(&at("docs/en/a.md", 0.35)));
        assert!(at("README.md", 0.30).is_copy_of(&translated("README.zh-CN.md", 0.35)));
        assert!(!at("docs/en/a.md", 0.30).is_copy_of(&translated("docs/uk/a.md", 0.60)));
        assert!(!at("docs/en/a.md", 0.30).is_copy_of(&translated("docs/uk/b.md", 0.30)));
        assert!(!at("tests/it/a.md", 0.30).is_copy_of(&at("tests/a.md", 0.30)), "`it` is no language here");
        assert!(at("docs/en/a.md", 0.3).may_be_copy(ChunkKind::Doc, None, "docs/uk/a.md", "docs/a.md"));
        assert!(!at("docs/en/a.md", 0.3).may_be_copy(ChunkKind::Doc, None, "docs/b.md", "docs/b.md"));
    }
}
