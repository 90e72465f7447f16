//! Formats lists: which fields of which rows, in which format.
//!
//! Pure. A verb that lists hands over a result; here it becomes rows of named values (`tables` says which there are), and
//! `write` makes bytes of them. No verb knows a format.

mod formats;
mod tables;

use std::io::Write;
use std::iter;

use serde::Serialize;
use serde_json::Value;

use super::args::{Format, RowsArgs};
use super::error::CliError;
pub(super) use tables::{CHANGES, COMMITS, FILES, HITS, LINKS, MEMORIES, NAMES, RELATED};

/// A field: its name, and where it is in a row's JSON (a JSON pointer, RFC 6901; another behind a space for rows where the
/// first is null).
pub(super) type Column = (&'static str, &'static str);

/// One kind of rows.
#[derive(Debug)]
pub(super) struct Table {
    /// What they are called: the key of their array in JSON.
    rows: &'static str,
    /// What one is called, in XML.
    row: &'static str,
    /// Every field.
    columns: &'static [Column],
    /// Names of those in a table of Markdown.
    md: &'static [&'static str],
    /// Names of those in TOON.
    toon: &'static [&'static str],
    /// Names of those in compact TOON.
    compact: &'static [&'static str],
    /// Fields that TOON has under another name, or from another place; such a name may be asked for as well.
    aliases: &'static [Column],
}

/// How the answer of one run is printed.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// As the verb writes it for people.
    Text,
    /// The whole result.
    Json,
    /// The whole rows.
    JsonLines,
    /// Some fields of the rows.
    Rows(Format, &'static Table, Vec<Column>),
}

/// A scalar beside the rows of an answer: how many there are, whether it is fresh.
pub(super) type Fact = (&'static str, Value);

/// A result that is a list.
pub(super) trait Listing: Serialize {
    /// One of the list.
    type Row: Serialize;
    /// Returns the list.
    fn rows(&self) -> &[Self::Row];
    /// Returns what is said beside it and their count; null is left out.
    fn facts(&self) -> Vec<Fact> {
        Vec::new()
    }
}

impl RowsArgs {
    /// Reads what was typed for rows of this kind.
    ///
    /// # Errors
    /// When a field is not among them.
    pub(super) fn shape(&self, table: &'static Table, json: bool) -> Result<Shape, CliError> {
        let format = if json { Format::Json } else { self.format.unwrap_or(Format::Text) };
        if !self.fields.is_empty() {
            return Ok(Shape::Rows(format, table, table.named(&self.fields)?));
        }
        let columns = match format {
            Format::Text => return Ok(Shape::Text),
            Format::Json => return Ok(Shape::Json),
            Format::Jsonl => return Ok(Shape::JsonLines),
            Format::Csv | Format::Xml => table.columns.to_vec(),
            Format::Md => some(table.md, [table.columns, table.aliases]),
            Format::Toon => some(table.toon, [table.aliases, table.columns]),
            Format::ToonCompact => some(table.compact, [table.aliases, table.columns]),
        };
        Ok(Shape::Rows(format, table, columns))
    }
}

impl Shape {
    /// Returns the shape of what is no list, and of errors.
    pub(super) fn plain(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }

    /// Returns whether the answer is one object of JSON.
    pub(super) fn is_object(&self) -> bool {
        matches!(self, Self::Json | Self::Rows(Format::Json, ..))
    }

    /// Returns whether whoever reads it reads JSON.
    pub(super) fn is_json(&self) -> bool {
        self.is_object() || matches!(self, Self::JsonLines | Self::Rows(Format::Jsonl, ..))
    }
}

impl Table {
    /// Returns the columns of these names, each once.
    fn named(&self, names: &[String]) -> Result<Vec<Column>, CliError> {
        let mut columns = Vec::new();
        for name in names {
            let Some(column) = find(name.trim(), [self.columns, self.aliases]) else {
                let known: Vec<_> = self.columns.iter().map(|column| column.0).collect();
                let message = format!("--fields: {} have no field {name:?}", self.rows);
                return Err(CliError::Field { message, known: known.join(", ") });
            };
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        Ok(columns)
    }
}

/// Returns the column of a name; those of the first list win.
fn find(name: &str, [first, second]: [&[Column]; 2]) -> Option<Column> {
    first.iter().chain(second).find(|column| column.0 == name).copied()
}

fn some(names: &[&str], columns: [&[Column]; 2]) -> Vec<Column> {
    names.iter().filter_map(|name| find(name, columns)).collect()
}

/// Writes the rows of a result; each is dropped before the next is looked at.
///
/// # Errors
/// When `out` does not take it.
pub(super) fn print<L: Listing>(
    result: &L,
    (format, table, columns): (Format, &Table, &[Column]),
    out: &mut dyn Write,
) -> Result<(), CliError> {
    let names: Vec<_> = columns.iter().map(|column| column.0).collect();
    let count = ("count", Value::from(result.rows().len()));
    let facts = iter::once(count).chain(result.facts()).filter(|fact| !fact.1.is_null());
    let facts: Vec<_> = facts.collect();
    let head = formats::Head { rows: table.rows, row: table.row, names: &names, facts: &facts };
    let mut rows = result.rows().iter().map(|row| cells(row, columns));
    Ok(formats::write(format, &head, &mut rows, out)?)
}

/// Returns the values of some fields of a row, null for what it does not have.
fn cells<R: Serialize>(row: &R, columns: &[Column]) -> Vec<Value> {
    let row = serde_json::to_value(row).unwrap_or_default();
    columns.iter().map(|(_, places)| cell(&row, places).cloned().unwrap_or_default()).collect()
}

fn cell<'a>(row: &'a Value, places: &str) -> Option<&'a Value> {
    places.split(' ').filter_map(|at| row.pointer(at)).find(|value| !value.is_null())
}

#[cfg(test)]
mod tests;
