//! Reads the front matter, the expressions and the attributes of Astro, whose expressions may have elements.

use std::ops::Range;

use super::reader::{MarkupReader, TemplateSyntax};
use super::tag_names::is_void;
use super::tag_parts::{Attribute, AttributeValue, Separation};

/// The templates of Astro.
pub(super) struct AstroSyntax;

impl TemplateSyntax for AstroSyntax {
    fn read_braces(&self, reader: &mut MarkupReader<'_>) -> Option<()> {
        read_text_expression(reader)
    }

    fn read_attribute(
        &self,
        reader: &mut MarkupReader<'_>,
        attribute: &Attribute,
        _bound: &mut Vec<Range<usize>>,
    ) {
        mark_attribute(reader, attribute, Separation::Statements);
    }

    fn read_start(&self, reader: &mut MarkupReader<'_>) {
        read_front_matter(reader);
    }

    fn read_element_in_code(&self, reader: &mut MarkupReader<'_>, start: usize) -> Option<usize> {
        read_element_in_code(reader, start)
    }
}

/// Copies the script between the lines `---` at the start of the file.
fn read_front_matter(reader: &mut MarkupReader<'_>) {
    let text = reader.text.trim_start_matches('\u{feff}').trim_start();
    if !text.starts_with("---") {
        return;
    }
    let start = reader.text.len() - text.len() + 3;
    let end = reader.find_text("\n---", start);
    reader.copy.copy_span(start..end.unwrap_or(reader.text.len()));
    reader.at = end.map_or(reader.text.len(), |end| end + 4);
    if let Some(end) = end {
        reader.copy.put_mark(end + 1, b';');
    }
}

/// Reads an expression in a text.
fn read_text_expression(reader: &mut MarkupReader<'_>) -> Option<()> {
    let inner = reader.read_code(reader.at + 1)?;
    reader.mark_block(&inner);
    Some(())
}

/// Separates the expression of an attribute from those around it.
fn mark_attribute(reader: &mut MarkupReader<'_>, attribute: &Attribute, separation: Separation) {
    match (&attribute.value, separation) {
        (AttributeValue::Braces(inner), Separation::List) => {
            reader.copy.put_separator(inner.start.saturating_sub(2), b',');
            reader.copy.put_mark(inner.end, b',');
        }
        (AttributeValue::Braces(inner), Separation::Statements) if attribute.name.is_empty() => {
            let code = reader.text.get(inner.clone()).unwrap_or_default();
            let start = inner.start + code.len() - code.trim_start().len();
            if code.trim_start().starts_with("...") {
                reader.copy.blank_span(start..start + 3);
            }
            reader.copy.put_separator(inner.start.saturating_sub(2), b';');
            reader.mark_block(inner);
        }
        (AttributeValue::Braces(inner), Separation::Statements)
            if reader.text.get(inner.clone()).is_some_and(|code| !code.trim().is_empty()) =>
        {
            reader.mark_expression(inner);
        }
        (AttributeValue::Template(span), separation) => {
            let mark = if separation == Separation::List { b',' } else { b';' };
            reader.copy.copy_span(span.clone());
            reader.copy.put_separator(span.start - 1, mark);
            reader.copy.put_separator(span.end, mark);
        }
        _ => {}
    }
}

/// Reads an element inside of an expression as a list of the expressions in it; returns the byte after the element.
fn read_element_in_code(reader: &mut MarkupReader<'_>, start: usize) -> Option<usize> {
    reader.copy.put_mark(start, b'[');
    let (mut at, mut n_open) = (start, 0_usize);
    loop {
        let found = reader.find_byte(at, |byte| matches!(byte, b'<' | b'{'))?;
        if reader.bytes[found] == b'{' {
            let inner = reader.read_code(found + 1)?;
            reader.copy.put_mark(inner.end, b',');
            at = reader.at;
            continue;
        }
        if reader.byte_at(found + 1) == b'/' {
            at = reader.find_text(">", found)? + 1;
            n_open = n_open.saturating_sub(1);
            if n_open == 0 {
                reader.copy.put_mark(found, b']');
                return Some(at);
            }
            continue;
        }
        let is_closed = reader.skip_comment(found)? || !read_tag_in_code(reader, found)?;
        at = reader.at;
        n_open += usize::from(!is_closed);
        if n_open == 0 {
            reader.copy.put_mark(at - 1, b']');
            return Some(at);
        }
    }
}

/// Reads a tag inside of an expression; returns whether its element goes on.
fn read_tag_in_code(reader: &mut MarkupReader<'_>, start: usize) -> Option<bool> {
    let next = reader.byte_at(start + 1);
    if !next.is_ascii_alphabetic() && next != b'>' {
        reader.at = start + 1; // a `<` in a text
        return Some(false);
    }
    let tag = reader.read_tag(start, Separation::List)?;
    reader.add_tag_use(tag.name, start + 1);
    for attribute in &tag.attributes {
        mark_attribute(reader, attribute, Separation::List);
    }
    if matches!(tag.name, "script" | "style") && !tag.is_closed {
        let end = if tag.name == "style" { "</style" } else { "</script" };
        reader.at = reader.find_text(end, reader.at)?;
        return Some(true);
    }
    Some(!tag.is_closed && !is_void(tag.name))
}
