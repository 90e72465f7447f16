//! Resolves names that modules of Python import and that classes define.

use super::check;

#[test]
fn python_follows_imports_and_the_type_around() {
    let repository = "\
== pkg/__init__.py
from .a import run
== pkg/a.py
def run(): ...
class A:
    def run(self):
        self.run()
        run()
== pkg/b.py
from . import run
from . import a
from os import run as other
run()
a.run()
other()
x.run()
def f(run):
    run()
";
    check(
        repository,
        "run",
        &[
            "pkg/__init__.py:1 exact pkg/a.py#run",
            "pkg/a.py:4 exact pkg/a.py#A.run",
            "pkg/a.py:5 exact pkg/a.py#run",
            "pkg/b.py:1 exact pkg/a.py#run",
            "pkg/b.py:3 nothing",
            "pkg/b.py:3 nothing",
            "pkg/b.py:4 exact pkg/a.py#run",
            "pkg/b.py:5 exact pkg/a.py#run",
            "pkg/b.py:6 nothing",
            "pkg/b.py:7 by name pkg/a.py#A.run",
        ],
    );
}
