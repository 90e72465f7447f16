//! Stores links between memories.

use std::collections::HashSet;

use memod_base::types::rfc3339;
use memod_database::DatabaseError;
use memod_proto::exchange::LinkDraft;
use memod_proto::memory::LinkKind;
use rusqlite::{Row, params};
use serde_json::{Value, json};

use super::write::note;
use super::{MemoryEvent, Record, Rows};

/// A link; a mutual one is stored in one direction only.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// Creation time, unix ms.
    pub created: i64,
    /// Id of the first, which supersedes or was derived.
    pub from: String,
    /// Id of the second.
    pub to: String,
    /// Relation of the first to the second.
    pub kind: LinkKind,
}

impl From<Link> for LinkDraft {
    fn from(link: Link) -> Self {
        let Link { created, from, to, kind } = link;
        let (kind, created) = (kind.as_str().to_owned(), Some(rfc3339(created)));
        Self { line: 0, source: from, target: to, kind, created }
    }
}

/// The result of linking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linked {
    /// The link was created.
    New,
    /// The link existed; a mutual one in either direction.
    Known,
    /// The link was refused: a memory would be linked to itself, or supersede or be derived from itself through other links.
    Ring,
}

impl Rows<'_> {
    /// Returns the links from and to a memory, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn links(&self, id: &str) -> Result<Vec<Link>, DatabaseError> {
        let mut links: Vec<Link> = self.run(|conn| {
            conn.prepare_cached(
                "WITH one(row) AS (SELECT row FROM memory WHERE id = ?1),
                      both(source, target, kind, created) AS (
                          SELECT link.* FROM one JOIN link ON link.source = one.row UNION ALL
                          SELECT link.* FROM one JOIN link ON link.target = one.row)
                 SELECT s.id, t.id, kind, both.created FROM both
                 JOIN memory s ON s.row = both.source JOIN memory t ON t.row = both.target",
            )?
            .query_map([id], link)?
            .collect()
        })?;
        links.sort();
        Ok(links)
    }

    /// Returns the links that lead from rows in `(after, last]`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn links_from(&self, after: i64, last: i64) -> Result<Vec<Link>, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "SELECT s.id, t.id, l.kind, l.created FROM link l
                 JOIN memory s ON s.row = l.source JOIN memory t ON t.row = l.target
                 WHERE l.source > ?1 AND l.source <= ?2 ORDER BY l.source, l.target, l.kind",
            )?
            .query_map([after, last], link)?
            .collect()
        })
    }

    /// Returns whether a chain of links of one kind leads from one memory to another.
    fn leads_to(&self, from: &str, to: &str, kind: LinkKind) -> Result<bool, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached(
                "WITH RECURSIVE reached(row) AS (
                     SELECT row FROM memory WHERE id = ?1 UNION
                     SELECT link.target FROM reached JOIN link ON link.source = reached.row AND kind = ?3)
                 SELECT 1 FROM reached JOIN memory USING(row) WHERE id = ?2",
            )?
            .exists([from, to, kind.as_str()])
        })
    }

    /// Links two existing memories, and records it in both histories.
    ///
    /// # Errors
    /// When the database cannot be written, also where an end is missing.
    pub fn link(&self, link: &Link, event: &MemoryEvent) -> Result<Linked, DatabaseError> {
        let linked = self.put_link(link)?;
        if linked == Linked::New {
            self.note_ends(link, [&link.from, &link.to], event, |other| json!([null, other]))?;
        }
        Ok(linked)
    }

    /// Stores a link of another file if both ends exist; their histories have it already.
    pub(super) fn put_saved_link(&self, link: &Link) -> Result<(), DatabaseError> {
        if self.has(&link.from)? && self.has(&link.to)? {
            self.put_link(link)?;
        }
        Ok(())
    }

    fn put_link(&self, link: &Link) -> Result<Linked, DatabaseError> {
        let is_mutual = link.kind.is_mutual();
        if link.from == link.to || !is_mutual && self.leads_to(&link.to, &link.from, link.kind)? {
            return Ok(Linked::Ring);
        }
        let n_new = self.run(|conn| {
            conn.prepare_cached(
                "INSERT INTO link(source, target, kind, created)
                 SELECT (SELECT row FROM memory WHERE id = ?1), (SELECT row FROM memory WHERE id = ?2), ?3, ?4
                 WHERE NOT EXISTS (
                     SELECT 1 FROM link l JOIN memory s ON s.row = l.source JOIN memory t ON t.row = l.target
                     WHERE kind = ?3 AND (s.id = ?1 AND t.id = ?2 OR ?5 AND s.id = ?2 AND t.id = ?1))",
            )?
            .execute(params![link.from, link.to, link.kind.as_str(), link.created, is_mutual])
        })?;
        Ok(if n_new > 0 { Linked::New } else { Linked::Known })
    }

    /// Removes a link and records it in both histories; returns false if there was none. Removes a mutual link in either
    /// direction.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn unlink(
        &self,
        from: &str,
        to: &str,
        kind: LinkKind,
        event: &MemoryEvent,
    ) -> Result<bool, DatabaseError> {
        let is_it = |link: &Link| {
            link.kind == kind && (link.from == from && link.to == to || kind.is_mutual() && link.from == to)
        };
        let Some(link) = self.links(from)?.into_iter().find(is_it) else {
            return Ok(false);
        };
        self.run(|conn| {
            conn.prepare_cached(
                "DELETE FROM link WHERE source = (SELECT row FROM memory WHERE id = ?1)
                 AND target = (SELECT row FROM memory WHERE id = ?2) AND kind = ?3",
            )?
            .execute([&link.from, &link.to, kind.as_str()])
        })?;
        self.note_ends(&link, [&link.from, &link.to], event, |other| json!([other, null]))?;
        Ok(true)
    }

    /// Records the end of links to memories that are about to be deleted in the histories of their other ends.
    pub(super) fn note_gone(&self, gone: &[Record], event: &MemoryEvent) -> Result<(), DatabaseError> {
        let ids: HashSet<&str> = gone.iter().map(|record| record.id.as_str()).collect();
        let event = MemoryEvent { action: "unlink".to_owned(), ..event.clone() };
        for record in gone {
            for link in self.links(&record.id)? {
                let stays = [&link.from, &link.to].into_iter().find(|end| !ids.contains(end.as_str()));
                if let Some(end) = stays {
                    self.note_ends(&link, [end], &event, |other| json!([other, null]))?;
                }
            }
        }
        Ok(())
    }

    /// Records a change of a link in the histories of its ends.
    fn note_ends<const N: usize>(
        &self,
        link: &Link,
        ends: [&String; N],
        event: &MemoryEvent,
        change: fn(&str) -> Value,
    ) -> Result<(), DatabaseError> {
        for end in ends {
            let (relation, other) = match *end == link.from {
                true => (link.kind.as_str(), &link.to),
                false => (link.kind.inverse(), &link.from),
            };
            let fields = [(relation.to_owned(), change(other))].into_iter().collect();
            let event = MemoryEvent { fields, ..event.clone() };
            self.run(|conn| {
                let row = conn.query_row("SELECT row FROM memory WHERE id = ?1", [end], |row| row.get(0))?;
                note(conn, row, &event)
            })?;
        }
        Ok(())
    }
}

fn link(row: &Row<'_>) -> rusqlite::Result<Link> {
    let kind: String = row.get(2)?;
    let kind = LinkKind::parse(&kind).unwrap_or_default();
    Ok(Link { from: row.get(0)?, to: row.get(1)?, kind, created: row.get(3)? })
}
