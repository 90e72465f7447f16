//! Parses the answers of servers and models, which may be anything. Pure.

use memod_memory::outgoing::{clean_outgoing_text, is_control_or_invisible};
use serde_json::Value;

/// Longest part of a server's error message that is quoted, characters.
const MAX_QUOTED_CHARS: usize = 200;

/// The text and the token count in a server's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParsedAnswer {
    /// Text that the model wrote.
    pub(crate) text: String,
    /// Tokens of prompt and answer that the server reports; `None` if it reports none.
    pub(crate) used: Option<u64>,
}

/// Parses the body of a successful answer.
///
/// # Errors
/// The reason, if the body is not JSON or has no text of the model.
pub(crate) fn parse_answer(body: &[u8]) -> Result<ParsedAnswer, &'static str> {
    let value: Value =
        serde_json::from_slice(body).map_err(|_| "answered with something that is not JSON")?;
    let usage = &value["usage"];
    let used = usage["total_tokens"].as_u64().max(sum_usage(usage));
    let message = &value["choices"][0]["message"]["content"];
    let text = match message {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    };
    if text.trim().is_empty() {
        return Err("answered without a text");
    }
    Ok(ParsedAnswer { text, used })
}

/// Returns the sum of the tokens of prompt and answer; `None` unless the server reports both.
fn sum_usage(usage: &Value) -> Option<u64> {
    Some(usage["prompt_tokens"].as_u64()?.saturating_add(usage["completion_tokens"].as_u64()?))
}

/// Returns the error message in the body of a failed request, on one line, without the key and other credentials.
pub(crate) fn parse_error_message(body: &[u8], key: Option<&str>) -> String {
    let text = String::from_utf8_lossy(body);
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = [&value["error"]["message"], &value["error"], &value["message"], &value["detail"]];
    let message = message.into_iter().find_map(Value::as_str).unwrap_or(&text);
    clean_line(&clean_outgoing_text(message, key).text, MAX_QUOTED_CHARS).unwrap_or_default()
}

/// Returns the JSON in a text of a model: the whole text, or else the outermost object or array in the text. Thoughts before the
/// answer (up to `</think>`) and a fence around the answer are ignored.
///
/// # Errors
/// When the text contains no JSON object or array.
pub(crate) fn find_json(text: &str) -> Result<Value, &'static str> {
    let text = text.rsplit_once("</think>").map_or(text, |(_, answer)| answer).trim();
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
        return Ok(value);
    }
    for (open, close) in [('{', '}'), ('[', ']')] {
        let (Some(start), Some(end)) = (text.find(open), text.rfind(close)) else { continue };
        if let Some(value) = text.get(start..=end).and_then(|part| serde_json::from_str(part).ok()) {
            return Ok(value);
        }
    }
    Err("the model did not answer with JSON")
}

/// Returns a text on one line, without control and invisible characters, cut to `most_chars`; `None` if no letter or digit is left.
pub(crate) fn clean_line(text: &str, most_chars: usize) -> Option<String> {
    let plain: String = text.chars().map(|c| if is_control_or_invisible(c) { ' ' } else { c }).collect();
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut = match line.char_indices().nth(most_chars) {
        Some((at, _)) => format!("{}…", line[..at].trim_end()),
        None => line,
    };
    cut.contains(char::is_alphanumeric).then_some(cut)
}

/// Returns a text with its line ends, without control and invisible characters, cut to `most_chars`; `None` if no letter or digit
/// is left.
pub(crate) fn clean_lines(text: &str, most_chars: usize) -> Option<String> {
    let plain: String = text.chars().filter(|c| !is_control_or_invisible(*c)).collect();
    let plain = plain.trim();
    let cut = match plain.char_indices().nth(most_chars) {
        Some((at, _)) => format!("{}…", plain[..at].trim_end()),
        None => plain.to_owned(),
    };
    cut.contains(char::is_alphanumeric).then_some(cut)
}

/// Returns the strings in an array; nothing for a value of another type.
pub(crate) fn array_strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_whatever_it_is() {
        let check = |body: &str, expected: Result<(&str, Option<u64>), &str>| {
            let found = parse_answer(body.as_bytes());
            let found = found.as_ref().map(|said| (said.text.as_str(), said.used)).map_err(|why| *why);
            assert_eq!(found, expected, "{body}");
        };
        check(r#"{"choices":[{"message":{"content":"a"}}],"usage":{"total_tokens":7}}"#, Ok(("a", Some(7))));
        check(
            r#"{"choices":[{"message":{"content":[{"text":"a"},{"text":"b"}]}}],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#,
            Ok(("ab", Some(7))),
        );
        check(r#"{"choices":[{"message":{"content":"a"}}],"usage":{"total_tokens":-7}}"#, Ok(("a", None)));
        check(r#"{"choices":[{"message":{"content":null}}]}"#, Err("answered without a text"));
        check(r#"{"choices":{}}"#, Err("answered without a text"));
        check("[]", Err("answered without a text"));
        check("{\"choices\":[{", Err("answered with something that is not JSON"));
        check("", Err("answered with something that is not JSON"));
    }

    #[test]
    fn json_is_found_in_talk() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(find_json(text).ok().map(|value| value.to_string()).as_deref(), expected, "{text}");
        };
        check(r#"{"a":1}"#, Some(r#"{"a":1}"#));
        check("```json\n{\"a\": 1}\n```", Some(r#"{"a":1}"#));
        check("<think>{\"b\":2}</think>\nHere: {\"a\":1}. Bye", Some(r#"{"a":1}"#));
        check("Sure! [\"a\"]", Some(r#"["a"]"#));
        check("{\"a\": ", None);
        check("\"a\"", None);
        check("no", None);
        check(&"[".repeat(100_000), None);
    }

    #[test]
    fn texts_are_plain() {
        assert_eq!(clean_line(" a\n\u{1b}[31mb\u{202e} ", 10).as_deref(), Some("a [31mb"));
        assert_eq!(clean_line("abcdef", 3).as_deref(), Some("abc…"));
        assert_eq!((clean_line("\u{7}\n", 3), clean_line("…", 3)), (None, None));
        assert_eq!(clean_lines("a\n\n\u{1b}b\r\n", 10).as_deref(), Some("a\n\nb"));
        assert_eq!(parse_error_message(br#"{"error":{"message":"no\nmodel"}}"#, None), "no model");
        assert_eq!(parse_error_message(br#"{"error":"no model"}"#, None), "no model");
        assert_eq!(parse_error_message(b"<html>", None), "<html>");
        // The key is removed before the text is cut, because half a key at the cut would not be recognised.
        let wrong = format!("{} own-key", "x".repeat(MAX_QUOTED_CHARS - 4));
        assert!(!parse_error_message(wrong.as_bytes(), Some("own-key")).contains("own"));
    }
}
