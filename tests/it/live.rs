//! How does a test use the real daemon, with real git and a real watcher?

use std::cell::{Ref, RefCell, RefMut};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use memod_base::paths::RepoLayout;
use memod_proto::Endpoint;
#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::rpc::Rpc;
use crate::sandbox::Sandbox;

/// Longest wait for anything; what takes this long hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A repository with a daemon of its own, which ends with it.
pub(crate) struct Live {
    pub(crate) sandbox: Sandbox,
    daemon: RefCell<Option<Child>>,
    rpc: RefCell<Option<Rpc>>,
}

/// What a search says.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) fresh: bool,
    pub(crate) reason: Value,
    /// Paths of files whose snippet shows the word.
    pub(crate) paths: BTreeSet<String>,
}

impl Live {
    /// Makes an empty repository; nothing runs yet.
    pub(crate) fn idle() -> Self {
        let live = Self { sandbox: Sandbox::new(), daemon: RefCell::default(), rpc: RefCell::default() };
        let settings = "[user]\n name = t\n email = t@example.org\n[init]\n defaultBranch = main\n\
                        [commit]\n gpgSign = false\n[gc]\n auto = 0\n";
        fs::write(live.sandbox.path("home/.gitconfig"), settings).unwrap();
        live.git(&["init", "-q"]);
        live
    }

    /// Makes an empty repository and starts its daemon.
    pub(crate) fn new() -> Self {
        let live = Self::idle();
        live.start();
        live
    }

    /// Starts the daemon as a child and waits until it says that it is ready.
    pub(crate) fn start(&self) {
        self.start_as(&mut self.memod());
    }

    /// As [`Self::start`], with a command line made of [`Self::memod`].
    pub(crate) fn start_as(&self, memod: &mut Command) {
        self.rpc.replace(None);
        let mut child = memod.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "{\"ready\":true}\n");
        self.daemon.replace(Some(child));
    }

    /// Returns the daemon's command line, not run yet.
    pub(crate) fn memod(&self) -> Command {
        let mut command = self.sandbox.program(env!("CARGO_BIN_EXE_memod"), &["run"]);
        command.stderr(Stdio::null());
        command
    }

    /// Returns `memo`, which starts the daemon when there is none.
    pub(crate) fn memo(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.memo(args);
        command.env("MEMO_DAEMON", env!("CARGO_BIN_EXE_memod"));
        command
    }

    /// Returns `memod bench`, which starts the daemon when there is none.
    pub(crate) fn bench(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.program(env!("CARGO_BIN_EXE_memod"), &["bench"]);
        command.args(args).env("MEMO_DAEMON", env!("CARGO_BIN_EXE_memod"));
        command
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.sandbox.path("work")
    }

    pub(crate) fn layout(&self) -> RepoLayout {
        self.sandbox.layout()
    }

    pub(crate) fn pid(&self) -> u32 {
        let hello = json!({ "version": "0", "protocol": 1 });
        let pid = self.rpc().call("hello", &hello).unwrap()["pid"].as_u64().unwrap();
        u32::try_from(pid).unwrap()
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: Signal) {
        let daemon = Ref::map(self.daemon.borrow(), |daemon| daemon.as_ref().unwrap());
        kill_process(Pid::from_child(&daemon), signal).unwrap();
    }

    /// Kills the daemon as a power failure would, and waits until it is gone.
    pub(crate) fn kill(&self) {
        self.rpc.replace(None);
        if let Some(mut child) = self.daemon.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Waits until the daemon ends by itself; returns its exit status.
    pub(crate) fn wait_for_end(&self) -> Option<i32> {
        self.rpc.replace(None);
        let mut child = self.daemon.take().unwrap();
        let mut status = None;
        until("the daemon ends", || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap().code()
    }

    /// Returns whether the daemon that [`Self::start`] started is gone.
    pub(crate) fn has_ended(&self) -> bool {
        self.daemon.borrow_mut().as_mut().unwrap().try_wait().unwrap().is_some()
    }

    /// Returns the connection of this test, opened on first use.
    pub(crate) fn rpc(&self) -> RefMut<'_, Rpc> {
        RefMut::map(self.rpc.borrow_mut(), |rpc| rpc.get_or_insert_with(|| self.connect()))
    }

    pub(crate) fn connect(&self) -> Rpc {
        Rpc::connect(&self.endpoint().socket)
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        let mut endpoint = None;
        until("a daemon publishes its socket", || {
            endpoint = fs::read_to_string(self.layout().endpoint_file()).ok();
            endpoint.is_some()
        });
        serde_json::from_str(&endpoint.unwrap()).unwrap()
    }

    pub(crate) fn call(&self, method: &str, params: Value) -> Value {
        self.call_in(&self.root(), method, params)
    }

    pub(crate) fn call_in(&self, cwd: &Path, method: &str, mut params: Value) -> Value {
        params["cwd"] = json!(cwd);
        self.rpc().call(method, &params).unwrap_or_else(|error| panic!("{method} {params}: {error}"))
    }

    pub(crate) fn search(&self, word: &str) -> Found {
        self.search_with(&self.root(), word, json!({ "wait_ms": PATIENCE.as_millis() }))
    }

    pub(crate) fn search_with(&self, cwd: &Path, word: &str, mut params: Value) -> Found {
        params["query"] = json!(word);
        params["limit"] = json!(50);
        let result = self.call_in(cwd, "search", params);
        let shows = |hit: &&Value| hit["kind"] != "commit" && hit["snippet"].as_str().unwrap().contains(word);
        let hits = result["hits"].as_array().unwrap().iter().filter(shows);
        Found {
            fresh: result["fresh"].as_bool().unwrap(),
            reason: result["reason"].clone(),
            paths: hits.map(|hit| hit["path"].as_str().unwrap().to_owned()).collect(),
        }
    }

    /// Asserts that exactly these paths, separated by spaces, show the word, and that the daemon is sure of it.
    pub(crate) fn expect(&self, word: &str, paths: &str, what: &str) {
        self.expect_in(&self.root(), word, paths, what);
    }

    pub(crate) fn expect_in(&self, cwd: &Path, word: &str, paths: &str, what: &str) {
        let found = self.search_with(cwd, word, json!({ "wait_ms": PATIENCE.as_millis() }));
        let expected: BTreeSet<String> = paths.split_whitespace().map(str::to_owned).collect();
        assert_eq!(found.paths, expected, "{what}: {word}");
        assert!(found.fresh, "{what}: {word} is not fresh: {}", found.reason);
    }

    /// Brings the view up to date and returns what `status` lists: indexed files, and `path reason` of refused ones.
    pub(crate) fn listed(&self) -> (Vec<String>, Vec<String>) {
        self.listed_in(&self.root())
    }

    pub(crate) fn listed_in(&self, cwd: &Path) -> (Vec<String>, Vec<String>) {
        let sync = self.call_in(cwd, "sync", json!({ "wait_ms": PATIENCE.as_millis() }));
        assert_eq!(sync["fresh"], true, "{sync}");
        let status = self.call_in(cwd, "status", json!({ "files": true, "skipped": true }));
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut files: Vec<_> = status["files"].as_array().unwrap().iter().map(text).collect();
        let pair = |pair: &Value| format!("{} {}", text(&pair[0]), text(&pair[1]));
        let mut skipped: Vec<_> = status["skipped_files"].as_array().unwrap().iter().map(pair).collect();
        files.sort();
        skipped.sort();
        (files, skipped)
    }

    pub(crate) fn counter(&self, name: &str) -> u64 {
        self.call("status", json!({}))["counters"][name].as_u64().unwrap()
    }

    /// Writes a file in place, with the directories above it.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.root().join(from), self.root().join(to)).unwrap();
    }

    /// Removes whatever is there.
    pub(crate) fn remove(&self, path: &str) {
        let path = self.root().join(path);
        let is_dir = fs::symlink_metadata(&path).unwrap().is_dir();
        if is_dir { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }

    /// Runs git, which must succeed, and returns what it prints.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.root(), args)
    }

    pub(crate) fn git_in(&self, dir: &Path, args: &[&str]) -> String {
        succeed(self.sandbox.program("git", args).current_dir(dir))
    }

    pub(crate) fn git_may_fail(&self, args: &[&str]) -> Output {
        self.sandbox.program("git", args).output().unwrap()
    }

    /// Runs a shell script, which must succeed, and returns what it prints.
    pub(crate) fn sh(&self, script: &str) -> String {
        self.sh_in(&self.root(), script)
    }

    pub(crate) fn sh_in(&self, dir: &Path, script: &str) -> String {
        succeed(self.sandbox.program("sh", &["-ec", script]).current_dir(dir))
    }

    pub(crate) fn commit_all(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = fs::read_to_string(self.root().join(".git/memo/memod.log"));
            let log = log.unwrap_or_else(|error| error.to_string());
            let ended = self.daemon.borrow_mut().as_mut().map(|child| child.try_wait().unwrap());
            let _ = writeln!(std::io::stderr(), "the daemon has ended: {ended:?}; its log:\n{log}");
        }
        self.kill();
        // One that `memo` started is nobody's child. When there is none, this does nothing.
        let _ = self.memo(&["stop", "-q"]).output();
    }
}

/// Runs `memo VERB --json=full`; returns the exit status and what it printed.
pub(crate) fn memo(live: &Live, args: &[&str]) -> (i32, Value) {
    memo_in(live, &live.root(), args)
}

pub(crate) fn memo_in(live: &Live, dir: &Path, args: &[&str]) -> (i32, Value) {
    run_for_json(live.memo(args).current_dir(dir))
}

/// Runs `memod bench` and returns its exit status and its whole report.
pub(crate) fn bench(live: &Live, args: &[&str]) -> (i32, Value) {
    run_for_json(&mut live.bench(args))
}

fn run_for_json(command: &mut Command) -> (i32, Value) {
    let output = command.arg("--json=full").output().unwrap();
    let answer = serde_json::from_slice(&output.stdout);
    (output.status.code().unwrap(), answer.unwrap_or_else(|_| panic!("{command:?}: {output:?}")))
}

fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// A file system that is there for the time of a test.
pub(crate) struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    pub(crate) fn at(dir: &'a Path, args: &[&str]) -> Option<Self> {
        let mount = Command::new("mount").args(args).arg(dir).stderr(Stdio::null()).status();
        mount.is_ok_and(|status| status.success()).then(|| Self(dir))
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let status = Command::new("umount").arg("--lazy").arg(self.0).status().unwrap();
        assert!(status.success(), "umount {}", self.0.display());
    }
}

/// Waits for a condition that no event announces.
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "in vain: {what}");
        memod_base::threads::pause(Duration::from_millis(1));
    }
}

/// Says what this machine does not allow to be tested; not with `eprintln!`, which a passing test hides.
///
/// # Panics
/// With `CI` in the environment: there everything must be tested.
pub(crate) fn not_checked(what: &str) {
    assert!(std::env::var_os("CI").is_none(), "not checked, and CI is set: {what}");
    let mut stderr = std::io::stderr();
    writeln!(stderr, "NOT CHECKED: {what}").unwrap();
}

/// Where this process is root's, whom no permission stops: runs the test `name` in one that permissions do stop, and
/// returns true; the caller is done then.
pub(crate) fn ran_without_privileges(name: &str) -> bool {
    const MARK: &str = "MEMO_TEST_WITHOUT_PRIVILEGES";
    if memod_base::paths::effective_uid() != 0 || std::env::var_os(MARK).is_some() {
        return false;
    }
    let itself = std::env::current_exe().unwrap();
    let mut command = Command::new("setpriv");
    command
        .args(["--bounding-set=-all", "--inh-caps=-all"])
        .arg(itself)
        .args(["--exact", name])
        .env(MARK, "1");
    match command.output() {
        Err(error) => not_checked(&format!("{name}, as root without privileges: setpriv: {error}")),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && said.contains("1 passed"), "{said}");
        }
    }
    true
}

/// Returns a word of letters alone that no other number has and that no other word begins.
pub(crate) fn word(mut number: usize) -> String {
    let mut word = "zq".to_owned();
    for _ in 0..6 {
        word.push(char::from(b"bcdfghjklmnpqrst"[number % 16]));
        number /= 16;
    }
    word + "yx"
}
