//! Exchanges the files of shared memories through a ref of their own, for those who do not want them in their branches.
//!
//! The files are where they always are, and git ignores them. Their last state here, that of the repository and that of the
//! remote are three commits, which git merges. A file that two have changed comes back with git's markers, and `memo resolve`
//! ends that.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use memod_base::paths::IoContext as _;
use memod_base::types::MEMORY_FILES_DIR;
use memod_proto::memory::{FileFate, ListParams, MemoriesResult, RestoreFileParams, RestoreFileResult};

use super::notes_files::{Own, Unfit, id_of_path, in_conflict, own_files, refuse_others};
use super::notes_git::{FETCHED, HERE, MARKED, NOTES, NotesGit, THEIRS, failed};
use super::notes_merge::{Merged, merge};
use super::notes_place::{FileChange, place_files};
use super::notes_report::{Exchanged, list_unfit};
use super::notes_screen::{Screened, screen};
use super::request::caller;
use crate::args::SyncNotesArgs;
use crate::context::CommandContext;
use crate::error::{CliError, CliResult};
use crate::output::Output;

/// Number of paths that git is given at once.
const AT_ONCE: usize = 500;
/// Number of pushes, each after a merge with what another one has pushed.
const PUSHES: usize = 5;

/// Exchanges the files of this worktree with those of the other ones and, if there is one, of a remote.
pub(crate) fn sync_notes(typed: SyncNotesArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let (Some(git_dir), Some(common_dir)) = (&context.layout.git_dir, &context.layout.common_dir) else {
        return Err(CliError::Usage {
            message: "notes are exchanged through git, and this is no repository of git".to_owned(),
            hint: "`memo export` writes memories to a file",
        });
    };
    look_at_files(context)?; // before the lock: what an exchange that was killed has left comes back
    let _lock = NotesGit::lock(git_dir, common_dir)?;
    let git = NotesGit::new(&context.layout.root, git_dir);
    let empty_tree = git.run(&["hash-object", "-t", "tree", "--stdin"])?; // of the repository's kind of hash
    let git = git.without_filters(&empty_tree);
    git.refuse_attributes()?;
    let sync = Sync { git, context, empty_tree };
    sync.must_be_untracked()?;
    sync.ignore()?;
    let remote = sync.remote(typed.remote)?;
    let restored = sync.restore(typed.removed)?;
    let own = own_files(context)?;
    let done = Exchanged { remote, restored, ..Exchanged::default() };
    let done = sync.exchange(&own, done);
    look_at_files(context)?; // at what came: what vanishes later has been there
    done?.print(output)
}

/// Asks the daemon for a list of memories, for which it looks at their files.
fn look_at_files(context: &CommandContext) -> Result<(), CliError> {
    let look = ListParams { caller: caller(context), limit: Some(1), ..ListParams::default() };
    context.connect()?.call::<_, MemoriesResult>("memory.list", &look)?;
    Ok(())
}

struct Sync<'a> {
    git: NotesGit<'a>,
    context: &'a CommandContext,
    /// Id of the tree without files.
    empty_tree: String,
}

impl Sync<'_> {
    /// Fails where a branch has the files already.
    fn must_be_untracked(&self) -> Result<(), CliError> {
        match self.git.run_in_worktree(&["ls-files", "--", MEMORY_FILES_DIR])?.lines().next() {
            None => Ok(()),
            Some(path) => Err(CliError::Git {
                message: format!("{path}: tracked on this branch, so that memories are exchanged with it"),
                hint: format!(
                    "commit and push as usual, or take them out of the branch with `git rm -r --cached {MEMORY_FILES_DIR}`"
                ),
            }),
        }
    }

    /// Has git ignore the files, so that nobody commits them by accident.
    fn ignore(&self) -> Result<(), CliError> {
        let probe = format!("{MEMORY_FILES_DIR}/x.md");
        if self.git.ask(&["check-ignore", "-q", "--no-index", &probe])?.is_some() {
            return Ok(());
        }
        let path = self.git.run(&["rev-parse", "--path-format=absolute", "--git-path", "info/exclude"])?;
        let path = PathBuf::from(path);
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir).at("create", dir)?;
        }
        let line = format!("\n# `memo sync-notes` exchanges them\n/{MEMORY_FILES_DIR}/\n");
        let append = |mut file: fs::File| file.write_all(line.as_bytes());
        fs::OpenOptions::new().create(true).append(true).open(&path).and_then(append).at("write", &path)?;
        Ok(())
    }

    /// Brings back files that have vanished since the last exchange, unless a verb has removed them or that is meant; returns their
    /// ids. Git removes ignored files, as `git clean -x` does, and that is not for everybody. What was changed after the exchange comes
    /// back as it was changed.
    fn restore(&self, is_meant: bool) -> Result<Vec<String>, CliError> {
        // While files are in conflict, the worktree has what it was merged to.
        let marked = if self.git.commit_of(THEIRS)?.is_some() { self.git.commit_of(MARKED)? } else { None };
        let here = marked.map_or_else(|| self.git.commit_of(HERE), |marked| Ok(Some(marked)))?;
        let Some(here) = here.filter(|_| !is_meant) else { return Ok(Vec::new()) };
        let gone: Vec<FileChange> = self
            .git
            .changes(&self.empty_tree, &here)?
            .into_iter()
            .filter(|file| fs::symlink_metadata(self.context.layout.root.join(&file.path)).is_err())
            .collect();
        let mut client = self.context.connect()?;
        let (mut back, mut as_they_were) = (Vec::new(), Vec::new());
        for file in gone {
            let Some(id) = id_of_path(&file.path).map(str::to_owned) else { continue };
            let text = String::from_utf8_lossy(file.after.as_deref().unwrap_or_default()).into_owned();
            let params = RestoreFileParams { caller: caller(self.context), id: id.clone(), text };
            let answer: RestoreFileResult = client.call("memory.restore_file", &params)?;
            match answer.fate {
                FileFate::Removed => continue,
                FileFate::AsItWas => as_they_were.push(file),
                FileFate::Written => {}
            }
            back.push(id);
        }
        place_files(&self.context.layout.root, &as_they_were)?;
        Ok(back)
    }

    fn remote(&self, named: Option<String>) -> Result<Option<String>, CliError> {
        match named {
            Some(name) if name.starts_with('-') => Err(CliError::Usage {
                message: format!("{name}: no remote begins with -"),
                hint: "`git remote` lists remotes; a URL is one, too",
            }),
            Some(name) => Ok(Some(name)),
            None => Ok(self.git.ask(&["config", "remote.origin.url"])?.map(|_| "origin".to_owned())),
        }
    }

    fn exchange(&self, own: &Own, mut done: Exchanged) -> Result<Exchanged, CliError> {
        let (mine, odd) = self.commit_files(own)?;
        let mut merged = mine.clone();
        let others = self.git.commit_of(NOTES)?;
        if let Some(others) = &others {
            refuse_others(&self.git, others, "this repository")?;
            merged = Some(self.merged(mine.as_deref(), merged.as_deref(), others, &mut done.kept)?);
        }
        for nth in 0..PUSHES {
            let theirs = match &done.remote {
                Some(remote) => self.fetch(remote)?,
                None => None,
            };
            if let Some(theirs) = &theirs {
                refuse_others(&self.git, theirs, done.remote.as_deref().unwrap_or_default())?;
                merged = Some(self.merged(mine.as_deref(), merged.as_deref(), theirs, &mut done.kept)?);
            }
            let Some(whole) = &merged else { break };
            refuse_others(&self.git, whole, "this worktree")?;
            let known = if done.remote.is_some() { &theirs } else { &others };
            (done.refused, done.left_out) = (odd.clone(), Vec::new()); // not of a push that came too late
            let fit = self.fit(whole, known.as_deref(), &own.bad, &mut done)?;
            if let (Some(remote), Some(fit)) = (&done.remote, &fit)
                && theirs.as_ref() != Some(fit)
            {
                if !self.push(remote, fit, theirs.as_deref(), nth + 1 == PUSHES)? {
                    continue; // another one has pushed
                }
                (done.sent, done.removed_there) = self.changed(theirs.as_deref(), fit)?;
            }
            let taken = fit.as_ref().unwrap_or(whole);
            (done.came, done.removed) = self.changed(mine.as_deref(), taken)?;
            self.take(mine.as_deref(), taken)?;
            // What others may not have is of this worktree alone, until it is corrected.
            if let Some(fit) = &fit {
                self.git.run(&["update-ref", "-m", "memo sync-notes", NOTES, fit])?;
            }
            break;
        }
        Ok(done)
    }

    /// Returns a commit that others may have who have another one: the merged one, or the same files without their history where that
    /// has something which they may not have. `None` if the files have that.
    fn fit(
        &self,
        merged: &str,
        known: Option<&str>,
        bad: &[String],
        done: &mut Exchanged,
    ) -> Result<Option<String>, CliError> {
        let screened = screen(&self.git, self.context, merged, known, bad)?;
        done.refused.extend(screened.now);
        if !done.refused.is_empty() {
            return Ok(None);
        }
        done.left_out = screened.before;
        if done.left_out.is_empty() {
            return Ok(Some(merged.to_owned()));
        }
        let anew = self.without_history(merged, known)?;
        match screen(&self.git, self.context, &anew, known, bad)? {
            Screened { now, before } if now.is_empty() && before.is_empty() => Ok(Some(anew)),
            Screened { now, before } => Err(CliError::Git {
                message: format!(
                    "others may not have {}; nothing was exchanged",
                    list_unfit(&[now, before].concat())
                ),
                hint: "git's `user.name` and `user.email` are in each commit".to_owned(),
            }),
        }
    }

    /// Returns a commit with the files of one and, but for what others have, no history.
    fn without_history(&self, commit: &str, known: Option<&str>) -> Result<String, CliError> {
        let tree = self.git.tree_of(commit)?;
        match known {
            Some(known) if self.git.tree_of(known)? == tree => Ok(known.to_owned()),
            known => self.git.commit(&tree, &known.map(str::to_owned).into_iter().collect::<Vec<_>>()),
        }
    }

    /// Sends a commit to a remote that has another one; returns whether that was still so, or fails where this is the last time.
    fn push(
        &self,
        remote: &str,
        commit: &str,
        theirs: Option<&str>,
        is_last: bool,
    ) -> Result<bool, CliError> {
        // What was screened is sent to who has what was fetched, and to nobody else.
        let lease = format!("--force-with-lease={NOTES}:{}", theirs.unwrap_or_default());
        let push = ["push", "-q", &lease, remote, &format!("{commit}:{NOTES}")];
        let pushed = self.git.output(&push)?;
        if pushed.status.success() {
            return Ok(true);
        }
        let is_late = String::from_utf8_lossy(&pushed.stderr).contains("rejected");
        if is_late && !is_last { Ok(false) } else { Err(failed(&push, &pushed)) }
    }

    /// Commits the files as they are now; returns what this worktree has, or `None` if it never had a file, and what stands in the
    /// place of files that it had.
    fn commit_files(&self, own: &Own) -> Result<(Option<String>, Vec<Unfit>), CliError> {
        self.git.run(&["read-tree", "--empty"])?;
        for paths in own.paths.chunks(AT_ONCE) {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            self.git.run(&[&["add", "-f", "--"], &paths[..]].concat())?;
        }
        let listed = self.git.run(&["ls-files", "--cached"])?;
        if !listed.lines().eq(&own.paths) {
            return Err(CliError::Git {
                message: "files of memories were changed meanwhile; nothing was exchanged".to_owned(),
                hint: "run it again".to_owned(),
            });
        }
        let (before, theirs) = (self.git.commit_of(HERE)?, self.git.commit_of(THEIRS)?);
        let odd = self.keep_odd(own, before.as_deref())?;
        let tree = self.git.run(&["write-tree"])?;
        let known = before.as_ref().map(|commit| self.git.tree_of(commit));
        let is_same = match known.transpose()? {
            Some(known) => known == tree && theirs.is_none(),
            None => tree == self.empty_tree,
        };
        if is_same {
            return Ok((before, odd));
        }
        let parents: Vec<String> = before.into_iter().chain(theirs).collect();
        let commit = self.git.commit(&tree, &parents)?;
        self.git.run(&["update-ref", "-m", "memo sync-notes", HERE, &commit])?;
        self.git.run(&["update-ref", "-d", THEIRS])?;
        self.git.run(&["update-ref", "-d", MARKED])?;
        Ok((Some(commit), odd))
    }

    /// Keeps in the index the files in whose place something else stands, so that they are not removed for others; returns those.
    fn keep_odd(&self, own: &Own, before: Option<&str>) -> Result<Vec<Unfit>, CliError> {
        let mut kept = Vec::new();
        for odd in before.map_or(&[][..], |_| &own.odd) {
            let blob = format!("{}:{}", before.unwrap_or_default(), odd.path);
            if let Some(blob) = self.git.ask(&["rev-parse", "-q", "--verify", &blob])? {
                let entry = format!("100644,{blob},{}", odd.path);
                self.git.run(&["update-index", "--add", "--cacheinfo", &entry])?;
                kept.push(odd.clone());
            }
        }
        Ok(kept)
    }

    /// Returns what the remote has; `None` if nobody has sent anything.
    fn fetch(&self, remote: &str) -> Result<Option<String>, CliError> {
        let listed = self.git.run(&["ls-remote", remote, NOTES])?; // also what only ends so
        if !listed.lines().any(|line| line.split('\t').nth(1) == Some(NOTES)) {
            self.git.run(&["update-ref", "-d", FETCHED])?;
            return Ok(None);
        }
        self.git.run(&[
            "fetch",
            "-q",
            "--no-tags",
            "--no-write-fetch-head",
            remote,
            &format!("+{NOTES}:{FETCHED}"),
        ])?;
        self.git.commit_of(FETCHED)
    }

    /// Merges two commits. Where files are in conflict, they get the markers, and the next exchange goes on.
    fn merged(
        &self,
        mine: Option<&str>,
        ours: Option<&str>,
        theirs: &str,
        all_kept: &mut Vec<String>,
    ) -> Result<String, CliError> {
        let Some(ours) = ours else { return Ok(theirs.to_owned()) };
        match merge(&self.git, ours, theirs)? {
            Merged::One(commit) => Ok(commit),
            Merged::Tree { tree, kept } => {
                all_kept.extend(kept);
                all_kept.sort();
                all_kept.dedup(); // each push that came too late merges again
                self.git.commit(&tree, &[ours.to_owned(), theirs.to_owned()])
            }
            Merged::Conflict { tree, ids } => {
                // Of the worktree are both what is its own and what was merged without a conflict before.
                self.place(mine, &tree)?;
                let marked = self.git.commit(&tree, &[])?;
                self.git.run(&["update-ref", "-m", "memo sync-notes", MARKED, &marked])?;
                self.git.run(&["update-ref", "-m", "memo sync-notes", HERE, ours])?;
                self.git.run(&["update-ref", "-m", "memo sync-notes", THEIRS, theirs])?;
                Err(in_conflict(&ids))
            }
        }
    }

    /// Returns the paths of files that are new or changed between what somebody had and a commit, and those that are gone.
    fn changed(&self, before: Option<&str>, commit: &str) -> Result<(Vec<String>, Vec<String>), CliError> {
        self.git.changed(before.unwrap_or(&self.empty_tree), commit)
    }

    /// Makes the files those of a commit.
    fn take(&self, mine: Option<&str>, merged: &str) -> Result<(), CliError> {
        self.place(mine, merged)?;
        self.git.run(&["update-ref", "-m", "memo sync-notes", HERE, merged]).map(drop)
    }

    /// Changes the files from what the worktree has to a tree.
    fn place(&self, mine: Option<&str>, tree: &str) -> Result<(), CliError> {
        let changes = self.git.changes(mine.unwrap_or(&self.empty_tree), tree)?;
        place_files(&self.context.layout.root, &changes)
    }
}
