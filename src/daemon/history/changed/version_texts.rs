//! Reads the old and the new texts of changed files.

use std::cell::OnceCell;

use memod_base::paths::PathError;
use memod_base::types::SourceKey;
use memod_engine::freshness::Freshness;
use memod_git::ObjectId;
use memod_scan::{Content, FileSnapshot, ReadError};
use memod_text::decode_text;

use crate::daemon::request::commit_history::CommitHistory;
use crate::daemon::request::sparse_paths::SparsePaths;

/// Files larger than this are not compared line by line, bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Reads the old and the new contents of a comparison.
pub(super) struct VersionTextReader<'a> {
    pub(super) at: &'a Freshness,
    pub(super) history: &'a CommitHistory,
    pub(super) max_file_bytes: u64,
    /// Whether two commits are compared, so that the new contents are not read from the disk.
    compares_commits: bool,
    /// The files outside of a sparse checkout, once they are needed.
    sparse_paths: OnceCell<SparsePaths>,
    /// The first transient error.
    first_error: OnceCell<String>,
}

impl<'a> VersionTextReader<'a> {
    pub(super) fn new(
        at: &'a Freshness,
        history: &'a CommitHistory,
        max_file_bytes: u64,
        compares_commits: bool,
    ) -> Self {
        Self {
            at,
            history,
            max_file_bytes,
            compares_commits,
            sparse_paths: OnceCell::new(),
            first_error: OnceCell::new(),
        }
    }

    /// Returns the new text of a file: from the disk, if the content there still has this hash, or from git, if the newer side is a
    /// commit or a sparse checkout leaves out the file.
    pub(super) fn new_text(&self, path: &str, hash: Option<[u8; 32]>, id: ObjectId) -> Option<String> {
        if self.compares_commits {
            return self.read_object_text(id);
        }
        let Some(hash) = hash else {
            let sparse_paths = self.sparse_paths.get_or_init(|| SparsePaths::read(&self.at.layout));
            return sparse_paths.leaves_out(path).then(|| self.read_object_text(id)).flatten();
        };
        let key = SourceKey::new(path);
        match self.at.disk.read(&self.at.layout.root, &key, self.max_file_bytes) {
            Ok(FileSnapshot { content, hash: found, .. }) if found == hash => match content {
                Content::Text(text) => Some(text),
                Content::Refused(_) => None,
            },
            Err(ReadError::Transient(error)) => self.record_error(Err(error)),
            Err(ReadError::Unreadable(_)) => None,
            // The answer leaves out the definitions of the file, because those of its newest content are unknown.
            Ok(_) | Err(ReadError::Gone(_) | ReadError::NotRegular(_) | ReadError::Unsettled(_)) => {
                let _ = self.first_error.set(format!("{path} changed while the answer was made"));
                None
            }
        }
    }

    /// Returns the text of a git object; `None` if it cannot be read, is too large, or is no text.
    pub(super) fn read_object_text(&self, id: ObjectId) -> Option<String> {
        let read = self.history.objects.read_blob_at_most(id, MOST_BYTES);
        let bytes = read.inspect_err(|error| {
            if error.is_unreadable() {
                let _ = self.first_error.set(error.to_string()); // the first is enough
            }
        });
        decode_text(bytes.ok().flatten()?)
    }

    /// Returns the value of a successful read; `None` after a failed one, whose error is recorded.
    pub(super) fn record_error<T>(&self, read: Result<T, PathError>) -> Option<T> {
        read.inspect_err(|error| drop(self.first_error.set(error.to_string()))).ok()
    }

    /// Returns the first recorded error.
    pub(super) fn first_error(&self) -> Option<&String> {
        self.first_error.get()
    }
}
