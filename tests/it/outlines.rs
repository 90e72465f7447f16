//! Does `memo outline` list what a file defines or the sections of a document, as the file stands?

use serde_json::Value;

use crate::live::{Live, memo};

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
        "6-18 0 impl Key",
        "8-17 1 pub fn sign(&self, text: &str) -> String",
        "13-15 2 fn mix(seed: u64) -> u64",
        "20-22 0 pub fn unlock(key: &Key) -> bool",
    ];
    let (exit, answer) = memo(&live, &["outline", "src/keys.rs"]);
    assert_eq!((items(&answer), exit), (all.map(str::to_owned).to_vec(), 0));
    assert_eq!(answer["n_found"], 5);
    for target in ["Key", "src/keys.rs#Key"] {
        assert_eq!(items(&memo(&live, &["outline", target]).1), all[..4], "{target}");
    }
    assert_eq!(items(&memo(&live, &["outline", "src/keys.rs#sign"]).1).len(), 2);
    let (_, answer) = memo(&live, &["outline", "src/keys.rs", "--depth", "1"]);
    assert_eq!(items(&answer), [all[0], all[1], all[4]]);
    // Of more than the limit the innermost go first.
    assert_eq!(items(&memo(&live, &["outline", "src/keys.rs", "-n", "4"]).1).len(), 4);
    assert_eq!(items(&memo(&live, &["outline", "src/keys.rs", "-n", "2"]).1), all[..2]);
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
    let (exit, said) = stderr(&["outline", "src"]);
    assert!(exit == 1 && said.contains("a directory") && said.contains("memo map DIR"), "{exit} {said}");
    let (exit, said) = stderr(&["outline", "nowhere.py"]);
    assert!(exit == 1 && said.contains("nowhere.py"), "{exit} {said}");
}
