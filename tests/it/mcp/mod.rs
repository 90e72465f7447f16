//! Does `memo mcp` serve agents, by the rules of both generations of their protocol?

mod broken;
mod generations;
#[cfg(unix)]
mod permission;
#[cfg(unix)]
mod pressure;
#[cfg(unix)]
mod processes;
#[cfg(unix)]
mod resources;
mod sources;
mod tools;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use crate::live::{Live, PATIENCE, until};

/// Newest version of the generation that begins with `initialize`.
const LEGACY: &str = "2025-11-25";
/// The version of the generation that does not.
const MODERN: &str = "2026-07-28";

/// A client of `memo mcp` that speaks by hand.
struct Mcp {
    child: Child,
    stdin: Option<ChildStdin>,
    /// What the server writes, until somebody listens.
    unread: Option<ChildStdout>,
    lines: Receiver<Value>,
    next_id: u64,
    /// What every request carries.
    meta: Value,
}

impl Mcp {
    /// Starts the server; nothing is said yet.
    fn start(command: &mut Command) -> Self {
        let mut mcp = Self::unread(command);
        mcp.listen();
        mcp
    }

    /// As [`Self::start`], but nothing that the server writes is read.
    fn unread(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let (stdin, unread) = (child.stdin.take(), child.stdout.take());
        Self { child, stdin, unread, lines: channel().1, next_id: 0, meta: Value::Null }
    }

    /// Reads what the server writes from here on.
    fn listen(&mut self) {
        let stdout = BufReader::new(self.unread.take().unwrap());
        let (sender, lines) = channel();
        self.lines = lines;
        thread::spawn(move || {
            for line in stdout.lines() {
                let line = line.unwrap();
                let line = serde_json::from_str(&line).unwrap_or_else(|_| panic!("stdout has: {line}"));
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
    }

    /// Starts the server in a repository, and begins as a client of the generation of `initialize`.
    fn legacy(live: &Live, args: &[&str]) -> Self {
        let mut mcp = Self::start(&mut live.memo(&[&["mcp"], args].concat()));
        mcp.initialize(LEGACY);
        mcp
    }

    /// As [`Self::legacy`], for the generation of `server/discover`.
    fn modern(live: &Live, args: &[&str]) -> Self {
        let mut mcp = Self::start(&mut live.memo(&[&["mcp"], args].concat()));
        mcp.meta = meta();
        mcp
    }

    fn initialize(&mut self, version: &str) -> Value {
        let asked = self.ask_to_initialize(version);
        self.reply(asked).unwrap()
    }

    /// Begins as [`Self::initialize`] does, without waiting for the reply.
    fn ask_to_initialize(&mut self, version: &str) -> u64 {
        let params = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "0" },
        });
        let asked = self.ask("initialize", params);
        self.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        asked
    }

    fn cancel(&mut self, id: u64) {
        self.say(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
        );
    }

    fn say(&mut self, message: &Value) {
        self.write(&format!("{message}\n"));
    }

    fn write(&mut self, text: &str) {
        self.stdin.as_ref().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Sends a request and returns its id.
    fn ask(&mut self, method: &str, mut params: Value) -> u64 {
        self.next_id += 1;
        if !self.meta.is_null() {
            let mut meta = self.meta.clone();
            if let Some(own) = params["_meta"].as_object() {
                meta.as_object_mut().unwrap().extend(own.clone());
            }
            params["_meta"] = meta;
        }
        let request = json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params });
        self.say(&request);
        self.next_id
    }

    /// Returns the next message, which must come.
    fn next(&self) -> Value {
        self.lines.recv_timeout(PATIENCE).expect("the server answers")
    }

    /// Returns the reply to a request; what comes before it is dropped.
    fn reply(&self, id: u64) -> Result<Value, Value> {
        loop {
            let mut message = self.next();
            if message["id"] == id {
                let is_error = !message["error"].is_null();
                return if is_error { Err(message["error"].take()) } else { Ok(message["result"].take()) };
            }
        }
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params);
        self.reply(id)
    }

    /// Calls a tool, which must not fail by the rules of the protocol.
    fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let mut params = json!({ "name": name });
        params["arguments"] = arguments;
        self.call("tools/call", params).unwrap()
    }

    /// Closes stdin and waits until the server has ended; returns its exit status and what it wrote to stderr.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        self.ended()
    }

    /// Waits until the server has ended by itself; returns as [`Self::end`] does.
    fn ended(mut self) -> (Option<i32>, String) {
        let mut status = None;
        until("the server ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut said).unwrap();
        (status.unwrap().code(), said)
    }
}

impl Drop for Mcp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Returns the text of a tool's result.
fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}

/// Makes a repository with something to find, and waits until it is found; on a busy machine that takes longer than a
/// search waits.
fn indexed() -> Live {
    let live = shop();
    let synced = live.memo(&["sync", "--wait-ms", "60000"]).output().unwrap();
    assert!(synced.status.success(), "{synced:?}");
    live
}

/// Makes a repository with something to find.
fn shop() -> Live {
    let live = Live::idle();
    live.write(
        "src/session.rs",
        "/// How long a token is good for.\npub const LIFETIME_S: u64 = 24 * 60 * 60;\n",
    );
    live.write("docs/auth.md", "# Sessions\n\nA login gives a token.\n\n```sh\ncurl /login\n```\n");
    live.write(".env", "PASSWORD=hunter2\n");
    live.commit_all();
    live
}
