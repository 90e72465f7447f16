//! Tests that memories are seen wherever the state of their repository is kept.

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use super::{add, call, db, is_whole, memo, stop, texts};
use crate::live::{Live, Mounted, memo_in, not_checked};

/// Makes the repository read-only until it is dropped.
pub(super) fn read_only(root: &Path) -> Option<Mounted<'_>> {
    let mounted = Mounted::at(root, &["--bind", root.to_str().unwrap()]);
    let remount = || Command::new("mount").args(["-o", "remount,bind,ro"]).arg(root).status();
    let mounted = mounted.filter(|_| remount().is_ok_and(|status| status.success()));
    if mounted.is_none() {
        not_checked("memories of a repository that becomes read-only: nothing can be mounted here");
    }
    mounted
}

/// Runs something while the repository is read-only; `None` where nothing can be mounted.
pub(super) fn while_read_only(live: &Live, run: impl FnOnce()) -> Option<()> {
    stop(live);
    let root = live.root();
    let mounted = read_only(&root)?;
    run();
    stop(live);
    drop(mounted);
    Some(())
}

fn listed(live: &Live) -> (Vec<String>, String) {
    let notice = memo(live, &["list"]).1["notice"].as_str().unwrap_or_default().to_owned();
    (texts(live), notice)
}

#[test]
fn memories_are_seen_when_the_repository_becomes_read_only_and_back() {
    let live = Live::new();
    let [_, purged, changed] = ["before", "purged", "changed"].map(|text| add(&live, text));
    let inside = db(&live);
    let mut client = live.connect();
    let root = live.root();
    let Some(mounted) = read_only(&root) else { return };
    let params = json!({ "cwd": root, "content": "too late" });
    let error = client.call("memory.add", &params).unwrap_err();
    assert_eq!(error["code"], -32002, "the daemon of before makes room for the next: {error}");
    let (found, notice) = listed(&live);
    assert_eq!(found, ["before", "changed", "purged"]);
    assert!(notice.contains(inside.to_str().unwrap()), "{notice}");
    let outside = db(&live);
    assert_ne!(outside, inside);
    add(&live, "meanwhile");
    call(&live, "memory.update", json!({ "id": changed, "content": "changed meanwhile" }));
    call(&live, "memory.forget", json!({ "ids": [purged] }));
    call(&live, "memory.purge", json!({ "ids": [purged] }));
    let stats = call(&live, "memory.stats", json!({}));
    assert_eq!((&stats["path"], &stats["elsewhere"]), (&json!(outside), &json!([inside])));
    let doctor = call(&live, "doctor", json!({}))["checks"].to_string();
    assert!(
        doctor.contains(inside.to_str().unwrap()) && doctor.contains(outside.to_str().unwrap()),
        "{doctor}"
    );
    let (code, unknown) = memo(&live, &["get", "mem_7zz"]);
    assert_eq!(code, 1, "{unknown}");
    for place in [&inside, &outside] {
        assert!(unknown["error"]["message"].as_str().unwrap().contains(place.to_str().unwrap()), "{unknown}");
    }
    drop(mounted); // under the daemon
    let (found, notice) = listed(&live);
    assert_eq!(found, ["before", "changed meanwhile", "meanwhile"]);
    assert_eq!(db(&live), inside);
    assert!(notice.contains(outside.to_str().unwrap()), "{notice}");
    let forgotten = memo(&live, &["forget", "--match", "meanwhile", "--yes"]);
    assert_eq!(forgotten.0, 0, "{forgotten:?}");
    stop(&live);
    let _mounted = read_only(&root).unwrap();
    assert_eq!(texts(&live), ["before"], "what was forgotten inside does not come back outside");
    assert!(is_whole(&live));
    stop(&live);
}

#[test]
fn what_a_killed_daemon_left_in_the_log_is_seen_read_only() {
    let live = Live::new();
    add(&live, "one");
    add(&live, "two");
    live.kill();
    let root = live.root();
    let Some(_mounted) = read_only(&root) else { return };
    assert_eq!(texts(&live), ["one", "two"]);
    stop(&live);
}

#[test]
fn memories_elsewhere_that_cannot_be_read_are_named() {
    let live = Live::new();
    add(&live, "in a copy");
    stop(&live);
    let inside = db(&live);
    fs::write(&inside, "damaged ".repeat(2_000)).unwrap();
    let root = live.root();
    let Some(mounted) = read_only(&root) else { return };
    let (found, notice) = listed(&live);
    assert_eq!(found, ["in a copy"]);
    assert!(
        notice.contains(inside.to_str().unwrap()) && notice.contains("a backup of it is used instead"),
        "{notice}"
    );
    let (code, done) = memo(&live, &["reset", "--yes"]);
    assert_eq!((code, done["memories"].as_array().map(Vec::len)), (0, Some(1)), "{done}");
    stop(&live);
    fs::remove_dir_all(live.layout().state_dir).unwrap();
    drop(mounted);
    fs::remove_dir_all(inside.with_file_name("backups")).unwrap();
    let _mounted = read_only(&root).unwrap();
    let (found, notice) = listed(&live);
    assert_eq!(found, Vec::<String>::new());
    assert!(notice.contains(inside.to_str().unwrap()) && notice.contains("damaged"), "{notice}");
    let (code, unknown) = memo(&live, &["get", "mem_7zz"]);
    assert_eq!(code, 1);
    assert!(unknown["error"]["message"].as_str().unwrap().contains(inside.to_str().unwrap()), "{unknown}");
    assert_eq!(fs::read(&inside).unwrap(), "damaged ".repeat(2_000).into_bytes(), "it is only read");
    stop(&live);
}

#[test]
fn memories_outside_follow_a_repository_that_is_moved() {
    let live = Live::new();
    add(&live, "inside");
    stop(&live);
    let (root, moved) = (live.root(), live.sandbox.path("moved"));
    let Some(mounted) = read_only(&root) else { return };
    add(&live, "outside");
    stop(&live);
    drop(mounted);
    if fs::metadata(root.join(".git")).unwrap().created().is_err() {
        return not_checked(
            "a repository that is moved: the file system does not say when a directory was made",
        );
    }
    fs::rename(&root, &moved).unwrap();
    let answer = memo_in(&live, &moved, &["list"]).1;
    let contents = |answer: &Value| {
        let memories = answer["memories"].as_array().unwrap().iter();
        let mut contents: Vec<_> = memories.map(|memory| memory["content"].clone()).collect();
        contents.sort_by_key(Value::to_string);
        contents
    };
    assert_eq!(contents(&answer), ["inside", "outside"], "{answer}");
    memo_in(&live, &moved, &["stop"]);
    // A copy of the repository is another one.
    assert!(Command::new("cp").arg("-r").args([&moved, &root]).status().unwrap().success());
    add(&live, "of the copy");
    let answer = memo_in(&live, &moved, &["list"]).1;
    assert_eq!(contents(&answer), ["inside", "outside"], "{answer}");
    memo_in(&live, &moved, &["stop"]);
}

#[test]
fn a_backup_that_was_restored_is_not_undone_by_what_is_elsewhere() {
    let live = Live::new();
    let id = add(&live, "first");
    let backup = memo(&live, &["backup"]).1["path"].as_str().unwrap().to_owned();
    stop(&live);
    let root = live.root();
    let Some(mounted) = read_only(&root) else { return };
    add(&live, "outside");
    call(&live, "memory.update", json!({ "id": id, "content": "second" }));
    stop(&live);
    drop(mounted);
    assert_eq!(texts(&live), ["outside", "second"]);
    assert_eq!(memo(&live, &["restore-backup", &backup, "--yes"]).0, 0);
    assert_eq!(texts(&live), ["first"]);
    stop(&live);
    assert_eq!(texts(&live), ["first"], "and by the next daemon");
    stop(&live);
}

/// What is in the place of the state dir is no reason to keep memories elsewhere, where those of before are not seen.
#[test]
#[cfg(unix)]
fn a_file_in_the_place_of_the_state_dir_is_refused() {
    let live = Live::new();
    add(&live, "before");
    let state_dir = live.layout().state_dir;
    let other = state_dir.with_file_name("other");
    // At once, so that the daemon never finds nothing there and makes a directory.
    let swap = || renameat_with(CWD, &state_dir, CWD, &other, RenameFlags::EXCHANGE).unwrap();
    for is_link in [false, true] {
        if is_link {
            std::os::unix::fs::symlink("/nowhere", &other).unwrap();
        } else {
            fs::write(&other, "no directory").unwrap();
        }
        swap();
        let (code, said) = memo(&live, &["add", "too late"]);
        // The client says so before it starts a daemon, or the one that runs.
        let expected = format!(
            "{}: not a directory that this user owns; remove it or choose another",
            state_dir.display()
        );
        let message = said["error"]["message"].as_str().unwrap_or_default();
        assert_eq!((code, message.trim_start_matches("use ")), (3, expected.as_str()), "{said}");
        swap();
        fs::remove_file(&other).unwrap();
    }
    let (_, list) = memo(&live, &["list"]);
    assert_eq!(list["memories"].as_array().unwrap().len(), 1, "{list}");
}

#[test]
fn what_is_unshared_or_purged_while_the_repository_is_read_only_is_so_afterwards() {
    let live = Live::new();
    let [kept, purged, back] =
        ["shared maple", "shared secret", "shared and forgotten"].map(|text| add(&live, text));
    call(&live, "memory.share", json!({ "ids": [kept, purged, back] }));
    call(&live, "memory.forget", json!({ "ids": [back] }));
    memo(&live, &["config", "set", "share.tags", "team"]);
    stop(&live);
    let git = live.root().join(".git");
    let Some(mounted) = read_only(&git) else { return };
    assert_eq!(texts(&live).len(), 2);
    call(&live, "memory.unshare", json!({ "ids": [kept] }));
    call(&live, "memory.update", json!({ "id": kept, "content": "my later words" }));
    call(&live, "memory.forget", json!({ "ids": [purged] }));
    call(&live, "memory.purge", json!({ "ids": [purged] }));
    call(&live, "memory.restore", json!({ "ids": [back] }));
    call(&live, "memory.update", json!({ "id": back, "content": "brought back" }));
    assert_eq!(memo(&live, &["config", "get", "share.tags"]).1["value"], json!("team"));
    let set = live.memo(&["config", "set", "search.limit", "5"]).output().unwrap();
    assert!(String::from_utf8_lossy(&set.stderr).contains("while the repository is read-only"), "{set:?}");
    stop(&live);
    drop(mounted);
    assert_eq!(texts(&live), ["brought back", "my later words"]);
    assert!(!live.root().join(format!(".memod/memories/{kept}.md")).exists(), "its file is not brought back");
    let archived = memo(&live, &["list", "--archived"]).1;
    assert_eq!(archived["memories"], json!([]), "{archived}");
    stop(&live);
}

/// A text may move from one memory to another, and a backup may bring back what was deleted.
#[test]
fn what_was_moved_and_restored_in_one_place_is_so_in_the_other() {
    let live = Live::new();
    let [staging, production, third, fourth] =
        ["port 8000", "port 9000", "third", "fourth"].map(|text| add(&live, text));
    let update = |id: &str, text: &str| {
        call(&live, "memory.update", json!({ "id": id, "content": text }));
    };
    let is_moved = while_read_only(&live, || {
        texts(&live);
        update(&production, "no port");
        update(&staging, "port 9000");
        call(&live, "memory.forget", json!({ "ids": [fourth] }));
        update(&third, "fourth");
        assert_eq!(texts(&live), ["fourth", "no port", "port 9000"]);
    });
    if is_moved.is_none() {
        return;
    }
    assert_eq!(texts(&live), ["fourth", "no port", "port 9000"]);
    assert_eq!(memo(&live, &["reset", "--yes"]).0, 0);
    while_read_only(&live, || assert!(texts(&live).is_empty())).unwrap();
    assert_eq!(memo(&live, &["restore-backup", "latest", "--yes"]).0, 0);
    let restored = ["fourth", "no port", "port 9000"];
    assert_eq!(texts(&live), restored);
    while_read_only(&live, || {
        assert_eq!(texts(&live), restored);
        add(&live, "later");
    })
    .unwrap();
    assert_eq!(texts(&live), ["fourth", "later", "no port", "port 9000"]);
}

/// What was deleted in one place, and comes back or goes again in the other, does so in both.
#[test]
fn what_comes_back_and_goes_again_does_so_in_both_places() {
    let live = Live::new();
    let [ann, bob] = ["ann", "bob"].map(|text| add(&live, text));
    memo(&live, &["link", &ann, &bob]);
    let backup = |name: &str| live.sandbox.path(name).to_str().unwrap().to_owned();
    let (first, second, exported) = (backup("first.db"), backup("second.db"), backup("all.jsonl"));
    let does = |args: &[&str]| assert_eq!(memo(&live, args).0, 0, "{args:?}");
    does(&["backup", &first]);
    does(&["export", "--out", &exported]);
    does(&["unlink", &ann, &bob]);
    if while_read_only(&live, || assert_eq!(texts(&live), ["ann", "bob"])).is_none() {
        return;
    }
    does(&["restore-backup", &first, "--yes"]);
    let n_links = || memo(&live, &["links", &ann]).1["links"].as_array().unwrap().len();
    while_read_only(&live, || assert_eq!(n_links(), 1)).unwrap();
    assert_eq!(n_links(), 1);
    // Deleted here, back by a backup, and gone by another one.
    does(&["forget", &bob, "--yes"]);
    does(&["purge", &bob, "--yes"]);
    does(&["backup", &second]);
    does(&["restore-backup", &first, "--yes"]);
    while_read_only(&live, || assert_eq!(texts(&live), ["ann", "bob"])).unwrap();
    does(&["restore-backup", &second, "--yes"]);
    while_read_only(&live, || {
        assert_eq!(texts(&live), ["ann"]);
        does(&["import", "--own", &exported]);
        assert_eq!(texts(&live), ["ann", "bob"]);
    })
    .unwrap();
    assert_eq!(texts(&live), ["ann", "bob"], "an import there comes after the deletion");
}

/// Containers and CI have one repository after another at the same path, with the same home.
#[test]
fn a_repository_has_nothing_of_another_one_that_was_at_its_path() {
    let live = Live::idle();
    let (root, before) = (live.root(), live.sandbox.path("before"));
    let Some(mounted) = read_only(&root) else { return };
    add(&live, "of the one before");
    stop(&live);
    drop(mounted);
    fs::rename(&root, &before).unwrap();
    fs::create_dir(&root).unwrap();
    live.git(&["init", "-q"]);
    assert!(texts(&live).is_empty());
    stop(&live);
    let mounted = read_only(&root).unwrap();
    assert!(texts(&live).is_empty());
    add(&live, "of the one now");
    assert_eq!(texts(&live), ["of the one now"]);
    stop(&live);
    drop(mounted);
    assert_eq!(texts(&live), ["of the one now"]);
    let (_, moved) = memo_in(&live, &before, &["list"]);
    assert_eq!((&moved["total"], &moved["memories"][0]["content"]), (&json!(1), &json!("of the one before")));
    memo_in(&live, &before, &["stop"]);
}

/// A directory outside git is served with a state of its own until a directory around it becomes a repository.
#[test]
fn a_repository_takes_in_what_directories_below_it_had_before_it() {
    let live = Live::idle();
    fs::remove_dir_all(live.root().join(".git")).unwrap();
    let within = live.root().join("inner/part");
    fs::create_dir_all(&within).unwrap();
    fs::write(within.join("code.rs"), "fn anchored() {}\n").unwrap();
    let run = |args: &[&str]| {
        let output = live.memo(args).current_dir(&within).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["init", "-q"]);
    run(&["add", "-q", "--about", "code.rs", "written outside git"]);
    run(&["stop", "-q"]);
    live.git(&["init", "-q"]);
    let (found, notice) = listed(&live);
    assert_eq!(found, ["written outside git"]);
    assert!(notice.contains("inner/part/.memo/memory.db"), "{notice}");
    let (_, answer) = memo_in(&live, &within, &["list"]);
    let anchor = &answer["memories"][0]["anchors"][0];
    assert_eq!(
        (&anchor["path"], &anchor["state"]),
        (&json!("inner/part/code.rs"), &json!("fresh")),
        "{answer}"
    );
}
