//! Exchanges the files of shared memories through a separate ref, for people who do not want them in their branches.
//!
//! The files stay at their usual paths, and git ignores them. Git merges three commits: the last state of this worktree, that of
//! the repository and that of the remote. A file that two sides changed gets git's conflict markers, and `memo resolve` ends the
//! conflict.

mod notes_commits;
mod notes_file_changes;
mod notes_files;
mod notes_merge;
mod notes_report;
mod notes_screen;

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use memod_base::paths::IoContext as _;
use memod_base::types::MEMORY_FILES_DIR;
use memod_proto::memory::{FileFate, ListParams, MemoriesResult, RestoreFileParams, RestoreFileResult};
use memod_terminal::{CliError, CliResult, CommandContext, Output};

use super::notes_git::{
    CONFLICTED_REF, FETCHED_REF, NOTES_REF, NotesGit, THEIRS_REF, WORKTREE_REF, git_failed_error,
};
use super::request::new_caller;
use crate::args::SyncNotesArgs;
use notes_file_changes::{MemoryFileChange, apply_file_changes};
use notes_files::{
    ListedMemoryFiles, UnsendableItem, conflict_error, memory_id_from_path, read_worktree_files,
    require_only_memory_files,
};
use notes_merge::{NotesMerge, merge_commits};
use notes_report::{ExchangeReport, format_refused_list};
use notes_screen::{ScreeningResult, screen_push};

/// Most paths in the arguments of one git command.
const MOST_PATHS: usize = 500;
/// Most pushes of one exchange. Each push after the first follows a merge with the notes that others pushed meanwhile.
const MOST_PUSHES: usize = 5;

/// Exchanges the files of this worktree with those of the other worktrees and of a remote, if there is one.
pub(crate) fn sync_notes(typed: SyncNotesArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let (Some(git_dir), Some(common_dir)) = (&context.layout.git_dir, &context.layout.common_dir) else {
        return Err(CliError::Usage {
            message: "notes are exchanged through git, but this is not a git repository".to_owned(),
            hint: "`memo export` writes memories to a file",
        });
    };
    refresh_memory_files(context)?; // before the lock: the daemon restores files that a killed exchange left
    let _lock = NotesGit::lock_worktree(git_dir, common_dir)?;
    let git = NotesGit::new(&context.layout.root, git_dir);
    let empty_tree = git.run_git(&["hash-object", "-t", "tree", "--stdin"])?; // the id depends on the hash algorithm of the repository
    let git = git.without_filters(&empty_tree);
    git.require_safe_attributes()?;
    let exchange = NotesExchange { git, context, empty_tree };
    exchange.require_untracked_files()?;
    exchange.make_git_ignore_files()?;
    let remote = exchange.choose_remote(typed.remote)?;
    let restored = exchange.restore_vanished_files(typed.removed)?;
    let worktree_files = read_worktree_files(context)?;
    let report = ExchangeReport { remote, restored, ..ExchangeReport::default() };
    let report = exchange.exchange_commits(&worktree_files, report);
    refresh_memory_files(context)?; // the daemon learns the new files now, and can restore them if they vanish
    report?.print_report(output)
}

/// Makes the daemon read the memory files, by asking for a list of memories.
fn refresh_memory_files(context: &CommandContext) -> Result<(), CliError> {
    let params = ListParams { caller: new_caller(context), limit: Some(1), ..ListParams::default() };
    context.connect()?.call::<_, MemoriesResult>("memory.list", &params)?;
    Ok(())
}

/// One exchange of notes in a worktree.
struct NotesExchange<'a> {
    git: NotesGit<'a>,
    context: &'a CommandContext,
    /// Id of the tree without files.
    empty_tree: String,
}

impl NotesExchange<'_> {
    /// Fails if the current branch tracks memory files.
    fn require_untracked_files(&self) -> Result<(), CliError> {
        match self.git.run_git_with_user_index(&["ls-files", "--", MEMORY_FILES_DIR])?.lines().next() {
            None => Ok(()),
            Some(path) => Err(CliError::Git {
                message: format!(
                    "{path}: tracked on this branch, so the branch itself exchanges the memories"
                ),
                hint: format!(
                    "commit and push as usual, or remove the files from the branch with `git rm -r --cached {MEMORY_FILES_DIR}`"
                ),
            }),
        }
    }

    /// Makes git ignore the memory files, so that nobody commits them by accident.
    fn make_git_ignore_files(&self) -> Result<(), CliError> {
        let probe = format!("{MEMORY_FILES_DIR}/x.md");
        if self.git.run_git_or_none(&["check-ignore", "-q", "--no-index", &probe])?.is_some() {
            return Ok(());
        }
        let path =
            self.git.run_git(&["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"])?;
        let path = PathBuf::from(path);
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir).at("create", dir)?;
        }
        let line = format!("\n# `memo share sync` exchanges them\n/{MEMORY_FILES_DIR}/\n");
        let opened = fs::OpenOptions::new().create(true).append(true).open(&path);
        opened.and_then(|mut file| file.write_all(line.as_bytes())).at("write", &path)?;
        Ok(())
    }

    /// Restores files that vanished since the last exchange, unless a verb removed them, and returns their ids; does nothing if
    /// `accepts_removals`. Git removes ignored files, as with `git clean -x`, and others must not lose them for that. A file that
    /// was changed after the exchange is restored with the change.
    fn restore_vanished_files(&self, accepts_removals: bool) -> Result<Vec<String>, CliError> {
        // While files are in conflict, the worktree has the files of the merge, with conflict markers.
        let marked = if self.git.find_commit(THEIRS_REF)?.is_some() {
            self.git.find_commit(CONFLICTED_REF)?
        } else {
            None
        };
        let exchanged =
            marked.map_or_else(|| self.git.find_commit(WORKTREE_REF), |marked| Ok(Some(marked)))?;
        let Some(exchanged) = exchanged.filter(|_| !accepts_removals) else { return Ok(Vec::new()) };
        let vanished: Vec<MemoryFileChange> = self
            .git
            .read_file_changes(&self.empty_tree, &exchanged)?
            .into_iter()
            .filter(|file| fs::symlink_metadata(self.context.layout.root.join(&file.path)).is_err())
            .collect();
        let mut client = self.context.connect()?;
        let (mut ids, mut unchanged) = (Vec::new(), Vec::new());
        for file in vanished {
            let Some(id) = memory_id_from_path(&file.path).map(str::to_owned) else { continue };
            let text = String::from_utf8_lossy(file.after.as_deref().unwrap_or_default()).into_owned();
            let params = RestoreFileParams { caller: new_caller(self.context), id: id.clone(), text };
            let answer: RestoreFileResult = client.call("memory.restore_file", &params)?;
            match answer.fate {
                FileFate::Removed => continue,
                FileFate::AsItWas => unchanged.push(file),
                FileFate::Written => {}
            }
            ids.push(id);
        }
        apply_file_changes(&self.context.layout.root, &unchanged)?;
        Ok(ids)
    }

    /// Returns the named remote, or else `origin`; `None` if there is no remote.
    fn choose_remote(&self, named: Option<String>) -> Result<Option<String>, CliError> {
        match named {
            Some(name) if name.starts_with('-') => Err(CliError::Usage {
                message: format!("{name}: no remote begins with -"),
                hint: "name a remote that `git remote` lists, or a URL",
            }),
            Some(name) => Ok(Some(name)),
            None => {
                Ok(self.git.run_git_or_none(&["config", "remote.origin.url"])?.map(|_| "origin".to_owned()))
            }
        }
    }

    /// Merges the files of this worktree with the notes of the repository and of the remote, pushes the outcome to the remote, and
    /// updates the worktree.
    fn exchange_commits(
        &self,
        worktree_files: &ListedMemoryFiles,
        mut report: ExchangeReport,
    ) -> Result<ExchangeReport, CliError> {
        let (worktree_commit, unusable) = self.commit_files(worktree_files)?;
        let mut merged = worktree_commit.clone();
        let others = self.git.find_commit(NOTES_REF)?;
        if let Some(others) = &others {
            require_only_memory_files(&self.git, others, "this repository")?;
            merged = Some(self.merge_notes(
                worktree_commit.as_deref(),
                merged.as_deref(),
                others,
                &mut report.kept,
            )?);
        }
        for nth in 0..MOST_PUSHES {
            let theirs = match &report.remote {
                Some(remote) => self.fetch_notes(remote)?,
                None => None,
            };
            if let Some(theirs) = &theirs {
                require_only_memory_files(&self.git, theirs, report.remote.as_deref().unwrap_or_default())?;
                merged = Some(self.merge_notes(
                    worktree_commit.as_deref(),
                    merged.as_deref(),
                    theirs,
                    &mut report.kept,
                )?);
            }
            let Some(merged_commit) = &merged else { break };
            require_only_memory_files(&self.git, merged_commit, "this worktree")?;
            let known = if report.remote.is_some() { &theirs } else { &others };
            (report.refused, report.left_out) = (unusable.clone(), Vec::new()); // without those of a rejected push
            let to_push =
                self.prepare_push(merged_commit, known.as_deref(), &worktree_files.invalid, &mut report)?;
            if let (Some(remote), Some(to_push)) = (&report.remote, &to_push)
                && theirs.as_ref() != Some(to_push)
            {
                if !self.push_commit(remote, to_push, theirs.as_deref(), nth + 1 == MOST_PUSHES)? {
                    continue; // somebody else has pushed meanwhile: fetch and merge again
                }
                (report.sent, report.removed_there) = self.changed_paths(theirs.as_deref(), to_push)?;
            }
            let taken = to_push.as_ref().unwrap_or(merged_commit);
            (report.came, report.removed) = self.changed_paths(worktree_commit.as_deref(), taken)?;
            self.check_out_commit(worktree_commit.as_deref(), taken)?;
            // Objects that others may not have stay in this worktree until a person corrects them.
            if let Some(to_push) = &to_push {
                self.git.run_git(&["update-ref", "-m", "memo share sync", NOTES_REF, to_push])?;
            }
            break;
        }
        Ok(report)
    }

    /// Returns the commit to send to others, who have `known`: the merged one, or the same files without their history if the
    /// history has refused objects. Returns `None` if the files themselves have such objects.
    fn prepare_push(
        &self,
        merged: &str,
        known: Option<&str>,
        invalid: &[String],
        report: &mut ExchangeReport,
    ) -> Result<Option<String>, CliError> {
        let screened = screen_push(&self.git, self.context, merged, known, invalid)?;
        report.refused.extend(screened.current);
        if !report.refused.is_empty() {
            return Ok(None);
        }
        report.left_out = screened.former;
        if report.left_out.is_empty() {
            return Ok(Some(merged.to_owned()));
        }
        let squashed = self.commit_without_history(merged, known)?;
        match screen_push(&self.git, self.context, &squashed, known, invalid)? {
            ScreeningResult { current, former } if current.is_empty() && former.is_empty() => {
                Ok(Some(squashed))
            }
            ScreeningResult { current, former } => Err(CliError::Git {
                message: format!(
                    "others may not see {}; nothing was exchanged",
                    format_refused_list(&[current, former].concat())
                ),
                hint: "git's `user.name` and `user.email` are in each commit".to_owned(),
            }),
        }
    }

    /// Returns a commit with the same files as `commit`, whose only parent is `known`, which others already have.
    fn commit_without_history(&self, commit: &str, known: Option<&str>) -> Result<String, CliError> {
        let tree = self.git.find_tree(commit)?;
        match known {
            Some(known) if self.git.find_tree(known)? == tree => Ok(known.to_owned()),
            known => self.git.create_commit(&tree, &known.map(str::to_owned).into_iter().collect::<Vec<_>>()),
        }
    }

    /// Sends a commit to the remote. Returns false if the remote has changed since it was fetched; `is_last` makes that an error.
    fn push_commit(
        &self,
        remote: &str,
        commit: &str,
        theirs: Option<&str>,
        is_last: bool,
    ) -> Result<bool, CliError> {
        // The commit was screened for a remote with the fetched notes, so it is sent only if the remote still has these notes.
        let lease = format!("--force-with-lease={NOTES_REF}:{}", theirs.unwrap_or_default());
        let push = ["push", "-q", &lease, remote, &format!("{commit}:{NOTES_REF}")];
        let pushed = self.git.run_git_for_output(&push)?;
        if pushed.status.success() {
            return Ok(true);
        }
        let is_late = String::from_utf8_lossy(&pushed.stderr).contains("rejected");
        if is_late && !is_last { Ok(false) } else { Err(git_failed_error(&push, &pushed)) }
    }

    /// Commits the files as they are now. Returns the commit of this worktree, or `None` if the worktree never had a file, and the
    /// unusable entries that have replaced files.
    fn commit_files(
        &self,
        worktree_files: &ListedMemoryFiles,
    ) -> Result<(Option<String>, Vec<UnsendableItem>), CliError> {
        self.git.run_git(&["read-tree", "--empty"])?;
        for paths in worktree_files.paths.chunks(MOST_PATHS) {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            self.git.run_git(&[&["add", "-f", "--"], &paths[..]].concat())?;
        }
        let listed = self.git.run_git(&["ls-files", "--cached"])?;
        if !listed.lines().eq(&worktree_files.paths) {
            return Err(CliError::Git {
                message: "files of memories changed while memo ran; nothing was exchanged".to_owned(),
                hint: "run `memo share sync` again".to_owned(),
            });
        }
        let (before, theirs) = (self.git.find_commit(WORKTREE_REF)?, self.git.find_commit(THEIRS_REF)?);
        let unusable = self.keep_replaced_files(worktree_files, before.as_deref())?;
        let tree = self.git.run_git(&["write-tree"])?;
        let known = before.as_ref().map(|commit| self.git.find_tree(commit));
        let is_same = match known.transpose()? {
            Some(known) => known == tree && theirs.is_none(),
            None => tree == self.empty_tree,
        };
        if is_same {
            return Ok((before, unusable));
        }
        let parents: Vec<String> = before.into_iter().chain(theirs).collect();
        let commit = self.git.create_commit(&tree, &parents)?;
        self.git.run_git(&["update-ref", "-m", "memo share sync", WORKTREE_REF, &commit])?;
        self.git.run_git(&["update-ref", "-d", THEIRS_REF])?;
        self.git.run_git(&["update-ref", "-d", CONFLICTED_REF])?;
        Ok((Some(commit), unusable))
    }

    /// Keeps in the index the files that were replaced by unusable entries, so that others do not lose them; returns those entries.
    fn keep_replaced_files(
        &self,
        worktree_files: &ListedMemoryFiles,
        before: Option<&str>,
    ) -> Result<Vec<UnsendableItem>, CliError> {
        let mut replaced = Vec::new();
        for entry in before.map_or(&[][..], |_| &worktree_files.unusable) {
            let blob = format!("{}:{}", before.unwrap_or_default(), entry.path);
            if let Some(blob) = self.git.run_git_or_none(&["rev-parse", "-q", "--verify", &blob])? {
                let index_entry = format!("100644,{blob},{}", entry.path);
                self.git.run_git(&["update-index", "--add", "--cacheinfo", &index_entry])?;
                replaced.push(entry.clone());
            }
        }
        Ok(replaced)
    }

    /// Fetches the notes of the remote; returns `None` if it has none.
    fn fetch_notes(&self, remote: &str) -> Result<Option<String>, CliError> {
        let listed = self.git.run_git(&["ls-remote", remote, NOTES_REF])?; // also lists refs that only end with this name
        if !listed.lines().any(|line| line.split('\t').nth(1) == Some(NOTES_REF)) {
            self.git.run_git(&["update-ref", "-d", FETCHED_REF])?;
            return Ok(None);
        }
        self.git.run_git(&[
            "fetch",
            "-q",
            "--no-tags",
            "--no-write-fetch-head",
            remote,
            &format!("+{NOTES_REF}:{FETCHED_REF}"),
        ])?;
        self.git.find_commit(FETCHED_REF)
    }

    /// Merges two commits. Files in conflict get markers, and the next exchange continues the merge.
    fn merge_notes(
        &self,
        worktree_commit: Option<&str>,
        ours: Option<&str>,
        theirs: &str,
        all_kept: &mut Vec<String>,
    ) -> Result<String, CliError> {
        let Some(ours) = ours else { return Ok(theirs.to_owned()) };
        match merge_commits(&self.git, ours, theirs)? {
            NotesMerge::FastForward(commit) => Ok(commit),
            NotesMerge::Tree { tree, kept } => {
                all_kept.extend(kept);
                all_kept.sort();
                all_kept.dedup(); // after a rejected push, the merge is repeated
                self.git.create_commit(&tree, &[ours.to_owned(), theirs.to_owned()])
            }
            NotesMerge::Conflict { tree, ids } => {
                // The worktree gets the files with conflict markers, and all changes that were merged without conflict.
                self.check_out_tree(worktree_commit, &tree)?;
                let marked = self.git.create_commit(&tree, &[])?;
                self.git.run_git(&["update-ref", "-m", "memo share sync", CONFLICTED_REF, &marked])?;
                self.git.run_git(&["update-ref", "-m", "memo share sync", WORKTREE_REF, ours])?;
                self.git.run_git(&["update-ref", "-m", "memo share sync", THEIRS_REF, theirs])?;
                Err(conflict_error(&ids))
            }
        }
    }

    /// Returns the paths of files that are new or changed from `before` to a commit, and the paths of removed files.
    fn changed_paths(
        &self,
        before: Option<&str>,
        commit: &str,
    ) -> Result<(Vec<String>, Vec<String>), CliError> {
        self.git.changed_paths(before.unwrap_or(&self.empty_tree), commit)
    }

    /// Updates the files of the worktree to those of a commit.
    fn check_out_commit(&self, worktree_commit: Option<&str>, merged: &str) -> Result<(), CliError> {
        self.check_out_tree(worktree_commit, merged)?;
        self.git.run_git(&["update-ref", "-m", "memo share sync", WORKTREE_REF, merged]).map(drop)
    }

    /// Changes the files of the worktree from those of its commit to those of a tree.
    fn check_out_tree(&self, worktree_commit: Option<&str>, tree: &str) -> Result<(), CliError> {
        let changes = self.git.read_file_changes(worktree_commit.unwrap_or(&self.empty_tree), tree)?;
        apply_file_changes(&self.context.layout.root, &changes)
    }
}
