//! Shows and writes the manual pages.

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::{Command as Program, Stdio};

use clap::Command;
use clap_mangen::Man;
use memod_base::paths::IoContext;
use memod_terminal::text::escape_for_display;
use memod_terminal::{CliError, CliResult, Output};

use crate::args::{ManArgs, build_full_command};

/// Shows the manual page of a verb, or writes the pages of all verbs and subcommands into a directory.
pub(crate) fn show_manual(typed: &ManArgs, output: &mut Output) -> CliResult {
    let mut command = build_full_command();
    command.build();
    if let Some(dir) = &typed.to {
        fs::create_dir_all(dir).at("create directory", dir)?;
        write_pages(dir, &command, output)?;
        return Ok(0);
    }
    let command = find_command(&command, &typed.verb)?;
    let page = render_page(command)?;
    if !io::stdout().is_terminal() {
        output.write_bytes(&page)?;
    } else if !show_page_with_man(command_name(command), &page)? {
        output.write_bytes(command.clone().render_long_help().to_string().as_bytes())?;
    }
    Ok(0)
}

/// Returns the command of a verb, such as `config set`.
fn find_command<'a>(memo: &'a Command, verb: &[String]) -> Result<&'a Command, CliError> {
    // `memo-config`, the name of the page, also selects `memo config`.
    let words = verb.iter().flat_map(|word| word.strip_prefix("memo-").unwrap_or(word).split_whitespace());
    words.into_iter().try_fold(memo, |command, word| {
        command.find_subcommand(word).ok_or_else(|| CliError::Usage {
            message: format!("{word}: {} has no such verb", command_name(command)),
            hint: "`memo help --all` lists the verbs; `memo man --to DIR` writes the pages of all of them",
        })
    })
}

fn command_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// Shows a page with the program `man`; returns whether `man` succeeded.
fn show_page_with_man(name: &str, page: &[u8]) -> Result<bool, CliError> {
    // Every `man` can show a file, but not every `man` reads stdin.
    let file = std::env::temp_dir().join(format!("{name}.{}.1", std::process::id()));
    let written = OpenOptions::new().write(true).create_new(true).open(&file);
    written.and_then(|mut to| to.write_all(page)).at("write", &file)?;
    // If `man` is missing, the caller shows the help instead.
    let status = Program::new("man").arg("-l").arg(&file).stderr(Stdio::null()).status();
    fs::remove_file(&file).at("remove", &file)?;
    Ok(status.is_ok_and(|status| status.success()))
}

/// Writes the page of a command and the pages of its subcommands. Each subcommand gets a page, because the page of its parent
/// refers to it.
fn write_pages(dir: &Path, command: &Command, output: &mut Output) -> Result<(), CliError> {
    let file = dir.join(format!("{}.1", command_name(command)));
    fs::write(&file, render_page(command)?).at("write", &file)?;
    output.write_line(&escape_for_display(&file.display().to_string()))?;
    let shown = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set());
    shown.into_iter().try_for_each(|subcommand| write_pages(dir, subcommand, output))
}

fn render_page(command: &Command) -> Result<Vec<u8>, CliError> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}
