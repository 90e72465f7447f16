//! Finds the definitions and uses in formats without a grammar, such as Terraform, SQL and Protocol Buffers.
//!
//! Each reader splits a text into tokens or lines in one pass, and names the blocks in them. Readers take time in proportion to the
//! length of the text, do not recurse, and accept any text: what they do not understand is no definition.

mod braced_code;
mod cmake;
mod dart;
mod dockerfile;
mod format_names;
mod graphql;
mod kubernetes;
mod makefile;
mod objective_c;
mod protobuf;
mod sql;
mod sql_tokens;
pub(crate) mod terraform;
mod terraform_tokens;
#[cfg(test)]
mod tests;
mod tokens;

use self::format_names::FormatNames;
use crate::chunks::chunk::Extraction;
use crate::chunks::plain_text;
use crate::code;
use crate::definitions::nest_items::nest_items;

/// Reads the names in a text, given its path.
type Reader = for<'a> fn(&str, &'a str) -> FormatNames<'a>;

/// The readers by the names of their formats.
const READERS: [(&str, Reader); 10] = [
    ("cmake", cmake::read_names),
    ("dart", dart::read_names),
    ("dockerfile", dockerfile::read_names),
    ("graphql", graphql::read_names),
    ("makefile", makefile::read_names),
    ("objective-c", objective_c::read_names),
    ("protobuf", protobuf::read_names),
    ("sql", sql::read_names),
    ("terraform", terraform::read_names),
    ("yaml", kubernetes::read_names),
];

/// Returns whether the definitions of a format without a grammar are read.
pub(crate) fn has_reader(format: &str) -> bool {
    find_reader(format).is_some()
}

fn find_reader(format: &str) -> Option<Reader> {
    READERS.iter().find(|(name, _)| *name == format).map(|(_, reader)| *reader)
}

/// Extracts the chunks, definitions and uses of a text. A text without definitions, and one in a format that no reader knows, is cut
/// by lines.
pub(crate) fn extract_format(format: Option<&str>, path: &str, text: &str) -> Extraction {
    let plain = plain_text::extract(text);
    let reader = format.and_then(find_reader);
    let Some(reader) = reader.filter(|_| !plain.minified) else { return plain };
    let names = reader(path, text);
    let outline = nest_items(text, names.items, &names.comments);
    let named = code::extract_outline(text, &outline, names.found);
    let chunks = if outline.items.is_empty() { plain.chunks } else { named.chunks };
    Extraction { chunks, ..named }
}
