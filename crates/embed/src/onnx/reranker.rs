//! Scores how well texts answer a query, with a cross-encoder, which reads the query and a text together.
//!
//! The model runs in a separate process. The first query starts the process, and it ends when it has been idle for ten minutes.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cache::InstalledModel;
use super::model_process::{ModelTask, StartOptions};
use super::remote::ModelServer;
use super::{OnnxError, RuntimeLocations};

/// Number of texts in one task. The time limit is checked between tasks.
const BATCH: usize = 2;

/// An installed cross-encoder.
pub struct Reranker {
    identity: String,
    server: Arc<ModelServer>,
}

impl Reranker {
    /// Creates the reranker without starting a process. `program` is the path of `memod`.
    ///
    /// # Errors
    /// When the library of ONNX Runtime is not found.
    pub fn new(
        installed: &InstalledModel,
        runtime: &RuntimeLocations,
        program: &Path,
    ) -> Result<Self, OnnxError> {
        let (model_dir, identity) = (installed.dir.clone(), installed.manifest.identity());
        let start = StartOptions {
            model_dir,
            identity: identity.clone(),
            runtime: runtime.find_library()?,
            in_background: false,
        };
        Ok(Self { identity, server: ModelServer::new(program, start) })
    }

    /// Returns the identity of the model.
    pub fn id(&self) -> &str {
        &self.identity
    }

    /// Returns how well each text answers the query, 0 to 1, in the order of `texts`.
    ///
    /// # Errors
    /// The reason, if the model fails or does not score all texts within `limit`.
    pub fn score_texts(&self, query: &str, texts: &[String], limit: Duration) -> Result<Vec<f32>, String> {
        let until = Instant::now() + limit;
        self.server.wait_until_ready(limit)?;
        let mut scores = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                let (done, all) = (scores.len(), texts.len());
                return Err(format!("scored only {done} of {all} hits within {} s", limit.as_secs_f32()));
            }
            let task = ModelTask { query: Some(query.to_owned()), texts: batch.to_vec() };
            for score in self.server.run_task_if_ready(&task, rest)? {
                let score = score.and_then(|score| score.first().copied());
                let score = score.ok_or("the model returned a score that is not finite")?;
                scores.push(1.0 / (1.0 + (-score).exp()));
            }
        }
        Ok(scores)
    }
}
