//! Is it known who said a memory, and where it belongs?

use serde_json::{Value, json};

use super::{add, call, refusal, stop};
use crate::live::{Live, memo};

fn added(live: &Live, params: Value) -> Value {
    call(live, "memory.add", params)["memory"].clone()
}

#[test]
fn who_said_it_is_stamped_shown_and_asked_for() {
    let live = Live::new();
    add(&live, "typed");
    let mut command = live.memo(&["add", "found out"]);
    assert!(command.env("MEMO_AGENT", "Reviewer 2").output().unwrap().status.success());
    let (code, said) = memo(&live, &["add", "said", "--source", "user", "--agent", "reviewer"]);
    assert_eq!(
        (code, &said["memory"]["source"], &said["memory"]["agent"]),
        (0, &json!("user"), &json!("reviewer"))
    );
    added(&live, json!({ "content": "hooked", "source": "hook" }));
    added(&live, json!({ "content": "by socket" }));

    let texts = |condition: &[&str]| -> Vec<String> {
        let (_, answer) = memo(&live, &[&["list", "--all"], condition].concat());
        let memories = answer["memories"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
        memories.map(|memory| memory["content"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts(&["--source", "cli"]), ["typed"]);
    assert_eq!(texts(&["--source", "api"]), ["by socket"]);
    assert_eq!(texts(&["--source", "hook"]), ["hooked"]);
    assert_eq!(texts(&["--agent", "reviewer"]), ["said", "found out"]);
    assert_eq!(texts(&["--agent", "reviewer", "--source", "agent"]), ["found out"]);
    let found =
        memo(&live, &["search", "said", "typed", "out", "--agent", "REVIEWER", "--mode", "keyword"]).1;
    let kinds: Vec<_> = found["hits"].as_array().unwrap().iter().map(|hit| &hit["kind"]).collect();
    assert!(!kinds.is_empty() && kinds.iter().all(|kind| **kind == "memory"), "{found}");

    let output = live.memo(&["get", said["memory"]["id"].as_str().unwrap()]).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("(user, agent reviewer)"), "{shown}");
    let other = memo(&live, &["list", "--source", "agent"]).1["memories"][0]["id"].clone();
    let ids = [&said["memory"]["id"], &other].map(|id| id.as_str().unwrap());
    let made = memo(&live, &[&["consolidate", "--summary", "both"][..], &ids].concat());
    assert_eq!(made.0, 0, "{}", made.1);
    assert_eq!(texts(&["--source", "consolidation"]), ["both"]);

    for wrong in ["cli", "system", "claude"] {
        let error = refusal(&live, "memory.add", json!({ "content": "x", "source": wrong }));
        assert!(error.contains("is none of user, agent, hook, import"), "{error}");
    }
    let error = refusal(&live, "memory.add", json!({ "content": "x", "agent_name": "a\u{7}" }));
    assert!(error.contains("agent: "), "{error}");
}

#[test]
fn an_export_keeps_who_said_it() {
    let (live, other) = (Live::new(), Live::new());
    let params = json!({ "content": "kept", "agent_name": "reviewer", "source": "user" });
    added(&live, params);
    let file = live.root().join("m.jsonl");
    assert!(live.memo(&["export", "--out", file.to_str().unwrap()]).output().unwrap().status.success());
    let file = file.to_str().unwrap();
    assert_eq!(memo(&other, &["import", "--own", file]).0, 0);
    let there = memo(&other, &["list"]).1["memories"][0].clone();
    assert_eq!((&there["source"], &there["agent"]), (&json!("user"), &json!("reviewer")), "{there}");
    let (code, again) = memo(&other, &["import", file]);
    assert_eq!((code, &again["same"]), (0, &json!(1)), "{again}");
    assert_eq!(trust(&other, "kept"), "own");
}

/// Returns the trust of the memory that a word finds.
fn trust(live: &Live, word: &str) -> String {
    let found = memo(live, &["search", "--kind", "memory", word]).1;
    found["hits"][0]["trust"].as_str().unwrap_or_else(|| panic!("{found}")).to_owned()
}

#[test]
fn an_import_is_no_memory_of_ones_own() {
    let live = Live::new();
    let own = added(&live, json!({ "content": "written here" }));
    let lines = [
        json!({ "content": "claims a person", "source": "user", "author": "Ann <ann@example.org>" }),
        json!({ "content": "claims a terminal", "source": " cli " }),
        json!({ "content": "claims nothing" }),
        json!({ "content": "another system", "source": "claude" }),
        json!({ "id": own["id"], "content": "replaced from elsewhere", "source": "cli",
            "updated": "2999-01-01T00:00:00Z" }),
    ];
    let file = live.root().join("m.jsonl");
    std::fs::write(&file, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(trust(&live, "written"), "own");
    let (code, done) = memo(&live, &["import", "--merge", file]);
    assert_eq!((code, &done["added"], &done["updated"]), (0, &json!(4), &json!(1)), "{done}");
    for word in ["person", "terminal", "nothing", "another", "replaced"] {
        assert_eq!(trust(&live, word), "import", "{word}");
    }
    assert_eq!(memo(&live, &["list", "--source", "claude"]).1["total"], 1, "other words stay");
    assert_eq!(memo(&live, &["list", "--source", "user"]).1["total"], 0);

    let (code, done) = memo(&live, &["import", "--from", "markdown", "--own", "docs"]);
    assert_eq!(code, 2, "{done}");
    let other = Live::new();
    let (code, done) = memo(&other, &["import", "--own", file]);
    assert_eq!((code, &done["added"]), (0, &json!(5)), "{done}");
    assert_eq!(["person", "terminal", "nothing"].map(|word| trust(&other, word)), ["own", "own", "import"]);
}

#[test]
fn the_settings_take_the_containers_that_a_memory_takes() {
    let live = Live::new();
    let set = |name: &str| {
        let set = live.memo(&["config", "set", "--", "memory.container", name]).output().unwrap();
        (set.status.success(), String::from_utf8(set.stderr).unwrap())
    };
    let too_long = "x".repeat(129);
    for name in
        ["", "…", "--", "AUTO", &too_long, "<private>x</private>", "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"]
    {
        let (is_set, said) = set(name);
        assert!(!is_set && said.contains("expected the name of a container, or `auto`"), "{name}: {said}");
        let (code, answer) = memo(&live, &["add", &format!("--container={name}"), "never kept"]);
        assert_eq!(code, 2, "{name}: {answer}");
    }
    assert!(set("My Project!").0);
    stop(&live); // settings are read when the daemon starts
    assert_eq!(memo(&live, &["add", "kept"]).1["memory"]["container"], "my-project");
}

#[test]
fn a_container_can_have_the_name_of_the_repository() {
    let live = Live::new();
    let container = |args: &[&str]| {
        let (code, answer) = memo(&live, &[&["add"], args].concat());
        assert_eq!(code, 0, "{answer}");
        answer["memory"]["container"].as_str().unwrap().to_owned()
    };
    assert_eq!(container(&["one"]), "project");
    assert_eq!(container(&["two", "--container", "auto"]), "work", "of the directory");
    live.git(&["remote", "add", "origin", "git@example.org:team/My_Shop.git"]);
    assert_eq!(container(&["three", "--container", "auto"]), "my-shop");
    for (number, (url, expected)) in [
        ("https://user:hunter2@example.org/team/shop.git?token=hunter2#hunter2", "shop"),
        ("ssh://user:hunter2@example.org:22", "work"),
        ("user:hunter2@example.org", "work"),
    ]
    .into_iter()
    .enumerate()
    {
        live.git(&["remote", "set-url", "origin", url]);
        assert_eq!(container(&[&format!("credentials {number}"), "--container", "auto"]), expected, "{url}");
    }
    live.git(&["remote", "set-url", "origin", "git@example.org:team/My_Shop.git"]);
    assert!(live.memo(&["config", "set", "memory.container", "auto"]).output().unwrap().status.success());
    stop(&live); // settings are read when the daemon starts
    assert_eq!(container(&["four"]), "my-shop");
    assert_eq!(container(&["five", "--container", "Other"]), "other");
    let imported = call(&live, "memory.import", json!({ "drafts": [{ "content": "six" }] }));
    let id = &imported["drafts"][0]["id"];
    let six = call(&live, "memory.get", json!({ "ids": [id] }))["memories"][0]["container"].clone();
    assert_eq!(six, "my-shop");
    let (code, answer) = memo(&live, &["list", "--container", "auto"]);
    assert_eq!(
        (code, &answer["error"]["hint"]),
        (2, &json!("`memo tag containers` lists the names")),
        "{answer}"
    );
}
