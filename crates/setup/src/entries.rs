//! Builds our content for the settings files of an agent from the table of agents and the path of `memo`.

use std::path::PathBuf;

use memod_plugin::{INSTRUCTIONS, SKILLS};

use super::agent_table::{AgentHook, ContentSpec, FileSpec, HookForm, JsonEntry, ServerForm};
use super::document::FileContent;
use super::place::SetupDirs;
use crate::json::config_value::{ConfigValue, JsonLayout};
use crate::json::json_part::JsonPart;
use crate::json::our_command::OurCommand;

/// The name of our MCP server in the settings of every agent.
pub(super) const SERVER_NAME: &str = "memod";

/// Time after which an agent kills a hook, seconds. Our hooks end long before.
const HOOK_TIMEOUT_S: u64 = 5;

/// An agent, and the program that its settings name.
#[derive(Clone, Copy, Debug)]
pub(super) struct AgentCommand<'a> {
    /// The agent, as `--agent` takes it.
    pub(super) agent: &'a str,
    /// The path of `memo`, or only the name `memo`.
    pub(super) memo: &'a str,
}

/// Returns the paths of the files that a row of the table names, with our content for each.
pub(super) fn build_contents(
    spec: &FileSpec,
    dirs: &SetupDirs,
    command: AgentCommand<'_>,
) -> Vec<(PathBuf, FileContent)> {
    let place = dirs.resolve_path(spec.place);
    let other = spec
        .alternative
        .map(|place| dirs.resolve_path(place))
        .filter(|other| !place.exists() && other.exists());
    let path = other.unwrap_or(place);
    let content = match &spec.content {
        ContentSpec::Json(entries) => {
            FileContent::Json(entries.iter().map(|entry| to_json_part(entry, command)).collect())
        }
        ContentSpec::CodexServer => {
            let memo = toml_edit::Value::from(command.memo);
            let section = format!("[mcp_servers.{SERVER_NAME}]\ncommand = {memo}\nargs = [\"mcp\"]");
            FileContent::Toml { section, table: ["mcp_servers", SERVER_NAME] }
        }
        ContentSpec::Instructions => FileContent::Section(INSTRUCTIONS.to_owned()),
        ContentSpec::Rule(front) => FileContent::Whole(format!("{front}{INSTRUCTIONS}")),
        ContentSpec::OwnHooks(hooks) => FileContent::Whole(build_hooks_file(hooks, command)),
        ContentSpec::Skills => {
            let skills = SKILLS.iter();
            return skills
                .map(|(name, text)| {
                    (path.join(name).join("SKILL.md"), FileContent::Whole((*text).to_owned()))
                })
                .collect();
        }
    };
    vec![(path, content)]
}

/// Converts an entry of the table into an entry with its values.
fn to_json_part(entry: &JsonEntry, command: AgentCommand<'_>) -> JsonPart {
    match entry {
        JsonEntry::Server(path, form) => {
            JsonPart::Server { path, key: SERVER_NAME, value: build_server_value(*form, command.memo) }
        }
        JsonEntry::Hook(hook) => JsonPart::Hook {
            path: ["hooks", hook.name],
            value: build_hook_value(hook, command),
            command: OurCommand::Hook(hook.event),
        },
        JsonEntry::VersionOne => JsonPart::RequiredMember { key: "version", value: ConfigValue::Number(1) },
    }
}

/// Returns the value that starts our MCP server.
fn build_server_value(form: ServerForm, memo: &str) -> ConfigValue {
    let (program, mcp) = (ConfigValue::text(memo), ConfigValue::text("mcp"));
    match form {
        ServerForm::Plain => ConfigValue::map([("command", program), ("args", ConfigValue::List(vec![mcp]))]),
        ServerForm::Stdio => ConfigValue::map([
            ("type", ConfigValue::text("stdio")),
            ("command", program),
            ("args", ConfigValue::List(vec![mcp])),
        ]),
        ServerForm::Local => ConfigValue::map([
            ("type", ConfigValue::text("local")),
            ("command", ConfigValue::List(vec![program, mcp])),
            ("enabled", ConfigValue::Flag(true)),
        ]),
    }
}

/// Returns the value that runs our hook.
fn build_hook_value(hook: &AgentHook, command: AgentCommand<'_>) -> ConfigValue {
    let line = format!("{} hook {} --agent {}", quote_for_shell(command.memo), hook.event, command.agent);
    let line = ("command".to_owned(), ConfigValue::Text(line));
    let kind = ("type".to_owned(), ConfigValue::text("command"));
    let matcher = Some(hook.matcher).filter(|matcher| !matcher.is_empty());
    let matcher = matcher.map(|matcher| ("matcher".to_owned(), ConfigValue::text(matcher)));
    let members = match hook.form {
        HookForm::Flat => [line].into_iter().chain(matcher).chain([hook_timeout(1)]).collect(),
        HookForm::Typed => vec![kind, line, hook_timeout(1)],
        HookForm::Group | HookForm::GroupMs => {
            let per_second = if matches!(hook.form, HookForm::GroupMs) { 1000 } else { 1 };
            let run = ConfigValue::Map(vec![kind, line, hook_timeout(per_second)]);
            let hooks = ("hooks".to_owned(), ConfigValue::List(vec![run]));
            matcher.into_iter().chain([hooks]).collect()
        }
    };
    ConfigValue::Map(members)
}

/// Returns the member with the timeout of a hook; `per_second` is 1 for seconds and 1000 for milliseconds.
fn hook_timeout(per_second: u64) -> (String, ConfigValue) {
    ("timeout".to_owned(), ConfigValue::Number(HOOK_TIMEOUT_S * per_second))
}

/// Returns the text of a file with these hooks.
fn build_hooks_file(hooks: &[AgentHook], command: AgentCommand<'_>) -> String {
    let events = hooks
        .iter()
        .map(|hook| (hook.name.to_owned(), ConfigValue::List(vec![build_hook_value(hook, command)])));
    let file = ConfigValue::map([
        ("version", ConfigValue::Number(1)),
        ("hooks", ConfigValue::Map(events.collect())),
    ]);
    format!("{}\n", file.render(JsonLayout::Lines { indent: "", unit: "  ", eol: "\n" }))
}

/// Returns a program, quoted if necessary, as a word of the shell that runs the commands of agents.
fn quote_for_shell(program: &str) -> String {
    if program.chars().all(is_plain_char) {
        program.to_owned()
    } else if cfg!(windows) {
        format!("\"{program}\"")
    } else {
        format!("'{}'", program.replace('\'', "'\\''"))
    }
}

/// Returns whether a shell does not interpret `c` in a word without quotes.
fn is_plain_char(c: char) -> bool {
    c.is_alphanumeric() || "/\\:._-+@~".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_cost_little() {
        let n_words = INSTRUCTIONS.split_whitespace().count();
        assert!(n_words <= 120, "{n_words} words");
    }

    #[test]
    fn paths_with_blanks_are_one_word() {
        assert_eq!(quote_for_shell("/usr/bin/memo"), "/usr/bin/memo");
        if cfg!(unix) {
            assert_eq!(quote_for_shell("/a b/it's/memo"), r"'/a b/it'\''s/memo'");
        }
    }
}
