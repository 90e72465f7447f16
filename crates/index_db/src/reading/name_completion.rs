//! Lists names with a prefix, for completion.

use memod_base::types::WorktreeId;
use memod_database::DatabaseError;
use rusqlite::OptionalExtension as _;

use super::index_reader::IS_FILE;
use super::index_reader::IndexReader;

/// Sorts after every character that a path has.
const LAST: char = char::MAX;

impl IndexReader {
    /// Returns up to `most` names with a prefix in a directory of a worktree: names of indexed files, and names of directories of
    /// such files with a `/`. An empty `dir` is the root. Each name costs one look-up in the index of paths, however many files are
    /// below it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_names_in(
        &self,
        view: WorktreeId,
        dir: &str,
        prefix: &str,
        most: usize,
    ) -> Result<Vec<String>, DatabaseError> {
        let dir = if dir.is_empty() { String::new() } else { format!("{dir}/") };
        let (mut from, end) = (format!("{dir}{prefix}"), format!("{dir}{prefix}{LAST}"));
        self.run_query(|conn| {
            let mut names = Vec::new();
            let mut next = conn.prepare_cached(&format!(
                "SELECT e.path FROM entry e WHERE e.view_id = ?1 AND e.path >= ?2 AND e.path < ?3
                 AND e.blob_id IS NOT NULL AND {IS_FILE} ORDER BY e.path LIMIT 1"
            ))?;
            while names.len() < most {
                let found =
                    next.query_row((view.0, &from, &end), |row| row.get::<_, String>(0)).optional()?;
                let Some(path) = found else { break };
                let name = match path[dir.len()..].split_once('/') {
                    Some((name, _)) => format!("{name}/"),
                    None => path[dir.len()..].to_owned(),
                };
                // The next look-up begins after all paths below a directory.
                let passed = if name.ends_with('/') { LAST } else { '\u{1}' };
                from = format!("{dir}{name}{passed}");
                names.push(name);
            }
            Ok(names)
        })
    }

    /// Returns the names of the languages of indexed contents that begin with `prefix`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn list_languages(&self, prefix: &str) -> Result<Vec<String>, DatabaseError> {
        self.run_query(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT DISTINCT lang FROM blob WHERE lang != '' AND lang >= ?1 AND lang < ?2 ORDER BY lang",
            )?;
            let rows = statement.query_map((prefix, format!("{prefix}{LAST}")), |row| row.get(0))?;
            rows.collect()
        })
    }
}
