//! Declares the boolean expressions of phrases that a full-text search matches.

use std::fmt;

/// Adjacent tokens, as `extract::words` writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// One or more, separated by single spaces.
    pub tokens: String,
    /// Whether the last token is only the beginning of a word.
    pub is_prefix: bool,
}

/// A phrase, or phrases joined by operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// The text has the phrase.
    Phrase(Phrase),
    /// The text matches at least one of these.
    Any(Vec<Expression>),
    /// The text matches all of these.
    All(Vec<Expression>),
    /// The text matches the first and not the second.
    Without(Box<Expression>, Box<Expression>),
}

/// Writes the expression in the syntax of FTS5 (<https://www.sqlite.org/fts5.html#full_text_query_syntax>). Every token is quoted
/// and has only letters and digits, so that no token is an operator or ends the quotes.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut joined = |parts: &[Self], operator: &str| {
            for (nth, part) in parts.iter().enumerate() {
                write!(f, "{}{part}", if nth == 0 { "(" } else { operator })?;
            }
            f.write_str(")")
        };
        match self {
            Self::Phrase(phrase) => write!(f, "{phrase}"),
            Self::Any(parts) => joined(parts, " OR "),
            Self::All(parts) => joined(parts, " AND "),
            Self::Without(wanted, unwanted) => write!(f, "({wanted} NOT {unwanted})"),
        }
    }
}

impl fmt::Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"{}", self.tokens, if self.is_prefix { "*" } else { "" })
    }
}
