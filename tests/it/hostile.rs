//! Does anything in a worktree stop the daemon, or keep it from the rest?

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use memod_base::paths::RepoLayout;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::live::{Live, PATIENCE, ran_without_privileges, until, word};
use crate::sandbox::mkfifo;

const MIB: usize = 1 << 20;

/// Fills the worktree with things that are not what they seem.
fn specials(live: &Live) {
    let root = live.root();
    for name in ["tracked-fifo.md", "tracked-dir.md", "tracked-link.md"] {
        live.write(name, "alpha");
    }
    live.git(&["add", "-A"]);
    for name in ["tracked-fifo.md", "tracked-dir.md", "tracked-link.md"] {
        live.remove(name);
    }
    mkfifo(&live.root().join("tracked-fifo.md"));
    live.write("tracked-dir.md/inside.md", "inside");
    symlink("/dev/zero", root.join("tracked-link.md")).unwrap();
    mkfifo(&live.root().join("fifo.md"));
    drop(UnixListener::bind(root.join("socket.md")).unwrap());
    symlink("loop-b", root.join("loop-a")).unwrap();
    symlink("loop-a", root.join("loop-b")).unwrap();
    symlink(".", root.join("self")).unwrap();
    symlink("/", root.join("everything")).unwrap();
    symlink("nowhere", root.join("dangling.md")).unwrap();
    live.write("big.md", vec![b'a'; MIB + 1]);
    live.write("binary.md", "alpha\0");
    live.write(".env", "alpha");
    live.write("id_rsa", "alpha");
    live.write("opted-out.md", "<!-- vector-index: false -->\nalpha");
}

const SKIPPED: &[&str] = &[
    ".env secret-name",
    "big.md too-big",
    "binary.md binary",
    "dangling.md symlink",
    "everything symlink",
    "id_rsa secret-name",
    "loop-a symlink",
    "loop-b symlink",
    "opted-out.md opted-out",
    "self symlink",
    "tracked-fifo.md special",
    "tracked-link.md symlink",
];

#[test]
fn what_is_no_text_is_named_and_passed_over() {
    let live = Live::idle();
    specials(&live);
    live.write("good.md", "alpha");
    live.start();
    let check = |what: &str| {
        let (files, skipped) = live.listed();
        assert_eq!(files, ["good.md", "tracked-dir.md/inside.md"], "{what}");
        assert_eq!(skipped, SKIPPED, "{what}");
        live.expect("alpha", "good.md", what);
        live.expect("inside", "tracked-dir.md/inside.md", what);
    };
    check("at the start");
    for name in ["tracked-fifo.md", "tracked-dir.md", "tracked-link.md", "fifo.md", "socket.md", "loop-a"] {
        live.remove(name);
    }
    for name in ["loop-b", "self", "everything", "dangling.md", "big.md", "binary.md", ".env", "id_rsa"] {
        live.remove(name);
    }
    live.expect("alpha", "good.md", "without them");
    assert_eq!(live.listed().1, ["opted-out.md opted-out"]);
    specials(&live);
    check("while it runs");
}

#[test]
fn what_may_not_be_read_is_named() {
    if ran_without_privileges("hostile::what_may_not_be_read_is_named") {
        return;
    }
    let live = Live::new();
    live.write("closed.md", "alpha");
    live.write("closed/a.md", "gamma");
    live.write("good.md", "beta");
    live.expect("beta", "good.md", "before");
    let chmod = |name: &str, mode: u32| {
        fs::set_permissions(live.root().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    chmod("closed.md", 0);
    chmod("closed", 0);
    until("they are known to be closed", || live.listed().1.len() == 2);
    let found = live.search("beta");
    assert!(found.paths.len() == 1 && found.paths.contains("good.md"), "beside them: {found:?}");
    assert!(!found.fresh && found.reason.as_str().unwrap().contains("closed"), "{found:?}");
    let status = live.call("status", json!({}));
    assert_eq!(status["watch"]["backend"], "inotify", "nothing need be polled");
    let degraded: Vec<_> = status["degraded"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let named = |line: &&str| line.starts_with("files: ") && line.contains("work/closed: Permission denied");
    assert!(degraded.len() == 1 && degraded.iter().all(named), "{degraded:?}");
    let sync = json!({ "sync": "strict", "wait_ms": PATIENCE.as_millis() });
    assert_eq!(live.call("sync", sync)["fresh"], true, "they are known to be closed");
    let (files, skipped) = live.listed();
    assert!(files.contains(&"good.md".to_owned()), "{files:?}");
    assert!(skipped.contains(&"closed.md unreadable".to_owned()), "{skipped:?}");
    chmod("closed", 0o700);
    chmod("closed.md", 0o600);
    live.expect("alpha", "closed.md", "opened again");
    live.expect("gamma", "closed/a.md", "opened again");
}

#[test]
fn a_git_dir_that_may_not_be_entered_is_no_plain_directory() {
    if ran_without_privileges("hostile::a_git_dir_that_may_not_be_entered_is_no_plain_directory") {
        return;
    }
    let live = Live::idle();
    let dot_git = live.root().join(".git");
    fs::set_permissions(&dot_git, fs::Permissions::from_mode(0o000)).unwrap();
    let located = RepoLayout::locate(&live.root(), &live.sandbox.env());
    fs::set_permissions(&dot_git, fs::Permissions::from_mode(0o700)).unwrap();
    let error = located.unwrap_err().to_string();
    assert!(error.starts_with("look at ") && error.contains(".git/HEAD: Permission denied"), "{error}");
}

#[test]
fn a_directory_that_may_not_be_watched_is_a_matter_of_permissions() {
    if ran_without_privileges("hostile::a_directory_that_may_not_be_watched_is_a_matter_of_permissions") {
        return;
    }
    let live = Live::idle();
    live.write("a.md", "alpha");
    let info = live.root().join(".git/info");
    fs::create_dir_all(&info).unwrap();
    // What is in it can be read by name, but it cannot be listed, so it cannot be watched either.
    fs::set_permissions(&info, fs::Permissions::from_mode(0o300)).unwrap();
    live.start();
    live.expect("alpha", "a.md", "every query compares the worktree");
    let degraded = live.call("status", json!({}))["degraded"].to_string();
    assert!(
        degraded.contains(".git/info: cannot be listed; check the owner and the permissions"),
        "{degraded}"
    );
    assert!(!degraded.contains("sysctl"), "no limit of inotify was met: {degraded}");
    fs::set_permissions(&info, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn any_name_is_found() {
    let live = Live::idle();
    let long = "l".repeat(252) + ".md";
    let deep = format!("{}/{}/{}.md", "d".repeat(120), "e".repeat(120), "f".repeat(120));
    let names = [
        "with space.md",
        "new\nline.md",
        "tab\t.md",
        "quote'\".md",
        "back\\slash.md",
        "-n.md",
        "*.md",
        "[a].md",
        "💥👩\u{200d}👧.md",
        "日本語.md",
        "e\u{301}.md",
        "\u{e9}.md",
        "\u{202e}dm.md",
        "\u{1b}[31m.md",
        "~",
        "#x#",
        ":(top)",
        &long,
        &deep,
    ];
    for (number, name) in names.iter().enumerate() {
        live.write(name, word(number));
    }
    let bad = live.root().join(OsStr::from_bytes(b"\xff\xfe.md"));
    fs::write(&bad, "bad").unwrap();
    let check = |what: &str, first: usize| {
        let mut expected: Vec<_> = names.iter().map(ToString::to_string).collect();
        expected.sort();
        let (files, skipped) = live.listed();
        assert_eq!(
            (files, skipped),
            (expected, vec!["\u{fffd}\u{fffd}.md name-not-utf8".to_owned()]),
            "{what}"
        );
        for (number, name) in names.iter().enumerate() {
            let found = live.search(&word(first + number));
            assert_eq!(found.paths.into_iter().collect::<Vec<_>>(), [*name], "{what}");
        }
    };
    live.start();
    check("at the start", 0);
    for (number, name) in names.iter().enumerate() {
        live.write(name, word(100 + number));
    }
    check("written while it runs", 100);
    fs::remove_file(bad).unwrap();
    live.expect("bad", "", "gone");
    assert_eq!(live.listed().1, [""; 0]);
}

#[test]
fn any_content_is_survived() {
    let live = Live::idle();
    let extensions =
        ["md", "rs", "py", "js", "ts", "tsx", "go", "c", "cpp", "java", "rb", "sh", "json", "yaml", "txt"];
    for extension in extensions {
        live.write(&format!("parens.{extension}"), "(".repeat(MIB));
    }
    for extension in ["md", "rs", "py", "js"] {
        live.write(&format!("mixed.{extension}"), "([{<\"'`#/*".repeat(MIB / 10));
        live.write(&format!("latin.{extension}"), b"# caf\xe9 latin\n".repeat(3));
        live.write(&format!("lines.{extension}"), "\n".repeat(MIB));
    }
    live.write("headings.md", "# a\n".repeat(MIB / 4));
    live.write("quotes.md", ">".repeat(MIB / 2));
    live.write("list.md", "- ".repeat(MIB / 2));
    live.write("table.md", "|a".repeat(MIB / 4) + "\n" + &"|-".repeat(1_000));
    live.write("marks.md", "\u{301}".repeat(MIB / 2));
    live.write("word.md", "a".repeat(MIB));
    live.write("bom.md", "\u{feff}# bommark\r\n\r\ntext\r\n");
    live.write("good.rs", "fn alpha() {}\n");
    live.start();
    live.expect("alpha", "good.rs", "beside all that");
    live.expect("bommark", "bom.md", "beside all that");
    live.expect("latin", "latin.md latin.py latin.js latin.rs", "not UTF-8");
    let (files, skipped) = live.listed();
    assert_eq!((files.len(), skipped), (extensions.len() + 4 * 3 + 8, Vec::new()));
    live.write("parens.rs", "fn beta() {}\n");
    live.expect("beta", "parens.rs", "mended");
}

#[test]
fn odd_files_of_gits_are_survived() {
    let live = Live::new();
    live.write("a.md", "alpha");
    live.commit_all();
    type Spoil = fn(&Live);
    let cases: [(&str, Spoil); 6] = [
        ("index", |live| live.write(".git/index", "garbage")),
        ("index", |live| {
            live.remove(".git/index");
            mkfifo(&live.root().join(".git/index"));
        }),
        ("HEAD", |live| live.write(".git/HEAD", vec![0xff; 100])),
        ("config", |live| live.write(".git/config", "[core\nno")),
        ("info/exclude", |live| {
            live.remove(".git/info/exclude");
            mkfifo(&live.root().join(".git/info/exclude"));
        }),
        ("info/exclude", |live| live.write(".git/info/exclude", vec![b'*'; 5 * MIB])),
    ];
    for (number, (name, spoil)) in cases.iter().enumerate() {
        let path = format!(".git/{name}");
        let before = fs::read(live.root().join(&path)).unwrap();
        spoil(&live);
        let (seen, after) = (word(2 * number), word(2 * number + 1));
        live.write("a.md", &seen);
        let found = live.search_with(&live.root(), &seen, json!({ "wait_ms": 2_000 }));
        assert!(!found.fresh || found.paths.contains("a.md"), "{name} {number}: {found:?}");
        live.remove(&path);
        live.write(&path, before);
        live.write("a.md", &after);
        live.expect(&after, "a.md", &format!("{name} {number}, mended"));
        live.expect(&seen, "", name);
    }
    mkfifo(&live.root().join(".gitignore"));
    live.write("b.md", "beta");
    live.expect("beta", "b.md", "an ignore file that is a FIFO");
    live.remove(".gitignore");
    symlink("/dev/zero", live.root().join(".gitignore")).unwrap();
    live.write("b.md", "gamma");
    live.expect("gamma", "b.md", "an ignore file without end");
}

/// Python's parser takes most of a minute and gigabytes for this, in one step.
fn poison() -> String {
    "/*\n".repeat(4_000)
}

/// Returns the processes that extract for the daemon.
fn workers(live: &Live) -> Vec<i32> {
    let pid = live.pid();
    let children = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap().map(Result::unwrap);
    tasks
        .map(children)
        .flat_map(|pids| pids.split_whitespace().map(|pid| pid.parse().unwrap()).collect::<Vec<_>>())
        .collect()
}

#[test]
#[cfg(target_os = "linux")]
fn a_text_that_no_parser_ends_with_is_left_out() {
    let live = Live::new();
    live.write("before.py", "def before(): pass\n");
    live.expect("before", "before.py", "at first");
    live.write("poison.py", poison());
    live.write("after.py", "def after(): pass\n");
    until("the rest is indexed", || live.search("after").paths.contains("after.py"));
    let (_, skipped) = live.listed();
    assert_eq!(skipped, ["poison.py parse-failed"]);
    let found = live.search("before");
    assert!(found.fresh, "{found:?}");
    live.kill();
    live.start();
    assert_eq!(live.listed().1, ["poison.py parse-failed"], "it is not tried again");
    live.write("poison.py", "def harmless(): pass\n");
    live.expect("harmless", "poison.py", "once it is harmless");
}

#[test]
#[cfg(target_os = "linux")]
fn what_extracts_may_be_killed() {
    let live = Live::new();
    live.write("a.py", "def first(): pass\n");
    live.expect("first", "a.py", "at first");
    let before = workers(&live);
    assert_eq!(before.len(), 1, "one stays for the next file");
    kill_process(Pid::from_raw(before[0]).unwrap(), Signal::KILL).unwrap();
    live.write("a.py", "def second(): pass\n");
    live.expect("second", "a.py", "after its end");
    let after = workers(&live);
    kill_process(Pid::from_raw(after[0]).unwrap(), Signal::STOP).unwrap();
    live.kill();
    // Where the daemon led the last of the session's processes, the kernel ends those that are stopped (SIGHUP), so it may be gone.
    let woken = kill_process(Pid::from_raw(after[0]).unwrap(), Signal::CONT);
    assert!(matches!(woken, Ok(()) | Err(rustix::io::Errno::SRCH)), "{woken:?}");
    until("it ends with the daemon", || !std::path::Path::new(&format!("/proc/{}", after[0])).exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_text_is_not_blamed_for_what_others_do_to_its_process() {
    let live = Live::new();
    live.write("a.py", "def first(): pass\n");
    live.expect("first", "a.py", "at first");
    live.write("poison.py", poison());
    let mut ended = std::collections::BTreeSet::new();
    until("two were told to end", || {
        for pid in workers(&live) {
            if ended.len() < 2 && ended.insert(pid) {
                let _ = kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM);
            }
        }
        ended.len() == 2
    });
    until("it is left out", || !live.listed().1.is_empty());
    assert_eq!(live.listed().1, ["poison.py parse-aborted"]);
    live.kill();
    live.start();
    until("it is tried again", || live.listed().1 == ["poison.py parse-failed"]);
}

#[test]
#[cfg(target_os = "linux")]
fn nobody_waits_for_a_text_to_stop_the_daemon() {
    let live = Live::new();
    live.write("a.py", "def first(): pass\n");
    live.expect("first", "a.py", "at first");
    for pid in workers(&live) {
        kill_process(Pid::from_raw(pid).unwrap(), Signal::STOP).unwrap();
    }
    live.write("a.py", "def second(): pass\n");
    let held_up = live.call("search", json!({ "query": "second", "wait_ms": 500 }));
    assert_eq!(held_up["fresh"], false, "{held_up}");
    let began = Instant::now();
    live.signal(Signal::TERM);
    live.wait_for_end();
    assert!(began.elapsed() < Duration::from_secs(15), "the drain takes 5 s at most");
}
