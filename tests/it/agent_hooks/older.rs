//! Is an older daemon asked, and replaced without haste?

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use memod_base::paths::open_lock_file;
use memod_client::VERSION;
use memod_proto::{AdviseResult, PROTOCOL, Request, code};
use serde_json::json;

use super::{QUESTION, TOKENS, prompted, run, shop};
use crate::fake::{Answer, Fake};
use crate::live::{Live, until};

/// An older daemon in place of the real one, which answers questions as it is told to.
fn older(live: &Live, mut advise: impl FnMut() -> Answer + Send + 'static) -> Fake {
    live.memo(&["stop", "-q"]).status().unwrap();
    Fake::start(&live.layout(), "0.0.1", move |request: &Request| match request.method.as_str() {
        "hello" => Answer::Result(json!({ "version": "0.0.1", "protocol": PROTOCOL, "pid": 4242 })),
        "stop" => Answer::End(json!({})),
        _ => advise(),
    })
}

/// Waits until the process that replaced the daemon has ended: it would start another one when the test stops it.
fn is_replaced(live: &Live) {
    until("the daemon of this version answers", || live.endpoint().version == VERSION);
    let root = live.root().display().to_string();
    let is_asking = |line: &[u8]| {
        let mut words = line.split(|byte| *byte == 0);
        words.any(|word| word == root.as_bytes()) && words.any(|word| word == b"status")
    };
    until("the process that replaced it has ended", || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        !processes
            .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
            .any(|line| is_asking(&line))
    });
}

#[test]
fn an_older_daemon_is_asked_and_replaced() {
    let live = shop();
    for (advise, told) in [
        (Answer::Error(code::NO_METHOD, 0), ""),
        (
            Answer::Result(json!(AdviseResult { text: "as it was\n".to_owned(), ..AdviseResult::default() })),
            "as it was\n",
        ),
    ] {
        let mut advise = Some(advise);
        let old = older(&live, move || advise.take().unwrap_or(Answer::Error(code::NO_METHOD, 0)));
        assert_eq!(prompted(&live, "s", QUESTION), told);
        is_replaced(&live);
        assert_eq!(old.methods(), "hello advise hello stop");
        assert!(prompted(&live, told, QUESTION).contains(TOKENS));
    }
}

#[test]
fn an_older_daemon_that_is_too_slow_is_replaced_as_well() {
    let live = shop();
    let old = older(&live, || Answer::Silence);
    let call = json!({ "prompt": QUESTION, "cwd": live.root() }).to_string();
    let output = run(&live, &["prompt", "--within-ms", "3000"], call.as_bytes());
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
    is_replaced(&live);
    assert_eq!(old.methods(), "hello advise hello stop");
}

/// Asks as [`prompted`] does, with another program as the daemon.
fn prompt_with(live: &Live, daemon: &Path) {
    let status =
        live.memo(&["hook", "prompt", "--within-ms", "30000", QUESTION]).env("MEMO_DAEMON", daemon).status();
    assert!(status.unwrap().success());
}

#[test]
fn an_older_daemon_that_stays_is_left_alone_for_a_minute() {
    let live = shop();
    let _old = older(&live, || Answer::Result(json!(AdviseResult::default())));
    let (daemon, tries) = (live.sandbox.path("home/daemon"), live.sandbox.path("home/tries"));
    fs::write(&daemon, format!("#!/bin/sh\necho x >> {}\nexit 1\n", tries.display())).unwrap();
    fs::set_permissions(&daemon, PermissionsExt::from_mode(0o755)).unwrap();
    let count = || fs::read_to_string(&tries).unwrap_or_default().lines().count();
    let lock = live.layout().spawn_lock_file();
    let tried = || fs::metadata(&lock).unwrap().modified().unwrap();
    // Whether a try was made is known when the hook ends; what it does, it does later.
    let prompt = || {
        let before = tried();
        prompt_with(&live, &daemon);
        tried() != before
    };
    assert!(prompt(), "the first one tries");
    until("the new program was asked", || count() == 1);
    assert!(!prompt(), "not again so soon");

    let ago = |seconds| {
        let lock = File::options().write(true).open(&lock).unwrap();
        lock.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    };
    let published = File::options().write(true).open(live.layout().endpoint_file()).unwrap();
    published.set_modified(SystemTime::now() - Duration::from_secs(300)).unwrap();
    ago(50);
    assert!(!prompt(), "nor within a minute");
    ago(70);
    let held = open_lock_file(&lock).unwrap();
    held.lock().unwrap();
    assert!(!prompt(), "nor while another one starts a daemon");
    drop(held);
    assert!(prompt(), "after a minute it is tried again");
    until("the new program was asked again", || count() >= 2);
    assert_eq!(count(), 2);
}
