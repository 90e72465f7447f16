//! Checks that the types of Python are followed through imports, properties, `super()`, fixtures and return values.

use super::check;

#[test]
fn types_are_followed_through_reexports_and_aliases() {
    check(
        "\
== src/flask/__init__.py
from .app import Flask as Flask
== src/flask/app.py
class Scaffold:
    def route_to(self): pass
class Flask(Scaffold): pass
== tests/test_sub.py
import flask
from flask import Flask as App
class Flask(flask.Flask): pass
def run(own: \"flask.Flask\"):
    app = flask.Flask()
    app.route_to()
    own.route_to()
    App().route_to()
== other.py
from elsewhere import Flask
def run(app: Flask):
    app.route_to()
== views.py
import flask.views
class Views:
    def route_to(self): pass
    def all(self, app: flask.Flask):
        return app.route_to()
",
        "route_to",
        &[
            "tests/test_sub.py:6 exact src/flask/app.py#Scaffold.route_to",
            "tests/test_sub.py:7 exact src/flask/app.py#Scaffold.route_to",
            "tests/test_sub.py:8 exact src/flask/app.py#Scaffold.route_to",
            "other.py:3 nothing",
            "views.py:5 exact src/flask/app.py#Scaffold.route_to",
        ],
    );
}

#[test]
fn super_properties_and_contexts() {
    check(
        "\
== a.py
class Base:
    def load(self): pass
    def __enter__(self):
        return self
class Part(Base):
    def load(self):
        return super().load()
    @property
    def base(self) -> Base:
        return Base()
class Other:
    def load(self): pass
def run(part: Part):
    part.base.load()
    with Part() as opened:
        opened.load()
",
        "load",
        &["a.py:7 exact a.py#Base.load", "a.py:14 exact a.py#Base.load", "a.py:16 likely a.py#Base.load"],
    );
}

#[test]
fn returned_values_and_fixtures() {
    check(
        "\
== app.py
class App:
    def start(self): pass
class Other:
    def start(self): pass
def create():
    app = App()
    return app
def either(x):
    if x:
        return App()
    return Other()
== conftest.py
import pytest
from app import create
@pytest.fixture
def app():
    own = create()
    yield own
== test_a.py
from app import either
def test_a(app):
    app.start()
def test_b(app: int, other):
    other.start()
    either(1).start()
",
        "start",
        &[
            "test_a.py:3 likely app.py#App.start",
            "test_a.py:5 by name app.py#App.start app.py#Other.start",
            "test_a.py:6 by name app.py#App.start app.py#Other.start",
        ],
    );
}

#[test]
fn a_variable_has_the_type_that_it_was_set_to_last() {
    check(
        "\
== a.py
class One:
    def load(self): pass
class Two:
    def load(self): pass
def f(flag):
    value = One()
    value.load()
    value = Two()
    value.load()
    if flag:
        value = One()
        value.load()
    value.load()
    other = 3
    other = One()
    return other.load()
def g(value: One):
    def inner():
        value.load()
    value = Two()
    return value.load()
",
        "load",
        &[
            "a.py:7 likely a.py#One.load",
            "a.py:9 likely a.py#Two.load",
            "a.py:12 likely a.py#One.load",
            "a.py:13 by name a.py#One.load a.py#Two.load",
            "a.py:16 exact a.py#One.load",
            "a.py:19 by name a.py#One.load a.py#Two.load",
            "a.py:21 likely a.py#Two.load",
        ],
    );
}

#[test]
fn a_variable_that_is_declared_once_more_is_another_one() {
    check(
        "\
== a.rs
struct One; struct Two;
impl One { fn load(&self) -> Option<Two> { None } }
impl Two { fn load(&self) {} }
fn f(value: One) {
    value.load();
    {
        let value = Two;
        value.load();
    }
    value.load();
    let value = value.load().unwrap();
    value.load();
}
",
        "load",
        &[
            "a.rs:5 exact a.rs#One::load",
            "a.rs:8 by name a.rs#One::load a.rs#Two::load",
            "a.rs:10 exact a.rs#One::load",
            "a.rs:11 exact a.rs#One::load",
            "a.rs:12 exact a.rs#Two::load",
        ],
    );
    check(
        "\
== a.go
package a
type One struct{}
type Two struct{}
func (o One) Load() Two { return Two{} }
func (t *Two) Load() {}
func f(flag bool) {
\tvalue := One{}
\tvalue.Load()
\tif flag {
\t\tvalue := &Two{}
\t\tvalue.Load()
\t}
\tvalue.Load()
}
",
        "Load",
        &["a.go:8 exact a.go#One.Load", "a.go:11 exact a.go#Two.Load", "a.go:13 exact a.go#One.Load"],
    );
}

#[test]
fn a_value_of_a_union_has_the_members_of_each_type() {
    check(
        "\
== tree.py
from typing import Optional, Union
class Leaf:
    prefix = ''
class Node:
    prefix = ''
class Other:
    prefix = ''
LN = Union['Leaf', 'Node']
Short = Leaf | Other
NL = Optional[LN]
def f(both: Leaf | Node, one: Leaf | None, many: Union[Node, Other]):
    return both.prefix + one.prefix + many.prefix
== use.py
from tree import LN, Short
from typing import Any
def g(node: LN, short: Short):
    return node.prefix, short.prefix
",
        "prefix",
        &[
            "tree.py:12 likely tree.py#Leaf.prefix tree.py#Node.prefix",
            "tree.py:12 exact tree.py#Leaf.prefix",
            "tree.py:12 likely tree.py#Node.prefix tree.py#Other.prefix",
            "use.py:4 likely tree.py#Leaf.prefix tree.py#Node.prefix",
            "use.py:4 likely tree.py#Leaf.prefix tree.py#Other.prefix",
        ],
    );
    check(
        "\
== a.ts
export class One { load() {} }
export class Two { load() {} }
export class Three { load() {} }
function f(either: One | Two, maybe: Three | undefined) { either.load(); maybe.load(); }
",
        "load",
        &["a.ts:4 likely a.ts#One.load a.ts#Two.load", "a.ts:4 exact a.ts#Three.load"],
    );
}

#[test]
fn an_imported_module_is_not_the_function_of_its_name() {
    check(
        "\
== pkg/__init__.py
== pkg/tokenize.py
LIMIT = 1
def tokenize(): pass
== pkg/driver.py
from . import tokenize
from pkg.tokenize import tokenize as run
tokenize.tokenize()
print(tokenize.LIMIT)
run()
",
        "tokenize",
        &[
            "pkg/driver.py:1 nothing",
            "pkg/driver.py:2 exact pkg/tokenize.py#tokenize",
            "pkg/driver.py:2 exact pkg/tokenize.py#tokenize",
            "pkg/driver.py:3 nothing",
            "pkg/driver.py:3 exact pkg/tokenize.py#tokenize",
            "pkg/driver.py:4 nothing",
            "pkg/driver.py:5 exact pkg/tokenize.py#tokenize",
        ],
    );
}

#[test]
fn conditions_prove_types() {
    check(
        "\
== a.py
class One:
    def load(self): pass
class Two:
    def load(self): pass
def f(value, base: One, flag):
    if isinstance(value, One) and flag:
        value.load()
    elif isinstance(value, (One, Two)):
        value.load()
    else:
        value.load()
    if not isinstance(value, Two):
        return None
    value.load()
    if isinstance(base, Two):
        base.load()
    assert isinstance(value, dict)
    value.load()
    return base.load()
",
        "load",
        &[
            "a.py:7 likely a.py#One.load",
            "a.py:9 likely a.py#One.load a.py#Two.load",
            "a.py:11 by name a.py#One.load a.py#Two.load",
            "a.py:14 likely a.py#Two.load",
            "a.py:16 likely a.py#Two.load",
            "a.py:18 by name a.py#One.load a.py#Two.load",
            "a.py:19 exact a.py#One.load",
        ],
    );
    check(
        "\
== a.ts
class One { load() {} }
class Two { load() {} }
function f(value: unknown) {
  if (value instanceof One && true) {
    value.load();
  } else if (value instanceof Two) {
    value.load();
  }
}
",
        "load",
        &["a.ts:5 likely a.ts#One.load", "a.ts:7 likely a.ts#Two.load"],
    );
    check(
        "\
== a.go
package a
type One struct{}
type Two struct{}
func (o One) Load() {}
func (t *Two) Load() {}
func f(value any) {
\tswitch it := value.(type) {
\tcase One:
\t\tit.Load()
\tcase *Two:
\t\tit.Load()
\tdefault:
\t\tit.Load()
\t}
}
",
        "Load",
        &[
            "a.go:9 exact a.go#One.Load",
            "a.go:11 exact a.go#Two.Load",
            "a.go:13 by name a.go#One.Load a.go#Two.Load",
        ],
    );
}
