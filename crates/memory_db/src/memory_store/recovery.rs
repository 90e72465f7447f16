//! Replaces a memory.db that is damaged, gone or foreign.

use std::path::{Path, PathBuf};
use std::{fs, io};

use memod_base::paths::{NOT_OUR_DIR_MESSAGE, with_suffix};
use memod_database::DatabaseError;
use rusqlite::OpenFlags;

use crate::database::open_database::MemoryDb;
use crate::memory_store::MemoryStore;
use crate::memory_store::backups::BackupFile;
use crate::memory_store::store_notice::StoreNotice;
use crate::merging::database_contents::DatabaseContents;
use crate::merging::if_readable::none_if_unreadable;
use crate::merging::merge_contents::DatabaseMerge;
use crate::merging::saved_sharing::SharingRestore;
use crate::records::memory_event::MemoryEvent;
use crate::settings::lineage_rows::Lineage;

/// The action in the history of memories that were recovered from a damaged file.
const SALVAGE: &str = "salvage";

impl MemoryStore {
    /// Writes the open database back to its path, because the file was removed or replaced.
    ///
    /// # Errors
    /// When the file cannot be written, or the state dir was replaced by something that is no directory.
    pub(super) fn write_back(&mut self, now_ms: i64) -> Result<(), DatabaseError> {
        let new = self.prepare_rebuild_path();
        if let Some(dir) = self.path.parent()
            && fs::symlink_metadata(dir).is_ok_and(|meta| !meta.is_dir())
        {
            return Err(DatabaseError::from_io(dir, io::Error::other(NOT_OUR_DIR_MESSAGE)));
        }
        let (db, _) = self.open_database.as_ref().expect("only called while it is open");
        match db.copy_to(&new) {
            Err(DatabaseError::Corrupt { source, .. }) => {
                return self.restore_from_backups(now_ms, &format!("is damaged ({source})"));
            }
            copied => copied?,
        }
        self.open_database = None;
        let db = MemoryDb::open_copy(&new)?;
        let n_memories = db.n_memories()?;
        let kept_file = describe_kept(self.path.exists().then(|| self.aside_path(now_ms)));
        let event =
            format!("was removed or replaced while open; all {n_memories} memories were written back");
        let details = format!("{} {event}{kept_file}", self.path.display());
        let text = format!("memory.db {event}");
        self.finish_database(db, now_ms, &StoreNotice::new(now_ms, &text, &details))?;
        for companion in companion_paths(&self.path) {
            let _ = fs::remove_file(companion); // the log of the former file; the copy has all of its content
        }
        self.install_finished(now_ms)
    }

    /// Builds a database from the good backups and the readable part of the damaged file, and replaces the damaged file by it.
    /// `why` continues a sentence that begins with the file's name.
    ///
    /// # Errors
    /// When the damaged file or a backup cannot be read at the moment, because it may have unique content, or when the disk is
    /// full. Nothing has changed then, and the next job tries again.
    pub(super) fn restore_from_backups(&mut self, now_ms: i64, why: &str) -> Result<(), DatabaseError> {
        self.open_database = None;
        let mut new = self.merge_backups(now_ms)?;
        make_log_readable(&self.path);
        let damaged =
            none_if_unreadable(MemoryDb::open_unmigrated(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE))?;
        let mut saved = match &damaged {
            Some(damaged) => damaged.read_contents()?,
            None if self.path.exists() => DatabaseContents::new_unreadable(),
            None => DatabaseContents::default(),
        };
        let sharing = damaged.as_ref().map(MemoryDb::read_saved_sharing).transpose()?.flatten();
        if let Some(sharing) = &sharing {
            saved.set_sharing(sharing);
        }
        let last = damaged.map(|damaged| none_if_unreadable(damaged.read_lineage())).transpose()?.flatten();
        let n_saved = new.db.write(now_ms, |rows| {
            let (merged, derive) = (
                DatabaseMerge::new(rows).merge_contents(
                    &saved,
                    SALVAGE,
                    self.functions.compute_hash_and_words,
                )?,
                self.functions.compute_hash_and_words,
            );
            if let Some(sharing) = &sharing {
                SharingRestore::new(rows).apply_saved_sharing(
                    sharing,
                    saved.all_ids(),
                    derive,
                    &MemoryEvent::new_by_daemon(now_ms, SALVAGE),
                )?;
            }
            let mut lineage = new.lineage.clone();
            last.iter().for_each(|last| lineage.raise_write_count_to(last));
            rows.lineage().begin_lineage(&lineage)?;
            Ok::<_, DatabaseError>(merged.n_put)
        })?;
        let is_in_copy = last.is_some_and(|last| new.lineage == last);
        let knows_deleted = saved.is_whole || is_in_copy;
        let loss =
            saved.describe_loss().filter(|_| !is_in_copy).map_or(String::new(), |loss| format!("; {loss}"));
        let is_any = self.path.exists() || has_log(&self.path);
        let (path, kept_file) = (self.path.display(), describe_kept(is_any.then(|| self.aside_path(now_ms))));
        let sources = new.describe_sources(n_saved, knows_deleted);
        let text = format!("memory.db {why}; {}{loss}", describe_restored(new.db.n_memories()?));
        let notice = StoreNotice::new(now_ms, &text, &format!("{path} {why}; {sources}{loss}{kept_file}"));
        self.finish_database(new.db, now_ms, &notice)?;
        self.install_finished(now_ms)?;
        self.is_changed |= n_saved > 0;
        Ok(())
    }

    /// Builds a database from the newest usable backup, and adds the memories that only other backups have.
    fn merge_backups(&self, now_ms: i64) -> Result<RebuiltDatabase, DatabaseError> {
        let (new, other) = (self.prepare_rebuild_path(), self.path.with_extension("db.copy"));
        let (mut copies, mut bad) = (self.backups.list_all().into_iter(), Vec::new());
        let mut newest = None;
        for copy in copies.by_ref() {
            match open_copied_backup(&copy.path, &new) {
                Ok(used) => {
                    newest = Some((copy, used));
                    break;
                }
                Err(why) if why.is_transient() => return Err(why),
                Err(why) => bad.push(describe_unusable(&copy, &why)),
            }
        }
        let Some((copy, (original, mut db))) = newest else {
            remove_database(&new);
            let db = MemoryDb::open_copy(&new)?;
            return Ok(RebuiltDatabase {
                db,
                lineage: Lineage::default(),
                newest_backup: None,
                other_backups: Vec::new(),
                unusable_backups: bad,
            });
        };
        let from = Some((copy, db.n_memories()?));
        let mut lineage = original.read_lineage()?;
        let (mut held, mut more) = (vec![original], Vec::new());
        for copy in copies {
            let original = MemoryDb::open_unmigrated(&copy.path, OpenFlags::SQLITE_OPEN_READ_ONLY);
            if original.is_ok_and(|db| held.iter().any(|held| held.includes_database(&db).unwrap_or(false))) {
                continue;
            }
            match open_copied_backup(&copy.path, &other) {
                Ok((original, copied)) => {
                    let contents = copied.read_contents()?;
                    let merged = db.write(now_ms, |rows| {
                        DatabaseMerge::new(rows).merge_contents(
                            &contents,
                            "unite",
                            self.functions.compute_hash_and_words,
                        )
                    })?;
                    lineage.include_database(&original.read_lineage()?);
                    held.push(original);
                    more.extend((merged.n_put > 0).then_some((copy, merged.n_put)));
                }
                Err(why) if why.is_transient() => return Err(why),
                Err(why) => bad.push(describe_unusable(&copy, &why)),
            }
        }
        remove_database(&other);
        Ok(RebuiltDatabase { db, lineage, newest_backup: from, other_backups: more, unusable_backups: bad })
    }

    /// Stores the notice in a rebuilt database, closes it, and renames its file to the name of a finished database. If the daemon
    /// is killed after that, nothing is lost, because the next daemon installs the finished database.
    fn finish_database(
        &self,
        mut db: MemoryDb,
        now_ms: i64,
        notice: &StoreNotice,
    ) -> Result<(), DatabaseError> {
        tracing::error!("{}", notice.details);
        db.write(now_ms, |rows| notice.store_in(rows))?;
        db.checkpoint_log()?;
        let new = db.path.clone();
        drop(db);
        for companion in companion_paths(&new) {
            let _ = fs::remove_file(companion); // empty since the checkpoint
        }
        rename_if_there(&new, &self.finished_path())
    }

    /// Renames the former database, moves the finished database to its place, and uses the finished one from now on.
    pub(super) fn install_finished(&mut self, now_ms: i64) -> Result<(), DatabaseError> {
        self.move_aside(now_ms)?;
        rename_if_there(&self.finished_path(), &self.path)?;
        self.record_replacement("salvage");
        self.install_database(MemoryDb::open_copy(&self.path)?)?;
        self.are_backups_compared = true; // the database was built from the backups, so no backup is due until something is written
        Ok(())
    }

    /// Returns the path of a finished database that is not installed yet.
    pub(super) fn finished_path(&self) -> PathBuf {
        self.path.with_extension("db.finished")
    }

    /// Returns the path for building the next database, after removing what a killed daemon left there.
    fn prepare_rebuild_path(&self) -> PathBuf {
        let new = self.path.with_extension("db.new");
        remove_database(&new); // left by a daemon that was killed during a recovery
        new
    }

    /// Returns the path to which a damaged database is renamed.
    fn aside_path(&self, now_ms: i64) -> PathBuf {
        self.path.with_extension(format!("db.damaged-{now_ms}"))
    }

    /// Renames the present database and its log to [`Self::aside_path`].
    fn move_aside(&self, now_ms: i64) -> Result<(), DatabaseError> {
        let aside = self.aside_path(now_ms);
        let ([log, index], [aside_log, _]) = (companion_paths(&self.path), companion_paths(&aside));
        let useless = if has_log(&self.path) { vec![index] } else { vec![index, log.clone()] };
        for path in useless {
            let _ = fs::remove_file(path); // SQLite rebuilds the index of a log; an empty log has no content
        }
        rename_if_there(&log, &aside_log)?;
        rename_if_there(&self.path, &aside)
    }
}

/// A rebuilt database with its sources.
struct RebuiltDatabase {
    db: MemoryDb,
    /// The lineage that includes all of its sources.
    lineage: Lineage,
    /// The newest backup, and its number of memories; `None` if no backup is usable.
    newest_backup: Option<(BackupFile, u64)>,
    /// Other backups, each with the number of memories that were missing or older without it.
    other_backups: Vec<(BackupFile, u64)>,
    /// Names of unusable backups, each with the reason.
    unusable_backups: Vec<String>,
}

impl RebuiltDatabase {
    /// Describes where the memories come from. `n_saved` memories were recovered from the damaged file; `knows_deleted` tells
    /// whether all deletions are known.
    fn describe_sources(&self, n_saved: u64, knows_deleted: bool) -> String {
        let mut sources = match &self.newest_backup {
            Some((copy, n)) => format!("{n} memories are restored from {}", copy.path.display()),
            None => "there is no usable backup".to_owned(),
        };
        for (copy, n) in &self.other_backups {
            sources += &format!("; {n} more or newer ones from {}", copy.path.display());
        }
        if !self.unusable_backups.is_empty() {
            sources += &format!("; backups that are not usable: {}", self.unusable_backups.join(", "));
        }
        if n_saved > 0 {
            sources += &format!("; {n_saved} newer ones were saved from the damaged file");
        }
        if self.newest_backup.is_some() && !knows_deleted {
            sources += "; memories that were purged or changed after that copy may have their old state";
        }
        sources
    }
}

/// Opens a backup, which stays unchanged, and a migrated copy of it at `to`; returns both.
pub(super) fn open_copied_backup(path: &Path, to: &Path) -> Result<(MemoryDb, MemoryDb), DatabaseError> {
    remove_database(to);
    let original = MemoryDb::open_unmigrated(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    original.check_quickly()?;
    original.copy_to(to)?;
    let copy = MemoryDb::open_copy(to)?;
    copy.check_readable()?;
    Ok((original, copy))
}

/// Returns the name of an unusable backup, with the reason.
fn describe_unusable(copy: &BackupFile, why: &DatabaseError) -> String {
    let why = match why {
        DatabaseError::Corrupt { source, .. } | DatabaseError::Sqlite { source, .. } => source.to_string(),
        DatabaseError::Newer { found, known, .. } => {
            format!("written by a newer memod: its schema is {found}, this memod knows {known}")
        }
        DatabaseError::File { source, .. } => source.to_string(),
        DatabaseError::Full { .. } => "the disk is full".to_owned(),
    };
    format!("{} ({why})", copy.name)
}

/// Removes a database that is no longer needed, and its log.
pub(super) fn remove_database(path: &Path) {
    for file in companion_paths(path).into_iter().chain([path.to_owned()]) {
        let _ = fs::remove_file(file); // usually absent
    }
}

/// Returns the paths of a database's log and of the log's index.
fn companion_paths(path: &Path) -> [PathBuf; 2] {
    ["-wal", "-shm"].map(|suffix| with_suffix(path, suffix))
}

/// Renames a file, if it exists.
fn rename_if_there(from: &Path, to: &Path) -> Result<(), DatabaseError> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(DatabaseError::from_io(from, error))
        }
        _ => Ok(()),
    }
}

/// Returns whether the log of the database at `path` exists and is not empty.
pub(super) fn has_log(path: &Path) -> bool {
    fs::symlink_metadata(&companion_paths(path)[0]).is_ok_and(|meta| meta.len() > 0)
}

/// Makes the log of an absent or empty database readable, by writing an empty page to the database file: SQLite would delete the
/// log of a database without pages. The pages in the log take precedence over the file.
fn make_log_readable(path: &Path) {
    const PAGE: usize = 4_096;
    let is_empty = match fs::symlink_metadata(path) {
        Ok(meta) => meta.len() == 0,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if is_empty && has_log(path) {
        let _ = fs::write(path, [0; PAGE]); // if this cannot be written, the recovery cannot either
    }
}

/// Describes how many memories the rebuilt database has.
fn describe_restored(n_memories: u64) -> String {
    match n_memories {
        0 => "no memory could be restored".to_owned(),
        1 => "1 memory was restored".to_owned(),
        n => format!("{n} memories were restored"),
    }
}

/// Describes where the damaged file was moved; empty if there was none.
fn describe_kept(aside: Option<PathBuf>) -> String {
    aside.map_or(String::new(), |aside| format!("; the old file is kept as {}", aside.display()))
}
