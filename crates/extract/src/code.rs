//! Extracts definitions and their chunks from source code.
//!
//! The chunks cover the whole text except blanks and closing brackets. They do not overlap, apart from the map record, which
//! spans the whole file.

pub(crate) mod http_routes;

use std::ops::Range;

use memod_base::types::ChunkKind;
use tree_sitter::Node;

use self::http_routes::find_routes;
use super::lang::{self, Language};
use super::structure;
use crate::c_family::ReadableCode;
use crate::chunks::chunk::{CHUNK_CHARS, Chunk, Extraction};
use crate::chunks::cut_text::{LineIndex, cut_text, trim_blank_lines};
use crate::chunks::plain_text::{is_minified, is_minified_code};
use crate::components::component_name::component_name;
use crate::components::{ComponentFormat, read_component};
use crate::definitions::hash_definitions::hash_definitions;
use crate::definitions::outline::{DefinitionItem, DefinitionOutline, nest_tags};
use crate::definitions::skeleton::render_skeleton;
use crate::definitions::tags::TagKind;

/// Largest text that is parsed, in bytes; the caller refuses larger files anyway.
const MAX_PARSED_BYTES: usize = 2 << 20;

/// Largest component that is parsed although it has a line over 10,000 bytes.
const MAX_LONG_MARKUP_BYTES: usize = 256 << 10;

/// Longest text after the last definition of a container that is added to the chunk before it, in bytes: `}  // namespace x`.
const SHORT_TAIL_BYTES: usize = 80;

/// Extracts the chunks, the definitions and the used names of a source file.
///
/// A text that cannot be parsed within the limits of time and depth is cut by lines instead, and `problems` has the reason.
/// Minified text is never parsed.
pub(crate) fn extract(language: &'static Language, path: &str, text: &str) -> Extraction {
    let language = lang::refine_language(language, path, text);
    let format = ComponentFormat::from_language(language.name);
    let component = format.map(|format| (read_component(format, text), component_name(path)));
    // Markup may have long lines, such as the path of an icon, beside code that is not minified.
    let minified = match &component {
        Some((component, _)) if text.len() <= MAX_LONG_MARKUP_BYTES => is_minified_code(&component.text),
        _ => is_minified(text),
    };
    let mut extracted = Extraction { minified, ..Extraction::default() };
    if minified && component.is_some() {
        extracted.problems.push("a line has over 10,000 bytes, so the component is not read".to_owned());
    }
    let mut writer = ChunkWriter { text, lines: LineIndex::new(text), items: &[], chunks: Vec::new() };
    if extracted.minified || text.len() > MAX_PARSED_BYTES {
        writer.write_plain(0..text.len(), None);
        extracted.chunks = writer.chunks;
        return extracted;
    }
    let mut found = Vec::new();
    let mut walked = None;
    let code = ReadableCode::prepare_text(language.name, text);
    let readable = component.as_ref().map_or(&*code.text, |(component, _)| &component.text);
    let parsed_as = lang::language_of_component(language, component.as_ref().map(|(component, _)| component));
    let tags = parsed_as.tag_query().and_then(|query| {
        let tags = query.collect_tags(text, readable, |root: Node<'_>| {
            found = find_routes(language.name, path, text, &writer.lines, root);
            walked = match parsed_as.node_marks() {
                Some(marks) => Some(structure::walk_tree(marks, text, root, format)),
                None => structure::walk_names(language.name, text, root),
            };
        });
        tags.map_err(|e| e.to_string())
    });
    if let Some(walked) = &mut walked {
        walked.add_token_uses(&code, text);
        if let Some((component, name)) = &component {
            walked.add_component(component, name, text);
        }
    }
    match tags {
        Ok(mut tags) => {
            code.complete_tags(text, &mut tags);
            extracted.routes = found;
            if let Some((component, _)) = &component {
                component.complete_tags(text, &mut tags);
            }
            let mut outline = nest_tags(text, &tags, language.separator);
            if let Some((_, name)) = component.as_ref().filter(|(_, name)| !name.is_empty()) {
                outline.enclose_in_component(name, text.trim_end().len(), language.separator);
            }
            extracted.definitions = hash_definitions(text, &outline, &writer.lines);
            let walked = walked.map(|walk| walk.into_structure(&outline, &writer.lines, text));
            extracted.structure = walked.unwrap_or_default();
            extracted.structure.lacks_definitions = tags.is_partial;
            extracted.chunks = write_chunks(writer, &outline);
            extracted.references = tags.uses;
            extracted.problems = tags.problems;
        }
        Err(problem) => {
            writer.write_plain(0..text.len(), None);
            extracted.chunks = writer.chunks;
            extracted.problems.push(problem);
        }
    }
    extracted
}

/// Extracts the chunks, definitions and uses of a text whose definitions and uses are known.
pub(crate) fn extract_outline<'a>(
    text: &'a str,
    outline: &'a DefinitionOutline<'a>,
    found: structure::FoundNames<'a>,
) -> Extraction {
    let writer = ChunkWriter { text, lines: LineIndex::new(text), items: &[], chunks: Vec::new() };
    Extraction {
        references: found.count_uses(),
        definitions: hash_definitions(text, outline, &writer.lines),
        structure: found.into_structure(outline, &writer.lines, text),
        chunks: write_chunks(writer, outline),
        ..Extraction::default()
    }
}

fn write_chunks<'a>(mut writer: ChunkWriter<'a, 'a>, outline: &'a DefinitionOutline<'a>) -> Vec<Chunk> {
    let text = writer.text;
    let whole = 0..text.len();
    if outline.items.iter().any(|item| !matches!(item.kind, TagKind::Scope | TagKind::Field)) {
        let lines = writer.lines.line_span(&whole);
        let text = Some(render_skeleton(text, outline));
        let map = Chunk {
            kind: ChunkKind::Map,
            bytes: whole.clone(),
            lines,
            symbol: None,
            title: None,
            keywords: None,
            text,
        };
        writer.chunks.push(map);
    }
    writer.items = &outline.items;
    let roots = writer.without_fields(&outline.roots);
    writer.write_children(whole, &roots, None);
    writer.chunks
}

/// Writes the chunks of one text in order.
struct ChunkWriter<'a, 'o> {
    text: &'a str,
    lines: LineIndex,
    items: &'o [DefinitionItem<'a>],
    chunks: Vec<Chunk>,
}

impl<'o> ChunkWriter<'_, 'o> {
    /// Writes the sibling definitions in `span` and the text between them; `owner` is the definition around them. Recursion
    /// is as deep as the outline, which is bounded.
    fn write_children(
        &mut self,
        span: Range<usize>,
        siblings: &[usize],
        owner: Option<&'o DefinitionItem<'o>>,
    ) {
        let mut at = span.start;
        let mut rest = siblings;
        while let Some(first) = rest.first() {
            let n_together = self.count_siblings_in_chunk(rest);
            let (together, later) = rest.split_at(n_together);
            let start = self.items[*first].span.start.max(at);
            let head = at..start;
            // The line `impl X {` says little alone, so it is written with the first definition inside.
            let is_head = at == span.start;
            let is_folded = is_head && owner.is_some_and(|owner| self.is_short_scope_head(owner, &head));
            if !is_folded {
                self.write_gap(head, owner, is_head);
            }
            let end = self.items[together[n_together - 1]].span.end.min(span.end);
            let bytes = if is_folded { at } else { start }..end.max(start);
            at = bytes.end;
            self.write_definitions(bytes, together);
            rest = later;
        }
        self.write_tail(at..span.end, owner);
    }

    /// Writes one definition with its inner definitions, or several short definitions as one chunk.
    fn write_definitions(&mut self, bytes: Range<usize>, ids: &[usize]) {
        let items = self.items;
        let (first, last) = (&items[ids[0]], &items[ids[ids.len() - 1]]);
        if ids.len() == 1 {
            let inner = self.inner_definitions(first, &bytes);
            match first.kind {
                _ if !inner.is_empty() => self.write_children(bytes, &inner, Some(first)),
                TagKind::Scope => self.write_plain(bytes, Some(&first.title)),
                _ => self.write_symbol(bytes, &first.joined_names(), &first.title),
            }
            return;
        }
        let defined = ids.iter().map(|id| &items[*id]).filter(|item| item.kind != TagKind::Scope);
        let mut names: Vec<&str> = defined.flat_map(|item| &item.names).copied().collect();
        names.dedup();
        let is_one = first.names == last.names;
        let title =
            if is_one { first.title.clone() } else { format!("{} … {}", first.title, last.joined_names()) };
        self.write_symbol(bytes, &names.join(" "), &title);
    }

    /// Returns the definitions inside `item` that get chunks of their own.
    fn inner_definitions(&self, item: &DefinitionItem<'_>, bytes: &Range<usize>) -> Vec<usize> {
        if item.kind.is_container() {
            return self.without_fields(&item.children);
        }
        if self.fits_chunk(bytes) || item.kind == TagKind::Type {
            return Vec::new();
        }
        item.children
            .iter()
            .filter(|id| !matches!(self.items[**id].kind, TagKind::Constant | TagKind::Type | TagKind::Field))
            .copied()
            .collect()
    }

    /// Returns the items that are no fields. Fields have no chunks of their own: they are found with their type.
    fn without_fields(&self, ids: &[usize]) -> Vec<usize> {
        ids.iter().filter(|id| self.items[**id].kind != TagKind::Field).copied().collect()
    }

    /// Returns the number of leading siblings that share a chunk: clauses and overloads of one name, or neighbours that have
    /// one line each.
    fn count_siblings_in_chunk(&self, siblings: &[usize]) -> usize {
        let n_clauses = self.count_alike(siblings, |item, next| {
            item.names == next.names && item.kind == next.kind && !item.kind.is_container()
        });
        if n_clauses > 1 {
            return n_clauses;
        }
        let n_lines = self.count_alike(siblings, |item, next| {
            self.is_one_line(item) && self.is_one_line(next) && item.names != next.names
        });
        // The last sibling may be the first of several clauses, which share a chunk of their own.
        let (last, after) = (siblings[n_lines - 1], siblings.get(n_lines));
        let is_clause = after.is_some_and(|after| self.items[*after].names == self.items[last].names);
        if is_clause { (n_lines - 1).max(1) } else { n_lines }
    }

    /// Counts the leading siblings that fit in one chunk, as long as `is_alike` holds for each pair of neighbours and no
    /// words are between them.
    fn count_alike(
        &self,
        siblings: &[usize],
        is_alike: impl Fn(&DefinitionItem<'_>, &DefinitionItem<'_>) -> bool,
    ) -> usize {
        let first = self.items[siblings[0]].span.start;
        let more = siblings.windows(2).take_while(|pair| {
            let (item, next) = (&self.items[pair[0]], &self.items[pair[1]]);
            let gap = self.text.get(item.span.end..next.span.start);
            is_alike(item, next)
                && gap.is_some_and(is_blank_or_closing)
                && self.fits_chunk(&(first..next.span.end))
        });
        1 + more.count()
    }

    fn is_one_line(&self, item: &DefinitionItem<'_>) -> bool {
        let (first, last) = self.lines.line_span(&item.span);
        first == last && self.without_fields(&item.children).is_empty()
    }

    fn is_short_scope_head(&self, owner: &DefinitionItem<'_>, head: &Range<usize>) -> bool {
        let (first, last) = self.lines.line_span(head);
        owner.kind == TagKind::Scope && owner.docs.is_empty() && last - first <= 2 && !head.is_empty()
    }

    /// Writes the text between definitions: as a part of `owner` if it is the head of `owner`, inside of a function or in a
    /// component, otherwise as text without a symbol.
    fn write_gap(&mut self, bytes: Range<usize>, owner: Option<&DefinitionItem<'_>>, is_head: bool) {
        if self.text.get(bytes.clone()).is_none_or(is_blank_or_closing) {
            return;
        }
        let is_part = |kind: TagKind| {
            !kind.is_container() || kind == TagKind::Component || is_head && kind != TagKind::Scope
        };
        match owner.filter(|owner| is_part(owner.kind)) {
            Some(owner) => self.write_symbol(bytes, &owner.joined_names(), &owner.title),
            None => self.write_plain(bytes, owner.map(|owner| owner.title.as_str())),
        }
    }

    /// Writes the text after the last definition in `owner`. A short end, such as `}`, is added to the chunk before it.
    fn write_tail(&mut self, bytes: Range<usize>, owner: Option<&DefinitionItem<'_>>) {
        let rest = self.text.get(bytes.clone()).unwrap_or_default().trim();
        let closes = ["}", "end", ")", "]", ";", "#endif"].iter().any(|mark| rest.starts_with(mark));
        let last = self.chunks.last_mut().filter(|chunk| chunk.kind != ChunkKind::Map);
        match last {
            Some(last) if closes && rest.len() <= SHORT_TAIL_BYTES && !is_blank_or_closing(rest) => {
                last.bytes.end = bytes.start + self.text[bytes.clone()].trim_end().len();
                last.lines = self.lines.line_span(&last.bytes);
            }
            _ => self.write_gap(bytes, owner, false),
        }
    }

    fn write_symbol(&mut self, bytes: Range<usize>, symbol: &str, title: &str) {
        if symbol.is_empty() {
            self.write_plain(bytes, Some(title));
        } else {
            self.write_pieces(ChunkKind::Symbol, bytes, Some(symbol), Some(title));
        }
    }

    fn write_plain(&mut self, bytes: Range<usize>, title: Option<&str>) {
        self.write_pieces(ChunkKind::Text, bytes, None, title);
    }

    fn write_pieces(
        &mut self,
        kind: ChunkKind,
        bytes: Range<usize>,
        symbol: Option<&str>,
        title: Option<&str>,
    ) {
        for piece in cut_text(self.text, trim_blank_lines(self.text, bytes), CHUNK_CHARS, 0) {
            let bytes = trim_blank_lines(self.text, piece);
            if bytes.is_empty() {
                continue;
            }
            let lines = self.lines.line_span(&bytes);
            let (symbol, title) = (symbol.map(str::to_owned), title.map(str::to_owned));
            self.chunks.push(Chunk { kind, bytes, lines, symbol, title, keywords: None, text: None });
        }
    }

    fn fits_chunk(&self, bytes: &Range<usize>) -> bool {
        let n_bytes = bytes.len();
        if n_bytes <= CHUNK_CHARS {
            return true;
        }
        n_bytes <= 4 * CHUNK_CHARS
            && self.text.get(bytes.clone()).map_or(0, |text| text.chars().count()) <= CHUNK_CHARS
    }
}

/// Returns whether the text between definitions has only blanks, punctuation and the word `end`.
fn is_blank_or_closing(gap: &str) -> bool {
    let mut words = gap.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.all(|word| word == "end")
}

#[cfg(test)]
mod tests;
