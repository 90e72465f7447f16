//! Shows a few commands to begin with, for `memo` without a verb.

use std::time::Duration;

use memod_terminal::text::{escape_for_display, quote_text};
use memod_terminal::{CliResult, CommandContext, Output};
use serde_json::json;

use crate::searching::example_query::build_example_query;

/// Time limit for the daemon's answer, because the example is not worth a longer wait.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(100);

/// Verb, argument and description of each command. An example, if there is one, replaces the argument of `search`.
const STEPS: &[(&str, &str, &str)] = &[
    ("search", "WORDS", "find code, documents, commits and memories"),
    ("add", "TEXT", "keep a decision or a fact"),
    ("changed", "", "show what is not committed yet"),
    ("brief", "", "show what to know before starting work"),
    ("map", "", "show the main files and definitions"),
    ("help", "", "list all commands"),
];

/// Prints a few commands to begin with. The example of a query comes from a daemon that already runs and answers at once; no daemon
/// is started.
pub(crate) fn print_next_steps(context: Option<&CommandContext>, output: &mut Output) -> CliResult {
    let memo = context.map_or("memo", |context| &context.memo_command);
    let query = context.and_then(fetch_example).map(|query| quote_text(&escape_for_display(&query)));
    let commands = STEPS.iter().map(|(verb, argument, about)| {
        let argument = query.as_deref().filter(|_| *verb == "search").unwrap_or(argument);
        (format!("{memo} {verb} {argument}").trim_end().to_owned(), *about)
    });
    let steps: Vec<(String, &str)> = commands.collect();
    let list: Vec<_> =
        steps.iter().map(|(command, about)| json!({ "command": command, "about": about })).collect();
    output.write_result(&json!({ "next": list }), |output| {
        let width = steps.iter().map(|(command, _)| command.chars().count()).max().unwrap_or_default();
        steps.iter().try_for_each(|(command, about)| output.write_line(&format!("{command:width$}  {about}")))
    })?;
    Ok(0)
}

fn fetch_example(context: &CommandContext) -> Option<String> {
    build_example_query(&mut context.connect_running_within(ANSWER_TIMEOUT).ok()?, &context.cwd)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::CommandLine;

    #[test]
    fn every_step_is_a_verb() {
        let command = CommandLine::command();
        let (last, verbs) = STEPS.split_last().expect("there are some");
        assert_eq!(last.0, "help", "which is spelled out before clap sees it");
        for (verb, ..) in verbs {
            assert!(command.find_subcommand(verb).is_some(), "{verb}");
        }
    }
}
