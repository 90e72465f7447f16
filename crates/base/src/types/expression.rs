//! Declares the expressions that a text is matched with.

use std::fmt;

/// Tokens side by side, as `extract::words` writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// One or more, separated by single spaces.
    pub tokens: String,
    /// Whether the last one may continue.
    pub is_prefix: bool,
}

/// Phrases and their operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// The text has the phrase.
    Phrase(Phrase),
    /// Any of these holds.
    Any(Vec<Expression>),
    /// Each of these holds.
    All(Vec<Expression>),
    /// The first holds, and the second does not.
    Without(Box<Expression>, Box<Expression>),
}

/// As FTS5 takes it (<https://www.sqlite.org/fts5.html#full_text_query_syntax>). Every token is quoted and has only letters
/// and digits, so nothing in it is an operator or ends the quotes.
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
