//! Finds, replaces and removes the installed models in the user's cache directory.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memod_base::paths::{IoContext as _, PathError, lock_with_timeout, open_lock_file};

use super::OnnxError;
use super::manifest::{MANIFEST_FILE_NAME, Manifest, name_in_identity};

/// The directory of installed models. Each model has a directory of its own, with the name of the model.
#[derive(Clone, Debug)]
pub struct ModelCache {
    dir: PathBuf,
    /// Directory of the lock files, one for each model name.
    locks: PathBuf,
}

/// An installed model.
#[derive(Clone, Debug)]
pub struct InstalledModel {
    /// Directory of the model's files.
    pub dir: PathBuf,
    /// The content of `manifest.json` in that directory.
    pub manifest: Manifest,
}

/// Prefix of the directory in which a model is put together. The model's name follows.
const TEMPORARY_PREFIX: &str = ".part-";

/// Prefix of the directory of a model that is being replaced. The model's name follows.
const FORMER_PREFIX: &str = ".former-";

/// Longest wait for another process that installs or removes the same model.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(20);

/// Returns whether a model can have this name: 1 to 64 characters, no leading dot, not `builtin`.
pub(super) fn is_model_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && !name.starts_with('.')
        && name.chars().all(is_name_char)
        && name != "builtin"
}

/// Returns whether the name of a model can contain this character.
fn is_name_char(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-' | '_')
}

impl ModelCache {
    /// Creates a cache in the subdirectory `models` of `cache_dir`, the directory of all caches of memod.
    pub fn new(cache_dir: &Path) -> Self {
        Self { dir: cache_dir.join("models"), locks: cache_dir.join("locks") }
    }

    /// Returns the directory that contains the directories of all models.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the installed model with this name.
    ///
    /// # Errors
    /// When no such model is installed, or the manifest is damaged.
    pub fn get(&self, name: &str) -> Result<InstalledModel, OnnxError> {
        let dir = self.dir.join(name);
        if !is_model_name(name) || !dir.join(MANIFEST_FILE_NAME).is_file() {
            return Err(OnnxError::NotInstalled(name.to_owned()));
        }
        Ok(InstalledModel { manifest: Manifest::read(&dir)?, dir })
    }

    /// Returns the installed model with this identity.
    ///
    /// # Errors
    /// When the model is not installed, or installed with another identity (for example another revision).
    pub fn find_by_identity(&self, identity: &str) -> Result<InstalledModel, OnnxError> {
        let installed = self.get(name_in_identity(identity))?;
        if installed.manifest.identity() == identity {
            Ok(installed)
        } else {
            Err(OnnxError::NotInstalled(identity.to_owned()))
        }
    }

    /// Returns all installed models, sorted by name. Models with a damaged manifest are left out.
    pub fn list_models(&self) -> Vec<InstalledModel> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names.iter().filter_map(|name| self.get(name).ok()).collect()
    }

    /// Keeps other processes from installing or removing the model for as long as the returned file is open.
    ///
    /// # Errors
    /// When another process holds the lock for more than 20 seconds, or the lock file cannot be opened.
    pub(super) fn lock_model(&self, name: &str) -> Result<File, OnnxError> {
        let path = self.lock_path(name)?;
        match lock_with_timeout(open_lock_file(&path)?, MAX_LOCK_WAIT) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(OnnxError::Locked(name.to_owned())),
            locked => Ok(locked.at("lock", &path)?),
        }
    }

    /// Returns the path of the lock file of a model; creates the directory of lock files.
    fn lock_path(&self, name: &str) -> Result<PathBuf, PathError> {
        fs::create_dir_all(&self.locks).at("create directory", &self.locks)?;
        Ok(self.locks.join(format!("{name}.lock")))
    }

    /// Creates an empty directory in which a model is put together, and returns the path. The caller holds the lock of the model.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub(super) fn create_temporary_dir(&self, name: &str) -> Result<PathBuf, OnnxError> {
        self.delete_leftovers(name);
        let dir = self.dir.join(format!("{TEMPORARY_PREFIX}{name}"));
        fs::create_dir_all(&dir).at("create directory", &dir)?;
        Ok(dir)
    }

    /// Deletes the temporary directories that killed processes have left: of the model `own`, and of every model that no other
    /// process has locked. Puts a model back that was moved away and not replaced.
    fn delete_leftovers(&self, own: &str) {
        for entry in fs::read_dir(&self.dir).into_iter().flatten().flatten() {
            let file_name = entry.file_name();
            let left = file_name.to_string_lossy();
            let former = left.strip_prefix(FORMER_PREFIX);
            let Some(name) = former.or_else(|| left.strip_prefix(TEMPORARY_PREFIX)) else { continue };
            let lock = self.lock_path(name).and_then(|path| open_lock_file(&path));
            if name != own && lock.is_ok_and(|lock| lock.try_lock().is_err()) {
                continue;
            }
            let returns = former.is_some() && fs::rename(entry.path(), self.dir.join(name)).is_ok();
            if !returns {
                let _ = fs::remove_dir_all(entry.path()); // a leftover harms nobody
            }
        }
    }

    /// Moves a complete directory to the place of the model.
    ///
    /// # Errors
    /// When the directory cannot be renamed. The former model is put back then.
    pub(super) fn replace_model(&self, complete: &Path, name: &str) -> Result<(), PathError> {
        let dir = self.dir.join(name);
        let former = self.dir.join(format!("{FORMER_PREFIX}{name}"));
        let had_former = fs::rename(&dir, &former).is_ok();
        let put = fs::rename(complete, &dir).at("rename", complete);
        if put.is_err() && had_former {
            let _ = fs::rename(&former, &dir); // the failure itself is returned
        }
        let _ = fs::remove_dir_all(&former); // a leftover is harmless, because no model can have this name
        put
    }

    /// Deletes an installed model, even a damaged one.
    ///
    /// # Errors
    /// When the model is not installed, is locked by another process, or cannot be deleted.
    pub fn remove(&self, name: &str) -> Result<(), OnnxError> {
        let dir = self.dir.join(name);
        if !is_model_name(name) || !dir.is_dir() {
            return Err(OnnxError::NotInstalled(name.to_owned()));
        }
        let _lock = self.lock_model(name)?;
        fs::remove_dir_all(&dir).at("remove", &dir).map_err(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_processes_have_left_is_deleted_or_returns() {
        let temp = tempfile::tempdir().unwrap();
        let cache = ModelCache::new(temp.path());
        for dir in [".part-own", ".former-replaced", ".part-own-5", ".part-busy", ".former-kept", "kept"] {
            fs::create_dir_all(cache.dir.join(dir)).unwrap();
            fs::write(cache.dir.join(dir).join("of"), dir).unwrap();
        }
        let busy = cache.lock_model("busy").unwrap();
        let part = cache.create_temporary_dir("own").unwrap();
        assert_eq!(fs::read_dir(&part).unwrap().count(), 0);
        let mut names: Vec<_> = fs::read_dir(&cache.dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, [".part-busy", ".part-own", "kept", "replaced"]);
        let of = |name: &str| fs::read_to_string(cache.dir.join(name).join("of")).unwrap();
        assert_eq!((of("replaced"), of("kept")), (".former-replaced".to_owned(), "kept".to_owned()));
        drop(busy);
        cache.replace_model(&part, "own").unwrap();
        cache.delete_leftovers("another");
        assert!(cache.dir.join("own").is_dir() && !cache.dir.join(".part-busy").exists());
    }
}
