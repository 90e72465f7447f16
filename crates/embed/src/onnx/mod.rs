//! Embeds with transformer models in the ONNX format, in a process of its own.

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
pub use manifest::{Manifest, ModelFile, Pooling, Purpose, name_of};
pub use remote::RemoteModel;
pub use reranker::Reranker;
pub use runtime::{LIBRARY, Runtime};

/// Why files of a model, or the runtime, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OnnxError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] memod_base::paths::PathError),
    /// A file is not what it should be.
    #[error("{}: {reason}", path.display())]
    BadFile {
        /// The file or folder.
        path: std::path::PathBuf,
        /// Its defect.
        reason: String,
    },
    /// No library of ONNX Runtime was found.
    #[error("{LIBRARY} was not found: {0}")]
    NoRuntime(String),
    /// The model cannot be run.
    #[error("model {model}: {reason}")]
    Failed {
        /// Its short name.
        model: String,
        /// Message of the process, or its end.
        reason: String,
    },
    /// Another process installs it.
    #[error("another process is installing {0}")]
    Busy(String),
    /// No model of that name.
    #[error("no model {0} is installed")]
    Absent(String),
}

impl OnnxError {
    /// Makes the error for a file that is not what it should be.
    pub(super) fn bad_file(path: &std::path::Path, reason: impl Into<String>) -> Self {
        Self::BadFile { path: path.to_owned(), reason: reason.into() }
    }

    /// Returns what a user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Io(_) => None,
            Self::BadFile { .. } => {
                Some("the folder must have a model and a tokenizer as sentence-transformers writes them")
            }
            Self::NoRuntime(_) => {
                Some("`pip install onnxruntime` has it; name the file in ORT_DYLIB_PATH or `model.runtime`")
            }
            Self::Failed { .. } => {
                Some("the model that answered before still does; the log of the daemon says more")
            }
            Self::Busy(_) => Some("try again when it is done"),
            Self::Absent(_) => Some("`memo model list` shows which are"),
        }
    }
}
