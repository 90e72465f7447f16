//! Names the values of the columns `chunk.vec_state` and `path.vec_state`: whether the text has a vector.

/// The text waits for a vector.
pub(crate) const VECTOR_PENDING: i64 = 0;
/// The text has a vector of the present model. A path without a word that the model knows has this value as well, but no vector.
pub(crate) const HAS_VECTOR: i64 = 1;
/// The text has no vector: it is not to be embedded, or the model knows no word of it.
pub(crate) const WITHOUT_VECTOR: i64 = 2;
/// The model fails on the text. Another model tries it again.
pub(crate) const EMBED_FAILED: i64 = 3;
