//! Finds the files that an edit names, also through symbolic links and in other worktrees.

use std::path::Path;
use std::sync::Arc;

use memod_base::paths::{CallerDir, RepoLayout, canonicalize_path};
use memod_engine::errors::RpcResult;

use crate::daemon::request::reader_threads::run_reading;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::shared::Shared;

/// A file in a worktree of this repository, not necessarily the caller's.
pub(super) struct EditedFile {
    /// Top directory of the worktree.
    pub(super) root: String,
    /// Path of the file, relative to `root`.
    pub(super) path: String,
}

/// Returns the files of this repository among `paths`, which are relative to `cwd` or absolute.
pub(super) async fn find_edited_files(
    request: &Arc<RequestContext>,
    layout: &RepoLayout,
    cwd: &str,
    paths: Vec<String>,
) -> RpcResult<Vec<EditedFile>> {
    let cwd = cwd.to_owned();
    run_reading(request, &layout.root, move |request| {
        Ok(paths
            .iter()
            .filter_map(|path| find_edited_file(&request.shared, &Path::new(&cwd).join(path)))
            .collect())
    })
    .await
}

/// Finds the worktree of a file, which may not exist yet, from the nearest existing path above the file.
fn find_edited_file(shared: &Shared, path: &Path) -> Option<EditedFile> {
    let (above, there) = path.ancestors().find_map(|above| Some((above, canonicalize_path(above).ok()?)))?;
    let real = match path.strip_prefix(above) {
        Ok(below) if !below.as_os_str().is_empty() => there.join(below),
        _ => there.clone(),
    };
    let dir = if there.is_dir() { &*there } else { there.parent()? };
    let layout = RepoLayout::locate(dir, &shared.engine.env).ok()?;
    if layout.state_dir != shared.engine.layout.state_dir {
        return None; // the file is in another repository
    }
    let path = CallerDir::new(&layout, &layout.root).resolve_path(real.to_str()?).ok()?;
    let root = layout.root.to_str()?.to_owned();
    (!path.is_empty()).then_some(EditedFile { root, path })
}
