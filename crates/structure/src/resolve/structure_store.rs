//! Defines where the resolver reads the structures of files, and how it names a definition in one.

use std::sync::Arc;

use memod_base::types::{DeclaredItem, FileStructure, NameUse};

use super::candidate_set::ResolutionCache;
use super::path_index::FileNumber;

/// The structures of the files of a worktree.
pub trait StructureStore {
    /// Returns the structure of a file; empty where none is known.
    fn structure_of(&self, file: FileNumber) -> Arc<FileStructure>;
    /// Returns the definitions in all files that have the name `name`.
    fn definitions_named(&self, name: &str) -> Arc<[DefinitionCandidate]>;
    /// Returns what was found out about names so far.
    fn resolution_cache(&self) -> &ResolutionCache;
    /// Resets the number of counted steps, for the next use.
    fn reset_steps(&self);
    /// Counts a step for the current use, and returns whether more steps are allowed. Without a limit, types that extend each
    /// other, or values that are set to each other, would take too long to follow.
    fn count_step(&self) -> bool;
}

/// A definition that a use may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DefinitionCandidate {
    /// The defining file.
    pub file: FileNumber,
    /// Index in the declarations of the file.
    pub declared: u32,
}

impl DefinitionCandidate {
    /// Returns whether a use in `file` is the name of the definition itself: `app.handler = () => {}` sets a member, and may define it.
    pub fn is_named_by(self, file: FileNumber, structure: &FileStructure, used: &NameUse) -> bool {
        self.file == file && self.declared_in(structure).name_at == (used.line, used.column)
    }

    /// Returns the declaration in the structure of its file.
    pub fn declared_in(self, structure: &FileStructure) -> &DeclaredItem {
        &structure.declared[self.declared as usize]
    }
}
