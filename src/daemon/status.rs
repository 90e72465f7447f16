//! Answers `status` and `doctor`.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use memod_base::types::WorktreeId;
use memod_database::DatabaseError;
use memod_embed::MODEL_LOADING;
use memod_engine::freshness::{Freshness, WorktreeReport};
use memod_engine::own_files::index_repair;
use memod_index_db::IndexReader;
use memod_proto::anchor::StateCounts;
use memod_proto::{
    Check, Counters, DaemonInfo, DoctorResult, IndexProgress, ModelInfo, Pending, Sizes, StatusParams,
    StatusResult, ViewInfo, WatchInfo,
};

use crate::daemon::githooks;
use crate::daemon::model_methods;
use crate::daemon::request::worktree_memories::build_repair_check;
use crate::daemon::shared::Shared;

/// Maximum number of texts on which the model fails that a note names.
const MOST_FAILED: u32 = 3;

/// Collects everything that `memo status` shows.
pub(super) fn collect_status(
    shared: &Shared,
    params: &StatusParams,
    at: &Freshness,
    views: Vec<WorktreeReport>,
) -> Result<StatusResult, DatabaseError> {
    let mut degraded: Vec<String> = views.iter().flat_map(|view| view.degraded.clone()).collect();
    let read = |reader: &IndexReader| {
        reader.read_snapshot(|reader| {
            let counts = reader.count_rows()?;
            degraded.extend(list_embed_failures(reader, &views)?);
            degraded.extend(shared.engine.models.choice_problem().map(|why| format!("model: {why}")));
            let embeddings = reader.count_pending_embeddings(at.worktree, u32::MAX)?;
            let n_chunks = if embeddings > 0 { reader.n_chunks(at.worktree)? } else { 0 };
            let embedding = IndexProgress::embedding(embeddings, n_chunks);
            let skipped = reader.count_refused(at.worktree)?;
            let paths =
                if params.files || params.skipped { reader.list_paths(at.worktree)? } else { Vec::new() };
            let views = views
                .into_iter()
                .map(|WorktreeReport { worktree: view, info, .. }| {
                    Ok(ViewInfo { files: reader.n_files(view)?, commits: reader.n_commits(view)?, ..info })
                })
                .collect::<Result<Vec<_>, DatabaseError>>()?;
            Ok((counts, (embeddings, embedding), skipped, paths, views))
        })
    };
    let (counts, (embeddings, embedding), skipped, paths, views) = shared.engine.with_reader(read)?;
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
        sizes: measure_sizes(&shared.engine.layout.state_dir),
        anchors: StateCounts::default(), // the caller counts them
        counters: read_counters(shared),
        pending: Pending { embeddings, ..at.pending },
        progress: at.indexing.or(embedding),
        skipped,
        watch: WatchInfo { backend: backend.to_owned(), dirs: shared.engine.watch.n_dirs() },
        hooks: githooks::hook_method(&at.layout).as_str().to_owned(),
        model: describe_model(shared),
        vectors: describe_vectors(shared)?.to_owned(),
        degraded,
        files: params.files.then(|| indexed.into_iter().map(|(path, _)| path).collect()),
        skipped_files: params.skipped.then(|| refused.collect()),
    })
}

/// Returns the sizes of the files in the state directory; a missing file counts as empty.
fn measure_sizes(state_dir: &Path) -> Sizes {
    Sizes {
        index_bytes: sum_sizes(state_dir, ["index.db", "index.db-wal"]),
        memory_bytes: sum_sizes(state_dir, ["memory.db", "memory.db-wal"]),
        log_bytes: sum_sizes(state_dir, ["memod.log", "memod.log.1"]),
    }
}

fn sum_sizes(dir: &Path, names: [&str; 2]) -> u64 {
    names.into_iter().map(|name| fs::symlink_metadata(dir.join(name)).map_or(0, |meta| meta.len())).sum()
}

fn read_counters(shared: &Shared) -> Counters {
    Counters {
        events: shared.engine.fs_events.load(Ordering::Relaxed),
        rescans: shared.engine.rescans.load(Ordering::Relaxed),
        reconciles: shared.engine.reconciles.load(Ordering::Relaxed),
        parses: shared.engine.progress.parses.load(Ordering::Relaxed),
        embeds: shared.engine.n_embedded.load(Ordering::Relaxed),
        queries: shared.queries.load(Ordering::Relaxed),
    }
}

fn describe_model(shared: &Shared) -> ModelInfo {
    let id = match shared.engine.with_reader(IndexReader::model_id) {
        Ok(id) => id,
        Err::<_, DatabaseError>(error) => {
            return ModelInfo { state: format!("failed: {error}"), ..ModelInfo::default() };
        }
    };
    let next = shared.engine.with_reader(model_methods::next_model).unwrap_or_default(); // the reason is in `state` already
    match shared.engine.models.load_if_ready(&id) {
        Ok(model) => ModelInfo { id, dims: model.dims(), state: "ready".to_owned(), next },
        Err(why) if why == MODEL_LOADING => {
            ModelInfo { id, state: "loading".to_owned(), next, ..ModelInfo::default() }
        }
        Err(why) => ModelInfo { id, state: format!("failed: {why}"), next, ..ModelInfo::default() },
    }
}

/// Returns where vectors are searched, for display.
fn describe_vectors(shared: &Shared) -> Result<&'static str, DatabaseError> {
    if shared.engine.vectors.is_in_memory() {
        return Ok("in memory");
    }
    Ok(if shared.engine.with_reader(IndexReader::is_vector_table_complete)? {
        "in sqlite-vec"
    } else {
        "loading"
    })
}

/// Returns a note on the texts of a worktree on which the model fails; `None` if there are none.
pub(super) fn describe_embed_failures(
    reader: &IndexReader,
    view: WorktreeId,
) -> Result<Option<String>, DatabaseError> {
    let failed = reader.list_embed_failed(view, MOST_FAILED + 1)?;
    let more = if failed.len() > MOST_FAILED as usize { ", and more" } else { "" };
    let named = failed[..failed.len().min(MOST_FAILED as usize)].join(", ");
    Ok((!failed.is_empty())
        .then(|| format!("the model fails on {named}{more}, which only words find; the log says why")))
}

fn list_embed_failures(reader: &IndexReader, views: &[WorktreeReport]) -> Result<Vec<String>, DatabaseError> {
    let failed = views.iter().map(|WorktreeReport { worktree: view, info, .. }| {
        let failed = describe_embed_failures(reader, *view)?;
        Ok(failed.map(|why| format!("embeddings: {}: {why}", info.root)))
    });
    failed.filter_map(Result::transpose).collect()
}

/// Returns the resident set of this process, bytes; 0 if the platform does not report it.
fn rss_bytes() -> u64 {
    memory_stats::memory_stats().map_or(0, |memory| memory.physical_mem as u64)
}

/// Runs the checks that need the databases and the watcher.
pub(super) fn run_checks(shared: &Shared, views: &[WorktreeReport]) -> DoctorResult {
    let mut checks = vec![check_integrity(shared)];
    checks.extend(
        index_repair::pending_repair_details(&shared.engine.index_db)
            .map(|event| build_repair_check("index.db", event)),
    );
    checks.extend([check_watcher(shared), check_embedder(shared)]);
    // If the index cannot be read, another check reports why.
    let embedding =
        shared.engine.with_reader(|reader| list_embed_failures(reader, views)).unwrap_or_default();
    checks.extend(views.iter().flat_map(|view| view.degraded.clone()).chain(embedding).map(|detail| Check {
        name: "degraded".to_owned(),
        ok: false,
        detail,
        hint: None,
    }));
    DoctorResult { checks }
}

/// Returns a check with the number of memories in each anchor state; `None` if no memory has anchors.
pub(super) fn check_anchors(states: &StateCounts) -> Option<Check> {
    let detail = states.to_string();
    let hint = "`memo list --state drifted` lists them; confirm one that still holds with `memo confirm ID`";
    let is_bad = states.drifted + states.orphaned > 0;
    (!detail.is_empty()).then(|| Check {
        name: "anchors".to_owned(),
        ok: true,
        detail,
        hint: is_bad.then(|| hint.to_owned()),
    })
}

fn check_integrity(shared: &Shared) -> Check {
    let read: Result<_, DatabaseError> = shared.engine.with_reader(IndexReader::check_integrity);
    let rebuild =
        "run `memo reindex` to rebuild the index; no memory is lost, because memories are stored elsewhere";
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

fn check_watcher(shared: &Shared) -> Check {
    let (backend, n_dirs) = (shared.engine.watch.backend(), shared.engine.watch.n_dirs());
    Check {
        name: "watcher".to_owned(),
        ok: true,
        detail: format!("{backend}, {n_dirs} directories"),
        hint: None,
    }
}

fn check_embedder(shared: &Shared) -> Check {
    let ModelInfo { id, dims, state, .. } = describe_model(shared);
    let ok = !state.starts_with("failed");
    // If the index cannot be read, another check reports why.
    let vectors = describe_vectors(shared).map_or(String::new(), |place| format!(", vectors {place}"));
    let detail = format!("{id}, {dims} dimensions, {state}{vectors}");
    Check { name: "model".to_owned(), ok, detail, hint: None }
}
