//! Maps the name of each memory method to the function that answers it.

use std::sync::Arc;

use memod_engine::errors::RpcResult;
use memod_proto::Method;
use serde_json::Value;

use crate::daemon::memories::about_code::anchor_states::{add_states, list_memories};
use crate::daemon::memories::about_code::confirm_memory;
use crate::daemon::memories::calls::method_call::{MethodCall, add_notice};
use crate::daemon::memories::conflicts::resolve_file;
use crate::daemon::memories::finding::dedupe;
use crate::daemon::memories::finding::near_memories::list_related;
use crate::daemon::memories::finding::queries;
use crate::daemon::memories::import_export::export_memories;
use crate::daemon::memories::import_export::foreign_databases;
use crate::daemon::memories::import_export::import_drafts;
use crate::daemon::memories::import_export::memory_backups;
use crate::daemon::memories::memory_files::exchanged_files;
use crate::daemon::memories::verbs::add_memory;
use crate::daemon::memories::verbs::consolidate_memories;
use crate::daemon::memories::verbs::link_memories;
use crate::daemon::memories::verbs::merge_memories;
use crate::daemon::memories::verbs::recall_memories;
use crate::daemon::memories::verbs::remove_memories;
use crate::daemon::memories::verbs::share_memories;
use crate::daemon::memories::verbs::update_memory;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::request_errors::unknown_method_error;

/// Runs one method whose name begins with `memory.`, and returns its answer.
pub(in crate::daemon) async fn call_method(
    request: &Arc<RequestContext>,
    method: &str,
    params: Value,
) -> RpcResult<Value> {
    let call = &MethodCall::new(request, method, params).await?;
    let answer = match method {
        "memory.add" => add_memory::add_memory(call).await,
        "memory.update" => update_memory::update_memory(call).await,
        "memory.confirm" => confirm_memory::confirm_memory(call).await,
        "memory.merge" => call.write(merge_memories::merge_memories).await,
        "memory.dedupe" => dedupe::propose_merges(call).await,
        "memory.related" => list_related(call).await,
        "memory.consolidate" => call.write(consolidate_memories::consolidate_named).await,
        "memory.auto_consolidate" => call.write_or_dry_run(consolidate_memories::consolidate_by_tag).await,
        "memory.forget" => call.write_or_dry_run(remove_memories::forget_memories).await,
        "memory.restore" => call.write(remove_memories::restore_memories).await,
        "memory.purge" => call.write_or_dry_run(remove_memories::purge_memories).await,
        "memory.reset" => remove_memories::reset_memories(call).await,
        "memory.link" => call.write(link_memories::link_memories).await,
        "memory.unlink" => call.write(link_memories::unlink_memories).await,
        "memory.resolve" => call.write(link_memories::resolve_contradiction).await,
        "memory.links" => call.read(link_memories::follow_links).await,
        "memory.share" => share_memories::share_memories(call).await,
        "memory.resolve_file" => resolve_file::resolve_conflict(call).await,
        "memory.check_files" => call.read(exchanged_files::check_exchanged_files).await,
        "memory.restore_file" => call.write(exchanged_files::restore_file).await,
        "memory.unshare" => share_memories::unshare_memories(call).await,
        "memory.recall" => recall_memories::recall_memories(call).await,
        "memory.promote" => call.write(recall_memories::promote_memory).await,
        "memory.get" => call.read(queries::get_memories).await,
        "memory.list" => list_memories(call).await,
        "memory.history" => call.read(queries::read_history).await,
        "memory.tags" => call.read(queries::list_tags).await,
        "memory.containers" => call.read(queries::list_containers).await,
        "memory.stats" => queries::read_stats(call).await,
        "memory.import" => import_drafts::import_drafts(call).await,
        "memory.import_markdown" => import_drafts::import_markdown(call).await,
        "memory.import_keys" => call.read(import_drafts::list_keys).await,
        "memory.read_database" => foreign_databases::read_page(call).await,
        "memory.backup" => memory_backups::back_up(call).await,
        "memory.restore_backup" => memory_backups::restore_backup(call).await,
        // An export covers the memories of all worktrees, so it gets no anchor states of this worktree.
        "memory.export" => return export_memories::export_memories(call).await,
        _ => Err(unknown_method_error(method)),
    };
    let mut answer = add_states(call, answer?).await;
    let shows_team = Method::find_method(method).is_some_and(|method| method.shows_team);
    if let Some(note) = request.shared.team.stale_notice().filter(|_| shows_team) {
        add_notice(&mut answer, &note);
    }
    Ok(answer)
}
