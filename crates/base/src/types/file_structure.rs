//! Declares the names that a file defines, imports and uses.

use serde::{Deserialize, Serialize};

use super::qualified_name::qualifier_before;

/// The names in the content of one file. They do not depend on other files, so they are stored with the blob.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStructure {
    /// The package or namespace that the file declares; empty if it declares none.
    pub package: String,
    /// Names brought in from other files, by line.
    pub imports: Vec<ImportedName>,
    /// Names under which the file exports what has another name inside of it; in JavaScript also those that stay the same. In
    /// Python, the names in `__all__`, and the names of fixtures that differ from those of their functions.
    pub exports: Vec<ExportedName>,
    /// Definitions, and scopes that have methods; enclosing items before the items inside.
    pub declared: Vec<DeclaredItem>,
    /// The distinct names and receivers; other fields refer to them by index.
    pub names: Vec<String>,
    /// Uses of names, sorted by position.
    pub uses: Vec<NameUse>,
    /// Values whose type the text shows.
    pub values: Vec<TypedValue>,
    /// Whether the text has more uses than the limit, so that some are missing here.
    pub lacks_uses: bool,
    /// Whether the text has more definitions than the limit, so that some are missing here.
    pub lacks_definitions: bool,
}

impl FileStructure {
    /// Encodes the structure in the compact form in which it is stored and sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("plain values serialize")
    }

    /// Decodes bytes that [`Self::to_bytes`] returned; `None` if they do not decode.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }

    /// Returns whether the structure has no definitions, uses or imports.
    pub fn is_empty(&self) -> bool {
        self.declared.is_empty() && self.uses.is_empty() && self.imports.is_empty() && !self.lacks_definitions
    }

    /// Returns the indices of a definition and of the definitions around it, innermost first.
    pub fn enclosing_ids(&self, id: Option<u32>) -> impl Iterator<Item = u32> {
        std::iter::successors(id, |id| self.find_item(Some(*id))?.parent)
    }

    /// Returns a definition and the definitions around it, innermost first.
    pub fn enclosing_items(&self, id: Option<u32>) -> impl Iterator<Item = &DeclaredItem> {
        self.enclosing_ids(id).filter_map(|id| self.find_item(Some(id)))
    }

    /// Returns the definition with this index; `None` for no index, which means the top of the file.
    pub fn find_item(&self, id: Option<u32>) -> Option<&DeclaredItem> {
        self.declared.get(id? as usize)
    }

    /// Returns the imports that bind a name on a line: those of the innermost block that has any. Without a line, only imports
    /// for the whole file count.
    pub fn imports_binding(&self, local: &str, line: Option<u32>) -> Vec<&ImportedName> {
        let width = |import: &ImportedName| import.scope_lines.map_or(u32::MAX, |(first, last)| last - first);
        let is_known = |import: &&ImportedName| {
            import.local == local && import.holds_on(line) && !import.module.starts_with("using ")
        };
        let mut found: Vec<&ImportedName> = self.imports.iter().filter(is_known).collect();
        let narrowest = found.iter().map(|import| width(import)).min();
        found.retain(|import| Some(width(import)) == narrowest);
        found
    }

    /// Returns the name or receiver with this index in `names`; empty if there is none.
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }
}

/// Stands between the name of a variable and a number, in paths whose first name several variables of a file have: `order~2.total`.
pub const LOCAL_MARK: char = '~';

/// Returns a path without the number of its variable; `None` if it has none.
pub fn without_local_mark(path: &str) -> Option<String> {
    let (name, rest) = path.split_once(LOCAL_MARK)?;
    Some(format!("{name}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit())))
}

/// A name brought in from another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedName {
    /// The name in this file; empty if all names of the module are brought in.
    pub local: String,
    /// The module as written: `../a.js`, `crate::a`, `.b`, `net/http`, `a.b`; for a namespace of C++, `using ` and its path.
    pub module: String,
    /// The name in the module; empty if the module itself is brought in.
    pub name: String,
    /// First line of the statement, 1-based.
    pub line: u32,
    /// First and last line of the block in which the name is known; `None` for the whole file.
    pub scope_lines: Option<(u32, u32)>,
}

impl ImportedName {
    /// Returns whether the import holds on a line. Without a line, only an import for the whole file does.
    pub fn holds_on(&self, line: Option<u32>) -> bool {
        self.scope_lines.is_none_or(|(first, last)| line.is_some_and(|line| first <= line && line <= last))
    }

    /// Returns the module and the name, joined as in the language of the import.
    pub fn full_module(&self) -> String {
        match (self.module.as_str(), self.name.as_str()) {
            (module, "") => module.to_owned(),
            ("", name) => name.to_owned(),
            (module, name) if module.contains("::") || matches!(module, "crate" | "super" | "self") => {
                format!("{module}::{name}")
            }
            (module, name) if module.ends_with('.') => format!("{module}{name}"),
            (module, name) => format!("{module}.{name}"),
        }
    }
}

/// A name that a file of JavaScript exports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedName {
    /// The name for other files: `default`; empty for what `module.exports` is set to; `default.a` for the member `a` of an object
    /// that is exported as `default`.
    pub name: String,
    /// The name in the file, of a definition or an import.
    pub local: String,
}

/// A definition, or a scope such as an `impl` block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredItem {
    /// Qualified name, as in [`super::Definition`].
    pub title: String,
    /// Own names, joined by spaces.
    pub names: String,
    /// First and last line, 1-based, inclusive.
    pub lines: (u32, u32),
    /// Line (1-based) and column (0-based, in bytes) of its first name; in the text, the name may occur before, too.
    pub name_at: (u32, u32),
    /// The role of the item.
    pub role: DeclaredRole,
    /// Index of the item around this one; `None` at the top of the file.
    pub parent: Option<u32>,
    /// How many arguments the function takes, if the compiler of the language checks that.
    pub arity: Option<Arity>,
    /// Whether the item is a function, a method or a macro.
    pub is_callable: bool,
    /// Whether C declares the item `static`, so that no other file can use it. Has no meaning for a member.
    pub is_internal: bool,
}

/// The range of the number of arguments of a function. In Rust a call may have one more, because `A::f(&a)` passes the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arity {
    /// Smallest number of arguments; 0 in C and C++, where another file may declare default values.
    pub least: u8,
    /// Largest number of arguments; 255 for no limit.
    pub most: u8,
}

impl DeclaredItem {
    /// Returns the qualified name of the item around this one; empty at the top of the file. The owner of `View.prototype.lookup`
    /// is `View`.
    pub fn owner_title(&self) -> &str {
        let own = self.own_names().next().unwrap_or_default();
        let of = qualifier_before(&self.title, own);
        of.strip_suffix(".prototype").unwrap_or(of)
    }

    /// Returns the own names of the item.
    pub fn own_names(&self) -> impl Iterator<Item = &str> {
        self.names.split(' ')
    }
}

impl Arity {
    /// Returns whether a call with this number of arguments may call the function.
    pub fn accepts(self, n_arguments: u8) -> bool {
        self.least <= n_arguments && (n_arguments <= self.most || self.most == u8::MAX)
    }
}

/// The role of a declared item, as far as it matters for finding the definition of a used name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeclaredRole {
    /// A function, constant or macro outside of a type.
    Free,
    /// A class, struct, enum, trait, interface or other type.
    Type,
    /// A function or constant of a type, used through the type or a value of the type.
    Member,
    /// A module or namespace.
    Module,
    /// Not a definition itself: an `impl` block or an extension.
    Scope,
    /// A field, attribute or variant of a type.
    Field,
}

impl DeclaredRole {
    /// Returns whether the item is used through its type or a value of its type.
    pub fn is_member(self) -> bool {
        matches!(self, Self::Member | Self::Field)
    }
}

/// One use of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameUse {
    /// Index of the name in [`FileStructure::names`].
    pub name: u32,
    /// Line, 1-based.
    pub line: u32,
    /// Byte offset in the line, 0-based.
    pub column: u32,
    /// Index of the innermost definition or scope around the use, plus one; 0 at the top of the file.
    pub within: u32,
    /// The expression before the name, such as `a` in `a.name`.
    pub receiver: UseReceiver,
    /// The purpose of the use.
    pub role: UseRole,
    /// The number of arguments of a call, if the text shows it.
    pub n_arguments: Option<u8>,
}

impl NameUse {
    /// Returns the index of the innermost definition or scope around the use; `None` at the top of the file.
    pub fn enclosing_id(&self) -> Option<u32> {
        self.within.checked_sub(1)
    }
}

/// A value whose type the text shows: a parameter, a variable, a field, or the result of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TypedValue {
    /// Index of the value's name in [`FileStructure::names`]: `self.` and the name for a field that a method sets, `()` for the
    /// result of a function.
    pub name: u32,
    /// Index in [`FileStructure::names`] of the own name of the type, followed by `?` in an `Option` or `Result`; or, if
    /// `is_written` is false, of the expression that the value is set to, a path as in [`UseReceiver::Named`].
    pub of: u32,
    /// Index of the function that declares the value, or of the type that declares the field, plus one; 0 at the top of the file.
    pub within: u32,
    /// Whether the text writes the type, so that `of` is the name of a type.
    pub is_written: bool,
    /// Line on which the value is declared or set, 1-based.
    pub line: u32,
    /// Last line of the block in which it is, 1-based; [`u32::MAX`] outside of blocks.
    pub last_line: u32,
    /// Whether a condition, such as `isinstance(value, Order)`, narrows the type of the value up to the last line.
    pub is_narrowed: bool,
}

impl TypedValue {
    /// Returns whether the value has the same type, or is set to the same expression, as another.
    pub fn is_set_like(&self, other: &Self) -> bool {
        self.of == other.of && self.is_written == other.is_written
    }

    /// Returns the index of the function or type that declares the value; `None` at the top of the file.
    pub fn enclosing_id(&self) -> Option<u32> {
        self.within.checked_sub(1)
    }
}

/// The purpose of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UseRole {
    /// Any use other than the following.
    Mention,
    /// A call of the name, or the creation of a value of this type.
    Call,
    /// A type extends or implements the name.
    Base,
    /// A field is read or set, in a language where a method of that name is something else.
    Field,
    /// A type gets another name, as in `typedef struct sink sink_t`.
    Alias,
}

/// The expression before a used name, such as `a` in `a.name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UseReceiver {
    /// Nothing: the name has no receiver.
    None,
    /// The value or type around the use: `self`, `this`, `cls`, `Self`, `super`.
    Own,
    /// A name or path, by its index in [`FileStructure::names`]; the parts of a path are joined by `.`.
    Named(u32),
    /// Any other expression.
    Other,
    /// The name is part of an import.
    Import,
    /// Nothing: a test or fixture of pytest names a fixture, as a parameter or in a string.
    Fixture,
}

/// Returns whether a part of an import path is a major version: `v2`.
pub fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}
