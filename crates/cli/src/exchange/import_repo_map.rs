//! Imports a repository map in the JSON format of memo.
//!
//! The JSON is `[{path, language?, symbols?, content?}]`. Each map is one source: entries that the map no longer has are archived,
//! so nothing is sent before the whole map was read.

use std::path::Path;

use memod_proto::exchange::Draft;
use memod_terminal::CliError;
use serde_json::{Map, Value, json};

use super::draft_sender::DraftSender;
use super::limited_files::{canonical_string, read_text_file};

/// Largest map, bytes.
const MAX_MAP_BYTES: u64 = 256 << 20;

/// Sends the entries of a map.
pub(super) fn import_repo_map(path: &Path, sender: &mut DraftSender<'_>) -> Result<(), CliError> {
    let name = canonical_string(path)?;
    let map: Value = serde_json::from_str(&read_text_file(path, MAX_MAP_BYTES)?)
        .map_err(|error| not_a_map_error(path, &format!("not JSON: {error}")))?;
    let Value::Array(entries) = map else { return Err(not_a_map_error(path, "not an array")) };
    sender.set_source(&name, "entry");
    sender.begin_snapshot(format!("repo-map:{name}"));
    for (entry, number) in entries.iter().zip(1..) {
        match build_draft(entry) {
            Ok(draft) => sender.add_draft(Draft { line: number, ..draft }, None)?,
            Err(why) => sender.refuse_entry(number, why),
        }
    }
    sender.end_snapshot()
}

fn not_a_map_error(path: &Path, why: &str) -> CliError {
    CliError::Usage {
        message: format!("{}: {why}", path.display()),
        hint: "a repo map is JSON: [{\"path\": \"src/a.rs\", \"language\": …, \"symbols\": […], \"content\": …}]",
    }
}

fn build_draft(entry: &Value) -> Result<Draft, String> {
    let Value::Object(entry) = entry else { return Err(format!("not an object: {}", shorten_json(entry))) };
    let path = optional_text(entry, "path")?.filter(|path| !path.is_empty()).ok_or("path: missing")?;
    let language = optional_text(entry, "language")?.unwrap_or("unknown");
    let content = optional_text(entry, "content")?.unwrap_or_default();
    let symbols = parse_symbols(entry)?;
    let first = format!("{path} [{language}] {}", symbols.join(" "));
    let metadata = json!({ "path": path, "language": language, "symbols": symbols });
    Ok(Draft {
        content: format!("{}\n{content}", first.trim_end()),
        title: Some(path.to_owned()),
        metadata: metadata.as_object().cloned().unwrap_or_default(),
        ..Draft::default()
    })
}

fn optional_text<'a>(entry: &'a Map<String, Value>, name: &str) -> Result<Option<&'a str>, String> {
    match entry.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(other) => Err(format!("{name}: not a text: {}", shorten_json(other))),
    }
}

fn parse_symbols(entry: &Map<String, Value>) -> Result<Vec<&str>, String> {
    match entry.get("symbols") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(symbols)) => symbols
            .iter()
            .map(|symbol| {
                symbol.as_str().ok_or_else(|| format!("symbols: not a text: {}", shorten_json(symbol)))
            })
            .collect(),
        Some(other) => Err(format!("symbols: not a list: {}", shorten_json(other))),
    }
}

fn shorten_json(value: &Value) -> String {
    let text = value.to_string();
    let cut: String = text.chars().take(60).collect();
    if cut.len() < text.len() { cut + "…" } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_path_is_needed() {
        let text = |entry: Value| build_draft(&entry).map(|draft| draft.content);
        let whole = json!({ "path": "a.go", "language": "go", "symbols": ["A", "b"], "content": "type A" });
        assert_eq!(text(whole).unwrap(), "a.go [go] A b\ntype A");
        assert_eq!(text(json!({ "path": "a" })).unwrap(), "a [unknown]\n");
        let cases = [
            (json!({}), "path: missing"),
            (json!({ "path": 1 }), "path: not a text: 1"),
            (json!({ "path": "a", "symbols": "A" }), "symbols: not a list: \"A\""),
            (json!({ "path": "a", "symbols": [1] }), "symbols: not a text: 1"),
            (json!(["a"]), "not an object: [\"a\"]"),
        ];
        for (entry, expected) in cases {
            assert_eq!(text(entry).unwrap_err(), expected);
        }
    }
}
