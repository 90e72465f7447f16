//! Recognises questions of a user of the product, which its documents answer.

use super::symbol_names::{NameShape, parse_name};

/// Beginnings of questions about how something is done. The question goes on after them.
const HOW_TO: [&str; 10] = [
    "how do",
    "how can",
    "how should",
    "how would",
    "how could",
    "how to",
    "how does one",
    "what is the way to",
    "what is the best way to",
    "where can",
];
/// Words after [`HOW_TO`] that name the user. `how to` needs none.
const USERS: [&str; 5] = ["i", "we", "you", "one", "users"];

/// Beginnings of questions about what something is.
const WHAT_IS: [&str; 5] = ["what is", "what are", "what's", "whats", "what does"];
/// Most words of the thing in a question about what it is. Longer questions ask what happens to something, which code answers.
const MOST_THING_WORDS: usize = 3;
const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Words that ask for a document.
const DOCUMENT_WORDS: [&str; 9] = [
    "described",
    "docs",
    "documentation",
    "documented",
    "explained",
    "guide",
    "manual",
    "quickstart",
    "tutorial",
];

/// Words that ask for code, whatever the form of the question is.
const CODE_WORDS: [&str; 13] = [
    "called",
    "class",
    "code",
    "defined",
    "function",
    "functions",
    "implementation",
    "implemented",
    "method",
    "methods",
    "parameter",
    "struct",
    "trait",
];

/// Returns whether a word only asks for a document, so that the document need not have it.
pub(crate) fn asks_for_any_document(word: &str) -> bool {
    DOCUMENT_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Returns whether the words of a query, as typed, are a question that a document answers: how a user does something, what a thing
/// is, or where something is documented.
pub(super) fn is_documentation_question(raw: &[&str]) -> bool {
    let words: Vec<String> = raw
        .iter()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    let names_code =
        raw.iter().any(|word| parse_name(word).is_some_and(|name| name.shape == NameShape::Code));
    if names_code || has_one_of(&words, &CODE_WORDS) {
        return false;
    }
    asks_how_to(&words) || asks_what_is(&words) || asks_for_document(&words)
}

fn asks_how_to(words: &[String]) -> bool {
    HOW_TO.iter().any(|beginning| {
        let Some(rest) = strip_beginning(words, beginning) else { return false };
        let names_user = beginning.ends_with(" to") || beginning.ends_with(" one");
        match rest {
            [_, ..] if names_user => true,
            [user, _, ..] => USERS.contains(&user.as_str()),
            _ => false,
        }
    })
}

fn asks_what_is(words: &[String]) -> bool {
    WHAT_IS.iter().any(|beginning| {
        let Some(mut rest) = strip_beginning(words, beginning) else { return false };
        if *beginning == "what does" {
            let Some(([.., _], _)) =
                rest.split_last().map(|(last, thing)| (thing, last)).filter(|(_, last)| *last == "mean")
            else {
                return false;
            };
            rest = &rest[..rest.len() - 1];
        }
        if rest.first().is_some_and(|first| ARTICLES.contains(&first.as_str())) {
            rest = &rest[1..];
        }
        (1..=MOST_THING_WORDS).contains(&rest.len())
    })
}

fn asks_for_document(words: &[String]) -> bool {
    let is_start = strip_beginning(words, "getting started").is_some();
    is_start || words.len() > 1 && has_one_of(words, &DOCUMENT_WORDS)
}

/// Returns the words after those of a beginning; `None` if the words begin otherwise.
fn strip_beginning<'a>(words: &'a [String], beginning: &str) -> Option<&'a [String]> {
    let n_words = beginning.split(' ').count();
    let (first, rest) = words.split_at_checked(n_words)?;
    first.iter().zip(beginning.split(' ')).all(|(word, wanted)| word == wanted).then_some(rest)
}

fn has_one_of(words: &[String], known: &[&str]) -> bool {
    words.iter().any(|word| known.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_of_users() {
        let check = |question: &str, expected: bool| {
            let words: Vec<&str> = question.split_whitespace().collect();
            assert_eq!(is_documentation_question(&words), expected, "{question}");
        };
        for question in [
            "how do I install it",
            "How can I configure the cache?",
            "how to deploy",
            "how should we write tests",
            "what is a container",
            "What is the application context?",
            "what are worktrees",
            "what's an anchor",
            "what does drifted mean",
            "where are settings documented",
            "documentation of the settings",
            "getting started",
            "quickstart guide",
        ] {
            check(question, true);
        }
        for question in [
            "how does the cache work",
            "how do included modules get collected",
            "how is a query parsed",
            "what is done when a channel gets a packet",
            "what is parse_query",
            "what is the function that parses queries",
            "how do I call parse_config",
            "what does the parser do",
            "where is the cache emptied",
            "how do I",
            "how",
            "what is",
            "guide",
            "install",
            "",
        ] {
            check(question, false);
        }
    }
}
