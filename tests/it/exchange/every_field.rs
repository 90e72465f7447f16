//! Is a memory the same for the other one, in every field, through an export, files and a server?

use serde_json::{Value, json};

use super::{Exchange, Files, Team, add};
use crate::live::Live;

/// Fields that belong to a memory, and not to who has it.
const FIELDS: [&str; 13] = [
    "content",
    "title",
    "container",
    "tags",
    "tier",
    "priority",
    "confidence",
    "author",
    "agent",
    "created",
    "updated",
    "metadata",
    "anchors",
];

/// Memories with values at the edges of what is allowed, and what looks like something else where they are written down.
fn memories() -> Vec<Value> {
    let plain = |content: &str| json!({ "content": content });
    let titled = |title: &str| json!({ "content": format!("under the title {title}"), "title": title });
    let mut memories: Vec<Value> = [
        "---\nname: no front matter\n---\n\ntext",
        "# a heading\n\n```rust\nfn main() {}\n```\n\n* a\n* b",
        "tabs\tand  spaces  \nat the ends  ",
        "é 日本 \u{1f980} \u{202e}backwards",
        "one\r\ntwo",
        "a \\ b \" c ' d \\n e $1 %s ; DROP TABLE memory; --",
        "=======",
    ]
    .map(plain)
    .to_vec();
    memories.extend(
        [
            "- no list",
            "yes",
            "null",
            "0x1F",
            "2026-01-02",
            "a: b # c",
            "\"quoted\"",
            "[x]",
            "&a *b !c",
            "é\u{301}",
        ]
        .map(titled),
    );
    memories.extend([
        json!({ "content": "a long one ".repeat(5_000) }),
        json!({ "content": "tagged", "tags": ["b", "a b", "é", "x:y", "#z", "- q", "1", "true"] }),
        json!({ "content": "weighed", "tier": "mid", "priority": 10, "confidence": 0.1, "container": "Other One" }),
        json!({ "content": "least", "priority": 1, "confidence": 0.0 }),
        json!({ "content": "data", "metadata": { "k": [1, 1.5, null, { "x": "y\n\u{1f980}" }], "": "e", "a: b": true } }),
        json!({ "content": "about code", "about": ["a.md", "a.md:1"] }),
        json!({ "content": "of an agent", "client": "mcp", "agent": "robot 2 (beta): x" }),
    ]);
    memories
}

fn get(live: &Live, id: &str) -> Value {
    live.call("memory.get", json!({ "ids": [id] }))["memories"][0].clone()
}

/// Returns what everybody has of a memory.
fn said(memory: &Value) -> Value {
    let mut said: Value = FIELDS.iter().map(|field| (field.to_string(), memory[field].clone())).collect();
    for anchor in said["anchors"].as_array_mut().unwrap() {
        *anchor = json!([anchor["path"], anchor["symbol"], anchor["lines"], anchor["seen"]]);
    }
    said
}

/// Sends each to the other one, who changes it and sends it back.
fn run(exchange: &dyn Exchange) {
    let [ann, bob] = exchange.people();
    ann.write("a.md", "x\n");
    let ids: Vec<String> = memories().into_iter().map(|memory| exchange.add(memory)).collect();
    for id in &ids {
        let memory = get(ann, id);
        assert_eq!(said(&get(bob, id)), said(&memory), "{id} came another");
        let change = json!({ "id": id, "append": "and more\n\n  indented", "title": "a: new # one", "priority": 7,
            "add_tags": ["new: tag"], "metadata": { "new": { "a": [] } }, "client": "cli" });
        bob.call("memory.update", change);
    }
    bob.call("memory.link", json!({ "from": ids[0], "to": ids[1], "kind": "supersedes" }));
    exchange.settle();
    for id in &ids {
        let memory = get(bob, id);
        assert_eq!(memory["priority"], 7);
        assert_eq!(said(&get(ann, id)), said(&memory), "{id} came back another");
    }
    let links = |live: &Live| get(live, &ids[0])["links"].clone();
    for live in [ann, bob] {
        let [id, kind] = ["id", "kind"].map(|key| links(live)[0][key].clone());
        assert_eq!((id, kind), (json!(ids[1]), json!("supersedes")));
    }
}

#[test]
fn through_git() {
    run(&Files::new());
}

#[test]
fn through_a_server() {
    let Some(team) = Team::new() else { return };
    run(&team);
}

#[test]
fn through_an_export() {
    let [ann, bob] = [Live::new(), Live::new()];
    ann.write("a.md", "x\n");
    let ids: Vec<String> = memories().into_iter().map(|memory| add(&ann, memory)).collect();
    let export = ann.memo(&["export"]).output().unwrap().stdout;
    let file = bob.sandbox.path("export.jsonl");
    std::fs::write(&file, export).unwrap();
    let imported = bob.memo(&["import", "--own"]).arg(&file).output().unwrap();
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    for id in &ids {
        assert_eq!(said(&get(&bob, id)), said(&get(&ann, id)), "{id}");
    }
}
