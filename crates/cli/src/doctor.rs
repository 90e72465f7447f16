//! Checks the client's side of an installation and prints the daemon's checks.

use std::fs;
use std::io;
use std::path::Path;

use memod_base::paths::{RepoLayout, effective_uid, io_hint, owner};
use memod_client::VERSION;
use memod_proto::{AcknowledgeResult, Check, CwdParams, DoctorResult};
use serde::Serialize;

use super::args::DoctorArgs;
use super::context::CommandContext;
use super::error::{CliError, CliResult, EXIT_NONE};
use super::output::Output;
use super::text::{escape, paint};

/// What is printed as JSON.
#[derive(Serialize)]
struct Report {
    checks: Vec<Check>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acknowledged: Option<Vec<String>>,
}

/// Runs the checks of both sides, continuing after a failure where possible. Exits with 1 when a check fails.
pub(super) fn doctor(typed: &DoctorArgs, dir: Option<&Path>, output: &mut Output) -> CliResult {
    let context = CommandContext::find(dir);
    let acknowledged = match &context {
        Ok(context) if typed.ack => Some(acknowledge(context)?),
        _ => None,
    };
    let checks = match context {
        Ok(context) => checks(&context),
        Err(error) => vec![failed("worktree", &error)],
    };
    let exit = if checks.iter().all(|check| check.ok) { 0 } else { EXIT_NONE };
    let report = Report { checks, acknowledged };
    output.value(&report, |output| print_report(&report, output))?;
    Ok(exit)
}

/// Has the daemon end its notices of repairs.
fn acknowledge(context: &CommandContext) -> Result<Vec<String>, CliError> {
    let params = CwdParams { cwd: context.cwd.clone() };
    let result: AcknowledgeResult = context.connect()?.call("doctor.acknowledge", &params)?;
    Ok(result.acknowledged)
}

fn print_report(report: &Report, output: &mut Output) -> Result<(), CliError> {
    if let Some(acknowledged) = &report.acknowledged {
        if acknowledged.is_empty() {
            output.say("there is nothing to acknowledge");
        }
        acknowledged.iter().try_for_each(|event| output.line(&format!("ack   {}", escape(event))))?;
    }
    report.checks.iter().try_for_each(|check| print(check, output))
}

fn checks(context: &CommandContext) -> Vec<Check> {
    let mut checks = vec![well("worktree", context.layout.root.display().to_string()), settings(context)];
    match daemon(context) {
        Ok((found, theirs)) => {
            checks.push(found);
            checks.push(private("state dir", &context.layout.state_dir));
            // A pipe of Windows is in no directory.
            checks.extend(cfg!(unix).then(|| private("socket dir", &RepoLayout::socket_dir(&context.env))));
            checks.extend(theirs);
        }
        Err(error) => {
            checks.push(private("state dir", &context.layout.state_dir));
            checks.push(failed("daemon", &error));
        }
    }
    checks
}

/// Asks the daemon for its own checks.
fn daemon(context: &CommandContext) -> Result<(Check, Vec<Check>), CliError> {
    let mut client = context.connect()?;
    let params = CwdParams { cwd: context.cwd.clone() };
    let theirs: DoctorResult = client.call("doctor", &params)?;
    let endpoint = client.endpoint();
    let detail = format!(
        "version {} answers as pid {} on {}; this is memo {VERSION}",
        endpoint.version, endpoint.pid, endpoint.socket
    );
    Ok((well("daemon", detail), theirs.checks))
}

fn settings(context: &CommandContext) -> Check {
    match memod_config::load(Some(&context.layout)) {
        Ok(_) => well("settings", context.layout.config_file().display().to_string()),
        Err(error) => failed("settings", &error.into()),
    }
}

/// Checks that a directory exists and that only we can access it.
fn private(name: &str, dir: &Path) -> Check {
    let shown = dir.display();
    let bad =
        |detail: String, hint: String| Check { name: name.to_owned(), ok: false, detail, hint: Some(hint) };
    let meta = match fs::symlink_metadata(dir) {
        Ok(meta) => meta,
        Err(error) => {
            let hint = match error.kind() {
                io::ErrorKind::NotFound => Some("`memo status` creates it"),
                _ => io_hint(&error),
            };
            let detail = format!("{shown}: {error}");
            return Check { name: name.to_owned(), ok: false, detail, hint: hint.map(str::to_owned) };
        }
    };
    if !meta.is_dir() || owner(&meta).is_some_and(|owner| owner != effective_uid()) {
        return bad(format!("{shown}: not our directory"), format!("remove {shown}"));
    }
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o777;
        if mode & 0o077 != 0 {
            return bad(format!("{shown}: others may enter (mode {mode:o})"), format!("chmod 700 {shown}"));
        }
    }
    well(name, shown.to_string())
}

fn well(name: &str, detail: String) -> Check {
    Check { name: name.to_owned(), ok: true, detail, hint: None }
}

fn failed(name: &str, error: &CliError) -> Check {
    let shown = error.shown();
    Check { name: name.to_owned(), ok: false, detail: shown.message, hint: shown.hint }
}

fn print(check: &Check, output: &mut Output) -> Result<(), CliError> {
    let styles = output.styles;
    let mark = if check.ok { paint(styles.good, "ok  ") } else { paint(styles.bad, "FAIL") };
    output.line(&format!("{mark}  {}: {}", escape(&check.name), escape(&check.detail)))?;
    match check.hint.as_ref().filter(|_| !check.ok) {
        Some(hint) => output.line(&format!("      hint: {}", escape(hint))),
        None => Ok(()),
    }
}
