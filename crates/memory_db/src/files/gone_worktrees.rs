//! Records which memories were archived because their worktrees are gone, for a notice with each answer.
//!
//! A memory is left out of the notice once it is back, with its worktree or by a verb.

use memod_database::DatabaseError;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::Rows;
use super::GONE;

/// Time for which the notice is shown, ms.
const TOLD_MS: i64 = 86_400_000;
/// Key of the record in `meta`.
pub(crate) const KEY: &str = "gone_worktrees";

/// A worktree that is gone.
#[derive(Serialize, Deserialize)]
struct GoneWorktree {
    at_ms: i64,
    place: String,
    /// Memories that only it had.
    ids: Vec<String>,
}

impl Rows<'_> {
    /// Records that memories are in the archive because their worktree is gone; answers say so for a day.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_gone_worktree(&self, place: &str, ids: &[String]) -> Result<(), DatabaseError> {
        let mut gone = self.told_worktrees()?;
        // One that went before, as this or another worktree, is told once.
        for other in &mut gone {
            other.ids.retain(|id| !ids.contains(id));
        }
        gone.retain(|other| !other.ids.is_empty());
        gone.push(GoneWorktree { at_ms: self.now_ms(), place: place.to_owned(), ids: ids.to_vec() });
        self.set_meta(KEY, &json!(gone).to_string())
    }

    /// Returns the notice on worktrees that are gone, if there is one.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn gone_worktrees_notice(&self) -> Result<Option<String>, DatabaseError> {
        let mut told = Vec::new();
        for GoneWorktree { place, ids, .. } in self.told_worktrees()? {
            let n_left = ids.iter().try_fold(0_u64, |n, id| Ok(n + u64::from(self.is_left_by_file(id)?)))?;
            if n_left > 0 {
                told.push(format!("{n_left} of {place}"));
            }
        }
        Ok((!told.is_empty()).then(|| {
            format!(
                "memories that only worktrees had which are gone are in the archive: {}; `memo list --archived` shows them",
                told.join(", ")
            )
        }))
    }

    /// Removes the notice on worktrees that are gone.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(crate) fn acknowledge_gone_worktrees(&self) -> Result<(), DatabaseError> {
        self.unset_meta(KEY)
    }

    /// Returns the worktrees that went in the last day.
    fn told_worktrees(&self) -> Result<Vec<GoneWorktree>, DatabaseError> {
        let kept = self.meta(KEY)?;
        let mut gone: Vec<GoneWorktree> =
            kept.and_then(|kept| serde_json::from_str(&kept).ok()).unwrap_or_default();
        gone.retain(|worktree| self.now_ms() - worktree.at_ms < TOLD_MS);
        Ok(gone)
    }

    /// Returns whether a memory is in the archive because no worktree has it.
    fn is_left_by_file(&self, id: &str) -> Result<bool, DatabaseError> {
        self.run(|conn| {
            conn.prepare_cached("SELECT 1 FROM memory WHERE id = ?1 AND archived_why = ?2")?
                .exists([id, GONE])
        })
    }
}
