//! Does `GET /v1/events` tell what happens, to those alone who may know, until the end?

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{Answer, Web, read_answer};
use crate::live::until;

/// Most streams of one address.
const MOST: usize = 32;

/// A stream of events.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn open(web: &Web, query: &str) -> (Answer, Self) {
        let mut stream = web.connect();
        write!(stream, "{}\r\n", web.head("GET", &format!("/v1/events{query}"), &[])).unwrap();
        let mut reader = BufReader::new(stream);
        (read_answer(&mut reader).unwrap(), Self(reader))
    }

    /// Returns the next event with its name; `None` at the end. Sizes of chunks, comments and empty lines are passed over.
    fn next(&mut self) -> Option<(String, Value)> {
        let (mut line, mut name) = (String::new(), String::new());
        loop {
            line.clear();
            if self.0.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(said) = line.trim_end().strip_prefix("event: ") {
                said.clone_into(&mut name);
            }
            if let Some(data) = line.trim_end().strip_prefix("data: ") {
                return Some((name, serde_json::from_str(data).unwrap()));
            }
        }
    }
}

#[test]
fn what_happens_is_streamed() {
    let web = Web::new();
    let (head, mut stream) = Stream::open(&web, "?topics=memories,views");
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")));
    assert_eq!(head.header("cache-control"), Some("no-store"));
    assert!(head.header("content-security-policy").is_some());
    let id = web.add("told to who listens");
    let (name, event) = std::iter::from_fn(|| stream.next()).find(|(name, _)| name == "memories").unwrap();
    assert_eq!((name, &event["change"], &event["ids"]), ("memories".to_owned(), &json!("add"), &json!([id])));
    web.live.write("b.md", "# Beta\n\nbeta words");
    // A state that waits unread gives way to the next one, so only the last is sure to come.
    let fresh = std::iter::from_fn(|| stream.next()).find(|(_, event)| event["fresh"] == true);
    assert_eq!(fresh.unwrap().0, "views");
    web.live.expect("beta", "b.md", "what was told to be up to date is found");
}

#[test]
fn only_who_may_know_is_told() {
    let web = Web::new();
    let ask = |path: &str, headers: &[(&str, &str)]| web.ask_with("GET", path, headers, "").status;
    assert_eq!(ask("/v1/events", &[("Authorization", "")]), 401);
    assert_eq!(ask("/v1/events", &[("Origin", "http://evil.example")]), 403);
    assert_eq!(ask("/v1/events", &[("Host", "evil.example")]), 421);
    assert_eq!(ask("/v1/events?topics=all", &[]), 400);
    assert_eq!(ask("/v1/events?cwd=/", &[]), 400);
    assert_eq!(web.ask_with("POST", "/v1/events", &[], "").status, 405);
}

#[test]
fn many_streams_leave_room_for_requests() {
    let web = Web::new();
    let mut streams: Vec<Stream> = (0..MOST).map(|_| Stream::open(&web, "").1).collect();
    let (head, _) = Stream::open(&web, "");
    assert_eq!((head.status, head.header("retry-after")), (503, Some("1")));
    web.assert_alive("with all streams open");
    streams.truncate(1);
    until("there is room again", || {
        web.add(&format!("a memory that is told {}", web.live.call("memory.stats", json!({}))["memories"]));
        Stream::open(&web, "").0.status == 200
    });
}

#[test]
fn a_stream_ends_with_the_daemon_and_with_the_server() {
    let web = Web::new();
    let (_, mut stream) = Stream::open(&web, "");
    web.live.call("serve.stop", json!({}));
    while stream.next().is_some() {}
    let web = Web::of(web.live);
    let (_, mut stream) = Stream::open(&web, "");
    assert!(web.live.memo(&["stop"]).status().unwrap().success());
    while stream.next().is_some() {}
    let log = fs::read_to_string(web.live.layout().log_file()).unwrap();
    assert!(!log.contains("panicked"), "{log}");
}
