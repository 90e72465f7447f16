//! Does `memo uninstall` take out everything, and lose no memory?

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memod_base::threads::pause;
use rusqlite::Connection;
use serde_json::json;

use crate::live::{Live, memo, memo_in, until};

/// Runs `memo`, which must succeed, and returns what it prints on stdout.
fn done(live: &Live, args: &[&str]) -> String {
    let output = live.memo(args).output().unwrap();
    assert!(output.status.success(), "memo {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns a repository with an agent that is set up, hooks, a linked worktree, two linked memories and an archived one.
fn used() -> Live {
    let live = Live::idle();
    live.write("src/a.rs", "pub fn alpha() {}\n");
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../side"]);
    done(&live, &["init", "-q"]);
    done(&live, &["hooks", "install", "--chain", "-q"]);
    done(&live, &["-C", "../side", "sync", "-q"]);
    done(&live, &["setup", "-q", "claude-code"]);
    let ids =
        ["alpha is the first letter", "beta was the second", "nobody needs this any more"].map(|text| {
            let (_, added) = memo(&live, &["add", "--tag", "letters", text]);
            added["memory"]["id"].as_str().unwrap().to_owned()
        });
    done(&live, &["link", &ids[0], &ids[1], "--kind", "supersedes"]);
    done(&live, &["forget", "--yes", &ids[2]]);
    live
}

/// Returns the lines of an export that are about memories and links, sorted.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> =
        text.lines().filter(|line| !line.contains("\"format\"")).map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Returns what has a name of memod's in the repository and in the home directory.
fn traces(live: &Live) -> Vec<PathBuf> {
    fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap().flatten() {
            let path = entry.path();
            let is_dir = entry.file_type().unwrap().is_dir();
            let name = entry.file_name().into_string().unwrap();
            let text = if is_dir { Vec::new() } else { fs::read(&path).unwrap_or_default() };
            let is_export = name.starts_with("memod-memories-");
            if !is_export
                && (matches!(&*name, "memo" | ".memo") || String::from_utf8_lossy(&text).contains("memo"))
            {
                found.push(path.clone());
            }
            if is_dir {
                walk(&path, found);
            }
        }
    }
    let mut found = Vec::new();
    for top in ["work/.git", "home", "run"] {
        walk(&live.sandbox.path(top), &mut found);
    }
    // The lock of `memo setup` is empty, and every run of it uses the same.
    found.retain(|path| !path.ends_with("memod/setup.lock"));
    found
}

fn exports(live: &Live) -> Vec<PathBuf> {
    let entries = fs::read_dir(live.root().join(".git")).unwrap().flatten().map(|entry| entry.path());
    let is_export = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
    let mut exports: Vec<PathBuf> = entries.filter(is_export).collect();
    exports.sort();
    exports
}

#[test]
fn everything_goes_and_the_memories_come_back() {
    let live = used();
    let before = lines(&done(&live, &["export", "--archived"]));

    let asked = live.memo(&["uninstall"]).output().unwrap();
    assert_eq!(asked.status.code(), Some(2), "{asked:?}");
    let shown = done(&live, &["uninstall", "--dry-run"]);
    for part in [
        "git hook",
        ".git/hooks/post-commit",
        "Claude Code: ",
        "/.git/memo\n",
        "/side",
        "3 memories, exported",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(lines(&done(&live, &["export", "--archived"])), before);
    assert_eq!(exports(&live), Vec::<PathBuf>::new());

    let (exit, removed) = memo(&live, &["uninstall", "--yes"]);
    assert_eq!((exit, &removed["memories"], &removed["links"]), (0, &json!(3), &json!(1)), "{removed}");
    assert_eq!(traces(&live), Vec::<PathBuf>::new());
    let file = PathBuf::from(removed["export"].as_str().unwrap());
    assert_eq!(exports(&live), std::slice::from_ref(&file));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(lines(&fs::read_to_string(&file).unwrap()), before);

    let again = done(&live, &["uninstall", "--yes"]);
    assert_eq!((again.as_str(), traces(&live)), ("", Vec::new()), "nothing is made where nothing is");

    done(&live, &["import", "--own", "-q", file.to_str().unwrap()]);
    assert_eq!(lines(&done(&live, &["export", "--archived"])), before);
}

#[test]
fn the_set_up_can_stay_and_the_export_can_be_named() {
    let live = used();
    for (path, code) in
        [("src/a.rs", "usage"), (".git/memo/x.jsonl", "usage"), ("none/x.jsonl", "no-such-path")]
    {
        let (exit, answer) = memo(&live, &["uninstall", "--yes", "--export", path]);
        assert_eq!((exit, &answer["error"]["code"]), (2, &json!(code)), "{path}: {answer}");
    }
    assert_eq!(fs::read_to_string(live.root().join("src/a.rs")).unwrap(), "pub fn alpha() {}\n");
    assert!(live.root().join(".git/hooks/post-commit").exists(), "what comes after the export was not done");
    let args = ["-C", "src", "uninstall", "--yes", "--keep-setup", "--export", "kept.jsonl"];
    assert_eq!(memo(&live, &args).0, 0);
    assert!(live.root().join("src/kept.jsonl").exists());
    assert!(fs::read_to_string(live.sandbox.path("home/.claude.json")).unwrap().contains("memod"));
    assert!(!live.root().join(".git/memo").exists());
}

#[test]
fn outside_git_what_was_asked_for_is_forgotten() {
    let live = Live::idle();
    let dir = live.sandbox.path("plain");
    fs::create_dir_all(dir.join("sub")).unwrap();
    fs::create_dir_all(live.sandbox.path("other/.memo")).unwrap();
    assert_eq!(memo_in(&live, &live.sandbox.path("other"), &["uninstall", "--yes"]).0, 0);
    assert!(live.sandbox.path("other/.memo").exists(), "it is not ours");
    assert_eq!(memo_in(&live, &dir, &["init"]).0, 0);
    assert_eq!(memo_in(&live, &dir, &["add", "plain is a directory"]).0, 0);
    let (exit, removed) = memo_in(&live, &dir.join("sub"), &["uninstall", "--yes"]);
    assert_eq!(exit, 0, "{removed}");
    assert!(Path::new(removed["export"].as_str().unwrap()).starts_with(&dir), "{removed}");
    assert!(!dir.join(".memo").exists());
    let asked_for = live.sandbox.path("home/.local/state/memod/asked-for");
    assert_eq!(fs::read_dir(asked_for).unwrap().count(), 0);
}

#[test]
fn a_record_of_what_was_removed_already_goes_with_the_next() {
    let live = used();
    let dir = live.sandbox.path("home/.local/state/memod/setup");
    let files = || fs::read_dir(&dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let records: Vec<_> = files().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    assert!(!records.is_empty());
    assert_eq!(memo(&live, &["uninstall", "--yes"]).0, 0);
    fs::create_dir_all(&dir).unwrap();
    for (path, text) in &records {
        fs::write(path, text).unwrap();
    }
    assert_eq!(memo(&live, &["uninstall", "--yes"]).0, 0);
    assert_eq!(traces(&live), Vec::<PathBuf>::new());
}

#[test]
fn an_uninstall_that_was_killed_is_finished_by_the_next() {
    for delay_ms in [2, 30, 80, 150, 300] {
        let live = used();
        let before = lines(&done(&live, &["export", "--archived"]));
        let mut first = live.memo(&["uninstall", "--yes", "-q"]).spawn().unwrap();
        pause(Duration::from_millis(delay_ms));
        let _ = first.kill();
        first.wait().unwrap();
        let (exit, removed) = memo(&live, &["uninstall", "--yes"]);
        assert_eq!(exit, 0, "{delay_ms} ms: {removed}");
        assert_eq!(traces(&live), Vec::<PathBuf>::new(), "{delay_ms} ms");
        let texts: Vec<Vec<String>> =
            exports(&live).iter().map(|path| lines(&fs::read_to_string(path).unwrap())).collect();
        assert!(texts.contains(&before), "{delay_ms} ms: {texts:?}");
        assert!(texts.iter().all(|text| !text.is_empty()), "{delay_ms} ms: {texts:?}");
        let names = fs::read_dir(live.root().join(".git")).unwrap().flatten().map(|entry| entry.path());
        let parts: Vec<_> = names.filter(|path| path.extension().is_some_and(|it| it == "part")).collect();
        assert_eq!(parts, Vec::<PathBuf>::new(), "{delay_ms} ms");
    }
}

#[test]
fn what_was_acknowledged_meanwhile_is_in_the_export() {
    let live = used();
    let (acknowledged, is_over) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let add = |(text, mut command): (String, Command)| {
        if !is_over.load(Ordering::SeqCst) && command.output().unwrap().status.success() {
            acknowledged.lock().unwrap().push(text);
        }
    };
    let exported = std::thread::scope(|scope| {
        for side in 0..3 {
            let texts = (0..300).map(|nth| format!("number {nth} of side {side}"));
            let commands: Vec<(String, Command)> =
                texts.map(|text| (text.clone(), live.memo(&["add", &text]))).collect();
            scope.spawn(move || commands.into_iter().for_each(add));
        }
        until("memories come", || acknowledged.lock().unwrap().len() > 9);
        let (exit, removed) = memo(&live, &["uninstall", "--yes"]);
        is_over.store(true, Ordering::SeqCst);
        assert_eq!(exit, 0, "{removed}");
        fs::read_to_string(removed["export"].as_str().unwrap()).unwrap()
    });
    let later = done(&live, &["export"]); // of those that came afterwards, into a new database
    for text in acknowledged.into_inner().unwrap() {
        let quoted = format!("\"{text}\"");
        assert!(exported.contains(&quoted) || later.contains(&quoted), "{text} is lost");
    }
}

#[test]
fn what_no_export_has_is_moved_beside_it() {
    let live = used();
    done(&live, &["stop", "-q"]);
    let state = live.root().join(".git/memo");
    let _ = fs::remove_dir_all(state.join("backups"));
    for name in ["memory.db-wal", "memory.db-shm"] {
        let _ = fs::remove_file(state.join(name));
    }
    let damaged = [&b"of the user, "[..]; 1_000].concat();
    fs::write(state.join("memory.db"), &damaged).unwrap();
    let kept = |removed: &serde_json::Value| -> Vec<(String, Vec<u8>)> {
        let dir = removed["moved_to"].as_str().unwrap_or_else(|| panic!("{removed}"));
        assert!(Path::new(dir).starts_with(live.root().join(".git")), "{removed}");
        let files = fs::read_dir(dir).unwrap().flatten();
        files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
    };
    let (exit, removed) = memo(&live, &["uninstall", "--yes"]);
    assert_eq!((exit, &removed["memories"], &removed["export"]), (0, &json!(0), &json!(null)), "{removed}");
    let files = kept(&removed);
    assert!(files.iter().any(|(_, bytes)| *bytes == damaged), "{removed}");
    assert!(!state.exists());

    done(&live, &["add", "-q", "one"]);
    let backup = PathBuf::from(done(&live, &["backup"]).trim_end());
    let (exit, again) = memo(&live, &["uninstall", "--yes"]);
    assert_eq!((exit, again["moved_to"] == removed["moved_to"]), (0, false), "{again}");
    let names: Vec<String> = kept(&again).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, [backup.file_name().unwrap().to_str().unwrap()]);
    assert_eq!(kept(&removed), files);
}

#[test]
fn nothing_is_indexed_on_the_way_out() {
    let live = used();
    done(&live, &["stop", "-q"]);
    let index = live.root().join(".git/memo/index.db");
    fs::remove_file(&index).unwrap();
    let (_, shown) = memo(&live, &["uninstall", "--dry-run"]);
    assert_eq!(shown["memories"], 3, "{shown}");
    // A daemon that stops has done what it had begun.
    done(&live, &["stop", "-q"]);
    let count = "SELECT (SELECT count(*) FROM view) + (SELECT count(*) FROM blob)";
    let n_rows: i64 = Connection::open(&index).unwrap().query_row(count, [], |row| row.get(0)).unwrap();
    assert_eq!(n_rows, 0);
}

#[test]
fn an_export_has_its_name_once_it_is_complete() {
    let live = used();
    let dir = live.root().join(".git");
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    let of = |pid: u32| dir.join(format!("memod-memories-2026-01-01.jsonl.{pid}.part"));
    let (left, in_work) = (of(ended.id()), of(std::process::id()));
    for part in [&left, &in_work] {
        fs::write(part, "{").unwrap();
    }
    let taken = dir.join("taken.jsonl");
    fs::write(&taken, "mine").unwrap();
    let args = ["uninstall", "--yes", "--export", taken.to_str().unwrap()];
    assert_eq!(memo(&live, &args).0, 2);
    assert_eq!(fs::read_to_string(&taken).unwrap(), "mine");
    let (exit, removed) = memo(&live, &["uninstall", "--yes"]);
    assert_eq!((exit, left.exists(), in_work.exists()), (0, false, true), "{removed}");
    let export = fs::read_to_string(removed["export"].as_str().unwrap()).unwrap();
    assert!(export.ends_with("}\n") && export.lines().count() > 3, "{export}");
}
