//! Describes an installed model: its files, and everything that is needed to run the model.

use std::path::Path;

use memod_base::paths::IoContext as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::OnnxError;
use crate::CosineScale;

/// How the vectors of a text's tokens become one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The vector of the first token is taken.
    Cls,
    /// The mean of all vectors is taken.
    Mean,
}

impl Pooling {
    /// Returns the name in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cls => "cls",
            Self::Mean => "mean",
        }
    }
}

/// The purpose of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelPurpose {
    /// The model makes a vector of each text.
    #[default]
    Embed,
    /// The model is a cross-encoder: it scores how well each text answers a query.
    Rerank,
}

impl ModelPurpose {
    /// Returns the name in manifests.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Embed => "embed",
            Self::Rerank => "rerank",
        }
    }
}

/// The name, size and hash of a model's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFile {
    /// Name of the file in the model's directory.
    pub name: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// SHA-256 of the file in hex.
    pub sha256: String,
}

impl ModelFile {
    /// Computes the size and hash of a file with this content.
    pub fn from_content(name: &str, content: &[u8]) -> Self {
        Self { name: name.to_owned(), bytes: content.len() as u64, sha256: sha256_hex(content) }
    }
}

/// Returns the SHA-256 of some bytes in hex.
pub(super) fn sha256_hex(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The content of `manifest.json` in the directory of an installed model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Short name of the model, and name of the directory.
    pub name: String,
    /// Origin of the model: a repository of a hub, or a directory.
    pub source: String,
    /// Commit in the hub, or the first 12 digits of a SHA-256 over the hashes of all files and `max_tokens`.
    pub revision: String,
    /// Whether the model embeds texts or reranks hits.
    #[serde(default)]
    pub purpose: ModelPurpose,
    /// Number of dimensions of the model's vectors; 0 for a reranker.
    pub dims: usize,
    /// How the vectors of a text's tokens become one vector.
    pub pooling: Pooling,
    /// Text that is put before each query.
    #[serde(default)]
    pub query_prefix: String,
    /// Text that is put before each document.
    #[serde(default)]
    pub document_prefix: String,
    /// Number of tokens after which a text is cut.
    pub max_tokens: usize,
    /// Map from the model's cosines to the scale of the builtin model.
    #[serde(default)]
    pub scale: CosineScale,
    /// The model file and the tokenizer's files.
    pub files: Vec<ModelFile>,
}

/// Name of the manifest in the directory of a model.
pub(super) const MANIFEST_FILE_NAME: &str = "manifest.json";

/// Name of the model file in the directory of a model.
pub(super) const MODEL_FILE_NAME: &str = "model.onnx";

/// Returns the model name in an identity: the part before `@`.
pub fn name_in_identity(identity: &str) -> &str {
    identity.split('@').next().unwrap_or_default()
}

impl Manifest {
    /// Reads the manifest of a model's directory.
    ///
    /// # Errors
    /// When `manifest.json` cannot be read or parsed.
    pub fn read(dir: &Path) -> Result<Self, OnnxError> {
        let path = dir.join(MANIFEST_FILE_NAME);
        let text = std::fs::read(&path).at("read", &path)?;
        serde_json::from_slice(&text).map_err(|error| OnnxError::bad_file_error(&path, error.to_string()))
    }

    /// Returns the identity of the model, one word made of its name, revision, dimensions, pooling and prefixes.
    pub fn identity(&self) -> String {
        let Self { name, revision, dims, .. } = self;
        if self.purpose == ModelPurpose::Rerank {
            return format!("{name}@{revision}/rerank");
        }
        let mut identity = format!("{name}@{revision}/{dims}/{}", self.pooling.as_str());
        if !(self.query_prefix.is_empty() && self.document_prefix.is_empty()) {
            let prefixes = [self.query_prefix.as_bytes(), b"\0", self.document_prefix.as_bytes()].concat();
            identity += &format!("/{}", &sha256_hex(&prefixes)[..8]);
        }
        identity
    }

    /// Reads one of the model's files, and checks its size and hash.
    ///
    /// # Errors
    /// When the file cannot be read, or has changed since it was installed.
    pub(super) fn read_verified_file(&self, dir: &Path, name: &str) -> Result<Vec<u8>, OnnxError> {
        let path = dir.join(name);
        let file = self.files.iter().find(|file| file.name == name);
        let file = file.ok_or_else(|| OnnxError::bad_file_error(&path, "is not in the manifest"))?;
        let content = std::fs::read(&path).at("read", &path)?;
        if content.len() as u64 != file.bytes {
            let found = content.len();
            return Err(OnnxError::bad_file_error(
                &path,
                format!("has {found} bytes instead of {}", file.bytes),
            ));
        }
        if sha256_hex(&content) != file.sha256 {
            return Err(OnnxError::bad_file_error(
                &path,
                "has changed since it was installed: the SHA-256 differs",
            ));
        }
        Ok(content)
    }

    /// Returns the sum of the sizes of all files, bytes.
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}
