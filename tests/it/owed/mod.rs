//! Does each answer say what could not be read, whoever asks?
//!
//! The faults are real: strace fails the system calls of the real daemon on one path.

mod front_ends;
mod hooks;
mod methods;
mod permissions;
mod worktrees;

use std::fs;

use memod_proto::AnswerPart;
use serde_json::{Value, json};

use crate::live::Live;
use crate::memories::call;
use crate::transient::inject;

/// What the shared memory said when it was last read, and what its file says.
const OLD: &str = "the billing rule says 8080 for rotate";
const NEW: &str = "9090";

const SOURCE: &str = "class Base:
    def go(self):
        return 1


class Leaf(Base):
    def go(self):
        return rotate(2)


def rotate(k):
    return k


def test_rotate():
    assert rotate(1)
";

/// What the daemon cannot read.
#[derive(Clone, Copy, Debug)]
struct Fault {
    syscall: &'static str,
    error: &'static str,
    /// `[MEMORIES]` is the directory of memories, `[FILE]` the file of one, `[ROOT]` the worktree.
    path: &'static str,
    /// Whether files are opened below a directory, so that the call has the name alone.
    is_name: bool,
    /// Whether the index cannot be compared with the worktree either.
    stops_walk: bool,
    /// What of an answer is not known then.
    part: AnswerPart,
    /// What every reason has.
    message: &'static str,
}

const EIO: &str = "Input/output error";
const FILE: Fault = Fault {
    syscall: "openat",
    error: "EIO",
    path: "[FILE]",
    is_name: true,
    stops_walk: false,
    part: AnswerPart::Memories,
    message: EIO,
};
const DIRECTORY: Fault =
    Fault { syscall: "openat", error: "EMFILE", message: "Too many open files", ..LISTING };
const LISTING: Fault =
    Fault { syscall: "getdents64", path: "[MEMORIES]", is_name: false, stops_walk: true, ..FILE };
const LSTAT: Fault = Fault { syscall: "statx", ..LISTING };
const LSTAT_OF_FILE: Fault = Fault { syscall: "statx", is_name: false, ..FILE };
const SOURCE_FILE: Fault = Fault { path: "[ROOT]/a.py", stops_walk: true, part: AnswerPart::Code, ..FILE };
const REFS: Fault =
    Fault { path: "[ROOT]/.git/refs/heads/main", is_name: false, part: AnswerPart::Commits, ..FILE };

/// A repository with memories of every kind, whose daemon cannot read something that has changed since it could.
struct Broken {
    live: Live,
    fault: Fault,
    /// The path that cannot be read.
    path: String,
    /// A memory about code, others of this user alone, two archived ones, a shared one, and one in conflict.
    anchored: String,
    own: [String; 6],
    archived: [String; 2],
    shared: String,
    disputed: String,
}

fn add(live: &Live, content: &str, about: &[&str]) -> String {
    let added = call(live, "memory.add", json!({ "content": content, "about": about }));
    added["memory"]["id"].as_str().unwrap().to_owned()
}

fn file_of(live: &Live, id: &str) -> std::path::PathBuf {
    live.root().join(format!(".memod/memories/{id}.md"))
}

impl Broken {
    /// Returns `None` where strace cannot be run.
    fn by(fault: Fault) -> Option<Self> {
        let live = Live::new();
        live.write("a.py", SOURCE);
        live.commit_all();
        let anchored = add(&live, "billing calls rotate at noon", &["a.py#rotate"]);
        let own = [
            "lunch is served downstairs",
            "the cellos are tuned weekly",
            "March is wet",
            "ships sail west",
            "the tide comes twice a day",
            "bread is baked at dawn",
        ]
        .map(|content| add(&live, content, &[]));
        let archived =
            ["an archived thought", "another archived idea"].map(|content| add(&live, content, &[]));
        call(&live, "memory.forget", json!({ "ids": archived }));
        let shared = add(&live, OLD, &[]);
        let disputed = add(&live, "the disputed one", &[]);
        call(&live, "memory.share", json!({ "ids": [shared, disputed] }));
        let text = fs::read_to_string(file_of(&live, &disputed)).unwrap();
        let sides = "<<<<<<< HEAD\none side\n=======\nthe other side\n>>>>>>> theirs\n";
        fs::write(file_of(&live, &disputed), text.replace("the disputed one\n", sides)).unwrap();
        call(&live, "memory.backup", json!({}));
        let listed = call(&live, "memory.list", json!({ "limit": 100 }));
        assert_eq!(listed["fresh"], true, "{listed}");
        live.kill();
        let text = fs::read_to_string(file_of(&live, &shared)).unwrap();
        fs::write(file_of(&live, &shared), text.replace("8080", NEW)).unwrap();
        live.write("a.py", SOURCE.replace("return k", "return k + 1"));
        let path = fault.path.replace("[ROOT]", live.root().to_str().unwrap());
        let path = path.replace("[MEMORIES]", live.root().join(".memod/memories").to_str().unwrap());
        let path = path.replace("[FILE]", file_of(&live, &shared).to_str().unwrap());
        let name = path.rsplit('/').next().filter(|_| fault.is_name).unwrap_or(&path);
        let mut memod = inject(&live, fault.syscall, fault.error, name, "1+")?;
        live.start_as(&mut memod);
        Some(Self { live, fault, path, anchored, own, archived, shared, disputed })
    }

    /// Returns whether a text names the path and the error.
    fn is_named_in(&self, text: &str) -> bool {
        text.contains(self.fault.message) && text.contains(&self.path)
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
