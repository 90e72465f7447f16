//! Adds memories to the hits of a search.

use super::keeper::Memories;
use super::rules::traits;
use crate::daemon::clock::{local, now_ms};
use crate::daemon::error::{RpcResult, bad_params};
use crate::memory::{Refused, fields, text, time};
use crate::proto::anchor::State;
use crate::proto::memory::Traits;
use crate::proto::{Hit, MemoryInfo, RpcError, SearchParams};
use crate::search::memory_search::{FoundMemories, FoundMemory, MemoryAsk, memories};
use crate::search::query::parse;
use crate::search::{arms, explain, snippet};
use crate::store::{MemoryFilter, Rows, StoreError};
use crate::types::{Kind, rfc3339};

/// Returns the memory query of a search; `None` if the search leaves memories out.
///
/// # Errors
/// When a filter is invalid.
pub(in crate::daemon) fn wanted(params: &SearchParams, limit: usize) -> RpcResult<Option<MemoryAsk>> {
    let bad = |refused: Refused| bad_params(refused.to_string());
    let now = local(now_ms());
    let moment = |field, typed: &Option<String>| {
        typed.as_deref().map(|typed| time::past(field, typed, &now)).transpose().map_err(bad)
    };
    let filter = MemoryFilter {
        container: params.container.as_deref().map(fields::container).transpose().map_err(bad)?,
        tags: fields::tags(&params.tag).map_err(bad)?,
        since: moment("since", &params.since)?,
        before: moment("until", &params.until)?,
        traits: traits(&params.traits).map_err(bad)?,
        ..MemoryFilter::default()
    };
    let is_left_out = !params.kind.is_empty() && !params.kind.contains(&Kind::Memory)
        || !params.path.is_empty()
        || !params.lang.is_empty();
    if is_left_out && is_about_memories(params) {
        let message = "container, tag, since, until, tier, author, min_priority, metadata: these are about memories, \
             which kind, path or lang leave out";
        return Err(bad_params(message.to_owned()));
    }
    let query = parse(&params.query);
    Ok((!is_left_out).then_some(MemoryAsk {
        query,
        mode: params.mode,
        filter,
        limit,
        ..MemoryAsk::default()
    }))
}

/// Returns whether a search has a filter that only memories can satisfy.
pub(in crate::daemon) fn is_about_memories(params: &SearchParams) -> bool {
    let is_dated = params.since.is_some() || params.until.is_some();
    params.container.is_some() || !params.tag.is_empty() || is_dated || params.traits != Traits::default()
}

impl Memories {
    /// Returns the best memories, and a notice if memories were restored. Blocks. Finds everything acknowledged before, and
    /// nothing that is archived or expired.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(in crate::daemon) fn find(&self, wanted: &MemoryAsk) -> RpcResult<FoundMemories> {
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
        .map_err(|error: StoreError| error.into())
    }
}

/// Returns a memory as a hit of a search in the worktree `root`.
pub(in crate::daemon) fn hit(found: &FoundMemory, wanted: &MemoryAsk, root: &str, explains: bool) -> Hit {
    let FoundMemory { ranked, record } = found;
    let snippet = snippet::snippet(&record.content, 1, wanted.query.words());
    let anchors = wanted.judged.get(&record.id).unwrap_or(&record.anchors).clone();
    let signals = &ranked.candidate.signals;
    let n_lines = u32::try_from(record.content.lines().count()).unwrap_or(u32::MAX);
    Hit {
        kind: Kind::Memory,
        path: format!("memory:{}", record.id),
        lines: (1, n_lines.max(1)),
        symbol: None,
        title: record.title.clone(),
        snippet: snippet.text,
        snippet_line: snippet.line,
        score: ranked.score,
        arms: arms(signals),
        id: Some(record.id.clone()),
        view: root.to_owned(),
        blob: blake3::Hash::from_bytes(text::hash(&record.content)).to_hex().to_string(),
        trust: if record.source == "import" || record.key.is_some() { "import" } else { "own" }.to_owned(),
        state: State::of(&anchors).map(|state| state.as_str().to_owned()),
        commit: None,
        memory: Some(MemoryInfo {
            container: record.container.clone(),
            tags: record.tags.clone(),
            created: rfc3339(record.created),
            anchors,
        }),
        explain: explains.then(|| explain(signals, ranked.fused, &ranked.factors)),
    }
}
