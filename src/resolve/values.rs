//! Says which type the text names for a value, seen from a place.

use super::place::{Place, last_part};
use crate::types::{DeclaredRole, Value};

/// Returns the own name of the type of a variable, a parameter or a field of the value around, and whether it is written;
/// `None` if the text names none, or several.
pub(super) fn type_of<'a>(place: &Place<'a>, path: &str) -> Option<(&'a str, bool)> {
    let structure = place.structure;
    let only = |values: &[&Value]| {
        let (first, rest) = values.split_first()?;
        let is_written = values.iter().all(|value| value.is_written);
        rest.iter().all(|value| value.of == first.of).then(|| (structure.name(first.of), is_written))
    };
    if let Some(field) = path.strip_prefix("self.") {
        let owner = place.owner()?;
        let is_of_owner = |value: &&Value| {
            let declared = structure.declared.get(value.within.checked_sub(1)? as usize)?;
            let is_type = declared.role == DeclaredRole::Type && last_part(&declared.title) == owner;
            let is_set =
                || Place { within: Some(value.within - 1), ..*place }.owner().as_ref() == Some(&owner);
            match structure.name(value.name) {
                name if name == path => Some(is_set()),
                name if name == field => Some(is_type),
                _ => None,
            }
        };
        let fields: Vec<&Value> =
            structure.values.iter().filter(|value| is_of_owner(value) == Some(true)).collect();
        return only(&fields);
    }
    if path.contains('.') {
        return None;
    }
    let scopes = place.around().map(|id| id + 1).chain([0]);
    let of_scope = |scope: u32| -> Vec<&Value> {
        let values = structure.values.iter();
        values.filter(|value| value.within == scope && structure.name(value.name) == path).collect()
    };
    only(&scopes.map(of_scope).find(|values| !values.is_empty())?)
}
