//! Downloads the files of a model from a hub, as Hugging Face serves them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memod_base::paths::{IoContext as _, PathError};
use memod_embed::onnx::{CatalogueEntry, Import, ModelCache, Runtime, import};
use serde::{Deserialize, Serialize};

use super::http::Http;
use super::transfer::{Transfer, TransferError, Transferred};
use super::web_address::{WebAddress, shown};
use super::{FetchError, Listener, downloads};

/// Largest model file, bytes.
const MOST_MODEL: u64 = 4 << 30;

/// Largest other file, bytes.
const MOST_JSON: u64 = 64 << 20;

/// Files beside the model; the first one tells of which commit they are. Only the tokenizer must be there.
const BESIDE: [&str; 7] = [
    "config.json",
    TOKENIZER,
    "special_tokens_map.json",
    "tokenizer_config.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
];

const TOKENIZER: &str = "tokenizer.json";

/// Where models are in a repository.
const MODELS: [&str; 2] = ["onnx/model.onnx", "model.onnx"];

/// File that tells of which commit the others are.
const ORIGIN: &str = "origin.json";

/// A hub, and who asks it.
#[derive(Clone)]
pub struct Hub {
    /// Its address. It may have credentials, which come before the token.
    pub url: String,
    /// Sent to it as a bearer, for models that are not open to everybody.
    pub token: Option<String>,
}

/// Not the token.
impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&shown(&self.url))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    repository: String,
    commit: Option<String>,
}

/// Downloads and installs a model of the catalogue, unless it is installed.
///
/// # Errors
/// When it cannot be downloaded or run. What came so far is kept.
pub(super) fn install(
    entry: &CatalogueEntry,
    hub: &Hub,
    (cache, runtime, program): (&ModelCache, &Runtime, &Path),
    patience: Duration,
    listener: &mut Listener<'_>,
) -> Result<(), FetchError> {
    let dir = downloads(&runtime.cache_dir)?;
    let _lock = listener.lock(&dir.join(format!("{}.lock", entry.name)), entry.name)?;
    if cache.get(entry.name).is_ok() {
        return Ok(()); // somebody else has installed it meanwhile
    }
    let address = WebAddress::new(&hub.url);
    let url = shown(address.url.trim_end_matches('/'));
    let (name, repository) = (entry.name, entry.repository);
    let (megabytes, licence) = (entry.megabytes, entry.licence);
    listener.note(&format!(
        "downloading {name}, about {megabytes} MB, licence {licence}, from {url}/{repository}"
    ))?;
    let http = Http::new(patience).with_token(&url, hub.token.as_deref()).with_credentials_of(&address);
    let mut download =
        Download { http, url: format!("{url}/{repository}/resolve"), dir: dir.join(name), listener };
    let origin = download.run(entry)?;
    download.listener.note(&format!("trying {name}"))?;
    let source = match &origin.commit {
        Some(commit) => format!("{url}/{repository}@{commit}"),
        None => format!("{url}/{repository}"),
    };
    let dir = download.dir;
    let wanted = Import { dir: &dir, name: Some(name), source: Some(&source) };
    import(&wanted, cache, runtime, program)?;
    fs::remove_dir_all(&dir).at("remove", &dir)?;
    Ok(())
}

/// The download of a model.
struct Download<'a, 'b> {
    http: Http,
    /// Address of its files, without the revision.
    url: String,
    dir: PathBuf,
    listener: &'a mut Listener<'b>,
}

impl Download<'_, '_> {
    /// Downloads all files into the directory, all of one commit.
    fn run(&mut self, entry: &CatalogueEntry) -> Result<Origin, FetchError> {
        let mut origin = Origin { repository: entry.repository.to_owned(), commit: None };
        let former = self.former();
        for (nth, file) in BESIDE.into_iter().enumerate() {
            let got = self.file(file, &origin, MOST_JSON, file != TOKENIZER)?;
            origin.commit = origin.commit.or(got.and_then(|got| got.commit));
            if nth == 0 {
                self.keep_only(former.as_ref() == Some(&origin))?;
            }
        }
        self.note(&origin)?;
        let others = MODELS.into_iter().filter(|file| *file != entry.model_file);
        let mut candidates = std::iter::once(entry.model_file).chain(others).peekable();
        while let Some(file) = candidates.next() {
            // Some repositories have moved it.
            if self.file(file, &origin, MOST_MODEL, candidates.peek().is_some())?.is_some() {
                break;
            }
        }
        Ok(origin)
    }

    /// Downloads a file unless it is there; returns `None` if the repository has none and need not have it.
    fn file(
        &mut self,
        file: &str,
        origin: &Origin,
        most_bytes: u64,
        is_optional: bool,
    ) -> Result<Option<Transferred>, FetchError> {
        let to = self.dir.join(file);
        if origin.commit.is_some() && to.is_file() {
            return Ok(Some(Transferred::default()));
        }
        let dir = to.parent().expect("the file is in the directory");
        fs::create_dir_all(dir).at("create directory", dir)?;
        let url = format!("{}/{}/{file}", self.url, origin.commit.as_deref().unwrap_or("main"));
        let name = file.rsplit('/').next().unwrap_or(file);
        let listener = &mut *self.listener;
        let transfer = Transfer {
            http: &self.http,
            url: &url,
            to: &to,
            checksum: None,
            most_bytes,
            progress: &mut |done, total| listener.progress(name, done, total),
        };
        match transfer.run() {
            Ok(transferred) => {
                if most_bytes == MOST_MODEL && !transferred.is_checked {
                    listener
                        .note("the hub tells no checksum of the model, so it is not compared with one")?;
                }
                Ok(Some(transferred))
            }
            Err(error) if is_optional && error.status() == Some(404) => Ok(None),
            Err(error) => Err(hub_error(error)),
        }
    }

    /// Returns of which commit the files of an earlier attempt are.
    fn former(&self) -> Option<Origin> {
        serde_json::from_slice(&fs::read(self.dir.join(ORIGIN)).ok()?).ok()
    }

    fn note(&self, origin: &Origin) -> Result<(), PathError> {
        let path = self.dir.join(ORIGIN);
        fs::write(&path, serde_json::to_vec(origin).expect("plain values serialize")).at("write", &path)
    }

    /// Deletes complete files of an earlier attempt that are of another commit. Incomplete ones tell themselves what they are of.
    fn keep_only(&self, is_same: bool) -> Result<(), PathError> {
        let complete = BESIDE[1..].iter().chain(&MODELS).map(|file| self.dir.join(file));
        for path in complete.filter(|path| !is_same && path.exists()) {
            fs::remove_file(&path).at("remove", &path)?;
        }
        Ok(())
    }
}

fn hub_error(error: TransferError) -> FetchError {
    match error {
        TransferError::Io(error) => error.into(),
        TransferError::Unwanted => FetchError::Unwanted,
        TransferError::Http { error: ref http, .. } => {
            let is_refused = matches!(http.status, Some(401 | 403));
            FetchError::Hub { message: error.to_string(), is_refused }
        }
    }
}
