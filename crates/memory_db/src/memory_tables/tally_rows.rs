//! Counts memories by tag, container, tier and state.

use memod_database::DatabaseError;
use memod_proto::memory::Tally;
use rusqlite::params_from_iter;

use crate::access::row_access::row_handle;
use crate::access::worktree_scope::IS_IN_WORKTREE;
use crate::memory_tables::memory_filter::{IS_NO_COPY, MemoryFilter};

/// SQL for the main row of `memory m`, by which memories are counted: both sides of a conflict are one memory.
const MAIN: &str = "coalesce(m.main, m.row)";

/// Time to expiry within which a memory counts as expiring soon, ms.
const SOON_MS: i64 = 24 * 3_600_000;

row_handle! {
    /// Numbers of memories, by tag, container and tier.
    pub struct TallyRows {}
}

/// Counts of all memories and links.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the fields are those of `proto::memory::StatsResult`")]
pub struct MemoryCounts {
    pub living: u64,
    pub archived: u64,
    pub content_bytes: u64,
    pub oldest: Option<i64>,
    pub newest: Option<i64>,
    pub expiring: u64,
    pub next_end: Option<i64>,
    pub links: u64,
    pub links_archived: u64,
}

impl TallyRows<'_> {
    /// Returns the number of living memories with each tag.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tally_tags(&self) -> Result<Vec<Tally>, DatabaseError> {
        self.tally_by("t.tag", "tag t JOIN memory m ON m.row = t.memory")
    }

    /// Returns the number of living memories in each container.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tally_containers(&self) -> Result<Vec<Tally>, DatabaseError> {
        self.tally_by("m.container", "memory m")
    }

    /// Returns the number of living memories in each tier.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tally_tiers(&self) -> Result<Vec<Tally>, DatabaseError> {
        self.tally_by("m.tier", "memory m")
    }

    /// Returns the number of living memories for each value of an SQL expression, largest first.
    fn tally_by(&self, name: &str, tables: &str) -> Result<Vec<Tally>, DatabaseError> {
        let (condition, values) = MemoryFilter::default().sql_condition(self.access.now_ms());
        let select = format!(
            "SELECT {name}, count(DISTINCT {MAIN}) FROM {tables} WHERE {condition} GROUP BY 1 ORDER BY 2 DESC, 1"
        );
        self.access.run(|conn| {
            conn.prepare(&select)?
                .query_map(params_from_iter(values), |row| {
                    Ok(Tally { name: row.get(0)?, memories: row.get(1)? })
                })?
                .collect()
        })
    }

    /// Returns the number of links between living memories, and the number of other links.
    fn count_links(&self) -> Result<(u64, u64), DatabaseError> {
        let (condition, values) = MemoryFilter::default().sql_condition(self.access.now_ms());
        let lives =
            |end: &str| format!("EXISTS (SELECT 1 FROM memory m WHERE m.row = {end} AND {condition})");
        let select = format!(
            "SELECT count(*) FILTER (WHERE {0}), count(*) FILTER (WHERE NOT ({0})) FROM link",
            // With the table's name, because `memory` has a column `source`, too.
            [lives("link.source"), lives("link.target")].join(" AND ")
        );
        self.access.run(|conn| {
            conn.query_row(&select, params_from_iter(values), |row| Ok((row.get(0)?, row.get(1)?)))
        })
    }

    /// Counts memories and links.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn count_memories(&self) -> Result<MemoryCounts, DatabaseError> {
        let (condition, values) = MemoryFilter::default().sql_condition(self.access.now_ms());
        let (links, links_archived) = self.count_links()?;
        self.access.run(|conn| {
            let content_bytes = conn.query_row(
                &format!("SELECT coalesce(sum(octet_length(content)), 0) FROM memory m WHERE {IS_IN_WORKTREE} AND {IS_NO_COPY}"),
                [],
                |row| row.get(0),
            )?;
            let (is_archived, ended) = MemoryFilter { archived: true, ..MemoryFilter::default() }.sql_condition(self.access.now_ms());
            let archived = conn.query_row(
                &format!("SELECT count(DISTINCT {MAIN}) FROM memory m WHERE {is_archived}"),
                params_from_iter(ended),
                |row| row.get(0),
            )?;
            let soon = self.access.now_ms().saturating_add(SOON_MS);
            let living = format!(
                "SELECT count(DISTINCT {MAIN}), min(created), max(created),
                     count(DISTINCT {MAIN}) FILTER (WHERE expires_at <= {soon}), min(expires_at)
                 FROM memory m WHERE {condition}"
            );
            conn.query_row(&living, params_from_iter(values), |row| {
                Ok(MemoryCounts {
                    living: row.get(0)?,
                    archived,
                    content_bytes,
                    oldest: row.get(1)?,
                    newest: row.get(2)?,
                    expiring: row.get(3)?,
                    next_end: row.get(4)?,
                    links,
                    links_archived,
                })
            })
        })
    }
}
