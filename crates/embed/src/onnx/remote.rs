//! Runs an ONNX model in up to two processes.
//!
//! One process embeds queries. The first query starts it but does not wait for it, and the process ends when it has been idle for
//! ten minutes. The other process embeds documents in the background, at a low priority, and ends 30 seconds after its last task.
//! So a query never waits for a batch of documents.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use memod_base::threads::lock;

use super::cache::InstalledModel;
use super::manifest::Manifest;
use super::model_client::{ModelProcess, QUERY_LIMIT};
use super::model_process::{ModelTask, StartOptions};
use super::{OnnxError, RuntimeLocations};
use crate::{CosineScale, EmbedError, Embedder, MODEL_LOADING, TextRole};

/// Number of texts in one task. The process embeds them one after the other, so more texts would need a longer time limit.
const BATCH: usize = 8;

/// Bytes of a text that are sent for each token of the limit. Tokens are shorter, so the model would cut off further bytes.
const BYTES_A_TOKEN: usize = 16;

/// Idle time after which the process for queries ends.
const QUERY_IDLE_TIMEOUT: Duration = Duration::from_secs(600);

/// Idle time after which the background process ends.
const BACKGROUND_IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Time after a failed start until the next attempt.
const RETRY_DELAY: Duration = Duration::from_secs(30);

/// Most query vectors in the cache. A search needs the same vector for the index and for the memories, and users repeat queries.
const MAX_CACHED_QUERIES: usize = 32;

/// One vector for each text; `None` for a text without a vector.
pub(super) type Vectors = Vec<Option<Vec<f32>>>;

/// An installed embedding model, run by processes of its own.
pub struct OutOfProcessModel {
    identity: String,
    manifest: Manifest,
    /// Embeds queries.
    query_server: Arc<ModelServer>,
    /// Embeds documents in the background.
    background_server: Arc<ModelServer>,
    /// The last queries with their vectors, oldest first.
    queries: Mutex<Vec<(String, Vectors)>>,
}

impl OutOfProcessModel {
    /// Creates the model without starting a process. `program` is the path of `memod`.
    ///
    /// # Errors
    /// When the library of ONNX Runtime is not found.
    pub fn new(
        installed: &InstalledModel,
        runtime: &RuntimeLocations,
        program: &Path,
    ) -> Result<Self, OnnxError> {
        let runtime = runtime.find_library()?;
        let server = |in_background| {
            let (model_dir, identity) = (installed.dir.clone(), installed.manifest.identity());
            ModelServer::new(
                program,
                StartOptions { model_dir, identity, runtime: runtime.clone(), in_background },
            )
        };
        let manifest = installed.manifest.clone();
        let (identity, queries) = (manifest.identity(), Mutex::default());
        Ok(Self { identity, manifest, query_server: server(false), background_server: server(true), queries })
    }

    /// Returns the texts to send, prefixed and cut, each with its index in `texts`. Blank texts are left out, and get no vector.
    fn prepare_texts(&self, texts: &[&str], role: TextRole) -> Vec<(usize, String)> {
        let prefix = match role {
            TextRole::Query => &self.manifest.query_prefix,
            TextRole::Document => &self.manifest.document_prefix,
        };
        let most = self.manifest.max_tokens * BYTES_A_TOKEN;
        let texts = texts.iter().enumerate().filter(|(_, text)| !text.trim().is_empty());
        texts.map(|(at, text)| (at, format!("{prefix}{}", &text[..text.floor_char_boundary(most)]))).collect()
    }

    /// Returns the error of this model with a reason.
    fn embed_error(&self, reason: String) -> EmbedError {
        EmbedError { model: self.identity.clone(), reason }
    }

    /// Embeds texts in batches, calling `ask` for each batch.
    fn embed_in_batches(
        &self,
        texts: &[&str],
        role: TextRole,
        ask: impl Fn(Vec<String>) -> Result<Vectors, String>,
    ) -> Result<Vectors, EmbedError> {
        let mut vectors = vec![None; texts.len()];
        for batch in self.prepare_texts(texts, role).chunks(BATCH) {
            let found = ask(batch.iter().map(|(_, text)| text.clone()).collect())
                .map_err(|reason| self.embed_error(reason))?;
            for ((at, _), vector) in batch.iter().zip(found) {
                if vector.as_ref().is_some_and(|vector| vector.len() != self.manifest.dims) {
                    return Err(self.embed_error(format!(
                        "its process sent a vector whose length is not {}",
                        self.manifest.dims
                    )));
                }
                vectors[*at] = vector;
            }
        }
        Ok(vectors)
    }
}

impl Embedder for OutOfProcessModel {
    fn id(&self) -> &str {
        &self.identity
    }

    fn dims(&self) -> usize {
        self.manifest.dims
    }

    fn embed(&self, texts: &[&str]) -> Result<Vectors, EmbedError> {
        self.embed_in_batches(texts, TextRole::Document, |texts| {
            self.background_server.run_task_when_ready(&ModelTask::for_embedding(texts))
        })
    }

    fn embed_if_loaded(&self, texts: &[&str], role: TextRole) -> Result<Vectors, EmbedError> {
        let mut kept = None;
        if let (TextRole::Query, [text]) = (role, texts) {
            let queries = lock(&self.queries);
            kept = queries.iter().find(|(known, _)| known == text).map(|(_, vectors)| vectors.clone());
        }
        if let Some(vectors) = kept {
            return Ok(vectors);
        }
        let vectors = self.embed_in_batches(texts, role, |texts| {
            self.query_server.run_task_if_ready(&ModelTask::for_embedding(texts), QUERY_LIMIT)
        })?;
        if let (TextRole::Query, [text]) = (role, texts) {
            let mut queries = lock(&self.queries);
            if queries.len() == MAX_CACHED_QUERIES {
                queries.remove(0);
            }
            queries.push(((*text).to_owned(), vectors.clone()));
        }
        Ok(vectors)
    }

    fn warm_up(&self) -> Result<(), EmbedError> {
        self.embed_in_batches(&["warm up"], TextRole::Query, |texts| {
            self.query_server.run_task_when_ready(&ModelTask::for_embedding(texts))
        })
        .map(drop)
    }

    fn poll_ready(&self) -> bool {
        self.background_server.poll_ready()
    }

    fn is_slow(&self) -> bool {
        true
    }

    fn cosine_scale(&self) -> CosineScale {
        self.manifest.scale
    }
}

/// Starts a model process when a task needs it, and ends the process after it has been idle.
pub(super) struct ModelServer {
    program: PathBuf,
    start: StartOptions,
    state: Mutex<ServerState>,
    changed: Condvar,
    /// Whether a thread is running that ends the process when it is idle.
    has_idle_thread: AtomicBool,
}

#[derive(Default)]
enum ServerState {
    #[default]
    Stopped,
    Starting,
    /// The process, `None` while a task runs; and when the last task ended.
    Ready(Option<ModelProcess>, Instant),
    /// Why and when the last start failed.
    Failed(String, Instant),
}

impl ModelServer {
    /// Creates a server that has not started a process yet.
    pub(super) fn new(program: &Path, start: StartOptions) -> Arc<Self> {
        let (state, changed, is_watched) = (Mutex::default(), Condvar::new(), AtomicBool::new(false));
        Arc::new(Self { program: program.to_owned(), start, state, changed, has_idle_thread: is_watched })
    }

    /// Waits until the process runs, at most for `limit`, and starts it if it is stopped.
    ///
    /// # Errors
    /// The reason, if the process cannot be started, or [`MODEL_LOADING`] if it is not ready in time.
    pub(super) fn wait_until_ready(self: &Arc<Self>, limit: Duration) -> Result<(), String> {
        let until = Instant::now() + limit;
        let mut state = lock(&self.state);
        loop {
            if matches!(*state, ServerState::Ready(..)) {
                return Ok(());
            }
            if !matches!(*state, ServerState::Starting) {
                let why = self.start_if_stopped(state);
                if why != MODEL_LOADING {
                    return Err(why);
                }
                state = lock(&self.state);
                continue;
            }
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Err(MODEL_LOADING.to_owned());
            }
            state = self.changed.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Runs a task, however long it takes to start the process or to wait for other tasks.
    fn run_task_when_ready(self: &Arc<Self>, task: &ModelTask) -> Result<Vectors, String> {
        let process = loop {
            let mut state = lock(&self.state);
            match &mut *state {
                ServerState::Ready(process, _) => {
                    if let Some(process) = process.take() {
                        break process;
                    }
                    drop(self.changed.wait(state).unwrap_or_else(PoisonError::into_inner));
                }
                ServerState::Starting => {
                    drop(self.changed.wait(state).unwrap_or_else(PoisonError::into_inner));
                }
                ServerState::Failed(why, at) if at.elapsed() < RETRY_DELAY => return Err(why.clone()),
                ServerState::Stopped | ServerState::Failed(..) => {
                    *state = ServerState::Starting;
                    drop(state);
                    self.start_process();
                }
            }
        };
        self.run_task(process, task)
    }

    /// Runs a task if the process is ready, after waiting at most `limit` for other tasks to end. If the process is not ready,
    /// starts it and returns an error ([`MODEL_LOADING`], or why the last start failed) without waiting.
    pub(super) fn run_task_if_ready(
        self: &Arc<Self>,
        task: &ModelTask,
        limit: Duration,
    ) -> Result<Vectors, String> {
        let until = Instant::now() + limit;
        let mut state = lock(&self.state);
        let process = loop {
            let ServerState::Ready(process, _) = &mut *state else {
                return Err(self.start_if_stopped(state));
            };
            if let Some(process) = process.take() {
                break process;
            }
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Err(format!("its process was busy for over {} s", limit.as_secs()));
            }
            state = self.changed.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0;
        };
        drop(state);
        self.run_task(process, task)
    }

    /// Returns whether the process runs. If it does not, starts it, without waiting.
    fn poll_ready(self: &Arc<Self>) -> bool {
        let state = lock(&self.state);
        if matches!(*state, ServerState::Ready(..)) {
            return true;
        }
        self.start_if_stopped(state);
        false
    }

    /// Starts a stopped process, without waiting. Returns why the process cannot run tasks: [`MODEL_LOADING`], or why its last
    /// start failed.
    fn start_if_stopped(self: &Arc<Self>, mut state: MutexGuard<'_, ServerState>) -> String {
        match &*state {
            ServerState::Failed(why, at) if at.elapsed() < RETRY_DELAY => return why.clone(),
            ServerState::Starting | ServerState::Ready(..) => return MODEL_LOADING.to_owned(),
            ServerState::Stopped | ServerState::Failed(..) => *state = ServerState::Starting,
        }
        drop(state);
        let server = Arc::clone(self);
        let starting =
            thread::Builder::new().name("embed-start".to_owned()).spawn(move || server.start_process());
        if let Err(error) = starting {
            let why = format!("a thread cannot be started: {error}");
            self.set_state(ServerState::Failed(why, Instant::now()));
        }
        MODEL_LOADING.to_owned()
    }

    /// Runs a task in the process. Makes the process available again afterwards, or drops it if the task failed.
    fn run_task(self: &Arc<Self>, mut process: ModelProcess, task: &ModelTask) -> Result<Vectors, String> {
        let found = process.run_task(task);
        match &found {
            Ok(_) => self.set_state(ServerState::Ready(Some(process), Instant::now())),
            Err(why) => {
                tracing::warn!(why, model = %self.start.model_dir.display(), "a model process failed");
                self.set_state(ServerState::Stopped); // the text may be the cause, so the next task gets a new process
            }
        }
        found
    }

    /// Starts the process and waits until it is ready. The state must be [`ServerState::Starting`].
    fn start_process(self: &Arc<Self>) {
        match ModelProcess::start(&self.program, &self.start) {
            Ok(process) => {
                tracing::info!(model = %self.start.model_dir.display(), rss = process.rss_bytes(), "a model is loaded");
                self.set_state(ServerState::Ready(Some(process), Instant::now()));
                self.start_idle_thread();
            }
            Err(why) => {
                tracing::error!(why, model = %self.start.model_dir.display(), "a model cannot be loaded");
                self.set_state(ServerState::Failed(why, Instant::now()));
            }
        }
    }

    /// Starts the thread that ends the process when it is idle, unless the thread is running already.
    fn start_idle_thread(self: &Arc<Self>) {
        if self.has_idle_thread.swap(true, Ordering::SeqCst) {
            return;
        }
        let (server, idle) = (Arc::downgrade(self), self.idle_limit());
        let watching = thread::Builder::new().name("embed-idle".to_owned());
        if watching.spawn(move || end_process_when_idle(&server, idle)).is_err() {
            self.has_idle_thread.store(false, Ordering::SeqCst); // without the thread, the process ends with the daemon
        }
    }

    /// Returns the time after which the idle process ends.
    fn idle_limit(&self) -> Duration {
        if self.start.in_background { BACKGROUND_IDLE_TIMEOUT } else { QUERY_IDLE_TIMEOUT }
    }

    /// Sets the state, and wakes all threads that wait for a change.
    fn set_state(&self, new: ServerState) {
        let former = std::mem::replace(&mut *lock(&self.state), new);
        self.changed.notify_all();
        drop(former); // may kill a process, so the lock is released before
    }
}

/// Ends the process of `server` when its last task is at least `idle` ago; returns then, or when there is no process.
fn end_process_when_idle(server: &Weak<ModelServer>, idle: Duration) {
    let mut rest = idle;
    loop {
        thread::park_timeout(rest);
        let Some(server) = server.upgrade() else { return };
        let mut state = lock(&server.state);
        match &*state {
            ServerState::Ready(Some(_), asked) if asked.elapsed() >= idle => {
                let former = std::mem::take(&mut *state);
                server.has_idle_thread.store(false, Ordering::SeqCst);
                drop(state);
                drop(former); // kills the process, so the lock is released before
                return;
            }
            ServerState::Ready(_, asked) => rest = idle.saturating_sub(asked.elapsed()),
            ServerState::Stopped | ServerState::Starting | ServerState::Failed(..) => {
                // Stored under the lock, so that the next start of a process sees the new value.
                server.has_idle_thread.store(false, Ordering::SeqCst);
                return;
            }
        }
        rest = rest.max(Duration::from_secs(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(state: ServerState) -> Arc<ModelServer> {
        let nowhere = PathBuf::from("/nonexistent/memod");
        let (model_dir, runtime) = (nowhere.clone(), nowhere.clone());
        let start = StartOptions { model_dir, identity: String::new(), runtime, in_background: false };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        Arc::new(ModelServer {
            program: nowhere,
            start,
            state,
            changed,
            has_idle_thread: AtomicBool::new(false),
        })
    }

    #[test]
    fn who_asks_never_waits_for_a_start() {
        let ask = |server: &Arc<ModelServer>, limit| {
            server.run_task_if_ready(&ModelTask::for_embedding(vec!["a".to_owned()]), limit).unwrap_err()
        };
        let loading = server(ServerState::Starting);
        assert_eq!((ask(&loading, QUERY_LIMIT), loading.poll_ready()), (MODEL_LOADING.to_owned(), false));
        let busy = server(ServerState::Ready(None, Instant::now()));
        let why = "its process was busy for over 0 s".to_owned();
        assert_eq!((ask(&busy, Duration::ZERO), busy.poll_ready()), (why, true));
        let stopped = server(ServerState::Stopped);
        assert_eq!(ask(&stopped, QUERY_LIMIT), MODEL_LOADING, "it is started by another thread");
        let mut state = lock(&stopped.state);
        while matches!(*state, ServerState::Starting) {
            state = stopped.changed.wait(state).unwrap();
        }
        drop(state);
        let why = ask(&stopped, QUERY_LIMIT);
        assert!(why.starts_with("its process cannot be started: "), "{why}");
        assert!(!stopped.poll_ready());
    }

    #[test]
    fn who_waits_for_its_turn_is_not_left_waiting_when_the_process_ends() {
        let busy = server(ServerState::Ready(None, Instant::now()));
        let asked = Arc::clone(&busy);
        let asking =
            thread::spawn(move || asked.run_task_if_ready(&ModelTask::default(), Duration::from_secs(60)));
        busy.set_state(ServerState::Starting);
        assert_eq!(asking.join().unwrap(), Err(MODEL_LOADING.to_owned()));
    }
}
