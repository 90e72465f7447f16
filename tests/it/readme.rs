//! Is what the README shows what happens?

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use memod::config::{Config, KEYS};
use memod::proto::METHODS;
use regex::Regex;
use serde_json::Value;

use crate::live::{Live, not_checked};

const README: &str = include_str!("../../README.md");

/// The repository of the examples.
const SHOP: &[(&str, &str)] = &[
    (".env", "SECRET=1\n"),
    ("logo.png", "\u{89}PNG\0\0"),
    (
        "docs/auth.md",
        "# Authentication\n\nSessions are signed tokens; nothing is kept on the server.\n\n\
         ## Expiry\n\nA token expires after 24 hours. The web client renews it silently when less than one hour is \
         left.\n\n## Revocation\n\nChanging the password raises the user's key version, so every older token stops \
         verifying.\n",
    ),
    (
        "src/session.rs",
        r"//! Signed session tokens.

use crate::keys::Key;

/// How long a token is good for, seconds.
pub const LIFETIME_S: u64 = 24 * 60 * 60;

/// A session as its token carries it.
pub struct Session {
    pub user: u64,
    pub issued_s: u64,
}

impl Session {
    /// Returns whether the token may still be used.
    pub fn is_expired(&self, now_s: u64) -> bool {
        now_s.saturating_sub(self.issued_s) > LIFETIME_S
    }

    /// Reads a token and checks its signature.
    pub fn verify(token: &str, key: &Key) -> Option<Session> {
        let (body, signature) = token.rsplit_once('.')?;
        key.signs(body, signature).then(|| decode(body))?
    }
}

fn decode(body: &str) -> Option<Session> {
    let (user, issued_s) = body.split_once('.')?;
    Some(Session { user: user.parse().ok()?, issued_s: issued_s.parse().ok()? })
}
",
    ),
    (
        "src/keys.rs",
        r#"//! Keys of users.

/// The key that signs one user's sessions.
pub struct Key {
    pub version: u32,
    secret: [u8; 32],
}

impl Key {
    /// Returns whether `signature` was made with this key.
    pub fn signs(&self, body: &str, signature: &str) -> bool {
        mac(&self.secret, body.as_bytes()) == signature
    }
}

fn mac(secret: &[u8; 32], bytes: &[u8]) -> String {
    bytes.iter().zip(secret.iter().cycle()).map(|(a, b)| format!("{:02x}", a ^ b)).collect()
}
"#,
    ),
    (
        "web/renew.ts",
        r#"/** Renews the session when less than an hour is left. */
export async function renewSession(expiresAt: number, now: number): Promise<void> {
  if (expiresAt - now < 3600) {
    await fetch("/session", { method: "POST" });
  }
}
"#,
    ),
];

/// A repository of the examples, with a shell that knows `memo` by its name.
struct Shop(Live);

impl Shop {
    fn new() -> Self {
        let live = Live::idle();
        for (path, text) in SHOP {
            live.write(path, text);
        }
        Self(live)
    }

    fn program(&self, program: &str, args: &[&str]) -> Command {
        let bin = Path::new(env!("CARGO_BIN_EXE_memo")).parent().unwrap();
        let mut command = self.0.sandbox.program(program, args);
        command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
        command
    }

    /// Runs a script and returns what it prints on both streams, with names and figures that are the page's.
    fn sh(&self, script: &str) -> String {
        let output = self.program("sh", &["-c", &format!("exec 2>&1\n{script}")]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let path = |name: &str| self.0.sandbox.path(name).display().to_string();
        let text = text.replace(&path("work"), "/src/shop").replace(&path("home"), "/home/me");
        steady(&text.replace(&path("run"), "/run/user/1000"))
    }

    fn has(&self, program: &str) -> bool {
        self.program("sh", &["-c", &format!("command -v {program}")]).output().unwrap().status.success()
    }
}

/// Puts `N` for what no two runs share: process ids, durations, sizes of memory, clocks, hashes.
fn steady(text: &str) -> String {
    let rules = [
        (r"pid \d+", "pid N"),
        (r"\d+(\.\d+)? (ms|s|min|MiB|KiB)\b", "N"),
        (r"\bm1:[\d:]+", "m1:N"),
        (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "N"),
        (r"\bmem_[0-9A-Z]{26}\b(  +(just now|\d+[mhdy] ago))?", "mem_N"),
        (r"\b[0-9a-f]{16}\b", "N"),
    ];
    rules.iter().fold(text.to_owned(), |text, (rule, with)| {
        Regex::new(rule).unwrap().replace_all(&text, *with).into_owned()
    })
}

/// One fenced block: the words behind the fence, and the lines inside.
struct Block<'a> {
    info: &'a str,
    lines: Vec<&'a str>,
}

fn blocks(markdown: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let lines = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push(Block { info, lines });
        }
    }
    blocks
}

/// Returns each command of a console block with the lines that it prints.
fn steps<'a>(block: &Block<'a>) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut steps: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in &block.lines {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push((command, Vec::new())),
            (None, Some((_, printed))) => printed.push(line),
            (None, None) => panic!("no command before: {line}"),
        }
    }
    for (_, printed) in &mut steps {
        // The empty line between two commands.
        printed.pop_if(|line| line.is_empty());
    }
    steps
}

/// Returns whether `shown` is `actual` cut short: `…` stands for any text, alone on a line for any lines.
fn is_cut_from(shown: &[&str], actual: &[&str]) -> bool {
    match (shown.split_first(), actual.split_first()) {
        (None, None) => true,
        (Some((&"…", rest)), _) => (0..=actual.len()).any(|n| is_cut_from(rest, &actual[n..])),
        (Some((line, shown)), Some((first, actual))) => {
            is_line_cut_from(line, first) && is_cut_from(shown, actual)
        }
        _ => false,
    }
}

fn is_line_cut_from(shown: &str, actual: &str) -> bool {
    let parts: Vec<_> = shown.split('…').map(regex::escape).collect();
    Regex::new(&format!("^{}$", parts.join(".*"))).unwrap().is_match(actual)
}

#[test]
fn the_examples_print_what_the_page_shows() {
    let shop = Shop::new();
    let mut n_checked = 0;
    for block in blocks(README).iter().filter(|block| block.info.starts_with("console runs")) {
        if let Some(tool) = block.info.strip_prefix("console runs ")
            && !shop.has(tool)
        {
            not_checked(&format!("README, the example that needs {tool}: it is not installed"));
            continue;
        }
        // What one command sets, the next one reads: all that went before is run again, silently.
        let mut before = String::new();
        for (command, shown) in steps(block) {
            let actual = shop.sh(&format!("{before}{command}"));
            let shown = steady(&shown.join("\n"));
            let (shown, actual): (Vec<_>, Vec<_>) = (shown.lines().collect(), actual.lines().collect());
            assert!(
                is_cut_from(&shown, &actual),
                "$ {command}\nshown:\n{}\nprinted:\n{}",
                shown.join("\n"),
                actual.join("\n")
            );
            if command.contains('=') && !command.starts_with("memo") {
                before += &format!("{command}\n");
            }
            n_checked += 1;
        }
    }
    assert!(n_checked >= 20, "only {n_checked} examples were found");
}

#[test]
fn the_python_of_the_page_prints_the_hits() {
    let shop = Shop::new();
    if !shop.has("python3") {
        not_checked("README, the Python example: python3 is not installed");
        return;
    }
    let blocks = blocks(README);
    let script = blocks.iter().find(|block| block.info == "python runs").unwrap();
    let output = shop.0.memo(&["search", "signature", "--json", "--sync", "full"]).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let hits = found["hits"].as_array().unwrap();
    let expected: Vec<_> = hits.iter().map(|hit| hit["path"].as_str().unwrap()).collect();
    let output = shop.program("python3", &["-c", &script.lines.join("\n")]).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let printed: Vec<_> = printed.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(printed, expected, "{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains(&"src/keys.rs"), "{printed:?}");
}

#[test]
fn every_verb_has_an_example() {
    let help = Live::idle().sandbox.run(&["--help"]);
    let verbs = help.lines().skip_while(|line| *line != "out: Commands:").skip(1);
    let verbs: Vec<_> = verbs.map_while(|line| line["out:".len()..].split_whitespace().next()).collect();
    assert!(verbs.len() >= 14, "{help}");
    let blocks = blocks(README);
    let console = blocks.iter().filter(|block| block.info.starts_with("console runs"));
    let commands: Vec<_> = console.flat_map(|block| steps(block)).map(|(command, _)| command).collect();
    for verb in verbs {
        let start = format!("memo {verb}");
        assert!(commands.iter().any(|command| command.starts_with(&start)), "no example of {start}");
    }
}

#[test]
fn the_settings_are_all_there_with_their_defaults() {
    let row = Regex::new(r"(?m)^\| `(\w+\.\w+)` \| `(\w+)` \|").unwrap();
    let shown: Vec<_> = row.captures_iter(README).map(|row| format!("{} = {}", &row[1], &row[2])).collect();
    let config = Config::default();
    let defaults: Vec<_> = KEYS.iter().map(|key| format!("{} = {}", key.name, key.get(&config))).collect();
    assert_eq!(shown, defaults);
}

#[test]
fn the_methods_are_all_there() {
    let (_, list) = README.split_once("\nMethods: ").unwrap();
    let (list, _) = list.split_once(';').unwrap();
    let shown: Vec<_> = list.split(',').map(|name| name.trim().trim_matches('`')).collect();
    assert_eq!(shown, METHODS);
}

#[test]
fn the_languages_are_those_with_a_grammar() {
    let (_, list) = README.split_once("one chunk per definition.\n").unwrap();
    let (list, _) = list.split_once(".\n").unwrap();
    let shown: BTreeSet<_> = list.split([',', '\n']).map(str::trim).filter(|name| !name.is_empty()).collect();
    let known: BTreeSet<_> = memod::extract::lang::LANGUAGES.iter().map(|language| language.name).collect();
    assert_eq!(shown, known);
}

#[test]
fn the_files_it_names_are_there() {
    let name = Regex::new(r"`((?:src|tests|grammars|benches|models|\.ci)/[\w./-]*|LICENSE-\w+)`").unwrap();
    let text: Vec<_> = README.split("\n```").step_by(2).collect();
    let names: Vec<_> = name.captures_iter(&text.concat()).map(|found| found[1].to_owned()).collect();
    assert!(names.len() >= 8, "{names:?}");
    for name in names {
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(&name).exists(), "{name} does not exist");
    }
}

#[test]
fn what_is_cut_is_still_compared() {
    let check = |shown: &str, actual: &str, expected: bool| {
        let (shown, actual): (Vec<_>, Vec<_>) = (shown.lines().collect(), actual.lines().collect());
        assert_eq!(is_cut_from(&shown, &actual), expected, "{shown:?} {actual:?}");
    };
    check("a\n…\nd", "a\nb\nc\nd", true);
    check("a\n…\nd", "a\nd", true);
    check("a\n…", "a\nb", true);
    check("a\n…\nd", "a\nb", false);
    check("a…c", "abbc", true);
    check("a…c", "abb", false);
    check("a", "a\nb", false);
    check("a.c", "abc", false);
    assert_eq!(steady("up 2 min 3 s, pid 47, 27.8 MiB"), "up N N, pid N, N");
}
