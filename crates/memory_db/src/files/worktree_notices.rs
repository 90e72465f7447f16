//! Records which memories were archived because their worktrees are gone, for a notice with each answer.
//!
//! The notice leaves out a memory that is back, because its worktree is back or a verb has restored it.

use memod_database::DatabaseError;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::access::row_access::row_handle;
use crate::settings::meta_rows::MetaRows;

/// The reason in the archive for a memory that no worktree has any more.
pub(crate) const FILE_GONE_REASON: &str = "file";

/// Time for which the notice is shown, ms.
const NOTICE_MS: i64 = 86_400_000;

/// The key in `meta` of the list of removed worktrees.
pub(crate) const GONE_WORKTREES: &str = "gone_worktrees";

row_handle! {
    /// The notice about removed worktrees.
    pub struct WorktreeNotices { meta: MetaRows }
}

/// A worktree that was removed.
#[derive(Serialize, Deserialize)]
struct GoneWorktree {
    /// Time when the removal was noticed, unix ms.
    at_ms: i64,
    /// Path of the worktree, for the notice.
    place: String,
    /// Ids of the memories that only this worktree had.
    ids: Vec<String>,
}

impl WorktreeNotices<'_> {
    /// Records that memories were archived because the worktree at `place` is gone. Answers mention this for a day.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn record_gone_worktree(&self, place: &str, ids: &[String]) -> Result<(), DatabaseError> {
        let mut gone = self.recently_gone_worktrees()?;
        // A memory that an earlier removed worktree also had is listed only once.
        for other in &mut gone {
            other.ids.retain(|id| !ids.contains(id));
        }
        gone.retain(|other| !other.ids.is_empty());
        gone.push(GoneWorktree { at_ms: self.access.now_ms(), place: place.to_owned(), ids: ids.to_vec() });
        self.meta().set_meta(GONE_WORKTREES, &json!(gone).to_string())
    }

    /// Returns the notice about removed worktrees whose memories are still archived; `None` if there are none.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn gone_worktrees_notice(&self) -> Result<Option<String>, DatabaseError> {
        let mut worktrees = Vec::new();
        for GoneWorktree { place, ids, .. } in self.recently_gone_worktrees()? {
            let n_left =
                ids.iter().try_fold(0_u64, |n, id| Ok(n + u64::from(self.is_archived_without_file(id)?)))?;
            if n_left > 0 {
                worktrees.push(format!("{n_left} of {place}"));
            }
        }
        Ok((!worktrees.is_empty()).then(|| {
            format!(
                "memories that only removed worktrees had are in the archive: {}; `memo list --archived` shows them",
                worktrees.join(", ")
            )
        }))
    }

    /// Removes the notice about removed worktrees.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn acknowledge_gone_worktrees(&self) -> Result<(), DatabaseError> {
        self.meta().unset_meta(GONE_WORKTREES)
    }

    /// Returns the worktrees whose removal was recorded in the last day.
    fn recently_gone_worktrees(&self) -> Result<Vec<GoneWorktree>, DatabaseError> {
        let stored = self.meta().read_meta(GONE_WORKTREES)?;
        let mut gone: Vec<GoneWorktree> =
            stored.and_then(|stored| serde_json::from_str(&stored).ok()).unwrap_or_default();
        gone.retain(|worktree| self.access.now_ms() - worktree.at_ms < NOTICE_MS);
        Ok(gone)
    }

    /// Returns whether a memory is in the archive because no worktree has its file any more.
    fn is_archived_without_file(&self, id: &str) -> Result<bool, DatabaseError> {
        self.access.run(|conn| {
            conn.prepare_cached("SELECT 1 FROM memory WHERE id = ?1 AND archived_why = ?2")?
                .exists([id, FILE_GONE_REASON])
        })
    }
}
