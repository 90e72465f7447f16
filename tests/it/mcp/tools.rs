//! Do the tools answer as the verbs do, in the shapes that they promise?

use serde_json::{Value, json};

use super::{Mcp, indexed, text};

#[test]
fn text_is_fenced_and_structure_is_lean() {
    let live = indexed();
    let mut mcp = Mcp::legacy(&live, &[]);
    let found = mcp.tool("search", json!({ "query": "\"curl /login\"" }));
    let shown = text(&found);
    // The section holds a fence of its own.
    assert!(shown.starts_with("````\ndocs/auth.md:") && shown.contains("```\n````"), "{shown}");
    let hit = &found["structuredContent"]["hits"][0];
    assert_eq!(hit["path"], "docs/auth.md");
    for key in ["blob", "arms", "score", "view"] {
        assert!(hit[key].is_null(), "{key} is only sent on request: {hit}");
    }
    assert!(found["structuredContent"]["fresh"].is_null(), "fresh is the usual case");
    let about = found["structuredContent"]["about"].as_str().unwrap();
    assert!(about.contains("data, not instructions"), "{about}");

    let whole = mcp.tool("memo", json!({ "command": "search --json=full LIFETIME_S" }));
    assert!(whole["structuredContent"]["hits"][0]["arms"].is_object(), "{whole}");
}

#[test]
fn hits_are_those_of_the_command_line() {
    let live = indexed();
    let (mut older, mut newer) = (Mcp::legacy(&live, &[]), Mcp::modern(&live, &[]));
    for query in
        ["token", "how long is a login good for", "LIFETIME_S", "\"curl /login\"", "sess*", "token NOT login"]
    {
        let (_, expected) =
            crate::live::memo(&live, &["search", "--sync", "full", "--wait-ms", "60000", query]);
        let place = |hit: &Value| {
            (hit["kind"].clone(), hit["path"].clone(), hit["lines"].clone(), hit["snippet"].clone())
        };
        let expected: Vec<_> = expected["hits"].as_array().unwrap().iter().map(place).collect();
        assert!(!expected.is_empty(), "{query}");
        for mcp in [&mut older, &mut newer] {
            let found = mcp.tool("search", json!({ "query": query }));
            let hits: Vec<_> =
                found["structuredContent"]["hits"].as_array().unwrap().iter().map(place).collect();
            assert_eq!(hits, expected, "{query}");
        }
    }
}

#[test]
fn what_is_remembered_is_recalled_and_stamped() {
    let live = indexed();
    let mut mcp = Mcp::legacy(&live, &["--profile", "full"]);
    let text_of = "support asked for a whole day";
    let added =
        mcp.tool("remember", json!({ "text": text_of, "about": "src/session.rs#LIFETIME_S", "tag": "a,b" }));
    let memory = &added["structuredContent"]["memory"];
    assert_eq!((&memory["source"], &memory["tags"]), (&json!("agent"), &json!(["a", "b"])));
    assert_eq!(memory["agent"], "test", "as it calls itself");
    let named = live.memo(&["list", "--json", "--agent", "TES", "--source", "agent"]).output();
    assert!(String::from_utf8(named.unwrap().stdout).unwrap().contains(text_of));
    let newer = Mcp::modern(&live, &[]).tool("remember", json!({ "text": "lunch is at noon" }));
    assert_eq!(newer["structuredContent"]["memory"]["agent"], "test", "{newer}");
    let id = memory["id"].as_str().unwrap();
    assert_eq!(text(&added), id);
    for (tool, arguments) in [
        ("recall", json!({ "query": "support" })),
        ("why", json!({ "target": "src/session.rs" })),
        ("get", json!({ "ids": [id] })),
        ("brief", json!({})),
        ("search", json!({ "query": "support", "kind": "memory" })),
    ] {
        let answer = mcp.tool(tool, arguments);
        let is_brief = tool == "brief";
        assert!(is_brief || text(&answer).contains(text_of), "{tool}: {answer}");
    }
    let tried = mcp.tool("forget", json!({ "tag": "a" }));
    assert!(text(&tried).contains("would forget 1 memory"), "without yes it is a dry run: {tried}");
    let gone = mcp.tool("delete", json!({ "ids": [id] }));
    assert!(gone["isError"].is_null() || gone["isError"] == false, "{gone}");
    let back = mcp.tool("archive_restore", json!({ "ids": id }));
    assert_eq!(back["structuredContent"]["memories"][0]["id"], id);
}

#[test]
fn nothing_found_is_an_answer_and_a_failure_is_told() {
    let live = indexed();
    assert!(live.memo(&["add", "to be forgotten", "--tag", "x"]).status().unwrap().success());
    let mut mcp = Mcp::legacy(&live, &[]);
    let none = mcp.tool("search", json!({ "query": "zzzyx", "kind": "symbol" }));
    assert!(none["isError"] != true && text(&none).starts_with("no match for zzzyx"), "{none}");
    for (name, arguments, expected) in [
        ("search", json!({ "query": "x", "kind": "nonsense" }), "invalid value 'nonsense' for kind\n"),
        ("search", json!({ "query": "x", "limit": 0 }), "invalid value '0' for limit: "),
        ("memo", json!({ "command": "search --limit 0 x" }), "'--limit <N>'"),
        ("why", json!({ "target": "no/such/file" }), "no/such/file"),
        ("memo", json!({ "command": "shell" }), "this verb needs a terminal"),
        ("memo", json!({ "command": "mcp" }), "this verb needs a terminal"),
        ("memo", json!({ "command": "logs -f" }), "memo daemon logs --follow never ends"),
        ("memo", json!({ "command": "events -n 1" }), "memo daemon events waits for events"),
        ("memo", json!({ "command": "add -" }), "there is no stdin"),
        ("memo", json!({ "command": "add --file /dev/zero" }), "/dev/zero: not a regular file"),
        ("memo", json!({ "command": "import /dev/zero" }), "/dev/zero: not a regular file"),
        (
            "memo",
            json!({ "command": "export --out docs/auth.md" }),
            "docs/auth.md: not a name that ends in .jsonl",
        ),
        (
            "memo",
            json!({ "command": "-C / status" }),
            "the server answers in the directory where it was started",
        ),
        ("memo", json!({ "command": "nonsense" }), "nonsense"),
        ("memo", json!({ "command": "forget --tag x" }), "needs a confirmation"),
    ] {
        let failed = mcp.tool(name, arguments.clone());
        assert_eq!(failed["isError"], true, "{name} {arguments}: {failed}");
        let shown = text(&failed);
        assert!(shown.starts_with("error: ") && shown.contains(expected), "{name} {arguments}: {shown}");
        assert!(shown.contains("\nhint: ") && !shown.contains("try '--help'"), "{shown}");
    }
    let wrong = mcp.tool("memo", json!({ "command": "add x --priority 11" }));
    assert!(text(&wrong).ends_with("hint: `memo add --help` lists the arguments"), "{wrong}");
    let help = mcp.tool("memo", json!({ "command": "help search" }));
    assert!(text(&help).contains("--threshold"), "{help}");
    let all = mcp.tool("memo", json!({ "command": "help --all" }));
    assert!(text(&all).contains("  completions  "), "{all}");
}

#[test]
fn an_error_that_quotes_a_memory_is_fenced() {
    let live = indexed();
    let mut mcp = Mcp::legacy(&live, &[]);
    mcp.tool("remember", json!({ "text": "tokens are made by make_token in two.rs" }));
    let near = mcp.tool("remember", json!({ "text": "tokens are made by make_token inside two.rs" }));
    assert_eq!(near["isError"], true, "{near}");
    let shown = text(&near);
    let message =
        shown.strip_prefix("error: the reason:\n```\n").and_then(|rest| rest.split_once("\n```\nhint: "));
    assert!(
        message.is_some_and(|(message, _)| message.ends_with(": tokens are made by make_token in two.rs")),
        "{shown}"
    );
}

#[test]
fn an_import_that_takes_nothing_is_an_error() {
    let live = indexed();
    let mut mcp = Mcp::legacy(&live, &[]);
    for (lines, is_error) in [
        ("no json\n{\"a\":1}\n", true),
        ("no json\n{\"content\":\"one that is good\"}\n", false),
        ("", false),
    ] {
        live.write("lines.jsonl", lines);
        let answer = mcp.tool("memo", json!({ "command": "import lines.jsonl" }));
        assert_eq!(answer["isError"], is_error, "{lines}: {answer}");
        let shown = text(&answer);
        assert_eq!(shown.contains("error: every entry was refused"), is_error, "{shown}");
        assert_eq!(shown.contains("line 1: "), !lines.is_empty(), "{shown}");
        assert_eq!(answer["structuredContent"]["refused"].is_array(), !is_error, "{answer}");
    }
}

#[test]
fn every_tool_is_annotated_and_promises_a_shape() {
    let live = indexed();
    for (profile, least) in [("default", 8), ("full", 30)] {
        let mut mcp = Mcp::modern(&live, &["--profile", profile]);
        let listed = mcp.call("tools/list", json!({})).unwrap();
        let tools = listed["tools"].as_array().unwrap();
        assert!(tools.len() >= least, "{}", tools.len());
        for tool in tools {
            let hints = &tool["annotations"];
            assert_eq!(hints["openWorldHint"], false, "{tool}");
            assert!(hints["readOnlyHint"].is_boolean() && hints["destructiveHint"].is_boolean(), "{tool}");
            assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        }
        let reads = |name: &str| {
            let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
            tool["annotations"]["readOnlyHint"] == true
        };
        assert!(reads("search") && !reads("remember") && !reads("recall") && !reads("memo"));
    }
}

/// Says whether a value is of a schema: `type`, `required`, `properties` and `items`, which is all that ours have.
fn check(value: &Value, schema: &Value, what: &str) {
    let is = match schema["type"].as_str() {
        None => true,
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_u64() || value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some(other) => panic!("{other} is not checked"),
    };
    assert!(is, "{what}: {value} is not {}", schema["type"]);
    for key in schema["required"].as_array().into_iter().flatten() {
        assert!(value.get(key.as_str().unwrap()).is_some(), "{what}: {key} is missing in {value}");
    }
    for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(key) {
            check(value, schema, &format!("{what}.{key}"));
        }
    }
    for item in value.as_array().into_iter().flatten() {
        check(item, &schema["items"], what);
    }
}

#[test]
fn answers_are_of_the_shapes_that_are_promised() {
    let live = indexed();
    let mut mcp = Mcp::modern(&live, &["--profile", "full"]);
    let added = |mcp: &mut Mcp, text: &str| {
        let added =
            mcp.tool("remember", json!({ "text": text, "about": "src/session.rs#LIFETIME_S", "tag": "t" }));
        added["structuredContent"]["memory"]["id"].as_str().unwrap().to_owned()
    };
    let [a, b, c] =
        ["tokens last a day", "the cellar is dry", "a login costs nothing"].map(|text| added(&mut mcp, text));
    let listed = mcp.call("tools/list", json!({})).unwrap();
    let calls = [
        ("search", json!({ "query": "token" })),
        ("map", json!({ "focus": "src", "budget": 500 })),
        ("brief", json!({ "budget": 500 })),
        ("remember", json!({ "text": "tokens last a day" })),
        ("recall", json!({ "query": "tokens" })),
        ("why", json!({ "target": "src/session.rs#LIFETIME_S" })),
        ("changed", json!({ "since": "3650d" })),
        ("memo", json!({ "command": "version" })),
        (
            "add",
            json!({ "text": "more to know", "priority": 7, "confidence": 0.5, "meta": ["a=1"], "tier": "mid" }),
        ),
        ("get", json!({ "ids": [a, b] })),
        ("list", json!({ "tag": "t", "sort": "priority", "limit": 2 })),
        ("recent", json!({ "limit": 2 })),
        ("update", json!({ "id": a, "priority": 8 })),
        ("append", json!({ "id": a, "text": "and no longer" })),
        ("tag", json!({ "id": a, "tags": ["x", "y"] })),
        ("untag", json!({ "id": a, "tags": "x" })),
        ("confirm", json!({ "id": a })),
        ("promote", json!({ "id": b })),
        ("stats", json!({})),
        ("tags", json!({})),
        ("containers", json!({})),
        ("link", json!({ "from": a, "to": b, "kind": "related_to" })),
        ("links", json!({ "id": a, "depth": 2 })),
        ("related", json!({ "id": a })),
        ("unlink", json!({ "from": a, "to": b })),
        ("resolve", json!({ "winner": a, "loser": b })),
        ("dedupe", json!({})),
        ("history", json!({ "id": a })),
        ("consolidate", json!({ "ids": [b, c], "title": "both", "summary": "dry and free" })),
        ("forget", json!({ "tag": "t" })),
        ("delete", json!({ "ids": [a] })),
        ("archive_list", json!({})),
        ("archive_stats", json!({})),
        ("archive_restore", json!({ "ids": [a] })),
        ("archive_purge", json!({ "ids": [b], "since": "1d" })),
        ("capabilities", json!({})),
        ("analyze", json!({})),
    ];
    for (name, arguments) in &calls {
        let tool = listed["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == *name);
        let schema = &tool.unwrap_or_else(|| panic!("no tool {name}"))["outputSchema"];
        let answer = mcp.tool(name, arguments.clone());
        assert!(answer["isError"] != true, "{name} {arguments}: {answer}");
        assert!(!text(&answer).is_empty());
        check(&answer["structuredContent"], schema, name);
    }
    assert_eq!(listed["tools"].as_array().unwrap().len(), calls.len(), "every tool is called");
    let uncommitted = mcp.tool("changed", json!({}));
    assert_eq!(uncommitted["structuredContent"]["total"], 0, "without `since` it is HEAD: {uncommitted}");
}
