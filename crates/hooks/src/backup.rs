//! Stores the original bytes and modes of changed hooks.
//!
//! The directory `hooks` in the state dir has two files for each hook: the backup and the path of the hook. The path is needed
//! to find the hook when it is uninstalled, even if `core.hooksPath` has changed. The backup is only for the user, because
//! uninstalling removes what was inserted.

use std::fs;
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext, PathError, RepoLayout, create_private_dir_without_parents};

/// The backups of one repository.
pub(super) struct HookBackups {
    dir: PathBuf,
}

impl HookBackups {
    /// Returns the backups of a repository. Their directory may not exist yet.
    pub(super) fn new(layout: &RepoLayout) -> Self {
        Self { dir: layout.state_dir.join("hooks") }
    }

    /// Stores the original text of a hook, `None` if the hook did not exist, and the path of the hook. An existing backup stays.
    ///
    /// # Errors
    /// When a file cannot be written; the caller must not change the hook then.
    pub(super) fn store_original(&self, hook: &Path, text: Option<&[u8]>) -> Result<(), PathError> {
        create_private_dir_without_parents(&self.dir)?;
        let (backup, record) = self.backup_paths(hook);
        if let Some(text) = text
            && !backup.exists()
        {
            // Written aside first, so that on a full disk the backup is either complete or absent.
            let part = backup.with_extension("part");
            let written = fs::write(&part, text).and_then(|()| fs::rename(&part, &backup));
            written.inspect_err(|_| drop(fs::remove_file(&part))).at("write", &backup)?;
        }
        // A path that is not UTF-8 is stored inexactly, but git's settings still name it.
        fs::write(&record, hook.to_string_lossy().as_bytes()).at("write", &record)
    }

    /// Returns the paths of the hooks that were recorded.
    pub(super) fn recorded_hooks(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let records = entries.filter(|path| path.extension().is_some_and(|extension| extension == "path"));
        records.filter_map(|path| fs::read_to_string(path).ok()).map(PathBuf::from).collect()
    }

    /// Removes the backup and the recorded path of a hook from which our block was removed.
    pub(super) fn remove_backup(&self, hook: &Path) {
        let (backup, record) = self.backup_paths(hook);
        for file in [backup, record] {
            let _ = fs::remove_file(file); // most hooks have no backup
        }
        let _ = fs::remove_dir(&self.dir); // fails unless the directory is empty
    }

    /// Returns the paths of the two files of a hook: the backup, and the file with the path of the hook.
    fn backup_paths(&self, hook: &Path) -> (PathBuf, PathBuf) {
        let hash = blake3::hash(hook.as_os_str().as_encoded_bytes()).to_hex();
        let event = hook.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{event}-{}", &hash[..16]);
        (self.dir.join(&name), self.dir.join(name + ".path"))
    }
}
