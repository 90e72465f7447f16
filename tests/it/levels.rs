//! Is what each level of freshness promises kept, also where nobody is told of a change?

use std::fs;

use serde_json::json;

use crate::live::{Live, word};

#[test]
fn directories_made_while_the_daemon_runs() {
    let live = Live::new();
    live.expect("nothing", "", "first");
    for number in 0..100 {
        live.write(&format!("n{number}/a/b/c/f.md"), word(number));
    }
    for number in 0..100 {
        live.expect(&word(number), &format!("n{number}/a/b/c/f.md"), "mkdir -p");
    }
    for number in 0..50 {
        let deep = format!("n{number}/a/b/c/d/e/g.md");
        live.write(&deep, word(100 + number));
        live.expect(&word(100 + number), &deep, "at once");
    }
}

#[test]
fn levels_keep_their_promises() {
    let live = Live::new();
    let outside = live.sandbox.path("outside.md");
    live.write("a.md", "");
    fs::hard_link(live.root().join("a.md"), &outside).unwrap();
    for number in 0..10 {
        let (seen, unseen) = (word(2 * number), word(2 * number + 1));
        live.write("a.md", &seen);
        live.expect(&seen, "a.md", "written in the tree");
        // Nobody is told of this: the event carries the name that was used.
        fs::write(&outside, &unseen).unwrap();
        let none = live.search_with(&live.root(), &seen, json!({ "sync": "none" }));
        assert!(none.paths.is_empty(), "a stale line was shown: {none:?}");
        fs::write(&outside, &seen).unwrap();
        fs::write(&outside, &unseen).unwrap();
        let strict = live.search_with(&live.root(), &unseen, json!({ "sync": "strict" }));
        assert!(strict.fresh && strict.paths.contains("a.md"), "{strict:?}");
    }
    for number in 100..110 {
        live.write("b.md", format!("# {}\n\nthe fox is quick", word(number)));
        let params =
            json!({ "sync": "full", "query": "a quick brown fox", "mode": "vector", "wait_ms": 60_000 });
        let full = live.call("search", params);
        assert_eq!((&full["fresh"], &full["pending"]["embeddings"]), (&json!(true), &json!(0)), "{full}");
        let hits = full["hits"].as_array().unwrap();
        let hit = hits.iter().find(|hit| hit["path"] == "b.md").unwrap();
        assert!(!hit["arms"]["cosine"].is_null() && hit["title"] == word(number), "{hit}");
    }
}
