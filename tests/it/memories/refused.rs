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
        (&["add", "<private>x</private>"], 2, "all of it is private"),
        (&["add", &token], 2, "GitHub token"),
        (&["add", "x", "--tag", &tags.join(",")], 2, "51 tags, over 50"),
        (&["add", "x", "--container", "!"], 2, "\"!\""),
        (&["add", "x", "--ttl", "soon"], 2, "\"soon\" is no time"),
        (&["add", "x", "--ttl", "2020-01-01"], 2, "\"2020-01-01\" is over already"),
        (&["add", "x", "--priority", "-1"], 2, "-1 is not between 1 and 10"),
        (&["add", "x", "--confidence", "1.5"], 2, "1.5 is not between 0 and 1"),
        (&["add", "x", "--confidence", "NaN"], 2, "NaN"),
        (&["add", "x", "--meta", "a"], 2, "KEY=VALUE"),
        (&["update", &first, "--title", "a\nb"], 2, "more than one line"),
        (&["get", "mem_00"], 1, "no memory begins with mem_00"),
        (&["get", "nonsense!"], 2, "\"nonsense!\""),
        (&["forget", "mem_00", "--yes"], 1, "no memory begins with mem_00"),
        (&["forget", "--yes"], 2, "nothing says which"),
        (&["forget", &first, "--container", "other", "--yes"], 2, "is in container project, not in other"),
        (&["forget", &first], 2, "--yes"),
        (&["restore", &first], 1, "not in the archive"),
        (&["purge", &first, "--yes"], 1, "not in the archive"),
        (&["list", "--before", "x"], 2, "\"x\" is no time"),
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
        .arg(live.place().state_dir)
        .output();
    assert_eq!(String::from_utf8(found.unwrap().stdout).unwrap(), "");
}
