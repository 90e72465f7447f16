//! What does `memo hooks` say, and with which exit status?

use std::fs;
use std::process::Stdio;

use super::{memo, put_hook};
use crate::live::Live;

/// A repository whose git is older than named hooks, or newer.
struct Git<'a>(&'a Live, &'a str);

impl Git<'_> {
    /// Returns exit status, stdout and stderr of `memo hooks …`.
    fn hooks(&self, args: &[&str]) -> String {
        self.memo(&[&["hooks"], args].concat())
    }

    /// The same of any verb, asked where `git --version` says that version.
    fn memo(&self, args: &[&str]) -> String {
        let Self(live, version) = self;
        put_hook(live, "../bin/git", &format!("#!/bin/sh\necho git version {version}\n"));
        let mut command = live.memo(args);
        command.env("PATH", live.sandbox.path("bin")); // no git-lfs is in it, unless a test puts one there
        live.sandbox.show(&mut command).replace("[TOP]/work/.git/", "")
    }
}

#[test]
fn files_of_ours() {
    let live = Live::idle();
    let git = Git(&live, "2.53.0");
    let table = |method: &str| {
        memod_hooks::HOOK_EVENTS
            .map(|event| format!("out: {event:<15} {method:<10} hooks/{event}\n"))
            .concat()
    };
    let changed =
        memod_hooks::HOOK_EVENTS.map(|event| format!("err: memo: changed hooks/{event}\n")).concat();
    // `git init` puts samples there, and nothing else.
    assert_eq!(git.hooks(&[]), format!("exit 0\n{}", table("none")));
    assert_eq!(git.hooks(&["install"]), format!("exit 0\n{}{changed}", table("file")));
    assert_eq!(git.hooks(&["install"]), format!("exit 0\n{}", table("file")));
    assert_eq!(live.call("status", serde_json::json!({}))["hooks"], "file");
    assert_eq!(git.hooks(&["status", "-q"]), format!("exit 0\n{}", table("file")));
    let mut gone: Vec<_> = changed.lines().collect();
    gone.sort_unstable();
    let said = git.hooks(&["uninstall"]);
    let mut said: Vec<_> = said.lines().filter(|line| line.starts_with("err")).collect();
    said.sort_unstable();
    assert_eq!(said, gone);
    assert_eq!(git.hooks(&["uninstall"]), format!("exit 0\n{}", table("none")));
}

#[test]
fn a_section_of_the_configuration() {
    let live = Live::idle();
    let config = live.root().join(".git/config");
    let before = fs::read(&config).unwrap();
    let git = Git(&live, "2.54.0");
    let shown = git.hooks(&["install"]);
    assert!(shown.starts_with("exit 0\nout: post-commit     config     config\n"), "{shown}");
    live.git(&["config", "remote.o.url", "x"]); // git can read it, and write it
    live.git(&["config", "--remove-section", "remote.o"]);
    git.hooks(&["uninstall"]);
    assert_eq!(fs::read(&config).unwrap(), before);

    fs::write(live.root().join(".git/config.lock"), "").unwrap();
    let refused = git.hooks(&["install"]);
    let expected = "exit 3\nerr: memo: config.lock: git has locked its configuration, so it was not changed\n\
                    err: hint: try again; if no git command is running, an interrupted one has left config.lock, which you can remove\n";
    assert_eq!(refused, expected);
    assert_eq!(fs::read(&config).unwrap(), before);
}

#[test]
fn hooks_of_others_are_named() {
    let live = Live::idle();
    put_hook(&live, ".git/hooks/post-commit", "#!/bin/sh\necho theirs\n");
    put_hook(&live, ".git/hooks/post-merge", "#!/usr/bin/env python3\n");
    let git = Git(&live, "2.47.3");
    let shown = git.hooks(&["install", "-q"]);
    let expected = "exit 1
out: post-commit     watch-only hooks/post-commit: there is another hook; `memo hooks install --chain` adds a block to it
out: post-checkout   file       hooks/post-checkout
out: post-merge      watch-only hooks/post-merge: there is another hook, and no block can be added to it: it is not a shell script
out: post-rewrite    file       hooks/post-rewrite
out: post-applypatch file       hooks/post-applypatch
";
    assert_eq!(shown, expected);
    let chained = git.hooks(&["install", "--chain", "--json"]);
    assert!(
        chained.starts_with("exit 1\nout: {\"method\":\"chained\",\"hooks\":[{\"event\":\"post-commit\""),
        "{chained}"
    );
    git.hooks(&["uninstall"]);
    let theirs = fs::read_to_string(live.root().join(".git/hooks/post-commit")).unwrap();
    assert_eq!(theirs, "#!/bin/sh\necho theirs\n");
}

#[test]
fn hooks_that_git_lfs_will_want_are_left_to_it() {
    let live = Live::idle();
    put_hook(&live, "../bin/git-lfs", "#!/bin/sh\n");
    let git = Git(&live, "2.47.3");
    let note = "left to git-lfs, which does not install its hooks if ours exists; `memo hooks install --chain` installs ours";
    let shown = git.hooks(&["install", "-q"]);
    let expected = format!("exit 1\nout: post-commit     watch-only hooks/post-commit: {note}\n");
    assert!(shown.starts_with(&expected), "{shown}");
    let taken = git.hooks(&["install", "-q", "--chain"]);
    assert!(taken.starts_with("exit 0\nout: post-commit     file       hooks/post-commit\n"), "{taken}");
}

#[test]
fn init_installs_what_is_safe() {
    let live = Live::idle();
    live.write("a.md", "# a\n");
    put_hook(&live, ".git/hooks/post-commit", "#!/bin/sh\necho theirs\n");
    memo(&live, &["init", "--no-hooks"]);
    assert!(!live.root().join(".git/hooks/post-merge").exists());
    let shown = Git(&live, "2.47.3").memo(&["init"]);
    assert!(shown.contains("file, 4 of 5 (memo hooks says why)"), "{shown}");
    let theirs = fs::read_to_string(live.root().join(".git/hooks/post-commit")).unwrap();
    assert_eq!(theirs, "#!/bin/sh\necho theirs\n", "nothing is chained unasked");
}

#[test]
fn outside_git_there_is_nothing_to_install() {
    let live = Live::idle();
    let plain = live.sandbox.path("plain");
    fs::create_dir(&plain).unwrap();
    let dir = plain.to_str().unwrap();
    assert_eq!(live.memo(&["init", "-q", "-C", dir]).status().unwrap().code(), Some(0));
    let shown = live.sandbox.show(&mut live.memo(&["hooks", "install", "-C", dir]));
    assert_eq!(shown, "exit 1\nerr: memo: [TOP]/plain is not in a git repository\n");
    memo(&live, &["stop", "-q", "-C", dir]);
}

#[test]
fn many_who_install_at_once_do_not_meet() {
    let live = Live::new();
    put_hook(&live, ".git/hooks/post-commit", "#!/bin/sh\necho theirs\n");
    for _ in 0..5 {
        let mut install = live.memo(&["hooks", "install", "--chain"]);
        install.stdout(Stdio::null()).stderr(Stdio::piped());
        let all = [(); 8].map(|()| install.spawn().unwrap());
        for one in all {
            let output = one.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        memo(&live, &["hooks", "uninstall"]);
    }
}
