//! Do git's hooks tell the daemon, and never hurt git?

mod install;
#[cfg(unix)]
mod quiet;
mod ring;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::live::Live;
use crate::system::make_executable;

/// Longest that a commit may take on a machine that does other things as well.
const AT_ONCE: Duration = Duration::from_secs(10);

/// Everything that fires one of the hooks, each once.
const ALL_HOOKS: &str = "git commit -q --allow-empty -m a
    git checkout -q -b side
    echo side > side.md; git add side.md; git commit -q -m side
    git format-patch -q -1 -o ../patches
    git checkout -q main
    git merge -q --no-ff -m merged side
    git commit -q --amend -m amended
    git reset -q --hard HEAD~1
    git am -q ../patches/*.patch
    git reset -q --hard HEAD~1
    git branch -q -D side
    rm -r ../patches";

/// A repository with one commit, and hooks in it.
fn installed() -> Live {
    let live = Live::idle();
    live.write("a.md", "# a\n");
    live.commit_all();
    memo(&live, &["hooks", "install", "--chain", "-q"]); // else some are left to git-lfs, where there is one
    live
}

/// Runs `memo`, which must succeed, and returns what it prints on stdout.
fn memo(live: &Live, args: &[&str]) -> String {
    let output = live.memo(args).output().unwrap();
    assert!(output.status.success(), "memo {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a script in the repository that must succeed, print nothing, not wait, and leave nobody on its pipe.
fn silent(live: &Live, script: &str, what: &str) {
    let start = Instant::now();
    // `output` ends with the last process that holds the pipe.
    let output = live.sandbox.program("sh", &["-ec", script]).output().unwrap();
    let took = start.elapsed();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{what}");
    assert!(took < AT_ONCE, "{what}: {took:?}");
}

fn put_hook(live: &Live, name: &str, text: &str) {
    let path = live.root().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    make_executable(&path);
}

/// Returns how often a doorbell was rung since it was last emptied.
fn rings(git_dir: &Path) -> u64 {
    fs::metadata(git_dir.join("memo/cookies/doorbell")).map_or(0, |meta| meta.len())
}
