//! Reads the database of memo: one table; times in milliseconds; origins of imports in `tags`.

use memod_proto::exchange::Draft;

use super::source_row::{SourceRow, add_origin};
use super::source_table::{SourceItem, SourceTable};

pub(super) const TABLES: &[SourceTable] = &[SourceTable {
    name: "memories",
    required_columns: &["id", "content", "container_tag", "created_at"],
    optional_columns: &[
        "tags",
        "type",
        "updated_at",
        "metadata",
        "display_name",
        "user_name",
        "user_email",
        "project_path",
        "project_name",
        "git_repo_url",
    ],
    may_be_absent: false,
    read: read_memory,
}];

/// Prefix of the tag of a named container; other containers are projects, named by a hash.
const NAMED_CONTAINER_PREFIX: &str = "memo_container_";

fn read_memory(fields: &SourceRow<'_>) -> Result<SourceItem, String> {
    let id = fields.require_text("id")?;
    let container = fields.require_text("container_tag")?;
    let kind = fields.read_text("type")?;
    let tags = fields.read_text("tags")?;
    let is_chunk = kind.as_deref() == Some("doc_chunk");
    // An import key of memo equals memod's except for the prefix `import:`, so memod's next import of the same document replaces
    // these memories.
    let key = tags.clone().filter(|_| is_chunk).map(|source| match source.starts_with("repo-map:") {
        true => source,
        false => format!("import:{source}"),
    });
    let mut metadata = fields.read_object("metadata")?;
    let more = [
        ("container", Some(container.clone())),
        ("type", kind),
        ("project", fields.read_text("project_path")?),
        ("repository", fields.read_text("git_repo_url")?),
    ];
    add_origin(&mut metadata, "memo", &id, &more);
    let author = match (fields.read_text("user_name")?, fields.read_text("user_email")?) {
        (Some(name), Some(email)) => Some(format!("{name} <{email}>")),
        (name, email) => name.or(email),
    };
    Ok(SourceItem::Memory(Box::new(Draft {
        original: Some(format!("memo:{id}")),
        content: fields.require_text("content")?,
        container: container.strip_prefix(NAMED_CONTAINER_PREFIX).map(str::to_owned),
        tags: tags.filter(|_| !is_chunk).map(|tags| super::source_row::parse_tags(&tags)).unwrap_or_default(),
        author: author.filter(|author| !author.trim().is_empty()),
        created: fields.read_time("created_at", 1_000.0)?,
        updated: fields.read_time("updated_at", 1_000.0)?,
        metadata,
        key,
        ..Draft::default()
    })))
}
