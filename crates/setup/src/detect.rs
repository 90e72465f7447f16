//! Finds the agents of a user or a project.

use serde::Serialize;

use super::agent_table::{AGENTS, Agent};
use super::place::AgentDirs;
use super::run::Scope;

/// Whether an agent is there.
#[derive(Debug, Serialize)]
pub struct Detected {
    /// The agent, as it is typed.
    pub agent: &'static str,
    /// What was found of it.
    pub found: Option<String>,
    /// What was looked for.
    pub looked_for: Vec<String>,
}

/// Looks for all agents that have files in this scope.
pub fn detect(dirs: &AgentDirs, scope: Scope) -> Vec<Detected> {
    let agents = AGENTS.iter().filter(|agent| !scope.files(agent).is_empty());
    agents.map(|agent| look_for(agent, dirs, scope)).collect()
}

fn look_for(agent: &Agent, dirs: &AgentDirs, scope: Scope) -> Detected {
    let signs = match scope {
        Scope::User => agent.signs,
        Scope::Project => agent.project_signs,
    };
    let paths: Vec<_> = signs.iter().map(|sign| dirs.path(*sign)).collect();
    let sign = paths.iter().find(|path| path.exists()).map(|path| dirs.shown(path));
    let program = || agent.programs.iter().find_map(|name| dirs.program(name));
    let found = match scope {
        Scope::User => sign.or_else(|| program().map(|path| path.display().to_string())),
        Scope::Project => sign,
    };
    let mut looked_for: Vec<String> = paths.iter().map(|path| dirs.shown(path)).collect();
    if scope == Scope::User {
        looked_for.extend(agent.programs.iter().map(|name| format!("{name} in PATH")));
    }
    Detected { agent: agent.id, found, looked_for }
}
