//! Is told how far indexing is, and never that it is complete before it is?

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::live::{Live, memo, not_checked};
#[cfg(unix)]
use crate::terminal::Terminal;

const N_FILES: usize = 400;

/// A repository that takes a while to index, which nobody has asked for yet.
fn unindexed() -> Live {
    let live = Live::idle();
    for number in 0..N_FILES {
        let mut text = String::new();
        for part in 0..10 {
            writeln!(text, "fn part{part}_of_{number}() {{ call(word{number}, {part}); }}\n").unwrap();
        }
        live.write(&format!("src/dir{}/f{number}.rs", number % 7), text);
    }
    live.commit_all();
    live
}

/// The steps in their order.
const STEPS: [&str; 4] = ["listing", "reading", "commits", "embedding"];

#[test]
fn each_step_says_how_far_it_is() {
    let live = unindexed();
    live.start();
    let mut seen: Vec<Value> = Vec::new();
    loop {
        let answer = live.call("sync", json!({ "sync": "full", "wait_ms": 1 }));
        seen.extend(answer.get("progress").cloned());
        if answer["fresh"] == json!(true) {
            assert_eq!(answer.get("progress"), None, "nothing is left to do");
            break;
        }
    }
    let places = seen.iter().map(|step| STEPS.iter().position(|name| step["step"] == *name).unwrap());
    assert!(places.is_sorted(), "{seen:?}");
    for step in &seen {
        match step["total"].as_u64() {
            None => assert!(step["step"] == "listing" || step["step"] == "commits", "{step}"),
            Some(total) => assert!(total > 0 && step["done"].as_u64().unwrap() <= total, "{step}"),
        }
    }
    let of = |name: &str| seen.iter().filter(|step| step["step"] == name).cloned().collect::<Vec<_>>();
    let reading = of("reading");
    let first = reading.first().expect("files are read");
    assert!(first["total"].as_u64().unwrap() >= N_FILES as u64, "{first}");
    assert!(reading.iter().map(|step| step["done_bytes"].as_u64().unwrap()).is_sorted(), "{reading:?}");
    assert!(reading.iter().all(|step| step["total_bytes"] == first["total_bytes"]), "{reading:?}");
    assert!(!of("embedding").is_empty(), "{seen:?}");
    assert_eq!(memo(&live, &["status"]).1.get("progress"), None);
}

/// A first answer comes from the whole index if it is built soon, however short the usual wait is.
#[test]
fn a_first_question_waits_for_the_first_index() {
    let live = unindexed();
    live.start();
    let (exit, found) = memo(&live, &["search", "word399"]);
    if found["fresh"] == json!(true) {
        assert_eq!((exit, &found["hits"][0]["path"]), (0, &json!("src/dir0/f399.rs")), "{found}");
    } else {
        // A machine that cannot index 400 files in five seconds is told how far it is.
        assert!(found["took_ms"].as_f64().unwrap() >= 4_900.0, "{found}");
        assert!(found["reason"].as_str().unwrap().starts_with("the index is being built"), "{found}");
    }
    let other = unindexed();
    other.start();
    let answer = other.call("search", json!({ "query": "word399", "wait_ms": 0 }));
    assert!(answer["took_ms"].as_f64().unwrap() < 4_900.0, "who says how long waits no longer: {answer}");
}

#[cfg(unix)]
#[test]
fn a_terminal_shows_each_step() {
    let live = unindexed();
    let mut terminal = match Terminal::open(&live, "init --no-hooks") {
        Ok(terminal) => terminal,
        Err(error) => return not_checked(&format!("memo init at a terminal: script: {error}")),
    };
    terminal.after("2/4 reading", "");
    terminal.after(" of 40", "");
    terminal.after("4/4 embedding", "");
    terminal.after("chunks", "");
    terminal.after("indexed", "");
    assert_eq!(terminal.end(), Some(0));
    let shown = terminal.shown();
    assert!(!shown.contains("/4 "), "the line is gone in the end: {shown}");
    // Nothing is written where nobody sees it move.
    let shown = live.sandbox.show(&mut live.memo(&["reindex"]));
    assert!(!shown.contains("err:"), "{shown}");
}
