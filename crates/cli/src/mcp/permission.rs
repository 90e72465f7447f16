//! Decides what a model may do through `memo mcp`.
//!
//! A model acts on texts that others wrote. So it reads and writes memories, and nothing else: what changes the machine, the
//! repository or the daemon, every file that is not of the worktree or holds credentials, and every file that might be read as an
//! instruction or a setting, is left to a person at a terminal.

use std::fs;
use std::path::{Path, PathBuf};

use memod_base::paths::{RepoLayout, canonical, with_suffix};
use memod_base::types::is_secret_name;

use super::refused;
use crate::args::{
    AddArgs, BackupArgs, BriefArgs, ConfigArgs, ConfigVerb, ConsentArgs, DedupeArgs, DoctorArgs, ExplainArgs,
    ExportArgs, FindArgs, HooksArgs, HooksVerb, ImportArgs, LogsArgs, ModelArgs, ModelVerb, RemoveArgs,
    RestoreBackupArgs, SearchArgs, ShareWithArgs, SourceArg, TeamArgs, TeamVerb, Verb,
};
use crate::context::CommandContext;
use crate::error::CliError;

/// What to do about a verb that is for people.
const BY_A_PERSON: &str = "ask the user to run it in a terminal";
/// What to do about a memory that an agent would add as somebody else.
const BY_AN_AGENT: &str = "leave it out, the source is then agent; or ask the user to run it in a terminal";
/// What to do about a search that would cost tokens.
const EXPAND_BY_A_PERSON: &str = "leave it out; `memo config set --user search.expand true`, which the user may type, does it in each search";
/// What to do about memories that are to be deleted.
const PURGE_BY_A_PERSON: &str =
    "ask the user to type `memo purge ID…` in a terminal; `memo purge --dry-run` shows what it would delete";
/// What to do about a file that is out of reach.
const IN_THE_WORKTREE: &str = "name a file of the worktree, or ask the user to run the command in a terminal";
/// What to do about a file that a model may not make.
const NEW_FILE: &str = "name a new file of the worktree that ends in .jsonl, a backup in .db; or ask the user to run the command in a terminal";

/// Whether a model may run a verb.
enum Permission<'a> {
    /// Yes: it reads and writes no files.
    Granted,
    /// Yes, if it may read these files.
    Reading(Vec<&'a Path>),
    /// Yes, if it may make this file, whose name must end so.
    Making(&'a Path, &'static str),
    /// No: the reason, and what to do.
    Denied(&'static str, &'static str),
}

/// Returns the permission for a verb. There is no rule for all others: whoever adds a verb decides.
fn permission(verb: &Verb) -> Permission<'_> {
    use Permission::{Denied, Granted, Making, Reading};
    match verb {
        _ if verb.allows_secrets() => Denied("--allow-secret keeps what may be a credential", BY_A_PERSON),
        Verb::Add(AddArgs { source: Some(SourceArg::User | SourceArg::Hook), .. }) => {
            Denied("--source says that a person or a program said it, not an agent", BY_AN_AGENT)
        }
        Verb::Search(SearchArgs { find: FindArgs { expand: true, .. }, .. })
        | Verb::Explain(ExplainArgs { find: FindArgs { expand: true, .. }, .. }) => Denied(
            "--expand sends the query to another language model, which costs tokens",
            EXPAND_BY_A_PERSON,
        ),
        Verb::Add(AddArgs { suggest: true, .. })
        | Verb::Brief(BriefArgs { summarise: true, .. })
        | Verb::Dedupe(DedupeArgs { propose: true, .. })
        | Verb::Distil(_) => {
            Denied("it would send texts of the repository to another language model", BY_A_PERSON)
        }
        Verb::Import(ImportArgs { own: true, .. }) => {
            Denied("--own says that a person wrote what is imported", BY_A_PERSON)
        }
        Verb::Add(_) | Verb::Append(_) | Verb::Import(_) => Reading(verb.files_to_read()),
        Verb::Export(ExportArgs { out: Some(out), .. }) => Making(out, "jsonl"),
        Verb::Backup(BackupArgs { path: Some(path) }) => Making(path, "db"),
        Verb::RestoreBackup(RestoreBackupArgs { dry_run: true, path, .. }) if path == Path::new("latest") => {
            Granted
        }
        Verb::RestoreBackup(RestoreBackupArgs { dry_run: true, .. }) => Reading(verb.files_to_read()),
        Verb::Purge(RemoveArgs { consent: ConsentArgs { dry_run: true, .. }, .. }) => Granted,
        Verb::Purge(_) => Denied("memo purge deletes memories for good", PURGE_BY_A_PERSON),
        Verb::Reset(_) => Denied("memo reset deletes all memories", BY_A_PERSON),
        Verb::Share(ShareWithArgs { team: true, .. }) => {
            Denied("memo share --team sends memories to others, and nobody reviews them before", BY_A_PERSON)
        }
        Verb::Team(TeamArgs { what: None | Some(TeamVerb::Status | TeamVerb::Members) }) => Granted,
        Verb::Team(_) => Denied("it would exchange memories with a server, or its password", BY_A_PERSON),
        Verb::SyncNotes(_) => Denied("memo sync-notes sends memories to a remote", BY_A_PERSON),
        Verb::RestoreBackup(_) => Denied("memo restore-backup replaces all memories", BY_A_PERSON),

        Verb::Search(_)
        | Verb::Explain(_)
        | Verb::Show(_)
        | Verb::Outline(_)
        | Verb::Refs(_)
        | Verb::Callers(_)
        | Verb::Callees(_)
        | Verb::Impact(_)
        | Verb::Tests(_)
        | Verb::Implements(_)
        | Verb::Map(_)
        | Verb::Brief(_)
        | Verb::Changed(_)
        | Verb::Why(_)
        | Verb::Get(_)
        | Verb::List(_)
        | Verb::Update(_)
        | Verb::Confirm(_)
        | Verb::Forget(_)
        | Verb::Restore(_)
        | Verb::Share(_)
        | Verb::Unshare(_)
        | Verb::Tag(_)
        | Verb::Untag(_)
        | Verb::Tags(_)
        | Verb::Containers(_)
        | Verb::Recall(_)
        | Verb::Recent(_)
        | Verb::Promote(_)
        | Verb::Consolidate(_)
        | Verb::Link(_)
        | Verb::Unlink(_)
        | Verb::Links(_)
        | Verb::Resolve(_)
        | Verb::Related(_)
        | Verb::Dedupe(_)
        | Verb::History(_)
        | Verb::Stats
        | Verb::Status(_)
        | Verb::Sync(_)
        | Verb::Export(_)
        | Verb::Backup(_)
        | Verb::Doctor(DoctorArgs { ack: false })
        | Verb::Version => Granted,

        Verb::Doctor(_) => Denied("memo doctor --ack ends what a person should read", BY_A_PERSON),

        Verb::Logs(LogsArgs { follow: true, .. }) => Denied("--follow has no end", "leave it out"),
        Verb::Logs(_) => Granted,
        Verb::Events(_) => {
            Denied("memo events waits for events", "memo status and memo recent show what is new")
        }
        Verb::Config(ConfigArgs { what: Some(ConfigVerb::Set { .. } | ConfigVerb::Unset { .. }) }) => {
            Denied("memo config set and unset change how memod works for everybody", BY_A_PERSON)
        }
        Verb::Config(_) | Verb::Llm => Granted,
        Verb::Hooks(HooksArgs { what: Some(HooksVerb::Install { .. } | HooksVerb::Uninstall) }) => {
            Denied("memo hooks install and uninstall change what git runs", BY_A_PERSON)
        }
        Verb::Hooks(_) => Granted,

        Verb::Model(ModelArgs { what: None | Some(ModelVerb::List | ModelVerb::Status) }) => Granted,
        Verb::Model(_) => {
            Denied("memo model use, import and remove change models for everybody", BY_A_PERSON)
        }

        Verb::Bench(_) => Denied("memo bench reads and writes files anywhere", BY_A_PERSON),
        Verb::Init(_) => Denied("memo init sets up a repository and its git hooks", BY_A_PERSON),
        Verb::Setup(_) => Denied("memo setup changes files outside the repository", BY_A_PERSON),
        Verb::Uninstall(_) => Denied("memo uninstall removes the memories and the set-up", BY_A_PERSON),
        Verb::Stop | Verb::Restart => {
            Denied("memo stop and restart end the daemon, which serves others as well", BY_A_PERSON)
        }
        Verb::Serve(_) => {
            Denied("memo serve decides who reaches the daemon, and prints a secret", BY_A_PERSON)
        }
        Verb::Reindex => Denied("memo reindex discards the index, which others use as well", BY_A_PERSON),
        Verb::Hook(_) => {
            Denied("memo hook answers hooks of agents on stdin", "search and recall find the same")
        }
        Verb::Open(_) | Verb::Shell | Verb::Mcp(_) | Verb::Completions { .. } | Verb::Man(_) => {
            Denied("this verb needs a terminal", "run it in a shell")
        }
    }
}

/// Refuses a verb that is for people. Files are looked at by [`check_files`], once it is known where they start.
pub(super) fn check_verb(verb: &Verb) -> Result<(), CliError> {
    match permission(verb) {
        Permission::Denied(why, hint) => Err(refused(why, hint)),
        _ => Ok(()),
    }
}

/// Refuses files that a model must not read or make. `dir` is the directory of `-C`.
pub(super) fn check_files(verb: &Verb, dir: Option<&Path>) -> Result<(), CliError> {
    match permission(verb) {
        Permission::Reading(files) if !files.is_empty() => {
            let context = CommandContext::find(dir)?;
            files.into_iter().try_for_each(|path| {
                let inside = within(path, &context)?;
                logs(path).iter().try_for_each(|log| within(log, &context).map(drop))?;
                // A file of it might be a link to one that is not of it.
                let why = if path.is_dir() {
                    "a directory, whose files a model must name one by one"
                } else if is_secret_name(&with_slashes(&inside)) {
                    "its name says that it holds credentials"
                } else {
                    return Ok(());
                };
                Err(refuse(path, why, IN_THE_WORKTREE))
            })
        }
        Permission::Making(path, ending) => check_new_file(path, ending, &CommandContext::find(dir)?),
        _ => Ok(()),
    }
}

/// Refuses a file that exists, or that others might take for instructions or settings.
fn check_new_file(path: &Path, ending: &str, context: &CommandContext) -> Result<(), CliError> {
    let inside = within(path, context)?;
    if inside.iter().any(|part| part.as_encoded_bytes().starts_with(b".")) {
        return Err(refuse(path, "hidden, as settings are", NEW_FILE));
    }
    if inside.extension().is_none_or(|found| found != ending) {
        return Err(refuse(path, &format!("not a name that ends in .{ending}"), NEW_FILE));
    }
    // A person would have seen what is replaced.
    if path.symlink_metadata().is_ok() {
        return Err(refuse(path, "the file exists", NEW_FILE));
    }
    Ok(())
}

/// Returns the logs that SQLite reads with a file if it is a database: they might be links too.
fn logs(path: &Path) -> Vec<PathBuf> {
    ["-wal", "-journal"]
        .map(|suffix| with_suffix(path, suffix))
        .into_iter()
        .filter(|log| log.symlink_metadata().is_ok())
        .collect()
}

/// Returns where a path leads to, relative to the worktree; fails where a model has no business.
fn within(path: &Path, context: &CommandContext) -> Result<PathBuf, CliError> {
    let layout = &context.layout;
    let why = match place(path)? {
        Place::Special => "not a regular file",
        Place::Unknown => "a link that leads nowhere",
        Place::Real(real) => match real.strip_prefix(&layout.root) {
            Err(_) => "outside the worktree, where a model may not read or write files",
            Ok(_) if is_in_git_dir(&real, layout) => {
                "in the git directory, where a model may not read or write files"
            }
            Ok(_) if layout.own_state(path, &context.env).is_some() => "part of memod's own state",
            Ok(inside) => return Ok(inside.to_owned()),
        },
    };
    Err(refuse(path, why, IN_THE_WORKTREE))
}

fn refuse(path: &Path, why: &str, hint: &'static str) -> CliError {
    refused(&format!("{}: {why}", path.display()), hint)
}

/// Returns a path as memod names files.
fn with_slashes(inside: &Path) -> String {
    inside.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// What a path leads to.
enum Place {
    /// A file or a directory, or the place of one in a directory that exists; without links and `..`.
    Real(PathBuf),
    /// A device or a pipe, which may have no end, and which a person could interrupt.
    Special,
    /// Nothing that has a place.
    Unknown,
}

fn place(path: &Path) -> Result<Place, CliError> {
    match fs::metadata(path) {
        Ok(meta) if !meta.is_file() && !meta.is_dir() => return Ok(Place::Special),
        Ok(_) => return Ok(Place::Real(canonical(path)?)),
        Err(_) if path.symlink_metadata().is_ok() => return Ok(Place::Unknown),
        Err(_) => {}
    }
    match path.file_name() {
        Some(name) => {
            let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Ok(Place::Real(canonical(dir)?.join(name)))
        }
        None => Ok(Place::Real(canonical(path)?)),
    }
}

/// Returns whether a real path is in the git directory of the worktree, or in that of a repository inside of it.
fn is_in_git_dir(real: &Path, layout: &RepoLayout) -> bool {
    let mut dirs = layout.git_dir.iter().chain(&layout.common_dir);
    let is_dot_git = |part: &std::ffi::OsStr| part.eq_ignore_ascii_case(".git");
    dirs.any(|dir| real.starts_with(dir))
        || real.strip_prefix(&layout.root).is_ok_and(|inside| inside.iter().any(is_dot_git))
}
