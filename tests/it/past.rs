//! Are questions about the past answered as git answers them?

use std::fs;
use std::time::Instant;

use memod_git::{ObjectHash, ObjectId, Objects};
use serde_json::{Value, json};

use crate::live::{Live, PATIENCE, memo};

fn git_lines(live: &Live, args: &[&str]) -> Vec<String> {
    live.git(args).lines().map(str::to_owned).collect()
}

fn commit(live: &Live, message: &str) -> String {
    live.git(&["add", "-A"]);
    live.git(&["commit", "-q", "--allow-empty", "-m", message]);
    live.git(&["rev-parse", "HEAD"])
}

fn oids(result: &Value) -> Vec<String> {
    let commits = result["commits"].as_array().unwrap_or_else(|| panic!("{result}")).iter();
    commits.map(|commit| commit["oid"].as_str().unwrap().to_owned()).collect()
}

/// A tree of any size is not listed after the time for an answer.
#[test]
fn a_former_name_is_looked_for_until_a_deadline() {
    let live = Live::new();
    live.write("lib/only.rs", PARSER);
    commit(&live, "Add a parser");
    let kind = ObjectHash::Sha1;
    let objects = Objects::open(&live.layout(), kind).unwrap().unwrap();
    let tree = ObjectId::from_hex(live.git(&["rev-parse", "HEAD^{tree}"]).as_bytes()).unwrap();
    let find = |until, is_gone: &dyn Fn(&str) -> bool| {
        objects.find_former_name_in_tree(tree, ("lib/o2.rs", PARSER.as_bytes()), is_gone, until).unwrap()
    };
    assert_eq!(find(Instant::now() + PATIENCE, &|_| true).as_deref(), Some("lib/only.rs"));
    assert_eq!(find(Instant::now(), &|path| panic!("{path} is looked at after the deadline")), None);
}

#[test]
fn of_equal_removed_files_the_one_nearby_is_the_former_one() {
    let live = Live::new();
    live.write("docs/parser.rs", PARSER);
    let first = commit(&live, "Add a parser");
    live.write("attic/old.rs", PARSER);
    commit(&live, "Keep a copy");
    live.sh("git mv docs/parser.rs docs/reader.rs && git rm -q attic/old.rs");
    commit(&live, "Rename the parser, remove the copy");
    let (_, line) = memo(&live, &["why", "docs/reader.rs:3"]);
    assert_eq!(oids(&line), [first.as_str()], "{line}");
}

/// What became a file had its name before, so none of the files that were removed meanwhile is the former one.
#[cfg(unix)]
#[test]
fn what_was_a_link_or_a_submodule_has_no_former_name() {
    let empty_commit = "c=$(git commit-tree -m sub $(git mktree </dev/null))";
    let submodule =
        format!("{empty_commit}; git update-index --add --cacheinfo 160000,$c,new.rs; mkdir new.rs");
    for (what, make) in [("a link", "ln -s docs new.rs; git add new.rs"), ("a submodule", submodule.as_str())]
    {
        let live = Live::new();
        live.write("old.rs", "fn one() {}\nfn two() {}\n"); // too little to count as moved
        live.sh(&format!("git add old.rs; {make}; git commit -qm first"));
        live.sh("git rm -q --cached new.rs; rm -rf new.rs; git mv old.rs new.rs");
        commit(&live, "Put the functions there");
        let blamed = live.git(&["blame", "-s", "--abbrev=39", "-L2,2", "new.rs"]);
        let (_, line) = memo(&live, &["why", "new.rs:2"]);
        assert_eq!(oids(&line), [blamed.split(' ').next().unwrap()], "{what}: {line}");
    }
}

#[test]
fn a_rename_that_is_not_committed_keeps_its_history() {
    let live = Live::new();
    live.write("lib/only.rs", PARSER);
    let first = commit(&live, "Add a parser");
    for script in ["git mv lib/only.rs lib/o2.rs", "git mv lib/o2.rs o3.rs && sed -i s/number/digit/g o3.rs"]
    {
        live.sh(script);
        let path = if script.contains("o3") { "o3.rs" } else { "lib/o2.rs" };
        let (_, whole) = memo(&live, &["why", path]);
        assert_eq!(oids(&whole), [first.as_str()], "{script}: {whole}");
        let (_, line) = memo(&live, &["why", &format!("{path}:3")]);
        assert_eq!(oids(&line), [first.as_str()], "{script}: {line}");
        assert_eq!(line["uncommitted"], json!([]), "{script}: {line}");
    }
    let (_, line) = memo(&live, &["why", "o3.rs:1"]);
    assert_eq!(line["uncommitted"], json!([[1, 1]]), "it was changed: {line}");
    live.write("other.rs", "nothing of it\n");
    let (_, other) = memo(&live, &["why", "other.rs"]);
    assert_eq!((oids(&other).len(), &other["uncommitted"]), (0, &json!([[1, 1]])), "{other}");
}

const PARSER: &str = "\
/// Parses a number.
pub fn parse(text: &str) -> Option<u32> {
    let text = text.trim();
    let text = text.trim_end_matches(';');
    text.parse().ok()
}

/// Prints a number.
pub fn print(number: u32) -> String {
    let mut text = number.to_string();
    text.push(';');
    text.push('\\n');
    text
}
";

/// Returns a repository in which a file was made, renamed and changed, here and on a branch that was merged.
fn history() -> Live {
    let live = Live::idle();
    live.write("src/old.rs", PARSER);
    live.write("notes.md", "# Notes\n");
    commit(&live, "Parse and print\n\nBoth are needed.");
    live.git(&["mv", "src/old.rs", "src/number.rs"]);
    live.write("src/number.rs", PARSER.replace("trim()", "trim_start()"));
    commit(&live, "Rename");
    live.git(&["checkout", "-q", "-b", "side"]);
    live.write("src/number.rs", PARSER.replace("trim()", "trim_start()").replace("'\\n'", "'\\r'"));
    commit(&live, "End lines with CR");
    live.git(&["checkout", "-q", "main"]);
    live.write("notes.md", "# Notes\n\nMore.\n");
    commit(&live, "More notes");
    live.git(&["merge", "-q", "--no-ff", "-m", "Merge side", "side"]);
    let text = fs::read_to_string(live.root().join("src/number.rs")).unwrap();
    live.write("src/number.rs", text.replace("number.to_string()", "format!(\"{number}\")"));
    commit(&live, "Format");
    live
}

#[test]
fn why_a_path_is_as_git_log_says() {
    let live = history();
    for path in ["notes.md", "src"] {
        let expected = git_lines(&live, &["log", "--format=%H", "--", path]);
        let (exit, result) = memo(&live, &["why", path, "-n", "100"]);
        assert_eq!((exit, oids(&result)), (0, expected), "{path}");
    }
    let (_, result) = memo(&live, &["why", "src/number.rs"]);
    assert_eq!(oids(&result), git_lines(&live, &["log", "--follow", "--format=%H", "--", "src/number.rs"]));
    let commits = result["commits"].as_array().unwrap();
    let last = commits.last().unwrap();
    assert_eq!((&last["path"], &last["subject"]), (&json!("src/old.rs"), &json!("Parse and print")));
    assert_eq!(last["body"], "Both are needed.");
    assert_eq!((&result["complete"], &result["more"]), (&json!(true), &json!(false)));
    let (_, result) = memo(&live, &["why", "src/number.rs", "-n", "1"]);
    assert_eq!((oids(&result).len(), &result["more"]), (1, &json!(true)));
    let (_, result) = memo(&live, &["-C", "src", "why", "../notes.md"]);
    assert_eq!(result["path"], "notes.md");
    live.remove("notes.md");
    commit(&live, "Away with the notes");
    let (exit, result) = memo(&live, &["why", "notes.md"]);
    let expected = git_lines(&live, &["log", "--format=%H", "--", "notes.md"]);
    assert_eq!((exit, oids(&result)), (0, expected), "a path that is gone");
}

#[test]
fn a_long_message_is_cut_unless_all_of_it_is_asked_for() {
    let live = history();
    let body: Vec<String> = (1..=20).map(|nth| format!("reason {nth}")).collect();
    live.write("notes.md", "# Other notes\n");
    commit(&live, &format!("Other notes\n\n{}", body.join("\n")));
    let said = |flags: &[&str]| {
        let done = live.memo(&["why", "notes.md", "-n", "1"]).args(flags).output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    let cut = said(&[]);
    assert!(
        cut.contains("reason 12\n    … 8 more lines (--full shows them)") && !cut.contains("reason 13"),
        "{cut}"
    );
    let whole = said(&["--full"]);
    assert!(body.iter().all(|line| whole.contains(line)) && !whole.contains('…'), "{whole}");
}

#[test]
fn why_a_line_is_as_git_blame_says() {
    let live = history();
    let text = fs::read_to_string(live.root().join("src/number.rs")).unwrap();
    for line in 1..=text.lines().count() {
        let range = format!("{line},{line}");
        let blamed = git_lines(&live, &["blame", "-l", "-s", "--root", "-L", &range, "src/number.rs"]);
        let (_, result) = memo(&live, &["why", &format!("src/number.rs:{line}")]);
        assert_eq!(oids(&result), [blamed[0].split(' ').next().unwrap()], "line {line}");
    }
    let (_, result) = memo(&live, &["why", "src/number.rs#print"]);
    let subjects: Vec<_> =
        result["commits"].as_array().unwrap().iter().map(|c| c["subject"].clone()).collect();
    assert_eq!(subjects, ["Format", "End lines with CR", "Parse and print"]);
    assert_eq!(result["symbol"], "print");
    live.write("src/number.rs", format!("// new\n{text}"));
    let (_, result) = memo(&live, &["why", "src/number.rs:1-2"]);
    assert_eq!((&result["uncommitted"], oids(&result).len()), (&json!([[1, 1]]), 1));
    live.write("src/number.rs", text.replace('\n', "\r\n"));
    let (_, result) = memo(&live, &["why", "src/number.rs:1"]);
    assert_eq!((&result["uncommitted"], oids(&result).len()), (&json!([]), 1), "line ends alone");
    live.write("new:7.md", "# New\n");
    let (exit, result) = memo(&live, &["why", "new:7.md"]);
    assert_eq!((exit, &result["uncommitted"], oids(&result).len()), (0, &json!([[1, 1]]), 0));
    let shown = live.sandbox.show(&mut live.memo(&["why", "new:7.md"]));
    assert_eq!(shown, "exit 0\nout: not committed yet  line 1\n");
}

/// `blame.ignoreRevsFile` names commits that only format.
#[test]
fn why_a_line_passes_over_the_commits_that_blame_passes_over() {
    let live = Live::idle();
    let commits: Vec<String> = [
        "fn first( a:u8 ) {\n}\nfn second( b:u8 ) {\n    loop {}\n}\n",
        "fn first( a:u8 ) {\n}\nfn second( b:u8 ) {\n    work(b)\n}\n",
        "fn first(a: u8) {\n}\n\nfn second(b: u8) {\n\twork(b)\n}\n",
    ]
    .into_iter()
    .map(|text| {
        live.write("a.rs", text);
        commit(&live, "x")
    })
    .collect();
    live.write(".git-blame-ignore-revs", format!("# Format\n\n{} # all\n", commits[2]));
    live.start();
    let blamed = |line: usize| {
        let (_, result) = memo(&live, &["why", &format!("a.rs:{line}")]);
        oids(&result)
    };
    assert_eq!(blamed(1), [commits[2].clone()], "without the setting");
    live.git(&["config", "blame.ignoreRevsFile", ".git-blame-ignore-revs"]);
    for line in [1, 2, 4, 5, 6] {
        let range = format!("{line},{line}");
        let shown = git_lines(&live, &["blame", "-l", "-s", "--root", "-L", &range, "a.rs"]);
        assert_eq!(blamed(line), [shown[0].split(' ').next().unwrap()], "line {line}: {shown:?}");
    }
    assert_eq!(blamed(5), [commits[1].clone()]);
    assert_eq!(blamed(3), [commits[2].clone()], "a line that replaces none");
    live.git(&["config", "blame.ignoreRevsFile", "no-such-file"]);
    assert_eq!(blamed(1), [commits[2].clone()]);
}

#[test]
fn why_says_where_a_shallow_history_ends() {
    let live = history();
    let url = format!("file://{}", live.root().display());
    live.git(&["clone", "-q", "--depth=1", &url, "../shallow"]);
    for target in ["src/number.rs", "src/number.rs:1"] {
        let (exit, result) = memo(&live, &["-C", "../shallow", "why", target]);
        assert_eq!((exit, &result["complete"], oids(&result).len()), (0, &json!(false), 1), "{target}");
        assert!(result["reason"].as_str().unwrap().contains("shallow clone"), "{result}");
    }
    live.memo(&["-C", "../shallow", "stop"]).output().unwrap();
}

#[test]
fn what_changed_since_a_commit() {
    let live = history();
    let base = live.git(&["rev-parse", "HEAD"]);
    let status = |since: &str| -> Vec<String> {
        let wait = PATIENCE.as_millis().to_string();
        let (_, result) = memo(&live, &["changed", since, "--wait-ms", &wait]);
        assert_eq!(result["fresh"], true, "{result}");
        let files = result["files"].as_array().unwrap().iter();
        let mut shown: Vec<String> = Vec::new();
        for file in files {
            let text = |key: &str| file[key].as_str().map(str::to_owned);
            let mut line = format!("{} {}", text("status").unwrap(), text("path").unwrap());
            line += &text("from").map_or(String::new(), |from| format!(" from {from}"));
            for (mark, key) in [("+", "added"), ("~", "changed"), ("-", "removed")] {
                for name in file["symbols"][key].as_array().into_iter().flatten() {
                    line += &format!(" {mark}{}", name.as_str().unwrap());
                }
            }
            shown.push(line);
        }
        shown
    };
    assert_eq!(status("HEAD"), [""; 0]);
    let text = fs::read_to_string(live.root().join("src/number.rs")).unwrap();
    live.write(
        "src/number.rs",
        format!(
            "{}\npub fn extra() -> u32 {{\n    let one = 1;\n    one + one\n}}\n",
            text.replace("trim_start", "trim_end")
        ),
    );
    live.write("notes.md", "# Notes\r\n\r\nMore.\r\n");
    live.write("logo.png", "\u{89}PNG\0");
    assert_eq!(status("HEAD"), ["added logo.png", "modified src/number.rs +extra ~parse"]);
    live.write("notes.md", "# Notes\n\nEven more.\n");
    live.rename("src/number.rs", "src/num.rs");
    let expected =
        ["added logo.png", "modified notes.md", "renamed src/num.rs from src/number.rs +extra ~parse"];
    assert_eq!(status("HEAD"), expected);
    live.git(&["add", "-A"]);
    assert_eq!(status("@"), expected, "staged");
    commit(&live, "All of it");
    for since in [base.as_str(), &base[..8], "HEAD~1", "HEAD^", "main~", "@^"] {
        assert_eq!(status(since), expected, "{since}");
    }
    live.git(&["tag", "-a", "-m", "x", "v1", &base]);
    assert_eq!(status("v1"), expected, "an annotated tag");
    assert_eq!(status("HEAD~2^2"), status("side"));
    live.git(&["config", "branch.main.remote", "."]);
    live.git(&["config", "branch.main.merge", "refs/heads/side"]);
    assert_eq!(status("@{upstream}"), status("side"));
    live.remove("src/num.rs");
    assert_eq!(status("HEAD"), ["removed src/num.rs -parse -print -extra"]);
    let old = ["added logo.png", "added notes.md"];
    assert_eq!(status("1990-01-01"), old);
    assert_eq!(status("40w"), old);
    assert_eq!(status("2100-01-01T00:00:00Z"), status("HEAD"));
    let (_, result) = memo(&live, &["changed", "--since", "1990-01-01", "-n", "1"]);
    assert_eq!(
        (&result["total"], &result["left_out"], &result["base"]),
        (&json!(2), &json!(1), &Value::Null)
    );
    let shown = live.sandbox.show(&mut live.memo(&["changed"]));
    assert!(shown.starts_with("exit 0\nout: D src/num.rs\nout:     - parse\n"), "{shown}");
    assert!(shown.contains("err: memo: 1 file changed since "), "{shown}");
    for same in [&["changed", "HEAD"][..], &["changed", "--since", "HEAD"], &["changed", "-s", "@"]] {
        assert_eq!(live.sandbox.show(&mut live.memo(same)), shown, "{same:?}");
    }
    let (exit, both) = memo(&live, &["changed", "HEAD", "--since", "HEAD~1"]);
    assert_eq!((exit, &both["error"]["code"]), (2, &json!("usage")), "{both}");
}

#[test]
fn definitions_follow_each_edit() {
    let live = history();
    let text = fs::read_to_string(live.root().join("src/number.rs")).unwrap();
    for name in ["one", "two", "one", "parse_all"] {
        live.write(
            "src/number.rs",
            format!("{text}\npub fn {name}() -> u32 {{\n    let n = 1;\n    n + n\n}}\n"),
        );
        let (_, result) = memo(&live, &["changed", "--since", "HEAD"]);
        let expected = json!({ "added": [name], "changed": [], "removed": [] });
        assert_eq!(result["files"][0]["symbols"], expected, "{result}");
    }
    live.write("src/number.rs", &text);
    let (_, result) = memo(&live, &["changed", "--since", "HEAD"]);
    assert_eq!(result["total"], 0, "{result}");
}

#[test]
fn what_changed_is_kept_only_while_it_holds() {
    let live = history();
    live.write(".memoignore", "left-out/\n");
    live.write("left-out/file.md", "# Left out\n");
    commit(&live, "A file that is not listed");
    let changed = || -> Vec<String> {
        let ask = || {
            let (_, result) = memo(&live, &["changed", "--since", "HEAD"]);
            assert_eq!(result["complete"], true, "{result}");
            let files = result["files"].as_array().unwrap().iter();
            files.map(|file| format!("{} {}", file["status"].as_str().unwrap(), file["path"])).collect()
        };
        let first: Vec<String> = ask();
        assert_eq!(ask(), first, "asked again");
        first
    };
    assert_eq!(changed(), [""; 0]);
    live.remove("left-out/file.md");
    assert_eq!(changed(), ["removed \"left-out/file.md\""], "no clock tells of it");
    live.write("left-out/file.md", "# Left out, and back\n");
    assert_eq!(changed(), [""; 0]);
    live.write("notes.md", "# Other notes\n");
    assert_eq!(changed(), ["modified \"notes.md\""]);
    live.git(&["add", "notes.md"]);
    assert_eq!(changed(), ["modified \"notes.md\""]);
    live.git(&["commit", "-q", "-m", "Other notes"]);
    assert_eq!(changed(), [""; 0]);
    live.git(&["reset", "-q", "--soft", "HEAD~1"]);
    assert_eq!(changed(), ["modified \"notes.md\""]);
    live.git(&["update-index", "--assume-unchanged", "notes.md"]);
    live.write("notes.md", "# Notes again\n");
    assert_eq!(changed(), ["modified \"notes.md\""], "the disk counts");
    live.write("notes.md", "# Notes\n\nMore.\n");
    assert_eq!(changed(), [""; 0]);
}

#[test]
fn what_has_no_answer_is_explained() {
    let live = history();
    let check = |args: &[&str], exit: i32, code: &str, said: &str| {
        let (found, result) = memo(&live, args);
        let error = &result["error"];
        assert_eq!((found, error["code"].as_str()), (exit, Some(code)), "{args:?}: {result}");
        assert!(error["message"].as_str().unwrap().contains(said), "{result}");
        assert!(error["hint"].is_string(), "{result}");
    };
    check(&["changed", "--since", "nothing"], 2, "usage", "nothing: no branch, tag or commit");
    check(&["changed", "--since", "HEAD~99"], 1, "not-found", "has no parent");
    check(&["changed", "--since", "HEAD^3"], 1, "not-found", "has no parent 3");
    check(&["changed", "--since", "HEAD^{tree}"], 2, "usage", "HEAD^{tree}");
    check(&["changed", "--since", "@{u}"], 1, "not-found", "no upstream");
    check(&["changed", "--since", "HEAD:notes.md"], 2, "usage", "HEAD:notes.md");
    check(&["why", "nothing.rs"], 1, "not-found", "nothing.rs: no indexed file");
    check(&["why", "../outside"], 2, "usage", "../outside: outside the worktree");
    check(&["why", "notes.md:99"], 1, "not-found", "has 3 lines, no line 99");
    check(&["why", "src/number.rs#nothing"], 1, "not-found", "src/number.rs: defines no nothing");
    check(&["why", "src:1"], 2, "usage", "src");
    // Two commits whose ids begin alike.
    let tree = live.git(&["rev-parse", "HEAD^{tree}"]);
    let mut seen = std::collections::HashMap::new();
    let prefix = (0..2_000).find_map(|nth| {
        let who = format!("A <a@example.org> {nth} +0000");
        let text = format!("tree {tree}\nauthor {who}\ncommitter {who}\n\nx\n");
        let id =
            gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Commit, text.as_bytes()).unwrap();
        let prefix = id.to_string()[..4].to_owned();
        seen.insert(prefix.clone(), text.clone()).map(|other| (prefix, text, other))
    });
    let (prefix, one, other) = prefix.expect("of so many ids two begin alike");
    for text in [one, other] {
        fs::write(live.sandbox.path("raw"), text).unwrap();
        live.git(&["hash-object", "-t", "commit", "-w", live.sandbox.path("raw").to_str().unwrap()]);
    }
    check(&["changed", "--since", &prefix], 2, "usage", "several commits begin with these digits");

    let head = live.git(&["rev-parse", "HEAD"]);
    let object = live.root().join(format!(".git/objects/{}/{}", &head[..2], &head[2..]));
    let bytes = fs::read(&object).unwrap();
    fs::remove_file(&object).unwrap();
    check(&["why", "notes.md"], 3, "internal", "is not in this repository");
    fs::write(&object, "damage").unwrap();
    check(&["why", "notes.md"], 3, "internal", &head);
    check(&["changed", "--since", "HEAD"], 3, "internal", &head);
    fs::remove_file(&object).unwrap();
    fs::write(&object, bytes).unwrap();
    assert_eq!(memo(&live, &["why", "notes.md"]).0, 0);

    live.git(&["checkout", "-q", "--orphan", "empty"]);
    let (exit, result) = memo(&live, &["changed"]);
    let is_new = |file: &Value| file["status"] == "added";
    assert!(exit == 0 && result["files"].as_array().unwrap().iter().all(is_new), "{result}");
    check(&["why", "notes.md"], 1, "not-found", "empty has no commit yet");
    let plain = live.sandbox.path("plain");
    fs::create_dir(&plain).unwrap();
    let path = plain.to_str().unwrap();
    assert_eq!(live.memo(&["-C", path, "init", "-q"]).status().unwrap().code(), Some(0));
    check(&["-C", path, "why", "a.md"], 2, "usage", "not in a git repository");
    check(&["-C", path, "changed", "--since", "3d"], 2, "usage", "not in a git repository");
    live.memo(&["-C", path, "stop"]).output().unwrap();
}

#[test]
fn a_file_that_may_not_be_read_is_judged_by_what_git_noted() {
    let live = Live::idle();
    live.write(".env", "TOKEN=one\n");
    commit(&live, "A secret that was committed");
    // So that git itself would have to look: its index is no younger than the file.
    let made = fs::metadata(live.root().join(".env")).unwrap().modified().unwrap();
    fs::File::options().write(true).open(live.root().join(".git/index")).unwrap().set_modified(made).unwrap();
    live.start();
    let files = || memo(&live, &["changed", "--since", "HEAD"]).1["files"].clone();
    assert_eq!(files(), json!([]));
    live.write(".env", "TOKEN=three\n");
    assert_eq!(files()[0]["path"], ".env");
}

/// The files of a change are more useful than all their definitions.
#[test]
fn many_definitions_of_a_changed_file_are_counted_unless_it_is_the_only_one() {
    let live = history();
    let text: String = (0..25).map(|nth| format!("def f{nth}():\n    return {nth}\n\n\n")).collect();
    live.write("many.py", &text);
    live.write("few.py", "def g():\n    return 1\n");
    let wait = PATIENCE.as_millis().to_string();
    let said = live.sandbox.show(&mut live.memo(&["changed", "--wait-ms", &wait]));
    assert_eq!(said.matches("out:     + f").count(), 20, "{said}");
    assert!(said.contains("out:     + 5 more: memo changed -- many.py\n"), "{said}");
    assert!(said.contains("out:     + g\n"), "{said}");
    let said = live.sandbox.show(&mut live.memo(&["changed", "--", "many.py"]));
    assert_eq!(said.matches("out:     + f").count(), 25, "{said}");
}
