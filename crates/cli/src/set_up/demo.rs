//! Runs `memo demo`: makes a small repository, and runs the main verbs in it.
//!
//! `shop_repository` makes the repository, `walk_steps` lists the commands, and `remove_demo` removes it all.

mod remove_demo;
mod shop_repository;
mod walk_steps;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use memod_base::paths::{IoContext, canonicalize_path};
use memod_terminal::rows::OutputShape;
use memod_terminal::text::{escape_for_display, format_duration, paint, shell_word};
use memod_terminal::{CliError, CliResult, GlobalArgs, Output};
use serde_json::{Value, json};

use crate::args::{CommandLine, DemoArgs, parse_command_line};
use crate::daemon::status::print_field;
use shop_repository::{EDITED_FILE, NEW_LINE, OLD_LINE};
use walk_steps::{WALK, WalkStep};

/// Name of the directory that the demo is in if no other is given.
const DEFAULT_DIR: &str = "memod-demo";

/// A function that runs one verb with this output.
type RunVerb = fn(CommandLine, &mut Output) -> CliResult;

/// Makes the demo and runs its commands, or removes it.
pub(crate) fn run_demo(
    typed: &DemoArgs,
    global: &GlobalArgs,
    run_verb: RunVerb,
    output: &mut Output,
) -> CliResult {
    let start_dir = global.dir.as_deref().unwrap_or(Path::new(""));
    if typed.remove {
        let dir =
            typed.demo_dir.as_ref().map_or_else(|| find_default_demo(start_dir), |dir| start_dir.join(dir));
        return remove_demo::remove_demo(&dir, output);
    }
    let start = Instant::now();
    let typed_dir = typed.demo_dir.as_deref().unwrap_or(Path::new(DEFAULT_DIR));
    if ["remove", "rm", "delete"].iter().any(|word| typed_dir == Path::new(word)) {
        return Err(CliError::Usage {
            message: format!("{}: not made, because removing a demo was probably meant", typed_dir.display()),
            hint: "`memo demo --remove` removes one; `memo demo ./NAME` makes one of any name",
        });
    }
    let dir = start_dir.join(typed_dir);
    check_free_dir(&dir)?;
    shop_repository::make_repository(&dir)?;
    let dir = canonicalize_path(&dir)?;
    let walk = DemoWalk { global, run_verb, typed_dir, dir: &dir, start };
    let walked = if output.write_json { walk.print_json(output) } else { walk.print_text(output) };
    if walked.is_err() {
        output.write_note(&format!("the demo is not complete: `{}` removes it", removal_command(&dir)));
    }
    walked
}

/// Returns the demo below a directory, or else this directory, in which the demo's own commands run.
fn find_default_demo(start_dir: &Path) -> PathBuf {
    let below = start_dir.join(DEFAULT_DIR);
    let here = start_dir.join(".");
    if !below.exists() && shop_repository::is_demo(&here) { here } else { below }
}

fn removal_command(dir: &Path) -> String {
    format!("memo demo --remove {}", shell_word(&dir.display().to_string()))
}

/// Fails unless nothing is at this path, or an empty directory is.
fn check_free_dir(dir: &Path) -> Result<(), CliError> {
    if dir.to_str().is_none() {
        return Err(CliError::NotUtf8(dir.to_owned()));
    }
    let (what, hint) = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            ("not a directory", "name a new directory: `memo demo DIR`")
        }
        Err(error) => return Ok(Err(error).at("list", dir)?),
        Ok(_) if shop_repository::is_demo(dir) => (
            "a demo is here already",
            "`memo demo --remove DIR` removes it; `memo demo OTHER-DIR` makes another one",
        ),
        Ok(mut entries) => match entries.next() {
            None => return Ok(()),
            Some(_) => ("the directory is not empty", "name a new directory: `memo demo DIR`"),
        },
    };
    Err(CliError::Usage { message: format!("{}: {what}; nothing was changed", dir.display()), hint })
}

/// The walk through the verbs, which runs in the directory of the demo.
struct DemoWalk<'a> {
    global: &'a GlobalArgs,
    run_verb: RunVerb,
    /// The directory as it was typed.
    typed_dir: &'a Path,
    /// The same directory, canonical.
    dir: &'a Path,
    start: Instant,
}

impl DemoWalk<'_> {
    /// Prints each command with its output. Returns the largest exit status.
    fn print_text(&self, output: &mut Output) -> CliResult {
        let typed_dir = match self.typed_dir.is_absolute() || self.global.dir.is_none() {
            true => self.typed_dir,
            false => self.dir,
        };
        let typed_dir = shell_word(&escape_for_display(&typed_dir.display().to_string()));
        output.write_line(walk_steps::INTRODUCTION)?;
        print_command(&format!("cd {typed_dir}"), output)?;
        let mut worst = 0;
        for WalkStep { sentence, command } in WALK {
            output.write_line(&format!("\n{sentence}"))?;
            let Some(command) = command else {
                self.edit_file(output)?;
                continue;
            };
            print_command(command, output)?;
            // Messages go to stderr, and must not come before the command.
            output.flush()?;
            worst = worst.max((self.run_verb)(self.parse_command(command)?, output)?);
            output.flush()?;
        }
        output.write_line("")?;
        let took = format_duration(self.elapsed_ms());
        print_field(
            "demo",
            &format!("{} (took {took})", escape_for_display(&self.dir.display().to_string())),
            output,
        )?;
        print_field("next", &format!("cd {typed_dir} && {}", walk_steps::NEXT_COMMAND), output)?;
        print_field("yours", "memo -C REPO init, where REPO is the path of your own repository", output)?;
        print_field("remove", &escape_for_display(&removal_command(self.dir)), output)?;
        Ok(worst)
    }

    /// Prints one object with each command and its result. Returns the largest exit status.
    fn print_json(&self, output: &mut Output) -> CliResult {
        let mut worst = 0;
        let mut steps: Vec<Value> = Vec::new();
        for WalkStep { sentence, command } in WALK {
            let Some(command) = command else {
                shop_repository::edit_file(self.dir)?;
                let edit = json!({ "path": EDITED_FILE, "old": OLD_LINE, "new": NEW_LINE });
                steps.push(json!({ "about": sentence, "edit": edit }));
                continue;
            };
            let typed = self.parse_command(command)?;
            let shape = OutputShape::for_single_result(self.global.json);
            let (exit, captured) = Output::capture(shape, |output| (self.run_verb)(typed, output));
            let exit = exit?;
            worst = worst.max(exit);
            steps.push(json!({
                "about": sentence,
                "command": command,
                "exit": exit,
                "result": captured.json,
                "notes": captured.notes,
            }));
        }
        output.is_json_object(&json!({
            "root": self.dir.display().to_string(),
            "steps": steps,
            "next": walk_steps::NEXT_COMMAND,
            "remove": removal_command(self.dir),
            "took_ms": self.elapsed_ms(),
        }))?;
        Ok(worst)
    }

    /// Returns the parsed command, with the global flags of this run, to be run in the directory of the demo.
    fn parse_command(&self, command: &str) -> Result<CommandLine, CliError> {
        let words = shlex::split(command).expect("the commands of the demo are quoted correctly");
        let mut typed = parse_command_line(words).expect("the commands of the demo are those of memo");
        typed.global = GlobalArgs { dir: Some(self.dir.to_owned()), ..self.global.clone() };
        Ok(typed)
    }

    /// Edits the file of the step without a command, and prints the difference.
    fn edit_file(&self, output: &mut Output) -> Result<(), CliError> {
        shop_repository::edit_file(self.dir)?;
        output.write_line(&format!("  {}", paint(output.styles.path, EDITED_FILE)))?;
        output.write_line(&format!("  {}", paint(output.styles.bad, &format!("-{OLD_LINE}"))))?;
        output.write_line(&format!("  {}", paint(output.styles.good, &format!("+{NEW_LINE}"))))
    }

    fn elapsed_ms(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }
}

fn print_command(command: &str, output: &mut Output) -> Result<(), CliError> {
    output.write_line(&format!("$ {}", paint(output.styles.title, command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_of_the_demo_is_one_of_memo() {
        let commands = WALK.iter().filter_map(|step| step.command).chain([walk_steps::NEXT_COMMAND]);
        for command in commands {
            let words = shlex::split(command).expect("the command is quoted correctly");
            assert!(parse_command_line(words).is_ok(), "{command}");
        }
    }
}
