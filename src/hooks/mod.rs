//! Installs git hooks and removes them without a trace.
//!
//! A hook of git's appends a byte to the doorbell of its worktree ([`RepoLayout::doorbell_file`]), and that is all. Three
//! ways to have it do so, the first that can be: a named hook of the configuration (git 2.54 and later), a file where
//! none is, a block in somebody else's hook. The last only when it is asked for.
//!
//! Nothing is remembered that the disk does not say: what is in force is read from git's settings and from the hooks
//! each time, because neighbours (husky, lefthook, pre-commit, git-lfs) overwrite, rename and switch off hooks.
//!
//! Invariants:
//! - uninstalling leaves every file as it would be if we had never been there, also when others changed it since;
//! - no process is started, and no lock of git's is taken: while git holds `config.lock` nothing is changed.

mod backup;
mod block;
mod file;
mod git_config;
mod hooks_dir;
mod section;
mod survey;

use std::fs;
use std::path::PathBuf;

use crate::git::{GitError, HookSettings, NamedHook, UserDirs};
use crate::paths::{PathError, RepoLayout, canonical};
use crate::proto::{HooksParams, HooksResult};

/// The hooks that ring. Others come too often (`post-index-change`) or cost too much (`reference-transaction`).
pub const EVENTS: [&str; 5] =
    ["post-commit", "post-checkout", "post-merge", "post-rewrite", "post-applypatch"];

/// The first version of git that runs hooks of its configuration.
const CONFIG_SINCE: (u32, u32) = (2, 54);

/// Why hooks are not as asked.
#[derive(Debug, thiserror::Error)]
pub enum HooksError {
    /// A file cannot be read or changed.
    #[error(transparent)]
    Io(#[from] PathError),
    /// Git's settings cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Git changes its configuration at this moment, or was interrupted when it did.
    #[error("{}: git holds it, so its configuration stays as it is", .0.display())]
    Locked(PathBuf),
    /// What would be written is not what git would read.
    #[error("{}: a hook at its end would not be read back; look at its last lines", .0.display())]
    Unreadable(PathBuf),
}

/// The hooks of one worktree.
pub struct Hooks<'a> {
    layout: &'a RepoLayout,
    settings: HookSettings,
    /// The common dir's configuration, links resolved.
    config: PathBuf,
    /// Where git looks for hooks.
    dir: PathBuf,
    /// Where it looks unless told otherwise.
    own_dir: PathBuf,
    /// Why `dir` is not ours to write into unasked.
    foreign_dir: Option<String>,
    /// As `git --version` says, where it is known.
    git: Option<(u32, u32)>,
    /// git-lfs may come yet, and wants its hooks.
    git_lfs: bool,
}

impl<'a> Hooks<'a> {
    /// Reads what git's settings say; none outside git, and where the state lies outside the repository, so that no
    /// hook could find the doorbell.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn of(
        layout: &'a RepoLayout,
        dirs: &UserDirs,
        params: &HooksParams,
    ) -> Result<Option<Self>, HooksError> {
        let Some(common_dir) = layout.common_dir.as_ref().filter(|_| layout.doorbell_file().is_some()) else {
            return Ok(None);
        };
        let settings = HookSettings::read(layout, dirs, section::NAME)?;
        let own_dir = common_dir.join("hooks");
        let is_own = |path: &PathBuf| {
            *path == own_dir
                || canonical(path).is_ok_and(|path| canonical(&own_dir).is_ok_and(|own| own == path))
        };
        let hooks_path = settings.hooks_path.clone().filter(|path| !is_own(path));
        let foreign_dir = match &hooks_path {
            Some(path) => Some(format!("core.hooksPath leads to {}", path.display())),
            None => fs::read_link(&own_dir)
                .ok()
                .map(|to| format!("the hooks directory is a link to {}", to.display())),
        };
        let config = common_dir.join("config");
        Ok(Some(Self {
            layout,
            settings,
            config: canonical(&config).unwrap_or(config),
            dir: hooks_path.unwrap_or_else(|| own_dir.clone()),
            own_dir,
            foreign_dir,
            git: params.git_version.as_deref().and_then(version),
            git_lfs: params.git_lfs,
        }))
    }

    /// Installs by the first method that can be; into somebody else's hooks and directories only to `chain`.
    ///
    /// A hook that cannot be installed says why in the result; the others are.
    ///
    /// # Errors
    /// When git's configuration cannot be changed; nothing was then.
    pub fn install(mut self, chain: bool) -> Result<HooksResult, HooksError> {
        let mut done = Done::default();
        if self.git.is_some_and(|git| git >= CONFIG_SINCE) && self.install_config(&mut done)? {
            self.uninstall_files(&mut done); // it would ring twice
        } else {
            self.install_files(chain, &mut done);
        }
        Ok(self.result(&done))
    }

    /// Takes out all that is ours, wherever a neighbour moved it.
    ///
    /// # Errors
    /// When git's configuration cannot be changed; nothing was then.
    pub fn uninstall(mut self) -> Result<HooksResult, HooksError> {
        let mut done = Done::default();
        self.uninstall_config(&mut done)?;
        self.uninstall_files(&mut done);
        Ok(self.result(&done))
    }

    /// Tells what is in force.
    pub fn status(&self) -> HooksResult {
        self.result(&Done::default())
    }
}

/// What was done, and what could not be.
#[derive(Default)]
struct Done {
    changed: Vec<PathBuf>,
    /// Of which hook, and why.
    failures: Vec<(&'static str, PathError)>,
}

/// Returns whether a named hook rings our doorbell, be it of this version or another.
fn rings(named: &NamedHook) -> bool {
    named.command.as_ref().is_some_and(|command| command.contains("/memo/cookies/doorbell"))
}

/// Reads `git version 2.54.1.windows.1`, or the number alone.
fn version(text: &str) -> Option<(u32, u32)> {
    let number = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = number.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

#[cfg(test)]
mod tests;
