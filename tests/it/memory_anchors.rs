//! Do memories know when the code they are about is no longer as it was?

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::live::{Live, memo, memo_in};

const AUTH: &str = "\
//! Who is there?

/// Lets somebody in.
pub fn login(name: &str, password: &str) -> bool {
    let known = lookup(name);
    known.is_some_and(|user| user.password == password)
}

pub struct Session {
    name: String,
}

impl Session {
    pub fn renew(&mut self) {
        self.name.push('+');
    }
}

pub struct Key;

impl Key {
    pub fn renew(&mut self) {}
}
";

const LIMITS: &str = "\
// Limits of the service.
LIMITS = {
    'requests': 100,
    'seconds': 60,
}


def within(n_requests):
    # By the minute.
    return n_requests < LIMITS['requests']
";

const NOTES: &str = "# Notes\n\nTokens are signed.\n\nThey expire after a day.\n";

pub(crate) fn about(live: &Live, text: &str, targets: &[&str]) -> String {
    let abouts = targets.iter().flat_map(|target| ["--about", target]);
    let args: Vec<&str> = ["add", text, "--force"].into_iter().chain(abouts).collect();
    let (code, answer) = memo(live, &args);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(answer["memory"]["state"], "fresh", "{answer}");
    answer["memory"]["id"].as_str().unwrap().to_owned()
}

fn get_in(live: &Live, dir: &Path, id: &str) -> Value {
    let (code, answer) = memo_in(live, dir, &["get", id]);
    assert_eq!((code, &answer["fresh"]), (0, &json!(true)), "{answer}");
    answer["memories"][0].clone()
}

pub(crate) fn get(live: &Live, id: &str) -> Value {
    get_in(live, &live.root(), id)
}

/// Returns the state of a memory, with where its first anchor is now, if elsewhere: `fresh src/b.rs#f`.
fn state_in(live: &Live, dir: &Path, id: &str) -> String {
    let memory = get_in(live, dir, id);
    let now = memory["anchors"][0]["now"].as_str().map_or(String::new(), |now| format!(" {now}"));
    format!("{}{now}", memory["state"].as_str().unwrap_or("unknown"))
}

pub(crate) fn state(live: &Live, id: &str) -> String {
    state_in(live, &live.root(), id)
}

/// Edits the body of a function in a file of [`AUTH`].
fn edit_login(live: &Live, path: &str) {
    live.write(path, AUTH.replace("user.password == password", "user.password == hash(password)"));
}

#[test]
fn a_file_that_was_renamed_and_edited_has_drifted_memories() {
    let live = repository();
    let of_symbol = about(&live, "login compares the password", &["src/auth.rs#login"]);
    let of_lines = about(&live, "a session only renews its name", &["src/auth.rs:9-11"]);
    let of_file = about(&live, "who is there", &["src/auth.rs"]);
    live.rename("src/auth.rs", "src/entry.rs");
    edit_login(&live, "src/entry.rs");
    let expected = [
        (&of_symbol, "drifted src/entry.rs#login"),
        (&of_lines, "fresh src/entry.rs:9-11"),
        (&of_file, "drifted src/entry.rs"),
    ];
    for (id, state_then) in expected {
        assert_eq!(state(&live, id), state_then, "not committed");
    }
    live.commit_all();
    for (id, state_then) in expected {
        assert_eq!(state(&live, id), state_then, "committed");
    }
    live.rename("src/entry.rs", "src/door.rs");
    live.commit_all();
    assert_eq!(state(&live, &of_symbol), "drifted src/door.rs#login", "renamed twice");
    let (code, answer) = memo(&live, &["confirm", &of_symbol]);
    assert_eq!((code, &answer["memory"]["anchors"][0]["path"]), (0, &json!("src/door.rs")), "{answer}");
    assert_eq!(state(&live, &of_symbol), "fresh");
}

#[test]
fn a_file_that_git_does_not_call_renamed_is_gone() {
    let live = repository();
    let id = about(&live, "login compares the password", &["src/auth.rs#login"]);
    live.write("src/other.rs", "pub fn login(name: &str) -> bool {\n    name.is_empty()\n}\n");
    live.commit_all();
    live.remove("src/auth.rs");
    assert_eq!(state(&live, &id), "orphaned", "another file has a function of that name");
}

fn repository() -> Live {
    let live = Live::idle();
    live.write("src/auth.rs", AUTH);
    live.write("src/limits.py", LIMITS);
    live.write("docs/notes.md", NOTES);
    live.commit_all();
    live.start();
    live
}

/// What is done to a worktree.
type Step = (&'static str, fn(&Live));

fn edit(live: &Live, path: &str, from: &str, to: &str) {
    let text = fs::read_to_string(live.root().join(path)).unwrap();
    assert!(text.contains(from), "{path} has no {from}");
    live.write(path, text.replace(from, to));
}

#[test]
fn what_a_memory_is_about_is_found_by_its_name() {
    let live = Live::new();
    live.write("src/auth.rs", AUTH);
    live.write("limits.py", LIMITS);
    live.commit_all();
    memo(&live, &["add", "what is short of time is done first"]);
    let of_auth = about(&live, "a day is enough", &["src/auth.rs#Session::renew"]);
    let of_limits = about(&live, "support asked for that", &["limits.py"]);
    let first = |query: &str| {
        let (_, found) = memo(&live, &["search", "--kind", "memory", query]);
        found["hits"][0]["id"].as_str().unwrap_or_else(|| panic!("{query}: {found}")).to_owned()
    };
    assert_eq!(
        [first("Session::renew"), first("auth.rs"), first("limits.py")],
        [&of_auth, &of_auth, &of_limits].map(String::clone)
    );
    memo(&live, &["update", &of_limits, "--no-about", "limits.py", "--about", "src/auth.rs#Key"]);
    assert_eq!(first("Key"), of_limits);
}

#[test]
fn six_memories_through_every_change() {
    let live = repository();
    let linked = live.sandbox.path("linked");
    live.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let abouts = [
        "src/auth.rs#login",
        "src/auth.rs#Session::renew",
        "src/limits.py#within",
        "src/limits.py:2-5",
        "src/auth.rs",
        "docs/notes.md:3",
    ];
    let ids: Vec<_> =
        abouts.iter().enumerate().map(|(n, target)| about(&live, &format!("fact {n}"), &[target])).collect();
    let steps: &[(Step, [&str; 6])] = &[
        (("nothing", |_| {}), ["fresh", "fresh", "fresh", "fresh", "fresh", "fresh"]),
        (
            ("change only a comment elsewhere in the file", |live| {
                edit(live, "src/auth.rs", "//! Who is there?", "//! Who is it?\n//! And why?");
                edit(live, "src/limits.py", "// Limits of", "// All limits of\n// of");
            }),
            ["fresh", "fresh", "fresh", "fresh src/limits.py:3-6", "drifted", "fresh"],
        ),
        (
            ("back again", |live| drop(live.git(&["checkout", "-q", "."]))),
            ["fresh", "fresh", "fresh", "fresh", "fresh", "fresh"],
        ),
        (
            ("rename a function", |live| edit(live, "src/auth.rs", "fn login", "fn sign_in")),
            ["orphaned", "fresh", "fresh", "fresh", "drifted", "fresh"],
        ),
        (
            ("change its body", |live| {
                live.git(&["checkout", "-q", "."]);
                edit(live, "src/auth.rs", "known.is_some_and", "known.is_none_or");
            }),
            ["drifted", "fresh", "fresh", "fresh", "drifted", "fresh"],
        ),
        (
            ("move the file", |live| {
                live.git(&["checkout", "-q", "."]);
                live.git(&["mv", "src/auth.rs", "src/door.rs"]);
                live.git(&["mv", "src/limits.py", "limits.py"]);
                live.git(&["mv", "docs/notes.md", "NOTES.md"]);
            }),
            [
                "fresh src/door.rs#login",
                "fresh src/door.rs#Session::renew",
                "fresh limits.py#within",
                "fresh limits.py:2-5",
                "fresh src/door.rs",
                "fresh NOTES.md:3",
            ],
        ),
        (
            ("change another function of the moved file", |live| {
                edit(live, "src/door.rs", "push('+')", "clear()");
            }),
            [
                "fresh src/door.rs#login",
                "drifted src/door.rs#Session::renew",
                "fresh limits.py#within",
                "fresh limits.py:2-5",
                "drifted src/door.rs",
                "fresh NOTES.md:3",
            ],
        ),
        (
            ("delete them", |live| {
                for path in ["src/door.rs", "limits.py", "NOTES.md"] {
                    live.remove(path);
                }
            }),
            ["orphaned", "orphaned", "orphaned", "orphaned", "orphaned", "orphaned"],
        ),
        (
            ("switch to a branch that has another body, and the file moved", |live| {
                live.git(&["reset", "-q", "--hard"]);
                live.git(&["checkout", "-q", "-b", "other"]);
                live.git(&["mv", "src/limits.py", "src/quota.py"]);
                edit(live, "src/auth.rs", "lookup(name)", "find(name)");
                live.commit_all();
            }),
            ["drifted", "fresh", "fresh src/quota.py#within", "fresh src/quota.py:2-5", "drifted", "fresh"],
        ),
        (
            ("switch branches back", |live| drop(live.git(&["checkout", "-q", "main"]))),
            ["fresh", "fresh", "fresh", "fresh", "fresh", "fresh"],
        ),
        (
            ("and forth", |live| drop(live.git(&["checkout", "-q", "other"]))),
            ["drifted", "fresh", "fresh src/quota.py#within", "fresh src/quota.py:2-5", "drifted", "fresh"],
        ),
    ];
    let mut table = format!("{:<70}{}\n", "", abouts.join(" | "));
    for ((what, step), expected) in steps {
        step(&live);
        let states: Vec<_> = ids.iter().map(|id| state(&live, id)).collect();
        table += &format!("{what:<70}{}\n", states.join(" | "));
        assert_eq!(states, expected, "{what}\n{table}");
        let elsewhere: Vec<_> = ids.iter().map(|id| state_in(&live, &linked, id)).collect();
        assert_eq!(elsewhere, ["fresh"; 6], "the other worktree is as it was: {what}");
        let (_, status) = memo(&live, &["status"]);
        for word in ["fresh", "drifted", "orphaned"] {
            let n = states.iter().filter(|state| state.starts_with(word)).count();
            assert_eq!(status["anchors"][word], n, "{what}: {word}: {}", status["anchors"]);
            let (_, list) = memo(&live, &["list", "--state", word]);
            assert_eq!(
                (&list["total"], list["memories"].as_array().unwrap().len()),
                (&json!(n), n),
                "{what}: {word}"
            );
        }
    }
    println!("{table}");
    live.kill();
    assert_eq!(state(&live, &ids[0]), "drifted", "by the next daemon");
    let (code, _) = memo(&live, &["reindex"]);
    assert_eq!(code, 0);
    assert_eq!(
        (state(&live, &ids[0]), state(&live, &ids[1])),
        ("drifted".into(), "fresh".into()),
        "by a new index"
    );
}

#[test]
fn what_happened_is_hinted_at() {
    let live = repository();
    let id = about(&live, "a fact", &["src/auth.rs#login"]);
    let note = |live: &Live| get(live, &id)["anchors"][0]["note"].as_str().unwrap_or_default().to_owned();
    edit(&live, "src/auth.rs", "fn login", "fn sign_in");
    assert_eq!(note(&live), "renamed? src/auth.rs#sign_in has the same text");
    live.git(&["checkout", "-q", "."]);
    assert_eq!(note(&live), "");
    live.remove("src/auth.rs");
    live.write("src/one.rs", AUTH);
    live.write("src/two.rs", AUTH);
    assert_eq!(state(&live, &id), "orphaned", "where it went is not known");
    assert_eq!(note(&live), "src/one.rs#login has the same text");
    live.remove("src/one.rs");
    assert_eq!(state(&live, &id), "fresh src/two.rs#login");
}

#[test]
fn a_copy_that_was_there_before_is_no_move() {
    let live = repository();
    live.write("src/copy.rs", AUTH);
    let ids =
        ["src/auth.rs#login", "src/auth.rs", "src/auth.rs:4-7"].map(|target| about(&live, target, &[target]));
    live.remove("src/auth.rs");
    assert_eq!(ids.each_ref().map(|id| state(&live, id)), ["orphaned"; 3]);
}

#[test]
fn other_line_ends_change_nothing() {
    let live = repository();
    let targets = ["src/auth.rs#login", "src/auth.rs", "src/auth.rs:4-7"];
    let ids = targets.map(|target| about(&live, target, &[target]));
    live.write("src/auth.rs", AUTH.replace('\n', "\r\n"));
    assert_eq!(ids.each_ref().map(|id| state(&live, id)), ["fresh"; 3]);
    live.write("src/auth.rs", AUTH.replace("lookup", "look_up").replace('\n', "\r\n"));
    assert_eq!(ids.each_ref().map(|id| state(&live, id)), ["drifted"; 3]);
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_compared_any_more() {
    let live = repository();
    let ids = ["docs/notes.md", "src/auth.rs#login"].map(|target| about(&live, target, &[target]));
    let note = |id: &str| get(&live, id)["anchors"][0]["note"].as_str().unwrap_or_default().to_owned();
    live.write("docs/notes.md", "x".repeat(2 << 20));
    live.write("src/auth.rs", b"fn login() {\0}");
    assert_eq!(ids.each_ref().map(|id| state(&live, id)), ["drifted"; 2]);
    assert_eq!(note(&ids[0]), "docs/notes.md is too-big now, so its text was not compared");
    assert_eq!(note(&ids[1]), "src/auth.rs is binary now, so its text was not compared");
    live.git(&["checkout", "-q", "."]);
    live.git(&["rm", "-q", "--cached", "docs/notes.md"]);
    live.write(".gitignore", "docs/\n");
    assert_eq!(state(&live, &ids[0]), "orphaned");
    assert_eq!(note(&ids[0]), "docs/notes.md exists but is ignored, so it is not checked");
    live.remove(".gitignore");
    assert_eq!(state(&live, &ids[0]), "fresh");
    live.remove("src/auth.rs");
    std::os::unix::fs::symlink("../docs/notes.md", live.root().join("src/auth.rs")).unwrap();
    assert_eq!(state(&live, &ids[1]), "drifted");
    assert_eq!(note(&ids[1]), "src/auth.rs is symlink now, so its text was not compared");
}

#[test]
fn an_error_of_syntax_elsewhere_changes_nothing() {
    let live = repository();
    let ids =
        ["src/auth.rs#login", "src/auth.rs#Session::renew"].map(|target| about(&live, target, &[target]));
    edit(&live, "src/auth.rs", "pub struct Key;", "pub fn half( {{{\n");
    assert_eq!(ids.each_ref().map(|id| state(&live, id)), ["fresh"; 2]);
    edit(&live, "src/auth.rs", "lookup(name)", "find(name)");
    assert_eq!(ids.each_ref().map(|id| state(&live, id)), ["drifted", "fresh"]);
}

#[test]
fn what_does_not_resolve_is_refused_with_what_is_near() {
    let live = repository();
    live.write("lib/dep/.git/HEAD", "ref: refs/heads/main\n");
    fs::create_dir_all(live.root().join("lib/dep/.git/objects")).unwrap();
    fs::create_dir_all(live.root().join("lib/dep/.git/refs")).unwrap();
    live.write("lib/dep/a.rs", AUTH);
    live.write(".gitignore", "*.log\n");
    live.write("a.log", "x\n\n");
    live.write("b.bin", b"\0");
    live.write(".env", "A=1");
    live.write("blank.txt", "a\n\n\nb\n");
    let cases: &[(&str, &str, &str)] = &[
        (
            "src/auht.rs#login",
            "about: src/auht.rs#login: no indexed file, and no definition",
            "did you mean src/auth.rs#login?",
        ),
        ("auth.rs:4", "about: auth.rs:4: no indexed file, and no definition", "did you mean src/auth.rs:4?"),
        (
            "zzz",
            "about: zzz: no indexed file, and no definition of that name",
            "paths start at the current directory",
        ),
        ("src/auth.rs#logn", "about: src/auth.rs: defines no logn", "did you mean src/auth.rs#login?"),
        ("src/auth.rs#zzz", "about: src/auth.rs: defines no zzz", "it defines Key, Key::renew, Session"),
        ("docs/notes.md#Notes", "about: docs/notes.md: defines no Notes", "name a line"),
        ("src/auth.rs:900", "about: src/auth.rs has 23 lines, no line 900", "name existing lines"),
        ("src/auth.rs:20-900", "about: src/auth.rs has 23 lines, no lines 20-900", "name existing lines"),
        ("src/auth.rs:9-7", "about: src/auth.rs:9-7: line 9 comes after line 7", "src/auth.rs:7-9"),
        ("blank.txt:2-3", "about: blank.txt: these lines are empty", "lines with text"),
        ("src", "about: src is a directory", "name a file in it"),
        ("../work2/a.rs", "about: ../work2/a.rs is not in [ROOT]", "name a file of this worktree"),
        ("a.log", "about: a.log is ignored, so its changes would go unnoticed", "check-ignore"),
        ("b.bin", "about: b.bin is not indexed (binary)", "name a file that is indexed"),
        (".env", "about: .env is not indexed (secret-name)", "name a file that is indexed"),
        ("lib/dep/a.rs", "lib/dep/a.rs: in another repository: lib/dep", "memo -C lib/dep add …"),
        ("lib/dep/none.rs", "lib/dep/none.rs: in another repository: lib/dep", "memo -C lib/dep add …"),
        ("lib/dep", "lib/dep: in another repository: lib/dep", "memo -C lib/dep add …"),
        (".git/config", "about: .git/config is ignored", "check-ignore"),
        (
            "src/auth.rs#renew",
            "about: renew: 2 definitions have that name:\n  src/auth.rs#Session::renew  lines 14-16\n  src/auth.rs#Key::renew  lines 22-22",
            "add the name of its type",
        ),
    ];
    for (target, message, hint) in cases {
        let (code, answer) = memo(&live, &["add", "x", "--about", target]);
        let (said, hinted) = (answer["error"]["message"].as_str(), answer["error"]["hint"].as_str());
        let said = said.unwrap_or_default().replace(live.root().to_str().unwrap(), "[ROOT]");
        assert!(code == 2 && said.starts_with(message), "{target}: {code}: {answer}");
        assert!(hinted.unwrap_or_default().contains(hint), "{target}: {answer}");
    }
    assert_eq!(memo(&live, &["list"]).1["total"], 0, "nothing was written");
}

#[test]
fn names_of_a_place() {
    let live = repository();
    let shown = |target: &str, dir: &str| {
        let (code, answer) =
            memo_in(&live, &live.root().join(dir), &["add", &format!("{dir} {target}"), "--about", target]);
        assert_eq!(code, 0, "{target}: {answer}");
        let anchor = &answer["memory"]["anchors"][0];
        format!("{} {} {}", anchor["path"].as_str().unwrap(), anchor["symbol"], anchor["lines"])
    };
    assert_eq!(shown("auth.rs#Session.renew", "src"), "src/auth.rs \"Session::renew\" [14,16]");
    assert_eq!(shown("../src/auth.rs#Key::renew", "docs"), "src/auth.rs \"Key::renew\" [22,22]");
    assert_eq!(shown("./notes.md:3", "docs"), "docs/notes.md null [3,3]");
    let absolute = live.root().join("docs/notes.md");
    assert_eq!(shown(absolute.to_str().unwrap(), "src"), "docs/notes.md null null");
    live.write("a#b.rs", "fn f() {}\n");
    live.write("c:7", "text\n");
    assert_eq!(shown("a#b.rs", ""), "a#b.rs null null");
    assert_eq!(shown("c:7", ""), "c:7 null null");
}

#[test]
fn anchors_come_and_go_and_are_confirmed() {
    let live = repository();
    let id = about(&live, "a fact", &["src/auth.rs#login", "src/limits.py#within"]);
    let abouts = |live: &Live| -> Vec<String> {
        let anchors = get(live, &id)["anchors"].as_array().unwrap().clone();
        anchors
            .iter()
            .map(|a| format!("{} {}", a["symbol"].as_str().unwrap_or("-"), a["state"].as_str().unwrap()))
            .collect()
    };
    edit(&live, "src/auth.rs", "lookup(name)", "find(name)");
    assert_eq!(abouts(&live), ["login drifted", "within fresh"]);
    let (code, answer) = memo(&live, &["confirm", &id]);
    assert_eq!((code, &answer["changed"]), (0, &json!(["anchors"])), "{answer}");
    assert_eq!(abouts(&live), ["login fresh", "within fresh"]);
    let (_, history) = memo(&live, &["history", &id]);
    let last = history["changes"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        (&last["action"], last["fields"]["anchors"].as_array().unwrap().len()),
        (&json!("confirm"), 2)
    );
    let (code, answer) =
        memo(&live, &["update", &id, "--no-about", "src/limits.py#within", "--about", "docs/notes.md"]);
    assert_eq!((code, &answer["changed"]), (0, &json!(["anchors"])), "{answer}");
    assert_eq!(abouts(&live), ["login fresh", "- fresh"]);
    let (code, answer) = memo(&live, &["update", &id, "--no-about", "src/limits.py"]);
    assert_eq!(code, 2, "{answer}");
    assert!(
        answer["error"]["message"].as_str().unwrap().contains("it is about src/auth.rs#login, docs/notes.md"),
        "{answer}"
    );
    live.remove("docs/notes.md");
    let (code, answer) = memo(&live, &["confirm", &id]);
    assert_eq!(code, 2, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("docs/notes.md is gone"), "{answer}");
    assert_eq!(memo(&live, &["update", &id, "--no-about", "docs/notes.md"]).0, 0, "what is gone can go");
    live.rename("src/auth.rs", "src/door.rs");
    assert_eq!(abouts(&live), ["login fresh"]);
    assert_eq!(memo(&live, &["confirm", &id]).0, 0);
    assert_eq!(get(&live, &id)["anchors"][0]["path"], "src/door.rs", "from now on it is there");
    let (_, answer) = memo(&live, &["add", "about nothing"]);
    let (code, answer) = memo(&live, &["confirm", answer["memory"]["id"].as_str().unwrap()]);
    assert_eq!(code, 2, "{answer}");
}

#[test]
fn a_memory_is_asked_for_from_another_worktree() {
    let live = repository();
    let linked = live.sandbox.path("linked");
    live.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    fs::write(linked.join("only.rs"), "fn here() {\n    let a = 1;\n}\n").unwrap();
    let (code, answer) = memo_in(&live, &linked, &["add", "a fact", "--about", "only.rs#here"]);
    assert_eq!((code, &answer["memory"]["state"]), (0, &json!("fresh")), "{answer}");
    let id = answer["memory"]["id"].as_str().unwrap().to_owned();
    assert_eq!(state(&live, &id), "orphaned");
    live.write("only.rs", "fn here() {\n    let a = 2;\n}\n");
    assert_eq!((state(&live, &id), state_in(&live, &linked, &id)), ("drifted".into(), "fresh".into()));
    live.git(&["worktree", "remove", "--force", linked.to_str().unwrap()]);
    assert_eq!(state(&live, &id), "drifted", "its worktree is gone");
    live.write("only.rs", "fn here() {\n    let a = 1;\n}\n");
    assert_eq!(state(&live, &id), "fresh");
}

#[test]
fn a_state_is_that_of_the_moment_after_the_question() {
    let live = repository();
    let id = about(&live, "a fact", &["src/limits.py#within"]);
    for n in 0..60 {
        let (text, expected) = match n % 3 {
            0 => (LIMITS.replace("By the minute", &format!("By the minute {n}")), "drifted"),
            1 => (format!("# {n}\n{LIMITS}"), "fresh"),
            _ => (LIMITS.to_owned(), "fresh"),
        };
        live.write("src/limits.py", text);
        let answer = live.call("memory.get", json!({ "ids": [id] }));
        assert_eq!(answer["memories"][0]["state"], expected, "{n}: {answer}");
        assert_eq!(answer["fresh"], true);
        if n % 7 == 0 {
            live.remove("src/limits.py");
            let answer = live.call("memory.list", json!({ "state": ["orphaned"] }));
            assert_eq!(answer["total"], 1, "{n}: {answer}");
        }
    }
}

#[test]
fn hits_say_so_and_what_has_drifted_stands_lower() {
    let live = repository();
    let ids = ["zebra login one", "zebra login two", "zebra login three"];
    let targets = ["src/auth.rs#login", "src/limits.py#within", "docs/notes.md"];
    let ids: Vec<_> = ids.iter().zip(targets).map(|(text, target)| about(&live, text, &[target])).collect();
    let hits = |args: &[&str]| -> Vec<(String, String)> {
        let (_, answer) = memo(&live, &[&["search"], args].concat());
        assert_eq!(answer["fresh"], true, "{answer}");
        let hits = answer["hits"].as_array().unwrap().iter().filter(|hit| hit["kind"] == "memory");
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        hits.map(|hit| (text(&hit["id"]), text(&hit["state"]))).collect()
    };
    for args in [&["zebra", "login"][..], &["zebra", "--kind", "memory"], &["logim"]] {
        let found = hits(args);
        assert_eq!(found.len(), 3, "{args:?}: {found:?}");
        assert!(found.iter().all(|(_, state)| state == "fresh"), "{args:?}: {found:?}");
    }
    edit(&live, "src/auth.rs", "lookup(name)", "find(name)");
    live.remove("docs/notes.md");
    let expected: Vec<_> = [(1, "fresh"), (0, "drifted"), (2, "orphaned")]
        .map(|(at, state)| (ids[at].clone(), state.to_owned()))
        .to_vec();
    for args in [&["zebra", "login"][..], &["zebra", "--kind", "memory"], &["logim"]] {
        assert_eq!(hits(args), expected, "{args:?}");
    }
    live.git(&["checkout", "-q", "."]);
    assert!(hits(&["zebra"]).iter().all(|(_, state)| state == "fresh"));
}

#[test]
fn why_shows_what_is_remembered_there() {
    let live = repository();
    let ids = ["src/auth.rs#login", "src/auth.rs:9-11", "src/auth.rs", "docs/notes.md"]
        .map(|target| about(&live, target, &[target]));
    let shown = |args: &[&str]| -> Vec<(String, String)> {
        let (code, answer) = memo(&live, &[&["why"], args].concat());
        assert_eq!(code, 0, "{answer}");
        let memories = answer["memories"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
        memories
            .map(|m| (m["about"].as_str().unwrap().to_owned(), m["state"].as_str().unwrap().to_owned()))
            .collect()
    };
    let fresh = |about: &str| (about.to_owned(), "fresh".to_owned());
    assert_eq!(
        shown(&["src/auth.rs"]),
        [fresh("src/auth.rs"), fresh("src/auth.rs#login"), fresh("src/auth.rs:9-11")]
    );
    assert_eq!(shown(&["src/auth.rs#login"]), [fresh("src/auth.rs"), fresh("src/auth.rs#login")]);
    assert_eq!(shown(&["src/auth.rs:10"]), [fresh("src/auth.rs"), fresh("src/auth.rs:9-11")]);
    assert_eq!(shown(&["docs"]), [fresh("docs/notes.md")]);
    live.git(&["mv", "src/auth.rs", "src/door.rs"]);
    live.git(&["commit", "-qm", "move"]);
    let (_, answer) = memo(&live, &["why", "src/door.rs#login"]);
    assert_eq!(answer["memories"][1]["id"], ids[0].as_str(), "it has moved: {answer}");
    live.remove("docs/notes.md");
    assert_eq!(shown(&["docs/notes.md"]), [("docs/notes.md".to_owned(), "orphaned".to_owned())]);
}
