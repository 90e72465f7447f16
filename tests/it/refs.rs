//! Does `memo refs` list the uses of a definition, with how sure each is, as fresh as the files?

use serde_json::{Value, json};

use crate::live::{Live, memo};

fn repository() -> Live {
    let live = Live::new();
    live.write("app/store.py", "def load(key):\n    return key\n\n\nclass Store:\n    def load(self, key):\n        return load(key)\n");
    live.write("app/__init__.py", "from .store import load as load_key\n");
    live.write(
        "app/main.py",
        "from app import load_key\nfrom .store import Store\nimport json\n\n\ndef main(x, load):\n    load_key(1)\n    \
         Store.load(x, 2)\n    x.load(3)\n    load(4)\n    json.load(5)\n",
    );
    live
}

/// Returns place, certainty and enclosing definition of each use.
fn uses(answer: &Value) -> Vec<String> {
    let uses = answer["uses"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    let shown = |of: &Value| {
        let within = of["within"].as_str().unwrap_or("the file");
        format!(
            "{}:{} {} in {within}",
            of["path"].as_str().unwrap(),
            of["line"],
            of["certainty"].as_str().unwrap()
        )
    };
    uses.map(shown).collect()
}

#[test]
fn uses_mean_the_definition_that_imports_and_scope_name() {
    let live = repository();
    let (exit, answer) = memo(&live, &["refs", "app/store.py#load"]);
    let expected = [
        "app/__init__.py:1 exact in the file",
        "app/__init__.py:1 exact in the file",
        "app/main.py:1 exact in the file",
        "app/main.py:7 exact in main",
        "app/store.py:7 exact in Store.load",
    ];
    assert_eq!((exit, uses(&answer)), (0, expected.map(str::to_owned).to_vec()), "{answer}");
    assert_eq!(answer["definitions"][0]["title"], "load");
    assert_eq!(answer["counts"], json!({ "exact": 5, "likely": 0, "by_name": 0 }));
    let (exit, answer) = memo(&live, &["refs", "Store.load"]);
    let expected = ["app/main.py:8 exact in main", "app/main.py:9 by name in main"];
    assert_eq!((exit, uses(&answer)), (0, expected.map(str::to_owned).to_vec()), "{answer}");
    let (_, answer) = memo(&live, &["refs", "Store.load", "-n", "1"]);
    assert_eq!((uses(&answer).len(), &answer["counts"]["by_name"]), (1, &json!(1)), "{answer}");
}

#[test]
fn a_use_is_listed_as_soon_as_it_is_written_and_gone_as_soon_as_it_is_removed() {
    let live = repository();
    assert_eq!(uses(&memo(&live, &["refs", "Store"]).1).len(), 2);
    live.write("app/more.py", "from app.store import Store\n\nStore()\n");
    let (_, answer) = memo(&live, &["refs", "Store"]);
    assert!(uses(&answer).contains(&"app/more.py:3 exact in the file".to_owned()), "{answer}");
    assert_eq!(answer["fresh"], true, "{answer}");
    std::fs::remove_file(live.root().join("app/more.py")).unwrap();
    assert_eq!(uses(&memo(&live, &["refs", "Store"]).1).len(), 2);
}

#[test]
fn a_name_may_be_qualified_by_its_module_or_package() {
    let live = repository();
    live.write("go/ferry/plan.go", "package crossing\n\nfunc Plan() {}\n\nfunc run() { Plan() }\n");
    let found = |target: &str| uses(&memo(&live, &["refs", target]).1);
    assert_eq!(found("app.store.load"), found("load"));
    assert_eq!(found("store.load"), found("load"));
    let plan = found("Plan");
    assert_eq!(plan, ["go/ferry/plan.go:5 exact in run"]);
    for target in ["plan.Plan", "ferry.Plan", "crossing.Plan"] {
        assert_eq!(found(target), plan, "{target}");
    }
    live.write("go/ferry/crew/plan.go", "package crew\n\nfunc Plan() {}\n\ntype Captain struct{}\n\nfunc (c *Captain) Rest() {}\n\nfunc rest(c *Captain) { c.Rest() }\n");
    assert!(found("ferry.crew.Plan").is_empty(), "that of another directory is not meant");
    assert_eq!(found("crew.Captain.Rest"), ["go/ferry/crew/plan.go:9 exact in rest"]);
    let done = live.memo(&["refs", "other.ferry.Plan"]).output().unwrap();
    assert_eq!(done.status.code(), Some(1), "all of the qualifier counts");
    let done = live.memo(&["refs", "store.Load"]).output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    let done = live.memo(&["refs", "other.Plan"]).output().unwrap();
    assert_eq!(done.status.code(), Some(1), "another package has no such name");
}

#[test]
fn what_is_not_there_is_said() {
    let live = repository();
    live.write("app/unused.py", "def nobody_calls_it():\n    pass\n");
    let run = |target: &str| {
        let done = live.memo(&["refs", target]).output().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    let (exit, said) = run("nobody_calls_it");
    assert_eq!(exit, Some(1));
    assert_eq!(said, "memo: no use was found; `memo search` finds where the name is mentioned\n");
    let (exit, said) = run("nope");
    assert_eq!(exit, Some(1));
    assert!(said.starts_with("memo: nope: no indexed file, and no definition of that name\n"), "{said}");
    let (exit, said) = run("app/main.py:9999");
    assert_eq!(exit, Some(1));
    assert!(said.starts_with("memo: app/main.py: no definition is on line 9999\n"), "{said}");
    let cut = live.memo(&["refs", "Store.load", "--budget", "1", "--with", "commits"]).output().unwrap();
    assert_eq!(
        cut.status.code(),
        Some(0),
        "what was found and not shown is found; no commit yet is no error"
    );
    let (exit, said) = run("app/main.py#nope");
    assert_eq!(exit, Some(1));
    assert!(said.contains("app/main.py: defines no nope"), "{said}");
}

#[test]
fn a_line_names_one_overload_and_its_uses_are_as_sure_as_arguments_tell() {
    let live = Live::new();
    live.write(
        "a/Log.java",
        "package a;\nclass Log {\n    void put(String text) {}\n    void put(int code) {}\n    void put(String text, int code) {}\n    \
         void run() {\n        put(1);\n        put(\"a\", 1);\n    }\n}\n",
    );
    let two = "a/Log.java:8 exact in Log.run";
    assert_eq!(uses(&memo(&live, &["refs", "a/Log.java:5"]).1), [two]);
    // Two take one argument, and only its type tells them apart.
    for line in ["a/Log.java:3", "a/Log.java:4"] {
        assert_eq!(uses(&memo(&live, &["refs", line]).1), ["a/Log.java:7 likely in Log.run"]);
    }
    let (_, answer) = memo(&live, &["refs", "Log.put"]);
    assert_eq!(uses(&answer), ["a/Log.java:7 exact in Log.run", two]);
    let lines = answer["definitions"].as_array().unwrap().iter().map(|of| of["lines"][0].clone());
    assert_eq!(lines.collect::<Vec<_>>(), [3, 4, 5]);
    let (_, answer) = memo(&live, &["outline", "a/Log.java"]);
    assert_eq!(answer["items"].as_array().unwrap().len(), 5, "the class and its four methods: {answer}");
}
