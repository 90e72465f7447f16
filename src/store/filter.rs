//! Restricts a search to a view, kinds, paths and languages.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

use crate::types::Kind;

/// Restricts the chunks that an arm returns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Empty: all.
    pub kinds: Vec<Kind>,
    /// Format names; empty: all.
    pub langs: Vec<String>,
    /// Globs over worktree-relative paths; empty: all.
    pub paths: Vec<String>,
}

/// Holds for a chunk `c` of a blob `b` at an entry `e` that an arm may find; its parameters are the view and
/// [`Filter::params`].
pub(super) const WITHIN: &str = "e.view_id = ?1
    AND (?2 IS NULL OR c.kind IN (SELECT value FROM json_each(?2)))
    AND (?3 IS NULL OR b.lang IN (SELECT value FROM json_each(?3)))
    AND (?4 IS NULL OR c.kind != 'commit' AND path_matches(?4, e.path))";

impl Filter {
    /// Returns the parameters ?2 to ?4 of [`WITHIN`]: JSON arrays, null where all may pass.
    pub(super) fn params(&self) -> [Option<String>; 3] {
        let json = |list: Vec<&str>| (!list.is_empty()).then(|| serde_json::json!(list).to_string());
        [
            json(self.kinds.iter().map(|kind| kind.as_str()).collect()),
            json(self.langs.iter().map(String::as_str).collect()),
            json(self.paths.iter().map(String::as_str).collect()),
        ]
    }

    /// Checks the globs before they reach SQL.
    ///
    /// # Errors
    /// When a glob is invalid.
    pub fn check(&self) -> Result<(), GlobError> {
        glob_set(&self.paths).map(|_| ())
    }
}

/// An invalid glob.
#[derive(Debug, thiserror::Error)]
#[error("{glob}: {reason}")]
pub struct GlobError {
    /// As it was given.
    glob: String,
    reason: globset::ErrorKind,
}

fn glob_set(globs: &[String]) -> Result<GlobSet, GlobError> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let bad = |error: globset::Error| GlobError { glob: glob.clone(), reason: error.kind().clone() };
        let anywhere = if glob.contains('/') { glob.clone() } else { format!("**/{glob}") };
        set.add(GlobBuilder::new(&anywhere).literal_separator(true).build().map_err(bad)?);
        // A directory stands for everything below it, as in `git log -- dir`.
        set.add(GlobBuilder::new(&format!("{}/**", anywhere.trim_end_matches('/'))).build().map_err(bad)?);
    }
    set.build().map_err(|error| GlobError { glob: globs.join(" "), reason: error.kind().clone() })
}

/// Adds the function `path_matches(globs as JSON, path)`; the globs are compiled once per statement.
pub(super) fn register_functions(conn: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    conn.create_scalar_function("path_matches", 2, flags, |context| {
        let globs = context.get_or_create_aux(0, |value| -> Result<GlobSet, rusqlite::Error> {
            let bad = |error| rusqlite::Error::UserFunctionError(error);
            let globs: Vec<String> =
                serde_json::from_str(value.as_str()?).map_err(|error| bad(Box::new(error)))?;
            glob_set(&globs).map_err(|error| bad(Box::new(error)))
        })?;
        Ok(globs.is_match(context.get_raw(1).as_str()?))
    })
}
