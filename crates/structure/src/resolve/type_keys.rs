//! Distinguishes types of one name by the modules, namespaces, packages, types and functions that they are in.
//!
//! Each type has a key: the directory of its module, or its package, and its title. The key that a written path means is searched
//! from the innermost scope outwards, then by the imports.

use std::collections::{HashMap, HashSet};

use memod_base::types::{DeclaredRole, FileStructure, ImportedName, LOCAL_MARK, last_part};

use super::infer_types::TypeName;
use super::split_path::{join_path, split_path};
use super::use_place::{LanguageFamily, UsePlace};
use super::{DefinitionCandidate, FileNumber, Resolver};

/// Maximum number of types of one name that are compared by their keys.
const MOST_TYPES: usize = 200;

/// The types of one name by their keys.
pub(super) type TypesByKey = HashMap<String, Vec<DefinitionCandidate>>;

impl Resolver<'_> {
    /// Returns the types that a path, whose parts are joined by `.`, means in a place; `None` if that is not known.
    pub(super) fn meant_types(&self, place: &UsePlace<'_>, path: &str) -> Option<Vec<DefinitionCandidate>> {
        let types = self.types_named(place.family, last_part(path));
        let is_plain = !path.contains('.');
        if types.is_empty() || types.len() > MOST_TYPES || is_plain && types.len() == 1 {
            return None;
        }
        let keys = self.group_by_key(&types);
        let parts: Vec<&str> = path.split('.').filter(|part| !part.is_empty()).collect();
        let mut meant = match place.family {
            LanguageFamily::Rust => self.meant_in_rust(place, &parts, &keys),
            LanguageFamily::C => self.meant_in_cpp(place, &parts, &keys),
            LanguageFamily::Java => self.meant_in_java(place, &parts, &keys),
            _ => self.meant_in_file(place, &parts, &keys),
        }?;
        let is_seen = |found: &DefinitionCandidate| self.sees_type(place, found.file, last_part(path));
        if meant.len() > 1 && meant.iter().any(is_seen) {
            meant.retain(is_seen);
        }
        Some(meant)
    }

    /// Returns the candidates outside of types that a path means in a place of Rust, C++ or Java; `None` if that is not known.
    pub(super) fn meant_items(&self, place: &UsePlace<'_>, path: &str) -> Option<Vec<DefinitionCandidate>> {
        if !place.family.has_qualified_types() || path.contains(['(', '?', LOCAL_MARK]) {
            return None;
        }
        let items = self.candidates_of_family(place, |_, found| {
            !found.role.is_member() && matches!(found.role, DeclaredRole::Type | DeclaredRole::Free)
        });
        if items.is_empty() || items.len() > MOST_TYPES {
            return None;
        }
        let keys = self.group_by_key(&items);
        let parts: Vec<&str> = path.split('.').filter(|part| !part.is_empty()).collect();
        let found = match place.family {
            LanguageFamily::Rust => self.meant_in_rust(place, &parts, &keys),
            LanguageFamily::C => {
                // Outside of namespaces, only the included headers tell which of several is meant.
                let found = self.meant_in_namespaces(place, &parts, &keys)?;
                let is_named = |found: &DefinitionCandidate| self.key_of_type(*found).contains('/');
                found.iter().all(is_named).then_some(found)
            }
            _ => self.meant_in_java(place, &parts, &keys),
        }?;
        Some(self.retain_visible(place, found)).filter(|found| !found.is_empty())
    }

    /// Returns those of `members` that types have; what is declared elsewhere, as in an `impl`, counts for the type that it names there.
    pub(super) fn members_of_types(
        &self,
        name: &str,
        types: &[DefinitionCandidate],
        mut members: Vec<DefinitionCandidate>,
    ) -> Vec<DefinitionCandidate> {
        let mut known: HashMap<(FileNumber, Option<u32>, String), bool> = HashMap::new();
        let wanted: HashSet<String> = types.iter().map(|found| self.key_of_type(*found)).collect();
        let all: HashSet<String> = types
            .first()
            .map(|first| self.types_named(LanguageFamily::from_path(self.paths.path_of(first.file)), name))
            .unwrap_or_default()
            .into_iter()
            .map(|found| self.key_of_type(found))
            .collect();
        members.retain(|member| {
            let structure = self.structures.structure_of(member.file);
            let declared = member.declared_in(&structure);
            let owner = declared.owner_title().to_owned();
            let of_place = (member.file, declared.parent, owner.clone());
            *known.entry(of_place).or_insert_with(|| {
                let key = self.type_key(member.file, &structure, &owner);
                if all.contains(&key) {
                    return wanted.contains(&key);
                }
                let within = declared.parent.or(Some(member.declared));
                let place = self.place_within(member.file, &structure, within);
                let path = match place.family {
                    LanguageFamily::C => split_title(&owner).join("."),
                    _ => last_part(&owner).to_owned(),
                };
                let meant = self.meant_types(&place, &path);
                match meant {
                    Some(meant) => meant.iter().any(|found| types.contains(found)),
                    None => types.iter().any(|found| self.sees_type(&place, found.file, name)),
                }
            })
        });
        members
    }

    /// Returns whether members are of more than one type, by what the types are in.
    pub(super) fn are_of_several_types(&self, members: &[DefinitionCandidate]) -> bool {
        let mut titles = members.iter().map(|member| {
            let structure = self.structures.structure_of(member.file);
            let title = split_title(member.declared_in(&structure).owner_title()).join(".");
            // A type of these languages has its members in one file.
            match LanguageFamily::from_path(self.paths.path_of(member.file)) {
                LanguageFamily::Python | LanguageFamily::Java => {
                    format!("{}:{title}", self.key_of_file(member.file, &structure))
                }
                _ => title,
            }
        });
        let Some(first) = titles.next() else { return false };
        // The file of a member of C++ may leave out the namespace, which it uses.
        let is_cpp = members
            .iter()
            .all(|member| LanguageFamily::from_path(self.paths.path_of(member.file)) == LanguageFamily::C);
        titles.any(|title| match is_cpp {
            true => !is_end_of(&title, &first) && !is_end_of(&first, &title),
            false => title != first,
        })
    }

    /// Returns whether the titles of the types around all members end with a path.
    pub(super) fn are_in_path(&self, members: &[DefinitionCandidate], path: &str) -> bool {
        members.iter().all(|member| {
            let structure = self.structures.structure_of(member.file);
            is_end_of(path, &split_title(member.declared_in(&structure).owner_title()).join("."))
        })
    }

    /// Returns the declarations of a type that its path means in its place, or that are known before; `None` if they are not known,
    /// or names alone are compared in its language.
    pub(super) fn known_types(&self, type_name: &TypeName) -> Option<Vec<DefinitionCandidate>> {
        let family = LanguageFamily::from_path(self.paths.path_of(type_name.file));
        if family.is_by_name() {
            return None;
        }
        if let Some(declared) = type_name.declared {
            return (self.types_named(family, &type_name.name).len() > 1).then(|| vec![declared]);
        }
        let structure = self.structures.structure_of(type_name.file);
        let place = self.place_within(type_name.file, &structure, type_name.within);
        self.meant_types(&place, &type_name.qualified_name())
    }

    /// Returns the declared types with a name in files of a language family.
    pub(super) fn types_named(&self, family: LanguageFamily, name: &str) -> Vec<DefinitionCandidate> {
        let named = self.structures.resolution_cache();
        let named = named.find_types(self.paths, self.structures, name);
        let of_family = named.iter().filter(|(found, _)| family.sees_family(*found));
        of_family.map(|(_, candidate)| *candidate).collect()
    }

    /// Returns the type around a place, if it is declared in the file itself.
    pub(super) fn own_type(&self, place: &UsePlace<'_>) -> Option<DefinitionCandidate> {
        let title = place.owner_title()?;
        let named = self.types_named(place.family, last_part(&title));
        let parts = split_title(&title);
        named.into_iter().find(|found| {
            found.file == place.file && split_title(&found.declared_in(place.structure).title) == parts
        })
    }

    fn group_by_key(&self, types: &[DefinitionCandidate]) -> TypesByKey {
        let mut keys = TypesByKey::new();
        for found in types {
            keys.entry(self.key_of_type(*found)).or_default().push(*found);
        }
        keys
    }

    fn key_of_type(&self, found: DefinitionCandidate) -> String {
        let structure = self.structures.structure_of(found.file);
        self.type_key(found.file, &structure, &found.declared_in(&structure).title)
    }

    fn type_key(&self, file: FileNumber, structure: &FileStructure, title: &str) -> String {
        join_path(&self.key_of_file(file, structure), &split_title(title).join("/"))
    }

    /// Returns the beginning of the keys of a file's types.
    fn key_of_file(&self, file: FileNumber, structure: &FileStructure) -> String {
        let path = self.paths.path_of(file);
        match LanguageFamily::from_path(path) {
            LanguageFamily::Rust => self.paths.module_dir(file).to_owned(),
            LanguageFamily::Java => structure.package.replace('.', "/"),
            LanguageFamily::C => String::new(),
            LanguageFamily::Go => self.paths.dir_of(file).to_owned(),
            LanguageFamily::Python => {
                path.strip_suffix(".pyi").map_or(path.to_owned(), |bare| format!("{bare}.py"))
            }
            _ => path.to_owned(),
        }
    }

    /// Python, JavaScript and Go: the scopes of the file, unless an import brings in the name.
    fn meant_in_file(
        &self,
        place: &UsePlace<'_>,
        parts: &[&str],
        keys: &TypesByKey,
    ) -> Option<Vec<DefinitionCandidate>> {
        let (file, written) = (self.key_of_file(place.file, place.structure), parts.join("/"));
        for around in place.definitions_around() {
            let item = place.structure.find_item(Some(around))?;
            let hides_own = place.family == LanguageFamily::Python
                && item.role == DeclaredRole::Type
                && place.within != Some(around);
            let key = join_path(&join_path(&file, &split_title(&item.title).join("/")), &written);
            if let Some(found) = keys.get(&key).filter(|_| !hides_own) {
                return Some(found.clone());
            }
        }
        let is_imported = !place.structure.imports_binding(parts[0], place.line).is_empty();
        keys.get(&join_path(&file, &written)).filter(|_| !is_imported).cloned()
    }

    /// Java: the types around, the imports of single types, the package, the imports of packages, and paths from a package.
    fn meant_in_java(
        &self,
        place: &UsePlace<'_>,
        parts: &[&str],
        keys: &TypesByKey,
    ) -> Option<Vec<DefinitionCandidate>> {
        let package = self.key_of_file(place.file, place.structure);
        let written = parts.join("/");
        let own = self.titles_around(place).map(|title| join_path(&join_path(&package, &title), &written));
        let imports = place.structure.imports.iter();
        let single = imports.clone().filter(|import| import.local == parts[0]);
        let single = single.map(|import| java_key(import, &parts[1..]));
        let of_package = std::iter::once(join_path(&package, &written));
        let wildcards = imports.filter(|import| import.local.is_empty());
        let wildcards = wildcards.map(|import| join_path(&import.module.replace('.', "/"), &written));
        let from_root = std::iter::once(written.clone());
        let mut candidates = own.chain(single).chain(of_package).chain(wildcards).chain(from_root);
        candidates.find_map(|key| keys.get(&key)).cloned()
    }

    /// Returns the titles of what is around a place as paths, innermost first, and those of the namespaces that these begin with.
    pub(super) fn titles_around(&self, place: &UsePlace<'_>) -> impl Iterator<Item = String> {
        let title = place.structure.find_item(place.within).map_or("", |item| &item.title);
        let title = split_title(title).join("/");
        let first = (!title.is_empty()).then_some(title);
        std::iter::successors(first, |title| {
            Some(split_path(title).0.to_owned()).filter(|outer| !outer.is_empty())
        })
    }
}

/// Returns the key of what an import of Java names, and of a type inside of it.
fn java_key(import: &ImportedName, rest: &[&str]) -> String {
    let path = join_path(&import.module.replace('.', "/"), &import.name);
    join_path(&path, &rest.join("/")).trim_end_matches('/').to_owned()
}

/// Returns the parts of a title: `a`, `Order` of `a::Order`.
pub(super) fn split_title(title: &str) -> Vec<&str> {
    title.split([':', '.']).filter(|part| !part.is_empty()).collect()
}

/// Returns whether a title is the other one without its first parts.
fn is_end_of(end: &str, title: &str) -> bool {
    title.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}
