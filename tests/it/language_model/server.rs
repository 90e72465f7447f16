//! A server of a language model whose answers and faults a test decides.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use memod_base::threads::pause;
use serde_json::{Value, json};

use crate::live::PATIENCE;

const GIGABYTE: u64 = 1 << 30;

/// Tokens that the server says each answer has used.
pub(crate) const USED: u64 = 200;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// Lines of the head, names in lower case.
    pub(crate) head: String,
    pub(crate) body: Value,
    /// The body as it came.
    pub(crate) text: String,
}

impl Sent {
    /// Returns the data of the request.
    pub(crate) fn user(&self) -> &str {
        self.body["messages"][1]["content"].as_str().unwrap()
    }
}

/// What the server does.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Reply {
        status: u16,
        head: String,
        body: Vec<u8>,
    },
    /// Say nothing until the client hangs up.
    Hang,
    /// Send a byte every few milliseconds, without end.
    Trickle,
    /// Announce a gigabyte and send it, as long as the client reads; count the bytes that it took.
    Flood(Arc<AtomicU64>),
    /// Close the connection in the middle of the answer.
    Close,
}

impl Act {
    /// What a model writes, as a server that works answers.
    pub(crate) fn says(text: &str) -> Self {
        let usage = json!({ "prompt_tokens": USED - 10, "completion_tokens": 10, "total_tokens": USED });
        let message = json!({ "role": "assistant", "content": text });
        Self::body(&json!({ "choices": [{ "message": message }], "usage": usage }))
    }

    pub(crate) fn body(body: &Value) -> Self {
        Self::of(200, "", body.to_string())
    }

    pub(crate) fn of(status: u16, head: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::Reply { status, head: head.to_owned(), body: body.into() }
    }
}

/// The server; it ends with the process of the tests.
pub(crate) struct ModelServer {
    pub(crate) url: String,
    sent: Arc<Mutex<Vec<Sent>>>,
}

impl ModelServer {
    pub(crate) fn start(answer: impl Fn(&Sent) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (all, answer) = (Arc::<Mutex<Vec<Sent>>>::default(), Arc::new(answer));
        let server = Self { url, sent: Arc::clone(&all) };
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (all, answer) = (Arc::clone(&all), Arc::clone(&answer));
                thread::spawn(move || {
                    let stream = stream.unwrap();
                    let Some(sent) = read(&stream) else { return };
                    all.lock().unwrap().push(sent.clone());
                    act(stream, answer(&sent));
                });
            }
        });
        server
    }

    /// Returns what came so far.
    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<Sent> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        head += &match line.split_once(':') {
            Some((name, value)) => format!("{}:{value}", name.to_lowercase()),
            None => line,
        };
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let text = String::from_utf8(body).unwrap();
    Some(Sent { head, body: serde_json::from_str(&text).unwrap(), text })
}

/// The client may hang up, so nothing is checked.
fn act(mut stream: TcpStream, act: Act) {
    let _ = match act {
        Act::Reply { status, head, body } => {
            let length = body.len();
            let head =
                format!("HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {length}\r\n{head}\r\n");
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body))
        }
        Act::Hang => {
            let _ = stream.set_read_timeout(Some(PATIENCE));
            stream.read(&mut [0]).map(drop)
        }
        Act::Trickle => {
            let _ = stream.write_all(b"HTTP/1.1 200 x\r\ncontent-length: 1000000\r\n\r\n");
            while stream.write_all(b" ").is_ok() {
                pause(Duration::from_millis(20));
            }
            Ok(())
        }
        Act::Flood(taken) => {
            let _ =
                stream.write_all(format!("HTTP/1.1 200 x\r\ncontent-length: {GIGABYTE}\r\n\r\n").as_bytes());
            let part = [b' '; 64 << 10];
            while taken.load(Ordering::Relaxed) < GIGABYTE && stream.write_all(&part).is_ok() {
                taken.fetch_add(part.len() as u64, Ordering::Relaxed);
            }
            Ok(())
        }
        Act::Close => stream.write_all(b"HTTP/1.1 200 x\r\ncontent-length: 1000\r\n\r\n{\"choices\""),
    };
}
