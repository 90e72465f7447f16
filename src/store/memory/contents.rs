//! Reads the contents of another database and merges them.
//!
//! For each id the newest version of a memory stays, with the changes from both histories. `updated` grows with each
//! change, so it orders versions whatever the clock was. A memory that either database has deleted stays deleted.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use rusqlite::{OptionalExtension, params};

use super::files::FROM_FILE;
use super::rows::{SAVED_COLUMNS, record};
use super::saved_sharing::SavedSharing;
use super::shared_with::Sharing;
use super::{Derived, Link, MemoryDb, MemoryEvent, Record, Rows, StoreError};
use crate::store::corrupt;

/// A memory with its history and its links.
type Saved = (Record, Vec<MemoryEvent>, Vec<Link>);

/// A deleted memory: its last change, and when it was deleted.
pub(super) type Deleted = (String, i64, i64);

/// The readable contents of a database.
#[derive(Default)]
pub(super) struct Contents {
    saved: Vec<Saved>,
    deleted: Vec<Deleted>,
    /// Memories that are certainly no files any more, if that is said.
    alone: HashSet<String>,
    /// Memories that this user has taken out of the files.
    taken_out: HashSet<String>,
    /// Whether no damage hides any content.
    pub(super) is_whole: bool,
    /// What could not be read, or not of all memories.
    unread: BTreeSet<&'static str>,
}

/// The result of merging another database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct United {
    /// Memories that were missing or older.
    pub(super) n_put: u64,
    /// Memories that were deleted there.
    pub(super) n_deleted: u64,
}

impl Contents {
    /// Returns the ids of the memories that it has or had.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        let deleted = self.deleted.iter().map(|(id, ..)| &**id);
        self.saved.iter().map(|(record, ..)| &*record.id).chain(deleted)
    }

    /// Returns the contents of a file of which nothing can be read.
    pub(super) fn unreadable() -> Self {
        Self { unread: BTreeSet::from(["memories"]), ..Self::default() }
    }

    /// Returns what is lost unless a backup has it, as a part of a sentence; `None` if all could be read.
    pub(super) fn loss(&self) -> Option<String> {
        if self.unread.is_empty() {
            return None;
        }
        let unread: Vec<&str> = self.unread.iter().copied().collect();
        Some(match self.saved.is_empty() {
            true => {
                "nothing of the damaged file could be read: what is newer than the copies is lost".to_owned()
            }
            false => format!(
                "not all of the damaged file could be read: what is newer than the copies of {} may be lost",
                unread.join(", ")
            ),
        })
    }

    /// Lets the paths of anchors, which began at a directory of the worktree, begin at its top.
    pub(super) fn begin_anchors_at(&mut self, below: &Path) {
        let dirs: Vec<_> = below.iter().map(|dir| dir.to_string_lossy()).collect();
        if dirs.is_empty() {
            return;
        }
        for anchor in self.saved.iter_mut().flat_map(|(record, ..)| &mut record.anchors) {
            anchor.path = format!("{}/{}", dirs.join("/"), anchor.path);
        }
    }

    /// Says which memories the team has, and which are this user's alone; that is else not said here.
    pub(super) fn set_sharing(&mut self, sharing: &SavedSharing) {
        for (record, ..) in &mut self.saved {
            record.team = sharing.is_team(&record.id);
            if sharing.is_alone(&record.id) {
                self.alone.insert(record.id.clone());
            }
        }
    }
}

impl MemoryDb {
    /// Returns the number of memories, including archived ones.
    pub(super) fn count(&self) -> Result<u64, StoreError> {
        self.run(|conn| {
            conn.query_row("SELECT count(*) FROM memory WHERE instr(id, '#') = 0", [], |row| row.get(0))
        })
    }

    /// Returns every memory that can still be read: forwards from the first up to the damage, and backwards from the last.
    /// Leaves out damaged tags and anchors, and columns that an older file does not have.
    ///
    /// # Errors
    /// When more may be read another time.
    pub(super) fn contents(&self) -> Result<Contents, StoreError> {
        let mut found: Vec<Record> = Vec::new();
        let (own, _) = SAVED_COLUMNS.split_once("(SELECT").unwrap_or_default();
        let (with_tags, _) = SAVED_COLUMNS.rsplit_once("(SELECT").unwrap_or_default();
        let ways = [SAVED_COLUMNS, &format!("{with_tags}'[]'"), &format!("{own}'[]', '[]'")];
        let without = |columns: &[&str]| {
            let replace = |way: String, column: &&str| way.replace(column, "NULL");
            ways.map(|way| columns.iter().fold(way.to_owned(), replace))
        };
        let older = [without(&["m.agent"]), without(&["m.agent", "m.key"])].concat();
        let (mut is_whole, mut unread) = (false, BTreeSet::from(["memories"]));
        'ways: for columns in ways.into_iter().chain(older.iter().map(String::as_str)) {
            for order in ["ASC", "DESC"] {
                let (records, is_all) = self.scan(columns, order)?;
                let known: HashSet<_> = found.iter().map(|record| record.id.clone()).collect();
                found.extend(records.into_iter().filter(|record| !known.contains(&record.id)));
                if is_all {
                    is_whole = columns == SAVED_COLUMNS;
                    unread.clear();
                    unread.extend(columns.contains("'[]'").then_some("tags and anchors"));
                    break 'ways;
                }
            }
        }
        let history = |id: &str| readable(self.read(0, |rows| rows.history(id)));
        let links = |id: &str| readable(self.read(0, |rows| rows.links(id)));
        let mut save = |record: Record| {
            let (history, links) = (history(&record.id)?, links(&record.id)?);
            unread.extend(history.is_none().then_some("histories"));
            unread.extend(links.is_none().then_some("links"));
            Ok((record, history.unwrap_or_default(), links.unwrap_or_default()))
        };
        let deleted = readable(self.deleted())?;
        let taken_out = readable(self.taken_out())?.unwrap_or_default();
        let saved = found.into_iter().map(&mut save).collect::<Result<_, StoreError>>()?;
        unread.extend(deleted.is_none().then_some("removals"));
        is_whole &= unread.is_empty();
        Ok(Contents {
            saved,
            deleted: deleted.unwrap_or_default(),
            alone: HashSet::new(),
            taken_out,
            is_whole,
            unread,
        })
    }

    /// # Errors
    /// When a memory cannot be read.
    pub(super) fn check_readable(&self) -> Result<(), StoreError> {
        match self.scan(SAVED_COLUMNS, "ASC")? {
            (_, true) => Ok(()),
            (records, _) => {
                let said = format!("not all memories can be read, only {}", records.len());
                Err(StoreError::new(&self.path, corrupt(said)))
            }
        }
    }

    /// Reads rows up to the first that cannot be reached; returns whether all rows could be read.
    ///
    /// # Errors
    /// When more may be read another time.
    fn scan(&self, columns: &str, order: &str) -> Result<(Vec<Record>, bool), StoreError> {
        let (mut records, mut is_all) = (Vec::new(), true);
        let ended = self.run(|conn| {
            let mut statement = conn.prepare(&format!(
                // Versions of worktrees are read from their files again.
                "SELECT {columns} FROM memory m WHERE instr(m.id, '#') = 0 ORDER BY m.row {order}"
            ))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let record = record(row);
                is_all &= record.is_ok();
                records.extend(record.ok());
            }
            Ok(())
        });
        Ok((records, readable(ended)?.is_some() && is_all))
    }

    fn taken_out(&self) -> Result<HashSet<String>, StoreError> {
        self.run(|conn| {
            conn.prepare("SELECT id FROM memory WHERE shared = ?1 AND main IS NULL")?
                .query_map([Sharing::Never as i64], |row| row.get(0))?
                .collect()
        })
    }

    pub(super) fn deleted(&self) -> Result<Vec<Deleted>, StoreError> {
        self.run(|conn| {
            conn.prepare("SELECT id, updated, at FROM deleted")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                .collect()
        })
    }
}

/// Returns what was read; none where a damage hides it, or there is none of it.
///
/// # Errors
/// When it may be read another time.
pub(super) fn readable<T>(read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match read {
        Err(error) if error.is_transient() => Err(error),
        read => Ok(read.ok()),
    }
}

impl Rows<'_> {
    /// Merges everything from another database that is missing or newer; `action` goes into the history.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(super) fn unite(
        &self,
        with: &Contents,
        action: &str,
        derive: fn(&Record) -> Derived,
    ) -> Result<United, StoreError> {
        let worktree = self.worktree()?;
        self.enter_worktree(0);
        let united = self.unite_all(with, action, derive);
        self.enter_worktree(worktree);
        united
    }

    fn unite_all(
        &self,
        with: &Contents,
        action: &str,
        derive: fn(&Record) -> Derived,
    ) -> Result<United, StoreError> {
        let mut united = United::default();
        let event = MemoryEvent::of_daemon(self.now_ms(), action);
        let links = self.newer_links(with)?;
        for (record, history, _) in &with.saved {
            if record.team && self.main(&record.id)?.is_some() {
                self.set_shared(&record.id, Sharing::Team)?;
            }
            let known = self.get(&record.id)?;
            let is_out = known.as_ref().is_some_and(|known| known.shared)
                && with.taken_out.contains(&record.id)
                && self.is_taken_out_since(&record.id, history)?;
            if is_out {
                self.keep_alone(&record.id, derive, &event)?; // what files say stands beside it
            }
            let age = |record: &Record| (record.updated, record.last_access);
            let is_newer = match &known {
                // What a look has archived since says nothing against it.
                Some(known) if is_out && known.archived_why.as_deref() != Some("forgotten") => true,
                Some(known) if known.shared && !is_out && !with.alone.contains(&known.id) => false, // its files are the truth
                Some(known) => age(known) < age(record),
                None => self.deleted_at(&record.id)?.is_none_or(|(updated, _)| updated < record.updated),
            };
            if is_newer {
                self.put_newer(record, &derive(record), &event)?;
                united.n_put += 1;
            }
            if is_newer || known.is_some() {
                let noted = is_newer.then_some(&event);
                self.unite_history(&record.id, history, noted)?;
            }
        }
        let mut gone = Vec::new();
        for (id, updated, at) in &with.deleted {
            match self.get(id)? {
                Some(known) if self.is_put_back(&known, *updated, *at)? => {}
                Some(known) if known.shared && self.is_shown(self.row_of(id)?)? => {
                    self.set_deleted(id, *updated, *at)?; // it goes once its files are seen to be gone
                }
                Some(known) => gone.push(known),
                None => self.set_deleted(id, *updated, *at)?,
            }
        }
        if !gone.is_empty() {
            united.n_deleted = gone.len() as u64;
            self.delete(&gone, &event)?;
        }
        for (link, is_there) in links {
            match is_there {
                true => self.put_saved_link(&link)?,
                false => drop(self.unlink(&link.from, &link.to, link.kind, &event)?),
            }
        }
        Ok(united)
    }

    /// Stores a missing or newer version; no two living memories get the same text.
    fn put_newer(&self, record: &Record, derived: &Derived, event: &MemoryEvent) -> Result<(), StoreError> {
        let mut record = record.clone();
        let is_team = record.team || self.is_team(&record.id)?; // others may have the same text
        if record.archived_at.is_none() && !is_team && self.has_twin(&record, &derived.hash)? {
            (record.archived_at, record.archived_why) = (Some(self.now_ms()), Some("forgotten".to_owned()));
        }
        self.put(&record, derived, event)
    }

    /// Stores the changes from both histories in order; `event` is the last of them.
    fn unite_history(
        &self,
        id: &str,
        theirs: &[MemoryEvent],
        event: Option<&MemoryEvent>,
    ) -> Result<(), StoreError> {
        let mut all = self.history(id)?;
        if event.is_some() {
            all.pop(); // it comes last
        }
        let new: Vec<_> = theirs.iter().filter(|change| !all.contains(change)).cloned().collect();
        if new.is_empty() {
            return Ok(());
        }
        all.extend(new);
        all.sort_by_key(|change| change.at);
        all.extend(event.cloned());
        self.put_history(id, &all)
    }

    /// Returns the links that differ, and whether each is to exist. The database that knows more changes of a link decides.
    fn newer_links(&self, with: &Contents) -> Result<Vec<(Link, bool)>, StoreError> {
        let mut links = Vec::new();
        for (record, history, theirs) in &with.saved {
            let ours = self.links(&record.id)?;
            if ours == *theirs {
                continue;
            }
            let known = self.history(&record.id)?;
            let is_newer = |link: &Link, is_there| {
                let [known, told] = [&known, history].map(|of| changes_of(link, &record.id, of));
                told > known || is_there && known == 0
            };
            let differ = |link: &&Link, others: &[Link]| !others.iter().any(|other| is_same(link, other));
            let new = theirs.iter().filter(|link| differ(link, &ours) && is_newer(link, true));
            links.extend(new.map(|link| (link.clone(), true)));
            let gone =
                ours.iter().filter(|link| with.is_whole && differ(link, theirs) && is_newer(link, false));
            links.extend(gone.map(|link| (link.clone(), false)));
        }
        Ok(links)
    }

    /// Returns the last change of a deleted memory, and when it was deleted.
    pub(super) fn deleted_at(&self, id: &str) -> Result<Option<(i64, i64)>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT updated, at FROM deleted WHERE id = ?1")?
                .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })
    }

    /// Records the deletion of a memory that is not in this database.
    pub(super) fn set_deleted(&self, id: &str, updated: i64, at: i64) -> Result<(), StoreError> {
        self.run(|conn| {
            conn.prepare_cached("INSERT OR IGNORE INTO deleted VALUES(?1, ?2, ?3)")?
                .execute(params![id, updated, at])
                .map(drop)
        })
    }

    /// Returns whether a history has an unsharing that is not known here, and nothing here has shared the memory after it.
    fn is_taken_out_since(&self, id: &str, theirs: &[MemoryEvent]) -> Result<bool, StoreError> {
        let Some(out) = theirs.iter().rfind(|change| change.action == "unshare") else { return Ok(false) };
        let ours = self.history(id)?;
        Ok(!ours.iter().any(|change| change == out || change.action == "share" && change.at > out.at))
    }

    /// Returns whether a memory that was deleted elsewhere has changed since, other than by a look that found no file of it.
    pub(super) fn is_put_back(&self, known: &Record, updated: i64, at: i64) -> Result<bool, StoreError> {
        let is_gone = known.shared && known.archived_why.as_deref() == Some("file");
        let history = self.history(&known.id)?;
        let is_change = |change: &&MemoryEvent| !(change.source == FROM_FILE && change.action == "forget");
        let last = history.iter().filter(is_change).map(|change| change.at).max().unwrap_or_default();
        Ok(known.updated > updated && !is_gone || last > at)
    }
}

fn is_same(one: &Link, other: &Link) -> bool {
    let is_turned = one.kind.is_mutual() && one.from == other.to && one.to == other.from;
    one.kind == other.kind && (one.from == other.from && one.to == other.to || is_turned)
}

/// Returns the number of changes of a link according to the history of one of its ends.
fn changes_of(link: &Link, end: &str, history: &[MemoryEvent]) -> usize {
    let (relation, other) = match end == link.from {
        true => (link.kind.as_str(), &link.to),
        false => (link.kind.inverse(), &link.from),
    };
    let is_of = |change: &&MemoryEvent| {
        change
            .fields
            .get(relation)
            .and_then(|pair| pair.as_array())
            .is_some_and(|pair| pair.iter().any(|end| end.as_str() == Some(other.as_str())))
    };
    history.iter().filter(is_of).count()
}
