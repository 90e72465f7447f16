//! Declares the tools that the full profile has besides those of the default one.
//!
//! They are those of comparable servers, under their names, on our verbs.

use super::tool::View::{Data, Plain};
use super::tool::{ADDED, ANY, Arg, Effect, Form, MEMORIES, Tool, View, flag, word};

const TAG: Arg = flag("tag", Form::Text).about("comma-separated");
const CONTAINER: Arg = flag("container", Form::Text);
const TIER: Arg = flag("tier", Form::Text).about("short, mid or long");
const TTL: Arg = flag("ttl", Form::Text).about("3d, 2026-11-01 or never");
const TITLE: Arg = flag("title", Form::Text);
const PRIORITY: Arg = flag("priority", Form::Integer).about("1 to 10");
const CONFIDENCE: Arg = flag("confidence", Form::Number).about("0 to 1");
const META: Arg = flag("meta", Form::Texts).about("KEY=VALUE");
const ABOUT: Arg = flag("about", Form::Texts).about("PATH#SYMBOL it is about");
const AGENT: Arg = flag("agent", Form::Text).about("part of its name");
const SOURCE: Arg = flag("source", Form::Text).about("agent, user, cli, import, …");
const MATCH: Arg = flag("match", Form::Text).about("words that must all be there");
const SINCE: Arg = flag("since", Form::Text).about("added since: 30d or a date");
const UNTIL: Arg = flag("until", Form::Text).about("added before: 30d or a date");
const ARCHIVED_SINCE: Arg = flag("since", Form::Text).about("archived since: 30d or a date");
const ARCHIVED_UNTIL: Arg = flag("until", Form::Text).about("archived before: 30d or a date");
const LIMIT: Arg = flag("limit", Form::Integer);
const ID: Arg = word("id", Form::Text);
const IDS: Arg = word("ids", Form::Texts);
const YES: Arg = flag("yes", Form::Confirm).about("without it, shows what would be done");

const fn row(
    view: View,
    name: &'static str,
    about: &'static str,
    verb: &'static [&'static str],
    args: &'static [Arg],
    effect: Effect,
    output: &'static str,
) -> Tool {
    Tool { name, about, verb, args, effect, view, output }
}

/// The tools of the full profile alone.
pub(super) const MORE_TOOLS: &[Tool] = &[
    row(
        Plain,
        "add",
        "Add a memory, with every field.",
        &["add"],
        &[
            word("text", Form::Text),
            TITLE,
            TAG,
            CONTAINER,
            TIER,
            TTL,
            PRIORITY,
            CONFIDENCE,
            META,
            ABOUT,
            flag("force", Form::Switch).about("even if another says nearly the same"),
            flag("merge", Form::Switch).about("into one that says nearly the same"),
        ],
        Effect::AddsOnce,
        ADDED,
    ),
    row(Data, "get", "Show memories by id.", &["get"], &[IDS], Effect::Reads, MEMORIES),
    row(
        Data,
        "list",
        "List memories.",
        &["list"],
        &[
            CONTAINER,
            TAG,
            TIER,
            AGENT,
            SOURCE,
            MATCH,
            SINCE,
            UNTIL,
            flag("state", Form::Text).about("fresh, drifted or orphaned"),
            flag("about", Form::Text).about("PATH, PATH#SYMBOL or NAME"),
            flag("sort", Form::Text).about("created, updated or priority"),
            LIMIT,
            flag("offset", Form::Integer),
        ],
        Effect::Reads,
        MEMORIES,
    ),
    row(Data, "recent", "List the memories changed last.", &["recent"], &[LIMIT], Effect::Reads, MEMORIES),
    row(
        Plain,
        "update",
        "Change fields of a memory.",
        &["update"],
        &[
            ID,
            flag("content", Form::Text),
            TITLE,
            CONTAINER,
            TIER,
            TTL,
            PRIORITY,
            CONFIDENCE,
            META,
            ABOUT,
            flag("replace", Form::Switch).about("remove metadata that is not given"),
        ],
        Effect::ChangesOnce,
        ADDED,
    ),
    row(
        Plain,
        "append",
        "Append a line to a memory.",
        &["append"],
        &[ID, word("text", Form::Text)],
        Effect::Adds,
        ADDED,
    ),
    row(
        Plain,
        "tag",
        "Add tags to a memory.",
        &["tag"],
        &[ID, word("tags", Form::Texts)],
        Effect::AddsOnce,
        ADDED,
    ),
    row(
        Plain,
        "untag",
        "Remove tags from a memory.",
        &["untag"],
        &[ID, word("tags", Form::Texts)],
        Effect::ChangesOnce,
        ADDED,
    ),
    row(
        Plain,
        "confirm",
        "A memory still holds for its code.",
        &["confirm"],
        &[ID],
        Effect::ChangesOnce,
        ADDED,
    ),
    row(
        Data,
        "delete",
        "Archive memories by id; archive_restore brings them back.",
        &["forget", "--yes"],
        &[IDS],
        Effect::ChangesOnce,
        ANY,
    ),
    row(
        Data,
        "forget",
        "Archive the memories that meet all conditions.",
        &["forget"],
        &[CONTAINER, TAG, TIER, MATCH, SINCE, UNTIL, YES],
        Effect::ChangesOnce,
        ANY,
    ),
    row(
        Plain,
        "promote",
        "Move a memory up a tier.",
        &["promote"],
        &[ID, flag("to", Form::Text).about("mid or long; else the next tier")],
        Effect::Adds,
        ADDED,
    ),
    row(Plain, "stats", "Count memories, by tier and more.", &["stats"], &[], Effect::Reads, ANY),
    row(Plain, "tags", "Count memories by tag.", &["tags"], &[], Effect::Reads, ANY),
    row(Plain, "containers", "Count memories by container.", &["containers"], &[], Effect::Reads, ANY),
    row(
        Plain,
        "link",
        "Link a memory to another.",
        &["link"],
        &[
            word("from", Form::Text),
            word("to", Form::Text),
            flag("kind", Form::Text).about("related_to, supersedes, contradicts or derived_from"),
        ],
        Effect::AddsOnce,
        ANY,
    ),
    row(
        Plain,
        "unlink",
        "Remove links between two memories.",
        &["unlink"],
        &[word("from", Form::Text), word("to", Form::Text), flag("kind", Form::Text)],
        Effect::ChangesOnce,
        ANY,
    ),
    row(
        Data,
        "links",
        "Show what a memory is linked to.",
        &["links"],
        &[ID, flag("depth", Form::Integer)],
        Effect::Reads,
        ANY,
    ),
    row(
        Data,
        "related",
        "Memories linked to one or close to it in meaning.",
        &["related"],
        &[ID, LIMIT],
        Effect::Reads,
        ANY,
    ),
    row(
        Plain,
        "resolve",
        "Say which of two contradicting memories holds.",
        &["resolve"],
        &[word("winner", Form::Text), word("loser", Form::Text)],
        Effect::ChangesOnce,
        ANY,
    ),
    row(
        Data,
        "dedupe",
        "Show near-duplicates and how to merge them.",
        &["dedupe"],
        &[CONTAINER],
        Effect::Reads,
        ANY,
    ),
    row(
        Data,
        "consolidate",
        "Combine memories into one, and archive them.",
        &["consolidate"],
        &[IDS, TITLE, flag("summary", Form::Text).required(), CONTAINER],
        Effect::Any,
        ANY,
    ),
    row(Data, "history", "Show every change of a memory.", &["history"], &[ID], Effect::Reads, ANY),
    row(
        Data,
        "archive_list",
        "List archived memories.",
        &["list", "--archived"],
        &[CONTAINER, TAG, MATCH, ARCHIVED_SINCE, ARCHIVED_UNTIL, LIMIT, flag("offset", Form::Integer)],
        Effect::Reads,
        MEMORIES,
    ),
    row(Data, "archive_restore", "Bring memories back.", &["restore"], &[IDS], Effect::ChangesOnce, MEMORIES),
    row(
        Data,
        "archive_purge",
        "Show what `memo purge` would delete for good; only the user may run it, in a terminal.",
        &["purge", "--dry-run"],
        &[IDS.optional(), CONTAINER, TAG, ARCHIVED_SINCE, ARCHIVED_UNTIL],
        Effect::Reads,
        ANY,
    ),
    row(
        Data,
        "archive_stats",
        "Count archived memories.",
        &["list", "--archived", "--limit=1"],
        &[],
        Effect::Reads,
        MEMORIES,
    ),
    row(
        Plain,
        "capabilities",
        "What the daemon knows, runs and lacks.",
        &["status"],
        &[],
        Effect::Reads,
        ANY,
    ),
    row(
        Data,
        "analyze",
        "The project in brief: memories, changes, commits and its code.",
        &["brief", "--budget=4096"],
        &[],
        Effect::Reads,
        ANY,
    ),
];
