//! Runs `memo doctor`: checks what the client needs, and prints these checks and those of the daemon.

use std::fs;
use std::io;
use std::path::Path;

use memod_base::paths::{RepoLayout, effective_uid, io_error_hint, owner_uid};
use memod_client::VERSION;
use memod_proto::{AcknowledgeResult, Check, CwdParams, DoctorResult};
use memod_terminal::text::{escape_for_display, escape_lines, paint};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};
use serde::Serialize;

use crate::args::DoctorArgs;

/// The report of `memo doctor`, as it is printed in JSON.
#[derive(Serialize)]
struct DoctorReport {
    checks: Vec<Check>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acknowledged: Option<Vec<String>>,
}

/// Runs the checks of the client and of the daemon, continuing after a failure where possible. Exits with 1 when a check fails.
pub(crate) fn run_doctor(typed: &DoctorArgs, dir: Option<&Path>, output: &mut Output) -> CliResult {
    let context = CommandContext::find(dir);
    let acknowledged = match &context {
        Ok(context) if typed.ack => Some(acknowledge_repairs(context)?),
        _ => None,
    };
    let checks = match context {
        Ok(context) => run_checks(&context),
        Err(error) => vec![failed_check("worktree", &error)],
    };
    let exit = if checks.iter().all(|check| check.ok) { 0 } else { EXIT_NOTHING_FOUND };
    let report = DoctorReport { checks, acknowledged };
    output.write_result(&report, |output| print_doctor_report(&report, output))?;
    Ok(exit)
}

/// Acknowledges the repairs that the daemon reports, which ends its notices of them. Returns the acknowledged repairs.
fn acknowledge_repairs(context: &CommandContext) -> Result<Vec<String>, CliError> {
    let params = CwdParams { cwd: context.cwd.clone() };
    let result: AcknowledgeResult = context.connect()?.call("doctor.acknowledge", &params)?;
    Ok(result.acknowledged)
}

fn print_doctor_report(report: &DoctorReport, output: &mut Output) -> Result<(), CliError> {
    if let Some(acknowledged) = &report.acknowledged {
        if acknowledged.is_empty() {
            output.write_note("there is nothing to acknowledge");
        }
        acknowledged
            .iter()
            .try_for_each(|event| output.write_line(&format!("ack   {}", escape_for_display(event))))?;
    }
    report.checks.iter().try_for_each(|check| print_check(check, output))
}

fn run_checks(context: &CommandContext) -> Vec<Check> {
    let mut checks =
        vec![passed_check("worktree", context.layout.root.display().to_string()), check_settings(context)];
    match check_daemon(context) {
        Ok((check, daemon_checks)) => {
            checks.push(check);
            checks.push(check_private_dir("state dir", &context.layout.state_dir));
            // On Windows the socket is a pipe, which has no directory.
            checks.extend(
                cfg!(unix).then(|| check_private_dir("socket dir", &RepoLayout::socket_dir(&context.env))),
            );
            checks.extend(daemon_checks);
        }
        Err(error) => {
            checks.push(check_private_dir("state dir", &context.layout.state_dir));
            checks.push(failed_check("daemon", &error));
        }
    }
    checks
}

/// Asks the daemon for its own checks. Returns a check that the daemon answers, and the checks of the daemon.
fn check_daemon(context: &CommandContext) -> Result<(Check, Vec<Check>), CliError> {
    let mut client = context.connect()?;
    let params = CwdParams { cwd: context.cwd.clone() };
    let daemon_result: DoctorResult = client.call("doctor", &params)?;
    let endpoint = client.endpoint();
    let detail = format!(
        "version {} answers as pid {} on {}; this is memo {VERSION}",
        endpoint.version, endpoint.pid, endpoint.socket
    );
    Ok((passed_check("daemon", detail), daemon_result.checks))
}

fn check_settings(context: &CommandContext) -> Check {
    match memod_config::load_settings(Some(&context.layout)) {
        Ok(_) => passed_check("settings", context.layout.config_file().display().to_string()),
        Err(error) => failed_check("settings", &error.into()),
    }
}

/// Checks that a directory exists, belongs to this user, and gives access to no other user.
fn check_private_dir(name: &str, dir: &Path) -> Check {
    let path = dir.display();
    let meta = match fs::symlink_metadata(dir) {
        Ok(meta) => meta,
        Err(error) => {
            let hint = match error.kind() {
                io::ErrorKind::NotFound => Some("`memo status` creates it"),
                _ => io_error_hint(&error),
            };
            let detail = format!("{path}: {error}");
            return Check { name: name.to_owned(), ok: false, detail, hint: hint.map(str::to_owned) };
        }
    };
    if !meta.is_dir() || owner_uid(&meta).is_some_and(|owner| owner != effective_uid()) {
        let detail = format!("{path}: not a directory of this user");
        return Check { name: name.to_owned(), ok: false, detail, hint: Some(format!("remove {path}")) };
    }
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o777;
        if mode & 0o077 != 0 {
            let detail = format!("{path}: other users have access (mode {mode:o})");
            return Check {
                name: name.to_owned(),
                ok: false,
                detail,
                hint: Some(format!("chmod 700 {path}")),
            };
        }
    }
    passed_check(name, path.to_string())
}

fn passed_check(name: &str, detail: String) -> Check {
    Check { name: name.to_owned(), ok: true, detail, hint: None }
}

fn failed_check(name: &str, error: &CliError) -> Check {
    let report = error.to_report();
    Check { name: name.to_owned(), ok: false, detail: report.message, hint: report.hint }
}

fn print_check(check: &Check, output: &mut Output) -> Result<(), CliError> {
    let styles = output.styles;
    let mark = if check.ok { paint(styles.good, "ok  ") } else { paint(styles.bad, "FAIL") };
    // A detail of several lines, such as an error in a settings file, is aligned.
    let detail = escape_lines(check.detail.trim_end()).replace('\n', "\n      ");
    output.write_line(&format!("{mark}  {}: {detail}", escape_for_display(&check.name)))?;
    match check.hint.as_ref().filter(|_| !check.ok) {
        Some(hint) => output.write_line(&format!("      hint: {}", escape_for_display(hint))),
        None => Ok(()),
    }
}
