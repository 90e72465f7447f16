//! Reads the configurations of the TypeScript compiler: `tsconfig.json`, `jsconfig.json` and what they extend.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::super::split_path::{join_path, resolve_relative, split_path};
use super::config_globs::matches_pattern;

/// Longest chain of configurations in which each extends the next.
const MOST_BASES: usize = 32;
/// Stands for the directory of the configuration that extends the one in which it is written.
const CONFIG_DIR: &str = "${configDir}";

/// The texts of configurations by path, parsed.
pub(super) type ParsedConfigs = HashMap<String, Map<String, Value>>;

/// The settings of a configuration about imports. All paths start at the top of the worktree.
#[derive(Debug, Default)]
pub(super) struct CompilerConfig {
    /// Patterns of imports with their targets.
    paths: Vec<(String, Vec<String>)>,
    pub(super) base_url: Option<String>,
    /// Directories that are read as one.
    pub(super) root_dirs: Vec<String>,
    files: Vec<String>,
    include: Vec<String>,
    exclude: Vec<String>,
    /// Paths of the configurations that it refers to.
    pub(super) references: Vec<String>,
}

impl CompilerConfig {
    /// Returns the paths that `paths` gives for an import; none if no pattern matches.
    pub(super) fn targets_of(&self, import: &str) -> Vec<String> {
        if let Some((_, targets)) = self.paths.iter().find(|(pattern, _)| pattern == import) {
            return targets.clone();
        }
        let matching = self.paths.iter().filter_map(|(pattern, targets)| {
            let (start, end) = pattern.split_once('*')?;
            let inner = import.strip_prefix(start)?.strip_suffix(end)?;
            Some((start.len(), inner, targets))
        });
        let best = matching.max_by_key(|(n_bytes, _, _)| *n_bytes);
        best.map_or_else(Vec::new, |(_, inner, targets)| {
            targets.iter().map(|target| target.replace('*', inner)).collect()
        })
    }

    /// Returns whether the configuration is one for a file.
    pub(super) fn includes_file(&self, path: &str) -> bool {
        let matches = |patterns: &[String]| patterns.iter().any(|pattern| matches_pattern(pattern, path));
        self.files.iter().any(|file| file == path) || matches(&self.include) && !matches(&self.exclude)
    }
}

/// Returns whether a file name is that of a configuration of the compiler.
pub(in super::super) fn is_compiler_config(name: &str) -> bool {
    (name.starts_with("tsconfig") || name.starts_with("jsconfig")) && name.ends_with(".json")
}

/// Parses JSON with comments and trailing commas; `None` if it is no object.
pub(super) fn parse_object(text: &str) -> Option<Map<String, Value>> {
    let parsed = jsonc_parser::parse_to_serde_value(text.trim_start_matches('\u{feff}'), &Default::default());
    match parsed.ok()? {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// Returns the paths that `extends` and `references` of a configuration may mean; those of other packages are given by the
/// directories in `packages`.
pub(super) fn list_linked_configs(
    path: &str,
    config: &Map<String, Value>,
    packages: &HashMap<String, String>,
) -> Vec<String> {
    let targets = list_strings(config.get("extends")).chain(list_references(config));
    targets.flat_map(|target| candidates_of(path, target, packages)).collect()
}

/// Returns the conditions that the configurations add to those of `exports`.
pub(super) fn list_custom_conditions(configs: &ParsedConfigs) -> Vec<String> {
    let options =
        configs.values().filter_map(|config| config.get("compilerOptions")?.get("customConditions"));
    let mut found: Vec<String> =
        options.flat_map(|conditions| list_strings(Some(conditions))).map(str::to_owned).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Reads a configuration with what it extends. A base that is not in the worktree is left out.
pub(super) fn read_config(
    path: &str,
    configs: &ParsedConfigs,
    packages: &HashMap<String, String>,
) -> CompilerConfig {
    let mut chain = Vec::new();
    add_with_bases(path, configs, packages, &mut chain);
    let config_dir = split_path(path).0;
    let option = |name: &str| {
        chain.iter().find_map(|(path, config)| {
            let value = config.get("compilerOptions").and_then(|options| options.get(name));
            Some((split_path(path).0, value.or_else(|| config.get(name))?))
        })
    };
    let to_path = |dir: &str, text: &str| match text.strip_prefix(CONFIG_DIR) {
        Some(rest) => resolve_relative(config_dir, rest.trim_start_matches('/')),
        None => resolve_relative(dir, text),
    };
    let list = |name: &str| {
        let found = option(name);
        found.map(|(dir, value)| {
            list_strings(Some(value)).filter_map(|text| to_path(dir, text)).collect::<Vec<_>>()
        })
    };
    let base_url = option("baseUrl").and_then(|(dir, value)| to_path(dir, value.as_str()?));
    let paths = option("paths").and_then(|(dir, value)| Some((dir, value.as_object()?)));
    let paths = paths.map(|(dir, paths)| {
        let dir = base_url.as_deref().unwrap_or(dir);
        let targets = |value| list_strings(Some(value)).filter_map(|text| to_path(dir, text)).collect();
        paths.iter().map(|(pattern, value)| (pattern.clone(), targets(value))).collect()
    });
    let (files, include) = (list("files"), list("include"));
    let all = || if files.is_some() { Vec::new() } else { vec![join_path(config_dir, "**/*")] };
    let own = configs.get(path);
    let references = own.into_iter().flat_map(list_references).filter_map(|target| {
        let found = candidates_of(path, target, packages).into_iter();
        found.into_iter().find(|other| other != path && configs.contains_key(other))
    });
    CompilerConfig {
        paths: paths.unwrap_or_default(),
        base_url,
        root_dirs: list("rootDirs").unwrap_or_default(),
        include: include.unwrap_or_else(all),
        files: files.clone().unwrap_or_default(),
        exclude: list("exclude").unwrap_or_default(),
        references: references.collect(),
    }
}

/// Adds a configuration and what it extends, the most specific first.
fn add_with_bases<'c>(
    path: &str,
    configs: &'c ParsedConfigs,
    packages: &HashMap<String, String>,
    chain: &mut Vec<(&'c str, &'c Map<String, Value>)>,
) {
    let Some((path, config)) = configs.get_key_value(path) else { return };
    if chain.len() >= MOST_BASES || chain.iter().any(|(known, _)| known == path) {
        return;
    }
    chain.push((path, config));
    // Of several bases, the last overrides the others.
    let bases: Vec<&str> = list_strings(config.get("extends")).collect();
    for base in bases.into_iter().rev() {
        let found = candidates_of(path, base, packages);
        if let Some(base) = found.iter().find(|base| configs.contains_key(*base)) {
            add_with_bases(base, configs, packages, chain);
        }
    }
}

/// Returns the paths that a link from a configuration may mean.
fn candidates_of(from: &str, target: &str, packages: &HashMap<String, String>) -> Vec<String> {
    let base = if target.starts_with('.') {
        resolve_relative(split_path(from).0, target)
    } else {
        let ends = target.match_indices('/').map(|(at, _)| at).chain([target.len()]);
        let known: Vec<_> = ends.filter_map(|end| Some((packages.get(&target[..end])?, end))).collect();
        known.last().and_then(|(dir, end)| resolve_relative(dir, &target[*end..]))
    };
    let Some(base) = base else { return Vec::new() };
    let inner = join_path(&base, "tsconfig.json");
    if base.ends_with(".json") { vec![base, inner] } else { vec![format!("{base}.json"), inner] }
}

fn list_references(config: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let references = config.get("references").and_then(Value::as_array);
    references.into_iter().flatten().filter_map(|reference| reference.get("path")?.as_str())
}

/// Returns the strings of a value that is one string or a list.
fn list_strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    let list = value.map(|value| value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice));
    list.into_iter().flatten().filter_map(Value::as_str)
}
