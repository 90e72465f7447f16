//! Asks a language model for other words that the answers to a query may contain.

use memod_memory::outgoing::clean_outgoing_text;
use serde_json::Value;

use crate::messages::{Prompt, RequestPurpose};
use crate::model_answer::{array_strings, clean_line, find_json};

/// Longest query that is sent, bytes. A longer query is a pasted text, which has enough words.
pub const MAX_QUERY_BYTES: usize = 500;
/// Most alternatives that are taken from an answer.
const MAX_ALTERNATIVES: usize = 8;
/// Longest alternative that is taken, characters. A longer one is a sentence.
const MAX_ALTERNATIVE_CHARS: usize = 40;
/// Most words of one alternative.
const MAX_ALTERNATIVE_WORDS: usize = 3;
/// Most tokens of the answer.
const MAX_ANSWER_TOKENS: u64 = 160;

const INSTRUCTIONS: &str = "You help to search a source code repository. The data is a search query. Name up to 8 other words that code, \
                    comments or documents which answer it are likely to contain: synonyms, technical terms, names of \
                    functions or types. No word of the query itself, no explanation. For the query `where is the cart emptied` \
                    answer {\"words\": [\"clear\", \"basket\", \"reset_cart\", \"remove items\"]}";

/// Builds the prompt that asks for other words for a query. `key` is removed from the query.
pub fn build_prompt(query: &str, key: Option<&str>) -> Prompt {
    Prompt::new(RequestPurpose::Expand, INSTRUCTIONS, &clean_outgoing_text(query, key), MAX_ANSWER_TOKENS)
}

/// Returns the words in an answer, each once, without the words of the query.
///
/// # Errors
/// When the answer is not JSON, or no word is left.
pub fn read_words(answer: &str, query: &str) -> Result<Vec<String>, &'static str> {
    let value = find_json(answer)?;
    let known: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let mut words: Vec<String> = Vec::new();
    for word in find_words(&value) {
        let Some(word) = clean_word(word) else { continue };
        let lower = word.to_lowercase();
        let is_new = !known.contains(&lower) && !words.iter().any(|other| other.to_lowercase() == lower);
        if is_new && words.len() < MAX_ALTERNATIVES {
            words.push(word);
        }
    }
    if words.is_empty() { Err("the model named no other words") } else { Ok(words) }
}

/// Returns the strings in the array `words`, or else in the first array of the object, or in the value itself.
fn find_words(value: &Value) -> impl Iterator<Item = &str> {
    let named = value.get("words").filter(|words| words.is_array());
    array_strings(named.or_else(|| find_array(value)).unwrap_or(value))
}

/// Returns the first array in an object.
fn find_array(value: &Value) -> Option<&Value> {
    value.as_object()?.values().find(|value| value.is_array())
}

/// Returns whether an alternative can contain this character.
fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || "_-./:# ".contains(c)
}

/// Returns an alternative on one line; `None` if it is too long, or has characters or words that a query would read as operators.
fn clean_word(raw: &str) -> Option<String> {
    let line = clean_line(raw, MAX_ALTERNATIVE_CHARS + 1)?;
    let is_word = line.chars().count() <= MAX_ALTERNATIVE_CHARS
        && line.split(' ').count() <= MAX_ALTERNATIVE_WORDS
        && line.chars().all(is_word_char)
        && line.contains(char::is_alphanumeric)
        && !line.split(' ').any(|part| ["AND", "OR", "NOT"].contains(&part));
    is_word.then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_are_taken() {
        let check = |answer: &str, expected: &str| {
            let found = read_words(answer, "token expiry").map(|words| words.join("|"));
            assert_eq!(found.unwrap_or_else(str::to_owned), expected, "{answer}");
        };
        check(r#"{"words":["ttl","Token","session timeout","ttl","TTL"]}"#, "ttl|session timeout");
        check(r#"["ttl","max_age"]"#, "ttl|max_age");
        check(r#"{"terms":["ttl"]}"#, "ttl");
        check(
            r#"{"words":["a b c d","x*","\"x\"","(x)","NOT","a NOT b","--","rm -rf /; echo $(x)",7,null]}"#,
            "the model named no other words",
        );
        check(r#"{"words":"ttl"}"#, "the model named no other words");
        check("ttl", "the model did not answer with JSON");
        let many: Vec<String> = (0..100).map(|nth| format!("w{nth}")).collect();
        assert_eq!(read_words(&serde_json::to_string(&many).unwrap(), "").unwrap().len(), MAX_ALTERNATIVES);
        let long = format!("[\"{}\"]", "x".repeat(1_000_000));
        check(&long, "the model named no other words");
    }
}
