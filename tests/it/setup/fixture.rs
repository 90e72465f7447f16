//! A home and a project with the settings of agents.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Where an agent reads of MCP servers; written down apart from the table that `memo setup` has.
pub(super) struct Server {
    pub(super) agent: &'static str,
    pub(super) scope: &'static str,
    pub(super) file: &'static str,
    /// The object with all servers.
    pub(super) key: &'static str,
    pub(super) form: Form,
    pub(super) instructions: Option<&'static str>,
}

/// How the agent parses its file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As `JSON.parse` does.
    Strict,
    /// Comments and commas at the end are allowed.
    Comments,
    Toml,
}

const fn server(
    agent: &'static str,
    scope: &'static str,
    file: &'static str,
    key: &'static str,
    form: Form,
    instructions: Option<&'static str>,
) -> Server {
    Server { agent, scope, file, key, form, instructions }
}

pub(super) const SERVERS: &[Server] = &[
    server(
        "claude-code",
        "user",
        "home/.claude.json",
        "mcpServers",
        Form::Strict,
        Some("home/.claude/CLAUDE.md"),
    ),
    server("claude-code", "project", "work/.mcp.json", "mcpServers", Form::Strict, Some("work/CLAUDE.md")),
    server(
        "codex",
        "user",
        "home/.codex/config.toml",
        "mcp_servers",
        Form::Toml,
        Some("home/.codex/AGENTS.md"),
    ),
    server("codex", "project", "work/.codex/config.toml", "mcp_servers", Form::Toml, Some("work/AGENTS.md")),
    server("cursor", "user", "home/.cursor/mcp.json", "mcpServers", Form::Comments, None),
    server("cursor", "project", "work/.cursor/mcp.json", "mcpServers", Form::Comments, None),
    server("vscode", "user", "home/.config/Code/User/mcp.json", "servers", Form::Comments, None),
    server(
        "vscode",
        "project",
        "work/.vscode/mcp.json",
        "servers",
        Form::Comments,
        Some("work/.github/copilot-instructions.md"),
    ),
    server(
        "gemini",
        "user",
        "home/.gemini/settings.json",
        "mcpServers",
        Form::Comments,
        Some("home/.gemini/GEMINI.md"),
    ),
    server(
        "gemini",
        "project",
        "work/.gemini/settings.json",
        "mcpServers",
        Form::Comments,
        Some("work/GEMINI.md"),
    ),
    server(
        "opencode",
        "user",
        "home/.config/opencode/opencode.json",
        "mcp",
        Form::Comments,
        Some("home/.config/opencode/AGENTS.md"),
    ),
    server("opencode", "project", "work/opencode.json", "mcp", Form::Comments, Some("work/AGENTS.md")),
    server("zed", "user", "home/.config/zed/settings.json", "context_servers", Form::Comments, None),
    server(
        "zed",
        "project",
        "work/.zed/settings.json",
        "context_servers",
        Form::Comments,
        Some("work/AGENTS.md"),
    ),
    server("neovim", "user", "home/.config/mcphub/servers.json", "mcpServers", Form::Strict, None),
    server(
        "neovim",
        "project",
        "work/.mcphub/servers.json",
        "mcpServers",
        Form::Strict,
        Some("work/AGENTS.md"),
    ),
];

impl Server {
    /// Returns our entry as the agent would read it.
    pub(super) fn entry(&self, text: &str) -> Option<Value> {
        let text = text.trim_start_matches('\u{feff}');
        match self.form {
            Form::Strict => serde_json::from_str::<Value>(text).ok()?.get(self.key)?.get("memod").cloned(),
            Form::Comments => {
                let plain = without_comments(text);
                serde_json::from_str::<Value>(&plain).ok()?.get(self.key)?.get("memod").cloned()
            }
            Form::Toml => {
                let table = text.parse::<toml_edit::DocumentMut>().ok()?;
                let entry = table.get(self.key)?.get("memod")?;
                let args: Vec<&str> =
                    entry.get("args")?.as_array()?.iter().filter_map(toml_edit::Value::as_str).collect();
                Some(json!({ "command": entry.get("command")?.as_str()?, "args": args }))
            }
        }
    }

    /// Returns what the entry should be.
    pub(super) fn expected(&self, home: &Home) -> Value {
        let memo = if self.scope == "user" { home.memo() } else { "memo".to_owned() };
        match self.agent {
            "opencode" => json!({ "type": "local", "command": [memo, "mcp"], "enabled": true }),
            "claude-code" | "vscode" => json!({ "type": "stdio", "command": memo, "args": ["mcp"] }),
            _ => json!({ "command": memo, "args": ["mcp"] }),
        }
    }
}

/// Blanks comments and commas before a closing bracket.
fn without_comments(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let len = match c {
            '"' => {
                let mut escaped = false;
                let end = rest[1..].find(|c| {
                    let is_end = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    is_end
                });
                let len = end.map_or(rest.len(), |end| end + 2);
                plain.push_str(&rest[..len]);
                len
            }
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '}' | ']' => {
                let len = plain.trim_end().len();
                if plain[..len].ends_with(',') {
                    plain.truncate(len - 1);
                }
                plain.push(c);
                1
            }
            c => {
                plain.push(c);
                c.len_utf8()
            }
        };
        rest = &rest[len..];
    }
    plain
}

/// What is in the place of a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Dir,
    Link(String),
    /// Its bytes as text where they are, and its mode.
    File(String, u32),
}

pub(super) struct Home {
    sandbox: Sandbox,
}

impl Home {
    pub(super) fn new() -> Self {
        Self { sandbox: Sandbox::new() }
    }

    /// Writes a file below the top; `None` leaves it out.
    pub(super) fn write<'a>(&self, name: &str, text: impl Into<Option<&'a str>>) {
        if let Some(text) = text.into() {
            let path = self.sandbox.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    pub(super) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.sandbox.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(super) fn exists(&self, name: &str) -> bool {
        fs::symlink_metadata(self.sandbox.path(name)).is_ok()
    }

    pub(super) fn path(&self, name: &str) -> std::path::PathBuf {
        self.sandbox.path(name)
    }

    /// The program that user files name.
    pub(super) fn memo(&self) -> String {
        env!("CARGO_BIN_EXE_memo").to_owned()
    }

    pub(super) fn run(&self, args: &[&str]) -> String {
        self.sandbox.run(args)
    }

    /// Returns a program that sees this home alone.
    pub(super) fn program(&self, program: &str, args: &[&str]) -> Command {
        self.sandbox.program(program, args)
    }

    pub(super) fn json(&self, args: &[&str]) -> Value {
        let output = self.sandbox.memo(args).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub(super) fn setup(&self, server: &Server, flags: &[&str]) -> String {
        self.run(&[&["setup", server.agent, "--scope", server.scope], flags].concat())
    }

    /// Everything below home and project, without the records.
    pub(super) fn files(&self) -> BTreeMap<String, Found> {
        let top = self.sandbox.path("");
        let mut found = BTreeMap::new();
        let mut left = vec![top.join("home"), top.join("work")];
        while let Some(path) = left.pop() {
            let name = path.strip_prefix(&top).unwrap().to_str().unwrap().to_owned();
            if name == "home/.local" {
                continue;
            }
            found.insert(name, look(&path));
            if path.is_dir() && !path.is_symlink() {
                left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
        found
    }

    pub(super) fn has_records(&self) -> bool {
        self.exists("home/.local/state/memod/setup")
    }
}

fn look(path: &Path) -> Found {
    let meta = fs::symlink_metadata(path).unwrap();
    if meta.is_symlink() {
        return Found::Link(fs::read_link(path).unwrap().display().to_string());
    }
    if meta.is_dir() {
        return Found::Dir;
    }
    #[cfg(unix)]
    let mode = std::os::unix::fs::PermissionsExt::mode(&meta.permissions());
    #[cfg(not(unix))]
    let mode = u32::from(meta.permissions().readonly());
    Found::File(fs::read(path).unwrap().escape_ascii().to_string(), mode)
}
