//! Groups the verbs in `memo --help` and `memo help --all`, and parses command lines.

use std::ffi::OsString;

use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};

use super::verb_examples::add_examples;
use super::verb_words::{find_verb, replace_verb_word};
use super::{CommandLine, FlagsOnlyCommandLine};

/// A heading and the verbs below it.
type VerbGroup = (&'static str, &'static [&'static str]);

/// The verbs that are enough for most work, in the order of `memo --help`.
const MAIN_GROUPS: &[VerbGroup] = &[
    ("Find", &["search", "show", "outline", "map", "callers", "impact", "why", "changed"]),
    ("Remember", &["add", "list", "update", "forget"]),
    ("Set up", &["init", "setup", "status", "doctor"]),
];

/// All verbs, in the order of `memo help --all`.
const ALL_GROUPS: &[VerbGroup] = &[
    ("Search", &["search", "explain", "show", "outline", "open", "map", "brief"]),
    ("Uses", &["refs", "callers", "callees", "impact", "tests", "implements"]),
    ("Git history", &["changed", "why"]),
    (
        "Memories",
        &[
            "add",
            "get",
            "list",
            "recall",
            "update",
            "tag",
            "confirm",
            "promote",
            "history",
            "forget",
            "restore",
            "link",
            "related",
            "dedupe",
            "consolidate",
            "resolve",
            "share",
            "export",
            "import",
            "distil",
            "backup",
            "stats",
        ],
    ),
    ("Daemon", &["status", "sync", "reindex", "daemon", "serve", "doctor"]),
    (
        "Set up",
        &[
            "init",
            "demo",
            "setup",
            "uninstall",
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

/// Parses a command line, whose first word is the program name. `--help` lists the verbs in groups, `help VERB` is `VERB --help`, and
/// `help --all` lists all verbs.
///
/// # Errors
/// When the command line is wrong. Help and version are errors too, which go to stdout, as in clap.
pub(crate) fn parse_command_line<W: Into<OsString>>(
    words: impl IntoIterator<Item = W>,
) -> Result<CommandLine, clap::Error> {
    let mut words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let mut groups = MAIN_GROUPS;
    // clap's own subcommand `help` is not used, because it would add a manual page for each verb.
    if let Some(at) = find_verb(&words).filter(|at| words[*at] == "help") {
        words.remove(at);
        if words.get(at).is_some_and(|word| word == "--all") {
            groups = ALL_GROUPS;
            words[at] = "-h".into();
        } else {
            words.push("--help".into());
        }
    }
    let words = replace_verb_word(words);
    let matches = build_command(groups).try_get_matches_from(words)?;
    Ok(CommandLine { verb_name: verb_name(&matches), ..CommandLine::from_arg_matches(&matches)? })
}

/// Returns the command of clap with the examples of all verbs, as manual pages show it.
pub(crate) fn build_full_command() -> Command {
    add_examples(CommandLine::command(), "")
}

/// Returns the full name of the verb and its subcommand, such as `config set`, without aliases.
fn verb_name(matches: &ArgMatches) -> String {
    let parts = std::iter::successors(matches.subcommand(), |(_, matches)| matches.subcommand());
    parts.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
}

/// Returns the command of clap, whose help lists `groups`. clap supports only one heading for all subcommands, so clap's own list is
/// hidden.
fn build_command(groups: &[VerbGroup]) -> Command {
    let command = CommandLine::command();
    let list = format_verb_list(&command, groups);
    let options = FlagsOnlyCommandLine::command().help_template("{all-args}").render_help().to_string();
    let options = options.trim_end();
    // The flags of all verbs are listed once, here.
    let command = build_full_command().mut_args(|arg| if arg.is_global_set() { arg.hide(true) } else { arg });
    command.mut_subcommands(|verb| verb.hide(true)).override_usage("memo [OPTIONS] VERB").help_template(
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{options}{{after-help}}"),
    )
}

fn format_verb_list(command: &Command, groups: &[VerbGroup]) -> String {
    let names = groups.iter().flat_map(|(_, verbs)| *verbs);
    let width = names.map(|verb| verb.len()).max().unwrap_or_default();
    let mut list = String::new();
    for (heading, verbs) in groups {
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
            ("memo tag list", "tag list"),
            ("memo tag mem_1 a", "tag"),
            ("memo tag remove mem_1 a", "tag remove"),
            ("memo share team status", "share team status"),
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
        let mut grouped: Vec<&str> = ALL_GROUPS.iter().flat_map(|(_, verbs)| *verbs).copied().collect();
        let command = CommandLine::command();
        let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set());
        let mut verbs: Vec<&str> = shown.map(Command::get_name).collect();
        grouped.sort_unstable();
        verbs.sort_unstable();
        assert_eq!(grouped, verbs);
    }
}
