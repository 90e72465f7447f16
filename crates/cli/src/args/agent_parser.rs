//! Parses the names of agents, as `memo setup` takes them.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Other names by which people call an agent.
const ALIASES: &[(&str, &[&str])] = &[
    ("claude-code", &["claude", "claudecode"]),
    ("codex", &["codex-cli", "openai-codex"]),
    ("vscode", &["code", "vs-code", "copilot", "github-copilot"]),
    ("gemini", &["gemini-cli"]),
    ("opencode", &["open-code"]),
    ("neovim", &["nvim"]),
    ("agents-md", &["agents", "agents.md", "AGENTS.md"]),
];

/// Parses the id of an agent, or another name of it, into the id.
pub(super) fn agent_parser() -> impl TypedValueParser<Value = String> {
    let with_aliases = |id: &'static str| {
        let names =
            ALIASES.iter().filter(move |(of, _)| *of == id).flat_map(|(_, names)| names.iter().copied());
        PossibleValue::new(id).aliases(names)
    };
    PossibleValuesParser::new(memod_setup::agent_ids().map(with_aliases)).map(|typed| {
        let known = ALIASES.iter().find(|(_, names)| names.contains(&typed.as_str()));
        known.map_or(typed, |(id, _)| (*id).to_owned())
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{CommandLine, MemoVerb};

    #[test]
    fn an_agent_has_several_names() {
        let parse = |name: &str| match CommandLine::try_parse_from(["memo", "setup", name]).ok()?.verb {
            MemoVerb::Setup(typed) => typed.agents.into_iter().next(),
            _ => None,
        };
        for (typed, id) in
            [("claude", "claude-code"), ("nvim", "neovim"), ("vs-code", "vscode"), ("zed", "zed")]
        {
            assert_eq!(parse(typed).as_deref(), Some(id), "{typed}");
        }
        assert_eq!(parse("emacs"), None);
        let ids: Vec<&str> = memod_setup::agent_ids().collect();
        for (id, names) in ALIASES {
            assert!(ids.contains(id) && names.iter().all(|name| !ids.contains(name)), "{id}");
        }
    }
}
