//! Says what takes back the newest change of the memories, for `memo undo`, which is no verb.

use std::time::Duration;

use memod_client::Client;
use memod_proto::memory::{Caller, ListParams, MemoriesResult, Memory, Selection, Sort};

use super::context::CommandContext;

/// Time limit for the daemon: nobody asked it anything.
const PATIENCE: Duration = Duration::from_secs(1);

/// What to do where the newest change is not known: no daemon runs, or there is none.
const BOTH: &str = "memo restore brings back what was forgotten, memo forget takes back what was added";

/// Returns the command that takes back the newest change, as far as a daemon that runs already knows it.
pub(super) fn undo_hint(context: Option<&CommandContext>) -> String {
    context.and_then(of_newest).unwrap_or_else(|| BOTH.to_owned())
}

fn of_newest(context: &CommandContext) -> Option<String> {
    let mut client = context.connect_running_within(PATIENCE).ok()?;
    let mut list = |params: ListParams| list(&mut client, context, params);
    let changed = list(ListParams { sort: Sort::Updated, limit: Some(1), ..ListParams::default() })?;
    let changed = changed.into_iter().next();
    let since = changed.as_ref().map(|memory| memory.updated.clone());
    let selection = Selection { since, ..Selection::default() };
    let archived = list(ListParams { archived: true, selection, ..ListParams::default() })?;
    let archived = archived.into_iter().max_by(|a, b| a.archived_at.cmp(&b.archived_at));
    let memo = &context.memo;
    match (changed, archived) {
        (_, Some(archived)) => (archived.archived_why.as_deref() == Some("forgotten"))
            .then(|| format!("{memo} restore {} brings back what was forgotten", archived.id)),
        (Some(added), None) => (added.created == added.updated)
            .then(|| format!("{memo} forget {} takes back the newest memory", added.id)),
        (None, None) => None,
    }
}

fn list(client: &mut Client, context: &CommandContext, params: ListParams) -> Option<Vec<Memory>> {
    let caller = Caller { cwd: context.cwd.clone(), client: context.client.to_owned(), ..Caller::default() };
    let result: MemoriesResult = client.call("memory.list", &ListParams { caller, ..params }).ok()?;
    Some(result.memories)
}
