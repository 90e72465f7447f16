//! Does `memo tests` list what runs, by the names of its runner, the proved first, and say what replaces or names the target?

use serde_json::Value;

use crate::live::{Live, memo};
use crate::reached::{check, found};

/// Returns path and name of each listed test.
fn list_names(answer: &Value) -> Vec<String> {
    let found = answer["found"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    let shown = |of: &Value| {
        let name = of["test"].as_str().or(of["title"].as_str()).unwrap_or("the file");
        format!("{} {name}", of["path"].as_str().unwrap())
    };
    found.map(shown).collect()
}

/// Returns path, line and text of each line of a list.
fn list_lines(answer: &Value, list: &str) -> Vec<String> {
    let lines = answer[list].as_array().into_iter().flatten();
    lines
        .map(|of| format!("{}:{} {}", of["path"].as_str().unwrap(), of["line"], of["text"].as_str().unwrap()))
        .collect()
}

#[test]
fn blocks_are_named_as_their_runners_name_them() {
    let live = Live::idle();
    live.write("src/parser.ts", "export function parseText(text: string) {\n  return text.trim()\n}\n");
    live.write(
        "src/parser.test.ts",
        "import { parseText } from './parser'\n\ndescribe('parser', () => {\n  it('parses empty input', () => {\n    parseText('')\n  })\n\n  \
         it.each(['a', 'b'])('parses %s', (text) => {\n    parseText(text)\n  })\n\n  it('is alone', () => {})\n})\n",
    );
    live.write("parse/parse.go", "package parse\n\nfunc ParseLine(line string) string { return line }\n");
    live.write(
        "parse/parse_test.go",
        "package parse\n\nimport \"testing\"\n\nfunc TestParse(t *testing.T) {\n\tt.Run(\"empty line\", func(t *testing.T) {\n\t\tParseLine(\"\")\n\t})\n}\n",
    );
    live.write("src/lib.rs", "pub fn read_key(key: &str) -> usize {\n    key.len()\n}\n\n#[tokio::test]\nasync fn a_key_is_read() {\n    read_key(\"a\");\n}\n");
    live.start();
    let names = |target: &str| list_names(&memo(&live, &["tests", target]).1);
    let of_parser =
        ["src/parser.test.ts parser > parses empty input", "src/parser.test.ts parser > parses %s"];
    assert_eq!(names("src/parser.ts#parseText"), of_parser);
    assert_eq!(names("ParseLine"), ["parse/parse_test.go TestParse/empty_line"]);
    assert_eq!(names("read_key"), ["src/lib.rs a_key_is_read"]);
    let shown = live.sandbox.show(&mut live.memo(&["tests", "src/parser.ts#parseText"]));
    let expected = "out: src/parser.test.ts\nout:   4-6  parser > parses empty input\nout:   8-10  parser > parses %s  several inputs\n";
    assert!(shown.contains(expected), "{shown}");
}

#[test]
fn what_holds_no_test_is_not_listed() {
    let live = Live::idle();
    live.write("app/store.py", "def load_value(key):\n    return key\n");
    let user = "from app.store import load_value\n\n\n";
    live.write(
        "tests/conftest.py",
        format!("{user}import pytest\n\n@pytest.fixture\ndef value():\n    return load_value('a')\n"),
    );
    live.write("tests/helpers.py", format!("{user}def make():\n    return load_value('a')\n"));
    live.write("tests/fixtures/test_store.py", format!("{user}def test_input():\n    load_value('a')\n"));
    live.write("tests/README.md", "`load_value` is tested here.\n");
    live.write("tests/store.stderr", "load_value failed\n");
    live.write("tests/load_value.crt", "load_value\n");
    live.write("vitest.config.ts", "export default { test: { name: 'load_value' } }\n");
    live.start();
    check(&live, &["tests", "load_value"], &[]);
    let (_, answer) = memo(&live, &["tests", "load_value", "--all"]);
    assert_eq!(found(&answer), <[&str; 0]>::default(), "{answer}");
    live.write(
        "tests/test_values.py",
        format!(
            "{user}def build():\n    return load_value('b')\n\n\ndef test_value():\n    assert build()\n"
        ),
    );
    check(&live, &["tests", "load_value"], &["tests/test_values.py test_value 2 exact"]);
}

#[test]
fn what_is_less_sure_is_counted_and_listed_on_request() {
    let live = Live::idle();
    live.write("app/disk.py", "class Disk:\n    def spin_up(self):\n        pass\n");
    live.write(
        "tests/test_direct.py",
        "from app.disk import Disk\n\n\ndef test_direct():\n    Disk().spin_up()\n",
    );
    live.write("tests/test_motor.py", "def test_motor(motor):\n    motor.inner.spin_up()\n\n\ndef test_spin_up_again(motor):\n    motor.inner.spin_up()\n");
    live.write("app/motor.py", "class Motor:\n    def spin_up(self):\n        pass\n");
    live.start();
    let sure = "tests/test_direct.py test_direct 1 exact";
    check(&live, &["tests", "app/disk.py#Disk.spin_up"], &[sure]);
    let (_, answer) = memo(&live, &["tests", "app/disk.py#Disk.spin_up"]);
    assert_eq!(answer["n_by_name"], 2, "{answer}");
    let all = [
        sure,
        "tests/test_motor.py test_motor 1 by name",
        "tests/test_motor.py test_spin_up_again 1 by name",
    ];
    check(&live, &["tests", "app/disk.py#Disk.spin_up", "--all"], &all);
    // If there is nothing else, they are listed and marked.
    live.remove("tests/test_direct.py");
    check(&live, &["tests", "app/disk.py#Disk.spin_up"], &all[1..]);
    // Five of a file are named, unless more are asked for.
    let many: String = (0..9).map(|n| format!("\n\ndef test_{n}():\n    Disk().spin_up()\n")).collect();
    live.write("tests/test_disk.py", format!("from app.disk import Disk\n{many}"));
    let (_, answer) = memo(&live, &["tests", "app/disk.py#Disk.spin_up"]);
    let listed = answer["found"].as_array().unwrap();
    assert_eq!(
        (listed.len(), &listed[4]["n_more_in_file"], &answer["n_found"]),
        (5, &4.into(), &9.into()),
        "{answer}"
    );
    let (_, answer) = memo(&live, &["tests", "app/disk.py#Disk.spin_up", "-n", "9"]);
    assert_eq!(answer["found"].as_array().unwrap().len(), 9, "{answer}");
}

#[test]
fn words_and_mirrored_folders_decide_between_equals() {
    let live = Live::idle();
    live.write("src/a/reader.py", "def open_reader(path):\n    return path\n");
    let test = "from src.a.reader import open_reader\n\n\ndef test_alpha():\n    open_reader('a')\n\n\ndef test_missing_path():\n    open_reader('')\n";
    live.write("tests/b/test_reader.py", test);
    live.write("tests/a/test_reader.py", test);
    live.start();
    let names = |words: &[&str]| list_names(&memo(&live, &[&["tests", "open_reader"], words].concat()).1);
    let mirrored = ["test_alpha", "test_missing_path"].map(|name| format!("tests/a/test_reader.py {name}"));
    assert_eq!(names(&[])[..2], mirrored);
    let (asked, other) = (names(&["a", "missing", "path"]), [mirrored[1].clone(), mirrored[0].clone()]);
    assert_eq!(asked[..2], other, "words say which test comes first");
}

#[test]
fn fakes_documents_and_the_manifest_are_shown() {
    let live = Live::idle();
    live.write("package.json", "{\n  \"scripts\": {\n    \"test\": \"vitest run\"\n  }\n}\n");
    live.write("src/store.ts", "export function loadValue(key: string) {\n  return key\n}\n");
    live.write(
        "src/view.ts",
        "import { loadValue } from './store'\nexport const show = (key: string) => loadValue(key)\n",
    );
    live.write(
        "src/view.test.ts",
        "import { show } from './view'\n\nvi.mock('./store', () => ({ loadValue: () => 'fake' }))\n\nit('shows', () => {\n  show('a')\n})\n",
    );
    live.write("docs/values.md", "# Values\n\nCall `loadValue` with a key.\n");
    live.write("app/store.py", "def read_value(key):\n    return key\n");
    live.write(
        "app/page.py",
        "from app.store import read_value\n\n\ndef page():\n    return read_value('a')\n",
    );
    live.write(
        "tests/test_page.py",
        "from unittest.mock import patch\nfrom app.page import page\n\n\n@patch('app.page.read_value')\ndef test_page(read):\n    page()\n\n\n\
         @patch('json.read_value')\ndef test_other(read):\n    page()\n",
    );
    live.start();
    let (_, answer) = memo(&live, &["tests", "loadValue"]);
    assert_eq!(list_names(&answer), ["src/view.test.ts shows"], "{answer}");
    let fake = "src/view.test.ts:3 vi.mock('./store', () => ({ loadValue: () => 'fake' }))";
    assert_eq!(list_lines(&answer, "fakes"), [fake], "{answer}");
    let neighbours =
        ["docs/values.md:3 Call `loadValue` with a key.", "package.json:3 \"test\": \"vitest run\""];
    assert_eq!(list_lines(&answer, "neighbours"), neighbours, "{answer}");
    let (_, answer) = memo(&live, &["tests", "read_value"]);
    assert_eq!(
        list_lines(&answer, "fakes"),
        ["tests/test_page.py:5 @patch('app.page.read_value')"],
        "{answer}"
    );
    let shown = live.sandbox.show(&mut live.memo(&["tests", "loadValue"]));
    assert!(shown.contains("out: replaced by a fake:\nout: src/view.test.ts:3  vi.mock("), "{shown}");
    assert!(shown.contains("out: see also:\nout: docs/values.md:3  Call `loadValue`"), "{shown}");
}

#[test]
fn a_test_of_googletest_can_be_asked_for_by_its_full_name() {
    let live = Live::idle();
    live.write("src/add.cc", "int add_numbers(int a, int b) { return a + b; }\n");
    live.write(
        "src/add_test.cc",
        "int add_numbers(int a, int b);\n\nTEST(AddSuite, AddsTwo) {\n  add_numbers(1, 2);\n}\n",
    );
    live.start();
    let (_, answer) = memo(&live, &["tests", "add_numbers"]);
    assert_eq!(list_names(&answer), ["src/add_test.cc AddSuite.AddsTwo"], "{answer}");
    let shown = live.sandbox.show(&mut live.memo(&["show", "AddSuite.AddsTwo"]));
    assert!(shown.contains("add_numbers(1, 2)"), "{shown}");
    let done = live.memo(&["callers", "AddSuite.AddsTwo"]).output().unwrap();
    let printed = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(1), "no caller, but known: {printed}");
    assert!(!printed.contains("no definition of that name"), "{printed}");
}
