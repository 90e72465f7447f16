//! Collects the declarations, imports and uses of a source file.
//!
//! [`walker`] and [`declarations`] walk once over the syntax tree of the file. [`languages`] has the kinds of nodes of each
//! language, [`imports`] and [`javascript_imports`] read imports and exports, [`import_scopes`] finds where they hold, [`value_types`] the types of values, [`typed_fields`] the fields of patterns and literals, [`arity`] the number of arguments, and
//! [`macros`] the arguments of a macro.

mod arity;
mod binding_scopes;
mod bindings;
mod client_scripts;
mod code_paths;
mod constructor_calls;
mod declarations;
mod field_keys;
mod format_uses;
mod import_scopes;
mod imports;
mod javascript_imports;
mod languages;
mod loaded_modules;
mod locals;
mod loop_values;
mod macros;
mod name_uses;
mod name_values;
mod narrowed_types;
mod node_marks;
mod node_text;
mod python_names;
mod python_strings;
mod typed_fields;
mod value_types;
mod value_writer;
mod walker;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use self::bindings::{Bindings, FoundBinding};
use self::client_scripts::ClientScripts;
use self::locals::{DefinitionIndex, LocalNames};
pub(super) use self::name_uses::walk_names;
pub(super) use self::node_marks::NodeKindMarks;
use self::value_writer::ValueWriter;
pub(super) use self::walker::walk_tree;
use memod_base::types::{
    Arity, DeclaredItem, DeclaredRole, ExportedName, FileStructure, NameUse, UseReceiver, UseRole,
};

use crate::c_family::ReadableCode;
use crate::c_family::token_uses::TokenReceiver;
use crate::chunks::cut_text::LineIndex;
use crate::components::ComponentCode;
use crate::definitions::outline::{DefinitionItem, DefinitionOutline};
use crate::definitions::tags::TagKind;

/// Most uses that are recorded of one file; a file with more is data or generated.
const MAX_USES: usize = 50_000;
/// Longest name or receiver, in bytes.
const MAX_NAME_BYTES: usize = 120;

/// First character of a path that the text writes with `::`. Its first name is that of a module or a type, and never a variable.
const SCOPED_PATH: char = '\u{1}';

/// A use as the walk finds it, before local names are dropped.
pub(super) struct FoundUse<'a> {
    name: Cow<'a, str>,
    at: usize,
    receiver: FoundReceiver,
    role: UseRole,
    n_arguments: Option<u8>,
    /// Whether the name is a value, in a language that separates the names of values and types; false in other languages.
    is_value: bool,
}

impl FoundUse<'_> {
    /// Returns whether the name is that of a definition, and no use. `cart.onPaid = () => {}` defines a member and uses the field of that
    /// Returns whether the use means a local variable.
    fn is_local(&self, locals: &LocalNames<'_, '_>) -> bool {
        let is_bound = || {
            locals.is_bound(&self.name, self.at, self.is_value)
                || self.role != UseRole::Call && locals.is_bound_value(&self.name, self.at)
        };
        matches!(self.receiver, FoundReceiver::None) && is_bound()
    }

    /// name.
    fn is_defined_at(&self, names: &HashSet<usize>) -> bool {
        let sets_member = self.is_value && matches!(self.receiver, FoundReceiver::Named(_));
        names.contains(&self.at) && !sets_member
    }

    /// Returns the receiver, with the number of its path.
    fn number_receiver(
        &self,
        locals: &LocalNames<'_, '_>,
        bindings: &Bindings<'_>,
        names: &mut NumberedNames,
    ) -> UseReceiver {
        match &self.receiver {
            FoundReceiver::None => UseReceiver::None,
            FoundReceiver::Own => UseReceiver::Own,
            FoundReceiver::Named(path) if let Some(scoped) = path.strip_prefix(SCOPED_PATH) => {
                match locals.has_type_parameter(bindings::first_name(scoped), self.at) {
                    true => UseReceiver::Other,
                    false => UseReceiver::Named(names.number_of(scoped)),
                }
            }
            FoundReceiver::Named(path) if let Some(renamed) = bindings.rename_path(path, self.at) => {
                UseReceiver::Named(names.number_of(&renamed))
            }
            // The path begins with a variable that has the name of a module, or with a type parameter.
            FoundReceiver::Named(path) if locals.starts_with_local_name(path, self.at, self.is_value) => {
                UseReceiver::Other
            }
            FoundReceiver::Named(path) => UseReceiver::Named(names.number_of(path)),
            FoundReceiver::Other => UseReceiver::Other,
            FoundReceiver::Import => UseReceiver::Import,
            FoundReceiver::Fixture => UseReceiver::Fixture,
        }
    }
}

/// The receiver of a use; see [`UseReceiver`].
enum FoundReceiver {
    None,
    Own,
    Named(String),
    Other,
    Import,
    Fixture,
}

/// The names that a walk over one syntax tree finds.
#[derive(Default)]
pub(super) struct FoundNames<'a> {
    package: String,
    imports: Vec<memod_base::types::ImportedName>,
    exports: Vec<ExportedName>,
    uses: Vec<FoundUse<'a>>,
    /// Bound names, parameters and variables, with their byte offsets.
    bound: Vec<(&'a str, usize)>,
    /// The same, with the bytes in which each is known.
    bindings: Vec<FoundBinding<'a>>,
    /// Variables that hide uses of their names, and no calls, with their byte offsets.
    bound_values: Vec<(&'a str, usize)>,
    /// Names that a function does not bind, although it sets them, with the byte offsets of the statements that say so.
    unbound: Vec<(&'a str, usize)>,
    values: Vec<FoundValue<'a>>,
    /// Type parameters and parameters of templates, with the bytes of their scopes.
    type_parameters: Vec<(&'a str, Range<usize>)>,
    /// Names that are bound outside of definitions, with the bytes in which they are known: by a template, or as parameters of a
    /// function without a name.
    scoped: Vec<(&'a str, Range<usize>)>,
    /// Names that JavaScript binds in a block or a function, with their byte offsets and the bytes in which they are known. Functions without
    /// a name are no definitions.
    in_blocks: Vec<(&'a str, usize, Range<usize>)>,
    /// Arities of functions, with the byte offsets of their parameters.
    arities: Vec<(usize, Option<Arity>)>,
    /// Byte offsets of names that C declares `static`.
    internal: HashSet<usize>,
    /// Spans of the scripts of a component that run in the browser, with the variables that are given to each.
    client_scripts: Vec<(Range<usize>, String)>,
    /// Byte offsets of the components of records of Java.
    accessors: HashSet<usize>,
    /// Whether the constants of enumerations need no qualifier, as in C.
    has_free_enumerators: bool,
}

/// A value with its type, or with the expression that it is set to.
struct FoundValue<'a> {
    name: Cow<'a, str>,
    /// Name of the type, or the expression as a path.
    of: Cow<'a, str>,
    /// Whether `of` is a type that the text names.
    is_written: bool,
    at: usize,
    /// Byte at which the name begins.
    named_at: usize,
    /// Byte at which the block around it ends.
    block_end: usize,
    /// Whether a condition narrows the type; see [`memod_base::types::TypedValue`].
    is_narrowed: bool,
}

impl<'a> FoundValue<'a> {
    /// Creates a value whose type the text writes, with the name at the byte `at`; its block is not set.
    fn of_type(name: Cow<'a, str>, of: Cow<'a, str>, at: usize) -> Self {
        Self { name, of, is_written: true, at, named_at: at, block_end: 0, is_narrowed: false }
    }

    /// Creates a value that is set to an expression, likewise.
    fn set_to_expression(name: Cow<'a, str>, of: Cow<'a, str>, at: usize) -> Self {
        Self { is_written: false, ..Self::of_type(name, of, at) }
    }
}

impl<'a> FoundNames<'a> {
    /// Adds the uses of a C or C++ file that its syntax tree does not show, and drops those that only the readable text has.
    pub(super) fn add_token_uses(&mut self, code: &ReadableCode<'_>, text: &'a str) {
        if code.uses.is_empty() {
            return;
        }
        self.uses.retain(|found| !code.is_stand_in(found.at));
        for found in &code.uses {
            let name = text.get(found.bytes.clone()).unwrap_or_default();
            if name.is_empty() || name.len() > MAX_NAME_BYTES || name == "this" {
                continue;
            }
            let receiver = match &found.receiver {
                TokenReceiver::None => FoundReceiver::None,
                TokenReceiver::Path(path) if path == "this" => FoundReceiver::Own,
                TokenReceiver::Path(path) if path.len() <= MAX_NAME_BYTES => {
                    FoundReceiver::Named(path.clone())
                }
                TokenReceiver::Path(_) | TokenReceiver::Other => FoundReceiver::Other,
            };
            self.uses.push(FoundUse {
                name: Cow::Borrowed(name),
                at: found.bytes.start,
                receiver,
                role: if found.is_call { UseRole::Call } else { UseRole::Mention },
                n_arguments: None,
                is_value: false,
            });
        }
        self.uses.sort_by_key(|found| found.at);
    }

    /// Adds what the template of a component uses and binds, and what the component exports.
    pub(super) fn add_component(&mut self, code: &ComponentCode, component: &str, text: &'a str) {
        for found in &code.uses {
            let receiver = match found.receiver.as_deref() {
                None => FoundReceiver::None,
                Some("this") => FoundReceiver::Own,
                Some(path) if path.len() <= MAX_NAME_BYTES => FoundReceiver::Named(path.to_owned()),
                Some(_) => FoundReceiver::Other,
            };
            self.uses.push(FoundUse {
                name: Cow::Owned(found.name.clone()),
                at: found.at,
                receiver,
                role: if found.is_call { UseRole::Call } else { UseRole::Mention },
                n_arguments: None,
                is_value: true,
            });
        }
        self.uses.retain(|found| found.name.len() <= MAX_NAME_BYTES);
        self.uses.sort_by_key(|found| found.at);
        let bound =
            code.bound.iter().filter_map(|(name, scope)| Some((text.get(name.clone())?, scope.clone())));
        self.scoped.extend(bound);
        self.client_scripts.clone_from(&code.client_scripts);
        self.exports.retain(|export| export.name != "default" && !export.name.starts_with("default."));
        self.exports.push(ExportedName { name: "default".to_owned(), local: component.to_owned() });
    }

    /// Returns the structure of the file, given its definitions.
    pub(super) fn into_structure(
        mut self,
        outline: &DefinitionOutline<'_>,
        lines: &LineIndex,
        text: &str,
    ) -> FileStructure {
        let items = &outline.items;
        let parents = parent_ids(items);
        let declared = items.iter().zip(&parents).map(|(item, parent)| {
            let names: Vec<usize> = item.names.iter().filter_map(|name| offset_in(name, text)).collect();
            let is_internal = names.iter().any(|at| self.internal.contains(at));
            let mut declared = declare_item(items, item, *parent, lines, text);
            if names.iter().any(|at| self.accessors.contains(at)) {
                declared.arity = Some(Arity { least: 0, most: 0 });
            }
            if declared.role == DeclaredRole::Field && self.has_free_enumerators {
                return free_enumerator(items, &parents, *parent, text, declared);
            }
            DeclaredItem { is_internal, ..declared }
        });
        let mut structure = FileStructure {
            package: self.package,
            imports: self.imports,
            exports: self.exports,
            declared: declared.collect(),
            ..FileStructure::default()
        };
        let scripts = ClientScripts::new(&self.client_scripts, items, &mut structure.imports, (lines, text));
        let around = DefinitionIndex { items, parents: &parents };
        set_arities(&mut structure.declared, self.arities, &around);
        let imported = structure.imports.iter().map(|import| import.local.clone()).collect();
        let own_names = name_positions(items, text);
        self.in_blocks.retain(|(_, at, _)| !own_names.contains(at));
        let in_blocks = self.in_blocks.into_iter().map(|(name, _, scope)| (name, scope)).collect();
        let bound = (&*self.bound, &*self.unbound);
        let locals =
            LocalNames::new(&around, bound, (self.type_parameters, self.scoped, in_blocks), imported)
                .with_values(&self.bound_values);
        self.bindings.retain(|binding| !own_names.contains(&binding.at));
        let outer = list_outer_names(&structure.imports, items, &self.values, &around);
        let bindings = Bindings::new(self.bindings, &self.unbound, &outer, &around);
        let mut names = NumberedNames::default();
        for found in self.uses {
            let within = around.innermost_definition(found.at);
            if found.is_local(&locals) || found.is_defined_at(&own_names) || scripts.hides_name_of(&found) {
                continue;
            }
            if structure.uses.len() >= MAX_USES {
                structure.lacks_uses = true;
                break;
            }
            let receiver = found.number_receiver(&locals, &bindings, &mut names);
            let name = names.number_of(&found.name);
            structure.uses.push(NameUse {
                name,
                line: lines.line_at(found.at),
                column: column_of(found.at, text),
                within: within.map_or(0, |id| id as u32 + 1),
                receiver,
                role: found.role,
                n_arguments: found.n_arguments,
            });
        }
        structure.lacks_uses |= self.values.len() > MAX_USES;
        let writer = ValueWriter {
            locals: &locals,
            bindings: &bindings,
            own_names: &own_names,
            lines,
            n_bytes: text.len(),
        };
        structure.values = writer.list_values(self.values, &around, &mut names);
        structure.names = names.names;
        structure
    }
}

/// Sets the arities of functions, given the byte offsets of their parameters.
fn set_arities(
    declared: &mut [DeclaredItem],
    arities: Vec<(usize, Option<Arity>)>,
    around: &DefinitionIndex<'_, '_>,
) {
    let mut has_parameters = HashSet::new();
    for (at, arity) in arities {
        let function = around.innermost_definition(at).filter(|id| around.items[*id].kind.is_callable());
        // The list of the function comes first; later lists belong to parameters that are functions, and to functions without
        // a tag.
        if let Some(function) = function.filter(|function| has_parameters.insert(*function)) {
            declared[function].arity = arity;
        }
    }
}

/// Names, each with a number by which the structure refers to it.
#[derive(Default)]
struct NumberedNames {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl NumberedNames {
    /// Returns the number of a name; a new name gets the next number.
    fn number_of(&mut self, name: &str) -> u32 {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        let next = self.numbers.len() as u32;
        self.numbers.insert(name.to_owned(), next);
        self.names.push(name.to_owned());
        next
    }
}

/// Returns the names that a file has outside of functions, which a variable may hide: of imports, definitions and values.
fn list_outer_names<'n>(
    imports: &'n [memod_base::types::ImportedName],
    items: &'n [DefinitionItem<'_>],
    values: &'n [FoundValue<'_>],
    around: &DefinitionIndex<'_, '_>,
) -> HashSet<&'n str> {
    let imported = imports.iter().map(|import| import.local.as_str());
    let defined = items.iter().flat_map(|item| item.names.iter().map(|name| &**name));
    let is_outer = |value: &&FoundValue<'_>| {
        let definition = around.innermost_definition(value.at);
        definition.is_none_or(|definition| !items[definition].kind.is_callable())
    };
    let set = values.iter().filter(is_outer).map(|value| &*value.name);
    imported.chain(defined).chain(set).collect()
}

/// Returns the index of the parent of each item.
fn parent_ids(items: &[DefinitionItem<'_>]) -> Vec<Option<usize>> {
    let mut parents = vec![None; items.len()];
    for (id, item) in items.iter().enumerate() {
        for child in &item.children {
            parents[*child] = Some(id);
        }
    }
    parents
}

fn declare_item(
    items: &[DefinitionItem<'_>],
    item: &DefinitionItem<'_>,
    parent: Option<usize>,
    lines: &LineIndex,
    text: &str,
) -> DeclaredItem {
    let name = item.names.first().and_then(|name| offset_in(name, text)).unwrap_or(item.node.start);
    let holder = parent.map(|parent| items[parent].kind);
    let is_inside_type = holder.is_some_and(TagKind::has_methods);
    let role = match item.kind {
        TagKind::Scope => DeclaredRole::Scope,
        TagKind::Module => DeclaredRole::Module,
        TagKind::Method => DeclaredRole::Member,
        TagKind::Field => DeclaredRole::Field,
        // `type Item` of an `impl` or a trait.
        TagKind::Type if matches!(holder, Some(TagKind::Scope | TagKind::Trait)) => DeclaredRole::Member,
        TagKind::Function | TagKind::Constant | TagKind::Macro if is_inside_type => DeclaredRole::Member,
        TagKind::Function if is_set_on_object(own_title(items, item, parent)) => DeclaredRole::Member,
        TagKind::Function | TagKind::Constant | TagKind::Macro => DeclaredRole::Free,
        _ => DeclaredRole::Type,
    };
    DeclaredItem {
        title: item.title.clone(),
        names: item.joined_names(),
        lines: lines.line_span(&item.span),
        name_at: (lines.line_at(name), column_of(name, text)),
        role,
        parent: parent.map(|parent| parent as u32),
        arity: None,
        is_callable: item.kind.is_callable(),
        is_internal: false,
    }
}

/// Returns a constant of an enumeration of C as what it is in C: a constant beside the enumeration. Other fields, and those of an
/// `enum class`, stay as they are.
fn free_enumerator(
    items: &[DefinitionItem<'_>],
    parents: &[Option<usize>],
    parent: Option<usize>,
    text: &str,
    declared: DeclaredItem,
) -> DeclaredItem {
    let around = parent.map(|parent| &items[parent]);
    let is_scoped = around.is_some_and(|around| {
        let own = text.get(around.node.clone()).unwrap_or_default();
        ["enum class", "enum struct"].iter().any(|start| own.starts_with(start))
    });
    match around.map(|around| around.kind) {
        Some(TagKind::Enum) if !is_scoped => {
            let outer = parent.and_then(|parent| parents[parent]).map(|outer| outer as u32);
            DeclaredItem { role: DeclaredRole::Free, parent: outer, ..declared }
        }
        None | Some(TagKind::Module) => DeclaredItem { role: DeclaredRole::Free, ..declared },
        _ => declared,
    }
}

/// Returns the part of the title of an item that is not that of the item around it.
fn own_title<'i>(
    items: &'i [DefinitionItem<'_>],
    item: &'i DefinitionItem<'_>,
    parent: Option<usize>,
) -> &'i str {
    let around = parent.map_or("", |parent| items[parent].title.as_str());
    item.title.strip_prefix(around).map_or(&*item.title, |own| own.trim_start_matches(['.', ':']))
}

/// Returns whether a JavaScript function is assigned to a property, as in `app.use = function () {}`. A function that is
/// assigned to `exports` is free.
fn is_set_on_object(title: &str) -> bool {
    title.split_once('.').is_some_and(|(object, _)| !matches!(object, "exports" | "module"))
}

/// Returns the byte offsets of the names of the definitions.
fn name_positions(items: &[DefinitionItem<'_>], text: &str) -> HashSet<usize> {
    let defined = items.iter().filter(|item| item.kind != TagKind::Scope);
    defined.flat_map(|item| item.names.iter().filter_map(|name| offset_in(name, text))).collect()
}

/// Returns the column of a byte, 0-based and in bytes.
fn column_of(at: usize, text: &str) -> u32 {
    let line_start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    (at - line_start) as u32
}

/// Returns the byte offset of `part` in `text`; `None` if `part` is no slice of `text`, as the name of a component.
fn offset_in(part: &str, text: &str) -> Option<usize> {
    let at = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    (at + part.len() <= text.len()).then_some(at)
}
