//! Does what is used stay, and what is only looked at stay as it is?

use serde_json::{Value, json};

use super::{add, call, memo};
use crate::live::Live;

fn get(live: &Live, id: &str) -> Value {
    call(live, "memory.get", json!({ "ids": [id] }))["memories"][0].clone()
}

fn added(live: &Live, text: &str, tier: &str) -> Value {
    call(live, "memory.add", json!({ "content": text, "tier": tier }))["memory"].clone()
}

fn ms(time: &Value) -> i64 {
    time.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

#[test]
fn recalling_reinforces_and_reading_does_not() {
    const HOUR_MS: i64 = 3_600_000;
    let live = Live::new();
    let short = added(&live, "alpha short", "short");
    let mid = added(&live, "alpha mid", "mid");
    let before = get(&live, mid["id"].as_str().unwrap());
    for args in [&["list"] as &[&str], &["recent"], &["search", "--kind", "memory", "alpha"], &["stats"]] {
        assert_eq!(memo(&live, args).0, 0, "{args:?}");
    }
    assert_eq!(get(&live, mid["id"].as_str().unwrap()), before);
    for nth in 1..=10 {
        let (code, answer) = memo(&live, &["recall", "alpha"]);
        let hits = answer["memories"].as_array().unwrap_or_else(|| panic!("{answer}"));
        assert_eq!((code, hits.len()), (0, 2), "{answer}");
        assert!(hits.iter().all(|hit| hit["access_count"] == nth), "{answer}");
        assert!(hits.iter().all(|hit| hit["changed"]["access_count"] == json!([nth - 1, nth])), "{answer}");
    }
    let (after_short, after_mid) =
        (get(&live, short["id"].as_str().unwrap()), get(&live, mid["id"].as_str().unwrap()));
    assert_eq!(ms(&after_short["expires_at"]) - ms(&short["expires_at"]), 10 * HOUR_MS);
    assert_eq!((&after_mid["tier"], &after_mid["expires_at"]), (&json!("long"), &Value::Null));
    assert_eq!((&after_mid["priority"], &after_mid["access_count"]), (&json!(6), &json!(10)));
    assert_eq!(after_mid["updated"], mid["updated"], "it says what it said");
    assert!(after_mid["last_access"].is_string());
    let history = call(&live, "memory.history", json!({ "ids": [mid["id"]] }))["changes"].clone();
    assert_eq!(history.as_array().unwrap().len(), 11);
    assert_eq!(history[5]["fields"]["tier"], json!(["mid", "long"]), "{history}");
}

#[test]
fn a_recall_that_is_asked_for_again_is_not_done_again() {
    let live = Live::new();
    let id = add(&live, "alpha");
    let params = json!({ "query": "alpha", "request": "r1" });
    let first = call(&live, "memory.recall", params.clone());
    assert_eq!(call(&live, "memory.recall", params), first);
    assert_eq!(get(&live, &id)["access_count"], 1);
}

#[test]
fn what_is_only_remotely_like_the_query_is_left_as_it_is() {
    let live = Live::new();
    let (named, remote) =
        (add(&live, "the parser keeps comments"), add(&live, "the lexer reads source code"));
    let (code, answer) = memo(&live, &["recall", "parser"]);
    let hits = answer["memories"].as_array().unwrap();
    let ids: Vec<_> = hits.iter().map(|hit| hit["id"].as_str().unwrap()).collect();
    assert_eq!((code, ids), (0, vec![&*named, &*remote]), "{answer}");
    assert_eq!((&hits[0]["access_count"], &hits[1]["changed"]), (&json!(1), &json!({})));
    let after = get(&live, &remote);
    assert_eq!((&after["access_count"], &after["last_access"]), (&json!(0), &Value::Null), "{after}");
}

#[test]
fn promoting_goes_one_tier_up_or_where_it_is_told() {
    let live = Live::new();
    let id = added(&live, "alpha", "short")["id"].as_str().unwrap().to_owned();
    let tiers = [
        ("mid", json!(["expires_at", "tier"])),
        ("long", json!(["expires_at", "tier"])),
        ("long", json!([])),
    ];
    for (tier, changed) in tiers {
        let (code, answer) = memo(&live, &["promote", &id]);
        assert_eq!((code, &answer["memory"]["tier"], &answer["changed"]), (0, &json!(tier), &changed));
    }
    assert_eq!(get(&live, &id)["expires_at"], Value::Null);
    let other = added(&live, "beta", "short")["id"].as_str().unwrap().to_owned();
    let straight = memo(&live, &["promote", &other, "--to", "long"]).1["memory"].clone();
    assert_eq!((&straight["tier"], &straight["expires_at"]), (&json!("long"), &Value::Null));
    let (code, answer) = memo(&live, &["promote", &other, "--to", "mid"]);
    assert_eq!(
        (code, &answer["error"]["hint"]),
        (2, &json!("`memo update --tier` lowers a tier")),
        "{answer}"
    );
    assert_eq!(get(&live, &other)["tier"], "long");
}

#[test]
fn tiers_are_as_the_settings_say() {
    let live = Live::idle();
    std::fs::write(
        live.layout().config_file(),
        "[memory]\nshort_minutes = 1\nshort_extension_minutes = 2\npromote_at = 1\n",
    )
    .unwrap();
    live.start();
    let short = added(&live, "alpha short", "short");
    assert_eq!(ms(&short["expires_at"]) - ms(&short["created"]), 60_000);
    let mid = added(&live, "beta mid", "mid");
    call(&live, "memory.recall", json!({ "query": "alpha", "mode": "keyword" }));
    call(&live, "memory.recall", json!({ "query": "beta", "mode": "keyword" }));
    let (short_after, mid_after) =
        (get(&live, short["id"].as_str().unwrap()), get(&live, mid["id"].as_str().unwrap()));
    assert_eq!(ms(&short_after["expires_at"]) - ms(&short["expires_at"]), 120_000);
    assert_eq!(mid_after["tier"], "long");
    let changed =
        memo(&live, &["update", short["id"].as_str().unwrap(), "--tier", "short"]).1["memory"].clone();
    assert_eq!(ms(&changed["expires_at"]) - ms(&changed["updated"]), 60_000);
}

#[test]
fn the_last_change_comes_first() {
    let live = Live::new();
    let (first, _second) = (add(&live, "one"), add(&live, "two"));
    memo(&live, &["update", &first, "--priority", "7"]);
    let answer = memo(&live, &["recent", "-n", "1"]).1;
    assert_eq!((&answer["memories"][0]["content"], &answer["total"]), (&json!("one"), &json!(2)));
}
