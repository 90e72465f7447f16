//! Is a request that comes again, or meets another one, answered as it should be?

use serde_json::{Value, json};

use super::{call, refusal, texts};
use crate::live::Live;

const AUTH: &str = "pub fn login(name: &str) -> bool {\n    lookup(name).is_some()\n}\n";

fn repository() -> Live {
    let live = Live::idle();
    live.write("src/auth.rs", AUTH);
    live.write("notes.md", "# Notes\n\nTokens are signed.\n");
    live.commit_all();
    live.start();
    live
}

#[test]
fn a_request_that_comes_again_is_not_done_again() {
    let live = Live::new();
    let add = json!({ "request": "r1", "content": "a" });
    let first = call(&live, "memory.add", add.clone());
    assert_eq!(call(&live, "memory.add", add), first);
    let append = json!({ "request": "r2", "id": first["memory"]["id"], "append": "b" });
    let second = call(&live, "memory.update", append.clone());
    assert_eq!(second["memory"]["content"], "a\nb");
    assert_eq!(call(&live, "memory.update", append), second);
}

#[test]
fn the_name_of_a_request_is_for_no_other() {
    let live = Live::new();
    let add = json!({ "request": "r1", "content": "a", "tags": ["x"] });
    let first = call(&live, "memory.add", add.clone());
    let id = &first["memory"]["id"];
    let others = [
        ("memory.add", json!({ "request": "r1", "content": "b", "tags": ["x"] })),
        ("memory.add", json!({ "request": "r1", "content": "a", "tags": ["x"], "force": true })),
        ("memory.update", json!({ "request": "r1", "id": id, "append": "b" })),
        ("memory.confirm", json!({ "request": "r1", "id": id })),
        ("memory.recall", json!({ "request": "r1", "query": "a" })),
        ("memory.forget", json!({ "request": "r1", "ids": [id] })),
        ("memory.import_markdown", json!({ "request": "r1", "path": "/a.md", "text": "# A\n\nb\n" })),
    ];
    for _ in 0..2 {
        for (method, params) in &others {
            let said = refusal(&live, method, params.clone());
            assert!(said.starts_with("request: \"r1\" is the name of another request"), "{method}: {said}");
        }
        assert_eq!(texts(&live), ["a"], "nothing was changed");
        assert_eq!(call(&live, "memory.add", add.clone()), first, "the same one is answered");
        // The next daemon knows it too.
        live.kill();
        live.start();
    }
}

#[test]
fn what_a_request_was_about_is_not_looked_for_again() {
    let live = repository();
    let add = json!({ "request": "r1", "content": "a", "about": ["src/auth.rs#login"] });
    let first = call(&live, "memory.add", add.clone());
    let anchor = |answer: &Value| answer["memory"]["anchors"][0]["seen"].clone();
    assert_eq!(first["memory"]["state"], "fresh", "{first}");
    live.write("src/auth.rs", AUTH.replace("lookup", "find"));
    let again = call(&live, "memory.add", add.clone());
    assert_eq!((&again["memory"]["id"], anchor(&again)), (&first["memory"]["id"], anchor(&first)));
    assert_eq!(again["memory"]["state"], "drifted", "{again}");
    live.remove("src/auth.rs");
    let again = call(&live, "memory.add", add);
    assert_eq!(
        (&again["memory"]["id"], &again["memory"]["state"]),
        (&first["memory"]["id"], &json!("orphaned"))
    );

    let id = &first["memory"]["id"];
    let update = json!({ "request": "r2", "id": id, "add_about": ["notes.md:3"] });
    let second = call(&live, "memory.update", update.clone());
    live.remove("notes.md");
    let again = call(&live, "memory.update", update);
    assert_eq!(again["changed"], second["changed"], "{again}");
    assert_eq!(again["memory"]["anchors"][1]["seen"], second["memory"]["anchors"][1]["seen"]);
}

#[test]
fn a_confirmation_overwrites_no_update() {
    let live = repository();
    let about = |content: &str, target: &str| {
        let params = json!({ "content": content, "about": [target], "force": true });
        call(&live, "memory.add", params)["memory"].clone()
    };
    let memory = about("one", "src/auth.rs#login");
    let notes = about("two", "notes.md")["anchors"][0].clone();
    let id = &memory["id"];
    let mut n_refused = 0;
    for round in 0..20 {
        live.write("src/auth.rs", AUTH.replace("lookup", &format!("find_{round}")));
        let line = |number: u64, method: &str, mut params: Value| {
            (params["cwd"], params["id"]) = (json!(live.root()), id.clone());
            format!("{}\n", json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params }))
        };
        let mut rpc = live.connect();
        // The update comes while the confirmation looks at the code.
        rpc.send(
            line(1, "memory.confirm", json!({})) + &line(2, "memory.update", json!({ "anchors": [notes] })),
        );
        let replies = [rpc.receive().unwrap(), rpc.receive().unwrap()];
        let reply = |number: u64| replies.iter().find(|reply| reply["id"] == number).unwrap();
        assert_eq!(reply(2)["error"], Value::Null, "{}", reply(2));
        let said = reply(1)["error"]["message"].as_str().unwrap_or_default();
        assert!(said.is_empty() || said.contains("was changed during the check"), "{said}");
        n_refused += u32::from(!said.is_empty());
        let kept = call(&live, "memory.get", json!({ "ids": [id] }))["memories"][0].clone();
        let paths: Vec<_> =
            kept["anchors"].as_array().unwrap().iter().map(|anchor| &anchor["path"]).collect();
        assert_eq!(paths, ["src/auth.rs", "notes.md"], "round {round}: what was acknowledged is kept");
        let state = if said.is_empty() { "fresh" } else { "drifted" };
        assert_eq!(kept["state"], state, "round {round}: {kept}");
        call(&live, "memory.update", json!({ "id": id, "remove_about": ["notes.md"] }));
    }
    assert!(n_refused > 0, "no update came between");
    live.write("src/auth.rs", AUTH);
    call(&live, "memory.confirm", json!({ "id": id }));
}
