//! Holds the definitions and uses of one file of the code map.

use std::sync::Arc;

/// A file as the worktree lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFile {
    /// Worktree-relative, with `/`.
    pub path: String,
    /// blake3 of the file.
    pub hash: [u8; 32],
    /// Id of its content, which is never used again for another.
    pub content: i64,
    /// Whether it ranks after all other files: a test, or generated or vendored code.
    pub is_aside: bool,
}

/// A definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapSymbol {
    /// Its own name.
    pub name: String,
    /// The part of the qualified name before its own name, such as `Session::`; empty at the top of a file.
    pub qualifier: String,
    /// Its first line, 1-based.
    pub line: u32,
}

/// The definitions and used names of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSymbols {
    /// Definitions, in the order of the text.
    pub symbols: Vec<MapSymbol>,
    /// Names used, each with the number of uses.
    pub uses: Vec<(String, u32)>,
}

/// One source file.
#[derive(Clone)]
pub(super) struct MapFile {
    pub(super) listed: CodeFile,
    pub(super) numbered: Arc<NumberedFile>,
}

/// A [`FileSymbols`] with numbers for names.
#[derive(Default)]
pub(super) struct NumberedFile {
    pub(super) symbols: Box<[NumberedSymbol]>,
    pub(super) uses: Box<[(u32, u32)]>,
}

/// A [`MapSymbol`] with numbers for its texts.
#[derive(Clone, Copy)]
pub(super) struct NumberedSymbol {
    pub(super) name: u32,
    pub(super) qualifier: u32,
    pub(super) line: u32,
}

impl MapFile {
    pub(super) fn path(&self) -> &str {
        &self.listed.path
    }

    pub(super) fn symbols(&self) -> &[NumberedSymbol] {
        &self.numbered.symbols
    }

    /// Names used, each with the number of uses.
    pub(super) fn uses(&self) -> &[(u32, u32)] {
        &self.numbered.uses
    }
}

/// Returns whether `path` is `focus` or inside of it.
pub fn contains_path(focus: &str, path: &str) -> bool {
    let focus = focus.trim_start_matches("./").trim_end_matches('/');
    let rest = path.strip_prefix(focus);
    matches!(focus, "" | ".") || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
