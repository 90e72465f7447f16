//! How does a test use a real PostgreSQL?

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, geteuid, kill_process};

use crate::live::{not_checked, until};

/// Who runs the server when root runs the tests, which it refuses to be run by.
const NOBODY: u32 = 65534;

/// A server of its own on 127.0.0.1, which ends with it. Passwords are the names of the roles.
pub(crate) struct Postgres {
    dir: tempfile::TempDir,
    programs: PathBuf,
    pub(crate) port: u16,
}

impl Postgres {
    /// Starts a server with an empty database `team`; `None`, and says so, where PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            not_checked("teams: PostgreSQL is not installed (Debian's package postgresql)");
            return None;
        };
        let dir = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Self { dir, programs, port };
        server.init();
        server.run();
        server.sql("admin", "postgres", "CREATE DATABASE team");
        Some(server)
    }

    fn init(&self) {
        if geteuid().is_root() {
            chown(self.dir.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        fs::write(self.path("password"), "admin\n").unwrap();
        let data = self.path("data");
        let (data, password) =
            (data.to_str().unwrap(), format!("--pwfile={}", self.path("password").display()));
        let done = self
            .program("initdb", &["-D", data, "-U", "admin", &password, "-A", "scram-sha-256", "-N"])
            .output();
        assert_done(&done.unwrap());
        let settings = format!(
            "listen_addresses = '127.0.0.1'\nport = {}\nunix_socket_directories = ''\nfsync = off\n",
            self.port
        );
        let file = self.path("data/postgresql.conf");
        fs::write(&file, fs::read_to_string(&file).unwrap() + &settings).unwrap();
    }

    /// Starts it and waits until it answers.
    pub(crate) fn run(&self) {
        let (data, log) = (self.path("data"), self.path("log"));
        let args = ["-D", data.to_str().unwrap(), "-l", log.to_str().unwrap(), "-w", "-t", "60", "start"];
        // After a kill, its other processes take a moment to end.
        until("the server starts", || {
            let mut start = self.program("pg_ctl", &args);
            start.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
        });
    }

    /// Ends it as a power failure would.
    pub(crate) fn kill(&self) {
        let file = fs::read_to_string(self.path("data/postmaster.pid")).unwrap();
        let pid = Pid::from_raw(file.lines().next().unwrap().parse().unwrap()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        until("the server ends", || rustix::process::test_kill_process(pid).is_err());
    }

    /// Ends it in order.
    pub(crate) fn stop(&self) {
        let data = self.path("data");
        let done =
            self.program("pg_ctl", &["-D", data.to_str().unwrap(), "-m", "fast", "-w", "stop"]).output();
        assert_done(&done.unwrap());
    }

    /// Has it encrypt connections, with this key and certificate.
    pub(crate) fn encrypt(&self, key: &str, certificate: &str) {
        for (name, text) in [("server.key", key), ("server.crt", certificate)] {
            let file = self.path("data").join(name);
            let _ = fs::remove_file(&file); // it may be the first
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            if geteuid().is_root() {
                chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        self.stop();
        let file = self.path("data/postgresql.conf");
        fs::write(&file, fs::read_to_string(&file).unwrap() + "ssl = on\n").unwrap();
        self.run();
    }

    /// Copies its files; it must not run.
    pub(crate) fn copy(&self, from: &str, to: &str) {
        let _ = fs::remove_dir_all(self.path(to)); // it may be the first
        let done = Command::new("cp").arg("-a").args([self.path(from), self.path(to)]).output();
        assert_done(&done.unwrap());
    }

    /// Runs SQL as a role; returns what it prints, or the error.
    pub(crate) fn try_sql(&self, role: &str, database: &str, sql: &str) -> Result<String, String> {
        let address = format!("postgres://{role}:{role}@127.0.0.1:{}/{database}", self.port);
        let args = ["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql, &address];
        let output = self.program("psql", &args).output().unwrap();
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout).unwrap().trim_end().to_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Runs SQL as a role, again after a deadlock with a daemon, and returns what it prints.
    pub(crate) fn sql(&self, role: &str, database: &str, sql: &str) -> String {
        loop {
            match self.try_sql(role, database, sql) {
                Err(error) if error.contains("deadlock detected") => {}
                done => return done.unwrap(),
            }
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn program(&self, name: &str, args: &[&str]) -> Command {
        let path = self.programs.join(name);
        let mut command = if geteuid().is_root() {
            let mut command = Command::new("setpriv");
            let nobody = NOBODY.to_string();
            command.args(["--reuid", &nobody, "--regid", &nobody, "--clear-groups"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        command.args(args).current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        let data = self.path("data");
        let args = ["-D", data.to_str().unwrap(), "-m", "immediate", "-w", "stop"];
        let _ = self.program("pg_ctl", &args).stdout(Stdio::null()).stderr(Stdio::null()).status(); // it may be down
    }
}

/// Returns the directory of PostgreSQL's programs: where Debian has them, or that of `PATH`.
fn programs() -> Option<PathBuf> {
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut dirs: Vec<PathBuf> = debian.map(|entry| entry.path().join("bin")).collect();
    dirs.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    dirs.reverse();
    dirs.extend(std::env::split_paths(&path));
    dirs.into_iter().find(|dir| Path::exists(&dir.join("initdb")) && dir.join("psql").exists())
}

fn assert_done(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
