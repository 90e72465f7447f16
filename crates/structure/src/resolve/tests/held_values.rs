//! Checks members behind values in pointers, guards, lists and other wrappers, in loops and in short functions.

use super::check;

#[test]
fn cpp_pointers_and_containers() {
    let repository = "\
== a.cpp
#include <memory>
struct Line { int total; void go(); };
struct Order { int total; void go(); std::vector<Line> lines; };
void a(std::unique_ptr<Order> p, std::shared_ptr<Order> q, std::optional<Order> r, const std::vector<Order>& os) {
  p->go();
  q->total = 1;
  r->go();
  r.value().go();
  for (auto& o : os) { o.go(); }
  os[0].go();
  os.front().total = 1;
  auto s = std::make_unique<Order>();
  s->go();
  auto t = std::move(p);
  t->go();
  (*q).go();
  for (const auto& l : os[0].lines) l.go();
  Order u; auto v = u; v.go();
  auto* w = new Order(); w->go();
  std::map<int, Order> m; m[1].go(); m.at(1).go();
  auto x = Order(); x.go(); auto y = Order{}; y.go();
  std::weak_ptr<Order> wp; wp.lock()->go();
}
";
    check(
        repository,
        "go",
        &[
            "a.cpp:5 exact a.cpp#Order::go",
            "a.cpp:7 exact a.cpp#Order::go",
            "a.cpp:8 likely a.cpp#Order::go",
            "a.cpp:9 exact a.cpp#Order::go",
            "a.cpp:10 exact a.cpp#Order::go",
            "a.cpp:13 exact a.cpp#Order::go",
            "a.cpp:15 exact a.cpp#Order::go",
            "a.cpp:16 exact a.cpp#Order::go",
            "a.cpp:17 exact a.cpp#Line::go",
            "a.cpp:18 exact a.cpp#Order::go",
            "a.cpp:19 exact a.cpp#Order::go",
            "a.cpp:20 exact a.cpp#Order::go",
            "a.cpp:20 likely a.cpp#Order::go",
            "a.cpp:21 exact a.cpp#Order::go",
            "a.cpp:21 exact a.cpp#Order::go",
            "a.cpp:22 likely a.cpp#Order::go",
        ],
    );
    check(repository, "total", &["a.cpp:6 exact a.cpp#Order::total", "a.cpp:11 likely a.cpp#Order::total"]);
}

#[test]
fn rust_pointers_guards_and_patterns() {
    let repository = "\
== src/lib.rs
use std::sync::{Arc, Mutex};
pub struct Line { total: u8 }
impl Line { fn go(&self) {} }
pub struct Order { total: u8, lines: Vec<Line> }
impl Order { fn go(&self) {} }
fn a(b: Box<Order>, c: Arc<Mutex<Order>>, d: Cow<'_, Order>, e: &mut Order, f: Option<Order>, g: Pin<&mut Order>, os: Vec<Order>, h: RefCell<Order>, s: &[Order], mg: MutexGuard<'_, Order>) {
  b.go();
  c.lock().unwrap().go();
  d.go();
  e.go();
  if let Some(x) = f { x.go(); }
  g.go();
  for o in os { o.go(); }
  h.borrow_mut().total = 1;
  for o in s.iter() { o.go(); }
  mg.go();
  let y = f?;
  y.go();
  let Some(z) = f else { return };
  z.total;
  match f { Some(w) => w.go(), None => {} }
  s[0].go();
  for o in &os { for l in &o.lines { l.go(); } }
  while let Some(v) = os.pop() { v.go(); }
  let guard = c.lock().unwrap();
  guard.go();
  f.as_ref().map(|m| m.go());
  os.iter().map(|m| m.go());
}
";
    check(
        repository,
        "go",
        &[
            "src/lib.rs:7 exact src/lib.rs#Order::go",
            "src/lib.rs:8 likely src/lib.rs#Order::go",
            "src/lib.rs:9 exact src/lib.rs#Order::go",
            "src/lib.rs:10 exact src/lib.rs#Order::go",
            "src/lib.rs:11 exact src/lib.rs#Order::go",
            "src/lib.rs:12 exact src/lib.rs#Order::go",
            "src/lib.rs:13 exact src/lib.rs#Order::go",
            "src/lib.rs:15 exact src/lib.rs#Order::go",
            "src/lib.rs:16 exact src/lib.rs#Order::go",
            "src/lib.rs:18 exact src/lib.rs#Order::go",
            "src/lib.rs:21 exact src/lib.rs#Order::go",
            "src/lib.rs:22 exact src/lib.rs#Order::go",
            "src/lib.rs:23 exact src/lib.rs#Line::go",
            "src/lib.rs:24 likely src/lib.rs#Order::go",
            "src/lib.rs:26 likely src/lib.rs#Order::go",
            "src/lib.rs:27 exact src/lib.rs#Order::go",
            "src/lib.rs:28 exact src/lib.rs#Order::go",
        ],
    );
    check(
        repository,
        "total",
        &["src/lib.rs:14 likely src/lib.rs#Order::total", "src/lib.rs:20 exact src/lib.rs#Order::total"],
    );
}

#[test]
fn typescript_utility_types_lists_and_promises() {
    let repository = "\
== a.ts
export class Line { total = 1; go() {} }
export class Order { total = 1; lines: Line[] = []; go() {} }
async function a(b: Readonly<Order>, c: Partial<Order>, d: NonNullable<Order>, e: Promise<Order>, f: Ref<Order>, g: Order | null, os: Order[], h: Awaited<Promise<Order>>, m: Map<string, Order>, ro: ReadonlyArray<Order>) {
  b.go();
  c.total;
  d.go();
  const x = await e;
  x.go();
  f.value.go();
  g?.go();
  for (const o of os) o.go();
  h.go();
  os[0].go();
  os.map((o) => o.go());
  os.forEach(function (o) { o.total; });
  m.get('a')!.go();
  for (const { total } of os) {}
  os.map(({ total }) => total);
  for (const l of os[0].lines) l.go();
  ro.filter(o => o.total > 1);
  b['total'];
  e.then((o) => o.go());
  const y = os.find((o) => o.total > 1);
  y?.go();
  (g as Required<Order>).go();
}
";
    check(
        repository,
        "go",
        &[
            "a.ts:4 exact a.ts#Order.go",
            "a.ts:6 exact a.ts#Order.go",
            "a.ts:8 exact a.ts#Order.go",
            "a.ts:9 exact a.ts#Order.go",
            "a.ts:10 exact a.ts#Order.go",
            "a.ts:11 exact a.ts#Order.go",
            "a.ts:12 exact a.ts#Order.go",
            "a.ts:13 exact a.ts#Order.go",
            "a.ts:14 exact a.ts#Order.go",
            "a.ts:16 likely a.ts#Order.go",
            "a.ts:19 exact a.ts#Line.go",
            "a.ts:22 exact a.ts#Order.go",
            "a.ts:24 likely a.ts#Order.go",
            "a.ts:25 exact a.ts#Order.go",
        ],
    );
    check(
        repository,
        "total",
        &[
            "a.ts:5 exact a.ts#Order.total",
            "a.ts:15 exact a.ts#Order.total",
            "a.ts:17 exact a.ts#Order.total",
            "a.ts:18 exact a.ts#Order.total",
            "a.ts:20 exact a.ts#Order.total",
            "a.ts:21 exact a.ts#Order.total",
            "a.ts:23 exact a.ts#Order.total",
        ],
    );
}

#[test]
fn python_annotations_and_elements() {
    let repository = "\
== a.py
from typing import Annotated, Final, Optional, ClassVar, Type, Iterable
class Line:
    total: int = 1
    def go(self): ...
class Order:
    total: int = 1
    lines: list[Line]
    def go(self): ...
    @classmethod
    def read(cls) -> \"Order\": ...
class U:
    own: ClassVar[Order]
    def f(self):
        self.own.go()
def a(b: Annotated[Order, \"x\"], c: Final[Order], d: Optional[Order], e: Type[Order], os: list[Order], f: Iterable[Order], g: dict[str, Order], h: \"Order | None\"):
    b.go()
    c.go()
    d.go()
    e.go()
    for o in os:
        o.go()
    for i, o2 in enumerate(f):
        o2.go()
    g[\"x\"].go()
    for v in g.values():
        v.go()
    os[0].total
    [z.go() for z in os]
    h.go()
    x = None if c else Order.read()
    x.go()
    y = d or Order()
    y.go()
    for k, w in g.items():
        w.go()
    for l in os[0].lines:
        l.go()
    n = next(iter(os))
    async def q(s: AsyncIterator[Order]):
        async for t in s:
            t.go()
";
    check(
        repository,
        "go",
        &[
            "a.py:14 exact a.py#Order.go",
            "a.py:16 exact a.py#Order.go",
            "a.py:17 exact a.py#Order.go",
            "a.py:18 exact a.py#Order.go",
            "a.py:19 exact a.py#Order.go",
            "a.py:21 exact a.py#Order.go",
            "a.py:23 exact a.py#Order.go",
            "a.py:24 exact a.py#Order.go",
            "a.py:26 exact a.py#Order.go",
            "a.py:28 exact a.py#Order.go",
            "a.py:29 exact a.py#Order.go",
            "a.py:31 exact a.py#Order.go",
            "a.py:33 exact a.py#Order.go",
            "a.py:35 exact a.py#Order.go",
            "a.py:37 exact a.py#Line.go",
            "a.py:41 exact a.py#Order.go",
        ],
    );
    check(repository, "total", &["a.py:27 exact a.py#Order.total"]);
}

#[test]
fn java_lists_and_optionals() {
    let repository = "\
== A.java
class Line { int total; void go() {} }
class Order { int total; List<Line> lines; void go() {} }
class U {
  void a(Optional<Order> b, List<Order> os, Map<String, Order> m, Supplier<Order> s, Order[] arr) {
    b.get().go();
    for (Order o : os) o.go();
    for (var o : os) { o.go(); }
    var x = new Order(); x.go();
    os.get(0).go();
    m.get(\"a\").total = 1;
    os.forEach(o -> o.go());
    os.stream().filter(o -> o.total > 1).findFirst().get().go();
    arr[0].go();
    for (var l : os.get(0).lines) { l.go(); }
    b.ifPresent(o -> o.go());
    var y = b.orElse(null); y.go();
    os.forEach(Order::go);
  }
}
";
    check(
        repository,
        "go",
        &[
            "A.java:5 likely A.java#Order.go",
            "A.java:6 exact A.java#Order.go",
            "A.java:7 exact A.java#Order.go",
            "A.java:8 exact A.java#Order.go",
            "A.java:9 likely A.java#Order.go",
            "A.java:11 exact A.java#Order.go",
            "A.java:12 likely A.java#Order.go",
            "A.java:13 exact A.java#Order.go",
            "A.java:14 likely A.java#Line.go",
            "A.java:15 exact A.java#Order.go",
            "A.java:16 likely A.java#Order.go",
            "A.java:17 exact A.java#Order.go",
        ],
    );
    check(
        repository,
        "total",
        &["A.java:10 likely A.java#Order.total", "A.java:12 exact A.java#Order.total"],
    );
}

#[test]
fn go_slices_and_maps() {
    let repository = "\
== a.go
package a
type Line struct{}
func (l Line) Go() {}
type Order struct{ Lines []Line }
func (o *Order) Go() {}
func f(os []*Order, m map[string]Order) {
  for _, o := range os {
    o.Go()
  }
  os[0].Go()
  for _, o := range m {
    for _, l := range o.Lines {
      l.Go()
    }
  }
  m[\"a\"].Go()
}
";
    check(
        repository,
        "Go",
        &[
            "a.go:8 exact a.go#Order.Go",
            "a.go:10 exact a.go#Order.Go",
            "a.go:13 exact a.go#Line.Go",
            "a.go:16 exact a.go#Order.Go",
        ],
    );
}

#[test]
fn fields_in_assertions_string_keys_and_offsets() {
    let repository = "\
== a.ts
export interface Order { total: number }
const a = <Order>{ total: 1 };
function f(o: Order, n: 'total') { o['total'] = 2; o[n]; }
== b.c
struct order { int total; };
struct line { int total; };
long at = offsetof(struct order, total);
";
    check(
        repository,
        "total",
        &["a.ts:2 exact a.ts#Order.total", "a.ts:3 exact a.ts#Order.total", "b.c:3 exact b.c#order::total"],
    );
}
