//! Says which definition a use of a name means, as far as syntax and imports tell.
//!
//! Pure: the structures of files in, definitions with a certainty out. The rules are those of the languages that syntax
//! shows: scope, imports, package, and the types that are written for values, fields and what functions return.

mod certainty;
mod declared_types;
mod imported;
mod modules;
mod overloads;
mod packages;
mod path_index;
mod place;
#[cfg(test)]
mod tests;
mod values;
mod visibility;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use self::certainty::Certainty;
pub use self::overloads::has_overloads;
use self::overloads::is_constructor;
pub use self::packages::Packages;
pub use self::path_index::{FileNumber, PathIndex};
use memod_base::types::{
    Declared, DeclaredRole, Import, Receiver, Structure, Use, UseRole, is_compound, is_version, own_part,
};

use self::place::{Family, Place};
use self::values::TypeName;

/// Most other names of one definition that are followed.
const MOST_ALIASES: usize = 16;

/// The structures of the files of a view.
pub trait Structures {
    /// Returns the structure of a file; empty where none is known.
    fn of(&self, file: FileNumber) -> Arc<Structure>;
    /// Returns the definitions in all files that have a name.
    fn named(&self, name: &str) -> Vec<Candidate>;
    /// Takes note that another use is resolved.
    fn begin(&self);
    /// Whether one more step may be taken for this use. Types that extend each other, or values that are set to each other, are
    /// followed on more ways than there is time for.
    fn may_step(&self) -> bool;
}

/// A definition that a use may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// The defining file.
    pub file: FileNumber,
    /// Index in what it declares.
    pub declared: u32,
}

/// Resolves the uses of one name in a view.
pub struct Resolver<'a, S> {
    paths: &'a PathIndex,
    structures: &'a S,
    name: &'a str,
    candidates: Vec<(Candidate, Arc<Structure>)>,
    /// Other names under which files export it.
    aliases: Vec<String>,
    /// By file: what it imports without naming it.
    wildcards: RefCell<HashMap<FileNumber, Vec<Candidate>>>,
}

impl<'a, S: Structures> Resolver<'a, S> {
    /// Prepares for the uses of `name`, which all `candidates` have.
    pub fn new(paths: &'a PathIndex, structures: &'a S, name: &'a str, candidates: &[Candidate]) -> Self {
        let with_structure = |candidate: &Candidate| (*candidate, structures.of(candidate.file));
        let candidates = candidates.iter().map(with_structure).collect();
        Self { paths, structures, name, candidates, aliases: Vec::new(), wildcards: RefCell::default() }
    }

    /// Returns the uses of a file that may mean one: of the name, and of what it is imported as.
    pub fn uses<'s>(&'s self, structure: &'s Structure) -> impl Iterator<Item = &'s Use> {
        let aliases = self.aliases(structure).map(|import| import.local.as_str());
        let written: HashSet<&'s str> = aliases.chain([self.name]).collect();
        structure.uses.iter().filter(move |of| written.contains(structure.name(of.name)))
    }

    /// Notes under which other names a file has the name, so that [`Self::uses`] knows them in other files; returns those
    /// that were not known.
    pub fn learn(&mut self, structure: &Structure) -> Vec<String> {
        let new = self.aliases(structure).map(|import| import.local.clone());
        let mut new: Vec<String> = new.filter(|name| !name.is_empty() && !self.is_known(name)).collect();
        new.sort_unstable();
        new.dedup();
        new.truncate(MOST_ALIASES.saturating_sub(self.aliases.len()));
        self.aliases.extend(new.iter().cloned());
        new
    }

    fn aliases<'s>(&'s self, structure: &'s Structure) -> impl Iterator<Item = &'s Import> {
        structure.imports.iter().filter(|import| self.is_known(&import.name))
    }

    fn is_known(&self, name: &str) -> bool {
        name == self.name || self.aliases.iter().any(|alias| alias == name)
    }

    /// Returns the definitions that a use in `file` may mean, all with one certainty; none if it means something else.
    pub fn resolve(&self, file: FileNumber, structure: &Structure, of: &Use) -> (Certainty, Vec<Candidate>) {
        if of.role == UseRole::Call
            && let Some(callable) = self.callable(self.paths.path(file))
        {
            return callable.resolve(file, structure, of);
        }
        self.structures.begin();
        let of_any = || self.of_any_arity(file, structure, of);
        let Some(n_arguments) = of.n_arguments else { return of_any() };
        let Some(taking) = self.taking(n_arguments) else {
            return self.with_constructors(of_any(), n_arguments);
        };
        let told = taking.of_any_arity(file, structure, of);
        if !told.1.is_empty() {
            return self.with_constructors(told, n_arguments);
        }
        // No definition takes so many arguments. What is proved all the same is right where a macro stands for several; a call of Java
        // means an overload that is inherited from another library.
        let (certainty, found) = of_any();
        let is_kept = certainty == Certainty::Exact && Family::of(self.paths.path(file)) != Family::Java;
        (certainty, if is_kept { found } else { Vec::new() })
    }

    fn of_any_arity(&self, file: FileNumber, structure: &Structure, of: &Use) -> (Certainty, Vec<Candidate>) {
        let family = Family::of(self.paths.path(file));
        let written = structure.name(of.name);
        let place = Place {
            file,
            structure,
            family,
            written,
            within: of.within.checked_sub(1),
            is_call: of.role == UseRole::Call,
            steps: values::MOST_STEPS,
        };
        let (certainty, mut found) = match of.receiver {
            Receiver::None => self.alone(&place),
            Receiver::Own => self.own(&place),
            Receiver::Named(path) => self.named(&place, structure.name(path)),
            Receiver::Other => self.of_a_value(&place),
            Receiver::Import => {
                let is_it = |import: &Import| import.name == place.written || import.local == place.written;
                let before =
                    structure.imports.iter().filter(|import| is_it(import) && import.line <= of.line);
                let line = before.map(|import| import.line).max();
                (Certainty::Exact, self.imported(&place, |import| is_it(import) && Some(import.line) == line))
            }
        };
        found.dedup();
        (certainty, found)
    }

    /// Resolves a name that stands alone: by scope, import, package, then wildcards.
    fn alone(&self, place: &Place<'_>) -> (Certainty, Vec<Candidate>) {
        let visible = if place.written == self.name { self.in_scope(place) } else { Vec::new() };
        if !visible.is_empty() {
            return (Certainty::Exact, visible);
        }
        if place.structure.imports.iter().any(|import| import.local == place.written) {
            return (Certainty::Exact, self.imported(place, |import| import.local == place.written));
        }
        if place.written != self.name {
            return (Certainty::ByName, Vec::new());
        }
        if let Some(inherited) = self.inherited(place) {
            return inherited;
        }
        let mut of_package = self.visible_non_members(place);
        of_package.retain(|found| self.shares_package(place, found.file));
        if !of_package.is_empty() {
            return (Certainty::Exact, of_package);
        }
        let wildcards = self.of_wildcards(place);
        if !wildcards.is_empty() {
            return (Certainty::Exact, wildcards);
        }
        match place.family {
            // The linker knows one function of a name, wherever it is declared.
            Family::C => match self.visible_non_members(place) {
                // What is `static` may be brought in by a file that includes both.
                none if none.is_empty() => (
                    Certainty::ByName,
                    self.of_family(place, |_, found| found.is_internal && found.role != DeclaredRole::Member),
                ),
                visible => only(visible, self.name),
            },
            _ => (Certainty::ByName, Vec::new()),
        }
    }

    /// Returns the definitions of the file that the language lets a name in this place mean, the innermost.
    fn in_scope(&self, place: &Place<'_>) -> Vec<Candidate> {
        let around: Vec<u32> = place.around().collect();
        let own_file = || self.candidates.iter().filter(|(candidate, _)| candidate.file == place.file);
        let holders = around.iter().copied().map(Some).chain([None]);
        for holder in holders {
            let found = own_file().filter(|(candidate, structure)| {
                let declared = &structure.declared[candidate.declared as usize];
                // Without a call, the name of a method is that of a field.
                let is_called = || place.is_call || declared.arity.is_none();
                let is_visible = declared.role != DeclaredRole::Member
                    || place.family.has_implicit_self()
                        && !is_constructor(structure, declared)
                        && is_called();
                is_visible && declared.parent == holder
            });
            let found: Vec<Candidate> = found.map(|(candidate, _)| *candidate).collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// Returns the files that a module means when `from` names it; none if it is of another library.
    fn files_of(&self, family: Family, module: &str, from: FileNumber) -> Vec<FileNumber> {
        let mut files = self.paths.files_of(family, module, from);
        files.retain(|file| Family::of(self.paths.path(*file)) == family);
        if family == Family::Go && self.paths.packages.of_go(module).is_none() {
            // A directory is known by the end of an import path only, and that of another library may end alike.
            files.retain(|file| is_package_of(module, &self.structures.of(*file).package));
        }
        files
    }

    /// Resolves a member of the type around.
    fn own(&self, place: &Place<'_>) -> (Certainty, Vec<Candidate>) {
        let Some(around) = Self::type_around(place) else { return only(self.members(place), self.name) };
        let own = self.of_family(place, |_, found| {
            found.role == DeclaredRole::Member && own_part(found.owner()) == around.name
        });
        let same_file: Vec<Candidate> =
            own.iter().filter(|found| found.file == place.file).copied().collect();
        if !same_file.is_empty() {
            return (Certainty::Exact, same_file);
        }
        // A base may be of another library.
        self.of_type(&around, place.steps).unwrap_or_else(|| only(self.members(place), self.name))
    }

    /// Resolves a member of a type or of its bases; `None` if they are not known to have one.
    fn of_type(&self, of: &TypeName, steps: u32) -> Option<(Certainty, Vec<Candidate>)> {
        let (is_certain, found) = self.members_of(of, steps);
        let certainty = match found.len() {
            0 => return None,
            _ if is_certain => Certainty::Exact,
            1 => Certainty::Likely,
            _ => Certainty::ByName,
        };
        Some((certainty, found))
    }

    /// Resolves a name that stands alone by the bases of the type around.
    fn inherited(&self, place: &Place<'_>) -> Option<(Certainty, Vec<Candidate>)> {
        if !place.family.has_implicit_self() || !place.is_call {
            return None;
        }
        let is_type = |id: &u32| place.structure.declared[*id as usize].role == DeclaredRole::Type;
        let types = place.around().filter(is_type).map(Some);
        let mut around = std::iter::once(place.within).chain(types);
        let of_type = |within| self.of_type(&Self::type_around(&Place { within, ..*place })?, place.steps);
        let (certainty, mut found) = around.find_map(of_type)?;
        found.retain(|found| {
            let structure = self.structures.of(found.file);
            !is_constructor(&structure, &structure.declared[found.declared as usize])
        });
        (!found.is_empty()).then_some((certainty, found))
    }

    /// Resolves a name taken from another name: a module, a type, or a value.
    fn named(&self, place: &Place<'_>, path: &str) -> (Certainty, Vec<Candidate>) {
        if place.family == Family::JavaScript && matches!(path, "exports" | "module.exports") {
            return self.alone(place);
        }
        if let Some(of) = self.type_of(place, path) {
            return self.of_typed_value(place, &of);
        }
        if self.is_call_on_value(place, path) {
            return self.of_a_value(place);
        }
        let type_name = own_part(path).trim_end_matches(['(', ')', '?']);
        let of_type = self.of_family(place, |_, found| {
            found.role == DeclaredRole::Member && own_part(found.owner()) == type_name
        });
        let is_seen = |found: &&Candidate| self.sees(place, found.file, type_name);
        let seen: Vec<Candidate> = of_type.iter().filter(is_seen).copied().collect();
        if !seen.is_empty() {
            return (Certainty::Exact, seen);
        }
        if let Some(found) = self.of_modules(place, path) {
            return found;
        }
        match of_type.len() {
            0 => {}
            1 => return (Certainty::Likely, of_type),
            _ => return (Certainty::ByName, of_type),
        }
        // A type of another library.
        let is_type = type_name.starts_with(char::is_uppercase) && place.family != Family::Go;
        if is_type { (Certainty::ByName, Vec::new()) } else { self.of_a_value(place) }
    }

    /// Whether a path of Go ends in a call of a member of a value, as in `mill.Hook()`, where a type `Hook` is not meant. `a.Hook()` with a
    /// package `a` is a conversion.
    fn is_call_on_value(&self, place: &Place<'_>, path: &str) -> bool {
        let of = path.strip_suffix("()").and_then(|called| called.rsplit_once('.'));
        place.family == Family::Go && of.is_some_and(|(of, _)| self.modules(place, of).is_none())
    }

    /// Resolves a name of the module that a path means; `None` if it means none that is known to have it.
    fn of_modules(&self, place: &Place<'_>, path: &str) -> Option<(Certainty, Vec<Candidate>)> {
        let modules = self.modules(place, path)?;
        let from = modules.iter().map(|module| (*module, self.name.to_owned()));
        let found = self.visible_from(place, self.exported(from.collect()));
        let is_of_another_library = modules.is_empty();
        let is_told = !found.is_empty() || is_of_another_library || !place.family.has_types_as_modules();
        is_told.then_some((Certainty::Exact, found))
    }

    /// Resolves a member of a value whose type the text tells.
    fn of_typed_value(&self, place: &Place<'_>, of: &TypeName) -> (Certainty, Vec<Candidate>) {
        if of.is_wrapped {
            return (Certainty::Exact, Vec::new());
        }
        let (is_certain, found) = self.members_of(of, place.steps);
        match (found.len(), is_certain) {
            (1.., true) => (if of.is_written { Certainty::Exact } else { Certainty::Likely }, found),
            (1, false) => (Certainty::Likely, found),
            (2.., false) => (Certainty::ByName, found),
            (0, _) if self.is_of_another_library(of) => (Certainty::Exact, Vec::new()),
            // A parameter of the type, or what an interface or a base of another library has.
            (0, _) if of.name.len() == 1 || self.has_type(&of.name) => self.of_a_value(place),
            (0, _) => (Certainty::Exact, Vec::new()),
        }
    }

    fn has_type(&self, name: &str) -> bool {
        self.structures.named(name).iter().any(|candidate| {
            let structure = self.structures.of(candidate.file);
            structure.declared[candidate.declared as usize].role == DeclaredRole::Type
        })
    }

    /// Resolves a member of a value whose type is not known.
    fn of_a_value(&self, place: &Place<'_>) -> (Certainty, Vec<Candidate>) {
        match place.family {
            // Any object may have a method of any name.
            Family::JavaScript => (Certainty::ByName, self.members(place)),
            // It may be a field of that name, which is no definition.
            Family::Go | Family::Rust if !place.is_call => (Certainty::ByName, self.members(place)),
            _ => only(self.members(place), self.name),
        }
    }

    fn members(&self, place: &Place<'_>) -> Vec<Candidate> {
        self.of_family(place, |_, found| found.role == DeclaredRole::Member)
    }

    /// Returns the files of the module that a path means in this place; `None` if it means no module.
    fn modules(&self, place: &Place<'_>, path: &str) -> Option<Vec<FileNumber>> {
        let is_type = place.family == Family::Rust && own_part(path).starts_with(char::is_uppercase);
        if is_type || path.contains("()") {
            return None;
        }
        let (first, rest) = path.split_once('.').map_or((path, ""), |(first, rest)| (first, rest));
        let whole = place.structure.imports.iter().find(|import| import.local == path);
        if let Some(import) =
            whole.or_else(|| place.structure.imports.iter().find(|import| import.local == first))
        {
            let is_whole = import.local == path;
            let mut module = import.full_module();
            if !is_whole && !rest.is_empty() {
                module = format!("{module}{}{rest}", place.family.separator());
            }
            let mut files = self.files_of(place.family, &module, place.file);
            if files.is_empty() && import.name.is_empty() {
                files = self.files_of(place.family, &import.module, place.file);
            }
            let is_external = self.files_of(place.family, &import.module, place.file).is_empty();
            return (!files.is_empty() || is_external).then_some(files);
        }
        if place.family != Family::Rust {
            return None;
        }
        let files = self.files_of(place.family, &path.replace('.', "::"), place.file);
        (!files.is_empty()).then_some(files)
    }

    fn of_family(&self, place: &Place<'_>, is_it: impl Fn(&Candidate, &Declared) -> bool) -> Vec<Candidate> {
        let all = self.candidates.iter().filter(|(candidate, structure)| {
            Family::of(self.paths.path(candidate.file)) == place.family
                && is_it(candidate, &structure.declared[candidate.declared as usize])
        });
        all.map(|(candidate, _)| *candidate).collect()
    }
}

/// Whether the files of a package of Go may be meant by an import path: `gopkg.in/yaml.v3` and `x/go-foo/v2` are of `yaml` and
/// `foo`.
fn is_package_of(module: &str, package: &str) -> bool {
    let last = module.rsplit('/').find(|part| !is_version(part)).unwrap_or(module);
    last.contains(package) || package.contains(last)
}

/// Returns candidates of which nothing but the name speaks for any. Short names of one word are those of other libraries,
/// too: `get`, `close`.
fn only(found: Vec<Candidate>, name: &str) -> (Certainty, Vec<Candidate>) {
    let is_rare = is_compound(name);
    let certainty = if found.len() == 1 && is_rare { Certainty::Likely } else { Certainty::ByName };
    (certainty, found)
}
