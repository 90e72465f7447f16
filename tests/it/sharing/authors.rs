//! Is what two people change in a branch booked on who changed it, and is what one wrote here always one's own side?

use std::fs;

use serde_json::{Value, json};

use super::{add_shared, get, listed, path_of, text_of};
use crate::live::Live;
use crate::memories::call;

/// Returns two people with a clone each of one repository, and the id of a memory that Ann has shared and pushed.
fn two_clones() -> (tempfile::TempDir, [Live; 2], String) {
    let remote = tempfile::tempdir().unwrap();
    let url = remote.path().join("remote.git");
    let people = [Live::new(), Live::new()];
    people[0].sh(&format!("git init -q --bare {}", url.display()));
    for (live, name) in people.iter().zip(["Ann", "Bob"]) {
        live.git(&["config", "user.name", name]);
        live.git(&["config", "user.email", &format!("{}@example.org", name.to_lowercase())]);
        live.git(&["remote", "add", "origin", url.to_str().unwrap()]);
    }
    let [ann, bob] = people;
    let id = add_shared(&ann, "alpha is first");
    push(&ann);
    bob.sh("git fetch -q; git reset -q --hard origin/main");
    assert_eq!(listed(&bob, &id).len(), 1);
    (remote, [ann, bob], id)
}

fn push(live: &Live) {
    live.commit_all();
    live.git(&["push", "-q", "origin", "HEAD:main"]);
}

fn edit(live: &Live, id: &str, text: &str) {
    let former = text_of(live, id);
    let (head, _) = former.rsplit_once("---\n\n").unwrap();
    fs::write(path_of(live, id), format!("{head}---\n\n{text}\n")).unwrap();
}

/// Returns the last change in the history of a memory.
fn last_change(live: &Live, id: &str) -> Value {
    let history = call(live, "memory.history", json!({ "ids": [id] }));
    history["changes"].as_array().unwrap().last().unwrap().clone()
}

#[test]
fn a_change_in_a_file_is_booked_on_who_committed_it() {
    let (_remote, [ann, bob], id) = two_clones();
    edit(&bob, &id, "alpha is Bob's");
    let change = last_change(&bob, &id);
    assert_eq!([&change["action"], &change["author"]], ["update", "whoever edited the file"], "{change}");
    assert_eq!(get(&bob, &id)["trust"], "repo", "as the history says");
    push(&bob);
    ann.sh("git fetch -q; git merge -q origin/main");
    assert_eq!(get(&ann, &id)["content"], "alpha is Bob's");
    let change = last_change(&ann, &id);
    assert_eq!([&change["author"], &change["source"]], ["Bob <bob@example.org>", "repo"], "{change}");
    assert_eq!(get(&ann, &id)["trust"], "repo");
    assert_eq!(get(&ann, &id)["author"], get(&bob, &id)["author"], "who has added it is in the file");
}

#[test]
fn during_a_rebase_what_was_written_here_is_ours() {
    for choice in ["--ours", "--theirs"] {
        let (_remote, [ann, bob], id) = two_clones();
        ann.call("memory.update", json!({ "id": id, "content": "alpha is Ann's", "client": "cli" }));
        push(&ann);
        bob.call("memory.update", json!({ "id": id, "content": "alpha is Bob's", "client": "cli" }));
        bob.commit_all();
        let pulled = bob.git_may_fail(&["pull", "-q", "--rebase", "origin", "main"]);
        assert!(!pulled.status.success(), "{pulled:?}");
        let sides: Vec<_> = listed(&bob, &id)
            .iter()
            .map(|side| [&side["conflict"], &side["content"]].map(Value::clone))
            .collect();
        assert_eq!(
            sides,
            [[json!("ours"), json!("alpha is Bob's")], [json!("theirs"), json!("alpha is Ann's")]]
        );
        let said = bob.memo(&["resolve", &id, choice]).output().unwrap();
        assert!(said.status.success(), "{said:?}");
        let expected = if choice == "--ours" { "alpha is Bob's" } else { "alpha is Ann's" };
        assert_eq!(get(&bob, &id)["content"], expected);
        let change = last_change(&bob, &id);
        assert_eq!([&change["action"], &change["source"]], ["resolve", "cli"], "{change}");
        assert!(change["author"].as_str().unwrap().starts_with("Bob"), "{change}");
        bob.git(&["add", "-A"]);
        let _ = bob.git_may_fail(&["-c", "core.editor=true", "rebase", "--continue"]);
        assert_eq!(get(&bob, &id)["content"], expected);
    }
}

#[test]
fn sides_turn_when_the_rebase_ends_without_a_choice() {
    let (_remote, [ann, bob], id) = two_clones();
    ann.call("memory.update", json!({ "id": id, "content": "alpha is Ann's", "client": "cli" }));
    push(&ann);
    bob.call("memory.update", json!({ "id": id, "content": "alpha is Bob's", "client": "cli" }));
    bob.commit_all();
    bob.git_may_fail(&["pull", "-q", "--rebase", "origin", "main"]);
    assert_eq!(listed(&bob, &id)[0]["content"], "alpha is Bob's");
    // With the markers in it, as somebody in a hurry does.
    bob.git(&["add", "-A"]);
    bob.git(&["-c", "core.editor=true", "rebase", "--continue"]);
    let shown = listed(&bob, &id);
    bob.call("memory.resolve_file", json!({ "id": id, "side": "ours", "client": "cli" }));
    assert_eq!(get(&bob, &id)["content"], shown[0]["content"], "what was shown as ours is what holds");
}

#[test]
fn what_was_stashed_here_is_ours() {
    let (_remote, [ann, bob], id) = two_clones();
    ann.call("memory.update", json!({ "id": id, "content": "alpha is Ann's", "client": "cli" }));
    push(&ann);
    bob.call("memory.update", json!({ "id": id, "content": "alpha is Bob's", "client": "cli" }));
    bob.sh("git stash -q; git pull -q --rebase origin main; git stash pop -q || true");
    let sides: Vec<_> = listed(&bob, &id).iter().map(|side| side["content"].clone()).collect();
    assert_eq!(sides, ["alpha is Bob's", "alpha is Ann's"]);
}
