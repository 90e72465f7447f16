//! Adds our hooks to a hooks directory, and removes them.

use std::fs;
use std::path::{Path, PathBuf};

use memod_base::paths::PathError;
use memod_proto::HookMethod;

use super::backup::HookBackups;
use super::block::{self, HookKind};
use super::{HOOK_EVENTS, Hooks, InstallOutcome, file};

/// Suffixes that lefthook and pre-commit append to the names of hooks that existed before theirs.
pub(super) const RENAMED_SUFFIXES: [&str; 2] = ["old", "legacy"];

/// The events for which git-lfs installs a hook, as we do. Git-lfs installs nothing if another hook exists for one of them.
const GIT_LFS_EVENTS: [&str; 3] = ["post-commit", "post-checkout", "post-merge"];

impl Hooks<'_> {
    /// Installs a hook file for each event.
    pub(super) fn install_files(&self, chain: bool, done: &mut InstallOutcome) {
        for event in HOOK_EVENTS {
            match self.install_file(event, chain) {
                Ok(true) => done.changed.push(self.dir.join(event)),
                Ok(false) => {}
                Err(error) => done.failures.push((event, error)),
            }
        }
    }

    /// Installs a hook file, or our block in an existing hook; returns whether a file was written.
    fn install_file(&self, event: &str, chain: bool) -> Result<bool, PathError> {
        let path = self.dir.join(event);
        let may_touch = chain || (self.foreign_dir_reason.is_none() && !self.is_left_to_git_lfs(event));
        let backups = HookBackups::new(self.layout);
        match file::read_if_exists(&path)? {
            None if may_touch => {
                if self.foreign_dir_reason.is_some() {
                    backups.store_original(&path, None)?;
                }
                file::create_executable(&path, block::HOOK.as_bytes())?;
            }
            Some(text) => match block::classify_hook(&text) {
                HookKind::Outdated => file::replace_text(&path, &text, &renew_block(&text))?,
                HookKind::Shell if chain && file::is_executable(&path) && !self.notifies_daemon(event) => {
                    backups.store_original(&path, Some(&text))?;
                    file::replace_text(&path, &text, &block::insert_block(&text))?;
                }
                _ => return Ok(false),
            },
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Returns whether the hook of an event is left to git-lfs, because our file would prevent the installation of git-lfs.
    pub(super) fn is_left_to_git_lfs(&self, event: &str) -> bool {
        self.has_git_lfs && GIT_LFS_EVENTS.contains(&event)
    }

    /// Returns whether the hook of an event already notifies the daemon, even if another tool has renamed our hook.
    fn notifies_daemon(&self, event: &str) -> bool {
        self.inspect_hook(event, &InstallOutcome::default()).method > HookMethod::WatchOnly
    }

    /// Removes our hook files, and our blocks from other hooks.
    pub(super) fn uninstall_files(&self, done: &mut InstallOutcome) {
        let backups = HookBackups::new(self.layout);
        for (event, path) in self.possible_hook_files(&backups) {
            match uninstall_file(&path) {
                Err(error) => done.failures.push((event, error)),
                Ok(was_there) => {
                    backups.remove_backup(&path);
                    done.changed.extend(was_there.then_some(path));
                }
            }
        }
    }

    /// Returns every path at which memod may have written a hook, with the event of the hook.
    fn possible_hook_files(&self, backups: &HookBackups) -> Vec<(&'static str, PathBuf)> {
        let on_record =
            backups.recorded_hooks().into_iter().filter_map(|hook| Some(hook.parent()?.to_owned()));
        let mut dirs: Vec<_> = on_record.chain([self.default_dir.clone(), self.dir.clone()]).collect();
        dirs.sort();
        dirs.dedup();
        dirs.iter()
            .flat_map(|dir| {
                HOOK_EVENTS.map(|event| possible_paths_of_hook(dir, event).map(move |path| (event, path)))
            })
            .flatten()
            .collect()
    }
}

/// Returns the path of a hook, and the paths to which other tools rename a hook.
fn possible_paths_of_hook(dir: &Path, event: &str) -> impl Iterator<Item = PathBuf> + use<> {
    let hook = dir.join(event);
    let aside = RENAMED_SUFFIXES.map(|aside| hook.with_added_extension(aside));
    [hook].into_iter().chain(aside)
}

/// Removes our hook or block from a file; returns whether there was one.
fn uninstall_file(path: &Path) -> Result<bool, PathError> {
    if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        return Ok(false); // we never write through a link
    }
    let Some(text) = file::read_if_exists(path)? else { return Ok(false) };
    match block::remove_block(&text) {
        Some(left) if block::is_own_hook_without_block(&left) => file::remove_file(path)?,
        Some(left) => file::replace_text(path, &text, &left)?,
        None => return Ok(false),
    }
    Ok(true)
}

/// Returns the text of a hook with its block replaced by the block of this version.
fn renew_block(text: &[u8]) -> Vec<u8> {
    match block::remove_block(text) {
        Some(left) if block::is_own_hook_without_block(&left) => block::HOOK.as_bytes().to_owned(),
        Some(left) => block::insert_block(&left),
        None => text.to_owned(),
    }
}
