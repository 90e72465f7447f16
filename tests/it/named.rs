//! Do `why`, `add --about` and `list --about` take the name of a definition, as `show` does?

use serde_json::{Value, json};

use crate::live::{Live, memo, memo_in};

const LIMITS: &str = "class Limits:\n    def per_day(self):\n        days = 1\n        return days\n";
const OTHER: &str = "def only_here():\n    one = 1\n    return one\n\n\nclass Other:\n    def per_day(self):\n        return 2\n";

fn repository() -> Live {
    let live = Live::idle();
    live.write("src/limits.py", LIMITS);
    live.write("src/other.py", OTHER);
    live.git(&["add", "-A"]);
    live.git(&["commit", "-q", "-m", "Limit it"]);
    live
}

fn add(live: &Live, text: &str, about: &str) -> String {
    let (exit, added) = memo(live, &["add", text, "--about", about]);
    assert_eq!(exit, 0, "{added}");
    added["memory"]["id"].as_str().unwrap().to_owned()
}

fn contents(result: &Value) -> Vec<&str> {
    let memories = result["memories"].as_array().unwrap_or_else(|| panic!("{result}")).iter();
    let mut contents: Vec<&str> = memories.map(|memory| memory["content"].as_str().unwrap()).collect();
    contents.sort_unstable();
    contents
}

#[test]
fn a_name_is_enough() {
    let live = repository();
    let (exit, result) = memo(&live, &["why", "only_here"]);
    assert_eq!((exit, &result["path"], &result["lines"]), (0, &json!("src/other.py"), &json!([[1, 3]])));
    assert_eq!(
        (&result["symbol"], &result["commits"][0]["subject"]),
        (&json!("only_here"), &json!("Limit it"))
    );
    let (_, result) = memo(&live, &["why", "Limits.per_day"]);
    assert_eq!(result["lines"], json!([[2, 4]]), "{result}");
    let id = add(&live, "a", "Limits::per_day");
    let (_, memory) = memo(&live, &["get", &id]);
    let anchor = &memory["memories"][0]["anchors"][0];
    assert_eq!((&anchor["path"], &anchor["symbol"]), (&json!("src/limits.py"), &json!("Limits.per_day")));

    let candidates = "per_day: 2 definitions have that name:\n  src/limits.py#Limits.per_day  lines 2-4\n  \
                      src/other.py#Other.per_day  lines 7-8";
    for (words, prefix) in [(&["why", "per_day"][..], ""), (&["add", "x", "--about", "per_day"], "about: ")] {
        let (exit, result) = memo(&live, words);
        assert_eq!((exit, &result["error"]["message"]), (2, &json!(format!("{prefix}{candidates}"))));
        assert_eq!(result["error"]["hint"], "name one of them, as PATH#SYMBOL");
    }
    for (words, exit) in
        [(&["why", "nope"][..], 1), (&["show", "nope"], 1), (&["add", "x", "--about", "nope"], 2)]
    {
        let (found, result) = memo(&live, words);
        let said = result["error"]["message"].as_str().unwrap();
        assert!(
            found == exit && said.contains("nope: no indexed file, and no definition of that name"),
            "{said}"
        );
    }
}

#[test]
fn memories_about_some_code() {
    let live = repository();
    add(&live, "day", "src/limits.py#Limits.per_day");
    add(&live, "file", "src/limits.py");
    add(&live, "lines", "src/other.py:1-2");
    add(&live, "other", "Other.per_day");
    assert_eq!(memo(&live, &["add", "about nothing"]).0, 0);
    let check = |about: &[&str], expected: &[&str]| {
        let flags: Vec<&str> = about.iter().flat_map(|target| ["--about", target]).collect();
        let (exit, result) = memo(&live, &[&["list"], flags.as_slice()].concat());
        assert_eq!(contents(&result), expected, "{about:?}");
        assert_eq!((exit, &result["total"]), (i32::from(expected.is_empty()), &json!(expected.len())));
    };
    check(&["src/limits.py"], &["day", "file"]);
    check(&["src"], &["day", "file", "lines", "other"]);
    check(&["."], &["day", "file", "lines", "other"]);
    check(&["src/limits.py#per_day"], &["day"]);
    check(&["per_day"], &["day", "other"]);
    check(&["src/other.py:2-9"], &["lines", "other"]);
    check(&["src/other.py:3-4"], &[]);
    check(&["src/limits.py#per_day", "src/other.py:1"], &["day", "lines"]);
    check(&["src/lim"], &[]);
    let (_, there) = memo_in(&live, &live.root().join("src"), &["list", "--about", "other.py"]);
    assert_eq!(contents(&there), ["lines", "other"]);
    assert_eq!(memo(&live, &["list", "--about", "../elsewhere"]).0, 2);

    // Code that has moved is found at both places, and code that is gone where it was.
    live.rename("src/limits.py", "src/moved.py");
    live.remove("src/other.py");
    check(&["src/moved.py#per_day"], &["day"]);
    check(&["src/limits.py#per_day"], &["day"]);
    check(&["src/other.py"], &["lines", "other"]);
    let state = |words: &str| {
        let (_, result) = memo(&live, &["list", "--state", words]);
        contents(&result).join(" ")
    };
    assert_eq!(
        (state("orphaned"), state("fresh,orphaned")),
        ("lines other".to_owned(), "day file lines other".to_owned())
    );
    let params = json!({ "state": ["orphaned"], "about": ["src/other.py:1"] });
    assert_eq!(contents(&live.call("memory.list", params)), ["lines"]);
}
