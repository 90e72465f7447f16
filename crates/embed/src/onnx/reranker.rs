//! A cross-encoder, which reads a query and a text together.
//!
//! It runs in a separate process, which is started by the first question and ends when it was idle.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cache::InstalledModel;
use super::model_process::{ModelTask, StartOptions};
use super::remote::ModelServer;
use super::{OnnxError, Runtime};

/// Number of texts in one request; the time limit is looked at in between.
const BATCH: usize = 2;

/// An installed cross-encoder.
pub struct Reranker {
    identity: String,
    server: Arc<ModelServer>,
}

impl Reranker {
    /// Prepares a model to be run; nothing is started. `program` is `memod`.
    ///
    /// # Errors
    /// When there is no runtime.
    pub fn new(installed: &InstalledModel, runtime: &Runtime, program: &Path) -> Result<Self, OnnxError> {
        let (model_dir, identity) = (installed.dir.clone(), installed.manifest.identity());
        let start = StartOptions {
            model_dir,
            identity: identity.clone(),
            runtime: runtime.find_library()?,
            in_background: false,
        };
        Ok(Self { identity, server: ModelServer::new(program, start) })
    }

    /// Returns name and revision of the model in one word.
    pub fn id(&self) -> &str {
        &self.identity
    }

    /// Returns how well each text answers the query, 0 to 1.
    ///
    /// # Errors
    /// Why it cannot tell within the time limit.
    pub fn score_texts(&self, query: &str, texts: &[String], limit: Duration) -> Result<Vec<f32>, String> {
        let until = Instant::now() + limit;
        self.server.ready_within(limit)?;
        let mut scores = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                let (done, all) = (scores.len(), texts.len());
                return Err(format!("compared {done} of {all} hits within {} s", limit.as_secs_f32()));
            }
            let task = ModelTask { query: Some(query.to_owned()), texts: batch.to_vec() };
            for score in self.server.ask_if_ready(&task, rest)? {
                let score = score.and_then(|score| score.first().copied()).ok_or("a score is not finite")?;
                scores.push(1.0 / (1.0 + (-score).exp()));
            }
        }
        Ok(scores)
    }
}
