//! Does `memo show` print what was named, and nothing else?

use serde_json::{Value, json};

use crate::live::{Live, memo, memo_in};

const SESSION: &str = "//! Sessions.\n\n/// A session.\npub struct Session {\n    id: u64,\n}\n\nimpl Session {\n    \
    /// Renews it.\n    pub fn renew(&mut self) -> u64 {\n        self.id += 1;\n        self.id\n    }\n}\n";

/// The body of a key that opens nothing.
const KEY_LINES: &str = "MIIEpAIBAAKCAQEA7bq1t5m2Zl0c8Yw4Kc9xQmJ3Vd6Rr1Ns5Tt8Uu2Ww4Yy6Aa\n\
    Bb0Cc2Dd4Ee6Ff8Gg0Hh2Ii4Jj6Kk8Ll0Mm2Nn4Oo6Pp8Qq0Rr2Ss4Tt6Uu8Vv0\n";

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

/// Also of code that cannot be parsed, which is cut in the middle of lines.
#[test]
fn a_hit_shows_whole_lines() {
    let live = Live::new();
    let broken = "use z; ) fn inner() { alpha_beta() } else { fn other() { alpha_beta() }\n\
                  ;; fn third() { if alpha_beta( } fn fourth() {} }} struct S { alpha_beta: u8 }\n";
    live.write("broken.rs", broken);
    live.write(
        "whole.rs",
        "fn one() { alpha_beta() } fn two() { alpha_beta() }\nmod m { fn three() { alpha_beta() } }\n",
    );
    live.write(
        "broken.py",
        "x = (; def one(): return alpha_beta\n)) def two(): return alpha_beta; class A: alpha_beta = 1\n",
    );
    let mut n_lines = 0;
    for extent in [json!({}), json!({ "full": true }), json!({ "lines_before": 1, "lines_after": 1 })] {
        let mut ask = extent.clone();
        (ask["query"], ask["wait_ms"], ask["limit"]) = (json!("alpha_beta"), json!(60_000), json!(50));
        ask["kind"] = json!(["symbol", "text"]);
        for hit in live.call("search", ask)["hits"].as_array().unwrap() {
            let text = std::fs::read_to_string(live.root().join(hit["path"].as_str().unwrap())).unwrap();
            let first = hit["snippet_line"].as_u64().unwrap() as usize;
            let shown = hit["snippet"].as_str().unwrap().lines();
            for (line, there) in shown.zip(text.lines().skip(first - 1)) {
                assert_eq!(line.trim_end(), there.trim_end(), "{extent}: {hit}");
                n_lines += 1;
            }
        }
    }
    assert!(n_lines >= 12, "{n_lines}");
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
    check("src/session.rs:11-11", &[("src/session.rs:[11,11]", lines(11, 11))]);
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
fn a_place_is_written_as_other_programs_write_it() {
    let live = repository();
    live.write("src/session.rs:11", "not a line\n");
    live.write("src/a (1)#L2.rs", "fn one() {}\nfn two() {}\n");
    live.write("src/links.rs", "\npub fn L2() {}\n// L1\n");
    let root = live.root().display().to_string();
    let check = |target: &str, expected: &str| {
        let (_, answer) = memo(&live, &["show", target]);
        let found: Vec<String> = parts(&answer).into_iter().map(|(place, _)| place).collect();
        assert_eq!(found, [expected], "{target}: {answer}");
    };
    let renew = "src/session.rs:[9,13]";
    check("src/session.rs:11", "src/session.rs:11:[1,1]"); // the path that exists
    check("src/session.rs:11:1", "src/session.rs:11:[1,1]");
    for target in
        ["src/session.rs:12:9", "src/session.rs:12:", "src/session.rs:12:  self.id", "src/session.rs:L12"]
    {
        check(target, renew);
    }
    for target in ["src/session.rs(12)", "src/session.rs(12,9)", "src/session.rs(12,9): error E0308: no"] {
        check(target, renew);
    }
    check("src/session.rs#L12", renew);
    check("src/session.rs#L11-L12", "src/session.rs:[11,12]");
    check("src/session.rs#L11C3-L12C9", "src/session.rs:[11,12]");
    check("File \"src/session.rs\", line 12, in renew", renew);
    check(&format!("file://{root}/src/session.rs#L12"), renew);
    check(&format!("file://{root}/src/session.rs:12:9"), renew);
    check(&format!("file://{root}/src/a%20(1)%23L2.rs:2"), "src/a (1)#L2.rs:[2,2]");
    check("src/a (1)#L2.rs:2", "src/a (1)#L2.rs:[2,2]");
    check("src/links.rs#L2", "src/links.rs:[2,2]"); // a definition of that name
    check("src/links.rs#L3", "src/links.rs:[3,3]");
    for verb in ["callers", "callees", "refs", "impact", "tests", "outline", "why"] {
        live.git(&["add", "-A"]);
        let mut answers =
            ["src/session.rs#renew", "src/session.rs:12:9", "src/session.rs(12,9)", "src/session.rs#L12"]
                .map(|target| memo(&live, &[verb, target]).1);
        for answer in &mut answers {
            answer["took_ms"] = json!(0);
            answer["symbol"] = json!(null);
        }
        let [first, others @ ..] = answers;
        if verb != "why" {
            assert!(first["error"].is_null(), "{verb}: {first}");
            assert!(others.iter().all(|other| *other == first), "{verb}: {others:?} and not {first}");
        }
    }
    let (_, added) = memo(&live, &["add", "ids only grow", "--about", "src/session.rs#L11-L12"]);
    assert_eq!(added["memory"]["anchors"][0]["lines"], json!([11, 12]), "{added}");
    for about in ["src/session.rs(12,9)", "src/session.rs:12:9", "src/session.rs#L12"] {
        let (_, listed) = memo(&live, &["list", "--about", about]);
        assert_eq!(listed["total"], 1, "{about}: {listed}");
    }
    let uri = format!("file://{root}/src/session.rs");
    let changed = live.memo(&["changed", "--json=full", "--", &uri, "src/other.rs:3:1"]).output().unwrap();
    let changed: Value = serde_json::from_slice(&changed.stdout).unwrap();
    assert_eq!(changed["total"], 2, "{changed}");
    let (_, map) = memo(&live, &["map", "src/other.rs:3:1"]);
    assert_eq!((&map["total_files"], &map["unmapped"]), (&json!(1), &json!([])), "{map}");
}

#[test]
fn of_a_long_definition_the_lines_around_are_shown() {
    let live = repository();
    let body: String = (2..=199).map(|nth| format!("    line({nth});\n")).collect();
    live.write("long.rs", format!("fn long() {{\n{body}}}\n"));
    for (line, lines) in [(100, json!([85, 115])), (3, json!([1, 18])), (200, json!([185, 200]))] {
        let (exit, answer) = memo(&live, &["show", &format!("long.rs:{line}")]);
        assert_eq!((exit, &answer["parts"][0]["lines"]), (0, &lines), "{answer}");
        assert_eq!(answer["parts"][0]["title"], "long");
    }
    let (_, whole) = memo(&live, &["show", "long.rs#long"]);
    assert_eq!(whole["parts"][0]["lines"], json!([1, 200]));
}

#[test]
fn a_signature_of_several_lines_is_shown_whole() {
    let live = repository();
    live.write("api.py", "def connect(\n    host: str,\n    port: int = 80,\n) -> Link:\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n    e = 5\n    return walrusqq(host)\n");
    let (_, answer) = memo(&live, &["search", "walrusqq", "--wait-ms=60000"]);
    assert_eq!(answer["hits"][0]["signature"], "def connect(host: str, port: int = 80) -> Link:", "{answer}");
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
fn lines_around_a_key_have_the_numbers_of_the_file() {
    let live = Live::new();
    let key =
        format!("-----{0} RSA PRIVATE KEY-----\n{1}-----END RSA PRIVATE KEY-----\n", "BEGIN", KEY_LINES);
    let text = format!("import os\n\nKEY = \"\"\"\n{key}\"\"\"\n\n\ndef beta():\n    return \"uniqueqq\"\n");
    live.write("keyed.py", &text);
    for args in [&["search", "uniqueqq", "--context", "30"][..], &["search", "uniqueqq"]] {
        let (_, answer) = memo(&live, args);
        let hit = &answer["hits"][0];
        let first = hit["snippet_line"].as_u64().unwrap() as usize;
        let shown: Vec<&str> = hit["snippet"].as_str().unwrap().lines().collect();
        for (nth, line) in shown.iter().enumerate().filter(|(_, line)| line.contains(['i', 'u'])) {
            assert_eq!(text.lines().nth(first - 1 + nth), Some(*line), "{answer}");
        }
        assert!(shown.iter().any(|line| line.contains("uniqueqq")), "{answer}");
    }
    let (_, answer) = memo(&live, &["search", "uniqueqq", "--context", "30"]);
    assert_eq!(answer["hits"][0]["snippet_line"], 1, "{answer}");
}

#[test]
fn what_is_not_shown_is_explained() {
    let live = repository();
    let outside = format!("../outside.rs: outside the worktree {}", live.root().display());
    for (target, exit, message) in [
        ("src/session.rs#gone", 1, "src/session.rs: defines no gone"),
        ("src/session.rs:99", 1, "src/session.rs: has 14 lines, no line 99"),
        ("nothing_like_it", 1, "nothing_like_it: no indexed file, and no definition of that name"),
        ("../outside.rs", 2, &outside),
        ("src", 1, "src: is a directory"),
        ("ignored.rs", 1, "ignored.rs: not indexed: git or .memoignore leaves it out"),
        ("ignored.rs:1", 1, "ignored.rs:1: not indexed: git or .memoignore leaves it out"),
        ("src:3", 1, "src:3: is a directory"),
        ("src/session.rs:12-3", 2, "src/session.rs:12-3: line 12 comes after line 3"),
        ("src/session.rs:0", 2, "src/session.rs:0: lines are counted from 1"),
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
    for files in ["--files", "-l"] {
        assert_eq!(lines(&[&search[..], &[files]].concat()), "session.rs\nother.rs\n", "{files}");
    }
    let vimgrep = lines(&[&search[..], &["--vimgrep"]].concat());
    assert!(
        vimgrep.lines().any(|line| line == "session.rs:10:12:    pub fn renew(&mut self) -> u64 {"),
        "{vimgrep}"
    );
}

#[test]
fn lines_around_those_that_match_are_of_the_file() {
    let live = repository();
    let search = ["search", "renew", "--kind", "symbol", "--path", "session.rs", "--wait-ms=60000"];
    let snippet = |args: &[&str]| {
        let answer = memo(&live, &[&search[..], args].concat()).1;
        let hit = &answer["hits"][0];
        let first = hit["snippet_line"].as_u64().unwrap_or_else(|| panic!("{answer}"));
        (first as usize, hit["snippet"].as_str().unwrap().to_owned())
    };
    let lines = |first: usize, last: usize| {
        let lines: Vec<&str> = SESSION.lines().skip(first - 1).take(last + 1 - first).collect();
        (first, lines.join("\n"))
    };
    // It matches from line 9, `Renews`, to line 10.
    assert_eq!(snippet(&["-A", "0"]), lines(9, 10));
    assert_eq!(snippet(&["-A1", "-B2"]), lines(7, 11));
    assert_eq!(snippet(&["--context", "3"]), lines(6, 13));
    assert_eq!(snippet(&["--context", "50"]), lines(1, 14));
    live.write("src/session.rs", format!("// at once\n{}", SESSION.replace("id: u64", "id: u32")));
    let (first, text) = snippet(&["-B", "99"]);
    assert!(first == 1 && text.contains("at once") && text.contains("id: u32"), "{text}");
    for wrong in [&["-A", "201"][..], &["-A", "1", "--full"], &["--context", "1", "--vimgrep"], &["-A", "x"]]
    {
        let (exit, answer) = memo(&live, &[&search[..], wrong].concat());
        assert_eq!((exit, &answer["error"]["code"]), (2, &json!("usage")), "{wrong:?}: {answer}");
    }
}

#[test]
fn a_definition_that_begins_like_an_annotation_has_its_signature() {
    let live = Live::new();
    live.write("Stone.java", "/** A stone of @interface. */\n@interface Stone {\n    int weight();\n}\n");
    let doc = "    /// Lifts it.\n".repeat(90);
    live.write(
        "lift.rs",
        format!("impl A {{\n{doc}    pub fn lift(&self) {{\n        go(\"walrus\");\n    }}\n}}\n"),
    );
    let signature = |query: &str| {
        let answer = memo(&live, &["search", query, "--kind", "symbol", "--wait-ms=60000"]).1;
        answer["hits"][0]["signature"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    };
    assert_eq!(signature("Stone"), "@interface Stone {");
    assert_eq!(signature("walrus"), "pub fn lift(&self) {");
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
