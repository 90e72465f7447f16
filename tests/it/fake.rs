//! What would a daemon answer?
//!
//! A server that says what a test tells it to, on a socket that it publishes as the daemon does.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use memod_base::paths::RepoLayout;
use memod_proto::{Endpoint, PROTOCOL, Request};
use serde_json::{Value, json};

/// What becomes of one request.
pub(crate) enum Answer {
    /// `result`
    Result(Value),
    /// `error` with this code, and `retry_after_ms` in its data.
    Error(i64, u64),
    /// This line, whatever it is.
    Line(String),
    /// Nothing, but the connection stays.
    Silence,
    /// The connection is closed.
    Close,
    /// The result, then the end of the server.
    End(Value),
}

/// A running server; its thread ends with [`Answer::End`] or with the process.
pub(crate) struct Fake {
    methods: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    /// Listens and publishes itself.
    pub(crate) fn start(
        layout: &RepoLayout,
        version: &str,
        answer: impl FnMut(&Request) -> Answer + Send + 'static,
    ) -> Self {
        let endpoint = endpoint(layout, version, PROTOCOL);
        let fake = Self::listen(&endpoint, answer);
        publish(layout, &endpoint, "endpoint");
        fake
    }

    /// Listens, and leaves publishing to the test.
    pub(crate) fn listen(
        endpoint: &Endpoint,
        mut answer: impl FnMut(&Request) -> Answer + Send + 'static,
    ) -> Self {
        let socket = PathBuf::from(&endpoint.socket);
        fs::create_dir_all(socket.parent().unwrap()).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        let methods = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&methods);
        let serve = move || {
            let (mut last, reply) = loop {
                let (stream, _) = listener.accept().unwrap();
                if let Some(end) = serve_one(stream, &mut answer, &seen) {
                    break end;
                }
            };
            // As the daemon does: nobody can connect any more before the last answer is out.
            fs::remove_file(socket).unwrap();
            drop(listener);
            writeln!(last, "{reply}").unwrap();
        };
        thread::Builder::new().name("fake daemon".to_owned()).spawn(serve).unwrap();
        Self { methods }
    }

    /// Returns the methods that were called, in order.
    pub(crate) fn methods(&self) -> String {
        self.methods.lock().unwrap().join(" ")
    }
}

/// Returns what a daemon of that version publishes; each has a socket of its own.
pub(crate) fn endpoint(layout: &RepoLayout, version: &str, protocol: u32) -> Endpoint {
    let top = layout.root.parent().unwrap();
    let socket = top.join("run/memod").join(format!("{version}-{protocol}"));
    Endpoint {
        socket: socket.display().to_string(),
        state_dir: layout.state_dir.display().to_string(),
        pid: 4242,
        version: version.to_owned(),
        protocol,
    }
}

/// Writes a file of the state dir that says where a daemon listens.
pub(crate) fn publish(layout: &RepoLayout, endpoint: &Endpoint, name: &str) {
    fs::write(layout.state_dir.join(name), serde_json::to_string(endpoint).unwrap()).unwrap();
}

/// Serves one connection to its end; returns the last reply, unsent, when the server is to end.
fn serve_one(
    stream: UnixStream,
    answer: &mut impl FnMut(&Request) -> Answer,
    seen: &Mutex<Vec<String>>,
) -> Option<(UnixStream, String)> {
    let mut writer = stream.try_clone().unwrap();
    for line in BufReader::new(stream).lines() {
        let line = line.ok()?;
        let request: Request = serde_json::from_str(&line).unwrap();
        seen.lock().unwrap().push(request.method.clone());
        let id = request.id.clone();
        let reply = match answer(&request) {
            Answer::Result(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string(),
            Answer::Error(code, ms) => {
                let error = json!({ "code": code, "message": "fake", "data": { "retry_after_ms": ms } });
                json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
            }
            Answer::Line(line) => line,
            Answer::Silence => continue,
            Answer::Close => return None,
            Answer::End(result) => {
                let reply = json!({ "jsonrpc": "2.0", "id": id, "result": result });
                return Some((writer, reply.to_string()));
            }
        };
        // The client may have gone; that is its affair.
        let _ = writeln!(writer, "{reply}");
    }
    None
}
