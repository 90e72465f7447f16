//! How does a test speak HTTP with the daemon, byte by byte?

mod attacks;
mod described;
mod events;
mod exact_numbers;
mod pages;
mod routes;
mod serving;
mod slow;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};

use serde_json::{Value, json};

use crate::live::{Live, PATIENCE};

/// A repository whose daemon listens for HTTP.
struct Web {
    live: Live,
    port: u16,
    token: String,
}

/// What was answered.
#[derive(Debug)]
struct Answer {
    status: u16,
    /// Names in lower case, in the order of the response.
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}: {text}", self.status))
    }

    /// Returns the word of the error, or nothing.
    fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl Web {
    fn new() -> Self {
        let live = Live::new();
        live.write("a.md", "# One\n\nalpha words of a section\n");
        live.expect("alpha", "a.md", "at the start");
        Self::of(live)
    }

    fn of(live: Live) -> Self {
        let told = live.call("serve.start", json!({}));
        let port = u16::try_from(told["port"].as_u64().unwrap()).unwrap();
        let token = told["url"].as_str().unwrap().split_once("#token=").unwrap().1.to_owned();
        Self { live, port, token }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Returns the usual headers of a program that has the token, each replaced by that of the same name in `headers`; one
    /// that is replaced by nothing is left out.
    fn head(&self, verb: &str, path: &str, headers: &[(&str, &str)]) -> String {
        let host = format!("127.0.0.1:{}", self.port);
        let bearer = format!("Bearer {}", self.token);
        let usual =
            [("Host", host.as_str()), ("Authorization", &bearer), ("Content-Type", "application/json")];
        let is_given = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        let usual = usual.iter().filter(|(name, _)| !is_given(name));
        let given = headers.iter().filter(|(_, value)| !value.is_empty());
        let lines: String = usual.chain(given).map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("{verb} {path} HTTP/1.1\r\n{lines}")
    }

    /// Sends a request on a connection of its own.
    fn ask_with(&self, verb: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let head = self.head(verb, path, headers);
        let mut stream = self.connect();
        write!(stream, "{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()).unwrap();
        read_answer(&mut BufReader::new(stream)).unwrap_or_else(|| panic!("no answer to {verb} {path}"))
    }

    fn ask(&self, verb: &str, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.ask_with(verb, path, &[], &body)
    }

    /// Sends a request that must succeed, and returns the result.
    fn get(&self, verb: &str, path: &str, body: &Value) -> Value {
        let answer = self.ask(verb, path, body);
        assert!((200..300).contains(&answer.status), "{verb} {path}: {} {}", answer.status, answer.json());
        answer.json()
    }

    /// Adds a memory, and returns its id.
    fn add(&self, content: &str) -> String {
        let added = self.get("POST", "/v1/memories", &json!({ "content": content }));
        added["memory"]["id"].as_str().unwrap().to_owned()
    }

    /// Asserts that both the socket and HTTP answer.
    fn assert_alive(&self, what: &str) {
        self.live.expect("alpha", "a.md", what);
        let found = self.get("POST", "/v1/search", &json!({ "query": "alpha" }));
        assert_eq!(found["hits"][0]["path"], "a.md", "{what}: {found}");
    }
}

/// Reads one response; none if the connection was closed without.
fn read_answer(reader: &mut impl BufRead) -> Option<Answer> {
    let mut line = String::new();
    if !reader.read_line(&mut line).is_ok_and(|n_bytes| n_bytes > 0) {
        return None;
    }
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.unwrap_or_else(|| panic!("no HTTP: {line}"));
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let mut answer = Answer { status, headers, body: Vec::new() };
    let length = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
    reader.take(length).read_to_end(&mut answer.body).ok()?;
    Some(answer)
}
