//! What may not be read is told, and is not taken for something that is not there.

use serde_json::{Value, json};

use super::text;
use crate::live::{Live, PATIENCE, ran_without_privileges, until};

const DENIED: &str = "Permission denied";

/// A repository whose commits are packed, with its refs.
fn packed() -> Live {
    let live = Live::new();
    live.write("a.py", super::SOURCE);
    live.commit_all();
    live.git(&["commit", "-q", "--allow-empty", "-m", "rotate the keys each day"]);
    live.git(&["repack", "-qad"]);
    live.git(&["pack-refs", "--all"]);
    live
}

fn search(live: &Live, params: &Value) -> Value {
    let mut ask = json!({ "query": "rotate keys", "wait_ms": PATIENCE.as_millis() });
    for (key, value) in params.as_object().unwrap() {
        ask[key] = value.clone();
    }
    live.call("search", ask)
}

#[test]
fn refs_and_packs_that_may_not_be_read() {
    if ran_without_privileges("owed::permissions::refs_and_packs_that_may_not_be_read") {
        return;
    }
    for path in ["packed-refs", "objects/pack", "objects/pack/*.idx", "objects/pack/*.pack"] {
        let live = packed();
        assert_eq!(search(&live, &json!({}))["fresh"], true);
        live.kill();
        live.sh(&format!("chmod 000 .git/{path}"));
        live.start();
        let place = path.split('*').next().unwrap();
        let is_told = |answer: &Value| {
            let reason = text(&answer["reason"]);
            answer["fresh"] == false && reason.contains(DENIED) && reason.contains(place)
        };
        let found = search(&live, &json!({}));
        assert!(is_told(&found), "commits are among what is searched, {path}: {found}");
        assert!(found["degraded"].to_string().contains(DENIED), "{path}: {found}");
        let commits = search(&live, &json!({ "kind": ["commit"] }));
        assert!(is_told(&commits), "{path}: {commits}");
        let symbols = search(&live, &json!({ "kind": ["symbol"] }));
        assert_eq!(symbols["fresh"], true, "{path}: {symbols}");
        for (method, params) in [
            ("why", json!({ "target": "a.py" })),
            ("changed", json!({ "since": "HEAD" })),
            ("brief", json!({})),
        ] {
            let mut ask = params;
            ask["cwd"] = json!(live.root());
            let said = match live.rpc().call(method, &ask) {
                Ok(answer) => {
                    assert_eq!(answer["fresh"], false, "{method}, {path}: {answer}");
                    answer.to_string()
                }
                Err(error) => error.to_string(),
            };
            assert!(said.contains(DENIED) && !said.contains("unshallow"), "{method}, {path}: {said}");
        }
        let checks = live.call("doctor", json!({})).to_string();
        assert!(checks.contains(DENIED), "{path}: {checks}");
        live.sh(&format!("chmod 700 .git/{path}"));
        until("commits are read again", || search(&live, &json!({}))["fresh"] == true);
        let found = search(&live, &json!({ "kind": ["commit"] }));
        assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{path}: {found}");
    }
}

/// What somebody hid does not appear because the file that hides it became unreadable.
#[test]
fn an_ignore_file_of_memod_that_may_not_be_read() {
    if ran_without_privileges("owed::permissions::an_ignore_file_of_memod_that_may_not_be_read") {
        return;
    }
    let live = Live::new();
    live.write("hidden.md", "hydrogen");
    live.write("shown.md", "helium");
    live.write(".memoignore", "hidden.md\n");
    live.expect("helium", "shown.md", "at the start");
    live.expect("hydrogen", "", "at the start");
    for restarts in [false, true] {
        if restarts {
            live.kill();
        }
        live.sh("chmod 000 .memoignore");
        if restarts {
            live.start();
        }
        let found = live.search_with(&live.root(), "hydrogen", json!({ "wait_ms": 10_000 }));
        assert!(found.paths.is_empty() && !found.fresh, "{found:?}");
        assert!(
            text(&found.reason).contains(".memoignore") && text(&found.reason).contains(DENIED),
            "{found:?}"
        );
        let status = live.call("status", json!({}));
        assert!(status["degraded"].to_string().contains(DENIED), "{status}");
        live.sh("chmod 600 .memoignore");
        live.expect("hydrogen", "", "it can be read again");
        live.expect("helium", "shown.md", "it can be read again");
    }
}

#[test]
fn a_memory_that_may_not_be_read_is_not_gone() {
    if ran_without_privileges("owed::permissions::a_memory_that_may_not_be_read_is_not_gone") {
        return;
    }
    let live = Live::new();
    let ids =
        ["the first rule is old", "the second rule is old"].map(|content| super::add(&live, content, &[]));
    live.call("memory.share", json!({ "ids": ids }));
    let path = |id: &str| format!(".memod/memories/{id}.md");
    // Nobody may read it from the moment at which it is there: an edit is taken as it is saved.
    let [first, second] = [&ids[0], &ids[1]].map(|id| path(id));
    live.sh(&format!("sed s/old/new/ {first} > ../first; chmod 000 ../first; mv ../first {first}; sed -i s/old/new/ {second}"));
    let listed = live.call("memory.list", json!({}));
    assert_eq!(listed["fresh"], false, "{listed}");
    assert!(text(&listed["reason"]).contains(&path(&ids[0])), "{listed}");
    let said = listed["memories"].to_string();
    assert!(
        said.contains("first rule is old") && said.contains("second rule is new"),
        "one stops no other: {said}"
    );
    live.sh(&format!("chmod 600 {}", path(&ids[0])));
    let listed = live.call("memory.list", json!({}));
    assert!(listed["fresh"] == true && listed.to_string().contains("first rule is new"), "{listed}");
}

/// A repository with code that everybody may read, and two more files that are closed to the daemon by [`close`].
fn with_closed() -> Live {
    let live = Live::idle();
    live.write("a.py", super::SOURCE);
    live.write("closed.py", "def hidden():\n    return rotate(3)\n");
    live.write("inner/closed.py", "def buried():\n    return rotate(4)\n");
    live.commit_all();
    live
}

fn wait_for_index(live: &Live) {
    let ask = json!({ "wait_ms": PATIENCE.as_millis() });
    until("the index is built", || live.call("sync", ask.clone())["fresh"] == true);
}

/// Questions whose answers may need any file.
const OF_ALL_CODE: [(&str, &str); 11] = [
    ("search", r#"{"query": "rotate"}"#),
    ("brief", "{}"),
    ("map", "{}"),
    ("changed", r#"{"since": "HEAD"}"#),
    ("refs", r#"{"target": "rotate"}"#),
    ("callers", r#"{"target": "rotate"}"#),
    ("impact", r#"{"target": "a.py#rotate"}"#),
    ("implements", r#"{"target": "Base"}"#),
    ("show", r#"{"target": "rotate"}"#),
    ("outline", r#"{"target": "Base"}"#),
    ("why", r#"{"target": "rotate"}"#),
];

/// Questions whose answers need other files, or none.
const OF_OTHERS: [(&str, &str); 7] = [
    ("search", r#"{"query": "rotate", "kind": ["commit"]}"#),
    ("show", r#"{"target": "a.py"}"#),
    ("outline", r#"{"target": "a.py#Base"}"#),
    ("why", r#"{"target": "a.py"}"#),
    ("complete", r#"{"what": "path"}"#),
    ("memory.list", "{}"),
    ("sync", "{}"),
];

fn ask(live: &Live, (method, params): (&str, &str)) -> Value {
    let mut params: Value = serde_json::from_str(params).unwrap();
    params["wait_ms"] = json!(PATIENCE.as_millis());
    live.call(method, params)
}

#[test]
fn code_that_may_not_be_read() {
    if ran_without_privileges("owed::permissions::code_that_may_not_be_read") {
        return;
    }
    for (path, is_first_build) in [("closed.py", false), ("closed.py", true), ("inner", true)] {
        let live = with_closed();
        if is_first_build {
            live.sh(&format!("chmod 000 {path}"));
        }
        live.start();
        wait_for_index(&live);
        live.sh(&format!("chmod 000 {path}"));
        wait_for_index(&live);
        for question in OF_ALL_CODE {
            let answer = ask(&live, question);
            let is_told = answer["fresh"] == false && text(&answer["reason"]).contains(path);
            assert!(is_told, "{path}, {is_first_build}, {question:?}: {answer}");
        }
        for question in OF_OTHERS {
            let answer = ask(&live, question);
            assert_eq!(answer["fresh"], true, "{path}, {is_first_build}, {question:?}: {answer}");
        }
        let of_one = ask(&live, ("search", r#"{"query": "rotate", "path": ["a.py"]}"#));
        // A directory may have a file of that name.
        assert_eq!(of_one["fresh"], path == "closed.py", "{path}: {of_one}");
        for method in ["show", "refs", "callers", "why"] {
            let params = json!({ "cwd": live.root(), "target": "hidden_or_not" });
            let error = live.rpc().call(method, &params).unwrap_err();
            assert!(
                text(&error["message"]).contains(path),
                "nothing is as far as is known: {method}: {error}"
            );
        }
        live.sh(&format!("chmod 700 {path}"));
        until("it is read again", || ask(&live, OF_ALL_CODE[0])["fresh"] == true);
        assert_eq!(ask(&live, ("refs", r#"{"target": "rotate"}"#))["counts"]["exact"], 2);
    }
}

#[test]
fn what_no_answer_could_have_is_not_told() {
    if ran_without_privileges("owed::permissions::what_no_answer_could_have_is_not_told") {
        return;
    }
    let live = with_closed();
    live.write(".gitignore", "ignored.py\n");
    live.write("ignored.py", "def ignored(): pass\n");
    live.write("picture", b"\0\x01\x02");
    live.write("big.txt", "x\n".repeat(1 << 20));
    live.start();
    wait_for_index(&live);
    live.sh("chmod 000 ignored.py picture big.txt");
    wait_for_index(&live);
    for question in OF_ALL_CODE {
        let answer = ask(&live, question);
        assert_eq!(answer["fresh"], true, "{question:?}: {answer}");
    }
}

/// What a memory is about is neither changed nor gone because it may not be read.
#[test]
fn code_of_a_memory_that_may_not_be_read() {
    if ran_without_privileges("owed::permissions::code_of_a_memory_that_may_not_be_read") {
        return;
    }
    for path in ["closed.py", "inner"] {
        let live = with_closed();
        live.start();
        wait_for_index(&live);
        let about = if path == "inner" { "inner/closed.py#buried" } else { "closed.py#hidden" };
        let id = super::add(&live, "the cellos are tuned weekly", &[about]);
        live.sh(&format!("chmod 000 {path}"));
        wait_for_index(&live);
        for (method, params) in [
            ("memory.get", json!({ "ids": [id] })),
            ("memory.list", json!({ "about": [about.split('#').next().unwrap()] })),
            ("memory.recall", json!({ "query": "cellos" })),
        ] {
            let answer = live.call(method, params);
            let is_told = answer["fresh"] == false && text(&answer["reason"]).contains(path);
            assert!(is_told && !answer.to_string().contains("drifted"), "{method}, {path}: {answer}");
        }
    }
}

/// What could not be read is named, and is not taken for memories.
#[test]
fn an_agent_in_a_directory_that_may_not_be_entered() {
    if ran_without_privileges("owed::permissions::an_agent_in_a_directory_that_may_not_be_entered") {
        return;
    }
    let live = with_closed();
    live.start();
    super::add(&live, "the cellos are tuned weekly", &[]);
    live.sh("mkdir -p inner/deep; chmod 000 inner");
    for occasion in ["prompt", "session-start"] {
        let cwd = live.root().join("inner/deep");
        let prompt = "how are the cellos tuned?";
        let ask = json!({ "cwd": cwd, "session": occasion, "occasion": occasion, "prompt": prompt });
        let told = live.rpc().call("advise", &ask).unwrap();
        let said = text(&told["text"]);
        assert!(said.contains(DENIED) && said.contains("inner"), "{told}");
        assert!(!said.contains("Memories") && told["fresh"] == false, "{told}");
        let again = live.rpc().call("advise", &ask).unwrap();
        assert_eq!(again["text"], "", "it is told once: {again}");
    }
}
