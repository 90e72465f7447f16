//! Params and results of the methods about git hooks.

use serde::{Deserialize, Serialize};

/// The way in which a git hook notifies the daemon.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookMethod {
    /// The hook does not notify the daemon, and nothing prevents an installation.
    #[default]
    None,
    /// The hook does not notify the daemon, because another hook or setting prevents it; only the watcher notices
    /// changes.
    WatchOnly,
    /// A file of memod in git's hooks directory notifies the daemon.
    File,
    /// A block of memod in another hook, or a file of memod in another directory, notifies the daemon.
    Chained,
    /// The setting `hook.memo.command` in git's configuration notifies the daemon, with git 2.54 and later.
    Config,
}

impl HookMethod {
    /// Returns the word for display.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::WatchOnly => "watch-only",
            Self::File => "file",
            Self::Chained => "chained",
            Self::Config => "config",
        }
    }
}

/// Params of `hooks.install`, `hooks.uninstall` and `hooks.status`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HooksParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// The client's output of `git --version`; the daemon does not run git.
    pub git_version: Option<String>,
    /// Whether `git-lfs` is in the client's `PATH`. It never installs over an existing hook, so memod leaves its hooks
    /// to it.
    pub git_lfs: bool,
    /// Whether to add a block to existing hooks.
    pub chain: bool,
}

/// Result of `hooks.install`, `hooks.uninstall` and `hooks.status`, as `memo hooks --json=full` prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HooksResult {
    /// The best method in use.
    pub method: HookMethod,
    /// The hooks.
    pub hooks: Vec<HookInfo>,
    /// Files that were written or removed, in order.
    pub changed: Vec<String>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// One git hook.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookInfo {
    /// Name of the hook, such as `post-commit`.
    pub event: String,
    /// The way in which the hook notifies the daemon.
    pub method: HookMethod,
    /// Path of the hook's file, existing or not.
    pub path: String,
    /// Why the hook does not notify the daemon, with the remedy.
    pub note: Option<String>,
}
