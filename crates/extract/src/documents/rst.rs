//! Splits reStructuredText into sections.
//!
//! Titles are found line by line, as docutils finds them ("reStructuredText Markup Specification", Sections).

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::document_lines::DocumentLines;
use super::front_matter::start_after_byte_order_mark;
use super::sections::{ChunkSize, DocumentOutline, SectionHeading, extract_by_outline, normalize_heading};
use crate::chunks::chunk::Extraction;

/// The comment that excludes a file from the index.
const OPT_OUT: &str = ".. vector-index: false";

/// A line of fewer marks is an underline only if it is at least as long as the title.
const MIN_SURE_UNDERLINE: usize = 4;

/// Columns from one tab stop to the next.
const TAB_COLUMNS: usize = 8;

/// Matches inline markup and captures the text in it: a literal or a reference (`:doc:`text <target>`` , `` `text`_ ``),
/// emphasis, a substitution, an escape.
static INLINE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = [
        r"``(?P<literal>.+?)``",
        r"(?::[\w.+:-]+:)?`+[!]?(?P<last>~)?(?P<text>[^`<]*[^`<\s])?\s*(?:<(?P<target>[^`>]*)>)?`+_{0,2}",
        r"\*{1,2}(?P<emphasis>[^*\s](?:[^*]*[^*\s])?)\*{1,2}",
        r"\|(?P<name>[^|\s](?:[^|]*[^|\s])?)\|",
        r"\\(?P<escaped>.)",
    ];
    Regex::new(&pattern.join("|")).expect("a test runs it")
});

/// Returns the sections of a reStructuredText document as chunks, each with its heading path.
pub(crate) fn extract(text: &str) -> Extraction {
    let start = start_after_byte_order_mark(text);
    extract_by_outline(
        text,
        start,
        None,
        &read_outline(text, start, ChunkSize::INDEXED.max_chars),
        ChunkSize::INDEXED,
    )
}

/// Reads the headings of a text from byte `start` on, and its blocks that fit in `max_chars` characters.
fn read_outline(text: &str, start: usize, max_chars: usize) -> DocumentOutline {
    let lines = DocumentLines::new(text, start);
    let mut blocks = indented_blocks(&lines);
    let mut outline = DocumentOutline::from_headings(find_headings(&lines, &mut blocks));
    outline.opted_out = (0..lines.len()).any(|line| lines.trimmed_line(line) == OPT_OUT);
    blocks.sort_unstable_by_key(|block| (block.start, std::cmp::Reverse(block.end)));
    for block in blocks {
        outline.add_block(text, lines.line_start(block.start)..lines.line_start(block.end), max_chars);
    }
    outline
}

/// Returns each line with the lines indented below it: directives, literal blocks, list items, definitions.
fn indented_blocks(lines: &DocumentLines<'_>) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut last_text = 0;
    for at in 0..=lines.len() {
        let line = lines.trimmed_line(at);
        if line.is_empty() && at < lines.len() {
            continue;
        }
        let column = indent_columns(line);
        while let Some((_, start)) = open.pop_if(|(above, _)| *above >= column) {
            blocks.extend((last_text > start).then_some(start..last_text + 1));
        }
        open.push((column, at));
        last_text = at;
    }
    blocks
}

fn indent_columns(line: &str) -> usize {
    line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).fold(0, |column, byte| match byte {
        b'\t' => column / TAB_COLUMNS * TAB_COLUMNS + TAB_COLUMNS,
        _ => column + 1,
    })
}

/// Returns the headings of a document, and adds its tables to `blocks`.
fn find_headings(lines: &DocumentLines<'_>, blocks: &mut Vec<Range<usize>>) -> Vec<SectionHeading> {
    let mut headings = Vec::new();
    // The style of each level, in order of first use: the character of the underline, and whether the title has an overline
    // too.
    let mut styles: Vec<(u8, bool)> = Vec::new();
    let (mut at, mut starts_block, mut label) = (0, true, None);
    while at < lines.len() {
        if let Some(end) = table_end(lines, at).filter(|_| starts_block) {
            blocks.push(at..end);
            (at, label) = (end, None);
        } else if let Some(SectionTitle { text, style, n_lines }) =
            title_at(lines, at).filter(|_| starts_block)
        {
            let level = styles.iter().position(|known| *known == style).unwrap_or_else(|| {
                styles.push(style);
                styles.len() - 1
            });
            let start = lines.line_start(label.take().unwrap_or(at));
            at += n_lines;
            headings.push(SectionHeading {
                level: level + 1,
                title: strip_markup(text),
                bytes: start..lines.line_start(at),
            });
        } else {
            let line = lines.trimmed_line(at);
            let is_label = line.starts_with(".. _") && line.ends_with(':');
            label = if is_label || line.is_empty() { label.or(is_label.then_some(at)) } else { None };
            starts_block = !continues_paragraph(line, starts_block);
            at += 1;
        }
    }
    headings
}

struct SectionTitle<'a> {
    text: &'a str,
    style: (u8, bool),
    n_lines: usize,
}

/// Returns the title that begins at a line, if one does: a text with an underline, or with an overline and an underline.
fn title_at<'a>(lines: &DocumentLines<'a>, at: usize) -> Option<SectionTitle<'a>> {
    let (first, second) = (lines.trimmed_line(at), lines.trimmed_line(at + 1));
    if second.is_empty() {
        return None;
    }
    if let Some(mark) = underline_mark(first) {
        let is_title = lines.trimmed_line(at + 2) == first && is_long_enough(first, second);
        return is_title.then_some(SectionTitle { text: second, style: (mark, true), n_lines: 3 });
    }
    let is_text = !first.is_empty() && indent_columns(first) == 0 && !starts_other_block(first);
    let mark = underline_mark(second).filter(|_| is_text && is_long_enough(second, first))?;
    Some(SectionTitle { text: first, style: (mark, false), n_lines: 2 })
}

/// Returns the punctuation character that a whole line consists of; `None` for any other line.
fn underline_mark(line: &str) -> Option<u8> {
    let first = *line.as_bytes().first().filter(|byte| byte.is_ascii_punctuation())?;
    line.bytes().all(|byte| byte == first).then_some(first)
}

fn is_long_enough(marks: &str, title: &str) -> bool {
    marks.len() >= MIN_SURE_UNDERLINE || title.trim().chars().count() <= marks.len()
}

/// Returns whether a line at the left margin begins neither a paragraph nor a title.
fn starts_other_block(line: &str) -> bool {
    let first_word = line.split(' ').next().unwrap_or_default();
    matches!(first_word, ".." | "__" | "|" | ">>>" | "*" | "+" | "-" | "•" | "‣" | "⁃") || is_field(line)
}

/// Returns whether a line begins with `:name:` and a blank; a role has a backquote in place of the blank.
fn is_field(line: &str) -> bool {
    let Some(rest) = line.strip_prefix(':').filter(|rest| !rest.starts_with([':', ' '])) else {
        return false;
    };
    let mut after_colons = rest.match_indices(':').map(|(at, _)| rest.as_bytes().get(at + 1).copied());
    after_colons
        .find(|after| matches!(after, None | Some(b' ' | b'`')))
        .is_some_and(|after| after != Some(b'`'))
}

/// Returns whether a paragraph continues after a line, so that no title can begin there.
fn continues_paragraph(line: &str, starts_block: bool) -> bool {
    match line {
        "" => false,
        _ if !starts_block => indent_columns(line) == 0,
        _ => indent_columns(line) == 0 && (line.starts_with(">>>") || !starts_other_block(line)),
    }
}

/// Returns the line after the table that begins at a line; `None` if no table begins there.
fn table_end(lines: &DocumentLines<'_>, at: usize) -> Option<usize> {
    let first = lines.trimmed_line(at);
    if first.starts_with("+-") && first.ends_with("-+") {
        return (at..=lines.len()).find(|line| !lines.trimmed_line(*line).starts_with(['+', '|']));
    }
    if !is_table_border(first) {
        return None;
    }
    let mut n_borders = 0;
    (at + 1..lines.len())
        .find(|line| {
            let is_one = is_table_border(lines.trimmed_line(*line));
            n_borders += usize::from(is_one);
            is_one && (n_borders == 2 || lines.trimmed_line(line + 1).is_empty())
        })
        .map(|last| last + 1)
}

fn is_table_border(line: &str) -> bool {
    line.starts_with('=') && line.contains(" =") && line.bytes().all(|byte| matches!(byte, b'=' | b' '))
}

/// Returns a title without markup.
fn strip_markup(title: &str) -> String {
    normalize_heading(&INLINE.replace_all(title, |found: &Captures<'_>| {
        let groups = ["literal", "text", "target", "emphasis", "name", "escaped"];
        let text = groups.iter().find_map(|group| found.name(group)).map_or("", |text| text.as_str());
        let text = if found.name("last").is_some() { text.rsplit('.').next().unwrap_or(text) } else { text };
        text.to_owned()
    }))
}

#[cfg(test)]
mod tests;
