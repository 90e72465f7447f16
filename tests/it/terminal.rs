//! Runs `memo` on a terminal of its own, by util-linux's `script`.

use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use crate::live::{Live, until};

/// A terminal with what it has shown.
pub(crate) struct Terminal {
    child: Child,
    seen: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

impl Terminal {
    /// Runs `memo ARGS`; fails where there is no `script`.
    pub(crate) fn open(live: &Live, args: &str) -> std::io::Result<Self> {
        Self::run(live, &format!("{} {args}", env!("CARGO_BIN_EXE_memo")))
    }

    /// As [`Self::open`], with a line for the shell.
    pub(crate) fn run(live: &Live, line: &str) -> std::io::Result<Self> {
        let line = format!("stty cols 120; {line}");
        let mut command = live.sandbox.program("script", &["-qec", &line, "/dev/null"]);
        command.env("MEMO_DAEMON", env!("CARGO_BIN_EXE_memod")).env("TERM", "xterm").env("SHELL", "/bin/sh");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let seen = Arc::<Mutex<String>>::default();
        let (mut stdout, all) = (child.stdout.take().unwrap(), seen.clone());
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = stdout.read(&mut bytes) {
                all.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..n]));
            }
        });
        Ok(Self { child, seen, reader: Some(reader) })
    }

    /// Waits until the terminal shows `text`, forgets all up to it, and types.
    pub(crate) fn after(&mut self, text: &str, typed: &str) {
        until(text, || self.seen.lock().unwrap().contains(text));
        let mut seen = self.seen.lock().unwrap();
        let end = seen.find(text).unwrap() + text.len();
        seen.drain(..end);
        drop(seen);
        self.child.stdin.as_mut().unwrap().write_all(typed.as_bytes()).unwrap();
    }

    /// Waits until `memo` ends and all that it printed is read, and returns its exit status.
    pub(crate) fn end(&mut self) -> Option<i32> {
        let status = self.child.wait().unwrap();
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        status.code()
    }

    /// Returns what was shown since [`Self::after`].
    pub(crate) fn shown(&self) -> String {
        self.seen.lock().unwrap().clone()
    }
}
