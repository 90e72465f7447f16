//! Exchanges the files of shared memories through a ref of their own, for those who do not want them in their branches.
//!
//! The files are where they always are, and git ignores them. Their last state here, that of the repository and that of the
//! remote are three commits, which git merges. A file that two have changed comes back with git's markers, and `memo resolve`
//! ends that.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::notes_files::{Own, has_vanished, id_of_path, no_memory, own_files, refuse_others};
use super::notes_git::{FETCHED, HERE, MARKED, NOTES, NotesGit, THEIRS, failed};
use super::notes_merge::{Merged, merge};
use super::request::caller;
use crate::cli::args::SyncNotesArgs;
use crate::cli::context::CommandContext;
use crate::cli::error::{CliError, CliResult};
use crate::cli::output::Output;
use crate::cli::text::{count, escape};
use crate::paths::IoContext as _;
use crate::proto::memory::{ListParams, MemoriesResult};
use crate::types::MEMORY_FILES_DIR;

/// Number of paths that git is given at once.
const AT_ONCE: usize = 500;
/// Number of pushes, each after a merge with what another one has pushed.
const PUSHES: usize = 5;

/// What an exchange has changed: names of files.
#[derive(Default, Serialize)]
struct Exchanged {
    /// Changed in the worktree.
    came: Vec<String>,
    /// Changed at the remote.
    sent: Vec<String>,
    /// Ids of files that one has changed and another one has removed: they stay.
    kept: Vec<String>,
    /// Ids of files that had vanished here, and are back.
    restored: Vec<String>,
    remote: Option<String>,
}

/// Exchanges the files of this worktree with those of the other ones and, if there is one, of a remote.
pub(in crate::cli) fn sync_notes(
    typed: SyncNotesArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let (Some(git_dir), Some(common_dir)) = (&context.layout.git_dir, &context.layout.common_dir) else {
        return Err(CliError::Usage {
            message: "notes are exchanged through git, and this is no repository of git".to_owned(),
            hint: "`memo export` writes memories to a file",
        });
    };
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
    // The daemon looks at what came: what vanishes later has been there.
    let look = ListParams { caller: caller(context), limit: Some(1), ..ListParams::default() };
    context.connect()?.call::<_, MemoriesResult>("memory.list", &look)?;
    let done = done?;
    output.value(&done, |output| {
        for path in &done.came {
            output.line(&escape(path))?;
        }
        output.flush()?;
        let ids = |ids: &[String]| ids.join(", ");
        if !done.restored.is_empty() {
            output.say(&format!(
                "back, because nobody has forgotten them: {}; `memo sync-notes --removed` removes them for everybody",
                ids(&done.restored)
            ));
        }
        if !done.kept.is_empty() {
            output.say(&format!("changed by one and removed by another, kept: {}", ids(&done.kept)));
        }
        let files = |n: usize| count(n as u64, "file", "files");
        output.say(&match &done.remote {
            Some(remote) => {
                format!(
                    "{} came, {} sent to {}",
                    files(done.came.len()),
                    files(done.sent.len()),
                    escape(remote)
                )
            }
            None => format!("{} came from other worktrees; there is no remote", files(done.came.len())),
        });
        Ok(())
    })?;
    Ok(0)
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
    /// ids. Git removes ignored files, as `git clean -x` does, and that is not for everybody.
    fn restore(&self, is_meant: bool) -> Result<Vec<String>, CliError> {
        // While files are in conflict, the worktree has what it was merged to.
        let marked = if self.commit_of(THEIRS)?.is_some() { self.commit_of(MARKED)? } else { None };
        let here = marked.map_or_else(|| self.commit_of(HERE), |marked| Ok(Some(marked)))?;
        let Some(here) = here.filter(|_| !is_meant) else { return Ok(Vec::new()) };
        let known = self.git.run(&["ls-tree", "-r", "--name-only", &here])?;
        let gone = known.lines().filter(|path| !self.context.layout.root.join(path).exists());
        let mut client = self.context.connect()?;
        let mut back: BTreeMap<String, &str> = BTreeMap::new();
        for path in gone {
            if let Some(id) = id_of_path(path)
                && has_vanished(&mut client, self.context, id)?
            {
                back.insert(id.to_owned(), path);
            }
        }
        if !back.is_empty() {
            self.git.run(&["read-tree", &here])?;
            let paths: Vec<&str> = back.values().copied().collect();
            for paths in paths.chunks(AT_ONCE) {
                self.git.run(&[&["checkout-index", "--"], paths].concat())?;
            }
        }
        Ok(back.into_keys().collect())
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
        let mine = self.commit_files(own)?;
        let mut merged = mine.clone();
        if let Some(others) = self.commit_of(NOTES)? {
            refuse_others(&self.git, &others, "this repository")?;
            merged = Some(self.merged(mine.as_deref(), merged.as_deref(), &others, &mut done.kept)?);
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
            let Some(merged) = &merged else { break };
            refuse_others(&self.git, merged, "this worktree")?;
            let is_there = theirs.as_ref() == Some(merged);
            if let Some(remote) = done.remote.as_ref().filter(|_| !is_there) {
                let push = ["push", "-q", remote, &format!("{merged}:{NOTES}")];
                let pushed = self.git.output(&push)?;
                if !pushed.status.success() {
                    let is_late =
                        String::from_utf8_lossy(&pushed.stderr).contains("rejected") && nth + 1 < PUSHES;
                    if is_late {
                        continue; // another one has pushed
                    }
                    return Err(failed(&push, &pushed));
                }
                done.sent = self.changed(theirs.as_deref(), merged)?;
            }
            done.came = self.changed(mine.as_deref(), merged)?;
            self.take(mine.as_deref(), merged)?;
            self.git.run(&["update-ref", "-m", "memo sync-notes", NOTES, merged])?;
            break;
        }
        Ok(done)
    }

    /// Commits the files as they are now; returns what this worktree has, or `None` if it never had a file.
    fn commit_files(&self, own: &Own) -> Result<Option<String>, CliError> {
        self.git.run(&["read-tree", "--empty"])?;
        for paths in own.paths.chunks(AT_ONCE) {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            self.git.run(&[&["add", "-f", "--"], &paths[..]].concat())?;
        }
        let tree = self.git.run(&["write-tree"])?;
        let listed = self.git.run(&["ls-tree", "-r", "--name-only", &tree])?;
        if !listed.lines().eq(&own.paths) {
            return Err(CliError::Git {
                message: "files of memories were changed meanwhile; nothing was exchanged".to_owned(),
                hint: "run it again".to_owned(),
            });
        }
        self.must_be_memories(own, &tree)?;
        let (before, theirs) = (self.commit_of(HERE)?, self.commit_of(THEIRS)?);
        let known = before.as_ref().map(|commit| self.git.run(&["rev-parse", &format!("{commit}^{{tree}}")]));
        let is_same = match known.transpose()? {
            Some(known) => known == tree && theirs.is_none(),
            None => tree == self.empty_tree,
        };
        if is_same {
            return Ok(before);
        }
        let parents: Vec<String> = before.into_iter().chain(theirs).collect();
        let commit = self.commit(&tree, &parents)?;
        self.git.run(&["update-ref", "-m", "memo sync-notes", HERE, &commit])?;
        self.git.run(&["update-ref", "-d", THEIRS])?;
        self.git.run(&["update-ref", "-d", MARKED])?;
        Ok(Some(commit))
    }

    /// Fails if a file that is no memory has changed here. One that came so is left as it is.
    fn must_be_memories(&self, own: &Own, tree: &str) -> Result<(), CliError> {
        let here = self.commit_of(HERE)?;
        let changed = self.changed(here.as_deref(), tree)?;
        match own.bad.iter().find(|path| changed.contains(path)) {
            None => Ok(()),
            Some(path) => Err(no_memory(path)),
        }
    }

    fn commit(&self, tree: &str, parents: &[String]) -> Result<String, CliError> {
        let mut args = vec!["commit-tree", tree, "-m", "memories"];
        parents.iter().for_each(|parent| args.extend(["-p", parent]));
        self.git.run(&args)
    }

    fn commit_of(&self, name: &str) -> Result<Option<String>, CliError> {
        self.git.ask(&["rev-parse", "-q", "--verify", &format!("{name}^{{commit}}")])
    }

    /// Returns what the remote has; `None` if nobody has sent anything.
    fn fetch(&self, remote: &str) -> Result<Option<String>, CliError> {
        let listed = self.git.run(&["ls-remote", remote, NOTES])?; // also what only ends so
        if !listed.lines().any(|line| line.split('\t').nth(1) == Some(NOTES)) {
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
        self.commit_of(FETCHED)
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
                self.commit(&tree, &[ours.to_owned(), theirs.to_owned()])
            }
            Merged::Conflict { tree, ids } => {
                // Of the worktree are both what is its own and what was merged without a conflict before.
                self.read_tree(mine, &tree)?;
                let marked = self.commit(&tree, &[])?;
                self.git.run(&["update-ref", "-m", "memo sync-notes", MARKED, &marked])?;
                self.git.run(&["update-ref", "-m", "memo sync-notes", HERE, ours])?;
                self.git.run(&["update-ref", "-m", "memo sync-notes", THEIRS, theirs])?;
                Err(in_conflict(&ids))
            }
        }
    }

    /// Returns the paths that differ between what somebody had and a commit.
    fn changed(&self, before: Option<&str>, commit: &str) -> Result<Vec<String>, CliError> {
        let paths =
            self.git.run(&["diff-tree", "-r", "--name-only", before.unwrap_or(&self.empty_tree), commit])?;
        Ok(paths.lines().map(str::to_owned).collect())
    }

    /// Makes the files those of a commit.
    fn take(&self, mine: Option<&str>, merged: &str) -> Result<(), CliError> {
        self.read_tree(mine, merged)?;
        self.git.run(&["update-ref", "-m", "memo sync-notes", HERE, merged]).map(drop)
    }

    /// Changes the files from what the index has to a tree; git leaves alone and names what was edited meanwhile.
    fn read_tree(&self, mine: Option<&str>, tree: &str) -> Result<(), CliError> {
        self.git.run(&["read-tree", "-m", "-u", mine.unwrap_or(&self.empty_tree), tree]).map(drop)
    }
}

pub(super) fn in_conflict(ids: &[String]) -> CliError {
    CliError::Git {
        message: format!("in conflict: {}", ids.join(", ")),
        hint: "`memo get ID` shows both sides, `memo resolve ID --ours|--theirs|--text TEXT` ends it; then exchange again"
            .to_owned(),
    }
}
