//! Does `memo share sync` bring memories to others without a file on any branch?

use std::fs;
use std::process::Output;

use serde_json::json;

use super::{add_shared, get, listed, path_of, text_of};
use crate::live::{Live, not_checked};

pub(super) fn sync(live: &Live, args: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = live.memo(&[&["sync-notes"], args].concat()).output().unwrap();
    (status.code(), [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat())
}

pub(super) fn synced(live: &Live) -> String {
    let (code, said) = sync(live, &[]);
    assert_eq!(code, Some(0), "{said}");
    said
}

/// Returns two people with a commit each of their own, and a remote without commits.
pub(super) fn two_people() -> (tempfile::TempDir, [Live; 2]) {
    let remote = tempfile::tempdir().unwrap();
    let url = remote.path().join("remote.git");
    let people = [Live::new(), Live::new()];
    people[0].sh(&format!("git init -q --bare {}", url.display()));
    for live in &people {
        live.write("a.md", "x");
        live.commit_all();
        live.git(&["remote", "add", "origin", url.to_str().unwrap()]);
    }
    (remote, people)
}

/// Returns two people who have exchanged a memory, and its id.
pub(super) fn two_with(text: &str) -> (tempfile::TempDir, [Live; 2], String) {
    let (remote, [ann, bob]) = two_people();
    let id = add_shared(&ann, text);
    synced(&ann);
    synced(&bob);
    (remote, [ann, bob], id)
}

#[test]
fn memories_reach_others_without_a_branch() {
    let (_remote, [ann, bob]) = two_people();
    assert!(synced(&ann).contains("0 files came, 0 files sent"), "nothing is there yet");
    let (first, second) = (add_shared(&ann, "alpha is first"), add_shared(&ann, "beta is second"));
    assert!(synced(&ann).contains("2 files sent to origin"));
    assert_eq!(ann.git(&["status", "--porcelain"]), "", "git ignores the files");
    assert!(synced(&bob).contains("2 files came, 0 files sent"));
    assert_eq!(get(&bob, &first)["content"], "alpha is first");
    assert_eq!(get(&bob, &first)["trust"], "repo");
    // Each changes another one, and one is forgotten.
    let third = add_shared(&bob, "gamma is third");
    bob.call("memory.forget", json!({ "ids": [second] }));
    ann.call("memory.update", json!({ "id": first, "content": "alpha is changed" }));
    synced(&bob);
    let said = synced(&ann);
    assert!(said.contains("1 file came, 1 file sent to origin; removed: 1 here"), "{said}");
    synced(&bob);
    for live in [&ann, &bob] {
        assert_eq!(get(live, &first)["content"], "alpha is changed");
        assert_eq!((listed(live, &second).len(), listed(live, &third).len()), (0, 1));
        assert_eq!(live.git(&["log", "--oneline", "--all", "--", "a.md"]).lines().count(), 1);
        assert_eq!(live.git(&["ls-files"]), "a.md");
    }
    assert_eq!(ann.git(&["rev-parse", "refs/memod/notes"]), bob.git(&["rev-parse", "refs/memod/notes"]));
    let said = synced(&ann);
    assert!(said.contains("0 files came, 0 files sent"), "{said}");
}

#[test]
fn a_conflict_of_notes_is_resolved_and_sent() {
    let (_remote, [ann, bob]) = two_people();
    let id = add_shared(&ann, "alpha is first");
    let other = add_shared(&ann, "stays");
    synced(&ann);
    synced(&bob);
    ann.call("memory.update", json!({ "id": id, "content": "alpha is Ann's" }));
    bob.call("memory.update", json!({ "id": id, "content": "alpha is Bob's" }));
    synced(&ann);
    let (code, said) = sync(&bob, &[]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains(&id) && said.contains("memo resolve") && !said.contains(&other), "{said}");
    assert_eq!(listed(&bob, &id).len(), 2, "both sides are there");
    let again = sync(&bob, &[]);
    assert_eq!(again.0, Some(3), "{again:?}");
    let (resolved, said) = {
        let output = bob.memo(&["resolve", &id, "--text", "alpha is of both"]).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    assert!(resolved && said.contains("`memo share sync` continues the exchange"), "{said}");
    synced(&bob);
    synced(&ann);
    assert_eq!(
        (get(&ann, &id)["content"].clone(), get(&bob, &id)["content"].clone()),
        (json!("alpha is of both"), json!("alpha is of both"))
    );
    assert_eq!(text_of(&ann, &id), text_of(&bob, &id));
    let commits = ann.git(&["log", "--format=%an", "refs/memod/notes"]);
    assert!(commits.lines().count() >= 4, "{commits}");
}

#[test]
fn worktrees_exchange_notes_and_keep_what_only_they_have() {
    let live = Live::new();
    live.write("a.md", "x");
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
    let side = live.sandbox.path("side");
    let id = add_shared(&live, "alpha is first");
    assert!(synced(&live).contains("there is no remote"));
    let mut there = live.memo(&["sync-notes"]);
    let said = there.current_dir(&side).output().unwrap();
    assert!(said.status.success(), "{said:?}");
    assert!(side.join(format!(".memod/memories/{id}.md")).exists(), "an empty worktree deletes nothing");
    fs::remove_file(path_of(&live, &id)).unwrap();
    assert!(synced(&live).contains(&format!("restored, because they were not removed with memo: {id}")));
    fs::remove_file(path_of(&live, &id)).unwrap();
    assert_eq!(sync(&live, &["--removed"]).0, Some(0));
    assert!(live.memo(&["sync-notes"]).current_dir(&side).status().unwrap().success());
    assert!(!side.join(format!(".memod/memories/{id}.md")).exists());
}

#[test]
fn what_cannot_be_exchanged_says_why() {
    let live = Live::new();
    live.write("a.md", "x");
    add_shared(&live, "alpha is first");
    live.commit_all();
    let (code, said) = sync(&live, &[]);
    assert!(code == Some(3) && said.contains("tracked on this branch"), "{said}");
    live.git(&["rm", "-q", "-r", "--cached", ".memod/memories"]);
    let (code, said) = sync(&live, &["nowhere"]);
    assert!(code == Some(3) && said.contains("git ls-remote") && said.contains("`git remote -v`"), "{said}");
    assert_eq!(sync(&live, &[]).0, Some(0), "without a remote");
}

#[test]
fn only_files_of_memories_are_taken() {
    let (_remote, [ann, bob], id) = two_with("alpha is first");
    bob.write(".gitignore", ".env\n");
    bob.write(".env", "mine");
    let push = |path: &str, mode: &str, content: &str| {
        ann.write("content", content);
        ann.sh(&format!(
            "export GIT_INDEX_FILE=.git/hostile; git read-tree refs/memod/notes
             git update-index --add --cacheinfo {mode},$(git hash-object -w content),{path}
             git push -q origin +$(git commit-tree -p refs/memod/notes -m x $(git write-tree)):refs/memod/notes"
        ));
    };
    let inside = ".memod/memories/mem_01ARZ3NDEKTSV4RRFFQ69G5FAV.md";
    for (path, mode) in [
        (".env", "100644"),
        (".memod/memories/mem_draft.md", "100644"),
        (inside, "120000"),
        (inside, "100755"),
        (".memod/memories/sub/mem_01ARZ3NDEKTSV4RRFFQ69G5FAV.md", "100644"),
    ] {
        push(path, mode, "theirs");
        let (code, said) = sync(&bob, &[]);
        assert!(
            code == Some(3) && said.contains(path) && said.contains("nothing was imported"),
            "{path}: {said}"
        );
        assert_eq!(fs::read_to_string(bob.root().join(".env")).unwrap(), "mine");
        assert!(fs::symlink_metadata(bob.root().join(inside)).is_err());
    }
    ann.git(&["push", "-q", "-f", "origin", "refs/memod/notes"]);
    synced(&bob);
    assert_eq!(get(&bob, &id)["content"], "alpha is first");
}

#[test]
fn files_that_git_leaves_out_or_removes_are_not_removed_for_others() {
    let (_remote, [ann, bob]) = two_people();
    let id = add_shared(&ann, "alpha is first");
    synced(&ann);
    bob.write("src/b.md", "x");
    bob.commit_all();
    bob.git(&["sparse-checkout", "set", "src"]);
    for _ in 0..2 {
        synced(&bob);
        assert!(path_of(&bob, &id).exists());
    }
    bob.git(&["clean", "-q", "-fdx"]);
    assert_eq!(listed(&bob, &id).len(), 0);
    assert!(synced(&bob).contains("restored, because"));
    synced(&ann);
    assert_eq!((listed(&ann, &id).len(), listed(&bob, &id).len()), (1, 1));
}

#[test]
fn what_was_merged_without_a_conflict_stays_so_until_the_conflict_ends() {
    let (_remote, [ann, bob]) = two_people();
    let [disputed, removed] = ["alpha is first", "beta is second"].map(|text| add_shared(&ann, text));
    synced(&ann);
    synced(&bob);
    bob.call("memory.forget", json!({ "ids": [removed] }));
    let came = add_shared(&bob, "gamma is third");
    bob.call("memory.update", json!({ "id": disputed, "content": "alpha is Bob's" }));
    ann.call("memory.update", json!({ "id": disputed, "content": "alpha is Ann's" }));
    synced(&bob);
    assert_eq!(sync(&ann, &[]).0, Some(3));
    ann.git(&["clean", "-q", "-fdx"]);
    for _ in 0..2 {
        let (code, said) = sync(&ann, &[]);
        assert!(code == Some(3) && said.contains(&disputed), "{said}");
        assert_eq!((listed(&ann, &disputed).len(), listed(&ann, &came).len()), (2, 1), "{said}");
    }
    ann.call("memory.resolve_file", json!({ "id": disputed, "side": "theirs" }));
    synced(&ann);
    synced(&bob);
    for live in [&ann, &bob] {
        assert_eq!(get(live, &disputed)["content"], "alpha is Bob's");
        assert_eq!((listed(live, &removed).len(), listed(live, &came).len()), (0, 1));
    }
}

#[test]
fn exchanges_of_one_worktree_do_not_meet() {
    let (_remote, [ann, _bob]) = two_people();
    let ids = ["alpha", "beta", "gamma"].map(|text| add_shared(&ann, text));
    synced(&ann);
    for _ in 0..8 {
        let mut both: Vec<_> = (0..2).map(|_| ann.memo(&["sync-notes"]).spawn().unwrap()).collect();
        let codes = both.iter_mut().map(|memo| memo.wait().unwrap().code().unwrap());
        assert!(codes.into_iter().all(|code| code == 0 || code == 3));
        let sent = ann.git(&["ls-remote", "origin", "refs/memod/notes"]);
        let sent = sent.split_whitespace().next().unwrap().to_owned();
        assert_eq!(ann.git(&["ls-tree", "-r", "--name-only", &sent]).lines().count(), ids.len());
    }
    // What is left of one that was killed.
    for of in ["memod-notes-index", "refs/worktree/memod/notes", "refs/worktree/memod/notes-fetched"] {
        ann.write(&format!(".git/{of}.lock"), "");
    }
    add_shared(&ann, "delta");
    assert!(synced(&ann).contains("1 file sent"));
}

#[test]
fn only_a_verb_removes_a_memory_for_others() {
    let (_remote, [ann, bob]) = two_people();
    let ids = ["alpha is first", "beta is second", "gamma is third"].map(|text| add_shared(&ann, text));
    synced(&ann);
    synced(&bob);
    // Gone by itself, and then deleted for good here.
    bob.git(&["clean", "-q", "-fdx"]);
    assert_eq!(listed(&bob, &ids[0]).len(), 0);
    bob.call("memory.purge", json!({ "ids": ids }));
    assert!(synced(&bob).contains("restored, because"));
    synced(&ann);
    assert_eq!(ids.clone().map(|id| listed(&ann, &id).len()), [1, 1, 1]);
    let both = json!({ "ids": ids[..2], "summary": "alpha and beta" });
    ann.call("memory.consolidate", both);
    assert!(!synced(&ann).contains("restored, because"));
    synced(&bob);
    assert_eq!(ids.map(|id| listed(&bob, &id).len()), [0, 0, 1]);
}

#[test]
fn files_are_sent_as_they_are() {
    let (_remote, [ann, bob]) = two_people();
    let id = add_shared(&ann, "alpha is first");
    ann.sh("chmod 755 .memod/memories/*");
    if ann.git_may_fail(&["--attr-source=HEAD", "version"]).status.success() {
        ann.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
        ann.write(".gitattributes", "*.md filter=up");
    } else {
        not_checked("files that a filter would change: git is older than 2.41");
    }
    synced(&ann);
    synced(&bob);
    assert_eq!(get(&bob, &id)["content"], "alpha is first");
}

#[test]
fn memories_are_not_mixed_and_a_change_outlives_a_removal() {
    let (_remote, [ann, bob]) = two_people();
    let lines = |last: &str| (1..9).map(|n| format!("line {n} of alpha\n\n")).collect::<String>() + last;
    let old = add_shared(&ann, &lines("the end"));
    synced(&ann);
    synced(&bob);
    bob.call("memory.update", json!({ "id": old, "content": lines("the end, by Bob") }));
    ann.call("memory.forget", json!({ "ids": [old] }));
    let new = add_shared(&ann, &lines("another end"));
    synced(&ann);
    let said = synced(&bob);
    assert!(
        said.contains(&format!("kept, because one side changed and the other removed them: {old}")),
        "{said}"
    );
    synced(&ann);
    for live in [&ann, &bob] {
        assert_eq!(get(live, &old)["content"], lines("the end, by Bob"));
        assert_eq!(get(live, &new)["content"], lines("another end"));
    }
}

/// A killed exchange leaves the lock files of git.
#[test]
fn what_a_killed_git_locked_is_free_again() {
    let (_remote, [ann, bob], id) = two_with("alpha is first");
    ann.call("memory.update", json!({ "id": id, "content": "alpha is Ann's" }));
    let own = add_shared(&bob, "beta is Bob's");
    synced(&ann);
    for name in ["memod-notes-merge.lock", "memod-notes-index.lock"] {
        bob.write(&format!(".git/{name}"), "");
    }
    synced(&bob);
    synced(&ann);
    for live in [&ann, &bob] {
        assert_eq!(get(live, &id)["content"], "alpha is Ann's");
        assert_eq!(get(live, &own)["content"], "beta is Bob's");
    }
}

#[test]
fn attributes_hide_no_conflict() {
    let (_remote, [ann, bob], id) = two_with("alpha is first");
    let text = |name: &str| format!("<<<<<<< is no marker\n\nalpha is {name}'s");
    for (live, name) in [(&ann, "Ann"), (&bob, "Bob")] {
        live.call("memory.update", json!({ "id": id, "content": text(name) }));
    }
    synced(&ann);
    for attribute in ["filter=up", "ident", "working-tree-encoding=UTF-16"] {
        bob.write(".git/info/attributes", format!("*.md {attribute}"));
        let (code, said) = sync(&bob, &[]);
        assert!(code == Some(3) && said.contains(".git/info/attributes"), "{attribute}: {said}");
        assert_eq!(get(&bob, &id)["content"], text("Bob"));
    }
    fs::remove_file(bob.root().join(".git/info/attributes")).unwrap();
    for (file, attribute) in [
        (".git/info/attributes", "merge=binary"),
        (".git/info/attributes", "merge=union"),
        (".gitattributes", "-merge"),
        (".gitattributes", "conflict-marker-size=12"),
    ] {
        let (_remote, [ann, bob], id) = two_with("alpha is first");
        bob.write(file, format!("*.md {attribute}"));
        ann.call("memory.update", json!({ "id": id, "content": "alpha is Ann's" }));
        bob.call("memory.update", json!({ "id": id, "content": "alpha is Bob's" }));
        synced(&ann);
        for _ in 0..2 {
            let (code, said) = sync(&bob, &[]);
            assert!(code == Some(3) && said.contains("in conflict"), "{file}, {attribute}: {said}");
            assert_eq!(listed(&bob, &id).len(), 2, "{file}, {attribute}");
        }
    }
}

#[test]
fn a_text_may_have_lines_like_markers() {
    let (_remote, [ann, _bob]) = two_people();
    add_shared(&ann, "how a conflict begins:\n<<<<<<< HEAD\nx");
    assert!(synced(&ann).contains("1 file sent"));
}
