//! Do the files of shared memories become as a backup has them?

use std::fs;

use serde_json::{Value, json};

use super::conflicts::in_conflict;
use super::{add_shared, complaint, file, get, listed, path_of, text_of, write_file};
use crate::live::{Live, until};
use crate::memories::call;

fn back_up(live: &Live) -> Value {
    call(live, "memory.backup", json!({}))["path"].clone()
}

/// Restores a backup after a dry run, which says the same; returns what was said.
fn restore(live: &Live, backup: &Value) -> Value {
    let planned = call(live, "memory.restore_backup", json!({ "path": backup, "dry_run": true }));
    let done = call(live, "memory.restore_backup", json!({ "path": backup }));
    let counts = |answer: &Value| {
        let mut answer = answer.clone();
        let object = answer.as_object_mut().unwrap();
        ["dry_run", "kept", "notice"].iter().for_each(|key| drop(object.remove(*key)));
        answer
    };
    assert_eq!(counts(&planned), counts(&done));
    done
}

/// Returns the numbers of files that are written, removed, kept and gone.
fn files(answer: &Value) -> [u64; 4] {
    ["files_written", "files_removed", "files_kept", "files_gone"].map(|key| answer[key].as_u64().unwrap())
}

fn reset(live: &Live) {
    let shown = call(live, "memory.reset", json!({ "dry_run": true }));
    call(live, "memory.reset", json!({ "expect": shown["digest"] }));
}

fn forget(live: &Live, id: &str) {
    call(live, "memory.forget", json!({ "ids": [id] }));
}

/// Does something to the memory with an id.
type Change = fn(&Live, &str);

/// Verbs that change or remove the file of a memory.
const VERBS: [(&str, Change); 6] = [
    ("reset", |live, _| reset(live)),
    ("forget", forget),
    ("forget and purge", |live, id| {
        forget(live, id);
        call(live, "memory.purge", json!({ "ids": [id] }));
    }),
    ("unshare", |live, id| drop(call(live, "memory.unshare", json!({ "ids": [id] })))),
    ("update", |live, id| drop(call(live, "memory.update", json!({ "id": id, "content": "another text" })))),
    ("tag", |live, id| drop(call(live, "memory.update", json!({ "id": id, "add_tags": ["new"] })))),
];

#[test]
fn what_verbs_did_to_a_file_is_undone() {
    for (verb, run) in VERBS {
        for is_committed in [true, false] {
            let live = Live::new();
            let id = add_shared(&live, "alpha is shared");
            if is_committed {
                live.commit_all();
            }
            let (text, backup) = (text_of(&live, &id), back_up(&live));
            run(&live, &id);
            assert_ne!(fs::read_to_string(path_of(&live, &id)).ok().as_ref(), Some(&text), "{verb}");
            let answer = restore(&live, &backup);
            assert_eq!(files(&answer), [1, 0, 0, 0], "{verb}: {answer}");
            assert_eq!(text_of(&live, &id), text, "{verb}");
            let memory = get(&live, &id);
            assert_eq!(
                [&memory["content"], &memory["archived_at"], &memory["scope"], &memory["trust"]],
                [&json!("alpha is shared"), &Value::Null, &json!("repo"), &json!("own")],
                "{verb}"
            );
            assert_eq!(files(&restore(&live, &backup)), [0; 4], "{verb}: nothing is left to do");
            // What was replaced comes back as well.
            let answer = restore(&live, &answer["kept"]);
            assert_eq!(
                files(&answer),
                if path_of(&live, &id).exists() { [1, 0, 0, 0] } else { [0, 1, 0, 0] }
            );
            assert_ne!(fs::read_to_string(path_of(&live, &id)).ok().as_ref(), Some(&text), "{verb}");
        }
    }
}

/// What others do to the file of a memory, and the numbers of files that stay and that are gone.
const OTHERS: [(&str, Change, [u64; 2]); 5] = [
    ("git rm", |live, id| drop(live.git(&["rm", "-q", "-f", &format!(".memod/memories/{id}.md")])), [0, 1]),
    ("rm", |live, id| fs::remove_file(path_of(live, id)).unwrap(), [0, 1]),
    ("another branch", |live, _| drop(live.git(&["switch", "-q", "without"])), [0, 1]),
    ("an edit", |live, id| write_file(live, id, &file("alpha is edited", "")), [1, 0]),
    (
        "a verb, and git after it",
        |live, id| {
            forget(live, id);
            live.git(&["restore", "."]);
            assert_eq!(listed(live, id).len(), 1);
            live.git(&["switch", "-q", "without"]);
        },
        [0, 1],
    ),
];

#[test]
fn what_others_did_to_a_file_holds() {
    for (what, run, [n_kept, n_gone]) in OTHERS {
        let live = Live::new();
        live.write("a.md", "x");
        live.commit_all();
        live.git(&["branch", "without"]);
        let id = add_shared(&live, "alpha is shared");
        live.commit_all();
        let backup = back_up(&live);
        run(&live, &id);
        let there = fs::read_to_string(path_of(&live, &id)).ok();
        let answer = restore(&live, &backup);
        assert_eq!(files(&answer), [0, 0, n_kept, n_gone], "{what}: {answer}");
        assert_eq!(answer["differ"].as_u64().unwrap() * n_kept, 0, "{what}: it is not reverted");
        assert_eq!(fs::read_to_string(path_of(&live, &id)).ok(), there, "{what}");
        assert_eq!(get(&live, &id)["archived_at"].is_null(), there.is_some(), "{what}: nothing is lost");
        live.git(&["switch", "-q", "-f", "main"]);
        live.git(&["restore", "--source", "HEAD", "--staged", "--worktree", "."]);
        assert_eq!(get(&live, &id)["content"], "alpha is shared", "{what}");
    }
}

#[test]
fn a_file_that_a_verb_has_made_since_goes_and_one_that_came_stays() {
    let live = Live::new();
    let own = call(&live, "memory.add", json!({ "content": "mine then", "client": "cli" }));
    let own = own["memory"]["id"].as_str().unwrap().to_owned();
    let backup = back_up(&live);
    call(&live, "memory.share", json!({ "ids": [own] }));
    let new = add_shared(&live, "alpha is new");
    let came = "mem_01M7YYNZ2R27134HEGF8T0ZWFF";
    write_file(&live, came, &file("beta came with a pull", ""));
    assert_eq!(listed(&live, came).len(), 1);
    let answer = restore(&live, &backup);
    assert_eq!(files(&answer), [0, 2, 1, 0], "{answer}");
    assert_eq!(
        (&answer["only_here"], &answer["differ"]),
        (&json!(1), &json!(1)),
        "what came is not removed: {answer}"
    );
    assert!(!path_of(&live, &own).exists() && !path_of(&live, &new).exists());
    assert_eq!(get(&live, &own)["scope"], "mine");
    assert_eq!((listed(&live, &new).len(), listed(&live, came).len()), (0, 1));
}

#[test]
fn each_worktree_gets_its_file_again() {
    for is_asked_between in [true, false] {
        let live = Live::new();
        live.write("a.md", "x");
        live.commit_all();
        let id = add_shared(&live, "alpha of both");
        live.commit_all();
        live.git(&["worktree", "add", "-q", "--detach", "../side"]);
        let side = live.sandbox.path("side");
        let in_side = |method: &str, params: Value| live.call_in(&side, method, params);
        in_side("memory.update", json!({ "id": id, "content": "alpha of the side" }));
        let there = side.join(format!(".memod/memories/{id}.md"));
        let (text, text_there, backup) =
            (text_of(&live, &id), fs::read_to_string(&there).unwrap(), back_up(&live));
        // One has its file still, which makes the memory anew.
        reset(&live);
        if is_asked_between {
            assert_eq!(in_side("memory.list", json!({}))["total"], 1);
        }
        let answer = restore(&live, &backup);
        assert_eq!(files(&answer), [1, 0, 0, 0], "{is_asked_between}: {answer}");
        assert_eq!(
            (text_of(&live, &id), fs::read_to_string(&there).unwrap()),
            (text.clone(), text_there.clone())
        );
        // Neither has it.
        forget(&live, &id);
        in_side("memory.forget", json!({ "ids": [id] }));
        in_side("memory.purge", json!({ "ids": [id] }));
        if is_asked_between {
            // Somebody brings back the one of the side.
            fs::write(&there, &text_there).unwrap();
            assert_eq!(in_side("memory.list", json!({}))["total"], 1);
        }
        let answer = restore(&live, &backup);
        assert_eq!(files(&answer), [if is_asked_between { 1 } else { 2 }, 0, 0, 0], "{answer}");
        assert_eq!(text_of(&live, &id), text);
        until("the side has its file, without a question there", || {
            fs::read_to_string(&there).is_ok_and(|there| there == text_there)
        });
        let said = |list: Value| list["memories"][0]["content"].clone();
        assert_eq!(said(in_side("memory.list", json!({}))), "alpha of the side");
        assert_eq!(said(call(&live, "memory.list", json!({}))), "alpha of both");
    }
}

#[test]
fn a_reset_leaves_what_others_have_beside_ones_own() {
    let live = Live::new();
    let id = call(&live, "memory.add", json!({ "content": "mine", "client": "cli" }))["memory"]["id"].clone();
    let id = id.as_str().unwrap().to_owned();
    let shared = add_shared(&live, "shared by me");
    write_file(&live, &id, &file("theirs", ""));
    assert_eq!(listed(&live, &id).len(), 2);
    let (text, backup) = (text_of(&live, &id), back_up(&live));
    reset(&live);
    assert_eq!(text_of(&live, &id), text, "it is not this user's");
    assert_eq!(listed(&live, &id)[0]["content"], "theirs");
    assert!(!path_of(&live, &shared).exists());
    restore(&live, &backup);
    let both: Vec<Value> = listed(&live, &id).iter().map(|memory| memory["content"].clone()).collect();
    assert_eq!(both, ["mine", "theirs"]);
    assert_eq!(text_of(&live, &id), text);
}

#[test]
fn a_backup_gives_no_file_to_what_is_ones_own_and_takes_none() {
    let live = Live::new();
    let id = call(&live, "memory.add", json!({ "content": "mine", "client": "cli" }))["memory"]["id"].clone();
    let id = id.as_str().unwrap().to_owned();
    let backup = back_up(&live);
    call(&live, "memory.update", json!({ "id": id, "content": "mine, later" }));
    write_file(&live, &id, &file("theirs", ""));
    let text = text_of(&live, &id);
    restore(&live, &backup);
    let both: Vec<Value> = listed(&live, &id).iter().map(|memory| memory["content"].clone()).collect();
    assert_eq!(both, ["mine", "theirs"]);
    assert_eq!(text_of(&live, &id), text);
}

#[test]
fn a_conflict_of_git_comes_back_with_both_sides() {
    for (verb, run) in &VERBS[..3] {
        let (live, id) = in_conflict();
        assert_eq!(listed(&live, &id).len(), 2);
        let backup = back_up(&live);
        run(&live, &id);
        assert!(!path_of(&live, &id).exists(), "{verb}");
        assert_eq!(files(&restore(&live, &backup)), [1, 0, 0, 0], "{verb}");
        let said = |side: &Value| (side["conflict"].clone(), side["content"].clone());
        let expected = [(json!("ours"), json!("beta is ours")), (json!("theirs"), json!("gamma is theirs"))];
        assert_eq!(listed(&live, &id).iter().map(said).collect::<Vec<_>>(), expected, "{verb}");
        assert_eq!(complaint(&live, &format!("{id}.md")).unwrap(), "in conflict", "{verb}");
        live.kill();
        live.start();
        assert_eq!(listed(&live, &id).len(), 2, "{verb}: the file says so, too");
        call(&live, "memory.resolve_file", json!({ "id": id, "side": "theirs" }));
        assert_eq!(get(&live, &id)["content"], "gamma is theirs", "{verb}");
    }
}

#[test]
fn a_dry_run_does_not_count_recalls() {
    let live = Live::new();
    let added = call(&live, "memory.add", json!({ "content": "one", "tier": "mid", "client": "cli" }));
    let id = added["memory"]["id"].clone();
    let backup = back_up(&live);
    for _ in 0..10 {
        call(&live, "memory.recall", json!({ "query": "one" }));
    }
    let now = get(&live, id.as_str().unwrap());
    assert_eq!((&now["tier"], &now["priority"]), (&json!("long"), &json!(6)), "{now}");
    let compare =
        || call(&live, "memory.restore_backup", json!({ "path": backup, "dry_run": true }))["differ"].clone();
    assert_eq!(compare(), 0);
    call(&live, "memory.update", json!({ "id": id, "priority": 9 }));
    assert_eq!(compare(), 1, "a priority that was set");
}

#[test]
fn a_dry_run_sees_who_wrote_a_memory_and_its_links() {
    let live = Live::new();
    let [one, other] = ["one", "other"].map(|text| {
        let added = call(&live, "memory.add", json!({ "content": text, "client": "cli" }));
        added["memory"]["id"].as_str().unwrap().to_owned()
    });
    let backup = back_up(&live);
    call(&live, "memory.recall", json!({ "query": "one other" }));
    let compare =
        || call(&live, "memory.restore_backup", json!({ "path": backup, "dry_run": true }))["differ"].clone();
    assert_eq!(compare(), 0, "recalls are no change");
    call(&live, "memory.link", json!({ "from": one, "to": other }));
    assert_ne!(compare(), 0, "a link");
    restore(&live, &backup);
    assert_eq!(compare(), 0);
    let exported = live.sandbox.path("e.jsonl");
    let export = live.memo(&["export", "--out", exported.to_str().unwrap()]).output().unwrap();
    assert!(export.status.success(), "{export:?}");
    reset(&live);
    let import = live.memo(&["import", exported.to_str().unwrap()]).output().unwrap();
    assert!(import.status.success(), "{import:?}");
    assert_eq!(get(&live, &one)["trust"], "import");
    assert_eq!(compare(), 2, "they are an import's now");
    restore(&live, &backup);
    assert_eq!(get(&live, &one)["trust"], "own");
}
