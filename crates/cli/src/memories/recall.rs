//! Recalls, promotes and lists recent memories.

use memod_proto::memory::{
    ListParams, MemoriesResult, Memory, PromoteParams, RecallParams, RecallResult, Recalled, Sort,
    UpdateResult,
};
use serde_json::Value;

use super::request::caller;
use super::show;
use crate::args::{PromoteArgs, RecallArgs, RecentArgs};
use crate::context::CommandContext;
use crate::error::{CliError, CliResult, EXIT_NONE};
use crate::output::Output;
use crate::text::escape;

/// Exits with 1 when nothing matches.
pub(crate) fn recall(typed: RecallArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = RecallParams {
        caller: caller(context),
        query: typed.query.join(" "),
        mode: typed.mode.into(),
        container: typed.memories.container,
        tags: typed.memories.tag,
        since: typed.memories.since,
        until: typed.memories.until,
        traits: typed.memories.traits.into(),
        limit: usize::try_from(typed.limit).ok(),
    };
    let result: RecallResult = context.connect()?.call("memory.recall", &params)?;
    output.list(&result, |output| {
        result.memories.iter().try_for_each(|recalled| write(recalled, output))?;
        output.flush()?;
        if result.memories.is_empty() {
            output.say("no such memories");
        }
        Ok(())
    })?;
    output.say_caveats(&result.caveats);
    Ok(if result.memories.is_empty() { EXIT_NONE } else { 0 })
}

/// Writes a memory and the effects of recalling it.
fn write(recalled: &Recalled, output: &mut Output) -> Result<(), CliError> {
    show::lines(std::slice::from_ref(&recalled.memory), output)?;
    let mut done = vec![match recalled.memory.access_count {
        _ if recalled.memory.repository.is_some() => "not reinforced: it is a copy".to_owned(),
        _ if recalled.changed.is_empty() => "not reinforced: it has no word of the query".to_owned(),
        1 => "recalled for the first time".to_owned(),
        n => format!("recalled {n} times"),
    }];
    for (name, pair) in &recalled.changed {
        let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match name.as_str() {
            "access_count" | "last_access" => {}
            "expires_at" if pair[1].is_null() => done.push("does not end any more".to_owned()),
            "expires_at" => done.push(format!("ends {}", escape(&word(&pair[1])))),
            name => done.push(escape(&format!("{name} {} -> {}", word(&pair[0]), word(&pair[1])))),
        }
    }
    output.line(&format!("    {}", done.join("; ")))
}

/// Exits with 1 when there are none.
pub(crate) fn recent(typed: &RecentArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let (sort, limit) = (Sort::Updated, Some(typed.limit));
    let params = ListParams { caller: caller(context), sort, limit, ..ListParams::default() };
    let result: MemoriesResult = context.connect()?.call("memory.list", &params)?;
    output.list(&result, |output| {
        show::changed_lines(&result.memories, output)?;
        output.flush()?;
        if result.memories.is_empty() {
            output.say("no memories");
        }
        Ok(())
    })?;
    output.say_caveats(&result.caveats);
    Ok(if result.memories.is_empty() { EXIT_NONE } else { 0 })
}

pub(crate) fn promote(typed: PromoteArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = PromoteParams { caller: caller(context), id: typed.id, to: typed.to.map(Into::into) };
    let result: UpdateResult = context.connect()?.call("memory.promote", &params)?;
    let Memory { id, tier, expires_at, .. } = &result.memory;
    output.value(&result, |output| {
        output.line(id)?;
        output.flush()?;
        let end = expires_at.as_ref().map_or("does not end".to_owned(), |at| format!("ends {at}"));
        let already = if result.changed.is_empty() { " already" } else { "" };
        output.say(&format!("{}{already}, {end}", tier.as_str()));
        Ok(())
    })?;
    output.say_caveats(&result.caveats);
    Ok(0)
}
