//! Can an agent pass for a person?

use serde_json::{Value, json};

use super::{Mcp, indexed, text};
use crate::live::{Live, memo};

/// Adds a memory as a person does; returns its id.
fn typed(live: &Live, args: &[&str]) -> String {
    let (code, added) = memo(live, &[&["add"], args].concat());
    assert_eq!(code, 0, "{added}");
    added["memory"]["id"].as_str().unwrap().to_owned()
}

/// Returns the source of a memory and the name of its agent.
fn source(live: &Live, id: &str) -> (Value, Value) {
    let memory = memo(live, &["get", id]).1["memories"][0].clone();
    (memory["source"].clone(), memory["agent"].clone())
}

#[test]
fn an_agent_adds_no_memory_as_a_person_or_a_program() {
    let live = indexed();
    let mut mcp = Mcp::legacy(&live, &["--profile", "full"]);
    for command in
        ["add --source user 'said by Ann'", "add x --source=hook", "add --agent Ann --source user x"]
    {
        let answer = mcp.tool("memo", json!({ "command": command }));
        let expected = "error: --source says that the memory comes from a person or a program, not from an agent\n\
                        hint: leave --source out, then the source is agent; or ask the user to run the command in a terminal";
        assert!(answer["isError"] == true && text(&answer) == expected, "{command}: {answer}");
    }
    let answer = mcp.tool("add", json!({ "text": "said by Ann", "source": "user" }));
    assert!(answer["isError"] == true && text(&answer).contains("source"), "{answer}");
    assert_eq!(memo(&live, &["list"]).1["total"], 0);

    for (command, source) in [
        ("add 'the gate is green'", "agent"),
        ("add --agent Ann 'the bell rings at noon'", "agent"),
        ("add --source agent 'the ferry is late'", "agent"),
        ("add --source import 'the market is closed on Mondays'", "import"),
    ] {
        let added = mcp.tool("memo", json!({ "command": command }));
        assert_eq!(added["structuredContent"]["memory"]["source"], source, "{command}: {added}");
    }
}

#[test]
fn what_an_agent_rewrites_is_no_longer_what_a_person_said() {
    let live = indexed();
    let mut mcp = Mcp::legacy(&live, &[]);
    let mut run = |command: String| {
        let answer = mcp.tool("memo", json!({ "command": command }));
        assert!(answer["isError"] != true, "{command}: {answer}");
    };
    let agents = (json!("agent"), json!("test"));
    for (args, change) in [
        (&["the gate is painted green"][..], "update {} --content 'the gate is painted red'"),
        (&["the bell rings at noon", "--source", "user"], "append {} 'and at six'"),
        (&["the ferry leaves from pier two"], "update {} --title 'Pier three'"),
    ] {
        let id = typed(&live, args);
        let before = source(&live, &id);
        run(format!("tag {id} seen"));
        run(format!("update {id} --priority 7 --title ''"));
        assert_eq!(source(&live, &id), before, "its text is as it was");
        run(change.replace("{}", &id));
        assert_eq!(source(&live, &id), agents, "{change}");
        let history = memo(&live, &["history", &id]).1["changes"].to_string();
        assert!(history.contains(",\"agent\"]"), "the source that it had is there: {history}");
    }
    let imported = typed(&live, &["the market is closed on Mondays", "--source", "import"]);
    run(format!("append {imported} 'and on Sundays'"));
    assert_eq!(source(&live, &imported), (json!("import"), json!("test")));
}

#[test]
fn what_an_agent_merges_into_a_memory_makes_it_the_agents() {
    let live = indexed();
    let mut mcp = Mcp::legacy(&live, &[]);
    let id = typed(&live, &["the client renews a token one hour before"]);
    for (text, expected) in [
        ("one hour before, the client renews a token", (json!("cli"), Value::Null)),
        ("one hour before, the client always renews a token", (json!("agent"), json!("test"))),
    ] {
        let answer = mcp.tool("memo", json!({ "command": format!("add --merge '{text}'") }));
        assert_eq!(answer["structuredContent"]["merged"], true, "{answer}");
        assert_eq!(source(&live, &id), expected, "{text}");
    }
}
