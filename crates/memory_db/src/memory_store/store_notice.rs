//! Stores the notice about an event of memory.db, such as a recovery, which is shown for a day or until a person acknowledges it.

use memod_database::DatabaseError;

use crate::database::open_database::MemoryDb;
use crate::files::worktree_notices::GONE_WORKTREES;
use crate::memory_rows::MemoryRows;

/// Time for which a notice is shown, ms.
const NOTICE_MS: i64 = 86_400_000;

/// The key in `meta` of the notice.
const NOTICE: &str = "notice";

/// The key in `meta` of the time of the last acknowledged notice.
pub(super) const ACKNOWLEDGED: &str = "notice_acknowledged";

/// A notice about an event of memory.db.
#[derive(Clone, Debug)]
pub(super) struct StoreNotice {
    /// Time of the event, unix ms.
    pub(super) at_ms: i64,
    /// One line that is shown with every answer.
    pub(super) text: String,
    /// One line with the paths of all files, for `memo doctor`.
    pub(super) details: String,
}

impl StoreNotice {
    pub(super) fn new(at_ms: i64, text: &str, details: &str) -> Self {
        let [text, details] = [text, details].map(|line| line.replace('\n', " "));
        Self { at_ms, text, details }
    }

    /// Returns a notice about an event, which begins with the notice `old` if there is one.
    pub(super) fn with_added_event(old: Option<&Self>, at_ms: i64, message: &str) -> Self {
        match old {
            Some(Self { text, details, .. }) => {
                Self::new(at_ms, &format!("{text}; {message}"), &format!("{details}; {message}"))
            }
            None => Self::new(at_ms, message, message),
        }
    }

    /// Returns whether the event happened in the last day.
    pub(super) fn is_recent(&self, now_ms: i64) -> bool {
        now_ms - self.at_ms < NOTICE_MS
    }

    /// Returns the notice stored in a database, and the time of the last acknowledged notice.
    pub(super) fn find_stored(rows: &MemoryRows<'_>) -> Result<(Option<Self>, Option<i64>), DatabaseError> {
        let acknowledged_ms = rows.meta().read_meta(ACKNOWLEDGED)?.and_then(|at_ms| at_ms.parse().ok());
        Ok((rows.meta().read_meta(NOTICE)?.as_deref().and_then(Self::parse_stored), acknowledged_ms))
    }

    /// Parses a notice that [`Self::store_in`] has written; an earlier version wrote only one line.
    fn parse_stored(stored: &str) -> Option<Self> {
        let (at, lines) = stored.split_once(' ')?;
        let (text, details) = lines.split_once('\n').unwrap_or((lines, lines));
        Some(Self::new(at.parse().ok()?, text, details))
    }

    /// Copies the notices of the database `former` into the database that is about to replace it, because notices are about the
    /// file, not about its memories.
    pub(super) fn copy_notices(rows: &MemoryRows<'_>, former: &MemoryDb) -> Result<(), DatabaseError> {
        for key in [NOTICE, ACKNOWLEDGED, GONE_WORKTREES] {
            match former.read(rows.now_ms(), |rows| rows.meta().read_meta(key))? {
                Some(value) => rows.meta().set_meta(key, &value)?,
                None => rows.meta().unset_meta(key)?,
            }
        }
        Ok(())
    }

    /// Stores the notice in the database.
    pub(super) fn store_in(&self, rows: &MemoryRows<'_>) -> Result<(), DatabaseError> {
        let Self { at_ms, text, details } = self;
        rows.meta().set_meta(NOTICE, &format!("{at_ms} {text}\n{details}"))
    }
}
