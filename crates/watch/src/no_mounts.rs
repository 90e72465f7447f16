//! Provides an empty table of mounts for platforms on which a directory is hardly ever mounted over another.

use std::iter;
use std::path::{Path, PathBuf};

/// Stands in for the table of Linux, and is always empty.
pub struct MountTable;

impl MountTable {
    /// Returns an empty table.
    pub fn read() -> Self {
        Self
    }

    /// Returns nothing.
    pub fn take_changed_mount_points(&mut self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns nothing.
    pub fn mount_point_of<'a>(&'a self, _: &Path) -> Option<&'a Path> {
        None
    }

    /// Returns nothing.
    pub fn mount_points_below<'a>(&'a self, _: &'a Path) -> impl Iterator<Item = &'a Path> {
        iter::empty()
    }
}
