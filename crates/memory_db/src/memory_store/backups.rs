//! Makes backups of memory.db, deletes old ones, and finds the newest.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use memod_base::paths::create_dir_without_parents;
use memod_database::DatabaseError;
use rusqlite::OpenFlags;

use crate::database::integrity_check::AlteredText;
use crate::database::open_database::MemoryDb;
use crate::records::memory_record::MemoryRecord;
use crate::records::record_functions::HashAndWords;
use crate::settings::lineage_rows::Lineage;

/// Number of backups that are kept of each group. Of the daily group, only the last backup of each day counts.
const MAX_KEPT: usize = 7;

/// Maximum number of memories with an altered text that are listed by id.
const MAX_LISTED: usize = 10;

/// Suffix in the name of a backup that was made before a restore.
const REPLACED: &str = "-replaced";

/// The directory of memod's backups.
pub(crate) struct BackupDir {
    dir: PathBuf,
}

/// The reason for a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BackupReason {
    /// The daily backup.
    Daily,
    /// Before a migration of the schema from this version.
    Schema(i64),
    /// A person or a program requested the backup.
    Asked,
    /// An agent requested the backup.
    AskedByAgent,
    /// Before another backup replaced the database.
    Replaced,
    /// Before all memories were deleted.
    Reset,
}

/// A backup, `memory-<time>.db`; all but the daily backups have `-schema<version>`, `-asked`, `-agent`, `-replaced` or `-reset`
/// after the time. The lineage in a backup determines how new it is, not the time in its name, because the clock may have been
/// wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackupFile {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    /// The lineage of the backup; `None` if it cannot be read.
    pub(crate) lineage: Option<Lineage>,
    /// Whether the backup cannot be read at the moment, so that its age is unknown.
    is_unreadable_now: bool,
}

impl BackupFile {
    /// Reads the lineage of the backup at `path`.
    fn read_from(path: PathBuf, name: String) -> Self {
        let lineage = MemoryDb::open_unmigrated(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .and_then(|db| db.read_lineage());
        let is_unread = lineage.as_ref().is_err_and(DatabaseError::is_transient);
        Self { path, name, lineage: lineage.ok(), is_unreadable_now: is_unread }
    }

    /// Returns the day in the backup's name, as `20261121`.
    fn day_in_name(&self) -> &str {
        self.name.get("memory-".len().."memory-20261121".len()).unwrap_or_default()
    }

    /// Returns whether the backup can be read and has memories.
    fn has_memories(&self) -> bool {
        let db = MemoryDb::open_unmigrated(&self.path, OpenFlags::SQLITE_OPEN_READ_ONLY);
        db.and_then(|db| db.n_memories()).is_ok_and(|n_memories| n_memories > 0)
    }

    /// Returns the suffix of the backup's group; empty for daily backups. A backup is only deleted in favour of newer ones of its
    /// group.
    fn group_suffix(&self) -> &'static str {
        let kinds = ["-schema", "-asked", "-agent", REPLACED, "-reset"];
        kinds.into_iter().find(|kind| self.name.contains(kind)).unwrap_or_default()
    }
}

impl BackupDir {
    pub(crate) fn new(state_dir: &Path) -> Self {
        Self { dir: state_dir.join("backups") }
    }

    /// Returns whether the directory has a backup.
    pub(crate) fn has_backup(&self) -> bool {
        self.list_names().next().is_some()
    }

    /// Returns whether a database has been written and no backup has exactly its lineage.
    pub(crate) fn lacks_backup_of(&self, db: &MemoryDb) -> Result<bool, DatabaseError> {
        let lineage = db.read_lineage()?;
        let mut names: Vec<(PathBuf, String)> = self.list_names().collect();
        names.sort_by(|(_, a), (_, b)| b.cmp(a)); // usually the newest backup matches
        let is_it = |(path, _): &(PathBuf, String)| {
            MemoryDb::open_unmigrated(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
                .and_then(|copy| copy.read_lineage())
                .is_ok_and(|copy| copy == lineage)
        };
        Ok(lineage.n_writes() > 0 && !names.iter().any(is_it))
    }

    /// Returns all backups, newest first, and unreadable backups at the end.
    pub(crate) fn list_all(&self) -> Vec<BackupFile> {
        let mut copies: Vec<BackupFile> =
            self.list_names().map(|(path, name)| BackupFile::read_from(path, name)).collect();
        copies.sort_by_key(|copy| {
            std::cmp::Reverse((copy.lineage.as_ref().map(Lineage::n_writes), copy.name.clone()))
        });
        copies
    }

    /// Returns the path of the newest backup that has memories, because a backup made after a reset has none; or of the newest
    /// backup if none has memories. Skips a backup that was made before a restore and equals the `present` database.
    pub(crate) fn find_newest(&self, present: &Lineage) -> Option<PathBuf> {
        let mut copies = self.list_all();
        copies.retain(|copy| copy.group_suffix() != REPLACED || copy.lineage.as_ref() != Some(present));
        let newest = copies.iter().find(|copy| copy.has_memories()).or(copies.first());
        newest.map(|copy| copy.path.clone())
    }

    /// Describes memories whose text was altered, each with the newest backup that has the original text.
    pub(crate) fn describe_altered_texts(
        &self,
        altered: &[AlteredText],
        derive: fn(&MemoryRecord) -> HashAndWords,
    ) -> Vec<String> {
        let copies = if altered.is_empty() { Vec::new() } else { self.list_all() };
        let opened: Vec<(PathBuf, MemoryDb)> = copies
            .into_iter()
            .filter_map(|copy| {
                let db = MemoryDb::open_unmigrated(&copy.path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
                Some((copy.path, db))
            })
            .collect();
        let mut described = Vec::new();
        for text in altered.iter().take(MAX_LISTED) {
            let backup = opened.iter().find(|(_, db)| db.has_text(text, derive));
            described.push(describe_altered_text(&text.0, backup.map(|(path, _)| path)));
        }
        let n_more = altered.len().saturating_sub(MAX_LISTED);
        described.extend((n_more > 0).then(|| format!("{n_more} more memories have altered texts")));
        described
    }

    /// Returns the path and the name of each backup, in no order.
    fn list_names(&self) -> impl Iterator<Item = (PathBuf, String)> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| Some((entry.path(), entry.file_name().into_string().ok()?)))
            .filter(|(_, name)| name.starts_with("memory-") && name.ends_with(".db"))
    }

    /// Makes a backup, deletes surplus backups, and returns the path of the new backup.
    pub(crate) fn make_backup_and_prune(
        &self,
        db: &MemoryDb,
        now_ms: i64,
        label: BackupReason,
    ) -> Result<PathBuf, DatabaseError> {
        let path = self.make_backup(db, now_ms, label)?;
        self.delete_surplus(&path);
        Ok(path)
    }

    /// Makes a backup, and returns its path.
    pub(crate) fn make_backup(
        &self,
        db: &MemoryDb,
        now_ms: i64,
        label: BackupReason,
    ) -> Result<PathBuf, DatabaseError> {
        create_dir_without_parents(&self.dir).map_err(|error| DatabaseError::from_io(&self.dir, error))?;
        let temporary = self.dir.join("new");
        let _ = fs::remove_file(&temporary); // left by a daemon that was killed here
        db.copy_safely(&temporary).inspect_err(|_| drop(fs::remove_file(&temporary)))?;
        let mut path = self.dir.join(backup_name(now_ms, label));
        for seconds in 1.. {
            if !path.exists() {
                break;
            }
            // A second backup within one second gets a later name.
            path = self.dir.join(backup_name(now_ms + seconds * 1_000, label));
        }
        fs::rename(&temporary, &path).map_err(|error| DatabaseError::from_io(&path, error))?;
        Ok(path)
    }

    /// Deletes surplus backups; `made` is the path of the newest backup. A file that cannot be deleted is tried again after the
    /// next backup.
    pub(crate) fn delete_surplus(&self, made: &Path) {
        let mut read: Vec<BackupFile> =
            self.list_all().into_iter().filter(|copy| !copy.is_unreadable_now).collect();
        // The newest backup comes first, because other backups of the same content may have later times in their names.
        read.sort_by_key(|copy| copy.path != made);
        for copy in select_surplus(read) {
            let _ = fs::remove_file(copy.path);
        }
    }
}

/// Describes a memory whose text was altered, with the path of the backup that has the original text.
fn describe_altered_text(id: &str, backup: Option<&PathBuf>) -> String {
    let changed = format!("the text of {id} has changed without memod");
    let Some(backup) = backup else {
        return format!(
            "{changed}, and no backup has the original text; `memo update {id} --content TEXT` corrects it"
        );
    };
    let path = backup.display();
    format!(
        "{changed}; a backup with the original text is in {path}. `memo backup restore {path}` puts all memories back to that state, \
         not only this one"
    )
}

/// Returns the file name of a backup.
fn backup_name(now_ms: i64, label: BackupReason) -> String {
    let time = Timestamp::from_millisecond(now_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    let label = match label {
        BackupReason::Daily => String::new(),
        BackupReason::Schema(version) => format!("-schema{version}"),
        BackupReason::Asked => "-asked".to_owned(),
        BackupReason::AskedByAgent => "-agent".to_owned(),
        BackupReason::Replaced => REPLACED.to_owned(),
        BackupReason::Reset => "-reset".to_owned(),
    };
    format!("memory-{}{label}.db", time.strftime("%Y%m%dT%H%M%SZ"))
}

/// Returns the surplus ones of `backups`, which are sorted newest first.
fn select_surplus(backups: Vec<BackupFile>) -> Vec<BackupFile> {
    let mut n_kept: HashMap<&str, usize> = HashMap::new();
    let mut last_day = String::new();
    let mut is_kept = |copy: &BackupFile| {
        let kind = copy.group_suffix();
        if kind.is_empty()
            && std::mem::replace(&mut last_day, copy.day_in_name().to_owned()) == copy.day_in_name()
        {
            return false; // a later backup of that day is kept
        }
        let n_kept = n_kept.entry(kind).or_default();
        *n_kept += 1;
        *n_kept <= MAX_KEPT
    };
    backups.into_iter().filter(|copy| !is_kept(copy)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_each_of_seven_days_is_kept() {
        let day = |day: i64, ms: i64| 1_795_219_200_000 + day * 86_400_000 + ms;
        let mut names: Vec<String> = (0..9)
            .flat_map(|n| {
                [backup_name(day(n, 1), BackupReason::Daily), backup_name(day(n, 5_000), BackupReason::Daily)]
            })
            .collect();
        names.push(backup_name(day(0, 0), BackupReason::Schema(1)));
        for label in [BackupReason::Asked, BackupReason::AskedByAgent, BackupReason::Reset] {
            names.extend((0..8).map(|n| backup_name(day(0, n * 1_000), label)));
        }
        names.sort_by(|a, b| b.cmp(a));
        let copy = |name| BackupFile { path: PathBuf::new(), name, lineage: None, is_unreadable_now: false };
        let backups = names.into_iter().map(copy).collect::<Vec<_>>();
        let gone = select_surplus(backups.clone());
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
