//! Converts `file:` URIs, which editors, terminals and agents copy, to paths.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// Characters of a path that have another meaning in a URI.
const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>').add(b'?');

/// Returns the absolute path of a `file:` URI of this machine, still encoded; `None` for any other text.
pub(super) fn split_file_uri(typed: &str) -> Option<&str> {
    let rest = typed.strip_prefix("file:")?;
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.strip_prefix("localhost").unwrap_or(rest),
        None => rest,
    };
    let of_drive = path.strip_prefix('/').filter(|path| path.as_bytes().get(1) == Some(&b':'));
    path.starts_with('/').then(|| of_drive.filter(|_| cfg!(windows)).unwrap_or(path))
}

/// Returns the path that a URI has in encoded form; `None` if it is not UTF-8.
pub(super) fn decode_uri_path(encoded: &str) -> Option<String> {
    percent_decode_str(encoded).decode_utf8().ok().map(Into::into)
}

/// Returns a path in the form that a URI has.
pub(super) fn encode_uri_path(path: &str) -> String {
    utf8_percent_encode(path, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_uri() {
        let check = |typed: &str, expected: Option<&str>| {
            let path = split_file_uri(typed).and_then(decode_uri_path);
            assert_eq!(path.as_deref(), expected, "{typed}");
        };
        check("file:///r/a%20b%23c%C3%BC.md:7", Some("/r/a b#cü.md:7"));
        check("file://localhost/r/a", Some("/r/a"));
        check("file:/r/a", Some("/r/a"));
        check("file:///c:/r", Some(if cfg!(windows) { "c:/r" } else { "/c:/r" }));
        for other in ["file://server/r/a", "file:a", "file:", "/r/a", "https://r/a", "file:///%FF"] {
            check(other, None);
        }
        assert_eq!(encode_uri_path("/r/a b#c%"), "/r/a%20b%23c%25");
    }
}
