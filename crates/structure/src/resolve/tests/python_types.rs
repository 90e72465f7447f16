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
