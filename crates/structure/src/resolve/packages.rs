//! Knows the packages of a repository by the names that their manifests give them.

use std::collections::HashMap;

use super::path_index::split;

/// File names of the manifests that are read.
const MANIFESTS: [&str; 3] = ["Cargo.toml", "go.mod", "package.json"];

/// Directories of packages by name: crates as code spells them (`grep_matcher`), modules of Go, packages of npm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packages {
    crates: HashMap<String, String>,
    go: HashMap<String, String>,
    npm: HashMap<String, String>,
}

impl Packages {
    /// Whether a path is a manifest.
    pub fn is_manifest(path: &str) -> bool {
        MANIFESTS.contains(&split(path).1)
    }

    /// Adds what a manifest says; nothing if it cannot be parsed or names no package. Of two with one name the first counts.
    pub fn add(&mut self, path: &str, text: &str) {
        let (dir, name) = split(path);
        match name {
            "Cargo.toml" => {
                for name in crate_names(text) {
                    self.crates.entry(name.replace('-', "_")).or_insert_with(|| dir.to_owned());
                }
            }
            "go.mod" => {
                let module = text.lines().find_map(|line| line.trim().strip_prefix("module "));
                let module = module.map(|module| module.split("//").next().unwrap_or_default());
                if let Some(name) = module {
                    let name = name.trim().trim_matches(['"', '`']);
                    self.go.entry(name.to_owned()).or_insert_with(|| dir.to_owned());
                }
            }
            "package.json" => {
                let manifest: Option<serde_json::Value> = serde_json::from_str(text).ok();
                let name = manifest.as_ref().and_then(|manifest| manifest["name"].as_str());
                if let Some(name) = name {
                    self.npm.entry(name.to_owned()).or_insert_with(|| dir.to_owned());
                }
            }
            _ => {}
        }
    }

    /// Returns the directory of a crate.
    pub(super) fn of_crate(&self, name: &str) -> Option<&str> {
        self.crates.get(name).map(String::as_str)
    }

    /// Whether a directory is in a known module of Go, so that all that is not known is of other libraries.
    pub(super) fn is_in_go(&self, dir: &str) -> bool {
        self.go.values().any(|module| {
            dir.strip_prefix(module.as_str())
                .is_some_and(|rest| module.is_empty() || rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Returns the directory of the module that an import path is in, and what follows the module's name.
    pub(super) fn of_go<'p>(&self, path: &'p str) -> Option<(&str, &'p str)> {
        longest(&self.go, path)
    }

    /// Returns the directory of the package of npm that an import is from, and what follows its name.
    pub(super) fn of_npm<'p>(&self, path: &'p str) -> Option<(&str, &'p str)> {
        longest(&self.npm, path)
    }
}

/// Returns the directory of the longest name that a path is or is below of, and the rest.
fn longest<'d, 'p>(dirs: &'d HashMap<String, String>, path: &'p str) -> Option<(&'d str, &'p str)> {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let mut known = ends.filter_map(|end| Some((dirs.get(&path[..end])?.as_str(), &path[end..])));
    known.next_back().map(|(dir, rest)| (dir, rest.trim_start_matches('/')))
}

/// Returns the names of the package and of its library.
fn crate_names(text: &str) -> Vec<String> {
    let Ok(manifest) = text.parse::<toml_edit::DocumentMut>() else { return Vec::new() };
    let name = |table: &str| Some(manifest.get(table)?.get("name")?.as_str()?.to_owned());
    ["package", "lib"].into_iter().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_name_packages() {
        let mut packages = Packages::default();
        packages
            .add("crates/matcher/Cargo.toml", "[package]\nname = \"grep-matcher\"\n[lib]\nname = \"gm\"\n");
        packages.add("go.mod", "// of m\nmodule example.com/m/v2 // main\n\ngo 1.22\n");
        packages.add("sub/go.mod", "module \"example.com/m/v2/sub\"\n");
        packages.add("packages/server/package.json", "{\"name\": \"@trpc/server\"}");
        packages.add("broken/package.json", "{");
        packages.add("broken/Cargo.toml", "[package");
        assert_eq!(packages.of_crate("grep_matcher"), Some("crates/matcher"));
        assert_eq!(packages.of_crate("gm"), Some("crates/matcher"));
        assert_eq!(packages.of_crate("regex"), None);
        assert_eq!(packages.of_go("example.com/m/v2/a/b"), Some(("", "a/b")));
        assert_eq!(packages.of_go("example.com/m/v2/sub/c"), Some(("sub", "c")));
        assert_eq!(packages.of_go("example.com/m/v2"), Some(("", "")));
        assert_eq!(packages.of_go("example.com/m/v22"), None);
        assert_eq!(packages.of_npm("@trpc/server/adapters"), Some(("packages/server", "adapters")));
        assert_eq!(packages.of_npm("@trpc/client"), None);
    }
}
