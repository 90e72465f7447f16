//! Takes over with whom memories are shared, out of a damaged database.
//!
//! That is later than its backups, so what it says holds: what was shared since is sent, and what was taken back stays so. Where it
//! cannot be read, a memory that has changed is this user's alone, so that nothing is sent that they may have taken back.

use std::collections::{BTreeMap, HashMap};

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row, params, params_from_iter};

use super::contents::readable;
use super::files::Hash;
use super::shared_with::Sharing;
use super::{Derived, MemoryDb, MemoryEvent, Record, Rows, StoreError};

/// The cells of a row.
type Cells = Vec<Value>;

/// With whom memories of another database are shared, by id, as far as that can be read.
#[derive(Default)]
pub(super) struct SavedSharing {
    of: HashMap<String, Shared>,
    /// `None` if not all of it can be read.
    team: Option<SavedTeam>,
    place: Option<serde_json::Value>,
}

/// With whom one memory is shared.
struct Shared {
    sharing: Option<Sharing>,
    version: Option<Hash>,
    file_links: Option<String>,
    linked: Option<String>,
    is_trusted: bool,
}

/// What is known of the team's memories, and what is to be sent.
struct SavedTeam {
    memories: HashMap<String, Cells>,
    outbox: HashMap<String, Vec<Cells>>,
}

impl SavedSharing {
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
    pub(super) fn saved_sharing(&self) -> Result<Option<SavedSharing>, StoreError> {
        let sql = "SELECT 1 FROM pragma_table_info('team_memory')";
        match readable(self.run(|conn| conn.prepare(sql)?.exists([])))? {
            Some(true) => {}
            Some(false) => return Ok(None),
            None => return Ok(Some(SavedSharing::default())),
        }
        let mut of = HashMap::new();
        for order in ["ASC", "DESC"] {
            let read = self.run(|conn| {
                let mut statement = conn.prepare(&format!(
                    "SELECT m.id, m.shared, m.version, m.file_links, m.linked, EXISTS (
                         SELECT 1 FROM trusted_version t WHERE t.memory = m.row AND t.hash = m.version)
                     FROM memory m WHERE instr(m.id, '#') = 0 ORDER BY m.row {order}"
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
        let by_id = |sql: &str| -> Result<Option<Vec<(String, Cells)>>, StoreError> {
            readable(self.run(|conn| {
                let mut statement = conn.prepare(sql)?;
                let n = statement.column_count();
                let cells = |row: &Row<'_>| {
                    Ok((row.get("id")?, (0..n).map(|at| row.get(at)).collect::<Result<_, _>>()?))
                };
                statement.query_map([], cells)?.collect()
            }))
        };
        let memories = by_id("SELECT id, text, hash, updated, base, theirs, why FROM team_memory")?;
        let team = by_id("SELECT n, id, former, text FROM outbox ORDER BY n")?.zip(memories).map(
            |(changes, memories)| {
                let mut outbox: HashMap<String, Vec<Cells>> = HashMap::new();
                for (id, cells) in changes {
                    outbox.entry(id).or_default().push(cells);
                }
                SavedTeam { memories: memories.into_iter().collect(), outbox }
            },
        );
        let place = self.read(0, |rows| {
            Ok::<_, StoreError>(rows.team_place()?.and_then(|json| serde_json::from_str(&json).ok()))
        });
        let place = readable(place)?.flatten();
        Ok(Some(SavedSharing { of, team, place }))
    }
}

fn shared(row: &Row<'_>) -> rusqlite::Result<(String, Shared)> {
    let number: i64 = row.get(1)?;
    let all = [Sharing::Repo, Sharing::Never, Sharing::Team];
    let sharing = all.into_iter().find(|sharing| *sharing as i64 == number);
    let (version, file_links, linked, is_trusted) = (row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?);
    Ok((row.get(0)?, Shared { sharing, version, file_links, linked, is_trusted }))
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
    ) -> Result<(), StoreError> {
        for id in ids {
            let main = self.main(id)?;
            let shared = saved.of.get(id);
            let sharing = shared.and_then(|shared| shared.sharing);
            let is_team = main.as_ref().is_some_and(|main| main.is_team);
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
                (Some(Sharing::Never), _) => self.keep_alone(id, derive, event)?,
                // Another one that is a file is so here once the file is seen.
                (Some(Sharing::Repo), _) if is_team || self.is_unshared(id)? => {
                    self.set_shared(id, Sharing::Repo)?;
                }
                (Some(Sharing::Team), Some(shared)) => self.put_saved_version(id, shared)?,
                _ => {}
            }
        }
        match &saved.place {
            // All is compared with the server: not all that came from there may have been saved.
            Some(serde_json::Value::Object(place)) if self.team_place()?.is_none() => {
                let place = place.iter().filter(|(key, _)| *key != "mark").collect::<BTreeMap<_, _>>();
                self.set_team_place(&serde_json::json!(place).to_string())
            }
            _ => Ok(()),
        }
    }

    /// Makes what is known of the team's memory, and what is to be sent of it, what the damaged database says.
    fn put_saved_team(&self, team: &SavedTeam, id: &str) -> Result<(), StoreError> {
        self.forget_team_row(id)?;
        self.run(|conn| {
            if let Some(cells) = team.memories.get(id) {
                conn.prepare_cached(
                    "INSERT INTO team_memory(id, text, hash, updated, base, theirs, why) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params_from_iter(cells))?;
            }
            let mut put =
                conn.prepare_cached("INSERT OR REPLACE INTO outbox(n, id, former, text) VALUES(?1, ?2, ?3, ?4)")?;
            team.outbox.get(id).into_iter().flatten().try_for_each(|cells| put.execute(params_from_iter(cells)).map(drop))
        })
    }

    fn put_saved_version(&self, id: &str, shared: &Shared) -> Result<(), StoreError> {
        self.run(|conn| {
            conn.prepare_cached("UPDATE memory SET version = ?2, file_links = ?3, linked = ?4 WHERE id = ?1")?
                .execute(params![id, shared.version, shared.file_links, shared.linked])
                .map(drop)
        })?;
        match &shared.version {
            Some(version) if shared.is_trusted => self.trust_version(id, version),
            _ => Ok(()),
        }
    }

    /// Makes a memory this user's alone, which no rule shares. It is archived if another one has its text.
    fn keep_alone(
        &self,
        id: &str,
        derive: fn(&Record) -> Derived,
        event: &MemoryEvent,
    ) -> Result<(), StoreError> {
        self.drop_theirs(id)?;
        self.keep_for_others(id)?;
        let record = self.record_at(id)?;
        if record.archived_at.is_none() && self.has_twin(&record, &derive(&record).hash)? {
            self.set_archived(&[record], Some("forgotten"), event)?;
        }
        self.set_shared(id, Sharing::Never)
    }

    /// Returns whether what is known of the team's memory is what is here.
    fn is_as_the_team_has_it(&self, id: &str) -> Result<bool, StoreError> {
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
    fn forget_team_row(&self, id: &str) -> Result<(), StoreError> {
        self.drop_theirs(id)?;
        self.drop_outgoing(id)?;
        self.run(|conn| conn.prepare_cached("DELETE FROM team_memory WHERE id = ?1")?.execute([id]).map(drop))
    }
}
