//! Takes over with whom a memory of another database is shared.

use rusqlite::OptionalExtension;

use super::shared_with::Sharing;
use super::{MemoryDb, MemoryEvent, Rows, StoreError};

impl MemoryDb {
    /// Returns with whom a memory is shared; `None` if it never was.
    ///
    /// # Errors
    /// When the database cannot be read, or is of an older schema.
    pub(super) fn sharing(&self, id: &str) -> Result<Option<Sharing>, StoreError> {
        let sql = "SELECT shared FROM memory WHERE id = ?1";
        let number: Option<i64> =
            self.run(|conn| conn.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional())?;
        let all = [Sharing::Repo, Sharing::Never, Sharing::Team];
        Ok(all.into_iter().find(|sharing| Some(*sharing as i64) == number))
    }
}

impl Rows<'_> {
    /// Makes a memory that is here shared as it is in another database, if that knows more changes of this. One that is a file
    /// there is so here once the file is seen.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub(super) fn unite_sharing(
        &self,
        id: &str,
        sharing: Option<Sharing>,
        history: &[MemoryEvent],
    ) -> Result<(), StoreError> {
        let (Some(known), Some(sharing)) = (self.main(id)?, sharing) else { return Ok(()) };
        if n_changes(history) <= n_changes(&self.history(id)?) {
            return Ok(());
        }
        match sharing {
            Sharing::Never | Sharing::Repo if known.is_team => self.leave_team(id)?,
            Sharing::Never | Sharing::Team if known.is_shared => self.keep_for_others(id)?,
            Sharing::Repo => return Ok(()),
            _ => {}
        }
        self.set_shared(id, sharing)
    }
}

/// Returns how often a memory was shared or taken back.
fn n_changes(history: &[MemoryEvent]) -> usize {
    history.iter().filter(|event| matches!(&*event.action, "share" | "unshare")).count()
}
