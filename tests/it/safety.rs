//! Does nothing of a repository's ever run, is nothing of git's ever held, and is only our own repository served?

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::live::{Live, not_checked, word};

/// Somebody else.
const THEM: u32 = 12_345;

/// Settings that run `touch PWN`; those of `git config` that name a program.
const SETTINGS: &[&str] = &[
    "core.fsmonitor",
    "core.sshCommand",
    "core.pager",
    "core.editor",
    "core.askPass",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "filter.x.clean",
    "filter.x.smudge",
    "filter.x.process",
    "diff.x.textconv",
    "diff.x.command",
    "diff.external",
    "merge.x.driver",
    "gpg.program",
    "uploadpack.packObjectsHook",
    "sequence.editor",
];

/// Settings whose value runs as a shell command with `!` before it.
const BANGS: &[&str] =
    &["alias.status", "alias.ls-files", "alias.x", "credential.helper", "submodule.x.update"];

/// Sets every trap in a configuration file and in the hooks.
fn set_traps(live: &Live, file: &Path, pwn: &Path) {
    let (command, file) = (format!("touch {}", pwn.display()), file.to_str().unwrap());
    for key in SETTINGS {
        live.git(&["config", "-f", file, key, &command]);
    }
    for key in BANGS {
        live.git(&["config", "-f", file, key, &format!("!{command}")]);
    }
}

fn hook(dir: &Path, name: &str, script: &str) {
    fs::create_dir_all(dir).unwrap();
    let path = dir.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn nothing_that_the_repository_names_is_run() {
    let live = Live::idle();
    let (pwn, evil, hooks) =
        (live.sandbox.path("PWN"), live.sandbox.path("evil.config"), live.sandbox.path("evil-hooks"));
    live.write("a.md", "alpha");
    live.write("b.rs", "fn beta() {}");
    live.write(
        ".gitattributes",
        "* filter=x diff=x merge=x\n*.md ident text eol=crlf\n*.x working-tree-encoding=UTF-16\n",
    );
    live.commit_all();
    let names = "post-checkout post-commit post-merge post-rewrite post-index-change pre-auto-gc fsmonitor-watchman \
                 query-watchman reference-transaction pre-commit";
    for name in names.split(' ') {
        hook(&hooks, name, &format!("touch {}", pwn.display()));
        hook(&live.root().join(".git/hooks"), name, &format!("touch {}", pwn.display()));
    }
    set_traps(&live, &evil, &pwn);
    set_traps(&live, &live.root().join(".git/config"), &pwn);
    let settings = [
        ("core.hooksPath", hooks.to_str().unwrap()),
        ("include.path", evil.to_str().unwrap()),
        ("includeIf.gitdir:/.path", evil.to_str().unwrap()),
        ("core.worktree", "/"),
        ("extensions.worktreeConfig", "true"),
    ];
    let config = live.root().join(".git/config");
    for (key, value) in settings {
        live.git(&["config", "-f", config.to_str().unwrap(), key, value]);
    }
    set_traps(&live, &live.root().join(".git/config.worktree"), &pwn);
    let mut status = live.sandbox.program("git", &["--work-tree=.", "status"]);
    status.output().unwrap();
    assert!(fs::remove_file(&pwn).is_ok(), "the traps work: git itself steps into one");
    live.start();
    live.expect("alpha", "a.md", "indexed");
    live.write("a.md", "gamma");
    live.write(".gitattributes", "* filter=x\n");
    live.write(".git/index", fs::read(live.root().join(".git/index")).unwrap());
    live.expect("gamma", "a.md", "changed");
    for args in [&["map"][..], &["status", "--skipped"], &["doctor"], &["reindex"], &["search", "beta"]] {
        let output = live.memo(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    live.expect("beta", "b.rs", "all of it again");
    assert!(!pwn.exists());
}

#[test]
fn a_daemon_that_a_hook_starts_serves_every_worktree() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.commit_all();
    let linked = live.sandbox.path("linked");
    live.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "-b", "other"]);
    let memo = |query: &str| {
        let (memo, memod) = (env!("CARGO_BIN_EXE_memo"), env!("CARGO_BIN_EXE_memod"));
        format!("MEMO_DAEMON={memod} {memo} search {query} --json >{}", live.sandbox.path("said").display())
    };
    hook(&live.root().join(".git/hooks"), "post-commit", &memo("omega"));
    let said = || -> Value { serde_json::from_slice(&fs::read(live.sandbox.path("said")).unwrap()).unwrap() };
    fs::write(linked.join("a.md"), "omega").unwrap();
    let commit = |extra: &str| {
        let script = format!("{extra} git commit -qam x");
        let output = live.sandbox.program("sh", &["-c", &script]).current_dir(&linked).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let objects = live.root().join(".git/objects");
    for number in 0..3 {
        let here = word(number);
        fs::write(linked.join("a.md"), format!("omega {here}")).unwrap();
        // Git itself sets GIT_DIR and GIT_INDEX_FILE for its hooks.
        commit(&format!("GIT_OBJECT_DIRECTORY={} GIT_CONFIG_COUNT=0", objects.display()));
        assert_eq!(
            (&said()["fresh"], &said()["hits"][0]["path"]),
            (&json!(true), &json!("a.md")),
            "{}",
            said()
        );
        live.expect("alpha", "a.md", "the main worktree, from the daemon of a hook in another");
        live.expect(&here, "", "of the other one");
        live.expect_in(&linked, &here, "a.md", "the other one");
        live.memo(&["stop"]).output().unwrap();
        live.kill(); // the connection, as there is no child
        // Started by hand with variables that lead elsewhere.
        let mut memod = live.memod();
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"] {
            memod.env(name, &linked);
        }
        live.start_as(&mut memod);
        live.expect("alpha", "a.md", "the main worktree, whatever the variables say");
        live.kill();
    }
}

/// Returns everything below a directory but `memo`: what it holds and when it was written.
fn everything(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    let mut left = vec![dir.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in
            fs::read_dir(dir).unwrap().map(Result::unwrap).filter(|entry| entry.file_name() != "memo")
        {
            let (path, meta) = (entry.path(), entry.metadata().unwrap());
            if meta.is_dir() {
                left.push(path);
            } else {
                found.insert(path.clone(), (fs::read(path).unwrap_or_default(), meta.modified().unwrap()));
            }
        }
    }
    found
}

#[test]
fn git_is_never_kept_from_its_work() {
    let live = Live::idle();
    (0..50).for_each(|number| live.write(&format!("d/{number}.md"), word(number)));
    live.commit_all();
    let before = everything(&live.root().join(".git"));
    live.start();
    for level in ["none", "fs", "full", "strict"] {
        let found = live.search_with(&live.root(), &word(7), json!({ "sync": level, "wait_ms": 60_000 }));
        assert!(level == "none" || found.fresh, "{found:?}");
    }
    assert!(before == everything(&live.root().join(".git")), "nothing of git's is written");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for level in ["fs", "strict"] {
            let (mut rpc, root, stop) = (live.connect(), live.root(), &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    rpc.call("search", &json!({ "cwd": root, "query": "x", "sync": level })).unwrap();
                }
            });
        }
        let failed = (0..40).find_map(|number| {
            live.write(&format!("d/{number}.md"), word(1_000 + number));
            let branch = format!("b{}", number % 3);
            let commands =
                [&["add", "-A"][..], &["commit", "-qm", "x"], &["checkout", "-qB", &branch], &["status"]];
            let outputs = commands.map(|args| live.git_may_fail(args));
            let failed = outputs.into_iter().find(|output| !output.status.success());
            failed.map(|output| String::from_utf8_lossy(&output.stderr).into_owned())
        });
        stop.store(true, Ordering::Relaxed);
        assert_eq!(failed, None);
    });
    live.expect(&word(1_039), "d/39.md", "the last one");
}

/// Gives everything below a directory, and itself, to somebody.
fn give(dir: &Path, uid: u32) {
    let uid = uid.to_string();
    assert!(Command::new("chown").args(["-R", &uid]).arg(dir).status().unwrap().success());
}

#[test]
fn a_repository_of_somebody_else_is_left_alone() {
    if memod_base::paths::effective_uid() != 0 {
        return not_checked("repositories of other owners; only root can give one away");
    }
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.commit_all();
    let git_dir = live.root().join(".git");
    let check = |what: &str, path: &str, owner: u32, us: u32| {
        let expected = format!(
            "exit 2\nerr: memo: [TOP]/{path}: owned by uid {owner}, not by us (uid {us})\n\
             err: hint: run memo as the owner, or trust it: git config --global --add safe.directory [TOP]/work\n"
        );
        for args in [&["search", "alpha"][..], &["init"], &["status"]] {
            let said = live.sandbox.show(live.memo(args).uid(us));
            assert_eq!(said, expected, "{what}: {args:?}");
        }
        let output = live.memod().uid(us).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(3), "{what}: {said}");
        assert!(said.contains("owned by uid"), "{what}: {said}");
        let left: Vec<_> = ["work/.git/memo", "work/.memo", "home/.local", "run/memod"]
            .into_iter()
            .filter(|name| live.sandbox.path(name).exists())
            .collect();
        assert_eq!(left, [""; 0], "{what}");
    };
    let (top, us) = (live.sandbox.path(""), memod_base::paths::effective_uid());
    fs::set_permissions(&top, fs::Permissions::from_mode(0o755)).unwrap();
    if let Err(error) = live.memo(&["--version"]).uid(THEM).output() {
        return not_checked(&format!("repositories of other owners: another user cannot run memo: {error}"));
    }
    give(&live.root(), THEM);
    check("root on another's repository", "work", THEM, us);
    give(&live.root(), us);
    check("somebody on root's repository", "work", us, THEM);
    give(&git_dir, THEM);
    check("another's git dir in our directory", "work/.git", THEM, us);
    give(&live.root(), us);
    chown(live.root(), Some(THEM), None).unwrap();
    check("our git dir in another's directory", "work", THEM, us);
    give(&live.root(), us);
    live.start();
    live.expect("alpha", "a.md", "our own");
}
