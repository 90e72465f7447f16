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
}

/// What was extracted from a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Definitions with their first lines, which are 1-based.
    pub symbols: Vec<(String, u32)>,
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
    symbols: Box<[(u32, u32)]>,
    references: Box<[(u32, u32)]>,
}

impl MapFile {
    pub(super) fn path(&self) -> &str {
        &self.listed.path
    }

    /// Definitions: name and first line.
    pub(super) fn symbols(&self) -> &[(u32, u32)] {
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
        let mut numbers = |list: &[(String, u32)]| {
            list.iter().map(|(name, value)| (self.number_of(name), *value)).collect()
        };
        NumberedOutline { symbols: numbers(&outline.symbols), references: numbers(&outline.references) }
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

    /// Name and first line of a symbol of a file.
    pub fn symbol(&self, file: usize, symbol: usize) -> (&str, u32) {
        let (name, line) = self.files[file].outline.symbols[symbol];
        (self.name(name), line)
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
        const PAIR: usize = size_of::<(u32, u32)>();
        let names: usize = self.names.iter().map(|name| NAME + name.len()).sum();
        let n_pairs = |file: &MapFile| file.symbols().len() + file.references().len();
        let files = self.files.iter().map(|file| FILE + file.path().len() + n_pairs(file) * PAIR);
        names + files.sum::<usize>() + self.graph.size() + self.edges.size()
    }
}
