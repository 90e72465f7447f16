//! Parses the JSON that agents give to their hooks. Pure.
//!
//! Most agents use the same keys for the same things. Unknown keys, and keys whose value has another type, are ignored.

use std::path::PathBuf;

use memod_proto::{Beginning, Occasion};
use serde_json::Value;

/// Longest prompt that is sent, bytes. Of a longer one, the beginning and the end are sent, where the question is.
const MAX_PROMPT_BYTES: usize = 48 << 10;
/// Longest id of a session that is sent, bytes.
const MAX_SESSION_BYTES: usize = 128;
/// Most files of one edit that are sent.
const MAX_PATHS: usize = 32;
/// Keys of a tool's input that name the files that it edits.
const PATH_KEYS: [&str; 10] = [
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "absolute_path",
    "target_file",
    "targetFile",
    "file",
    "files",
    "paths",
];
/// Keys of a tool's input that hold a patch.
const PATCH_KEYS: [&str; 3] = ["command", "input", "patch"];
/// Words in the names of tools that edit files.
const EDITING_WORDS: [&str; 7] = ["edit", "write", "patch", "replace", "create", "insert", "delete"];
/// Authors of prompts that no person typed.
const MACHINE_AUTHORS: [&str; 4] = ["system", "loop_wakeup", "schedule_wakeup", "poll_event"];

/// The input of a hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HookInput {
    /// The agent's own name of the event.
    pub(super) event: Option<String>,
    /// The id of the session and, after a slash, that of the subagent.
    pub(super) session: Option<String>,
    pub(super) beginning: Beginning,
    pub(super) cwd: Option<PathBuf>,
    pub(super) prompt: String,
    /// The author of the prompt, if the agent names one.
    pub(super) author: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) paths: Vec<String>,
    /// Whether the input has keys that only Cursor sends.
    pub(super) is_cursor: bool,
    /// Whether the input has keys that only Codex sends.
    pub(super) is_codex: bool,
}

/// Parses the input of a hook.
///
/// # Errors
/// When the text is not a JSON object; the error is the reason.
pub(super) fn parse_hook_input(text: &[u8]) -> Result<HookInput, String> {
    let input: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if !input.is_object() {
        return Err("not a JSON object".to_owned());
    }
    let source = first_text(&input, &["source"]).unwrap_or_default();
    let session =
        first_text(&input, &["session_id", "conversation_id", "sessionId"]).filter(|id| !id.is_empty());
    let subagent = first_text(&input, &["agent_id"]).map_or(String::new(), |id| format!("/{id}"));
    let first_root = input["workspace_roots"][0].as_str().map(str::to_owned);
    let tool_inputs = ["tool_input", "toolArgs", "tool_args"].iter().map(|key| &input[*key]);
    let tool_input = tool_inputs.map(unquote_json).find(Value::is_object).unwrap_or_default();
    Ok(HookInput {
        event: first_text(&input, &["hook_event_name", "hookEventName"]),
        session: session.map(|id| truncate_text(format!("{id}{subagent}"), MAX_SESSION_BYTES)),
        beginning: parse_beginning(&source),
        cwd: first_text(&input, &["cwd"]).filter(|cwd| !cwd.is_empty()).or(first_root).map(PathBuf::from),
        prompt: cut_out_middle(&first_text(&input, &["prompt"]).unwrap_or_default()),
        author: Some(source).filter(|source| !source.is_empty()),
        tool: first_text(&input, &["tool_name", "toolName"]),
        paths: edited_paths(&tool_input),
        is_cursor: input["cursor_version"].is_string() || input["workspace_roots"].is_array(),
        is_codex: input["turn_id"].is_string(),
    })
}

impl HookInput {
    /// Returns the input that a person gives on the command line to try a hook: a prompt, or the paths of files.
    pub(super) fn from_words(occasion: Occasion, words: &[String]) -> Self {
        match occasion {
            Occasion::SessionStart => Self::default(),
            Occasion::Prompt => Self { prompt: words.join(" "), ..Self::default() },
            Occasion::BeforeEdit => Self { paths: words.to_vec(), ..Self::default() },
        }
    }

    /// Checks that the daemon can have advice for this input, so that it is worth asking.
    ///
    /// # Errors
    /// When the daemon need not be asked; the error is the reason.
    pub(super) fn check_worth_a_request(&self, occasion: Occasion) -> Result<(), &'static str> {
        match occasion {
            Occasion::SessionStart => Ok(()),
            Occasion::Prompt if self.prompt.trim().is_empty() => Err("no prompt"),
            Occasion::Prompt
                if self.author.as_deref().is_some_and(|author| MACHINE_AUTHORS.contains(&author)) =>
            {
                Err("no person wrote the prompt")
            }
            Occasion::Prompt if is_slash_command(&self.prompt) => {
                Err("the prompt is a slash command of the agent")
            }
            Occasion::Prompt => Ok(()),
            Occasion::BeforeEdit if self.tool.as_deref().is_some_and(|tool| !is_editing_tool(tool)) => {
                Err("the tool edits no file")
            }
            Occasion::BeforeEdit if self.paths.is_empty() => Err("the tool names no file"),
            Occasion::BeforeEdit => Ok(()),
        }
    }
}

fn parse_beginning(source: &str) -> Beginning {
    match source {
        "resume" => Beginning::Resume,
        "fork" => Beginning::Fork,
        "clear" => Beginning::Clear,
        "compact" | "compress" => Beginning::Compact,
        _ => Beginning::Startup,
    }
}

/// Returns the text at the first of these keys whose value is a text.
fn first_text(input: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| input[*key].as_str()).map(str::to_owned)
}

/// Returns whether a prompt is a slash command, and not a path.
fn is_slash_command(prompt: &str) -> bool {
    let word = prompt.split_whitespace().next().unwrap_or_default();
    word.strip_prefix('/')
        .is_some_and(|name| name.starts_with(char::is_alphabetic) && !name.contains(['/', '.']))
}

fn is_editing_tool(tool: &str) -> bool {
    let tool = tool.to_lowercase();
    EDITING_WORDS.iter().any(|word| tool.contains(word))
}

/// Returns the JSON value that a string contains, because some agents give an object as a string of JSON. Returns any other value
/// unchanged.
fn unquote_json(value: &Value) -> Value {
    let inner = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    inner.unwrap_or_else(|| value.clone())
}

fn edited_paths(input: &Value) -> Vec<String> {
    let named = PATH_KEYS.iter().flat_map(|key| match &input[*key] {
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect::<Vec<_>>(),
    });
    let patches = PATCH_KEYS.iter().filter_map(|key| input[*key].as_str());
    let mut paths: Vec<String> = Vec::new();
    for path in named.chain(patches.flat_map(patched_files)) {
        if paths.len() < MAX_PATHS && !path.is_empty() && !paths.iter().any(|known| known == path) {
            paths.push(path.to_owned());
        }
    }
    paths
}

/// Returns the paths in a patch in the form of Codex's `apply_patch`; none if the text is no such patch.
fn patched_files(text: &str) -> impl Iterator<Item = &str> {
    let is_patch = text.contains("*** Begin Patch");
    let starts = ["*** Update File: ", "*** Delete File: ", "*** Add File: ", "*** Move to: "];
    text.lines()
        .filter(move |_| is_patch)
        .filter_map(move |line| starts.iter().find_map(|start| line.strip_prefix(start)).map(str::trim))
}

/// Returns a prompt without its middle if it is longer than [`MAX_PROMPT_BYTES`].
fn cut_out_middle(text: &str) -> String {
    if text.len() <= MAX_PROMPT_BYTES {
        return text.to_owned();
    }
    let (first, last) = (MAX_PROMPT_BYTES / 2, text.len() - MAX_PROMPT_BYTES / 2);
    format!("{}\n{}", &text[..text.floor_char_boundary(first)], &text[text.ceil_char_boundary(last)..])
}

fn truncate_text(mut text: String, max_bytes: usize) -> String {
    text.truncate(text.floor_char_boundary(max_bytes));
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(input: &Value) -> HookInput {
        parse_hook_input(input.to_string().as_bytes()).expect("it is an object")
    }

    #[test]
    fn agents_name_the_same_things() {
        let claude = parsed(&json!({
            "session_id": "s", "agent_id": "a", "cwd": "/r", "hook_event_name": "PreToolUse", "tool_name": "Edit",
            "tool_input": { "file_path": "/r/a.rs", "old_string": "x" },
        }));
        assert_eq!((claude.session.as_deref(), claude.cwd), (Some("s/a"), Some(PathBuf::from("/r"))));
        assert_eq!((claude.paths, claude.event.as_deref()), (vec!["/r/a.rs".to_owned()], Some("PreToolUse")));
        let cursor = parsed(&json!({ "conversation_id": "c", "workspace_roots": ["/w"], "prompt": "p" }));
        assert_eq!((cursor.session.as_deref(), cursor.cwd), (Some("c"), Some(PathBuf::from("/w"))));
        assert!(cursor.is_cursor && cursor.prompt == "p");
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n*** Move to: b.rs\n*** End Patch";
        let codex = parsed(
            &json!({ "turn_id": "t", "tool_name": "apply_patch", "tool_input": { "command": patch } }),
        );
        assert_eq!((codex.paths, codex.is_codex), (vec!["a.rs".to_owned(), "b.rs".to_owned()], true));
        let quoted =
            parsed(&json!({ "toolName": "edit", "toolArgs": "{\"path\":\"c.rs\"}", "sessionId": "s" }));
        assert_eq!((quoted.paths, quoted.tool.as_deref()), (vec!["c.rs".to_owned()], Some("edit")));
        let many = parsed(&json!({ "tool_input": { "files": ["a", "b", 3, "a"] } }));
        assert_eq!(many.paths, ["a", "b"]);
        assert_eq!(parsed(&json!({ "source": "compact" })).beginning, Beginning::Compact);
    }

    #[test]
    fn odd_input_is_an_error_or_says_nothing() {
        for text in ["", "{", "[]", "null", "\"x\"", "\u{feff}{}", "{\"a\":\"\\ud800\"}"] {
            assert!(parse_hook_input(text.as_bytes()).is_err(), "{text}");
        }
        assert!(parse_hook_input(b"{\"prompt\":\"\xff\"}").is_err());
        let odd =
            json!({ "session_id": 3, "cwd": ["x"], "prompt": {}, "tool_input": 7, "workspace_roots": "x" });
        assert_eq!(parsed(&odd), HookInput::default());
    }

    #[test]
    fn some_calls_are_not_worth_asking() {
        let check = |call: &Value, occasion, is_worth: bool| {
            assert_eq!(parsed(call).check_worth_a_request(occasion).is_ok(), is_worth, "{call}");
        };
        check(&json!({ "prompt": "/compact now" }), Occasion::Prompt, false);
        check(&json!({ "prompt": "/src/a.rs is broken" }), Occasion::Prompt, true);
        check(&json!({ "prompt": "what?", "source": "loop_wakeup" }), Occasion::Prompt, false);
        check(&json!({ "prompt": "what?", "source": "user" }), Occasion::Prompt, true);
        check(&json!({ "prompt": " " }), Occasion::Prompt, false);
        check(
            &json!({ "tool_name": "Read", "tool_input": { "file_path": "a" } }),
            Occasion::BeforeEdit,
            false,
        );
        check(
            &json!({ "tool_name": "MultiEdit", "tool_input": { "file_path": "a" } }),
            Occasion::BeforeEdit,
            true,
        );
        check(&json!({ "tool_name": "Edit" }), Occasion::BeforeEdit, false);
    }

    #[test]
    fn a_long_prompt_keeps_both_ends() {
        let prompt = format!("first {} last", "é".repeat(100_000));
        let kept = cut_out_middle(&prompt);
        assert!(kept.starts_with("first ") && kept.ends_with(" last") && kept.len() <= MAX_PROMPT_BYTES + 1);
    }
}
