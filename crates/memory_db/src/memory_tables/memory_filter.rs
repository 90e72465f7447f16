//! Builds the SQL conditions that select memories.

use memod_proto::memory::{MemoryScope, Traits};
use rusqlite::types::Value as Sql;
use serde_json::Value;

use crate::access::worktree_scope::IS_IN_WORKTREE;
use crate::records::sharing::Sharing;

/// Condition on `memory m`: it is living; `?1` is the present time.
const LIVING: &str = "m.archived_at IS NULL AND (m.expires_at IS NULL OR m.expires_at > ?1)";

/// Condition on `memory m`: it is not a copy from another repository.
pub(crate) const IS_NO_COPY: &str = "m.shared != 4";

/// Condition on `memory m`: the row or its main row has one of the ids in the JSON array `?n`.
const HAS_ID: &str = "m.row IN (
    SELECT p.row FROM json_each(?n) w CROSS JOIN memory p ON p.id = w.value
    UNION ALL
    SELECT v.row FROM json_each(?n) w CROSS JOIN memory p ON p.id = w.value CROSS JOIN memory v ON v.main = p.row)";

/// Conditions on memories, combined with AND.
#[derive(Clone, Debug, Default)]
pub struct MemoryFilter {
    /// Complete ids; the memory must have one of them. `None` for any.
    pub ids: Option<Vec<String>>,
    /// Container that the memory must be in, in normal form.
    pub container: Option<String>,
    /// Containers; the memory must be in one of them. Empty for any.
    pub containers: Vec<String>,
    /// Containers that the memory must not be in.
    pub not_containers: Vec<String>,
    /// Tags that the memory must all have.
    pub tags: Vec<String>,
    /// Tags that the memory must not have.
    pub not_tags: Vec<String>,
    /// Lists of parts of the author's name or address; one of each list must match, ignoring case.
    pub authors: Vec<Vec<String>>,
    /// Parts of the author's name or address that must not match, ignoring case.
    pub not_authors: Vec<String>,
    /// Conditions on fields.
    pub traits: Traits,
    /// Time before which the memory was added (with `archived`: archived), unix ms.
    pub before: Option<i64>,
    /// Time since which the memory was added (with `archived`: archived), unix ms.
    pub since: Option<i64>,
    /// FTS5 expression that the memory must match.
    pub expression: Option<String>,
    /// FTS5 expression that the memory must not match.
    pub excluded: Option<String>,
    /// Whether to select copies of memories of the team's other repositories, too.
    pub followed: bool,
    /// Whether to select archived instead of living memories.
    pub archived: bool,
}

impl MemoryFilter {
    /// Returns the SQL condition on `memory m`, and the values of its parameters.
    pub(crate) fn sql_condition(&self, now_ms: i64) -> (String, Vec<Sql>) {
        let mut values = vec![Sql::from(now_ms)];
        let (mut condition, date) = match self.archived {
            false => (LIVING.to_owned(), "m.created"),
            true => (format!("NOT ({LIVING})"), "coalesce(m.archived_at, m.expires_at)"),
        };
        condition +=
            &format!(" AND {IS_IN_WORKTREE} AND {}", if self.followed { "true" } else { IS_NO_COPY });
        let mut and = |sql: &str, value: Sql| {
            values.push(value);
            condition += &format!(" AND {}", sql.replace("?n", &format!("?{}", values.len())));
        };
        if let Some(ids) = &self.ids {
            and(HAS_ID, Sql::from(Value::from(ids.as_slice()).to_string()));
        }
        if let Some(container) = &self.container {
            and("m.container = ?n", Sql::from(container.clone()));
        }
        if !self.containers.is_empty() {
            and("m.container IN (SELECT value FROM json_each(?n))", json_list(&self.containers));
        }
        if !self.not_containers.is_empty() {
            and("m.container NOT IN (SELECT value FROM json_each(?n))", json_list(&self.not_containers));
        }
        let has_tag = "EXISTS (SELECT 1 FROM tag t WHERE t.memory = m.row AND t.tag = ?n)";
        for tag in &self.tags {
            and(has_tag, Sql::from(tag.clone()));
        }
        for tag in &self.not_tags {
            and(&format!("NOT {has_tag}"), Sql::from(tag.clone()));
        }
        let has_author =
            "EXISTS (SELECT 1 FROM json_each(?n) part WHERE instr(lower(m.author), lower(part.value)) > 0)";
        for authors in &self.authors {
            and(has_author, json_list(authors));
        }
        if !self.not_authors.is_empty() {
            and(&format!("NOT {has_author}"), json_list(&self.not_authors));
        }
        let Traits { tier, author, agent, source, min_priority, scope, metadata } = &self.traits;
        if let Some(tier) = tier {
            and("m.tier = ?n", Sql::from(tier.as_str().to_owned()));
        }
        if let Some(author) = author {
            and("instr(lower(m.author), lower(?n)) > 0", Sql::from(author.clone()));
        }
        if let Some(agent) = agent {
            and("instr(lower(m.agent), lower(?n)) > 0", Sql::from(agent.clone()));
        }
        if let Some(source) = source {
            and("m.source = ?n", Sql::from(source.clone()));
        }
        if let Some(priority) = min_priority {
            and("m.priority >= ?n", Sql::from(*priority));
        }
        if let Some(scope) = scope {
            and("m.shared IN (SELECT value FROM json_each(?n))", sharing_numbers(*scope));
        }
        for pair in metadata {
            // Both sides are compared as SQLite reads JSON: 1 and 1.0 are the same number, "1" is a text.
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
        let matches = "(SELECT rowid FROM memory_fts WHERE memory_fts MATCH ?n)";
        if let Some(expression) = &self.expression {
            and(&format!("m.row IN {matches}"), Sql::from(expression.clone()));
        }
        if let Some(expression) = &self.excluded {
            and(&format!("m.row NOT IN {matches}"), Sql::from(expression.clone()));
        }
        (condition, values)
    }
}

/// Returns a list as JSON, for `json_each`.
fn json_list(items: &[String]) -> Sql {
    Sql::from(Value::from(items).to_string())
}

/// Returns the values of `memory.shared` that a scope selects, as a JSON array.
fn sharing_numbers(scope: MemoryScope) -> Sql {
    let numbers = match scope {
        MemoryScope::Mine => vec![0, Sharing::Never as i64],
        MemoryScope::Repo => vec![Sharing::Repo as i64],
        MemoryScope::Team => vec![Sharing::Team as i64, Sharing::Followed as i64],
    };
    Sql::from(Value::from(numbers).to_string())
}
