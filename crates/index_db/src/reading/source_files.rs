//! Lists the files of a worktree with the languages and sizes of their contents, and those that define a name.

use memod_base::types::{FileClass, WorktreeId};
use memod_database::DatabaseError;

use super::index_contents::class_from_kind;
use super::index_reader::IS_FILE;
use super::index_reader::IndexReader;

/// An indexed file, without its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceFile<'a> {
    /// Path relative to the root, with `/`.
    pub path: &'a str,
    /// Format name; `""` where unknown.
    pub lang: &'a str,
    /// Size in bytes.
    pub size: u64,
    /// The class that the text declares.
    pub class: Option<FileClass>,
}

impl IndexReader {
    /// Calls `visit` with each indexed file of a worktree, ordered by path.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_file(
        &self,
        view: WorktreeId,
        mut visit: impl FnMut(SourceFile<'_>),
    ) -> Result<(), DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(&format!(
                "SELECT e.path, b.lang, b.size, b.kind FROM entry e CROSS JOIN blob b ON b.id = e.blob_id
                 WHERE e.view_id = ?1 AND b.kind != 'opted-out' AND {IS_FILE} ORDER BY e.path"
            ))?;
            let mut rows = statement.query([view.0])?;
            while let Some(row) = rows.next()? {
                visit(SourceFile {
                    path: row.get_ref(0)?.as_str()?,
                    lang: row.get_ref(1)?.as_str()?,
                    size: row.get::<_, i64>(2)?.unsigned_abs(),
                    class: class_from_kind(row.get_ref(3)?.as_str()?),
                });
            }
            Ok(())
        })
    }

    /// Returns the paths of the files of a worktree that have no bytes, such as most `__init__.py`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_empty_files(&self, view: WorktreeId) -> Result<Vec<String>, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached("SELECT path FROM entry WHERE view_id = ?1 AND size = 0")?
                .query_map([view.0], |row| row.get(0))?
                .collect()
        })
    }

    /// Returns the files of a worktree that define a name, ignoring case, with their languages, ordered by path.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_files_defining(
        &self,
        view: WorktreeId,
        name: &str,
    ) -> Result<Vec<(String, String)>, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(
                "SELECT DISTINCT e.path, b.lang FROM symbol s
                 CROSS JOIN chunk c ON c.id = s.chunk_id
                 CROSS JOIN blob b ON b.id = c.blob_id
                 CROSS JOIN entry e ON e.blob_id = b.id AND e.view_id = ?1
                 WHERE s.name = ?2 ORDER BY e.path",
            )?
            .query_map((view.0, name), |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
        })
    }
}
