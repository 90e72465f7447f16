//! The daemon: keeps the index of a repository current and answers requests.
//!
//! `server` reads requests and `dispatch` calls the function of their method; `web` does the same over HTTP after `memo serve`. The
//! crate `engine` keeps the index current and reports how fresh it is. Each folder here answers the requests about one subject.

mod completing;
mod context;
mod definitions;
mod dispatch;
mod githooks;
mod history;
mod llm_methods;
mod memories;
mod model_methods;
mod process;
mod request;
mod search;
mod server;
mod shared;
mod shared_observer;
mod status;
mod structure;
mod subscribing;
mod web;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::Context;
use memod_base::paths::{Env, RepoLayout};
use memod_config::Config;
use memod_embed::onnx::{ModelCache, RuntimeLocations};
use memod_engine::model_registry::ModelRegistry;
use memod_engine::threads::spawn_thread;
use memod_engine::{EngineOptions, OpenedIndex, UnstartedEngine, own_files};
use memod_indexing::{Indexer, Progress, ReadLimits};

pub use crate::daemon::memories::import_export::export_memories::print_memories;
use crate::daemon::memories::rules::record_functions::RECORD_FUNCTIONS;
use crate::daemon::memories::team_memories::team_sync;
use crate::daemon::process::daemon_lock::DaemonLock;
pub use crate::daemon::process::memory_limit::ReserveAllocator;
pub use crate::daemon::process::preflight::check_start;
pub use crate::daemon::process::program_path::program_path;
use crate::daemon::process::{daemon_lock, daemon_log, descriptors, memory_limit};
pub use crate::daemon::request::request_errors::find_hint;
use crate::daemon::server::socket_listener::SocketListener;
use crate::daemon::shared::Shared;
use crate::daemon::shared::memory_thread::MemoryThread;
use crate::daemon::shared_observer::WeakSharedObserver;
use crate::daemon::subscribing::event_counts;
pub use memod_engine::errors::error_chain;

/// Maximum number of threads for blocking calls. `gates` lets fewer of them work at a time; the others may hang in a file system.
const MOST_THREADS: usize = 512;

/// Time for the threads of the index to end, counted from the moment when the daemon begins to stop.
const INDEX_STOP_TIMEOUT: Duration = Duration::from_secs(2);
/// Time for the thread of the memories to end, which makes a last backup.
const MEMORIES_STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// How a daemon ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DaemonEnd {
    /// The daemon served, and then stopped.
    Served,
    /// Another daemon serves the repository already.
    AlreadyRunning,
}

/// Serves the repository around `root` until a request, a signal or the idle exit stops it.
///
/// `ready` is called once the socket accepts connections. With `index_on_demand`, nothing is indexed before a request needs the
/// index.
///
/// # Errors
/// When the daemon cannot start. The next start replaces every file that the failed one has left.
pub fn run(root: &Path, index_on_demand: bool, ready: Box<dyn FnOnce()>) -> anyhow::Result<DaemonEnd> {
    descriptors::raise_and_check_limit()?;
    memory_limit::prepare_reserve()?;
    let env = Env::read();
    let layout = RepoLayout::locate(root, &env)?;
    layout.create_state_dir()?;
    let Some(_lock) = DaemonLock::acquire(&layout)? else { return Ok(DaemonEnd::AlreadyRunning) };
    let config = memod_config::load_settings(Some(&layout))?.config;
    daemon_log::start_logging(&layout.log_file(), &config.daemon.log)?;
    tracing::info!(root = %layout.root.display(), version = env!("CARGO_PKG_VERSION"), "starting");
    let outcome = serve_repository(layout, env, config, index_on_demand, ready);
    if let Err(error) = &outcome {
        tracing::error!(error = error_chain(error), "ended");
    }
    outcome.map(|()| DaemonEnd::Served)
}

fn serve_repository(
    layout: RepoLayout,
    env: Env,
    config: Config,
    index_on_demand: bool,
    ready: Box<dyn FnOnce()>,
) -> anyhow::Result<()> {
    let index_db = layout.index_file();
    let progress = Arc::new(Progress::default());
    let n_commits = usize::try_from(config.index.commits).unwrap_or(usize::MAX);
    let index = OpenedIndex::open(&index_db, n_commits, &progress)?;
    let reading =
        ReadLimits { max_file_bytes: config.index.max_file_bytes, n_threads: descriptors::max_readers() };
    let indexer = Indexer::new(&index_db, &program_path()?, reading, Arc::clone(&progress));
    let socket = daemon_lock::prepare_socket_path(&layout, &env)?;

    daemon_lock::unpublish_socket(&layout);

    let runtime = build_runtime().context("start the runtime")?;
    let (listener, signalled) = {
        let _inside = runtime.enter();
        // Handle signals before the socket exists, so that an early signal does not leave it behind.
        let signalled = handle_signals().context("handle signals")?;
        let bound = SocketListener::bind(&socket);
        (bound.with_context(|| format!("bind {}", socket.display()))?, signalled)
    };

    let models = Arc::new(build_model_registry(&config, &env)?);
    let unstarted =
        UnstartedEngine::new(EngineOptions { layout, env, config, socket, models, indexer, progress })?;
    let engine = unstarted.engine();
    let memories = MemoryThread::start(&engine, RECORD_FUNCTIONS)?;
    let shared = Arc::new(Shared::new(engine, memories));
    shared.engine.set_observer(Box::new(WeakSharedObserver(Arc::downgrade(&shared))));
    daemon_lock::publish_socket(&shared.engine.layout, &shared.engine.socket)?;

    let for_loop = Arc::clone(&shared);
    let threads = unstarted.start_threads(index, index_on_demand, move |why| {
        for_loop.memories.set_lost(why == own_files::FILES_LOST_REASON);
        for_loop.stopping.send_replace(true);
    })?;
    runtime.spawn(stop_on_signal(signalled, Arc::clone(&shared)));
    stop_at_memory_limit(Arc::clone(&shared))?;
    runtime.spawn(event_counts::run_counts(Arc::clone(&shared)));
    runtime.spawn(team_sync::keep_exchanging(Arc::clone(&shared)));
    ready();
    let index_ended = run_on_thread(move || {
        for thread in threads {
            let _ = thread.join(); // a panic is in the log already
        }
    });
    let stopped_at = runtime.block_on(server::serve_connections(Arc::clone(&shared), listener));
    wait_for_threads(stopped_at + INDEX_STOP_TIMEOUT, "the index", &index_ended);
    let memories_ended = run_on_thread(move || shared.memories.stop());
    wait_for_threads(Instant::now() + MEMORIES_STOP_TIMEOUT, "the memories", &memories_ended);
    runtime.shutdown_background();
    Ok(())
}

/// Starts the thread that stops the daemon in an orderly way once the limit of memory is reached.
fn stop_at_memory_limit(shared: Arc<Shared>) -> anyhow::Result<()> {
    memory_limit::stop_at_limit(move || shared.engine.stop(memory_limit::MEMORY_USED_UP))
}

async fn stop_on_signal(signalled: impl Future<Output = ()>, shared: Arc<Shared>) {
    signalled.await;
    shared.engine.stop("a signal");
}

fn build_runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(memory_limit::max_threads(MOST_THREADS))
        .thread_name("serve")
        .enable_all()
        .build()
}

/// Returns the models that the settings name.
fn build_model_registry(config: &Config, env: &Env) -> anyhow::Result<ModelRegistry> {
    let cache_dir = path_setting(&config.model.cache_dir).unwrap_or_else(|| env.cache_dir());
    let (variable, setting) = (env.onnx_runtime.clone(), path_setting(&config.model.runtime));
    let runtime =
        RuntimeLocations { from_variable: variable, from_setting: setting, cache_dir: cache_dir.clone() };
    let models =
        ModelRegistry::new(ModelCache::new(&cache_dir), runtime, program_path()?, &config.model.name);
    Ok(models.with_reranker(&config.model.reranker))
}

/// Returns the path in a setting, unless it is empty.
fn path_setting(setting: &str) -> Option<PathBuf> {
    (!setting.is_empty()).then(|| PathBuf::from(setting))
}

/// Runs code on a separate thread; the receiver gets a message when it is done.
fn run_on_thread(run: impl FnOnce() + Send + 'static) -> Receiver<()> {
    let (done, ended) = channel();
    // If no thread can be started, nothing is sent, as if the thread hung.
    let _ = spawn_thread("end", move || {
        run();
        let _ = done.send(()); // the receiver may have given up
    });
    ended
}

/// Waits until threads have ended, but not longer than `deadline`, because a file system that hangs may block a thread for ever.
/// Giving up loses no acknowledged change, because those are on disk.
fn wait_for_threads(deadline: Instant, what: &str, ended: &Receiver<()>) {
    if ended.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_err() {
        tracing::warn!(what, "a thread has not ended in time; the daemon exits without waiting for it");
    }
}

/// Handles SIGTERM and SIGINT from now on; returns a future that completes when the first of them arrives.
#[cfg(unix)]
fn handle_signals() -> std::io::Result<impl Future<Output = ()> + Send> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! { _ = term.recv() => {}, _ = int.recv() => {} }
    })
}

#[cfg(not(unix))]
fn handle_signals() -> std::io::Result<impl Future<Output = ()> + Send> {
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
        wait_for_threads(began, "a thread that hangs", &never);
        assert!(began.elapsed() < INDEX_STOP_TIMEOUT, "the time for it is over already");
        let ended = run_on_thread(|| {});
        assert_eq!(ended.recv(), Ok(()));
    }
}
