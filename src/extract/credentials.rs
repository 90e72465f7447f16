//! Recognises text that looks like a credential.

/// One shape of credentials.
pub(super) struct Rule {
    /// What a message calls it.
    pub(super) name: &'static str,
    /// Words every such credential has at the start of its pattern; case is ignored.
    pub(super) anchors: &'static [&'static str],
    /// Tried where an anchor was found. Group 1 is the credential, where there is one, else the whole.
    pub(super) pattern: &'static str,
    /// Whether the anchor may follow a letter, digit, `_` or `-`.
    pub(super) within_word: bool,
    /// Tells a credential from a placeholder.
    pub(super) is_real: fn(&str) -> bool,
}

const KEYWORDS: &[&str] = &[
    "password",
    "passwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "access_key",
    "access-key",
    "accesskey",
    "auth_key",
    "private_key",
    "client_key",
    "encryption_key",
    "signing_key",
];

/// What may stand between a keyword and the `=` or `:` of its assignment.
macro_rules! after_keyword {
    ($rest:literal) => {
        concat!(
            r#"\A(?i)[a-z]{3,11}(?:[_-]?(?:key|token|secret|value|prod|dev|live|staging|[0-9]{1,4})){0,4}"#,
            $rest
        )
    };
}

/// All shapes. A pattern never scans the same text for two anchors, so that hostile text stays linear.
pub(super) const RULES: &[Rule] = &[
    token(
        "AWS access key",
        &["AKIA", "ASIA"],
        r#"\A(?:AKIA|ASIA)[A-Z0-9]{16}\b(?:[\s,;:"'|]{1,8}[A-Za-z0-9/+]{40}\b)?"#,
    ),
    Rule {
        within_word: true,
        ..token(
            "AWS secret key",
            &["secret"],
            r#"\A(?i)secret_?access_?key["']?\s{0,4}[:=]\s{0,4}["']?([a-z0-9/+]{40})\b"#,
        )
    },
    token("GitHub token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"\Agh[pousr]_[A-Za-z0-9]{36,}"),
    token("GitHub token", &["github_pat_"], r"\Agithub_pat_[A-Za-z0-9_]{22,}"),
    token("GitLab token", &["glpat-"], r"\Aglpat-[A-Za-z0-9_-]{20,}(?:\.[a-z0-9]{2}\.[a-z0-9]{9})?"),
    token("Slack token", &["xox"], r"\Axox[abeoprs]-[A-Za-z0-9-]{10,}"),
    token("Slack webhook", &["hooks.slack.com/"], r"\Ahooks\.slack\.com/services/([A-Za-z0-9/]{30,})"),
    token("Stripe key", &["sk_live_", "rk_live_"], r"\A[sr]k_live_[A-Za-z0-9]{16,}"),
    token("Google API key", &["AIza"], r"\AAIza[A-Za-z0-9_-]{35}"),
    Rule { is_real: is_random, ..token("model API key", &["sk-"], r"\Ask-[A-Za-z0-9_-]{20,}") },
    token("npm token", &["npm_"], r"\Anpm_[A-Za-z0-9]{36}"),
    token("PyPI token", &["pypi-"], r"\Apypi-[A-Za-z0-9_-]{50,}"),
    token("Hugging Face token", &["hf_"], r"\Ahf_[A-Za-z0-9]{34,}"),
    token("SendGrid key", &["SG."], r"\ASG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    token("age key", &["AGE-SECRET-KEY-"], r"\AAGE-SECRET-KEY-1[0-9A-Z]{58}"),
    token("JWT", &["eyJ"], r"\AeyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    Rule {
        is_real: is_random,
        ..token("bearer token", &["bearer"], r"\A(?i)bearer[ \t]{1,4}([a-z0-9._~+/-]{20,}=*)")
    },
    token(
        "private key",
        &["-----BEGIN"],
        r"\A-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----\s*(?:[A-Za-z-]{1,40}: [^\n]{0,200}\n){0,5}[A-Za-z0-9+/=\s\\]{40,}(?:-----END [A-Z ]{0,40}-----)?",
    ),
    Rule {
        within_word: true,
        is_real: is_password,
        ..token(
            "password in a URL",
            &["://"],
            r#"\A://[^\s/:@'"<>`]{0,100}:([^\s/:@'"<>`]{3,200})@[A-Za-z0-9\[]"#,
        )
    },
    Rule {
        within_word: true,
        is_real: is_random,
        ..token(
            "quoted secret",
            KEYWORDS,
            after_keyword!(
                r#"["']?(?::\s?&?(?:'static )?[a-z]+)?\s{0,4}(?:=>|:=|:|=)\s{0,4}["'`]([^"'`\s]{8,})["'`]"#
            ),
        )
    },
    Rule {
        within_word: true,
        is_real: is_long_random,
        ..token(
            "plain secret",
            KEYWORDS,
            after_keyword!(r#"(?:=|[ \t]?[:=][ \t]{1,4})([a-z0-9+/_.~-]{16,}=*)(?:[\s,;&)'"\\]|\z)"#),
        )
    },
];

/// A rule for tokens with a prefix of their own.
const fn token(name: &'static str, anchors: &'static [&'static str], pattern: &'static str) -> Rule {
    Rule { name, anchors, pattern, within_word: false, is_real: is_varied }
}

/// Words that only examples hold.
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

fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    value.starts_with(['$', '<', '{', '%', '[', '(']) || PLACEHOLDERS.iter().any(|word| lower.contains(word))
}

fn n_distinct(value: &str) -> u32 {
    let seen = value.bytes().fold(0_u128, |seen, byte| seen | 1 << (byte & 0x7f));
    seen.count_ones()
}

/// Tells whether a token with a known prefix is more than `ghp_aaaa…`.
fn is_varied(value: &str) -> bool {
    let value = value.strip_prefix("AGE-SECRET-KEY-").unwrap_or(value);
    let is_key_block = value.starts_with("-----BEGIN");
    is_key_block || !is_placeholder(value) && n_distinct(value) >= 10
}

/// Tells whether the password of a URL is one: not a word every example uses, nor a variable.
fn is_password(value: &str) -> bool {
    let common = [
        "pass", "pwd", "passwd", "user", "postgres", "root", "admin", "guest", "token", "hunter2", "xyz",
        "port",
    ];
    let is_variable = value.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    !is_placeholder(value) && !is_variable && !common.contains(&value) && value.parse::<u32>().is_err()
}

fn is_long_random(value: &str) -> bool {
    value.len() >= 16 && is_random(value)
}

/// Tells whether a value was made by chance, not of words: letters and digits mixed, no path or URL.
fn is_random(value: &str) -> bool {
    let n_digits = value.bytes().filter(u8::is_ascii_digit).count();
    let classes: [fn(&u8) -> bool; 4] =
        [u8::is_ascii_digit, u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_punctuation];
    let n_classes = classes.iter().filter(|class| value.bytes().any(|byte| class(&byte))).count();
    let has_letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_place = value.contains("://") || value.starts_with(['/', '.', '#', '@', '~', ':']);
    let enough_classes = n_classes >= if value.len() < 16 { 3 } else { 2 };
    let enough_distinct = n_distinct(value) >= if value.len() < 16 { 7 } else { 9 };
    n_digits > 0
        && has_letter
        && enough_classes
        && enough_distinct
        && !is_place
        && !is_placeholder(value)
        && !is_made_of_words(value, n_digits)
}

/// Tells whether half of the value or more lies in runs of three letters of one case, with few digits.
fn is_made_of_words(value: &str, n_digits: usize) -> bool {
    let one_case = |a: &u8, b: &u8| {
        a.is_ascii_lowercase() && b.is_ascii_lowercase() || a.is_ascii_uppercase() && b.is_ascii_uppercase()
    };
    let runs = value.as_bytes().chunk_by(one_case).map(<[u8]>::len);
    let n_in_runs: usize = runs.filter(|n_letters| *n_letters >= 3).sum();
    n_in_runs * 2 >= value.len() && n_digits * 8 <= value.len()
}
