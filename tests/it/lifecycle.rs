//! Is there always exactly one daemon, and does the next one get over whatever ended the last?

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use memod_base::paths::RepoLayout;
#[cfg(unix)]
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::live::{Live, not_checked, until, word};
use crate::memories::beside;
use crate::rpc::Rpc;
use crate::sandbox::mkfifo;

/// Runs `memo search --json` and returns what it printed.
fn search(live: &Live, word: &str) -> Value {
    let output = live.memo(&["search", word, "--json"]).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(answer["error"].is_null(), "{answer}");
    answer
}

/// Removes a directory in which the daemon may be making files at this moment.
fn remove_all(dir: &Path) {
    until("all is removed", || fs::remove_dir_all(dir).is_ok() || !dir.exists());
}

/// Runs git's list of what counts against the manifest, and SQLite's check against the database.
fn assert_sound(live: &Live) {
    let (mut files, skipped) = live.listed();
    files.extend(skipped.iter().map(|line| line.rsplit_once(' ').unwrap().0.to_owned()));
    files.sort();
    let listed = live.git_may_fail(&["ls-files", "-co", "--exclude-standard"]).stdout;
    let mut listed: Vec<_> = String::from_utf8(listed).unwrap().lines().map(str::to_owned).collect();
    listed.sort();
    assert_eq!(files, listed);
    let checks = live.call("doctor", json!({}))["checks"].clone();
    let index = checks.as_array().unwrap().iter().find(|check| check["name"] == "index.db").unwrap();
    assert_eq!(index["detail"], "integrity_check: ok");
}

#[test]
fn fifty_cold_clients_get_one_daemon() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    let mut clients: Vec<_> = (0..50)
        .map(|_| {
            live.memo(&["status", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let mut pids = BTreeSet::new();
    for client in clients.drain(..) {
        let output = client.wait_with_output().unwrap();
        assert_eq!(output.stderr, b"", "{}", String::from_utf8_lossy(&output.stderr));
        let status: Value = serde_json::from_slice(&output.stdout).unwrap();
        pids.insert(status["daemon"]["pid"].as_u64().unwrap());
    }
    assert_eq!(pids, BTreeSet::from([u64::from(live.pid())]));
    live.expect("alpha", "a.md", "after the rush");
}

#[test]
fn a_second_daemon_is_turned_away() {
    let live = Live::new();
    let second = live.memod().output().unwrap();
    let said = "{\"ready\":false,\"error\":\"another daemon serves this repository\"}\n";
    assert_eq!((second.status.code(), String::from_utf8_lossy(&second.stdout).as_ref()), (Some(3), said));
    live.write("a.md", "alpha");
    live.expect("alpha", "a.md", "the first goes on");
}

#[test]
fn killed_at_rest() {
    let live = Live::new();
    live.write("a.md", "alpha");
    live.expect("alpha", "a.md", "before");
    live.kill();
    live.write("a.md", "beta");
    live.write("b.md", "gamma");
    let found = search(&live, "gamma");
    assert_eq!((&found["fresh"], &found["hits"][0]["path"]), (&json!(true), &json!("b.md")));
    assert_sound(&live);
    live.expect("alpha", "", "what was there before");
    live.expect("beta", "a.md", "written while nobody ran");
}

#[test]
fn killed_during_the_first_index() {
    let live = Live::idle();
    for number in 0..500 {
        live.write(&format!("d{}/f{number}.rs", number % 20), format!("fn {}() {{}}\n", word(number)));
    }
    // Each daemon is killed once it has got a little further than the last.
    for step in [0, 1, 40, 150, 300, 499] {
        live.start();
        until("enough is indexed", || {
            let sync = live.call("sync", json!({ "wait_ms": 0 }));
            let view = live.call("status", json!({}))["views"][0].clone();
            sync["fresh"] == true || view["files"].as_u64() > Some(step)
        });
        live.kill();
    }
    live.start();
    assert_sound(&live);
    for number in [0, 42, 499] {
        live.expect(&word(number), &format!("d{}/f{number}.rs", number % 20), "after all");
    }
}

#[cfg(unix)]
#[test]
fn lost_events_are_made_up_for() {
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap_or_default();
    let Some(limit) = limit.trim().parse::<usize>().ok().filter(|limit| *limit <= 100_000) else {
        return not_checked(&format!("an overflow of the queue of events; its limit is {limit}"));
    };
    let live = Live::new();
    live.write("a.md", "alpha");
    live.write("b.md", "");
    live.expect("alpha", "a.md", "before");
    let before = live.counter("rescans");
    live.signal(Signal::STOP);
    let mut files = ["a.md", "b.md"].map(|name| fs::File::create(live.root().join(name)).unwrap());
    // Equal events that follow each other are merged, so the files take turns.
    for _ in 0..limit {
        files.iter_mut().for_each(|file| file.write_all(b"x").unwrap());
    }
    live.write("last/of/all.md", "omega");
    live.remove("a.md");
    live.signal(Signal::CONT);
    live.expect("omega", "last/of/all.md", "after the flood");
    live.expect("alpha", "", "after the flood");
    assert!(live.counter("rescans") > before, "the loss was noticed");
    live.write("last/of/all.md", "after");
    live.expect("after", "last/of/all.md", "the watcher goes on");
}

#[cfg(unix)]
#[test]
fn stopping_leaves_nothing_behind() {
    let live = Live::new();
    live.write("a.md", "alpha");
    let socket = live.endpoint().socket;
    let mut rpc = live.connect();
    let ask = json!({ "jsonrpc": "2.0", "id": 1, "method": "search", "params": { "cwd": live.root(), "query": "alpha" } });
    let stop = json!({ "jsonrpc": "2.0", "id": 2, "method": "stop" });
    rpc.send(format!("{ask}\n{stop}\n"));
    let mut answered: Vec<_> =
        (0..2).map(|_| rpc.receive().expect("asked before the stop")["id"].as_i64()).collect();
    answered.sort();
    assert_eq!(answered, [Some(1), Some(2)]);
    assert!(rpc.receive().is_none(), "then the connection ends");
    assert_eq!(live.wait_for_end(), Some(0));
    assert!(!Path::new(&socket).exists(), "the socket is gone");
    let stopped = live.memo(&["stop"]).output().unwrap();
    assert_eq!((stopped.status.code(), stopped.stderr), (Some(0), b"memo: no daemon was running\n".to_vec()));

    live.start();
    live.signal(Signal::TERM);
    assert_eq!(live.wait_for_end(), Some(0), "a signal ends it as well");
    assert!(!Path::new(&socket).exists(), "the socket is gone");
}

#[cfg(unix)] // a pipe goes with its daemon
#[test]
fn what_the_last_daemon_left_is_no_hindrance() {
    type Leave = fn(&RepoLayout, &str);
    let left: [(&str, Leave); 5] = [
        ("a socket nobody listens on", |_, _| ()),
        ("no socket", |_, socket| fs::remove_file(socket).unwrap()),
        ("a file in its place", |_, socket| {
            fs::remove_file(socket).unwrap();
            fs::write(socket, "").unwrap();
        }),
        ("half an endpoint", |layout, _| fs::write(layout.endpoint_file(), "{\"sock").unwrap()),
        ("a half bound socket", |_, socket| fs::write(format!("{socket}.new"), "").unwrap()),
    ];
    let live = Live::idle();
    live.write("a.md", "alpha");
    for (what, leave) in left {
        live.start();
        let socket = live.endpoint().socket;
        live.kill();
        assert!(Path::new(&socket).exists(), "a killed daemon leaves its socket");
        leave(&live.layout(), &socket);
        assert_eq!(search(&live, "alpha")["hits"][0]["path"], "a.md", "{what}");
        assert!(live.memo(&["stop"]).output().unwrap().status.success());
    }
}

#[test]
fn an_idle_exit_of_zero_is_never() {
    let live = Live::idle();
    fs::write(live.layout().config_file(), "[daemon]\nidle_exit_minutes = 0\n").unwrap();
    live.start();
    let pid = live.pid();
    for number in 0..5 {
        // Only the daemon of the start answers: each connection is closed before the next one is opened.
        live.write("a.md", word(number));
        let hello =
            Rpc::connect(&live.endpoint().socket).call("hello", &json!({ "version": "0", "protocol": 1 }));
        assert_eq!(hello.unwrap()["pid"], pid);
    }
}

#[cfg(unix)]
#[test]
fn a_damaged_index_is_made_anew_and_not_kept() {
    type Damage = fn(&Path);
    let garbage: [(&str, Damage); 7] = [
        ("a directory", |db| {
            fs::remove_file(db).unwrap();
            fs::create_dir(db).unwrap();
        }),
        ("a FIFO", |db| {
            fs::remove_file(db).unwrap();
            mkfifo(db);
        }),
        ("noise", |db| fs::write(db, vec![0x5a; 65_536]).unwrap()),
        ("cut short", |db| fs::File::options().write(true).open(db).unwrap().set_len(20_000).unwrap()),
        ("empty", |db| fs::write(db, "").unwrap()),
        ("a header of no known format", |db| {
            let mut bytes = fs::read(db).unwrap();
            bytes[44..48].fill(0xff);
            fs::write(db, bytes).unwrap();
        }),
        ("holes", |db| {
            let mut bytes = fs::read(db).unwrap();
            bytes[4_096..].chunks_mut(4_096).step_by(2).for_each(|page| page.fill(0xff));
            fs::write(db, bytes).unwrap();
        }),
    ];
    for (what, damage) in garbage {
        let live = Live::idle();
        (0..50).for_each(|number| live.write(&format!("{number}.md"), word(number)));
        live.start();
        live.expect(&word(7), "7.md", what);
        live.rpc().call("stop", &json!({})).unwrap();
        live.wait_for_end();
        damage(&live.layout().state_dir.join("index.db"));
        let found = search(&live, &word(8));
        assert_eq!(found["hits"][0]["path"], "8.md", "{what}");
        assert_sound(&live);
        // What becomes a secret later would be in it for ever. What is no file was never an index of ours.
        let n_kept = usize::from(what == "a directory" || what == "a FIFO");
        assert_eq!(beside(&live, "index.db.damaged-").len(), n_kept, "{what}");
    }
}

#[cfg(unix)]
#[test]
fn a_fifo_in_the_state_dir_is_not_waited_for() {
    for name in ["endpoint", "config.toml"] {
        let live = Live::idle();
        mkfifo(&live.layout().state_dir.join(name));
        let shown = live.sandbox.show(&mut live.memo(&["search", "alpha"]));
        assert!(
            shown.contains(&format!("read [TOP]/work/.git/memo/{name}: not a regular file; remove it")),
            "{shown}"
        );
        assert!(shown.starts_with("exit 3\n") || shown.starts_with("exit 2\n"), "{shown}");
    }
}

#[cfg(unix)] // git for Windows makes no repository there
#[test]
fn a_worktree_with_a_long_path_has_its_state_in_the_home() {
    let live = Live::idle();
    let deep = live.sandbox.path(&["deep"; 120].join("/"));
    fs::create_dir_all(&deep).unwrap();
    live.git(&["init", "-q", deep.to_str().unwrap()]);
    fs::write(deep.join("a.md"), "alpha").unwrap();
    let found = live.memo(&["-C", deep.to_str().unwrap(), "search", "--json", "alpha"]).output().unwrap();
    live.memo(&["-C", deep.to_str().unwrap(), "stop"]).output().unwrap();
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!((&found["fresh"], &found["hits"][0]["path"]), (&json!(true), &json!("a.md")), "{found}");
    assert!(!deep.join(".git/memo/index.db").exists(), "SQLite could not open it there");
}

#[cfg(unix)] // Windows keeps what is open
#[test]
fn the_state_dir_is_deleted_under_a_running_daemon() {
    let live = Live::new();
    live.write("a.md", "alpha");
    live.expect("alpha", "a.md", "before");
    remove_all(&live.root().join(".git/memo"));
    live.write("a.md", "beta");
    let found = search(&live, "beta");
    assert_eq!((&found["fresh"], &found["hits"][0]["path"]), (&json!(true), &json!("a.md")), "{found}");
    let found = search(&live, "alpha");
    assert!(!found["hits"].to_string().contains("alpha"), "{found}");
    let last = live.memo(&["search", "beta"]).stdout(Stdio::null()).status().unwrap();
    assert_eq!(last.code(), Some(0));
    // Whatever serves now, the orphan must not stay for ever.
    until("the first daemon ends", || live.has_ended());
}

#[cfg(unix)] // Windows keeps what is open
#[test]
fn the_worktree_is_deleted_under_a_running_daemon() {
    let live = Live::new();
    live.write("a.md", "alpha");
    live.expect("alpha", "a.md", "before");
    remove_all(&live.root());
    until("the daemon ends", || live.has_ended());
    fs::create_dir(live.root()).unwrap();
    Command::new("git").args(["init", "-q"]).arg(live.root()).status().unwrap();
    live.write("a.md", "beta");
    let found = search(&live, "beta");
    assert_eq!(found["hits"][0]["path"], "a.md", "a new repository in the same place");
}

#[cfg(unix)] // Windows keeps what is open
#[test]
fn a_daemon_whose_repository_is_replaced_leaves_nothing_in_the_new_one() {
    let scripts = [
        "mv work/.git gone && git init -q work",
        "mv work gone && git init -q work",
        "mv work/.git gone && mkdir work/.git",
        "mv work gone",
    ];
    for script in scripts {
        let live = Live::new();
        live.write("a.md", "alpha");
        live.expect("alpha", "a.md", "before"); // so that it is watched
        for text in ["one", "two"] {
            live.call("memory.add", json!({ "content": text, "force": true }));
        }
        live.sh_in(live.root().parent().unwrap(), script);
        live.wait_for_end();
        assert!(!live.root().join(".git/memo").exists(), "{script}");
        assert!(script != "mv work gone" || !live.root().exists(), "{script}");
    }
}

#[test]
fn a_daemon_that_cannot_be_reached_or_has_lost_its_index_makes_room() {
    type Spoil = fn(&Live);
    let index_db = |live: &Live| live.layout().state_dir.join("index.db");
    let spoils: [(&str, Spoil); 4] = [
        ("socket", |live| fs::remove_file(live.endpoint().socket).unwrap()),
        ("moved", |live| {
            fs::rename(live.root(), live.sandbox.path("moved")).unwrap();
            fs::write(live.sandbox.path("home/.gitconfig"), "").unwrap(); // settings are looked at again
            let moved = live.sandbox.path("moved");
            let mut memo = live.memo(&["search", "alpha"]);
            assert!(memo.current_dir(&moved).stdout(Stdio::null()).status().unwrap().success());
            assert!(live.memo(&["stop", "-q"]).current_dir(&moved).status().unwrap().success());
            until("the daemon ends", || live.has_ended());
            assert!(!live.root().exists(), "nothing is left where it was");
            fs::rename(live.sandbox.path("moved"), live.root()).unwrap();
        }),
        ("index deleted", |live| fs::remove_file(live.layout().state_dir.join("index.db")).unwrap()),
        ("index cut off", |live| {
            let index = fs::File::options().write(true).open(live.layout().state_dir.join("index.db"));
            index.unwrap().set_len(0).unwrap();
        }),
    ];
    for (what, spoil) in spoils {
        let live = Live::new();
        live.write("a.md", "alpha");
        live.expect("alpha", "a.md", what);
        spoil(&live);
        // Many: each thread that reads files opens the index anew.
        (0..50).for_each(|number| live.write(&format!("d/{number}.md"), "beta"));
        until(what, || live.has_ended());
        let found = search(&live, "beta");
        assert_eq!(
            (&found["fresh"], found["hits"].as_array().map(Vec::is_empty)),
            (&json!(true), Some(false))
        );
        assert!(index_db(&live).exists(), "{what}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_looked_at_is_not_another_repository() {
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
    let live = Live::new();
    live.write("a.md", "alpha");
    live.expect("alpha", "a.md", "before");
    let daemon = Pid::from_raw(i32::try_from(live.pid()).unwrap()).unwrap();
    let params = json!({ "cwd": live.root(), "query": "alpha" });
    let none = Rlimit { current: Some(0), maximum: getrlimit(Resource::Nofile).maximum };
    let before = prlimit(Some(daemon), Resource::Nofile, none).unwrap();
    let error = live.rpc().call("search", &params).unwrap_err();
    assert_eq!(error["code"], memod_proto::code::BUSY, "{error}");
    assert!(error["data"]["retry_after_ms"].as_u64() > Some(0), "{error}");
    assert!(error["data"]["hint"].as_str().unwrap().contains("ulimit -n"), "{error}");
    prlimit(Some(daemon), Resource::Nofile, before).unwrap();
    live.expect("alpha", "a.md", "with descriptors again");
}

#[cfg(unix)]
#[test]
fn a_limit_of_open_files_that_is_too_low_is_named_at_once() {
    let live = Live::idle();
    for verb in [&["add", "fact"][..], &["restart"]] {
        let script = r#"ulimit -n 20; exec "$@""#;
        let memo = env!("CARGO_BIN_EXE_memo");
        let root = live.root();
        let args = [&["-c", script, "sh", memo, "-C", root.to_str().unwrap()], verb].concat();
        let output = live.sandbox.program("sh", &args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("the limit of open files (`ulimit -n`, 20) is too low"), "{said}");
        assert!(said.contains("hint: raise the limit where the daemon is started"), "{said}");
    }
    assert_eq!(live.memo(&["list"]).output().unwrap().status.code(), Some(1), "nothing hinders the next one");
}

/// As it is where the socket is in a directory that another container has not.
#[test]
fn a_daemon_that_cannot_be_asked_is_not_said_to_be_gone() {
    let live = Live::idle();
    let stop = || live.memo(&["stop"]).output().unwrap();
    fs::create_dir_all(live.layout().state_dir).unwrap();
    let lock = fs::File::create(live.layout().daemon_lock_file()).unwrap();
    assert_eq!(stop().status.code(), Some(0), "the file alone is no daemon");
    lock.lock().unwrap();
    let stopped = stop();
    let said = String::from_utf8_lossy(&stopped.stderr).into_owned();
    assert_eq!(stopped.status.code(), Some(3), "{said}");
    let expected = format!("a daemon holds the lock {}", live.layout().daemon_lock_file().display());
    assert!(said.contains(&expected) && said.contains("nothing answers on"), "{said}");
}
