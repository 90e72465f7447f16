//! Does each worktree have the memories of its own files?

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{actions, add_shared, text_of};
use crate::live::{Live, memo, until};

fn in_dir(live: &Live, dir: &Path, id: &str) -> Vec<Value> {
    let list = live.call_in(dir, "memory.list", json!({ "limit": 1000 }));
    list["memories"].as_array().unwrap().iter().filter(|memory| memory["id"] == id).cloned().collect()
}

fn hits(live: &Live, dir: &Path, word: &str) -> usize {
    let result = live.call_in(dir, "search", json!({ "query": word, "kind": ["memory"], "mode": "keyword" }));
    result["hits"].as_array().unwrap().len()
}

/// Returns the texts of an export, sorted.
fn exported(live: &Live, dir: &Path) -> Vec<String> {
    let export = live.call_in(dir, "memory.export", json!({}));
    let texts =
        export["memories"].as_array().unwrap().iter().map(|memory| memory["content"].as_str().unwrap());
    let mut texts: Vec<String> = texts.map(str::to_owned).collect();
    texts.sort();
    texts
}

#[test]
fn an_export_has_each_memory_as_the_worktree_of_the_caller_has_it() {
    let live = Live::new();
    let both = add_shared(&live, "alpha of both");
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
    let (root, side) = (live.root(), live.sandbox.path("side"));
    add_shared(&live, "beta of one");
    live.call_in(&side, "memory.add", json!({ "content": "gamma is mine" }));
    let edit = |dir: &Path, text: &str| {
        let file = dir.join(format!(".memod/memories/{both}.md"));
        let said = text_of(&live, &both);
        let (front, _) = said.rsplit_once("---\n").unwrap();
        fs::write(file, format!("{front}---\n\n{text}\n")).unwrap();
    };
    for (here, there) in [("alpha", "delta"), ("epsilon", "delta"), ("epsilon", "zeta"), ("zeta", "zeta")] {
        edit(&root, here);
        edit(&side, there);
        for (dir, own) in [(&root, here), (&side, there), (&root, here)] {
            let mut expected = vec!["beta of one".to_owned(), "gamma is mine".to_owned(), own.to_owned()];
            expected.sort();
            assert_eq!(exported(&live, dir), expected, "{here} in {root:?}, {there} in {side:?}");
        }
    }
    // Where this worktree has it no more, the other one's is exported.
    fs::remove_file(root.join(format!(".memod/memories/{both}.md"))).unwrap();
    assert_eq!(exported(&live, &root), ["beta of one", "gamma is mine", "zeta"]);
}

#[test]
fn each_worktree_has_its_own_version() {
    let live = Live::new();
    live.write("a.md", "x");
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
    let (root, side) = (live.root(), live.sandbox.path("side"));
    let id = add_shared(&live, "alpha is the first");
    assert_eq!(
        (in_dir(&live, &root, &id).len(), in_dir(&live, &side, &id).len()),
        (1, 0),
        "not on that branch"
    );
    assert_eq!((hits(&live, &root, "alpha"), hits(&live, &side, "alpha")), (1, 0));
    live.commit_all();
    live.git_in(&side, &["merge", "-q", "main"]);
    assert_eq!((in_dir(&live, &root, &id).len(), in_dir(&live, &side, &id).len()), (1, 1));
    // Changed here with a verb, there by hand.
    live.call_in(&root, "memory.update", json!({ "id": id, "content": "beta is here" }));
    assert_eq!(in_dir(&live, &side, &id)[0]["content"], "alpha is the first");
    let there = side.join(format!(".memod/memories/{id}.md"));
    fs::write(&there, fs::read_to_string(&there).unwrap().replace("alpha is the first", "gamma is there"))
        .unwrap();
    assert_eq!(in_dir(&live, &side, &id)[0]["content"], "gamma is there");
    assert_eq!(in_dir(&live, &root, &id)[0]["content"], "beta is here");
    assert_eq!((hits(&live, &root, "beta"), hits(&live, &root, "gamma")), (1, 0));
    assert_eq!((hits(&live, &side, "beta"), hits(&live, &side, "gamma")), (0, 1));
    live.call_in(&side, "memory.update", json!({ "id": id, "add_tags": ["there"] }));
    assert_eq!(in_dir(&live, &root, &id)[0]["tags"], json!([]));
    assert!(fs::read_to_string(&there).unwrap().contains("  - there\n"));
    assert!(text_of(&live, &id).ends_with("\nbeta is here\n"));
    // The worktree that has the other version goes, and later the file.
    live.call_in(&root, "memory.forget", json!({ "ids": [id] }));
    assert_eq!((in_dir(&live, &root, &id).len(), in_dir(&live, &side, &id).len()), (0, 1));
    live.git(&["worktree", "remove", "--force", "../side"]);
    live.write(".memod/memories/README.md", "a look that changes something");
    assert_eq!(in_dir(&live, &root, &id).len(), 0);
    let history = actions(&live, &id);
    // Once by hand, and once when what the other worktree had was all that was left.
    assert_eq!(history.iter().filter(|action| *action == "update/repo").count(), 2, "{history:?}");
}

#[test]
fn switching_branches_brings_back_what_was_known() {
    let live = Live::new();
    live.write("a.md", "x");
    live.commit_all();
    live.git(&["switch", "-q", "-c", "with"]);
    let (old, new) = (add_shared(&live, "alpha is old"), add_shared(&live, "alpha is new"));
    live.call("memory.link", json!({ "from": new, "to": old, "kind": "supersedes" }));
    live.call("memory.recall", json!({ "query": "alpha" }));
    assert!(text_of(&live, &new).contains(&format!("supersedes:\n  - {old}\n")));
    live.commit_all();
    for _ in 0..3 {
        live.git(&["switch", "-q", "main"]);
        assert_eq!(live.call("memory.list", json!({}))["total"], 0);
        live.git(&["switch", "-q", "with"]);
        let memory = live.call("memory.get", json!({ "ids": [old] }))["memories"][0].clone();
        assert_eq!(
            (&memory["access_count"], &memory["links"][0]["relation"]),
            (&json!(1), &json!("superseded_by"))
        );
        assert_eq!((&memory["trust"], &memory["archived_at"]), (&json!("own"), &Value::Null));
    }
    assert_eq!(actions(&live, &old).len(), 6, "{:?}", actions(&live, &old));
}

/// A way in which a worktree goes: its name, and the command that is run beside it.
const WAYS: [(&str, &str); 6] = [
    ("removed", "git -C work worktree remove --force ../side"),
    ("deleted", "rm -rf side"),
    ("pruned", "rm -rf side && git -C work worktree prune"),
    (
        "replaced",
        "git -C work worktree remove --force ../side && git -C work worktree add -q -f ../side main --detach",
    ),
    ("taken by a repository", "rm -rf side && git init -q side"),
    ("taken by a worktree", "rm -rf side && git -C work worktree add -q -f ../side main --detach"),
];

/// Returns a repository with a linked worktree `side`, and a memory that only that has, in a file that is not committed.
fn with_side() -> (Live, String) {
    let live = Live::new();
    live.write("a.md", "x");
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
    let side = live.sandbox.path("side");
    let added =
        live.call_in(&side, "memory.add", json!({ "content": "alpha is only there", "client": "cli" }));
    let id = added["memory"]["id"].as_str().unwrap().to_owned();
    live.call_in(&side, "memory.share", json!({ "ids": [id] }));
    assert!(side.join(format!(".memod/memories/{id}.md")).exists());
    (live, id)
}

#[test]
fn what_only_a_worktree_had_that_is_gone_is_in_the_archive() {
    for (way, script) in WAYS {
        for restarts in [false, true] {
            let (live, id) = with_side();
            assert_eq!(in_dir(&live, &live.root(), &id).len(), 0, "it is on that branch alone");
            if restarts {
                live.kill();
            }
            live.sh_in(live.root().parent().unwrap(), script);
            if restarts {
                live.start();
            }
            let list = live.call("memory.list", json!({ "archived": true }));
            assert_eq!(list["memories"][0]["id"], json!(id), "{way}: {list}");
            assert_eq!(list["memories"][0]["archived_why"], "file", "{way}");
            assert!(list["notice"].as_str().unwrap().contains("side"), "{way}: {list}");
            assert_eq!(
                live.call("memory.get", json!({ "ids": [id] }))["memories"][0]["content"],
                "alpha is only there"
            );
            assert_eq!(live.call("memory.stats", json!({}))["archived"], 1, "{way}");
            assert!(actions(&live, &id).contains(&"forget/repo".to_owned()), "{way}");
            live.call("memory.restore", json!({ "ids": [id] }));
            assert!(text_of(&live, &id).ends_with("\nalpha is only there\n"), "{way}");
            live.call("doctor.acknowledge", json!({}));
            assert_eq!(live.call("memory.list", json!({}))["notice"], Value::Null, "{way}");
        }
    }
}

/// A verb, or another daemon, may have given it its first file.
#[test]
fn a_worktree_that_goes_before_another_one_asks_is_told() {
    for asks_before in [true, false] {
        let live = Live::new();
        live.write("a.md", "x");
        live.commit_all();
        live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
        let side = live.sandbox.path("side");
        let add = json!({ "content": "alpha is only there" });
        let id = live.call_in(&side, "memory.add", add)["memory"]["id"].clone();
        if asks_before {
            live.call("memory.list", json!({}));
        }
        live.call_in(&side, "memory.share", json!({ "ids": [id] }));
        live.git(&["worktree", "remove", "--force", "../side"]);
        let list = live.call("memory.list", json!({ "archived": true }));
        assert_eq!(list["memories"][0]["id"], id, "{asks_before}: {list}");
        assert!(list["notice"].as_str().is_some_and(|notice| notice.contains("1 of ")), "{list}");
    }
}

#[test]
fn a_worktree_that_goes_again_is_told_once() {
    let (live, id) = with_side();
    let top = live.root().parent().unwrap().to_owned();
    let mut place = "side";
    for next in ["side", "moved", "side"] {
        if next != place {
            live.sh_in(&top, &format!("git -C work worktree move ../{place} ../{next}"));
        }
        place = next;
        assert_eq!(in_dir(&live, &top.join(place), &id).len(), 1);
        live.sh_in(&top, &format!("mv {place} away"));
        let list = live.call("memory.list", json!({ "archived": true }));
        let notice = list["notice"].as_str().unwrap();
        assert!(notice.matches(" of /").count() == 1 && notice.contains("1 of "), "{next}: {notice}");
        live.sh_in(&top, &format!("mv away {place}"));
        assert_eq!(in_dir(&live, &top.join(place), &id).len(), 1);
    }
}

/// The worktree of who asks is here, wherever the daemon was started.
#[test]
fn the_doctor_looks_for_the_worktrees_besides_that_of_who_asks() {
    let (live, _) = with_side();
    let top = live.root().parent().unwrap().to_owned();
    live.kill();
    let output = live.memo(&["list"]).current_dir(top.join("side")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    live.git(&["worktree", "lock", "../side"]);
    fs::rename(top.join("side"), top.join("away")).unwrap();
    let (_, doctor) = memo(&live, &["doctor"]);
    assert!(doctor.to_string().contains("its memories are kept as last read"), "{doctor}");
}

#[test]
fn what_a_worktree_had_is_told_to_the_one_in_its_place() {
    for (way, script) in WAYS.into_iter().filter(|(_, script)| script.contains("worktree add")) {
        let (live, id) = with_side();
        live.sh_in(live.root().parent().unwrap(), script);
        let list = live.call_in(&live.sandbox.path("side"), "memory.list", json!({ "archived": true }));
        assert_eq!(list["memories"][0]["id"], json!(id), "{way}: {list}");
        assert!(list["notice"].as_str().unwrap().contains("1 of "), "{way}: {list}");
    }
}

#[test]
fn a_worktree_that_comes_back_has_its_memories_and_ends_the_notice() {
    for restarts in [false, true] {
        let (live, id) = with_side();
        let top = live.root().parent().unwrap().to_owned();
        let side = top.join("side");
        // What was changed just now would be read again in any case.
        live.sh_in(&top, "find side/.memod -exec touch -d '2024-01-02 03:04:05' {} +");
        assert_eq!(in_dir(&live, &side, &id).len(), 1);
        live.sh_in(&top, "mv side away");
        let list = live.call("memory.list", json!({ "archived": true }));
        assert!(list["total"] == 1 && list["notice"].as_str().unwrap().contains("1 of "), "{list}");
        live.sh_in(&top, "mv away side");
        if restarts {
            live.kill();
            live.start();
        }
        assert_eq!(in_dir(&live, &side, &id).len(), 1, "restarts: {restarts}");
        let list = live.call("memory.list", json!({ "archived": true }));
        assert_eq!((&list["total"], &list["notice"]), (&json!(0), &Value::Null), "restarts: {restarts}");
        // It is told again if it goes again.
        live.git(&["worktree", "remove", "--force", "../side"]);
        let list = live.call("memory.list", json!({ "archived": true }));
        assert!(list["total"] == 1 && list["notice"].as_str().unwrap().contains("1 of "), "{list}");
        assert_eq!(live.call("doctor.acknowledge", json!({}))["acknowledged"].as_array().unwrap().len(), 1);
        assert_eq!(live.call("memory.list", json!({}))["notice"], Value::Null);
    }
}

/// Returns how many changes of a kind files have made, as the database has it. No request is asked: it would look at the files.
fn n_made_by_files(live: &Live, action: &str) -> u64 {
    let conn = Connection::open(live.layout().state_dir.join("memory.db")).unwrap();
    let sql = "SELECT count(*) FROM history WHERE action = ?1 AND source = 'repo'";
    conn.query_row(sql, [action], |row| row.get(0)).unwrap()
}

#[test]
fn an_edit_is_kept_when_its_worktree_goes_before_anybody_asks() {
    type Before = fn(&Live, &Path, &str);
    let befores: [(&str, Before); 5] = [
        ("only its first verbs ran there", |_, _, _| ()),
        ("a verb was the last", |live, side, id| {
            live.call_in(side, "memory.update", json!({ "id": id, "add_tags": ["t"] }));
        }),
        ("its code was searched", |live, side, _| drop(live.search_with(side, "x", json!({})))),
        ("another worktree was asked first", |live, _, _| {
            live.kill();
            live.start();
            live.call("memory.list", json!({}));
        }),
        ("its directory was away", |live, side, id| {
            live.sh_in(side, "git add -A && git commit -qm with && git switch -q --detach HEAD~1");
            assert_eq!(in_dir(live, side, id).len(), 0);
            live.sh_in(side, "git switch -q side");
            assert_eq!(in_dir(live, side, id).len(), 1);
        }),
    ];
    for (what, before) in befores {
        let (live, id) = with_side();
        let side = live.sandbox.path("side");
        before(&live, &side, &id);
        let path = side.join(format!(".memod/memories/{id}.md"));
        for (nth, edit) in ["beta was edited", "gamma was edited"].into_iter().enumerate() {
            let text = fs::read_to_string(&path).unwrap();
            let (front, _) = text.split_once("\n---\n\n").unwrap();
            fs::write(&path, format!("{front}\n---\n\n{edit}\n")).unwrap();
            until(&format!("edit {nth} is in the history where {what}"), || {
                n_made_by_files(&live, "update") > nth as u64
            });
        }
        live.git(&["worktree", "remove", "--force", "../side"]);
        let list = live.call("memory.list", json!({ "archived": true }));
        assert_eq!(list["memories"][0]["content"], "gamma was edited", "{what}: {list}");
        let history = live.call("memory.history", json!({ "ids": [id] })).to_string();
        assert!(history.contains("beta was edited"), "{what}: {history}");
    }
}

#[test]
fn what_came_and_went_before_anybody_asks_is_gone() {
    let (live, id) = with_side();
    let side = live.sandbox.path("side");
    let path = |id: &str| side.join(format!(".memod/memories/{id}.md"));
    let text = fs::read_to_string(path(&id)).unwrap();
    // A merge that git gives up puts back what was deleted, and deletes it again.
    live.call_in(&side, "memory.forget", json!({ "ids": [id] }));
    assert_eq!(in_dir(&live, &side, &id).len(), 0);
    fs::write(path(&id), &text).unwrap();
    until("the file that is back was taken", || n_made_by_files(&live, "restore") > 0);
    fs::remove_file(path(&id)).unwrap();
    assert_eq!(in_dir(&live, &side, &id).len(), 0);
    let archived = live.call_in(&side, "memory.list", json!({ "archived": true }));
    assert_eq!(archived["memories"][0]["id"], json!(id), "{archived}");
    // One that nobody had.
    let new = "mem_01J00000000000000000000001";
    let n_added = n_made_by_files(&live, "add");
    fs::write(path(new), &text).unwrap();
    until("the new file was taken", || n_made_by_files(&live, "add") > n_added);
    fs::remove_file(path(new)).unwrap();
    assert_eq!(in_dir(&live, &side, new).len(), 0);
}

#[test]
fn no_answer_is_older_than_the_last_edit() {
    let (live, id) = with_side();
    let side = live.sandbox.path("side");
    let path = side.join(format!(".memod/memories/{id}.md"));
    let text = fs::read_to_string(&path).unwrap();
    for round in 0..40 {
        for nth in 0..3 {
            let edit = format!("edit {round} {nth}");
            fs::write(&path, text.replace("alpha is only there", &edit)).unwrap();
            if nth != 1 {
                assert_eq!(in_dir(&live, &side, &id)[0]["content"], json!(edit));
            }
        }
    }
}

#[test]
fn a_worktree_that_is_away_keeps_its_memories() {
    let (live, id) = with_side();
    live.git(&["worktree", "lock", "../side"]);
    let top = live.root().parent().unwrap().to_owned();
    let (side, away) = (top.join("side"), top.join("away"));
    fs::rename(&side, &away).unwrap();
    assert_eq!(live.call("memory.list", json!({ "archived": true }))["total"], 0);
    let refused = live.memo(&["get", &id]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        said.contains("only in a file of another worktree")
            && said.contains("side")
            && said.contains("memo restore"),
        "{said}"
    );
    let checks = live.call("doctor", json!({}))["checks"].to_string();
    assert!(
        checks.contains("locked, and") && checks.contains("its memories are kept as last read"),
        "{checks}"
    );
    fs::rename(&away, &side).unwrap();
    assert_eq!(in_dir(&live, &side, &id).len(), 1);
    assert_eq!(actions(&live, &id).last().unwrap(), "share/api");
}

#[test]
fn a_worktree_that_was_moved_has_its_memories() {
    for script in ["git -C work worktree move ../side ../moved", "mv side moved"] {
        let (live, id) = with_side();
        let top = live.root().parent().unwrap().to_owned();
        live.sh_in(&top, script);
        assert_eq!(in_dir(&live, &live.root(), &id).len(), 0, "{script}");
        let moved = top.join("moved");
        assert_eq!(in_dir(&live, &moved, &id).len(), 1, "{script}");
        assert_eq!(in_dir(&live, &live.root(), &id).len(), 0, "{script}");
        assert_eq!(in_dir(&live, &moved, &id)[0]["archived_at"], Value::Null, "{script}");
        assert_eq!(hits(&live, &moved, "alpha"), 1, "{script}");
    }
}

/// Returns the changes in the history of a memory.
fn changes(live: &Live, id: &str) -> Vec<Value> {
    let history = live.call("memory.history", json!({ "ids": [id] }));
    history["changes"].as_array().unwrap().clone()
}

/// A link is of each worktree whose file says it, and a question from one asks nothing of the others.
#[test]
fn a_question_about_all_worktrees_changes_no_link() {
    let live = Live::new();
    live.write("a.md", "x");
    let (old, new) = (add_shared(&live, "alpha is old"), add_shared(&live, "alpha is new"));
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
    live.call("memory.link", json!({ "from": new, "to": old, "kind": "supersedes" }));
    let side = live.sandbox.path("side");
    live.call_in(&side, "memory.list", json!({}));
    live.call("memory.list", json!({}));
    let before = changes(&live, &new);
    let file = side.join(format!(".memod/memories/{new}.md"));
    for content in ["alpha is changed", "alpha is changed again"] {
        live.call("memory.export", json!({}));
        let text = fs::read_to_string(&file).unwrap();
        let (front, _) = text.rsplit_once("\n\n").unwrap_or_else(|| text.rsplit_once("---\n").unwrap());
        fs::write(&file, format!("{front}\n\n{content}\n")).unwrap();
    }
    let exported = live.call("memory.export", json!({}));
    assert_eq!(exported["fresh"], true, "{exported}");
    let is_link = |change: &&Value| change["action"].as_str().unwrap().ends_with("link");
    let links = |changes: &[Value]| changes.iter().filter(is_link).count();
    assert_eq!(links(&changes(&live, &new)), links(&before), "{:?}", changes(&live, &new));
    let linked = live.call("memory.get", json!({ "ids": [old] }))["memories"][0].clone();
    assert_eq!(linked["links"][0]["relation"], "superseded_by", "{linked}");
}

/// The text of a memory is changed in one worktree, and a recall and a link are of the memory.
#[test]
fn the_history_names_the_worktree_of_a_text_alone() {
    let live = Live::new();
    live.write("a.md", "x");
    let (one, other) = (add_shared(&live, "alpha is one"), add_shared(&live, "beta is another"));
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
    live.call_in(&live.sandbox.path("side"), "memory.list", json!({}));
    live.call("memory.recall", json!({ "query": "alpha" }));
    live.call("memory.link", json!({ "from": one, "to": other, "kind": "related_to" }));
    live.call("memory.unlink", json!({ "from": one, "to": other }));
    live.call("memory.update", json!({ "id": one, "content": "alpha is changed" }));
    let mut n_seen = 0;
    for change in changes(&live, &one) {
        let names_worktree = change.to_string().contains("\"worktree\"");
        match change["action"].as_str().unwrap() {
            "recall" | "link" | "unlink" => assert!(!names_worktree, "{change}"),
            "update" => assert!(names_worktree, "{change}"),
            _ => continue,
        }
        n_seen += 1;
    }
    assert_eq!(n_seen, 4);
}

/// The worktree has the file of that memory, though with another text.
#[test]
fn a_memory_that_is_here_is_not_said_to_be_elsewhere() {
    let live = Live::new();
    live.write("a.md", "x");
    let id = add_shared(&live, "gamma is here");
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
    let side = live.sandbox.path("side");
    live.call_in(&side, "memory.list", json!({}));
    live.call_in(&side, "memory.update", json!({ "id": id, "content": "delta is there" }));
    let added = live.call("memory.add", json!({ "content": "delta is there" }));
    assert_eq!(added["notice"], Value::Null, "the file is here: {added}");
}
