//! Prints events as they happen.

use std::time::Duration;

use memod_base::threads::pause;
use memod_client::{Client, ClientError};
use memod_proto::{EventParams, MemoriesEvent, SubscribeParams, Topic, ViewsEvent, code};
use memod_terminal::progress::describe_step;
use memod_terminal::text::{escape_for_display, format_count, shorten_head};
use memod_terminal::{CliError, CliResult, CommandContext, Output};
use serde_json::value::RawValue;

use crate::args::{EventsArgs, TopicArg};

/// Interval between attempts to reach the next daemon. Polls, because file events do not work on every system.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);
/// Most ids of one event that are shown to people.
const MAX_IDS: usize = 5;

/// Prints events until `--count` events were printed, or until the process is interrupted.
pub(crate) fn print_events(typed: &EventsArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let topics: Vec<Topic> = typed.topic.iter().map(|topic| (*topic).into()).collect();
    let params = SubscribeParams { cwd: context.cwd.clone(), topics };
    let mut events_left = typed.count;
    // Events about memories need no index.
    let needs_index = typed.topic.is_empty() || typed.topic.iter().any(|topic| *topic != TopicArg::Memories);
    let mut client = if needs_index { context.connect()? } else { context.connect_without_indexing()? };
    client.subscribe(&params)?;
    loop {
        let error = match print_next_event(&mut client, output) {
            Ok(()) => {
                events_left = events_left.map(|n| n - 1);
                if events_left == Some(0) {
                    return Ok(0);
                }
                continue;
            }
            Err(CliError::Client(error)) if is_daemon_unavailable(&error) => error,
            Err(error) => return Err(error),
        };
        output.write_note(&format!("{error}; waiting for the next daemon"));
        client = wait_for_next_daemon(context, &params)?;
        let pid = client.endpoint().pid;
        output.write_note(&format!(
            "the daemon with pid {pid} sends events now; events in between are missing"
        ));
    }
}

/// Waits for an event and prints it at once.
fn print_next_event(client: &mut Client, output: &mut Output) -> Result<(), CliError> {
    let event = client.next_event()?;
    output.write_full_result(&event, |output| output.write_line(&format_event(&event)))?;
    output.flush()
}

/// Waits until a daemon runs again, and subscribes to its events. Starts no daemon, because a user may have stopped the daemon on
/// purpose.
fn wait_for_next_daemon(context: &CommandContext, params: &SubscribeParams) -> Result<Client, CliError> {
    loop {
        let next = context.connect_running().and_then(|mut client| {
            client.subscribe(params)?;
            Ok(client)
        });
        match next {
            Err(CliError::Client(error)) if is_daemon_unavailable(&error) => pause(RETRY_INTERVAL),
            next => return next,
        }
    }
}

/// Returns whether an error means that no daemon runs, or that the daemon is stopping or busy.
fn is_daemon_unavailable(error: &ClientError) -> bool {
    match error {
        ClientError::ConnectionClosed { .. } | ClientError::NotRunning { .. } => true,
        ClientError::Rpc(rpc) => matches!(rpc.code, code::STOPPING | code::BUSY),
        _ => false,
    }
}

/// Returns an event as a line for people. An event whose topic only a newer version knows is returned as JSON.
fn format_event(event: &RawValue) -> String {
    let Ok(known) = serde_json::from_str(event.get()) else { return escape_for_display(event.get()) };
    let (time, text) = match &known {
        EventParams::Progress(event) => {
            let step =
                event.progress.as_ref().map_or_else(|| "nothing is being indexed".to_owned(), describe_step);
            (&event.time, format!("progress  {step}"))
        }
        EventParams::Views(event) => (&event.time, format!("views     {}", format_worktree_state(event))),
        EventParams::Memories(event) => (&event.time, format!("memories  {}", format_memory_changes(event))),
        EventParams::Drift(event) => {
            let drifted = format_count(event.drifted, "memory", "memories");
            (&event.time, format!("drift     {drifted} drifted, {} orphaned", event.orphaned))
        }
        EventParams::Lost(event) => {
            let n = format_count(event.n, "event was", "events were");
            (&event.time, format!("lost      {n} dropped, because the reader was too slow"))
        }
    };
    format!("{}  {text}", escape_for_display(time))
}

fn format_worktree_state(event: &ViewsEvent) -> String {
    let head = event
        .head
        .as_deref()
        .map_or(String::new(), |text| format!("{}: ", escape_for_display(shorten_head(text))));
    let why =
        event.reason.as_deref().map_or(String::new(), |reason| format!(", {}", escape_for_display(reason)));
    let state = if event.fresh { "up to date" } else { "not up to date" };
    format!("{head}{state}{why}")
}

fn format_memory_changes(MemoriesEvent { ids, change, .. }: &MemoriesEvent) -> String {
    let named = ids.iter().take(MAX_IDS).map(|id| escape_for_display(id)).collect::<Vec<_>>().join(" ");
    let more = match ids.len().saturating_sub(MAX_IDS) {
        0 if ids.is_empty() => "all memories may have changed".to_owned(),
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    };
    format!("{} {named}{more}", escape_for_display(change))
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn each_event_is_a_line() {
        let check = |mut event: Value, expected: &str| {
            event["time"] = json!("2026-01-31T12:00:00.000Z");
            let line = format_event(&to_raw_value(&event).expect("JSON"));
            assert_eq!(line.split_once("  ").unwrap_or_default().1, expected, "{line}");
        };
        check(json!({ "topic": "progress", "progress": null }), "progress  nothing is being indexed");
        check(
            json!({ "topic": "progress", "progress": { "step": "commits", "done": 2, "total": 3 } }),
            "progress  step 3 of 4, commits: 2 of 3 commits",
        );
        check(
            json!({ "topic": "views", "head": "ref: refs/heads/main", "fresh": true }),
            "views     main: up to date",
        );
        check(
            json!({ "topic": "views", "head": null, "fresh": false, "reason": "a file\u{1b} is new" }),
            "views     not up to date, a file\\u{1b} is new",
        );
        check(json!({ "topic": "memories", "ids": ["mem_1"], "change": "add" }), "memories  add mem_1");
        check(
            json!({ "topic": "memories", "ids": ["1", "2", "3", "4", "5", "6", "7"], "change": "forget" }),
            "memories  forget 1 2 3 4 5 and 2 more",
        );
        check(
            json!({ "topic": "memories", "ids": [], "change": "salvage" }),
            "memories  salvage all memories may have changed",
        );
        check(
            json!({ "topic": "drift", "drifted": 1, "orphaned": 2 }),
            "drift     1 memory drifted, 2 orphaned",
        );
        check(
            json!({ "topic": "lost", "n": 3 }),
            "lost      3 events were dropped, because the reader was too slow",
        );
        let later = to_raw_value(&json!({ "topic": "later" })).expect("JSON");
        assert_eq!(format_event(&later), r#"{"topic":"later"}"#, "of a newer daemon");
    }
}
