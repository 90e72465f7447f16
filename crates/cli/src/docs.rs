//! Shows and writes the manual pages.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::{Command as Program, Stdio};

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use memod_base::paths::IoContext;

use super::args::{CommandLine, ManArgs};
use super::error::{CliError, CliResult};
use super::output::Output;

/// Opens the page of a verb, or writes the pages of all verbs and subcommands into a directory.
pub(super) fn man(typed: &ManArgs, output: &mut Output) -> CliResult {
    let mut command = CommandLine::command();
    command.build();
    if let Some(dir) = &typed.to {
        fs::create_dir_all(dir).at("create directory", dir)?;
        write(dir, &command, output)?;
        return Ok(0);
    }
    let command = find(&command, &typed.verb)?;
    let page = page(command)?;
    if !io::stdout().is_terminal() {
        output.raw(&page)?;
    } else if !open(name(command), &page)? {
        output.raw(command.clone().render_long_help().to_string().as_bytes())?;
    }
    Ok(0)
}

/// Returns the command of a verb, such as `config set`.
fn find<'a>(memo: &'a Command, verb: &[String]) -> Result<&'a Command, CliError> {
    // The page of `memo config` is also asked for as `memo-config`, as it is named.
    let words = verb.iter().flat_map(|word| word.strip_prefix("memo-").unwrap_or(word).split_whitespace());
    words.into_iter().try_fold(memo, |command, word| {
        command.find_subcommand(word).ok_or_else(|| CliError::Usage {
            message: format!("{word}: {} has no such verb", name(command)),
            hint: "`memo --help` lists the verbs; `memo man --to DIR` writes the pages of all of them",
        })
    })
}

fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// Has `man` show a page; returns whether it did.
fn open(name: &str, page: &[u8]) -> Result<bool, CliError> {
    // `man` takes only files everywhere.
    let file = std::env::temp_dir().join(format!("{name}.{}.1", std::process::id()));
    let written = OpenOptions::new().write(true).create_new(true).open(&file);
    written.and_then(|mut to| to.write_all(page)).at("write", &file)?;
    // Without `man` the help is shown instead.
    let shown = Program::new("man").arg("-l").arg(&file).stderr(Stdio::null()).status();
    fs::remove_file(&file).at("remove", &file)?;
    Ok(shown.is_ok_and(|status| status.success()))
}

/// Each subcommand gets a page, because the page of its parent refers to it.
fn write(dir: &Path, command: &Command, output: &mut Output) -> Result<(), CliError> {
    let file = dir.join(format!("{}.1", name(command)));
    fs::write(&file, page(command)?).at("write", &file)?;
    output.line(&super::text::escape(&file.display().to_string()))?;
    command.get_subcommands().try_for_each(|below| write(dir, below, output))
}

fn page(command: &Command) -> Result<Vec<u8>, CliError> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}
