//! Takes qualified names apart: `Session::login`, `Session.login`, `Session#login`, `App\Session`.

/// The separators of the parts in the languages.
const JOINTS: [char; 4] = [':', '.', '#', '\\'];

/// Returns the last part.
pub fn own_part(name: &str) -> &str {
    name.rsplit(JOINTS).next().unwrap_or(name)
}

/// Returns the text before the last part; `None` if it is the only one.
pub fn qualifier(name: &str) -> Option<&str> {
    Some(name.rsplit_once(JOINTS)?.0.trim_end_matches(JOINTS))
}

/// Returns the text before a known last part; empty if there is none, or the last part differs.
pub(super) fn qualifier_of<'a>(name: &'a str, own: &str) -> &'a str {
    name.strip_suffix(own).unwrap_or_default().trim_end_matches(JOINTS)
}

/// Whether a name is `of` or that of something inside of it.
pub fn is_inside(name: &str, of: &str) -> bool {
    name.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with(JOINTS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_languages_are_taken_apart() {
        let check = |name: &str, of: Option<&str>, own: &str| {
            assert_eq!((qualifier(name), own_part(name)), (of, own), "{name}");
        };
        check("login", None, "login");
        check("a::Session::login", Some("a::Session"), "login");
        check("Session.login", Some("Session"), "login");
        check("Session#login", Some("Session"), "login");
        check("App\\Session", Some("App"), "Session");
        assert!(is_inside("Session::login", "Session") && is_inside("Session", "Session"));
        assert!(!is_inside("Sessions", "Session"));
    }
}
