//! Keeps a memory that is this user's alone apart from a file, or a memory of the team, that has its id.
//!
//! Nothing from outside changes such a memory, and no verb on it changes the file. What says the same is the same memory, and
//! from then on the file's, unless this user has taken it out of the files: then theirs is shown. What says something else gets a
//! row of its own, and both are shown, as the two sides of a conflict, until a person ends it. While this user's is in the
//! archive, there is nothing to decide: what the file, or the team, says is shown alone.

use memod_database::DatabaseError;
use rusqlite::params;
use serde_json::{Map, json};

use super::super::file_cells::FileCells;
use super::super::shared_with::Sharing;
use super::super::write::BESIDE;
use super::super::{MemoryEvent, Record, Rows, Side};
use super::{FROM_FILE, FileVersion};
use super::{OWN_AND_TWO_SIDES, add_remarks, version_id};

impl Rows<'_> {
    /// Stores what a file says beside the memory of this user alone that has its id; returns the row. If the file said something else
    /// before, `change` goes into the history. [`Self::settle_own`] decides which of the two is shown.
    pub(super) fn put_beside_own(
        &self,
        record: &Record,
        version: &FileVersion,
        change: MemoryEvent,
    ) -> Result<i64, DatabaseError> {
        let at = version_id(&record.id, self.worktree()?, Side::Whole);
        // An earlier version that was seen is in the history.
        let mut fields = Map::new();
        if let Some(known) = self.find_record_at(&at)? {
            fields = self.differences(&known, &said_of(&known, record));
            add_remarks(&mut fields, self.remarks_at(&at)?, Some(version.remarks.clone()));
        }
        let event = (!fields.is_empty()).then_some(MemoryEvent { fields, ..change });
        self.put_file_row(&at, record, version, event.as_ref())?;
        self.row_of(&at)
    }

    /// Decides for each memory of this user alone that was written, or stands beside what was, which rows are shown. Each
    /// transaction ends with it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn settle_own(&self) -> Result<(), DatabaseError> {
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
        ids.iter().try_for_each(|id| self.settle_one_own(id))
    }

    fn settle_one_own(&self, id: &str) -> Result<(), DatabaseError> {
        let Some(main) = self.main(id)?.filter(super::Main::is_own) else { return Ok(()) };
        let own = self.record_at(id)?;
        self.hide_two_sides(main.row)?;
        let theirs = self.theirs_of_team(id)?;
        if theirs.is_some_and(|theirs| !main.is_archived && self.says_same(&own, &theirs)) {
            self.hide_theirs(id)?;
        }
        for (row, at) in self.versions_beside(main.row)? {
            let is_same = self.says_same(&own, &self.record_at(&at)?);
            if is_same && !main.is_unshared {
                return self.adopt(id, &own, (row, &at));
            }
            let side = match (main.is_archived, is_same) {
                (true, _) => Side::Whole,
                (false, true) => Side::Same,
                (false, false) => Side::Theirs,
            };
            self.run(|conn| {
                conn.prepare_cached("UPDATE memory_file SET side = ?2 WHERE memory = ?1 AND side != ?2")?
                    .execute(params![row, side as i64])
            })?;
        }
        Ok(())
    }

    /// Has files that are in conflict in git show nothing beside a memory that has become this user's alone, in whichever worktree.
    fn hide_two_sides(&self, main: i64) -> Result<(), DatabaseError> {
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
        if n_hidden > 0 { self.drop_unshown() } else { Ok(()) }
    }

    /// Makes a memory of this user alone the one that a file has, which says the same.
    fn adopt(&self, id: &str, own: &Record, (version, at): (i64, &str)) -> Result<(), DatabaseError> {
        let said = Record { shared: true, expires_at: None, key: None, ..said_of(own, &self.record_at(at)?) };
        self.set_shared(id, Sharing::Repo)?;
        self.put_at(id, &said, &self.derived(&said), None)?;
        self.show_main(id, version)?;
        if own.source != FROM_FILE {
            self.trust(id)?;
        }
        self.settle(id)?;
        self.drop_unshown()
    }

    /// Lets the file that shows a version show the main row, which has become what that says.
    fn show_main(&self, id: &str, version: i64) -> Result<(), DatabaseError> {
        let main = self.row_of(id)?;
        self.copy_version(version, main)?;
        self.run(|conn| {
            conn.execute("UPDATE memory_file SET memory = ?1, side = 0 WHERE memory = ?2", [main, version])
                .map(drop)
        })
    }

    /// Returns whether the worktree, or the team, says something else of a memory of this user alone, so that both are shown.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_disputed(&self, id: &str) -> Result<bool, DatabaseError> {
        Ok(self.main(id)?.is_some_and(|main| main.is_own()) && self.record_at(id)?.side == Side::Ours)
    }

    /// Makes a memory of this user alone a shared one, whose file the worktree has. Its text is still this user's: who calls this
    /// decides next what holds.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn share_disputed(&self, id: &str) -> Result<(), DatabaseError> {
        let version = version_id(id, self.worktree()?, Side::Whole);
        self.set_shared(id, Sharing::Repo)?;
        self.show_main(id, self.row_of(&version)?)?;
        // So the row is not taken for what the file says.
        self.run(|conn| conn.execute("UPDATE memory SET version = NULL WHERE id = ?1", [id]).map(drop))?;
        self.drop_unshown()
    }

    /// Gives a memory of this user alone another id, with its history, links and recalls; its former id is then what files and the
    /// team say of it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn move_own_to(&self, id: &str, new_id: &str, event: &MemoryEvent) -> Result<(), DatabaseError> {
        let row = self.row_of(id)?;
        self.hide_theirs(id)?;
        let heir = self.detach_versions(row)?;
        self.run(|conn| {
            conn.execute("UPDATE memory SET id = ?2, updated = updated + 1 WHERE id = ?1", [id, new_id])
        })?;
        let fields = Map::from_iter([("id".to_owned(), json!([id, new_id]))]);
        self.note_change(new_id, &MemoryEvent { fields, ..event.clone() })?;
        if let Some(heir) = heir {
            self.inherit_id(id, heir)?;
        }
        self.read_hidden_again(id)
    }

    /// Makes what files say of memories independent of the rows of this user, which are going to be deleted; returns ids with the
    /// rows that are to have them.
    pub(crate) fn detach_files(&self, records: &[Record]) -> Result<Vec<(String, i64)>, DatabaseError> {
        let mut heirs = Vec::new();
        for record in records {
            self.read_hidden_again(&record.id)?;
            if let Some(main) = self.main(&record.id)?.filter(super::Main::is_own)
                && let Some(heir) = self.detach_versions(main.row)?
            {
                heirs.push((record.id.clone(), heir));
            }
        }
        Ok(heirs)
    }

    /// Makes what files say beside a row independent of it; returns the row that is to be the main one. Links from what is shared
    /// go to that, and the changes of what files said.
    fn detach_versions(&self, main: i64) -> Result<Option<i64>, DatabaseError> {
        let Some(heir) = self.versions_beside(main)?.first().map(|(row, _)| *row) else { return Ok(None) };
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

    /// Gives a detached row the id of the memory, as one that came with a file; its history begins with that unless it has changes.
    pub(crate) fn inherit_id(&self, id: &str, heir: i64) -> Result<(), DatabaseError> {
        self.run(|conn| conn.execute("UPDATE memory SET id = ?2 WHERE row = ?1", params![heir, id]))?;
        if !self.history(id)?.is_empty() {
            return self.link_files();
        }
        let event = MemoryEvent {
            source: FROM_FILE.to_owned(),
            author: self.record_at(id)?.author,
            ..MemoryEvent::of_daemon(self.now_ms(), "add")
        };
        self.note_change(id, &event)?;
        self.link_files()
    }

    /// Has versions of a memory that is shared from now on shown as what worktrees have of it.
    pub(super) fn end_disputes(&self, id: &str) -> Result<(), DatabaseError> {
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

    /// Has a file of a memory that shows nothing read again, because what stood in its way may be gone.
    pub(super) fn read_hidden_again(&self, id: &str) -> Result<(), DatabaseError> {
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

    /// Has the files that show the main row of a memory read again: another database has given that row what was in its file there.
    pub(crate) fn read_again(&self, id: &str, file: &FileCells) -> Result<(), DatabaseError> {
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

    /// Returns whether two records say the same, as far as a file or the team can say it. Line ends do not count.
    pub(crate) fn says_same(&self, known: &Record, other: &Record) -> bool {
        let [known, other] = [known, &said_of(known, other)]
            .map(|record| Record { content: record.content.replace("\r\n", "\n"), ..record.clone() });
        self.differences(&known, &other).is_empty()
    }

    /// Returns the rows of what files say beside a memory, and their ids.
    fn versions_beside(&self, main: i64) -> Result<Vec<(i64, String)>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT row, id FROM memory WHERE main = ?1 AND shared = 1 ORDER BY row")?
                .query_map([main], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
    }
}

/// Returns a record as `new` says it, with what neither a file nor the team says of it as it is known.
pub(crate) fn said_of(known: &Record, new: &Record) -> Record {
    Record {
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
