//! Does `memo show` print what was named, and nothing else?

use serde_json::{Value, json};

use crate::live::{Live, memo, memo_in};

const SESSION: &str = "//! Sessions.\n\n/// A session.\npub struct Session {\n    id: u64,\n}\n\nimpl Session {\n    \
    /// Renews it.\n    pub fn renew(&mut self) -> u64 {\n        self.id += 1;\n        self.id\n    }\n}\n";

fn repository() -> Live {
    let live = Live::new();
    live.write("src/session.rs", SESSION);
    live.write("src/other.rs", "pub struct Other;\n\nimpl Other {\n    pub fn renew(&self) {}\n}\n");
    live.write("docs/empty.md", "");
    live.write(".gitignore", "ignored.rs\n");
    live.write("ignored.rs", "pub fn renew() {}\n");
    live.write("src/.env", "TOKEN=abc\n");
    live
}

/// Returns place and text of each part.
fn parts(answer: &Value) -> Vec<(String, String)> {
    let parts = answer["parts"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    let place = |part: &Value| format!("{}:{}", part["path"].as_str().unwrap(), part["lines"]);
    parts.map(|part| (place(part), part["text"].as_str().unwrap().to_owned())).collect()
}

#[test]
fn a_target_is_a_path_lines_of_it_or_a_name() {
    let live = repository();
    let lines = |first: usize, last: usize| -> String {
        SESSION.split_inclusive('\n').skip(first - 1).take(last + 1 - first).collect()
    };
    let check = |target: &str, expected: &[(&str, String)]| {
        let (exit, answer) = memo(&live, &["show", target]);
        let expected: Vec<_> =
            expected.iter().map(|(place, text)| ((*place).to_owned(), text.clone())).collect();
        assert_eq!((exit, parts(&answer)), (0, expected), "{target}");
        assert_eq!(answer["fresh"], true, "{answer}");
    };
    let renew = || ("src/session.rs:[9,13]", lines(9, 13));
    check("src/session.rs", &[("src/session.rs:[1,14]", SESSION.to_owned())]);
    check("src/session.rs#Session::renew", &[renew()]);
    check("src/session.rs#renew", &[renew()]);
    check("src/session.rs:11", &[renew()]);
    check("src/session.rs:1", &[("src/session.rs:[1,1]", lines(1, 1))]);
    check("src/session.rs:11-12", &[("src/session.rs:[11,12]", lines(11, 12))]);
    check("Session::renew", &[renew()]);
    check("Session.renew", &[renew()]);
    check("renew", &[("src/other.rs:[4,4]", "    pub fn renew(&self) {}\n".to_owned()), renew()]);
    check("docs/empty.md", &[("docs/empty.md:[1,0]", String::new())]);
    let source = "    \"# Plots\\n\",\n    \"of leases\"\n";
    let notebook = format!(
        "{{\n \"cells\": [\n  {{\"cell_type\": \"markdown\", \"source\": [\n{source}  ]}}\n ],\n \"nbformat\": 4\n}}\n"
    );
    live.write("a.ipynb", notebook);
    let (_, answer) = memo(&live, &["show", "a.ipynb:4-5"]);
    assert_eq!(parts(&answer), [("a.ipynb:[4,5]".to_owned(), "# Plots\nof leases\n".to_owned())]);
    let (_, answer) = memo_in(&live, &live.root().join("src"), &["show", "session.rs#renew"]);
    assert_eq!(answer["parts"][0]["cwd_path"], json!("session.rs"));
    live.write("src/session.rs", "pub fn renew() {} // at once\n");
    check("src/session.rs#renew", &[("src/session.rs:[1,1]", "pub fn renew() {} // at once\n".to_owned())]);
}

#[test]
fn it_is_readable_and_harmless() {
    let live = repository();
    let shown = live.sandbox.show(&mut live.memo(&["show", "src/session.rs#renew"]));
    assert_eq!(
        shown,
        "exit 0\nout: src/session.rs:9-13  Session::renew\nout:    9      /// Renews it.\n\
         out:   10      pub fn renew(&mut self) -> u64 {\nout:   11          self.id += 1;\n\
         out:   12          self.id\nout:   13      }\n"
    );
    let plain = live.memo(&["show", "--plain", "src/session.rs"]).output().unwrap();
    assert_eq!(String::from_utf8(plain.stdout).unwrap(), SESSION);
    let token = ["let key = \"ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\";\n"].concat();
    live.write("src/key.rs", format!("fn key() {{\n    {token}    \u{1b}[31m\n}}\n"));
    let text = live.memo(&["show", "src/key.rs"]).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(!text.contains("ghp_") && !text.contains('\u{1b}') && text.contains("REDACTED"), "{text}");
}

#[test]
fn what_is_not_shown_is_explained() {
    let live = repository();
    for (target, exit, message) in [
        ("src/session.rs#gone", 1, "src/session.rs: defines no gone"),
        ("src/session.rs:99", 1, "src/session.rs: has 14 lines, no line 99"),
        ("nothing_like_it", 1, "nothing_like_it: no indexed file, and no definition of that name"),
        ("../outside.rs", 1, "../outside.rs: no indexed file, and no definition of that name"),
        ("src", 1, "src: a directory"),
        ("ignored.rs", 1, "ignored.rs: not indexed: git or .memoignore leaves it out"),
        ("ignored.rs:1", 1, "ignored.rs:1: not indexed: git or .memoignore leaves it out"),
        ("src:3", 1, "src:3: a directory"),
        ("src/.env", 2, "src/.env: secret-name, so it is not shown"),
        (".git/config", 1, ".git/config: not indexed: git or .memoignore leaves it out"),
    ] {
        let (found, answer) = memo(&live, &["show", target]);
        assert_eq!((found, answer["error"]["message"].as_str()), (exit, Some(message)), "{answer}");
        assert!(answer["error"]["hint"].is_string(), "{answer}");
    }
}

#[test]
fn a_search_lists_files_or_lines_for_editors() {
    let live = repository();
    let lines = |args: &[&str]| {
        let output = live.memo(args).current_dir(live.root().join("src")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let search = ["search", "renew", "--kind", "symbol", "--wait-ms=60000"];
    assert_eq!(lines(&[&search[..], &["--files"]].concat()), "session.rs\nother.rs\n");
    let vimgrep = lines(&[&search[..], &["--vimgrep"]].concat());
    assert!(
        vimgrep.lines().any(|line| line == "session.rs:10:12:    pub fn renew(&mut self) -> u64 {"),
        "{vimgrep}"
    );
}

#[test]
fn a_search_shows_whole_texts_if_asked_to() {
    let live = Live::new();
    let body: String = (0..40).map(|n| format!("    step({n});\n")).collect();
    live.write("a.rs", format!("/// Renews the lease.\npub fn renew_lease() {{\n{body}}}\n"));
    let id =
        memo(&live, &["add", &format!("lease notes\n{}", "more\n".repeat(30))]).1["memory"]["id"].clone();
    let (_, found) = memo(&live, &["search", "renew lease", "--full", "--wait-ms=60000"]);
    let hit = |path: &str| found["hits"].as_array().unwrap().iter().find(|hit| hit["path"] == path).cloned();
    let code = hit("a.rs").unwrap_or_else(|| panic!("{found}"));
    assert_eq!((&code["snippet_line"], code["snippet"].as_str().unwrap().lines().count()), (&json!(1), 43));
    let memory = hit(&format!("memory:{}", id.as_str().unwrap())).unwrap_or_else(|| panic!("{found}"));
    assert_eq!(memory["snippet"].as_str().unwrap().lines().count(), 31);
    let (_, short) = memo(&live, &["search", "renew lease", "--kind", "symbol"]);
    assert!(short["hits"][0]["snippet"].as_str().unwrap().lines().count() < 6, "{short}");
}
