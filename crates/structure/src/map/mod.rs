//! Selects the symbols of the code map.
//!
//! Pure: takes files with their symbols and uses, and returns text. `code_map` holds the files, with numbers in place of
//! names; `graph` connects files by the symbols they use, [`rank_files`] computes the importance of files and symbols, and
//! [`render_map`] prints what fits.

mod code_map;
mod file_edges;
mod graph;
mod map_file;
mod module_files;
mod page_rank;
mod render;
mod signature;
mod use_keys;

pub use code_map::CodeMap;
pub use map_file::{CodeFile, FileSymbols, KeyUse, MapSymbol, contains_path};
pub use page_rank::{Ranking, rank_files};
pub use render::{RenderedMap, render_map};
pub use signature::{NumberedLines, has_word};
pub use use_keys::{KeyedDefinition, UseKeys};

#[cfg(test)]
mod tests;
