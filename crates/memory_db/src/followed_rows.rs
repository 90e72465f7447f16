//! Stores copies of what other repositories of the team have: they are searched here, and changed there.
//!
//! A copy has a row id of its own, under which only this file looks, so that it never stands for a memory of this repository.

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, Params, params};

use super::files::FileVersion;
use super::shared_with::Sharing;
use super::{FROM_TEAM, Record, Rows};

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
    /// Makes the copy of a memory say what the team's text says. Its anchors and links are left out: they are about another
    /// repository.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_copy(&self, repository: &str, version: &FileVersion) -> Result<(), DatabaseError> {
        let FileVersion { hash, record, .. } = version;
        let at = copy_id(repository, &record.id);
        let is_known = self.run(|conn| {
            conn.prepare_cached("SELECT 1 FROM memory WHERE id = ?1 AND version = ?2")?
                .exists(params![at, hash])
        })?;
        if is_known {
            return Ok(());
        }
        let record = Record {
            source: FROM_TEAM.to_owned(),
            anchors: Vec::new(),
            created: record.created.min(self.now_ms()),
            updated: record.updated.min(self.now_ms()),
            shared: false,
            team: true,
            ..record.clone()
        };
        self.put_at(&at, &record, &self.derived(&record), None)?;
        self.run(|conn| {
            conn.prepare_cached(
                "UPDATE memory SET shared = ?2, repository = ?3, version = ?4, main = NULL WHERE id = ?1",
            )?
            .execute(params![at, Sharing::Followed as i64, repository, hash])
            .map(drop)
        })
    }

    /// Deletes the copy of a memory.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn drop_copy(&self, repository: &str, id: &str) -> Result<(), DatabaseError> {
        self.delete_copies("m.id = ?1", [copy_id(repository, id)])
    }

    /// Deletes the copies of what a repository has, but for these.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn keep_copies(&self, repository: &str, ids: &[String]) -> Result<(), DatabaseError> {
        let kept: Vec<String> = ids.iter().map(|id| copy_id(repository, id)).collect();
        let kept = serde_json::Value::from(kept).to_string();
        self.delete_copies(
            "m.repository = ?1 AND m.id NOT IN (SELECT value FROM json_each(?2))",
            [repository, &kept],
        )
    }

    /// Deletes the copies of what a repository has, and how far its changes are known.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn unfollow(&self, repository: &str) -> Result<(), DatabaseError> {
        self.delete_copies("m.repository = ?1", [repository])?;
        self.run(|conn| conn.execute("DELETE FROM followed WHERE repository = ?1", [repository]).map(drop))
    }

    /// Deletes all copies, and how far the changes of other repositories are known.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(super) fn unfollow_all(&self) -> Result<(), DatabaseError> {
        self.delete_copies("true", [])?;
        self.run(|conn| conn.execute("DELETE FROM followed", []).map(drop))
    }

    /// Deletes the copies that a condition on `memory m` selects, and stored answers, which may repeat them.
    fn delete_copies(&self, condition: &str, values: impl Params + Clone) -> Result<(), DatabaseError> {
        let rows = format!("SELECT m.row FROM memory m WHERE m.repository IS NOT NULL AND {condition}");
        self.run(|conn| {
            conn.prepare_cached(&format!("DELETE FROM memory_fts WHERE rowid IN ({rows})"))?
                .execute(values.clone())?;
            let n =
                conn.prepare_cached(&format!("DELETE FROM memory WHERE row IN ({rows})"))?.execute(values)?;
            match n {
                0 => Ok(()),
                _ => conn.execute("DELETE FROM request", []).map(drop),
            }
        })
    }

    /// Returns the repositories that are followed, by name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn followed(&self) -> Result<Vec<Followed>, DatabaseError> {
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

    /// Returns what was stored of how far the changes of another repository are known.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn followed_place(&self, repository: &str) -> Result<Option<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT place FROM followed WHERE repository = ?1")?
                .query_row([repository], |row| row.get(0))
                .optional()
        })
    }

    /// Stores how far the changes of another repository are known.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_followed_place(&self, repository: &str, place: &str) -> Result<(), DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("INSERT OR REPLACE INTO followed(repository, place) VALUES(?1, ?2)")?
                .execute([repository, place])
                .map(drop)
        })
    }
}

/// Returns the id of the row of a copy.
fn copy_id(repository: &str, id: &str) -> String {
    format!("{id}#of {repository}")
}
