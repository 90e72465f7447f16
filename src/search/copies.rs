//! Chooses which of several files with the same content represents them.

use std::collections::HashMap;

use super::path_class::PathWords;
use super::query::Query;
use super::rerank::likest;
use crate::store::{ChunkRow, Filter, Reader, StoreError};
use crate::types::ViewId;

/// The copies chosen for one query, so that a content has the same path in all arms.
pub(super) struct Copies<'a> {
    reader: &'a Reader,
    view: ViewId,
    filter: &'a Filter,
    query: &'a Query,
    /// By hash and format, because the same bytes in another format are another content.
    chosen: HashMap<([u8; 32], String), String>,
}

impl<'a> Copies<'a> {
    pub(super) fn new(reader: &'a Reader, view: ViewId, filter: &'a Filter, query: &'a Query) -> Self {
        Self { reader, view, filter, query, chosen: HashMap::new() }
    }

    /// Gives each row the path of the copy that matches the query best.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(super) fn choose(&mut self, mut rows: Vec<ChunkRow>) -> Result<Vec<ChunkRow>, StoreError> {
        for row in rows.iter_mut().filter(|row| row.n_copies > 1) {
            let content = (row.hash, row.lang.clone());
            if let Some(path) = self.chosen.get(&content) {
                row.path.clone_from(path);
                continue;
            }
            let paths = self.reader.copies(self.view, self.filter, row.id)?;
            if let Some(path) = most_named(self.query, paths) {
                row.path.clone_from(&path);
                self.chosen.insert(content, path);
            }
        }
        Ok(rows)
    }
}

/// Returns the path with most words of the query, or the first of several.
fn most_named(query: &Query, paths: Vec<String>) -> Option<String> {
    let mut best: Option<(f64, String)> = None;
    for path in paths {
        let words = PathWords::of(&path);
        let named = |word: &str| likest(word, words.folders.iter().chain(&words.stem).map(String::as_str));
        let words = query.words().iter().map(|word| word.text.as_str());
        let share: f64 = words.filter(|word| word.len() > 1).map(named).sum();
        if best.as_ref().is_none_or(|(most, _)| share > *most) {
            best = Some((share, path));
        }
    }
    best.map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::query::parse;

    #[test]
    fn the_path_with_most_words_of_the_query_is_chosen() {
        let check = |query: &str, paths: &[&str], expected: Option<&str>| {
            let paths = paths.iter().map(|path| (*path).to_owned()).collect();
            assert_eq!(most_named(&parse(query), paths).as_deref(), expected, "{query}");
        };
        let configs = ["admin/tsconfig.json", "billing/tsconfig.json", "billing/web/tsconfig.json"];
        check("billing tsconfig", &configs, Some("billing/tsconfig.json"));
        check("tsconfig of the web", &configs, Some("billing/web/tsconfig.json"));
        check("strict", &configs, Some("admin/tsconfig.json"));
        check("", &configs, Some("admin/tsconfig.json"));
        check("billing", &[], None);
    }
}
