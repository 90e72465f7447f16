//! Finds the agents of a user or a project.

use serde::Serialize;

use super::agent_table::{AGENTS, Agent};
use super::place::SetupDirs;
use super::scope::FileScope;

/// The result of looking for one agent.
#[derive(Debug, Serialize)]
pub struct DetectedAgent {
    /// The id of the agent, as a user types it.
    pub agent: &'static str,
    /// The first file or program of the agent that was found.
    pub found: Option<String>,
    /// The files and programs that were looked for.
    pub looked_for: Vec<String>,
}

/// Looks for all agents that have settings files in this scope, and returns a result for each.
pub fn detect_agents(dirs: &SetupDirs, scope: FileScope) -> Vec<DetectedAgent> {
    let agents = AGENTS.iter().filter(|agent| !scope.settings_files(agent).is_empty());
    agents.map(|agent| detect_agent(agent, dirs, scope)).collect()
}

fn detect_agent(agent: &Agent, dirs: &SetupDirs, scope: FileScope) -> DetectedAgent {
    let signs = match scope {
        FileScope::User => agent.signs,
        FileScope::Project => agent.project_signs,
    };
    let paths: Vec<_> = signs.iter().map(|sign| dirs.resolve_path(*sign)).collect();
    let sign = paths.iter().find(|path| path.exists()).map(|path| dirs.display_path(path));
    let found = match scope {
        FileScope::User => sign.or_else(|| {
            let program = agent.programs.iter().find_map(|name| dirs.find_program(name))?;
            Some(program.display().to_string())
        }),
        FileScope::Project => sign,
    };
    let mut looked_for: Vec<String> = paths.iter().map(|path| dirs.display_path(path)).collect();
    if scope == FileScope::User {
        looked_for.extend(agent.programs.iter().map(|name| format!("{name} in PATH")));
    }
    DetectedAgent { agent: agent.id, found, looked_for }
}
