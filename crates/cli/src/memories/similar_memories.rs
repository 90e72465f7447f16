//! Prints near-duplicate and related memories.

use memod_base::types::memory_file_path;
use memod_proto::memory::{
    AddResult, DedupeParams, DedupeResult, DifferingPair, Group, MergeParams, MergeResult, RelatedParams,
    RelatedResult,
};
use memod_terminal::text::{format_count, paint};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use super::print_memories;
use super::request::new_caller;
use crate::args::{DedupeArgs, RelatedArgs};
use crate::llm;

/// Reports what happened to an added text, and which memories it may contradict.
pub(super) fn report_added_memory(result: &AddResult, has_about_option: bool, output: &Output) {
    match (result.created, result.merged) {
        (true, _) if result.memory.shared => {
            output.write_note(&format!("shared as {}", memory_file_path(&result.memory.id)));
        }
        (true, _) => {}
        (false, true) => output.write_note("merged into a memory that says nearly the same"),
        (false, false) => {
            let hint = if has_about_option {
                "; `memo update ID --about …` sets the code that it is about"
            } else {
                ""
            };
            output.write_note(&format!("this text exists already; nothing was changed{hint}"));
        }
    }
    for other in &result.contradicted {
        let why = describe_contradiction(&other.by);
        let (id, line) = (&other.memory.id, &other.memory.line);
        output.write_note(&format!("may contradict {id}: {line} ({why}); decide with `memo resolve`"));
    }
}

/// Returns the reason why two memories may contradict each other, in words.
fn describe_contradiction(by: &str) -> &'static str {
    match by {
        "title" => "a similar title",
        "numbers" => "nearly the same text with other numbers",
        "opposite" => "nearly the same text with an opposite word",
        _ => "nearly the same text, but one of them is negated",
    }
}

/// Lists the memories that are linked to a memory or near it in meaning. Exits with 1 when there are none.
pub(crate) fn list_related_memories(
    typed: RelatedArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let limit = usize::try_from(typed.limit).ok();
    let params = RelatedParams { caller: new_caller(context), id: typed.id, limit };
    let result: RelatedResult = context.connect()?.call("memory.related", &params)?;
    output.write_list(&result, |output| {
        for related in &result.memories {
            let cosine = related.cosine.map_or("    ".to_owned(), |cosine| format!("{cosine:.2}"));
            let relations: String = related
                .relations
                .iter()
                .map(|name| format!("  {}", print_memories::format_relation(name)))
                .collect();
            let line = print_memories::format_memory_brief(&related.memory, output);
            output.write_line(&format!(
                "{}  {line}{}",
                paint(output.styles.line, &cosine),
                paint(output.styles.title, &relations)
            ))?;
        }
        Ok(())
    })?;
    output.write_caveats(&result.caveats);
    if result.memories.is_empty() && !output.write_json {
        output.write_note(&format!(
            "no memory is linked to {}, and no memory is near it in meaning",
            result.id
        ));
    }
    Ok(if result.memories.is_empty() { EXIT_NOTHING_FOUND } else { 0 })
}

/// Lists groups of near-duplicates, and merges them with `--merge`. Exits with 1 when there are none.
pub(crate) fn dedupe_memories(typed: DedupeArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    if typed.propose {
        return llm::print_memory_comparisons(typed, context, output);
    }
    let is_asked = typed.merge && !typed.yes;
    if is_asked {
        let hint = "leave out --merge to see the groups, or confirm with --yes";
        output.require_terminal("dedupe --merge", hint)?;
    }
    let mut client = context.connect()?;
    client.set_answer_limit(std::time::Duration::from_secs(600)); // the daemon compares each memory with all others
    let params =
        DedupeParams { caller: new_caller(context), container: typed.container, threshold: typed.threshold };
    let result: DedupeResult = client.call("memory.dedupe", &params)?;
    if !typed.merge || output.write_json {
        output.write_result(&result, |output| {
            result.groups.iter().try_for_each(|group| print_duplicates(group, output))
        })?;
    }
    let mut n_merged = 0;
    for group in result.groups.iter().filter(|_| typed.merge) {
        if !output.write_json {
            print_duplicates(group, output)?;
            output.flush()?;
        }
        if is_asked && !output.ask_for_confirmation("merge these?")? {
            continue;
        }
        let ids = group.merge.iter().map(|memory| memory.id.clone()).collect();
        let (keep, expect) = (group.keep.id.clone(), Some(group.digest.clone()));
        let params = MergeParams { caller: new_caller(context), keep, ids, expect };
        let merged: MergeResult = client.call("memory.merge", &params)?;
        n_merged += merged.merged.len();
    }
    output.flush()?;
    let n_more: usize = result.groups.iter().map(|group| group.merge.len()).sum();
    match (result.groups.is_empty(), typed.merge) {
        (true, _) => output.write_note("no two memories of a container say nearly the same"),
        (_, true) => {
            output.write_note(&format!("{} merged", format_count(n_merged as u64, "memory", "memories")));
        }
        (_, false) => {
            output.write_note(&format!(
                "{} could be merged; --merge does it",
                format_count(n_more as u64, "memory", "memories")
            ));
        }
    }
    for DifferingPair { older, newer, by, .. } in &result.differing {
        let (why, verb) = (describe_contradiction(by), format!("memo resolve {} {}", newer.id, older.id));
        output.write_note(&format!(
            "may contradict each other: {} / {} ({why}); `{verb}`",
            older.line, newer.line
        ));
    }
    output.write_caveats(&result.caveats);
    Ok(if result.groups.is_empty() { EXIT_NOTHING_FOUND } else { 0 })
}

fn print_duplicates(group: &Group, output: &mut Output) -> Result<(), CliError> {
    output.write_line(&format!("keep   {}", print_memories::format_memory_brief(&group.keep, output)))?;
    for memory in &group.merge {
        output.write_line(&format!("merge  {}", print_memories::format_memory_brief(memory, output)))?;
    }
    output.write_line("")
}
