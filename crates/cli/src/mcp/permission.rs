//! Decides which verbs a model may run through `memo mcp`, and which files it may read and create.
//!
//! A model acts on texts that others wrote, so it may read and write memories and nothing else. It may not change the machine, the
//! repository or the daemon. It may not read or write a file that is outside the worktree, holds credentials, or might be taken for
//! an instruction or a setting. For these actions a person uses a terminal.

use std::fs;
use std::path::{Path, PathBuf};

use memod_base::paths::{RepoLayout, canonicalize_path, with_suffix};
use memod_base::types::is_secret_name;
use memod_terminal::{CliError, CommandContext};

use super::refused_error;
use crate::args::{
    AddArgs, BackupArgs, BackupVerb, BriefArgs, ConfigArgs, ConfigVerb, DaemonControlVerb, DedupeArgs,
    DoctorArgs, ExplainArgs, ExportArgs, ForgetVerb, GitHooksVerb, HooksVerb, ImportArgs, LogsArgs, MemoVerb,
    ModelArgs, ModelVerb, QueryArgs, RemovalConfirmArgs, RemoveArgs, RestoreBackupArgs, SearchArgs,
    ShareVerb, ShareWithArgs, SourceArg, TeamArgs, TeamVerb,
};

/// The hint for a verb that only people may run.
const ASK_A_PERSON: &str = "ask the user to run it in a terminal";
/// The hint for a memory that an agent would add under a source that is not an agent.
const LEAVE_SOURCE_OUT: &str =
    "leave --source out, then the source is agent; or ask the user to run the command in a terminal";
/// The hint for a search that would cost tokens.
const ASK_A_PERSON_TO_EXPAND: &str = "leave --expand out; the user can type `memo config set --user search.expand true`, which expands every search";
/// The hint for memories that an agent would delete.
const ASK_A_PERSON_TO_PURGE: &str = "ask the user to type `memo forget purge ID…` in a terminal; `memo forget purge --dry-run` shows what it would delete";
/// The hint for a file that a model may not read.
const NAME_WORKTREE_FILE: &str =
    "name a file of the worktree, or ask the user to run the command in a terminal";
/// The hint for a file that a model may not create.
const NAME_NEW_FILE: &str = "name a new file of the worktree that ends in .jsonl, a backup in .db; or ask the user to run the command in a terminal";

/// Whether a model may run a verb.
enum VerbPermission<'a> {
    /// Yes: the verb reads and writes no files.
    Granted,
    /// Yes, if the model may read these files.
    IfReadable(Vec<&'a Path>),
    /// Yes, if the model may create this file, whose name must have this extension.
    IfCreatable(&'a Path, &'static str),
    /// No, for this reason and with this hint.
    Denied(&'static str, &'static str),
}

/// Returns the permission for a verb. The match has no arm for all other verbs, so that a new verb needs a decision.
fn verb_permission(verb: &MemoVerb) -> VerbPermission<'_> {
    use VerbPermission::{Denied, Granted, IfCreatable, IfReadable};
    match verb {
        _ if verb.allows_secrets() => {
            Denied("--allow-secret stores text that may be a credential", ASK_A_PERSON)
        }
        MemoVerb::Add(AddArgs { source: Some(SourceArg::User | SourceArg::Hook), .. }) => Denied(
            "--source says that the memory comes from a person or a program, not from an agent",
            LEAVE_SOURCE_OUT,
        ),
        MemoVerb::Search(SearchArgs { find: QueryArgs { expand: true, .. }, .. })
        | MemoVerb::Explain(ExplainArgs { find: QueryArgs { expand: true, .. }, .. }) => Denied(
            "--expand sends the query to another language model, which costs tokens",
            ASK_A_PERSON_TO_EXPAND,
        ),
        MemoVerb::Add(AddArgs { suggest: true, .. })
        | MemoVerb::Brief(BriefArgs { summarise: true, .. })
        | MemoVerb::Dedupe(DedupeArgs { propose: true, .. })
        | MemoVerb::Distil(_) => {
            Denied("it would send texts of the repository to another language model", ASK_A_PERSON)
        }
        MemoVerb::Import(ImportArgs { own: true, .. }) => {
            Denied("--own says that a person wrote what is imported", ASK_A_PERSON)
        }
        MemoVerb::Add(_) | MemoVerb::Append(_) | MemoVerb::Import(_) => IfReadable(verb.files_to_read()),
        MemoVerb::Export(ExportArgs { out: Some(out), .. }) => IfCreatable(out, "jsonl"),
        MemoVerb::Backup(typed) => backup_permission(&typed.verb),
        MemoVerb::Forget(typed) => forget_permission(&typed.verb),
        MemoVerb::Share(typed) => share_permission(&typed.verb),

        MemoVerb::Search(_)
        | MemoVerb::Explain(_)
        | MemoVerb::Show(_)
        | MemoVerb::Outline(_)
        | MemoVerb::Refs(_)
        | MemoVerb::Callers(_)
        | MemoVerb::Callees(_)
        | MemoVerb::Impact(_)
        | MemoVerb::Tests(_)
        | MemoVerb::Implements(_)
        | MemoVerb::Map(_)
        | MemoVerb::Brief(_)
        | MemoVerb::Changed(_)
        | MemoVerb::Why(_)
        | MemoVerb::Get(_)
        | MemoVerb::List(_)
        | MemoVerb::Update(_)
        | MemoVerb::Confirm(_)
        | MemoVerb::Restore(_)
        | MemoVerb::Tag(_)
        | MemoVerb::Recall(_)
        | MemoVerb::Promote(_)
        | MemoVerb::Consolidate(_)
        | MemoVerb::Link(_)
        | MemoVerb::Resolve(_)
        | MemoVerb::Related(_)
        | MemoVerb::Dedupe(_)
        | MemoVerb::History(_)
        | MemoVerb::Stats
        | MemoVerb::Status(_)
        | MemoVerb::Sync(_)
        | MemoVerb::Export(_)
        | MemoVerb::Doctor(DoctorArgs { ack: false })
        | MemoVerb::Version => Granted,

        MemoVerb::Doctor(_) => {
            Denied("memo doctor --ack ends a notice that a person should read", ASK_A_PERSON)
        }

        MemoVerb::Daemon(verb) => daemon_permission(verb),
        MemoVerb::Config(ConfigArgs { what: Some(ConfigVerb::Set { .. } | ConfigVerb::Unset { .. }) }) => {
            Denied("memo config set and unset change how memod works for everybody", ASK_A_PERSON)
        }
        MemoVerb::Config(_) | MemoVerb::Llm => Granted,
        MemoVerb::Hooks(typed) => hooks_permission(typed.what.as_ref()),

        MemoVerb::Model(ModelArgs { what: None | Some(ModelVerb::List | ModelVerb::Status) }) => Granted,
        MemoVerb::Model(_) => {
            Denied("memo model use, import and remove change models for everybody", ASK_A_PERSON)
        }

        MemoVerb::Init(_) => Denied("memo init sets up a repository and its git hooks", ASK_A_PERSON),
        MemoVerb::Setup(_) => Denied("memo setup changes files outside the repository", ASK_A_PERSON),
        MemoVerb::Demo(_) => Denied("memo demo makes a directory and starts a daemon", ASK_A_PERSON),
        MemoVerb::Uninstall(_) => Denied("memo uninstall removes the memories and the set-up", ASK_A_PERSON),
        MemoVerb::Serve(_) => {
            Denied("memo serve decides who reaches the daemon, and prints a secret", ASK_A_PERSON)
        }
        MemoVerb::Reindex => {
            Denied("memo reindex discards the index, which others use as well", ASK_A_PERSON)
        }
        MemoVerb::Open(_)
        | MemoVerb::Shell
        | MemoVerb::Mcp(_)
        | MemoVerb::Completions { .. }
        | MemoVerb::Man(_) => Denied("this verb needs a terminal", "run it in a shell"),
    }
}

fn backup_permission(verb: &BackupVerb) -> VerbPermission<'_> {
    use VerbPermission::{Denied, Granted, IfCreatable, IfReadable};
    match verb {
        BackupVerb::Create(BackupArgs { path: Some(path) }) => IfCreatable(path, "db"),
        BackupVerb::Create(_) => Granted,
        BackupVerb::Restore(RestoreBackupArgs { dry_run: true, path, .. }) if path == Path::new("latest") => {
            Granted
        }
        BackupVerb::Restore(RestoreBackupArgs { dry_run: true, path, .. }) => IfReadable(vec![path]),
        BackupVerb::Restore(_) => Denied("memo backup restore replaces all memories", ASK_A_PERSON),
    }
}

fn forget_permission(verb: &ForgetVerb) -> VerbPermission<'_> {
    use VerbPermission::{Denied, Granted};
    match verb {
        ForgetVerb::Archive(_)
        | ForgetVerb::Purge(RemoveArgs { consent: RemovalConfirmArgs { dry_run: true, .. }, .. }) => Granted,
        ForgetVerb::Purge(_) => Denied("memo forget purge deletes memories for good", ASK_A_PERSON_TO_PURGE),
        ForgetVerb::Reset(_) => Denied("memo forget reset deletes all memories", ASK_A_PERSON),
    }
}

fn share_permission(verb: &ShareVerb) -> VerbPermission<'_> {
    use VerbPermission::{Denied, Granted};
    match verb {
        ShareVerb::Add(ShareWithArgs { team: true, .. }) => {
            Denied("memo share --team sends memories to others, and nobody reviews them first", ASK_A_PERSON)
        }
        ShareVerb::Team(TeamArgs { what: Some(TeamVerb::Status | TeamVerb::Members) | None }) => Granted,
        ShareVerb::Team(_) => {
            Denied("it would exchange memories with a server, or change its password", ASK_A_PERSON)
        }
        ShareVerb::Sync(_) => Denied("memo share sync sends memories to a remote", ASK_A_PERSON),
        ShareVerb::Add(_) | ShareVerb::Remove(_) => Granted,
    }
}

fn daemon_permission(verb: &DaemonControlVerb) -> VerbPermission<'_> {
    use VerbPermission::{Denied, Granted};
    match verb {
        DaemonControlVerb::Logs(LogsArgs { follow: true, .. }) => {
            Denied("memo daemon logs --follow never ends", "leave --follow out")
        }
        DaemonControlVerb::Logs(_) => Granted,
        DaemonControlVerb::Events(_) => Denied(
            "memo daemon events waits for events",
            "use `memo status` or `memo list --sort updated` instead",
        ),
        DaemonControlVerb::Stop | DaemonControlVerb::Restart => {
            Denied("memo daemon stop and restart end the daemon, which serves others as well", ASK_A_PERSON)
        }
    }
}

fn hooks_permission(verb: Option<&HooksVerb>) -> VerbPermission<'_> {
    use VerbPermission::{Denied, Granted};
    match verb {
        None | Some(HooksVerb::Git(GitHooksVerb::Status)) => Granted,
        Some(HooksVerb::Git(_)) => {
            Denied("memo hooks install and uninstall change what git runs", ASK_A_PERSON)
        }
        Some(HooksVerb::Agent(_)) => {
            Denied("memo hooks agent answers hooks of agents on stdin", "use `search` or `recall` instead")
        }
    }
}

/// Fails for a verb that only people may run. [`check_files_allowed`] checks the verb's files later, when the directory to which
/// they are relative is known.
pub(super) fn check_verb_allowed(verb: &MemoVerb) -> Result<(), CliError> {
    match verb_permission(verb) {
        VerbPermission::Denied(why, hint) => Err(refused_error(why, hint)),
        _ => Ok(()),
    }
}

/// Fails if a model may not read or create the files of a verb. `dir` is the directory of `-C`.
pub(super) fn check_files_allowed(verb: &MemoVerb, dir: Option<&Path>) -> Result<(), CliError> {
    match verb_permission(verb) {
        VerbPermission::IfReadable(files) if !files.is_empty() => {
            let context = CommandContext::find(dir)?;
            files.into_iter().try_for_each(|path| {
                let inside = path_in_worktree(path, &context)?;
                existing_sqlite_logs(path)
                    .iter()
                    .try_for_each(|log| path_in_worktree(log, &context).map(drop))?;
                // A file in the directory might be a link to a file outside of the worktree.
                let why = if path.is_dir() {
                    "a directory, whose files a model must name one by one"
                } else if is_secret_name(&with_slashes(&inside)) {
                    "its name says that it holds credentials"
                } else {
                    return Ok(());
                };
                Err(refused_path(path, why, NAME_WORKTREE_FILE))
            })
        }
        VerbPermission::IfCreatable(path, ending) => {
            check_new_file(path, ending, &CommandContext::find(dir)?)
        }
        _ => Ok(()),
    }
}

/// Fails if a file exists, or if others might take it for instructions or settings.
fn check_new_file(path: &Path, ending: &str, context: &CommandContext) -> Result<(), CliError> {
    let inside = path_in_worktree(path, context)?;
    if inside.iter().any(|part| part.as_encoded_bytes().starts_with(b".")) {
        return Err(refused_path(path, "hidden, as settings are", NAME_NEW_FILE));
    }
    if inside.extension().is_none_or(|extension| extension != ending) {
        return Err(refused_path(path, &format!("not a name that ends in .{ending}"), NAME_NEW_FILE));
    }
    // Only a person may replace a file, because a person sees which file it is.
    if path.symlink_metadata().is_ok() {
        return Err(refused_path(path, "the file exists", NAME_NEW_FILE));
    }
    Ok(())
}

/// Returns the existing logs that SQLite would read together with a database at this path. The logs might be links to other files.
fn existing_sqlite_logs(path: &Path) -> Vec<PathBuf> {
    ["-wal", "-journal"]
        .map(|suffix| with_suffix(path, suffix))
        .into_iter()
        .filter(|log| log.symlink_metadata().is_ok())
        .collect()
}

/// Resolves the links in a path, and returns its target relative to the top of the worktree.
///
/// # Errors
/// When a model may not read or write the target.
fn path_in_worktree(path: &Path, context: &CommandContext) -> Result<PathBuf, CliError> {
    let layout = &context.layout;
    let why = match resolve_path(path)? {
        PathTarget::Special => "not a regular file",
        PathTarget::Unknown => "a link that leads nowhere",
        PathTarget::Real(real) => match real.strip_prefix(&layout.root) {
            Err(_) => "outside the worktree, where a model may not read or write files",
            Ok(_) if is_in_git_dir(&real, layout) => {
                "in the git directory, where a model may not read or write files"
            }
            Ok(_) if layout.find_own_state_dir(path, &context.env).is_some() => "part of memod's own state",
            Ok(inside) => return Ok(inside.to_owned()),
        },
    };
    Err(refused_path(path, why, NAME_WORKTREE_FILE))
}

fn refused_path(path: &Path, why: &str, hint: &'static str) -> CliError {
    refused_error(&format!("{}: {why}", path.display()), hint)
}

/// Returns a path with slashes, as memod names files on every system.
fn with_slashes(inside: &Path) -> String {
    inside.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The kind of place to which a path leads.
enum PathTarget {
    /// A file or a directory, or the path of a new one in a directory that exists; without links and `..`.
    Real(PathBuf),
    /// A device or a pipe, from which reading may never end; only a person could interrupt it.
    Special,
    /// A link whose target does not exist.
    Unknown,
}

fn resolve_path(path: &Path) -> Result<PathTarget, CliError> {
    match fs::metadata(path) {
        Ok(meta) if !meta.is_file() && !meta.is_dir() => return Ok(PathTarget::Special),
        Ok(_) => return Ok(PathTarget::Real(canonicalize_path(path)?)),
        Err(_) if path.symlink_metadata().is_ok() => return Ok(PathTarget::Unknown),
        Err(_) => {}
    }
    match path.file_name() {
        Some(name) => {
            let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Ok(PathTarget::Real(canonicalize_path(dir)?.join(name)))
        }
        None => Ok(PathTarget::Real(canonicalize_path(path)?)),
    }
}

/// Returns whether a path without links is in the git directory of the worktree, or in that of a repository inside the worktree.
fn is_in_git_dir(real: &Path, layout: &RepoLayout) -> bool {
    let mut dirs = layout.git_dir.iter().chain(&layout.common_dir);
    dirs.any(|dir| real.starts_with(dir))
        || real
            .strip_prefix(&layout.root)
            .is_ok_and(|inside| inside.iter().any(|part| part.eq_ignore_ascii_case(".git")))
}
