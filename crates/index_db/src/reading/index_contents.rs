//! Reads the contents of a worktree, and the chunks of each.

use std::sync::Arc;

use memod_base::types::{ChunkId, ChunkKind, FileClass, SourceKey, WordPieces, WorktreeId};
use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, Row, params};

use super::index_reader::IndexReader;

/// A content that is indexed, without its text.
#[derive(Debug, Default)]
pub struct IndexedContent {
    /// blake3 of the content's bytes.
    pub hash: [u8; 32],
    /// Format name; `""` where unknown.
    pub lang: String,
    /// The class that the text declares.
    pub class: Option<FileClass>,
    /// Chunks of the content, in order.
    pub chunks: Vec<ChunkSummary>,
}

/// A chunk of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkSummary {
    /// Id of the chunk.
    pub id: ChunkId,
    /// Kind of source.
    pub kind: ChunkKind,
    /// Number of words in the names, title and body of the chunk.
    pub n_words: u32,
}

/// The location of a chunk in its content, and its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkLocation {
    /// Byte span, half-open.
    pub bytes: (usize, usize),
    /// Lines, 1-based, inclusive.
    pub lines: (u32, u32),
    /// Names defined, joined by spaces.
    pub symbol: Option<Arc<str>>,
    /// Heading path or qualified name.
    pub title: Option<Arc<str>>,
}

impl IndexReader {
    /// Calls `visit` with each indexed path of a worktree, in order, and the first chunk of its content. That chunk identifies the
    /// content and its extraction: a content that is extracted again gets new chunks.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn each_path(
        &self,
        view: WorktreeId,
        mut visit: impl FnMut(&str, ChunkId),
    ) -> Result<(), DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT e.path, c.id FROM entry e CROSS JOIN chunk c ON c.blob_id = e.blob_id AND c.ord = 0
                 WHERE e.view_id = ?1 ORDER BY e.path",
            )?;
            let mut rows = statement.query([view.0])?;
            while let Some(row) = rows.next()? {
                visit(row.get_ref(0)?.as_str()?, ChunkId(row.get(1)?));
            }
            Ok(())
        })
    }

    /// Returns the first chunk of the content at a path of a worktree; `None` if the path has no content or the content no chunk.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn first_chunk(&self, view: WorktreeId, key: &SourceKey) -> Result<Option<ChunkId>, DatabaseError> {
        self.run_query(|conn| {
            conn.prepare_cached(
                "SELECT c.id FROM entry e CROSS JOIN chunk c ON c.blob_id = e.blob_id AND c.ord = 0
                 WHERE e.view_id = ?1 AND e.path = ?2",
            )?
            .query_row(params![view.0, key.as_str()], |row| row.get(0).map(ChunkId))
            .optional()
        })
    }

    /// Returns the content whose first chunk is `first`; an empty one if that chunk is gone.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn read_content(&self, first: ChunkId) -> Result<IndexedContent, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT b.hash, b.lang, c.id, c.kind, c.n_words, b.kind FROM chunk f
                 CROSS JOIN blob b ON b.id = f.blob_id
                 CROSS JOIN chunk c ON c.blob_id = b.id
                 WHERE f.id = ?1 ORDER BY c.ord",
            )?;
            let mut rows = statement.query([first.0])?;
            let mut content = IndexedContent::default();
            while let Some(row) = rows.next()? {
                if content.chunks.is_empty() {
                    (content.hash, content.lang) = (row.get(0)?, row.get(1)?);
                    content.class = class_from_kind(row.get_ref(5)?.as_str()?);
                }
                content.chunks.push(ChunkSummary {
                    id: ChunkId(row.get(2)?),
                    kind: ChunkKind::parse(row.get_ref(3)?.as_str()?).unwrap_or(ChunkKind::Text),
                    n_words: row.get(4)?,
                });
            }
            Ok(content)
        })
    }

    /// Returns how many contents were extracted again so far: their chunks are new, although no worktree has changed.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn n_extracted_again(&self) -> Result<u64, DatabaseError> {
        self.run_query(|conn| {
            let sql = "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'n_replaced'";
            let n_replaced = conn.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
            Ok(n_replaced.unwrap_or(0))
        })
    }

    /// Returns the location of a chunk; `None` if the chunk is gone.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn chunk_location(&self, chunk: ChunkId) -> Result<Option<ChunkLocation>, DatabaseError> {
        self.run_query(|conn| {
            let mut statement =
                conn.prepare_cached("SELECT b0, b1, l0, l1, symbol, title FROM chunk WHERE id = ?1")?;
            statement.query_row([chunk.0], read_location).optional()
        })
    }
}

impl IndexReader {
    /// Returns the word pieces of a chunk; none if the chunk is gone.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn chunk_pieces(&self, chunk: ChunkId) -> Result<WordPieces, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached("SELECT pieces FROM chunk_pieces WHERE chunk_id = ?1")?;
            let pieces = statement
                .query_row([chunk.0], |row| Ok(WordPieces::from_bytes(row.get_ref(0)?.as_blob()?)))
                .optional()?;
            Ok(pieces.unwrap_or_default())
        })
    }
}

fn read_location(row: &Row<'_>) -> rusqlite::Result<ChunkLocation> {
    Ok(ChunkLocation {
        bytes: (row.get::<_, i64>(0)? as usize, row.get::<_, i64>(1)? as usize),
        lines: (row.get(2)?, row.get(3)?),
        symbol: row.get(4)?,
        title: row.get(5)?,
    })
}

/// Returns the file class for the column `kind` of a blob. A minified file, with a line over 10,000 bytes, counts as generated.
pub(crate) fn class_from_kind(kind: &str) -> Option<FileClass> {
    match kind {
        "generated" | "minified" => Some(FileClass::Generated),
        "licence" => Some(FileClass::Licence),
        _ => None,
    }
}
