//! Lists and reads resources: memories, and the documents of the worktree.
//!
//! Only indexed files can be read. So files that git ignores, that were refused as secret, or that lie behind a symbolic link
//! cannot, and credentials are replaced as in hits.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memod_base::paths::{canonicalize_path, open_regular};
use memod_text::decode_text;
use memod_text::redact::redact;
use memod_text::secrets::Syntax;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use rmcp::model::{Resource, ResourceTemplate};
use serde_json::Value;

use super::verbs::{VerbAnswer, VerbRunner};

/// Characters that must be escaped in the path of a URI (RFC 3986, section 3.3); `%` itself begins an escape.
const ESCAPED_CHARS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Size of the largest document that is read, bytes. Unless configured otherwise, larger files are not indexed.
const MAX_DOCUMENT_BYTES: u64 = 1 << 20;
/// Largest number of characters of a path in a message.
const MAX_PATH_CHARS: usize = 300;

/// Number of memories and documents in one page of the list.
pub(super) const PAGE_SIZE: usize = 100;

/// Template of the URI of a memory.
pub(super) const MEMORY_TEMPLATE: &str = "memory://{id}";

/// Why a resource cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ResourceError {
    /// The resource does not exist, or must not be read.
    #[error("{0}")]
    NotFound(String),
    /// It is unknown whether the resource exists, because a step failed.
    #[error("{0}")]
    Failed(String),
}

/// The content of a resource.
#[derive(Debug)]
pub(super) struct ResourceContent {
    pub(super) mime_type: &'static str,
    pub(super) text: String,
}

/// Returns the templates of the URIs of resources.
pub(super) fn list_templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(MEMORY_TEMPLATE, "memory")
            .with_description("A memory, by its id or the beginning of it")
            .with_mime_type("text/markdown"),
        ResourceTemplate::new("file:///{+path}", "file")
            .with_description("An indexed file of this worktree, by its absolute path"),
    ]
}

/// Returns all memories, last changed first, and then all documents.
///
/// # Errors
/// When a verb fails, for example because the daemon does not answer.
pub(super) fn list_resources(verbs: &dyn VerbRunner) -> Result<Vec<Resource>, ResourceError> {
    let memories = run_verb(verbs, &["list", "--all", "--sort=updated"])?;
    let memories = array_field(memories.json.as_ref(), "memories").iter().filter_map(to_memory_resource);
    let mut all: Vec<Resource> = memories.collect();
    let root = worktree_root(verbs)?;
    let documents = list_indexed_files(verbs)?.into_iter().filter(|path| document_mime_type(path).is_some());
    all.extend(documents.map(|path| to_document_resource(&root, &path)));
    Ok(all)
}

/// Returns at most `most` ids that begin with `start`, out of the 1,000 memories that were changed last; last changed first.
pub(super) fn complete_memory_ids(
    verbs: &dyn VerbRunner,
    start: &str,
    most: usize,
) -> Result<Vec<String>, ResourceError> {
    let answer = run_verb(verbs, &["list", "--sort=updated", "--limit=1000"])?;
    let ids = array_field(answer.json.as_ref(), "memories").iter().filter_map(|memory| memory["id"].as_str());
    Ok(ids.filter(|id| id.starts_with(start)).take(most).map(str::to_owned).collect())
}

/// Reads the resource with this URI.
///
/// # Errors
/// When the URI names no memory and no indexed file, or reading fails.
pub(super) fn read_resource(verbs: &dyn VerbRunner, uri: &str) -> Result<ResourceContent, ResourceError> {
    if let Some(id) = uri.strip_prefix("memory://") {
        return read_memory(verbs, id);
    }
    let path = uri.strip_prefix("file://localhost/").or_else(|| uri.strip_prefix("file:///"));
    let path = path
        .ok_or_else(|| ResourceError::NotFound("unknown URI: use memory://ID or file:///PATH".to_owned()))?;
    let path = percent_decode_str(path).decode_utf8();
    let path = path.map_err(|_| ResourceError::NotFound("the path is not UTF-8".to_owned()))?;
    read_file(verbs, &path)
}

fn read_memory(verbs: &dyn VerbRunner, id: &str) -> Result<ResourceContent, ResourceError> {
    let is_id = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_id {
        return Err(ResourceError::NotFound(format!("not the id of a memory: {id}")));
    }
    let answer = verbs.run_verb(["get", "--", id].map(str::to_owned).to_vec(), None);
    if let Some(failure) = answer.failure {
        return Err(ResourceError::NotFound(failure.to_string()));
    }
    let memory = array_field(answer.json.as_ref(), "memories").first();
    let memory = memory.ok_or_else(|| ResourceError::NotFound(format!("no memory {id}")))?;
    Ok(ResourceContent { mime_type: "text/markdown", text: render_memory_as_markdown(memory) })
}

/// Returns a memory as Markdown with front matter.
fn render_memory_as_markdown(memory: &Value) -> String {
    let mut text = "---\n".to_owned();
    for key in [
        "id",
        "title",
        "container",
        "tags",
        "tier",
        "priority",
        "author",
        "created",
        "updated",
        "state",
        "trust",
        "conflict",
    ] {
        let value = &memory[key];
        let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        if !is_empty {
            text += &format!("{key}: {value}\n"); // JSON is YAML
        }
    }
    format!("{text}---\n\n{}\n", memory["content"].as_str().unwrap_or_default())
}

fn read_file(verbs: &dyn VerbRunner, path: &str) -> Result<ResourceContent, ResourceError> {
    let path_on_disk = if cfg!(windows) { PathBuf::from(path) } else { Path::new("/").join(path) };
    let shown: String = path_on_disk.display().to_string().chars().take(MAX_PATH_CHARS).collect();
    let root = worktree_root(verbs)?;
    let relative = path_on_disk
        .strip_prefix(&root)
        .ok()
        .and_then(Path::to_str)
        .ok_or_else(|| not_indexed_error(&shown))?;
    let relative = if cfg!(windows) { relative.replace('\\', "/") } else { relative.to_owned() };
    // The list has no path with `..`, no secret file, and no file behind a symbolic link.
    if !list_indexed_files(verbs)?.contains(&relative) {
        return Err(not_indexed_error(&shown));
    }
    // Refuse a link or FIFO that has replaced the file since it was listed.
    let file = open_regular(&path_on_disk, false).map_err(|error| read_error(&shown, &error))?;
    // A directory on the path may have become a link since.
    if canonicalize_path(&path_on_disk).ok().as_ref() != Some(&path_on_disk) {
        return Err(not_indexed_error(&shown));
    }
    let bytes = read_limited_file(file).map_err(|error| read_error(&shown, &error))?;
    let mime_type = document_mime_type(&relative).unwrap_or("text/plain");
    // Without a grammar it is unknown which words of code are values, so `Syntax::Prose` is used, which replaces more words.
    let text = decode_text(bytes).ok_or_else(|| not_indexed_error(&shown))?;
    let text = redact(&text, Syntax::Prose).into_owned();
    Ok(ResourceContent { mime_type, text })
}

/// Returns the error for a path that is not indexed.
fn not_indexed_error(shown: &str) -> ResourceError {
    ResourceError::NotFound(format!("not an indexed file of this worktree: {shown}"))
}

/// Returns the error for a file that cannot be read.
fn read_error(shown: &str, error: &io::Error) -> ResourceError {
    ResourceError::Failed(format!("cannot read {shown}: {error}"))
}

/// Reads a whole file. A part of a file is never returned, because a cut credential would not be recognised.
///
/// # Errors
/// When reading fails, or the file is larger than [`MAX_DOCUMENT_BYTES`].
fn read_limited_file(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_DOCUMENT_BYTES {
        return Err(io::Error::other(format!("larger than {} MiB", MAX_DOCUMENT_BYTES >> 20)));
    }
    Ok(bytes)
}

/// Returns the indexed files, relative to the top of the worktree.
fn list_indexed_files(verbs: &dyn VerbRunner) -> Result<Vec<String>, ResourceError> {
    run_verb(verbs, &["sync", "--wait-ms=5000"])?;
    let status = run_verb(verbs, &["status", "--files"])?;
    let paths = array_field(status.json.as_ref(), "files").iter().filter_map(Value::as_str);
    Ok(paths.map(str::to_owned).collect())
}

fn run_verb(verbs: &dyn VerbRunner, words: &[&str]) -> Result<VerbAnswer, ResourceError> {
    let answer = verbs.run_verb(words.iter().map(ToString::to_string).collect(), None);
    match answer.failure {
        Some(failure) => Err(ResourceError::Failed(failure.to_string())),
        None => Ok(answer),
    }
}

fn worktree_root(verbs: &dyn VerbRunner) -> Result<PathBuf, ResourceError> {
    verbs.worktree_root().map_err(|failure| ResourceError::Failed(failure.to_string()))
}

fn array_field<'a>(result: Option<&'a Value>, key: &str) -> &'a [Value] {
    result.and_then(|result| result[key].as_array()).map_or(&[], Vec::as_slice)
}

fn to_memory_resource(memory: &Value) -> Option<Resource> {
    let id = memory["id"].as_str()?;
    let line =
        memory["title"].as_str().or_else(|| memory["content"].as_str()?.lines().next()).unwrap_or_default();
    let title: String = line.chars().take(80).collect();
    Some(Resource::new(format!("memory://{id}"), id).with_title(title).with_mime_type("text/markdown"))
}

fn to_document_resource(root: &Path, path: &str) -> Resource {
    let whole = root.join(path).display().to_string().replace('\\', "/");
    let uri = format!("file:///{}", utf8_percent_encode(whole.trim_start_matches('/'), ESCAPED_CHARS));
    Resource::new(uri, path).with_mime_type(document_mime_type(path).unwrap_or("text/plain"))
}

/// Returns the media type of a document by the ending of its name; `None` for other files. Notebooks are not documents, because
/// most of their text is output.
fn document_mime_type(path: &str) -> Option<&'static str> {
    const TYPES: [(&str, &str); 8] = [
        (".md", "text/markdown"),
        (".mdx", "text/markdown"),
        (".markdown", "text/markdown"),
        (".rst", "text/x-rst"),
        (".rest", "text/x-rst"),
        (".adoc", "text/asciidoc"),
        (".asciidoc", "text/asciidoc"),
        (".asc", "text/asciidoc"),
    ];
    let name = path.to_lowercase();
    TYPES.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, mime_type)| *mime_type)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn what_took_the_place_of_a_file_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link, fifo] = ["file", "link", "fifo"].map(|name| dir.path().join(name));
        std::fs::write(&file, "text").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        assert_eq!(read_limited_file(open_regular(&file, false).unwrap()).unwrap(), b"text");
        for path in [&link, &fifo, &dir.path().to_owned()] {
            assert!(open_regular(path, false).is_err(), "{}", path.display());
        }
        std::fs::write(&file, vec![b'x'; (1 << 20) + 1]).unwrap();
        assert!(
            read_limited_file(open_regular(&file, false).unwrap()).is_err(),
            "half a file is not the file"
        );
    }
}
