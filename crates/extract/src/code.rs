//! Extracts definitions and their chunks from source code.
//!
//! The chunks cover everything but blanks and closing brackets, and apart from the map record none
//! overlaps another.

use std::ops::Range;

use memod_base::types::Kind;
use tree_sitter::Node;

use super::cut::{LineIndex, cut, trim_blank_lines};
use super::definitions::definitions;
use super::lang::{self, Language};
use super::outline::{Item, Outline, outline};
use super::plain_text::is_minified;
use super::routes::routes;
use super::skeleton::skeleton;
use super::structure;
use super::tags::TagKind;
use super::{CHUNK_CHARS, Chunk, Extracted};

/// Largest text that is parsed, in bytes; the caller refuses larger files anyway.
const MAX_PARSED_BYTES: usize = 2 << 20;

/// Longest remainder of a container that its last chunk takes along, in bytes: `}  // namespace x`.
const SHORT_TAIL_BYTES: usize = 80;

/// Extracts the map record, the definitions and the names used from a source file.
///
/// Where the text cannot be parsed within its budgets it is cut by lines instead and `problems` says
/// why. Minified text is never parsed.
pub fn extract(language: &'static Language, path: &str, text: &str) -> Extracted {
    let language = lang::refine(language, path, text);
    let mut extracted = Extracted { minified: is_minified(text), ..Extracted::default() };
    let mut writer = Writer { text, lines: LineIndex::new(text), items: &[], chunks: Vec::new() };
    if extracted.minified || text.len() > MAX_PARSED_BYTES {
        writer.plain(0..text.len(), None);
        extracted.chunks = writer.chunks;
        return extracted;
    }
    let mut found = Vec::new();
    let mut walked = None;
    let see = |root: Node<'_>| {
        found = routes(language.name, path, text, &writer.lines, root);
        walked = language.node_marks().map(|marks| structure::walk(marks, text, root));
    };
    match language.tag_query().and_then(|query| query.tags(text, see).map_err(|e| e.to_string())) {
        Ok(tags) => {
            extracted.routes = found;
            let outline = outline(text, &tags, language.join);
            extracted.definitions = definitions(text, &outline, &writer.lines);
            let walked = walked.map(|walk| walk.structure(&outline, &writer.lines, text));
            extracted.structure = walked.unwrap_or_default();
            extracted.structure.lacks_definitions = tags.is_partial;
            extracted.chunks = chunks(writer, &outline);
            extracted.references = tags.references;
            extracted.problems = tags.problems;
        }
        Err(problem) => {
            writer.plain(0..text.len(), None);
            extracted.chunks = writer.chunks;
            extracted.problems.push(problem);
        }
    }
    extracted
}

fn chunks<'a>(mut writer: Writer<'a, 'a>, outline: &'a Outline<'a>) -> Vec<Chunk> {
    let text = writer.text;
    let whole = 0..text.len();
    if outline.items.iter().any(|item| item.kind != TagKind::Scope) {
        let lines = writer.lines.lines(&whole);
        let text = Some(skeleton(text, outline));
        let map = Chunk {
            kind: Kind::Map,
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
    writer.children(whole, &outline.roots, None);
    writer.chunks
}

/// Writes the chunks of one text in order.
struct Writer<'a, 'o> {
    text: &'a str,
    lines: LineIndex,
    items: &'o [Item<'a>],
    chunks: Vec<Chunk>,
}

impl<'o> Writer<'_, 'o> {
    /// Writes what lies in `span` outside of `siblings`, and each of them. Recursion is as deep as the
    /// outline, which is bounded.
    fn children(&mut self, span: Range<usize>, siblings: &[usize], owner: Option<&'o Item<'o>>) {
        let mut at = span.start;
        let mut rest = siblings;
        while let Some(first) = rest.first() {
            let n_together = self.n_together(rest);
            let (together, later) = rest.split_at(n_together);
            let start = self.items[*first].span.start.max(at);
            let head = at..start;
            // The line `impl X {` means nothing alone.
            let is_head = at == span.start;
            let is_folded = is_head && owner.is_some_and(|owner| self.is_short_scope(owner, &head));
            if !is_folded {
                self.gap(head, owner, is_head);
            }
            let end = self.items[together[n_together - 1]].span.end.min(span.end);
            let bytes = if is_folded { at } else { start }..end.max(start);
            at = bytes.end;
            self.together(bytes, together);
            rest = later;
        }
        self.tail(at..span.end, owner);
    }

    /// Writes one definition with what it holds, or several short ones as one chunk.
    fn together(&mut self, bytes: Range<usize>, ids: &[usize]) {
        let items = self.items;
        let (first, last) = (&items[ids[0]], &items[ids[ids.len() - 1]]);
        if ids.len() == 1 {
            let inner = self.inner(first, &bytes);
            match first.kind {
                _ if !inner.is_empty() => self.children(bytes, &inner, Some(first)),
                TagKind::Scope => self.plain(bytes, Some(&first.title)),
                _ => self.symbol(bytes, &first.symbol(), &first.title),
            }
            return;
        }
        let defined = ids.iter().map(|id| &items[*id]).filter(|item| item.kind != TagKind::Scope);
        let mut names: Vec<&str> = defined.flat_map(|item| &item.names).copied().collect();
        names.dedup();
        let is_one = first.names == last.names;
        let title =
            if is_one { first.title.clone() } else { format!("{} … {}", first.title, last.symbol()) };
        self.symbol(bytes, &names.join(" "), &title);
    }

    /// Returns the definitions inside `item` that get chunks of their own.
    fn inner(&self, item: &Item<'_>, bytes: &Range<usize>) -> Vec<usize> {
        if item.kind.is_container() {
            return item.children.clone();
        }
        if self.fits(bytes) || item.kind == TagKind::Type {
            return Vec::new();
        }
        let is_apart = |id: &&usize| !matches!(self.items[**id].kind, TagKind::Constant | TagKind::Type);
        item.children.iter().filter(is_apart).copied().collect()
    }

    /// Returns how many of the leading siblings share a chunk: clauses and overloads of one name, or
    /// neighbours of one line each.
    fn n_together(&self, siblings: &[usize]) -> usize {
        let n_clauses = self.n_alike(siblings, |item, next| {
            item.names == next.names && item.kind == next.kind && !item.kind.is_container()
        });
        if n_clauses > 1 {
            return n_clauses;
        }
        let n_lines = self.n_alike(siblings, |item, next| {
            self.is_line(item) && self.is_line(next) && item.names != next.names
        });
        // The last one may be the first of several clauses.
        let (last, after) = (siblings[n_lines - 1], siblings.get(n_lines));
        let is_clause = after.is_some_and(|after| self.items[*after].names == self.items[last].names);
        if is_clause { (n_lines - 1).max(1) } else { n_lines }
    }

    /// Counts the leading siblings of which each is alike its neighbour, nothing lies between, and that
    /// fit in one chunk.
    fn n_alike(&self, siblings: &[usize], is_alike: impl Fn(&Item<'_>, &Item<'_>) -> bool) -> usize {
        let first = self.items[siblings[0]].span.start;
        let more = siblings.windows(2).take_while(|pair| {
            let (item, next) = (&self.items[pair[0]], &self.items[pair[1]]);
            let gap = self.text.get(item.span.end..next.span.start);
            is_alike(item, next) && gap.is_some_and(is_noise) && self.fits(&(first..next.span.end))
        });
        1 + more.count()
    }

    fn is_line(&self, item: &Item<'_>) -> bool {
        let (first, last) = self.lines.lines(&item.span);
        first == last && item.children.is_empty()
    }

    fn is_short_scope(&self, owner: &Item<'_>, head: &Range<usize>) -> bool {
        let (first, last) = self.lines.lines(head);
        owner.kind == TagKind::Scope && owner.docs.is_empty() && last - first <= 2 && !head.is_empty()
    }

    /// Writes what lies between definitions: the head of a definition and all of a function are parts of
    /// it, else it is text.
    fn gap(&mut self, bytes: Range<usize>, owner: Option<&Item<'_>>, is_head: bool) {
        if self.text.get(bytes.clone()).is_none_or(is_noise) {
            return;
        }
        let is_part =
            |owner: &&Item<'_>| !owner.kind.is_container() || is_head && owner.kind != TagKind::Scope;
        match owner.filter(is_part) {
            Some(owner) => self.symbol(bytes, &owner.symbol(), &owner.title),
            None => self.plain(bytes, owner.map(|owner| owner.title.as_str())),
        }
    }

    /// Writes what lies after the last definition; a short closing goes with the chunk before it.
    fn tail(&mut self, bytes: Range<usize>, owner: Option<&Item<'_>>) {
        let rest = self.text.get(bytes.clone()).unwrap_or_default().trim();
        let closes = ["}", "end", ")", "]", ";", "#endif"].iter().any(|mark| rest.starts_with(mark));
        let last = self.chunks.last_mut().filter(|chunk| chunk.kind != Kind::Map);
        match last {
            Some(last) if closes && rest.len() <= SHORT_TAIL_BYTES && !is_noise(rest) => {
                last.bytes.end = bytes.start + self.text[bytes.clone()].trim_end().len();
                last.lines = self.lines.lines(&last.bytes);
            }
            _ => self.gap(bytes, owner, false),
        }
    }

    fn symbol(&mut self, bytes: Range<usize>, symbol: &str, title: &str) {
        if symbol.is_empty() {
            self.plain(bytes, Some(title));
        } else {
            self.cut(Kind::Symbol, bytes, Some(symbol), Some(title));
        }
    }

    fn plain(&mut self, bytes: Range<usize>, title: Option<&str>) {
        self.cut(Kind::Text, bytes, None, title);
    }

    fn cut(&mut self, kind: Kind, bytes: Range<usize>, symbol: Option<&str>, title: Option<&str>) {
        for piece in cut(self.text, trim_blank_lines(self.text, bytes), CHUNK_CHARS, 0) {
            let bytes = trim_blank_lines(self.text, piece);
            if bytes.is_empty() {
                continue;
            }
            let lines = self.lines.lines(&bytes);
            let (symbol, title) = (symbol.map(str::to_owned), title.map(str::to_owned));
            self.chunks.push(Chunk { kind, bytes, lines, symbol, title, keywords: None, text: None });
        }
    }

    fn fits(&self, bytes: &Range<usize>) -> bool {
        let n_bytes = bytes.len();
        let n_chars = || self.text.get(bytes.clone()).map_or(0, |text| text.chars().count());
        n_bytes <= CHUNK_CHARS || n_bytes <= 4 * CHUNK_CHARS && n_chars() <= CHUNK_CHARS
    }
}

/// Whether a gap says nothing: blanks, punctuation and closing words only.
fn is_noise(gap: &str) -> bool {
    let mut words = gap.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.all(|word| word == "end")
}

#[cfg(test)]
mod tests;
