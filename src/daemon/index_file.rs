//! Opens index.db, and renames a damaged one.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;

use crate::embed::BUILTIN_ID;
use crate::store::{StoreError, Writer};

/// Opens index.db; a damaged one is put aside and begun anew, for it holds nothing that cannot be made again.
pub(super) fn open(path: &Path) -> anyhow::Result<Writer> {
    if std::fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        let aside = quarantine(path)?;
        tracing::error!(aside = %aside.display(), "index.db is not a file; put aside and rebuilt");
    }
    match Writer::open(path, BUILTIN_ID) {
        Err(StoreError::Corrupt { source, .. }) => {
            let aside = quarantine(path)?;
            tracing::error!(%source, aside = %aside.display(), "index.db is damaged; put aside and rebuilt");
            Ok(Writer::open(path, BUILTIN_ID)?)
        }
        opened => Ok(opened?),
    }
}

/// Suffix of a damaged index, followed by the time.
const DAMAGED: &str = ".damaged-";

pub(super) fn quarantine(path: &Path) -> anyhow::Result<PathBuf> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!("{DAMAGED}{seconds}"));
    let aside = PathBuf::from(aside);
    std::fs::rename(path, &aside).with_context(|| format!("rename {}", path.display()))?;
    for suffix in ["-wal", "-shm"] {
        let mut companion = path.as_os_str().to_owned();
        companion.push(suffix);
        let _ = std::fs::remove_file(companion); // useless without the file they belong to
    }
    Ok(aside)
}

/// Removes copies of a damaged index, which were put aside: they may hold the same.
pub(super) fn remove_damaged(index_db: &Path) {
    let name = index_db.file_name().unwrap_or_default().to_string_lossy();
    let is_copy = |entry: &std::fs::DirEntry| {
        entry.file_name().to_string_lossy().strip_prefix(&*name).is_some_and(|rest| rest.starts_with(DAMAGED))
    };
    let entries = index_db.parent().and_then(|dir| std::fs::read_dir(dir).ok());
    for entry in entries.into_iter().flatten().flatten().filter(is_copy) {
        if let Err(error) = std::fs::remove_file(entry.path()) {
            tracing::warn!(path = %entry.path().display(), %error, "cannot remove a damaged index");
        }
    }
}
