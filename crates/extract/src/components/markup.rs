//! Reads the markup of a component: scripts, elements, comments and texts.
//!
//! Each byte is read once, from the front to the end. Where markup does not end as it should, reading stops, and the rest stays blank.

use std::ops::Range;

use super::component_code::ComponentFormat;
use super::reader::MarkupReader;
use super::tag_names::is_void;
use super::tag_parts::{AttributeValue, ReadTag, Separation};

/// Languages of scripts that the grammar reads; the second list has those with JSX.
const SCRIPT_LANGUAGES: [&[&str]; 2] =
    [&["", "ts", "js", "typescript", "javascript", "babel", "module"], &["tsx", "jsx"]];

impl<'a> MarkupReader<'a> {
    /// Reads the whole file.
    pub(super) fn read_file(&mut self) {
        self.syntax.read_start(self);
        while let Some(found) = self.find_byte(self.at, |byte| matches!(byte, b'<' | b'{')) {
            self.at = found;
            if self.read_next().is_none() {
                break;
            }
        }
        self.at = self.bytes.len();
        while self.is_inside() {
            self.close_innermost();
        }
    }

    /// Reads the tag, comment or expression at the current byte; `None` if it does not end.
    fn read_next(&mut self) -> Option<()> {
        let start = self.at;
        if self.bytes[start] == b'{' {
            return self.syntax.read_braces(self);
        }
        if self.skip_comment(start)? {
            return Some(());
        }
        match self.byte_at(start + 1) {
            b'/' => {
                let name = self.tag_name(start + 2);
                self.at = self.find_text(">", start)? + 1;
                self.close_scope(name);
            }
            byte if byte.is_ascii_alphabetic() || byte == b'>' && self.format == ComponentFormat::Astro => {
                self.read_element(start)?;
            }
            _ => self.at = start + 1,
        }
        Some(())
    }

    /// Reads the tag of an element, and the content of a script; the elements inside are read later.
    fn read_element(&mut self, start: usize) -> Option<()> {
        let tag = self.read_tag(start, Separation::Statements)?;
        let is_top = !self.is_inside();
        match tag.name {
            "script" | "style" => {
                if self.format == ComponentFormat::Astro {
                    // `define:vars={{ … }}`
                    let attributes = tag.attributes.iter();
                    attributes
                        .for_each(|attribute| self.syntax.read_attribute(self, attribute, &mut Vec::new()));
                }
                self.copy.put_separator(self.at - 1, b';');
                return if tag.name == "script" {
                    self.read_script(&tag, is_top)
                } else {
                    self.skip_raw(&tag)
                };
            }
            _ if is_top && self.format == ComponentFormat::Vue => {
                let lang = self.static_value(&tag, "lang");
                if tag.name != "template" || !matches!(lang, "" | "html") {
                    if tag.name == "template" {
                        self.code.unread.push(format!("a template in {lang} is not read"));
                    }
                    return self.skip_raw(&tag);
                }
            }
            _ => {}
        }
        let has_pre =
            |tag: &ReadTag<'a>| tag.attributes.iter().any(|part| self.text_of(&part.name) == "v-pre");
        if self.format == ComponentFormat::Vue && has_pre(&tag) {
            return self.skip_as_text(&tag);
        }
        self.add_tag_use(tag.name, start + 1);
        let mut bound = Vec::new();
        for attribute in &tag.attributes {
            self.syntax.read_attribute(self, attribute, &mut bound);
        }
        self.copy.put_separator(self.at - 1, b';');
        self.open_scope(tag.name, start, bound);
        if tag.is_closed || is_void(tag.name) {
            self.close_innermost();
        }
        Some(())
    }

    fn read_script(&mut self, tag: &ReadTag<'a>, is_top: bool) -> Option<()> {
        let content = self.at;
        if tag.is_closed {
            return Some(());
        }
        let end = self.find_text("</script", content);
        self.at = end.unwrap_or(self.bytes.len());
        let lang = self.static_value(tag, "lang").to_ascii_lowercase();
        let of_type = self.static_value(tag, "type");
        let of_type = of_type.rsplit('/').next().unwrap_or_default();
        let [plain, with_jsx] = SCRIPT_LANGUAGES;
        let is_known = |lang: &str| plain.contains(&lang) || with_jsx.contains(&lang);
        if !is_known(&lang) {
            self.code.unread.push(format!("a script in {lang} is not read"));
        } else if is_known(of_type) && (is_top || self.format != ComponentFormat::Svelte) {
            self.code.has_jsx |= with_jsx.contains(&lang.as_str());
            self.copy.copy_span(content..self.at);
            self.copy.put_mark(self.at, b';');
            if self.format == ComponentFormat::Astro {
                let given =
                    tag.attributes.iter().find(|attribute| self.text_of(&attribute.name) == "define:vars");
                let given = given.map_or("", |given| match &given.value {
                    AttributeValue::Braces(span) => self.text_of(span),
                    _ => "",
                });
                self.code.client_scripts.push((content..self.at, given.to_owned()));
            }
        }
        Some(())
    }

    fn text_of(&self, span: &Range<usize>) -> &'a str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// Skips an element of Vue that has `v-pre`: its attributes and its content are text.
    fn skip_as_text(&mut self, tag: &ReadTag<'a>) -> Option<()> {
        let mut n_open = usize::from(!tag.is_closed && !is_void(tag.name));
        while n_open > 0 {
            let found = self.find_byte(self.at, |byte| byte == b'<')?;
            if self.skip_comment(found)? {
                continue;
            }
            if self.byte_at(found + 1) == b'/' {
                n_open -= usize::from(self.tag_name(found + 2) == tag.name);
                self.at = self.find_text(">", found)? + 1;
            } else if self.tag_name(found + 1) == tag.name {
                n_open += usize::from(!self.read_tag(found, Separation::Statements)?.is_closed);
            } else {
                self.at = found + 1;
            }
        }
        Some(())
    }

    /// Skips the content of an element that is not markup.
    fn skip_raw(&mut self, tag: &ReadTag<'a>) -> Option<()> {
        if tag.is_closed {
            return Some(());
        }
        let end = match tag.name {
            "style" => self.find_text("</style", self.at)?,
            "template" => self.find_text("</template", self.at)?,
            name => self.text.get(self.at..)?.find(&format!("</{name}")).map(|found| self.at + found)?,
        };
        self.at = end;
        Some(())
    }
}
