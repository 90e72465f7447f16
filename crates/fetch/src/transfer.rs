//! Downloads one file, and continues an earlier incomplete download.
//!
//! An incomplete file is `NAME.part`. Beside it, `NAME.part.json` describes the file on the server. A later attempt continues only
//! if the server still has the same file; otherwise it starts from the first byte.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext as _, PathError, with_suffix};
use memod_base::threads::pause;
use serde::{Deserialize, Serialize};
use ureq::http::StatusCode;

use super::checksum::Checksum;
use super::http::{HttpAnswer, HttpClient, HttpError, header_text};
use super::web_address::redact_url;

/// Number of attempts in a row that may fail without receiving a new byte.
const MAX_FAILURES_IN_A_ROW: u32 = 5;

/// The longest time without a byte is divided by this for the delay after the first failure: 30 s give half a second. The delay
/// doubles with each failure.
const FIRST_DELAY_DIVISOR: u32 = 60;

/// Number of bytes that are read at a time.
const BLOCK_BYTES: usize = 1 << 16;

/// A file to download.
pub(super) struct Transfer<'a> {
    pub(super) http: &'a HttpClient,
    pub(super) url: &'a str,
    /// Path of the complete file.
    pub(super) target_path: &'a Path,
    /// The expected checksum, if it is known before the download.
    pub(super) checksum: Option<Checksum>,
    /// Largest size of the file, bytes; a larger file is an error.
    pub(super) max_bytes: u64,
    /// Called with the number of downloaded bytes and the total (0 if unknown). An error ends the download.
    pub(super) progress: &'a mut dyn FnMut(u64, u64) -> io::Result<()>,
}

/// A file that was downloaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TransferredFile {
    pub(super) bytes: u64,
    /// Commit of the file, as the hub gave it.
    pub(super) commit: Option<String>,
    /// Whether a checksum was known and the file matches it.
    pub(super) is_verified: bool,
}

/// Why a file was not downloaded.
#[derive(Debug, thiserror::Error)]
pub(super) enum TransferError {
    /// A local file cannot be read or written.
    #[error(transparent)]
    Io(#[from] PathError),
    /// The server does not have the file, or cannot be reached.
    #[error("download {url}: {}", error.reason)]
    Http { url: String, error: HttpError },
    /// The process that waits for the download has ended.
    #[error("the download was cancelled, because the caller has ended")]
    Cancelled,
}

impl TransferError {
    /// Creates the error for an address.
    pub(super) fn for_url(url: &str, error: HttpError) -> Self {
        Self::Http { url: redact_url(url), error }
    }

    /// Returns the HTTP status of the server's answer, if there was an answer.
    pub(super) fn status(&self) -> Option<u16> {
        match self {
            Self::Http { error, .. } => error.status,
            Self::Io(_) | Self::Cancelled => None,
        }
    }
}

/// The description of a file on the server, which is stored beside the incomplete file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct FileDescription {
    /// Entity tag of the server that sent the file.
    etag: Option<String>,
    /// Entity tag that the hub gave for the content, even if another server sends the file.
    linked_etag: Option<String>,
    total: Option<u64>,
    commit: Option<String>,
    /// Whether another server than the one in the address sent the file.
    is_elsewhere: bool,
}

/// Why an attempt ended.
enum AttemptError {
    /// The request failed; `HttpError::again` tells whether to try again.
    Failed(HttpError),
    /// The download cannot continue.
    Fatal(TransferError),
}

impl From<HttpError> for AttemptError {
    fn from(error: HttpError) -> Self {
        Self::Failed(error)
    }
}

impl From<PathError> for AttemptError {
    fn from(error: PathError) -> Self {
        Self::Fatal(error.into())
    }
}

impl FileDescription {
    /// Builds the description from the headers of an answer.
    fn from_answer(answer: &HttpAnswer) -> Self {
        let linked = find_hub_header(answer, "x-linked-etag");
        let commit = find_hub_header(answer, "x-repo-commit");
        Self {
            etag: header_text(&answer.headers, "etag").map(str::to_owned),
            linked_etag: linked.map(str::to_owned),
            total: read_total_size(answer),
            commit: commit.map(str::to_owned),
            is_elsewhere: answer.is_from_other_origin,
        }
    }

    /// Returns the checksum of the file, if an entity tag contains it. The tags of a storage server behind a hub are not used,
    /// because they are not checksums.
    fn checksum(&self) -> Option<Checksum> {
        let own = if self.is_elsewhere { &None } else { &self.etag };
        self.linked_etag.as_ref().or(own.as_ref()).and_then(|etag| Checksum::from_etag(etag))
    }

    /// Returns the entity tag if it is strong, because a server compares only strong tags before it sends the rest of a file.
    fn strong_etag(&self) -> Option<&String> {
        self.etag.as_ref().filter(|etag| !etag.starts_with("W/"))
    }

    /// Returns whether the file on the server is certainly the same as in the description `now`.
    fn is_same_file(&self, now: &Self) -> bool {
        match (&self.linked_etag, &now.linked_etag) {
            (Some(then), Some(now)) => then == now,
            _ => self.strong_etag().is_some() && self.etag == now.etag,
        }
    }
}

/// Returns a header from the first redirection that has it, or else from the answer itself.
fn find_hub_header<'a>(answer: &'a HttpAnswer, name: &str) -> Option<&'a str> {
    let redirected = answer.redirect_headers.iter().find_map(|headers| header_text(headers, name));
    redirected.or_else(|| header_text(&answer.headers, name))
}

/// Returns the size of the whole file, if the headers give it.
fn read_total_size(answer: &HttpAnswer) -> Option<u64> {
    match header_text(&answer.headers, "content-range") {
        Some(range) => range.rsplit_once('/')?.1.parse().ok(),
        None => header_text(&answer.headers, "content-length")?.parse().ok(),
    }
}

impl Transfer<'_> {
    /// Downloads the file, with retries.
    ///
    /// # Errors
    /// When the download fails for good. The incomplete file stays for a later attempt, unless its checksum is wrong.
    pub(super) fn download_file(mut self) -> Result<TransferredFile, TransferError> {
        let (mut failures, mut most) = (0, 0);
        let mut is_resumed = self.part_size() > 0;
        let mut has_restarted = false;
        loop {
            let error = match self.try_once() {
                Ok(described) => match self.accept_file(&described)? {
                    Ok(transferred) => return Ok(transferred),
                    // The part from an earlier attempt may be damaged, so start again from the first byte, once.
                    Err(_) if is_resumed && !has_restarted => {
                        (has_restarted, most) = (true, 0);
                        continue;
                    }
                    Err(reason) => return Err(self.transfer_error(HttpError::permanent(reason))),
                },
                Err(AttemptError::Fatal(error)) => return Err(error),
                Err(AttemptError::Failed(error)) => error,
            };
            let have = self.part_size();
            is_resumed |= have > 0;
            // A server may send another file each time, so only an attempt that ends with more bytes than all before makes progress.
            failures = if have > most { 1 } else { failures + 1 };
            most = most.max(have);
            let Some(delay) = error.retry_after.filter(|_| failures < MAX_FAILURES_IN_A_ROW) else {
                return Err(self.transfer_error(error));
            };
            let usual = self.http.patience / FIRST_DELAY_DIVISOR * 2_u32.pow(failures - 1);
            pause(delay.unwrap_or(usual));
        }
    }

    /// Requests the file, or the rest of an incomplete file, and receives it.
    fn try_once(&mut self) -> Result<FileDescription, AttemptError> {
        let known = self.read_description();
        let have = if known.is_some() { self.part_size() } else { 0 };
        let known = known.unwrap_or_default();
        let mut headers = Vec::new();
        if have > 0 {
            headers.push(("range", format!("bytes={have}-")));
            if let Some(etag) = known.strong_etag() {
                headers.push(("if-range", etag.clone()));
            }
        }
        let answer = self.http.get(self.url, &headers)?;
        let described = FileDescription::from_answer(&answer);
        let start = format!("bytes {have}-");
        let is_rest = answer.status == StatusCode::PARTIAL_CONTENT
            && known.is_same_file(&described)
            && header_text(&answer.headers, "content-range").is_some_and(|range| range.starts_with(&start));
        if answer.status != StatusCode::OK && !is_rest {
            // The server sent a part of another file, or another range.
            self.delete_part()?;
            return Err(HttpError::transient(format!(
                "{} sent a part of the file that was not requested",
                answer.origin()
            ))
            .into());
        }
        let from = if is_rest { have } else { 0 };
        if described.total.is_some_and(|total| total > self.max_bytes) {
            let reason = format!("has more than {} bytes", self.max_bytes);
            return Err(HttpError::permanent(reason).into());
        }
        if !is_rest {
            self.write_description(&described)?;
        }
        self.receive_body(answer, from, described.total)?;
        Ok(described)
    }

    /// Writes the body of an answer to the incomplete file, starting at the byte `from`.
    fn receive_body(
        &mut self,
        mut answer: HttpAnswer,
        from: u64,
        total: Option<u64>,
    ) -> Result<(), AttemptError> {
        let path = self.part_path();
        let mut file =
            File::options().create(true).truncate(false).write(true).open(&path).at("open", &path)?;
        file.set_len(from).at("cut", &path)?;
        file.seek(SeekFrom::Start(from)).at("write", &path)?;
        let (mut have, mut block) = (from, vec![0; BLOCK_BYTES]);
        loop {
            (self.progress)(have, total.unwrap_or(0))
                .map_err(|_| AttemptError::Fatal(TransferError::Cancelled))?;
            let read = match answer.body.read(&mut block) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) => {
                    return Err(HttpError::transient(format!("{}: {error}", answer.origin())).into());
                }
            };
            have += read as u64;
            if have > self.max_bytes {
                return Err(HttpError::permanent(format!("has more than {} bytes", self.max_bytes)).into());
            }
            file.write_all(&block[..read]).at("write", &path)?;
        }
        match total {
            Some(total) if total != have => {
                Err(HttpError::transient(format!("{} sent {have} of {total} bytes", answer.origin())).into())
            }
            _ => Ok(()),
        }
    }

    /// Renames the complete file to its final path if its checksum is right. Otherwise deletes it, and returns the reason as the
    /// inner error.
    fn accept_file(&self, described: &FileDescription) -> Result<Result<TransferredFile, String>, PathError> {
        let path = self.part_path();
        let checksum = self.checksum.clone().or_else(|| described.checksum());
        if let Some(checksum) = &checksum
            && let Some(difference) = checksum.find_difference(&path).at("read", &path)?
        {
            self.delete_part()?;
            return Ok(Err(format!("the downloaded file has {difference}")));
        }
        fs::rename(&path, self.target_path).at("rename", &path)?;
        self.delete_part()?;
        Ok(Ok(TransferredFile {
            bytes: fs::metadata(self.target_path).at("look at", self.target_path)?.len(),
            commit: described.commit.clone(),
            is_verified: checksum.is_some(),
        }))
    }

    /// Returns the size of the incomplete file; 0 if there is none.
    fn part_size(&self) -> u64 {
        fs::metadata(self.part_path()).map_or(0, |metadata| metadata.len())
    }

    /// Reads the description of the incomplete file; `None` if it has no tag by which the download could be continued.
    fn read_description(&self) -> Option<FileDescription> {
        let described: FileDescription =
            serde_json::from_slice(&fs::read(self.description_path()).ok()?).ok()?;
        (described.strong_etag().is_some() || described.linked_etag.is_some()).then_some(described)
    }

    /// Deletes the incomplete file, and writes the description for a new one.
    fn write_description(&self, described: &FileDescription) -> Result<(), PathError> {
        self.delete_part()?;
        let path = self.description_path();
        let text = serde_json::to_vec(described).expect("plain values serialize");
        fs::write(&path, text).at("write", &path)
    }

    /// Deletes the incomplete file and its description.
    fn delete_part(&self) -> Result<(), PathError> {
        [self.part_path(), self.description_path()].iter().try_for_each(|path| match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.at("remove", path),
        })
    }

    /// Returns the path of the incomplete file.
    fn part_path(&self) -> PathBuf {
        with_suffix(self.target_path, ".part")
    }

    /// Returns the path of the description of the incomplete file.
    fn description_path(&self) -> PathBuf {
        with_suffix(self.target_path, ".part.json")
    }

    /// Returns the error for the address of the file.
    fn transfer_error(&self, error: HttpError) -> TransferError {
        TransferError::for_url(self.url, error)
    }
}
