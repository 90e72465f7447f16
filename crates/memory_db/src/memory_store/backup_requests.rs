//! Makes and restores backups on request.

use std::collections::HashMap;
use std::fs;
use std::fs::File;
use std::path::{Path, PathBuf};

use memod_database::{DatabaseError, corruption_error};
use memod_proto::Caveats;
use memod_proto::exchange::{BackupResult, RestoreResult};
use rusqlite::OpenFlags;

use crate::database::open_database::MemoryDb;
use crate::import_source::{CopyError, CopyPurpose, DatabaseCopy};
use crate::memory_rows::MemoryRows;
use crate::memory_store::backups::BackupReason;
use crate::memory_store::file_restore_plan::FileRestorePlan;
use crate::memory_store::other_databases::store_merged_stamps;
use crate::memory_store::store_notice::StoreNotice;
use crate::memory_store::unfinished_backup::UnfinishedBackup;
use crate::memory_store::{JobError, MemoryStore};
use crate::records::memory_event::{MemoryEvent, RESTORED, restored_at};
use crate::records::record_columns::{BASE_COLUMNS, IS_NO_VERSION_ROW};

/// Why a backup was not restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The database cannot be read, saved or replaced.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The backup is unusable.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// There is no backup.
    #[error("there is no backup to restore yet")]
    NoBackup,
}

/// Hashes of memories by id.
type MemoryDigests = HashMap<String, [u8; 32]>;

impl MemoryStore {
    /// Copies the database into the new file `path`, or without `path` into a new file in memod's directory of backups, and reads
    /// the copy back. The backup is on disk on return. Backups that agents request are a separate group, so that they never replace
    /// a backup that a person requested.
    ///
    /// # Errors
    /// When the file exists or cannot be written; nothing is left of the backup then.
    pub fn make_requested_backup(
        &mut self,
        now_ms: i64,
        path: Option<&Path>,
        is_by_agent: bool,
    ) -> Result<BackupResult, DatabaseError> {
        self.ensure_open(now_ms)?;
        let (db, _) = self.open_database.as_ref().expect("it was made ready");
        let path = match path {
            Some(path) => {
                let unfinished = UnfinishedBackup::begin_backup(self.state_dir(), path, now_ms);
                write_new_backup(db, path, &unfinished)?;
                path.to_owned()
            }
            None => {
                let label = if is_by_agent { BackupReason::AskedByAgent } else { BackupReason::Asked };
                self.backups.make_backup_and_prune(db, now_ms, label)?
            }
        };
        let bytes = fs::symlink_metadata(&path).map_err(|error| DatabaseError::from_io(&path, error))?.len();
        Ok(BackupResult {
            path: path.display().to_string(),
            bytes,
            memories: db.n_memories()?,
            caveats: Caveats::default(),
        })
    }

    /// Makes a backup, and then calls `write` like [`Self::write`], with the path of the backup.
    ///
    /// # Errors
    /// When the backup or the transaction fails. Nothing is changed then, and nothing is left of the backup.
    pub fn write_after_backup<T, R>(
        &mut self,
        now_ms: i64,
        write: impl Fn(&MemoryRows<'_>, &Path) -> Result<T, JobError<R>>,
    ) -> Result<T, JobError<R>> {
        self.ensure_open(now_ms)?;
        let (db, _) = self.open_database.as_ref().expect("it was made ready");
        let backup = self.backups.make_backup(db, now_ms, BackupReason::Reset)?;
        let written = self.write(now_ms, |rows| write(rows, &backup));
        match &written {
            Ok(_) => self.backups.delete_surplus(&backup),
            Err(_) => drop(fs::remove_file(&backup)),
        }
        written
    }

    /// Replaces all memories by those of a backup in one transaction, after making a backup of the present memories. `note` records
    /// the result in the same transaction. Without `path`, memod's newest backup that has memories is used. A dry run only compares
    /// the backup with the present memories.
    ///
    /// # Errors
    /// When the backup is unusable, or the database is not writable; nothing is changed then.
    pub fn restore_backup(
        &mut self,
        now_ms: i64,
        path: Option<&Path>,
        dry_run: bool,
        note: impl FnOnce(&MemoryRows<'_>, &RestoreResult) -> Result<(), DatabaseError>,
    ) -> Result<RestoreResult, RestoreError> {
        self.ensure_open(now_ms)?;
        let path: PathBuf = match (path, &self.open_database) {
            (Some(path), _) => path.to_owned(),
            (None, open) => {
                let present = open.as_ref().map(|(db, _)| db.read_lineage()).transpose()?.unwrap_or_default();
                self.backups.find_newest(&present).ok_or(RestoreError::NoBackup)?
            }
        };
        let copied = DatabaseCopy::copy_from(&path, self.state_dir(), CopyPurpose::Restore, &[&self.path])?;
        let mut backup = crate::import_source::open_memod_copy(&copied)?;
        let (present, _) = self.open_database.as_mut().expect("it was made ready");
        if present.list_triggers_and_views()? != backup.list_triggers_and_views()? {
            // Triggers would run on all later writes.
            let why = "this backup has triggers or views that are not memod's".to_owned();
            return Err(copied.unusable_error(why, "import only its memories with `memo import`").into());
        }
        let plan = FileRestorePlan::plan_changes(present, &backup)?;
        let (ours, theirs) = (present.digest_memories()?, backup.digest_memories()?);
        let mut result = compare_digests(&ours, &theirs, &plan);
        (result.path, result.dry_run) = (path.display().to_string(), dry_run);
        if dry_run {
            return Ok(result);
        }
        result.kept = Some(
            self.backups
                .make_backup_and_prune(present, now_ms, BackupReason::Replaced)?
                .display()
                .to_string(),
        );
        make_backup_successor(present, &mut backup, now_ms, |rows| {
            // Other databases have the former versions or deletions; this event makes the restored ones newer.
            let event = MemoryEvent::new_by_daemon(now_ms, RESTORED);
            let mut changed = theirs.keys().filter(|id| ours.get(*id) != theirs.get(*id));
            changed.try_for_each(|id| rows.history().record_change(id, &event))?;
            plan.record_changes(rows, self.functions.render_file)?;
            note(rows, &result)
        })?;
        present.replace_contents_by(&backup)?;
        self.is_changed = true;
        self.record_replacement("restore_backup");
        self.open_database = None; // the cached state of the connection is stale
        self.ensure_open(now_ms)?;
        // Without this backup, a recovery from damage would use an older backup, and undo the restore.
        let _ = self
            .back_up_if_changed(now_ms)
            .inspect_err(|error| tracing::warn!(%error, "cannot back up the restored memory.db"));
        Ok(result)
    }
}

/// Makes the copy of a backup the successor of the present database: it gets the present database's lineage, deletions and notices,
/// and records memories that it lacks as deleted, so that they do not come back from other backups. Then calls `apply` on it.
fn make_backup_successor(
    present: &MemoryDb,
    backup: &mut MemoryDb,
    now_ms: i64,
    apply: impl FnOnce(&MemoryRows<'_>) -> Result<(), DatabaseError>,
) -> Result<(), DatabaseError> {
    let mut lineage = present.read_lineage()?;
    lineage.include_database(&backup.read_lineage()?);
    let (deleted, seen) = (present.list_deleted()?, present.merged_stamps());
    let former = present.list_versions()?;
    backup.write(now_ms, |rows| {
        for (id, updated, at) in deleted {
            if !rows.records().has_memory(&id)? {
                rows.deletions().record_deletion(&id, updated, at)?;
            }
        }
        for (id, version) in former {
            if !rows.records().has_memory(&id)? {
                // An earlier restore may have brought back a version that is older than the versions in other databases.
                let restored = restored_at(&present.read(now_ms, |rows| rows.history().list_history(&id))?);
                rows.deletions().record_deletion(&id, version.updated.max(restored), now_ms)?;
            }
        }
        store_merged_stamps(&rows.meta(), &seen)?;
        StoreNotice::copy_notices(rows, present)?;
        apply(rows)?;
        rows.lineage().begin_lineage(&lineage)
    })
}

/// Returns the result of a restore: how the present memories differ from those of a backup, and what `plan` does to files.
fn compare_digests(present: &MemoryDigests, backup: &MemoryDigests, plan: &FileRestorePlan) -> RestoreResult {
    let count =
        |ids: &mut dyn Iterator<Item = &String>| ids.filter(|id| !plan.kept_ids.contains(*id)).count() as u64;
    let only =
        |of: &MemoryDigests, not: &MemoryDigests| count(&mut of.keys().filter(|id| !not.contains_key(*id)));
    let mut differing =
        present.keys().filter(|id| backup.get(*id).is_some_and(|other| present.get(*id) != Some(other)));
    let (files_written, files_removed) = plan.count_changes();
    RestoreResult {
        here: present.len() as u64,
        there: backup.len() as u64,
        only_here: only(present, backup),
        only_there: only(backup, present),
        differ: count(&mut differing),
        files_written,
        files_removed,
        files_kept: plan.kept_ids.len() as u64,
        files_gone: plan.n_removed_outside,
        ..RestoreResult::default()
    }
}

/// Writes a backup under its `unfinished` name, reads it back, and renames it to `path`. Never replaces a file.
fn write_new_backup(db: &MemoryDb, path: &Path, unfinished: &UnfinishedBackup) -> Result<(), DatabaseError> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(DatabaseError::from_io(path, std::io::ErrorKind::AlreadyExists.into()));
    }
    let part = unfinished.temporary_path();
    db.copy_safely(part)?;
    // Not `rename`, which would replace a file that was created in the meantime.
    fs::hard_link(part, path)
        .or_else(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Err(error),
            _ => fs::rename(part, path), // a file system without hard links
        })
        .map_err(|error| DatabaseError::from_io(path, error))
}

impl MemoryDb {
    /// Copies the database into a new file that only its owner may read, syncs the file, and checks the copy.
    ///
    /// # Errors
    /// When the file exists, cannot be written, or is damaged or incomplete.
    pub(crate) fn copy_safely(&self, to: &Path) -> Result<(), DatabaseError> {
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        drop(options.open(to).map_err(|error| DatabaseError::from_io(to, error))?);
        self.copy_to(to)?;
        if let Some(dir) = to.parent().filter(|dir| !dir.as_os_str().is_empty()) {
            let _ = File::open(dir).and_then(|dir| dir.sync_all()); // not every file system can sync a directory
        }
        let copy = Self::open_unmigrated(to, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        copy.check_quickly()?;
        match (copy.n_memories()?, self.n_memories()?) {
            (copied, ours) if copied == ours => Ok(()),
            (copied, ours) => {
                let message = format!("the copy has {copied} memories instead of {ours}");
                Err(DatabaseError::from_sqlite(to, corruption_error(message)))
            }
        }
    }

    /// Returns a hash of each memory and its links, by id. Recalls do not change the hash; every other change of the memory does.
    fn digest_memories(&self) -> Result<MemoryDigests, DatabaseError> {
        let columns = BASE_COLUMNS
            .replace("m.last_access, m.access_count", "NULL, NULL")
            // Recalls change these three columns without changing `updated`. Every other change of them changes `updated`, too.
            .replace("m.tier, m.expires_at, m.priority", "NULL, NULL, NULL");
        self.run(|conn| {
            let mut statement = conn.prepare(&format!(
                "SELECT {columns}, m.shared, m.repository,
                     EXISTS (SELECT 1 FROM trusted_version t WHERE t.memory = m.row AND t.hash = m.version),
                     (SELECT group_concat(k.kind || ' ' || o.id, ',' ORDER BY k.kind, o.id)
                          FROM link k JOIN memory o ON o.row = k.target WHERE k.source = m.row)
                 FROM memory m WHERE {IS_NO_VERSION_ROW}"
            ))?;
            let n_columns = statement.column_count();
            let mut rows = statement.query([])?;
            let mut digests = MemoryDigests::new();
            while let Some(row) = rows.next()? {
                let mut hasher = blake3::Hasher::new();
                for column in 0..n_columns {
                    hasher.update(format!("{:?};", row.get_ref(column)?).as_bytes());
                }
                digests.insert(row.get(0)?, *hasher.finalize().as_bytes());
            }
            Ok(digests)
        })
    }

    /// Returns the names and the SQL of all triggers and views, by name.
    fn list_triggers_and_views(&self) -> Result<Vec<(String, String)>, DatabaseError> {
        self.run(|conn| {
            conn.prepare(
                "SELECT name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY name",
            )?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
        })
    }
}
