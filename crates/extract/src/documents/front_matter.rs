//! Reads the front matter of a document.

use std::ops::Range;

const BYTE_ORDER_MARK: char = '\u{feff}';
/// The keys, besides `title`, whose words describe the whole document.
const KEYWORD_KEYS: &[&str] = &["tags", "keywords", "description", "aliases"];
/// Most characters of the keywords, which are repeated for each section.
const MAX_KEYWORD_CHARS: usize = 400;

/// The YAML (`---`) or TOML (`+++`) block at the start of a Markdown document.
///
/// The block is read line by line and not parsed: only plain keys at column 0 count.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FrontMatter {
    /// Bytes of the whole block, with both fences.
    pub(super) bytes: Range<usize>,
    /// Bytes of the text between the fences.
    pub(super) content: Range<usize>,
    /// Value of `title`, without quotes; never empty.
    pub(super) title: Option<String>,
    /// Values of [`KEYWORD_KEYS`] as they are written, shortened; may be empty.
    pub(super) keywords: String,
    /// Whether the block has `vector-index: false`, which excludes the document from the index.
    pub(super) opted_out: bool,
}

/// Returns the byte at which a text starts: after its byte order mark, if it has one.
pub(super) fn start_after_byte_order_mark(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 }
}

impl FrontMatter {
    /// Returns the front matter of a document, if it has any, and the byte at which the body starts.
    pub(super) fn split_front_matter(text: &str) -> (Option<Self>, usize) {
        let start = start_after_byte_order_mark(text);
        let front_matter = Self::find_block(text, start);
        let body_start = front_matter.as_ref().map_or(start, |front| front.bytes.end);
        (front_matter, body_start)
    }

    /// Returns the front matter that starts at byte `start`; `None` if there is none, if the block is not closed, or if its
    /// first line has no key (then the fence is a thematic break).
    fn find_block(text: &str, start: usize) -> Option<Self> {
        let mut lines = text[start..].split_inclusive('\n');
        let fence = lines.next()?;
        let separator = match fence.trim_end() {
            "---" => ':',
            "+++" => '=',
            _ => return None,
        };
        let content_start = start + fence.len();
        let mut content_end = content_start;
        for line in lines {
            let is_close =
                line.trim_end() == fence.trim_end() || separator == ':' && line.trim_end() == "...";
            if is_close {
                let bytes = start..content_end + line.len();
                return Self::parse_content(text, bytes, content_start..content_end, separator);
            }
            content_end += line.len();
        }
        None
    }

    fn parse_content(
        text: &str,
        bytes: Range<usize>,
        content: Range<usize>,
        separator: char,
    ) -> Option<Self> {
        let lines = || text[content.clone()].lines();
        let first = lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
        if first.is_some_and(|line| !line.contains(separator) && !line.starts_with('[')) {
            return None;
        }
        let value = |key: &str| lines().find_map(|line| value_of_key(line, key, separator));
        let title = value("title").map(str::to_owned);
        let opted_out = value("vector-index") == Some("false");
        let keywords = keyword_values(&text[content.clone()], separator);
        Some(Self { bytes, title, keywords, opted_out, content })
    }
}

/// Returns the values of [`KEYWORD_KEYS`]: each from its key up to the next key or table.
fn keyword_values(content: &str, separator: char) -> String {
    let mut values = String::new();
    let mut is_wanted = false;
    for line in content.lines().map(str::trim_end).filter(|line| !line.starts_with('#')) {
        let value = match split_key_value(line, separator) {
            Some((key, value)) => {
                is_wanted = KEYWORD_KEYS.contains(&key);
                value
            }
            None => {
                is_wanted &= separator == ':' || !line.starts_with('['); // a table of TOML ends the value
                line
            }
        };
        if is_wanted && !value.is_empty() {
            values.extend([" ", value.trim()]);
        }
    }
    values.trim().chars().take(MAX_KEYWORD_CHARS).collect()
}

/// Returns the key at column 0 of a line, and the text after the separator.
fn split_key_value(line: &str, separator: char) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(separator)?;
    let key = key.trim_end();
    (!key.is_empty()
        && !key.starts_with('-')
        && key.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c)))
    .then_some((key, value))
}

/// Returns the value of a line `key: value` at column 0, without its quotes.
fn value_of_key<'a>(line: &'a str, key: &str, separator: char) -> Option<&'a str> {
    let (found, value) = split_key_value(line, separator)?;
    let value = value.trim();
    let bare = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    let value = bare.unwrap_or(value).trim();
    (found == key && !value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(&str, Option<&str>, bool)>) {
        let found = FrontMatter::find_block(text, 0);
        let got = found
            .as_ref()
            .map(|front| (&text[front.content.clone()], front.title.as_deref(), front.opted_out));
        assert_eq!(got, expected, "{text}");
    }

    #[test]
    fn a_block_of_keys_is_front_matter() {
        check("---\ntitle: A b\n---\nx", Some(("title: A b\n", Some("A b"), false)));
        check("---\r\ntitle: 'A'\r\n...\r\n", Some(("title: 'A'\r\n", Some("A"), false)));
        check("+++\n# c\ntitle = \"A\"\n+++", Some(("# c\ntitle = \"A\"\n", Some("A"), false)));
        check("---\nvector-index: false\n---\n", Some(("vector-index: false\n", None, true)));
        check(
            "---\na:\n  title: inner\ntitle: ''\n---\n",
            Some(("a:\n  title: inner\ntitle: ''\n", None, false)),
        );
        check("---\n---\n", Some(("", None, false)));
    }

    #[test]
    fn keywords_are_what_some_keys_say() {
        let check = |text: &str, expected: &str| {
            assert_eq!(FrontMatter::find_block(text, 0).unwrap().keywords, expected, "{text}");
        };
        check("---\ntitle: T\nauthor: me\n---\n", "");
        check("---\ntags: [a, \"b c\"]\nauthor: me\nkeywords: d\n---\n", "[a, \"b c\"] d");
        check("---\ntags:\n- a: x\n  - b\n# no\ndate: 1\n---\n", "- a: x - b");
        check("---\ndescription: >-\n  One\n  two.\nlayout: x\naliases: [/old]\n---\n", ">- One two. [/old]");
        check("+++\ntags = [\n  \"a\",\n  \"b\"\n]\ndate = 1\n[x]\ny = 1\n+++\n", "[ \"a\", \"b\" ]");
        check("+++\n[taxonomies]\ntags = [\"a\"]\n[extra]\nx = 1\n+++\n", "[\"a\"]");
        check(&format!("---\ntags: {}\n---\n", "long ".repeat(500)), &"long ".repeat(80));
    }

    #[test]
    fn anything_else_is_not() {
        check("", None);
        check("---", None);
        check("---\ntitle: never closed\n", None);
        check("---\n\nText between rules\n\n---\n", None);
        check("text\n---\na: b\n---\n", None);
        check("+++\ntitle = 1\n---\n", None);
    }
}
