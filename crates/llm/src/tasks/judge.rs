//! Asks a language model whether two memories say the same or contradict each other.

use memod_memory::outgoing::{OutgoingText, clean_outgoing_text};
use serde_json::Value;

use crate::messages::{Prompt, RequestPurpose};
use crate::model_answer::{clean_line, find_json};

/// Longest part of a memory that is sent, characters.
const MAX_MEMORY_CHARS: usize = 600;
/// Longest reason, characters.
const MAX_REASON_CHARS: usize = 200;
/// Most tokens of the answer for each pair.
const TOKENS_A_PAIR: u64 = 60;

const INSTRUCTIONS: &str = "The data is a numbered list of pairs of notes about a software project. For each pair say whether both notes \
                    state the same (`same`), whether they cannot both be true (`contradict`), or neither (`neither`); for `same` \
                    also which one says it better, A or B; and why in a few words. Form, with its number for 0: {\"pairs\": \
                    [{\"pair\": 0, \"verdict\": \"…\", \"better\": \"…\", \"reason\": \"…\"}]}";

/// How two memories are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Both memories say the same.
    Same,
    /// Both memories cannot be true.
    Contradict,
    /// The memories neither say the same nor contradict each other.
    Neither,
}

impl Verdict {
    /// Returns the name of the verdict in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Contradict => "contradict",
            Self::Neither => "neither",
        }
    }
}

/// The judgement of the model on a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairJudgement {
    /// Index of the pair.
    pub pair: usize,
    /// How the two memories are related.
    pub verdict: Verdict,
    /// Whether the second memory states better what both say.
    pub second_is_better: bool,
    /// Reason for the verdict; `None` if the model gave none.
    pub reason: Option<String>,
}

/// Builds the prompt that asks for a verdict on each pair of texts. `key` is removed from the texts.
pub fn build_prompt(pairs: &[(String, String)], key: Option<&str>) -> Prompt {
    let mut data = OutgoingText::default();
    for (nth, (left, right)) in pairs.iter().enumerate() {
        let (left, right) = (clean_outgoing_text(left, key), clean_outgoing_text(right, key));
        let text = format!(
            "pair {}\nA: {}\nB: {}\n",
            nth + 1,
            shorten_memory(&left.text),
            shorten_memory(&right.text)
        );
        data.append(&OutgoingText { text, n_cut: left.n_cut + right.n_cut });
    }
    Prompt::new(RequestPurpose::Compare, INSTRUCTIONS, &data, TOKENS_A_PAIR * pairs.len() as u64 + 40)
}

/// Returns the text of a memory on one line, cut to the length that is sent.
fn shorten_memory(text: &str) -> String {
    clean_line(text, MAX_MEMORY_CHARS).unwrap_or_default()
}

/// Returns the judgements in an answer to a prompt with `n_pairs` pairs, at most one (the first) for each pair.
///
/// # Errors
/// When the answer is not JSON, or has no valid judgement.
pub fn read_judgements(answer: &str, n_pairs: usize) -> Result<Vec<PairJudgement>, &'static str> {
    let value = find_json(answer)?;
    let list = value.get("pairs").unwrap_or(&value);
    let one = std::slice::from_ref(list);
    let list = list.as_array().map_or(one, Vec::as_slice);
    let mut all: Vec<PairJudgement> = Vec::new();
    for judged in list.iter().filter_map(|value| read_judgement(value, n_pairs)) {
        if all.iter().all(|known| known.pair != judged.pair) {
            all.push(judged);
        }
    }
    if all.is_empty() { Err("the model judged no pair") } else { Ok(all) }
}

/// Parses one judgement; `None` if it is incomplete, or its pair was not sent.
fn read_judgement(value: &Value, n_pairs: usize) -> Option<PairJudgement> {
    let number =
        usize::try_from(value["pair"].as_u64()?).ok().filter(|number| (1..=n_pairs).contains(number))?;
    let verdict = match value["verdict"].as_str()? {
        "same" | "duplicate" => Verdict::Same,
        "contradict" | "contradiction" => Verdict::Contradict,
        "neither" | "different" => Verdict::Neither,
        _ => return None,
    };
    let second_is_better = value["better"].as_str().is_some_and(|better| better.eq_ignore_ascii_case("b"));
    let reason = value["reason"].as_str().and_then(|reason| clean_line(reason, MAX_REASON_CHARS));
    Some(PairJudgement { pair: number - 1, verdict, second_is_better, reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_credential_is_not_sent() {
        let token = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
        let text = format!("{} {token}", "word ".repeat((MAX_MEMORY_CHARS - 15) / 5));
        let prompt = build_prompt(&[(text, "b".to_owned())], None);
        assert!(!prompt.user.contains("ghp_") && prompt.n_cut == 1, "{}", prompt.user);
    }

    #[test]
    fn only_pairs_that_were_sent_are_judged() {
        let check = |answer: &str, expected: &str| {
            let found = read_judgements(answer, 2);
            let one = |judged: &PairJudgement| {
                let which = if judged.second_is_better { "B" } else { "A" };
                format!("{}{}{which}", judged.pair, judged.verdict.as_str())
            };
            let shown = found.map(|all| all.iter().map(one).collect::<Vec<_>>().join(" "));
            assert_eq!(shown.unwrap_or_else(str::to_owned), expected, "{answer}");
        };
        check(
            r#"{"pairs":[{"pair":1,"verdict":"same","better":"B"},{"pair":2,"verdict":"neither"}]}"#,
            "0sameB 1neitherA",
        );
        check(r#"{"pairs":[{"pair":1,"verdict":"same"},{"pair":1,"verdict":"contradict"}]}"#, "0sameA");
        check(r#"{"pair":2,"verdict":"contradict"}"#, "1contradictA");
        check(
            r#"{"pairs":[{"pair":0,"verdict":"same"},{"pair":3,"verdict":"same"},{"pair":"mem_01","verdict":"same"}]}"#,
            "the model judged no pair",
        );
        check(r#"{"pairs":[{"pair":1,"verdict":"delete both"},{"pair":-1},7]}"#, "the model judged no pair");
    }
}
