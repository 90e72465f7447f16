//! Infers the types of values from the types that the text writes.
//!
//! A type is written for the value itself, or for the functions and fields from which the value comes.

use std::collections::{HashMap, HashSet};

use memod_base::types::{DeclaredRole, LOCAL_MARK, TypedValue, UseReceiver, last_part};

use super::use_place::{LanguageFamily, UsePlace};
use super::{Certainty, DefinitionCandidate, FileNumber, Resolver};

/// Most values, functions and levels of bases that are followed to find one type.
pub(super) const MOST_STEPS: u32 = 12;

/// Functions that return the value of an `Option` or a `Result`.
const UNWRAPPING: [&str; 5] = ["unwrap", "expect", "unwrap_or", "unwrap_or_default", "unwrap_or_else"];
/// Functions that return the type of their receiver, unless the type has its own function of that name.
const KEEPING: [&str; 6] = ["as_deref", "as_mut", "as_ref", "clone", "cloned", "to_owned"];
/// Methods of holders that are read as what they hold, such as `Optional` of Java, `std::optional` and `Weak`.
const OPENING: [&str; 9] =
    ["as_deref_mut", "borrow", "get", "get_mut", "lock", "orElse", "orElseGet", "orElseThrow", "value"];
/// Maximum number of types of one name that are distinguished.
const MOST_TYPES: usize = 50;
/// Names that mean the enclosing type in a signature.
const OWN_TYPES: [&str; 2] = ["Self", "this"];

/// A type, by its name in a place.
#[derive(Clone, Debug)]
pub(super) struct TypeName {
    pub(super) name: String,
    /// The module or package that qualifies the name: `http` of `http.Server`.
    pub(super) module: Option<String>,
    /// Whether the type is in an `Option` or a `Result`.
    pub(super) is_wrapped: bool,
    /// The type of its elements or of what it holds, if the text writes it: `Order` of `List<Order>`.
    pub(super) element: Option<String>,
    /// Whether the text writes the type; otherwise it is the type whose function creates the value, and that function may
    /// return another type.
    pub(super) is_written: bool,
    /// The file in which the name is written.
    pub(super) file: FileNumber,
    /// Index of the definition around the name in that file; `None` at the top.
    pub(super) within: Option<u32>,
    /// The declaration of the type, if the name means the type around the place.
    pub(super) declared: Option<DefinitionCandidate>,
}

impl TypeName {
    /// Returns the name with its module, joined by `.`.
    pub(super) fn qualified_name(&self) -> String {
        self.module.as_ref().map_or_else(|| self.name.clone(), |module| format!("{module}.{}", self.name))
    }
}

impl Resolver<'_> {
    /// Returns the type of an expression, given as names joined by `.`, with `()` after calls and `?` after tried values;
    /// `None` if the text does not show the type.
    pub(super) fn infer_type(&self, place: &UsePlace<'_>, path: &str) -> Option<TypeName> {
        let place = &UsePlace { steps: place.steps.checked_sub(1)?, ..*place };
        if !self.structures.count_step() {
            return None;
        }
        if let Some(list) = path.strip_suffix("[]") {
            return self.infer_type(place, list)?.into_indexed(place.family == LanguageFamily::C);
        }
        if let Some(list) = path.strip_suffix("{}") {
            return self.infer_type(place, list)?.into_iterated();
        }
        let untried = path.trim_end_matches('?');
        let type_name = match untried.strip_suffix("()") {
            Some(called) => self.type_of_call(place, called),
            None => self.type_of_value(place, untried),
        }?;
        let is_wrapped = type_name.is_wrapped && untried.len() == path.len();
        Some(TypeName { is_wrapped, ..type_name })
    }

    /// Returns the members with the resolver's name of a type, or else of its bases, and whether it is certain that they
    /// belong to the type.
    pub(super) fn members_of(&self, type_name: &TypeName, steps: u32) -> (bool, Vec<DefinitionCandidate>) {
        if !self.structures.count_step() {
            return (false, Vec::new());
        }
        if self.is_of_another_library(type_name) {
            return (true, Vec::new());
        }
        if let Some(alias) = self.type_of_alias(type_name) {
            return self.members_of(&alias, steps);
        }
        let family = LanguageFamily::from_path(self.paths.path_of(type_name.file));
        let own: Vec<DefinitionCandidate> =
            self.candidates.members_with_owner(family, &type_name.name).collect();
        let meant = self.known_types(type_name);
        if meant.is_none()
            && let Some(declared) = self.imported_type(type_name)
        {
            return self.members_of(&declared, steps);
        }
        let (same, unknown) = match meant {
            Some(meant) => (self.members_of_types(&type_name.name, &meant, own), Vec::new()),
            None if family.is_by_name() => (self.nearest_candidates(own, type_name.file), Vec::new()),
            None => self.members_of_same_type(type_name, own),
        };
        if !same.is_empty() {
            return (!self.are_of_several_types(&same), same);
        }
        if !unknown.is_empty() {
            return (false, unknown);
        }
        let bases = steps.checked_sub(1).map(|steps| (steps, self.base_types(type_name)));
        let of_bases = bases
            .into_iter()
            .flat_map(|(steps, bases)| bases.into_iter().map(move |base| self.members_of(&base, steps)));
        let of_bases: Vec<_> = of_bases.filter(|(_, found)| !found.is_empty()).collect();
        // Each language has its own rule for which of several bases comes first.
        let is_one = of_bases.windows(2).all(|pair| pair[0].1 == pair[1].1);
        let is_certain = is_one && of_bases.iter().all(|(is_certain, _)| *is_certain);
        let mut found: Vec<DefinitionCandidate> = of_bases.into_iter().flat_map(|(_, found)| found).collect();
        // Two bases may have the same base.
        let mut known = HashSet::new();
        found.retain(|found| known.insert(*found));
        (is_certain, found)
    }

    /// Returns those of `members` that belong to the meant type, and those whose type is not known; members of another type
    /// with the same name are dropped. An `impl` block may be in any file, so the declarations that the name means in that
    /// file are compared.
    fn members_of_same_type(
        &self,
        type_name: &TypeName,
        members: Vec<DefinitionCandidate>,
    ) -> (Vec<DefinitionCandidate>, Vec<DefinitionCandidate>) {
        let seen = self.visible_types(type_name, &members);
        if !seen.is_empty() || members.is_empty() {
            return (seen, Vec::new());
        }
        let types = self.types_with_name(type_name);
        if types.len() > MOST_TYPES {
            return (Vec::new(), members);
        }
        let meant = self.visible_types(type_name, &types);
        let mut declared: HashMap<FileNumber, Vec<DefinitionCandidate>> = HashMap::new();
        let (mut same, mut unknown) = (Vec::new(), Vec::new());
        for member in members {
            let declarations = declared.entry(member.file).or_insert_with(|| {
                self.visible_types(
                    &TypeName { file: member.file, within: None, declared: None, ..type_name.clone() },
                    &types,
                )
            });
            match declarations.is_empty() || meant.is_empty() {
                true => unknown.push(member),
                false if *declarations == meant => same.push(member),
                false => {}
            }
        }
        (same, unknown)
    }

    /// Returns the type that encloses a place, if any.
    pub(super) fn enclosing_type(&self, place: &UsePlace<'_>) -> Option<TypeName> {
        let (file, within) = (place.file, place.within);
        Some(TypeName {
            name: place.owner_name()?,
            module: None,
            is_wrapped: false,
            element: None,
            is_written: true,
            file,
            within,
            declared: self.own_type(place),
        })
    }

    fn type_of_value(&self, place: &UsePlace<'_>, path: &str) -> Option<TypeName> {
        match path.rsplit_once('.') {
            None if path == "self" => {
                self.enclosing_type(place).or_else(|| self.type_of_variable(place, path))
            }
            None => self.type_of_variable(place, path),
            Some((prefix, name)) => match self.infer_type(place, prefix) {
                Some(type_name) => self.type_of_field(place, &type_name, name),
                None => self.type_of_constant(place, Some(prefix), name),
            },
        }
    }

    fn type_of_variable(&self, place: &UsePlace<'_>, name: &str) -> Option<TypeName> {
        let mut scopes = place.definitions_around().map(Some).chain([None]);
        let found = scopes.find_map(|scope| {
            let values = place.structure.values.iter();
            let values: Vec<&TypedValue> = values
                .filter(|value| value.enclosing_id() == scope && place.structure.name(value.name) == name)
                .collect();
            (!values.is_empty()).then_some((scope, values))
        });
        match found {
            Some((scope, values)) if scope == place.within => self.type_on_line(place, &values),
            Some((_, mut values)) => {
                values.retain(|value| !value.is_narrowed);
                self.common_type(place, &values)
            }
            // The variable hides a constant of this name.
            None if name.contains(LOCAL_MARK) => None,
            None => self.type_of_constant(place, None, name),
        }
    }

    /// Returns the type that a variable has on the line of a place in its function, given all that it is set to there: the last
    /// before the line, in a block that has the line. In a language where a block does not hide a variable, the type is not certain, and
    /// not known if an inner block sets the variable between. What a condition proves goes first.
    fn type_on_line(&self, place: &UsePlace<'_>, values: &[&TypedValue]) -> Option<TypeName> {
        let (narrowed, values): (Vec<&TypedValue>, Vec<&TypedValue>) =
            values.iter().partition(|value| value.is_narrowed);
        let holds = |value: &&&TypedValue| {
            place.line.is_some_and(|line| value.line < line && line <= value.last_line)
        };
        let nearest = narrowed.iter().filter(holds).max_by_key(|value| value.line);
        let set_after = |line: u32| {
            values.iter().any(|value| value.line > line && place.line.is_some_and(|own| value.line < own))
        };
        if let Some(nearest) = nearest.filter(|nearest| !set_after(nearest.line)) {
            let found = self.common_type(place, &[nearest])?;
            // A value of another library's type may be of a type here that extends it.
            if found.name.contains('|') || !self.find_type_declarations(&found).is_empty() {
                let is_written = place.family == LanguageFamily::Go && found.is_written;
                return Some(TypeName { is_written, ..found });
            }
        }
        // The parameter of a function on this line alone.
        let on_line = |value: &&&TypedValue| Some(value.line) == place.line && value.last_line == value.line;
        let mut of_line = values.iter().filter(on_line);
        if let Some(only) = of_line.next().filter(|_| of_line.next().is_none()) {
            return self.common_type(place, &[only]);
        }
        let values = &values[..];
        let is_same = values.windows(2).all(|pair| pair[0].is_set_like(pair[1]));
        let Some(line) = place.line.filter(|_| !is_same) else {
            return self.common_type(place, values);
        };
        let before = || values.iter().filter(|value| value.line < line);
        let on_line = || values.iter().filter(|value| value.line == line).min_by_key(|value| value.last_line);
        let last = before().filter(|value| line <= value.last_line).max_by_key(|value| value.line);
        let last = last.or_else(on_line)?;
        let has_blocks = place.family.has_block_scopes();
        let is_open = before().any(|value| value.line >= last.line && !value.is_set_like(last));
        if is_open && !has_blocks {
            return None;
        }
        let found = self.common_type(place, &[last])?;
        Some(TypeName { is_written: found.is_written && has_blocks, ..found })
    }

    /// Returns the type of a value at the top of a file, in this package or in a module.
    pub(super) fn type_of_constant(
        &self,
        place: &UsePlace<'_>,
        module: Option<&str>,
        name: &str,
    ) -> Option<TypeName> {
        let defined = self.defined_name(place, module, name);
        let other = self.resolver_for(&defined);
        let place = &UsePlace { written: name, ..*place };
        let (certainty, meant) = match module {
            Some(module) => other.resolve_in_modules(place, module)?,
            None => other.resolve_without_receiver(place),
        };
        if certainty != Certainty::Exact {
            return None;
        }
        agreed_type(meant.iter().map(|meant| {
            let structure = self.structures.structure_of(meant.file);
            let declared = meant.declared_in(&structure);
            let values: Vec<&TypedValue> = structure
                .values
                .iter()
                .filter(|value| {
                    declared.role == DeclaredRole::Free
                        && value.enclosing_id() == declared.parent
                        && structure.name(value.name) == name
                })
                .collect();
            self.common_type(&place.in_file(meant.file, &structure, declared.parent), &values)
        }))
    }

    /// Returns the type of a field of a type or of its bases; a base that Go embeds is a field too. The type of a base's
    /// field is uncertain, because a field of the type, whose type the text does not show, may hide it.
    fn type_of_field(&self, place: &UsePlace<'_>, type_name: &TypeName, field: &str) -> Option<TypeName> {
        if type_name.is_wrapped {
            return None;
        }
        let own = self.type_of_own_field(place, type_name, field);
        let of_method = || self.type_of_method(place, type_name, field).filter(|_| place.family.is_by_name());
        let own = own.or_else(|| self.type_of_property(place, type_name, field)).or_else(of_method);
        if let Some(own) = own {
            return Some(TypeName { is_written: own.is_written && type_name.is_written, ..own });
        }
        let place = &UsePlace { steps: place.steps.checked_sub(1)?, ..*place };
        if !self.structures.count_step() || self.is_of_another_library(type_name) {
            return None;
        }
        let bases = self.base_types(type_name);
        if bases.is_empty() && field == "value" && type_name.element.is_some() {
            return type_name.clone().into_element();
        }
        let embedded = bases.iter().find(|base| place.family == LanguageFamily::Go && base.name == field);
        embedded.cloned().or_else(|| {
            let found = bases.iter().find_map(|base| self.type_of_field(place, base, field))?;
            Some(TypeName { is_written: false, ..found })
        })
    }

    fn type_of_own_field(&self, place: &UsePlace<'_>, type_name: &TypeName, field: &str) -> Option<TypeName> {
        let imported = self.imported_type(type_name);
        let type_name = imported.as_ref().unwrap_or(type_name);
        let set = format!("self.{field}");
        self.find_type_declarations(type_name).into_iter().find_map(|declared| {
            let structure = self.structures.structure_of(declared.file);
            let declared_place = place.in_file(declared.file, &structure, Some(declared.declared));
            let fields: Vec<&TypedValue> = structure
                .values
                .iter()
                .filter(|value| match structure.name(value.name) {
                    name if name == field => value.enclosing_id() == Some(declared.declared),
                    name if name == set => {
                        UsePlace { within: value.enclosing_id(), ..declared_place }.owner_name().as_ref()
                            == Some(&type_name.name)
                    }
                    _ => false,
                })
                .collect();
            self.common_type(&declared_place, &fields)
        })
    }

    /// Returns the type of all values, if the text shows the same type for each.
    fn common_type(&self, place: &UsePlace<'_>, values: &[&TypedValue]) -> Option<TypeName> {
        let (first, rest) = values.split_first()?;
        if !rest.iter().all(|value| value.is_set_like(first)) {
            return None;
        }
        let declared_place = UsePlace { within: first.enclosing_id(), line: Some(first.line), ..*place };
        let type_name = place.structure.name(first.of);
        if first.is_written {
            Some(self.written_type(&declared_place, type_name))
        } else {
            self.infer_type(&declared_place, type_name)
        }
    }

    /// Returns the type that the text writes at a place; `Self` means the enclosing type.
    pub(super) fn written_type(&self, place: &UsePlace<'_>, type_name: &str) -> TypeName {
        let (name, element) = match type_name.split_once('<') {
            Some((name, element)) => (name, Some(element.to_owned())),
            None => (type_name, None),
        };
        let is_marked = name.ends_with('?');
        let name = name.trim_end_matches('?');
        let qualified = name.rsplit_once('.').filter(|_| !name.contains('|'));
        let (module, name) = qualified.map_or((None, name), |(module, name)| (Some(module.to_owned()), name));
        // In Python, `typing.Self` is the enclosing type.
        let is_own = OWN_TYPES.contains(&name)
            && (module.is_none() || place.family == LanguageFamily::Python && name == "Self");
        let own = if is_own { place.owner_name() } else { None };
        let declared = own.as_ref().and_then(|_| self.own_type(place));
        let module = module.filter(|_| own.is_none());
        TypeName {
            name: own.unwrap_or_else(|| name.to_owned()),
            module,
            is_wrapped: is_marked,
            element,
            is_written: true,
            file: place.file,
            within: place.within,
            declared,
        }
    }

    fn type_of_call(&self, place: &UsePlace<'_>, called: &str) -> Option<TypeName> {
        let Some((prefix, name)) = called.rsplit_once('.') else {
            let defined = self.defined_name(place, None, called);
            let called_place = &UsePlace { written: called, is_call: true, ..*place };
            let other = self.resolver_for(&defined);
            if place.family.is_by_name() {
                let (certainty, meant) = other.resolve_name_alone(called_place, UseReceiver::None);
                return (certainty <= Certainty::Likely).then(|| self.returned_type(place, &meant)).flatten();
            }
            let (certainty, meant) = other.resolve_without_receiver(called_place);
            if place.family == LanguageFamily::Python && meant.is_empty() {
                return self.type_of_fixture(place, called);
            }
            let returned =
                (certainty == Certainty::Exact).then(|| self.returned_type(place, &meant)).flatten();
            return returned.or_else(|| self.type_of_alias(&self.written_type(place, called)));
        };
        if let Some(type_name) = self.infer_type(place, prefix) {
            return self.type_of_method(place, &type_name, name);
        }
        let last_name = last_part(prefix);
        let qualified =
            matches!(place.family, LanguageFamily::Rust | LanguageFamily::C | LanguageFamily::Java);
        let type_name = self.written_type(place, if qualified { prefix } else { last_name });
        let type_name = self.imported_type(&type_name).unwrap_or(type_name);
        let is_type = last_name.starts_with(char::is_uppercase) && !prefix.ends_with([')', '?']);
        if is_type && !self.find_type_declarations(&type_name).is_empty() {
            return self.type_of_method(place, &type_name, name).or_else(|| {
                (place.family == LanguageFamily::Rust)
                    .then(|| TypeName { is_written: false, ..type_name.clone() })
            });
        }
        let defined = self.defined_name(place, Some(prefix), name);
        let other = self.resolver_for(&defined);
        let (certainty, meant) = other.resolve_in_modules(&UsePlace { written: name, ..*place }, prefix)?;
        (certainty == Certainty::Exact).then(|| self.returned_type(place, &meant)).flatten()
    }

    fn type_of_method(&self, place: &UsePlace<'_>, type_name: &TypeName, name: &str) -> Option<TypeName> {
        if type_name.is_wrapped {
            let unchanged = KEEPING.contains(&name).then(|| type_name.clone());
            return unchanged.or_else(|| {
                UNWRAPPING.contains(&name).then(|| TypeName { is_wrapped: false, ..type_name.clone() })
            });
        }
        let (is_certain, meant) = self.resolver_for(name).members_of(type_name, place.steps);
        if meant.is_empty() && type_name.element.is_some() {
            return type_name.clone().after_list_method(name);
        }
        if meant.is_empty() {
            let is_opened = UNWRAPPING.contains(&name) || OPENING.contains(&name);
            let is_kept = KEEPING.contains(&name);
            let is_written = type_name.is_written && is_kept;
            return (is_kept || is_opened).then(|| TypeName { is_written, ..type_name.clone() });
        }
        let found = self.returned_type(place, &meant)?;
        Some(TypeName { is_written: found.is_written && type_name.is_written && is_certain, ..found })
    }

    /// Returns the type that all of the definitions return, where a type returns itself; `None` if they differ.
    pub(super) fn returned_type(
        &self,
        place: &UsePlace<'_>,
        meant: &[DefinitionCandidate],
    ) -> Option<TypeName> {
        agreed_type(meant.iter().map(|meant| {
            let structure = self.structures.structure_of(meant.file);
            let declared = meant.declared_in(&structure);
            let family = LanguageFamily::from_path(self.paths.path_of(meant.file));
            let within = Some(meant.declared);
            let declared_place = UsePlace { family, ..place.in_file(meant.file, &structure, within) };
            if declared.role == DeclaredRole::Type {
                let of_type = self.written_type(&declared_place, declared.own_names().next()?);
                return Some(TypeName { declared: Some(*meant), ..of_type });
            }
            let returned: Vec<&TypedValue> = structure
                .values
                .iter()
                .filter(|value| {
                    value.enclosing_id() == Some(meant.declared) && structure.name(value.name) == "()"
                })
                .collect();
            let is_written = returned.iter().all(|value| value.is_written);
            let of_value = self.common_type(&declared_place, &returned)?;
            // A function without a written type may also return other types than its text shows.
            Some(TypeName { is_written: of_value.is_written && is_written, ..of_value })
        }))
    }

    /// Returns the members of base types that `member` overrides; `member` must have the resolver's name.
    pub fn overridden_members(&self, member: DefinitionCandidate) -> Vec<DefinitionCandidate> {
        let structure = self.structures.structure_of(member.file);
        let place = self.place_within(member.file, &structure, Some(member.declared));
        let around = self
            .enclosing_type(&place)
            .filter(|_| member.declared_in(&structure).role == DeclaredRole::Member);
        let bases = around.iter().flat_map(|type_name| self.base_types(type_name));
        bases.flat_map(|base| self.members_of(&base, MOST_STEPS).1).filter(|base| *base != member).collect()
    }

    /// Returns the resolver of another name.
    pub(super) fn resolver_for<'b>(&'b self, name: &'b str) -> Resolver<'b> {
        Resolver::with_all_definitions(self.paths, self.structures, name)
    }
}

/// Returns the type that is the same for all; `None` if the types differ, or one is not known.
fn agreed_type(mut types: impl Iterator<Item = Option<TypeName>>) -> Option<TypeName> {
    let first = types.next()??;
    types
        .all(|other| {
            other.is_some_and(|other| other.name == first.name && other.is_wrapped == first.is_wrapped)
        })
        .then_some(first)
}
