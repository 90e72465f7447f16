//! What does a daemon do that may not take much memory?

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use memod_proto::code;
use serde_json::{Value, json};

use crate::live::{Live, PATIENCE, memo, until};
use crate::system;

/// A limit below which a small repository is served without a word, KiB.
const ENOUGH_KIB: u64 = 600_000;
/// One below which no daemon starts, though the program itself does.
const TOO_LITTLE_KIB: u64 = 160_000;

/// Returns the daemon's command line under a limit.
fn memod(live: &Live, kib: u64) -> Command {
    let script = format!("ulimit -v {kib}; exec {} run", env!("CARGO_BIN_EXE_memod"));
    let mut command = live.sandbox.program("sh", &["-c", &script]);
    command.stderr(Stdio::null());
    command
}

fn log(live: &Live) -> String {
    fs::read_to_string(live.layout().log_file()).unwrap()
}

#[test]
fn a_small_repository_is_served_under_a_limit() {
    let live = Live::idle();
    for number in 0..200 {
        live.write(
            &format!("src/{number}.py"),
            // No word is the beginning of another, because hits by meaning count if their lines have the word.
            format!("def rotate{number}(key):\n    return alpha{number:03}\n"),
        );
    }
    live.commit_all();
    live.start_as(&mut memod(&live, ENOUGH_KIB));
    live.expect("alpha007", "src/7.py", "under a limit");
    let pid = live.pid();
    for number in 0..5 {
        assert_eq!(memo(&live, &["add", &format!("fact {number}")]).0, 0);
        assert_eq!(memo(&live, &["search", "rotate the key", "--sync", "full"]).0, 0);
    }
    assert_eq!(live.pid(), pid, "it is the same daemon");
    assert!(!log(&live).contains("limit of memory"), "{}", log(&live));
}

#[test]
fn a_limit_that_is_too_low_is_named() {
    let live = Live::idle();
    let output = memod(&live, TOO_LITTLE_KIB).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let error = said["error"].as_str().unwrap();
    let named =
        format!("the limit of memory (`ulimit -v`, {TOO_LITTLE_KIB} KiB) is too low: the daemon needs ");
    assert!(error.starts_with(&named), "{error}");
    assert!(said["hint"].as_str().unwrap().contains("raise the limit"), "{said}");
}

/// Lets the daemon take so many more bytes than it has now.
fn allow(live: &Live, n_bytes: u64) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let pid = i32::try_from(live.pid()).unwrap();
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap();
    let n_pages: u64 = statm.split(' ').next().unwrap().parse().unwrap();
    let limit = n_pages * rustix::param::page_size() as u64 + n_bytes;
    let limit = Rlimit { current: Some(limit), maximum: Some(ENOUGH_KIB << 10) };
    prlimit(Pid::from_raw(pid), Resource::As, limit).unwrap();
}

#[test]
fn a_line_for_which_there_is_no_memory_is_refused() {
    let live = Live::idle();
    live.write("a.md", "# A\n\nalpha");
    live.start_as(&mut memod(&live, ENOUGH_KIB));
    live.expect("alpha", "a.md", "before");
    let pid = live.pid();
    allow(&live, 28 << 20);
    let part = vec![b'x'; 7 << 20];
    let socket = live.endpoint().socket;
    let mut peers = Vec::new();
    // They stay open, with a line that does not end.
    let refused = (0..8).find_map(|_| {
        let stream = system::connect(&socket).unwrap();
        let is_taken = (&stream).write_all(&part).is_ok();
        let wait = if is_taken { Duration::from_millis(300) } else { PATIENCE };
        stream.set_read_timeout(Some(wait)).unwrap();
        let mut line = String::new();
        let is_told = BufReader::new(&stream).read_line(&mut line).is_ok();
        peers.push(stream);
        is_told.then_some(line)
    });
    let refused: Value = serde_json::from_str(&refused.expect("eight of seven MiB are too many")).unwrap();
    let error = &refused["error"];
    assert_eq!(error["code"], code::BUSY, "{error}");
    assert!(
        error["message"].as_str().unwrap().starts_with("not enough memory for such a long line: the limit"),
        "{error}"
    );
    drop(peers);
    assert_eq!(live.pid(), pid, "nothing else is the matter");
}

#[test]
fn a_daemon_whose_memory_is_used_up_ends_in_order_and_says_why() {
    let live = Live::idle();
    live.write("a.md", "# A\n\nalpha");
    live.start_as(&mut memod(&live, ENOUGH_KIB));
    live.expect("alpha", "a.md", "before");
    assert_eq!(memo(&live, &["add", "a fact"]).0, 0);
    allow(&live, 0);
    // Each takes a little, which stays, because its line does not end.
    let (socket, part) = (live.endpoint().socket, [b'x'; 60_000]);
    let mut streams = Vec::new();
    until("the daemon ends", || {
        if let Some(stream) = (streams.len() < 1_000).then(|| system::connect(&socket).ok()).flatten() {
            let _ = (&stream).write_all(&part); // it may have ended
            streams.push(stream);
        }
        live.has_ended()
    });
    assert_eq!(live.wait_for_end(), Some(0), "it does not abort");
    assert!(log(&live).contains("the limit of memory (`ulimit -v`) is reached"), "{}", log(&live));
    assert!(log(&live).contains("stopping why=\"the memory that it may take is used up\""), "{}", log(&live));
    let (code, listed) = memo(&live, &["list"]);
    assert_eq!(
        (code, &listed["memories"][0]["content"]),
        (0, &json!("a fact")),
        "the next one serves: {listed}"
    );
}
