//! The rules of memories, without storage.
//!
//! The rules, pure: texts, values and the time in, what is kept out. `fields` has the limits and the normal forms,
//! `privacy` what must not be kept, `tiers` and `time` how long, `id` how memories are named, `text` and `similar` what
//! makes two the same and which words find them, `anchor` where the lines are that one is about.

pub mod anchor;
pub mod fields;
pub mod id;
mod privacy;
pub mod text;
pub mod text_difference;
pub mod tiers;
pub mod time;

/// A value that is not taken. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {why}")]
pub struct Refused {
    /// Which param.
    pub field: &'static str,
    /// What is wrong with the value, and the value where it can be shown.
    pub why: String,
    /// What to do about it.
    pub hint: Option<&'static str>,
}

impl Refused {
    fn new(field: &'static str, why: impl Into<String>) -> Self {
        Self { field, why: why.into(), hint: None }
    }

    fn hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }
}

/// Returns a value as a message may show it: quoted, escaped, cut when it is long, and without what must not be kept.
fn quoted(value: &str) -> String {
    format!("\"{}\"", text::cut(&privacy::without_secrets(value), 60).escape_debug())
}
