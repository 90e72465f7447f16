//! Turns the outline of a document into chunks, each with its heading path.

use std::ops::Range;

use memod_base::types::ChunkKind;

use super::front_matter::FrontMatter;
use crate::chunks::chunk::{CHUNK_CHARS, Chunk, Extraction, OVERLAP_CHARS};
use crate::chunks::cut_text::{self, BreakRank, LineIndex, RANK_TEARS_BLOCK};
use crate::chunks::plain_text;

/// Longest heading in a heading path, in characters, because a heading is repeated for each section below it.
const HEADING_CHARS: usize = 200;

/// The size of the chunks of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkSize {
    /// Longest chunk, in characters.
    pub max_chars: usize,
    /// Overlap of two chunks of one long section, in characters.
    pub overlap_chars: usize,
}

impl ChunkSize {
    /// The size of the chunks that are indexed.
    pub(super) const INDEXED: Self = Self { max_chars: CHUNK_CHARS, overlap_chars: OVERLAP_CHARS };
}

/// A heading of the document itself, not of a quote, a list or an example in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SectionHeading {
    /// Level from 1; a smaller level is above.
    pub(super) level: usize,
    /// Plain text, see [`normalize_heading`].
    pub(super) title: String,
    /// Bytes from the start of its first line, or of its anchor, to the end of its last.
    pub(super) bytes: Range<usize>,
}

/// The headings and blocks of a document; all offsets are in the whole text.
#[derive(Debug, Default)]
pub(super) struct DocumentOutline {
    /// In the order of the text.
    pub(super) headings: Vec<SectionHeading>,
    /// Blocks that fit in one chunk and are not cut; ascending, none within another.
    uncut_blocks: Vec<Range<usize>>,
    /// Whether a comment asks not to index the document.
    pub(super) opted_out: bool,
}

impl DocumentOutline {
    /// Creates an outline from headings in the order of the text.
    pub(super) fn from_headings(headings: Vec<SectionHeading>) -> Self {
        Self { headings, ..Self::default() }
    }

    /// Records a block that must not be cut, unless it does not fit in one chunk or begins inside of the last recorded block.
    /// Call this in the order of the blocks' starts.
    pub(super) fn add_block(&mut self, text: &str, bytes: Range<usize>, max_chars: usize) {
        let is_outside = self.uncut_blocks.last().is_none_or(|last| bytes.start >= last.end);
        if is_outside && fits_chars(text[bytes.clone()].trim_end(), max_chars) {
            self.uncut_blocks.push(bytes);
        }
    }

    /// Ranks a cut before `line_start`.
    fn rank_break(&self, text: &str, line_start: usize) -> BreakRank {
        let next = self.uncut_blocks.partition_point(|atom| atom.start < line_start);
        let is_inside = next > 0 && line_start < self.uncut_blocks[next - 1].end;
        if is_inside { RANK_TEARS_BLOCK } else { cut_text::line_rank(text, line_start) }
    }
}

fn fits_chars(text: &str, max_chars: usize) -> bool {
    text.len() <= max_chars || text.chars().nth(max_chars).is_none()
}

/// Returns the chunks of a document, given its front matter and the outline of its body.
pub(super) fn extract_by_outline(
    text: &str,
    body_start: usize,
    front_matter: Option<&FrontMatter>,
    outline: &DocumentOutline,
    size: ChunkSize,
) -> Extraction {
    if outline.opted_out || front_matter.is_some_and(|front| front.opted_out) {
        return Extraction { opted_out: true, ..Extraction::default() };
    }
    let mut sections = DocumentChunkWriter::new(text, LineIndex::new(text), size);
    if let Some(front) = front_matter {
        let title = front.title.as_deref().unwrap_or_default();
        sections.add_titled_span(&DocumentOutline::default(), front.content.clone(), title);
        // In a document without a heading of level 1, the title of the front matter begins all heading paths.
        let mut h1 = outline.headings.iter().filter(|heading| heading.level == 1).peekable();
        let has_h1 = h1.peek().is_some();
        sections.set_root(if has_h1 { "" } else { title });
        let is_in_path = !has_h1 || h1.any(|heading| heading.title.eq_ignore_ascii_case(title));
        let keywords = format!("{} {}", if is_in_path { "" } else { title }, front.keywords);
        sections.keywords = Some(keywords.trim().to_owned()).filter(|keywords| !keywords.is_empty());
    }
    sections.add_sections(outline, body_start..text.len());
    let minified = plain_text::is_minified(text);
    Extraction { chunks: sections.into_chunks(), minified, ..Extraction::default() }
}

/// Returns a heading as heading paths show it: with blanks collapsed, and cut after 200 characters.
pub(super) fn normalize_heading(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(8 * HEADING_CHARS)];
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").chars().take(HEADING_CHARS).collect()
}

/// Writes the chunks of one document in the order of its text.
pub(super) struct DocumentChunkWriter<'a> {
    text: &'a str,
    lines: LineIndex,
    size: ChunkSize,
    /// The first part of every heading path; may be empty.
    root: String,
    /// The headings above the current place, outermost first.
    path: Vec<SectionHeading>,
    /// Keywords of the document, which the next chunks get.
    keywords: Option<String>,
    chunks: Vec<Chunk>,
}

impl<'a> DocumentChunkWriter<'a> {
    /// Creates a writer for a document; `lines` has the lines of its file.
    pub(super) fn new(text: &'a str, lines: LineIndex, size: ChunkSize) -> Self {
        Self { text, lines, size, root: String::new(), path: Vec::new(), keywords: None, chunks: Vec::new() }
    }

    /// Sets the first part of every heading path, for a document whose headings do not name it.
    pub(super) fn set_root(&mut self, title: &str) {
        title.clone_into(&mut self.root);
    }

    /// Writes the sections of a span. The text before the first heading of the span belongs to the section of the last
    /// heading before the span.
    pub(super) fn add_sections(&mut self, outline: &DocumentOutline, bytes: Range<usize>) {
        let headings = &outline.headings;
        let first = headings.first().map_or(bytes.end, |heading| heading.bytes.start);
        self.add_titled_span(outline, bytes.start..first, &self.heading_path());
        for (index, heading) in headings.iter().enumerate() {
            self.enter_heading(heading);
            let next = headings.get(index + 1);
            let end = next.map_or(bytes.end, |next| next.bytes.start);
            let is_empty = self.text[heading.bytes.end.min(end)..end].trim().is_empty();
            // The sections below a heading without text have its title in their paths.
            if !is_empty || next.is_none_or(|next| next.level <= heading.level && !heading.title.is_empty()) {
                self.add_titled_span(outline, heading.bytes.start..end, &self.heading_path());
            }
        }
    }

    /// Writes a span without headings as chunks with a title; cuts a long span into several chunks.
    pub(super) fn add_titled_span(&mut self, outline: &DocumentOutline, bytes: Range<usize>, title: &str) {
        let bytes = cut_text::trim_blank_lines(self.text, bytes);
        let ChunkSize { max_chars, overlap_chars } = self.size;
        let pieces = cut_text::cut_text_by_rank(self.text, bytes, max_chars, overlap_chars, &|line_start| {
            outline.rank_break(self.text, line_start)
        });
        for piece in pieces {
            let bytes = cut_text::trim_blank_lines(self.text, piece);
            let title = Some(title.to_owned()).filter(|title| !title.is_empty());
            let keywords = self.keywords.clone();
            let chunk = Chunk {
                kind: ChunkKind::Doc,
                lines: (0, 0),
                bytes,
                symbol: None,
                title,
                keywords,
                text: None,
            };
            self.push_chunk(chunk);
        }
    }

    /// Writes a chunk with the lines of its bytes; skips an empty chunk.
    pub(super) fn push_chunk(&mut self, chunk: Chunk) {
        if !chunk.bytes.is_empty() {
            self.chunks.push(Chunk { lines: self.lines.line_span(&chunk.bytes), ..chunk });
        }
    }

    /// Makes a heading the current one.
    fn enter_heading(&mut self, heading: &SectionHeading) {
        let n_above = self.path.iter().rposition(|above| above.level < heading.level).map_or(0, |at| at + 1);
        self.path.truncate(n_above);
        self.path.push(heading.clone());
    }

    /// Returns the path of the current section, without headings that have no text.
    pub(super) fn heading_path(&self) -> String {
        let titles = self.path.iter().map(|heading| heading.title.as_str());
        let titles = std::iter::once(self.root.as_str()).chain(titles);
        titles.filter(|title| !title.is_empty()).collect::<Vec<_>>().join(" > ")
    }

    /// Returns the chunks.
    pub(super) fn into_chunks(self) -> Vec<Chunk> {
        self.chunks
    }
}
