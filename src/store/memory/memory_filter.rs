//! Builds the SQL conditions that select memories.

use rusqlite::types::Value as Sql;
use serde_json::Value;

use crate::proto::memory::Traits;

/// Conditions on memories, combined with AND.
#[derive(Clone, Debug, Default)]
pub struct MemoryFilter {
    /// Complete ids; empty for any.
    pub ids: Option<Vec<String>>,
    /// Container, in normal form.
    pub container: Option<String>,
    /// Tags that must all be present.
    pub tags: Vec<String>,
    /// Conditions on fields.
    pub traits: Traits,
    /// Only memories added (in the archive: archived) before this time, unix ms.
    pub before: Option<i64>,
    /// Only memories added at this time or later, unix ms.
    pub since: Option<i64>,
    /// An FTS5 expression.
    pub expression: Option<String>,
    /// Whether to select archived instead of living memories.
    pub archived: bool,
}

impl MemoryFilter {
    /// Returns the condition on `memory m`, and the values of its parameters.
    pub(super) fn condition(&self, now_ms: i64) -> (String, Vec<Sql>) {
        let mut values = vec![Sql::from(now_ms)];
        let living = "m.archived_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > ?1)";
        let (mut condition, date) = match self.archived {
            false => (living.to_owned(), "m.created"),
            true => (format!("NOT ({living})"), "coalesce(m.archived_at, m.expires_at)"),
        };
        let mut and = |sql: &str, value: Sql| {
            values.push(value);
            condition += &format!(" AND {}", sql.replace("?n", &format!("?{}", values.len())));
        };
        if let Some(ids) = &self.ids {
            and(
                "m.id IN (SELECT value FROM json_each(?n))",
                Sql::from(Value::from(ids.as_slice()).to_string()),
            );
        }
        if let Some(container) = &self.container {
            and("m.container = ?n", Sql::from(container.clone()));
        }
        for tag in &self.tags {
            and("EXISTS (SELECT 1 FROM tag t WHERE t.memory = m.row AND t.tag = ?n)", Sql::from(tag.clone()));
        }
        let Traits { tier, author, min_priority, metadata } = &self.traits;
        if let Some(tier) = tier {
            and("m.tier = ?n", Sql::from(tier.as_str().to_owned()));
        }
        if let Some(author) = author {
            and("instr(lower(m.author), lower(?n)) > 0", Sql::from(author.clone()));
        }
        if let Some(priority) = min_priority {
            and("m.priority >= ?n", Sql::from(*priority));
        }
        for pair in metadata {
            // Compare both sides as SQLite reads JSON: 1 and 1.0 are the same number, "1" is a text.
            let pair = Value::from_iter([(pair.0.as_str(), pair.1.clone())]).to_string();
            let same = "SELECT 1 FROM json_each(m.metadata) has, json_each(?n) wants
                 WHERE has.key = wants.key AND has.value IS wants.value";
            and(&format!("EXISTS ({same})"), Sql::from(pair));
        }
        if let Some(before) = self.before {
            and(&format!("{date} < ?n"), Sql::from(before));
        }
        if let Some(since) = self.since {
            and(&format!("{date} >= ?n"), Sql::from(since));
        }
        if let Some(expression) = &self.expression {
            and(
                "m.row IN (SELECT rowid FROM memory_fts WHERE memory_fts MATCH ?n)",
                Sql::from(expression.clone()),
            );
        }
        (condition, values)
    }
}
