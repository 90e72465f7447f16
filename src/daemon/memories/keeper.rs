//! Runs the thread that owns memory.db.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use memod_base::threads::{caught, lock};
use memod_database::DatabaseError;
use memod_embed::BUILTIN_ID;
use memod_engine::Engine;
use memod_engine::clock::{now_ms, uptime};
use memod_engine::errors::{RpcResult, stopping};
use memod_engine::models::{Loaded, Models};
use memod_engine::subscriptions::{Events, Topics};
use memod_engine::threads::spawn;
use memod_memory::{id, text};
use memod_memory_db::{
    Checked, Derived, Foreign, Forms, MemoryStore, Preparing, Record, remove_left_copies, remove_unfinished,
};
use memod_proto::{Check, RpcError, code};
use tokio::sync::{Notify, oneshot};

use super::file_text::file_text;
use super::finder::{Finder, vector_model};
use super::known_files::KnownFiles;
use super::panics::Panics;
use super::show;
use crate::daemon::request::connection::Connection;
use crate::daemon::request::memory_scope;

/// A database of another system that is being read.
pub(super) struct OpenForeign {
    pub(super) path: PathBuf,
    /// Name of the system.
    pub(super) system: String,
    /// The connection that reads it.
    pub(super) connection: Weak<Connection>,
    /// The copy.
    pub(super) copy: Foreign,
}

/// Minimum time between two backups, and so the most that is lost if the file is deleted while no daemon runs.
const COPY_AGAIN: Duration = Duration::from_secs(600);
/// Maximum share of time for making backups.
const COPY_SHARE: u32 = 100;
/// Delay after a failure to compute or store vectors, or while a model is loading, before they are tried again.
const EMBED_AGAIN: Duration = Duration::from_secs(2);

/// A handle to the thread that owns the memories.
pub(in crate::daemon) struct Memories {
    jobs: Sender<Job>,
    pub(super) finder: Arc<Finder>,
    models: Arc<Models>,
    events: Arc<Events>,
    /// The database of another system that is being read.
    pub(super) foreign: Mutex<Option<OpenForeign>>,
    /// What is known of the files of worktrees.
    pub(super) files: KnownFiles,
    /// Of the rows, see [`MemoryStore::generation`].
    pub(super) generation: Arc<AtomicU64>,
    /// Rung when there may be something to send to the team.
    pub(in crate::daemon) outbox_bell: Arc<Notify>,
    panics: Arc<Panics>,
    /// Whether the state dir is gone, or is that of another repository.
    is_lost: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Memories {
    /// Starts the thread, which opens the database.
    pub(in crate::daemon) fn start(engine: &Engine) -> anyhow::Result<Self> {
        let Engine { layout, env, config, .. } = engine;
        let purges_expired = config.memory.on_expiry == "purge";
        let models = Arc::clone(&engine.models);
        let (jobs, queue) = channel();
        remove_left_copies(&layout.state_dir);
        let left_in = layout.state_dir.clone();
        // It may be on a file system that hangs.
        drop(spawn("left-backup", move || remove_unfinished(&left_in))?);
        let (state_dir, elsewhere) = (layout.state_dir.clone(), layout.other_states(env));
        let for_store = Arc::clone(&models);
        let new_store = move || {
            let models = Arc::clone(&for_store);
            let make_model = Box::new(move |id: &str| vector_model(&models, id));
            let mut store = MemoryStore::new(&state_dir, FORMS, BUILTIN_ID, make_model);
            store.end_what_is_over(uptime, purges_expired);
            store.look_elsewhere(&elsewhere);
            store
        };
        let (finder, panics) = (Arc::new(Finder::new(Arc::clone(&models))), Arc::new(Panics::default()));
        let (for_thread, noted) = (Arc::clone(&finder), Arc::clone(&panics));
        let (for_serving, is_lost) = (Arc::clone(&models), Arc::<AtomicBool>::default());
        let told_lost = Arc::clone(&is_lost);
        let end = move |store: &mut MemoryStore| match told_lost.load(Ordering::Acquire) {
            true => store.leave(),
            false => drop(store.close(now_ms()).inspect_err(warn_of_copy)),
        };
        let run = move || keep((new_store, end), &for_thread, &for_serving, &queue, &noted);
        let thread = Mutex::new(Some(spawn("memory", run)?));
        let events = Arc::clone(&engine.events);
        let (files, generation) = (KnownFiles::default(), Arc::default());
        Ok(Self {
            jobs,
            finder,
            models,
            events,
            foreign: Mutex::default(),
            files,
            generation,
            outbox_bell: Arc::default(),
            panics,
            is_lost,
            thread,
        })
    }

    /// Has the thread look whether another model was chosen.
    pub(in crate::daemon) fn note_choice(&self) {
        let _ = self.jobs.send(Job::Run(Box::new(|_| Ok(())))); // it may have ended
    }

    /// Returns the identity of the model whose vectors memories have.
    pub(in crate::daemon) fn model_id(&self) -> String {
        self.finder.vectors(|vectors| vectors.model().to_owned())
    }

    /// Returns the model whose vectors memories have, or why it cannot be used.
    pub(in crate::daemon) fn model(&self) -> Loaded {
        self.models.ready(&self.finder.vectors(|vectors| vectors.model().to_owned()))
    }

    /// Runs a job on the thread and waits for the result.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut MemoryStore) -> T + Send + 'static,
    ) -> RpcResult<T> {
        self.send(run)?.await.map_err(|_| self.failed())
    }

    pub(super) fn send<T: Send + 'static>(
        &self,
        run: impl FnOnce(&mut MemoryStore) -> T + Send + 'static,
    ) -> RpcResult<oneshot::Receiver<T>> {
        let (reply, answer) = oneshot::channel();
        let (finder, events) = (Arc::clone(&self.finder), Arc::clone(&self.events));
        let (worktree, generation) = (memory_scope::worktree(), Arc::clone(&self.generation));
        let job = Job::Run(Box::new(move |store| {
            store.watch_changes(events.hears(Topics::OF_MEMORIES));
            store.enter_worktree(worktree);
            let value = run(store);
            generation.store(store.generation(), Ordering::Release);
            // Update the copy before answering, so that acknowledged changes are found. The answer is sent in any case.
            let followed = catch_unwind(AssertUnwindSafe(|| finder.follow(store)));
            drop(reply.send(value));
            events.tell_memories(store.take_changes());
            followed
        }));
        self.jobs.send(job).map_err(|_| stopping())?;
        Ok(answer)
    }

    /// Returns the number of living memories, and notices for the user.
    pub(in crate::daemon) async fn overview(&self) -> (u64, Vec<String>) {
        let numbers = self.ask(|store| {
            let now_ms = now_ms();
            let read = store.read::<_, RpcError>(now_ms, |rows| Ok(rows.numbers()?.living));
            (read.map_err(RpcError::from), store.notice(now_ms))
        });
        match numbers.await {
            Ok((Ok(living), notice)) => {
                (living, notice.into_iter().chain(self.panics.notice(Instant::now())).collect())
            }
            Ok((Err(error), notice)) => {
                (0, notice.into_iter().chain([format!("memories: {}", error.message)]).collect())
            }
            Err(error) => (0, vec![format!("memories: {}", error.message)]),
        }
    }

    /// Checks the database, and says what happened to it unless that is acknowledged.
    pub(in crate::daemon) async fn check(&self) -> Vec<Check> {
        let checked = self.ask(|store| {
            let now_ms = now_ms();
            let said = store.check(now_ms).map_err(|error| error.to_string());
            (said, store.problems(), store.places(), store.event(now_ms))
        });
        let (said, problems, places, event) =
            checked.await.unwrap_or_else(|error| (Err(error.message), None, None, None));
        let panic = self.panics.notice(Instant::now());
        let has_notice = problems.is_some() || panic.is_some();
        let ok = said.as_ref().is_ok_and(|checked| checked.faults.is_empty()) && !has_notice;
        let detail = said.map_or_else(|error| error, |checked| found(&checked));
        let detail = [Some(detail), places.map(|places| format!("kept in {places}")), problems, panic];
        let detail = detail.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let check = Check { name: "memory.db".to_owned(), ok, detail, hint: None };
        [check].into_iter().chain(event.map(|event| repaired("memory.db", event))).collect()
    }

    /// Ends the notice of what happened to the database, and returns what that was.
    pub(in crate::daemon) async fn acknowledge(&self) -> RpcResult<Option<String>> {
        Ok(self.ask(|store| store.acknowledge(now_ms())).await??)
    }

    /// Returns the error for a thread that did not answer.
    pub(super) fn failed(&self) -> RpcError {
        self.panics.refusal(Instant::now()).unwrap_or_else(|| {
            RpcError::new(
                code::INTERNAL,
                "an internal error, noted in the log; nothing was changed, and the daemon goes on",
            )
        })
    }

    /// Records whether the state dir is lost: then the thread makes nothing there at its end.
    pub(in crate::daemon) fn note_lost(&self, is_lost: bool) {
        self.is_lost.store(is_lost, Ordering::Release);
    }

    /// Ends the thread after its queued jobs.
    pub(in crate::daemon) fn stop(&self) {
        let _ = self.jobs.send(Job::Stop); // it may have ended
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            let _ = thread.join(); // a panic is in the log already
        }
    }
}

/// Reports a repair that nobody has acknowledged.
pub(in crate::daemon) fn repaired(database: &str, event: String) -> Check {
    let hint = "nothing to do if all is there; a file that is kept may be deleted then; `memo doctor --ack` ends this notice";
    Check { name: format!("{database} notice"), ok: false, detail: event, hint: Some(hint.to_owned()) }
}

/// Reports the result of a check.
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

/// What the store has computed here.
const FORMS: Forms = Forms { derive, differences: show::differences, new_id: id::new_id, file_text };

/// Computes the derived data of a record.
pub(super) fn derive(record: &Record) -> Derived {
    Derived {
        hash: text::hash(&record.content),
        words: text::index_memory(record.title.as_deref(), &record.tags, &record.anchors, &record.content),
    }
}

/// A job for the thread.
enum Job {
    Run(Box<Run>),
    Stop,
}

/// Returns the panic of the work after the answer, if any.
type Run = dyn FnOnce(&mut MemoryStore) -> thread::Result<()> + Send;

/// Runs jobs until the last, and then `end`. After a panic outside of a job it continues with a reopened store, a limited number of
/// times; then jobs fail with the reason.
fn keep(
    (new_store, end): (impl Fn() -> MemoryStore, impl Fn(&mut MemoryStore)),
    finder: &Finder,
    models: &Models,
    queue: &Receiver<Job>,
    panics: &Panics,
) {
    let (mut first, mut is_over) = (None, false);
    loop {
        let serve = || {
            let mut store = new_store();
            serve(&mut store, first.take(), finder, models, queue);
            is_over = true;
            finder.close();
            end(&mut store);
        };
        let Err(why) = caught(serve) else { return };
        if is_over {
            return;
        }
        finder.close();
        panics.note(why, Instant::now());
        tracing::error!("the thread that keeps the memories panicked");
        while panics.refusal(Instant::now()).is_some() {
            match queue.recv() {
                Ok(Job::Stop) | Err(_) => return,
                Ok(job) => first = panics.refusal(Instant::now()).is_none().then_some(job), // else who asked is told
            }
        }
    }
}

/// Runs jobs until the last. Vectors and backups are made while the queue is empty, so that no job waits for them.
fn serve(
    store: &mut MemoryStore,
    mut first: Option<Job>,
    finder: &Finder,
    models: &Models,
    queue: &Receiver<Job>,
) {
    let (mut copy_at, mut embed_at): (Option<Instant>, Option<Instant>) = (None, None);
    let is_due = |at: Option<Instant>| at.is_none_or(|at| at <= Instant::now());
    let _ = store.open_now(now_ms()).inspect_err(|error| tracing::error!(%error, "memories"));
    finder.follow(store);
    loop {
        let job = match first.take().ok_or(()).or_else(|()| queue.recv_timeout(Duration::ZERO)) {
            Err(RecvTimeoutError::Timeout) => {
                if store.lacks_vectors() && is_due(embed_at) {
                    if store.embed_some(now_ms()).inspect_err(warn_of_vectors).unwrap_or(false) {
                        finder.follow(store);
                        continue;
                    }
                    embed_at = Some(Instant::now() + EMBED_AGAIN);
                }
                if prepare_model(store, finder, models) {
                    continue;
                }
                if is_due(copy_at) {
                    let started = Instant::now();
                    if store.back_up(now_ms()).inspect_err(warn_of_copy).unwrap_or(true) {
                        copy_at = Some(Instant::now() + COPY_AGAIN.max(started.elapsed() * COPY_SHARE));
                    }
                }
                if store.lacks_vectors() || is_switching(store, models) {
                    match queue.recv_timeout(EMBED_AGAIN) {
                        Err(RecvTimeoutError::Timeout) => continue,
                        received => received.ok(),
                    }
                } else {
                    queue.recv().ok()
                }
            }
            received => received.ok(),
        };
        match job {
            Some(Job::Run(job)) => match catch_unwind(AssertUnwindSafe(|| job(store))) {
                // The caller notices the closed channel; the panic hook has logged the panic.
                Ok(Ok(())) | Err(_) => {}
                Ok(Err(panic)) => resume_unwind(panic),
            },
            Some(Job::Stop) | None => return,
        }
    }
}

/// Returns whether another model is to answer, which may be loading.
fn is_switching(store: &MemoryStore, models: &Models) -> bool {
    models.chosen().is_ok_and(|chosen| chosen != store.model() && models.is_usable(&chosen))
}

/// Makes some vectors of the chosen model, and switches to it when none is missing; returns whether there is more to do.
fn prepare_model(store: &mut MemoryStore, finder: &Finder, models: &Models) -> bool {
    let Ok(chosen) = models.chosen() else { return false };
    if !models.is_usable(&chosen) {
        return false; // who loads it sends a job
    }
    match store.prepare_model(now_ms(), &chosen).inspect_err(warn_of_vectors) {
        Ok(Preparing::Some) => true,
        Ok(Preparing::Switched) => {
            finder.follow(store);
            tracing::info!(model = chosen, "memories have the vectors of another model");
            true
        }
        Ok(Preparing::Idle) | Err(_) => false,
    }
}

fn warn_of_vectors(error: &DatabaseError) {
    tracing::warn!(%error, "vectors of memories could not be kept");
}

fn warn_of_copy(error: &DatabaseError) {
    tracing::warn!(%error, "no copy of the memories could be made");
}
