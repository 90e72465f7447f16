//! How does a test speak the protocol by hand?

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, Write};

use serde_json::{Value, json};

use crate::system::{self, Stream};

/// A connection that speaks the protocol by hand.
pub(crate) struct Rpc {
    reader: BufReader<Stream>,
    next_id: u64,
    /// Events that came before an answer.
    events: VecDeque<Value>,
}

impl Rpc {
    pub(crate) fn connect(socket: &str) -> Self {
        Self { reader: BufReader::new(system::connect(socket).unwrap()), next_id: 0, events: VecDeque::new() }
    }

    pub(crate) fn stream(&self) -> &Stream {
        self.reader.get_ref()
    }

    pub(crate) fn send(&self, bytes: impl AsRef<[u8]>) {
        self.stream().write_all(bytes.as_ref()).unwrap();
    }

    /// Returns the next line; none when the daemon has closed the connection.
    pub(crate) fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap()),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            Err(error) => panic!("no answer: {error}"),
        }
    }

    /// Returns the result, or the error as it came.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        self.next_id += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params });
        self.send(format!("{request}\n"));
        let mut reply = self.receive().expect("the connection stays open");
        while reply["method"] == "event" {
            self.events.push_back(reply["params"].take());
            reply = self.receive().expect("the connection stays open");
        }
        assert_eq!(reply["id"], self.next_id, "{reply}");
        if reply["error"].is_null() { Ok(reply["result"].take()) } else { Err(reply["error"].take()) }
    }

    /// Returns the next event.
    pub(crate) fn event(&mut self) -> Value {
        if let Some(event) = self.events.pop_front() {
            return event;
        }
        let mut line = self.receive().expect("the connection stays open");
        assert_eq!((&line["jsonrpc"], &line["method"]), (&json!("2.0"), &json!("event")), "{line}");
        line["params"].take()
    }

    /// Returns the number of events that came before an answer.
    pub(crate) fn n_events(&self) -> usize {
        self.events.len()
    }
}
