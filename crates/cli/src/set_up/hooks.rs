//! Runs `memo hooks`: installs, removes and shows git hooks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use memod_client::child::{clear_git_env, read_first_line};
use memod_client::{Client, ClientError};
use memod_proto::{HookMethod, HooksParams, HooksResult};
use memod_terminal::text::escape_for_display;
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use crate::args::GitHooksVerb;

/// Time limit for `git --version`.
const GIT_TIMEOUT: Duration = Duration::from_secs(2);

/// Installs, removes or shows hooks. Installing and uninstalling exit with 1 when they failed for one of the hooks.
pub(crate) fn manage_hooks(verb: GitHooksVerb, context: &CommandContext, output: &mut Output) -> CliResult {
    let mut client = context.connect()?;
    let (method, chain) = match verb {
        GitHooksVerb::Install { chain } => ("hooks.install", chain),
        GitHooksVerb::Uninstall => ("hooks.uninstall", false),
        GitHooksVerb::Status => ("hooks.status", false),
    };
    let result = call_hooks_method(&mut client, method, chain, context)?;
    output.write_result(&result, |output| print_hooks(&result, output))?;
    let is_done = match verb {
        GitHooksVerb::Install { .. } => {
            !result.hooks.is_empty() && count_active_hooks(&result) == result.hooks.len()
        }
        GitHooksVerb::Uninstall => count_active_hooks(&result) == 0,
        GitHooksVerb::Status => true,
    };
    Ok(if is_done { 0 } else { EXIT_NOTHING_FOUND })
}

/// Installs the hooks that can be installed without `--chain`. Returns `None` outside git, or after reporting a failure.
pub(crate) fn install_hooks(
    client: &mut Client,
    context: &CommandContext,
    output: &Output,
) -> Option<HooksResult> {
    context.layout.git_dir.as_ref()?;
    match call_hooks_method(client, "hooks.install", false, context) {
        Ok(result) => Some(result),
        Err(error) => {
            output.write_note(&format!("no git hooks were installed: {error}"));
            None
        }
    }
}

/// Returns the files of the hooks that notify the daemon, each file once.
pub(crate) fn fetch_active_hook_files(
    client: &mut Client,
    context: &CommandContext,
) -> Result<Vec<PathBuf>, ClientError> {
    Ok(find_active_hook_files(&call_hooks_method(client, "hooks.status", false, context)?))
}

/// Removes the hooks. Returns the files of hooks that still notify the daemon, because they could not be removed.
pub(crate) fn uninstall_hooks(
    client: &mut Client,
    context: &CommandContext,
) -> Result<Vec<PathBuf>, ClientError> {
    Ok(find_active_hook_files(&call_hooks_method(client, "hooks.uninstall", false, context)?))
}

fn find_active_hook_files(result: &HooksResult) -> Vec<PathBuf> {
    let ringing = result.hooks.iter().filter(|hook| hook.method > HookMethod::WatchOnly);
    let files: BTreeSet<&String> = ringing.map(|hook| &hook.path).collect();
    files.into_iter().map(PathBuf::from).collect()
}

/// Returns one line that says how the hooks are installed, and how many of them are.
pub(crate) fn summarize_hooks(result: &HooksResult) -> String {
    let method = result.method.as_str();
    match (count_active_hooks(result), result.hooks.len()) {
        (0, _) => format!("{method} (memo hooks says why)"),
        (n, all) if n < all => format!("{method}, {n} of {all} (memo hooks says why)"),
        _ => format!("{method} (memo hooks uninstall removes them)"),
    }
}

fn count_active_hooks(result: &HooksResult) -> usize {
    result.hooks.iter().filter(|hook| hook.method > HookMethod::WatchOnly).count()
}

fn call_hooks_method(
    client: &mut Client,
    method: &str,
    chain: bool,
    context: &CommandContext,
) -> Result<HooksResult, ClientError> {
    let (cwd, git_version) = (context.cwd.clone(), git_version());
    client.call(method, &HooksParams { cwd, git_version, git_lfs: has_program("git-lfs"), chain })
}

fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&path).any(|dir| dir.join(&name).is_file())
}

fn print_hooks(result: &HooksResult, output: &mut Output) -> Result<(), CliError> {
    for hook in &result.hooks {
        let note = hook.note.as_ref().map_or(String::new(), |note| format!(": {note}"));
        let text = escape_for_display(&format!("{}{note}", hook.path));
        output.write_line(&format!("{:<15} {:<10} {text}", hook.event, hook.method.as_str()))?;
    }
    for note in &result.notes {
        output.write_note(note);
    }
    for path in &result.changed {
        output.write_note(&format!("changed {path}"));
    }
    Ok(())
}

/// Returns the output of `git --version`; `None` if git is not installed.
///
/// The version of git decides how hooks can be installed. The daemon cannot ask git, because it starts no processes, so this
/// program does, in the user's environment. Runs git outside of any repository, so that no configuration of a repository takes
/// effect.
fn git_version() -> Option<String> {
    let mut command = Command::new("git");
    command.arg("--version").current_dir(Path::new(std::path::MAIN_SEPARATOR_STR));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    clear_git_env(&mut command);
    let mut child = command.env("GIT_OPTIONAL_LOCKS", "0").spawn().ok()?;
    let line = child.stdout.take().and_then(|stdout| read_first_line(stdout, GIT_TIMEOUT));
    let _ = child.kill(); // the line has been read, or the time is over
    let _ = child.wait();
    let line = String::from_utf8(line?.ok()?).ok()?;
    Some(line.trim().to_owned()).filter(|line| !line.is_empty())
}
