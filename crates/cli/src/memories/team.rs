//! Runs `memo share team`: shows the state of the exchange with a team, stores the password of its server, and lists its members.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::time::Duration;

use memod_base::paths::{IoContext as _, replace_private};
use memod_config::team_server::{ServerAddress, TeamError, password};
use memod_proto::team::{TeamLeaveResult, TeamMembersResult, TeamParams, TeamStatusResult};
use memod_terminal::text::{escape_for_display, format_count, paint};
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use crate::args::{TeamArgs, TeamVerb};
use crate::daemon::status::print_field;

/// Longest wait for the daemon's answer, a little longer than the daemon waits for an exchange.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(310);

/// The hint if `team.url` is not set.
const NO_TEAM_HINT: &str =
    "`memo config set --user team.url postgres://ROLE@HOST/DATABASE`, and team.repositories";

/// Runs a subcommand of `memo share team`. `status` exits with 1 while there is no connection.
pub(crate) fn run_team_verb(typed: TeamArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    match typed.what.unwrap_or(TeamVerb::Status) {
        TeamVerb::Status => {
            let status: TeamStatusResult = call_team_method("team.status", context)?;
            print_team_status(&status, output)?;
            if status.url.is_none() && !output.write_json {
                output.flush()?;
                output.write_hint(NO_TEAM_HINT);
            }
            Ok(if status.is_connected { 0 } else { EXIT_NOTHING_FOUND })
        }
        TeamVerb::Push | TeamVerb::Pull => {
            let status: TeamStatusResult = call_team_method("team.sync", context)?;
            print_team_status(&status, output)?;
            Ok(if status.failure.is_some() { EXIT_NOTHING_FOUND } else { 0 })
        }
        TeamVerb::Leave => {
            let left: TeamLeaveResult = call_team_method("team.leave", context)?;
            output.write_result(&left, |output| {
                output.write_note(&format!(
                    "{} of the team are now private",
                    format_count(left.memories, "memory", "memories")
                ));
                Ok(())
            })?;
            Ok(0)
        }
        TeamVerb::Members => print_members(&call_team_method("team.members", context)?, output),
        TeamVerb::Login { forget } => update_password(forget, context, output),
    }
}

fn call_team_method<R: serde::de::DeserializeOwned>(
    method: &str,
    context: &CommandContext,
) -> Result<R, CliError> {
    let mut client = context.connect()?;
    client.set_answer_limit(ANSWER_TIMEOUT);
    Ok(client.call(method, &TeamParams { cwd: context.cwd.clone() })?)
}

fn print_team_status(status: &TeamStatusResult, output: &mut Output) -> CliResult {
    output.write_full_result(status, |output| {
        for (name, value) in [("server", &status.url), ("repository", &status.repository)] {
            if let Some(value) = value {
                print_field(name, &escape_for_display(value), output)?;
            }
        }
        if let Some(role) = &status.role {
            let rights = if status.may_write { "reads and writes" } else { "reads" };
            print_field("role", &format!("{}, {rights}", escape_for_display(role)), output)?;
        }
        print_field("memories", &format_count(status.memories, "memory", "memories"), output)?;
        for repository in &status.followed {
            let n = format_count(repository.memories, "memory", "memories");
            print_field("followed", &format!("{}, {n}", escape_for_display(&repository.repository)), output)?;
        }
        print_field("unsent", &format_count(status.unsent, "change", "changes"), output)?;
        if status.conflicts > 0 {
            print_field("conflicts", &format!("{}; `memo doctor` lists them", status.conflicts), output)?;
        }
        if status.unreadable > 0 {
            print_field("unreadable", &format!("{}; `memo doctor` lists them", status.unreadable), output)?;
        }
        print_field("complete", status.synced.as_deref().unwrap_or("never"), output)?;
        if let Some(failure) = &status.failure {
            print_field("problem", &paint(output.styles.bad, &escape_for_display(failure)), output)?;
        }
        Ok(())
    })?;
    Ok(0)
}

fn print_members(result: &TeamMembersResult, output: &mut Output) -> CliResult {
    output.write_result(result, |output| {
        for member in &result.members {
            let rights = if member.may_write { "reads and writes" } else { "reads" };
            output.write_line(&format!(
                "{}  {}  {rights}",
                escape_for_display(&member.role),
                escape_for_display(&member.repository)
            ))?;
        }
        Ok(())
    })?;
    Ok(if result.members.is_empty() { EXIT_NOTHING_FOUND } else { 0 })
}

/// Asks for a password and stores it if the server accepts it, or removes the stored password.
fn update_password(forget: bool, context: &CommandContext, output: &mut Output) -> CliResult {
    let url = memod_config::load_settings(Some(&context.layout))?.config.team.url;
    let address = ServerAddress::parse(&url).map_err(CliError::from)?;
    let Some(file) = memod_config::team_password_file() else {
        return Err(CliError::NoHome);
    };
    let former = memod_config::read_settings_file(&file)?.unwrap_or_default();
    if let Some(dir) = file.parent() {
        std::fs::create_dir_all(dir).at("create", dir)?;
    }
    if forget {
        replace_private(&file, password::with_password(&former, &address, None).as_bytes())?;
        output.write_note(&format!("{}: the password for {address} was removed", file.display()));
        return Ok(0);
    }
    let typed = read_password(&address)?;
    replace_private(&file, password::with_password(&former, &address, Some(&typed)).as_bytes())?;
    // Fetching the list of members opens a new connection, which tests the password.
    let answer = call_team_method::<TeamMembersResult>("team.members", context)
        .and_then(|_| call_team_method("team.sync", context));
    match answer {
        Ok(status) => {
            output.write_note(&format!("the password is stored in {}", file.display()));
            print_team_status(&status, output)
        }
        Err(error) => {
            replace_private(&file, former.as_bytes())?;
            Err(error)
        }
    }
}

/// Reads a password from the terminal without showing it, or from the first line of stdin.
fn read_password(address: &ServerAddress) -> Result<String, CliError> {
    let typed = match io::stdin().is_terminal() {
        true => rpassword::prompt_password(format!("password of {address}: ")),
        false => io::stdin().lock().lines().next().unwrap_or_else(|| Ok(String::new())),
    };
    let typed = typed.map_err(|error| {
        TeamError::new(format!("the password cannot be read: {error}"))
            .with_hint("run the command at a terminal, or write the password to its stdin")
    })?;
    if typed.is_empty() || typed.contains(['\0', '\n']) {
        return Err(TeamError::new("no password was given; nothing was changed")
            .with_hint("type the password, or write it to stdin: `memo share team login < FILE`")
            .into());
    }
    Ok(typed)
}
