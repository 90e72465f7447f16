//! Checks the uses of languages that are found by name.

use super::check;

#[test]
fn fields_that_keys_name() {
    check(
        "\
== a.cs
class Order { public int Total { get; set; } int Twice() { return Total * 2; } }
class U { void F(object o) { var a = new Order { Total = 1 };
  var c = a with { Total = 3 };
  if (o is Order { Total: 4 }) {}
  a.Total++; } }
",
        "Total",
        &[
            "a.cs:1 likely a.cs#Order.Total",
            "a.cs:2 by name a.cs#Order.Total",
            "a.cs:3 by name a.cs#Order.Total",
            "a.cs:4 by name a.cs#Order.Total",
            "a.cs:5 likely a.cs#Order.Total",
        ],
    );
    check(
        "\
== a.kt
data class Order(val grandTotal: Int)
fun f(o: Order) {
  val a = Order(grandTotal = 1)
  println(o.grandTotal)
  val grandTotal = 3
}
",
        "grandTotal",
        &["a.kt:3 likely a.kt#Order.grandTotal", "a.kt:4 likely a.kt#Order.grandTotal"],
    );
    check(
        "\
== a.php
<?php
class Order { public function __construct(public int $grandTotal) {} function f() { return $this->grandTotal; } }
$a = new Order(grandTotal: 1);
echo $a->grandTotal;
",
        "grandTotal",
        &[
            "a.php:2 likely a.php#Order::grandTotal",
            "a.php:3 likely a.php#Order::grandTotal",
            "a.php:4 likely a.php#Order::grandTotal",
        ],
    );
    check(
        "\
== a.swift
struct Order { var grandTotal: Int }
func f(o: Order) -> Int { let a = Order(grandTotal: 1); return a.grandTotal }
",
        "grandTotal",
        &["a.swift:2 likely a.swift#Order.grandTotal", "a.swift:2 likely a.swift#Order.grandTotal"],
    );
    check(
        "\
== a.scala
case class Order(grandTotal: Int)
object U { def f(o: Order) = Order(grandTotal = 1).grandTotal + o.grandTotal }
",
        "grandTotal",
        &[
            "a.scala:2 likely a.scala#Order.grandTotal",
            "a.scala:2 likely a.scala#Order.grandTotal",
            "a.scala:2 likely a.scala#Order.grandTotal",
        ],
    );
}

#[test]
fn functions_and_methods() {
    check(
        "\
== a.rb
class Loader
  def load_all
    self.load_one
    load_one
  end
  def load_one; end
end
== b.rb
Loader.new.load_one
Loader.load_one
load_one
",
        "load_one",
        &[
            "a.rb:3 likely a.rb#Loader::load_one",
            "a.rb:4 likely a.rb#Loader::load_one",
            "b.rb:1 likely a.rb#Loader::load_one",
            "b.rb:2 likely a.rb#Loader::load_one",
            "b.rb:3 by name a.rb#Loader::load_one",
        ],
    );
    check(
        "== a.lua\nlocal function load_all() end\nload_all()\n",
        "load_all",
        &["a.lua:2 likely a.lua#load_all"],
    );
}
