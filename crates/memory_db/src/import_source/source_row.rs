//! Reads the columns of a row of another system's database.
//!
//! SQLite allows values of any type in any column. Each value is read by its actual type, and an invalid row is refused without
//! affecting other rows. In errors, the name of the column comes first.

use memod_base::types::{format_rfc3339, parse_with_exact_numbers};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde_json::{Map, Value, json};

use super::source_table::SourceTable;

/// Maximum length of a text that is read, characters; no valid text is longer.
const MOST_CHARS: usize = 70_000;

/// Returns the names of the stored columns of a table, without computed columns.
pub(super) fn list_columns(conn: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = conn.prepare("SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0")?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

/// Returns the query for the rows of a table after the row number `?1`; `None` if the database has no such table.
pub(super) fn build_query(conn: &Connection, table: &SourceTable) -> rusqlite::Result<Option<String>> {
    let columns = list_columns(conn, table.name)?;
    if columns.is_empty() {
        return Ok(None);
    }
    let value = |name: &&str| match columns.iter().any(|column| column == name) {
        true => format!(
            "CASE typeof({name}) WHEN 'text' THEN substr({name}, 1, {MOST_CHARS}) ELSE {name} END AS {name}"
        ),
        false => format!("NULL AS {name}"),
    };
    let values: Vec<_> = table.required_columns.iter().chain(table.optional_columns).map(value).collect();
    let (values, name) = (values.join(", "), table.name);
    Ok(Some(format!("SELECT rowid, {values} FROM {name} WHERE rowid > ?1 ORDER BY rowid")))
}

/// The values of a row by column name.
pub(super) struct SourceRow<'a> {
    row: &'a Row<'a>,
}

impl<'a> SourceRow<'a> {
    pub(super) fn new(row: &'a Row<'a>) -> Self {
        Self { row }
    }

    /// Returns the value in a column.
    fn raw_value(&self, name: &str) -> Result<ValueRef<'_>, String> {
        self.row.get_ref(name).map_err(|error| format!("{name}: {error}"))
    }

    /// Returns the text in a column, with a number converted to text; `None` for NULL.
    pub(super) fn read_text(&self, name: &str) -> Result<Option<String>, String> {
        match self.raw_value(name)? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(number) => Ok(Some(number.to_string())),
            ValueRef::Real(number) => Ok(Some(number.to_string())),
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Some(text.to_owned())),
                Err(_) => Err(format!("{name}: not UTF-8")),
            },
            ValueRef::Blob(_) => Err(format!("{name}: a blob, not a text")),
        }
    }

    /// Returns the text in a column, which must not be NULL.
    pub(super) fn require_text(&self, name: &str) -> Result<String, String> {
        self.read_text(name)?.ok_or_else(|| format!("{name}: missing"))
    }

    /// Returns the number in a column, also from a text; `None` for NULL.
    pub(super) fn read_number(&self, name: &str) -> Result<Option<f64>, String> {
        match self.raw_value(name)? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(number) => Ok(Some(number as f64)),
            ValueRef::Real(number) if number.is_finite() => Ok(Some(number)),
            ValueRef::Text(bytes) => {
                let number = std::str::from_utf8(bytes).ok().and_then(|text| text.trim().parse().ok());
                number.map(Some).ok_or_else(|| format!("{name}: not a number"))
            }
            _ => Err(format!("{name}: not a number")),
        }
    }

    /// Returns the count in a column: a whole number, 0 for NULL or a negative number.
    pub(super) fn read_count(&self, name: &str) -> Result<u64, String> {
        Ok(self.read_number(name)?.unwrap_or_default().max(0.0) as u64)
    }

    /// Returns the time in a column, in RFC 3339. The column has a number of units since 1970, `per_second` of them a second;
    /// NULL, 0 and negative numbers are no time.
    pub(super) fn read_time(&self, name: &str, per_second: f64) -> Result<Option<String>, String> {
        let number = self.read_number(name)?.filter(|number| *number > 0.0);
        Ok(number.map(|number| format_rfc3339((number * 1_000.0 / per_second).round() as i64)))
    }

    /// Returns the JSON object in a column; any other value becomes an object with this value under the name of the column.
    pub(super) fn read_object(&self, name: &str) -> Result<Map<String, Value>, String> {
        let Some(text) = self.read_text(name)?.filter(|text| !text.trim().is_empty()) else {
            return Ok(Map::new());
        };
        Ok(match parse_with_exact_numbers(&text) {
            Ok(Value::Object(object)) => object,
            Ok(other) => Map::from_iter([(name.to_owned(), other)]),
            Err(_) => Map::from_iter([(name.to_owned(), Value::from(text))]),
        })
    }
}

/// Adds the origin of an imported memory to its metadata: the system, the memory's id there, and those of `more` that have values.
pub(super) fn add_origin(
    metadata: &mut Map<String, Value>,
    system: &str,
    id: &str,
    more: &[(&str, Option<String>)],
) {
    let mut imported = Map::from_iter([("from".to_owned(), json!(system)), ("id".to_owned(), json!(id))]);
    let more = more.iter().filter_map(|(name, value)| Some(((*name).to_owned(), json!(value.as_ref()?))));
    imported.extend(more);
    metadata.insert("imported".to_owned(), Value::Object(imported));
}

/// Returns the tags in a text that is a JSON array or a comma-separated list.
pub(super) fn parse_tags(text: &str) -> Vec<String> {
    let listed: Option<Vec<String>> = serde_json::from_str(text).ok();
    let tags = listed.unwrap_or_else(|| text.split(',').map(|tag| tag.trim().to_owned()).collect());
    // A comma would separate tags in memod, so a comma in a tag becomes a space.
    tags.into_iter().map(|tag| tag.replace(',', " ")).filter(|tag| !tag.trim().is_empty()).collect()
}
