//! Is what happens told over HTTP as on the socket, and does no stream hold up anybody?

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

#[cfg(unix)]
use rustix::net::{AddressFamily, SocketType, connect, socket, sockopt};
use serde_json::{Value, json};

use super::{Answer, Web, read_answer};
use crate::live::{PATIENCE, memo, until, word};

/// Most streams, where the limit of open files is not low.
const MOST: usize = 32;

/// A stream of events, as a client sees it.
struct Stream {
    reader: BufReader<TcpStream>,
    /// What has arrived and is not read yet, without the frame of HTTP.
    text: String,
}

impl Stream {
    /// Opens a stream that must be given.
    fn open(web: &Web, query: &str) -> Self {
        let (answer, reader) = ask(web, query, &[]);
        assert_eq!(answer.status, 200, "{answer:?}");
        let told = ["content-type", "cache-control", "transfer-encoding"].map(|name| answer.header(name));
        assert_eq!(told, [Some("text/event-stream"), Some("no-store"), Some("chunked")]);
        let mut stream = Self { reader, text: String::new() };
        assert_eq!(stream.block().as_deref(), Some("retry: 2000"), "it says when to come back");
        stream
    }

    /// Returns the lines up to the next empty one; `None` once the stream has ended as one that is complete.
    fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(block);
            }
            let mut size = String::new();
            self.reader.read_line(&mut size).unwrap();
            let size =
                u64::from_str_radix(size.trim_end(), 16).unwrap_or_else(|_| panic!("no chunk: {size:?}"));
            let mut chunk = Vec::new();
            self.reader.by_ref().take(size + 2).read_to_end(&mut chunk).unwrap();
            assert!(chunk.ends_with(b"\r\n"), "a chunk is cut off");
            if size == 0 {
                assert_eq!(self.text, "", "an event is cut off");
                return None;
            }
            chunk.truncate(chunk.len() - 2);
            self.text += std::str::from_utf8(&chunk).unwrap();
        }
    }

    /// Returns the next event, whose name is its topic.
    fn event(&mut self) -> Option<Value> {
        loop {
            let block = self.block()?;
            if block.starts_with(':') {
                continue;
            }
            let (name, data) = block.strip_prefix("event: ").unwrap().split_once("\ndata: ").unwrap();
            let event: Value = serde_json::from_str(data).unwrap();
            assert_eq!(event["topic"], name, "{event}");
            return Some(event);
        }
    }

    /// Returns the next event that is wanted.
    fn find(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        std::iter::from_fn(|| self.event()).find(is_wanted).expect("the stream goes on")
    }
}

/// Asks for a stream; returns the head of the answer, and what follows.
fn ask(web: &Web, query: &str, headers: &[(&str, &str)]) -> (Answer, BufReader<TcpStream>) {
    let mut stream = web.connect();
    let head = web.head("GET", &format!("/v1/events{query}"), &[&[("Content-Type", "")], headers].concat());
    write!(stream, "{head}\r\n").unwrap();
    let mut reader = BufReader::new(stream);
    (read_answer(&mut reader).expect("an answer"), reader)
}

fn n_connections(web: &Web) -> Value {
    web.live.call("serve.status", json!({}))["connections"].clone()
}

#[test]
fn memories_and_states_are_told() {
    let web = Web::new();
    let mut all = Stream::open(&web, "");
    let mut memories = Stream::open(&web, "?topics=memories");
    let mut some = Stream::open(&web, "?topics=views,progress&topics=drift");
    let id = web.add("tokens last a day");
    let told = memories.event().unwrap();
    assert_eq!((&told["ids"], &told["change"]), (&json!([id]), &json!("add")));
    assert_eq!(all.find(|event| event["topic"] == "memories")["ids"], json!([id]));
    web.live.write("b.md", "# Two\n\nbeta\n");
    let fresh = |event: &Value| event["topic"] == "views" && event["fresh"] == true;
    let view = all.find(fresh);
    assert_eq!(view["worktree"], json!(web.live.root()));
    some.find(fresh);
    web.live.write("src/one.rs", "pub fn one() -> u32 {\n    1\n}\n");
    let draft = json!({ "content": "one is one", "about": ["src/one.rs#one"], "force": true });
    web.get("POST", "/v1/memories", &draft);
    web.live.write("src/one.rs", "pub fn one() -> u32 {\n    2\n}\n");
    let drift = some.find(|event| event["topic"] == "drift");
    assert_eq!((&drift["drifted"], &drift["orphaned"]), (&json!(1), &json!(0)), "{drift}");
}

#[test]
fn a_stream_is_guarded_as_everything_is() {
    let web = Web::new();
    let check = |query: &str, headers: &[(&str, &str)], status: u16, code: &str| {
        let (answer, _) = ask(&web, query, headers);
        let told = if answer.status == 200 { String::new() } else { answer.code() };
        assert_eq!((answer.status, told.as_str()), (status, code), "{query} {headers:?}");
        let has =
            |name: &str, value: &str| assert_eq!(answer.header(name), Some(value), "{query} {headers:?}");
        has("x-content-type-options", "nosniff");
        has("cross-origin-resource-policy", "same-origin");
        has("cache-control", "no-store");
        assert!(!answer.headers.iter().any(|(name, _)| name.starts_with("access-control")));
    };
    let session = web.ask("POST", "/v1/session", &json!({}));
    let (cookie, _) = session.header("set-cookie").unwrap().split_once("; ").unwrap();
    let own = format!("http://127.0.0.1:{}", web.port);
    let by_cookie = [("Authorization", ""), ("Cookie", cookie)];
    check("?topics=views", &by_cookie, 200, "");
    check("?topics=views", &[&by_cookie[..], &[("Origin", &own)]].concat(), 200, "");
    check(
        "?topics=views",
        &[&by_cookie[..], &[("Origin", "http://evil.example")]].concat(),
        403,
        "forbidden",
    );
    check("?topics=views", &[&by_cookie[..], &[("Sec-Fetch-Site", "cross-site")]].concat(), 403, "forbidden");
    check("?topics=views", &[("Host", "evil.example")], 421, "wrong-host");
    check("?topics=views", &[("Authorization", "")], 401, "unauthorized");
    check("?topics=views", &[("Authorization", "Bearer nonsense")], 401, "unauthorized");
    let in_query = format!("?token={}", web.token);
    check(&in_query, &[("Authorization", "")], 401, "unauthorized");
    check(&in_query, &[], 400, "usage");
    check("?topics=poems", &[], 400, "usage");
    check("?topic=views", &[], 400, "usage");
    check("?topics=views&cwd=/", &[], 400, "wrong-repository");
    check("?topics=views&cwd=work", &[], 400, "usage");
    let post = web.ask("POST", "/v1/events", &json!({}));
    assert_eq!((post.status, post.header("allow")), (405, Some("GET")));
    until("all are forgotten", || n_connections(&web) == 0);
}

#[test]
fn streams_end_with_what_serves_them() {
    let web = Web::new();
    let mut stream = Stream::open(&web, "?topics=memories");
    assert_eq!(memo(&web.live, &["serve", "--stop"]).0, 0);
    assert_eq!(stream.event(), None, "it ends as one that is complete");
    let web = Web::of(web.live);
    let mut stream = Stream::open(&web, "?topics=memories");
    web.live.call("stop", json!({}));
    assert_eq!(stream.event(), None, "it ends as one that is complete");
    assert_eq!(web.live.wait_for_end(), Some(0));
}

#[test]
fn streams_leave_room_for_requests() {
    let web = Web::new();
    let mut streams: Vec<_> = (0..MOST).map(|_| Stream::open(&web, "?topics=memories")).collect();
    let (refused, _) = ask(&web, "?topics=memories", &[]);
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    let id = web.add("everybody hears of it");
    for stream in &mut streams {
        assert_eq!(stream.event().unwrap()["ids"], json!([id]));
    }
    web.assert_alive("while all streams are taken");
    // Who goes makes room, also without a word.
    streams.pop();
    until("there is room again", || ask(&web, "?topics=memories", &[]).0.status == 200);
    drop(streams);
    until("all are forgotten", || n_connections(&web) == 0);
}

#[test]
fn a_comment_comes_when_nothing_happens() {
    let web = Web::new();
    let mut stream = Stream::open(&web, "?topics=memories");
    assert_eq!(stream.block().as_deref(), Some(":"));
    let id = web.add("after the silence");
    assert_eq!(stream.event().unwrap()["ids"], json!([id]));
}

/// Connects with little room for what is not read.
#[cfg(unix)]
fn connect_with_little_room(web: &Web) -> TcpStream {
    let descriptor = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    sockopt::set_socket_recv_buffer_size(&descriptor, 4 << 10).unwrap();
    connect(&descriptor, &std::net::SocketAddr::from(([127, 0, 0, 1], web.port))).unwrap();
    let stream = TcpStream::from(descriptor);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

#[cfg(unix)]
#[test]
fn who_reads_nothing_is_let_go() {
    let web = Web::new();
    let drafts: Vec<_> = (0..1_000).map(|n| json!({ "content": word(n), "line": n })).collect();
    web.live.call("memory.import", json!({ "drafts": drafts }));
    let container = web.live.call("memory.containers", json!({}))["names"][0]["name"].clone();
    let mut deaf = connect_with_little_room(&web);
    let head = web.head("GET", "/v1/events?topics=memories", &[("Content-Type", "")]);
    write!(deaf, "{head}\r\n").unwrap();
    until("it listens", || n_connections(&web) == 1);
    // Each round tells of all of them twice, until no room is left, and then until the time is over.
    until("the daemon lets it go", || {
        let archived = web.live.call("memory.forget", json!({ "container": container }));
        let memories = archived["memories"].as_array().unwrap();
        let ids: Vec<_> = memories.iter().map(|memory| memory["id"].clone()).collect();
        assert_eq!(ids.len(), 1_000);
        web.live.call("memory.restore", json!({ "ids": ids }));
        n_connections(&web) == 0
    });
    let mut bytes = Vec::new();
    let _ = deaf.read_to_end(&mut bytes); // it may be reset
    assert!(bytes.starts_with(b"HTTP/1.1 200") && !bytes.ends_with(b"0\r\n\r\n"), "it was cut off");
    web.assert_alive("afterwards");
}
