//! Downloads the files of a model with the fetcher of `memod`, and shows the progress.

use std::ffi::OsString;
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use memod_client::{ClientOptions, DownloadServers};
use memod_proto::{FetchReportLine, ModelsResult};
use memod_terminal::text::escape_for_display;
use memod_terminal::{CliError, CommandContext, Output};

/// Downloads the library ONNX Runtime, unless the daemon has it, and the model with this name, unless it is installed.
pub(crate) fn fetch_missing_files(
    models: &ModelsResult,
    name: Option<&str>,
    context: &CommandContext,
    output: &Output,
) -> Result<(), CliError> {
    let absent = models.models.iter().find(|model| Some(model.name.as_str()) == name && model.id.is_none());
    if models.has_runtime && absent.is_none() {
        return Ok(());
    }
    let config = memod_config::load_settings(Some(&context.layout))?.config;
    // Use the cache directory of the daemon, whose environment may differ.
    let cache_dir = Path::new(&models.dir).parent().unwrap_or(Path::new(&models.dir));
    let mut args: Vec<OsString> = vec!["--cache-dir".into(), cache_dir.into()];
    let runtime = if models.has_runtime { &models.runtime } else { &config.model.runtime };
    let name = absent.map_or("", |model| &model.name);
    for (flag, value) in [("--runtime", runtime.as_str()), ("--model", name)] {
        if !value.is_empty() {
            args.extend([flag.into(), value.into()]);
        }
    }
    let servers = DownloadServers { index: &config.model.index, hub: &config.model.hub };
    run_fetch(&args, &servers, output)
}

fn run_fetch(args: &[OsString], servers: &DownloadServers<'_>, output: &Output) -> Result<(), CliError> {
    let bar = download_bar(output.quiet);
    let fetched = memod_client::run_fetch(
        &ClientOptions::read(),
        args,
        servers,
        |report: &FetchReportLine| match report {
            FetchReportLine::Note { text } => bar.suspend(|| output.write_note(&escape_for_display(text))),
            FetchReportLine::Progress { what, done, total } => {
                if *total > 0 {
                    bar.set_length(*total); // some servers send no total
                }
                bar.set_position(*done);
                bar.set_message(escape_for_display(what));
            }
            FetchReportLine::Done | FetchReportLine::Failed { .. } => {}
        },
    );
    bar.finish_and_clear();
    Ok(fetched?)
}

/// Returns a progress bar, hidden if stderr is not a terminal. It has no colour, so `--color` does not apply.
fn download_bar(quiet: bool) -> ProgressBar {
    let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let template = "{msg:>10} [{bar:32}] {bytes}/{total_bytes} {bytes_per_sec} {eta}";
    let style = ProgressStyle::with_template(template).expect("the template is a constant and well-formed");
    let bar = ProgressBar::with_draw_target(None, target);
    bar.set_style(style.progress_chars("=> "));
    bar
}
