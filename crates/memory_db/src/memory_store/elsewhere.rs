//! Merges memories of this repository from other places.
//!
//! The state moves to another directory when the repository becomes read-only, and back. The database in use merges what
//! only the other one has, by id, whenever that has changed. The other file is only read, so its writer is not affected.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use memod_base::paths::{NOT_TAKEN, OtherState, is_same_dir};
use memod_database::DatabaseError;
use rusqlite::OpenFlags;

use super::super::backups::Backups;
use super::super::contents::Contents;
use super::super::lineage::Lineage;
use super::super::unite::United;
use super::super::{MemoryDb, Rows};
use super::Mark;
use super::MemoryStore;
use super::notice::Notice;
use super::recovery::{has_log, remove_database, use_copy};
use crate::foreign::{Copied, ForeignError, Purpose, Stamps, open_memod, stamps};

/// Its name in `meta`.
const SEEN: &str = "elsewhere";

/// Signatures of the files of other databases.
type Seen = BTreeMap<PathBuf, Stamps>;

/// Another state dir that may have memories of this repository.
pub(super) struct Elsewhere {
    dir: PathBuf,
    /// The directory that its paths begin at, from the top of the worktree.
    below: PathBuf,
    /// Signatures of its files when they were merged.
    seen: Option<Stamps>,
    /// Why its memories were not merged, or only in part.
    trouble: Option<String>,
}

/// Why a database elsewhere cannot be merged.
#[derive(Debug, thiserror::Error)]
enum ElsewhereError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Copy(#[from] ForeignError),
}

/// A database elsewhere, with its open copy.
struct Source {
    /// Its path.
    path: PathBuf,
    lineage: Lineage,
    db: MemoryDb,
    /// Drop order is significant: the files are removed once nothing has them open.
    _copied: Option<Copied>,
}

impl Elsewhere {
    fn path(&self) -> PathBuf {
        self.dir.join("memory.db")
    }

    fn is_there(&self) -> bool {
        self.path().exists() || has_log(&self.path()) || Backups::new(&self.dir).is_any()
    }
}

impl MemoryStore {
    /// Merges memories from these state dirs from now on.
    pub fn look_elsewhere(&mut self, states: &[OtherState]) {
        let place =
            |OtherState { dir, below }: OtherState| Elsewhere { dir, below, seen: None, trouble: None };
        self.elsewhere = states.iter().cloned().map(place).collect();
    }

    /// Returns the other databases with memories of this repository.
    pub fn elsewhere(&self) -> Vec<PathBuf> {
        self.elsewhere.iter().filter(|place| place.is_there()).map(Elsewhere::path).collect()
    }

    /// Names all databases of this repository if there are several.
    pub fn places(&self) -> Option<String> {
        let others: Vec<String> = self.elsewhere().iter().map(|path| path.display().to_string()).collect();
        let here = self.path.display();
        (!others.is_empty()).then(|| format!("{here}, which takes over what is in {}", others.join(" and ")))
    }

    /// Reports which memories elsewhere cannot be read.
    pub(super) fn troubles(&self) -> impl Iterator<Item = &str> {
        self.elsewhere.iter().filter_map(|place| place.trouble.as_deref())
    }

    /// Merges changes from elsewhere since the last time. Failures are reported with every answer.
    pub(super) fn unite_elsewhere(&mut self, now_ms: i64) {
        for number in 0..self.elsewhere.len() {
            let place = &self.elsewhere[number];
            let now = stamps(&place.path());
            let is_ours = is_same_dir(self.state_dir(), &place.dir);
            if place.seen.as_ref() == Some(&now) || is_ours {
                continue;
            }
            let (dir, below, is_there) = (place.dir.clone(), place.below.clone(), place.is_there());
            let united = if is_there { self.unite_with((&dir, &below), &now, now_ms) } else { Ok(None) };
            let (seen, trouble) = match united {
                Ok(trouble) => (Some(now), trouble),
                Err(why) => (None, Some(describe_not_taken(&dir, &why))),
            };
            let place = &mut self.elsewhere[number];
            if let Some(trouble) = trouble.as_ref().filter(|trouble| place.trouble.as_ref() != Some(trouble))
            {
                tracing::error!("{trouble}");
            }
            (place.seen, place.trouble) = (seen, trouble);
        }
    }

    /// Merges the database of a state dir with these signatures; returns the problem, if any.
    ///
    /// # Errors
    /// When this database cannot be written.
    fn unite_with(
        &mut self,
        (dir, below): (&Path, &Path),
        now: &Stamps,
        now_ms: i64,
    ) -> Result<Option<String>, DatabaseError> {
        let path = dir.join("memory.db");
        if self.open.as_ref().is_some_and(|(db, _)| db.seen().get(&path) == Some(now)) {
            return Ok(None);
        }
        let (source, trouble) = match self.source(&path) {
            Ok(source) => (source, None),
            Err(why) => {
                let trouble = describe_not_taken(&path, &why);
                let Some(copy) = self.copy_of(dir) else { return Ok(Some(trouble)) };
                let used = format!("{trouble}; a copy of it is used, {}", copy.path.display());
                (copy, (path.exists() || has_log(&path)).then_some(used))
            }
        };
        let seen = trouble.is_none().then(|| (path, now.clone()));
        self.take_over(&source, below, seen, now_ms)?;
        Ok(trouble)
    }

    /// Opens a copy of a database elsewhere.
    fn source(&self, path: &Path) -> Result<Source, ElsewhereError> {
        let copied = Copied::make(path, self.state_dir(), Purpose::Unite, &[&self.path])?;
        // Before it is migrated, because the migration of an older schema gives a new id each time.
        let lineage = MemoryDb::connect(copied.copy(), OpenFlags::SQLITE_OPEN_READ_WRITE)?.lineage()?;
        let db = open_memod(&copied)?;
        db.check_readable()?;
        Ok(Source { path: path.to_owned(), lineage, db, _copied: Some(copied) })
    }

    /// Opens the newest good copy of a database elsewhere.
    fn copy_of(&self, dir: &Path) -> Option<Source> {
        let to = self.path.with_extension("db.copy");
        Backups::new(dir).all().into_iter().find_map(|copy| {
            let (_, db) = use_copy(&copy.path, &to).ok()?;
            Some(Source { path: copy.path, lineage: copy.lineage?, db, _copied: None })
        })
    }

    /// Merges a database, and records the signatures of its files.
    fn take_over(
        &mut self,
        source: &Source,
        below: &Path,
        seen: Option<(PathBuf, Stamps)>,
        now_ms: i64,
    ) -> Result<(), DatabaseError> {
        let old = self.happened(now_ms).cloned();
        let Some((db, _)) = &mut self.open else { return Ok(()) };
        let mut lineage = db.lineage()?;
        let is_held = lineage.holds(&source.lineage) && db.holds_each(&source.db)?;
        let mut contents = if is_held { Contents::default() } else { source.db.contents()? };
        let sharing = if is_held { None } else { source.db.saved_sharing()? };
        contents.begin_anchors_at(below);
        lineage.take(&source.lineage);
        let is_new = db.count()? == 0;
        let all_seen: Seen = db.seen().into_iter().chain(seen).collect();
        let notice = db.write(now_ms, |rows| {
            if is_new {
                rows.take_time(&source.db)?;
            }
            let united = rows.unite(&contents, "unite", self.forms.derive)?;
            sharing.iter().try_for_each(|sharing| rows.take_trust(sharing))?;
            rows.set_lineage(&lineage)?;
            rows.set_seen(&all_seen)?;
            let Some(notice) = noticed(united, &source.path, old.as_ref(), now_ms) else { return Ok(None) };
            notice.keep(rows)?;
            Ok::<_, DatabaseError>(Some(notice))
        })?;
        if let Some(notice) = notice {
            tracing::warn!("{}", notice.details);
            self.notice = Some(notice);
        }
        (self.is_changed, self.lacks_vectors) = (self.is_changed || !is_held, true);
        if let (Some((_, mark)), Ok(Some(now))) = (&mut self.open, Mark::of(&self.path)) {
            *mark = now;
        }
        remove_database(&self.path.with_extension("db.copy"));
        Ok(())
    }
}

impl MemoryDb {
    /// Returns the signatures that the files of other databases had when they were merged completely.
    pub(super) fn seen(&self) -> Seen {
        let json = self.read(0, |rows| rows.meta(SEEN)).ok().flatten();
        json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default()
    }
}

impl Rows<'_> {
    pub(super) fn set_seen(&self, seen: &Seen) -> Result<(), DatabaseError> {
        match serde_json::to_string(seen) {
            Ok(json) => self.set_meta(SEEN, &json),
            Err(_) => Ok(()), // a path that is no text is looked at each time
        }
    }
}

/// Builds the notice of memories that are missing; `memo uninstall` recognises it by [`NOT_TAKEN`].
fn describe_not_taken(place: &Path, why: &impl Display) -> String {
    format!("memories of this repository in {} {NOT_TAKEN}: {why}", place.display())
}

/// Adds to the notice what was merged.
fn noticed(united: United, path: &Path, old: Option<&Notice>, now_ms: i64) -> Option<Notice> {
    let memories = match united {
        United { n_put: 0, n_deleted: 0 } => return None,
        United { n_put, n_deleted: 0 } => format!("{n_put} memories"),
        United { n_put, n_deleted } => format!("{n_put} memories, and {n_deleted} that were deleted there,"),
    };
    let from = format!("taken over from {}", path.display());
    let said = format!(
        "{memories} are {from}, where this repository's memories are kept too; that file stays unchanged"
    );
    Some(match old {
        Some(old) if old.text.contains(&from) => Notice { at_ms: now_ms, ..old.clone() }, // written all the time
        old => Notice::after(old, now_ms, &said),
    })
}
