//! Downloads models, and the library of ONNX Runtime that runs them.
//!
//! This code runs in a process that `memo` starts in the foreground, so that it uses the proxies, certificates and mirrors of the
//! user's environment, and Ctrl-C ends it. A partial download is kept, and the next run continues it.

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

use memod_base::paths::{IoContext as _, PathError, lock_with_timeout, open_lock_file};
use memod_embed::onnx::{CatalogueEntry, ModelCache, OnnxError, RuntimeLocations};
use memod_proto::FetchReportLine;

pub use hub::Hub;
use transfer::TransferError;

/// Address of the default package index, from which ONNX Runtime is downloaded.
const DEFAULT_INDEX_URL: &str = "https://pypi.org/simple";

/// Address of the default hub of models.
pub const DEFAULT_HUB_URL: &str = "https://huggingface.co";

/// Shortest time between two reports of progress.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// The library and the model to download, and their sources.
#[derive(Debug)]
pub struct FetchRequest {
    /// The paths at which the library may exist already, and the cache directory.
    pub runtime: RuntimeLocations,
    /// Address of the package index, perhaps with credentials; `None` for PyPI.
    pub index: Option<String>,
    /// Name of the model; `None` to download only the library.
    pub model: Option<String>,
    /// The hub from which models are downloaded.
    pub hub: Hub,
    /// Path of `memod`, which checks a new model in a separate process.
    pub program: PathBuf,
    /// Longest time without a byte from a server, and longest wait for another process that downloads the same thing.
    pub patience: Duration,
}

/// Why something could not be downloaded.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] PathError),
    /// The model or the library cannot be used.
    #[error(transparent)]
    Onnx(#[from] OnnxError),
    /// The package index, or a server that it names, failed.
    #[error("{0}")]
    PackageIndex(String),
    /// The hub, or a server that it names, failed.
    #[error("{message}")]
    Hub {
        /// Message with the address and the reason.
        message: String,
        /// Whether the hub requires other credentials.
        is_refused: bool,
    },
    /// There are no wheels for this platform.
    #[error("onnxruntime has no wheel for {} on {}", std::env::consts::OS, std::env::consts::ARCH)]
    NoPlatform,
    /// The downloaded wheel is defective.
    #[error("{}: {reason}", path.display())]
    BadWheel {
        /// Path of the wheel.
        path: PathBuf,
        /// The defect.
        reason: String,
    },
    /// Another process downloads the same thing for too long.
    #[error("another process is downloading {0}")]
    Busy(String),
    /// The process that waits for the download has ended.
    #[error("the download was cancelled, because the caller has ended")]
    Cancelled,
}

impl FetchError {
    /// Converts the error of a download from the package index or from a server that it names.
    fn package_index_error(error: TransferError) -> Self {
        match error {
            TransferError::Io(error) => error.into(),
            TransferError::Cancelled => Self::Cancelled,
            error @ TransferError::Http { .. } => Self::PackageIndex(error.to_string()),
        }
    }

    /// Returns what a user can do about the error.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Io(error) => error.hint(),
            Self::Onnx(error) => error.hint(),
            Self::PackageIndex(_) => Some(
                "set PIP_INDEX_URL or `model.index` to a mirror; or run `pip install onnxruntime`, and name its library in \
                 `model.runtime`",
            ),
            Self::Hub { is_refused: true, .. } => Some(
                "set HF_TOKEN to the token of an account that may download the model; or install a local folder with `memo model import`",
            ),
            Self::Hub { .. } => Some(
                "set HF_ENDPOINT or `model.hub` to a mirror; or install a local folder with `memo model import`",
            ),
            Self::NoPlatform => {
                Some("build libonnxruntime 1.24 or later, and name its file in `model.runtime`")
            }
            Self::BadWheel { .. } => Some("set PIP_INDEX_URL or `model.index` to another index"),
            Self::Busy(_) => Some("wait for that process, or end it"),
            Self::Cancelled => None,
        }
    }
}

/// Downloads the library and the model unless they are installed, and reports progress.
///
/// # Errors
/// When something cannot be downloaded. A partial download is kept for the next attempt.
pub fn fetch_missing(
    fetch: &FetchRequest,
    report: &mut dyn FnMut(&FetchReportLine) -> io::Result<()>,
) -> Result<(), FetchError> {
    let mut listener = Listener { report, reported: None, patience: fetch.patience };
    let index = fetch.index.as_deref().unwrap_or(DEFAULT_INDEX_URL);
    runtime_library::fetch_library(&fetch.runtime, index, fetch.patience, &mut listener)?;
    let Some(name) = &fetch.model else { return Ok(()) };
    let cache = ModelCache::new(&fetch.runtime.cache_dir);
    if cache.get(name).is_ok() {
        return Ok(());
    }
    let entry = CatalogueEntry::find(name).ok_or_else(|| OnnxError::NotInstalled(name.clone()))?;
    let into = (&cache, &fetch.runtime, fetch.program.as_path());
    hub::install_model(entry, &fetch.hub, into, fetch.patience, &mut listener)
}

/// Creates the directory of incomplete downloads, and returns its path.
fn create_downloads_dir(cache_dir: &Path) -> Result<PathBuf, PathError> {
    let dir = cache_dir.join("downloads");
    fs::create_dir_all(&dir).at("create directory", &dir)?;
    Ok(dir)
}

/// Reports to the process that waits for the downloads.
struct Listener<'a> {
    report: &'a mut dyn FnMut(&FetchReportLine) -> io::Result<()>,
    reported: Option<Instant>,
    patience: Duration,
}

impl Listener<'_> {
    /// Reports the current step.
    fn report_note(&mut self, text: &str) -> Result<(), FetchError> {
        let reported = (self.report)(&FetchReportLine::Note { text: text.to_owned() });
        reported.map_err(|_| FetchError::Cancelled)
    }

    /// Reports how many bytes of a file are downloaded, unless the last report was less than [`REPORT_INTERVAL`] ago.
    fn report_progress(&mut self, what: &str, done: u64, total: u64) -> io::Result<()> {
        if done < total && self.reported.is_some_and(|at| at.elapsed() < REPORT_INTERVAL) {
            return Ok(());
        }
        self.reported = Some(Instant::now());
        (self.report)(&FetchReportLine::Progress { what: what.to_owned(), done, total })
    }

    /// Locks a download against other processes, and waits for a process that downloads the same thing.
    fn lock_download(&mut self, path: &Path, what: &str) -> Result<File, FetchError> {
        let file = open_lock_file(path)?;
        if file.try_lock().is_ok() {
            return Ok(file);
        }
        self.report_note(&format!("another process is downloading {what}; waiting for it"))?;
        match lock_with_timeout(file, self.patience) {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Err(FetchError::Busy(what.to_owned())),
            locked => Ok(locked.at("lock", path)?),
        }
    }
}
