//! Resolves the text of an import in a file of the worktree.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use super::super::split_path::{join_path, resolve_relative, split_path};
use super::built_files::{find_source, with_source_ending};
use super::compiler_configs::{
    CompilerConfig, ParsedConfigs, list_custom_conditions, list_linked_configs, parse_object, read_config,
};
use super::package_exports::{find_targets, list_entries};

/// Endings that an import may leave out, the most preferred first, as TypeScript orders them.
const ENDINGS: [&str; 15] = [
    ".ts", ".tsx", ".d.ts", ".mts", ".d.mts", ".cts", ".d.cts", ".js", ".jsx", ".mjs", ".cjs", ".vue",
    ".svelte", ".astro", ".json",
];
/// Sources that an import means by the ending of what the compiler writes.
const WRITTEN_ENDINGS: [(&str, &[&str]); 4] = [
    (".js", &[".ts", ".tsx", ".d.ts", ".js", ".jsx"]),
    (".jsx", &[".tsx", ".d.ts", ".jsx"]),
    (".mjs", &[".mts", ".d.mts", ".mjs"]),
    (".cjs", &[".cts", ".d.cts", ".cjs"]),
];
/// Directories of a package in which an import without `exports` may begin.
const SOURCE_DIRS: [&str; 3] = ["src", "", "lib"];
/// Starts of imports that tools read as the sources of the package around the file when nothing is configured.
const CONVENTIONS: [&str; 4] = ["@/", "~/", "~~/", "@@/"];

/// The manifests that decide what an import means, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct JavaScriptManifests {
    packages: HashMap<String, String>,
    manifests: HashMap<String, Map<String, Value>>,
    configs: ParsedConfigs,
}

impl JavaScriptManifests {
    /// Adds a `package.json`; ignores one that cannot be parsed. Of two packages with the same name, the first counts.
    pub(in super::super) fn add_package(&mut self, path: &str, text: &str) {
        let text = text.trim_start_matches('\u{feff}');
        let Ok(Value::Object(manifest)) = serde_json::from_str(text) else { return };
        if let Some(name) = manifest.get("name").and_then(Value::as_str) {
            self.packages.entry(name.to_owned()).or_insert_with(|| split_path(path).0.to_owned());
        }
        self.manifests.insert(split_path(path).0.to_owned(), manifest);
    }

    /// Adds a configuration of the compiler; ignores one that cannot be parsed.
    pub(in super::super) fn add_config(&mut self, path: &str, text: &str) {
        if let Some(config) = parse_object(text) {
            self.configs.insert(path.to_owned(), config);
        }
    }

    /// Returns the names that manifests give to modules: packages, their exports and imports, and aliases of the compiler, each with
    /// the directory of the manifest.
    fn list_names(&self) -> Vec<(String, String)> {
        let mut names = Vec::new();
        for (dir, manifest) in &self.manifests {
            let keys = |field: &str| {
                let fields = manifest.get(field).and_then(Value::as_object);
                fields.into_iter().flat_map(|fields| fields.keys().cloned()).collect::<Vec<_>>()
            };
            names.extend(keys("imports").into_iter().map(|key| (dir.clone(), key)));
            let Some(name) = manifest.get("name").and_then(Value::as_str) else { continue };
            names.push((dir.clone(), name.to_owned()));
            let exported =
                keys("exports").into_iter().filter_map(|key| Some(key.strip_prefix("./")?.to_owned()));
            names.extend(exported.map(|key| (dir.clone(), format!("{name}/{key}"))));
        }
        for (path, config) in &self.configs {
            let paths = config.get("compilerOptions").and_then(|options| options.get("paths")?.as_object());
            let keys = paths.into_iter().flat_map(Map::keys);
            names.extend(keys.map(|key| (split_path(path).0.to_owned(), key.clone())));
        }
        names.retain(|(_, name)| !name.contains('*'));
        names.sort_unstable();
        names
    }

    /// Returns paths of configurations that others extend or refer to, and that are not added yet; a path may not exist.
    pub(in super::super) fn list_missing_configs(&self) -> Vec<String> {
        let linked =
            self.configs.iter().flat_map(|(path, config)| list_linked_configs(path, config, &self.packages));
        let mut missing: Vec<String> = linked.filter(|path| !self.configs.contains_key(path)).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }
}

/// Maximum number of imports whose files are kept.
const MOST_KNOWN: usize = 100_000;

/// What an import means: the key is the importing file's directory, its configuration, and the text of the import.
type KnownImports = HashMap<(String, Option<String>, String), Vec<String>>;

/// Resolves imports of JavaScript and TypeScript among the files of one worktree.
pub(in super::super) struct ModuleResolver {
    numbers: Arc<HashMap<String, u32>>,
    manifests: JavaScriptManifests,
    /// Conditions of `exports` that configurations add.
    conditions: Vec<String>,
    /// Names that the manifests give to modules, with the directory in which each holds.
    names: Vec<(String, String)>,
    configs: Mutex<HashMap<String, Arc<CompilerConfig>>>,
    known: Mutex<KnownImports>,
}

impl ModuleResolver {
    /// Creates the resolver for the paths of a worktree and its manifests.
    pub(in super::super) fn new(numbers: Arc<HashMap<String, u32>>, manifests: &JavaScriptManifests) -> Self {
        let manifests = manifests.clone();
        let conditions = list_custom_conditions(&manifests.configs);
        let names = manifests.list_names();
        let (configs, known) = (Mutex::default(), Mutex::default());
        Self { numbers, manifests, conditions, names, configs, known }
    }

    /// Returns the files that an import in the file `from` means: none if it is of another library; two if declarations stand
    /// beside a file of JavaScript.
    pub(in super::super) fn find_files(&self, from: &str, import: &str) -> Vec<String> {
        let config = self.config_path_of(from);
        let key = (split_path(from).0.to_owned(), config.clone(), import.to_owned());
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return known.clone();
        }
        let found = self.resolve_import(from, import, config.as_deref());
        let found = found.map_or_else(Vec::new, |path| self.with_implementation(&path));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(key, found.clone());
        drop(known);
        found
    }

    /// Returns the last words of the names by which manifests make a file known: of its package, if it is the entry, and of aliases
    /// and exports without a pattern.
    pub(in super::super) fn words_meaning(&self, path: &str) -> Vec<String> {
        let names = self.names.iter().filter(|(dir, name)| {
            let from = join_path(dir, "index.ts");
            self.find_files(&from, name).iter().any(|file| file == path)
        });
        names.map(|(_, name)| split_path(name).1.to_owned()).collect()
    }

    fn resolve_import(&self, from: &str, import: &str, config: Option<&str>) -> Option<String> {
        let import = import.split('?').next().unwrap_or(import);
        let dir = split_path(from).0;
        let config = config.map(|path| self.config_at(path));
        let is_relative =
            import.starts_with("./") || import.starts_with("../") || matches!(import, "." | "..");
        if is_relative {
            let path = resolve_relative(dir, import)?;
            return self.find_path(&path).or_else(|| self.find_in_root_dirs(&path, config.as_deref()?));
        }
        let references = config.iter().flat_map(|config| &config.references);
        let referenced: Vec<_> = references.map(|path| self.config_at(path)).collect();
        config
            .iter()
            .chain(&referenced)
            .find_map(|config| self.find_by_config(import, config))
            .or_else(|| self.find_package_import(from, import))
            .or_else(|| self.find_in_package(import))
            .or_else(|| self.find_source_of_package(import))
            .or_else(|| self.find_by_convention(from, import))
    }

    fn find_by_config(&self, import: &str, config: &CompilerConfig) -> Option<String> {
        let of_base = config.base_url.as_deref().and_then(|base| resolve_relative(base, import));
        let targets = config.targets_of(import).into_iter().chain(of_base);
        targets.into_iter().find_map(|path| self.find_path(&path))
    }

    /// Returns the file at a path that begins in one of several directories which the configuration reads as one.
    fn find_in_root_dirs(&self, path: &str, config: &CompilerConfig) -> Option<String> {
        let roots = || config.root_dirs.iter().map(String::as_str);
        let inner = roots().find_map(|root| path.strip_prefix(root)?.strip_prefix('/'))?;
        roots().find_map(|root| self.find_path(&join_path(root, inner)))
    }

    /// Returns what a name of `imports` in the manifest around a file means: `#internal/a`.
    fn find_package_import(&self, from: &str, import: &str) -> Option<String> {
        let dir = self.package_around(from);
        let imports =
            self.manifests.manifests.get(dir)?.get("imports").filter(|_| import.starts_with('#'))?;
        let targets = find_targets(imports, import, &self.conditions);
        let of_package = || targets.iter().find_map(|target| self.find_in_package(target));
        self.find_target(dir, &targets).or_else(of_package)
    }

    /// Returns what the manifest of a package of the worktree says that an import of it means.
    fn find_in_package(&self, import: &str) -> Option<String> {
        let (dir, rest) = self.find_package(import)?;
        let manifest = self.manifests.manifests.get(dir)?;
        if let Some(exports) = manifest.get("exports") {
            let name = if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") };
            return self.find_target(dir, &find_targets(exports, &name, &self.conditions));
        }
        if rest.is_empty() { self.find_entry(dir) } else { self.find_path(&join_path(dir, rest)) }
    }

    fn find_entry(&self, dir: &str) -> Option<String> {
        let mut entries = list_entries(self.manifests.manifests.get(dir)?);
        entries.find_map(|entry| self.find_path(&resolve_relative(dir, entry)?))
    }

    /// Returns the first file among targets, which are paths relative to a package.
    fn find_target(&self, dir: &str, targets: &[String]) -> Option<String> {
        let mut paths = targets.iter().filter(|target| target.starts_with('.'));
        paths.find_map(|target| self.find_path(&resolve_relative(dir, target)?))
    }

    /// Returns the file that a path means: with its ending or without, a directory with an entry, or what a build writes.
    fn find_path(&self, path: &str) -> Option<String> {
        let path = path.trim_end_matches('/');
        if let Some((stem, sources)) =
            WRITTEN_ENDINGS.iter().find_map(|(ending, sources)| Some((path.strip_suffix(ending)?, sources)))
            && let Some(found) = self.find_with_endings(stem, sources)
        {
            return Some(found);
        }
        if self.has_file(path) {
            return Some(path.to_owned());
        }
        self.find_with_endings(path, &ENDINGS)
            .or_else(|| if split_path(path).1.is_empty() { None } else { self.find_entry_below(path) })
            .or_else(|| self.find_with_endings(&join_path(path, "index"), &ENDINGS))
            .or_else(|| self.find_built(path))
    }

    /// Returns the entry of a directory that has a manifest inside of a package.
    fn find_entry_below(&self, dir: &str) -> Option<String> {
        let mut entries = list_entries(self.manifests.manifests.get(dir)?);
        // An entry of the directory itself would be looked up again.
        entries.find_map(|entry| {
            let path = resolve_relative(dir, entry).filter(|path| path != dir)?;
            if self.has_file(&path) { Some(path) } else { self.find_with_endings(&path, &ENDINGS) }
        })
    }

    fn find_with_endings(&self, stem: &str, endings: &[&str]) -> Option<String> {
        endings.iter().map(|ending| format!("{stem}{ending}")).find(|path| self.has_file(path))
    }

    /// Returns the source of a path that a build writes, also where the path leaves out its ending.
    fn find_built(&self, path: &str) -> Option<String> {
        let is_package = |dir: &str| self.manifests.manifests.contains_key(dir);
        let name = split_path(path).1;
        let full = if name.contains('.') { path.to_owned() } else { format!("{path}.js") };
        find_source(&full, is_package, |path| self.has_file(path))
    }

    /// Returns the source that an import of a package of the worktree most likely means, where its manifest names only files that
    /// a build writes.
    fn find_source_of_package(&self, import: &str) -> Option<String> {
        let (dir, rest) = self.find_package(import)?;
        let entry = if rest.is_empty() { "index" } else { rest };
        SOURCE_DIRS.iter().find_map(|source| self.find_source_in(&join_path(dir, source), entry))
    }

    fn find_by_convention(&self, from: &str, import: &str) -> Option<String> {
        let rest = CONVENTIONS.iter().find_map(|start| import.strip_prefix(start))?;
        let package = self.package_around(from);
        ["src", "app", ""].iter().find_map(|source| self.find_source_in(&join_path(package, source), rest))
    }

    fn find_source_in(&self, dir: &str, inner: &str) -> Option<String> {
        let path = join_path(dir, inner);
        if self.has_file(&path) {
            return Some(path);
        }
        let stem = WRITTEN_ENDINGS.iter().find_map(|(ending, _)| path.strip_suffix(ending)).unwrap_or(&path);
        with_source_ending(stem, &|path: &str| self.has_file(path))
    }

    fn has_file(&self, path: &str) -> bool {
        self.numbers.contains_key(path)
    }

    /// Returns the directory of the package of the worktree that an import names, and the path after the name.
    fn find_package<'i>(&self, import: &'i str) -> Option<(&str, &'i str)> {
        let n_parts = if import.starts_with('@') { 2 } else { 1 };
        let end = import.match_indices('/').nth(n_parts - 1).map(|(at, _)| at);
        let (name, rest) = end.map_or((import, ""), |end| (&import[..end], &import[end + 1..]));
        Some((self.manifests.packages.get(name)?.as_str(), rest))
    }

    /// Returns the nearest directory above a path that has a `package.json`; the top if none has.
    fn package_around<'p>(&self, path: &'p str) -> &'p str {
        let mut dirs = enclosing_dirs(path);
        dirs.find(|dir| self.manifests.manifests.contains_key(*dir)).unwrap_or("")
    }

    /// Returns the configuration that holds for a file: the nearest one that includes it, or refers to one that does; otherwise the
    /// nearest.
    fn config_path_of(&self, path: &str) -> Option<String> {
        let mut nearest = None;
        for dir in enclosing_dirs(path) {
            let names = ["tsconfig.json", "jsconfig.json"].map(|name| join_path(dir, name));
            let Some(own) = names.into_iter().find(|name| self.manifests.configs.contains_key(name)) else {
                continue;
            };
            let config = self.config_at(&own);
            if let Some(other) =
                config.references.iter().find(|other| self.config_at(other).includes_file(path))
            {
                return Some(other.clone());
            }
            if config.includes_file(path) {
                return Some(own);
            }
            nearest.get_or_insert(own);
        }
        nearest
    }

    fn config_at(&self, path: &str) -> Arc<CompilerConfig> {
        let mut configs = self.configs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = configs.get(path) {
            return Arc::clone(known);
        }
        let config = Arc::new(read_config(path, &self.manifests.configs, &self.manifests.packages));
        configs.insert(path.to_owned(), Arc::clone(&config));
        config
    }

    /// Adds the file of JavaScript that a file of declarations describes.
    fn with_implementation(&self, path: &str) -> Vec<String> {
        let pairs = [(".d.ts", [".js", ".jsx"]), (".d.mts", [".mjs", ".js"]), (".d.cts", [".cjs", ".js"])];
        let described = pairs
            .iter()
            .find_map(|(ending, written)| self.find_with_endings(path.strip_suffix(ending)?, written));
        [Some(path.to_owned()), described].into_iter().flatten().collect()
    }
}

/// Returns the directories around a path, the nearest first; the last is empty and means the top.
fn enclosing_dirs(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(split_path(path).0), |dir| (!dir.is_empty()).then(|| split_path(dir).0))
}
