//! Removes fields that cost a model tokens and that it does not use from a result.
//!
//! Pure. Besides the fields that `--json` leaves out, these are scores, line numbers that the text repeats, and usual values
//! such as `fresh`.

use memod_proto::OrderedJson;
use memod_proto::memory::is_unconfirmed_trust;
use serde_json::Value;

/// Keys that are left out at any depth.
const LEFT_OUT_KEYS: &[&str] = &[
    "access_count",
    "explain",
    "last_access",
    "rank",
    "score",
    "signature_end",
    "signature_line",
    "snippet_line",
];

/// Keys of the result that are left out if the answer is fresh.
const FRESHNESS_KEYS: &[&str] = &["fresh", "pending", "reason"];

/// Returns the result without usual values and internal fields.
pub(super) fn strip_for_model(mut result: Value) -> Value {
    if let Some(fields) = result.as_object_mut() {
        let is_fresh = fields.get("fresh").is_some_and(|fresh| fresh == true);
        fields.retain(|key, _| !is_fresh || !FRESHNESS_KEYS.contains(&key.as_str()));
    }
    drop_confirmed_trust(&mut result);
    // The conversion of a JSON value to JSON cannot fail.
    OrderedJson::without_internal_keys(&result, LEFT_OUT_KEYS)
        .and_then(serde_json::to_value)
        .unwrap_or(result)
}

/// Removes `trust`, which names the origin of a text, except from memories that nobody here has confirmed.
fn drop_confirmed_trust(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            let is_memory =
                fields.contains_key("container") || fields.get("kind").is_some_and(|kind| kind == "memory");
            let is_told =
                is_memory && fields.get("trust").and_then(Value::as_str).is_some_and(is_unconfirmed_trust);
            fields.retain(|key, _| key != "trust" || is_told);
            fields
                .iter_mut()
                .filter(|(key, _)| *key != "metadata")
                .for_each(|(_, value)| drop_confirmed_trust(value));
        }
        Value::Array(items) => items.iter_mut().for_each(drop_confirmed_trust),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_nobody_vouches_for_is_told() {
        let hit = |kind: &str, trust: &str| json!({ "kind": kind, "trust": trust });
        let hits = [hit("text", "repo"), hit("memory", "own"), hit("memory", "repo")];
        let told = json!({ "hits": [{ "kind": "text" }, { "kind": "memory" }, { "kind": "memory", "trust": "repo" }] });
        assert_eq!(strip_for_model(json!({ "hits": hits })), told);
    }

    #[test]
    fn freshness_is_told_when_it_is_not_usual() {
        let hit = json!({ "path": "a", "blob": "00", "score": 0.5, "symbol": null });
        let fresh = json!({ "fresh": true, "pending": { "files": 0 }, "clock": "m1", "hits": [hit] });
        assert_eq!(strip_for_model(fresh), json!({ "hits": [{ "path": "a" }] }));
        let stale =
            json!({ "fresh": false, "reason": "first index", "pending": { "files": 9 }, "took_ms": 1 });
        assert_eq!(
            strip_for_model(stale),
            json!({ "fresh": false, "reason": "first index", "pending": { "files": 9 } })
        );
    }
}
