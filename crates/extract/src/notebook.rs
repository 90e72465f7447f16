//! Splits Jupyter notebooks into the sections and definitions of their cells.

use std::ops::Range;

use memod_base::types::Kind;

use super::code;
use super::cut::LineIndex;
use super::lang::{self, Language};
use super::markdown::opens_too_many_containers;
use super::markdown_outline::outline;
use super::notebook_text::{CellKind, NotebookText};
use super::plain_text::is_minified;
use super::sections::{Heading, Outline, Sections, Size, heading_title};
use super::{Chunk, Extracted};

/// Commands of IPython that run a cell as it is; with any other `%%` the cell is in another language.
const TRANSPARENT: [&str; 5] = ["%%time", "%%timeit", "%%capture", "%%prun", "%%memit"];

/// Returns the sections of the Markdown cells and the chunks of the code cells. Spans are of the notebook's text.
pub(super) fn extract(notebook: &NotebookText) -> Extracted {
    let text = &notebook.unfolded();
    let language = notebook.language.as_deref().and_then(lang::canonical).and_then(lang::by_name);
    let mut cells = Cells {
        text,
        language,
        code: blank(text),
        sections: Sections::new(text, LineIndex::new(&notebook.text), Size::CHUNK),
    };
    for cell in &notebook.cells {
        match cell.kind {
            CellKind::Markdown | CellKind::Heading(_) => {
                let outline = cells.outline(cell.bytes.clone(), cell.kind, Size::CHUNK.max_chars);
                if outline.opted_out {
                    return Extracted { opted_out: true, ..Extracted::default() };
                }
                cells.sections.add(&outline, cell.bytes.clone());
            }
            CellKind::Code => cells.add_code(cell.bytes.clone()),
            CellKind::Raw => cells.add_text(cell.bytes.clone()),
        }
    }
    cells.finish(notebook)
}

/// Returns a text with blanks in place of everything but line breaks, of the same length.
fn blank(text: &str) -> Vec<u8> {
    text.bytes().map(|byte| if byte == b'\n' { b'\n' } else { b' ' }).collect()
}

/// Writes the chunks of the cells in order.
struct Cells<'a> {
    text: &'a str,
    /// That of the kernel, if it has a grammar.
    language: Option<&'static Language>,
    /// The code of all cells so far, each at its place.
    code: Vec<u8>,
    sections: Sections<'a>,
}

impl Cells<'_> {
    /// Reads the headings of a cell.
    fn outline(&self, bytes: Range<usize>, kind: CellKind, max_chars: usize) -> Outline {
        let source = &self.text[bytes.clone()];
        match kind {
            CellKind::Heading(level) => {
                let heading = Heading { level, title: heading_title(source), bytes };
                Outline::of(vec![heading])
            }
            _ if opens_too_many_containers(source) => Outline::default(),
            _ => outline(self.text, bytes, max_chars),
        }
    }

    /// Adds a code cell: its definitions, or all of it where it has none.
    fn add_code(&mut self, bytes: Range<usize>) {
        let source = runnable(&self.text[bytes.clone()]);
        let language = self.language.filter(|_| !is_in_other_language(&source));
        let found = language.map(|language| code::extract(language, "", &source));
        if language.is_some() {
            self.code[bytes.clone()].copy_from_slice(source.as_bytes());
        }
        match found.filter(|found| !found.definitions.is_empty()) {
            None => self.add_text(bytes),
            Some(found) => {
                for chunk in found.chunks.into_iter().filter(|chunk| chunk.kind != Kind::Map) {
                    let title = chunk.title.or_else(|| self.title());
                    let bytes = bytes.start + chunk.bytes.start..bytes.start + chunk.bytes.end;
                    self.sections.push(Chunk { bytes, title, ..chunk });
                }
            }
        }
    }

    /// Adds a cell by its lines, under the heading above it.
    fn add_text(&mut self, bytes: Range<usize>) {
        for chunk in super::plain_text::extract(&self.text[bytes.clone()]).chunks {
            let bytes = bytes.start + chunk.bytes.start..bytes.start + chunk.bytes.end;
            self.sections.push(Chunk { bytes, title: self.title(), ..chunk });
        }
    }

    fn title(&self) -> Option<String> {
        Some(self.sections.heading_path()).filter(|title| !title.is_empty())
    }

    /// Adds what the code of all cells defines and uses.
    fn finish(self, notebook: &NotebookText) -> Extracted {
        let mut chunks = self.sections.finish();
        let minified = is_minified(&notebook.text);
        let code = String::from_utf8(self.code).unwrap_or_default();
        let Some(language) = self.language.filter(|_| !minified) else {
            return Extracted { chunks, minified, ..Extracted::default() };
        };
        let mut whole = code::extract(language, "", &code);
        let (own, file) = (LineIndex::new(&code), LineIndex::new(&notebook.text));
        let in_file = |(first, last): (u32, u32)| (file.line(own.start(first)), file.line(own.start(last)));
        for definition in &mut whole.definitions {
            definition.lines = in_file(definition.lines);
        }
        if let Some(map) = whole.chunks.into_iter().find(|chunk| chunk.kind == Kind::Map) {
            chunks.insert(0, Chunk { lines: file.lines(&map.bytes), ..map });
        }
        Extracted { chunks, ..whole }
    }
}

/// Returns a cell with a name, `____`, in place of each command of IPython (`%matplotlib inline`, `!ls`), of the same
/// length. A comment would be taken for that of the definition below it.
fn runnable(source: &str) -> String {
    let is_command = |line: &str| match line.split_whitespace().next() {
        Some(magic) if magic.starts_with("%%") => TRANSPARENT.contains(&magic),
        _ => line.starts_with(['%', '!', '?']),
    };
    let line = |line: &str| match line.trim_end() {
        command if is_command(command) => "_".repeat(command.len()) + &line[command.len()..],
        _ => line.to_owned(),
    };
    source.split_inclusive('\n').map(line).collect()
}

fn is_in_other_language(source: &str) -> bool {
    source.trim_start().starts_with("%%")
}

#[cfg(test)]
mod tests;
