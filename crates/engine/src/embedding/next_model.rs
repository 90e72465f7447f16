//! Makes the vectors of the model that is to follow, and has the writer switch to it.

use std::sync::mpsc::Sender;

use anyhow::anyhow;
use memod_base::threads::caught;
use memod_index_db::{NewVector, Reader};

use super::{Found, Round, VectorsOf, kept};
use crate::Engine;
use crate::errors::error_chain;
use crate::worker::Job;

/// Makes missing vectors until none is missing or `is_interrupted`, then switches. A failure is told in `status`, and the next
/// wake-up tries again; the present model answers meanwhile.
pub(super) fn prepare(engine: &Engine, jobs: &Sender<Job>, mut is_interrupted: impl FnMut() -> bool) {
    let mut is_cancelled = || engine.progress.is_cancelled() || is_interrupted();
    let done = caught(|| try_prepare(engine, jobs, &mut is_cancelled));
    let error = match done {
        Ok(done) => done.err().map(|error| error_chain(&error)),
        Err(why) => Some(format!("panicked: {why}")),
    };
    if let Some(error) = &error {
        tracing::warn!(error, "the model that was chosen cannot be used yet");
    }
    engine.models.note_problem(error);
}

fn try_prepare(
    engine: &Engine,
    jobs: &Sender<Job>,
    is_cancelled: &mut dyn FnMut() -> bool,
) -> anyhow::Result<()> {
    let reader = &Reader::open(&engine.index_db)?;
    let chosen = engine.models.chosen().map_err(|why| anyhow!(why))?;
    let embedder = engine.models.load(&chosen).map_err(|why| anyhow!(why))?;
    if !engine.models.is_usable(&chosen) {
        embedder.warm_up()?;
        engine.models.note_usable(&chosen);
        engine.notify_observer(|observer| observer.chosen_model_usable());
    }
    let planned = reader.next_model()?;
    if reader.model()? == chosen {
        if planned.is_some() {
            kept(jobs, |done| Job::PlanModel(None, done))?;
        }
        return Ok(());
    }
    if planned.as_ref() != Some(&chosen) {
        kept(jobs, |done| Job::PlanModel(Some(chosen.clone()), done))?;
    }
    let keep = |found| {
        let vectors = match found {
            Found::Vectors(vectors) => vectors,
            Found::Failed(of) => vec![NewVector { of, vec: Some(Vec::new()) }],
        };
        kept(jobs, |done| Job::NextVectors(chosen.clone(), vectors, done))
    };
    loop {
        let round = Round {
            reader,
            embedder: embedder.as_ref(),
            vectors_of: VectorsOf::Next(&chosen),
            max_file_bytes: engine.config.index.max_file_bytes,
            is_cancelled: &mut *is_cancelled,
            keep: &keep,
        };
        let made = round.run();
        if is_cancelled() {
            return Ok(());
        }
        match made {
            Ok(1..) => {}
            // What cannot be read now gets its vector after the switch.
            Ok(0) => break,
            Err(error) if error.is::<memod_base::paths::PathError>() => break,
            Err(error) => return Err(error),
        }
    }
    embedder.warm_up()?; // no query after the switch meets a model that is being loaded
    if engine.models.chosen().as_ref() == Ok(&chosen) {
        kept(jobs, |done| Job::SwitchModel(chosen, done))?;
    }
    Ok(())
}
