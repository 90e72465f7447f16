//! Holds the builtin model, whose provenance, licence and figures are in `builtin/README.md`.

/// Identity of the builtin model, known before it is loaded: model, revision and dimensions. Raise the revision
/// with any change to the files or the tokens, and with the vocabulary the versions of the extractors: chunks keep ids of
/// pieces.
pub const BUILTIN_ID: &str = "memod-static-1/256";

/// The table of vectors, in the safetensors format.
pub const TABLE: &[u8] = include_bytes!("builtin/model.safetensors");

/// One piece of a word a line; line n, from 0, is token n.
pub const VOCABULARY: &str = include_str!("builtin/vocab.txt");

/// Texts with the ids and vectors that another implementation gave.
pub const REFERENCE_VECTORS: &str = include_str!("builtin/reference_vectors.json");

/// Texts that have little to do with each other, to compare the cosines of models.
pub const CALIBRATION: &str = include_str!("calibration.txt");
