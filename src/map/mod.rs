//! Selects the symbols of the code map.
//!
//! Pure: files with their symbols and references in, text out. `graph` says who names whose symbols,
//! [`rank()`] how much each file and symbol matters, [`render()`] what of it fits.

mod graph;
mod rank;
mod render;

pub use rank::{RankedFile, holds, rank};
pub use render::render;

/// One source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapFile<'a> {
    /// Worktree-relative, with `/`.
    pub path: &'a str,
    /// Its definitions.
    pub symbols: Vec<MapSymbol<'a>>,
    /// Names used in it, each with the number of uses.
    pub references: Vec<(&'a str, u32)>,
}

/// One definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapSymbol<'a> {
    /// Own name, without those around it.
    pub name: &'a str,
    /// What is printed: the first line, or all, of its signature.
    pub signature: &'a str,
    /// 1-based.
    pub line: u32,
}

#[cfg(test)]
mod tests;
