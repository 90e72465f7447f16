//! Is what is one person's alone never changed by what comes from outside, through whatever door?
//!
//! Ann and Bob have the same memory, each for themselves: Bob has imported it. Bob has changed his; then what Ann says comes in.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};

use super::{Exchange as _, Files, Team};
use crate::live::Live;

const OF_ANN: &str = "of ann, who has shared it";
const OF_BOB: &str = "of bob alone";

/// What becomes of Bob's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Both texts are shown, and doctor says so.
    Conflict,
    /// Only Bob's is there, and the door says why.
    Refused,
    /// Ann's is there, because Bob has asked for that; his is in the history.
    Replaced,
}

/// How Bob keeps his memory to himself.
const KINDS: [&str; 3] = ["never shared", "taken back", "in the archive"];

fn run(live: &Live, args: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = live.memo(args).output().unwrap();
    (status.code(), [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat())
}

/// Gives Bob what Ann has, and has each change it.
fn prepare(ann: &Live, bob: &Live, kind: &str) -> String {
    let text = format!("of both, {kind}, {}", bob.root().display());
    let id = super::add(ann, json!({ "content": text, "client": "cli" }));
    // Of the kinds before, what Bob has differs, and is refused.
    run(bob, &["import", "--own", export(ann, bob).to_str().unwrap()]);
    assert_eq!(bob.call("memory.get", json!({ "ids": [id] }))["memories"][0]["content"], json!(text));
    if kind == "taken back" {
        bob.call("memory.share", json!({ "ids": [id] }));
        bob.call("memory.unshare", json!({ "ids": [id] }));
    }
    bob.call("memory.update", json!({ "id": id, "content": format!("{OF_BOB}, {kind}"), "client": "cli" }));
    if kind == "in the archive" {
        bob.call("memory.forget", json!({ "ids": [id] }));
    }
    ann.call("memory.update", json!({ "id": id, "content": format!("{OF_ANN}, {kind}"), "client": "cli" }));
    id
}

/// Writes what Ann has to a file of Bob's.
fn export(ann: &Live, bob: &Live) -> PathBuf {
    let path = bob.sandbox.path("home/of_ann.jsonl");
    fs::write(&path, ann.memo(&["export"]).output().unwrap().stdout).unwrap();
    path
}

/// Returns the texts of a memory, in the archive or not.
fn texts(live: &Live, id: &str, archived: bool) -> Vec<String> {
    let list = live.call("memory.list", json!({ "limit": 1000, "archived": archived }));
    let of_it = list["memories"].as_array().unwrap().iter().filter(|memory| memory["id"] == id);
    of_it.map(|memory| memory["content"].as_str().unwrap().to_owned()).collect()
}

fn check(bob: &Live, id: &str, kind: &str, fate: Fate, door: &str) {
    let own = format!("{OF_BOB}, {kind}");
    let history = bob.call("memory.history", json!({ "ids": [id] }))["changes"].to_string();
    let is_archived = kind == "in the archive";
    let living = texts(bob, id, false);
    let is_told = bob.call("doctor", json!({}))["checks"].to_string().contains(id);
    let case = format!("{door}, {kind}: {living:?}");
    match fate {
        Fate::Replaced => assert!(history.contains(&own), "{case}: {history}"),
        // What is in the archive stays there, and what others say may be shown.
        _ if is_archived => assert_eq!(texts(bob, id, true), [own], "{case}"),
        Fate::Refused => assert_eq!(living, [own], "{case}"),
        Fate::Conflict => {
            assert!(living.len() == 2 && living.contains(&own) && is_told, "{case}");
            let trusted = bob.call("memory.get", json!({ "ids": [id] }))["memories"][0].clone();
            assert_eq!((&trusted["content"], &trusted["trust"]), (&json!(own), &json!("own")), "{case}");
            let (code, said) = run(bob, &["resolve", id, "--both"]);
            assert_eq!(code, Some(0), "{case}: {said}");
            assert_eq!(texts(bob, id, false), [format!("{OF_ANN}, {kind}")], "{case}");
            let all = bob.call("memory.list", json!({ "limit": 1000 })).to_string();
            assert!(all.contains(&own), "{case}: {all}");
        }
    }
}

#[test]
fn files_and_notes_do_not_change_what_is_ones_own() {
    let files = Files::new();
    let [ann, bob] = files.people();
    for kind in KINDS {
        let id = prepare(ann, bob, kind);
        ann.call("memory.share", json!({ "ids": [id] }));
        Files::commit(ann);
        ann.git(&["push", "-q", "origin", "main"]);
        assert!(Files::pull(bob));
        check(bob, &id, kind, Fate::Conflict, "a pull");
        files.settle();
    }
    let files = Files::new();
    let [ann, bob] = files.people();
    for kind in KINDS {
        let id = prepare(ann, bob, kind);
        ann.call("memory.share", json!({ "ids": [id] }));
        for live in [ann, bob] {
            let (code, said) = run(live, &["sync-notes"]);
            assert_eq!(code, Some(0), "{kind}: {said}");
        }
        check(bob, &id, kind, Fate::Conflict, "sync-notes");
        // That Bob has one of his own does not take Ann's away from her.
        assert_eq!(run(bob, &["sync-notes"]).0, Some(0));
        assert_eq!(run(ann, &["sync-notes"]).0, Some(0));
        assert_eq!(texts(ann, &id, false), [format!("{OF_ANN}, {kind}")]);
    }
}

#[test]
fn members_of_a_team_do_not_change_what_is_ones_own() {
    let Some(team) = Team::new() else { return };
    let [ann, bob] = team.people();
    for kind in KINDS {
        let id = prepare(ann, bob, kind);
        ann.call("memory.share", json!({ "ids": [id], "team": true }));
        team.members.iter().for_each(|member| drop(member.sync()));
        check(bob, &id, kind, Fate::Conflict, "a team");
        team.settle();
        assert_eq!(texts(ann, &id, false), [format!("{OF_ANN}, {kind}")]);
    }
}

#[test]
fn each_outcome_with_a_team_reaches_both() {
    let Some(team) = Team::new() else { return };
    let [ann, bob] = team.people();
    let (own, of_ann) = (format!("{OF_BOB}, {}", KINDS[0]), format!("{OF_ANN}, {}", KINDS[0]));
    let outcomes: [(&[&str], &str); 3] =
        [(&["--ours"], &own), (&["--theirs"], &of_ann), (&["--text", "of both of them"], "of both of them")];
    for (option, outcome) in outcomes {
        let id = prepare(ann, bob, KINDS[0]);
        ann.call("memory.share", json!({ "ids": [id], "team": true }));
        team.members.iter().for_each(|member| drop(member.sync()));
        assert_eq!(texts(bob, &id, false).len(), 2);
        let (code, said) = run(bob, &[&["resolve", id.as_str()], option].concat());
        assert_eq!(code, Some(0), "{option:?}: {said}");
        team.settle();
        for live in [ann, bob] {
            assert_eq!(texts(live, &id, false), [outcome], "{option:?}");
        }
        bob.call("memory.forget", json!({ "ids": [id] }));
        team.settle();
    }
}

#[test]
fn an_import_changes_what_is_ones_own_only_when_it_is_asked_to() {
    let [ann, bob] = [Live::new(), Live::new()];
    for kind in KINDS {
        let id = prepare(&ann, &bob, kind);
        let path = export(&ann, &bob);
        let path = path.to_str().unwrap();
        for own in [&[][..], &["--own"]] {
            let (code, said) = run(&bob, &[&["import", path], own].concat());
            assert!(code == Some(1) && said.contains("--merge keeps the newer"), "{kind}: {code:?} {said}");
            check(&bob, &id, kind, Fate::Refused, "an import");
        }
        let (code, said) = run(&bob, &["import", "--merge", path]);
        assert!(code == Some(0), "{kind}: {code:?} {said}");
        check(&bob, &id, kind, Fate::Replaced, "an import that merges");
    }
}

#[test]
fn who_asks_for_a_change_gets_it_with_a_history() {
    let live = Live::new();
    for (client, agent, source) in
        [("cli", None, "cli"), ("api", None, "cli"), ("mcp", Some("reviewer"), "agent")]
    {
        let id = super::add(&live, json!({ "content": format!("{OF_BOB}, by {client}"), "client": "cli" }));
        let update = json!({ "id": id, "content": format!("changed by {client}"), "client": client, "agent_name": agent });
        live.call("memory.update", update);
        let now = live.call("memory.get", json!({ "ids": [id] }))["memories"][0].clone();
        assert_eq!(
            (&now["content"], &now["source"]),
            (&json!(format!("changed by {client}")), &json!(source))
        );
        let history: Value = live.call("memory.history", json!({ "ids": [id] }))["changes"].clone();
        assert!(history.to_string().contains(&format!("{OF_BOB}, by {client}")), "{history}");
    }
    // A backup replaces everything, after a copy of what was here.
    let id = super::add(&live, json!({ "content": "in the backup", "client": "cli" }));
    let backup = live.call("memory.backup", json!({}))["path"].clone();
    live.call("memory.update", json!({ "id": id, "content": "written since", "client": "cli" }));
    let restored = live.call("memory.restore_backup", json!({ "path": backup }));
    assert_eq!(texts(&live, &id, false), ["in the backup"]);
    live.call("memory.restore_backup", json!({ "path": restored["kept"] }));
    assert_eq!(texts(&live, &id, false), ["written since"]);
}
