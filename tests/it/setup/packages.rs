//! Do the packages in `plugin/` agree with each other, with this crate and with `memo setup`?

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::fixture::Home;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn read(name: &str) -> Value {
    let text = fs::read_to_string(top().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

const MANIFESTS: [&str; 5] = [
    "plugin/.claude-plugin/plugin.json",
    "plugin/.codex-plugin/plugin.json",
    "plugin/gemini-extension.json",
    "plugin/portable/plugin.json",
    "plugin/server.json",
];

#[test]
fn names_and_versions() {
    let description = &read(MANIFESTS[0])["description"];
    for name in MANIFESTS {
        let manifest = read(name);
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"), "{name}");
        assert_eq!(manifest["name"].as_str().unwrap().rsplit('/').next(), Some("memod"), "{name}");
        assert_eq!(&manifest["description"], description, "{name}");
        let license = manifest.get("license").and_then(Value::as_str);
        assert!(license.is_none_or(|license| license == env!("CARGO_PKG_LICENSE")), "{name}");
    }
    let server = read("plugin/server.json");
    assert_eq!(server["packages"][0]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(server["packages"][0]["identifier"], env!("CARGO_PKG_NAME"));
    assert!(description.as_str().unwrap().len() <= 100, "the registry takes no more");
    let market = read(".claude-plugin/marketplace.json");
    assert_eq!(market["plugins"][0]["name"], "memod");
    assert_eq!(&market["plugins"][0]["description"], description);
    let source = market["plugins"][0]["source"].as_str().unwrap();
    assert!(top().join(source).join(".claude-plugin/plugin.json").is_file());
}

#[test]
fn commands() {
    let command = json!({ "command": "memo", "args": ["mcp"] });
    assert_eq!(read("plugin/.mcp.json")["mcpServers"], json!({ "memod": command }));
    assert_eq!(read("plugin/gemini-extension.json")["mcpServers"], json!({ "memod": command }));
    let server = &read("plugin/server.json")["packages"][0];
    assert_eq!(server["packageArguments"], json!([{ "type": "positional", "value": "mcp" }]));
    assert_eq!((&server["transport"]["type"], &server["runtimeHint"]), (&json!("stdio"), &json!("memo")));
}

#[test]
fn hooks_are_those_of_setup() {
    let home = Home::new();
    home.run(&["setup", "--scope", "project", "claude-code", "codex"]);
    for (package, written) in [("claude-code", ".claude/settings.json"), ("codex", ".codex/hooks.json")] {
        let written: Value = serde_json::from_str(&home.read(&format!("work/{written}"))).unwrap();
        assert_eq!(read(&format!("plugin/hooks/{package}.json")), written, "{package}");
    }
}

#[test]
fn named_files_are_there() {
    for (manifest, keys) in
        [(MANIFESTS[0], ["hooks"].as_slice()), (MANIFESTS[1], &["hooks", "mcpServers", "skills"])]
    {
        for key in keys {
            let path = read(manifest)[key].as_str().unwrap().to_owned();
            assert!(top().join("plugin").join(&path).exists(), "{manifest}: {path}");
        }
    }
    let context = read("plugin/gemini-extension.json")["contextFileName"].as_str().unwrap().to_owned();
    assert!(top().join("plugin").join(context).is_file());
    // Claude Code and Gemini CLI would both take them.
    assert!(!top().join("plugin/hooks/hooks.json").exists());
    // Codex would read nothing else.
    assert!(!top().join("plugin/plugin.json").exists());
}

#[test]
fn skills() {
    let names = |dir: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(top().join(dir)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let skills = names("plugin/skills");
    assert_eq!(skills.len(), 4);
    assert_eq!(names("plugin/portable/skills"), skills);
    for skill in skills {
        let read = |dir: &str| fs::read_to_string(top().join(dir).join(&skill).join("SKILL.md")).unwrap();
        let text = read("plugin/skills");
        assert_eq!(read("plugin/portable/skills"), text, "{skill}");
        let (front, body) = text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
        assert!(front.starts_with(&format!("name: {skill}\n")), "{front}");
        let description = front.lines().find_map(|line| line.strip_prefix("description: ")).unwrap();
        // A colon and a blank would begin a mapping in YAML.
        assert!(description.len() <= 400 && !description.contains(": "), "{description}");
        assert!(body.split_whitespace().count() <= 200, "{skill} is short");
    }
}
