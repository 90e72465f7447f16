//! Defines the rules by which text looks like a credential.
//!
//! One list serves all uses: text that these rules match is removed from files and commits, and is refused in memories.

use super::plausible::{
    is_bare_password, is_long_random, is_quoted_password, is_random, is_url_password, is_varied,
};

/// A rule that recognises one kind of credential.
pub(super) struct CredentialRule {
    /// Name of the kind in messages.
    pub(super) name: &'static str,
    /// Every match of the pattern begins with one of these words. Case is ignored.
    pub(super) anchors: &'static [&'static str],
    /// Regular expression that is tried at each anchor. The credential is the first group that matched, or else the whole match.
    pub(super) pattern: &'static str,
    /// Whether an anchor may follow a letter, a digit, `_` or `-`.
    pub(super) within_word: bool,
    /// Whether the rule applies to source code too, where a word without quotes is an expression.
    pub(super) in_code: bool,
    /// Returns whether a match is a credential rather than a placeholder.
    pub(super) is_real: fn(&str) -> bool,
}

/// Names of variables and settings whose values are credentials.
const KEYWORDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "credential",
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
    "api key",
    "access key",
    "auth key",
    "private key",
];

/// Builds a pattern: a keyword with the suffixes that a variable may have, followed by `$rest`.
macro_rules! after_keyword {
    ($rest:literal) => {
        concat!(
            r#"\A(?i)[a-z]{3,11}(?:[_-]?(?:key|token|secret|value|prod|dev|live|staging|[0-9]{1,4})){0,4}"#,
            $rest
        )
    };
}

/// Builds a pattern for a value that a person typed: an unambiguous name of a credential, followed by `$rest`. Typed values are
/// shorter and plainer than generated ones, so the name must be unambiguous.
macro_rules! after_name {
    ($rest:literal) => {
        concat!(
            r#"\A(?i)(?:pass(?:word|wd|phrase|code)|pwd|credential|token|secret|(?:api|access|auth|private|secret)[ _-]?key|apikey)"#,
            r#"(?:[_-]?(?:key|token|secret|value|prod|dev|live|staging|[0-9]{1,4})){0,4}(?:\\{0,7}["'`])?"#,
            $rest
        )
    };
}

/// All rules. Patterns admit quotes that are escaped several times, as in JSON within a string of JSON. No pattern scans the same
/// text for two anchors, so that hostile text takes only linear time.
pub(super) const RULES: &[CredentialRule] = &[
    token_rule(
        "AWS access key",
        &["AKIA", "ASIA"],
        r#"\A(?:AKIA|ASIA)[A-Z0-9]{16}\b(?:[\s,;:"'|]{1,8}[A-Za-z0-9/+]{40}\b)?"#,
    ),
    CredentialRule {
        within_word: true,
        ..token_rule(
            "AWS secret key",
            &["secret"],
            r#"\A(?i)secret_?access_?key(?:\\{0,7}["'])?\s{0,4}[:=]\s{0,4}(?:\\{0,7}["'])?([a-z0-9/+]{40})\b"#,
        )
    },
    token_rule("GitHub token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"\Agh[pousr]_[A-Za-z0-9]{36,}"),
    token_rule("GitHub token", &["github_pat_"], r"\Agithub_pat_[A-Za-z0-9_]{22,}"),
    token_rule("GitLab token", &["glpat-"], r"\Aglpat-[A-Za-z0-9_-]{20,}(?:\.[a-z0-9]{2}\.[a-z0-9]{9})?"),
    token_rule("Slack token", &["xox"], r"\Axox[abeoprs]-[A-Za-z0-9-]{10,}"),
    token_rule("Slack webhook", &["hooks.slack.com/"], r"\Ahooks\.slack\.com/services/([A-Za-z0-9/]{30,})"),
    token_rule("Stripe key", &["sk_live_", "rk_live_"], r"\A[sr]k_live_[A-Za-z0-9]{16,}"),
    token_rule("Google API key", &["AIza"], r"\AAIza[A-Za-z0-9_-]{35}"),
    CredentialRule {
        is_real: is_random,
        ..token_rule("model API key", &["sk-"], r"\Ask-[A-Za-z0-9_-]{20,}")
    },
    token_rule("npm token", &["npm_"], r"\Anpm_[A-Za-z0-9]{36}"),
    token_rule("PyPI token", &["pypi-"], r"\Apypi-[A-Za-z0-9_-]{50,}"),
    token_rule("Hugging Face token", &["hf_"], r"\Ahf_[A-Za-z0-9]{34,}"),
    token_rule("SendGrid key", &["SG."], r"\ASG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    token_rule("age key", &["AGE-SECRET-KEY-"], r"\AAGE-SECRET-KEY-1[0-9A-Z]{58}"),
    token_rule("JWT", &["eyJ"], r"\AeyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    CredentialRule {
        is_real: is_random,
        ..token_rule("bearer token", &["bearer"], r"\A(?i)bearer[ \t]{1,4}([a-z0-9._~+/-]{20,}=*)")
    },
    token_rule(
        "private key",
        &["-----BEGIN"],
        r"\A-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----\s*(?:[A-Za-z-]{1,40}: [^\n]{0,200}\n){0,5}[A-Za-z0-9+/=\s\\]{40,}(?:-----END [A-Z ]{0,40}-----)?",
    ),
    CredentialRule {
        within_word: true,
        is_real: is_url_password,
        ..token_rule(
            "password in a URL",
            &["://"],
            r#"\A://[^\s/:@'"<>`]{0,100}:([^\s/:@'"<>`]{3,200})@[A-Za-z0-9\[]"#,
        )
    },
    CredentialRule {
        within_word: true,
        is_real: is_random,
        ..token_rule(
            "quoted secret",
            KEYWORDS,
            after_keyword!(
                r#"(?:\\{0,7}["'])?(?::\s?&?(?:'static )?[a-z]+)?\s{0,4}(?:=>|:=|:|=)\s{0,4}\\{0,7}["'`]([^"'`\s]{7,}[^"'`\s\\])\\{0,7}["'`]"#
            ),
        )
    },
    CredentialRule {
        within_word: true,
        is_real: is_long_random,
        ..token_rule(
            "plain secret",
            KEYWORDS,
            after_keyword!(r#"(?:=|[ \t]?[:=][ \t]{1,4})([a-z0-9+/_.~-]{16,}=*)(?:[\s,;&)'"\\]|\z)"#),
        )
    },
    CredentialRule {
        within_word: true,
        is_real: is_quoted_password,
        ..token_rule(
            "a value after a name such as `password`",
            KEYWORDS,
            after_name!(
                r#"(?::\s?&?(?:'static )?[a-z]+)?[ \t]{0,4}(?:=>|:=|:|=|\bis\b)[ \t]{0,4}\\{0,7}["'`]([^"'`\s]{5,}[^"'`\s\\])\\{0,7}["'`]"#
            ),
        )
    },
    // A short value must be at the end of a line: `token: base64 of …` is not a credential.
    CredentialRule {
        within_word: true,
        in_code: false,
        is_real: is_bare_password,
        ..token_rule(
            "a value after a name such as `password`",
            KEYWORDS,
            after_name!(
                r#"[ \t]{0,4}(?:=>|:=|:|=|\bis\b)[ \t]{0,4}(?:([a-z0-9][^\s"'`,;<>()\[\]{}|\\/:=]{11,})=*(?:[\s<|)]|,[ \t]|\z)|([a-z0-9][^\s"'`,;<>()\[\]{}|\\/:=]{5,10})[)]?[ \t]*(?:[#\r\n]|//|\z))"#
            ),
        )
    },
];

/// Returns a rule for tokens with a fixed prefix, as a base for other rules.
const fn token_rule(
    name: &'static str,
    anchors: &'static [&'static str],
    pattern: &'static str,
) -> CredentialRule {
    CredentialRule { name, anchors, pattern, within_word: false, in_code: true, is_real: is_varied }
}
