//! Holds the state of reading a component: the place, the copy, the uses, and the open elements with the names that they bind.

use std::collections::HashMap;
use std::ops::Range;

use super::blank_copy::BlankCopy;
use super::code_end::{CodeScanner, CodeStop};
use super::component_code::{ComponentCode, ComponentFormat, TemplateUse};
use super::patterns::is_name_byte;
use super::tag_names::component_of_tag;
use super::tag_parts::Attribute;

/// Deepest nesting of elements in expressions in elements.
const MAX_DEPTH: usize = 60;
/// The syntax of the templates of a format.
pub(super) trait TemplateSyntax {
    /// Reads what comes before the markup.
    fn read_start(&self, _reader: &mut MarkupReader<'_>) {}
    /// Reads an expression or a block at the current brace; `None` if it does not end.
    fn read_braces(&self, reader: &mut MarkupReader<'_>) -> Option<()>;
    /// Reads an attribute; adds the names that it binds inside of its element.
    fn read_attribute(
        &self,
        reader: &mut MarkupReader<'_>,
        attribute: &Attribute,
        bound: &mut Vec<Range<usize>>,
    );
    /// Reads an element inside of an expression; returns the byte after it.
    fn read_element_in_code(&self, _reader: &mut MarkupReader<'_>, _start: usize) -> Option<usize> {
        None
    }
}

/// An element or block that is open.
struct OpenScope<'a> {
    /// The tag, or the word of a block with its mark: `#each`.
    name: &'a str,
    start: usize,
    bound: Vec<Range<usize>>,
}

/// Reads one file.
pub(super) struct MarkupReader<'a> {
    pub(super) format: ComponentFormat,
    pub(super) syntax: &'static dyn TemplateSyntax,
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) copy: BlankCopy<'a>,
    pub(super) code: ComponentCode,
    pub(super) at: usize,
    open: Vec<OpenScope<'a>>,
    /// The number of open scopes by name.
    n_open: HashMap<&'a str, usize>,
    /// Texts that do not occur in the rest of the file.
    absent: Vec<&'static str>,
    depth: usize,
}

impl<'a> MarkupReader<'a> {
    pub(super) fn new(format: ComponentFormat, syntax: &'static dyn TemplateSyntax, text: &'a str) -> Self {
        Self {
            format,
            syntax,
            text,
            bytes: text.as_bytes(),
            copy: BlankCopy::new(text),
            code: ComponentCode::default(),
            at: 0,
            open: Vec::new(),
            n_open: HashMap::new(),
            absent: Vec::new(),
            depth: 0,
        }
    }

    /// Returns what was read.
    pub(super) fn into_code(mut self) -> ComponentCode {
        self.code.text = self.copy.into_text();
        self.code.uses.sort_by_key(|used| used.at);
        self.code
    }

    /// Copies the code in braces that begins at a byte, and goes on after the closing brace; returns the span of the code.
    pub(super) fn read_code(&mut self, start: usize) -> Option<Range<usize>> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let mut scanner = CodeScanner::new(self.format == ComponentFormat::Astro);
        let mut from = start;
        let end = loop {
            match scanner.next_stop(self.bytes, from) {
                CodeStop::Close(end) => break end,
                CodeStop::Tag(tag) => {
                    self.copy.copy_span(from..tag);
                    from = self.syntax.read_element_in_code(self, tag)?;
                }
                CodeStop::End => return None,
            }
        };
        self.copy.copy_span(from..end);
        self.at = end + 1;
        self.depth -= 1;
        Some(start..end)
    }

    /// Makes copied code in braces a block of its own.
    pub(super) fn mark_block(&mut self, inner: &Range<usize>) {
        self.copy.put_mark(inner.start - 1, b'{');
        self.copy.put_mark(inner.end, b'}');
    }

    /// Makes copied code between two marks a statement of its own that is an expression.
    pub(super) fn mark_expression(&mut self, inner: &Range<usize>) {
        if let Some(before) = inner.start.checked_sub(2) {
            self.copy.put_separator(before, b';');
        }
        // A value without quotes may end at the end of its line.
        if !matches!(self.byte_at(inner.end), b'\n' | b'\r') {
            self.copy.put_mark(inner.start - 1, b'(');
            self.copy.put_mark(inner.end, b')');
        }
    }

    /// Skips a comment at a byte; returns whether there was one.
    pub(super) fn skip_comment(&mut self, start: usize) -> Option<bool> {
        let is_comment = self.bytes[start..].starts_with(b"<!--");
        if is_comment {
            self.at = self.find_text("-->", start + 4)? + 3;
        }
        Some(is_comment)
    }

    /// Records a tag as a use of its component.
    pub(super) fn add_tag_use(&mut self, tag: &str, at: usize) {
        match tag.rsplit_once('.') {
            Some((receiver, name)) => {
                self.add_use(name.to_owned(), at + receiver.len() + 1, Some(receiver), false);
            }
            None => {
                if let Some(name) = component_of_tag(self.format, tag) {
                    self.add_use(name, at, None, false);
                }
            }
        }
    }

    pub(super) fn add_use(&mut self, name: String, at: usize, receiver: Option<&str>, is_call: bool) {
        if !name.is_empty() {
            self.code.uses.push(TemplateUse { name, at, receiver: receiver.map(str::to_owned), is_call });
        }
    }

    /// Records a path of names such as `save` or `form.save` as a use of its last name; returns whether the span is one.
    pub(super) fn add_path_use(&mut self, span: &Range<usize>, is_call: bool) -> bool {
        let written = self.text.get(span.clone()).unwrap_or_default();
        let path = written.trim();
        let is_path = path.split('.').all(|part| {
            !part.starts_with(|c: char| c.is_ascii_digit())
                && !part.is_empty()
                && part.bytes().all(is_name_byte)
        });
        if is_path {
            let start = span.start + written.len() - written.trim_start().len();
            let (receiver, name) =
                path.rsplit_once('.').map_or((None, path), |(before, name)| (Some(before), name));
            self.add_use(name.to_owned(), start + path.len() - name.len(), receiver, is_call);
        }
        is_path
    }

    pub(super) fn open_scope(&mut self, name: &'a str, start: usize, bound: Vec<Range<usize>>) {
        *self.n_open.entry(name).or_default() += 1;
        self.open.push(OpenScope { name, start, bound });
    }

    /// Returns whether the current place is inside of an element or block.
    pub(super) fn is_inside(&self) -> bool {
        !self.open.is_empty()
    }

    /// Binds names until the innermost element or block ends.
    pub(super) fn bind_in_scope(&mut self, names: Vec<Range<usize>>) {
        match self.open.last_mut() {
            Some(scope) => scope.bound.extend(names),
            None => self.code.bound.extend(names.into_iter().map(|name| (name, 0..self.bytes.len()))),
        }
    }

    /// Closes the innermost scope of this name and those inside of it; does nothing if there is none.
    pub(super) fn close_scope(&mut self, name: &str) {
        while self.n_open.get(name).is_some_and(|n_open| *n_open > 0) {
            if self.close_innermost() == Some(name) {
                break;
            }
        }
    }

    pub(super) fn close_innermost(&mut self) -> Option<&'a str> {
        let scope = self.open.pop()?;
        if let Some(n_open) = self.n_open.get_mut(scope.name) {
            *n_open -= 1;
        }
        let bytes = scope.start..self.at;
        self.code.bound.extend(scope.bound.into_iter().map(|name| (name, bytes.clone())));
        Some(scope.name)
    }

    /// Returns the name of the tag that begins at a byte.
    pub(super) fn tag_name(&self, start: usize) -> &'a str {
        let is_end =
            |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/' | b'<' | b'{' | b'=' | b'"');
        let rest = &self.bytes[start.min(self.bytes.len())..];
        let end = rest.iter().position(is_end).unwrap_or(rest.len());
        self.text.get(start..start + end).unwrap_or_default()
    }

    pub(super) fn byte_at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or_default()
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.byte_at(self.at).is_ascii_whitespace() {
            self.at += 1;
        }
    }

    pub(super) fn find_byte(&self, from: usize, is_it: impl Fn(u8) -> bool) -> Option<usize> {
        let rest = self.bytes.get(from..)?;
        rest.iter().position(|byte| is_it(*byte)).map(|found| from + found)
    }

    /// Returns the next byte at which a text begins. A text that was not found once is not searched for again.
    pub(super) fn find_text(&mut self, wanted: &'static str, from: usize) -> Option<usize> {
        if self.absent.contains(&wanted) {
            return None;
        }
        let found = self.text.get(from..).and_then(|rest| rest.find(wanted)).map(|found| from + found);
        if found.is_none() {
            self.absent.push(wanted);
        }
        found
    }
}
