//! Recognizes questions about uses among search queries, such as `who calls NAME`. Pure.

/// The question that a query asks about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UsesQuestion {
    Uses,
    Callers,
    Tests,
}

impl UsesQuestion {
    /// Returns the method of the daemon that answers the question, which is also the verb that asks it directly.
    pub(super) fn method_name(self) -> &'static str {
        match self {
            Self::Uses => "refs",
            Self::Callers => "callers",
            Self::Tests => "tests",
        }
    }
}

/// The forms of the questions: the words before the name and those after it. A `|` separates alternatives.
const FORMS: &[(UsesQuestion, &str, &str)] = &[
    (UsesQuestion::Uses, "where is|where are", "used|referenced|imported"),
    (UsesQuestion::Uses, "where do we|where does anything|what uses", "use"),
    (UsesQuestion::Uses, "where do we use|who uses|what uses|which files use|what code uses", ""),
    (UsesQuestion::Uses, "what references|who references|references to|references of|find references to", ""),
    (
        UsesQuestion::Uses,
        "usages of|usage of|uses of|users of|find usages of|find all usages of|list usages of",
        "",
    ),
    (
        UsesQuestion::Uses,
        "all usages of|all uses of|all references to|find uses of|find all references to",
        "",
    ),
    (UsesQuestion::Callers, "where is|where are", "called|invoked"),
    (
        UsesQuestion::Callers,
        "who calls|what calls|which functions call|where do we call|who invokes|what invokes",
        "",
    ),
    (
        UsesQuestion::Callers,
        "callers of|calls to|find callers of|all callers of|list callers of|call sites of",
        "",
    ),
    (
        UsesQuestion::Tests,
        "tests for|tests of|which tests cover|what tests cover|which tests test|who tests",
        "",
    ),
    (
        UsesQuestion::Tests,
        "which tests use|what tests|find tests for|test for|tests that cover|tests covering",
        "",
    ),
    (UsesQuestion::Tests, "where is|where are", "tested"),
];

/// Words between the question and the name that do not matter.
const ARTICLES: &[&str] =
    &["the", "a", "function", "method", "class", "struct", "type", "trait", "interface", "constant", "macro"];

/// Returns the question that a query asks, and the name that it asks about; `None` for any other query.
pub(super) fn parse_uses_question(query: &str) -> Option<(UsesQuestion, &str)> {
    let words: Vec<&str> = query.trim().trim_end_matches(['?', '.', '!', ' ']).split_whitespace().collect();
    FORMS.iter().find_map(|(question, before, after)| {
        let rest = before.split('|').find_map(|before| strip_words(&words, before))?;
        let name = match after.is_empty() {
            true => rest,
            false => {
                let (last, name) = rest.split_last()?;
                after.split('|').any(|after| last.eq_ignore_ascii_case(after)).then_some(name)?
            }
        };
        let n_articles = name.iter().take_while(|word| is_article(word)).count();
        let [name] = name[n_articles.min(name.len().saturating_sub(1))..] else { return None };
        Some((*question, clean_name(name)?))
    })
}

/// Returns the words after those of a beginning.
fn strip_words<'a, 'b>(words: &'b [&'a str], beginning: &str) -> Option<&'b [&'a str]> {
    let n_words = beginning.split(' ').count();
    let (first, rest) = words.split_at_checked(n_words)?;
    first
        .iter()
        .zip(beginning.split(' '))
        .all(|(word, wanted)| word.eq_ignore_ascii_case(wanted))
        .then_some(rest)
}

fn is_article(word: &str) -> bool {
    ARTICLES.iter().any(|article| word.eq_ignore_ascii_case(article))
}

/// Returns a name without quotes and brackets; `None` if it cannot be a name in code.
fn clean_name(typed: &str) -> Option<&str> {
    let name = typed.trim_matches(['`', '"', '\'']);
    let name = name.strip_suffix("()").unwrap_or(name);
    let is_name_char = |c: char| c.is_alphanumeric() || "_:.#$/-~!?".contains(c);
    let starts_well = name.starts_with(|c: char| c.is_alphabetic() || "_$".contains(c));
    (starts_well && name.chars().all(is_name_char)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_about_uses() {
        let check = |query: &str, expected: Option<(UsesQuestion, &str)>| {
            assert_eq!(parse_uses_question(query), expected, "{query}");
        };
        check("where is parse_query used", Some((UsesQuestion::Uses, "parse_query")));
        check("Where is `parse_query()` used?", Some((UsesQuestion::Uses, "parse_query")));
        check("where is the function Session::login called", Some((UsesQuestion::Callers, "Session::login")));
        check("who calls login", Some((UsesQuestion::Callers, "login")));
        check("What calls the login method", None);
        check("callers of src/a.rs#login", Some((UsesQuestion::Callers, "src/a.rs#login")));
        check("find all usages of Key", Some((UsesQuestion::Uses, "Key")));
        check("who uses Key?", Some((UsesQuestion::Uses, "Key")));
        check("tests for login", Some((UsesQuestion::Tests, "login")));
        check("which tests cover gin.New", Some((UsesQuestion::Tests, "gin.New")));
        check("where is login tested", Some((UsesQuestion::Tests, "login")));
        check("who calls the", Some((UsesQuestion::Callers, "the"))); // no definition has this name
        for other in [
            "where is login defined",
            "where is the money used for tests",
            "tests for the login of users",
            "who calls",
            "calls",
            "login",
            "where used",
            "who calls 12",
            "who calls \"a b\"",
            "",
        ] {
            check(other, None);
        }
    }

    #[test]
    fn every_form_can_be_asked() {
        for (question, before, after) in FORMS {
            for before in before.split('|') {
                let after = after.split('|').next().unwrap_or_default();
                let query = format!("{before} name_of_it {after}");
                let found = parse_uses_question(&query);
                assert_eq!(found, Some((*question, "name_of_it")), "{query}");
            }
        }
    }
}
