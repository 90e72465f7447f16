//! Is every wrong message answered by the rules, and does the connection live on?

use serde_json::json;

use super::{Mcp, shop, text};
use crate::live::Live;

#[test]
fn a_line_that_is_no_request_is_answered() {
    let mut mcp = Mcp::start(&mut Live::idle().memo(&["mcp"]));
    // What comes before the beginning does not end the server.
    mcp.write("{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n");
    mcp.write(
        "\n  \n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":9}}\n",
    );
    for (line, code, id) in [
        ("{\"jsonrpc\":", -32700, json!(null)),
        ("\u{7f}\u{1}", -32700, json!(null)),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, json!(null)),
        ("7", -32600, json!(null)),
        ("{\"jsonrpc\":\"2.0\",\"id\":5}", -32600, json!(5)),
        ("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":7}", -32600, json!("a")),
    ] {
        mcp.write(&format!("{line}\n"));
        let answer = mcp.next();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{line}: {answer}");
    }
    // Neither does an answer to nothing.
    mcp.write(
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n",
    );
    assert_eq!(mcp.next()["id"], 7);
    mcp.initialize(super::LEGACY);
    mcp.say(&json!({ "jsonrpc": "2.0", "method": "notifications/nonsense" }));
    mcp.write("{\n");
    assert_eq!(mcp.next()["error"]["code"], -32700);
    assert!(mcp.call("tools/list", json!({})).is_ok());
}

#[test]
fn wrong_names_and_types_are_named() {
    let live = shop();
    for mut mcp in [Mcp::legacy(&live, &[]), Mcp::modern(&live, &[])] {
        for (method, params, code, word) in [
            ("nonsense", json!({}), -32601, "nonsense"),
            ("logging/setLevel", json!({ "level": "info" }), -32601, ""),
            ("tools/call", json!({ "name": "nonsense" }), -32602, "unknown tool: nonsense"),
            ("tools/call", json!({ "name": 7 }), -32602, "name: a string is needed"),
            (
                "tools/call",
                json!({ "name": "search", "arguments": 7 }),
                -32602,
                "arguments: an object is needed",
            ),
            ("tools/call", json!({}), -32602, "name: a string is needed"),
            ("prompts/get", json!({ "name": "nonsense" }), -32602, "unknown prompt"),
            ("prompts/get", json!({ "name": "query" }), -32602, "topic: missing"),
            ("resources/read", json!({}), -32602, "uri: a string is needed"),
            ("resources/list", json!({ "cursor": "nonsense" }), -32602, "cursor"),
        ] {
            let error = mcp.call(method, params.clone()).unwrap_err();
            let message = error["message"].as_str().unwrap();
            assert_eq!(error["code"], code, "{method} {params}: {error}");
            assert!(message.contains(word), "{method} {params}: {message}");
        }
        // What a model can put right is an answer of the tool.
        for (arguments, expected) in [
            (json!({ "query": 7 }), "error: query: a number\nhint: a string is needed"),
            (json!({}), "error: query: missing\nhint: a string is needed"),
        ] {
            let answer = mcp.tool("search", arguments);
            assert_eq!((text(&answer), &answer["isError"]), (expected, &json!(true)));
        }
    }
}

#[cfg(unix)]
#[test]
fn an_id_in_flight_is_refused_and_free_after_its_answer() {
    let live = super::processes::with_stopped_daemon();
    let mut mcp = Mcp::legacy(&live, &[]);
    let hung = mcp.ask("tools/call", json!({ "name": "search", "arguments": { "query": "LIFETIME_S" } }));
    let same = json!({ "jsonrpc": "2.0", "id": hung, "method": "tools/list" });
    mcp.say(&same);
    let refused = mcp.reply(hung).unwrap_err();
    assert_eq!(refused["code"], -32600, "{refused}");
    assert_eq!(refused["message"], format!("id {hung}: a request with this id has no answer yet"));
    live.signal(rustix::process::Signal::CONT);
    assert!(text(&mcp.reply(hung).unwrap()).contains("src/session.rs"));
    mcp.say(&same);
    assert!(mcp.reply(hung).unwrap()["tools"].is_array());

    let listen = json!({ "notifications": { "resourcesListChanged": true } });
    let mut mcp = Mcp::modern(&live, &[]);
    for _ in 0..64 {
        mcp.ask("subscriptions/listen", listen.clone());
        assert_eq!(mcp.next()["method"], "notifications/subscriptions/acknowledged");
    }
    let refused = mcp.call("subscriptions/listen", listen).unwrap_err();
    assert_eq!(refused["message"], "64 subscriptions are open: cancel one");
}

#[test]
fn ten_megabytes_are_refused_and_twenty_as_well() {
    let mut mcp = Mcp::legacy(&shop(), &[]);
    let answer = mcp.tool("search", json!({ "query": "x".repeat(10 << 20) }));
    assert_eq!(text(&answer), "error: query: longer than 1 MiB\nhint: shorten it");
    mcp.ask("tools/call", json!({ "name": "search", "arguments": { "query": "x".repeat(20 << 20) } }));
    let refused = mcp.next();
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    assert!(mcp.call("tools/list", json!({})).is_ok());
}
