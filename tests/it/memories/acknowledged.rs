//! Is what was acknowledged there afterwards, whatever happens to the daemon and the disk?

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{add, is_whole, memo, stop, texts};
use crate::live::{Live, not_checked, until};

const CLIENTS: usize = 16;

#[test]
fn what_was_acknowledged_survives_kill_9() {
    survive(200, 5);
}

/// Adds `n` memories by 16 parallel clients while the daemon is killed `n_kills` times, evenly spread.
fn survive(n: usize, n_kills: usize) {
    let live = Live::idle();
    live.start();
    let (next, acknowledged) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    // Made here: what starts a process of the sandbox is not for other threads.
    let commands: Vec<Mutex<Command>> =
        (0..n).map(|number| Mutex::new(live.memo(&["add", "--json", &format!("fact {number}")]))).collect();
    let mut n_killed = 0;
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while let Some(command) = commands.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let output = command.lock().unwrap().output().unwrap();
                    if output.status.success() {
                        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
                        acknowledged.lock().unwrap().push(answer);
                    }
                }
            });
        }
        while n_killed < n_kills {
            until("enough is added for the next blow", || {
                acknowledged.lock().unwrap().len() >= (n_killed + 1) * n / (n_kills + 1)
                    || next.load(Ordering::SeqCst) >= n + CLIENTS
            });
            crate::system::kill(live.endpoint().pid); // it may just have been replaced
            n_killed += 1;
        }
    });
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.len() >= n * 9 / 10, "{} of {n} were acknowledged", acknowledged.len());
    let again = acknowledged.iter().find(|answer| answer["created"] != true);
    assert_eq!(again, None, "each is new, also where its answer was lost and asked for again");
    let (_, answer) = memo(&live, &["list", "--all"]);
    let kept = answer["memories"].as_array().unwrap();
    let texts: BTreeSet<_> = kept.iter().map(|memory| memory["content"].as_str()).collect();
    assert_eq!(texts.len(), kept.len(), "none twice");
    let ids: BTreeSet<_> = kept.iter().map(|memory| memory["id"].as_str()).collect();
    let lost = acknowledged.iter().find(|answer| !ids.contains(&answer["memory"]["id"].as_str()));
    assert_eq!(lost, None);
    assert!(is_whole(&live));
}

#[test]
fn git_leaves_memories_alone() {
    let live = Live::new();
    live.write("a.md", "alpha");
    live.commit_all();
    add(&live, "one");
    live.write("b.md", "beta");
    live.git(&["stash", "-a", "-q"]);
    assert_eq!(texts(&live), ["one"]);
    live.write("c.md", "gamma");
    live.git(&["clean", "-fdxq"]);
    assert_eq!(texts(&live), ["one"]);
}

#[test]
fn a_full_disk_is_said_and_got_over() {
    let live = Live::idle();
    let state = live.layout().state_dir;
    let mount = |args: &[&str]| Command::new(args[0]).args(&args[1..]).arg(&state).status();
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=2m,mode=700", "tmpfs"])
        .is_ok_and(|status| status.success())
    {
        return not_checked("memories on a full disk: a tmpfs cannot be mounted here");
    }
    struct Unmount(PathBuf);
    impl Drop for Unmount {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg("-l").arg(&self.0).status();
        }
    }
    let _unmount = Unmount(state.clone());
    live.start();
    let mut kept = vec![add(&live, "first")];
    let filler = state.join("filler");
    fs::write(&filler, vec![b'x'; 700 << 10]).unwrap();
    let mut failed = None;
    for number in 0..400 {
        let text = format!("{number} {}", "z".repeat(20_000));
        let (code, answer) = memo(&live, &["add", &text]);
        match code {
            0 => kept.push(answer["memory"]["id"].as_str().unwrap().to_owned()),
            _ => {
                failed = Some((code, answer));
                break;
            }
        }
    }
    let (code, answer) = failed.expect("the disk gets full");
    assert_eq!((code, &answer["error"]["code"]), (3, &json!("store")), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("full"), "{answer}");
    assert!(answer["error"]["hint"].as_str().unwrap().contains("free some space"), "{answer}");
    let pid = live.pid();
    let all = |live: &Live| -> BTreeSet<String> {
        let (_, answer) = memo(live, &["list", "--all"]);
        let memories = answer["memories"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
        memories.iter().map(|memory| memory["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(all(&live), kept.iter().cloned().collect(), "reading goes on");
    fs::remove_file(&filler).unwrap();
    kept.push(add(&live, "after the flood"));
    assert_eq!(all(&live), kept.iter().cloned().collect());
    assert_eq!(live.pid(), pid, "without a restart");
    live.kill();
    assert_eq!(all(&live), kept.into_iter().collect(), "and by the next daemon");
    assert!(is_whole(&live));
    stop(&live);
}
