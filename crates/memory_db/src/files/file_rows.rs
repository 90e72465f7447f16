//! Records the memory row that each file of a worktree shows.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, params};

use crate::access::row_access::row_handle;
use crate::memory_tables::version_rows::VersionRows;
use crate::records::file_version::{FileColumns, FileHash, MemoriesInFile, MemoryFileSnapshot};
use crate::records::memory_record::FileSide;
use crate::records::record_columns::ID_OF_MEMORY;

/// Why a file in conflict shows no memory: with a private memory of the same id, a person would have to choose between three texts.
pub(crate) const OWN_AND_TWO_SIDES: &str = "in conflict in git, and a private memory of yours has the same id: resolve the conflict in git first, with git or an editor";

row_handle! {
    /// Memory files of worktrees, and the rows that the files show.
    pub struct FileRows { versions: VersionRows }
}

/// A stored row about a file of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// Name of the file.
    pub name: String,
    /// The side of the file that this row is about; [`FileSide::Whole`] for a file that is not in conflict.
    pub side: FileSide,
    /// Id of the memory that the file shows; `None` if it shows no memory.
    pub id: Option<String>,
    /// blake3 of the file's text with LF.
    pub hash: FileHash,
    /// Why the file shows no memory; `None` if it shows one.
    pub why: Option<String>,
    /// Whether a private memory has the same id.
    pub is_beside_own: bool,
}

/// A file that is named after a memory, but shows no memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableFile {
    /// Name of the file.
    pub name: String,
    /// Why the file shows no memory.
    pub why: String,
    /// The top of the file's worktree; `None` if it is not stored.
    pub root: Option<String>,
}

impl FileRows<'_> {
    /// Returns the stored rows of the worktree's files, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_file_rows(&self) -> Result<Vec<FileRow>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT f.name, f.side, {ID_OF_MEMORY}, f.hash, f.why,
                     k.row != m.row AND k.shared IN (0, 2)
                 FROM memory_file f LEFT JOIN memory m ON m.row = f.memory LEFT JOIN memory k ON k.row = coalesce(m.main, m.row)
                 WHERE f.worktree = memod_worktree() ORDER BY f.name, f.side"
            ))?
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

    /// Returns why the worktree's file that is named after a memory shows no memory; `None` if the file shows one or does not
    /// exist.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn why_file_hidden(&self, id: &str) -> Result<Option<String>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT why FROM memory_file WHERE worktree = memod_worktree() AND name = ?1 || '.md' AND why IS NOT NULL",
            )?
            .query_row([id], |row| row.get(0))
            .optional()
        })
    }

    /// Returns the files of all worktrees that are named after a memory, but show no memory, and whose memory is not living. With
    /// `id`, returns only the files named after this memory.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_unreadable_files(&self, id: Option<&str>) -> Result<Vec<UnreadableFile>, DatabaseError> {
        self.access.run(|conn| {
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

    /// Returns two numbers of the worktree's files: those in conflict, in git or with a private memory, and those that show no
    /// memory.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn count_conflicted_and_hidden(&self) -> Result<[u64; 2], DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT count(DISTINCT iif(side IN (1, 2), name, NULL)), count(why)
                 FROM memory_file WHERE worktree = memod_worktree() AND (side IN (1, 2) OR why IS NOT NULL)",
            )?
            .query_row([], |row| Ok([row.get(0)?, row.get(1)?]))
        })
    }

    /// Stores the row about one side of a worktree's file: the number of the row that it shows, its hash, and why it shows none.
    pub(crate) fn put_file_row(
        &self,
        name: &str,
        side: FileSide,
        row: Option<i64>,
        hash: &FileHash,
        why: Option<&str>,
    ) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "INSERT OR REPLACE INTO memory_file VALUES(memod_worktree(), ?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![name, side as i64, row, hash, why])
            .map(drop)
        })
    }

    /// Deletes the rows about a file of the worktree; returns the ids of the memories that the file showed.
    pub(crate) fn delete_rows_of_file(&self, name: &str) -> Result<Vec<String>, DatabaseError> {
        self.access.run(|conn| {
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

    /// Returns whether a file of another worktree shows a row of `memory`.
    pub(crate) fn is_shown_elsewhere(&self, row: i64) -> Result<bool, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM memory_file WHERE memory = ?1 AND worktree != memod_worktree()",
            )?
            .exists([row])
        })
    }

    /// Returns whether a file of any worktree shows a memory, given the number of its main row.
    pub(crate) fn is_shown_by_file(&self, main: i64) -> Result<bool, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM memory v CROSS JOIN memory_file f ON f.memory = v.row WHERE v.row = ?1 OR v.main = ?1",
            )?
            .exists([main])
        })
    }

    /// Deletes the rows about the file of a memory in the worktree, not the file itself.
    pub(crate) fn delete_file_rows_of_memory(&self, id: &str) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                // With `+`, SQLite uses the index on `memory` instead of reading all files of the worktree.
                "DELETE FROM memory_file WHERE +worktree = memod_worktree() AND memory IN (
                     SELECT row FROM memory WHERE id = ?1
                     UNION ALL SELECT v.row FROM memory m CROSS JOIN memory v ON v.main = m.row WHERE m.id = ?1)",
            )?
            .execute([id])
            .map(drop)
        })
    }

    /// Deletes the version rows that no file shows any more.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn delete_unshown_rows(&self) -> Result<(), DatabaseError> {
        const UNSHOWN: &str = "SELECT row FROM memory WHERE main IS NOT NULL AND shared != 3
             AND row NOT IN (SELECT memory FROM memory_file WHERE memory IS NOT NULL)";
        self.access.run(|conn| {
            conn.prepare_cached(&format!("DELETE FROM memory_fts WHERE rowid IN ({UNSHOWN})"))?.execute([])?;
            conn.prepare_cached(&format!("DELETE FROM memory WHERE row IN ({UNSHOWN})"))?
                .execute([])
                .map(drop)
        })
    }

    /// Returns whether the remarks of a file of the worktree are not stored, because an older memod has read the file.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn lacks_remarks(&self) -> Result<bool, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM memory_file f JOIN memory m ON m.row = f.memory
                 WHERE f.worktree = memod_worktree() AND m.version IS NOT NULL AND m.remarks IS NULL",
            )?
            .exists([])
        })
    }

    /// Stores the remarks of files whose rows lack remarks but are otherwise up to date.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn fill_in_remarks(&self, files: &[MemoryFileSnapshot]) -> Result<(), DatabaseError> {
        for file in files {
            let MemoriesInFile::Versions(versions) = &file.memories else { continue };
            for version in versions {
                self.access.run(|conn| {
                    conn.prepare_cached(
                        "UPDATE memory SET remarks = ?4 WHERE remarks IS NULL AND version = ?3 AND row IN (
                             SELECT memory FROM memory_file WHERE worktree = memod_worktree() AND name = ?1 AND hash = ?2)",
                    )?
                    .execute(params![file.name, file.hash, version.hash, version.remarks])
                })?;
            }
        }
        Ok(())
    }

    /// Ends the conflicts of a memory with files, because the memory is shared from now on: each worktree shows its own version.
    pub(crate) fn end_file_conflicts(&self, id: &str) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
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

    /// Makes the files that are named after a memory, but show no memory, be read again, because the reason may be gone.
    pub(crate) fn request_hidden_file_reread(&self, id: &str) -> Result<(), DatabaseError> {
        let n_hidden = self.access.run(|conn| {
            conn.prepare_cached(
                "UPDATE memory_file SET hash = zeroblob(32) WHERE name = ?1 || '.md' AND why IS NOT NULL",
            )?
            .execute([id])
        })?;
        if n_hidden > 0 {
            self.access.request_file_reread();
        }
        Ok(())
    }

    /// Makes the files that show the main row of a memory be read again, because the row now has content from another database.
    /// `file` describes the file of that content.
    pub(crate) fn replace_file_columns(&self, id: &str, file: &FileColumns) -> Result<(), DatabaseError> {
        self.access.run(|conn| {
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
        self.access.request_file_reread();
        Ok(())
    }

    /// Makes the files in conflict in git that have the id of a newly private memory show no memory, in all worktrees.
    pub(crate) fn hide_conflicted_files(&self, main: i64) -> Result<(), DatabaseError> {
        let n_hidden = self.access.run(|conn| {
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

    /// Makes the files that show a version row show the main row of the memory, which now has the same content.
    pub(crate) fn point_file_to_main(&self, id: &str, version: i64) -> Result<(), DatabaseError> {
        let main = self.versions().find_row_number(id)?;
        self.versions().copy_file_columns(version, main)?;
        self.access.run(|conn| {
            conn.execute("UPDATE memory_file SET memory = ?1, side = 0 WHERE memory = ?2", [main, version])
                .map(drop)
        })
    }
}
