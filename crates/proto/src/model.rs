//! Params and results of the methods about models.

use serde::{Deserialize, Serialize};

/// Params of `model.use`, `model.remove` and, with `dir`, of `model.import`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelParams {
    /// Absolute path inside the worktree.
    pub cwd: String,
    /// Short name; of an import, the name that the folder suggests when absent.
    pub name: Option<String>,
    /// Absolute path of the folder to import.
    pub dir: Option<String>,
}

/// Result of the methods about models.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelsResult {
    /// Identity of the model whose vectors answer.
    pub active: String,
    /// The same for memories, which change by themselves.
    pub active_for_memories: String,
    /// The model that is to follow, while its vectors are made.
    pub next: Option<NextModel>,
    /// Identity of the cross-encoder that `rerank` of a search uses; null if none is installed.
    pub reranker: Option<String>,
    /// Why the chosen model does not answer yet, if something failed.
    pub problem: Option<String>,
    /// Path of the library of ONNX Runtime, or why there is none.
    pub runtime: String,
    /// Whether the library was found.
    pub has_runtime: bool,
    /// Directory of installed models.
    pub dir: String,
    /// The builtin model, the installed ones and those that are known by name.
    pub models: Vec<ModelEntry>,
}

/// The model that is to follow.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct NextModel {
    /// Identity.
    pub id: String,
    /// Chunks that have its vector.
    pub done: u64,
    /// Chunks that are to have one.
    pub total: u64,
}

/// A model that is installed or known.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelEntry {
    /// Short name.
    pub name: String,
    /// Identity; absent if it is not installed.
    pub id: Option<String>,
    /// `embed`: it makes vectors; `rerank`: it compares hits with a query.
    pub purpose: String,
    /// Length of a vector; 0 if it makes none.
    pub dims: usize,
    /// Size of its files, or about that of its download, bytes.
    pub bytes: u64,
    /// Licence, if it is known.
    pub licence: Option<String>,
    /// Where it comes from.
    pub source: String,
    /// What it is for.
    pub note: String,
}
