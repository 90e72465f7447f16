//! Reads the headings of a Markdown document, and the blocks that should not be cut.

use std::ops::Range;

use pulldown_cmark::{Event, OffsetIter, Options, Parser, Tag, TagEnd};

use super::cut::{self, Rank, TEARS};

/// Longest heading in a heading path, in characters: a hostile one would be repeated for each section below it.
const HEADING_CHARS: usize = 200;

/// Tells whether HTML holds the comment `<!-- vector-index: false -->`.
pub(super) fn has_opt_out(html: &str) -> bool {
    html.split("<!--").skip(1).any(|rest| {
        let Some((comment, _)) = rest.split_once("-->") else { return false };
        let words = comment.split_once(':').map(|(key, value)| (key.trim(), value.trim()));
        words == Some(("vector-index", "false"))
    })
}

/// A heading outside every quote and list.
#[derive(Debug)]
pub(super) struct Heading {
    /// 1 to 6.
    pub(super) level: u8,
    /// Its plain text.
    pub(super) title: String,
    /// From the start of its first line to the end of its last.
    pub(super) bytes: Range<usize>,
}

/// What the parser says of one document; all offsets are of the whole text.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// In the order of the text.
    pub(super) headings: Vec<Heading>,
    /// Code blocks, tables and list items that fit in one chunk; ascending, none within another.
    atoms: Vec<Range<usize>>,
    /// Whether a comment asks not to index the document.
    pub(super) opted_out: bool,
}

impl Outline {
    /// Parses the body of a document, which begins at `body_start` of the text.
    pub(super) fn read(body: &str, body_start: usize, max_chars: usize) -> Self {
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_HEADING_ATTRIBUTES;
        let mut outline = Self::default();
        let mut depth = 0_usize;
        let mut events = Parser::new_ext(body, options).into_offset_iter();
        while let Some((event, bytes)) = events.next() {
            match event {
                Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                    let title = heading_title(&mut events);
                    let line_start = body[..bytes.start].rfind('\n').map_or(0, |newline| newline + 1);
                    let bytes = body_start + line_start..body_start + bytes.end;
                    outline.headings.push(Heading { level: level as u8, title, bytes });
                }
                Event::Start(tag) => {
                    depth += usize::from(is_container(&tag));
                    outline.note_block(&tag, body, bytes, body_start, max_chars);
                }
                Event::End(
                    TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::FootnoteDefinition,
                ) => {
                    depth = depth.saturating_sub(1);
                }
                Event::InlineHtml(html) => outline.opted_out |= has_opt_out(&html),
                _ => {}
            }
        }
        outline
    }

    fn note_block(
        &mut self,
        tag: &Tag<'_>,
        body: &str,
        bytes: Range<usize>,
        body_start: usize,
        max_chars: usize,
    ) {
        match tag {
            Tag::HtmlBlock => self.opted_out |= has_opt_out(&body[bytes]),
            Tag::CodeBlock(_) | Tag::Table(_) | Tag::Item => {
                let is_outside = self.atoms.last().is_none_or(|last| body_start + bytes.start >= last.end);
                if is_outside && fits(body[bytes.clone()].trim_end(), max_chars) {
                    self.atoms.push(body_start + bytes.start..body_start + bytes.end);
                }
            }
            _ => {}
        }
    }

    /// Returns how good a cut before `line_start` is.
    pub(super) fn rank(&self, text: &str, line_start: usize) -> Rank {
        let next = self.atoms.partition_point(|atom| atom.start < line_start);
        let is_inside = next > 0 && line_start < self.atoms[next - 1].end;
        if is_inside { TEARS } else { cut::line_rank(text, line_start) }
    }
}

fn is_container(tag: &Tag<'_>) -> bool {
    matches!(tag, Tag::BlockQuote(_) | Tag::List(_) | Tag::Item | Tag::FootnoteDefinition(_))
}

fn fits(text: &str, max_chars: usize) -> bool {
    text.len() <= max_chars || text.chars().nth(max_chars).is_none()
}

/// Consumes the events of one heading and returns its plain text, blanks collapsed.
fn heading_title(events: &mut OffsetIter<'_>) -> String {
    let mut title = String::new();
    for (event, _) in events.by_ref() {
        match event {
            Event::End(TagEnd::Heading(_)) => break,
            Event::Text(text) | Event::Code(text) if title.len() < 4 * HEADING_CHARS => title.push_str(&text),
            Event::SoftBreak | Event::HardBreak => title.push(' '),
            _ => {}
        }
    }
    let words: Vec<_> = title.split_whitespace().collect();
    words.join(" ").chars().take(HEADING_CHARS).collect()
}
