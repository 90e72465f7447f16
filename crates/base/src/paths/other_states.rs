//! Finds state dirs of a repository other than the one in use.
//!
//! The state dir is inside the repository if the repository is writable, and otherwise in the user's state directory. If the
//! repository is moved, or becomes writable or read-only, its earlier state is in another directory.

use std::fs;
use std::path::{Path, PathBuf};

use super::locate::{list_state_dirs_of_plain_dir, requested_dirs_outside_git};
use super::state_owner::{
    OWNER_FILE, StateOwner, belongs_to_other_repository, dir_identity, read_state_owner,
};
use super::{Env, IoContext, PLAIN_STATE_DIR, PathError, RepoLayout, STATE_DIR};

/// A directory other than the state dir in use that may have state of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherStateDir {
    /// The state dir, which need not exist.
    pub dir: PathBuf,
    /// The directory to which the paths in this state are relative, itself relative to the top of the worktree; empty for the top.
    pub dir_in_worktree: PathBuf,
}

/// Part of the notice that the memories of another state dir are not in this one; `memo uninstall` recognizes the notice by it.
pub const NOT_MERGED_NOTICE: &str = "cannot be taken over";

impl RepoLayout {
    /// Returns the directories other than the state dir in use that may have state of this repository. They may not exist.
    pub fn other_state_dirs(&self, env: &Env) -> Vec<OtherStateDir> {
        let homes = env.state_home().join("memod");
        let of_path = homes.join(&self.id);
        let mut dirs = vec![self.state_dir_in_repository()];
        dirs.extend(
            (!belongs_to_other_repository(&of_path, self.common_dir_or_root())).then(|| of_path.clone()),
        );
        dirs.extend(self.find_former_state_dirs(&homes).filter(|dir| *dir != of_path));
        dirs.retain(|dir| *dir != self.state_dir);
        let mut states: Vec<OtherStateDir> =
            dirs.into_iter().map(|dir| OtherStateDir { dir, dir_in_worktree: PathBuf::new() }).collect();
        if self.git_dir.is_some() {
            states.extend(
                requested_dirs_outside_git(env)
                    .into_iter()
                    .flat_map(|root| self.find_states_before_git(&root, env)),
            );
        }
        states
    }

    /// Returns the state dirs that the directory `root` had before `git init` in it or in a directory around it; none if `root` is
    /// not in this repository.
    fn find_states_before_git(&self, root: &Path, env: &Env) -> Vec<OtherStateDir> {
        let around = Self::locate(root, env).ok().filter(|around| around.id == self.id);
        let below = around.and_then(|around| Some(root.strip_prefix(&around.root).ok()?.to_owned()));
        let Some(below) = below else { return Vec::new() };
        let dirs = list_state_dirs_of_plain_dir(root, env).into_iter();
        dirs.map(|dir| OtherStateDir { dir, dir_in_worktree: below.clone() }).collect()
    }

    /// Returns the state dirs in the user's state directory that the repository had while it was at other paths.
    fn find_former_state_dirs(&self, homes: &Path) -> impl Iterator<Item = PathBuf> {
        let ours = dir_identity(self.common_dir_or_root());
        let dirs = fs::read_dir(homes).into_iter().flatten().flatten().map(|entry| entry.path());
        dirs.filter(move |dir| {
            // A copy of the repository has another inode, so an equal identity means that the repository was moved.
            read_state_owner(dir).is_some_and(|owner| owner.identity.is_some() && owner.identity == ours)
        })
    }

    /// Writes the path and identity of the repository into its state dir, if that is outside the repository.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn write_state_owner(&self) -> Result<(), PathError> {
        if self.state_dir == self.state_dir_in_repository() {
            return Ok(());
        }
        let file = self.state_dir.join(OWNER_FILE);
        let owner = StateOwner {
            path: self.common_dir_or_root().to_owned(),
            identity: dir_identity(self.common_dir_or_root()),
        };
        let json = serde_json::to_vec(&owner).expect("plain strings and numbers serialize");
        if fs::read(&file).is_ok_and(|known| known == json) {
            return Ok(());
        }
        fs::write(&file, json).at("write", &file)
    }

    /// Returns the state dir inside the repository, or inside the directory outside git.
    pub(super) fn state_dir_in_repository(&self) -> PathBuf {
        match &self.common_dir {
            Some(common_dir) => common_dir.join(STATE_DIR),
            None => self.root.join(PLAIN_STATE_DIR),
        }
    }

    /// Returns the common dir, or the top directory outside git.
    fn common_dir_or_root(&self) -> &Path {
        self.common_dir.as_ref().unwrap_or(&self.root)
    }
}
