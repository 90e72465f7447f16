//! Maps package names to directories, as the manifests of a repository declare them.

use std::collections::HashMap;

use super::javascript::{JavaScriptManifests, is_compiler_config};
use super::split_path::split_path;

/// File names of the manifests that are read, beside the configurations of the TypeScript compiler.
const MANIFESTS: [&str; 3] = ["Cargo.toml", "go.mod", "package.json"];

/// Directories of packages by name: crates as code spells them (`grep_matcher`), modules of Go; and the manifests of JavaScript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packages {
    crates: HashMap<String, String>,
    go: HashMap<String, String>,
    javascript: JavaScriptManifests,
}

impl Packages {
    /// Returns whether a path is a manifest.
    pub fn is_manifest(path: &str) -> bool {
        let name = split_path(path).1;
        MANIFESTS.contains(&name) || is_compiler_config(name)
    }

    /// Adds the packages that a manifest names; ignores a manifest that cannot be parsed or names none. Of two packages with
    /// the same name, the first counts.
    pub fn add_manifest(&mut self, path: &str, text: &str) {
        let (dir, name) = split_path(path);
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
            "package.json" => self.javascript.add_package(path, text),
            _ if name.ends_with(".json") => self.javascript.add_config(path, text),
            _ => {}
        }
    }

    /// Returns the directory of a crate, by its name in code.
    pub(super) fn crate_dir(&self, name: &str) -> Option<&str> {
        self.crates.get(name).map(String::as_str)
    }

    /// Returns whether a directory is in a known module of Go, so that all unknown modules belong to other libraries.
    pub(super) fn is_in_go_module(&self, dir: &str) -> bool {
        self.go.values().any(|module| {
            dir.strip_prefix(module.as_str())
                .is_some_and(|rest| module.is_empty() || rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Returns the directory of the module of an import path, and the path after the module's name.
    pub(super) fn go_module<'p>(&self, path: &'p str) -> Option<(&str, &'p str)> {
        longest_prefix(&self.go, path)
    }

    /// Returns paths of further manifests, which those that were added extend or refer to; a path may not exist.
    pub fn list_missing_manifests(&self) -> Vec<String> {
        self.javascript.list_missing_configs()
    }

    /// Returns the manifests of JavaScript and TypeScript.
    pub(super) fn javascript_manifests(&self) -> &JavaScriptManifests {
        &self.javascript
    }
}

/// Returns the directory of the longest name that is the path or a parent of it, and the rest of the path.
fn longest_prefix<'d, 'p>(dirs: &'d HashMap<String, String>, path: &'p str) -> Option<(&'d str, &'p str)> {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    let mut known = ends.filter_map(|end| Some((dirs.get(&path[..end])?.as_str(), &path[end..])));
    known.next_back().map(|(dir, rest)| (dir, rest.trim_start_matches('/')))
}

/// Returns the names of the package and of its library in the text of a `Cargo.toml`.
fn crate_names(text: &str) -> Vec<String> {
    let Ok(manifest) = text.parse::<toml_edit::DocumentMut>() else { return Vec::new() };
    ["package", "lib"]
        .into_iter()
        .filter_map(|table| Some(manifest.get(table)?.get("name")?.as_str()?.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_name_packages() {
        let mut packages = Packages::default();
        packages.add_manifest(
            "crates/matcher/Cargo.toml",
            "[package]\nname = \"grep-matcher\"\n[lib]\nname = \"gm\"\n",
        );
        packages.add_manifest("go.mod", "// of m\nmodule example.com/m/v2 // main\n\ngo 1.22\n");
        packages.add_manifest("sub/go.mod", "module \"example.com/m/v2/sub\"\n");
        packages.add_manifest("broken/Cargo.toml", "[package");
        assert_eq!(packages.crate_dir("grep_matcher"), Some("crates/matcher"));
        assert_eq!(packages.crate_dir("gm"), Some("crates/matcher"));
        assert_eq!(packages.crate_dir("regex"), None);
        assert_eq!(packages.go_module("example.com/m/v2/a/b"), Some(("", "a/b")));
        assert_eq!(packages.go_module("example.com/m/v2/sub/c"), Some(("sub", "c")));
        assert_eq!(packages.go_module("example.com/m/v2"), Some(("", "")));
        assert_eq!(packages.go_module("example.com/m/v22"), None);
    }
}
