//! Asks the language model on separate threads, within the daily limit of tokens.
//!
//! Requests for searches and all other requests wait in separate queues, so that a long task does not delay a search. No database
//! is locked while a request waits.
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use memod_base::clock::{now_ms, to_local_time};
use memod_base::threads::{catch_panic, lock};
use memod_config::LlmSettings;
use memod_engine::threads::spawn_thread;
use memod_llm::{ChatClient, Endpoint, Prompt, SpendingFile};
use memod_search::recent_cache::RecentCache;
use tokio::sync::{oneshot, watch};
use tokio::time::timeout_at;

/// Maximum number of requests that wait in one queue.
const MOST_WAITING: usize = 8;
/// Maximum number of queries whose words are cached.
const MOST_KEPT: usize = 512;
/// Time for which searches do not ask the model after it has failed.
const PAUSE: Duration = Duration::from_secs(30);
/// Time for an answer to get from its thread to the caller.
const LEEWAY: Duration = Duration::from_millis(100);

/// The queue of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::daemon) enum ModelQueue {
    /// For a search, which also works without an answer.
    Search,
    /// For a caller that needs only this answer, such as `llm.summarise`.
    Task,
}

/// Asks the language model that the settings name, and keeps the state of its server.
pub(in crate::daemon) struct LanguageModel {
    /// The tokens spent so far.
    pub(in crate::daemon) spending: SpendingFile,
    /// The queues, search first; `None` until a queue is used.
    queues: Mutex<[Option<SyncSender<ModelJob>>; 2]>,
    chat: Arc<ChatClient>,
    state: Arc<Mutex<ModelState>>,
    words: Mutex<RecentCache<String, Vec<String>, MOST_KEPT>>,
    stopping: watch::Receiver<bool>,
}

/// The state of the server, as the last answers have shown it.
#[derive(Default)]
struct ModelState {
    /// Address of the server.
    url: String,
    /// No request is sent before this time, because the server asked for a pause.
    not_before: Option<Instant>,
    /// No request for a search is sent before this time.
    no_search_before: Option<Instant>,
    /// The last failure, and its time, unix ms.
    last_error: Option<(String, i64)>,
}

/// A request that waits for its turn.
struct ModelJob {
    endpoint: Endpoint,
    prompt: Prompt,
    limit: u64,
    queue: ModelQueue,
    deadline: Instant,
    reply: oneshot::Sender<Result<String, String>>,
}

/// The state that the thread of a queue needs.
struct QueueWorker {
    chat: Arc<ChatClient>,
    spending: SpendingFile,
    state: Arc<Mutex<ModelState>>,
}

impl LanguageModel {
    /// Takes the directory of the spending records, and a receiver that becomes true when the daemon is stopping, which ends all
    /// waiting. Opens no file and starts no thread yet.
    pub(in crate::daemon) fn new(dir: &Path, stopping: watch::Receiver<bool>) -> Self {
        Self {
            spending: SpendingFile::new(dir),
            queues: Mutex::default(),
            chat: Arc::default(),
            state: Arc::default(),
            words: Mutex::default(),
            stopping,
        }
    }

    /// Sends a prompt to the model, and returns its answer.
    ///
    /// # Errors
    /// When there is no answer in time or at all; the error says why.
    pub(in crate::daemon) async fn ask(
        &self,
        settings: &LlmSettings,
        endpoint: Endpoint,
        prompt: Prompt,
        lane: ModelQueue,
    ) -> Result<String, String> {
        let patience = match lane {
            ModelQueue::Search => Duration::from_millis(settings.timeout_ms),
            ModelQueue::Task => Duration::from_secs(settings.task_seconds),
        };
        let deadline = Instant::now() + patience;
        self.check_pause(lane, &endpoint.url)?;
        let (reply, answer) = oneshot::channel();
        let limit = settings.tokens_a_day;
        self.queue_job(ModelJob { endpoint, prompt, limit, queue: lane, deadline, reply })?;
        let mut stopping = self.stopping.clone();
        tokio::select! {
            answer = timeout_at((deadline + LEEWAY).into(), answer) => match answer {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) => Err("the daemon gave up the request".to_owned()),
                Err(_) => Err(format!("no answer within {} ms", patience.as_millis())),
            },
            _ = stopping.wait_for(|is_stopping| *is_stopping) => Err("the daemon is stopping".to_owned()),
        }
    }

    /// Returns the body of the HTTP request for a prompt.
    pub(in crate::daemon) fn render_body(&self, endpoint: &Endpoint, prompt: &Prompt) -> String {
        self.chat.render_body(endpoint, prompt)
    }

    /// Returns the last failure, and its time, unix ms.
    pub(in crate::daemon) fn last_error(&self) -> Option<(String, i64)> {
        lock(&self.state).last_error.clone()
    }

    /// Returns the cached words that a model has named for a query; empty words mean that it named none.
    pub(in crate::daemon) fn find_cached_words(&self, key: &str) -> Option<Vec<String>> {
        lock(&self.words).get(key).cloned()
    }

    /// Caches the words that a model has named for a query.
    pub(in crate::daemon) fn cache_words(&self, key: String, named: Vec<String>) {
        lock(&self.words).insert(key, named);
    }

    fn check_pause(&self, lane: ModelQueue, url: &str) -> Result<(), String> {
        let state = lock(&self.state);
        if state.url != url {
            return Ok(()); // the settings name another server now
        }
        let pause = match lane {
            ModelQueue::Search => state.not_before.max(state.no_search_before),
            ModelQueue::Task => state.not_before,
        };
        let left = pause.map(|until| until.saturating_duration_since(Instant::now()));
        let Some(left) = left.filter(|left| !left.is_zero()) else { return Ok(()) };
        let why = state.last_error.as_ref().map_or("", |(why, _)| why);
        Err(format!("{why}; the next request is possible in {} s", left.as_secs() + 1))
    }

    fn queue_job(&self, job: ModelJob) -> Result<(), String> {
        if *self.stopping.borrow() {
            return Err("the daemon is stopping".to_owned());
        }
        let mut lanes = lock(&self.queues);
        let lane = &mut lanes[job.queue as usize];
        let sender = match lane {
            Some(sender) => sender,
            None => {
                let (sender, jobs) = sync_channel(MOST_WAITING);
                let worker = QueueWorker {
                    chat: Arc::clone(&self.chat),
                    spending: self.spending.clone(),
                    state: Arc::clone(&self.state),
                };
                spawn_thread("llm", move || worker.run_jobs(&jobs)).map_err(|error| format!("{error:#}"))?;
                lane.insert(sender)
            }
        };
        sender.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => format!("{MOST_WAITING} requests wait for the language model already"),
            TrySendError::Disconnected(_) => "the thread that asks the language model has ended".to_owned(),
        })
    }
}

impl QueueWorker {
    fn run_jobs(&self, jobs: &Receiver<ModelJob>) {
        while let Ok(job) = jobs.recv() {
            if job.reply.is_closed() {
                continue; // the caller has given up: nothing is sent, and nothing spent
            }
            let outcome = catch_panic(|| self.ask_within_budget(&job))
                .unwrap_or_else(|panic| Err(format!("a panic: {panic}")));
            if let Err(why) = &outcome {
                tracing::warn!(
                    purpose = job.prompt.purpose.as_str(),
                    why,
                    "no answer from the language model"
                );
                lock(&self.state).last_error = Some((why.clone(), now_ms()));
            }
            let _ = job.reply.send(outcome); // the caller may have given up
        }
    }

    fn ask_within_budget(&self, job: &ModelJob) -> Result<String, String> {
        let ModelJob { endpoint, prompt, limit, queue: lane, deadline, .. } = job;
        let needed = prompt.estimate_tokens() + prompt.most_answer_tokens;
        let reserved = self.spending.reserve(&current_day(), prompt.purpose, needed, *limit);
        let reserved = reserved.map_err(|error| error.to_string())?;
        let outcome = self.chat.ask(endpoint, prompt, *deadline);
        let cost = match &outcome {
            Ok(answered) => answered.tokens,
            Err(failed) if failed.may_have_cost => needed,
            Err(_) => 0,
        };
        if let Err(error) = self.spending.record_cost(&reserved, cost) {
            tracing::warn!(%error, "the tokens reserved for the language model stay counted");
        }
        tracing::debug!(purpose = prompt.purpose.as_str(), cost, "asked the language model");
        let mut state = lock(&self.state);
        if state.url != endpoint.url {
            *state = ModelState { url: endpoint.url.clone(), ..ModelState::default() };
        }
        if let Err(failed) = &outcome {
            let now = Instant::now();
            state.not_before = failed.delay.map(|delay| now + delay).max(state.not_before);
            if *lane == ModelQueue::Search {
                state.no_search_before = Some(now + PAUSE);
            }
        } else {
            state.no_search_before = None;
        }
        outcome.map(|answered| answered.text).map_err(|failed| failed.why)
    }
}

/// Returns the day for which tokens are counted now, in local time, as `2026-11-25`.
pub(in crate::daemon) fn current_day() -> String {
    to_local_time(now_ms()).date().to_string()
}
