//! Merges the contents of another database.
//!
//! For each id the newest version of a memory stays, with the changes from both histories. `updated` grows with each
//! change, so it orders versions whatever the clock was. A memory that either database has deleted stays deleted. What files say is
//! read from them again: a newer version of such a memory is only what remains where its file is gone.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use super::contents::Contents;
use super::file_cells::FileCells;
use super::files::FROM_FILE;
use super::restored::restored_at;
use super::shared_with::Sharing;
use super::{Derived, Link, MemoryEvent, Record, Rows};

/// The result of merging another database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct United {
    /// Memories that were missing or older.
    pub(super) n_put: u64,
    /// Memories that were deleted there.
    pub(super) n_deleted: u64,
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
    ) -> Result<United, DatabaseError> {
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
    ) -> Result<United, DatabaseError> {
        let mut united = United::default();
        let event = MemoryEvent::of_daemon(self.now_ms(), action);
        self.move_own_ids(with)?;
        let links = self.newer_links(with)?;
        self.unite_deleted(with, &event, &mut united)?;
        let mut newer = Vec::new();
        for (record, history, _) in &with.saved {
            if record.team && self.main(&record.id)?.is_some() {
                self.set_shared(&record.id, Sharing::Team)?;
            }
            let known = self.get(&record.id)?;
            let is_out = known.as_ref().is_some_and(|known| known.shared)
                && with.taken_out.contains(&record.id)
                && self.is_taken_out_since(&record.id, history)?;
            let told = self.history(&record.id)?;
            let age = |record: &Record, history: &[MemoryEvent]| {
                (record.updated.max(restored_at(history)), record.last_access)
            };
            let is_older = |known: &Record| age(known, &told) < age(record, history);
            let file_there = with.in_files.get(&record.id);
            // It was forgotten, so that it has no file, and was brought back there without one.
            let is_back = match &known {
                Some(known)
                    if known.shared && known.archived_at.is_some() && record.archived_at.is_none() =>
                {
                    file_there.is_none() && is_older(known) && !self.is_shown(self.row_of(&record.id)?)?
                }
                _ => false,
            };
            if is_out || is_back {
                self.keep_alone(&record.id, derive, &event)?; // beside what files say
            }
            let is_newer = match &known {
                // A look may have archived it since, as its file is gone.
                Some(known) if is_out && known.archived_why.as_deref() != Some("forgotten") => true,
                Some(_) if is_back => true,
                Some(known) if known.shared && !is_out && !with.alone.contains(&known.id) => {
                    if let Some(file) = file_there.filter(|_| is_older(known)) {
                        self.put_until_read(known, (record, file), &derive(record), &event)?;
                        self.unite_history(&record.id, history, Some(&event))?;
                        united.n_put += 1;
                        continue;
                    }
                    false // its files are the truth
                }
                Some(known) => is_older(known),
                None => self
                    .deleted_at(&record.id)?
                    .is_none_or(|(updated, at)| updated < record.updated || at < last_change(history)),
            };
            if is_newer {
                newer.push((record, history.as_slice()));
            } else if known.is_some() {
                self.unite_history(&record.id, history, None)?;
            }
        }
        united.n_put += newer.len() as u64;
        self.put_all_newer(newer, derive, &event)?;
        for (link, is_there) in links {
            match is_there {
                true => self.put_saved_link(&link)?,
                false => drop(self.unlink(&link.from, &link.to, link.kind, &event)?),
            }
        }
        Ok(united)
    }

    /// Gives memories of this user alone the ids that they have got there, where their former ids are what files say.
    fn move_own_ids(&self, with: &Contents) -> Result<(), DatabaseError> {
        for (record, history, _) in &with.saved {
            if self.main(&record.id)?.is_some() || self.deleted_at(&record.id)?.is_some() {
                continue;
            }
            for change in history {
                let ids = change.fields.get("id").and_then(|ids| ids.as_array()).map(Vec::as_slice);
                if let Some([Value::String(from), Value::String(to)]) = ids
                    && self.main(from)?.is_some_and(|main| main.is_own())
                    && self.main(to)?.is_none()
                {
                    self.move_own_to(from, to, change)?;
                }
            }
        }
        Ok(())
    }

    /// Stores a newer version of a memory that is shared through files, until these are read again. Where they are gone it is in the
    /// archive.
    fn put_until_read(
        &self,
        known: &Record,
        (newer, file): (&Record, &FileCells),
        derived: &Derived,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        let archived = if newer.archived_at.is_some() { newer } else { known };
        let record = Record {
            shared: true,
            archived_at: archived.archived_at,
            archived_why: archived.archived_why.clone(),
            expires_at: None,
            key: None,
            ..newer.clone()
        };
        self.put_at(&record.id, &record, derived, Some(event))?;
        self.read_again(&record.id, file)
    }

    /// Deletes what the other database has deleted, unless it has been put back here.
    fn unite_deleted(
        &self,
        with: &Contents,
        event: &MemoryEvent,
        united: &mut United,
    ) -> Result<(), DatabaseError> {
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
            self.delete(&gone, event)?;
        }
        Ok(())
    }

    /// Stores missing and newer versions with their histories. A text may have moved from one memory to another, so none of the versions
    /// before is a twin of these.
    fn put_all_newer(
        &self,
        mut newer: Vec<(&Record, &[MemoryEvent])>,
        derive: fn(&Record) -> Derived,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        for (record, _) in &newer {
            self.run(|conn| {
                let sql = "UPDATE memory SET archived_at = ?2, archived_why = 'forgotten' WHERE id = ?1 AND archived_at IS NULL AND shared NOT IN (1, 3, 4)";
                conn.prepare_cached(sql)?.execute(params![record.id, self.now_ms()]).map(drop)
            })?;
        }
        newer.sort_by_key(|(record, _)| (record.archived_at.is_none(), record.created));
        for (record, history) in newer {
            self.put_newer(record, &derive(record), event)?;
            self.unite_history(&record.id, history, Some(event))?;
        }
        Ok(())
    }

    /// Stores a missing or newer version; no two living memories get the same text.
    fn put_newer(
        &self,
        record: &Record,
        derived: &Derived,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
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
    ) -> Result<(), DatabaseError> {
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
    fn newer_links(&self, with: &Contents) -> Result<Vec<(Link, bool)>, DatabaseError> {
        let mut links = Vec::new();
        for (record, history, theirs) in &with.saved {
            let ours = self.links(&record.id)?;
            if ours == *theirs {
                continue;
            }
            let known = self.history(&record.id)?;
            let is_newer = |link: &Link, is_there| {
                let [known, told] =
                    [&known, history].map(|of| (restored_at(of), changes_of(link, &record.id, of)));
                told > known || is_there && known == (0, 0)
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
    pub(super) fn deleted_at(&self, id: &str) -> Result<Option<(i64, i64)>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT updated, at FROM deleted WHERE id = ?1")?
                .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })
    }

    /// Records the deletion of a memory that is not in this database.
    pub(super) fn set_deleted(&self, id: &str, updated: i64, at: i64) -> Result<(), DatabaseError> {
        self.run(|conn| {
            // Where it was deleted twice, nothing before the later time brings it back.
            conn.prepare_cached(
                "INSERT INTO deleted VALUES(?1, ?2, ?3) ON CONFLICT(id) DO UPDATE
                 SET updated = max(updated, excluded.updated), at = max(at, excluded.at)",
            )?
            .execute(params![id, updated, at])
            .map(drop)
        })
    }

    /// Returns whether a history has an unsharing that is not known here, and nothing here has shared the memory after it.
    fn is_taken_out_since(&self, id: &str, theirs: &[MemoryEvent]) -> Result<bool, DatabaseError> {
        let Some(out) = theirs.iter().rfind(|change| change.action == "unshare") else { return Ok(false) };
        let ours = self.history(id)?;
        Ok(!ours.iter().any(|change| change == out || change.action == "share" && change.at > out.at))
    }

    /// Returns whether a memory that was deleted elsewhere has changed since.
    pub(super) fn is_put_back(&self, known: &Record, updated: i64, at: i64) -> Result<bool, DatabaseError> {
        let is_gone = known.shared && known.archived_why.as_deref() == Some("file");
        let history = self.history(&known.id)?;
        Ok(known.updated > updated && !is_gone || last_change(&history) > at)
    }
}

/// Returns when a memory was last changed, unix ms, other than by a look that found no file of it, a recall, or a merge of databases.
fn last_change(history: &[MemoryEvent]) -> i64 {
    let is_change = |change: &&MemoryEvent| {
        let is_look = change.source == FROM_FILE && change.action == "forget";
        !is_look && !["recall", "unite"].contains(&change.action.as_str())
    };
    history.iter().filter(is_change).map(|change| change.at).max().unwrap_or_default()
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
