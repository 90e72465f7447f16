//! Holds memory.db open, and recovers it when it is damaged or gone.
//!
//! A damaged file is renamed, never deleted. The newest good backup replaces it, together with everything newer that can
//! still be read from the damaged file. A file that vanishes while it is open is written back from the open connection.
//! Each of these is recorded in the database and reported with every answer for a day, unless a person acknowledges it.

mod backup_requests;
mod file_restore_plan;
mod missing_vectors;
mod model_switch;
mod other_databases;
mod recovery;
mod store_notice;
mod unfinished_backup;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use memod_base::paths;
use memod_base::paths::with_suffix;
use memod_base::types::{MachineUptime, NotedChange};
use memod_database::DatabaseError;
use memod_proto::memory::BackupInfo;

use super::RenderFileText;
use super::backups::{BackupDir, BackupFile, BackupReason};
use super::memory_vectors::MakeModel;
use super::open_database::next_generation;
use super::{IntegrityReport, MemoryDb, MemoryRows, RecordFunctions, VectorModel};
use memod_proto::RpcError;

pub use self::backup_requests::RestoreError;
pub use self::model_switch::ModelPreparation;
use self::other_databases::OtherStateDir;
use self::recovery::has_log;
use self::store_notice::{ACKNOWLEDGED, StoreNotice};
pub use self::unfinished_backup::remove_unfinished;

/// The name in `meta` of the model that was chosen; absent for the default.
const MODEL: &str = "model";

/// Why a job on the memories failed.
#[derive(Debug)]
pub enum JobError<R> {
    /// The database failed.
    Database(DatabaseError),
    /// The job refused.
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
    forms: RecordFunctions,
    make_model: MakeModel,
    /// The model whose vectors searches use.
    model: Arc<VectorModel>,
    /// The model that is being prepared.
    next_model: Option<Arc<VectorModel>>,
    default_model: String,
    open: Option<(MemoryDb, FileSignature)>,
    notice: Option<StoreNotice>,
    /// Time of the notice that was acknowledged.
    acknowledged_ms: Option<i64>,
    /// Whether something was committed since the last backup.
    is_changed: bool,
    /// Whether the backups were compared with the database since it was opened.
    is_compared: bool,
    /// Whether expired memories are deleted instead of archived.
    purges_expired: bool,
    uptime: Option<fn() -> MachineUptime>,
    elsewhere: Vec<OtherStateDir>,
    /// Whether the database was opened since the last request for changes of vectors.
    is_opened: bool,
    /// Whether some memories may lack a vector.
    lacks_vectors: bool,
    /// Whether changes of memories are collected.
    is_watched: bool,
    /// Replacements of the whole database, while changes are collected.
    replaced: Vec<NotedChange>,
    /// The worktree whose memories it reads; 0 for the whole repository.
    worktree: i64,
}

/// Signature of the file after our last access. Only our own checkpoints change it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileSignature {
    file: (u64, u64),
    bytes: u64,
    modified: Option<SystemTime>,
}

impl FileSignature {
    /// Returns `None` if the file does not exist.
    ///
    /// # Errors
    /// When it cannot be examined at the moment.
    fn read_from(path: &Path) -> Result<Option<Self>, DatabaseError> {
        let meta = paths::if_readable(fs::symlink_metadata(path));
        let Some(meta) = meta.map_err(|error| DatabaseError::from_io(path, error))? else {
            return Ok(None);
        };
        #[cfg(unix)]
        let file = (std::os::unix::fs::MetadataExt::dev(&meta), std::os::unix::fs::MetadataExt::ino(&meta));
        #[cfg(not(unix))]
        let file = (0, 0);
        Ok(Some(Self { file, bytes: meta.len(), modified: meta.modified().ok() }))
    }
}

impl MemoryStore {
    /// Creates a store without opening the database.
    pub fn new(state_dir: &Path, forms: RecordFunctions, default_model: &str, make_model: MakeModel) -> Self {
        Self {
            model: Arc::new(make_model(default_model)),
            make_model,
            next_model: None,
            default_model: default_model.to_owned(),
            path: state_dir.join("memory.db"),
            backups: BackupDir::new(state_dir),
            forms,
            open: None,
            is_opened: false,
            lacks_vectors: false,
            notice: None,
            acknowledged_ms: None,
            is_changed: false,
            is_compared: false,
            purges_expired: false,
            uptime: None,
            elsewhere: Vec::new(),
            is_watched: false,
            replaced: Vec::new(),
            worktree: 0,
        }
    }

    /// Starts or stops collecting changes of memories.
    pub fn watch_changes(&mut self, is_wanted: bool) {
        self.is_watched = is_wanted;
        if let Some((db, _)) = &self.open {
            db.added.set_collecting(is_wanted);
        }
    }

    /// Takes the changes since [`Self::watch_changes`] and the last call, in order.
    pub fn take_changes(&mut self) -> Vec<NotedChange> {
        let mut changes = std::mem::take(&mut self.replaced);
        changes.extend(self.open.iter_mut().flat_map(|(db, _)| std::mem::take(&mut db.changes)));
        changes
    }

    /// Notes that all memories may have changed.
    fn note_replaced(&mut self, action: &str) {
        if self.is_watched {
            self.replaced.push(NotedChange { action: action.to_owned(), ids: Vec::new() });
        }
    }

    /// Reads the memories of this worktree from now on; 0 for the whole repository.
    pub fn enter_worktree(&mut self, worktree: i64) {
        self.worktree = worktree;
        if let Some((db, _)) = &self.open {
            db.scope.set(worktree);
        }
    }

    /// Returns a number that changes when the file rows may have changed: when another database is opened, and when memories
    /// with files are deleted.
    pub fn file_generation(&self) -> u64 {
        self.open.as_ref().map_or(0, |(db, _)| db.generation)
    }

    /// Gives the file rows a new generation, so that every worktree is read as if for the first time.
    pub fn renew_generation(&mut self) {
        if let Some((db, _)) = &mut self.open {
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

    /// Returns the size of the database and of its WAL.
    pub fn size_bytes(&self) -> u64 {
        file_size(&self.path) + file_size(&with_suffix(&self.path, "-wal"))
    }

    /// Returns the backups, newest first.
    pub fn list_backups(&self) -> Vec<BackupInfo> {
        self.backups.list_all().into_iter().map(|copy| backup_info(&copy)).collect()
    }

    /// Returns notices for the user: events for a day unless they are acknowledged, and problems while they last.
    pub fn user_notice(&self, now_ms: i64) -> Option<String> {
        let texts = self.recent_notice(now_ms).map(|notice| notice.text.clone());
        let texts: Vec<String> = texts.into_iter().chain(self.find_gone_worktrees_notice(now_ms)).collect();
        let happened = (!texts.is_empty()).then(|| {
            format!("{}; `memo doctor` says more, `memo doctor --ack` ends this notice", texts.join("; "))
        });
        let all_texts = happened.into_iter().chain(self.list_troubles().map(str::to_owned));
        Some(all_texts.collect::<Vec<_>>().join("; ")).filter(|all_texts| !all_texts.is_empty())
    }

    /// Returns the recent event with all paths, unless it is acknowledged.
    pub fn event_details(&self, now_ms: i64) -> Option<String> {
        let details = self.recent_notice(now_ms).map(|notice| notice.details.clone());
        let texts: Vec<String> = details.into_iter().chain(self.find_gone_worktrees_notice(now_ms)).collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    /// Returns the problems that persist.
    pub fn describe_problems(&self) -> Option<String> {
        Some(self.list_troubles().collect::<Vec<_>>().join("; ")).filter(|text| !text.is_empty())
    }

    /// Ends the notice of a recent event, and returns the event.
    ///
    /// # Errors
    /// When the database cannot be written; the notice goes on then.
    pub fn acknowledge_event(&mut self, now_ms: i64) -> Result<Option<String>, DatabaseError> {
        self.open_now(now_ms)?; // opening may find the event
        let Some(event) = self.event_details(now_ms) else { return Ok(None) };
        let at_ms = self.recent_notice(now_ms).map(|notice| notice.at_ms);
        let written = self.run(now_ms, |db| {
            Ok(db.write(now_ms, |rows| {
                rows.acknowledge_gone_worktrees()?;
                at_ms.map_or(Ok(()), |at_ms| rows.set_meta(ACKNOWLEDGED, &at_ms.to_string()))
            })?)
        });
        written.map_err(|stopped| match stopped {
            JobError::Database(error) | JobError::Refused(error) => error,
        })?;
        self.acknowledged_ms = at_ms.or(self.acknowledged_ms);
        Ok(Some(event))
    }

    /// Returns the notice on worktrees that are gone, if there is one.
    fn find_gone_worktrees_notice(&self, now_ms: i64) -> Option<String> {
        let (db, _) = self.open.as_ref()?;
        db.read(now_ms, |rows: &MemoryRows<'_>| rows.gone_worktrees_notice()).ok().flatten()
    }

    fn recent_notice(&self, now_ms: i64) -> Option<&StoreNotice> {
        let is_told =
            |notice: &&StoreNotice| notice.is_recent(now_ms) && self.acknowledged_ms != Some(notice.at_ms);
        self.notice.as_ref().filter(is_told)
    }

    /// Opens the database now instead of with the first job.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open_now(&mut self, now_ms: i64) -> Result<(), DatabaseError> {
        self.ensure_open(now_ms).map(drop)
    }

    /// Reads.
    ///
    /// # Errors
    /// When `read` fails, or the database cannot be opened.
    pub fn read<T, R>(
        &mut self,
        now_ms: i64,
        read: impl Fn(&MemoryRows<'_>) -> Result<T, JobError<R>>,
    ) -> Result<T, JobError<R>> {
        self.purge_expired(now_ms);
        self.run(now_ms, |db| db.read(now_ms, &read))
    }

    /// Deletes expired memories before they are shown, if the settings ask for it. Until they can be deleted they are shown as
    /// archived.
    fn purge_expired(&mut self, now_ms: i64) {
        let Some(uptime) = self.uptime.filter(|_| self.purges_expired) else { return };
        let is_over = self.run(now_ms, |db| {
            db.read(now_ms, |rows| Ok::<_, JobError<()>>(rows.has_expired_memory(&uptime())?))
        });
        if is_over.unwrap_or(false)
            && let Err(JobError::Database(error)) = self.write(now_ms, |_| Ok::<_, JobError<()>>(()))
        {
            tracing::warn!(%error, "what is over cannot be deleted");
        }
    }

    /// Archives or deletes expired memories from now on, once their time has passed according to `uptime`.
    pub fn enable_expiry(&mut self, uptime: fn() -> MachineUptime, purges: bool) {
        (self.uptime, self.purges_expired) = (Some(uptime), purges);
    }

    /// Writes in one transaction. The data is on disk on return.
    ///
    /// # Errors
    /// When `write` fails, or the database is not writable; nothing is changed then.
    pub fn write<T, R>(
        &mut self,
        now_ms: i64,
        write: impl Fn(&MemoryRows<'_>) -> Result<T, JobError<R>>,
    ) -> Result<T, JobError<R>> {
        let model = Arc::clone(&self.model);
        let written = self.run(now_ms, |db| {
            let touched = db.touched.clone();
            db.write(now_ms, |rows| {
                let value = write(rows)?;
                Ok((value, rows.embed_touched(&touched, &model)?))
            })
        });
        let (value, has_vectors) = written?;
        self.lacks_vectors |= !has_vectors;
        self.is_changed = true;
        Ok(value)
    }

    /// Like [`Self::write`], but rolls back, for a dry run.
    ///
    /// # Errors
    /// When `write` fails, or the database is not writable.
    pub fn write_dry_run<T, R>(
        &mut self,
        now_ms: i64,
        write: impl Fn(&MemoryRows<'_>) -> Result<T, JobError<R>>,
    ) -> Result<T, JobError<R>> {
        self.run(now_ms, |db| db.write_dry_run(now_ms, &write))
    }

    /// Runs all checks.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn check_integrity(&mut self, now_ms: i64) -> Result<IntegrityReport, DatabaseError> {
        self.ensure_open(now_ms)?;
        let model = self.model.id.clone(); // known once it is open
        let derive = self.forms.derive;
        let db = self.ensure_open(now_ms)?;
        let (mut checked, altered) = (db.check_integrity(&model)?, db.find_altered_texts(derive)?);
        checked.faults.extend(self.backups.describe_altered_texts(&altered, derive));
        Ok(checked)
    }

    /// Runs a job. If it finds damage, the database is restored and the job repeated.
    fn run<T, R>(
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
        if let (Some((_, mark)), Ok(Some(now))) = (&mut self.open, FileSignature::read_from(&self.path)) {
            *mark = now;
        }
        result
    }

    /// Returns the open database. Opens it if necessary, and reopens it if the file was replaced.
    fn ensure_open(&mut self, now_ms: i64) -> Result<&mut MemoryDb, DatabaseError> {
        let present = FileSignature::read_from(&self.path)?;
        match (&self.open, &present) {
            (Some((_, mark)), Some(present)) if mark == present => {}
            (Some((_, mark)), Some(present)) if mark.file == present.file => {
                self.open = None; // another process wrote it: it is opened and checked again
                self.open_or_restore(now_ms)?;
            }
            (Some(_), _) => self.write_back(now_ms)?,
            (None, _) => self.open_or_restore(now_ms)?,
        }
        self.merge_other_databases(now_ms);
        Ok(&mut self.open.as_mut().expect("it was opened above").0)
    }

    fn open_or_restore(&mut self, now_ms: i64) -> Result<(), DatabaseError> {
        if self.finished_path().exists() {
            return self.install_finished(now_ms); // a daemon was killed before it installed the file
        }
        let has_copies = self.backups.is_any() || has_log(&self.path);
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
            (Err(_), Some((backup, version))) if MemoryDb::is_of_schema(&self.path, version) => {
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

    fn install_database(&mut self, mut db: MemoryDb) -> Result<(), DatabaseError> {
        (db.purges_expired, db.uptime) = (self.purges_expired, self.uptime);
        db.forms = Some(self.forms);
        db.scope.set(self.worktree);
        db.added.set_collecting(self.is_watched);
        db.repair_words(self.forms.derive)?;
        let chosen = db.read(0, |rows| rows.read_meta(MODEL))?;
        self.select_model(chosen.as_deref());
        (self.notice, self.acknowledged_ms) = db.read(0, StoreNotice::find_stored)?;
        let mark = FileSignature::read_from(&self.path)?;
        let Some(mark) = mark else {
            return Err(DatabaseError::from_io(&self.path, std::io::ErrorKind::NotFound.into()));
        };
        self.open = Some((db, mark));
        (self.is_opened, self.lacks_vectors, self.is_compared) = (true, true, false);
        Ok(())
    }

    /// Makes a backup if something was written since the last one, also by a daemon that was killed; returns whether it made
    /// one. The last backup of each day is kept.
    ///
    /// # Errors
    /// When it cannot be made; the memories are not affected.
    pub fn back_up(&mut self, now_ms: i64) -> Result<bool, DatabaseError> {
        let Some((db, _)) = &self.open else { return Ok(false) };
        let is_asked = !std::mem::replace(&mut self.is_compared, true);
        let is_due = self.is_changed || is_asked && self.backups.lacks_copy_of(db)?;
        if !is_due {
            return Ok(false);
        }
        self.backups.add_backup(db, now_ms, BackupReason::Daily)?;
        self.is_changed = false;
        Ok(true)
    }

    /// Makes a last backup and closes the database, without a log.
    ///
    /// # Errors
    /// When either fails; the memories are not affected.
    pub fn close(&mut self, now_ms: i64) -> Result<(), DatabaseError> {
        let copied = self.back_up(now_ms);
        let closed = self.open.take().map_or(Ok(()), |(db, _)| db.checkpoint_log());
        copied.map(drop).and(closed)
    }

    /// Closes a database whose directory is gone or belongs to another repository now, without creating or removing files there.
    pub fn close_abandoned(&mut self) {
        let Some((db, mark)) = self.open.take() else { return };
        let is_in_place =
            matches!(FileSignature::read_from(&self.path), Ok(Some(now)) if now.file == mark.file);
        if !is_in_place {
            std::mem::forget(db); // SQLite would remove the log at this path, which is not ours
        }
    }
}

fn backup_info(copy: &BackupFile) -> BackupInfo {
    BackupInfo { bytes: file_size(&copy.path), path: copy.path.display().to_string() }
}

fn file_size(path: &Path) -> u64 {
    fs::symlink_metadata(path).map_or(0, |meta| meta.len())
}
