//! Are both generations of the protocol answered in one process?

use serde_json::json;

use super::{LEGACY, MODERN, Mcp, indexed, meta, shop, text};
use crate::live::Live;

#[test]
fn the_older_generation_begins_with_initialize() {
    let live = indexed();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY] {
        let mut mcp = Mcp::start(&mut live.memo(&["mcp"]));
        let result = mcp.initialize(version);
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "memo");
        assert!(result["instructions"].as_str().unwrap().contains("before grep"));
        let capabilities = &result["capabilities"];
        assert!(capabilities["logging"].is_null() && capabilities["resources"]["listChanged"] == true);
        let tools = mcp.call("tools/list", json!({})).unwrap();
        assert!(tools["resultType"].is_null() && tools["ttlMs"].is_null(), "not of this generation: {tools}");
        assert_eq!(mcp.call("ping", json!({})).unwrap(), json!({}));
        let found = mcp.tool("search", json!({ "query": "LIFETIME_S" }));
        assert!(text(&found).contains("src/session.rs:"), "{found}");
        assert_eq!(mcp.end(), (Some(0), String::new()), "{version}");
    }
}

#[test]
fn an_unknown_version_gets_the_newest_of_initialize() {
    let mut mcp = Mcp::start(&mut Live::idle().memo(&["mcp"]));
    for version in ["1999-01-01", MODERN] {
        assert_eq!(mcp.initialize(version)["protocolVersion"], LEGACY, "{version}");
    }
}

#[test]
fn the_newer_generation_needs_no_beginning() {
    let live = indexed();
    let mut mcp = Mcp::modern(&live, &[]);
    let tools = mcp.call("tools/list", json!({})).unwrap();
    assert_eq!((&tools["resultType"], &tools["cacheScope"]), (&json!("complete"), &json!("public")));
    assert!(tools["ttlMs"].as_u64().unwrap() > 0);
    let discovered = mcp.call("server/discover", json!({})).unwrap();
    let versions = discovered["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(MODERN)) && versions.contains(&json!(LEGACY)), "{discovered}");
    assert!(discovered["instructions"].as_str().unwrap().contains("before grep"));
    let found = mcp.tool("search", json!({ "query": "LIFETIME_S" }));
    assert_eq!(found["resultType"], "complete");
    assert!(text(&found).contains("src/session.rs:"), "{found}");
    let resources = mcp.call("resources/list", json!({})).unwrap();
    assert_eq!(resources["ttlMs"], 0, "what a repository holds is true when it is sent, and no longer");
    for method in ["ping", "resources/subscribe"] {
        let refused = mcp.call(method, json!({ "uri": "memory://x" })).unwrap_err();
        assert_eq!(refused["code"], -32601, "{method}");
    }
    assert_eq!(mcp.end(), (Some(0), String::new()));
}

#[test]
fn a_probe_of_the_other_generation_is_answered_and_leaves_the_choice() {
    let live = shop();
    // A newer client asks first, and speaks the older generation then.
    let mut mcp = Mcp::start(&mut live.memo(&["mcp"]));
    let discovered = mcp.call("server/discover", json!({ "_meta": meta() })).unwrap();
    assert_eq!(discovered["resultType"], "complete");
    assert_eq!(mcp.initialize(LEGACY)["protocolVersion"], LEGACY);
    assert!(mcp.call("tools/list", json!({})).is_ok());

    // It may give up waiting for the answer, which leaves the choice as well.
    let mut mcp = Mcp::start(&mut live.memo(&["mcp"]));
    let asked = mcp.ask("server/discover", json!({ "_meta": meta() }));
    mcp.cancel(asked);
    let refused = mcp.call("tools/list", json!({})).unwrap_err();
    assert_eq!(refused["code"], -32602, "{refused}");
    mcp.cancel(asked);
    assert_eq!(mcp.initialize(LEGACY)["protocolVersion"], LEGACY);
    assert!(mcp.call("tools/list", json!({})).is_ok());

    // An older client's probe has no version in it: it is told what is missing, and may begin then.
    let mut mcp = Mcp::start(&mut live.memo(&["mcp"]));
    let refused = mcp.call("server/discover", json!({})).unwrap_err();
    assert_eq!(refused["code"], -32602, "{refused}");
    mcp.initialize(LEGACY);
    assert!(mcp.call("tools/list", json!({})).is_ok());

    // A newer client that names a version we do not have is told which there are.
    let mut mcp = Mcp::modern(&live, &[]);
    let wrong = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2031-01-01" } });
    let refused = mcp.call("tools/list", wrong).unwrap_err();
    assert!(refused["data"]["supported"].as_array().unwrap().contains(&json!(MODERN)), "{refused}");
    assert!(mcp.call("tools/list", json!({})).is_ok());
}

#[test]
fn subscribers_hear_of_new_memories() {
    let live = shop();
    let mut mcp = Mcp::modern(&live, &[]);
    let wanted = json!({ "notifications": { "resourcesListChanged": true, "toolsListChanged": true } });
    let listening = mcp.ask("subscriptions/listen", wanted);
    let acknowledged = mcp.next();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({ "resourcesListChanged": true }),
        "tools never change"
    );
    let added =
        mcp.ask("tools/call", json!({ "name": "remember", "arguments": { "text": "tokens last a day" } }));
    let notice = mcp.next();
    assert_eq!(notice["method"], "notifications/resources/list_changed");
    assert_eq!(notice["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], listening);
    assert!(mcp.reply(added).is_ok());

    let read = mcp.ask("tools/call", json!({ "name": "memo", "arguments": { "command": "list" } }));
    assert_eq!(mcp.next()["id"], read, "reading changes nothing");

    let mut older = Mcp::legacy(&live, &[]);
    older.ask("tools/call", json!({ "name": "remember", "arguments": { "text": "and no longer" } }));
    assert_eq!(older.next()["method"], "notifications/resources/list_changed");
}

#[test]
fn the_first_reply_needs_neither_daemon_nor_repository() {
    let live = Live::idle();
    let mut command = live.memo(&["mcp"]);
    command.env("MEMO_DAEMON", live.sandbox.path("no-such-daemon")).current_dir(live.sandbox.path("home"));
    let mut mcp = Mcp::start(&mut command);
    mcp.initialize(LEGACY);
    for method in ["tools/list", "prompts/list", "resources/templates/list"] {
        assert!(mcp.call(method, json!({})).is_ok(), "{method}");
    }
    assert!(!live.layout().endpoint_file().exists(), "no daemon was started");
    let failed = mcp.tool("search", json!({ "query": "x" }));
    assert_eq!(failed["isError"], true);
    assert!(text(&failed).starts_with("error: ") && text(&failed).contains("\nhint: "), "{failed}");
    assert_eq!(mcp.end(), (Some(0), String::new()));
}
