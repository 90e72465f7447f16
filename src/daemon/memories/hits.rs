//! Adds memories to the hits of a search.

use memod_base::types::{Kind, rfc3339};
use memod_database::DatabaseError;
use memod_engine::clock::now_ms;
use memod_engine::errors::RpcResult;
use memod_memory::text;
use memod_memory_db::{Record, Rows};
use memod_proto::anchor::State;
use memod_proto::{Hit, MemoryInfo, RpcError};
use memod_search::correction::Vocabulary;
use memod_search::memory_search::{FoundMemories, FoundMemory, MemoryAsk, memories};
use memod_search::snippet::Snippets;
use memod_search::{arms, explain};

use super::keeper::Memories;
use super::show;

impl Memories {
    /// Returns the best memories, and a notice if memories were restored. Blocks. Finds everything acknowledged before, and
    /// nothing that is archived or expired.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(in crate::daemon) fn find(&self, wanted: &MemoryAsk) -> RpcResult<FoundMemories> {
        let found = self.find_once(wanted)?;
        if !found.is_outdated {
            return Ok(found);
        }
        // Another model answers since the query was embedded.
        let mut again = wanted.clone();
        again.embed(self.model().as_deref().map_err(String::as_str));
        self.find_once(&again)
    }

    fn find_once(&self, wanted: &MemoryAsk) -> RpcResult<FoundMemories> {
        if let Some(Ok(found)) = self.finder.read(now_ms(), |rows, vectors| memories(rows, vectors, wanted)) {
            return Ok(found);
        }
        // Not open, or damaged: the thread that owns the memories opens or repairs them.
        let (wanted, finder) = (wanted.clone(), std::sync::Arc::clone(&self.finder));
        let answer = self.send(move |store| {
            let _ = store.open_now(now_ms()); // what is read next says why it cannot be
            finder.follow(store);
            let read = |rows: &Rows<'_>| Ok(finder.vectors(|vectors| memories(rows, vectors, &wanted))?);
            store.read(now_ms(), read).map_err(RpcError::from)
        })?;
        answer.blocking_recv().map_err(|_| self.failed())?
    }

    /// Waits until every living memory has its vector.
    pub(in crate::daemon) async fn complete(&self) -> RpcResult<()> {
        self.ask(|store| {
            while store.embed_some(now_ms())? {}
            Ok(())
        })
        .await?
        .map_err(|error: DatabaseError| error.into())
    }
}

/// The words of the memories; none while no database is open.
impl Vocabulary for Memories {
    fn n_texts_with(&self, term: &str) -> Result<u64, DatabaseError> {
        self.finder.read(now_ms(), |rows, _| rows.n_memories_with(term)).unwrap_or(Ok(0))
    }

    fn each_term(&self, see: &mut dyn FnMut(&str)) -> Result<(), DatabaseError> {
        self.finder.read(now_ms(), |rows, _| rows.each_term(see)).unwrap_or(Ok(()))
    }
}

/// Returns a memory as a hit of a search in the worktree `root`.
pub(in crate::daemon) fn hit(
    found: &FoundMemory,
    wanted: &MemoryAsk,
    (snippets, n_before): (&Snippets<'_>, usize),
    root: &str,
    explains: bool,
) -> Hit {
    let FoundMemory { ranked, record } = found;
    let snippet = snippets.of(&record.content, 1, &Default::default(), n_before);
    let anchors = wanted.judged.get(&record.id).unwrap_or(&record.anchors).clone();
    let signals = &ranked.candidate.signals;
    let n_lines = u32::try_from(record.content.lines().count()).unwrap_or(u32::MAX);
    Hit {
        classes: Vec::new(),
        signature: None,
        signature_line: None,
        copies: None,
        kind: Kind::Memory,
        path: format!("memory:{}", record.id),
        cwd_path: None,
        lines: (1, n_lines.max(1)),
        symbol: None,
        title: record.title.clone(),
        snippet: snippet.lines,
        snippet_line: snippet.line,
        text: snippet.text,
        rank: 0, // known once all hits are
        score: ranked.score,
        arms: arms(signals),
        id: Some(record.id.clone()),
        view: root.to_owned(),
        blob: blake3::Hash::from_bytes(text::hash(&record.content)).to_hex().to_string(),
        trust: show::trust(record).to_owned(),
        state: State::of(&anchors).map(|state| state.as_str().to_owned()),
        commit: None,
        memory: Some(MemoryInfo {
            container: record.container.clone(),
            tags: record.tags.clone(),
            created: rfc3339(record.created),
            anchors,
            scope: show::scope(record),
            repository: record.repository.clone(),
            conflict: show::conflict(record.side).map(str::to_owned),
            superseded_by: ranked.candidate.facts.successors.clone(),
        }),
        explain: explains.then(|| explain(signals, ranked.fused, &ranked.factors)),
    }
}

/// Returns whether a memory was written here, and not imported.
pub(super) fn is_own(record: &Record) -> bool {
    show::trust(record) == "own"
}
