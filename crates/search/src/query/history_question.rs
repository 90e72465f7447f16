//! Recognises queries about the history of code.

/// Words that each make a query a question about history.
const WORDS: [&str; 8] =
    ["why", "who", "commit", "commits", "committed", "history", "introduced", "regressed"];

/// Words after `when` that make a query one about history: `when was it done` asks for a date, `when is it done` for code.
const AFTER_WHEN: [&str; 3] = ["did", "was", "were"];

/// Returns whether the words of a query, as typed, ask for history.
pub(super) fn is_history_question(raw: &[&str]) -> bool {
    raw.iter().any(|word| is_one_of(word, &WORDS))
        || raw.windows(2).any(|pair| is_one_of(pair[0], &["when"]) && is_one_of(pair[1], &AFTER_WHEN))
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|known| word.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions() {
        let check = |question: &str, expected: bool| {
            let words: Vec<&str> = question.split_whitespace().collect();
            assert_eq!(is_history_question(&words), expected, "{question}");
        };
        check("Why does it retry", true);
        check("when was the retry added", true);
        check("when is the cache emptied", false);
        check("commit that broke it", true);
        check("parse query", false);
        check("", false);
    }
}
