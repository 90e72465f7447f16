//! Reads definitions from index.db.

use rusqlite::{OptionalExtension, Row, params};

use super::{Reader, StoreError};
use crate::types::{Definition, SourceKey, TextHash, ViewId};

/// Columns in the order of [`definition`].
const COLUMNS: &str = "d.title, d.names, d.l0, d.l1, d.text, d.shape";

impl Reader {
    /// Returns the definitions of one file, in the order of its lines.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn definitions(&self, view: ViewId, key: &SourceKey) -> Result<Vec<Definition>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM entry e JOIN definition d ON d.blob_id = e.blob_id
                 WHERE e.view_id = ?1 AND e.path = ?2 ORDER BY d.l0, d.l1 DESC, d.title"
            ))?
            .query_map(params![view.0, key.as_str()], definition)?
            .collect()
        })
    }

    /// Returns one definition of a file by its qualified name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn definition(
        &self,
        view: ViewId,
        key: &SourceKey,
        title: &str,
    ) -> Result<Option<Definition>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM entry e JOIN definition d ON d.blob_id = e.blob_id
                 WHERE e.view_id = ?1 AND e.path = ?2 AND d.title = ?3"
            ))?
            .query_row(params![view.0, key.as_str(), title], definition)
            .optional()
        })
    }

    /// Returns the locations in a view of definitions with this text, by path.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn same_definition(
        &self,
        view: ViewId,
        text: &TextHash,
        at_most: usize,
    ) -> Result<Vec<(SourceKey, Definition)>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS}, e.path FROM definition d JOIN entry e ON e.blob_id = d.blob_id AND e.view_id = ?1
                 WHERE d.text = ?2 ORDER BY e.path, d.l0 LIMIT ?3"
            ))?
            .query_map(params![view.0, text.0, at_most as i64], |row| {
                Ok((SourceKey::new(row.get::<_, String>(6)?), definition(row)?))
            })?
            .collect()
        })
    }

    /// Returns the files of a view that hold these bytes, by path.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn same_content(
        &self,
        view: ViewId,
        hash: &[u8; 32],
        at_most: usize,
    ) -> Result<Vec<SourceKey>, StoreError> {
        self.run(|conn| {
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
    pub fn is_parsed_well(&self, view: ViewId, key: &SourceKey) -> Result<bool, StoreError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT 1 FROM entry e JOIN blob b ON b.id = e.blob_id
                 WHERE e.view_id = ?1 AND e.path = ?2 AND b.problems IS NULL AND b.kind = 'text'",
            )?
            .exists(params![view.0, key.as_str()])
        })
    }

    /// Calls `see` with each file of a view that defines something: path, hash, names used (`name count` a line).
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_map(
        &self,
        view: ViewId,
        mut see: impl FnMut(&str, [u8; 32], &str),
    ) -> Result<(), StoreError> {
        self.run(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT e.path, b.hash, coalesce(b.refs, '') FROM entry e
                 JOIN blob b ON b.id = e.blob_id JOIN chunk c ON c.blob_id = b.id AND c.ord = 0 AND c.kind = 'map'
                 WHERE e.view_id = ?1 ORDER BY e.path",
            )?;
            let mut rows = statement.query([view.0])?;
            while let Some(row) = rows.next()? {
                let text = |index| row.get_ref(index).map(|value| value.as_str().unwrap_or_default());
                see(text(0)?, row.get(1)?, text(2)?);
            }
            Ok(())
        })
    }

    /// Calls `see` with each definition of a view: path, name, first line; by path and line.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_symbol(&self, view: ViewId, mut see: impl FnMut(&str, &str, u32)) -> Result<(), StoreError> {
        self.run(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT e.path, c.symbol, c.l0 FROM entry e JOIN chunk c ON c.blob_id = e.blob_id
                 WHERE e.view_id = ?1 AND c.kind = 'symbol' ORDER BY e.path, c.ord",
            )?;
            let mut rows = statement.query([view.0])?;
            while let Some(row) = rows.next()? {
                let text = |index| row.get_ref(index).map(|value| value.as_str().unwrap_or_default());
                see(text(0)?, text(1)?, row.get(2)?);
            }
            Ok(())
        })
    }
}

fn definition(row: &Row<'_>) -> rusqlite::Result<Definition> {
    Ok(Definition {
        title: row.get(0)?,
        names: row.get(1)?,
        lines: (row.get(2)?, row.get(3)?),
        text: TextHash(row.get(4)?),
        shape: TextHash(row.get(5)?),
    })
}
