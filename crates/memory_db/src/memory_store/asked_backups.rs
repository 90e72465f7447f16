//! Makes and restores backups on request.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use memod_database::{DatabaseError, corruption_error};
use memod_proto::Caveats;
use memod_proto::exchange::{BackupResult, RestoreResult};
use rusqlite::OpenFlags;

use super::super::backups::Label;
use super::super::restored::{RESTORED, restored_at};
use super::super::rows::SAVED_COLUMNS;
use super::notice::Notice;
use super::restored_files::FilePlan;
use super::unfinished::Unfinished;
use super::{MemoryDb, MemoryStore, Rows, Stopped};
use crate::MemoryEvent;
use crate::foreign::{Copied, ForeignError, Purpose};

/// Why a backup was not restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The database cannot be read, saved or replaced.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The backup is unusable.
    #[error(transparent)]
    Copy(#[from] ForeignError),
    /// There is no backup.
    #[error("no backup yet")]
    None,
}

/// Hashes of memories by id.
type Digests = HashMap<String, [u8; 32]>;

impl MemoryStore {
    /// Copies everything into a new file, or next to our own backups, and reads it back. The backup is on disk on return.
    /// Those that agents ask for are kept apart, so that they never replace one that a person asked for.
    ///
    /// # Errors
    /// When the file exists or cannot be written; nothing is left of it then.
    pub fn back_up_to(
        &mut self,
        now_ms: i64,
        path: Option<&Path>,
        is_by_agent: bool,
    ) -> Result<BackupResult, DatabaseError> {
        self.ready(now_ms)?;
        let (db, _) = self.open.as_ref().expect("it was made ready");
        let path = match path {
            Some(path) => {
                let unfinished = Unfinished::begin(self.state_dir(), path, now_ms);
                write_new(db, path, &unfinished)?;
                path.to_owned()
            }
            None => {
                let label = if is_by_agent { Label::AskedByAgent } else { Label::Asked };
                self.backups.add(db, now_ms, label)?
            }
        };
        let bytes = fs::symlink_metadata(&path).map_err(|error| DatabaseError::from_io(&path, error))?.len();
        Ok(BackupResult {
            path: path.display().to_string(),
            bytes,
            memories: db.count()?,
            caveats: Caveats::default(),
        })
    }

    /// Writes as [`Self::write`] does, after a backup, whose path `write` gets.
    ///
    /// # Errors
    /// When the backup or the transaction fails. Nothing is changed then, and nothing is left of the backup.
    pub fn write_backed_up<T, R>(
        &mut self,
        now_ms: i64,
        write: impl Fn(&Rows<'_>, &Path) -> Result<T, Stopped<R>>,
    ) -> Result<T, Stopped<R>> {
        self.ready(now_ms)?;
        let (db, _) = self.open.as_ref().expect("it was made ready");
        let backup = self.backups.make(db, now_ms, Label::Reset)?;
        let written = self.write(now_ms, |rows| write(rows, &backup));
        match &written {
            Ok(_) => self.backups.delete_surplus(&backup),
            Err(_) => drop(fs::remove_file(&backup)),
        }
        written
    }

    /// Replaces all memories by those of a backup in one transaction, after making a backup of the present ones. `note` records
    /// the result in the same transaction. Without `path` it uses our newest that has memories. A dry run only compares.
    ///
    /// # Errors
    /// When the backup is unusable, or the database is not writable; nothing is changed then.
    pub fn restore_backup(
        &mut self,
        now_ms: i64,
        path: Option<&Path>,
        dry_run: bool,
        note: impl FnOnce(&Rows<'_>, &RestoreResult) -> Result<(), DatabaseError>,
    ) -> Result<RestoreResult, RestoreError> {
        self.ready(now_ms)?;
        let path: PathBuf = match (path, &self.open) {
            (Some(path), _) => path.to_owned(),
            (None, open) => {
                let present = open.as_ref().map(|(db, _)| db.lineage()).transpose()?.unwrap_or_default();
                self.backups.newest(&present).ok_or(RestoreError::None)?
            }
        };
        let copied = Copied::make(&path, self.state_dir(), Purpose::Restore, &[&self.path])?;
        let mut there = crate::foreign::open_memod(&copied)?;
        let (here, _) = self.open.as_mut().expect("it was made ready");
        if here.programs()? != there.programs()? {
            // Triggers would run on all later writes.
            let why = "it has triggers or views that are not memod's".to_owned();
            return Err(copied.unusable(why, "`memo import` takes the memories alone").into());
        }
        let plan = FilePlan::of(here, &there)?;
        let (ours, theirs) = (here.digests()?, there.digests()?);
        let mut result = compare(&ours, &theirs, &plan);
        (result.path, result.dry_run) = (path.display().to_string(), dry_run);
        if dry_run {
            return Ok(result);
        }
        result.kept = Some(self.backups.add(here, now_ms, Label::Replaced)?.display().to_string());
        let is_new = |id: &&String| ours.get(*id) != theirs.get(*id);
        succeed(here, &mut there, now_ms, |rows| {
            // Other places have what was there before, or that it was deleted: this is newer.
            let event = MemoryEvent::of_daemon(now_ms, RESTORED);
            theirs.keys().filter(is_new).try_for_each(|id| rows.note_change(id, &event))?;
            plan.apply(rows, self.forms.file_text)?;
            note(rows, &result)
        })?;
        here.replace_by(&there)?;
        self.is_changed = true;
        self.note_replaced("restore_backup");
        self.open = None; // all that was known of it is of yesterday
        self.ready(now_ms)?;
        // Else a damage would bring back what was reverted, from the copy of before.
        let _ =
            self.back_up(now_ms).inspect_err(|error| tracing::warn!(%error, "no backup of what is restored"));
        Ok(result)
    }
}

/// Makes a backup the next version of this database, so that removed memories do not come back from other backups.
fn succeed(
    here: &MemoryDb,
    there: &mut MemoryDb,
    now_ms: i64,
    apply: impl FnOnce(&Rows<'_>) -> Result<(), DatabaseError>,
) -> Result<(), DatabaseError> {
    let mut lineage = here.lineage()?;
    lineage.take(&there.lineage()?);
    let (deleted, seen) = (here.deleted()?, here.seen());
    let goes = here.versions()?;
    there.write(now_ms, |rows| {
        for (id, updated, at) in deleted {
            if !rows.has(&id)? {
                rows.set_deleted(&id, updated, at)?;
            }
        }
        for (id, version) in goes {
            if !rows.has(&id)? {
                // A backup may have brought back a version that is older than what other places have.
                let restored = restored_at(&here.read(now_ms, |rows| rows.history(&id))?);
                rows.set_deleted(&id, version.updated.max(restored), now_ms)?;
            }
        }
        rows.set_seen(&seen)?;
        Notice::replace(rows, here)?;
        apply(rows)?;
        rows.begin_lineage(&lineage)
    })
}

fn compare(here: &Digests, there: &Digests, plan: &FilePlan) -> RestoreResult {
    let count =
        |ids: &mut dyn Iterator<Item = &String>| ids.filter(|id| !plan.kept.contains(*id)).count() as u64;
    let only = |of: &Digests, not: &Digests| count(&mut of.keys().filter(|id| !not.contains_key(*id)));
    let differs = |id: &&String| there.get(*id).is_some_and(|other| here.get(*id) != Some(other));
    let (files_written, files_removed) = plan.counts();
    RestoreResult {
        here: here.len() as u64,
        there: there.len() as u64,
        only_here: only(here, there),
        only_there: only(there, here),
        differ: count(&mut here.keys().filter(differs)),
        files_written,
        files_removed,
        files_kept: plan.kept.len() as u64,
        files_gone: plan.n_gone,
        ..RestoreResult::default()
    }
}

/// Writes a backup under its `unfinished` name, reads it back, and renames it. Never replaces a file.
fn write_new(db: &MemoryDb, path: &Path, unfinished: &Unfinished) -> Result<(), DatabaseError> {
    let at = |error| DatabaseError::from_io(path, error);
    if fs::symlink_metadata(path).is_ok() {
        return Err(at(std::io::ErrorKind::AlreadyExists.into()));
    }
    let part = unfinished.path();
    db.copy_safely(part)?;
    // Not `rename`, which would replace a file that was created in the meantime.
    fs::hard_link(part, path)
        .or_else(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Err(error),
            _ => fs::rename(part, path), // a file system without hard links
        })
        .map_err(at)
}

impl MemoryDb {
    /// Copies into a new private file, syncs it, and reads it back.
    pub(crate) fn copy_safely(&self, to: &Path) -> Result<(), DatabaseError> {
        let at = |error| DatabaseError::from_io(to, error);
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        drop(options.open(to).map_err(at)?);
        self.copy_to(to)?;
        if let Some(dir) = to.parent().filter(|dir| !dir.as_os_str().is_empty()) {
            let _ = File::open(dir).and_then(|dir| dir.sync_all()); // not everywhere can it be
        }
        let copy = Self::connect(to, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        copy.check_quickly()?;
        match (copy.count()?, self.count()?) {
            (copied, ours) if copied == ours => Ok(()),
            (copied, ours) => {
                let said = format!("{copied} of {ours} memories were copied");
                Err(DatabaseError::from_sqlite(to, corruption_error(said)))
            }
        }
    }

    /// Returns a hash of each memory with its links, without recalls: it changes when anything else of the memory does.
    fn digests(&self) -> Result<Digests, DatabaseError> {
        let columns = SAVED_COLUMNS
            .replace("m.last_access, m.access_count", "NULL, NULL")
            // Recalls extend a lifetime and raise a priority; what else changes these changes `updated` too.
            .replace("m.tier, m.expires_at, m.priority", "NULL, NULL, NULL");
        self.run(|conn| {
            let mut statement = conn.prepare(&format!(
                "SELECT {columns}, m.shared, m.repository,
                     EXISTS (SELECT 1 FROM trusted_version t WHERE t.memory = m.row AND t.hash = m.version),
                     (SELECT group_concat(k.kind || ' ' || o.id, ',' ORDER BY k.kind, o.id)
                          FROM link k JOIN memory o ON o.row = k.target WHERE k.source = m.row)
                 FROM memory m WHERE instr(m.id, '#') = 0"
            ))?;
            let n_columns = statement.column_count();
            let mut rows = statement.query([])?;
            let mut digests = Digests::new();
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

    /// Returns the names and definitions of triggers and views.
    fn programs(&self) -> Result<Vec<(String, String)>, DatabaseError> {
        self.run(|conn| {
            conn.prepare(
                "SELECT name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY name",
            )?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
        })
    }
}
