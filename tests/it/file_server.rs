//! A web server whose files and faults a test decides.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: HashMap<String, String>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// What is answered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// Close the connection after so many bytes of the body.
    pub(crate) cut_after: Option<usize>,
    /// Send nothing more after so many bytes of the body, but leave the connection open.
    pub(crate) stall_after: Option<usize>,
}

impl Reply {
    pub(crate) fn of(body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, body: body.into(), ..Self::default() }
    }

    pub(crate) fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// A file with an entity tag: all of it, or the rest that was asked for if the tag is still the same.
    pub(crate) fn file(asked: &Asked, content: &[u8], etag: &str) -> Self {
        let start = asked.header("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-'));
        let start: Option<usize> = start.map(|start| start.parse().unwrap());
        match (start, asked.header("if-range")) {
            (Some(start), tag) if start < content.len() && tag.is_none_or(|tag| tag == etag) => {
                let range = format!("bytes {start}-{}/{}", content.len() - 1, content.len());
                Self { status: 206, ..Self::of(&content[start..]) }.with("Content-Range", range)
            }
            _ => Self::of(content),
        }
        .with("ETag", etag)
    }
}

/// The server; it ends with the process of the tests.
pub(crate) struct FileServer {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl FileServer {
    pub(crate) fn start(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (all, answer) = (Arc::<Mutex<Vec<Asked>>>::default(), Arc::new(answer));
        let server = Self { url, asked: Arc::clone(&all) };
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (all, answer) = (Arc::clone(&all), Arc::clone(&answer));
                thread::spawn(move || {
                    let stream = stream.unwrap();
                    let Some(asked) = read(&stream) else { return };
                    all.lock().unwrap().push(asked.clone());
                    send(&stream, &answer(&asked));
                });
            }
        });
        server
    }

    /// Returns what was asked for so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_lowercase(), value.trim().to_owned()))
    });
    Some(Asked { path, headers: headers.collect() })
}

/// The client may hang up, so nothing is checked.
fn send(mut stream: &TcpStream, reply: &Reply) {
    let length = reply.body.len();
    let mut head =
        format!("HTTP/1.1 {} x\r\nConnection: close\r\nContent-Length: {length}\r\n", reply.status);
    for (name, value) in &reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    let sent = reply.cut_after.or(reply.stall_after).unwrap_or(length).min(length);
    let _ = stream.write_all(format!("{head}\r\n").as_bytes());
    let _ = stream.write_all(&reply.body[..sent]).and_then(|()| stream.flush());
    if reply.stall_after.is_some() {
        let _ = stream.set_read_timeout(Some(crate::live::PATIENCE));
        let _ = std::io::Read::read(&mut stream, &mut [0]); // until the client hangs up
    }
}
