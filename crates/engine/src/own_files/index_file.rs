//! Opens index.db, and replaces a damaged one.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use memod_base::paths::{IoContext as _, PathError, with_suffix};
use memod_database::DatabaseError;
use memod_embed::BUILTIN_ID;
use memod_index_db::IndexWriter;
use memod_indexing::IndexError;

use super::index_repair;

/// Number of attempts to open an index.db that cannot be read at the moment.
const MAX_OPEN_ATTEMPTS: u32 = 8;
/// Delay after the first attempt; each further attempt doubles the delay.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(10);
/// Time after which no further attempt is made, because a client waits for the daemon.
const RETRY_TIME_LIMIT: Duration = Duration::from_secs(5);

/// Opens index.db with `open`, and retries after transient failures.
pub(crate) fn retry_transient<T>(open: impl Fn() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let (give_up, mut wait) = (Instant::now() + RETRY_TIME_LIMIT, FIRST_RETRY_DELAY);
    for _ in 1..MAX_OPEN_ATTEMPTS {
        match open() {
            Err(error) if Instant::now() < give_up && is_transient(&error) => {
                tracing::warn!(%error, "cannot open the index now; trying again");
            }
            opened => return opened,
        }
        std::thread::park_timeout(wait); // no event reports when the index can be read again
        wait *= 2;
    }
    open()
}

fn is_transient(error: &anyhow::Error) -> bool {
    let store = match error.downcast_ref() {
        Some(IndexError::Database(error)) => Some(error),
        _ => error.downcast_ref(),
    };
    store.is_some_and(DatabaseError::is_transient)
}

/// Opens index.db, and replaces a damaged one by an empty one. No copy is kept: the index can be built again, and a copy could
/// hold contents that become secret later.
pub(crate) fn open_or_rebuild(path: &Path) -> anyhow::Result<IndexWriter> {
    remove_old_copies(path);
    if std::fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
        let aside = rename_aside(path)?;
        tracing::error!(aside = %aside.display(), "index.db is not a file; renamed, and a new index is built");
        let kept = format!("what was there is kept as {}", aside.display());
        index_repair::record_repair(path, &format!("index.db was not a file, so a new one is built; {kept}"));
    }
    match IndexWriter::open(path, BUILTIN_ID) {
        Err(DatabaseError::Corrupt { source, .. }) => {
            tracing::error!(%source, "index.db is damaged; removed and rebuilt");
            remove_damaged_index(path, &source)?;
            Ok(IndexWriter::open(path, BUILTIN_ID)?)
        }
        opened => Ok(opened?),
    }
}

/// Removes a damaged index.db with its log, and records the repair with its reason.
pub(crate) fn remove_damaged_index(path: &Path, why: &impl Display) -> Result<(), PathError> {
    std::fs::remove_file(path).at("remove", path)?;
    remove_log_files(path);
    index_repair::record_repair(
        path,
        &format!("index.db was damaged ({why}), so a new one is built; index.db has no memories"),
    );
    Ok(())
}

/// Suffix of the renamed path that was in the place of index.db; unix seconds follow.
const DAMAGED: &str = ".damaged-";

/// Renames what is in the place of index.db but is not a file, so that it was never an index; returns the new path.
fn rename_aside(path: &Path) -> anyhow::Result<PathBuf> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let aside = with_suffix(path, &format!("{DAMAGED}{seconds}"));
    std::fs::rename(path, &aside).at("rename", path)?;
    remove_log_files(path);
    Ok(aside)
}

fn remove_log_files(path: &Path) {
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(with_suffix(path, suffix)); // useless without the file they belong to
    }
}

/// Removes copies of damaged indexes, which earlier versions of memod kept.
fn remove_old_copies(index_db: &Path) {
    let name = index_db.file_name().unwrap_or_default().to_string_lossy();
    let entries = index_db.parent().and_then(|dir| std::fs::read_dir(dir).ok());
    for entry in entries.into_iter().flatten().flatten().filter(|entry| is_old_copy(entry, &name)) {
        if let Err(error) = std::fs::remove_file(entry.path()) {
            tracing::warn!(path = %entry.path().display(), %error, "cannot remove a damaged index");
        }
    }
}

fn is_old_copy(entry: &std::fs::DirEntry, index_name: &str) -> bool {
    let name = entry.file_name();
    name.to_string_lossy().strip_prefix(index_name).is_some_and(|rest| rest.starts_with(DAMAGED))
        && entry.file_type().is_ok_and(|kind| kind.is_file())
}
