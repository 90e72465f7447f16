//! Recognizes the commands that we write into settings.

use super::json_tree::{JsonKind, JsonNode};

/// A command that we write into settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OurCommand {
    /// `memo mcp`.
    Server,
    /// `memo hook EVENT`.
    Hook(&'static str),
}

/// The keys whose values are command lines in the settings of agents.
const COMMAND_KEYS: [&str; 2] = ["command", "bash"];
/// The verb between our program and the event, with its spaces.
const HOOK_VERB: &str = " hook ";

impl OurCommand {
    /// Returns whether an entry runs this command, whatever the directory of `memo`.
    pub(crate) fn is_run_by(&self, entry: &JsonNode) -> bool {
        match self {
            Self::Server => starts_our_server(entry),
            Self::Hook(_) => self.find_command_line(entry).is_some(),
        }
    }

    /// Returns the key and value of the member of an entry with the command line of our hook.
    pub(crate) fn find_command_line<'a>(&self, entry: &'a JsonNode) -> Option<(&'static str, &'a JsonNode)> {
        let Self::Hook(event) = self else { return None };
        let values = COMMAND_KEYS.into_iter().filter_map(|key| Some((key, entry.get(key)?)));
        let mut ours =
            values.filter(|(_, value)| value.as_text().is_some_and(|line| runs_our_hook(line, event)));
        ours.next()
    }
}

/// Returns whether an entry starts our MCP server.
fn starts_our_server(entry: &JsonNode) -> bool {
    let Some(command) = entry.get("command") else { return false };
    // In opencode, `command` is one array with the program and its arguments.
    let words: Vec<&str> = match &command.kind {
        JsonKind::Text(program) => {
            let args = entry.get("args").map(JsonNode::items).unwrap_or_default();
            [program.as_str()].into_iter().chain(args.iter().filter_map(|item| item.node.as_text())).collect()
        }
        JsonKind::Array(items) => items.iter().filter_map(|item| item.node.as_text()).collect(),
        _ => return false,
    };
    matches!(words.as_slice(), [program, "mcp", ..] if is_memo(program))
}

/// Returns whether a command line runs our hook for an event.
fn runs_our_hook(line: &str, event: &str) -> bool {
    split_hook(line).is_some_and(|(_, args)| args.split_whitespace().next() == Some(event))
}

/// Splits a command line that runs a hook of ours: returns the program with its quotes, and the arguments after `hook`.
fn split_hook(line: &str) -> Option<(&str, &str)> {
    // The path of the program may contain the word `hook` too.
    let mut splits =
        line.match_indices(HOOK_VERB).map(|(at, _)| (&line[..at], &line[at + HOOK_VERB.len()..]));
    splits.find(|(program, _)| is_memo(program.trim_matches(['"', '\''])))
}

/// Returns the command line `wanted` of a hook, with the arguments that somebody has added to the existing command line `own`.
pub(crate) fn merge_command_line(own: &str, wanted: &str) -> String {
    let (Some((_, own)), Some((program, ours))) = (split_hook(own), split_hook(wanted)) else {
        return wanted.to_owned();
    };
    let args = if ours.split_whitespace().all(|word| has_word(own, word)) { own } else { ours };
    format!("{program}{HOOK_VERB}{args}")
}

/// Returns whether a command line has this word.
fn has_word(line: &str, wanted: &str) -> bool {
    line.split_whitespace().any(|word| word == wanted)
}

/// Returns whether a program is `memo`, on any platform and in any directory.
fn is_memo(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    matches!(name, "memo" | "memo.exe")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> JsonNode {
        JsonNode::parse(text).unwrap().unwrap()
    }

    #[test]
    fn servers() {
        let is_ours = |text: &str| OurCommand::Server.is_run_by(&entry(text));
        assert!(is_ours(r#"{"command": "memo", "args": ["mcp"]}"#));
        assert!(is_ours(r#"{"command": "/a b/memo", "args": ["mcp", "--profile", "full"], "env": {}}"#));
        assert!(is_ours(r#"{"command": ["C:\\x\\memo.exe", "mcp"]}"#));
        assert!(!is_ours(r#"{"command": "memo", "args": ["serve"]}"#));
        assert!(!is_ours(r#"{"command": "npx", "args": ["memo", "mcp"]}"#));
        assert!(!is_ours(r#"{"url": "http://localhost"}"#));
        assert!(!is_ours(r#""memo mcp""#));
    }

    #[test]
    fn hooks() {
        let is_ours = |line: &str| {
            let text = serde_json::json!({ "type": "command", "command": line }).to_string();
            OurCommand::Hook("prompt").is_run_by(&entry(&text))
        };
        assert!(is_ours("memo hook prompt --agent codex"));
        assert!(is_ours("'/a b/memo' hook prompt"));
        assert!(is_ours("'/a hook b/memo' hook prompt --agent x"));
        assert!(is_ours("\"C:\\Program Files\\memo.exe\" hook prompt --agent cursor"));
        assert!(!is_ours("memo hook session-start"));
        assert!(!is_ours("mymemo hook prompt"));
        assert!(!is_ours("memo hooks prompt"));
    }
}
