//! Is what was acknowledged there afterwards, whatever happens to the daemon, the disk and the file?

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::live::{Live, not_checked, until};

const CLIENTS: usize = 16;

/// Runs `memo VERB --json`; returns the exit status and what it printed.
fn memo(live: &Live, args: &[&str]) -> (i32, Value) {
    let output = live.memo(args).arg("--json").output().unwrap();
    let answer = serde_json::from_slice(&output.stdout);
    (output.status.code().unwrap(), answer.unwrap_or_else(|_| panic!("{args:?}: {output:?}")))
}

fn add(live: &Live, text: &str) -> String {
    let (code, answer) = memo(live, &["add", text]);
    assert_eq!(code, 0, "{answer}");
    answer["memory"]["id"].as_str().unwrap().to_owned()
}

/// Returns the texts of all living memories, in order.
fn texts(live: &Live) -> Vec<String> {
    let (_, answer) = memo(live, &["list", "--all"]);
    let memories = answer["memories"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
    let mut texts: Vec<_> =
        memories.iter().map(|memory| memory["content"].as_str().unwrap().to_owned()).collect();
    texts.sort();
    texts
}

/// Asks the daemon that runs now, which need not be the one that was asked before.
fn call(live: &Live, method: &str, mut params: Value) -> Value {
    params["cwd"] = json!(live.root());
    let answer = live.connect().call(method, &params);
    answer.unwrap_or_else(|error| panic!("{method} {params}: {error}"))
}

fn db(live: &Live) -> PathBuf {
    live.place().state_dir.join("memory.db")
}

fn stop(live: &Live) {
    assert!(live.memo(&["stop", "-q"]).output().unwrap().status.success());
}

/// Returns the names in the state dir that begin so.
fn beside(live: &Live, beginning: &str) -> Vec<String> {
    let entries = fs::read_dir(live.place().state_dir).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(beginning)).collect()
}

fn is_whole(live: &Live) -> bool {
    let checks = call(live, "doctor", json!({}))["checks"].clone();
    let check = checks.as_array().unwrap().iter().find(|check| check["name"] == "memory.db").unwrap();
    check["detail"].as_str().unwrap().starts_with("integrity_check: ok")
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    survive(200, 5);
}

/// Adds `n` memories by 16 parallel clients while the daemon is killed `n_kills` times, evenly spread.
fn survive(n: usize, n_kills: usize) {
    let live = Live::idle();
    live.start();
    let (next, acknowledged) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    // Made here: what starts a process of the sandbox is not for other threads.
    let commands: Vec<Mutex<Command>> =
        (0..n).map(|number| Mutex::new(live.memo(&["add", "--json", &format!("fact {number}")]))).collect();
    let mut n_killed = 0;
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while let Some(command) = commands.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let output = command.lock().unwrap().output().unwrap();
                    if output.status.success() {
                        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
                        acknowledged.lock().unwrap().push(answer);
                    }
                }
            });
        }
        while n_killed < n_kills {
            until("enough is added for the next blow", || {
                acknowledged.lock().unwrap().len() >= (n_killed + 1) * n / (n_kills + 1)
                    || next.load(Ordering::SeqCst) >= n + CLIENTS
            });
            let pid = i32::try_from(live.endpoint().pid).unwrap();
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            // It may just have been replaced.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            n_killed += 1;
        }
    });
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() >= n * 9 / 10, "{} of {n} were acknowledged", acknowledged.len());
    let again = acknowledged.iter().find(|answer| answer["created"] != true);
    assert_eq!(again, None, "each is new, also where its answer was lost and asked for again");
    let (_, answer) = memo(&live, &["list", "--all"]);
    let kept = answer["memories"].as_array().unwrap();
    let texts: BTreeSet<_> = kept.iter().map(|memory| memory["content"].as_str()).collect();
    assert_eq!(texts.len(), kept.len(), "none twice");
    let ids: BTreeSet<_> = kept.iter().map(|memory| memory["id"].as_str()).collect();
    let lost = acknowledged.iter().find(|answer| !ids.contains(&answer["memory"]["id"].as_str()));
    assert_eq!(lost, None);
    assert!(is_whole(&live));
}

#[test]
fn a_request_that_comes_again_is_not_done_again() {
    let live = Live::new();
    let add = json!({ "cwd": live.root(), "request": "r1", "content": "a" });
    let first = live.rpc().call("memory.add", &add).unwrap();
    assert_eq!(live.rpc().call("memory.add", &add).unwrap(), first);
    let append = json!({ "cwd": live.root(), "request": "r2", "id": first["memory"]["id"], "append": "b" });
    let second = live.rpc().call("memory.update", &append).unwrap();
    assert_eq!(second["memory"]["content"], "a\nb");
    assert_eq!(live.rpc().call("memory.update", &append).unwrap(), second);
}

/// What is done to a database while no daemon runs, and what is said of it.
type Damage = (&'static str, fn(&Path), &'static str);

const DAMAGES: &[Damage] = &[
    ("a zeroed page", |db| zero(db, 3), "is damaged"),
    ("every second page zeroed", |db| (1..40).step_by(2).for_each(|page| zero(db, page)), "is damaged"),
    (
        "cut short",
        |db| fs::File::options().write(true).open(db).unwrap().set_len(20_000).unwrap(),
        "is damaged",
    ),
    ("cut to nothing", |db| fs::write(db, "").unwrap(), "was empty"),
    ("replaced by text", |db| fs::write(db, "# Memories\n".repeat(5_000)).unwrap(), "is damaged"),
    (
        "replaced by another database",
        |db| drop(fs::remove_file(db).map(|()| other_database(db))),
        "held no memories",
    ),
    ("deleted", |db| fs::remove_file(db).unwrap(), "was gone"),
];

fn zero(db: &Path, page: u64) {
    let file = fs::File::options().write(true).open(db).unwrap();
    if file.metadata().unwrap().len() >= (page + 1) * 4_096 {
        file.write_all_at(&[0; 4_096], page * 4_096).unwrap();
    }
}

/// An empty database of SQLite is one page.
fn other_database(db: &Path) {
    let python =
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('CREATE TABLE t(a)'); c.close()";
    let made = Command::new("python3").args(["-c", python]).arg(db).status();
    if !made.is_ok_and(|status| status.success()) {
        not_checked("another database in the place of memory.db: there is no python3; it is text instead");
        fs::write(db, "text").unwrap();
    }
}

#[test]
fn a_damaged_database_is_put_aside_and_restored() {
    for (what, damage, said) in DAMAGES {
        let live = Live::idle();
        let expected: Vec<_> = (10..60).map(|number| format!("fact {number} {}", "x".repeat(500))).collect();
        live.start();
        for text in &expected {
            call(&live, "memory.add", json!({ "content": text, "tags": ["t"] }));
        }
        stop(&live); // a copy is made
        damage(&db(&live));
        let output = live.memo(&["list", "--all", "--json"]).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let notice = answer["notice"].as_str().unwrap_or_else(|| panic!("{what}: nothing is said"));
        assert!(notice.contains(said), "{what}: {notice}");
        assert_eq!(texts(&live), expected, "{what}: {notice}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{what}: a person is told");
        let status = call(&live, "status", json!({}));
        assert!(status["degraded"].to_string().contains(said), "{what}: status says so");
        let log = fs::read_to_string(live.place().log_file()).unwrap();
        assert!(log.contains(said), "{what}: the log says so");
        assert!(is_whole(&live), "{what}");
        let aside = beside(&live, "memory.db.damaged-");
        assert_eq!(aside.is_empty(), *what == "deleted", "{what}: the old file is kept: {aside:?}");
        add(&live, "written afterwards");
        assert_eq!(texts(&live).len(), expected.len() + 1, "{what}");
    }
}

#[test]
fn what_no_copy_has_is_saved_from_the_damaged_file() {
    let live = Live::idle();
    live.start();
    add(&live, "old");
    stop(&live);
    let copies = live.place().state_dir.join("backups");
    let kept = live.sandbox.path("copies");
    Command::new("cp").arg("-r").args([&copies, &kept]).status().unwrap();
    live.start();
    let new: Vec<_> = (0..400).map(|number| format!("new {number:03} {}", "y".repeat(300))).collect();
    for text in &new {
        call(&live, "memory.add", json!({ "content": text }));
    }
    let forgotten = memo(&live, &["forget", "--match", "old", "--yes"]);
    assert_eq!(forgotten.0, 0, "{forgotten:?}");
    stop(&live);
    fs::remove_dir_all(&copies).unwrap();
    Command::new("cp").arg("-r").args([&kept, &copies]).status().unwrap();
    let pages = fs::metadata(db(&live)).unwrap().len() / 4_096;
    zero(&db(&live), pages / 2);
    let found = texts(&live);
    assert!(found.len() >= new.len() - 30, "only {} of {} were saved", found.len(), new.len());
    assert!(!found.contains(&"old".to_owned()), "what was forgotten stays so");
    assert!(is_whole(&live));
}

#[test]
fn a_file_that_is_taken_away_from_a_running_daemon_comes_back() {
    type Take = fn(&Path);
    let takes: [(&str, Take); 4] = [
        ("deleted", |db| fs::remove_file(db).unwrap()),
        ("deleted with its log", |db| {
            fs::remove_file(db).unwrap();
            let _ = fs::remove_file(db.with_extension("db-wal"));
            let _ = fs::remove_file(db.with_extension("db-shm"));
        }),
        ("replaced", |db| {
            fs::write(db.with_extension("x"), "text").unwrap();
            fs::rename(db.with_extension("x"), db).unwrap();
        }),
        ("overwritten", |db| fs::write(db, "text ".repeat(2_000)).unwrap()),
    ];
    for (what, take) in takes {
        let live = Live::new();
        add(&live, "one");
        add(&live, "two");
        take(&db(&live));
        add(&live, "three");
        assert_eq!(texts(&live), ["one", "three", "two"], "{what}");
        live.kill();
        assert_eq!(texts(&live), ["one", "three", "two"], "{what}, and by the next daemon");
        assert!(is_whole(&live), "{what}");
    }
}

#[test]
fn a_log_without_its_database_is_read() {
    let live = Live::new();
    add(&live, "one");
    add(&live, "two");
    live.kill();
    fs::remove_file(db(&live)).unwrap();
    assert_eq!(texts(&live), ["one", "two"]);
}

#[test]
fn searching_goes_on_without_memories() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    fs::create_dir(db(&live)).unwrap(); // not a file, and not ours to remove
    live.start();
    live.expect("alpha", "a.md", "search");
    let (code, answer) = memo(&live, &["add", "text"]);
    assert_eq!((code, &answer["error"]["code"]), (3, &json!("store")), "{answer}");
    assert!(call(&live, "status", json!({}))["degraded"].to_string().contains("memory.db"));
    fs::remove_dir(db(&live)).unwrap();
    add(&live, "text");
}

#[test]
fn git_leaves_memories_alone() {
    let live = Live::new();
    live.write("a.md", "alpha");
    live.commit_all();
    add(&live, "one");
    live.write("b.md", "beta");
    live.git(&["stash", "-a", "-q"]);
    assert_eq!(texts(&live), ["one"]);
    live.write("c.md", "gamma");
    live.git(&["clean", "-fdxq"]);
    assert_eq!(texts(&live), ["one"]);
}

#[test]
fn a_full_disk_is_said_and_got_over() {
    let live = Live::idle();
    let state = live.place().state_dir;
    let mount = |args: &[&str]| Command::new(args[0]).args(&args[1..]).arg(&state).status();
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs"])
        .is_ok_and(|status| status.success())
    {
        return not_checked("memories on a full disk: a tmpfs cannot be mounted here");
    }
    struct Unmount(PathBuf);
    impl Drop for Unmount {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg("-l").arg(&self.0).status();
        }
    }
    let _unmount = Unmount(state.clone());
    live.start();
    let mut kept = vec![add(&live, "first")];
    let filler = state.join("filler");
    fs::write(&filler, vec![b'x'; 700 << 10]).unwrap();
    let mut failed = None;
    for number in 0..400 {
        let text = format!("{number} {}", "z".repeat(20_000));
        let (code, answer) = memo(&live, &["add", &text]);
        match code {
            0 => kept.push(answer["memory"]["id"].as_str().unwrap().to_owned()),
            _ => {
                failed = Some((code, answer));
                break;
            }
        }
    }
    let (code, answer) = failed.expect("the disk gets full");
    assert_eq!((code, &answer["error"]["code"]), (3, &json!("store")), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("full"), "{answer}");
    assert!(answer["error"]["hint"].as_str().unwrap().contains("free some space"), "{answer}");
    let pid = live.pid();
    let all = |live: &Live| -> BTreeSet<String> {
        let (_, answer) = memo(live, &["list", "--all"]);
        let memories = answer["memories"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
        memories.iter().map(|memory| memory["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(all(&live), kept.iter().cloned().collect(), "reading goes on");
    fs::remove_file(&filler).unwrap();
    kept.push(add(&live, "after the flood"));
    assert_eq!(all(&live), kept.iter().cloned().collect());
    assert_eq!(live.pid(), pid, "without a restart");
    live.kill();
    assert_eq!(all(&live), kept.into_iter().collect(), "and by the next daemon");
    assert!(is_whole(&live));
    stop(&live);
}

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

#[test]
fn what_is_shown_is_what_goes() {
    let live = Live::new();
    for (text, tag) in [("one", "a"), ("two", "a"), ("three", "b")] {
        call(&live, "memory.add", json!({ "content": text, "tags": [tag] }));
    }
    let shown = call(&live, "memory.forget", json!({ "tags": ["a"], "dry_run": true }));
    assert_eq!(shown["memories"].as_array().unwrap().len(), 2);
    assert_eq!(texts(&live).len(), 3, "a dry run changes nothing");
    call(&live, "memory.add", json!({ "content": "four", "tags": ["a"] }));
    let params = json!({ "cwd": live.root(), "tags": ["a"], "expect": shown["digest"] });
    let error = live.rpc().call("memory.forget", &params).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("changed since they were shown"), "{error}");
    assert_eq!(texts(&live).len(), 4);
    let shown = call(&live, "memory.forget", json!({ "tags": ["a"], "dry_run": true }));
    let gone = call(&live, "memory.forget", json!({ "tags": ["a"], "expect": shown["digest"] }));
    assert_eq!(gone["memories"], shown["memories"]);
    assert_eq!(texts(&live), ["three"]);
    let archived = call(&live, "memory.list", json!({ "archived": true }));
    assert_eq!(archived["total"], 3);
    let id = archived["memories"][0]["id"].clone();
    call(&live, "memory.restore", json!({ "ids": [id] }));
    assert_eq!(texts(&live).len(), 2);
    assert_eq!(call(&live, "memory.purge", json!({}))["memories"].as_array().unwrap().len(), 2);
    assert_eq!(call(&live, "memory.stats", json!({}))["archived"], 0);
}

#[test]
fn what_is_purged_is_in_copies_alone() {
    let live = Live::new();
    let planted = json!({ "content": "plantedpurge", "title": "plantedpurge", "tags": ["plantedpurge"], "request": "r" });
    call(&live, "memory.add", planted);
    call(&live, "memory.add", json!({ "content": "stays" }));
    call(&live, "memory.forget", json!({ "match": "plantedpurge" }));
    assert_eq!(call(&live, "memory.purge", json!({}))["memories"].as_array().unwrap().len(), 1);
    stop(&live);
    let state = live.place().state_dir;
    let found =
        Command::new("grep").args(["-arl", "--exclude-dir=backups", "plantedpurge"]).arg(&state).output();
    assert_eq!(String::from_utf8(found.unwrap().stdout).unwrap(), "");
    assert_eq!(texts(&live), ["stays"]);
}

#[test]
fn what_is_over_is_archived_by_whoever_asks() {
    let live = Live::new();
    call(&live, "memory.add", json!({ "content": "stays" }));
    let added = call(&live, "memory.add", json!({ "content": "goes", "ttl": "10ms" }));
    until("it is over", || texts(&live) == ["stays"]);
    let archived = call(&live, "memory.list", json!({ "archived": true }));
    assert_eq!(archived["memories"][0]["archived_why"], "expired");
    call(&live, "memory.add", json!({ "content": "goes", "ttl": "1h" }));
    let history = call(&live, "memory.history", json!({ "ids": [added["memory"]["id"]] }));
    assert_eq!(history["changes"][1]["action"], "expire");
    let params = json!({ "cwd": live.root(), "ids": [added["memory"]["id"]] });
    let error = live.rpc().call("memory.restore", &params).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("has this text"), "{error}");
}
