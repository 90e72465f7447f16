//! Validates and normalises the fields of a memory.

use memod_text::redact::REDACTED;
use serde_json::{Map, Value};

use super::privacy::{check_secrets, find_announced_credential, without_private};
use super::{RefusedValue, quote_value};

/// Maximum length of a content, bytes.
pub const MAX_CONTENT: usize = 64 << 10;
/// Maximum length of a title, bytes.
pub const MAX_TITLE: usize = 512;
/// Maximum length of a container's name, bytes.
pub const MAX_CONTAINER: usize = 128;
/// Maximum number of tags of a memory.
pub const MAX_TAGS: usize = 50;
/// Maximum length of a tag, bytes.
pub const MAX_TAG: usize = 128;
/// Maximum size of metadata, bytes of JSON.
pub const MAX_METADATA: usize = 64 << 10;
/// Maximum length of the name of an author or source, bytes.
pub const MAX_NAME: usize = 256;
/// Maximum length of an import key, bytes.
pub const MAX_KEY: usize = 8 << 10;
/// The default container.
pub const DEFAULT_CONTAINER: &str = "project";
/// The word for the container that is named after the repository.
pub const AUTO_CONTAINER: &str = "auto";
/// The default priority.
pub const DEFAULT_PRIORITY: u8 = 5;
/// Highest priority.
pub const MAX_PRIORITY: u8 = 10;

/// Highest number of recalls that can be stored.
pub const MAX_ACCESS_COUNT: u64 = i64::MAX.unsigned_abs();

/// A text to store, without private parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorableText {
    /// The text without private parts.
    pub text: String,
    /// Number of private parts that were removed.
    pub n_redacted: usize,
}

/// Returns the content to store, without private parts and surrounding space. The first of several lines keeps its indentation,
/// because it may be code or an item of a list.
///
/// # Errors
/// When nothing is left, or the content is too long, has a NUL, or looks like a credential and `allow_secret` is false.
pub fn validate_content(raw: &str, allow_secret: bool) -> Result<StorableText, RefusedValue> {
    let kept = clean_text("content", raw, trim_content, MAX_CONTENT, allow_secret)?;
    if kept.text.is_empty() {
        return Err(RefusedValue::new("content", "empty").with_hint("write what to remember"));
    }
    if kept.text.replace(REDACTED, "").trim().is_empty() {
        return Err(RefusedValue::new("content", "all of the text is private, so nothing is left to store")
            .with_hint("leave at least one word outside of <private>…</private>"));
    }
    Ok(kept)
}

/// Returns a warning if a stored text may have a credential that does not look like one, because a word such as "password:" comes
/// before it.
pub fn warn_of_credential(field: &str, text: &str) -> Option<String> {
    let (line, word) = find_announced_credential(text)?;
    Some(format!(
        "{field}: the value after \"{word}\" in line {line} may be a credential; if so, forget and purge the memory"
    ))
}

/// Returns the title to store; `None` if it is empty.
///
/// # Errors
/// When the title is too long, has a NUL or a line break, or looks like a credential and `allow_secret` is false.
pub fn validate_title(raw: &str, allow_secret: bool) -> Result<Option<StorableText>, RefusedValue> {
    let kept = clean_text("title", raw, str::trim, MAX_TITLE, allow_secret)?;
    if kept.text.contains(['\n', '\r']) {
        return Err(RefusedValue::new(
            "title",
            format!("{} has more than one line", quote_value(&kept.text)),
        )
        .with_hint("give one line as the title, and put the others into the text"));
    }
    Ok((!kept.text.is_empty()).then_some(kept))
}

/// Removes the space around a content, except the indentation of the first of several lines.
fn trim_content(text: &str) -> &str {
    let text = text.trim_end();
    let blank: usize =
        text.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum();
    let text = &text[blank..];
    if text.contains('\n') { text } else { text.trim_start() }
}

/// Returns a text without private parts, trimmed with `trim`. Fails if the text has a NUL, is longer than `most` bytes, or looks
/// like a credential and `allow_secret` is false.
fn clean_text(
    field: &'static str,
    raw: &str,
    trim: fn(&str) -> &str,
    most: usize,
    allow_secret: bool,
) -> Result<StorableText, RefusedValue> {
    check_no_nul(field, raw)?;
    let (text, redacted) = without_private(raw);
    let text = trim(&text).to_owned();
    check_length(field, &text, most)?;
    if !allow_secret {
        check_secrets(field, &text)?;
    }
    Ok(StorableText { text, n_redacted: redacted })
}

/// Returns the normal form of a container's name: lower case, with a dash for each run of characters other than `a-z0-9`.
///
/// # Errors
/// When nothing is left, or the name is too long, has a NUL or a private part, looks like a credential, or is `auto`.
pub fn validate_container(raw: &str) -> Result<String, RefusedValue> {
    check_no_nul("container", raw)?;
    check_length("container", raw.trim(), MAX_CONTAINER)?;
    check_public_text("container", raw)?;
    let lower = raw.trim().to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
    let name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    if name.is_empty() {
        return Err(RefusedValue::new(
            "container",
            format!("{} has no letter a-z and no digit", quote_value(raw)),
        )
        .with_hint("give a name such as web-shop"));
    }
    if name == AUTO_CONTAINER {
        return Err(RefusedValue::new(
            "container",
            "auto names a container only when a memory is written, not in a search",
        )
        .with_hint("`memo tag containers` lists the names"));
    }
    Ok(name)
}

/// Returns tags in their normal form (trimmed, lower case, dashes for inner space), sorted and without duplicates.
///
/// # Errors
/// When there are too many, or one is empty, too long, or has a comma or a control character.
pub fn validate_tags(raw: &[String]) -> Result<Vec<String>, RefusedValue> {
    let mut tags = raw.iter().map(|raw| validate_tag(raw)).collect::<Result<Vec<_>, _>>()?;
    tags.sort();
    tags.dedup();
    if tags.len() > MAX_TAGS {
        return Err(RefusedValue::new("tags", format!("{} tags, over {MAX_TAGS}", tags.len()))
            .with_hint("leave out some of the tags"));
    }
    Ok(tags)
}

/// Returns the normal form of one tag.
fn validate_tag(raw: &str) -> Result<String, RefusedValue> {
    let tag = raw.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase();
    check_length("tag", &tag, MAX_TAG)?;
    if tag.is_empty() || tag.contains(|c: char| c == ',' || c.is_control()) {
        return Err(RefusedValue::new(
            "tag",
            format!("{} is not a tag: it must not be empty or have a comma", quote_value(raw)),
        )
        .with_hint("give each tag as a value of its own"));
    }
    check_public_text("tag", raw)?;
    Ok(tag)
}

/// Returns the name of an author or source to store.
///
/// # Errors
/// When the name is empty or too long, has a control character, or looks like a credential.
pub fn validate_name(field: &'static str, raw: &str) -> Result<String, RefusedValue> {
    let name = raw.trim();
    check_length(field, name, MAX_NAME)?;
    if name.is_empty() || name.contains(char::is_control) {
        return Err(RefusedValue::new(field, format!("{} is not a name", quote_value(raw)))
            .with_hint("give one line that is not empty, or leave it out"));
    }
    check_public_text(field, name)?;
    Ok(name.to_owned())
}

/// The sources that a caller may give to a memory; memod sets the others itself.
const SOURCES: [&str; 4] = ["user", "agent", "hook", "import"];

/// The source of memories that an agent writes.
pub const AGENT: &str = "agent";

/// The sources of memories that were written here.
const LOCAL_SOURCES: [&str; 7] = ["user", "agent", "hook", "cli", "api", "consolidation", "system"];

/// Returns whether a source means that the memory was written here. An import may have such a source only if a person allows it.
pub fn is_local_source(source: &str) -> bool {
    LOCAL_SOURCES.contains(&source)
}

/// Returns the source of a memory after an agent has changed its text: `agent` if the memory was written here, otherwise the same
/// source, because imports are trusted less.
pub fn source_after_agent(source: &str) -> &str {
    if is_local_source(source) { AGENT } else { source }
}

/// Returns the source of an imported memory: `raw`, or `import` if `raw` is no plain word, or only looks like a source of memories
/// that were written here. Signs, upper case and digits in place of letters do not hide the likeness.
pub fn imported_source(raw: &str) -> &str {
    let source = raw.trim();
    let is_word = (1..=MAX_NAME).contains(&source.len()) && source.bytes().all(is_source_name_byte);
    let seems_own = !is_local_source(source)
        && LOCAL_SOURCES.iter().any(|own| fold_lookalikes(own) == fold_lookalikes(source));
    if is_word && !seems_own { source } else { "import" }
}

/// Returns whether a byte may be in the name of a source.
fn is_source_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.:/+@ ".contains(&byte)
}

/// Returns the letters of a word in a form that is equal for words that look the same.
fn fold_lookalikes(word: &str) -> Vec<u8> {
    let letters = word.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase());
    letters.map(fold_lookalike).collect()
}

/// Returns the letter that a digit or letter looks like.
fn fold_lookalike(byte: u8) -> u8 {
    match byte {
        b'0' => b'o',
        b'1' | b'l' => b'i',
        b'3' => b'e',
        b'4' => b'a',
        b'5' => b's',
        byte => byte,
    }
}

/// Returns the source that a caller gives to a new memory.
///
/// # Errors
/// When a caller may not give this source.
pub fn validate_source(raw: &str) -> Result<String, RefusedValue> {
    if SOURCES.contains(&raw) {
        return Ok(raw.to_owned());
    }
    let why = format!("{} is none of {}", quote_value(raw), SOURCES.join(", "));
    Err(RefusedValue::new("source", why)
        .with_hint("leave it out: memod sets cli, api, consolidation and system itself"))
}

/// Checks that a name, or another text that is always shown, has neither a private part nor a credential.
///
/// # Errors
/// When the text has one.
pub fn check_public_text(field: &'static str, name: &str) -> Result<(), RefusedValue> {
    if without_private(name).1 > 0 {
        return Err(RefusedValue::new(field, "has a private part")
            .with_hint("remove the private part: only texts may have one"));
    }
    check_secrets(field, name)
}

/// Returns the import key to store.
///
/// # Errors
/// When the key is empty, too long, or has a NUL.
pub fn validate_key(raw: &str) -> Result<String, RefusedValue> {
    check_no_nul("key", raw)?;
    check_length("key", raw, MAX_KEY)?;
    if raw.is_empty() {
        return Err(
            RefusedValue::new("key", "empty").with_hint("leave it out, or give a text that names the source")
        );
    }
    Ok(raw.to_owned())
}

/// Returns the number of recalls to store.
///
/// # Errors
/// When the number is over [`MAX_ACCESS_COUNT`].
pub fn validate_access_count(raw: u64) -> Result<u64, RefusedValue> {
    (raw <= MAX_ACCESS_COUNT)
        .then_some(raw)
        .ok_or_else(|| RefusedValue::new("access_count", format!("{raw} is over {MAX_ACCESS_COUNT}")))
}

/// Returns the priority to store.
///
/// # Errors
/// When the priority is not between 1 and 10.
pub fn validate_priority(raw: i64) -> Result<u8, RefusedValue> {
    u8::try_from(raw)
        .ok()
        .filter(|priority| (1..=MAX_PRIORITY).contains(priority))
        .ok_or_else(|| RefusedValue::new("priority", format!("{raw} is not between 1 and 10")))
}

/// Returns the confidence to store.
///
/// # Errors
/// When the confidence is not a number between 0 and 1.
pub fn validate_confidence(raw: f64) -> Result<f64, RefusedValue> {
    let is_good = raw.is_finite() && (0.0..=1.0).contains(&raw);
    is_good
        .then_some(raw)
        .ok_or_else(|| RefusedValue::new("confidence", format!("{raw} is not between 0 and 1")))
}

/// Returns the metadata to store, without the private parts of its texts and keys.
///
/// # Errors
/// When the metadata is too large, or one of its texts has a NUL, or looks like a credential and `allow_secret` is false.
pub fn validate_metadata(
    raw: Map<String, Value>,
    allow_secret: bool,
) -> Result<Map<String, Value>, RefusedValue> {
    let mut value = Value::Object(raw);
    let mut bad = None;
    for_each_text(&mut value, &mut |text| {
        bad = bad.take().or_else(|| check_no_nul("metadata", text).err());
        *text = without_private(text).0;
    });
    bad.map_or(Ok(()), Err)?;
    let json = value.to_string();
    check_length("metadata", &json, MAX_METADATA)?;
    if !allow_secret {
        check_secrets("metadata", &json)?;
    }
    match value {
        Value::Object(map) => Ok(map),
        _ => unreachable!("it was made an object above"),
    }
}

/// Calls `see` with each text in a JSON value, and with each key; `see` may change it.
fn for_each_text(value: &mut Value, see: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => see(text),
        Value::Array(values) => values.iter_mut().for_each(|value| for_each_text(value, see)),
        Value::Object(map) => {
            *map = std::mem::take(map)
                .into_iter()
                .map(|(mut key, mut value)| {
                    see(&mut key);
                    for_each_text(&mut value, see);
                    (key, value)
                })
                .collect();
        }
        _ => {}
    }
}

/// Returns the merged metadata of several memories, in which later memories take precedence, and for each key an array of the
/// values that were replaced.
pub fn combine_metadata<'a>(
    all: impl IntoIterator<Item = &'a Map<String, Value>>,
) -> (Map<String, Value>, Map<String, Value>) {
    let (mut united, mut replaced) = (Map::new(), Map::new());
    for (key, value) in all.into_iter().flatten() {
        let before = united.insert(key.clone(), value.clone());
        if let Some(before) = before.filter(|before| before != value)
            && let Value::Array(values) =
                replaced.entry(key.clone()).or_insert_with(|| Value::Array(Vec::new()))
        {
            values.push(before);
        }
    }
    (united, replaced)
}

/// Sets the keys of `over` in the metadata `into`; null removes a key.
pub fn patch_metadata(into: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        if value.is_null() {
            into.remove(&key);
        } else {
            into.insert(key, value);
        }
    }
}

/// Fails if a text is longer than `most` bytes.
fn check_length(field: &'static str, text: &str, most: usize) -> Result<(), RefusedValue> {
    if text.len() <= most {
        return Ok(());
    }
    Err(RefusedValue::new(field, format!("{} is {} bytes, over {most}", quote_value(text), text.len()))
        .with_hint("shorten it; a long text can become several memories"))
}

/// Fails if a text has a NUL.
fn check_no_nul(field: &'static str, text: &str) -> Result<(), RefusedValue> {
    match text.find('\0') {
        Some(at) => Err(RefusedValue::new(field, format!("has a NUL at byte {at}"))
            .with_hint("remove the NUL, which no text has")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
