//! Finds the files of a worktree by the ends of their paths.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::javascript::ModuleResolver;
use super::packages::Packages;
use super::split_path::split_path;

/// A file by its number in a [`PathIndex`].
pub type FileNumber = u32;

/// Maximum number of files whose imports are kept.
const MOST_IMPORTERS: usize = 20_000;

/// The source files of a worktree.
#[derive(Default)]
pub struct PathIndex {
    paths: Vec<String>,
    numbers: Arc<HashMap<String, FileNumber>>,
    /// Files by their name without the last ending.
    stems: HashMap<String, Vec<FileNumber>>,
    /// Files by the last part of their directory's path, which is empty for files at the top.
    dirs: HashMap<String, Vec<FileNumber>>,
    pub(super) packages: Packages,
    /// Created at the first import of JavaScript.
    modules: OnceLock<ModuleResolver>,
    /// The files that imports of JavaScript mean, by importing file and text.
    imported: Mutex<HashMap<FileNumber, HashMap<String, Vec<FileNumber>>>>,
}

impl PathIndex {
    /// Indexes worktree-relative paths.
    pub fn new(paths: impl IntoIterator<Item = String>) -> Self {
        let mut index = Self { paths: paths.into_iter().collect(), ..Self::default() };
        let mut numbers = HashMap::with_capacity(index.paths.len());
        for (number, path) in index.paths.iter().enumerate() {
            let number = number as FileNumber;
            let (dir, name) = split_path(path);
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            index.stems.entry(stem.to_owned()).or_default().push(number);
            index.dirs.entry(split_path(dir).1.to_owned()).or_default().push(number);
            numbers.insert(path.clone(), number);
        }
        index.numbers = Arc::new(numbers);
        index
    }

    /// Returns the index with the packages that the repository's manifests name.
    #[must_use]
    pub fn with_packages(self, packages: Packages) -> Self {
        Self { packages, modules: OnceLock::new(), imported: Mutex::default(), ..self }
    }

    /// Returns an index of these files and of further paths, with the same packages.
    #[must_use]
    pub fn with_more_paths(&self, more: impl IntoIterator<Item = String>) -> Self {
        let mut paths: Vec<String> = self.paths.iter().cloned().chain(more).collect();
        paths.sort_unstable();
        paths.dedup();
        Self::new(paths).with_packages(self.packages.clone())
    }

    /// Returns whether the files are these, in this order.
    pub fn has_paths(&self, paths: &[String]) -> bool {
        self.paths == paths
    }

    /// Returns the path of a file.
    pub fn path_of(&self, file: FileNumber) -> &str {
        &self.paths[file as usize]
    }

    /// Returns all files with their paths.
    pub fn all_files(&self) -> impl Iterator<Item = (FileNumber, &str)> {
        self.paths.iter().enumerate().map(|(number, path)| (number as FileNumber, path.as_str()))
    }

    /// Returns the number of a path.
    pub fn number_of(&self, path: &str) -> Option<FileNumber> {
        self.numbers.get(path).copied()
    }

    /// Returns the files that an import of JavaScript means; none if it is of another library.
    pub(super) fn find_imported_files(&self, module: &str, from: FileNumber) -> Vec<FileNumber> {
        let known = |imported: &HashMap<FileNumber, HashMap<String, Vec<FileNumber>>>| {
            imported.get(&from)?.get(module).cloned()
        };
        let mut imported = self.imported.lock().unwrap_or_else(PoisonError::into_inner);
        known(&imported).unwrap_or_else(|| {
            let found = self.module_resolver().find_files(self.path_of(from), module);
            let found: Vec<_> = found.iter().filter_map(|path| self.number_of(path)).collect();
            if imported.len() >= MOST_IMPORTERS {
                imported.clear();
            }
            imported.entry(from).or_default().insert(module.to_owned(), found.clone());
            found
        })
    }

    pub(super) fn module_resolver(&self) -> &ModuleResolver {
        self.modules.get_or_init(|| {
            ModuleResolver::new(Arc::clone(&self.numbers), self.packages.javascript_manifests())
        })
    }

    /// Returns the directory of a file; empty for a file at the top.
    pub(super) fn dir_of(&self, file: FileNumber) -> &str {
        split_path(self.path_of(file)).0
    }

    /// Returns the files whose path without its ending is `path`, or ends with `/` and `path`.
    pub(super) fn files_ending_with(&self, path: &str) -> Vec<FileNumber> {
        let files = self.stems.get(split_path(path).1).into_iter().flatten().copied();
        files.filter(|file| is_end_of(path_stem(self.path_of(*file)), path)).collect()
    }

    /// Returns the files directly in directories that are `dir`, or end with `/` and `dir`.
    pub(super) fn files_in_dirs(&self, dir: &str) -> Vec<FileNumber> {
        let files = self.dirs.get(split_path(dir).1).into_iter().flatten().copied();
        files.filter(|file| is_end_of(self.dir_of(*file), dir)).collect()
    }
}

/// Returns a path without the ending of its last part.
fn path_stem(path: &str) -> &str {
    let name = split_path(path).1;
    name.rfind('.').map_or(path, |at| &path[..path.len() - name.len() + at])
}

fn is_end_of(path: &str, end: &str) -> bool {
    path == end || path.strip_suffix(end).is_some_and(|before| before.ends_with('/'))
}
