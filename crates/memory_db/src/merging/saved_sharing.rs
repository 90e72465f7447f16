//! Recovers the sharing of memories from a damaged database.
//!
//! The damaged database is newer than its backups, so its state wins: later shares are sent, and withdrawn memories stay
//! withdrawn. Where its state cannot be read, a changed memory becomes private, so that nothing is sent that the user may have
//! withdrawn.

use std::collections::HashMap;

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, Row, params};
use serde_json::Value;

use crate::database::open_database::MemoryDb;
use crate::memory_rows::MemoryRows;
use crate::merging::if_readable::none_if_unreadable;
use crate::records::file_version::FileHash;
use crate::records::memory_event::MemoryEvent;
use crate::records::memory_record::MemoryRecord;
use crate::records::record_columns::IS_NO_VERSION_ROW;
use crate::records::record_functions::HashAndWords;
use crate::records::sharing::Sharing;

/// A row of `team_memory` without its id: text, hash, updated, base, theirs, why.
type TeamCells = (String, FileHash, Option<i64>, Option<String>, Option<String>, Option<String>);

/// A row of `outbox` without its id: n, former, text.
type OutboxCells = (i64, Option<FileHash>, String);

/// The readable sharing of the memories of another database, by id.
#[derive(Default)]
pub(crate) struct SavedSharing {
    /// The sharing of each readable memory, by id.
    sharing_by_id: HashMap<String, SavedMemorySharing>,
    /// The team's rows; `None` if some cannot be read.
    team: Option<SavedTeamRows>,
    /// The cursor into the team's changes.
    team_cursor: Option<Value>,
}

/// The sharing of one memory, as the damaged database has it.
struct SavedMemorySharing {
    /// With whom the memory is shared; `None` if it never was.
    sharing: Option<Sharing>,
    /// Hash of the text that others have.
    version: Option<FileHash>,
    /// Links in the memory's file.
    file_links: Option<String>,
    /// Lines of the file's front matter that are no fields of the memory.
    remarks: Option<String>,
    /// Whether this user trusts the version.
    is_trusted: bool,
}

/// The rows of the team's memories, and the queued changes, both by id.
struct SavedTeamRows {
    memories: HashMap<String, TeamCells>,
    outbox: HashMap<String, Vec<OutboxCells>>,
}

impl SavedSharing {
    /// Returns whether a memory is certainly private.
    pub(crate) fn is_private(&self, id: &str) -> bool {
        self.sharing_by_id.get(id).is_some_and(|shared| matches!(shared.sharing, None | Some(Sharing::Never)))
    }

    /// Returns whether the team has a memory.
    pub(crate) fn is_team_memory(&self, id: &str) -> bool {
        self.sharing_by_id.get(id).is_some_and(|shared| shared.sharing == Some(Sharing::Team))
    }
}

impl MemoryDb {
    /// Returns the readable sharing of memories; `None` for a database of an older schema, which shares no memory.
    ///
    /// # Errors
    /// When a read fails for a reason other than damage, so that more may be readable another time.
    pub(crate) fn read_saved_sharing(&self) -> Result<Option<SavedSharing>, DatabaseError> {
        let sql = "SELECT 1 FROM pragma_table_info('team_memory')";
        match none_if_unreadable(self.run(|conn| conn.prepare(sql)?.exists([])))? {
            Some(true) => {}
            Some(false) => return Ok(None),
            None => return Ok(Some(SavedSharing::default())),
        }
        let sql = "SELECT 1 FROM pragma_table_info('memory') WHERE name = 'remarks'";
        let has_remarks = none_if_unreadable(self.run(|conn| conn.prepare(sql)?.exists([])))? == Some(true);
        let remarks = if has_remarks { "m.remarks" } else { "NULL" };
        let mut shares = HashMap::new();
        for order in ["ASC", "DESC"] {
            let read = self.run(|conn| {
                let mut statement = conn.prepare(&format!(
                    "SELECT m.id, m.shared, m.version, m.file_links, {remarks} FROM memory m
                     WHERE {IS_NO_VERSION_ROW} ORDER BY m.row {order}"
                ))?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    if let Ok((id, shared)) = read_memory_sharing(row) {
                        shares.insert(id, shared);
                    }
                }
                Ok(())
            });
            if none_if_unreadable(read)?.is_some() {
                break;
            }
        }
        // Where the trust cannot be read, this user must confirm the versions again.
        for id in none_if_unreadable(self.list_trusted())?.unwrap_or_default() {
            shares.entry(id).and_modify(|shared| shared.is_trusted = true);
        }
        let team = none_if_unreadable(self.read_saved_team())?;
        let place = self.read(0, |rows| {
            Ok::<_, DatabaseError>(
                rows.outbox().team_cursor()?.and_then(|json| serde_json::from_str(&json).ok()),
            )
        });
        let place = none_if_unreadable(place)?.flatten();
        Ok(Some(SavedSharing { sharing_by_id: shares, team, team_cursor: place }))
    }

    /// Returns the ids of memories whose present version this user trusts.
    fn list_trusted(&self) -> Result<Vec<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare(
                "SELECT m.id FROM trusted_version t JOIN memory m ON m.row = t.memory WHERE t.hash = m.version",
            )?
            .query_map([], |row| row.get(0))?
            .collect()
        })
    }

    /// Returns the rows of the team's memories, and the queued changes.
    fn read_saved_team(&self) -> Result<SavedTeamRows, DatabaseError> {
        self.run(|conn| {
            let mut outbox: HashMap<String, Vec<OutboxCells>> = HashMap::new();
            let mut changes = conn.prepare("SELECT id, n, former, text FROM outbox ORDER BY n")?;
            for change in
                changes.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?))))?
            {
                let (id, cells) = change?;
                outbox.entry(id).or_default().push(cells);
            }
            let memories = conn
                .prepare("SELECT id, text, hash, updated, base, theirs, why FROM team_memory")?
                .query_map([], |row| {
                    let cells =
                        (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?);
                    Ok((row.get(0)?, cells))
                })?
                .collect::<Result<_, _>>()?;
            Ok(SavedTeamRows { memories, outbox })
        })
    }
}

/// Applies the sharing of another database to these rows.
#[derive(Clone, Copy)]
pub(crate) struct SharingRestore<'a> {
    rows: &'a MemoryRows<'a>,
}

impl<'a> SharingRestore<'a> {
    pub(crate) fn new(rows: &'a MemoryRows<'a>) -> Self {
        Self { rows }
    }
}

impl SharingRestore<'_> {
    /// Applies the sharing of a damaged database, whose memories were merged already. `ids` are the ids of the memories that the
    /// damaged database has or has deleted.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn apply_saved_sharing<'a>(
        &self,
        saved: &SavedSharing,
        ids: impl Iterator<Item = &'a str>,
        derive: fn(&MemoryRecord) -> HashAndWords,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        for id in ids {
            let main = self.rows.versions().main_row(id)?;
            let shared = saved.sharing_by_id.get(id);
            let sharing = shared.and_then(|shared| shared.sharing);
            let is_team = main.as_ref().is_some_and(|main| main.is_team_memory);
            let is_archived = main.as_ref().is_some_and(|main| main.is_archived);
            if let Some(SavedMemorySharing { remarks: Some(remarks), file_links, .. }) = shared {
                self.rows.versions().set_remarks(id, remarks, file_links.as_ref())?; // the file may be gone
            }
            match (&saved.team, main) {
                (Some(team), None) => self.put_saved_team_row(team, id)?,
                (None, None) => {}
                (Some(team), Some(_)) if shared.is_some() && (is_team || team.memories.contains_key(id)) => {
                    self.put_saved_team_row(team, id)?;
                }
                // The queued changes of this memory are unknown.
                (_, Some(_)) if is_team && !self.equals_team_row(id)? => {
                    self.rows.team_versions().delete_team_row(id)?;
                    self.rows.private_memories().make_private(id, derive, event)?;
                    continue;
                }
                (_, Some(main)) if shared.is_none() && !main.is_shared_by_file => {
                    self.rows.private_memories().make_private(id, derive, event)?;
                }
                _ => {}
            }
            match (sharing, shared) {
                (None, Some(_)) if is_team => self.rows.private_memories().make_private(id, derive, event)?,
                (Some(Sharing::Never), _) => self.rows.private_memories().make_private(id, derive, event)?,
                // Other memories with a file become shared when the file is read; an archived one has no file.
                (Some(Sharing::Repo), _)
                    if is_team || is_archived || self.rows.sharing().is_unshared(id)? =>
                {
                    self.rows.sharing().set_sharing(id, Sharing::Repo)?;
                }
                (Some(Sharing::Team), Some(shared)) => self.put_saved_version(id, shared)?,
                _ => {}
            }
        }
        // A memory that cannot be read and that the team has archived was forgotten or withdrawn.
        for (id, (text, ..)) in saved.team.iter().flat_map(|team| &team.memories) {
            let is_read = saved.sharing_by_id.contains_key(id);
            if let Some(team) = saved.team.as_ref().filter(|_| !is_read && text.is_empty())
                && self.rows.sharing().is_team_memory(id)?
            {
                self.put_saved_team_row(team, id)?;
                self.rows.private_memories().make_private(id, derive, event)?;
            }
        }
        self.apply_saved_trust(saved)?;
        self.restart_team_cursor(saved)
    }

    /// Records that this user trusts the versions of files that the other database records as trusted.
    pub(crate) fn apply_saved_trust(&self, saved: &SavedSharing) -> Result<(), DatabaseError> {
        for (id, shared) in saved.sharing_by_id.iter().filter(|(_, shared)| shared.is_trusted) {
            if let (Some(Sharing::Repo), Some(version)) = (shared.sharing, &shared.version) {
                self.rows.sharing().trust_version(id, version)?;
            }
        }
        Ok(())
    }

    /// Resets the cursor into the team's changes and takes a new client name, so that changes sent by this database are pulled
    /// again, too: some may be missing here.
    fn restart_team_cursor(&self, saved: &SavedSharing) -> Result<(), DatabaseError> {
        let known = self.rows.outbox().team_cursor()?.and_then(|json| serde_json::from_str(&json).ok());
        let is_known = known.is_some();
        let Some(Value::Object(mut place)) =
            known.or_else(|| saved.team_cursor.clone().filter(|_| saved.team.is_some()))
        else {
            return Ok(());
        };
        place.insert("client".to_owned(), self.rows.outbox().new_client_name()?.into());
        place.insert("sent".to_owned(), 0.into());
        if !is_known {
            place.remove("mark"); // without a mark, all changes of the team are pulled
        }
        self.rows.outbox().set_team_cursor(&Value::Object(place).to_string())
    }

    /// Copies the team row of a memory and its queued changes from the damaged database.
    fn put_saved_team_row(&self, team: &SavedTeamRows, id: &str) -> Result<(), DatabaseError> {
        self.rows.team_versions().delete_team_row(id)?;
        self.rows.access.run(|conn| {
            if let Some((text, hash, updated, base, theirs, why)) = team.memories.get(id) {
                conn.prepare_cached(
                    "INSERT INTO team_memory(id, text, hash, updated, base, theirs, why)
                     VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![id, text, hash, updated, base, theirs, why])?;
            }
            let mut put = conn.prepare_cached(
                "INSERT OR REPLACE INTO outbox(n, id, former, text) VALUES(?1, ?2, ?3, ?4)",
            )?;
            let mut changes = team.outbox.get(id).into_iter().flatten();
            changes.try_for_each(|(n, former, text)| put.execute(params![n, id, former, text]).map(drop))
        })
    }

    /// Stores the hash and links of a team memory's version, and trusts the version if the damaged database does.
    fn put_saved_version(&self, id: &str, shared: &SavedMemorySharing) -> Result<(), DatabaseError> {
        self.rows.access.run(|conn| {
            // `linked` is cleared, because the other ends of the links may be stored later.
            conn.prepare_cached(
                "UPDATE memory SET version = ?2, file_links = ?3, linked = NULL WHERE id = ?1",
            )?
            .execute(params![id, shared.version, shared.file_links])
            .map(drop)
        })?;
        match &shared.version {
            Some(version) if shared.is_trusted => self.rows.sharing().trust_version(id, version),
            _ => Ok(()),
        }
    }

    /// Returns whether a memory is unchanged since it was equal to its team row.
    fn equals_team_row(&self, id: &str) -> Result<bool, DatabaseError> {
        self.rows.access.run(|conn| {
            conn.prepare_cached(
                "SELECT m.updated IS t.updated FROM memory m JOIN team_memory t ON t.id = m.id WHERE m.id = ?1",
            )?
            .query_row([id], |row| row.get(0))
            .optional()
        })
        .map(Option::unwrap_or_default)
    }
}

/// Reads a row: id, sharing, version, links in the file, and remarks.
fn read_memory_sharing(row: &Row<'_>) -> rusqlite::Result<(String, SavedMemorySharing)> {
    let number: i64 = row.get(1)?;
    let all = [Sharing::Repo, Sharing::Never, Sharing::Team];
    let sharing = all.into_iter().find(|sharing| *sharing as i64 == number);
    let (version, file_links, remarks) = (row.get(2)?, row.get(3)?, row.get(4)?);
    Ok((row.get(0)?, SavedMemorySharing { sharing, version, file_links, remarks, is_trusted: false }))
}
