//! Groups the verbs in `memo --help`.

use std::ffi::OsString;

use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};

use super::CommandLine;

/// The verbs under their headings, in the order of the help.
const GROUPS: &[(&str, &[&str])] = &[
    ("Search", &["search", "explain", "show", "outline", "open", "map", "brief"]),
    ("Uses", &["refs", "callers", "callees", "impact", "tests", "implements"]),
    (
        "Memories",
        &[
            "add",
            "get",
            "list",
            "update",
            "append",
            "tag",
            "untag",
            "tags",
            "containers",
            "confirm",
            "forget",
            "restore",
            "purge",
            "reset",
            "share",
            "unshare",
            "sync-notes",
            "team",
            "recall",
            "recent",
            "promote",
            "consolidate",
            "related",
            "dedupe",
            "link",
            "unlink",
            "links",
            "resolve",
            "history",
            "stats",
            "export",
            "import",
            "distil",
            "backup",
            "restore-backup",
        ],
    ),
    ("Git history", &["changed", "why"]),
    ("Daemon", &["status", "sync", "events", "reindex", "stop", "restart", "serve", "logs", "doctor"]),
    (
        "Set-up",
        &[
            "init",
            "setup",
            "uninstall",
            "hook",
            "hooks",
            "model",
            "llm",
            "config",
            "mcp",
            "shell",
            "completions",
            "man",
            "version",
        ],
    ),
];

/// Parses a command line, whose first word is the program name. `--help` lists the verbs in groups.
///
/// # Errors
/// When the command line is wrong. Help and version are errors too, which go to stdout, as in clap.
pub(crate) fn parse_command_line<W: Into<OsString> + Clone>(
    words: impl IntoIterator<Item = W>,
) -> Result<CommandLine, clap::Error> {
    let matches = grouped_command().try_get_matches_from(words)?;
    Ok(CommandLine { verb_name: verb_name(&matches), ..CommandLine::from_arg_matches(&matches)? })
}

/// Returns the full name of the verb and its subcommand, such as `config set`, without aliases.
fn verb_name(matches: &ArgMatches) -> String {
    let parts = std::iter::successors(matches.subcommand(), |(_, matches)| matches.subcommand());
    parts.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
}

/// Returns the command of clap whose help lists the verbs in groups. clap supports only one heading for all subcommands, so clap's
/// own list is hidden.
fn grouped_command() -> Command {
    let command = CommandLine::command();
    let list = format_verb_list(&command);
    command.mut_subcommands(|verb| verb.hide(true)).override_usage("memo [OPTIONS] VERB").help_template(
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{{all-args}}{{after-help}}"),
    )
}

fn format_verb_list(command: &Command) -> String {
    let width = command.get_subcommands().map(|verb| verb.get_name().len()).max().unwrap_or_default();
    let mut list = String::new();
    for (heading, verbs) in GROUPS {
        list += &format!("{heading}:\n");
        for verb in *verbs {
            let about = command.find_subcommand(verb).and_then(Command::get_about);
            list += &format!("  {verb:width$}  {}\n", about.map(ToString::to_string).unwrap_or_default());
        }
        list.push('\n');
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_knows_the_name_of_its_verb() {
        for (line, expected) in [
            ("memo s x", "search"),
            ("memo -C / --json list", "list"),
            ("memo config set a b", "config set"),
            ("memo config", "config"),
        ] {
            assert_eq!(
                parse_command_line(line.split(' ')).expect("the line is well-formed").verb_name,
                expected,
                "{line}"
            );
        }
    }

    #[test]
    fn each_verb_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| *verbs).copied().collect();
        let command = CommandLine::command();
        let mut verbs: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        grouped.sort_unstable();
        verbs.sort_unstable();
        assert_eq!(grouped, verbs);
    }
}
