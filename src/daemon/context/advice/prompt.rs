//! Finds the memories that are relevant to a prompt.

use std::sync::Arc;

use memod_engine::errors::RpcResult;
use memod_index_db::Reader;
use memod_proto::anchor::{Anchor, State};
use memod_proto::memory::Memory;
use memod_proto::{Advice, AdviseResult, AnswerPart, Evidence, Sync};
use memod_search::asked::{Asked, asked};
use memod_search::memory_search::{FoundMemory, MemoryAsk};
use memod_search::query::parse;
use memod_search::relevance::{Rarity, Relevance, relevance, terms};
use memod_search::superseded::{Superseded, put_above_superseded};

use super::note::{Note, UnreadPart};
use super::{Call, silent};
use crate::daemon::memories::records::shown;
use crate::daemon::memories::states::{note_unsure, states};
use crate::daemon::request::caveats;
use crate::daemon::request::{blocking, locate};
use crate::daemon::shared::Shared;

/// Number of memories that are weighed.
const N_WEIGHED: usize = 12;
/// Longest part of a memory that is weighed, bytes.
const MOST_TEXT: usize = 8 << 10;
/// What the state of a memory adds to its score. A memory that may be wrong must be more relevant to be worth telling.
const SUPERSEDED: f64 = -1.5;
const DRIFTED: f64 = -0.3;
const ORPHANED: f64 = -1.0;
/// By how much less than the best a memory may score. What is told beside a clear answer is seldom needed.
const MOST_BEHIND: f64 = 0.8;

/// A memory that was weighed.
struct Weighed {
    memory: Memory,
    relevance: Relevance,
}

impl Call {
    /// Tells the memories that are clearly relevant to the prompt.
    pub(super) async fn prompt(&self, shared: &Arc<Shared>) -> RpcResult<AdviseResult> {
        locate(shared, &self.params.cwd, self.until).await?;
        let asked = asked(&self.params.prompt);
        if asked.is_empty() {
            return Ok(silent("the prompt has no word to go by"));
        }
        if let Some(why) = caveats::noted(AnswerPart::Memories) {
            return self.tell_unread(shared, UnreadPart::Memories(why)).await;
        }
        let mut weighed = blocking(shared, move |shared| weigh(shared, &asked)).await?;
        self.judge(shared, &mut weighed).await?;
        sort_by_relevance(&mut weighed);
        let told = self.told(shared).await?;
        let best = weighed.iter().map(|weighed| weighed.relevance.score).fold(f64::NEG_INFINITY, f64::max);
        let memories = weighed.into_iter().map(|weighed| {
            let advice = advice(&weighed.relevance, best);
            (weighed.memory, Some(advice))
        });
        self.tell(shared, Note::of_memories(memories.collect(), &told, self.budget), false).await
    }

    /// Sets the states of memories that may be told.
    async fn judge(&self, shared: &Arc<Shared>, weighed: &mut [Weighed]) -> RpcResult<()> {
        let is_meant = |weighed: &&mut Weighed| {
            !weighed.memory.anchors.is_empty() && (self.params.explain || weighed.relevance.score >= 0.0)
        };
        let meant: Vec<&mut Weighed> = weighed.iter_mut().filter(is_meant).collect();
        if meant.is_empty() {
            return Ok(());
        }
        let lists: Vec<Vec<Anchor>> = meant.iter().map(|weighed| weighed.memory.anchors.clone()).collect();
        let judged = states(shared, &self.params.cwd, Sync::Fs, self.until, lists).await?;
        note_unsure(judged.reason);
        for (weighed, anchors) in meant.into_iter().zip(judged.value) {
            let state = State::of(&anchors);
            match state {
                Some(State::Drifted) => weighed.relevance.add("drifted", DRIFTED),
                Some(State::Orphaned) => weighed.relevance.add("orphaned", ORPHANED),
                Some(State::Fresh) | None => {}
            }
            (weighed.memory.state, weighed.memory.anchors) = (state, anchors);
        }
        Ok(())
    }
}

/// Returns the candidates with their relevance. Blocks.
fn weigh(shared: &Shared, asked: &Asked) -> RpcResult<Vec<Weighed>> {
    let query = [asked.words.as_slice(), &asked.names].concat().join(" ");
    let mut ask = MemoryAsk { query: parse(&query), limit: N_WEIGHED, ..MemoryAsk::default() };
    ask.topic = Some(asked.topic.clone());
    ask.embed(shared.memories.model().as_deref().map_err(String::as_str));
    let found = shared.memories.find(&ask)?.found;
    let texts: Vec<_> =
        found.iter().map(|found| (text(found), found.ranked.candidate.signals.cosine)).collect();
    let terms = terms(asked, &texts);
    let (counts, n_chunks) =
        shared.engine.read(|reader: &Reader| reader.snapshot(|reader| reader.term_counts(&terms)))?;
    let relevance = relevance(asked, &Rarity::new(counts, n_chunks), &texts);
    let weighed = found.into_iter().zip(relevance).map(|(found, mut relevance)| {
        let FoundMemory { ranked, record } = found;
        let facts = ranked.candidate.facts;
        if !facts.successors.is_empty() {
            relevance.add("superseded", SUPERSEDED);
        }
        Weighed { memory: Memory { superseded_by: facts.successors, ..shown(record) }, relevance }
    });
    let mut weighed = weighed.collect();
    sort_by_relevance(&mut weighed);
    Ok(weighed)
}

fn text(found: &FoundMemory) -> String {
    let record = &found.record;
    let content = &record.content[..record.content.floor_char_boundary(MOST_TEXT)];
    format!("{} {} {content}", record.title.as_deref().unwrap_or_default(), record.tags.join(" "))
}

/// Sorts by relevance. What supersedes a memory goes right before it, and is at least as relevant.
fn sort_by_relevance(weighed: &mut Vec<Weighed>) {
    weighed.sort_by(|left, right| {
        let scores = right.relevance.score.total_cmp(&left.relevance.score);
        scores.then_with(|| right.memory.id.cmp(&left.memory.id))
    });
    put_above_superseded(weighed);
}

impl Superseded for Weighed {
    fn id(&self) -> Option<&str> {
        Some(&self.memory.id)
    }

    fn successors(&self) -> &[String] {
        &self.memory.superseded_by
    }

    fn raise_to(&mut self, superseded: &Self) {
        let behind = superseded.relevance.score - self.relevance.score;
        if behind > 0.0 {
            self.relevance.add("supersedes", behind);
        }
    }
}

fn advice(relevance: &Relevance, best: f64) -> Advice {
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
