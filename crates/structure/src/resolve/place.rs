//! Says where a use stands: in which language, and inside of which definitions.

use memod_base::types::{Declared, DeclaredRole, Structure, own_part};

use super::path_index::FileNumber;

/// Endings of files of C++ alone.
pub(super) const CPP: [&str; 15] =
    ["C", "c++", "cc", "cpp", "cu", "cuh", "cxx", "h++", "hh", "hpp", "hxx", "inl", "ino", "ipp", "tpp"];

/// Endings of files of C and C++ that are compiled, and not included by others.
pub(super) const C_SOURCES: [&str; 8] = ["C", "c", "c++", "cc", "cpp", "cu", "cxx", "ino"];

/// Languages whose files know each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Python,
    JavaScript,
    Go,
    Rust,
    Java,
    C,
    Other,
}

impl Family {
    pub(super) fn of(path: &str) -> Self {
        match path.rsplit('.').next().unwrap_or_default() {
            "py" | "pyi" | "pyw" => Self::Python,
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => Self::JavaScript,
            "go" => Self::Go,
            "rs" => Self::Rust,
            "java" => Self::Java,
            "c" | "h" => Self::C,
            ending if CPP.contains(&ending) => Self::C,
            _ => Self::Other,
        }
    }

    /// Whether members are used without a receiver inside of their type.
    pub(super) fn has_implicit_self(self) -> bool {
        matches!(self, Self::Java | Self::C)
    }

    /// Whether a path that is a module may also be a type.
    pub(super) fn has_types_as_modules(self) -> bool {
        matches!(self, Self::Rust | Self::Java | Self::Python | Self::JavaScript)
    }

    pub(super) fn separator(self) -> &'static str {
        if self == Self::Rust { "::" } else { "." }
    }
}

/// Where a use stands.
pub(super) struct Place<'a> {
    pub(super) file: FileNumber,
    pub(super) structure: &'a Structure,
    pub(super) family: Family,
    /// The name as it stands there.
    pub(super) written: &'a str,
    pub(super) within: Option<u32>,
    /// Whether it is called.
    pub(super) is_call: bool,
    /// How many more values and functions are followed to a type.
    pub(super) steps: u32,
}

impl Place<'_> {
    /// Returns the definitions around, innermost first.
    pub(super) fn around(&self) -> impl Iterator<Item = u32> {
        self.structure.around(self.within)
    }

    /// Whether a function of JavaScript has methods: `View.prototype.lookup = function () {}`.
    fn has_methods(&self, function: &Declared) -> bool {
        let has = |other: &Declared| other.role == DeclaredRole::Member && other.owner() == function.names;
        self.family == Family::JavaScript && self.structure.declared.iter().any(has)
    }

    /// Returns the own name of the type around.
    pub(super) fn owner(&self) -> Option<String> {
        let around = self.structure.declared_around(self.within);
        let mut owners = around.filter_map(|around| match around.role {
            DeclaredRole::Type | DeclaredRole::Scope => Some(own_part(&around.title).to_owned()),
            DeclaredRole::Member => {
                Some(own_part(around.owner()).to_owned()).filter(|owner| !owner.is_empty())
            }
            DeclaredRole::Free if self.has_methods(around) => Some(around.names.clone()),
            DeclaredRole::Free | DeclaredRole::Module => None,
        });
        owners.next()
    }
}
