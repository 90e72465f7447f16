//! Does a search answer as without a language model, and in time, whatever the server does?

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::server::{Act, ModelServer, USED};
use super::{Helped, KEY, OTHER_WORDS, paths};

/// What a server does, what a search says about it, and the tokens that are counted: none, those that were set aside, or those
/// that the server tells.
fn faults() -> Vec<(&'static str, Act, &'static str, Cost)> {
    let lie = |content: Value| Act::says(&content.to_string());
    let huge = "x".repeat(10 << 20);
    let broken = format!("{{\"error\":{{\"message\":\"wrong key {KEY}\"}}}}");
    vec![
        ("hangs", Act::Hang, "the server did not answer in time", Cost::SetAside),
        ("sends byte by byte", Act::Trickle, "the server did not answer in time", Cost::SetAside),
        ("closes early", Act::Close, "the connection failed", Cost::SetAside),
        ("sends 10 MiB", Act::says(&huge), "the answer is larger than 1 MiB", Cost::SetAside),
        (
            "sends broken JSON",
            Act::of(200, "", "{\"choices\": ["),
            "the server answered with something that is not JSON",
            Cost::SetAside,
        ),
        (
            "sends HTML",
            Act::of(200, "", "<html>"),
            "the server answered with something that is not JSON",
            Cost::SetAside,
        ),
        (
            "sends other types",
            Act::body(&json!({ "choices": [7], "usage": "many" })),
            "the server answered without a text",
            Cost::SetAside,
        ),
        ("talks", Act::says("I am happy to help!"), "the model did not answer with JSON", Cost::Told),
        ("names types", lie(json!({ "words": [1, null, {}] })), "the model named no other words", Cost::Told),
        (
            "gives orders",
            lie(json!({ "words": ["x\" OR path:/", "rm -rf /; now"] })),
            "the model named no other words",
            Cost::Told,
        ),
        (
            "refuses the key",
            Act::of(401, "", broken),
            "the server refuses the key (401): wrong key [REDACTED]",
            Cost::None,
        ),
        (
            "has too much to do",
            Act::of(429, "retry-after: 7\r\n", ""),
            "the server asks for fewer requests (429, for 7 s)",
            Cost::None,
        ),
        ("fails", Act::of(500, "", "oops"), "the server failed (500): oops", Cost::SetAside),
        (
            "knows no such model",
            Act::of(404, "", r#"{"error":"model m not found"}"#),
            "the server knows no such model or address (404): model m not found",
            Cost::None,
        ),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Cost {
    None,
    Told,
    SetAside,
}

#[test]
fn a_fault_of_the_server_costs_no_hit_and_little_time() {
    for (what, act, expected, cost) in faults() {
        let helped = Helped::with(move |_| act.clone(), "timeout_ms = 400\n");
        let plain = helped.search(false);
        let began = Instant::now();
        let result = helped.search(true);
        let took = began.elapsed();
        assert_eq!(paths(&result), paths(&plain), "{what}");
        let why = result["degraded"][0].as_str().unwrap();
        assert!(why.starts_with(&format!("expand: {expected}")), "{what}: {why}");
        assert_eq!(result["expanded"], Value::Null, "{what}");
        assert!(took < Duration::from_secs(5), "{what}: {took:?}"); // the machine may be busy
        let status = helped.status();
        let tokens = status["tokens"].as_u64().unwrap();
        match cost {
            Cost::None => assert_eq!(tokens, 0, "{what}"),
            Cost::Told => assert_eq!(tokens, USED, "{what}"),
            Cost::SetAside => assert!(tokens > 300, "{what}: {tokens}"),
        }
        // The next search does not wait for a server that has just failed.
        let n_sent = helped.server.sent().len();
        if cost != Cost::Told {
            let next = helped.search_for("somebody asks otherwise", true);
            assert!(
                next["degraded"][0].as_str().unwrap().contains("the next request is possible in"),
                "{what}: {next}"
            );
        } else {
            helped.search(true);
        }
        assert_eq!(helped.server.sent().len(), n_sent, "{what}");
        assert!(!helped.log().contains(KEY) && !result.to_string().contains(KEY), "{what}");
    }
}

#[test]
fn a_redirection_is_not_followed() {
    let elsewhere = ModelServer::start(|_| Act::says(OTHER_WORDS));
    for status in [301, 302, 307, 308] {
        let location = format!("location: {}/chat/completions\r\n", elsewhere.url);
        let helped = Helped::new(move |_| Act::of(status, &location, ""));
        let result = helped.search(true);
        let why = result["degraded"][0].as_str().unwrap();
        assert!(why.starts_with("expand: the server redirects"), "{status}: {why}");
        assert_eq!(helped.server.sent().len(), 1, "{status}");
        assert!(elsewhere.sent().is_empty(), "{status}");
    }
}

#[test]
fn a_gigabyte_is_not_read_to_its_end() {
    let taken = Arc::<AtomicU64>::default();
    let act = Act::Flood(Arc::clone(&taken));
    let helped = Helped::with(move |_| act.clone(), "timeout_ms = 20000\n");
    let why = helped.search(true)["degraded"][0].as_str().unwrap().to_owned();
    assert_eq!(why, "expand: the answer is larger than 1 MiB");
    let n_taken = || taken.load(Ordering::Relaxed);
    let mut before = n_taken();
    crate::live::until("the connection is closed", || std::mem::replace(&mut before, n_taken()) == n_taken());
    assert!(n_taken() < 64 << 20, "{} bytes", n_taken()); // what the system buffers
}

#[test]
fn what_was_set_aside_outlives_a_kill() {
    let helped = Helped::with(|_| Act::Hang, "timeout_ms = 60000\n");
    helped.live.call("sync", json!({ "wait_ms": 60_000 }));
    let asking = helped.live.connect();
    let params = json!({ "cwd": helped.live.root(), "query": super::QUERY, "expand": true });
    asking.send(format!("{}\n", json!({ "jsonrpc": "2.0", "id": 1, "method": "search", "params": params })));
    crate::live::until("the server is asked", || helped.server.sent().len() == 1);
    helped.live.kill();
    helped.start();
    let status = helped.status();
    assert!(status["tokens"].as_u64().unwrap() > 300 && status["requests"] == 1, "{status}");
}

#[test]
fn no_log_has_the_key_or_the_text() {
    let helped = Helped::new(|_| Act::says(OTHER_WORDS));
    helped.set(&format!("url = \"{}?code=of-the-address\"\nkey_env = \"SERVER_KEY\"\n", helped.server.url));
    helped.live.call("stop", json!({}));
    helped.live.wait_for_end();
    helped.live.start_as(helped.live.memod().env("SERVER_KEY", KEY).env("MEMO_DAEMON_LOG", "trace"));
    assert_eq!(helped.search(true)["expanded"], json!(["ttl", "expiry"]));
    let head = &helped.server.sent()[0].head;
    assert!(head.contains("?code=of-the-address") && head.contains(KEY), "{head}");
    let (log, status) = (helped.log(), helped.status().to_string());
    assert!(log.contains("asked the language model"), "the log is that of all levels");
    for secret in [KEY, "of-the-address", super::QUERY] {
        assert!(!log.contains(secret) && !status.contains(secret), "{secret}");
    }
}

#[test]
fn no_server_is_no_fault() {
    let helped = Helped::new(|_| Act::Hang);
    helped.set("url = \"http://127.0.0.1:1/v1\"\n");
    let result = helped.search(true);
    let why = result["degraded"][0].as_str().unwrap();
    assert_eq!(why, "expand: no server listens there (connection refused)");
    assert!(!paths(&result).is_empty() && helped.status()["tokens"] == 0);
    // Another server has not failed.
    let working = ModelServer::start(|_| Act::says(OTHER_WORDS));
    helped.set(&format!("url = \"{}\"\n", working.url));
    assert_eq!(helped.search(true)["expanded"], json!(["ttl", "expiry"]));
}

#[test]
fn a_server_is_asked_in_a_form_that_it_takes() {
    let helped = Helped::new(|sent| {
        let refused = |param: &str| Act::of(400, "", json!({ "error": { "message": param } }).to_string());
        match &sent.body {
            body if body.get("response_format").is_some() => refused("response_format is unknown"),
            body if body.get("max_tokens").is_some() => refused("max_tokens: use max_completion_tokens"),
            body if body.get("temperature").is_some() => refused("temperature must be 1"),
            _ => Act::says(&format!("<think>hm {{</think>```json\n{OTHER_WORDS}\n```")),
        }
    });
    assert_eq!(helped.search(true)["expanded"], json!(["ttl", "expiry"]));
    assert_eq!(helped.server.sent().len(), 4);
    helped.search_for("somebody asks otherwise", true);
    assert_eq!(helped.server.sent().len(), 5, "the form is known now");
    assert_eq!(helped.status()["tokens"], 2 * USED);
}

#[test]
fn stopping_does_not_wait_for_the_model() {
    let helped = Helped::with(|_| Act::Hang, "timeout_ms = 60000\n");
    helped.live.call("sync", json!({ "wait_ms": 60_000 }));
    let mut asking = helped.live.connect();
    let params = json!({ "cwd": helped.live.root(), "query": super::QUERY, "expand": true });
    asking.send(format!("{}\n", json!({ "jsonrpc": "2.0", "id": 1, "method": "search", "params": params })));
    crate::live::until("the server is asked", || helped.server.sent().len() == 1);
    let began = Instant::now();
    helped.live.call("stop", json!({}));
    let answer = asking.receive().unwrap();
    assert_eq!(answer["result"]["degraded"][0], "expand: the daemon is stopping", "{answer}");
    assert_eq!(helped.live.wait_for_end(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}
