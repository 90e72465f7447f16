//! Reads the markup of a component: scripts, elements, comments and texts.
//!
//! Each byte is read once, from the front to the end. Where markup does not end as it should, reading stops, and the rest stays blank.

use super::component_code::ComponentFormat;
use super::reader::MarkupReader;
use super::tag_names::is_void;
use super::tag_parts::{ReadTag, Separation};

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
