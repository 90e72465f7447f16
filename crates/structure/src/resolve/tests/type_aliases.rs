//! Checks the members of types that have another name.

use super::check;

#[test]
fn aliases_of_python() {
    check(
        "\
== a.py
class Order:
    def total(self): ...
Alias = Order
class Line:
    def total(self): ...
def f(o: Alias):
    o.total()
def g():
    o = Alias()
    o.total()
def h():
    Alias.total(1)
== b.py
from a import Alias, Line as L
def f(o: Alias):
    o.total()
def g(o: L):
    o.total()
",
        "total",
        &[
            "a.py:7 exact a.py#Order.total",
            "a.py:10 exact a.py#Order.total",
            "a.py:12 exact a.py#Order.total",
            "b.py:3 exact a.py#Order.total",
            "b.py:5 exact a.py#Line.total",
        ],
    );
}

#[test]
fn aliases_of_go_and_rust() {
    check(
        "\
== go.mod
module m
== a/a.go
package a
type Order struct{ Sum int }
func (o *Order) Total() {}
== b/b.go
package b
import \"m/a\"
type Order struct{}
func (o *Order) Total() {}
type X = a.Order
type Y = Order
func f(x *X, y *Y, z *a.Order) {
	x.Total()
	y.Total()
	z.Total()
}
func g() {
	type Order struct{ a.Order }
	var o Order
	o.Total()
}
",
        "Total",
        &[
            "b/b.go:8 exact a/a.go#Order.Total",
            "b/b.go:9 exact b/b.go#Order.Total",
            "b/b.go:10 exact a/a.go#Order.Total",
            "b/b.go:15 exact a/a.go#Order.Total",
        ],
    );
    check(
        "\
== src/lib.rs
pub struct Order; impl Order { pub fn total(&self) {} }
pub struct Line; impl Line { pub fn total(&self) {} }
type X = Order;
type Y = crate::Line;
fn f(x: X, y: &Y) { x.total(); y.total(); X::total(&x); }
",
        "total",
        &[
            "src/lib.rs:5 exact src/lib.rs#Order::total",
            "src/lib.rs:5 exact src/lib.rs#Line::total",
            "src/lib.rs:5 exact src/lib.rs#Order::total",
        ],
    );
}
