//! Checks what is extracted from documents, for the tests of their formats.

use crate::chunks::chunk::{CHUNK_CHARS, Extraction};

/// Returns the first line, the last line and the title of each chunk.
pub(super) fn sections(found: &Extraction) -> Vec<(u32, u32, &str)> {
    assert!(!found.opted_out);
    found.chunks.iter().map(|c| (c.lines.0, c.lines.1, c.title.as_deref().unwrap_or_default())).collect()
}

/// Checks that each chunk ends after the one before it, and the last one with the text.
pub(super) fn check_order(text: &str, found: &Extraction) {
    let mut last_end = 0;
    for chunk in &found.chunks {
        assert!(chunk.bytes.end > last_end && chunk.bytes.len() <= 4 * CHUNK_CHARS);
        last_end = chunk.bytes.end;
    }
    assert!(text[last_end..].trim().is_empty(), "{text:.80}");
}
