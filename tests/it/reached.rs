//! Do `memo callers`, `callees`, `impact`, `tests` and `implements` follow uses, as fresh as the files?

use serde_json::{Value, json};

use crate::live::{Live, memo};

fn repository() -> Live {
    let live = Live::new();
    live.write("app/store.py", "class Store:\n    def load(self, key):\n        return decode_value(key)\n\n\ndef decode_value(text):\n    return text.strip()\n");
    live.write(
        "app/views.py",
        "from .store import Store\n\n\ndef show_page(key):\n    return render(Store().load(key))\n\n\ndef render(value):\n    return \
         len(value)\n",
    );
    live.write(
        "app/cached.py",
        "from app.store import Store\n\n\nclass Cached(Store):\n    pass\n\n\nclass Twice(Cached):\n    pass\n",
    );
    live.write(
        "tests/test_views.py",
        "from app.views import show_page\n\n\ndef test_page():\n    def inner():\n        show_page('a')\n    inner()\n",
    );
    live
}

/// Returns path, title, depth and certainty of what was found.
pub(crate) fn found(answer: &Value) -> Vec<String> {
    let found = answer["found"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    let shown = |of: &Value| {
        let (path, title) = (of["path"].as_str().unwrap(), of["title"].as_str().unwrap_or("the file"));
        format!("{path} {title} {} {}", of["depth"], of["certainty"].as_str().unwrap())
    };
    found.map(shown).collect()
}

#[track_caller]
pub(crate) fn check(live: &Live, words: &[&str], expected: &[&str]) {
    let (exit, answer) = memo(live, &[words, &["--wait-ms=60000"]].concat());
    assert_eq!(found(&answer), expected, "{words:?}: {answer}");
    assert_eq!(exit, i32::from(expected.is_empty()), "{words:?}: {answer}");
}

#[test]
fn calls_are_followed_both_ways() {
    let live = repository();
    let caller = "app/store.py Store.load 1 exact";
    check(&live, &["callers", "decode_value"], &[caller]);
    let farther = [caller, "app/views.py show_page 2 exact", "tests/test_views.py test_page.inner 3 exact"];
    check(&live, &["callers", "decode_value", "--depth", "3"], &farther);
    let calls =
        ["app/views.py render 1 exact", "app/store.py Store 1 exact", "app/store.py Store.load 1 exact"];
    check(&live, &["callees", "show_page"], &calls);
    let (_, answer) = memo(&live, &["callees", "show_page", "--depth", "2"]);
    assert!(found(&answer).contains(&"app/store.py decode_value 2 exact".to_owned()), "{answer}");
    check(&live, &["callees", "render"], &[]);
    assert_eq!(memo(&live, &["callees", "render"]).1["n_untold"], 1); // len
}

#[test]
fn paths_alone_are_listed_once() {
    let live = repository();
    let listed = |dir: &str, words: &[&str]| {
        let done = live.memo(&["-C", dir]).args(words).output().unwrap();
        (done.status.code(), String::from_utf8(done.stdout).unwrap())
    };
    let impact = listed(".", &["impact", "app/store.py", "-l"]);
    assert_eq!(impact, (Some(0), "app/cached.py\napp/views.py\ntests/test_views.py\n".to_owned()));
    let many = "from app.views import render\n".to_owned() + &"render(1)\n".repeat(150);
    live.write("app/many.py", many);
    let (_, all) = listed(".", &["refs", "render", "-l"]);
    assert_eq!(all, "app/many.py\napp/views.py\n", "150 uses hide no file");
    assert_eq!(listed(".", &["refs", "render", "-l", "-n", "1"]).1, "app/many.py\n");
    live.remove("app/many.py");
    assert_eq!(listed("tests", &["refs", "render", "-l"]), (Some(0), "../app/views.py\n".to_owned()));
    assert_eq!(listed(".", &["tests", "decode_value", "-l"]), (Some(0), "tests/test_views.py\n".to_owned()));
    assert_eq!(listed(".", &["callers", "show_nothing", "-l"]).0, Some(1));
    assert_eq!(listed(".", &["callees", "show_page", "-l", "--json"]).0, Some(2), "two formats");
}

#[test]
fn what_depends_on_a_definition_a_file_or_a_change_is_found_with_its_tests() {
    let live = repository();
    live.git(&["add", "."]);
    live.git(&["commit", "-qm", "first"]);
    let test = "tests/test_views.py test_page 3 exact";
    check(&live, &["tests", "app/store.py#decode_value"], &[test]);
    check(&live, &["tests", "app/views.py"], &["tests/test_views.py test_page 1 exact"]);
    let (_, answer) = memo(&live, &["impact", "decode_value"]);
    assert!(answer["found"].as_array().unwrap().iter().all(|found| found["depth"].as_u64() < Some(3)));
    let (_, answer) = memo(&live, &["impact", "decode_value", "--depth", "8"]);
    assert!(found(&answer).contains(&"app/views.py show_page 2 exact".to_owned()), "{answer}");
    assert_eq!(answer["n_tests"], 2, "{answer}");
    check(&live, &["impact"], &[]); // nothing is changed
    live.write(
        "app/views.py",
        "from .store import Store\n\n\ndef show_page(key):\n    return render(Store().load(key))\n\n\ndef render(value):\n    return \
         len(value) + 1\n",
    );
    check(&live, &["tests", "--since", "HEAD"], &["tests/test_views.py test_page 2 exact"]);
    let (_, answer) = memo(&live, &["impact"]);
    assert_eq!(answer["definitions"][0]["title"], "render", "{answer}");
}

#[test]
fn what_only_names_lead_to_is_counted_and_not_followed() {
    let live = Live::idle();
    live.write(
        "a.py",
        "class Disk:\n    def run(self):\n        pass\n\n\ndef start(disk: Disk):\n    disk.run()\n",
    );
    live.write("b.py", "def spin(motor):\n    motor.run()\n\n\ndef drive():\n    spin(1)\n");
    live.start();
    let impact = |words: &[&str]| {
        let (_, answer) = memo(&live, &[&["impact", "a.py#Disk.run"], words].concat());
        (found(&answer), answer["n_by_name"].as_u64())
    };
    let sure = "a.py start 1 exact";
    assert_eq!(impact(&[]), (vec![sure.to_owned()], Some(1)));
    let (listed, hidden) = impact(&["--all"]);
    assert_eq!(
        (listed, hidden),
        ([sure, "b.py spin 1 by name", "b.py drive 2 by name"].map(str::to_owned).to_vec(), None)
    );
    let shown = live.sandbox.show(&mut live.memo(&["impact", "a.py#Disk.run"]));
    assert!(shown.contains("out: a.py\nout:   6-7  start\n"), "{shown}");
    assert!(shown.contains("err: memo: 1 more has only a name in common: --all lists them\n"), "{shown}");
    // If there is nothing else, it is listed, but not followed.
    live.write("a.py", "class Disk:\n    def run(self):\n        pass\n");
    assert_eq!(impact(&[]), (vec!["b.py spin 1 by name".to_owned()], None));
}

#[test]
fn a_callee_is_shown_with_its_signature_and_the_line_of_the_call() {
    let live = Live::idle();
    live.write("a.py", "def outer():\n    x = 1\n    inner(x)\n\n\n# Adds.\ndef inner(x):\n    return x\n");
    live.start();
    let shown = live.sandbox.show(&mut live.memo(&["callees", "outer", "--wait-ms=60000"]));
    assert!(shown.contains("out: a.py:6-8  inner  called on line 3\nout:   7  def inner(x):\n"), "{shown}");
}

#[test]
fn what_names_a_removed_definition_and_changed_tests_are_listed() {
    let live = repository();
    live.git(&["add", "."]);
    live.git(&["commit", "-qm", "first"]);
    let store = "class Store:\n    def load(self, key):\n        return decode_value(key)\n";
    live.write("app/store.py", store);
    let (exit, answer) = memo(&live, &["impact"]);
    assert_eq!((exit, &answer["removed"]), (0, &json!(["app/store.py#decode_value"])), "{answer}");
    let users = ["app/store.py Store.load 1 likely", "app/views.py show_page 2 likely"];
    assert_eq!(found(&answer), users, "{answer}");
    let done = live.memo(&["impact"]).output().unwrap();
    let printed = String::from_utf8(done.stdout).unwrap();
    assert!(
        printed
            .starts_with("removed  app/store.py#decode_value\n\napp/store.py\n  2-3  Store.load  (likely)  still uses decode_value\n"),
        "{printed}"
    );
    live.git(&["checkout", "-q", "app/store.py"]);
    // A field is no definition of its own.
    live.write(
        "app/part.go",
        "package app\n\ntype Part struct {\n\tLimit int\n}\n\nfunc use(part Part) {}\n",
    );
    live.git(&["add", "."]);
    live.git(&["commit", "-qm", "part"]);
    live.write(
        "app/part.go",
        "package app\n\ntype Part struct {\n\tLimit int64\n}\n\nfunc use(part Part) {}\n",
    );
    let (_, answer) = memo(&live, &["impact"]);
    assert_eq!(answer["fresh"], true, "{answer}");
    assert_eq!(found(&answer), ["app/part.go use 1 exact"], "{answer}");
    live.git(&["checkout", "-q", "app/part.go"]);
    live.write("tests/test_new.py", "def test_new():\n    assert True\n");
    check(&live, &["tests"], &["tests/test_new.py test_new 0 exact"]);
}

#[test]
fn an_empty_file_makes_a_package() {
    let live = Live::new();
    live.write("src/lib/__init__.py", "def run_it(): ...\n");
    live.write("tests/apps/inner/__init__.py", "");
    live.write("tests/apps/inner/lib.py", "def run_it(): ...\n");
    live.write("tests/test_lib.py", "from lib import run_it\n\n\ndef test_it():\n    run_it()\n");
    check(&live, &["callers", "src/lib/__init__.py#run_it"], &["tests/test_lib.py test_it 1 exact"]);
    check(&live, &["callers", "tests/apps/inner/lib.py#run_it"], &[]);
}

#[test]
fn types_and_values_in_circles_end() {
    let live = Live::new();
    let names = ["Aa", "Bb", "Cc", "Dd", "Ee", "Ff"];
    let class = |name: &&str| {
        let bases: Vec<_> = names.iter().filter(|other| other != &name).copied().collect();
        format!("class {name}({}):\n    pass\n", bases.join(", "))
    };
    let classes: String = names.iter().map(class).collect();
    live.write("circle.py", format!("{classes}\n\ndef run(of: Aa):\n    of.gone_away()\n"));
    live.write("target.py", "class Zed:\n    def gone_away(self): ...\n");
    check(&live, &["callers", "Zed.gone_away"], &["circle.py run 1 likely"]);
}

#[test]
fn tests_are_ordered_by_uses_and_names() {
    let live = repository();
    live.write(
        "app/later.py",
        "class Later:\n    def __init__(self, key):\n        self.key = key\n\n    def get(self):\n        pass\n",
    );
    let uses = "from app.later import Later\n\n\ndef test_it():\n    Later('a')\n";
    live.write("tests/test_all.py", uses);
    live.write("tests/test_later.py", uses.replace("test_it", "test_named"));
    // What calls a type calls its constructor.
    let expected = ["tests/test_later.py test_named 1 exact", "tests/test_all.py test_it 1 exact"];
    check(&live, &["tests", "app/later.py#Later.__init__"], &expected);
    let all = [expected[0], expected[1], "tests/test_views.py test_page 0 similar"];
    check(&live, &["tests", "app/later.py#Later.__init__", "--all"], &all);
    // No use leads there, as when a framework calls it.
    let named = [
        "tests/test_later.py the file 0 likely",
        "tests/test_all.py test_it 0 similar",
        "tests/test_views.py test_page 0 similar",
    ];
    // Which of those that are only similar comes first depends on whether the vectors are there yet.
    let in_any_order = |answer: &Value| {
        let mut found = found(answer);
        found[1..].sort();
        found
    };
    assert_eq!(in_any_order(&memo(&live, &["tests", "app/later.py#Later.get", "--all"]).1), named);
    check(&live, &["tests", "app/later.py#Later.get"], &named[..1]);
    check(&live, &["impact", "app/later.py#Later.get"], &[]);
    // The farther of two files of one name is about something else.
    live.write("other/tests/test_later.py", "def test_other():\n    pass\n");
    let other = "other/tests/test_later.py test_other 0 similar";
    let found = in_any_order(&memo(&live, &["tests", "app/later.py#Later.get", "--all"]).1);
    assert_eq!(found, [named[0], other, named[1], named[2]]);
}

#[test]
fn types_that_extend_a_type_are_listed_with_those_that_extend_them() {
    let live = repository();
    live.write("app/Shape.java", "interface Shape {}\nclass Square implements Shape {}\n");
    live.write(
        "src/lib.rs",
        "pub trait Draw { fn draw(&self); }\npub struct Pen;\nimpl Draw for Pen { fn draw(&self) {} }\n",
    );
    live.write(
        "web/base.ts",
        "export class Base<T> {}\nexport class Part extends Base<Other> {}\nexport class Other {}\n",
    );
    let both = ["app/cached.py Cached 1 exact", "app/cached.py Twice 2 exact"];
    check(&live, &["implements", "Store"], &both);
    check(&live, &["implements", "Shape"], &["app/Shape.java Square 1 exact"]);
    check(&live, &["implements", "Draw"], &["src/lib.rs Pen 1 exact"]);
    check(&live, &["implements", "Base"], &["web/base.ts Part 1 exact"]);
    check(&live, &["implements", "Other"], &[]);
}

#[test]
fn a_caller_is_found_as_soon_as_it_is_saved_and_in_every_format() {
    let live = repository();
    check(&live, &["callers", "render"], &["app/views.py show_page 1 exact"]);
    live.write("app/more.py", "from app.views import render\n\n\ndef also(x):\n    render(x)\n");
    let both = ["app/more.py also 1 exact", "app/views.py show_page 1 exact"];
    check(&live, &["callers", "render"], &both);
    let text = |words: &[&str]| {
        let done = live.memo(words).output().unwrap();
        (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
    };
    let (printed, said) = text(&["callers", "render", "-n", "1"]);
    let expected = "app/views.py:8-9  render\n\napp/more.py:4-5  also\n  5  render(x)\n";
    assert_eq!(printed, expected);
    assert_eq!(said, "memo: 1 is shown of 2; --limit and --budget show more\n");
    assert_eq!(text(&["callers", "render", "-n", "1"]).0, expected);
    let (printed, _) = text(&["callers", "render", "--budget", "20"]);
    assert_eq!(printed, expected);
    let (printed, _) = text(&["callers", "render", "--format", "csv", "--fields", "path,title,depth"]);
    assert_eq!(printed, "path,title,depth\r\napp/more.py,also,1\r\napp/views.py,show_page,1\r\n");
    let (printed, _) = text(&["refs", "render", "--fields", "path,line"]);
    assert_eq!(printed, "app/more.py\t1\napp/more.py\t5\napp/views.py\t5\n");
}

#[test]
fn mistakes_and_unknown_languages_are_said() {
    let live = repository();
    live.write("lib/tool.hs", "module Tool where\n\nonly_here :: Int\nonly_here = 1\n");
    let run = |words: &[&str]| {
        let done = live.memo(words).output().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    let (exit, said) = run(&["callers", "nope"]);
    assert_eq!(exit, Some(1));
    assert!(said.starts_with("memo: nope: no indexed file, and no definition of that name\n"), "{said}");
    let (exit, said) = run(&["callers", "only_here"]);
    assert_eq!(exit, Some(1));
    assert!(said.starts_with("memo: not complete: lib/tool.hs: uses are known in Python"), "{said}");
    let (exit, said) = run(&["impact", "render", "--since", "HEAD"]);
    assert_eq!((exit, said.contains("cannot be used with")), (Some(2), true), "{said}");
    let (exit, _) = run(&["callers", "render", "--depth", "9"]);
    assert_eq!(exit, Some(2));
    let refused = |method: &str, mut params: Value| {
        params["cwd"] = json!(live.root());
        live.rpc().call(method, &params).unwrap_err()["message"].as_str().unwrap().to_owned()
    };
    let said = refused("callers", json!({ "target": "render", "since": "HEAD" }));
    assert_eq!(said, "since: only `impact` and `tests` take a revision");
    let said = refused("impact", json!({ "target": "render", "depth": 0 }));
    assert_eq!(said, "depth: 0 is not between 1 and 8");
    assert_eq!(refused("callers", json!({})), "target: missing");
}

#[test]
fn a_type_of_go_implements_what_has_its_methods() {
    let live = Live::new();
    live.write("go.mod", "module x.org/app\n");
    live.write(
        "store/store.go",
        "package store\n\ntype Closer interface{ CloseAll() }\n\ntype Store interface {\n\tCloser\n\tLoadKey(key string) string\n}\n",
    );
    live.write(
        "disk/disk.go",
        "package disk\n\ntype Disk struct{}\n\nfunc (d *Disk) LoadKey(key string) string { return key }\n\nfunc (d *Disk) CloseAll() {}\n\n\
         type Half struct{}\n\nfunc (h Half) LoadKey(key string) string { return key }\n",
    );
    live.write(
        "main.go",
        "package main\n\nimport \"x.org/app/store\"\n\nfunc read(from store.Store) string {\n\treturn from.LoadKey(\"a\")\n}\n",
    );
    check(&live, &["implements", "Store"], &["disk/disk.go Disk 1 likely"]);
    let of_closer = ["store/store.go Store 1 exact", "disk/disk.go Disk 1 likely"];
    check(&live, &["implements", "Closer"], &of_closer);
    // What is called through an interface may be this method, so it depends on it.
    check(&live, &["callers", "Disk.LoadKey"], &["main.go read 1 likely"]);
    check(&live, &["callers", "Half.LoadKey"], &[]);
    check(&live, &["callers", "Store.LoadKey"], &["main.go read 1 exact"]);
}

#[test]
fn a_call_through_a_base_reaches_what_overrides_it() {
    let live = Live::new();
    live.write(
        "app/shapes.py",
        "class Shape:\n    def area(self): ...\n\n\nclass Square(Shape):\n    def area(self): ...\n\n\ndef total(shape: Shape):\n    return shape.area()\n",
    );
    live.write(
        "tests/test_shapes.py",
        "from app.shapes import total\n\n\ndef test_total():\n    total(None)\n",
    );
    check(&live, &["callers", "Shape.area"], &["app/shapes.py total 1 exact"]);
    check(&live, &["callers", "Square.area"], &["app/shapes.py total 1 likely"]);
    check(&live, &["tests", "Square.area"], &["tests/test_shapes.py test_total 2 likely"]);
}

#[test]
fn memories_and_commits_about_what_is_found_are_one_flag_away() {
    let live = repository();
    live.git(&["add", "."]);
    live.git(&["commit", "-qm", "store: decode what is loaded"]);
    memo(&live, &["add", "--about", "app/views.py#show_page", "pages are rendered from the store"]);
    memo(&live, &["add", "--about", "app/cached.py", "the cache is a store"]);
    let (_, answer) = memo(&live, &["callers", "Store.load"]);
    assert!(answer["memories"].is_null() && answer["commits"].is_null(), "{answer}");
    let (_, answer) = memo(&live, &["callers", "Store.load", "--with", "memories,commits"]);
    assert_eq!(answer["memories"].as_array().unwrap().len(), 1, "{answer}");
    assert_eq!(answer["memories"][0]["line"], "pages are rendered from the store", "{answer}");
    assert_eq!(answer["commits"][0]["subject"], "store: decode what is loaded", "{answer}");
    let done = live.memo(&["refs", "Store", "--with", "memories"]).output().unwrap();
    let printed = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(printed.contains("the cache is a store") && !printed.contains("decode what"), "{printed}");
}
