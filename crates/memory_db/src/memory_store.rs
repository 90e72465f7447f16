//! Holds memory.db open, and recovers it when it is damaged or gone.
//!
//! A damaged file is renamed, never deleted. The newest good backup replaces it, together with everything newer that can
//! still be read from the damaged file. A file that vanishes while it is open is written back from the open connection.
//! Each of these is recorded in the database and reported with every answer for a day, unless a person acknowledges it.

mod asked_backups;
mod elsewhere;
mod missing_vectors;
mod model_switch;
mod notice;
mod recovery;
mod restored_files;
mod unfinished;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use memod_base::paths;
use memod_base::paths::with_suffix;
use memod_base::types::{NotedChange, Uptime};
use memod_proto::memory::BackupInfo;

use super::FileText;
use super::backups::{Backups, Copy, Label};
use super::db::next_generation;
use super::vectors::MakeModel;
use super::{Checked, Forms, MemoryDb, Rows, VectorModel};
use memod_database::DatabaseError;
use memod_proto::RpcError;

pub use self::asked_backups::RestoreError;
use self::elsewhere::Elsewhere;
pub use self::model_switch::Preparing;
use self::notice::{ACKNOWLEDGED, Notice};
use self::recovery::has_log;
pub use self::unfinished::remove_unfinished;

/// The name in `meta` of the model that was chosen; absent for the default.
const MODEL: &str = "model";

/// Why a job on the memories ended.
#[derive(Debug)]
pub enum Stopped<R> {
    /// The database failed.
    Database(DatabaseError),
    /// The job refused.
    Refused(R),
}

impl<R> From<DatabaseError> for Stopped<R> {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

impl From<Stopped<Self>> for RpcError {
    fn from(stopped: Stopped<Self>) -> Self {
        match stopped {
            Stopped::Refused(error) => error,
            Stopped::Database(error) => error.into(),
        }
    }
}

/// Holds memory.db open, and repairs it.
pub struct MemoryStore {
    path: PathBuf,
    backups: Backups,
    forms: Forms,
    make_model: MakeModel,
    /// The model whose vectors answer.
    model: Arc<VectorModel>,
    /// The model that is to follow.
    next_model: Option<Arc<VectorModel>>,
    default_model: String,
    open: Option<(MemoryDb, Mark)>,
    notice: Option<Notice>,
    /// Time of the notice that was acknowledged.
    acknowledged_ms: Option<i64>,
    /// Whether something was committed since the last backup.
    is_changed: bool,
    /// Whether the backups were asked if one has all that was there when it was opened.
    is_compared: bool,
    /// Whether expired memories are deleted instead of archived.
    purges_expired: bool,
    uptime: Option<fn() -> Uptime>,
    elsewhere: Vec<Elsewhere>,
    /// Whether the database was opened since the last request for changes of vectors.
    is_opened: bool,
    /// Whether some memories may lack a vector.
    lacks_vectors: bool,
    /// Whether somebody wants to know which memories change.
    is_watched: bool,
    /// Replacements of the whole database, while somebody wants to know.
    replaced: Vec<NotedChange>,
    /// The worktree of which it reads; 0 for the whole repository.
    worktree: i64,
}

/// Signature of the file after our last access. Only our own checkpoints change it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    file: (u64, u64),
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Mark {
    /// Returns `None` if the file does not exist.
    ///
    /// # Errors
    /// When it cannot be examined at the moment.
    fn of(path: &Path) -> Result<Option<Self>, DatabaseError> {
        let looked = paths::if_readable(fs::symlink_metadata(path));
        let Some(meta) = looked.map_err(|error| DatabaseError::from_io(path, error))? else {
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
    pub fn new(state_dir: &Path, forms: Forms, default_model: &str, make_model: MakeModel) -> Self {
        Self {
            model: Arc::new(make_model(default_model)),
            make_model,
            next_model: None,
            default_model: default_model.to_owned(),
            path: state_dir.join("memory.db"),
            backups: Backups::new(state_dir),
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

    /// Begins to note which memories change, or ends it.
    pub fn watch_changes(&mut self, is_wanted: bool) {
        self.is_watched = is_wanted;
        if let Some((db, _)) = &self.open {
            db.added.collect(is_wanted);
        }
    }

    /// Takes what has changed since [`Self::watch_changes`] and the last call, in its order.
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

    /// Reads of this worktree from now on; 0 for the whole repository.
    pub fn enter_worktree(&mut self, worktree: i64) {
        self.worktree = worktree;
        if let Some((db, _)) = &self.open {
            db.scope.set(worktree);
        }
    }

    /// Returns a number that changes when what was known of the rows about files may not hold: where another database is
    /// opened, and where memories are deleted that worktrees have.
    pub fn generation(&self) -> u64 {
        self.open.as_ref().map_or(0, |(db, _)| db.generation)
    }

    /// Has every worktree looked at as if for the first time.
    pub fn forget_looks(&mut self) {
        if let Some((db, _)) = &mut self.open {
            db.generation = next_generation();
        }
    }

    /// Returns the path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn state_dir(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// Returns the size of the database and of its WAL.
    pub fn bytes(&self) -> u64 {
        size(&self.path) + size(&with_suffix(&self.path, "-wal"))
    }

    /// Returns the backups, newest first.
    pub fn backups(&self) -> Vec<BackupInfo> {
        let info = |copy: Copy| BackupInfo { bytes: size(&copy.path), path: copy.path.display().to_string() };
        self.backups.all().into_iter().map(info).collect()
    }

    /// Returns notices for the user: events for a day unless they are acknowledged, and problems while they last.
    pub fn notice(&self, now_ms: i64) -> Option<String> {
        let texts = self.happened(now_ms).map(|notice| notice.text.clone());
        let texts: Vec<String> = texts.into_iter().chain(self.gone_worktrees(now_ms)).collect();
        let happened = (!texts.is_empty()).then(|| {
            format!("{}; `memo doctor` says more, `memo doctor --ack` ends this notice", texts.join("; "))
        });
        let said = happened.into_iter().chain(self.troubles().map(str::to_owned));
        Some(said.collect::<Vec<_>>().join("; ")).filter(|said| !said.is_empty())
    }

    /// Returns what happened, with every file, unless it was long ago or is acknowledged.
    pub fn event(&self, now_ms: i64) -> Option<String> {
        let details = self.happened(now_ms).map(|notice| notice.details.clone());
        let said: Vec<String> = details.into_iter().chain(self.gone_worktrees(now_ms)).collect();
        (!said.is_empty()).then(|| said.join("; "))
    }

    /// Returns the problems that last.
    pub fn problems(&self) -> Option<String> {
        Some(self.troubles().collect::<Vec<_>>().join("; ")).filter(|said| !said.is_empty())
    }

    /// Ends the notice of what happened, and returns what that was.
    ///
    /// # Errors
    /// When the database cannot be written; the notice goes on then.
    pub fn acknowledge(&mut self, now_ms: i64) -> Result<Option<String>, DatabaseError> {
        self.open_now(now_ms)?; // what happened may be found only now
        let Some(said) = self.event(now_ms) else { return Ok(None) };
        let at_ms = self.happened(now_ms).map(|notice| notice.at_ms);
        let acknowledge = |rows: &Rows<'_>| {
            rows.acknowledge_gone_worktrees()?;
            at_ms.map_or(Ok(()), |at_ms| rows.set_meta(ACKNOWLEDGED, &at_ms.to_string()))
        };
        let written = self.run(now_ms, |db| Ok(db.write(now_ms, acknowledge)?));
        written.map_err(|stopped| match stopped {
            Stopped::Database(error) | Stopped::Refused(error) => error,
        })?;
        self.acknowledged_ms = at_ms.or(self.acknowledged_ms);
        Ok(Some(said))
    }

    /// Returns the notice on worktrees that are gone, if there is one.
    fn gone_worktrees(&self, now_ms: i64) -> Option<String> {
        let (db, _) = self.open.as_ref()?;
        db.read(now_ms, |rows: &Rows<'_>| rows.gone_worktrees_notice()).ok().flatten()
    }

    fn happened(&self, now_ms: i64) -> Option<&Notice> {
        let is_told =
            |notice: &&Notice| notice.is_recent(now_ms) && self.acknowledged_ms != Some(notice.at_ms);
        self.notice.as_ref().filter(is_told)
    }

    /// Opens the database, which otherwise the first job does.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open_now(&mut self, now_ms: i64) -> Result<(), DatabaseError> {
        self.ready(now_ms).map(drop)
    }

    /// Reads.
    ///
    /// # Errors
    /// When `read` fails, or the database cannot be opened.
    pub fn read<T, R>(
        &mut self,
        now_ms: i64,
        read: impl Fn(&Rows<'_>) -> Result<T, Stopped<R>>,
    ) -> Result<T, Stopped<R>> {
        self.purge_expired(now_ms);
        self.run(now_ms, |db| db.read(now_ms, &read))
    }

    /// Deletes expired memories before they are shown, if the settings say so. Until they can be deleted they are shown as
    /// archived.
    fn purge_expired(&mut self, now_ms: i64) {
        let Some(uptime) = self.uptime.filter(|_| self.purges_expired) else { return };
        let is_over =
            self.run(now_ms, |db| db.read(now_ms, |rows| Ok::<_, Stopped<()>>(rows.is_any_over(&uptime())?)));
        if is_over.unwrap_or(false)
            && let Err(Stopped::Database(error)) = self.write(now_ms, |_| Ok::<_, Stopped<()>>(()))
        {
            tracing::warn!(%error, "what is over cannot be deleted");
        }
    }

    /// Archives or deletes expired memories from now on, once their time has passed according to `uptime`.
    pub fn end_what_is_over(&mut self, uptime: fn() -> Uptime, purges: bool) {
        (self.uptime, self.purges_expired) = (Some(uptime), purges);
    }

    /// Writes in one transaction. The data is on disk on return.
    ///
    /// # Errors
    /// When `write` fails, or the database is not writable; nothing is changed then.
    pub fn write<T, R>(
        &mut self,
        now_ms: i64,
        write: impl Fn(&Rows<'_>) -> Result<T, Stopped<R>>,
    ) -> Result<T, Stopped<R>> {
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
    pub fn rehearse<T, R>(
        &mut self,
        now_ms: i64,
        write: impl Fn(&Rows<'_>) -> Result<T, Stopped<R>>,
    ) -> Result<T, Stopped<R>> {
        self.run(now_ms, |db| db.rehearse(now_ms, &write))
    }

    /// Runs all checks.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn check(&mut self, now_ms: i64) -> Result<Checked, DatabaseError> {
        self.ready(now_ms)?;
        let model = self.model.id.clone(); // known once it is open
        let derive = self.forms.derive;
        let db = self.ready(now_ms)?;
        let (mut checked, altered) = (db.check(&model)?, db.find_altered_texts(derive)?);
        checked.faults.extend(self.backups.describe_altered_texts(&altered, derive));
        Ok(checked)
    }

    /// Runs a job. If it finds damage, the database is restored and the job repeated.
    fn run<T, R>(
        &mut self,
        now_ms: i64,
        mut job: impl FnMut(&mut MemoryDb) -> Result<T, Stopped<R>>,
    ) -> Result<T, Stopped<R>> {
        let mut result = job(self.ready(now_ms)?);
        if let Err(Stopped::Database(DatabaseError::Corrupt { source, .. })) = &result {
            let why = format!("is damaged ({source})");
            self.restore(now_ms, &why)?;
            result = job(self.ready(now_ms)?);
        }
        if let (Some((_, mark)), Ok(Some(now))) = (&mut self.open, Mark::of(&self.path)) {
            *mark = now;
        }
        result
    }

    /// Returns the open database. Opens it if necessary, and reopens it if the file was replaced.
    fn ready(&mut self, now_ms: i64) -> Result<&mut MemoryDb, DatabaseError> {
        let there = Mark::of(&self.path)?;
        match (&self.open, &there) {
            (Some((_, mark)), Some(there)) if mark == there => {}
            (Some((_, mark)), Some(there)) if mark.file == there.file => {
                self.open = None; // written by somebody else: looked at as a whole
                self.open(now_ms)?;
            }
            (Some(_), _) => self.write_back(now_ms)?,
            (None, _) => self.open(now_ms)?,
        }
        self.unite_elsewhere(now_ms);
        Ok(&mut self.open.as_mut().expect("it was opened above").0)
    }

    fn open(&mut self, now_ms: i64) -> Result<(), DatabaseError> {
        if self.finished().exists() {
            return self.put_in_place(now_ms); // somebody was killed who did
        }
        let has_copies = self.backups.is_any() || has_log(&self.path);
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(DatabaseError::from_io(&self.path, error));
            }
            Err(_) if has_copies => return self.restore(now_ms, "was gone"),
            Ok(meta) if meta.len() == 0 && has_copies => return self.restore(now_ms, "was empty"),
            _ => {}
        }
        let (backups, mut backup) = (&self.backups, None);
        let before_migration = |db: &MemoryDb, version| {
            backup = Some((backups.make(db, now_ms, Label::Schema(version))?, version));
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
                self.restore(now_ms, "held no memories")
            }
            Ok((db, _)) => self.use_db(db),
            Err(DatabaseError::Corrupt { source, .. }) => {
                self.restore(now_ms, &format!("is damaged ({source})"))
            }
            Err(error) => Err(error),
        }
    }

    fn use_db(&mut self, mut db: MemoryDb) -> Result<(), DatabaseError> {
        (db.purges_expired, db.uptime) = (self.purges_expired, self.uptime);
        db.forms = Some(self.forms);
        db.scope.set(self.worktree);
        db.added.collect(self.is_watched);
        db.mend_words(self.forms.derive)?;
        let chosen = db.read(0, |rows| rows.meta(MODEL))?;
        self.use_model(chosen.as_deref());
        (self.notice, self.acknowledged_ms) = db.read(0, Notice::find)?;
        let mark = Mark::of(&self.path)?;
        let gone = || DatabaseError::from_io(&self.path, std::io::ErrorKind::NotFound.into());
        self.open = Some((db, mark.ok_or_else(gone)?));
        (self.is_opened, self.lacks_vectors, self.is_compared) = (true, true, false);
        Ok(())
    }

    /// Makes a backup if something was written since the last one, also by a daemon that was killed, and returns whether it did. The
    /// last one of each day stays.
    ///
    /// # Errors
    /// When it cannot be made; the memories are not affected.
    pub fn back_up(&mut self, now_ms: i64) -> Result<bool, DatabaseError> {
        let Some((db, _)) = &self.open else { return Ok(false) };
        let is_asked = !std::mem::replace(&mut self.is_compared, true);
        let is_due = self.is_changed || is_asked && self.backups.lack(db)?;
        if !is_due {
            return Ok(false);
        }
        self.backups.add(db, now_ms, Label::Daily)?;
        self.is_changed = false;
        Ok(true)
    }

    /// Makes a last backup and closes the database, without a log.
    ///
    /// # Errors
    /// When either fails; the memories are not affected.
    pub fn close(&mut self, now_ms: i64) -> Result<(), DatabaseError> {
        let copied = self.back_up(now_ms);
        let closed = self.open.take().map_or(Ok(()), |(db, _)| db.checkpoint());
        copied.map(drop).and(closed)
    }

    /// Closes a database whose directory is gone, or is that of another repository: nothing is made or removed there.
    pub fn leave(&mut self) {
        let Some((db, mark)) = self.open.take() else { return };
        let is_in_place = matches!(Mark::of(&self.path), Ok(Some(now)) if now.file == mark.file);
        if !is_in_place {
            std::mem::forget(db); // SQLite would remove the log that has the name of ours
        }
    }
}

fn size(path: &Path) -> u64 {
    fs::symlink_metadata(path).map_or(0, |meta| meta.len())
}
