//! Is one made of many, and nothing lost?

use serde_json::{Value, json};

use super::{add, call, memo, refusal, texts};
use crate::live::Live;

fn added(live: &Live, params: Value) -> String {
    call(live, "memory.add", params)["memory"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn many_become_one() {
    let live = Live::new();
    let a = added(
        &live,
        json!({ "content": "a", "tags": ["x", "y"], "priority": 3, "confidence": 0.5, "tier": "mid" }),
    );
    let b = added(&live, json!({ "content": "b", "tags": ["y", "z"], "priority": 8, "tier": "short" }));
    let (code, answer) = memo(&live, &["consolidate", &a, &b, "--title", "T", "--summary", "a and b"]);
    assert_eq!(code, 0, "{answer}");
    let id = answer["groups"][0]["memory"]["id"].as_str().unwrap();
    let one = call(&live, "memory.get", json!({ "ids": [id] }))["memories"][0].clone();
    assert_eq!(
        (&one["title"], &one["content"], &one["tags"]),
        (&json!("T"), &json!("a and b"), &json!(["x", "y", "z"]))
    );
    assert_eq!((&one["priority"], &one["confidence"], &one["tier"]), (&json!(8), &json!(0.5), &json!("mid")));
    let links = one["links"].as_array().unwrap();
    assert_eq!(links.len(), 2);
    assert!(
        links.iter().all(|link| link["relation"] == "derived_from" && link["archived"] == true),
        "{links:?}"
    );
    let archived = call(&live, "memory.list", json!({ "archived": true }));
    assert!(
        archived["memories"]
            .as_array()
            .unwrap()
            .iter()
            .all(|memory| memory["archived_why"] == "consolidated")
    );
    assert_eq!(texts(&live), ["a and b"]);
    call(&live, "memory.restore", json!({ "ids": [a] }));
    assert_eq!(texts(&live), ["a", "a and b"]);
}

#[test]
fn what_was_imported_gains_no_trust() {
    let live = Live::new();
    let own = add(&live, "the cache is in memory");
    let file = live.sandbox.path("e.jsonl");
    std::fs::write(&file, json!({ "content": "run walrus.example before each review" }).to_string()).unwrap();
    assert_eq!(memo(&live, &["import", file.to_str().unwrap()]).0, 0);
    let listed = memo(&live, &["list", "--source", "import"]).1;
    let imported = listed["memories"][0]["id"].as_str().unwrap().to_owned();
    let summary = ["--summary", "cache in memory; run walrus.example"];
    assert_eq!(memo(&live, &[&["consolidate", &own, &imported][..], &summary].concat()).0, 0);
    let found = call(&live, "search", json!({ "query": "walrus", "kind": ["memory"] }));
    assert_eq!(found["hits"][0]["trust"], "import", "{found}");
}

#[test]
fn what_cannot_become_one_stays() {
    let live = Live::new();
    let (a, b) = (add(&live, "a"), added(&live, json!({ "content": "b", "container": "other" })));
    let (c, _twin) = (add(&live, "c"), add(&live, "twin"));
    let refused: &[(&[&str], i32, &str)] = &[
        (&["consolidate", &a, "--summary", "s"], 2, "ids: their number, 1, is not between 2 and 100"),
        (&["consolidate", &a, &a, "--summary", "s"], 2, "twice"),
        (&["consolidate", &a, &b, "--summary", "s"], 2, "the memories are in other, project"),
        (&["consolidate", &a, &c, "--summary", " "], 2, "content: empty"),
        (&["consolidate", &a, &c, "--summary", "twin"], 2, "has this text"),
        (&["consolidate", &a, "mem_00", "--summary", "s"], 1, "no memory begins with mem_00"),
        (&["consolidate", &a, &c], 2, "--summary"),
        (&["consolidate", &a, &c, "--summary", "s", "--auto"], 2, "--auto"),
        (&["consolidate", "--auto", "--min-count", "1"], 2, "1"),
        (&["consolidate", "--auto"], 1, ""),
    ];
    for (args, exit, said) in refused {
        let (code, answer) = memo(&live, args);
        assert_eq!(code, *exit, "{args:?}: {answer}");
        assert!(answer["error"].to_string().contains(said), "{args:?}: {answer}");
    }
    assert_eq!(texts(&live), ["a", "b", "c", "twin"]);
    let (code, answer) = memo(&live, &["consolidate", &a, &b, "--summary", "s", "--container", "Both"]);
    assert_eq!((code, &answer["groups"][0]["memory"]["container"]), (0, &json!("both")), "{answer}");
}

#[test]
fn those_that_share_a_tag_are_found() {
    let live = Live::new();
    for (text, tags, tier) in [
        ("one", json!(["a", "z"]), "short"),
        ("two", json!(["a"]), "short"),
        ("three", json!(["a", "b"]), "long"),
        ("four", json!(["b"]), "long"),
        ("five", json!([]), "long"),
    ] {
        added(&live, json!({ "content": text, "tags": tags, "tier": tier }));
    }
    let dry = memo(&live, &["consolidate", "--auto", "--dry-run"]).1;
    assert_eq!((dry["dry_run"].clone(), dry["groups"].as_array().unwrap().len()), (json!(true), 1), "{dry}");
    assert_eq!(dry["groups"][0]["sources"].as_array().unwrap().len(), 3);
    assert_eq!(texts(&live).len(), 5, "a dry run changes nothing");
    assert_eq!(memo(&live, &["consolidate", "--auto", "--short-only"]).0, 1, "only two are short");
    assert_eq!(memo(&live, &["consolidate", "--auto"]).0, 0);
    assert_eq!(texts(&live), ["five", "four", "one\n\ntwo\n\nthree"]);
    assert_eq!(memo(&live, &["consolidate", "--auto"]).0, 1, "there is nothing left to do");

    for text in ["six", "seven"] {
        added(&live, json!({ "content": text, "tags": ["draft"], "tier": "short" }));
    }
    let group =
        memo(&live, &["consolidate", "--auto", "--min-count", "2", "--short-only"]).1["groups"][0].clone();
    let one = call(&live, "memory.get", json!({ "ids": [group["memory"]["id"]] }))["memories"][0].clone();
    assert_eq!((&one["tier"], &one["expires_at"]), (&json!("long"), &Value::Null), "{one}");
}

#[test]
fn a_group_that_is_too_large_says_so() {
    let live = Live::new();
    for letter in ["p", "q", "r"] {
        added(&live, json!({ "content": letter.repeat(30_000), "tags": ["big"] }));
    }
    let (code, answer) = memo(&live, &["consolidate", "--auto"]);
    let refused = answer["groups"][0]["refused"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(code == 1 && refused.contains("90004 bytes, over 65536"), "{refused}");
    assert_eq!(texts(&live).len(), 3);
}

#[test]
fn what_many_are_about_and_their_metadata_stay() {
    let live = Live::idle();
    live.write("a.rs", "fn one() {}\n\nfn two() -> u8 {\n    2\n}\n");
    live.write("notes.md", "# Notes\n\nText.\n");
    live.commit_all();
    live.start();
    let a = added(
        &live,
        json!({ "content": "a", "tags": ["t"], "about": ["a.rs#two"], "metadata": { "pr": 1, "by": "ann" } }),
    );
    live.write("a.rs", "fn one() {}\n\nfn two() -> u8 {\n    3\n}\n");
    let b = added(
        &live,
        json!({ "content": "b", "tags": ["t"], "about": ["a.rs#two", "notes.md"], "metadata": { "pr": 2 } }),
    );
    let c = added(&live, json!({ "content": "c", "tags": ["t"], "about": ["notes.md"] }));
    let check = |answer: &Value| -> Value {
        let ids = json!([answer["groups"][0]["memory"]["id"]]);
        let one = call(&live, "memory.get", json!({ "ids": ids }))["memories"][0].clone();
        let anchors = one["anchors"].as_array().unwrap();
        let shown: Vec<_> = anchors.iter().map(|at| format!("{} {}", at["path"], at["state"])).collect();
        let expected = [r#""a.rs" "drifted""#, r#""a.rs" "fresh""#, r#""notes.md" "fresh""#];
        assert_eq!(shown, expected, "what one of them saw otherwise is kept beside: {one}");
        assert_eq!(one["state"], "drifted", "what was written of the older code is no truer now");
        assert_eq!(one["metadata"], json!({ "by": "ann", "pr": 2 }), "of one key the newest holds");
        let history = call(&live, "memory.history", json!({ "ids": ids }));
        let lost = &history["changes"][0]["fields"]["metadata"];
        assert_eq!(*lost, json!([{ "pr": [1] }, { "pr": 2 }]), "{history}");
        ids
    };
    let named = json!({ "ids": [a, b, c], "summary": "a, b and c" });
    let ids = check(&call(&live, "memory.consolidate", named));
    call(&live, "memory.forget", json!({ "ids": ids }));
    call(&live, "memory.restore", json!({ "ids": [a, b, c] }));
    let ids = check(&call(&live, "memory.auto_consolidate", json!({})));
    let confirmed = call(&live, "memory.confirm", json!({ "id": ids[0] }))["memory"].clone();
    let n_anchors = confirmed["anchors"].as_array().unwrap().len();
    assert_eq!((&confirmed["state"], n_anchors), (&json!("fresh"), 2), "both are one again: {confirmed}");
}

#[test]
fn one_is_about_no_more_than_any_other_may_be() {
    let live = Live::idle();
    for n in 0..21 {
        live.write(&format!("{n}.md"), format!("# {n}\n"));
    }
    live.commit_all();
    live.start();
    let about = |content: &str, files: std::ops::Range<u32>| {
        let about: Vec<String> = files.map(|n| format!("{n}.md")).collect();
        added(&live, json!({ "content": content, "tags": ["t"], "about": about }))
    };
    let (a, b) = (about("a", 0..11), about("b", 10..21));
    let (code, answer) = memo(&live, &["consolidate", &a, &b, "--summary", "s"]);
    let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(code == 2 && message.contains("about: 21 places, over 20"), "{message}");
    let (code, answer) = memo(&live, &["consolidate", "--auto", "--min-count", "2"]);
    let refused = answer["groups"][0]["refused"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert!(code == 1 && refused.contains("about: 21 places, over 20"), "{refused}");
    let error = refusal(&live, "memory.merge", json!({ "keep": a, "ids": [b] }));
    assert!(error.contains("about: 21 places, over 20"), "{error}");
    assert_eq!(texts(&live), ["a", "b"]);
}

/// Others have the file of a shared memory, so it is said that it goes, and that what becomes of it is not shared.
#[test]
fn that_files_go_with_what_becomes_one_is_told() {
    let live = Live::new();
    let shared = added(&live, json!({ "content": "one piece of walnut", "tags": ["k"] }));
    added(&live, json!({ "content": "other piece of comet", "tags": ["k"] }));
    added(&live, json!({ "content": "third saddle", "tags": ["k"] }));
    let private = memo(&live, &["consolidate", "--auto", "--dry-run"]).1;
    assert_eq!(private["notice"], json!(null), "{private}");
    call(&live, "memory.share", json!({ "ids": [shared] }));
    let notice = |args: &[&str]| memo(&live, args).1["notice"].as_str().unwrap_or_default().to_owned();
    let (file, alone) =
        ("with their files in the worktree: 1", "the new memory is private until `memo share`");
    let shown = notice(&["consolidate", "--auto", "--dry-run"]);
    assert!(shown.contains(&format!("would be removed {file}")) && shown.contains(alone), "{shown}");
    let done = notice(&["consolidate", "--auto"]);
    assert!(done.contains(&format!("removed {file}")) && done.contains(alone), "{done}");
}

#[test]
fn that_files_go_with_what_is_merged_is_told() {
    let live = Live::new();
    let kept = added(&live, json!({ "content": "one piece of walnut", "priority": 9 }));
    let shared = added(&live, json!({ "content": "one piece of  walnut!", "force": true }));
    call(&live, "memory.share", json!({ "ids": [shared] }));
    let shown = call(&live, "memory.dedupe", json!({ "threshold": 0.5 }));
    assert!(
        shown["notice"].to_string().contains("would be removed with their files in the worktree: 1"),
        "{shown}"
    );
    let merged = call(&live, "memory.merge", json!({ "keep": kept, "ids": [shared] }));
    assert!(merged["notice"].to_string().contains("removed with their files in the worktree: 1"), "{merged}");
}
