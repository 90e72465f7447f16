//! Decodes the text of the cells of a Jupyter notebook, on the same lines as in the file.
//!
//! Formats 3 and 4 of nbformat. Outputs and attachments are skipped without being decoded.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

/// Language of a notebook that names none; the same default as in nbconvert.
const DEFAULT_LANGUAGE: &str = "python";

/// The kind of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellKind {
    Markdown,
    Code,
    /// A heading of this level; format 3 only.
    Heading(usize),
    /// Text for another program.
    Raw,
}

/// A cell that is not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotebookCell {
    pub(crate) kind: CellKind,
    /// Its span in the notebook's text.
    pub(crate) bytes: Range<usize>,
}

/// The decoded sources of the cells, without anything else.
///
/// The text has the same lines as the file: a line break of a source that is within one line of the file is a space in the
/// text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NotebookText {
    pub(crate) text: String,
    /// Byte offsets of the spaces that replace line breaks of the sources, ascending.
    folds: Vec<usize>,
    /// In the order of the text.
    pub(crate) cells: Vec<NotebookCell>,
    /// The language of the kernel.
    pub(crate) language: Option<String>,
}

#[derive(Deserialize)]
struct NotebookFile<'a> {
    #[serde(borrow)]
    cells: Option<Vec<FileCell<'a>>>,
    #[serde(borrow)]
    worksheets: Option<Vec<Worksheet<'a>>>,
    #[serde(default)]
    metadata: NotebookMetadata,
}

#[derive(Deserialize)]
struct Worksheet<'a> {
    #[serde(borrow, default)]
    cells: Vec<FileCell<'a>>,
}

#[derive(Deserialize)]
struct FileCell<'a> {
    #[serde(default)]
    cell_type: String,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    /// The source of a code cell in format 3.
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    level: Option<usize>,
    /// In format 3.
    language: Option<String>,
}

#[derive(Default, Deserialize)]
struct NotebookMetadata {
    kernelspec: Option<KernelInfo>,
    language_info: Option<KernelInfo>,
}

#[derive(Deserialize)]
struct KernelInfo {
    language: Option<String>,
    name: Option<String>,
}

impl NotebookText {
    /// Decodes a file; an empty file is an empty notebook.
    ///
    /// # Errors
    /// Returns a sentence that says why the file is no notebook.
    pub(crate) fn decode(file: &str) -> Result<Self, String> {
        let json = file.trim_start_matches('\u{feff}');
        if json.trim().is_empty() {
            return Ok(Self::default());
        }
        let parsed: NotebookFile<'_> = serde_json::from_str(json).map_err(not_a_notebook_error)?;
        let sheets =
            parsed.worksheets.map(|sheets| sheets.into_iter().flat_map(|sheet| sheet.cells).collect());
        let Some(cells) = parsed.cells.or(sheets) else {
            return Err("not a notebook: it has neither cells nor worksheets".to_owned());
        };
        let NotebookMetadata { kernelspec, language_info } = parsed.metadata;
        let of_kernel = kernelspec.and_then(|kernel| kernel.language);
        let language = of_kernel
            .or_else(|| language_info.and_then(|info| info.name))
            .or_else(|| cells.iter().find_map(|cell| cell.language.clone()))
            .unwrap_or_else(|| DEFAULT_LANGUAGE.to_owned());
        let mut decoder = CellDecoder { file, read_to: 0, notebook: Self::default() };
        for cell in &cells {
            decoder.add_cell(cell).map_err(not_a_notebook_error)?;
        }
        decoder.write_line_breaks(file.len());
        Ok(Self { language: Some(language.to_lowercase()), ..decoder.notebook })
    }

    /// Returns the text with the line breaks of the sources in place of the spaces. The spans of the cells are valid in it
    /// too.
    pub(crate) fn restore_line_breaks(&self) -> String {
        let mut unfolded = String::with_capacity(self.text.len());
        for fold in &self.folds {
            unfolded.push_str(&self.text[unfolded.len()..*fold]);
            unfolded.push('\n');
        }
        unfolded.push_str(&self.text[unfolded.len()..]);
        unfolded
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn not_a_notebook_error(error: serde_json::Error) -> String {
    format!("not a notebook: {error}")
}

/// Writes the sources of cells in the order of the file.
struct CellDecoder<'a> {
    file: &'a str,
    /// The line breaks of the file up to this byte are already in the text.
    read_to: usize,
    notebook: NotebookText,
}

impl CellDecoder<'_> {
    fn add_cell(&mut self, cell: &FileCell<'_>) -> Result<(), serde_json::Error> {
        let Some(source) = cell.source.or(cell.input) else { return Ok(()) };
        let kind = match cell.cell_type.as_str() {
            "code" => CellKind::Code,
            "markdown" | "html" => CellKind::Markdown,
            "heading" => CellKind::Heading(cell.level.unwrap_or(1)),
            _ => CellKind::Raw,
        };
        let parts =
            if source.get().starts_with('[') { serde_json::from_str(source.get())? } else { vec![source] };
        let mut start = None;
        for part in parts {
            self.write_line_breaks(part.get().as_ptr() as usize - self.file.as_ptr() as usize);
            start.get_or_insert(self.notebook.text.len());
            self.write_part(&serde_json::from_str::<String>(part.get())?);
        }
        let end = self.notebook.text.len();
        if !self.ends_with_fold() {
            self.write_part("\n"); // the next cell may be on the same line of the file
        }
        if let Some(start) = start.filter(|start| !self.notebook.text[*start..].trim().is_empty()) {
            self.notebook.cells.push(NotebookCell { kind, bytes: start..end });
        }
        Ok(())
    }

    /// Writes the line breaks of the file up to the byte `at`.
    fn write_line_breaks(&mut self, at: usize) {
        let passed = self.file.get(self.read_to..at).unwrap_or_default();
        let n_lines = passed.bytes().filter(|byte| *byte == b'\n').count();
        if n_lines > 0 && self.ends_with_fold() {
            // The last line break of the source is also a line break of the file.
            self.notebook.folds.pop();
            self.notebook.text.pop();
        }
        self.notebook.text.extend(std::iter::repeat_n('\n', n_lines));
        self.read_to = at.max(self.read_to);
    }

    /// Returns whether the last character of the text is a space in place of a line break of the notebook.
    fn ends_with_fold(&self) -> bool {
        self.notebook.folds.last().is_some_and(|fold| fold + 1 == self.notebook.text.len())
    }

    /// Writes a part of a source, which lies on one line of the file.
    fn write_part(&mut self, part: &str) {
        for c in part.chars() {
            if c == '\n' {
                self.notebook.folds.push(self.notebook.text.len());
            }
            self.notebook.text.push(if c.is_control() && c != '\t' { ' ' } else { c });
        }
    }
}

#[cfg(test)]
mod tests;
