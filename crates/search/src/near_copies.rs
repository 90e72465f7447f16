//! Tells whether two hits say the same: forks of a text, vendored copies of a definition, translations of a section.
//!
//! Nearness is the share of sequences of three words that two texts have in common (Broder, "On the resemblance and
//! containment of documents", 1997). A translation shares no words with its original, but its path and its position. Pure.

use std::cell::OnceCell;
use std::hash::{DefaultHasher, Hash, Hasher};

use memod_base::types::{ClassSet, FileClass, Kind};
use memod_text::words::{self as tokens, Form};

use super::translation;

/// Words of a shingle.
const WORDS: usize = 3;
/// Shingles of a text that are compared; a longer one has its first.
const MOST_SHINGLES: usize = 2_000;
/// Share of common shingles from which on texts are near copies.
const LEAST_COMMON: f64 = 0.75;
/// A shorter text, in words, is a copy only if it is equal but for blanks.
const SHORT_WORDS: usize = 12;
/// Largest difference of positions in two translations, as shares of the files.
const MOST_MOVED: f64 = 0.12;

/// What is compared of a hit in a file.
#[derive(Clone, Debug)]
pub struct Passage<'a> {
    kind: Kind,
    name: Option<&'a str>,
    path: &'a str,
    /// The path without what names a language.
    bare_path: String,
    is_translation: bool,
    /// First line as a share of the file.
    position: f64,
    text: String,
    /// What is compared of the text; most passages differ before that in their names.
    words: OnceCell<Words>,
}

/// What is compared of a text.
#[derive(Clone, Debug)]
struct Words {
    /// Ascending.
    shingles: Vec<u64>,
    /// The text without blanks, if it is short: its words leave out operators.
    short: Option<String>,
}

impl<'a> Passage<'a> {
    /// Takes the text of a hit. `name` is that of the definition, the heading or the file; `position` is that of the
    /// first line as a share of the file.
    pub fn new(
        kind: Kind,
        name: Option<&'a str>,
        (path, classes): (&'a str, ClassSet),
        position: f64,
        text: &str,
    ) -> Self {
        Self {
            kind,
            name,
            path,
            bare_path: translation::without_language(path),
            is_translation: classes.has(FileClass::Translation),
            position,
            text: text.to_owned(),
            words: OnceCell::new(),
        }
    }

    fn words(&self) -> &Words {
        self.words.get_or_init(|| Words::of(&self.text))
    }

    /// Returns whether a hit of that kind, name and path is worth a look, as far as this shows. `bare_path` is that of
    /// [`translation::without_language`].
    pub fn may_repeat(&self, kind: Kind, name: Option<&str>, path: &str, bare_path: &str) -> bool {
        let has_name = name.is_some() && self.name == name;
        self.kind == kind && self.path != path && (has_name || self.bare_path == bare_path)
    }

    /// Returns whether another file says the same in its place. Definitions must have one name, too.
    pub fn repeats(&self, other: &Self) -> bool {
        if self.kind != other.kind || self.path == other.path {
            return false;
        }
        if self.kind == Kind::Symbol && self.name != other.name {
            return false;
        }
        if self.kind != Kind::Symbol
            && (self.is_translation || other.is_translation)
            && self.bare_path == other.bare_path
            && (self.position - other.position).abs() <= MOST_MOVED
        {
            return true;
        }
        let (own, of_other) = (self.words(), other.words());
        if own.short.is_some() || of_other.short.is_some() {
            return own.short == of_other.short && self.name == other.name;
        }
        let (n_own, n_of_other) = (own.shingles.len() as f64, of_other.shingles.len() as f64);
        if n_own.min(n_of_other) < LEAST_COMMON * n_own.max(n_of_other) {
            return false; // even if one is a part of the other
        }
        let n_common = n_common(&own.shingles, &of_other.shingles) as f64;
        let n_all = n_own + n_of_other - n_common;
        n_common >= LEAST_COMMON * n_all
    }
}

impl Words {
    fn of(text: &str) -> Self {
        let mut stream = String::new();
        tokens::write_words(text, Form::Whole, &mut stream);
        let words = stream.split_ascii_whitespace().take(MOST_SHINGLES + WORDS);
        let words: Vec<u64> = words.map(hashed).collect();
        let mut shingles: Vec<u64> = words.windows(WORDS.min(words.len().max(1))).map(joined).collect();
        shingles.sort_unstable();
        shingles.dedup();
        let is_short = words.len() < SHORT_WORDS;
        Self { shingles, short: is_short.then(|| text.split_whitespace().collect()) }
    }
}

fn hashed(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// Joins the hashes of words, whose order counts. The factor is that of FNV.
fn joined(words: &[u64]) -> u64 {
    words.iter().fold(0, |hash: u64, word| (hash ^ word).wrapping_mul(0x100_0000_01b3).rotate_left(29))
}

/// Returns how many numbers are in both lists, which ascend.
fn n_common(left: &[u64], right: &[u64]) -> usize {
    let mut right = right.iter().peekable();
    let is_in_right = |number: &&u64| {
        while right.next_if(|other| other < number).is_some() {}
        right.peek() == Some(number)
    };
    left.iter().filter(is_in_right).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "The session keeps who is logged in, for how long, and with which key the token was signed by \
        the server. It expires after a day, and the client renews it an hour before, without asking anybody.";

    fn doc<'a>(path: &'a str, text: &str) -> Passage<'a> {
        Passage::new(Kind::Doc, Some("Session"), (path, ClassSet::default()), 0.1, text)
    }

    #[test]
    fn forks_of_a_text_are_near_copies() {
        let own = doc("docs/a.md", TEXT);
        assert!(own.repeats(&doc("old/a.md", &TEXT.replace("a day", "two days"))));
        assert!(!own.repeats(&doc("docs/a.md", TEXT)), "the same file");
        assert!(!own.repeats(&doc("old/a.md", "The session of the parliament ended.")));
        let half = format!("{} And then many other words follow here that the first has not.", &TEXT[..120]);
        assert!(!own.repeats(&doc("old/a.md", &half)));
        let short = doc("docs/b.md", "See above.");
        assert!(short.repeats(&doc("docs/c.md", "See\n  above.\n")));
        assert!(!doc("docs/b.md", "if a > b").repeats(&doc("docs/c.md", "if a < b")));
        assert!(!short.repeats(&doc("docs/c.md", "See below.")));
        assert!(!doc("a.md", "").repeats(&doc("b.md", "a")));
    }

    #[test]
    fn definitions_must_have_one_name() {
        let of = |name, path| Passage::new(Kind::Symbol, Some(name), (path, ClassSet::default()), 0.0, TEXT);
        assert!(of("a", "x.rs").repeats(&of("a", "vendor/x.rs")));
        assert!(!of("a", "x.rs").repeats(&of("b", "vendor/x.rs")));
    }

    #[test]
    fn translations_are_known_by_path_and_position() {
        let of = |path, classes, position| Passage::new(Kind::Doc, None, (path, classes), position, path);
        let at = |path, position| of(path, ClassSet::default(), position);
        let translated = |path, position| of(path, ClassSet::of(&[FileClass::Translation]), position);
        assert!(at("docs/en/a.md", 0.30).repeats(&translated("docs/uk/a.md", 0.35)));
        assert!(translated("docs/uk/a.md", 0.30).repeats(&at("docs/en/a.md", 0.35)));
        assert!(at("README.md", 0.30).repeats(&translated("README.zh-CN.md", 0.35)));
        assert!(!at("docs/en/a.md", 0.30).repeats(&translated("docs/uk/a.md", 0.60)));
        assert!(!at("docs/en/a.md", 0.30).repeats(&translated("docs/uk/b.md", 0.30)));
        assert!(!at("tests/it/a.md", 0.30).repeats(&at("tests/a.md", 0.30)), "`it` is no language here");
        assert!(at("docs/en/a.md", 0.3).may_repeat(Kind::Doc, None, "docs/uk/a.md", "docs/a.md"));
        assert!(!at("docs/en/a.md", 0.3).may_repeat(Kind::Doc, None, "docs/b.md", "docs/b.md"));
    }
}
