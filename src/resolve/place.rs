//! Says where a use stands: in which language, and inside of which definitions.

use super::FileNumber;
use crate::types::{Declared, DeclaredRole, Structure};

/// Returns the qualified name of what holds a definition; empty at the top.
pub fn owner_of(declared: &Declared) -> &str {
    let own = declared.names.split(' ').next().unwrap_or_default();
    declared.title.strip_suffix(own).unwrap_or_default().trim_end_matches([':', '.', '#', '\\'])
}

pub(super) fn last_part(path: &str) -> &str {
    path.rsplit(['.', ':', '#', '\\']).next().unwrap_or(path)
}

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
            "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => Self::C,
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
    /// How many more values and functions are followed to a type.
    pub(super) steps: u32,
}

impl Place<'_> {
    /// Returns the definitions around, innermost first.
    pub(super) fn around(&self) -> impl Iterator<Item = u32> {
        let declared = &self.structure.declared;
        std::iter::successors(self.within, |id| declared.get(*id as usize)?.parent)
    }

    /// Returns the own name of the type around.
    pub(super) fn owner(&self) -> Option<String> {
        let declared = self.around().filter_map(|id| self.structure.declared.get(id as usize));
        let mut owners = declared.filter_map(|around| match around.role {
            DeclaredRole::Type | DeclaredRole::Scope => Some(last_part(&around.title).to_owned()),
            DeclaredRole::Member | DeclaredRole::Free => {
                let owner = last_part(owner_of(around));
                (around.role == DeclaredRole::Member && !owner.is_empty()).then(|| owner.to_owned())
            }
            DeclaredRole::Module => None,
        });
        owners.next()
    }
}
