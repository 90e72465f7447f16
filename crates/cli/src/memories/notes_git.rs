//! Runs git for the ref of the notes, with an index of its own, so that the user's index and branches are left alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use memod_base::paths::{IoContext as _, NOTES_LOCK};
use memod_base::types::memory_file;

use crate::error::CliError;

/// Variables that name another repository, or a part of one, as git sets them for hooks (`git rev-parse --local-env-vars`).
/// Others, such as GIT_SSH_COMMAND, are the user's.
const OF_REPOSITORY: [&str; 11] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// What the repository has, and what is pushed.
pub(super) const NOTES: &str = "refs/memod/notes";
/// What this worktree had at its last exchange.
pub(super) const HERE: &str = "refs/worktree/memod/notes";
/// What it is being merged with, while files are in conflict.
pub(super) const THEIRS: &str = "refs/worktree/memod/notes-theirs";
/// What the remote has, as it was fetched.
pub(super) const FETCHED: &str = "refs/worktree/memod/notes-fetched";
/// What it was merged to then, with the markers.
pub(super) const MARKED: &str = "refs/worktree/memod/notes-marked";

/// Age of a lock of a ref whose git has been killed.
const STALE: Duration = Duration::from_secs(60);

/// Number of objects that git is asked for at once.
const OBJECTS: usize = 500;

/// Most lines of git that are told.
const TOLD: usize = 4;

/// The worktree, and the index in which its files of memories are.
pub(super) struct NotesGit<'a> {
    root: &'a Path,
    git_dir: &'a Path,
    index: PathBuf,
    /// The tree of which attributes are read, from git 2.41 on.
    attributes: Option<String>,
}

/// The content of an object.
pub(super) enum Object {
    Bytes(Vec<u8>),
    TooLarge,
}

/// The file in a worktree's git dir from which git reads its input. A pipe could block both processes.
const INPUT: &str = "memod-notes-input";
/// The index, from the git dir of a worktree.
const INDEX: &str = "memod-notes-index";

/// Settings under which the files are what the commits say: no hook runs, none is left out or taken for the rename of another
/// one, and line ends stay.
const SETTINGS: [&str; 9] = [
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.fileMode=false",
    "core.sparseCheckout=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "merge.default=text",
    "merge.renames=false",
    "merge.directoryRenames=false",
];

impl<'a> NotesGit<'a> {
    pub(super) fn new(root: &'a Path, git_dir: &'a Path) -> Self {
        Self { root, git_dir, index: git_dir.join(INDEX), attributes: None }
    }

    /// Takes files as they are from now on: no filter changes what is sent.
    pub(super) fn without_filters(self, empty_tree: &str) -> Self {
        Self { attributes: Some(empty_tree.to_owned()), ..self }
    }

    /// Fails where attributes have git change texts, or join what two have changed: nobody would see that.
    pub(super) fn refuse_attributes(&self) -> Result<(), CliError> {
        let path = memory_file("mem_01ARZ3NDEKTSV4RRFFQ69G5FAV"); // any one
        let names = ["merge", "conflict-marker-size", "filter", "ident", "working-tree-encoding"];
        let said = self.run(&[&["check-attr", "-z"], &names[..], &["--", &path]].concat())?;
        let said: Vec<&str> = said.split('\0').collect();
        for of_attribute in said.chunks_exact(3) {
            match of_attribute {
                [_, "merge", "unspecified" | "set" | "text"] => {}
                [_, "conflict-marker-size", "unspecified"] => {}
                [_, "filter" | "ident" | "working-tree-encoding", "unspecified" | "unset"] => {}
                [_, name, value] => {
                    return Err(CliError::Git {
                        message: format!("attributes of git: {name}={value} for files of memories; nothing was exchanged"),
                        hint: "exchanged files are as they are, and conflicts have markers: take that out of .git/info/attributes; before git 2.41 out of .gitattributes too"
                            .to_owned(),
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Keeps other exchanges out of the worktree until the file is closed, and removes what a git that was killed has left.
    pub(super) fn lock(git_dir: &Path, common_dir: &Path) -> Result<fs::File, CliError> {
        let path = git_dir.join(NOTES_LOCK);
        let file =
            fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path).at("open", &path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                return Err(CliError::Git {
                    message: "another `memo sync-notes` runs in this worktree".to_owned(),
                    hint: "run it again once that has ended".to_owned(),
                });
            }
            Err(fs::TryLockError::Error(error)) => return Err(error).at("lock", &path)?,
        }
        // Only an exchange of this worktree makes these; absent, mostly.
        for of in [INDEX, HERE, THEIRS, FETCHED, MARKED] {
            let _ = fs::remove_file(git_dir.join(format!("{of}.lock")));
        }
        // Another worktree may hold this one, for a moment.
        let shared = common_dir.join(format!("{NOTES}.lock"));
        let age =
            fs::metadata(&shared).and_then(|meta| meta.modified()).map(|at| at.elapsed().unwrap_or_default());
        if age.is_ok_and(|age| age > STALE) {
            let _ = fs::remove_file(shared);
        }
        Ok(file)
    }

    /// Returns whether a worktree has exchanged notes.
    pub(super) fn is_used(git_dir: Option<&Path>) -> bool {
        git_dir.is_some_and(|dir| dir.join(INDEX).exists())
    }

    /// Returns what git printed, without the last line end.
    ///
    /// # Errors
    /// When git cannot be started or fails; the message has what it says of that.
    pub(super) fn run(&self, args: &[&str]) -> Result<String, CliError> {
        let output = self.output(args)?;
        if !output.status.success() {
            return Err(failed(args, &output));
        }
        Ok(text(&output.stdout))
    }

    /// Returns what git printed; `None` where it exits with 1, which says no.
    ///
    /// # Errors
    /// As [`Self::run`], for other exits.
    pub(super) fn ask(&self, args: &[&str]) -> Result<Option<String>, CliError> {
        let output = self.output(args)?;
        match output.status.code() {
            Some(0) => Ok(Some(text(&output.stdout))),
            Some(1) => Ok(None),
            _ => Err(failed(args, &output)),
        }
    }

    /// Runs git, and returns its exit and what it printed.
    ///
    /// # Errors
    /// When git cannot be started.
    pub(super) fn output(&self, args: &[&str]) -> Result<Output, CliError> {
        Self::start(self.command(self.root).args(args))
    }

    /// Like [`Self::run`], with `input` for git to read.
    ///
    /// # Errors
    /// As [`Self::run`], and when the input cannot be written.
    pub(super) fn run_fed(&self, args: &[&str], input: &str) -> Result<String, CliError> {
        self.bytes_fed(args, input).map(|bytes| text(&bytes))
    }

    fn bytes_fed(&self, args: &[&str], input: &str) -> Result<Vec<u8>, CliError> {
        let path = self.git_dir.join(INPUT);
        fs::write(&path, input).at("write", &path)?;
        let file = fs::File::open(&path).at("open", &path)?;
        let output = Self::start(self.command(self.root).args(args).stdin(file))?;
        let _ = fs::remove_file(&path);
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(failed(args, &output)),
        }
    }

    /// Reads objects of at most so many bytes, and calls `take` with each.
    ///
    /// # Errors
    /// When git cannot read one of them, or `take` fails.
    pub(super) fn each_object<'i>(
        &self,
        ids: &[&'i str],
        most: u64,
        mut take: impl FnMut(&'i str, Object) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        for ids in ids.chunks(OBJECTS) {
            let sizes =
                self.run_fed(&["cat-file", "--batch-check=%(objectsize)"], &format!("{}\n", ids.join("\n")))?;
            let sizes: Vec<u64> = sizes.lines().map_while(|size| size.parse().ok()).collect();
            if sizes.len() != ids.len() {
                return Err(unreadable(ids[sizes.len().min(ids.len() - 1)]));
            }
            let (small, large): (Vec<_>, Vec<_>) =
                ids.iter().copied().zip(sizes).partition(|(_, size)| *size <= most);
            for (id, _) in large {
                take(id, Object::TooLarge)?;
            }
            let asked: String = small.iter().map(|(id, _)| format!("{id}\n")).collect();
            let said = self.bytes_fed(&["cat-file", "--batch=%(objectsize)"], &asked)?;
            let mut rest = &said[..];
            for (id, size) in small {
                let (bytes, after) = first_object(rest, size).ok_or_else(|| unreadable(id))?;
                take(id, Object::Bytes(bytes.to_vec()))?;
                rest = after;
            }
        }
        Ok(())
    }

    /// Like [`Self::output`], where no `.gitattributes` says how files are merged.
    ///
    /// # Errors
    /// As [`Self::output`].
    pub(super) fn output_without_attributes(&self, args: &[&str]) -> Result<Output, CliError> {
        let mut command = self.command(self.git_dir);
        Self::start(command.arg("--git-dir=.").arg("--work-tree=.").args(args))
    }

    fn command(&self, dir: &Path) -> Command {
        let mut command = Command::new("git");
        for name in OF_REPOSITORY {
            command.env_remove(name);
        }
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting])).current_dir(dir);
        // Replacement refs would screen another object than the push sends.
        command.env("GIT_NO_REPLACE_OBJECTS", "1");
        command.env("GIT_INDEX_FILE", &self.index).env("GIT_ATTR_NOSYSTEM", "1").stdin(Stdio::null());
        command.envs(self.attributes.iter().map(|tree| ("GIT_ATTR_SOURCE", tree)));
        command
    }

    fn start(command: &mut Command) -> Result<Output, CliError> {
        command.output().map_err(|error| CliError::Git {
            message: format!("git cannot be started: {error}"),
            hint: "install git, or put it into PATH".to_owned(),
        })
    }

    /// Runs git with the user's index.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(super) fn run_in_worktree(&self, args: &[&str]) -> Result<String, CliError> {
        let index = self.index.with_file_name("index");
        Self { root: self.root, git_dir: self.git_dir, index, attributes: None }.run(args)
    }
}

/// Returns the first object of what `git cat-file --batch` printed, and what follows it: a line with its size, its bytes, and a line
/// end.
fn first_object(said: &[u8], size: u64) -> Option<(&[u8], &[u8])> {
    let header = format!("{size}\n");
    let rest = said.strip_prefix(header.as_bytes())?;
    let (bytes, rest) = rest.split_at_checked(usize::try_from(size).ok()?)?;
    Some((bytes, rest.strip_prefix(b"\n")?))
}

fn unreadable(id: &str) -> CliError {
    CliError::Git {
        message: format!("git object {id}: cannot be read; nothing was exchanged"),
        hint: "`git fsck` says what is missing".to_owned(),
    }
}

/// Returns the error for a git that failed.
pub(super) fn failed(args: &[&str], output: &Output) -> CliError {
    let said = text(&output.stderr);
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    // What a hook of the remote says, and what git says of itself; the rest is advice.
    let starts = ["fatal: ", "error: ", "remote: ", "! "];
    let told = lines().filter(|line| starts.iter().any(|start| line.starts_with(start)));
    let told: Vec<&str> = told.take(TOLD).collect();
    let told = if told.is_empty() { lines().next_back().into_iter().collect() } else { told };
    let told = if told.is_empty() { "it said nothing".to_owned() } else { told.join("; ") };
    let verb = args.first().copied().unwrap_or_default();
    let hint = match verb {
        "ls-remote" | "fetch" | "push" => {
            "`git remote -v` lists the remotes; run it again when git reaches it"
        }
        _ => "run it again when git can; what memories said is in `memo history`",
    };
    CliError::Git { message: format!("git {verb}: {told}"), hint: hint.to_owned() }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches(['\n', '\0']).to_owned()
}
