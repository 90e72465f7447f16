//! Asks a language model for a title and tags of a memory.

use memod_memory::fields;
use memod_memory::outgoing::clean_outgoing_text;

use crate::messages::{Prompt, RequestPurpose};
use crate::model_answer::{array_strings, clean_line, find_json};

/// Longest text that is sent, bytes.
const MAX_TEXT_BYTES: usize = 16 << 10;
/// Most tags of other memories that are sent.
pub const MAX_KNOWN_TAGS: usize = 40;
/// Longest title, characters.
const MAX_TITLE_CHARS: usize = 80;
/// Most tags that are taken from an answer.
const MOST_TAGS: usize = 5;
/// Longest tag, characters.
const MAX_TAG_CHARS: usize = 30;
/// Most tokens of the answer.
const MAX_ANSWER_TOKENS: u64 = 120;

const INSTRUCTIONS: &str = "The data is a note about a software project, and then, after a line `tags in use:`, tags of other notes. Give \
                    the note a title of at most eight words that says what it states, and one to four tags: words for its \
                    subject, from the tags in use where they fit. Form: {\"title\": \"…\", \"tags\": [\"…\"]}";

/// The title and tags that the model suggests for a memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestion {
    /// Title; `None` if the model suggested no valid title.
    pub title: Option<String>,
    /// Valid tags, normalized.
    pub tags: Vec<String>,
}

/// Builds the prompt that asks for a title and tags of a memory. `key` is removed from the texts.
pub fn build_prompt(content: &str, known_tags: &[String], key: Option<&str>) -> Prompt {
    let mut data = clean_outgoing_text(content, key).truncated_to(MAX_TEXT_BYTES);
    data.append(&clean_outgoing_text(&format!("\ntags in use: {}", known_tags.join(", ")), key));
    Prompt::new(RequestPurpose::Suggest, INSTRUCTIONS, &data, MAX_ANSWER_TOKENS)
}

/// Returns the valid title and the valid tags in an answer.
///
/// # Errors
/// When the answer is not JSON, or has neither a valid title nor a valid tag.
pub fn read_suggestion(answer: &str) -> Result<Suggestion, &'static str> {
    let value = find_json(answer)?;
    let suggestion =
        Suggestion { title: value["title"].as_str().and_then(clean_title), tags: clean_tags(&value["tags"]) };
    match suggestion == Suggestion::default() {
        true => Err("the model suggested nothing"),
        false => Ok(suggestion),
    }
}

/// Returns a title on one line; `None` if it is too long or a memory cannot have it.
pub(super) fn clean_title(raw: &str) -> Option<String> {
    let line = clean_line(raw, MAX_TITLE_CHARS + 1)?;
    // memod shows a command with the title as an argument, which must not look like an option.
    if line.chars().count() > MAX_TITLE_CHARS || line.starts_with('-') {
        return None;
    }
    Some(fields::validate_title(&line, false).ok()??.text)
}

/// Returns whether a suggested tag can contain this character.
fn is_tag_char(c: char) -> bool {
    c.is_alphanumeric() || "-_./ ".contains(c)
}

/// Returns the valid tags in a JSON array, normalized, each once.
pub(super) fn clean_tags(value: &serde_json::Value) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for raw in array_strings(value) {
        let raw = raw.trim().trim_start_matches('#');
        let is_short =
            raw.chars().count() <= MAX_TAG_CHARS && raw.chars().all(is_tag_char) && !raw.starts_with('-');
        let tag = fields::validate_tags(&[raw.to_owned()])
            .ok()
            .filter(|_| is_short)
            .and_then(|mut tags| tags.pop());
        tags.extend(tag.filter(|tag| !tags.contains(tag)));
    }
    tags.truncate(MOST_TAGS);
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_and_tags_are_checked() {
        let check = |answer: &str, expected: &str| {
            let found = read_suggestion(answer);
            let shown = found.map(|found| format!("{:?} {}", found.title, found.tags.join(" ")));
            assert_eq!(shown.unwrap_or_else(str::to_owned), expected, "{answer}");
        };
        check(
            r##"{"title":"Token\n expiry","tags":["Auth","#jwt","auth","log in"]}"##,
            "Some(\"Token expiry\") auth jwt log-in",
        );
        check(r#"{"title":"--content=x","tags":[]}"#, "the model suggested nothing");
        check(r#"{"title":7,"tags":["$(rm)","a,b","","--all"]}"#, "the model suggested nothing");
        check(r#"{"tags":["a","b","c","d","e","f"]}"#, "None a b c d e");
        check(r#"{"title":"password: hunter2hunter2 is it"}"#, "the model suggested nothing");
        let long = "x".repeat(200);
        check(&format!(r#"{{"title":"{long}","tags":["{long}"]}}"#), "the model suggested nothing");
    }
}
