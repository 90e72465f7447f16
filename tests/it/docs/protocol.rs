//! Does the reference of the protocol list what the types of `crates/proto` have?

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use memod_proto::{METHODS, Method};
use serde_json::{Value, json};

use super::check_generated;
use super::proto_types::{Kind, Types};
use crate::live::Live;

const PAGE: &str = "docs/src/reference/protocol-reference.md";

/// Each topic with the type of its events.
const EVENTS: &[(&str, &str)] = &[
    ("progress", "ProgressEvent"),
    ("views", "ViewsEvent"),
    ("memories", "MemoriesEvent"),
    ("drift", "DriftCountsEvent"),
    ("lost", "LostEvent"),
];

/// Returns how JSON has a type, and adds the objects in it to `seen`.
fn json_type(kind: &Kind<'_>, seen: &mut Vec<String>) -> String {
    match kind {
        Kind::OrNull(inner) => format!("{} or null", json_type(inner, seen)),
        Kind::Array(inner) => format!("array of {}", json_type(inner, seen)),
        Kind::Tuple(items) => {
            let items: Vec<_> = items.iter().map(|item| json_type(item, seen)).collect();
            format!("[{}]", items.join(", "))
        }
        Kind::Text => "string".to_owned(),
        Kind::Boolean => "boolean".to_owned(),
        Kind::Number => "number".to_owned(),
        Kind::Integer | Kind::Unsigned => "integer".to_owned(),
        Kind::Any => "any".to_owned(),
        Kind::Map => "object".to_owned(),
        Kind::Words(words) => {
            let words: Vec<_> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
            words.join(" or ")
        }
        Kind::Object(name) => {
            seen.push((*name).to_owned());
            format!("[{name}](#type-{})", name.to_lowercase())
        }
    }
}

fn table(types: &Types, name: &str, head: &str, seen: &mut Vec<String>) -> String {
    let mut table = format!("| {head} | type | meaning |\n|---|---|---|\n");
    for field in types.fields(name) {
        let meaning = types.meaning(field).replace('|', "\\|");
        let kind = json_type(&types.kind(&field.rust), seen);
        let absent = if field.is_optional && head != "param" { " or absent" } else { "" };
        writeln!(table, "| `{}` | {kind}{absent} | {meaning} |", field.name).unwrap();
    }
    table
}

#[test]
fn the_reference_lists_every_key() {
    let types = Types::read();
    let mut page = String::new();
    let mut left = Vec::new();
    for Method { name, params, result, .. } in METHODS {
        writeln!(page, "### `{name}`\n").unwrap();
        if params.is_empty() {
            page += "No params.\n\n";
        } else {
            writeln!(page, "{}", table(&types, params, "param", &mut left)).unwrap();
        }
        if result.is_empty() {
            page += "The result is an empty object.\n\n";
        } else {
            writeln!(page, "{}", table(&types, result, "key of the result", &mut left)).unwrap();
        }
    }
    page += "## Events\n\nThe params of the notification `event`, each with its `topic`.\n\n";
    for (topic, event) in EVENTS {
        writeln!(page, "### Event `{topic}`\n\n{}", table(&types, event, "key", &mut left)).unwrap();
    }
    page += "## Objects\n\n";
    let mut done = BTreeSet::new();
    let mut objects = BTreeMap::new();
    while let Some(name) = left.pop() {
        if done.insert(name.clone()) {
            objects.insert(name.clone(), table(&types, &name, "key", &mut left));
        }
    }
    for (name, keys) in objects {
        writeln!(page, "### Type `{name}`\n\n{keys}").unwrap();
    }
    check_generated(PAGE, "reference", &page);
}

/// A documented param is one that the daemon reads: it refuses a value of another type.
#[test]
fn every_param_of_the_reference_is_read() {
    let live = Live::new();
    let types = Types::read();
    for Method { name: method, params, .. } in METHODS.iter().filter(|method| !method.params.is_empty()) {
        for field in types.fields(params) {
            let kind = json_type(&types.kind(&field.rust), &mut Vec::new());
            let is_object = kind.starts_with("object") || kind.starts_with('[');
            let wrong = if is_object { json!(true) } else { json!({ "no": "such type" }) };
            let mut call = json!({ "cwd": live.root(), "version": "0", "protocol": 1 });
            call[&field.name] = wrong;
            let error = live.rpc().call(method, &call).expect_err("a param of a wrong type");
            let message = error["message"].as_str().unwrap();
            assert!(message.starts_with("params: "), "{method} does not read {}: {error}", field.name);
        }
    }
}

/// A result has the keys that are documented, and no others.
#[test]
fn results_have_the_keys_of_the_reference() {
    let live = Live::new();
    live.write("a.md", "# One\n\nwords of a section\n");
    live.git(&["add", "."]);
    live.git(&["commit", "-qm", "one"]);
    let types = Types::read();
    let id = |content: &str| live.call("memory.add", json!({ "content": content }))["memory"]["id"].clone();
    let (one, two) = (id("the first thing to remember"), id("entirely different: lunch is at noon"));
    let sample = |method: &str| match method {
        "hello" => json!({ "version": "0.1.0", "protocol": 1 }),
        "search" | "memory.recall" => json!({ "query": "words" }),
        "why" => json!({ "target": "a.md" }),
        "changed" => json!({ "since": "HEAD" }),
        "memory.get" | "memory.history" => json!({ "ids": [one] }),
        "memory.add" => json!({ "content": "a third one, about the weather in March" }),
        "memory.update" => json!({ "id": one, "priority": 7 }),
        "memory.promote" | "memory.links" | "memory.related" => json!({ "id": one }),
        "memory.link" | "memory.unlink" => json!({ "from": one, "to": two }),
        "memory.reset" => json!({ "dry_run": true }),
        "memory.forget" | "memory.purge" => json!({ "words": "first", "dry_run": true }),
        _ => json!({}),
    };
    let mut n_checked = 0;
    for Method { name: method, result, .. } in METHODS.iter().filter(|method| !method.result.is_empty()) {
        let mut params = sample(method);
        params["cwd"] = json!(live.root());
        // Some need more than this sample.
        let Ok(Value::Object(keys)) = live.rpc().call(method, &params) else { continue };
        let fields = types.fields(result);
        let known: BTreeSet<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let always = fields.iter().filter(|field| !field.is_optional).map(|field| field.name.as_str());
        let there: BTreeSet<&str> = keys.keys().map(String::as_str).collect();
        assert!(there.is_subset(&known), "{method}: {there:?} of {known:?}");
        let missing: Vec<_> = always.filter(|name| !there.contains(name)).collect();
        assert!(missing.is_empty(), "{method} has no {missing:?}: {there:?}");
        n_checked += 1;
    }
    assert!(n_checked >= 30, "only {n_checked} methods answered");
}
