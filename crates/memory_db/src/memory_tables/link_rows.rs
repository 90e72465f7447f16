//! Stores links between memories.

use std::collections::HashSet;

use memod_base::types::format_rfc3339;
use memod_database::DatabaseError;
use memod_proto::exchange::LinkDraft;
use memod_proto::memory::LinkKind;
use rusqlite::{Row, params};
use serde_json::{Value, json};

use crate::access::row_access::row_handle;
use crate::memory_tables::note_event::record_event;
use crate::memory_tables::record_rows::RecordRows;
use crate::records::memory_event::MemoryEvent;
use crate::records::memory_record::MemoryRecord;

row_handle! {
    /// Links between memories.
    pub struct LinkRows { records: RecordRows }
}

/// A link between two memories; a mutual link is stored in one direction only.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryLink {
    /// Creation time, unix ms.
    pub created: i64,
    /// Id of the first memory, which supersedes the second or was derived from it.
    pub from: String,
    /// Id of the second memory.
    pub to: String,
    /// Relation of the first to the second.
    pub kind: LinkKind,
}

impl From<MemoryLink> for LinkDraft {
    fn from(link: MemoryLink) -> Self {
        let MemoryLink { created, from, to, kind } = link;
        let (kind, created) = (kind.as_str().to_owned(), Some(format_rfc3339(created)));
        Self { line: 0, source: from, target: to, kind, created }
    }
}

/// The result of adding a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkOutcome {
    /// The link was created.
    New,
    /// The link existed already; a mutual link in either direction.
    Known,
    /// The link was refused, because it would close a cycle: a memory would be linked to itself, or supersede or be derived from
    /// itself through other links.
    Cycle,
}

impl LinkRows<'_> {
    /// Returns the links from and to a memory, oldest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_links(&self, id: &str) -> Result<Vec<MemoryLink>, DatabaseError> {
        let mut links: Vec<MemoryLink> = self.access.run(|conn| {
            conn.prepare_cached(
                "WITH one(row) AS (SELECT row FROM memory WHERE id = ?1),
                      both(source, target, kind, created) AS (
                          SELECT link.* FROM one JOIN link ON link.source = one.row UNION ALL
                          SELECT link.* FROM one JOIN link ON link.target = one.row)
                 SELECT s.id, t.id, kind, both.created FROM both
                 JOIN memory s ON s.row = both.source JOIN memory t ON t.row = both.target",
            )?
            .query_map([id], read_link)?
            .collect()
        })?;
        links.sort();
        Ok(links)
    }

    /// Returns the links that lead from memories with row numbers in `(after, last]`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn links_from(&self, after: i64, last: i64) -> Result<Vec<MemoryLink>, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "SELECT s.id, t.id, l.kind, l.created FROM link l
                 JOIN memory s ON s.row = l.source JOIN memory t ON t.row = l.target
                 WHERE l.source > ?1 AND l.source <= ?2 ORDER BY l.source, l.target, l.kind",
            )?
            .query_map([after, last], read_link)?
            .collect()
        })
    }

    /// Returns whether a chain of links of one kind leads from one memory to another.
    fn has_link_chain(&self, from: &str, to: &str, kind: LinkKind) -> Result<bool, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached(
                "WITH RECURSIVE reached(row) AS (
                     SELECT row FROM memory WHERE id = ?1 UNION
                     SELECT link.target FROM reached JOIN link ON link.source = reached.row AND kind = ?3)
                 SELECT 1 FROM reached JOIN memory USING(row) WHERE id = ?2",
            )?
            .exists([from, to, kind.as_str()])
        })
    }

    /// Adds a link between two existing memories, and records a new link in both histories.
    ///
    /// # Errors
    /// When the database cannot be written, or one of the memories does not exist.
    pub fn add_link(&self, link: &MemoryLink, event: &MemoryEvent) -> Result<LinkOutcome, DatabaseError> {
        let linked = self.put_link(link)?;
        if linked == LinkOutcome::New {
            self.record_link_change(link, [&link.from, &link.to], event, |other| json!([null, other]))?;
        }
        Ok(linked)
    }

    /// Stores a link from another database if both memories exist; their merged histories record the link already.
    pub(crate) fn put_saved_link(&self, link: &MemoryLink) -> Result<(), DatabaseError> {
        if self.records().has_memory(&link.from)? && self.records().has_memory(&link.to)? {
            self.put_link(link)?;
        }
        Ok(())
    }

    /// Stores a link without recording it in the histories.
    fn put_link(&self, link: &MemoryLink) -> Result<LinkOutcome, DatabaseError> {
        let is_mutual = link.kind.is_mutual();
        if link.from == link.to || !is_mutual && self.has_link_chain(&link.to, &link.from, link.kind)? {
            return Ok(LinkOutcome::Cycle);
        }
        let n_new = self.access.run(|conn| {
            conn.prepare_cached(
                "INSERT INTO link(source, target, kind, created)
                 SELECT (SELECT row FROM memory WHERE id = ?1), (SELECT row FROM memory WHERE id = ?2), ?3, ?4
                 WHERE NOT EXISTS (
                     SELECT 1 FROM link l JOIN memory s ON s.row = l.source JOIN memory t ON t.row = l.target
                     WHERE kind = ?3 AND (s.id = ?1 AND t.id = ?2 OR ?5 AND s.id = ?2 AND t.id = ?1))",
            )?
            .execute(params![link.from, link.to, link.kind.as_str(), link.created, is_mutual])
        })?;
        Ok(if n_new > 0 { LinkOutcome::New } else { LinkOutcome::Known })
    }

    /// Removes a link, and records the removal in both histories. Returns false if there was no such link. A mutual link is removed
    /// in either direction.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn remove_link(
        &self,
        from: &str,
        to: &str,
        kind: LinkKind,
        event: &MemoryEvent,
    ) -> Result<bool, DatabaseError> {
        let found = self.list_links(from)?.into_iter().find(|link| {
            link.kind == kind && (link.from == from && link.to == to || kind.is_mutual() && link.from == to)
        });
        let Some(link) = found else {
            return Ok(false);
        };
        self.access.run(|conn| {
            conn.prepare_cached(
                "DELETE FROM link WHERE source = (SELECT row FROM memory WHERE id = ?1)
                 AND target = (SELECT row FROM memory WHERE id = ?2) AND kind = ?3",
            )?
            .execute([&link.from, &link.to, kind.as_str()])
        })?;
        self.record_link_change(&link, [&link.from, &link.to], event, |other| json!([other, null]))?;
        Ok(true)
    }

    /// Records in the histories of linked memories that their links to memories that are about to be deleted are removed.
    pub(crate) fn record_removed_links(
        &self,
        records: &[MemoryRecord],
        event: &MemoryEvent,
    ) -> Result<(), DatabaseError> {
        let ids: HashSet<&str> = records.iter().map(|record| record.id.as_str()).collect();
        let event = MemoryEvent { action: "unlink".to_owned(), ..event.clone() };
        for record in records {
            for link in self.list_links(&record.id)? {
                let remaining_end =
                    [&link.from, &link.to].into_iter().find(|end| !ids.contains(end.as_str()));
                if let Some(end) = remaining_end {
                    self.record_link_change(&link, [end], &event, |other| json!([other, null]))?;
                }
            }
        }
        Ok(())
    }

    /// Records a change of a link in the histories of the memories `ends`. `change` makes the `[before, after]` from the id of the
    /// other memory.
    fn record_link_change<const N: usize>(
        &self,
        link: &MemoryLink,
        ends: [&String; N],
        event: &MemoryEvent,
        change: fn(&str) -> Value,
    ) -> Result<(), DatabaseError> {
        for end in ends {
            let (relation, other) = match *end == link.from {
                true => (link.kind.as_str(), &link.to),
                false => (link.kind.inverse_name(), &link.from),
            };
            let fields = [(relation.to_owned(), change(other))].into_iter().collect();
            let event = MemoryEvent { fields, ..event.clone() };
            self.access.run(|conn| {
                let row = conn.query_row("SELECT row FROM memory WHERE id = ?1", [end], |row| row.get(0))?;
                record_event(conn, row, &event)
            })?;
        }
        Ok(())
    }
}

/// Reads a row: the ids of both memories, the kind, and the creation time.
fn read_link(row: &Row<'_>) -> rusqlite::Result<MemoryLink> {
    let kind: String = row.get(2)?;
    let kind = LinkKind::parse(&kind).unwrap_or_default();
    Ok(MemoryLink { from: row.get(0)?, to: row.get(1)?, kind, created: row.get(3)? })
}
