//! Resolves names behind a receiver: the enclosing type, a module, a type or a value.

use memod_base::types::{DeclaredRole, TypedValue, last_part, without_local_mark};

use super::infer_types::TypeName;
use super::javascript_exports::Exported;
use super::overloads::is_constructor;
use super::use_place::{LanguageFamily, UsePlace};
use super::{Certainty, DefinitionCandidate, FileNumber, Resolver};

impl Resolver<'_> {
    /// Resolves a member of the enclosing type.
    pub(super) fn resolve_own_member(&self, place: &UsePlace<'_>) -> (Certainty, Vec<DefinitionCandidate>) {
        let of_component = self.find_in_options(place, false);
        if !of_component.is_empty() {
            return (Certainty::Exact, of_component);
        }
        let Some(around) = self.enclosing_type(place) else {
            // A function outside of types may write the type of its parameter `self`.
            return match self.infer_type(place, "self") {
                Some(type_name) => self.resolve_typed_value(place, &type_name),
                None => self.members_by_name(place),
            };
        };
        let own = self.candidates.members_with_owner(place.family, &around.name);
        let own = own.filter(|found| found.file == place.file).collect();
        let same_file = match self.known_types(&around) {
            Some(meant) => self.members_of_types(&around.name, &meant, own),
            None => own,
        };
        if !same_file.is_empty() {
            return (Certainty::Exact, same_file);
        }
        // Otherwise the member may be of a base, which may be in another library.
        self.resolve_in_type(&around, place.steps).unwrap_or_else(|| self.members_by_name(place))
    }

    /// Resolves a member of a type or of its bases; `None` if no such member is known.
    fn resolve_in_type(
        &self,
        type_name: &TypeName,
        steps: u32,
    ) -> Option<(Certainty, Vec<DefinitionCandidate>)> {
        let (is_certain, found) = self.members_of(type_name, steps);
        let certainty = match found.len() {
            0 => return None,
            _ if is_certain => Certainty::Exact,
            1 => Certainty::Likely,
            _ => Certainty::ByName,
        };
        Some((certainty, found))
    }

    /// Resolves a name without a receiver to a member of the bases of the enclosing types.
    pub(super) fn resolve_inherited(
        &self,
        place: &UsePlace<'_>,
    ) -> Option<(Certainty, Vec<DefinitionCandidate>)> {
        if !place.family.has_implicit_self() {
            return None;
        }
        let types = place
            .definitions_around()
            .filter(|id| place.structure.declared[*id as usize].role == DeclaredRole::Type)
            .map(Some);
        let mut around = std::iter::once(place.within).chain(types);
        let (certainty, mut found) = around.find_map(|within| {
            self.resolve_in_type(&self.enclosing_type(&UsePlace { within, ..*place })?, place.steps)
        })?;
        found.retain(|found| {
            let structure = self.structures.structure_of(found.file);
            let declared = found.declared_in(&structure);
            !is_constructor(&structure, declared) && (place.is_call || declared.role == DeclaredRole::Field)
        });
        (!found.is_empty()).then_some((certainty, found))
    }

    /// Resolves a name whose receiver is the path of a module, a type or a value.
    pub(super) fn resolve_with_receiver(
        &self,
        place: &UsePlace<'_>,
        path: &str,
    ) -> (Certainty, Vec<DefinitionCandidate>) {
        if place.family == LanguageFamily::JavaScript && matches!(path, "exports" | "module.exports") {
            return self.resolve_without_receiver(place);
        }
        if let Some(found) = self.resolve_member_of_super(place, path) {
            return found;
        }
        let of_object = self.resolve_member_of_object(place, path);
        if !of_object.is_empty() {
            return (Certainty::Exact, of_object);
        }
        if let Some(type_name) = self.infer_type(place, path) {
            return self.resolve_typed_value(place, &type_name);
        }
        if let Some(plain) = without_local_mark(path) {
            return self.resolve_on_local(place, path, &plain);
        }
        if self.is_call_on_value(place, path) {
            return self.resolve_untyped_value(place);
        }
        if let Some(found) = self.meant_items(place, &format!("{path}.{}", place.written)) {
            return (Certainty::Exact, found);
        }
        let type_name = last_part(path).trim_end_matches(['(', ')', '?']);
        let of_type = self.candidates.members_with_owner(place.family, type_name).collect();
        let of_type = self.retain_members_of_local(place, path, of_type);
        if let Some(found) = self.resolve_in_known_type(place, path, &of_type) {
            return found;
        }
        let seen: Vec<DefinitionCandidate> =
            of_type.iter().filter(|found| self.sees_type(place, found.file, type_name)).copied().collect();
        let is_far = place.family.has_qualified_types() && path.contains('.');
        let is_far = is_far && self.type_is_elsewhere(place, path, &seen);
        if !seen.is_empty() && !is_far && !self.are_of_several_types(&seen) {
            return (Certainty::Exact, seen);
        }
        if let Some(found) = self.resolve_in_modules(place, path) {
            return found;
        }
        if place.family == LanguageFamily::JavaScript {
            let of_import = self.resolve_member_of_import(place, path);
            if !of_import.is_empty() {
                return (Certainty::Exact, of_import);
            }
        }
        match of_type.len() {
            0 => {
                if let Some(inherited) = self.resolve_member_of_bases(place, path) {
                    return inherited;
                }
            }
            1 => return (Certainty::Likely, of_type),
            _ => return (Certainty::ByName, of_type),
        }
        // The path names a type of another library.
        let is_type = type_name.starts_with(char::is_uppercase) && place.family != LanguageFamily::Go;
        if is_type { (Certainty::ByName, Vec::new()) } else { self.resolve_untyped_value(place) }
    }

    /// Returns whether the path of a type names a module that none of the files `seen` is known to be of.
    fn type_is_elsewhere(&self, place: &UsePlace<'_>, path: &str, seen: &[DefinitionCandidate]) -> bool {
        let path = path.trim_end_matches(['(', ')', '?']);
        let Some((module, _)) = path.rsplit_once('.').filter(|_| !path.contains('(')) else { return false };
        // A variant of an enumeration is in its type: `Event::Opened`.
        if self.are_in_path(seen, path) {
            return false;
        }
        match self.files_of_module_path(place, module) {
            Some(files) => !seen.iter().any(|found| files.contains(&found.file)),
            None => true,
        }
    }

    /// Resolves a member behind the path of a type: `b::Order::new()`; `None` if it is not known which type of its name is meant.
    fn resolve_in_known_type(
        &self,
        place: &UsePlace<'_>,
        path: &str,
        of_type: &[DefinitionCandidate],
    ) -> Option<(Certainty, Vec<DefinitionCandidate>)> {
        // In `Outer.Order().total()`, a value of the type is created.
        let is_created =
            matches!(place.family, LanguageFamily::Python | LanguageFamily::JavaScript | LanguageFamily::C);
        let path = path.strip_suffix("()").filter(|_| is_created).unwrap_or(path);
        if of_type.is_empty() || path.contains(['(', '?']) {
            return None;
        }
        let meant = self.meant_types(place, path);
        let imported = || self.imported_type(&self.written_type(place, path));
        let (name, meant) = match meant {
            Some(meant) => (last_part(path).to_owned(), meant),
            None => imported().map(|of| (of.name.clone(), self.find_type_declarations(&of)))?,
        };
        let found = self.members_of_types(&name, &meant, of_type.to_vec());
        if !found.is_empty() {
            return Some((Certainty::Exact, found));
        }
        let first = meant.first()?;
        let of_type = self.written_type(place, path);
        let known =
            TypeName { file: first.file, module: None, within: None, declared: Some(*first), ..of_type };
        Some(self.resolve_in_type(&known, place.steps).unwrap_or((Certainty::Exact, Vec::new())))
    }

    /// Resolves a member of a variable without a known type that hides something of its name. What is outside of the function with that
    /// name is another value, so at most the members of an object of another file are likely.
    fn resolve_on_local(
        &self,
        place: &UsePlace<'_>,
        path: &str,
        plain: &str,
    ) -> (Certainty, Vec<DefinitionCandidate>) {
        let own_name = last_part(plain).trim_end_matches(['(', ')', '?']);
        let members = self.candidates.members_with_owner(place.family, own_name).collect();
        let mut members = self.retain_members_of_local(place, path, members);
        members.retain(|member| {
            let structure = self.structures.structure_of(member.file);
            let holder = member.declared_in(&structure).parent;
            member.file != place.file || structure.find_item(holder).is_some_and(|holder| holder.is_callable)
        });
        match members.as_slice() {
            [only] if only.file == place.file => (Certainty::Exact, members),
            [_] if place.family == LanguageFamily::JavaScript => (Certainty::Likely, members),
            _ => self.resolve_untyped_value(place),
        }
    }

    /// Returns `members` without those of other variables of the name: a member that is set on another `watch` is none of this one.
    fn retain_members_of_local(
        &self,
        place: &UsePlace<'_>,
        path: &str,
        mut members: Vec<DefinitionCandidate>,
    ) -> Vec<DefinitionCandidate> {
        if place.family != LanguageFamily::JavaScript {
            return members;
        }
        // A member that a function sets on its local variable exists only inside that function.
        members.retain(|member| {
            let structure = self.structures.structure_of(member.file);
            let holder = member.declared_in(&structure).parent;
            let is_local = structure.find_item(holder).is_some_and(|holder| holder.is_callable);
            !is_local
                || member.file == place.file
                    && place.definitions_around().any(|around| Some(around) == holder)
        });
        let is_value = |value: &&TypedValue| place.structure.name(value.name) == path;
        let binders: Vec<u32> =
            place.structure.values.iter().filter(is_value).filter_map(TypedValue::enclosing_id).collect();
        if let Some(binder) = place.definitions_around().find(|around| binders.contains(around)) {
            members.retain(|member| {
                let structure = self.structures.structure_of(member.file);
                member.file == place.file
                    && structure.enclosing_ids(Some(member.declared)).any(|around| around == binder)
            });
        }
        members
    }

    /// Resolves a member that a type inherits, behind the path of the type: `Child.total`; `None` if the path means no known type.
    fn resolve_member_of_bases(
        &self,
        place: &UsePlace<'_>,
        path: &str,
    ) -> Option<(Certainty, Vec<DefinitionCandidate>)> {
        if path.contains(['(', '?']) || place.family == LanguageFamily::Go {
            return None;
        }
        let written = self.written_type(place, path);
        let imported = self.imported_type(&written);
        let type_name = imported.unwrap_or(written);
        if self.find_type_declarations(&type_name).is_empty() {
            return None;
        }
        self.resolve_in_type(&type_name, place.steps)
    }

    /// Returns whether a path of Go ends in a call of a value's member, as in `mill.Hook()`, which does not mean a type `Hook`.
    /// `a.Hook()` with a package `a` is a conversion.
    fn is_call_on_value(&self, place: &UsePlace<'_>, path: &str) -> bool {
        let member = path.strip_suffix("()").and_then(|called| called.rsplit_once('.'));
        place.family == LanguageFamily::Go
            && member.is_some_and(|(value, _)| self.files_of_module_path(place, value).is_none())
    }

    /// Resolves a name in the module that a path means; `None` if the path means no module that is known to have the name.
    pub(super) fn resolve_in_modules(
        &self,
        place: &UsePlace<'_>,
        path: &str,
    ) -> Option<(Certainty, Vec<DefinitionCandidate>)> {
        if place.family == LanguageFamily::JavaScript {
            return self.resolve_module_member(place, path);
        }
        let modules = self.files_of_module_path(place, path)?;
        let from = modules.iter().map(|module| (*module, self.name.to_owned()));
        let found = self.retain_visible(place, self.resolve_exported(from.collect()));
        let is_of_another_library = modules.is_empty();
        let is_known = !found.is_empty() || is_of_another_library || !place.family.has_types_as_modules();
        is_known.then_some((Certainty::Exact, found))
    }

    /// Resolves a member of a value whose type the text shows.
    fn resolve_typed_value(
        &self,
        place: &UsePlace<'_>,
        type_name: &TypeName,
    ) -> (Certainty, Vec<DefinitionCandidate>) {
        if type_name.is_wrapped {
            return (Certainty::Exact, Vec::new());
        }
        if type_name.name.contains('|') {
            return self.resolve_in_union(place, type_name);
        }
        let (is_certain, found) = self.members_of(type_name, place.steps);
        match (found.len(), is_certain) {
            (1.., true) => (if type_name.is_written { Certainty::Exact } else { Certainty::Likely }, found),
            (1, false) => (Certainty::Likely, found),
            (2.., false) => (Certainty::ByName, found),
            (0, _) if self.is_of_another_library(type_name) => (Certainty::Exact, Vec::new()),
            // The type is a type parameter, or the member is of an interface or of a base in another library.
            (0, _) if type_name.name.len() == 1 || self.has_type(&type_name.name) => {
                self.resolve_untyped_value(place)
            }
            // The name may be another name of a type, which a constant holds.
            (0, _) => match self.union_of_alias(place, type_name) {
                Some(union) => self.resolve_in_union(place, &union),
                None if self.is_alias(type_name) => self.resolve_untyped_value(place),
                None => (Certainty::Exact, Vec::new()),
            },
        }
    }

    /// Resolves a member of a value that has one of several types: the members of all of them, likely.
    fn resolve_in_union(
        &self,
        place: &UsePlace<'_>,
        union: &TypeName,
    ) -> (Certainty, Vec<DefinitionCandidate>) {
        let mut all: Vec<DefinitionCandidate> = Vec::new();
        for name in union.name.split('|') {
            let (module, name) =
                name.rsplit_once('.').map_or((None, name), |(module, name)| (Some(module), name));
            let part = TypeName {
                name: name.to_owned(),
                module: module.map(str::to_owned),
                declared: None,
                ..union.clone()
            };
            let (_, found) = self.members_of(&part, place.steps);
            all.extend(found);
        }
        all.sort_unstable_by_key(|found| (found.file, found.declared));
        all.dedup();
        if all.is_empty() { self.resolve_untyped_value(place) } else { (Certainty::Likely, all) }
    }

    /// Returns the union that a constant of Python has, if a type is written by the name of the constant.
    fn union_of_alias(&self, place: &UsePlace<'_>, type_name: &TypeName) -> Option<TypeName> {
        if place.family != LanguageFamily::Python {
            return None;
        }
        let structure = self.structures.structure_of(type_name.file);
        let written = self.place_within(type_name.file, &structure, None);
        let written = UsePlace { steps: place.steps.checked_sub(1)?, ..written };
        let found = self.type_of_constant(&written, type_name.module.as_deref(), &type_name.name)?;
        found.name.contains('|').then_some(found)
    }

    /// Returns whether a constant of Python has the name of a type.
    fn is_alias(&self, type_name: &TypeName) -> bool {
        let family = LanguageFamily::from_path(self.paths.path_of(type_name.file));
        family == LanguageFamily::Python
            && self.structures.definitions_named(&type_name.name).iter().any(|candidate| {
                let structure = self.structures.structure_of(candidate.file);
                candidate.declared_in(&structure).role == DeclaredRole::Free
            })
    }

    fn has_type(&self, name: &str) -> bool {
        !self.structures.resolution_cache().find_types(self.paths, self.structures, name).is_empty()
    }

    /// Resolves a member of a value whose type is not known.
    pub(super) fn resolve_untyped_value(
        &self,
        place: &UsePlace<'_>,
    ) -> (Certainty, Vec<DefinitionCandidate>) {
        match place.family {
            // Any object may have a method of any name.
            LanguageFamily::JavaScript => (Certainty::ByName, self.all_members(place)),
            // The name may be a field of another library.
            LanguageFamily::Go | LanguageFamily::Rust if !place.is_call => {
                let found = self.all_members(place);
                let are_fields = self.candidates.all.iter().all(|(candidate, structure)| {
                    candidate.declared_in(structure).role == DeclaredRole::Field
                });
                let n_found = if are_fields { found.len() } else { 0 };
                (Certainty::from_name_alone(n_found, self.name), found)
            }
            _ => self.members_by_name(place),
        }
    }

    /// Returns the members with the name, when only that is known, with their certainty.
    fn members_by_name(&self, place: &UsePlace<'_>) -> (Certainty, Vec<DefinitionCandidate>) {
        let found = self.all_members(place);
        (Certainty::from_name_alone(found.len(), self.name), found)
    }

    fn all_members(&self, place: &UsePlace<'_>) -> Vec<DefinitionCandidate> {
        self.candidates_of_family(place, |_, found| found.role.is_member())
    }

    /// Returns the files of the module that a path means in this place: none for a module of another library; `None` if the
    /// path means no module.
    pub(super) fn files_of_module_path(&self, place: &UsePlace<'_>, path: &str) -> Option<Vec<FileNumber>> {
        let is_type = place.family == LanguageFamily::Rust && last_part(path).starts_with(char::is_uppercase);
        if is_type || path.contains("()") {
            return None;
        }
        if place.family == LanguageFamily::JavaScript {
            let modules =
                self.file_exports().modules_of_path((place.file, place.structure, place.line), path)?;
            let files = modules.into_iter().filter_map(|module| match module {
                Exported::Module(file) | Exported::DefaultObject(file) => Some(file),
                Exported::Definition(..) => None,
            });
            return Some(files.collect());
        }
        let (first, rest) = path.split_once('.').map_or((path, ""), |(first, rest)| (first, rest));
        let find_import = |local: &str| place.structure.imports_binding(local, place.line).first().copied();
        if let Some(import) = find_import(path).or_else(|| find_import(first)) {
            let is_whole = import.local == path;
            let mut module = import.full_module();
            if !is_whole && !rest.is_empty() {
                module = format!("{module}{}{rest}", place.family.separator());
            }
            let mut files = self.find_module_files(place.family, &module, place.file);
            if files.is_empty() && import.name.is_empty() {
                files = self.find_module_files(place.family, &import.module, place.file);
            }
            let is_external = self.find_module_files(place.family, &import.module, place.file).is_empty();
            return (!files.is_empty() || is_external).then_some(files);
        }
        if place.family == LanguageFamily::Python {
            // `import a.b` binds `a` as well.
            let imports = place.structure.imports.iter().filter(|import| import.holds_on(place.line));
            let mut imports = imports.filter(|import| import.name.is_empty());
            let is_prefix = |local: &str| local.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
            return imports
                .any(|import| is_prefix(&import.local) && import.local == import.module)
                .then(|| self.find_module_files(place.family, path, place.file));
        }
        if place.family != LanguageFamily::Rust {
            return None;
        }
        let files = self.find_module_files(place.family, &path.replace('.', "::"), place.file);
        (!files.is_empty()).then_some(files)
    }
}
