//! Finds the words of a query that may be names of symbols.

use memod_base::types::{last_part, qualifier};
use memod_text::words::{TokenForm, joined_name, write_words};

/// Most names that are taken from one query.
const MAX_NAMES: usize = 8;

/// Longest name, in bytes. Longer words are data.
const MAX_NAME_BYTES: usize = 128;

/// A word with a dot and one of these endings is the name of a file or a product, not of a member.
const FILE_ENDINGS: [&str; 49] = [
    "adoc", "astro", "bash", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "dart", "ex", "exs", "go", "h",
    "hpp", "hs", "html", "ini", "ipynb", "java", "js", "json", "jsx", "kt", "lock", "log", "lua", "md",
    "mjs", "php", "py", "rb", "rs", "rst", "scala", "sh", "sql", "svelte", "swift", "toml", "ts", "tsx",
    "txt", "vue", "xml", "yaml", "yml", "zig",
];

/// The spelling of a word, in the order of how likely it names a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameShape {
    /// Any other identifier: `config`.
    Plain,
    /// `Session`, `HTTP`: a type, or the start of a sentence.
    Capital,
    /// `parse_query`, `getUserById`, `Session::login`, `foo()`, `sha256`.
    Code,
}

/// A word that may be the name of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolName<'a> {
    /// The name with its qualifiers: `Session::login`.
    pub full: &'a str,
    /// The last part: `login`.
    pub last: &'a str,
    /// Spelling of the name.
    pub shape: NameShape,
}

impl SymbolName<'_> {
    /// Returns whether a definition with this qualified name has the name, in any spelling and with the same innermost qualifier.
    pub fn is_end_of(&self, title: &str) -> bool {
        if joined_name(self.last) != joined_name(last_part(title)) {
            return false;
        }
        let before =
            self.full[..self.full.len() - self.last.len()].trim_end_matches(|c| !is_identifier_char(c));
        let typed = before.rsplit(|c| !is_identifier_char(c)).next().filter(|owner| !owner.is_empty());
        let owner = qualifier(title).map(last_part);
        typed.is_none_or(|typed| owner.is_some_and(|owner| joined_name(owner) == joined_name(typed)))
    }

    /// Returns whether a text has the name: as one word, or if the name is a plain word, between backticks or before a bracket,
    /// because a plain word may mean anything.
    pub fn is_in_text(&self, text: &str) -> bool {
        if self.shape == NameShape::Plain {
            return text.match_indices(self.last).any(|(at, _)| {
                let (before, after) = (&text[..at], &text[at + self.last.len()..]);
                let is_quoted = before.ends_with(['`', '.', ':']) && after.starts_with('`');
                let begins = !before.ends_with(is_identifier_char);
                begins && (is_quoted || after.starts_with('('))
            });
        }
        let joined = joined_name(self.last);
        let mut words = String::new();
        write_words(text, TokenForm::Whole, &mut words);
        words.split_ascii_whitespace().any(|word| word == joined)
    }
}

/// Returns the name in a word between spaces, without brackets and surrounding punctuation; `None` if the word cannot be a name.
pub(crate) fn parse_name(word: &str) -> Option<SymbolName<'_>> {
    let start = word.find(is_identifier_char)?;
    let word = &word[start..];
    let end = word.find(['(', '[', '<', '{', '"', '`', ',', ';', '!', '?']).unwrap_or(word.len());
    let is_call = word[end..].starts_with('(');
    let full = word[..end].trim_end_matches(|c| !is_identifier_char(c));
    let segments = full.split("::").flat_map(|s| s.split("->")).flat_map(|s| s.split(['.', '#']));
    if full.len() > MAX_NAME_BYTES || !segments.clone().all(is_identifier) {
        return None;
    }
    let last = segments.last()?;
    let is_qualified = last.len() < full.len();
    if full.ends_with(&format!(".{last}")) && FILE_ENDINGS.contains(&last) {
        return None;
    }
    let shape = if is_call || is_qualified { NameShape::Code } else { name_shape(last) };
    Some(SymbolName { full, last, shape })
}

/// Returns the names to look up exactly, the likeliest first. These are the names spelled like code, the capitalized words after
/// the first word, and the only word of a query; each with and without qualifiers.
pub(crate) fn symbol_candidates(words: &[&str]) -> Vec<String> {
    let mut names: Vec<SymbolName<'_>> = Vec::new();
    for (nth, word) in words.iter().enumerate() {
        let Some(name) = parse_name(word) else { continue };
        let is_sure = name.shape == NameShape::Code || (name.shape == NameShape::Capital && nth > 0);
        if words.len() == 1 || (is_sure && name.last.len() > 1) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| std::cmp::Reverse(name.shape));
    let mut found: Vec<String> = Vec::new();
    for name in names.iter().flat_map(|name| [name.full, name.last]) {
        if found.len() < MAX_NAMES && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    found
}

fn is_identifier(segment: &str) -> bool {
    segment.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$')
        && segment.chars().all(is_identifier_char)
}

fn is_identifier_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Returns the spelling of a name without qualifiers.
fn name_shape(name: &str) -> NameShape {
    let inner = name.trim_matches('_');
    let has_change = inner.chars().zip(inner.chars().skip(1)).any(|(left, right)| {
        (left.is_lowercase() && right.is_uppercase()) || (left.is_alphabetic() && right.is_numeric())
    });
    if name.contains(['_', '$']) || has_change {
        NameShape::Code
    } else if inner.starts_with(char::is_uppercase) {
        NameShape::Capital
    } else {
        NameShape::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_words() {
        let check = |word: &str, expected: Option<(&str, &str, NameShape)>| {
            let name = parse_name(word).map(|name| (name.full, name.last, name.shape));
            assert_eq!(name, expected, "{word}");
        };
        check("parse_query", Some(("parse_query", "parse_query", NameShape::Code)));
        check("`Session::login`,", Some(("Session::login", "login", NameShape::Code)));
        check("foo()", Some(("foo", "foo", NameShape::Code)));
        check("foo(bar,", Some(("foo", "foo", NameShape::Code)));
        check("Vec<T>", Some(("Vec", "Vec", NameShape::Capital)));
        check("self.cache.get", Some(("self.cache.get", "get", NameShape::Code)));
        check("ptr->next", Some(("ptr->next", "next", NameShape::Code)));
        check("empty?", Some(("empty", "empty", NameShape::Plain)));
        check("__init__", Some(("__init__", "__init__", NameShape::Code)));
        check("größeVon", Some(("größeVon", "größeVon", NameShape::Code)));
        check("main.rs", None);
        check("Node.js", None);
        check("src/main", None);
        check("kebab-case", None);
        check("404", None);
        check("...", None);
        check("a..b", None);
        check("", None);
        check(&"a".repeat(1_000), None);
    }

    #[test]
    fn names_of_definitions_and_in_texts() {
        let check = |typed: &str, title: &str, expected: bool| {
            assert_eq!(parse_name(typed).unwrap().is_end_of(title), expected, "{typed} {title}");
        };
        check("login", "auth::Session::login", true);
        check("Session.login", "auth::Session::login", true);
        check("Session.logIn()", "Session.log_in", true);
        check("Key.login", "Session.login", false);
        check("login", "Session.relogin", false);
        check("Session.login", "login", false);
        let check = |typed: &str, text: &str, expected: bool| {
            assert_eq!(parse_name(typed).unwrap().is_in_text(text), expected, "{typed} {text}");
        };
        check("parse_config", "call parseConfig once", true);
        check("parse_config", "parse the config", false);
        check("Session", "the session ends", true);
        check("load", "load it once", false);
        check("load", "`load` is slow", true);
        check("load", "`Config.load` is slow", true);
        check("load", "reload() is slow, load() is not", true);
        check("load", "`reload` it", false);
    }

    #[test]
    fn candidates_of_queries() {
        let check = |query: &str, expected: &[&str]| {
            let words: Vec<&str> = query.split(' ').collect();
            assert_eq!(symbol_candidates(&words), expected, "{query}");
        };
        check("config", &["config"]);
        check("How does Session start", &["Session"]);
        check("where is Session::login or parse_query", &["Session::login", "login", "parse_query"]);
        check("The Session of getUser", &["getUser", "Session"]);
        check("what does login do", &[]);
        check("e.g. this", &[]);
    }
}
