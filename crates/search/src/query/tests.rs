use memod_testing::{RandomNumbers, random_hostile_text};
use memod_text::words::write_index_words;

use super::*;
use crate::testing::fts_with;

fn index(text: &str) -> String {
    let mut out = String::new();
    write_index_words(text, &mut out);
    out
}

/// Returns the expression without stems.
fn match_expression(query: &Query) -> Option<String> {
    let expression = ExpressionWriter::new(expression::swap_plural).write_alternatives(&query.any, false);
    expression.map(|expression| expression.to_string())
}

#[test]
fn expressions() {
    let check = |query: &str, expected: &str| {
        assert_eq!(match_expression(&parse_query(query)).unwrap_or_default(), expected, "{query}");
    };
    check("", "");
    check(" \"\" * ( ) AND OR NOT -- 💥 \"", "");
    check("login", r#"("login" OR "logins")"#);
    check("login login LOGIN", r#"("login" OR "logins")"#);
    check("how does the login work", r#"("login" OR "logins" OR "work" OR "works")"#);
    check("how does it", r#"("how" OR "does" OR "it")"#);
    check("\"to be or\"", r#""to be or""#);
    check("log*", r#""log"*"#);
    check("getUs*", r#"("getus"* OR "get us"*)"#);
    check(
        "max_retry",
        r#"("maxretry" OR "maxretry max retry" OR "max retry" OR "maxretries" OR "max" OR "retry" OR "retries")"#,
    );
    check("kebab-case", r#"("kebab case" OR "kebab" OR "kebabs" OR "case" OR "cases")"#);
    check("v AND w", r#"("v" AND "w")"#);
    check("x y AND z", r#"(("x" OR "y") AND "z")"#);
    check("x OR y AND z", r#"("x" OR ("y" AND "z"))"#);
    check("x NOT y z", r#"(("x" OR "z") NOT "y")"#);
    check("NOT y", "");
    check("x AND NOT y", r#"("x" NOT "y")"#);
    check("NOT y AND x", r#"("x" NOT "y")"#);
    check("x NOT y*", r#"("x" NOT "y"*)"#);
    check("x NOT getUser", r#"("x" NOT ("getuser" OR "getuser get user" OR "get user"))"#);
    check("x AND", r#""x""#);
    check("x \"v w\"", r#"("v w" AND ("x" OR "v w"))"#);
    check("\"v w\" \"y z\"", r#"("v w" AND "y z")"#);
    check("x (y) (z)", r#"("x" OR "y" OR "z")"#);
    check("x (y OR z)", r#"(("y" OR "z") AND ("x" OR ("y" OR "z")))"#);
    check("x (NOT y)", r#"("x" NOT "y")"#);
    check("x (y AND (NOT z))", r#"(("y" NOT "z") AND ("x" OR ("y" NOT "z")))"#);
    check("(x OR y) AND (z", r#"(("x" OR "y") AND "z")"#);
    check("foo() bar)", r#"("foo" OR "bar")"#);
    check("(foo() OR bar())", r#"("foo" OR "bar")"#);
    check("日本", r#""日本"*"#);
    check("日本語処", r#"("日本語 本語処" OR "日本語" OR "本語処")"#);
}

#[test]
fn what_operators_demand() {
    let check = |query: &str, required: &str, excluded: &str| {
        let found = parse_query(query).restriction();
        let found = [found.required, found.excluded]
            .map(|expression| expression.map(|expression| expression.to_string()).unwrap_or_default());
        assert_eq!(found, [required, excluded], "{query}");
    };
    check("v w", "", "");
    check("v (w x)", "", "");
    check("how does it work", "", "");
    check("AND v OR", "", "");
    check("v \"w x\"", r#""w x""#, "");
    check("v \"w x\" \"y z\"", r#"("w x" AND "y z")"#, "");
    check("v w*", r#"("v" OR "w"*)"#, "");
    check("v w NOT x", "", r#""x""#);
    check("v NOT (x y)", "", r#"("x" OR "y")"#);
    check("v \"w x\" NOT y", r#""w x""#, r#""y""#);
    check("v AND w NOT x", r#"("v" AND ("w" NOT "x"))"#, "");
    check("v AND NOT x", r#"("v" NOT "x")"#, "");
    check("v OR w", r#"("v" OR "w")"#, "");
    check("v (w OR x)", r#"("w" OR "x")"#, "");
    check("the AND v", r#"("the" AND "v")"#, "");
    check("NOT x", "", r#""x""#);
    check("💥 AND NOT x", "", r#""x""#);
    check("(NOT x) AND (NOT y)", "", r#"("x" OR "y")"#);
    check("💥 OR NOT x", "", r#""x""#);
}

/// A filter is valid unless its value is `bad`.
fn understood(input: &str) -> Query {
    parse_with_filters(input, &|_, value| match value {
        "bad" => Err("it is bad".to_owned()),
        _ => Ok(()),
    })
}

#[test]
fn filters() {
    let check = |query: &str, text: &str, expected: &[&str]| {
        let query = understood(query);
        let filters: Vec<String> = query.filters().iter().map(ToString::to_string).collect();
        assert_eq!(
            (query.any.to_string().as_str(), filters),
            (text, expected.iter().map(ToString::to_string).collect())
        );
    };
    check("retry path:src/** kind:doc", "retry", &["path:src/**", "kind:doc"]);
    check("path:\"a b/**\" retry", "retry", &["path:\"a b/**\""]);
    check("tag:“ä b”x", "x", &["tag:\"ä b\""]);
    check("-path:tests retry NOT lang:rust", "retry", &["-path:tests", "-lang:rust"]);
    check("NOT -path:tests x", "x", &["path:tests"]);
    check("x AND NOT path:a AND y", "x AND y", &["-path:a"]);
    check("(x OR y) AND (kind:doc z)", "(x OR y) AND z", &["kind:doc"]);
    check("(x OR y kind:doc)", "(x OR y)", &["kind:doc"]);
    check("symbol:Session::login", "", &["symbol:Session::login"]);
    check("symbol:foo() author:a@b.c after:3d", "", &["symbol:\"foo()\"", "author:a@b.c", "after:3d"]);
    for text in [
        "std::path::Path",
        "path::Path",
        "kind::Foo",
        "http://x",
        "foo:bar",
        "path:",
        "path: x",
        "path :x",
        "Path:x",
        "f(path:str)",
        "--path:x",
        "path:bad",
        "\"path:x\"",
    ] {
        check(text, text, &[]);
    }
    assert_eq!(parse_query("path:x").filters(), [], "only where filters are asked for");
}

#[test]
fn what_was_understood() {
    let check = |query: &str, expected: &str| {
        assert_eq!(serde_json::to_string(&understood(query).to_parsed()).unwrap(), expected, "{query}");
    };
    check("the retry loop", r#"{"terms":["retry","loop"]}"#);
    check(
        "retry* \"a b\" NOT (c OR d) -path:x",
        r#"{"terms":["retry*"],"phrases":["a b"],"excluded":["(c OR d)"],"expression":"retry* \"a b\" NOT (c OR d)","filters":[{"key":"path","value":"x","not":true}]}"#,
    );
    let note =
        |query: &str, expected: &[&str]| assert_eq!(understood(query).to_parsed().notes, expected, "{query}");
    note("plain words, 5 of them: a:b", &[]);
    note("5\" disk", &["a quote without its other half is read as text"]);
    note("(a AND b", &["an open bracket is closed at the end of the query"]);
    note("kind:bad", &["kind:bad is read as text: it is bad"]);
    note("(kind:doc) a", &["kind:doc applies to the whole query"]);
    note("kind:doc OR a", &["kind:doc applies to the whole query"]);
    note("a OR kind:doc", &["kind:doc applies to the whole query"]);
    let idle = |name: &str| format!("{name} joins nothing and is ignored; \"{name}\" in quotes is a word");
    note("foo AND", &[&idle("AND")]);
    note("OR foo", &[&idle("OR")]);
    note("foo NOT", &[&idle("NOT")]);
    note("(foo AND) bar", &[&idle("AND")]);
    note("foo AND OR bar", &[&idle("AND"), &idle("OR")]);
    note("foo AND NOT bar", &[]);
    note("foo OR (bar AND baz)", &[]);
    note("\"AND\" gate", &[]);
    note("NOT a", &["the query has only NOT terms, which exclude hits: nothing was searched"]);
    note(
        &"(".repeat(9),
        &["brackets deeper than 8 levels are ignored", "an open bracket is closed at the end of the query"],
    );
    note(&"word1 ".repeat(99), &[]);
    let many: String = (0..99).map(|n| format!("word{n} ")).collect();
    note(&many, &["only the first 64 words are used"]);
    note(&"a ".repeat(16 << 10), &["only the first 16384 bytes of the query are read"]);
}

#[test]
fn what_a_model_embeds() {
    let check = |query: &str, expected: &str| assert_eq!(understood(query).text_to_embed(), expected);
    check("  how does (the) retry work? ", "  how does (the) retry work? ");
    check("retry NOT test", "retry");
    check("\"how it\" AND (works OR fails*) kind:doc", "how it works fails");
    check("NOT test", "");
}

#[test]
fn what_a_query_finds() {
    let texts = [
        "fn getUserById(id: u32)",                      // 1
        "def get_user_by_id(id):",                      // 2
        "the user session and its store",               // 3
        "struct SessionStore; impl SessionStore { }",   // 4
        "全文検索エンジン",                             // 5
        "Session::login(user) and a naïve retry-count", // 6
        "call getUserById now",                         // 7
    ];
    let streams: Vec<String> = texts.iter().map(|text| index(text)).collect();
    let streams: Vec<&str> = streams.iter().map(String::as_str).collect();
    let fts = fts_with(&streams);
    let check = |query: &str, expected: &[i64]| {
        let found =
            match_expression(&parse_query(query)).map_or(Vec::new(), |text| fts.search(&text).unwrap());
        assert_eq!(found, expected, "{query}");
    };
    check("getuserbyid", &[1, 2, 7]);
    check("\"getUserById\"", &[1, 2, 7]);
    check("\"get user by id\"", &[1, 2, 7]);
    check("\"call getUserById now\"", &[7]);
    check("\"call get_user_by_id now\"", &[7]);
    check("\"getUserById now\"", &[7]);
    check("\"user session\"", &[3]);
    check("\"session store\"", &[4]);
    check("SESSION_STORE", &[3, 4, 6]);
    check("SESSION_STORE AND struct", &[4]);
    check("user NOT getUserById", &[3, 6]);
    check("user NOT (call OR session)", &[1, 2]);
    check("sessionSt*", &[4]);
    check("\"session::login\"", &[6]);
    check("naive", &[6]);
    check("retry_count", &[6]);
    check("検", &[5]);
    check("文検", &[5]);
    check("検索エンジン", &[5]);
    check("\"検索エンジン\"", &[5]);
    check("\"検索エンシン\"", &[]);
    check("\"エンジン now\"", &[]);
}

#[test]
fn words_to_look_for() {
    let check = |query: &str, expected: &[(&str, f32, bool)]| {
        let query = parse_query(query);
        let words: Vec<_> = query.words().iter().map(|w| (w.text.as_str(), w.weight, w.is_prefix)).collect();
        assert_eq!(words, expected);
    };
    check("the getUser NOT login", &[("getuser", 1.0, false), ("get", 0.5, false), ("user", 0.5, false)]);
    check("log* \"in it\"", &[("log", 1.0, true), ("in", 1.0, false), ("it", 1.0, false)]);
    check("日本 日本語処", &[("日本", 1.0, true), ("日本語", 1.0, false), ("本語処", 1.0, false)]);
}

#[test]
fn queries_that_name_a_symbol() {
    for (input, symbols, is_symbol) in [
        ("config", &["config"][..], false),
        ("foo()", &["foo"], true),
        ("\"Session::login\"", &["Session::login", "login"], true),
        ("where is parse_query used", &["parse_query"], false),
        ("x NOT getUser", &["x"], false),
        ("how to start", &[], false),
    ] {
        let query = parse_query(input);
        assert_eq!(query.symbol_names(), symbols, "{input}");
        assert_eq!(query.looks_like_symbol(), is_symbol, "{input}");
    }
    assert_eq!(parse_query("parse the query").joined_words().as_deref(), Some("parsequery"));
}

#[test]
fn any_text_is_a_query_that_fts5_takes() {
    let fts = fts_with(&["a b getuserbyid get user by id"]);
    let mut random = RandomNumbers::new(2);
    let mut inputs: Vec<String> = (0..2_000).map(|_| random_hostile_text(&mut random, 60)).collect();
    inputs.extend(
        ["(", ")", "\"", "NOT ", "getUserById ", "x AND ", "a-b.c ", "(a OR "].map(|s| s.repeat(2_000)),
    );
    inputs.push((0..3_000).map(|n| format!("word{n}x NOT no{n} ")).collect());
    inputs.push("日本語処理".repeat(2_000));
    inputs.push((0..500).map(|n| format!("word{n}x AND \"no {n}\" OR ")).collect());
    inputs.extend(["path:", "kind:doc ", "-path:\"", "NOT path:a OR ", "after:b) "].map(|s| s.repeat(2_000)));
    let nested: String = (0..8).map(|n| format!("a{n} AND b{n} (")).collect();
    inputs.push(nested + &(0..40).map(|n| format!("word{n} ")).collect::<String>());
    for input in inputs {
        let query = understood(&input);
        assert!(query.words().len() <= expression::MAX_TOKENS);
        let QueryRestriction { required, excluded } = query.restriction();
        let expressions = [
            match_expression(&query),
            query.match_expression_with_stems().map(|expression| expression.to_string()),
            required.map(|expression| expression.to_string()),
            excluded.map(|expression| expression.to_string()),
        ];
        for text in expressions.into_iter().flatten() {
            assert!(text.len() < 16 * 1024, "{} bytes", text.len());
            if let Err(error) = fts.search(&text) {
                panic!("{input:?} gives {text}: {error}");
            }
        }
        assert!(query.to_parsed().notes.len() <= 10, "{:?}", query.to_parsed().notes);
    }
}

/// The meaning of a random query for a text of single letters, as the documentation defines it.
#[derive(Debug)]
enum Meaning {
    Word(&'static str),
    Phrase(&'static str, &'static str),
    And(Vec<Meaning>),
    Or(Vec<Meaning>),
    Not(Box<Meaning>, Box<Meaning>),
}

impl Meaning {
    fn random(random: &mut RandomNumbers, depth: usize) -> Self {
        const LETTERS: [&str; 5] = ["v", "w", "x", "y", "z"];
        let some = |random: &mut RandomNumbers| {
            (0..2 + random.number_below(2)).map(|_| Self::random(random, depth - 1)).collect()
        };
        match random.number_below(if depth == 0 { 2 } else { 5 }) {
            0 => Self::Word(LETTERS[random.number_below(5)]),
            1 => Self::Phrase(LETTERS[random.number_below(5)], LETTERS[random.number_below(5)]),
            2 => Self::And(some(random)),
            3 => Self::Or(some(random)),
            _ => {
                let [left, right] = [(); 2].map(|()| Box::new(Self::random(random, depth - 1)));
                Self::Not(left, right)
            }
        }
    }

    fn holds(&self, text: &[&str]) -> bool {
        match self {
            Self::Word(word) => text.contains(word),
            Self::Phrase(left, right) => text.windows(2).any(|pair| pair == [*left, *right]),
            Self::And(all) => all.iter().all(|one| one.holds(text)),
            Self::Or(any) => any.iter().any(|one| one.holds(text)),
            Self::Not(wanted, unwanted) => wanted.holds(text) && !unwanted.holds(text),
        }
    }
}

impl std::fmt::Display for Meaning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let joined = |all: &[Self], between: &str| {
            all.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join(between)
        };
        match self {
            Self::Word(word) => f.write_str(word),
            Self::Phrase(left, right) => write!(f, "\"{left} {right}\""),
            Self::And(all) => f.write_str(&joined(all, " AND ")),
            Self::Or(any) => f.write_str(&joined(any, " OR ")),
            Self::Not(wanted, unwanted) => write!(f, "({wanted}) AND NOT ({unwanted})"),
        }
    }
}

#[test]
fn operators_mean_what_they_say() {
    let mut random = RandomNumbers::new(12);
    let mut letters = |n| (0..n).map(|_| random.pick_item(&["v", "w", "x", "y", "z"])).collect::<Vec<_>>();
    let texts: Vec<Vec<&str>> = (0..60).map(|nth| letters(1 + nth % 6)).collect();
    let streams: Vec<String> = texts.iter().map(|text| text.join(" ")).collect();
    let fts = fts_with(&streams.iter().map(String::as_str).collect::<Vec<_>>());
    let mut n_bound = 0;
    for _ in 0..2_000 {
        let meaning = Meaning::random(&mut random, 2);
        let query = parse_query(&meaning.to_string());
        let expected: Vec<i64> =
            (1..).zip(&texts).filter(|(_, text)| meaning.holds(text)).map(|(row, _)| row).collect();
        assert_eq!(fts.search(&match_expression(&query).unwrap()).unwrap(), expected, "{meaning}");
        if let Some(required) = query.restriction().required {
            assert_eq!(fts.search(&required.to_string()).unwrap(), expected, "{meaning}");
            n_bound += 1;
        }
    }
    assert!(n_bound > 1_000, "{n_bound}");
}

#[test]
fn phrases_stand_for_the_words_of_a_query() {
    let check = |query: &str, expression: &str, word_of: &[usize]| {
        let phrases = parse_query(query).wanted_phrases();
        let (texts, places): (Vec<String>, Vec<usize>) =
            phrases.iter().map(|(phrase, place)| (phrase.to_string(), place)).unzip();
        assert_eq!(texts.join(" OR "), expression, "{query}");
        assert_eq!(places, word_of, "{query}");
    };
    check("", "", &[]);
    check(
        "login of getUser",
        r#""login" OR "logins" OR "getuser" OR "getuser get user" OR "get user" OR "getusers" OR "get" OR "user" OR "users""#,
        &[0, 0, 1, 1, 1, 1, 1, 1, 1],
    );
    check("a AND (b OR \"c d\") NOT e", r#""a" OR "b" OR "c d""#, &[0, 1, 2]);
    check("x x y", r#""x" OR "y""#, &[0, 2]);
}

#[test]
fn pasted_text_is_words() {
    let trace = "Traceback (most recent call last):\n  File \"app/main.py\", line 3, in run\n    load(\"x\")\n\
        KeyError: \"session token\" AND (more\n";
    let query = parse_query(trace);
    assert_eq!(query.restriction(), QueryRestriction::default());
    assert_eq!(query.text_to_embed(), trace, "all of it is embedded");
    assert!(
        query.has_any_word(&["session"])
            && query.has_any_word(&["load"])
            && query.has_any_word(&["keyerror"])
    );
    let parsed = query.to_parsed();
    assert!(parsed.phrases.is_empty() && parsed.expression.is_none(), "{parsed:?}");
    assert!(parsed.notes[0].starts_with("pasted text"), "{parsed:?}");
    let one_line = parse_query("thread 'main' panicked at \"index out of bounds\"");
    assert_eq!(one_line.restriction(), QueryRestriction::default());
    let typed = parse_query("\n\"session token\" expiry\n");
    assert_eq!(typed.to_parsed().phrases.len(), 1, "one line is a query");
}

#[test]
fn the_ends_of_a_long_pasted_text_count() {
    let frames: String = (0..200).map(|nth| format!("  at frame{nth} (file{nth}.js)\n")).collect();
    let query = parse_query(&format!("TypeError: wallet is undefined\n{frames}caused by: ledgerfault\n"));
    assert!(query.has_any_word(&["wallet"]) && query.has_any_word(&["ledgerfault"]));
    assert!(query.has_any_word(&["frame199"]) && !query.has_any_word(&["frame3"]));
}
