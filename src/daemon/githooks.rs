//! What does the daemon do about git's hooks?

use std::sync::{Arc, Mutex, PoisonError};

use super::dispatch::{blocking, deadline, freshness};
use super::error::Outcome;
use super::shared::Shared;
use crate::git::UserDirs;
use crate::hooks::{Hooks, HooksError};
use crate::paths::Place;
use crate::proto::{HookMethod, HooksParams, HooksResult, Sync};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verb {
    /// `hooks.install`
    Install,
    /// `hooks.uninstall`
    Uninstall,
    /// `hooks.status`
    Status,
}

/// Runs one of the methods for the worktree of `cwd`.
pub(super) async fn call(shared: &Arc<Shared>, verb: Verb, params: HooksParams) -> Outcome<HooksResult> {
    let at = freshness(shared, &params.cwd, Sync::None, deadline(shared, None)).await?;
    blocking(shared, move |_| Ok(run(&at.place, verb, &params)?)).await
}

/// Who installs goes from what a file says to what it is to say: one after the other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn run(place: &Place, verb: Verb, params: &HooksParams) -> Result<HooksResult, HooksError> {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    match (Hooks::of(place, &UserDirs::read(), params)?, verb) {
        (Some(hooks), Verb::Install) => hooks.install(params.chain),
        (Some(hooks), Verb::Uninstall) => hooks.uninstall(),
        (Some(hooks), Verb::Status) => Ok(hooks.status()),
        (None, _) => Ok(HooksResult { notes: vec![why_none(place)], ..HooksResult::default() }),
    }
}

fn why_none(place: &Place) -> String {
    match &place.common_dir {
        Some(common_dir) => format!("{} is read-only: no hook could ring", common_dir.display()),
        None => format!("{} is not in a git repository", place.root.display()),
    }
}

/// Returns how hooks ring; what cannot be read rings nobody.
pub(super) fn method(place: &Place) -> HookMethod {
    let hooks = Hooks::of(place, &UserDirs::read(), &HooksParams::default());
    hooks.ok().flatten().map_or(HookMethod::None, |hooks| hooks.status().method)
}
