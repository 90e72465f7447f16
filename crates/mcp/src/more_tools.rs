//! Declares the tools that only the full profile has.
//!
//! These tools have the same names as those of comparable servers, and run verbs of memo.

use super::tool::AnswerView::{Data, Plain};
use super::tool::{ADDED, ANY, AnswerView, Arg, ArgForm, MEMORIES, Tool, ToolEffect, flag, word};

const TAG: Arg = flag("tag", ArgForm::Text).about("comma-separated");
const CONTAINER: Arg = flag("container", ArgForm::Text);
const TIER: Arg = flag("tier", ArgForm::Text).about("short, mid or long");
const TTL: Arg = flag("ttl", ArgForm::Text).about("3d, 2026-11-01 or never");
const TITLE: Arg = flag("title", ArgForm::Text);
const PRIORITY: Arg = flag("priority", ArgForm::Integer).about("1 to 10");
const CONFIDENCE: Arg = flag("confidence", ArgForm::Number).about("0 to 1");
const META: Arg = flag("meta", ArgForm::Texts).about("KEY=VALUE");
const ABOUT: Arg = flag("about", ArgForm::Texts).about("PATH#SYMBOL it is about");
const AGENT: Arg = flag("agent", ArgForm::Text).about("part of its name");
const SOURCE: Arg = flag("source", ArgForm::Text).about("agent, user, cli, import, …");
const MATCH: Arg = flag("match", ArgForm::Text).about("words that must all be there");
const SINCE: Arg = flag("since", ArgForm::Text).about("added since: 30d or a date");
const UNTIL: Arg = flag("until", ArgForm::Text).about("added before: 30d or a date");
const ARCHIVED_SINCE: Arg = flag("since", ArgForm::Text).about("archived since: 30d or a date");
const ARCHIVED_UNTIL: Arg = flag("until", ArgForm::Text).about("archived before: 30d or a date");
const LIMIT: Arg = flag("limit", ArgForm::Integer);
const ID: Arg = word("id", ArgForm::Text);
const IDS: Arg = word("ids", ArgForm::Texts);
const YES: Arg = flag("yes", ArgForm::Confirm).about("without it, shows what would be done");

/// Creates a tool.
const fn row(
    view: AnswerView,
    name: &'static str,
    about: &'static str,
    verb: &'static [&'static str],
    args: &'static [Arg],
    effect: ToolEffect,
    output: &'static str,
) -> Tool {
    Tool { name, about, verb, args, effect, view, output }
}

/// The tools that only the full profile has.
pub(super) const MORE_TOOLS: &[Tool] = &[
    row(
        Plain,
        "add",
        "Add a memory, with every field.",
        &["add"],
        &[
            word("text", ArgForm::Text),
            TITLE,
            TAG,
            CONTAINER,
            TIER,
            TTL,
            PRIORITY,
            CONFIDENCE,
            META,
            ABOUT,
            flag("force", ArgForm::Switch).about("even if another says nearly the same"),
            flag("merge", ArgForm::Switch).about("into one that says nearly the same"),
        ],
        ToolEffect::AddsOnce,
        ADDED,
    ),
    row(Data, "get", "Show memories by id.", &["get"], &[IDS], ToolEffect::Reads, MEMORIES),
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
            flag("state", ArgForm::Text).about("fresh, drifted or orphaned"),
            flag("about", ArgForm::Text).about("PATH, PATH#SYMBOL or NAME"),
            flag("sort", ArgForm::Text).about("created, updated or priority"),
            LIMIT,
            flag("offset", ArgForm::Integer),
        ],
        ToolEffect::Reads,
        MEMORIES,
    ),
    row(
        Data,
        "recent",
        "List the memories changed last.",
        &["recent"],
        &[LIMIT],
        ToolEffect::Reads,
        MEMORIES,
    ),
    row(
        Plain,
        "update",
        "Change fields of a memory.",
        &["update"],
        &[
            ID,
            flag("content", ArgForm::Text),
            TITLE,
            CONTAINER,
            TIER,
            TTL,
            PRIORITY,
            CONFIDENCE,
            META,
            ABOUT,
            flag("replace", ArgForm::Switch).about("remove metadata that is not given"),
        ],
        ToolEffect::ChangesOnce,
        ADDED,
    ),
    row(
        Plain,
        "append",
        "Append a line to a memory.",
        &["append"],
        &[ID, word("text", ArgForm::Text)],
        ToolEffect::Adds,
        ADDED,
    ),
    row(
        Plain,
        "tag",
        "Add tags to a memory.",
        &["tag"],
        &[ID, word("tags", ArgForm::Texts)],
        ToolEffect::AddsOnce,
        ADDED,
    ),
    row(
        Plain,
        "untag",
        "Remove tags from a memory.",
        &["untag"],
        &[ID, word("tags", ArgForm::Texts)],
        ToolEffect::ChangesOnce,
        ADDED,
    ),
    row(
        Plain,
        "confirm",
        "A memory still holds for its code.",
        &["confirm"],
        &[ID],
        ToolEffect::ChangesOnce,
        ADDED,
    ),
    row(
        Data,
        "delete",
        "Archive memories by id; archive_restore brings them back.",
        &["forget", "--yes"],
        &[IDS],
        ToolEffect::ChangesOnce,
        ANY,
    ),
    row(
        Data,
        "forget",
        "Archive the memories that meet all conditions.",
        &["forget"],
        &[CONTAINER, TAG, TIER, MATCH, SINCE, UNTIL, YES],
        ToolEffect::ChangesOnce,
        ANY,
    ),
    row(
        Plain,
        "promote",
        "Move a memory up a tier.",
        &["promote"],
        &[ID, flag("to", ArgForm::Text).about("mid or long; else the next tier")],
        ToolEffect::Adds,
        ADDED,
    ),
    row(Plain, "stats", "Count memories, by tier and more.", &["stats"], &[], ToolEffect::Reads, ANY),
    row(Plain, "tags", "Count memories by tag.", &["tags"], &[], ToolEffect::Reads, ANY),
    row(Plain, "containers", "Count memories by container.", &["containers"], &[], ToolEffect::Reads, ANY),
    row(
        Plain,
        "link",
        "Link a memory to another.",
        &["link"],
        &[
            word("from", ArgForm::Text),
            word("to", ArgForm::Text),
            flag("kind", ArgForm::Text).about("related_to, supersedes, contradicts or derived_from"),
        ],
        ToolEffect::AddsOnce,
        ANY,
    ),
    row(
        Plain,
        "unlink",
        "Remove links between two memories.",
        &["unlink"],
        &[word("from", ArgForm::Text), word("to", ArgForm::Text), flag("kind", ArgForm::Text)],
        ToolEffect::ChangesOnce,
        ANY,
    ),
    row(
        Data,
        "links",
        "Show what a memory is linked to.",
        &["links"],
        &[ID, flag("depth", ArgForm::Integer)],
        ToolEffect::Reads,
        ANY,
    ),
    row(
        Data,
        "related",
        "Memories linked to one or close to it in meaning.",
        &["related"],
        &[ID, LIMIT],
        ToolEffect::Reads,
        ANY,
    ),
    row(
        Plain,
        "resolve",
        "Say which of two contradicting memories holds.",
        &["resolve"],
        &[word("winner", ArgForm::Text), word("loser", ArgForm::Text)],
        ToolEffect::ChangesOnce,
        ANY,
    ),
    row(
        Data,
        "dedupe",
        "Show near-duplicates and how to merge them.",
        &["dedupe"],
        &[CONTAINER],
        ToolEffect::Reads,
        ANY,
    ),
    row(
        Data,
        "consolidate",
        "Combine memories into one, and archive them.",
        &["consolidate"],
        &[IDS, TITLE, flag("summary", ArgForm::Text).required(), CONTAINER],
        ToolEffect::Any,
        ANY,
    ),
    row(Data, "history", "Show every change of a memory.", &["history"], &[ID], ToolEffect::Reads, ANY),
    row(
        Data,
        "archive_list",
        "List archived memories.",
        &["list", "--archived"],
        &[CONTAINER, TAG, MATCH, ARCHIVED_SINCE, ARCHIVED_UNTIL, LIMIT, flag("offset", ArgForm::Integer)],
        ToolEffect::Reads,
        MEMORIES,
    ),
    row(
        Data,
        "archive_restore",
        "Bring memories back.",
        &["restore"],
        &[IDS],
        ToolEffect::ChangesOnce,
        MEMORIES,
    ),
    row(
        Data,
        "archive_purge",
        "Show what `memo purge` would delete for good; only the user may run it, in a terminal.",
        &["purge", "--dry-run"],
        &[IDS.optional(), CONTAINER, TAG, ARCHIVED_SINCE, ARCHIVED_UNTIL],
        ToolEffect::Reads,
        ANY,
    ),
    row(
        Data,
        "archive_stats",
        "Count archived memories.",
        &["list", "--archived", "--limit=1"],
        &[],
        ToolEffect::Reads,
        MEMORIES,
    ),
    row(
        Plain,
        "capabilities",
        "What the daemon knows, runs and lacks.",
        &["status"],
        &[],
        ToolEffect::Reads,
        ANY,
    ),
    row(
        Data,
        "analyze",
        "The project in brief: memories, changes, commits and its code.",
        &["brief", "--budget=4096"],
        &[],
        ToolEffect::Reads,
        ANY,
    ),
];
