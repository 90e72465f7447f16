//! Downloads one file, and goes on where an earlier attempt ended.
//!
//! Beside an incomplete file, `NAME.part`, stands `NAME.part.json`: what the server said that the file is. A later attempt asks for
//! the rest only if the server has the same file; otherwise it begins anew.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext as _, PathError, with_suffix};
use memod_base::threads::pause;
use serde::{Deserialize, Serialize};
use ureq::http::StatusCode;

use super::checksum::Checksum;
use super::http::{Answer, Http, HttpError, header};
use super::web_address::shown;

/// Attempts that may fail one after the other without a byte.
const MOST_FAILURES: u32 = 5;

/// Wait after the first failure, as a part of the longest time without a byte: half a second of 30. It doubles.
const FIRST_DELAY_PART: u32 = 60;

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 16;

/// A file to download.
pub(super) struct Transfer<'a> {
    pub(super) http: &'a Http,
    pub(super) url: &'a str,
    /// Where it is put when it is complete.
    pub(super) to: &'a Path,
    /// What it must be, if that is known already.
    pub(super) checksum: Option<Checksum>,
    pub(super) most_bytes: u64,
    /// Is told how many bytes are there, and how many there will be. An error ends the transfer.
    pub(super) progress: &'a mut dyn FnMut(u64, u64) -> io::Result<()>,
}

/// What has been downloaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Transferred {
    pub(super) bytes: u64,
    /// Commit of the hub that the file is of.
    pub(super) commit: Option<String>,
    /// Whether the server told a checksum; it was the file's then.
    pub(super) is_checked: bool,
}

/// Why a file is not there.
#[derive(Debug, thiserror::Error)]
pub(super) enum TransferError {
    /// A file cannot be written.
    #[error(transparent)]
    Io(#[from] PathError),
    /// The server has not got it, or cannot be reached.
    #[error("download {url}: {}", error.reason)]
    Http { url: String, error: HttpError },
    /// Who asked is gone.
    #[error("nobody waits for the download")]
    Unwanted,
}

impl TransferError {
    /// The error for an address.
    pub(super) fn http(url: &str, error: HttpError) -> Self {
        Self::Http { url: shown(url), error }
    }

    /// The status that the server answered with, if it did.
    pub(super) fn status(&self) -> Option<u16> {
        match self {
            Self::Http { error, .. } => error.status,
            Self::Io(_) | Self::Unwanted => None,
        }
    }
}

/// What the server said that the incomplete file is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Described {
    /// Entity tag of the server that sent it.
    etag: Option<String>,
    /// Entity tag that the hub gave for its content, which another server may send.
    linked_etag: Option<String>,
    total: Option<u64>,
    commit: Option<String>,
    /// Whether another server than the one that was asked sent it.
    is_elsewhere: bool,
}

/// Why an attempt ended.
enum Ended {
    Failed(HttpError),
    Fatal(TransferError),
}

impl From<HttpError> for Ended {
    fn from(error: HttpError) -> Self {
        Self::Failed(error)
    }
}

impl From<PathError> for Ended {
    fn from(error: PathError) -> Self {
        Self::Fatal(error.into())
    }
}

impl Described {
    fn of(answer: &Answer) -> Self {
        let before = |name: &str| answer.before.iter().find_map(|headers| header(headers, name));
        let linked = before("x-linked-etag").or_else(|| header(&answer.headers, "x-linked-etag"));
        let commit = before("x-repo-commit").or_else(|| header(&answer.headers, "x-repo-commit"));
        Self {
            etag: header(&answer.headers, "etag").map(str::to_owned),
            linked_etag: linked.map(str::to_owned),
            total: total(answer),
            commit: commit.map(str::to_owned),
            is_elsewhere: answer.is_elsewhere,
        }
    }

    /// Entity tags of storage behind a hub are those of the storage, and no checksums.
    fn checksum(&self) -> Option<Checksum> {
        let own = if self.is_elsewhere { &None } else { &self.etag };
        self.linked_etag.as_ref().or(own.as_ref()).and_then(|etag| Checksum::of_etag(etag))
    }

    /// The entity tag that a server compares before it sends the rest: a strong one.
    fn strong_etag(&self) -> Option<&String> {
        self.etag.as_ref().filter(|etag| !etag.starts_with("W/"))
    }

    /// Whether the server's file is surely the same one.
    fn is_same(&self, now: &Self) -> bool {
        match (&self.linked_etag, &now.linked_etag) {
            (Some(then), Some(now)) => then == now,
            _ => self.strong_etag().is_some() && self.etag == now.etag,
        }
    }
}

/// Returns the size of the whole file, if the server tells it.
fn total(answer: &Answer) -> Option<u64> {
    match header(&answer.headers, "content-range") {
        Some(range) => range.rsplit_once('/')?.1.parse().ok(),
        None => header(&answer.headers, "content-length")?.parse().ok(),
    }
}

impl Transfer<'_> {
    /// Downloads the file.
    pub(super) fn run(mut self) -> Result<Transferred, TransferError> {
        let (mut failures, mut most) = (0, 0);
        let mut is_resumed = self.have() > 0;
        let mut has_begun_anew = false;
        loop {
            let error = match self.attempt() {
                Ok(described) => match self.accept(&described)? {
                    Ok(transferred) => return Ok(transferred),
                    // The part may have been damaged while it lay there.
                    Err(_) if is_resumed && !has_begun_anew => {
                        (has_begun_anew, most) = (true, 0);
                        continue;
                    }
                    Err(reason) => return Err(self.failed(HttpError::lasting(reason))),
                },
                Err(Ended::Fatal(error)) => return Err(error),
                Err(Ended::Failed(error)) => error,
            };
            let have = self.have();
            is_resumed |= have > 0;
            // Bytes that were there before are no progress: a server may send another file each time.
            failures = if have > most { 1 } else { failures + 1 };
            most = most.max(have);
            let Some(delay) = error.again.filter(|_| failures < MOST_FAILURES) else {
                return Err(self.failed(error));
            };
            let usual = self.http.patience / FIRST_DELAY_PART * 2_u32.pow(failures - 1);
            pause(delay.unwrap_or(usual));
        }
    }

    fn attempt(&mut self) -> Result<Described, Ended> {
        let known = self.described();
        let have = if known.is_some() { self.have() } else { 0 };
        let known = known.unwrap_or_default();
        let mut headers = Vec::new();
        if have > 0 {
            headers.push(("range", format!("bytes={have}-")));
            if let Some(etag) = known.strong_etag() {
                headers.push(("if-range", etag.clone()));
            }
        }
        let answer = self.http.get(self.url, &headers)?;
        let described = Described::of(&answer);
        let start = format!("bytes {have}-");
        let is_rest = answer.status == StatusCode::PARTIAL_CONTENT
            && known.is_same(&described)
            && header(&answer.headers, "content-range").is_some_and(|range| range.starts_with(&start));
        if answer.status != StatusCode::OK && !is_rest {
            // Another file than the one that was begun, or a range that is not ours.
            self.forget()?;
            return Err(
                HttpError::passing(format!("{} sent another part of the file", answer.origin())).into()
            );
        }
        let from = if is_rest { have } else { 0 };
        if described.total.is_some_and(|total| total > self.most_bytes) {
            let reason = format!("has more than {} bytes", self.most_bytes);
            return Err(HttpError::lasting(reason).into());
        }
        if !is_rest {
            self.describe(&described)?;
        }
        self.receive(answer, from, described.total)?;
        Ok(described)
    }

    /// Writes what comes to the incomplete file, from a position on.
    fn receive(&mut self, mut answer: Answer, from: u64, total: Option<u64>) -> Result<(), Ended> {
        let path = self.part();
        let mut file =
            File::options().create(true).truncate(false).write(true).open(&path).at("open", &path)?;
        file.set_len(from).at("cut", &path)?;
        file.seek(SeekFrom::Start(from)).at("write", &path)?;
        let (mut have, mut block) = (from, vec![0; BLOCK]);
        loop {
            (self.progress)(have, total.unwrap_or(0)).map_err(|_| Ended::Fatal(TransferError::Unwanted))?;
            let read = match answer.body.read(&mut block) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) => return Err(HttpError::passing(format!("{}: {error}", answer.origin())).into()),
            };
            have += read as u64;
            if have > self.most_bytes {
                return Err(HttpError::lasting(format!("has more than {} bytes", self.most_bytes)).into());
            }
            file.write_all(&block[..read]).at("write", &path)?;
        }
        match total {
            Some(total) if total != have => {
                Err(HttpError::passing(format!("{} sent {have} of {total} bytes", answer.origin())).into())
            }
            _ => Ok(()),
        }
    }

    /// Puts the complete file in its place if it is the right one; tells why not otherwise, and deletes it.
    fn accept(&self, described: &Described) -> Result<Result<Transferred, String>, PathError> {
        let path = self.part();
        let checksum = self.checksum.clone().or_else(|| described.checksum());
        if let Some(checksum) = &checksum
            && let Some(difference) = checksum.differs(&path).at("read", &path)?
        {
            self.forget()?;
            return Ok(Err(format!("what came has {difference}")));
        }
        fs::rename(&path, self.to).at("rename", &path)?;
        self.forget()?;
        Ok(Ok(Transferred {
            bytes: fs::metadata(self.to).at("look at", self.to)?.len(),
            commit: described.commit.clone(),
            is_checked: checksum.is_some(),
        }))
    }

    /// Returns the size of the incomplete file.
    fn have(&self) -> u64 {
        fs::metadata(self.part()).map_or(0, |metadata| metadata.len())
    }

    /// Returns what the incomplete file is, if its rest may be asked for.
    fn described(&self) -> Option<Described> {
        let described: Described = serde_json::from_slice(&fs::read(self.description()).ok()?).ok()?;
        (described.strong_etag().is_some() || described.linked_etag.is_some()).then_some(described)
    }

    fn describe(&self, described: &Described) -> Result<(), PathError> {
        self.forget()?;
        let path = self.description();
        let text = serde_json::to_vec(described).expect("plain values serialize");
        fs::write(&path, text).at("write", &path)
    }

    fn forget(&self) -> Result<(), PathError> {
        [self.part(), self.description()].iter().try_for_each(|path| match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.at("remove", path),
        })
    }

    fn part(&self) -> PathBuf {
        with_suffix(self.to, ".part")
    }

    fn description(&self) -> PathBuf {
        with_suffix(self.to, ".part.json")
    }

    fn failed(&self, error: HttpError) -> TransferError {
        TransferError::http(self.url, error)
    }
}
