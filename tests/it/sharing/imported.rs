//! Does an import over a shared memory leave its file and its row in agreement?

use serde_json::{Value, json};

use super::{add_shared, file, get, listed, path_of, text_of, write_file};
use crate::live::Live;
use crate::memories::call;

/// Returns what an export has of a memory, changed by `fields` and newer than what is here.
fn newer(live: &Live, id: &str, archived: bool, fields: &Value) -> Value {
    let page = call(live, "memory.export", json!({ "archived": archived }));
    let mut entry =
        page["memories"].as_array().unwrap().iter().find(|memory| memory["id"] == id).unwrap().clone();
    entry["updated"] = json!("2100-01-01T00:00:00.000Z");
    for (name, value) in fields.as_object().unwrap() {
        entry[name] = value.clone();
    }
    entry
}

/// Imports entries, the newer of two holds; returns what became of each.
fn import(live: &Live, entries: &[Value]) -> Vec<Value> {
    let params = json!({ "memories": entries, "merge": true, "own": true, "allow_secret": true });
    call(live, "memory.import", params)["drafts"].as_array().unwrap().clone()
}

#[test]
fn a_newer_text_is_in_the_file() {
    let live = Live::new();
    let id = add_shared(&live, "zebra rule one");
    let entry = newer(&live, &id, false, &json!({ "content": "zebra rule two" }));
    assert_eq!(import(&live, &[entry])[0]["fate"], "updated");
    assert!(text_of(&live, &id).contains("zebra rule two"));
    assert_eq!(listed(&live, &id)[0]["content"], "zebra rule two");
}

#[test]
fn one_that_is_archived_here_comes_back_with_its_file() {
    let live = Live::new();
    let id = add_shared(&live, "zebra rule one");
    let living = newer(&live, &id, false, &json!({ "content": "zebra rule two" }));
    call(&live, "memory.forget", json!({ "ids": [id] }));
    assert_eq!(import(&live, &[living])[0]["fate"], "updated");
    assert_eq!(listed(&live, &id)[0]["content"], "zebra rule two");
    assert!(text_of(&live, &id).contains("zebra rule two"));
    assert_eq!(get(&live, &id)["archived_at"], Value::Null);
}

#[test]
fn one_that_is_archived_there_leaves_no_file() {
    let live = Live::new();
    let id = add_shared(&live, "zebra rule one");
    let ended = json!({ "archived_at": "2100-01-01T00:00:00.000Z", "archived_why": "forgotten" });
    let entry = newer(&live, &id, false, &ended);
    assert_eq!(import(&live, &[entry])[0]["fate"], "updated");
    assert!(!path_of(&live, &id).exists());
    assert_eq!(listed(&live, &id), [] as [Value; 0]);
    let archived = call(&live, "memory.list", json!({ "archived": true }));
    assert_eq!(archived["memories"][0]["id"], json!(id), "{archived}");
    call(&live, "memory.restore", json!({ "ids": [id] }));
    assert!(text_of(&live, &id).contains("zebra rule one"));
}

#[test]
fn one_that_is_archived_on_both_sides_stays_so_with_the_newer_text() {
    let live = Live::new();
    let id = add_shared(&live, "zebra rule one");
    call(&live, "memory.forget", json!({ "ids": [id] }));
    let entry = newer(&live, &id, true, &json!({ "content": "zebra rule two" }));
    assert_eq!(import(&live, &[entry])[0]["fate"], "updated");
    let archived = call(&live, "memory.list", json!({ "archived": true }));
    assert_eq!(archived["memories"][0]["content"], "zebra rule two", "{archived}");
    assert!(listed(&live, &id).is_empty() && !path_of(&live, &id).exists());
    call(&live, "memory.restore", json!({ "ids": [id] }));
    assert!(text_of(&live, &id).contains("zebra rule two"));
}

#[test]
fn an_entry_that_no_file_may_say_is_refused_alone() {
    let live = Live::new();
    let id = add_shared(&live, "zebra rule one");
    let marks = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs";
    for (content, why) in [("key AKIAIOSFODNN7EXAMPLQ here", "credential"), (marks, "conflict markers")] {
        let refused = newer(&live, &id, false, &json!({ "content": content }));
        let beside = [json!({ "content": "maple before" }), refused, json!({ "content": "violet after" })];
        let fates = import(&live, &beside);
        assert_eq!(fates[1]["fate"], "refused", "{fates:?}");
        assert!(fates[1]["why"].as_str().unwrap().contains(why), "{fates:?}");
        assert!([&fates[0], &fates[2]].iter().all(|fate| fate["fate"] != "refused"), "{fates:?}");
    }
    let entry = newer(&live, &id, false, &json!({ "content": "zebra rule two" }));
    let ours = text_of(&live, &id);
    let theirs = file("beta is theirs", "");
    write_file(&live, &id, &format!("<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n"));
    let fates = import(&live, &[entry]);
    assert_eq!(fates[0]["fate"], "refused", "{fates:?}");
    assert!(fates[0]["why"].as_str().unwrap().contains("memo resolve"), "{fates:?}");
    assert_eq!(listed(&live, &id).len(), 2);
}
