//! Checks what the fakes of tests replace, by the path or the object that they name.

use super::check;

#[test]
fn a_fake_replaces_what_its_path_names() {
    check(
        "\
== a.py
def total(): ...
class Order:
    def total(self): ...
== b.py
def total(): ...
class Order:
    def total(self): ...
== t.py
from unittest import mock
from unittest.mock import patch
import a
import b
from b import Order
@mock.patch(\"a.total\")
def test_one(m): ...
@mock.patch(\"b.total\")
def test_two(m): ...
@patch(\"a.Order.total\")
def test_three(m): ...
@patch.object(b, \"total\")
def test_four(m): ...
@patch.object(Order, \"total\")
def test_five(m): ...
@patch.object(a.Order, \"total\")
def test_six(m): ...
def test_seven(mocker, monkeypatch):
    mocker.patch(\"b.Order.total\")
    monkeypatch.setattr(a, \"total\", 1)
    monkeypatch.setattr(\"a.Order.total\", 1)
    mocker.patch(\"x.total\")
    mocker.patch.object(unknown, \"total\")
",
        "total",
        &[
            "t.py:6 exact a.py#total",
            "t.py:8 exact b.py#total",
            "t.py:10 exact a.py#Order.total",
            "t.py:12 exact b.py#total",
            "t.py:14 exact b.py#Order.total",
            "t.py:16 exact a.py#Order.total",
            "t.py:19 exact b.py#Order.total",
            "t.py:20 exact a.py#total",
            "t.py:21 exact a.py#Order.total",
            "t.py:22 nothing",
            "t.py:23 by name a.py#Order.total b.py#Order.total",
        ],
    );
}

#[test]
fn a_fake_follows_the_imports_of_its_module() {
    check(
        "\
== shop/__init__.py
from .cart import total
== shop/cart.py
def total(): ...
class Cart:
    def total(self): ...
== shop/bill.py
from shop.cart import total
from shop.cart import Cart as C
def f(): return total()
== other/cart.py
def total(): ...
class Cart:
    def total(self): ...
== other/__init__.py
== tests/t.py
from unittest.mock import patch
import shop.bill
from shop import bill
@patch(\"shop.bill.total\")
def test_a(m): ...
@patch(\"other.cart.total\")
def test_b(m): ...
@patch(\"shop.total\")
def test_c(m): ...
@patch.object(bill, \"total\")
def test_e(m): ...
@patch.object(shop.bill, \"total\")
def test_f(m): ...
@patch(\"requests.total\")
def test_g(m): ...
",
        "total",
        &[
            "shop/__init__.py:1 exact shop/cart.py#total",
            "shop/bill.py:1 exact shop/cart.py#total",
            "shop/bill.py:3 exact shop/cart.py#total",
            "tests/t.py:4 exact shop/cart.py#total",
            "tests/t.py:6 exact other/cart.py#total",
            "tests/t.py:8 exact shop/cart.py#total",
            "tests/t.py:10 exact shop/cart.py#total",
            "tests/t.py:12 exact shop/cart.py#total",
            "tests/t.py:14 nothing",
        ],
    );
}
