//! Finds which type of Rust a path means among those of its name in several modules.

use memod_base::types::{DeclaredItem, DeclaredRole, ImportedName};

use super::split_path::{join_path, split_path};
use super::type_keys::{TypesByKey, split_title};
use super::use_place::UsePlace;
use super::{DefinitionCandidate, FileNumber, Resolver};

/// Most modules that are followed because each exports a name of another.
const MOST_EXPORTS: u32 = 4;
/// Words that begin a path from a module.
const RUST_ROOTS: [&str; 3] = ["crate", "self", "super"];

/// A module of Rust around a place.
struct ModulePlace<'p> {
    /// The key of the module.
    base: String,
    /// The module, if it is a block of its file.
    block: Option<&'p DeclaredItem>,
}

impl ModulePlace<'_> {
    /// Returns whether an import is in the module, and not in one around it or inside of it.
    fn has_import(&self, place: &UsePlace<'_>, import: &ImportedName) -> bool {
        let is_in = |item: &DeclaredItem| item.lines.0 <= import.line && import.line <= item.lines.1;
        match self.block {
            Some(block) => is_in(block),
            None => {
                let mut modules = place.structure.declared.iter();
                !modules.any(|item| item.role == DeclaredRole::Module && is_in(item))
            }
        }
    }

    /// Returns whether an import is in a function of the module.
    fn is_in_function(&self, import: &ImportedName) -> bool {
        import.scope_lines.is_some() && import.scope_lines != self.block.map(|block| block.lines)
    }
}

impl Resolver<'_> {
    /// Returns the types that a path means: of the functions around, of the imports, of the module, and of another crate.
    pub(super) fn meant_in_rust(
        &self,
        place: &UsePlace<'_>,
        parts: &[&str],
        keys: &TypesByKey,
    ) -> Option<Vec<DefinitionCandidate>> {
        let dir = self.paths.module_dir(place.file);
        let around: Vec<_> = place.structure.enclosing_items(place.within).collect();
        let block = around.iter().find(|item| item.role == DeclaredRole::Module).copied();
        let title = block.map_or(String::new(), |item| split_title(&item.title).join("/"));
        let module = ModulePlace { base: join_path(dir, &title), block };
        if RUST_ROOTS.contains(&parts[0]) {
            return self.follow_rust_parts(&module, place, parts, keys);
        }
        let written = parts.join("/");
        let functions = around.iter().take_while(|item| item.role != DeclaredRole::Module);
        let of_functions = functions
            .map(|item| join_path(&join_path(dir, &split_title(&item.title).join("/")), &written))
            .find_map(|key| keys.get(&key));
        if let Some(found) = of_functions {
            return Some(found.clone());
        }
        self.imported_in_rust(&module, place, parts, keys)
    }

    /// Returns the types that a path means outside of functions, and by imports of the functions.
    fn imported_in_rust(
        &self,
        module: &ModulePlace<'_>,
        place: &UsePlace<'_>,
        parts: &[&str],
        keys: &TypesByKey,
    ) -> Option<Vec<DefinitionCandidate>> {
        let globs = place.structure.imports.iter().filter(|import| import.local.is_empty());
        let globs = globs.filter(|import| import.holds_on(place.line) && module.has_import(place, import));
        let globs: Vec<&ImportedName> = globs.collect();
        let meant_by_globs = |is_in_function: bool| {
            let globs = globs.iter().filter(|import| module.is_in_function(import) == is_in_function);
            globs.into_iter().find_map(|import| {
                let path: Vec<&str> = import.module.split("::").chain(parts.iter().copied()).collect();
                self.follow_rust_parts(module, place, &path, keys)
            })
        };
        let explicit = place.structure.imports_binding(parts[0], place.line).into_iter();
        let explicit: Vec<_> = explicit.filter(|import| module.has_import(place, import)).collect();
        if !explicit.iter().any(|import| module.is_in_function(import))
            && let Some(found) = meant_by_globs(true)
        {
            return Some(found);
        }
        if !explicit.is_empty() {
            return explicit.into_iter().find_map(|import| {
                let mut path: Vec<&str> = import.module.split("::").filter(|part| !part.is_empty()).collect();
                path.push(&import.name);
                path.extend(&parts[1..]);
                self.follow_rust_parts(module, place, &path, keys)
            });
        }
        let own = self.follow_rust_path(&join_path(&module.base, &parts.join("/")), keys, MOST_EXPORTS);
        own.or_else(|| meant_by_globs(false)).or_else(|| {
            let of_crate = self.paths.packages.crate_dir(parts[0]).filter(|_| parts.len() > 1)?;
            let key = join_path(&join_path(of_crate, "src"), &parts[1..].join("/"));
            self.follow_rust_path(&key, keys, MOST_EXPORTS)
        })
    }

    fn follow_rust_parts(
        &self,
        module: &ModulePlace<'_>,
        place: &UsePlace<'_>,
        parts: &[&str],
        keys: &TypesByKey,
    ) -> Option<Vec<DefinitionCandidate>> {
        let candidates = self.rust_keys(&module.base, place.file, parts);
        candidates.iter().find_map(|key| self.follow_rust_path(key, keys, MOST_EXPORTS))
    }

    /// Returns the keys that a path may mean in the module `base`.
    fn rust_keys(&self, base: &str, file: FileNumber, parts: &[&str]) -> Vec<String> {
        let mut rest = parts;
        let mut dir = base;
        match parts.first() {
            Some(&"crate") => {
                (dir, rest) = (self.paths.crate_root(file), &parts[1..]);
            }
            Some(&"self") => rest = &parts[1..],
            Some(&"super") => {
                while let [first, inner @ ..] = rest
                    && *first == "super"
                {
                    (dir, rest) = (split_path(dir).0, inner);
                }
            }
            Some(name) => {
                let own = join_path(dir, &parts.join("/"));
                let of_crate = self.paths.packages.crate_dir(name);
                let of_crate =
                    of_crate.map(|of_crate| join_path(&join_path(of_crate, "src"), &parts[1..].join("/")));
                return std::iter::once(own).chain(of_crate).collect();
            }
            None => {}
        }
        vec![join_path(dir, &rest.join("/"))]
    }

    /// Returns the types with a key, or those that its module exports again under that name.
    fn follow_rust_path(&self, key: &str, keys: &TypesByKey, steps: u32) -> Option<Vec<DefinitionCandidate>> {
        if let Some(found) = keys.get(key) {
            return Some(found.clone());
        }
        let steps = steps.checked_sub(1)?;
        let (module, name) = split_path(key);
        let files = [".rs", "/mod.rs", "/lib.rs", "/main.rs"];
        let files = files
            .iter()
            .filter_map(|end| self.paths.number_of(format!("{module}{end}").trim_start_matches('/')));
        for file in files {
            let structure = self.structures.structure_of(file);
            let exports = structure.imports.iter().filter(|import| import.scope_lines.is_none());
            for import in exports.filter(|import| import.local == name || import.local.is_empty()) {
                let mut path: Vec<&str> = import.module.split("::").filter(|part| !part.is_empty()).collect();
                path.push(if import.local.is_empty() { name } else { &import.name });
                let found = self.rust_keys(module, file, &path);
                let found = found.iter().filter(|other| *other != key);
                // Each of many globs may lead to many others.
                let steps = if import.local.is_empty() { steps.saturating_sub(1) } else { steps };
                if let Some(found) = found.into_iter().find_map(|key| self.follow_rust_path(key, keys, steps))
                {
                    return Some(found);
                }
            }
        }
        None
    }
}
