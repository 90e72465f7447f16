//! Restricts a search to a view, kinds, paths and languages.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::{Null, ToSqlOutput};
use serde_json::{Value, json};

use crate::types::{IdSet, Kind, ViewId};

/// Restricts the chunks that an arm returns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Empty: all.
    pub kinds: Vec<Kind>,
    /// Format names; empty: all.
    pub langs: Vec<String>,
    /// Format names that are left out.
    pub not_langs: Vec<String>,
    /// Lists of globs over worktree-relative paths, of each of which one must match; empty: all.
    pub paths: Vec<Vec<String>>,
    /// Globs of paths that are left out.
    pub not_paths: Vec<String>,
    /// Only these chunks.
    pub chunks: Option<IdSet>,
}

/// Holds for a path `PATH` of a chunk `c` within the globs. Commits have no path.
const WITHIN_GLOBS: &str = "(?4 IS NULL OR c.kind != 'commit' AND path_matches(?4, PATH))
    AND (?6 IS NULL OR c.kind = 'commit' OR NOT path_matches(?6, PATH))";

/// Returns the condition on a column with a path of a chunk `c` to be within the globs.
pub(super) fn within_globs(column: &str) -> String {
    WITHIN_GLOBS.replace("PATH", column)
}

/// Returns the condition on a chunk `c` of a blob `b` at an entry `e` that an arm may find; its parameters are those of
/// [`Filter::params`].
pub(super) fn within() -> String {
    let globs = within_globs("e.path");
    format!(
        "e.view_id = ?1
         AND (?2 IS NULL OR c.kind IN (SELECT value FROM json_each(?2)))
         AND (?3 IS NULL OR b.lang IN (SELECT value FROM json_each(?3)))
         AND (?7 IS NULL OR b.lang NOT IN (SELECT value FROM json_each(?7)))
         AND (?8 IS NULL OR has_id(?8, c.id))
         AND {globs}"
    )
}

impl Filter {
    /// Returns the parameters of [`within`], with `query` as ?5. Lists are JSON, null where all may pass.
    pub(super) fn params<'a>(&'a self, view: ViewId, query: &'a str) -> [ToSqlOutput<'a>; 8] {
        let json = |list: Value| match list.as_array().is_some_and(Vec::is_empty) {
            true => ToSqlOutput::from(Null),
            false => ToSqlOutput::from(list.to_string()),
        };
        let chunks = self.chunks.as_ref().map_or(ToSqlOutput::from(Null), |set| set.as_bytes().into());
        let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.as_str()).collect();
        let not_paths: Vec<_> = (!self.not_paths.is_empty()).then_some(&self.not_paths).into_iter().collect();
        [
            view.0.into(),
            json(json!(kinds)),
            json(json!(self.langs)),
            json(json!(self.paths)),
            query.into(),
            json(json!(not_paths)),
            json(json!(self.not_langs)),
            chunks,
        ]
    }

    /// Returns whether the filter restricts nothing, or only to a set of chunks.
    pub fn has_only_chunks(&self) -> bool {
        let Self { kinds, langs, not_langs, paths, not_paths, chunks: _ } = self;
        kinds.is_empty()
            && [langs, not_langs, not_paths].iter().all(|list| list.is_empty())
            && paths.is_empty()
    }

    /// Restricts the filter further to these chunks.
    pub fn only(&mut self, set: IdSet) {
        match &mut self.chunks {
            Some(chunks) => chunks.keep(&set),
            None => self.chunks = Some(set),
        }
    }

    /// Checks the globs before they reach SQL.
    ///
    /// # Errors
    /// When a glob is invalid.
    pub fn check(&self) -> Result<(), GlobError> {
        self.paths.iter().chain([&self.not_paths]).try_for_each(|globs| glob_set(globs).map(|_| ()))
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

/// Adds `has_id(set, id)`, and `path_matches(lists of globs as JSON, path)`, which holds when one glob of each list matches; the globs
/// are compiled once per statement.
pub(super) fn register_functions(conn: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    conn.create_scalar_function("has_id", 2, flags, |context| {
        Ok(IdSet::has_bit(context.get_raw(0).as_blob()?, context.get_raw(1).as_i64()?))
    })?;
    conn.create_scalar_function("path_matches", 2, flags, |context| {
        let globs = context.get_or_create_aux(0, |value| -> Result<Vec<GlobSet>, rusqlite::Error> {
            let bad = |error| rusqlite::Error::UserFunctionError(error);
            let lists: Vec<Vec<String>> =
                serde_json::from_str(value.as_str()?).map_err(|error| bad(Box::new(error)))?;
            lists.iter().map(|globs| glob_set(globs).map_err(|error| bad(Box::new(error)))).collect()
        })?;
        let path = context.get_raw(1).as_str()?;
        Ok(globs.iter().all(|globs| globs.is_match(path)))
    })
}
