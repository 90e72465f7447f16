//! Does the socket keep its promises to anybody who can write a line?

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::process::Stdio;
use std::time::{Duration, Instant};

use memod_client::{Client, ClientError, ClientOptions};
use memod_proto::{METHODS, code};
use serde_json::{Value, json};

use crate::live::{Live, not_checked, word};
use crate::rpc::Rpc;

fn with_file() -> Live {
    let live = Live::new();
    live.write("a.md", "alpha");
    live.expect("alpha", "a.md", "at the start");
    live
}

fn request(id: impl Into<Value>, method: &str, params: &Value) -> String {
    let id = id.into();
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

/// Asserts that the connection still answers.
fn assert_alive(rpc: &mut Rpc, what: &str) {
    rpc.send(request("alive", "hello", &json!({ "version": "0", "protocol": 1 })));
    assert_eq!(rpc.receive().expect(what)["id"], "alive", "{what}");
}

#[test]
fn what_is_no_request_is_an_error_and_no_more() {
    let live = with_file();
    let deep =
        |n: usize| format!("{{\"id\":1,\"method\":\"x\",\"params\":{}{}}}", "[".repeat(n), "]".repeat(n));
    let cases: Vec<(&str, Vec<u8>, i64)> = vec![
        ("invalid JSON", b"{\"id\":".to_vec(), code::PARSE),
        ("two values", b"{} {}".to_vec(), code::PARSE),
        ("invalid UTF-8", b"{\"id\":1,\"method\":\"\xff\"}".to_vec(), code::PARSE),
        ("half a surrogate", b"{\"id\":1,\"method\":\"\\ud800\"}".to_vec(), code::PARSE),
        ("NUL", b"\0".to_vec(), code::PARSE),
        ("a number without end", b"9".repeat(10_000), code::PARSE),
        ("depth 65", deep(64).into_bytes(), code::PARSE),
        ("depth 100,000", deep(99_999).into_bytes(), code::PARSE),
        ("depth 64", deep(63).into_bytes(), code::NO_METHOD),
        ("a batch", b"[{\"id\":1,\"method\":\"hello\"}]".to_vec(), code::INVALID_REQUEST),
        ("null", b"null".to_vec(), code::INVALID_REQUEST),
        ("no method", b"{\"id\":1}".to_vec(), code::INVALID_REQUEST),
        ("a method that is a number", b"{\"id\":1,\"method\":3}".to_vec(), code::INVALID_REQUEST),
        ("an unknown method", request(1, "rm", &json!({})).into_bytes(), code::NO_METHOD),
    ];
    let mut rpc = live.connect();
    for (what, mut line, code) in cases {
        line.push(b'\n');
        rpc.send(line);
        let reply = rpc.receive().expect(what);
        assert_eq!(
            (&reply["jsonrpc"], &reply["error"]["code"]),
            (&json!("2.0"), &json!(code)),
            "{what}: {reply}"
        );
        assert_alive(&mut rpc, what);
    }
}

#[test]
fn every_method_is_known() {
    let live = with_file();
    let mut rpc = live.connect();
    let others = METHODS.iter().map(|method| method.name).filter(|name| *name != "stop");
    for method in others.chain(["stop"]) {
        if let Err(error) = rpc.call(method, &json!({})) {
            assert_ne!(error["code"], code::NO_METHOD, "{method}");
        }
    }
}

#[test]
fn params_are_checked() {
    let live = with_file();
    live.git(&["init", "-q", "../other"]);
    let (root, other) = (live.root(), live.sandbox.path("other"));
    let (bad, wrong) = (code::INVALID_PARAMS, code::WRONG_REPOSITORY);
    let cases = [
        (json!({ "query": "x" }), bad),
        (json!({ "query": "x", "cwd": "" }), bad),
        (json!({ "query": "x", "cwd": "work" }), bad),
        (json!({ "query": "x", "cwd": 3 }), bad),
        (json!({ "query": "x", "cwd": other }), wrong),
        (json!({ "query": "x", "cwd": root.join("none") }), wrong),
        (json!({ "query": "x", "cwd": root.join("a.md") }), wrong),
        (json!({ "query": "x", "cwd": root.ancestors().last().unwrap() }), wrong),
        (json!({ "query": "x", "cwd": root.join("a\u{0}b") }), wrong),
        (json!({ "cwd": root }), bad),
        (json!({ "query": " ", "cwd": root }), bad),
        (json!({ "query": "x", "cwd": root, "limit": 0 }), bad),
        (json!({ "query": "x", "cwd": root, "limit": 201 }), bad),
        (json!({ "query": "x", "cwd": root, "limit": -1 }), bad),
        (json!({ "query": "x", "cwd": root, "path": vec!["a"; 100_000] }), bad),
        (json!({ "query": "x", "cwd": root, "sync": "soon" }), bad),
        (json!({ "query": "x", "cwd": root, "kind": ["poem"] }), bad),
        (json!({ "query": "x", "cwd": root, "lang": ["klingon"] }), bad),
        (json!({ "query": "x", "cwd": root, "path": ["[a"] }), bad),
        (json!(["x"]), bad),
        (json!([root, "alpha"]), bad),
        (json!("x"), bad),
    ];
    let mut rpc = live.connect();
    for (params, code) in cases {
        let error = rpc.call("search", &params).expect_err(&params.to_string());
        assert_eq!(error["code"], code, "{params}: {error}");
        assert!(!error["message"].as_str().unwrap().is_empty(), "{params}");
    }
    let error = rpc.call("search", &json!({ "query": "x", "cwd": 3 })).unwrap_err();
    assert_eq!(error["message"], "params: cwd: invalid type: integer `3`, expected a string", "it is named");
    let params = json!({ "query": "alpha", "cwd": root, "wait_ms": u64::MAX, "colour": "blue", "later": { "a": [1] } });
    assert_eq!(rpc.call("search", &params).unwrap()["hits"][0]["path"], "a.md", "unknown params are ignored");
    for method in ["map", "status", "sync", "reindex"] {
        let error = rpc.call(method, &json!({ "cwd": other })).expect_err(method);
        assert_eq!(error["code"], wrong, "{method}");
    }
}

#[cfg(unix)]
#[test]
fn lines_may_come_in_any_pieces() {
    let live = with_file();
    let search = |id: i64| request(id, "search", &json!({ "cwd": live.root(), "query": "alpha" }));
    let mut rpc = live.connect();
    rpc.send(search(1) + "\n  \r\n" + &search(2));
    let mut ids: Vec<_> = (0..2).map(|_| rpc.receive().unwrap()["id"].as_i64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2], "two in one write");
    for byte in search(3).bytes() {
        rpc.send([byte]);
    }
    assert_eq!(rpc.receive().unwrap()["id"], 3, "byte by byte");
    rpc.send(search(4).replace('\n', "\r\n"));
    assert_eq!(rpc.receive().unwrap()["id"], 4, "with a carriage return");
    for id in [json!("text"), json!(1.5), json!(-1), json!(null), json!({ "a": [1] })] {
        rpc.send(request(id.clone(), "search", &json!({ "cwd": live.root(), "query": "alpha" })));
        let reply = rpc.receive().unwrap();
        assert_eq!((&reply["id"], &reply["error"]), (&id, &Value::Null), "an id comes back as it was");
    }
    rpc.send(search(5).trim_end());
    rpc.stream().shutdown(Shutdown::Write).unwrap();
    assert_eq!(
        rpc.receive().unwrap()["result"]["hits"][0]["path"],
        "a.md",
        "half closed, without a line end"
    );
    assert!(rpc.receive().is_none(), "then the connection ends");
}

#[test]
fn a_notification_has_no_reply() {
    let live = with_file();
    let mut rpc = live.connect();
    for line in [
        json!({ "jsonrpc": "2.0", "method": "search", "params": { "cwd": live.root(), "query": "alpha" } }),
        json!({ "jsonrpc": "2.0", "method": "rm" }),
        json!({ "jsonrpc": "2.0", "method": "search", "params": {} }),
    ] {
        rpc.send(format!("{line}\n"));
    }
    assert_alive(&mut rpc, "and the next request has its own");
}

#[test]
fn a_slow_request_does_not_hold_up_the_others() {
    let live = with_file();
    (0..200).for_each(|number| live.write(&format!("{number}.md"), format!("# {number}\n\nsome text")));
    let mut rpc = live.connect();
    let slow = request("slow", "sync", &json!({ "cwd": live.root(), "sync": "full", "wait_ms": 60_000 }));
    let quick = request("quick", "hello", &json!({ "version": "0", "protocol": 1 }));
    rpc.send(slow + &quick);
    let ids: Vec<_> = (0..2).map(|_| rpc.receive().unwrap()["id"].clone()).collect();
    assert_eq!(ids, ["quick", "slow"]);
}

#[test]
fn too_many_requests_are_turned_away_one_by_one() {
    let live = with_file();
    let mut rpc = live.connect();
    let sync = json!({ "cwd": live.root(), "sync": "full", "wait_ms": 60_000 });
    // Each waits for new vectors; how soon they are there is the machine's affair, hence several rounds.
    let n_refused = (0..20).find_map(|round| {
        let text = |number: usize| format!("# {}\n\nsome text", word(1_000 * round + number));
        (0..200).for_each(|number| live.write(&format!("{number}.md"), text(number)));
        rpc.send((0..100).map(|id| request(id, "sync", &sync)).collect::<String>());
        let replies: BTreeMap<u64, Value> = (0..100)
            .map(|_| {
                let reply = rpc.receive().expect("one reply for each");
                (reply["id"].as_u64().expect("what is turned away has its id too"), reply)
            })
            .collect();
        assert_eq!(replies.len(), 100, "each request has its own reply");
        let (answered, refused): (Vec<_>, Vec<_>) =
            replies.values().partition(|reply| reply["error"].is_null());
        assert!(answered.len() >= 64, "{} were answered", answered.len());
        assert!(answered.iter().all(|reply| reply["result"]["fresh"] == true));
        for reply in &refused {
            assert_eq!(reply["error"]["code"], code::BUSY, "{reply}");
            assert!(reply["error"]["data"]["retry_after_ms"].as_u64() > Some(0), "{reply}");
        }
        Some(refused.len()).filter(|n_refused| *n_refused > 0)
    });
    assert!(n_refused.is_some(), "100 at once are too many");
    assert_alive(&mut rpc, "and the connection lives");
}

#[test]
fn a_line_without_end_is_cut_off() {
    let live = with_file();
    let mut rpc = live.connect();
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..20 {
        rpc.send(&chunk);
    }
    let reply = rpc.receive().expect("who writes on is answered, too");
    assert_eq!(reply["error"]["code"], code::INVALID_REQUEST, "{reply}");
    assert!(rpc.receive().is_none(), "where the next line begins is not known");
    let long = "alpha ".repeat(1 << 20);
    let params = json!({ "cwd": live.root(), "query": long, "wait_ms": 60_000 });
    assert_eq!(live.rpc().call("search", &params).unwrap()["fresh"], true, "6 MiB are a line");
    live.expect("alpha", "a.md", "the daemon lives");
}

#[test]
fn many_connections_at_once() {
    let live = with_file();
    let mut open: Vec<_> = (0..200).map(|_| live.connect()).collect();
    for rpc in &mut open {
        assert_alive(rpc, "each is served");
    }
    // Peers that leave in the middle of everything.
    for rpc in open.drain(..100) {
        rpc.send(request(1, "search", &json!({ "cwd": live.root(), "query": "alpha" })));
        drop(rpc);
    }
    for rpc in &mut open {
        assert_alive(rpc, "the others stay");
    }
    live.expect("alpha", "a.md", "the daemon lives");
}

#[cfg(unix)]
#[test]
fn who_comes_when_all_connections_are_taken_waits_for_one() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    const MOST: usize = 1_024;
    let maximum = getrlimit(Resource::Nofile).maximum;
    if maximum.is_some_and(|maximum| maximum < 4 * MOST as u64) {
        return not_checked(&format!("{MOST} connections; {maximum:?} descriptors are allowed"));
    }
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    let live = with_file();
    assert!(live.rpc().call("hello", &json!({ "version": "0", "protocol": 1 })).is_ok(), "it is one of them");
    let mut open: Vec<_> = (1..MOST).map(|_| live.connect()).collect();
    open.iter_mut().for_each(|rpc| assert_alive(rpc, "as many are served"));
    let mut next = live.connect();
    let error = next.receive().unwrap()["error"].take();
    assert_eq!((&error["code"], next.receive()), (&json!(code::BUSY), None), "{error}");
    assert!(error["data"]["retry_after_ms"].as_u64() > Some(0), "{error}");

    let mut patient = live.memo(&["search", "alpha", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    for within_ms in [500, 1_000] {
        let answer_within = Duration::from_millis(within_ms);
        let options = ClientOptions { answer_within, ..ClientOptions::read().without_start() };
        let began = Instant::now();
        let mut client = Client::connect(&live.layout(), &live.sandbox.env(), options).unwrap();
        let error = client.call::<_, Value>("search", &json!({})).unwrap_err();
        assert!(began.elapsed() >= answer_within, "it tries as long as it may");
        assert!(error.to_string().contains("1024 connections are open"), "{error}");
        assert!(matches!(error, ClientError::Rpc(error) if error.code == code::BUSY));
    }
    assert!(patient.try_wait().unwrap().is_none(), "it waits");
    drop(open.pop());
    let output = patient.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["fresh"], &answer["hits"][0]["path"]), (&json!(true), &json!("a.md")), "{answer}");
}

#[cfg(unix)]
#[test]
fn peers_that_never_read_do_not_hold_up_others() {
    const DEAF: usize = 50;
    let live = Live::new();
    (0..300).for_each(|number| live.write(&format!("{number}.md"), format!("# {number}\n\nalpha text")));
    let params = json!({ "cwd": live.root(), "query": "alpha text", "limit": 50, "wait_ms": 60_000 });
    let search = || {
        let result = live.rpc().call("search", &params).unwrap();
        assert_eq!(result["fresh"], true, "{result}");
    };
    search();
    // What is under way at most when another asks: one for each of them, and 64 of whomever.
    let started = Instant::now();
    (0..DEAF + 64).for_each(|_| search());
    let one_by_one = started.elapsed();
    let deaf: Vec<_> = (0..DEAF).map(|_| live.connect()).collect();
    for rpc in &deaf {
        rpc.stream().set_nonblocking(true).unwrap();
        let burst = request(1, "search", &params).repeat(1_000);
        let n_sent = rpc.stream().write(burst.as_bytes()).unwrap();
        assert!(n_sent > burst.len() / 10, "{n_sent} bytes were taken");
    }
    for _ in 0..20 {
        let started = Instant::now();
        search();
        let took = started.elapsed();
        assert!(took < 2 * one_by_one, "{took:?} behind those that took {one_by_one:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_peer_that_is_slow_to_ask_or_does_not_read_is_let_go() {
    let live = with_file();
    for number in 0..3 {
        let content = format!("{} {}", word(number), "z".repeat(60_000));
        live.call("memory.add", json!({ "content": content, "force": true }));
    }
    let deaf = live.connect();
    let list = |id: i64| request(id, "memory.list", &json!({ "cwd": live.root() }));
    deaf.send((0..64).map(list).collect::<String>());
    let slow = live.connect();
    slow.stream().set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut buffer = vec![0; 1 << 16];
    let began = Instant::now();
    // A byte each second, until there is an answer.
    let n_read = loop {
        assert!(began.elapsed() < Duration::from_secs(40), "a line may take for ever");
        let _ = slow.stream().write_all(b"["); // it fails once there is an answer
        if let Ok(n_read) = slow.stream().read(&mut buffer) {
            break n_read;
        }
    };
    assert!(began.elapsed() > Duration::from_secs(25), "{:?}", began.elapsed());
    let reply: Value = serde_json::from_slice(&buffer[..n_read]).unwrap();
    assert_eq!(reply["error"]["code"], code::INVALID_REQUEST, "{reply}");
    let rest = slow.stream().read(&mut buffer);
    assert!(!rest.is_ok_and(|n_read| n_read > 0), "where the next line begins is not known");
    let mut n_bytes = 0;
    while let Ok(n_read @ 1..) = deaf.stream().read(&mut buffer) {
        n_bytes += n_read;
    }
    assert!(n_bytes < 4 << 20, "the rest of the replies was dropped: {n_bytes}");
    live.expect("alpha", "a.md", "the daemon lives");
}
