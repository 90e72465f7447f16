//! Runs the verbs about memories.

mod change_memories;
mod consolidate_memories;
mod link_memories;
mod list_memories;
mod notes_git;
mod print_anchors;
mod print_memories;
mod recall_memories;
mod remove_memories;
mod request;
mod share_files;
mod similar_memories;
mod sync_notes;
pub(crate) mod team;
mod unknown_filters;

pub(super) use change_memories::{
    add_memory, append_to_memory, restore_memories, tag_memory, untag_memory, update_memory,
};
pub(super) use consolidate_memories::consolidate_memories;
pub(super) use link_memories::{link_memories, list_links, resolve_memories, unlink_memories};
pub(super) use list_memories::{
    CompletionWords, fetch_name_counts, fetch_newest_titles, get_memories, list_containers, list_memories,
    list_tags, show_history, show_stats,
};
pub(super) use print_anchors::confirm_memory;
pub(super) use recall_memories::{promote_memory, recall_memories};
pub(super) use remove_memories::{CONFIRM_REMOVAL_HINT, forget_memories, purge_memories, reset_memories};
pub(super) use request::new_caller;
pub(super) use share_files::{share_memories, unshare_memories};
pub(super) use similar_memories::{dedupe_memories, list_related_memories};
pub(super) use sync_notes::sync_notes;
pub(super) use unknown_filters::explain_unknown_filters;
