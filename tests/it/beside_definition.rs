//! Does the definition of the name that was typed come before memories, and do memories about it come beside it?

use serde_json::{Value, json};

use crate::live::{Live, memo};
use crate::memories::call;

const CONFIG: &str = "class App:\n    def make_config(self):\n        return {}\n\n    def load(self):\n        return self.make_config()\n\n\n\
                      def parse_config(path):\n    return open(path).read()\n\n\nclass Config:\n    pass\n";

fn repository() -> Live {
    let live = Live::idle();
    live.write("src/config.py", CONFIG);
    live.write("tests/test_config.py", "def helper_config():\n    return 1\n");
    live.write(
        "docs/config.md",
        "# Config\n\nHow to make a config, and how to parse the config: `parse_config`.\n",
    );
    live.commit_all();
    live.start();
    live.call("sync", json!({ "sync": "full", "wait_ms": 60_000 }));
    live
}

fn add(live: &Live, args: &[&str]) -> String {
    let (exit, added) = memo(live, &[&["add", "--force"], args].concat());
    assert_eq!(exit, 0, "{added}");
    added["memory"]["id"].as_str().unwrap().to_owned()
}

/// Returns the titles of definitions, the paths of other files and the ids of memories that a search finds.
fn hits(live: &Live, query: &str) -> Vec<String> {
    let (_, found) = memo(live, &["search", query]);
    let hits = found["hits"].as_array().unwrap_or_else(|| panic!("{found}")).iter();
    let scores: Vec<f64> = hits.clone().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|left, right| left >= right), "{query}: {scores:?}");
    let name = |hit: &Value| match hit["kind"].as_str() {
        Some("memory") => hit["id"].as_str().unwrap().to_owned(),
        Some("symbol") => hit["title"].as_str().unwrap().to_owned(),
        _ => hit["path"].as_str().unwrap().to_owned(),
    };
    hits.map(name).collect()
}

#[test]
fn no_memory_comes_before_the_definition_that_was_asked_for() {
    let live = repository();
    let loose = [
        "ALWAYS make the config first; make config strict, parse config and load it",
        "config: parse the config, then parse config again",
        "helper config: the config helper",
        "make_config is called once; parse_config and helper_config as well",
    ];
    for text in loose {
        add(&live, &["--priority", "10", text]);
    }
    for (query, definition) in [
        ("parse_config", "parse_config"),
        ("parseConfig", "parse_config"),
        ("PARSE_CONFIG", "parse_config"),
        ("parse_config()", "parse_config"),
        ("App.make_config", "App.make_config"),
        ("App::makeConfig", "App.make_config"),
        ("makeConfig", "App.make_config"),
        ("where is make_config defined", "App.make_config"),
        ("the make_config function", "App.make_config"),
        ("Config", "Config"),
        ("helperConfig", "helper_config"),
    ] {
        let found = hits(&live, query);
        let is_memory = |hit: &String| hit.starts_with("mem_");
        let place = found.iter().position(|hit| hit == definition).unwrap_or(usize::MAX);
        let memory = found.iter().position(is_memory).unwrap_or(usize::MAX);
        assert!(place < memory && memory < usize::MAX, "{query}: {found:?}");
    }
    // Words that are no name ask for whatever says most about them.
    assert!(
        hits(&live, "make config strict")[0].starts_with("mem_"),
        "{:?}",
        hits(&live, "make config strict")
    );
}

#[test]
fn a_memory_about_the_definition_comes_beside_it() {
    let live = repository();
    let loose =
        add(&live, &["--priority", "10", "parse config: parse the config, then make the config again"]);
    let named = add(&live, &["the result of parse_config is kept for as long as the process lives"]);
    let about = add(&live, &["reading it twice costs a second", "--about", "src/config.py#parse_config"]);
    let plain = add(&live, &["call `load` late", "--priority", "2"]);
    assert_eq!(hits(&live, "parse_config")[..3], ["parse_config", &about, &named]);
    assert_eq!(hits(&live, "parseConfig")[..3], ["parse_config", &about, &named]);
    assert!(hits(&live, "parse_config").contains(&loose), "it stays");
    assert_eq!(hits(&live, "load")[..2], ["App.load", &plain]);
    assert!(!hits(&live, "make_config").contains(&about), "that is another definition");

    // What was said about code that has changed does not come first.
    live.write("src/config.py", CONFIG.replace("open(path).read()", "None"));
    live.call("sync", json!({ "sync": "fs", "wait_ms": 60_000 }));
    let found = hits(&live, "parse_config");
    assert_eq!(found[..2], ["parse_config", &named], "{found:?}");
    call(&live, "memory.forget", json!({ "ids": [named] }));
    assert_eq!(hits(&live, "parse_config")[0], "parse_config");
}
