//! Declares the fields of each kind of row.

use memod_proto::memory::{
    Change, Edge, HistoryResult, LinksResult, MemoriesResult, Memory, RecallResult, Recalled, Related,
    RelatedResult, Tally, TallyResult,
};
use memod_proto::{
    Caveats, ChangedFile, ChangedResult, Hit, OutlineItem, OutlineResult, ReachResult, ReachedDefinition,
    RefUse, RefsResult, SearchResult, WhyCommit, WhyResult,
};
use serde_json::{Value, json};

use super::{RowListing, RowSchema, ScalarField};

/// Memories. TOON has the fields and names of ai-memory 0.6, in which each memory has a title, and `trust`, which is in every
/// format.
pub const MEMORIES: RowSchema = RowSchema {
    rows_name: "memories",
    row_name: "memory",
    columns: &[
        ("id", "/id"),
        ("title", "/title"),
        ("content", "/content"),
        ("container", "/container"),
        ("tags", "/tags"),
        ("tier", "/tier"),
        ("expires_at", "/expires_at"),
        ("priority", "/priority"),
        ("confidence", "/confidence"),
        ("score", "/score"),
        ("source", "/source"),
        ("key", "/key"),
        ("trust", "/trust"),
        ("shared", "/shared"),
        ("scope", "/scope"),
        ("author", "/author"),
        ("agent", "/agent"),
        ("created", "/created"),
        ("updated", "/updated"),
        ("last_access", "/last_access"),
        ("access_count", "/access_count"),
        ("metadata", "/metadata"),
        ("archived_at", "/archived_at"),
        ("archived_why", "/archived_why"),
        ("links", "/links"),
        ("anchors", "/anchors"),
        ("state", "/state"),
    ],
    md_fields: &["id", "created", "container", "priority", "title", "content", "tags", "trust"],
    toon_fields: &[
        "id",
        "title",
        "tier",
        "namespace",
        "priority",
        "confidence",
        "score",
        "access_count",
        "tags",
        "source",
        "created_at",
        "updated_at",
        "trust",
    ],
    compact_fields: &["id", "title", "tier", "namespace", "priority", "score", "tags", "trust"],
    aliases: &[
        ("title", "/title /content"),
        ("namespace", "/container"),
        ("created_at", "/created"),
        ("updated_at", "/updated"),
    ],
    compact_aliases: &[],
};

/// Returns the caveats of an answer about memories as scalars; those of a fresh answer are null.
fn caveat_fields(caveats: &Caveats) -> [ScalarField; 2] {
    let fresh = if caveats.fresh { Value::Null } else { json!(false) };
    [("fresh", fresh), ("reason", json!(caveats.reason))]
}

impl RowListing for RecallResult {
    type Row = Recalled;

    fn list_rows(&self) -> &[Recalled] {
        &self.memories
    }

    fn scalar_fields(&self) -> Vec<ScalarField> {
        caveat_fields(&self.caveats).into()
    }
}

impl RowListing for MemoriesResult {
    type Row = Memory;

    fn list_rows(&self) -> &[Memory] {
        &self.memories
    }

    fn scalar_fields(&self) -> Vec<ScalarField> {
        [("total", json!(self.total))].into_iter().chain(caveat_fields(&self.caveats)).collect()
    }
}

/// Hits of a search.
pub const HITS: RowSchema = RowSchema {
    rows_name: "hits",
    row_name: "hit",
    columns: &[
        ("kind", "/kind"),
        ("classes", "/classes"),
        ("path", "/path"),
        ("cwd_path", "/cwd_path"),
        ("first_line", "/lines/0"),
        ("last_line", "/lines/1"),
        ("symbol", "/symbol"),
        ("title", "/title"),
        ("snippet", "/snippet"),
        ("snippet_line", "/snippet_line"),
        ("copies", "/copies"),
        ("signature", "/signature"),
        ("signature_line", "/signature_line"),
        ("rank", "/rank"),
        ("score", "/score"),
        ("rank_bm25", "/arms/bm25"),
        ("rank_path", "/arms/path"),
        ("rank_symbol", "/arms/symbol"),
        ("rank_knn", "/arms/knn"),
        ("cosine", "/arms/cosine"),
        ("id", "/id"),
        ("view", "/view"),
        ("blob", "/blob"),
        ("explain", "/explain"),
        ("trust", "/trust"),
        ("state", "/state"),
        ("oid", "/commit/oid"),
        ("date", "/commit/date"),
        ("author", "/commit/author"),
        ("container", "/memory/container"),
        ("tags", "/memory/tags"),
        ("created", "/memory/created"),
    ],
    md_fields: &["kind", "path", "first_line", "last_line", "title", "score", "trust", "snippet"],
    toon_fields: &[
        "kind",
        "path",
        "first_line",
        "last_line",
        "title",
        "score",
        "id",
        "state",
        "trust",
        "snippet",
    ],
    compact_fields: &["kind", "path", "first_line", "last_line", "title", "score", "trust"],
    aliases: &[],
    compact_aliases: &[("title", "/title /snippet")],
};

impl RowListing for SearchResult {
    type Row = Hit;

    fn list_rows(&self) -> &[Hit] {
        &self.hits
    }

    fn scalar_fields(&self) -> Vec<ScalarField> {
        vec![
            ("mode", json!(self.mode)),
            ("total", json!(self.total)),
            ("fresh", json!(self.fresh)),
            ("reason", json!(self.reason)),
            ("corrected", json!(self.corrected)),
            ("degraded", text_or_null(&self.degraded.join(", "))),
            ("query", json!(self.query)),
        ]
    }
}

/// Tags and containers, each with its count.
pub const NAME_COUNTS: RowSchema = RowSchema {
    rows_name: "names",
    row_name: "entry",
    columns: &[("name", "/name"), ("memories", "/memories")],
    md_fields: &["name", "memories"],
    toon_fields: &["name", "memories"],
    compact_fields: &["name", "memories"],
    aliases: &[],
    compact_aliases: &[],
};

impl RowListing for TallyResult {
    type Row = Tally;

    fn list_rows(&self) -> &[Tally] {
        &self.names
    }

    fn scalar_fields(&self) -> Vec<ScalarField> {
        caveat_fields(&self.caveats).into()
    }
}

/// Changes of a memory.
pub const MEMORY_CHANGES: RowSchema = RowSchema {
    rows_name: "changes",
    row_name: "change",
    columns: &[
        ("at", "/at"),
        ("action", "/action"),
        ("author", "/author"),
        ("source", "/source"),
        ("fields", "/fields"),
    ],
    md_fields: &["at", "action", "author", "source", "fields"],
    toon_fields: &["at", "action", "author", "source", "fields"],
    compact_fields: &["at", "action", "author"],
    aliases: &[],
    compact_aliases: &[],
};

impl RowListing for HistoryResult {
    type Row = Change;

    fn list_rows(&self) -> &[Change] {
        &self.changes
    }

    fn scalar_fields(&self) -> Vec<ScalarField> {
        [("id", json!(self.id))].into_iter().chain(caveat_fields(&self.caveats)).collect()
    }
}

/// Uses of a definition.
pub const USES: RowSchema = RowSchema {
    rows_name: "uses",
    row_name: "use",
    columns: &[
        ("path", "/path"),
        ("cwd_path", "/cwd_path"),
        ("line", "/line"),
        ("column", "/column"),
        ("within", "/within"),
        ("certainty", "/certainty"),
        ("text", "/text"),
    ],
    md_fields: &["path", "line", "within", "certainty", "text"],
    toon_fields: &["path", "line", "within", "certainty", "text"],
    compact_fields: &["path", "line", "within"],
    aliases: &[],
    compact_aliases: &[],
};

impl RowListing for RefsResult {
    type Row = RefUse;

    fn list_rows(&self) -> &[RefUse] {
        &self.uses
    }

    fn scalar_fields(&self) -> Vec<ScalarField> {
        vec![
            ("exact", json!(self.counts.exact)),
            ("likely", json!(self.counts.likely)),
            ("by_name", json!(self.counts.by_name)),
            ("cut", json!(self.cut)),
            ("fresh", json!(self.fresh)),
            ("reason", json!(self.reason)),
        ]
    }
}

/// Callers, callees and dependents of a definition.
pub const RELATED_DEFINITIONS: RowSchema = RowSchema {
    rows_name: "definitions",
    row_name: "definition",
    columns: &[
        ("path", "/path"),
        ("cwd_path", "/cwd_path"),
        ("title", "/title"),
        ("start_line", "/lines/0"),
        ("end_line", "/lines/1"),
        ("line", "/line"),
        ("text", "/text"),
        ("depth", "/depth"),
        ("via", "/via"),
        ("certainty", "/certainty"),
        ("is_test", "/is_test"),
    ],
    md_fields: &["path", "start_line", "title", "depth", "certainty"],
    toon_fields: &["path", "start_line", "end_line", "title", "depth", "certainty", "is_test"],
    compact_fields: &["path", "start_line", "title"],
    aliases: &[],
    compact_aliases: &[],
};

impl RowListing for ReachResult {
    type Row = ReachedDefinition;

    fn list_rows(&self) -> &[ReachedDefinition] {
        &self.found
    }

    fn scalar_fields(&self) -> Vec<ScalarField> {
        vec![
            ("total", json!(self.n_found)),
            ("tests", json!(self.n_tests)),
            ("cut", json!(self.cut)),
            ("fresh", json!(self.fresh)),
            ("reason", json!(self.reason)),
        ]
    }
}

/// Definitions of a file, or sections of a document.
pub const OUTLINE_ITEMS: RowSchema = RowSchema {
    rows_name: "items",
    row_name: "item",
    columns: &[
        ("path", "/path"),
        ("cwd_path", "/cwd_path"),
        ("title", "/title"),
        ("start_line", "/lines/0"),
        ("end_line", "/lines/1"),
        ("depth", "/depth"),
        ("text", "/text"),
    ],
    md_fields: &["path", "start_line", "title", "text"],
    toon_fields: &["path", "start_line", "end_line", "depth", "text"],
    compact_fields: &["start_line", "title"],
    aliases: &[],
    compact_aliases: &[],
};

impl RowListing for OutlineResult {
    type Row = OutlineItem;

    fn list_rows(&self) -> &[OutlineItem] {
        &self.items
    }

    fn scalar_fields(&self) -> Vec<ScalarField> {
        vec![("total", json!(self.n_found)), ("fresh", json!(self.fresh)), ("reason", json!(self.reason))]
    }
}

/// Files that changed.
pub const CHANGED_FILES: RowSchema = RowSchema {
    rows_name: "files",
    row_name: "file",
    columns: &[
        ("path", "/path"),
        ("cwd_path", "/cwd_path"),
        ("status", "/status"),
        ("from", "/from"),
        ("cwd_from", "/cwd_from"),
        ("added", "/symbols/added"),
        ("changed", "/symbols/changed"),
        ("removed", "/symbols/removed"),
    ],
    md_fields: &["status", "path", "from", "added", "changed", "removed"],
    toon_fields: &["status", "path", "from", "added", "changed", "removed"],
    compact_fields: &["status", "path"],
    aliases: &[],
    compact_aliases: &[],
};

impl RowListing for ChangedResult {
    type Row = ChangedFile;

    fn list_rows(&self) -> &[ChangedFile] {
        &self.files
    }

    fn scalar_fields(&self) -> Vec<ScalarField> {
        vec![
            ("total", json!(self.total)),
            ("base", json!(self.base.as_ref().map(|base| &base.oid))),
            ("complete", json!(self.complete)),
            ("fresh", json!(self.fresh)),
            ("reason", json!(self.reason)),
            ("cut", json!(self.cut)),
        ]
    }
}

/// Commits of `memo why`.
pub const COMMITS: RowSchema = RowSchema {
    rows_name: "commits",
    row_name: "commit",
    columns: &[
        ("oid", "/oid"),
        ("date", "/date"),
        ("author", "/author"),
        ("subject", "/subject"),
        ("body", "/body"),
        ("path", "/path"),
        ("lines", "/lines"),
    ],
    md_fields: &["oid", "date", "author", "subject", "lines"],
    toon_fields: &["oid", "date", "author", "subject", "path", "lines", "body"],
    compact_fields: &["oid", "date", "subject", "lines"],
    aliases: &[],
    compact_aliases: &[],
};

impl RowListing for WhyResult {
    type Row = WhyCommit;

    fn list_rows(&self) -> &[WhyCommit] {
        &self.commits
    }

    fn scalar_fields(&self) -> Vec<ScalarField> {
        vec![
            ("path", json!(self.path)),
            ("symbol", json!(self.symbol)),
            ("uncommitted", text_or_null(&super::row_formats::value_to_text(&json!(self.uncommitted)))),
            ("more", json!(self.more)),
            ("complete", json!(self.complete)),
            ("fresh", json!(self.fresh)),
            ("reason", json!(self.reason)),
        ]
    }
}

fn text_or_null(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { Value::from(text) }
}

/// Links between memories.
pub const MEMORY_LINKS: RowSchema = RowSchema {
    rows_name: "links",
    row_name: "link",
    columns: &[("from", "/from"), ("kind", "/kind"), ("to", "/to"), ("linked", "/linked")],
    md_fields: &["from", "kind", "to"],
    toon_fields: &["from", "kind", "to", "linked"],
    compact_fields: &["from", "kind", "to"],
    aliases: &[],
    compact_aliases: &[],
};

impl RowListing for LinksResult {
    type Row = Edge;

    fn list_rows(&self) -> &[Edge] {
        &self.links
    }

    fn scalar_fields(&self) -> Vec<ScalarField> {
        [("more", json!(self.more))].into_iter().chain(caveat_fields(&self.caveats)).collect()
    }
}

/// Memories that are related to another memory.
pub const RELATED_MEMORIES: RowSchema = RowSchema {
    rows_name: "memories",
    row_name: "memory",
    columns: &[
        ("id", "/id"),
        ("container", "/container"),
        ("created", "/created"),
        ("line", "/line"),
        ("cosine", "/cosine"),
        ("relations", "/relations"),
    ],
    md_fields: &["id", "cosine", "relations", "container", "line"],
    toon_fields: &["id", "line", "cosine", "relations"],
    compact_fields: &["id", "line", "cosine"],
    aliases: &[],
    compact_aliases: &[],
};

impl RowListing for RelatedResult {
    type Row = Related;

    fn list_rows(&self) -> &[Related] {
        &self.memories
    }

    fn scalar_fields(&self) -> Vec<ScalarField> {
        [("of", json!(self.id))].into_iter().chain(caveat_fields(&self.caveats)).collect()
    }
}
