//! Keeps a memory that is this user's alone apart from a file, or a memory of the team, that has its id.
//!
//! Nothing from outside changes such a memory, and no verb on it changes the file. If the file's version is equal, the two are
//! one memory, which is shared from then on, unless this user has taken it out of the files: then this user's memory is shown
//! alone. A different version gets a row of its own, and both are shown as the two sides of a conflict until a person resolves
//! it. While this user's memory is archived there is no conflict: only the version of the file, or of the team, is shown.

use memod_database::DatabaseError;
use rusqlite::params;
use serde_json::{Map, json};

use super::super::file_columns::FileColumns;
use super::super::sharing::Sharing;
use super::super::write_rows::BESIDE;
use super::super::{FileSide, MemoryEvent, MemoryRecord, MemoryRows};
use super::{FROM_FILE, FileVersion};
use super::{OWN_AND_TWO_SIDES, add_remarks, version_id};

impl MemoryRows<'_> {
    /// Stores a file's version beside the private memory that has its id; returns the row. If the file had another version
    /// before, `change` goes into the history. [`Self::settle_own_memories`] decides which of the two is shown.
    pub(super) fn put_beside_own_memory(
        &self,
        record: &MemoryRecord,
        version: &FileVersion,
        change: MemoryEvent,
    ) -> Result<i64, DatabaseError> {
        let row_id = version_id(&record.id, self.current_worktree()?, FileSide::Whole);
        // An earlier version that was seen is in the history.
        let mut fields = Map::new();
        if let Some(known) = self.find_record_at(&row_id)? {
            fields = self.diff_records(&known, &with_local_fields(&known, record));
            add_remarks(&mut fields, self.remarks_at(&row_id)?, Some(version.remarks.clone()));
        }
        let event = (!fields.is_empty()).then_some(MemoryEvent { fields, ..change });
        self.put_version_row(&row_id, record, version, event.as_ref())?;
        self.row_of(&row_id)
    }

    /// Decides which rows are shown for each private memory that was written, or that has a version beside it which was
    /// written. Called at the end of each transaction.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn settle_own_memories(&self) -> Result<(), DatabaseError> {
        let (Some(_), Some(touched)) = (self.forms, &self.touched) else { return Ok(()) };
        let rows = json!(touched.get()).to_string();
        let ids: Vec<String> = self.run(|conn| {
            conn.prepare_cached(
                "SELECT m.id FROM json_each(?1) w CROSS JOIN memory v ON v.row = w.value
                     CROSS JOIN memory m ON m.row = v.main WHERE v.shared = 1 AND m.shared IN (0, 2)
                 UNION
                 SELECT m.id FROM json_each(?1) w CROSS JOIN memory v ON v.main = w.value
                     CROSS JOIN memory m ON m.row = v.main WHERE m.shared IN (0, 2)",
            )?
            .query_map([rows], |row| row.get(0))?
            .collect()
        })?;
        ids.iter().try_for_each(|id| self.settle_own_memory(id))
    }

    fn settle_own_memory(&self, id: &str) -> Result<(), DatabaseError> {
        let Some(main) = self.main_row(id)?.filter(super::MainRow::is_own) else { return Ok(()) };
        let own = self.record_at(id)?;
        self.hide_conflicted_files(main.row)?;
        let theirs = self.find_team_side(id)?;
        if theirs.is_some_and(|theirs| !main.is_archived && self.has_same_content(&own, &theirs)) {
            self.hide_team_side(id)?;
        }
        for (row, row_id) in self.list_file_versions(main.row)? {
            let is_same = self.has_same_content(&own, &self.record_at(&row_id)?);
            if is_same && !main.is_unshared {
                return self.adopt_file_version(id, &own, (row, &row_id));
            }
            let side = match (main.is_archived, is_same) {
                (true, _) => FileSide::Whole,
                (false, true) => FileSide::Same,
                (false, false) => FileSide::Theirs,
            };
            self.run(|conn| {
                conn.prepare_cached("UPDATE memory_file SET side = ?2 WHERE memory = ?1 AND side != ?2")?
                    .execute(params![row, side as i64])
            })?;
        }
        Ok(())
    }

    /// Hides files in conflict in git, in all worktrees, that have the id of a memory that has become this user's alone.
    fn hide_conflicted_files(&self, main: i64) -> Result<(), DatabaseError> {
        let n_hidden = self.run(|conn| {
            conn.prepare_cached(
                "INSERT OR REPLACE INTO memory_file SELECT f.worktree, f.name, 0, NULL, f.hash, ?2
                 FROM memory v CROSS JOIN memory_file f ON f.memory = v.row WHERE v.main = ?1
                 GROUP BY f.worktree, f.name HAVING count(*) > 1",
            )?
            .execute(params![main, OWN_AND_TWO_SIDES])?;
            conn.prepare_cached(
                "DELETE FROM memory_file WHERE memory IN (SELECT row FROM memory WHERE main = ?1)
                     AND (worktree, name) IN (SELECT worktree, name FROM memory_file WHERE memory IS NULL)",
            )?
            .execute([main])
        })?;
        if n_hidden > 0 { self.delete_unshown_rows() } else { Ok(()) }
    }

    /// Makes a memory of this user alone the main row of a file whose version is equal.
    fn adopt_file_version(
        &self,
        id: &str,
        own: &MemoryRecord,
        (version, row_id): (i64, &str),
    ) -> Result<(), DatabaseError> {
        let adopted = MemoryRecord {
            shared: true,
            expires_at: None,
            key: None,
            ..with_local_fields(own, &self.record_at(row_id)?)
        };
        self.set_shared(id, Sharing::Repo)?;
        self.put_at(id, &adopted, &self.derive_data(&adopted), None)?;
        self.point_file_to_main(id, version)?;
        if own.source != FROM_FILE {
            self.trust_memory(id)?;
        }
        self.settle_shared(id)?;
        self.delete_unshown_rows()
    }

    /// Points the file that shows a version at the main row, which has the same content now.
    fn point_file_to_main(&self, id: &str, version: i64) -> Result<(), DatabaseError> {
        let main = self.row_of(id)?;
        self.copy_version(version, main)?;
        self.run(|conn| {
            conn.execute("UPDATE memory_file SET memory = ?1, side = 0 WHERE memory = ?2", [main, version])
                .map(drop)
        })
    }

    /// Returns whether the worktree, or the team, has a different version of a memory of this user alone, so that both are shown.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_other_version(&self, id: &str) -> Result<bool, DatabaseError> {
        Ok(self.main_row(id)?.is_some_and(|main| main.is_own()) && self.record_at(id)?.side == FileSide::Ours)
    }

    /// Makes a private memory the main row of the worktree's file. Its text is still this user's; the caller decides next which
    /// version stays.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn share_conflicting(&self, id: &str) -> Result<(), DatabaseError> {
        let version = version_id(id, self.current_worktree()?, FileSide::Whole);
        self.set_shared(id, Sharing::Repo)?;
        self.point_file_to_main(id, self.row_of(&version)?)?;
        // Without a version, the row is not taken for the content of the file.
        self.run(|conn| conn.execute("UPDATE memory SET version = NULL WHERE id = ?1", [id]).map(drop))?;
        self.delete_unshown_rows()
    }

    /// Gives a memory of this user alone another id, with its history, links and recalls. Its former id then belongs to the
    /// versions of files and of the team.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn change_own_id(&self, id: &str, new_id: &str, event: &MemoryEvent) -> Result<(), DatabaseError> {
        let row = self.row_of(id)?;
        self.hide_team_side(id)?;
        let heir = self.detach_versions(row)?;
        self.run(|conn| {
            conn.execute("UPDATE memory SET id = ?2, updated = updated + 1 WHERE id = ?1", [id, new_id])
        })?;
        let fields = Map::from_iter([("id".to_owned(), json!([id, new_id]))]);
        self.note_change(new_id, &MemoryEvent { fields, ..event.clone() })?;
        if let Some(heir) = heir {
            self.inherit_id(id, heir)?;
        }
        self.reread_hidden_file(id)
    }

    /// Detaches the versions of files from this user's rows, which are about to be deleted; returns ids with the rows that
    /// inherit them.
    pub(crate) fn detach_files(&self, records: &[MemoryRecord]) -> Result<Vec<(String, i64)>, DatabaseError> {
        let mut heirs = Vec::new();
        for record in records {
            self.reread_hidden_file(&record.id)?;
            if let Some(main) = self.main_row(&record.id)?.filter(super::MainRow::is_own)
                && let Some(heir) = self.detach_versions(main.row)?
            {
                heirs.push((record.id.clone(), heir));
            }
        }
        Ok(heirs)
    }

    /// Detaches the versions of files from a main row; returns the version that becomes the new main row. Links from shared
    /// memories and the history of the files move to it.
    fn detach_versions(&self, main: i64) -> Result<Option<i64>, DatabaseError> {
        let Some(heir) = self.list_file_versions(main)?.first().map(|(row, _)| *row) else { return Ok(None) };
        self.run(|conn| {
            conn.execute(
                "UPDATE memory_file SET side = 0 WHERE memory IN (SELECT row FROM memory WHERE main = ?1)",
                [main],
            )?;
            conn.execute("UPDATE memory SET main = ?2 WHERE main = ?1 AND row != ?2", [main, heir])?;
            conn.execute("UPDATE memory SET main = NULL WHERE row = ?1", [heir])?;
            conn.execute(
                "UPDATE OR IGNORE link SET target = ?2
                 WHERE target = ?1 AND source IN (SELECT row FROM memory WHERE shared IN (1, 3))",
                [main, heir],
            )?;
            let sql = format!(
                "UPDATE history SET memory = ?2, fields = json_remove(fields, '$.{BESIDE}')
                 WHERE memory = ?1 AND fields ->> '$.{BESIDE}' IS NOT NULL"
            );
            conn.execute(&sql, [main, heir])
        })?;
        Ok(Some(heir))
    }

    /// Gives a detached row the id of the memory. Its history begins with an `add` from the file unless it has changes.
    pub(crate) fn inherit_id(&self, id: &str, heir: i64) -> Result<(), DatabaseError> {
        self.run(|conn| conn.execute("UPDATE memory SET id = ?2 WHERE row = ?1", params![heir, id]))?;
        if !self.list_history(id)?.is_empty() {
            return self.update_file_links();
        }
        let event = MemoryEvent {
            source: FROM_FILE.to_owned(),
            author: self.record_at(id)?.author,
            ..MemoryEvent::of_daemon(self.now_ms(), "add")
        };
        self.note_change(id, &event)?;
        self.update_file_links()
    }

    /// Ends the conflicts of a memory that is shared from now on: its versions are shown as those of their worktrees.
    pub(super) fn end_file_conflicts(&self, id: &str) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "UPDATE memory_file SET side = 0 WHERE side IN (2, 3) AND memory IN (
                     SELECT v.row FROM memory m CROSS JOIN memory v ON v.main = m.row WHERE m.id = ?1)
                 AND NOT EXISTS (SELECT 1 FROM memory_file o WHERE o.worktree = memory_file.worktree
                     AND o.name = memory_file.name AND o.side < 2)",
            )?
            .execute([id])
            .map(drop)
        })
    }

    /// Schedules another reading of a memory's hidden file, because the reason for hiding it may be gone.
    pub(super) fn reread_hidden_file(&self, id: &str) -> Result<(), DatabaseError> {
        let n_hidden = self.run(|conn| {
            conn.prepare_cached(
                "UPDATE memory_file SET hash = zeroblob(32) WHERE name = ?1 || '.md' AND why IS NOT NULL",
            )?
            .execute([id])
        })?;
        if n_hidden > 0 {
            self.set_reads_files_again();
        }
        Ok(())
    }

    /// Schedules another reading of the files that show the main row of a memory, whose content comes from another database now.
    pub(crate) fn reread_files(&self, id: &str, file: &FileColumns) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.execute(
                "UPDATE memory SET version = coalesce(?2, zeroblob(32)), file_links = ?3, linked = NULL, remarks = ?4
                 WHERE id = ?1",
                params![id, file.version, file.file_links, file.remarks],
            )?;
            conn.execute(
                "UPDATE memory_file SET hash = zeroblob(32) WHERE memory = (SELECT row FROM memory WHERE id = ?1)",
                [id],
            )
        })?;
        self.set_reads_files_again();
        Ok(())
    }

    /// Returns whether two records are equal in the fields that a file or the team stores. Line ends do not count.
    pub(crate) fn has_same_content(&self, known: &MemoryRecord, other: &MemoryRecord) -> bool {
        let [known, other] = [known, &with_local_fields(known, other)]
            .map(|record| MemoryRecord { content: record.content.replace("\r\n", "\n"), ..record.clone() });
        self.diff_records(&known, &other).is_empty()
    }

    /// Returns the rows of file versions beside a private memory, and their ids.
    fn list_file_versions(&self, main: i64) -> Result<Vec<(i64, String)>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT row, id FROM memory WHERE main = ?1 AND shared = 1 ORDER BY row")?
                .query_map([main], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
    }
}

/// Returns `new` with the fields of `known` that neither a file nor the team stores.
pub(crate) fn with_local_fields(known: &MemoryRecord, new: &MemoryRecord) -> MemoryRecord {
    MemoryRecord {
        id: known.id.clone(),
        team: known.team,
        shared: known.shared,
        repository: known.repository.clone(),
        is_unconfirmed: known.is_unconfirmed,
        side: known.side,
        source: known.source.clone(),
        key: known.key.clone(),
        expires_at: known.expires_at,
        last_access: known.last_access,
        access_count: known.access_count,
        archived_at: known.archived_at,
        archived_why: known.archived_why.clone(),
        ..new.clone()
    }
}
