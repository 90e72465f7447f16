//! What is installed in git, and how is it undone?
//!
//! A hook of git's appends a byte to the doorbell of its worktree ([`Place::doorbell_file`]), and that is all. Three
//! ways to have it do so, the first that can be: a named hook of the configuration (git 2.54 and later), a file where
//! none is, a block in somebody else's hook. The last only when it is asked for.
//!
//! Nothing is remembered that the disk does not say: what is in force is read from git's settings and from the hooks
//! each time, because neighbours (husky, lefthook, pre-commit, git-lfs) overwrite, rename and switch off hooks.
//!
//! Invariants:
//! - uninstalling leaves every file as it would be if we had never been there, also when others changed it since;
//! - no process is started, and no lock of git's is taken: while git holds `config.lock` nothing is changed.

pub mod backup;
pub mod block;
pub mod file;
pub mod section;
mod survey;

use std::fs;
use std::path::{Path, PathBuf};

use self::backup::Backups;
use self::block::Text;
use crate::git::{GitError, HookSettings, NamedHook, UserDirs};
use crate::paths::{PathError, Place, canonical};
use crate::proto::{HookMethod, HooksParams, HooksResult};

/// The hooks that ring. Others come too often (`post-index-change`) or cost too much (`reference-transaction`).
pub const EVENTS: [&str; 5] =
    ["post-commit", "post-checkout", "post-merge", "post-rewrite", "post-applypatch"];

/// What lefthook and pre-commit append to the name of a hook that was there before theirs.
const ASIDE: [&str; 2] = ["old", "legacy"];

/// The hooks among ours that git-lfs installs. It refuses to where one is, be it ours: then none of its own are.
const OF_GIT_LFS: [&str; 3] = ["post-commit", "post-checkout", "post-merge"];

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
    place: &'a Place,
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
    pub fn of(place: &'a Place, dirs: &UserDirs, params: &HooksParams) -> Result<Option<Self>, HooksError> {
        let Some(common_dir) = place.common_dir.as_ref().filter(|_| place.doorbell_file().is_some()) else {
            return Ok(None);
        };
        let settings = HookSettings::read(place, dirs, section::NAME)?;
        let own_dir = common_dir.join("hooks");
        let same = |path: &PathBuf| canonical(path).ok() == canonical(&own_dir).ok() || *path == own_dir;
        let hooks_path = settings.hooks_path.clone().filter(|path| !same(path));
        let foreign_dir = match &hooks_path {
            Some(path) => Some(format!("core.hooksPath leads to {}", path.display())),
            None => fs::read_link(&own_dir)
                .ok()
                .map(|to| format!("the hooks directory is a link to {}", to.display())),
        };
        let config = common_dir.join("config");
        Ok(Some(Self {
            place,
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
        let mut changed = Vec::new();
        let mut failures = Vec::new();
        if self.git.is_some_and(|git| git >= CONFIG_SINCE) && self.install_config(&mut changed)? {
            self.uninstall_files(&mut changed, &mut failures); // it would ring twice
        } else {
            for event in EVENTS {
                match self.install_file(event, chain) {
                    Ok(true) => changed.push(self.dir.join(event)),
                    Ok(false) => {}
                    Err(error) => failures.push((event, error)),
                }
            }
        }
        Ok(self.result(&changed, &failures))
    }

    /// Takes out all that is ours, wherever a neighbour moved it.
    ///
    /// # Errors
    /// When git's configuration cannot be changed; nothing was then.
    pub fn uninstall(mut self) -> Result<HooksResult, HooksError> {
        let mut changed = Vec::new();
        let mut failures = Vec::new();
        if let Some((text, left)) = self.config_text()?.and_then(|text| {
            let left = section::remove(&text)?;
            self.is_ours(&text).then_some((text, left))
        }) {
            self.write_config(&text, &left)?;
            self.settings.named = NamedHook::default();
            changed.push(self.config.clone());
        }
        self.uninstall_files(&mut changed, &mut failures);
        Ok(self.result(&changed, &failures))
    }

    /// Tells what is in force.
    pub fn status(&self) -> HooksResult {
        self.result(&[], &[])
    }

    /// Writes our section; false when a hook of that name is somebody else's.
    fn install_config(&mut self, changed: &mut Vec<PathBuf>) -> Result<bool, HooksError> {
        let text = self.config_text()?.unwrap_or_default();
        let named = NamedHook::parse(&text, &self.config, section::NAME)?;
        if named.command.is_some() && !self.is_ours(&text) {
            return Ok(false);
        }
        let without = section::remove(&text).unwrap_or_else(|| text.clone());
        let with = section::insert(&without);
        let written = NamedHook::parse(&with, &self.config, section::NAME)?;
        if !is_current(&written) {
            return Err(HooksError::Unreadable(self.config.clone()));
        }
        if !is_current(&named) {
            self.write_config(&text, &with)?;
            changed.push(self.config.clone());
        }
        self.settings.named = written;
        Ok(true)
    }

    fn config_text(&self) -> Result<Option<Vec<u8>>, PathError> {
        file::read(&self.config)
    }

    fn is_ours(&self, config: &[u8]) -> bool {
        let named = NamedHook::parse(config, &self.config, section::NAME);
        named.is_ok_and(|named| rings(&named))
    }

    fn write_config(&self, before: &[u8], text: &[u8]) -> Result<(), HooksError> {
        if file::is_locked(&self.config) {
            return Err(HooksError::Locked(file::lock_of(&self.config)));
        }
        Ok(file::replace(&self.config, before, text)?)
    }

    /// Returns whether a hook of ours was written.
    fn install_file(&self, event: &str, chain: bool) -> Result<bool, PathError> {
        let path = self.dir.join(event);
        let may_touch = chain || (self.foreign_dir.is_none() && !self.is_left_to_git_lfs(event));
        let backups = Backups::of(self.place);
        match file::read(&path)? {
            None if may_touch => {
                if self.foreign_dir.is_some() {
                    backups.keep(&path, None)?;
                }
                file::create(&path, block::HOOK.as_bytes())?;
            }
            Some(text) => match block::classify(&text) {
                Text::Outdated => file::replace(&path, &text, &renewed(&text))?,
                Text::Shell if chain && file::is_executable(&path) && !self.rings(event) => {
                    backups.keep(&path, Some(&text))?;
                    file::replace(&path, &text, &block::insert(&text))?;
                }
                _ => return Ok(false),
            },
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Returns whether git-lfs could not be installed any more if a file of ours were there.
    fn is_left_to_git_lfs(&self, event: &str) -> bool {
        self.git_lfs && OF_GIT_LFS.contains(&event)
    }

    /// Returns whether a hook rings already, wherever a neighbour put ours.
    fn rings(&self, event: &str) -> bool {
        self.look(event, &[]).method > HookMethod::WatchOnly
    }

    fn uninstall_files(&self, changed: &mut Vec<PathBuf>, failures: &mut Vec<(&str, PathError)>) {
        let backups = Backups::of(self.place);
        for path in self.files() {
            let event = EVENTS.into_iter().find(|event| path.file_stem().is_some_and(|stem| stem == *event));
            match uninstall_file(&path) {
                Ok(true) => changed.push(path.clone()),
                Ok(false) => {}
                Err(error) => {
                    failures.push((event.unwrap_or_default(), error));
                    continue;
                }
            }
            backups.forget(&path);
        }
    }

    /// Returns every path where something of ours may be.
    fn files(&self) -> Vec<PathBuf> {
        let mut dirs = vec![self.own_dir.clone(), self.dir.clone()];
        dirs.extend(
            Backups::of(self.place).hooks().iter().filter_map(|hook| Some(hook.parent()?.to_owned())),
        );
        dirs.sort();
        dirs.dedup();
        let names = EVENTS.into_iter().flat_map(names);
        let names: Vec<String> = names.collect();
        dirs.iter().flat_map(|dir| names.iter().map(|name| dir.join(name))).collect()
    }
}

/// Returns the names a hook may have by now.
fn names(event: &str) -> impl Iterator<Item = String> {
    [event.to_owned()].into_iter().chain(ASIDE.map(|aside| format!("{event}.{aside}")))
}

/// Returns whether something of ours was in it.
fn uninstall_file(path: &Path) -> Result<bool, PathError> {
    if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        return Ok(false); // we never write through a link
    }
    let Some(text) = file::read(path)? else { return Ok(false) };
    match block::remove(&text) {
        Some(left) if block::is_bare(&left) => file::remove(path)?,
        Some(left) => file::replace(path, &text, &left)?,
        None => return Ok(false),
    }
    Ok(true)
}

/// Returns a hook with our block as this version writes it.
fn renewed(text: &[u8]) -> Vec<u8> {
    match block::remove(text) {
        Some(left) if block::is_bare(&left) => block::HOOK.as_bytes().to_owned(),
        Some(left) => block::insert(&left),
        None => text.to_owned(),
    }
}

/// Returns whether a named hook rings our doorbell, be it of this version or another.
fn rings(named: &NamedHook) -> bool {
    named.command.as_ref().is_some_and(|command| command.contains("/memo/cookies/doorbell"))
}

fn is_current(named: &NamedHook) -> bool {
    named.command == Some(block::one_line()) && named.events == EVENTS && named.enabled
}

/// Reads `git version 2.54.1.windows.1`, or the number alone.
fn version(text: &str) -> Option<(u32, u32)> {
    let number = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = number.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

#[cfg(test)]
mod tests;
