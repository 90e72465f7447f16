//! Runs `memo setup`: sets agents up to use memod, shows the changes, and undoes them.

use std::collections::BTreeSet;
use std::path::Path;

use memod_base::paths::{Env, IoContext};
use memod_setup::{
    AgentReport, DetectedAgent, FileAction, FileReport, FileScope, SetupDirs, SetupError, SetupRequest,
};
use memod_terminal::text::{escape_for_display, escape_lines, format_count, paint};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};
use serde_json::json;

use crate::args::{SetupArgs, SetupScope};

/// Sets agents up, or undoes their set-up. Exits with 1 when a file was left alone, or no agent was found.
pub(crate) fn set_up_agents(
    typed: &SetupArgs,
    context: impl Fn() -> Result<CommandContext, CliError>,
    output: &mut Output,
) -> CliResult {
    let scope = typed.scope.map(|scope| match scope {
        SetupScope::User => FileScope::User,
        SetupScope::Project => FileScope::Project,
    });
    let (dirs, memo) = find_agent_dirs(typed, scope, context)?;
    let request =
        SetupRequest { agents: typed.agents.clone(), scope, undo: typed.undo, dry_run: typed.show, memo };
    let looked_for = if typed.agents.is_empty() && !typed.undo {
        memod_setup::detect_agents(&dirs, scope.unwrap_or(FileScope::User))
    } else {
        Vec::new()
    };
    let reports = memod_setup::run_setup(&request, &dirs).map_err(to_cli_error)?;
    if output.write_json {
        output.is_json_object(
            &json!({ "written": !typed.show, "looked_for": looked_for, "agents": reports }),
        )?;
    } else {
        print_detected(&looked_for, output)?;
        print_reports(&reports, typed, output)?;
        write_setup_summary(&reports, typed, output);
    }
    let files = reports.iter().flat_map(|report| &report.files);
    let is_done = files.clone().all(|file| file.action != FileAction::LeftAlone);
    let is_found = typed.undo || !reports.is_empty();
    Ok(if is_done && is_found { 0 } else { EXIT_NOTHING_FOUND })
}

/// Returns one line that says which agents on this machine are set up or are not; `None` if there is no agent.
pub(crate) fn summarize_setup(env: &Env) -> Option<String> {
    let dirs = SetupDirs::new(env, Path::new(""))?;
    let program = std::env::current_exe().ok()?;
    let memo = dirs.stable_path(&program).display().to_string();
    let request =
        SetupRequest { agents: Vec::new(), scope: Some(FileScope::User), undo: false, dry_run: true, memo };
    let reports = memod_setup::run_setup(&request, &dirs).ok()?;
    let (done, missing): (Vec<_>, Vec<_>) = reports
        .iter()
        .partition(|report| report.files.iter().all(|file| file.action == FileAction::Unchanged));
    match (done.is_empty(), missing.is_empty()) {
        (true, true) => None,
        (_, true) => Some(format!("{} know of memod", join_names(&done))),
        _ => Some(format!("not set up: {} (memo setup --show shows the changes)", join_names(&missing))),
    }
}

fn join_names(reports: &[&AgentReport]) -> String {
    reports.iter().map(|report| report.name).collect::<Vec<_>>().join(", ")
}

/// Removes the text that `memo setup` wrote into files of this scope, or with `show` only finds it. Returns reports on the files
/// that have such text.
pub(crate) fn remove_setup(
    env: &Env,
    project: &Path,
    scope: FileScope,
    show: bool,
) -> Result<Vec<AgentReport>, CliError> {
    let Some(dirs) = SetupDirs::new(env, project) else { return Ok(Vec::new()) };
    let request = SetupRequest {
        agents: Vec::new(),
        scope: Some(scope),
        undo: true,
        dry_run: show,
        memo: "memo".to_owned(),
    };
    let mut reports = memod_setup::run_setup(&request, &dirs).map_err(to_cli_error)?;
    reports.iter_mut().for_each(|report| report.files.retain(|file| file.action != FileAction::Unchanged));
    reports.retain(|report| !report.files.is_empty());
    Ok(reports)
}

/// Returns the directories of agents, and the path of this program to write into their settings.
fn find_agent_dirs(
    typed: &SetupArgs,
    scope: Option<FileScope>,
    context: impl Fn() -> Result<CommandContext, CliError>,
) -> Result<(SetupDirs, String), CliError> {
    let is_in_project =
        scope == Some(FileScope::Project) || typed.agents.iter().any(|agent| agent == "agents-md");
    // Files in the user's home need no worktree.
    let (env, project) = match context() {
        Ok(context) => (context.env, context.layout.root),
        Err(CliError::Locate(_)) if !is_in_project => (Env::read(), std::path::PathBuf::new()),
        Err(error) => return Err(error),
    };
    let dirs = SetupDirs::new(&env, &project).ok_or(CliError::NoHome)?;
    let program = std::env::current_exe().at("find", Path::new("memo"))?;
    let memo = dirs.stable_path(&program).display().to_string();
    Ok((dirs, memo))
}

fn to_cli_error(error: SetupError) -> CliError {
    match error {
        SetupError::Locked(error) => error.into(),
        error => {
            CliError::Usage { message: error.to_string(), hint: "run `memo setup --scope project agents-md`" }
        }
    }
}

/// Prints the agents that were looked for, and whether each was found.
fn print_detected(detected: &[DetectedAgent], output: &mut Output) -> Result<(), CliError> {
    for DetectedAgent { agent, found, looked_for } in detected {
        let text = match found {
            Some(found) => format!("found {found}"),
            None => format!("not found ({})", looked_for.join(", ")),
        };
        output.write_line(&format!("{agent:<12} {}", escape_for_display(&text)))?;
    }
    Ok(())
}

fn print_reports(reports: &[AgentReport], typed: &SetupArgs, output: &mut Output) -> Result<(), CliError> {
    let mut shown = BTreeSet::new();
    let mut gap = if typed.agents.is_empty() && !typed.undo { "\n" } else { "" };
    for report in reports {
        let done = report.files.iter().filter(|file| !(typed.undo && file.action == FileAction::Unchanged));
        let files: Vec<&FileReport> = done.collect();
        if files.is_empty() {
            continue;
        }
        let title = format!("{} ({})", report.name, report.scope);
        output.write_line(&format!("{gap}{}", paint(output.styles.title, &title)))?;
        gap = "\n";
        for file in &files {
            // A skill is the same for every agent, so show its text only once.
            let is_new = shown.insert(without_diff_header(&file.diff));
            let again = if is_new || file.diff.is_empty() { "" } else { " (as shown above)" };
            let reason = file.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            let text = format!("{} {}{reason}{again}", describe_action(file.action, typed.show), file.shown);
            output.write_line(&format!("  {}", escape_for_display(&text)))?;
            if is_new {
                print_diff(&file.diff, output)?;
            }
        }
    }
    // Flush, so that messages follow the report.
    output.flush()
}

/// Writes notes, the number of changed files, and the files that were left alone with their reasons to stderr.
fn write_setup_summary(reports: &[AgentReport], typed: &SetupArgs, output: &Output) {
    for report in reports.iter().filter(|report| !report.note.is_empty()) {
        output.write_note(report.note);
    }
    let changed: u64 = [FileAction::Created, FileAction::Changed, FileAction::Removed]
        .map(|action| count_files(reports, action))
        .iter()
        .sum();
    match (changed, typed.show) {
        (0, _) if reports.is_empty() && !typed.undo => {
            output.write_note(
                "no agent was found; `memo setup agents-md` writes AGENTS.md, which most agents read",
            );
        }
        (0, _) if count_files(reports, FileAction::LeftAlone) == 0 => output.write_note("nothing to do"),
        (_, true) => {
            output.write_note(&format!("{} would be changed", format_count(changed, "file", "files")));
        }
        (_, false) => output.write_note(&format!("{} changed", format_count(changed, "file", "files"))),
    }
    let files = reports.iter().flat_map(|report| &report.files);
    for file in files.filter(|file| file.action == FileAction::LeftAlone) {
        let reason = file.reason.as_deref().unwrap_or_default();
        output.write_warning(&format!("{}: left alone: {reason}", file.shown));
    }
}

fn count_files(reports: &[AgentReport], action: FileAction) -> u64 {
    let files = reports.iter().flat_map(|report| &report.files);
    files.filter(|file| file.action == action).count() as u64
}

/// Returns the words for an action that was done, or with `show` would be done.
fn describe_action(action: FileAction, show: bool) -> String {
    match action {
        FileAction::Created | FileAction::Changed | FileAction::Removed if show => {
            format!("would be {}:", action.as_str())
        }
        _ => format!("{}:", action.as_str()),
    }
}

/// Returns a diff without the lines at its start that name the file.
fn without_diff_header(diff: &str) -> &str {
    diff.find("\n@@").map_or(diff, |at| &diff[at..])
}

fn print_diff(diff: &str, output: &mut Output) -> Result<(), CliError> {
    for line in diff.lines() {
        let style = match line.as_bytes().first() {
            Some(b'+') => output.styles.good,
            Some(b'-') => output.styles.bad,
            _ => anstyle::Style::new(),
        };
        output.write_line(&paint(style, escape_lines(line).trim_end()))?;
    }
    Ok(())
}
