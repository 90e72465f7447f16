//! What is said of a path in another worktree, in a submodule, or in any other repository?

use std::fs;

use serde_json::json;

use crate::live::Live;

/// A repository with a submodule at `libs/lib` and a clone at `vendor/nested`, both of `../lib`, and with another worktree at `../side`.
fn repository() -> Live {
    let live = Live::idle();
    live.write("main.rs", "fn main() {\n    helper();\n}\n\nfn helper() {}\n");
    live.commit_all();
    let lib = live.sandbox.path("lib");
    fs::create_dir(&lib).unwrap();
    fs::write(lib.join("lib.rs"), "pub fn lib_helper() -> u32 {\n    7\n}\n").unwrap();
    live.git(&["init", "-q", "../lib"]);
    live.git(&["-C", "../lib", "add", "-A"]);
    live.git(&["-C", "../lib", "commit", "-qm", "lib: add a helper"]);
    live.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../lib", "libs/lib"]);
    live.git(&["commit", "-qm", "app: take lib"]);
    live.git(&["clone", "-q", "../lib", "vendor/nested"]);
    live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
    fs::write(
        live.sandbox.path("side/main.rs"),
        "fn main() {\n    helper();\n}\n\nfn helper() {}\n\nfn only_there() {\n    helper();\n}\n",
    )
    .unwrap();
    live.start();
    live
}

fn run(live: &Live, args: &[&str]) -> String {
    live.sandbox.show(&mut live.memo(args))
}

#[test]
fn a_path_in_another_repository_is_asked_about_there() {
    let live = repository();
    let verbs = ["show", "outline", "why", "changed", "callers", "callees", "impact", "tests", "history"];
    for repository in ["libs/lib", "vendor/nested"] {
        let path = format!("{repository}/lib.rs");
        for verb in verbs {
            let args = if verb == "changed" { vec![verb, "--", &path] } else { vec![verb, &path] };
            let asked = if verb == "history" { "why" } else { verb };
            let expected = format!(
                "exit 2\nerr: memo: {path}: in another repository: {repository}\n\
                 err: hint: ask there: memo -C {repository} {asked} lib.rs\n"
            );
            assert_eq!(run(&live, &args), expected, "{args:?}");
        }
        let said = run(&live, &["search", "helper", "--path", repository, "--exclude", "*.md"]);
        let expected = format!("err: memo: {repository}: in another repository: {repository}\n");
        assert!(said.contains(&expected), "{said}");
        let said = run(&live, &["add", "a note", "--about", &format!("{path}:2")]);
        assert!(said.contains(&format!("memo: {path}:2: in another repository: {repository}\n")), "{said}");
        assert!(said.ends_with(&format!("hint: ask there: memo -C {repository} add …\n")), "{said}");
        let said = run(&live, &["show", &format!("{repository}/none.rs")]);
        assert!(said.contains("in another repository"), "{said}");
        // The hint is right.
        assert!(run(&live, &["-C", repository, "show", "lib.rs"]).contains("pub fn lib_helper"));
    }
    let said = run(&live, &["-C", "libs/lib", "show", "../../main.rs:1"]);
    assert!(said.contains("in another repository: [TOP]/work\n"), "{said}");
    assert!(said.contains("memo -C [TOP]/work show main.rs:1\n"), "{said}");
    let said = run(&live, &["show", live.sandbox.path("lib/lib.rs").to_str().unwrap()]);
    assert!(said.contains("memo: [TOP]/lib/lib.rs: in another repository: [TOP]/lib\n"), "{said}");
}

#[test]
fn an_empty_answer_names_the_repositories_that_were_not_searched() {
    let live = repository();
    let named = "libs/lib (another repository: ask there with -C), \
                 vendor/nested (another repository: ask there with -C)";
    for args in [["search", "lib_helper"], ["callers", "lib_helper"], ["show", "lib_helper"]] {
        let said = run(&live, &args);
        assert!(said.contains(&format!("not searched: {named}")), "{said}");
    }
    let said = run(&live, &["search", "zebra crossing"]);
    assert!(said.contains("no match for zebra crossing; not searched: libs/lib"), "{said}");
    let said = run(&live, &["search", "helper"]);
    assert!(!said.contains("not searched"), "{said}");
}

#[test]
fn the_commits_that_move_a_submodule_are_this_repositorys() {
    let live = repository();
    let said = run(&live, &["why", "libs/lib"]);
    assert!(said.contains("app: take lib"), "{said}");
}

#[test]
fn a_path_in_another_worktree_is_answered_from_there() {
    let live = repository();
    let side = live.sandbox.path("side/main.rs").display().to_string();
    let note = "err: memo: answered from another worktree of this repository: [TOP]/side\n";
    for (args, expected) in [
        (vec!["show", &side], "only_there"),
        (vec!["show", "../side/main.rs:7"], "only_there"),
        (vec!["outline", &side], "only_there"),
        (vec!["callers", &format!("{side}#helper")], "only_there"),
        (vec!["changed", "--", &side], "only_there"),
        (vec!["search", "only_there", "--path", "../side"], "only_there"),
        (vec!["search", "only_there", "--path", "../side/*.rs"], "only_there"),
        (vec!["why", "../side/main.rs"], "not committed yet  lines 6-9"),
    ] {
        let said = run(&live, &args);
        assert!(said.starts_with("exit 0\n") && said.contains(expected), "{args:?}: {said}");
        assert!(said.contains(note), "{args:?}: {said}");
    }
    assert!(!run(&live, &["search", "only_there"]).contains("exit 0"), "this worktree does not have it");
    let said = run(&live, &["map", "main.rs", "../side/main.rs"]);
    assert!(said.contains("exit 2\n") && said.contains("name paths of one worktree"), "{said}");
    let said = run(&live, &["add", "about the side", "--about", "../side/main.rs#only_there"]);
    assert!(said.starts_with("exit 0\n"), "{said}");
}

#[test]
fn a_program_that_asks_for_a_path_in_another_repository_is_told_so() {
    let live = repository();
    for method in ["why", "show"] {
        let asked = live.rpc().call(method, &json!({ "target": "libs/lib/lib.rs", "cwd": live.root() }));
        let error = asked.unwrap_err();
        assert_eq!(error["message"], "libs/lib/lib.rs: in another repository: libs/lib", "{method}");
    }
    let target = json!({ "target": "libs/lib/lib.rs" });
    let paths = json!({ "paths": ["libs/lib/lib.rs"] });
    for (method, mut params) in [
        ("outline", target.clone()),
        ("refs", target.clone()),
        ("callers", target.clone()),
        ("callees", target.clone()),
        ("impact", target.clone()),
        ("tests", target),
        ("map", paths),
        ("changed", json!({ "path": ["libs/lib/lib.rs"] })),
        ("search", json!({ "query": "helper", "path": ["libs/lib/lib.rs"] })),
        ("search", json!({ "query": "helper", "path": ["README.md", "libs/lib/*.rs"] })),
    ] {
        params["cwd"] = json!(live.root());
        let error = live.rpc().call(method, &params).unwrap_err().to_string();
        assert!(error.contains("in another repository: libs/lib"), "{method} {params}: {error}");
    }
}
