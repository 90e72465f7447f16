//! Embeds the builtin model. `builtin/README.md` gives its provenance, licence and figures.

/// Identity of the builtin model: name, revision and number of dimensions. Increase the revision with any change of the files or of
/// the tokens. With a change of the vocabulary, also increase the versions of the extractors, because chunks store ids of pieces.
pub const BUILTIN_ID: &str = "memod-static-1/256";

/// The vectors of all tokens, in the safetensors format.
pub const VECTOR_TABLE: &[u8] = include_bytes!("builtin/model.safetensors");

/// The vocabulary: one word piece per line. Line n, counted from 0, is token n.
pub const VOCABULARY: &str = include_str!("builtin/vocab.txt");

/// Texts with the token ids and vectors that another implementation computed, for tests.
pub const REFERENCE_VECTORS: &str = include_str!("builtin/reference_vectors.json");

/// Unrelated texts, by which the cosines of different models are made comparable.
pub const CALIBRATION_TEXTS: &str = include_str!("calibration.txt");
