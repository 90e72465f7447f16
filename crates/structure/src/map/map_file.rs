//! Holds the definitions and uses of one file of the code map.

use std::sync::Arc;

/// A file as the worktree lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFile {
    /// Worktree-relative path, with `/`.
    pub path: String,
    /// BLAKE3 hash of the file.
    pub hash: [u8; 32],
    /// Id of the file's content; an id is never used again for another content.
    pub content: i64,
    /// Whether the file ranks after all others, because it is a test, or generated or vendored.
    pub ranks_last: bool,
}

/// A definition in a file of the code map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapSymbol {
    /// Its own name.
    pub name: String,
    /// The key by which uses mean it: that of [`super::UseKeys`], or its name.
    pub key: String,
    /// The part of the qualified name before the own name, such as `Session::`; empty at the top of a file.
    pub qualifier: String,
    /// Its first line, 1-based.
    pub line: u32,
    /// Whether it is a variable, a constant or a module, which says less about its file than a function or a type.
    pub is_value: bool,
}

/// The definitions and used names of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSymbols {
    /// Last part of the package that the file declares; empty if it declares none.
    pub package: String,
    /// Definitions, in the order of the text.
    pub symbols: Vec<MapSymbol>,
    /// Keys used.
    pub uses: Vec<KeyUse>,
}

/// The uses of a key in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyUse {
    /// The key.
    pub key: String,
    /// The last part of the module from which the file imports the name or its receiver: `json` of `encoding/json`; empty if it
    /// imports neither.
    pub module: String,
    /// Number of uses.
    pub count: u32,
}

/// A file of the code map, as the worktree lists it, and with its symbols.
#[derive(Clone)]
pub(super) struct MapFile {
    pub(super) listed: CodeFile,
    pub(super) numbered: Arc<NumberedFile>,
}

/// A [`FileSymbols`] with numbers in place of names.
#[derive(Default)]
pub(super) struct NumberedFile {
    pub(super) package: Option<u32>,
    pub(super) symbols: Box<[InternedSymbol]>,
    pub(super) uses: Box<[InternedUse]>,
}

/// A [`MapSymbol`] with numbers in place of its texts.
#[derive(Clone, Copy)]
pub(super) struct InternedSymbol {
    pub(super) name: u32,
    pub(super) key: u32,
    pub(super) qualifier: u32,
    pub(super) line: u32,
    pub(super) is_value: bool,
}

/// A [`KeyUse`] with numbers in place of names.
#[derive(Clone, Copy)]
pub(super) struct InternedUse {
    pub(super) key: u32,
    pub(super) module: Option<u32>,
    pub(super) count: u32,
}

impl MapFile {
    pub(super) fn path(&self) -> &str {
        &self.listed.path
    }

    pub(super) fn symbols(&self) -> &[InternedSymbol] {
        &self.numbered.symbols
    }

    pub(super) fn key_uses(&self) -> &[InternedUse] {
        &self.numbered.uses
    }
}

/// Returns whether `path` is `focus` or inside of the folder `focus`.
pub fn contains_path(focus: &str, path: &str) -> bool {
    let focus = focus.trim_start_matches("./").trim_end_matches('/');
    let rest = path.strip_prefix(focus);
    matches!(focus, "" | ".") || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
