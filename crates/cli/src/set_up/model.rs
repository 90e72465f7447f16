//! Runs `memo model`: lists, installs and chooses the models that make vectors or rerank hits.

use std::path::Path;
use std::time::Duration;

use memod_proto::{CwdParams, ModelEntry, ModelParams, ModelsResult};
use memod_terminal::text::{escape_for_display, format_bytes, format_count, paint};
use memod_terminal::{CliError, CliResult, CommandContext, Output};

use super::config_verb::write_setting;
use super::fetch_model;
use crate::args::{ModelArgs, ModelVerb};
use crate::daemon::status::print_field;
use crate::memories::CompletionWords;

pub(crate) fn manage_models(typed: ModelArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let cwd = context.cwd.clone();
    let mut client = context.connect()?;
    match typed.what.unwrap_or(ModelVerb::Status) {
        ModelVerb::List => {
            let models: ModelsResult = client.call("model.list", &CwdParams { cwd })?;
            output.write_result(&models, |output| {
                models.models.iter().try_for_each(|model| print_model(model, &models, output))
            })?;
        }
        ModelVerb::Status => {
            let models: ModelsResult = client.call("model.list", &CwdParams { cwd })?;
            output.write_result(&models, |output| print_model_status(&models, output))?;
        }
        ModelVerb::Use { name, user } => {
            let file = match user {
                true => memod_config::user_settings_file().ok_or(CliError::NoHome)?,
                false => context.layout.config_file(),
            };
            if name != "builtin" {
                let models: ModelsResult = client.call("model.list", &CwdParams { cwd: cwd.clone() })?;
                if models.models.iter().any(|model| model.name == name) {
                    fetch_model::fetch_missing_files(&models, Some(&name), context, output)?;
                }
            }
            let params = ModelParams { cwd, name: Some(name.clone()), dir: None };
            let models: ModelsResult = client.call("model.use", &params)?;
            let is_reranker =
                models.models.iter().any(|model| model.name == name && model.purpose == "rerank");
            write_setting(if is_reranker { "model.reranker" } else { "model.name" }, &name, &file)?;
            output.write_result(&models, |output| print_model_status(&models, output))?;
            output.write_note(match is_reranker {
                true => "`memo search --rerank` uses this model",
                false => "the current model answers until all vectors are made; `memo model status` shows the progress",
            });
        }
        ModelVerb::Import { folder, name } => {
            let dir = Some(absolute_path(&folder)?);
            let models = client.call("model.list", &CwdParams { cwd: cwd.clone() })?;
            fetch_model::fetch_missing_files(&models, None, context, output)?;
            let models: ModelsResult = client.call("model.import", &ModelParams { cwd, name, dir })?;
            output.write_result(&models, |output| {
                models.models.iter().try_for_each(|model| print_model(model, &models, output))
            })?;
            output.write_note("`memo model use NAME` makes this repository use the model");
        }
        ModelVerb::Remove { name } => {
            let params = ModelParams { cwd, name: Some(name.clone()), dir: None };
            let models: ModelsResult = client.call("model.remove", &params)?;
            output.write_result(&models, |output| {
                output.write_line(&format!("{} is deleted", escape_for_display(&name)))
            })?;
        }
    }
    Ok(0)
}

/// Returns the names of the installed and known models, each with a note.
///
/// # Errors
/// When no daemon runs, or the daemon does not answer within `patience`.
pub(crate) fn fetch_model_names(
    context: &CommandContext,
    patience: Duration,
) -> Result<CompletionWords, CliError> {
    let mut client = context.connect_running_within(patience)?;
    let models: ModelsResult = client.call("model.list", &CwdParams { cwd: context.cwd.clone() })?;
    Ok(models.models.into_iter().map(|model| (model.name, model.note)).collect())
}

/// Returns the absolute path of a directory, because the daemon runs in another directory.
fn absolute_path(dir: &Path) -> Result<String, CliError> {
    Ok(memod_base::paths::canonicalize_path(dir)?.display().to_string())
}

/// Prints a model in one line: a mark if it is in use or next, its name, dimensions, size, whether it is installed, licence and
/// note.
fn print_model(model: &ModelEntry, models: &ModelsResult, output: &mut Output) -> Result<(), CliError> {
    let next = models.next.as_ref().map(|next| &next.id);
    let mark = match &model.id {
        Some(id) if *id == models.active => "*",
        Some(id) if Some(id) == next => ">",
        Some(id) if models.reranker.as_ref() == Some(id) => "*",
        _ => " ",
    };
    let (place, about) = if model.id.is_some() { ("installed", "") } else { ("known", "~") };
    let size = if model.bytes == 0 { String::new() } else { format!("{about}{}", format_bytes(model.bytes)) };
    let name = paint(output.styles.title, &format!("{:<14}", escape_for_display(&model.name)));
    let text = [model.licence.as_deref().unwrap_or_default(), &model.note].join("  ");
    let dims = if model.purpose == "rerank" { "rerank".to_owned() } else { model.dims.to_string() };
    let text = format!("{mark} {name} {dims:>6} {size:>11}  {place:<9}  {}", escape_for_display(text.trim()));
    output.write_line(text.trim_end())
}

fn print_model_status(models: &ModelsResult, output: &mut Output) -> Result<(), CliError> {
    print_field("model", &escape_for_display(&models.active), output)?;
    if models.active_for_memories != models.active {
        print_field("memories", &escape_for_display(&models.active_for_memories), output)?;
    }
    if let Some(next) = &models.next {
        let chunks = format_count(next.total, "chunk", "chunks");
        print_field(
            "next",
            &format!("{}, {} of {chunks} have its vector", escape_for_display(&next.id), next.done),
            output,
        )?;
    }
    if let Some(problem) = &models.problem {
        print_field("problem", &paint(output.styles.bad, &escape_for_display(problem)), output)?;
    }
    if let Some(reranker) = &models.reranker {
        print_field("reranker", &escape_for_display(reranker), output)?;
    }
    print_field("runtime", &escape_for_display(&models.runtime), output)?;
    print_field("models", &escape_for_display(&models.dir), output)
}
