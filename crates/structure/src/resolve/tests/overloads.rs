//! Tests which of several functions of one name a call means by the number of its arguments.

use super::check;

#[test]
fn overloads_of_java_are_told_apart() {
    let files = "\
== src/a/Log.java
package a;
class Log {
    void write(String text) { write(text, 0); }
    void write(String text, int level) {}
    void write(String first, String second, Object... more) {}
    void run(Log other, String[] parts) {
        write(\"x\");
        other.write(\"x\", 1);
        other.write(\"x\", \"y\", 1, 2);
        write();
    }
}
";
    check(
        files,
        "write",
        &[
            // The last may be meant, if the types do not fit the other.
            "src/a/Log.java:3 exact src/a/Log.java#Log.write:4 src/a/Log.java#Log.write:5",
            "src/a/Log.java:7 exact src/a/Log.java#Log.write:3",
            "src/a/Log.java:8 exact src/a/Log.java#Log.write:4 src/a/Log.java#Log.write:5",
            "src/a/Log.java:9 exact src/a/Log.java#Log.write:5",
            "src/a/Log.java:10 nothing",
        ],
    );
}

#[test]
fn a_type_that_is_made_means_its_constructor_too() {
    let files = "\
== a/Mill.java
package a;
class Mill {
    Mill() { this(1); }
    Mill(int stones) {}
    static Mill two() { return new Mill(2); }
    static Mill any() { return new Mill(); }
}
";
    check(
        files,
        "Mill",
        &[
            "a/Mill.java:3 exact a/Mill.java#Mill.Mill:4",
            "a/Mill.java:5 exact a/Mill.java#Mill",
            "a/Mill.java:5 exact a/Mill.java#Mill a/Mill.java#Mill.Mill:4",
            "a/Mill.java:6 exact a/Mill.java#Mill",
            "a/Mill.java:6 exact a/Mill.java#Mill a/Mill.java#Mill.Mill:3",
        ],
    );
}

#[test]
fn an_inherited_overload_is_the_one_that_takes_the_arguments() {
    let files = "\
== a/Base.java
package a;
class Base {
    void close() {}
}
== a/File.java
package a;
class File extends Base {
    void close(boolean now) {}
    void end() { close(); close(true); }
}
";
    check(
        files,
        "close",
        &["a/File.java:4 exact a/Base.java#Base.close", "a/File.java:4 exact a/File.java#File.close"],
    );
}

#[test]
fn overloads_of_cpp_may_have_defaults_elsewhere() {
    let files = "\
== a.cpp
int area(int side) { return side * side; }
int area(int width, int height) { return width * height; }
int scaled(int by, int times);
void run() { area(1); area(1, 2); scaled(1); }
";
    // The second may have a default for its last parameter.
    check(files, "area", &["a.cpp:4 exact a.cpp#area:1 a.cpp#area:2", "a.cpp:4 exact a.cpp#area:2"]);
    check(files, "scaled", &["a.cpp:4 exact a.cpp#scaled"]);
}

#[test]
fn a_name_alone_means_no_function_that_takes_another_number() {
    let files = "\
== a/a.go
package a

type Store struct{}
type Cache struct{}

func (s *Store) New(name string, size int) {}
func (c *Cache) New() {}
func pair() (string, int) { return \"\", 0 }

func run(of any) {
\tof.other().New()
\tof.other().New(\"a\", 1)
\tof.other().New(\"a\")
\tof.other().New(pair())
}
";
    check(
        files,
        "New",
        &[
            "a/a.go:11 by name a/a.go#Cache.New",
            "a/a.go:12 by name a/a.go#Store.New",
            "a/a.go:13 nothing",
            "a/a.go:14 by name a/a.go#Store.New a/a.go#Cache.New",
        ],
    );
}

#[test]
fn a_method_of_rust_may_be_given_its_receiver() {
    let files = "\
== src/a.rs
struct A;
impl A {
    fn set(&self, value: u8) {}
}
fn run(a: A) {
    a.set(1);
    A::set(&a, 1);
}
";
    check(files, "set", &["src/a.rs:6 exact src/a.rs#A::set", "src/a.rs:7 exact src/a.rs#A::set"]);
}

#[test]
fn a_macro_of_c_may_stand_for_several_arguments() {
    let files = "\
== a.c
#define PAIR 1, 2
static int sum(int a, int b) { return a + b; }
int none(void) { return sum(PAIR); }
int also(void) { return none(); }
";
    check(files, "sum", &["a.c:3 exact a.c#sum"]);
    check(files, "none", &["a.c:4 exact a.c#none"]);
}

#[test]
fn members_are_told_from_fields_of_their_names() {
    let files = "\
== a/Base.java
package a;
class Base<T> {
    Base(int stones) {}
    int total() { return 1; }
}
== a/Part.java
package a;
class Part extends Base<String> {
    int total;
    int sum() { return total; }
    int other() { Runnable run = new Runnable() { public void run() { total(); } }; return total(); }
    class Inner { int all() { return total(); } }
    static Base<String> make() { return new Base<>(2); }
}
";
    let uses: [&str; 3] = [
        "a/Part.java:4 exact a/Part.java#Part.total",
        "a/Part.java:5 exact a/Base.java#Base.total",
        "a/Part.java:5 exact a/Base.java#Base.total",
    ];
    check(files, "total", &[&uses[..], &["a/Part.java:6 exact a/Base.java#Base.total"]].concat());
    check(
        files,
        "Base",
        &[
            "a/Part.java:2 exact a/Base.java#Base",
            "a/Part.java:7 exact a/Base.java#Base",
            "a/Part.java:7 exact a/Base.java#Base a/Base.java#Base.Base",
        ],
    );
}

#[test]
fn parameters_that_cannot_be_counted_exclude_nothing() {
    let files = "\
== a.c
int old_style() { return 1; }
#define TWO int a, int b
int two_of(TWO) { return a; }
int with_mark(int a UNUSED, int b) { int (*call)(int) = 0; return call(a); }
== b.c
int run(void) { return old_style(1, 2) + two_of(1, 2) + with_mark(1, 2); }
";
    check(files, "old_style", &["b.c:1 likely a.c#old_style"]);
    check(files, "two_of", &["b.c:1 likely a.c#two_of"]);
    check(files, "with_mark", &["b.c:1 likely a.c#with_mark"]);
    let files = "\
== src/a.rs
struct Task;
impl Task {
    fn run_boxed(self: Box<Self>, value: u8) {}
    fn run_here(&self, #[cfg(unix)] one: u8, #[cfg(windows)] other: u16) {}
}
fn run(task: Box<Task>) {
    make().run_boxed(1);
    make().run_here(1);
}
";
    check(files, "run_boxed", &["src/a.rs:7 likely src/a.rs#Task::run_boxed"]);
    check(files, "run_here", &["src/a.rs:8 likely src/a.rs#Task::run_here"]);
}

#[test]
fn constructors_are_called_without_the_name_of_the_type() {
    let files = "\
== a/Mill.java
package a;
class Mill {
    Mill() { this(1); }
    Mill(int stones) {}
}
== b/Sub.java
package b;
import a.Mill;
class Sub extends a.Mill {
    Sub() { super(); }
    Object other() { return new a.Mill(2); }
}
== b/Color.java
package b;
enum Color {
    RED, GREEN(1);
    Color() {}
    Color(int shade) {}
}
";
    check(
        files,
        "Mill",
        &[
            "a/Mill.java:3 exact a/Mill.java#Mill.Mill:4",
            "b/Sub.java:2 exact a/Mill.java#Mill",
            "b/Sub.java:3 exact a/Mill.java#Mill",
            "b/Sub.java:4 exact a/Mill.java#Mill.Mill:3",
            "b/Sub.java:5 exact a/Mill.java#Mill a/Mill.java#Mill.Mill:4",
        ],
    );
    check(files, "Color", &["b/Color.java:3 exact b/Color.java#Color.Color:5"]);
}

#[test]
fn static_imports_and_method_references_of_java_mean_members() {
    let files = "\
== a/Mill.java
package a;
public class Mill {
    static int grind(int n) { return n; }
    static int grind(int n, int m) { return n; }
}
== b/One.java
package b;
import static a.Mill.grind;
class One { int go() { return grind(2); } }
== b/All.java
package b;
import static a.Mill.*;
class All { int go() { return grind(2, 3); } }
== b/Reference.java
package b;
import a.Mill;
class Reference { F go() { return f(Mill::grind, other.grind()); } }
";
    check(
        files,
        "grind",
        &[
            "b/One.java:2 exact a/Mill.java#Mill.grind:3 a/Mill.java#Mill.grind:4",
            "b/One.java:3 exact a/Mill.java#Mill.grind:3",
            "b/All.java:3 exact a/Mill.java#Mill.grind:4",
            "b/Reference.java:3 exact a/Mill.java#Mill.grind:3 a/Mill.java#Mill.grind:4",
            "b/Reference.java:3 nothing",
        ],
    );
}

#[test]
fn a_call_of_c_means_no_type() {
    let files = "\
== deps/client.c
void *redisCommand(int c) { return 0; }
== src/server.h
struct redisCommand { int flags; };
struct redisCommand *look(void);
== src/check.c
#include \"server.h\"
int check(void) { redisCommand(1); return 0; }
";
    check(
        files,
        "redisCommand",
        &[
            "src/server.h:2 exact src/server.h#redisCommand",
            "src/check.c:2 likely deps/client.c#redisCommand",
        ],
    );
}
