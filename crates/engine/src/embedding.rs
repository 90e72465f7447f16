//! Runs the embedding thread.
//!
//! The thread computes vectors after the lexical commit, one round per wake-up, and hands them to the writer batch by batch. A text
//! on which the model fails twice is recorded and skipped until the text or the model changes. A round that fails as a whole
//! is retried for the next request ([`super::worktree::EmbeddingRounds`]).

mod next_model;

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};

use anyhow::anyhow;
use memod_base::threads::catch_panic;
use memod_base::types::ChunkId;
use memod_database::DatabaseError;
use memod_embed::{Embedder, can_embed};
use memod_index_db::{IndexReader, NewVector, VectorOwner};
use memod_indexing::{FailedTexts, VectorBatch, embed_chunks, embed_paths};

use super::errors::{error_chain, find_hint, line_with_hint};
use crate::engine::Engine;
use crate::messages::loop_event::LoopEvent;
use crate::messages::writer_job::WriterJob;

/// Number of texts that are embedded in one step.
const TEXTS_PER_STEP: usize = 256;

/// Number of texts per step for a model that takes milliseconds per text: changes that come later wait for one step at most.
const TEXTS_PER_SLOW_STEP: usize = 16;

/// Runs one round per wake-up until the main loop ends, and between rounds computes vectors of the chosen model.
pub(super) fn run_embedding(engine: &Engine, rounds: &Receiver<u64>, jobs: &Sender<WriterJob>) {
    warm_up_active_model(engine);
    let mut wanted = rounds.recv().ok();
    while let Some(round) = wanted.take() {
        let round = rounds.try_iter().last().unwrap_or(round);
        let done =
            catch_panic(|| embed_missing(engine, jobs)).unwrap_or_else(|why| Err(anyhow!("panicked: {why}")));
        let error = done.err().map(|error| line_with_hint(&error_chain(&error), find_hint(&error)));
        if let Some(error) = &error {
            tracing::warn!(error, "embedding stopped; keyword search still works");
        }
        engine.send_event(LoopEvent::EmbeddingEnded { round, error });
        next_model::prepare_next_model(engine, jobs, || {
            wanted = wanted.or_else(|| rounds.try_recv().ok());
            wanted.is_some()
        });
        wanted = wanted.or_else(|| rounds.recv().ok());
    }
}

/// Loads the model that searches use, so that the first query can use it.
fn warm_up_active_model(engine: &Engine) {
    let _ = catch_panic(|| {
        let model =
            engine.with_reader(IndexReader::model_id).ok().and_then(|id| engine.models.load_model(&id).ok());
        model.map(|model| model.warm_up()) // a failure is reported to the query that needs the model
    });
}

fn embed_missing(engine: &Engine, jobs: &Sender<WriterJob>) -> anyhow::Result<()> {
    let reader = &IndexReader::open(&engine.index_db)?;
    let embedder = engine.models.load_model(&reader.model_id()?).map_err(|why| anyhow!("{why}"))?;
    let round = EmbeddingRound {
        reader,
        embedder: embedder.as_ref(),
        target_model: TargetModel::Active,
        max_file_bytes: engine.config.index.max_file_bytes,
        is_cancelled: &mut || engine.progress.is_cancelled(),
        store_result: &|found| {
            let n_vectors = found.n_vectors();
            run_writer_job(jobs, |done| match found {
                EmbeddingResult::Vectors(vectors) => WriterJob::StoreVectors(vectors, done),
                EmbeddingResult::Failed(of) => WriterJob::MarkEmbedFailed(of, done),
            })?;
            engine.n_embedded.fetch_add(n_vectors, Ordering::Relaxed);
            Ok(())
        },
    };
    round.run().map(drop)
}

/// A result of a step, which the writer stores.
enum EmbeddingResult {
    Vectors(Vec<NewVector>),
    /// The model fails on the text of this owner.
    Failed(VectorOwner),
}

impl EmbeddingResult {
    fn n_vectors(&self) -> u64 {
        match self {
            Self::Vectors(vectors) => vectors.len() as u64,
            Self::Failed(_) => 0,
        }
    }
}

/// Sends a job to the writer, and waits until it is done.
fn run_writer_job(
    jobs: &Sender<WriterJob>,
    job: impl FnOnce(SyncSender<Result<(), DatabaseError>>) -> WriterJob,
) -> anyhow::Result<()> {
    let (done, ack) = sync_channel(1);
    jobs.send(job(done))?;
    Ok(ack.recv()??)
}

/// The model whose vectors a round computes.
#[derive(Clone, Copy)]
enum TargetModel<'a> {
    /// The model that searches use.
    Active,
    /// The next model, with this identity, to which the index will switch.
    Next(&'a str),
}

/// A round, which covers the texts that wait for a vector when the round begins, and the texts that come during the round.
struct EmbeddingRound<'a> {
    reader: &'a IndexReader,
    embedder: &'a dyn Embedder,
    target_model: TargetModel<'a>,
    max_file_bytes: u64,
    is_cancelled: &'a mut dyn FnMut() -> bool,
    /// Stores a result.
    store_result: &'a dyn Fn(EmbeddingResult) -> anyhow::Result<()>,
}

impl EmbeddingRound<'_> {
    /// Runs the round; returns the number of vectors that were computed.
    fn run(mut self) -> anyhow::Result<usize> {
        let Self { reader, embedder, target_model: vectors_of, max_file_bytes, .. } = self;
        let n_paths = self.run_steps(|_, limit| {
            let paths = match vectors_of {
                TargetModel::Active => reader.paths_to_embed(limit)?,
                TargetModel::Next(_) => reader.list_paths_without_vector(limit)?,
            };
            Ok(embed_paths(embedder, &paths))
        })?;
        let n_chunks = self.run_steps(|after, limit| {
            let pending = match vectors_of {
                TargetModel::Active => reader.chunks_to_embed(after, limit)?,
                TargetModel::Next(model) => reader.list_chunks_without_vector(model, after, limit)?,
            };
            Ok(embed_chunks(reader, embedder, after, &pending, max_file_bytes))
        })?;
        Ok(n_paths + n_chunks)
    }

    /// Runs `step`, given the last chunk so far and a number of texts, until no text is left. After a failed step, its texts are
    /// tried again one by one, even if there was only one: a text is skipped only after it has failed twice. Returns the number
    /// of vectors that were stored.
    fn run_steps(
        &mut self,
        step: impl Fn(ChunkId, usize) -> Result<VectorBatch, DatabaseError>,
    ) -> anyhow::Result<usize> {
        let (mut after, mut n_alone, mut unread, mut n_vectors) = (ChunkId(0), 0, None, 0);
        let at_once = if self.embedder.is_slow() { TEXTS_PER_SLOW_STEP } else { TEXTS_PER_STEP };
        while !(self.is_cancelled)() {
            let limit = if n_alone > 0 { 1 } else { at_once };
            let VectorBatch { vectors, last, n_seen, failed, unread: of_step } = step(after, limit)?;
            unread = unread.or(of_step);
            match failed {
                _ if n_seen == 0 => break,
                None => {
                    n_vectors += vectors.len();
                    (self.store_result)(EmbeddingResult::Vectors(vectors))?;
                }
                Some(_) if n_alone == 0 => {
                    n_alone = n_seen;
                    continue;
                }
                Some(failed) => self.record_failed_texts(failed)?,
            }
            (after, n_alone) = (last, n_alone.saturating_sub(1));
        }
        unread.map_or(Ok(n_vectors), |error| Err(error.into())) // a later round embeds the unread texts
    }

    /// Records texts on which the model failed one by one, so that later rounds skip them. Fails if the model fails on any text.
    fn record_failed_texts(&self, FailedTexts { texts, why }: FailedTexts) -> anyhow::Result<()> {
        if !can_embed(self.embedder) {
            anyhow::bail!(why);
        }
        for (of, text) in texts {
            tracing::error!(text, why, "the model fails on a text, which only keyword search will find");
            (self.store_result)(EmbeddingResult::Failed(of))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
