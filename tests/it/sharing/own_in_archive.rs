//! Does nothing that was written get lost where a verb makes two texts under one id one?

use serde_json::{Value, json};

use super::{add_shared, complaint, file, get, listed, path_of, text_of, write_file};
use crate::live::{Live, memo};
use crate::memories::{add, call, refusal};

/// Returns a repository with a memory of this user in the archive, `alpha is mine`, and a file under its id, `beta is theirs`.
fn archived_beside_file() -> (Live, String) {
    let live = Live::new();
    let id = add(&live, "alpha is mine");
    call(&live, "memory.forget", json!({ "ids": [id] }));
    write_file(&live, &id, &file("beta is theirs", ""));
    assert_eq!(texts(&live, false), ["beta is theirs"]);
    (live, id)
}

/// Returns the texts that are listed, sorted.
fn texts(live: &Live, archived: bool) -> Vec<String> {
    let list = call(live, "memory.list", json!({ "archived": archived }));
    let memories = list["memories"].as_array().unwrap().iter();
    let mut texts: Vec<String> =
        memories.map(|memory| memory["content"].as_str().unwrap().to_owned()).collect();
    texts.sort();
    texts
}

fn history(live: &Live, id: &str) -> String {
    call(live, "memory.history", json!({ "ids": [id] }))["changes"].to_string()
}

/// Returns what a verb prints for people.
fn said(live: &Live, args: &[&str]) -> String {
    let output = live.memo(args).output().unwrap();
    [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat()
}

#[test]
fn what_is_taken_out_of_the_files_does_not_replace_what_is_in_the_archive() {
    let (live, id) = archived_beside_file();
    let before = (texts(&live, false), texts(&live, true));
    for method in ["memory.unshare", "memory.forget"] {
        let dry = call(&live, method, json!({ "ids": [id], "dry_run": true }));
        let told = dry["notice"].as_str().unwrap();
        assert!(told.contains(&format!("your archived version of {id} would get a new id")), "{dry}");
        assert_eq!(told.matches("mem_").count(), 1, "the new id is not known yet: {dry}");
        assert_eq!((texts(&live, false), texts(&live, true)), before, "{method}");
    }
    let unshared = call(&live, "memory.unshare", json!({ "ids": [id] }));
    assert!(
        unshared["notice"].as_str().unwrap().contains(&format!("your archived version of {id}")),
        "{unshared}"
    );
    assert_eq!(texts(&live, false), ["beta is theirs"]);
    assert_eq!(texts(&live, true), ["alpha is mine"]);
    assert!(get(&live, &id)["shared"] == false && !path_of(&live, &id).exists());

    let (live, id) = archived_beside_file();
    let dry = call(&live, "memory.forget", json!({ "ids": [id], "dry_run": true }));
    assert_eq!(dry["memories"].as_array().unwrap().len(), 1);
    let forgotten = call(&live, "memory.forget", json!({ "ids": [id] }));
    assert!(
        forgotten["notice"].as_str().unwrap().contains(&format!("your archived version of {id}")),
        "{forgotten}"
    );
    assert_eq!((texts(&live, false).len(), texts(&live, true)), (0, both()));
    call(&live, "memory.purge", json!({ "ids": [id] }));
    assert_eq!(texts(&live, true), ["alpha is mine"]);

    // A merge archives, too.
    let (live, id) = archived_beside_file();
    let kept = add(&live, "gamma stays");
    call(&live, "memory.merge", json!({ "keep": kept, "ids": [id] }));
    assert_eq!(texts(&live, true), both());
}

fn both() -> Vec<String> {
    vec!["alpha is mine".to_owned(), "beta is theirs".to_owned()]
}

#[test]
fn a_file_of_all_memories_has_both_of_one_id() {
    let (live, id) = archived_beside_file();
    let both = said(&live, &["export", "--archived"]);
    assert!(both.contains("alpha is mine") && both.contains("beta is theirs"), "{both}");
    assert!(both.contains("2 memories and 0 links exported"), "{both}");
    assert_eq!(both.matches(&format!("\"id\":\"{id}\"")).count(), 2, "{both}");
    let kept = live.sandbox.path("kept.jsonl");
    let told = said(&live, &["uninstall", "--yes", "--keep-setup", "--export", kept.to_str().unwrap()]);
    let kept = std::fs::read_to_string(kept).unwrap_or(told);
    assert!(kept.contains("alpha is mine") && kept.contains("beta is theirs"), "{kept}");
}

#[test]
fn an_export_has_what_a_file_says_beside_the_archive() {
    let (live, id) = archived_beside_file();
    let exported = call(&live, "memory.export", json!({}));
    assert_eq!(exported["memories"][0]["content"], "beta is theirs", "{exported}");
    let archived = call(&live, "memory.export", json!({ "archived": true }));
    assert_eq!(archived["memories"][0]["content"], "alpha is mine", "{archived}");
    // A page of an export is a body of an import.
    let other = Live::new();
    let imported = call(&other, "memory.import", exported);
    assert_eq!(imported["drafts"][0]["fate"], "added", "{imported}");
    assert_eq!(get(&other, &id)["content"], "beta is theirs");
    assert!(refusal(&other, "memory.import", json!({ "memoires": [] })).contains("drafts: missing"));
}

/// Returns a repository with a memory whose file is in conflict in git: `beta` here, `gamma` there.
fn in_conflict_of_git() -> (Live, String) {
    let live = Live::new();
    let id = add_shared(&live, "alpha was before");
    let front = text_of(&live, &id).strip_suffix("alpha was before\n").unwrap().to_owned();
    write_file(
        &live,
        &id,
        &format!("{front}<<<<<<< HEAD\nbeta is ours\n=======\ngamma is theirs\n>>>>>>> side\n"),
    );
    assert_eq!(listed(&live, &id).len(), 2);
    (live, id)
}

#[test]
fn what_the_other_side_of_a_conflict_said_is_in_the_history() {
    let (live, id) = in_conflict_of_git();
    assert_eq!(memo(&live, &["resolve", &id, "--ours"]).0, 0);
    assert!(history(&live, &id).contains("gamma is theirs"), "{}", history(&live, &id));
    let (live, id) = in_conflict_of_git();
    assert_eq!(memo(&live, &["resolve", &id, "--text", "delta is both"]).0, 0);
    assert!(["beta is ours", "gamma is theirs"].iter().all(|text| history(&live, &id).contains(text)));
    let (live, id) = in_conflict_of_git();
    call(&live, "memory.forget", json!({ "ids": [id] }));
    assert!(["beta is ours", "gamma is theirs"].iter().all(|text| history(&live, &id).contains(text)));
    // Also where one side is this user's alone.
    let live = Live::new();
    let id = add(&live, "alpha is mine");
    write_file(&live, &id, &file("beta is theirs", ""));
    assert_eq!(memo(&live, &["resolve", &id, "--ours"]).0, 0);
    assert!(history(&live, &id).contains("beta is theirs"), "{}", history(&live, &id));
}

#[test]
fn another_worktree_may_take_out_what_is_in_conflict_here() {
    let live = Live::new();
    let id = add_shared(&live, "alpha was before");
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
    let side = live.sandbox.path("side");
    live.call_in(&side, "memory.list", json!({}));
    let front = text_of(&live, &id).strip_suffix("alpha was before\n").unwrap().to_owned();
    write_file(&live, &id, &format!("{front}<<<<<<< HEAD\nbeta\n=======\ngamma\n>>>>>>> side\n"));
    assert_eq!(listed(&live, &id).len(), 2);
    live.call_in(&side, "memory.unshare", json!({ "ids": [id] }));
    assert_eq!(get(&live, &id)["content"], "alpha was before");
    assert!(complaint(&live, &format!("{id}.md")).unwrap().contains("resolve the conflict in git first"));
    write_file(&live, &id, &format!("{front}delta\n"));
    let texts: Vec<Value> = listed(&live, &id).iter().map(|memory| memory["content"].clone()).collect();
    assert_eq!(texts, ["alpha was before", "delta"]);
}

#[test]
fn what_becomes_of_files_is_told() {
    let live = Live::new();
    live.write("a.md", "x");
    live.commit_all();
    let id = add(&live, "alpha is mine");
    assert!(!said(&live, &["share", &id]).contains("other worktrees"));
    assert_eq!(memo(&live, &["unshare", &id]).0, 0);
    live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
    let told = said(&live, &["share", &id]);
    assert!(told.contains("other worktrees have it once their branches have the file"), "{told}");
    // The same text elsewhere.
    let side = live.sandbox.path("side");
    let added = live.call_in(&side, "memory.add", json!({ "content": "alpha is mine", "client": "cli" }));
    assert!(
        added["notice"].as_str().unwrap_or_default().contains(&format!("{id} has the same text")),
        "{added}"
    );
    call(&live, "memory.forget", json!({ "ids": [id] }));
    live.call_in(&side, "memory.forget", json!({ "ids": [added["memory"]["id"]] }));
    let told = said(&live, &["restore", &id]);
    assert!(told.contains(&format!("wrote .memod/memories/{id}.md in this worktree")), "{told}");
}

#[test]
fn a_history_says_in_words_what_was_changed_and_where() {
    let live = Live::new();
    live.write("a.py", "def rotate(k):\n    return k\n");
    let added = call(
        &live,
        "memory.add",
        json!({ "content": "rotate is slow", "about": ["a.py#rotate"], "client": "cli" }),
    );
    let id = added["memory"]["id"].as_str().unwrap().to_owned();
    call(&live, "memory.share", json!({ "ids": [id] }));
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
    live.write("a.py", "def rotate(k):\n    return k + 1\n");
    assert_eq!(memo(&live, &["confirm", &id]).0, 0);
    let side = live.sandbox.path("side");
    live.call_in(&side, "memory.update", json!({ "id": id, "title": "there" }));
    call(&live, "memory.update", json!({ "id": id, "title": "here" }));
    let told = said(&live, &["history", &id]);
    assert!(told.contains("  anchors: a.py#rotate, as the code was then"), "{told}");
    let place = memod_base::paths::canonicalize_path(&side).unwrap();
    assert!(told.contains(&format!(" in the worktree {}\n", place.display())), "{told}");
    assert!(told.contains(" in the worktree main\n"), "{told}");
}
