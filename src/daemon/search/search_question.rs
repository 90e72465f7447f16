//! Holds a search with validated params, and what answers to it have in common.

use memod_base::paths::RepoLayout;
use memod_base::types::{ChunkKind, SourceKey};
use memod_proto::{SearchParams, SearchResult};
use memod_search::filter::SearchFilter;
use memod_search::hits::snippet::SnippetExtent;
use memod_search::memory_search::MemorySearchRequest;

use crate::daemon::memories::finding::search_scope::SearchScope;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::search::reranking;
use crate::daemon::search::verify_hits::ShownHitParts;
use crate::daemon::shared::Shared;

/// A search with validated params.
pub(super) struct SearchQuestion {
    pub(super) params: SearchParams,
    pub(super) layout: RepoLayout,
    pub(super) scope: SearchScope,
    /// Query for the memories; `None` if memories are not searched.
    pub(super) memories: Option<MemorySearchRequest>,
    pub(super) limit: usize,
}

impl SearchQuestion {
    /// Returns the question with other words added to its query; `None` if the query cannot be expanded.
    pub(super) fn with_words(&self, shared: &Shared, words: &[String]) -> Option<Self> {
        let scope = SearchScope { query: self.scope.query.with_added_words(words)?, ..self.scope.clone() };
        let params = SearchParams { rerank: false, ..self.params.clone() };
        let n_memories = self.memories.as_ref().map_or(self.limit, |memories| memories.limit);
        let memories =
            scope.build_memory_request(&params, n_memories, shared.engine.config.search.min_cosine);
        Some(Self { params, layout: self.layout.clone(), scope, memories, limit: self.limit })
    }

    /// Returns the parts that each hit of the answer shows.
    pub(super) fn hit_options(&self) -> ShownHitParts {
        let SearchParams { explain, rerank, .. } = self.params;
        let most_texts = if rerank { reranking::N_RERANKED } else { 0 };
        ShownHitParts { explains: explain, extent: self.snippet_extent(), most_texts }
    }

    /// Returns how much of its text each hit shows.
    pub(super) fn snippet_extent(&self) -> SnippetExtent {
        let SearchParams { full, texts, lines_before, lines_after, .. } = self.params;
        match (lines_before, lines_after) {
            _ if full => SnippetExtent::Text,
            _ if texts => SnippetExtent::BestAndText,
            (None, None) => SnippetExtent::Best,
            (before, after) => {
                SnippetExtent::Around { before: before.unwrap_or_default(), after: after.unwrap_or_default() }
            }
        }
    }
}

/// The result on one snapshot and the reason why memories could not be searched, with the paths whose content on disk differs.
pub(super) type SnapshotHits = ((SearchResult, Option<String>), Vec<SourceKey>);

/// Returns notices about memories that may be out of date, or that need the attention of the user.
pub(super) fn list_memory_notes(request: &RequestContext) -> impl Iterator<Item = String> {
    request.memories().read_files_notice().into_iter().chain(request.shared.team.stale_notice())
}

/// Returns whether a filter allows commits as hits.
pub(super) fn has_commits(filter: &SearchFilter) -> bool {
    filter.kinds.is_empty() || filter.kinds.contains(&ChunkKind::Commit)
}
