//! Params and results of the methods about git hooks.

use serde::{Deserialize, Serialize};

/// How a hook of git's rings the doorbell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookMethod {
    /// Not at all, and nothing stands in the way.
    #[default]
    None,
    /// Not at all: somebody else's hook or setting is in the way, so changes are seen by the watcher alone.
    WatchOnly,
    /// A file of ours in git's own hooks directory.
    File,
    /// A block of ours in somebody else's hook, or a file of ours in somebody else's directory.
    Chained,
    /// `hook.memo.command` of the configuration, git 2.54 and later.
    Config,
}

impl HookMethod {
    /// Returns the word that is shown.
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
    /// What `git --version` says where the client runs; the daemon does not run git.
    pub git_version: Option<String>,
    /// `git-lfs` is in the client's `PATH`: it refuses to install over any hook, so its hooks are left to it.
    pub git_lfs: bool,
    /// Put a block into somebody else's hooks, where there are any.
    pub chain: bool,
}

/// Result of the same, as `memo hooks --json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HooksResult {
    /// The best method in force.
    pub method: HookMethod,
    /// Each hook that can ring.
    pub hooks: Vec<HookInfo>,
    /// Files that were written or removed, in order.
    pub changed: Vec<String>,
    /// What else the user should know.
    pub notes: Vec<String>,
}

/// One hook of git's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookInfo {
    /// `post-commit`, …
    pub event: String,
    /// How it rings.
    pub method: HookMethod,
    /// The file it is in, or would be in.
    pub path: String,
    /// Why it does not ring, and what to do about it.
    pub note: Option<String>,
}
