//! Downloads models and the library that runs them.
//!
//! This runs in a process that `memo` starts in the foreground: with the proxies, certificates and mirrors of the user's own
//! environment, and ended by Ctrl-C. The part that was downloaded until then is kept, and the next run continues there.

mod checksum;
mod http;
mod hub;
mod package_index;
mod runtime_library;
mod transfer;
mod web_address;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memod_base::paths::{IoContext as _, PathError, lock_within, open_lock};
use memod_embed::onnx::{CatalogueEntry, ModelCache, OnnxError, Runtime};
use memod_proto::FetchReport;

pub use hub::Hub;
use transfer::TransferError;

/// Package index with ONNX Runtime.
const INDEX: &str = "https://pypi.org/simple";

/// Hub with models.
pub const HUB: &str = "https://huggingface.co";

/// Least time between two reports of progress.
const REPORT_EVERY: Duration = Duration::from_millis(100);

/// The library and the model to fetch, and where they come from.
#[derive(Debug)]
pub struct FetchRequest {
    /// The library, and where it may be already.
    pub runtime: Runtime,
    /// Address of the package index; that of PyPI if absent. It may have credentials.
    pub index: Option<String>,
    /// Name of the model; without one the library alone is fetched.
    pub model: Option<String>,
    /// Where models come from.
    pub hub: Hub,
    /// `memod`, which tries a model in a process of its own.
    pub program: PathBuf,
    /// Longest time without a byte from a server, and longest wait for another process that downloads the same.
    pub patience: Duration,
}

/// Why something could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] PathError),
    /// The model or the library cannot be used.
    #[error(transparent)]
    Onnx(#[from] OnnxError),
    /// The package index, or a server that it names.
    #[error("{0}")]
    Index(String),
    /// The hub, or a server that it names.
    #[error("{message}")]
    Hub {
        /// The address, and the reason.
        message: String,
        /// Whether the hub asks for credentials.
        is_refused: bool,
    },
    /// There are no wheels for this platform.
    #[error("there is no wheel of onnxruntime for {} on {}", std::env::consts::OS, std::env::consts::ARCH)]
    NoPlatform,
    /// The wheel is not one.
    #[error("{}: {reason}", path.display())]
    BadWheel {
        /// The wheel.
        path: PathBuf,
        /// Its defect.
        reason: String,
    },
    /// Another process fetches the same.
    #[error("another process is downloading {0}")]
    Busy(String),
    /// The caller is gone.
    #[error("nobody waits for the download")]
    Unwanted,
}

impl FetchError {
    /// Returns the error for a file that the package index, or a server that it names, did not send.
    fn index_error(error: TransferError) -> Self {
        match error {
            TransferError::Io(error) => error.into(),
            TransferError::Unwanted => Self::Unwanted,
            error @ TransferError::Http { .. } => Self::Index(error.to_string()),
        }
    }

    /// Returns what a user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Io(error) => error.hint(),
            Self::Onnx(error) => error.hint(),
            Self::Index(_) => Some(
                "name a mirror in PIP_INDEX_URL or `model.index`; or run `pip install onnxruntime`, and name its library in \
                 `model.runtime`",
            ),
            Self::Hub { is_refused: true, .. } => Some(
                "set HF_TOKEN to the token of an account that may download the model; or install a local folder with `memo model import`",
            ),
            Self::Hub { .. } => Some(
                "name a mirror in HF_ENDPOINT or `model.hub`; or install a local folder with `memo model import`",
            ),
            Self::NoPlatform => {
                Some("build libonnxruntime 1.24 or later, and name its file in `model.runtime`")
            }
            Self::BadWheel { .. } => Some("set PIP_INDEX_URL or `model.index` to another index"),
            Self::Busy(_) => Some("wait for it, or end it"),
            Self::Unwanted => None,
        }
    }
}

/// Fetches the library and the model unless they are there, and reports progress meanwhile.
///
/// # Errors
/// When something cannot be fetched. The part that came so far is kept.
pub fn fetch_missing(
    fetch: &FetchRequest,
    report: &mut dyn FnMut(&FetchReport) -> io::Result<()>,
) -> Result<(), FetchError> {
    let mut listener = Listener { report, reported: None, patience: fetch.patience };
    let index = fetch.index.as_deref().unwrap_or(INDEX);
    runtime_library::fetch_library(&fetch.runtime, index, fetch.patience, &mut listener)?;
    let Some(name) = &fetch.model else { return Ok(()) };
    let cache = ModelCache::new(&fetch.runtime.cache_dir);
    if cache.get(name).is_ok() {
        return Ok(());
    }
    let entry = CatalogueEntry::find(name).ok_or_else(|| OnnxError::Absent(name.clone()))?;
    let into = (&cache, &fetch.runtime, fetch.program.as_path());
    hub::install_model(entry, &fetch.hub, into, fetch.patience, &mut listener)
}

/// Creates the directory of incomplete downloads; returns its path.
fn create_downloads_dir(cache_dir: &Path) -> Result<PathBuf, PathError> {
    let dir = cache_dir.join("downloads");
    fs::create_dir_all(&dir).at("create directory", &dir)?;
    Ok(dir)
}

/// The caller that waits for the downloads.
struct Listener<'a> {
    report: &'a mut dyn FnMut(&FetchReport) -> io::Result<()>,
    reported: Option<Instant>,
    patience: Duration,
}

impl Listener<'_> {
    /// Reports a step.
    fn report_note(&mut self, text: &str) -> Result<(), FetchError> {
        let reported = (self.report)(&FetchReport::Note { text: text.to_owned() });
        reported.map_err(|_| FetchError::Unwanted)
    }

    /// Reports how much of a file is there, unless that was reported a moment ago.
    fn report_progress(&mut self, what: &str, done: u64, total: u64) -> io::Result<()> {
        if done < total && self.reported.is_some_and(|at| at.elapsed() < REPORT_EVERY) {
            return Ok(());
        }
        self.reported = Some(Instant::now());
        (self.report)(&FetchReport::Progress { what: what.to_owned(), done, total })
    }

    /// Locks a download against other processes; waits for one that downloads the same.
    fn lock_download(&mut self, path: &Path, what: &str) -> Result<File, FetchError> {
        let file = open_lock(path)?;
        if file.try_lock().is_ok() {
            return Ok(file);
        }
        self.report_note(&format!("another process is downloading {what}; waiting for it"))?;
        match lock_within(file, self.patience) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(FetchError::Busy(what.to_owned())),
            locked => Ok(locked.at("lock", path)?),
        }
    }
}
