//! Params and results of the methods about git hooks.

use serde::{Deserialize, Serialize};

/// How a git hook rings the doorbell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookMethod {
    /// Not at all, and nothing prevents an installation.
    #[default]
    None,
    /// Not at all, because another hook or setting prevents it; only the watcher notices changes.
    WatchOnly,
    /// By our file in git's hooks directory.
    File,
    /// By our block in another hook, or our file in another directory.
    Chained,
    /// By `hook.memo.command` in the configuration, with git 2.54 and later.
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
    /// Whether `git-lfs` is in the client's `PATH`. It does not install over any hook, so its hooks are left to it.
    pub git_lfs: bool,
    /// Whether to add a block to existing hooks.
    pub chain: bool,
}

/// Result of these methods, as `memo hooks --json=full` prints it.
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
    /// `post-commit`, …
    pub event: String,
    /// How it rings.
    pub method: HookMethod,
    /// Its file, existing or not.
    pub path: String,
    /// Why it does not ring, with the remedy.
    pub note: Option<String>,
}
