//! Writes index.db.

use std::path::{Path, PathBuf};

use memod_base::types::{BlobId, ReadRefusal, SourceKey, WorktreeId};
use memod_database::migrations;
use memod_database::{DatabaseError, open_connection, vector_to_bytes};
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, params};

use super::blob_rows::{
    IndexAdditions, add_path, add_worktree, delete_blob, delete_unused_paths, delete_unused_vectors,
    delete_worktree, find_or_add_blob, move_worktree, put_entry, set_vector, start_blob_retention,
};
use super::new_rows::{AddedVectors, ManifestChange, NewVector, VectorOwner, WorktreeKey};
use super::purge::{self, Leftovers};
use super::{model_switch, vector_rows};
use crate::postings::{self, InvertedWords, MergeState, add_segment};
use crate::schema;
use crate::vector_state::{EMBED_FAILED, HAS_VECTOR, VECTOR_PENDING};

/// Total size of unreferenced contents that are kept for a switch back to another branch, in bytes.
const KEEP_BYTES: i64 = 256 << 20;

/// The one write connection to index.db.
pub struct IndexWriter {
    pub(crate) conn: Connection,
    pub(crate) path: PathBuf,
    pub(super) model_id: String,
    added: AddedVectors,
    merging: MergeState,
    pub(super) leftovers: Leftovers,
}

impl IndexWriter {
    /// Opens or creates index.db. `default_model` is used unless a model was chosen ([`Self::switch_model`]).
    ///
    /// If the default has changed since the last time, all chunks are queued to be embedded again.
    ///
    /// # Errors
    /// When the file cannot be opened, is damaged or of a newer schema.
    pub fn open(path: &Path, default_model: &str) -> Result<Self, DatabaseError> {
        let to_error = DatabaseError::at_path(path);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let mut conn = open_connection(path, flags).map_err(to_error)?;
        conn.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536;
             PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;",
        )
        .map_err(to_error)?;
        migrations::migrate_schema(&mut conn, path, schema::INDEX_MIGRATIONS)?;
        // Parses that were aborted from outside get version 0, so that they are tried again. On a full disk they stay as they are.
        let _ = conn.execute("UPDATE blob SET extractor_version = 0 WHERE kind = 'parse-aborted'", []);
        let leftovers = Leftovers::read(&conn).map_err(to_error)?;
        let mut writer = Self {
            conn,
            path: path.to_owned(),
            model_id: String::new(),
            added: Vec::new(),
            merging: MergeState::DeleteUnnamedRows,
            leftovers,
        };
        writer.model_id =
            writer.run_transaction(|tx| model_switch::load_or_reset_model(tx, default_model))?;
        Ok(writer)
    }

    pub(crate) fn run_transaction<T>(
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
    pub fn find_or_add_worktree(&mut self, key: &WorktreeKey) -> Result<WorktreeId, DatabaseError> {
        self.run_transaction(|tx| {
            let other: Option<i64> = tx
                .query_row(
                    "SELECT id FROM view WHERE git_dir = ?1 AND git_dir_inode != ?2",
                    params![key.git_dir, key.inode as i64],
                    |row| row.get(0),
                )
                .optional()?;
            other.map_or(Ok(()), |other| delete_worktree(tx, WorktreeId(other)))?;
            let known: Option<(i64, String)> = tx
                .query_row("SELECT id, root FROM view WHERE git_dir = ?1", [&key.git_dir], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .optional()?;
            match known {
                Some((id, root)) if root == key.root => Ok(WorktreeId(id)),
                Some((id, _)) => move_worktree(tx, WorktreeId(id), &key.root),
                None => add_worktree(tx, key),
            }
        })
    }

    /// Deletes the rows of worktrees for which `is_gone` returns true, given git dir and inode. Contents stay until
    /// [`Self::collect_garbage`].
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget_worktrees_where(
        &mut self,
        is_gone: impl Fn(&str, u64) -> bool,
    ) -> Result<(), DatabaseError> {
        let has_purged = self.run_transaction(|tx| {
            let mut statement = tx.prepare("SELECT id, git_dir, git_dir_inode FROM view")?;
            let rows = statement.query_map([], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
            })?;
            for (id, git_dir, inode) in rows.collect::<Result<Vec<_>, _>>()? {
                if is_gone(&git_dir, inode as u64) {
                    delete_worktree(tx, WorktreeId(id))?;
                }
            }
            purge::delete_secret_blobs(tx)
        })?;
        self.record_purge(has_purged);
        Ok(())
    }

    /// Applies changes of one worktree in one transaction. Returns the new `seq` of the worktree, and the paths that must be read
    /// again, because a `Put` without content refers to a blob that is gone.
    ///
    /// # Errors
    /// When the database cannot be written; no change is applied then.
    pub fn apply_changes(
        &mut self,
        view: WorktreeId,
        changes: &[ManifestChange],
        now_s: i64,
    ) -> Result<(u64, Vec<SourceKey>), DatabaseError> {
        let model_id = self.model_id.clone();
        let mut adding =
            IndexAdditions { model_id: &model_id, vectors: Vec::new(), words: InvertedWords::default() };
        let applied = self.run_transaction(|tx| {
            let mut again = Vec::new();
            for change in changes {
                match change {
                    ManifestChange::Put { key, stat, racy, hash, lang, path_part, blob } => {
                        let content = (hash, *lang, path_part.as_str());
                        let Some(blob_id) =
                            find_or_add_blob(tx, content, blob.as_deref(), now_s, &mut adding)?
                        else {
                            again.push(key.clone());
                            continue;
                        };
                        if !stat.is_commit() {
                            add_path(tx, key)?;
                        }
                        let former = put_entry(tx, view, key, stat, *racy, Some(blob_id), None, now_s)?;
                        if let Some(former) = former {
                            purge::mark_former_content_secret(tx, former, blob_id)?;
                        }
                    }
                    ManifestChange::Refuse { key, stat, refusal } => {
                        let former = put_entry(tx, view, key, stat, false, None, Some(*refusal), now_s)?;
                        if matches!(refusal, ReadRefusal::SecretName | ReadRefusal::Binary) {
                            purge::mark_secret(tx, former)?;
                        }
                    }
                    ManifestChange::Remove { key, is_secret } => {
                        let former = start_blob_retention(tx, view, key, now_s)?;
                        purge::mark_secret(tx, former.filter(|_| *is_secret))?;
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
            Ok((seq as u64, again, purge::delete_secret_blobs(tx)?))
        })?;
        let vectors = adding.vectors;
        self.added.extend(vectors);
        let (seq, again, has_purged) = applied;
        self.record_purge(has_purged);
        if matches!(self.merging, MergeState::Done | MergeState::Failed | MergeState::DeleteUnusedWords) {
            self.merging = MergeState::DeleteUnnamedRows;
        }
        Ok((seq, again))
    }

    /// Runs a step, of some 15 ms, of merging segments of words and removing deleted chunks from them. Returns whether more steps
    /// are needed.
    ///
    /// # Errors
    /// When the database cannot be written. The next change of a worktree tries again; until then the next steps delete the rows of
    /// the failed merge.
    pub fn merge_segments_step(&mut self) -> Result<bool, DatabaseError> {
        let mut merging = std::mem::replace(&mut self.merging, MergeState::Done);
        let stepped = self.run_transaction(|tx| merging.take_step(tx));
        self.merging = if stepped.is_err() { merging.after_failure() } else { merging };
        stepped
    }

    /// Returns whether a merge has failed whose rows are still to be deleted.
    pub fn has_failed_merge(&self) -> bool {
        matches!(self.merging, MergeState::Failed)
    }

    /// Returns whether so many chunks wait to be merged that no more should be added until some are merged.
    pub fn has_merge_backlog(&self) -> bool {
        self.merging.has_backlog()
    }

    /// Returns the vectors that were committed for chunks since the last call.
    pub fn take_added_vectors(&mut self) -> AddedVectors {
        std::mem::take(&mut self.added)
    }

    /// Records that a full scan of a worktree has ended, and the content of its HEAD.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn mark_complete(&mut self, view: WorktreeId, head: Option<&str>) -> Result<(), DatabaseError> {
        self.run_transaction(|tx| {
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
    /// When the database cannot be written; no vector is stored then.
    pub fn add_vectors(&mut self, vectors: &[NewVector]) -> Result<(), DatabaseError> {
        let model_id = self.model_id.clone();
        let mut added = Vec::new();
        self.run_transaction(|tx| {
            for vector in vectors {
                let bytes = vector.vec.as_deref().map(vector_to_bytes);
                match vector.owner {
                    VectorOwner::Path(id) => {
                        tx.prepare_cached("UPDATE path SET vec = ?2, vec_state = ?3 WHERE id = ?1")?
                            .execute(params![id, bytes, HAS_VECTOR])?;
                    }
                    VectorOwner::Chunk(id, text_hash) => {
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
    pub fn mark_embed_failed(&mut self, owner: VectorOwner) -> Result<(), DatabaseError> {
        let model_id = self.model_id.clone();
        self.run_transaction(|tx| {
            let (id, text_hash) = match owner {
                VectorOwner::Path(id) => {
                    tx.execute("UPDATE path SET vec_state = ?2 WHERE id = ?1", [id, EMBED_FAILED])?;
                    return Ok(());
                }
                VectorOwner::Chunk(id, text_hash) => (id, text_hash),
            };
            tx.execute(
                "INSERT INTO embedding(text_hash, model_id, vec)
                 SELECT ?1, ?2, x'' WHERE EXISTS (SELECT 1 FROM chunk WHERE id = ?3) ON CONFLICT DO NOTHING",
                params![text_hash, model_id, id.0],
            )?;
            let sql = "UPDATE chunk SET vec_state = ?2 WHERE id = ?1 AND vec_state = ?3";
            tx.execute(sql, [id.0, EMBED_FAILED, VECTOR_PENDING]).map(drop)
        })
    }

    /// Deletes contents that no worktree has had for `keep_s` seconds and, those released longest ago first, those beyond the
    /// limit. Also deletes vectors of texts that no chunk has any more. Returns the number of deleted contents.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn collect_garbage(&mut self, now_s: i64, keep_s: i64) -> Result<usize, DatabaseError> {
        let n_deleted = self.run_transaction(|tx| {
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
            self.merging = MergeState::MergeAll;
        }
        // Release the page cache: this function has read all pages, which nothing else does.
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

    /// Records whether rows were purged. If so, there is only one segment now, and a merge that was running is void.
    pub(crate) fn record_purge(&mut self, has_purged: bool) {
        self.leftovers.record_purge(has_purged);
        if has_purged {
            self.merging = MergeState::DeleteUnnamedRows;
        }
    }

    /// Deletes the rows of a worktree and its manifest. Contents stay until [`Self::collect_garbage`].
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn forget_worktree(&mut self, view: WorktreeId) -> Result<(), DatabaseError> {
        let has_purged = self.run_transaction(|tx| {
            delete_worktree(tx, view)?;
            purge::delete_secret_blobs(tx)
        })?;
        self.record_purge(has_purged);
        Ok(())
    }

    /// Deletes all manifests and contents, so that everything is extracted again.
    ///
    /// # Errors
    /// When the database cannot be written; nothing is deleted then.
    pub fn clear_index(&mut self) -> Result<(), DatabaseError> {
        self.run_transaction(|tx| {
            purge::record_leftovers(tx)?;
            vector_rows::drop_table(tx)?;
            tx.execute_batch(
                "DELETE FROM entry;
                 DELETE FROM blob; DELETE FROM next_path; DELETE FROM path; DELETE FROM embedding;
                 UPDATE view SET complete = 0, seq = seq + 1;",
            )?;
            postings::clear_postings(tx)
        })?;
        self.record_purge(true);
        Ok(())
    }
}
