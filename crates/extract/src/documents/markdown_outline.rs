//! Reads the headings of a Markdown document, and the blocks that should not be cut.

use std::ops::Range;

use pulldown_cmark::{Event, OffsetIter, Options, Parser, Tag, TagEnd};

use super::sections::{DocumentOutline, SectionHeading, normalize_heading};

/// Length after which the rest of a heading is not read, in bytes; a heading path shows less.
const HEADING_BYTES: usize = 800;

/// Returns whether HTML has the comment `<!-- vector-index: false -->`.
pub(super) fn opts_out_of_index(html: &str) -> bool {
    html.split("<!--").skip(1).any(|rest| {
        let Some((comment, _)) = rest.split_once("-->") else { return false };
        let words = comment.split_once(':').map(|(key, value)| (key.trim(), value.trim()));
        words == Some(("vector-index", "false"))
    })
}

/// Reads the headings and blocks in the span `bytes` of a document.
pub(super) fn read_outline(text: &str, bytes: Range<usize>, max_chars: usize) -> DocumentOutline {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_HEADING_ATTRIBUTES;
    let (body, body_start) = (&text[bytes.clone()], bytes.start);
    let mut outline = DocumentOutline::default();
    let mut depth = 0_usize;
    let mut events = Parser::new_ext(body, options).into_offset_iter();
    while let Some((event, bytes)) = events.next() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                let title = read_title(&mut events);
                let line_start = body[..bytes.start].rfind('\n').map_or(0, |newline| newline + 1);
                let bytes = body_start + line_start..body_start + bytes.end;
                outline.headings.push(SectionHeading { level: level as usize, title, bytes });
            }
            Event::Start(tag) => {
                depth += usize::from(is_container(&tag));
                match tag {
                    Tag::HtmlBlock => outline.opted_out |= opts_out_of_index(&body[bytes]),
                    Tag::CodeBlock(_) | Tag::Table(_) | Tag::Item => {
                        outline.add_block(text, body_start + bytes.start..body_start + bytes.end, max_chars);
                    }
                    _ => {}
                }
            }
            Event::End(
                TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::FootnoteDefinition,
            ) => {
                depth = depth.saturating_sub(1);
            }
            Event::InlineHtml(html) => outline.opted_out |= opts_out_of_index(&html),
            _ => {}
        }
    }
    outline
}

fn is_container(tag: &Tag<'_>) -> bool {
    matches!(tag, Tag::BlockQuote(_) | Tag::List(_) | Tag::Item | Tag::FootnoteDefinition(_))
}

/// Consumes the events of one heading and returns its plain text.
fn read_title(events: &mut OffsetIter<'_>) -> String {
    let mut title = String::new();
    for (event, _) in events.by_ref() {
        match event {
            Event::End(TagEnd::Heading(_)) => break,
            Event::Text(text) | Event::Code(text) if title.len() < HEADING_BYTES => title.push_str(&text),
            Event::SoftBreak | Event::HardBreak => title.push(' '),
            _ => {}
        }
    }
    normalize_heading(&title)
}
