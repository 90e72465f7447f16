//! Params and results of the methods about models.

use serde::{Deserialize, Serialize};

/// Params of `model.use`, `model.remove` and, with `dir`, of `model.import`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// Short name of the model; an import without one uses the name that the folder suggests.
    pub name: Option<String>,
    /// Absolute path of the folder to import.
    pub dir: Option<String>,
}

/// Result of the methods about models.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelsResult {
    /// Identity of the model in use.
    pub active: String,
    /// Identity of the model in use for memories, which change models separately.
    pub active_for_memories: String,
    /// The next model, while its vectors are computed.
    pub next: Option<NextModel>,
    /// Identity of the cross-encoder for `rerank` of a search; null if none is installed.
    pub reranker: Option<String>,
    /// Why the chosen model is not in use yet, if something failed.
    pub problem: Option<String>,
    /// Path of the ONNX Runtime library, or why there is none.
    pub runtime: String,
    /// Whether the library was found.
    pub has_runtime: bool,
    /// Directory of installed models.
    pub dir: String,
    /// The builtin model, installed models, and models that are known by name.
    pub models: Vec<ModelEntry>,
}

/// The model that follows once its vectors are computed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NextModel {
    /// Identity of the model.
    pub id: String,
    /// Number of chunks that have its vector.
    pub done: u64,
    /// Number of chunks that need its vector.
    pub total: u64,
}

/// A model that is installed or known.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelEntry {
    /// Short name.
    pub name: String,
    /// Identity of the model; absent if the model is not installed.
    pub id: Option<String>,
    /// `embed` if the model computes vectors, `rerank` if it compares hits with a query.
    pub purpose: String,
    /// Length of a vector; 0 if the model computes none.
    pub dims: usize,
    /// Size of its files, or approximate size of its download, bytes.
    pub bytes: u64,
    /// Licence, if it is known.
    pub licence: Option<String>,
    /// Origin of the model.
    pub source: String,
    /// Note on the model's use.
    pub note: String,
}
