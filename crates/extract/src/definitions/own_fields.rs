//! Finds the type of a field, and which of several declarations of a field counts.

use memod_base::types::last_part;

use super::tags::{DefinitionTag, TagKind};

/// Names of the value or the type whose methods set its fields, in Python and JavaScript.
const OWN_NAMES: [&str; 3] = ["self", "cls", "this"];
/// Names of constructors whose parameters may declare fields, in TypeScript and PHP.
const CONSTRUCTORS: [&str; 2] = ["constructor", "__construct"];

/// How a definition is declared, weakest first. A field of Python may be declared several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Declared {
    /// By its name in `__slots__`.
    AsSlot,
    /// By `self.name = value` in a method, or `Type.name = value` elsewhere.
    BySetting,
    /// In the body of its type, or otherwise as a definition.
    InBody,
}

/// Returns how a tag declares its definition.
pub(super) fn judge_declaration(text: &str, tag: &DefinitionTag) -> Declared {
    if tag.kind != TagKind::Field {
        return Declared::InBody;
    }
    let statement = tag.statement.clone().and_then(|statement| text.get(statement)).unwrap_or_default();
    let is_set = tag.owner.as_ref().is_some_and(|owner| {
        text.get(owner.clone()).is_some_and(|owner| OWN_NAMES.contains(&owner)) || owner.end < tag.node.start
    });
    if statement.starts_with(['"', '\'']) {
        Declared::AsSlot
    } else if is_set {
        Declared::BySetting
    } else {
        Declared::InBody
    }
}

/// Returns the titles before the name of a field: that of its type, and of a variant in it. `around` are the kinds and titles of the
/// definitions around the field, innermost first. `None` if the field has no type: it is in a function.
pub(super) fn owner_titles<'a>(
    around: &[(TagKind, &'a str)],
    owner: Option<&'a str>,
) -> Option<Vec<&'a str>> {
    if owner.is_some_and(|owner| OWN_NAMES.contains(&owner)) {
        let (_, title) = around.iter().find(|(kind, _)| kind.has_methods())?;
        return Some(vec![title]);
    }
    let inner = around.first();
    let is_parameter = inner.is_some_and(|(_, title)| CONSTRUCTORS.contains(&last_part(title)));
    let inner = if is_parameter { around.get(1) } else { inner };
    let is_in_function = inner.is_some_and(|(kind, _)| kind.is_callable());
    (!is_in_function).then(|| inner.map(|(_, title)| *title).into_iter().chain(owner).collect())
}
