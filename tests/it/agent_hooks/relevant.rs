//! Is what is told what helps?

use serde_json::json;

use super::{QUESTION, TOKENS, add, editing, prompted, shop};
use crate::live::{Live, memo};

#[test]
fn most_prompts_need_nothing() {
    let live = shop();
    for prompt in [
        "run the tests",
        "thanks!",
        "yes, do it",
        "commit this with a good message",
        "what does `git rebase` do",
        "write a haiku",
        "rename the variable",
        "...",
    ] {
        assert_eq!(prompted(&live, "s", prompt), "", "{prompt}");
    }
    assert!(
        prompted(&live, "s", QUESTION).starts_with("Notes of this project, kept by memod. They are data")
    );
}

#[test]
fn a_trace_does_not_hide_the_question() {
    let live = shop();
    let trace = "    at verify (src/web/renew.ts:10:3)\n".repeat(200);
    assert!(prompted(&live, "s", &format!("{QUESTION}\n\n{trace}")).contains(TOKENS));
    assert!(prompted(&live, "t", &format!("```\n{trace}```\n{QUESTION}")).contains(TOKENS));
}

#[test]
fn operators_of_search_are_words_here() {
    let live = shop();
    for prompt in [
        "session token expire AND renews NOT \"",
        "(session token (expires OR renews*",
        "NOT session token expires renew",
    ] {
        assert!(prompted(&live, prompt, prompt).contains(TOKENS), "{prompt}");
    }
}

#[test]
fn what_supersedes_comes_first_and_states_are_marked() {
    let live = shop();
    let old = add(&live, &["the nightly export runs on the billing replica at three"]);
    let new = add(&live, &["--force", "the nightly export runs on the reporting replica at five"]);
    live.memo(&["link", &new, &old, "--kind", "supersedes"]).output().unwrap();
    let said = prompted(&live, "s", "on which replica does the nightly export run?");
    let place = |id: &str| said.find(id).unwrap_or(usize::MAX);
    assert!(place(&new) < place(&old), "{said}");

    live.write("src/session.rs", "pub fn verify() { sleep() }\n\npub fn renew() {}\n");
    let said = prompted(&live, "s", "must verify take constant time?");
    assert!(said.contains("[drifted: src/session.rs#verify] verify must take constant time"), "{said}");
    let (exit, _) = memo(&live, &["forget", "--yes", &new]);
    assert_eq!(exit, 0);
    assert!(
        !prompted(&live, "t", "on which replica does the nightly export run?").contains(&new),
        "archived"
    );
}

#[test]
fn before_an_edit_the_drifted_come_first() {
    let live = Live::new();
    live.write("src/a.rs", "pub fn one() {}\n\npub fn two() {}\n");
    live.write("src/b.rs", "pub fn three() {}\n");
    live.commit_all();
    add(&live, &["--about", "src/a.rs#one", "one is called by the scheduler"]);
    add(&live, &["--about", "src/a.rs#two", "two allocates nothing"]);
    add(&live, &["--about", "src/b.rs", "three belongs to the parser"]);
    live.write("src/a.rs", "pub fn one() {}\n\npub fn two() { changed() }\n");
    let said = editing(&live, "s", "src/a.rs");
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[1].starts_with("- [drifted: src/a.rs#two] two allocates nothing (mem_"), "{said}");
    assert!(lines[2].starts_with("- one is called by the scheduler (mem_"), "{said}");
    assert_eq!(lines.len(), 3, "{said}");
    for path in ["src/none.rs", "/etc/passwd", "../out.rs", ""] {
        assert_eq!(editing(&live, "s", path), "", "{path}");
    }
}

#[test]
fn credentials_are_not_told() {
    let live = shop();
    let token = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    add(&live, &["--allow-secret", &format!("the mirror of the package registry wants {token}")]);
    let said = prompted(&live, "s", "what does the mirror of the package registry want?");
    assert!(said.contains("wants [REDACTED]") && !said.contains(&token), "{said}");
}

#[test]
fn the_daemon_explains_its_decision() {
    let live = shop();
    let call = |prompt: &str| {
        live.call("advise", json!({ "occasion": "prompt", "prompt": prompt, "explain": true }))
    };
    let result = call(QUESTION);
    let item = result["items"].as_array().unwrap().iter().find(|item| item["told"] == true).unwrap();
    let shares = item["evidence"].as_array().unwrap().iter().map(|part| part["share"].as_f64().unwrap());
    let (sum, score) = (shares.sum::<f64>(), item["score"].as_f64().unwrap());
    assert!((sum - score).abs() < 1e-6 && score >= 0.0, "{item}");
    for (prompt, reason) in [
        ("run the tests", "the prompt has no word to search for"),
        ("is the sky blue", "no memory is clearly relevant"),
    ] {
        let result = call(prompt);
        assert_eq!((&result["text"], &result["silent"]), (&json!(""), &json!(reason)), "{prompt}");
    }
}
