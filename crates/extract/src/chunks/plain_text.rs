//! Splits plain text into chunks.

use memod_base::types::ChunkKind;

use super::chunk::{CHUNK_CHARS, Chunk, Extraction};
use super::cut_text::{self, BreakRank, LineIndex, RANK_LINE};

/// A line of more bytes was written by a program; such a text is searched by words only, and never embedded.
const MINIFIED_LINE_BYTES: usize = 10_000;

/// Cuts a text into chunks of lines, without overlap.
///
/// Chunks end before a line at column 0 where possible: a new table, key, statement or stage.
pub(crate) fn extract(text: &str) -> Extraction {
    let lines = LineIndex::new(text);
    let pieces = cut_text::cut_text_by_rank(text, 0..text.len(), CHUNK_CHARS, 0, &|line_start| {
        rank_line_start(text, line_start)
    });
    let spans = pieces
        .into_iter()
        .map(|piece| cut_text::trim_blank_lines(text, piece))
        .filter(|span| !span.is_empty());
    let chunks = spans.map(|bytes| Chunk {
        kind: ChunkKind::Text,
        lines: lines.line_span(&bytes),
        bytes,
        symbol: None,
        title: None,
        keywords: None,
        text: None,
    });
    Extraction { chunks: chunks.collect(), minified: is_minified(text), ..Extraction::default() }
}

/// Returns whether the text has a line of over 10,000 bytes.
pub(crate) fn is_minified(text: &str) -> bool {
    text.len() > MINIFIED_LINE_BYTES && text.split('\n').any(|line| line.len() > MINIFIED_LINE_BYTES)
}

/// Like [`is_minified`], for a copy of a text in which all but code is blank.
pub(crate) fn is_minified_code(copy: &str) -> bool {
    let n_code = |line: &str| line.bytes().filter(|byte| *byte != b' ').count();
    is_minified(copy) && copy.split('\n').any(|line| n_code(line) > MINIFIED_LINE_BYTES)
}

/// Ranks a line start as a place to cut. Best is a line that begins a block at column 0 after a blank line, then any other
/// line after a blank line, then a line that begins a block at column 0.
fn rank_line_start(text: &str, line_start: usize) -> BreakRank {
    let first = text.as_bytes().get(line_start);
    let opens = first.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"[\"'_$@#.<".contains(byte));
    match (cut_text::line_rank(text, line_start), opens) {
        (RANK_LINE, false) => RANK_LINE,
        (RANK_LINE, true) => RANK_LINE + 1,
        (_, false) => RANK_LINE + 2,
        (_, true) => RANK_LINE + 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the first and last line of each chunk.
    fn check(text: &str, expected: &[(u32, u32)]) {
        let extracted = extract(text);
        let got: Vec<_> = extracted.chunks.iter().map(|chunk| chunk.lines).collect();
        assert_eq!(got, expected);
        assert!(extracted.chunks.iter().all(|chunk| chunk.kind == ChunkKind::Text));
    }

    #[test]
    fn short_texts_are_one_chunk_without_outer_blank_lines() {
        check("", &[]);
        check(" \n\t\n", &[]);
        check("a = 1\n", &[(1, 1)]);
        check("\n\n  a = 1\nb = 2\n\n\n", &[(3, 4)]);
    }

    #[test]
    fn chunks_end_where_something_new_starts() {
        let table = |lines: usize| "[table]\n".to_owned() + &"  key = 'some value'\n".repeat(lines);
        check(&table(50).repeat(3), &[(1, 51), (52, 102), (103, 153)]);
        check(&(table(60) + "\n" + &table(40)), &[(1, 61), (63, 103)]);
        check(&"  no column 0 here\n".repeat(100), &[(1, 84), (85, 100)]);
    }

    #[test]
    fn a_line_over_10_000_bytes_is_minified() {
        assert!(!extract(&"a".repeat(10_000)).minified);
        assert!(!extract(&"aaaa\n".repeat(10_000)).minified);
        assert!(extract(&("x\n".to_owned() + &"a".repeat(10_001))).minified);
    }
}
