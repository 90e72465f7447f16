//! Follows routes to the prefixes below which their routers are mounted, in their own files and in those that import them.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use memod_base::types::{DeclaredItem, file_name, last_part, parent_dir};
use memod_engine::errors::RpcResult;
use memod_structure::resolve::{FileNumber, StructureStore as _};
use memod_structure::route_prefixes::{FileRouters, MountedRouter, RouterMount, find_router, read_routers};

use super::test_order::is_test;
use super::test_texts::TestTexts;
use super::worktree_structures::{CodeNode, WorktreeStructures};

/// Maximum number of files in which mounts of the routers of one file are looked for.
const MOST_MOUNTING_FILES: usize = 60;
/// Maximum number of files that are checked for an import of one file.
const MOST_NAMING_FILES: usize = 500;
/// Maximum number of routers above a route, and of modules that pass its router on.
const MOST_STEPS: usize = 4;
/// Maximum number of prefixes of a route.
const MOST_PREFIXES: usize = 8;
/// Names of files that are imported by the name of their directory.
const OF_DIRECTORY: [&str; 2] = ["index", "__init__"];

/// Whether the routers above a route are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MountState {
    /// No text mounts the router.
    Unmounted,
    /// The text shows the prefixes of all routers above it.
    Followed,
    /// A router above it has a prefix that the text does not show.
    Unknown,
}

/// A prefix of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RoutePrefix {
    /// The parts that are known, such as `/api`; empty if there are none.
    pub(super) path: String,
    /// Whether other parts may come before.
    pub(super) state: MountState,
}

/// A router, or the place of a route in one.
#[derive(Clone, Debug)]
struct RouterPlace {
    file: FileNumber,
    /// The name of the router; `None` if it is the file.
    name: Option<String>,
    /// Line in the scope of the router, 1-based.
    line: u32,
}

/// The routers of the files of an answer, each file read once.
pub(super) struct RouteMounts<'a, 's> {
    structures: &'a WorktreeStructures<'s>,
    routers: HashMap<FileNumber, Rc<FileRouters>>,
    mounting: HashMap<FileNumber, Rc<[FileNumber]>>,
}

impl<'a, 's> RouteMounts<'a, 's> {
    pub(super) fn new(structures: &'a WorktreeStructures<'s>) -> Self {
        Self { structures, routers: HashMap::new(), mounting: HashMap::new() }
    }

    /// Returns the prefixes of the route whose path is on a line of a file, at least one.
    pub(super) fn find_prefixes(
        &mut self,
        texts: &mut TestTexts<'_>,
        (file, line): (FileNumber, u32),
    ) -> RpcResult<Vec<RoutePrefix>> {
        let lines = texts.read_lines(self.structures, file)?;
        let all: Vec<&str> = lines.iter().flat_map(|lines| lines.raw_lines()).take(line as usize).collect();
        let name = find_router(&all, line).map(str::to_owned);
        self.follow_router(texts, &RouterPlace { file, name, line }, MOST_STEPS)
    }

    fn follow_router(
        &mut self,
        texts: &mut TestTexts<'_>,
        place: &RouterPlace,
        steps_left: usize,
    ) -> RpcResult<Vec<RoutePrefix>> {
        let routers = self.read_file(texts, place.file)?;
        let declared = routers.prefixes.iter().rfind(|(name, _)| Some(name) == place.name.as_ref());
        let own = declared.map_or(Some(""), |(_, prefix)| prefix.as_deref());
        let mut found: Vec<RoutePrefix> = Vec::new();
        let mounts = if steps_left > 0 { self.find_mounts(texts, place)? } else { Vec::new() };
        for (file, mount) in mounts {
            let below = if mount.replaces { Some("") } else { own };
            let (Some(prefix), Some(below)) = (&mount.prefix, below) else {
                let path = join_prefixes(&[below.unwrap_or_default()]);
                found.push(RoutePrefix { path, state: MountState::Unknown });
                continue;
            };
            let above = RouterPlace { file, name: mount.parent.clone(), line: mount.line };
            found.extend(self.follow_router(texts, &above, steps_left - 1)?.into_iter().map(|parent| {
                RoutePrefix {
                    path: join_prefixes(&[&parent.path, prefix, below]),
                    state: parent.state.max(MountState::Followed),
                }
            }));
        }
        found.dedup();
        found.truncate(MOST_PREFIXES);
        if found.is_empty() {
            let state = if own.is_some() { MountState::Unmounted } else { MountState::Unknown };
            found.push(RoutePrefix { path: join_prefixes(&[own.unwrap_or_default()]), state });
        }
        Ok(found)
    }

    /// Returns the mounts of a router with their files. The function or class around a route comes before all others.
    fn find_mounts(
        &mut self,
        texts: &mut TestTexts<'_>,
        place: &RouterPlace,
    ) -> RpcResult<Vec<(FileNumber, RouterMount)>> {
        let routers = self.read_file(texts, place.file)?;
        let around = routers
            .mounts
            .iter()
            .filter(|mount| mount.line < place.line && mount.child.holds_line(place.line));
        if let Some(inner) = around.max_by_key(|mount| mount.line) {
            return Ok(vec![(place.file, inner.clone())]);
        }
        let mut found = Vec::new();
        let others = self.list_mounting_files(place.file)?;
        for file in std::iter::once(place.file).chain(others.iter().copied()) {
            for mount in &self.read_file(texts, file)?.mounts {
                let is_itself = file == place.file && mount.parent == place.name && mount.parent.is_some();
                if !is_itself && self.mounts_place((file, &mount.child), place, MOST_STEPS) {
                    found.push((file, mount.clone()));
                }
            }
        }
        Ok(found)
    }

    /// Returns whether what a file mounts is the router of a place.
    fn mounts_place(
        &self,
        (from, child): (FileNumber, &MountedRouter),
        place: &RouterPlace,
        steps_left: usize,
    ) -> bool {
        for (file, name) in self.resolve_child(from, child) {
            let structure = self.structures.structure_of(file);
            let has_name = |item: &&DeclaredItem, name: &str| item.own_names().any(|own| own == name);
            let find_local = |is_it: &dyn Fn(&str) -> bool| {
                let local = structure.exports.iter().find(|exported| is_it(&exported.name));
                local.map(|exported| exported.local.clone()).filter(|local| !local.is_empty())
            };
            // `module.exports = router` and `export default router` name the router, other expressions name nothing.
            let exported = find_local(&|name| matches!(name, "default" | "")).filter(|exported| {
                Some(exported) == place.name.as_ref()
                    || structure.declared.iter().any(|item| has_name(&item, exported))
            });
            let is_module = name.is_none();
            let renamed =
                name.as_ref().filter(|_| file != from).and_then(|own| find_local(&|name| name == own));
            let Some(name) = renamed.or(name).or(exported) else {
                if file == place.file {
                    return true;
                }
                continue;
            };
            let mut items = structure.declared.iter().filter(|item| has_name(item, &name));
            let is_around = items.any(|item| item.lines.0 <= place.line && place.line <= item.lines.1);
            if file == place.file && (place.name.as_ref() == Some(&name) || is_around) {
                return true;
            }
            let passed_on = MountedRouter::Name(name);
            let is_passed_on = !is_module && file != from && steps_left > 0;
            if is_passed_on && self.mounts_place((file, &passed_on), place, steps_left - 1) {
                return true;
            }
        }
        false
    }

    /// Returns the files that may declare a mounted router, each with its name there; `None` for what the module itself is.
    fn resolve_child(&self, from: FileNumber, child: &MountedRouter) -> Vec<(FileNumber, Option<String>)> {
        let paths = &self.structures.paths;
        let path = match child {
            MountedRouter::Name(path) => path,
            MountedRouter::Module(module) => {
                let files = paths.files_of_module(from, module).into_iter();
                return files.map(|file| (file, None)).collect();
            }
            MountedRouter::Lines(..) => return Vec::new(),
        };
        let (local, member) = path
            .split_once('.')
            .map_or((path.as_str(), None), |(local, member)| (local, Some(last_part(member).to_owned())));
        let structure = self.structures.structure_of(from);
        let Some(import) = structure.imports.iter().find(|import| import.local == local) else {
            return vec![(from, Some(member.unwrap_or_else(|| local.to_owned())))];
        };
        let is_python = paths.path_of(from).ends_with(".py");
        let of_module =
            if is_python { paths.files_of_module(from, &import.full_module()) } else { Vec::new() };
        if !of_module.is_empty() {
            return of_module.into_iter().map(|file| (file, member.clone())).collect();
        }
        let is_named = !matches!(import.name.as_str(), "" | "default" | "*");
        let name = member.or_else(|| is_named.then(|| import.name.clone()));
        let files = paths.files_of_module(from, &import.module).into_iter();
        files.map(|file| (file, name.clone())).collect()
    }

    /// Returns the files outside of tests that may mount the routers of a file: first those that import it, then others that write
    /// its name. Files that import its directory count, if an index file there imports it.
    fn list_mounting_files(&mut self, file: FileNumber) -> RpcResult<Rc<[FileNumber]>> {
        if let Some(known) = self.mounting.get(&file) {
            return Ok(Rc::clone(known));
        }
        let structures = self.structures;
        let mut naming: BTreeSet<FileNumber> =
            structures.find_files_with_name(module_name(structures.paths.path_of(file)))?;
        let is_barrel = |file: &FileNumber| OF_DIRECTORY.contains(&stem(structures.paths.path_of(*file)));
        let imports = |importer: FileNumber, exporter: FileNumber| {
            let structure = structures.structure_of(importer);
            structure.imports.iter().any(|import| structures.paths.imports_file(importer, import, exporter))
        };
        let barrels: Vec<FileNumber> = naming
            .iter()
            .copied()
            .filter(|other| is_barrel(other) && imports(*other, file))
            .take(2)
            .collect();
        for barrel in &barrels {
            naming.extend(structures.find_files_with_name(module_name(structures.paths.path_of(*barrel)))?);
        }
        let is_other = |other: &FileNumber| {
            *other != file && !is_test(structures, CodeNode { file: *other, declared: None })
        };
        let naming = naming.into_iter().filter(is_other).take(MOST_NAMING_FILES);
        let (mut found, others): (Vec<_>, Vec<_>) = naming.partition(|other| {
            imports(*other, file) || barrels.iter().any(|barrel| imports(*other, *barrel))
        });
        found.extend(others);
        found.truncate(MOST_MOUNTING_FILES);
        let found: Rc<[FileNumber]> = found.into();
        self.mounting.insert(file, Rc::clone(&found));
        Ok(found)
    }

    fn read_file(&mut self, texts: &mut TestTexts<'_>, file: FileNumber) -> RpcResult<Rc<FileRouters>> {
        if let Some(known) = self.routers.get(&file) {
            return Ok(Rc::clone(known));
        }
        let lines = texts.read_lines(self.structures, file)?;
        let text: Vec<&str> = lines.iter().flat_map(|lines| lines.raw_lines()).collect();
        let read = Rc::new(read_routers(self.structures.paths.path_of(file), &text.join("\n")));
        self.routers.insert(file, Rc::clone(&read));
        Ok(read)
    }
}

/// Returns prefixes joined by one `/` each, as `/api/v1`; empty if all are.
pub(super) fn join_prefixes(prefixes: &[&str]) -> String {
    let parts = prefixes.iter().map(|prefix| prefix.trim_matches('/')).filter(|part| !part.is_empty());
    parts.map(|part| format!("/{part}")).collect()
}

fn stem(path: &str) -> &str {
    file_name(path).split('.').next().unwrap_or_default()
}

/// Returns the word with which other files name a module.
fn module_name(path: &str) -> &str {
    let own = stem(path);
    if OF_DIRECTORY.contains(&own) { file_name(parent_dir(path)) } else { own }
}
