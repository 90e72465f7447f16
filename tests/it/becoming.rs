//! What is found of a file that becomes something else, and of what it becomes?

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::freshness::{case, check};
use crate::live::{Live, until};

/// Replaces `d/f.md` by something else, looks, and puts the file back with the new word.
fn aside_and_back(live: &Live, old: &str, new: &str, aside: fn(&Live)) {
    aside(live);
    live.expect(old, "", "aside");
    live.remove("d/f.md");
    live.write("d/f.md", new);
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
                });
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
                aside_and_back(live, old, new, |live| live.write("d/f.md", vec![b'a'; (1 << 20) + 1]));
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
fn a_directory_that_is_ignored_is_no_longer_watched() {
    const N_DIRS: u64 = 20;
    let live = Live::idle();
    for number in 0..N_DIRS {
        live.write(&format!("made/d{number}/a.md"), format!("beta{number}"));
    }
    live.write("a.md", "alpha");
    live.start();
    live.expect("alpha", "a.md", "first");
    let n_watched = || live.call("status", json!({}))["watch"]["dirs"].as_u64().unwrap();
    let n_before = n_watched();
    live.write(".gitignore", "made/\n");
    live.expect("beta3", "", "ignored");
    until("the directories are let go", || n_watched() == n_before - N_DIRS - 1);
    live.remove(".gitignore");
    live.expect("beta3", "made/d3/a.md", "listed again");
    assert_eq!(n_watched(), n_before);
    live.write("made/d3/a.md", "gamma");
    live.expect("gamma", "made/d3/a.md", "watched again");
}
