//! Imports JSON lines: our own exports and files written by hand.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use memod_base::paths::IoContext;
use memod_base::types::parse_with_exact_metadata;
use memod_proto::exchange::{Draft, EXPORT_FORMAT, FORMAT_VERSION, LinkDraft};
use memod_terminal::CliError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::draft_sender::DraftSender;
use super::limited_lines::{LimitedLine, LimitedLines};

/// The first line of an export.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ExportHeader {
    /// [`EXPORT_FORMAT`].
    pub(super) format: String,
    /// [`FORMAT_VERSION`].
    pub(super) version: u32,
    /// Version of the program that wrote the export.
    pub(super) memod: String,
}

/// The counts in the last line of an export. A file without this line is incomplete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExportCounts {
    pub(crate) memories: u64,
    pub(crate) links: u64,
}

/// The content of a line of a file to import.
enum ExportEntry {
    Header(ExportHeader),
    Memory(Box<Draft>),
    Link(LinkDraft),
    Counts(ExportCounts),
}

/// Sends the memories of a file, then its links; `-` means stdin. With `new_ids`, memories get new ids.
pub(super) fn import_jsonl(path: &Path, new_ids: bool, sender: &mut DraftSender<'_>) -> Result<(), CliError> {
    if path == Path::new("-") {
        sender.set_source("stdin", "line");
        return import_lines(path, std::io::stdin().lock(), new_ids, sender);
    }
    if path.is_dir() {
        let message = format!("{}: a folder, not a file", path.display());
        return Err(CliError::Usage { message, hint: "--from markdown and --from slack take folders" });
    }
    let file = File::open(path).at("open", path)?;
    sender.set_source(&path.display().to_string(), "line");
    import_lines(path, BufReader::with_capacity(1 << 18, file), new_ids, sender)
}

fn import_lines(
    path: &Path,
    reader: impl BufRead,
    new_ids: bool,
    sender: &mut DraftSender<'_>,
) -> Result<(), CliError> {
    let mut lines = LimitedLines::new(reader);
    let (mut is_export, mut last) = (false, 0);
    let (mut seen, mut stated) = (ExportCounts::default(), None);
    while let Some((number, line)) = lines.next_line().at("read", path)? {
        last = number;
        let entry = match &line {
            LimitedLine::Text(text) if text.trim().is_empty() => continue,
            LimitedLine::Text(text) => parse_entry(text, is_export),
            LimitedLine::Unusable(why) => Err((*why).to_owned()),
        };
        match entry {
            Ok(ExportEntry::Header(header)) => {
                check_header(path, &header)?;
                is_export = true;
            }
            Ok(ExportEntry::Memory(draft)) => {
                seen.memories += 1;
                let name = draft.id.clone();
                let id = draft.id.clone().filter(|_| !new_ids);
                sender.add_draft(Draft { line: number, id, ..*draft }, name)?;
            }
            Ok(ExportEntry::Link(link)) => {
                seen.links += 1;
                sender.add_link(LinkDraft { line: number, ..link });
            }
            Ok(ExportEntry::Counts(counts)) => stated = Some(counts),
            Err(why) => sender.refuse_entry(number, why),
        }
    }
    if is_export && stated != Some(seen) {
        let end = stated.map_or("has no counts at its end".to_owned(), |stated| {
            format!("counts {} memories and {} links at its end", stated.memories, stated.links)
        });
        sender.refuse_entry(
            last,
            format!("the file is incomplete: it {end}, but has {} and {}", seen.memories, seen.links),
        );
    }
    Ok(())
}

fn check_header(path: &Path, header: &ExportHeader) -> Result<(), CliError> {
    let (why, hint) = if header.format != EXPORT_FORMAT {
        (
            format!("format {:?}, not {EXPORT_FORMAT}", header.format),
            "name the system that wrote it with --from",
        )
    } else if header.version > FORMAT_VERSION {
        let why = format!("version {}, but this memo reads versions up to {FORMAT_VERSION}", header.version);
        (why, "install the version of memo that wrote the file, or a later one")
    } else {
        return Ok(());
    };
    Err(CliError::Usage { message: format!("{}: {why}", path.display()), hint })
}

/// Parses one line. Unknown keys in a file written by hand are an error, because ignoring them would lose data silently.
fn parse_entry(line: &str, is_export: bool) -> Result<ExportEntry, String> {
    let object: Map<String, Value> = parse_with_exact_metadata(line)
        .and_then(serde_json::from_value)
        .map_err(|error| format!("not a JSON object: {}", message_without_line(&error)))?;
    if object.contains_key("format") {
        return parse_value(Value::Object(object)).map(ExportEntry::Header);
    }
    if let Some(memory) = sole_value(&object, "memory") {
        return parse_value(memory).map(|draft| ExportEntry::Memory(Box::new(draft)));
    }
    if let Some(link) = sole_value(&object, "link") {
        return parse_value(link).map(ExportEntry::Link);
    }
    if let Some(end) = sole_value(&object, "end").filter(|_| is_export) {
        return parse_value(end).map(ExportEntry::Counts);
    }
    let known = serde_json::to_value(Draft { line: 1, ..Draft::default() }).unwrap_or_default();
    match object.keys().find(|name| known.get(name).is_none()) {
        Some(name) => Err(format!("unknown key {name:?}")),
        None => parse_value(Value::Object(object)).map(|draft| ExportEntry::Memory(Box::new(draft))),
    }
}

/// Returns the value of a key if it is the only key of the object.
fn sole_value(object: &Map<String, Value>, key: &str) -> Option<Value> {
    object.get(key).filter(|_| object.len() == 1).cloned()
}

fn parse_value<T: for<'a> Deserialize<'a>>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| message_without_line(&error))
}

/// Returns the message of a parser's error without the line number, which is always 1 because the parser gets a single line.
fn message_without_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        parse_entry(line, false).map_or_else(|why| why, |_| "taken".to_owned())
    }

    #[test]
    fn a_line_is_a_memory_a_link_or_an_error() {
        assert!(
            matches!(parse_entry(r#"{"content":"a","tags":["b"]}"#, false), Ok(ExportEntry::Memory(draft)) if draft.tags == ["b"])
        );
        assert!(matches!(
            parse_entry(r#"{"memory":{"content":"a","later":1}}"#, true),
            Ok(ExportEntry::Memory(_))
        ));
        assert!(matches!(
            parse_entry(r#"{"link":{"source":"a","target":"b"}}"#, true),
            Ok(ExportEntry::Link(_))
        ));
        assert!(matches!(
            parse_entry(r#"{"end":{"memories":1,"links":0}}"#, true),
            Ok(ExportEntry::Counts(_))
        ));
        let cases = [
            ("x", "not a JSON object: expected value"),
            ("[1]", "not a JSON object: invalid type: sequence, expected a map"),
            (r#"{"content":"a","tag":["b"]}"#, "unknown key \"tag\""),
            (r#"{"content":1}"#, "invalid type: integer `1`, expected a string"),
            (
                r#"{"content":"a","tier":"wide"}"#,
                "unknown variant `wide`, expected one of `short`, `mid`, `long`",
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(refused(line), expected);
        }
        assert!(refused(&"[".repeat(100_000)).starts_with("not a JSON object"));
        assert!(
            refused(&format!("{{\"metadata\":{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_001)))
                .contains("recursion limit")
        );
    }
}
