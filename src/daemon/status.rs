//! Answers `status` and `doctor`.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use memod_base::types::ViewId;
use memod_database::DatabaseError;
use memod_embed::LOADING;
use memod_engine::event::{Freshness, ViewReport};
use memod_engine::index_repair;
use memod_index_db::Reader;
use memod_proto::anchor::StateCounts;
use memod_proto::{
    Check, Counters, DaemonInfo, DoctorResult, IndexProgress, ModelInfo, Pending, Sizes, StatusParams,
    StatusResult, ViewInfo, WatchInfo,
};

use crate::daemon::githooks;
use crate::daemon::memories::keeper::repaired;
use crate::daemon::model_methods;
use crate::daemon::shared::Shared;

/// Texts that the model fails on which are named.
const MOST_FAILED: u32 = 3;

/// Collects everything that `memo status` shows.
pub(super) fn status(
    shared: &Shared,
    params: &StatusParams,
    at: &Freshness,
    views: Vec<ViewReport>,
) -> Result<StatusResult, DatabaseError> {
    let mut degraded: Vec<String> = views.iter().flat_map(|view| view.degraded.clone()).collect();
    let read = |reader: &Reader| {
        reader.snapshot(|reader| {
            let counts = reader.counts()?;
            degraded.extend(embed_degraded(reader, &views)?);
            degraded.extend(shared.engine.models.problem().map(|why| format!("model: {why}")));
            let embeddings = reader.pending_embeddings(at.view, u32::MAX)?;
            let n_chunks = if embeddings > 0 { reader.n_chunks(at.view)? } else { 0 };
            let embedding = IndexProgress::embedding(embeddings, n_chunks);
            let skipped = reader.skipped(at.view)?;
            let paths = if params.files || params.skipped { reader.paths(at.view)? } else { Vec::new() };
            let count = |ViewReport { view, info, .. }| {
                Ok(ViewInfo { files: reader.n_files(view)?, commits: reader.n_commits(view)?, ..info })
            };
            let views = views.into_iter().map(count).collect::<Result<Vec<_>, DatabaseError>>()?;
            Ok((counts, (embeddings, embedding), skipped, paths, views))
        })
    };
    let (counts, (embeddings, embedding), skipped, paths, views) = shared.engine.read(read)?;
    let own_root = at.layout.root.display().to_string();
    let is_polled = views.iter().any(|view| view.polled && view.root == own_root);
    let backend = if is_polled { "poll" } else { shared.engine.watch.backend() };
    let (refused, indexed): (Vec<_>, Vec<_>) = paths.into_iter().partition(|(_, reason)| reason.is_some());
    let refused = refused.into_iter().map(|(path, reason)| (path, reason.unwrap_or_default()));
    Ok(StatusResult {
        daemon: DaemonInfo {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_s: shared.engine.started.elapsed().as_secs(),
            rss_bytes: rss_bytes(),
        },
        repo: shared
            .engine
            .layout
            .common_dir
            .as_ref()
            .unwrap_or(&shared.engine.layout.root)
            .display()
            .to_string(),
        state_dir: shared.engine.layout.state_dir.display().to_string(),
        socket: shared.engine.socket.display().to_string(),
        worktree: own_root,
        views,
        counts,
        sizes: sizes(&shared.engine.layout.state_dir),
        anchors: StateCounts::default(), // counted by who asks
        counters: counters(shared),
        pending: Pending { embeddings, ..at.pending },
        progress: at.indexing.or(embedding),
        skipped,
        watch: WatchInfo { backend: backend.to_owned(), dirs: shared.engine.watch.n_dirs() },
        hooks: githooks::method(&at.layout).as_str().to_owned(),
        model: model(shared),
        vectors: vectors(shared)?.to_owned(),
        degraded,
        files: params.files.then(|| indexed.into_iter().map(|(path, _)| path).collect()),
        skipped_files: params.skipped.then(|| refused.collect()),
    })
}

/// Returns the sizes of what is in the state directory; a file that is not there has none.
fn sizes(state_dir: &Path) -> Sizes {
    let bytes = |names: [&str; 2]| {
        let of = |name: &str| fs::symlink_metadata(state_dir.join(name)).map_or(0, |meta| meta.len());
        names.into_iter().map(of).sum()
    };
    Sizes {
        index_bytes: bytes(["index.db", "index.db-wal"]),
        memory_bytes: bytes(["memory.db", "memory.db-wal"]),
        log_bytes: bytes(["memod.log", "memod.log.1"]),
    }
}

fn counters(shared: &Shared) -> Counters {
    Counters {
        events: shared.engine.fs_events.load(Ordering::Relaxed),
        rescans: shared.engine.rescans.load(Ordering::Relaxed),
        reconciles: shared.engine.reconciles.load(Ordering::Relaxed),
        parses: shared.engine.progress.parses.load(Ordering::Relaxed),
        embeds: shared.engine.embeds.load(Ordering::Relaxed),
        queries: shared.queries.load(Ordering::Relaxed),
    }
}

fn model(shared: &Shared) -> ModelInfo {
    let id = match shared.engine.read(Reader::model) {
        Ok(id) => id,
        Err::<_, DatabaseError>(error) => {
            return ModelInfo { state: format!("failed: {error}"), ..ModelInfo::default() };
        }
    };
    let next = shared.engine.read(model_methods::next).unwrap_or_default(); // the reason was told above
    match shared.engine.models.ready(&id) {
        Ok(model) => ModelInfo { id, dims: model.dims(), state: "ready".to_owned(), next },
        Err(why) if why == LOADING => {
            ModelInfo { id, state: "loading".to_owned(), next, ..ModelInfo::default() }
        }
        Err(why) => ModelInfo { id, state: format!("failed: {why}"), next, ..ModelInfo::default() },
    }
}

/// Returns where the nearest vectors are found.
fn vectors(shared: &Shared) -> Result<&'static str, DatabaseError> {
    if shared.engine.nearest.is_in_memory() {
        return Ok("in memory");
    }
    Ok(if shared.engine.read(Reader::has_vector_table)? { "in sqlite-vec" } else { "loading" })
}

/// Says which texts of a view the model fails on, if any.
pub(super) fn embed_failed(reader: &Reader, view: ViewId) -> Result<Option<String>, DatabaseError> {
    let failed = reader.embed_failed(view, MOST_FAILED + 1)?;
    let more = if failed.len() > MOST_FAILED as usize { ", and more" } else { "" };
    let named = failed[..failed.len().min(MOST_FAILED as usize)].join(", ");
    let said = || format!("the model fails on {named}{more}, which only words find; the log says why");
    Ok((!failed.is_empty()).then(said))
}

fn embed_degraded(reader: &Reader, views: &[ViewReport]) -> Result<Vec<String>, DatabaseError> {
    let failed = views.iter().map(|ViewReport { view, info, .. }| {
        let failed = embed_failed(reader, *view)?;
        Ok(failed.map(|why| format!("embeddings: {}: {why}", info.root)))
    });
    failed.filter_map(Result::transpose).collect()
}

/// Returns the resident set of this process, bytes; 0 if the platform does not report it.
fn rss_bytes() -> u64 {
    memory_stats::memory_stats().map_or(0, |memory| memory.physical_mem as u64)
}

/// Runs the checks that need the databases and the watcher.
pub(super) fn doctor(shared: &Shared, views: &[ViewReport]) -> DoctorResult {
    let mut checks = vec![integrity(shared)];
    checks.extend(index_repair::event(&shared.engine.index_db).map(|event| repaired("index.db", event)));
    checks.extend([watcher(shared), embedder(shared)]);
    // Why the index cannot be read is told by its own check.
    let embedding = shared.engine.read(|reader| embed_degraded(reader, views)).unwrap_or_default();
    checks.extend(views.iter().flat_map(|view| view.degraded.clone()).chain(embedding).map(|detail| Check {
        name: "degraded".to_owned(),
        ok: false,
        detail,
        hint: None,
    }));
    DoctorResult { checks }
}

/// Reports how many memories should be checked; empty if no memory has anchors.
pub(super) fn anchors(states: &StateCounts) -> Option<Check> {
    let detail = states.to_string();
    let hint = "`memo list --state drifted` shows which; `memo confirm ID` says that one still holds";
    let is_bad = states.drifted + states.orphaned > 0;
    (!detail.is_empty()).then(|| Check {
        name: "anchors".to_owned(),
        ok: true,
        detail,
        hint: is_bad.then(|| hint.to_owned()),
    })
}

fn integrity(shared: &Shared) -> Check {
    let read: Result<_, DatabaseError> = shared.engine.read(Reader::integrity);
    let rebuild = "rebuild it with `memo reindex`; no memory is in it";
    let (complaints, hint) = match read {
        Ok(complaints) => (complaints, rebuild),
        Err(error @ DatabaseError::Corrupt { .. }) => (vec![error.to_string()], rebuild),
        Err(error) => (vec![error.to_string()], error.hint()),
    };
    let ok = complaints.is_empty();
    Check {
        name: "index.db".to_owned(),
        ok,
        detail: if ok { "integrity_check: ok".to_owned() } else { complaints.join("; ") },
        hint: (!ok).then(|| hint.to_owned()),
    }
}

fn watcher(shared: &Shared) -> Check {
    let (backend, n_dirs) = (shared.engine.watch.backend(), shared.engine.watch.n_dirs());
    Check {
        name: "watcher".to_owned(),
        ok: true,
        detail: format!("{backend}, {n_dirs} directories"),
        hint: None,
    }
}

fn embedder(shared: &Shared) -> Check {
    let ModelInfo { id, dims, state, .. } = model(shared);
    let ok = !state.starts_with("failed");
    // Why the index cannot be read is told by its own check.
    let vectors = vectors(shared).map_or(String::new(), |place| format!(", vectors {place}"));
    let detail = format!("{id}, {dims} dimensions, {state}{vectors}");
    Check { name: "model".to_owned(), ok, detail, hint: None }
}
