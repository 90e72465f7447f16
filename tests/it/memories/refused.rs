//! What is refused, and is nothing changed then?

use std::fs;
use std::process::Command;

use serde_json::json;

use super::{add, call, memo, stop, texts};
use crate::live::Live;

#[test]
fn wrong_values_change_nothing() {
    let live = Live::new();
    let first = add(&live, "one");
    let long = "x".repeat((64 << 10) + 1);
    let tags: Vec<_> = (0..51).map(|number| number.to_string()).collect();
    fs::write(live.root().join("long"), &long).unwrap();
    let token = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["add", "--file", "long"], 2, "65537 bytes, over 65536"),
        (&["add", ""], 2, "content: empty"),
        (&["add", "<private>x</private>"], 2, "all of the text is private"),
        (&["add", &token], 2, "GitHub token"),
        (&["add", "x", "--tag", &tags.join(",")], 2, "51 tags, over 50"),
        (&["add", "x", "--container", "!"], 2, "\"!\""),
        (&["add", "x", "--ttl", "soon"], 2, "\"soon\" is not a time"),
        (&["add", "x", "--ttl", "2020-01-01"], 2, "\"2020-01-01\" is in the past"),
        (&["add", "x", "--priority", "-1"], 2, "-1 is not between 1 and 10"),
        (&["add", "x", "--confidence", "1.5"], 2, "1.5 is not between 0 and 1"),
        (&["add", "x", "--confidence", "NaN"], 2, "NaN"),
        (&["add", "x", "--meta", "a"], 2, "KEY=VALUE"),
        (&["update", &first, "--title", "a\nb"], 2, "more than one line"),
        (&["get", "mem_00"], 1, "no memory begins with mem_00"),
        (&["get", "nonsense!"], 2, "\"nonsense!\""),
        (&["forget", "mem_00", "--yes"], 1, "no memory begins with mem_00"),
        (&["forget", "--yes"], 2, "no memories are selected"),
        (&["forget", &first, "--container", "other", "--yes"], 2, "is in container project, not in other"),
        (&["forget", &first], 2, "--yes"),
        (&["restore", &first], 1, "not in the archive"),
        (&["purge", &first, "--yes"], 1, "not in the archive"),
        (&["list", "--before", "x"], 2, "\"x\" is not a time"),
        (&["list", "--before", "2026-13-01"], 2, "\"2026-13-01\" is not a time"),
        (&["list", "--limit", "0"], 2, "0"),
        (&["list", "--limit", "1001"], 2, "1001"),
        (&["search", "--kind", "memory", "x", "--since", "soonish"], 2, "\"soonish\" is not a time"),
        (&["search", "--kind", "memory", "x", "--until", "\u{202e}3d"], 2, "u{202e}3d"),
        (&["recall", "x", "--since", "3"], 2, "\"3\" is not a time"),
        (&["recall", "x", "--limit", "201"], 2, "201"),
        (&["recall", " "], 2, "query: empty"),
        (&["add", "x", "--ttl", "400d"], 2, "\"400d\" is more than a year ahead"),
        (&["add", "x", "--ttl", "-3d"], 2, "\"-3d\" is not a time"),
        (&["add", "x", "--ttl", "99999999999999999999s"], 2, "99999999999999999999s"),
        (&["add", "x", "--title", &long[..513]], 2, "513 bytes, over 512"),
        (&["add", "x", "--tag", &long[..129]], 2, "129 bytes, over 128"),
        (&["add", "x", "--tag", "a\u{7}b"], 2, "u{7}b"),
        (&["add", "x", "--container", &long[..129]], 2, "129 bytes, over 128"),
        (&["add", "x", "--meta", &format!("k={long}")], 2, "over 65536"),
        (&["update", &first, "--priority", "11"], 2, "11 is not between 1 and 10"),
        (&["promote", "mem_00"], 1, "no memory begins with mem_00"),
        (&["promote", "\u{202e}"], 2, "u{202e}"),
    ];
    for (args, exit, said) in cases {
        let (code, answer) = memo(&live, args);
        assert_eq!(code, *exit, "{args:?}: {answer}");
        assert!(answer["error"].to_string().replace("\\\"", "\"").contains(said), "{args:?}: {answer}");
    }
    assert_eq!(texts(&live), ["one"]);
    let history = call(&live, "memory.history", json!({ "ids": [first] }));
    assert_eq!(history["changes"].as_array().unwrap().len(), 1);
    let second = add(&live, "two");
    let (code, answer) = memo(&live, &["get", "mem_0"]);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(code == 2 && message.contains(&first) && message.contains(&second), "{message}");
}

#[test]
fn what_is_private_or_secret_is_nowhere() {
    let live = Live::new();
    let token = ["glpat-", "Ab3dEf6hIj9kLmN0pQrS"].concat();
    let id = memo(&live, &["add", "seen <private>plantedprivate</private>"]).1["memory"]["id"].clone();
    let id = id.as_str().unwrap();
    assert_eq!(memo(&live, &["append", id, "<PRIVATE>plantedprivate"]).0, 2);
    assert_eq!(memo(&live, &["update", id, "--title", "t <private>plantedprivate</private>"]).0, 0);
    assert_eq!(memo(&live, &["update", id, "--meta", "k=<private>plantedprivate</private>"]).0, 0);
    assert_eq!(memo(&live, &["append", id, &token]).0, 2);
    memo(&live, &["list", "--match", "plantedprivate"]);
    stop(&live);
    let found = Command::new("grep")
        .args(["-arlE", &format!("plantedprivate|{token}")])
        .arg(live.layout().state_dir)
        .output();
    assert_eq!(String::from_utf8(found.unwrap().stdout).unwrap(), "");
}

#[test]
fn what_may_be_a_credential_is_kept_with_a_warning() {
    let live = Live::new();
    let said = |args: &[&str]| {
        let output = live.memo(args).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let announced = "one\nthe token: see the vault";
    let warning = "memo: content: the value after \"token\" in line 2 may be a credential; if so, forget and purge the memory\n";
    assert_eq!(said(&["add", announced]), (Some(0), warning.to_owned()));
    assert_eq!(said(&["add", "the token expires after an hour"]), (Some(0), String::new()));
    assert_eq!(said(&["add", "--allow-secret", "secret: none at all"]), (Some(0), String::new()));
    assert_eq!(said(&["add", "password = hunter2hunter2"]).0, Some(2));
    let escaped = r#"the log has "{\"password\": \"S7#kqP2!vx\"}""#;
    assert_eq!(said(&["add", escaped]).0, Some(2), "a string of JSON in a text");
    assert_eq!(texts(&live).len(), 3);
}

#[test]
fn no_text_misleads_who_reads_it() {
    let live = Live::new();
    let nasty = "a\u{1b}[2Jb \u{202e}c \u{e0041}d \u{e0100}e \u{200b}f";
    let params = json!({ "content": nasty, "title": nasty, "metadata": { "k": nasty } });
    let id = call(&live, "memory.add", params)["memory"]["id"].as_str().unwrap().to_owned();
    let other = add(&live, "other");
    let id = id.as_str();
    let verbs: &[&[&str]] = &[
        &["get", id],
        &["list"],
        &["recent"],
        &["recall", "other", "b", "c"],
        &["search", "--kind", "memory", "b c d"],
        &["link", id, &other],
        &["links", &other],
        &["get", &other],
        &["update", id, "--title", "t\u{202e}"],
        &["history", id],
        &["consolidate", id, &other, "--summary", "s\u{202e}"],
        &["list", "--archived"],
        &["get", "mem_"],
        &["get", "\u{202e}"],
        &["forget", "--match", "s", "--yes"],
    ];
    for args in verbs {
        let output = live.memo(args).output().unwrap();
        for stream in [output.stdout, output.stderr] {
            let text = String::from_utf8(stream).unwrap();
            let raw = text
                .chars()
                .find(|c| c.is_control() && *c != '\n' || "\u{202e}\u{e0041}\u{e0100}\u{200b}".contains(*c));
            assert_eq!(raw, None, "{args:?}: {text:?}");
        }
    }
}
