//! Reads git repositories, with gix and never by running git.
//!
//! The crate uses gix's parts (index, ignore patterns, configuration, objects) instead of a `gix::Repository`. So a batch of
//! events costs one read of the index, the `GIT_*` variables of a hook have no effect, and settings that could start a
//! process (fsmonitor, filters, textconv, aliases) are never read.
//!
//! Invariant: nothing here writes, takes one of git's locks, or starts a process.
//!
//! `objects` reads commits, trees and blobs, and `refs` resolves names to commits. `commits` follows history from there.
//! `settings` reads git's configuration, by which `worktree_files` finds out how git treats the files of a worktree.

mod commits;
mod git_error;
mod objects;
mod refs;
mod replies;
mod settings;
mod special;
mod worktree_files;

pub use commits::blame::{Blame, LineMove};
pub use commits::changes::{PathChange, TreeChanges};
pub use commits::line_map::{MIN_SIMILARITY_PERCENT, similarity_percent};
pub use commits::log::{PathCommit, PathLog};
pub use commits::range::CommitRange;
pub use commits::walk::CommitWalk;
pub use git_error::GitError;
pub use gix::ObjectId;
pub use gix::hash::Kind as ObjectHash;
pub use gix::objs::tree::EntryKind;
pub use objects::blob::{blob_id, read_blob};
pub use objects::{Commit, CommitNode, Objects, TreeEntry};
pub use refs::head::read_head;
pub use refs::revision::RevisionError;
pub use refs::{Refs, Tip};
pub use settings::hook_settings::{HookSettings, NamedHook};
pub use settings::identity::{Identity, read_identity};
pub use settings::user_rules::UserFilesSnapshot;
pub use settings::{Settings, UserDirs, list_exclude_files};
pub use worktree_files::attributes::{
    AttributeFile, Attributes, Conversion, OutsideAttributes, is_lfs_pointer_to,
};
pub use worktree_files::nested::is_repository;
pub use worktree_files::patterns::IgnorePatterns;
pub use worktree_files::tracked::{GitIndex, TrackedAs, UnmergedPath};
