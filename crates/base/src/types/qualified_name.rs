//! Splits qualified names: `Session::login`, `Session.login`, `Session#login`, `App\Session`.

/// Characters that separate the parts of a name in the various languages.
const SEPARATORS: [char; 4] = [':', '.', '#', '\\'];

/// Returns the last part of a qualified name.
pub fn last_part(name: &str) -> &str {
    name.rsplit(SEPARATORS).next().unwrap_or(name)
}

/// Returns the text before the last part of a qualified name; `None` if the name has only one part.
pub fn qualifier(name: &str) -> Option<&str> {
    Some(name.rsplit_once(SEPARATORS)?.0.trim_end_matches(SEPARATORS))
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
    name.split(SEPARATORS).flat_map(|part| part.split('/')).filter(|part| !part.is_empty()).collect()
}

/// Returns a name with a dot between its parts, so that names of all styles compare equal.
pub fn to_dotted_name(name: &str) -> String {
    name.replace("::", ".").replace(['#', '\\', '/'], ".")
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
        assert_eq!(last_typed_part("Path::operator/"), "operator/");
    }
}
