//! Checks attributes of Python that keywords, strings and patterns name, and calls of values.

use super::check;

#[test]
fn calls_of_values_call_their_type() {
    check(
        "\
== a.py
class Loader:
    def __call__(self, path): return path
class Child(Loader): pass
class Other:
    def __call__(self): pass
class Holder:
    def __init__(self, other: Other):
        self.load = Loader()
        self.other = other
    def run(self): return self.load(1), self.other()
def f(load: Loader, plain):
    child = Child()
    child(2)
    load(3); plain(4)
    return Loader()(5)
",
        "__call__",
        &[
            "a.py:10 exact a.py#Loader.__call__",
            "a.py:13 exact a.py#Loader.__call__",
            "a.py:14 exact a.py#Loader.__call__",
            "a.py:15 exact a.py#Loader.__call__",
        ],
    );
}

#[test]
fn strings_name_attributes() {
    check(
        "\
== shop/orders.py
class Order:
    total = 1
    def add(self): pass
def load_order(): pass
== use.py
from unittest import mock
from shop import orders
from shop.orders import Order
def test_it(monkeypatch, mocker, order: Order):
    getattr(order, 'total')
    setattr(order, 'total', 2)
    hasattr(Order, 'total')
    monkeypatch.setattr(order, 'total', 3)
    mock.patch.object(Order, 'total')
    getattr(order, 'sum')
    getattr(order, total)
    mocker.patch('shop.orders.Order.total')
",
        "total",
        &[
            "use.py:5 exact shop/orders.py#Order.total",
            "use.py:6 exact shop/orders.py#Order.total",
            "use.py:7 exact shop/orders.py#Order.total",
            "use.py:8 exact shop/orders.py#Order.total",
            "use.py:9 exact shop/orders.py#Order.total",
            "use.py:11 nothing",
            "use.py:12 exact shop/orders.py#Order.total",
        ],
    );
    check(
        "\
== shop/orders.py
def load_order(): pass
== other/orders.py
def load_order(): pass
== use.py
from shop import orders
@mock.patch('shop.orders.load_order')
def test_first(fake): pass
def test_second(monkeypatch, mocker):
    monkeypatch.setattr('other.orders.load_order', None)
    mocker.patch('shop.orders.load_order', return_value=1)
    mocker.spy(orders, 'load_order')
    mocker.patch('elsewhere.load_order')
",
        "load_order",
        &[
            "use.py:2 exact shop/orders.py#load_order",
            "use.py:5 exact other/orders.py#load_order",
            "use.py:6 exact shop/orders.py#load_order",
            "use.py:7 exact shop/orders.py#load_order",
            "use.py:8 nothing",
        ],
    );
}

#[test]
fn keywords_of_copies_bases_and_patterns() {
    check(
        "\
== a.py
import dataclasses
@dataclasses.dataclass
class Base:
    total: int = 1
class Child(Base): pass
class Pair(NamedTuple):
    total: int
def f(child: Child, pair: Pair, text: str, value):
    Child(total=1)
    dataclasses.replace(child, total=2)
    attrs.evolve(pair, total=3)
    pair._replace(total=4)
    text.format(total=5)
    match value:
        case Child(total=0): return 1
        case Pair(total=total): return total
    return Child.total
",
        "total",
        &[
            "a.py:9 exact a.py#Base.total",
            "a.py:10 exact a.py#Base.total",
            "a.py:11 exact a.py#Pair.total",
            "a.py:12 exact a.py#Pair.total",
            "a.py:15 exact a.py#Base.total",
            "a.py:16 exact a.py#Pair.total",
            "a.py:17 exact a.py#Base.total",
        ],
    );
}

#[test]
fn global_names_and_names_set_together() {
    check(
        "\
== a.py
__all__ = ['total', 'f']
total, other = 1, 2
def f():
    global total
    total = 3
    return total
def g():
    total = 4
    return total
class Point:
    x, y = 1, 2
def h(p: Point):
    return p.x
== b.py
from a import total
print(total)
",
        "total",
        &[
            "a.py:1 exact a.py#total",
            "a.py:4 exact a.py#total",
            "a.py:5 exact a.py#total",
            "a.py:6 exact a.py#total",
            "b.py:1 exact a.py#total",
            "b.py:2 exact a.py#total",
        ],
    );
    check(
        "== a.py\nclass Point:\n    x, y = 1, 2\ndef h(p: Point):\n    return p.y\n",
        "y",
        &["a.py:4 exact a.py#Point.y"],
    );
}

#[test]
fn own_types_are_named_through_modules() {
    check(
        "\
== a.py
import typing as t
class Policy:
    def from_header(cls, text) -> t.Self | None: pass
    def __enter__(self) -> t.Self: pass
    def size(self): pass
def update(self: Policy):
    return self.size()
def f():
    policy = Policy.from_header('')
    policy.size()
    with Policy() as other:
        other.size()
",
        "size",
        &[
            "a.py:7 exact a.py#Policy.size",
            "a.py:10 exact a.py#Policy.size",
            "a.py:12 exact a.py#Policy.size",
        ],
    );
}

#[test]
fn names_are_fixtures_only_if_they_are_passed_on() {
    check(
        "\
== conftest.py
pytest_plugins = ['plugin']
== plugin.py
@pytest.fixture
def db(): pass
== sub/conftest.py
@pytest.fixture
def db(): pass
== sub/test_a.py
def test_a(db): pass
@pytest.mark.parametrize('db', [], indirect=['db'])
def test_b(db): pass
@pytest.mark.parametrize('db, x', [], indirect=['x'])
def test_c(db, x): pass
@pytest.mark.parametrize('db', [], indirect=False)
def test_d(db): pass
== test_b.py
def test_a(db): pass
",
        "db",
        &[
            "sub/test_a.py:1 exact sub/conftest.py#db",
            "sub/test_a.py:3 exact sub/conftest.py#db",
            "test_b.py:1 exact plugin.py#db",
        ],
    );
}

#[test]
fn types_that_calls_make_have_fields() {
    check(
        "\
== a.py
from collections import namedtuple
import enum
Point = namedtuple('Point', 'width, height')
Row = NamedTuple('Row', [('width', int), ('other', int)])
Color = enum.Enum('Color', ['width', 'RED'])
Movie = TypedDict('Movie', {'width': int})
class Box(namedtuple('Box', 'width depth')):
    def area(self): return self.width
label = namedtuple_like('Label', 'width')
def f(point: Point, row: Row):
    other = Point(width=1, height=2)
    return point.width, row.width, Color.width, other.width, point._replace(width=3)
",
        "width",
        &[
            "a.py:8 exact a.py#Box.width",
            "a.py:11 exact a.py#Point.width",
            "a.py:12 exact a.py#Point.width",
            "a.py:12 exact a.py#Row.width",
            "a.py:12 exact a.py#Color.width",
            "a.py:12 exact a.py#Point.width",
            "a.py:12 exact a.py#Point.width",
        ],
    );
}
