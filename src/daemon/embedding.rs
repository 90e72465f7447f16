//! Runs the embedding thread.
//!
//! It computes vectors after the lexical commit, one round per wake-up, and hands them to the writer batch by batch. A text
//! on which the model fails twice is recorded and skipped until the text or the model changes. A round that fails as a whole
//! is retried for the next request ([`super::worktree::Rounds`]).

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, sync_channel};

use anyhow::anyhow;

use super::error::{hint_of, hinted};
use super::error_chain;
use super::event::Event;
use super::memories::finder;
use super::shared::Shared;
use super::worker::Job;
use crate::embed::{Embedder, runs};
use crate::index::{Batch, Failed, embed_chunks, embed_paths};
use crate::store::{Embedded, NewVector, Reader, StoreError};
use crate::types::ChunkId;
use crate::unwind::caught;

/// Number of texts per step.
const STEP: usize = 256;

/// Runs one round per wake-up until the main loop ends.
pub(super) fn embed(shared: &Shared, rounds: &Receiver<u64>, jobs: &Sender<Job>) {
    while let Ok(mut round) = rounds.recv() {
        round = rounds.try_iter().last().unwrap_or(round);
        let done = caught(|| run(shared, jobs)).unwrap_or_else(|why| Err(anyhow!("panicked: {why}")));
        let error = done.err().map(|error| hinted(&error_chain(&error), hint_of(&error)));
        if let Some(error) = &error {
            tracing::warn!(error, "embedding stopped; keyword search goes on");
        }
        shared.send(Event::Embedded { round, error });
    }
}

fn run(shared: &Shared, jobs: &Sender<Job>) -> anyhow::Result<()> {
    let embedder = finder::load(&shared.model).as_ref().map_err(|why| anyhow!("{why}"))?;
    let round = Round {
        reader: &Reader::open(&shared.index_db)?,
        embedder: embedder.as_ref(),
        max_file_bytes: shared.config.index.max_file_bytes,
        is_cancelled: &|| shared.progress.is_cancelled(),
        keep: &|found| keep(shared, found, jobs),
    };
    round.run()
}

/// What is to be kept of a step.
enum Found {
    Vectors(Vec<NewVector>),
    /// The model fails on this.
    Failed(Embedded),
}

/// Has the writer keep it; returns once it is kept.
fn keep(shared: &Shared, found: Found, jobs: &Sender<Job>) -> anyhow::Result<()> {
    let (done, ack) = sync_channel(1);
    let n_vectors = match found {
        Found::Vectors(vectors) => {
            let n_vectors = vectors.len();
            jobs.send(Job::Vectors(vectors, done))?;
            n_vectors as u64
        }
        Found::Failed(of) => {
            jobs.send(Job::EmbedFailed(of, done))?;
            0
        }
    };
    ack.recv()??;
    shared.embeds.fetch_add(n_vectors, Ordering::Relaxed);
    Ok(())
}

/// One round: all that waits for a vector when it begins, and what comes meanwhile.
struct Round<'a> {
    reader: &'a Reader,
    embedder: &'a dyn Embedder,
    max_file_bytes: u64,
    is_cancelled: &'a dyn Fn() -> bool,
    keep: &'a dyn Fn(Found) -> anyhow::Result<()>,
}

impl Round<'_> {
    fn run(&self) -> anyhow::Result<()> {
        let Self { reader, embedder, max_file_bytes, .. } = *self;
        self.run_steps(|_, limit| embed_paths(reader, embedder, limit))?;
        self.run_steps(|after, limit| embed_chunks(reader, embedder, after, limit, max_file_bytes))
    }

    /// Takes step after step until nothing is left. After one that failed its texts are taken one by one, a
    /// lone one too: a text is passed over only when it fails twice.
    fn run_steps(&self, step: impl Fn(ChunkId, usize) -> Result<Batch, StoreError>) -> anyhow::Result<()> {
        let (mut after, mut n_alone, mut unread) = (ChunkId(0), 0, None);
        while !(self.is_cancelled)() {
            let limit = if n_alone > 0 { 1 } else { STEP };
            let Batch { vectors, last, n_seen, failed, unread: of_step } = step(after, limit)?;
            unread = unread.or(of_step);
            match failed {
                _ if n_seen == 0 => break,
                None => (self.keep)(Found::Vectors(vectors))?,
                Some(_) if n_alone == 0 => {
                    n_alone = n_seen;
                    continue;
                }
                Some(failed) => self.pass_over(failed)?,
            }
            (after, n_alone) = (last, n_alone.saturating_sub(1));
        }
        unread.map_or(Ok(()), |error| Err(error.into())) // they are embedded by a later round
    }

    /// Notes the text that the model failed on alone, unless the model fails on any.
    fn pass_over(&self, Failed { texts, why }: Failed) -> anyhow::Result<()> {
        if !runs(self.embedder) {
            anyhow::bail!(why);
        }
        for (of, text) in texts {
            tracing::error!(text, why, "the model fails on a text, which only words will find");
            (self.keep)(Found::Failed(of))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
