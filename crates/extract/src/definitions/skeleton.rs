//! Renders the signatures of a source file without their bodies.

use std::collections::HashSet;
use std::ops::Range;

use super::outline::{DefinitionItem, DefinitionOutline};
use super::tags::TagKind;

/// Longest map record, in characters.
const MAX_RECORD_CHARS: usize = 6_000;

/// Longest list of symbol names in a map record, in characters.
const MAX_SYMBOL_CHARS: usize = 2_000;

/// Longest signature, in characters.
const MAX_SIGNATURE_CHARS: usize = 300;
/// Number of bytes of a definition that are searched for the end of its signature.
const SIGNATURE_WINDOW: usize = 1_200;

/// Longest piece of documentation, in characters.
const MAX_DOC_CHARS: usize = 200;

/// Returns the map record of a file: its symbol names, then the signatures of its definitions with the
/// first paragraph of their documentation, indented by nesting; at most 6,000 characters, `…` where
/// something was cut.
pub(crate) fn render_skeleton(text: &str, outline: &DefinitionOutline<'_>) -> String {
    let mut record = MapRecord { text: symbol_names(outline), n_chars: 0, is_full: false };
    record.n_chars = record.text.chars().count();
    record.text.push('\n');
    record.add_line(0, &doc_paragraph(text, &outline.file_doc));
    add_siblings(&mut record, text, outline, &outline.roots, 0);
    record.text
}

/// Adds siblings and the definitions in the containers among them; only the first of clauses and overloads of one name.
/// Recursion is as deep as the outline, which is bounded.
fn add_siblings(
    record: &mut MapRecord,
    text: &str,
    outline: &DefinitionOutline<'_>,
    siblings: &[usize],
    depth: usize,
) {
    let mut last_names: &[&str] = &[];
    for item in siblings.iter().map(|id| &outline.items[*id]) {
        if record.is_full {
            return;
        }
        if item.kind == TagKind::Field || !item.kind.is_container() && item.names == last_names {
            continue;
        }
        last_names = &item.names;
        record.add_line(depth, &signature_line(text, item));
        record.add_line(depth + 1, &doc_paragraph(text, &item.docs));
        if item.kind.is_container() {
            add_siblings(record, text, outline, &item.children, depth + 1);
        }
    }
}

struct MapRecord {
    text: String,
    n_chars: usize,
    is_full: bool,
}

impl MapRecord {
    /// Adds a line unless it is empty or the record is full.
    fn add_line(&mut self, depth: usize, line: &str) {
        if self.is_full || line.is_empty() {
            return;
        }
        let n_chars = line.chars().count() + 2 * depth + 1;
        // The last line of a full record is `…`, which shows that something was cut.
        self.is_full = self.n_chars + n_chars + 2 > MAX_RECORD_CHARS;
        self.text.push('\n');
        if self.is_full {
            self.text.push('…');
            return;
        }
        self.n_chars += n_chars;
        self.text.extend(std::iter::repeat_n("  ", depth));
        self.text.push_str(line);
    }
}

fn symbol_names(outline: &DefinitionOutline<'_>) -> String {
    let mut seen = HashSet::new();
    let mut symbols = String::new();
    let is_listed = |item: &&DefinitionItem<'_>| !matches!(item.kind, TagKind::Scope | TagKind::Field);
    let defined = outline.items.iter().filter(is_listed);
    for name in defined.flat_map(|item| &item.names) {
        if seen.insert(*name) {
            if symbols.chars().count() + name.chars().count() > MAX_SYMBOL_CHARS {
                symbols.push_str(" …");
                break;
            }
            if !symbols.is_empty() {
                symbols.push(' ');
            }
            symbols.push_str(name);
        }
    }
    symbols
}

/// Returns the definition up to its body on one line.
fn signature_line(text: &str, item: &DefinitionItem<'_>) -> String {
    let end = item.body.filter(|body| *body > item.node.start).unwrap_or(item.node.end);
    let end = end.min(item.node.start + SIGNATURE_WINDOW);
    let head = &text[item.node.start..text.floor_char_boundary(end)];
    let head = if item.body.is_some() { head } else { first_statement(head) };
    let words: Vec<_> = head.split_whitespace().collect();
    let line = words.join(" ");
    let line = line.trim_end_matches(['{', ':', '=', ' ', ';', ',']).trim_end_matches("=>").trim_end();
    let line = line.strip_suffix(" do").or_else(|| line.strip_suffix(" where")).unwrap_or(line);
    shorten_line(line, MAX_SIGNATURE_CHARS)
}

/// Returns `head` up to the first line end or opening brace outside of parentheses and brackets.
fn first_statement(head: &str) -> &str {
    let mut depth = 0_usize;
    for (at, byte) in head.bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b'{' | b'\n' if depth == 0 => return &head[..at],
            _ => {}
        }
    }
    head.lines().next().unwrap_or_default()
}

/// Returns the first paragraph of a documentation without its comment marks; empty for a licence.
fn doc_paragraph(text: &str, docs: &[Range<usize>]) -> String {
    let mut words: Vec<&str> = Vec::new();
    let lines = docs.iter().filter_map(|bytes| text.get(bytes.clone())).flat_map(str::lines);
    for line in lines.take(40) {
        let line = strip_comment_marks(line);
        let is_tag = line.starts_with('@') || line.starts_with('<') && line.ends_with('>');
        if !words.is_empty() && (line.is_empty() || is_tag) {
            break;
        }
        if !is_tag {
            words.extend(line.split_whitespace());
        }
    }
    let paragraph = words.join(" ");
    let start = shorten_line(&paragraph, 60).to_lowercase();
    let is_licence = ["copyright", "license", "licence", "spdx"].iter().any(|word| start.contains(word));
    if is_licence { String::new() } else { shorten_line(&paragraph, MAX_DOC_CHARS) }
}

/// Returns a line of a comment or docstring without its marks.
fn strip_comment_marks(line: &str) -> &str {
    let line = line.trim();
    let line = line.strip_prefix("@doc").unwrap_or(line).trim_start();
    let is_raw = line.starts_with("r\"") || line.starts_with("R\"");
    let line = if is_raw { &line[1..] } else { line };
    let line = line.trim_start_matches([' ', '/', '*', '!', '#', '-', ';', '|', '{', '"', '\'', '%']);
    line.trim_end_matches(['/', '*', '}', '"', '\'']).trim_end_matches("{-").trim()
}

fn shorten_line(line: &str, max_chars: usize) -> String {
    match line.char_indices().nth(max_chars) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line.to_owned(),
    }
}
