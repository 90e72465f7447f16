//! Reads JSON lines: our own exports and files written by hand.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use memod_base::paths::IoContext;
use memod_base::types::parse_with_metadata;
use memod_proto::exchange::{Draft, FORMAT, FORMAT_VERSION, LinkDraft};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::lines::{Line, Lines};
use super::send::Sender;
use crate::error::CliError;

/// The first line of an export.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    /// [`FORMAT`].
    pub(super) format: String,
    /// [`FORMAT_VERSION`].
    pub(super) version: u32,
    /// Version of the program that wrote it.
    pub(super) memod: String,
}

/// The last line of an export. A file without it is truncated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct End {
    pub(crate) memories: u64,
    pub(crate) links: u64,
}

/// The content of a line.
enum Said {
    Header(Header),
    Memory(Box<Draft>),
    Link(LinkDraft),
    End(End),
}

/// Sends the memories of a file, then its links; `-` is stdin.
pub(super) fn read(path: &Path, new_ids: bool, sender: &mut Sender<'_>) -> Result<(), CliError> {
    if path == Path::new("-") {
        sender.at("stdin", "line");
        return read_lines(path, std::io::stdin().lock(), new_ids, sender);
    }
    if path.is_dir() {
        let message = format!("{}: a folder", path.display());
        return Err(CliError::Usage { message, hint: "--from markdown and --from slack take folders" });
    }
    let file = File::open(path).at("open", path)?;
    sender.at(&path.display().to_string(), "line");
    read_lines(path, BufReader::with_capacity(1 << 18, file), new_ids, sender)
}

fn read_lines(
    path: &Path,
    reader: impl BufRead,
    new_ids: bool,
    sender: &mut Sender<'_>,
) -> Result<(), CliError> {
    let mut lines = Lines::new(reader);
    let (mut is_export, mut last) = (false, 0);
    let (mut seen, mut end) = (End::default(), None);
    while let Some((number, line)) = lines.next().at("read", path)? {
        last = number;
        let said = match &line {
            Line::Text(text) if text.trim().is_empty() => continue,
            Line::Text(text) => said(text, is_export),
            Line::Bad(why) => Err((*why).to_owned()),
        };
        match said {
            Ok(Said::Header(header)) => {
                check(path, &header)?;
                is_export = true;
            }
            Ok(Said::Memory(draft)) => {
                seen.memories += 1;
                let name = draft.id.clone();
                let id = draft.id.clone().filter(|_| !new_ids);
                sender.draft(Draft { line: number, id, ..*draft }, name)?;
            }
            Ok(Said::Link(link)) => {
                seen.links += 1;
                sender.link(LinkDraft { line: number, ..link });
            }
            Ok(Said::End(told)) => end = Some(told),
            Err(why) => sender.refuse(number, why),
        }
    }
    if is_export && end != Some(seen) {
        let told = end.map_or("has no last line".to_owned(), |end| {
            format!("says {} memories and {} links at its end", end.memories, end.links)
        });
        sender.refuse(
            last,
            format!("the file is incomplete: it {told}, and has {} and {}", seen.memories, seen.links),
        );
    }
    Ok(())
}

fn check(path: &Path, header: &Header) -> Result<(), CliError> {
    let wrong =
        |why: String, hint| Err(CliError::Usage { message: format!("{}: {why}", path.display()), hint });
    if header.format != FORMAT {
        return wrong(
            format!("of format {:?}, not {FORMAT}", header.format),
            "--from names the system that wrote it",
        );
    }
    if header.version > FORMAT_VERSION {
        let why = format!("of version {}, and this memo knows up to {FORMAT_VERSION}", header.version);
        return wrong(why, "install the version that wrote it, or a later one");
    }
    Ok(())
}

/// Parses one line. Unknown keys in a file written by hand are an error: ignoring them would lose data silently.
fn said(line: &str, is_export: bool) -> Result<Said, String> {
    let object: Map<String, Value> = parse_with_metadata(line)
        .and_then(serde_json::from_value)
        .map_err(|error| format!("no object of JSON: {}", plain(&error)))?;
    let only = |name: &str| object.get(name).filter(|_| object.len() == 1).cloned();
    if object.contains_key("format") {
        return parse(Value::Object(object)).map(Said::Header);
    }
    if let Some(memory) = only("memory") {
        return parse(memory).map(|draft| Said::Memory(Box::new(draft)));
    }
    if let Some(link) = only("link") {
        return parse(link).map(Said::Link);
    }
    if let Some(end) = only("end").filter(|_| is_export) {
        return parse(end).map(Said::End);
    }
    let known = serde_json::to_value(Draft { line: 1, ..Draft::default() }).unwrap_or_default();
    match object.keys().find(|name| known.get(name).is_none()) {
        Some(name) => Err(format!("unknown key {name:?}")),
        None => parse(Value::Object(object)).map(|draft| Said::Memory(Box::new(draft))),
    }
}

fn parse<T: for<'a> Deserialize<'a>>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| plain(&error))
}

/// Removes the line number from an error of the parser, which saw a single line.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> String {
        said(line, false).map_or_else(|why| why, |_| "taken".to_owned())
    }

    #[test]
    fn a_line_is_a_memory_a_link_or_an_error() {
        assert!(
            matches!(said(r#"{"content":"a","tags":["b"]}"#, false), Ok(Said::Memory(draft)) if draft.tags == ["b"])
        );
        assert!(matches!(said(r#"{"memory":{"content":"a","later":1}}"#, true), Ok(Said::Memory(_))));
        assert!(matches!(said(r#"{"link":{"source":"a","target":"b"}}"#, true), Ok(Said::Link(_))));
        assert!(matches!(said(r#"{"end":{"memories":1,"links":0}}"#, true), Ok(Said::End(_))));
        let cases = [
            ("x", "no object of JSON: expected value"),
            ("[1]", "no object of JSON: invalid type: sequence, expected a map"),
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
        assert!(refused(&"[".repeat(100_000)).starts_with("no object of JSON"));
        assert!(
            refused(&format!("{{\"metadata\":{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_001)))
                .contains("recursion limit")
        );
    }
}
