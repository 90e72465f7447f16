//! Recognises queries for a definition: its name alone, or with words such as `function` and `defined`.

use super::Query;
use super::symbol_names::{NameShape, SymbolName, parse_name};

/// Words beside a name that only say that its definition is wanted.
const WORDS_BESIDE: [&str; 20] = [
    "class",
    "code",
    "constant",
    "declaration",
    "declared",
    "defined",
    "definition",
    "enum",
    "func",
    "function",
    "implementation",
    "implemented",
    "interface",
    "macro",
    "method",
    "module",
    "source",
    "struct",
    "trait",
    "type",
];

impl Query {
    /// Returns the name whose definition the query asks for; `None` for any other query. Beside other words, a name must be spelled
    /// like code, because `make config` is no name.
    pub fn asked_name(&self) -> Option<SymbolName<'_>> {
        if self.asks_for_documentation {
            return None; // `what is a container` asks for an explanation
        }
        if let Some(name) = self.single_name() {
            return parse_name(name);
        }
        let words = self.wanted_texts();
        let is_beside = |word: &str| WORDS_BESIDE.iter().any(|known| word.eq_ignore_ascii_case(known));
        let mut names = words.into_iter().filter(|word| !is_beside(word));
        let name = parse_name(names.next()?)?;
        (names.next().is_none() && name.shape == NameShape::Code).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use crate::query::parse_query;

    #[test]
    fn queries_for_a_definition() {
        let check = |query: &str, expected: Option<&str>| {
            let query = parse_query(query);
            assert_eq!(query.asked_name().map(|name| name.full), expected, "{query}");
        };
        check("parse_config", Some("parse_config"));
        check("config", Some("config"));
        check("Session::login()", Some("Session::login"));
        check("where is parse_config defined", Some("parse_config"));
        check("the parse_config function", Some("parse_config"));
        check("definition of parseConfig", Some("parseConfig"));
        check("config function", None);
        check("make config", None);
        check("what is a config", None);
        check("why is parse_config slow", None);
        check("parse_config load_config", None);
        check("pars*", None);
        check("config.toml", None);
        check("", None);
    }
}
