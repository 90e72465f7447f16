//! Stores the original bytes and modes of changed hooks.
//!
//! The directory `hooks/` of the state dir has one file for each hook and one with its path, so that uninstalling finds a
//! hook even if `core.hooksPath` has changed. Uninstalling itself needs no backup, because it removes what was inserted.

use std::fs;
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext, PathError, RepoLayout, create_private_dir_in};

/// The backups of one repository.
pub(super) struct Backups {
    dir: PathBuf,
}

impl Backups {
    /// Returns the backups of a repository; there may be none.
    pub(super) fn new(layout: &RepoLayout) -> Self {
        Self { dir: layout.state_dir.join("hooks") }
    }

    /// Stores the former text of a hook, `None` if it did not exist. An earlier backup takes precedence.
    ///
    /// # Errors
    /// When it cannot be written; the hook must not be changed then.
    pub(super) fn store_original(&self, hook: &Path, text: Option<&[u8]>) -> Result<(), PathError> {
        create_private_dir_in(&self.dir)?;
        let (backup, record) = self.backup_paths(hook);
        if let Some(text) = text
            && !backup.exists()
        {
            // On a full disk the backup is complete or absent.
            let part = backup.with_extension("part");
            let written = fs::write(&part, text).and_then(|()| fs::rename(&part, &backup));
            written.inspect_err(|_| drop(fs::remove_file(&part))).at("write", &backup)?;
        }
        // A path that is not UTF-8 cannot be stored, but the settings still name it.
        fs::write(&record, hook.to_string_lossy().as_bytes()).at("write", &record)
    }

    /// Returns the hooks that are on record.
    pub(super) fn recorded_hooks(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let records = entries.filter(|path| path.extension().is_some_and(|extension| extension == "path"));
        records.filter_map(|path| fs::read_to_string(path).ok()).map(PathBuf::from).collect()
    }

    /// Removes the backup of a hook that has nothing of ours any more.
    pub(super) fn remove_backup(&self, hook: &Path) {
        let (backup, record) = self.backup_paths(hook);
        for file in [backup, record] {
            let _ = fs::remove_file(file); // most hooks have none
        }
        let _ = fs::remove_dir(&self.dir); // only when it is empty
    }

    /// Returns the paths of the backup and of the record of a hook.
    fn backup_paths(&self, hook: &Path) -> (PathBuf, PathBuf) {
        let hash = blake3::hash(hook.as_os_str().as_encoded_bytes()).to_hex();
        let event = hook.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{event}-{}", &hash[..16]);
        (self.dir.join(&name), self.dir.join(name + ".path"))
    }
}
