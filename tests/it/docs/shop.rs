//! Which repository do the examples of the pages run in?

use std::path::Path;
use std::process::Command;

use super::cut::steady;
use crate::live::Live;

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
pub(super) struct Shop(pub(super) Live);

impl Shop {
    pub(super) fn new() -> Self {
        let live = Live::idle();
        for (path, text) in SHOP {
            live.write(path, text);
        }
        Self(live)
    }

    pub(super) fn program(&self, program: &str, args: &[&str]) -> Command {
        let bin = Path::new(env!("CARGO_BIN_EXE_memo")).parent().unwrap();
        let mut command = self.0.sandbox.program(program, args);
        command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
        command
    }

    /// Runs a script and returns what it prints on both streams, with names and figures that are the page's.
    pub(super) fn sh(&self, script: &str) -> String {
        let output = self.program("sh", &["-c", &format!("exec 2>&1\n{script}")]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let path = |name: &str| self.0.sandbox.path(name).display().to_string();
        let text = text.replace(&path("work"), "/src/shop").replace(&path("home"), "/home/me");
        steady(&text.replace(&path("run"), "/run/user/1000"))
    }

    pub(super) fn has(&self, program: &str) -> bool {
        self.program("sh", &["-c", &format!("command -v {program}")]).output().unwrap().status.success()
    }
}
