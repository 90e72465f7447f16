//! Distinguishes likely credentials from names, types, placeholders and templates.
//!
//! All functions guess by the characters of a value: generated values look random, and passwords that a person types have digits
//! or signs among letters.

/// Texts by which a value is a placeholder or a template.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "placeholder",
    "change",
    "your",
    "dummy",
    "sample",
    "redacted",
    "xxx",
    "***",
    "...",
    "todo",
    "fixme",
    "12345678",
    "abcdef",
    "password",
    "passwd",
    "secret",
    "insert",
    "replace",
    "fake",
    "test",
    "${",
    "{{",
    "%(",
];

/// Returns whether a value is a placeholder or the start of a template.
fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    value.starts_with(['$', '<', '{', '%', '[', '(']) || PLACEHOLDERS.iter().any(|word| lower.contains(word))
}

/// Returns the number of different bytes in a value.
fn count_distinct_bytes(value: &str) -> u32 {
    let seen = value.bytes().fold(0_u128, |seen, byte| seen | 1 << (byte & 0x7f));
    seen.count_ones()
}

/// Returns whether a token with a known prefix has enough different characters, unlike `ghp_aaaa…`, and is no placeholder.
pub(super) fn is_varied(value: &str) -> bool {
    let value = value.strip_prefix("AGE-SECRET-KEY-").unwrap_or(value);
    let is_key_block = value.starts_with("-----BEGIN");
    is_key_block || !is_placeholder(value) && count_distinct_bytes(value) >= 10
}

/// Returns whether the password in a URL seems real: it is neither a word of examples, nor a variable, nor a number.
pub(super) fn is_url_password(value: &str) -> bool {
    let common = [
        "pass", "pwd", "passwd", "user", "postgres", "root", "admin", "guest", "token", "hunter2", "xyz",
        "port",
    ];
    let is_variable = value.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    !is_placeholder(value) && !is_variable && !common.contains(&value) && value.parse::<u32>().is_err()
}

/// Returns whether a value has at least 16 bytes and looks random.
pub(super) fn is_long_random(value: &str) -> bool {
    value.len() >= 16 && is_random(value)
}

/// Returns whether a value looks random: it mixes letters and digits, and is not made of words, a path or a URL.
pub(super) fn is_random(value: &str) -> bool {
    let n_digits = value.bytes().filter(u8::is_ascii_digit).count();
    let classes: [fn(&u8) -> bool; 4] =
        [u8::is_ascii_digit, u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_punctuation];
    let n_classes = classes.iter().filter(|class| value.bytes().any(|byte| class(&byte))).count();
    let has_letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_location = value.contains("://") || value.starts_with(['/', '.', '#', '@', '~', ':']);
    let enough_classes = n_classes >= if value.len() < 16 { 3 } else { 2 };
    let enough_distinct = count_distinct_bytes(value) >= if value.len() < 16 { 7 } else { 9 };
    n_digits > 0
        && has_letter
        && enough_classes
        && enough_distinct
        && !is_location
        && !is_placeholder(value)
        && !is_made_of_words(value, n_digits)
        && has_digit_of_its_own(value)
}

/// Returns whether a value seems to be made of words: at least half of it is in runs of three or more letters of one case, and at
/// most an eighth are digits.
fn is_made_of_words(value: &str, n_digits: usize) -> bool {
    let runs = value.as_bytes().chunk_by(have_one_case).map(<[u8]>::len);
    let n_in_runs: usize = runs.filter(|n_letters| *n_letters >= 3).sum();
    n_in_runs * 2 >= value.len() && n_digits * 8 <= value.len()
}

/// Returns whether both bytes are lower-case letters, or both are upper-case letters.
fn have_one_case(a: &u8, b: &u8) -> bool {
    a.is_ascii_lowercase() && b.is_ascii_lowercase() || a.is_ascii_uppercase() && b.is_ascii_uppercase()
}

/// Returns whether a quoted value looks like a password that a person typed: letters with digits or signs among them.
pub(super) fn is_quoted_password(value: &str) -> bool {
    is_mixed(value)
        && !is_placeholder(value)
        && !value.starts_with(['&', '*', '.', '~', '@', ':', '-'])
        && !value.contains(|c: char| "/\\(){}[]<>|=:;,".contains(c) || !c.is_ascii() || c.is_ascii_control())
        && !is_quantity(value)
        && !is_name(value)
        && !is_address(value)
        && has_digit_of_its_own(value)
}

/// Like [`is_quoted_password`], for a value without quotes. The last sign may be the end of a sentence.
pub(super) fn is_bare_password(value: &str) -> bool {
    let value = value.trim_end_matches(['.', '!', '?']);
    let is_member = value.split('.').skip(1).any(|part| part.starts_with(|c: char| c.is_ascii_alphabetic()));
    value.len() >= 6 && !is_member && is_quoted_password(value)
}

/// Returns whether a value has a letter, and also a digit, or a sign between its first and last character.
fn is_mixed(value: &str) -> bool {
    let inner = value.get(1..value.len() - 1).unwrap_or_default();
    value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && (value.bytes().any(|byte| byte.is_ascii_digit()) || inner.contains(SIGNS))
}

/// Signs that are common in passwords.
const SIGNS: &[char] = &['!', '@', '#', '$', '%', '^', '&', '*'];

/// Returns whether a value is a quantity or a version: `3600s`, `v1.2.3-rc1`, `0x80`, `1e9`.
fn is_quantity(value: &str) -> bool {
    let value = value.strip_prefix(['v', 'V']).unwrap_or(value);
    let unit = value.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '_'));
    let is_hex =
        value.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let is_version = value.starts_with(|c: char| c.is_ascii_digit()) && value.contains('.');
    is_hex || is_version || unit.len() < value.len() && unit.len() <= 3
}

/// Returns whether a value is a name made of several words, which may end in numbers: `client-token-2`, `api_key_header_v2`,
/// `color.red.500`, `newToken2`.
fn is_name(value: &str) -> bool {
    let mut parts = value.split(['-', '_', '.', ' ']).filter(|part| !part.is_empty());
    let has_several = value.contains(['-', '_', '.', ' ']);
    let word = value.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_camel = value.len() - word.len() <= 2
        && word.bytes().all(|byte| byte.is_ascii_alphabetic())
        && word
            .as_bytes()
            .windows(2)
            .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    is_camel || has_several && parts.all(is_numbered_word)
}

/// Returns whether a part of a name is a word that ends in at most two digits, or a number of at most four digits.
fn is_numbered_word(part: &str) -> bool {
    let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
    part.len() - word.len() <= if word.is_empty() { 4 } else { 2 }
        && word.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns whether a value has a dot after its last `@`, as addresses and versions have: `someone@host.example`, `name@1.2.3`. No
/// person would type such a password.
fn is_address(value: &str) -> bool {
    value.rsplit_once('@').is_some_and(|(_, host)| host.contains('.'))
}

/// Names of algorithms, types and protocols that are followed by a number (`sha256`), without the number.
const NUMBERED: &[&str] = &[
    "aes", "argon", "base", "blake", "curve", "ec", "ecdsa", "ed", "es", "f", "float", "hs", "http", "i",
    "int", "ipv", "iso", "k", "latin", "md", "oauth", "oidc", "p", "pbkdf", "pkcs", "ps", "ripemd", "rs",
    "rsa", "s", "secp", "sha", "sha3", "tls", "u", "uint", "utf", "v", "win", "x", "xterm",
];

/// Returns whether a value has a sign, or a digit that does not belong to a name such as `sha256` or `Uint8Array`.
fn has_digit_of_its_own(value: &str) -> bool {
    if value.contains(SIGNS) {
        return true;
    }
    let lower = value.to_ascii_lowercase();
    let bytes = lower.as_bytes();
    let mut word: &[u8] = &[];
    for run in bytes.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
        if !run[0].is_ascii_digit() {
            word = run;
            continue;
        }
        let is_numbered = NUMBERED.iter().any(|name| word.ends_with(name.as_bytes()) && is_whole(word, name));
        if !is_numbered {
            return true;
        }
    }
    false
}

/// Returns whether `name`, which ends `word`, is the whole word or follows a character that is no letter or digit.
fn is_whole(word: &[u8], name: &str) -> bool {
    word[..word.len() - name.len()].last().is_none_or(|byte| !byte.is_ascii_alphanumeric())
}
