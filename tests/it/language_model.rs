//! Does a language model help, and does nothing suffer when it does not?

mod faults;
mod server;
mod tasks;

use std::fs;

use serde_json::{Value, json};

use self::server::{Act, ModelServer, USED};
use crate::live::{Live, memo};

/// The key of the server, which nobody else may see.
const KEY: &str = "key-of-the-server-9f8e7d";

/// What none of the texts with these words has in common with [`QUERY`].
const OTHER_WORDS: &str = r#"{"words": ["ttl", "expiry"]}"#;
const QUERY: &str = "how long may somebody stay logged in";

/// A repository whose answer is in other words than the question, with a daemon that asks a server.
struct Helped {
    live: Live,
    server: ModelServer,
}

impl Helped {
    fn new(answer: impl Fn(&server::Sent) -> Act + Send + Sync + 'static) -> Self {
        Self::with(answer, "")
    }

    /// As [`Self::new`], with more settings of `[llm]`.
    fn with(answer: impl Fn(&server::Sent) -> Act + Send + Sync + 'static, settings: &str) -> Self {
        let server = ModelServer::start(answer);
        let live = Live::idle();
        for nth in 0..12 {
            live.write(
                &format!("docs/stay{nth}.md"),
                format!("# Stay {nth}\n\nSomebody may stay in hotel {nth}.\n"),
            );
        }
        live.write("docs/other.md", "# Cookies\n\nTheir ttl is a day; the expiry is checked by the proxy.\n");
        let helped = Self { live, server };
        helped.set(&format!(
            "url = \"{}\"\nmodel = \"m\"\nkey_env = \"SERVER_KEY\"\n{settings}",
            helped.server.url
        ));
        helped.start();
        helped
    }

    /// Writes the user's settings of `[llm]`.
    fn set(&self, settings: &str) {
        let file = self.live.sandbox.path("home/.config/memod/config.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("[llm]\n{settings}")).unwrap();
    }

    fn start(&self) {
        self.live.start_as(self.live.memod().env("SERVER_KEY", KEY));
    }

    fn search(&self, expand: bool) -> Value {
        self.search_for(QUERY, expand)
    }

    fn search_for(&self, query: &str, expand: bool) -> Value {
        // The vectors too: what is near must not depend on how far they are.
        let params =
            json!({ "query": query, "expand": expand, "limit": 6, "sync": "full", "wait_ms": 60_000 });
        self.live.call("search", params)
    }

    fn status(&self) -> Value {
        self.live.call("llm.status", json!({}))
    }

    /// Returns all that the daemon has logged.
    fn log(&self) -> String {
        fs::read_to_string(self.live.layout().log_file()).unwrap()
    }
}

fn paths(result: &Value) -> Vec<&str> {
    result["hits"].as_array().unwrap().iter().map(|hit| hit["path"].as_str().unwrap()).collect()
}

#[test]
fn other_words_find_more() {
    let helped = Helped::new(|_| Act::says(OTHER_WORDS));
    let plain = helped.search(false);
    assert!(!paths(&plain).contains(&"docs/other.md") && helped.server.sent().is_empty(), "{plain}");
    let expanded = helped.search(true);
    assert_eq!(expanded["expanded"], json!(["ttl", "expiry"]));
    assert!(paths(&expanded).contains(&"docs/other.md"), "{expanded}");
    assert_eq!(expanded["degraded"], plain["degraded"]);
    let typed = paths(&plain);
    let own: Vec<_> = paths(&expanded).into_iter().filter(|path| typed.contains(path)).collect();
    assert!(
        own.len() >= 4 && own == typed[..own.len()],
        "the hits of the typed words keep their order: {own:?}"
    );

    let sent = helped.server.sent();
    let [sent] = sent.as_slice() else { panic!("{sent:?}") };
    assert!(sent.head.contains(&format!("authorization: Bearer {KEY}")), "{}", sent.head);
    assert!(sent.user().contains(QUERY) && sent.body["model"] == "m", "{}", sent.body);
    helped.search(true);
    assert_eq!(helped.server.sent().len(), 1, "words are kept by query");
    for query in ["logged AND in", "\"stay logged\"", "getUserById"] {
        let exact = helped.search_for(query, true);
        assert_eq!(exact["expanded"], Value::Null, "{query}");
    }
    assert_eq!(helped.server.sent().len(), 1, "what is exact is searched as it is");

    let status = helped.status();
    assert_eq!((&status["tokens"], &status["requests"]), (&json!(USED), &json!(1)), "{status}");
    assert_eq!(status["problem"], Value::Null);
    assert!(!helped.log().contains(KEY));
}

#[test]
fn nothing_is_sent_unless_asked_for() {
    let helped = Helped::new(|_| Act::says(OTHER_WORDS));
    let check = |problem: &str| {
        let result = helped.search(true);
        assert_eq!(result["degraded"], json!([format!("expand: {problem}")]));
        assert!(!paths(&result).is_empty());
        assert_eq!(helped.status()["problem"], *problem);
        assert!(helped.server.sent().is_empty());
    };
    let url = &helped.server.url;
    helped.set("");
    check("llm.url is not set, so no language model is asked");
    helped.set(&format!("url = \"{url}\"\nenabled = false\n"));
    check("llm.enabled is false");
    helped.set(&format!("url = \"{url}\"\nkey_env = \"NO_SUCH_KEY\"\n"));
    check("llm.key_env names NO_SUCH_KEY, which the environment of the daemon does not have");
    helped.set("url = \"http://198.51.100.7/v1\"\n");
    check("llm.url: 198.51.100.7 is not this machine, and http is not encrypted");
    // A repository may have come with an archive.
    let file = helped.live.layout().config_file();
    for (section, key, value) in
        [("llm", "url", format!("\"{url}\"")), ("search", "expand", "true".to_owned())]
    {
        fs::write(&file, format!("[{section}]\n{key} = {value}\n")).unwrap();
        check(&format!("{}: {section}.{key} may stand only in the user's settings", file.display()));
    }
}

#[test]
fn a_dry_run_shows_what_would_be_sent() {
    let helped = Helped::new(|_| Act::says(OTHER_WORDS));
    let token = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    let query = format!("where is {token} and {KEY} of <private>Ann</private> used");
    let (exit, shown) = memo(&helped.live, &["search", "--expand", "--dry-run", &query]);
    assert_eq!(exit, 0, "{shown}");
    assert!(helped.server.sent().is_empty());
    helped.search_for(&query, true);
    let sent = helped.server.sent();
    assert_eq!(shown["requests"][0]["messages"], sent[0].body["messages"]);
    assert_eq!(shown["requests"][0]["body"], sent[0].text);
    assert_eq!(shown["requests"][0]["cut"], 3);
    assert!(sent[0].user().contains("where is [REDACTED] and [REDACTED] of [REDACTED] used"));
    let all = format!("{shown} {}", sent[0].body);
    assert!(![token.as_str(), KEY, "Ann"].iter().any(|secret| all.contains(secret)), "{all}");
    let (exit, shown) = memo(&helped.live, &["search", "--expand", "--dry-run", "a AND b"]);
    assert_eq!((exit, &shown["requests"]), (1, &json!([])), "what is exact is searched as it is: {shown}");
    let (_, shown) = memo(&helped.live, &["search", "--expand", "--dry-run", "path:docs/** who stays"]);
    assert!(
        shown["requests"][0]["messages"][1]["content"].as_str().unwrap().contains("\nwho stays\n"),
        "{shown}"
    );
    let text = helped.live.sandbox.show(&mut helped.live.memo(&["search", "--expand", "--dry-run", QUERY]));
    assert!(text.contains(QUERY) && text.contains("err: memo: nothing was sent"), "{text}");
}

#[test]
fn the_tokens_of_a_day_are_kept_over_restarts_and_under_load() {
    // Each request sets some 450 tokens aside, and costs less.
    let helped = Helped::with(|_| Act::says(OTHER_WORDS), "tokens_a_day = 1000\n");
    std::thread::scope(|scope| {
        for nth in 0..20 {
            let live = &helped.live;
            let (socket, cwd) = (live.endpoint().socket, live.root());
            scope.spawn(move || {
                let query = format!("{QUERY} number{nth} of them");
                let params = json!({ "query": query, "expand": true, "cwd": cwd });
                let result = crate::rpc::Rpc::connect(&socket).call("search", &params).unwrap();
                assert!(!result["hits"].as_array().unwrap().is_empty());
            });
        }
    });
    let spent = |helped: &Helped| helped.status()["tokens"].as_u64().unwrap();
    while helped.search_for(&format!("{QUERY} again{}", spent(&helped)), true)["expanded"].is_array() {}
    let (before, sent) = (spent(&helped), helped.server.sent().len());
    assert!(
        (600..=1_000).contains(&before) && before == sent as u64 * USED,
        "{before} tokens, {sent} requests"
    );
    helped.live.kill();
    helped.start();
    assert_eq!(spent(&helped), before);
    let result = helped.search_for(&format!("{QUERY} somebody else"), true);
    let why = result["degraded"][0].as_str().unwrap();
    assert!(why.contains(&format!("{before} of 1000 tokens are spent today")), "{why}");
    assert_eq!(helped.server.sent().len(), sent);
}
