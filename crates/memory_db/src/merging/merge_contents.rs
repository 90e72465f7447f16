//! Merges the contents of another database.
//!
//! Of each memory, the newer version stays, with the changes from both histories. `updated` grows with each change, so it orders
//! versions even if a clock was wrong. A memory that either database has deleted stays deleted, unless it was changed later. The
//! files of shared memories take precedence: a newer version from the other database counts only until the file is read again, or
//! where the file is gone.

use memod_database::DatabaseError;
use rusqlite::params;
use serde_json::Value;

use crate::memory_rows::MemoryRows;
use crate::memory_tables::history_rows::last_change_ms;
use crate::memory_tables::link_rows::MemoryLink;
use crate::merging::database_contents::DatabaseContents;
use crate::records::file_version::FileColumns;
use crate::records::memory_event::{MemoryEvent, restored_at};
use crate::records::memory_record::MemoryRecord;
use crate::records::record_functions::HashAndWords;
use crate::records::sharing::Sharing;

/// The result of merging another database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MergeCounts {
    /// Number of memories that were missing here, or older.
    pub(crate) n_put: u64,
    /// Number of memories that were deleted here, because the other database had deleted them.
    pub(crate) n_deleted: u64,
}

/// Merges another database into these rows.
#[derive(Clone, Copy)]
pub(crate) struct DatabaseMerge<'a> {
    rows: &'a MemoryRows<'a>,
}

impl<'a> DatabaseMerge<'a> {
    pub(crate) fn new(rows: &'a MemoryRows<'a>) -> Self {
        Self { rows }
    }
}

impl DatabaseMerge<'_> {
    /// Merges everything from another database that is missing here or newer there. The history records the changes as `action`.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn merge_contents(
        &self,
        other: &DatabaseContents,
        action: &str,
        derive: fn(&MemoryRecord) -> HashAndWords,
    ) -> Result<MergeCounts, DatabaseError> {
        let worktree = self.rows.current_worktree()?;
        self.rows.select_worktree(0);
        let merged = self.merge_in_repository_scope(other, action, derive);
        self.rows.select_worktree(worktree);
        merged
    }

    /// Merges the contents; the whole repository must be selected.
    fn merge_in_repository_scope(
        &self,
        other: &DatabaseContents,
        action: &str,
        derive: fn(&MemoryRecord) -> HashAndWords,
    ) -> Result<MergeCounts, DatabaseError> {
        let mut merged = MergeCounts::default();
        let event = MemoryEvent::new_by_daemon(self.rows.now_ms(), action);
        self.adopt_new_ids(other)?;
        let links = self.list_link_changes(other)?;
        self.merge_deletions(other, &event, &mut merged)?;
        let mut newer = Vec::new();
        for (record, history, _) in &other.memories {
            if record.team && self.rows.versions().main_row(&record.id)?.is_some() {
                self.rows.sharing().set_sharing(&record.id, Sharing::Team)?;
            }
            let known = self.rows.records().find_memory(&record.id)?;
            let is_out = known.as_ref().is_some_and(|known| known.shared)
                && other.unshared_ids.contains(&record.id)
                && self.is_unshared_since(&record.id, history)?;
            let known_history = self.rows.history().list_history(&record.id)?;
            let age = version_recency(record, history);
            let is_older = |known: &MemoryRecord| version_recency(known, &known_history) < age;
            let file_there = other.file_columns.get(&record.id);
            // The memory was forgotten here, so it has no file, and was restored in the other database without a file.
            let is_back = match &known {
                Some(known)
                    if known.shared && known.archived_at.is_some() && record.archived_at.is_none() =>
                {
                    file_there.is_none()
                        && is_older(known)
                        && !self
                            .rows
                            .files()
                            .is_shown_by_file(self.rows.versions().find_row_number(&record.id)?)?
                }
                _ => false,
            };
            if is_out || is_back {
                // The memory becomes private. The versions of it that files have stay, as rows of their own.
                self.rows.private_memories().make_private(&record.id, derive, &event)?;
            }
            let is_newer = match &known {
                // Reading the worktree may have archived the memory since, because its file is gone.
                Some(known) if is_out && known.archived_why.as_deref() != Some("forgotten") => true,
                Some(_) if is_back => true,
                Some(known) if known.shared && !is_out && !other.private_ids.contains(&known.id) => {
                    if let Some(file) = file_there.filter(|_| is_older(known)) {
                        self.store_until_reread(known, (record, file), &derive(record), &event)?;
                        self.merge_history(&record.id, history, Some(&event))?;
                        merged.n_put += 1;
                        continue;
                    }
                    false // the memory's files are the truth
                }
                Some(known) => is_older(known),
                None => self
                    .rows
                    .deletions()
                    .find_deletion(&record.id)?
                    .is_none_or(|(updated, at)| updated < record.updated || at < last_change_ms(history)),
            };
            if is_newer {
                newer.push((record, history.as_slice()));
            } else if known.is_some() {
                self.merge_history(&record.id, history, None)?;
            }
        }
        merged.n_put += newer.len() as u64;
        self.store_newer_versions(newer, derive, &event)?;
        for (link, is_there) in links {
            match is_there {
                true => self.rows.links().put_saved_link(&link)?,
                false => drop(self.rows.links().remove_link(&link.from, &link.to, link.kind, &event)?),
            }
        }
        Ok(merged)
    }

    /// Gives private memories the new ids that the other database has given them, because a file has the former id.
    fn adopt_new_ids(&self, other: &DatabaseContents) -> Result<(), DatabaseError> {
        for (record, history, _) in &other.memories {
            if self.rows.versions().main_row(&record.id)?.is_some()
                || self.rows.deletions().find_deletion(&record.id)?.is_some()
            {
                continue;
            }
            for change in history {
                let ids = change.fields.get("id").and_then(|ids| ids.as_array()).map(Vec::as_slice);
                if let Some([Value::String(from), Value::String(to)]) = ids
                    && self.rows.versions().main_row(from)?.is_some_and(|main| main.is_private())
                    && self.rows.versions().main_row(to)?.is_none()
                {
                    self.rows.private_memories().change_private_id(from, to, change)?;
                }
            }
        }
        Ok(())
    }

    /// Stores a newer version of a memory that is shared through files, which counts until its files are read again. If no file is
    /// left then, the memory is archived.
    fn store_until_reread(
        &self,
        known: &MemoryRecord,
        (newer, file): (&MemoryRecord, &FileColumns),
        derived: &HashAndWords,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        let archived = if newer.archived_at.is_some() { newer } else { known };
        let record = MemoryRecord {
            shared: true,
            archived_at: archived.archived_at,
            archived_why: archived.archived_why.clone(),
            expires_at: None,
            key: None,
            ..newer.clone()
        };
        self.rows.versions().store_record_at(&record.id, &record, derived, Some(event))?;
        self.rows.files().replace_file_columns(&record.id, file)
    }

    /// Deletes the memories that the other database has deleted, unless they were changed here later.
    fn merge_deletions(
        &self,
        other: &DatabaseContents,
        event: &MemoryEvent,
        merged: &mut MergeCounts,
    ) -> Result<(), DatabaseError> {
        let mut gone = Vec::new();
        for (id, updated, at) in &other.deleted {
            match self.rows.records().find_memory(id)? {
                Some(known) if self.rows.history().has_changed_since(&known, *updated, *at)? => {}
                Some(known)
                    if known.shared
                        && self
                            .rows
                            .files()
                            .is_shown_by_file(self.rows.versions().find_row_number(id)?)? =>
                {
                    // The memory is deleted once its files are gone.
                    self.rows.deletions().record_deletion(id, *updated, *at)?;
                }
                Some(known) => gone.push(known),
                None => self.rows.deletions().record_deletion(id, *updated, *at)?,
            }
        }
        if !gone.is_empty() {
            merged.n_deleted = gone.len() as u64;
            self.rows.deletions().delete_memories(&gone, event)?;
        }
        Ok(())
    }

    /// Stores missing and newer versions with their histories. All former versions are archived first, because a text may have
    /// moved from one memory to another.
    fn store_newer_versions(
        &self,
        mut newer: Vec<(&MemoryRecord, &[MemoryEvent])>,
        derive: fn(&MemoryRecord) -> HashAndWords,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        for (record, _) in &newer {
            self.rows.access.run(|conn| {
                let sql = "UPDATE memory SET archived_at = ?2, archived_why = 'forgotten' WHERE id = ?1 AND archived_at IS NULL AND shared NOT IN (1, 3, 4)";
                conn.prepare_cached(sql)?.execute(params![record.id, self.rows.now_ms()]).map(drop)
            })?;
        }
        newer.sort_by_key(|(record, _)| (record.archived_at.is_none(), record.created));
        for (record, history) in newer {
            self.store_newer_version(record, &derive(record), event)?;
            self.merge_history(&record.id, history, Some(event))?;
        }
        Ok(())
    }

    /// Stores a missing or newer version. Archives it if another living memory has the same text.
    fn store_newer_version(
        &self,
        record: &MemoryRecord,
        derived: &HashAndWords,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        let mut record = record.clone();
        let is_team = record.team || self.rows.sharing().is_team_memory(&record.id)?; // others may have the same text
        if record.archived_at.is_none()
            && !is_team
            && self.rows.records().has_duplicate(&record, &derived.hash)?
        {
            (record.archived_at, record.archived_why) =
                (Some(self.rows.now_ms()), Some("forgotten".to_owned()));
        }
        self.rows.put_memory(&record, derived, event)
    }

    /// Stores the changes from both histories of a memory, ordered by time. `event`, the merge itself, comes last.
    fn merge_history(
        &self,
        id: &str,
        theirs: &[MemoryEvent],
        event: Option<&MemoryEvent>,
    ) -> Result<(), DatabaseError> {
        let mut all = self.rows.history().list_history(id)?;
        if event.is_some() {
            all.pop(); // `event` is added again at the end
        }
        let new: Vec<_> = theirs.iter().filter(|change| !all.contains(change)).cloned().collect();
        if new.is_empty() {
            return Ok(());
        }
        all.extend(new);
        all.sort_by_key(|change| change.at);
        all.extend(event.cloned());
        self.rows.history().replace_history(id, &all)
    }

    /// Returns the links that differ between the databases, and whether each should exist. The database with more recorded changes
    /// of a link decides.
    fn list_link_changes(&self, other: &DatabaseContents) -> Result<Vec<(MemoryLink, bool)>, DatabaseError> {
        let mut links = Vec::new();
        for (record, history, theirs) in &other.memories {
            let ours = self.rows.links().list_links(&record.id)?;
            if ours == *theirs {
                continue;
            }
            let known = self.rows.history().list_history(&record.id)?;
            let is_newer = |link: &MemoryLink, is_there| {
                let [ours, theirs] = [&known, history]
                    .map(|history| (restored_at(history), count_link_changes(link, &record.id, history)));
                theirs > ours || is_there && ours == (0, 0)
            };
            let new = theirs.iter().filter(|link| !has_link(&ours, link) && is_newer(link, true));
            links.extend(new.map(|link| (link.clone(), true)));
            let gone =
                ours.iter().filter(|link| other.is_whole && !has_link(theirs, link) && is_newer(link, false));
            links.extend(gone.map(|link| (link.clone(), false)));
        }
        Ok(links)
    }

    /// Returns whether the history `theirs` has an `unshare` that is unknown here, and the memory was not shared here later.
    fn is_unshared_since(&self, id: &str, theirs: &[MemoryEvent]) -> Result<bool, DatabaseError> {
        let Some(out) = theirs.iter().rfind(|change| change.action == "unshare") else { return Ok(false) };
        let ours = self.rows.history().list_history(id)?;
        Ok(!ours.iter().any(|change| change == out || change.action == "share" && change.at > out.at))
    }
}

/// Returns the time of the last change of a version, and the time of its last recall, unix ms. Of two versions, the one with the
/// larger value is newer.
fn version_recency(record: &MemoryRecord, history: &[MemoryEvent]) -> (i64, Option<i64>) {
    (record.updated.max(restored_at(history)), record.last_access)
}

/// Returns whether a link is among `links`.
fn has_link(links: &[MemoryLink], link: &MemoryLink) -> bool {
    links.iter().any(|other| is_same_link(link, other))
}

/// Returns whether two links are the same; a mutual link may be stored in either direction.
fn is_same_link(one: &MemoryLink, other: &MemoryLink) -> bool {
    let is_turned = one.kind.is_mutual() && one.from == other.to && one.to == other.from;
    one.kind == other.kind && (one.from == other.from && one.to == other.to || is_turned)
}

/// Returns the number of changes of a link that the history of one of its ends, the memory `end`, records.
fn count_link_changes(link: &MemoryLink, end: &str, history: &[MemoryEvent]) -> usize {
    let (relation, other) = match end == link.from {
        true => (link.kind.as_str(), &link.to),
        false => (link.kind.inverse_name(), &link.from),
    };
    let pairs = history.iter().filter_map(|change| change.fields.get(relation)?.as_array());
    pairs.filter(|pair| pair.iter().any(|end| end.as_str() == Some(other.as_str()))).count()
}
