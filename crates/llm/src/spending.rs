//! Counts the tokens that all daemons of a user spend each day, in a file.
//!
//! Tokens are reserved before a request is sent, so simultaneous requests cannot exceed the limit together. The reservation of a
//! failed request stays if the server may have charged for the request.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memod_base::paths::{self, IoContext, PathError};
use serde::{Deserialize, Serialize};

use super::RequestPurpose;

/// Most days in the file.
const MOST_DAYS: usize = 31;
/// Longest wait for another daemon that holds the lock of the file.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(2);

/// The file with the number of tokens that were spent each day.
#[derive(Clone, Debug)]
pub struct SpendingFile {
    file: PathBuf,
}

/// The spending of one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DaySpending {
    /// Tokens that were spent or are reserved.
    pub tokens: u64,
    /// Requests, without those that cost nothing.
    pub requests: u64,
    /// Tokens by the purpose of the request.
    pub by: BTreeMap<String, u64>,
}

/// The content of the file. The keys are days such as `2026-11-25`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct SpendingRecord {
    days: BTreeMap<String, DaySpending>,
}

/// Tokens that are reserved for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenReservation {
    day: String,
    purpose: RequestPurpose,
    tokens: u64,
}

/// Why no tokens may be spent.
#[derive(Debug, thiserror::Error)]
pub enum SpendingError {
    /// The request would exceed the limit of the day.
    #[error(
        "{spent} of {limit} tokens are spent today, and the request may need {needed}; raise llm.tokens_a_day, or wait until tomorrow"
    )]
    Exhausted {
        /// Tokens that were spent or reserved today.
        spent: u64,
        /// Limit of tokens a day.
        limit: u64,
        /// Tokens that the request needs.
        needed: u64,
    },
    /// The file is damaged.
    #[error("{}: {why}; without the count of tokens, no request is sent; remove the file to count from zero", .file.display())]
    Damaged {
        /// Path of the file.
        file: PathBuf,
        /// Why the file cannot be parsed.
        why: String,
    },
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] PathError),
}

impl SpendingFile {
    /// Uses the file `tokens.json` in the directory `dir`, without reading the file.
    pub fn new(dir: &Path) -> Self {
        Self { file: dir.join("tokens.json") }
    }

    /// Returns the path of the file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns what was spent on a day.
    ///
    /// # Errors
    /// When the file cannot be read or parsed.
    pub fn read_day(&self, day: &str) -> Result<DaySpending, SpendingError> {
        Ok(self.read_file()?.days.remove(day).unwrap_or_default())
    }

    /// Reserves tokens for a request.
    ///
    /// # Errors
    /// When the tokens would exceed the limit of the day, or the file cannot be written. The request must not be sent then.
    pub fn reserve(
        &self,
        day: &str,
        purpose: RequestPurpose,
        tokens: u64,
        limit: u64,
    ) -> Result<TokenReservation, SpendingError> {
        self.update_file(|record| {
            let today = record.days.entry(day.to_owned()).or_default();
            if today.tokens.saturating_add(tokens) > limit {
                let spent = today.tokens;
                return Err(SpendingError::Exhausted { spent, limit, needed: tokens });
            }
            today.tokens += tokens;
            today.requests += 1;
            *today.by.entry(purpose.as_str().to_owned()).or_default() += tokens;
            while record.days.len() > MOST_DAYS {
                record.days.pop_first();
            }
            Ok(TokenReservation { day: day.to_owned(), purpose, tokens })
        })
    }

    /// Replaces a reservation by the actual cost of the request, in tokens.
    ///
    /// # Errors
    /// When the file cannot be written. The reservation stays then.
    pub fn record_cost(&self, reserved: &TokenReservation, cost: u64) -> Result<(), SpendingError> {
        self.update_file(|record| {
            if let Some(day) = record.days.get_mut(&reserved.day) {
                day.tokens = replace_reserved_tokens(day.tokens, reserved.tokens, cost);
                let by = day.by.entry(reserved.purpose.as_str().to_owned()).or_default();
                *by = replace_reserved_tokens(*by, reserved.tokens, cost);
                day.requests = day.requests.saturating_sub(u64::from(cost == 0));
            }
            Ok(())
        })
    }

    /// Reads the file, changes its content with `change`, and writes the file, all under a lock.
    fn update_file<T>(
        &self,
        change: impl FnOnce(&mut SpendingRecord) -> Result<T, SpendingError>,
    ) -> Result<T, SpendingError> {
        let dir = self.file.parent().unwrap_or(Path::new("."));
        paths::create_private_dir(dir)?;
        let lock = paths::open_lock_file(&self.file.with_extension("lock"))?;
        let _locked = paths::lock_with_timeout(lock, MAX_LOCK_WAIT).at("lock", &self.file)?;
        let mut record = self.read_file()?;
        let value = change(&mut record)?;
        let json = serde_json::to_vec(&record).map_err(io::Error::from).at("write", &self.file)?;
        paths::replace_private(&self.file, &json)?;
        Ok(value)
    }

    /// Reads the file; returns empty content if the file does not exist.
    fn read_file(&self) -> Result<SpendingRecord, SpendingError> {
        let bytes = match paths::read_file(&self.file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(SpendingRecord::default()),
            read => read.at("read", &self.file)?,
        };
        serde_json::from_slice(&bytes)
            .map_err(|error| SpendingError::Damaged { file: self.file.clone(), why: error.to_string() })
    }
}

/// Returns a count of tokens in which the cost of a request replaces the reserved tokens.
fn replace_reserved_tokens(counted: u64, reserved: u64, cost: u64) -> u64 {
    counted.saturating_sub(reserved).saturating_add(cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: &str = "2026-11-25";

    fn spent(spending: &SpendingFile) -> (u64, u64) {
        let day = spending.read_day(DAY).unwrap();
        assert_eq!(day.by.values().sum::<u64>(), day.tokens);
        (day.tokens, day.requests)
    }

    #[test]
    fn the_limit_holds_whoever_asks_at_the_same_time() {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("llm");
        let reserved = std::thread::scope(|scope| {
            let ask = || {
                let spending = SpendingFile::new(&dir); // as another daemon has it
                (0..5).filter(|_| spending.reserve(DAY, RequestPurpose::Expand, 10, 300).is_ok()).count()
            };
            let threads: Vec<_> = (0..20).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
        });
        assert_eq!(reserved, 30);
        assert_eq!(spent(&SpendingFile::new(&dir)), (300, 30));
    }

    #[test]
    fn what_was_set_aside_is_settled() {
        let temp = tempfile::tempdir().unwrap();
        let spending = SpendingFile::new(temp.path());
        let reserve = |tokens| spending.reserve(DAY, RequestPurpose::Suggest, tokens, 100);
        let first = reserve(60).unwrap();
        let error = reserve(60).unwrap_err().to_string();
        assert!(
            error.starts_with("60 of 100 tokens are spent today, and the request may need 60; raise"),
            "{error}"
        );
        spending.record_cost(&first, 7).unwrap();
        assert_eq!(spent(&spending), (7, 1));
        let second = reserve(60).unwrap();
        spending.record_cost(&second, 0).unwrap();
        assert_eq!(spent(&spending), (7, 1));
        spending.record_cost(&second, u64::MAX).unwrap();
        assert!(reserve(1).is_err());
        assert_eq!(spending.read_day("2026-11-26").unwrap(), DaySpending::default());
        assert!(spending.reserve("2026-11-26", RequestPurpose::Expand, 100, 100).is_ok());
    }

    #[test]
    fn a_damaged_file_is_not_taken_for_an_empty_one() {
        let temp = tempfile::tempdir().unwrap();
        let spending = SpendingFile::new(temp.path());
        std::fs::write(spending.file(), "{").unwrap();
        let error = spending.reserve(DAY, RequestPurpose::Expand, 1, 100).unwrap_err().to_string();
        assert!(error.contains("without the count of tokens, no request is sent"), "{error}");
    }
}
