//! Has downloaded what a model needs, and shows how far that is.

use std::ffi::OsString;
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use memod_client::{Options, Servers};
use memod_proto::{FetchReport, ModelsResult};

use super::context::CommandContext;
use super::error::CliError;
use super::output::Output;
use super::text::escape;

/// Downloads the library of ONNX Runtime, unless the daemon has it, and the model of this name unless it is installed.
pub(super) fn what_is_missing(
    models: &ModelsResult,
    name: Option<&str>,
    context: &CommandContext,
    output: &Output,
) -> Result<(), CliError> {
    let absent = models.models.iter().find(|model| Some(model.name.as_str()) == name && model.id.is_none());
    if models.has_runtime && absent.is_none() {
        return Ok(());
    }
    let config = memod_config::load(Some(&context.layout))?.config;
    // The directory that the daemon has, which may have another environment.
    let cache_dir = Path::new(&models.dir).parent().unwrap_or(Path::new(&models.dir));
    let mut args: Vec<OsString> = vec!["--cache-dir".into(), cache_dir.into()];
    let runtime = if models.has_runtime { &models.runtime } else { &config.model.runtime };
    let name = absent.map_or("", |model| &model.name);
    for (flag, value) in [("--runtime", runtime.as_str()), ("--model", name)] {
        if !value.is_empty() {
            args.extend([flag.into(), value.into()]);
        }
    }
    let servers = Servers { index: &config.model.index, hub: &config.model.hub };
    run(&args, &servers, output)
}

fn run(args: &[OsString], servers: &Servers<'_>, output: &Output) -> Result<(), CliError> {
    let bar = bar(output.quiet);
    let listen = |report: &FetchReport| match report {
        FetchReport::Note { text } => bar.suspend(|| output.say(&escape(text))),
        FetchReport::Progress { what, done, total } => {
            if *total > 0 {
                bar.set_length(*total); // some servers do not say it
            }
            bar.set_position(*done);
            bar.set_message(escape(what));
        }
        FetchReport::Done | FetchReport::Failed { .. } => {}
    };
    let fetched = memod_client::fetch(&Options::read(), args, servers, listen);
    bar.finish_and_clear();
    Ok(fetched?)
}

/// Hidden if stderr is not a terminal. It has no colour, so `--color` does not apply.
fn bar(quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let template = "{msg:>10} [{bar:32}] {bytes}/{total_bytes} {bytes_per_sec} {eta}";
    let style = ProgressStyle::with_template(template).expect("the template is a constant and well-formed");
    let bar = ProgressBar::with_draw_target(None, target);
    bar.set_style(style.progress_chars("=> "));
    bar
}
