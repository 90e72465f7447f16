//! Makes backups of memory.db, deletes old ones, and finds the newest.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memod_base::paths::create_dir_in;
use memod_database::DatabaseError;
use rusqlite::OpenFlags;

use super::check::AlteredText;
use super::lineage::Lineage;
use super::{Derived, MemoryDb, Record};

/// Number of backups that are kept: the last of each day, for this many days, and as many of each other kind.
const KEPT: usize = 7;

/// Most memories whose text has changed that are named.
const MOST_NAMED: usize = 10;

/// In the name of what another backup replaced.
const REPLACED: &str = "-replaced";

/// The directory of the backups.
pub(super) struct Backups {
    dir: PathBuf,
}

/// The reason for a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    /// The daily backup.
    Daily,
    /// Before a change of the schema, from this version.
    Schema(i64),
    /// A request of a person or a program.
    Asked,
    /// A request of an agent.
    AskedByAgent,
    /// Before another backup replaced the database.
    Replaced,
    /// Before all memories were deleted.
    Reset,
}

/// A backup, `memory-<time>.db`; all but the daily ones have `-schema<version>`, `-asked`, `-agent`,
/// `-replaced` or `-reset` after the time.
/// The clock may have been wrong, so the content of a backup determines how new it is, never its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Copy {
    pub(super) path: PathBuf,
    pub(super) name: String,
    /// `None` if it cannot be read.
    pub(super) lineage: Option<Lineage>,
    /// It cannot be read at the moment: how new it is is not known.
    is_unread: bool,
}

impl Copy {
    fn day(&self) -> &str {
        self.name.get("memory-".len().."memory-20261121".len()).unwrap_or_default()
    }

    /// Returns its group: a backup is only deleted in favour of others of its group.
    fn kind(&self) -> &'static str {
        let kinds = ["-schema", "-asked", "-agent", REPLACED, "-reset"];
        kinds.into_iter().find(|kind| self.name.contains(kind)).unwrap_or_default()
    }
}

impl Backups {
    pub(super) fn new(state_dir: &Path) -> Self {
        Self { dir: state_dir.join("backups") }
    }

    /// Returns whether there is any.
    pub(super) fn is_any(&self) -> bool {
        self.names().next().is_some()
    }

    /// Returns whether something was written to a database that no backup has.
    pub(super) fn lack(&self, db: &MemoryDb) -> Result<bool, DatabaseError> {
        let lineage = db.lineage()?;
        let mut names: Vec<(PathBuf, String)> = self.names().collect();
        names.sort_by(|(_, a), (_, b)| b.cmp(a)); // mostly it is the last one
        let is_it = |(path, _): &(PathBuf, String)| {
            MemoryDb::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
                .and_then(|copy| copy.lineage())
                .is_ok_and(|copy| copy == lineage)
        };
        Ok(lineage.writes() > 0 && !names.iter().any(is_it))
    }

    /// Returns all backups, newest first, with unreadable ones at the end.
    pub(super) fn all(&self) -> Vec<Copy> {
        let read = |(path, name): (PathBuf, String)| {
            let lineage =
                MemoryDb::connect(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).and_then(|db| db.lineage());
            let is_unread = lineage.as_ref().is_err_and(DatabaseError::is_transient);
            Copy { path, name, lineage: lineage.ok(), is_unread }
        };
        let mut copies: Vec<Copy> = self.names().map(read).collect();
        let age = |copy: &Copy| (copy.lineage.as_ref().map(Lineage::writes), copy.name.clone());
        copies.sort_by_key(|copy| std::cmp::Reverse(age(copy)));
        copies
    }

    /// Returns the newest backup that has memories, or else the newest: after all were deleted, a copy of nothing helps nobody. That
    /// of what is `present`, which was made to restore another one, is none that was meant.
    pub(super) fn newest(&self, present: &Lineage) -> Option<PathBuf> {
        let mut copies = self.all();
        copies.retain(|copy| copy.kind() != REPLACED || copy.lineage.as_ref() != Some(present));
        let has_memories = |copy: &&Copy| {
            let db = MemoryDb::connect(&copy.path, OpenFlags::SQLITE_OPEN_READ_ONLY);
            db.and_then(|db| db.count()).is_ok_and(|n_memories| n_memories > 0)
        };
        copies.iter().find(has_memories).or(copies.first()).map(|copy| copy.path.clone())
    }

    /// Describes memories whose text has changed without memod, each with the newest backup of its stored text.
    pub(super) fn describe_altered_texts(
        &self,
        altered: &[AlteredText],
        derive: fn(&Record) -> Derived,
    ) -> Vec<String> {
        let copies = if altered.is_empty() { Vec::new() } else { self.all() };
        let opened: Vec<(PathBuf, MemoryDb)> = copies
            .into_iter()
            .filter_map(|copy| {
                let db = MemoryDb::connect(&copy.path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
                Some((copy.path, db))
            })
            .collect();
        let mut described = Vec::new();
        for text in altered.iter().take(MOST_NAMED) {
            let backup = opened.iter().find(|(_, db)| db.has_text(text, derive));
            described.push(describe_altered_text(&text.0, backup.map(|(path, _)| path)));
        }
        let n_more = altered.len().saturating_sub(MOST_NAMED);
        described.extend((n_more > 0).then(|| format!("so has that of {n_more} more")));
        described
    }

    fn names(&self) -> impl Iterator<Item = (PathBuf, String)> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| Some((entry.path(), entry.file_name().into_string().ok()?)))
            .filter(|(_, name)| name.starts_with("memory-") && name.ends_with(".db"))
    }

    /// Makes a backup, deletes surplus ones, and returns its path.
    pub(super) fn add(&self, db: &MemoryDb, now_ms: i64, label: Label) -> Result<PathBuf, DatabaseError> {
        let path = self.make(db, now_ms, label)?;
        self.delete_surplus(&path);
        Ok(path)
    }

    /// Makes a backup and returns its path.
    pub(super) fn make(&self, db: &MemoryDb, now_ms: i64, label: Label) -> Result<PathBuf, DatabaseError> {
        create_dir_in(&self.dir).map_err(|error| DatabaseError::from_io(&self.dir, error))?;
        let aside = self.dir.join("new");
        let _ = fs::remove_file(&aside); // what a daemon left that was killed here
        db.copy_safely(&aside).inspect_err(|_| drop(fs::remove_file(&aside)))?;
        let mut path = self.dir.join(name(now_ms, label));
        for later in 1.. {
            if !path.exists() {
                break;
            }
            path = self.dir.join(name(now_ms + later * 1_000, label)); // two within a second are two
        }
        fs::rename(&aside, &path).map_err(|error| DatabaseError::from_io(&path, error))?;
        Ok(path)
    }

    /// Deletes surplus backups, of which `made` is the newest; what cannot be deleted is tried again after the next one.
    pub(super) fn delete_surplus(&self, made: &Path) {
        let mut read: Vec<Copy> = self.all().into_iter().filter(|copy| !copy.is_unread).collect();
        // Others of the same content may be named after seconds to come.
        read.sort_by_key(|copy| copy.path != made);
        for copy in superfluous(read) {
            let _ = fs::remove_file(copy.path);
        }
    }
}

fn describe_altered_text(id: &str, backup: Option<&PathBuf>) -> String {
    let changed = format!("the text of {id} has changed without memod");
    let Some(backup) = backup else {
        return format!("{changed}, and no backup has it as it was stored");
    };
    let path = backup.display();
    format!(
        "{changed}; {path} has it as it was stored, and `memo restore-backup {path}` brings all memories of that time back"
    )
}

fn name(now_ms: i64, label: Label) -> String {
    let time = Timestamp::from_millisecond(now_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    let label = match label {
        Label::Daily => String::new(),
        Label::Schema(version) => format!("-schema{version}"),
        Label::Asked => "-asked".to_owned(),
        Label::AskedByAgent => "-agent".to_owned(),
        Label::Replaced => REPLACED.to_owned(),
        Label::Reset => "-reset".to_owned(),
    };
    format!("memory-{}{label}.db", time.strftime("%Y%m%dT%H%M%SZ"))
}

/// Returns the surplus of backups that are sorted newest first.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_each_of_seven_days_is_kept() {
        let day = |day: i64, ms: i64| 1_795_219_200_000 + day * 86_400_000 + ms;
        let mut names: Vec<String> =
            (0..9).flat_map(|n| [name(day(n, 1), Label::Daily), name(day(n, 5_000), Label::Daily)]).collect();
        names.push(name(day(0, 0), Label::Schema(1)));
        for label in [Label::Asked, Label::AskedByAgent, Label::Reset] {
            names.extend((0..8).map(|n| name(day(0, n * 1_000), label)));
        }
        names.sort_by(|a, b| b.cmp(a));
        let copy = |name| Copy { path: PathBuf::new(), name, lineage: None, is_unread: false };
        let backups = names.into_iter().map(copy).collect::<Vec<_>>();
        let gone = superfluous(backups.clone());
        let kept: Vec<_> =
            backups.iter().filter(|copy| !gone.contains(copy)).map(|copy| copy.name.as_str()).collect();
        assert_eq!(kept.len(), 29);
        assert_eq!(kept[0], "memory-20261129T000005Z.db");
        assert_eq!(kept[6..8], ["memory-20261123T000005Z.db", "memory-20261121T000007Z-reset.db"]);
        let last = [
            "memory-20261121T000001Z-reset.db",
            "memory-20261121T000001Z-asked.db",
            "memory-20261121T000001Z-agent.db",
            "memory-20261121T000000Z-schema1.db",
        ];
        assert_eq!(kept[25..], last);
    }
}
