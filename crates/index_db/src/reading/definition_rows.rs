//! Reads definitions from index.db.

use memod_base::types::{
    ChunkId, Definition, FileClass, FileStructure, HttpRoute, SourceKey, TextHash, WorktreeId,
};
use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, Row, params};

use super::index_contents::class_from_kind;
use super::index_reader::IndexReader;

/// The columns that [`read_definition`] reads, in its order.
const COLUMNS: &str = "d.title, d.names, d.l0, d.l1, d.text, d.shape, d.is_field, d.n_overloads";

/// The headings from the top down to a section, joined by ` > `, and its first and last line.
type DocumentSection = (String, (u32, u32));

impl IndexReader {
    /// Returns the definitions of one file, in the order of its lines.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_definitions(
        &self,
        view: WorktreeId,
        key: &SourceKey,
    ) -> Result<Vec<Definition>, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM entry e JOIN definition d ON d.blob_id = e.blob_id
                 WHERE e.view_id = ?1 AND e.path = ?2 ORDER BY d.l0, d.l1 DESC, d.title"
            ))?
            .query_map(params![view.0, key.as_str()], read_definition)?
            .collect()
        })
    }

    /// Returns the sections of a document, in the order of its lines. A long section has several entries.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_sections(
        &self,
        view: WorktreeId,
        key: &SourceKey,
    ) -> Result<Vec<DocumentSection>, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(
                "SELECT c.title, c.l0, c.l1 FROM entry e JOIN chunk c ON c.blob_id = e.blob_id
                 WHERE e.view_id = ?1 AND e.path = ?2 AND c.kind = 'doc' AND c.title IS NOT NULL ORDER BY c.l0, c.ord",
            )?
            .query_map(params![view.0, key.as_str()], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
            .collect()
        })
    }

    /// Returns one definition of a file by its qualified name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_definition(
        &self,
        view: WorktreeId,
        key: &SourceKey,
        title: &str,
    ) -> Result<Option<Definition>, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM entry e JOIN definition d ON d.blob_id = e.blob_id
                 WHERE e.view_id = ?1 AND e.path = ?2 AND d.title = ?3"
            ))?
            .query_row(params![view.0, key.as_str(), title], read_definition)
            .optional()
        })
    }

    /// Returns the definitions of a worktree with this text, each with its file, ordered by path; at most `at_most`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_definitions_by_text(
        &self,
        view: WorktreeId,
        text: &TextHash,
        at_most: usize,
    ) -> Result<Vec<(SourceKey, Definition)>, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS}, e.path FROM definition d JOIN entry e ON e.blob_id = d.blob_id AND e.view_id = ?1
                 WHERE d.text = ?2 ORDER BY e.path, d.l0 LIMIT ?3"
            ))?
            .query_map(params![view.0, text.0, at_most as i64], |row| {
                Ok((SourceKey::new(row.get::<_, String>(8)?), read_definition(row)?))
            })?
            .collect()
        })
    }

    /// Returns the files of a worktree whose bytes have this hash, ordered by path; at most `at_most`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn find_files_by_hash(
        &self,
        view: WorktreeId,
        hash: &[u8; 32],
        at_most: usize,
    ) -> Result<Vec<SourceKey>, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(
                "SELECT e.path FROM blob b JOIN entry e ON e.blob_id = b.id AND e.view_id = ?1
                 WHERE b.hash = ?2 ORDER BY e.path LIMIT ?3",
            )?
            .query_map(params![view.0, hash, at_most as i64], |row| {
                Ok(SourceKey::new(row.get::<_, String>(0)?))
            })?
            .collect()
        })
    }

    /// Returns whether a file was parsed without problems, so that all of its definitions are known.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_fully_parsed(&self, view: WorktreeId, key: &SourceKey) -> Result<bool, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM entry e JOIN blob b ON b.id = e.blob_id
                 WHERE e.view_id = ?1 AND e.path = ?2 AND b.problems IS NULL AND b.kind IN ('text', 'generated', 'licence')",
            )?
            .exists(params![view.0, key.as_str()])
        })
    }

    /// Calls `visit` with each file of a worktree that has definitions, ordered by path: path, hash, chunk of the map record, which
    /// identifies the extraction, and class.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_map_record(
        &self,
        view: WorktreeId,
        mut visit: impl FnMut(String, [u8; 32], ChunkId, Option<FileClass>),
    ) -> Result<(), DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT e.path, b.hash, c.id, b.kind FROM entry e
                 JOIN blob b ON b.id = e.blob_id JOIN chunk c ON c.blob_id = b.id AND c.ord = 0 AND c.kind = 'map'
                 WHERE e.view_id = ?1 ORDER BY e.path",
            )?;
            let mut rows = statement.query([view.0])?;
            while let Some(row) = rows.next()? {
                let class = class_from_kind(row.get_ref(3)?.as_str()?);
                visit(row.get(0)?, row.get(1)?, ChunkId(row.get(2)?), class);
            }
            Ok(())
        })
    }

    /// Returns the names that a content uses, one `name count` per line, given the chunk of its map record.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn read_uses(&self, map: ChunkId) -> Result<String, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(
                "SELECT coalesce(b.refs, '') FROM chunk c JOIN blob b ON b.id = c.blob_id WHERE c.id = ?1",
            )?
            .query_row([map.0], |row| row.get(0))
        })
    }

    /// Returns the declarations, imports and uses of a file; `None` where they are unknown.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn read_structure(
        &self,
        view: WorktreeId,
        key: &SourceKey,
    ) -> Result<Option<FileStructure>, DatabaseError> {
        let data: Option<Vec<u8>> = self.run_query(|conn| {
            conn.prepare_cached(
                "SELECT s.data FROM entry e JOIN structure s ON s.blob_id = e.blob_id
                 WHERE e.view_id = ?1 AND e.path = ?2",
            )?
            .query_row(params![view.0, key.as_str()], |row| row.get(0))
            .optional()
        })?;
        Ok(data.and_then(|data| FileStructure::from_bytes(&data)))
    }

    /// Returns the declarations, imports and uses of a content; `None` where they are unknown. `map` is the chunk of the content's map
    /// record.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn read_content_structure(&self, map: ChunkId) -> Result<Option<FileStructure>, DatabaseError> {
        let data: Option<Vec<u8>> = self.run_query(|conn| {
            conn.prepare_cached(
                "SELECT s.data FROM chunk c JOIN structure s ON s.blob_id = c.blob_id WHERE c.id = ?1",
            )?
            .query_row([map.0], |row| row.get(0))
            .optional()
        })?;
        Ok(data.and_then(|data| FileStructure::from_bytes(&data)))
    }

    /// Returns why the definitions and uses of a content are unknown although its text is indexed; `None` if the content was read by
    /// structure, or has nothing to read. `first` is the first chunk of the content.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn why_read_as_text(&self, first: ChunkId) -> Result<Option<String>, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT b.kind, b.problems FROM chunk c JOIN blob b ON b.id = c.blob_id
                 WHERE c.id = ?1 AND NOT EXISTS (SELECT 1 FROM structure s WHERE s.blob_id = b.id)",
            )?;
            let found: Option<(String, Option<String>)> =
                statement.query_row([first.0], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
            Ok(found.and_then(|(kind, problems)| match kind.as_str() {
                "minified" => Some("a line has over 10,000 bytes".to_owned()),
                _ => problems.and_then(|problems| problems.lines().next().map(str::to_owned)),
            }))
        })
    }

    /// Returns the HTTP routes that files of a worktree declare, ordered by path and line.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_routes(&self, view: WorktreeId) -> Result<Vec<(SourceKey, HttpRoute)>, DatabaseError> {
        let files: Vec<(String, String)> = self.run_query(|conn| {
            conn.prepare_cached(
                "SELECT e.path, b.routes FROM blob b INDEXED BY blob_with_routes
                 CROSS JOIN entry e ON e.blob_id = b.id AND e.view_id = ?1
                 WHERE b.routes IS NOT NULL ORDER BY e.path",
            )?
            .query_map([view.0], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
        })?;
        let mut found = Vec::new();
        for (path, routes) in files {
            let key = SourceKey::new(path);
            found.extend(routes.lines().filter_map(parse_route).map(|route| (key.clone(), route)));
        }
        Ok(found)
    }

    /// Calls `visit` with each definition of a content, in the order of lines: names joined by spaces, qualified name, and first
    /// line. `map` is the chunk of the content's map record.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_definition(
        &self,
        map: ChunkId,
        mut visit: impl FnMut(&str, &str, u32),
    ) -> Result<(), DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT c.symbol, coalesce(c.title, ''), c.l0 FROM chunk m JOIN chunk c ON c.blob_id = m.blob_id
                 WHERE m.id = ?1 AND c.kind = 'symbol' ORDER BY c.ord",
            )?;
            let mut rows = statement.query([map.0])?;
            while let Some(row) = rows.next()? {
                let text = |column| row.get_ref(column).map(|text| text.as_str().unwrap_or_default());
                visit(text(0)?, text(1)?, row.get(2)?);
            }
            Ok(())
        })
    }
}

fn parse_route(line: &str) -> Option<HttpRoute> {
    let mut parts = line.splitn(3, ' ');
    let (line, method, path) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
    Some(HttpRoute { method: method.to_owned(), path: path.to_owned(), line })
}

fn read_definition(row: &Row<'_>) -> rusqlite::Result<Definition> {
    Ok(Definition {
        title: row.get(0)?,
        names: row.get(1)?,
        lines: (row.get(2)?, row.get(3)?),
        text: TextHash(row.get(4)?),
        shape: TextHash(row.get(5)?),
        is_field: row.get(6)?,
        n_overloads: row.get(7)?,
    })
}
