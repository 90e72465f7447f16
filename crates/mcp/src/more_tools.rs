//! Declares the tools that only the full profile has.
//!
//! These tools have the same names as those of comparable servers, and run verbs of memo.

use super::tool::AnswerFormat::{Data, Plain};
use super::tool::{
    ADDED_SCHEMA, ANY_SCHEMA, AnswerFormat, Arg, ArgForm, MEMORIES_SCHEMA, Tool, ToolEffect, flag_arg,
    word_arg,
};

const TAG: Arg = flag_arg("tag", ArgForm::Text).about("comma-separated");
const CONTAINER: Arg = flag_arg("container", ArgForm::Text);
const TIER: Arg = flag_arg("tier", ArgForm::Text).about("short, mid or long");
const TTL: Arg = flag_arg("ttl", ArgForm::Text).about("3d, 2026-11-01 or never");
const TITLE: Arg = flag_arg("title", ArgForm::Text);
const PRIORITY: Arg = flag_arg("priority", ArgForm::Integer).about("1 to 10");
const CONFIDENCE: Arg = flag_arg("confidence", ArgForm::Number).about("0 to 1");
const META: Arg = flag_arg("meta", ArgForm::Texts).about("KEY=VALUE");
const ABOUT: Arg = flag_arg("about", ArgForm::Texts).about("PATH#SYMBOL it is about");
const AGENT: Arg = flag_arg("agent", ArgForm::Text).about("part of its name");
const SOURCE: Arg = flag_arg("source", ArgForm::Text).about("agent, user, cli, import, …");
const MATCH: Arg = flag_arg("match", ArgForm::Text).about("words that must all be there");
const SINCE: Arg = flag_arg("since", ArgForm::Text).about("added since: 30d or a date");
const UNTIL: Arg = flag_arg("until", ArgForm::Text).about("added before: 30d or a date");
const ARCHIVED_SINCE: Arg = flag_arg("since", ArgForm::Text).about("archived since: 30d or a date");
const ARCHIVED_UNTIL: Arg = flag_arg("until", ArgForm::Text).about("archived before: 30d or a date");
const LIMIT: Arg = flag_arg("limit", ArgForm::Integer);
const ID: Arg = word_arg("id", ArgForm::Text);
const IDS: Arg = word_arg("ids", ArgForm::Texts);
const YES: Arg = flag_arg("yes", ArgForm::Confirm).about("without it, shows what would be done");

/// Creates a tool.
const fn new_tool(
    view: AnswerFormat,
    name: &'static str,
    about: &'static str,
    verb: &'static [&'static str],
    args: &'static [Arg],
    effect: ToolEffect,
    output: &'static str,
) -> Tool {
    Tool { name, about, verb, args, effect, format: view, output_schema: output }
}

/// The tools that only the full profile has.
pub(super) const FULL_PROFILE_TOOLS: &[Tool] = &[
    new_tool(
        Plain,
        "add",
        "Add a memory, with every field.",
        &["add"],
        &[
            word_arg("text", ArgForm::Text),
            TITLE,
            TAG,
            CONTAINER,
            TIER,
            TTL,
            PRIORITY,
            CONFIDENCE,
            META,
            ABOUT,
            flag_arg("force", ArgForm::Switch).about("even if another says nearly the same"),
            flag_arg("merge", ArgForm::Switch).about("into one that says nearly the same"),
        ],
        ToolEffect::AddsOnce,
        ADDED_SCHEMA,
    ),
    new_tool(Data, "get", "Show memories by id.", &["get"], &[IDS], ToolEffect::Reads, MEMORIES_SCHEMA),
    new_tool(
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
            flag_arg("state", ArgForm::Text).about("fresh, drifted or orphaned"),
            flag_arg("about", ArgForm::Text).about("PATH, PATH#SYMBOL or NAME"),
            flag_arg("sort", ArgForm::Text).about("created, updated or priority"),
            LIMIT,
            flag_arg("offset", ArgForm::Integer),
        ],
        ToolEffect::Reads,
        MEMORIES_SCHEMA,
    ),
    new_tool(
        Data,
        "recent",
        "List the memories changed last.",
        &["recent"],
        &[LIMIT],
        ToolEffect::Reads,
        MEMORIES_SCHEMA,
    ),
    new_tool(
        Plain,
        "update",
        "Change fields of a memory.",
        &["update"],
        &[
            ID,
            flag_arg("content", ArgForm::Text),
            TITLE,
            CONTAINER,
            TIER,
            TTL,
            PRIORITY,
            CONFIDENCE,
            META,
            ABOUT,
            flag_arg("replace", ArgForm::Switch).about("remove metadata that is not given"),
        ],
        ToolEffect::ChangesOnce,
        ADDED_SCHEMA,
    ),
    new_tool(
        Plain,
        "append",
        "Append a line to a memory.",
        &["append"],
        &[ID, word_arg("text", ArgForm::Text)],
        ToolEffect::Adds,
        ADDED_SCHEMA,
    ),
    new_tool(
        Plain,
        "tag",
        "Add tags to a memory.",
        &["tag"],
        &[ID, word_arg("tags", ArgForm::Texts)],
        ToolEffect::AddsOnce,
        ADDED_SCHEMA,
    ),
    new_tool(
        Plain,
        "untag",
        "Remove tags from a memory.",
        &["untag"],
        &[ID, word_arg("tags", ArgForm::Texts)],
        ToolEffect::ChangesOnce,
        ADDED_SCHEMA,
    ),
    new_tool(
        Plain,
        "confirm",
        "A memory still holds for its code.",
        &["confirm"],
        &[ID],
        ToolEffect::ChangesOnce,
        ADDED_SCHEMA,
    ),
    new_tool(
        Data,
        "delete",
        "Archive memories by id; archive_restore brings them back.",
        &["forget", "--yes"],
        &[IDS],
        ToolEffect::ChangesOnce,
        ANY_SCHEMA,
    ),
    new_tool(
        Data,
        "forget",
        "Archive the memories that meet all conditions.",
        &["forget"],
        &[CONTAINER, TAG, TIER, MATCH, SINCE, UNTIL, YES],
        ToolEffect::ChangesOnce,
        ANY_SCHEMA,
    ),
    new_tool(
        Plain,
        "promote",
        "Move a memory up a tier.",
        &["promote"],
        &[ID, flag_arg("to", ArgForm::Text).about("mid or long; else the next tier")],
        ToolEffect::Adds,
        ADDED_SCHEMA,
    ),
    new_tool(
        Plain,
        "stats",
        "Count memories, by tier and more.",
        &["stats"],
        &[],
        ToolEffect::Reads,
        ANY_SCHEMA,
    ),
    new_tool(Plain, "tags", "Count memories by tag.", &["tags"], &[], ToolEffect::Reads, ANY_SCHEMA),
    new_tool(
        Plain,
        "containers",
        "Count memories by container.",
        &["containers"],
        &[],
        ToolEffect::Reads,
        ANY_SCHEMA,
    ),
    new_tool(
        Plain,
        "link",
        "Link a memory to another.",
        &["link"],
        &[
            word_arg("from", ArgForm::Text),
            word_arg("to", ArgForm::Text),
            flag_arg("kind", ArgForm::Text).about("related_to, supersedes, contradicts or derived_from"),
        ],
        ToolEffect::AddsOnce,
        ANY_SCHEMA,
    ),
    new_tool(
        Plain,
        "unlink",
        "Remove links between two memories.",
        &["unlink"],
        &[word_arg("from", ArgForm::Text), word_arg("to", ArgForm::Text), flag_arg("kind", ArgForm::Text)],
        ToolEffect::ChangesOnce,
        ANY_SCHEMA,
    ),
    new_tool(
        Data,
        "links",
        "Show what a memory is linked to.",
        &["links"],
        &[ID, flag_arg("depth", ArgForm::Integer)],
        ToolEffect::Reads,
        ANY_SCHEMA,
    ),
    new_tool(
        Data,
        "related",
        "Memories linked to one or close to it in meaning.",
        &["related"],
        &[ID, LIMIT],
        ToolEffect::Reads,
        ANY_SCHEMA,
    ),
    new_tool(
        Plain,
        "resolve",
        "Say which of two contradicting memories holds.",
        &["resolve"],
        &[word_arg("winner", ArgForm::Text), word_arg("loser", ArgForm::Text)],
        ToolEffect::ChangesOnce,
        ANY_SCHEMA,
    ),
    new_tool(
        Data,
        "dedupe",
        "Show near-duplicates and how to merge them.",
        &["dedupe"],
        &[CONTAINER],
        ToolEffect::Reads,
        ANY_SCHEMA,
    ),
    new_tool(
        Data,
        "consolidate",
        "Combine memories into one, and archive them.",
        &["consolidate"],
        &[IDS, TITLE, flag_arg("summary", ArgForm::Text).required(), CONTAINER],
        ToolEffect::Any,
        ANY_SCHEMA,
    ),
    new_tool(
        Data,
        "history",
        "Show every change of a memory.",
        &["history"],
        &[ID],
        ToolEffect::Reads,
        ANY_SCHEMA,
    ),
    new_tool(
        Data,
        "archive_list",
        "List archived memories.",
        &["list", "--archived"],
        &[CONTAINER, TAG, MATCH, ARCHIVED_SINCE, ARCHIVED_UNTIL, LIMIT, flag_arg("offset", ArgForm::Integer)],
        ToolEffect::Reads,
        MEMORIES_SCHEMA,
    ),
    new_tool(
        Data,
        "archive_restore",
        "Bring memories back.",
        &["restore"],
        &[IDS],
        ToolEffect::ChangesOnce,
        MEMORIES_SCHEMA,
    ),
    new_tool(
        Data,
        "archive_purge",
        "Show what `memo forget purge` would delete for good; only the user may run it, in a terminal.",
        &["purge", "--dry-run"],
        &[IDS.optional(), CONTAINER, TAG, ARCHIVED_SINCE, ARCHIVED_UNTIL],
        ToolEffect::Reads,
        ANY_SCHEMA,
    ),
    new_tool(
        Data,
        "archive_stats",
        "Count archived memories.",
        &["list", "--archived", "--limit=1"],
        &[],
        ToolEffect::Reads,
        MEMORIES_SCHEMA,
    ),
    new_tool(
        Plain,
        "capabilities",
        "What the daemon knows, runs and lacks.",
        &["status"],
        &[],
        ToolEffect::Reads,
        ANY_SCHEMA,
    ),
    new_tool(
        Data,
        "analyze",
        "The project in brief: memories, changes, commits and its code.",
        &["brief", "--budget=4096"],
        &[],
        ToolEffect::Reads,
        ANY_SCHEMA,
    ),
];
