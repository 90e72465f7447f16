//! Forms the keys by which the code map connects uses with definitions. Pure.
//!
//! A key is a name with the languages whose files can use each other, and with whether the definition is a member. So a call of the
//! builtin `append` of Go is no use of a method `append`, and a call in Python is none of a function in Rust.

use std::collections::{BTreeMap, HashMap};

use memod_base::types::{DeclaredItem, DeclaredRole, FileStructure, ImportedName, UseReceiver, UseRole};

use super::map_file::KeyUse;
use super::module_files::last_module_part;
use crate::resolve::LanguageFamily;

/// Separates the name from the rest of a key.
const SEPARATOR: char = '\t';

/// A definition as the code map needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedDefinition {
    /// The key by which uses mean it.
    pub key: String,
    /// The line of its name, if that is known.
    pub name_line: Option<u32>,
    /// Whether it is a variable, a constant or a module.
    pub is_value: bool,
}

/// Forms the keys of one file.
pub struct UseKeys<'a> {
    family: LanguageFamily,
    structure: &'a FileStructure,
    /// The definitions of each name, in the order of the text; without scopes.
    declared: HashMap<&'a str, Vec<&'a DeclaredItem>>,
    /// The import of each imported name.
    imported: HashMap<&'a str, &'a ImportedName>,
}

impl<'a> UseKeys<'a> {
    /// Returns `None` for a file whose uses are not known by structure; its keys are the names themselves.
    pub fn new(path: &str, structure: &'a FileStructure) -> Option<Self> {
        let family = LanguageFamily::from_path(path);
        if family == LanguageFamily::Other || family.is_by_name() || structure.is_empty() {
            return None;
        }
        let mut declared: HashMap<&str, Vec<&DeclaredItem>> = HashMap::new();
        let is_listed = |own: &&DeclaredItem| !matches!(own.role, DeclaredRole::Scope | DeclaredRole::Field);
        for own in structure.declared.iter().filter(is_listed) {
            own.own_names().for_each(|name| declared.entry(name).or_default().push(own));
        }
        let mut imported = HashMap::new();
        for import in &structure.imports {
            imported.entry(import.local.as_str()).or_insert(import);
        }
        Some(Self { family, structure, declared, imported })
    }

    /// Finds a definition of the file by its name and its first line or a line of its comment.
    pub fn find_definition(&self, name: &str, line: u32) -> KeyedDefinition {
        let named = self.declared.get(name).map(Vec::as_slice).unwrap_or_default();
        let own = named.iter().find(|own| own.lines.1 >= line);
        let first_name = own.filter(|own| own.own_names().next() == Some(name));
        KeyedDefinition {
            key: self.form_key(name, own.is_some_and(|own| own.role == DeclaredRole::Member)),
            name_line: first_name.map(|own| own.name_at.0).filter(|name_line| *name_line >= line),
            // In JavaScript a constant is as often an object with functions, such as a router.
            is_value: self.family != LanguageFamily::JavaScript
                && own.is_some_and(|own| own.role != DeclaredRole::Type && !own.is_callable),
        }
    }

    /// Returns the keys that the file uses, in the order of the keys.
    pub fn count_uses(&self) -> Vec<KeyUse> {
        let mut counts: BTreeMap<(String, &str), u32> = BTreeMap::new();
        for used in self.structure.uses.iter().filter(|used| used.role != UseRole::Field) {
            let written = self.structure.name(used.name);
            let is_bare = matches!(used.receiver, UseReceiver::None | UseReceiver::Import);
            let import = match used.receiver {
                UseReceiver::Named(path) => self.imported.get(first_part(self.structure.name(path))),
                _ => self.imported.get(written).filter(|_| is_bare),
            };
            let original = import.map(|import| import.name.as_str()).filter(|_| is_bare);
            let name = original.filter(|name| !matches!(*name, "" | "default")).unwrap_or(written);
            let module = import.map_or("", |import| last_module_part(&import.module));
            let (free, member) = self.possible_roles(used.receiver);
            for is_member in
                [(free, false), (member, true)].into_iter().filter_map(|(may, is)| may.then_some(is))
            {
                *counts.entry((self.form_key(name, is_member), module)).or_default() += 1;
            }
        }
        counts
            .into_iter()
            .map(|((key, module), count)| KeyUse { key, module: module.to_owned(), count })
            .collect()
    }

    /// Returns whether a use with this receiver may mean a free definition, and whether it may mean a member.
    fn possible_roles(&self, receiver: UseReceiver) -> (bool, bool) {
        let path = match receiver {
            UseReceiver::None => return (true, self.family.has_implicit_self()),
            UseReceiver::Import | UseReceiver::Fixture => return (true, false),
            UseReceiver::Own | UseReceiver::Other => return (false, true),
            UseReceiver::Named(path) => self.structure.name(path),
        };
        let last = path.rsplit('.').next().unwrap_or_default();
        if last.starts_with(char::is_uppercase) {
            return (false, true); // a type
        }
        let is_imported = self.imported.contains_key(first_part(path));
        let has_paths =
            matches!(self.family, LanguageFamily::Rust | LanguageFamily::C) || self.family.is_declarative();
        (is_imported || has_paths, !is_imported || has_paths)
    }

    fn form_key(&self, name: &str, is_member: bool) -> String {
        let member = if is_member { "." } else { "" };
        format!("{name}{SEPARATOR}{:?}{member}", self.family)
    }
}

/// Returns the first part of a receiver: `a` of `a.b`.
fn first_part(path: &str) -> &str {
    path.split('.').next().unwrap_or_default()
}

/// Returns whether a key is that of a member.
pub(super) fn is_member_key(key: &str) -> bool {
    key.contains(SEPARATOR) && key.ends_with('.')
}

/// Returns the name in a key.
pub(super) fn name_of_key(key: &str) -> &str {
    key.split(SEPARATOR).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memod_base::types::{DeclaredItem, ImportedName, NameUse};

    #[test]
    fn a_builtin_is_no_use_of_a_method() {
        let names = ["append", "trace", "mem", "Buffer", "copy"].map(str::to_owned).to_vec();
        let used = |name, receiver| NameUse {
            name,
            line: 1,
            column: 0,
            within: 0,
            receiver,
            role: UseRole::Call,
            n_arguments: None,
        };
        let structure = FileStructure {
            imports: vec![ImportedName {
                local: "mem".to_owned(),
                module: "a/mem".to_owned(),
                name: String::new(),
                line: 1,
                scope_lines: None,
            }],
            names,
            uses: vec![
                used(0, UseReceiver::None),
                used(0, UseReceiver::Named(1)),
                used(4, UseReceiver::Named(2)),
                used(4, UseReceiver::Named(3)),
                used(4, UseReceiver::Other),
            ],
            declared: vec![DeclaredItem {
                title: "trace.append".to_owned(),
                names: "append".to_owned(),
                lines: (3, 5),
                name_at: (3, 4),
                role: DeclaredRole::Member,
                parent: None,
                arity: None,
                is_callable: true,
                is_internal: false,
            }],
            ..FileStructure::default()
        };
        let keys = UseKeys::new("a.go", &structure).expect("Go is known");
        let counts = keys.count_uses();
        let counts: Vec<_> = counts.iter().map(|used| (used.key.as_str(), used.count)).collect();
        assert_eq!(counts, [("append\tGo", 1), ("append\tGo.", 1), ("copy\tGo", 1), ("copy\tGo.", 2)]);
        let append = keys.find_definition("append", 3);
        assert_eq!((append.key.as_str(), append.name_line, append.is_value), ("append\tGo.", Some(3), false));
        assert_eq!(name_of_key("append\tGo."), "append");
        assert!(UseKeys::new("a.rb", &structure).is_none());
    }
}
