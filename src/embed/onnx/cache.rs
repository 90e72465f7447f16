//! Keeps installed models in the user's cache directory.

use std::fs;
use std::path::{Path, PathBuf};

use super::OnnxError;
use super::manifest::{MANIFEST, Manifest, name_of};
use crate::paths::{IoContext as _, PathError};

/// The directory of installed models: one directory each, named as the model.
#[derive(Clone, Debug)]
pub struct ModelCache {
    dir: PathBuf,
}

/// An installed model.
#[derive(Clone, Debug)]
pub struct Installed {
    /// Its directory.
    pub dir: PathBuf,
    /// What is known of it.
    pub manifest: Manifest,
}

/// Marks directories that are not complete yet.
const TEMPORARY: &str = ".part-";

/// Returns whether a name can be that of a model and of its directory.
pub(super) fn is_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | '_');
    (1..=64).contains(&name.len())
        && !name.starts_with('.')
        && name.chars().all(is_allowed)
        && name != "builtin"
}

impl ModelCache {
    /// `cache_dir` is the directory of caches of memod.
    pub fn new(cache_dir: &Path) -> Self {
        Self { dir: cache_dir.join("models") }
    }

    /// Returns the directory of models.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns an installed model by its name.
    ///
    /// # Errors
    /// When it is not installed, or its manifest is damaged.
    pub fn get(&self, name: &str) -> Result<Installed, OnnxError> {
        let dir = self.dir.join(name);
        if !is_name(name) || !dir.join(MANIFEST).is_file() {
            return Err(OnnxError::Absent(name.to_owned()));
        }
        Ok(Installed { manifest: Manifest::read(&dir)?, dir })
    }

    /// Returns an installed model by its identity.
    ///
    /// # Errors
    /// When it is not installed, or another revision of it is.
    pub fn by_identity(&self, identity: &str) -> Result<Installed, OnnxError> {
        let installed = self.get(name_of(identity))?;
        if installed.manifest.identity() == identity {
            Ok(installed)
        } else {
            Err(OnnxError::Absent(identity.to_owned()))
        }
    }

    /// Returns the installed models by name; damaged ones are left out.
    pub fn all(&self) -> Vec<Installed> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names.iter().filter_map(|name| self.get(name).ok()).collect()
    }

    /// Makes an empty directory, in which a model is put together.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(super) fn temporary(&self, name: &str) -> Result<PathBuf, OnnxError> {
        let dir = self.dir.join(format!("{TEMPORARY}{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir); // of a process with the same id, which is gone
        fs::create_dir_all(&dir).at("create directory", &dir)?;
        Ok(dir)
    }

    /// Puts a complete directory in the place of the model.
    ///
    /// # Errors
    /// When it cannot be renamed; the former model stays then.
    pub(super) fn put(&self, complete: &Path, name: &str) -> Result<(), PathError> {
        let dir = self.dir.join(name);
        let former = self.dir.join(format!("{TEMPORARY}former-{name}-{}", std::process::id()));
        let had_former = fs::rename(&dir, &former).is_ok();
        let put = fs::rename(complete, &dir).at("rename", complete);
        if put.is_err() && had_former {
            let _ = fs::rename(&former, &dir); // what failed is told
        }
        let _ = fs::remove_dir_all(&former); // harmless: its name is not that of a model
        put
    }

    /// Deletes an installed model, also a damaged one.
    ///
    /// # Errors
    /// When it is not installed, or cannot be deleted.
    pub fn remove(&self, name: &str) -> Result<(), OnnxError> {
        let dir = self.dir.join(name);
        if !is_name(name) || !dir.is_dir() {
            return Err(OnnxError::Absent(name.to_owned()));
        }
        fs::remove_dir_all(&dir).at("remove", &dir).map_err(Into::into)
    }
}
