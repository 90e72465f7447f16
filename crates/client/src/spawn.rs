//! Starts one daemon, even if many clients want one at the same time.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use memod_base::paths::{Env, IoContext, PathError, RepoLayout, lock_with_timeout, open_lock_file};
use memod_base::threads::pause;
use memod_proto::{Endpoint, Ready};

use super::transport::{self, DaemonConnection};
use super::{ClientError, ClientOptions, child};

/// A client waits for the spawn lock for this many times [`ClientOptions::ready_within`]. Another client holds the lock for at
/// most `ready_within`, so after this wait the other client is stuck.
pub(super) const LOCK_PATIENCE_FACTOR: u32 = 3;
/// Shortest time between two attempts to replace the same daemon in the background.
const REPLACE_INTERVAL: Duration = Duration::from_secs(60);
/// Time between two looks for the successor of a daemon that stops.
const SUCCESSOR_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Returns the program of the daemon: `$MEMO_DAEMON`, or else the `memod` beside this program, or else the `memod` in `PATH`.
pub(super) fn daemon_program() -> PathBuf {
    let name = format!("memod{}", env::consts::EXE_SUFFIX);
    if let Some(program) = env::var_os("MEMO_DAEMON").filter(|program| !program.is_empty()) {
        // The daemon starts in another directory, so a relative path is made absolute. A bare name is searched in `PATH`.
        let program = PathBuf::from(program);
        let in_path = program.components().count() == 1 && !program.is_absolute();
        return if in_path { program } else { std::path::absolute(&program).unwrap_or(program) };
    }
    let beside = env::current_exe().ok().map(|exe| exe.with_file_name(&name));
    beside.filter(|program| program.is_file()).unwrap_or_else(|| name.into())
}

/// Takes the spawn lock, starts a daemon unless another client has started one meanwhile, and connects to it.
///
/// # Errors
/// When the lock cannot be taken, or no daemon becomes ready.
pub(super) fn start_daemon(
    layout: &RepoLayout,
    env: &Env,
    options: &ClientOptions,
) -> Result<(DaemonConnection, Endpoint), ClientError> {
    layout.create_state_dir()?;
    let _lock = take_spawn_lock(layout, options.ready_within * LOCK_PATIENCE_FACTOR)?;
    if let Some(up) = transport::probe_daemon(layout, env, options.answer_within)? {
        return Ok(up);
    }
    let started = spawn_when_free(layout, env, options);
    // Probe even after a failure: the daemon may have ended because another one runs, which no client has started.
    match transport::probe_daemon(layout, env, options.answer_within)? {
        Some(up) => Ok(up),
        None => Err(started.err().unwrap_or_else(|| ClientError::NotReady {
            reason: format!(
                "it reported that it is ready, but nothing listens on the socket in {}",
                layout.endpoint_file().display()
            ),
            log: layout.log_file(),
        })),
    }
}

/// Starts a daemon without waiting until it is ready. Does nothing while another client starts a daemon.
///
/// # Errors
/// When the program cannot be started.
pub fn start_in_background(layout: &RepoLayout, options: &ClientOptions) -> Result<(), ClientError> {
    let lock = open_lock_file(&layout.spawn_lock_file())?;
    if lock.try_lock().is_err() {
        return Ok(());
    }
    // The spawn lock is released at once. Two daemons that start at the same time do no harm, because a daemon has its own lock.
    let spawned = daemon_command("run", layout, options).stdout(Stdio::null()).spawn();
    spawned.map(drop).map_err(|source| ClientError::Spawn { program: options.daemon.clone(), source })
}

/// Returns whether to replace the running daemon in the background now, and records the attempt.
///
/// Returns false while another client starts or replaces a daemon, and within a minute after the last attempt, because a daemon
/// that is stopping ends soon, and a daemon whose successor cannot start stays. The attempt is recorded as the modification time of
/// the spawn lock. It does not count for a daemon whose endpoint file is newer.
///
/// # Errors
/// When the lock cannot be opened, or its time cannot be read or set.
pub fn claim_background_replacement(layout: &RepoLayout) -> Result<bool, PathError> {
    let path = layout.spawn_lock_file();
    let lock = open_lock_file(&path)?;
    if lock.try_lock().is_err() {
        return Ok(false);
    }
    let tried = lock.metadata().and_then(|meta| meta.modified()).at("look at", &path)?;
    let published = fs::metadata(layout.endpoint_file()).and_then(|meta| meta.modified());
    let is_same = published.is_ok_and(|published| tried > published);
    // A time in the future is ignored, because the clock was changed since.
    if is_same && tried.elapsed().is_ok_and(|ago| ago < REPLACE_INTERVAL) {
        return Ok(false);
    }
    lock.set_modified(SystemTime::now()).at("mark", &path)?;
    Ok(true)
}

/// Runs this program with other arguments, without waiting for it. The new process outlives this one.
///
/// # Errors
/// When the process cannot be started.
pub fn run_self_in_background(args: &[&OsStr]) -> io::Result<()> {
    let mut command = Command::new(env::current_exe()?);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The process gets its own process group, because an agent may kill the process group of its hook.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    #[cfg(windows)]
    detach_process(&mut command);
    command.spawn().map(drop)
}

/// Waits until the daemon with the process id `pid` has ended and closed its databases; returns false if it still runs after
/// `patience`.
pub(super) fn wait_until_daemon_gone(
    layout: &RepoLayout,
    pid: u32,
    patience: Duration,
) -> Result<bool, ClientError> {
    let _lock = take_spawn_lock(layout, patience * LOCK_PATIENCE_FACTOR)?;
    let end = Instant::now() + patience;
    loop {
        // A daemon that a hook started meanwhile may take the lock as soon as its predecessor has ended.
        let succeeded = transport::read_endpoint_file(layout)?.is_some_and(|endpoint| endpoint.pid != pid);
        if succeeded || wait_for_free_daemon_lock(layout, SUCCESSOR_CHECK_INTERVAL.min(patience)) {
            return Ok(true);
        }
        if Instant::now() >= end {
            return Ok(false);
        }
    }
}

/// Waits until no daemon holds the lock of the repository. A daemon that is stopping still holds the lock, but no longer listens.
///
/// # Errors
/// When a daemon still holds the lock after [`ClientOptions::ready_within`].
pub fn wait_until_daemon_lock_free(
    layout: &RepoLayout,
    env: &Env,
    options: &ClientOptions,
) -> Result<(), ClientError> {
    if wait_for_free_daemon_lock(layout, options.ready_within) {
        return Ok(());
    }
    let published = transport::read_endpoint_file(layout)?;
    let socket = published.map_or_else(|| layout.socket_path(env), |endpoint| PathBuf::from(endpoint.socket));
    Err(ClientError::NotListening { lock: layout.daemon_lock_file(), socket })
}

/// Returns whether the lock that a running daemon holds becomes free within `patience`.
///
/// This takes the lock for a moment. The caller holds the spawn lock, so no daemon that a client starts fails because of that.
fn wait_for_free_daemon_lock(layout: &RepoLayout, patience: Duration) -> bool {
    let Ok(lock) = File::open(layout.daemon_lock_file()) else { return true };
    lock_with_timeout(lock, patience).is_ok()
}

/// Waits until no daemon holds the lock, and starts a daemon. The caller holds the spawn lock.
fn spawn_when_free(layout: &RepoLayout, env: &Env, options: &ClientOptions) -> Result<(), ClientError> {
    transport::make_moved_daemon_check_files(layout, env, options.ready_within);
    // A daemon that is stopping no longer listens, but its databases are still open.
    if !wait_for_free_daemon_lock(layout, options.ready_within) {
        let lock = layout.daemon_lock_file();
        let reason = format!("another process holds the lock {}, but does not listen", lock.display());
        return Err(ClientError::NotReady { reason, log: layout.log_file() });
    }
    spawn_daemon(layout, options)
}

/// Takes the spawn lock, and waits for it for at most `patience`.
pub(super) fn take_spawn_lock(layout: &RepoLayout, patience: Duration) -> Result<File, ClientError> {
    let lock = layout.spawn_lock_file();
    match lock_with_timeout(open_lock_file(&lock)?, patience) {
        Err(error) if error.kind() == ErrorKind::TimedOut => {
            Err(ClientError::SpawnLockTimeout { lock, waited_s: patience.as_secs() })
        }
        locked => Ok(locked.at("lock", &lock)?),
    }
}

/// Starts the daemon and waits until it reports that it is ready. The caller holds the spawn lock.
fn spawn_daemon(layout: &RepoLayout, options: &ClientOptions) -> Result<(), ClientError> {
    run_daemon_verb("run", layout, options)
}

/// Checks whether our program could serve this repository, while another daemon serves it.
///
/// # Errors
/// When the program cannot be started, or reports why it could not serve.
pub(super) fn check_daemon_program(layout: &RepoLayout, options: &ClientOptions) -> Result<(), ClientError> {
    run_daemon_verb("check", layout, options)
}

/// Runs a verb of the daemon's program, and waits for the line with which it reports success or an error.
fn run_daemon_verb(verb: &str, layout: &RepoLayout, options: &ClientOptions) -> Result<(), ClientError> {
    let mut child = daemon_command(verb, layout, options)
        .spawn()
        .map_err(|source| ClientError::Spawn { program: options.daemon.clone(), source })?;
    let stdout = child.stdout.take().expect("stdout is piped");
    let not_ready = |reason: String| ClientError::NotReady { reason, log: layout.log_file() };
    match child::read_first_line(stdout, options.ready_within) {
        Some(Ok(line)) if !line.is_empty() => match serde_json::from_slice::<Ready>(&line) {
            Ok(Ready { ready: true, .. }) => Ok(()),
            Ok(Ready { error: Some(message), hint, .. }) => Err(ClientError::StartRefused { message, hint }),
            _ => Err(not_ready(format!("{} printed something unexpected", options.daemon.display()))),
        },
        Some(Ok(_)) => Err(not_ready(describe_end(&mut child, options.ready_within))),
        Some(Err(error)) => Err(not_ready(format!("its output cannot be read: {error}"))),
        None => {
            let _ = child.kill();
            let _ = child.wait();
            Err(not_ready(format!("it was silent for {} s and was stopped", options.ready_within.as_secs())))
        }
    }
}

/// Returns the command that runs a verb of the daemon's program for this repository.
pub(super) fn daemon_command(verb: &str, layout: &RepoLayout, options: &ClientOptions) -> Command {
    let mut command = Command::new(&options.daemon);
    command.arg(verb).arg("--root").arg(&layout.root).current_dir(&layout.state_dir);
    if verb == "run" && options.index_on_demand {
        command.arg("--index-on-demand");
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    child::clear_git_env_except_settings(&mut command);
    #[cfg(windows)]
    detach_process(&mut command);
    // On Unix the daemon gets no process group of its own, because the leader of a group must not call setsid(2), which the daemon
    // does first.
    command
}

/// Gives a program no console, and makes our own streams not inheritable. Otherwise a reader of our output would wait until that
/// program ends. On Unix setsid(2) and close-on-exec do this.
#[cfg(windows)]
#[expect(unsafe_code, reason = "there is no safe way to keep a child from inheriting our own handles")]
fn detach_process(command: &mut Command) {
    use std::os::windows::process::CommandExt as _;

    use windows_sys::Win32::Foundation::{HANDLE_FLAG_INHERIT, SetHandleInformation};
    use windows_sys::Win32::System::Console::{
        GetStdHandle, STD_ERROR_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE,
    };
    use windows_sys::Win32::System::Threading::{CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW};
    command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW);
    // An inheritable handle is inherited even by a child that has its own streams. For a child that needs our streams, `std` makes
    // copies.
    for which in [STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
        // SAFETY: both functions accept any value. They fail for a closed stream, which no child inherits.
        unsafe { SetHandleInformation(GetStdHandle(which), HANDLE_FLAG_INHERIT, 0) };
    }
}

/// Describes how a daemon ended that has closed its output without printing a line. It is about to end; if it does not, it is
/// killed.
fn describe_end(child: &mut Child, within: Duration) -> String {
    let deadline = Instant::now() + within;
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(Some(status)) => return format!("it ended with {status}"),
            Ok(None) => pause(Duration::from_millis(5)),
            Err(error) => return format!("waiting for it failed: {error}"),
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    "it closed its output silently and was stopped".to_owned()
}
