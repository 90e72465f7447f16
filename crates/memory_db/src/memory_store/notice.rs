//! Says what happened to memory.db: for a day, or until a person acknowledges it.

use memod_database::DatabaseError;

use super::super::MemoryDb;
use super::super::files::GONE_WORKTREES;
use super::super::rows::Rows;

/// Time for which it is said.
const NOTICE_MS: i64 = 86_400_000;
/// Its name in `meta`.
const NOTICE: &str = "notice";
/// The name in `meta` of the time of the notice that was acknowledged.
pub(super) const ACKNOWLEDGED: &str = "notice_acknowledged";

/// What happened.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    pub(super) at_ms: i64,
    /// One line.
    pub(super) text: String,
    /// One line with every file that is concerned.
    pub(super) details: String,
}

impl Notice {
    pub(super) fn new(at_ms: i64, text: &str, details: &str) -> Self {
        let [text, details] = [text, details].map(|line| line.replace('\n', " "));
        Self { at_ms, text, details }
    }

    /// Returns a notice that says something more than one that is still said.
    pub(super) fn after(old: Option<&Self>, at_ms: i64, said: &str) -> Self {
        match old {
            Some(Self { text, details, .. }) => {
                Self::new(at_ms, &format!("{text}; {said}"), &format!("{details}; {said}"))
            }
            None => Self::new(at_ms, said, said),
        }
    }

    /// Returns whether it is of the last day.
    pub(super) fn is_recent(&self, now_ms: i64) -> bool {
        now_ms - self.at_ms < NOTICE_MS
    }

    /// Returns the notice that a database holds, and the time of the one that was acknowledged.
    pub(super) fn find(rows: &Rows<'_>) -> Result<(Option<Self>, Option<i64>), DatabaseError> {
        let acknowledged_ms = rows.meta(ACKNOWLEDGED)?.and_then(|at_ms| at_ms.parse().ok());
        Ok((rows.meta(NOTICE)?.as_deref().and_then(Self::read), acknowledged_ms))
    }

    /// Reads what [`Self::keep`] has written; an earlier version wrote one line.
    fn read(kept: &str) -> Option<Self> {
        let (at, lines) = kept.split_once(' ')?;
        let (text, details) = lines.split_once('\n').unwrap_or((lines, lines));
        Some(Self::new(at.parse().ok()?, text, details))
    }

    /// Has a database that is going to replace another one say what that says: what happened is of the file, and not of the memories in it.
    pub(super) fn replace(rows: &Rows<'_>, by: &MemoryDb) -> Result<(), DatabaseError> {
        for key in [NOTICE, ACKNOWLEDGED, GONE_WORKTREES] {
            match by.read(rows.now_ms(), |rows| rows.meta(key))? {
                Some(value) => rows.set_meta(key, &value)?,
                None => rows.unset_meta(key)?,
            }
        }
        Ok(())
    }

    /// Stores it in the database that it is about.
    pub(super) fn keep(&self, rows: &Rows<'_>) -> Result<(), DatabaseError> {
        let Self { at_ms, text, details } = self;
        rows.set_meta(NOTICE, &format!("{at_ms} {text}\n{details}"))
    }
}
