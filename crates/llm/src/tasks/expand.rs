//! Asks for other words that what answers a query may have.

use memod_memory::outgoing::outgoing;
use serde_json::Value;

use crate::messages::{Prompt, Purpose};
use crate::model_answer::{json_in, line, strings};

/// Longest query that is sent, bytes: a longer one is a pasted text, which has words enough.
pub const MOST_QUERY: usize = 500;
/// Most words that are taken.
const MOST_WORDS: usize = 8;
/// Longest word that is taken, characters; a longer one is a sentence.
const MOST_CHARS: usize = 40;
/// Most words of one alternative.
const MOST_PARTS: usize = 3;
/// Most tokens of the answer.
const MOST_TOKENS: u64 = 160;

const TASK: &str = "You help to search a source code repository. The data is a search query. Name up to 8 other words that code, \
                    comments or documents which answer it are likely to contain: synonyms, technical terms, names of \
                    functions or types. No word of the query itself, no explanation. For the query `where is the cart emptied` \
                    answer {\"words\": [\"clear\", \"basket\", \"reset_cart\", \"remove items\"]}";

/// Asks about a query.
pub fn prompt(query: &str, key: Option<&str>) -> Prompt {
    Prompt::new(Purpose::Expand, TASK, &outgoing(query, key), MOST_TOKENS)
}

/// Reads the words of an answer: no word of the query, each once.
///
/// # Errors
/// Why there are none.
pub fn words(answer: &str, query: &str) -> Result<Vec<String>, &'static str> {
    let value = json_in(answer)?;
    let known: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let mut words: Vec<String> = Vec::new();
    for word in list(&value) {
        let Some(word) = word_of(word) else { continue };
        let lower = word.to_lowercase();
        let is_new = !known.contains(&lower) && !words.iter().any(|other| other.to_lowercase() == lower);
        if is_new && words.len() < MOST_WORDS {
            words.push(word);
        }
    }
    if words.is_empty() { Err("the model named no other words") } else { Ok(words) }
}

/// Returns the strings under `words`, or else of the only array.
fn list(value: &Value) -> impl Iterator<Item = &str> {
    let named = value.get("words").filter(|words| words.is_array());
    let only = || value.as_object()?.values().find(|value| value.is_array());
    strings(named.or_else(only).unwrap_or(value))
}

/// Returns a word without signs that a query would take for operators; `None` if it is no word.
fn word_of(raw: &str) -> Option<String> {
    let line = line(raw, MOST_CHARS + 1)?;
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:# ".contains(c);
    let is_word = line.chars().count() <= MOST_CHARS
        && line.split(' ').count() <= MOST_PARTS
        && line.chars().all(is_plain)
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
            let found = words(answer, "token expiry").map(|words| words.join("|"));
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
        assert_eq!(words(&serde_json::to_string(&many).unwrap(), "").unwrap().len(), MOST_WORDS);
        let long = format!("[\"{}\"]", "x".repeat(1_000_000));
        check(&long, "the model named no other words");
    }
}
