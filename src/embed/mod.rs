//! What vector is this text?

mod builtin;

pub use builtin::Builtin;

/// A model that turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// Returns model, revision, dimensions, pooling and prefix in one word: vectors of two identities
    /// are never compared.
    fn id(&self) -> &str;

    /// Returns the length of every vector.
    fn dims(&self) -> usize;

    /// Returns one vector a text, L2-normalized, `[n_texts][dims]`; `None` where the model knows no
    /// word of the text.
    ///
    /// # Errors
    /// When the model cannot run; no vector of the batch is valid then.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, EmbedError>;
}

/// The model could not be loaded or run.
#[derive(Debug, thiserror::Error)]
#[error("model {model}: {reason}")]
pub struct EmbedError {
    /// Identity or path of the model.
    pub model: String,
    /// What the model library said.
    pub reason: String,
}
