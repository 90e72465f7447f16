//! Knows no mounts, on platforms where a directory is hardly ever mounted over another.

use std::iter;
use std::path::{Path, PathBuf};

/// As the one of Linux, and always empty.
pub struct Mounts;

impl Mounts {
    /// Does nothing.
    pub fn read() -> Self {
        Self
    }

    /// Returns nothing.
    pub fn changed(&mut self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns nothing.
    pub fn around<'a>(&'a self, _: &Path) -> Option<&'a Path> {
        None
    }

    /// Returns nothing.
    pub fn below<'a>(&'a self, _: &'a Path) -> impl Iterator<Item = &'a Path> {
        iter::empty()
    }
}
