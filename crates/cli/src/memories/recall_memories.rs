//! Runs `memo recall` and `memo promote`.

use memod_proto::memory::{Memory, PromoteParams, RecallParams, RecallResult, Recalled, UpdateResult};
use memod_terminal::text::{escape_for_display, escape_lines};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};
use serde_json::Value;

use super::print_memories;
use super::request::new_caller;
use super::unknown_filters::explain_unknown_filters;
use crate::args::{PromoteArgs, RecallArgs};

/// Recalls the memories that match a query. Exits with 1 when there are none.
pub(crate) fn recall_memories(typed: RecallArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = RecallParams {
        caller: new_caller(context),
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
    let is_weak = !result.memories.is_empty() && result.memories.iter().all(is_weak_match);
    if is_weak && !output.write_json {
        output.write_note("no memory has a word of the query or is clearly near it; the nearest are shown");
    }
    output.write_list(&result, |output| {
        result.memories.iter().try_for_each(|recalled| print_recalled(recalled, output))?;
        output.flush()?;
        if result.memories.is_empty() {
            output.write_note("no such memories");
            explain_unknown_filters(params.container.as_deref(), &params.tags, context, output);
        }
        Ok(())
    })?;
    output.write_caveats(&result.caveats);
    Ok(if result.memories.is_empty() { EXIT_NOTHING_FOUND } else { 0 })
}

/// Returns whether the recall only showed a memory, because it does not match clearly.
fn is_weak_match(recalled: &Recalled) -> bool {
    recalled.changed.is_empty() && recalled.memory.repository.is_none()
}

/// Writes a recalled memory, and how the recall changed it. A program gets the whole text, and a person its first line.
fn print_recalled(recalled: &Recalled, output: &mut Output) -> Result<(), CliError> {
    print_memories::print_memory_lines(std::slice::from_ref(&recalled.memory), output)?;
    if !output.is_on_terminal && !print_memories::is_shown_by_line(&recalled.memory) {
        for line in escape_lines(&recalled.memory.content).lines() {
            output.write_line(format!("    {line}").trim_end())?;
        }
    }
    let mut effects = vec![match recalled.memory.access_count {
        _ if recalled.memory.repository.is_some() => "not reinforced: it is a copy".to_owned(),
        _ if recalled.changed.is_empty() => "not reinforced: it has no word of the query".to_owned(),
        1 => "recalled for the first time".to_owned(),
        n => format!("recalled {n} times"),
    }];
    for (name, pair) in &recalled.changed {
        match name.as_str() {
            "access_count" | "last_access" => {}
            "expires_at" if pair[1].is_null() => effects.push("no longer ends".to_owned()),
            "expires_at" => effects.push(format!("ends {}", escape_for_display(&json_to_text(&pair[1])))),
            name => {
                effects.push(escape_for_display(&format!(
                    "{name} {} -> {}",
                    json_to_text(&pair[0]),
                    json_to_text(&pair[1])
                )));
            }
        }
    }
    output.write_line(&format!("    {}", effects.join("; ")))
}

fn json_to_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub(crate) fn promote_memory(typed: PromoteArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = PromoteParams { caller: new_caller(context), id: typed.id, to: typed.to.map(Into::into) };
    let result: UpdateResult = context.connect()?.call("memory.promote", &params)?;
    let Memory { id, tier, expires_at, .. } = &result.memory;
    output.write_result(&result, |output| {
        output.write_line(id)?;
        output.flush()?;
        let end = expires_at.as_ref().map_or("does not end".to_owned(), |at| format!("ends {at}"));
        let already = if result.changed.is_empty() { " already" } else { "" };
        output.write_note(&format!("{}{already}, {end}", tier.as_str()));
        Ok(())
    })?;
    output.write_caveats(&result.caveats);
    Ok(0)
}
