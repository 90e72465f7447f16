//! Parses and writes the file of a shared memory.
//!
//! A file is a front matter between two lines `---`, and the text. The front matter is a small part of YAML: `key: value`, or
//! `key:` with a line `  - item` for each item, or a comment. A value is plain words, or JSON, which YAML takes too. The same
//! memory is the same bytes everywhere: keys have one order, tags and links are sorted, lines end with LF.

mod conflict;
mod front;
mod three_way;

use std::fmt::Write as _;

use memod_base::types::{MAX_MEMORY_FILE, MEMORY_FILES_DIR, rfc3339};
use memod_proto::anchor::Anchor;
use memod_proto::memory::{LinkKind, Tier};
use serde_json::{Map, Value};

use self::front::{Entry, Parts, plain_or_json};
use super::{Refused, anchor, fields, id, time};

pub use self::conflict::{in_conflict, may_have_sides, own_side_first, sides};
pub use self::three_way::{Merged, merge};

/// Directory of the files, from the top of a worktree.
pub const DIR: &str = MEMORY_FILES_DIR;
/// Ending of their names.
const ENDING: &str = ".md";
/// Largest file, bytes.
pub const MAX_FILE: u64 = MAX_MEMORY_FILE;
/// Line before and after the front matter.
const FENCE: &str = "---";

/// What the file of a memory says. Nothing of it is of one machine or one user alone.
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
    /// Keys that this version does not know, with their values as lines.
    pub others: Vec<(String, String)>,
    /// Lines of the front matter that begin with a `#`. They stay, before all keys.
    pub comments: Vec<String>,
    pub content: String,
}

impl MemoryFile {
    /// Returns whether both say the same, whenever it was written.
    pub fn says_same(&self, other: &Self) -> bool {
        Self { updated: 0, ..self.clone() } == Self { updated: 0, ..other.clone() }
    }

    /// Parses a file.
    ///
    /// # Errors
    /// When a line is not of the front matter's form, a value is not allowed, or the text is empty, has a private part or looks
    /// like a credential.
    pub fn parse(text: &str) -> Result<Self, Refused> {
        let Parts { entries, comments, content } = front::split(text)?;
        let mut file = Self {
            container: fields::DEFAULT_CONTAINER.to_owned(),
            priority: fields::DEFAULT_PRIORITY,
            confidence: 1.0,
            ..Self::default()
        };
        let (mut created, mut updated) = (None, None);
        for entry in entries {
            match entry.key {
                "created" => created = Some(time::exact("created", &entry.text()?)?),
                "updated" => updated = Some(time::exact("updated", &entry.text()?)?),
                _ => file.take(&entry)?,
            }
        }
        file.created = created.ok_or_else(|| missing("created"))?;
        file.updated = updated.unwrap_or(file.created);
        if file.author.is_empty() {
            return Err(missing("author"));
        }
        fields::check_name("file", &comments.join("\n"))?;
        file.comments = comments.into_iter().map(str::to_owned).collect();
        let kept = fields::content(content, false)?;
        no_private(kept.redacted, "content")?;
        file.content = kept.text;
        file.links.sort();
        file.links.dedup();
        Ok(file)
    }

    fn take(&mut self, entry: &Entry<'_>) -> Result<(), Refused> {
        match entry.key {
            "title" => {
                let kept = fields::title(&entry.text()?, false)?;
                no_private(kept.as_ref().map_or(0, |kept| kept.redacted), "title")?;
                self.title = kept.map(|kept| kept.text);
            }
            "container" => self.container = fields::container(&entry.text()?)?,
            "tags" => self.tags = fields::tags(&entry.texts()?)?,
            "tier" => {
                let word = entry.text()?;
                self.tier = Tier::parse(&word).ok_or_else(|| entry.bad("is none of short, mid, long"))?;
            }
            "priority" => self.priority = fields::priority(entry.number()?)?,
            "confidence" => self.confidence = fields::confidence(entry.number()?)?,
            "author" => self.author = fields::name("author", &entry.text()?)?,
            "agent" => self.agent = Some(fields::name("agent", &entry.text()?)?),
            "about" => {
                self.anchors = entry.values()?.into_iter().map(anchor_of).collect::<Result<_, _>>()?;
                anchor::check(&self.anchors)?;
            }
            "metadata" => {
                let Value::Object(metadata) = entry.json()? else { return Err(entry.bad("is no object")) };
                let kept = fields::metadata(metadata.clone(), false)?;
                no_private(usize::from(kept != metadata), "metadata")?;
                self.metadata = kept;
            }
            key => match LinkKind::parse(key) {
                Some(kind) => {
                    for target in entry.texts()? {
                        self.links.push((kind, id::whole(&target)?));
                    }
                }
                None => {
                    fields::check_name("file", &entry.lines)?;
                    self.others.push((key.to_owned(), entry.lines.clone()));
                }
            },
        }
        Ok(())
    }

    /// Returns what two sides have, but for the text, of which this is ours; of one side alone where the other one is no memory.
    ///
    /// # Errors
    /// When neither side is a memory, or both together have more than a memory may have.
    pub fn of_sides(ours: &str, theirs: &str) -> Result<Self, Refused> {
        match [ours, theirs].map(Self::parse) {
            [Ok(mut ours), Ok(theirs)] => {
                ours.take_beside(theirs);
                let is_allowed = Self::parse(&ours.render()).map(drop);
                is_allowed
                    .map_err(|why| why.hint("take one side, with --ours or --theirs, and change that"))?;
                Ok(ours)
            }
            [ours, theirs] => ours.or(theirs),
        }
    }

    /// Takes over what another version has beside the text, and this one has not.
    fn take_beside(&mut self, other: Self) {
        let Self { tags, anchors, links, metadata, others, comments, .. } = other;
        self.tags.extend(tags);
        self.tags.sort();
        self.tags.dedup();
        self.links.extend(links);
        self.links.sort();
        self.links.dedup();
        self.anchors = anchor::each_once(self.anchors.iter().chain(&anchors));
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

    /// Returns the lines of the front matter that say nothing of the memory: comments, and keys that this version does not know.
    pub fn remarks(&self) -> String {
        let comments = self.comments.iter().map(|comment| format!("{comment}\n"));
        comments.chain(self.others.iter().map(|(key, lines)| format!("{key}:{lines}\n"))).collect()
    }

    /// Returns a file of which only [`Self::remarks`] and the links are known.
    ///
    /// # Errors
    /// When the lines are not of the front matter's form.
    pub fn of_remarks(remarks: &str, links: Vec<(LinkKind, String)>) -> Result<Self, Refused> {
        let text = format!("{FENCE}\n{remarks}{FENCE}\n");
        let Parts { entries, comments, .. } = front::split(&text)?;
        Ok(Self {
            comments: comments.into_iter().map(str::to_owned).collect(),
            others: entries.into_iter().map(|entry| (entry.key.to_owned(), entry.lines)).collect(),
            links,
            ..Self::default()
        })
    }

    /// Returns the bytes of the file.
    pub fn render(&self) -> String {
        let mut text = format!("{FENCE}\n");
        for comment in &self.comments {
            let _ = writeln!(text, "{comment}");
        }
        let mut put = |key: &str, value: &str| {
            let _ = writeln!(text, "{key}: {value}"); // a string takes everything
        };
        if let Some(title) = &self.title {
            put("title", &plain_or_json(title));
        }
        if self.container != fields::DEFAULT_CONTAINER {
            put("container", &plain_or_json(&self.container));
        }
        put("tier", self.tier.as_str());
        put("priority", &self.priority.to_string());
        put("confidence", &self.confidence.to_string());
        put("author", &plain_or_json(&self.author));
        if let Some(agent) = &self.agent {
            put("agent", &plain_or_json(agent));
        }
        put("created", &rfc3339(self.created));
        put("updated", &rfc3339(self.updated));
        if !self.metadata.is_empty() {
            put("metadata", &Value::Object(self.metadata.clone()).to_string());
        }
        let mut list = |key: &str, items: Vec<String>| {
            if !items.is_empty() {
                let _ = writeln!(text, "{key}:");
                for item in items {
                    let _ = writeln!(text, "  - {item}");
                }
            }
        };
        list("tags", self.tags.iter().map(|tag| plain_or_json(tag)).collect());
        list("about", self.anchors.iter().map(anchor_line).collect());
        for kind in LinkKind::ALL {
            let targets = self.links.iter().filter(|(of, _)| *of == kind).map(|(_, target)| target.clone());
            list(kind.as_str(), targets.collect());
        }
        for (key, lines) in &self.others {
            let _ = writeln!(text, "{key}:{lines}");
        }
        let _ = write!(text, "{FENCE}\n\n{}\n", self.content);
        text
    }
}

/// Returns the name of the file of a memory.
pub fn name(id: &str) -> String {
    format!("{id}{ENDING}")
}

/// Returns the id that the name of a file says.
///
/// # Errors
/// When it is no id with `.md`.
pub fn id_of(name: &str) -> Result<String, Refused> {
    let id = name.strip_suffix(ENDING).map(id::whole);
    id.and_then(Result::ok).ok_or_else(|| {
        Refused::new("name", "is not the id of a memory with .md")
            .hint("`memo share` makes such files; keep others elsewhere")
    })
}

/// Returns the text of a file as it is parsed: with LF, and without a byte order mark.
///
/// # Errors
/// When it is not UTF-8, or too large.
pub fn text_of(bytes: &[u8]) -> Result<String, Refused> {
    if bytes.len() as u64 > MAX_FILE {
        return Err(Refused::new("file", format!("over {MAX_FILE} bytes")));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Refused::new("file", format!("not UTF-8 from byte {} on", error.valid_up_to()))
            .hint("save it as UTF-8")
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n"))
}

/// Returns the hash of a file's text.
pub fn hash(text: &str) -> [u8; 32] {
    *blake3::hash(text.as_bytes()).as_bytes()
}

fn missing(key: &'static str) -> Refused {
    Refused::new(key, "is missing").hint("a file without it is no memory; `memo share` writes whole ones")
}

/// Fails if private parts were removed: the file would still have them.
fn no_private(n_parts: usize, field: &'static str) -> Result<(), Refused> {
    if n_parts == 0 {
        return Ok(());
    }
    Err(Refused::new(field, "has a private part")
        .hint("remove it from the file, and from the history of git"))
}

fn anchor_of(value: Value) -> Result<Anchor, Refused> {
    let bad = |why: &str| Refused::new("about", why);
    let anchor: Anchor = serde_json::from_value(value).map_err(|error| bad(&error.to_string()))?;
    let is_inside = !anchor.path.is_empty()
        && !anchor.path.starts_with('/')
        && !anchor.path.contains('\\')
        && anchor.path.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if !is_inside {
        return Err(bad("its path is not in the worktree"));
    }
    let is_span = |(first, last): (u32, u32)| 1 <= first && first <= last;
    if !anchor.lines.is_none_or(is_span) || !anchor.seen.nth.is_none_or(is_span) {
        return Err(bad("its lines are no span"));
    }
    fields::check_name("about", &anchor.to_string())?;
    Ok(Anchor { state: None, now: None, note: None, ..anchor })
}

fn anchor_line(anchor: &Anchor) -> String {
    let kept = Anchor { state: None, now: None, note: None, ..anchor.clone() };
    // By way of a value, whose keys are sorted.
    serde_json::to_value(kept).expect("strings and numbers are JSON").to_string()
}

#[cfg(test)]
mod tests;
