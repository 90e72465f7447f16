//! Checks that uses of fields mean the fields of their types.

use super::check;

#[test]
fn attributes_of_python() {
    let repository = "\
== config.py
class Config:
    timeout: int = 3
    def __init__(self):
        self.retry_count = 0
        self.retry_count = 1
    def run(self):
        return self.timeout + self.retry_count
class Other:
    timeout = 1
== use.py
from config import Config
def start(config: Config, other):
    config.timeout = 4
    return config.retry_count, other.timeout, other.retry_count
";
    check(
        repository,
        "timeout",
        &[
            "config.py:7 exact config.py#Config.timeout",
            "use.py:3 exact config.py#Config.timeout",
            "use.py:4 by name config.py#Config.timeout config.py#Other.timeout",
        ],
    );
    check(
        repository,
        "retry_count",
        &[
            "config.py:5 exact config.py#Config.retry_count",
            "config.py:7 exact config.py#Config.retry_count",
            "use.py:4 exact config.py#Config.retry_count",
            "use.py:4 likely config.py#Config.retry_count",
        ],
    );
}

#[test]
fn keywords_of_a_dataclass_set_its_fields() {
    check(
        "\
== a.py
@dataclass
class Options:
    retries: int = 3
class Other:
    retries = 1
    def __init__(self, retries): pass
def run():
    run(retries=1)
    return Options(retries=4), Other(retries=2), elsewhere.Thing(retries=3)
",
        "retries",
        &["a.py:9 exact a.py#Options.retries", "a.py:9 nothing", "a.py:9 nothing"],
    );
}

#[test]
fn fields_of_go_rust_and_java() {
    check(
        "\
== config.go
package config
type Config struct {
\tGracePeriod int
}
func (c *Config) run() int { return c.GracePeriod }
== main.go
package main
import \"a.b/config\"
func main() {
\tc := config.Config{GracePeriod: 3}
\tprintln(c.GracePeriod)
}
",
        "GracePeriod",
        &[
            "config.go:5 exact config.go#Config.GracePeriod",
            "main.go:4 exact config.go#Config.GracePeriod",
            "main.go:5 exact config.go#Config.GracePeriod",
        ],
    );
    check(
        "\
== a.rs
pub struct Config { name: String }
impl Config {
    fn new() -> Self { Self { name: String::new() } }
    fn name(&self) -> &str { &self.name }
}
fn main(config: Config) { config.name(); let _ = config.name; }
",
        "name",
        &[
            "a.rs:3 exact a.rs#Config::name:1",
            "a.rs:4 exact a.rs#Config::name:1",
            "a.rs:6 exact a.rs#Config::name:4",
            "a.rs:6 exact a.rs#Config::name:1",
        ],
    );
    check(
        "== A.java\nclass A {\n  int size;\n  int size() { return size; }\n  int twice() { return size() + this.size; }\n}\n",
        "size",
        &[
            "A.java:3 exact A.java#A.size:2",
            "A.java:4 exact A.java#A.size:3",
            "A.java:4 exact A.java#A.size:2",
        ],
    );
}

#[test]
fn variants_and_enumerators() {
    check(
        "== a.rs\nenum Color { Red, Rgb(u8) }\nfn f(color: Color) -> Color { match color { Color::Red => Color::Rgb(1), other => other } }\n",
        "Red",
        &["a.rs:2 exact a.rs#Color::Red"],
    );
    check(
        "== a.c\nenum color { RED, BLUE };\nint f(void) { return RED; }\n",
        "RED",
        &["a.c:2 exact a.c#color::RED"],
    );
}

#[test]
fn imports_in_functions_and_stars() {
    check(
        "\
== lib.py
__all__ = ['load']
def load(): pass
def _hidden(): pass
== use.py
def first():
    from lib import load
    return load()
def second():
    return load()
== star.py
from lib import *
load()
",
        "load",
        &[
            "lib.py:1 exact lib.py#load",
            "use.py:2 exact lib.py#load",
            "use.py:3 exact lib.py#load",
            "use.py:5 nothing",
            "star.py:2 exact lib.py#load",
        ],
    );
    check(
        "== lib.py\ndef _hidden(): pass\n== star.py\nfrom lib import *\n_hidden()\n",
        "_hidden",
        &["star.py:2 nothing"],
    );
}

#[test]
fn notebooks_use_what_they_import() {
    check(
        "== lib.py\ndef load_frame(): pass\n== a.ipynb\n{\"cells\": [{\"cell_type\": \"code\", \"source\": [\n\"%matplotlib inline\\n\",\n\"from lib import load_frame\\n\",\n\"%time frame = load_frame()\\n\",\n\"files = !ls\\n\",\n\"load_frame?\"\n]}], \"metadata\": {}}\n",
        "load_frame",
        &["a.ipynb:3 exact lib.py#load_frame", "a.ipynb:4 exact lib.py#load_frame"],
    );
}
