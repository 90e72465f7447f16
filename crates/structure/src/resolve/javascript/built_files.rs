//! Maps the path of a build's output to that of its source.
//!
//! A manifest names what is published, such as `dist/index.js`, but a worktree has the source.

use super::super::split_path::{join_path, split_path};

/// Directories that builds write to.
const BUILD_DIRS: [&str; 14] = [
    "dist", "build", "lib", "out", "output", "es", "esm", "cjs", "umd", "types", "typings", "dts", "temp",
    "module",
];
/// Directories inside of these, for one form of the same module.
const FORM_DIRS: [&str; 13] = [
    "src", "esm", "cjs", "es", "umd", "types", "typings", "module", "modules", "commonjs", "node", "browser",
    "lib",
];
/// Endings of what builds write.
const BUILT_ENDINGS: [&str; 8] = [".d.ts", ".d.mts", ".d.cts", ".mjs", ".cjs", ".jsx", ".js", ".ts"];
/// Marks of a form of a module before the ending: `index.esm.js`.
const FORM_MARKS: [&str; 9] =
    [".cjs", ".esm", ".mjs", ".umd", ".es", ".module", ".min", ".common", ".browser"];
/// Endings of sources, the most likely first.
const SOURCE_ENDINGS: [&str; 8] = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"];

/// Returns the source of a path below the directory of a build in a package; `None` if the worktree has no such source.
pub(super) fn find_source(
    path: &str,
    is_package: impl Fn(&str) -> bool,
    has_file: impl Fn(&str) -> bool,
) -> Option<String> {
    let stem = BUILT_ENDINGS.iter().find_map(|ending| path.strip_suffix(ending))?;
    let stem = FORM_MARKS.iter().find_map(|mark| stem.strip_suffix(mark)).unwrap_or(stem);
    let mut dir = split_path(stem).0;
    while !dir.is_empty() {
        let (package, name) = split_path(dir);
        let is_build = BUILD_DIRS.contains(&name) || name.starts_with("dist-");
        if is_build && is_package(package) {
            let inner = &stem[dir.len() + 1..];
            if let Some(found) = find_in_package(package, inner, &has_file) {
                return Some(found);
            }
        }
        dir = package;
    }
    None
}

/// Returns the source of a built file of a package, given the path inside of the build.
fn find_in_package(package: &str, inner: &str, has_file: &impl Fn(&str) -> bool) -> Option<String> {
    let mut inner = inner;
    loop {
        let places = [join_path("src", inner), inner.to_owned(), join_path("lib", inner)];
        for place in places.iter().map(|place| join_path(package, place)) {
            if let Some(found) = with_source_ending(&place, has_file) {
                return Some(found);
            }
        }
        inner = inner.split_once('/').filter(|(dir, _)| FORM_DIRS.contains(dir))?.1;
    }
}

/// Returns the source with a path without its ending, or the `index` in a directory of this name.
pub(super) fn with_source_ending(stem: &str, has_file: &impl Fn(&str) -> bool) -> Option<String> {
    let index = join_path(stem, "index");
    let mut all = [stem, &index]
        .into_iter()
        .flat_map(|stem| SOURCE_ENDINGS.iter().map(move |ending| format!("{stem}{ending}")));
    all.find(|path| has_file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_a_build_has_a_source() {
        let has_file = |path: &str| {
            ["p/src/index.ts", "p/src/adapters/express.ts", "p/src/a/index.tsx", "p/b.mts", "src/top.js"]
                .contains(&path)
        };
        let is_package = |dir: &str| ["p", ""].contains(&dir);
        for (built, source) in [
            ("p/dist/index.js", Some("p/src/index.ts")),
            ("p/dist/index.d.mts", Some("p/src/index.ts")),
            ("p/lib/index.cjs.js", Some("p/src/index.ts")),
            ("p/dist/esm/index.mjs", Some("p/src/index.ts")),
            ("p/dist/src/index.d.ts", Some("p/src/index.ts")),
            ("p/dist/adapters/express.cjs", Some("p/src/adapters/express.ts")),
            ("p/dist/a.js", Some("p/src/a/index.tsx")),
            ("p/dist/b.js", Some("p/b.mts")),
            ("dist/top.js", Some("src/top.js")),
            ("p/dist/other.js", None),
            ("p/src/other.js", None),
            ("q/dist/index.js", None),
        ] {
            assert_eq!(find_source(built, is_package, has_file).as_deref(), source, "{built}");
        }
    }
}
