//! Checks functions, types and fields that a path or a scope tells from others of their name.

use super::check;

#[test]
fn functions_and_types_of_rust_in_modules() {
    check(
        "\
== src/lib.rs
mod a { pub fn load() {} pub fn x() { load() } }
mod b { pub fn load() {} pub fn x() { self::load(); super::a::load(); super::load() } }
mod c { use super::b::load; pub fn x() { load() } }
mod d { use super::b::*; pub fn x() { load() } }
use a::load;
fn f() { load(); b::load(); crate::b::load(); a::load() }
fn g() { use b::load; load() }
fn h() { use b::*; load() }
fn i() { fn load() {} load() }
",
        "load",
        &[
            "src/lib.rs:1 exact src/lib.rs#a::load",
            "src/lib.rs:2 exact src/lib.rs#b::load",
            "src/lib.rs:2 exact src/lib.rs#a::load",
            "src/lib.rs:2 exact src/lib.rs#a::load",
            "src/lib.rs:3 nothing",
            "src/lib.rs:3 exact src/lib.rs#b::load",
            "src/lib.rs:4 exact src/lib.rs#b::load",
            "src/lib.rs:5 nothing",
            "src/lib.rs:6 exact src/lib.rs#a::load",
            "src/lib.rs:6 exact src/lib.rs#b::load",
            "src/lib.rs:6 exact src/lib.rs#b::load",
            "src/lib.rs:6 exact src/lib.rs#a::load",
            "src/lib.rs:7 nothing",
            "src/lib.rs:7 exact src/lib.rs#b::load",
            "src/lib.rs:8 exact src/lib.rs#b::load",
            "src/lib.rs:9 exact src/lib.rs#i::load",
        ],
    );
    check(
        "\
== src/lib.rs
mod a { pub struct Order; pub fn x(o: Order) {} }
mod b { pub struct Order; pub fn x() -> Order { Order } }
use a::Order;
fn f(o: Order) {}
fn g(o: b::Order) {}
fn h(o: crate::b::Order) { let o = Order; use b::Order; let p = Order; }
",
        "Order",
        &[
            "src/lib.rs:1 exact src/lib.rs#a::Order",
            "src/lib.rs:2 exact src/lib.rs#b::Order",
            "src/lib.rs:2 exact src/lib.rs#b::Order",
            "src/lib.rs:3 nothing",
            "src/lib.rs:4 exact src/lib.rs#a::Order",
            "src/lib.rs:5 exact src/lib.rs#b::Order",
            "src/lib.rs:6 exact src/lib.rs#b::Order",
            "src/lib.rs:6 exact src/lib.rs#b::Order",
            "src/lib.rs:6 nothing",
            "src/lib.rs:6 exact src/lib.rs#b::Order",
        ],
    );
}

#[test]
fn functions_and_types_of_namespaces() {
    check(
        "\
== a.cpp
namespace a { void load() {} void x() { load(); } }
namespace b { void load() {} void x() { load(); a::load(); } }
void f() { a::load(); b::load(); ::b::load(); }
using b::load;
void g() { load(); }
void h() { using namespace a; load(); }
namespace z = a;
void i() { z::load(); }
",
        "load",
        &[
            "a.cpp:1 exact a.cpp#a::load",
            "a.cpp:2 exact a.cpp#b::load",
            "a.cpp:2 exact a.cpp#a::load",
            "a.cpp:3 exact a.cpp#a::load",
            "a.cpp:3 exact a.cpp#b::load",
            "a.cpp:3 exact a.cpp#b::load",
            "a.cpp:4 exact a.cpp#b::load",
            "a.cpp:5 exact a.cpp#b::load",
            "a.cpp:6 exact a.cpp#a::load",
            "a.cpp:8 exact a.cpp#a::load",
        ],
    );
    check(
        "\
== a.cpp
namespace a { struct Order {}; void x(Order o) {} }
namespace b { struct Order {}; void x(Order o) {} }
void f(a::Order o, b::Order p) {}
void g() { using namespace b; Order o; }
",
        "Order",
        &[
            "a.cpp:1 exact a.cpp#a::Order",
            "a.cpp:2 exact a.cpp#b::Order",
            "a.cpp:3 exact a.cpp#a::Order",
            "a.cpp:3 exact a.cpp#b::Order",
            "a.cpp:4 exact a.cpp#b::Order",
        ],
    );
}

#[test]
fn a_type_of_java_with_its_package() {
    check(
        "\
== p/Order.java
package p;
public class Order {}
== q/Order.java
package q;
public class Order {}
== r/A.java
package r;
import p.Order;
class A { Order a; q.Order b; void f() { new Order(); new q.Order(); } }
== r/B.java
package r;
import q.*;
class B { Order a; class C { class Order {} Order b; } }
",
        "Order",
        &[
            "r/A.java:2 exact p/Order.java#Order",
            "r/A.java:3 exact p/Order.java#Order",
            "r/A.java:3 exact q/Order.java#Order",
            "r/A.java:3 exact p/Order.java#Order",
            "r/A.java:3 exact q/Order.java#Order",
            "r/B.java:3 exact q/Order.java#Order",
            "r/B.java:3 exact r/B.java#B.C.Order",
        ],
    );
}

#[test]
fn functions_in_functions_and_in_namespaces() {
    check(
        "\
== a.py
def load(): ...
def f():
    def load(): ...
    load()
def g():
    load()
class A:
    def load(self): ...
    def h(self):
        load()
",
        "load",
        &["a.py:4 exact a.py#f.load", "a.py:6 exact a.py#load", "a.py:10 exact a.py#load"],
    );
    check(
        "\
== a.ts
export function load() {}
namespace n { export function load() {} load(); }
function f() { function load() {} load(); }
n.load(); load();
",
        "load",
        &["a.ts:2 exact a.ts#n.load", "a.ts:3 exact a.ts#f.load", "a.ts:4 nothing", "a.ts:4 exact a.ts#load"],
    );
}

#[test]
fn fields_of_variables_that_hide_others() {
    check(
"\
== a.rs
struct Order { total: u8 }
struct Line { total: u8 }
fn f(o: &Order, xs: Vec<Line>) { xs.iter().map(|o| o.total); xs.iter().filter(|Line { total, .. }| *total); o.total; for o in xs { o.total = 1; } }
",
"total",
&["a.rs:3 exact a.rs#Line::total", "a.rs:3 exact a.rs#Line::total", "a.rs:3 exact a.rs#Order::total", "a.rs:3 exact a.rs#Line::total"],
);
    check(
"\
== a.go
package a
type Order struct { total int }
type Line struct { total int }
func f(o *Order, xs []X) { for _, o := range xs { o.total = 1 }; _ = o.total }
== b.java
class Order { int total; }
class Line { int total; }
class F { void f(Order o, java.util.List<X> xs) { xs.forEach(o1 -> { var p = o1; p.total = 1; }); o.total = 2; } }
",
"total",
&["a.go:4 by name a.go#Order.total a.go#Line.total", "a.go:4 exact a.go#Order.total", "b.java:3 by name b.java#Order.total b.java#Line.total", "b.java:3 exact b.java#Order.total"],
);
    check(
        "\
== a.vue
<script setup lang=\"ts\">
import { Order } from './o'
const o = new Order()
function f(xs) { xs.map(o => o.total()); o.total() }
</script>
<template><div v-for=\"o in xs\">{{ o.total() }}</div><p>{{ o.total() }}</p></template>
== o.ts
export class Order { total() {} }
export class Line { total() {} }
",
        "total",
        &[
            "a.vue:4 by name o.ts#Order.total o.ts#Line.total",
            "a.vue:4 exact o.ts#Order.total",
            "a.vue:6 by name o.ts#Order.total o.ts#Line.total",
            "a.vue:6 exact o.ts#Order.total",
        ],
    );
}
