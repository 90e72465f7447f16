//! Does a search see what was written a moment before it, and nothing of what was there earlier?

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::live::{Live, word};

/// One way to change `d/f.md`, which holds the old word.
struct Case {
    what: &'static str,
    /// Takes the old and the new word.
    change: fn(&Live, &str, &str),
    /// Paths that hold the old word afterwards, separated by spaces.
    old: &'static str,
    /// Paths that hold the new one.
    new: &'static str,
}

const fn case(
    what: &'static str,
    change: fn(&Live, &str, &str),
    old: &'static str,
    new: &'static str,
) -> Case {
    Case { what, change, old, new }
}

/// Runs each case several times against one daemon: a race need not show the first time.
fn check(cases: &[Case]) {
    let live = Live::new();
    let mut number = 0;
    for _ in 0..3 {
        for Case { what, change, old: old_paths, new: new_paths } in cases {
            let (old, new) = (word(number), word(number + 1));
            number += 2;
            live.write("d/f.md", &old);
            live.expect(&old, "d/f.md", what);
            change(&live, &old, &new);
            live.expect(&new, new_paths, what);
            live.expect(&old, old_paths, what);
            for name in ["d", "e", ".gitignore", ".memoignore"] {
                if fs::symlink_metadata(live.root().join(name)).is_ok() {
                    live.remove(name);
                }
            }
            live.expect(&old, "", what);
            live.expect(&new, "", what);
        }
    }
    assert_eq!(live.call("status", json!({}))["degraded"], json!([]));
}

/// Replaces `d/f.md` by something else, looks, and puts the file back with the new word.
fn aside_and_back(live: &Live, old: &str, new: &str, aside: fn(&Live)) {
    aside(live);
    live.expect(old, "", "aside");
    live.remove("d/f.md");
    live.write("d/f.md", new);
}

#[test]
fn files() {
    check(&[
        case("create", |live, _, new| live.write("d/g.md", new), "d/f.md", "d/g.md"),
        case("edit", |live, _, new| live.write("d/f.md", new), "", "d/f.md"),
        case(
            "append",
            |live, _, new| {
                let mut file = fs::File::options().append(true).open(live.root().join("d/f.md")).unwrap();
                write!(file, " {new}").unwrap();
            },
            "d/f.md",
            "d/f.md",
        ),
        case(
            "as vim does",
            |live, _, new| {
                live.rename("d/f.md", "d/f.md~");
                live.write("d/f.md", new);
                live.remove("d/f.md~");
            },
            "",
            "d/f.md",
        ),
        case(
            "as sed -i does",
            |live, _, new| {
                live.write("d/sedX1", new);
                live.rename("d/sedX1", "d/f.md");
            },
            "",
            "d/f.md",
        ),
        case(
            "truncate, then write",
            |live, old, new| {
                let mut file = fs::File::create(live.root().join("d/f.md")).unwrap();
                live.expect(old, "", "truncated");
                file.write_all(new.as_bytes()).unwrap();
            },
            "",
            "d/f.md",
        ),
        case(
            "same size, same time",
            |live, _, new| {
                let path = live.root().join("d/f.md");
                let time = fs::metadata(&path).unwrap().modified().unwrap();
                live.write("d/f.md", new);
                fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
            },
            "",
            "d/f.md",
        ),
        case("delete", |live, _, _| live.remove("d/f.md"), "", ""),
        case("rename", |live, _, _| live.rename("d/f.md", "d/g.txt"), "d/g.txt", ""),
        case(
            "swap",
            |live, _, new| {
                live.write("d/g.md", new);
                live.expect(new, "d/g.md", "before the swap");
                live.rename("d/f.md", "d/x");
                live.rename("d/g.md", "d/f.md");
                live.rename("d/x", "d/g.md");
            },
            "d/g.md",
            "d/f.md",
        ),
        case("move out of the tree", |live, _, _| live.rename("d/f.md", "../f.md"), "", ""),
        case(
            "move into the tree",
            |live, _, new| {
                live.write("../in/a/b.md", new);
                live.rename("../in", "e");
            },
            "d/f.md",
            "e/a/b.md",
        ),
    ]);
}

#[test]
fn directories() {
    check(&[
        case(
            "rename, then write inside",
            |live, _, new| {
                live.rename("d", "e");
                live.write("e/g.md", new);
            },
            "e/f.md",
            "e/g.md",
        ),
        case(
            "rename twice, then write inside",
            |live, _, new| {
                live.rename("d", "d2");
                live.rename("d2", "e");
                live.write("e/f.md", new);
            },
            "",
            "e/f.md",
        ),
        case(
            "rename a parent of a directory",
            |live, _, new| {
                live.write("d/a/b/c.md", "seen");
                live.expect("seen", "d/a/b/c.md", "before");
                live.rename("d", "e");
                live.expect("seen", "e/a/b/c.md", "after");
                live.write("e/a/b/c.md", new);
            },
            "e/f.md",
            "e/a/b/c.md",
        ),
        case(
            "remove and make again",
            |live, _, new| {
                live.remove("d");
                live.write("d/g.md", new);
            },
            "",
            "d/g.md",
        ),
        case(
            "remove, look, and make again",
            |live, old, new| {
                live.remove("d");
                live.expect(old, "", "gone");
                live.write("d/f.md", new);
            },
            "",
            "d/f.md",
        ),
        case(
            "another takes its place",
            |live, _, new| {
                live.write("e/f.md", new);
                live.expect(new, "e/f.md", "before");
                live.remove("d");
                live.rename("e", "d");
            },
            "",
            "d/f.md",
        ),
        case("move out of the tree", |live, old, _| live.rename("d", &format!("../{old}")), "", ""),
        case(
            "out, changed, and in again",
            |live, _, new| {
                live.rename("d", "../away");
                live.write("../away/f.md", new);
                live.rename("../away", "d");
            },
            "",
            "d/f.md",
        ),
    ]);
}

#[test]
fn what_a_file_becomes() {
    check(&[
        case(
            "a link to another file, and back",
            |live, old, new| {
                live.write("../outside.md", old);
                aside_and_back(live, old, new, |live| {
                    live.remove("d/f.md");
                    symlink("../../outside.md", live.root().join("d/f.md")).unwrap();
                });
            },
            "",
            "d/f.md",
        ),
        case(
            "a link is redirected",
            |live, _, new| {
                live.write("d/g.md", new);
                let link = live.root().join("d/l.md");
                symlink("f.md", &link).unwrap();
                live.expect(new, "d/g.md", "one link");
                fs::remove_file(&link).unwrap();
                symlink("g.md", &link).unwrap();
            },
            "d/f.md",
            "d/g.md",
        ),
        case(
            "its directory becomes a link",
            |live, _, new| {
                live.rename("d", "e");
                symlink("e", live.root().join("d")).unwrap();
                live.write("e/g.md", new);
            },
            "e/f.md",
            "e/g.md",
        ),
        case(
            "a directory",
            |live, _, new| {
                live.remove("d/f.md");
                live.write("d/f.md/g.md", new);
            },
            "",
            "d/f.md/g.md",
        ),
        case(
            "a directory, and back",
            |live, old, new| {
                aside_and_back(live, old, new, |live| {
                    live.remove("d/f.md");
                    live.write("d/f.md/g.md", "x");
                })
            },
            "",
            "d/f.md",
        ),
        case(
            "binary, and back",
            |live, old, new| aside_and_back(live, old, new, |live| live.write("d/f.md", "a\0b")),
            "",
            "d/f.md",
        ),
        case(
            "binary, with the old word",
            |live, old, new| {
                live.write("d/f.md", format!("{old}\0"));
                live.write("d/g.md", new);
            },
            "",
            "d/g.md",
        ),
        case(
            "too big, and back",
            |live, old, new| {
                aside_and_back(live, old, new, |live| live.write("d/f.md", vec![b'a'; (1 << 20) + 1]))
            },
            "",
            "d/f.md",
        ),
        case(
            "secret, and back",
            |live, old, new| {
                live.rename("d/f.md", "d/.env");
                live.expect(old, "", "secret");
                live.rename("d/.env", "d/f.md");
                live.write("d/g.md", new);
            },
            "d/f.md",
            "d/g.md",
        ),
    ]);
}

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
        let params = json!({ "sync": "full", "query": "a fast animal", "mode": "vector", "wait_ms": 60_000 });
        let full = live.call("search", params);
        assert_eq!((&full["fresh"], &full["pending"]["embeddings"]), (&json!(true), &json!(0)), "{full}");
        let hits = full["hits"].as_array().unwrap();
        let hit = hits.iter().find(|hit| hit["path"] == "b.md").unwrap();
        assert!(!hit["arms"]["cosine"].is_null() && hit["title"] == word(number), "{hit}");
    }
}
