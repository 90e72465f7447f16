//! Reads the database of memo: one table; times in milliseconds; origins of imports in `tags`.

use memod_proto::exchange::Draft;

use super::row::{Fields, imported};
use super::table::{Read, Table};

pub(super) const TABLES: &[Table] = &[Table {
    name: "memories",
    needed: &["id", "content", "container_tag", "created_at"],
    optional: &[
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
    may_lack: false,
    read,
}];

/// Prefix of the tag of a named container; other containers are projects, named by a hash.
const NAMED: &str = "memo_container_";

fn read(fields: &Fields<'_>) -> Result<Read, String> {
    let id = fields.needed("id")?;
    let container = fields.needed("container_tag")?;
    let kind = fields.text("type")?;
    let tags = fields.text("tags")?;
    let is_chunk = kind.as_deref() == Some("doc_chunk");
    // Its keys equal ours except for one word, so the next import of the same document replaces these memories.
    let key = tags.clone().filter(|_| is_chunk).map(|source| match source.starts_with("repo-map:") {
        true => source,
        false => format!("import:{source}"),
    });
    let mut metadata = fields.object("metadata")?;
    let more = [
        ("container", Some(container.clone())),
        ("type", kind),
        ("project", fields.text("project_path")?),
        ("repository", fields.text("git_repo_url")?),
    ];
    imported(&mut metadata, "memo", &id, &more);
    let author = match (fields.text("user_name")?, fields.text("user_email")?) {
        (Some(name), Some(email)) => Some(format!("{name} <{email}>")),
        (name, email) => name.or(email),
    };
    Ok(Read::Memory(Box::new(Draft {
        original: Some(format!("memo:{id}")),
        content: fields.needed("content")?,
        container: container.strip_prefix(NAMED).map(str::to_owned),
        tags: tags.filter(|_| !is_chunk).map(|tags| super::row::tags(&tags)).unwrap_or_default(),
        author: author.filter(|author| !author.trim().is_empty()),
        created: fields.time("created_at", 1_000.0)?,
        updated: fields.time("updated_at", 1_000.0)?,
        metadata,
        key,
        ..Draft::default()
    })))
}
