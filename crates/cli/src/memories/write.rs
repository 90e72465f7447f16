//! Runs the verbs that add and change memories.

use memod_proto::memory::{
    AddParams, AddResult, FieldParams, IdsParams, MemoriesResult, UpdateParams, UpdateResult,
};

use super::request::{caller, or_stdin, say_notice, say_redacted, text};
use super::{show, similar};
use crate::args::{AddArgs, AppendArgs, IdsArgs, TagArgs, UpdateArgs};
use crate::context::CommandContext;
use crate::error::{CliError, CliResult};
use crate::llm;
use crate::output::Output;

/// Prints only the id on stdout, for scripts.
pub(crate) fn add(typed: AddArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let content = text(&typed.text)?;
    if typed.dry_run {
        return llm::show_suggestion(content, context, output);
    }
    let mut caller = caller(context);
    caller.agent_name = typed.agent.or(caller.agent_name);
    let params = AddParams {
        caller,
        content,
        tags: typed.tag,
        about: typed.about,
        fields: typed.fields.into(),
        source: typed.source.map(|source| source.word().to_owned()),
        force: typed.near.force,
        merge: typed.near.merge,
        ..AddParams::default()
    };
    let has_about = !params.about.is_empty();
    let result: AddResult = context.connect()?.call("memory.add", &params)?;
    output.value(&result, |output| {
        show_id(&result.memory.id, result.redacted, output)?;
        similar::say_added(&result, has_about, output);
        Ok(())
    })?;
    say_notice(result.warning.as_ref(), output);
    output.say_caveats(&result.caveats);
    if typed.suggest && result.created {
        // The memory is on disk, and its id is printed, whatever the model does.
        output.flush()?;
        llm::suggest(&result.memory.id, result.memory.content, context, output);
    }
    Ok(0)
}

pub(crate) fn update(typed: UpdateArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = UpdateParams {
        id: typed.id,
        content: typed.content.map(or_stdin).transpose()?,
        fields: typed.fields.into(),
        replace_metadata: typed.replace,
        add_about: typed.about,
        remove_about: typed.no_about,
        ..UpdateParams::default()
    };
    change(params, context, output)
}

pub(crate) fn append(typed: AppendArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let append = Some(text(&typed.text)?);
    let fields = FieldParams { allow_secret: typed.allow_secret, ..FieldParams::default() };
    change(UpdateParams { id: typed.id, append, fields, ..UpdateParams::default() }, context, output)
}

pub(crate) fn tag(typed: TagArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    change(UpdateParams { id: typed.id, add_tags: typed.tags, ..UpdateParams::default() }, context, output)
}

pub(crate) fn untag(typed: TagArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    change(UpdateParams { id: typed.id, remove_tags: typed.tags, ..UpdateParams::default() }, context, output)
}

/// Prints the id before any notice, so that a reader of the pipe has it first.
fn show_id(id: &str, n_redacted: usize, output: &mut Output) -> Result<(), CliError> {
    output.line(id)?;
    output.flush()?;
    say_redacted(n_redacted, output);
    Ok(())
}

fn change(params: UpdateParams, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = UpdateParams { caller: caller(context), ..params };
    let result: UpdateResult = context.connect()?.call("memory.update", &params)?;
    output.value(&result, |output| {
        show_id(&result.memory.id, result.redacted, output)?;
        match result.changed.as_slice() {
            [] => output.say("nothing to change"),
            changed => output.say(&format!("changed: {}", changed.join(", "))),
        }
        Ok(())
    })?;
    say_notice(result.warning.as_ref(), output);
    output.say_caveats(&result.caveats);
    Ok(0)
}

pub(crate) fn restore(typed: IdsArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let params = IdsParams { caller: caller(context), ids: typed.ids };
    let result: MemoriesResult = context.connect()?.call("memory.restore", &params)?;
    output.value(&result, |output| show::lines(&result.memories, output))?;
    output.say_caveats(&result.caveats);
    Ok(0)
}
