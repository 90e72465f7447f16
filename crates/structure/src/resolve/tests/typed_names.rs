//! Checks members behind values whose type the text writes, in languages whose names are read one by one.

use super::check;

#[test]
fn kotlin_values() {
    let repository = "\
== a.kt
package shop
class Order(val id: Int) {
  var total = 3
  fun go() = 1
  val lines: List<Line> = listOf()
}
class Line {
  var total = 3
  fun go() = 1
}
class Repo {
  fun find(x: Int): Order? = null
  val all: List<Order> = listOf()
}
class U(private val repo: Repo) {
  fun a() { repo.find(1)?.total; val o = Order(1); o.go(); o.lines.first().go() }
  fun b(os: List<Order>) { for (o in os) { o.go() }; val x = os.first(); x.total }
  fun c() { for (o in repo.all) println(\"${o.total}\") }
}
";
    check(
        repository,
        "total",
        &[
            "a.kt:16 likely a.kt#Order.total",
            "a.kt:17 likely a.kt#Order.total",
            "a.kt:18 likely a.kt#Order.total",
        ],
    );
    check(
        repository,
        "go",
        &["a.kt:16 likely a.kt#Order.go", "a.kt:16 likely a.kt#Line.go", "a.kt:17 likely a.kt#Order.go"],
    );
    check(repository, "lines", &["a.kt:16 likely a.kt#Order.lines"]);
}

#[test]
fn c_sharp_values() {
    let repository = "\
== a.cs
namespace Shop;
class Order { public int total; public int go() => 1; public List<Line> lines; }
class Line { public int total; public int go() => 1; }
class U { Order own; Order Find() => own; async Task<Order> Later() => own;
  void A(Order p) { var o = new Order(); o.go(); foreach (var l in o.lines) { l.go(); } own.total = 1; this.own.total++; }
  async void B() { var x = await Later(); x.total = 3; Find().go(); var y = own.lines.First(); y.go(); }
}
";
    check(
        repository,
        "total",
        &[
            "a.cs:5 likely a.cs#Order.total",
            "a.cs:5 likely a.cs#Order.total",
            "a.cs:6 likely a.cs#Order.total",
        ],
    );
    check(
        repository,
        "go",
        &[
            "a.cs:5 likely a.cs#Order.go",
            "a.cs:5 likely a.cs#Line.go",
            "a.cs:6 likely a.cs#Order.go",
            "a.cs:6 likely a.cs#Line.go",
        ],
    );
    check(repository, "lines", &["a.cs:5 likely a.cs#Order.lines", "a.cs:6 likely a.cs#Order.lines"]);
}

#[test]
fn swift_values() {
    let repository = "\
== a.swift
class Order { var total = 3; func go() -> Int { return 1 }; var lines: [Line] = [] }
class Line { var total = 3; func go() -> Int { return 1 } }
class U { let own: Order?
  func a(_ p: Order) { p.go(); if let o = own { o.go() }; for l in p.lines { l.go() }; own?.total = 3 }
  func b() { let o = Order(); o.lines[0].go(); guard let x = own else { return }; x.total = 1 }
}
";
    check(
        repository,
        "total",
        &["a.swift:4 likely a.swift#Order.total", "a.swift:5 likely a.swift#Order.total"],
    );
    check(
        repository,
        "go",
        &[
            "a.swift:4 likely a.swift#Order.go",
            "a.swift:4 likely a.swift#Order.go",
            "a.swift:4 likely a.swift#Line.go",
            "a.swift:5 likely a.swift#Line.go",
        ],
    );
    check(
        repository,
        "lines",
        &["a.swift:4 likely a.swift#Order.lines", "a.swift:5 likely a.swift#Order.lines"],
    );
}

#[test]
fn scala_values() {
    let repository = "\
== a.scala
class Order(val id: Int) { var total = 3; def go() = 1; val lines: List[Line] = Nil }
class Line { var total = 3; def go() = 1 }
class U(repo: Option[Order]) {
  def a(p: Order) = { p.go(); for (l <- p.lines) { l.go() }; val o = new Order(1); o.total = 1 }
}
";
    check(repository, "total", &["a.scala:4 likely a.scala#Order.total"]);
    check(repository, "go", &["a.scala:4 likely a.scala#Order.go", "a.scala:4 likely a.scala#Line.go"]);
    check(repository, "lines", &["a.scala:4 likely a.scala#Order.lines"]);
}

#[test]
fn php_values() {
    let repository = "\
== a.php
<?php
class Order { public $total = 3; function go() {} /** @var Line[] */ public array $lines; }
class Line { public $total = 3; function go() {} }
class U { private ?Order $own; public function __construct(private Order $p) { $this->q = new Order(); }
  function a(Order $x) { $x->go(); $this->own->go(); $this->p->total = 1; $this->q->go(); $o = new Order(); $o->total = 2; }
}
";
    check(repository, "total", &["a.php:5 likely a.php#Order::total", "a.php:5 likely a.php#Order::total"]);
    check(
        repository,
        "go",
        &[
            "a.php:5 likely a.php#Order::go",
            "a.php:5 likely a.php#Order::go",
            "a.php:5 likely a.php#Order::go",
        ],
    );
}

#[test]
fn ruby_values() {
    let repository = "\
== a.rb
class Order
  attr_accessor :total
  def go; end
end
class Line
  attr_accessor :total
  def go; end
end
class U
  def initialize; @own = Order.new; end
  def a
    o = Order.new(1)
    o.go
    @own.go
    @own.total = 1
    Order.new.go
    [1].map(&:go)
  end
end
";
    check(repository, "total", &["a.rb:15 likely a.rb#Order::total"]);
    check(
        repository,
        "go",
        &[
            "a.rb:13 likely a.rb#Order::go",
            "a.rb:14 likely a.rb#Order::go",
            "a.rb:16 likely a.rb#Order::go",
            "a.rb:17 by name a.rb#Order::go a.rb#Line::go",
        ],
    );
}
