//! Parses JSON, and preserves the digits of numbers in metadata.
//!
//! JSON does not define the precision of numbers. A number that would be written back differently, such as the version 1.10 or
//! the hash 7654321e12, becomes a string of the same characters.

use indexmap::IndexMap;
use serde::de::Error as _;
use serde_json::value::RawValue;
use serde_json::{Error, Result, Value, from_str};

/// The key of the values whose numbers keep their digits.
const METADATA_KEY: &str = "metadata";
/// Largest depth of nested JSON, as in `serde_json`.
const MAX_DEPTH: usize = 128;

/// Parses JSON; all numbers keep their digits.
///
/// # Errors
/// When the text is not JSON, or is nested too deeply.
pub fn parse_with_exact_numbers(json: &str) -> Result<Value> {
    from_str(json).and_then(|raw| parse_value(raw, true, MAX_DEPTH))
}

/// Parses JSON; the numbers below a key `metadata` keep their digits.
///
/// # Errors
/// When the text is not JSON, or is nested too deeply.
pub fn parse_with_exact_metadata(json: &str) -> Result<Value> {
    if json.contains(METADATA_KEY) {
        from_str(json).and_then(|raw| parse_value(raw, false, MAX_DEPTH))
    } else {
        from_str(json)
    }
}

/// Parses a value. If `keeps_digits`, a number that would be written back differently becomes a string.
fn parse_value(raw: &RawValue, keeps_digits: bool, depth_left: usize) -> Result<Value> {
    let Some(depth_left) = depth_left.checked_sub(1) else {
        return Err(Error::custom("recursion limit exceeded"));
    };
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'{') => {
            let entries: IndexMap<String, &RawValue> = from_str(text)?;
            let parsed = entries.into_iter().map(|(key, value)| {
                let keeps_its_digits = keeps_digits || key == METADATA_KEY;
                Ok((key, parse_value(value, keeps_its_digits, depth_left)?))
            });
            parsed.collect::<Result<_>>().map(Value::Object)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = from_str(text)?;
            items
                .into_iter()
                .map(|item| parse_value(item, keeps_digits, depth_left))
                .collect::<Result<_>>()
                .map(Value::Array)
        }
        Some(b'-' | b'0'..=b'9') if keeps_digits => {
            // `serde_json` may reject a number that is out of its range; that number becomes a string too.
            let number = from_str(text).ok().filter(|number: &Value| text.eq(&number.to_string()));
            Ok(number.unwrap_or_else(|| Value::from(text)))
        }
        _ => from_str(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_that_would_change_become_texts() {
        for (text, exact) in [
            (r#"[1, -2, 1.5, 0, true, "1.10", "\"1.10"]"#, json!([1, -2, 1.5, 0, true, "1.10", "\"1.10"])),
            ("18446744073709551615", json!(u64::MAX)),
            ("[1.10,2.0]", json!(["1.10", 2.0])),
            (r#"{"1.10": {"v": 1e3}}"#, json!({ "1.10": { "v": "1e3" } })),
            (" 123456789012345678901234567890 ", json!("123456789012345678901234567890")),
            ("[1e999, -0, 1.0E1]", json!(["1e999", "-0", "1.0E1"])),
        ] {
            assert_eq!(parse_with_exact_numbers(text).unwrap(), exact);
        }
        for text in ["01", "[1.]", "-", "\"open 1.10", "[1 1]"] {
            assert!(parse_with_exact_numbers(text).is_err(), "{text}");
        }
        let nested = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parse_with_exact_numbers(&nested).unwrap_err().to_string().contains("recursion limit"));
    }

    #[test]
    fn only_metadata_is_looked_at() {
        for (text, exact) in [
            (
                r#"{"priority":1.10,"metadata":{"v":[1.10]},"x":1.10}"#,
                json!({ "priority": 1.1, "metadata": { "v": ["1.10"] }, "x": 1.1 }),
            ),
            (
                r#"{"a":[{"metadata" : {"v":1.10}},{"v":1.10}]}"#,
                json!({ "a": [{ "metadata": { "v": "1.10" } }, { "v": 1.1 }] }),
            ),
            (r#"{"metadata":{"v":1e999}}"#, json!({ "metadata": { "v": "1e999" } })),
            (r#"{"x":"metadata","v":1.10}"#, json!({ "x": "metadata", "v": 1.1 })),
        ] {
            assert_eq!(parse_with_exact_metadata(text).unwrap(), exact);
        }
    }
}
