//! Replaces a memory.db that is damaged, gone or foreign.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memod_base::paths::{NOT_OURS, with_suffix};
use memod_database::DatabaseError;
use rusqlite::OpenFlags;

use super::super::backups::Copy;
use super::super::contents::{Contents, readable};
use super::super::lineage::Lineage;
use super::super::{MemoryDb, MemoryEvent};
use super::MemoryStore;
use super::notice::Notice;

/// What the history says of what was saved.
const SALVAGE: &str = "salvage";

impl MemoryStore {
    /// Writes the open database back to its path.
    ///
    /// # Errors
    /// When it cannot be written, or something else than a directory is in the place of the state dir.
    pub(super) fn write_back(&mut self, now_ms: i64) -> Result<(), DatabaseError> {
        let new = self.new_file();
        if let Some(dir) = self.path.parent()
            && fs::symlink_metadata(dir).is_ok_and(|meta| !meta.is_dir())
        {
            return Err(DatabaseError::from_io(dir, io::Error::other(NOT_OURS)));
        }
        let (db, _) = self.open.as_ref().expect("only called while it is open");
        match db.copy_to(&new) {
            Err(DatabaseError::Corrupt { source, .. }) => {
                return self.restore(now_ms, &format!("is damaged ({source})"));
            }
            copied => copied?,
        }
        self.open = None;
        let db = MemoryDb::open_copy(&new)?;
        let n_memories = db.count()?;
        let kept = kept(self.path.exists().then(|| self.aside(now_ms)));
        let what = format!("was taken away while it was open; all {n_memories} memories were written back");
        let details = format!("{} {what}{kept}", self.path.display());
        let text = format!("memory.db {what}");
        self.finish(db, now_ms, &Notice::new(now_ms, &text, &details))?;
        for companion in companions(&self.path) {
            let _ = fs::remove_file(companion); // ours; the copy has all that is in it
        }
        self.put_in_place(now_ms)
    }

    /// Builds a database from the good backups and the readable part of the damaged one, and replaces the latter.
    ///
    /// # Errors
    /// When one of them cannot be read at the moment, because it may have something unique, or for lack of room. Nothing has
    /// changed then, and the next job tries again.
    pub(super) fn restore(&mut self, now_ms: i64, why: &str) -> Result<(), DatabaseError> {
        self.open = None;
        let mut new = self.united_copies(now_ms)?;
        revive_log(&self.path);
        let damaged = readable(MemoryDb::connect(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE))?;
        let mut saved = match &damaged {
            Some(damaged) => damaged.contents()?,
            None if self.path.exists() => Contents::unreadable(),
            None => Contents::default(),
        };
        let sharing = damaged.as_ref().map(MemoryDb::saved_sharing).transpose()?.flatten();
        if let Some(sharing) = &sharing {
            saved.set_sharing(sharing);
        }
        let last = damaged.map(|damaged| readable(damaged.lineage())).transpose()?.flatten();
        let n_saved = new.db.write(now_ms, |rows| {
            let (united, derive) = (rows.unite(&saved, SALVAGE, self.forms.derive)?, self.forms.derive);
            if let Some(sharing) = &sharing {
                rows.take_sharing(sharing, saved.ids(), derive, &MemoryEvent::of_daemon(now_ms, SALVAGE))?;
            }
            let mut lineage = new.lineage.clone();
            last.iter().for_each(|last| lineage.exceed(last));
            rows.begin_lineage(&lineage)?;
            Ok::<_, DatabaseError>(united.n_put)
        })?;
        let is_in_copy = last.is_some_and(|last| new.lineage == last);
        let knows_deleted = saved.is_whole || is_in_copy;
        let loss = saved.loss().filter(|_| !is_in_copy).map_or(String::new(), |loss| format!("; {loss}"));
        let is_any = self.path.exists() || has_log(&self.path);
        let (path, kept) = (self.path.display(), kept(is_any.then(|| self.aside(now_ms))));
        let said = new.said(n_saved, knows_deleted);
        let text = format!("memory.db {why}; {}{loss}", restored(new.db.count()?));
        let notice = Notice::new(now_ms, &text, &format!("{path} {why}; {said}{loss}{kept}"));
        self.finish(new.db, now_ms, &notice)?;
        self.put_in_place(now_ms)?;
        self.is_changed |= n_saved > 0;
        Ok(())
    }

    /// Builds a database from the newest usable backup and those with further memories.
    fn united_copies(&self, now_ms: i64) -> Result<Restored, DatabaseError> {
        let (new, other) = (self.new_file(), self.path.with_extension("db.copy"));
        let (mut copies, mut bad) = (self.backups.all().into_iter(), Vec::new());
        let mut newest = None;
        for copy in copies.by_ref() {
            match use_copy(&copy.path, &new) {
                Ok(used) => {
                    newest = Some((copy, used));
                    break;
                }
                Err(why) if why.is_transient() => return Err(why),
                Err(why) => bad.push(named(&copy, &why)),
            }
        }
        let Some((copy, (original, mut db))) = newest else {
            remove_database(&new);
            let db = MemoryDb::open_copy(&new)?;
            return Ok(Restored { db, lineage: Lineage::default(), from: None, more: Vec::new(), bad });
        };
        let from = Some((copy, db.count()?));
        let mut lineage = original.lineage()?;
        let (mut held, mut more) = (vec![original], Vec::new());
        for copy in copies {
            let is_held = |original: &MemoryDb| held.iter().any(|held| held.holds(original).unwrap_or(false));
            if MemoryDb::connect(&copy.path, OpenFlags::SQLITE_OPEN_READ_ONLY).is_ok_and(|db| is_held(&db)) {
                continue;
            }
            match use_copy(&copy.path, &other) {
                Ok((original, copied)) => {
                    let contents = copied.contents()?;
                    let united =
                        db.write(now_ms, |rows| rows.unite(&contents, "unite", self.forms.derive))?;
                    lineage.take(&original.lineage()?);
                    held.push(original);
                    more.extend((united.n_put > 0).then_some((copy, united.n_put)));
                }
                Err(why) if why.is_transient() => return Err(why),
                Err(why) => bad.push(named(&copy, &why)),
            }
        }
        remove_database(&other);
        Ok(Restored { db, lineage, from, more, bad })
    }

    /// Records the events in a new database, and gives it the name of a finished one. If the daemon is killed from here on,
    /// nothing is lost, because the next one continues.
    fn finish(&self, mut db: MemoryDb, now_ms: i64, notice: &Notice) -> Result<(), DatabaseError> {
        tracing::error!("{}", notice.details);
        db.write(now_ms, |rows| notice.keep(rows))?;
        db.checkpoint()?;
        let new = db.path.clone();
        drop(db);
        for companion in companions(&new) {
            let _ = fs::remove_file(companion); // empty since the checkpoint
        }
        rename_if_there(&new, &self.finished())
    }

    /// Installs a finished database, renames the former one, and uses the new one from now on.
    pub(super) fn put_in_place(&mut self, now_ms: i64) -> Result<(), DatabaseError> {
        self.put_aside(now_ms)?;
        rename_if_there(&self.finished(), &self.path)?;
        self.note_replaced("salvage");
        self.use_db(MemoryDb::open_copy(&self.path)?)?;
        self.is_compared = true; // it is made of the copies, which stay until something is written
        Ok(())
    }

    /// Returns the name of a finished database that is not installed yet.
    pub(super) fn finished(&self) -> PathBuf {
        self.path.with_extension("db.finished")
    }

    /// Returns the path for building the next database, where nothing exists.
    fn new_file(&self) -> PathBuf {
        let new = self.path.with_extension("db.new");
        remove_database(&new); // of a daemon that was killed while it restored
        new
    }

    fn aside(&self, now_ms: i64) -> PathBuf {
        self.path.with_extension(format!("db.damaged-{now_ms}"))
    }

    /// Renames the present database and its log.
    fn put_aside(&self, now_ms: i64) -> Result<(), DatabaseError> {
        let aside = self.aside(now_ms);
        let ([log, index], [aside_log, _]) = (companions(&self.path), companions(&aside));
        let useless = if has_log(&self.path) { vec![index] } else { vec![index, log.clone()] };
        for path in useless {
            let _ = fs::remove_file(path); // the index of a log is made anew; an empty log says nothing
        }
        rename_if_there(&log, &aside_log)?;
        rename_if_there(&self.path, &aside)
    }
}

/// A rebuilt database with its sources.
struct Restored {
    db: MemoryDb,
    /// Its contents.
    lineage: Lineage,
    /// The newest backup, and its number of memories.
    from: Option<(Copy, u64)>,
    /// Other backups, and the number of memories that only they had.
    more: Vec<(Copy, u64)>,
    /// Names of unusable backups, and why.
    bad: Vec<String>,
}

impl Restored {
    /// Describes its sources.
    fn said(&self, n_saved: u64, knows_deleted: bool) -> String {
        let mut said = match &self.from {
            Some((copy, n)) => format!("{n} memories are restored from {}", copy.path.display()),
            None => "there is no good copy of it".to_owned(),
        };
        for (copy, n) in &self.more {
            said += &format!("; {n} more or newer ones from {}", copy.path.display());
        }
        if !self.bad.is_empty() {
            said += &format!("; not usable: {}", self.bad.join(", "));
        }
        if n_saved > 0 {
            said += &format!("; {n_saved} newer ones were saved from what was there");
        }
        if self.from.is_some() && !knows_deleted {
            said += "; what was purged or changed after that copy may be back as it was";
        }
        said
    }
}

/// Opens a backup unchanged, and a migrated copy of it.
pub(super) fn use_copy(path: &Path, to: &Path) -> Result<(MemoryDb, MemoryDb), DatabaseError> {
    remove_database(to);
    let original = MemoryDb::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    original.check_quickly()?;
    original.copy_to(to)?;
    let copy = MemoryDb::open_copy(to)?;
    copy.check_readable()?;
    Ok((original, copy))
}

/// Names an unusable backup.
fn named(copy: &Copy, why: &DatabaseError) -> String {
    let why = match why {
        DatabaseError::Corrupt { source, .. } | DatabaseError::Sqlite { source, .. } => source.to_string(),
        DatabaseError::Newer { found, known, .. } => {
            format!("of a newer memod, schema {found}, we know {known}")
        }
        DatabaseError::File { source, .. } => source.to_string(),
        DatabaseError::Full { .. } => "the disk is full".to_owned(),
    };
    format!("{} ({why})", copy.name)
}

/// Removes a database that is no longer needed.
pub(super) fn remove_database(path: &Path) {
    for file in companions(path).into_iter().chain([path.to_owned()]) {
        let _ = fs::remove_file(file); // absent, mostly
    }
}

/// Returns the paths of a database's log and of the log's index.
fn companions(path: &Path) -> [PathBuf; 2] {
    ["-wal", "-shm"].map(|suffix| with_suffix(path, suffix))
}

fn rename_if_there(from: &Path, to: &Path) -> Result<(), DatabaseError> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(DatabaseError::from_io(from, error))
        }
        _ => Ok(()),
    }
}

/// Returns whether a log exists and is not empty.
pub(super) fn has_log(path: &Path) -> bool {
    fs::symlink_metadata(&companions(path)[0]).is_ok_and(|meta| meta.len() > 0)
}

/// Makes the log of an absent or empty database readable, because SQLite deletes the log of a database without pages. The
/// log takes precedence over the file.
fn revive_log(path: &Path) {
    const PAGE: usize = 4_096;
    let is_empty = match fs::symlink_metadata(path) {
        Ok(meta) => meta.len() == 0,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if is_empty && has_log(path) {
        let _ = fs::write(path, [0; PAGE]); // where nothing can be written, nothing is restored either
    }
}

fn restored(n_memories: u64) -> String {
    match n_memories {
        0 => "no memory could be restored".to_owned(),
        1 => "1 memory was restored".to_owned(),
        n => format!("{n} memories were restored"),
    }
}

fn kept(aside: Option<PathBuf>) -> String {
    aside.map_or(String::new(), |aside| format!("; the file that was there is kept as {}", aside.display()))
}
