//! Do the examples of each page print what the page shows?

use regex::Regex;
use serde_json::Value;

use super::cut::{is_cut_from, steady};
use super::shop::Shop;
use super::{Page, pages};
use crate::live::{Live, not_checked};

/// Makes a test of each page with examples; each has a repository of its own, in which its blocks run in order.
macro_rules! examples {
    ($($test:ident: $page:literal,)*) => {
        $(
            #[test]
            fn $test() {
                run(&Page::read($page));
            }
        )*
        const WITH_EXAMPLES: &[&str] = &[$($page),*];
    };
}

examples! {
    examples_of_the_readme: "README.md",
    examples_of_agents_page: "docs/src/agents.md",
    examples_of_guide_page: "docs/src/guide.md",
    examples_of_http_page: "docs/src/http.md",
    examples_of_memories_page: "docs/src/memories.md",
    examples_of_agent_hooks: "docs/src/reference/agent-hooks.md",
    examples_of_agents: "docs/src/reference/agents.md",
    examples_of_brief: "docs/src/reference/brief.md",
    examples_of_commands: "docs/src/reference/commands.md",
    examples_of_events: "docs/src/reference/events.md",
    examples_of_freshness: "docs/src/reference/freshness.md",
    examples_of_history: "docs/src/reference/history.md",
    examples_of_hooks: "docs/src/reference/hooks.md",
    examples_of_http: "docs/src/reference/http.md",
    examples_of_indexed: "docs/src/reference/indexed.md",
    examples_of_llm: "docs/src/reference/llm.md",
    examples_of_mcp: "docs/src/reference/mcp.md",
    examples_of_measuring: "docs/src/reference/measuring.md",
    examples_of_memories: "docs/src/reference/memories.md",
    examples_of_models: "docs/src/reference/models.md",
    examples_of_protocol: "docs/src/reference/protocol.md",
    examples_of_search: "docs/src/reference/search.md",
    examples_of_settings: "docs/src/reference/settings.md",
    examples_of_sharing: "docs/src/reference/sharing.md",
    examples_of_structure: "docs/src/reference/structure.md",
    examples_of_team: "docs/src/reference/team.md",
    examples_of_search_page: "docs/src/search.md",
    examples_of_settings_page: "docs/src/settings.md",
    examples_of_structure_page: "docs/src/structure.md",
    examples_of_team_page: "docs/src/team.md",
    examples_of_trouble_page: "docs/src/trouble.md",
}

fn run(page: &Page) {
    let shop = Shop::new();
    let blocks = page.blocks();
    let runnable: Vec<_> = blocks.iter().filter(|block| block.info.starts_with("console")).collect();
    assert!(!runnable.is_empty(), "{} has no examples", page.name);
    // On a busy machine a first index takes longer than a search waits.
    shop.sh("memo sync --sync full --wait-ms 60000");
    for block in runnable {
        if let Some(tool) = block.info.strip_prefix("console needs ")
            && !shop.has(tool)
        {
            not_checked(&format!("{}, the example that needs {tool}: it is not installed", page.name));
            continue;
        }
        for (command, shown) in block.steps() {
            let actual = shop.sh(&with_variables(command));
            let shown = steady(&shown.join("\n"));
            let (shown, actual): (Vec<_>, Vec<_>) = (shown.lines().collect(), actual.lines().collect());
            assert!(
                is_cut_from(&shown, &actual),
                "{}\n$ {command}\nshown:\n{}\nprinted:\n{}",
                page.name,
                shown.join("\n"),
                actual.join("\n")
            );
        }
    }
}

/// Returns a script that knows the variables of the commands before it: each is run by a shell of its own.
fn with_variables(command: &str) -> String {
    let assigned = Regex::new(r"(?:^|; )(\w+)=").unwrap();
    let names = assigned.captures_iter(command).map(|found| found[1].to_owned());
    let keep: String =
        names.map(|name| format!("\nprintf \"{name}='%s'\\n\" \"${name}\" >> ../variables")).collect();
    format!("touch ../variables; . ../variables\n{command}{keep}")
}

#[test]
fn every_page_with_examples_is_run() {
    let has_examples = |page: &Page| page.blocks().iter().any(|block| block.info.starts_with("console"));
    let pages: Vec<_> = pages().into_iter().filter(has_examples).map(|page| page.name).collect();
    assert_eq!(pages, WITH_EXAMPLES);
}

#[test]
fn the_python_of_the_page_prints_the_hits() {
    let shop = Shop::new();
    if !shop.has("python3") {
        not_checked("docs/src/reference/protocol.md, the Python example: python3 is not installed");
        return;
    }
    let page = Page::read("docs/src/reference/protocol.md");
    let blocks = page.blocks();
    let script = blocks.iter().find(|block| block.info == "python").unwrap();
    let wait = ["--sync", "full", "--wait-ms", "60000"];
    let output = shop.0.memo(&["search", "signature", "--json"]).args(wait).output().unwrap();
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
    let pages = pages();
    let blocks: Vec<_> = pages.iter().flat_map(Page::blocks).collect();
    let console = blocks.iter().filter(|block| block.info.starts_with("console"));
    let commands: Vec<_> = console.flat_map(super::Block::steps).map(|(command, _)| command).collect();
    let verbs = verbs();
    assert!(verbs.len() >= 45, "{verbs:?}");
    for verb in verbs {
        let pattern = Regex::new(&format!(r"(^|\||\$\(|; )\s*memo {verb}\b")).unwrap();
        assert!(commands.iter().any(|command| pattern.is_match(command)), "no example of memo {verb}");
    }
}

/// Returns every verb: the manual has a page for each.
fn verbs() -> Vec<String> {
    let live = Live::idle();
    let written = live.sandbox.run(&["man", "--to", "pages"]);
    let pages = written.lines().filter_map(|line| line.strip_prefix("out: pages/memo-")?.strip_suffix(".1"));
    // Of a verb with verbs of its own each has a page too: `memo-hooks-install.1`.
    let own = ["backup-", "config-", "daemon-", "forget-", "hooks-", "link-", "model-", "share-", "tag-"];
    pages.filter(|page| !own.iter().any(|verb| page.starts_with(verb))).map(str::to_owned).collect()
}
