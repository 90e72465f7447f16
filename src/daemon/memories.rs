//! Answers the methods about memories.
//!
//! One thread owns memory.db: it reads and writes for the methods, one job after the other, and never waits for the index.
//! What it has answered is on the disk.

mod about;
mod add;
mod backups;
mod call;
mod consolidate;
mod databases;
mod documents;
mod export;
mod finder;
mod import;
mod keeper;
mod links;
mod memories_for_path;
mod pinned;
mod queries;
mod recall;
mod remove;
mod rules;
mod search;
mod show;
mod similar;
mod update;

use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

pub(super) use self::about::counts as state_counts;
pub(super) use self::call::{call, locate};
use self::finder::Finder;
pub(super) use self::finder::{Model, load as load_model};
use self::keeper::Job;
pub(super) use self::memories_for_path::memories_for_path;
pub(super) use self::pinned::pinned;
pub(super) use self::search::{FoundMemories, MemoryAsk, hit, is_about_memories, wanted};
use super::clock::now_ms;
use super::error::RpcResult;
use crate::memory::text;
use crate::proto::{Check, RpcError, code};
use crate::store::{Checked, Derived, MemoryStore, Record};

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
        let mut store = MemoryStore::new(state_dir, derive, finder::vector_model(Arc::clone(&model)));
        if purges_expired {
            store.purge_what_is_over();
        }
        let finder = Arc::new(Finder::default());
        let for_thread = Arc::clone(&finder);
        let thread = super::spawn("memory", move || keeper::keep(store, &for_thread, &queue))?;
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
        run: impl FnOnce(&mut MemoryStore) -> T + Send + 'static,
    ) -> RpcResult<T> {
        self.send(run)?.await.map_err(|_| failed())
    }

    fn send<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut MemoryStore) -> T + Send + 'static,
    ) -> RpcResult<oneshot::Receiver<T>> {
        let (reply, answer) = oneshot::channel();
        let finder = Arc::clone(&self.finder);
        let job = Job::Run(Box::new(move |store| {
            let value = run(store);
            finder.follow(store); // before anybody is told: what was acknowledged is found
            drop(reply.send(value));
        }));
        self.jobs.send(job).map_err(|_| RpcError::new(code::STOPPING, "the daemon is stopping"))?;
        Ok(answer)
    }

    /// Returns how many memories live, and what people must know of them.
    pub(super) async fn overview(&self) -> (u64, Vec<String>) {
        let numbers = self.ask(|store| {
            let now_ms = now_ms();
            let read = store.read::<_, RpcError>(now_ms, |rows| Ok(rows.numbers()?.living));
            (read.map_err(RpcError::from), store.notice(now_ms).map(str::to_owned))
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
        let checked = self.ask(|store| {
            let now_ms = now_ms();
            (store.check(now_ms).map_err(|error| error.to_string()), store.notice(now_ms).map(str::to_owned))
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
