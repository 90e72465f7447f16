//! Checks types of one name in namespaces of C++.

use super::check;

#[test]
fn namespaces_of_one_file_and_what_using_brings_in() {
    check(
        "\
== a.cpp
namespace a { struct Order { void total() {} }; }
namespace b { struct Order { void total() {} }; }
struct Outer { struct Order { void total() {} }; Order own; void f() { own.total(); } };
void f1(a::Order o) { o.total(); }
void f2(b::Order& o) { o.total(); }
void f3(Outer::Order o) { o.total(); }
void f4() { using namespace a; Order o; o.total(); }
void f5() { using b::Order; Order o; o.total(); }
namespace x = b;
void f6(x::Order o) { o.total(); }
using BO = b::Order;
void f7(BO o) { o.total(); }
typedef a::Order AO;
void f8(AO o) { o.total(); }
namespace b { void f9(Order o) { o.total(); } }
namespace b { void f10(a::Order o) { o.total(); } }
",
        "total",
        &[
            "a.cpp:3 exact a.cpp#Outer::Order::total",
            "a.cpp:4 exact a.cpp#a::Order::total",
            "a.cpp:5 exact a.cpp#b::Order::total",
            "a.cpp:6 exact a.cpp#Outer::Order::total",
            "a.cpp:7 exact a.cpp#a::Order::total",
            "a.cpp:8 exact a.cpp#b::Order::total",
            "a.cpp:10 exact a.cpp#b::Order::total",
            "a.cpp:12 exact a.cpp#b::Order::total",
            "a.cpp:14 exact a.cpp#a::Order::total",
            "a.cpp:15 exact a.cpp#b::Order::total",
            "a.cpp:16 exact a.cpp#a::Order::total",
        ],
    );
}

#[test]
fn namespaces_of_headers() {
    check(
        "\
== a/h.hpp
namespace a { struct Order { void total() {} }; }
== b/i.hpp
namespace b { struct Order { void total() {} }; }
== c.cpp
#include \"a/h.hpp\"
#include \"b/i.hpp\"
void f1(a::Order o) { o.total(); }
void f2(b::Order* o) { o->total(); }
using b::Order;
void f3(Order o) { o.total(); }
void f4(std::Order o) { o.total(); }
void f5() { b::Order o; o.total(); }
void f6() { a::Order o{}; o.total(); }
",
        "total",
        &[
            "c.cpp:3 exact a/h.hpp#a::Order::total",
            "c.cpp:4 exact b/i.hpp#b::Order::total",
            "c.cpp:6 exact b/i.hpp#b::Order::total",
            "c.cpp:7 by name a/h.hpp#a::Order::total b/i.hpp#b::Order::total",
            "c.cpp:8 exact b/i.hpp#b::Order::total",
            "c.cpp:9 exact a/h.hpp#a::Order::total",
        ],
    );
    check(
        "\
== a.h
namespace a { class Order { public: void total(); void f(); }; }
namespace b { class Order { public: void total(); void f(); }; }
== a.cpp
#include \"a.h\"
namespace a { void Order::total() {} void Order::f() { total(); this->total(); } }
void b::Order::total() {}
void b::Order::f() { total(); this->total(); }
== u.cpp
#include \"a.h\"
void g(a::Order& o) { o.total(); }
using namespace b;
void h(Order& o) { o.total(); }
void i(b::Order& o) { auto p = b::Order(); p.total(); b::Order().total(); }
",
        "total",
        &[
            "a.cpp:2 exact a.cpp#a::Order::total",
            "a.cpp:2 by name a.h#a::Order::total a.h#b::Order::total",
            "a.cpp:4 exact a.cpp#b::Order::total",
            "a.cpp:4 by name a.h#a::Order::total a.h#b::Order::total",
            "u.cpp:2 exact a.h#a::Order::total",
            "u.cpp:4 exact a.h#b::Order::total",
            "u.cpp:5 by name a.h#a::Order::total a.h#b::Order::total",
            "u.cpp:5 exact a.h#b::Order::total",
        ],
    );
}
