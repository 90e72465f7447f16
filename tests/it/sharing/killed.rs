//! Is each change of a shared memory made once, also where the daemon is killed in the middle of it?

use std::fs;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use serde_json::json;

use super::{actions, add_shared, complaint, get, path_of, text_of, write_file};
use crate::live::{Live, until};

/// Kills of a usual run.
const ROUNDS: usize = 24;

fn hash(text: &str) -> [u8; 32] {
    *blake3::hash(text.as_bytes()).as_bytes()
}

/// Leaves memory.db as a daemon does that is killed after it has committed `new` and before it has written that to the file.
fn leave_pending(live: &Live, id: &str, former: &str, new: &str) {
    live.kill();
    write_file(live, id, former);
    put_pending(live, id, former, Some(new));
    live.start();
}

/// Stores what a verb has committed for a file, in the memory.db of a daemon that has ended.
fn put_pending(live: &Live, id: &str, former: &str, new: Option<&str>) {
    let conn = Connection::open(live.layout().state_dir.join("memory.db")).unwrap();
    let n_put = conn
        .execute(
            "INSERT INTO pending_file SELECT worktree, name, ?2, ?3 FROM memory_file WHERE name = ?1 || '.md'",
            params![id, hash(former), new],
        )
        .unwrap();
    assert_eq!(n_put, 1);
}

#[test]
fn what_was_committed_is_written_after_a_kill() {
    let live = Live::new();
    let id = add_shared(&live, "alpha is first");
    let former = text_of(&live, &id);
    live.call("memory.update", json!({ "id": id, "content": "beta is second" }));
    let new = text_of(&live, &id);
    leave_pending(&live, &id, &former, &new);
    assert_eq!(
        (get(&live, &id)["content"].clone(), text_of(&live, &id)),
        (json!("beta is second"), new.clone())
    );
    assert_eq!(
        actions(&live, &id),
        ["add/cli", "share/api", "update/api"],
        "no look took the file of before"
    );
    // Somebody has written to the file since: that stays, and what was committed is in the history.
    leave_pending(&live, &id, &former, &new);
    live.kill();
    let edited = new.replace("beta is second", "gamma is third");
    write_file(&live, &id, &edited);
    live.start();
    assert_eq!((get(&live, &id)["content"].clone(), text_of(&live, &id)), (json!("gamma is third"), edited));
    let history = live.call("memory.history", json!({ "ids": [id] })).to_string();
    assert!(history.contains("beta is second"), "{history}");
}

/// What a daemon has left that was killed while a file and its new text changed places: whether the verb removes the file, what
/// is in its place, under the name for the exchange, and under that of file systems which cannot exchange.
type Left = (bool, Option<&'static str>, Option<&'static str>, Option<&'static str>);

#[test]
fn what_came_out_of_its_place_goes_back_after_a_kill() {
    let (old, new) = ("alpha is first", "beta is second");
    let (saved, later) = ("gamma is saved", "delta is saved later");
    // What is left, and what is there at the end; of the others the history knows.
    let cases: [(Left, &str, &[&str]); 8] = [
        ((false, Some(new), Some(saved), None), saved, &[new]),
        ((false, Some(new), Some(old), None), new, &[old]),
        ((false, Some(old), Some(new), None), new, &[old]),
        ((false, Some(later), Some(saved), None), later, &[new, saved]),
        ((true, None, Some(saved), None), saved, &[old]),
        ((false, None, Some(new), Some(old)), new, &[old]),
        ((false, Some(new), None, Some(saved)), saved, &[new]),
        ((false, Some(new), None, Some(old)), new, &[old]),
    ];
    for (nth, ((is_removed, place, out, former), expected, known)) in cases.into_iter().enumerate() {
        let live = Live::new();
        let id = add_shared(&live, old);
        let first = text_of(&live, &id);
        live.call("memory.update", json!({ "id": id, "content": new }));
        let second = text_of(&live, &id);
        let with = |text: &str| if text == new { second.clone() } else { first.replace(old, text) };
        let wanted = if is_removed { "" } else { second.as_str() };
        live.kill();
        put_pending(&live, &id, &first, (!is_removed).then_some(second.as_str()));
        fs::remove_file(path_of(&live, &id)).unwrap();
        let beside = |ending: &str| path_of(&live, &id).with_file_name(format!(".{id}.md{ending}"));
        let digits = blake3::Hash::from_bytes(hash(wanted)).to_hex()[..16].to_owned();
        let left = [
            (place, path_of(&live, &id)),
            (out, beside(&format!(".{digits}.out"))),
            (former, beside(".former")),
        ];
        for (text, path) in left {
            text.into_iter().for_each(|text| fs::write(&path, with(text)).unwrap());
        }
        live.start();
        assert_eq!(get(&live, &id)["content"], expected, "{nth}");
        assert_eq!(text_of(&live, &id), with(expected), "{nth}");
        let history = live.call("memory.history", json!({ "ids": [id] })).to_string();
        assert!(known.iter().all(|text| history.contains(text)), "{nth}: {history}");
        let names: Vec<_> = fs::read_dir(path_of(&live, &id).parent().unwrap())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names.len(), 1, "{nth}: {names:?}");
    }
}

#[test]
fn a_file_that_cannot_be_written_stops_no_other() {
    let live = Live::new();
    let [blocked, other] = ["alpha is first", "omega is another"].map(|text| add_shared(&live, text));
    let former = text_of(&live, &blocked);
    live.call("memory.update", json!({ "id": blocked, "content": "beta is second" }));
    let new = text_of(&live, &blocked);
    live.kill();
    let obstacle = path_of(&live, &blocked).with_file_name(format!(".{blocked}.md.new"));
    fs::create_dir_all(obstacle.join("full")).unwrap();
    leave_pending(&live, &blocked, &former, &new);
    for round in 0..2 {
        let edited = format!("omega is edited {round}");
        write_file(&live, &other, &super::file(&edited, ""));
        assert_eq!(get(&live, &other)["content"], json!(edited));
        let list = live.call("memory.list", json!({}));
        let reason = list["reason"].as_str().unwrap_or_default();
        assert!(list["fresh"] == false && reason.contains(&format!("{blocked}.md.new")), "{list}");
        assert_eq!(get(&live, &blocked)["content"], "beta is second");
    }
    let why = crate::memories::refusal(&live, "memory.update", json!({ "id": blocked, "content": "no" }));
    assert!(why.contains("an earlier change is still to be written to this file"), "{why}");
    live.call("memory.update", json!({ "id": other, "content": "omega is changed" }));
    assert!(text_of(&live, &other).ends_with("\nomega is changed\n"));
    fs::remove_dir_all(&obstacle).unwrap();
    assert_eq!(get(&live, &blocked)["content"], "beta is second");
    assert_eq!(text_of(&live, &blocked), new);
    assert_eq!(live.call("memory.list", json!({}))["fresh"], true);
}

#[test]
fn a_change_is_made_once_whenever_the_daemon_is_killed() {
    let live = Live::new();
    let id = add_shared(&live, "begins");
    for round in 0..ROUNDS {
        let params = json!({ "cwd": live.root(), "id": id, "append": format!("line {round} ends"),
                             "request": format!("append-{round}") });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "memory.update", "params": params });
        live.connect().send(format!("{request}\n"));
        // From before the commit until after the answer, about 8 ms here.
        let end = Instant::now() + Duration::from_micros(500 * round as u64);
        while Instant::now() < end {
            std::hint::spin_loop();
        }
        live.kill();
        live.start();
        live.call("memory.update", params);
        let content = get(&live, &id)["content"].as_str().unwrap().to_owned();
        for earlier in 0..=round {
            let n = content.lines().filter(|line| *line == format!("line {earlier} ends")).count();
            assert_eq!(n, 1, "round {round}, line {earlier}:\n{content}");
        }
        assert!(text_of(&live, &id).ends_with(&format!("{content}\n")), "{}", text_of(&live, &id));
    }
    let names: Vec<_> = fs::read_dir(path_of(&live, &id).parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 1, "nothing is left beside it: {names:?}");
    assert_eq!(get(&live, &id)["trust"], "own");
    assert_eq!(complaint(&live, &format!(".memod/memories/{id}.md")), None);
}

#[test]
fn an_edit_and_a_verb_at_once_lose_nothing() {
    let live = Live::new();
    let id = add_shared(&live, "begins");
    let path = path_of(&live, &id);
    std::thread::scope(|scope| {
        let editor = scope.spawn(|| {
            // As an editor that reads, thinks and replaces.
            for n in 0..40 {
                let text = fs::read_to_string(&path).unwrap();
                let aside = path.with_extension("tmp");
                fs::write(&aside, format!("{text}edit {n} ends\n")).unwrap();
                fs::rename(&aside, &path).unwrap();
                let end = Instant::now() + Duration::from_millis(3);
                while Instant::now() < end {
                    std::thread::yield_now();
                }
            }
        });
        let mut n_done = 0;
        until("ten changes by a verb", || {
            let params = json!({ "cwd": live.root(), "id": id, "append": format!("verb {n_done} ends") });
            // It may find that the file was edited meanwhile, and is asked again.
            n_done += usize::from(live.rpc().call("memory.update", &params).is_ok());
            n_done == 10
        });
        editor.join().unwrap();
    });
    let history =
        live.call("memory.history", json!({ "ids": [id] })).to_string() + &get(&live, &id).to_string();
    for n in 0..10 {
        assert!(history.contains(&format!("verb {n} ends")), "verb {n}: {history}");
    }
    let file = text_of(&live, &id);
    assert!(file.contains("edit 39 ends") || history.contains("edit 39 ends"), "{file}\n{history}");
    assert_eq!(file.trim_end().rsplit_once("\n---\n\n").unwrap().1, get(&live, &id)["content"], "{file}");
}
