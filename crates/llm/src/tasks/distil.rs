//! Asks a language model to extract memories from the transcript of a session.

use memod_memory::fields;
use memod_memory::outgoing::clean_outgoing_text;

use crate::messages::{Prompt, RequestPurpose};
use crate::model_answer::{clean_lines, find_json};
use crate::tasks::suggest::{clean_tags, clean_title};

/// Longest part of a transcript that is sent in one request, bytes.
pub const MAX_TEXT_BYTES: usize = 16 << 10;
/// Most memories that are taken from one answer.
const MOST_MEMORIES: usize = 10;
/// Longest memory, characters. A longer one only repeats the transcript.
const MAX_MEMORY_CHARS: usize = 800;
/// Least number of words of a memory.
const LEAST_WORDS: usize = 3;
/// Most tokens of the answer.
const MAX_ANSWER_TOKENS: u64 = 900;

const INSTRUCTIONS: &str = "The data is a part of a session in which a person and a coding agent worked on a repository. Write down what \
                    somebody who works on it next month should know: decisions with their reason, rules of the project, causes \
                    of defects, how things are built, tested and released. Leave out what only this session was about, what the \
                    code says itself, and everything that is not certain. Each note must be understood without the session, in one or two \
                    sentences. At most five, none if nothing is worth it. Form: {\"memories\": [{\"text\": \"…\", \"title\": \
                    \"…\", \"tags\": [\"…\"]}]}";

/// A memory that the model proposes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryCandidate {
    /// Text of the memory.
    pub content: String,
    /// Title; `None` if the model proposed no valid title.
    pub title: Option<String>,
    /// Valid tags that the model proposed.
    pub tags: Vec<String>,
}

/// Builds the prompt that asks for the memories in a part of a transcript. `key` is removed from the text.
pub fn build_prompt(text: &str, key: Option<&str>) -> Prompt {
    Prompt::new(RequestPurpose::Distil, INSTRUCTIONS, &clean_outgoing_text(text, key), MAX_ANSWER_TOKENS)
}

/// Returns the valid memories in an answer. Memories that seem to contain a credential are left out.
///
/// # Errors
/// When the answer has no list of memories, or none of its memories is valid. An empty list is no error.
pub fn read_candidates(answer: &str) -> Result<Vec<MemoryCandidate>, &'static str> {
    let value = find_json(answer)?;
    let list =
        value.get("memories").unwrap_or(&value).as_array().ok_or("the model gave no list of memories")?;
    let mut found: Vec<MemoryCandidate> = Vec::new();
    for value in list {
        let text = value["text"].as_str().or_else(|| value["content"].as_str()).or_else(|| value.as_str());
        let Some(text) = text.and_then(|text| clean_lines(text, MAX_MEMORY_CHARS + 1)) else { continue };
        let is_short =
            text.chars().count() <= MAX_MEMORY_CHARS && text.split_whitespace().count() >= LEAST_WORDS;
        let Some(kept) = fields::validate_content(&text, false).ok().filter(|_| is_short) else { continue };
        if found.len() < MOST_MEMORIES && found.iter().all(|other| other.content != kept.text) {
            let title = value["title"].as_str().and_then(clean_title);
            found.push(MemoryCandidate { content: kept.text, title, tags: clean_tags(&value["tags"]) });
        }
    }
    match found.is_empty() && !list.is_empty() {
        true => Err("none of the memories of the model is valid"),
        false => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_memories_that_may_be_kept() {
        let check = |answer: &str, expected: &str| {
            let found = read_candidates(answer).map(|all| {
                all.iter()
                    .map(|one| format!("{}:{}", one.content, one.tags.join(",")))
                    .collect::<Vec<_>>()
                    .join("|")
            });
            assert_eq!(found.unwrap_or_else(str::to_owned), expected, "{answer}");
        };
        check(
            r#"{"memories":[{"text":"a b c","tags":["x"]},{"text":"a b c"},{"content":"d e f"},"g h i","user"]}"#,
            "a b c:x|d e f:|g h i:",
        );
        check(r#"{"memories":[]}"#, "");
        check(r#"{"memories":[{"text":""},{"text":7},null]}"#, "none of the memories of the model is valid");
        check(r#"{"memories":"a"}"#, "the model gave no list of memories");
        check(r#"{"a":1}"#, "the model gave no list of memories");
        let token = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
        check(&format!(r#"[{{"text":"use {token}"}}]"#), "none of the memories of the model is valid");
        check(&format!(r#"["{}"]"#, "x".repeat(5_000)), "none of the memories of the model is valid");
    }
}
