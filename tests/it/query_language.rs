//! Do operators and filters hold for every hit, whichever arm finds it?

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::live::{Live, PATIENCE, memo};
use crate::memories::call;
use crate::random::Random;

/// Searches with everything indexed and embedded.
fn search(live: &Live, query: &str, mut params: Value) -> Value {
    params["query"] = json!(query);
    params["sync"] = json!("full");
    params["wait_ms"] = json!(PATIENCE.as_millis());
    params["limit"].as_u64().is_none().then(|| params["limit"] = json!(100));
    let result = live.call("search", params);
    assert_eq!(result["degraded"], json!([]), "{query}: {result}");
    result
}

fn hits(result: &Value) -> &[Value] {
    result["hits"].as_array().unwrap()
}

/// Returns the file names, subjects of commits and titles of memories that a query finds.
fn names(result: &Value) -> BTreeSet<String> {
    let name = |hit: &Value| match hit["kind"].as_str().unwrap() {
        "commit" | "memory" => hit["title"].as_str().unwrap_or_default().to_owned(),
        _ => hit["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned(),
    };
    hits(result).iter().map(name).collect()
}

fn expect(live: &Live, query: &str, params: Value, expected: &[&str]) {
    let result = search(live, query, params);
    let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
    assert_eq!(names(&result), expected, "{query}: {result}");
}

fn notes(result: &Value) -> Vec<&str> {
    let notes = result["parsed"]["notes"].as_array();
    notes.into_iter().flatten().map(|note| note.as_str().unwrap()).collect()
}

/// A repository in which every arm finds something about retries.
fn repository() -> Live {
    let live = Live::idle();
    live.write(
        "src/retry.rs",
        "/// Waits longer after each failure.\npub fn backoff_delay(attempt: u32) -> u64 { 1 << attempt }\n",
    );
    live.write(
        "src/retry/limit.rs",
        "/// Gives up when the retry budget is spent.\npub fn give_up(spent: bool) -> bool { spent }\n",
    );
    live.write(
        "src/http.rs",
        "/// Sends a request again after a failure, with a longer delay.\npub fn send() {}\n",
    );
    live.write("docs/retry.md", "# Retry\n\nThe retry budget limits how often a request is sent again.\n");
    live.write(
        "docs/failure.md",
        "# Failure\n\nA failed request is repeated later, with a longer delay each time.\n",
    );
    live.write("docs/uk/retry.md", "# Retry\n\nBudget and retry stand apart here, for a test.\n");
    live.git(&["add", "-A"]);
    let commit = |author: &str, date: &str, message: &str| {
        let author = format!("--author={author} <{author}@example.org>");
        live.git(&["commit", "-q", "--allow-empty", &author, &format!("--date={date}"), "-m", message]);
    };
    commit("ann", "2024-05-01T12:00:00Z", "Retry with a delay");
    commit("bob", "2026-05-01T12:00:00Z", "Spend the retry budget");
    live.start();
    call(
        &live,
        "memory.add",
        json!({ "title": "budget note", "content": "the retry budget was doubled", "tags": ["ops"] }),
    );
    call(
        &live,
        "memory.add",
        json!({ "title": "delay note", "content": "delays grow after each failed request", "container": "notes" }),
    );
    live
}

const MODES: [&str; 3] = ["hybrid", "keyword", "vector"];

#[test]
fn operators_hold_for_every_hit_of_every_arm() {
    let live = repository();
    let all = search(&live, "retry budget", json!({}));
    let is_near = |hit: &Value| hit["arms"]["bm25"].is_null() && hit["arms"]["symbol"].is_null();
    assert!(hits(&all).iter().any(is_near), "without operators also what is near is found: {all}");
    for mode in MODES {
        let check = |query: &str, expected: &[&str]| expect(&live, query, json!({ "mode": mode }), expected);
        let phrase = ["limit.rs", "retry.md", "Spend the retry budget", "budget note"];
        check("\"retry budget\"", &phrase);
        check("delay \"retry budget\"", &phrase);
        check("\"retry budget\" AND (spent OR doubled)", &["limit.rs", "budget note"]);
        check("\"retry budget\" NOT doubled", &["limit.rs", "retry.md", "Spend the retry budget"]);
        check("twofold doubl*", if mode == "vector" { &[] } else { &["budget note"] });
        check("nothing AND here", &[]);
        check("\"budget retry\"", &[]);
    }
    let without = search(&live, "retry delay NOT budget", json!({}));
    let expected = ["retry.rs", "http.rs", "failure.md", "Retry with a delay", "delay note"];
    assert_eq!(names(&without), expected.map(str::to_owned).into(), "{without}");
    let arms = |arm: &str| hits(&without).iter().filter(|hit| !hit["arms"][arm].is_null()).count();
    assert!(["bm25", "path", "knn"].map(arms).iter().all(|n| *n > 0), "every arm has a hit: {without}");
    let near = search(&live, "backoff NOT budget", json!({}));
    assert!(hits(&near).iter().any(|hit| hit["arms"]["bm25"].is_null()), "words only rank: {near}");
}

/// The words of random texts; the model knows them, and none is a form of another.
const WORDS: [&str; 5] = ["budget", "delay", "retry", "token", "wizard"];

/// Returns a random query and what every hit must satisfy.
fn random_query(random: &mut Random) -> (String, impl Fn(&str) -> bool) {
    let [a, b, c] = [(); 3].map(|()| random.pick(&WORDS));
    let phrase = format!("{a} {b}");
    let forms = [
        format!("\"{phrase}\""),
        format!("{c} \"{phrase}\""),
        format!("{a} AND {b}"),
        format!("{a} AND ({b} OR {c})"),
        format!("{a} {b} NOT {c}"),
        format!("{a} OR \"{b} {c}\""),
        format!("\"{phrase}\" NOT {c}"),
        format!("{}* AND NOT {b}", &a[..4]),
    ];
    let nth = random.below(forms.len());
    let holds = move |text: &str| {
        let has = |word: &str| text.contains(word);
        match nth {
            0 | 1 => has(&phrase),
            2 => has(a) && has(b),
            3 => has(a) && (has(b) || has(c)),
            4 => !has(c),
            5 => has(a) || has(&format!("{b} {c}")),
            6 => has(&phrase) && !has(c),
            _ => has(a) && !has(b),
        }
    };
    (forms[nth].clone(), holds)
}

#[test]
fn random_queries_hold_for_every_hit() {
    let live = Live::new();
    let mut random = Random(7);
    let mut text = || (0..4).map(|_| random.pick(&WORDS)).collect::<Vec<_>>().join(" ");
    for nth in 0..40 {
        live.write(&format!("f{nth}.txt"), text());
    }
    let mut memories: Vec<String> = (0..20).map(|_| text()).collect();
    memories.sort();
    memories.dedup();
    for content in &memories {
        call(&live, "memory.add", json!({ "content": content, "force": true }));
    }
    let mut n_hits = 0;
    for _ in 0..150 {
        let (query, holds) = random_query(&mut random);
        for mode in MODES {
            let result = search(&live, &query, json!({ "mode": mode }));
            for hit in hits(&result) {
                let text = hit["snippet"].as_str().unwrap();
                assert!(holds(text), "{mode} {query}: {text}");
                n_hits += 1;
            }
        }
    }
    assert!(n_hits > 1_000, "{n_hits}");
}

#[test]
fn filters_stand_in_the_query_and_combine_with_params() {
    let live = repository();
    let check = |query: &str, params: Value, expected: &[&str]| expect(&live, query, params, expected);
    check("retry path:docs", json!({}), &["retry.md", "failure.md"]);
    check(
        "retry path:\"docs/**\" -path:docs/uk NOT path:failure.md",
        json!({ "kind": ["doc"] }),
        &["retry.md"],
    );
    let translated = search(&live, "retry path:docs", json!({ "path": ["uk"] }));
    assert_eq!(hits(&translated)[0]["path"], "docs/uk/retry.md", "both hold: {translated}");
    check("delay path:docs/failure.md path:src/http.rs", json!({}), &["failure.md", "http.rs"]);
    check("retry lang:rust", json!({ "path": ["src/retry"] }), &["limit.rs"]);
    check("retry lang:rust", json!({ "lang": ["markdown"] }), &[]);
    check("retry kind:commit", json!({}), &["Retry with a delay", "Spend the retry budget"]);
    check(
        "retry kind:commit,memory -kind:memory",
        json!({}),
        &["Retry with a delay", "Spend the retry budget"],
    );
    check("delay symbol:backoff_delay", json!({}), &["retry.rs"]);
    check("symbol:GIVE_UP", json!({}), &["limit.rs"]);
    check("symbol:retry::give_up", json!({}), &[]);
    check("retry tag:ops", json!({}), &["budget note"]);
    check("delay -tag:ops kind:memory", json!({}), &["delay note"]);
    check("delay container:Notes", json!({}), &["delay note"]);
    check("delay container:notes", json!({ "container": "project" }), &[]);
    check("retry author:ANN", json!({}), &["Retry with a delay"]);
    check("retry -author:ann kind:commit", json!({}), &["Spend the retry budget"]);
    check("retry before:2025-01-01", json!({}), &["Retry with a delay"]);
    check("retry after:2025-01-01 before:2026-06-01", json!({}), &["Spend the retry budget"]);
    check("retry NOT after:2025-01-01", json!({}), &["Retry with a delay"]);
    check("retry tag:ops path:src", json!({}), &[]);
    let impossible = search(&live, "retry tag:ops path:src", json!({}));
    assert_eq!(notes(&impossible), ["no kind of hit can satisfy all filters"]);
    for text in [
        "std::path::Path",
        "path::retry",
        "http://retry",
        "foo:retry",
        "kind:retry",
        "after:retry",
        "lang:retry",
    ] {
        let result = search(&live, text, json!({}));
        assert_eq!(result["parsed"]["filters"], Value::Null, "{result}");
        let n_notes = usize::from(["kind:", "after:", "lang:"].iter().any(|key| text.starts_with(key)));
        assert_eq!(notes(&result).len(), n_notes, "{result}");
    }
}

#[test]
fn filters_alone_list_what_passes() {
    let live = repository();
    let order = |query: &str| -> Vec<String> {
        let result = search(&live, query, json!({}));
        let name = |hit: &Value| hit["title"].as_str().or(hit["path"].as_str()).unwrap().to_owned();
        hits(&result).iter().map(name).collect()
    };
    assert_eq!(order("kind:commit"), ["Spend the retry budget", "Retry with a delay"], "newest first");
    assert_eq!(order("kind:memory"), ["delay note", "budget note"]);
    assert_eq!(order("author:ann"), ["Retry with a delay"]);
    assert_eq!(order("kind:doc -path:docs/uk"), ["Failure", "Retry"]);
    assert_eq!(order("kind:doc NOT later"), ["Retry", "Retry"]);
    assert_eq!(order("NOT later"), [""; 0]);
    let listed = |args: &[&str]| {
        let (exit, found) = memo(&live, &[&["search", "--wait-ms=60000"], args].concat());
        (exit, found["hits"].as_array().map_or(0, Vec::len))
    };
    assert_eq!((listed(&["-k", "commit"]), listed(&["--author", "ann"])), ((0, 2), (0, 1)));
    assert_eq!((listed(&["-k", "doc", ""]), listed(&[""]).0), ((0, 3), 2));
}

#[test]
fn filters_that_memories_cannot_satisfy_are_text_to_recall() {
    let live = repository();
    let recalled = |query: &str| -> Vec<String> {
        let result = call(&live, "memory.recall", json!({ "query": query, "mode": "keyword" }));
        let title = |recalled: &Value| recalled["title"].as_str().unwrap().to_owned();
        result["memories"].as_array().unwrap().iter().map(title).collect()
    };
    assert_eq!(recalled("budget path:src"), ["budget note"]);
    assert_eq!(recalled("budget tag:ops"), ["budget note"]);
    assert_eq!(recalled("budget -tag:ops"), [""; 0]);
    assert_eq!(recalled("delay NOT grow"), [""; 0]);
}

#[test]
fn dates_and_authors_are_those_of_commits_and_memories() {
    let live = repository();
    let since = |params: Value| search(&live, "retry budget delay", params);
    let all = since(json!({ "since": "2026-01-01" }));
    assert_eq!(
        names(&all),
        ["Spend the retry budget", "budget note", "delay note"].map(str::to_owned).into()
    );
    assert_eq!(notes(&all), ["files have no date or author: only commits and memories are searched"]);
    let commits = since(json!({ "since": "2026-01-01", "kind": ["commit"] }));
    assert_eq!(names(&commits), ["Spend the retry budget".to_owned()].into());
    assert_eq!(notes(&commits), [""; 0]);
    assert_eq!(names(&since(json!({ "until": "2025-01-01" }))), ["Retry with a delay".to_owned()].into());
    assert_eq!(names(&since(json!({ "author": "bob@" }))), ["Spend the retry budget".to_owned()].into());
    let params = json!({ "cwd": live.root(), "query": "x", "kind": ["doc"], "since": "90d" });
    let error = live.rpc().call("search", &params).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("select commits and memories"), "{error}");
}

#[test]
fn a_typo_is_corrected_where_little_is_found_and_displaces_nothing() {
    let live = repository();
    call(&live, "memory.add", json!({ "title": "vault", "content": "the quartermaster keeps the keys" }));
    let check = |query: &str, params: Value, corrected: Option<&str>, first: &str| {
        let result = search(&live, query, params);
        assert_eq!(result["corrected"].as_str(), corrected, "{result}");
        let name = hits(&result)[0]["title"].as_str().unwrap();
        assert_eq!(name, first, "{result}");
        result
    };
    check("quartermastr", json!({}), Some("quartermaster"), "vault");
    check("quartermastr", json!({ "kind": ["memory"] }), Some("quartermaster"), "vault");
    check("quartermaster", json!({}), None, "vault");
    check("\"quartermastr keeps\" AND keys", json!({}), Some("\"quartermaster keeps\" AND keys"), "vault");
    // `keys` is in the vault alone, `bugdet` nowhere.
    let both = check("keys bugdet", json!({}), Some("keys budget"), "vault");
    assert!(names(&both).contains("retry.md"), "{both}");
    let scores: Vec<f64> = hits(&both).iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|left, right| left >= right) && scores[0] > scores[1], "{scores:?}");
    let excluded = search(&live, "keys bugdet NOT doubled", json!({}));
    assert!(!names(&excluded).contains("budget note"), "{excluded}");
    let many = search(&live, "retry zzzyx", json!({}));
    assert_eq!(many["corrected"], Value::Null, "{many}");
}

#[test]
fn no_text_is_an_error() {
    let live = repository();
    let mut texts: Vec<String> = [
        "the of and",
        "?!… --- ::",
        "\"",
        "\"retry",
        "retry\"",
        "AND",
        "OR OR",
        "NOT",
        "NOT NOT retry",
        ")(",
        "*",
        "💥👩\u{200d}👧",
        "検索エンジンの再試行",
        "^fn\\s+(\\w+)\\([^)]*\\)$",
        "retry\0budget",
        "\0",
        "path:[ retry",
        "path:\0 retry",
        "tag:, author:\0",
        "after:9999999999y",
        "before:\"",
        "symbol:\"\" x",
        "kind:",
        "-kind:doc",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.extend(
        ["retry ", "(", ")", "(retry AND ", "a OR ", "NOT a ", "\"", "path:a ", "日本語"]
            .map(|text| text.repeat(1_000)),
    );
    texts.push("x".repeat(10_000));
    texts.push((0..500).map(|n| format!("word{n} AND ")).collect());
    texts.push((0..500).map(|n| format!("retry NOT word{n} ")).collect());
    for text in texts {
        for mode in MODES {
            let result = search(&live, &text, json!({ "mode": mode, "limit": 5 }));
            assert!(result["took_ms"].as_f64().unwrap() < 10_000.0, "{text}: {result}");
        }
        let typed = text.replace('\0', "x"); // no argument of a program has a NUL
        let explained = live.memo(&["explain", "-q", "--", &typed]).output().unwrap();
        assert!(matches!(explained.status.code(), Some(0 | 1)), "{text}: {explained:?}");
    }
}

#[test]
fn explain_shows_how_the_query_was_understood() {
    let live = repository();
    let query = "delay \"retry budget\" -kind:doc NOT doubled kind:foo";
    let explained = live.memo(&["explain", "-n1", "--wait-ms=60000", query]).output().unwrap();
    let shown = String::from_utf8(explained.stdout).unwrap();
    for line in [
        "query      delay \"retry budget\" kind:foo NOT doubled",
        "filter     not kind:doc",
        "note       kind:foo is read as text: a kind is one of doc, map, symbol, text, commit, memory",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}\n{shown}");
    }
}

#[test]
fn a_pasted_traceback_finds_what_it_is_about() {
    let live = repository();
    let trace = "Traceback (most recent call last):\n  File \"/srv/app.py\", line 3, in send\n    retry(\"x\", (1)\n\
         RetryError: \"the retry budget of caller 17 is spent\" NOT\n";
    let result = search(&live, trace, json!({}));
    assert!(names(&result).contains("limit.rs"), "{result}");
    assert!(notes(&result).iter().any(|note| note.starts_with("pasted text")), "{result}");
    assert_eq!(result["parsed"]["phrases"], Value::Null, "{result}");
}
