//! Do memories stay with the code they are about, and never go to other code with the same text or the same path?

use std::fs;

use serde_json::json;

use crate::live::{Live, memo};
use crate::memory_anchors::{about, get, state};

const ROWS: &str = "\
import os


def parse(text):
    \"\"\"Parse a line.\"\"\"
    if not text:
        return None
    parts = text.split(',')
    return parts


def load(path):
    \"\"\"Load a file.\"\"\"
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return [parse(line) for line in file]


def save(path, rows):
    \"\"\"Save the rows.\"\"\"
    with open(path, 'w') as file:
        for row in rows:
            file.write(','.join(row))


def count(path):
    \"\"\"Count the rows.\"\"\"
    rows = load(path)
    if rows is None:
        return None
    return len(rows)
";

/// The end of [`ROWS`] that may go to another file.
const COUNT: &str = "def count(path):";

/// Another file with a function of the same name, and with a line of the same text.
const OTHER: &str = "\
def parse(args):
    if len(args) < 2:
        return None
    return args
";

fn repository() -> Live {
    let live = Live::idle();
    live.write("rows.py", ROWS);
    live.commit_all();
    live.start();
    live
}

/// Adds a memory about each target, and returns their ids.
fn about_each<const N: usize>(live: &Live, targets: [&str; N]) -> [String; N] {
    targets.map(|target| about(live, target, &[target]))
}

fn states<const N: usize>(live: &Live, ids: &[String; N]) -> [String; N] {
    ids.each_ref().map(|id| state(live, id))
}

/// Returns [`ROWS`] with replacements.
fn rows_with(replacements: &[(&str, &str)]) -> String {
    replacements.iter().fold(ROWS.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    })
}

#[test]
fn a_common_line_of_a_renamed_file_is_not_found_in_another_function() {
    let live = repository();
    let ids = about_each(&live, ["rows.py:7", "rows.py:15", "rows.py:31"]);
    let last = "\n\ndef last(path):\n    rows = load(path)\n    if not rows:\n        return None\n    return rows[-1]\n";
    live.remove("rows.py");
    live.write("table.py", rows_with(&[("    if not text:\n        return None\n", "")]) + last);
    let expected = ["drifted table.py:5", "fresh table.py:13", "fresh table.py:29"];
    assert_eq!(states(&live, &ids), expected, "not committed");
    live.commit_all();
    assert_eq!(states(&live, &ids), expected, "committed");
}

#[test]
fn a_common_line_is_not_found_in_another_function_of_its_file() {
    let live = repository();
    let id = about(&live, "an empty line is no row", &["rows.py:7"]);
    let no_check = ("    if not text:\n        return None\n", "");
    for (what, text, expected) in [
        ("edited below", rows_with(&[("split(',')", "split(';')")]), "fresh"),
        ("edited above", rows_with(&[("not text", "len(text) == 0")]), "fresh"),
        ("moved down", format!("# Rows\n\n{ROWS}"), "fresh rows.py:9"),
        ("removed", rows_with(&[no_check]), "drifted rows.py:5"),
        (
            "removed, and the same line written in another function",
            rows_with(&[
                no_check,
                (
                    "    with open(path, 'w')",
                    "    if not rows:\n        return None\n    with open(path, 'w')",
                ),
            ]),
            "drifted rows.py:5",
        ),
        ("its function is gone", ROWS[..11].to_owned() + &ROWS[ROWS.find("def load").unwrap()..], "drifted"),
    ] {
        live.write("rows.py", text);
        assert_eq!(state(&live, &id), expected, "{what}");
    }
    live.write("rows.py", ROWS);
    assert_eq!(state(&live, &id), "fresh");
}

#[test]
fn a_brace_belongs_to_its_block() {
    let live = Live::idle();
    let text = "fn run(a: bool, b: bool) {\n    if a {\n        one();\n    }\n    if b {\n        two();\n    }\n    three();\n}\n\nfn stop() {\n    if done() {\n        four();\n    }\n}\n";
    live.write("run.rs", text);
    live.commit_all();
    live.start();
    let ids = about_each(&live, ["run.rs:4", "run.rs:7", "run.rs:14"]);
    live.remove("run.rs");
    live.write("go.rs", text.replace("    if b {\n        two();\n    }\n", ""));
    // Two equal lines became one: which of them is left is not known.
    assert_eq!(states(&live, &ids), ["drifted go.rs:4", "drifted go.rs:4", "fresh go.rs:11"]);
}

#[test]
fn equal_lines_that_cannot_be_distinguished_are_drifted() {
    let live = Live::idle();
    let entry = "- name: step\n  run: make\n";
    live.write("steps.yml", entry.repeat(6));
    live.commit_all();
    live.start();
    let id = about(&live, "the third step is slow", &["steps.yml:5-6"]);
    live.write("steps.yml", entry.repeat(5));
    assert!(state(&live, &id).starts_with("drifted"), "which of the six is gone?");
    live.write("steps.yml", entry.repeat(6));
    assert_eq!(state(&live, &id), "fresh");
}

#[test]
fn a_half_edited_range_is_drifted_at_its_new_place() {
    let live = repository();
    let id = about(&live, "a missing file is no error", &["rows.py:13-16"]);
    live.remove("rows.py");
    let edited = rows_with(&[
        ("import os\n", "import os\nimport sys\n"),
        ("path.exists(path):", "path.isfile(path):\n        # why not"),
    ]);
    live.write("table.py", edited);
    live.commit_all();
    assert_eq!(state(&live, &id), "drifted table.py:14-18");
    let (code, answer) = memo(&live, &["confirm", &id]);
    assert_eq!((code, &answer["memory"]["anchors"][0]["lines"]), (0, &json!([14, 18])), "{answer}");
    assert_eq!(state(&live, &id), "fresh");
}

#[test]
fn lines_follow_their_function_to_another_file() {
    let live = repository();
    let ids = about_each(&live, ["rows.py:7", "rows.py:31", "rows.py:28-31"]);
    let (rows, count) = ROWS.split_at(ROWS.find(COUNT).unwrap());
    live.write("rows.py", rows);
    live.write("count.py", format!("from rows import load\n\n\n{count}"));
    let expected = ["fresh", "fresh count.py:8", "fresh count.py:5-8"];
    assert_eq!(states(&live, &ids), expected, "moved");
    live.commit_all();
    assert_eq!(states(&live, &ids), expected, "committed");
    live.write("count.py", format!("{}\n\n", count.replace("return len(rows)", "return len(rows) or 0")));
    assert_eq!(states(&live, &ids), ["fresh", "drifted count.py:5", "drifted count.py:2-5"], "and edited");
    live.remove("count.py");
    assert!(states(&live, &ids)[1].starts_with("drifted"), "its file is there, its function is gone");
}

#[test]
fn lines_of_a_file_that_was_split_go_to_their_part() {
    let live = repository();
    let ids = about_each(&live, ["rows.py:7", "rows.py:31", "rows.py#load", "rows.py#count"]);
    let (rows, count) = ROWS.split_at(ROWS.find(COUNT).unwrap());
    live.remove("rows.py");
    live.write("table.py", rows);
    live.write("count.py", format!("from table import load\n\n\n{count}"));
    live.commit_all();
    let expected = ["fresh table.py:7", "fresh count.py:8", "fresh table.py#load", "fresh count.py#count"];
    assert_eq!(states(&live, &ids), expected);
}

const TARGETS: [&str; 5] = ["rows.py#parse", "rows.py#save", "rows.py:7", "rows.py:22", "rows.py"];
const ALL_MOVED: [&str; 5] = [
    "fresh table.py#parse",
    "fresh table.py#save",
    "fresh table.py:7",
    "fresh table.py:22",
    "fresh table.py",
];

#[test]
fn another_file_at_the_old_path_does_not_take_memories_back() {
    let live = repository();
    let ids = about_each(&live, TARGETS);
    live.git(&["mv", "rows.py", "table.py"]);
    live.commit_all();
    assert_eq!(states(&live, &ids), ALL_MOVED, "renamed");
    live.write("rows.py", OTHER);
    assert_eq!(states(&live, &ids), ALL_MOVED, "a new file");
    live.commit_all();
    assert_eq!(states(&live, &ids), ALL_MOVED, "a new file in git");
    live.write("rows.py", "from table import *\n");
    assert_eq!(states(&live, &ids), ALL_MOVED, "a forwarding file");
    live.kill();
    assert_eq!(states(&live, &ids), ALL_MOVED, "by the next daemon");
    let (code, answer) = memo(&live, &["list", "--about", "table.py"]);
    assert_eq!((code, &answer["total"]), (0, &json!(5)), "{answer}");
    live.write("table.py", rows_with(&[("split(',')", "split(';')")]));
    let edited = [
        "drifted table.py#parse",
        "fresh table.py#save",
        "fresh table.py:7",
        "fresh table.py:22",
        "drifted table.py",
    ];
    assert_eq!(states(&live, &ids), edited, "edited later");
    live.commit_all();
    assert_eq!(states(&live, &ids), edited, "edited in git");
}

#[test]
fn a_file_renamed_edited_and_replaced_at_once_keeps_its_memories() {
    let live = repository();
    let ids = about_each(&live, TARGETS);
    live.rename("rows.py", "table.py");
    live.write("table.py", rows_with(&[("split(',')", "split(';')")]));
    live.write("rows.py", OTHER);
    let expected = [
        "drifted table.py#parse",
        "fresh table.py#save",
        "fresh table.py:7",
        "fresh table.py:22",
        "drifted table.py",
    ];
    assert_eq!(states(&live, &ids), expected, "not committed");
    live.commit_all();
    assert_eq!(states(&live, &ids), expected, "in one commit");
}

#[test]
fn a_copy_whose_original_was_deleted_is_a_move() {
    let live = repository();
    let ids = about_each(&live, TARGETS);
    live.write("table.py", ROWS);
    assert_eq!(states(&live, &ids), ["fresh"; 5], "copied");
    live.remove("rows.py");
    assert_eq!(states(&live, &ids), ALL_MOVED, "deleted");
    live.write("rows.py", OTHER);
    assert_eq!(states(&live, &ids), ALL_MOVED, "replaced");
    live.commit_all();
    assert_eq!(states(&live, &ids), ALL_MOVED, "committed");
    live.write("rows.py", ROWS);
    assert_eq!(states(&live, &ids), ["fresh"; 5], "restored");
}

#[cfg(unix)]
#[test]
fn a_link_at_the_old_path_does_not_take_memories_back() {
    let live = repository();
    let ids = about_each(&live, TARGETS);
    live.rename("rows.py", "table.py");
    std::os::unix::fs::symlink("table.py", live.root().join("rows.py")).unwrap();
    assert_eq!(states(&live, &ids), ALL_MOVED);
}

#[test]
fn an_edited_file_keeps_its_memories_although_a_copy_has_the_old_text() {
    let live = repository();
    let ids = about_each(&live, TARGETS);
    live.write("rows_old.py", ROWS);
    live.write("rows.py", rows_with(&[("split(',')", "split(';')")]));
    let expected = ["drifted", "fresh", "fresh", "fresh", "drifted"];
    assert_eq!(states(&live, &ids), expected, "not committed");
    assert_eq!(get(&live, &ids[0])["anchors"][0]["note"], "rows_old.py#parse has the same text");
    live.commit_all();
    assert_eq!(states(&live, &ids), expected, "committed");
    live.write("version.txt", "version = 1\n");
    let id = about(&live, "the first version", &["version.txt"]);
    live.write("version.txt.orig", "version = 1\n");
    live.write("version_old.txt", "version = 1\n");
    live.remove("version.txt.orig");
    live.write("version.txt", "version = 2\n");
    assert_eq!(state(&live, &id), "drifted", "of a small file, an edit may leave no line");
}

#[test]
fn a_memory_about_the_new_file_does_not_follow_the_old_one() {
    let live = repository();
    live.git(&["mv", "rows.py", "table.py"]);
    live.commit_all();
    live.write("rows.py", OTHER);
    live.commit_all();
    let ids = about_each(&live, ["rows.py#parse", "rows.py:3", "rows.py"]);
    live.write(
        "rows.py",
        "import sys\n\n\ndef walk(tree):\n    for node in tree.nodes:\n        yield node.name\n",
    );
    let found = states(&live, &ids);
    assert!(
        found.iter().all(|state| !state.contains("table.py") && !state.starts_with("fresh")),
        "{found:?}"
    );
    fs::remove_file(live.root().join("rows.py")).unwrap();
    assert_eq!(states(&live, &ids), ["orphaned"; 3]);
}
