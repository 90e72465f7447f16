use super::*;

/// Checks the copy that the grammar reads; runs of blanks count as one.
fn check(language: &str, text: &str, expected: &str) {
    let code = ReadableCode::prepare_text(language, text);
    assert_eq!(code.text.len(), text.len(), "{text}");
    let lines = |text: &str| text.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
    assert_eq!(lines(&code.text), lines(text), "{text}");
    let words: Vec<_> = code.text.split_whitespace().collect();
    assert_eq!(words.join(" "), expected, "{text}");
}

fn check_cpp(text: &str, expected: &str) {
    check("cpp", text, expected);
}

#[test]
fn macros_before_the_name_of_a_class_are_blank() {
    check_cpp("class MYLIB_API Logger : public Base {\n};", "class Logger : public Base { };");
    check_cpp("enum class EXPORT E { A };", "enum class E { A };");
    check_cpp("struct Q_DECL_EXPORT Foo final {};", "struct Foo final {};");
    check_cpp("class ABSL_ATTRIBUTE(x) Foo {};", "class Foo {};");
    check_cpp("class API_A API_B Foo {};", "class Foo {};");
    check_cpp("class LIB_API Foo;", "class Foo;");
    check_cpp("template <class T> class LIB_API Foo<T*> {};", "template <class T> class Foo<T*> {};");
    check_cpp("union ALIGN(8) U { int x; };", "union U { int x; };");
    check_cpp("class Foo FINAL : public B {};", "class Foo : public B {};");
    check_cpp(
        "namespace a { struct API b { struct API c {}; }; }",
        "namespace a { struct b { struct c {}; }; }",
    );
    // Variables and functions keep the names of their types.
    for text in [
        "struct STAT st;",
        "struct STAT st = {0};",
        "struct STAT get(int x);",
        "struct STAT *get(int x) { struct STAT st; struct OTHER st2{}; return 0; }",
        "struct FOO { int x; };",
        "enum COLOR color = RED;",
        "class FOO {};",
    ] {
        check_cpp(text, text);
        check("c", text, text);
    }
}

#[test]
fn macros_before_a_function_are_blank() {
    check_cpp("FMT_API void f();", "void f();");
    check_cpp("FMT_DEPRECATED(\"x\") int g();", "int g();");
    check_cpp(
        "class A { Q_INVOKABLE void x(); API A(int); API ~A(); };",
        "class A { void x(); A(int); ~A(); };",
    );
    check_cpp("static FORCEINLINE int h() { return 1; }", "static int h() { return 1; }");
    check_cpp(
        "template <class T> API const std::vector<T>& f(int);",
        "template <class T> const std::vector<T>& f(int);",
    );
    check_cpp("LIB_API HRESULT Open();", "HRESULT Open();");
    check_cpp("HRESULT LIB_API Open();", "HRESULT Open();");
    check_cpp("int f(int a) LIB_NOEXCEPT ATTRIBUTE_PRINTF(1, 2);", "int f(int a) ;");
    check_cpp("int A::f() const Q_DECL_NOEXCEPT { return 1; }", "int A::f() const { return 1; }");
    check_cpp(
        "struct A { bool operator==(int) const API; API operator bool(); };",
        "struct A { bool operator==(int) const ; operator bool(); };",
    );
    check("c", "LIB_PUBFUN int LIB_CALL\nlibOpen(const char *name);", "int libOpen(const char *name);");
    check("c", "extern API int count;", "extern int count;");
    check("c", "typedef struct { int x; } PACKED point_t;", "typedef struct { int x; } point_t;");
    for text in [
        "HRESULT Open();",
        "void dump(FILE *out);",
        "void dump(FILE *out, CURL *handle);",
        "DWORD x;",
        "DWORD\nopen(int x) { return 1; }",
        "static const DWORD LIMIT = 3;",
        "BOOL\nA::open(int x) { return 1; }",
        "FILE *LOG;",
        "unsigned MAX;",
        "int MAX_SIZE = 3, MIN_SIZE;",
        "typedef unsigned int UINT32;",
        "typedef struct { int x; } POINT;",
        "void f() { DWORD x; LOG(x); ASSERT(x) }",
        "PyAPI_FUNC(int) PyRun(void);",
        "EXPORT(int) run(void);",
        "class FOO { FOO(int x); FOO() : a(1) {} };",
        "std::string A::f(B b) { return C(b); }",
    ] {
        check_cpp(text, &text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
}

#[test]
fn macros_on_lines_of_their_own_are_blank() {
    check_cpp("FMT_BEGIN_NAMESPACE\nint f();\nFMT_END_NAMESPACE\n", "int f();");
    check_cpp("QT_BEGIN_NAMESPACE\nclass A;\nQT_END_NAMESPACE", "class A;");
    check_cpp(
        "namespace a {\nABSL_NAMESPACE_BEGIN\nint f();\nABSL_NAMESPACE_END\n}",
        "namespace a { int f(); }",
    );
    check_cpp("namespace std VISIBILITY(default)\n{ int f(); }", "namespace std { int f(); }");
    check_cpp(
        "class A {\n  Q_OBJECT\n  Q_PROPERTY(int x READ x)\n  Q_DISABLE_COPY(A)\n  A();\n};",
        "class A { A(); };",
    );
    check_cpp(
        "UCLASS(Blueprint)\nclass API A : public B {\n  GENERATED_BODY()\n  UPROPERTY(Edit, Cat = \"x\")\n  int32 x;\n};",
        "class A : public B { int32 x; };",
    );
    check_cpp("class A {\n  DISALLOW_COPY(A);\n int f();\n};", "class A { ; int f(); };");
    check("c", "G_BEGIN_DECLS\nint f(void);\nG_END_DECLS\n", "int f(void);");
    let guarded = "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n#ifdef __cplusplus\n}\n#endif";
    check("c", guarded, "#ifdef __cplusplus #endif int f(void); #ifdef __cplusplus #endif");
    check("c", "module_init(start);\nEXPORT_SYMBOL(f);", "module_init(start); EXPORT_SYMBOL(f);");
}

#[test]
fn qt_cuda_and_compiler_words_are_read() {
    check_cpp(
        "class A {\nsignals:\n void a();\nQ_SIGNALS:\n void b();\npublic slots:\n void c();\nprivate Q_SLOTS:\n void d();\n};",
        "class A { public : void a(); public : void b(); public : void c(); private : void d(); };",
    );
    check_cpp(
        "void f() { emit a(1); Q_EMIT b->c(); int emit = 3; emit = 4; }",
        "void f() { a(1); b->c(); int emit = 3; emit = 4; }",
    );
    check_cpp("__global__ void __launch_bounds__(256, 2) k(int* x) {}", "void k(int* x) {}");
    check_cpp(
        "void f() { k<<<g(n), 32, 0>>>(x); t<int><<<1, 2>>>(y); cout << a << b; }",
        "void f() { k (x); t<int> (y); cout << a << b; }",
    );
    check_cpp("__host__ __device__ inline int f();", "inline int f();");
    check(
        "c",
        "__declspec(dllexport) int __stdcall f(int x) __attribute__((format(printf, 1, 2)));",
        "int f(int x) ;",
    );
    check("c", "LRESULT CALLBACK proc(HWND w) { return 0; }", "LRESULT proc(HWND w) { return 0; }");
    check("c", "static int __init start(void) { return 0; }", "static int start(void) { return 0; }");
    check("c", "typedef int (WINAPI *callback)(int);", "typedef int ( *callback)(int);");
    check("c", "typedef int (LIB_CALL *callback)(int);", "typedef int ( *callback)(int);");
    check("c", "int f() { __asm__ volatile (\"nop\"); }", "int f() { __asm__ volatile (\"nop\"); }");
}

#[test]
fn interfaces_of_objective_c_are_blank() {
    check(
        "c",
        "@class A, B;\n@interface A : NSObject\n- (void)f:(int)x;\n@end\nint g(int x);",
        "int g(int x);",
    );
    check("c", "@protocol A;\n@protocol B <A>\n- (int)f;\n@end\n@import X;\nint g(void);", "int g(void);");
}

#[test]
fn branches_of_a_conditional_share_their_braces() {
    check_cpp(
        "#if A\nvoid f() {\n#else\nvoid f(int) {\n#endif\n}\nAPI int g();",
        "#if A void f() { #else void f(int) { #endif } int g();",
    );
}

#[test]
fn any_text_keeps_its_length_and_lines() {
    let texts = [
        "class",
        "API",
        "API(",
        "enum class A_B",
        "template <",
        "TEST(",
        "TEST()",
        "TEST(,) {",
        "k<<<",
        "@interface",
        "é API int f();",
        "namespace",
        "extern \"C\"",
        "struct A {",
        "}}}}",
        "#if\n#else\n#endif\n#endif",
        "operator",
        "signals:",
        "public",
        "A::",
        "<<<>>>(",
        "TEST_CASE(\"\") {",
    ];
    for text in texts {
        for language in ["c", "cpp"] {
            let code = ReadableCode::prepare_text(language, text);
            assert_eq!(code.text.len(), text.len(), "{text}");
        }
    }
}

/// Checks the titles of the definitions, and the uses as `name within definition`.
fn check_file(path: &str, text: &str, titles: &[&str], uses: &[&str]) {
    let found = crate::extract(path, text);
    assert_eq!(found.problems, Vec::<String>::new(), "{text}");
    let defined: Vec<_> = found.definitions.iter().map(|definition| definition.title.as_str()).collect();
    assert_eq!(defined, titles, "{text}");
    let structure = &found.structure;
    let within = |id: u32| match id {
        0 => "-",
        id => structure.declared[id as usize - 1].title.as_str(),
    };
    let shown: Vec<_> = structure
        .uses
        .iter()
        .map(|found| {
            let call = if found.role == memod_base::types::UseRole::Call { "()" } else { "" };
            format!("{}{call} in {}", structure.names[found.name as usize], within(found.within))
        })
        .collect();
    for expected in uses {
        assert!(shown.iter().any(|found| found == expected), "{expected}: {shown:?}\n{text}");
    }
    // The parts of a qualified name are joined by a dot.
    let is_in_text = |name: &String| {
        name.trim_start_matches("self").trim_end_matches("()").split('.').all(|part| text.contains(part))
    };
    assert!(structure.names.iter().all(is_in_text), "{:?}\n{text}", structure.names);
}

#[test]
fn a_test_has_the_name_of_its_suite_and_its_own() {
    let suite = "TEST_F(Suite, works) {\n  f(1);\n}\n";
    check_file(
        "a.cc",
        suite,
        &["Suite.works"],
        &["Suite in Suite.works", "f() in Suite.works", "TEST_F in Suite.works"],
    );
    check_file("a.c", suite, &["Suite.works"], &["Suite in Suite.works", "f() in Suite.works"]);
    check_file(
        "a.cc",
        "namespace n {\nTEST(Suite, works) { f(); }\nTYPED_TEST(S2, w2) { g(); }\n}",
        &["n", "n::Suite.works", "n::S2.w2"],
        &["g() in n::S2.w2"],
    );
    check_file(
        "a.cc",
        "TEST_CASE(\"vectors: can be sized.\", \"[vector]\") {\n  f();\n}",
        &["vectors: can be sized."],
        &["f() in vectors: can be sized."],
    );
    check_file(
        "a.cc",
        "TEST_CASE_METHOD(Fixture, \"opens\") { f(); }",
        &["Fixture.opens"],
        &["Fixture in Fixture.opens"],
    );
    check_file(
        "a.cc",
        "BENCHMARK_F(Fixture, opens)(benchmark::State& s) { f(s); }",
        &["Fixture.opens"],
        &["Fixture in Fixture.opens", "f() in Fixture.opens"],
    );
    check_file(
        "a.cc",
        "BOOST_FIXTURE_TEST_CASE(opens, Fixture) { f(); }\nBOOST_AUTO_TEST_CASE(shuts) { g(); }",
        &["Fixture.opens", "shuts"],
        &["g() in shuts"],
    );
    check_file(
        "a.c",
        "START_TEST(opens)\n{\n  f();\n}\nEND_TEST\nint g(void) { return 1; }",
        &["opens", "g"],
        &["f() in opens"],
    );
    check_file(
        "a.cc",
        "TEMPLATE_TEST_CASE(\"sized\", \"[x]\", int, Foo) { f<Foo>(); }",
        &["sized"],
        &["Foo in sized", "f() in sized"],
    );
    check_file(
        "a.cc",
        "void TEST_helper() { f(); }\nint LATEST(int x) { return x; }",
        &["TEST_helper", "LATEST"],
        &["f() in TEST_helper"],
    );
}

#[test]
fn macros_use_what_they_expand_to() {
    let text = "int f(int x) { return x; }\n#define CALL(x) f(x)\nint g(void) { return CALL(1); }\n#define LIMIT (MAX_ROWS + 1)\n";
    check_file(
        "a.c",
        text,
        &["f", "CALL", "g", "LIMIT"],
        &["f() in CALL", "CALL() in g", "MAX_ROWS in LIMIT"],
    );
    check_file("a.cpp", text, &["f", "CALL", "g", "LIMIT"], &["f() in CALL", "CALL() in g"]);
}

#[test]
fn functions_in_initialisers_are_used() {
    let text = "static int my_open(void);\nstruct ops o = { .open = my_open, .shut = my_shut };\nstruct ops p = { my_read, 3 };\nint (*q[])(void) = { my_write };\nstruct ops r[] = { [1] = { .open = &my_stop } };\n";
    check_file(
        "a.c",
        text,
        &["my_open", "o", "p", "r"],
        &["my_open in o", "my_shut in o", "my_read in p", "my_write in -", "my_stop in r"],
    );
}

#[test]
fn kernels_signals_and_blanked_macros_are_used() {
    check_file(
        "a.cu",
        "__global__ void k(int* x) { }\nvoid f(int n) { k<<<blocks(n), 32>>>(p); }",
        &["k", "f"],
        &["k() in f", "blocks() in f"],
    );
    check_file(
        "a.cpp",
        "class API A {\nsignals:\n  void done(int x);\n};\nvoid g(A& a) { emit done(3); }",
        &["A", "A::done", "g"],
        &["API in A", "done() in g"],
    );
    check_file(
        "a.h",
        "class ATTR(helper(3)) A { int f() noexcept(noexcept(g())); };",
        &["A", "A::f"],
        &["helper() in A", "g() in A::f"],
    );
}
