//! Does an empty answer about uses name the files in which it did not look?

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
    let files = answer["unsearched"].as_array().cloned().unwrap_or_default();
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
    assert_eq!((exit, &answer["unsearched"]), (0, &Value::Null), "{answer}");
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
