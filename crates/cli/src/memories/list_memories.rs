//! Runs the verbs that show, list and count memories.

use std::collections::HashSet;
use std::time::Duration;

use memod_client::Client;
use memod_proto::memory::{
    HistoryResult, IdsParams, ListParams, MemoriesResult, Memory, MemorySort, Selection, StatsResult,
    TallyParams, TallyResult,
};
use memod_terminal::text::format_count;
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use super::print_memories;
use super::request::new_caller;
use super::unknown_filters::explain_unknown_filters;
use crate::args::{GetArgs, HistoryArgs, ListArgs};

/// Page size of `--all`.
const PAGE_SIZE: u64 = 500;

/// Number of memories that a page has in common with the page before it.
const PAGE_OVERLAP: u64 = 50;

/// Most times that all pages are fetched. Without a limit, fetching might never end, because memories may change all the time.
const MOST_ROUNDS: u32 = 5;

/// Candidates for completion, each with a description.
pub(crate) type CompletionWords = Vec<(String, String)>;

pub(crate) fn get_memories(typed: GetArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = IdsParams { caller: new_caller(context), ids: typed.ids.ids };
    let result: MemoriesResult = context.connect()?.call("memory.get", &params)?;
    let dir = context.caller_dir();
    output
        .write_list(&result, |output| print_memories::print_full_memories(&result.memories, &dir, output))?;
    output.write_caveats(&result.caveats);
    Ok(0)
}

/// Lists the memories that match a filter. Exits with 1 when there are none.
pub(crate) fn list_memories(typed: ListArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let (is_all, offset) = (typed.all, typed.offset);
    let params = ListParams {
        caller: new_caller(context),
        selection: typed.filter.into_selection(Vec::new()),
        archived: typed.archived,
        state: typed.state,
        about: typed.about,
        sort: typed.sort.into(),
        limit: Some(if is_all { PAGE_SIZE } else { typed.limit }),
        offset,
    };
    let is_by_change = params.sort == MemorySort::Updated;
    let Selection { container, tags, .. } = params.selection.clone();
    let is_living = !params.archived;
    let result = fetch_pages(&mut context.connect()?, params, is_all)?;
    output.write_list(&result, |output| match is_by_change {
        true => print_memories::print_lines_with_change_time(&result.memories, output),
        false => print_memories::print_memory_lines(&result.memories, output),
    })?;
    if !output.write_json {
        output.flush()?;
        let end = offset + result.memories.len() as u64;
        if result.total == 0 {
            output.write_note("no such memories");
            if is_living {
                explain_unknown_filters(container.as_deref(), &tags, context, output);
            }
        } else if end < result.total {
            output.write_note(&format!(
                "{end} of {}; --offset {end} shows the next, --all shows all",
                result.total
            ));
        }
    }
    output.write_caveats(&result.caveats);
    Ok(if result.memories.is_empty() { EXIT_NOTHING_FOUND } else { 0 })
}

/// Fetches a page of memories, or with `is_all` every memory from `params.offset` on.
///
/// If a memory is removed meanwhile, the later memories move forward. Therefore pages overlap, and a page that begins with an
/// unknown memory is fetched again from further back.
pub(super) fn fetch_pages(
    client: &mut Client,
    mut params: ListParams,
    is_all: bool,
) -> Result<MemoriesResult, CliError> {
    let first = params.offset;
    let mut result: MemoriesResult = client.call("memory.list", &params)?;
    let mut known: HashSet<_> = result.memories.iter().map(memory_key).collect();
    let (mut end, mut overlap, mut n_rounds) = (first + result.memories.len() as u64, PAGE_OVERLAP, 1);
    while is_all && !known.is_empty() {
        if end >= result.total {
            // Memories are missing if changed ones moved to pages that were fetched before: fetch all pages again.
            if first + known.len() as u64 >= result.total || n_rounds == MOST_ROUNDS {
                break;
            }
            (end, n_rounds) = (first, n_rounds + 1);
        }
        params.offset = end.saturating_sub(overlap).max(first);
        let next: MemoriesResult = client.call("memory.list", &params)?;
        result.total = next.total;
        let joins = next.memories.first().is_none_or(|memory| known.contains(&memory_key(memory)));
        if params.offset > first && !joins {
            overlap *= 4;
            continue;
        }
        (end, overlap) = (params.offset + next.memories.len() as u64, PAGE_OVERLAP);
        result.memories.extend(next.memories.into_iter().filter(|memory| known.insert(memory_key(memory))));
        result.caveats.add_caveats(next.caveats);
    }
    result.total = result.total.max(first + result.memories.len() as u64);
    Ok(result)
}

/// Returns the id and the side of a memory, which together identify it: both sides of a conflict have the same id.
fn memory_key(memory: &Memory) -> (String, Option<String>) {
    (memory.id.clone(), memory.conflict.clone())
}

/// Returns the ids of the newest memories, each with its title or text.
///
/// # Errors
/// When no daemon runs, or the daemon does not answer within `patience`.
pub(crate) fn fetch_newest_titles(
    context: &CommandContext,
    archived: bool,
    patience: Duration,
) -> Result<CompletionWords, CliError> {
    let params =
        ListParams { caller: new_caller(context), archived, limit: Some(200), ..ListParams::default() };
    let result: MemoriesResult = context.connect_running_within(patience)?.call("memory.list", &params)?;
    let pairs = result.memories.into_iter().map(|memory| (memory.id, memory.title.unwrap_or(memory.content)));
    Ok(pairs.collect())
}

/// Returns tags or containers with their counts of memories. `method` is the method of the daemon that counts them.
///
/// # Errors
/// When no daemon runs, or the daemon does not answer within `patience`.
pub(crate) fn fetch_name_counts(
    method: &str,
    context: &CommandContext,
    patience: Duration,
) -> Result<CompletionWords, CliError> {
    let params = TallyParams { caller: new_caller(context) };
    let result: TallyResult = context.connect_running_within(patience)?.call(method, &params)?;
    let pairs = result
        .names
        .into_iter()
        .map(|tally| (tally.name, format_count(tally.memories, "memory", "memories")));
    Ok(pairs.collect())
}

pub(crate) fn list_tags(context: &CommandContext, output: &mut Output) -> CliResult {
    list_name_counts("memory.tags", context, output)
}

pub(crate) fn list_containers(context: &CommandContext, output: &mut Output) -> CliResult {
    list_name_counts("memory.containers", context, output)
}

/// Lists tags or containers with their counts. Exits with 1 when there are none.
fn list_name_counts(method: &str, context: &CommandContext, output: &mut Output) -> CliResult {
    let result: TallyResult =
        context.connect()?.call(method, &TallyParams { caller: new_caller(context) })?;
    output.write_list(&result, |output| print_memories::print_tallies(&result.names, output))?;
    output.write_caveats(&result.caveats);
    Ok(if result.names.is_empty() { EXIT_NOTHING_FOUND } else { 0 })
}

pub(crate) fn show_history(typed: HistoryArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = IdsParams { caller: new_caller(context), ids: vec![typed.id] };
    let result: HistoryResult = context.connect()?.call("memory.history", &params)?;
    output.write_list(&result, |output| print_memories::print_history(&result, output))?;
    output.write_caveats(&result.caveats);
    Ok(0)
}

pub(crate) fn show_stats(context: &CommandContext, output: &mut Output) -> CliResult {
    let result: StatsResult =
        context.connect()?.call("memory.stats", &TallyParams { caller: new_caller(context) })?;
    output.write_result(&result, |output| print_memories::print_stats(&result, output))?;
    output.write_caveats(&result.caveats);
    Ok(0)
}
