use memod_testing::RandomNumbers;

use super::*;
use crate::redact::{REDACTED, RedactedText, redact, redact_span};

/// Name, a text with `{}` in place of the credential, the credential (in parts, lest scanners of
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
    ("PyPI token", "{}", ["pypi-", "AgEIcHlwaS5vcmcCJDk5ZTA3MzQ1LWQ2YjctNDE5Zi1iM2Q5LTE"], "pypi-publish"),
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
        r#""{\"db_password\": \"{}\"}""#,
        ["S7#kq", "P2!vx"],
        r#""{\"db_password\": \"changeme\"}""#,
    ),
    (
        "quoted secret",
        r#"{\\\"password\\\":\\\"{}\\\",\\\"a\\\":1}"#,
        ["S7#kq", "P2!vx"],
        r#"\\\"password\\\":\\\"\\\""#,
    ),
    (
        "a value after a name such as `password`",
        r#"{\"password\": \"{}\"}"#,
        ["hunt", "er2"],
        r#"{\"password\": \"\"}"#,
    ),
    (
        "AWS secret key",
        r#"{\"SecretAccessKey\": \"{}\"}"#,
        ["wJa7rXUtnF9MI/K7MD", "eNG/bPxRfiCYzQ8KEYz1aB"],
        r#"{\"SecretAccessKey\": \"\"}"#,
    ),
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
    (
        "a value after a name such as `password`",
        "password: {}\n",
        ["hunter2", "hunter2"],
        "password: String\n",
    ),
    (
        "a value after a name such as `password`",
        "the db password is {}\n",
        ["hunt", "er2."],
        "the password is hashed2 twice\n",
    ),
    ("a value after a name such as `password`", "DB_PASSWORD={}", ["hunt", "er2"], "DB_PASSWORD=$PW2"),
    (
        "a value after a name such as `password`",
        "  password: {} # staging\n",
        ["Tr0ub4", "dor&3x"],
        "token: base64 of the id",
    ),
    (
        "a value after a name such as `password`",
        "connect(password = \"{}\")",
        ["hunter2", "hunter2"],
        "connect(password = \"{{ .Values.pw2 }}\")",
    ),
    (
        "a value after a name such as `password`",
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
        let names: Vec<_> = find_secrets(&text, Syntax::Prose).iter().map(|secret| secret.name).collect();
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
fn a_span_is_screened_as_in_the_whole_text() {
    let mut random = RandomNumbers::new(6);
    let credentials: Vec<String> =
        EXAMPLES.iter().map(|(_, context, parts, _)| context.replace("{}", &parts.concat())).collect();
    let mut pieces: Vec<&str> = credentials.iter().map(String::as_str).collect();
    pieces.extend(["pass", "-----BEGIN ", "token", "=", "\n", " é ", "key: ", "MIIEpAIB"]);
    for _ in 0..2_000 {
        let text: String = (0..random.number_below(8)).map(|_| random.pick_item(&pieces)).collect();
        let secrets = find_secret_spans(&text, Syntax::Prose);
        let mut screened = RedactedText::new(text.clone(), Syntax::Prose);
        for _ in 0..4 {
            let ends = [random.number_below(text.len() + 1), random.number_below(text.len() + 1)];
            let [start, end] = ends.map(|at| text.floor_char_boundary(at));
            let bytes = start.min(end)..start.max(end);
            let expected = redact_span(&text, bytes.clone(), &secrets);
            assert_eq!(screened.span(bytes), Some(expected), "{text}");
            screened = RedactedText::new(text.clone(), Syntax::Prose).with_searched(screened.into_searched());
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
        "password\\\\\\\"=\\\\\\\"",
        "token=\"\\",
        "a: b\n",
        "é",
        "token",
        "token_",
        "glpat-.",
        "a: -----BEGIN PRIVATE KEY-----\n",
        "a: -----BEGIN PRIVATE KEY-----",
    ] {
        let text = part.repeat((1 << 18) / part.len());
        assert!(find_secret_spans(&text, Syntax::Prose).len() <= text.len(), "{part}");
        let key = format!("-----BEGIN PRIVATE KEY-----\n{text}");
        assert!(find_secret_spans(&key, Syntax::Prose).len() <= key.len(), "{part}");
    }
}
