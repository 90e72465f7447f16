//! Is the text that is found the one in the worktree, where git has another form of it or does not look?

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::live::{Live, word};

/// Asserts that the word is found once, in these lines of this file, and that the snippet is what stands there.
fn expect_lines(live: &Live, cwd: &Path, word: &str, path: &str, lines: [usize; 2]) {
    let params = json!({ "query": word, "mode": "keyword", "wait_ms": 60_000 });
    let answer = live.call_in(cwd, "search", params);
    assert_eq!(answer["fresh"], true, "{answer}");
    let hits: Vec<&Value> =
        answer["hits"].as_array().unwrap().iter().filter(|hit| hit["kind"] == "doc").collect();
    assert_eq!(hits.len(), 1, "{word}: {answer}");
    assert_eq!((&hits[0]["path"], &hits[0]["lines"]), (&json!(path), &json!(lines)), "{word}");
    let bytes = fs::read(cwd.join(path)).unwrap();
    assert_eq!(hits[0]["blob"], blake3::hash(&bytes).to_hex().as_str(), "{word}: of the worktree's bytes");
    let text = String::from_utf8(bytes).unwrap();
    let from = usize::try_from(hits[0]["snippet_line"].as_u64().unwrap()).unwrap();
    for (line, shown) in text.lines().skip(from - 1).zip(hits[0]["snippet"].as_str().unwrap().lines()) {
        assert_eq!(shown.trim_end(), line.trim_end(), "{word}: {}", hits[0]);
    }
}

#[test]
fn one_object_in_two_forms() {
    let live = Live::idle();
    let sections = |number: usize| format!("# Überschrift {number}\n\nérste {}\n\n", word(number));
    live.write("a.md", (0..50).map(sections).collect::<String>());
    live.write(".gitattributes", "*.md text eol=lf\n");
    live.commit_all();
    live.git(&["checkout", "-qb", "crlf"]);
    live.write(".gitattributes", "*.md text eol=crlf\n");
    live.commit_all();
    live.git(&["checkout", "-q", "main"]);
    live.git(&["worktree", "add", "-q", "../linked", "crlf"]);
    let linked = live.sandbox.path("linked");
    live.start();
    let check = |dir: &Path, is_crlf: bool| {
        assert_eq!(fs::read(dir.join("a.md")).unwrap().contains(&b'\r'), is_crlf, "git did as it was told");
        for number in [0, 1, 25, 49] {
            expect_lines(&live, dir, &word(number), "a.md", [4 * number + 1, 4 * number + 3]);
        }
    };
    check(&live.root(), false);
    check(&linked, true);
    // The same worktree in one form after the other.
    for _ in 0..2 {
        for (branch, is_crlf) in [("crlf", true), ("main", false)] {
            live.sh(&format!(
                "git checkout -q --ignore-other-worktrees {branch}; rm a.md; git checkout -q a.md"
            ));
            check(&live.root(), is_crlf);
        }
    }
    // By settings alone, of one worktree.
    live.sh("git rm -q .gitattributes; git commit -qm x; git config core.autocrlf true; rm a.md; git checkout -q a.md",
    );
    check(&live.root(), true);
    check(&linked, true);
}

#[test]
fn what_a_filter_makes_of_it() {
    let live = Live::idle();
    live.sh("git config filter.x.clean 'tr b-za a-z'; git config filter.x.smudge 'tr a-z b-za'");
    live.write(".gitattributes", "*.md filter=x ident\n");
    live.write("a.md", "alpha $Id$");
    live.commit_all();
    live.git(&["checkout", "-qb", "other"]);
    live.write("a.md", "omega $Id$");
    live.commit_all();
    live.start();
    for _ in 0..3 {
        for (branch, here, gone) in [("main", "alpha", "omega"), ("other", "omega", "alpha")] {
            live.git(&["checkout", "-q", branch]);
            live.expect(here, "a.md", branch);
            live.expect(gone, "", branch);
        }
    }
    // What git keeps is other text, and is not found.
    live.sh(
        "git config --remove-section filter.x; git config filter.x.smudge cat; rm a.md; git checkout -q a.md",
    );
    let raw = fs::read_to_string(live.root().join("a.md")).unwrap();
    live.expect(raw.split(' ').next().unwrap(), "a.md", "without the filter");
    live.expect("omega", "", "without the filter");
}

#[test]
fn what_git_does_not_notice() {
    // The shell commands run before each change.
    let cases = [
        "git update-index --assume-unchanged a.md",
        "git update-index --skip-worktree a.md",
        "git rm -q --cached a.md; git add -N a.md",
        "git read-tree HEAD", // all stats in the index are 0
        "git config core.checkStat minimal; git config core.trustctime false",
        "git config core.fileMode false; git update-index --refresh -q",
        ":",
    ];
    for script in cases {
        let live = Live::idle();
        live.write("a.md", word(0));
        live.commit_all();
        live.sh(script);
        live.start();
        live.expect(&word(0), "a.md", script);
        for number in 1..20 {
            // As many bytes, and at an even step the same time of change: only ctime tells.
            let keep = if number % 2 == 0 { "touch -r a.md ../time;" } else { "touch ../time;" };
            let write = format!("{keep} printf {} > a.md; touch -r ../time a.md", word(number));
            live.sh(&write);
            live.expect(&word(number), "a.md", script);
            live.expect(&word(number - 1), "", script);
        }
        // And while nobody looks.
        live.kill();
        live.sh(&format!("touch -r a.md ../time; printf {} > a.md; touch -r ../time a.md", word(99)));
        live.start();
        live.expect(&word(99), "a.md", script);
        live.expect(&word(19), "", script);
    }
}
