//! Holds memory.db open, and recovers it when it is damaged or gone.
//!
//! A damaged file is renamed, never deleted. The newest good backup replaces it, together with everything newer that can
//! still be read from the damaged file. A file that vanishes while it is open is written back from the open connection.
//! Each such recovery is recorded in the database and reported with every answer for a day, unless a person acknowledges it.

mod backup_requests;
mod backups;
mod file_restore_plan;
mod file_signature;
mod missing_vectors;
mod model_switch;
mod open_store;
mod other_databases;
mod recovery;
mod store_notice;
mod unfinished_backup;
mod user_notices;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memod_base::paths::with_suffix;
use memod_base::types::{MachineUptime, MemoryChange};
use memod_database::DatabaseError;
use memod_proto::RpcError;
use memod_proto::memory::BackupInfo;

pub use self::backup_requests::RestoreError;
pub use self::model_switch::ModelPreparation;
pub use self::unfinished_backup::remove_unfinished_backup;

use crate::database::integrity_check::IntegrityReport;
use crate::database::open_database::{MemoryDb, next_generation};
use crate::memory_rows::MemoryRows;
use crate::memory_store::backups::{BackupDir, BackupFile};
use crate::memory_store::file_signature::FileSignature;
use crate::memory_store::other_databases::MergeSource;
use crate::memory_store::store_notice::StoreNotice;
use crate::records::record_functions::RecordFunctions;
use crate::search_arms::vector_rows::{MakeModel, VectorModel};

/// The name in `meta` of the model that was chosen; absent for the default.
const MODEL: &str = "model";

/// Why a job on the memories failed.
#[derive(Debug)]
pub enum JobError<R> {
    /// The database failed.
    Database(DatabaseError),
    /// The job refused to run, for this reason.
    Refused(R),
}

impl<R> From<DatabaseError> for JobError<R> {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

impl From<JobError<Self>> for RpcError {
    fn from(stopped: JobError<Self>) -> Self {
        match stopped {
            JobError::Refused(error) => error,
            JobError::Database(error) => error.into(),
        }
    }
}

/// Holds memory.db open, and repairs it.
pub struct MemoryStore {
    path: PathBuf,
    backups: BackupDir,
    functions: RecordFunctions,
    make_model: MakeModel,
    /// The model whose vectors searches use.
    model: Arc<VectorModel>,
    /// The model that is being prepared.
    next_model: Option<Arc<VectorModel>>,
    default_model: String,
    /// The open database, and the signature of its file after the last access.
    open_database: Option<(MemoryDb, FileSignature)>,
    /// The last recovery or merge, for the user.
    notice: Option<StoreNotice>,
    /// Time of the notice that a person has acknowledged, unix ms.
    acknowledged_ms: Option<i64>,
    /// Whether something was committed since the last backup.
    is_changed: bool,
    /// Whether the backups were compared with the database since the database was opened.
    are_backups_compared: bool,
    /// Whether expired memories are deleted instead of archived.
    purges_expired: bool,
    /// Reads the uptime of the machine; without it no memory is archived or deleted on expiry.
    uptime: Option<fn() -> MachineUptime>,
    /// Other state dirs that may have memories of this repository.
    other_state_dirs: Vec<MergeSource>,
    /// Whether the next request for changed vectors gets all of them: the database was opened, or the model was switched.
    sends_all_vectors: bool,
    /// Whether some memories may lack a vector.
    lacks_vectors: bool,
    /// Whether changes of memories are collected.
    collects_changes: bool,
    /// Changes that replaced the whole database, collected for [`Self::take_changes`].
    replaced: Vec<MemoryChange>,
    /// Number of the worktree whose memories are read; 0 for the whole repository.
    worktree: i64,
}

impl MemoryStore {
    /// Creates the store of the memory.db in `state_dir`, without opening the database.
    pub fn new(state_dir: &Path, forms: RecordFunctions, default_model: &str, make_model: MakeModel) -> Self {
        Self {
            model: Arc::new(make_model(default_model)),
            make_model,
            next_model: None,
            default_model: default_model.to_owned(),
            path: state_dir.join("memory.db"),
            backups: BackupDir::new(state_dir),
            functions: forms,
            open_database: None,
            sends_all_vectors: false,
            lacks_vectors: false,
            notice: None,
            acknowledged_ms: None,
            is_changed: false,
            are_backups_compared: false,
            purges_expired: false,
            uptime: None,
            other_state_dirs: Vec::new(),
            collects_changes: false,
            replaced: Vec::new(),
            worktree: 0,
        }
    }

    /// Starts or stops collecting changes of memories.
    pub fn watch_changes(&mut self, collects: bool) {
        self.collects_changes = collects;
        if let Some((db, _)) = &self.open_database {
            db.added_history.set_collecting(collects);
        }
    }

    /// Returns the changes of memories since the last call, or since [`Self::watch_changes`], in order.
    pub fn take_changes(&mut self) -> Vec<MemoryChange> {
        let mut changes = std::mem::take(&mut self.replaced);
        changes.extend(self.open_database.iter_mut().flat_map(|(db, _)| std::mem::take(&mut db.changes)));
        changes
    }

    /// Records that all memories may have changed, if changes are collected.
    fn record_replacement(&mut self, action: &str) {
        if self.collects_changes {
            self.replaced.push(MemoryChange { action: action.to_owned(), ids: Vec::new() });
        }
    }

    /// Selects the worktree whose memories are read from now on, by its number; 0 for the whole repository.
    pub fn select_worktree(&mut self, worktree: i64) {
        self.worktree = worktree;
        if let Some((db, _)) = &self.open_database {
            db.scope.set_worktree(worktree);
        }
    }

    /// Returns a number that changes when the file rows may have changed: when another database is opened, and when memories
    /// with files are deleted.
    pub fn file_generation(&self) -> u64 {
        self.open_database.as_ref().map_or(0, |(db, _)| db.generation)
    }

    /// Gives the file rows a new generation, so that the files of every worktree are read again.
    pub fn renew_generation(&mut self) {
        if let Some((db, _)) = &mut self.open_database {
            db.generation = next_generation();
        }
    }

    /// Returns the path of the database.
    pub fn database_path(&self) -> &Path {
        &self.path
    }

    fn state_dir(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// Returns the size of the database and its write-ahead log together, bytes.
    pub fn size_bytes(&self) -> u64 {
        file_size(&self.path) + file_size(&with_suffix(&self.path, "-wal"))
    }

    /// Returns the backups, newest first.
    pub fn list_backups(&self) -> Vec<BackupInfo> {
        self.backups.list_all().into_iter().map(|copy| backup_info(&copy)).collect()
    }

    /// Calls `read` with the rows of the database, and returns its result. If the database turns out to be damaged, it is
    /// restored, and `read` is called again.
    ///
    /// # Errors
    /// When `read` fails, or the database cannot be opened.
    pub fn read<T, R>(
        &mut self,
        now_ms: i64,
        read: impl Fn(&MemoryRows<'_>) -> Result<T, JobError<R>>,
    ) -> Result<T, JobError<R>> {
        self.purge_expired(now_ms);
        self.run_with_recovery(now_ms, |db| db.read(now_ms, &read))
    }

    /// Deletes expired memories before they are read, if the settings ask for it. Expired memories that cannot be deleted count
    /// as archived.
    fn purge_expired(&mut self, now_ms: i64) {
        let Some(uptime) = self.uptime.filter(|_| self.purges_expired) else { return };
        let is_over = self.run_with_recovery(now_ms, |db| {
            db.read(now_ms, |rows| Ok::<_, JobError<()>>(rows.wall_clock().has_expired_memory(&uptime())?))
        });
        if is_over.unwrap_or(false)
            && let Err(JobError::Database(error)) = self.write(now_ms, |_| Ok::<_, JobError<()>>(()))
        {
            tracing::warn!(%error, "expired memories cannot be deleted");
        }
    }

    /// From now on, deletes (`purges`) or archives memories once they have expired by `uptime`, the uptime of the machine.
    pub fn enable_expiry(&mut self, uptime: fn() -> MachineUptime, purges: bool) {
        (self.uptime, self.purges_expired) = (Some(uptime), purges);
    }

    /// Calls `write` in one transaction, and returns its result. The data is on disk on return. If the database turns out to be
    /// damaged, it is restored, and `write` is called again.
    ///
    /// # Errors
    /// When `write` fails, or the database is not writable; nothing is changed then.
    pub fn write<T, R>(
        &mut self,
        now_ms: i64,
        write: impl Fn(&MemoryRows<'_>) -> Result<T, JobError<R>>,
    ) -> Result<T, JobError<R>> {
        let model = Arc::clone(&self.model);
        let written = self.run_with_recovery(now_ms, |db| {
            let touched = db.touched.clone();
            db.write(now_ms, |rows| {
                let value = write(rows)?;
                Ok((value, rows.vectors().embed_written_memories(&touched, &model)?))
            })
        });
        let (value, has_vectors) = written?;
        self.lacks_vectors |= !has_vectors;
        self.is_changed = true;
        Ok(value)
    }

    /// Calls `write` like [`Self::write`], but rolls the transaction back, for a dry run.
    ///
    /// # Errors
    /// When `write` fails, or the database is not writable.
    pub fn write_dry_run<T, R>(
        &mut self,
        now_ms: i64,
        write: impl Fn(&MemoryRows<'_>) -> Result<T, JobError<R>>,
    ) -> Result<T, JobError<R>> {
        self.run_with_recovery(now_ms, |db| db.write_dry_run(now_ms, &write))
    }

    /// Checks the database, and compares the text of each memory with its stored hash. Returns the problems found.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn check_integrity(&mut self, now_ms: i64) -> Result<IntegrityReport, DatabaseError> {
        self.ensure_open(now_ms)?;
        let model = self.model.id.clone(); // known once the database is open
        let derive = self.functions.compute_hash_and_words;
        let db = self.ensure_open(now_ms)?;
        let (mut checked, altered) = (db.check_integrity(&model)?, db.find_altered_texts(derive)?);
        checked.faults.extend(self.backups.describe_altered_texts(&altered, derive));
        Ok(checked)
    }

    /// Runs a job on the open database. If the job finds damage, the database is restored and the job run again.
    fn run_with_recovery<T, R>(
        &mut self,
        now_ms: i64,
        mut job: impl FnMut(&mut MemoryDb) -> Result<T, JobError<R>>,
    ) -> Result<T, JobError<R>> {
        let mut result = job(self.ensure_open(now_ms)?);
        if let Err(JobError::Database(DatabaseError::Corrupt { source, .. })) = &result {
            let why = format!("is damaged ({source})");
            self.restore_from_backups(now_ms, &why)?;
            result = job(self.ensure_open(now_ms)?);
        }
        if let (Some((_, mark)), Ok(Some(now))) =
            (&mut self.open_database, FileSignature::read_from(&self.path))
        {
            *mark = now;
        }
        result
    }
}

fn backup_info(copy: &BackupFile) -> BackupInfo {
    BackupInfo { bytes: file_size(&copy.path), path: copy.path.display().to_string() }
}

fn file_size(path: &Path) -> u64 {
    fs::symlink_metadata(path).map_or(0, |meta| meta.len())
}
