//! Is a session told each thing once?

use serde_json::json;

use super::{QUESTION, TOKENS, add, editing, hook, prompted, shop, started, told};
use crate::live::until;

#[test]
fn a_session_is_told_once_and_another_one_again() {
    let live = shop();
    assert!(prompted(&live, "one", QUESTION).contains(TOKENS));
    assert_eq!(prompted(&live, "one", QUESTION), "");
    assert!(prompted(&live, "two", QUESTION).contains(TOKENS));
    assert!(editing(&live, "one", "src/session.rs").contains("constant time"));
    assert_eq!(editing(&live, "one", "src/session.rs"), "");
    let nameless = json!({ "prompt": QUESTION, "cwd": live.root() }).to_string();
    for _ in 0..2 {
        let said = hook(&live, &["prompt"], nameless.as_bytes());
        assert!(said.contains(TOKENS), "nothing is remembered without a session: {said}");
    }
}

#[test]
fn a_subagent_is_told_for_itself() {
    let live = shop();
    let ask = |agent: Option<&str>| told(&live, "prompt", &json!({ "prompt": QUESTION, "agent_id": agent }));
    assert!(ask(None).contains(TOKENS));
    assert!(ask(Some("explorer")).contains(TOKENS), "it does not know what the session was told");
    assert_eq!(ask(None) + &ask(Some("explorer")), "");
}

#[test]
fn what_the_brief_says_is_not_said_again() {
    let live = shop();
    assert!(started(&live, "s", "startup").contains("make ship"));
    assert_eq!(prompted(&live, "s", "how do we deploy, make ship or by hand?"), "");
    assert!(prompted(&live, "t", "how do we deploy, make ship or by hand?").contains("make ship"));
}

#[test]
fn it_outlives_the_daemon() {
    let live = shop();
    assert!(started(&live, "s", "startup").contains("make ship"));
    assert!(prompted(&live, "s", QUESTION).contains(TOKENS));
    live.kill();
    live.start();
    assert_eq!(prompted(&live, "s", QUESTION), "");
    assert_eq!(started(&live, "s", "resume"), "");
}

#[test]
fn what_the_session_no_longer_knows_is_told_again() {
    let live = shop();
    assert!(started(&live, "s", "startup").contains("make ship"));
    assert!(prompted(&live, "s", QUESTION).contains(TOKENS));
    for source in ["startup", "resume"] {
        assert_eq!(started(&live, "s", source), "", "{source}: it has the brief");
        assert_eq!(prompted(&live, "s", QUESTION), "", "{source}");
    }
    assert_eq!(started(&live, "s", "compact"), "", "a summary has the brief");
    assert!(prompted(&live, "s", QUESTION).contains(TOKENS), "a summary may have lost the rest");
    assert!(started(&live, "s", "clear").contains("make ship"));
    assert!(prompted(&live, "s", QUESTION).contains(TOKENS));
    assert_eq!(started(&live, "copy", "fork"), "", "a copy has what the session was told");
}

#[test]
fn explaining_is_not_telling() {
    let live = shop();
    let output = live.memo(&["hook", "prompt", "--explain", QUESTION]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(text.starts_with("advice: ") && text.contains("rare-words"), "{text}");
    assert!(prompted(&live, "s", QUESTION).contains(TOKENS));
    let output = live.memo(&["hook", "prompt", "--explain", "thanks!"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), text.starts_with("silent: ")), (Some(1), true), "{text}");
}

#[test]
fn the_budget_holds() {
    let live = shop();
    for nth in 0..12 {
        add(
            &live,
            &["--force", &format!("token renewal fact {nth}: {}", "the session token expires ".repeat(8))],
        );
    }
    for budget in [0, 10, 60, 200, 400] {
        let call = json!({ "prompt": QUESTION, "cwd": live.root() }).to_string();
        let said =
            hook(&live, &["prompt", "--agent", "text", "--budget", &budget.to_string()], call.as_bytes());
        let n_tokens = said.trim_end().chars().count().div_ceil(4);
        assert!(n_tokens <= budget && (budget < 60 || n_tokens > 0), "{n_tokens} of {budget}: {said}");
    }
    for budget in [0, 50, 300, 1_200] {
        let call = json!({ "cwd": live.root() }).to_string();
        let args = ["session-start", "--agent", "text", "--budget", &budget.to_string()];
        let n_tokens = hook(&live, &args, call.as_bytes()).trim_end().chars().count().div_ceil(4);
        assert!(n_tokens <= budget && (budget < 300 || n_tokens > 0), "{n_tokens} of {budget}");
    }
}

#[test]
fn a_session_that_cannot_wait_begins_without_the_map() {
    let live = shop();
    let advise = |within_ms: u64| {
        let params = json!({ "occasion": "session-start", "within_ms": within_ms });
        live.call("advise", params)["text"].as_str().unwrap().to_owned()
    };
    assert!(advise(10_000).contains("## Map"));
    // 60 ms are kept back for what follows the map, so that none are left for it; it may be there at once nevertheless.
    until("a brief without its map", || {
        let told = advise(59);
        told.contains("## Memories") && !told.contains("## Map")
    });
}
