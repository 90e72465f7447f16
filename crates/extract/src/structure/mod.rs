//! Collects what a source file declares, imports and uses by name.
//!
//! One walk over the syntax tree of the file, in [`walker`] and [`declarations`]. What a language calls its nodes is in [`languages`], how it imports in
//! [`imports`], how it names the types of values in [`value_types`], how many arguments functions take in [`arity`]; what is in the arguments of a macro is read in [`macros`].

mod arity;
mod constructor_calls;
mod declarations;
mod imports;
mod languages;
mod locals;
mod macros;
mod node_marks;
mod value_types;
mod walker;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use self::locals::{Around, Locals};
pub(super) use self::node_marks::NodeMarks;
pub(super) use self::walker::walk;
use memod_base::types::{Arity, Declared, DeclaredRole, Receiver, Structure, Use, UseRole, Value};

use super::cut::LineIndex;
use super::outline::{Item, Outline};
use super::tags::TagKind;

/// Most uses of one file: more are data or generated.
const MAX_USES: usize = 50_000;
/// Longest name or receiver, in bytes.
const MAX_NAME_BYTES: usize = 120;

/// A use as the walk finds it, before local names are left out.
pub(super) struct Found<'a> {
    name: &'a str,
    at: usize,
    receiver: FoundReceiver,
    role: UseRole,
    n_arguments: Option<u8>,
    /// Whether it is a value, in a language that keeps the names of values and types apart; false in the others.
    is_value: bool,
}

enum FoundReceiver {
    None,
    Own,
    Named(String),
    Other,
    Import,
}

/// What one walk finds.
#[derive(Default)]
pub(super) struct Walk<'a> {
    package: String,
    imports: Vec<memod_base::types::Import>,
    found: Vec<Found<'a>>,
    /// Names that are bound, with the position: parameters and variables.
    bound: Vec<(&'a str, usize)>,
    values: Vec<FoundValue<'a>>,
    /// Type parameters and parameters of templates, with the bytes of their scopes.
    type_parameters: Vec<(&'a str, Range<usize>)>,
    /// What functions take, with the position of their parameters.
    arities: Vec<(usize, Option<Arity>)>,
    /// Where names stand that C declares `static`.
    internal: HashSet<usize>,
}

/// A value whose type is told, with its position.
struct FoundValue<'a> {
    name: Cow<'a, str>,
    of: Cow<'a, str>,
    is_written: bool,
    at: usize,
}

impl Walk<'_> {
    /// Returns the structure of the file, given its definitions.
    pub(super) fn structure(self, outline: &Outline<'_>, lines: &LineIndex, text: &str) -> Structure {
        let items = &outline.items;
        let parents = parents(items);
        let declared = items.iter().zip(&parents).map(|(item, parent)| {
            let mut names = item.names.iter().filter_map(|name| offset(name, text));
            let is_internal = names.any(|at| self.internal.contains(&at));
            Declared { is_internal, ..declared(items, item, *parent, lines) }
        });
        let mut structure = Structure {
            package: self.package,
            imports: self.imports,
            declared: declared.collect(),
            ..Structure::default()
        };
        let around = Around { items, parents: &parents };
        let mut has_parameters = HashSet::new();
        for (at, arity) in self.arities {
            let function = around.innermost(at).filter(|id| items[*id].kind.is_callable());
            // Its own list comes first; later ones are those of parameters that are functions, and of functions without a tag.
            if let Some(function) = function.filter(|function| has_parameters.insert(*function)) {
                structure.declared[function].arity = arity;
            }
        }
        let imported = structure.imports.iter().map(|import| import.local.clone()).collect();
        let locals = Locals::new(&around, &self.bound, self.type_parameters, imported);
        let own_names = own_names(items, text);
        let mut numbers: HashMap<String, u32> = HashMap::new();
        for found in self.found {
            let within = around.innermost(found.at);
            let stands_alone = matches!(found.receiver, FoundReceiver::None);
            let is_local = stands_alone && locals.has(found.name, found.at, found.is_value);
            if is_local || own_names.contains(&found.at) {
                continue;
            }
            if structure.uses.len() >= MAX_USES {
                structure.lacks_uses = true;
                break;
            }
            let mut number = |name: &str| number(&mut numbers, &mut structure.names, name);
            let receiver = match &found.receiver {
                FoundReceiver::None => Receiver::None,
                FoundReceiver::Own => Receiver::Own,
                // A variable that is called like a module, or a parameter that stands for a type.
                FoundReceiver::Named(path) if locals.shadows(path, found.at, found.is_value) => {
                    Receiver::Other
                }
                FoundReceiver::Named(path) => Receiver::Named(number(path)),
                FoundReceiver::Other => Receiver::Other,
                FoundReceiver::Import => Receiver::Import,
            };
            let name = number(found.name);
            let line_start = text[..found.at].rfind('\n').map_or(0, |end| end + 1);
            structure.uses.push(Use {
                name,
                line: lines.line(found.at),
                column: (found.at - line_start) as u32,
                within: within.map_or(0, |id| id as u32 + 1),
                receiver,
                role: found.role,
                n_arguments: found.n_arguments,
            });
        }
        let mut known = HashSet::new();
        structure.lacks_uses |= self.values.len() > MAX_USES;
        for FoundValue { name, of, is_written, at } in self.values.into_iter().take(MAX_USES) {
            // What has the type of a parameter has no type that is known, and hides what is called like it.
            let is_open = is_written && locals.has_type(of.trim_end_matches('?'), at);
            let (of, is_written) = if is_open { (Cow::Borrowed(""), false) } else { (of, is_written) };
            // A constant is a definition, too: what it holds is known where it is.
            let is_defined = own_names.contains(&at);
            let within = around.innermost(at).and_then(|id| if is_defined { parents[id] } else { Some(id) });
            let within = within.map_or(0, |id| id as u32 + 1);
            let mut number = |name: &str| number(&mut numbers, &mut structure.names, name);
            let value = Value { name: number(&name), of: number(&of), within, is_written };
            if known.insert(value) {
                structure.values.push(value);
            }
        }
        structure
    }
}

/// Returns the number of a name, a new one for a new name.
fn number(numbers: &mut HashMap<String, u32>, names: &mut Vec<String>, name: &str) -> u32 {
    if let Some(known) = numbers.get(name) {
        return *known;
    }
    let next = numbers.len() as u32;
    numbers.insert(name.to_owned(), next);
    names.push(name.to_owned());
    next
}

/// Returns of each item the index of the one around it.
fn parents(items: &[Item<'_>]) -> Vec<Option<usize>> {
    let mut parents = vec![None; items.len()];
    for (id, item) in items.iter().enumerate() {
        for child in &item.children {
            parents[*child] = Some(id);
        }
    }
    parents
}

fn declared(items: &[Item<'_>], item: &Item<'_>, parent: Option<usize>, lines: &LineIndex) -> Declared {
    let holder = parent.map(|parent| items[parent].kind);
    let is_inside_type = holder.is_some_and(TagKind::has_methods);
    let role = match item.kind {
        TagKind::Scope => DeclaredRole::Scope,
        TagKind::Module => DeclaredRole::Module,
        TagKind::Method => DeclaredRole::Member,
        // `type Item` of an `impl` or a trait.
        TagKind::Type if matches!(holder, Some(TagKind::Scope | TagKind::Trait)) => DeclaredRole::Member,
        TagKind::Function | TagKind::Constant | TagKind::Macro if is_inside_type => DeclaredRole::Member,
        TagKind::Function if holder.is_none() && is_set_on_object(&item.title) => DeclaredRole::Member,
        TagKind::Function | TagKind::Constant | TagKind::Macro => DeclaredRole::Free,
        _ => DeclaredRole::Type,
    };
    Declared {
        title: item.title.clone(),
        names: item.symbol(),
        lines: lines.lines(&item.span),
        role,
        parent: parent.map(|parent| parent as u32),
        arity: None,
        is_internal: false,
    }
}

/// Whether a function of JavaScript is assigned to a property: `app.use = function () {}`. Those of `exports` are exported.
fn is_set_on_object(title: &str) -> bool {
    title.split_once('.').is_some_and(|(object, _)| !matches!(object, "exports" | "module"))
}

/// Returns where the definitions have their names.
fn own_names(items: &[Item<'_>], text: &str) -> HashSet<usize> {
    let defined = items.iter().filter(|item| item.kind != TagKind::Scope);
    defined.flat_map(|item| item.names.iter().filter_map(|name| offset(name, text))).collect()
}

/// Returns where a part of a text begins.
fn offset(part: &str, text: &str) -> Option<usize> {
    (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)
}
