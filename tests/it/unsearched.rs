//! Does an answer about uses name the files in which it did not look?

use serde_json::{Value, json};

use crate::live::{Live, memo};

fn repository() -> Live {
    let live = Live::idle();
    live.write("src/order.ts", "export function parseOrder(text: string) {\n  return text;\n}\n");
    live.write("lib/order.hs", "parse_it = parseOrder(1)\n");
    live.write("docs/order.md", "# Orders\n\n`parseOrder` reads one.\n");
    live.write("src/big.ts", "parseOrder(1);\n".repeat(80_000));
    live.write("data/big.json", "[1,\n".repeat(400_000));
    live.git_in(&live.root().join("src"), &["init", "-q", "nested"]);
    live.write("src/nested/use.ts", "parseOrder(2);\n");
    live.start();
    live
}

fn unsearched(answer: &Value) -> Vec<String> {
    list_files(answer, "unsearched")
}

fn list_files(answer: &Value, key: &str) -> Vec<String> {
    let files = answer[key].as_array().cloned().unwrap_or_default();
    files
        .iter()
        .map(|file| format!("{}: {}", file["path"].as_str().unwrap(), file["why"].as_str().unwrap()))
        .collect()
}

#[test]
fn files_that_may_have_uses_are_named() {
    let live = repository();
    let expected = [
        "lib/order.hs: has the name, but uses in .hs files are not read",
        "src/nested: another repository: ask there with -C",
        "src/big.ts: larger than index.max_file_bytes",
    ];
    for verb in ["refs", "callers", "impact", "tests"] {
        let (_, answer) = memo(&live, &[verb, "parseOrder", "--wait-ms=60000"]);
        assert_eq!(unsearched(&answer), expected, "{verb}: {answer}");
    }
    let shown = live.sandbox.show(&mut live.memo(&["callers", "parseOrder"]));
    assert!(shown.contains("err: memo: not searched: lib/order.hs (has the name, but"), "{shown}");
    assert!(shown.starts_with("exit 1\n"), "{shown}");
}

#[test]
fn an_answer_that_found_something_names_none() {
    let live = repository();
    live.write("src/use.ts", "import { parseOrder } from './order';\nparseOrder('a');\n");
    let (exit, answer) = memo(&live, &["refs", "parseOrder", "--wait-ms=60000"]);
    assert_eq!(
        (exit, &answer["unsearched"], &answer["read_as_text"]),
        (0, &Value::Null, &Value::Null),
        "{answer}"
    );
}

/// Returns a line of code that calls `parseOrder` and has more than 10,000 bytes.
fn long_line() -> String {
    format!("const all = [{}parseOrder(1)];\n", "1, ".repeat(8_000))
}

#[test]
fn files_that_were_read_as_text_only_are_named_beside_what_was_found() {
    let live = Live::idle();
    live.write("src/order.ts", "export function parseOrder(text: string) {\n  return text;\n}\n");
    let caller =
        "import { parseOrder } from './order';\nexport function reads() {\n  return parseOrder('a');\n}\n";
    live.write("src/use.ts", caller);
    live.write(
        "test/use.test.ts",
        caller.replace("./", "../src/").replace("export function reads()", "test('a', () =>"),
    );
    live.write("src/wide.js", long_line());
    live.write("src/deep.ts", format!("{}parseOrder(1){};\n", "(\n".repeat(600), ")\n".repeat(600)));
    live.write("src/App.vue", format!("<script>\n{}</script>\n", long_line()));
    // These have the name, but cannot use it, or are no source; or do not have it.
    live.write("tools/wide.py", long_line());
    live.write("dist/wide.js", long_line());
    live.write("src/wide.min.js", long_line());
    live.write("src/other.js", long_line().replace("parseOrder", "parseOther"));
    live.write("src/note.ts", "// Nothing calls parseOrder here.\n");
    live.start();
    let expected = [
        "src/App.vue: a line has over 10,000 bytes",
        "src/deep.ts: brackets are nested more than 500 levels deep",
        "src/wide.js: a line has over 10,000 bytes",
    ];
    for verb in ["refs", "callers", "impact", "tests"] {
        let (exit, answer) = memo(&live, &[verb, "parseOrder", "--wait-ms=60000"]);
        assert_eq!((exit, &answer["unsearched"]), (0, &Value::Null), "{verb}: {answer}");
        assert_eq!(list_files(&answer, "read_as_text"), expected, "{verb}: {answer}");
    }
    let shown = live.sandbox.show(live.memo(&["callers", "parseOrder"]).current_dir(live.root().join("src")));
    let line = "err: memo: 3 files with this name were read as text only: App.vue (a line has over 10,000 bytes), deep.ts (";
    assert!(shown.starts_with("exit 0\n") && shown.contains(line), "{shown}");
    let (_, answer) = memo(&live, &["callees", "src/use.ts#reads", "--wait-ms=60000"]);
    assert_eq!(answer["read_as_text"], Value::Null, "{answer}");
    let (_, answer) = memo(&live, &["callers", "src/use.ts#reads", "--wait-ms=60000"]);
    assert_eq!(answer["read_as_text"], Value::Null, "{answer}");
}

#[test]
fn at_most_three_files_that_were_read_as_text_only_are_named() {
    let live = Live::idle();
    live.write("a.py", "def lonely_one():\n    pass\n");
    for nth in 0..5 {
        live.write(&format!("m{nth}.py"), format!("{}lonely_one()\n", "1; ".repeat(4_000)));
    }
    live.start();
    let (_, answer) = memo(&live, &["refs", "lonely_one", "--wait-ms=60000"]);
    assert_eq!(list_files(&answer, "read_as_text").len(), 3, "{answer}");
    assert_eq!(answer["n_more_read_as_text"], json!(2), "{answer}");
}

#[test]
fn at_most_five_files_are_named_and_the_others_counted() {
    let live = Live::idle();
    live.write("a.py", "def lonely_one():\n    pass\n");
    for nth in 0..7 {
        live.write(&format!("m{nth}.hs"), "main = lonely_one\n");
    }
    live.start();
    let (_, answer) = memo(&live, &["refs", "lonely_one", "--wait-ms=60000"]);
    assert_eq!((unsearched(&answer).len(), &answer["n_more_unsearched"]), (5, &json!(2)), "{answer}");
}
