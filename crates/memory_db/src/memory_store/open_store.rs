//! Opens, backs up and closes the database of a store.

use std::fs;

use memod_database::DatabaseError;

use crate::database::open_database::MemoryDb;
use crate::memory_store::backups::BackupReason;
use crate::memory_store::file_signature::FileSignature;
use crate::memory_store::recovery::has_log;
use crate::memory_store::store_notice::StoreNotice;
use crate::memory_store::{MODEL, MemoryStore};

impl MemoryStore {
    /// Opens the database, which the first job would do otherwise.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open_now(&mut self, now_ms: i64) -> Result<(), DatabaseError> {
        self.ensure_open(now_ms).map(drop)
    }

    /// Returns the open database. Opens the file if necessary, opens it again if another process has written it, and writes the
    /// open database back if the file was removed or replaced. Then merges changed databases of other state dirs.
    pub(super) fn ensure_open(&mut self, now_ms: i64) -> Result<&mut MemoryDb, DatabaseError> {
        let present = FileSignature::read_from(&self.path)?;
        match (&self.open_database, &present) {
            (Some((_, mark)), Some(present)) if mark == present => {}
            (Some((_, mark)), Some(present)) if mark.device_and_inode == present.device_and_inode => {
                self.open_database = None; // another process wrote it: it is opened and checked again
                self.open_or_restore(now_ms)?;
            }
            (Some(_), _) => self.write_back(now_ms)?,
            (None, _) => self.open_or_restore(now_ms)?,
        }
        self.merge_other_databases(now_ms);
        Ok(&mut self.open_database.as_mut().expect("it was opened above").0)
    }

    /// Opens the file, or restores the database from backups if the file is gone, empty or damaged.
    pub(super) fn open_or_restore(&mut self, now_ms: i64) -> Result<(), DatabaseError> {
        if self.finished_path().exists() {
            return self.install_finished(now_ms); // a daemon was killed before it installed the file
        }
        let has_copies = self.backups.has_backup() || has_log(&self.path);
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(DatabaseError::from_io(&self.path, error));
            }
            Err(_) if has_copies => return self.restore_from_backups(now_ms, "was gone"),
            Ok(meta) if meta.len() == 0 && has_copies => {
                return self.restore_from_backups(now_ms, "was empty");
            }
            _ => {}
        }
        let (backups, mut backup) = (&self.backups, None);
        let before_migration = |db: &MemoryDb, version| {
            backup = Some((backups.make_backup(db, now_ms, BackupReason::Schema(version))?, version));
            Ok(())
        };
        let opened = MemoryDb::open(&self.path, before_migration);
        match (&opened, backup) {
            (Err(_), Some((backup, version))) if MemoryDb::has_schema_version(&self.path, version) => {
                let _ = fs::remove_file(backup); // nothing was migrated
            }
            (_, Some((backup, _))) => backups.delete_surplus(&backup),
            (_, None) => {}
        }
        match opened {
            Ok((db, true)) if has_copies => {
                drop(db);
                self.restore_from_backups(now_ms, "held no memories")
            }
            Ok((db, _)) => self.install_database(db),
            Err(DatabaseError::Corrupt { source, .. }) => {
                self.restore_from_backups(now_ms, &format!("is damaged ({source})"))
            }
            Err(error) => Err(error),
        }
    }

    /// Uses a newly opened database from now on.
    pub(super) fn install_database(&mut self, mut db: MemoryDb) -> Result<(), DatabaseError> {
        (db.purges_expired, db.uptime) = (self.purges_expired, self.uptime);
        db.functions = Some(self.functions);
        db.scope.set_worktree(self.worktree);
        db.added_history.set_collecting(self.collects_changes);
        db.repair_words(self.functions.compute_hash_and_words)?;
        let chosen = db.read(0, |rows| rows.meta().read_meta(MODEL))?;
        self.select_model(chosen.as_deref());
        (self.notice, self.acknowledged_ms) = db.read(0, StoreNotice::find_stored)?;
        let mark = FileSignature::read_from(&self.path)?;
        let Some(mark) = mark else {
            return Err(DatabaseError::from_io(&self.path, std::io::ErrorKind::NotFound.into()));
        };
        self.open_database = Some((db, mark));
        (self.sends_all_vectors, self.lacks_vectors, self.are_backups_compared) = (true, true, false);
        Ok(())
    }

    /// Makes a backup if something was written since the last backup, also by a daemon that was killed; returns whether it made
    /// one. The last backup of each day is kept.
    ///
    /// # Errors
    /// When the backup cannot be made; the memories are not affected.
    pub fn back_up_if_changed(&mut self, now_ms: i64) -> Result<bool, DatabaseError> {
        let Some((db, _)) = &self.open_database else { return Ok(false) };
        let is_asked = !std::mem::replace(&mut self.are_backups_compared, true);
        let is_due = self.is_changed || is_asked && self.backups.lacks_backup_of(db)?;
        if !is_due {
            return Ok(false);
        }
        self.backups.make_backup_and_prune(db, now_ms, BackupReason::Daily)?;
        self.is_changed = false;
        Ok(true)
    }

    /// Makes a last backup, and closes the database after moving its log into the file.
    ///
    /// # Errors
    /// When either fails; the memories are not affected.
    pub fn close(&mut self, now_ms: i64) -> Result<(), DatabaseError> {
        let copied = self.back_up_if_changed(now_ms);
        let closed = self.open_database.take().map_or(Ok(()), |(db, _)| db.checkpoint_log());
        copied.map(drop).and(closed)
    }

    /// Closes a database whose directory is gone or belongs to another repository now, without creating or removing files there.
    pub fn close_abandoned(&mut self) {
        let Some((db, mark)) = self.open_database.take() else { return };
        let is_in_place = matches!(FileSignature::read_from(&self.path), Ok(Some(now)) if now.device_and_inode == mark.device_and_inode);
        if !is_in_place {
            std::mem::forget(db); // closing would make SQLite remove the log at this path, which is not ours
        }
    }
}
