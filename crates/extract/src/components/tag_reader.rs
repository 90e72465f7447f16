//! Reads the tags of markup with their attributes.

use super::component_code::ComponentFormat;
use super::reader::MarkupReader;
use super::tag_parts::{Attribute, AttributeValue, ReadTag, Separation};

/// Most attributes that are read of one tag.
const MAX_ATTRIBUTES: usize = 2_000;

impl<'a> MarkupReader<'a> {
    /// Reads a tag from its `<` to its `>`. What is in braces is copied.
    pub(super) fn read_tag(&mut self, start: usize, separation: Separation) -> Option<ReadTag<'a>> {
        let name = self.tag_name(start + 1);
        self.at = start + 1 + name.len();
        let mut attributes = Vec::new();
        loop {
            self.skip_blanks();
            match *self.bytes.get(self.at)? {
                b'>' => {
                    self.at += 1;
                    return Some(ReadTag { name, attributes, is_closed: false });
                }
                b'/' if self.byte_at(self.at + 1) == b'>' => {
                    self.at += 2;
                    return Some(ReadTag { name, attributes, is_closed: true });
                }
                b'/' if self.format != ComponentFormat::Vue
                    && matches!(self.byte_at(self.at + 1), b'/' | b'*') =>
                {
                    // A comment between attributes.
                    let end = if self.byte_at(self.at + 1) == b'/' { "\n" } else { "*/" };
                    self.at = self.find_text(end, self.at)? + end.len();
                }
                _ if attributes.len() >= MAX_ATTRIBUTES => return None,
                _ => attributes.push(self.read_attribute(separation)?),
            }
        }
    }

    fn read_attribute(&mut self, separation: Separation) -> Option<Attribute> {
        let start = self.at;
        let has_braces = self.format != ComponentFormat::Vue;
        if has_braces && self.bytes[start] == b'{' {
            let inner = self.read_code(start + 1)?;
            return Some(Attribute { name: start..start, value: AttributeValue::Braces(inner) });
        }
        let is_end = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'=' | b'>');
        let mut end = start + 1;
        while self
            .bytes
            .get(end)
            .is_some_and(|byte| !(is_end(*byte) || *byte == b'/' && self.byte_at(end + 1) == b'>'))
        {
            end += 1;
        }
        self.at = end;
        let name = start..end;
        self.skip_blanks();
        if self.byte_at(self.at) != b'=' {
            return Some(Attribute { name, value: AttributeValue::None });
        }
        self.at += 1;
        self.skip_blanks();
        let from = self.at;
        let value = match *self.bytes.get(from)? {
            quote @ (b'"' | b'\'') => self.read_quoted(from, quote, separation)?,
            b'{' if has_braces => AttributeValue::Braces(self.read_code(from + 1)?),
            b'`' if self.format == ComponentFormat::Astro => {
                self.at = self.find_text("`", from + 1)? + 1;
                AttributeValue::Template(from..self.at)
            }
            _ => {
                let end = self.find_byte(from, |byte| byte.is_ascii_whitespace() || byte == b'>')?;
                self.at = end;
                AttributeValue::Bare(from..end)
            }
        };
        Some(Attribute { name, value })
    }

    /// Reads a value in quotes. In Svelte, it may have expressions; a value that is one expression counts as that.
    fn read_quoted(&mut self, start: usize, quote: u8, separation: Separation) -> Option<AttributeValue> {
        let mark = if quote == b'"' { "\"" } else { "'" };
        if self.format != ComponentFormat::Svelte {
            let end = self.find_text(mark, start + 1)?;
            self.at = end + 1;
            return Some(AttributeValue::Quoted(start + 1..end));
        }
        self.at = start + 1;
        loop {
            let next = self.find_byte(self.at, |byte| byte == quote || byte == b'{')?;
            if self.bytes[next] == quote {
                self.at = next + 1;
                return Some(AttributeValue::Quoted(start + 1..next));
            }
            let inner = self.read_code(next + 1)?;
            if next == start + 1 && self.byte_at(self.at) == quote {
                self.at += 1;
                return Some(AttributeValue::Braces(inner));
            }
            self.copy.put_separator(next - 1, b';');
            self.mark_block(&inner);
            debug_assert!(separation == Separation::Statements, "only Astro has lists");
        }
    }

    /// Returns the text of an attribute without an expression; empty if the tag has none of that name.
    pub(super) fn static_value(&self, tag: &ReadTag<'a>, name: &str) -> &'a str {
        let found =
            tag.attributes.iter().find(|attribute| self.text.get(attribute.name.clone()) == Some(name));
        match found.map(|attribute| &attribute.value) {
            Some(AttributeValue::Quoted(span) | AttributeValue::Bare(span)) => {
                self.text.get(span.clone()).unwrap_or_default()
            }
            _ => "",
        }
    }
}
