//! Are notebooks, fixtures of pytest, overloads, properties, stubs and fields known as definitions and uses?

use serde_json::{Value, json};

use crate::live::{Live, memo};
use crate::reached::check;

const NOTEBOOK: &str = "{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"outputs\": [{\"text\": [\"load_frame()\"]}],\n   \"source\": [\n    \
    \"%matplotlib inline\\n\",\n    \"from app.frames import load_frame\\n\",\n    \"!pip install pandas\"\n   ]\n  },\n  {\n   \"cell_type\": \"code\",\n   \
    \"source\": [\n    \"def plot(name):\\n\",\n    \"    return load_frame(name)\\n\",\n    \"%time frame = load_frame('b')\"\n   ]\n  },\n  {\n   \
    \"cell_type\": \"code\",\n   \"source\": [\n    \"%%bash\\n\",\n    \"load_frame (\"\n   ]\n  }\n ],\n \"metadata\": {}\n}\n";

fn repository() -> Live {
    let live = Live::new();
    live.write("app/__init__.py", "");
    live.write("app/frames.py", "def load_frame(name):\n    return name\n\n\ndef load_db():\n    return 1\n");
    live.write("analysis.ipynb", NOTEBOOK);
    live.write(
        "tests/conftest.py",
        "import pytest\nfrom app.frames import load_db\n\n\n@pytest.fixture\ndef db():\n    return load_db()\n\n\n@pytest.fixture(name=\"user\")\ndef \
         make_user(db):\n    return db\n",
    );
    live.write(
        "tests/test_a.py",
        "def test_rows(db):\n    assert db\n\n\ndef test_user(user):\n    assert user\n",
    );
    live.write(
        "tests/test_b.py",
        "import pytest\n\n\n@pytest.mark.usefixtures(\"db\")\ndef test_marked():\n    pass\n",
    );
    live
}

/// Returns place and certainty of each use.
fn uses(live: &Live, target: &str) -> Vec<String> {
    crate::javascript_imports::uses(live, target)
}

/// Returns path, lines and number of overloads of what `memo show` prints.
fn shown(live: &Live, target: &str) -> Vec<String> {
    let (_, answer) = memo(live, &["show", target]);
    let parts = answer["parts"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    parts
        .map(|part| format!("{}:{} {}", part["path"].as_str().unwrap(), part["lines"], part["n_overloads"]))
        .collect()
}

#[test]
fn cells_of_notebooks_use_and_define() {
    let live = repository();
    let line = |text: &str| NOTEBOOK.lines().position(|line| line.contains(text)).unwrap() + 1;
    let expected = ["from app.frames", "return load_frame", "%time"]
        .map(|text| format!("analysis.ipynb:{} exact", line(text)));
    assert_eq!(uses(&live, "load_frame"), expected);
    check(
        &live,
        &["callers", "load_frame"],
        &["analysis.ipynb plot 1 exact", "analysis.ipynb frame 1 exact"],
    );
    let at = line("def plot");
    assert_eq!(shown(&live, "plot"), [format!("analysis.ipynb:[{at},{}] null", at + 1)]);
    live.commit_all();
    live.write("analysis.ipynb", NOTEBOOK.replace("load_frame(name)", "load_frame(name + 'c')"));
    let (_, changed) = memo(&live, &["changed", "HEAD"]);
    assert_eq!(changed["files"][0]["symbols"]["changed"], json!(["plot"]), "{changed}");
    live.write("app/frames.py", "def load_frame(name):\n    return name + 'x'\n");
    let (_, answer) = memo(&live, &["impact", "--since", "HEAD"]);
    let found: Vec<&Value> = answer["found"].as_array().unwrap().iter().map(|of| &of["path"]).collect();
    assert!(found.contains(&&json!("analysis.ipynb")), "{answer}");
}

#[test]
fn tests_use_the_fixtures_that_they_name() {
    let live = repository();
    let expected = [
        "tests/conftest.py make_user 1 exact",
        "tests/test_a.py test_rows 1 exact",
        "tests/test_b.py test_marked 1 exact",
    ];
    check(&live, &["callers", "db"], &expected);
    check(&live, &["callers", "make_user"], &["tests/test_a.py test_user 1 exact"]);
    let (_, answer) = memo(&live, &["tests", "load_db", "--wait-ms=60000"]);
    let found: Vec<&str> =
        answer["found"].as_array().unwrap().iter().filter_map(|of| of["title"].as_str()).collect();
    for test in ["test_rows", "test_user", "test_marked"] {
        assert!(found.contains(&test), "{test}: {answer}");
    }
    // A fixture that is nearer is another one.
    live.write("tests/test_a.py", "import pytest\n\n\n@pytest.fixture\ndef db():\n    return 2\n\n\ndef test_rows(db):\n    assert db\n");
    check(&live, &["callers", "tests/conftest.py#db"], &[expected[0], expected[2]]);
}

#[test]
fn overloads_and_properties_are_one_definition() {
    let live = Live::new();
    live.write(
        "shapes.py",
        "from typing import overload\n\n\n@overload\ndef area(of: int) -> int: ...\n@overload\ndef area(of: str) -> str: ...\ndef area(of):\n    \
         return of\n\n\nclass Square:\n    def __init__(self):\n        self.side = 1\n\n    @property\n    def width(self):\n        return self.side\n\n    \
         @width.setter\n    def width(self, to):\n        self.side = to\n\n    def grow(self):\n        self.width = area(2)\n\n    @width.deleter\n    def \
         width(self):\n        pass\n",
    );
    assert_eq!(shown(&live, "area"), ["shapes.py:[8,9] 2"]);
    assert_eq!(shown(&live, "Square.width"), ["shapes.py:[16,22] null"]);
    let (_, answer) = memo(&live, &["refs", "area"]);
    assert_eq!(answer["definitions"].as_array().unwrap().len(), 1, "{answer}");
    check(&live, &["callers", "area"], &["shapes.py Square.grow 1 exact"]);
    check(
        &live,
        &["callers", "Square.side"],
        &["shapes.py Square.width 1 exact", "shapes.py Square.width 1 exact"],
    );
}

#[test]
fn a_stub_and_its_implementation_are_one_thing() {
    let live = Live::new();
    live.write("pkg/__init__.py", "");
    live.write("pkg/core.py", "def run_core(x):\n    return x\n");
    live.write("pkg/core.pyi", "def run_core(x: int) -> int: ...\n");
    live.write("main.py", "from pkg.core import run_core\n\nrun_core(1)\n");
    assert_eq!(shown(&live, "run_core"), ["pkg/core.py:[1,2] null"]);
    assert_eq!(uses(&live, "run_core"), ["main.py:1 exact", "main.py:3 exact"]);
    assert_eq!(uses(&live, "pkg/core.pyi#run_core"), ["main.py:1 exact", "main.py:3 exact"]);
}

#[test]
fn fields_are_definitions() {
    let live = Live::new();
    live.write("config.go", "package app\n\n// Config of the app.\ntype Config struct {\n\t// Seconds to wait.\n\tGracePeriod int\n}\n");
    live.write("main.go", "package app\n\nfunc wait(c Config) int {\n\treturn c.GracePeriod\n}\n\nfunc make() Config {\n\treturn Config{GracePeriod: 3}\n}\n");
    live.write(
        "app.py",
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Options:\n    retries: int = 3\n",
    );
    live.write("more.py", "def retries():\n    return 1\n");
    live.write("Shape.cs", "enum Shape\n{\n    Circle,\n    Square,\n}\n");
    assert_eq!(shown(&live, "GracePeriod"), ["config.go:[5,6] null"]);
    assert_eq!(shown(&live, "Shape.Circle"), ["Shape.cs:[3,3] null"]);
    assert_eq!(shown(&live, "retries"), ["more.py:[1,2] null", "app.py:[6,6] null"], "functions come first");
    check(&live, &["callers", "Config.GracePeriod"], &["main.go wait 1 exact", "main.go make 1 exact"]);
    let (_, answer) = memo(&live, &["outline", "config.go"]);
    let titles: Vec<&Value> = answer["items"].as_array().unwrap().iter().map(|item| &item["title"]).collect();
    assert_eq!(titles, ["Config", "Config.GracePeriod"]);
    let (_, answer) = memo(&live, &["search", "retries"]);
    assert_eq!(answer["hits"][0]["title"], "retries", "{answer}");
}

#[test]
fn an_import_in_a_function_hides_a_definition_of_the_file() {
    let live = Live::new();
    let user = |value: u8| format!("class User:\n    def save(self):\n        return {value}\n");
    live.write("models.py", user(1));
    let functions = "def convert():\n    from models import User\n    return User().save()\ndef render():\n    return User().save()\n";
    live.write("views.py", user(2) + functions);
    assert_eq!(uses(&live, "models.py#User"), ["views.py:5 exact", "views.py:6 exact"]);
    assert_eq!(uses(&live, "views.py#User"), ["views.py:8 exact"]);
    assert_eq!(uses(&live, "models.py#User.save"), ["views.py:6 exact"]);
    assert_eq!(uses(&live, "views.py#User.save"), ["views.py:8 exact"]);
}

#[test]
fn a_slot_that_a_method_sets_is_a_field() {
    let live = Live::new();
    live.write(
        "points.py",
        "class Point:\n    __slots__ = (\"left\", \"top\")\n\n    def __init__(self, left):\n        self.left = left\n\n    def get(self):\n        return self.left\n",
    );
    assert_eq!(shown(&live, "Point.left"), ["points.py:[5,5] null"]);
    assert_eq!(shown(&live, "Point.top"), ["points.py:[2,2] null"]);
    assert!(uses(&live, "Point.left").contains(&"points.py:8 exact".to_owned()));
}

/// Each overload was compared with all others, and these with all names.
#[test]
fn thousands_of_overloads_are_one_definition() {
    let live = Live::new();
    let overloads = "@overload\ndef of(x: int): ...\n".repeat(3_000);
    live.write("many.py", format!("from typing import overload\n{overloads}def of(x): pass\n"));
    live.write("use.py", "from many import of\n\n\ndef other():\n    of(1)\n");
    check(&live, &["callers", "of"], &["use.py other 1 exact"]);
}
