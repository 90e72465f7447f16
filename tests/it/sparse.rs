//! Is what a sparse checkout leaves out called outside, and never deleted, changed or orphaned?

use serde_json::{Value, json};

use crate::live::{Live, memo};

/// Makes a repository with memories about a file that a sparse checkout then leaves out.
fn repository(set: &[&str]) -> Live {
    let live = Live::idle();
    live.write("src/core.py", "from lib.helper import helper\n\n\ndef core():\n    return helper()\n");
    live.write("lib/helper.py", "def helper():\n    return 1\n");
    live.write("lib/deep/er.py", "def deeper():\n    return 3\n");
    live.write("docs/guide.md", "# Guide\n\nfigs\n");
    live.commit_all();
    live.write("lib/helper.py", "def helper():\n    return 2\n");
    live.commit_all();
    live.start();
    assert_eq!(live.listed().0.len(), 4);
    for about in ["lib/helper.py", "lib/helper.py:1-2", "lib/helper.py#helper", "src/core.py#core"] {
        let text = format!("what {about} is for");
        let said = live.sandbox.show(&mut live.memo(&["add", "--force", &text, "--about", about]));
        assert!(said.starts_with("exit 0\n"), "{said}");
    }
    live.git(&[&["sparse-checkout", "set"], set].concat());
    live
}

fn run(live: &Live, args: &[&str]) -> String {
    live.sandbox.show(&mut live.memo(args))
}

/// The forms of a sparse checkout, each with what `git sparse-checkout add` takes for `lib/helper.py` and `lib`.
const FORMS: [(&[&str], [&str; 2]); 3] = [
    (&["--cone", "src"], ["lib", "lib"]),
    (&["--cone", "--sparse-index", "src"], ["lib", "lib"]),
    (&["--no-cone", "/src/"], ["/lib/helper.py", "/lib/"]),
];

#[test]
fn nothing_outside_is_deleted_changed_or_orphaned() {
    for (set, _) in FORMS {
        let live = repository(set);
        let changed = memo(&live, &["changed", "--wait-ms=60000"]).1;
        assert_eq!(changed["files"], json!([]), "{set:?}: {changed}");
        let of_path = run(&live, &["changed", "--", "lib/helper.py"]);
        assert!(of_path.contains("0 files changed since"), "{set:?}: {of_path}");
        let listed = memo(&live, &["list", "--state", "orphaned", "--state", "drifted"]);
        assert_eq!((listed.0, listed.1["total"].as_u64()), (1, Some(0)), "{set:?}: {}", listed.1);
        assert_eq!(memo(&live, &["list", "--state", "fresh"]).1["total"], 1, "{set:?}");
        let why = memo(&live, &["why", "lib/helper.py"]).1;
        for memory in why["memories"].as_array().unwrap() {
            assert_eq!(memory["state"], Value::Null, "{set:?}: {memory}");
        }
        assert_eq!(why["commits"].as_array().unwrap().len(), 2, "{set:?}: {why}");
    }
}

/// Git takes a file outside of the checkout for what its index records.
#[test]
fn commits_that_changed_files_outside_are_compared_as_git_compares_them() {
    for (set, _) in FORMS {
        let live = repository(set);
        live.git(&["sparse-checkout", "disable"]);
        live.git(&["mv", "lib/deep/er.py", "lib/deep/est.py"]);
        live.git(&["rm", "-q", "docs/guide.md"]);
        live.write("docs/added.md", "# Added\n");
        live.commit_all();
        live.git(&[&["sparse-checkout", "set"], set].concat());
        let expected = json!([
            ["added", "docs/added.md", Value::Null],
            ["removed", "docs/guide.md", Value::Null],
            ["renamed", "lib/deep/est.py", "lib/deep/er.py"],
            ["modified", "lib/helper.py", Value::Null],
        ]);
        for _ in ["compared", "from the cache"] {
            let changed = memo(&live, &["changed", "--since", "HEAD~2", "--wait-ms=60000"]).1;
            let files: Vec<Value> = changed["files"]
                .as_array()
                .unwrap()
                .iter()
                .map(|file| json!([file["status"], file["path"], file["from"]]))
                .collect();
            assert_eq!(json!(files), expected, "{set:?}: {changed}");
            let helper = &changed["files"][3]["symbols"];
            assert_eq!(helper["changed"], json!(["helper"]), "{set:?}: {changed}");
        }
    }
}

#[test]
fn a_path_outside_is_said_to_be_outside_and_the_command_brings_it() {
    for (set, [for_file, for_dir]) in FORMS {
        let live = repository(set);
        let check = |args: &[&str], path: &str, added: &str| {
            let said = run(&live, args);
            let expected = format!(
                "{path}: outside the sparse checkout\n\
                 err: hint: `git sparse-checkout add {added}` brings it into the worktree\n"
            );
            assert!(said.contains(&expected), "{set:?} {args:?}: {said}");
        };
        for verb in ["show", "outline", "refs", "callers", "callees", "impact", "tests"] {
            check(&[verb, "lib/helper.py"], "lib/helper.py", for_file);
        }
        for verb in ["show", "outline", "map"] {
            check(&[verb, "lib"], "lib", for_dir);
        }
        check(&["why", "lib/helper.py:2"], "lib/helper.py", for_file);
        check(&["why", "lib/helper.py#helper"], "lib/helper.py", for_file);
        check(&["add", "x", "--about", "lib/helper.py"], "lib/helper.py", for_file);
        // A path that is nowhere is not said to be outside.
        assert!(run(&live, &["show", "lib/none.py"]).contains("lib/none.py: no indexed file"), "{set:?}");
        live.git(&["sparse-checkout", "add", for_file]);
        assert!(run(&live, &["show", "lib/helper.py"]).contains("return 2"), "{set:?}");
        assert_eq!(memo(&live, &["list", "--state", "fresh"]).1["total"], 4, "{set:?}");
    }
}

#[test]
fn an_empty_answer_names_what_is_outside() {
    for (set, [_, for_dir]) in FORMS {
        let live = repository(set);
        let named = format!("lib (outside the sparse checkout: git sparse-checkout add {for_dir})");
        for args in [
            &["show", "deeper"][..],
            &["refs", "helper"],
            &["callers", "core"],
            &["tests", "core"],
            &["search", "zonk"],
            &["search", "zonk", "--path", "lib"],
            &["search", "zonk", "--path", "*.py"],
        ] {
            let said = run(&live, args);
            assert!(said.contains(&named), "{set:?} {args:?}: {said}");
        }
        // What the path excludes is not named.
        assert!(!run(&live, &["search", "zonk", "--path", "src"]).contains("sparse"), "{set:?}");
        assert!(!run(&live, &["search", "core"]).contains("sparse"), "{set:?}");
    }
}

/// git removes the files of shared memories from the disk, and not from the branch.
#[test]
fn shared_memories_outside_are_still_there() {
    for set in FORMS.map(|(set, _)| set) {
        let live = Live::idle();
        live.write("src/core.py", "def core():\n    return 1\n");
        live.commit_all();
        live.start();
        let added = live.memo(&["add", "-q", "tokens expire after a day"]).output().expect("memo runs");
        let id = String::from_utf8(added.stdout).expect("an id is text").trim().to_owned();
        assert!(run(&live, &["share", &id]).starts_with("exit 0\n"));
        live.commit_all();
        let path = live.root().join(format!(".memod/memories/{id}.md"));
        live.git(&[&["sparse-checkout", "set"], set].concat());
        assert!(!path.exists(), "{set:?}: git leaves the file out");
        let check_present = |text: &str| {
            let listed = memo(&live, &["list"]).1;
            assert_eq!(
                (&listed["total"], &listed["memories"][0]["content"]),
                (&json!(1), &json!(text)),
                "{set:?}: {listed}"
            );
            let history = run(&live, &["history", &id]);
            assert!(!history.contains("forget"), "{set:?}: {history}");
        };
        check_present("tokens expire after a day");
        live.kill();
        live.start();
        check_present("tokens expire after a day");
        // Another commit changes the file, which git does not write into the worktree.
        live.git(&["sparse-checkout", "disable"]);
        let text = std::fs::read_to_string(&path).expect("the file is back");
        std::fs::write(&path, text.replace("a day", "an hour")).expect("the file can be written");
        live.commit_all();
        live.git(&["checkout", "-q", "HEAD~1"]);
        live.git(&[&["sparse-checkout", "set"], set].concat());
        check_present("tokens expire after a day");
        live.git(&["checkout", "-q", "-"]);
        check_present("tokens expire after an hour");
        live.git(&["sparse-checkout", "disable"]);
        check_present("tokens expire after an hour");
    }
}
