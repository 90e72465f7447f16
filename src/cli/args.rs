//! What was typed?
//!
//! Only shapes and help texts; what they mean is in `ask`.

mod verbs;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::exchange::{BackupArgs, ExportArgs, ImportArgs, RestoreBackupArgs};
use super::memory::{
    AddArgs, AppendArgs, ConsolidateArgs, DedupeArgs, GetArgs, HistoryArgs, IdArgs, IdsArgs, LinkingArgs,
    LinksArgs, ListArgs, PromoteArgs, RecallArgs, RecentArgs, RelatedArgs, RemoveArgs, ResolveArgs, TagArgs,
    UpdateArgs,
};
use super::rows::RowsArgs;
pub(super) use verbs::{
    BriefArgs, ChangedArgs, ConfigArgs, ConfigVerb, ExplainArgs, HooksArgs, HooksVerb, InitArgs, LogsArgs,
    MapArgs, ModeArg, SearchArgs, StatusArgs, SyncArgs, WhyArgs, share,
};

/// Search a repository and its history by words and by meaning, and keep what is to be remembered.
///
/// The daemon is started by the first command that needs it and exits when idle.
#[derive(Debug, Parser)]
#[command(
    name = "memo",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    after_help = "Exit status: 0 done, 1 nothing found or not all done, 2 wrong usage, 3 the daemon cannot be reached or failed."
)]
pub(super) struct CommandLine {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) verb: Verb,
}

/// Flags that every verb takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    /// Print JSON on stdout, errors too; scripts, pages and templates stay as they are
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Run as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(super) dir: Option<PathBuf>,
    /// When to use colour
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Colour::Auto, global = true)]
    pub(super) color: Colour,
    /// Say nothing on stderr but errors
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Colour {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Index the repository now, and show what was indexed and skipped
    ///
    /// Not needed: the first search indexes too. Running it again does no harm. Exits with 3 when the index makes no
    /// progress for a minute. Git's hooks are installed as by `memo hooks install`, unless --no-hooks is given.
    ///
    /// Example: memo init
    Init(InitArgs),
    /// Search documents, the code map, definitions, commits and memories
    ///
    /// Prints the best hits with their lines. The index holds everything written before the search was started,
    /// or the answer says that it does not. Exits with 1 when nothing matches.
    ///
    /// Example: memo search --kind symbol --path 'src/**' "parse config file"
    #[command(visible_alias = "s")]
    Search(SearchArgs),
    /// Show what the places of hits are made of: what each arm measured, and every factor
    ///
    /// Takes what `memo search` takes. Exits with 1 when nothing matches, or not what --hit or --of names.
    ///
    /// Example: memo explain "token expiry" --of src/session.rs
    Explain(ExplainArgs),
    /// Show the part of the code map that fits a budget
    ///
    /// Files are ranked by who names whose symbols, and towards those that --focus names. Exits with 1 when nothing fits.
    ///
    /// Example: memo map --budget 2048 --focus src/auth.rs
    Map(MapArgs),
    /// Show what should be known before work begins, within a budget
    ///
    /// Memories tagged `pinned` and those of priority 7 and above, those to check because the code has changed, what is not committed, the last commits, and the code map,
    /// leaning to what is not committed. The budget counts what is printed, four characters a token; with --json the `text`
    /// alone. Exits with 1 when there is nothing to show.
    ///
    /// Example: memo brief --budget 1000
    Brief(BriefArgs),
    /// Show which files and definitions changed since a revision or a time
    ///
    /// The worktree as it is now, uncommitted changes and new files too, is compared with a commit: a revision as git
    /// knows it (an id, a branch, a tag, HEAD~3, @{upstream}), or the newest commit that is not younger than a time of this machine's zone
    /// (2026-11-01, RFC 3339) or an age (3d, 2h30m). Exits with 1 when nothing changed.
    ///
    /// Example: memo changed --since 3d
    Changed(ChangedArgs),
    /// Show what is remembered of code, and the commits that made it what it is
    ///
    /// Memories about a file, a line or a definition come first, then its commits, newest first, with their messages: for
    /// PATH those that touched it, under its former names too; for PATH:LINE, PATH:FIRST-LAST and PATH#SYMBOL those that its
    /// lines come from. Exits with 1 when there is none.
    ///
    /// Example: memo why src/auth.rs#login
    Why(WhyArgs),
    /// Keep a memory: a text, and what is said of it
    ///
    /// Prints its id. It is on the disk then. The same text in the same container is not kept twice. What stands in
    /// <private>…</private> is cut out before anything is stored; what looks like a credential is refused.
    ///
    /// Example: memo add --tag auth "sessions are signed tokens; nothing is kept on the server"
    Add(AddArgs),
    /// Show memories
    ///
    /// Example: memo get mem_01KAJ
    Get(GetArgs),
    /// List memories
    ///
    /// Exits with 1 when there are none.
    ///
    /// Example: memo list --tag auth --sort priority
    #[command(visible_alias = "ls")]
    List(ListArgs),
    /// Change a memory; what is not given stays
    ///
    /// Example: memo update mem_01KAJ --priority 8 --ttl never
    Update(UpdateArgs),
    /// Say that a memory still holds for the code it is about, as that is now
    ///
    /// After a look at it: what has drifted is fresh again. Fails where the code is gone.
    ///
    /// Example: memo confirm mem_01KAJ
    Confirm(IdArgs),
    /// Add a line to a memory
    ///
    /// Example: memo append mem_01KAJ "and tokens expire after 24 hours"
    Append(AppendArgs),
    /// Put memories into the archive: shows which, asks, and deletes nothing
    ///
    /// All conditions that are given must hold. Exits with 1 when there are none.
    ///
    /// Example: memo forget --tag draft --before 30d
    Forget(RemoveArgs),
    /// Take memories out of the archive
    ///
    /// Example: memo restore mem_01KAJ
    Restore(IdsArgs),
    /// Delete memories of the archive for good: shows which, and asks
    ///
    /// Without a condition: all of them. Copies of the last days still have them. Exits with 1 when there are none.
    ///
    /// Example: memo purge --before 90d --dry-run
    Purge(RemoveArgs),
    /// Give a memory tags
    ///
    /// Example: memo tag mem_01KAJ auth jwt
    Tag(TagArgs),
    /// Take tags from a memory
    ///
    /// Example: memo untag mem_01KAJ jwt
    Untag(TagArgs),
    /// Count memories by tag
    ///
    /// Example: memo tags
    Tags(RowsArgs),
    /// Count memories by container
    ///
    /// Example: memo containers
    Containers(RowsArgs),
    /// Search memories and keep those found longer, for they are of use
    ///
    /// Each recall adds an hour to the end of a short memory and a day to that of a mid one, the fifth makes a mid one
    /// long, each tenth raises the priority by one. What has
    /// no word of the query and is only remotely like it is shown and left as it is. `memo search --kind memory` finds the same and changes nothing.
    /// Exits with 1 when nothing matches.
    ///
    /// Example: memo recall token expiry
    Recall(RecallArgs),
    /// List the memories that were added or changed last
    ///
    /// Exits with 1 when there are none.
    ///
    /// Example: memo recent -n 5
    Recent(RecentArgs),
    /// Take a memory one tier up: short to mid, mid to long
    ///
    /// Example: memo promote mem_01KAJ
    Promote(PromoteArgs),
    /// Make one memory of many, which go into the archive
    ///
    /// It has all their tags, the highest of their priorities and the lowest of their confidences, stays as long as the one
    /// that stays longest, and is linked to each as derived from it. --auto takes those that share container and first tag,
    /// three at least; what another memory supersedes is left. All or nothing. Exits with 1 when nothing was done.
    ///
    /// Example: memo consolidate mem_01KAJ mem_01K9Z --title Tokens --summary "tokens expire after 24 hours"
    Consolidate(ConsolidateArgs),
    /// Link a memory to another one
    ///
    /// related_to and contradicts are the same from either end. `memo get` shows the links of a memory.
    ///
    /// Example: memo link mem_01KAJ mem_01K9Z --kind supersedes
    Link(LinkingArgs),
    /// Take links between two memories away
    ///
    /// Example: memo unlink mem_01KAJ mem_01K9Z
    Unlink(LinkingArgs),
    /// Show what a memory is linked to
    ///
    /// Exits with 1 when there are no links.
    ///
    /// Example: memo links mem_01KAJ --depth 2
    Links(LinksArgs),
    /// Say which of two memories holds; the other one stays, below it
    ///
    /// They are linked as contradicting each other, and the first as superseding the second, which gets priority 1 and
    /// confidence 0.1.
    ///
    /// Example: memo resolve mem_01KAJ mem_01K9Z
    Resolve(ResolveArgs),
    /// Show what a memory is linked to, then what is near to it in meaning
    ///
    /// Exits with 1 when nothing is.
    ///
    /// Example: memo related mem_01KAJ
    Related(RelatedArgs),
    /// Show memories that say nearly the same, with what could be merged
    ///
    /// Nothing is changed without --merge. Then of each group the first stays: it gets the tags of the others and what they
    /// say beyond it; they go into the archive. Texts that differ in numbers or negations are never proposed. Exits with 1
    /// when there are none.
    ///
    /// Example: memo dedupe --container auth
    Dedupe(DedupeArgs),
    /// Show every change of a memory
    ///
    /// Example: memo history mem_01KAJ
    History(HistoryArgs),
    /// Show how many memories there are, and where they and their copies lie
    ///
    /// Example: memo stats
    Stats,
    /// Write memories and their links as JSON lines
    ///
    /// `memo import` reads them again. Their history stays here; `memo backup` copies that too. Without --out, to stdout.
    ///
    /// Example: memo export --tag auth --out auth.jsonl
    Export(ExportArgs),
    /// Take in memories from files and from other systems
    ///
    /// What is here already is left alone, by id or by text; what may not be kept is listed with its place and the reason,
    /// and all else goes in. An import that was interrupted is simply run again. What was taken from a Markdown file or a repo
    /// map is replaced by what it says now. Exits with 1 when something was refused.
    ///
    /// Example: memo import --from markdown --container handbook ~/handbook
    Import(ImportArgs),
    /// Copy all memories into one file, with their history
    ///
    /// The copy is read back before its path is printed. Without PATH, the last seven that were asked for are kept, beside
    /// those that the daemon makes each day.
    ///
    /// Example: memo backup ~/memories.db
    Backup(BackupArgs),
    /// Put a backup in the place of what is here: shows what would change, and asks
    ///
    /// What is here is copied before, and the copy is named. `memo import --merge` adds what a backup has instead. Exits with 1
    /// when nothing would change.
    ///
    /// Example: memo restore-backup latest --dry-run
    RestoreBackup(RestoreBackupArgs),
    /// Show the daemon, the index and what is still to be indexed
    ///
    /// Waits for nothing: `memo sync` first, if the lists must be whole. Their paths start at the worktree's top.
    ///
    /// Example: memo status --files -z | xargs -0 wc -l
    Status(StatusArgs),
    /// Bring the index up to date and wait for it
    ///
    /// Exits with 1 when the index is not up to date within --wait-ms.
    ///
    /// Example: memo sync --sync full --wait-ms 60000
    Sync(SyncArgs),
    /// Stop the daemon; the next command starts it again
    ///
    /// Example: memo stop
    Stop,
    /// Stop the daemon and start it again
    ///
    /// Example: memo restart
    Restart,
    /// Show the daemon's log
    ///
    /// Example: memo logs -n 200 -f
    Logs(LogsArgs),
    /// Check that everything the daemon needs is there
    ///
    /// Exits with 1 when a check fails.
    ///
    /// Example: memo doctor
    Doctor,
    /// Throw the index away and build it anew; memories stay
    ///
    /// Example: memo reindex
    Reindex,
    /// Let git's hooks tell the daemon that git changed something
    ///
    /// Without a subcommand: how each of them rings, or what is in the way. Answers are right without them; they make the
    /// daemon look sooner.
    ///
    /// Example: memo hooks install --chain
    Hooks(HooksArgs),
    /// Show or change settings
    ///
    /// Without a subcommand: every setting in force, and where it comes from.
    ///
    /// Example: memo config set search.limit 20 --user
    Config(ConfigArgs),
    /// Type verbs one after the other
    ///
    /// On a terminal with completion, and with history in the state dir: without lines that write texts of memories, or that
    /// begin with a space. Else lines are read from stdin to its end, `#` begins a comment, and the exit status is that of the
    /// last line that had another than 0. Ctrl-D, `exit` or `quit` ends it.
    ///
    /// Example: memo shell < lines
    Shell,
    /// Print a completion script, which asks for verbs, flags, ids, tags and containers
    ///
    /// No daemon is started by a completion.
    ///
    /// Example: memo completions bash > ~/.local/share/bash-completion/completions/memo
    Completions {
        /// For which shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write all of them into a directory
    ///
    /// Example: memo man ~/.local/share/man/man1
    Man {
        /// Where the pages are written, one for each command
        // An id of its own: `dir` is that of -C, and clap would take one for the other.
        #[arg(id = "pages", value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Show the version of this program and of the daemon, if one runs
    ///
    /// Example: memo version --json
    Version,
}
