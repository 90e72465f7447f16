//! Finds the command that undoes the newest change of the memories, for users who type `memo undo`, which is not a verb.

use std::time::Duration;

use memod_client::Client;
use memod_proto::memory::{Caller, ListParams, MemoriesResult, Memory, MemorySort, Selection};
use memod_terminal::CommandContext;

/// Time limit for the daemon's answer, because the hint is not worth a longer wait.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// The hint if the newest change is not known, because no daemon runs or nothing was changed.
const GENERAL_HINT: &str = "memo restore brings back a forgotten memory, memo forget archives an added one";

/// Returns a hint with the command that undoes the newest change, or a general hint if no daemon runs or nothing was changed.
pub(crate) fn find_undo_hint(context: Option<&CommandContext>) -> String {
    context.and_then(hint_for_newest_change).unwrap_or_else(|| GENERAL_HINT.to_owned())
}

fn hint_for_newest_change(context: &CommandContext) -> Option<String> {
    let mut client = context.connect_running_within(ANSWER_TIMEOUT).ok()?;
    let changed = list_memories(
        &mut client,
        context,
        ListParams { sort: MemorySort::Updated, limit: Some(1), ..ListParams::default() },
    )?;
    let changed = changed.into_iter().next();
    let since = changed.as_ref().map(|memory| memory.updated.clone());
    let selection = Selection { since, ..Selection::default() };
    let archived = list_memories(
        &mut client,
        context,
        ListParams { archived: true, selection, ..ListParams::default() },
    )?;
    let archived = archived.into_iter().max_by(|a, b| a.archived_at.cmp(&b.archived_at));
    let memo = &context.memo_command;
    match (changed, archived) {
        (_, Some(archived)) => (archived.archived_why.as_deref() == Some("forgotten"))
            .then(|| format!("{memo} restore {} brings the memory back", archived.id)),
        (Some(added), None) => (added.created == added.updated)
            .then(|| format!("{memo} forget {} takes back the newest memory", added.id)),
        (None, None) => None,
    }
}

fn list_memories(client: &mut Client, context: &CommandContext, params: ListParams) -> Option<Vec<Memory>> {
    let caller = Caller { cwd: context.cwd.clone(), client: context.client.to_owned(), ..Caller::default() };
    let result: MemoriesResult = client.call("memory.list", &ListParams { caller, ..params }).ok()?;
    Some(result.memories)
}
