//! Installs transformer models in the ONNX format, and runs each in a separate process.

mod cache;
mod catalogue;
mod folder;
mod manifest;
mod model_client;
pub mod model_process;
mod remote;
mod reranker;
mod runtime;

pub use cache::{InstalledModel, ModelCache};
pub use catalogue::{CATALOGUE, CatalogueEntry};
pub use folder::{ModelImport, import_model};
pub use manifest::{Manifest, ModelFile, ModelPurpose, Pooling, name_in_identity};
pub use remote::OutOfProcessModel;
pub use reranker::Reranker;
pub use runtime::{LIBRARY, RuntimeLocations};

/// Why a model or the ONNX Runtime cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OnnxError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] memod_base::paths::PathError),
    /// A file or folder of a model is invalid.
    #[error("{}: {reason}", path.display())]
    BadFile {
        /// The file or folder.
        path: std::path::PathBuf,
        /// The fault in the file or folder.
        reason: String,
    },
    /// The library of ONNX Runtime was not found.
    #[error("{LIBRARY} was not found: {0}")]
    NoRuntime(String),
    /// The model cannot be run.
    #[error("model {model}: {reason}")]
    CannotRun {
        /// Short name of the model.
        model: String,
        /// Error message of the model process, or how the process ended.
        reason: String,
    },
    /// Another process is installing or removing the model with this name.
    #[error("another process is installing or removing the model {0}")]
    Locked(String),
    /// No model with this name or identity is installed.
    #[error("no model {0} is installed")]
    NotInstalled(String),
}

impl OnnxError {
    /// Returns the error for an invalid file or folder of a model.
    pub(super) fn bad_file_error(path: &std::path::Path, reason: impl Into<String>) -> Self {
        Self::BadFile { path: path.to_owned(), reason: reason.into() }
    }

    /// Returns what a user can do about the error.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Io(_) => None,
            Self::BadFile { .. } => {
                Some("the folder must contain a model and a tokenizer in the layout of sentence-transformers")
            }
            Self::NoRuntime(_) => {
                Some("`pip install onnxruntime` has it; set ORT_DYLIB_PATH or `model.runtime` to its path")
            }
            Self::CannotRun { .. } => {
                Some("the model in use has not changed; the log of the daemon has details")
            }
            Self::Locked(_) => Some("try again when the other process has finished"),
            Self::NotInstalled(_) => Some("`memo model list` shows the installed models"),
        }
    }
}
