//! Checks that keys of literals and patterns mean the fields of their types.

use super::check;

#[test]
fn shorthands_and_patterns_of_rust() {
    let repository = "\
== a.rs
struct S { total: u32, x: u32 }
struct Other { total: u32 }
fn f(s: S, total: u32) {
    let S { total: t, x } = s;
    let S { total, .. } = s;
    let a = S { total, x: 1 };
    let b = S { x: total, total: 2 };
    match s {
        S { total: 0, .. } => 1,
        S { ref total, x } => 2,
        other => 3,
    }
}
impl S { fn new(total: u32) -> Self { Self { total, x: 1 } } }
fn g(Other { total }: Other) { println!(\"{}\", total); }
";
    let expected = [4, 5, 6, 7, 9, 10, 14].map(|line| format!("a.rs:{line} exact a.rs#S::total"));
    let expected: Vec<&str> =
        expected.iter().map(String::as_str).chain(["a.rs:15 exact a.rs#Other::total"]).collect();
    check(repository, "total", &expected);
}

#[test]
fn variants_with_fields() {
    check(
        "\
== a.rs
enum Event { Opened { path: String }, Closed { path: String } }
fn f(event: Event, path: String) -> Event {
    match event {
        Event::Opened { path } => Event::Closed { path },
        Event::Closed { path: p } => Event::Opened { path: p },
    }
}
",
        "path",
        &[
            "a.rs:4 exact a.rs#Event::Opened::path",
            "a.rs:4 exact a.rs#Event::Closed::path",
            "a.rs:5 exact a.rs#Event::Closed::path",
            "a.rs:5 exact a.rs#Event::Opened::path",
        ],
    );
}

#[test]
fn literals_in_macros() {
    check(
        "\
== a.rs
pub struct S { pub total: u32 }
== b.rs
use crate::a::{self, S};
fn f(total: u32, s: S) {
    let v = vec![S { total: 1 }, a::S { total }];
    assert_eq!(s.total, S { total, ..s }.total);
    assert!(matches!(s, S { total: 0 }));
    log!(now, Other { total: 3 });
    run! { total: total }
}
== lib.rs
mod a;
mod b;
",
        "total",
        &[
            "b.rs:3 exact a.rs#S::total",
            "b.rs:3 exact a.rs#S::total",
            "b.rs:4 exact a.rs#S::total",
            "b.rs:4 exact a.rs#S::total",
            "b.rs:4 by name a.rs#S::total",
            "b.rs:5 exact a.rs#S::total",
            "b.rs:6 nothing",
        ],
    );
}

#[test]
fn components_of_records_are_called() {
    check(
        "\
== Order.java
record Order(int total, String name) {
  int twice() { return total + total(); }
  static int sum(Order order, Object other) {
    if (other instanceof Order(int total, String n)) { return total; }
    if (other instanceof Order second) { return second.total(); }
    return order.total() + order.total(1) + this.total;
  }
}
record Line(int total) { public int total() { return this.total; } }
class Use { int of(Line line) { return line.total(); } }
",
        "total",
        &[
            "Order.java:2 exact Order.java#Order.total",
            "Order.java:2 exact Order.java#Order.total",
            "Order.java:5 exact Order.java#Order.total",
            "Order.java:6 exact Order.java#Order.total",
            "Order.java:6 nothing",
            "Order.java:6 exact Order.java#Order.total",
            "Order.java:9 exact Order.java#Line.total:9",
            "Order.java:10 exact Order.java#Line.total:9",
        ],
    );
}

#[test]
fn labels_of_a_switch_are_constants_of_the_enum() {
    check(
        "\
== Color.java
enum Color { RED, GREEN;
  int own() { switch (this) { case RED: return 1; default: return 0; } }
}
enum Signal { RED }
class Use {
  static final int BLUE = 1;
  Color color() { return Color.RED; }
  int of(Color color, Signal signal) {
    switch (color) { case RED: return 1; case GREEN: break; }
    switch (signal) { case RED: return 3; }
    return switch (this.color()) { case RED, GREEN -> 1; };
  }
}
",
        "RED",
        &[
            "Color.java:2 exact Color.java#Color.RED",
            "Color.java:2 exact Color.java#Color.RED",
            "Color.java:7 exact Color.java#Color.RED",
            "Color.java:9 exact Color.java#Color.RED",
            "Color.java:9 nothing",
            "Color.java:10 exact Color.java#Signal.RED",
            "Color.java:10 nothing",
            "Color.java:11 exact Color.java#Color.RED",
            "Color.java:11 nothing",
        ],
    );
}

#[test]
fn designators_of_c() {
    let repository = "\
== sink.h
struct sink { int total; int (*cb)(void); };
typedef struct sink sink_t;
typedef struct sink *sink_p;
typedef struct { int total; } other_t;
typedef struct named { int total; } named_t;
struct outer { struct sink inner; other_t rest[2]; };
== a.c
#include \"sink.h\"
struct sink a = { .total = 1 };
static sink_t b = { .total = 2 };
other_t c = { .total = 3 };
void f(sink_p p, sink_t *q) {
  *p = (struct sink){ .total = 1 };
  use(&(sink_t){ .total = 2 });
  struct sink list[] = { { .total = 1 }, [3] = { .total = 4 } };
  struct outer o = { .inner = { .total = 1 }, .rest = { { .total = 2 } } };
  struct outer n = { .inner.total = 1 };
  named_t d = { .total = 5 };
  p->total = q->total;
}
";
    check(
        repository,
        "total",
        &[
            "a.c:2 exact sink.h#sink::total",
            "a.c:3 exact sink.h#sink::total",
            "a.c:4 exact sink.h#other_t::total",
            "a.c:6 exact sink.h#sink::total",
            "a.c:7 exact sink.h#sink::total",
            "a.c:8 exact sink.h#sink::total",
            "a.c:8 exact sink.h#sink::total",
            "a.c:9 exact sink.h#sink::total",
            "a.c:9 exact sink.h#other_t::total",
            "a.c:10 exact sink.h#sink::total",
            "a.c:11 exact sink.h#named_t::total",
            "a.c:12 exact sink.h#sink::total",
            "a.c:12 exact sink.h#sink::total",
        ],
    );
}

#[test]
fn keys_of_go_without_a_type() {
    check(
        "\
== a.go
package a
type Inner struct { Total int }
type Other struct { Total int }
type List []Inner
var a = []Inner{{Total: 1}}
var b = map[string]*Inner{\"x\": {Total: 4}}
var c = []struct{ In Inner; Total int }{{In: Inner{Total: 5}, Total: 1}}
var d = map[Inner]Other{{Total: 8}: {Total: 9}}
var e = [][]Inner{{{Total: 1}}}
var f = List{{Total: 6}}
",
        "Total",
        &[
            "a.go:5 exact a.go#Inner.Total",
            "a.go:6 exact a.go#Inner.Total",
            "a.go:7 exact a.go#Inner.Total",
            "a.go:8 exact a.go#Inner.Total",
            "a.go:8 exact a.go#Other.Total",
            "a.go:9 exact a.go#Inner.Total",
            "a.go:10 by name a.go#Inner.Total a.go#Other.Total",
        ],
    );
}

#[test]
fn types_pass_on_what_they_inherit() {
    check(
        "\
== Base.java
class Base { static int limit() { return 1; } }
class Middle extends Base {}
class Child extends Middle {}
class Use { int f() { return Child.limit() + Unknown.limit(); } }
",
        "limit",
        &["Base.java:4 exact Base.java#Base.limit", "Base.java:4 nothing"],
    );
    check(
        "\
== a.ts
export class Base { static limit() {} }
== b.ts
import { Base } from './a';
class Child extends Base {}
Child.limit();
",
        "limit",
        &["b.ts:3 exact a.ts#Base.limit"],
    );
    check(
        "\
== a.rs
pub trait Load { fn load() -> u8 { 1 } }
pub struct One;
impl Load for One {}
fn f() { One::load(); }
",
        "load",
        &["a.rs:4 exact a.rs#Load::load"],
    );
}

#[test]
fn another_name_of_a_class_has_its_members() {
    check(
        "\
== a.hpp
struct Shape { int area() const; int size; };
using Figure = Shape;
typedef const Shape* Handle;
struct Square : Figure { int twice() { return area() + size; } };
int f(const Figure& figure, Handle handle) { return figure.size + handle->size; }
",
        "size",
        &[
            "a.hpp:4 exact a.hpp#Shape::size",
            "a.hpp:5 exact a.hpp#Shape::size",
            "a.hpp:5 exact a.hpp#Shape::size",
        ],
    );
}
