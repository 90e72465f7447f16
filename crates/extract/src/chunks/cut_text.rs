//! Cuts long texts at lines and words, and maps bytes to lines.

use std::ops::Range;

/// The quality of a line start as the first line of a piece; larger is better.
pub(crate) type BreakRank = u8;

/// Rank of a line start inside of a block that fits in one piece. A cut there tears the block and is the last resort.
pub(crate) const RANK_TEARS_BLOCK: BreakRank = 0;
/// Rank of an ordinary line start.
pub(crate) const RANK_LINE: BreakRank = 1;
/// Rank of a line start after a blank line.
pub(crate) const RANK_PARAGRAPH: BreakRank = 2;

/// Cuts the span `bytes` of `text` into pieces of at most `max_chars` characters, and returns their spans.
///
/// A piece ends after a blank line in its second half, if there is one; otherwise at its last line end, after a sentence,
/// after a space, or in the middle of a word. The next piece starts at a line or sentence start at most `overlap_chars`
/// characters (and a third of `max_chars`) before that end; if `overlap_chars` is 0, the pieces cover the span exactly. Takes
/// time linear in the span. A bound of the span inside of a character is moved to the start of the character.
pub(crate) fn cut_text(
    text: &str,
    bytes: Range<usize>,
    max_chars: usize,
    overlap_chars: usize,
) -> Vec<Range<usize>> {
    cut_text_by_rank(text, bytes, max_chars, overlap_chars, &|line_start| line_rank(text, line_start))
}

/// Cuts as [`cut_text`] does, but the caller ranks the line starts; see [`BreakRank`].
pub(crate) fn cut_text_by_rank(
    text: &str,
    bytes: Range<usize>,
    max_chars: usize,
    overlap_chars: usize,
    rank: &dyn Fn(usize) -> BreakRank,
) -> Vec<Range<usize>> {
    let end = text.floor_char_boundary(bytes.end);
    let start = text.floor_char_boundary(bytes.start).min(end);
    let max_chars = max_chars.max(1);
    let cutter = TextCutter { text, end, max_chars, overlap_chars: overlap_chars.min(max_chars / 3), rank };
    cutter.cut_pieces(start)
}

/// Returns [`RANK_PARAGRAPH`] for a line start after a blank line, else [`RANK_LINE`].
pub(crate) fn line_rank(text: &str, line_start: usize) -> BreakRank {
    // Hostile text may have a long line of blanks before every line start, so only a few bytes before it are read.
    const LOOK_BACK: usize = 40;
    let before = text.as_bytes()[..line_start].strip_suffix(b"\n").unwrap_or_default();
    let mut last_line = before.iter().rev().take(LOOK_BACK);
    let mark = last_line.find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
    if mark == Some(&b'\n') { RANK_PARAGRAPH } else { RANK_LINE }
}

/// Returns the span without blank lines at its start and without blanks at its end; unchanged if a bound is inside of a
/// character.
pub(crate) fn trim_blank_lines(text: &str, bytes: Range<usize>) -> Range<usize> {
    let Some(span) = text.get(bytes.clone()).map(str::trim_end) else { return bytes };
    let blanks = &span[..span.len() - span.trim_start().len()];
    let start = blanks.rfind('\n').map_or(0, |newline| newline + 1);
    bytes.start + start..bytes.start + span.len()
}

struct TextCutter<'a> {
    text: &'a str,
    end: usize,
    max_chars: usize,
    overlap_chars: usize,
    rank: &'a dyn Fn(usize) -> BreakRank,
}

impl TextCutter<'_> {
    fn cut_pieces(&self, start: usize) -> Vec<Range<usize>> {
        let mut pieces = Vec::new();
        let (mut piece_start, mut last_end) = (start, start);
        while last_end < self.end {
            let mut piece_end = self.piece_end(piece_start, last_end);
            if !piece_end.is_good && piece_start < last_end {
                // The overlap must not tear the next block.
                let without = self.piece_end(last_end, last_end);
                if without.is_good {
                    (piece_start, piece_end) = (last_end, without);
                }
            }
            pieces.push(piece_start..piece_end.at);
            last_end = piece_end.at;
            piece_start = self.next_piece_start(piece_start, last_end);
        }
        pieces
    }

    /// Returns the best end of the piece that begins at `start`; always after `floor`.
    fn piece_end(&self, start: usize, floor: usize) -> PieceEnd {
        let limit = self.position_after(start, self.max_chars);
        if limit == self.end {
            return PieceEnd { at: limit, is_good: true };
        }
        let half = self.position_after(start, self.max_chars / 2);
        if let Some(line_break) = self.best_line_break(floor, half, limit) {
            return line_break;
        }
        // The overlap is at most a third of a piece, so `half` is after `floor` if the piece overlaps the one before.
        let half = half.max(floor);
        let at = last_sentence_start(self.text, half, limit)
            .or_else(|| self.position_after_last_space(half, limit))
            .unwrap_or(limit);
        PieceEnd { at, is_good: false }
    }

    /// Returns the best line start in `(floor, limit]`: the last one of the best rank after `half`; else the last one before
    /// `half` that tears no block; else the last one that tears a block, if it is after `half`.
    fn best_line_break(&self, floor: usize, half: usize, limit: usize) -> Option<PieceEnd> {
        let (mut late, mut early, mut torn) = (None, None, None);
        for (newline, _) in self.text[floor..limit].match_indices('\n') {
            let line_start = floor + newline + 1;
            match (self.rank)(line_start) {
                RANK_TEARS_BLOCK => torn = Some(line_start),
                rank if line_start > half => late = late.max(Some((rank, line_start))),
                _ => early = Some(line_start),
            }
        }
        let whole = late.map(|(_, at)| at).or(early).map(|at| PieceEnd { at, is_good: true });
        whole.or(torn.filter(|at| *at > half).map(|at| PieceEnd { at, is_good: false }))
    }

    fn position_after_last_space(&self, half: usize, limit: usize) -> Option<usize> {
        let window = &self.text[half..limit];
        let (at, space) = window.char_indices().rev().find(|(_, c)| c.is_whitespace())?;
        Some(half + at + space.len_utf8())
    }

    /// Returns the start of the piece that follows the piece `start..end`.
    fn next_piece_start(&self, start: usize, end: usize) -> usize {
        if self.overlap_chars == 0 || end == self.end {
            return end;
        }
        let before = self.text[..end].char_indices().rev().nth(self.overlap_chars - 1);
        let from = before.map_or(0, |(at, _)| at).max(start + 1);
        let from = self.text.floor_char_boundary(from.min(end));
        let mut is_one_line = true;
        for (newline, _) in self.text[from..end].trim_end().match_indices('\n') {
            let line_start = from + newline + 1;
            if (self.rank)(line_start) != RANK_TEARS_BLOCK {
                return line_start;
            }
            is_one_line = false;
        }
        // Sentence starts are searched for only within one long line, not within a block that is not cut.
        first_sentence_start(self.text, from, end).filter(|_| is_one_line).unwrap_or(end)
    }

    fn position_after(&self, start: usize, n_chars: usize) -> usize {
        let rest = &self.text[start..self.end];
        if rest.len() <= n_chars {
            return self.end;
        }
        rest.char_indices().nth(n_chars).map_or(self.end, |(at, _)| start + at)
    }
}

struct PieceEnd {
    at: usize,
    /// Whether the piece ends at a line start that tears nothing, or at the end of the span.
    is_good: bool,
}

fn last_sentence_start(text: &str, from: usize, to: usize) -> Option<usize> {
    sentence_starts(text, from, to).last()
}

fn first_sentence_start(text: &str, from: usize, to: usize) -> Option<usize> {
    sentence_starts(text, from, to).find(|at| *at < to)
}

/// Yields the byte offsets in `(from, to]` at which a sentence starts: after `.`, `!` or `?` and a blank, or after the
/// full-width form of these marks.
fn sentence_starts(text: &str, from: usize, to: usize) -> impl Iterator<Item = usize> {
    let mut ended = text[..from].ends_with(['.', '!', '?']);
    let starts = text[from..to].char_indices().filter_map(move |(at, c)| {
        let wide = matches!(c, '。' | '！' | '？');
        let start = (wide || ended && c.is_whitespace()).then_some(from + at + c.len_utf8());
        ended = match c {
            '.' | '!' | '?' => true,
            '"' | '\'' | ')' | ']' | '”' | '’' => ended,
            _ => false,
        };
        start
    });
    starts.filter(move |at| *at > from)
}

/// The starts of the lines of a text: built once, queried for many spans.
#[derive(Debug)]
pub(crate) struct LineIndex {
    /// Byte offset of each line, ascending; the first is 0.
    starts: Vec<usize>,
}

impl LineIndex {
    /// Finds the line starts of `text`; a line ends with `\n`.
    pub(crate) fn new(text: &str) -> Self {
        let after_newlines = text.match_indices('\n').map(|(newline, _)| newline + 1);
        Self { starts: std::iter::once(0).chain(after_newlines).collect() }
    }

    /// Returns the first and last line of the span, 1-based and inclusive. A newline belongs to the
    /// line it ends; an empty span lies on the line of its start.
    pub(crate) fn line_span(&self, bytes: &Range<usize>) -> (u32, u32) {
        let last_byte = bytes.end.saturating_sub(1).max(bytes.start);
        (self.line_at(bytes.start), self.line_at(last_byte))
    }

    /// Returns the byte offset at which a 1-based line starts; beyond the end, the start of the last line.
    pub(crate) fn line_start(&self, line: u32) -> usize {
        let at = (line.saturating_sub(1) as usize).min(self.starts.len() - 1);
        self.starts[at]
    }

    /// Returns the 1-based line of a byte offset.
    pub(crate) fn line_at(&self, byte: usize) -> u32 {
        let n_lines = self.starts.partition_point(|start| *start <= byte);
        u32::try_from(n_lines).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, max_chars: usize, overlap_chars: usize, expected: &[&str]) {
        let pieces = cut_text(text, 0..text.len(), max_chars, overlap_chars);
        let got: Vec<_> = pieces.iter().map(|piece| &text[piece.clone()]).collect();
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn a_piece_ends_at_the_best_place_that_fits() {
        check("", 10, 0, &[]);
        check("short", 10, 0, &["short"]);
        check("one\ntwo\nthree\n", 9, 0, &["one\ntwo\n", "three\n"]);
        check("aa\nbb\n\ncc\ndd\n", 11, 0, &["aa\nbb\n\n", "cc\ndd\n"]);
        check("aa\nbb\n \t\ncc\ndd\n", 13, 0, &["aa\nbb\n \t\n", "cc\ndd\n"]);
        check("aa\r\nbb\r\n\r\ncc\r\ndd\r\n", 15, 0, &["aa\r\nbb\r\n\r\n", "cc\r\ndd\r\n"]);
        check("One is. Two is. Three", 16, 0, &["One is. Two is. ", "Three"]);
        check("alpha beta gamma", 12, 0, &["alpha beta ", "gamma"]);
        check("abcdefghij", 4, 0, &["abcd", "efgh", "ij"]);
        check("日本語日本語", 4, 0, &["日本語日", "本語"]);
        check("日本。語日本語", 5, 0, &["日本。", "語日本語"]);
        check("ab", 0, 0, &["a", "b"]);
    }

    #[test]
    fn a_line_end_in_the_first_half_beats_a_torn_line() {
        check("a\nbbbb bbbb bbbb\nc\n", 12, 0, &["a\n", "bbbb bbbb ", "bbbb\nc\n"]);
    }

    #[test]
    fn overlap_starts_at_a_line_or_sentence() {
        check("one\ntwo\nthree\nfour\n", 15, 5, &["one\ntwo\nthree\n", "four\n"]);
        check("aaa\nbb\ncc\ndd\nee\n", 13, 4, &["aaa\nbb\ncc\ndd\n", "dd\nee\n"]);
        check("It is. We go. On we go far.", 14, 4, &["It is. We go. ", "On we go far."]);
        check("Aaa is. B. Ccccccc ccc. D.", 12, 4, &["Aaa is. B. ", "B. Ccccccc ", "ccc. D."]);
    }

    #[test]
    fn pieces_cover_hostile_text_within_the_limit() {
        let texts = [
            "\n".repeat(5_000),
            "x".repeat(5_000),
            "é. ".repeat(2_000),
            "a\n".repeat(3) + &"y".repeat(999) + "\n" + &"z\n\n".repeat(900),
            ["q".repeat(99), "\r\n".repeat(70)].concat().repeat(20),
        ];
        for text in &texts {
            for (max_chars, overlap_chars) in [(1, 0), (2, 2), (7, 3), (100, 0), (100, 20), (100, 1_000)] {
                check_cover(text, max_chars, overlap_chars);
            }
        }
    }

    fn check_cover(text: &str, max_chars: usize, overlap_chars: usize) {
        let pieces = cut_text(text, 0..text.len(), max_chars, overlap_chars);
        let (mut last_start, mut last_end) = (None, 0);
        for piece in &pieces {
            let n_chars = text[piece.clone()].chars().count();
            assert!(n_chars > 0 && n_chars <= max_chars, "{n_chars} of {max_chars}");
            assert!(piece.start <= last_end && piece.end > last_end && Some(piece.start) > last_start);
            assert!(overlap_chars > 0 || piece.start == last_end);
            assert!(text[piece.start..last_end].chars().count() <= overlap_chars);
            (last_start, last_end) = (Some(piece.start), piece.end);
        }
        assert_eq!(last_end, text.len());
    }

    #[test]
    fn a_block_is_not_torn_where_it_fits() {
        let text = "aaaa\nbbbb\ncccc\ndddd\neeee\nffff\n";
        let rank = |at: usize| if at > 10 && at < 30 { RANK_TEARS_BLOCK } else { RANK_LINE };
        let pieces = cut_text_by_rank(text, 0..text.len(), 20, 6, &rank);
        assert_eq!(pieces, [0..10, 10..30]);
    }

    #[test]
    fn line_numbers_start_at_one_and_include_the_last() {
        let index = LineIndex::new("a\nbc\r\n\nd");
        let cases =
            [(0..1, (1, 1)), (0..2, (1, 1)), (0..3, (1, 2)), (2..7, (2, 3)), (7..8, (4, 4)), (8..8, (4, 4))];
        for (bytes, expected) in cases {
            assert_eq!(index.line_span(&bytes), expected, "{bytes:?}");
        }
        assert_eq!(LineIndex::new("").line_span(&(0..0)), (1, 1));
    }
}
