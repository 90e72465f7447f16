//! Does `memo outline` list what a file defines or the sections of a document, as the file stands?

use serde_json::Value;

use crate::live::{Live, memo, memo_in};

const KEYS: &str = "\
/// A key.
pub struct Key {
    seed: u64,
}

/// What a key does.
impl Key {
    /// Signs a text.
    pub fn sign(
        &self,
        text: &str,
    ) -> String {
        fn mix(seed: u64) -> u64 {
            seed
        }
        format!(\"{text}{}\", mix(self.seed))
    }
}

pub fn unlock(key: &Key) -> bool {
    key.seed > 0
}
";

/// Returns the lines, depth and text of each item.
fn items(answer: &Value) -> Vec<String> {
    let items = answer["items"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    let shown = |item: &Value| {
        let text = item["text"].as_str().unwrap();
        format!("{}-{} {} {text}", item["lines"][0], item["lines"][1], item["depth"])
    };
    items.map(shown).collect()
}

#[test]
fn definitions_are_listed_below_what_they_are_in() {
    let live = Live::new();
    live.write("src/keys.rs", KEYS);
    let all = [
        "1-4 0 pub struct Key",
        "3-3 1 seed: u64",
        "6-18 0 impl Key",
        "8-17 1 pub fn sign(&self, text: &str) -> String",
        "13-15 2 fn mix(seed: u64) -> u64",
        "20-22 0 pub fn unlock(key: &Key) -> bool",
    ];
    let (exit, answer) = memo(&live, &["outline", "src/keys.rs"]);
    assert_eq!((items(&answer), exit), (all.map(str::to_owned).to_vec(), 0));
    assert_eq!(answer["n_found"], 6);
    for target in ["Key", "src/keys.rs#Key"] {
        assert_eq!(items(&memo(&live, &["outline", target]).1), all[..5], "{target}");
    }
    assert_eq!(items(&memo(&live, &["outline", "src/keys.rs#sign"]).1).len(), 2);
    let (_, answer) = memo(&live, &["outline", "src/keys.rs", "--depth", "1"]);
    assert_eq!(items(&answer), [all[0], all[2], all[5]]);
    // Of more than the limit the innermost go first.
    assert_eq!(items(&memo(&live, &["outline", "src/keys.rs", "-n", "5"]).1).len(), 5);
    assert_eq!(items(&memo(&live, &["outline", "src/keys.rs", "-n", "2"]).1), [all[0], all[2]]);
    live.write("src/keys.rs", "fn other() {}\n");
    assert_eq!(items(&memo(&live, &["outline", "src/keys.rs"]).1), ["1-1 0 fn other() {}"]);
}

#[test]
fn sections_of_documents_are_listed_with_headings_that_have_no_text() {
    let live = Live::new();
    live.write("guide.md", "# Guide\n\n## First\n\nOne.\n\n### Deep\n\nTwo.\n\n## Second\n\nThree.\n");
    let (exit, answer) = memo(&live, &["outline", "guide.md"]);
    // A heading without text of its own begins with its first section.
    let texts: Vec<String> = items(&answer);
    assert_eq!(texts, ["3-13 0 Guide", "3-9 1 First", "7-9 2 Deep", "11-13 1 Second"]);
    assert_eq!(exit, 0);
}

#[test]
fn what_has_no_outline_says_so() {
    let live = Live::new();
    live.write("data.csv", "a,b\n1,2\n");
    live.write("src/a.py", "def a():\n    pass\n");
    let stderr = |words: &[&str]| {
        let done = live.memo(words).output().unwrap();
        (done.status.code().unwrap_or(-1), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let (exit, said) = stderr(&["outline", "data.csv"]);
    assert!(exit == 1 && said.contains("no known definitions or sections"), "{exit} {said}");
    live.write("empty/data.csv", "a,b\n1,2\n");
    let (exit, said) = stderr(&["outline", "empty"]);
    assert!(exit == 1 && said.contains("no known definitions or sections"), "{exit} {said}");
    let (exit, said) = stderr(&["outline", "nowhere.py"]);
    assert!(exit == 1 && said.contains("nowhere.py"), "{exit} {said}");
}

#[test]
fn a_directory_has_the_outlines_of_its_files() {
    let live = Live::new();
    live.write("src/keys.rs", KEYS);
    live.write("src/deep/b.py", "class A:\n    def a(self):\n        pass\n");
    live.write("src/data.csv", "a,b\n1,2\n");
    live.write("srcs/other.rs", "fn other() {}\n");
    live.write("top.js", "let src = 1;\nlet deep = 2;\n");
    let all = [
        "1-3 0 class A:",
        "1-4 0 pub struct Key",
        "6-18 0 impl Key",
        "20-22 0 pub fn unlock(key: &Key) -> bool",
    ];
    // A variable has the name too, but the path that exists is meant.
    for target in ["src", "src/", "./src"] {
        let (exit, answer) = memo(&live, &["outline", target]);
        assert_eq!((exit, items(&answer)), (0, all.map(str::to_owned).to_vec()), "{target}: {answer}");
    }
    let (_, deep) = memo(&live, &["outline", "src", "--depth", "9"]);
    assert_eq!(items(&deep).len(), 8, "{deep}");
    let (_, inner) = memo_in(&live, &live.root().join("src/deep"), &["outline", "."]);
    assert_eq!(items(&inner), all[..1], "{inner}");
    let (_, named) = memo(&live, &["outline", "top.js#src"]);
    assert_eq!(named["items"][0]["path"], "top.js", "{named}");
    for nth in 0..120 {
        live.write(&format!("many/f{nth}.py"), "def f():\n    pass\n");
    }
    let (_, many) = memo(&live, &["outline", "many", "--wait-ms", "60000"]);
    assert_eq!(items(&many).len(), 100, "{many}");
    assert!(many["cut"].as_str().is_some_and(|cut| cut.contains("20 more files")), "{many}");
}
