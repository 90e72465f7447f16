//! Parses and writes the file of a shared memory.
//!
//! A file is a front matter between two lines `---`, and the text. The front matter is a small part of YAML: `key: value`, or
//! `key:` with a line `  - item` for each item, or a comment. A value is plain words, or JSON, which is YAML, too. The same memory
//! is written as the same bytes everywhere: keys have one order, tags and links are sorted, lines end with LF.

mod conflict;
mod front;
mod three_way;

use std::fmt::Write as _;

use memod_base::types::{MAX_MEMORY_FILE_BYTES, MEMORY_FILES_DIR, format_rfc3339};
use memod_proto::anchor::Anchor;
use memod_proto::memory::{LinkKind, Tier};
use serde_json::{Map, Value};

use self::front::{FrontEntry, SplitFile, plain_or_json};
use super::{RefusedValue, anchor, fields, id, time};

pub use self::conflict::{
    may_have_conflict_markers, parse_conflict_sides, parse_own_side_first, render_conflict,
};
pub use self::three_way::{MergeOutcome, merge_versions};

/// Directory of the files, from the top of a worktree.
pub const DIR: &str = MEMORY_FILES_DIR;
/// Ending of the names of the files.
const ENDING: &str = ".md";
/// Largest file, bytes.
pub const MAX_FILE_BYTES: u64 = MAX_MEMORY_FILE_BYTES;
/// Line before and after the front matter.
const FENCE: &str = "---";

/// The content of the file of a memory. Nothing in it belongs to one machine or one user alone.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of `proto::memory::Memory`")]
pub struct MemoryFile {
    pub title: Option<String>,
    pub container: String,
    pub tags: Vec<String>,
    pub tier: Tier,
    pub priority: u8,
    pub confidence: f64,
    pub author: String,
    pub agent: Option<String>,
    /// Unix ms.
    pub created: i64,
    /// Unix ms.
    pub updated: i64,
    pub anchors: Vec<Anchor>,
    /// Links from this memory, sorted and each once.
    pub links: Vec<(LinkKind, String)>,
    pub metadata: Map<String, Value>,
    /// Keys that this version of memod does not know, with their values as lines.
    pub others: Vec<(String, String)>,
    /// Lines of the front matter that begin with a `#`. They are written before all keys.
    pub comments: Vec<String>,
    pub content: String,
}

impl MemoryFile {
    /// Returns whether two files are the same, apart from the time of the last update.
    pub fn equals_except_updated(&self, other: &Self) -> bool {
        Self { updated: 0, ..self.clone() } == Self { updated: 0, ..other.clone() }
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    /// When a line does not have the front matter's form, a required key is missing, a value is not allowed, or the memory's text
    /// is empty, has a private part or looks like a credential.
    pub fn parse(text: &str) -> Result<Self, RefusedValue> {
        let SplitFile { entries, comments, content } = front::split_file(text)?;
        let mut file = Self {
            container: fields::DEFAULT_CONTAINER.to_owned(),
            priority: fields::DEFAULT_PRIORITY,
            confidence: 1.0,
            ..Self::default()
        };
        let (mut created, mut updated) = (None, None);
        for entry in entries {
            match entry.key {
                "created" => created = Some(time::parse_rfc3339("created", &entry.parse_text()?)?),
                "updated" => updated = Some(time::parse_rfc3339("updated", &entry.parse_text()?)?),
                _ => file.set_field(&entry)?,
            }
        }
        file.created = created.ok_or_else(|| missing_key_error("created"))?;
        file.updated = updated.unwrap_or(file.created);
        if file.author.is_empty() {
            return Err(missing_key_error("author"));
        }
        fields::check_public_text("file", &comments.join("\n"))?;
        file.comments = comments.into_iter().map(str::to_owned).collect();
        let kept = fields::validate_content(content, false)?;
        check_no_private(kept.n_redacted, "content")?;
        file.content = kept.text;
        file.links.sort();
        file.links.dedup();
        Ok(file)
    }

    /// Sets the field that an entry of the front matter has.
    fn set_field(&mut self, entry: &FrontEntry<'_>) -> Result<(), RefusedValue> {
        match entry.key {
            "title" => {
                let kept = fields::validate_title(&entry.parse_text()?, false)?;
                check_no_private(kept.as_ref().map_or(0, |kept| kept.n_redacted), "title")?;
                self.title = kept.map(|kept| kept.text);
            }
            "container" => self.container = fields::validate_container(&entry.parse_text()?)?,
            "tags" => self.tags = fields::validate_tags(&entry.parse_text_list()?)?,
            "tier" => {
                let word = entry.parse_text()?;
                self.tier =
                    Tier::parse(&word).ok_or_else(|| entry.value_error("is none of short, mid, long"))?;
            }
            "priority" => self.priority = fields::validate_priority(entry.parse_number()?)?,
            "confidence" => self.confidence = fields::validate_confidence(entry.parse_number()?)?,
            "author" => self.author = fields::validate_name("author", &entry.parse_text()?)?,
            "agent" => self.agent = Some(fields::validate_name("agent", &entry.parse_text()?)?),
            "about" => {
                self.anchors =
                    entry.parse_json_list()?.into_iter().map(parse_anchor).collect::<Result<_, _>>()?;
                anchor::check_anchor_count(&self.anchors)?;
            }
            "metadata" => {
                let Value::Object(metadata) = entry.parse_json()? else {
                    return Err(entry.value_error("is not a JSON object"));
                };
                let kept = fields::validate_metadata(metadata.clone(), false)?;
                check_no_private(usize::from(kept != metadata), "metadata")?;
                self.metadata = kept;
            }
            key => match LinkKind::parse(key) {
                Some(kind) => {
                    for target in entry.parse_text_list()? {
                        self.links.push((kind, id::parse_id(&target)?));
                    }
                }
                None => {
                    fields::check_public_text("file", &entry.lines)?;
                    self.others.push((key.to_owned(), entry.lines.clone()));
                }
            },
        }
        Ok(())
    }

    /// Returns our side of a conflict with the fields that only their side has. If one side cannot be parsed, returns the other.
    ///
    /// # Errors
    /// When neither side can be parsed, or both together exceed a limit of a memory.
    pub fn combine_sides(ours: &str, theirs: &str) -> Result<Self, RefusedValue> {
        match [ours, theirs].map(Self::parse) {
            [Ok(mut ours), Ok(theirs)] => {
                ours.add_missing_fields(theirs);
                let is_allowed = Self::parse(&ours.render()).map(drop);
                is_allowed
                    .map_err(|why| why.with_hint("choose a side with --ours or --theirs, then change it"))?;
                Ok(ours)
            }
            [ours, theirs] => ours.or(theirs),
        }
    }

    /// Adds the tags, links, anchors, metadata, keys and comments that only another version has.
    fn add_missing_fields(&mut self, other: Self) {
        let Self { tags, anchors, links, metadata, others, comments, .. } = other;
        self.tags.extend(tags);
        self.tags.sort();
        self.tags.dedup();
        self.links.extend(links);
        self.links.sort();
        self.links.dedup();
        self.anchors = anchor::without_duplicate_anchors(self.anchors.iter().chain(&anchors));
        for (key, value) in metadata {
            self.metadata.entry(key).or_insert(value);
        }
        self.others.extend(
            others
                .into_iter()
                .filter(|(key, _)| !self.others.iter().any(|(own, _)| own == key))
                .collect::<Vec<_>>(),
        );
        self.comments.extend(
            comments.into_iter().filter(|comment| !self.comments.contains(comment)).collect::<Vec<_>>(),
        );
    }

    /// Returns the lines of the front matter that are no fields of the memory: comments, and keys that this version of memod does
    /// not know.
    pub fn remarks(&self) -> String {
        let comments = self.comments.iter().map(|comment| format!("{comment}\n"));
        comments.chain(self.others.iter().map(|(key, lines)| format!("{key}:{lines}\n"))).collect()
    }

    /// Returns a file that has only the lines of [`Self::remarks`], and links.
    ///
    /// # Errors
    /// When a line does not have the front matter's form.
    pub fn from_remarks(remarks: &str, links: Vec<(LinkKind, String)>) -> Result<Self, RefusedValue> {
        let text = format!("{FENCE}\n{remarks}{FENCE}\n");
        let SplitFile { entries, comments, .. } = front::split_file(&text)?;
        Ok(Self {
            comments: comments.into_iter().map(str::to_owned).collect(),
            others: entries.into_iter().map(|entry| (entry.key.to_owned(), entry.lines)).collect(),
            links,
            ..Self::default()
        })
    }

    /// Returns the text of the file.
    pub fn render(&self) -> String {
        let mut text = format!("{FENCE}\n");
        for comment in &self.comments {
            let _ = writeln!(text, "{comment}");
        }
        if let Some(title) = &self.title {
            write_value(&mut text, "title", &plain_or_json(title));
        }
        if self.container != fields::DEFAULT_CONTAINER {
            write_value(&mut text, "container", &plain_or_json(&self.container));
        }
        write_value(&mut text, "tier", self.tier.as_str());
        write_value(&mut text, "priority", &self.priority.to_string());
        write_value(&mut text, "confidence", &self.confidence.to_string());
        write_value(&mut text, "author", &plain_or_json(&self.author));
        if let Some(agent) = &self.agent {
            write_value(&mut text, "agent", &plain_or_json(agent));
        }
        write_value(&mut text, "created", &format_rfc3339(self.created));
        write_value(&mut text, "updated", &format_rfc3339(self.updated));
        if !self.metadata.is_empty() {
            write_value(&mut text, "metadata", &Value::Object(self.metadata.clone()).to_string());
        }
        write_list(&mut text, "tags", self.tags.iter().map(|tag| plain_or_json(tag)).collect());
        write_list(&mut text, "about", self.anchors.iter().map(render_anchor).collect());
        for kind in LinkKind::ALL {
            let targets = self.links.iter().filter(|(of, _)| *of == kind).map(|(_, target)| target.clone());
            write_list(&mut text, kind.as_str(), targets.collect());
        }
        for (key, lines) in &self.others {
            let _ = writeln!(text, "{key}:{lines}");
        }
        let _ = write!(text, "{FENCE}\n\n{}\n", self.content);
        text
    }
}

/// Writes a key with one value.
fn write_value(text: &mut String, key: &str, value: &str) {
    let _ = writeln!(text, "{key}: {value}"); // writing to a string cannot fail
}

/// Writes a key with a list of items, if there are any.
fn write_list(text: &mut String, key: &str, items: Vec<String>) {
    if !items.is_empty() {
        let _ = writeln!(text, "{key}:");
        for item in items {
            let _ = writeln!(text, "  - {item}");
        }
    }
}

/// Returns the name of the file of a memory.
pub fn file_name(id: &str) -> String {
    format!("{id}{ENDING}")
}

/// Returns the id of a memory in the name of its file.
///
/// # Errors
/// When the name is not an id with `.md`.
pub fn parse_file_name(name: &str) -> Result<String, RefusedValue> {
    let id = name.strip_suffix(ENDING).map(id::parse_id);
    id.and_then(Result::ok).ok_or_else(|| {
        RefusedValue::new("name", "is not the id of a memory with .md")
            .with_hint("`memo share` writes such files; move other files to another directory")
    })
}

/// Decodes the bytes of a file: returns the text with LF, and without a byte order mark.
///
/// # Errors
/// When the file is not UTF-8, or larger than [`MAX_FILE_BYTES`].
pub fn decode_file(bytes: &[u8]) -> Result<String, RefusedValue> {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(RefusedValue::new("file", format!("over {MAX_FILE_BYTES} bytes"))
            .with_hint("split its text into several memories"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        RefusedValue::new("file", format!("not UTF-8 from byte {} on", error.valid_up_to()))
            .with_hint("save the file as UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n"))
}

/// Returns the blake3 hash of a file's text.
pub fn hash_file_text(text: &str) -> [u8; 32] {
    *blake3::hash(text.as_bytes()).as_bytes()
}

/// Returns the error for a file without a key that it must have.
fn missing_key_error(key: &'static str) -> RefusedValue {
    RefusedValue::new(key, "is missing")
        .with_hint("a file without it is not a memory; `memo share` writes complete files")
}

/// Fails if private parts were removed from a field, because the file still has them.
fn check_no_private(n_parts: usize, field: &'static str) -> Result<(), RefusedValue> {
    if n_parts == 0 {
        return Ok(());
    }
    Err(RefusedValue::new(field, "has a private part")
        .with_hint("remove the private part from the file, and from the history of git"))
}

/// Parses an anchor from JSON.
fn parse_anchor(value: Value) -> Result<Anchor, RefusedValue> {
    let anchor: Anchor = serde_json::from_value(value).map_err(|error| anchor_error(&error.to_string()))?;
    let is_inside = !anchor.path.is_empty()
        && !anchor.path.starts_with('/')
        && !anchor.path.contains('\\')
        && anchor.path.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if !is_inside {
        return Err(anchor_error("its path is not in the worktree"));
    }
    if !anchor.lines.is_none_or(is_span) || !anchor.seen.nth.is_none_or(is_span) {
        return Err(anchor_error("its lines are not a first and a last line, counted from 1"));
    }
    fields::check_public_text("about", &anchor.to_string())?;
    Ok(Anchor { state: None, now: None, note: None, ..anchor })
}

/// Returns an anchor as JSON, without its present state.
fn render_anchor(anchor: &Anchor) -> String {
    let kept = Anchor { state: None, now: None, note: None, ..anchor.clone() };
    // The keys of a `Value` are sorted.
    serde_json::to_value(kept).expect("strings and numbers are JSON").to_string()
}

/// Returns the error for an anchor that is not allowed.
fn anchor_error(why: &str) -> RefusedValue {
    RefusedValue::new("about", why)
}

/// Returns whether two numbers are the ends of a span, counted from 1.
fn is_span((first, last): (u32, u32)) -> bool {
    1 <= first && first <= last
}

#[cfg(test)]
mod tests;
