//! Exchanges the files of shared memories through a ref of their own, for those who do not want them in their branches.
//!
//! The files are where they always are, and git ignores them. Their last state here, that of the repository and that of the
//! remote are three commits, which git merges. A file that two have changed comes back with git's markers, and `memo resolve`
//! ends that.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::notes_git::{NotesGit, failed};
use crate::cli::args::SyncNotesArgs;
use crate::cli::context::CommandContext;
use crate::cli::error::{CliError, CliResult};
use crate::cli::output::Output;
use crate::cli::text::{count, escape};
use crate::paths::IoContext as _;
use crate::types::MEMORY_FILES_DIR;

/// What the repository has, and what is pushed.
const NOTES: &str = "refs/memod/notes";
/// What this worktree had at its last exchange.
const HERE: &str = "refs/worktree/memod/notes";
/// What it is being merged with, while files are in conflict.
const THEIRS: &str = "refs/worktree/memod/notes-theirs";
/// Number of pushes, each after a merge with what another one has pushed.
const PUSHES: usize = 5;

/// What an exchange has changed: names of files.
#[derive(Default, Serialize)]
struct Exchanged {
    /// Changed in the worktree.
    came: Vec<String>,
    /// Changed at the remote.
    sent: Vec<String>,
    remote: Option<String>,
}

/// The outcome of a merge.
enum Merged {
    Commit(String),
    /// The tree has conflicts.
    Conflict {
        tree: String,
        /// Paths of the files that git could not merge.
        paths: Vec<String>,
    },
}

/// Exchanges the files of this worktree with those of the other ones and, if there is one, of a remote.
pub(in crate::cli) fn sync_notes(
    typed: SyncNotesArgs,
    context: &CommandContext,
    output: &mut Output,
) -> CliResult {
    let Some(git_dir) = &context.layout.git_dir else {
        return Err(CliError::Usage {
            message: "notes are exchanged through git, and this is no repository of git".to_owned(),
            hint: "`memo export` writes memories to a file",
        });
    };
    let git = NotesGit::new(&context.layout.root, git_dir);
    let empty_tree = git.run(&["hash-object", "-t", "tree", "--stdin"])?; // of the repository's kind of hash
    let sync = Sync { git, context, empty_tree };
    sync.must_be_untracked()?;
    sync.ignore()?;
    sync.must_be_whole()?;
    let remote = sync.remote(typed.remote)?;
    let done = sync.exchange(remote)?;
    output.value(&done, |output| {
        for path in &done.came {
            output.line(&escape(path))?;
        }
        output.flush()?;
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

    /// Fails while files have the markers of a conflict.
    fn must_be_whole(&self) -> Result<(), CliError> {
        let has_marker = |text: String| text.lines().any(|line| line.starts_with("<<<<<<< "));
        let is_marked = |name: &&String| fs::read_to_string(self.path(name)).is_ok_and(has_marker);
        let names = self.names()?;
        let marked: Vec<&str> =
            names.iter().filter(is_marked).filter_map(|name| name.strip_suffix(".md")).collect();
        if marked.is_empty() { Ok(()) } else { Err(in_conflict(&marked)) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.context.layout.root.join(MEMORY_FILES_DIR).join(name)
    }

    /// Returns the names of the files of memories.
    fn names(&self) -> Result<Vec<String>, CliError> {
        let dir = self.context.layout.root.join(MEMORY_FILES_DIR);
        let entries = match fs::read_dir(&dir) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.at("list", &dir)?,
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter(|name| name.starts_with("mem_") && name.ends_with(".md")).collect())
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

    fn exchange(&self, remote: Option<String>) -> Result<Exchanged, CliError> {
        let mine = self.commit_files()?;
        let mut merged = mine.clone();
        if let Some(others) = self.commit_of(NOTES)? {
            merged = Some(self.merged(mine.as_deref(), merged.as_deref(), &others)?);
        }
        let mut done = Exchanged { remote, ..Exchanged::default() };
        for nth in 0..PUSHES {
            let theirs = match &done.remote {
                Some(remote) => self.fetch(remote)?,
                None => None,
            };
            if let Some(theirs) = &theirs {
                merged = Some(self.merged(mine.as_deref(), merged.as_deref(), theirs)?);
            }
            let Some(merged) = &merged else { break };
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
    fn commit_files(&self) -> Result<Option<String>, CliError> {
        self.git.run(&["read-tree", "--empty"])?;
        if !self.names()?.is_empty() {
            self.git.run(&["add", "-f", "--", &format!(":(glob){MEMORY_FILES_DIR}/mem_*.md")])?;
        }
        let tree = self.git.run(&["write-tree"])?;
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
        Ok(Some(commit))
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
        if self.git.run(&["ls-remote", remote, NOTES])?.is_empty() {
            return Ok(None);
        }
        self.git.run(&[
            "fetch",
            "-q",
            "--no-tags",
            "--no-write-fetch-head",
            remote,
            &format!("+{NOTES}:{NOTES}-fetched"),
        ])?;
        self.commit_of(&format!("{NOTES}-fetched"))
    }

    /// Merges two commits. Where files are in conflict, they get the markers, and the next exchange goes on.
    fn merged(&self, mine: Option<&str>, ours: Option<&str>, theirs: &str) -> Result<String, CliError> {
        let Some(ours) = ours else { return Ok(theirs.to_owned()) };
        match self.merge(ours, theirs)? {
            Merged::Commit(commit) => Ok(commit),
            Merged::Conflict { tree, paths } => {
                // Of the worktree are both what is its own and what was merged without a conflict before.
                self.read_tree(mine, &tree)?;
                self.git.run(&["update-ref", "-m", "memo sync-notes", HERE, ours])?;
                self.git.run(&["update-ref", "-m", "memo sync-notes", THEIRS, theirs])?;
                let names = paths.iter().filter_map(|path| path.rsplit('/').next());
                Err(in_conflict(&names.map(|name| name.trim_end_matches(".md")).collect::<Vec<_>>()))
            }
        }
    }

    fn merge(&self, ours: &str, theirs: &str) -> Result<Merged, CliError> {
        let is_in = |one: &str, other: &str| {
            self.git.ask(&["merge-base", "--is-ancestor", one, other]).map(|answer| answer.is_some())
        };
        if is_in(theirs, ours)? {
            return Ok(Merged::Commit(ours.to_owned()));
        }
        if is_in(ours, theirs)? {
            return Ok(Merged::Commit(theirs.to_owned()));
        }
        let options = ["--write-tree", "--allow-unrelated-histories", "--name-only", "--no-messages"];
        let args = [&["merge-tree"], &options[..], &[ours, theirs]].concat();
        let output = self.git.output(&args)?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = said.lines().map(str::to_owned);
        let tree = lines.next().unwrap_or_default();
        match output.status.code() {
            Some(0) => Ok(Merged::Commit(self.commit(&tree, &[ours.to_owned(), theirs.to_owned()])?)),
            Some(1) => Ok(Merged::Conflict { tree, paths: lines.filter(|line| !line.is_empty()).collect() }),
            _ => Err(failed(&args, &output)),
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

fn in_conflict(ids: &[&str]) -> CliError {
    CliError::Git {
        message: format!("in conflict: {}", ids.join(", ")),
        hint: "`memo get ID` shows both sides, `memo resolve ID --ours|--theirs|--text TEXT` ends it; then exchange again"
            .to_owned(),
    }
}
