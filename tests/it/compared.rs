//! Does `memo changed` compare what `git diff` compares?

use std::path::Path;

use serde_json::{Value, json};

#[cfg(unix)]
use crate::converted::as_git;
use crate::live::Live;

/// Makes four commits a day apart, the last one today: two of `src`, one of `docs`, and a rename.
const FOUR_DAYS: &str = r#"
day=$(( $(date +%s) - 4 * 86400 ))
commit() {
    day=$((day + 86400)); export GIT_AUTHOR_DATE="@$day +0000" GIT_COMMITTER_DATE="@$day +0000"
    git add -A; git commit -q -m "$1"
}
mkdir src docs
printf 'def one():\n    first = 1\n    return first\n' > src/a.py; commit "Add one"
printf 'def one():\n    first = 2\n    return first\n\n\ndef two():\n    second = 2\n    return second\n' > src/a.py
commit "Add two"
echo '# Guide' > docs/guide.md; commit "Write a guide"
git mv src/a.py src/b.py; commit "Rename a"
"#;

/// Returns the exit code and the answer of `memo changed`; the flag goes before the words, which may contain `--`.
fn changed_in(live: &Live, dir: &Path, words: &[&str]) -> (i32, Value) {
    let all = [&["changed", "--json=full"], words].concat();
    let output = live.memo(&all).current_dir(dir).output().unwrap();
    let answer = serde_json::from_slice(&output.stdout);
    (output.status.code().unwrap(), answer.unwrap_or_else(|_| panic!("{words:?}: {output:?}")))
}

fn changed(live: &Live, words: &[&str]) -> (i32, Value) {
    changed_in(live, &live.root(), words)
}

fn files(result: &Value) -> Vec<String> {
    let files = result["files"].as_array().unwrap_or_else(|| panic!("{result}")).iter();
    let names = |file: &Value, key: &str| {
        let names = file["symbols"][key].as_array().into_iter().flatten();
        names.map(|name| format!(" {key} {}", name.as_str().unwrap())).collect::<String>()
    };
    let shown = files.map(|file| {
        let (status, path) = (file["status"].as_str().unwrap(), file["path"].as_str().unwrap());
        format!("{status} {path}{}{}", names(file, "added"), names(file, "changed"))
    });
    shown.collect()
}

fn subjects(result: &Value) -> Vec<&str> {
    let commits = result["commits"].as_array().unwrap_or_else(|| panic!("{result}")).iter();
    commits.map(|commit| commit["subject"].as_str().unwrap()).collect()
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_compared_as_by_git() {
    let live = Live::new();
    live.sh("mkdir d; echo one > d/a.md; ln -s d/a.md kept; ln -s d/a.md gone; ln -s nowhere broken; ln -s d dir; ln -s d/a.md turned");
    live.sh("ln -s d/a.md becomes; git add -A; git commit -q -m first");
    let check = |words: &[&str], expected: &[&str], what: &str| {
        let (_, answer) = changed(&live, words);
        assert_eq!(files(&answer), expected, "{what}: {answer}");
        assert_eq!((&answer["fresh"], &answer["complete"]), (&json!(true), &json!(true)), "{what}: {answer}");
    };
    check(&[], &[], "all are as they were");
    live.sh("rm gone broken dir becomes; ln -sfn d turned; ln -s kept new; echo two > becomes");
    let all =
        ["modified becomes", "removed broken", "removed dir", "removed gone", "added new", "modified turned"];
    check(&[], &all, "in the worktree");
    live.sh("git add -A; git commit -q -m second");
    check(&["HEAD~1"], &all, "of the commit before");
    check(&["HEAD~1..HEAD"], &all, "between two commits");
    check(&["HEAD~1..HEAD", "--", "dir"], &["removed dir"], "one of them");
}

#[test]
fn two_commits_and_paths() {
    let live = Live::idle();
    live.sh(FOUR_DAYS);
    live.write("src/b.py", "not committed\n");
    let a_to_c = ["added docs/guide.md", "modified src/a.py added two changed one"];
    for range in [&["HEAD~3..HEAD~1"][..], &["HEAD~3", "HEAD~1"], &["--since", "HEAD~3..@~"]] {
        let (exit, result) = changed(&live, range);
        assert_eq!((exit, files(&result)), (0, a_to_c.map(str::to_owned).to_vec()), "{range:?}");
        assert_eq!(subjects(&result), ["Write a guide", "Add two"]);
        assert_eq!(
            (&result["until"]["subject"], &result["complete"]),
            (&json!("Write a guide"), &json!(true))
        );
    }
    let (_, result) = changed(&live, &["HEAD~2.."]);
    assert_eq!(files(&result), ["added docs/guide.md", "renamed src/b.py"]);
    let (exit, result) = changed(&live, &["HEAD..HEAD"]);
    assert_eq!((exit, files(&result).len()), (1, 0));

    let (_, result) = changed(&live, &["HEAD~3..HEAD~1", "--", "docs"]);
    assert_eq!((files(&result), subjects(&result)), (vec![a_to_c[0].to_owned()], vec!["Write a guide"]));
    let (_, result) = changed_in(&live, &live.root().join("src"), &["HEAD~3", "HEAD~1", "--", "."]);
    assert_eq!((files(&result), subjects(&result)), (vec![a_to_c[1].to_owned()], vec!["Add two"]));
    let (_, result) = changed(&live, &["--", "src/b.py"]);
    assert_eq!((files(&result), subjects(&result)), (vec!["modified src/b.py".to_owned()], vec![]));
    let (exit, _) = changed(&live, &["--", "docs"]);
    assert_eq!(exit, 1);
}

#[test]
fn the_commits_since_then() {
    let live = Live::idle();
    live.sh(FOUR_DAYS);
    let (_, result) = changed(&live, &["36h"]);
    assert_eq!(subjects(&result), ["Rename a", "Write a guide"]);
    // A branch that forked before is part of it once it is merged.
    live.sh(
        "git checkout -q -b side HEAD~3; echo side > side.txt; git add -A; git commit -q -m 'On the side'
        git checkout -q main; git merge -q --no-ff -m 'Merge side' side",
    );
    let (_, result) = changed(&live, &["36h"]);
    let expected = live.git(&["log", "--format=%s", "HEAD~3..HEAD"]);
    let sorted = |mut subjects: Vec<String>| {
        subjects.sort_unstable(); // some have the same date
        subjects
    };
    let found = subjects(&result).iter().map(ToString::to_string).collect();
    assert_eq!(sorted(found), sorted(expected.lines().map(str::to_owned).collect()));
    let shown = live.sandbox.show(&mut live.memo(&["changed", "HEAD~1"]));
    assert!(shown.contains("A side.txt\nout:\nout: ") && shown.contains("  On the side\n"), "{shown}");
    for nth in 0..21 {
        live.git(&["commit", "-q", "--allow-empty", "-m", &format!("empty {nth}")]);
    }
    let (exit, result) = changed(&live, &["HEAD~21"]);
    assert_eq!((exit, subjects(&result).len(), &result["commits_left_out"]), (0, 20, &json!(1)));
}

#[test]
fn several_words_are_one_time() {
    let live = Live::idle();
    live.sh(FOUR_DAYS);
    for (words, same) in [
        (&["since", "2d"][..], "2d"),
        (&["since 2d"], "2d"),
        (&["2", "days", "ago"], "2d"),
        (&["since", "2", "days", "ago"], "2d"),
        (&["a", "day", "ago"], "1d"),
        (&["since", "HEAD~2"], "HEAD~2"),
        (&["since HEAD~2"], "HEAD~2"),
        (&["--since", "since HEAD~2"], "HEAD~2"),
    ] {
        let ((exit, found), (_, expected)) = (changed(&live, words), changed(&live, &[same]));
        assert_eq!(
            (exit, &found["base"], files(&found)),
            (0, &expected["base"], files(&expected)),
            "{words:?}"
        );
    }
    let (_, refused) = changed(&live, &["one", "two", "three"]);
    assert!(refused["error"]["message"].as_str().unwrap().contains("neither a time nor two"), "{refused}");
    let (_, refused) = changed(&live, &["since frday"]);
    assert!(refused["error"]["hint"].as_str().unwrap().contains("2026-11-01"), "{refused}");
}

#[test]
fn what_cannot_be_compared_is_explained() {
    let live = Live::idle();
    live.sh(FOUR_DAYS);
    for (words, code, said) in [
        (&["HEAD~1...HEAD"][..], "usage", "three dots are not supported"),
        (&["HEAD~1..HEAD", "HEAD"], "usage", "has two sides already"),
        (&["src"], "usage", "memo changed -- src"),
        (&["--", "nowhere"], "not-found", "nowhere: neither in the worktree nor in the compared commits"),
        (&["HEAD", "1990-01-01"], "not-found", "every commit is newer"),
    ] {
        let (_, result) = changed(&live, words);
        assert_eq!(result["error"]["code"], code, "{result}");
        assert!(result["error"].to_string().contains(said), "{result}");
    }
}

#[test]
fn a_changed_attribute_is_named() {
    let live = Live::idle();
    let class = "class App:\n    \"\"\"An app.\"\"\"\n\n    #: The defaults.\n    defaults = dict(\n        DEBUG=None,\n    )\n    name: str\n\n    def run(self):\n        started = True\n        return started\n";
    live.write("app.py", class);
    live.git(&["add", "-A"]);
    live.git(&["commit", "-q", "-m", "App"]);
    let check = |from: &str, to: &str, expected: &str| {
        live.write("app.py", class.replace(from, to));
        let (_, result) = changed(&live, &["HEAD"]);
        assert_eq!(files(&result), [format!("modified app.py{expected}")], "{from} {to}");
    };
    check("DEBUG=None", "DEBUG=True", " changed App.defaults");
    check("An app", "The app", " changed App");
    check("    name: str\n", "    name: str\n    port = 1\n", " added App.port");
    check("return started", "return not started", " changed App.run");
}

#[test]
fn a_time_that_is_none_is_explained_by_a_search_as_by_a_list() {
    let live = Live::idle();
    let hint = |words: &[&str]| {
        let output = live.memo(words).arg("--json").output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(2), "{answer}");
        answer["error"]["hint"].clone()
    };
    assert_eq!(hint(&["search", "x", "--since", "nonsense"]), hint(&["list", "--since", "nonsense"]));
}

/// What is behind the end of a shallow history may be newer than the time.
#[test]
fn a_time_before_the_end_of_a_shallow_history_names_no_commit() {
    let live = Live::new();
    live.sh(FOUR_DAYS);
    let url = format!("file://{}", live.root().display());
    live.git(&["clone", "-q", "--depth=2", &url, "../shallow"]);
    let shallow = live.sandbox.path("shallow");
    let (code, whole) = changed(&live, &["--since", "60h"]);
    let moved = ["removed src/a.py", "added src/b.py added one added two"].map(str::to_owned);
    let guide = ["added docs/guide.md".to_owned()];
    assert_eq!((code, files(&whole)), (0, [&guide[..], &moved[..]].concat()), "{whole}");
    let (code, refused) = changed_in(&live, &shallow, &["--since", "60h"]);
    let said = refused["error"].to_string();
    assert_eq!(code, 1, "{refused}");
    assert!(said.contains("this is a shallow clone") && said.contains("git fetch --unshallow"), "{said}");
    let (code, known) = changed_in(&live, &shallow, &["--since", "12h"]);
    assert_eq!(
        (code, files(&known), &known["complete"]),
        (0, vec!["renamed src/b.py".to_owned()], &json!(true)),
        "{known}"
    );
}

#[cfg(unix)]
#[test]
fn what_takes_the_place_of_a_file_is_told_as_by_git() {
    let live = Live::new();
    live.sh("for f in file empty nested bare; do echo $f > $f; done; mkdir dir; echo 'in dir' > dir/a; ln -s hi link; git add -A; git commit -q -m first");
    let check = |script: &str, n_changed: usize| {
        live.sh(script);
        assert_eq!(as_git(&live, "HEAD", script).len(), n_changed, "{script}");
    };
    check("rm file; mkdir file; echo 'another text' > file/q", 2);
    check("rm empty; mkdir empty", 3);
    check("rm bare; git init -q bare", 4);
    check("rm nested; git init -q nested", 5);
    check("git -C nested -c user.name=A -c user.email=a@b commit -q --allow-empty -m inside", 5);
    check("rm -r dir; mkdir other; echo 'something else' > other/a; ln -s other dir", 8);
    check("rm -rf file empty bare nested dir other; git checkout -q .", 0);
    check("rm link; printf hi > link", 1);
    check("git config core.symlinks false", 0);
    check("git config --unset core.symlinks", 1);
    check("rm link; ln -s hi link; printf file > file; rm empty; ln -s empty empty", 2);
    check("git checkout -q .; git config core.fileMode false; git update-index --chmod=+x file", 1);
    check("git config core.fileMode true", 0);
    live.sh("git config core.fileMode false; git commit -q -m second; rm link; echo more > link; git add -A; git commit -q -m third");
    check("true", 0);
    assert_eq!(as_git(&live, "HEAD~2", "since both").len(), 2);
}

#[cfg(unix)]
#[test]
fn what_takes_the_place_of_a_submodule_is_told_as_by_git() {
    let live = Live::new();
    live.sh(
        "echo plain > plain; git add -A; git commit -q -m first
        git init -q ../other; git -C ../other -c user.name=A -c user.email=a@b commit -q --allow-empty -m one
        git rm -q plain; git -c protocol.file.allow=always submodule --quiet add ../other mod
        git -c protocol.file.allow=always submodule --quiet add ../other plain
        git add -A; git commit -q -m second; git -C mod config user.name A; git -C mod config user.email a@b",
    );
    let check = |script: &str, n_changed: usize| {
        live.sh(script);
        assert_eq!(as_git(&live, "HEAD", script).len(), n_changed, "{script}");
    };
    check("true", 0);
    assert_eq!(as_git(&live, "HEAD~1", "a file becomes a submodule").len(), 3);
    let (_, between) = changed(&live, &["HEAD~1..HEAD"]);
    assert_eq!(files(&between), ["added .gitmodules", "added mod", "modified plain"], "{between}");
    let (_, back) = changed(&live, &["HEAD..HEAD~1"]);
    assert_eq!(files(&back), ["removed .gitmodules", "removed mod", "modified plain"], "{back}");
    check("mv mod ../kept", 1);
    check("mkdir mod", 0);
    check("rmdir mod; echo f > mod", 1);
    check("rm mod; ln -s plain mod", 1);
    check("rm mod; mv ../kept mod", 0);
    check(
        "cd mod; git commit -q --allow-empty -m two; git branch two; git checkout -q HEAD~1; git commit -q --allow-empty -m three; git branch three; cd ..
        git checkout -q -b side; git -C mod checkout -q two; git commit -q -a -m side
        git checkout -q main; git -C mod checkout -q three; git commit -q -a -m three",
        0,
    );
    live.sh("git merge -q side || git status");
    assert_eq!(live.sh("git ls-files -u mod | wc -l").trim(), "3", "a conflict");
    let (_, ours) = changed(&live, &["HEAD"]);
    assert_eq!(files(&ours), [""; 0], "the commit of HEAD is checked out, as with a file: {ours}");
    check("git -C mod checkout -q two", 1);
    check("mv mod ../kept", 1);
}
