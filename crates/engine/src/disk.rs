//! Accesses the file system of a worktree, on a thread of its own.
//!
//! Each worktree has such a thread, which runs tasks in order and sends their results to the main loop as events. A hanging
//! file system blocks only this thread. Reconciles, which take long, have a thread of their own (`reconcile`).

mod doorbell;
mod end_guard;
mod git_watch;
mod opening;
mod reconcile;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use memod_base::paths::RepoLayout;
use memod_base::types::WorktreeId;
use memod_git::{GitError, Refs, UserDirs, UserFilesSnapshot};

use self::end_guard::PanicReporter;
use self::git_watch::{GitDirs, watch_git_and_cookie_dirs};
use self::opening::unreliable_events_reason;
use crate::engine::Engine;
use crate::messages::disk_task::{
    DiskReport, DiskTask, ExistenceCheck, GitSettings, ProbeResult, ThreadNumber,
};
use crate::messages::loop_event::LoopEvent;
use crate::messages::writer_job::WriterJob;

/// Files and directories that the git dir has while git is working. The lock alone is not enough: a rebase holds none between
/// its commits.
pub(super) const GIT_BUSY_FILES: [&str; 4] = ["index.lock", "rebase-merge", "rebase-apply", "sequencer"];

/// Accesses the file system of one worktree, on the thread of that worktree.
pub(super) struct WorktreeDisk {
    engine: Arc<Engine>,
    worktree: WorktreeId,
    layout: RepoLayout,
    /// `None` outside git.
    refs: Option<Refs>,
    user_rules: UserFilesSnapshot,
    /// Ignore files outside the worktree that git's settings name.
    exclude_files: Vec<PathBuf>,
}

/// Opens a worktree, then runs the tasks of the main loop until the loop drops the channel.
pub(super) fn run_worktree_thread(
    engine: &Arc<Engine>,
    jobs: &Sender<WriterJob>,
    thread: ThreadNumber,
    layout: RepoLayout,
    mounts: &[PathBuf],
    tasks: &Receiver<DiskTask>,
) {
    let _end = PanicReporter::new(engine, thread);
    let (mut disk, result) = match opening::open_worktree(engine, jobs, thread, layout, mounts) {
        Ok((disk, opened)) => (Some(disk), Ok(Box::new(opened))),
        Err(error) => (None, Err(error)),
    };
    engine.send_event(LoopEvent::Opened { thread, result });
    let Some(disk) = &mut disk else { return };
    for task in tasks {
        if let Some(report) = disk.run_task(task) {
            engine.send_event(LoopEvent::Disk { thread, report });
        }
    }
}

impl WorktreeDisk {
    /// Runs one task; returns its result for the main loop, or `None` if the loop needs none.
    pub(super) fn run_task(&mut self, task: DiskTask) -> Option<DiskReport> {
        Some(match task {
            DiskTask::Probe { number, cookie, tip } => {
                DiskReport::Probed(self.run_probe(number, cookie.as_deref(), tip))
            }
            DiskTask::ResolveHead => DiskReport::Tip(self.refs.as_ref()?.read_tip()),
            DiskTask::ReadSettings => {
                let changed = self.user_rules.has_changed();
                DiskReport::Settings(self.read_settings(changed))
            }
            DiskTask::WatchGitDirs { recovery } => {
                let unwatched =
                    watch_git_and_cookie_dirs(&self.engine, self.worktree, &self.git_dirs()).err();
                DiskReport::Watched { recovery, unwatched }
            }
            DiskTask::WatchDir { role, path } => {
                // A path that is not a directory fails here, and needs no watch.
                let _ = self.engine.watch.add_dir(self.worktree, role, &path);
                DiskReport::WatchedDir { role, path }
            }
            DiskTask::CheckDoorbell(path) => {
                return doorbell::take_doorbell_ring(&path).then_some(DiskReport::DoorbellRung);
            }
            DiskTask::CheckGitLock(dir) => {
                DiskReport::GitLock(GIT_BUSY_FILES.iter().any(|name| dir.join(name).exists()))
            }
            DiskTask::CheckMount(path) => DiskReport::UnreliableEvents(unreliable_events_reason(&path)),
            DiskTask::CheckExistence => DiskReport::Existence(ExistenceCheck::check_on_disk(&self.layout)),
        })
    }

    fn run_probe(&mut self, number: u64, cookie: Option<&str>, tip: bool) -> ProbeResult {
        // Make the cookie first, so that its event arrives while the rest of the probe runs.
        let cookie = cookie.map_or(Ok(()), |name| self.make_cookie(name));
        let tip = self.refs.as_ref().filter(|_| tip).map(Refs::read_tip);
        let settings = self.user_rules.has_changed().then(|| self.read_settings(true));
        ProbeResult { number, cookie, tip, settings }
    }

    fn make_cookie(&self, name: &str) -> Result<(), String> {
        let path = self.layout.cookie_dir().join(name);
        let made = std::fs::write(&path, "").and_then(|()| std::fs::remove_file(&path));
        made.map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Reads which ignore files apply, and watches their directories. The watcher or the next probe notices later changes.
    /// `changed` is passed on in the result: whether the user's settings or ignore files have changed since the last read.
    fn read_settings(&mut self, changed: bool) -> GitSettings {
        if let Err(error) = self.update_exclude_file_paths() {
            tracing::warn!(%error, "git's settings cannot be read; the next probe tries again");
            self.user_rules.mark_changed();
        }
        let unwatched = watch_git_and_cookie_dirs(&self.engine, self.worktree, &self.git_dirs()).err();
        GitSettings { changed, exclude_files: self.exclude_files.clone(), unwatched }
    }

    /// Updates `exclude_files` from git's settings. Reads the settings twice: the first time to find out which files to record, and
    /// again because their signatures must be recorded before the read whose result is used.
    fn update_exclude_file_paths(&mut self) -> Result<(), GitError> {
        let dirs = UserDirs::read();
        let (_, files) = self.find_exclude_files(&dirs)?;
        self.user_rules.record(&dirs, files.clone());
        let (exclude_files, present) = self.find_exclude_files(&dirs)?;
        if present != files {
            self.user_rules.mark_changed();
        }
        self.exclude_files = exclude_files;
        Ok(())
    }

    /// Returns the ignore files that git's settings name, and the set of these files and of the settings files themselves.
    fn find_exclude_files(&self, dirs: &UserDirs) -> Result<(Vec<PathBuf>, BTreeSet<PathBuf>), GitError> {
        let settings = memod_git::Settings::read_or_default(&self.layout, dirs)?;
        let exclude_files = memod_git::list_exclude_files(&self.layout, &settings);
        let files = exclude_files.iter().cloned().chain(settings.files).collect();
        Ok((exclude_files, files))
    }

    fn git_dirs(&self) -> GitDirs<'_> {
        GitDirs { layout: &self.layout, exclude_files: &self.exclude_files }
    }
}
