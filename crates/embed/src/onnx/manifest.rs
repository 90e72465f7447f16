//! Describes an installed model: its files, and all that is needed to run it.

use std::path::Path;

use memod_base::paths::IoContext as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::OnnxError;
use crate::Scale;

/// How the vectors of tokens become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// That of the first token.
    Cls,
    /// Their mean.
    Mean,
}

impl Pooling {
    /// Returns the word for it.
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
pub enum Purpose {
    /// It makes a vector of each.
    #[default]
    Embed,
    /// It says how well each answers a query: a cross-encoder.
    Rerank,
}

impl Purpose {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Embed => "embed",
            Self::Rerank => "rerank",
        }
    }
}

/// A file of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFile {
    /// Name in the model's directory.
    pub name: String,
    /// Size.
    pub bytes: u64,
    /// SHA-256 in hex.
    pub sha256: String,
}

impl ModelFile {
    /// Describes the content of a file.
    pub fn from_content(name: &str, content: &[u8]) -> Self {
        Self { name: name.to_owned(), bytes: content.len() as u64, sha256: sha256_hex(content) }
    }
}

/// Returns the SHA-256 of some bytes in hex.
pub(super) fn sha256_hex(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The description of an installed model: `manifest.json` beside its files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Short name, which is that of the directory.
    pub name: String,
    /// Where it comes from: a repository of a hub, or a directory.
    pub source: String,
    /// Commit in the hub, or the first 12 digits of a SHA-256 over those of all files and `max_tokens`.
    pub revision: String,
    /// Its purpose.
    #[serde(default)]
    pub purpose: Purpose,
    /// Length of its vectors; 0 if it makes none.
    pub dims: usize,
    /// How vectors of tokens become one.
    pub pooling: Pooling,
    /// Put before each query.
    #[serde(default)]
    pub query_prefix: String,
    /// Put before each text that is found.
    #[serde(default)]
    pub document_prefix: String,
    /// Tokens of a text that count.
    pub max_tokens: usize,
    /// How its cosines compare with those of the builtin model.
    #[serde(default)]
    pub scale: Scale,
    /// Its files.
    pub files: Vec<ModelFile>,
}

/// Name of the file in the directory of a model.
pub(super) const MANIFEST: &str = "manifest.json";

/// Name of the model file in it.
pub(super) const MODEL: &str = "model.onnx";

/// Returns the name of the model with an identity.
pub fn name_of(identity: &str) -> &str {
    identity.split('@').next().unwrap_or_default()
}

impl Manifest {
    /// Reads the manifest of a model's directory.
    ///
    /// # Errors
    /// When it is absent or not a manifest.
    pub fn read(dir: &Path) -> Result<Self, OnnxError> {
        let path = dir.join(MANIFEST);
        let text = std::fs::read(&path).at("read", &path)?;
        serde_json::from_slice(&text).map_err(|error| OnnxError::bad_file(&path, error.to_string()))
    }

    /// Returns model, revision, dimensions, pooling and prefixes in one word.
    pub fn identity(&self) -> String {
        let Self { name, revision, dims, .. } = self;
        if self.purpose == Purpose::Rerank {
            return format!("{name}@{revision}/rerank");
        }
        let mut identity = format!("{name}@{revision}/{dims}/{}", self.pooling.as_str());
        if !(self.query_prefix.is_empty() && self.document_prefix.is_empty()) {
            let prefixes = [self.query_prefix.as_bytes(), b"\0", self.document_prefix.as_bytes()].concat();
            identity += &format!("/{}", &sha256_hex(&prefixes)[..8]);
        }
        identity
    }

    /// Reads one of the model's files.
    ///
    /// # Errors
    /// When it cannot be read, or is not the one that was installed.
    pub(super) fn read_file(&self, dir: &Path, name: &str) -> Result<Vec<u8>, OnnxError> {
        let path = dir.join(name);
        let file = self.files.iter().find(|file| file.name == name);
        let file = file.ok_or_else(|| OnnxError::bad_file(&path, "is not in the manifest"))?;
        let content = std::fs::read(&path).at("read", &path)?;
        if content.len() as u64 != file.bytes {
            let found = content.len();
            return Err(OnnxError::bad_file(&path, format!("has {found} bytes instead of {}", file.bytes)));
        }
        if sha256_hex(&content) != file.sha256 {
            return Err(OnnxError::bad_file(&path, "has another SHA-256 than the file that was installed"));
        }
        Ok(content)
    }

    /// Returns the size of all files.
    pub fn total_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}
