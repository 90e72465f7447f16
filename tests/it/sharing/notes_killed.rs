//! Does a save come back that `memo share sync` had under another name when it was killed?

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::notes::{sync, synced, two_people, two_with};
use super::{add_shared, get, listed, path_of, text_of};
use crate::live::{Live, not_checked, until};

/// Time for which each rename takes, so that the test can act before and after it.
const SLOW: Duration = Duration::from_secs(3);

/// Returns the names beside the file of a memory that are not its own.
fn others_beside(live: &Live, id: &str) -> Vec<String> {
    let entries = fs::read_dir(path_of(live, id).parent().unwrap()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.contains(id) && *name != format!("{id}.md")).collect()
}

/// Returns a command line under which each exchange of two files takes its time; `None` if that is not possible here.
fn slow_renames(live: &Live) -> Option<Command> {
    let strace = || live.sandbox.program("strace", &["-D", "-f", "-qq", "-o", "/dev/null"]);
    if !strace().arg("true").status().is_ok_and(|status| status.success()) {
        not_checked("an exchange that is killed: strace cannot be run");
        return None;
    }
    let inject = format!("inject=renameat2:delay_enter={}", SLOW.as_micros());
    let memo = live.memo(&["sync-notes"]);
    let mut command = strace();
    command.args(["-e", "trace=renameat2", "-e", &inject]).arg(memo.get_program()).args(memo.get_args());
    command.envs(memo.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Some(command)
}

#[test]
fn a_save_during_an_exchange_that_is_killed_comes_back() {
    let (_remote, [ann, bob], id) = two_with("alpha is first");
    ann.call("memory.update", json!({ "id": id, "content": "alpha is second" }));
    synced(&ann);
    let Some(mut command) = slow_renames(&bob) else { return };
    let mut exchange = command.spawn().unwrap();
    until("the new text is aside", || !others_beside(&bob, &id).is_empty());
    let saved = text_of(&bob, &id).replace("alpha is first", "alpha is saved");
    fs::write(path_of(&bob, &id), saved).unwrap();
    until("the files have changed places", || text_of(&bob, &id).contains("alpha is second"));
    kill_process(Pid::from_child(&exchange), Signal::KILL).unwrap();
    assert_eq!(exchange.wait().unwrap().signal(), Some(9), "it was killed in time");
    assert_eq!(get(&bob, &id)["content"], "alpha is saved");
    assert!(text_of(&bob, &id).ends_with("\nalpha is saved\n"));
    assert_eq!(others_beside(&bob, &id), Vec::<String>::new());
    let (code, said) = sync(&bob, &[]);
    assert!(code == Some(3) && said.contains("in conflict"), "{said}");
    let sides = listed(&bob, &id);
    assert_eq!(
        (&sides[0]["content"], &sides[1]["content"]),
        (&json!("alpha is saved"), &json!("alpha is second"))
    );
}

/// Locks the worktree as an exchange that runs.
fn lock_of_exchange(live: &Live) -> File {
    let lock = File::open(live.root().join(".git/memod-notes.lock")).unwrap();
    lock.lock().unwrap();
    lock
}

fn digits(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..16].to_owned()
}

/// What an exchange has left that was killed: the text in its place, another one, and the name that this has.
type Left = (Option<&'static str>, &'static str, &'static str);

#[test]
fn what_a_killed_exchange_has_left_is_brought_back_or_cleaned_away() {
    const OLD: &str = "is old";
    const NEW: &str = "is new";
    const SAVED: &str = "is saved";
    const LATER: &str = "is saved later";
    // What is left, what is there at the end, and whether what was left is in the history.
    let cases: [(Left, &str, bool); 9] = [
        ((Some(NEW), SAVED, ".new.notes-out"), SAVED, false),
        ((Some(NEW), OLD, ".new.notes-out"), OLD, false),
        ((Some(OLD), NEW, ".new.notes-out"), OLD, false),
        ((Some(LATER), SAVED, ".new.notes-out"), LATER, true),
        ((None, SAVED, ".nothing.notes-out"), SAVED, false),
        ((Some(OLD), NEW, ".notes-new"), OLD, false),
        ((Some(OLD), OLD, ".notes"), OLD, false),
        ((Some(NEW), SAVED, ".notes"), NEW, true),
        ((Some(NEW), SAVED, ".former"), NEW, true),
    ];
    let (_remote, [ann, bob]) = two_people();
    let ids: Vec<String> =
        (0..cases.len()).map(|nth| add_shared(&ann, &format!("case {nth} {OLD}"))).collect();
    synced(&ann);
    synced(&bob);
    for (nth, id) in ids.iter().enumerate() {
        ann.call("memory.update", json!({ "id": id, "content": format!("case {nth} {NEW}") }));
    }
    synced(&ann);
    let lock = lock_of_exchange(&bob); // else the daemon sees what is half done here
    for (id, ((place, left, ending), ..)) in ids.iter().zip(cases) {
        let (old, new) = (text_of(&bob, id), text_of(&ann, id));
        let with = |text: &str| if text == NEW { new.clone() } else { old.replace(OLD, text) };
        let ending = ending.replace("new.", &(digits(&new) + ".")).replace("nothing", &digits(""));
        fs::write(path_of(&bob, id).with_file_name(format!(".{id}.md{ending}")), with(left)).unwrap();
        match place {
            Some(text) => fs::write(path_of(&bob, id), with(text)).unwrap(),
            None => fs::remove_file(path_of(&bob, id)).unwrap(),
        }
    }
    lock.unlock().unwrap();
    for (nth, (id, ((_, left, ending), expected, is_passed))) in ids.iter().zip(cases).enumerate() {
        assert_eq!(get(&bob, id)["content"], format!("case {nth} {expected}"), "{nth}");
        assert!(text_of(&bob, id).ends_with(&format!("case {nth} {expected}\n")), "{nth}");
        assert_eq!(others_beside(&bob, id), Vec::<String>::new(), "{nth} {ending}");
        let history = bob.call("memory.history", json!({ "ids": [id] })).to_string();
        assert!(!is_passed || history.contains(&format!("case {nth} {left}\"")), "{nth}: {history}");
    }
    assert_eq!(bob.call("memory.list", json!({}))["fresh"], true);
    let (code, said) = sync(&bob, &[]);
    assert!(code == Some(3) && said.contains("in conflict"), "nothing blocks it but what was saved: {said}");
}

#[test]
fn what_a_running_exchange_has_under_another_name_is_left_to_it() {
    let (_remote, [ann, bob], id) = two_with("alpha is first");
    let old = text_of(&bob, &id);
    ann.call("memory.update", json!({ "id": id, "content": "alpha is second" }));
    let new = text_of(&ann, &id);
    let out: PathBuf = path_of(&bob, &id).with_file_name(format!(".{id}.md.{}.notes-out", digits(&new)));
    let lock = lock_of_exchange(&bob);
    fs::write(&out, old.replace("first", "saved")).unwrap();
    fs::write(path_of(&bob, &id), &new).unwrap();
    assert_eq!((get(&bob, &id)["content"].clone(), out.exists()), (json!("alpha is second"), true));
    lock.unlock().unwrap();
    assert_eq!((get(&bob, &id)["content"].clone(), out.exists()), (json!("alpha is saved"), false));
}

#[test]
fn a_name_that_is_taken_keeps_no_answer_unfresh() {
    let live = Live::new();
    let id = add_shared(&live, "alpha is first");
    let beside = |name: &str| path_of(&live, &id).with_file_name(name);
    live.kill();
    let saved: [&Path; 2] = [&beside(&format!("{id}.md.saved")), &beside(&format!("{id}.md.saved-2"))];
    fs::write(saved[0], "saved before").unwrap();
    fs::write(beside(&format!(".{id}.md.{}.out", digits("a text"))), "no memory").unwrap();
    live.start();
    let list = live.call("memory.list", json!({}));
    assert_eq!((&list["fresh"], &list["total"]), (&json!(true), &json!(1)), "{list}");
    assert_eq!(saved.map(|path| fs::read_to_string(path).unwrap()), ["saved before", "no memory"]);
    assert_eq!(others_beside(&live, &id).len(), 2);
}
