//! Checks names without a receiver: of members around, inherited, mixed in and imported ones, and top-level functions.

use super::check;

#[test]
fn ruby_calls_methods_of_bases_modules_and_the_top_level() {
    let repository = "\
== a.rb
def top_help(x)
  x
end
class Base
  attr_reader :total
  def base_run; end
  private
  def hook; end
end
module Mixin
  def mixed_in; end
end
class Child < Base
  include Mixin
  def go
    top_help 1
    base_run
    mixed_in
    hook
    puts total
    \"#{total} #{base_run}\"
  end
  def load_one; end
  def self.make
    new.load_one
  end
end
top_help(2)
== b.rb
require_relative \"a\"
top_help 3
class Other < Child
  def x
    base_run
    load_one
    mixed_in
    total + 1
  end
end
";
    check(
        repository,
        "top_help",
        &["a.rb:16 likely a.rb#top_help", "a.rb:28 likely a.rb#top_help", "b.rb:2 likely a.rb#top_help"],
    );
    check(
        repository,
        "load_one",
        &["a.rb:25 likely a.rb#Child::load_one", "b.rb:6 likely a.rb#Child::load_one"],
    );
    check(
        repository,
        "base_run",
        &[
            "a.rb:17 likely a.rb#Base::base_run",
            "a.rb:21 likely a.rb#Base::base_run",
            "b.rb:5 likely a.rb#Base::base_run",
        ],
    );
    check(
        repository,
        "mixed_in",
        &["a.rb:18 likely a.rb#Mixin::mixed_in", "b.rb:7 likely a.rb#Mixin::mixed_in"],
    );
    check(
        repository,
        "total",
        &[
            "a.rb:20 likely a.rb#Base::total",
            "a.rb:21 likely a.rb#Base::total",
            "b.rb:8 likely a.rb#Base::total",
        ],
    );
    check(repository, "hook", &["a.rb:19 likely a.rb#Base::hook"]);
}

#[test]
fn scala_sees_inherited_members_companions_and_imported_objects() {
    let repository = "\
== a.scala
package shop
trait Loud { def fromTrait(): Int = 1 }
class Base { val total = 3; def helper(x: Int) = x }
class Child extends Base with Loud {
  import Child._
  def go() = helper(1) + fromTrait() + ofCompanion(2) + total
  def s = s\"${helper(2)} $total\"
}
object Child { def ofCompanion(x: Int) = x }
object Util { def imported(x: Int) = x }
def topLevel(x: Int) = x
== b.scala
package shop.other
import shop.Util._
import shop.{Base, topLevel}
class Third extends Base {
  def go = imported(1) + helper(2) + topLevel(3)
  def x = total
}
";
    check(
        repository,
        "helper",
        &[
            "a.scala:6 likely a.scala#Base.helper",
            "a.scala:7 likely a.scala#Base.helper",
            "b.scala:5 likely a.scala#Base.helper",
        ],
    );
    check(repository, "fromTrait", &["a.scala:6 likely a.scala#Loud.fromTrait"]);
    check(repository, "ofCompanion", &["a.scala:6 likely a.scala#Child.ofCompanion"]);
    check(repository, "imported", &["b.scala:5 likely a.scala#Util.imported"]);
    check(
        repository,
        "total",
        &[
            "a.scala:6 likely a.scala#Base.total",
            "a.scala:7 likely a.scala#Base.total",
            "b.scala:6 likely a.scala#Base.total",
        ],
    );
    check(
        repository,
        "topLevel",
        &["b.scala:3 likely a.scala#topLevel", "b.scala:5 likely a.scala#topLevel"],
    );
}

#[test]
fn kotlin_sees_the_package_extensions_and_companions() {
    let repository = "\
== a.kt
package shop
fun topLevel(x: Int) = x
fun String.shout() = this + \"!\"
open class Base { val total = 3; fun fromBase(x: Int) = x }
class Child : Base() {
  fun go() = topLevel(1) + fromBase(2) + ofCompanion(3) + total
  fun s() = \"${fromBase(1)} $total\".shout()
  companion object { fun ofCompanion(x: Int) = x }
}
val Int.twice get() = this * 2
== b.kt
package shop.other
import shop.topLevel
import shop.shout
class Third : shop.Base() {
  fun go() = topLevel(1) + fromBase(2)
  fun x() = total
  fun y(s: String) { s.shout(); 3.twice }
}
";
    check(
        repository,
        "topLevel",
        &["a.kt:6 likely a.kt#topLevel", "b.kt:2 likely a.kt#topLevel", "b.kt:5 likely a.kt#topLevel"],
    );
    check(
        repository,
        "shout",
        &[
            "a.kt:3 nothing",
            "a.kt:7 by name a.kt#String.shout",
            "b.kt:3 likely a.kt#String.shout",
            "b.kt:7 likely a.kt#String.shout",
        ],
    );
    check(
        repository,
        "fromBase",
        &[
            "a.kt:6 likely a.kt#Base.fromBase",
            "a.kt:7 likely a.kt#Base.fromBase",
            "b.kt:5 likely a.kt#Base.fromBase",
        ],
    );
    check(repository, "ofCompanion", &["a.kt:6 likely a.kt#Child.ofCompanion"]);
    check(
        repository,
        "total",
        &["a.kt:6 likely a.kt#Base.total", "a.kt:7 likely a.kt#Base.total", "b.kt:6 likely a.kt#Base.total"],
    );
    check(repository, "twice", &["a.kt:10 nothing", "b.kt:7 by name a.kt#twice"]);
}

#[test]
fn c_sharp_sees_inherited_members_and_static_imports() {
    let repository = "\
== a.cs
namespace Shop;
public class Base { public int Total { get; set; } protected int ofField; protected int FromBase(int x) => x; }
public static class Util { public static int Help(int x) => x; }
public class Child : Base {
  int Go() => FromBase(1) + Total + ofField;
  string S() => $\"{FromBase(2)} {Total:N2}\";
}
== b.cs
using static Shop.Util;
namespace Shop.Other;
public class Third : Child {
  int Go() { return FromBase(1) + Help(2) + Total; }
}
";
    check(
        repository,
        "FromBase",
        &[
            "a.cs:5 likely a.cs#Base.FromBase",
            "a.cs:6 likely a.cs#Base.FromBase",
            "b.cs:4 likely a.cs#Base.FromBase",
        ],
    );
    check(repository, "Help", &["b.cs:4 likely a.cs#Util.Help"]);
    check(
        repository,
        "Total",
        &["a.cs:5 likely a.cs#Base.Total", "a.cs:6 likely a.cs#Base.Total", "b.cs:4 likely a.cs#Base.Total"],
    );
    check(repository, "ofField", &["a.cs:5 likely a.cs#Base.ofField"]);
}

#[test]
fn swift_sees_its_module_and_extensions() {
    let repository = "\
== a.swift
func topLevel(_ x: Int) -> Int { return x }
class Base { var total = 3; func fromBase(_ x: Int) -> Int { return x } }
extension Base { func ofExtension() -> Int { return 1 } }
class Child: Base {
  func go() -> Int { return topLevel(1) + fromBase(2) + ofExtension() + total }
  func s() -> String { return \"\\(fromBase(1)) \\(total)\".shout() }
}
extension String { func shout() -> String { return self } }
== b.swift
class Third: Child {
  func go2() -> Int { return topLevel(1) + fromBase(2) + total + ofExtension() }
}
protocol Loud { func loud() }
";
    check(
        repository,
        "topLevel",
        &["a.swift:5 likely a.swift#topLevel", "b.swift:2 likely a.swift#topLevel"],
    );
    check(
        repository,
        "fromBase",
        &[
            "a.swift:5 likely a.swift#Base.fromBase",
            "a.swift:6 likely a.swift#Base.fromBase",
            "b.swift:2 likely a.swift#Base.fromBase",
        ],
    );
    check(
        repository,
        "total",
        &[
            "a.swift:5 likely a.swift#Base.total",
            "a.swift:6 likely a.swift#Base.total",
            "b.swift:2 likely a.swift#Base.total",
        ],
    );
    check(
        repository,
        "ofExtension",
        &["a.swift:5 likely a.swift#Base.ofExtension", "b.swift:2 likely a.swift#Base.ofExtension"],
    );
    check(repository, "shout", &["a.swift:6 by name a.swift#String.shout"]);
}

#[test]
fn php_sees_functions_of_namespaces_and_members_of_traits() {
    let repository = "\
== a.php
<?php
namespace Shop;
function load_all($x) { return $x; }
trait T { function fromTrait() {} }
class Base { public $total = 1; function fromBase() {} }
class Child extends Base {
  use T;
  function go() { load_all(1); $this->fromBase(); $this->fromTrait(); self::fromBase(); return \"{$this->fromBase()} $this->total {$this->total}\"; }
}
== b.php
<?php
namespace Other;
use function Shop\\load_all;
use Shop\\Child;
class Third extends Child { function x() { parent::fromBase(); static::fromTrait(); return load_all(2) + \\Shop\\load_all(3) + $this->total; } }
";
    check(
        repository,
        "load_all",
        &[
            "a.php:8 likely a.php#load_all",
            "b.php:3 likely a.php#load_all",
            "b.php:5 likely a.php#load_all",
            "b.php:5 likely a.php#load_all",
        ],
    );
    check(
        repository,
        "fromBase",
        &[
            "a.php:8 likely a.php#Base::fromBase",
            "a.php:8 likely a.php#Base::fromBase",
            "a.php:8 likely a.php#Base::fromBase",
            "b.php:5 likely a.php#Base::fromBase",
        ],
    );
    check(
        repository,
        "total",
        &[
            "a.php:8 likely a.php#Base::total",
            "a.php:8 likely a.php#Base::total",
            "b.php:5 likely a.php#Base::total",
        ],
    );
    check(
        repository,
        "fromTrait",
        &["a.php:8 likely a.php#T::fromTrait", "b.php:5 likely a.php#T::fromTrait"],
    );
}

#[test]
fn elixir_sees_its_module_and_imports() {
    let repository = "\
== a.ex
defmodule Shop.Util do
  def helper(x), do: x
  defp greet(x), do: \"#{helper(x)}\"
  def go(x), do: x |> helper() |> greet
end
== b.ex
defmodule Other do
  import Shop.Util
  alias Shop.Util
  def x, do: helper(1) + Util.helper(2)
  def y, do: Enum.map([1], &helper/1)
end
";
    check(
        repository,
        "helper",
        &[
            "a.ex:3 likely a.ex#Shop.Util.helper",
            "a.ex:4 likely a.ex#Shop.Util.helper",
            "b.ex:4 likely a.ex#Shop.Util.helper",
            "b.ex:4 by name a.ex#Shop.Util.helper",
            "b.ex:5 likely a.ex#Shop.Util.helper",
        ],
    );
    check(repository, "greet", &["a.ex:4 likely a.ex#Shop.Util.greet"]);
}
