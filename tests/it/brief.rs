//! Is what is told at the start what matters, and never more than was asked for?

use serde_json::{Value, json};

use crate::live::Live;

fn brief(live: &Live, budget: usize) -> String {
    let output = live.memo(&["brief", "--budget", &budget.to_string()]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(i32::from(text.is_empty())), "{text}");
    text
}

fn add(live: &Live, args: &[&str]) {
    let output = live.memo(&[&["add"], args].concat()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn shop() -> Live {
    let live = Live::new();
    live.write(
        "src/session.rs",
        "/// A session.\npub struct Session;\n\nimpl Session {\n    pub fn verify(&self) {}\n}\n",
    );
    live.git(&["add", "."]);
    live.git(&["commit", "-qm", "Sessions are \u{202e}signed"]);
    live.write("src/keys.rs", "pub struct Key;\n");
    add(&live, &["--tag", "pinned", "--priority", "2", "deploy with make ship\nnever by hand \u{1b}[2J"]);
    add(&live, &["--priority", "9", "--title", "Tokens", "they expire after a day"]);
    add(&live, &["--priority", "6", "of no great weight"]);
    live
}

#[test]
fn what_matters_comes_first() {
    let live = shop();
    let text = brief(&live, 2_000);
    let lines: Vec<_> = text.lines().collect();
    let starts = [
        "## Project",
        "- languages: rust 100 %",
        "",
        "## Memories",
        "- deploy with make ship never by hand \\u{1b}[2J (mem_",
        "- Tokens: they expire after a day (mem_",
        "",
        "## Not committed",
        "A src/keys.rs: +Key",
        "",
        "## Last commits",
        "- ",
        "",
        "## Map",
        "src/keys.rs",
    ];
    for (line, start) in lines.iter().zip(starts) {
        assert!(line.starts_with(start), "{line} does not start with {start}: {text}");
    }
    assert!(lines[11].ends_with("Sessions are \\u{202e}signed"), "{text}");
    assert!(text.contains("src/session.rs\n") && !text.contains("no great weight"), "{text}");
    assert_eq!(brief(&live, 2_000), text, "the same state is told the same way");
    let json = live.call("brief", json!({ "budget": 2_000 }));
    let sections: Vec<_> =
        json["sections"].as_array().unwrap().iter().map(|section| &section["name"]).collect();
    assert_eq!(sections, ["project", "memories", "changes", "commits", "map"]);
    assert_eq!((&json["text"], &json["fresh"]), (&Value::from(text), &Value::from(true)));
}

#[test]
fn what_the_project_is_comes_before_everything() {
    let live = shop();
    live.write("README.md", "# Shop\n\nShop sells [things](x) over a counter. It is small.\n");
    live.write("Cargo.toml", "[package]\nname = \"shop\"\n");
    live.write("Makefile", "ship: test\n\tscp shop host:\ntest:\n\tcargo test\n");
    let text = brief(&live, 2_000);
    let start = "## Project\nShop sells things over a counter. It is small.\n- languages: rust 100 %\n\
                 - cargo build, cargo test (Cargo.toml)\n- make ship | test (Makefile)\n\n## Memories\n";
    assert!(text.starts_with(start), "{text}");
    live.write(".gitignore", "Makefile\nREADME.md\n");
    let text = brief(&live, 2_000);
    assert!(
        text.starts_with("## Project\n- languages: rust 100 %\n- cargo build"),
        "what is not indexed is not told: {text}"
    );
}

#[test]
fn routes_of_the_code_are_named() {
    let live = shop();
    live.write("Cargo.toml", "[package]\nname = \"shop\"\n[dependencies]\naxum = \"0.8\"\n");
    live.write(
        "src/web.rs",
        "fn app() -> Router {\n    Router::new()\n        .route(\"/things/{id}\", get(thing))\n}\n",
    );
    live.write(
        "tests/web.rs",
        "fn app() -> Router {\n    Router::new().route(\"/of-a-test\", get(thing))\n}\n",
    );
    live.write("api.py", "@app.post(\"/orders\")\ndef order(): ...\n\n\n# @app.get(\"/old\")\n");
    let text = brief(&live, 2_000);
    let routes = "\n## Routes\n- POST /orders (api.py:1)\n- GET /things/{id} (src/web.rs:3)\n\n";
    assert!(text.contains(routes), "{text}");
    assert!(text.contains("\n- built with axum (Cargo.toml)\n"), "{text}");
    let many: String = (0..40).map(|nth| format!("@app.get(\"/a/{nth}\")\ndef a{nth}(): ...\n\n")).collect();
    live.write("api.py", &many);
    let text = brief(&live, 2_000);
    assert!(text.contains("\n## Routes (12 of 41)\n- GET /a/0 (api.py:1)\n"), "{text}");
    assert!(text.contains("## Last commits") && text.contains("## Map"), "{text}");
    live.remove("api.py");
    live.remove("src/web.rs");
    assert!(!brief(&live, 2_000).contains("Routes"), "nothing is said where there is none");
}

#[test]
fn no_budget_is_exceeded() {
    let live = shop();
    for nth in 0..40 {
        add(&live, &["--priority", "8", &format!("fact {nth} {}", "word \u{202e} ".repeat(nth))]);
    }
    for budget in [0, 1, 5, 13, 40, 100, 333, 1_000, 2_000] {
        let n_tokens = brief(&live, budget).chars().count().div_ceil(4);
        assert!(n_tokens <= budget, "{n_tokens} tokens, {budget} asked for");
        let is_tight = (100..=2_000).contains(&budget);
        assert!(!is_tight || n_tokens > budget / 2, "{n_tokens} of {budget}: room was left");
    }
    let text = brief(&live, 100);
    assert!(text.contains("\n## Memories (") && text.contains(" of 42)\n"), "{text}");
}

#[test]
fn there_may_be_nothing_to_say() {
    let live = Live::new();
    assert_eq!(brief(&live, 1_000), "");
    live.write("a.rs", "pub fn alone() {}\n");
    assert!(brief(&live, 1_000).contains("## Map\na.rs\n"), "no commit is needed");
}

#[test]
fn what_may_no_longer_be_true_is_marked() {
    let live = shop();
    add(&live, &["--about", "src/session.rs#Session::verify", "verify never fails"]);
    add(&live, &["--about", "src/keys.rs", "--priority", "9", "keys are kept nowhere"]);
    assert!(!brief(&live, 2_000).contains("To check"), "nothing has changed yet");
    live.write(
        "src/session.rs",
        "pub struct Session;\n\nimpl Session {\n    pub fn verify(&self) -> bool {}\n}\n",
    );
    live.remove("src/keys.rs");
    let text = brief(&live, 2_000);
    assert!(text.contains("- [orphaned: src/keys.rs] keys are kept nowhere ("), "{text}");
    let check = "## To check: the code has changed since\n- [drifted: src/session.rs#Session::verify] verify never fails (";
    assert!(text.contains(check), "{text}");
    assert_eq!(text.matches("keys are kept nowhere").count(), 1, "told once: {text}");
}
