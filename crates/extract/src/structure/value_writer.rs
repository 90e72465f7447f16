//! Lists the values of a file with the definitions and blocks around them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use memod_base::types::TypedValue;

use super::bindings::Bindings;
use super::locals::{DefinitionIndex, LocalNames};
use super::{FoundValue, MAX_USES, NumberedNames, SCOPED_PATH};
use crate::chunks::cut_text::LineIndex;

/// Lists values by means of what the file says about their places.
pub(super) struct ValueWriter<'w, 'a, 'o> {
    pub(super) locals: &'w LocalNames<'a, 'o>,
    pub(super) bindings: &'w Bindings<'a>,
    /// Byte offsets of the names of definitions.
    pub(super) own_names: &'w HashSet<usize>,
    pub(super) lines: &'w LineIndex,
    pub(super) n_bytes: usize,
}

impl ValueWriter<'_, '_, '_> {
    pub(super) fn list_values(
        &self,
        values: Vec<FoundValue<'_>>,
        around: &DefinitionIndex<'_, '_>,
        names: &mut NumberedNames,
    ) -> Vec<TypedValue> {
        let mut listed = Vec::new();
        let mut last_set: HashMap<(u32, u32), TypedValue> = HashMap::new();
        let is_open = |value: &FoundValue<'_>| value.of.is_empty() && value.name != "()";
        let typed = values.iter().filter(|value| !is_open(value));
        let typed_at: HashSet<usize> = typed.map(|value| value.named_at).collect();
        for value in values.into_iter().take(MAX_USES) {
            // A variable may be read by its loop, which knows its type, and by its declaration, which does not.
            let is_known_otherwise = is_open(&value) && typed_at.contains(&value.named_at);
            if is_known_otherwise || self.bindings.is_set_again(&value.name, value.named_at) {
                continue;
            }
            // A constant is a definition itself, so its value is known in the scope around it.
            let is_defined = self.own_names.contains(&value.at);
            let within = around
                .innermost_definition(value.at)
                .and_then(|id| if is_defined { around.parents[id] } else { Some(id) });
            let is_open = is_open(&value);
            let (of, is_written) = self.find_type(&value);
            let (own, of_function) = self.bindings.rename_value(&value.name, value.named_at);
            let of = names.number_of(&of);
            for name in std::iter::once(own).chain(of_function) {
                let last_line = if value.block_end >= self.n_bytes {
                    u32::MAX
                } else {
                    self.lines.line_at(value.block_end)
                };
                let value = TypedValue {
                    name: names.number_of(&name),
                    of,
                    within: within.map_or(0, |id| id as u32 + 1),
                    is_written,
                    line: self.lines.line_at(value.at),
                    last_line,
                    is_narrowed: value.is_narrowed,
                };
                if value.is_narrowed {
                    listed.push((value, false));
                    continue;
                }
                // A value that is set once more to the same in the same block stays as it is.
                let before = last_set.insert((value.name, value.within), value);
                let is_known =
                    |before: &TypedValue| before.is_set_like(&value) && before.last_line >= value.last_line;
                if !before.as_ref().is_some_and(is_known) {
                    listed.push((value, is_open));
                }
            }
        }
        drop_open_values(listed)
    }

    /// Returns the type of a value, or the expression that it is set to, and whether it is a type. A value whose type is a type parameter
    /// has no known type, but hides outer values of the same name.
    fn find_type<'v>(&self, value: &'v FoundValue<'_>) -> (Cow<'v, str>, bool) {
        let of = &*value.of;
        if value.is_written {
            let own = of.split('<').next().unwrap_or_default().trim_end_matches('?');
            let is_open = self.locals.has_type_parameter(own, value.at);
            return if is_open { (Cow::Borrowed(""), false) } else { (Cow::Borrowed(of), true) };
        }
        if let Some(scoped) = of.strip_prefix(SCOPED_PATH) {
            return (Cow::Borrowed(scoped), false);
        }
        let renamed = self.bindings.rename_expression(of, &value.name, value.named_at);
        (renamed.map_or(Cow::Borrowed(of), Cow::Owned), false)
    }
}

/// Returns the values, each with whether the text shows no type for it, without those that set no value whose type is known otherwise.
fn drop_open_values(values: Vec<(TypedValue, bool)>) -> Vec<TypedValue> {
    let typed = values.iter().filter(|(_, is_open)| !is_open);
    let typed: HashSet<(u32, u32)> = typed.map(|(value, _)| (value.name, value.within)).collect();
    let kept =
        values.into_iter().filter(|(value, is_open)| !is_open || typed.contains(&(value.name, value.within)));
    kept.map(|(value, _)| value).collect()
}
