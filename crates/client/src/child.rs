//! Runs a program without the environment of a git hook, with a time limit.

use std::env;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{ChildStdout, Command};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Longest line, bytes.
const MAX_LINE: u64 = 64 << 10;

/// Removes `GIT_DIR` and similar variables, which git sets for its hooks and which may name another worktree.
pub fn clear_git_env(command: &mut Command) {
    for (name, _) in env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_")) {
        command.env_remove(name);
    }
}

/// Reads the first line of a program; `None` after the time limit.
///
/// A pipe has no read time limit, so a thread reads; it ends with the line, or with the program.
pub fn first_line(stdout: ChildStdout, within: Duration) -> Option<io::Result<Vec<u8>>> {
    let (send, receive) = mpsc::sync_channel(1);
    let spawned = thread::Builder::new().name("first-line".to_owned()).spawn(move || {
        let mut line = Vec::new();
        let read = BufReader::new(stdout.take(MAX_LINE)).read_until(b'\n', &mut line);
        let _ = send.send(read.map(|_| line));
    });
    if let Err(error) = spawned {
        return Some(Err(error));
    }
    receive.recv_timeout(within).ok()
}
