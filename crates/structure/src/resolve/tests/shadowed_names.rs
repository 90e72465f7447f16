//! Checks variables that hide others of their name, each with its own type.

use super::check;

#[test]
fn what_python_binds_inside_hides_the_outer_type() {
    let types = "\
class Order:
    def total(self): ...
class Line:
    def total(self): ...
class Broken(Exception):
    def total(self): ...
";
    let check_in = |body: &str, expected: &[&str]| {
        check(&format!("== a.py\n{types}{body}"), "total", expected);
    };
    let (order, line, by_name) = (
        "exact a.py#Order.total",
        "exact a.py#Line.total",
        "by name a.py#Order.total a.py#Line.total a.py#Broken.total",
    );
    let at = |nth: usize, what: &str| format!("a.py:{nth} {what}");
    check_in(
        "def f(o: Order, xs):\n    [o.total() for o in xs]\n    o.total()\n",
        &[&at(8, by_name), &at(9, order)],
    );
    check_in(
        "def f(o: Order, xs):\n    {o.total(): 1 for o in xs}; any(o.total() for o in xs)\n    o.total()\n",
        &[&at(8, by_name), &at(8, by_name), &at(9, order)],
    );
    check_in(
        "def f(o: Order):\n    g(lambda o: o.total())\n    g(lambda p: o.total())\n",
        &[&at(8, by_name), &at(9, order)],
    );
    check_in(
        "def f(o: Order, xs):\n    o.total()\n    for o in xs: o.total()\n    o.total()\n",
        &[&at(8, "likely a.py#Order.total"), &at(9, by_name), &at(10, by_name)],
    );
    check_in(
        "def f(e: Order):\n    try:\n        e.total()\n    except Broken as e:\n        e.total()\n",
        &[&at(9, "likely a.py#Order.total"), &at(11, "exact a.py#Broken.total")],
    );
    check_in(
        "def f(x):\n    try:\n        g()\n    except Broken as e: e.total()\n",
        &[&at(10, "exact a.py#Broken.total")],
    );
    check_in(
        "def f(x):\n    try:\n        g()\n    except (Broken, KeyError) as e:\n        e.total()\n",
        &[&at(11, "likely a.py#Broken.total")],
    );
    check_in(
        "def f(o: Order, x):\n    if (o := x()) and o.total():\n        o.total()\n",
        &[&at(8, by_name), &at(9, by_name)],
    );
    check_in("def f(o: Order, x):\n    if o := Line():\n        o.total()\n", &[&at(9, line)]);
    check_in(
        "def f(o: Order, x):\n    match x:\n        case [o, *_]: o.total()\n        case Line() as o:\n            o.total()\n",
        &[&at(9, by_name), &at(11, line)],
    );
    check_in("def f(o: Order, x):\n    o, p = x\n    o.total()\n", &[&at(9, by_name)]);
    check_in("def f(o: Order, x):\n    o = x[0]\n    o.total()\n", &[&at(9, by_name)]);
    check_in(
        "o = Order()\ndef f(o):\n    o.total()\ndef g():\n    o.total()\n",
        &[&at(9, by_name), &at(11, order)],
    );
    check_in(
        "def f(o: Order):\n    def g(o):\n        return o.total()\n    def h():\n        return o.total()\n",
        &[&at(9, by_name), &at(11, order)],
    );
    check_in("def f(o: Order, x):\n    with x() as o:\n        o.total()\n", &[&at(9, by_name)]);
    check_in("def f(Order):\n    Order.total(1)\n    Order().total()\n", &[&at(8, by_name), &at(9, by_name)]);
    check_in("o = None\ndef f():\n    global o\n    o = Order()\n    o.total()\n", &[&at(11, order)]);
}

#[test]
fn what_javascript_binds_inside_hides_the_outer_type() {
    let types = "\
export class Order { total() {} }
export class Line { total() {} }
";
    let check_in = |body: &str, expected: &[&str]| {
        check(&format!("== a.ts\n{types}{body}"), "total", expected);
    };
    let order = "a.ts:3 exact a.ts#Order.total";
    let line = "a.ts:3 exact a.ts#Line.total";
    let by_name = "a.ts:3 by name a.ts#Order.total a.ts#Line.total";
    check_in("function f(o: Order, xs) { xs.map(o => o.total()); o.total(); }\n", &[by_name, order]);
    check_in("function f(o: Order, xs) { xs.map((o: Line) => o.total()); o.total(); }\n", &[line, order]);
    check_in("function f(o: Order, xs) { for (const o of xs) o.total(); o.total(); }\n", &[by_name, order]);
    check_in(
        "function f(o: Order, xs) { for (const [, o] of xs) { o.total(); } o.total(); }\n",
        &[by_name, order],
    );
    check_in("function f(o: Order, x) { { const { o } = x; o.total(); } o.total(); }\n", &[by_name, order]);
    check_in(
        "function f(o: Order, x) { if (x) { let o = new Line(); o.total(); } o.total(); }\n",
        &[line, order],
    );
    check_in(
        "function f(o: Order, x) { try { x(); } catch (o) { o.total(); } o.total(); }\n",
        &[by_name, order],
    );
    check_in("function f(o: Order, x) { x(function (o) { o.total(); }); o.total(); }\n", &[by_name, order]);
    check_in("const f = (o: Order, x) => { x(({ o }) => o.total()); o.total(); }\n", &[by_name, order]);
    check_in("const o = new Order(); const f = (o) => o.total(); o.total();\n", &[by_name, order]);
    check_in("function f(Order, o: Line) { Order.total(); o.total(); }\n", &[by_name, line]);
    check_in("class A { o: Order; f() { [1].map(o => o.total()); this.o.total(); } }\n", &[by_name, order]);
}

#[test]
fn what_rust_binds_inside_hides_the_outer_type() {
    let types = "\
pub struct Order; impl Order { pub fn total(&self) {} }
pub struct Line; impl Line { pub fn total(&self) {} }
";
    let check_in = |body: &str, expected: &[&str]| {
        check(&format!("== src/lib.rs\n{types}{body}"), "total", expected);
    };
    let order = "src/lib.rs:3 exact src/lib.rs#Order::total";
    let line = "src/lib.rs:3 exact src/lib.rs#Line::total";
    let by_name = "src/lib.rs:3 by name src/lib.rs#Order::total src/lib.rs#Line::total";
    check_in("fn f(o: Order, xs: X) { xs.map(|o| o.total()); o.total(); }\n", &[by_name, order]);
    check_in("fn f(o: Order, xs: X) { xs.map(|o: &Line| o.total()); o.total(); }\n", &[line, order]);
    check_in("fn f(o: Order, xs: X) { for o in xs { o.total(); } o.total(); }\n", &[by_name, order]);
    check_in(
        "fn f(o: Order, x: X) { if let Some(o) = x.get() { o.total(); } o.total(); }\n",
        &[by_name, order],
    );
    check_in(
        "fn f(o: Order, x: X) { while let Some((_, o)) = x.next() { o.total(); } o.total(); }\n",
        &[by_name, order],
    );
    check_in(
        "fn f(o: Order, x: X) { match x { X::A(o) if o.total() => o.total(), _ => o.total() } }\n",
        &[by_name, by_name, order],
    );
    check_in(
        "fn f(o: Order, x: X) { { let o = x.get(o.total()); o.total(); } o.total(); }\n",
        &[order, by_name, order],
    );
    check_in("fn f(o: Order) { let o: Line = o.total(); o.total(); }\n", &[order, line]);
    check_in("fn f(o: Order, x: X) { let (o, _) = x; o.total(); }\n", &[by_name]);
    check_in(
        "fn f(o: Order, x: X) { let X { a: o } = x else { return o.total() }; o.total(); }\n",
        &[order, by_name],
    );
    check_in(
        "fn f(o: Order) { let g = |o: Line, p: Order| { p.total(); o.total() }; o.total(); }\n",
        &[order, line, order],
    );
}

#[test]
fn what_go_binds_inside_hides_the_outer_type() {
    let types = "\
package a
type Order struct{}
func (o *Order) Total() int { return 1 }
type Line struct{}
func (l *Line) Total() int { return 1 }
";
    let check_in = |body: &str, expected: &[&str]| {
        check(&format!("== a/a.go\n{types}{body}"), "Total", expected);
    };
    let order = "a/a.go:6 exact a/a.go#Order.Total";
    let line = "a/a.go:6 exact a/a.go#Line.Total";
    let by_name = "a/a.go:6 by name a/a.go#Order.Total a/a.go#Line.Total";
    check_in("func f(o *Order, xs X) { for _, o := range xs { o.Total() }; o.Total() }\n", &[by_name, order]);
    check_in(
        "func f(o *Order, x X) { if o := x.Get(); o.Total() { o.Total() }; o.Total() }\n",
        &[by_name, by_name, order],
    );
    check_in(
        "func f(o *Order, x X) { if o, ok := x.(*Line); ok { o.Total() }; o.Total() }\n",
        &[by_name, order],
    );
    check_in("func f(o *Order, x X) { { o := x.Get(); o.Total() }; o.Total() }\n", &[by_name, order]);
    check_in("func f(o *Order, x X) { { o := &Line{}; o.Total() }; o.Total() }\n", &[line, order]);
    check_in("func f(o *Order, x X) { x.Do(func(o Y) { o.Total() }); o.Total() }\n", &[by_name, order]);
    check_in("func f(o *Order, x X) { x.Do(func(o *Line) { o.Total() }); o.Total() }\n", &[line, order]);
    check_in("func f(o *Order, x X) { o, err := x.Get(); o.Total() }\n", &[order]);
    check_in(
        "func f(o *Order, x X) { switch o := x.(type) { case *Line:
o.Total() }; o.Total() }
",
        &["a/a.go:7 exact a/a.go#Line.Total", "a/a.go:7 exact a/a.go#Order.Total"],
    );
    check_in("func f(o *Order, x X) { select { case o := <-x: o.Total() }; o.Total() }\n", &[by_name, order]);
    check_in("var o *Order; func f(o X) { o.Total() }; func g() { o.Total() }\n", &[by_name, order]);
}

#[test]
fn what_java_and_cpp_bind_inside_hides_the_outer_type() {
    let check_java = |body: &str, expected: &[&str]| {
        let types = "class Order { void total() {} }\nclass Line { void total() {} }\nclass Broken extends Exception { void total() {} }\n";
        check(&format!("== A.java\n{types}class A {{ Order o; {body} }}\n"), "total", expected);
    };
    let order = "A.java:4 exact A.java#Order.total";
    let line = "A.java:4 exact A.java#Line.total";
    let by_name = "A.java:4 by name A.java#Order.total A.java#Line.total A.java#Broken.total";
    check_java("void f(X xs) { xs.map(o -> o.total()); o.total(); }", &[by_name, order]);
    check_java("void f(X xs) { xs.map((o, p) -> o.total()); o.total(); }", &[by_name, order]);
    check_java("void f(X xs) { for (var o : xs) { o.total(); } o.total(); }", &[by_name, order]);
    check_java("void f(X xs) { for (Line o : xs) { o.total(); } o.total(); }", &[line, order]);
    check_java(
        "void f(X xs) { try { xs.a(); } catch (Broken o) { o.total(); } o.total(); }",
        &["A.java:4 exact A.java#Broken.total", order],
    );
    check_java("void f(X xs) { { var o = xs.get(1); o.total(); } o.total(); }", &[by_name, order]);
    check_java("void f(Line o) { o.total(); this.o.total(); }", &[line, order]);
    let check_cpp = |body: &str, expected: &[&str]| {
        let types = "struct Order { void total() {} };\nstruct Line { void total() {} };\n";
        check(&format!("== a.cpp\n{types}{body}\n"), "total", expected);
    };
    let order = "a.cpp:3 exact a.cpp#Order::total";
    let line = "a.cpp:3 exact a.cpp#Line::total";
    let by_name = "a.cpp:3 by name a.cpp#Order::total a.cpp#Line::total";
    check_cpp("void f(Order o, X xs) { for (auto& o : xs) { o.total(); } o.total(); }", &[by_name, order]);
    check_cpp("void f(Order o, X xs) { for (Line& o : xs) { o.total(); } o.total(); }", &[line, order]);
    check_cpp("void f(Order o, X xs) { xs.each([](auto o) { o.total(); }); o.total(); }", &[by_name, order]);
    check_cpp("void f(Order* o, X xs) { xs.each([](Line* o) { o->total(); }); o->total(); }", &[line, order]);
    check_cpp("void f(Order o, X xs) { { auto o = xs.get(); o.total(); } o.total(); }", &[by_name, order]);
    check_cpp(
        "void f(Order o, X xs) { if (auto o = xs.get()) { o.total(); } o.total(); }",
        &[by_name, order],
    );
    check_cpp(
        "void f(Order o, X xs) { for (auto& [k, o] : xs) { o.total(); } o.total(); }",
        &[by_name, order],
    );
    check_cpp(
        "void f(Order o) { try { g(); } catch (const Line& o) { o.total(); } o.total(); }",
        &[line, order],
    );
}
