//! Searches the memories as a part of `search`.

use memod_base::paths::RepoLayout;
use memod_base::types::SourceKey;
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_proto::anchor::AnchorState;
use memod_proto::{Hit, RpcError, SearchMode};
use memod_search::SearchAnswer;
use memod_search::hits::snippet::{SnippetCutter, SnippetExtent};
use memod_search::memory_search::{FoundMemories, FoundMemory, MemorySearchRequest};
use memod_search::query::SymbolName;
use memod_search::ranking::beside_definition::NameRelation;
use memod_search::ranking::correction_factor::correction_factor;

use crate::daemon::memories::anchors::check_anchors_by_memory;
use crate::daemon::memories::finding::memory_hits as memories;
use crate::daemon::request::request_context::RequestContext;

/// The result of searching the memories.
#[derive(Default)]
pub(in crate::daemon) struct SearchedMemories<'a> {
    wanted: MemorySearchRequest,
    pub(in crate::daemon) found: FoundMemories,
    pub(in crate::daemon) error: Option<RpcError>,
    /// Why the anchor states of some memories are not known.
    pub(in crate::daemon) unknown_states_reason: Option<String>,
    /// The worktree that anchors are checked against; `None` if they are not checked.
    at: Option<&'a Freshness>,
    /// Paths whose content on disk differs from the snapshot.
    pub(in crate::daemon) stale: Vec<SourceKey>,
}

impl<'a> SearchedMemories<'a> {
    /// Searches the memories; finds none if `wanted` is `None`. Anchors are checked against `at`, if it is given.
    pub(in crate::daemon) fn search_for_request(
        request: &RequestContext,
        wanted: Option<&MemorySearchRequest>,
        at: Option<&'a Freshness>,
    ) -> Self {
        let Some(wanted) = wanted.cloned() else { return Self::default() };
        let mut memories = Self { wanted, at, ..Self::default() };
        memories.run_search(request);
        memories
    }

    /// Returns why memories were not searched by vectors, if the model could not run.
    pub(in crate::daemon) fn why_no_vector(&self) -> Option<&str> {
        self.wanted.why_no_vector.as_deref()
    }

    fn run_search(&mut self, request: &RequestContext) {
        if self.wanted.mode != SearchMode::Keyword {
            self.wanted.set_query_vector(
                request.shared.memories.load_ready_model().as_deref().map_err(String::as_str),
            );
        }
        if let Err(error) = self.try_search(request) {
            self.error = Some(error);
        }
    }

    /// Searches, and searches again once the states of anchors are known, because some states lower the rank of memories.
    fn try_search(&mut self, request: &RequestContext) -> RpcResult<()> {
        self.found = request.memories().find_memories(&self.wanted)?;
        let Some(at) = self.at.filter(|_| !self.found.unchecked_anchors.is_empty()) else { return Ok(()) };
        let unjudged = std::mem::take(&mut self.found.unchecked_anchors);
        let judged = check_anchors_by_memory(request, at, unjudged)?;
        self.wanted.checked_anchors.extend(judged.anchors_by_memory);
        self.stale.extend(judged.stale);
        self.unknown_states_reason = self.unknown_states_reason.take().or(judged.unreadable_reason);
        self.found = request.memories().find_memories(&self.wanted)?;
        Ok(())
    }

    /// Adds the hits of a corrected query, those of the index in `again` and those among the memories, below all exact hits.
    /// Returns the corrected query if it has found words that the typed query has not; otherwise adds nothing.
    pub(in crate::daemon) fn add_corrected(
        &mut self,
        request: &RequestContext,
        answer: &mut SearchAnswer,
        again: SearchAnswer,
    ) -> Option<String> {
        let exact = std::mem::take(&mut self.found);
        let typed = std::mem::replace(&mut self.wanted.query, again.query.clone());
        if self.wanted.limit > 0 {
            self.run_search(request);
        }
        let corrected = std::mem::replace(&mut self.found, exact);
        if !answer.lacks_exact_hits_of(&again) && !self.found.lacks_exact_hits_of(&corrected) {
            self.wanted.query = typed;
            return None;
        }
        let lowest = answer.exact_scores().chain(self.found.exact_scores()).reduce(f64::min);
        let of_index = again.found.iter().map(|hit| hit.ranked.score);
        let best = corrected.found.iter().map(|hit| hit.ranked.score).chain(of_index).fold(0.0, f64::max);
        let factor = correction_factor(lowest, best);
        let text = again.query.to_string();
        self.found.add_corrected(corrected, factor, self.wanted.limit);
        answer.add_corrected(again, factor);
        Some(text)
    }

    /// Returns how each found memory relates to the name whose definition is asked for. A memory about code that has changed
    /// or is gone may not hold any more, so it counts only if it has the name.
    pub(in crate::daemon) fn relations_to(&self, name: &SymbolName<'_>) -> Vec<NameRelation> {
        let relation = |found: &FoundMemory| {
            let FoundMemory { ranked, record } = found;
            let is_current = matches!(ranked.candidate.state, None | Some(AnchorState::Fresh));
            let symbols = record.anchors.iter().filter_map(|anchor| anchor.symbol.as_deref());
            let is_about = symbols.into_iter().any(|symbol| name.is_end_of(symbol));
            let texts = [Some(record.content.as_str()), record.title.as_deref()];
            let has_name = texts.into_iter().flatten().any(|text| name.is_in_text(text));
            match (is_about, is_current) {
                (true, true) => NameRelation::Attached,
                _ if has_name => NameRelation::Named,
                _ => NameRelation::Loose,
            }
        };
        self.found.found.iter().map(relation).collect()
    }

    /// Returns the found memories as hits, best first.
    pub(in crate::daemon) fn build_hits(
        &self,
        layout: &RepoLayout,
        explains: bool,
        extent: SnippetExtent,
    ) -> Vec<Hit> {
        let root = layout.root.display().to_string();
        let snippets = SnippetCutter::new(self.wanted.query.words(), extent);
        self.found
            .found
            .iter()
            .enumerate()
            .map(|(nth, found)| memories::build_hit(found, &self.wanted, &snippets, nth, &root, explains))
            .collect()
    }
}
