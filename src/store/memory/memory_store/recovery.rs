//! Replaces a memory.db that is damaged, gone or foreign.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::OpenFlags;

use super::super::backups::Saved;
use super::super::{MemoryDb, MemoryEvent, Record, Rows, StoreError};
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

    /// Builds a database from the newest good copy and from what can be read of the damaged one, then puts it in the
    /// place of that.
    pub(super) fn restore(&mut self, now_ms: i64, why: &str) -> Result<(), StoreError> {
        self.open = None;
        let new = self.new_file();
        let (copy, bad) = self.backups.newest_good();
        if let Some((_, copied)) = &copy {
            copied.copy_to(&new)?;
        }
        let mut db = MemoryDb::open_copy(&new)?;
        let n_copied = db.count()?;
        revive_log(&self.path);
        let saved = MemoryDb::connect(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .map_or_else(|_| Vec::new(), |damaged| damaged.readable());
        let n_saved = db.write(now_ms, |rows| self.put_saved(rows, &saved))?;
        let from = match &copy {
            Some((copy, _)) => format!("{n_copied} memories are restored from {}", copy.path.display()),
            None => "there is no good copy of it".to_owned(),
        };
        let bad = if bad.is_empty() { String::new() } else { format!("; not usable: {}", bad.join(", ")) };
        let saved = match n_saved {
            0 => String::new(),
            n => format!("; {n} newer ones were saved from what was there"),
        };
        let is_any = self.path.exists() || has_log(&self.path);
        let (path, kept) = (self.path.display(), kept(is_any.then(|| self.aside(now_ms))));
        let text = format!("{path} {why}; {from}{bad}{saved}{kept}").replace('\n', " ");
        self.finish(db, now_ms, &text)?;
        self.put_in_place(now_ms)
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

    /// Puts what is missing or newer; returns how many.
    fn put_saved(&self, rows: &Rows<'_>, saved: &[Saved]) -> Result<u64, StoreError> {
        let mut n_put = 0;
        for (record, history, _) in saved {
            let known = rows.get(&record.id)?;
            let age = |record: &Record| (record.updated, record.last_access);
            if known.is_some_and(|known| age(&known) >= age(record)) {
                continue;
            }
            let mut record = record.clone();
            let derived = (self.derive)(&record);
            let twin = rows.same_text(&record, &derived.hash)?.filter(|twin| twin.id != record.id);
            if twin.is_some() && record.archived_at.is_none() {
                (record.archived_at, record.archived_why) =
                    (Some(rows.now_ms()), Some("forgotten".to_owned()));
            }
            let event = MemoryEvent::of_daemon(rows.now_ms(), "salvage");
            rows.put(&record, &derived, &event)?;
            rows.put_history(&record.id, &[history.as_slice(), &[event]].concat())?;
            n_put += 1;
        }
        rows.put_saved_links(saved.iter().flat_map(|(.., links)| links))?;
        Ok(n_put)
    }

    /// Returns where the next database is built; nothing is there.
    fn new_file(&self) -> PathBuf {
        let new = self.path.with_extension("db.new");
        for left in companions(&new).into_iter().chain([new.clone()]) {
            let _ = fs::remove_file(left); // of a daemon that was killed while it restored
        }
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
    let is_empty = fs::symlink_metadata(path).map_or(true, |meta| meta.len() == 0);
    if is_empty && has_log(path) {
        let _ = fs::write(path, [0; PAGE]); // where nothing can be written, nothing is restored either
    }
}

fn kept(aside: Option<PathBuf>) -> String {
    aside.map_or(String::new(), |aside| format!("; the file that was there is kept as {}", aside.display()))
}
