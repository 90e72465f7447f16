//! Describes events and lasting problems of memory.db for the user.

use memod_database::DatabaseError;

use crate::memory_rows::MemoryRows;
use crate::memory_store::store_notice::{ACKNOWLEDGED, StoreNotice};
use crate::memory_store::{JobError, MemoryStore};

impl MemoryStore {
    /// Returns the notice for the user: events of the last day unless they are acknowledged, and problems that persist.
    pub fn user_notice(&self, now_ms: i64) -> Option<String> {
        let texts = self.recent_notice(now_ms).map(|notice| notice.text.clone());
        let texts: Vec<String> = texts.into_iter().chain(self.find_gone_worktrees_notice(now_ms)).collect();
        let happened = (!texts.is_empty()).then(|| {
            format!("{}; `memo doctor` shows details, `memo doctor --ack` ends this notice", texts.join("; "))
        });
        let all_texts = happened.into_iter().chain(self.list_merge_problems().map(str::to_owned));
        Some(all_texts.collect::<Vec<_>>().join("; ")).filter(|all_texts| !all_texts.is_empty())
    }

    /// Returns the recent events with all paths, unless they are acknowledged.
    pub fn event_details(&self, now_ms: i64) -> Option<String> {
        let details = self.recent_notice(now_ms).map(|notice| notice.details.clone());
        let texts: Vec<String> = details.into_iter().chain(self.find_gone_worktrees_notice(now_ms)).collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    /// Returns the problems with other state dirs that persist; `None` if there are none.
    pub fn describe_problems(&self) -> Option<String> {
        Some(self.list_merge_problems().collect::<Vec<_>>().join("; ")).filter(|text| !text.is_empty())
    }

    /// Ends the notice about recent events, and returns the events; `None` if there are none.
    ///
    /// # Errors
    /// When the database cannot be written; the notice is then still shown.
    pub fn acknowledge_event(&mut self, now_ms: i64) -> Result<Option<String>, DatabaseError> {
        self.open_now(now_ms)?; // opening may cause an event
        let Some(event) = self.event_details(now_ms) else { return Ok(None) };
        let at_ms = self.recent_notice(now_ms).map(|notice| notice.at_ms);
        let written = self.run_with_recovery(now_ms, |db| {
            Ok(db.write(now_ms, |rows| {
                rows.worktree_notices().acknowledge_gone_worktrees()?;
                at_ms.map_or(Ok(()), |at_ms| rows.meta().set_meta(ACKNOWLEDGED, &at_ms.to_string()))
            })?)
        });
        written.map_err(|stopped| match stopped {
            JobError::Database(error) | JobError::Refused(error) => error,
        })?;
        self.acknowledged_ms = at_ms.or(self.acknowledged_ms);
        Ok(Some(event))
    }

    /// Returns the notice about removed worktrees, if there is one.
    pub(super) fn find_gone_worktrees_notice(&self, now_ms: i64) -> Option<String> {
        let (db, _) = self.open_database.as_ref()?;
        db.read(now_ms, |rows: &MemoryRows<'_>| rows.worktree_notices().gone_worktrees_notice())
            .ok()
            .flatten()
    }

    /// Returns the notice about the last event, if the event was in the last day and is not acknowledged.
    pub(super) fn recent_notice(&self, now_ms: i64) -> Option<&StoreNotice> {
        let is_told =
            |notice: &&StoreNotice| notice.is_recent(now_ms) && self.acknowledged_ms != Some(notice.at_ms);
        self.notice.as_ref().filter(is_told)
    }
}
