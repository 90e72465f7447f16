//! Which worktree does an answer come from, when there are many and they come, go and move?

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::live::{Live, Mounted, not_checked, until, word};

/// Adds a linked worktree beside the main one and returns where.
fn add_worktree(live: &Live, name: &str, args: &[&str]) -> PathBuf {
    let path = live.sandbox.path(name);
    let mut all = vec!["worktree", "add", "-q", path.to_str().unwrap()];
    all.extend(args);
    live.git(&all);
    path
}

/// Returns what `memo` says in a directory, its daemon started if need be.
fn memo_in(live: &Live, dir: &Path, args: &[&str]) -> String {
    live.sandbox.show(live.memo(args).current_dir(dir))
}

/// Returns the paths that `memo search` finds in a directory, its daemon started if need be.
fn found_by_memo(live: &Live, dir: &Path, word: &str) -> Vec<String> {
    let output = live.memo(&["search", word, "--json"]).current_dir(dir).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["fresh"], true, "{answer}");
    let shows = |hit: &&Value| hit["snippet"].as_str().unwrap().contains(word);
    let path = |hit: &Value| hit["path"].as_str().unwrap().to_owned();
    answer["hits"].as_array().unwrap().iter().filter(shows).map(path).collect()
}

#[test]
fn a_word_of_nineteen_other_worktrees() {
    let live = Live::idle();
    let rare = word(1);
    live.write("a.md", "alpha");
    // Every file has the common word; the one with few others is ranked best, the one asked for last.
    for number in 0..250 {
        live.write(&format!("d/{number}.md"), format!("common {}", word(100 + number)));
    }
    live.commit_all();
    live.start();
    let mut others = Vec::new();
    for number in 0..19 {
        let dir = add_worktree(&live, &format!("w{number}"), &["--detach"]);
        fs::write(dir.join("a.md"), format!("{rare} {rare} common common common")).unwrap();
        for file in 0..30 {
            fs::write(dir.join(format!("d/{file}.md")), "common ".repeat(3 + number)).unwrap();
        }
        others.push(dir);
    }
    let last = add_worktree(&live, "last", &["--detach"]);
    for (number, other) in others.iter().enumerate() {
        live.expect_in(other, &rare, "a.md", &format!("worktree {number}"));
    }
    let found = live.search_with(&last, &rare, json!({ "wait_ms": 60_000 }));
    assert!(found.fresh && found.paths.is_empty(), "{found:?}");
    // Of all the files with the common word those of the others come first: 19 × 31 of them.
    let params = json!({ "query": "common", "limit": 200, "mode": "keyword", "wait_ms": 60_000 });
    let answer = live.call_in(&last, "search", params);
    let here = format!("{}", last.display());
    let hits = answer["hits"].as_array().unwrap();
    assert_eq!((hits.len(), &answer["fresh"]), (200, &json!(true)));
    for hit in hits {
        assert_eq!(hit["view"], here.as_str(), "{hit}");
        let text = fs::read_to_string(last.join(hit["path"].as_str().unwrap())).unwrap();
        assert!(text.contains(hit["snippet"].as_str().unwrap().trim()), "{hit}: {text}");
    }
    fs::write(last.join("z.md"), format!("{} common {rare}", "other words ".repeat(500))).unwrap();
    live.expect_in(&last, &rare, "z.md", "present here, far behind the others' in rank");
    live.expect_in(&last, "alpha", "a.md", "what is here");
    assert_eq!(live.call("status", json!({}))["views"].as_array().unwrap().len(), 21);
}

#[test]
fn never_the_text_of_the_worktree_before() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.commit_all();
    live.git(&["checkout", "-qb", "other"]);
    live.write("a.md", "omega");
    live.commit_all();
    live.git(&["checkout", "-q", "main"]);
    live.start();
    for round in 0..6 {
        let down = round % 2 == 1;
        for (from, here, gone) in [("main", "alpha", "omega"), ("other", "omega", "alpha")] {
            let dir = add_worktree(&live, "linked", &["--detach", from]);
            live.expect_in(&dir, here, "a.md", "added");
            live.expect_in(&dir, gone, "", "added");
            if down {
                live.kill();
            }
            live.git(&["worktree", "remove", "--force", dir.to_str().unwrap()]);
            if down && from == "main" {
                live.start(); // for the other one it is down all the time
            } else if down {
                add_worktree(&live, "linked", &["--detach", "main"]);
                live.start();
                live.expect_in(&dir, "alpha", "a.md", "in the place of another");
                live.expect_in(&dir, "omega", "", "in the place of another");
                live.git(&["worktree", "remove", "--force", dir.to_str().unwrap()]);
            }
        }
    }
}

#[test]
fn the_same_name_elsewhere() {
    let live = Live::new();
    live.write("a.md", "alpha");
    live.commit_all();
    for round in 0..20 {
        // Git calls both `linked`; nothing of the first may answer for the second, or forget it.
        let first = add_worktree(&live, "x/linked", &["--detach"]);
        fs::write(first.join("b.md"), "beta").unwrap();
        live.expect_in(&first, "beta", "b.md", "the first");
        live.git(&["worktree", "remove", "--force", first.to_str().unwrap()]);
        let second = add_worktree(&live, "y/linked", &["--detach"]);
        live.expect_in(&second, "alpha", "a.md", &format!("the second, round {round}"));
        live.expect_in(&second, "beta", "", "the second");
        live.git(&["worktree", "remove", "--force", second.to_str().unwrap()]);
    }
}

#[test]
fn a_worktree_moves() {
    let live = Live::idle();
    for number in 0..200 {
        live.write(&format!("{number}.md"), word(number));
    }
    live.commit_all();
    live.git(&["checkout", "-q", "--orphan", "other"]);
    live.git(&["rm", "-rqf", "."]);
    live.write("o.md", "omega");
    live.commit_all();
    live.start();
    let mut dir = add_worktree(&live, "moved-0", &["main"]);
    live.expect_in(&dir, &word(7), "7.md", "before it moves");
    for round in 1..=6 {
        let target = live.sandbox.path(&format!("moved-{round}"));
        let down = round % 2 == 0;
        let parses = live.counter("parses");
        if down {
            live.kill();
        }
        live.git(&["worktree", "move", dir.to_str().unwrap(), target.to_str().unwrap()]);
        fs::write(target.join("7.md"), word(1_000 + round)).unwrap();
        if down {
            live.start();
        }
        let what = format!("round {round}");
        live.expect_in(&target, &word(1_000 + round), "7.md", &what);
        live.expect_in(&target, &word(8), "8.md", &what);
        live.expect_in(&target, &word(999 + round), "", &what);
        assert_eq!(
            live.counter("parses") - if down { 0 } else { parses },
            1,
            "{what}: what was there is known"
        );
        let roots: Vec<_> = live.call("status", json!({}))["views"].as_array().unwrap().clone();
        assert_eq!(roots.len(), 2, "{what}: {roots:?}");
        let error = live.rpc().call("search", &json!({ "cwd": dir, "query": "omega" })).unwrap_err();
        assert_eq!(error["code"], memod_proto::code::WRONG_REPOSITORY, "{error}");
        dir = target;
    }
    // One moves away, another one comes to where it was.
    let target = live.sandbox.path("away");
    live.git(&["worktree", "move", dir.to_str().unwrap(), target.to_str().unwrap()]);
    live.git(&["checkout", "-q", "--detach"]);
    let name = dir.file_name().unwrap().to_str().unwrap().to_owned();
    add_worktree(&live, &name, &["other"]);
    live.expect_in(&dir, "omega", "o.md", "the other one");
    live.expect_in(&dir, &word(8), "", "the other one");
    live.expect_in(&target, &word(8), "8.md", "the one that moved");
    live.expect_in(&target, "omega", "", "the one that moved");
}

#[test]
fn a_worktree_that_went_while_nobody_looked_is_forgotten() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.commit_all();
    live.start();
    let dir = add_worktree(&live, "linked", &["--detach"]);
    fs::write(dir.join("b.md"), "beta").unwrap();
    live.expect_in(&dir, "beta", "b.md", "there");
    live.kill();
    live.git(&["worktree", "remove", "--force", dir.to_str().unwrap()]);
    live.start();
    live.expect("alpha", "a.md", "the main one");
    let reader = memod_index_db::IndexReader::open(&live.layout().state_dir.join("index.db")).unwrap();
    until("its row is gone", || reader.list_worktrees().unwrap().len() == 1);
}

#[test]
fn repositories_of_every_build() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.commit_all();
    // The git dir elsewhere.
    let apart = live.sandbox.path("apart");
    live.git(&["clone", "-q", "--separate-git-dir", "../apart.git", ".", "../apart"]);
    fs::write(apart.join("b.md"), "beta").unwrap();
    assert_eq!(found_by_memo(&live, &apart, "beta"), ["b.md"]);
    assert!(live.sandbox.path("apart.git/memo/index.db").is_file() && !apart.join(".memo").exists());
    fs::write(apart.join("b.md"), "gamma").unwrap();
    assert_eq!(found_by_memo(&live, &apart, "gamma"), ["b.md"]);
    assert_eq!(found_by_memo(&live, &apart, "beta"), [""; 0]);
    memo_in(&live, &apart, &["stop"]);
    // A link to it, which git takes as well.
    let linked = live.sandbox.path("linked");
    fs::create_dir(&linked).unwrap();
    std::os::unix::fs::symlink(live.root().join(".git"), linked.join(".git")).unwrap();
    fs::write(linked.join("c.md"), "delta").unwrap();
    assert_eq!(found_by_memo(&live, &linked, "delta"), ["c.md"]);
    memo_in(&live, &linked, &["stop"]);
    // A bare repository with worktrees: the usual `.bare` beside them.
    live.git(&["clone", "-q", "--bare", ".", "../many/.bare"]);
    let bare = live.sandbox.path("many/.bare");
    for (name, text) in [("one", "first"), ("two", "second")] {
        let dir = live.sandbox.path(&format!("many/{name}"));
        live.git_in(&bare, &["worktree", "add", "-q", dir.to_str().unwrap(), "-b", name]);
        fs::write(dir.join("b.md"), text).unwrap();
    }
    let (one, two) = (live.sandbox.path("many/one"), live.sandbox.path("many/two"));
    assert_eq!(found_by_memo(&live, &one, "first"), ["b.md"]);
    assert_eq!(found_by_memo(&live, &two, "second"), ["b.md"]);
    assert_eq!(found_by_memo(&live, &two, "first"), [""; 0]);
    fs::write(live.sandbox.path("many/.git"), "gitdir: ./.bare\n").unwrap();
    let shown = live.sandbox.show(&mut live.memo(&["-C", "../many", "search", "first"]));
    let told = "exit 2\nerr: memo: [TOP]/many: core.bare is true, so there is no worktree here\n";
    assert!(shown.starts_with(told), "{shown}");
    memo_in(&live, &one, &["stop"]);
    // A submodule: a repository of its own, with its git dir in the other's.
    let file = ["-c", "protocol.file.allow=always"];
    live.git(&[&file[..], &["submodule", "--quiet", "add", "../apart", "sub"]].concat());
    let sub = live.root().join("sub");
    fs::write(sub.join("s.md"), "sigma").unwrap();
    assert_eq!(found_by_memo(&live, &sub, "sigma"), ["s.md"]);
    assert_eq!(found_by_memo(&live, &live.root(), "sigma"), [""; 0]);
    fs::write(sub.join("s.md"), "tau").unwrap();
    assert_eq!(found_by_memo(&live, &sub, "tau"), ["s.md"]);
    assert!(live.root().join(".git/modules/sub/memo/index.db").is_file());
    memo_in(&live, &sub, &["stop"]);
}

#[test]
fn a_main_repository_that_moved() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.commit_all();
    let dir = add_worktree(&live, "linked", &["--detach"]);
    live.start();
    live.expect_in(&dir, "alpha", "a.md", "before");
    let moved = live.sandbox.path("moved");
    fs::rename(live.root(), &moved).unwrap();
    assert_eq!(live.wait_for_end(), Some(0));
    let said = live.sandbox.show(live.memo(&["search", "alpha"]).current_dir(&dir));
    let expected = "exit 2\n\
        err: memo: [TOP]/linked/.git: leads to [TOP]/work/.git/worktrees/linked, which does not exist\n\
        err: hint: `git status` says more; `git worktree repair` mends a moved worktree\n";
    assert_eq!(said, expected);
    assert_eq!(found_by_memo(&live, &moved, "alpha"), ["a.md"]);
    live.git_in(&moved, &["worktree", "repair"]);
    fs::write(dir.join("a.md"), "beta").unwrap();
    assert_eq!(found_by_memo(&live, &dir, "beta"), ["a.md"]);
    assert_eq!(found_by_memo(&live, &dir, "alpha"), [""; 0]);
    memo_in(&live, &moved, &["stop"]);
    fs::rename(&moved, live.root()).unwrap(); // where the end of the test looks for it
}

#[test]
fn a_copied_repository_has_a_daemon_of_its_own() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.commit_all();
    live.start();
    live.expect("alpha", "a.md", "before");
    let copy = live.sandbox.path("copy");
    let copied = live.sandbox.program("cp", &["-a", ".", copy.to_str().unwrap()]).status().unwrap();
    assert!(copied.success());
    fs::write(copy.join("a.md"), "beta").unwrap();
    assert_eq!(found_by_memo(&live, &copy, "beta"), ["a.md"]);
    live.expect("beta", "", "another repository");
    memo_in(&live, &copy, &["stop"]);
    assert!(!live.has_ended());
    // A repository that moved, and another where it was.
    let moved = live.sandbox.path("moved");
    fs::rename(live.root(), &moved).unwrap();
    assert_eq!(live.wait_for_end(), Some(0));
    fs::rename(&copy, live.root()).unwrap();
    live.start();
    live.expect("beta", "a.md", "in the place of the other");
    assert_eq!(found_by_memo(&live, &moved, "alpha"), ["a.md"]);
    memo_in(&live, &moved, &["stop"]);
}

#[test]
fn a_repository_that_is_mounted_at_two_paths() {
    let live = Live::new();
    live.write("a.md", "alpha");
    live.expect("alpha", "a.md", "where the daemon knows it");
    let other = live.sandbox.path("other");
    fs::create_dir(&other).unwrap();
    let Some(_mounted) = Mounted::at(&other, &["--bind", live.root().to_str().unwrap()]) else {
        return not_checked("a repository at two paths: this user may not mount");
    };
    let shown = live.sandbox.show(&mut live.memo(&["-C", "../other", "search", "alpha"]));
    let told =
        "exit 2\nerr: memo: [TOP]/other: belongs to another repository than this daemon's, [TOP]/work/.git\n";
    assert!(shown.starts_with(told), "{shown}");
    live.expect("alpha", "a.md", "it goes on");
}

#[test]
fn a_repository_that_moves_is_answered_from_its_new_place_at_once() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.commit_all();
    let [outer, further] = ["outer", "further"].map(|name| live.sandbox.path(name));
    fs::create_dir(&outer).unwrap();
    let search = |dir: &Path| {
        let began = Instant::now();
        assert_eq!(found_by_memo(&live, dir, "alpha"), ["a.md"]);
        let took = began.elapsed();
        assert!(took < Duration::from_secs(8), "{}: {took:?}", dir.display());
    };
    search(&live.root());
    // Walks that follow each other are further and further apart, and the daemon must not wait for the next one.
    for _ in 0..3 {
        memo_in(&live, &live.root(), &["search", "alpha", "--sync", "strict"]);
    }
    fs::rename(live.root(), outer.join("moved")).unwrap();
    search(&outer.join("moved"));
    fs::rename(&outer, &further).unwrap(); // no event tells of that
    search(&further.join("moved"));
    memo_in(&live, &further.join("moved"), &["stop"]);
    fs::rename(further.join("moved"), live.root()).unwrap(); // where the end of the test looks for it
}

/// What a daemon has to write when it ends goes with the repository or nowhere.
#[test]
fn a_repository_that_moves_leaves_nothing_behind() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.start();
    live.expect("alpha", "a.md", "before");
    let (root, moved) = (live.root(), live.sandbox.path("moved"));
    live.call("memory.add", json!({ "content": "a fact that is copied when the daemon ends" }));
    fs::rename(&root, &moved).unwrap();
    assert_eq!(found_by_memo(&live, &moved, "alpha"), ["a.md"]); // tells the daemon that it is not found
    live.wait_for_end();
    assert!(!root.exists(), "{:?}", fs::read_dir(&root).unwrap().collect::<Vec<_>>());
    memo_in(&live, &moved, &["stop"]);
    fs::rename(&moved, &root).unwrap(); // where the end of the test looks for it
}
