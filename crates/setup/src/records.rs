//! Records what was inserted into each settings file, so that exactly this can be removed.
//!
//! Each settings file has one record file, in the user's state directory. If a record is lost, our entries are still found in the
//! text, but some white space may stay.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use memod_base::paths::{IoContext, PathError, create_private_dir};
use serde::{Deserialize, Serialize};

use super::target_file::{remove_empty_dirs, write_temp_file};
use crate::json::json_insert::InsertedPiece;

/// Extension of a record file.
const RECORD_EXTENSION: &str = "json";
/// Extension of a record file that is being written.
const PART_EXTENSION: &str = "part";

/// The record of the changes to one file.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct FileRecord {
    /// The settings file.
    pub(super) path: PathBuf,
    /// The ids of the agents for which the file was changed.
    pub(super) agents: Vec<String>,
    /// Whether we created the file.
    pub(super) created: bool,
    /// The directories that we created for the file.
    pub(super) dirs: Vec<PathBuf>,
    /// The inserted pieces, in the order of insertion.
    pub(super) pieces: Vec<InsertedPiece>,
}

/// All records of a user.
#[derive(Debug)]
pub(super) struct Records {
    dir: PathBuf,
    by_path: BTreeMap<PathBuf, FileRecord>,
}

impl Records {
    /// Reads all records in a directory. A record that cannot be read is ignored, as if it were lost.
    pub(super) fn read(dir: &Path) -> Self {
        let files = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
        let files =
            files.filter(|file| file.extension().is_some_and(|extension| extension == RECORD_EXTENSION));
        let records =
            files.filter_map(|file| serde_json::from_slice::<FileRecord>(&fs::read(file).ok()?).ok());
        Self { dir: dir.to_owned(), by_path: records.map(|record| (record.path.clone(), record)).collect() }
    }

    /// Returns the record of a settings file.
    pub(super) fn get(&self, path: &Path) -> Option<&FileRecord> {
        self.by_path.get(path)
    }

    /// Returns the directories around a file that `memo setup` has created, for any file; sorted.
    pub(super) fn created_dirs(&self, path: &Path) -> Vec<PathBuf> {
        let dirs = self.by_path.values().flat_map(|record| &record.dirs);
        let mut around: Vec<_> = dirs.filter(|dir| path.starts_with(dir)).cloned().collect();
        around.sort();
        around.dedup();
        around
    }

    /// Writes a record, or replaces the one of the same file.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub(super) fn write_record(&mut self, record: FileRecord) -> Result<(), PathError> {
        create_private_dir(&self.dir)?;
        let (file, part) = (
            self.record_path(&record.path, RECORD_EXTENSION),
            self.record_path(&record.path, PART_EXTENSION),
        );
        let text = serde_json::to_vec(&record).expect("a record has only strings, numbers and lists");
        let written = write_temp_file(&part, &text, None).and_then(|()| fs::rename(&part, &file));
        written.inspect_err(|_| drop(fs::remove_file(&part))).at("write", &file)?;
        self.by_path.insert(record.path.clone(), record);
        Ok(())
    }

    /// Removes the record of a file from which our content was removed, and a partly written record that an interrupted process
    /// has left.
    pub(super) fn remove_record(&mut self, path: &Path) {
        self.by_path.remove(path);
        for extension in [RECORD_EXTENSION, PART_EXTENSION] {
            let _ = fs::remove_file(self.record_path(path, extension)); // a record of a file without our content does no harm
        }
        if self.by_path.is_empty() {
            remove_empty_dirs(std::slice::from_ref(&self.dir));
        }
    }

    fn record_path(&self, path: &Path, extension: &str) -> PathBuf {
        let hash = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
        self.dir.join(format!("{}.{extension}", &hash[..16]))
    }
}
