//! Chooses which of several files with the same content represents them.

use std::collections::HashMap;

use super::class_rules;
use super::path_words::PathWords;
use super::query::Query;
use super::rerank::likest;
use super::view_chunks::Members;

/// Most paths of one content that are compared with a query.
const MOST_COPIES: usize = 10_000;

/// The copies chosen for one query, so that a content has the same path in all arms.
pub(super) struct Copies<'a> {
    members: &'a Members<'a>,
    query: &'a Query,
    chosen: HashMap<u32, &'a str>,
}

impl<'a> Copies<'a> {
    pub(super) fn new(members: &'a Members<'a>, query: &'a Query) -> Self {
        Self { members, query, chosen: HashMap::new() }
    }

    /// Returns the admitted path of a content that matches the query best.
    pub(super) fn path(&mut self, content: u32) -> &'a str {
        if let Some(only) = self.members.only_path(content) {
            return only;
        }
        let paths = || self.members.paths(content).take(MOST_COPIES);
        self.chosen.entry(content).or_insert_with(|| most_named(self.query, paths()).unwrap_or_default())
    }
}

/// Returns the path with most words of the query; of several the one that its class lowers least, and then the first.
fn most_named<'a>(query: &Query, paths: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut paths = paths.peekable();
    let first = paths.next()?;
    if paths.peek().is_none() {
        return Some(first);
    }
    let asked = class_rules::asked(query);
    // An original stands for its copies in `vendor/` or in fixtures.
    let worth = |path| -> f64 {
        class_rules::factors(class_rules::by_path(path), asked).map(|(_, factor)| factor).product()
    };
    let mut best = (named(query, first), worth(first), first);
    for path in paths {
        let (share, worth) = (named(query, path), worth(path));
        if (share, worth) > (best.0, best.1) {
            best = (share, worth, path);
        }
    }
    Some(best.2)
}

/// Returns how many words of the query a path has.
fn named(query: &Query, path: &str) -> f64 {
    let words = PathWords::of(path);
    let named = |word: &str| likest(word, words.folders().chain(words.stem()));
    query.words().iter().map(|word| word.text.as_str()).filter(|word| word.len() > 1).map(named).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::parse;

    #[test]
    fn the_path_with_most_words_of_the_query_is_chosen() {
        let check = |query: &str, paths: &[&str], expected: Option<&str>| {
            assert_eq!(most_named(&parse(query), paths.iter().copied()), expected, "{query}");
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
