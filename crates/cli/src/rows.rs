//! Formats lists: which fields of which rows, in which format.
//!
//! A verb that lists hands over its result. This module turns it into rows of named values (`tables` declares the
//! fields), and `formats` writes them. No verb knows a format.

mod formats;
mod tables;

use std::io::Write;
use std::iter;

use serde::Serialize;
use serde_json::Value;

use super::args::{Format, JsonForm, RowsArgs};
use super::error::CliError;
pub(super) use tables::{
    CHANGES, COMMITS, FILES, HITS, ITEMS, LINKS, MEMORIES, NAMES, REACHED, RELATED, USES,
};

/// Characters of a line that stands in for what is missing, as where a memory has one line.
const MOST_LINE: usize = 100;

/// A field: its name and its JSON pointer (RFC 6901) in a row; a second pointer, after a space, is used where the first
/// is null.
pub(super) type Column = (&'static str, &'static str);

/// One kind of rows.
#[derive(Debug)]
pub(super) struct Table {
    /// Name of the rows: the key of their array in JSON.
    rows: &'static str,
    /// Name of one row, in XML.
    row: &'static str,
    /// Every field.
    columns: &'static [Column],
    /// Fields of a Markdown table.
    md: &'static [&'static str],
    /// Fields in TOON.
    toon: &'static [&'static str],
    /// Fields in compact TOON.
    compact: &'static [&'static str],
    /// Fields with another name or pointer in TOON; these names are accepted too.
    aliases: &'static [Column],
    /// Fields with another pointer in compact TOON alone.
    compact_aliases: &'static [Column],
}

/// Returns what a verb lists; `None` for one that lists nothing.
pub(super) fn table_of(verb: &str) -> Option<&'static Table> {
    Some(match verb {
        "search" | "explain" => &HITS,
        "changed" => &FILES,
        "why" => &COMMITS,
        "outline" => &ITEMS,
        "refs" => &USES,
        "callers" | "callees" | "impact" | "tests" | "implements" => &REACHED,
        "get" | "list" | "recall" | "recent" => &MEMORIES,
        "tags" | "containers" => &NAMES,
        "history" => &CHANGES,
        "related" => &RELATED,
        "links" => &LINKS,
        _ => return None,
    })
}

impl Table {
    /// Returns the names of all fields.
    pub(super) fn fields(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|column| column.0)
    }
}

/// The format of a result.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// Text for people, written by the verb.
    Text,
    /// The result as one object of JSON.
    Json(JsonForm),
    /// The rows as objects of JSON.
    JsonLines,
    /// Some fields of the rows.
    Rows(Format, &'static Table, Vec<Column>),
}

/// A scalar next to the rows of a result, such as their total or whether it is fresh.
pub(super) type Fact = (&'static str, Value);

/// A result that is a list.
pub(super) trait Listing: Serialize {
    /// One of the list.
    type Row: Serialize;
    /// Returns the list.
    fn rows(&self) -> &[Self::Row];
    /// Returns the scalars next to the list, such as a total; null ones are left out.
    fn facts(&self) -> Vec<Fact> {
        Vec::new()
    }
}

impl RowsArgs {
    /// Parses the flags for rows of this kind.
    ///
    /// # Errors
    /// When a field does not exist.
    pub(super) fn shape(&self, table: &'static Table, json: Option<JsonForm>) -> Result<Shape, CliError> {
        let format = json.map_or(self.format.unwrap_or(Format::Text), |_| Format::Json);
        if !self.fields.is_empty() {
            return Ok(Shape::Rows(format, table, table.named(&self.fields)?));
        }
        let columns = match format {
            Format::Text => return Ok(Shape::Text),
            Format::Json => return Ok(Shape::Json(json.unwrap_or(JsonForm::Lean))),
            Format::Jsonl => return Ok(Shape::JsonLines),
            Format::Csv | Format::Xml => table.columns.to_vec(),
            Format::Md => some(table.md, &[table.columns, table.aliases]),
            Format::Toon => some(table.toon, &[table.aliases, table.columns]),
            Format::ToonCompact => {
                some(table.compact, &[table.compact_aliases, table.aliases, table.columns])
            }
        };
        Ok(Shape::Rows(format, table, columns))
    }
}

impl Shape {
    /// Returns the shape of errors and of results that are not lists.
    pub(super) fn plain(json: Option<JsonForm>) -> Self {
        json.map_or(Self::Text, Self::Json)
    }

    /// Returns whether the answer is one object of JSON.
    pub(super) fn is_object(&self) -> bool {
        matches!(self, Self::Json(_) | Self::Rows(Format::Json, ..))
    }

    /// Returns whether the output is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.is_object() || matches!(self, Self::JsonLines | Self::Rows(Format::Jsonl, ..))
    }
}

impl Table {
    /// Returns the columns with these names, without repetition.
    fn named(&self, names: &[String]) -> Result<Vec<Column>, CliError> {
        let mut columns = Vec::new();
        for name in names {
            let Some(column) = find(name.trim(), &[self.columns, self.aliases]) else {
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

/// Returns the column with a name; the first list takes precedence.
fn find(name: &str, lists: &[&[Column]]) -> Option<Column> {
    lists.iter().copied().flatten().find(|column| column.0 == name).copied()
}

fn some(names: &[&str], columns: &[&[Column]]) -> Vec<Column> {
    names.iter().filter_map(|name| find(name, columns)).collect()
}

/// Writes the rows of a result, holding one row in memory at a time.
///
/// # Errors
/// When writing to `out` fails.
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
    let mut rows = result.rows().iter().map(|row| cells(row, columns, format));
    Ok(formats::write(format, &head, &mut rows, out)?)
}

/// Returns the values of some fields of a row, null for what it does not have.
fn cells<R: Serialize>(row: &R, columns: &[Column], format: Format) -> Vec<Value> {
    // By way of text, as in `output`: a further serializer would be compiled for every type of row.
    let row: Value = serde_json::to_vec(row).and_then(|row| serde_json::from_slice(&row)).unwrap_or_default();
    columns.iter().map(|(_, places)| cell(&row, places, format)).collect()
}

/// Returns a value. In compact TOON a text that stands in for what is missing is one line.
fn cell(row: &Value, places: &str, format: Format) -> Value {
    let values = places.split(' ').map(|at| row.pointer(at).filter(|value| !value.is_null()));
    match values.enumerate().find_map(|(nth, value)| Some((nth, value?))) {
        Some((1.., Value::String(text))) if format == Format::ToonCompact => Value::from(first_line(text)),
        found => found.map(|(_, value)| value.clone()).unwrap_or_default(),
    }
}

/// Returns the first line with a text, cut to [`MOST_LINE`] characters.
fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(MOST_LINE) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests;
