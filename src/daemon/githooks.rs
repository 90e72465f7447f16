//! Answers the methods about git hooks.

use std::sync::{Arc, Mutex};

use memod_base::paths::RepoLayout;
use memod_base::threads::lock;
use memod_engine::errors::RpcResult;
use memod_git::UserDirs;
use memod_hooks::{Hooks, HooksError};
use memod_proto::{HookMethod, HooksParams, HooksResult};

use crate::daemon::request::fresh_snapshot::request_deadline;
use crate::daemon::request::reader_threads::run_reading;
use crate::daemon::request::request_context::RequestContext;
use crate::daemon::request::worktree_location::locate_worktree;

/// A method about git hooks.
#[derive(Clone, Copy, Debug)]
pub(super) enum HooksMethod {
    /// `hooks.install`
    Install,
    /// `hooks.uninstall`
    Uninstall,
    /// `hooks.status`
    Status,
}

/// Runs a method about git hooks for the worktree around `cwd`.
pub(super) async fn answer_hooks(
    request: &Arc<RequestContext>,
    verb: HooksMethod,
    params: HooksParams,
) -> RpcResult<HooksResult> {
    let layout = locate_worktree(request, &params.cwd, request_deadline(request, None)).await?;
    let root = layout.root.clone();
    run_reading(request, &root, move |_| Ok(run_hooks_method(&layout, verb, &params)?)).await
}

/// Locked while a method reads and rewrites the files of hooks, so that two of them do not undo each other's changes.
static HOOK_FILES_LOCK: Mutex<()> = Mutex::new(());

fn run_hooks_method(
    layout: &RepoLayout,
    verb: HooksMethod,
    params: &HooksParams,
) -> Result<HooksResult, HooksError> {
    let _guard = lock(&HOOK_FILES_LOCK);
    match (Hooks::read(layout, &UserDirs::read(), params)?, verb) {
        (Some(hooks), HooksMethod::Install) => hooks.install(params.chain),
        (Some(hooks), HooksMethod::Uninstall) => hooks.uninstall(),
        (Some(hooks), HooksMethod::Status) => Ok(hooks.status()),
        (None, _) => Ok(HooksResult { notes: vec![why_no_hooks(layout)], ..HooksResult::default() }),
    }
}

fn why_no_hooks(layout: &RepoLayout) -> String {
    match &layout.common_dir {
        Some(common_dir) => {
            format!("{} is read-only, so a hook could not notify memod there", common_dir.display())
        }
        None => format!("{} is not in a git repository", layout.root.display()),
    }
}

/// Returns the best hook method that is installed; [`HookMethod::None`] if the hooks cannot be read.
pub(super) fn hook_method(layout: &RepoLayout) -> HookMethod {
    let hooks = Hooks::read(layout, &UserDirs::read(), &HooksParams::default());
    hooks.ok().flatten().map_or(HookMethod::None, |hooks| hooks.status().method)
}
