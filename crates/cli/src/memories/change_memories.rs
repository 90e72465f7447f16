//! Runs the verbs that add and change memories.

use memod_proto::memory::{
    AddParams, AddResult, FieldParams, IdsParams, MemoriesResult, UpdateParams, UpdateResult,
};
use memod_terminal::{CliError, CliResult, CommandContext, Output};

use super::request::{new_caller, read_memory_text, read_text_or_stdin, report_redacted_parts, write_notice};
use super::{print_memories, similar_memories};
use crate::args::{AddArgs, AppendArgs, IdsArgs, TagArgs, UpdateArgs};
use crate::llm;

/// Adds a memory. Prints only the id on stdout, so that scripts can read it.
pub(crate) fn add_memory(typed: AddArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let content = read_memory_text(&typed.text)?;
    if typed.dry_run {
        return llm::show_suggestion_request(content, context, output);
    }
    let mut caller = new_caller(context);
    caller.agent_name = typed.agent.or(caller.agent_name);
    let params = AddParams {
        caller,
        content,
        tags: typed.tag,
        about: typed.about,
        fields: typed.fields.into(),
        source: typed.source.map(|source| source.socket_word().to_owned()),
        force: typed.near.force,
        merge: typed.near.merge,
        ..AddParams::default()
    };
    let has_about_option = !params.about.is_empty();
    let result: AddResult = context.connect()?.call("memory.add", &params)?;
    output.write_result(&result, |output| {
        print_id_and_redactions(&result.memory.id, result.redacted, output)?;
        similar_memories::report_added_memory(&result, has_about_option, output);
        Ok(())
    })?;
    write_notice(result.warning.as_ref(), output);
    output.write_caveats(&result.caveats);
    if typed.suggest && result.created {
        // Ask the model last, so that the memory is on disk and its id is printed even if the model fails.
        output.flush()?;
        llm::suggest_title_and_tags(&result.memory.id, result.memory.content, context, output);
    }
    Ok(0)
}

pub(crate) fn update_memory(typed: UpdateArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = UpdateParams {
        id: typed.id,
        content: typed.content.map(read_text_or_stdin).transpose()?,
        append: typed.append.map(read_text_or_stdin).transpose()?,
        fields: typed.fields.into(),
        replace_metadata: typed.replace,
        add_about: typed.about,
        remove_about: typed.no_about,
        ..UpdateParams::default()
    };
    change_memory(params, context, output)
}

pub(crate) fn append_to_memory(
    typed: AppendArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let append = Some(read_memory_text(&typed.text)?);
    let fields = FieldParams { allow_secret: typed.allow_secret, ..FieldParams::default() };
    change_memory(UpdateParams { id: typed.id, append, fields, ..UpdateParams::default() }, context, output)
}

pub(crate) fn tag_memory(typed: TagArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    change_memory(
        UpdateParams { id: typed.id, add_tags: typed.tags, ..UpdateParams::default() },
        context,
        output,
    )
}

pub(crate) fn untag_memory(typed: TagArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    change_memory(
        UpdateParams { id: typed.id, remove_tags: typed.tags, ..UpdateParams::default() },
        context,
        output,
    )
}

/// Prints the id, then the number of private parts that were cut out. Flushes in between, so that a reader of the pipe gets the id
/// at once.
fn print_id_and_redactions(id: &str, n_redacted: usize, output: &mut Output) -> Result<(), CliError> {
    output.write_line(id)?;
    output.flush()?;
    report_redacted_parts(n_redacted, output);
    Ok(())
}

fn change_memory(params: UpdateParams, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = UpdateParams { caller: new_caller(context), ..params };
    let result: UpdateResult = context.connect()?.call("memory.update", &params)?;
    output.write_result(&result, |output| {
        print_id_and_redactions(&result.memory.id, result.redacted, output)?;
        match result.changed.as_slice() {
            [] => output.write_note("nothing to change"),
            changed => output.write_note(&format!("changed: {}", changed.join(", "))),
        }
        Ok(())
    })?;
    write_notice(result.warning.as_ref(), output);
    output.write_caveats(&result.caveats);
    Ok(0)
}

pub(crate) fn restore_memories(typed: IdsArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = IdsParams { caller: new_caller(context), ids: typed.ids };
    let result: MemoriesResult = context.connect()?.call("memory.restore", &params)?;
    output.write_result(&result, |output| print_memories::print_memory_lines(&result.memories, output))?;
    output.write_caveats(&result.caveats);
    Ok(0)
}
