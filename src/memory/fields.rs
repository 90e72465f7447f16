//! Validates and normalises the fields of a memory.

use serde_json::{Map, Value};

use super::privacy::{announced, check_secrets, without_private};
use super::{Refused, quoted};
use crate::extract::redact::REDACTED;

/// Longest content, bytes.
pub const MAX_CONTENT: usize = 64 << 10;
/// Longest title, bytes.
pub const MAX_TITLE: usize = 512;
/// Longest name of a container, bytes.
pub const MAX_CONTAINER: usize = 128;
/// Most tags.
pub const MAX_TAGS: usize = 50;
/// Longest tag, bytes.
pub const MAX_TAG: usize = 128;
/// Longest metadata, bytes of JSON.
pub const MAX_METADATA: usize = 64 << 10;
/// Longest name of an author or source, bytes.
pub const MAX_NAME: usize = 256;
/// Longest key of a source, bytes.
pub const MAX_KEY: usize = 8 << 10;
/// The default container.
pub const DEFAULT_CONTAINER: &str = "project";
/// The word for the container with the name of the repository.
pub const AUTO_CONTAINER: &str = "auto";
/// The default priority.
pub const DEFAULT_PRIORITY: u8 = 5;
/// Highest priority.
pub const MAX_PRIORITY: u8 = 10;

/// Highest number of recalls that can be stored.
pub const MAX_ACCESS_COUNT: u64 = i64::MAX.unsigned_abs();

/// A text to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The text without private parts.
    pub text: String,
    /// Number of private parts.
    pub redacted: usize,
}

/// Returns the content to store, without private parts and surrounding space.
///
/// # Errors
/// When nothing is left, or it is too long, has a NUL or looks like a credential.
pub fn content(raw: &str, allow_secret: bool) -> Result<Kept, Refused> {
    let kept = clean("content", raw, MAX_CONTENT, allow_secret)?;
    if kept.text.is_empty() {
        return Err(Refused::new("content", "empty").hint("write what to remember"));
    }
    if kept.text.replace(REDACTED, "").trim().is_empty() {
        return Err(Refused::new("content", "all of it is private, so nothing is left to store"));
    }
    Ok(kept)
}

/// Returns a warning about a text that was taken: it may have a credential that does not look like one.
pub fn warning(field: &str, text: &str) -> Option<String> {
    let (line, word) = announced(text)?;
    Some(format!(
        "{field}: what follows \"{word}\" in line {line} may be a credential; if so, forget and purge it"
    ))
}

/// Returns the title to store; `None` if it is empty.
///
/// # Errors
/// When it is too long, has a NUL or a line break, or looks like a credential.
pub fn title(raw: &str, allow_secret: bool) -> Result<Option<Kept>, Refused> {
    let kept = clean("title", raw, MAX_TITLE, allow_secret)?;
    if kept.text.contains(['\n', '\r']) {
        return Err(Refused::new("title", format!("{} has more than one line", quoted(&kept.text))));
    }
    Ok((!kept.text.is_empty()).then_some(kept))
}

fn clean(field: &'static str, raw: &str, most: usize, allow_secret: bool) -> Result<Kept, Refused> {
    no_nul(field, raw)?;
    let (text, redacted) = without_private(raw);
    let text = text.trim().to_owned();
    at_most(field, &text, most)?;
    if !allow_secret {
        check_secrets(field, &text)?;
    }
    Ok(Kept { text, redacted })
}

/// Returns the normal form of a container's name: lower case, with a dash for each run of characters other than `a-z0-9`.
///
/// # Errors
/// When nothing is left, or it is too long.
pub fn container(raw: &str) -> Result<String, Refused> {
    no_nul("container", raw)?;
    at_most("container", raw.trim(), MAX_CONTAINER)?;
    check_name("container", raw)?;
    let lower = raw.trim().to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
    let name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    if name.is_empty() {
        return Err(Refused::new("container", format!("{} has no letter a-z and no digit", quoted(raw))));
    }
    if name == AUTO_CONTAINER {
        return Err(Refused::new(
            "container",
            "auto is for memories that are written, not a name to look for",
        )
        .hint("`memo containers` lists the names"));
    }
    Ok(name)
}

/// Returns tags in their normal form (trimmed, lower case, dashes for inner space), sorted and without duplicates.
///
/// # Errors
/// When there are too many, or one is empty, too long, or has a comma or a control character.
pub fn tags(raw: &[String]) -> Result<Vec<String>, Refused> {
    let mut tags = raw.iter().map(|raw| tag(raw)).collect::<Result<Vec<_>, _>>()?;
    tags.sort();
    tags.dedup();
    if tags.len() > MAX_TAGS {
        return Err(Refused::new("tags", format!("{} tags, over {MAX_TAGS}", tags.len())));
    }
    Ok(tags)
}

fn tag(raw: &str) -> Result<String, Refused> {
    let tag = raw.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase();
    at_most("tag", &tag, MAX_TAG)?;
    if tag.is_empty() || tag.contains(|c: char| c == ',' || c.is_control()) {
        return Err(Refused::new(
            "tag",
            format!("{} is not a tag: it must not be empty or have a comma", quoted(raw)),
        ));
    }
    check_name("tag", raw)?;
    Ok(tag)
}

/// Returns the name of an author or source to store.
///
/// # Errors
/// When it is empty, too long, has a control character or looks like a credential.
pub fn name(field: &'static str, raw: &str) -> Result<String, Refused> {
    let name = raw.trim();
    at_most(field, name, MAX_NAME)?;
    if name.is_empty() || name.contains(char::is_control) {
        return Err(Refused::new(field, format!("{} is not a name", quoted(raw))));
    }
    check_name(field, name)?;
    Ok(name.to_owned())
}

/// The sources that a caller may give; memod stamps the others itself.
const SOURCES: [&str; 4] = ["user", "agent", "hook", "import"];

/// The source of what an agent says.
pub const AGENT: &str = "agent";

/// The sources of memories that were written here.
const OWN_SOURCES: [&str; 7] = ["user", "agent", "hook", "cli", "api", "consolidation", "system"];

/// Returns whether memories of a source were written here. An import may have such a source only if a person says so.
pub fn is_own_source(source: &str) -> bool {
    OWN_SOURCES.contains(&source)
}

/// Returns the source of a memory after an agent has changed its text. An import stays one, because it is trusted less.
pub fn source_after_agent(source: &str) -> &str {
    if is_own_source(source) { AGENT } else { source }
}

/// Returns the source of an imported memory; `import` for what is no plain word, or looks like a source of memories that were
/// written here without being one. Signs, upper case and digits for letters make no difference.
pub fn imported_source(raw: &str) -> &str {
    let source = raw.trim();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/+@ ".contains(&byte);
    let is_word = (1..=MAX_NAME).contains(&source.len()) && source.bytes().all(is_plain);
    let seems_own = !is_own_source(source) && OWN_SOURCES.iter().any(|own| looks(own) == looks(source));
    if is_word && !seems_own { source } else { "import" }
}

/// Returns how a word looks: its letters, where some digits and letters look the same.
fn looks(word: &str) -> Vec<u8> {
    let letters = word.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase());
    let alike = |byte| match byte {
        b'0' => b'o',
        b'1' | b'l' => b'i',
        b'3' => b'e',
        b'4' => b'a',
        b'5' => b's',
        byte => byte,
    };
    letters.map(alike).collect()
}

/// Returns the source that a caller gives to a new memory.
///
/// # Errors
/// When it is none that a caller may give.
pub fn source(raw: &str) -> Result<String, Refused> {
    if SOURCES.contains(&raw) {
        return Ok(raw.to_owned());
    }
    let why = format!("{} is none of {}", quoted(raw), SOURCES.join(", "));
    Err(Refused::new("source", why)
        .hint("leave it out: cli, api, consolidation and system are stamped by memod"))
}

/// Fails if a name has a private part or a credential.
///
/// # Errors
/// When it has one.
pub fn check_name(field: &'static str, name: &str) -> Result<(), Refused> {
    if without_private(name).1 > 0 {
        return Err(Refused::new(field, "has a private part").hint("leave it out: only texts may have one"));
    }
    check_secrets(field, name)
}

/// Returns the key of a source to store.
///
/// # Errors
/// When it is empty, too long or has a NUL.
pub fn key(raw: &str) -> Result<String, Refused> {
    no_nul("key", raw)?;
    at_most("key", raw, MAX_KEY)?;
    if raw.is_empty() {
        return Err(Refused::new("key", "empty"));
    }
    Ok(raw.to_owned())
}

/// Returns a valid number of recalls.
///
/// # Errors
/// When it is too large.
pub fn access_count(raw: u64) -> Result<u64, Refused> {
    let too_many = || Refused::new("access_count", format!("{raw} is over {MAX_ACCESS_COUNT}"));
    (raw <= MAX_ACCESS_COUNT).then_some(raw).ok_or_else(too_many)
}

/// # Errors
/// When it is not between 1 and 10.
pub fn priority(raw: i64) -> Result<u8, Refused> {
    u8::try_from(raw)
        .ok()
        .filter(|priority| (1..=MAX_PRIORITY).contains(priority))
        .ok_or_else(|| Refused::new("priority", format!("{raw} is not between 1 and 10")))
}

/// # Errors
/// When it is not a number between 0 and 1.
pub fn confidence(raw: f64) -> Result<f64, Refused> {
    let is_good = raw.is_finite() && (0.0..=1.0).contains(&raw);
    is_good.then_some(raw).ok_or_else(|| Refused::new("confidence", format!("{raw} is not between 0 and 1")))
}

/// Returns the metadata to store, with its texts without private parts.
///
/// # Errors
/// When it is too long, or a text of it has a NUL or looks like a credential.
pub fn metadata(raw: Map<String, Value>, allow_secret: bool) -> Result<Map<String, Value>, Refused> {
    let mut value = Value::Object(raw);
    let mut bad = None;
    each_text(&mut value, &mut |text| {
        bad = bad.take().or_else(|| no_nul("metadata", text).err());
        *text = without_private(text).0;
    });
    bad.map_or(Ok(()), Err)?;
    let json = value.to_string();
    at_most("metadata", &json, MAX_METADATA)?;
    if !allow_secret {
        check_secrets("metadata", &json)?;
    }
    match value {
        Value::Object(map) => Ok(map),
        _ => unreachable!("it was made an object above"),
    }
}

fn each_text(value: &mut Value, see: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => see(text),
        Value::Array(values) => values.iter_mut().for_each(|value| each_text(value, see)),
        Value::Object(map) => {
            *map = std::mem::take(map)
                .into_iter()
                .map(|(mut key, mut value)| {
                    see(&mut key);
                    each_text(&mut value, see);
                    (key, value)
                })
                .collect();
        }
        _ => {}
    }
}

/// Merges the metadata of several memories, of which later ones take precedence. Also returns the values that were
/// replaced.
pub fn united_metadata<'a>(
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

/// Merges `over` into metadata key by key; null removes a key.
pub fn merge_metadata(into: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        if value.is_null() {
            into.remove(&key);
        } else {
            into.insert(key, value);
        }
    }
}

fn at_most(field: &'static str, text: &str, most: usize) -> Result<(), Refused> {
    if text.len() <= most {
        return Ok(());
    }
    Err(Refused::new(field, format!("{} is {} bytes, over {most}", quoted(text), text.len())))
}

fn no_nul(field: &'static str, text: &str) -> Result<(), Refused> {
    match text.find('\0') {
        Some(at) => Err(Refused::new(field, format!("has a NUL at byte {at}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused<T>(result: Result<T, Refused>) -> String {
        result.map_or_else(|error| error.to_string(), |_| "taken".to_owned())
    }

    #[test]
    fn what_an_agent_changes_is_an_agents_but_an_import_stays_one() {
        for own in OWN_SOURCES {
            assert_eq!(source_after_agent(own), AGENT, "{own}");
        }
        for other in ["import", "claude"] {
            assert_eq!(source_after_agent(other), other);
        }
    }

    #[test]
    fn contents_have_limits() {
        let longest = "x".repeat(MAX_CONTENT);
        assert_eq!(content(&format!(" {longest}\n"), false).unwrap().text, longest);
        let cases = [
            (format!("{longest}y"), format!("content: \"{}…\" is 65537 bytes, over 65536", "x".repeat(60))),
            (" \n".to_owned(), "content: empty".to_owned()),
            ("a\0b".to_owned(), "content: has a NUL at byte 1".to_owned()),
            (
                "<private>a</private> <private>b</private>".to_owned(),
                "content: all of it is private, so nothing is left to store".to_owned(),
            ),
        ];
        for (raw, expected) in cases {
            assert_eq!(refused(content(&raw, false)), expected);
        }
        let private = format!("a <private>{longest}</private>");
        assert_eq!(content(&private, false).unwrap(), Kept { text: "a [REDACTED]".to_owned(), redacted: 1 });
    }

    #[test]
    fn a_credential_is_kept_on_demand_only() {
        let token = ["glpat-", "Ab3dEf6hIj9kLmN0pQrS"].concat();
        assert!(refused(content(&token, false)).contains("GitLab token"));
        assert_eq!(content(&token, true).unwrap().text, token);
        assert!(refused(title(&token, false)).starts_with("title: line 1 looks like"));
        let meta = json!({ "a": [{ "b": token }] }).as_object().unwrap().clone();
        assert!(refused(metadata(meta.clone(), false)).starts_with("metadata: line 1 looks like"));
        assert_eq!(metadata(meta.clone(), true), Ok(meta));
    }

    #[test]
    fn names_hold_nothing_private_and_no_message_shows_it() {
        let (token, private) = ("ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "x <private>planted</private>");
        for text in [token, private] {
            let messages = [
                refused(container(text)),
                refused(tags(&[text.to_owned()])),
                refused(name("author", text)),
                refused(content(&format!("{text} {}", "y".repeat(MAX_CONTENT)), false)),
                refused(title(&format!("{text} {}", "y".repeat(MAX_TITLE)), false)),
                refused(tags(&[format!("{text},")])),
            ];
            for message in messages {
                let shows = [token, "planted"].iter().any(|hidden| message.contains(hidden));
                assert!(message != "taken" && !shows, "{message}");
            }
        }
    }

    #[test]
    fn names_have_a_normal_form() {
        let containers = [
            (" My  Project! ", "my-project"),
            ("a__b--c", "a-b-c"),
            ("-x-", "x"),
            ("Größe", "gr-e"), // ö and ß are runs of something else
        ];
        for (raw, expected) in containers {
            assert_eq!(container(raw).as_deref(), Ok(expected), "{raw}");
        }
        assert_eq!(refused(container("…")), "container: \"…\" has no letter a-z and no digit");
        assert!(refused(container(&"x".repeat(129))).ends_with("is 129 bytes, over 128"));

        let own = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
        assert_eq!(tags(&own(&["b c", "A", " a ", "ü"])).unwrap(), own(&["a", "b-c", "ü"]));
        assert_eq!(
            refused(tags(&own(&["a,b"]))),
            "tag: \"a,b\" is not a tag: it must not be empty or have a comma"
        );
        assert!(refused(tags(&own(&[" "]))).starts_with("tag: \" \" is not a tag"));
        assert!(refused(tags(&own(&["\u{7}"]))).starts_with("tag: \"\\u{7}\" is not a tag"));
        let many: Vec<_> = (0..51).map(|number| number.to_string()).collect();
        assert_eq!(refused(tags(&many)), "tags: 51 tags, over 50");
        assert!(tags(&many[1..]).is_ok());
    }

    #[test]
    fn titles_and_numbers_have_limits() {
        assert_eq!(title("  ", false), Ok(None));
        assert_eq!(title(" a ", false).unwrap().unwrap().text, "a");
        assert_eq!(refused(title("a\nb", false)), "title: \"a\\nb\" has more than one line");
        assert!(refused(title(&"é".repeat(257), false)).ends_with("is 514 bytes, over 512"));
        assert_eq!((priority(1), priority(10)), (Ok(1), Ok(10)));
        assert_eq!(refused(priority(11)), "priority: 11 is not between 1 and 10");
        assert_eq!(refused(priority(-1)), "priority: -1 is not between 1 and 10");
        assert_eq!((confidence(0.0), confidence(1.0)), (Ok(0.0), Ok(1.0)));
        assert_eq!(refused(confidence(f64::NAN)), "confidence: NaN is not between 0 and 1");
        assert_eq!(refused(confidence(1.1)), "confidence: 1.1 is not between 0 and 1");
    }

    #[test]
    fn metadata_is_cleaned_and_merged() {
        let object = |value: Value| value.as_object().unwrap().clone();
        let raw = object(json!({ "a": "x <private>y</private>", "n": 1 }));
        let mut kept = metadata(raw, false).unwrap();
        let keys = object(json!({ "a": [{ "b <private>y</private>": 1 }] }));
        assert_eq!(Value::Object(metadata(keys, false).unwrap()), json!({ "a": [{ "b [REDACTED]": 1 }] }));
        assert_eq!(Value::Object(kept.clone()), json!({ "a": "x [REDACTED]", "n": 1 }));
        merge_metadata(&mut kept, object(json!({ "a": null, "b": [2] })));
        assert_eq!(Value::Object(kept), json!({ "b": [2], "n": 1 }));
        assert_eq!(refused(metadata(object(json!({ "a": "\0" })), false)), "metadata: has a NUL at byte 0");
        let all = [json!({ "a": 1, "b": 1 }), json!({ "a": 2 }), json!({ "a": 3, "b": 1 })].map(object);
        let (united, replaced) = united_metadata(&all);
        assert_eq!((json!(united), json!(replaced)), (json!({ "a": 3, "b": 1 }), json!({ "a": [1, 2] })));
    }

    #[test]
    fn what_looks_like_a_source_of_ours_is_an_import() {
        let taken = ["user", "cli", "slack", "import", "ai-memory 2.0", "https://example.org/a", "users"];
        for source in taken {
            assert_eq!(imported_source(source), source);
        }
        let long = "x".repeat(MAX_NAME + 1);
        let refused = [
            "User",
            "USER",
            "us-er",
            "user:",
            "u\u{200b}ser",
            "us\u{435}r",
            "\u{ff55}ser",
            "u5er",
            "cIi",
            "ap1",
            "a\tb",
            "",
            "sy5tem",
            "größe",
            &long,
        ];
        for source in refused {
            assert_eq!(imported_source(source), "import", "{source:?}");
        }
    }
}
