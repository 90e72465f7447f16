//! Selects the symbols of the code map.
//!
//! Pure: takes files with their symbols and references, and returns text. `graph` connects files by the symbols they use,
//! [`rank()`] computes the importance of files and symbols, and [`render()`] prints what fits.

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
