//! Keeps backups of memory.db, and reads what is left of a damaged one.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::OpenFlags;

use super::rows::{COLUMNS, record};
use super::{Link, MemoryDb, MemoryEvent, Record, StoreError};

/// Copies that are kept: the last of each of so many days, and as many of each other kind.
const KEPT: usize = 7;

/// The directory of the copies.
pub(super) struct Backups {
    dir: PathBuf,
}

/// Why a copy was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// Each day.
    Daily,
    /// Before a change of the schema, from this version.
    Schema(i64),
    /// A person asked.
    Asked,
    /// Before another copy took the place of what was there.
    Replaced,
}

/// A copy: `memory-<time>.db`; those that were not made of themselves have `-schema<version>`, `-asked` or `-replaced`
/// behind the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Copy {
    pub(super) path: PathBuf,
    name: String,
}

impl Copy {
    fn day(&self) -> &str {
        self.name.get("memory-".len().."memory-20261121".len()).unwrap_or_default()
    }

    /// Returns what it is one of: those of a kind make room for each other alone.
    fn kind(&self) -> &'static str {
        let kinds = ["-schema", "-asked", "-replaced"];
        kinds.into_iter().find(|kind| self.name.contains(kind)).unwrap_or_default()
    }
}

impl Backups {
    pub(super) fn new(state_dir: &Path) -> Self {
        Self { dir: state_dir.join("backups") }
    }

    /// Returns all copies, newest first; their names sort by time.
    pub(super) fn all(&self) -> Vec<Copy> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let mut backups: Vec<Copy> = entries
            .filter_map(|entry| {
                Some(Copy { path: entry.path(), name: entry.file_name().into_string().ok()? })
            })
            .filter(|copy| copy.name.starts_with("memory-") && copy.name.ends_with(".db"))
            .collect();
        backups.sort_by(|a, b| b.name.cmp(&a.name));
        backups
    }

    /// Makes a copy, and deletes those there are too many of; returns where it is.
    pub(super) fn add(&self, db: &MemoryDb, now_ms: i64, label: Label) -> Result<PathBuf, StoreError> {
        fs::create_dir_all(&self.dir).map_err(|error| StoreError::file(&self.dir, error))?;
        let aside = self.dir.join("new");
        let _ = fs::remove_file(&aside); // what a daemon left that was killed here
        db.copy_safely(&aside).inspect_err(|_| drop(fs::remove_file(&aside)))?;
        let mut path = self.dir.join(name(now_ms, label));
        for later in 1.. {
            if label == Label::Daily || !path.exists() {
                break;
            }
            path = self.dir.join(name(now_ms + later * 1_000, label)); // two within a second are two
        }
        fs::rename(&aside, &path).map_err(|error| StoreError::file(&path, error))?;
        for copy in superfluous(self.all()) {
            let _ = fs::remove_file(copy.path); // the next one tries again
        }
        Ok(path)
    }

    /// Opens the newest copy that is whole; returns the names of those that are not.
    pub(super) fn newest_good(&self) -> (Option<(Copy, MemoryDb)>, Vec<String>) {
        let mut bad = Vec::new();
        for copy in self.all() {
            let opened = MemoryDb::connect(&copy.path, OpenFlags::SQLITE_OPEN_READ_ONLY);
            match opened.and_then(|db| db.check_quickly().and_then(|()| db.count()).map(|_| db)) {
                Ok(db) => return (Some((copy, db)), bad),
                Err(_) => bad.push(copy.name),
            }
        }
        (None, bad)
    }
}

fn name(now_ms: i64, label: Label) -> String {
    let time = Timestamp::from_millisecond(now_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    let label = match label {
        Label::Daily => String::new(),
        Label::Schema(version) => format!("-schema{version}"),
        Label::Asked => "-asked".to_owned(),
        Label::Replaced => "-replaced".to_owned(),
    };
    format!("memory-{}{label}.db", time.strftime("%Y%m%dT%H%M%SZ"))
}

/// Returns what need not be kept of copies, newest first.
fn superfluous(backups: Vec<Copy>) -> Vec<Copy> {
    let mut n_kept: HashMap<&str, usize> = HashMap::new();
    let mut last_day = String::new();
    let mut is_kept = |copy: &Copy| {
        let kind = copy.kind();
        if kind.is_empty() && std::mem::replace(&mut last_day, copy.day().to_owned()) == copy.day() {
            return false; // a later one of that day is kept
        }
        let n_kept = n_kept.entry(kind).or_default();
        *n_kept += 1;
        *n_kept <= KEPT
    };
    backups.into_iter().filter(|copy| !is_kept(copy)).collect()
}

/// A memory from a damaged file, with what is known of its past and its links.
pub(super) type Saved = (Record, Vec<MemoryEvent>, Vec<Link>);

impl MemoryDb {
    /// Returns how many memories there are, archived ones too.
    pub(super) fn count(&self) -> Result<u64, StoreError> {
        self.run(|conn| conn.query_row("SELECT count(*) FROM memory", [], |row| row.get(0)))
    }

    /// Returns every memory that can still be read: from the first on up to the damage, and from the last on back to
    /// it; without tags and anchors where those are damaged, and without the columns that an older file does not have.
    pub(super) fn readable(&self) -> Vec<Saved> {
        let mut found: Vec<Record> = Vec::new();
        let (own, _) = COLUMNS.split_once("(SELECT").unwrap_or_default();
        let (with_tags, _) = COLUMNS.rsplit_once("(SELECT").unwrap_or_default();
        let ways = [COLUMNS, &format!("{with_tags}'[]'"), &format!("{own}'[]', '[]'")];
        let older = ways.map(|columns| columns.replace("m.key", "NULL"));
        for columns in ways.into_iter().chain(older.iter().map(String::as_str)) {
            for order in ["ASC", "DESC"] {
                let (records, is_whole) = self.scan(columns, order);
                let known: HashSet<_> = found.iter().map(|record| record.id.clone()).collect();
                found.extend(records.into_iter().filter(|record| !known.contains(&record.id)));
                if is_whole {
                    return self.with_history(found);
                }
            }
        }
        self.with_history(found)
    }

    /// Reads rows up to the first that cannot be reached; returns whether that was all.
    fn scan(&self, columns: &str, order: &str) -> (Vec<Record>, bool) {
        let mut records = Vec::new();
        let ended = self.run(|conn| {
            let mut statement =
                conn.prepare(&format!("SELECT {columns} FROM memory m ORDER BY m.row {order}"))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                records.extend(record(row).ok());
            }
            Ok(())
        });
        (records, ended.is_ok())
    }

    fn with_history(&self, records: Vec<Record>) -> Vec<Saved> {
        let history = |id: &str| self.read(0, |rows| rows.history(id)).unwrap_or_default();
        let links = |id: &str| self.read(0, |rows| rows.links(id)).unwrap_or_default();
        let save = |record: Record| (record.clone(), history(&record.id), links(&record.id));
        records.into_iter().map(save).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_each_of_seven_days_is_kept() {
        let day = |day: i64, ms: i64| 1_795_219_200_000 + day * 86_400_000 + ms;
        let mut names: Vec<String> =
            (0..9).flat_map(|n| [name(day(n, 1), Label::Daily), name(day(n, 5_000), Label::Daily)]).collect();
        names.push(name(day(0, 0), Label::Schema(1)));
        names.extend((0..8).map(|n| name(day(0, n * 1_000), Label::Asked)));
        names.sort_by(|a, b| b.cmp(a));
        let backups = names.into_iter().map(|name| Copy { path: PathBuf::new(), name }).collect::<Vec<_>>();
        let gone = superfluous(backups.clone());
        let kept: Vec<_> =
            backups.iter().filter(|copy| !gone.contains(copy)).map(|copy| copy.name.as_str()).collect();
        assert_eq!(kept.len(), 15);
        assert_eq!(kept[0], "memory-20261129T000005Z.db");
        assert_eq!(kept[6..8], ["memory-20261123T000005Z.db", "memory-20261121T000007Z-asked.db"]);
        let last = ["memory-20261121T000001Z-asked.db", "memory-20261121T000000Z-schema1.db"];
        assert_eq!(kept[13..], last);
    }
}
