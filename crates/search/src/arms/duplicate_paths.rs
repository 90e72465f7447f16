//! Chooses the path that a hit shows if several files have the same content.

use std::collections::HashMap;

use memod_base::types::ClassSet;

use crate::paths::class_rules;
use crate::paths::path_words::PathWords;
use crate::paths::word_likeness::best_likeness;
use crate::query::Query;
use crate::worktree_chunks::AdmittedChunks;

/// Most paths of a content that are compared with the query.
const MOST_COPIES: usize = 10_000;

/// Remembers the path that was chosen for each content, for one query, so that all chunks of a content have the same path.
pub(super) struct ChosenPaths<'a> {
    members: &'a AdmittedChunks<'a>,
    query: &'a Query,
    chosen: HashMap<u32, &'a str>,
}

impl<'a> ChosenPaths<'a> {
    pub(super) fn new(members: &'a AdmittedChunks<'a>, query: &'a Query) -> Self {
        Self { members, query, chosen: HashMap::new() }
    }

    /// Returns the admitted path of a content that matches the query best.
    pub(super) fn best_path(&mut self, content: u32) -> &'a str {
        if let Some(only) = self.members.only_path(content) {
            return only;
        }
        self.chosen.entry(content).or_insert_with(|| {
            let paths = self.members.paths_of(content).take(MOST_COPIES);
            choose_path(self.query, paths).unwrap_or_default()
        })
    }
}

/// Returns the path whose words match the query best. Among equal paths, returns the one whose classes lower it least, and then the
/// first.
fn choose_path<'a>(query: &Query, paths: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut paths = paths.peekable();
    let first = paths.next()?;
    if paths.peek().is_none() {
        return Some(first);
    }
    let asked = class_rules::asked_classes(query);
    let mut best = (sum_word_likeness(query, first), class_factor_product(first, asked), first);
    for path in paths {
        let (share, worth) = (sum_word_likeness(query, path), class_factor_product(path, asked));
        if (share, worth) > (best.0, best.1) {
            best = (share, worth, path);
        }
    }
    Some(best.2)
}

/// Returns the product of the factors by which the classes of a path lower it, so that an original is chosen before its copies in
/// `vendor/` or in fixtures.
fn class_factor_product(path: &str, asked: ClassSet) -> f64 {
    let classes = class_rules::classes_by_path(path);
    class_rules::lowering_factors(classes, asked).map(|(_, factor)| factor).product()
}

/// Returns how many words of the query a path contains. A similar word counts as a part.
fn sum_word_likeness(query: &Query, path: &str) -> f64 {
    let words = PathWords::from_path(path);
    query
        .words()
        .iter()
        .map(|word| word.text.as_str())
        .filter(|word| word.len() > 1)
        .map(|word| best_likeness(word, words.folder_words().chain(words.file_stem())))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parse_query;

    #[test]
    fn the_path_with_most_words_of_the_query_is_chosen() {
        let check = |query: &str, paths: &[&str], expected: Option<&str>| {
            assert_eq!(choose_path(&parse_query(query), paths.iter().copied()), expected, "{query}");
        };
        let configs = ["admin/tsconfig.json", "billing/tsconfig.json", "billing/web/tsconfig.json"];
        check("billing tsconfig", &configs, Some("billing/tsconfig.json"));
        check("tsconfig of the web", &configs, Some("billing/web/tsconfig.json"));
        check("strict", &configs, Some("admin/tsconfig.json"));
        check("", &configs, Some("admin/tsconfig.json"));
        check("billing", &[], None);
        check("strict", &["a/vendor/x.c", "src/x.c"], Some("src/x.c"));
        check("strict vendor", &["src/x.c", "a/vendor/x.c"], Some("a/vendor/x.c"));
    }
}
