//! Does a ring reach the daemon, the right worktree, and does it cost nothing when it comes a hundred times?

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::{ALL_HOOKS, installed, memo, rings, silent};
use crate::live::{not_checked, until};
use crate::system;

#[test]
fn every_hook_rings_and_the_daemon_answers_the_door() {
    let live = installed();
    memo(&live, &["stop", "-q"]);
    let git_dir = live.root().join(".git");
    assert_eq!(rings(&git_dir), 0);
    silent(&live, ALL_HOOKS, "nobody is at home");
    assert!(rings(&git_dir) >= 8, "commit, checkout, merge, rewrite and am rang: {}", rings(&git_dir));
    live.start();
    live.expect("nothing", "", "the daemon is up");
    assert_eq!(rings(&git_dir), 0, "what rang before is covered by the first walk");

    let before = live.counter("reconciles");
    fs::write(git_dir.join("memo/cookies/doorbell"), "\n").unwrap(); // nothing else changed
    until("the doorbell is emptied", || rings(&git_dir) == 0);
    until("what git changed is compared", || live.counter("reconciles") > before);
}

#[test]
fn each_worktree_has_a_doorbell_of_its_own() {
    let live = installed();
    live.git(&["worktree", "add", "-q", "../other"]);
    let other = live.sandbox.path("other");
    memo(&live, &["status", "-C", other.to_str().unwrap()]);
    memo(&live, &["stop", "-q"]);
    let (main, linked) = (live.root().join(".git"), live.root().join(".git/worktrees/other"));
    silent(&live, "cd ../other; mkdir deep; cd deep; git commit -q --allow-empty -m x", "in the other");
    assert_eq!((rings(&main), rings(&linked)), (0, 1));
    silent(&live, "git commit -q --allow-empty -m x", "in the first");
    assert_eq!((rings(&main), rings(&linked)), (1, 1));
}

#[test]
fn a_git_dir_may_be_anywhere() {
    let live = installed();
    memo(&live, &["stop", "-q"]);
    let top = "cd ..; export GIT_ALLOW_PROTOCOL=file
        git init -q --separate-git-dir=apart.git apart
        git clone -q --bare work bare.git; git -C bare.git worktree add -q ../linked
        git clone -q work super; git -C super submodule --quiet add ../work sub; git -C super commit -q -m sub";
    live.sh(top);
    for (worktree, git_dir) in [
        ("apart", "apart.git"),
        ("linked", "bare.git/worktrees/linked"),
        ("super/sub", "super/.git/modules/sub"),
    ] {
        let (worktree, git_dir) = (live.sandbox.path(worktree), live.sandbox.path(git_dir));
        let dir = worktree.to_str().unwrap();
        memo(&live, &["hooks", "install", "--chain", "-q", "-C", dir]);
        memo(&live, &["stop", "-q", "-C", dir]);
        silent(&live, &format!("cd {dir}; git commit -q --allow-empty -m x"), dir);
        assert_eq!(rings(&git_dir), 1, "{dir}");
    }
    assert_eq!(rings(&live.root().join(".git")), 0, "its hooks were not cloned");
}

#[test]
fn the_hooks_of_a_repository_that_moved_ring() {
    let live = installed();
    memo(&live, &["stop", "-q"]);
    fs::rename(live.root(), live.sandbox.path("moved")).unwrap();
    fs::create_dir(live.root()).unwrap();
    silent(&live, "cd ../moved; git commit -q --allow-empty -m x", "moved");
    assert_eq!(rings(&live.sandbox.path("moved/.git")), 1);
}

#[test]
fn a_rebase_is_a_few_reconciles() {
    let live = installed();
    memo(&live, &["stop", "-q"]);
    let commits = "git checkout -q -b topic
        for i in $(seq 100); do echo $i > f$i.md; git add f$i.md; git commit -q -m $i; done
        git checkout -q main; git commit -q --allow-empty -m base";
    live.sh(commits);
    live.start();
    live.expect("nothing", "", "the daemon is up");
    live.git(&["checkout", "-q", "topic"]);
    live.expect("nothing", "", "the branch is seen");
    let before = live.counter("reconciles");
    let began = Instant::now();
    live.git(&["rebase", "-q", "--no-ff", "main"]);
    live.expect("nothing", "", "the rebase is over");
    // While git is at work nothing is compared that nobody asks for, for ten seconds at most; then each 50 quiet ms.
    let late = began.elapsed().saturating_sub(Duration::from_secs(10));
    let most = 10 + u64::try_from(late.as_millis()).unwrap() / 50;
    let reconciles = live.counter("reconciles") - before;
    assert!(reconciles < most, "{reconciles} reconciles for 100 commits");
}

#[test]
fn a_hook_starts_the_daemon_only_when_it_may() {
    if let Err(error) = Command::new("ps").output() {
        return not_checked(&format!("which processes a hook starts: ps: {error}"));
    }
    let live = installed();
    memo(&live, &["stop", "-q"]);
    let bin = Path::new(env!("CARGO_BIN_EXE_memod")).parent().unwrap().display().to_string();
    let commit = format!("PATH={bin}:$PATH git commit -q --allow-empty -m x");
    silent(&live, &commit, "not asked for");
    let is_up = || {
        let endpoint = fs::read_to_string(live.layout().endpoint_file()).unwrap_or_default();
        let endpoint: serde_json::Value = serde_json::from_str(&endpoint).unwrap_or_default();
        endpoint["socket"].as_str().is_some_and(|socket| system::connect(socket).is_ok())
    };
    assert!(!is_up(), "nobody started it");
    let running =
        format!("ps -o args= -A | grep -F -- '--root {}' | grep -v grep || :", live.root().display());
    silent(&live, &running, "no process was started");

    memo(&live, &["config", "set", "hooks.autostart", "true", "-q"]);
    live.git(&["worktree", "add", "-q", "../other"]);
    let other = live.sandbox.path("other");
    memo(&live, &["status", "-q", "-C", other.to_str().unwrap()]);
    memo(&live, &["stop", "-q"]);
    fs::write(other.join("only.md"), "# zqonlyother\n").unwrap();
    live.write("only.md", "# zqonlyhere\n");
    // In a linked worktree GIT_DIR and GIT_INDEX_FILE are set, and the daemon is that hook's child.
    silent(&live, &format!("cd ../other; {commit}"), "asked for");
    until("the daemon is up", is_up);
    live.expect("zqonlyhere", "only.md", "GIT_DIR of the hook does not mislead it");
    live.expect("zqonlyother", "", "GIT_DIR of the hook does not mislead it");
    live.expect_in(&other, "zqonlyother", "only.md", "it serves the worktree of the hook");
    silent(&live, &commit, "it runs already");
    // What the hook started waits a moment for the daemon's lock, and would take it once that stops.
    let root = format!("run --root {}", live.root().display());
    let is_other = |line: &str| line.ends_with(&root) && !line.contains(&format!("{} ", live.pid()));
    until("there is no second daemon", || {
        let listed = Command::new("ps").args(["-A", "-o", "pid=,args="]).output().unwrap();
        !String::from_utf8_lossy(&listed.stdout).lines().any(is_other)
    });

    memo(&live, &["config", "set", "hooks.autostart", "false", "-q"]);
    memo(&live, &["restart", "-q"]);
    memo(&live, &["sync", "-q"]); // it hangs the doorbell when it opens the worktree, after it is ready
    memo(&live, &["stop", "-q"]);
    silent(&live, &commit, "not any more");
    assert!(!is_up() && !live.root().join(".git/memo/cookies/autostart").exists());
}
