//! Declares the verbs with their help.

use clap::Subcommand;

use super::code_args::{
    BriefArgs, ChangedArgs, ExplainArgs, MapArgs, OpenArgs, OutlineArgs, SearchArgs, ShowArgs, WhyArgs,
};
use super::daemon_args::{
    CompletionsArgs, ConfigArgs, DoctorArgs, HooksArgs, InitArgs, ManArgs, McpArgs, ModelArgs, ServeArgs,
    SetupArgs, StatusArgs, SyncArgs, UninstallArgs,
};
use super::demo_args::DemoArgs;
use super::exchange_args::{BackupArgs, DistilArgs, ExportArgs, ImportArgs};
use super::memory_args::{
    GetArgs, HistoryArgs, IdArgs, IdsArgs, ListArgs, PromoteArgs, RecallArgs, RemoveArgs, ShareWithArgs,
    TagArgs,
};
use super::relation_args::{ConsolidateArgs, DedupeArgs, LinkingArgs, RelatedArgs, ResolveArgs};
use super::uses_args::{ImpactArgs, RefsArgs, TestsArgs, UsesArgs};
use super::verb_families::{
    BackupVerb, DaemonControlVerb, ForgetVerb, LinkVerb, ShareVerb, TagVerb, VerbFamily,
};
use super::writing_args::{AddArgs, AppendArgs, UpdateArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum MemoVerb {
    /// Index the repository now and show what was indexed and skipped
    ///
    /// The first search indexes as well, so this is optional; running it again is harmless. Reports each step, and whether the
    /// agents on this machine are set up. Installs git hooks as `memo hooks install` does, unless --no-hooks is given. With
    /// --no-index, the next command that needs the index builds it. Exits with 3 when indexing makes no progress for a minute.
    Init(InitArgs),
    /// Search documents, the code map, definitions, commits and memories
    ///
    /// Prints the best hits with their lines. The index holds everything written before the search started, or the answer says why
    /// the index does not. Exits with 1 when nothing matches.
    #[command(visible_alias = "s")]
    Search(SearchArgs),
    /// Explain how each hit of a search was ranked
    ///
    /// Shows the rank in each arm of the search and every factor of the score. Takes those flags of `memo search` that select hits.
    /// Exits with 1 when nothing matches, or when no match is selected by --hit and --of.
    Explain(ExplainArgs),
    /// Show a file, lines of it, or a definition with its comments
    ///
    /// PATH#SYMBOL shows a definition, and a name without a path shows every definition of that name. PATH:LINE shows the innermost
    /// definition around the line, or only the line if there is none; of a long definition it shows 15 lines before and after the
    /// line. PATH:FIRST-LAST shows these lines. A number shows that hit of the last search in this terminal. Files that are not
    /// indexed are not shown, and credentials are masked. Exits with 1 when nothing has that name.
    Show(ShowArgs),
    /// List what a file defines with signatures, or the sections of a document
    ///
    /// Lists them nested, in the order of the file. PATH#SYMBOL or a name lists a type with its members. If there are more than
    /// --limit, the deepest are left out first. Exits with 1 when nothing has that name, or the file defines nothing.
    Outline(OutlineArgs),
    /// List the uses of a definition, and say how sure each is
    ///
    /// A use without a mark is proved by scope, package, an import or a written type. `likely` means that a type is inferred, that
    /// a name of several words has one definition, or that only the types of arguments decide which overload is meant. `by name`
    /// means that only the name is the same. Supports Python, JavaScript, TypeScript, Go, Rust, Java, C, C++, and components of
    /// Vue, Svelte and Astro. Exits with 1 when nothing has that name, or nothing uses it.
    Refs(RefsArgs),
    /// List the definitions that call a function, or use a type
    ///
    /// Shows each with the line of the call. --depth 2 also lists the callers of these definitions, each below the definition that
    /// it calls. `memo refs --help` explains the marks. Exits with 1 when nothing has that name, or nothing calls it.
    Callers(UsesArgs),
    /// List the definitions that a function calls
    ///
    /// Lists them in the order of the calls, with their signatures. --depth 2 also lists their callees. Calls of definitions
    /// elsewhere are counted, not listed. Exits with 1 when nothing has that name, or the function calls no definition here.
    Callees(UsesArgs),
    /// List what depends on a definition, a file or a change
    ///
    /// Follows uses for two steps, or as many as --depth says, also in tests, and lists them by file, the surest and nearest first.
    /// Uses that have only the name in common are counted; --all lists and follows them. Exits with 1 when nothing has that name, or
    /// nothing depends on it.
    Impact(ImpactArgs),
    /// List the tests that reach a definition, a file or a change
    ///
    /// Follows uses for eight steps. Tests with a proved use of the definition come first, then those with a likely use, and files named
    /// after its file. Tests that share only a name or similar words are counted; `--all` lists them. Words after the target say what has changed: `memo tests src/a.rs "empty input"`. Also shows where tests replace the definition by
    /// a fake, and documents that name it. Exits with 1 when nothing has that name, or no test is found.
    Tests(TestsArgs),
    /// List the types that extend or implement a class, interface or trait
    ///
    /// Lists direct and indirect subtypes; in Go, the types that have methods of the same names. Exits with 1 when nothing has that
    /// name, or no type extends or implements it.
    Implements(UsesArgs),
    /// Open a hit of the last search in the editor, or what `memo show` takes
    ///
    /// Runs $VISUAL, else $EDITOR, at the first line that matches. The last search is the last one in this terminal and this
    /// repository; without a terminal, commands of one process session share the last search. After a search with --files, N is the
    /// Nth file. A search with --vimgrep is not remembered. Exits with 1 when there is no such hit or nothing has that name.
    Open(OpenArgs),
    /// Show the most important part of the code map that fits a budget
    ///
    /// Ranks files by how often other files name their symbols, with more weight for files in --focus. DIR and FILE restrict the
    /// map to these directories and files. Exits with 1 when nothing fits, or when a DIR or FILE has no symbols.
    Map(MapArgs),
    /// Show what to know before starting work, within a budget
    ///
    /// Prints what the project is, how it is built and tested and of what it consists (from the README and manifests such as
    /// Cargo.toml, package.json or a Makefile), memories tagged `pinned` or of priority 7 and above, memories whose code has
    /// changed, HTTP routes of the code, uncommitted changes, the latest commits, and the code map weighted towards the uncommitted
    /// changes. The budget counts what is printed, four characters a token; with --json it counts `text` alone. Exits with 1 when
    /// there is nothing to show. --summarise asks the language model of `llm.url` for a summary of the brief.
    Brief(BriefArgs),
    /// Show which files and definitions changed since a revision or a time, or between two
    ///
    /// Compares the worktree, with uncommitted changes and new files, with a commit: HEAD, a revision as git names it (an id, a
    /// branch, a tag, HEAD~3, @{upstream}), or the newest commit at or before a local time (2026-11-01, RFC 3339) or an age (3d,
    /// 2h30m); then lists the commits since then. With A..B or A B, two commits are compared. Exits with 1 when nothing changed.
    Changed(ChangedArgs),
    /// Show the memories about a piece of code and the commits that shaped it
    ///
    /// Prints memories about the file, line or definition first, then commits, newest first, with their messages. PATH alone
    /// follows the file through renames; PATH:LINE, PATH:FIRST-LAST and PATH#SYMBOL show the commits from which these lines come.
    /// Exits with 1 when there are no memories and no commits.
    Why(WhyArgs),
    /// Add a memory
    ///
    /// Prints the id of the memory once the memory is on disk. The same text in the same container is stored once. Text inside
    /// <private>…</private> is removed before anything is stored; text that looks like a credential is refused.
    Add(AddArgs),
    /// Show memories by id
    Get(GetArgs),
    /// List memories
    ///
    /// Exits with 1 when there are none.
    #[command(visible_alias = "ls")]
    List(ListArgs),
    /// Change fields of a memory
    Update(UpdateArgs),
    /// Append a line to a memory, as `memo update --append` does
    #[command(hide = true)]
    Append(AppendArgs),
    /// Confirm that a memory still holds for the code it is about
    ///
    /// A drifted memory becomes fresh again; one from a file of the repository is trusted as your own. Fails when the code is gone.
    Confirm(IdArgs),
    /// Archive memories
    ///
    /// Shows what would be archived and asks first; nothing is deleted. Memories must meet all conditions. Exits with 1 when none
    /// do.
    Forget(VerbFamily<ForgetVerb, RemoveArgs>),
    /// Restore memories from the archive
    Restore(IdsArgs),
    /// Share memories with others through git, as files of the worktree
    ///
    /// Writes .memod/memories/ID.md for each memory, to be committed like code. From then on, editing the file edits the memory,
    /// and a branch without the file does not have the memory. The setting `share.tags` shares each memory that is written with one
    /// of the listed tags. --team sends the memories to the server of the team instead, as soon as it can be reached; the setting
    /// `team.tags` does that for each memory with one of its tags. Exits with 1 when there is nothing to share.
    Share(VerbFamily<ShareVerb, ShareWithArgs>),
    /// Add tags to a memory
    ///
    /// `memo tag list` counts the memories of each tag.
    Tag(VerbFamily<TagVerb, TagArgs>),
    /// Search memories, and extend the lifetime of those found
    ///
    /// A recall adds an hour to a short memory and a day to a mid one; the fifth makes a mid memory long, and every tenth raises
    /// the priority by one. A hit without a word of the query is shown and not extended. `memo search --kind memory` finds the same
    /// memories and changes nothing. Exits with 1 when nothing matches.
    Recall(RecallArgs),
    /// Move a memory up a tier: short to mid, mid to long, or with --to long straight away
    Promote(PromoteArgs),
    /// Combine several memories into one and archive the originals
    ///
    /// The new memory has all their tags, the highest priority, the lowest confidence and the longest lifetime, and is linked to
    /// each as derived from it. --auto combines memories that share container and first tag, at least three at a time, and skips
    /// superseded ones. A group is combined completely or not at all. Exits with 1 when nothing was combined.
    Consolidate(ConsolidateArgs),
    /// Link a memory to another
    ///
    /// Links of the kinds related_to and contradicts hold in both directions. `memo get` shows the links of a memory.
    Link(VerbFamily<LinkVerb, LinkingArgs>),
    /// Decide which of two contradicting memories holds, or end a conflict of git in the file of one
    ///
    /// Links two memories as contradicting and the first as superseding the second. The second stays, with priority 1 and
    /// confidence 0.1, and ranks below the first. With --ours, --theirs or --text, writes the file of one memory that git could not
    /// merge; run `git add` yourself afterwards.
    Resolve(ResolveArgs),
    /// Show memories that are linked to a memory or close to it in meaning
    ///
    /// Exits with 1 when there are none.
    Related(RelatedArgs),
    /// Show near-duplicate memories and how they could be merged
    ///
    /// Changes nothing without --merge. With --merge, the first memory of a group gets the tags of the others and the text that it
    /// lacks, and the others are archived. Texts that differ in numbers or negations are never proposed. Exits with 1 when there
    /// are none. With --propose a language model compares memories that are near each other in meaning.
    Dedupe(DedupeArgs),
    /// Show every change of a memory
    History(HistoryArgs),
    /// Count memories and show where they and their backups are stored
    Stats,
    /// Export memories and their links as JSON lines
    ///
    /// `memo import --own` reads the lines. Histories are not exported; `memo backup` keeps them. Writes to stdout without --out.
    Export(ExportArgs),
    /// Import memories from files and other systems
    ///
    /// Skips memories that are already here, with the same id or the same text. Lists each refused entry with its position and the
    /// reason, and imports the rest. An interrupted import can be run again. Markdown and repository maps replace what an earlier
    /// import of the same file stored. Exits with 1 when something was refused.
    Import(ImportArgs),
    /// Propose memories from the transcript of a session, with a language model
    ///
    /// Prints lines that `memo import` takes, and adds nothing. Sends the conversation of the session to the server of `llm.url`,
    /// in parts of 12 KiB, without tool calls, their output, and credentials. Exits with 1 when nothing is proposed or the
    /// transcript was not read completely.
    Distil(DistilArgs),
    /// Copy all memories, with their history, into one file
    ///
    /// Reads the copy back before printing its path. Without PATH the copy is stored beside the daemon's daily backups; there, the
    /// last seven copies made on request are kept.
    Backup(VerbFamily<BackupVerb, BackupArgs>),
    /// Show the state of the daemon and the index
    ///
    /// Does not wait for pending work; run `memo sync` first when the lists must be complete. Paths are relative to the current
    /// directory, in `--json` to the top of the worktree.
    Status(StatusArgs),
    /// Bring the index up to date and wait for it
    ///
    /// Exits with 1 when the index is not up to date within --wait-ms.
    Sync(SyncArgs),
    /// Stop or restart the daemon, read its log, or follow its events
    ///
    /// `memo status` shows its state, and `memo doctor` checks what it needs.
    #[command(subcommand)]
    Daemon(DaemonControlVerb),
    /// Serve the API of the daemon over HTTP, and a page for the browser
    ///
    /// Prints the address, which stays the same until the daemon or --stop ends the server. Only programs on this computer reach
    /// it, on 127.0.0.1, with the token after the `#`. Anybody with the token can read and write the memories of this repository.
    Serve(ServeArgs),
    /// Check that everything the daemon needs works
    ///
    /// Reports the repair of a damaged database, with every affected file. `memo status` and each answer about memories mention the
    /// repair in one line, for a day or until --ack. Exits with 1 when a check fails.
    Doctor(DoctorArgs),
    /// Discard the index and build it again; memories are kept
    Reindex,
    Demo(DemoArgs),
    /// Set up coding agents to use memod, or undo it
    ///
    /// Shows a diff of each file, then writes the file: the MCP server, a marked section of the instructions, hooks and skills, if
    /// the agent supports them. Everything else in these files stays as it is, byte for byte, and --undo removes exactly what was
    /// written. A file that does not parse, or that has an entry `memod` that `memo setup` did not write, is left alone. Exits with
    /// 1 when a file was left alone or no agent was found.
    Setup(SetupArgs),
    /// Install, remove or show the git hooks that notify the daemon
    ///
    /// Without a subcommand, shows each hook. Answers are correct without hooks; with hooks the daemon notices changes sooner.
    Hooks(HooksArgs),
    /// Remove memod from this repository and from the agents, after an export of all memories
    ///
    /// Shows what would be removed, and asks first: the git hooks, what `memo setup` has written into your files, and the state dir
    /// with index, memories, backups and settings, which all worktrees share. All memories, archived ones and links too, are first
    /// exported into a new file, which `memo import` reads; when the export fails, nothing is removed. Stops the daemon, and
    /// indexes nothing. Running the command again finishes an interrupted removal. Exits with 1 when something was left in place.
    Uninstall(UninstallArgs),
    /// Show the language model in use, and how many tokens it has cost today
    ///
    /// No language model is used unless `llm.url` is set in your settings. Then `memo search --expand`, `memo brief --summarise`,
    /// `memo add --suggest`, `memo dedupe --propose` and `memo distil` ask it; with --dry-run they show what would be sent.
    /// Credentials are cut out, and a day has at most `llm.tokens_a_day` tokens. Exits with 1 when no model can be used.
    Llm,
    /// Choose the models that make vectors and rerank hits
    ///
    /// The builtin model is always available. Other models run in a separate process and need the library ONNX Runtime. Without a
    /// subcommand, shows the current model.
    Model(ModelArgs),
    /// Show or change settings
    ///
    /// Without a subcommand, lists every setting with its value and where the value comes from.
    Config(ConfigArgs),
    /// Run several commands from a prompt or from stdin
    ///
    /// A terminal gets completion, and a history in the state dir that omits lines with texts of memories and lines that begin with
    /// a space. Otherwise lines are read from stdin, `#` begins a comment, and the exit status is that of the last line that
    /// failed. Ctrl-D, `exit` and `quit` end the shell.
    Shell,
    /// Serve agents over stdin and stdout by the Model Context Protocol
    ///
    /// Agents start this server; nothing else reads its stdout. The server answers for the directory where it was started, and
    /// connects to the daemon at the first call that needs the daemon. The default profile offers few tools, so that their list
    /// costs few tokens; one of these tools runs any verb. The server ends when its input ends.
    Mcp(McpArgs),
    /// Print a script that completes verbs, flags and their values
    ///
    /// A running daemon completes paths, languages, ids, tags and containers. Words with shell metacharacters are omitted.
    Completions(CompletionsArgs),
    /// Open the manual page of a verb, or write all pages into a directory
    ///
    /// On a terminal `man` shows the page; without `man` the help is printed. Otherwise the page is printed as roff.
    Man(ManArgs),
    /// Show the versions of this program and of the running daemon
    Version,
}
