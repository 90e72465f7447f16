//! Is git as fast, as silent and as successful with our hooks, whatever became of the daemon?

use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use super::{ALL_HOOKS, installed, memo, rings, silent};
use crate::live::{Live, Mounted, not_checked};

#[test]
fn with_a_daemon_that_runs_stands_still_or_is_gone() {
    let live = installed();
    memo(&live, &["stop", "-q"]);
    live.start();
    silent(&live, ALL_HOOKS, "with a daemon");
    live.signal(Signal::STOP);
    silent(&live, ALL_HOOKS, "with a daemon that is stopped");
    assert!(rings(&live.root().join(".git")) > 0, "they rang");
    live.signal(Signal::CONT);
    live.kill();
    silent(&live, ALL_HOOKS, "without a daemon");
}

#[test]
fn without_anything_to_append_to() {
    let live = installed();
    memo(&live, &["stop", "-q"]);
    let state = live.root().join(".git/memo");
    let doorbell = state.join("cookies/doorbell");
    let change = |script: &str| {
        live.sh(script);
        silent(&live, ALL_HOOKS, script);
    };
    change("rm .git/memo/cookies/doorbell");
    assert!(!doorbell.exists(), "a hook makes no file");
    change("mkfifo .git/memo/cookies/doorbell");
    change("rm .git/memo/cookies/doorbell; mkdir .git/memo/cookies/doorbell");
    change("rmdir .git/memo/cookies/doorbell; ln -s doorbell .git/memo/cookies/doorbell");
    change("rm -r .git/memo");
    change("echo a file > .git/memo");
    assert_eq!(fs::read_to_string(&state).unwrap(), "a file\n");
}

#[test]
fn with_a_mark_to_start_a_daemon_that_is_not_there() {
    let live = installed();
    memo(&live, &["stop", "-q"]);
    fs::write(live.root().join(".git/memo/cookies/autostart"), "").unwrap();
    let path = live.sandbox.program("sh", &["-c", "command -v memod"]).status().unwrap();
    if path.success() {
        return not_checked("a hook that may start memod, without memod: it is in PATH");
    }
    silent(&live, ALL_HOOKS, "memod is not in PATH");
}

#[test]
fn with_a_disk_that_is_full_or_read_only() {
    let live = installed();
    memo(&live, &["stop", "-q"]);
    let cookies = live.root().join(".git/memo/cookies");
    let Some(_mounted) = Mounted::at(&cookies, &["-t", "tmpfs", "-o", "size=4k", "none"]) else {
        return not_checked("hooks and a full disk: this user may not mount a tmpfs");
    };
    let filled = fs::write(cookies.join("doorbell"), vec![b'x'; 8_192]);
    assert!(filled.is_err(), "the disk is full");
    let before = rings(&live.root().join(".git"));
    silent(&live, ALL_HOOKS, "the disk is full");
    assert_eq!(rings(&live.root().join(".git")), before);
    run("mount", &["-o", "remount,ro"], &cookies);
    silent(&live, ALL_HOOKS, "the disk is read-only");
}

#[test]
fn inside_a_hook_that_ends_at_the_first_failure() {
    for first in ["#!/bin/sh -eu\n", "#!/bin/bash\nset -euo pipefail\n", ""] {
        let live = Live::idle();
        let theirs = format!("{first}echo ran >> ran\n[ $# -lt 9 ] || exit 7\n");
        for event in memod_hooks::HOOK_EVENTS {
            super::put_hook(&live, &format!(".git/hooks/{event}"), &theirs);
        }
        live.write("a.md", "# a\n");
        live.commit_all();
        memo(&live, &["hooks", "install", "--chain", "-q"]);
        memo(&live, &["stop", "-q"]);
        fs::write(live.root().join("ran"), "").unwrap();
        silent(&live, ALL_HOOKS, first);
        let (ran, rang) =
            (fs::read_to_string(live.root().join("ran")).unwrap(), rings(&live.root().join(".git")));
        assert_eq!(ran.lines().count() as u64, rang, "{first}: theirs ran as often as ours");
        assert!(rang >= 8, "{first}: {rang}");
        fs::remove_dir_all(live.root().join(".git/memo")).unwrap();
        silent(&live, ALL_HOOKS, "and when the state is gone");
    }
}

fn run(program: &str, args: &[&str], dir: &Path) {
    let status = Command::new(program).args(args).arg(dir).status().unwrap();
    assert!(status.success(), "{program} {args:?}");
}
