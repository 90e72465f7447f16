//! Does `memo share sync` send nothing that others may not have, wherever in the history that is?

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::notes::{sync, synced, two_people, two_with};
use super::{add_shared, file, get, listed, path_of, text_of};
use crate::live::{Live, memo};

const REF: &str = "refs/memod/notes";
const ID: &str = "mem_01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn token() -> String {
    ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat()
}

/// Commits on top of a state of the notes with git alone, as a member may; returns the commit. `files` are paths with their texts,
/// or with `None` where they are removed.
fn commit_on(live: &Live, parent: &str, message: &str, files: &[(&str, Option<&str>)]) -> String {
    let mut script = format!("export GIT_INDEX_FILE=.git/by-hand; git read-tree {parent}\n");
    for (nth, (path, text)) in files.iter().enumerate() {
        script += &match text {
            Some(text) => {
                live.write(&format!(".git/by-hand-{nth}"), text);
                format!(
                    "git update-index --add --cacheinfo 100644,$(git hash-object -w .git/by-hand-{nth}),{path}\n"
                )
            }
            None => format!("git rm -q --cached {path}\n"),
        };
    }
    live.write(".git/by-hand-message", message);
    script += &format!(
        "git commit-tree -p {parent} -F .git/by-hand-message $(git write-tree) > .git/by-hand-commit"
    );
    live.sh(&script);
    fs::read_to_string(live.root().join(".git/by-hand-commit")).unwrap().trim().to_owned()
}

fn force(live: &Live, commit: &str) {
    live.git(&["push", "-q", "origin", &format!("+{commit}:{REF}")]);
}

/// Takes what no ref of the remote has out of it.
fn forget_unreferenced(live: &Live) {
    let remote = live.git(&["remote", "get-url", "origin"]);
    live.sh(&format!(
        "git -C {0} reflog expire --expire=now --all; git -C {0} gc -q --prune=now",
        remote.trim()
    ));
}

/// Returns whether any object of the remote has a text.
fn remote_has(live: &Live, text: &str) -> bool {
    let remote = live.git(&["remote", "get-url", "origin"]);
    has(live, remote.trim(), text)
}

fn has(live: &Live, repository: &str, text: &str) -> bool {
    let all = format!("git -C {repository} cat-file --batch-all-objects --batch");
    live.sh(&format!("if {all} | grep -aqF '{text}'; then echo yes; fi")).contains("yes")
}

/// How a credential came into the history of the notes.
type Leak = fn(&Live, &str) -> String;

/// Has Ann send a credential, Bob take it, and Ann take it out of the remote, with its history. Returns the two.
fn taken_back(leak: Leak) -> (tempfile::TempDir, [Live; 2]) {
    let (remote, [ann, bob], _) = two_with("alpha is first");
    let clean = ann.git(&["rev-parse", REF]).trim().to_owned();
    force(&ann, &leak(&ann, &clean));
    assert!(remote_has(&ann, &token()));
    synced(&bob);
    force(&ann, &clean);
    forget_unreferenced(&ann);
    assert!(!remote_has(&ann, &token()), "it was taken out");
    (remote, [ann, bob])
}

fn path() -> String {
    format!(".memod/memories/{ID}.md")
}

#[test]
fn a_credential_that_was_taken_out_of_the_remote_is_not_sent_again() {
    let leaks: [(&str, Leak); 4] = [
        ("in an older state of a file", |ann, clean| {
            let leak = file(&format!("the key is {}", token()), "");
            let first = commit_on(ann, clean, "memories", &[(&path(), Some(&leak))]);
            commit_on(ann, &first, "memories", &[(&path(), Some(&file("the key is in the vault", "")))])
        }),
        ("in a file that was removed", |ann, clean| {
            let leak = file(&format!("the key is {}", token()), "");
            let first = commit_on(ann, clean, "memories", &[(&path(), Some(&leak))]);
            commit_on(ann, &first, "memories", &[(&path(), None)])
        }),
        ("in a file of another kind that was removed", |ann, clean| {
            let first = commit_on(ann, clean, "memories", &[(".env", Some(&token()))]);
            commit_on(ann, &first, "memories", &[(".env", None)])
        }),
        ("in a message", |ann, clean| commit_on(ann, clean, &format!("memories, with {}", token()), &[])),
    ];
    for (what, leak) in leaks {
        let (_remote, [ann, bob]) = taken_back(leak);
        let id = add_shared(&bob, "beta is Bob's");
        let said = synced(&bob);
        assert!(said.contains("starts a new history"), "{what}: {said}");
        assert!(!remote_has(&ann, &token()), "{what}");
        synced(&ann);
        assert_eq!(get(&ann, &id)["content"], "beta is Bob's", "{what}");
        // It has begun anew, and nothing is lost by that.
        let said = synced(&bob);
        assert!(
            said.contains("0 files came, 0 files sent") && !said.contains("starts a new history"),
            "{what}: {said}"
        );
        assert_eq!(bob.git(&["rev-parse", REF]), ann.git(&["rev-parse", REF]), "{what}");
    }
}

#[test]
fn a_credential_that_is_still_in_a_file_here_is_not_sent_again() {
    let (_remote, [ann, bob]) = taken_back(|ann, clean| {
        commit_on(ann, clean, "memories", &[(&path(), Some(&file(&format!("the key is {}", token()), "")))])
    });
    let hers = add_shared(&ann, "gamma is Ann's");
    synced(&ann);
    let id = add_shared(&bob, "beta is Bob's");
    for _ in 0..2 {
        let (code, said) = sync(&bob, &[]);
        assert!(code == Some(3) && said.contains(ID) && said.contains("credential"), "{said}");
        assert!(said.contains("nothing was sent"), "{said}");
        assert!(!remote_has(&ann, &token()));
    }
    assert_eq!(get(&bob, &hers)["content"], "gamma is Ann's", "what others have sent is here");
    // Once it is corrected, its history stays here.
    fs::write(path_of(&bob, ID), file("the key is in the vault", "")).unwrap();
    assert!(synced(&bob).contains("starts a new history"));
    assert!(!remote_has(&ann, &token()));
    synced(&ann);
    assert_eq!(listed(&ann, &id).len(), 1);
    assert_eq!(get(&ann, ID)["content"], "the key is in the vault");
}

#[test]
fn a_file_with_a_credential_can_be_removed_for_everybody() {
    let (_remote, [ann, bob]) = taken_back(|ann, clean| {
        commit_on(ann, clean, "memories", &[(&path(), Some(&file(&format!("the key is {}", token()), "")))])
    });
    assert_eq!(sync(&bob, &[]).0, Some(3));
    fs::remove_file(path_of(&bob, ID)).unwrap();
    let (code, said) = sync(&bob, &["--removed"]);
    assert!(code == Some(0) && said.contains("0 files sent"), "{said}");
    assert!(!remote_has(&ann, &token()) && !path_of(&bob, ID).exists());
}

#[test]
fn a_remote_that_has_lost_its_notes_gets_no_history_that_others_may_not_have() {
    let (_remote, [ann, bob]) = taken_back(|ann, clean| {
        let leak = file(&format!("the key is {}", token()), "");
        let first = commit_on(ann, clean, "memories", &[(&path(), Some(&leak))]);
        commit_on(ann, &first, "memories", &[(&path(), None)])
    });
    ann.git(&["push", "-q", "origin", &format!(":{REF}")]);
    let said = synced(&bob);
    assert!(said.contains("starts a new history") && said.contains("1 file sent"), "{said}");
    assert!(!remote_has(&ann, &token()));
    // Another remote gets none either.
    let other = bob.sandbox.path("other.git");
    bob.sh(&format!("git init -q --bare {}", other.display()));
    let leak = commit_on(&bob, REF, &format!("with {}", token()), &[]);
    bob.git(&["update-ref", REF, &leak]);
    let (code, said) = sync(&bob, &[other.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{said}");
    let other = other.to_str().unwrap();
    assert!(has(&bob, other, "alpha is first") && !has(&bob, other, &token()));
}

#[test]
fn another_worktree_sends_no_history_that_others_may_not_have() {
    let (_remote, [ann, bob], _) = two_with("alpha is first");
    bob.git(&["worktree", "add", "-q", "--detach", "../side"]);
    let side = bob.sandbox.path("side");
    let in_side = || {
        let said = bob.memo(&["sync-notes"]).current_dir(&side).output().unwrap();
        assert!(said.status.success(), "{said:?}");
    };
    let clean = ann.git(&["rev-parse", REF]).trim().to_owned();
    let leak = commit_on(&ann, &clean, &format!("with {}", token()), &[]);
    force(&ann, &leak);
    synced(&bob);
    in_side();
    force(&ann, &clean);
    forget_unreferenced(&ann);
    synced(&bob);
    in_side();
    add_shared(&bob, "beta is Bob's");
    synced(&bob);
    in_side();
    assert!(!remote_has(&ann, &token()));
    assert!(synced(&ann).contains("1 file came"));
}

#[test]
fn a_history_without_credentials_is_sent_as_it_is() {
    let (_remote, [ann, bob], id) = two_with("alpha is first");
    for text in ["alpha is second", "alpha is third"] {
        bob.call("memory.update", json!({ "id": id, "content": text }));
        bob.git(&["remote", "rename", "origin", "gone"]);
        synced(&bob);
        bob.git(&["remote", "rename", "gone", "origin"]);
    }
    let said = synced(&bob);
    assert!(said.contains("1 file sent") && !said.contains("anew"), "{said}");
    synced(&ann);
    assert_eq!(ann.git(&["rev-list", "--count", REF]).trim(), "3");
    assert_eq!(get(&ann, &id)["content"], "alpha is third");
}

#[test]
fn a_file_that_is_no_memory_does_not_keep_out_what_others_have_sent() {
    let (_remote, [ann, bob]) = two_people();
    let [id, odd] = ["alpha is first", "beta is second"].map(|text| add_shared(&ann, text));
    synced(&ann);
    synced(&bob);
    let (text, odd_text) = (text_of(&ann, &id), text_of(&ann, &odd));
    let bads: [(&str, String); 3] = [
        ("a credential", text.replace("alpha is first", &token())),
        ("a private part", text.replace("alpha is first", "a <private>b</private>")),
        ("no front matter", "alpha is first".to_owned()),
    ];
    for (nth, (what, bad)) in bads.iter().enumerate() {
        fs::write(path_of(&ann, &id), bad).unwrap();
        let his = add_shared(&bob, &format!("gamma is number {nth}"));
        synced(&bob);
        let (code, said) = sync(&ann, &[]);
        assert!(code == Some(3) && said.contains(&id) && said.contains("nothing was sent"), "{what}: {said}");
        assert!(said.contains("1 file came"), "{what}: {said}");
        assert_eq!(listed(&ann, &his).len(), 1, "{what}");
        assert!(!remote_has(&ann, &token()), "{what}");
        // Another worktree of hers does not get it.
        assert!(!ann.git(&["log", "-p", REF]).contains(&token()), "{what}");
    }
    fs::write(path_of(&ann, &id), &text).unwrap();
    // What is no file of text is not sent, and removes nothing.
    fs::remove_file(path_of(&ann, &odd)).unwrap();
    ann.sh(&format!("mkfifo .memod/memories/{odd}.md"));
    let his = add_shared(&bob, "delta is Bob's");
    synced(&bob);
    let (code, said) = sync(&ann, &[]);
    assert!(code == Some(3) && said.contains(&odd) && said.contains("not a regular file"), "{said}");
    assert_eq!(listed(&ann, &his).len(), 1);
    fs::remove_file(path_of(&ann, &odd)).unwrap();
    fs::write(path_of(&ann, &odd), odd_text).unwrap();
    synced(&ann);
    synced(&bob);
    assert_eq!([&id, &odd].map(|id| listed(&bob, id).len()), [1, 1]);
}

#[test]
fn a_removal_is_not_counted_as_a_file_that_came() {
    let (_remote, [ann, bob], id) = two_with("alpha is first");
    ann.call("memory.forget", json!({ "ids": [id] }));
    let said = synced(&ann);
    assert!(said.contains("0 files came, 0 files sent to origin; removed: 1 there"), "{said}");
    let said = synced(&bob);
    assert!(said.contains("0 files came, 0 files sent to origin; removed: 1 here"), "{said}");
    let output = bob.memo(&["sync-notes", "--json"]).output().unwrap();
    let done: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!([&done["came"], &done["removed"], &done["refused"]], [&json!([]), &json!([]), &json!([])]);
}

#[test]
fn what_is_kept_is_told_once_where_a_push_came_too_late() {
    let (remote, [ann, bob], id) = two_with("alpha is first");
    ann.call("memory.update", json!({ "id": id, "content": "alpha is second" }));
    synced(&ann);
    bob.call("memory.forget", json!({ "ids": [id] }));
    let hook = remote.path().join("remote.git/hooks/pre-receive");
    fs::write(&hook, "#!/bin/sh\n[ -e late ] || { : >late; exit 1; }\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let (code, done) = memo(&bob, &["sync-notes"]);
    assert!(code == 0 && remote.path().join("remote.git/late").exists(), "{done}");
    assert_eq!(done["kept"], json!([id]));
}
