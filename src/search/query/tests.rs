use super::*;
use crate::extract::words::index_words;
use crate::search::testing::fts_with;
use crate::testing::{Random, hostile_text};

fn index(text: &str) -> String {
    let mut out = String::new();
    index_words(text, &mut out);
    out
}

#[test]
fn expressions() {
    let check = |query: &str, expected: &str| {
        assert_eq!(parse(query).match_expression().unwrap_or_default(), expected, "{query}");
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
    check("(x OR y) AND (z", r#"(("x" OR "y") AND "z")"#);
    check("foo() bar)", r#"("foo" OR "bar")"#);
    check("(foo() OR bar())", r#"("foo" OR "bar")"#);
    check("日本", r#""日本"*"#);
    check("日本語処", r#"("日本語 本語処" OR "日本語" OR "本語処")"#);
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
        let found = parse(query).match_expression().map_or(Vec::new(), |text| fts.search(&text).unwrap());
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
        let query = parse(query);
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
        let query = parse(input);
        assert_eq!(query.symbols(), symbols, "{input}");
        assert_eq!(query.looks_like_symbol(), is_symbol, "{input}");
    }
    assert_eq!(parse("parse the query").joined_words().as_deref(), Some("parsequery"));
}

#[test]
fn any_text_is_a_query_that_fts5_takes() {
    let fts = fts_with(&["a b getuserbyid get user by id"]);
    let mut random = Random::new(2);
    let mut inputs: Vec<String> = (0..2_000).map(|_| hostile_text(&mut random, 60)).collect();
    inputs.extend(
        ["(", ")", "\"", "NOT ", "getUserById ", "x AND ", "a-b.c ", "(a OR "].map(|s| s.repeat(2_000)),
    );
    inputs.push((0..3_000).map(|n| format!("word{n}x NOT no{n} ")).collect());
    inputs.push("日本語処理".repeat(2_000));
    for input in inputs {
        let query = parse(&input);
        assert!(query.words().len() <= expression::MAX_TOKENS);
        let Some(text) = query.match_expression() else { continue };
        assert!(text.len() < 16 * 1024, "{} bytes", text.len());
        if let Err(error) = fts.search(&text) {
            panic!("{input:?} gives {text}: {error}");
        }
    }
}
