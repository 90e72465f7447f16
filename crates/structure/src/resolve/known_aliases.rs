//! Holds the names that other files have for the wanted definitions.

use std::collections::{HashMap, HashSet};

use super::path_index::FileNumber;

/// The names of wanted definitions in other files.
#[derive(Default)]
pub(super) struct KnownAliases {
    /// Other names under which files export the name.
    pub(super) names: Vec<String>,
    /// Other names of a fixture of pytest.
    pub(super) fixtures: Vec<String>,
    /// Files of JavaScript that export a wanted definition as `default`, or as the whole module.
    pub(super) default_files: HashSet<FileNumber>,
    /// Other names under which a file imports a wanted definition, by file.
    pub(super) local: HashMap<FileNumber, Vec<String>>,
}

/// The aliases that a file adds, and the files that may use them.
#[derive(Default)]
pub struct LearnedAliases {
    /// Names that other files may write.
    pub names: Vec<String>,
    /// Files that other files may import without writing a name that is known.
    pub modules: Vec<FileNumber>,
    /// Whether the file itself writes another name.
    pub is_local: bool,
}

#[cfg(test)]
impl LearnedAliases {
    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.modules.is_empty() && !self.is_local
    }
}
