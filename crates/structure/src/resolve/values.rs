//! Finds the type of a value: what the text writes for it, or for the functions and fields that it comes from.

use std::collections::{HashMap, HashSet};

use memod_base::types::{DeclaredRole, Value, own_part};

use super::place::Place;
use super::{Candidate, Certainty, Family, FileNumber, Resolver, Structures};

/// Most values, functions and levels of bases that are followed to one type.
pub(super) const MOST_STEPS: u32 = 12;

/// Functions that take the value out of an `Option` or a `Result`.
const UNWRAPPING: [&str; 5] = ["unwrap", "expect", "unwrap_or", "unwrap_or_default", "unwrap_or_else"];
/// Functions that return the same type, if it has no function of that name.
const KEEPING: [&str; 6] = ["as_deref", "as_mut", "as_ref", "clone", "cloned", "to_owned"];
/// Most types of one name that are told apart.
const MOST_TYPES: usize = 50;
/// What the type around is called in a signature.
const OWN_TYPES: [&str; 2] = ["Self", "this"];

/// A type, by the name that it has in a place.
#[derive(Clone, Debug)]
pub(super) struct TypeName {
    pub(super) name: String,
    /// The module or package that qualifies the name: `http` of `http.Server`.
    pub(super) module: Option<String>,
    /// Whether it is in an `Option` or a `Result`.
    pub(super) is_wrapped: bool,
    /// Whether the text writes it; else it is the type whose function makes the value, and may be another one.
    pub(super) is_written: bool,
    /// Where the name stands.
    pub(super) file: FileNumber,
    pub(super) within: Option<u32>,
}

impl<S: Structures> Resolver<'_, S> {
    /// Returns the type of an expression: names, joined by `.`, those that are called followed by `()`, and what is tried by `?`;
    /// `None` if the text does not tell.
    pub(super) fn type_of(&self, place: &Place<'_>, path: &str) -> Option<TypeName> {
        let place = &Place { steps: place.steps.checked_sub(1)?, ..*place };
        if !self.structures.may_step() {
            return None;
        }
        let untried = path.trim_end_matches('?');
        let of = match untried.strip_suffix("()") {
            Some(called) => self.type_of_call(place, called),
            None => self.type_of_value(place, untried),
        }?;
        let is_wrapped = of.is_wrapped && untried.len() == path.len();
        Some(TypeName { is_wrapped, ..of })
    }

    /// Returns the members that a value of a type has under the resolver's name, its own or those of its bases, and whether it is
    /// certain that they are of that type.
    pub(super) fn members_of(&self, of: &TypeName, steps: u32) -> (bool, Vec<Candidate>) {
        if !self.structures.may_step() {
            return (false, Vec::new());
        }
        if self.is_of_another_library(of) {
            return (true, Vec::new());
        }
        let family = Family::of(self.paths.path(of.file));
        let own = self.candidates.iter().filter(|(candidate, structure)| {
            let declared = &structure.declared[candidate.declared as usize];
            declared.role == DeclaredRole::Member
                && own_part(declared.owner()) == of.name
                && Family::of(self.paths.path(candidate.file)) == family
        });
        let own: Vec<Candidate> = own.map(|(candidate, _)| *candidate).collect();
        let (same, unknown) = self.of_same_type(of, own);
        if !same.is_empty() {
            return (true, same);
        }
        if !unknown.is_empty() {
            return (false, unknown);
        }
        let bases = steps.checked_sub(1).map(|steps| (steps, self.bases(of)));
        let of_bases = bases
            .into_iter()
            .flat_map(|(steps, bases)| bases.into_iter().map(move |base| self.members_of(&base, steps)));
        let of_bases: Vec<_> = of_bases.filter(|(_, found)| !found.is_empty()).collect();
        // Which of several bases comes first is a rule of each language.
        let is_one = of_bases.windows(2).all(|pair| pair[0].1 == pair[1].1);
        let is_certain = is_one && of_bases.iter().all(|(is_certain, _)| *is_certain);
        let mut found: Vec<Candidate> = of_bases.into_iter().flat_map(|(_, found)| found).collect();
        // Two bases may have one base.
        let mut known = HashSet::new();
        found.retain(|found| known.insert(*found));
        (is_certain, found)
    }

    /// Returns which members of types with a name are of the type that it means, and of which that is not known. An `impl` block may
    /// stand in any file, so the name is compared by the declarations that it means there.
    fn of_same_type(&self, of: &TypeName, members: Vec<Candidate>) -> (Vec<Candidate>, Vec<Candidate>) {
        let seen = self.seen(of, &members);
        if !seen.is_empty() || members.is_empty() {
            return (seen, Vec::new());
        }
        let types = self.types_named(of);
        if types.len() > MOST_TYPES {
            return (Vec::new(), members);
        }
        let here = self.seen(of, &types);
        let mut declared: HashMap<FileNumber, Vec<Candidate>> = HashMap::new();
        let (mut same, mut unknown) = (Vec::new(), Vec::new());
        for member in members {
            let of_file = || self.seen(&TypeName { file: member.file, within: None, ..of.clone() }, &types);
            let there = declared.entry(member.file).or_insert_with(of_file);
            match there.is_empty() || here.is_empty() {
                true => unknown.push(member),
                false if *there == here => same.push(member),
                false => {}
            }
        }
        (same, unknown)
    }

    /// Returns the type around a place.
    pub(super) fn type_around(place: &Place<'_>) -> Option<TypeName> {
        let (file, within) = (place.file, place.within);
        Some(TypeName {
            name: place.owner()?,
            module: None,
            is_wrapped: false,
            is_written: true,
            file,
            within,
        })
    }

    fn type_of_value(&self, place: &Place<'_>, path: &str) -> Option<TypeName> {
        match path.rsplit_once('.') {
            None if path == "self" => Self::type_around(place),
            None => self.type_of_variable(place, path),
            Some((prefix, name)) => match self.type_of(place, prefix) {
                Some(of) => self.type_of_field(place, &of, name),
                None => self.type_of_constant(place, Some(prefix), name),
            },
        }
    }

    fn type_of_variable(&self, place: &Place<'_>, name: &str) -> Option<TypeName> {
        let scopes = place.around().map(|id| id + 1).chain([0]);
        let of_scope = |scope: u32| -> Vec<&Value> {
            let values = place.structure.values.iter();
            values.filter(|value| value.within == scope && place.structure.name(value.name) == name).collect()
        };
        match scopes.map(of_scope).find(|values| !values.is_empty()) {
            Some(values) => self.only(place, &values),
            None => self.type_of_constant(place, None, name),
        }
    }

    /// Returns the type of a value that is defined at the top of a file, in this package or in a module.
    fn type_of_constant(&self, place: &Place<'_>, module: Option<&str>, name: &str) -> Option<TypeName> {
        let candidates = self.structures.named(name);
        let other = self.other(name, &candidates);
        let place = &Place { written: name, ..*place };
        let (certainty, meant) = match module {
            Some(module) => other.of_modules(place, module)?,
            None => other.alone(place),
        };
        if certainty != Certainty::Exact {
            return None;
        }
        agreed(meant.iter().map(|meant| {
            let structure = self.structures.of(meant.file);
            let declared = &structure.declared[meant.declared as usize];
            let within = declared.parent.map_or(0, |parent| parent + 1);
            let is_it = |value: &&Value| {
                declared.role == DeclaredRole::Free
                    && value.within == within
                    && structure.name(value.name) == name
            };
            let values: Vec<&Value> = structure.values.iter().filter(is_it).collect();
            self.only(&Place { file: meant.file, structure: &structure, ..*place }, &values)
        }))
    }

    /// Returns the type of a field, its own or one of its bases; a base that Go embeds is a field too. That of a base may be hidden by a
    /// field whose type the text does not tell.
    fn type_of_field(&self, place: &Place<'_>, of: &TypeName, field: &str) -> Option<TypeName> {
        if of.is_wrapped {
            return None;
        }
        if let Some(own) = self.type_of_own_field(place, of, field) {
            return Some(TypeName { is_written: own.is_written && of.is_written, ..own });
        }
        let place = &Place { steps: place.steps.checked_sub(1)?, ..*place };
        if !self.structures.may_step() || self.is_of_another_library(of) {
            return None;
        }
        let bases = self.bases(of);
        let embedded = bases.iter().find(|base| place.family == Family::Go && base.name == field);
        let of_base = || bases.iter().find_map(|base| self.type_of_field(place, base, field));
        let inherited = || of_base().map(|found| TypeName { is_written: false, ..found });
        embedded.cloned().or_else(inherited)
    }

    fn type_of_own_field(&self, place: &Place<'_>, of: &TypeName, field: &str) -> Option<TypeName> {
        let set = format!("self.{field}");
        self.declarations(of).into_iter().find_map(|declared| {
            let structure = self.structures.of(declared.file);
            let there = Place { file: declared.file, structure: &structure, ..*place };
            let is_field = |value: &&Value| match structure.name(value.name) {
                name if name == field => value.within == declared.declared + 1,
                name if name == set => {
                    Place { within: value.within.checked_sub(1), ..there }.owner().as_ref() == Some(&of.name)
                }
                _ => false,
            };
            let fields: Vec<&Value> = structure.values.iter().filter(is_field).collect();
            self.only(&there, &fields)
        })
    }

    /// Returns the type of values that are one, if the text says the same of each.
    fn only(&self, place: &Place<'_>, values: &[&Value]) -> Option<TypeName> {
        let (first, rest) = values.split_first()?;
        let is_same = |value: &&Value| value.of == first.of && value.is_written == first.is_written;
        if !rest.iter().all(is_same) {
            return None;
        }
        let there = Place { within: first.within.checked_sub(1), ..*place };
        let of = place.structure.name(first.of);
        if first.is_written { Some(Self::written(&there, of)) } else { self.type_of(&there, of) }
    }

    fn written(place: &Place<'_>, of: &str) -> TypeName {
        let name = of.trim_end_matches('?');
        let own = place.owner().filter(|_| OWN_TYPES.contains(&name));
        let (module, name) =
            name.rsplit_once('.').map_or((None, name), |(module, name)| (Some(module.to_owned()), name));
        TypeName {
            name: own.unwrap_or_else(|| name.to_owned()),
            module,
            is_wrapped: of.ends_with('?'),
            is_written: true,
            file: place.file,
            within: place.within,
        }
    }

    fn type_of_call(&self, place: &Place<'_>, called: &str) -> Option<TypeName> {
        let Some((prefix, name)) = called.rsplit_once('.') else {
            let candidates = self.structures.named(called);
            let (certainty, meant) =
                self.other(called, &candidates).alone(&Place { written: called, is_call: true, ..*place });
            return (certainty == Certainty::Exact).then(|| self.returned(place, &meant)).flatten();
        };
        if let Some(of) = self.type_of(place, prefix) {
            return self.type_of_method(place, &of, name);
        }
        let type_name = own_part(prefix);
        let of = TypeName { name: type_name.to_owned(), ..Self::written(place, type_name) };
        let is_type = type_name.starts_with(char::is_uppercase) && !prefix.ends_with([')', '?']);
        if is_type && !self.declarations(&of).is_empty() {
            let guess =
                || (place.family == Family::Rust).then(|| TypeName { is_written: false, ..of.clone() });
            return self.type_of_method(place, &of, name).or_else(guess);
        }
        let candidates = self.structures.named(name);
        let other = self.other(name, &candidates);
        let (certainty, meant) = other.of_modules(&Place { written: name, ..*place }, prefix)?;
        (certainty == Certainty::Exact).then(|| self.returned(place, &meant)).flatten()
    }

    fn type_of_method(&self, place: &Place<'_>, of: &TypeName, name: &str) -> Option<TypeName> {
        if of.is_wrapped {
            let kept = KEEPING.contains(&name).then(|| of.clone());
            let unwrapped = || TypeName { is_wrapped: false, ..of.clone() };
            return kept.or_else(|| UNWRAPPING.contains(&name).then(unwrapped));
        }
        let candidates = self.structures.named(name);
        let (is_certain, meant) = self.other(name, &candidates).members_of(of, place.steps);
        if meant.is_empty() {
            return KEEPING.contains(&name).then(|| of.clone());
        }
        let found = self.returned(place, &meant)?;
        Some(TypeName { is_written: found.is_written && of.is_written && is_certain, ..found })
    }

    /// Returns what functions return, or what types make, if all are the same.
    fn returned(&self, place: &Place<'_>, meant: &[Candidate]) -> Option<TypeName> {
        agreed(meant.iter().map(|meant| {
            let structure = self.structures.of(meant.file);
            let declared = &structure.declared[meant.declared as usize];
            let family = Family::of(self.paths.path(meant.file));
            let within = Some(meant.declared);
            let there = Place { file: meant.file, structure: &structure, family, within, ..*place };
            if declared.role == DeclaredRole::Type {
                return Some(Self::written(&there, declared.names.split(' ').next()?));
            }
            let is_return =
                |value: &&Value| value.within == meant.declared + 1 && structure.name(value.name) == "()";
            let returned: Vec<&Value> = structure.values.iter().filter(is_return).collect();
            self.only(&there, &returned)
        }))
    }

    /// Returns the members of bases that a member of a type may stand for, given a definition with the resolver's name.
    pub fn overridden(&self, member: Candidate) -> Vec<Candidate> {
        let structure = self.structures.of(member.file);
        let place = self.place_in(member.file, &structure, Some(member.declared));
        let around = Self::type_around(&place)
            .filter(|_| structure.declared[member.declared as usize].role == DeclaredRole::Member);
        let bases = around.iter().flat_map(|of| self.bases(of));
        bases.flat_map(|base| self.members_of(&base, MOST_STEPS).1).filter(|base| *base != member).collect()
    }

    pub(super) fn other<'b>(&'b self, name: &'b str, candidates: &[Candidate]) -> Resolver<'b, S> {
        Resolver::new(self.paths, self.structures, name, candidates)
    }
}

/// Returns the type that all have; `None` if one is not known.
fn agreed(mut types: impl Iterator<Item = Option<TypeName>>) -> Option<TypeName> {
    let first = types.next()??;
    let is_same = |other: Option<TypeName>| {
        other.is_some_and(|other| other.name == first.name && other.is_wrapped == first.is_wrapped)
    };
    types.all(is_same).then_some(first)
}
