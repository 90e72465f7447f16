//! Searches memories, and converts them to hits.

use memod_base::clock::now_ms;
use memod_base::types::{ChunkKind, format_rfc3339};
use memod_database::DatabaseError;
use memod_engine::errors::RpcResult;
use memod_memory::text;
use memod_memory_db::{MemoryRecord, MemoryRows};
use memod_proto::anchor::AnchorState;
use memod_proto::{Hit, MemoryInfo, RpcError};
use memod_search::hits::explain::{explain_score, ranks_by_arm};
use memod_search::hits::snippet::SnippetCutter;
use memod_search::memory_search::{FoundMemories, FoundMemory, MemorySearchRequest, search_memories};

use crate::daemon::memories::rules::protocol_values;
use crate::daemon::request::worktree_memories::WorktreeMemories;

impl WorktreeMemories<'_> {
    /// Returns the memories that match a request best. Blocks. Includes every change that was acknowledged before the call, and
    /// no archived or expired memory.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(in crate::daemon) fn find_memories(self, wanted: &MemorySearchRequest) -> RpcResult<FoundMemories> {
        let found = self.find_memories_once(wanted)?;
        if !found.is_outdated {
            return Ok(found);
        }
        // The model was switched after the query was embedded.
        let mut again = wanted.clone();
        again.set_query_vector(self.thread.load_ready_model().as_deref().map_err(String::as_str));
        self.find_memories_once(&again)
    }

    fn find_memories_once(self, wanted: &MemorySearchRequest) -> RpcResult<FoundMemories> {
        if let Some(Ok(found)) = self.read_rows(|rows, vectors| search_memories(rows, vectors, wanted)) {
            return Ok(found);
        }
        // The database is not open or is damaged: the thread that owns it opens or repairs it.
        let (wanted, finder) = (wanted.clone(), std::sync::Arc::clone(&self.thread.finder));
        let answer = self.send_job(move |store| {
            let _ = store.open_now(now_ms()); // the read below reports why it cannot be opened
            finder.apply_changes(store);
            store
                .read(now_ms(), |rows: &MemoryRows<'_>| {
                    Ok(finder.with_vectors(|vectors| search_memories(rows, vectors, &wanted))?)
                })
                .map_err(RpcError::from)
        })?;
        answer.blocking_recv().map_err(|_| self.thread.thread_error())?
    }

    /// Waits until every living memory has its vector.
    pub(in crate::daemon) async fn embed_all(self) -> RpcResult<()> {
        self.run_job(|store| {
            while store.compute_missing_vectors(now_ms())? {}
            Ok(())
        })
        .await?
        .map_err(|error: DatabaseError| error.into())
    }
}

/// Converts a found memory to a hit of a search in the worktree `root`, after `n_before` other hits.
pub(in crate::daemon) fn build_hit(
    found: &FoundMemory,
    wanted: &MemorySearchRequest,
    snippets: &SnippetCutter<'_>,
    n_before: usize,
    root: &str,
    explains: bool,
) -> Hit {
    let FoundMemory { ranked, record } = found;
    let snippet = snippets.cut_snippet(&record.content, 1, &Default::default(), n_before);
    let anchors = wanted.checked_anchors.get(&record.id).unwrap_or(&record.anchors).clone();
    let signals = &ranked.candidate.signals;
    let n_lines = u32::try_from(record.content.lines().count()).unwrap_or(u32::MAX);
    Hit {
        classes: Vec::new(),
        signature: None,
        signature_line: None,
        signature_end: None,
        copies: None,
        kind: ChunkKind::Memory,
        path: format!("memory:{}", record.id),
        cwd_path: None,
        lines: (1, n_lines.max(1)),
        symbol: None,
        title: record.title.clone(),
        snippet: snippet.lines,
        snippet_line: snippet.line,
        text: snippet.text,
        rank: 0, // set once all hits are known
        score: ranked.score,
        arms: ranks_by_arm(signals),
        id: Some(record.id.clone()),
        view: root.to_owned(),
        blob: blake3::Hash::from_bytes(text::hash_content(&record.content)).to_hex().to_string(),
        trust: protocol_values::determine_trust(record).to_owned(),
        state: AnchorState::from_anchors(&anchors).map(|state| state.as_str().to_owned()),
        commit: None,
        memory: Some(MemoryInfo {
            container: record.container.clone(),
            tags: record.tags.clone(),
            created: format_rfc3339(record.created),
            anchors,
            scope: protocol_values::determine_scope(record),
            repository: record.repository.clone(),
            conflict: protocol_values::conflict_name(record.side).map(str::to_owned),
            superseded_by: ranked.candidate.facts.successors.clone(),
        }),
        explain: explains.then(|| explain_score(signals, ranked.fused, &ranked.factors)),
    }
}

/// Returns whether a memory was written or confirmed here, rather than imported.
pub(in crate::daemon::memories) fn is_own_memory(record: &MemoryRecord) -> bool {
    protocol_values::determine_trust(record) == "own"
}
