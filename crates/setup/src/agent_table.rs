//! Lists the agents: how each is recognized, which settings files it reads, and what is written into them.
//!
//! The agents are a table, so that only one line changes when an agent moves its files. `docs/src/agents.md` gives the source
//! of each fact.

use super::place::{AgentPath, BaseDir, agent_path};

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
    /// Advice for the user after the files are written; may be empty.
    pub(super) note: &'static str,
}

/// A settings file of an agent.
#[derive(Debug)]
pub(super) struct FileSpec {
    /// The path of the file.
    pub(super) place: AgentPath,
    /// An alternative path that the agent also reads. It is used if it exists and `place` does not.
    pub(super) alternative: Option<AgentPath>,
    /// The text that we write into the file.
    pub(super) content: ContentSpec,
}

/// The entries that we write into a settings file.
#[derive(Debug)]
pub(super) enum ContentSpec {
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
const fn agent_hook(
    event: &'static str,
    name: &'static str,
    matcher: &'static str,
    form: HookForm,
) -> AgentHook {
    AgentHook { event, name, matcher, form }
}

/// Creates a settings file without an alternative path.
const fn file_spec(place: AgentPath, parts: ContentSpec) -> FileSpec {
    FileSpec { place, alternative: None, content: parts }
}

const MCP_SERVERS_PATH: &[&str] = &["mcpServers"];

const CLAUDE_HOOKS: &[JsonEntry] = &[
    JsonEntry::Hook(agent_hook("session-start", "SessionStart", "", HookForm::Group)),
    JsonEntry::Hook(agent_hook("prompt", "UserPromptSubmit", "", HookForm::Group)),
    JsonEntry::Hook(agent_hook(
        "before-edit",
        "PreToolUse",
        "Edit|MultiEdit|Write|NotebookEdit",
        HookForm::Group,
    )),
];

const CODEX_HOOKS: &[JsonEntry] = &[
    JsonEntry::Hook(agent_hook("session-start", "SessionStart", "", HookForm::Group)),
    JsonEntry::Hook(agent_hook("prompt", "UserPromptSubmit", "", HookForm::Group)),
    JsonEntry::Hook(agent_hook("before-edit", "PreToolUse", "apply_patch|Edit|Write", HookForm::Group)),
];

const CURSOR_HOOKS: &[JsonEntry] = &[
    JsonEntry::VersionOne,
    JsonEntry::Hook(agent_hook("session-start", "sessionStart", "", HookForm::Flat)),
    JsonEntry::Hook(agent_hook("prompt", "beforeSubmitPrompt", "", HookForm::Flat)),
    // Before a tool runs, Cursor accepts a verdict from a hook but no text, so this hook runs afterwards.
    JsonEntry::Hook(agent_hook("before-edit", "postToolUse", "Write", HookForm::Flat)),
];

const GEMINI_ENTRIES: &[JsonEntry] = &[
    JsonEntry::Server(MCP_SERVERS_PATH, ServerForm::Plain),
    JsonEntry::Hook(agent_hook("session-start", "SessionStart", "", HookForm::GroupMs)),
    JsonEntry::Hook(agent_hook("prompt", "BeforeAgent", "", HookForm::GroupMs)),
    // Before a tool runs, Gemini CLI accepts a verdict from a hook but no text, so this hook runs afterwards.
    JsonEntry::Hook(agent_hook("before-edit", "AfterTool", "write_file|replace", HookForm::GroupMs)),
];

// VS Code accepts no text from a hook on a prompt, so there is no such hook.
const VSCODE_HOOKS: &[AgentHook] = &[
    agent_hook("session-start", "SessionStart", "", HookForm::Typed),
    agent_hook("before-edit", "PreToolUse", "", HookForm::Typed),
];

const PLAIN_SERVER: ContentSpec =
    ContentSpec::Json(&[JsonEntry::Server(MCP_SERVERS_PATH, ServerForm::Plain)]);
const STDIO_SERVER: ContentSpec =
    ContentSpec::Json(&[JsonEntry::Server(MCP_SERVERS_PATH, ServerForm::Stdio)]);
const VSCODE_SERVER: ContentSpec = ContentSpec::Json(&[JsonEntry::Server(&["servers"], ServerForm::Stdio)]);
const OPENCODE_SERVER: ContentSpec = ContentSpec::Json(&[JsonEntry::Server(&["mcp"], ServerForm::Local)]);
const ZED_SERVER: ContentSpec =
    ContentSpec::Json(&[JsonEntry::Server(&["context_servers"], ServerForm::Plain)]);

const AGENTS_MD: FileSpec = file_spec(agent_path(BaseDir::Project, "AGENTS.md"), ContentSpec::Instructions);

/// All agents, in the order in which they are shown.
pub(super) const AGENTS: &[Agent] = &[
    Agent {
        id: "claude-code",
        name: "Claude Code",
        programs: &["claude"],
        signs: &[agent_path(BaseDir::Claude, ""), agent_path(BaseDir::ClaudeState, ".claude.json")],
        project_signs: &[agent_path(BaseDir::Project, ".claude"), agent_path(BaseDir::Project, "CLAUDE.md")],
        user: &[
            file_spec(agent_path(BaseDir::ClaudeState, ".claude.json"), STDIO_SERVER),
            file_spec(agent_path(BaseDir::Claude, "settings.json"), ContentSpec::Json(CLAUDE_HOOKS)),
            file_spec(agent_path(BaseDir::Claude, "CLAUDE.md"), ContentSpec::Instructions),
            file_spec(agent_path(BaseDir::Claude, "skills"), ContentSpec::Skills),
        ],
        project: &[
            file_spec(agent_path(BaseDir::Project, ".mcp.json"), STDIO_SERVER),
            file_spec(agent_path(BaseDir::Project, ".claude/settings.json"), ContentSpec::Json(CLAUDE_HOOKS)),
            file_spec(agent_path(BaseDir::Project, "CLAUDE.md"), ContentSpec::Instructions),
            file_spec(agent_path(BaseDir::Project, ".claude/skills"), ContentSpec::Skills),
        ],
        note: "",
    },
    Agent {
        id: "codex",
        name: "Codex",
        programs: &["codex"],
        signs: &[agent_path(BaseDir::Codex, "")],
        project_signs: &[agent_path(BaseDir::Project, ".codex")],
        user: &[
            file_spec(agent_path(BaseDir::Codex, "config.toml"), ContentSpec::CodexServer),
            file_spec(agent_path(BaseDir::Codex, "hooks.json"), ContentSpec::Json(CODEX_HOOKS)),
            file_spec(agent_path(BaseDir::Codex, "AGENTS.md"), ContentSpec::Instructions),
            file_spec(agent_path(BaseDir::Home, ".agents/skills"), ContentSpec::Skills),
        ],
        project: &[
            file_spec(agent_path(BaseDir::Project, ".codex/config.toml"), ContentSpec::CodexServer),
            file_spec(agent_path(BaseDir::Project, ".codex/hooks.json"), ContentSpec::Json(CODEX_HOOKS)),
            AGENTS_MD,
            file_spec(agent_path(BaseDir::Project, ".agents/skills"), ContentSpec::Skills),
        ],
        note: "Codex runs new hooks only once you have trusted them: type /hooks in it",
    },
    Agent {
        id: "cursor",
        name: "Cursor",
        programs: &["cursor", "cursor-agent"],
        signs: &[agent_path(BaseDir::Home, ".cursor")],
        project_signs: &[agent_path(BaseDir::Project, ".cursor")],
        user: &[
            file_spec(agent_path(BaseDir::Home, ".cursor/mcp.json"), PLAIN_SERVER),
            file_spec(agent_path(BaseDir::Home, ".cursor/hooks.json"), ContentSpec::Json(CURSOR_HOOKS)),
            file_spec(agent_path(BaseDir::Home, ".cursor/skills"), ContentSpec::Skills),
        ],
        project: &[
            file_spec(agent_path(BaseDir::Project, ".cursor/mcp.json"), PLAIN_SERVER),
            file_spec(agent_path(BaseDir::Project, ".cursor/hooks.json"), ContentSpec::Json(CURSOR_HOOKS)),
            file_spec(
                agent_path(BaseDir::Project, ".cursor/rules/memod.mdc"),
                ContentSpec::Rule("---\ndescription: Project memory and search\nalwaysApply: true\n---\n\n"),
            ),
            file_spec(agent_path(BaseDir::Project, ".cursor/skills"), ContentSpec::Skills),
        ],
        note: "",
    },
    Agent {
        id: "vscode",
        name: "VS Code (Copilot)",
        programs: &["code", "code-insiders"],
        signs: &[agent_path(BaseDir::VsCode, "")],
        project_signs: &[
            agent_path(BaseDir::Project, ".vscode"),
            agent_path(BaseDir::Project, ".github/copilot-instructions.md"),
        ],
        user: &[
            file_spec(agent_path(BaseDir::VsCode, "mcp.json"), VSCODE_SERVER),
            file_spec(
                agent_path(BaseDir::Home, ".copilot/hooks/memod.json"),
                ContentSpec::OwnHooks(VSCODE_HOOKS),
            ),
            file_spec(
                agent_path(BaseDir::VsCode, "prompts/memod.instructions.md"),
                ContentSpec::Rule("---\ndescription: Project memory and search\napplyTo: '**'\n---\n\n"),
            ),
            file_spec(agent_path(BaseDir::Home, ".copilot/skills"), ContentSpec::Skills),
        ],
        project: &[
            file_spec(agent_path(BaseDir::Project, ".vscode/mcp.json"), VSCODE_SERVER),
            file_spec(
                agent_path(BaseDir::Project, ".github/hooks/memod.json"),
                ContentSpec::OwnHooks(VSCODE_HOOKS),
            ),
            file_spec(
                agent_path(BaseDir::Project, ".github/copilot-instructions.md"),
                ContentSpec::Instructions,
            ),
            file_spec(agent_path(BaseDir::Project, ".github/skills"), ContentSpec::Skills),
        ],
        note: "",
    },
    Agent {
        id: "gemini",
        name: "Gemini CLI",
        programs: &["gemini"],
        signs: &[
            agent_path(BaseDir::Home, ".gemini/settings.json"),
            agent_path(BaseDir::Home, ".gemini/GEMINI.md"),
        ],
        project_signs: &[agent_path(BaseDir::Project, ".gemini"), agent_path(BaseDir::Project, "GEMINI.md")],
        user: &[
            file_spec(agent_path(BaseDir::Home, ".gemini/settings.json"), ContentSpec::Json(GEMINI_ENTRIES)),
            file_spec(agent_path(BaseDir::Home, ".gemini/GEMINI.md"), ContentSpec::Instructions),
            file_spec(agent_path(BaseDir::Home, ".gemini/skills"), ContentSpec::Skills),
        ],
        project: &[
            file_spec(
                agent_path(BaseDir::Project, ".gemini/settings.json"),
                ContentSpec::Json(GEMINI_ENTRIES),
            ),
            file_spec(agent_path(BaseDir::Project, "GEMINI.md"), ContentSpec::Instructions),
            file_spec(agent_path(BaseDir::Project, ".gemini/skills"), ContentSpec::Skills),
        ],
        note: "",
    },
    Agent {
        id: "opencode",
        name: "opencode",
        programs: &["opencode"],
        signs: &[agent_path(BaseDir::Config, "opencode")],
        project_signs: &[
            agent_path(BaseDir::Project, ".opencode"),
            agent_path(BaseDir::Project, "opencode.json"),
            agent_path(BaseDir::Project, "opencode.jsonc"),
        ],
        user: &[
            FileSpec {
                place: agent_path(BaseDir::Config, "opencode/opencode.json"),
                alternative: Some(agent_path(BaseDir::Config, "opencode/opencode.jsonc")),
                content: OPENCODE_SERVER,
            },
            file_spec(agent_path(BaseDir::Config, "opencode/AGENTS.md"), ContentSpec::Instructions),
            file_spec(agent_path(BaseDir::Config, "opencode/skills"), ContentSpec::Skills),
        ],
        project: &[
            FileSpec {
                place: agent_path(BaseDir::Project, "opencode.json"),
                alternative: Some(agent_path(BaseDir::Project, "opencode.jsonc")),
                content: OPENCODE_SERVER,
            },
            AGENTS_MD,
            file_spec(agent_path(BaseDir::Project, ".opencode/skills"), ContentSpec::Skills),
        ],
        note: "",
    },
    Agent {
        id: "zed",
        name: "Zed",
        programs: &["zed", "zeditor"],
        signs: &[agent_path(BaseDir::Zed, "")],
        project_signs: &[agent_path(BaseDir::Project, ".zed")],
        user: &[file_spec(agent_path(BaseDir::Zed, "settings.json"), ZED_SERVER)],
        project: &[file_spec(agent_path(BaseDir::Project, ".zed/settings.json"), ZED_SERVER), AGENTS_MD],
        note: "",
    },
    Agent {
        id: "neovim",
        name: "Neovim (mcphub.nvim)",
        // Neovim itself has no MCP settings; only the plugin shows that they would be read.
        programs: &[],
        signs: &[agent_path(BaseDir::Home, ".config/mcphub")],
        project_signs: &[agent_path(BaseDir::Project, ".mcphub")],
        user: &[file_spec(agent_path(BaseDir::Home, ".config/mcphub/servers.json"), PLAIN_SERVER)],
        project: &[file_spec(agent_path(BaseDir::Project, ".mcphub/servers.json"), PLAIN_SERVER), AGENTS_MD],
        note: "Neovim reads this through the plugin mcphub.nvim",
    },
    Agent {
        id: "agents-md",
        name: "AGENTS.md",
        programs: &[],
        signs: &[],
        project_signs: &[agent_path(BaseDir::Project, "AGENTS.md")],
        user: &[],
        project: &[AGENTS_MD],
        note: "",
    },
];
