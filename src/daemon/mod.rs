//! The daemon: keeps the index of a repository current and answers requests.
//!
//! `server` reads requests and `dispatch` answers them; `web` does the same over HTTP where that is asked for. `main_loop`
//! owns the state of each worktree (`worktree`), `disk` accesses its file system, `worker` and `embedding` do the long
//! work. Events go to the loop, and jobs and tasks come from it.

mod advice;
mod anchors;
mod briefing;
mod caveats;
mod changed;
mod clock;
mod completing;
mod connection;
mod counting;
mod definition_diff;
mod descriptors;
mod disk;
mod disk_reads;
mod dispatch;
mod doorbell;
mod embedding;
mod error;
mod event;
mod expansion;
mod gates;
mod githooks;
mod history;
mod index_file;
mod index_repair;
mod kept_changes;
mod kept_chunks;
mod kept_maps;
mod kept_surveys;
mod known_definitions;
mod known_texts;
mod language_model;
mod lines;
mod listen;
mod llm_methods;
mod llm_settings;
mod lock;
mod log;
mod main_loop;
mod memories;
mod memory_limit;
mod memory_scope;
mod model_methods;
mod models;
mod named_definitions;
mod object_ids;
mod outlining;
mod own_files;
mod path_spec;
mod per_view;
mod preflight;
mod program;
mod reconcile;
mod references;
mod remembered;
mod replies;
mod repo_map;
mod request;
mod reranking;
mod scrub;
mod search;
mod search_scope;
mod server;
mod shared;
mod show_code;
mod status;
mod subscribing;
mod subscriptions;
mod team_standing;
mod team_sync;
mod threads;
mod type_members;
mod vectors;
mod verify;
mod watch_queue;
mod web;
mod why;
mod worker;
mod worktree;
mod worktree_news;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::Context;

pub use self::error::{error_chain, hint_of};
use self::event::Event;
use self::listen::Listener;
use self::lock::DaemonLock;
use self::main_loop::MainLoop;
pub use self::memories::export::print_memories;
use self::memories::keeper::Memories;
pub use self::memory_limit::WithReserve;
use self::models::Models;
pub use self::preflight::check;
pub use self::program::program;
use memod_base::paths::{Env, RepoLayout};
use memod_base::threads::caught;
use memod_embed::onnx::{ModelCache, Runtime};
use memod_watch::Watch;

use self::shared::Shared;
use self::threads::spawn;
use self::watch_queue::WatchQueue;
use memod_config::Config;
use memod_indexing::{Commits, Indexer, Progress, Reading};

/// Threads for blocking calls. `gates` allows fewer to work at a time; the others may hang on file systems.
const MOST_THREADS: usize = 512;

/// Longest wait for the threads of the index at the end, which begins with that for the requests.
const END: Duration = Duration::from_secs(2);
/// Longest wait for the last copy of the memories.
const END_OF_MEMORIES: Duration = Duration::from_secs(10);

/// How a daemon ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The daemon served, and then stopped.
    Served,
    /// Another daemon serves the repository already.
    AlreadyRunning,
}

/// Serves the repository around `root` until a request, a signal or the idle exit stops it.
///
/// `ready` is called once the socket accepts connections. With `index_on_demand`, nothing is indexed before a request needs it.
///
/// # Errors
/// When it cannot start; nothing is left behind that the next start would not replace.
pub fn run(root: &Path, index_on_demand: bool, ready: Box<dyn FnOnce()>) -> anyhow::Result<Ended> {
    descriptors::prepare()?;
    memory_limit::prepare()?;
    let env = Env::read();
    let layout = RepoLayout::locate(root, &env)?;
    layout.create_state_dir()?;
    let Some(_lock) = DaemonLock::take(&layout)? else { return Ok(Ended::AlreadyRunning) };
    let config = memod_config::load(Some(&layout))?.config;
    log::start(&layout.log_file(), &config.daemon.log)?;
    tracing::info!(root = %layout.root.display(), version = env!("CARGO_PKG_VERSION"), "starting");
    let outcome = serve(layout, env, config, index_on_demand, ready);
    if let Err(error) = &outcome {
        tracing::error!(error = error_chain(error), "ended");
    }
    outcome.map(|()| Ended::Served)
}

fn serve(
    layout: RepoLayout,
    env: Env,
    config: Config,
    index_on_demand: bool,
    ready: Box<dyn FnOnce()>,
) -> anyhow::Result<()> {
    let index_db = layout.index_file();
    let progress = Arc::new(Progress::default());
    let n_commits = usize::try_from(config.index.commits).unwrap_or(usize::MAX);
    let (writer, commits) = index_file::retry_transient(|| {
        let writer = index_file::open(&index_db)?;
        Ok((writer, Commits::new(&index_db, n_commits, Arc::clone(&progress))?))
    })?;
    let reading =
        Reading { max_file_bytes: config.index.max_file_bytes, n_threads: descriptors::max_readers() };
    let indexer = Indexer::new(&index_db, &program::program()?, reading, Arc::clone(&progress));
    let socket = lock::socket_path(&layout, &env)?;

    let runtime = runtime().context("start the runtime")?;
    let (listener, signalled) = {
        let _inside = runtime.enter();
        // Handle signals before the socket exists, so that an early signal does not leave it behind.
        let signalled = signals().context("handle signals")?;
        let bound = Listener::bind(&socket);
        (bound.with_context(|| format!("bind {}", socket.display()))?, signalled)
    };

    let (event_sender, events) = channel();
    let (for_watch, watch_queue) = (event_sender.clone(), Arc::new(WatchQueue::default()));
    let counted = Arc::clone(&watch_queue);
    let watch = Watch::start(move |event| {
        counted.push(event).is_none_or(|event| for_watch.send(Event::Watch(event)).is_ok())
    })?;
    let models = Arc::new(models(&config, &env)?);
    let memories = Memories::start(&layout, &env, config.memory.on_expiry == "purge", models)?;
    let to_loop = (event_sender, watch_queue);
    let index = (indexer, progress);
    let shared = Shared::new(layout, env, config, index_db, socket, watch, index, to_loop, memories);
    let shared = Arc::new(shared);
    lock::publish(&shared.layout, &shared.socket)?;

    let (jobs, job_queue) = channel();
    let (rounds, round_queue) = channel();
    let (for_writer, for_embed, embed_jobs) = (Arc::clone(&shared), Arc::clone(&shared), jobs.clone());
    let writer = spawn("writer", move || worker::write(&for_writer, writer, commits, &job_queue))?;
    let embed = spawn("embed", move || embedding::embed(&for_embed, &round_queue, &embed_jobs))?;
    let own_files = look_at_own_files(Arc::clone(&shared))?;
    let last_job = jobs.clone();
    let main_loop = MainLoop::new(Arc::clone(&shared), jobs, rounds, own_files);
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let for_loop = Arc::clone(&shared);
    let looping = spawn("loop", move || {
        let why = caught(move || main_loop.run(&events, index_on_demand))
            .unwrap_or("the loop panicked, and it alone knows what is fresh");
        tracing::info!(why, "stopping");
        for_loop.memories.note_lost(why == own_files::LOST);
        for_loop.progress.cancelled.store(true, Ordering::Relaxed);
        for_loop.llm.stop();
        let _ = last_job.send(worker::Job::Stop); // it may have ended
        let _ = stop.send(true); // the server may have failed already
    })?;
    runtime.spawn(stop_after(signalled, Arc::clone(&shared)));
    stop_at_memory_limit(Arc::clone(&shared))?;
    runtime.spawn(counting::count(Arc::clone(&shared)));
    runtime.spawn(team_sync::keep(Arc::clone(&shared)));
    ready();
    let index_ended = on_thread(move || {
        for thread in [looping, embed, writer] {
            let _ = thread.join(); // a panic is in the log already
        }
    });
    let stopped_at = runtime.block_on(server::serve(Arc::clone(&shared), listener, stopped));
    wait_until(stopped_at + END, "the index", &index_ended);
    let memories_ended = on_thread(move || shared.memories.stop());
    wait_until(Instant::now() + END_OF_MEMORIES, "the memories", &memories_ended);
    runtime.shutdown_background();
    Ok(())
}

/// Has the daemon end in order once the memory that it may take is used up.
fn stop_at_memory_limit(shared: Arc<Shared>) -> anyhow::Result<()> {
    memory_limit::watch(move || shared.send(Event::Stop(memory_limit::USED_UP)))
}

/// Starts the thread that looks whether the daemon's files are still its own, each time that it is asked.
fn look_at_own_files(shared: Arc<Shared>) -> anyhow::Result<Sender<()>> {
    let (ask, asked) = channel();
    spawn("own-files", move || {
        let lost = || shared.send(Event::Stop(own_files::LOST));
        own_files::look(&asked, || shared.is_found(), lost);
    })?;
    Ok(ask)
}

async fn stop_after(signalled: impl Future<Output = ()>, shared: Arc<Shared>) {
    signalled.await;
    shared.send(Event::Stop("a signal"));
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(memory_limit::max_threads(MOST_THREADS))
        .thread_name("serve")
        .enable_all()
        .build()
}

/// Returns the models that the settings name.
fn models(config: &Config, env: &Env) -> anyhow::Result<Models> {
    let path = |setting: &str| (!setting.is_empty()).then(|| PathBuf::from(setting));
    let cache_dir = path(&config.model.cache_dir).unwrap_or_else(|| env.cache_dir());
    let (variable, setting) = (env.onnx_runtime.clone(), path(&config.model.runtime));
    let runtime = Runtime { variable, setting, cache_dir: cache_dir.clone() };
    let models = Models::new(ModelCache::new(&cache_dir), runtime, program::program()?, &config.model.name);
    Ok(models.with_reranker(&config.model.reranker))
}

/// Runs code on a thread of its own; the receiver gets a message when it is done.
fn on_thread(run: impl FnOnce() + Send + 'static) -> Receiver<()> {
    let (done, ended) = channel();
    // Without a thread nothing is sent, as if it hung.
    let _ = spawn("end", move || {
        run();
        let _ = done.send(()); // the receiver may have given up
    });
    ended
}

/// Waits until threads have ended, but not longer than `deadline`, because a file system that hangs may block one for ever.
/// This loses nothing that was acknowledged: it is on the disk.
fn wait_until(deadline: Instant, what: &str, ended: &Receiver<()>) {
    if ended.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_err() {
        tracing::warn!(what, "a thread does not end; the daemon ends without it");
    }
}

/// Handles SIGTERM and SIGINT from now on; the returned future completes with the first of them.
#[cfg(unix)]
fn signals() -> std::io::Result<impl Future<Output = ()> + Send> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
    })
}

#[cfg(not(unix))]
fn signals() -> std::io::Result<impl Future<Output = ()> + Send> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_waited_for_until_the_deadline_alone() {
        let (_hanging, never) = channel();
        let began = Instant::now();
        wait_until(began, "a thread that hangs", &never);
        assert!(began.elapsed() < END, "the time for it is over already");
        let ended = on_thread(|| {});
        assert_eq!(ended.recv(), Ok(()));
    }
}
