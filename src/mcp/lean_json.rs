//! Takes out of a result what a model pays for and does not use.
//!
//! Pure. Hashes, parts of scores and times stay with `--json`, and what is usual (null, fresh) is left out.

use serde_json::Value;

/// Keys that are left out wherever they are.
const LEFT_OUT: &[&str] = &[
    "access_count",
    "arms",
    "blob",
    "classes",
    "clock",
    "digest",
    "explain",
    "last_access",
    "mode",
    "query",
    "score",
    "signature_line",
    "snippet_line",
    "took_ms",
    "trust",
    "view",
];

/// Keys that say nothing when the answer is fresh.
const OF_FRESHNESS: &[&str] = &["fresh", "pending", "reason"];

/// Returns the result without what is usual or internal.
pub(super) fn lean(mut result: Value) -> Value {
    if let Some(fields) = result.as_object_mut() {
        let is_fresh = fields.get("fresh").is_some_and(|fresh| fresh == true);
        fields.retain(|key, _| !is_fresh || !OF_FRESHNESS.contains(&key.as_str()));
    }
    strip(&mut result);
    result
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, value| !value.is_null() && !LEFT_OUT.contains(&key.as_str()));
            // What an author attached is not ours to change.
            fields.iter_mut().filter(|(key, _)| *key != "metadata").for_each(|(_, value)| strip(value));
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn freshness_is_told_when_it_is_not_usual() {
        let hit = json!({ "path": "a", "blob": "00", "score": 0.5, "symbol": null });
        let fresh = json!({ "fresh": true, "pending": { "files": 0 }, "clock": "m1", "hits": [hit] });
        assert_eq!(lean(fresh), json!({ "hits": [{ "path": "a" }] }));
        let stale =
            json!({ "fresh": false, "reason": "first index", "pending": { "files": 9 }, "took_ms": 1 });
        assert_eq!(
            lean(stale),
            json!({ "fresh": false, "reason": "first index", "pending": { "files": 9 } })
        );
    }
}
