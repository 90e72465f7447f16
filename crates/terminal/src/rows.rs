//! Formats lists: chooses the fields of their rows, and writes them in the requested format.
//!
//! A verb that lists passes its result to this module, which turns the result into rows of named values. `row_tables` declares
//! the fields, and `row_formats` writes the rows. No verb knows a format.

mod row_formats;
mod row_tables;

use std::io::Write;
use std::iter;

use serde::Serialize;
use serde_json::Value;

use crate::common_args::JsonForm;
use crate::error::CliError;
use crate::rows_args::{RowFormat, RowsArgs};
pub use row_tables::{
    CHANGED_FILES, COMMITS, HITS, MEMORIES, MEMORY_CHANGES, MEMORY_LINKS, NAME_COUNTS, OUTLINE_ITEMS,
    RELATED_DEFINITIONS, RELATED_MEMORIES, USES,
};

/// Maximum number of characters of the line of text that replaces a missing field, such as the title of a memory.
const MOST_LINE_CHARS: usize = 100;

/// A field: its name, and the JSON pointer (RFC 6901) to its value in a row. A second pointer, after a space, is used if the value
/// at the first is null.
pub type Column = (&'static str, &'static str);

/// The fields of one kind of row.
#[derive(Debug)]
pub struct RowSchema {
    /// Name of the list of rows, which is the key of the array in JSON.
    rows_name: &'static str,
    /// Name of one row, in XML.
    row_name: &'static str,
    /// Every field.
    columns: &'static [Column],
    /// Fields of a Markdown table.
    md_fields: &'static [&'static str],
    /// Fields in TOON.
    toon_fields: &'static [&'static str],
    /// Fields in compact TOON.
    compact_fields: &'static [&'static str],
    /// Fields that have another name or pointer in TOON; `--fields` accepts these names too.
    aliases: &'static [Column],
    /// Fields that have another pointer in compact TOON only.
    compact_aliases: &'static [Column],
}

impl RowSchema {
    /// Returns the names of all fields.
    pub fn field_names(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|column| column.0)
    }
}

/// The format of a result.
#[derive(Clone, Debug)]
pub enum OutputShape {
    /// Text for people, written by the verb.
    Text,
    /// The result as one object of JSON.
    Json(JsonForm),
    /// The rows as objects of JSON.
    JsonLines,
    /// Selected fields of the rows, in a format of rows.
    Rows(RowSelection),
}

/// The fields of rows to write, and their format.
#[derive(Clone, Debug)]
pub struct RowSelection {
    format: RowFormat,
    schema: &'static RowSchema,
    columns: Vec<Column>,
}

/// A named scalar of a result beside its rows, such as their total.
pub type ScalarField = (&'static str, Value);

/// A result that is a list.
pub trait RowListing: Serialize {
    /// An element of the list.
    type Row: Serialize;
    /// Returns the rows.
    fn list_rows(&self) -> &[Self::Row];
    /// Returns the scalars beside the rows, such as a total. Scalars that are null are not written.
    fn scalar_fields(&self) -> Vec<ScalarField> {
        Vec::new()
    }
}

impl RowsArgs {
    /// Returns the format of the output that these flags and `--json` ask for, for rows of this kind.
    ///
    /// # Errors
    /// When a field that the flags name does not exist.
    pub fn output_shape(
        &self,
        table: &'static RowSchema,
        json: Option<JsonForm>,
    ) -> Result<OutputShape, CliError> {
        let format = json.map_or(self.format.unwrap_or(RowFormat::Text), |_| RowFormat::Json);
        if !self.fields.is_empty() {
            let columns = table.find_columns(&self.fields)?;
            return Ok(OutputShape::Rows(RowSelection { format, schema: table, columns }));
        }
        let columns = match format {
            RowFormat::Text => return Ok(OutputShape::Text),
            RowFormat::Json => return Ok(OutputShape::Json(json.unwrap_or(JsonForm::Lean))),
            RowFormat::Jsonl => return Ok(OutputShape::JsonLines),
            RowFormat::Csv | RowFormat::Xml => table.columns.to_vec(),
            RowFormat::Md => pick_columns(table.md_fields, &[table.columns, table.aliases]),
            RowFormat::Toon => pick_columns(table.toon_fields, &[table.aliases, table.columns]),
            RowFormat::ToonCompact => {
                pick_columns(table.compact_fields, &[table.compact_aliases, table.aliases, table.columns])
            }
        };
        Ok(OutputShape::Rows(RowSelection { format, schema: table, columns }))
    }
}

impl OutputShape {
    /// Returns the format of errors, and of results that are not lists.
    pub fn for_single_result(json: Option<JsonForm>) -> Self {
        json.map_or(Self::Text, Self::Json)
    }

    /// Returns whether the answer is one object of JSON.
    pub fn is_json_object(&self) -> bool {
        matches!(self, Self::Json(_) | Self::Rows(RowSelection { format: RowFormat::Json, .. }))
    }

    /// Returns whether the output is JSON.
    pub fn is_json(&self) -> bool {
        self.is_json_object()
            || matches!(self, Self::JsonLines | Self::Rows(RowSelection { format: RowFormat::Jsonl, .. }))
    }
}

impl RowSchema {
    /// Returns the columns with these names, without repetition.
    fn find_columns(&self, names: &[String]) -> Result<Vec<Column>, CliError> {
        let mut columns = Vec::new();
        for name in names {
            let Some(column) = find_column(name.trim(), &[self.columns, self.aliases]) else {
                let known: Vec<_> = self.columns.iter().map(|column| column.0).collect();
                let message = format!("--fields: {} have no field {name:?}", self.rows_name);
                return Err(CliError::UnknownField { message, known_fields: known.join(", ") });
            };
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        Ok(columns)
    }
}

/// Returns the column with this name from the first list that has one.
fn find_column(name: &str, lists: &[&[Column]]) -> Option<Column> {
    lists.iter().copied().flatten().find(|column| column.0 == name).copied()
}

fn pick_columns(names: &[&str], columns: &[&[Column]]) -> Vec<Column> {
    names.iter().filter_map(|name| find_column(name, columns)).collect()
}

/// Writes the rows of a result, holding one row in memory at a time.
///
/// # Errors
/// When writing to `out` fails.
pub fn print_rows<L: RowListing>(
    result: &L,
    selection: &RowSelection,
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let RowSelection { format, schema: table, columns } = selection;
    let names: Vec<_> = columns.iter().map(|column| column.0).collect();
    let count = ("count", Value::from(result.list_rows().len()));
    let scalars = iter::once(count).chain(result.scalar_fields()).filter(|scalar| !scalar.1.is_null());
    let scalars: Vec<_> = scalars.collect();
    let head = row_formats::RowHeader {
        rows_name: table.rows_name,
        row_name: table.row_name,
        field_names: &names,
        scalars: &scalars,
    };
    let mut rows = result.list_rows().iter().map(|row| row_values(row, columns, *format));
    Ok(row_formats::write_rows(*format, &head, &mut rows, out)?)
}

/// Returns the values of some fields of a row, null for those that it does not have.
fn row_values<R: Serialize>(row: &R, columns: &[Column], format: RowFormat) -> Vec<Value> {
    // Serialize to text, as in `output`: a second serializer would be compiled for every type of row.
    let row: Value = serde_json::to_vec(row).and_then(|row| serde_json::from_slice(&row)).unwrap_or_default();
    columns.iter().map(|(_, pointers)| field_value(&row, pointers, format)).collect()
}

/// Returns the value of a field. In compact TOON, a text from the second pointer is cut to one line.
fn field_value(row: &Value, pointers: &str, format: RowFormat) -> Value {
    let values = pointers.split(' ').map(|at| row.pointer(at).filter(|value| !value.is_null()));
    match values.enumerate().find_map(|(nth, value)| Some((nth, value?))) {
        Some((1.., Value::String(text))) if format == RowFormat::ToonCompact => Value::from(first_line(text)),
        found => found.map(|(_, value)| value.clone()).unwrap_or_default(),
    }
}

/// Returns the first line that is not blank, cut to [`MOST_LINE_CHARS`] characters.
fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(MOST_LINE_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests;
