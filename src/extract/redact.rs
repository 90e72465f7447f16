//! Cuts credentials out of texts.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, Input, MatchKind};
use regex::Regex;

use super::credentials::RULES;

/// What stands in a stored text where a credential was.
pub const REDACTED: &str = "[REDACTED]";

/// What a word without quotes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// A value: documents, settings, messages, shell scripts.
    Prose,
    /// An expression: source code, and formats that quote every string.
    Code,
}

/// A credential in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// What it is, as a message says it: `GitHub token`.
    pub name: &'static str,
    /// Where it is.
    pub bytes: Range<usize>,
}

/// Returns the byte spans that look like credentials, ascending and disjoint.
pub fn secrets(text: &str, syntax: Syntax) -> Vec<Range<usize>> {
    find(text, syntax).into_iter().map(|secret| secret.bytes).collect()
}

/// Returns what looks like a credential, ascending and disjoint. Takes time linear in the text.
pub fn find(text: &str, syntax: Syntax) -> Vec<Secret> {
    find_in(text, syntax, 0..text.len(), 0).0
}

/// Returns what begins in `range` of the text but not before `known_to`, the end of the last one known, and where
/// to go on with the search.
fn find_in(text: &str, syntax: Syntax, range: Range<usize>, mut known_to: usize) -> (Vec<Secret>, usize) {
    let mut found: Vec<Secret> = Vec::new();
    let mut searched_to = range.end;
    let haystack = range.start..text.len().min(range.end + SCANNER.anchors.max_pattern_len());
    let anchors = SCANNER.anchors.find_iter(Input::new(text).span(haystack));
    for anchor in anchors.take_while(|anchor| anchor.start() < range.end) {
        searched_to = searched_to.max(anchor.end());
        if anchor.start() < known_to {
            continue;
        }
        let rules = SCANNER.rules_of_anchor[anchor.pattern().as_usize()].iter();
        if let Some(secret) = rules.filter_map(|rule| secret_at(text, syntax, anchor.start(), *rule)).next() {
            known_to = secret.bytes.end;
            found.push(secret);
        }
    }
    (found, searched_to)
}

/// Returns the text with every credential replaced by [`REDACTED`].
pub fn redact(text: &str, syntax: Syntax) -> Cow<'_, str> {
    redact_span(text, 0..text.len(), &secrets(text, syntax))
}

/// Returns the text with letters of a filler in the place of every byte of `secrets`; lines and offsets stay.
pub fn mask<'a>(text: &'a str, secrets: &[Range<usize>]) -> Cow<'a, str> {
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    for secret in secrets {
        masked.push_str(&text[masked.len()..secret.start]);
        let filler = b"REDACTED".iter().chain(std::iter::repeat(&b'_'));
        let bytes = text.as_bytes()[secret.clone()].iter().zip(filler);
        masked.extend(bytes.map(|(was, filler)| char::from(if is_line_end(*was) { *was } else { *filler })));
    }
    masked.push_str(&text[masked.len()..]);
    Cow::Owned(masked)
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns the span `bytes` of `text`, with what lies in it of `secrets` replaced by [`REDACTED`].
///
/// `secrets` are those of the whole text: of a private key that was cut in two, the second half alone
/// looks like nothing.
pub fn redact_span<'a>(text: &'a str, bytes: Range<usize>, secrets: &[Range<usize>]) -> Cow<'a, str> {
    let first = secrets.partition_point(|secret| secret.end <= bytes.start);
    let inside = secrets[first..].iter().take_while(|secret| secret.start < bytes.end);
    let mut redacted = String::new();
    let mut kept_to = bytes.start;
    for secret in inside {
        redacted.push_str(&text[kept_to..secret.start.max(kept_to)]);
        redacted.push_str(REDACTED);
        kept_to = secret.end.min(bytes.end);
    }
    if redacted.is_empty() {
        return Cow::Borrowed(&text[bytes]);
    }
    redacted.push_str(&text[kept_to..bytes.end]);
    Cow::Owned(redacted)
}

/// One pass over the text finds the anchors of all rules; a rule's pattern runs only there.
struct Scanner {
    anchors: AhoCorasick,
    /// Places in [`RULES`] of the rules with this anchor, in order.
    rules_of_anchor: Vec<Vec<usize>>,
    patterns: Vec<Regex>,
}

static SCANNER: LazyLock<Scanner> = LazyLock::new(|| {
    let mut anchors: Vec<&str> = RULES.iter().flat_map(|rule| rule.anchors.iter().copied()).collect();
    anchors.sort_unstable();
    anchors.dedup();
    let rules_of =
        |anchor: &&str| (0..RULES.len()).filter(|at| RULES[*at].anchors.contains(anchor)).collect();
    let rules_of_anchor = anchors.iter().map(rules_of).collect();
    let patterns = RULES.iter().map(|rule| Regex::new(rule.pattern).expect("a test compiles every rule"));
    let automaton = AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(&anchors)
        .expect("a few short words make a small automaton");
    Scanner { anchors: automaton, rules_of_anchor, patterns: patterns.collect() }
});

fn secret_at(text: &str, syntax: Syntax, at: usize, rule_at: usize) -> Option<Secret> {
    let rule = &RULES[rule_at];
    if syntax == Syntax::Code && !rule.in_code {
        return None;
    }
    let before = text[..at].bytes().next_back();
    let in_word = before.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if in_word && !rule.within_word {
        return None;
    }
    let captures = SCANNER.patterns[rule_at].captures(&text[at..])?;
    let secret = captures.iter().skip(1).flatten().next().or_else(|| captures.get(0))?;
    let bytes = at + secret.start()..at + secret.end();
    (rule.is_real)(secret.as_str()).then_some(Secret { name: rule.name, bytes })
}

/// A text and where its credentials are: looked for from its beginning, since half a key is no longer known for one,
/// up to the end of what is asked for.
#[derive(Clone, Debug)]
pub struct RedactedText {
    text: String,
    syntax: Syntax,
    /// Those that begin before `searched_to`.
    secrets: Vec<Range<usize>>,
    searched_to: usize,
}

impl RedactedText {
    /// Takes a text in which nothing was looked for yet.
    pub fn new(text: String, syntax: Syntax) -> Self {
        Self { text, syntax, secrets: Vec::new(), searched_to: 0 }
    }

    /// Returns a byte span without its credentials; none when it is not a span of the text.
    pub fn span(&mut self, bytes: Range<usize>) -> Option<Cow<'_, str>> {
        self.text.get(bytes.clone())?;
        if self.searched_to < bytes.end {
            let known_to = self.secrets.last().map_or(0, |last| last.end);
            let (found, searched_to) =
                find_in(&self.text, self.syntax, self.searched_to..bytes.end, known_to);
            self.secrets.extend(found.into_iter().map(|secret| secret.bytes));
            self.searched_to = searched_to;
        }
        Some(redact_span(&self.text, bytes, &self.secrets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    /// Name, a text with `{}` where the credential stands, the credential (in parts, lest scanners of
    /// this file take it for one), and a text that only looks alike.
    const EXAMPLES: &[(&str, &str, [&str; 2], &str)] = &[
        ("AWS access key", "id: {}\n", ["AKIA", "Z3MN7QWERT5YUIOP"], "id: AKIAIOSFODNN7EXAMPLE"),
        (
            "AWS access key",
            "{}",
            ["ASIA", "Z3MN7QWERT5YUIOP,wJa7rXUtnF9MI/K7MDeNG/bPxRfiCYzQ8KEYz1aB"],
            "ASIAN markets",
        ),
        (
            "AWS secret key",
            "aws_secret_access_key = {}\n",
            ["wJa7rXUtnF9MI/K7MD", "eNG/bPxRfiCYzQ8KEYz1aB"],
            "aws_secret_access_key = $KEY",
        ),
        (
            "GitHub token",
            "git clone {} x",
            ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"],
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ),
        ("GitHub token", "'{}'", ["github_pat_", "11ABCDE0Y0aBcDfGhIjKlM_nOpQ"], "github_pat_short"),
        ("GitLab token", "{}", ["glpat-", "Ab3dEf6hIj9kLmN0pQrS"], "glpat-<token>"),
        ("Slack token", "= {};", ["xoxb-", "2847561930-kLmN0pQrStUv"], "xoxo-hugs"),
        (
            "Slack webhook",
            "https://hooks.slack.com/services/{}",
            ["T0A1B2C3D", "/B4E5F6G7H/i8J9k0L1m2N3o4P5"],
            "hooks.slack.com/services/T/B/x",
        ),
        ("Stripe key", "{}", ["sk_live_", "4eC39HqLyjWDarjtT1zdp7dc"], "sk_live_yourkeyyourkeyyour"),
        ("Google API key", "key={}&x", ["AIza", "SyA1bC3dE5fG7hI9jK1lM3nO5pQ7rS9tU1v"], "AIzawhat"),
        ("model API key", "{}", ["sk-", "proj-Ab3dEf6hIj9kLmN0pQrStUv"], "sk-loading-indicator-wrapper-2"),
        ("npm token", "{}", ["npm_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"], "npm_config_registry"),
        (
            "PyPI token",
            "{}",
            ["pypi-", "AgEIcHlwaS5vcmcCJDk5ZTA3MzQ1LWQ2YjctNDE5Zi1iM2Q5LTE"],
            "pypi-publish",
        ),
        ("Hugging Face token", "{}", ["hf_", "aBcDfGhIjKlMnOpQrStUvWxYz0123zYxWv"], "hf_hub_download"),
        (
            "SendGrid key",
            "{}",
            ["SG.", "aB1cD2eF3gH4iJ5kL6mN7o.aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3aB4c"],
            "SG.x",
        ),
        (
            "age key",
            "{}",
            ["AGE-SECRET-KEY-", "1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE"],
            "AGE-SECRET-KEY-1...",
        ),
        (
            "JWT",
            "jwt: {}",
            ["eyJhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"],
            "eyJhbGciOiJIUzI1NiJ9",
        ),
        (
            "bearer token",
            "Authorization: Bearer {}",
            ["a1B2c3D4e5", "F6g7H8i9J0k1"],
            "Bearer authentication-is-required-here",
        ),
        (
            "private key",
            "x\n{}\ny",
            [
                "-----BEGIN RSA PRIVATE KEY-----\n",
                "MIIEpAIBAAKCAQEA7bq0Zc0sZx9P8mJq3mXyT1w5r\nAbCd==\n-----END RSA PRIVATE KEY-----",
            ],
            "-----BEGIN PRIVATE KEY-----\n...\n",
        ),
        (
            "password in a URL",
            "postgres://app:{}@db.internal/x",
            ["k9v", "Lq2"],
            "postgres://user:password@localhost/x",
        ),
        ("quoted secret", "\"db_password\": \"{}\"", ["S7#kq", "P2!vx"], "\"db_password\": \"changeme\""),
        (
            "quoted secret",
            "const API_KEY: &str = \"{}\";",
            ["9f86d081884c7d65", "9a2feaa0c55ad015"],
            "const API_KEY: &str = \"api_key_header_v2\";",
        ),
        (
            "plain secret",
            "export API_TOKEN={}\n",
            ["9f86d081884c", "7d659a2feaa0"],
            "export API_TOKEN=${TOKEN}\n",
        ),
        (
            "plain secret",
            "  secret_key: {} # prod\n",
            ["q8Zr5LmX2w", "Tn7VbK4s"],
            "  secret_key: vault.path.of_the_key1\n",
        ),
        ("a value after its name", "password: {}\n", ["hunter2", "hunter2"], "password: String\n"),
        (
            "a value after its name",
            "the db password is {}\n",
            ["hunt", "er2."],
            "the password is hashed2 twice\n",
        ),
        ("a value after its name", "DB_PASSWORD={}", ["hunt", "er2"], "DB_PASSWORD=$PW2"),
        (
            "a value after its name",
            "  password: {} # staging\n",
            ["Tr0ub4", "dor&3x"],
            "token: base64 of the id",
        ),
        (
            "a value after its name",
            "connect(password = \"{}\")",
            ["hunter2", "hunter2"],
            "connect(password = \"{{ .Values.pw2 }}\")",
        ),
        (
            "a value after its name",
            "\"api_key\": \"{}\",",
            ["abc123", "xyz789"],
            "\"token\": \"Uint8Array\",",
        ),
    ];

    #[test]
    fn every_rule_finds_its_credential_and_nothing_alike() {
        for (name, context, parts, alike) in EXAMPLES {
            let (credential, negative) = (parts.concat(), redact(alike, Syntax::Prose));
            let text = context.replace("{}", &credential);
            let names: Vec<_> = find(&text, Syntax::Prose).iter().map(|secret| secret.name).collect();
            assert_eq!(names, [*name], "{text}");
            assert_eq!(redact(&text, Syntax::Prose), context.replace("{}", REDACTED));
            assert_eq!(negative, *alike);
        }
        for rule in RULES {
            assert!(EXAMPLES.iter().any(|(name, ..)| *name == rule.name), "no example of {}", rule.name);
        }
    }

    #[test]
    fn code_and_lock_files_are_left_alone() {
        let texts = [
            "password = get_password()",
            "token: String,\nlet token = self.tokens[0];",
            "let secret = \"changeme\"; api_key: <your-token>",
            "TOKEN=xxxxxxxxxxxxxxxxxxxxxxxx PASSWORD=\"$(cat /run/pw1)\"",
            "secret: ${{ secrets.NPM_TOKEN }}",
            "\"integrity\": \"sha512-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08==\"",
            "checksum = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"",
            "token_url = \"https://auth.host.io/v2/token\"",
            "fn token(kind: TokenKind2) -> Token { Token::new(kind, b'1') }",
            "password=password, token=access_token_v2, secret=client_secret_2)",
            "if token == \"function\" || secret != 'A1' {}",
            "http://localhost:8080/a@b https://x.io/@scope/pkg:1@2",
            "TOKEN_KIND: TokenKind = MSV1_0_PROTOCOL_MESSAGE_TYPE;",
            "test_password: \"Password123!\"",
        ];
        for text in texts {
            assert_eq!(redact(text, Syntax::Prose), text);
        }
    }

    #[test]
    fn names_types_templates_and_examples_are_no_passwords() {
        let texts = [
            "password: String\npassword: Option<SecretString2>\ntoken: &str\n token: &'a [u8]\n",
            "password = os.environ[\"PASSWORD_1\"]\nsecret = std::env::var(\"X1\")?;\n",
            "password: \"{{ .Values.x1 }}\"\npassword: '${PASSWORD_2}'\npassword: \"%PASSWORD1%\"\n",
            "password: <your password 1>\npassword: your_password1\npassword: \"changeme123\"\n",
            "token = client.fetch2()\ntoken = tokens[0]\ntoken = self.token2\nsecret = a.b1.c2\n",
            "token: Uint8Array\nsecret: base64\nprivate_key: ed25519\nsecret = \"hmac-sha256\"\n",
            "token: color-red-500\ntoken: \"x-token-v2\"\naccess_token: newToken2\n",
            "token: v1.2.3-rc1\ntoken ttl is 3600s\nsecret: 0x1f\ntoken = \"HTTP/1.1\"\n",
            "token: \"Token*\"\npassword: \"Passwort!\"\ntoken: someone@host.example1.org\n",
            "tokenizer: bert2x4y6\ntokens: 4k9x8q7\npassword_field1: x1y2z3w4\n",
            "if token == \"abc123x\" || secret != \"abc123x\" {}",
        ];
        for text in texts {
            assert_eq!(redact(text, Syntax::Prose), text);
        }
    }

    #[test]
    fn a_word_without_quotes_is_a_value_in_prose_alone() {
        let text = "let password = hunter2x\n";
        assert_eq!(redact(text, Syntax::Prose), "let password = [REDACTED]\n");
        assert_eq!(redact(text, Syntax::Code), text);
    }

    #[test]
    fn a_mask_keeps_lines_and_offsets() {
        let text = "a: sécret\nb: x\n";
        assert_eq!(mask(text, &[3..10, 14..15]), "a: REDACTE\nb: R\n");
        let secret = 3..15;
        assert_eq!(mask(text, std::slice::from_ref(&secret)), "a: REDACTE\n____\n");
        assert_eq!(mask(text, &[]), text);
    }

    #[test]
    fn a_part_of_a_cut_credential_is_redacted_too() {
        let text = "ab SECRET cd SECRET ef";
        let check = |bytes: Range<usize>, expected: &str| {
            assert_eq!(redact_span(text, bytes, &[3..9, 13..19]), expected);
        };
        check(0..22, "ab [REDACTED] cd [REDACTED] ef");
        check(0..5, "ab [REDACTED]");
        check(5..12, "[REDACTED] cd");
        check(4..8, "[REDACTED]");
        check(9..13, " cd ");
        check(5..15, "[REDACTED] cd [REDACTED]");
    }

    #[test]
    fn a_span_is_screened_as_in_the_whole_text() {
        let mut random = Random::new(6);
        let credentials: Vec<String> =
            EXAMPLES.iter().map(|(_, context, parts, _)| context.replace("{}", &parts.concat())).collect();
        let mut pieces: Vec<&str> = credentials.iter().map(String::as_str).collect();
        pieces.extend(["pass", "-----BEGIN ", "token", "=", "\n", " é ", "key: ", "MIIEpAIB"]);
        for _ in 0..2_000 {
            let text: String = (0..random.below(8)).map(|_| random.pick(&pieces)).collect();
            let secrets = secrets(&text, Syntax::Prose);
            let mut screened = RedactedText::new(text.clone(), Syntax::Prose);
            for _ in 0..4 {
                let ends = [random.below(text.len() + 1), random.below(text.len() + 1)];
                let [start, end] = ends.map(|at| text.floor_char_boundary(at));
                let bytes = start.min(end)..start.max(end);
                let expected = redact_span(&text, bytes.clone(), &secrets);
                assert_eq!(screened.span(bytes), Some(expected), "{text}");
            }
        }
    }

    #[test]
    fn hostile_text_ends() {
        for part in [
            "token=",
            "-----BEGIN PRIVATE KEY-----\n",
            "eyJ.",
            "://",
            "://a:",
            "sk-",
            "password=\"",
            "a: b\n",
            "é",
            "token",
            "token_",
            "glpat-.",
            "a: -----BEGIN PRIVATE KEY-----\n",
            "a: -----BEGIN PRIVATE KEY-----",
        ] {
            let text = part.repeat((1 << 18) / part.len());
            assert!(secrets(&text, Syntax::Prose).len() <= text.len(), "{part}");
            let key = format!("-----BEGIN PRIVATE KEY-----\n{text}");
            assert!(secrets(&key, Syntax::Prose).len() <= key.len(), "{part}");
        }
    }
}
