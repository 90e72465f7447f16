//! Does `memo demo` show what it says, and does its removal spare what a person wrote?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::docs::cut::{is_cut_from, steady};
use crate::live::{Live, memo_in};

/// Settings under which a plain `git commit` fails, or runs programs of the user.
const HOSTILE_SETTINGS: &str = "[user]\n useConfigOnly = true\n[commit]\n gpgSign = true\n[gpg]\n program = false\n\
                                [core]\n autocrlf = true\n hooksPath = /no/such/hooks\n[init]\n defaultBranch = trunk\n";

/// A home directory outside any repository, in which demos are made. Its daemons end with it.
struct Demos {
    live: Live,
}

impl Demos {
    fn new() -> Self {
        let live = Live::idle();
        fs::write(live.sandbox.path("home/.gitconfig"), HOSTILE_SETTINGS).unwrap();
        Self { live }
    }

    fn memo(&self, args: &[&str]) -> Command {
        let mut command = self.live.memo(args);
        command.current_dir(self.live.sandbox.path("home"));
        command
    }

    /// Runs `memo` in the home directory; returns the exit status and both streams, without names and figures of this run.
    fn run(&self, args: &[&str]) -> String {
        steady(&self.live.sandbox.show(&mut self.memo(args)))
    }

    fn json(&self, args: &[&str]) -> (i32, Value) {
        memo_in(&self.live, &self.live.sandbox.path("home"), args)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.live.sandbox.path("home").join(name)
    }

    /// Returns the names of the sockets of running daemons.
    fn sockets(&self) -> Vec<String> {
        let entries = fs::read_dir(self.live.sandbox.path("run/memod"));
        let entries = entries.map(|entries| entries.flatten().collect::<Vec<_>>()).unwrap_or_default();
        entries.iter().map(|entry| entry.file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Demos {
    fn drop(&mut self) {
        for name in ["memod-demo", "other", "new"] {
            if self.path(name).exists() {
                let _ = self.memo(&["-C", name, "stop", "-q"]).output();
            }
        }
    }
}

/// What the demo prints; `…` stands for any text, alone on a line for any lines.
const WALK: &str = r#"exit 0
out: A shop that signs its sessions: seven files, four commits, and one mistake to find.
out: $ cd memod-demo
out:
out: Index the repository; from now on a daemon watches it:
out: $ memo init --no-hooks
out: indexed    7 files of [TOP]/home/memod-demo
…
out:
out: Ask in your own words:
out: $ memo search -n 1 "how long is a token valid"
out: src/session.rs:5-6  LIFETIME_S
out:   5  /// How long a token is good for, seconds.
out:   6  pub const LIFETIME_S: u64 = 24 * 60 * 60;
out:
out: Ask why a definition is as it is, and the commit answers:
out: $ memo why src/session.rs#LIFETIME_S
out: … N Ada  Let a session last a whole day  lines 5-6
out:     Support asked for it: after 12 hours, people were logged out in the
out:     middle of a shift.
out:
out: Keep what you learned, tied to the definition that it is about:
out: $ memo add --about src/session.rs#LIFETIME_S "half a day was too short: people were logged out in the middle of a shift"
out: mem_N
out:
out: Two functions accept a token:
out: $ memo callers Session::verify
out: src/session.rs:20-24  Session::verify
out:
out: src/account.rs:6-10  show_account
out:   8  let session = Session::verify(token, key)?;
out: src/renewal.rs:6-13  renew_session
out:   8  let session = Session::verify(token, key)?;
out:
out: Only one of them asks whether it has expired, so an old token still opens the account page; that is the mistake:
out: $ memo callers Session::is_expired
out: src/session.rs:15-18  Session::is_expired
out:
out: src/renewal.rs:6-13  renew_session
out:   9  if session.is_expired(now_s) {
out:
out: Now somebody halves the lifetime, and does not ask why it was a day:
out:   src/session.rs
out:   -pub const LIFETIME_S: u64 = 24 * 60 * 60;
out:   +pub const LIFETIME_S: u64 = 12 * 60 * 60;
out:
out: The note says that its definition has changed since:
out: $ memo list --state drifted
out: mem_N  p5  project  half a day was too short: people were logged out in the middle of a shift [drifted]
out:
out: And a search has the new text at once:
out: $ memo search -n 1 "how long is a token valid"
out: src/session.rs:5-6  LIFETIME_S
out:   5  /// How long a token is good for, seconds.
out:   6  pub const LIFETIME_S: u64 = 12 * 60 * 60;
out:
out: demo       [TOP]/home/memod-demo (took N)
out: next       cd memod-demo && memo brief
out: yours      memo -C REPO init, where REPO is the path of your own repository
out: remove     memo demo --remove [TOP]/home/memod-demo
"#;

#[test]
fn the_demo_shows_each_verb_and_leaves_nothing() {
    let demos = Demos::new();
    // On a busy machine, the vectors of the edited file may not be made yet when the demo searches again.
    let shown = demos.run(&["demo", "-q"]);
    let (expected, printed): (Vec<_>, Vec<_>) = (WALK.lines().collect(), shown.lines().collect());
    assert!(is_cut_from(&expected, &printed), "{shown}");
    let git = |args: &[&str]| demos.live.git_in(&demos.path("memod-demo"), args);
    assert_eq!(git(&["log", "--format=%s"]).lines().count(), 4);
    assert_eq!(git(&["-c", "core.autocrlf=false", "status", "--porcelain"]), " M src/session.rs");
    assert_eq!(demos.sockets().len(), 1);
    let (exit, removed) = demos.json(&["demo", "--remove"]);
    let root = demos.path("memod-demo");
    assert_eq!((exit, removed), (0, json!({ "root": root, "removed": true, "kept_for": [] })));
    assert!(!root.exists());
    assert_eq!(demos.sockets(), [""; 0]);
}

#[test]
fn a_program_gets_each_command_with_its_result() {
    let demos = Demos::new();
    fs::create_dir(demos.path("new")).unwrap();
    let (exit, demo) = demos.json(&["-C", "new", "demo", "demo", "-q"]);
    let steps = demo["steps"].as_array().unwrap();
    assert_eq!((exit, &demo["root"]), (0, &json!(demos.path("new/demo"))));
    let step = |words: &str| {
        let found =
            steps.iter().rfind(|step| step["command"].as_str().is_some_and(|text| text.contains(words)));
        found.unwrap_or_else(|| panic!("{words}: {demo}"))["result"].clone()
    };
    assert_eq!(step("init --no-hooks")["files"], 7, "{demo}");
    assert!(step("search")["hits"][0]["snippet"].as_str().unwrap().contains("12 * 60 * 60"), "{demo}");
    assert_eq!(step("why")["commits"][0]["subject"], "Let a session last a whole day");
    assert_eq!(step("list")["memories"].as_array().unwrap().len(), 1, "{demo}");
    let removal = shlex::split(demo["remove"].as_str().unwrap()).unwrap();
    let removal: Vec<&str> = removal[1..].iter().map(String::as_str).collect();
    assert!(demos.memo(&removal).output().unwrap().status.success());
    assert!(!demos.path("new/demo").exists());
}

#[test]
fn nothing_that_a_person_wrote_is_removed() {
    let demos = Demos::new();
    assert!(demos.memo(&["demo", "-q", "other"]).output().unwrap().status.success());
    let dir = demos.path("other");
    let git = |args: &[&str]| demos.live.git_in(&dir, args);
    let refused = |what: &str| {
        let (exit, report) = demos.json(&["demo", "--remove", "other"]);
        assert_eq!((exit, &report["removed"]), (1, &json!(false)), "{what}: {report}");
        assert!(dir.join("src/keys.rs").exists(), "{what}");
        assert_eq!(report["kept_for"], json!([what]));
    };
    fs::write(dir.join("my notes.md"), "mine").unwrap();
    refused("my notes.md");
    let shown = demos.run(&["demo", "--remove", "other"]);
    assert_eq!(
        shown,
        "exit 1\nerr: memo: [TOP]/home/other: not removed, because it contains files that the demo did not create: my notes.md\n\
         err: hint: move them elsewhere and run the command again, or delete the directory yourself\n"
    );
    fs::remove_file(dir.join("my notes.md")).unwrap();

    let keys = fs::read_to_string(dir.join("src/keys.rs")).unwrap();
    fs::write(dir.join("src/keys.rs"), keys.replace("Keys", "The keys")).unwrap();
    refused("src/keys.rs");
    fs::write(dir.join("src/keys.rs"), keys).unwrap();

    // What was committed and then dropped is in the reflog.
    git(&[
        "-c",
        "user.name=me",
        "-c",
        "user.email=me@example.org",
        "-c",
        "commit.gpgSign=false",
        "commit",
        "-qam",
        "x",
    ]);
    git(&["reset", "-q", "--hard", "HEAD~1"]);
    refused("1 commit");
    git(&["reflog", "expire", "--expire=all", "--all"]);

    // An own commit counts by whatever address, and so do an own hook, note and setting in the git dir.
    let spoofed = ["-c", "user.name=me", "-c", "user.email=me@shop.example", "-c", "commit.gpgSign=false"];
    git(&[&spoofed[..], &["commit", "-q", "--allow-empty", "-m", "x"]].concat());
    refused("1 commit");
    git(&["reset", "-q", "--hard", "HEAD~1"]);
    git(&["reflog", "expire", "--expire=all", "--all"]);
    for own in [".git/hooks/post-commit", ".git/my-notes.txt", ".git/info/exclude"] {
        let (file, name) = (dir.join(own), own.split('/').nth(1).unwrap());
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "mine").unwrap();
        refused(&format!(".git/{name}"));
        fs::remove_file(file).unwrap();
    }
    git(&["config", "remote.origin.url", "../elsewhere"]);
    refused("git config remote.origin.url");
    git(&["config", "--remove-section", "remote.origin"]);
    // The hooks that `memo init` installs are not the user's own.
    fs::create_dir_all(dir.join(".git/hooks")).unwrap();
    let doorbell = Path::new(env!("CARGO_MANIFEST_DIR")).join("hooks/doorbell.sh");
    fs::copy(doorbell, dir.join(".git/hooks/post-merge")).unwrap();
    git(&["config", "core.editor", "ed"]);
    refused("git config core.editor");
    git(&["config", "--unset", "core.editor"]);
    let large = fs::File::create(dir.join("large")).unwrap();
    large.set_len(1 << 40).unwrap();
    refused("large");
    fs::remove_file(dir.join("large")).unwrap();

    git(&["tag", "mine"]);
    refused("refs/tags/mine");
    git(&["tag", "-d", "mine"]);

    git(&["worktree", "add", "-q", "--detach", "../side"]);
    refused(".git/worktrees");
    git(&["worktree", "remove", "--force", "../side"]);

    let (_, added) = memo_in(&demos.live, &dir, &["add", "a thought of mine"]);
    refused("1 memory");
    let id = added["memory"]["id"].as_str().unwrap();
    let demo_note = memo_in(&demos.live, &dir, &["list", "--match", "shift"]).1;
    let demo_note = demo_note["memories"][0]["id"].as_str().unwrap().to_owned();
    let forget = demos.memo(&["-C", "other", "forget", "--yes", id]).output().unwrap();
    assert!(forget.status.success(), "{forget:?}");
    refused("1 memory");
    let purge = demos.memo(&["-C", "other", "purge", "--yes", id]).output().unwrap();
    assert!(purge.status.success(), "{purge:?}");

    memo_in(&demos.live, &dir, &["tag", &demo_note, "mine"]);
    refused("1 memory");
    memo_in(&demos.live, &dir, &["forget", "--yes", &demo_note]);
    memo_in(&demos.live, &dir, &["forget", "purge", "--yes", &demo_note]);

    // The demo may be removed from inside, as it shows `cd`.
    let mut inside = demos.memo(&["demo", "--remove"]);
    let removed = demos.live.sandbox.show(inside.current_dir(&dir));
    assert_eq!(removed, "exit 0\nerr: memo: removed [TOP]/home/other\n");
    assert!(!dir.exists());
}

#[test]
fn a_note_that_the_settings_share_is_removed_unless_it_was_edited() {
    let demos = Demos::new();
    demos.run(&["config", "set", "--user", "share.containers", "project"]);
    for name in ["shared", "edited"] {
        assert!(demos.memo(&["demo", "-q", name]).output().unwrap().status.success());
    }
    let files: Vec<_> = fs::read_dir(demos.path("edited/.memod/memories")).unwrap().flatten().collect();
    let [note] = files.as_slice() else { panic!("{files:?}") };
    let text = fs::read_to_string(note.path()).unwrap();
    fs::write(note.path(), format!("{text}It was in May.\n")).unwrap();
    let (exit, report) = demos.json(&["demo", "--remove", "edited"]);
    assert_eq!((exit, &report["removed"]), (1, &json!(false)), "{report}");
    let shown = demos.run(&["demo", "--remove", "shared"]);
    assert!(shown.starts_with("exit 0") && !demos.path("shared").exists(), "{shown}");
}

#[test]
fn a_directory_that_is_taken_stays_as_it_is() {
    let demos = Demos::new();
    let check = |args: &[&str], message: &str| assert_eq!(demos.run(args), message, "{args:?}");
    fs::create_dir(demos.path("full")).unwrap();
    fs::write(demos.path("full/a.md"), "mine").unwrap();
    check(
        &["demo", "full"],
        "exit 2\nerr: memo: full: the directory is not empty; nothing was changed\n\
         err: hint: name a new directory: `memo demo DIR`\n",
    );
    check(
        &["demo", "full/a.md"],
        "exit 2\nerr: memo: full/a.md: not a directory; nothing was changed\n\
         err: hint: name a new directory: `memo demo DIR`\n",
    );
    check(
        &["demo", "--remove", "full"],
        "exit 2\nerr: memo: [TOP]/home/full: not a demo that `memo demo` made; nothing was changed\n\
         err: hint: name the directory of a demo: `memo demo --remove DIR`\n",
    );
    check(
        &["demo", "--remove"],
        "exit 2\nerr: memo: open memod-demo: No such file or directory (os error 2)\n\
         err: hint: check the path for a typing error\n",
    );
    assert_eq!(fs::read_to_string(demos.path("full/a.md")).unwrap(), "mine");
    let mut without_git = demos.memo(&["demo"]);
    let shown = demos.live.sandbox.show(without_git.env("PATH", "/no/such/dir"));
    assert_eq!(
        shown,
        "exit 3\nerr: memo: git cannot be started: No such file or directory (os error 2)\n\
         err: hint: install git, or put it into PATH\n"
    );
    assert!(!demos.path("memod-demo").exists());
}

#[test]
fn a_demo_in_a_repository_is_one_of_its_own() {
    let demos = Demos::new();
    let live = &demos.live;
    live.write("a.md", "outside");
    // git names the outer repository to the programs that it starts, such as hooks.
    let mut demo = live.memo(&["demo", "-q"]);
    let output =
        demo.env("GIT_DIR", live.root().join(".git")).env("GIT_INDEX_FILE", "elsewhere").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(live.git(&["status", "--porcelain"]), "?? a.md\n?? memod-demo/");
    assert_eq!(live.git(&["for-each-ref"]), "");
    let again = live.sandbox.show(&mut live.memo(&["demo"]));
    assert_eq!(
        again,
        "exit 2\nerr: memo: memod-demo: a demo is here already; nothing was changed\n\
         err: hint: `memo demo --remove DIR` removes it; `memo demo OTHER-DIR` makes another one\n"
    );
    assert!(live.memo(&["demo", "--remove"]).output().unwrap().status.success());
    assert_eq!(live.git(&["status", "--porcelain"]), "?? a.md");
}

#[test]
fn a_demo_that_cannot_be_completed_says_how_to_remove_it() {
    let demos = Demos::new();
    let mut demo = demos.memo(&["demo"]);
    let shown = demos.live.sandbox.show(demo.env("MEMO_DAEMON", "/no/such/memod"));
    assert!(shown.starts_with("exit 3\n"), "{shown}");
    assert!(
        shown.contains("the demo is not complete: `memo demo --remove [TOP]/home/memod-demo` removes it"),
        "{shown}"
    );
    let removed = demos.run(&["demo", "--remove"]);
    assert_eq!(removed, "exit 0\nerr: memo: removed [TOP]/home/memod-demo\n");
    assert!(!demos.path("memod-demo").exists());
}
