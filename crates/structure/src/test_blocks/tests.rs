use super::{TestBlock, find_block_at, list_test_blocks};

#[track_caller]
fn check(path: &str, text: &str, expected: &[(&str, (u32, u32))]) {
    let found = list_test_blocks(path, text.lines());
    let found: Vec<_> = found.iter().map(|block| (block.name.as_str(), block.lines)).collect();
    assert_eq!(found, expected, "{path}\n{text}");
}

fn list_parametrised(path: &str, text: &str) -> Vec<String> {
    let blocks = list_test_blocks(path, text.lines()).into_iter();
    blocks.filter(|block| block.is_parametrised).map(|block| block.name).collect()
}

#[test]
fn blocks_of_javascript_are_named_by_their_titles() {
    let text = "import { it } from 'vitest'\n\ndescribe('parser', () => {\n  it(\"parses empty input\", async () => {\n    parse('')\n  })\n\n  \
                it.each([1, 2])('adds %i', (n) => {\n    add(n)\n  })\n  test.skip(\n    `a 'quoted' \\`one\\``,\n    () => {},\n  )\n})\n\n\
                test('outside', () => one())\n";
    let expected = [
        ("parser", (3, 15)),
        ("parser > parses empty input", (4, 6)),
        ("parser > adds %i", (8, 10)),
        ("parser > a 'quoted' `one`", (11, 14)),
        ("outside", (17, 17)),
    ];
    check("src/parser.test.ts", text, &expected);
    assert_eq!(list_parametrised("a.test.ts", text), ["parser > adds %i"]);
    let table = "describe(Store.name, () => {\n  test.each([\n    [1, 2],\n  ])('sums %i', (a, b) => {\n    sum(a)\n  })\n})\n";
    check("a.spec.js", table, &[("Store.name", (1, 7)), ("Store.name > sums %i", (4, 6))]);
    check("a.test.tsx", "it.concurrent<Fixture>('typed', () => {\n})\n", &[("typed", (1, 2))]);
    // These lines only look like tests.
    check("a.test.ts", "const test = suite.find('x')\nit = 3\nitems('a', 1)\ntest.use({ a: 1 })\n", &[]);
}

#[test]
fn tests_of_javascript_on_one_line_in_loops_and_in_tables_are_named() {
    let one_line =
        "describe('a', () => { it('b', () => f()); it('c', () => g()) })\nit('d', f); test('e', g)\n";
    let expected = [("a", (1, 1)), ("a > b", (1, 1)), ("a > c", (1, 1)), ("d", (2, 2)), ("e", (2, 2))];
    check("a.test.ts", one_line, &expected);
    let loops = "describe('all', () => {\n  for (const x of xs) it(`does ${x}`, () => f(x))\n  cases.forEach((c) => test(c.name, () => {\n    f(c)\n  }))\n  \
                 if (isNode) it('in node', f)\n  ;[1, 2].map(n => { it('n ' + n, f) })\n  for (const y of ys) {\n    it(`${y} ` +\n      'again', () => {\n    })\n  }\n})\n";
    let expected = [
        ("all", (1, 13)),
        ("all > does ${x}", (2, 2)),
        ("all > c.name", (3, 5)),
        ("all > in node", (6, 6)),
        ("all > n ", (7, 7)),
        ("all > ${y} again", (9, 11)),
    ];
    check("a.test.ts", loops, &expected);
    assert_eq!(list_parametrised("a.test.ts", loops), ["all > does ${x}", "all > ${y} again"]);
    let tables = "test.for([1, 2])('one %i', (n) => {\n})\ntest.for([\n  1,\n] as const)('two %i', (n) => {\n})\nit.each`\n  a | b\n  ${1} | ${2}\n`('three $a', \
                  ({ a }) => {\n})\nit.each(\n  cases,\n)('four', (n) => {\n})\ndescribe.each([\n  1,\n])('five %i', (n) => {\n  it('six', () => {\n  })\n})\n\
                  it.skipIf(isCi)('seven', () => {\n})\nit.each<[string, () => void]>([['a', f]])('eight', (n) => {\n})\n";
    let expected = [
        ("one %i", (1, 2)),
        ("two %i", (5, 6)),
        ("three $a", (10, 11)),
        ("four", (14, 15)),
        ("five %i", (18, 21)),
        ("five %i > six", (19, 20)),
        ("seven", (22, 23)),
        ("eight", (24, 25)),
    ];
    check("a.test.ts", tables, &expected);
    let parametrised = ["one %i", "two %i", "three $a", "four", "eight"];
    assert_eq!(list_parametrised("a.test.ts", tables), parametrised);
}

#[test]
fn titles_of_javascript_are_those_that_the_runner_prints() {
    let text = "it('isn\\'t \\\"it\\\"', f)\nit('a\\u00e9\\x21\\u{1F600}', f)\nit(\"tab\\tand \\\\n\", f)\nit('one ' + 'two', f)\n\
                it(\n  'on the ' +\n    'next', f)\nit(`say ${x} \\` twice`, f)\n";
    let expected = [
        ("isn't \"it\"", (1, 1)),
        ("aé!😀", (2, 2)),
        ("tab\\tand \\n", (3, 3)),
        ("one two", (4, 4)),
        ("on the next", (5, 7)),
        ("say ${x} ` twice", (8, 8)),
    ];
    check("a.test.ts", text, &expected);
}

#[test]
fn runners_of_javascript_with_other_names_are_known() {
    let text = "const myTest = base.extend({})\nexport const dbTest = test.extend<Db>({ db })\nconst run = isNode ? it : it.skip\n\
                dbTest('reads', () => {\n})\nrun('in node', f);\n(isNode ? describe : describe.skip)('group', () => {\n  it('inside', f)\n})\n\
                test.describe('pages', () => {\n  test('opens', async () => {\n    await test.step('a step', f)\n  })\n})\n\
                test('outer', async t => {\n  await t.test('inner', f)\n  t.test('more', t => {\n  })\n})\nmyTest('unknown', f)\n/x/.test('no')\n";
    let expected = [
        ("reads", (4, 5)),
        ("in node", (6, 6)),
        ("group", (7, 9)),
        ("group > inside", (8, 8)),
        ("pages", (10, 14)),
        ("pages > opens", (11, 13)),
        ("outer", (15, 19)),
        ("outer > inner", (16, 16)),
        ("outer > more", (17, 18)),
    ];
    check("a.test.ts", text, &expected);
}

#[test]
fn tests_of_python_are_functions_and_methods_named_so() {
    let text = "import pytest\n\n\n@pytest.fixture\ndef test_app_dir():\n    pass\n\n\n@pytest.mark.parametrize(\n    'a',\n    [1, 2],\n)\ndef \
                test_sum(\n    a,\n):\n    assert a\n\n\nclass TestStore:\n    async def test_load(self):\n        load()\n\n    def helper(self):\n        \
                pass\n\n\ndef build():\n    pass\n";
    let expected = [("test_sum", (13, 16)), ("TestStore", (19, 24)), ("TestStore::test_load", (20, 21))];
    check("tests/test_store.py", text, &expected);
    assert_eq!(list_parametrised("tests/test_store.py", text), ["test_sum"]);
    check("tests/conftest.py", "import pytest\n\n@pytest.fixture\ndef app():\n    pass\n", &[]);
    let marked = "import pytest\n\n@pytest.mark.usefixtures('db')\ndef test_a():\n    pass\n";
    check("tests/test_a.py", marked, &[("test_a", (4, 5))]);
}

#[test]
fn subtests_of_go_follow_their_function() {
    let text = "package p\n\nfunc TestParse(t *testing.T) {\n\tt.Run(\"empty input\", func(t *testing.T) {\n\t\tParse(\"\")\n\t})\n\tfor _, c := range \
                cases {\n\t\tt.Run(c.name, func(t *testing.T) {\n\t\t\tParse(c.in)\n\t\t})\n\t}\n}\n\nfunc (s *Suite) TestLoad() {\n}\n\nfunc helper() \
                {\n}\n";
    let expected = [("TestParse", (3, 12)), ("TestParse/empty_input", (4, 6)), ("TestLoad", (14, 15))];
    check("p/parse_test.go", text, &expected);
    check("p/testing.go", text, &[]);
}

#[test]
fn tests_of_rust_are_marked_by_any_macro() {
    let text = "#[test]\nfn plain() {\n    one();\n}\n\n#[tokio::test(flavor = \"multi_thread\")]\nasync fn waits() {\n}\n\n#[rstest]\n#[case(1)]\n#[case(2)]\nfn \
                cases(#[case] n: u32) {\n}\n\n#[test_case(1; \"one\")]\n// said why\nfn titled(n: u32) {\n}\n\nproptest! {\n    #[test]\n    fn any(n in 0..9) {\n        \
                f(n);\n    }\n}\n\n#[allow(dead_code)]\nfn helper() {\n}\n";
    let expected =
        [("plain", (2, 4)), ("waits", (7, 8)), ("cases", (13, 14)), ("titled", (18, 19)), ("any", (23, 25))];
    check("tests/all.rs", text, &expected);
    assert_eq!(list_parametrised("tests/all.rs", text), ["cases", "titled"]);
    check("src/lib.rs", "#[inline]\npub fn run() {\n}\n#[cfg(test)]\nmod tests {\n}\n", &[]);
}

#[test]
fn tests_of_java_and_kotlin_are_annotated_or_named_so() {
    let text = "class StoreTest {\n  @Test\n  public void loads() throws Exception {\n    load();\n  }\n\n  @ParameterizedTest\n  @ValueSource(ints = {1, \
                2})\n  void sums(int n) {\n  }\n\n  @BeforeEach\n  void setUp() {\n  }\n\n  public void testOld() {\n  }\n}\n";
    check("src/StoreTest.java", text, &[("loads", (3, 5)), ("sums", (9, 10)), ("testOld", (16, 17))]);
    assert_eq!(list_parametrised("src/StoreTest.java", text), ["sums"]);
    check("ATest.kt", "class A {\n    @Test\n    fun `adds two`() {\n    }\n}\n", &[("adds two", (3, 4))]);
}

#[test]
fn tests_of_cpp_are_macros() {
    let text = "TEST(Suite, works) {\n  f();\n}\n\nTEST_F(Fixture, also)\n{\n  g();\n}\n\nTEST_CASE(\"a title\", \"[tag]\") {\n  SECTION(\"inner\") {\n    \
                h();\n  }\n}\nINSTANTIATE_TEST_SUITE_P(A, B, C);\n";
    let expected = [
        ("Suite.works", (1, 3)),
        ("Fixture.also", (5, 8)),
        ("a title", (10, 14)),
        ("a title > inner", (11, 13)),
    ];
    check("a_test.cc", text, &expected);
}

#[test]
fn the_innermost_test_around_a_line_is_found() {
    let text = "describe('a', () => {\n  const x = load()\n  it('b', () => {\n    run()\n  })\n})\nother()\n";
    let blocks = list_test_blocks("a.test.ts", text.lines());
    let name_at = |line| find_block_at(&blocks, line).map(|block: &TestBlock| block.name.as_str());
    assert_eq!([4, 2, 7].map(name_at), [Some("a > b"), Some("a"), None]);
    assert_eq!(list_test_blocks("a.rb", ["it 'x' do", "end"].into_iter()), []);
}
