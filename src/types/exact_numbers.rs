//! Keeps the digits of numbers in metadata.
//!
//! JSON leaves it to its reader how exactly a number is kept. One that would be written otherwise than it was, as a version 1.10 or a
//! hash 7654321e12, becomes a text of the same characters.

use std::borrow::Cow;

use serde_json::Number;
use serde_json::value::RawValue;

/// The key below which numbers keep their digits.
const METADATA: &str = "\"metadata\"";

/// Returns JSON in which all numbers keep their digits.
pub fn exact_numbers(json: &str) -> Cow<'_, str> {
    Scan { json, at: 0, copied: 0, exact: String::new() }.run(true)
}

/// Returns JSON in which the numbers below a key `metadata` keep their digits.
pub fn exact_metadata(json: &str) -> Cow<'_, str> {
    if !json.contains(METADATA) {
        return Cow::Borrowed(json);
    }
    Scan { json, at: 0, copied: 0, exact: String::new() }.run(false)
}

struct Scan<'a> {
    json: &'a str,
    at: usize,
    /// What comes before is in `exact`.
    copied: usize,
    exact: String,
}

impl<'a> Scan<'a> {
    /// Reads to the end. What is no JSON stays as it is, and whoever parses it says so.
    fn run(mut self, is_exact: bool) -> Cow<'a, str> {
        let mut depth = 0_usize;
        // Depth of the object that has the key.
        let mut metadata = None;
        while let Some(byte) = self.json.as_bytes().get(self.at) {
            match byte {
                b'"' => {
                    let is_key =
                        self.text() == METADATA && self.json[self.at..].trim_start().starts_with(':');
                    metadata = metadata.or(is_key.then_some(depth));
                    continue;
                }
                b'-' | b'0'..=b'9' => {
                    self.number(is_exact || metadata.is_some());
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    metadata = metadata.filter(|at| *at <= depth);
                }
                b',' => metadata = metadata.filter(|at| *at != depth),
                _ => {}
            }
            self.at += 1;
        }
        if self.copied == 0 {
            return Cow::Borrowed(self.json);
        }
        self.exact.push_str(&self.json[self.copied..]);
        Cow::Owned(self.exact)
    }

    /// Skips a text, and returns it with its quotes.
    fn text(&mut self) -> &'a str {
        let begin = self.at;
        let mut is_escaped = false;
        let inside = &self.json.as_bytes()[begin + 1..];
        let end = inside.iter().position(|byte| match byte {
            _ if is_escaped => {
                is_escaped = false;
                false
            }
            b'\\' => {
                is_escaped = true;
                false
            }
            byte => *byte == b'"',
        });
        self.at = end.map_or(self.json.len(), |end| begin + end + 2);
        &self.json[begin..self.at]
    }

    fn number(&mut self, is_exact: bool) {
        let rest = &self.json[self.at..];
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
        let token = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        let end = self.at + token.len();
        let is_kept = || serde_json::from_str(token).is_ok_and(|number: Number| number.to_string() == token);
        if is_exact && !is_kept() && serde_json::from_str::<&RawValue>(token).is_ok() {
            self.exact += &format!("{}\"{token}\"", &self.json[self.copied..self.at]);
            self.copied = end;
        }
        self.at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_would_change_become_texts() {
        for (json, exact) in [
            (r#"[1, -2, 1.5, 0, 18446744073709551615, true, "1.10", "\"1.10"]"#, None),
            ("[1.10,2.0]", Some(r#"["1.10",2.0]"#)),
            (r#"{"1.10": {"v": 1e3}}"#, Some(r#"{"1.10": {"v": "1e3"}}"#)),
            ("123456789012345678901234567890", Some(r#""123456789012345678901234567890""#)),
            ("[1e999, -0, 1.0E1]", Some(r#"["1e999", "-0", "1.0E1"]"#)),
            ("[01, 1., -, \"open 1.10", None),
        ] {
            assert_eq!(exact_numbers(json), exact.unwrap_or(json));
        }
    }

    #[test]
    fn only_metadata_is_looked_at() {
        for (json, exact) in [
            (
                r#"{"priority":1.10,"metadata":{"v":[1.10]},"x":1.10}"#,
                r#"{"priority":1.10,"metadata":{"v":["1.10"]},"x":1.10}"#,
            ),
            (
                r#"{"a":[{"metadata" : {"v":1.10}},{"v":1.10}]}"#,
                r#"{"a":[{"metadata" : {"v":"1.10"}},{"v":1.10}]}"#,
            ),
            (
                r#"{"content":"metadata","v":1.10,"w":"\"metadata\":"}"#,
                r#"{"content":"metadata","v":1.10,"w":"\"metadata\":"}"#,
            ),
            (r#"{"x":"metadata","v":1.10}"#, r#"{"x":"metadata","v":1.10}"#),
            (r#"{"metadata":1.10,"v":1.10}"#, r#"{"metadata":"1.10","v":1.10}"#),
        ] {
            assert_eq!(exact_metadata(json), exact);
        }
    }
}
