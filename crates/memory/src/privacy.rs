//! Removes private parts from texts and refuses credentials.

use std::sync::LazyLock;

use memod_text::redact::{REDACTED, redact};
use memod_text::secrets::{Secret, Syntax, find_secrets};
use regex::Regex;

use super::RefusedValue;

static PRIVATE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)<\s*(/?)\s*private(?:\s[^<>]*)?>").expect("a test compiles the pattern")
});

/// Removes the parts of a text in `<private>…</private>`, in upper or lower case, across lines and nested; an unclosed part extends
/// to the end. Returns the rest of the text, with [`REDACTED`] for each part, and the number of parts.
pub fn without_private(text: &str) -> (String, usize) {
    let (mut kept, mut kept_to, mut depth, mut n_parts) = (String::new(), 0, 0_usize, 0);
    for tag in PRIVATE.captures_iter(text) {
        let span = tag.get(0).expect("group 0 is the match");
        let is_end = !tag[1].is_empty();
        match (is_end, depth) {
            (true, 0) => {} // a closing tag without an opening one stays in the text
            (true, 1) => (depth, kept_to) = (0, span.end()),
            (true, _) => depth -= 1,
            (false, 0) => {
                kept.push_str(&text[kept_to..span.start()]);
                kept.push_str(REDACTED);
                (depth, n_parts) = (1, n_parts + 1);
            }
            (false, _) => depth += 1,
        }
    }
    if depth == 0 {
        kept.push_str(&text[kept_to..]);
    }
    (kept, n_parts)
}

/// Length of the part of a text that is searched for credentials before its beginning is shown, bytes.
const MOST_SHOWN: usize = 4 << 10;

/// Returns the beginning of a text without private parts and credentials.
pub(super) fn without_secrets(text: &str) -> String {
    let (text, _) = without_private(&text[..text.floor_char_boundary(MOST_SHOWN)]);
    redact(&text, Syntax::Prose).into_owned()
}

/// Matches a word that announces a credential, and the first character after it. The words are those that LLMemory warns of; a
/// sentence that only mentions such a word does not match.
static ANNOUNCED: LazyLock<Regex> = LazyLock::new(|| {
    let words = r"(?i)(password|api[_ -]?key|token|secret)\\*[`'\x22]?\s*[:=]\s*\\*[`'\x22]?(\S)";
    Regex::new(words).expect("a test compiles the pattern")
});

/// Finds the first value that may be a credential although it does not look like one. Returns the number of its line, from 1, and
/// the word that announces it.
pub(super) fn find_announced_credential(text: &str) -> Option<(usize, &str)> {
    let found = ANNOUNCED.captures_iter(text).find(|found| is_value(&found[2]))?;
    let word = found.get(1).expect("the pattern has two groups");
    Some((text[..word.start()].matches('\n').count() + 1, word.as_str()))
}

/// Returns whether a value is not a placeholder such as `<password>` or `$PASSWORD`.
fn is_value(value: &str) -> bool {
    !value.starts_with(['<', '$', '[', '{', '*', '…', '.'])
}

/// Fails if a text has something that looks like a credential. The error names its line, but does not show it.
pub(super) fn check_secrets(field: &'static str, text: &str) -> Result<(), RefusedValue> {
    let Some(Secret { name, bytes }) = find_secrets(text, Syntax::Prose).into_iter().next() else {
        return Ok(());
    };
    let line = text[..bytes.start].matches('\n').count() + 1;
    let why = format!("line {line} looks like a credential ({name})");
    Err(RefusedValue::new(field, why).with_hint(
        "leave it out, put it in <private>…</private>, or give --allow-secret (allow_secret) if it is not a credential",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_private_is_cut_out() {
        let cases = [
            ("plain", "plain", 0),
            ("a <private>b</private> c", "a [REDACTED] c", 1),
            ("<PRIVATE>b\nc</Private>d<private>e</private>", "[REDACTED]d[REDACTED]", 2),
            ("a <private>b", "a [REDACTED]", 1),
            ("a <private>b <private>c</private> d</private> e", "a [REDACTED] e", 1),
            ("a </private> b", "a </private> b", 0),
            ("< private  why='x' >b</ private >c", "[REDACTED]c", 1),
            ("<privateer>b</privateer>", "<privateer>b</privateer>", 0),
        ];
        for (text, expected, n_parts) in cases {
            assert_eq!(without_private(text), (expected.to_owned(), n_parts), "{text}");
        }
    }

    #[test]
    fn a_credential_is_named_and_not_shown() {
        let token = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
        let error = check_secrets("content", &format!("one\ntwo {token}")).unwrap_err();
        assert_eq!(error.to_string(), "content: line 2 looks like a credential (GitHub token)");
        assert_eq!(check_secrets("content", "the token expires"), Ok(()));
    }

    #[test]
    fn what_is_typed_after_its_name_is_a_credential() {
        let cases = [
            "password = hunter2hunter2",
            "the staging db password: Tr0ub4dor&3x",
            "DB_PASSWORD=hunter2",
            "the password is hunter2.",
            "\"api_key\": \"abc123xyz789\", and so on",
            "first line\nsecret: p@ssw0rdy",
        ];
        for text in cases {
            assert!(check_secrets("content", text).is_err(), "{text}");
        }
        let cases = [
            "passwords are hashed with argon2id",
            "the password is SHA256 hashed",
            "token: base64 of the user's id",
            "password: see the vault",
            "secret = $API_KEY_2",
            "api key: <YOUR_KEY_1>",
            "token is read in src/auth2/token.rs",
            "the token expires after 3600 seconds",
            "private key: ~/.ssh/id_ed25519",
        ];
        for text in cases {
            assert_eq!(check_secrets("content", text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_is_announced_is_warned_of() {
        let cases = [
            ("password: see the vault", Some((1, "password"))),
            ("one\nAPI key = theirs", Some((2, "API key"))),
            ("'token' : x and secret: y", Some((1, "token"))),
            ("secret = $API_KEY_2", None),
            ("api key: <YOUR_KEY_1>", None),
            ("password: [REDACTED]", None),
            ("the token expires; the secret is rotated", None),
        ];
        for (text, expected) in cases {
            assert_eq!(find_announced_credential(text), expected, "{text}");
        }
    }
}
