//! Runs the verbs that show, list and count memories.

use std::collections::HashSet;
use std::time::Duration;

use memod_client::Client;
use memod_proto::memory::{
    HistoryResult, IdsParams, ListParams, MemoriesResult, Memory, StatsResult, TallyParams, TallyResult,
};

use super::request::caller;
use super::show;
use crate::args::{GetArgs, HistoryArgs, ListArgs};
use crate::context::CommandContext;
use crate::error::{CliError, CliResult, EXIT_NONE};
use crate::output::Output;
use crate::text::count;

/// Page size of `--all`.
const PAGE: u64 = 500;

/// Number of memories that a page repeats of the one before.
const OVERLAP: u64 = 50;

/// Most times that all pages are asked for: memories may change all the time.
const MOST_ROUNDS: u32 = 5;

/// Words to complete, each with a description.
pub(crate) type Words = Vec<(String, String)>;

pub(crate) fn get(typed: GetArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = IdsParams { caller: caller(context), ids: typed.ids.ids };
    let result: MemoriesResult = context.connect()?.call("memory.get", &params)?;
    let dir = context.dir();
    output.list(&result, |output| show::wholes(&result.memories, &dir, output))?;
    output.say_caveats(&result.caveats);
    Ok(0)
}

/// Exits with 1 when there are none.
pub(crate) fn list(typed: ListArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let (is_all, offset) = (typed.all, typed.offset);
    let params = ListParams {
        caller: caller(context),
        selection: typed.filter.with_ids(Vec::new()),
        archived: typed.archived,
        state: typed.state,
        about: typed.about,
        sort: typed.sort.into(),
        limit: Some(if is_all { PAGE } else { typed.limit }),
        offset,
    };
    let result = fetch_pages(&mut context.connect()?, params, is_all)?;
    output.list(&result, |output| show::lines(&result.memories, output))?;
    if !output.json {
        output.flush()?;
        let end = offset + result.memories.len() as u64;
        if result.total == 0 {
            output.say("no such memories");
        } else if end < result.total {
            output.say(&format!("{end} of {}; --offset {end} shows the next, --all shows all", result.total));
        }
    }
    output.say_caveats(&result.caveats);
    Ok(if result.memories.is_empty() { EXIT_NONE } else { 0 })
}

/// Fetches a page of memories, or with `is_all` every memory from `params.offset` on.
///
/// A memory that is removed meanwhile shifts the later ones forward. So pages overlap, and a page that begins with an unknown memory
/// is fetched again from further back.
pub(super) fn fetch_pages(
    client: &mut Client,
    mut params: ListParams,
    is_all: bool,
) -> Result<MemoriesResult, CliError> {
    let key = |memory: &Memory| (memory.id.clone(), memory.conflict.clone());
    let first = params.offset;
    let mut result: MemoriesResult = client.call("memory.list", &params)?;
    let mut known: HashSet<_> = result.memories.iter().map(key).collect();
    let (mut end, mut overlap, mut n_rounds) = (first + result.memories.len() as u64, OVERLAP, 1);
    while is_all && !known.is_empty() {
        if end >= result.total {
            // One that has changed may have moved to a place that was passed already.
            if first + known.len() as u64 >= result.total || n_rounds == MOST_ROUNDS {
                break;
            }
            (end, n_rounds) = (first, n_rounds + 1);
        }
        params.offset = end.saturating_sub(overlap).max(first);
        let next: MemoriesResult = client.call("memory.list", &params)?;
        result.total = next.total;
        let joins = next.memories.first().is_none_or(|memory| known.contains(&key(memory)));
        if params.offset > first && !joins {
            overlap *= 4;
            continue;
        }
        (end, overlap) = (params.offset + next.memories.len() as u64, OVERLAP);
        result.memories.extend(next.memories.into_iter().filter(|memory| known.insert(key(memory))));
        result.caveats.add(next.caveats);
    }
    result.total = result.total.max(first + result.memories.len() as u64);
    Ok(result)
}

/// Returns ids and first lines of the newest memories, if a daemon runs and answers in time.
pub(crate) fn some(context: &CommandContext, archived: bool, patience: Duration) -> Result<Words, CliError> {
    let params = ListParams { caller: caller(context), archived, limit: Some(200), ..ListParams::default() };
    let result: MemoriesResult = context.connect_running_within(patience)?.call("memory.list", &params)?;
    let pairs = result.memories.into_iter().map(|memory| (memory.id, memory.title.unwrap_or(memory.content)));
    Ok(pairs.collect())
}

/// Returns tags or containers with their counts, if a daemon runs and answers in time.
pub(crate) fn names(method: &str, context: &CommandContext, patience: Duration) -> Result<Words, CliError> {
    let params = TallyParams { caller: caller(context) };
    let result: TallyResult = context.connect_running_within(patience)?.call(method, &params)?;
    let pairs =
        result.names.into_iter().map(|tally| (tally.name, count(tally.memories, "memory", "memories")));
    Ok(pairs.collect())
}

pub(crate) fn tags(context: &CommandContext, output: &mut Output) -> CliResult {
    tally("memory.tags", context, output)
}

pub(crate) fn containers(context: &CommandContext, output: &mut Output) -> CliResult {
    tally("memory.containers", context, output)
}

/// Exits with 1 when there are none.
fn tally(method: &str, context: &CommandContext, output: &mut Output) -> CliResult {
    let result: TallyResult = context.connect()?.call(method, &TallyParams { caller: caller(context) })?;
    output.list(&result, |output| show::tallies(&result.names, output))?;
    output.say_caveats(&result.caveats);
    Ok(if result.names.is_empty() { EXIT_NONE } else { 0 })
}

pub(crate) fn history(typed: HistoryArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = IdsParams { caller: caller(context), ids: vec![typed.id] };
    let result: HistoryResult = context.connect()?.call("memory.history", &params)?;
    output.list(&result, |output| show::history(&result, output))?;
    output.say_caveats(&result.caveats);
    Ok(0)
}

pub(crate) fn stats(context: &CommandContext, output: &mut Output) -> CliResult {
    let result: StatsResult =
        context.connect()?.call("memory.stats", &TallyParams { caller: caller(context) })?;
    output.value(&result, |output| show::stats(&result, output))?;
    output.say_caveats(&result.caveats);
    Ok(0)
}
