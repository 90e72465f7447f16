//! Is a file a memory, and the memory its file?

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;

use super::{actions, add_shared, complaint, file, found, get, listed, path_of, text_of, write_file};
use crate::live::{Live, not_checked};
use crate::memories::{call, refusal};

const FOREIGN: &str = "mem_01ARZ3NDEKTSV4RRFFQ69G5FAV";

#[test]
fn a_shared_memory_is_its_file() {
    let live = Live::new();
    let id = add_shared(&live, "alpha is the first");
    let text = text_of(&live, &id);
    assert!(text.ends_with("---\n\nalpha is the first\n"), "{text}");
    assert!(text.contains("\nauthor: t <t@example.org>\n"), "{text}");
    assert_eq!((&get(&live, &id)["trust"], &get(&live, &id)["shared"]), (&json!("own"), &json!(true)));
    call(&live, "memory.update", json!({ "id": id, "content": "beta is the second", "add_tags": ["t"] }));
    let text = text_of(&live, &id);
    assert!(text.contains("\ntags:\n  - t\n") && text.ends_with("\nbeta is the second\n"), "{text}");
    assert_eq!(get(&live, &id)["trust"], "own");
    // By hand.
    write_file(&live, &id, &text.replace("beta is the second", "gamma is the third"));
    assert_eq!(get(&live, &id)["content"], "gamma is the third");
    assert_eq!((found(&live, "gamma"), found(&live, "beta")), (vec![id.clone()], vec![]));
    assert_eq!(get(&live, &id)["trust"], "repo", "nobody here has said who edited it");
    call(&live, "memory.confirm", json!({ "id": id }));
    assert_eq!(get(&live, &id)["trust"], "own");
    assert_eq!(
        actions(&live, &id),
        ["add/api", "share/api", "update/api", "update/repo", "confirm/api"]
            .map(|action| action.replace("add/api", "add/cli"))
    );
    // CRLF is no edit.
    write_file(&live, &id, &text_of(&live, &id).replace('\n', "\r\n"));
    assert_eq!(get(&live, &id)["content"], "gamma is the third");
    assert_eq!(actions(&live, &id).len(), 5);
    call(&live, "memory.forget", json!({ "ids": [id] }));
    assert!(!path_of(&live, &id).exists());
    call(&live, "memory.restore", json!({ "ids": [id] }));
    assert!(text_of(&live, &id).ends_with("\ngamma is the third\n"));
    call(&live, "memory.unshare", json!({ "ids": [id] }));
    assert!(!path_of(&live, &id).exists());
    assert_eq!(
        (&get(&live, &id)["content"], &get(&live, &id)["shared"]),
        (&json!("gamma is the third"), &json!(false))
    );
}

#[test]
fn a_file_that_comes_is_a_memory_of_the_repository_until_it_is_confirmed() {
    let live = Live::new();
    write_file(&live, FOREIGN, &file("delta comes by pull", "tags: [x]\n"));
    let memory = get(&live, FOREIGN);
    assert_eq!(
        (&memory["trust"], &memory["source"], &memory["author"]),
        (&json!("repo"), &json!("repo"), &json!("Bob"))
    );
    let hits = call(&live, "search", json!({ "query": "delta" }));
    assert_eq!(hits["hits"].as_array().unwrap().len(), 1, "not also as a chunk: {hits}");
    assert_eq!(hits["hits"][0]["trust"], "repo");
    let why = refusal(&live, "memory.confirm", json!({ "id": FOREIGN, "client": "mcp" }));
    assert!(why.contains("only a person"), "{why}");
    call(&live, "memory.confirm", json!({ "id": FOREIGN }));
    assert_eq!(get(&live, FOREIGN)["trust"], "own");
    call(&live, "memory.recall", json!({ "query": "delta" }));
    let before = fs::read(path_of(&live, FOREIGN)).unwrap();
    // Gone and back, as on another branch.
    live.remove(&format!(".memod/memories/{FOREIGN}.md"));
    assert_eq!((listed(&live, FOREIGN).len(), found(&live, "delta").len()), (0, 0));
    assert_eq!(get(&live, FOREIGN)["archived_why"], "file");
    for _ in 0..3 {
        fs::write(path_of(&live, FOREIGN), &before).unwrap();
        assert_eq!(get(&live, FOREIGN)["access_count"], 1);
        live.remove(&format!(".memod/memories/{FOREIGN}.md"));
        assert_eq!(listed(&live, FOREIGN).len(), 0);
    }
    fs::write(path_of(&live, FOREIGN), &before).unwrap();
    assert_eq!(get(&live, FOREIGN)["trust"], "own");
    assert_eq!(
        actions(&live, FOREIGN),
        ["add/repo", "confirm/api", "recall/api", "forget/repo", "restore/repo"]
    );
    assert_eq!(fs::read(path_of(&live, FOREIGN)).unwrap(), before, "reading writes nothing");
}

#[test]
fn what_is_no_memory_is_listed_with_the_reason() {
    let live = Live::new();
    let id = add_shared(&live, "alpha is the first");
    let bad = |name: &str, bytes: &[u8], why: &str| {
        live.write(&format!(".memod/memories/{name}"), bytes);
        let said = complaint(&live, name).unwrap_or_else(|| panic!("{name}"));
        assert!(said.contains(why), "{name}: {said}");
        let list = call(&live, "memory.list", json!({}));
        assert_eq!((&list["total"], list["notice"].is_string()), (&json!(1), true), "{list}");
        live.remove(&format!(".memod/memories/{name}"));
        assert_eq!(complaint(&live, name), None);
    };
    bad("README.md", b"# What is this\n", "not the id of a memory");
    bad(&format!("{FOREIGN}.md"), b"---\ntier: long\n", "does not end with ---");
    bad(&format!("{FOREIGN}.md"), &[0xff, 0xfe], "not UTF-8");
    bad(&format!("{FOREIGN}.md"), &vec![b'x'; 70_000], "over 65536");
    bad(&format!("{FOREIGN}.md"), file("a <private>b</private>", "").as_bytes(), "private part");
    bad(&format!("{}.md", id.to_lowercase()), file("x", "").as_bytes(), "only in upper and lower case");
    assert_eq!(listed(&live, &id).len(), 1);
}

#[cfg(unix)]
#[test]
fn nothing_is_followed_out_of_the_worktree() {
    let live = Live::new();
    let id = add_shared(&live, "alpha is the first");
    let outside = live.sandbox.path("home/outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a.md"), file("epsilon is elsewhere", "")).unwrap();
    std::os::unix::fs::symlink(outside.join("a.md"), path_of(&live, FOREIGN)).unwrap();
    let said = complaint(&live, &format!("{FOREIGN}.md")).unwrap();
    assert!(said.contains("symbolic link"), "{said}");
    assert_eq!(found(&live, "epsilon"), Vec::<String>::new());
    fs::rename(live.root().join(".memod/memories"), live.sandbox.path("home/moved")).unwrap();
    std::os::unix::fs::symlink(&outside, live.root().join(".memod/memories")).unwrap();
    assert_eq!(listed(&live, &id).len(), 1, "a directory that cannot be listed takes nothing away");
    assert!(complaint(&live, "memories").unwrap().contains("not a directory"));
    let why = refusal(&live, "memory.update", json!({ "id": id, "content": "beta" }));
    assert!(why.contains("memories"), "{why}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn what_add_refuses_is_not_shared() {
    let live = Live::new();
    let token = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    let added = call(&live, "memory.add", json!({ "content": token, "allow_secret": true }));
    let id = added["memory"]["id"].as_str().unwrap();
    let why = refusal(&live, "memory.share", json!({ "ids": [id] }));
    assert!(why.contains("looks like a credential") && !why.contains(&token), "{why}");
    assert!(!path_of(&live, id).exists());
    assert_eq!(get(&live, id)["shared"], false);
}

#[test]
fn a_rule_shares_what_is_written() {
    let live = Live::idle();
    let settings = live.layout().config_file();
    fs::write(settings, "[share]\ntags = [\"decision\"]\n").unwrap();
    live.start();
    let add = |text: &str, tags: &[&str]| {
        let added = call(&live, "memory.add", json!({ "content": text, "tags": tags, "force": true }));
        added["memory"]["id"].as_str().unwrap().to_owned()
    };
    let (shared, own) = (add("alpha was decided", &["decision"]), add("beta was thought", &["idea"]));
    assert!(path_of(&live, &shared).exists() && !path_of(&live, &own).exists());
    call(&live, "memory.update", json!({ "id": own, "add_tags": ["decision"] }));
    assert!(path_of(&live, &own).exists());
    call(&live, "memory.unshare", json!({ "ids": [own] }));
    call(&live, "memory.update", json!({ "id": own, "add_tags": ["more"] }));
    assert!(!path_of(&live, &own).exists(), "what was unshared stays here");
}

#[test]
fn a_dry_run_shows_the_files_and_writes_none() {
    let live = Live::new();
    let added = call(&live, "memory.add", json!({ "content": "alpha", "tags": ["t"] }));
    let id = added["memory"]["id"].as_str().unwrap();
    let dry = call(&live, "memory.share", json!({ "tags": ["t"], "dry_run": true }));
    assert!(dry["files"][0]["text"].as_str().unwrap().ends_with("\nalpha\n"), "{dry}");
    assert!(!path_of(&live, id).exists());
    call(&live, "memory.share", json!({ "tags": ["t"] }));
    assert!(text_of(&live, id).lines().eq(dry["files"][0]["text"].as_str().unwrap().lines()));
}

#[cfg(unix)]
#[test]
fn a_daemon_that_is_killed_takes_what_the_files_say() {
    let live = Live::new();
    let id = add_shared(&live, "alpha is the first");
    live.kill();
    write_file(&live, &id, &text_of(&live, &id).replace("alpha", "beta"));
    live.start();
    assert_eq!(
        (get(&live, &id)["content"].clone(), found(&live, "beta")),
        (json!("beta is the first"), vec![id])
    );
}

#[test]
fn a_directory_that_is_none_is_told_by_every_process() {
    let live = Live::new();
    let id = add_shared(&live, "alpha");
    let dir = path_of(&live, &id).parent().unwrap().to_owned();
    fs::rename(&dir, dir.with_extension("aside")).unwrap();
    fs::write(&dir, "hi").unwrap();
    for _ in 0..2 {
        let list = live.call("memory.list", json!({}));
        assert!(list["reason"].as_str().is_some_and(|reason| reason.contains("not a directory")), "{list}");
        let found = live.call("search", json!({ "query": "alpha" }));
        assert!(found["degraded"].to_string().contains("not a directory"), "{found}");
        assert!(complaint(&live, ".memod/memories").unwrap().contains("not a directory"));
        live.kill();
        live.start();
    }
    fs::remove_file(&dir).unwrap();
    fs::rename(dir.with_extension("aside"), &dir).unwrap();
    let list = live.call("memory.list", json!({}));
    assert_eq!((&list["fresh"], &list["notice"]), (&json!(true), &json!(null)), "{list}");
}

#[test]
fn what_does_not_change_a_memory_does_not_change_whose_it_is() {
    let live = Live::new();
    let id = add_shared(&live, "alpha");
    let text = text_of(&live, &id);
    write_file(&live, &id, text.trim_end());
    assert_eq!(get(&live, &id)["trust"], "own");
    write_file(&live, &id, &text.replace("alpha", "beta"));
    assert_eq!(get(&live, &id)["trust"], "repo");
    // A clock that was ahead.
    write_file(&live, &id, &text.replace("\nupdated: 2", "\nupdated: 9"));
    let list = live.call("memory.update", json!({ "id": id, "add_tags": ["x"] }));
    assert!(list["memory"]["updated"].as_str().unwrap() < "3", "{list}");
    assert!(!text_of(&live, &id).contains("\nupdated: 9"));
}

#[cfg(unix)]
#[test]
fn the_first_file_of_a_worktree_that_vanishes_at_once_is_in_the_archive() {
    use std::os::unix::fs::PermissionsExt as _;
    let live = Live::new();
    assert_eq!(live.call("memory.list", json!({}))["total"], 0);
    let id = add_shared(&live, "alpha");
    let mode = fs::metadata(path_of(&live, &id)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "as git writes files");
    fs::remove_dir_all(live.root().join(".memod")).unwrap();
    assert_eq!(listed(&live, &id).len(), 0);
    assert_eq!(get(&live, &id)["archived_why"], "file");
}

/// Also where the files have the names of memories: only so many of them are looked at, and that is said.
#[test]
fn files_that_show_no_memory_cost_one_listing() {
    const N_BARREN: usize = 1_500;
    const MOST_BARREN: usize = 1_000;
    let live = Live::idle();
    let calls = live.sandbox.path("calls");
    let strace = ["-D", "-I2", "-f", "-qq", "-e", "trace=%stat", "-o", calls.to_str().unwrap()];
    let memod = live.memod();
    if !live.sandbox.program("strace", &["true"]).output().is_ok_and(|output| output.status.success()) {
        return not_checked("what a look at memories costs: strace cannot be run");
    }
    let mut command = live.sandbox.program("strace", &strace);
    live.start_as(command.arg(memod.get_program()).args(memod.get_args()));
    let id = add_shared(&live, "alpha is the first");
    let path = |number: usize| format!(".memod/memories/mem_01M7YYNZ2R27{number:014}.md");
    for number in 0..N_BARREN {
        live.write(&path(number), "no memory");
    }
    let ask = |n_left: usize| {
        let listed = call(&live, "memory.list", json!({}));
        let reason = listed["reason"].as_str().unwrap_or_default();
        let is_told = reason.contains(&format!(".memod/memories: {n_left} more files"));
        assert_eq!((is_told, &listed["fresh"]), (n_left > 0, &json!(n_left == 0)), "{listed}");
        listed
    };
    assert!(ask(N_BARREN - MOST_BARREN).to_string().contains("alpha is the first"));
    let log = || fs::read_to_string(&calls).unwrap();
    let before = log().len();
    ask(N_BARREN - MOST_BARREN);
    let log = log();
    let names: BTreeSet<&str> =
        log[before..].split("mem_01M7YYNZ2R27").skip(1).map(|rest| &rest[..14]).collect();
    assert!(names.len() <= MOST_BARREN, "{} files of {N_BARREN} are looked at again", names.len());
    write_file(&live, FOREIGN, &file("beta came later", ""));
    assert!(ask(N_BARREN - MOST_BARREN).to_string().contains("beta came later"));
    assert_eq!(get(&live, &id)["content"], "alpha is the first");
    write_file(&live, &path(N_BARREN - 1)[16..46], &file("gamma was no memory", ""));
    for number in 0..N_BARREN - MOST_BARREN {
        live.remove(&path(number));
    }
    assert!(ask(0).to_string().contains("gamma was no memory"));
}

#[test]
fn a_file_that_is_no_memory_any_more_is_named() {
    let live = Live::new();
    live.write("a.md", "x");
    live.commit_all();
    let (id, other) = (add_shared(&live, "alpha is the first"), add_shared(&live, "beta stays"));
    let text = text_of(&live, &id);
    live.sh("git add -A && git commit -qm shared && git worktree add -q ../side -b side");
    let side = live.sandbox.path("side");
    assert_eq!(live.call_in(&side, "memory.list", json!({}))["total"], 2);
    let name = format!(".memod/memories/{id}.md");
    let break_it = |root: &std::path::Path| fs::write(root.join(&name), text.replace("---", "--")).unwrap();
    break_it(&live.root());
    // What another worktree has can be read.
    let exported = |code: i32| {
        let output = live.memo(&["export"]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let lines = String::from_utf8(output.stdout).unwrap();
        (lines.contains(&id), lines.contains(&other), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!((exported(0).0, exported(0).1), (true, true));
    let why = refusal(&live, "memory.get", json!({ "ids": [id] }));
    assert!(
        why.contains(&name) && why.contains("not a memory"),
        "not only that another worktree has it: {why}"
    );
    break_it(&side);
    live.call_in(&side, "memory.list", json!({}));
    let memory = call(&live, "memory.get", json!({ "ids": [id] }));
    assert_eq!(memory["memories"][0]["archived_why"], "unreadable", "{memory}");
    assert!(memory["fresh"] == false && memory["reason"].as_str().unwrap().contains(&name), "{memory}");
    let list = call(&live, "memory.list", json!({ "archived": true }));
    assert!(list["memories"][0]["archived_why"] == "unreadable" && list["fresh"] == false, "{list}");
    let output = live.memo(&["get", &id]).output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert!(
        said.contains(&name) && said.contains("line 1 is not ---") && !said.contains("no worktree has"),
        "{said}"
    );
    let (is_there, is_other_there, said) = exported(1);
    assert!(!is_there && is_other_there && said.contains(&name) && said.contains("left out"), "{said}");
    // Only the other worktree has it again.
    fs::write(side.join(&name), &text).unwrap();
    live.call_in(&side, "memory.list", json!({}));
    assert!(exported(0).0);
    fs::remove_file(side.join(&name)).unwrap();
    live.call_in(&side, "memory.list", json!({}));
    fs::remove_file(live.root().join(&name)).unwrap();
    assert_eq!(get(&live, &id)["archived_why"], "file");
    assert!(!exported(0).0);
}

#[test]
fn what_is_no_memory_costs_one_listing() {
    const N_OTHERS: usize = 5_000;
    let live = Live::new();
    let id = add_shared(&live, "alpha is the first");
    for number in 0..N_OTHERS {
        live.write(&format!(".memod/memories/{number}.txt"), "no memory");
    }
    let listed = call(&live, "memory.list", json!({}));
    assert!(listed["notice"].as_str().unwrap().contains(&format!("{N_OTHERS} unreadable")), "{listed}");
    assert_eq!((&listed["total"], found(&live, "alpha")), (&json!(1), vec![id.clone()]));
    let said = complaint(&live, ".memod/memories").unwrap();
    assert!(said.contains("more files that are not memories"), "{said}");
    assert!(complaint(&live, "/0.txt").unwrap().contains("not the id of a memory"));
    let n_checks = call(&live, "doctor", json!({}))["checks"].as_array().unwrap().len();
    assert!(n_checks < 100, "{n_checks}");
    // What is new among them is seen.
    write_file(&live, FOREIGN, &file("beta came later", ""));
    assert_eq!(found(&live, "beta"), [FOREIGN]);
    call(&live, "memory.update", json!({ "id": id, "content": "alpha is changed" }));
    write_file(&live, &id, &text_of(&live, &id).replace("changed", "edited"));
    assert_eq!(get(&live, &id)["content"], "alpha is edited");
    for number in 0..N_OTHERS {
        live.remove(&format!(".memod/memories/{number}.txt"));
    }
    assert_eq!(call(&live, "memory.list", json!({}))["notice"], json!(null));
    let checks = call(&live, "doctor", json!({}))["checks"].to_string();
    assert!(checks.contains("2 files of shared memories, none in conflict"), "{checks}");
}

/// The files are then as they were when they were last looked at, but the rows are not.
#[test]
fn a_file_that_goes_right_after_a_verb_wrote_it_is_gone() {
    let live = Live::new();
    add_shared(&live, "alpha is the first");
    assert_eq!(call(&live, "memory.list", json!({}))["total"], 1);
    let shared = add_shared(&live, "beta is the second");
    fs::remove_file(path_of(&live, &shared)).unwrap();
    assert_eq!(call(&live, "memory.list", json!({}))["total"], 1);
    assert_eq!(get(&live, &shared)["archived_why"], "file");
    let edited = add_shared(&live, "gamma is the third");
    assert_eq!(get(&live, &edited)["content"], "gamma is the third");
    let text = text_of(&live, &edited);
    call(&live, "memory.update", json!({ "id": edited, "content": "delta is the third" }));
    write_file(&live, &edited, &text);
    assert_eq!(get(&live, &edited)["content"], "gamma is the third");
}
