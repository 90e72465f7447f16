//! Checks types of one name in different modules, packages, classes and functions.

use super::check;

#[test]
fn types_of_rust_in_modules_of_one_file() {
    check(
        "\
== src/lib.rs
mod a { pub struct Order; impl Order { pub fn total(&self) {} pub fn new() -> Self { Order } } }
mod b { pub struct Order; impl Order { pub fn total(&self) {} pub fn new() -> Self { Order } } }
use a::Order;
struct Holder { x: a::Order, y: b::Order }
fn f(o: Order) { o.total() }
fn g(o: b::Order) { o.total() }
fn h(o: &a::Order) { o.total() }
fn i(h: Holder) { h.x.total() }
fn j(h: Holder) { h.y.total() }
fn k() -> b::Order { b::Order::new() }
fn l() { k().total() }
fn m() { let o = b::Order::new(); o.total() }
fn n() { let o: Vec<X> = b::Order::new(); b::Order::total(&o) }
fn p() { Order::total(&o) }
fn q() { let o = Order::new(); o.total() }
mod c { use super::b::Order; fn f(o: Order) { o.total() } fn g(o: &crate::a::Order) { o.total() } }
",
        "total",
        &[
            "src/lib.rs:5 exact src/lib.rs#a::Order::total",
            "src/lib.rs:6 exact src/lib.rs#b::Order::total",
            "src/lib.rs:7 exact src/lib.rs#a::Order::total",
            "src/lib.rs:8 exact src/lib.rs#a::Order::total",
            "src/lib.rs:9 exact src/lib.rs#b::Order::total",
            "src/lib.rs:11 exact src/lib.rs#b::Order::total",
            "src/lib.rs:12 exact src/lib.rs#b::Order::total",
            "src/lib.rs:13 exact src/lib.rs#b::Order::total",
            "src/lib.rs:14 exact src/lib.rs#a::Order::total",
            "src/lib.rs:15 exact src/lib.rs#a::Order::total",
            "src/lib.rs:16 exact src/lib.rs#b::Order::total",
            "src/lib.rs:16 exact src/lib.rs#a::Order::total",
        ],
    );
    check(
        "\
== src/lib.rs
mod a { pub struct Order; impl Order { pub fn total(&self) {} pub fn new() -> Self { Order } } }
mod b { pub struct Order; impl Order { pub fn total(&self) {} pub fn new() -> Self { Order } } }
use a::Order;
fn f() { Order::new() }
fn g() { b::Order::new() }
fn h() { crate::b::Order::new() }
fn i() { use b::Order; Order::new() }
fn j() { use b::*; Order::new() }
fn k() { struct Order; impl Order { fn new() {} } Order::new() }
mod d { use super::b::*; fn f() { Order::new() } }
",
        "new",
        &[
            "src/lib.rs:4 exact src/lib.rs#a::Order::new",
            "src/lib.rs:5 exact src/lib.rs#b::Order::new",
            "src/lib.rs:6 exact src/lib.rs#b::Order::new",
            "src/lib.rs:7 exact src/lib.rs#b::Order::new",
            "src/lib.rs:8 exact src/lib.rs#b::Order::new",
            "src/lib.rs:9 exact src/lib.rs#k::Order::new",
            "src/lib.rs:10 exact src/lib.rs#b::Order::new",
        ],
    );
}

#[test]
fn a_written_path_of_rust_wins_over_a_use() {
    check(
        "\
== Cargo.toml
[package]
name = \"shop\"
== src/lib.rs
mod a; mod b; mod c; mod d;
== src/a.rs
pub struct Order; impl Order { pub fn new() {} }
== src/b.rs
pub struct Order; impl Order { pub fn new() {} }
== src/c.rs
use crate::a::Order;
fn f() { Order::new() }
fn g() { crate::b::Order::new() }
fn h() { super::b::Order::new() }
fn i() { other::Order::new() }
fn j() { <crate::b::Order>::new() }
fn k() { <Order as T>::new() }
fn l() { use crate::b::Order; Order::new() }
mod m { use crate::b::Order; fn f() { Order::new() } }
fn n() { use crate::b::*; Order::new() }
== src/d.rs
use crate::b::*;
use crate::a::Order;
fn f() { Order::new() }
",
        "new",
        &[
            "src/c.rs:2 exact src/a.rs#Order::new",
            "src/c.rs:3 exact src/b.rs#Order::new",
            "src/c.rs:4 exact src/b.rs#Order::new",
            "src/c.rs:5 by name src/a.rs#Order::new src/b.rs#Order::new",
            "src/c.rs:6 by name src/a.rs#Order::new src/b.rs#Order::new",
            "src/c.rs:7 by name src/a.rs#Order::new src/b.rs#Order::new",
            "src/c.rs:8 exact src/b.rs#Order::new",
            "src/c.rs:9 exact src/b.rs#Order::new",
            "src/c.rs:10 exact src/b.rs#Order::new",
            "src/d.rs:3 exact src/a.rs#Order::new",
        ],
    );
    check(
        "\
== src/lib.rs
mod a; mod b; mod c;
== src/a.rs
pub struct Order; impl Order { pub fn total(&self) {} }
== src/b.rs
pub struct Order; impl Order { pub fn total(&self) {} }
== src/c.rs
use crate::a::Order;
struct H { x: crate::b::Order }
fn f(o: Order) { o.total() }
fn g(o: crate::b::Order) { o.total() }
fn h(o: &super::b::Order) { o.total() }
fn i(h: H) { h.x.total() }
fn j() -> crate::b::Order { x }
fn k() { j().total() }
fn l() { let o: crate::b::Order = x(); o.total() }
fn m(o: other::Order) { o.total() }
fn n() { use crate::b::Order; let o: Order = x(); o.total() }
",
        "total",
        &[
            "src/c.rs:3 exact src/a.rs#Order::total",
            "src/c.rs:4 exact src/b.rs#Order::total",
            "src/c.rs:5 exact src/b.rs#Order::total",
            "src/c.rs:6 exact src/b.rs#Order::total",
            "src/c.rs:8 exact src/b.rs#Order::total",
            "src/c.rs:9 exact src/b.rs#Order::total",
            "src/c.rs:10 by name src/a.rs#Order::total src/b.rs#Order::total",
            "src/c.rs:11 exact src/b.rs#Order::total",
        ],
    );
}

#[test]
fn impls_and_exports_of_rust_mean_the_type_of_their_module() {
    check(
        "\
== src/lib.rs
mod a { pub struct Order; impl Order { pub fn total(&self) {} fn f(&self) { self.total() } fn g() { Self::total(&x) } } }
mod b { pub struct Order { pub o: super::a::Order } impl Order { pub fn total(&self) { self.o.total() } fn f(&self) { self.total() } } }
mod c { use crate::b; fn f(o: b::Order) { o.o.total(); o.total() } }
mod d { pub use crate::a::Order; }
fn f(o: d::Order) { o.total() }
impl T for b::Order { fn x(&self) { self.total() } }
",
        "total",
        &["src/lib.rs:1 exact src/lib.rs#a::Order::total", "src/lib.rs:1 exact src/lib.rs#a::Order::total", "src/lib.rs:2 exact src/lib.rs#a::Order::total", "src/lib.rs:2 exact src/lib.rs#b::Order::total", "src/lib.rs:3 exact src/lib.rs#a::Order::total", "src/lib.rs:3 exact src/lib.rs#b::Order::total", "src/lib.rs:5 by name src/lib.rs#a::Order::total src/lib.rs#b::Order::total", "src/lib.rs:6 exact src/lib.rs#b::Order::total"],
    );
    check(
        "\
== src/lib.rs
pub struct Order; impl Order { pub fn total(&self) {} }
fn f<Order: T>(o: Order) { o.total(); Order::total(&o); }
fn g(o: Order) { struct Order; impl Order { fn total(&self) {} } let o = Order; o.total(); }
fn h(o: Order) { macro_rules! m { () => {} } assert!(xs.all(|o| o.total())); }
struct S<Order>(Order); impl<Order> S<Order> { fn f(o: Order) { o.total() } }
",
        "total",
        &[
            "src/lib.rs:2 by name src/lib.rs#Order::total src/lib.rs#g::Order::total",
            "src/lib.rs:2 by name src/lib.rs#Order::total src/lib.rs#g::Order::total",
            "src/lib.rs:3 by name src/lib.rs#Order::total src/lib.rs#g::Order::total",
            "src/lib.rs:4 by name src/lib.rs#Order::total src/lib.rs#g::Order::total",
            "src/lib.rs:5 by name src/lib.rs#Order::total src/lib.rs#g::Order::total",
        ],
    );
}

#[test]
fn types_of_java_in_packages_and_classes() {
    check(
        "\
== a/Order.java
package a;
public class Order { public void total() {} public static class Line { public void total() {} } }
== b/Order.java
package b;
public class Order { public void total() {} public static class Line { public void total() {} } }
== c/One.java
package c;
import b.Order;
class One { void f(Order o) { o.total(); } void g(a.Order o) { o.total(); } void h(Order.Line l) { l.total(); } void i(a.Order.Line l) { l.total(); } }
== c/Two.java
package c;
import a.*;
class Two { void f(Order o) { o.total(); } void g() { b.Order o = x(); o.total(); } void h() { var o = new b.Order(); o.total(); } }
== b/Three.java
package b;
import a.Order.Line;
class Three { void f(Order o) { o.total(); } void g(Line l) { l.total(); } class Order { void total() {} } }
",
        "total",
        &["c/One.java:3 exact b/Order.java#Order.total", "c/One.java:3 exact a/Order.java#Order.total", "c/One.java:3 exact b/Order.java#Order.Line.total", "c/One.java:3 exact a/Order.java#Order.Line.total", "c/Two.java:3 exact a/Order.java#Order.total", "c/Two.java:3 exact b/Order.java#Order.total", "c/Two.java:3 exact b/Order.java#Order.total", "b/Three.java:3 exact b/Three.java#Three.Order.total", "b/Three.java:3 exact a/Order.java#Order.Line.total"],
    );
    check(
        "\
== p/A.java
package p;
class A { class Order { void total() {} void f() { total(); this.total(); } } void g(Order o) { o.total(); } }
== p/B.java
package p;
class B { class Order { void total() {} void f() { total(); this.total(); } } void g(A.Order o) { o.total(); new Order().total(); } }
== p/C.java
package p;
class C extends A.Order { void f() { total(); super.total(); } }
",
        "total",
        &["p/A.java:2 exact p/A.java#A.Order.total", "p/A.java:2 exact p/A.java#A.Order.total", "p/A.java:2 exact p/A.java#A.Order.total", "p/B.java:2 exact p/B.java#B.Order.total", "p/B.java:2 exact p/B.java#B.Order.total", "p/B.java:2 exact p/A.java#A.Order.total", "p/B.java:2 exact p/B.java#B.Order.total", "p/C.java:2 exact p/A.java#A.Order.total", "p/C.java:2 exact p/A.java#A.Order.total"],
    );
}

#[test]
fn local_and_nested_types_of_python() {
    check(
        "\
== a.py
class Order:
    def total(self): ...
def f():
    class Order:
        def total(self): ...
    o = Order()
    o.total()
def g():
    o = Order()
    o.total()
class Outer:
    class Order:
        def total(self): ...
def h(o: Outer.Order):
    o.total()
def i(o: Order):
    o.total()
def j():
    Outer.Order().total()
",
        "total",
        &[
            "a.py:7 exact a.py#f.Order.total",
            "a.py:10 exact a.py#Order.total",
            "a.py:15 exact a.py#Outer.Order.total",
            "a.py:17 exact a.py#Order.total",
            "a.py:19 exact a.py#Outer.Order.total",
        ],
    );
    check(
        "\
== a.py
class Outer:
    class Order:
        def total(self): ...
        def f(self):
            self.total()
class Order:
    def total(self): ...
    def f(self):
        self.total()
class Child(Outer.Order):
    def g(self):
        self.total()
class Other(Order):
    def g(self):
        self.total()
",
        "total",
        &[
            "a.py:5 exact a.py#Outer.Order.total",
            "a.py:9 exact a.py#Order.total",
            "a.py:12 exact a.py#Outer.Order.total",
            "a.py:15 exact a.py#Order.total",
        ],
    );
}

#[test]
fn local_and_imported_types_of_typescript_and_go() {
    check(
        "\
== a.ts
class Order { total() {} }
function f() { class Order { total() {} } const o = new Order(); o.total(); }
function g() { const o = new Order(); o.total(); }
namespace n { export class Order { total() {} } function h(o: Order) { o.total(); } }
function i(o: n.Order) { o.total(); }
function j<Order>(o: Order) { o.total(); }
type X = Order;
function k(o: X) { o.total(); }
type Y = n.Order;
function l(o: Y) { o.total(); }
",
        "total",
        &[
            "a.ts:2 exact a.ts#f.Order.total",
            "a.ts:3 exact a.ts#Order.total",
            "a.ts:4 exact a.ts#n.Order.total",
            "a.ts:5 exact a.ts#n.Order.total",
            "a.ts:6 by name a.ts#Order.total a.ts#f.Order.total a.ts#n.Order.total",
            "a.ts:8 exact a.ts#Order.total",
            "a.ts:10 exact a.ts#n.Order.total",
        ],
    );
    check(
        "\
== a.ts
export class Order { total() {} }
== b.ts
export class Order { total() {} }
== c.ts
import { Order } from './a';
import * as b from './b';
import { Order as B } from './b';
function f(o: Order, p: b.Order, q: B) { o.total(); p.total(); q.total(); }
function g() { class Order { total() {} } const o = new Order(); o.total(); new Order().total(); }
type Q = b.Order; function h(q: Q) { q.total(); }
function i<B extends b.Order>(q: B) { q.total(); }
",
        "total",
        &[
            "c.ts:4 exact a.ts#Order.total",
            "c.ts:4 exact b.ts#Order.total",
            "c.ts:4 exact b.ts#Order.total",
            "c.ts:5 exact c.ts#g.Order.total",
            "c.ts:5 exact c.ts#g.Order.total",
            "c.ts:6 exact b.ts#Order.total",
            "c.ts:7 by name a.ts#Order.total b.ts#Order.total c.ts#g.Order.total",
        ],
    );
    check(
        "\
== a.go
package a
type Order struct{}
func (o *Order) total() {}
func f() {
	type Order struct{ x int }
	var o Order
	o.total()
	g(func(o *Order) { o.total() })
}
func g[Order any](o Order) { o.total() }
func h(x any) {
	for _, x := range list() { if o, ok := x.(*Order); ok { o.total() } }
}
",
        "total",
        &[
            "a.go:7 by name a.go#Order.total",
            "a.go:8 by name a.go#Order.total",
            "a.go:10 by name a.go#Order.total",
            "a.go:12 by name a.go#Order.total",
        ],
    );
}
