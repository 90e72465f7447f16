//! Prepares the environment of a program, and reads its first line with a time limit.

use std::env;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{ChildStdout, Command};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use memod_base::paths::is_git_settings_variable;

/// Largest size of a line, bytes; the rest of a longer line is not read.
const MAX_LINE_BYTES: u64 = 64 << 10;

/// Removes `GIT_DIR` and similar variables, which git sets for its hooks and which may name another worktree.
pub fn clear_git_env(command: &mut Command) {
    clear_git_env_except(command, |_| false);
}

/// As [`clear_git_env`], but keeps the variables with settings, such as `safe.directory`.
pub fn clear_git_env_except_settings(command: &mut Command) {
    clear_git_env_except(command, is_git_settings_variable);
}

fn clear_git_env_except(command: &mut Command, is_kept: impl Fn(&str) -> bool) {
    for (name, _) in env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"GIT_")) {
        if !name.to_str().is_some_and(&is_kept) {
            command.env_remove(name);
        }
    }
}

/// Reads the first line that a program prints; `None` after the time limit.
///
/// Reading from a pipe has no time limit, so a thread reads. The thread ends with the line, or with the program.
pub fn read_first_line(stdout: ChildStdout, within: Duration) -> Option<io::Result<Vec<u8>>> {
    let (send, receive) = mpsc::sync_channel(1);
    let spawned = thread::Builder::new().name("first-line".to_owned()).spawn(move || {
        let mut line = Vec::new();
        let read = BufReader::new(stdout.take(MAX_LINE_BYTES)).read_until(b'\n', &mut line);
        let _ = send.send(read.map(|_| line));
    });
    if let Err(error) = spawned {
        return Some(Err(error));
    }
    receive.recv_timeout(within).ok()
}
