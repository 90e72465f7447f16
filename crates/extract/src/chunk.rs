//! The result of extraction: chunks, definitions and references of one source.

use std::ops::Range;

use memod_base::types::{Definition, FileClass, Kind, Route, Structure};
use serde::{Deserialize, Serialize};

/// Longest body of a chunk, in characters: about 400 tokens.
pub const CHUNK_CHARS: usize = 1_600;

/// Overlap where one long section is cut, in characters: about 80 tokens.
pub const OVERLAP_CHARS: usize = 320;

/// A span of one source: the unit of search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// What it is a part of.
    pub kind: Kind,
    /// Byte span in the text; on character boundaries.
    pub bytes: Range<usize>,
    /// First and last line, 1-based and inclusive.
    pub lines: (u32, u32),
    /// Name of the definition, for [`Kind::Symbol`]; the names, joined by spaces, where short definitions
    /// share a chunk.
    pub symbol: Option<String>,
    /// Heading path (`Guide > Install`) or enclosing names and own name (`Session::login`).
    pub title: Option<String>,
    /// What the front matter says the document is about; searched as part of the title, and not shown.
    pub keywords: Option<String>,
    /// Text where it is not the byte span itself: the symbols and skeleton of [`Kind::Map`].
    pub text: Option<String>,
}

/// Everything found in one source. Serializable, because it comes from another process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extracted {
    /// Chunks in order of their first byte; the map record, if any, first.
    pub chunks: Vec<Chunk>,
    /// Names used here (references and calls), each with the number of uses; sorted by name.
    pub references: Vec<(String, u32)>,
    /// Definitions, in order.
    pub definitions: Vec<Definition>,
    /// What the file declares, imports and uses; empty for a language whose uses are not resolved.
    #[serde(with = "encoded")]
    pub structure: Structure,
    /// HTTP routes declared, by line.
    pub routes: Vec<Route>,
    /// Byte spans of likely credentials, ascending and disjoint; no other field contains any of them.
    pub secrets: Vec<Range<usize>>,
    /// The source asks not to be indexed.
    pub opted_out: bool,
    /// Why nothing of the source can be indexed.
    pub refused: Option<String>,
    /// What the text says it is: generated, or a licence.
    pub class: Option<FileClass>,
    /// A line over 10,000 bytes: stays lexical, never embedded.
    pub minified: bool,
    /// Problems that leave the chunks valid: a budget ran out, or the syntax tree had errors.
    pub problems: Vec<String>,
}

/// Sends a structure as one string: as objects, its many small values would be most of the line.
mod encoded {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD_NO_PAD;
    use memod_base::types::Structure;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(structure: &Structure, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD_NO_PAD.encode(structure.to_bytes()))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Structure, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD_NO_PAD.decode(text).map_err(de::Error::custom)?;
        Structure::from_bytes(&bytes).ok_or_else(|| de::Error::custom("not a structure"))
    }
}
