//! Collects the definitions, uses and imports that a reader finds in a text.

use std::ops::Range;

use crate::definitions::nest_items::NamedItem;
use crate::definitions::tags::TagKind;
use crate::structure::FoundNames;

/// The names in a text.
#[derive(Default)]
pub(super) struct FormatNames<'a> {
    /// The definitions, in any order.
    pub(super) items: Vec<NamedItem<'a>>,
    /// Byte spans of the comments, ascending.
    pub(super) comments: Vec<Range<usize>>,
    /// Uses, imports and the package.
    pub(super) found: FoundNames<'a>,
}

impl<'a> FormatNames<'a> {
    /// Adds a definition. `name` must be a slice of the text; `node` are the bytes from its first word to its end. A name with blanks,
    /// and one that a template fills in, is no name.
    pub(super) fn add_item(&mut self, kind: TagKind, name: &'a str, title: String, node: Range<usize>) {
        let is_name = |name: &str| {
            !name.is_empty() && name.len() <= MAX_NAME_BYTES && !name.contains(char::is_whitespace)
        };
        if is_name(name) && !title.contains(['$', '{', '}']) && !title.contains(char::is_whitespace) {
            self.items.push(NamedItem { kind, names: vec![name], title, node });
        }
    }
}

/// Longest name, in bytes.
const MAX_NAME_BYTES: usize = 200;

/// Returns the bytes of a slice of the text.
pub(super) fn bytes_of(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + part.len()
}
