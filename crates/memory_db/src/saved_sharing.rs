//! Takes over with whom memories are shared, out of a damaged database.
//!
//! That is later than its backups, so what it says holds: what was shared since is sent, and what was taken back stays so. Where it
//! cannot be read, a memory that has changed is this user's alone, so that nothing is sent that they may have taken back.

use std::collections::HashMap;

use memod_database::DatabaseError;
use rusqlite::{OptionalExtension, Row, params};
use serde_json::Value;

use super::contents::readable;
use super::files::Hash;
use super::shared_with::Sharing;
use super::{Derived, MemoryDb, MemoryEvent, Record, Rows};

/// A row of `team_memory` without its id: text, hash, updated, base, theirs, why.
type TeamCells = (String, Hash, Option<i64>, Option<String>, Option<String>, Option<String>);
/// A row of `outbox` without its id: n, former, text.
type OutboxCells = (i64, Option<Hash>, String);

/// With whom memories of another database are shared, by id, as far as that can be read.
#[derive(Default)]
pub(super) struct SavedSharing {
    of: HashMap<String, Shared>,
    /// `None` if not all of it can be read.
    team: Option<SavedTeam>,
    place: Option<Value>,
}

/// With whom one memory is shared.
struct Shared {
    sharing: Option<Sharing>,
    version: Option<Hash>,
    file_links: Option<String>,
    remarks: Option<String>,
    is_trusted: bool,
}

/// What is known of the team's memories, and what is to be sent.
struct SavedTeam {
    memories: HashMap<String, TeamCells>,
    outbox: HashMap<String, Vec<OutboxCells>>,
}

impl SavedSharing {
    /// Returns whether a memory is certainly this user's alone.
    pub(super) fn is_alone(&self, id: &str) -> bool {
        self.of.get(id).is_some_and(|shared| matches!(shared.sharing, None | Some(Sharing::Never)))
    }

    /// Returns whether the team has a memory.
    pub(super) fn is_team(&self, id: &str) -> bool {
        self.of.get(id).is_some_and(|shared| shared.sharing == Some(Sharing::Team))
    }
}

impl MemoryDb {
    /// Reads with whom memories are shared; `None` in a database of an older schema, which shares none.
    ///
    /// # Errors
    /// When more may be read another time.
    pub(super) fn saved_sharing(&self) -> Result<Option<SavedSharing>, DatabaseError> {
        let sql = "SELECT 1 FROM pragma_table_info('team_memory')";
        match readable(self.run(|conn| conn.prepare(sql)?.exists([])))? {
            Some(true) => {}
            Some(false) => return Ok(None),
            None => return Ok(Some(SavedSharing::default())),
        }
        let sql = "SELECT 1 FROM pragma_table_info('memory') WHERE name = 'remarks'";
        let has_remarks = readable(self.run(|conn| conn.prepare(sql)?.exists([])))? == Some(true);
        let remarks = if has_remarks { "m.remarks" } else { "NULL" };
        let mut of = HashMap::new();
        for order in ["ASC", "DESC"] {
            let read = self.run(|conn| {
                let mut statement = conn.prepare(&format!(
                    "SELECT m.id, m.shared, m.version, m.file_links, {remarks} FROM memory m
                     WHERE instr(m.id, '#') = 0 ORDER BY m.row {order}"
                ))?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    if let Ok((id, shared)) = shared(row) {
                        of.insert(id, shared);
                    }
                }
                Ok(())
            });
            if readable(read)?.is_some() {
                break;
            }
        }
        // What cannot be read is to be confirmed again.
        for id in readable(self.trusted())?.unwrap_or_default() {
            of.entry(id).and_modify(|shared| shared.is_trusted = true);
        }
        let team = readable(self.saved_team())?;
        let place = self.read(0, |rows| {
            Ok::<_, DatabaseError>(rows.team_place()?.and_then(|json| serde_json::from_str(&json).ok()))
        });
        let place = readable(place)?.flatten();
        Ok(Some(SavedSharing { of, team, place }))
    }

    /// Returns the ids of memories whose present version this user vouches for.
    fn trusted(&self) -> Result<Vec<String>, DatabaseError> {
        self.run(|conn| {
            conn.prepare(
                "SELECT m.id FROM trusted_version t JOIN memory m ON m.row = t.memory WHERE t.hash = m.version",
            )?
            .query_map([], |row| row.get(0))?
            .collect()
        })
    }

    fn saved_team(&self) -> Result<SavedTeam, DatabaseError> {
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
            Ok(SavedTeam { memories, outbox })
        })
    }
}

fn shared(row: &Row<'_>) -> rusqlite::Result<(String, Shared)> {
    let number: i64 = row.get(1)?;
    let all = [Sharing::Repo, Sharing::Never, Sharing::Team];
    let sharing = all.into_iter().find(|sharing| *sharing as i64 == number);
    let (version, file_links, remarks) = (row.get(2)?, row.get(3)?, row.get(4)?);
    Ok((row.get(0)?, Shared { sharing, version, file_links, remarks, is_trusted: false }))
}

impl Rows<'_> {
    /// Makes memories shared as they are in a damaged database, whose memories are here by now. `ids` are those that it has or has
    /// deleted.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(super) fn take_sharing<'a>(
        &self,
        saved: &SavedSharing,
        ids: impl Iterator<Item = &'a str>,
        derive: fn(&Record) -> Derived,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        for id in ids {
            let main = self.main(id)?;
            let shared = saved.of.get(id);
            let sharing = shared.and_then(|shared| shared.sharing);
            let is_team = main.as_ref().is_some_and(|main| main.is_team);
            let is_archived = main.as_ref().is_some_and(|main| main.is_archived);
            if let Some(Shared { remarks: Some(remarks), file_links, .. }) = shared {
                self.set_remarks(id, remarks, file_links.as_ref())?; // of a file that may be gone
            }
            match (&saved.team, main) {
                (Some(team), None) => self.put_saved_team(team, id)?,
                (None, None) => {}
                (Some(team), Some(_)) if shared.is_some() && (is_team || team.memories.contains_key(id)) => {
                    self.put_saved_team(team, id)?;
                }
                // What is to be sent of it is not known.
                (_, Some(_)) if is_team && !self.is_as_the_team_has_it(id)? => {
                    self.forget_team_row(id)?;
                    self.keep_alone(id, derive, event)?;
                    continue;
                }
                (_, Some(main)) if shared.is_none() && !main.is_shared => {
                    self.keep_alone(id, derive, event)?;
                }
                _ => {}
            }
            match (sharing, shared) {
                (None, Some(_)) if is_team => self.keep_alone(id, derive, event)?,
                (Some(Sharing::Never), _) => self.keep_alone(id, derive, event)?,
                // Another one that is a file is so here once the file is seen; in the archive it has none.
                (Some(Sharing::Repo), _) if is_team || is_archived || self.is_unshared(id)? => {
                    self.set_shared(id, Sharing::Repo)?;
                }
                (Some(Sharing::Team), Some(shared)) => self.put_saved_version(id, shared)?,
                _ => {}
            }
        }
        // What cannot be read and is the team's no more was forgotten or taken back.
        for (id, (text, ..)) in saved.team.iter().flat_map(|team| &team.memories) {
            let is_read = saved.of.contains_key(id);
            if let Some(team) = saved.team.as_ref().filter(|_| !is_read && text.is_empty())
                && self.is_team(id)?
            {
                self.put_saved_team(team, id)?;
                self.keep_alone(id, derive, event)?;
            }
        }
        self.take_trust(saved)?;
        self.begin_place_anew(saved)
    }

    /// Vouches for the versions of files that this user vouches for in another database.
    pub(super) fn take_trust(&self, saved: &SavedSharing) -> Result<(), DatabaseError> {
        for (id, shared) in saved.of.iter().filter(|(_, shared)| shared.is_trusted) {
            if let (Some(Sharing::Repo), Some(version)) = (shared.sharing, &shared.version) {
                self.trust_version(id, version)?;
            }
        }
        Ok(())
    }

    /// Has the server asked for all that came from here too: not all of it may have been saved. Numbers go on under another name.
    fn begin_place_anew(&self, saved: &SavedSharing) -> Result<(), DatabaseError> {
        let known = self.team_place()?.and_then(|json| serde_json::from_str(&json).ok());
        let is_known = known.is_some();
        let Some(Value::Object(mut place)) =
            known.or_else(|| saved.place.clone().filter(|_| saved.team.is_some()))
        else {
            return Ok(());
        };
        place.insert("client".to_owned(), self.new_client()?.into());
        place.insert("sent".to_owned(), 0.into());
        if !is_known {
            place.remove("mark"); // all is compared
        }
        self.set_team_place(&Value::Object(place).to_string())
    }

    /// Makes what is known of the team's memory, and what is to be sent of it, what the damaged database says.
    fn put_saved_team(&self, team: &SavedTeam, id: &str) -> Result<(), DatabaseError> {
        self.forget_team_row(id)?;
        self.run(|conn| {
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

    fn put_saved_version(&self, id: &str, shared: &Shared) -> Result<(), DatabaseError> {
        self.run(|conn| {
            // What it is linked to may come later.
            conn.prepare_cached(
                "UPDATE memory SET version = ?2, file_links = ?3, linked = NULL WHERE id = ?1",
            )?
            .execute(params![id, shared.version, shared.file_links])
            .map(drop)
        })?;
        match &shared.version {
            Some(version) if shared.is_trusted => self.trust_version(id, version),
            _ => Ok(()),
        }
    }

    /// Makes a memory this user's alone, which no rule shares. It is archived if another one has its text.
    pub(super) fn keep_alone(
        &self,
        id: &str,
        derive: fn(&Record) -> Derived,
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        self.end_conflict(id)?;
        self.keep_for_others(id)?;
        let record = self.record_at(id)?;
        let hash = derive(&record).hash;
        if record.archived_at.is_none() {
            self.make_room(&record, &hash)?;
        }
        if record.archived_at.is_none() && self.has_twin(&record, &hash)? {
            self.set_archived(&[record], Some("forgotten"), event)?;
        }
        self.set_shared(id, Sharing::Never)
    }

    /// Returns whether what is known of the team's memory is what is here.
    fn is_as_the_team_has_it(&self, id: &str) -> Result<bool, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT m.updated IS t.updated FROM memory m JOIN team_memory t ON t.id = m.id WHERE m.id = ?1",
            )?
            .query_row([id], |row| row.get(0))
            .optional()
        })
        .map(Option::unwrap_or_default)
    }

    /// Forgets what is known of the team's memory, and what is to be sent of it.
    fn forget_team_row(&self, id: &str) -> Result<(), DatabaseError> {
        self.drop_theirs(id)?;
        self.drop_outgoing(id)?;
        self.run(|conn| conn.prepare_cached("DELETE FROM team_memory WHERE id = ?1")?.execute([id]).map(drop))
    }
}
