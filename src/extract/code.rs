//! Which definitions does a source file have, and which chunks do they make?
//!
//! The chunks cover everything but blanks and closing brackets, and apart from the map record none
//! overlaps another.

use std::ops::Range;

use super::cut::{LineIndex, cut};
use super::lang::{self, Language};
use super::outline::{Item, Outline, outline};
use super::skeleton::skeleton;
use super::tags::TagKind;
use super::{CHUNK_CHARS, Chunk, Extracted};
use crate::types::Kind;

/// Longest line of a file that people wrote, in bytes.
const MAX_LINE_BYTES: usize = 10_000;

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
    let mut extracted = Extracted { lang: Some(language.name), ..Extracted::default() };
    extracted.minified = text.split('\n').any(|line| line.len() > MAX_LINE_BYTES);
    let mut writer = Writer { text, lines: LineIndex::new(text), items: &[], chunks: Vec::new() };
    if extracted.minified || text.len() > MAX_PARSED_BYTES {
        writer.plain(0..text.len(), None);
        extracted.chunks = writer.chunks;
        return extracted;
    }
    match language.tag_query().and_then(|query| query.tags(text).map_err(|e| e.to_string())) {
        Ok(tags) => {
            let outline = outline(text, &tags, language.join);
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
        let map = Chunk { kind: Kind::Map, bytes: whole.clone(), lines, symbol: None, title: None, text };
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
        for piece in cut(self.text, trim(self.text, bytes), CHUNK_CHARS, 0) {
            let bytes = trim(self.text, piece);
            if self.text[bytes.clone()].trim().is_empty() {
                continue;
            }
            let lines = self.lines.lines(&bytes);
            let (symbol, title) = (symbol.map(str::to_owned), title.map(str::to_owned));
            self.chunks.push(Chunk { kind, bytes, lines, symbol, title, text: None });
        }
    }

    fn fits(&self, bytes: &Range<usize>) -> bool {
        let n_bytes = bytes.len();
        let n_chars = || self.text.get(bytes.clone()).map_or(0, |text| text.chars().count());
        n_bytes <= CHUNK_CHARS || n_bytes <= 4 * CHUNK_CHARS && n_chars() <= CHUNK_CHARS
    }
}

/// Returns the span without blank lines at both ends; the indentation of its first line stays.
fn trim(text: &str, bytes: Range<usize>) -> Range<usize> {
    let Some(span) = text.get(bytes.clone()) else { return bytes };
    let blank = span.len() - span.trim_start().len();
    let start = span[..blank].rfind('\n').map_or(0, |newline| newline + 1);
    bytes.start + start..bytes.start + span.trim_end().len().max(start)
}

/// Whether a gap says nothing: blanks, punctuation and closing words only.
fn is_noise(gap: &str) -> bool {
    let mut words = gap.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.all(|word| word == "end")
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::super::lang::Format;
    use super::*;

    fn extract_as(path: &str, text: &str) -> Extracted {
        let Format::Code(language) = lang::detect(path, "") else { panic!("{path}: no language") };
        let extracted = extract(language, path, text);
        check_cover(text, &extracted);
        extracted
    }

    /// Chunks are in order, on character boundaries, apart from each other, not too long, and leave out
    /// only what says nothing.
    fn check_cover(text: &str, extracted: &Extracted) {
        let lines = LineIndex::new(text);
        let mut at = 0;
        for chunk in extracted.chunks.iter().filter(|chunk| chunk.kind != Kind::Map) {
            assert!(chunk.bytes.start >= at && chunk.bytes.end > chunk.bytes.start, "{chunk:?} after {at}");
            let body = text.get(chunk.bytes.clone()).expect("on character boundaries");
            assert!(body.chars().count() <= CHUNK_CHARS + SHORT_TAIL_BYTES, "{chunk:?}");
            assert!(is_noise(&text[at..chunk.bytes.start]), "lost: {}", &text[at..chunk.bytes.start]);
            assert_eq!(chunk.lines, lines.lines(&chunk.bytes));
            at = chunk.bytes.end;
        }
        assert!(is_noise(&text[at..]), "lost: {}", &text[at..]);
        let maps: Vec<_> = extracted.chunks.iter().filter(|chunk| chunk.kind == Kind::Map).collect();
        assert!(maps.len() <= 1);
        assert!(maps.iter().all(|map| map.text.as_ref().is_some_and(|text| text.chars().count() <= 6_000)));
        assert!(extracted.references.is_sorted());
    }

    /// Returns one line a chunk: kind, first and last line, symbol, title.
    fn listed(extracted: &Extracted) -> String {
        let mut listed = String::new();
        for chunk in &extracted.chunks {
            let (first, last) = chunk.lines;
            let symbol = chunk.symbol.as_deref().unwrap_or("-");
            let title = chunk.title.as_deref().unwrap_or("-");
            writeln!(listed, "{} {first}-{last} {symbol} | {title}", chunk.kind.as_str()).unwrap();
        }
        listed
    }

    fn check(path: &str, text: &str, expected: &str) {
        assert_eq!(listed(&extract_as(path, text)).trim(), expected.trim(), "{path}");
    }

    fn fixture(path: &str) -> String {
        let root = env!("CARGO_MANIFEST_DIR");
        std::fs::read_to_string(format!("{root}/grammars/{path}")).unwrap()
    }

    #[test]
    fn a_rust_file_becomes_a_map_and_its_definitions() {
        let expected = "\
map 1-64 - | -
text 1-4 - | -
symbol 6-7 BOILING | BOILING
symbol 8-8 SHELVES | SHELVES
symbol 10-11 Heat | Heat
symbol 12-15 Unit STEP heat | Heat::Unit … heat
symbol 17-20 is_done | Heat::is_done
symbol 23-28 Kettle | Kettle
symbol 30-37 heat | Kettle::heat
symbol 40-43 Mode | Mode
symbol 45-45 Shelf | Shelf
symbol 47-51 pour | pour
symbol 53-53 inner | inner
symbol 54-56 Bits | inner::Bits
symbol 58-63 count | inner::count";
        check("a.rs", &fixture("rust/fixture.rs"), expected);
    }

    #[test]
    fn a_python_file_becomes_a_map_and_its_definitions() {
        let expected = "\
map 1-49 - | -
text 1-5 - | -
symbol 7-10 MAX_DAYS default_shelf Days | MAX_DAYS … Days
symbol 13-15 Overdue | Overdue
symbol 18-24 Loan | Loan
symbol 26-27 Meta | Loan.Meta
symbol 29-33 days | Loan.days
symbol 35-39 remind | Loan.remind
symbol 42-45 loans | loans
text 48-49 - | -";
        check("a.py", &fixture("python/fixture.py"), expected);
    }

    #[test]
    fn the_map_shows_signatures_and_docs() {
        let extracted = extract_as("a.py", &fixture("python/fixture.py"));
        let expected = "\
MAX_DAYS default_shelf Days Overdue Loan Meta days remind wording loans

Lends books and counts the days.
MAX_DAYS = 28
default_shelf: Shelf = empty_shelf()
type Days = int
class Overdue(Exception)
  Raised when nobody brought it back.
class Loan(Base, metaclass=Registry)
  One book in somebody's hands.
  class Meta
  @property @cached(ttl=60) def days(self) -> Days
    Days since it left.
  async def remind(self, *, politely: bool = True)
@app.route(\"/loans\") def loans(shelf: Shelf, day: datetime.date = None) -> list[Loan]";
        assert_eq!(extracted.chunks[0].text.as_deref(), Some(expected));
    }

    #[test]
    fn long_definitions_are_cut_and_keep_their_names() {
        let body = "        let x = compute(1);\n".repeat(100);
        let text = format!("impl Big {{\n    fn run() {{\n{body}        fn inner() {{}}\n{body}    }}\n}}\n");
        let extracted = extract_as("a.rs", &text);
        let symbols: Vec<_> = extracted.chunks.iter().filter_map(|chunk| chunk.symbol.as_deref()).collect();
        assert_eq!(symbols, ["run", "run", "inner", "run", "run"]);
        assert!(
            extracted.chunks[1..].iter().all(|chunk| chunk.title.as_deref().unwrap().starts_with("Big::run"))
        );
    }

    #[test]
    fn a_scope_is_no_symbol() {
        let expected = "\
map 1-9 - | -
symbol 1-1 A | A
text 2-3 - | A
symbol 4-6 f | B::f
text 8-9 - | A … B";
        let text = "struct A;\nimpl Copy for A {\n}\nimpl B {\n    fn f() {\n    }\n}\nimpl X for A {}\nimpl X for B {}\n";
        check("a.rs", text, expected);
    }

    #[test]
    fn many_short_definitions_share_chunks() {
        let text: String =
            (0..20_000).fold(String::new(), |text, n| text + &format!("const C{n}: u8 = 1;\n"));
        let extracted = extract_as("a.rs", &text);
        assert!(extracted.chunks.len() < 400, "{}", extracted.chunks.len());
        let names = extracted.chunks.iter().filter_map(|chunk| chunk.symbol.as_deref());
        assert_eq!(names.flat_map(|names| names.split(' ')).count(), 20_000);
    }

    #[test]
    fn hostile_text_is_cut_by_lines() {
        let deep = [
            "(".repeat(500_000),
            "{\n".repeat(100_000),
            "fn f() { g(".repeat(5_000),
            "[\n".repeat(499) + &"]".repeat(499) + "\n" + &"(\n".repeat(600),
        ];
        for language in &lang::LANGUAGES {
            for text in &deep {
                let extracted = extract(language, "a", text);
                check_cover(text, &extracted);
                assert!(extracted.minified || !extracted.problems.is_empty(), "{}", language.name);
            }
        }
    }

    #[test]
    fn odd_text_never_panics() {
        let odd = [
            String::new(),
            "\n".to_owned(),
            "\u{feff}".to_owned(),
            "\0".repeat(2_000),
            "class A\0 { \0 }\r\n\0def f(\0): pass\0".to_owned(),
            "x".repeat(1 << 20),
            "fn é\u{301}() { '\u{10ffff}' } \u{202e}class 日本 { void 語() {} }\u{2028}\r def \u{fffd}: \u{1}".to_owned(),
            "/* ".repeat(200).replace("* ", "*\n"),
            "\"'`#{$(<<A\n".repeat(300),
            "a=b+\n".repeat(300),
            "if x:\n elif\n else\nend fi }\n".repeat(200),
            (0..150).fold(String::new(), |text, n| text + &" ".repeat(n) + "def f():\n"),
            "-!~&*@ \n".repeat(200),
        ];
        for language in &lang::LANGUAGES {
            for text in &odd {
                check_cover(text, &extract(language, "a.h", text));
            }
        }
    }

    #[test]
    fn every_fixture_is_covered() {
        for language in &lang::LANGUAGES {
            let directory = format!("{}/grammars/{}", env!("CARGO_MANIFEST_DIR"), language.name);
            for file in std::fs::read_dir(directory).unwrap() {
                let path = file.unwrap().path();
                let text = std::fs::read_to_string(&path).unwrap();
                for text in
                    [text.replace('\n', "\r\n"), format!("\u{feff}{text}"), text.replace('e', "é"), text]
                {
                    check_cover(&text, &extract(language, path.to_str().unwrap(), &text));
                }
            }
        }
    }
}
