//! Checks that the chunks of every language cover hostile and ordinary texts.

use std::fmt::Write as _;

use super::*;
use crate::components::ComponentFormat;
use crate::lang::FileFormat;

fn extract_as(path: &str, text: &str) -> Extraction {
    let FileFormat::Code(language) = lang::detect_format(path, "") else { panic!("{path}: no language") };
    let extracted = extract(language, path, text);
    check_cover(text, &extracted);
    extracted
}

/// Chunks are in order, on character boundaries, apart from each other, not too long, and leave out
/// only what says nothing.
fn check_cover(text: &str, extracted: &Extraction) {
    let lines = LineIndex::new(text);
    let mut at = 0;
    for chunk in extracted.chunks.iter().filter(|chunk| chunk.kind != ChunkKind::Map) {
        assert!(chunk.bytes.start >= at && chunk.bytes.end > chunk.bytes.start, "{chunk:?} after {at}");
        let body = text.get(chunk.bytes.clone()).expect("on character boundaries");
        assert!(body.chars().count() <= CHUNK_CHARS + SHORT_TAIL_BYTES, "{chunk:?}");
        assert!(is_blank_or_closing(&text[at..chunk.bytes.start]), "lost: {}", &text[at..chunk.bytes.start]);
        assert_eq!(chunk.lines, lines.line_span(&chunk.bytes));
        at = chunk.bytes.end;
    }
    assert!(is_blank_or_closing(&text[at..]), "lost: {}", &text[at..]);
    let maps: Vec<_> = extracted.chunks.iter().filter(|chunk| chunk.kind == ChunkKind::Map).collect();
    assert!(maps.len() <= 1);
    assert!(maps.iter().all(|map| map.text.as_ref().is_some_and(|text| text.chars().count() <= 6_000)));
    assert!(extracted.references.is_sorted());
}

/// Returns one line a chunk: kind, first and last line, symbol, title.
fn listed(extracted: &Extraction) -> String {
    let mut listed = String::new();
    for chunk in &extracted.chunks {
        let (first, last) = chunk.lines;
        let symbol = chunk.symbol.as_deref().unwrap_or("-");
        let title = chunk.title.as_deref().unwrap_or("-");
        writeln!(listed, "{} {first}-{last} {symbol} | {title}", chunk.kind.as_str()).unwrap();
    }
    listed
}

fn check(path: &str, text: &str, expected: &str) {
    assert_eq!(listed(&extract_as(path, text)).trim(), expected.trim(), "{path}");
}

fn fixture(path: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    std::fs::read_to_string(format!("{root}/grammars/{path}")).unwrap()
}

#[test]
fn a_rust_file_becomes_a_map_and_its_definitions() {
    let expected = "\
map 1-64 - | -
text 1-4 - | -
symbol 6-7 BOILING | BOILING
symbol 8-8 SHELVES | SHELVES
symbol 10-11 Heat | Heat
symbol 12-15 Unit STEP heat | Heat::Unit … heat
symbol 17-20 is_done | Heat::is_done
symbol 23-28 Kettle | Kettle
symbol 30-37 heat | Kettle::heat
symbol 40-43 Mode | Mode
symbol 45-45 Shelf | Shelf
symbol 47-51 pour | pour
symbol 53-53 inner | inner
symbol 54-56 Bits | inner::Bits
symbol 58-63 count | inner::count";
    check("a.rs", &fixture("rust/fixture.rs"), expected);
}

#[test]
fn a_python_file_becomes_a_map_and_its_definitions() {
    let expected = "\
map 1-49 - | -
text 1-5 - | -
symbol 7-10 MAX_DAYS default_shelf Days | MAX_DAYS … Days
symbol 13-15 Overdue | Overdue
symbol 18-24 Loan | Loan
symbol 26-27 Meta | Loan.Meta
symbol 29-33 days | Loan.days
symbol 35-39 remind | Loan.remind
symbol 42-45 loans | loans
text 48-49 - | -";
    check("a.py", &fixture("python/fixture.py"), expected);
}

#[test]
fn the_map_shows_signatures_and_docs() {
    let extracted = extract_as("a.py", &fixture("python/fixture.py"));
    let expected = "\
MAX_DAYS default_shelf Days Overdue Loan Meta days remind wording loans

Lends books and counts the days.
MAX_DAYS = 28
default_shelf: Shelf = empty_shelf()
type Days = int
class Overdue(Exception)
  Raised when nobody brought it back.
class Loan(Base, metaclass=Registry)
  One book in somebody's hands.
  class Meta
  @property @cached(ttl=60) def days(self) -> Days
    Days since it left.
  async def remind(self, *, politely: bool = True)
@app.route(\"/loans\") def loans(shelf: Shelf, day: datetime.date = None) -> list[Loan]";
    assert_eq!(extracted.chunks[0].text.as_deref(), Some(expected));
}

#[test]
fn long_definitions_are_cut_and_keep_their_names() {
    let body = "        let x = compute(1);\n".repeat(100);
    let text = format!("impl Big {{\n    fn run() {{\n{body}        fn inner() {{}}\n{body}    }}\n}}\n");
    let extracted = extract_as("a.rs", &text);
    let symbols: Vec<_> = extracted.chunks.iter().filter_map(|chunk| chunk.symbol.as_deref()).collect();
    assert_eq!(symbols, ["run", "run", "inner", "run", "run"]);
    assert!(
        extracted.chunks[1..].iter().all(|chunk| chunk.title.as_deref().unwrap().starts_with("Big::run"))
    );
}

#[test]
fn a_scope_is_no_symbol() {
    let expected = "\
map 1-9 - | -
symbol 1-1 A | A
text 2-3 - | A
symbol 4-6 f | B::f
text 8-9 - | A … B";
    let text = "struct A;\nimpl Copy for A {\n}\nimpl B {\n    fn f() {\n    }\n}\nimpl X for A {}\nimpl X for B {}\n";
    check("a.rs", text, expected);
}

#[test]
fn many_short_definitions_share_chunks() {
    let text: String = (0..20_000).fold(String::new(), |text, n| text + &format!("const C{n}: u8 = 1;\n"));
    let extracted = extract_as("a.rs", &text);
    assert!(extracted.chunks.len() < 400, "{}", extracted.chunks.len());
    let names = extracted.chunks.iter().filter_map(|chunk| chunk.symbol.as_deref());
    assert_eq!(names.flat_map(|names| names.split(' ')).count(), 20_000);
}

#[test]
fn hostile_text_is_cut_by_lines() {
    let deep = [
        "(".repeat(500_000),
        "{\n".repeat(100_000),
        "fn f() { g(".repeat(5_000),
        "[\n".repeat(499) + &"]".repeat(499) + "\n" + &"(\n".repeat(600),
    ];
    // Of a component, only scripts and expressions are parsed.
    let parsed = |language: &&Language| ComponentFormat::from_language(language.name).is_none();
    for language in lang::LANGUAGES.iter().filter(parsed) {
        for text in &deep {
            let extracted = extract(language, "a", text);
            check_cover(text, &extracted);
            assert!(extracted.minified || !extracted.problems.is_empty(), "{}", language.name);
        }
    }
}

#[test]
fn odd_text_never_panics() {
    let odd = [
        String::new(),
        "\n".to_owned(),
        "\u{feff}".to_owned(),
        "\0".repeat(2_000),
        "class A\0 { \0 }\r\n\0def f(\0): pass\0".to_owned(),
        "x".repeat(1 << 20),
        "fn é\u{301}() { '\u{10ffff}' } \u{202e}class 日本 { void 語() {} }\u{2028}\r def \u{fffd}: \u{1}"
            .to_owned(),
        "/* ".repeat(200).replace("* ", "*\n"),
        "\"'`#{$(<<A\n".repeat(300),
        "a=b+\n".repeat(300),
        "if x:\n elif\n else\nend fi }\n".repeat(200),
        (0..150).fold(String::new(), |text, n| text + &" ".repeat(n) + "def f():\n"),
        "-!~&*@ \n".repeat(200),
    ];
    for language in &lang::LANGUAGES {
        for text in &odd {
            check_cover(text, &extract(language, "a.h", text));
        }
    }
}

#[test]
fn every_fixture_is_covered() {
    for language in &lang::LANGUAGES {
        let directory = format!("{}/../../grammars/{}", env!("CARGO_MANIFEST_DIR"), language.name);
        for file in std::fs::read_dir(directory).unwrap() {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            for text in [text.replace('\n', "\r\n"), format!("\u{feff}{text}"), text.replace('e', "é"), text]
            {
                check_cover(&text, &extract(language, path.to_str().unwrap(), &text));
            }
        }
    }
}

/// Returns the names of the definitions of a text.
fn definition_titles(path: &str, text: &str) -> Vec<String> {
    extract_as(path, text).structure.declared.into_iter().map(|own| own.title).collect()
}

#[test]
fn a_line_of_kotlin_with_several_blocks_hides_nothing_after_it() {
    for (line, titles) in [
        ("class A { companion object { const val X = 1 } }", "A A.X"),
        ("class A { companion object { fun of() = A() } }", "A A.of"),
        ("class A { class B { fun go() = 1 } }", "A A.B A.B.go"),
        ("class A { var x = 1 }; class B { val y = 2 }", "A A.x B B.y"),
        ("class A { val s = \"a ${ b } c\"; object Y { val t = 1 } }", "A A.s A.Y A.Y.t"),
        ("class A { init { x() }; object Y { val z get() = 1 } }", "A A.Y A.Y.z"),
        (
            "sealed interface S { class L(val a: Int) : S; object N : S { val b = 1 } }",
            "S S.L S.L.a S.N S.N.b",
        ),
        (
            "class A(val id: Int) { var total = 3; fun go() = 1; val l: List<X> = listOf() }",
            "A A.id A.total A.go A.l",
        ),
    ] {
        let found = definition_titles("a.kt", &format!("{line}\n\nfun last() = 2\n"));
        assert_eq!(found.join(" "), format!("{titles} last"), "{line}");
    }
}

#[test]
fn a_block_that_two_branches_of_c_sharp_open_hides_nothing_around_it() {
    let two = "class A {\n#if X\n  void M() {\n#else\n  void M(int a) {\n#endif\n  }\n  int N() => 1;\n}\nclass Last {}\n";
    assert_eq!(definition_titles("a.cs", two), ["A", "A.M", "A.N", "Last"]);
    let base = "#if X\nclass A : B {\n#elif Y\nclass A : C {\n#else\nclass A {\n#endif\n  int N() => 1;\n}\nclass Last {}\n";
    assert_eq!(definition_titles("a.cs", base), ["A", "A.N", "Last"]);
    let apart = "class A {\n  void M() {\n#if X\n    if (a) {\n#endif\n    b();\n#if X\n    }\n#endif\n  }\n}\nclass Last {}\n";
    assert_eq!(definition_titles("a.cs", apart), ["A", "A.M", "Last"]);
    let whole = "class A {\n#if X\n  void M() { }\n#else\n  void N() { }\n#endif\n}\n";
    assert_eq!(definition_titles("a.cs", whole), ["A", "A.M", "A.N"]);
}
