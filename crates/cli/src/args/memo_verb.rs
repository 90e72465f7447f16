//! Declares the verbs with their help.

use clap::Subcommand;
use memod_terminal::RowsArgs;

use super::code_args::{
    BriefArgs, ChangedArgs, ExplainArgs, MapArgs, OpenArgs, OutlineArgs, SearchArgs, ShowArgs, WhyArgs,
};
use super::daemon_args::{
    CompletionsArgs, ConfigArgs, DoctorArgs, EventsArgs, HookArgs, HooksArgs, InitArgs, LogsArgs, ManArgs,
    McpArgs, ModelArgs, ServeArgs, SetupArgs, StatusArgs, SyncArgs, TeamArgs, UninstallArgs,
};
use super::exchange_args::{BackupArgs, DistilArgs, ExportArgs, ImportArgs, RestoreBackupArgs};
use super::memory_args::{
    GetArgs, HistoryArgs, IdArgs, IdsArgs, ListArgs, PromoteArgs, RecallArgs, RecentArgs, RemovalConfirmArgs,
    RemoveArgs, ShareArgs, ShareWithArgs, SyncNotesArgs, TagArgs,
};
use super::relation_args::{ConsolidateArgs, DedupeArgs, LinkingArgs, LinksArgs, RelatedArgs, ResolveArgs};
use super::uses_args::{ImpactArgs, RefsArgs, UsesArgs};
use super::writing_args::{AddArgs, AppendArgs, UpdateArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum MemoVerb {
    /// Index the repository now and show what was indexed and skipped
    ///
    /// The first search indexes as well, so this is optional; running it again is harmless. Reports each step, and whether the
    /// agents on this machine are set up. Installs git hooks as `memo hooks install` does, unless --no-hooks is given. With
    /// --no-index, the next command that needs the index builds it. Exits with 3 when indexing makes no progress for a minute.
    ///
    /// Example: memo init
    Init(InitArgs),
    /// Search documents, the code map, definitions, commits and memories
    ///
    /// Prints the best hits with their lines. The index holds everything written before the search started, or the answer says why
    /// the index does not. Exits with 1 when nothing matches.
    ///
    /// Example: memo search --kind symbol --path 'src/**' "parse config file"
    #[command(visible_alias = "s")]
    Search(SearchArgs),
    /// Explain how each hit of a search was ranked
    ///
    /// Shows the rank in each arm of the search and every factor of the score. Takes those flags of `memo search` that select hits.
    /// Exits with 1 when nothing matches, or when no match is selected by --hit and --of.
    ///
    /// Example: memo explain "token expiry" --of src/session.rs
    Explain(ExplainArgs),
    /// Show a file, lines of it, or a definition with its comments
    ///
    /// PATH#SYMBOL shows a definition, and a name without a path shows every definition of that name. PATH:LINE shows the innermost
    /// definition around the line, or only the line if there is none; of a long definition it shows 15 lines before and after the
    /// line. PATH:FIRST-LAST shows these lines. A number shows that hit of the last search in this terminal. Files that are not
    /// indexed are not shown, and credentials are masked. Exits with 1 when nothing has that name.
    ///
    /// Example: memo show src/session.rs#Session::login
    Show(ShowArgs),
    /// List what a file defines with signatures, or the sections of a document
    ///
    /// Lists them nested, in the order of the file. PATH#SYMBOL or a name lists a type with its members. If there are more than
    /// --limit, the deepest are left out first. Exits with 1 when nothing has that name, or the file defines nothing.
    ///
    /// Example: memo outline src/session.rs
    Outline(OutlineArgs),
    /// List the uses of a definition, and say how sure each is
    ///
    /// A use without a mark is proved by scope, package, an import or a written type. `likely` means that a type is inferred, that
    /// a name of several words has one definition, or that only the types of arguments decide which overload is meant. `by name`
    /// means that only the name is the same. Supports Python, JavaScript, TypeScript, Go, Rust, Java, C and C++. Exits with 1 when
    /// nothing has that name, or nothing uses it.
    ///
    /// Example: memo refs src/session.rs#Session::login
    Refs(RefsArgs),
    /// List the definitions that call a function, or use a type
    ///
    /// Shows each with the line of the call. --depth 2 also lists the callers of these definitions, each below the definition that
    /// it calls. `memo refs --help` explains the marks. Exits with 1 when nothing has that name, or nothing calls it.
    ///
    /// Example: memo callers src/session.rs#Session::login --depth 2
    Callers(UsesArgs),
    /// List the definitions that a function calls
    ///
    /// Lists them in the order of the calls, with their signatures. --depth 2 also lists their callees. Calls of definitions
    /// elsewhere are counted, not listed. Exits with 1 when nothing has that name, or the function calls no definition here.
    ///
    /// Example: memo callees src/session.rs#Session::login
    Callees(UsesArgs),
    /// List what depends on a definition, a file or a change
    ///
    /// Follows uses up to 8 steps, also in tests, and lists the surest and nearest first. A use that has only
    /// the name in common counts little, and is followed only if few definitions have that name. Exits with 1 when nothing has that name, or nothing depends on it.
    ///
    /// Example: memo impact --since HEAD~3
    Impact(ImpactArgs),
    /// List the tests that reach a definition, a file or a change
    ///
    /// Lists the tests that `memo impact` finds. Tests to run first are at the top: those that use the definition directly, and
    /// those in a file named after it. Also lists test files that contain the name without a known use, and up to ten test files
    /// with similar words. Exits with 1 when nothing has that name, or no test is found.
    ///
    /// Example: memo tests src/session.rs#Session::login
    Tests(ImpactArgs),
    /// List the types that extend or implement a class, interface or trait
    ///
    /// Lists direct and indirect subtypes; in Go, the types that have methods of the same names. Exits with 1 when nothing has that
    /// name, or no type extends or implements it.
    ///
    /// Example: memo implements Store
    Implements(UsesArgs),
    /// Open a hit of the last search in the editor, or what `memo show` takes
    ///
    /// Runs $VISUAL, else $EDITOR, at the first line that matches. The last search is the last one in this terminal and this
    /// repository; without a terminal, commands of one process session share the last search. After a search with --files, N is the
    /// Nth file. A search with --vimgrep is not remembered. Exits with 1 when there is no such hit or nothing has that name.
    ///
    /// Example: memo open 2
    Open(OpenArgs),
    /// Show the most important part of the code map that fits a budget
    ///
    /// Ranks files by how often other files name their symbols, with more weight for files in --focus. DIR and FILE restrict the
    /// map to these directories and files. Exits with 1 when nothing fits, or when a DIR or FILE has no symbols.
    ///
    /// Example: memo map src --budget 2048 --focus src/auth.rs
    Map(MapArgs),
    /// Show what to know before starting work, within a budget
    ///
    /// Prints what the project is, how it is built and tested and of what it consists (from the README and manifests such as
    /// Cargo.toml, package.json or a Makefile), memories tagged `pinned` or of priority 7 and above, memories whose code has
    /// changed, HTTP routes of the code, uncommitted changes, the latest commits, and the code map weighted towards the uncommitted
    /// changes. The budget counts what is printed, four characters a token; with --json it counts `text` alone. Exits with 1 when
    /// there is nothing to show. --summarise asks the language model of `llm.url` for a summary of the brief.
    ///
    /// Example: memo brief --budget 1000
    Brief(BriefArgs),
    /// Show which files and definitions changed since a revision or a time, or between two
    ///
    /// Compares the worktree, with uncommitted changes and new files, with a commit: HEAD, a revision as git names it (an id, a
    /// branch, a tag, HEAD~3, @{upstream}), or the newest commit at or before a local time (2026-11-01, RFC 3339) or an age (3d,
    /// 2h30m); then lists the commits since then. With A..B or A B, two commits are compared. Exits with 1 when nothing changed.
    ///
    /// Example: memo changed main..HEAD -- src
    Changed(ChangedArgs),
    /// Show the memories about a piece of code and the commits that shaped it
    ///
    /// Prints memories about the file, line or definition first, then commits, newest first, with their messages. PATH alone
    /// follows the file through renames; PATH:LINE, PATH:FIRST-LAST and PATH#SYMBOL show the commits from which these lines come.
    /// Exits with 1 when there are no memories and no commits.
    ///
    /// Example: memo why src/auth.rs#login
    Why(WhyArgs),
    /// Add a memory
    ///
    /// Prints the id of the memory once the memory is on disk. The same text in the same container is stored once. Text inside
    /// <private>…</private> is removed before anything is stored; text that looks like a credential is refused.
    ///
    /// Example: memo add --tag auth "sessions are signed tokens; nothing is kept on the server"
    Add(AddArgs),
    /// Show memories by id
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
    /// Change fields of a memory
    ///
    /// Example: memo update mem_01KAJ --priority 8 --ttl never
    Update(UpdateArgs),
    /// Confirm that a memory still holds for the code it is about
    ///
    /// A drifted memory becomes fresh again; one from a file of the repository is trusted as your own. Fails when the code is gone.
    ///
    /// Example: memo confirm mem_01KAJ
    Confirm(IdArgs),
    /// Append a line to a memory
    ///
    /// Example: memo append mem_01KAJ "and tokens expire after 24 hours"
    Append(AppendArgs),
    /// Archive memories
    ///
    /// Shows what would be archived and asks first; nothing is deleted. Memories must meet all conditions. Exits with 1 when none
    /// do.
    ///
    /// Example: memo forget --tag draft --until 30d
    Forget(RemoveArgs),
    /// Restore memories from the archive
    ///
    /// Example: memo restore mem_01KAJ
    Restore(IdsArgs),
    /// Delete archived memories for good
    ///
    /// Shows what would be deleted and asks first. Without a condition it deletes the whole archive. Deleted memories remain in
    /// backups of the last seven days, in backups made on request, in exports and in damaged databases that were kept. Exits with 1 when there is nothing to delete.
    ///
    /// Example: memo purge --until 90d --dry-run
    Purge(RemoveArgs),
    /// Delete all memories for good, the archive too
    ///
    /// Shows what would be deleted, asks first, and makes a backup that `memo restore-backup` restores. The last seven such backups
    /// are kept. Exits with 1 when there are none.
    ///
    /// Example: memo reset --dry-run
    Reset(RemovalConfirmArgs),
    /// Share memories with others through git, as files of the worktree
    ///
    /// Writes .memod/memories/ID.md for each memory, to be committed like code. From then on, editing the file edits the memory,
    /// and a branch without the file does not have the memory. The setting `share.tags` shares each memory that is written with one
    /// of the listed tags. --team sends the memories to the server of the team instead, as soon as it can be reached; the setting
    /// `team.tags` does that for each memory with one of its tags. Exits with 1 when there is nothing to share.
    ///
    /// Example: memo share --tag decision --dry-run
    Share(ShareWithArgs),
    /// Remove the files of shared memories; the memories stay here
    ///
    /// Memories of the team are archived for the other members. Exits with 1 when none is shared.
    ///
    /// Example: memo unshare mem_01KAJ
    Unshare(ShareArgs),
    /// Exchange the files of shared memories through a separate ref
    ///
    /// Keeps the files out of your branches: git ignores them, and the ref refs/memod/notes contains them. Merges the files of
    /// other worktrees and of the remote, and pushes the result, unless a file has a credential or a private part. A file that two
    /// sides have changed stays in conflict until `memo resolve`. Files that vanish without memo come back. Needs git 2.38 or
    /// later.
    ///
    /// Example: memo sync-notes origin
    SyncNotes(SyncNotesArgs),
    /// Share memories with a team, through its PostgreSQL server
    ///
    /// `team.url` and `team.repositories` say which server, and which repositories take part. `memo share --team` shares memories.
    /// The memories of the team are also stored locally, so no search waits for the server. If two members change a memory, `memo
    /// resolve` ends the conflict.
    ///
    /// Example: memo team status
    Team(TeamArgs),
    /// Add tags to a memory
    ///
    /// Example: memo tag mem_01KAJ auth jwt
    Tag(TagArgs),
    /// Remove tags from a memory
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
    /// Search memories, and extend the lifetime of those found
    ///
    /// A recall adds an hour to a short memory and a day to a mid one; the fifth makes a mid memory long, and every tenth raises
    /// the priority by one. A hit without a word of the query is shown and not extended. `memo search --kind memory` finds the same
    /// memories and changes nothing. Exits with 1 when nothing matches.
    ///
    /// Example: memo recall token expiry
    Recall(RecallArgs),
    /// List the memories that were added or changed last
    ///
    /// Exits with 1 when there are none.
    ///
    /// Example: memo recent -n 5
    Recent(RecentArgs),
    /// Move a memory up a tier: short to mid, mid to long, or with --to long straight away
    ///
    /// Example: memo promote mem_01KAJ --to long
    Promote(PromoteArgs),
    /// Combine several memories into one and archive the originals
    ///
    /// The new memory has all their tags, the highest priority, the lowest confidence and the longest lifetime, and is linked to
    /// each as derived from it. --auto combines memories that share container and first tag, at least three at a time, and skips
    /// superseded ones. A group is combined completely or not at all. Exits with 1 when nothing was combined.
    ///
    /// Example: memo consolidate mem_01KAJ mem_01K9Z --title Tokens --summary "tokens expire after 24 hours"
    Consolidate(ConsolidateArgs),
    /// Link a memory to another
    ///
    /// Links of the kinds related_to and contradicts hold in both directions. `memo get` shows the links of a memory.
    ///
    /// Example: memo link mem_01KAJ mem_01K9Z --kind supersedes
    Link(LinkingArgs),
    /// Remove links between two memories
    ///
    /// Exits with 1 when there was no such link.
    ///
    /// Example: memo unlink mem_01KAJ mem_01K9Z
    Unlink(LinkingArgs),
    /// Show the links of a memory
    ///
    /// Exits with 1 when there are none.
    ///
    /// Example: memo links mem_01KAJ --depth 2
    Links(LinksArgs),
    /// Decide which of two contradicting memories holds, or end a conflict of git in the file of one
    ///
    /// Links two memories as contradicting and the first as superseding the second. The second stays, with priority 1 and
    /// confidence 0.1, and ranks below the first. With --ours, --theirs or --text, writes the file of one memory that git could not
    /// merge; run `git add` yourself afterwards.
    ///
    /// Example: memo resolve mem_01KAJ mem_01K9Z
    Resolve(ResolveArgs),
    /// Show memories that are linked to a memory or close to it in meaning
    ///
    /// Exits with 1 when there are none.
    ///
    /// Example: memo related mem_01KAJ
    Related(RelatedArgs),
    /// Show near-duplicate memories and how they could be merged
    ///
    /// Changes nothing without --merge. With --merge, the first memory of a group gets the tags of the others and the text that it
    /// lacks, and the others are archived. Texts that differ in numbers or negations are never proposed. Exits with 1 when there
    /// are none. With --propose a language model compares memories that are near each other in meaning.
    ///
    /// Example: memo dedupe --container auth
    Dedupe(DedupeArgs),
    /// Show every change of a memory
    ///
    /// Example: memo history mem_01KAJ
    History(HistoryArgs),
    /// Count memories and show where they and their backups are stored
    ///
    /// Example: memo stats
    Stats,
    /// Export memories and their links as JSON lines
    ///
    /// `memo import --own` reads the lines. Histories are not exported; `memo backup` keeps them. Writes to stdout without --out.
    ///
    /// Example: memo export --tag auth --out auth.jsonl
    Export(ExportArgs),
    /// Import memories from files and other systems
    ///
    /// Skips memories that are already here, with the same id or the same text. Lists each refused entry with its position and the
    /// reason, and imports the rest. An interrupted import can be run again. Markdown and repository maps replace what an earlier
    /// import of the same file stored. Exits with 1 when something was refused.
    ///
    /// Example: memo import --from markdown --container handbook ~/handbook
    Import(ImportArgs),
    /// Propose memories from the transcript of a session, with a language model
    ///
    /// Prints lines that `memo import` takes, and adds nothing. Sends the conversation of the session to the server of `llm.url`,
    /// in parts of 12 KiB, without tool calls, their output, and credentials. Exits with 1 when nothing is proposed or the
    /// transcript was not read completely.
    ///
    /// Example: memo distil session.jsonl --dry-run
    Distil(DistilArgs),
    /// Copy all memories, with their history, into one file
    ///
    /// Reads the copy back before printing its path. Without PATH the copy is stored beside the daemon's daily backups; there, the
    /// last seven copies made on request are kept.
    ///
    /// Example: memo backup ~/memories.db
    Backup(BackupArgs),
    /// Replace all memories by those of a backup
    ///
    /// Shows what would change, asks, and first backs up the current memories. Files of shared memories are restored where only
    /// commands of memo changed them. `memo import --merge` adds memories instead. Exits with 1 when nothing would change.
    ///
    /// Example: memo restore-backup latest --dry-run
    RestoreBackup(RestoreBackupArgs),
    /// Show the state of the daemon and the index
    ///
    /// Does not wait for pending work; run `memo sync` first when the lists must be complete. Paths are relative to the current
    /// directory, in `--json` to the top of the worktree.
    ///
    /// Example: memo status --files -z | xargs -0 wc -l
    Status(StatusArgs),
    /// Bring the index up to date and wait for it
    ///
    /// Exits with 1 when the index is not up to date within --wait-ms.
    ///
    /// Example: memo sync --sync full --wait-ms 60000
    Sync(SyncArgs),
    /// Print a line for each event: progress of indexing, changes of the index, changes of memories
    ///
    /// Runs until it is interrupted, its reader closes the pipe, or -n events were printed. If the daemon exits, waits for the next
    /// daemon, but starts none. While the command runs, the daemon does not exit by itself.
    ///
    /// Example: memo events --topic memories --json
    Events(EventsArgs),
    /// Stop the daemon; the next command starts it again
    ///
    /// Example: memo stop
    Stop,
    /// Stop the daemon and start it again
    ///
    /// Example: memo restart
    Restart,
    /// Serve the API of the daemon over HTTP, and a page for the browser
    ///
    /// Prints the address, which stays the same until the daemon or --stop ends the server. Only programs on this computer reach
    /// it, on 127.0.0.1, with the token after the `#`. Anybody with the token can read and write the memories of this repository.
    ///
    /// Example: memo serve --open
    Serve(ServeArgs),
    /// Show the daemon's log
    ///
    /// Example: memo logs -n 200 -f
    Logs(LogsArgs),
    /// Check that everything the daemon needs works
    ///
    /// Reports the repair of a damaged database, with every affected file. `memo status` and each answer about memories mention the
    /// repair in one line, for a day or until --ack. Exits with 1 when a check fails.
    ///
    /// Example: memo doctor
    Doctor(DoctorArgs),
    /// Discard the index and build it again; memories are kept
    ///
    /// Example: memo reindex
    Reindex,
    /// Print advice for a coding agent, called by the agent's hooks
    ///
    /// Reads the JSON of the agent's hook on stdin and prints what that agent expects: at the start of a session the brief, for a
    /// prompt the memories that are clearly relevant, before an edit the memories about the file. Prints nothing if nothing is
    /// relevant, and each piece of advice once per session. Never waits longer than --within-ms. Exits with 1 for wrong usage, and
    /// with 0 whatever else happens. With --explain, exits with 1 when there is no advice.
    ///
    /// Example: memo hook prompt --explain "how long is a token valid"
    Hook(HookArgs),
    /// Set up coding agents to use memod, or undo it
    ///
    /// Shows a diff of each file, then writes the file: the MCP server, a marked section of the instructions, hooks and skills, if
    /// the agent supports them. Everything else in these files stays as it is, byte for byte, and --undo removes exactly what was
    /// written. A file that does not parse, or that has an entry `memod` that `memo setup` did not write, is left alone. Exits with
    /// 1 when a file was left alone or no agent was found.
    ///
    /// Example: memo setup --show claude-code
    Setup(SetupArgs),
    /// Install, remove or show the git hooks that notify the daemon
    ///
    /// Without a subcommand, shows each hook. Answers are correct without hooks; with hooks the daemon notices changes sooner.
    ///
    /// Example: memo hooks install --chain
    Hooks(HooksArgs),
    /// Remove memod from this repository and from the agents, after an export of all memories
    ///
    /// Shows what would be removed, and asks first: the git hooks, what `memo setup` has written into your files, and the state dir
    /// with index, memories, backups and settings, which all worktrees share. All memories, archived ones and links too, are first
    /// exported into a new file, which `memo import` reads; when the export fails, nothing is removed. Stops the daemon, and
    /// indexes nothing. Running the command again finishes an interrupted removal. Exits with 1 when something was left in place.
    ///
    /// Example: memo uninstall --dry-run
    Uninstall(UninstallArgs),
    /// Show the language model in use, and how many tokens it has cost today
    ///
    /// No language model is used unless `llm.url` is set in your settings. Then `memo search --expand`, `memo brief --summarise`,
    /// `memo add --suggest`, `memo dedupe --propose` and `memo distil` ask it; with --dry-run they show what would be sent.
    /// Credentials are cut out, and a day has at most `llm.tokens_a_day` tokens. Exits with 1 when no model can be used.
    ///
    /// Example: memo llm
    Llm,
    /// Choose the models that make vectors and rerank hits
    ///
    /// The builtin model is always available. Other models run in a separate process and need the library ONNX Runtime. Without a
    /// subcommand, shows the current model.
    ///
    /// Example: memo model use minilm-l6
    Model(ModelArgs),
    /// Show or change settings
    ///
    /// Without a subcommand, lists every setting with its value and where the value comes from.
    ///
    /// Example: memo config set search.limit 20 --user
    Config(ConfigArgs),
    /// Run several commands from a prompt or from stdin
    ///
    /// A terminal gets completion, and a history in the state dir that omits lines with texts of memories and lines that begin with
    /// a space. Otherwise lines are read from stdin, `#` begins a comment, and the exit status is that of the last line that
    /// failed. Ctrl-D, `exit` and `quit` end the shell.
    ///
    /// Example: memo shell < lines
    Shell,
    /// Serve agents over stdin and stdout by the Model Context Protocol
    ///
    /// Agents start this server; nothing else reads its stdout. The server answers for the directory where it was started, and
    /// connects to the daemon at the first call that needs the daemon. The default profile offers few tools, so that their list
    /// costs few tokens; one of these tools runs any verb. The server ends when its input ends.
    ///
    /// Example: memo mcp --profile full
    Mcp(McpArgs),
    /// Print a script that completes verbs, flags and their values
    ///
    /// A running daemon completes paths, languages, ids, tags and containers. Words with shell metacharacters are omitted.
    ///
    /// Example: memo completions bash > ~/.local/share/bash-completion/completions/memo
    Completions(CompletionsArgs),
    /// Open the manual page of a verb, or write all pages into a directory
    ///
    /// On a terminal `man` shows the page; without `man` the help is printed. Otherwise the page is printed as roff.
    ///
    /// Example: memo man search
    Man(ManArgs),
    /// Show the versions of this program and of the running daemon
    ///
    /// Example: memo version --json
    Version,
}
