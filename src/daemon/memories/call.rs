//! Maps the name of each memory method to its function.

use std::sync::Arc;

use memod_engine::errors::RpcResult;
use memod_proto::Method;
use serde_json::Value;

use super::near::related;
use super::states::{list, with_states};
use super::transaction::{Call, add_notice};
use super::{
    add, backups, confirm, consolidate, databases, dedupe, exchanged_files, export, import, links, merge,
    queries, recall, remove, resolve_file, sharing, update,
};
use crate::daemon::request::error::no_method;
use crate::daemon::shared::Shared;

/// Runs one method whose name begins with `memory.`.
pub(in crate::daemon) async fn call(shared: &Arc<Shared>, method: &str, params: Value) -> RpcResult<Value> {
    let call = &Call::new(shared, method, params).await?;
    let answer = match method {
        "memory.add" => add::add(call).await,
        "memory.update" => update::update(call).await,
        "memory.confirm" => confirm::confirm(call).await,
        "memory.merge" => call.write(merge::merge).await,
        "memory.dedupe" => dedupe::dedupe(call).await,
        "memory.related" => related(call).await,
        "memory.consolidate" => call.write(consolidate::consolidate).await,
        "memory.auto_consolidate" => call.write_or_rehearse(consolidate::auto).await,
        "memory.forget" => call.write_or_rehearse(remove::forget).await,
        "memory.restore" => call.write(remove::restore).await,
        "memory.purge" => call.write_or_rehearse(remove::purge).await,
        "memory.reset" => remove::reset(call).await,
        "memory.link" => call.write(links::link).await,
        "memory.unlink" => call.write(links::unlink).await,
        "memory.resolve" => call.write(links::resolve).await,
        "memory.links" => call.read(links::links).await,
        "memory.share" => sharing::share(call).await,
        "memory.resolve_file" => resolve_file::resolve(call).await,
        "memory.check_files" => call.read(exchanged_files::check).await,
        "memory.restore_file" => call.write(exchanged_files::restore).await,
        "memory.unshare" => sharing::unshare(call).await,
        "memory.recall" => recall::recall(call).await,
        "memory.promote" => call.write(recall::promote).await,
        "memory.get" => call.read(queries::get).await,
        "memory.list" => list(call).await,
        "memory.history" => call.read(queries::history).await,
        "memory.tags" => call.read(queries::tags).await,
        "memory.containers" => call.read(queries::containers).await,
        "memory.stats" => queries::stats(call).await,
        "memory.import" => import::import(call).await,
        "memory.import_markdown" => import::markdown(call).await,
        "memory.import_keys" => call.read(import::keys).await,
        "memory.read_database" => databases::page(call).await,
        "memory.backup" => backups::back_up(call).await,
        "memory.restore_backup" => backups::restore(call).await,
        // It concerns all memories, not this worktree.
        "memory.export" => return export::export(call).await,
        _ => Err(no_method(method)),
    };
    let mut answer = with_states(call, answer?).await;
    if let Some(note) =
        shared.team.note().filter(|_| Method::find(method).is_some_and(|method| method.shows_team))
    {
        add_notice(&mut answer, &note);
    }
    Ok(answer)
}
