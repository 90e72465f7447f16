//! Lists the agents: how each is recognized, which settings files it reads, and what is written into them.
//!
//! The agents are a table, so that only one line changes when an agent moves its files. `docs/src/agents.md` gives the source
//! of each fact.

use super::place::{AgentPath, Base, at};

/// A coding agent that `memo setup` can set up.
#[derive(Debug)]
pub(super) struct Agent {
    /// The name that a user types.
    pub(super) id: &'static str,
    /// The name of the product, for display.
    pub(super) name: &'static str,
    /// Names of its programs.
    pub(super) programs: &'static [&'static str],
    /// Files whose existence shows that the user has run the agent.
    pub(super) signs: &'static [AgentPath],
    /// Files whose existence shows that a project uses the agent.
    pub(super) project_signs: &'static [AgentPath],
    /// The settings files of a user.
    pub(super) user: &'static [FileSpec],
    /// The settings files of a project.
    pub(super) project: &'static [FileSpec],
    /// What the user must know or do after the files are written; may be empty.
    pub(super) note: &'static str,
}

/// A settings file of an agent.
#[derive(Debug)]
pub(super) struct FileSpec {
    /// The path of the file.
    pub(super) place: AgentPath,
    /// An alternative path that the agent also reads. It is used if it exists and `place` does not.
    pub(super) or: Option<AgentPath>,
    /// What we write into the file.
    pub(super) parts: InstalledParts,
}

/// What we write into a settings file.
#[derive(Debug)]
pub(super) enum InstalledParts {
    /// Entries in a JSON file.
    Json(&'static [JsonEntry]),
    /// A table of TOML with our server, as Codex reads it.
    CodexServer,
    /// The marked section that says when to search, recall and remember.
    Instructions,
    /// A file of our own that has these lines and the same text below.
    Rule(&'static str),
    /// A file of our own with these hooks.
    OwnHooks(&'static [AgentHook]),
    /// A directory with one subdirectory for each skill.
    Skills,
}

/// An entry of ours in a JSON file.
#[derive(Debug)]
pub(super) enum JsonEntry {
    /// Our server, as a member of this object.
    Server(&'static [&'static str], ServerForm),
    /// One of our hooks, in the object `hooks`.
    Hook(AgentHook),
    /// The member `"version": 1`.
    VersionOne,
}

/// How an agent writes an MCP server that is started as a program.
#[derive(Clone, Copy, Debug)]
pub(super) enum ServerForm {
    /// The members `command` and `args`.
    Plain,
    /// The same members and `"type": "stdio"`.
    Stdio,
    /// `"type": "local"` and `command` with one array, as in opencode.
    Local,
}

/// A hook: a command that an agent runs at an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct AgentHook {
    /// The event, as an argument of `memo hook`.
    pub(super) event: &'static str,
    /// The name of the event in the settings of the agent.
    pub(super) name: &'static str,
    /// Pattern of the tools that trigger the hook; empty for all tools.
    pub(super) matcher: &'static str,
    /// How the agent writes the hook.
    pub(super) form: HookForm,
}

/// How an agent writes a hook.
#[derive(Clone, Copy, Debug)]
pub(super) enum HookForm {
    /// A group with a matcher and a list of commands; the timeout is in seconds.
    Group,
    /// The same group, but the timeout is in milliseconds.
    GroupMs,
    /// One object with the command, the matcher and the timeout.
    Flat,
    /// One object with the type, the command and the timeout.
    Typed,
}

/// Creates a hook.
const fn hook(event: &'static str, name: &'static str, matcher: &'static str, form: HookForm) -> AgentHook {
    AgentHook { event, name, matcher, form }
}

/// Creates a settings file without an alternative path.
const fn file(place: AgentPath, parts: InstalledParts) -> FileSpec {
    FileSpec { place, or: None, parts }
}

const SERVERS: &[&str] = &["mcpServers"];

const CLAUDE_HOOKS: &[JsonEntry] = &[
    JsonEntry::Hook(hook("session-start", "SessionStart", "", HookForm::Group)),
    JsonEntry::Hook(hook("prompt", "UserPromptSubmit", "", HookForm::Group)),
    JsonEntry::Hook(hook("before-edit", "PreToolUse", "Edit|MultiEdit|Write|NotebookEdit", HookForm::Group)),
];

const CODEX_HOOKS: &[JsonEntry] = &[
    JsonEntry::Hook(hook("session-start", "SessionStart", "", HookForm::Group)),
    JsonEntry::Hook(hook("prompt", "UserPromptSubmit", "", HookForm::Group)),
    JsonEntry::Hook(hook("before-edit", "PreToolUse", "apply_patch|Edit|Write", HookForm::Group)),
];

const CURSOR_HOOKS: &[JsonEntry] = &[
    JsonEntry::VersionOne,
    JsonEntry::Hook(hook("session-start", "sessionStart", "", HookForm::Flat)),
    JsonEntry::Hook(hook("prompt", "beforeSubmitPrompt", "", HookForm::Flat)),
    // Before a tool runs, Cursor accepts a verdict from a hook but no text, so this hook runs afterwards.
    JsonEntry::Hook(hook("before-edit", "postToolUse", "Write", HookForm::Flat)),
];

const GEMINI: &[JsonEntry] = &[
    JsonEntry::Server(SERVERS, ServerForm::Plain),
    JsonEntry::Hook(hook("session-start", "SessionStart", "", HookForm::GroupMs)),
    JsonEntry::Hook(hook("prompt", "BeforeAgent", "", HookForm::GroupMs)),
    // Before a tool runs, Gemini CLI accepts a verdict from a hook but no text, so this hook runs afterwards.
    JsonEntry::Hook(hook("before-edit", "AfterTool", "write_file|replace", HookForm::GroupMs)),
];

// VS Code accepts no text from a hook on a prompt, so there is no such hook.
const VSCODE_HOOKS: &[AgentHook] = &[
    hook("session-start", "SessionStart", "", HookForm::Typed),
    hook("before-edit", "PreToolUse", "", HookForm::Typed),
];

const PLAIN: InstalledParts = InstalledParts::Json(&[JsonEntry::Server(SERVERS, ServerForm::Plain)]);
const STDIO: InstalledParts = InstalledParts::Json(&[JsonEntry::Server(SERVERS, ServerForm::Stdio)]);
const VSCODE: InstalledParts = InstalledParts::Json(&[JsonEntry::Server(&["servers"], ServerForm::Stdio)]);
const OPENCODE: InstalledParts = InstalledParts::Json(&[JsonEntry::Server(&["mcp"], ServerForm::Local)]);
const ZED: InstalledParts =
    InstalledParts::Json(&[JsonEntry::Server(&["context_servers"], ServerForm::Plain)]);

const AGENTS_MD: FileSpec = file(at(Base::Project, "AGENTS.md"), InstalledParts::Instructions);

/// All agents, in the order in which they are shown.
pub(super) const AGENTS: &[Agent] = &[
    Agent {
        id: "claude-code",
        name: "Claude Code",
        programs: &["claude"],
        signs: &[at(Base::Claude, ""), at(Base::ClaudeState, ".claude.json")],
        project_signs: &[at(Base::Project, ".claude"), at(Base::Project, "CLAUDE.md")],
        user: &[
            file(at(Base::ClaudeState, ".claude.json"), STDIO),
            file(at(Base::Claude, "settings.json"), InstalledParts::Json(CLAUDE_HOOKS)),
            file(at(Base::Claude, "CLAUDE.md"), InstalledParts::Instructions),
            file(at(Base::Claude, "skills"), InstalledParts::Skills),
        ],
        project: &[
            file(at(Base::Project, ".mcp.json"), STDIO),
            file(at(Base::Project, ".claude/settings.json"), InstalledParts::Json(CLAUDE_HOOKS)),
            file(at(Base::Project, "CLAUDE.md"), InstalledParts::Instructions),
            file(at(Base::Project, ".claude/skills"), InstalledParts::Skills),
        ],
        note: "",
    },
    Agent {
        id: "codex",
        name: "Codex",
        programs: &["codex"],
        signs: &[at(Base::Codex, "")],
        project_signs: &[at(Base::Project, ".codex")],
        user: &[
            file(at(Base::Codex, "config.toml"), InstalledParts::CodexServer),
            file(at(Base::Codex, "hooks.json"), InstalledParts::Json(CODEX_HOOKS)),
            file(at(Base::Codex, "AGENTS.md"), InstalledParts::Instructions),
            file(at(Base::Home, ".agents/skills"), InstalledParts::Skills),
        ],
        project: &[
            file(at(Base::Project, ".codex/config.toml"), InstalledParts::CodexServer),
            file(at(Base::Project, ".codex/hooks.json"), InstalledParts::Json(CODEX_HOOKS)),
            AGENTS_MD,
            file(at(Base::Project, ".agents/skills"), InstalledParts::Skills),
        ],
        note: "Codex runs new hooks only once you have trusted them: type /hooks in it",
    },
    Agent {
        id: "cursor",
        name: "Cursor",
        programs: &["cursor", "cursor-agent"],
        signs: &[at(Base::Home, ".cursor")],
        project_signs: &[at(Base::Project, ".cursor")],
        user: &[
            file(at(Base::Home, ".cursor/mcp.json"), PLAIN),
            file(at(Base::Home, ".cursor/hooks.json"), InstalledParts::Json(CURSOR_HOOKS)),
            file(at(Base::Home, ".cursor/skills"), InstalledParts::Skills),
        ],
        project: &[
            file(at(Base::Project, ".cursor/mcp.json"), PLAIN),
            file(at(Base::Project, ".cursor/hooks.json"), InstalledParts::Json(CURSOR_HOOKS)),
            file(
                at(Base::Project, ".cursor/rules/memod.mdc"),
                InstalledParts::Rule(
                    "---\ndescription: Project memory and search\nalwaysApply: true\n---\n\n",
                ),
            ),
            file(at(Base::Project, ".cursor/skills"), InstalledParts::Skills),
        ],
        note: "",
    },
    Agent {
        id: "vscode",
        name: "VS Code (Copilot)",
        programs: &["code", "code-insiders"],
        signs: &[at(Base::VsCode, "")],
        project_signs: &[at(Base::Project, ".vscode"), at(Base::Project, ".github/copilot-instructions.md")],
        user: &[
            file(at(Base::VsCode, "mcp.json"), VSCODE),
            file(at(Base::Home, ".copilot/hooks/memod.json"), InstalledParts::OwnHooks(VSCODE_HOOKS)),
            file(
                at(Base::VsCode, "prompts/memod.instructions.md"),
                InstalledParts::Rule("---\ndescription: Project memory and search\napplyTo: '**'\n---\n\n"),
            ),
            file(at(Base::Home, ".copilot/skills"), InstalledParts::Skills),
        ],
        project: &[
            file(at(Base::Project, ".vscode/mcp.json"), VSCODE),
            file(at(Base::Project, ".github/hooks/memod.json"), InstalledParts::OwnHooks(VSCODE_HOOKS)),
            file(at(Base::Project, ".github/copilot-instructions.md"), InstalledParts::Instructions),
            file(at(Base::Project, ".github/skills"), InstalledParts::Skills),
        ],
        note: "",
    },
    Agent {
        id: "gemini",
        name: "Gemini CLI",
        programs: &["gemini"],
        signs: &[at(Base::Home, ".gemini/settings.json"), at(Base::Home, ".gemini/GEMINI.md")],
        project_signs: &[at(Base::Project, ".gemini"), at(Base::Project, "GEMINI.md")],
        user: &[
            file(at(Base::Home, ".gemini/settings.json"), InstalledParts::Json(GEMINI)),
            file(at(Base::Home, ".gemini/GEMINI.md"), InstalledParts::Instructions),
            file(at(Base::Home, ".gemini/skills"), InstalledParts::Skills),
        ],
        project: &[
            file(at(Base::Project, ".gemini/settings.json"), InstalledParts::Json(GEMINI)),
            file(at(Base::Project, "GEMINI.md"), InstalledParts::Instructions),
            file(at(Base::Project, ".gemini/skills"), InstalledParts::Skills),
        ],
        note: "",
    },
    Agent {
        id: "opencode",
        name: "opencode",
        programs: &["opencode"],
        signs: &[at(Base::Config, "opencode")],
        project_signs: &[
            at(Base::Project, ".opencode"),
            at(Base::Project, "opencode.json"),
            at(Base::Project, "opencode.jsonc"),
        ],
        user: &[
            FileSpec {
                place: at(Base::Config, "opencode/opencode.json"),
                or: Some(at(Base::Config, "opencode/opencode.jsonc")),
                parts: OPENCODE,
            },
            file(at(Base::Config, "opencode/AGENTS.md"), InstalledParts::Instructions),
            file(at(Base::Config, "opencode/skills"), InstalledParts::Skills),
        ],
        project: &[
            FileSpec {
                place: at(Base::Project, "opencode.json"),
                or: Some(at(Base::Project, "opencode.jsonc")),
                parts: OPENCODE,
            },
            AGENTS_MD,
            file(at(Base::Project, ".opencode/skills"), InstalledParts::Skills),
        ],
        note: "",
    },
    Agent {
        id: "zed",
        name: "Zed",
        programs: &["zed", "zeditor"],
        signs: &[at(Base::Zed, "")],
        project_signs: &[at(Base::Project, ".zed")],
        user: &[file(at(Base::Zed, "settings.json"), ZED)],
        project: &[file(at(Base::Project, ".zed/settings.json"), ZED), AGENTS_MD],
        note: "",
    },
    Agent {
        id: "neovim",
        name: "Neovim (mcphub.nvim)",
        // Neovim itself has no MCP settings; only the plugin shows that they would be read.
        programs: &[],
        signs: &[at(Base::Home, ".config/mcphub")],
        project_signs: &[at(Base::Project, ".mcphub")],
        user: &[file(at(Base::Home, ".config/mcphub/servers.json"), PLAIN)],
        project: &[file(at(Base::Project, ".mcphub/servers.json"), PLAIN), AGENTS_MD],
        note: "Neovim reads this through the plugin mcphub.nvim",
    },
    Agent {
        id: "agents-md",
        name: "AGENTS.md",
        programs: &[],
        signs: &[],
        project_signs: &[at(Base::Project, "AGENTS.md")],
        user: &[],
        project: &[AGENTS_MD],
        note: "",
    },
];
