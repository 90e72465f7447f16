//! Are the nearest vectors found whether they fit into the memory budget or not, and while that changes?

use serde_json::{Value, json};

use crate::live::{Live, PATIENCE, until, word};

const QUESTION: &str = "how long does a login session last";
const ANSWER: &str = "# Accounts\n\nA user stays logged in for a day, then the session expires.\n";

/// More than 1 MiB of vectors.
const FILES: usize = 50;
const SECTIONS_A_FILE: usize = 90;

fn start(live: &Live, vector_memory_mb: &str) {
    live.start_as(live.memod().env("MEMO_INDEX_VECTOR_MEMORY_MB", vector_memory_mb));
    settle(live);
}

fn settle(live: &Live) {
    let sync = live.call("sync", json!({ "sync": "full", "wait_ms": PATIENCE.as_millis() }));
    assert_eq!(sync["fresh"], true, "{sync}");
}

fn status(live: &Live) -> Value {
    live.call("status", json!({}))
}

/// Returns whether the answer is found by its vector; else the search must say why it is not.
fn is_found(live: &Live, more: &Value) -> bool {
    let mut params = json!({ "query": QUESTION, "mode": "vector", "sync": "none", "limit": 50 });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let found = live.call("search", params);
    let hits = found["hits"].as_array().unwrap();
    let is_found = hits.iter().any(|hit| hit["path"] == "answer.md" && !hit["arms"]["knn"].is_null());
    let degraded = found["degraded"].as_array().unwrap();
    let says_so = degraded.iter().any(|why| why.as_str().unwrap().starts_with("knn: "));
    assert!(is_found || says_so, "{found}");
    is_found
}

/// Searches until the vectors are found in this way, and once more with filters.
fn expect(live: &Live, vectors: &str) {
    until(vectors, || {
        is_found(live, &json!({}));
        status(live)["vectors"] == vectors
    });
    for more in
        [json!({}), json!({ "paths": ["answer.md"] }), json!({ "kind": ["doc"], "lang": ["markdown"] })]
    {
        assert!(is_found(live, &more), "{vectors}: {more}");
    }
}

#[test]
fn how_near_a_meaning_must_be_is_a_setting() {
    let live = Live::idle();
    live.write("answer.md", ANSWER);
    live.commit_all();
    let found = |min_cosine: &str| -> Vec<String> {
        live.start_as(live.memod().env("MEMO_SEARCH_MIN_COSINE", min_cosine));
        live.call(
            "memory.add",
            json!({ "content": "whoever is logged in stays so for a day", "force": true }),
        );
        settle(&live);
        let params = json!({ "query": QUESTION, "mode": "vector", "sync": "full", "wait_ms": 60_000 });
        let hits = live.call("search", params)["hits"].clone();
        live.kill();
        let hits = hits.as_array().unwrap().iter();
        hits.map(|hit| hit["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(found("0.25"), ["doc", "memory"]);
    assert!(found("0.95").is_empty(), "no word was searched for, and nothing is that near");
}

fn sections(file: usize) -> String {
    let paragraph = "The quick brown fox jumps over the lazy dog near the bank of the river. ".repeat(4);
    let section = |nth| {
        let word = word(file * SECTIONS_A_FILE + nth);
        format!("# {word}\n\n{word} {paragraph}\n\n")
    };
    (0..SECTIONS_A_FILE).map(section).collect()
}

#[test]
fn vectors_that_outgrow_the_memory_budget_are_found_as_before_and_return_to_it() {
    let live = Live::idle();
    live.write("answer.md", ANSWER);
    start(&live, "1");
    expect(&live, "in memory");
    for file in 0..FILES {
        live.write(&format!("many/{file}.md"), sections(file));
    }
    expect(&live, "in sqlite-vec");
    settle(&live);
    assert!(status(&live)["counts"]["embeddings"].as_u64().unwrap() > 1 << 12);
    expect(&live, "in sqlite-vec");
    live.rename("answer.md", "many/other.md");
    live.write("answer.md", ANSWER.replace("day", "week"));
    settle(&live);
    expect(&live, "in sqlite-vec");
    live.rename("many", ".aws");
    settle(&live);
    expect(&live, "in memory");
}

#[test]
fn another_budget_holds_after_a_restart() {
    let live = Live::idle();
    live.write("answer.md", ANSWER);
    live.write("more.md", sections(0));
    for (budget, vectors) in
        [("64", "in memory"), ("0", "in sqlite-vec"), ("0", "in sqlite-vec"), ("1", "in memory")]
    {
        start(&live, budget);
        expect(&live, vectors);
        live.write("more.md", sections(budget.len()));
        settle(&live);
        expect(&live, vectors);
        live.kill();
    }
}
