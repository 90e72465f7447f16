//! Installs git hooks that notify the daemon, and removes them without a trace.
//!
//! A hook only appends a byte to the doorbell file of its worktree ([`RepoLayout::doorbell_file`]), which the daemon watches. A
//! hook is installed by the first method that is possible: as a named hook in git's configuration (git 2.54 and later), as a
//! file if there is no hook file, or, only on request, as a block in an existing hook.
//!
//! No state of the hooks is stored. Git's settings and the hooks are read each time, because other tools (husky, lefthook,
//! pre-commit, git-lfs) overwrite, rename and disable hooks.
//!
//! Invariants:
//! - uninstalling leaves every file as it would be without us, even if others have changed it since;
//! - no process is started, and none of git's locks is taken: while git holds `config.lock`, nothing is changed.

mod backup;
mod block;
mod file;
mod git_config;
mod hooks_dir;
mod section;
mod survey;

use std::fs;
use std::path::PathBuf;

use memod_base::paths::{PathError, RepoLayout, canonicalize_path};
use memod_git::{GitError, HookSettings, NamedHook, UserDirs};
use memod_proto::{HooksParams, HooksResult, RpcError, code};

/// The events for which hooks are installed. Other hooks run too often (`post-index-change`) or cost too much
/// (`reference-transaction`).
pub const HOOK_EVENTS: [&str; 5] =
    ["post-commit", "post-checkout", "post-merge", "post-rewrite", "post-applypatch"];

/// The first version of git that runs hooks that are named in its configuration.
const FIRST_GIT_WITH_CONFIG_HOOKS: (u32, u32) = (2, 54);

/// Why hooks cannot be installed, removed or examined.
#[derive(Debug, thiserror::Error)]
pub enum HooksError {
    /// A file cannot be read or changed.
    #[error(transparent)]
    Io(#[from] PathError),
    /// Git's settings cannot be read.
    #[error(transparent)]
    Git(#[from] GitError),
    /// Git is changing its configuration, or was interrupted while doing so.
    #[error("{}: git has locked its configuration, so it was not changed", .0.display())]
    Locked(PathBuf),
    /// The changed configuration would not parse as intended.
    #[error("{}: git would not read a hook section at the end of this file; check the last lines of the file", .0.display())]
    Unreadable(PathBuf),
}

impl From<HooksError> for RpcError {
    fn from(error: HooksError) -> Self {
        let rpc_error = Self::new(code::GIT, error.to_string());
        match error {
            HooksError::Locked(lock) => rpc_error.with_hint(format!(
                "try again; if no git command is running, an interrupted one has left {}, which you can remove",
                lock.display()
            )),
            HooksError::Io(error) => rpc_error.with_hint_if(error.hint()),
            HooksError::Git(error) => rpc_error.with_hint_if(error.hint()),
            HooksError::Unreadable(_) => rpc_error, // the message says what to do
        }
    }
}

/// The hooks of one worktree.
pub struct Hooks<'a> {
    layout: &'a RepoLayout,
    settings: HookSettings,
    /// Git's configuration file in the common dir, with links resolved.
    config: PathBuf,
    /// The directory in which git looks for hooks.
    dir: PathBuf,
    /// The default directory for hooks, in the common dir.
    default_dir: PathBuf,
    /// Why `dir` is changed only on request; `None` if it is the default directory.
    foreign_dir_reason: Option<String>,
    /// The version of git, if known.
    git_version: Option<(u32, u32)>,
    /// Whether git-lfs may be installed later and need its hooks.
    has_git_lfs: bool,
}

impl<'a> Hooks<'a> {
    /// Reads git's settings. Returns `None` outside git, and if the state is outside the repository, where no hook could find the
    /// doorbell file.
    ///
    /// # Errors
    /// When the settings cannot be read.
    pub fn read(
        layout: &'a RepoLayout,
        dirs: &UserDirs,
        params: &HooksParams,
    ) -> Result<Option<Self>, HooksError> {
        let Some(common_dir) = layout.common_dir.as_ref().filter(|_| layout.doorbell_file().is_some()) else {
            return Ok(None);
        };
        let settings = HookSettings::read(layout, dirs, section::HOOK_NAME)?;
        let own_dir = common_dir.join("hooks");
        let is_own = |path: &PathBuf| {
            *path == own_dir
                || canonicalize_path(path)
                    .is_ok_and(|path| canonicalize_path(&own_dir).is_ok_and(|own| own == path))
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
            config: canonicalize_path(&config).unwrap_or(config),
            dir: hooks_path.unwrap_or_else(|| own_dir.clone()),
            default_dir: own_dir,
            foreign_dir_reason: foreign_dir,
            git_version: params.git_version.as_deref().and_then(parse_version),
            has_git_lfs: params.git_lfs,
        }))
    }

    /// Installs hooks by the first possible method. Changes existing hooks, and directories other than the default, only with
    /// `chain`.
    ///
    /// If a hook cannot be installed, the result gives the reason, and the other hooks are still installed.
    ///
    /// # Errors
    /// When git's configuration cannot be read or changed. Nothing was changed then.
    pub fn install(mut self, chain: bool) -> Result<HooksResult, HooksError> {
        let mut done = InstallOutcome::default();
        if self.git_version.is_some_and(|git| git >= FIRST_GIT_WITH_CONFIG_HOOKS)
            && self.install_config(&mut done)?
        {
            self.uninstall_files(&mut done); // otherwise both hooks would notify the daemon
        } else {
            self.install_files(chain, &mut done);
        }
        Ok(self.build_result(&done))
    }

    /// Removes our hooks and blocks, even from files that other tools have renamed.
    ///
    /// # Errors
    /// When git's configuration cannot be read or changed. Nothing was changed then.
    pub fn uninstall(mut self) -> Result<HooksResult, HooksError> {
        let mut done = InstallOutcome::default();
        self.uninstall_config(&mut done)?;
        self.uninstall_files(&mut done);
        Ok(self.build_result(&done))
    }

    /// Reports the installed hooks.
    pub fn status(&self) -> HooksResult {
        self.build_result(&InstallOutcome::default())
    }
}

/// The effect of an installation or removal.
#[derive(Default)]
struct InstallOutcome {
    /// The files that were written or removed.
    changed: Vec<PathBuf>,
    /// The hooks that failed, and why.
    failures: Vec<(&'static str, PathError)>,
}

/// Returns whether a named hook, of any version, appends to our doorbell file.
fn is_our_named_hook(named: &NamedHook) -> bool {
    named.command.as_ref().is_some_and(|command| command.contains("/memo/cookies/doorbell"))
}

/// Parses the major and minor number from `git version 2.54.1.windows.1`, or from only the number.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let number = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = number.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

#[cfg(test)]
mod tests;
