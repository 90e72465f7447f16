//! Gives access to the memories as one worktree has them.

use std::time::Instant;

use memod_base::clock::now_ms;
use memod_base::types::MemoryRow;
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_memory_db::{IntegrityReport, MemoryRows, MemoryStore};
use memod_proto::{Check, RpcError};
use memod_search::correction::Vocabulary;
use memod_vectors::vector_index::MutableVectorIndex;
use tokio::sync::oneshot;

use crate::daemon::shared::memory_thread::MemoryThread;

/// Access to the memories of a worktree, or of the whole repository.
#[derive(Clone, Copy)]
pub(in crate::daemon) struct WorktreeMemories<'a> {
    pub(in crate::daemon) thread: &'a MemoryThread,
    /// Number of the worktree, or one of [`memory_scope`](crate::daemon::shared::memory_scope).
    pub(in crate::daemon) worktree: i64,
}

impl WorktreeMemories<'_> {
    /// Runs a job on the thread that owns the memories, and waits for the result.
    pub(in crate::daemon) async fn run_job<T: Send + 'static>(
        self,
        run: impl FnOnce(&mut MemoryStore) -> T + Send + 'static,
    ) -> RpcResult<T> {
        self.send_job(run)?.await.map_err(|_| self.thread.thread_error())
    }

    /// Sends a job to the thread that owns the memories.
    pub(in crate::daemon) fn send_job<T: Send + 'static>(
        self,
        run: impl FnOnce(&mut MemoryStore) -> T + Send + 'static,
    ) -> RpcResult<oneshot::Receiver<T>> {
        self.thread.send_job_in(self.worktree, run)
    }

    /// Reads rows and vectors from another connection, without waiting for jobs; `None` if no database is open.
    pub(in crate::daemon) fn read_rows<T>(
        self,
        read: impl FnOnce(&MemoryRows<'_>, &MutableVectorIndex<MemoryRow>) -> Result<T, DatabaseError>,
    ) -> Option<Result<T, DatabaseError>> {
        self.thread.finder.read_rows(now_ms(), self.worktree, read)
    }

    /// Returns the number of files in the directory of memories that are not listed one by one, because there are too many.
    pub(in crate::daemon) fn count_unlisted_files(self) -> usize {
        self.thread.files.count_unlisted_files(self.worktree)
    }

    /// Returns the number of living memories, and notices for the user.
    pub(in crate::daemon) async fn read_count_and_notices(self) -> (u64, Vec<String>) {
        let numbers = self.run_job(|store| {
            let now_ms = now_ms();
            let read = store.read::<_, RpcError>(now_ms, |rows| Ok(rows.tallies().count_memories()?.living));
            (read.map_err(RpcError::from), store.user_notice(now_ms))
        });
        match numbers.await {
            Ok((Ok(living), notice)) => {
                (living, notice.into_iter().chain(self.thread.panics.panic_notice(Instant::now())).collect())
            }
            Ok((Err(error), notice)) => {
                (0, notice.into_iter().chain([format!("memories: {}", error.message)]).collect())
            }
            Err(error) => (0, vec![format!("memories: {}", error.message)]),
        }
    }

    /// Checks the database; returns the result, and a notice about a repair that nobody has acknowledged.
    pub(in crate::daemon) async fn check_database(self) -> Vec<Check> {
        let checked = self.run_job(|store| {
            let now_ms = now_ms();
            let result = store.check_integrity(now_ms).map_err(|error| error.to_string());
            (result, store.describe_problems(), store.describe_databases(), store.event_details(now_ms))
        });
        let (result, problems, places, event) =
            checked.await.unwrap_or_else(|error| (Err(error.message), None, None, None));
        let panic = self.thread.panics.panic_notice(Instant::now());
        let has_notice = problems.is_some() || panic.is_some();
        let ok = result.as_ref().is_ok_and(|checked| checked.faults.is_empty()) && !has_notice;
        let detail = result.map_or_else(|error| error, |checked| render_check(&checked));
        let detail = [Some(detail), places.map(|places| format!("kept in {places}")), problems, panic];
        let detail = detail.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let check = Check { name: "memory.db".to_owned(), ok, detail, hint: None };
        [check].into_iter().chain(event.map(|event| build_repair_check("memory.db", event))).collect()
    }

    /// Acknowledges a repair of the database, which ends its notice, and returns its description.
    pub(in crate::daemon) async fn acknowledge_repair(self) -> RpcResult<Option<String>> {
        Ok(self.run_job(|store| store.acknowledge_event(now_ms())).await??)
    }
}

/// The words of the memories; no words while no database is open.
impl Vocabulary for WorktreeMemories<'_> {
    fn count_texts_with(&self, term: &str) -> Result<u64, DatabaseError> {
        self.read_rows(|rows, _| rows.words().count_memories_with_term(term)).unwrap_or(Ok(0))
    }

    fn each_term(&self, see: &mut dyn FnMut(&str)) -> Result<(), DatabaseError> {
        self.read_rows(|rows, _| rows.words().visit_terms(see)).unwrap_or(Ok(()))
    }
}

/// Returns the notice about a repair of a database that nobody has acknowledged.
pub(in crate::daemon) fn build_repair_check(database: &str, event: String) -> Check {
    // Of a damaged index nothing is kept, because it is built again.
    let hint = match database {
        "index.db" => "nothing is lost: the index is built again; `memo doctor --ack` ends this notice",
        _ => "if no memory is missing, you may delete the old file; `memo doctor --ack` ends this notice",
    };
    Check { name: format!("{database} notice"), ok: false, detail: event, hint: Some(hint.to_owned()) }
}

/// Returns the result of a check as a text.
fn render_check(checked: &IntegrityReport) -> String {
    let IntegrityReport { faults, living, vectorless } = checked;
    match faults.as_slice() {
        [] => format!(
            "integrity_check: ok; links, anchors and full text hold; {} of {living} have a vector",
            living - vectorless
        ),
        faults => faults.join("; "),
    }
}
