//! Lists some of the HTTP routes that the code of a project declares.

use memod_base::paths::CallerDir;
use memod_base::types::{ClassSet, FileClass, Route, SourceKey};
use memod_search::class_rules;

use super::{MOST_LINE, cut};

/// Most routes that are listed.
const MOST_ROUTES: usize = 12;
/// Classes of files whose routes are not those of the project.
const OF_OTHERS: [FileClass; 6] = [
    FileClass::Test,
    FileClass::Fixture,
    FileClass::Snapshot,
    FileClass::Example,
    FileClass::Benchmark,
    FileClass::Vendored,
];

/// Returns lines for the first routes, by file and line, and the number of all.
pub(super) fn routes(declared: &[(SourceKey, Route)], dir: &CallerDir) -> (Vec<String>, usize) {
    let others = ClassSet::of(&OF_OTHERS);
    let is_own = |key: &SourceKey| !class_rules::by_path(key.as_str()).meets(others);
    let own = || declared.iter().filter(|(key, _)| is_own(key));
    let line = |(key, Route { method, path, line }): &(SourceKey, Route)| {
        let method = if method.is_empty() { String::new() } else { format!("{method} ") };
        cut(&format!("- {method}{path} ({}:{line})", dir.display(key.as_str())), MOST_LINE)
    };
    (own().take(MOST_ROUTES).map(line).collect(), own().count())
}
