//! Downloads the files of a model from a hub that has the interface of Hugging Face.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memod_base::paths::{IoContext as _, PathError};
use memod_embed::onnx::{CatalogueEntry, ModelCache, ModelImport, RuntimeLocations, import_model};
use serde::{Deserialize, Serialize};

use super::http::HttpClient;
use super::transfer::{Transfer, TransferError, TransferredFile};
use super::web_address::{WebAddress, redact_url};
use super::{FetchError, Listener, create_downloads_dir};

/// Size of the largest model file, bytes.
const MAX_MODEL_BYTES: u64 = 4 << 30;

/// Size of the largest other file, bytes.
const MAX_OTHER_FILE_BYTES: u64 = 64 << 20;

/// Files that are downloaded besides the model. The answer to the first one determines the commit of all. Only the tokenizer is
/// required.
const SIDE_FILES: [&str; 7] = [
    "config.json",
    TOKENIZER_FILE,
    "special_tokens_map.json",
    "tokenizer_config.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
];

const TOKENIZER_FILE: &str = "tokenizer.json";

/// Usual paths of the model file in a repository.
const MODEL_FILES: [&str; 2] = ["onnx/model.onnx", "model.onnx"];

/// Name of the file that records the commit of the downloaded files.
const ORIGIN_FILE: &str = "origin.json";

/// A hub, and the token for it.
#[derive(Clone)]
pub struct Hub {
    /// Address of the hub. If the address has credentials, they are used instead of the token.
    pub url: String,
    /// Bearer token for models that are not public.
    pub token: Option<String>,
}

/// Writes the address without its credentials and without the token.
impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&redact_url(&self.url))
    }
}

/// The repository and commit from which the files of a model were downloaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ModelOrigin {
    repository: String,
    commit: Option<String>,
}

/// Downloads and installs a model of the catalogue, unless it is installed.
///
/// # Errors
/// When the model cannot be downloaded or run. A partial download is kept for the next attempt.
pub(super) fn install_model(
    entry: &CatalogueEntry,
    hub: &Hub,
    (cache, runtime, program): (&ModelCache, &RuntimeLocations, &Path),
    patience: Duration,
    listener: &mut Listener<'_>,
) -> Result<(), FetchError> {
    let dir = create_downloads_dir(&runtime.cache_dir)?;
    let _lock = listener.lock_download(&dir.join(format!("{}.lock", entry.name)), entry.name)?;
    if cache.get(entry.name).is_ok() {
        return Ok(()); // another process has installed it meanwhile
    }
    let address = WebAddress::new(&hub.url);
    let url = redact_url(address.url.trim_end_matches('/'));
    let (name, repository) = (entry.name, entry.repository);
    let (megabytes, licence) = (entry.megabytes, entry.licence);
    listener.report_note(&format!(
        "downloading {name}, about {megabytes} MB, licence {licence}, from {url}/{repository}"
    ))?;
    let http = HttpClient::new(patience).with_token(&url, hub.token.as_deref()).with_credentials_of(&address);
    let mut download =
        ModelDownload { http, url: format!("{url}/{repository}/resolve"), dir: dir.join(name), listener };
    let origin = download.download_files(entry)?;
    download.listener.report_note(&format!("trying {name}"))?;
    let source = match &origin.commit {
        Some(commit) => format!("{url}/{repository}@{commit}"),
        None => format!("{url}/{repository}"),
    };
    let dir = download.dir;
    let wanted = ModelImport { dir: &dir, name: Some(name), source: Some(&source) };
    import_model(&wanted, cache, runtime, program)?;
    fs::remove_dir_all(&dir).at("remove", &dir)?;
    Ok(())
}

/// The download of a model.
struct ModelDownload<'a, 'b> {
    http: HttpClient,
    /// Address of the files, without the revision.
    url: String,
    dir: PathBuf,
    listener: &'a mut Listener<'b>,
}

impl ModelDownload<'_, '_> {
    /// Downloads all files of one commit into the directory.
    fn download_files(&mut self, entry: &CatalogueEntry) -> Result<ModelOrigin, FetchError> {
        let mut origin = ModelOrigin { repository: entry.repository.to_owned(), commit: None };
        let former = self.read_origin();
        for (nth, file) in SIDE_FILES.into_iter().enumerate() {
            let got = self.download_file(file, &origin, MAX_OTHER_FILE_BYTES, file != TOKENIZER_FILE)?;
            origin.commit = origin.commit.or(got.and_then(|got| got.commit));
            if nth == 0 {
                self.delete_outdated_files(former.as_ref() == Some(&origin))?;
            }
        }
        self.write_origin(&origin)?;
        let others = MODEL_FILES.into_iter().filter(|file| *file != entry.model_file);
        let mut candidates = std::iter::once(entry.model_file).chain(others).peekable();
        while let Some(file) = candidates.next() {
            // In some repositories the model file has another path than the catalogue says.
            if self.download_file(file, &origin, MAX_MODEL_BYTES, candidates.peek().is_some())?.is_some() {
                break;
            }
        }
        Ok(origin)
    }

    /// Downloads a file unless it exists; returns `None` if the file is optional and the repository does not have it.
    fn download_file(
        &mut self,
        file: &str,
        origin: &ModelOrigin,
        most_bytes: u64,
        is_optional: bool,
    ) -> Result<Option<TransferredFile>, FetchError> {
        let to = self.dir.join(file);
        if origin.commit.is_some() && to.is_file() {
            return Ok(Some(TransferredFile::default()));
        }
        let dir = to.parent().expect("the file is in the directory");
        fs::create_dir_all(dir).at("create directory", dir)?;
        let url = format!("{}/{}/{file}", self.url, origin.commit.as_deref().unwrap_or("main"));
        let name = file.rsplit('/').next().unwrap_or(file);
        let listener = &mut *self.listener;
        let transfer = Transfer {
            http: &self.http,
            url: &url,
            target_path: &to,
            checksum: None,
            max_bytes: most_bytes,
            progress: &mut |done, total| listener.report_progress(name, done, total),
        };
        match transfer.download_file() {
            Ok(transferred) => {
                if most_bytes == MAX_MODEL_BYTES && !transferred.is_verified {
                    listener.report_note(
                        "the hub gives no checksum of the model, so the download is not verified",
                    )?;
                }
                Ok(Some(transferred))
            }
            Err(error) if is_optional && error.status() == Some(404) => Ok(None),
            Err(error) => Err(to_fetch_error(error)),
        }
    }

    /// Reads the recorded commit of the files of an earlier attempt.
    fn read_origin(&self) -> Option<ModelOrigin> {
        serde_json::from_slice(&fs::read(self.dir.join(ORIGIN_FILE)).ok()?).ok()
    }

    /// Records the commit of the downloaded files.
    fn write_origin(&self, origin: &ModelOrigin) -> Result<(), PathError> {
        let path = self.dir.join(ORIGIN_FILE);
        fs::write(&path, serde_json::to_vec(origin).expect("plain values serialize")).at("write", &path)
    }

    /// Deletes the complete files of an earlier attempt unless they are of the same commit. Incomplete files are described by their
    /// own `.part.json`.
    fn delete_outdated_files(&self, is_same_commit: bool) -> Result<(), PathError> {
        let complete = SIDE_FILES[1..].iter().chain(&MODEL_FILES).map(|file| self.dir.join(file));
        for path in complete.filter(|path| !is_same_commit && path.exists()) {
            fs::remove_file(&path).at("remove", &path)?;
        }
        Ok(())
    }
}

/// Converts the error of a download from the hub.
fn to_fetch_error(error: TransferError) -> FetchError {
    match error {
        TransferError::Io(error) => error.into(),
        TransferError::Cancelled => FetchError::Cancelled,
        TransferError::Http { error: ref http, .. } => {
            let is_refused = matches!(http.status, Some(401 | 403));
            FetchError::Hub { message: error.to_string(), is_refused }
        }
    }
}
