//! Replaces a memory.db that is damaged, gone or foreign.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::OpenFlags;

use super::super::backups::Copy;
use super::super::contents::{Contents, readable};
use super::super::lineage::Lineage;
use super::super::{MemoryDb, StoreError};
use super::{MemoryStore, NOTICE};
use crate::store::beside;

impl MemoryStore {
    /// Writes the open database back to where its file was.
    pub(super) fn write_back(&mut self, now_ms: i64) -> Result<(), StoreError> {
        let new = self.new_file();
        let (db, _) = self.open.as_ref().expect("only called while it is open");
        match db.copy_to(&new) {
            Err(StoreError::Corrupt { source, .. }) => {
                return self.restore(now_ms, &format!("is damaged ({source})"));
            }
            copied => copied?,
        }
        self.open = None;
        let db = MemoryDb::open_copy(&new)?;
        let n_memories = db.count()?;
        let kept = kept(self.path.exists().then(|| self.aside(now_ms)));
        let text = format!(
            "{} was taken away while it was open; all {n_memories} memories were written back{kept}",
            self.path.display(),
        );
        self.finish(db, now_ms, &text)?;
        for companion in companions(&self.path) {
            let _ = fs::remove_file(companion); // ours; the copy has all that is in it
        }
        self.put_in_place(now_ms)
    }

    /// Builds a database from the good copies and from what can be read of the damaged one, then puts it in the place of
    /// that.
    ///
    /// # Errors
    /// When one of them cannot be read at the moment, for it may hold what no other does; or for lack of room. Nothing has
    /// changed then, and the next job tries again.
    pub(super) fn restore(&mut self, now_ms: i64, why: &str) -> Result<(), StoreError> {
        self.open = None;
        let mut new = self.united_copies(now_ms)?;
        revive_log(&self.path);
        let damaged = readable(MemoryDb::connect(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE))?;
        let saved = damaged.as_ref().map_or_else(|| Ok(Contents::default()), MemoryDb::contents)?;
        let last = damaged.map(|damaged| readable(damaged.lineage())).transpose()?.flatten();
        let n_saved = new.db.write(now_ms, |rows| {
            let united = rows.unite(&saved, "salvage", self.derive)?;
            let mut lineage = new.lineage.clone();
            last.iter().for_each(|last| lineage.exceed(last));
            rows.begin_lineage(&lineage)?;
            Ok::<_, StoreError>(united.n_put)
        })?;
        let knows_deleted = saved.is_whole || last.is_some_and(|last| new.lineage == last);
        let is_any = self.path.exists() || has_log(&self.path);
        let (path, kept) = (self.path.display(), kept(is_any.then(|| self.aside(now_ms))));
        let said = new.said(n_saved, knows_deleted);
        let text = format!("{path} {why}; {said}{kept}").replace('\n', " ");
        self.finish(new.db, now_ms, &text)?;
        self.put_in_place(now_ms)
    }

    /// Builds a database from the newest copy that can be used, and from those that hold what it does not.
    fn united_copies(&self, now_ms: i64) -> Result<Restored, StoreError> {
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
                    let united = db.write(now_ms, |rows| rows.unite(&contents, "unite", self.derive))?;
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

    /// Notes in a new database what happened, and gives it the name of one that has only to be put in its place: whoever
    /// is killed from here on loses nothing, for the next one that opens the memories goes on.
    fn finish(&self, mut db: MemoryDb, now_ms: i64, text: &str) -> Result<(), StoreError> {
        tracing::error!("{text}");
        db.write(now_ms, |rows| rows.set_meta(NOTICE, &format!("{now_ms} {text}")))?;
        db.checkpoint()?;
        let new = db.path.clone();
        drop(db);
        for companion in companions(&new) {
            let _ = fs::remove_file(companion); // empty since the checkpoint
        }
        rename_if_there(&new, &self.finished())
    }

    /// Puts a finished database in its place, and what was there aside; uses it from now on.
    pub(super) fn put_in_place(&mut self, now_ms: i64) -> Result<(), StoreError> {
        self.put_aside(now_ms)?;
        rename_if_there(&self.finished(), &self.path)?;
        self.use_db(MemoryDb::open_copy(&self.path)?)
    }

    /// Returns the name of a database that is whole and not yet in its place.
    pub(super) fn finished(&self) -> PathBuf {
        self.path.with_extension("db.finished")
    }

    /// Returns where the next database is built; nothing is there.
    fn new_file(&self) -> PathBuf {
        let new = self.path.with_extension("db.new");
        remove_database(&new); // of a daemon that was killed while it restored
        new
    }

    fn aside(&self, now_ms: i64) -> PathBuf {
        self.path.with_extension(format!("db.damaged-{now_ms}"))
    }

    /// Renames what is there and its log.
    fn put_aside(&self, now_ms: i64) -> Result<(), StoreError> {
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

/// A database that was built anew, and what of.
struct Restored {
    db: MemoryDb,
    /// What it holds.
    lineage: Lineage,
    /// The newest copy, and its memories.
    from: Option<(Copy, u64)>,
    /// Other copies, and what they alone had.
    more: Vec<(Copy, u64)>,
    /// Names of the copies that cannot be used, and why.
    bad: Vec<String>,
}

impl Restored {
    /// Says what it is made of.
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

/// Opens a copy as it is, and a copy of it that is brought to our schema.
pub(super) fn use_copy(path: &Path, to: &Path) -> Result<(MemoryDb, MemoryDb), StoreError> {
    remove_database(to);
    let original = MemoryDb::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    original.check_quickly()?;
    original.copy_to(to)?;
    let copy = MemoryDb::open_copy(to)?;
    copy.check_readable()?;
    Ok((original, copy))
}

/// Names a copy that cannot be used.
fn named(copy: &Copy, why: &StoreError) -> String {
    let why = match why {
        StoreError::Corrupt { source, .. } | StoreError::Sqlite { source, .. } => source.to_string(),
        StoreError::Newer { found, known, .. } => {
            format!("of a newer memod, schema {found}, we know {known}")
        }
        StoreError::File { source, .. } => source.to_string(),
        StoreError::Full { .. } => "the disk is full".to_owned(),
    };
    format!("{} ({why})", copy.name)
}

/// Removes a database of ours that nobody needs.
pub(super) fn remove_database(path: &Path) {
    for file in companions(path).into_iter().chain([path.to_owned()]) {
        let _ = fs::remove_file(file); // absent, mostly
    }
}

/// Returns the names of a database's log and of the log's index.
fn companions(path: &Path) -> [PathBuf; 2] {
    ["-wal", "-shm"].map(|suffix| beside(path, suffix))
}

fn rename_if_there(from: &Path, to: &Path) -> Result<(), StoreError> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::file(from, error)),
        _ => Ok(()),
    }
}

/// Returns whether there is a log with something in it.
pub(super) fn has_log(path: &Path) -> bool {
    fs::symlink_metadata(&companions(path)[0]).is_ok_and(|meta| meta.len() > 0)
}

/// Makes a log readable whose database is gone or empty: SQLite deletes the log of a database without a page. What the
/// log holds comes before what the file does.
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

fn kept(aside: Option<PathBuf>) -> String {
    aside.map_or(String::new(), |aside| format!("; the file that was there is kept as {}", aside.display()))
}
