//! Starts and stops the HTTP API of the daemon, and opens its page.

use memod_client::ClientError;
use memod_proto::{CwdParams, ServeParams, ServeResult};
use memod_terminal::text::{escape_for_display, shell_word};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use crate::args::ServeArgs;

pub(crate) fn control_http_api(
    typed: &ServeArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    if typed.stop || typed.status {
        let method = if typed.stop { "serve.stop" } else { "serve.status" };
        let result = call_running_daemon(method, context)?;
        output
            .write_result(&result, |output| result.url.iter().try_for_each(|url| output.write_line(url)))?;
        if !result.serving {
            output.write_note("the HTTP API is off");
        }
        return Ok(if typed.status && !result.serving { EXIT_NOTHING_FOUND } else { 0 });
    }
    let params = ServeParams { cwd: context.cwd.clone(), port: typed.port, for_browser: typed.open };
    let result: ServeResult = context.connect()?.call("serve.start", &params)?;
    output.write_result(&result, |output| result.url.iter().try_for_each(|url| output.write_line(url)))?;
    let (port, wanted) = (result.port.unwrap_or_default(), typed.port.unwrap_or_default());
    if wanted != 0 && wanted != port {
        let memo = &context.memo_command;
        output.write_warning(&format!(
            "the server already listens on port {port}; `{memo} serve --stop` stops it"
        ));
    }
    let root = result.root.as_deref().unwrap_or_default();
    if context.layout.root.to_str() != Some(root) {
        let root = shell_word(&escape_for_display(root));
        output
            .write_warning(&format!("requests without a cwd are about {root}, where the server was started"));
    }
    if typed.open {
        output.flush()?;
        open_browser(result.browser_url.as_deref().unwrap_or_default())?;
    }
    Ok(0)
}

/// Calls a method of the running daemon. If no daemon runs, returns the result for an HTTP API that is off.
fn call_running_daemon(method: &str, context: &CommandContext) -> Result<ServeResult, CliError> {
    match context.connect_running() {
        Ok(mut client) => Ok(client.call(method, &CwdParams { cwd: context.cwd.clone() })?),
        Err(CliError::Client(ClientError::NotRunning { .. })) => Ok(ServeResult::default()),
        Err(error) => Err(error),
    }
}

/// Opens an address in the browser. The token in the address opens only one session, because other users can see the arguments of
/// programs.
fn open_browser(url: &str) -> Result<(), CliError> {
    open::that_detached(url).map_err(|error| CliError::Usage {
        // Its address would open the page a second time, with another token than the printed one.
        message: format!("no browser can be opened: {}", error.to_string().replace(url, "…")),
        hint: "open the printed address yourself, on this computer",
    })
}
