//! The rules of memories, without storage.
//!
//! Pure: takes texts, values and the time, and returns what to store. `fields` has limits and normal forms, `privacy` removes
//! what must not be stored, `outgoing` removes what must not leave the machine, `tiers` and `time` compute lifetimes, `id` makes
//! ids, `text` and `text_difference` compare texts, `anchor` finds the lines that a memory is about, and `file` parses and writes
//! the file of a shared memory.

pub mod anchor;
pub mod fields;
pub mod file;
pub mod id;
pub mod outgoing;
mod privacy;
pub mod text;
pub mod text_difference;
pub mod tiers;
pub mod time;

pub use privacy::without_private;

/// A value that was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {why}")]
pub struct RefusedValue {
    /// Name of the param or field that has the value.
    pub field: &'static str,
    /// The problem with the value, quoting the value unless it may be a credential.
    pub why: String,
    /// The remedy.
    pub hint: Option<&'static str>,
}

impl RefusedValue {
    fn new(field: &'static str, why: impl Into<String>) -> Self {
        Self { field, why: why.into(), hint: None }
    }

    /// Adds a remedy.
    fn with_hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }
}

/// Returns a value for a message: quoted, escaped, shortened, and without private parts and credentials.
fn quote_value(value: &str) -> String {
    format!("\"{}\"", text::shorten_text(&privacy::without_secrets(value), 60).escape_debug())
}
