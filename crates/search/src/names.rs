//! Finds the words of a query that name symbols.

/// Most names taken from one query.
const MAX_NAMES: usize = 8;

/// Longest name, in bytes; longer words are data.
const MAX_NAME_BYTES: usize = 128;

/// A dotted word with one of these endings is the name of a file or product, not a member access.
const FILE_ENDINGS: [&str; 45] = [
    "adoc", "bash", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "ex", "exs", "go", "h", "hpp", "hs",
    "html", "ini", "ipynb", "java", "js", "json", "jsx", "kt", "lock", "log", "lua", "md", "mjs", "php",
    "py", "rb", "rs", "rst", "scala", "sh", "sql", "swift", "toml", "ts", "tsx", "txt", "xml", "yaml", "yml",
    "zig",
];

/// How likely the spelling of a word names a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    /// Any other identifier: `config`.
    Plain,
    /// `Session`, `HTTP`: a type, or the start of a sentence.
    Capital,
    /// `parse_query`, `getUserById`, `Session::login`, `foo()`, `sha256`.
    Code,
}

/// A word that could be a symbol's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name<'a> {
    /// With its qualifiers: `Session::login`.
    pub(super) full: &'a str,
    /// What it ends with: `login`.
    pub(super) last: &'a str,
    pub(super) shape: Shape,
}

/// Returns the name in a word between spaces, without its brackets and the punctuation around it.
pub(super) fn name_of(word: &str) -> Option<Name<'_>> {
    let is_inner = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let start = word.find(is_inner)?;
    let word = &word[start..];
    let end = word.find(['(', '[', '<', '{', '"', '`', ',', ';', '!', '?']).unwrap_or(word.len());
    let is_call = word[end..].starts_with('(');
    let full = word[..end].trim_end_matches(|c| !is_inner(c));
    let segments = full.split("::").flat_map(|s| s.split("->")).flat_map(|s| s.split(['.', '#']));
    if full.len() > MAX_NAME_BYTES || !segments.clone().all(is_identifier) {
        return None;
    }
    let last = segments.last()?;
    let is_qualified = last.len() < full.len();
    if full.ends_with(&format!(".{last}")) && FILE_ENDINGS.contains(&last) {
        return None;
    }
    let shape = if is_call || is_qualified { Shape::Code } else { shape_of(last) };
    Some(Name { full, last, shape })
}

/// Returns the names worth an exact lookup, the likeliest first: those spelled like code, capitalized words after the first
/// word, and a single word.
pub(super) fn candidates(words: &[&str]) -> Vec<String> {
    let mut names: Vec<Name<'_>> = Vec::new();
    for (nth, word) in words.iter().enumerate() {
        let Some(name) = name_of(word) else { continue };
        let is_sure = name.shape == Shape::Code || (name.shape == Shape::Capital && nth > 0);
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
    let is_inner = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let starts_well = |c: char| c.is_alphabetic() || c == '_' || c == '$';
    segment.starts_with(starts_well) && segment.chars().all(is_inner)
}

fn shape_of(name: &str) -> Shape {
    let inner = name.trim_matches('_');
    let is_changing = |(left, right): (char, char)| {
        (left.is_lowercase() && right.is_uppercase()) || (left.is_alphabetic() && right.is_numeric())
    };
    let has_change = inner.chars().zip(inner.chars().skip(1)).any(is_changing);
    if name.contains(['_', '$']) || has_change {
        Shape::Code
    } else if inner.starts_with(char::is_uppercase) {
        Shape::Capital
    } else {
        Shape::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_words() {
        let check = |word: &str, expected: Option<(&str, &str, Shape)>| {
            let name = name_of(word).map(|name| (name.full, name.last, name.shape));
            assert_eq!(name, expected, "{word}");
        };
        check("parse_query", Some(("parse_query", "parse_query", Shape::Code)));
        check("`Session::login`,", Some(("Session::login", "login", Shape::Code)));
        check("foo()", Some(("foo", "foo", Shape::Code)));
        check("foo(bar,", Some(("foo", "foo", Shape::Code)));
        check("Vec<T>", Some(("Vec", "Vec", Shape::Capital)));
        check("self.cache.get", Some(("self.cache.get", "get", Shape::Code)));
        check("ptr->next", Some(("ptr->next", "next", Shape::Code)));
        check("empty?", Some(("empty", "empty", Shape::Plain)));
        check("__init__", Some(("__init__", "__init__", Shape::Code)));
        check("größeVon", Some(("größeVon", "größeVon", Shape::Code)));
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
    fn candidates_of_queries() {
        let check = |query: &str, expected: &[&str]| {
            let words: Vec<&str> = query.split(' ').collect();
            assert_eq!(candidates(&words), expected, "{query}");
        };
        check("config", &["config"]);
        check("How does Session start", &["Session"]);
        check("where is Session::login or parse_query", &["Session::login", "login", "parse_query"]);
        check("The Session of getUser", &["getUser", "Session"]);
        check("what does login do", &[]);
        check("e.g. this", &[]);
    }
}
