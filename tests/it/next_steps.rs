//! Does memo say what to do next, in words that this repository can answer?

use std::time::Instant;

use memod_client::VERSION;
use serde_json::{Value, json};

#[cfg(unix)]
use crate::fake::{Answer, Fake};
use crate::live::{Live, PATIENCE, memo};
use crate::sandbox::Sandbox;

const WITHOUT_EXAMPLE: &str = "exit 0
out: memo search WORDS  find code, documents, commits and memories
out: memo add TEXT      keep a decision or a fact
out: memo changed       show what is not committed yet
out: memo brief         show what to know before starting work
out: memo map           show the main files and definitions
out: memo help          list all commands
";

fn repository() -> Live {
    let live = Live::new();
    live.write("src/cart.rs", "pub fn price_of_cart() -> u32 {\n    1\n}\n");
    live.write("src/order.rs", "pub fn order() -> u32 {\n    price_of_cart()\n}\n");
    live.write("src/till.rs", "pub fn till() -> u32 {\n    price_of_cart()\n}\n");
    live.commit_all();
    live.call("sync", json!({ "wait_ms": PATIENCE.as_millis() }));
    live
}

/// Returns the query of the first command.
fn example(answer: &Value) -> String {
    let command = answer["next"][0]["command"].as_str().unwrap_or_else(|| panic!("{answer}"));
    let words = shlex::split(command).unwrap();
    assert_eq!((words.len(), words[1].as_str()), (3, "search"), "{command}");
    words[2].clone()
}

#[test]
fn memo_alone_starts_nothing_and_creates_nothing() {
    let live = Live::idle();
    assert_eq!(live.sandbox.show(&mut live.memo(&[])), WITHOUT_EXAMPLE);
    assert!(!live.root().join(".git/memo").exists());
    let elsewhere = WITHOUT_EXAMPLE.replace("out: memo", "out: memo -C ..");
    let outside = live.sandbox.show(&mut live.memo(&["-C", "..", "--color=never"]));
    assert!([WITHOUT_EXAMPLE, &elsewhere].contains(&outside.as_str()), "{outside}");
    assert!(!live.sandbox.path(".memo").exists());
}

#[test]
fn memo_alone_asks_for_what_is_used_most() {
    let live = repository();
    let query = "where is price_of_cart used";
    let shown = live.sandbox.show(&mut live.memo(&[]));
    assert!(shown.starts_with(&format!("exit 0\nout: memo search \"{query}\"  find code")), "{shown}");
    assert!(shown.lines().count() <= 13, "{shown}");
    let names = live.call("map", json!({}))["names"].clone();
    assert_eq!(names, json!(["price_of_cart", "order", "till"]), "names of several words come first");
    let (exit, answer) = memo(&live, &[]);
    assert_eq!((exit, example(&answer)), (0, query.to_owned()));
    let (_, found) = memo(&live, &["search", query]);
    assert_eq!(found["hits"][0]["symbol"], "price_of_cart", "{found}");
}

#[cfg(unix)]
#[test]
fn memo_alone_does_not_wait_for_a_daemon_that_hangs() {
    let sandbox = Sandbox::new();
    let fake = Fake::start(&sandbox.layout(), VERSION, |_| Answer::Silence);
    let began = Instant::now();
    assert_eq!(sandbox.run(&[]), WITHOUT_EXAMPLE);
    assert!(began.elapsed() < PATIENCE / 2, "{:?}", began.elapsed());
    assert_eq!(fake.methods(), "map search");
}

#[test]
fn the_hint_of_init_can_be_answered() {
    let next = |live: &Live| {
        let output = live.memo(&["init", "--no-hooks"]).output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        let hint =
            shown.lines().find_map(|line| line.strip_prefix("next ")).unwrap_or_else(|| panic!("{shown}"));
        let words = shlex::split(hint).unwrap();
        let (exit, found) = memo(live, &["search", &words[2]]);
        assert_eq!(exit, 0, "{words:?}");
        (words[2].clone(), found["hits"][0]["path"].as_str().unwrap().to_owned())
    };
    let code = repository();
    assert_eq!(next(&code), ("where is price_of_cart used".to_owned(), "src/cart.rs".to_owned()));
    let documents = Live::new();
    documents.write("a.md", "# The \"old\" cellar\n\nIt is dry.\n");
    assert_eq!(next(&documents), ("The \"old\" cellar".to_owned(), "a.md".to_owned()));
    let empty = Live::new();
    let shown = String::from_utf8(empty.memo(&["init", "--no-hooks"]).output().unwrap().stdout).unwrap();
    assert!(shown.starts_with("indexed    0 files") && !shown.contains("next"), "{shown}");
}

#[test]
fn words_that_are_no_verb_are_searched() {
    let live = repository();
    let found = live.sandbox.show(&mut live.memo(&["price_of_cart", "-n", "1"]));
    assert!(found.contains("out: src/cart.rs:1-3  price_of_cart"), "{found}");
    assert!(found.contains("err: memo: no verb, so this is `memo search \"price_of_cart\"`"), "{found}");
    // A place is shown, and help is help wherever it stands.
    for (typed, verb) in [("src/cart.rs:2", "show"), ("src/cart.rs", "outline"), ("src", "outline")] {
        let shown = live.sandbox.show(&mut live.memo(&[typed]));
        assert!(shown.contains("price_of_cart"), "{shown}");
        assert!(
            shown.contains(&format!("err: memo: no verb, so this is `memo {verb} \"{typed}\"`")),
            "{shown}"
        );
    }
    let help = live.sandbox.show(&mut live.memo(&["-q", "help", "tag"]));
    assert!(help.contains("out: Usage: memo tag"), "{help}");
    let (exit, answer) = memo(&live, &["where", "is", "price_of_cart"]);
    assert_eq!((exit, &answer["hits"][0]["symbol"]), (0, &json!("price_of_cart")), "{answer}");
    for (typed, verb) in
        [("find", "search"), ("def", "show"), ("usages", "refs"), ("recent", "list --sort updated")]
    {
        let verb: Vec<&str> = verb.split(' ').collect();
        let argument: &[&str] = if typed == "recent" { &[] } else { &["price_of_cart"] };
        let [natural, own] = [&[typed] as &[&str], &verb]
            .map(|verb| live.sandbox.show(&mut live.memo(&[verb, argument].concat())));
        assert_eq!(natural, own, "{typed}");
    }
}

/// Checks that two command lines print the same.
fn check_same(live: &Live, natural: &[&str], own: &[&str]) {
    let [natural_out, own_out] = [natural, own].map(|words| live.sandbox.show(&mut live.memo(words)));
    assert_eq!(natural_out, own_out, "{natural:?}");
}

#[test]
fn a_target_may_be_typed_as_it_was_copied_or_said() {
    let live = repository();
    let name = "price_of_cart";
    for verb in ["callers", "refs", "tests", "impact"] {
        for before in ["of", "for", "to"] {
            check_same(&live, &[verb, before, name], &[verb, name]);
        }
    }
    check_same(&live, &["usages", "of", "the", name], &["refs", name]);
    for copied in [
        "\"src/cart.rs:2\"",
        "'src/cart.rs:2'",
        "b/src/cart.rs:2",
        "src/cart.rs#2",
        "src/cart.rs:2:",
        "`src/cart.rs:2`",
    ] {
        check_same(&live, &["show", copied], &["show", "src/cart.rs:2"]);
    }
    for printed in [
        "--> src/cart.rs:2:5",
        "thread 'main' panicked at src/cart.rs:2:5:",
        "    at price (file:///home/ci/w/src/cart.rs:2:5)",
        "https://git.example/o/r/blob/main/src/cart.rs#L2",
    ] {
        check_same(&live, &["show", printed], &["show", "src/cart.rs:2"]);
        let shown = live.sandbox.show(&mut live.memo(&[printed]));
        assert!(shown.contains("this is `memo show ") && shown.contains("price_of_cart"), "{shown}");
    }
    check_same(&live, &["show", "@@ -1,2 +1,2 @@ pub fn order() -> u32 {"], &["show", "order"]);
    check_same(&live, &["outline", "src/cart.rs:"], &["outline", "src/cart.rs"]);
    check_same(&live, &["ls", "src"], &["outline", "src"]);
    check_same(&live, &["history", "src/cart.rs"], &["why", "src/cart.rs"]);
    // What exists as typed is what is meant.
    live.write("b/src/cart.rs", "pub fn other() {}\n");
    let shown = live.sandbox.show(&mut live.memo(&["show", "b/src/cart.rs", "--wait-ms=60000"]));
    assert!(shown.contains("pub fn other"), "{shown}");
    let shown = live.sandbox.show(&mut live.memo(&["a/src/cart.rs#1"]));
    assert!(shown.contains("this is `memo show \"a/src/cart.rs#1\"`"), "{shown}");
}

#[test]
fn a_wrong_flag_after_words_without_a_verb_is_said() {
    let live = repository();
    let shown = live.sandbox.show(&mut live.memo(&["price", "of", "--nope"]));
    assert!(shown.starts_with("exit 2\nerr: memo: unexpected argument '--nope' found\n"), "{shown}");
    let shown = live.sandbox.show(&mut live.memo(&["-n", "1", "price_of_cart"]));
    assert!(shown.contains("this is `memo search`") && shown.contains("src/cart.rs:1-3"), "{shown}");
    let shown = live.sandbox.show(&mut live.memo(&["search", "where", "is", "--price", "set"]));
    assert!(shown.contains("to use it as a word, write -- first: `memo search -- … --price …`"), "{shown}");
}

#[test]
fn mistyped_verbs_are_corrected_and_none_is_suggested_that_deletes() {
    let sandbox = Sandbox::new();
    let check = |args: &[&str], what: &str, hint: &str| {
        let expected = format!("exit 2\nerr: memo: {what} is no verb\nerr: hint: {hint}\n");
        assert_eq!(sandbox.run(args), expected, "{args:?}");
    };
    check(&["serach"], "\"serach\"", "did you mean memo search? to find the words: memo search \"serach\"");
    let hint = "the daemon starts with the first command; memo init indexes the repository now; to find the words: \
                memo search \"start\"";
    check(&["start"], "\"start\"", hint);
    // A name that only begins like a verb is searched.
    for name in ["add_item", "hello", "apple"] {
        assert!(!sandbox.run(&[name]).contains("did you mean"), "{name}");
    }
    // No suggestion deletes: these words are most similar to `uninstall`, `forget` and `reindex`.
    for typed in ["uninstal", "forgett", "reindx"] {
        let shown = sandbox.run(&[typed]);
        assert!(!shown.contains("did you mean"), "{shown}");
    }
    let json = sandbox.run(&["serach", "--json"]);
    let expected = "exit 2\nout: {\"error\":{\"code\":\"usage\",\"message\":\"\\\"serach\\\" is no verb\",\
                    \"hint\":\"did you mean memo search? to find the words: memo search \\\"serach\\\"\"}}\n";
    assert_eq!(json, expected);
    assert!(!sandbox.run(&["hooks", "uninstal"]).contains("did you mean"));
    let backup = sandbox.run(&["backup", "restor"]);
    assert!(backup.contains("no subcommand; to write a backup there, type ./restor"), "{backup}");
    let nested = sandbox.run(&["hooks", "instal"]);
    assert!(nested.starts_with("exit 2\nerr: memo: unrecognized subcommand 'instal'\n"), "{nested}");
}
