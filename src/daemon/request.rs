//! Holds the context of a request, and what every method needs: its worktree, a fresh snapshot, threads, caveats and errors.

pub(super) mod caveats;
pub(super) mod commit_history;
pub(super) mod fresh_snapshot;
pub(super) mod linked_paths;
pub(super) mod llm_settings;
pub(super) mod path_spec;
pub(super) mod reader_threads;
pub(super) mod request_context;
pub(super) mod request_errors;
pub(super) mod request_params;
pub(super) mod sparse_index;
pub(super) mod sparse_paths;
pub(super) mod worktree_location;
pub(super) mod worktree_memories;
