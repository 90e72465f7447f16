//! Asks a language model to summarise a brief.

use memod_memory::outgoing::clean_outgoing_text;

use crate::messages::{Prompt, RequestPurpose};
use crate::model_answer::{clean_lines, find_json};

/// Longest text that is sent, bytes.
const MAX_TEXT_BYTES: usize = 48 << 10;
/// Longest summary, characters.
const MAX_SUMMARY_CHARS: usize = 2_000;
/// Most tokens of the answer.
const MAX_ANSWER_TOKENS: u64 = 500;

const INSTRUCTIONS: &str = "The data is an overview of a source code repository: what it is, notes about it, uncommitted changes, last \
                    commits, and files with their definitions. Summarise for a programmer who starts to work on it, in at most \
                    eight short sentences: what the project is, what is being worked on, and which notes matter for that. Say \
                    nothing that the data does not say. Form: {\"summary\": \"…\"}";

/// Builds the prompt that asks for a summary of a brief. `key` is removed from the text.
pub fn build_prompt(text: &str, key: Option<&str>) -> Prompt {
    Prompt::new(
        RequestPurpose::Summarise,
        INSTRUCTIONS,
        &clean_outgoing_text(text, key).truncated_to(MAX_TEXT_BYTES),
        MAX_ANSWER_TOKENS,
    )
}

/// Returns the summary in an answer.
///
/// # Errors
/// When the answer is not JSON, or has no summary.
pub fn read_summary(answer: &str) -> Result<String, &'static str> {
    let value = find_json(answer)?;
    let text = value["summary"].as_str().ok_or("the model gave no summary")?;
    clean_lines(text, MAX_SUMMARY_CHARS).ok_or("the model gave no summary")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_plain_text() {
        let check = |answer: &str, expected: Result<&str, &'static str>| {
            assert_eq!(read_summary(answer).as_deref().map_err(|why| *why), expected, "{answer}");
        };
        check(r#"{"summary":" A shop.\n\u001b[31mIt sells. "}"#, Ok("A shop.\n[31mIt sells."));
        check(r#"{"summary":""}"#, Err("the model gave no summary"));
        check(r#"{"summary":"…"}"#, Err("the model gave no summary"));
        check(r#"{"summary":["a"]}"#, Err("the model gave no summary"));
        check("A shop.", Err("the model did not answer with JSON"));
        let long = format!("{{\"summary\":\"{}\"}}", "é".repeat(10_000));
        assert_eq!(read_summary(&long).unwrap().chars().count(), MAX_SUMMARY_CHARS + 1);
    }
}
