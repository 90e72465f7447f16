//! Checks names in strings, and those of Dart and Objective-C, whose texts are read as tokens.

use super::check;

/// A file of each language with interpolated strings.
const INTERPOLATED: &str = "\
== a.dart
class Order { int total = 3; String s(Order o) => \"${o.total} $total ${f(o.total)}\"; }
String g(Order o) { return '''${o.total}'''; }
== a.kt
class Order { val total = 3
 fun s(o: Order) = \"${o.total} $total and\"
 fun m(o: Order) = \"\"\"${o.total} $total\"\"\" }
== a.scala
class Order { val total = 3; def s(o: Order) = s\"${o.total} $total\" + f\"$total%d\" }
== a.cs
class Order { int total = 3; string S(Order o) => $\"{o.total} {total:N} {total,5}\" + $@\"{o.total}\"; }
== a.swift
class Order { var total = 3; func s(_ o: Order) -> String { return \"\\(o.total) \\(total)\" + \"\"\"
  \\(o.total)
  \"\"\" } }
== a.rb
class Order
  attr_reader :total
  def s(o) = \"#{o.total} #{total}\" + `x #{o.total}` + %(#{total})
  def t = <<~X
    #{total}
  X
end
== a.py
class Order:
    total = 3
    def s(self, o: \"Order\"): return f\"{o.total} {self.total!r} {o.total:>{self.total}}\"
== a.ts
class Order { total = 3; s(o: Order) { return `${o.total} ${this.total}` } }
== a.php
<?php
class Order { public $total = 3; function s(Order $o) { return \"{$o->total} $this->total ${x} {$o->total}\" . <<<X
  {$this->total}
X; } }
== a.ex
defmodule Order do
  def total(x), do: x
  def s(x), do: \"#{total(x)}\"
end
";

#[test]
fn strings_have_names_and_expressions() {
    check(
        INTERPOLATED,
        "total",
        &[
            "a.dart:1 by name a.dart#Order.total",
            "a.dart:1 likely a.dart#Order.total",
            "a.dart:1 by name a.dart#Order.total",
            "a.dart:2 by name a.dart#Order.total",
            "a.kt:2 likely a.kt#Order.total",
            "a.kt:2 likely a.kt#Order.total",
            "a.kt:3 likely a.kt#Order.total",
            "a.kt:3 likely a.kt#Order.total",
            "a.scala:1 likely a.scala#Order.total",
            "a.scala:1 likely a.scala#Order.total",
            "a.scala:1 likely a.scala#Order.total",
            "a.cs:1 likely a.cs#Order.total",
            "a.cs:1 likely a.cs#Order.total",
            "a.cs:1 likely a.cs#Order.total",
            "a.cs:1 likely a.cs#Order.total",
            "a.swift:1 likely a.swift#Order.total",
            "a.swift:1 likely a.swift#Order.total",
            "a.swift:2 likely a.swift#Order.total",
            "a.rb:3 by name a.rb#Order::total",
            "a.rb:3 likely a.rb#Order::total",
            "a.rb:3 by name a.rb#Order::total",
            "a.rb:3 likely a.rb#Order::total",
            "a.rb:5 likely a.rb#Order::total",
            "a.py:3 exact a.py#Order.total",
            "a.py:3 exact a.py#Order.total",
            "a.py:3 exact a.py#Order.total",
            "a.py:3 exact a.py#Order.total",
            "a.ts:1 exact a.ts#Order.total",
            "a.ts:1 exact a.ts#Order.total",
            "a.php:2 likely a.php#Order::total",
            "a.php:2 likely a.php#Order::total",
            "a.php:2 likely a.php#Order::total",
            "a.php:3 likely a.php#Order::total",
            "a.ex:3 likely a.ex#Order.total",
        ],
    );
}

#[test]
fn macros_of_rust_have_names_in_strings() {
    let repository = "\
== src/lib.rs
static TOTAL: u8 = 1;
fn f(x: u8) { println!(\"{TOTAL}\"); panic!(\"{TOTAL:?} {0} {x}\", 1); format!(\"{{TOTAL}}\"); let s = \"{TOTAL}\"; }
fn g() { let TOTAL = 2; println!(r\"{TOTAL}\"); }
== src/m.rs
use crate::TOTAL;
fn h() { log::debug!(target: \"x\", \"a {TOTAL} b {TOTAL:>5}\"); }
";
    check(
        repository,
        "TOTAL",
        &[
            "src/lib.rs:2 exact src/lib.rs#TOTAL",
            "src/lib.rs:2 exact src/lib.rs#TOTAL",
            "src/m.rs:1 exact src/lib.rs#TOTAL",
            "src/m.rs:2 exact src/lib.rs#TOTAL",
            "src/m.rs:2 exact src/lib.rs#TOTAL",
        ],
    );
}

#[test]
fn dart_sees_inherited_members_and_extensions() {
    let repository = "\
== a.dart
int topLevel(int x) => x;
class Base { int total = 3; int fromBase(int x) => x; }
extension OnBase on Base { int ofExtension() => 1; }
class Child extends Base {
  int go() { return topLevel(1) + fromBase(2) + ofExtension() + total; }
  String s() => \"${fromBase(1)} $total\".shout();
}
extension Loud on String { String shout() => this; }
mixin Mix on Base { int m() => fromBase(1); }
== b.dart
import 'a.dart';
class Third extends Child {
  int go2() { return topLevel(1) + fromBase(2) + total + ofExtension(); }
}
";
    check(repository, "topLevel", &["a.dart:5 likely a.dart#topLevel", "b.dart:3 likely a.dart#topLevel"]);
    check(
        repository,
        "fromBase",
        &[
            "a.dart:5 likely a.dart#Base.fromBase",
            "a.dart:6 likely a.dart#Base.fromBase",
            "a.dart:9 likely a.dart#Base.fromBase",
            "b.dart:3 likely a.dart#Base.fromBase",
        ],
    );
    check(
        repository,
        "total",
        &[
            "a.dart:5 likely a.dart#Base.total",
            "a.dart:6 likely a.dart#Base.total",
            "b.dart:3 likely a.dart#Base.total",
        ],
    );
    check(
        repository,
        "ofExtension",
        &["a.dart:5 by name a.dart#OnBase.ofExtension", "b.dart:3 by name a.dart#OnBase.ofExtension"],
    );
    check(repository, "shout", &["a.dart:6 by name a.dart#Loud.shout"]);
}

#[test]
fn objective_c_sees_headers() {
    let repository = "\
== Order.h
#import <Foundation/Foundation.h>
@protocol Priced <NSObject>
- (int)price;
@end
@class Item;
@interface Order : NSObject <Priced>
@property (nonatomic, assign) int total;
+ (instancetype)orderWithTotal:(int)total;
- (void)addItem:(Item *)item count:(int)count;
@end
== Order.m
#import \"Order.h\"
@implementation Order
+ (instancetype)orderWithTotal:(int)total {
  Order *o = [[Order alloc] init];
  o.total = total;
  return o;
}
- (void)addItem:(Item *)item count:(int)count {
  [self setTotal:_total + self.total];
}
- (int)price { return self.total; }
@end
== Use.m
#import \"Order.h\"
void use(void) {
  Order *o = [Order orderWithTotal:3];
  [o addItem:nil count:2];
  NSLog(@\"%d %d\", o.total, [o price]);
}
@interface Use () <Priced>
@end
";
    check(
        repository,
        "total",
        &[
            "Order.h:8 exact Order.h#Order.total",
            "Order.m:3 likely Order.h#Order.total",
            "Order.m:5 by name Order.h#Order.total",
            "Order.m:5 likely Order.h#Order.total",
            "Order.m:9 likely Order.h#Order.total",
            "Order.m:11 likely Order.h#Order.total",
            "Use.m:5 by name Order.h#Order.total",
        ],
    );
    check(repository, "addItem", &["Use.m:4 by name Order.h#Order.addItem Order.m#Order.addItem"]);
    check(
        repository,
        "Order",
        &[
            "Order.m:4 likely Order.h#Order Order.m#Order",
            "Order.m:4 likely Order.h#Order Order.m#Order",
            "Use.m:3 likely Order.h#Order Order.m#Order",
            "Use.m:3 likely Order.h#Order Order.m#Order",
        ],
    );
    check(repository, "Priced", &["Order.h:6 exact Order.h#Priced", "Use.m:7 likely Order.h#Priced"]);
    check(repository, "price", &["Use.m:5 by name Order.h#Priced.price Order.m#Order.price"]);
    check(
        repository,
        "orderWithTotal",
        &["Use.m:3 likely Order.h#Order.orderWithTotal Order.m#Order.orderWithTotal"],
    );
}
