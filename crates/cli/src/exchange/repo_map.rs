//! Reads a repository map in the JSON format of memo.
//!
//! The JSON is `[{path, language?, symbols?, content?}]`. Each map is one source: entries that it no longer has are
//! archived, so nothing is sent before the whole map is read.

use std::path::Path;

use memod_proto::exchange::Draft;
use serde_json::{Map, Value, json};

use super::files::{absolute, text_of};
use super::send::Sender;
use crate::error::CliError;

const MOST_BYTES: u64 = 256 << 20;

pub(super) fn read(path: &Path, sender: &mut Sender<'_>) -> Result<(), CliError> {
    let name = absolute(path)?;
    let wrong = |why: String| CliError::Usage {
        message: format!("{}: {why}", path.display()),
        hint: "a repo map is JSON: [{\"path\": \"src/a.rs\", \"language\": …, \"symbols\": […], \"content\": …}]",
    };
    let map: Value = serde_json::from_str(&text_of(path, MOST_BYTES)?)
        .map_err(|error| wrong(format!("no JSON: {error}")))?;
    let Value::Array(entries) = map else { return Err(wrong("no array".to_owned())) };
    sender.at(&name, "entry");
    sender.snapshot(format!("repo-map:{name}"));
    for (entry, number) in entries.iter().zip(1..) {
        match draft(entry) {
            Ok(draft) => sender.draft(Draft { line: number, ..draft }, None)?,
            Err(why) => sender.refuse(number, why),
        }
    }
    sender.end_snapshot()
}

fn draft(entry: &Value) -> Result<Draft, String> {
    let Value::Object(entry) = entry else { return Err(format!("no object: {}", short(entry))) };
    let text = |name: &str| match entry.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(other) => Err(format!("{name}: no text: {}", short(other))),
    };
    let path = text("path")?.filter(|path| !path.is_empty()).ok_or("path: missing")?;
    let language = text("language")?.unwrap_or("unknown");
    let content = text("content")?.unwrap_or_default();
    let symbols = symbols(entry)?;
    let first = format!("{path} [{language}] {}", symbols.join(" "));
    let metadata = json!({ "path": path, "language": language, "symbols": symbols });
    Ok(Draft {
        content: format!("{}\n{content}", first.trim_end()),
        title: Some(path.to_owned()),
        metadata: metadata.as_object().cloned().unwrap_or_default(),
        ..Draft::default()
    })
}

fn symbols(entry: &Map<String, Value>) -> Result<Vec<&str>, String> {
    match entry.get("symbols") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(symbols)) => symbols
            .iter()
            .map(|symbol| symbol.as_str().ok_or_else(|| format!("symbols: no text: {}", short(symbol))))
            .collect(),
        Some(other) => Err(format!("symbols: no list: {}", short(other))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    let cut: String = text.chars().take(60).collect();
    if cut.len() < text.len() { cut + "…" } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_path_is_needed() {
        let text = |entry: Value| draft(&entry).map(|draft| draft.content);
        let whole = json!({ "path": "a.go", "language": "go", "symbols": ["A", "b"], "content": "type A" });
        assert_eq!(text(whole).unwrap(), "a.go [go] A b\ntype A");
        assert_eq!(text(json!({ "path": "a" })).unwrap(), "a [unknown]\n");
        let cases = [
            (json!({}), "path: missing"),
            (json!({ "path": 1 }), "path: no text: 1"),
            (json!({ "path": "a", "symbols": "A" }), "symbols: no list: \"A\""),
            (json!({ "path": "a", "symbols": [1] }), "symbols: no text: 1"),
            (json!(["a"]), "no object: [\"a\"]"),
        ];
        for (entry, expected) in cases {
            assert_eq!(text(entry).unwrap_err(), expected);
        }
    }
}
