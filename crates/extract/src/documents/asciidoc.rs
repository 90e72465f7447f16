//! Splits AsciiDoc into sections.
//!
//! Titles are found line by line, as Asciidoctor finds them ("AsciiDoc Language", Section Titles and Levels; Delimited
//! Blocks). Includes are not followed.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::document_lines::DocumentLines;
use super::front_matter::FrontMatter;
use super::sections::{ChunkSize, DocumentOutline, SectionHeading, extract_by_outline, normalize_heading};
use crate::chunks::chunk::Extraction;

/// The comment that excludes a file from the index.
const OPT_OUT: &str = "// vector-index: false";

/// Characters that underline titles, by level.
const UNDERLINES: [u8; 5] = *b"=-~^+";

/// Most levels of titles.
const MOST_LEVELS: usize = 6;

/// Marks that delimit blocks: four or more of one mark, and nothing else, are the first and the last line of a block.
const DELIMITERS: &[u8] = b"-.=*_+/~";

/// Longest value of an attribute that is put into titles, in bytes.
const ATTRIBUTE_BYTES: usize = 200;

/// Matches inline markup and captures the text in it: an anchor or an image, a cross-reference, a link or another macro, a
/// literal, emphasis.
static INLINE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = [
        r"\[\[[^\]]*\]\]|image:[^\s\[]*\[[^\]]*\]",
        r"<<[^>,]*,(?P<reference>[^>]*)>>",
        r"<<#?(?P<target>[^>,]*)>>",
        r"\w+:(?P<macro>[^\s\[]+)\[(?P<words>[^\]]*)\]",
        r"`+\+?(?P<literal>[^`]*?)\+?`+",
        r"\*{1,2}(?P<strong>[^*\s](?:[^*]*[^*\s])?)\*{1,2}",
        r"\b_(?P<emphasis>[^_\s](?:[^_]*[^_\s])?)_\b",
    ];
    Regex::new(&pattern.join("|")).expect("a test runs it")
});

/// A reference to an attribute: `{name}`.
static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{([\w-]+)\}").expect("a test runs it"));

/// Returns the sections of an AsciiDoc document as chunks, each with its heading path.
pub(crate) fn extract(text: &str) -> Extraction {
    let (front_matter, body_start) = FrontMatter::split_front_matter(text);
    let outline = read_outline(text, body_start, ChunkSize::INDEXED.max_chars);
    extract_by_outline(text, body_start, front_matter.as_ref(), &outline, ChunkSize::INDEXED)
}

/// Reads the headings of a text from byte `start` on, and its blocks that fit in `max_chars` characters.
fn read_outline(text: &str, start: usize, max_chars: usize) -> DocumentOutline {
    let lines = DocumentLines::new(text, start);
    let mut reader = AsciiDocReader {
        lines: &lines,
        at: 0,
        attributes: HashMap::new(),
        outline: DocumentOutline::default(),
    };
    let mut blocks = Vec::new();
    reader.read_headings_and_blocks(&mut blocks);
    let mut outline = reader.outline;
    for block in blocks {
        outline.add_block(text, lines.line_start(block.start)..lines.line_start(block.end), max_chars);
    }
    outline
}

/// Reads a document line by line.
struct AsciiDocReader<'a, 'l> {
    lines: &'l DocumentLines<'a>,
    at: usize,
    attributes: HashMap<&'a str, &'a str>,
    outline: DocumentOutline,
}

impl<'a> AsciiDocReader<'a, '_> {
    /// Reads titles, attributes and the comment that excludes the file, and adds delimited blocks to `blocks`.
    fn read_headings_and_blocks(&mut self, blocks: &mut Vec<Range<usize>>) {
        // `head` is the first of the lines above a block that belong to it: anchors, attributes and titles of blocks.
        let (mut head, mut in_paragraph, mut is_discrete) = (None, false, false);
        while self.at < self.lines.len() {
            let (line, first) = (self.lines.trimmed_line(self.at), head.unwrap_or(self.at));
            if let Some((level, title, n_lines)) = self.current_title().filter(|_| !in_paragraph) {
                if !is_discrete {
                    self.add_heading(level, title, first, n_lines);
                }
                self.at += n_lines;
                (head, is_discrete) = (None, false);
            } else if is_delimiter(line) {
                self.at = self.block_end(line);
                blocks.push(first..self.at);
                (head, in_paragraph, is_discrete) = (None, false, false);
            } else {
                let is_head = is_block_attribute(line) || !in_paragraph && is_block_title(line);
                is_discrete |= is_head && (line.starts_with("[discrete") || line.starts_with("[float"));
                let is_comment = line.starts_with("//");
                let is_apart = is_head || is_comment || self.record_attribute(line);
                (head, is_discrete) = if is_head { (Some(first), is_discrete) } else { (None, false) };
                in_paragraph = !line.is_empty() && (in_paragraph || !is_apart) && !is_head;
                self.outline.opted_out |= line == OPT_OUT;
                self.at += 1;
            }
        }
    }

    /// Returns the level, text and number of lines of the title at the current line, if there is one.
    fn current_title(&self) -> Option<(usize, &'a str, usize)> {
        let (line, next) = (self.lines.trimmed_line(self.at), self.lines.trimmed_line(self.at + 1));
        let marks = line.bytes().take_while(|byte| *byte == b'=').count();
        let marks = marks.max(line.bytes().take_while(|byte| *byte == b'#').count());
        if (1..=MOST_LEVELS).contains(&marks) {
            let title = line[marks..].strip_prefix([' ', '\t'])?.trim();
            let closed = title.strip_suffix(&line[..marks]).filter(|title| title.ends_with(' '));
            return Some((marks, closed.unwrap_or(title).trim(), 1))
                .filter(|(_, title, _)| !title.is_empty());
        }
        let mark = *next.as_bytes().first()?;
        let level = UNDERLINES.iter().position(|known| *known == mark)? + 1;
        let is_line = next.len() > 1 && next.bytes().all(|byte| byte == mark);
        let is_as_long = line.chars().count().abs_diff(next.len()) <= 1;
        let is_text = !line.starts_with(['.', ' ', '\t', '[', '|', '/'])
            && line.contains(|c: char| c.is_alphanumeric());
        (is_line && is_as_long && is_text && !is_delimiter(line)).then_some((level, line, 2))
    }

    fn add_heading(&mut self, level: usize, title: &str, first: usize, n_lines: usize) {
        let title = strip_markup(&ATTRIBUTE.replace_all(title, |found: &Captures<'_>| {
            let name = found.get(1).map_or("", |name| name.as_str());
            self.attributes.get(name).copied().unwrap_or(name).to_owned()
        }));
        let bytes = self.lines.line_start(first)..self.lines.line_start(self.at + n_lines);
        self.outline.headings.push(SectionHeading { level, title, bytes });
    }

    /// Records an attribute entry, `:name: value`; returns whether the line is one.
    fn record_attribute(&mut self, line: &'a str) -> bool {
        let entry = line.strip_prefix(':').and_then(|rest| rest.split_once(':'));
        let Some((name, value)) = entry.filter(|(_, value)| value.is_empty() || value.starts_with(' '))
        else {
            return false;
        };
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_!".contains(c));
        if is_name && value.len() <= ATTRIBUTE_BYTES {
            self.attributes.insert(name, value.trim());
        }
        is_name
    }

    /// Returns the line after the block that begins at the current line; a block that is never closed ends with the text.
    fn block_end(&self, delimiter: &str) -> usize {
        let close = if delimiter.starts_with("```") { "```" } else { delimiter };
        (self.at + 1..self.lines.len())
            .find(|line| self.lines.trimmed_line(*line) == close)
            .map_or(self.lines.len(), |line| line + 1)
    }
}

/// Returns whether a line opens a block that an equal line closes.
fn is_delimiter(line: &str) -> bool {
    let Some(mark) = line.as_bytes().first() else { return false };
    match line {
        "--" => true,
        _ if line.starts_with("```") => !line[3..].contains(['`', ' ']),
        _ if line.len() < 4 => false,
        _ if b"|,:!".contains(mark) => line[1..].len() >= 3 && line[1..].bytes().all(|byte| byte == b'='),
        _ => DELIMITERS.contains(mark) && line.bytes().all(|byte| byte == *mark),
    }
}

/// Returns whether a line is an anchor or has attributes of the next block: `[[id]]`, `[source,java]`.
fn is_block_attribute(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']')
}

/// Returns whether a line is the title of the block below it: `.Example`.
fn is_block_title(line: &str) -> bool {
    line.strip_prefix('.').is_some_and(|title| !title.is_empty() && !title.starts_with(['.', ' ', '\t']))
}

/// Returns a title without markup.
fn strip_markup(title: &str) -> String {
    normalize_heading(&INLINE.replace_all(title, |found: &Captures<'_>| {
        let words = ["reference", "target", "literal", "strong", "emphasis"]
            .into_iter()
            .find_map(|name| group_text(found, name));
        words
            .or_else(|| macro_text(group_text(found, "macro")?, group_text(found, "words")?))
            .unwrap_or_default()
            .to_owned()
    }))
}

fn group_text<'t>(found: &Captures<'t>, name: &str) -> Option<&'t str> {
    found.name(name).map(|text| text.as_str())
}

/// Returns the text that a macro shows: its words, as in `xref:guide.adoc[The guide]`, or without words the last part of its
/// target, as `Bean` of `javadoc:org.spring.Bean[]`.
fn macro_text<'t>(target: &'t str, words: &'t str) -> Option<&'t str> {
    let words = words.split(',').next().filter(|_| words.contains('=')).unwrap_or(words);
    if words.is_empty() || words.contains('=') {
        target.rsplit(['.', '/', '#', '$', ':']).next()
    } else {
        Some(words)
    }
}

#[cfg(test)]
mod tests;
