//! Declares the names that a file defines, imports and uses.

use serde::{Deserialize, Serialize};

use super::qualified_name::qualifier_of;

/// The names of one content. It does not depend on other files, so it is stored with the content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStructure {
    /// The package or namespace that the file declares; empty if it declares none.
    pub package: String,
    /// Names brought in from other files, by line.
    pub imports: Vec<ImportedName>,
    /// Definitions, and scopes that have methods; parents before children.
    pub declared: Vec<DeclaredItem>,
    /// Names and receivers of `uses`, each once.
    pub names: Vec<String>,
    /// By position.
    pub uses: Vec<NameUse>,
    /// Values whose type the text names.
    pub values: Vec<TypedValue>,
    /// Whether the text has more uses than are kept.
    pub lacks_uses: bool,
    /// Whether the text has more definitions than are kept.
    pub lacks_definitions: bool,
}

impl FileStructure {
    /// Encodes it compactly, as it is stored and sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("plain values serialize")
    }

    /// Decodes bytes that [`Self::to_bytes`] returned; `None` for any others.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }

    /// Returns whether it has no names.
    pub fn is_empty(&self) -> bool {
        self.declared.is_empty() && self.uses.is_empty() && self.imports.is_empty() && !self.lacks_definitions
    }

    /// Returns the indices of a definition and of those around it, innermost first.
    pub fn enclosing_ids(&self, id: Option<u32>) -> impl Iterator<Item = u32> {
        std::iter::successors(id, |id| self.find_declared(Some(*id))?.parent)
    }

    /// Returns a definition and those around it, innermost first.
    pub fn declared_around(&self, id: Option<u32>) -> impl Iterator<Item = &DeclaredItem> {
        self.enclosing_ids(id).filter_map(|id| self.find_declared(Some(id)))
    }

    /// Returns a definition by its index; `None` at the top of the file.
    pub fn find_declared(&self, id: Option<u32>) -> Option<&DeclaredItem> {
        self.declared.get(id? as usize)
    }

    /// Returns the text of a name or receiver by its number.
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }
}

/// A name brought in from another file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedName {
    /// Its name in this file; empty if all names of the module are brought in.
    pub local: String,
    /// The module as written: `../a.js`, `crate::a`, `.b`, `net/http`, `a.b`.
    pub module: String,
    /// Its name in the module; empty for the module itself.
    pub name: String,
    /// First line of the statement, 1-based.
    pub line: u32,
}

impl ImportedName {
    /// Returns the module together with the name taken from it.
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

/// A definition, or a scope such as an `impl` block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredItem {
    /// Qualified name, as in [`super::Definition`].
    pub title: String,
    /// Own names, joined by spaces.
    pub names: String,
    /// First and last line, 1-based, inclusive.
    pub lines: (u32, u32),
    /// Its role.
    pub role: DeclaredRole,
    /// Index of the item around it.
    pub parent: Option<u32>,
    /// How many arguments it takes, where the compiler of its language counts them.
    pub arity: Option<Arity>,
    /// Whether C declares it `static`, so that no other file is linked to it. Means nothing of a member.
    pub is_internal: bool,
}

/// How many arguments a function takes. In Rust the receiver may be one more, since `A::f(&a)` passes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arity {
    /// Fewest arguments; 0 in C and C++, where defaults may be declared elsewhere.
    pub least: u8,
    /// Most arguments; 255 for any number.
    pub most: u8,
}

impl DeclaredItem {
    /// Returns the qualified name of the item around it; empty at the top. Of `View.prototype.lookup` it is `View`.
    pub fn owner(&self) -> &str {
        let own = self.own_names().next().unwrap_or_default();
        let of = qualifier_of(&self.title, own);
        of.strip_suffix(".prototype").unwrap_or(of)
    }

    /// Returns the own names.
    pub fn own_names(&self) -> impl Iterator<Item = &str> {
        self.names.split(' ')
    }
}

impl Arity {
    /// Returns whether a call with so many arguments may be one of this function.
    pub fn accepts(self, n_arguments: u8) -> bool {
        self.least <= n_arguments && (n_arguments <= self.most || self.most == u8::MAX)
    }
}

/// The role of a declared name, as far as the resolution of uses needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeclaredRole {
    /// A function, constant or macro outside of a type.
    Free,
    /// A class, struct, enum, trait, interface or other type.
    Type,
    /// A function or constant of a type, used through it or a value of it.
    Member,
    /// A module or namespace.
    Module,
    /// No definition of its own: an `impl` block, an extension.
    Scope,
}

/// One use of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameUse {
    /// Number of the name.
    pub name: u32,
    /// 1-based.
    pub line: u32,
    /// Byte in the line, 0-based.
    pub column: u32,
    /// Index of the innermost definition or scope around it, plus one; 0 at the top of the file.
    pub within: u32,
    /// The expression that the name is taken from.
    pub receiver: UseReceiver,
    /// The purpose of the use.
    pub role: UseRole,
    /// The number of arguments of a call, if the text shows it.
    pub n_arguments: Option<u8>,
}

impl NameUse {
    /// Returns the index of the innermost definition or scope around it; `None` at the top of the file.
    pub fn enclosing_id(&self) -> Option<u32> {
        self.within.checked_sub(1)
    }
}

/// A value whose type the text names: a parameter, a variable, a field, or what a function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TypedValue {
    /// Number of its name; a field that a method sets is `self.` and its name, what a function returns `()`.
    pub name: u32,
    /// Number of the own name of its type, followed by `?` in an `Option` or `Result`; or of the expression that it is set to, a path
    /// as of a receiver.
    pub of: u32,
    /// Where it is declared, as in [`NameUse`]: a function, or of a field the type.
    pub within: u32,
    /// Whether `of` is a type.
    pub is_written: bool,
}

impl TypedValue {
    /// Returns the index of the function or type that declares it; `None` at the top of the file.
    pub fn enclosing_id(&self) -> Option<u32> {
        self.within.checked_sub(1)
    }
}

/// The purpose of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UseRole {
    /// Anything but the following.
    Mention,
    /// It is called, or a value of it is made.
    Call,
    /// A type extends or implements it.
    Base,
}

/// The expression that a used name is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UseReceiver {
    /// Nothing: the name has no receiver.
    None,
    /// The value or type around it: `self`, `this`, `cls`, `Self`, `super`.
    Own,
    /// A name or path, by number, its parts joined by `.`.
    Named(u32),
    /// Any other expression.
    Other,
    /// The name is part of an import.
    Import,
}

/// Whether a part of an import path is a major version: `v2`.
pub fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}
