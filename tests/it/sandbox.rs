//! What does a command see that must not see this machine?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use memod_base::paths::{Env, RepoLayout, effective_uid};

use crate::system::as_on_unix;

/// A home, a runtime dir and a repository of their own, removed at the end.
pub(crate) struct Sandbox {
    _dir: tempfile::TempDir,
    top: PathBuf,
}

impl Sandbox {
    /// Makes an empty repository, by hand: no git program is needed.
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let top = memod_base::paths::canonicalize_path(dir.path()).unwrap();
        for name in ["home", "run", "tmp", "work/.git/objects", "work/.git/refs"] {
            fs::create_dir_all(top.join(name)).unwrap();
        }
        fs::write(top.join("work/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        Self { _dir: dir, top }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    pub(crate) fn env(&self) -> Env {
        Env {
            home: Some(self.path("home")),
            runtime_dir: Some(self.path("run")),
            state_home: Some(self.path("home/.local/state")),
            tmp_dir: Some(self.path("tmp")),
            uid: effective_uid(),
            ..Env::default()
        }
    }

    /// Returns the place of the repository, its state dir created.
    pub(crate) fn layout(&self) -> RepoLayout {
        let layout = RepoLayout::locate(&self.path("work"), &self.env()).unwrap();
        layout.create_state_dir().unwrap();
        layout
    }

    /// Says what the program that stands in for the daemon does: lines of sh.
    pub(crate) fn behave(&self, script: &str) {
        fs::write(self.layout().state_dir.join("behave"), script).unwrap();
    }

    /// Returns the program that stands in for the daemon.
    pub(crate) fn daemon() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fake_daemon.sh")
    }

    /// Returns `memo` in the repository, without the environment of this process.
    pub(crate) fn memo(&self, args: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_memo"), args);
        command.env("MEMO_DAEMON", self.path("no-such-daemon"));
        command
    }

    /// Returns a program that is to run in the repository and sees nothing of this machine but `PATH`.
    pub(crate) fn program(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.path("work")).stdin(Stdio::null()).env_clear();
        #[cfg(unix)]
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        #[cfg(windows)]
        for name in ["PATH", "SystemRoot"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        #[cfg(windows)]
        for (name, dir) in
            [("USERPROFILE", "home"), ("APPDATA", "home/.config"), ("LOCALAPPDATA", "home/.local")]
        {
            command.env(name, self.path(dir));
        }
        #[cfg(windows)] // a new process under wine takes most of the second that a search waits
        command.env("MEMO_SEARCH_WAIT_MS", "60000");
        command
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("home/.config"))
            .env("XDG_STATE_HOME", self.path("home/.local/state"))
            .env("XDG_RUNTIME_DIR", self.path("run"))
            .env("TMPDIR", self.path("tmp"))
            .env("TEMP", self.path("tmp"))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command
    }

    /// Returns whether a program is installed.
    pub(crate) fn has_program(&self, name: &str) -> bool {
        self.program("sh", &["-c", &format!("command -v {name}")]).output().unwrap().status.success()
    }

    /// Runs `memo` and returns status, stdout and stderr in one text, without names of this machine.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        self.show(&mut self.memo(args))
    }

    pub(crate) fn show(&self, command: &mut Command) -> String {
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| as_on_unix(&String::from_utf8_lossy(bytes), self.top.to_str().unwrap());
        let code = output.status.code().map_or("signal".to_owned(), |code| code.to_string());
        let mut shown = format!("exit {code}\n");
        for (label, bytes) in [("out", &output.stdout), ("err", &output.stderr)] {
            for line in text(bytes).lines() {
                shown += format!("{label}: {line}").trim_end();
                shown.push('\n');
            }
        }
        shown
    }
}

pub(crate) fn mkfifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success(), "{}", path.display());
}
