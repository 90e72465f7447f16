//! Declares the classes of files, such as tests and documentation, and their words.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The purpose of a file. A file may have several classes: a fixture of tests is often configuration too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "String")]
pub enum FileClass {
    /// Source code. Such a file has no other class except `Migration` or `Declaration`.
    Code,
    /// Text for people.
    Docs,
    /// Tests.
    Test,
    /// Input and expected output of tests.
    Fixture,
    /// Recorded output that tests compare with.
    Snapshot,
    /// Code that shows how something is used.
    Example,
    /// Measurements of speed.
    Benchmark,
    /// Settings and data: JSON, YAML, TOML, INI, XML.
    Config,
    /// Written by a program.
    Generated,
    /// Copied code of another project.
    Vendored,
    /// The versions of dependencies, written by a package manager.
    Lock,
    /// Licences and notices.
    Licence,
    /// Notes on releases.
    Changelog,
    /// A text or a table of messages that is the translation of a file beside it.
    Translation,
    /// Steps that change the schema of a database.
    Migration,
    /// Signatures without bodies, beside the code with the bodies.
    Declaration,
}

/// Other words that name a class.
const SYNONYMS: [(&str, FileClass); 14] = [
    ("bench", FileClass::Benchmark),
    ("changes", FileClass::Changelog),
    ("configuration", FileClass::Config),
    ("doc", FileClass::Docs),
    ("documentation", FileClass::Docs),
    ("document", FileClass::Docs),
    ("i18n", FileClass::Translation),
    ("licenses", FileClass::Licence),
    ("license", FileClass::Licence),
    ("lockfile", FileClass::Lock),
    ("source", FileClass::Code),
    ("spec", FileClass::Test),
    ("types", FileClass::Declaration),
    ("vendor", FileClass::Vendored),
];

impl FileClass {
    /// All classes.
    pub const ALL: [Self; 16] = [
        Self::Code,
        Self::Docs,
        Self::Test,
        Self::Fixture,
        Self::Snapshot,
        Self::Example,
        Self::Benchmark,
        Self::Config,
        Self::Generated,
        Self::Vendored,
        Self::Lock,
        Self::Licence,
        Self::Changelog,
        Self::Translation,
        Self::Migration,
        Self::Declaration,
    ];

    /// Returns the word used in JSON, in `explain` and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Docs => "docs",
            Self::Test => "test",
            Self::Fixture => "fixture",
            Self::Snapshot => "snapshot",
            Self::Example => "example",
            Self::Benchmark => "benchmark",
            Self::Config => "config",
            Self::Generated => "generated",
            Self::Vendored => "vendored",
            Self::Lock => "lock",
            Self::Licence => "licence",
            Self::Changelog => "changelog",
            Self::Translation => "translation",
            Self::Migration => "migration",
            Self::Declaration => "declaration",
        }
    }

    /// Returns the class that a word names, in upper or lower case, as singular or plural.
    ///
    /// # Errors
    /// A message that lists all classes, when the word names none.
    pub fn parse(word: &str) -> Result<Self, String> {
        let word = word.to_ascii_lowercase();
        let is_it = |name: &str| name == word || word.strip_suffix('s') == Some(name);
        let own = Self::ALL.into_iter().find(|class| is_it(class.as_str()));
        own.or_else(|| SYNONYMS.iter().find(|(name, _)| is_it(name)).map(|(_, class)| *class)).ok_or_else(
            || {
                let is_kind = ["commit", "memory", "memorie", "symbol"].iter().any(|kind| is_it(kind));
                if is_kind {
                    return format!("{word}: not a class of files, but a kind of hits (--kind)");
                }
                let distance = |name: &str| strsim::damerau_levenshtein(name, &word);
                let names = Self::ALL.map(Self::as_str);
                match names.iter().min_by_key(|name| distance(name)).filter(|name| distance(name) <= 2) {
                    Some(near) => format!("{word}: not a class of files; did you mean {near}?"),
                    None => format!("{word}: not a class of files; there are {}", names.join(", ")),
                }
            },
        )
    }
}

impl TryFrom<String> for FileClass {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        Self::parse(&word)
    }
}

/// A set of classes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct ClassSet(u16);

impl ClassSet {
    /// Returns the set with these classes.
    pub fn from_classes(classes: &[FileClass]) -> Self {
        classes.iter().copied().collect()
    }

    /// Adds a class.
    pub fn insert(&mut self, class: FileClass) {
        self.0 |= 1 << class as u16;
    }

    /// Returns whether a class is in the set.
    pub fn contains(self, class: FileClass) -> bool {
        self.0 & 1 << class as u16 != 0
    }

    /// Returns whether the sets have a class in common.
    pub fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether no class is in the set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the set with the classes of both sets.
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the classes, in the order of [`FileClass::ALL`].
    pub fn iter(self) -> impl Iterator<Item = FileClass> {
        FileClass::ALL.into_iter().filter(move |class| self.contains(*class))
    }
}

impl FromIterator<FileClass> for ClassSet {
    fn from_iter<I: IntoIterator<Item = FileClass>>(classes: I) -> Self {
        let mut set = Self::default();
        classes.into_iter().for_each(|class| set.insert(class));
        set
    }
}

impl fmt::Debug for ClassSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(FileClass::as_str)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_named_as_singular_or_plural() {
        for class in FileClass::ALL {
            assert_eq!(FileClass::parse(class.as_str()), Ok(class));
            let word: FileClass = serde_json::from_value(serde_json::to_value(class).unwrap()).unwrap();
            assert_eq!(word, class);
        }
        for (word, class) in
            [("Tests", FileClass::Test), ("license", FileClass::Licence), ("lockfiles", FileClass::Lock)]
        {
            assert_eq!(FileClass::parse(word), Ok(class));
        }
        assert!(FileClass::parse("tsts").unwrap_err().ends_with("did you mean test?"));
        let error = FileClass::parse("unheard").unwrap_err();
        assert!(error.contains("code, docs, test"), "{error}");
    }

    #[test]
    fn a_set_has_what_was_added() {
        let set = ClassSet::from_classes(&[FileClass::Fixture, FileClass::Code, FileClass::Declaration]);
        assert_eq!(format!("{set:?}"), r#"{"code", "fixture", "declaration"}"#);
        assert!(set.intersects(ClassSet::from_classes(&[FileClass::Code, FileClass::Lock])));
        assert!(!set.contains(FileClass::Lock) && ClassSet::default().is_empty());
    }
}
