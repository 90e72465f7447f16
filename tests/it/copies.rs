//! Which of many equal files is found, and what is found beside them?

use serde_json::{Value, json};

use crate::live::{Live, PATIENCE};

/// Folders in the order of the alphabet; the first would stand for all.
const PACKAGES: usize = 40;
const NAMED: &str = "packages/billing/tsconfig.json";

fn package(nth: usize) -> String {
    match nth {
        0 => "admin".to_owned(),
        1 => "billing".to_owned(),
        nth => format!("part{nth}"),
    }
}

/// Makes forty copies of two files, and files that say less of the same.
fn packages() -> Live {
    let live = Live::new();
    let config = "{ \"compilerOptions\": { \"strict\": true, \"composite\": true } }\n";
    let section = |nth: usize| format!("## Part {nth}\n\nWalrus walrus walrus, and walrus.\n\n");
    let guide: String = (0..6).map(section).collect();
    for nth in 0..PACKAGES {
        live.write(&format!("packages/{}/tsconfig.json", package(nth)), config);
        live.write(&format!("packages/{}/guide.md", package(nth)), &guide);
    }
    for nth in 0..5 {
        let far = "It speaks of many other animals at length, of ostriches and of bears. ".repeat(8);
        live.write(&format!("other/o{nth}.md"), format!("# Other {nth}\n\n{far}Once of a walrus, {nth}.\n"));
    }
    let sync = live.call("sync", json!({ "sync": "full", "wait_ms": PATIENCE.as_millis() }));
    assert_eq!(sync["fresh"], true, "{sync}");
    live
}

fn paths(live: &Live, mut params: Value) -> Vec<String> {
    params["wait_ms"] = json!(PATIENCE.as_millis());
    let result = live.call("search", params);
    assert_eq!(result["fresh"], true, "{result}");
    let hits = result["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn of_equal_files_the_one_that_is_named_is_shown() {
    let live = packages();
    let cases = [
        ("hybrid", "billing tsconfig"),
        ("keyword", "billing tsconfig"),
        ("hybrid", "billing compilerOptions strict"),
        ("keyword", "billing compilerOptions strict"),
        ("vector", "strict and composite compiler options of billing"),
    ];
    for (mode, query) in cases {
        let found = paths(&live, json!({ "query": query, "mode": mode }));
        let configs: Vec<_> = found.iter().filter(|path| path.ends_with("tsconfig.json")).collect();
        assert_eq!(configs, [NAMED], "{mode}: {query}: {found:?}");
    }
    let within = json!({ "query": "tsconfig strict", "path": ["packages/part7/**"] });
    assert_eq!(paths(&live, within.clone()).first().unwrap(), "packages/part7/tsconfig.json");
    assert_eq!(paths(&live, within.clone()), paths(&live, within), "the same again");
}

#[test]
fn equal_files_crowd_no_other_one_out() {
    let live = packages();
    for mode in ["hybrid", "keyword"] {
        // 240 rows of the guides are better, of six chunks; an arm has room for a hundred.
        let found = paths(&live, json!({ "query": "walrus", "mode": mode, "limit": 20 }));
        let n_others = found.iter().filter(|path| path.starts_with("other/")).count();
        assert_eq!(n_others, 5, "{mode}: {found:?}");
    }
}

#[test]
fn files_with_equal_content_are_all_listed() {
    let live = Live::new();
    for path in ["a/x.py", "b/x.py", "c.py"] {
        live.write(path, "def zebra():\n    return 1\n");
    }
    for nth in 0..9 {
        live.write(&format!("many/m{nth}.md"), "# Okapi\n\nOkapis are shy.\n");
    }
    live.listed();
    let run = |args: &[&str]| live.sandbox.show(&mut live.memo(args));
    for form in ["-l", "--files"] {
        let said = run(&["search", form, "zebra"]);
        let mut listed: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("out: ")).collect();
        listed.sort_unstable();
        assert_eq!(listed, ["a/x.py", "b/x.py", "c.py"], "{form}: {said}");
    }
    let said = run(&["search", "-l", "--path", "b", "zebra"]);
    assert!(said.starts_with("exit 0\nout: b/x.py\n") && !said.contains("a/x.py"), "{said}");
    let said = run(&["search", "-l", "okapis"]);
    assert_eq!(said.matches("out: many/m").count(), 6, "{said}");
    assert!(said.contains("3 more files have the same content"), "{said}");
    let said = run(&["search", "--vimgrep", "zebra"]);
    assert_eq!(said.matches("x.py:1:").count() + said.matches("c.py:1:").count(), 1, "{said}");
    assert!(said.contains("2 more files have the same content; -l lists them"), "{said}");
}
