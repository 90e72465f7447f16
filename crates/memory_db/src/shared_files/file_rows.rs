//! Records the memory row that each file of a worktree shows.
//!
//! It archives shared memories without a file, and restores them when a file comes back.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, params};

use super::super::memory_rows::{COLUMNS, read_record};
use super::super::{FileSide, MemoryEvent, MemoryRecord, MemoryRows};
use super::{FROM_FILE, FileRow, UnreadableFile, WorktreeRow};
use super::{FileHash, GONE, MainRow, add_remarks, version_id};

impl MemoryRows<'_> {
    /// Returns the number of a worktree by its git dir, from the common dir.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn worktree_number(&self, git_dir: &str) -> Result<i64, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("INSERT OR IGNORE INTO worktree(git_dir) VALUES(?1)")?.execute([git_dir])?;
            conn.prepare_cached("SELECT id FROM worktree WHERE git_dir = ?1")?
                .query_row([git_dir], |row| row.get(0))
        })
    }

    /// Returns the known worktrees.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_worktrees(&self) -> Result<Vec<WorktreeRow>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT id, git_dir, root, made_ns FROM worktree")?
                .query_map([], |row| {
                    Ok(WorktreeRow {
                        number: row.get(0)?,
                        git_dir: row.get(1)?,
                        root: row.get(2)?,
                        made_ns: row.get(3)?,
                    })
                })?
                .collect()
        })
    }

    /// Records the location of the request's worktree.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_worktree_location(&self, root: &str, made_ns: i64) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("UPDATE worktree SET root = ?1, made_ns = ?2 WHERE id = memod_worktree()")?
                .execute(params![root, made_ns])
                .map(drop)
        })
    }

    /// Forgets a worktree that is gone, and archives the memories that only it had; returns their ids.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget_worktree(&self, worktree: i64) -> Result<Vec<String>, DatabaseError> {
        let ids: Vec<String> = self.run(|conn| {
            conn.prepare_cached(
                "SELECT DISTINCT m.id FROM memory_file f JOIN memory v ON v.row = f.memory
                 JOIN memory m ON m.row = coalesce(v.main, v.row) WHERE f.worktree = ?1",
            )?
            .query_map([worktree], |row| row.get(0))?
            .collect()
        })?;
        let entered = self.current_worktree()?;
        self.enter_worktree(worktree);
        ids.iter().try_for_each(|id| self.note_conflict_of_gone(id))?;
        self.enter_worktree(entered);
        self.run(|conn| conn.execute("DELETE FROM worktree WHERE id = ?1", [worktree]).map(drop))?;
        let mut archived = Vec::new();
        for id in ids {
            let was_archived = self.main_row(&id)?.is_some_and(|main| main.is_archived);
            self.settle_shared(&id)?;
            if !was_archived && self.main_row(&id)?.is_some_and(|main| main.is_archived) {
                archived.push(id);
            }
        }
        self.delete_unshown_rows()?;
        Ok(archived)
    }

    /// Returns the first living memory with this prefix of an id that only other worktrees have, and the location of one of them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_in_other_worktree(&self, beginning: &str) -> Result<Option<(String, String)>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT m.id, coalesce(w.root, nullif(w.git_dir, ''), 'the main worktree') FROM memory m
                 CROSS JOIN memory v ON v.row = m.row OR v.main = m.row
                 CROSS JOIN memory_file f ON f.memory = v.row JOIN worktree w ON w.id = f.worktree
                 WHERE m.id >= ?1 AND m.id < ?1 || '~' AND m.main IS NULL AND m.shared = 1 AND m.archived_at IS NULL
                 ORDER BY m.id, w.id LIMIT 1",
            )?
            .query_row([beginning], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
        })
    }

    /// Returns the stored rows of the worktree's files, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_file_rows(&self) -> Result<Vec<FileRow>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT f.name, f.side, substr(m.id, 1, instr(m.id || '#', '#') - 1), f.hash, f.why,
                     k.row != m.row AND k.shared IN (0, 2)
                 FROM memory_file f LEFT JOIN memory m ON m.row = f.memory LEFT JOIN memory k ON k.row = coalesce(m.main, m.row)
                 WHERE f.worktree = memod_worktree() ORDER BY f.name, f.side",
            )?
            .query_map([], |row| {
                Ok(FileRow {
                    name: row.get(0)?,
                    side: FileSide::from_number(row.get(1)?),
                    id: row.get(2)?,
                    hash: row.get(3)?,
                    why: row.get(4)?,
                    is_beside_own: row.get::<_, Option<bool>>(5)?.unwrap_or_default(),
                })
            })?
            .collect()
        })
    }

    /// Returns why the file of a memory in the worktree shows no memory.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn why_file_hidden(&self, id: &str) -> Result<Option<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT why FROM memory_file WHERE worktree = memod_worktree() AND name = ?1 || '.md' AND why IS NOT NULL",
            )?
            .query_row([id], |row| row.get(0))
            .optional()
        })
    }

    /// Returns the files of all worktrees that are named after a memory, show none, and whose memory does not live; with `id`
    /// only those of that memory.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_unreadable_files(&self, id: Option<&str>) -> Result<Vec<UnreadableFile>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT f.name, f.why, w.root FROM memory_file f JOIN worktree w ON w.id = f.worktree
                 WHERE f.why IS NOT NULL AND f.name GLOB 'mem_*.md' AND coalesce(f.name = ?1 || '.md', 1)
                     AND NOT EXISTS (SELECT 1 FROM memory m WHERE m.id || '.md' = f.name AND m.archived_at IS NULL)
                 ORDER BY f.worktree != memod_worktree(), w.id, f.name",
            )?
            .query_map([id], |row| {
                Ok(UnreadableFile { name: row.get(0)?, why: row.get(1)?, root: row.get(2)? })
            })?
            .collect()
        })
    }

    /// Returns the number of the worktree's files that are in conflict, in git or with a private memory, and of those that show no
    /// memory.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn count_file_troubles(&self) -> Result<[u64; 2], DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT count(DISTINCT iif(side IN (1, 2), name, NULL)), count(why)
                 FROM memory_file WHERE worktree = memod_worktree() AND (side IN (1, 2) OR why IS NOT NULL)",
            )?
            .query_row([], |row| Ok([row.get(0)?, row.get(1)?]))
        })
    }

    pub(super) fn put_file_row(
        &self,
        name: &str,
        side: FileSide,
        row: Option<i64>,
        hash: &FileHash,
        why: Option<&str>,
    ) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "INSERT OR REPLACE INTO memory_file VALUES(memod_worktree(), ?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![name, side as i64, row, hash, why])
            .map(drop)
        })
    }

    /// Deletes the rows of a file; returns the ids of the memories that it showed.
    pub(super) fn delete_file_row(&self, name: &str) -> Result<Vec<String>, DatabaseError> {
        self.run(|conn| {
            let ids = conn
                .prepare_cached(
                    "SELECT DISTINCT m.id FROM memory_file f JOIN memory v ON v.row = f.memory
                     JOIN memory m ON m.row = coalesce(v.main, v.row)
                     WHERE f.worktree = memod_worktree() AND f.name = ?1",
                )?
                .query_map([name], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            conn.prepare_cached("DELETE FROM memory_file WHERE worktree = memod_worktree() AND name = ?1")?
                .execute([name])?;
            Ok(ids)
        })
    }

    /// Returns whether a file of another worktree shows a row.
    pub(super) fn is_shown_elsewhere(&self, row: i64) -> Result<bool, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM memory_file WHERE memory = ?1 AND worktree != memod_worktree()",
            )?
            .exists([row])
        })
    }

    /// Returns the id of this worktree's own version row of a memory; `None` if it has the main row, or nothing.
    pub(crate) fn own_version_id(&self, id: &str) -> Result<Option<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                // Usually there are no such rows; then no file row is read.
                "SELECT v.id FROM memory m CROSS JOIN memory v ON v.main = m.row CROSS JOIN memory_file f ON f.memory = v.row
                 WHERE m.id = ?1 AND f.worktree = memod_worktree() AND f.side < 2",
            )?
            .query_row([id], |row| row.get(0))
            .optional()
        })
    }

    /// Gives other worktrees version rows of their own before the main row changes.
    pub(crate) fn copy_for_other_worktrees(&self, id: &str) -> Result<(), DatabaseError> {
        let (Some(main), Some(forms)) = (self.main_row(id)?, self.forms) else { return Ok(()) };
        let others: Vec<(i64, i64)> = self.run(|conn| {
            conn.prepare_cached(
                "SELECT worktree, side FROM memory_file WHERE memory = ?1 AND worktree != memod_worktree()",
            )?
            .query_map([main.row], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
        })?;
        for (worktree, side) in others {
            let known = self.record_at(id)?;
            let row_id = version_id(id, worktree, FileSide::Whole);
            self.put_at(&row_id, &known, &(forms.derive)(&known), None)?;
            self.copy_version(main.row, self.row_of(&row_id)?)?;
            self.run(|conn| {
                conn.prepare_cached(
                    "UPDATE memory_file SET memory = (SELECT row FROM memory WHERE id = ?1)
                     WHERE +worktree = ?2 AND side = ?3 AND memory = ?4",
                )?
                .execute(params![row_id, worktree, side, main.row])
                .map(drop)
            })?;
        }
        Ok(())
    }

    /// Reads the row of an id as [`Self::record_at`], if there is one.
    pub(crate) fn find_record_at(&self, row_id: &str) -> Result<Option<MemoryRecord>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(&format!("SELECT {COLUMNS} FROM memory m WHERE m.id = ?1"))?
                .query_row([row_id], read_record)
                .optional()
        })
    }

    /// Reads the row of an id: the main row of a memory, or the version row of any worktree.
    pub(crate) fn record_at(&self, row_id: &str) -> Result<MemoryRecord, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(&format!("SELECT {COLUMNS} FROM memory m WHERE m.id = ?1"))?
                .query_row([row_id], read_record)
        })
    }

    /// Archives a shared memory that no worktree has any more, restores one that a worktree has again, and gives the main row
    /// the version of a worktree.
    pub(super) fn settle_shared(&self, id: &str) -> Result<(), DatabaseError> {
        let Some(MainRow { row, is_shared: true, is_archived, .. }) = self.main_row(id)? else {
            return Ok(());
        };
        let shown: Vec<(i64, String)> = self.run(|conn| {
            conn.prepare_cached(
                "SELECT DISTINCT v.row, v.id FROM memory v CROSS JOIN memory_file f ON f.memory = v.row
                 WHERE v.row = ?1 OR v.main = ?1 ORDER BY f.side, v.row",
            )?
            .query_map([row], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
        })?;
        match shown.first() {
            None if !is_archived => {
                let record = self.record_at(id)?;
                if let Some((updated, at)) = self.find_deletion(id)?
                    && !self.has_changed_since(&record, updated, at)?
                {
                    return self.delete_memories(&[record], &MemoryEvent::of_file(self.now_ms(), "purge")); // another database has deleted it
                }
                self.forget_switch_cycle(row)?;
                return self.set_archived(
                    &[self.record_at(id)?],
                    Some(GONE),
                    &MemoryEvent::of_file(self.now_ms(), "forget"),
                );
            }
            None => return Ok(()),
            Some(_) if shown.iter().any(|(shown, _)| *shown == row) => {}
            Some((version, at)) => self.promote_version(id, row, *version, at)?,
        }
        if is_archived {
            self.restore_memories(&[self.record_at(id)?], &MemoryEvent::of_file(self.now_ms(), "restore"))?;
        }
        Ok(())
    }

    /// Copies the version row of a worktree into the main row, and points its files at that.
    fn promote_version(&self, id: &str, main: i64, version: i64, row_id: &str) -> Result<(), DatabaseError> {
        let (known, new) = (self.record_at(id)?, self.record_at(row_id)?);
        let shown = MemoryRecord {
            archived_at: known.archived_at,
            archived_why: known.archived_why.clone(),
            updated: new.updated.max(known.updated + 1),
            ..new
        };
        // The former version, which no worktree has any more, goes into the history.
        let mut fields = self.diff_records(&known, &MemoryRecord { side: known.side, ..shown.clone() });
        add_remarks(&mut fields, self.remarks_at(id)?, self.remarks_at(row_id)?);
        let event = MemoryEvent {
            fields,
            source: FROM_FILE.to_owned(),
            ..MemoryEvent::of_daemon(self.now_ms(), "update")
        };
        self.put_at(id, &shown, &self.derive_data(&shown), (!event.fields.is_empty()).then_some(&event))?;
        self.copy_version(version, main)?;
        self.run(|conn| {
            conn.execute("UPDATE memory_file SET memory = ?1 WHERE memory = ?2", [main, version]).map(drop)
        })
    }

    /// Copies the columns about the file from one row to another.
    pub(super) fn copy_version(&self, from: i64, to: i64) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "UPDATE memory SET (version, file_links, remarks) =
                     (SELECT version, file_links, remarks FROM memory WHERE row = ?1)
                 WHERE row = ?2",
            )?
            .execute([from, to])
            .map(drop)
        })
    }

    /// Removes the last two changes of a history if a file was gone and came back in them, so that frequent switches of branches
    /// do not fill it.
    fn forget_switch_cycle(&self, row: i64) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "DELETE FROM history WHERE row IN (SELECT row FROM history WHERE memory = ?1 ORDER BY row DESC LIMIT 2)
                 AND 2 = (SELECT count(*) FROM (SELECT action, source, row_number() OVER (ORDER BY row DESC) n
                     FROM history WHERE memory = ?1 ORDER BY row DESC LIMIT 2)
                     WHERE source = ?2 AND action = iif(n = 1, 'restore', 'forget'))",
            )?
            .execute(params![row, FROM_FILE])
            .map(drop)
        })
    }

    /// Deletes rows of worktrees that no file shows.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_unshown_rows(&self) -> Result<(), DatabaseError> {
        const UNSHOWN: &str = "SELECT row FROM memory WHERE main IS NOT NULL AND shared != 3
             AND row NOT IN (SELECT memory FROM memory_file WHERE memory IS NOT NULL)";
        self.run(|conn| {
            conn.prepare_cached(&format!("DELETE FROM memory_fts WHERE rowid IN ({UNSHOWN})"))?.execute([])?;
            conn.prepare_cached(&format!("DELETE FROM memory WHERE row IN ({UNSHOWN})"))?
                .execute([])
                .map(drop)
        })
    }
}
