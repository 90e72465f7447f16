//! Maps every error to a code, a hint and an exit status.

use std::io;
use std::path::{Path, PathBuf};

use memod_base::paths::{LocateError, PathError, io_error_hint};
use memod_client::ClientError;
use memod_proto::{RpcError, code};
use serde::Serialize;

use memod_config::ConfigError;
use memod_config::team_server::TeamError;

use crate::text::{escape_for_display, shell_word};

/// Exit status of a command that matched nothing, named an object that does not exist, or did only a part of its work.
pub const EXIT_NOTHING_FOUND: u8 = 1;
/// Exit status for wrong usage.
pub const EXIT_USAGE: u8 = 2;
/// Exit status of a command that failed, as when the daemon cannot be reached.
pub const EXIT_FAILED: u8 = 3;

/// Result of a verb: its exit status, which is not always 0 on success.
pub type CliResult = Result<u8, CliError>;

/// Why a verb failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// No usable worktree was found around the directory.
    #[error(transparent)]
    Locate(#[from] LocateError),
    /// An operation on a file or directory failed.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The settings cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The daemon did not answer, or answered with an error.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// stdout is closed or full.
    #[error("cannot write the answer: {0}")]
    Output(#[from] io::Error),
    /// A path that JSON cannot carry.
    #[error("{}: the name is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
    /// There is no home directory, and so no place for the user's settings file.
    #[error("no home directory for the user's settings")]
    NoHome,
    /// The command line is valid for clap but makes no sense.
    #[error("{message}")]
    Usage {
        /// The fault in the command line.
        message: String,
        /// A command line that would work.
        hint: &'static str,
    },
    /// Rows have no such field.
    #[error("{message}")]
    UnknownField {
        /// The unknown field.
        message: String,
        /// The fields that exist.
        known_fields: String,
    },
    /// The last search has no such hit, or the hit is not a file.
    #[error("{message}")]
    NoHit {
        /// Which hit is missing, or why it cannot be opened.
        message: String,
        /// The remedy.
        hint: String,
    },
    /// A typed path lies in another repository, as in a submodule.
    #[error("{message}")]
    OtherRepository {
        /// The path and the repository.
        message: String,
        /// The command line that asks there.
        hint: String,
    },
    /// git failed, or cannot carry out the request.
    #[error("{message}")]
    Git {
        /// The message of git.
        message: String,
        /// A remedy.
        hint: String,
    },
    /// The team's server failed, or its address or password cannot be used.
    #[error(transparent)]
    Team(#[from] TeamError),
    /// There is no log to show.
    #[error("{}: no log yet", .0.display())]
    NoLog(PathBuf),
}

/// An error for display: `{error: {code, message, hint}}`, or two lines on stderr.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct ErrorReport {
    /// One word for programs.
    pub code: &'static str,
    /// The failure, its path and its cause.
    pub message: String,
    /// A remedy.
    pub hint: Option<String>,
    /// The exit status.
    #[serde(skip)]
    pub exit_status: u8,
}

impl CliError {
    /// Returns whether the reader of stdout has gone away, which does not count as an error.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns the error's code, message, hint and exit status, as they are shown to the user.
    pub fn to_report(&self) -> ErrorReport {
        let (code, exit, hint) = match self {
            Self::Locate(error) => classify_locate_error(error),
            Self::Path(error) if error.is_absent() => {
                ("no-such-path", EXIT_USAGE, some_hint("check the path for a typing error"))
            }
            Self::Path(error) => classify_path_error(error),
            Self::Config(error) => classify_config_error(error),
            Self::Client(error) => classify_client_error(error),
            Self::Output(_) => ("output", EXIT_FAILED, None),
            Self::NotUtf8(_) => (
                "not-utf8",
                EXIT_USAGE,
                some_hint("rename the file or directory, or name another directory with -C"),
            ),
            Self::Usage { hint: text, .. } => ("usage", EXIT_USAGE, some_hint(text)),
            Self::NoHit { hint, .. } => ("not-found", EXIT_NOTHING_FOUND, Some(hint.clone())),
            Self::OtherRepository { hint, .. } => ("other-repository", EXIT_USAGE, Some(hint.clone())),
            Self::UnknownField { known_fields: known, .. } => {
                ("usage", EXIT_USAGE, Some(format!("there are: {known}")))
            }
            Self::Git { hint, .. } => ("git", EXIT_FAILED, Some(hint.clone())),
            Self::Team(error) => ("team", EXIT_FAILED, error.hint.clone()),
            Self::NoHome => ("no-home", EXIT_USAGE, some_hint("set HOME to an absolute path")),
            Self::NoLog(_) => (
                "not-found",
                EXIT_NOTHING_FOUND,
                some_hint("`memo status` starts the daemon, which writes the log"),
            ),
        };
        ErrorReport { code, message: self.to_string(), hint, exit_status: exit }
    }

    /// Like [`Self::to_report`]. A hint that refers to `memo VERB --help` gets this verb in place of VERB.
    pub fn to_report_for(&self, verb: Option<&str>) -> ErrorReport {
        let mut report = self.to_report();
        if let (Some(hint), Some(verb)) = (&mut report.hint, verb) {
            *hint = hint.replace("`memo VERB --help`", &format!("`memo {verb} --help`"));
        }
        report
    }
}

/// A code, an exit status and a hint.
type CodeExitHint = (&'static str, u8, Option<String>);

fn some_hint(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// Returns the remedy for a directory of another user; `root` is the worktree that can be declared safe.
fn owner_remedy(root: Option<&Path>) -> String {
    let Some(root) = root else { return "run memo as the owner, or copy the directory".to_owned() };
    let root = shell_word(&escape_for_display(&root.display().to_string()));
    format!("run memo as the owner, or trust it: git config --global --add safe.directory {root}")
}

fn classify_locate_error(error: &LocateError) -> CodeExitHint {
    match error {
        LocateError::Io(error) if error.is_absent() => {
            let directory = "name an existing directory with -C";
            let lines = error.path.to_str().and_then(|path| path.parse::<u32>().ok());
            // The user may have meant the `-C N` of grep.
            let lines =
                lines.map(|n| format!("{directory}; `--context {n}` prints {n} lines around each match"));
            ("no-such-directory", EXIT_USAGE, Some(lines.unwrap_or_else(|| directory.to_owned())))
        }
        LocateError::Io(error) => classify_path_error(error),
        LocateError::NotADirectory(_) => {
            ("not-a-directory", EXIT_USAGE, some_hint("name the directory around it with -C"))
        }
        LocateError::GitDir(_) => (
            "git-dir",
            EXIT_USAGE,
            some_hint("run memo in a worktree; `git worktree add DIR` makes one of a bare repository"),
        ),
        LocateError::BrokenGit { .. } => (
            "broken-git",
            EXIT_USAGE,
            some_hint("`git status` says more; `git worktree repair` mends a moved worktree"),
        ),
        LocateError::NotOwner { root, .. } => ("not-owner", EXIT_USAGE, Some(owner_remedy(root.as_deref()))),
        LocateError::NotIndexed(_) => {
            ("not-indexed", EXIT_USAGE, some_hint("`memo init` indexes this directory; -C DIR names another"))
        }
        LocateError::ForeignStateDir(_) => (
            "foreign-state",
            EXIT_USAGE,
            some_hint("move it away if nothing else needs it, or run `git init` here"),
        ),
        LocateError::HomeOrRoot(_) => {
            ("too-wide", EXIT_USAGE, some_hint("name a smaller directory with -C, or run `git init` in it"))
        }
    }
}

fn classify_path_error(error: &PathError) -> CodeExitHint {
    ("io", EXIT_FAILED, error.hint().and_then(some_hint))
}

fn classify_config_error(error: &ConfigError) -> CodeExitHint {
    match error {
        ConfigError::Io(error) => classify_path_error(error),
        ConfigError::UnknownKey { nearest: Some(nearest), .. } => {
            ("config", EXIT_USAGE, Some(format!("did you mean {nearest}?")))
        }
        ConfigError::UserOnly { key, .. } | ConfigError::OnlyFalseAllowed { key, .. } => {
            let text = format!(
                "`memo config set --user {key} VALUE` sets it in your own settings; remove {key} from all others"
            );
            ("config", EXIT_USAGE, Some(text))
        }
        _ => ("config", EXIT_USAGE, some_hint("`memo config template` shows every key with its default")),
    }
}

fn classify_client_error(error: &ClientError) -> CodeExitHint {
    match error {
        ClientError::Path(error) => classify_path_error(error),
        ClientError::NotRunning { .. } => {
            ("not-running", EXIT_FAILED, some_hint("`memo status` starts a daemon"))
        }
        ClientError::ForeignSocket { socket, .. } => (
            "foreign-socket",
            EXIT_FAILED,
            Some(format!("another user created it: check {}", socket.display())),
        ),
        ClientError::Spawn { source, .. } => ("no-daemon", EXIT_FAILED, spawn_hint(source)),
        ClientError::StartRefused { hint, .. } => ("daemon-refused", EXIT_FAILED, hint.clone()),
        ClientError::NotFetched { hint, .. } => ("not-fetched", EXIT_FAILED, hint.clone()),
        ClientError::NotReady { log, .. } => ("daemon-not-ready", EXIT_FAILED, see_log_hint(log)),
        ClientError::SpawnLockTimeout { .. } => (
            "daemon-not-ready",
            EXIT_FAILED,
            some_hint(
                "try again; if the other client is stuck, end it; `memo daemon logs` shows what its daemon does",
            ),
        ),
        // The process id is unknown if the endpoint file is lost; `kill 0` would end the shell.
        ClientError::NoAnswer { pid: 0, log, .. } => ("daemon-hung", EXIT_FAILED, see_log_hint(log)),
        ClientError::NoAnswer { pid, log, .. } => {
            let text = format!(
                "`kill -CONT {pid}` resumes a stopped daemon, `kill {pid}` ends a hung one; see {}",
                log.display()
            );
            ("daemon-hung", EXIT_FAILED, Some(text))
        }
        ClientError::ConnectionClosed { log, .. } => ("daemon-gone", EXIT_FAILED, see_log_hint(log)),
        ClientError::InvalidAnswer { socket, .. } => {
            let text =
                format!("another program may use the socket: remove {} and try again", socket.display());
            ("daemon-garbage", EXIT_FAILED, Some(text))
        }
        ClientError::NewerDaemon { daemon, .. } => {
            ("newer-daemon", EXIT_FAILED, Some(format!("install memo {daemon}, or a later version")))
        }
        ClientError::NotListening { lock, .. } => {
            let lock = lock.display();
            let text = format!(
                "if the daemon runs in another container, stop it there; `fuser {lock}` finds it on this machine"
            );
            ("daemon-unreachable", EXIT_FAILED, Some(text))
        }
        ClientError::NotReplaced { source, .. } => classify_client_error(source),
        ClientError::NotStopped { pid, .. } => {
            ("daemon-lingers", EXIT_FAILED, Some(format!("`kill {pid}` ends it")))
        }
        ClientError::Rpc(error) => classify_rpc_error(error),
    }
}

fn see_log_hint(log: &Path) -> Option<String> {
    Some(format!("see {}, or run `memo daemon logs`; then try again", log.display()))
}

/// Returns a hint for a program that cannot be started.
fn spawn_hint(error: &io::Error) -> Option<String> {
    match error.kind() {
        io::ErrorKind::NotFound => {
            some_hint("install memod beside memo or in PATH, or name it in MEMO_DAEMON")
        }
        io::ErrorKind::PermissionDenied => {
            some_hint("check that the file is a program, and that you may run it")
        }
        io::ErrorKind::WouldBlock => some_hint(
            "too many processes run, or too little memory is left: raise `ulimit -u` or `ulimit -v`",
        ),
        _ => io_error_hint(error).and_then(some_hint),
    }
}

fn classify_rpc_error(error: &RpcError) -> CodeExitHint {
    let daemon_hint = error.data.as_ref().and_then(|data| data.hint.clone());
    let (word, exit, usual) = match error.code {
        code::NOT_FOUND => ("not-found", EXIT_NOTHING_FOUND, None),
        code::INVALID_PARAMS => ("usage", EXIT_USAGE, Some("`memo VERB --help` lists the arguments")),
        code::WRONG_REPOSITORY => {
            ("wrong-repository", EXIT_USAGE, Some("name a directory of the worktree with -C"))
        }
        code::NO_METHOD => {
            ("no-method", EXIT_FAILED, Some("`memo daemon restart` starts the daemon of this version"))
        }
        code::GIT => ("git", EXIT_FAILED, None),
        code::BUSY => ("busy", EXIT_FAILED, Some("try again in a moment")),
        code::STOPPING => ("stopping", EXIT_FAILED, Some("try again: the daemon is shutting down")),
        code::STORE => ("store", EXIT_FAILED, Some("`memo doctor` checks the disk and the databases")),
        code::IO => ("io", EXIT_FAILED, None),
        code::TEAM => ("team", EXIT_FAILED, Some("`memo share team status` shows the state of the exchange")),
        code::PARSE | code::INVALID_REQUEST => ("internal", EXIT_FAILED, None),
        _ => ("internal", EXIT_FAILED, Some("`memo daemon logs` shows details")),
    };
    (word, exit, daemon_hint.or_else(|| usual.and_then(some_hint)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report_of_rpc(code: i64, daemon_hint: Option<&str>) -> ErrorReport {
        let data = daemon_hint
            .map(|hint| memod_proto::ErrorData { hint: Some(hint.to_owned()), retry_after_ms: None });
        let error = RpcError { code, message: "it failed".to_owned(), data };
        CliError::from(ClientError::from(error)).to_report()
    }

    #[test]
    fn every_error_has_a_word_and_an_exit_status() {
        let cases = [
            (code::NOT_FOUND, "not-found", EXIT_NOTHING_FOUND),
            (code::INVALID_PARAMS, "usage", EXIT_USAGE),
            (code::WRONG_REPOSITORY, "wrong-repository", EXIT_USAGE),
            (code::STORE, "store", EXIT_FAILED),
            (code::IO, "io", EXIT_FAILED),
            (code::TEAM, "team", EXIT_FAILED),
            (code::PARSE, "internal", EXIT_FAILED),
            (-1, "internal", EXIT_FAILED),
        ];
        for (code, word, exit) in cases {
            let shown = report_of_rpc(code, None);
            assert_eq!((shown.code, shown.exit_status, shown.message.as_str()), (word, exit, "it failed"));
        }
    }

    #[test]
    fn a_remedy_names_the_cause_at_hand() {
        let path = || PathBuf::from("/r/x");
        let file = |kind: io::ErrorKind| PathError { action: "write", path: path(), source: kind.into() };
        let spawn = |kind: io::ErrorKind| ClientError::Spawn { program: path(), source: kind.into() };
        let refused =
            |hint: &str| ClientError::StartRefused { message: String::new(), hint: Some(hint.to_owned()) };
        let cases: [(CliError, &str); 13] = [
            (file(io::ErrorKind::PermissionDenied).into(), "permissions"),
            (file(io::ErrorKind::StorageFull).into(), "free some space"),
            (file(io::ErrorKind::ReadOnlyFilesystem).into(), "writable"),
            (file(io::ErrorKind::NotFound).into(), "typing error"),
            (file(io::ErrorKind::Other).into(), ""),
            (LocateError::from(file(io::ErrorKind::PermissionDenied)).into(), "permissions"),
            (ConfigError::from(file(io::ErrorKind::PermissionDenied)).into(), "permissions"),
            (spawn(io::ErrorKind::NotFound).into(), "install memod"),
            (spawn(io::ErrorKind::PermissionDenied).into(), "may run it"),
            (spawn(io::ErrorKind::WouldBlock).into(), "ulimit -u"),
            (spawn(io::ErrorKind::OutOfMemory).into(), "memory"),
            (spawn(io::ErrorKind::Other).into(), ""),
            (refused("free some space").into(), "free some space"),
        ];
        for (error, word) in cases {
            let ErrorReport { message, hint, .. } = error.to_report();
            let hint = hint.unwrap_or_default();
            assert!(hint.contains(word) && hint.is_empty() == word.is_empty(), "{message}: {hint}");
        }
    }

    #[test]
    fn the_daemon_knows_best_what_to_do() {
        assert_eq!(
            report_of_rpc(code::STORE, Some("free some space")).hint.as_deref(),
            Some("free some space")
        );
    }
}
