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
            "src/a/Log.java:3 exact src/a/Log.java#Log.write:4",
            "src/a/Log.java:7 exact src/a/Log.java#Log.write:3",
            "src/a/Log.java:8 exact src/a/Log.java#Log.write:4",
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
    check(files, "area", &["a.cpp:4 exact a.cpp#area:1", "a.cpp:4 exact a.cpp#area:2"]);
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
