//! Declares the verbs that have subcommands and also do something without one.

use std::marker::PhantomData;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use memod_terminal::RowsArgs;

use super::daemon_args::{EventsArgs, LogsArgs, TeamArgs};
use super::exchange_args::{BackupArgs, RestoreBackupArgs};
use super::memory_args::{RemovalConfirmArgs, RemoveArgs, ShareArgs, ShareWithArgs, SyncNotesArgs, TagArgs};
use super::relation_args::{LinkingArgs, LinksArgs};

/// A verb with the subcommands `V`, which without a subcommand takes the arguments `A`.
#[derive(Debug)]
pub(crate) struct VerbFamily<V, A> {
    /// The subcommand, or the default one with the arguments that were typed.
    pub(crate) verb: V,
    default: PhantomData<A>,
}

impl<V: Subcommand + From<A>, A: Args> FromArgMatches for VerbFamily<V, A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let verb = match matches.subcommand_name() {
            Some(_) => V::from_arg_matches(matches)?,
            None => A::from_arg_matches(matches)?.into(),
        };
        Ok(Self { verb, default: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<V: Subcommand + From<A>, A: Args> Args for VerbFamily<V, A> {
    fn augment_args(command: Command) -> Command {
        let command = V::augment_subcommands(A::augment_args(command));
        command
            .subcommand_required(false)
            .arg_required_else_help(false)
            .args_conflicts_with_subcommands(true)
            .subcommand_negates_reqs(true)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The subcommands of `memo tag`.
#[derive(Debug, Subcommand)]
pub(crate) enum TagVerb {
    /// Add tags to a memory, as `memo tag` does without a subcommand
    Add(TagArgs),
    /// Remove tags from a memory
    Remove(TagArgs),
    /// Count memories by tag
    List(RowsArgs),
    /// Count memories by container
    Containers(RowsArgs),
}

impl From<TagArgs> for TagVerb {
    fn from(args: TagArgs) -> Self {
        Self::Add(args)
    }
}

/// The subcommands of `memo link`.
#[derive(Debug, Subcommand)]
pub(crate) enum LinkVerb {
    /// Link a memory to another, as `memo link` does without a subcommand
    Add(LinkingArgs),
    /// Remove links between two memories
    ///
    /// Exits with 1 when there was no such link.
    Remove(LinkingArgs),
    /// Show the links of a memory
    ///
    /// Exits with 1 when there are none.
    List(LinksArgs),
}

impl From<LinkingArgs> for LinkVerb {
    fn from(args: LinkingArgs) -> Self {
        Self::Add(args)
    }
}

/// The subcommands of `memo share`.
#[derive(Debug, Subcommand)]
pub(crate) enum ShareVerb {
    /// Share memories, as `memo share` does without a subcommand
    Add(ShareWithArgs),
    /// Remove the files of shared memories; the memories stay here
    ///
    /// Memories of the team are archived for the other members. Exits with 1 when none is shared.
    Remove(ShareArgs),
    /// Exchange the files of shared memories through a separate ref
    ///
    /// Keeps the files out of your branches: git ignores them, and the ref refs/memod/notes contains them. Merges the files of
    /// other worktrees and of the remote, and pushes the result, unless a file has a credential or a private part. A file that two
    /// sides have changed stays in conflict until `memo resolve`. Files that vanish without memo come back. Needs git 2.31 or
    /// later.
    Sync(SyncNotesArgs),
    /// Share memories with a team, through its PostgreSQL server
    ///
    /// `team.url` and `team.repositories` say which server, and which repositories take part. `memo share --team` shares memories.
    /// The memories of the team are also stored locally, so no search waits for the server. If two members change a memory, `memo
    /// resolve` ends the conflict.
    Team(TeamArgs),
}

impl From<ShareWithArgs> for ShareVerb {
    fn from(args: ShareWithArgs) -> Self {
        Self::Add(args)
    }
}

/// The subcommands of `memo forget`.
#[derive(Debug, Subcommand)]
pub(crate) enum ForgetVerb {
    /// Archive memories, as `memo forget` does without a subcommand
    Archive(RemoveArgs),
    /// Delete archived memories for good
    ///
    /// Shows what would be deleted and asks first. Without a condition it deletes the whole archive. Deleted memories remain in
    /// backups of the last seven days, in backups made on request, in exports and in damaged databases that were kept. Exits with
    /// 1 when there is nothing to delete.
    Purge(RemoveArgs),
    /// Delete all memories for good, the archive too
    ///
    /// Shows what would be deleted, asks first, and makes a backup that `memo backup restore` restores. The last seven such backups
    /// are kept. Exits with 1 when there are none.
    Reset(RemovalConfirmArgs),
}

impl From<RemoveArgs> for ForgetVerb {
    fn from(args: RemoveArgs) -> Self {
        Self::Archive(args)
    }
}

/// The subcommands of `memo backup`.
#[derive(Debug, Subcommand)]
pub(crate) enum BackupVerb {
    /// Copy all memories into one file, as `memo backup` does without a subcommand
    Create(BackupArgs),
    /// Replace all memories by those of a backup
    ///
    /// Shows what would change, asks, and first backs up the current memories. Files of shared memories are restored where only
    /// commands of memo changed them. `memo import --merge` adds memories instead. Exits with 1 when nothing would change.
    Restore(RestoreBackupArgs),
}

impl From<BackupArgs> for BackupVerb {
    fn from(args: BackupArgs) -> Self {
        Self::Create(args)
    }
}

/// The subcommands of `memo daemon`.
#[derive(Debug, Subcommand)]
pub(crate) enum DaemonControlVerb {
    /// Stop the daemon; the next command starts it again
    Stop,
    /// Stop the daemon and start it again
    Restart,
    /// Show the daemon's log
    Logs(LogsArgs),
    /// Print a line for each event: progress of indexing, changes of the index, changes of memories
    ///
    /// Runs until it is interrupted, its reader closes the pipe, or -n events were printed. If the daemon exits, waits for the next
    /// daemon, but starts none. While the command runs, the daemon does not exit by itself.
    Events(EventsArgs),
}
