//! Generates the manual pages.

use std::fs;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::paths::IoContext;

use super::args::CommandLine;
use super::error::{CliError, CliResult};
use super::output::Output;

/// Prints the page of `memo`, or writes the pages of all verbs and subcommands into `dir`.
pub(super) fn man(dir: Option<&Path>, output: &mut Output) -> CliResult {
    let mut command = CommandLine::command();
    command.build();
    let Some(dir) = dir else {
        output.raw(&page(&command)?)?;
        return Ok(0);
    };
    fs::create_dir_all(dir).at("create directory", dir)?;
    write(dir, &command, output)?;
    Ok(0)
}

/// Each subcommand gets a page, because the page of its parent refers to it.
fn write(dir: &Path, command: &Command, output: &mut Output) -> Result<(), CliError> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let file = dir.join(format!("{name}.1"));
    fs::write(&file, page(command)?).at("write", &file)?;
    output.line(&super::text::escape(&file.display().to_string()))?;
    command.get_subcommands().try_for_each(|below| write(dir, below, output))
}

fn page(command: &Command) -> Result<Vec<u8>, CliError> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}
