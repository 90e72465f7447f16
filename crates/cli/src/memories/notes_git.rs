//! Runs git for the notes ref, with a separate index, so that the user's index and branches do not change.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use memod_base::paths::{IoContext as _, NOTES_LOCK_FILE_NAME};
use memod_base::types::memory_file_path;
use memod_terminal::CliError;

/// Environment variables that name a repository or a part of it, and that git sets for hooks (`git rev-parse --local-env-vars`).
/// Other variables, such as GIT_SSH_COMMAND, are the user's and stay.
const REPOSITORY_VARIABLES: [&str; 11] = [
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

/// The notes of the repository, which are shared by its worktrees and pushed to the remote under the same name.
pub(super) const NOTES_REF: &str = "refs/memod/notes";
/// The notes of this worktree at its last exchange.
pub(super) const WORKTREE_REF: &str = "refs/worktree/memod/notes";
/// The notes with which this worktree's notes are being merged, while files are in conflict.
pub(super) const THEIRS_REF: &str = "refs/worktree/memod/notes-theirs";
/// The notes of the remote as they were fetched.
pub(super) const FETCHED_REF: &str = "refs/worktree/memod/notes-fetched";
/// The outcome of that unfinished merge, with conflict markers.
pub(super) const CONFLICTED_REF: &str = "refs/worktree/memod/notes-marked";

/// Age from which the lock file of a ref counts as left by a killed git.
const STALE_LOCK_AGE: Duration = Duration::from_secs(60);

/// Number of objects that one git process reads.
const MOST_OBJECTS: usize = 500;

/// Most lines of git's messages that an error quotes.
const MOST_QUOTED_LINES: usize = 4;

/// Runs git in a worktree, with an index of its memory files alone.
pub(super) struct NotesGit<'a> {
    root: &'a Path,
    git_dir: &'a Path,
    index: PathBuf,
    /// The tree from which git 2.41 and later reads attributes.
    attributes: Option<String>,
}

/// The content of an object.
pub(super) enum GitObject {
    Bytes(Vec<u8>),
    TooLarge,
}

/// The file in a worktree's git dir from which git reads its input. A pipe is not used, because it could block both processes.
const INPUT_FILE: &str = "memod-notes-input";
/// The index file in a worktree's git dir.
const INDEX_FILE: &str = "memod-notes-index";
/// The index file in a worktree's git dir in which two commits are merged.
pub(super) const MERGE_INDEX_FILE: &str = "memod-notes-merge";

/// Settings under which the files in the worktree equal those of the commits: no hook runs, no file is left out, and line
/// ends stay.
const SETTINGS: [&str; 6] = [
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.fileMode=false",
    "core.sparseCheckout=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
];

impl<'a> NotesGit<'a> {
    pub(super) fn new(root: &'a Path, git_dir: &'a Path) -> Self {
        Self { root, git_dir, index: git_dir.join(INDEX_FILE), attributes: None }
    }

    /// Returns this runner with git's attributes read from an empty tree, so that no filter changes the files.
    pub(super) fn without_filters(self, empty_tree: &str) -> Self {
        Self { attributes: Some(empty_tree.to_owned()), ..self }
    }

    /// Returns this runner with another index file in the worktree's git dir.
    pub(super) fn with_index(&self, name: &str) -> Self {
        Self { index: self.git_dir.join(name), attributes: self.attributes.clone(), ..*self }
    }

    /// Returns the worktree's git dir.
    pub(super) fn git_dir(&self) -> &Path {
        self.git_dir
    }

    /// Fails if attributes make git change the texts of files.
    pub(super) fn require_safe_attributes(&self) -> Result<(), CliError> {
        let path = memory_file_path("mem_01ARZ3NDEKTSV4RRFFQ69G5FAV"); // any one
        let names = ["filter", "ident", "working-tree-encoding"];
        let output = self.run_git(&[&["check-attr", "-z"], &names[..], &["--", &path]].concat())?;
        let fields: Vec<&str> = output.split('\0').collect();
        for attribute in fields.chunks_exact(3) {
            match attribute {
                [_, _, "unspecified" | "unset"] => {}
                [_, name, value] => {
                    return Err(CliError::Git {
                        message: format!("git has the attribute {name}={value} for files of memories; nothing was exchanged"),
                        hint: "files must be exchanged unchanged: remove the attribute from .git/info/attributes; before git 2.41 also from .gitattributes"
                            .to_owned(),
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Locks the worktree against other exchanges until the file is closed, and removes the lock files of a killed git.
    pub(super) fn lock_worktree(git_dir: &Path, common_dir: &Path) -> Result<fs::File, CliError> {
        let path = git_dir.join(NOTES_LOCK_FILE_NAME);
        let file =
            fs::OpenOptions::new().create(true).truncate(false).write(true).open(&path).at("open", &path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                return Err(CliError::Git {
                    message: "another `memo share sync` runs in this worktree".to_owned(),
                    hint: "run `memo share sync` again when the other has ended".to_owned(),
                });
            }
            Err(fs::TryLockError::Error(error)) => return Err(error).at("lock", &path)?,
        }
        // Only an exchange of this worktree creates these lock files, and this exchange holds the lock, so a killed git left them.
        for name in [INDEX_FILE, MERGE_INDEX_FILE, WORKTREE_REF, THEIRS_REF, FETCHED_REF, CONFLICTED_REF] {
            let _ = fs::remove_file(git_dir.join(format!("{name}.lock")));
        }
        // An exchange of another worktree may hold this lock for a moment.
        let shared = common_dir.join(format!("{NOTES_REF}.lock"));
        let age =
            fs::metadata(&shared).and_then(|meta| meta.modified()).map(|at| at.elapsed().unwrap_or_default());
        if age.is_ok_and(|age| age > STALE_LOCK_AGE) {
            let _ = fs::remove_file(shared);
        }
        Ok(file)
    }

    /// Returns whether the worktree with this git dir has ever exchanged notes.
    pub(super) fn has_exchanged_notes(git_dir: Option<&Path>) -> bool {
        git_dir.is_some_and(|dir| dir.join(INDEX_FILE).exists())
    }

    /// Runs git and returns its output without the last line end.
    ///
    /// # Errors
    /// When git cannot be started or fails; the message quotes its errors.
    pub(super) fn run_git(&self, args: &[&str]) -> Result<String, CliError> {
        let output = self.run_git_for_output(args)?;
        if !output.status.success() {
            return Err(git_failed_error(args, &output));
        }
        Ok(trimmed_text(&output.stdout))
    }

    /// Runs git and returns its output without the last line end; `None` if git exits with 1, which means no.
    ///
    /// # Errors
    /// As [`Self::run_git`], for other exit statuses.
    pub(super) fn run_git_or_none(&self, args: &[&str]) -> Result<Option<String>, CliError> {
        let output = self.run_git_for_output(args)?;
        match output.status.code() {
            Some(0) => Ok(Some(trimmed_text(&output.stdout))),
            Some(1) => Ok(None),
            _ => Err(git_failed_error(args, &output)),
        }
    }

    /// Runs git and returns its exit status and output.
    ///
    /// # Errors
    /// When git cannot be started.
    pub(super) fn run_git_for_output(&self, args: &[&str]) -> Result<Output, CliError> {
        Self::run_git_command(self.new_command(self.root).args(args))
    }

    /// Like [`Self::run_git`], with `input` as the stdin of git.
    ///
    /// # Errors
    /// As [`Self::run_git`], and when the input cannot be written.
    pub(super) fn run_git_with_input(&self, args: &[&str], input: &str) -> Result<String, CliError> {
        self.run_git_for_bytes(args, input).map(|bytes| trimmed_text(&bytes))
    }

    fn run_git_for_bytes(&self, args: &[&str], input: &str) -> Result<Vec<u8>, CliError> {
        let path = self.git_dir.join(INPUT_FILE);
        fs::write(&path, input).at("write", &path)?;
        let file = fs::File::open(&path).at("open", &path)?;
        let output = Self::run_git_command(self.new_command(self.root).args(args).stdin(file))?;
        let _ = fs::remove_file(&path);
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(git_failed_error(args, &output)),
        }
    }

    /// Reads objects and calls `take` with the id and content of each. For an object over `most` bytes, the content is
    /// [`GitObject::TooLarge`].
    ///
    /// # Errors
    /// When git cannot read one of them, or `take` fails.
    pub(super) fn for_each_object<'i>(
        &self,
        ids: &[&'i str],
        most: u64,
        mut take: impl FnMut(&'i str, GitObject) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        for ids in ids.chunks(MOST_OBJECTS) {
            let sizes = self.run_git_with_input(
                &["cat-file", "--batch-check=%(objectsize)"],
                &format!("{}\n", ids.join("\n")),
            )?;
            let sizes: Vec<u64> = sizes.lines().map_while(|size| size.parse().ok()).collect();
            if sizes.len() != ids.len() {
                return Err(unreadable_error(ids[sizes.len().min(ids.len() - 1)]));
            }
            let (small, large): (Vec<_>, Vec<_>) =
                ids.iter().copied().zip(sizes).partition(|(_, size)| *size <= most);
            for (id, _) in large {
                take(id, GitObject::TooLarge)?;
            }
            let asked: String = small.iter().map(|(id, _)| format!("{id}\n")).collect();
            let output = self.run_git_for_bytes(&["cat-file", "--batch=%(objectsize)"], &asked)?;
            let mut rest = &output[..];
            for (id, size) in small {
                let (bytes, after) = split_first_object(rest, size).ok_or_else(|| unreadable_error(id))?;
                take(id, GitObject::Bytes(bytes.to_vec()))?;
                rest = after;
            }
        }
        Ok(())
    }

    fn new_command(&self, dir: &Path) -> Command {
        let mut command = Command::new("git");
        for name in REPOSITORY_VARIABLES {
            command.env_remove(name);
        }
        command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting])).current_dir(dir);
        // With replacement refs, the objects that are screened would differ from those that a push sends.
        command.env("GIT_NO_REPLACE_OBJECTS", "1");
        command.env("GIT_INDEX_FILE", &self.index).env("GIT_ATTR_NOSYSTEM", "1").stdin(Stdio::null());
        command.envs(self.attributes.iter().map(|tree| ("GIT_ATTR_SOURCE", tree)));
        command
    }

    fn run_git_command(command: &mut Command) -> Result<Output, CliError> {
        command.output().map_err(|error| CliError::Git {
            message: format!("git cannot be started: {error}"),
            hint: "install git, or put it into PATH".to_owned(),
        })
    }

    /// Runs git with the user's index.
    ///
    /// # Errors
    /// As [`Self::run_git`].
    pub(super) fn run_git_with_user_index(&self, args: &[&str]) -> Result<String, CliError> {
        Self { attributes: None, ..self.with_index("index") }.run_git(args)
    }
}

/// Splits the output of `git cat-file --batch` into the bytes of the first object and the rest. Each object is a line with its
/// size, its bytes, and a line end.
fn split_first_object(output: &[u8], size: u64) -> Option<(&[u8], &[u8])> {
    let header = format!("{size}\n");
    let rest = output.strip_prefix(header.as_bytes())?;
    let (bytes, rest) = rest.split_at_checked(usize::try_from(size).ok()?)?;
    Some((bytes, rest.strip_prefix(b"\n")?))
}

fn unreadable_error(id: &str) -> CliError {
    CliError::Git {
        message: format!("git object {id}: cannot be read; nothing was exchanged"),
        hint: "find missing objects with `git fsck`".to_owned(),
    }
}

/// Returns the error for a git command that failed, with a quotation of git's messages.
pub(super) fn git_failed_error(args: &[&str], output: &Output) -> CliError {
    let stderr = trimmed_text(&output.stderr);
    let lines: Vec<&str> = stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // Quote errors of git and lines of a remote's hook; the other lines are advice.
    let prefixes = ["fatal: ", "error: ", "remote: ", "! "];
    let errors = lines.iter().filter(|line| prefixes.iter().any(|prefix| line.starts_with(prefix)));
    let errors: Vec<&str> = errors.take(MOST_QUOTED_LINES).copied().collect();
    let quoted = match lines.last() {
        None => "failed without a message".to_owned(),
        Some(last) if errors.is_empty() => (*last).to_owned(),
        Some(_) => errors.join("; "),
    };
    let verb = args.first().copied().unwrap_or_default();
    let hint = match verb {
        "ls-remote" | "fetch" | "push" => {
            "`git remote -v` lists the remotes; run `memo share sync` again when git reaches the remote"
        }
        _ => "correct the cause, then run `memo share sync` again; `memo history` has the texts of memories",
    };
    CliError::Git { message: format!("git {verb}: {quoted}"), hint: hint.to_owned() }
}

fn trimmed_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches(['\n', '\0']).to_owned()
}
