//! Lists two examples for each verb, which its help shows.

use clap::Command;

/// The full name of each verb, and two command lines, the more frequent one first.
const EXAMPLES: &[(&str, [&str; 2])] = &[
    ("init", ["memo init", "memo init --no-hooks"]),
    ("demo", ["memo demo", "memo demo --remove"]),
    (
        "search",
        [
            "memo search \"how are sessions signed\"",
            "memo search --kind symbol --path 'src/**' \"parse config file\"",
        ],
    ),
    ("explain", ["memo explain \"token expiry\"", "memo explain \"token expiry\" --of src/session.rs"]),
    ("show", ["memo show src/session.rs#Session::login", "memo show 2"]),
    ("outline", ["memo outline src/session.rs", "memo outline Session"]),
    ("refs", ["memo refs login", "memo refs src/session.rs#Session::login"]),
    ("callers", ["memo callers login", "memo callers src/session.rs#Session::login --depth 2"]),
    ("callees", ["memo callees login", "memo callees src/session.rs#Session::login --depth 2"]),
    ("impact", ["memo impact src/session.rs#Session::login", "memo impact --since HEAD~3"]),
    ("tests", ["memo tests src/session.rs#Session::login", "memo tests --since main"]),
    ("implements", ["memo implements Store", "memo implements src/store.rs#Store --depth 2"]),
    ("open", ["memo open 2", "memo open src/session.rs#Session::login"]),
    ("map", ["memo map", "memo map src --budget 2048 --focus src/auth.rs"]),
    ("brief", ["memo brief", "memo brief --budget 1000"]),
    ("changed", ["memo changed", "memo changed main..HEAD -- src"]),
    ("why", ["memo why src/auth.rs#login", "memo why src/auth.rs:10-20"]),
    (
        "add",
        [
            "memo add \"sessions are signed tokens; nothing is kept on the server\"",
            "memo add --about src/session.rs#LIFETIME_S --tag auth \"support asked for a whole day\"",
        ],
    ),
    ("get", ["memo get mem_01KAJ", "memo get mem_01KAJ mem_01K9Z --json"]),
    ("list", ["memo list", "memo list --tag auth --sort updated -n 5"]),
    (
        "update",
        [
            "memo update mem_01KAJ --priority 8 --ttl never",
            "memo update mem_01KAJ --append \"and tokens expire after 24 hours\"",
        ],
    ),
    ("confirm", ["memo confirm mem_01KAJ", "memo confirm mem_01KAJ --json"]),
    ("forget", ["memo forget mem_01KAJ", "memo forget --tag draft --until 30d"]),
    ("forget purge", ["memo forget purge --dry-run", "memo forget purge --until 90d"]),
    ("forget reset", ["memo forget reset --dry-run", "memo forget reset"]),
    ("restore", ["memo restore mem_01KAJ", "memo restore mem_01KAJ mem_01K9Z"]),
    ("share", ["memo share mem_01KAJ", "memo share --tag decision --dry-run"]),
    ("share remove", ["memo share remove mem_01KAJ", "memo share remove --tag draft --dry-run"]),
    ("share sync", ["memo share sync", "memo share sync origin"]),
    ("share team", ["memo share team", "memo share team login"]),
    ("tag", ["memo tag mem_01KAJ auth", "memo tag mem_01KAJ auth jwt"]),
    ("tag remove", ["memo tag remove mem_01KAJ jwt", "memo tag remove mem_01KAJ auth jwt"]),
    ("tag list", ["memo tag list", "memo tag list --json"]),
    ("tag containers", ["memo tag containers", "memo tag containers --json"]),
    ("recall", ["memo recall token expiry", "memo recall --tag auth -n 3 \"token expiry\""]),
    ("promote", ["memo promote mem_01KAJ", "memo promote mem_01KAJ --to long"]),
    (
        "consolidate",
        [
            "memo consolidate mem_01KAJ mem_01K9Z --title Tokens --summary \"tokens expire after 24 hours\"",
            "memo consolidate --auto --dry-run",
        ],
    ),
    ("link", ["memo link mem_01KAJ mem_01K9Z", "memo link mem_01KAJ mem_01K9Z --kind supersedes"]),
    (
        "link remove",
        ["memo link remove mem_01KAJ mem_01K9Z", "memo link remove mem_01KAJ mem_01K9Z --kind supersedes"],
    ),
    ("link list", ["memo link list mem_01KAJ", "memo link list mem_01KAJ --depth 2"]),
    ("resolve", ["memo resolve mem_01KAJ mem_01K9Z", "memo resolve mem_01KAJ --ours"]),
    ("related", ["memo related mem_01KAJ", "memo related mem_01KAJ -n 3"]),
    ("dedupe", ["memo dedupe", "memo dedupe --container auth --merge"]),
    ("history", ["memo history mem_01KAJ", "memo history mem_01KAJ --json"]),
    ("stats", ["memo stats", "memo stats --json"]),
    ("export", ["memo export --out memories.jsonl", "memo export --tag auth --out auth.jsonl"]),
    ("import", ["memo import memories.jsonl", "memo import --from markdown --container handbook ~/handbook"]),
    ("distil", ["memo distil session.jsonl --dry-run", "memo distil session.jsonl | memo import -"]),
    ("backup", ["memo backup", "memo backup ~/memories.db"]),
    ("backup restore", ["memo backup restore latest --dry-run", "memo backup restore ~/memories.db"]),
    ("status", ["memo status", "memo status --files -z | xargs -0 wc -l"]),
    ("sync", ["memo sync", "memo sync --sync full --wait-ms 60000"]),
    ("daemon stop", ["memo daemon stop", "memo daemon stop -C ../other"]),
    ("daemon restart", ["memo daemon restart", "memo daemon restart -C ../other"]),
    ("daemon logs", ["memo daemon logs", "memo daemon logs -n 200 -f"]),
    ("daemon events", ["memo daemon events", "memo daemon events --topic memories --json"]),
    ("serve", ["memo serve --open", "memo serve --stop"]),
    ("doctor", ["memo doctor", "memo doctor --ack"]),
    ("reindex", ["memo reindex", "memo reindex -C ../other"]),
    ("setup", ["memo setup --show", "memo setup claude-code"]),
    ("hooks", ["memo hooks", "memo hooks install --chain"]),
    (
        "hooks agent",
        [
            "memo hooks agent session-start --explain",
            "memo hooks agent prompt --explain \"how long is a token valid\"",
        ],
    ),
    ("uninstall", ["memo uninstall --dry-run", "memo uninstall --export memories.jsonl"]),
    ("llm", ["memo llm", "memo llm --json"]),
    ("model", ["memo model", "memo model use minilm-l6"]),
    ("config", ["memo config", "memo config set search.limit 20 --user"]),
    ("shell", ["memo shell", "memo shell < lines"]),
    ("mcp", ["memo mcp", "memo mcp --profile full"]),
    (
        "completions",
        [
            "memo completions bash > ~/.local/share/bash-completion/completions/memo",
            "memo completions fish > ~/.config/fish/completions/memo.fish",
        ],
    ),
    ("man", ["memo man search", "memo man --to man/man1"]),
    ("version", ["memo version", "memo version --json"]),
];

/// Returns the examples of a verb; `None` for an unknown name.
pub(crate) fn find_examples(verb: &str) -> Option<&'static [&'static str; 2]> {
    EXAMPLES.iter().find(|(name, _)| *name == verb).map(|(_, examples)| examples)
}

/// Adds the examples of a command and of its subcommands to their help. `name` is the full name of the command without `memo`.
pub(super) fn add_examples(command: Command, name: &str) -> Command {
    let command = command.mut_subcommands(|verb| {
        let verb_name = format!("{name} {}", verb.get_name()).trim_start().to_owned();
        add_examples(verb, &verb_name)
    });
    match find_examples(name) {
        Some(examples) => {
            let lines: String = examples.iter().map(|example| format!("\n  {example}")).collect();
            command.after_help(format!("Examples:{lines}"))
        }
        None => command,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::{CommandLine, parse_command_line};

    #[test]
    fn each_verb_has_examples_of_its_own() {
        let memo = CommandLine::command();
        for verb in memo.get_subcommands().filter(|verb| !verb.is_hide_set()) {
            let name = verb.get_name();
            let has_own = EXAMPLES.iter().any(|(of, _)| of.split(' ').next() == Some(name));
            assert!(has_own, "{name}");
        }
    }

    #[test]
    fn each_example_is_understood() {
        for (name, examples) in EXAMPLES {
            for example in examples {
                let command = example.split(['|', '<', '>']).next().expect("there is a first part");
                let words = shlex::split(command).unwrap_or_else(|| panic!("{example}: an open quote"));
                let typed = parse_command_line(words).unwrap_or_else(|error| panic!("{example}: {error}"));
                assert!(typed.verb_name.starts_with(name), "{example}: {}", typed.verb_name);
            }
        }
    }
}
