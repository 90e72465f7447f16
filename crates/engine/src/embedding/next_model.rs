//! Computes the vectors of the chosen model, and then switches the index to that model.

use std::sync::mpsc::Sender;

use anyhow::anyhow;
use memod_base::threads::catch_panic;
use memod_index_db::{IndexReader, NewVector};

use super::{EmbeddingResult, EmbeddingRound, TargetModel, run_writer_job};
use crate::engine::Engine;
use crate::errors::error_chain;
use crate::messages::writer_job::WriterJob;

/// Computes the vectors that the chosen model still lacks, then switches the index to this model. Stops early once
/// `is_interrupted` returns true. `status` reports a failure, and the next wake-up tries again; until the switch, searches use
/// the present model.
pub(super) fn prepare_next_model(
    engine: &Engine,
    jobs: &Sender<WriterJob>,
    mut is_interrupted: impl FnMut() -> bool,
) {
    let mut is_cancelled = || engine.progress.is_cancelled() || is_interrupted();
    let done = catch_panic(|| try_prepare_next_model(engine, jobs, &mut is_cancelled));
    let error = match done {
        Ok(done) => done.err().map(|error| error_chain(&error)),
        Err(why) => Some(format!("panicked: {why}")),
    };
    if let Some(error) = &error {
        tracing::warn!(error, "the chosen model cannot be used yet");
    }
    engine.models.set_choice_problem(error);
}

fn try_prepare_next_model(
    engine: &Engine,
    jobs: &Sender<WriterJob>,
    is_cancelled: &mut dyn FnMut() -> bool,
) -> anyhow::Result<()> {
    let reader = &IndexReader::open(&engine.index_db)?;
    let chosen = engine.models.chosen_model_id().map_err(|why| anyhow!(why))?;
    let embedder = engine.models.load_model(&chosen).map_err(|why| anyhow!(why))?;
    if !engine.models.is_usable(&chosen) {
        embedder.warm_up()?;
        engine.models.mark_usable(&chosen);
        engine.notify_observer(|observer| observer.chosen_model_usable());
    }
    let planned = reader.next_model()?;
    if reader.model_id()? == chosen {
        if planned.is_some() {
            run_writer_job(jobs, |done| WriterJob::SetNextModel(None, done))?;
        }
        return Ok(());
    }
    if planned.as_ref() != Some(&chosen) {
        run_writer_job(jobs, |done| WriterJob::SetNextModel(Some(chosen.clone()), done))?;
    }
    let keep = |found| {
        let vectors = match found {
            EmbeddingResult::Vectors(vectors) => vectors,
            EmbeddingResult::Failed(of) => vec![NewVector { owner: of, vec: Some(Vec::new()) }],
        };
        run_writer_job(jobs, |done| WriterJob::StoreNextVectors(chosen.clone(), vectors, done))
    };
    loop {
        let round = EmbeddingRound {
            reader,
            embedder: embedder.as_ref(),
            target_model: TargetModel::Next(&chosen),
            max_file_bytes: engine.config.index.max_file_bytes,
            is_cancelled: &mut *is_cancelled,
            store_result: &keep,
        };
        let made = round.run();
        if is_cancelled() {
            return Ok(());
        }
        match made {
            Ok(1..) => {}
            Ok(0) => break,
            // The switch does not wait for texts that cannot be read at the moment: they get their vectors afterwards.
            Err(error) if error.is::<memod_base::paths::PathError>() => break,
            Err(error) => return Err(error),
        }
    }
    embedder.warm_up()?; // so that no query after the switch must wait until the model is loaded
    if engine.models.chosen_model_id().as_ref() == Ok(&chosen) {
        run_writer_job(jobs, |done| WriterJob::SwitchModel(chosen, done))?;
    }
    Ok(())
}
