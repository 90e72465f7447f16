//! Defines the result of extraction: chunks, definitions and uses of one source.

use std::ops::Range;

use memod_base::types::{ChunkKind, Definition, FileClass, FileStructure, HttpRoute};
use serde::{Deserialize, Serialize};

/// Longest body of a chunk, in characters: about 400 tokens.
pub const CHUNK_CHARS: usize = 1_600;

/// Overlap of two chunks of one long section, in characters: about 80 tokens.
pub const OVERLAP_CHARS: usize = 320;

/// A span of one source: the unit of search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// The kind of text in the chunk: a section, a definition, other lines, or the list of all that the file defines.
    pub kind: ChunkKind,
    /// Byte span in the text; on character boundaries.
    pub bytes: Range<usize>,
    /// First and last line, 1-based and inclusive.
    pub lines: (u32, u32),
    /// Name of the definition, for [`ChunkKind::Symbol`]; the names, joined by spaces, where short definitions
    /// share a chunk.
    pub symbol: Option<String>,
    /// Heading path of a section (`Guide > Install`), or qualified name of a definition (`Session::login`).
    pub title: Option<String>,
    /// Keywords of the front matter; searched as part of the title, and not shown.
    pub keywords: Option<String>,
    /// Text that is indexed in place of the byte span: the symbols and skeleton of [`ChunkKind::Map`].
    pub text: Option<String>,
}

/// Everything found in one source. Serializable, because another process extracts it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extraction {
    /// Chunks in order of their first byte; the map record, if any, first.
    pub chunks: Vec<Chunk>,
    /// Names used in the source, each with the number of uses; sorted by name.
    pub references: Vec<(String, u32)>,
    /// Definitions, in order.
    pub definitions: Vec<Definition>,
    /// Declarations, imports and uses of the file; empty for a language whose uses are not resolved.
    #[serde(with = "encoded")]
    pub structure: FileStructure,
    /// HTTP routes declared, by line.
    pub routes: Vec<HttpRoute>,
    /// Byte spans of likely credentials, ascending and disjoint; no other field contains any of them.
    pub secrets: Vec<Range<usize>>,
    /// Whether the source asks not to be indexed.
    pub opted_out: bool,
    /// Why nothing of the source can be indexed; `None` if it can.
    pub refused: Option<String>,
    /// The class that the text itself states: generated, or a licence.
    pub class: Option<FileClass>,
    /// Whether a line has over 10,000 bytes. Such a source is searched by words only, and never embedded.
    pub minified: bool,
    /// Problems that leave the chunks valid: a limit of parsing was reached, or the syntax tree has errors.
    pub problems: Vec<String>,
}

/// Serializes a structure as one base64 string, because its many small values would be most of the message as JSON.
mod encoded {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD_NO_PAD;
    use memod_base::types::FileStructure;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(crate) fn serialize<S: Serializer>(
        structure: &FileStructure,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD_NO_PAD.encode(structure.to_bytes()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FileStructure, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD_NO_PAD.decode(text).map_err(de::Error::custom)?;
        FileStructure::from_bytes(&bytes).ok_or_else(|| de::Error::custom("not a valid file structure"))
    }
}
