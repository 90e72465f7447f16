//! Stores memories of other repositories of the team: they are searched here, and changed there.

use rusqlite::{OptionalExtension, Params, params};

use super::files::FileVersion;
use super::{Rows, StoreError};

/// Another repository of the team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Its name.
    pub repository: String,
    /// What was stored of how far its changes are known.
    pub place: String,
    /// Number of its memories.
    pub memories: u64,
}

impl Rows<'_> {
    /// Makes a memory of another repository say what the team's text says. Does nothing if this repository has one with that id.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_followed(
        &self,
        repository: &str,
        version: &FileVersion,
        author: &str,
    ) -> Result<(), StoreError> {
        let id = &version.record.id;
        let main = self.main(id)?;
        if main.is_some() && self.repository_of(id)?.as_deref() != Some(repository) {
            return Ok(());
        }
        self.put_from_team(main.map(|main| main.is_archived), version, author)?;
        self.run(|conn| {
            conn.prepare_cached("UPDATE memory SET repository = ?2 WHERE id = ?1")?
                .execute([id, repository])
                .map(drop)
        })
    }

    /// Deletes a memory of another repository, which has archived it.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn drop_followed(&self, repository: &str, id: &str) -> Result<(), StoreError> {
        self.delete_followed("m.id = ?1 AND m.repository = ?2", [id, repository])
    }

    /// Deletes all memories of another repository, and how far its changes are known.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn unfollow(&self, repository: &str) -> Result<(), StoreError> {
        self.delete_followed("m.repository = ?1", [repository])?;
        self.run(|conn| conn.execute("DELETE FROM followed WHERE repository = ?1", [repository]).map(drop))
    }

    /// Deletes the memories of other repositories that a condition on `memory m` selects.
    pub(super) fn delete_followed(
        &self,
        condition: &str,
        values: impl Params + Copy,
    ) -> Result<(), StoreError> {
        let rows = format!("SELECT m.row FROM memory m WHERE m.repository IS NOT NULL AND {condition}");
        self.run(|conn| {
            conn.prepare_cached(&format!("DELETE FROM memory_fts WHERE rowid IN ({rows})"))?
                .execute(values)?;
            conn.prepare_cached(&format!("DELETE FROM memory WHERE row IN ({rows})"))?
                .execute(values)
                .map(drop)
        })
    }

    /// Returns the ids of the memories of another repository.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn followed_ids(&self, repository: &str) -> Result<Vec<String>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT id FROM memory WHERE repository = ?1")?
                .query_map([repository], |row| row.get(0))?
                .collect()
        })
    }

    /// Returns the repositories that are followed, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn followed(&self) -> Result<Vec<Followed>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT f.repository, f.place, (SELECT count(*) FROM memory m WHERE m.repository = f.repository)
                 FROM followed f ORDER BY 1",
            )?
            .query_map([], |row| {
                Ok(Followed { repository: row.get(0)?, place: row.get(1)?, memories: row.get(2)? })
            })?
            .collect()
        })
    }

    /// Stores how far the changes of another repository are known.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_followed(&self, repository: &str, place: &str) -> Result<(), StoreError> {
        self.run(|conn| {
            conn.prepare_cached("INSERT OR REPLACE INTO followed(repository, place) VALUES(?1, ?2)")?
                .execute([repository, place])
                .map(drop)
        })
    }

    /// Returns a memory of another repository whose words were changed after a row of the history, and that repository. Recalls and
    /// trust are this user's alone.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn followed_changed_since(&self, last: i64) -> Result<Option<(String, String)>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT m.id, m.repository FROM history h JOIN memory m ON m.row = h.memory
                 WHERE h.row > ?1 AND h.action NOT IN ('recall', 'confirm') AND m.repository IS NOT NULL LIMIT 1",
            )?
            .query_row(params![last], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
        })
    }

    fn repository_of(&self, id: &str) -> Result<Option<String>, StoreError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT repository FROM memory WHERE id = ?1")?
                .query_row([id], |row| row.get(0))
                .optional()
                .map(Option::flatten)
        })
    }
}
