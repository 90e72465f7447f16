//! Stops and restarts the daemon, and prints versions.

use memod_client::{Client, ClientError, VERSION};
use memod_proto::PROTOCOL;
use memod_terminal::text::escape_for_display;
use memod_terminal::{CliError, CliResult, CommandContext, Output};
use serde_json::json;

/// Stops the daemon. Succeeds if none runs.
pub(crate) fn stop_daemon(context: &CommandContext, output: &mut Output) -> CliResult {
    let stopped = stop_running_daemon(context)?;
    if output.write_json {
        output.is_json_object(&json!({ "stopped": stopped.is_some(), "pid": stopped }))?;
    } else {
        match stopped {
            Some(pid) => output.write_note(&format!("stopped pid {pid}")),
            None => output.write_note("no daemon was running"),
        }
    }
    Ok(0)
}

/// Starts a daemon. Replaces a running daemon, unless the new daemon cannot start.
pub(crate) fn restart_daemon(context: &CommandContext, output: &mut Output) -> CliResult {
    let (before, client) = match connect_if_running(context)? {
        Some(mut client) => {
            let before = client.endpoint().pid;
            client.replace_daemon()?;
            (Some(before), client)
        }
        None => (None, context.connect()?),
    };
    let now = client.endpoint();
    if output.write_json {
        output.is_json_object(&json!({ "before": before, "pid": now.pid, "version": now.version }))?;
    } else {
        output.write_note(&format!("version {} runs as pid {}", now.version, now.pid));
    }
    Ok(0)
}

/// Stops the daemon and returns its process id; `None` if no daemon ran.
fn stop_running_daemon(context: &CommandContext) -> Result<Option<u32>, CliError> {
    let client = match connect_if_running(context)? {
        Some(client) => client,
        None => match context.wait_for_daemon_exit() {
            Ok(()) => return Ok(None),
            // A daemon that was still starting may answer by now.
            Err(error) => connect_if_running(context)?.ok_or(error)?,
        },
    };
    let pid = client.endpoint().pid;
    client.stop()?;
    Ok(Some(pid))
}

/// Connects to the daemon; returns `None` if no daemon runs.
fn connect_if_running(context: &CommandContext) -> Result<Option<Client>, CliError> {
    match context.connect_running() {
        Ok(client) => Ok(Some(client)),
        Err(CliError::Client(ClientError::NotRunning { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Prints the versions of this program and of the daemon, if one runs. Starts no daemon, and works outside a repository.
pub(crate) fn print_versions(context: Option<&CommandContext>, output: &mut Output) -> CliResult {
    let daemon = context.map(CommandContext::connect_running).and_then(|client| match client {
        Ok(client) => Some(client.endpoint().clone()),
        Err(CliError::Client(ClientError::NotRunning { .. })) => None,
        Err(error) => {
            output.write_note(&error.to_string());
            None
        }
    });
    let client = json!({ "version": VERSION, "protocol": PROTOCOL });
    output.write_result(&json!({ "client": client, "daemon": daemon }), |output| {
        output.write_line(&format!("memo {VERSION} (protocol {PROTOCOL})"))?;
        let Some(daemon) = &daemon else { return Ok(()) };
        let version = escape_for_display(&daemon.version);
        output.write_line(&format!("memod {version} (protocol {}), pid {}", daemon.protocol, daemon.pid))
    })?;
    Ok(0)
}
