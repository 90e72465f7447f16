//! Writes index.db.

use std::path::{Path, PathBuf};

use memod_base::types::{BlobId, Refusal, SourceKey, ViewId};
use memod_database::migrations;
use memod_database::{DatabaseError, connect, vector_to_bytes};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, params};

use super::blob_rows::{
    Adding, add_path, add_view, blob_id, delete_blob, delete_unused_paths, delete_unused_vectors,
    delete_view, move_view, put_entry, release_blob, set_vector,
};
use super::new_rows::{Added, Change, Embedded, NewVector, ViewKey};
use super::postings::{self, Inverted, Merging, add_segment};
use super::purge::{self, Leftovers};
use super::{model_switch, schema, vector_rows};

/// Size of unreferenced contents that are kept for a switch back to another branch, bytes.
const KEEP_BYTES: i64 = 256 << 20;

/// The one write connection to index.db.
pub struct Writer {
    pub(super) conn: Connection,
    pub(super) path: PathBuf,
    pub(super) model_id: String,
    added: Added,
    merging: Merging,
    pub(super) leftovers: Leftovers,
}

impl Writer {
    /// Opens or creates index.db. `default_model` is the model unless another one was chosen ([`Self::switch_model`]).
    ///
    /// When another one is the default than before, all chunks wait to be embedded again.
    ///
    /// # Errors
    /// When the file cannot be opened, is damaged or of a newer schema.
    pub fn open(path: &Path, default_model: &str) -> Result<Self, DatabaseError> {
        let at = |error| DatabaseError::from_sqlite(path, error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut conn = connect(path, flags).map_err(at)?;
        conn.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536;
             PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;",
        )
        .map_err(at)?;
        migrations::migrate(&mut conn, path, schema::INDEX)?;
        // Version 0 is extracted again: something outside aborted these parses. A full disk leaves them as they are.
        let _ = conn.execute("UPDATE blob SET extractor_version = 0 WHERE kind = 'parse-aborted'", []);
        let leftovers = Leftovers::read(&conn).map_err(at)?;
        let mut writer = Self {
            conn,
            path: path.to_owned(),
            model_id: String::new(),
            added: Vec::new(),
            merging: Merging::Unnamed,
            leftovers,
        };
        writer.model_id = writer.in_tx(|tx| model_switch::model(tx, default_model))?;
        Ok(writer)
    }

    pub(super) fn in_tx<T>(
        &mut self,
        run: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        let path = &self.path;
        let tx = self.conn.transaction().map_err(|error| DatabaseError::from_sqlite(path, error))?;
        let value = run(&tx).map_err(|error| DatabaseError::from_sqlite(path, error))?;
        tx.commit().map_err(|error| DatabaseError::from_sqlite(path, error))?;
        Ok(value)
    }

    /// Returns the row of a worktree. Another git dir under the same name gets a new row; a worktree that has moved keeps
    /// its manifest under a new id.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn view(&mut self, key: &ViewKey) -> Result<ViewId, DatabaseError> {
        self.in_tx(|tx| {
            let other: Option<i64> = tx
                .query_row(
                    "SELECT id FROM view WHERE git_dir = ?1 AND git_dir_inode != ?2",
                    params![key.git_dir, key.inode as i64],
                    |row| row.get(0),
                )
                .optional()?;
            other.map_or(Ok(()), |other| delete_view(tx, ViewId(other)))?;
            let known: Option<(i64, String)> = tx
                .query_row("SELECT id, root FROM view WHERE git_dir = ?1", [&key.git_dir], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .optional()?;
            match known {
                Some((id, root)) if root == key.root => Ok(ViewId(id)),
                Some((id, _)) => move_view(tx, ViewId(id), &key.root),
                None => add_view(tx, key),
            }
        })
    }

    /// Forgets the views for which `is_gone` returns true, given git dir and inode; contents stay until they are collected.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget_views(&mut self, is_gone: impl Fn(&str, u64) -> bool) -> Result<(), DatabaseError> {
        let has_purged = self.in_tx(|tx| {
            let mut statement = tx.prepare("SELECT id, git_dir, git_dir_inode FROM view")?;
            let rows = statement.query_map([], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
            })?;
            for (id, git_dir, inode) in rows.collect::<Result<Vec<_>, _>>()? {
                if is_gone(&git_dir, inode as u64) {
                    delete_view(tx, ViewId(id))?;
                }
            }
            purge::sweep(tx)
        })?;
        self.note_purged(has_purged);
        Ok(())
    }

    /// Applies changes of one view in one transaction and returns the view's new `seq`.
    ///
    /// If the blob of a `Put` without content is gone, the path is returned to be read again.
    ///
    /// # Errors
    /// When the database cannot be written; no change is applied then.
    pub fn apply(
        &mut self,
        view: ViewId,
        changes: &[Change],
        now_s: i64,
    ) -> Result<(u64, Vec<SourceKey>), DatabaseError> {
        let model_id = self.model_id.clone();
        let mut adding = Adding { model_id: &model_id, vectors: Vec::new(), words: Inverted::default() };
        let applied = self.in_tx(|tx| {
            let mut again = Vec::new();
            for change in changes {
                match change {
                    Change::Put { key, stat, racy, hash, lang, blob } => {
                        let Some(blob_id) = blob_id(tx, hash, lang, blob.as_deref(), now_s, &mut adding)?
                        else {
                            again.push(key.clone());
                            continue;
                        };
                        if !stat.is_commit() {
                            add_path(tx, key)?;
                        }
                        let former = put_entry(tx, view, key, stat, *racy, Some(blob_id), None, now_s)?;
                        if let Some(former) = former {
                            purge::mark_if_cut(tx, former, blob_id)?;
                        }
                    }
                    Change::Refuse { key, stat, refusal } => {
                        let former = put_entry(tx, view, key, stat, false, None, Some(*refusal), now_s)?;
                        if matches!(refusal, Refusal::SecretName | Refusal::Binary) {
                            purge::mark(tx, former)?;
                        }
                    }
                    Change::Remove { key, is_secret } => {
                        let former = release_blob(tx, view, key, now_s)?;
                        purge::mark(tx, former.filter(|_| *is_secret))?;
                        tx.prepare_cached("DELETE FROM entry WHERE view_id = ?1 AND path = ?2")?
                            .execute(params![view.0, key.as_str()])?;
                    }
                }
            }
            let seq: i64 =
                tx.query_row("UPDATE view SET seq = seq + 1 WHERE id = ?1 RETURNING seq", [view.0], |row| {
                    row.get(0)
                })?;
            vector_rows::add_rows(tx, &adding.vectors)?;
            add_segment(tx, std::mem::take(&mut adding.words))?;
            Ok((seq as u64, again, purge::sweep(tx)?))
        })?;
        let vectors = adding.vectors;
        self.added.extend(vectors);
        let (seq, again, has_purged) = applied;
        self.note_purged(has_purged);
        if matches!(self.merging, Merging::Done | Merging::Failed | Merging::Unused) {
            self.merging = Merging::Unnamed;
        }
        Ok((seq, again))
    }

    /// Takes a step towards few segments of words without deleted chunks, some 15 ms. Returns whether more are needed.
    ///
    /// # Errors
    /// When the database cannot be written. The next change of a view tries again; until then the next steps delete what a
    /// merge that failed has written.
    pub fn merge_words(&mut self) -> Result<bool, DatabaseError> {
        let mut merging = std::mem::replace(&mut self.merging, Merging::Done);
        let stepped = self.in_tx(|tx| merging.step(tx));
        self.merging = if stepped.is_err() { merging.failed() } else { merging };
        stepped
    }

    /// Returns whether a merge has failed, and what it wrote is to be deleted.
    pub fn has_failed_merge(&self) -> bool {
        matches!(self.merging, Merging::Failed)
    }

    /// Returns whether the words of so many chunks wait to be merged that no more should be added before.
    pub fn is_behind(&self) -> bool {
        self.merging.is_behind()
    }

    /// Takes the vectors that were committed for chunks since the last call.
    pub fn take_added(&mut self) -> Added {
        std::mem::take(&mut self.added)
    }

    /// Records that the first walk of a view has ended, and the content of its HEAD.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn mark_complete(&mut self, view: ViewId, head: Option<&str>) -> Result<(), DatabaseError> {
        self.in_tx(|tx| {
            tx.execute(
                "UPDATE view SET complete = 1, head = ?2 WHERE id = ?1 AND (complete = 0 OR head IS NOT ?2)",
                params![view.0, head],
            )?;
            Ok(())
        })
    }

    /// Stores the vectors of chunks and paths that still exist.
    ///
    /// # Errors
    /// When the database cannot be written; none is kept then.
    pub fn add_vectors(&mut self, vectors: &[NewVector]) -> Result<(), DatabaseError> {
        let model_id = self.model_id.clone();
        let mut added = Vec::new();
        self.in_tx(|tx| {
            for vector in vectors {
                let bytes = vector.vec.as_deref().map(vector_to_bytes);
                match vector.of {
                    Embedded::Path(id) => {
                        tx.prepare_cached("UPDATE path SET vec = ?2, vec_state = 1 WHERE id = ?1")?
                            .execute(params![id, bytes])?;
                    }
                    Embedded::Chunk(id, text_hash) => {
                        tx.prepare_cached(
                            "INSERT INTO embedding(text_hash, model_id, vec)
                             SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM chunk WHERE id = ?4) ON CONFLICT DO NOTHING",
                        )?
                        .execute(params![text_hash, model_id, bytes, id.0])?;
                        set_vector(tx, id, bytes.as_deref(), &mut added)?;
                    }
                }
            }
            vector_rows::add_rows(tx, &added)
        })?;
        self.added.extend(added);
        Ok(())
    }

    /// Records that the model fails on a text, which gets no vector until the text or the model changes.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn mark_embed_failed(&mut self, of: Embedded) -> Result<(), DatabaseError> {
        let model_id = self.model_id.clone();
        self.in_tx(|tx| {
            let (id, text_hash) = match of {
                Embedded::Path(id) => {
                    tx.execute("UPDATE path SET vec_state = 3 WHERE id = ?1", [id])?;
                    return Ok(());
                }
                Embedded::Chunk(id, text_hash) => (id, text_hash),
            };
            tx.execute(
                "INSERT INTO embedding(text_hash, model_id, vec)
                 SELECT ?1, ?2, x'' WHERE EXISTS (SELECT 1 FROM chunk WHERE id = ?3) ON CONFLICT DO NOTHING",
                params![text_hash, model_id, id.0],
            )?;
            tx.execute("UPDATE chunk SET vec_state = 3 WHERE id = ?1 AND vec_state = 0", [id.0]).map(drop)
        })
    }

    /// Deletes contents that no view has referred to for `keep_s` seconds and, least recently used first, those beyond the
    /// size limit. Also deletes vectors of texts that no chunk has any more. Returns the number of deleted contents.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn collect_garbage(&mut self, now_s: i64, keep_s: i64) -> Result<usize, DatabaseError> {
        let n_deleted = self.in_tx(|tx| {
            let mut statement = tx.prepare(
                "WITH loose AS (
                     SELECT id, last_ref, sum(size) OVER (ORDER BY last_ref DESC, id DESC) AS newer_bytes
                     FROM blob WHERE NOT EXISTS (SELECT 1 FROM entry WHERE entry.blob_id = blob.id))
                 SELECT id FROM loose WHERE last_ref < ?1 OR newer_bytes > ?2",
            )?;
            let ids: Vec<i64> = statement
                .query_map(params![now_s - keep_s, KEEP_BYTES], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            for id in &ids {
                delete_blob(tx, BlobId(*id))?;
            }
            delete_unused_paths(tx)?;
            delete_unused_vectors(tx)?;
            Ok(ids.len())
        })?;
        if self.has_many_deleted_chunks()? {
            self.merging = Merging::All;
        }
        // All pages were read, which nothing else does.
        self.conn
            .execute_batch("PRAGMA shrink_memory")
            .map_err(|error| DatabaseError::from_sqlite(&self.path, error))?;
        Ok(n_deleted)
    }

    /// Returns whether most of the chunks in lists of words are deleted.
    fn has_many_deleted_chunks(&self) -> Result<bool, DatabaseError> {
        let sql = "SELECT (SELECT count(*) FROM chunk) * 2 < (SELECT sum(n_chunks) FROM segment)";
        let has_many = self.conn.query_row(sql, [], |row| row.get::<_, Option<bool>>(0));
        has_many.map(Option::unwrap_or_default).map_err(|error| DatabaseError::from_sqlite(&self.path, error))
    }

    /// Records whether rows were purged; then there is one segment, and a merge that was under way is void.
    pub(super) fn note_purged(&mut self, has_purged: bool) {
        self.leftovers.note(has_purged);
        if has_purged {
            self.merging = Merging::Unnamed;
        }
    }

    /// Forgets a view and its manifest; contents stay until they are collected.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget_view(&mut self, view: ViewId) -> Result<(), DatabaseError> {
        let has_purged = self.in_tx(|tx| {
            delete_view(tx, view)?;
            purge::sweep(tx)
        })?;
        self.note_purged(has_purged);
        Ok(())
    }

    /// Empties the manifest and all contents, so that everything is extracted again.
    ///
    /// # Errors
    /// When the database cannot be written; nothing is deleted then.
    pub fn clear(&mut self) -> Result<(), DatabaseError> {
        self.in_tx(|tx| {
            purge::note_leftovers(tx)?;
            vector_rows::drop_table(tx)?;
            tx.execute_batch(
                "DELETE FROM entry;
                 DELETE FROM blob; DELETE FROM next_path; DELETE FROM path; DELETE FROM embedding;
                 UPDATE view SET complete = 0, seq = seq + 1;",
            )?;
            postings::clear(tx)
        })?;
        self.note_purged(true);
        Ok(())
    }
}
