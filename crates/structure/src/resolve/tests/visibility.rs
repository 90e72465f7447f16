//! Tests that names mean nothing that their place cannot see.

use super::check;

#[test]
fn a_static_function_of_c_is_seen_only_where_its_file_is_included() {
    let files = "\
== mill.h
int grind(int);
static inline int half(int n) { return n / 2; }
== mill.c
#include \"mill.h\"
static int turn(int n) { return n; }
static int lone(int n) { return n; }
int grind(int n) { return turn(n); }
== farm.c
#include \"mill.h\"
int run(void) { return turn(1) + grind(half(2)); }
== other.c
int turn(int n) { return n; }
== all.c
#include \"mill.c\"
#include \"part.c\"
== part.c
int more(void) { return lone(1); }
== unity.c
#include \"mill.c\"
int all(void) { return turn(3); }
";
    check(
        files,
        "turn",
        &["mill.c:4 exact mill.c#turn", "farm.c:2 by name other.c#turn", "unity.c:2 exact mill.c#turn"],
    );
    check(files, "half", &["farm.c:2 exact mill.h#half"]);
    check(files, "lone", &["part.c:1 by name mill.c#lone"]);
}

#[test]
fn headers_of_the_standard_library_are_none_of_the_repository() {
    let files = "\
== lib/string.h
int length(char *);
== lib/string.c
int length(char *text) { return 1; }
== a.c
#include <string.h>
int run(char *text) { return length(text); }
== b.c
#include <lib/string.h>
int run_b(char *text) { return length(text); }
";
    check(
        files,
        "length",
        &[
            "a.c:2 by name lib/string.h#length lib/string.c#length",
            "b.c:2 exact lib/string.h#length lib/string.c#length",
        ],
    );
}

#[test]
fn a_type_inside_a_function_is_seen_there_alone() {
    let files = "\
== a/one.go
package a
func One() {
\ttype row struct{}
\t_ = row{}
}
== a/two.go
package a
func Two() { _ = row{} }
";
    check(files, "row", &["a/one.go:4 exact a/one.go#One.row", "a/two.go:2 nothing"]);
}

#[test]
fn a_field_that_is_called_like_a_type_is_not_the_type() {
    let files = "\
== a/one.go
package a
type Hook int
type Mill struct { Hook func() Other }
func (Hook) Turn() {}
func (Other) Turn() {}
func (m *Mill) run(other Mill) {
\tm.Hook()
\tother.Hook().Turn()
}
";
    check(
        files,
        "Hook",
        &[
            "a/one.go:4 exact a/one.go#Hook",
            "a/one.go:7 exact a/one.go#Mill.Hook",
            "a/one.go:8 exact a/one.go#Mill.Hook",
        ],
    );
    check(files, "Turn", &["a/one.go:8 by name a/one.go#Hook.Turn a/one.go#Other.Turn"]);
}

#[test]
fn a_type_parameter_is_not_a_type_of_its_name() {
    let go = "\
== a/one.go
package a
type T struct{}
func (T) Run() {}
func each[T any](all []T, one T) { one.Run() }
type List[T any] struct { head T }
var x T
var two Other
func pair[K, T any](one K, two T) T { two.Run() }
type Other struct{}
func (Other) Run() {}
";
    check(go, "T", &["a/one.go:3 exact a/one.go#T", "a/one.go:6 exact a/one.go#T"]);
    check(
        go,
        "Run",
        &[
            "a/one.go:4 by name a/one.go#T.Run a/one.go#Other.Run",
            "a/one.go:8 by name a/one.go#T.Run a/one.go#Other.Run",
        ],
    );
    let receivers = "\
== a/two.go
package a
type E struct{}
type Stack[E any] struct { head E }
func (s *Stack[E]) Push(e E) {}
func (/* c */ s Stack[E]) Last(e E) {}
func (s Stack[_]) First(e E) {}
";
    check(receivers, "E", &["a/two.go:6 exact a/two.go#E"]);
    let rust = "\
== src/lib.rs
struct T;
struct List<T> { head: T }
impl<T: Copy, const N: usize> List<T> { fn first(&self) -> T { self.head } }
fn each<T>(one: T) -> Option<T> { None }
fn own(of: T) {}
";
    check(rust, "T", &["src/lib.rs:5 exact src/lib.rs#T"]);
    let typescript = "\
== a.ts
class T {}
class List<T> { head: T; first(): T { return this.head } }
function each<T>(one: T): T { return one }
const own: T = new T();
";
    check(typescript, "T", &["a.ts:4 exact a.ts#T", "a.ts:4 exact a.ts#T"]);
    let values = "\
== a.ts
class T { static make() {} }
class Outer<T> { head: T; make() { T.make(); return new T() } }
class Kind<T> { is(x: T) { return x instanceof T } }
";
    check(values, "T", &["a.ts:2 exact a.ts#T", "a.ts:2 exact a.ts#T", "a.ts:3 exact a.ts#T"]);
    check(values, "make", &["a.ts:2 exact a.ts#T.make"]);
    let templates = "\
== a.cpp
class T {};
template <typename T, int N> class List { T head; T first() { T one; return one; } };
template <class T> T pick(T one) { return one; }
T own();
";
    check(templates, "T", &["a.cpp:4 exact a.cpp#T"]);
    let java = "\
== a/T.java
package a;
class T {}
== a/List.java
package a;
class List<T> { T head; <R> R map(T one) { return null; } }
class R { R next; }
";
    check(java, "T", &[]);
    check(java, "R", &["a/List.java:3 exact a/List.java#R"]);
}

#[test]
fn a_parameter_of_a_template_holds_in_its_declaration_alone() {
    let declared = "\
== a.cpp
class Value {};
class Node {
  template <class Value> void set(Value one);
  template <class Value> friend class Other;
  Value own;
};
namespace deep {
template <class Value> class Later;
template <class Value> constexpr int size = sizeof(Value);
Value make();
}
auto each = []<class Value>(Value one) { return one; };
";
    check(declared, "Value", &["a.cpp:5 exact a.cpp#Value", "a.cpp:10 exact a.cpp#Value"]);
    let defaults = "\
== a.cpp
class Kind {};
template <class = Kind> class Tuned { Kind own; };
template <template <class> class Kind, class X> class Uses { Kind<X> head; };
template <class Kind = int> class Named { Kind own; };
";
    check(defaults, "Kind", &["a.cpp:2 exact a.cpp#Kind", "a.cpp:2 exact a.cpp#Kind"]);
    let numbers = "\
== a.cpp
const int Size = 3;
template <int Size> class Box { int all[Size]; int get() { return Size; } };
int all[Size];
";
    check(numbers, "Size", &["a.cpp:3 exact a.cpp#Size"]);
}

#[test]
fn types_that_typescript_infers_or_maps_hold_where_they_are_bound() {
    let files = "\
== a.ts
export class T {}
type Element<A> = A extends (infer T)[] ? T : T;
type Small<A> = A extends (infer T extends string) ? T : never;
type Each<X> = { [T in keyof X]: X[T] };
interface Has { <T>(x: T): T; real: T }
[1].map(<T>(x: T) => x);
function make<T>() { return sql<T>`select`; }
";
    check(files, "T", &["a.ts:2 exact a.ts#T", "a.ts:5 exact a.ts#T"]);
}

#[test]
fn a_key_is_a_use_where_it_is_a_value() {
    let go = "\
== a/a.go
package a
const One = 1
type S struct { One int }
var names = map[int]string{One: \"one\"}
var list = [...]string{One: \"x\"}
var s = S{One: 1}
var maps = map[string]map[int]string{\"a\": {One: \"x\"}}
var lists = []*[]string{{One: \"x\"}}
var structs = map[string][]S{\"a\": {{One: 1}}}
var keys = map[[2]int]S{{One: 1}: {One: 1}}
";
    let lines = [
        (4, "One"),
        (5, "One"),
        (6, "S.One"),
        (7, "One"),
        (8, "One"),
        (9, "S.One"),
        (10, "One"),
        (10, "S.One"),
    ]
    .map(|(line, title)| format!("a/a.go:{line} exact a/a.go#{title}"));
    check(go, "One", &lines.each_ref().map(String::as_str));
    let typescript = "\
== a.tsx
const key = 'a';
function icon() {}
const table = { [key]: 1, icon: 2 };
const button = <Button icon={1} xlink:icon={2}><icon>x</icon><icon /></Button>;
enum Kinds { icon, key = 1 }
";
    check(typescript, "key", &["a.tsx:3 exact a.tsx#key"]);
    check(typescript, "icon", &[]);
}
