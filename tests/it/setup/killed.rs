//! Does a run that was killed at any moment leave something that the next one does not mend?

use std::collections::BTreeMap;
use std::process::Stdio;

use super::fixture::{Found, Home};
use crate::live::not_checked;

/// Files of every kind, one of which both agents share, some with directories of our own.
const AGENTS: [&str; 2] = ["codex", "zed"];
/// Calls of the system that change what others see; a run is killed as one of them begins.
const CALLS: [&str; 5] = ["mkdir", "fsync", "rename", "unlink", "rmdir"];

fn home() -> Home {
    let home = Home::new();
    home.write("work/.zed/settings.json", "{\n  // mine\n  \"context_servers\": {}\n}\n");
    home.write("work/AGENTS.md", "# Rules\n");
    home
}

fn args<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    [&["setup", "--scope", "project"], flags, &AGENTS].concat()
}

/// Runs `memo setup` and kills it as the `nth` call of a kind begins; returns whether it got that far. None where that is not
/// possible.
fn killed(home: &Home, flags: &[&str], call: &str, nth: usize) -> Option<bool> {
    let (trace, inject) = (format!("trace={call}"), format!("inject={call}:signal=KILL:when={nth}"));
    let memo = home.memo();
    let strace = ["-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject, &memo];
    let mut command = home.program("strace", &[&strace, args(flags).as_slice()].concat());
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    match status.code() {
        Some(0) => Some(false),
        None | Some(137) => Some(true),
        Some(_) => None,
    }
}

/// Kills a run at every place in turn, and asserts that the next one brings what an unharmed one does.
fn survives(flags: &[&str], prepared: &[&[&str]], expected: &BTreeMap<String, Found>) {
    let mut n_kills = 0;
    for call in CALLS {
        for nth in 1.. {
            let home = home();
            prepared.iter().for_each(|flags| drop(home.run(&args(flags))));
            match killed(&home, flags, call, nth) {
                None => return not_checked("setup::killed: strace cannot be run"),
                Some(false) => break,
                Some(true) => n_kills += 1,
            }
            let said = home.run(&args(flags));
            assert!(said.starts_with("exit 0"), "{call} {nth}: {said}");
            assert_eq!(&home.files(), expected, "{call} {nth}: {said}");
            home.run(&args(&["--undo"]));
            assert_eq!(home.files(), self::home().files(), "{call} {nth}");
            assert!(!home.has_records(), "{call} {nth}");
        }
    }
    assert!(n_kills > 20, "{n_kills}");
}

#[test]
fn setting_up() {
    let whole = home();
    whole.run(&args(&[]));
    survives(&[], &[], &whole.files());
}

#[test]
fn undoing() {
    survives(&["--undo"], &[&[]], &home().files());
}
