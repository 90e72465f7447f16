//! Who keeps the memories?
//!
//! One thread owns memory.db: it reads and writes for the methods, one job after the other, and never waits for the index.
//! What it has answered is on the disk.

mod about;
mod add;
mod backups;
mod beside;
mod call;
mod consolidate;
mod databases;
mod documents;
mod export;
mod finder;
mod import;
mod links;
mod look;
mod pinned;
mod recall;
mod remove;
mod rules;
mod search;
mod show;
mod similar;
mod update;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

pub(super) use self::about::counts as state_counts;
pub(super) use self::beside::beside;
pub(super) use self::call::{call, locate};
use self::finder::Finder;
pub(super) use self::finder::{Model, load as load_model};
pub(super) use self::pinned::pinned;
pub(super) use self::search::{FoundMemories, MemoryAsk, hit, is_about_memories, wanted};
use super::clock::now_ms;
use super::error::Outcome;
use crate::memory::text;
use crate::proto::{Check, RpcError, code};
use crate::store::{Checked, Derived, MemoryKeeper, Record, StoreError};

/// Shortest time between two copies: so much can be lost when the file is deleted while no daemon runs.
const COPY_AGAIN: Duration = Duration::from_secs(600);
/// Making copies takes at most this part of the time.
const COPY_SHARE: u32 = 100;

/// What the thread is asked for.
enum Job {
    Run(Box<dyn FnOnce(&mut MemoryKeeper) + Send>),
    Stop,
}

/// The way to the thread that keeps the memories.
pub(super) struct Memories {
    jobs: Sender<Job>,
    finder: Arc<Finder>,
    model: Model,
    databases: databases::Opened,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Memories {
    /// Starts the thread, which opens the database.
    pub(super) fn start(state_dir: &Path, purges_expired: bool) -> anyhow::Result<Self> {
        let (jobs, queue) = channel();
        let model = Model::default();
        let mut keeper = MemoryKeeper::new(state_dir, derive, finder::vector_model(Arc::clone(&model)));
        if purges_expired {
            keeper.purge_what_is_over();
        }
        let finder = Arc::new(Finder::default());
        let for_thread = Arc::clone(&finder);
        let thread = super::spawn("memory", move || keep(keeper, &for_thread, &queue))?;
        Ok(Self {
            jobs,
            finder,
            model,
            databases: databases::Opened::default(),
            thread: Mutex::new(Some(thread)),
        })
    }

    /// Returns the model, which the chunks of the index share.
    pub(super) fn model(&self) -> Model {
        Arc::clone(&self.model)
    }

    /// Returns what knows which memories are near.
    fn near(&self) -> similar::Near {
        similar::Near { finder: Arc::clone(&self.finder), model: self.model() }
    }

    /// Runs a job on the thread and waits for what it returns.
    async fn ask<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut MemoryKeeper) -> T + Send + 'static,
    ) -> Outcome<T> {
        self.send(run)?.await.map_err(|_| failed())
    }

    fn send<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut MemoryKeeper) -> T + Send + 'static,
    ) -> Outcome<oneshot::Receiver<T>> {
        let (reply, answer) = oneshot::channel();
        let finder = Arc::clone(&self.finder);
        let job = Job::Run(Box::new(move |keeper| {
            let value = run(keeper);
            finder.follow(keeper); // before anybody is told: what was acknowledged is found
            drop(reply.send(value));
        }));
        self.jobs.send(job).map_err(|_| RpcError::new(code::STOPPING, "the daemon is stopping"))?;
        Ok(answer)
    }

    /// Returns how many memories live, and what people must know of them.
    pub(super) async fn overview(&self) -> (u64, Vec<String>) {
        let numbers = self.ask(|keeper| {
            let now_ms = now_ms();
            let read = keeper.read::<_, RpcError>(now_ms, |rows| Ok(rows.numbers()?.living));
            (read.map_err(RpcError::from), keeper.notice(now_ms).map(str::to_owned))
        });
        match numbers.await {
            Ok((Ok(living), notice)) => (living, notice.into_iter().collect()),
            Ok((Err(error), notice)) => {
                (0, notice.into_iter().chain([format!("memories: {}", error.message)]).collect())
            }
            Err(error) => (0, vec![format!("memories: {}", error.message)]),
        }
    }

    /// Checks the database.
    pub(super) async fn check(&self) -> Check {
        let checked = self.ask(|keeper| {
            let now_ms = now_ms();
            (
                keeper.check(now_ms).map_err(|error| error.to_string()),
                keeper.notice(now_ms).map(str::to_owned),
            )
        });
        let (said, notice) = checked.await.unwrap_or_else(|error| (Err(error.message), None));
        let ok = said.as_ref().is_ok_and(|checked| checked.faults.is_empty()) && notice.is_none();
        let detail = said.map_or_else(|error| error, |checked| found(&checked));
        let detail = notice.map_or(detail.clone(), |notice| format!("{detail}; {notice}"));
        Check { name: "memory.db".to_owned(), ok, detail, hint: None }
    }

    /// Ends the thread once it has done what it was asked before.
    pub(super) fn stop(&self) {
        let _ = self.jobs.send(Job::Stop); // it may have ended
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join(); // a panic is in the log already
        }
    }
}

/// Runs jobs until the last; a copy is made when there is nothing else to do, lest somebody waits for it.
fn keep(mut keeper: MemoryKeeper, finder: &Finder, queue: &Receiver<Job>) {
    let mut not_before: Option<Instant> = None;
    let _ = keeper.open_now(now_ms()).inspect_err(|error| tracing::error!(%error, "memories"));
    finder.follow(&mut keeper);
    loop {
        let job = match queue.recv_timeout(Duration::ZERO) {
            Err(RecvTimeoutError::Timeout) => {
                if keeper.embed_some(now_ms()).inspect_err(warn_of_vectors).unwrap_or(false) {
                    finder.follow(&mut keeper);
                    continue;
                }
                if not_before.is_none_or(|at| at <= Instant::now()) {
                    let started = Instant::now();
                    if keeper.back_up(now_ms()).inspect_err(warn_of_copy).unwrap_or(true) {
                        not_before = Some(Instant::now() + COPY_AGAIN.max(started.elapsed() * COPY_SHARE));
                    }
                }
                queue.recv().ok()
            }
            received => received.ok(),
        };
        match job {
            Some(Job::Run(job)) => {
                // Whoever asked is told by the end of its channel; the hook has put the panic into the log.
                let _ = catch_unwind(AssertUnwindSafe(|| job(&mut keeper)));
            }
            Some(Job::Stop) | None => break,
        }
    }
    finder.close();
    let _ = keeper.close(now_ms()).inspect_err(warn_of_copy);
}

fn warn_of_vectors(error: &StoreError) {
    tracing::warn!(%error, "vectors of memories could not be kept");
}

fn warn_of_copy(error: &StoreError) {
    tracing::warn!(%error, "no copy of the memories could be made");
}

/// Says what a check found.
fn found(checked: &Checked) -> String {
    let Checked { faults, living, vectorless } = checked;
    match faults.as_slice() {
        [] => format!(
            "integrity_check: ok; links, anchors and full text hold; {} of {living} have a vector",
            living - vectorless
        ),
        faults => faults.join("; "),
    }
}

fn failed() -> RpcError {
    RpcError::new(
        code::INTERNAL,
        "an internal error, noted in the log; nothing was changed, and the daemon goes on",
    )
}

fn derive(record: &Record) -> Derived {
    Derived {
        hash: text::hash(&record.content),
        words: text::index(record.title.as_deref(), &record.tags, &record.content),
    }
}
