//! Reads the blocks of Terraform and other HCL, and the references to them.

use super::format_names::FormatNames;
use super::terraform_tokens::split_hcl;
use super::tokens::{FormatTokenKind, FormatTokens, LineCounter};
use crate::definitions::tags::TagKind;

/// Endings of files that only set variables.
pub(crate) const VALUE_ENDINGS: [&str; 2] = ["vars", "vars.hcl"];
/// Arguments of a `module` block that are no variables of the module.
const META_ARGUMENTS: [&str; 7] =
    ["source", "version", "providers", "count", "for_each", "depends_on", "provider"];
/// Names at the start of a reference that mean no block.
const BUILTIN_NAMES: [&str; 5] = ["each", "count", "self", "path", "terraform"];
/// Types of blocks whose references begin with the type and have two names: `data.aws_ami.base`.
const NAMED_BY_TWO: [&str; 4] = ["data", "ephemeral", "source", "list"];
/// Most tokens of an index between a module and its output: `module.vpc["a"].id`.
const MOST_INDEX_TOKENS: usize = 12;

/// Returns the blocks and references of a file. A definition of `locals` is named `local.NAME`, a variable `var.NAME`, a resource
/// `TYPE.NAME`, any other block by its type and labels.
pub(super) fn read_names<'a>(path: &str, text: &'a str) -> FormatNames<'a> {
    let list = split_hcl(text);
    let mut reader = BlockReader {
        is_values: VALUE_ENDINGS.iter().any(|ending| path.ends_with(ending)),
        names: FormatNames { comments: list.comments.clone(), ..FormatNames::default() },
        list,
        frames: Vec::new(),
        attribute: "",
        local: None,
        lines: LineCounter::default(),
    };
    reader.read_tokens();
    reader.names.found.sort_uses();
    reader.names
}

/// A block or bracket around the current token.
enum Frame<'a> {
    Block { block_type: &'a str, item: Option<usize> },
    Bracket,
}

struct BlockReader<'a> {
    list: FormatTokens<'a>,
    names: FormatNames<'a>,
    /// Outermost first.
    frames: Vec<Frame<'a>>,
    /// The argument whose value is read.
    attribute: &'a str,
    /// The definition in `locals` whose value is read.
    local: Option<usize>,
    /// Whether the file only sets variables.
    is_values: bool,
    lines: LineCounter,
}

impl<'a> BlockReader<'a> {
    fn read_tokens(&mut self) {
        let mut at = 0;
        let mut begins = true;
        while let Some(token) = self.list.get(at) {
            let kind = token.kind;
            let is_in_block = !matches!(self.frames.last(), Some(Frame::Bracket));
            match kind {
                FormatTokenKind::Word if begins && is_in_block => {
                    (at, begins) = self.read_statement(at);
                    continue;
                }
                FormatTokenKind::Word => {
                    at = self.read_reference(at);
                    begins = false;
                    continue;
                }
                FormatTokenKind::Text => {}
                FormatTokenKind::Mark(b'{' | b'[' | b'(') => self.frames.push(Frame::Bracket),
                FormatTokenKind::Mark(b'}' | b']' | b')') => self.close_frame(at),
                FormatTokenKind::Mark(b'\n') if is_in_block => self.end_local(at),
                FormatTokenKind::Mark(_) => {}
            }
            begins = matches!(kind, FormatTokenKind::Mark(b'\n' | b'}'));
            at += 1;
        }
        while !self.frames.is_empty() {
            self.close_frame(at);
        }
        self.end_local(at);
    }

    /// Reads the head of a block, or the name of an argument; returns the next token, and whether a statement begins there.
    fn read_statement(&mut self, at: usize) -> (usize, bool) {
        let word = self.list.text_at(at);
        let is_label = |at: &usize| {
            self.list
                .get(*at)
                .is_some_and(|token| matches!(token.kind, FormatTokenKind::Word | FormatTokenKind::Text))
        };
        let labels: Vec<usize> = (at + 1..).take_while(is_label).collect();
        let after = at + 1 + labels.len();
        if self.list.is_mark(after, b'{') {
            self.open_block(at, &labels);
            return (after + 1, true);
        }
        let is_set =
            labels.is_empty() && self.list.is_mark(after, b'=') && !self.list.is_mark(after + 1, b'=');
        if !is_set {
            return (self.read_reference(at), false);
        }
        self.attribute = word;
        self.read_attribute(at);
        (after + 1, false)
    }

    fn open_block(&mut self, at: usize, labels: &[usize]) {
        let block_type = self.list.text_at(at);
        let mut item = None;
        if self.frames.is_empty() && !labels.is_empty() {
            let texts: Vec<&'a str> = labels.iter().map(|label| self.list.text_at(*label)).collect();
            let own = texts[texts.len() - 1];
            let labels = texts.join(".");
            let title = match (block_type, texts.len()) {
                ("resource", 2) => labels,
                ("variable", 1) => format!("var.{labels}"),
                _ => format!("{block_type}.{labels}"),
            };
            let kind = match block_type {
                "variable" | "output" => TagKind::Constant,
                _ => TagKind::Struct,
            };
            let start = self.list.tokens[at].bytes.start;
            item = self.add_item(kind, own, title, start);
        }
        self.frames.push(Frame::Block { block_type, item });
    }

    /// Adds a definition whose end is not yet known.
    fn add_item(&mut self, kind: TagKind, name: &'a str, title: String, start: usize) -> Option<usize> {
        let n_before = self.names.items.len();
        // The label of a provider in a lock file is an address.
        if !name.contains('/') {
            self.names.add_item(kind, name, title, start..start);
        }
        (self.names.items.len() > n_before).then_some(n_before)
    }

    fn close_frame(&mut self, at: usize) {
        self.attribute = if self.frames.len() > 1 { self.attribute } else { "" };
        if let Some(Frame::Block { item, .. }) = self.frames.pop() {
            self.end_local(at);
            if let Some(item) = item {
                self.names.items[item].node.end = self.list.end_of(at);
            }
        }
    }

    /// Ends the definition in `locals` that is being read before a token.
    fn end_local(&mut self, at: usize) {
        if let Some(item) = self.local.take() {
            self.names.items[item].node.end = self.list.end_of(at.saturating_sub(1));
        }
    }

    /// Records the argument that begins at a token.
    fn read_attribute(&mut self, at: usize) {
        let token = self.list.tokens[at].bytes.clone();
        let (name, text) = (self.attribute, self.list.text);
        let (block_type, item) = match self.frames.as_slice() {
            [] if self.is_values => ("variables", None),
            [Frame::Block { block_type, item }] => (*block_type, *item),
            _ => return,
        };
        let value = at + 2;
        match block_type {
            "locals" => {
                self.end_local(at);
                self.local = self.add_item(TagKind::Constant, name, format!("local.{name}"), token.start);
            }
            "variables" => self.names.found.add_format_use(text, token, Some("var".to_owned()), false),
            "module" => {
                let Some(title) = item.map(|item| self.names.items[item].title.clone()) else { return };
                let source = self.list.text_at(value);
                if name == "source" && (source.starts_with("./") || source.starts_with("../")) {
                    let line = self.lines.line_at(text, token.start);
                    self.names.found.add_format_import(&title, source, line);
                } else if !META_ARGUMENTS.contains(&name) {
                    self.names.found.add_format_use(text, token, Some(format!("var@{title}")), false);
                }
            }
            "provider" if name == "alias" => {
                let is_text = self.list.get(value).is_some_and(|token| token.kind == FormatTokenKind::Text);
                let alias = self.list.text_at(value);
                if let Some(item) = item.map(|item| &mut self.names.items[item]).filter(|_| is_text) {
                    item.title = format!("{}.{alias}", item.title);
                    item.names = vec![alias];
                }
            }
            _ => {}
        }
    }

    /// Reads a reference such as `aws_s3_bucket.logs.id`; returns the next token.
    fn read_reference(&mut self, at: usize) -> usize {
        let mut parts = vec![at];
        let mut next = at + 1;
        while self.list.is_mark(next, b'.') && self.list.word_at(next + 1).is_some() {
            parts.push(next + 1);
            next += 2;
        }
        let first = self.list.text_at(at);
        let is_continued = at > 0 && self.list.is_mark(at - 1, b'.');
        let is_key = parts.len() == 1 && (self.list.is_mark(next, b'=') || self.list.is_mark(next, b':'));
        if is_continued || is_key || BUILTIN_NAMES.contains(&first) {
            return next;
        }
        if matches!(self.attribute, "provider" | "providers") {
            let receiver = if parts.len() > 1 { format!("provider.{first}") } else { "provider".to_owned() };
            self.add_use(parts[parts.len().min(2) - 1], receiver);
            return next;
        }
        match parts.len() {
            1 => {}
            2 if NAMED_BY_TWO.contains(&first) => {}
            n if n > 2 && NAMED_BY_TWO.contains(&first) => {
                let of = self.list.text_at(parts[1]);
                self.add_use(parts[2], format!("{first}.{of}"));
            }
            _ => {
                self.add_use(parts[1], first.to_owned());
                if first == "module" {
                    self.add_output(parts[1], parts.get(2).copied(), next);
                }
            }
        }
        next
    }

    /// Records the use of an output of a module: `module.vpc.id`, `module.vpc[0].id`.
    fn add_output(&mut self, module: usize, output: Option<usize>, next: usize) {
        let module = self.list.text_at(module);
        let output = output.or_else(|| {
            let end = (next..next + MOST_INDEX_TOKENS).find(|at| self.list.is_mark(*at, b']'));
            let end = end.filter(|_| self.list.is_mark(next, b'['))?;
            (self.list.is_mark(end + 1, b'.') && self.list.word_at(end + 2).is_some()).then_some(end + 2)
        });
        if let Some(output) = output {
            self.add_use(output, format!("output@module.{module}"));
        }
    }

    fn add_use(&mut self, at: usize, receiver: String) {
        let bytes = self.list.tokens[at].bytes.clone();
        self.names.found.add_format_use(self.list.text, bytes, Some(receiver), false);
    }
}
