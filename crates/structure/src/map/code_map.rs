//! Holds the definitions and references of all files of a view, from one request to the next.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexSet;

use super::graph::Graph;
use super::rank::Edges;

/// Names of removed files are kept until there are this many times as many as when the map was built.
const MOST_GROWTH: usize = 2;

/// A file as its view lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// Worktree-relative, with `/`.
    pub path: String,
    /// blake3 of the file.
    pub hash: [u8; 32],
    /// Identifies what was extracted from it; never used for anything else.
    pub content: i64,
    /// Whether it comes after all files for which this is false: a test, or code that is not written here.
    pub is_aside: bool,
}

/// A definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbol {
    /// Its own name.
    pub name: String,
    /// What stands before its own name in the qualified one, such as `Session::`; empty at the top of a file.
    pub qualifier: String,
    /// Its first line, 1-based.
    pub line: u32,
}

/// What was extracted from a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Definitions, in the order of the text.
    pub symbols: Vec<Symbol>,
    /// Names used, each with the number of uses.
    pub references: Vec<(String, u32)>,
}

/// The files of a view, and the graph of the names that they use.
///
/// A content is read once: [`Self::update`] reads only what it has not read before.
#[derive(Clone, Default)]
pub struct CodeMap {
    /// Names by number.
    names: IndexSet<Box<str>>,
    n_names_at_first: usize,
    files: Vec<MapFile>,
    pub(super) graph: Graph,
    pub(super) edges: Edges,
}

/// One source file.
#[derive(Clone)]
pub(super) struct MapFile {
    listed: ListedFile,
    outline: Arc<NumberedOutline>,
}

/// An [`Outline`] with numbers for names.
#[derive(Default)]
struct NumberedOutline {
    symbols: Box<[NumberedSymbol]>,
    references: Box<[(u32, u32)]>,
}

/// A [`Symbol`] with numbers for its texts.
#[derive(Clone, Copy)]
pub(super) struct NumberedSymbol {
    pub(super) name: u32,
    qualifier: u32,
    pub(super) line: u32,
}

impl MapFile {
    pub(super) fn path(&self) -> &str {
        &self.listed.path
    }

    pub(super) fn symbols(&self) -> &[NumberedSymbol] {
        &self.outline.symbols
    }

    /// Names used, each with the number of uses.
    pub(super) fn references(&self) -> &[(u32, u32)] {
        &self.outline.references
    }
}

impl CodeMap {
    /// Makes the map equal to a list of files, each path once; `read` returns what was extracted from a content.
    ///
    /// # Errors
    /// Those of `read`; the map is of no use then.
    pub fn update<E>(
        &mut self,
        list: Vec<ListedFile>,
        mut read: impl FnMut(i64) -> Result<Outline, E>,
    ) -> Result<(), E> {
        if self.names.len() > MOST_GROWTH * self.n_names_at_first {
            *self = Self::default();
        }
        let former = std::mem::take(&mut self.files).into_iter();
        let mut known: HashMap<i64, Arc<NumberedOutline>> =
            former.map(|file| (file.listed.content, file.outline)).collect();
        for listed in list {
            let outline = match known.get(&listed.content) {
                Some(outline) => Arc::clone(outline),
                None => Arc::new(self.number(&read(listed.content)?)),
            };
            known.insert(listed.content, Arc::clone(&outline));
            self.files.push(MapFile { listed, outline });
        }
        if self.n_names_at_first == 0 {
            self.n_names_at_first = self.names.len();
        }
        self.graph = Graph::of(self);
        self.edges = Edges::of(&self.graph, self.files.len());
        Ok(())
    }

    fn number(&mut self, outline: &Outline) -> NumberedOutline {
        let symbols = outline.symbols.iter().map(|symbol| NumberedSymbol {
            name: self.number_of(&symbol.name),
            qualifier: self.number_of(&symbol.qualifier),
            line: symbol.line,
        });
        let symbols = symbols.collect();
        let references = outline.references.iter().map(|(name, count)| (self.number_of(name), *count));
        NumberedOutline { symbols, references: references.collect() }
    }

    fn number_of(&mut self, name: &str) -> u32 {
        let known = self.names.get_index_of(name);
        known.unwrap_or_else(|| self.names.insert_full(name.into()).0) as u32
    }

    /// The files, in the order of the list.
    pub(super) fn files(&self) -> &[MapFile] {
        &self.files
    }

    /// The number of files.
    pub fn n_files(&self) -> usize {
        self.files.len()
    }

    /// The file at a position of the list.
    pub fn listed(&self, file: usize) -> &ListedFile {
        &self.files[file].listed
    }

    /// The number of symbols of a file.
    pub fn n_symbols(&self, file: usize) -> usize {
        self.files[file].symbols().len()
    }

    /// Name, qualifier and first line of a symbol of a file.
    pub fn symbol(&self, file: usize, symbol: usize) -> (&str, &str, u32) {
        let NumberedSymbol { name, qualifier, line } = self.files[file].outline.symbols[symbol];
        (self.name(name), self.name(qualifier), line)
    }

    pub(super) fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }

    pub(super) fn n_names(&self) -> usize {
        self.names.len()
    }

    /// Whether a path is a file of the map, or a folder with one.
    pub fn has(&self, path: &str) -> bool {
        self.files.iter().any(|file| super::holds(path, file.path()))
    }

    /// Returns about how much memory the map takes, bytes.
    pub fn size(&self) -> usize {
        /// A name in its set, and a file, without their texts.
        const NAME: usize = 48;
        const FILE: usize = size_of::<MapFile>() + size_of::<NumberedOutline>() + 48;
        const SYMBOL: usize = size_of::<NumberedSymbol>();
        const REFERENCE: usize = size_of::<(u32, u32)>();
        let names: usize = self.names.iter().map(|name| NAME + name.len()).sum();
        let outline = |file: &MapFile| file.symbols().len() * SYMBOL + file.references().len() * REFERENCE;
        let files = self.files.iter().map(|file| FILE + file.path().len() + outline(file));
        names + files.sum::<usize>() + self.graph.size() + self.edges.size()
    }
}
