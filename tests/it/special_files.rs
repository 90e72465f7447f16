//! Does a FIFO in the place of a file of git's block anybody?

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::live::{Live, word};
use crate::sandbox::mkfifo;

/// Longest time for an answer about files that are read at once.
const AT_ONCE: Duration = Duration::from_secs(10);

/// Makes a repository with two commits.
fn with_commits() -> Live {
    let live = Live::idle();
    for text in ["alpha", "beta"] {
        live.write("a.md", text);
        live.commit_all();
    }
    live
}

/// Puts a FIFO in the place of a file.
fn spoil(live: &Live, path: &str) {
    let path = live.root().join(path);
    let _ = fs::remove_file(&path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    mkfifo(&path);
}

/// Asks for what needs the history, and returns the message of the error, if it is one.
fn asked(live: &Live, what: &str) -> Option<String> {
    let began = Instant::now();
    let params = json!({ "cwd": live.root(), "since": "HEAD~1" });
    let answer: Result<Value, Value> = live.rpc().call("changed", &params);
    assert!(began.elapsed() < AT_ONCE, "{what}: {:?}", began.elapsed());
    answer.err().map(|error| error["message"].as_str().unwrap().to_owned())
}

fn loose_head(live: &Live) -> String {
    let id = fs::read_to_string(live.root().join(".git/refs/heads/main")).unwrap();
    format!(".git/objects/{}/{}", &id[..2], id[2..].trim())
}

#[test]
fn no_file_of_gits_blocks() {
    let include = "[include]\n path = ../../fifo\n";
    let cases: [(&str, Option<&str>); 9] = [
        (".git/refs/heads/main", Some("refs/heads/main: not a regular file")),
        (".git/packed-refs", Some("packed-refs: not a regular file")),
        (".git/shallow", None),
        (".git/objects/info/alternates", Some("alternates: not a regular file")),
        (".git/objects/pack/pack-1.idx", Some("pack-1.idx: not a regular file")),
        ("HEAD's object", Some(": not a regular file")),
        (".git/HEAD", Some("HEAD: not a regular file")),
        (".git/config", None),
        ("../fifo", Some("fifo: not a regular file")),
    ];
    for (number, (path, expected)) in cases.into_iter().enumerate() {
        let live = with_commits();
        live.start();
        live.expect("beta", "a.md", path);
        let path = if path.starts_with("HEAD's") { loose_head(&live) } else { path.to_owned() };
        spoil(&live, &path);
        if path == "../fifo" {
            let config = fs::read_to_string(live.root().join(".git/config")).unwrap();
            live.write(".git/config", config + include);
        }
        for is_restarted in [false, true] {
            let what = format!("{path}, restarted: {is_restarted}");
            if is_restarted {
                live.kill();
                live.start();
            }
            for _ in 0..3 {
                let error = asked(&live, &what);
                let error = error.unwrap_or_default();
                let (is_told, told) = (!error.is_empty(), expected.unwrap_or_default());
                assert!(is_told == expected.is_some() && error.contains(told), "{what}: {error}");
            }
            let seen = word(2 * number + usize::from(is_restarted));
            live.write("b.md", &seen);
            live.expect(&seen, "b.md", &what);
        }
        let began = Instant::now();
        assert!(live.memo(&["stop"]).status().unwrap().success(), "{path}");
        assert!(began.elapsed() < AT_ONCE, "{path}: {:?}", began.elapsed());
        live.wait_for_end();
    }
}

#[test]
fn a_client_does_not_wait_for_a_fifo() {
    for path in [".git/commondir", ".git"] {
        let live = with_commits();
        if path == ".git" {
            live.sh("mv .git ../moved");
        }
        spoil(&live, path);
        let began = Instant::now();
        let output = live.memo(&["search", "alpha"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(began.elapsed() < AT_ONCE && !output.status.success(), "{path}: {said}");
        assert!(said.contains("not a regular file"), "{path}: {said}");
    }
}
