//! Does `memo share sync` leave alone what it does not know, and bring back what was last said?

use std::fs;

use serde_json::json;

use super::notes::{sync, synced, two_people, two_with};
use super::{actions, add_shared, file, get, listed, path_of, text_of, write_file};
use crate::live::Live;

#[test]
fn what_stands_under_the_name_of_a_file_that_comes_stays() {
    let (_remote, [ann, bob]) = two_people();
    let id = add_shared(&ann, "alpha is first");
    synced(&ann);
    let path = path_of(&bob, &id);
    let dir = path.parent().unwrap().to_owned();
    fs::create_dir_all(&dir).unwrap();
    let refused = |what: &str| {
        for _ in 0..2 {
            let (code, said) = sync(&bob, &[]);
            assert!(code == Some(3) && said.contains("nothing was imported"), "{what}: {said}");
        }
    };
    // A directory with files in it, and links.
    fs::create_dir(&path).unwrap();
    fs::write(path.join("mine.txt"), "mine").unwrap();
    refused("a directory");
    assert_eq!(fs::read_to_string(path.join("mine.txt")).unwrap(), "mine");
    fs::remove_dir_all(&path).unwrap();
    bob.write("mine.txt", "mine");
    std::os::unix::fs::symlink(bob.root().join("mine.txt"), &path).unwrap();
    refused("a symbolic link");
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("nowhere", &path).unwrap();
    refused("a link that leads nowhere");
    fs::remove_file(&path).unwrap();
    // Something large.
    fs::write(&path, vec![b'x'; 100 << 10]).unwrap();
    refused("a large file");
    assert_eq!(fs::metadata(&path).unwrap().len(), 100 << 10);
    fs::remove_dir_all(bob.root().join(".memod")).unwrap();
    // A part of the path.
    bob.write(".memod", "mine");
    assert_ne!(sync(&bob, &[]).0, Some(0), "a file in place of the directory");
    assert_eq!(fs::read_to_string(bob.root().join(".memod")).unwrap(), "mine");
    fs::remove_file(bob.root().join(".memod")).unwrap();
    let elsewhere = bob.sandbox.path("elsewhere");
    fs::create_dir_all(elsewhere.join("memories")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, bob.root().join(".memod")).unwrap();
    let (code, _) = sync(&bob, &[]);
    assert_eq!(code, Some(3), "a link in place of the directory");
    assert_eq!(fs::read_dir(elsewhere.join("memories")).unwrap().count(), 0);
    fs::remove_file(bob.root().join(".memod")).unwrap();
    synced(&bob);
    assert_eq!(get(&bob, &id)["content"], "alpha is first");
}

#[test]
fn a_file_that_is_here_and_differs_is_merged() {
    let (_remote, [ann, bob]) = two_people();
    let id = add_shared(&ann, "alpha is first");
    synced(&ann);
    bob.write(".git/info/exclude", "/.memod/\n");
    write_file(&bob, &id, &file("alpha is Bob's", ""));
    let (code, said) = sync(&bob, &[]);
    assert!(code == Some(3) && said.contains("in conflict"), "{said}");
    let text = text_of(&bob, &id);
    assert!(text.contains("alpha is Bob's") && text.contains("alpha is first"), "{text}");
}

#[test]
fn a_file_that_vanished_comes_back_as_it_was_last_changed() {
    let (_remote, [ann, bob], id) = two_with("alpha is first");
    // By a verb, by an editor, and with what memod does not know.
    let other = add_shared(&bob, "beta is first");
    let commented = add_shared(&bob, "gamma is first");
    synced(&bob);
    bob.call("memory.update", json!({ "id": id, "content": "alpha is second" }));
    fs::write(path_of(&bob, &other), text_of(&bob, &other).replace("beta is first", "beta is second"))
        .unwrap();
    let text = text_of(&bob, &commented).replacen("---\n", "---\n# reviewed by Ann\nreviewed: yes\n", 1);
    fs::write(path_of(&bob, &commented), &text).unwrap();
    synced(&bob);
    fs::write(path_of(&bob, &commented), text.replace("gamma is first", "gamma is second")).unwrap();
    bob.call("memory.update", json!({ "id": id, "content": "alpha is third" }));
    assert_eq!(listed(&bob, &commented)[0]["content"], "gamma is second");
    bob.git(&["clean", "-q", "-fdx"]);
    assert_eq!(listed(&bob, &id).len(), 0);
    assert!(synced(&bob).contains("restored, because"));
    synced(&ann);
    for live in [&ann, &bob] {
        assert_eq!(get(live, &id)["content"], "alpha is third");
        assert_eq!(get(live, &other)["content"], "beta is second");
        assert_eq!(get(live, &commented)["content"], "gamma is second");
        let text = text_of(live, &commented);
        assert!(text.contains("# reviewed by Ann\n") && text.contains("reviewed: yes\n"), "{text}");
    }
    assert!(actions(&bob, &id).ends_with(&["restore/cli".to_owned()]), "{:?}", actions(&bob, &id));
}

#[test]
fn what_others_were_merged_into_is_not_taken_for_removed() {
    let live = Live::new();
    live.write("a.md", "x");
    live.commit_all();
    live.git(&["worktree", "add", "-q", "--detach", "../side"]);
    let side = live.sandbox.path("side");
    let synced_there = || {
        let said = live.memo(&["sync-notes"]).current_dir(&side).output().unwrap();
        assert!(said.status.success(), "{said:?}");
    };
    let [stays, goes] = ["alpha is first", "beta is second"].map(|text| add_shared(&live, text));
    synced(&live);
    synced_there();
    live.call("memory.merge", json!({ "keep": stays, "ids": [goes] }));
    synced(&live);
    live.git(&["clean", "-q", "-fdx"]);
    assert_eq!(listed(&live, &stays).len(), 0);
    let said = synced(&live);
    assert!(said.contains(&stays) && !said.contains(&goes), "{said}");
    synced_there();
    let there = |id: &str| side.join(format!(".memod/memories/{id}.md")).exists();
    assert_eq!(
        [&stays, &goes].map(|id| (path_of(&live, id).exists(), there(id))),
        [(true, true), (false, false)]
    );
}

#[test]
fn the_outcome_of_a_conflict_comes_back_and_so_does_the_conflict() {
    let (_remote, [ann, bob]) = two_people();
    let ids = ["alpha is first", "beta is first"].map(|text| add_shared(&ann, text));
    synced(&ann);
    synced(&bob);
    for (live, name) in [(&ann, "Ann"), (&bob, "Bob")] {
        for (id, what) in ids.iter().zip(["alpha", "beta"]) {
            live.call("memory.update", json!({ "id": id, "content": format!("{what} is {name}'s") }));
        }
    }
    synced(&ann);
    assert_eq!(sync(&bob, &[]).0, Some(3));
    bob.call("memory.resolve_file", json!({ "id": ids[0], "text": "alpha is of both" }));
    bob.git(&["clean", "-q", "-fdx"]);
    assert_eq!(listed(&bob, &ids[0]).len(), 0);
    let (code, said) = sync(&bob, &[]);
    assert!(code == Some(3) && said.contains(&ids[1]) && said.contains("in conflict"), "{said}");
    assert_eq!(get(&bob, &ids[0])["content"], "alpha is of both");
    assert_eq!(listed(&bob, &ids[1]).len(), 2, "both sides are back");
    bob.call("memory.resolve_file", json!({ "id": ids[1], "side": "theirs" }));
    synced(&bob);
    synced(&ann);
    for live in [&ann, &bob] {
        assert_eq!(get(live, &ids[0])["content"], "alpha is of both");
        assert_eq!(get(live, &ids[1])["content"], "beta is Ann's");
    }
}
