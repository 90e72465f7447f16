//! Lists the verbs whose results are rows.

use memod_terminal::RowsArgs;
use memod_terminal::rows::{
    CHANGED_FILES, COMMITS, HITS, MEMORIES, MEMORY_CHANGES, MEMORY_LINKS, NAME_COUNTS, OUTLINE_ITEMS,
    RELATED_DEFINITIONS, RELATED_MEMORIES, RowSchema, USES,
};

use super::memo_verb::MemoVerb;
use super::verb_families::{LinkVerb, TagVerb, VerbFamily};

impl MemoVerb {
    /// Returns the flags `--format` and `--fields` of the verb; `None` for a verb that lists nothing.
    pub(crate) fn rows_args(&self) -> Option<&RowsArgs> {
        Some(match self {
            Self::Search(typed) => &typed.find.rows,
            Self::Explain(typed) => &typed.find.rows,
            Self::Changed(typed) => &typed.rows,
            Self::Why(typed) => &typed.rows,
            Self::Outline(typed) => &typed.rows,
            Self::Refs(typed) => &typed.list.rows,
            Self::Callers(typed) | Self::Callees(typed) | Self::Implements(typed) => &typed.list.rows,
            Self::Impact(typed) => &typed.list.rows,
            Self::Tests(typed) => &typed.list.rows,
            Self::Get(typed) => &typed.rows,
            Self::List(typed) => &typed.rows,
            Self::Recall(typed) => &typed.rows,
            Self::Tag(VerbFamily { verb: TagVerb::List(typed) | TagVerb::Containers(typed), .. }) => typed,
            Self::History(typed) => &typed.rows,
            Self::Related(typed) => &typed.rows,
            Self::Link(VerbFamily { verb: LinkVerb::List(typed), .. }) => &typed.rows,
            _ => return None,
        })
    }
}

/// Returns the schema of a verb's rows; `None` for a verb that lists nothing.
pub(crate) fn find_row_schema(verb: &str) -> Option<&'static RowSchema> {
    Some(match verb {
        "search" | "explain" => &HITS,
        "changed" => &CHANGED_FILES,
        "why" => &COMMITS,
        "outline" => &OUTLINE_ITEMS,
        "refs" => &USES,
        "callers" | "callees" | "impact" | "tests" | "implements" => &RELATED_DEFINITIONS,
        "get" | "list" | "recall" => &MEMORIES,
        "tag list" | "tag containers" => &NAME_COUNTS,
        "history" => &MEMORY_CHANGES,
        "related" => &RELATED_MEMORIES,
        "link list" => &MEMORY_LINKS,
        _ => return None,
    })
}
