//! Lists some of the HTTP routes that the code of a project declares.

use memod_base::paths::CallerDir;
use memod_base::types::{ClassSet, FileClass, HttpRoute, SourceKey};
use memod_search::paths::class_rules;

use super::{MOST_LINE, shorten_line};

/// Maximum number of routes that are listed.
const MOST_ROUTES: usize = 12;
/// Classes of files whose routes are not routes of the project.
const FOREIGN_CLASSES: [FileClass; 6] = [
    FileClass::Test,
    FileClass::Fixture,
    FileClass::Snapshot,
    FileClass::Example,
    FileClass::Benchmark,
    FileClass::Vendored,
];

/// Returns lines for the project's first routes, in order of file and line, and the number of all its routes.
pub(super) fn list_routes(declared: &[(SourceKey, HttpRoute)], dir: &CallerDir) -> (Vec<String>, usize) {
    let others = ClassSet::from_classes(&FOREIGN_CLASSES);
    let own =
        declared.iter().filter(|(key, _)| !class_rules::classes_by_path(key.as_str()).intersects(others));
    (
        own.clone()
            .take(MOST_ROUTES)
            .map(|(key, HttpRoute { method, path, line })| {
                let method = if method.is_empty() { String::new() } else { format!("{method} ") };
                shorten_line(
                    &format!("- {method}{path} ({}:{line})", dir.display_path(key.as_str())),
                    MOST_LINE,
                )
            })
            .collect(),
        own.count(),
    )
}
