//! Which repository do the examples of the pages run in?

use std::path::Path;
use std::process::Command;

use super::cut::steady;
use crate::live::Live;

/// The commits that `memo demo` makes, as `git fast-import` reads them: the examples have some of the same files.
const DEMO: &str = include_str!("../../../crates/cli/src/set_up/demo/shop.fast-import");

/// The files of the demo in the repository of the examples.
const SHARED: [&str; 4] = ["docs/auth.md", "src/session.rs", "src/keys.rs", "web/renew.ts"];

/// The other files of the repository of the examples, which are not indexed.
const REFUSED: [(&str, &str); 2] = [(".env", "SECRET=1\n"), ("logo.png", "\u{89}PNG\0\0")];

/// Returns the newest text of a file of the demo.
fn text_of_demo(path: &str) -> &'static str {
    let (_, text) = DEMO.rsplit_once(&format!("\nM 100644 inline {path}\ndata <<END\n")).unwrap();
    &text[..=text.find("\nEND\n").unwrap()]
}

/// A repository of the examples, with a shell that knows `memo` by its name.
pub(super) struct Shop(pub(super) Live);

impl Shop {
    pub(super) fn new() -> Self {
        let live = Live::idle();
        for path in SHARED {
            live.write(path, text_of_demo(path));
        }
        for (path, text) in REFUSED {
            live.write(path, text);
        }
        Self(live)
    }

    pub(super) fn program(&self, program: &str, args: &[&str]) -> Command {
        let bin = Path::new(env!("CARGO_BIN_EXE_memo")).parent().unwrap();
        let mut command = self.0.sandbox.program(program, args);
        command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
        command
    }

    /// Runs a script and returns what it prints on both streams, with names and figures that are the page's.
    pub(super) fn sh(&self, script: &str) -> String {
        let output = self.program("sh", &["-c", &format!("exec 2>&1\n{script}")]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let path = |name: &str| self.0.sandbox.path(name).display().to_string();
        let text = text.replace(&path("work"), "/src/shop").replace(&path("home"), "/home/me");
        steady(&text.replace(&path("run"), "/run/user/1000"))
    }

    pub(super) fn has(&self, program: &str) -> bool {
        self.0.sandbox.has_program(program)
    }
}
