//! Do peers that are slow, many or gone hold up the others?

use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Web, read_answer};
use crate::live::{until, word};

/// Most HTTP connections.
const MOST: usize = 128;

#[test]
fn a_thousand_half_heads_leave_the_socket_alone() {
    let web = Web::new();
    let half = format!("POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nX-Slow: ", web.port);
    let (mut held, mut n_refused) = (Vec::new(), 0);
    for n in 0..1_000 {
        let mut stream = web.connect();
        let _ = stream.write_all(half.as_bytes()); // one that is turned away is closed already, maybe
        if n < MOST {
            held.push(stream);
            continue;
        }
        // What was sent is thrown away with the connection, so the answer may be lost.
        match read_answer(&mut BufReader::new(stream)) {
            Some(answer) => assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1"))),
            None => assert!(n >= MOST),
        }
        n_refused += 1;
        if n % 100 == 0 {
            let began = Instant::now();
            web.live.expect("alpha", "a.md", "the socket answers meanwhile");
            assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        }
    }
    assert_eq!((held.len(), n_refused), (MOST, 1_000 - MOST));
    assert_eq!(web.live.call("serve.status", json!({}))["connections"], MOST);

    // The first one is let go after half a minute, although it sends a byte now and then.
    let (began, mut slow) = (Instant::now(), held.remove(0));
    drop(held);
    until("there is room again", || web.live.call("serve.status", json!({}))["connections"] == 1);
    web.assert_alive("with one slow peer");
    slow.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    loop {
        assert!(began.elapsed() < Duration::from_secs(45), "a head may take for ever");
        let _ = slow.write_all(b"x"); // it fails once the connection is closed
        match slow.read(&mut [0; 1024]) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {}
            Err(_) => break,
        }
    }
    until("it is forgotten", || web.live.call("serve.status", json!({}))["connections"] == 0);
}

#[test]
fn a_body_that_does_not_come_is_given_up() {
    let web = Web::new();
    let mut stream = web.connect();
    write!(stream, "{}Content-Length: 100\r\n\r\n{{", web.head("POST", "/v1/search", &[])).unwrap();
    let began = Instant::now();
    web.assert_alive("while a body is awaited");
    let answer = read_answer(&mut BufReader::new(stream)).unwrap();
    assert_eq!((answer.status, answer.code().as_str()), (408, "timeout"));
    assert!(began.elapsed() > Duration::from_secs(25), "{:?}", began.elapsed());
}

#[test]
fn a_peer_that_does_not_read_is_let_go() {
    let web = Web::new();
    for n in 0..150 {
        web.live
            .call("memory.add", json!({ "content": format!("{n} {}", "z".repeat(60_000)), "force": true }));
    }
    let mut stream = web.connect();
    let body = json!({ "limit": 1_000 }).to_string();
    let head = web.head("POST", "/v1/memory.list", &[]);
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    until("it is let go", || web.live.call("serve.status", json!({}))["connections"] == 0);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes); // reset, or what the system had taken
    assert!(bytes.len() < 9_000_000, "all of it was kept: {}", bytes.len());
    web.assert_alive("afterwards");
}

#[test]
fn a_connection_is_kept_and_one_that_ends_early_is_not() {
    let web = Web::new();
    let mut stream = web.connect();
    let request = |n: usize| format!("{}X-N: {n}\r\n\r\n", web.head("GET", "/v1/stats", &[]));
    stream.write_all((request(1) + &request(2)).as_bytes()).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for n in 1..=2 {
        assert_eq!(read_answer(&mut reader).unwrap().status, 200, "request {n} of one write");
    }
    stream.write_all(request(3).as_bytes()).unwrap();
    assert_eq!(read_answer(&mut reader).unwrap().status, 200);
    stream.shutdown(Shutdown::Write).unwrap();
    assert!(read_answer(&mut reader).is_none());
    for junk in [
        "",
        "\r\n",
        "GET",
        "\x16\x03\x01",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
    ] {
        let mut stream = web.connect();
        stream.write_all(junk.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer); // it may be reset
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{junk:?}: {answer}");
    }
    let long = "x".repeat(1 << 20);
    let mut stream = web.connect();
    let _ = write!(stream, "{}X-Long: {long}\r\n\r\n", web.head("GET", "/v1/stats", &[])); // it is not read whole
    if let Some(answer) = read_answer(&mut BufReader::new(stream)) {
        assert_eq!(answer.status, 431);
    }
    until("all are forgotten", || web.live.call("serve.status", json!({}))["connections"] == 0);
    web.assert_alive("after junk");
}

/// Sends a request whose head has so many bytes, in one write or in several; returns the status of the answer.
fn ask_with_head_of(web: &Web, path: &str, n_bytes: usize, n_writes: usize) -> u16 {
    let head = format!("{}Connection: close\r\nX-Long: ", web.head("GET", path, &[]));
    let head = format!("{head}{}\r\n\r\n", "x".repeat(n_bytes - head.len() - "\r\n\r\n".len()));
    assert_eq!(head.len(), n_bytes);
    let mut stream = web.connect();
    for part in head.as_bytes().chunks(n_bytes.div_ceil(n_writes)) {
        let _ = stream.write_all(part); // who sends too much may not be listened to
    }
    read_answer(&mut BufReader::new(stream)).map_or(0, |answer| answer.status)
}

#[test]
fn a_head_has_64_kib_and_no_more() {
    let web = Web::new();
    let most = 64 << 10;
    let long_path = format!("/v1/stats?x={}", "y".repeat(40_000)); // the line counts too
    for (path, n_writes) in [("/v1/stats", 1), ("/v1/stats", 7), (&*long_path, 1)] {
        for n_bytes in [most - 1, most, most + 1] {
            let status = ask_with_head_of(&web, path, n_bytes, n_writes);
            assert_eq!(status == 431, n_bytes > most, "{n_bytes} in {n_writes} writes: {status}");
        }
        // What is not read of one that is far too long may take the answer with it.
        let status = ask_with_head_of(&web, path, 100_000, n_writes);
        assert!([431, 0].contains(&status), "{status} in {n_writes} writes");
    }
    assert_eq!(ask_with_head_of(&web, "/v1/stats", most, 1), 200);
    web.assert_alive("after long heads");
}

#[test]
fn requests_over_the_limit_are_told_when_to_come_back() {
    let web = Web::new();
    let body = json!({ "sync": "full", "wait_ms": 60_000 }).to_string();
    let head = web.head("POST", "/v1/sync", &[]);
    let request = format!("{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
    // Each waits for new vectors; how soon they are there is the machine's affair, hence several rounds.
    let n_refused = (0..20).find_map(|round| {
        let text = |number: usize| format!("# {}\n\nsome text", word(1_000 * round + number));
        (0..200).for_each(|number| web.live.write(&format!("{number}.md"), text(number)));
        let streams: Vec<_> = (0..100).map(|_| web.connect()).collect();
        streams.iter().for_each(|mut stream| stream.write_all(request.as_bytes()).unwrap());
        let answers = streams.into_iter().map(|stream| read_answer(&mut BufReader::new(stream)).unwrap());
        let (answered, refused): (Vec<_>, Vec<_>) = answers.partition(|answer| answer.status == 200);
        assert!(answered.len() >= 64, "{} were answered", answered.len());
        for answer in &refused {
            let told = (answer.status, answer.code(), answer.header("retry-after"));
            assert_eq!(told, (503, "busy".to_owned(), Some("1")));
        }
        Some(refused.len()).filter(|n_refused| *n_refused > 0)
    });
    assert!(n_refused.is_some(), "100 at once are too many");
    web.assert_alive("after too many requests");
}
