//! Declares the filters of a query: `path:src/**`, `-kind:doc`.

use std::fmt;

/// The property that a filter restricts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterKey {
    /// A glob over the paths of files.
    Path,
    /// The format of files.
    Lang,
    /// The kind of hits.
    Kind,
    /// The class of files.
    Only,
    /// The name of a definition.
    Symbol,
    /// A tag of memories.
    Tag,
    /// The container of memories.
    Container,
    /// A part of the author's name or address, of commits and memories.
    Author,
    /// The earliest time of commits and memories.
    After,
    /// The time before which commits and memories must be.
    Before,
}

/// One filter of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterTerm {
    /// The property that the filter restricts.
    pub key: FilterKey,
    /// The value as typed, without quotes.
    pub value: String,
    /// Whether the filter is negated: hits must not satisfy it.
    pub is_negated: bool,
}

/// A function that checks the value of a filter. The error says why the value is invalid.
pub type FilterCheck<'a> = &'a dyn Fn(FilterKey, &str) -> Result<(), String>;

impl FilterKey {
    /// All keys.
    pub const ALL: [Self; 10] = [
        Self::Path,
        Self::Lang,
        Self::Kind,
        Self::Only,
        Self::Symbol,
        Self::Tag,
        Self::Container,
        Self::Author,
        Self::After,
        Self::Before,
    ];

    /// Returns the key as typed before the colon.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Lang => "lang",
            Self::Kind => "kind",
            Self::Only => "only",
            Self::Symbol => "symbol",
            Self::Tag => "tag",
            Self::Container => "container",
            Self::Author => "author",
            Self::After => "after",
            Self::Before => "before",
        }
    }

    /// Splits `-path:rest` into whether it is negated, its key, and the rest. Returns `None` for texts that are no filters, such as
    /// `path::Path` and `path:` without a value.
    pub(super) fn split_filter(text: &str) -> Option<(bool, Self, &str)> {
        let positive = text.strip_prefix('-');
        let (key, rest) = positive.unwrap_or(text).split_once(':')?;
        let key = Self::ALL.into_iter().find(|known| known.as_str() == key)?;
        let has_value = rest.starts_with(|c: char| c != ':' && !c.is_whitespace());
        has_value.then_some((positive.is_some(), key, rest))
    }
}

impl fmt::Display for FilterTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = if self.is_negated { "-" } else { "" };
        let quote = if self.value.contains(|c: char| c.is_whitespace() || c == ')') { "\"" } else { "" };
        write!(f, "{not}{}:{quote}{}{quote}", self.key.as_str(), self.value)
    }
}
