//! Does what is removed go, and nothing else?

use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{call, refusal, stop, texts};
use crate::live::{Live, memo, until};

#[test]
fn what_is_shown_is_what_goes() {
    let live = Live::new();
    for (text, tag) in [("one", "a"), ("two", "a"), ("three", "b")] {
        call(&live, "memory.add", json!({ "content": text, "tags": [tag] }));
    }
    let shown = call(&live, "memory.forget", json!({ "tags": ["a"], "dry_run": true }));
    assert_eq!(shown["memories"].as_array().unwrap().len(), 2);
    assert_eq!(texts(&live).len(), 3, "a dry run changes nothing");
    call(&live, "memory.add", json!({ "content": "four", "tags": ["a"] }));
    let params = json!({ "cwd": live.root(), "tags": ["a"], "expect": shown["digest"] });
    let error = live.rpc().call("memory.forget", &params).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("changed since they were shown"), "{error}");
    assert_eq!(texts(&live).len(), 4);
    let shown = call(&live, "memory.forget", json!({ "tags": ["a"], "dry_run": true }));
    let gone = call(&live, "memory.forget", json!({ "tags": ["a"], "expect": shown["digest"] }));
    assert_eq!(gone["memories"], shown["memories"]);
    assert_eq!(texts(&live), ["three"]);
    let archived = call(&live, "memory.list", json!({ "archived": true }));
    assert_eq!(archived["total"], 3);
    let id = archived["memories"][0]["id"].clone();
    call(&live, "memory.restore", json!({ "ids": [id] }));
    assert_eq!(texts(&live).len(), 2);
    for mistyped in [json!({}), json!({ "tag": "zzz" }), json!({ "tags": ["b"] })] {
        let said = refusal(&live, "memory.purge", mistyped.clone());
        assert!(said.contains("only memories that were shown"), "{mistyped}: {said}");
    }
    let shown = call(&live, "memory.purge", json!({ "dry_run": true }));
    let gone = call(&live, "memory.purge", json!({ "expect": shown["digest"] }));
    assert_eq!(gone["memories"].as_array().unwrap().len(), 2);
    assert_eq!(call(&live, "memory.stats", json!({}))["archived"], 0);
}

#[test]
fn a_period_and_an_author_select_as_they_do_in_a_search() {
    let live = Live::new();
    let lines = [
        json!({ "content": "oldest fact", "created": "2026-01-01T00:00:00Z", "author": "Ann <ann@example.org>" }),
        json!({ "content": "newer fact", "created": "2026-03-01T00:00:00Z", "author": "Ann <ann@example.org>" }),
        json!({ "content": "newest fact", "created": "2026-03-02T00:00:00Z", "author": "Bob <bob@example.org>" }),
    ];
    live.write("facts.jsonl", lines.map(|line| format!("{line}\n")).concat());
    assert_eq!(memo(&live, &["import", "facts.jsonl"]).0, 0);
    let conditions: [(&[&str], &[&str]); 6] = [
        (&["--since", "2026-02-01T00:00:00Z"], &["newer fact", "newest fact"]),
        (&["--until", "2026-02-01T00:00:00Z"], &["oldest fact"]),
        (&["--before", "2026-02-01T00:00:00Z"], &["oldest fact"]),
        (&["--since", "2026-02-01T00:00:00Z", "--until", "2026-03-02T00:00:00Z"], &["newer fact"]),
        (&["--author", "ANN"], &["newer fact", "oldest fact"]),
        (&["--author", "ann", "--since", "2026-02-01T00:00:00Z"], &["newer fact"]),
    ];
    let sorted = |mut texts: Vec<String>| {
        texts.sort();
        texts
    };
    let texts_of = |answer: &serde_json::Value, list: &str, key: &str| {
        let rows = answer[list].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
        sorted(rows.map(|row| row[key].as_str().unwrap().to_owned()).collect())
    };
    for (condition, expected) in conditions {
        let run = |verb: &[&str]| memo(&live, &[verb, condition].concat());
        let listed = texts_of(&run(&["list", "--all"]).1, "memories", "content");
        assert_eq!(listed, expected, "list {condition:?}");
        assert_eq!(texts_of(&run(&["forget", "--dry-run"]).1, "memories", "line"), expected, "{condition:?}");
        let exported = live.memo(&[&["export"], condition].concat()).output().unwrap().stdout;
        let exported = String::from_utf8(exported).unwrap();
        let lines = exported.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let exported = lines.filter_map(|line| Some(line["memory"]["content"].as_str()?.to_owned()));
        assert_eq!(sorted(exported.collect()), expected, "export {condition:?}");
        if !condition.contains(&"--before") {
            let found = run(&["search", "fact", "--kind", "memory"]).1;
            assert_eq!(texts_of(&found, "hits", "snippet"), expected, "search {condition:?}");
        }
    }
    let (exit, refused) = memo(&live, &["list", "--since", "soon"]);
    assert_eq!((exit, &refused["error"]["message"]), (2, &json!("since: \"soon\" is not a time")));
    assert_eq!(call(&live, "memory.list", json!({ "before": "2026-02-01" }))["total"], 1, "its other name");
    let (exit, _) = memo(&live, &["forget", "--yes", "--since", "2026-02-01T00:00:00Z"]);
    assert_eq!((exit, texts(&live)), (0, vec!["oldest fact".to_owned()]));
    let archived = |end: &str| memo(&live, &["list", "--archived", end, "1h"]).1["total"].clone();
    assert_eq!([archived("--since"), archived("--until")], [json!(2), json!(0)], "archived just now");
}

#[test]
fn what_is_purged_is_in_copies_alone() {
    let live = Live::new();
    let planted = json!({ "content": "plantedpurge", "title": "plantedpurge", "tags": ["plantedpurge"],
        "container": "plantedpurge", "metadata": { "plantedpurge": "plantedpurge" }, "request": "r" });
    let id = call(&live, "memory.add", planted)["memory"]["id"].clone();
    call(&live, "memory.update", json!({ "id": id, "content": "plantedpurge again", "request": "u" }));
    call(&live, "memory.add", json!({ "content": "plantedstays" }));
    call(&live, "memory.forget", json!({ "match": "plantedpurge", "request": "f" }));
    let shown = call(&live, "memory.purge", json!({ "dry_run": true }));
    let purge = json!({ "request": "p", "expect": shown["digest"] });
    let purged = call(&live, "memory.purge", purge.clone());
    assert_eq!(purged["memories"][0]["line"], "plantedpurge", "who asked is told what went");
    assert_eq!(found_in_state(&live, "plantedp"), "", "while the daemon runs");
    let again = call(&live, "memory.purge", purge);
    assert_eq!((&again["memories"], &again["digest"]), (&json!([{ "id": id }]), &purged["digest"]));
    stop(&live);
    assert_eq!(found_in_state(&live, "plantedp"), "", "after it has ended");
    assert_eq!(texts(&live), ["plantedstays"]);
    let (exit, _) = memo(&live, &["reset", "--yes"]);
    assert_eq!((exit, found_in_state(&live, "plantedst").as_str()), (0, ""));
}

/// Returns the files of the state dir that have a word, without the backups.
fn found_in_state(live: &Live, word: &str) -> String {
    let state = live.layout().state_dir;
    let found = Command::new("grep").args(["-arl", "--exclude-dir=backups", word]).arg(&state).output();
    String::from_utf8(found.unwrap().stdout).unwrap()
}

#[test]
fn a_reset_deletes_what_it_showed_and_keeps_a_backup() {
    let live = Live::new();
    call(&live, "memory.add", json!({ "content": "old" }));
    call(&live, "memory.forget", json!({ "match": "old" }));
    call(&live, "memory.add", json!({ "content": "new", "tier": "short" }));
    assert_eq!(memo(&live, &["reset"]).0, 2, "nobody can be asked here");
    let lines = |answer: &serde_json::Value| {
        let memories = answer["memories"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
        memories.map(|memory| memory["line"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let shown = memo(&live, &["reset", "--dry-run"]).1;
    assert_eq!(
        (lines(&shown), texts(&live)),
        (vec!["new".to_owned(), "old".to_owned()], vec!["new".to_owned()])
    );
    assert_eq!(shown.get("backup"), None);

    let error = refusal(&live, "memory.reset", json!({}));
    assert!(error.contains("only memories that were shown are deleted"), "{error}");
    call(&live, "memory.add", json!({ "content": "newer" }));
    let error = refusal(&live, "memory.reset", json!({ "expect": shown["digest"] }));
    assert!(error.contains("have changed since they were shown"), "{error}");
    let error = refusal(&live, "memory.reset", json!({ "tags": ["x"] }));
    assert!(error.contains("reset removes all"), "{error}");
    call(&live, "memory.add", json!({ "content": "newer", "request": "taken" }));
    let shown = call(&live, "memory.reset", json!({ "dry_run": true }));
    let error = refusal(&live, "memory.reset", json!({ "expect": shown["digest"], "request": "taken" }));
    assert!(error.contains("is the name of another request"), "{error}");
    assert_eq!((texts(&live), reset_backups(&live)), (vec!["new".to_owned(), "newer".to_owned()], vec![]));

    let again = json!({ "expect": shown["digest"], "request": "r" });
    let done = call(&live, "memory.reset", again.clone());
    assert_eq!(
        (lines(&done).len(), call(&live, "memory.stats", json!({}))["archived"].clone()),
        (3, json!(0))
    );
    let repeated = call(&live, "memory.reset", again);
    assert_eq!(
        (&repeated["digest"], &repeated["backup"]),
        (&done["digest"], &done["backup"]),
        "a request that comes again does nothing more"
    );
    assert_eq!(memo(&live, &["reset", "--yes"]).0, 1, "there are none");
    assert_eq!(reset_backups(&live).len(), 1, "nor is a backup made of none");
    call(&live, "memory.add", json!({ "content": "after it" }));
    for _ in 0..8 {
        assert_eq!(memo(&live, &["backup"]).0, 0); // of these only seven are kept
    }
    assert_eq!(memo(&live, &["restore-backup", done["backup"].as_str().unwrap(), "--yes"]).0, 0);
    assert_eq!(texts(&live), ["new", "newer"]);
}

/// Returns the names of the backups that resets have made, in order.
fn reset_backups(live: &Live) -> Vec<String> {
    let entries = std::fs::read_dir(live.layout().state_dir.join("backups")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.contains("-reset")).collect();
    names.sort();
    names
}

#[test]
fn the_last_seven_backups_of_resets_are_kept() {
    let live = Live::new();
    let mut made = Vec::new();
    for number in 0..8 {
        call(&live, "memory.add", json!({ "content": format!("number {number}") }));
        let (exit, done) = memo(&live, &["reset", "--yes"]);
        assert_eq!((exit, &done["dry_run"]), (0, &json!(false)), "{done}");
        let name = Path::new(done["backup"].as_str().unwrap()).file_name().unwrap();
        made.push(name.to_str().unwrap().to_owned());
    }
    made.remove(0);
    made.sort();
    assert_eq!(reset_backups(&live), made);

    call(&live, "memory.add", json!({ "content": "stays" }));
    // From now on no memory can be deleted.
    rusqlite::Connection::open(super::db(&live))
        .unwrap()
        .execute_batch(
            "CREATE TRIGGER stays BEFORE DELETE ON memory BEGIN SELECT RAISE(ABORT, 'it stays'); END",
        )
        .unwrap();
    let (exit, failed) = memo(&live, &["reset", "--yes"]);
    assert!(exit > 1 && failed.to_string().contains("it stays"), "{exit} {failed}");
    assert_eq!((texts(&live), reset_backups(&live)), (vec!["stays".to_owned()], made));
}

#[test]
fn what_is_over_is_archived_by_whoever_asks() {
    let live = Live::new();
    call(&live, "memory.add", json!({ "content": "stays" }));
    let added = call(&live, "memory.add", json!({ "content": "goes", "ttl": "10ms" }));
    until("it is over", || texts(&live) == ["stays"]);
    let archived = call(&live, "memory.list", json!({ "archived": true }));
    assert_eq!(archived["memories"][0]["archived_why"], "expired");
    call(&live, "memory.add", json!({ "content": "goes", "ttl": "1h" }));
    let history = call(&live, "memory.history", json!({ "ids": [added["memory"]["id"]] }));
    assert_eq!(history["changes"][1]["action"], "expire");
    let params = json!({ "cwd": live.root(), "ids": [added["memory"]["id"]] });
    let error = live.rpc().call("memory.restore", &params).unwrap_err();
    assert!(error["message"].as_str().unwrap().contains("has this text"), "{error}");
}

#[test]
fn what_is_over_is_deleted_where_that_is_wanted() {
    let live = Live::idle();
    let config = live.layout().config_file();
    std::fs::write(config, "[memory]\non_expiry = \"purge\"\n").unwrap();
    live.start();
    let stays = call(&live, "memory.add", json!({ "content": "stays", "request": "r1" }));
    let goes = call(&live, "memory.add", json!({ "content": "plantedend", "ttl": "300ms", "request": "r2" }));
    let (from, to) = (&stays["memory"]["id"], &goes["memory"]["id"]);
    call(&live, "memory.link", json!({ "from": from, "to": to }));
    until("it is over", || texts(&live) == ["stays"]);
    assert_eq!(call(&live, "memory.list", json!({ "archived": true }))["total"], 0);
    let history = call(&live, "memory.history", json!({ "ids": [from] }))["changes"].clone();
    assert_eq!(history[2]["fields"], json!({ "related_to": [to, null] }), "{history}");
    let again = call(&live, "memory.add", json!({ "content": "stays", "request": "r1" }));
    assert_eq!(again, stays, "what was asked before is still known");
    assert_eq!(found_in_state(&live, "plantedend"), "", "while the daemon runs");
    stop(&live);
    assert_eq!(found_in_state(&live, "plantedend"), "", "after it has ended");
}

#[test]
fn the_latest_backup_after_a_reset_brings_everything_back() {
    let live = Live::new();
    call(&live, "memory.add", json!({ "content": "one" }));
    assert_eq!(memo(&live, &["reset", "--yes"]).0, 0);
    stop(&live); // makes the copy of the day, of nothing
    live.start();
    let names = std::fs::read_dir(live.layout().state_dir.join("backups")).unwrap();
    let is_daily = |name: String| !name.contains("-reset") && name.ends_with(".db");
    assert!(names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).any(is_daily));
    let (exit, restored) = memo(&live, &["restore-backup", "latest", "--yes"]);
    assert_eq!((exit, texts(&live)), (0, vec!["one".to_owned()]), "{restored}");
}

/// Each memory that goes moves the others to earlier places.
#[test]
fn a_list_of_all_has_what_stays_while_others_go() {
    let live = Live::new();
    for part in 0..2 {
        let draft = |number: i32| json!({ "content": format!("entry {part} {number}") });
        call(&live, "memory.import", json!({ "drafts": (0..900).map(draft).collect::<Vec<_>>() }));
    }
    let ids = || -> Vec<String> {
        let output = live.memo(&["list", "--all", "--fields", "id"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    };
    let all = ids();
    assert_eq!(all.len(), 1_800);
    let (go, stay) = all.split_at(300);
    let (mut client, cwd) = (live.connect(), live.root());
    std::thread::scope(|scope| {
        let forgetting = scope.spawn(move || {
            for id in go {
                client.call("memory.forget", &json!({ "cwd": cwd, "ids": [id] })).unwrap();
            }
        });
        let mut n_lists = 0;
        while !forgetting.is_finished() || n_lists == 0 {
            let listed: HashSet<String> = ids().into_iter().collect();
            let missing: Vec<&String> = stay.iter().filter(|id| !listed.contains(*id)).collect();
            assert!(missing.is_empty(), "{} of {} are missing", missing.len(), stay.len());
            n_lists += 1;
        }
    });
}
