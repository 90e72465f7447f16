//! Finds worktrees that are gone, so that memories which only they had are archived and not hidden.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memod_base::paths::{Env, RepoLayout, canonical};
use memod_engine::clock::now_ms;
use memod_memory_db::{MemoryStore, WorktreeRow};
use memod_proto::Check;
use memod_scan::lstat;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::file_look::worktree_key;
use super::keeper::Memories;
use super::rules::Done;

/// Longest wait for the file systems of other worktrees: one that hangs is not gone.
const WAIT: Duration = Duration::from_millis(200);

/// Whether a worktree can be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Presence {
    Here,
    /// Git does not know it any more, or would prune it.
    Gone,
    /// It may come back, and why it is not seen.
    Away(String),
}

impl Memories {
    /// Returns the numbers of worktrees, besides that of the request, that are gone.
    pub(super) async fn find_gone_worktrees(&self, layout: &RepoLayout) -> Vec<i64> {
        let found = self.find_presences(layout).await;
        found
            .into_iter()
            .filter(|(_, presence)| *presence == Presence::Gone)
            .map(|(of, _)| of.number)
            .collect()
    }

    /// Lists worktrees whose files of memories cannot be seen now.
    pub(in crate::daemon) async fn check_worktrees(&self, layout: &RepoLayout) -> Vec<Check> {
        let check = |(worktree, presence): (WorktreeRow, Presence)| {
            let Presence::Away(why) = presence else { return None };
            let detail = format!("{why}; what is known of its memories is kept");
            let hint = "bring it back, or `git worktree unlock` and `git worktree prune` it: then its memories are in the archive";
            let name = worktree.root.unwrap_or(worktree.git_dir);
            Some(Check { name, ok: false, detail, hint: Some(hint.to_owned()) })
        };
        self.find_presences(layout).await.into_iter().filter_map(check).collect()
    }

    /// Returns the layouts of the other worktrees that have memories, or why one cannot be looked at.
    pub(super) async fn find_others(
        &self,
        layout: &RepoLayout,
        env: &Env,
    ) -> Vec<Result<RepoLayout, String>> {
        let Some(common_dir) = layout.common_dir.clone() else { return Vec::new() };
        let own = worktree_key(layout);
        let mut others = self.read_worktrees().await;
        others.retain(|worktree| worktree.git_dir != own);
        if others.is_empty() {
            return Vec::new();
        }
        let (looking, env) = (self.files.looking(), env.clone());
        let names = others.iter().map(|other| place_or_git_dir(other, &common_dir).display().to_string());
        let names = names.collect::<Vec<_>>().join(", ");
        let look = async move {
            let place = looking.acquire_owned().await;
            spawn_blocking(move || {
                let _place = place; // as long as the thread has it
                others.iter().filter_map(|worktree| find_other(&common_dir, worktree, &env)).collect()
            })
            .await
        };
        let found = timeout(WAIT, look).await.ok().and_then(Result::ok);
        found.unwrap_or_else(|| vec![Err(format!("{names}: the file system has not answered yet"))])
    }

    async fn find_presences(&self, layout: &RepoLayout) -> Vec<(WorktreeRow, Presence)> {
        let Some(common_dir) = layout.common_dir.clone() else { return Vec::new() };
        let own = worktree_key(layout);
        let mut others = self.read_worktrees().await;
        others.retain(|worktree| worktree.git_dir != own && !worktree.git_dir.is_empty());
        if others.is_empty() {
            return Vec::new();
        }
        let looking = self.files.looking();
        let look = async move {
            let place = looking.acquire_owned().await;
            spawn_blocking(move || {
                let _place = place; // as long as the thread has it
                let with_presence = |worktree: WorktreeRow| {
                    let presence = find_presence(&common_dir, &worktree);
                    (worktree, presence)
                };
                others.into_iter().map(with_presence).collect()
            })
            .await
        };
        timeout(WAIT, look).await.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// Reads the known worktrees, each time: a verb, or another daemon, may have given one its first file. There are none if the database cannot be read, as who looks at files finds out.
    async fn read_worktrees(&self) -> Vec<WorktreeRow> {
        let read = |store: &mut MemoryStore| -> Done<Vec<WorktreeRow>> {
            store.read(now_ms(), |rows| Ok(rows.worktrees()?))
        };
        match self.ask(read).await {
            Ok(Ok(known)) => known,
            _ => Vec::new(),
        }
    }
}

/// Returns where a worktree is as far as is known: the main one is beside the directory that all share.
fn place_or_git_dir(worktree: &WorktreeRow, common_dir: &Path) -> PathBuf {
    match &worktree.root {
        Some(root) => PathBuf::from(root),
        None if worktree.git_dir.is_empty() && common_dir.ends_with(".git") => {
            common_dir.parent().unwrap_or(common_dir).to_owned()
        }
        None => common_dir.join(&worktree.git_dir),
    }
}

/// Finds another worktree; `None` if it is gone.
fn find_other(common_dir: &Path, worktree: &WorktreeRow, env: &Env) -> Option<Result<RepoLayout, String>> {
    if !worktree.git_dir.is_empty() {
        match find_presence(common_dir, worktree) {
            Presence::Here => {}
            Presence::Gone => return None,
            Presence::Away(why) => return Some(Err(why)),
        }
    }
    let place = place_or_git_dir(worktree, common_dir);
    Some(match RepoLayout::locate(&place, env) {
        Ok(found)
            if worktree_key(&found) == worktree.git_dir
                && found.common_dir.as_deref() == Some(common_dir) =>
        {
            Ok(found)
        }
        Ok(_) => Err(format!("{}: another worktree is there", place.display())),
        Err(error) => Err(error.to_string()),
    })
}

/// Looks for a worktree as git does: `gitdir` in its git dir says where its `.git` is.
fn find_presence(common_dir: &Path, worktree: &WorktreeRow) -> Presence {
    let git_dir = common_dir.join(&worktree.git_dir);
    match time_made(&git_dir) {
        Ok(made_ns) if worktree.made_ns.is_some_and(|known| known != made_ns) => {
            return Presence::Gone; // another one has its name
        }
        Ok(_) => {}
        Err(error) => return absence(&error, &git_dir),
    }
    let Ok(written) = fs::read_to_string(git_dir.join("gitdir")) else { return Presence::Here };
    let link = git_dir.join(written.trim_end_matches(['\n', '\r'])); // since git 2.48 it may be relative
    let Err(error) = lstat(&link) else {
        return if is_taken(&link, &git_dir) { Presence::Gone } else { Presence::Here };
    };
    // Git notices a worktree that was moved by hand when it runs there the next time.
    let known: Option<PathBuf> = worktree.root.as_ref().map(|root| Path::new(root).join(".git"));
    if known.is_some_and(|known| lstat(&known).is_ok() && !is_taken(&known, &git_dir)) {
        return Presence::Here;
    }
    match absence(&error, &link) {
        Presence::Gone if git_dir.join("locked").exists() => {
            Presence::Away(format!("locked, and {} is not there", link.display()))
        }
        absence => absence,
    }
}

/// Returns whether `.git` of a worktree certainly is that of another one, or of another repository. A link that leads nowhere is
/// that of a repository which was moved.
fn is_taken(link: &Path, git_dir: &Path) -> bool {
    let Ok(meta) = fs::symlink_metadata(link) else { return false };
    if !meta.is_file() {
        return meta.is_dir();
    }
    let Ok(text) = fs::read_to_string(link) else { return false };
    let Some(written) = text.strip_prefix("gitdir:") else { return false };
    let leads_to = link.parent().unwrap_or(link).join(written.trim()); // it may be relative
    let resolved = [&leads_to, git_dir].map(|dir| canonical(dir).ok());
    matches!(&resolved, [Some(leads_to), Some(git_dir)] if leads_to != git_dir)
}

/// Returns where a linked worktree is, and when its git dir was made; `None` of others.
pub(super) fn place_of(layout: &RepoLayout) -> Option<(String, i64)> {
    let git_dir = layout.git_dir.as_ref().filter(|_| !worktree_key(layout).is_empty())?;
    Some((layout.root.to_string_lossy().into_owned(), time_made(git_dir).ok()?))
}

/// Returns when the git dir of a linked worktree was made, ns since the epoch: git writes `commondir` once.
///
/// # Errors
/// When it is not there, or cannot be looked at.
fn time_made(git_dir: &Path) -> io::Result<i64> {
    Ok(lstat(&git_dir.join("commondir"))?.mtime_ns)
}

fn absence(error: &io::Error, path: &Path) -> Presence {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Presence::Gone,
        _ => Presence::Away(format!("{}: {error}", path.display())),
    }
}
