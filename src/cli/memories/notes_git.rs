//! Runs git for the ref of the notes, with an index of its own, so that the user's index and branches are left alone.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::cli::error::CliError;

/// Variables that name another repository, or a part of one, as git sets them for hooks (`git rev-parse --local-env-vars`).
/// Others, such as GIT_SSH_COMMAND, are the user's.
const OF_REPOSITORY: [&str; 11] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// The worktree, and the index in which its files of memories are.
pub(super) struct NotesGit<'a> {
    root: &'a Path,
    index: PathBuf,
}

impl<'a> NotesGit<'a> {
    pub(super) fn new(root: &'a Path, git_dir: &Path) -> Self {
        Self { root, index: git_dir.join("memod-notes-index") }
    }

    /// Returns what git printed, without the last line end.
    ///
    /// # Errors
    /// When git cannot be started or fails; the message has its last line.
    pub(super) fn run(&self, args: &[&str]) -> Result<String, CliError> {
        let output = self.output(args)?;
        if !output.status.success() {
            return Err(failed(args, &output));
        }
        Ok(text(&output.stdout))
    }

    /// Returns what git printed; `None` where it exits with 1, which says no.
    ///
    /// # Errors
    /// As [`Self::run`], for other exits.
    pub(super) fn ask(&self, args: &[&str]) -> Result<Option<String>, CliError> {
        let output = self.output(args)?;
        match output.status.code() {
            Some(0) => Ok(Some(text(&output.stdout))),
            Some(1) => Ok(None),
            _ => Err(failed(args, &output)),
        }
    }

    /// Runs git, and returns its exit and what it printed.
    ///
    /// # Errors
    /// When git cannot be started.
    pub(super) fn output(&self, args: &[&str]) -> Result<Output, CliError> {
        let mut command = Command::new("git");
        for name in OF_REPOSITORY {
            command.env_remove(name);
        }
        command.args(["-c", "core.hooksPath=/dev/null"]).args(args).current_dir(self.root);
        command.env("GIT_INDEX_FILE", &self.index).stdin(Stdio::null());
        command.output().map_err(|error| CliError::Git {
            message: format!("git cannot be started: {error}"),
            hint: "install git, or put it into PATH".to_owned(),
        })
    }

    /// Runs git with the user's index.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(super) fn run_in_worktree(&self, args: &[&str]) -> Result<String, CliError> {
        Self { root: self.root, index: self.index.with_file_name("index") }.run(args)
    }
}

/// Returns the error for a git that failed.
pub(super) fn failed(args: &[&str], output: &Output) -> CliError {
    let said = text(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    CliError::Git {
        message: format!("git {}: {}", args.first().unwrap_or(&""), last.trim()),
        hint: "nothing is lost: the files of memories are as they were; run it again when git can".to_owned(),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches(['\n', '\0']).to_owned()
}
