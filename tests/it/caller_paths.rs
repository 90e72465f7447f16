//! Do paths that are typed and shown start at the caller's directory?

use std::process::Output;

use serde_json::{Value, json};

use crate::live::{Live, memo_in};

fn repository() -> Live {
    let live = Live::new();
    live.write("README.md", "# Shop\n\nThe alpha of the shop.\n");
    live.write("src/cart.rs", "pub fn alpha_of_cart() -> u32 {\n    1\n}\n");
    live.write("src/deep/tax.rs", "pub fn alpha_of_tax() -> u32 {\n    2\n}\n");
    live.write("docs/tax.md", "# Taxes\n\nWhat alpha costs.\n");
    live.commit_all();
    live.write("src/cart.rs", "pub fn alpha_of_cart() -> u32 {\n    3\n}\n");
    live.git(&["mv", "docs/tax.md", "docs/taxes.md"]);
    live
}

fn run(live: &Live, dir: &str, args: &[&str]) -> Output {
    live.memo(args).current_dir(live.root().join(dir)).output().unwrap()
}

/// Returns the lines of stdout that are no text of a hit.
fn heads(output: &Output) -> Vec<String> {
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    lines.lines().filter(|line| !line.starts_with(' ') && !line.is_empty()).map(str::to_owned).collect()
}

fn paths(live: &Live, dir: &str, filters: &[&str]) -> Vec<String> {
    let args = [&["search", "alpha", "--kind", "doc,symbol", "--wait-ms=60000"], filters].concat();
    let heads = heads(&run(live, dir, &args)).into_iter();
    let mut paths: Vec<String> = heads.map(|head| head.split(':').next().unwrap().to_owned()).collect();
    paths.sort();
    paths
}

#[test]
fn hits_are_shown_as_they_would_be_opened() {
    let live = repository();
    assert_eq!(paths(&live, "", &[]), ["README.md", "docs/taxes.md", "src/cart.rs", "src/deep/tax.rs"]);
    assert_eq!(paths(&live, "src", &[]), ["../README.md", "../docs/taxes.md", "cart.rs", "deep/tax.rs"]);
    let from_c = heads(&run(&live, "docs", &["-C", "../src", "search", "alpha_of_cart", "-n1"]));
    assert!(from_c[0].starts_with("cart.rs:1-3"), "{from_c:?}");
    let (_, found) = memo_in(&live, &live.root().join("src"), &["search", "alpha_of_tax", "-n1"]);
    let hit = &found["hits"][0];
    assert_eq!((&hit["path"], &hit["cwd_path"]), (&json!("src/deep/tax.rs"), &json!("deep/tax.rs")));
    let (_, found) = memo_in(&live, &live.root(), &["search", "alpha_of_tax", "-n1"]);
    assert_eq!(found["hits"][0]["cwd_path"], Value::Null, "at the top it is the same");
    let explained = run(&live, "src", &["explain", "alpha", "--of", "deep/tax.rs"]);
    assert!(heads(&explained)[0].starts_with("deep/tax.rs:"), "{explained:?}");
}

#[test]
fn globs_start_where_they_are_typed() {
    let live = repository();
    let absolute = format!("{}/docs/*.md", live.root().display());
    live.write("lib/src/cart.rs", "pub fn alpha_elsewhere() {}\n");
    let cases: [(&str, &[&str], &[&str]); 14] = [
        ("", &["--path", "./src"], &["src/cart.rs", "src/deep/tax.rs"]),
        ("", &["--path", "src"], &["lib/src/cart.rs", "src/cart.rs", "src/deep/tax.rs"]),
        ("src", &["--path", "../cart.rs"], &[]),
        ("", &["--path", "./src/*.rs"], &["src/cart.rs"]),
        ("", &["--path", "src/{cart,none}.rs"], &["src/cart.rs"]),
        ("", &["--path", "src/[c]art.rs"], &["src/cart.rs"]),
        ("src", &["--path", "./*.rs"], &["cart.rs"]),
        ("src", &["--path", "."], &["cart.rs", "deep/tax.rs"]),
        ("src", &["--path", "../docs"], &["../docs/taxes.md"]),
        ("src", &["--path", "*.md"], &["../README.md", "../docs/taxes.md"]),
        (
            "src",
            &["--path", "!deep/*", "--exclude", "../lib/"],
            &["../README.md", "../docs/taxes.md", "cart.rs"],
        ),
        ("src", &["--exclude", "*.md", "--exclude", "./deep"], &["../lib/src/cart.rs", "cart.rs"]),
        ("src", &["path:./deep/**"], &["deep/tax.rs"]),
        ("src", &["--path", &absolute], &["../docs/taxes.md"]),
    ];
    for (dir, filters, expected) in cases {
        assert_eq!(paths(&live, dir, filters), expected, "{filters:?} in {dir:?}");
    }
    let vain = run(&live, "src", &["search", "alpha", "-p", "src/*.rs", "--wait-ms=60000"]);
    let said = String::from_utf8_lossy(&vain.stderr).into_owned();
    assert_eq!(vain.status.code(), Some(1));
    let (what, hint) = said.split_once('\n').unwrap();
    assert_eq!(what, "memo: no match for alpha; path src/*.rs: no indexed file matches");
    assert!(hint.starts_with("hint: a glob with a slash starts at the current directory"), "{hint}");
    let outside =
        live.sandbox.show(live.memo(&["search", "alpha", "-p", "../x/*.rs"]).current_dir(live.root()));
    let expected = "exit 2\nerr: memo: path: ../x/*.rs: outside the worktree [TOP]/work\n";
    assert!(outside.starts_with(expected), "{outside}");
}

#[test]
fn lists_of_files_are_of_the_same_kind() {
    let live = repository();
    live.write("src/.env", "TOKEN=1");
    live.call("sync", json!({ "wait_ms": 60_000 }));
    let changed = heads(&run(&live, "src", &["changed"]));
    assert_eq!(changed, ["R ../docs/taxes.md  from ../docs/tax.md", "A .env", "M cart.rs"]);
    let files = heads(&run(&live, "src", &["status", "--files"]));
    assert_eq!(files, ["../README.md", "../docs/taxes.md", "cart.rs", "deep/tax.rs"]);
    assert_eq!(heads(&run(&live, "src", &["status", "--skipped"])), ["secret-name\t.env"]);
    let map = heads(&run(&live, "src/deep", &["map"]));
    assert_eq!(map.iter().filter(|line| line.ends_with(".rs")).collect::<Vec<_>>().len(), 2, "{map:?}");
    assert!(map.contains(&"../cart.rs".to_owned()) && map.contains(&"tax.rs".to_owned()), "{map:?}");
}

#[test]
fn a_map_is_restricted_to_what_is_named() {
    let live = repository();
    let map = |dir: &str, args: &[&str]| run(&live, dir, &[&["map"], args].concat());
    let files = |output: &Output| -> Vec<String> {
        let mut files = heads(output);
        files.sort();
        files
    };
    let absolute = live.root().join("src/deep").display().to_string();
    let cases: [(&str, &[&str], &[&str]); 7] = [
        ("", &[], &["src/cart.rs", "src/deep/tax.rs"]),
        ("", &["src/deep"], &["src/deep/tax.rs"]),
        ("", &["src/cart.rs", "./src/deep/"], &["src/cart.rs", "src/deep/tax.rs"]),
        ("src", &["cart.rs", "--focus", "deep"], &["cart.rs"]),
        ("src/deep", &["."], &["tax.rs"]),
        ("src/deep", &[".."], &["../cart.rs", "tax.rs"]),
        ("docs", &[&absolute], &["../src/deep/tax.rs"]),
    ];
    for (dir, args, expected) in cases {
        let output = map(dir, args);
        assert_eq!(
            (output.status.code(), files(&output).as_slice()),
            (Some(0), strings(expected).as_slice())
        );
    }
    let partly = map("src", &["deep", "../docs", "none"]);
    let said = String::from_utf8_lossy(&partly.stderr).into_owned();
    assert_eq!((partly.status.code(), files(&partly)), (Some(1), strings(&["deep/tax.rs"])));
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[..2], ["memo: ../docs: no file with symbols", "memo: none: no file with symbols"]);
    assert!(lines.len() == 3 && lines[2].starts_with("hint: paths start at the current"), "{said}");
    let outside = live.sandbox.show(live.memo(&["map", "src", "../x"]).current_dir(live.root()));
    let expected = "exit 2\nerr: memo: ../x: outside the worktree [TOP]/work\n\
         err: hint: name paths of this worktree, or another one with -C\n";
    assert_eq!(outside, expected);
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn anchors_and_errors_name_paths_as_they_would_be_typed() {
    let live = repository();
    let run = |args: &[&str]| {
        let output = run(&live, "src", args);
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    let id = run(&["add", "the cart is cheap", "--about", "cart.rs#alpha_of_cart", "--tag", "pinned", "-q"]);
    let id = id.lines().next().unwrap();
    assert!(run(&["get", id]).contains("about      cart.rs#alpha_of_cart, fresh"), "{}", run(&["get", id]));
    assert!(run(&["confirm", id]).contains("confirmed for the current state of cart.rs#alpha_of_cart"));
    assert!(run(&["why", "cart.rs"]).contains("  cart.rs#alpha_of_cart"), "{}", run(&["why", "cart.rs"]));
    live.write("src/cart.rs", "pub fn alpha_of_cart() -> u32 {\n    4\n}\n");
    assert!(
        run(&["brief"]).contains("- [drifted: cart.rs#alpha_of_cart] the cart is cheap"),
        "{}",
        run(&["brief"])
    );
    let errors: [(&[&str], &str); 5] = [
        (&["show", "cart.rs#nothing"], "memo: cart.rs: defines no nothing"),
        (&["show", "deep/tax.rs:40"], "memo: deep/tax.rs: has 3 lines, no line 40"),
        (&["why", "deep/tax.rs:40"], "memo: deep/tax.rs: has 3 lines, no line 40"),
        (&["add", "x", "--about", "deep/tax.rs#nothing"], "memo: about: deep/tax.rs: defines no nothing"),
        (
            &["add", "x", "--about", "carts.rs"],
            "carts.rs: no indexed file, and no definition of that name\nhint: did you mean cart.rs?",
        ),
    ];
    for (args, expected) in errors {
        assert!(run(args).contains(expected), "{args:?}: {}", run(args));
    }
}

#[cfg(unix)]
#[test]
fn paths_through_a_link_to_the_worktree_are_its_own() {
    let live = repository();
    let link = live.sandbox.path("link");
    std::os::unix::fs::symlink(live.root(), &link).unwrap();
    let link = link.display();
    let heads = |args: &[&str]| heads(&run(&live, "src", args));
    for target in [format!("{link}/src/cart.rs"), format!("{link}/src/cart.rs#alpha_of_cart")] {
        assert!(heads(&["show", &target])[0].starts_with("cart.rs:1-3"), "{:?}", heads(&["show", &target]));
    }
    assert_eq!(paths(&live, "src", &["--path", &format!("{link}/docs/**")]), ["../docs/taxes.md"]);
    assert_eq!(
        paths(&live, "src", &["--path", &format!("!{link}/docs/**"), "--exclude", &format!("{link}/*.md")]),
        ["cart.rs", "deep/tax.rs"]
    );
    assert_eq!(heads(&["map", &format!("{link}/src/deep")])[0], "deep/tax.rs");
    assert_eq!(heads(&["-C", &link.to_string(), "map", "src/deep"])[0], "src/deep/tax.rs");
    let outside = run(&live, "src", &["show", "/nowhere/src/cart.rs"]);
    assert!(
        String::from_utf8_lossy(&outside.stderr).contains("/nowhere/src/cart.rs: outside the worktree"),
        "{outside:?}"
    );
}
