//! Removes from a result the fields that only clients of the socket need.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Keys to remove at any depth: hashes, parts of scores, times, and values that repeat the request or are equal for every hit.
const LEFT_OUT_KEYS: &[&str] =
    &["arms", "blob", "classes", "clock", "digest", "mode", "query", "seen", "took_ms", "view"];

/// Scores are rounded to steps of one divided by this, 0.0001, because more digits are of no use and cost tokens.
const SCORE_STEPS: f64 = 10_000.0;

/// A JSON value that keeps the order of its keys.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OrderedJson {
    /// An object.
    Object(IndexMap<String, Self>),
    /// An array.
    Array(Vec<Self>),
    /// Anything else.
    Scalar(Value),
}

impl OrderedJson {
    /// Converts a result without hashes, parts of scores, times, null values and the keys in `also`, at any depth.
    /// Scores are rounded.
    ///
    /// # Errors
    /// If the result cannot be converted to JSON.
    pub fn without_internal_keys<T: Serialize>(result: &T, also: &[&str]) -> serde_json::Result<Self> {
        // A `serde_json::Value` would sort the keys.
        let mut lean = serde_json::from_slice(&serde_json::to_vec(result)?)?;
        remove_left_out_keys(&mut lean, also);
        Ok(lean)
    }
}

fn remove_left_out_keys(value: &mut OrderedJson, also: &[&str]) {
    match value {
        OrderedJson::Object(fields) => {
            let is_left_out = |key: &str| LEFT_OUT_KEYS.contains(&key) || also.contains(&key);
            fields.retain(|key, value| {
                !matches!(value, OrderedJson::Scalar(Value::Null)) && !is_left_out(key.as_str())
            });
            for (key, value) in fields {
                match (key.as_str(), value) {
                    // The metadata belong to the author.
                    ("metadata", _) => {}
                    ("score", OrderedJson::Scalar(score)) => round_score_value(score),
                    (_, value) => remove_left_out_keys(value, also),
                }
            }
        }
        OrderedJson::Array(items) => items.iter_mut().for_each(|item| remove_left_out_keys(item, also)),
        OrderedJson::Scalar(_) => {}
    }
}

fn round_score_value(score: &mut Value) {
    if let Some(number) = score.as_f64() {
        *score = round_score(number).into();
    }
}

/// Rounds a score to four decimal places.
pub fn round_score(score: f64) -> f64 {
    (score * SCORE_STEPS).round() / SCORE_STEPS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_and_what_an_author_attached_stay() {
        let result: Box<serde_json::value::RawValue> = serde_json::from_str(
            r#"{"query":"q","hits":[{"path":"a","blob":"00","lines":[1,2],"rank":1,"score":0.98765432,"state":null,
               "metadata":{"view":null,"score":0.123456}}],"fresh":true,"took_ms":1.5}"#,
        )
        .expect("JSON");
        let lean = OrderedJson::without_internal_keys(&result, &["rank"]).expect("JSON");
        assert_eq!(
            serde_json::to_string(&lean).expect("JSON"),
            r#"{"hits":[{"path":"a","lines":[1,2],"score":0.9877,"metadata":{"view":null,"score":0.123456}}],"fresh":true}"#
        );
    }
}
