//! Is a definition one hit, and a text that is there several times, too?

use serde_json::{Value, json};

use crate::live::{Live, PATIENCE};

fn search(live: &Live, query: &str, limit: usize) -> Vec<Value> {
    let params = json!({ "query": query, "sync": "full", "wait_ms": PATIENCE.as_millis(), "limit": limit });
    live.call("search", params)["hits"].as_array().unwrap().clone()
}

fn paths(hits: &[Value]) -> Vec<&str> {
    hits.iter().map(|hit| hit["path"].as_str().unwrap()).collect()
}

/// Returns a function of 123 lines with a word of its own in the middle.
fn long_function() -> String {
    let step = |nth: usize| match nth {
        60 => "    let walrus = ledger + 60;\n".to_owned(),
        _ => format!("    let step_{nth} = ledger + {nth}; // adds to the ledger\n"),
    };
    let body: String = (0..120).map(step).collect();
    format!("/// Settles the ledger.\npub fn settle(ledger: u64) -> u64 {{\n{body}}}\n")
}

#[test]
fn a_long_definition_is_one_hit_with_its_signature() {
    let live = Live::new();
    live.write("src/settle.rs", long_function());
    live.write("src/main.rs", "pub fn run() {\n    settle(1);\n    settle(2);\n    settle(3);\n}\n");
    for query in ["settle", "walrus", "adds to the ledger"] {
        let hits = search(&live, query, 20);
        let settles: Vec<_> = hits.iter().filter(|hit| hit["symbol"] == "settle").collect();
        assert_eq!(settles.len(), 1, "{query}: {hits:?}");
        assert_eq!(settles[0]["lines"], json!([1, 123]), "{query}");
        assert_eq!(settles[0]["signature"], "pub fn settle(ledger: u64) -> u64 {", "{query}");
        assert_eq!(settles[0]["signature_line"], 2, "{query}");
        assert_eq!(hits[0]["symbol"], "settle", "{query}");
    }
    let shown = live.memo(&["search", "-n", "1", "walrus"]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let first = shown.lines().nth(1).unwrap();
    assert!(first.contains("2  pub fn settle") && shown.contains("let walrus"), "{shown}");
}

#[test]
fn overloads_that_stand_apart_are_hits_of_their_own() {
    let live = Live::new();
    let method = |name: &str, kind: &str| {
        format!("    void {name}({kind} badger) {{\n        log(badger);\n    }}\n\n")
    };
    let text = format!(
        "class A {{\n{}{}{}}}\n",
        method("dig", "int"),
        method("rest", "int"),
        method("dig", "String")
    );
    live.write("A.java", text);
    let hits = search(&live, "dig badger", 20);
    let digs = hits.iter().filter(|hit| hit["symbol"] == "dig").count();
    assert_eq!(digs, 2, "{hits:?}");
}

/// Returns a passage that others with another `end` repeat.
fn passage(end: &str) -> String {
    format!(
        "## Walrus\n\nThe walrus keeps who is logged in, for how long, and with which key the token was signed by the \
         server. It expires after a day, and the client renews it an hour before that, {end}.\n\n"
    )
}

#[test]
fn each_copy_counts_once() {
    let live = Live::new();
    live.write("guide/walrus.md", passage("without asking"));
    // Each says it three times, and all of them are equal.
    let three = ["first", "then", "last"].map(passage).concat();
    for nth in 0..8 {
        live.write(&format!("copy{nth}/walrus.md"), &three);
    }
    for query in ["guide walrus", "walrus token", "copy7 walrus", "guide/walrus.md without asking"] {
        let hits = search(&live, query, 10);
        for hit in &hits {
            let n_copies = if hit["path"] == "guide/walrus.md" { 8 } else { 7 };
            let is_first = hit["rank"] == 1;
            let count = hit["copies"]["count"].as_u64().unwrap();
            assert!(count == n_copies || is_first && count == 8, "{query}: {count}: {hits:?}");
        }
        assert_eq!(hits[0]["copies"]["count"], 8, "{query}: {hits:?}");
    }
    let hits = search(&live, "guide/walrus.md without asking", 10);
    assert_eq!(paths(&hits), ["guide/walrus.md"], "all others repeat it: {hits:?}");
}

#[test]
fn equal_files_of_late_copies_count_too() {
    let live = Live::new();
    live.write("guide/walrus.md", passage("without asking"));
    for variant in ["a", "b", "c"] {
        for nth in 0..3 {
            live.write(&format!("{variant}{nth}/walrus.md"), passage(&format!("with {variant}")));
        }
    }
    let one = search(&live, "walrus", 1);
    assert_eq!(one[0]["copies"]["count"], 9, "{one:?}");
}

#[test]
fn what_is_there_several_times_is_one_hit_with_a_count() {
    let live = Live::new();
    let guide = |title: &str, end: &str| {
        format!(
            "# {title}\n\nThe walrus keeps who is logged in, for how long, and with which key the token was signed by the \
             server. It expires after a day, and the client renews it an hour before that, {end}.\n"
        )
    };
    live.write("guide/en/walrus.md", guide("Walrus", "without asking"));
    live.write("fork/walrus.md", guide("Walrus", "without any question"));
    live.write("old/walrus.md", guide("Walrus", "without asking"));
    live.write("guide/uk/walrus.md", "# Walrus\n\nМорж (walrus) пам'ятає, хто увійшов.\n");
    live.write("guide/en/other.md", "# Other\n\nA walrus swims in the sea, and sleeps on the ice.\n");
    let hits = search(&live, "walrus", 10);
    assert_eq!(paths(&hits).len(), 2, "{hits:?}");
    let walrus = hits
        .iter()
        .find(|hit| hit["path"] == "guide/en/walrus.md" || hit["path"] == "fork/walrus.md")
        .unwrap();
    assert_eq!(walrus["copies"]["count"], 3, "{walrus}");
    assert_eq!(hits.iter().filter(|hit| hit["copies"].is_null()).count(), 1);
    let one = search(&live, "walrus", 1);
    assert_eq!(one[0]["copies"]["count"], 3, "copies beyond the page count: {one:?}");
    let shown = live.memo(&["search", "-n", "1", "walrus"]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("3 more files with the same content: "), "{shown}");
}
