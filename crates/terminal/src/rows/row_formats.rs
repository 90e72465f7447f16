//! Writes rows as JSON, CSV, Markdown, XML and TOON.
//!
//! JSON and Markdown escape control characters. The other formats write a value unchanged, except for characters that they
//! cannot represent.

use std::io::{self, Write};

use serde_json::Value;

use super::ScalarField;
use crate::rows_args::RowFormat;
use crate::text::escape_for_display;

/// The names and scalars that are known before the first row is written.
pub(super) struct RowHeader<'a> {
    /// Name of the list of rows.
    pub(super) rows_name: &'a str,
    /// Name of one row.
    pub(super) row_name: &'a str,
    /// Names of the values of a row, in order.
    pub(super) field_names: &'a [&'a str],
    /// Scalars beside the rows.
    pub(super) scalars: &'a [ScalarField],
}

/// The rows; each has one value for each name of the header.
type Rows<'a> = &'a mut dyn Iterator<Item = Vec<Value>>;

/// Writes all rows in a format.
///
/// # Errors
/// When writing to `out` fails.
pub(super) fn write_rows(
    format: RowFormat,
    head: &RowHeader<'_>,
    rows: Rows<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        RowFormat::Text => write_tab_separated(rows, out),
        RowFormat::Json => write_json(head, rows, out),
        RowFormat::Jsonl => write_json_lines(head, rows, out),
        RowFormat::Csv => write_csv(head, rows, out),
        RowFormat::Md => write_markdown(head, rows, out),
        RowFormat::Xml => write_xml(head, rows, out),
        RowFormat::Toon | RowFormat::ToonCompact => write_toon(head, rows, out),
    }
}

/// Returns a value as text: empty for null, a list with commas (a span of lines as `1-3`), anything else as JSON.
pub(super) fn value_to_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) if !list.iter().any(Value::is_object) => {
            list.iter().map(item_to_text).collect::<Vec<_>>().join(",")
        }
        other => other.to_string(),
    }
}

fn item_to_text(value: &Value) -> String {
    match value.as_array().map(Vec::as_slice) {
        Some([first, last]) if first == last => first.to_string(),
        Some([first, last]) => format!("{first}-{last}"),
        _ => value_to_text(value),
    }
}

fn write_tab_separated(rows: Rows<'_>, out: &mut dyn Write) -> io::Result<()> {
    for row in rows {
        let cells: Vec<_> =
            row.iter().map(|cell| escape_for_display(&value_to_text(cell)).replace('\t', "\\t")).collect();
        writeln!(out, "{}", cells.join("\t"))?;
    }
    Ok(())
}

fn write_json(head: &RowHeader<'_>, rows: Rows<'_>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{")?;
    for (name, scalar) in head.scalars.iter().filter(|scalar| scalar.0 != "count") {
        write!(out, "\"{name}\":{scalar},")?;
    }
    write!(out, "\"{}\":[", head.rows_name)?;
    for (at, row) in rows.enumerate() {
        write!(out, "{}{}", if at > 0 { "," } else { "" }, json_object(head, &row))?;
    }
    writeln!(out, "]}}")
}

fn write_json_lines(head: &RowHeader<'_>, rows: Rows<'_>, out: &mut dyn Write) -> io::Result<()> {
    for row in rows {
        writeln!(out, "{}", json_object(head, &row))?;
    }
    Ok(())
}

/// Returns a row as a JSON object. The names come from a schema and need no escaping.
fn json_object(head: &RowHeader<'_>, row: &[Value]) -> String {
    let pairs: Vec<_> =
        head.field_names.iter().zip(row).map(|(name, cell)| format!("\"{name}\":{cell}")).collect();
    format!("{{{}}}", pairs.join(","))
}

fn write_csv(head: &RowHeader<'_>, rows: Rows<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(out);
    csv.write_record(head.field_names).map_err(csv_to_io_error)?;
    for row in rows {
        csv.write_record(row.iter().map(value_to_text)).map_err(csv_to_io_error)?;
    }
    csv.flush()
}

/// Returns the error of the underlying stream, so that a closed pipe is recognised.
fn csv_to_io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// Writes a Markdown table (GitHub Flavored Markdown, 4.10); a row is one line.
fn write_markdown(head: &RowHeader<'_>, rows: Rows<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "| {} |", head.field_names.join(" | "))?;
    writeln!(out, "|{}", " --- |".repeat(head.field_names.len()))?;
    for row in rows {
        let cells: Vec<_> = row.iter().map(|cell| escape_markdown_cell(&value_to_text(cell))).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    Ok(())
}

/// Escapes a Markdown cell: a line break becomes `<br>`, and markup gets a backslash, except `_` inside a word.
fn escape_markdown_cell(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let line = escape_for_display(line.strip_suffix('\r').unwrap_or(line)).replace('\t', " ");
        let mut cell = String::with_capacity(line.len());
        let mut chars = line.chars().peekable();
        let mut in_word = false;
        while let Some(c) = chars.next() {
            let is_inside = in_word && chars.peek().is_some_and(|next| next.is_alphanumeric());
            if "\\`*[]<>|~&$".contains(c) || (c == '_' && !is_inside) {
                cell.push('\\');
            }
            cell.push(c);
            in_word = c.is_alphanumeric();
        }
        cell
    });
    lines.collect::<Vec<_>>().join("<br>")
}

/// Writes XML 1.0: scalars are attributes of the root, and values are elements; null is left out.
fn write_xml(head: &RowHeader<'_>, rows: Rows<'_>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{}", head.rows_name)?;
    for (name, scalar) in head.scalars {
        write!(out, " {name}=\"{}\"", escape_xml_text(&value_to_text(scalar)))?;
    }
    writeln!(out, ">")?;
    for row in rows {
        write!(out, "  <{}>", head.row_name)?;
        for (name, cell) in head.field_names.iter().zip(&row).filter(|(_, cell)| !cell.is_null()) {
            write!(out, "<{name}>{}</{name}>", xml_cell(cell))?;
        }
        writeln!(out, "</{}>", head.row_name)?;
    }
    writeln!(out, "</{}>", head.rows_name)
}

/// Returns a value as XML; a list becomes one element per item.
fn xml_cell(cell: &Value) -> String {
    match cell.as_array() {
        Some(list) => {
            list.iter().map(|one| format!("<item>{}</item>", escape_xml_text(&item_to_text(one)))).collect()
        }
        None => escape_xml_text(&value_to_text(cell)),
    }
}

/// Escapes a text for XML 1.0. Section 2.2 forbids most control characters, even as references; they are written as `\u{1b}`.
fn escape_xml_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // A parser would turn these into spaces in an attribute, and a carriage return into a line feed elsewhere.
            '\t' | '\n' | '\r' => out.push_str(&format!("&#{};", u32::from(c))),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// Writes TOON as ai-memory 0.6 defines it: `key:value|…`, then `rows[name|…]:`, then one line per row.
fn write_toon(head: &RowHeader<'_>, rows: Rows<'_>, out: &mut dyn Write) -> io::Result<()> {
    let scalars: Vec<_> =
        head.scalars.iter().map(|(name, scalar)| format!("{name}:{}", toon_cell(scalar))).collect();
    if !scalars.is_empty() {
        writeln!(out, "{}", scalars.join("|"))?;
    }
    writeln!(out, "{}[{}]:", head.rows_name, head.field_names.join("|"))?;
    for row in rows {
        writeln!(out, "{}", row.iter().map(toon_cell).collect::<Vec<_>>().join("|"))?;
    }
    Ok(())
}

/// Returns a value as a TOON cell. TOON has two escapes, and none for the backslash. A backslash at the end of a cell would hide
/// the next `|`, so a space follows it.
fn toon_cell(cell: &Value) -> String {
    let text = match cell {
        Value::Bool(is) => u8::from(*is).to_string(),
        Value::Object(_) => "[object]".to_owned(),
        other => value_to_text(other).replace('|', "\\|").replace('\n', "\\n"),
    };
    if text.ends_with('\\') { text + " " } else { text }
}
