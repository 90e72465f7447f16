//! Finds worktrees that are gone, so that memories which only such a worktree had are archived instead of hidden.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use memod_base::clock::now_ms;
use memod_base::paths::{Env, RepoLayout, canonicalize_path};
use memod_memory_db::KnownWorktree;
use memod_proto::Check;
use memod_scan::lstat;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::daemon::memories::rules::memory_rules::JobResult;
use crate::daemon::memories::rules::worktree_place::{read_time_made, worktree_key};
use crate::daemon::shared::memory_scope::UNKNOWN_WORKTREE;
use crate::daemon::shared::memory_thread::MemoryThread;

/// Longest wait for the file systems of other worktrees. A worktree whose file system hangs is not gone.
const FILE_SYSTEM_TIMEOUT: Duration = Duration::from_millis(200);

/// Longest wait for the thread that owns the memories, which notices a database that was replaced. A running import or backup may
/// keep that thread busy for longer, and no search waits for an import.
const MAX_QUEUEING: Duration = Duration::from_millis(25);

/// Whether a worktree exists.
#[derive(Clone, Debug, PartialEq, Eq)]
enum WorktreePresence {
    Present,
    /// Git does not know the worktree any more, or would prune it.
    Gone,
    /// The worktree cannot be seen now, but may come back. Contains the reason.
    Unreachable(String),
}

impl MemoryThread {
    /// Returns the numbers of the worktrees that are gone. Does not check the worktree of the request.
    pub(super) async fn find_gone_worktrees(&self, layout: &RepoLayout) -> Vec<i64> {
        let found = self.find_worktree_presences(layout).await;
        found
            .into_iter()
            .filter(|(_, presence)| *presence == WorktreePresence::Gone)
            .map(|(worktree, _)| worktree.number)
            .collect()
    }

    /// Returns a failed check for each worktree whose files of memories cannot be seen now.
    pub(in crate::daemon) async fn check_worktrees(&self, layout: &RepoLayout) -> Vec<Check> {
        let found = self.find_worktree_presences(layout).await.into_iter();
        found.filter_map(|(worktree, presence)| check_presence(worktree, presence)).collect()
    }

    /// Returns the layout of each other worktree that has memories, or why that worktree cannot be read.
    pub(super) async fn locate_other_worktrees(
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
        let (looking, env) = (self.files.search_slots(), env.clone());
        let names = others.iter().map(|other| known_root(other, &common_dir).display().to_string());
        let names = names.collect::<Vec<_>>().join(", ");
        let look = async move {
            let place = looking.acquire_owned().await;
            spawn_blocking(move || {
                let _place = place; // held until the thread ends
                others
                    .iter()
                    .filter_map(|worktree| locate_other_worktree(&common_dir, worktree, &env))
                    .collect()
            })
            .await
        };
        let found = timeout(FILE_SYSTEM_TIMEOUT, look).await.ok().and_then(Result::ok);
        found.unwrap_or_else(|| vec![Err(format!("{names}: the file system has not answered yet"))])
    }

    async fn find_worktree_presences(&self, layout: &RepoLayout) -> Vec<(KnownWorktree, WorktreePresence)> {
        let Some(common_dir) = layout.common_dir.clone() else { return Vec::new() };
        let own = worktree_key(layout);
        let mut others = self.read_worktrees().await;
        others.retain(|worktree| worktree.git_dir != own && !worktree.git_dir.is_empty());
        if others.is_empty() {
            return Vec::new();
        }
        let looking = self.files.search_slots();
        let look = async move {
            let place = looking.acquire_owned().await;
            spawn_blocking(move || {
                let _place = place; // held until the thread ends
                others
                    .into_iter()
                    .map(|worktree| {
                        let presence = find_presence(&common_dir, &worktree);
                        (worktree, presence)
                    })
                    .collect()
            })
            .await
        };
        timeout(FILE_SYSTEM_TIMEOUT, look).await.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// Returns the known worktrees. Reads them from the database each time, because a verb or another daemon may have written the
    /// first file of a worktree. Returns none if the database cannot be read, which is reported when the files are read.
    async fn read_worktrees(&self) -> Vec<KnownWorktree> {
        let mut job = pin!(self.run_job(|store| -> JobResult<Vec<KnownWorktree>> {
            store.read(now_ms(), |rows| Ok(rows.worktrees().list_worktrees()?))
        }));
        let known = match timeout(MAX_QUEUEING, &mut job).await {
            Ok(known) => known,
            Err(_) => match self.read_worktrees_beside_jobs().await {
                Some(known) => return known,
                None => job.await,
            },
        };
        match known {
            Ok(Ok(known)) => known,
            _ => Vec::new(),
        }
    }

    /// Returns the known worktrees from the connection of searches; `None` if it has no open database, or cannot read it.
    async fn read_worktrees_beside_jobs(&self) -> Option<Vec<KnownWorktree>> {
        let finder = Arc::clone(&self.finder);
        let read = spawn_blocking(move || {
            finder.read_rows(now_ms(), UNKNOWN_WORKTREE, |rows, _| rows.worktrees().list_worktrees())
        });
        read.await.ok()??.ok()
    }
}

/// Returns a failed check for a worktree that cannot be seen now; `None` for other worktrees.
fn check_presence(worktree: KnownWorktree, presence: WorktreePresence) -> Option<Check> {
    let WorktreePresence::Unreachable(why) = presence else { return None };
    let detail = format!("{why}; its memories are kept as last read");
    let hint = "bring the worktree back; or `git worktree unlock` and `git worktree prune` it, which archives its memories";
    let name = worktree.root.unwrap_or(worktree.git_dir);
    Some(Check { name, ok: false, detail, hint: Some(hint.to_owned()) })
}

/// Returns the known root of a worktree, or else its git dir. The root of the main worktree is the parent of the common dir.
fn known_root(worktree: &KnownWorktree, common_dir: &Path) -> PathBuf {
    match &worktree.root {
        Some(root) => PathBuf::from(root),
        None if worktree.git_dir.is_empty() && common_dir.ends_with(".git") => {
            common_dir.parent().unwrap_or(common_dir).to_owned()
        }
        None => common_dir.join(&worktree.git_dir),
    }
}

/// Locates another worktree, and returns its layout or why it cannot be read; `None` if the worktree is gone.
fn locate_other_worktree(
    common_dir: &Path,
    worktree: &KnownWorktree,
    env: &Env,
) -> Option<Result<RepoLayout, String>> {
    if !worktree.git_dir.is_empty() {
        match find_presence(common_dir, worktree) {
            WorktreePresence::Present => {}
            WorktreePresence::Gone => return None,
            WorktreePresence::Unreachable(why) => return Some(Err(why)),
        }
    }
    let place = known_root(worktree, common_dir);
    Some(match RepoLayout::locate(&place, env) {
        Ok(found)
            if worktree_key(&found) == worktree.git_dir
                && found.common_dir.as_deref() == Some(common_dir) =>
        {
            Ok(found)
        }
        Ok(_) => Err(format!("{}: another worktree has this path", place.display())),
        Err(error) => Err(error.to_string()),
    })
}

/// Finds out whether a worktree exists, as git does: `gitdir` in its git dir contains the path of its `.git`.
fn find_presence(common_dir: &Path, worktree: &KnownWorktree) -> WorktreePresence {
    let git_dir = common_dir.join(&worktree.git_dir);
    match read_time_made(&git_dir) {
        Ok(made_ns) if worktree.made_ns.is_some_and(|known| known != made_ns) => {
            return WorktreePresence::Gone; // a new worktree has taken its git dir
        }
        Ok(_) => {}
        Err(error) => return presence_from_error(&error, &git_dir),
    }
    let Ok(written) = fs::read_to_string(git_dir.join("gitdir")) else { return WorktreePresence::Present };
    let link = git_dir.join(written.trim_end_matches(['\n', '\r'])); // since git 2.48 the path may be relative
    let Err(error) = lstat(&link) else {
        return if belongs_to_other(&link, &git_dir) {
            WorktreePresence::Gone
        } else {
            WorktreePresence::Present
        };
    };
    // A worktree that was moved by hand may be at its known root: git updates `gitdir` when it runs there the next time.
    let known: Option<PathBuf> = worktree.root.as_ref().map(|root| Path::new(root).join(".git"));
    if known.is_some_and(|known| lstat(&known).is_ok() && !belongs_to_other(&known, &git_dir)) {
        return WorktreePresence::Present;
    }
    match presence_from_error(&error, &link) {
        WorktreePresence::Gone if git_dir.join("locked").exists() => {
            WorktreePresence::Unreachable(format!("locked, and {} does not exist", link.display()))
        }
        absence => absence,
    }
}

/// Returns whether a `.git` certainly belongs to another worktree or repository than `git_dir` does. A `.git` file that names a
/// missing path does not, because its repository was moved.
fn belongs_to_other(link: &Path, git_dir: &Path) -> bool {
    let Ok(meta) = fs::symlink_metadata(link) else { return false };
    if !meta.is_file() {
        return meta.is_dir();
    }
    let Ok(text) = fs::read_to_string(link) else { return false };
    let Some(written) = text.strip_prefix("gitdir:") else { return false };
    let leads_to = link.parent().unwrap_or(link).join(written.trim()); // the path may be relative
    let resolved = [&leads_to, git_dir].map(|dir| canonicalize_path(dir).ok());
    matches!(&resolved, [Some(leads_to), Some(git_dir)] if leads_to != git_dir)
}

fn presence_from_error(error: &io::Error, path: &Path) -> WorktreePresence {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => WorktreePresence::Gone,
        _ => WorktreePresence::Unreachable(format!("{}: {error}", path.display())),
    }
}
