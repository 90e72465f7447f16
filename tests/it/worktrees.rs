//! Which tree does an answer come from, where there are several or none of git's?

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::live::{Live, memo, memo_in, until, word};
#[cfg(unix)]
use crate::system::mode;

/// Returns a repository with `a.md` committed, which says `alpha`, and its daemon.
fn with_commit() -> Live {
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.commit_all();
    live.start();
    live
}

/// Returns the status as `memo -C dir` has it.
fn status(live: &Live, dir: &str) -> Value {
    memo(live, &["-C", dir, "status"]).1
}

#[test]
fn linked_worktrees_share_the_daemon_and_nothing_else() {
    let live = with_commit();
    for dir in ["../linked", "in/side"] {
        live.git(&["worktree", "add", "-q", dir, "-b", dir.rsplit('/').next().unwrap()]);
        let linked = live.root().join(dir).canonicalize().unwrap();
        live.expect_in(&linked, "alpha", "a.md", "checked out");
        fs::write(linked.join("a.md"), "beta").unwrap();
        fs::create_dir(linked.join("s")).unwrap();
        fs::write(linked.join("s/b.md"), "gamma").unwrap();
        live.expect_in(&linked, "beta", "a.md", "changed here");
        live.expect_in(&linked, "alpha", "", "changed here");
        live.expect_in(&linked.join("s"), "gamma", "s/b.md", "from a directory inside");
        live.expect("alpha", "a.md", "not changed there");
        live.expect("gamma", "", "not written there");
        live.write("a.md", "delta");
        live.expect_in(&linked, "delta", "", "not changed here");
        live.write("a.md", "alpha");
        assert_eq!(status(&live, dir)["daemon"]["pid"], live.pid());
    }
    assert_eq!(live.call("status", json!({}))["views"].as_array().unwrap().len(), 3);
    assert_eq!(live.listed().1, ["in/side nested-repository"]);
    // Rules of the common dir hold for all of them.
    fs::write(live.root().join(".git/info/exclude"), "b.md\n").unwrap();
    live.expect_in(&live.root().join("in/side"), "gamma", "", "excluded everywhere");
}

#[test]
fn what_moves_away_and_back_is_watched_as_before() {
    let live = with_commit();
    live.git(&["worktree", "add", "-q", "in/side", "-b", "side"]);
    let linked = live.root().join("in/side");
    live.expect_in(&linked, "alpha", "a.md", "checked out");
    for (number, moved) in ["in", ".git", ".git/memo/cookies", ".git/worktrees"].into_iter().enumerate() {
        live.rename(moved, "aside");
        live.rename("aside", moved);
        for (round, dir) in [&linked, &live.root()].into_iter().enumerate() {
            let new = word(2 * number + round);
            fs::write(dir.join("new.md"), &new).unwrap();
            // Not over one connection: without its state dir, if only for a moment, a daemon may end.
            let (code, answer) = memo_in(&live, dir, &["search", &new]);
            assert_eq!((code, &answer["fresh"]), (0, &json!(true)), "{moved}: {answer}");
            assert_eq!(
                (&answer["hits"][0]["path"], &answer["hits"][0]["snippet"]),
                (&json!("new.md"), &json!(new))
            );
        }
    }
    assert_eq!(memo(&live, &["status"]).1["degraded"], json!([]));
    memo(&live, &["stop"]);
}

#[test]
fn a_worktree_in_the_place_of_another() {
    let live = with_commit();
    live.git(&["checkout", "-qb", "other"]);
    live.write("a.md", "omega");
    live.commit_all();
    live.git(&["checkout", "-q", "main"]);
    let linked = live.sandbox.path("linked");
    let path = linked.to_str().unwrap().to_owned();
    for round in 0..3 {
        for (branch, word, other) in [("one", "alpha", "omega"), ("two", "omega", "alpha")] {
            let from = if branch == "one" { "main" } else { "other" };
            live.git(&["worktree", "add", "-q", "-B", branch, &path, from]);
            live.expect_in(&linked, word, "a.md", branch);
            live.expect_in(&linked, other, "", branch);
            fs::write(linked.join("new.md"), format!("{branch}{round}")).unwrap();
            live.expect_in(&linked, &format!("{branch}{round}"), "new.md", branch);
            live.git(&["worktree", "remove", "--force", &path]);
            let gone = live.rpc().call("search", &json!({ "cwd": path, "query": word })).unwrap_err();
            assert_eq!(gone["code"], memod_proto::code::WRONG_REPOSITORY, "{gone}");
            live.expect("alpha", "a.md", "the main worktree is as it was");
        }
    }
    live.git(&["worktree", "add", "-q", &path, "-B", "three"]);
    live.expect_in(&linked, "alpha", "a.md", "before it is deleted behind git's back");
    fs::remove_dir_all(&linked).unwrap();
    until("a worktree that is gone is no view", || {
        live.call("status", json!({}))["views"].as_array().unwrap().len() == 1
    });
    assert_eq!(live.call("status", json!({}))["degraded"], json!([]));
}

#[test]
fn a_daemon_started_in_a_linked_worktree_serves_the_main_one() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../linked"]);
    let pid = status(&live, "../linked")["daemon"]["pid"].clone();
    assert_eq!(status(&live, ".")["daemon"]["pid"], pid);
    live.write("b.md", "beta");
    live.expect("beta", "b.md", "written in the main worktree");
    let linked = live.sandbox.path("linked");
    fs::write(live.sandbox.path("excludes"), "c.md\n").unwrap();
    fs::write(linked.join("c.md"), "gamma").unwrap();
    live.expect_in(&linked, "gamma", "c.md", "written in the linked one");
    live.git(&["config", "core.excludesFile", live.sandbox.path("excludes").to_str().unwrap()]);
    live.expect_in(&linked, "gamma", "", "one setting for both");
    live.git(&["add", "-f", "b.md"]);
    live.expect("beta", "b.md", "the index of the main worktree");
}

#[test]
fn a_repository_inside_is_another_one() {
    let live = with_commit();
    live.write("sub/s.md", "sigma");
    live.expect("sigma", "sub/s.md", "a directory");
    live.git(&["init", "-q", "sub"]);
    live.expect("sigma", "", "a repository");
    assert_eq!(live.listed().1, ["sub nested-repository"]);
    live.write("sub/t.md", "tau");
    live.expect("tau", "", "written inside it");
    assert_ne!(status(&live, "sub")["daemon"]["pid"], live.pid());
    live.memo(&["-C", "sub", "stop"]).output().unwrap();
    live.remove("sub/.git");
    live.expect("sigma", "sub/s.md", "a directory again");
    live.write("sub/t.md", "upsilon");
    live.expect("upsilon", "sub/t.md", "a directory again");
    live.git(&["clone", "-q", ".", "sub2/deep"]);
    live.write("sub2/deep/z.md", "zeta");
    live.expect("zeta", "", "a clone is not searched");
    live.kill();
    live.start();
    live.expect("zeta", "", "nor by the next daemon");
    live.remove("sub2/deep/.git");
    live.expect("zeta", "sub2/deep/z.md", "unless it is none any more");
}

#[test]
fn outside_git() {
    let live = Live::idle();
    let plain = live.sandbox.path("plain");
    fs::create_dir_all(plain.join("s")).unwrap();
    fs::write(plain.join("s/a.md"), "alpha").unwrap();
    fs::write(plain.join(".gitignore"), "*.log\n").unwrap();
    fs::write(plain.join("b.log"), "beta").unwrap();
    let dir = plain.to_str().unwrap();
    let fails = |args: &[&str], expected: &str| {
        let output = live.memo(&["-C", dir]).args(args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), said.as_str()), (Some(2), expected), "{args:?}");
        assert!(!plain.join(".memo").exists(), "{args:?} has created it");
    };
    let unasked = format!(
        "memo: {dir}: not in a git repository, and not indexed\n\
         hint: `memo init` indexes this directory; -C DIR names another\n"
    );
    for args in [&["search", "alpha"][..], &["status"], &["map"], &["add", "x"], &["sync"], &["restart"]] {
        fails(args, &unasked);
    }
    assert_eq!(live.memo(&["-C", &format!("{dir}/s"), "init"]).output().unwrap().status.code(), Some(0));
    assert!(
        plain.join("s/.memo").is_dir()
            && live.memo(&["-C", &format!("{dir}/s"), "stop"]).status().unwrap().success()
    );
    fails(&["search", "alpha"], &unasked);
    fs::remove_dir_all(plain.join("s/.memo")).unwrap();
    assert_eq!(live.memo(&["-C", dir, "init"]).output().unwrap().status.code(), Some(0));
    let first = status(&live, dir);
    assert_eq!(first["state_dir"], json!(plain.join(".memo")));
    assert_eq!(fs::read_to_string(plain.join(".memo/.gitignore")).unwrap(), "*\n");
    #[cfg(unix)]
    assert_eq!(mode(&plain.join(".memo")) & 0o777, 0o700);
    let hits = |word: &str| {
        let output = live.memo(&["-C", &format!("{dir}/s"), "search", word, "--json"]).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer["fresh"], true, "{answer}");
        let shown =
            |hit: &Value| hit["snippet"].as_str().unwrap().contains(word).then(|| hit["path"].clone());
        answer["hits"].as_array().unwrap().iter().filter_map(shown).collect::<Vec<_>>()
    };
    assert_eq!(hits("alpha"), ["s/a.md"]);
    assert_eq!(hits("beta"), [""; 0]);
    fs::write(plain.join("s/a.md"), "gamma").unwrap();
    assert_eq!((hits("gamma"), hits("alpha")), (vec![json!("s/a.md")], vec![]));
    fs::remove_file(plain.join(".gitignore")).unwrap();
    assert_eq!(hits("beta"), ["b.log"]);
    assert_eq!(status(&live, dir)["daemon"]["pid"], first["daemon"]["pid"]);
    assert!(live.memo(&["-C", dir, "stop"]).output().unwrap().status.success());
}

#[test]
fn a_state_dir_that_came_with_an_archive_is_nobodys() {
    let live = Live::idle();
    let plain = live.sandbox.path("plain");
    let state = plain.join(".memo");
    fs::create_dir_all(&state).unwrap();
    for (name, text) in
        [("index.db", "theirs"), ("memory.db", "theirs"), ("config.toml", "[search]\nlimit = 3\n")]
    {
        fs::write(state.join(name), text).unwrap();
    }
    let dir = plain.to_str().unwrap();
    let run = |args: &[&str]| live.sandbox.show(live.memo(&["-C", dir]).args(args));
    for args in [&["search", "x"][..], &["status"]] {
        assert!(run(args).starts_with("exit 2\nerr: memo: [TOP]/plain: not in a git repository"), "{args:?}");
    }
    let refused = "exit 2\nerr: memo: [TOP]/plain/.memo: was not created by memo\n";
    assert!(run(&["init"]).starts_with(refused), "{}", run(&["init"]));
    assert_eq!(fs::read_to_string(state.join("memory.db")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(&state).unwrap().count(), 3, "nothing was added");
}

#[test]
fn an_index_outside_git_is_begun_again_where_it_was_moved() {
    let live = Live::idle();
    let (old, new) = (live.sandbox.path("old"), live.sandbox.path("new"));
    fs::create_dir(&old).unwrap();
    let run =
        |dir: &Path, args: &[&str]| live.memo(&["-C", dir.to_str().unwrap()]).args(args).output().unwrap();
    assert_eq!(run(&old, &["init", "-q"]).status.code(), Some(0));
    assert_eq!(run(&old, &["add", "what a person wrote"]).status.code(), Some(0));
    assert_eq!(run(&old, &["stop", "-q"]).status.code(), Some(0));
    fs::rename(&old, &new).unwrap();
    assert_eq!(run(&new, &["list"]).status.code(), Some(2), "it is asked for in the former place alone");
    assert_eq!(run(&new, &["init", "-q"]).status.code(), Some(0));
    let listed = run(&new, &["list"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("what a person wrote"), "{listed:?}");
    run(&new, &["stop", "-q"]);
}

#[test]
fn memories_from_before_git_init_stay() {
    let live = Live::idle();
    let dir = live.sandbox.path("plain");
    fs::create_dir(&dir).unwrap();
    let run = |args: &[&str]| live.memo(args).current_dir(&dir).output().unwrap();
    assert_eq!(run(&["init", "-q"]).status.code(), Some(0));
    assert_eq!(run(&["add", "what a person wrote"]).status.code(), Some(0));
    assert_eq!(run(&["stop", "-q"]).status.code(), Some(0));
    live.git_in(&dir, &["init", "-q"]);
    let found = run(&["search", "person wrote", "--kind", "memory"]);
    assert!(String::from_utf8_lossy(&found.stdout).contains("what a person wrote"), "{found:?}");
    assert!(dir.join(".git/memo/memory.db").is_file());
    run(&["stop", "-q"]);
}

#[test]
fn settings_of_a_repository_name_no_code_to_run() {
    let live = Live::idle();
    fs::create_dir_all(live.root().join(".git/memo")).unwrap();
    fs::write(live.root().join(".git/memo/config.toml"), "[model]\nruntime = \"./evil.so\"\n").unwrap();
    let said = live.sandbox.show(&mut live.memo(&["search", "x"]));
    assert!(said.contains("model.runtime may stand only in the user's settings"), "{said}");
    let said = live.sandbox.show(&mut live.memo(&["config", "set", "model.cache_dir", "/tmp/x"]));
    assert!(said.starts_with("exit 2\n") && said.contains("model.cache_dir may stand only"), "{said}");
}

#[test]
fn an_empty_repository_has_no_match() {
    let live = Live::idle();
    let output = live.memo(&["search", "alpha"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout), (Some(1), Vec::new()), "{said}");
    assert!(said.starts_with("memo: no match for alpha"), "{said}");
    assert!(live.search("alpha").fresh);
    live.write("a.md", "alpha");
    live.expect("alpha", "a.md", "the first file");
}

#[test]
fn a_bare_repository_has_no_files() {
    let live = with_commit();
    live.git(&["clone", "-q", "--bare", ".", "../bare.git"]);
    let shown = live.sandbox.show(&mut live.memo(&["-C", "../bare.git", "search", "alpha"]));
    let expected = "exit 2\nerr: memo: [TOP]/bare.git: a git directory, not a worktree\n\
                    err: hint: run memo in a worktree; `git worktree add DIR` makes one of a bare repository\n";
    assert_eq!(shown, expected);
    let output =
        live.sandbox.program("git", &["-C", "../bare.git", "worktree", "add", "-q", "../of-bare"]).output();
    assert!(output.unwrap().status.success());
    let output = live.memo(&["-C", "../of-bare", "search", "alpha", "--json"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("a.md"), "a worktree of it has");
    assert!(live.memo(&["-C", "../of-bare", "stop"]).output().unwrap().status.success());
}
