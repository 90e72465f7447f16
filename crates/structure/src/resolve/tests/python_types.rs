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
