//! Finds the memories that are relevant to a prompt.

use std::sync::Arc;

use memod_engine::errors::RpcResult;
use memod_index_db::IndexReader;
use memod_proto::anchor::{Anchor, AnchorState};
use memod_proto::memory::Memory;
use memod_proto::{Advice, AdviseResult, AnswerPart, Evidence, FreshnessLevel};
use memod_search::memory_search::prompt_terms::{PromptTerms, parse_prompt};
use memod_search::memory_search::relevance::{Relevance, WordRarity, rate_memories, terms_needing_rarity};
use memod_search::memory_search::superseded::{Supersedable, move_successors_up};
use memod_search::memory_search::{FoundMemory, MemorySearchRequest};
use memod_search::query::parse_query;

use super::advice_note::{AdviceNote, UnreadPart};
use super::{AdviseCall, silent_result};
use crate::daemon::memories::about_code::anchor_states::{check_states, note_uncertain_states};
use crate::daemon::memories::finding::read_records::to_memory_now;
use crate::daemon::request::reader_threads::run_blocking;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::worktree_location::locate_worktree;

/// Number of memories whose relevance is computed.
const N_WEIGHED: usize = 12;
/// Length of the part of a memory's content that its relevance depends on, bytes.
const MOST_TEXT: usize = 8 << 10;
/// Additions to the score of a memory in one of these states. A memory that may be wrong must be more relevant to be shown.
const SUPERSEDED_PENALTY: f64 = -1.5;
const DRIFTED_PENALTY: f64 = -0.3;
const ORPHANED_PENALTY: f64 = -1.0;
/// Largest distance from the best score at which a memory is delivered: next to a clear answer, others are rarely needed.
const MOST_BEHIND: f64 = 0.8;

/// A memory with its relevance to the prompt.
struct WeighedMemory {
    memory: Memory,
    relevance: Relevance,
}

impl AdviseCall {
    /// Delivers the memories that are clearly relevant to the prompt.
    pub(super) async fn answer_prompt(&self, request: &Arc<RequestContext>) -> RpcResult<AdviseResult> {
        locate_worktree(request, &self.params.cwd, self.until).await?;
        let asked = parse_prompt(&self.params.prompt);
        if asked.is_empty() {
            return Ok(silent_result("the prompt has no word to search for"));
        }
        if let Some(why) = request.caveats.find_caveat(AnswerPart::Memories) {
            return self.deliver_unread_note(request, UnreadPart::Memories(why)).await;
        }
        let mut weighed = run_blocking(request, move |request| weigh_memories(request, &asked)).await?;
        self.check_anchors_and_lower_scores(request, &mut weighed).await?;
        sort_by_relevance(&mut weighed);
        let delivered = self.list_delivered(request).await?;
        let best = weighed.iter().map(|weighed| weighed.relevance.score).fold(f64::NEG_INFINITY, f64::max);
        let memories = weighed.into_iter().map(|weighed| {
            let advice = build_advice(&weighed.relevance, best);
            (weighed.memory, Some(advice))
        });
        self.deliver(request, AdviceNote::from_memories(memories.collect(), &delivered, self.budget), false)
            .await
    }

    /// Sets the anchor states of memories that may be delivered, and lowers the scores of memories whose code has changed or is
    /// gone.
    async fn check_anchors_and_lower_scores(
        &self,
        request: &Arc<RequestContext>,
        weighed: &mut [WeighedMemory],
    ) -> RpcResult<()> {
        let meant: Vec<&mut WeighedMemory> = weighed
            .iter_mut()
            .filter(|weighed| {
                !weighed.memory.anchors.is_empty() && (self.params.explain || weighed.relevance.score >= 0.0)
            })
            .collect();
        if meant.is_empty() {
            return Ok(());
        }
        let lists: Vec<Vec<Anchor>> = meant.iter().map(|weighed| weighed.memory.anchors.clone()).collect();
        let judged = check_states(request, &self.params.cwd, FreshnessLevel::Fs, self.until, lists).await?;
        note_uncertain_states(&request.caveats, judged.reason);
        for (weighed, anchors) in meant.into_iter().zip(judged.value) {
            let state = AnchorState::from_anchors(&anchors);
            match state {
                Some(AnchorState::Drifted) => weighed.relevance.add_reason("drifted", DRIFTED_PENALTY),
                Some(AnchorState::Orphaned) => weighed.relevance.add_reason("orphaned", ORPHANED_PENALTY),
                Some(AnchorState::Fresh) | None => {}
            }
            (weighed.memory.state, weighed.memory.anchors) = (state, anchors);
        }
        Ok(())
    }
}

/// Returns the memories that may be relevant to a prompt, the most relevant first. Blocks.
fn weigh_memories(request: &RequestContext, asked: &PromptTerms) -> RpcResult<Vec<WeighedMemory>> {
    let query = [asked.words.as_slice(), &asked.names].concat().join(" ");
    let mut ask = MemorySearchRequest {
        query: parse_query(&query),
        limit: N_WEIGHED,
        ..MemorySearchRequest::default()
    };
    ask.topic = Some(asked.topic.clone());
    ask.set_query_vector(request.shared.memories.load_ready_model().as_deref().map_err(String::as_str));
    let found = request.memories().find_memories(&ask)?.found;
    let texts: Vec<_> =
        found.iter().map(|found| (text_to_weigh(found), found.ranked.candidate.signals.cosine)).collect();
    let terms = terms_needing_rarity(asked, &texts);
    let (counts, n_chunks) = request.shared.engine.with_reader(|reader: &IndexReader| {
        reader.read_snapshot(|reader| reader.count_chunks_per_term(&terms))
    })?;
    let relevance = rate_memories(asked, &WordRarity::new(counts, n_chunks), &texts);
    let weighed = found.into_iter().zip(relevance).map(|(found, mut relevance)| {
        let FoundMemory { ranked, record } = found;
        let facts = ranked.candidate.facts;
        if !facts.successors.is_empty() {
            relevance.add_reason("superseded", SUPERSEDED_PENALTY);
        }
        WeighedMemory {
            memory: Memory { superseded_by: facts.successors, ..to_memory_now(record) },
            relevance,
        }
    });
    let mut weighed = weighed.collect();
    sort_by_relevance(&mut weighed);
    Ok(weighed)
}

fn text_to_weigh(found: &FoundMemory) -> String {
    let record = &found.record;
    let content = &record.content[..record.content.floor_char_boundary(MOST_TEXT)];
    format!("{} {} {content}", record.title.as_deref().unwrap_or_default(), record.tags.join(" "))
}

/// Sorts memories by relevance. A memory that supersedes another goes right before that one, and becomes at least as relevant.
fn sort_by_relevance(weighed: &mut Vec<WeighedMemory>) {
    weighed.sort_by(|left, right| {
        let scores = right.relevance.score.total_cmp(&left.relevance.score);
        scores.then_with(|| right.memory.id.cmp(&left.memory.id))
    });
    move_successors_up(weighed);
}

impl Supersedable for WeighedMemory {
    fn id(&self) -> Option<&str> {
        Some(&self.memory.id)
    }

    fn successors(&self) -> &[String] {
        &self.memory.superseded_by
    }

    fn raise_score_to(&mut self, superseded: &Self) {
        let behind = superseded.relevance.score - self.relevance.score;
        if behind > 0.0 {
            self.relevance.add_reason("supersedes", behind);
        }
    }
}

fn build_advice(relevance: &Relevance, best: f64) -> Advice {
    let reason = match relevance.score {
        score if score < 0.0 => Some("not relevant enough"),
        score if score < best - MOST_BEHIND => Some("others are more relevant"),
        _ => None,
    };
    let evidence = relevance.evidence.iter().map(|(name, value, share)| Evidence {
        name: (*name).to_owned(),
        value: *value,
        share: *share,
    });
    Advice {
        score: Some(relevance.score),
        evidence: evidence.collect(),
        reason: reason.map(str::to_owned),
        ..Advice::default()
    }
}
