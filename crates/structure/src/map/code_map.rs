//! Keeps the definitions and uses of all files of a worktree across requests.

use std::collections::HashMap;
use std::sync::Arc;

use indexmap::IndexSet;

use super::file_edges::FileEdges;
use super::graph::UseGraph;
use super::map_file::{
    CodeFile, FileSymbols, InternedSymbol, InternedUse, MapFile, NumberedFile, contains_path,
};

/// Factor by which the number of names may grow before the map is rebuilt, to drop the names of removed files.
const MOST_GROWTH: usize = 2;

/// The files of a worktree, and the graph of the names that they use.
///
/// A content is read only once: [`Self::replace_files`] reads only new contents.
#[derive(Clone, Default)]
pub struct CodeMap {
    /// Names by number.
    names: IndexSet<Box<str>>,
    n_names_at_first: usize,
    files: Vec<MapFile>,
    pub(super) graph: UseGraph,
    pub(super) edges: FileEdges,
}

impl CodeMap {
    /// Replaces the files of the map by `list`, which has each path once. `read` returns the definitions and used keys of a
    /// file; it is called only for new contents.
    ///
    /// # Errors
    /// Returns an error of `read`; the map must not be used after it.
    pub fn replace_files<E>(
        &mut self,
        list: Vec<CodeFile>,
        mut read: impl FnMut(&CodeFile) -> Result<FileSymbols, E>,
    ) -> Result<(), E> {
        if self.names.len() > MOST_GROWTH * self.n_names_at_first {
            *self = Self::default();
        }
        let former = std::mem::take(&mut self.files).into_iter();
        let mut known: HashMap<i64, Arc<NumberedFile>> =
            former.map(|file| (file.listed.content, file.numbered)).collect();
        for listed in list {
            let numbered = match known.get(&listed.content) {
                Some(numbered) => Arc::clone(numbered),
                None => Arc::new(self.number_file(&read(&listed)?)),
            };
            known.insert(listed.content, Arc::clone(&numbered));
            self.files.push(MapFile { listed, numbered });
        }
        if self.n_names_at_first == 0 {
            self.n_names_at_first = self.names.len();
        }
        self.graph = UseGraph::from_files(&self.files, &self.names);
        self.edges = FileEdges::from_graph(&self.graph, self.files.len());
        Ok(())
    }

    fn number_file(&mut self, file: &FileSymbols) -> NumberedFile {
        let symbols = file.symbols.iter().map(|symbol| InternedSymbol {
            name: self.number_of(&symbol.name),
            key: self.number_of(&symbol.key),
            qualifier: self.number_of(&symbol.qualifier),
            line: symbol.line,
            is_value: symbol.is_value,
        });
        let symbols = symbols.collect();
        let uses = file.uses.iter().map(|used| InternedUse {
            key: self.number_of(&used.key),
            module: (!used.module.is_empty()).then(|| self.number_of(&used.module)),
            count: used.count,
        });
        let uses = uses.collect();
        let package = (!file.package.is_empty()).then(|| self.number_of(&file.package));
        NumberedFile { package, symbols, uses }
    }

    fn number_of(&mut self, name: &str) -> u32 {
        let known = self.names.get_index_of(name);
        known.unwrap_or_else(|| self.names.insert_full(name.into()).0) as u32
    }

    /// Returns the files, in the order of the list.
    pub(super) fn files(&self) -> &[MapFile] {
        &self.files
    }

    /// Returns the number of files.
    pub fn n_files(&self) -> usize {
        self.files.len()
    }

    /// Returns the file at a position of the list.
    pub fn file_at(&self, file: usize) -> &CodeFile {
        &self.files[file].listed
    }

    /// Returns the number of symbols of the file at a position of the list.
    pub fn n_symbols(&self, file: usize) -> usize {
        self.files[file].symbols().len()
    }

    /// Returns the name, the qualifier and the first line (1-based) of a symbol, by the positions of the file and of the
    /// symbol in it.
    pub fn symbol_at(&self, file: usize, symbol: usize) -> (&str, &str, u32) {
        let InternedSymbol { name, qualifier, line, .. } = self.files[file].numbered.symbols[symbol];
        (self.name_at(name), self.name_at(qualifier), line)
    }

    pub(super) fn name_at(&self, number: u32) -> &str {
        &self.names[number as usize]
    }

    #[cfg(test)]
    pub(super) fn n_names(&self) -> usize {
        self.names.len()
    }

    /// Returns whether a path is a file of the map, or a folder with such a file.
    pub fn has_path(&self, path: &str) -> bool {
        self.files.iter().any(|file| contains_path(path, file.path()))
    }

    /// Returns the approximate size of the map in memory, in bytes.
    pub fn memory_bytes(&self) -> usize {
        /// Bytes of a name in its set, and of a file, without their texts.
        const NAME: usize = 48;
        const FILE: usize = size_of::<MapFile>() + size_of::<NumberedFile>() + 48;
        const SYMBOL: usize = size_of::<InternedSymbol>();
        const USE: usize = size_of::<InternedUse>();
        let names: usize = self.names.iter().map(|name| NAME + name.len()).sum();
        let files = self.files.iter().map(|file| {
            FILE + file.path().len() + file.symbols().len() * SYMBOL + file.key_uses().len() * USE
        });
        names + files.sum::<usize>() + self.graph.memory_bytes() + self.edges.memory_bytes()
    }
}
