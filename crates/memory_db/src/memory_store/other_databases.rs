//! Merges memories of this repository from other state dirs.
//!
//! The state moves to another directory when the repository becomes read-only, and back when it becomes writable. Whenever the
//! database in another state dir has changed, the database in use merges the memories, by id, that only the other one has. The
//! other file is only read, so its writer is not affected.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use memod_base::paths::{NOT_MERGED_NOTICE, OtherStateDir, is_same_dir};
use memod_database::DatabaseError;
use rusqlite::OpenFlags;

use crate::database::open_database::MemoryDb;
use crate::import_source::{CopyError, CopyPurpose, DatabaseCopy, FileStamps, open_memod_copy, read_stamps};
use crate::memory_store::MemoryStore;
use crate::memory_store::backups::BackupDir;
use crate::memory_store::file_signature::FileSignature;
use crate::memory_store::recovery::{has_log, open_copied_backup, remove_database};
use crate::memory_store::store_notice::StoreNotice;
use crate::merging::database_contents::DatabaseContents;
use crate::merging::merge_contents::{DatabaseMerge, MergeCounts};
use crate::merging::saved_sharing::SharingRestore;
use crate::settings::lineage_rows::Lineage;
use crate::settings::meta_rows::MetaRows;

/// The key in `meta` of the signatures of merged databases.
const MERGED_STAMPS_KEY: &str = "elsewhere";

/// Signatures of the files of other databases.
type SeenStamps = BTreeMap<PathBuf, FileStamps>;

/// Another state dir that may have memories of this repository.
pub(super) struct MergeSource {
    dir: PathBuf,
    /// The directory at which the paths of its anchors begin, relative to the top of the worktree.
    anchor_dir: PathBuf,
    /// Signatures of the files of its database when they were merged.
    stamps_when_merged: Option<FileStamps>,
    /// Why its memories were not merged, or only those of a backup.
    trouble: Option<String>,
}

/// Why a database in another state dir cannot be merged.
#[derive(Debug, thiserror::Error)]
enum OtherDatabaseError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Copy(#[from] CopyError),
}

/// A database in another state dir, with its open copy.
struct OtherDatabase {
    path: PathBuf,
    lineage: Lineage,
    db: MemoryDb,
    /// Drop order is significant: the files are removed after the connection is closed.
    _copied: Option<DatabaseCopy>,
}

impl MergeSource {
    fn database_path(&self) -> PathBuf {
        self.dir.join("memory.db")
    }

    /// Returns whether the state dir has a memory.db, its log or a backup.
    fn has_database(&self) -> bool {
        self.database_path().exists()
            || has_log(&self.database_path())
            || BackupDir::new(&self.dir).has_backup()
    }
}

impl MemoryStore {
    /// Merges memories from these state dirs from now on.
    pub fn set_other_state_dirs(&mut self, states: &[OtherStateDir]) {
        let place = |OtherStateDir { dir, dir_in_worktree: anchor_dir }: OtherStateDir| MergeSource {
            dir,
            anchor_dir,
            stamps_when_merged: None,
            trouble: None,
        };
        self.other_state_dirs = states.iter().cloned().map(place).collect();
    }

    /// Returns the databases in other state dirs that have memories of this repository.
    pub fn list_databases_elsewhere(&self) -> Vec<PathBuf> {
        self.other_state_dirs
            .iter()
            .filter(|place| place.has_database())
            .map(MergeSource::database_path)
            .collect()
    }

    /// Describes where the databases of this repository are; `None` if there is only one.
    pub fn describe_databases(&self) -> Option<String> {
        let others: Vec<String> =
            self.list_databases_elsewhere().iter().map(|path| path.display().to_string()).collect();
        let path = self.path.display();
        (!others.is_empty())
            .then(|| format!("{path}, which takes over the memories of {}", others.join(" and ")))
    }

    /// Returns the problems with merging the databases of other state dirs.
    pub(super) fn list_merge_problems(&self) -> impl Iterator<Item = &str> {
        self.other_state_dirs.iter().filter_map(|place| place.trouble.as_deref())
    }

    /// Merges the databases in other state dirs that have changed since the last call. Failures are reported with every answer.
    pub(super) fn merge_other_databases(&mut self, now_ms: i64) {
        for number in 0..self.other_state_dirs.len() {
            let place = &self.other_state_dirs[number];
            let now = read_stamps(&place.database_path());
            let is_ours = is_same_dir(self.state_dir(), &place.dir);
            if place.stamps_when_merged.as_ref() == Some(&now) || is_ours {
                continue;
            }
            let (dir, below, is_there) = (place.dir.clone(), place.anchor_dir.clone(), place.has_database());
            let merged = if is_there { self.merge_state_dir((&dir, &below), &now, now_ms) } else { Ok(None) };
            let (seen, trouble) = match merged {
                Ok(trouble) => (Some(now), trouble),
                Err(why) => (None, Some(describe_unmerged(&dir, &why))),
            };
            let place = &mut self.other_state_dirs[number];
            if let Some(trouble) = trouble.as_ref().filter(|trouble| place.trouble.as_ref() != Some(trouble))
            {
                tracing::error!("{trouble}");
            }
            (place.stamps_when_merged, place.trouble) = (seen, trouble);
        }
    }

    /// Merges the database of a state dir, whose files have the signatures `now`, or its newest good backup if the database cannot
    /// be read. Returns why the database could not be read.
    ///
    /// # Errors
    /// When the database in use cannot be written.
    fn merge_state_dir(
        &mut self,
        (dir, below): (&Path, &Path),
        now: &FileStamps,
        now_ms: i64,
    ) -> Result<Option<String>, DatabaseError> {
        let path = dir.join("memory.db");
        if self.open_database.as_ref().is_some_and(|(db, _)| db.merged_stamps().get(&path) == Some(now)) {
            return Ok(None);
        }
        let (source, trouble) = match self.open_other(&path) {
            Ok(source) => (source, None),
            Err(why) => {
                let trouble = describe_unmerged(&path, &why);
                let Some(copy) = self.open_backup_of(dir) else { return Ok(Some(trouble)) };
                let used = format!("{trouble}; a backup of it is used instead, {}", copy.path.display());
                (copy, (path.exists() || has_log(&path)).then_some(used))
            }
        };
        let seen = trouble.is_none().then(|| (path, now.clone()));
        self.merge_database(&source, below, seen, now_ms)?;
        Ok(trouble)
    }

    /// Opens a copy of a database in another state dir.
    fn open_other(&self, path: &Path) -> Result<OtherDatabase, OtherDatabaseError> {
        let copied = DatabaseCopy::copy_from(path, self.state_dir(), CopyPurpose::MergeOther, &[&self.path])?;
        // The lineage is read before the migration, because migrating an older schema gives a new id each time.
        let lineage = MemoryDb::open_unmigrated(copied.copy_path(), OpenFlags::SQLITE_OPEN_READ_WRITE)?
            .read_lineage()?;
        let db = open_memod_copy(&copied)?;
        db.check_readable()?;
        Ok(OtherDatabase { path: path.to_owned(), lineage, db, _copied: Some(copied) })
    }

    /// Opens the newest good backup of a database in another state dir.
    fn open_backup_of(&self, dir: &Path) -> Option<OtherDatabase> {
        let to = self.path.with_extension("db.copy");
        BackupDir::new(dir).list_all().into_iter().find_map(|copy| {
            let (_, db) = open_copied_backup(&copy.path, &to).ok()?;
            Some(OtherDatabase { path: copy.path, lineage: copy.lineage?, db, _copied: None })
        })
    }

    /// Merges a database, and records the signatures `seen` of its files.
    fn merge_database(
        &mut self,
        source: &OtherDatabase,
        below: &Path,
        seen: Option<(PathBuf, FileStamps)>,
        now_ms: i64,
    ) -> Result<(), DatabaseError> {
        let old = self.recent_notice(now_ms).cloned();
        let Some((db, _)) = &mut self.open_database else { return Ok(()) };
        let mut lineage = db.read_lineage()?;
        let is_held = lineage.includes_database(&source.lineage) && db.includes_each_memory(&source.db)?;
        let mut contents = if is_held { DatabaseContents::default() } else { source.db.read_contents()? };
        let sharing = if is_held { None } else { source.db.read_saved_sharing()? };
        contents.prefix_anchor_paths(below);
        lineage.include_database(&source.lineage);
        let is_new = db.n_memories()? == 0;
        let all_seen: SeenStamps = db.merged_stamps().into_iter().chain(seen).collect();
        let notice = db.write(now_ms, |rows| {
            if is_new {
                source.db.read(now_ms, |other| rows.wall_clock().copy_clock_state(&other.wall_clock()))?;
            }
            let merged = DatabaseMerge::new(rows).merge_contents(
                &contents,
                "unite",
                self.functions.compute_hash_and_words,
            )?;
            sharing.iter().try_for_each(|sharing| SharingRestore::new(rows).apply_saved_trust(sharing))?;
            rows.lineage().set_lineage(&lineage)?;
            store_merged_stamps(&rows.meta(), &all_seen)?;
            let Some(notice) = build_merge_notice(merged, &source.path, old.as_ref(), now_ms) else {
                return Ok(None);
            };
            notice.store_in(rows)?;
            Ok::<_, DatabaseError>(Some(notice))
        })?;
        if let Some(notice) = notice {
            tracing::warn!("{}", notice.details);
            self.notice = Some(notice);
        }
        (self.is_changed, self.lacks_vectors) = (self.is_changed || !is_held, true);
        if let (Some((_, mark)), Ok(Some(now))) =
            (&mut self.open_database, FileSignature::read_from(&self.path))
        {
            *mark = now;
        }
        remove_database(&self.path.with_extension("db.copy"));
        Ok(())
    }
}

impl MemoryDb {
    /// Returns the signatures that the files of other databases had when they were merged completely.
    pub(super) fn merged_stamps(&self) -> SeenStamps {
        let json = self.read(0, |rows| rows.meta().read_meta(MERGED_STAMPS_KEY)).ok().flatten();
        json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default()
    }
}

/// Stores the signatures of merged databases.
pub(super) fn store_merged_stamps(meta: &MetaRows<'_>, seen: &SeenStamps) -> Result<(), DatabaseError> {
    match serde_json::to_string(seen) {
        Ok(json) => meta.set_meta(MERGED_STAMPS_KEY, &json),
        Err(_) => Ok(()), // a database at a path that is not UTF-8 is compared each time
    }
}

/// Builds the notice about memories that were not merged; `memo uninstall` recognises it by [`NOT_MERGED_NOTICE`].
fn describe_unmerged(place: &Path, why: &impl Display) -> String {
    format!("memories of this repository in {} {NOT_MERGED_NOTICE}: {why}", place.display())
}

/// Returns the notice `old`, if there is one, with the merge added; `None` if the merge changed nothing.
fn build_merge_notice(
    merged: MergeCounts,
    path: &Path,
    old: Option<&StoreNotice>,
    now_ms: i64,
) -> Option<StoreNotice> {
    let memories = match merged {
        MergeCounts { n_put: 0, n_deleted: 0 } => return None,
        MergeCounts { n_put, n_deleted: 0 } => format!("{n_put} memories"),
        MergeCounts { n_put, n_deleted } => {
            format!("{n_put} memories, and {n_deleted} that were deleted there,")
        }
    };
    let from = format!("taken over from {}", path.display());
    let message =
        format!("{memories} were {from}, another memory.db of this repository, which stays unchanged");
    Some(match old {
        // The other database may be written often; the notice names it once.
        Some(old) if old.text.contains(&from) => StoreNotice { at_ms: now_ms, ..old.clone() },
        old => StoreNotice::with_added_event(old, now_ms, &message),
    })
}
