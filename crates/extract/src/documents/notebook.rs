//! Splits Jupyter notebooks into the sections and definitions of their cells.

use std::ops::Range;

use memod_base::types::{ChunkKind, FileStructure};

use super::markdown::opens_too_many_containers;
use super::markdown_outline::read_outline;
use super::notebook_text::{CellKind, NotebookText};
use super::sections::{ChunkSize, DocumentChunkWriter, DocumentOutline, SectionHeading, normalize_heading};
use crate::chunks::chunk::{Chunk, Extraction};
use crate::chunks::cut_text::LineIndex;
use crate::chunks::plain_text::is_minified;
use crate::code;
use crate::lang::{self, Language};

/// Commands of IPython that run a cell unchanged; with any other `%%` the cell is in another language.
const SAME_LANGUAGE_MAGICS: [&str; 5] = ["%%time", "%%timeit", "%%capture", "%%prun", "%%memit"];
/// Commands of IPython, in a line, that run the statement after them.
const STATEMENT_MAGICS: [&str; 4] = ["time", "timeit", "prun", "memit"];

/// Returns the sections of the Markdown cells and the chunks of the code cells. Spans are byte offsets in `notebook.text`.
pub(crate) fn extract(notebook: &NotebookText) -> Extraction {
    let text = &notebook.restore_line_breaks();
    let language =
        notebook.language.as_deref().and_then(lang::canonical_format_name).and_then(lang::language_by_name);
    let mut cells = CellWriter {
        text,
        language,
        code: blank_text(text),
        sections: DocumentChunkWriter::new(text, LineIndex::new(&notebook.text), ChunkSize::INDEXED),
    };
    for cell in &notebook.cells {
        match cell.kind {
            CellKind::Markdown | CellKind::Heading(_) => {
                let outline = cells.cell_outline(cell.bytes.clone(), cell.kind, ChunkSize::INDEXED.max_chars);
                if outline.opted_out {
                    return Extraction { opted_out: true, ..Extraction::default() };
                }
                cells.sections.add_sections(&outline, cell.bytes.clone());
            }
            CellKind::Code => cells.add_code(cell.bytes.clone()),
            CellKind::Raw => cells.add_text(cell.bytes.clone()),
        }
    }
    cells.into_extracted(notebook)
}

/// Returns a text with blanks in place of everything but line breaks, of the same length.
fn blank_text(text: &str) -> Vec<u8> {
    text.bytes().map(|byte| if byte == b'\n' { b'\n' } else { b' ' }).collect()
}

/// Writes the chunks of the cells in order.
struct CellWriter<'a> {
    text: &'a str,
    /// The language of the kernel, if it has a grammar.
    language: Option<&'static Language>,
    /// The code of all cells so far, each at its position in the text, with blanks between them.
    code: Vec<u8>,
    sections: DocumentChunkWriter<'a>,
}

impl CellWriter<'_> {
    /// Reads the headings of a cell.
    fn cell_outline(&self, bytes: Range<usize>, kind: CellKind, max_chars: usize) -> DocumentOutline {
        let source = &self.text[bytes.clone()];
        match kind {
            CellKind::Heading(level) => {
                let heading = SectionHeading { level, title: normalize_heading(source), bytes };
                DocumentOutline::from_headings(vec![heading])
            }
            _ if opens_too_many_containers(source) => DocumentOutline::default(),
            _ => read_outline(self.text, bytes, max_chars),
        }
    }

    /// Adds a code cell: its definitions, or the whole cell if it has none.
    fn add_code(&mut self, bytes: Range<usize>) {
        let source = mask_ipython_commands(&self.text[bytes.clone()]);
        let language = self.language.filter(|_| !is_in_other_language(&source));
        let found = language.map(|language| code::extract(language, "", &source));
        if language.is_some() {
            self.code[bytes.clone()].copy_from_slice(source.as_bytes());
        }
        match found.filter(|found| !found.definitions.is_empty()) {
            None => self.add_text(bytes),
            Some(found) => {
                for chunk in found.chunks.into_iter().filter(|chunk| chunk.kind != ChunkKind::Map) {
                    let title = chunk.title.or_else(|| self.cell_title());
                    let bytes = bytes.start + chunk.bytes.start..bytes.start + chunk.bytes.end;
                    self.sections.push_chunk(Chunk { bytes, title, ..chunk });
                }
            }
        }
    }

    /// Adds a cell as plain text, with the heading path of the section that it is in.
    fn add_text(&mut self, bytes: Range<usize>) {
        for chunk in crate::chunks::plain_text::extract(&self.text[bytes.clone()]).chunks {
            let bytes = bytes.start + chunk.bytes.start..bytes.start + chunk.bytes.end;
            self.sections.push_chunk(Chunk { bytes, title: self.cell_title(), ..chunk });
        }
    }

    fn cell_title(&self) -> Option<String> {
        Some(self.sections.heading_path()).filter(|title| !title.is_empty())
    }

    /// Returns the chunks of all cells, with the definitions and uses of all code cells.
    fn into_extracted(self, notebook: &NotebookText) -> Extraction {
        let mut chunks = self.sections.into_chunks();
        // A notebook whose JSON is on one line has its line breaks in `code`.
        let minified = is_minified(&String::from_utf8_lossy(&self.code));
        let code = String::from_utf8(self.code).unwrap_or_default();
        let Some(language) = self.language.filter(|_| !minified) else {
            return Extraction { chunks, minified, ..Extraction::default() };
        };
        let mut whole = code::extract(language, "", &code);
        let (own, file) = (LineIndex::new(&code), LineIndex::new(&notebook.text));
        let line_in_file = |line: u32| file.line_at(own.line_start(line));
        for definition in &mut whole.definitions {
            definition.lines = (line_in_file(definition.lines.0), line_in_file(definition.lines.1));
        }
        // The uses of a notebook are resolved like those of a file of Python.
        match language.name {
            "python" => place_in_file(&mut whole.structure, line_in_file),
            _ => whole.structure = FileStructure::default(),
        }
        if let Some(map) = whole.chunks.into_iter().find(|chunk| chunk.kind == ChunkKind::Map) {
            chunks.insert(0, Chunk { lines: file.line_span(&map.bytes), ..map });
        }
        Extraction { chunks, ..whole }
    }
}

/// Replaces the line numbers of the code by those of the file, and removes the names that the masking of IPython commands left.
fn place_in_file(structure: &mut FileStructure, line_in_file: impl Fn(u32) -> u32) {
    let is_command = |name: &str| name.len() > 1 && name.bytes().all(|byte| byte == b'_');
    let FileStructure { uses, names, .. } = structure;
    uses.retain(|used| !names.get(used.name as usize).is_some_and(|name| is_command(name)));
    for used in &mut structure.uses {
        used.line = line_in_file(used.line);
    }
    for import in &mut structure.imports {
        import.line = line_in_file(import.line);
        import.scope_lines =
            import.scope_lines.map(|(first, last)| (line_in_file(first), line_in_file(last)));
    }
    for value in &mut structure.values {
        value.line = line_in_file(value.line);
        if value.last_line != u32::MAX {
            value.last_line = line_in_file(value.last_line);
        }
    }
    for declared in &mut structure.declared {
        declared.lines = (line_in_file(declared.lines.0), line_in_file(declared.lines.1));
        declared.name_at.0 = line_in_file(declared.name_at.0);
    }
}

/// Returns the source of a cell with underscores in place of each command of IPython (`%matplotlib inline`, `!ls`), with the
/// same length. The underscores parse as a name; a comment in their place would be read as the documentation of the
/// definition below it.
fn mask_ipython_commands(source: &str) -> String {
    source
        .split_inclusive('\n')
        .map(|line| {
            let code = line.trim_end();
            match find_ipython_command(code) {
                Some(command) => {
                    let end = if command.ends_before_statement { ";" } else { "" };
                    let n_marks = command.bytes.len() - end.len();
                    let (before, after) = (&line[..command.bytes.start], &line[command.bytes.end..]);
                    format!("{before}{}{end}{after}", "_".repeat(n_marks))
                }
                None => line.to_owned(),
            }
        })
        .collect()
}

/// A command of IPython in a line.
struct IpythonCommand {
    bytes: Range<usize>,
    /// Whether a statement follows it in the line: `%time f()`.
    ends_before_statement: bool,
}

/// Finds the command of IPython in a line without its line break: a line of its own, the value of an assignment, a question
/// (`name?`), or the word before a statement (`%time f()`).
fn find_ipython_command(line: &str) -> Option<IpythonCommand> {
    let whole =
        |start: usize| Some(IpythonCommand { bytes: start..line.len(), ends_before_statement: false });
    let start = line.len() - line.trim_start().len();
    let own = &line[start..];
    let is_name = |text: &str| text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if let Some(magic) = own.strip_prefix("%%").and_then(|_| own.split_whitespace().next()) {
        return SAME_LANGUAGE_MAGICS.contains(&magic).then(|| whole(start)).flatten();
    }
    if let Some(magic) = own.strip_prefix('%') {
        let (word, rest) = magic.split_once(' ').unwrap_or((magic, ""));
        if STATEMENT_MAGICS.contains(&word) && !rest.trim().is_empty() && !rest.trim().starts_with('-') {
            let bytes = start..start + 1 + word.len();
            return Some(IpythonCommand { bytes, ends_before_statement: true });
        }
        return (start == 0 || is_name(magic)).then(|| whole(start)).flatten();
    }
    if own.starts_with(['!', '?']) {
        return whole(start);
    }
    let question = own.trim_end_matches('?');
    let is_path = |text: &str| text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    if question.len() < own.len() && is_name(question) && is_path(question) {
        return whole(start);
    }
    let (target, value) = own.split_once('=')?;
    let command = value.trim_start();
    let is_command = command.starts_with('!') || command.strip_prefix('%').is_some_and(is_name);
    let is_target = target.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ',' | ' '));
    (is_command && is_target).then(|| whole(line.len() - command.len())).flatten()
}

fn is_in_other_language(source: &str) -> bool {
    source.trim_start().starts_with("%%")
}

#[cfg(test)]
mod tests;
