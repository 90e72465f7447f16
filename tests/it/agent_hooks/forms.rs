//! Does each agent get the form that it expects?

use serde_json::{Value, json};

use super::{QUESTION, TOKENS, hook, shop};
use crate::live::Live;

/// Asks as an agent asks, in a session of its own; returns what is printed.
fn ask(live: &Live, agent: Option<&str>, event: &str, mut said: Value) -> String {
    said["cwd"] = json!(live.root());
    let args: Vec<&str> =
        [event].into_iter().chain(agent.iter().flat_map(|agent| ["--agent", agent])).collect();
    hook(live, &args, said.to_string().as_bytes())
}

fn edit(event: &str) -> Value {
    json!({ "hook_event_name": event, "tool_name": "Edit", "tool_input": { "file_path": "src/session.rs" } })
}

#[test]
fn a_prompt_is_answered_in_the_form_of_the_agent() {
    let live = shop();
    let prompt = json!({ "prompt": QUESTION });
    let check = |agent: Option<&str>, event: &str, pointer: &str| {
        let mut said = prompt.clone();
        said["hook_event_name"] = json!(event);
        let answer: Value = serde_json::from_str(&ask(&live, agent, "prompt", said)).unwrap();
        assert!(answer.pointer(pointer).unwrap().as_str().unwrap().contains(TOKENS), "{answer}");
        answer
    };
    let claude = "/hookSpecificOutput/additionalContext";
    for (agent, event) in
        [("claude-code", "UserPromptSubmit"), ("codex", "UserPromptSubmit"), ("gemini", "BeforeAgent")]
    {
        let answer = check(Some(agent), event, claude);
        assert_eq!(answer["hookSpecificOutput"]["hookEventName"], event, "{agent}");
        assert_eq!(check(None, event, claude), answer, "the form is told by the event");
    }
    let answer = check(Some("cursor"), "beforeSubmitPrompt", "/additional_context");
    assert_eq!(answer["continue"], true, "Cursor would not go on");
    assert_eq!(ask(&live, Some("vscode"), "prompt", prompt.clone()), "", "VS Code passes nothing on");
    let text = ask(&live, Some("an-agent-of-tomorrow"), "prompt", prompt.clone());
    assert!(text.starts_with("Notes of this project") && text.contains(TOKENS), "{text}");
}

#[test]
fn an_edit_is_answered_where_the_agent_passes_it_on() {
    let live = shop();
    let check = |agent: &str, event: &str, is_told: bool| {
        let said = ask(&live, Some(agent), "before-edit", edit(event));
        assert_eq!(said.contains("constant time"), is_told, "{agent} {event}: {said}");
        assert_eq!(said.is_empty(), !is_told, "{agent} {event}: {said}");
    };
    check("claude-code", "PreToolUse", true);
    check("codex", "PreToolUse", true);
    check("vscode", "PreToolUse", true);
    check("gemini", "BeforeTool", false);
    check("gemini", "AfterTool", true);
    check("cursor", "preToolUse", false);
    check("cursor", "postToolUse", true);
}

#[test]
fn each_agent_names_files_in_its_own_way() {
    let live = shop();
    let session = live.root().join("src/session.rs");
    let patch = "*** Begin Patch\n*** Update File: src/session.rs\n@@\n-x\n+y\n*** End Patch";
    for (tool, input) in [
        ("Write", json!({ "file_path": session })),
        ("MultiEdit", json!({ "file_path": "src/../src/session.rs" })),
        ("replace", json!({ "file_path": session, "old_string": "x" })),
        ("apply_patch", json!({ "command": patch })),
        ("editFiles", json!({ "files": ["src/keys.rs", "src/session.rs"] })),
        ("create_file", json!({ "filePath": session })),
        ("edit", json!(json!({ "path": "src/session.rs" }).to_string())),
    ] {
        let said = json!({ "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input });
        let said = ask(&live, None, "before-edit", said);
        assert!(said.contains("constant time"), "{tool} {input}: {said}");
    }
}

#[test]
fn the_start_of_a_session_is_the_brief() {
    let live = shop();
    for agent in ["claude-code", "codex", "gemini", "vscode", "cursor", "text"] {
        let said = ask(&live, Some(agent), "session-start", json!({ "source": "startup" }));
        assert!(said.contains("make ship") && said.contains("## Map"), "{agent}: {said}");
        let is_json = serde_json::from_str::<Value>(&said).is_ok();
        assert_eq!(is_json, agent != "text", "{agent}: {said}");
    }
}
