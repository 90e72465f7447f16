//! Selects the symbols of the code map.
//!
//! Pure: takes files with their symbols and references, and returns text. `code_map` keeps them, with numbers for names;
//! `graph` connects files by the symbols they use, [`rank()`] computes the importance of files and symbols, and [`render()`]
//! prints what fits.

mod code_map;
mod graph;
mod rank;
mod render;
mod signature;

pub use code_map::{CodeMap, ListedFile, Outline, Symbol};
pub use rank::{Ranking, holds, rank};
pub use render::{Rendered, render};
pub use signature::{Lines, has_word};

#[cfg(test)]
mod tests;
