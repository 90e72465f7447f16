//! Splits qualified names: `Session::login`, `Session.login`, `Session#login`, `App\Session`, `Session.#token`.

/// Characters that separate the parts of a name in the various languages.
const SEPARATORS: [char; 4] = [':', '.', '#', '\\'];
/// The same, and `/`, which separates the names of a path.
const SEPARATORS_OF_TYPED: [char; 5] = [':', '.', '#', '\\', '/'];

/// Returns the last part of a qualified name.
pub fn last_part(name: &str) -> &str {
    &name[own_start(name)..]
}

/// Returns the text before the last part of a qualified name; `None` if the name has only one part.
pub fn qualifier(name: &str) -> Option<&str> {
    let before = &name[..own_start(name)];
    (!before.is_empty()).then(|| before.trim_end_matches(SEPARATORS))
}

/// Returns the byte at which the last part of a name starts.
fn own_start(name: &str) -> usize {
    let Some(at) = name.rfind(SEPARATORS) else { return 0 };
    if is_private_mark(name, at) { at } else { at + 1 }
}

/// Returns whether the character at a byte is the `#` of a private name of JavaScript, and separates no names.
fn is_private_mark(name: &str, at: usize) -> bool {
    let (before, rest) = name.split_at(at);
    let is_name = rest
        .strip_prefix('#')
        .is_some_and(|own| own.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$'));
    is_name && (before.is_empty() || before.ends_with(SEPARATORS))
}

/// Returns the text before `own`, the known last part of a name; empty if nothing is before it, or the name ends differently.
pub(super) fn qualifier_before<'a>(name: &'a str, own: &str) -> &'a str {
    name.strip_suffix(own).unwrap_or_default().trim_end_matches(SEPARATORS)
}

/// Returns the last part of a typed name, which may begin with a path: `net/http.Get`.
pub fn last_typed_part(name: &str) -> &str {
    last_part(name.rsplit_once('/').map_or(name, |(_, rest)| if rest.is_empty() { name } else { rest }))
}

/// Returns the parts of a typed name, which may begin with a path.
pub fn typed_parts(name: &str) -> Vec<&str> {
    let separators = name
        .match_indices(SEPARATORS_OF_TYPED)
        .filter(|(at, _)| !is_private_mark(name, *at))
        .map(|(at, _)| at);
    let mut parts = Vec::new();
    let mut start = 0;
    for at in separators.chain([name.len()]) {
        parts.push(&name[start..at]);
        start = at + 1;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Returns a name with a dot between its parts, so that names of all styles compare equal.
pub fn to_dotted_name(name: &str) -> String {
    let name = name.replace("::", ".");
    let dotted = name.char_indices().map(|(at, c)| match c {
        '#' if is_private_mark(&name, at) => c,
        '#' | '\\' | '/' => '.',
        _ => c,
    });
    dotted.collect()
}

/// Returns whether a name is `of`, or the name of something inside of `of`.
pub fn is_same_or_inside(name: &str, of: &str) -> bool {
    name.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with(SEPARATORS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_languages_are_taken_apart() {
        let check = |name: &str, of: Option<&str>, own: &str| {
            assert_eq!((qualifier(name), last_part(name)), (of, own), "{name}");
        };
        check("login", None, "login");
        check("a::Session::login", Some("a::Session"), "login");
        check("Session.login", Some("Session"), "login");
        check("Session#login", Some("Session"), "login");
        check("App\\Session", Some("App"), "Session");
        check("Session.#token", Some("Session"), "#token");
        check("#token", None, "#token");
        check("#", Some(""), "");
        check("Path::operator/", Some("Path"), "operator/");
        assert!(is_same_or_inside("Session::login", "Session") && is_same_or_inside("Session", "Session"));
        assert!(!is_same_or_inside("Sessions", "Session"));
    }

    #[test]
    fn a_typed_name_may_begin_with_a_path() {
        let check = |name: &str, own: &str, dotted: &str| {
            let parts: Vec<&str> = dotted.split('.').collect();
            assert_eq!((last_typed_part(name), typed_parts(name)), (own, parts), "{name}");
            assert_eq!(to_dotted_name(name), dotted);
        };
        check("login", "login", "login");
        check("net/http.Get", "Get", "net.http.Get");
        check("a::Session#login", "login", "a.Session.login");
        check("App\\Session", "Session", "App.Session");
        check("src/Session.#token", "#token", "src.Session.#token");
        assert_eq!(last_typed_part("Path::operator/"), "operator/");
    }
}
