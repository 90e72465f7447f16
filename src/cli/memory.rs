//! How are memories written down, looked at and put away?

mod about;
mod args;
mod consolidate;
mod links;
mod recall;
mod show;
mod similar;

use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::time::Duration;

use super::context::CommandContext;
use super::error::EXIT_NONE;
use super::output::Output;
use super::text::count;
use super::{CliError, CliResult};
use crate::client::Client;
use crate::paths::IoContext;
use crate::proto::memory::{
    AddParams, AddResult, Caller, HistoryResult, IdsParams, ListParams, MemoriesResult, RemoveParams,
    RemoveResult, StatsResult, TallyParams, TallyResult, UpdateParams, UpdateResult,
};
pub(super) use about::confirm;
pub(super) use args::{
    AddArgs, AppendArgs, FilterArgs, GetArgs, HistoryArgs, IdArgs, IdsArgs, ListArgs, RemoveArgs, TagArgs,
    TextArgs, TraitsArgs, UpdateArgs,
};
pub(super) use consolidate::{ConsolidateArgs, consolidate};
pub(super) use links::{LinkingArgs, LinksArgs, ResolveArgs, link, links, resolve, unlink};
pub(super) use recall::{PromoteArgs, RecallArgs, RecentArgs, promote, recall, recent};
pub(super) use similar::{DedupeArgs, RelatedArgs, dedupe, related};

/// Memories that are asked for at once where all are wanted.
const PAGE: u64 = 500;

/// Words that a person may type, each with what is said of it.
pub(super) type Words = Vec<(String, String)>;

/// Says who asks, and names the request, lest it is done twice when the daemon dies before it can answer.
pub(super) fn caller(context: &CommandContext) -> Caller {
    let random = RandomState::new().hash_one(std::process::id());
    let request = Some(format!("{random:016x}{:08x}", std::process::id()));
    Caller { cwd: context.cwd.clone(), client: "cli".to_owned(), request }
}

/// Says what the daemon wants a person to know.
fn notice(text: Option<&String>, output: &Output) {
    if let Some(text) = text {
        output.warn(text);
    }
}

/// Prints the id alone on stdout, so that a script can keep it.
pub(super) fn add(typed: AddArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = AddParams {
        caller: caller(context),
        content: text(&typed.text)?,
        tags: typed.tag,
        about: typed.about,
        title: typed.fields.title,
        container: typed.fields.container,
        tier: typed.fields.tier.map(Into::into),
        ttl: typed.fields.ttl,
        priority: typed.fields.priority,
        confidence: typed.fields.confidence,
        metadata: typed.fields.meta.into_iter().collect(),
        allow_secret: typed.fields.allow_secret,
        force: typed.near.force,
        merge: typed.near.merge,
        ..AddParams::default()
    };
    let has_about = !params.about.is_empty();
    let result: AddResult = context.connect()?.call("memory.add", &params)?;
    if output.json {
        output.json(&result)?;
    } else {
        output.line(&result.memory.id)?;
        output.flush()?;
        say_redacted(result.redacted, output);
        similar::say_added(&result, has_about, output);
    }
    notice(result.notice.as_ref(), output);
    Ok(0)
}

fn say_redacted(n_parts: usize, output: &Output) {
    if n_parts > 0 {
        output.say(&format!("{} cut out", count(n_parts as u64, "private part was", "private parts were")));
    }
}

/// Returns the text that was typed, or is in the file or on stdin.
fn text(typed: &TextArgs) -> Result<String, CliError> {
    match (&typed.file, typed.text.as_slice()) {
        (Some(file), _) => {
            let bytes = std::fs::read(file).at("read", file)?;
            String::from_utf8(bytes).map_err(|_| not_text(&file.display().to_string()))
        }
        (None, words) => or_stdin(words.join(" ")),
    }
}

/// Returns what is on stdin for `-`, else what was typed.
fn or_stdin(typed: String) -> Result<String, CliError> {
    if typed != "-" {
        return Ok(typed);
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes);
    read.at("read", std::path::Path::new("stdin"))?;
    String::from_utf8(bytes).map_err(|_| not_text("stdin"))
}

fn not_text(what: &str) -> CliError {
    CliError::Usage { message: format!("{what}: not UTF-8"), hint: "a memory is a text" }
}

pub(super) fn get(typed: GetArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = IdsParams { caller: caller(context), ids: typed.ids.ids };
    let result: MemoriesResult = context.connect()?.call("memory.get", &params)?;
    output.list(&result, |output| show::wholes(&result.memories, output))?;
    about::say_unsure(result.reason.as_ref(), output);
    notice(result.notice.as_ref(), output);
    Ok(0)
}

/// Exits with 1 when there are none.
pub(super) fn list(typed: ListArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let (is_all, offset) = (typed.all, typed.offset);
    let params = ListParams {
        caller: caller(context),
        selection: typed.filter.with_ids(Vec::new()),
        archived: typed.archived,
        state: typed.state,
        sort: typed.sort.into(),
        limit: Some(if is_all { PAGE } else { typed.limit }),
        offset,
    };
    let result = pages(&mut context.connect()?, params, is_all)?;
    output.list(&result, |output| show::lines(&result.memories, output))?;
    if !output.json {
        output.flush()?;
        let end = offset + result.memories.len() as u64;
        if result.total == 0 {
            output.say("no such memories");
        } else if end < result.total {
            output.say(&format!("{end} of {}; --offset {end} shows the next, --all shows all", result.total));
        }
        about::say_unsure(result.reason.as_ref(), output);
    }
    notice(result.notice.as_ref(), output);
    Ok(if result.memories.is_empty() { EXIT_NONE } else { 0 })
}

/// Returns ids of the newest memories and what they say, of the daemon that runs and answers in time.
pub(super) fn some(context: &CommandContext, archived: bool, patience: Duration) -> Result<Words, CliError> {
    let params = ListParams { caller: caller(context), archived, limit: Some(200), ..ListParams::default() };
    let result: MemoriesResult = context.connect_running_within(patience)?.call("memory.list", &params)?;
    let pairs = result.memories.into_iter().map(|memory| (memory.id, memory.title.unwrap_or(memory.content)));
    Ok(pairs.collect())
}

/// Returns tags or containers and how often they are there, of the daemon that runs and answers in time.
pub(super) fn names(method: &str, context: &CommandContext, patience: Duration) -> Result<Words, CliError> {
    let params = TallyParams { caller: caller(context) };
    let result: TallyResult = context.connect_running_within(patience)?.call(method, &params)?;
    let pairs =
        result.names.into_iter().map(|tally| (tally.name, count(tally.memories, "memory", "memories")));
    Ok(pairs.collect())
}

fn pages(client: &mut Client, mut params: ListParams, is_all: bool) -> Result<MemoriesResult, CliError> {
    let first = params.offset;
    let mut result: MemoriesResult = client.call("memory.list", &params)?;
    let mut n_new = result.memories.len();
    while is_all && n_new > 0 && first + (result.memories.len() as u64) < result.total {
        params.offset = first + result.memories.len() as u64;
        let next: MemoriesResult = client.call("memory.list", &params)?;
        n_new = next.memories.len();
        result.memories.extend(next.memories);
    }
    Ok(result)
}

pub(super) fn update(typed: UpdateArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = UpdateParams {
        id: typed.id,
        content: typed.content.map(or_stdin).transpose()?,
        title: typed.fields.title,
        container: typed.fields.container,
        tier: typed.fields.tier.map(Into::into),
        ttl: typed.fields.ttl,
        priority: typed.fields.priority,
        confidence: typed.fields.confidence,
        metadata: typed.fields.meta.into_iter().collect(),
        replace_metadata: typed.replace,
        add_about: typed.about,
        remove_about: typed.no_about,
        allow_secret: typed.fields.allow_secret,
        ..UpdateParams::default()
    };
    change(params, context, output)
}

pub(super) fn append(typed: AppendArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let append = Some(text(&typed.text)?);
    let allow_secret = typed.allow_secret;
    change(UpdateParams { id: typed.id, append, allow_secret, ..UpdateParams::default() }, context, output)
}

pub(super) fn tag(typed: TagArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    change(UpdateParams { id: typed.id, add_tags: typed.tags, ..UpdateParams::default() }, context, output)
}

pub(super) fn untag(typed: TagArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    change(UpdateParams { id: typed.id, remove_tags: typed.tags, ..UpdateParams::default() }, context, output)
}

fn change(params: UpdateParams, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = UpdateParams { caller: caller(context), ..params };
    let result: UpdateResult = context.connect()?.call("memory.update", &params)?;
    if output.json {
        output.json(&result)?;
    } else {
        output.line(&result.memory.id)?;
        output.flush()?;
        say_redacted(result.redacted, output);
        match result.changed.as_slice() {
            [] => output.say("nothing to change"),
            changed => output.say(&format!("changed: {}", changed.join(", "))),
        }
    }
    notice(result.notice.as_ref(), output);
    Ok(0)
}

pub(super) fn restore(typed: IdsArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = IdsParams { caller: caller(context), ids: typed.ids };
    let result: MemoriesResult = context.connect()?.call("memory.restore", &params)?;
    output.value(&result, |output| show::lines(&result.memories, output))?;
    notice(result.notice.as_ref(), output);
    Ok(0)
}

/// What is done to memories that go, in words.
struct Removal {
    method: &'static str,
    verb: &'static str,
    done: &'static str,
}

pub(super) fn forget(typed: RemoveArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let done = "forgotten; `memo restore` brings it back, `memo list --archived` shows the archive";
    remove(&Removal { method: "memory.forget", verb: "forget", done }, typed, context, output)
}

pub(super) fn purge(typed: RemoveArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    remove(
        &Removal { method: "memory.purge", verb: "delete for good", done: "deleted" },
        typed,
        context,
        output,
    )
}

/// Shows what goes, asks, and then lets exactly that go. Exits with 1 when nothing does.
fn remove(removal: &Removal, typed: RemoveArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let is_asked = !typed.yes && !typed.dry_run;
    if is_asked && !output.can_ask() {
        let message = format!("nobody can be asked whether to {} memories", removal.verb);
        return Err(CliError::Usage { message, hint: "--dry-run shows what would go, --yes does it" });
    }
    let selection = typed.filter.with_ids(typed.ids);
    let mut params = RemoveParams { caller: caller(context), selection, dry_run: !typed.yes, expect: None };
    let mut client = context.connect()?;
    let mut result: RemoveResult = client.call(removal.method, &params)?;
    if output.json {
        output.json(&result)?;
        return Ok(exit(&result));
    }
    result.memories.iter().try_for_each(|memory| show::brief(memory, output))?;
    output.flush()?;
    let what = count(result.memories.len() as u64, "memory", "memories");
    if is_asked && !result.memories.is_empty() {
        if !output.ask(&format!("{} {what}?", removal.verb))? {
            output.say("nothing was changed");
            return Ok(0);
        }
        (params.dry_run, params.expect) = (false, Some(result.digest));
        result = client.call(removal.method, &params)?;
    }
    match (result.memories.is_empty(), result.dry_run) {
        (true, _) => output.say("no such memories"),
        (false, true) => output.say(&format!("would {} {what}", removal.verb)),
        (false, false) => output.say(&format!("{what} {}", removal.done)),
    }
    notice(result.notice.as_ref(), output);
    Ok(exit(&result))
}

fn exit(result: &RemoveResult) -> u8 {
    if result.memories.is_empty() { EXIT_NONE } else { 0 }
}

pub(super) fn tags(context: &CommandContext, output: &mut Output) -> CliResult {
    tally("memory.tags", context, output)
}

pub(super) fn containers(context: &CommandContext, output: &mut Output) -> CliResult {
    tally("memory.containers", context, output)
}

/// Exits with 1 when there are none.
fn tally(method: &str, context: &CommandContext, output: &mut Output) -> CliResult {
    let result: TallyResult = context.connect()?.call(method, &TallyParams { caller: caller(context) })?;
    output.list(&result, |output| show::tallies(&result.names, output))?;
    notice(result.notice.as_ref(), output);
    Ok(if result.names.is_empty() { EXIT_NONE } else { 0 })
}

pub(super) fn history(typed: HistoryArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = IdsParams { caller: caller(context), ids: vec![typed.id] };
    let result: HistoryResult = context.connect()?.call("memory.history", &params)?;
    output.list(&result, |output| show::history(&result, output))?;
    notice(result.notice.as_ref(), output);
    Ok(0)
}

pub(super) fn stats(context: &CommandContext, output: &mut Output) -> CliResult {
    let result: StatsResult =
        context.connect()?.call("memory.stats", &TallyParams { caller: caller(context) })?;
    output.value(&result, |output| show::stats(&result, output))?;
    notice(result.notice.as_ref(), output);
    Ok(0)
}
