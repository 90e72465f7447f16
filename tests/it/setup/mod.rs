//! Does `memo setup` write what agents read, and does undoing restore every byte?

mod fixture;
#[cfg(target_os = "linux")]
mod killed;
mod packages;
mod refused;
mod samples;

use self::fixture::{Home, SERVERS, Server};
use self::samples::{INSTRUCTIONS, samples};

/// Sets up, looks with the eyes of the agent, sets up again, and undoes, on each sample of its settings file.
fn round_trips(server: &Server) {
    let samples = samples(server);
    assert!(samples.len() >= 10, "{}", server.agent);
    for (at, sample) in samples.iter().enumerate() {
        let home = Home::new();
        home.write(server.file, sample.as_deref());
        if let Some(file) = server.instructions {
            home.write(file, INSTRUCTIONS[at % INSTRUCTIONS.len()]);
        }
        let before = home.files();

        let shown = home.setup(server, &["--show"]);
        assert_eq!(home.files(), before, "--show writes nothing: {shown}");
        let done = home.setup(server, &[]);
        assert!(done.starts_with("exit 0"), "{sample:?}: {done}");
        let text = home.read(server.file);
        let entry = server.entry(&text).unwrap_or_else(|| panic!("{sample:?} became {text}"));
        assert_eq!(entry, server.expected(&home), "{text}");
        if let Some(file) = server.instructions {
            assert!(home.read(file).contains("memo search"), "{file}");
        }
        let after = home.files();

        let again = home.setup(server, &[]);
        assert!(again.contains("nothing to do"), "{sample:?}: {again}");
        assert_eq!(home.files(), after, "a second time changes nothing");

        let undone = home.setup(server, &["--undo"]);
        assert!(undone.starts_with("exit 0"), "{sample:?}: {undone}");
        assert_eq!(home.files(), before, "{sample:?}: {undone}");
        assert!(!home.has_records(), "no record stays");
    }
}

/// One test for each agent, so that a failure names it.
macro_rules! agents {
    ($($name:ident: $agent:literal),+ $(,)?) => {$(
        #[test]
        fn $name() {
            let mut found = SERVERS.iter().filter(|server| server.agent == $agent).peekable();
            assert!(found.peek().is_some());
            found.for_each(round_trips);
        }
    )+};
}

agents! {
    claude_code: "claude-code",
    codex: "codex",
    cursor: "cursor",
    vscode: "vscode",
    gemini: "gemini",
    opencode: "opencode",
    zed: "zed",
    neovim: "neovim",
}

#[test]
fn agents_md() {
    for sample in INSTRUCTIONS {
        let home = Home::new();
        home.write("work/AGENTS.md", *sample);
        let before = home.files();
        assert!(home.run(&["setup", "agents-md"]).starts_with("exit 0"));
        assert!(home.read("work/AGENTS.md").contains("memo search"));
        assert!(home.run(&["setup", "agents-md"]).contains("nothing to do"));
        assert!(home.run(&["setup", "agents-md", "--undo"]).starts_with("exit 0"));
        assert_eq!(home.files(), before, "{sample:?}");
    }
}

#[test]
fn those_that_are_there_are_found() {
    let home = Home::new();
    let none = home.run(&["setup"]);
    assert!(
        none.starts_with("exit 1\n") && none.contains("zed          not found (~/.config/zed, zed in PATH"),
        "{none}"
    );
    assert!(none.contains("no agent was found; `memo setup agents-md` writes"), "{none}");
    assert_eq!(home.files(), Home::new().files(), "nothing is written for an agent that is not there");

    home.write("home/.config/zed/settings.json", Some("{}\n"));
    let shown = home.run(&["setup", "--show"]);
    assert!(
        shown.contains("zed          found ~/.config/zed\n") && shown.contains("+    \"memod\": {"),
        "{shown}"
    );
    assert!(!shown.contains("Cursor (user)"), "{shown}");
    let json = home.json(&["setup", "--show", "--json"]);
    assert_eq!(json["written"], false);
    assert_eq!(json["agents"][0]["agent"], "zed");
    assert_eq!(json["agents"][0]["files"][0]["action"], "changed");
    assert!(
        json["agents"][0]["files"][0]["diff"].as_str().unwrap().contains("+++ ~/.config/zed/settings.json")
    );
    let codex = json["looked_for"].as_array().unwrap().iter().find(|at| at["agent"] == "codex").unwrap();
    assert_eq!(
        (&codex["found"], codex["looked_for"].as_array().unwrap().len()),
        (&serde_json::Value::Null, 2)
    );
}

#[test]
fn a_file_of_two_agents_stays_until_both_are_undone() {
    let home = Home::new();
    let before = home.files();
    home.run(&["setup", "--scope", "project", "codex", "opencode"]);
    assert_eq!(home.read("work/AGENTS.md").matches("memod: begin").count(), 1);
    let kept = home.run(&["setup", "--scope", "project", "--undo", "codex"]);
    assert!(
        kept.starts_with("exit 0") && kept.contains("kept: AGENTS.md: opencode also reads this file"),
        "{kept}"
    );
    assert!(home.read("work/AGENTS.md").contains("memod: begin"));
    home.run(&["setup", "--scope", "project", "--undo", "opencode"]);
    assert_eq!(home.files(), before);
}

#[test]
fn undo_without_a_name_takes_out_everything() {
    let home = Home::new();
    home.write("home/.claude.json", Some("{\n  \"theme\": \"dark\"\n}\n"));
    home.write("home/.gemini/GEMINI.md", Some("# Mine\n"));
    let before = home.files();
    for scope in ["user", "project"] {
        let agents: Vec<&str> = SERVERS.iter().map(|server| server.agent).collect();
        let done = home.run(&[&["setup", "--scope", scope], agents.as_slice()].concat());
        assert!(done.starts_with("exit 0"), "{done}");
    }
    assert_ne!(home.files(), before);
    for scope in ["user", "project"] {
        let undone = home.run(&["setup", "--undo", "--scope", scope]);
        assert!(undone.starts_with("exit 0"), "{undone}");
    }
    assert_eq!(home.files(), before);
    assert!(home.run(&["setup", "--undo"]).contains("nothing to do"));
}

#[test]
fn hooks_and_skills_are_written_in_the_form_of_the_agent() {
    let home = Home::new();
    home.run(&[
        "setup",
        "--scope",
        "project",
        "claude-code",
        "codex",
        "cursor",
        "vscode",
        "gemini",
        "opencode",
    ]);
    let json = |file: &str| -> serde_json::Value { serde_json::from_str(&home.read(file)).unwrap() };
    let claude = json("work/.claude/settings.json");
    let start = &claude["hooks"]["SessionStart"][0]["hooks"][0];
    assert_eq!(start["command"], "memo hook session-start --agent claude-code");
    assert_eq!(claude["hooks"]["PreToolUse"][0]["matcher"], "Edit|MultiEdit|Write|NotebookEdit");
    let codex = json("work/.codex/hooks.json");
    assert_eq!(
        codex["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"],
        "memo hook prompt --agent codex"
    );
    let cursor = json("work/.cursor/hooks.json");
    assert_eq!(cursor["version"], 1);
    assert_eq!(cursor["hooks"]["postToolUse"][0]["command"], "memo hook before-edit --agent cursor");
    let vscode = json("work/.github/hooks/memod.json");
    assert_eq!(vscode["hooks"]["SessionStart"][0]["command"], "memo hook session-start --agent vscode");
    let gemini = json("work/.gemini/settings.json");
    assert_eq!(gemini["hooks"]["BeforeAgent"][0]["hooks"][0]["timeout"], 5000);
    assert!(home.read("work/.cursor/rules/memod.mdc").starts_with("---\ndescription: "));
    for skills in [".claude/skills", ".agents/skills", ".cursor/skills", ".github/skills", ".opencode/skills"]
    {
        for skill in ["search", "remember", "duplicates", "contradictions"] {
            let text = home.read(&format!("work/{skills}/memod-{skill}/SKILL.md"));
            assert!(text.starts_with(&format!("---\nname: memod-{skill}\ndescription: ")), "{text}");
        }
    }
}

#[test]
fn what_a_person_writes_afterwards_stays() {
    let home = Home::new();
    home.write("home/.claude/CLAUDE.md", Some("# Mine\n"));
    home.write("home/.claude/settings.json", Some("{\n  \"model\": \"opus\"\n}\n"));
    home.run(&["setup", "claude-code"]);
    let edited = home.read("home/.claude/settings.json").replace("\"opus\"", "\"sonnet\",\n  \"more\": true");
    home.write("home/.claude/settings.json", edited.as_str());
    let edited = format!("{}\nLater.\n", home.read("home/.claude/CLAUDE.md"));
    home.write("home/.claude/CLAUDE.md", edited.as_str());
    home.write("home/.claude/skills/memod-search/notes.md", Some("mine"));
    let undone = home.run(&["setup", "--undo", "claude-code"]);
    assert!(undone.starts_with("exit 0"), "{undone}");
    assert_eq!(home.read("home/.claude/settings.json"), "{\n  \"model\": \"sonnet\",\n  \"more\": true\n}\n");
    assert_eq!(home.read("home/.claude/CLAUDE.md"), "# Mine\n\nLater.\n");
    assert_eq!(home.read("home/.claude/skills/memod-search/notes.md"), "mine");
    assert!(!home.exists("home/.claude/skills/memod-remember") && !home.exists("home/.claude.json"));
}

#[cfg(unix)]
#[test]
fn several_at_once_do_not_disturb_each_other() {
    let home = Home::new();
    let before = home.files();
    let agents: Vec<&str> = SERVERS.iter().map(|server| server.agent).collect();
    let args = [&["setup", "--scope", "project"], agents.as_slice()].concat();
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..6).map(|_| scope.spawn(|| home.run(&args))).collect();
        for run in runs {
            let said = run.join().unwrap();
            assert!(said.starts_with("exit 0"), "{said}");
        }
    });
    home.run(&["setup", "--scope", "project", "--undo"]);
    assert_eq!(home.files(), before);
    assert!(!home.has_records());
}

#[test]
fn what_others_add_to_ours_stays() {
    let home = Home::new();
    home.write("home/.codex/config.toml", Some("model = \"x\"\n"));
    home.run(&["setup", "codex"]);
    let file = "home/.codex/config.toml";
    // Codex puts new tables before the last comment.
    let added = "startup_timeout_sec = 20\n\n[mcp_servers.memod.tools.search]\napproval_mode = \"approve\"\n\n\
                 # trusted\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n";
    let edited = home.read(file).replace("# memod: end", &format!("{added}# memod: end"));
    home.write(file, Some(edited.as_str()));
    let again = home.run(&["setup", "codex"]);
    assert!(again.starts_with("exit 0") && again.contains("nothing to do"), "{again}");
    assert_eq!(home.read(file), edited);
    let undone = home.run(&["setup", "codex", "--undo"]);
    assert!(undone.starts_with("exit 0"), "{undone}");
    let left = "model = \"x\"\n\n# trusted\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n";
    assert_eq!(home.read(file), left);

    let home = Home::new();
    home.run(&["setup", "--scope", "project", "claude-code"]);
    let add = |file: &str, from: &str, to: &str| {
        let edited = home.read(file).replacen(from, to, 1);
        assert!(edited.contains(to), "{file}: {edited}");
        home.write(file, Some(edited.as_str()));
    };
    add("work/CLAUDE.md", "<!-- memod: end -->", "Never force-push.\n<!-- memod: end -->");
    add("work/.mcp.json", "[\"mcp\"]", "[\"mcp\", \"--profile\", \"full\"]");
    add("work/.mcp.json", "{", "{ // of the team");
    add("work/.claude/settings.json", "--agent claude-code", "--agent claude-code --budget 99");
    let edited = home.files();
    let again = home.run(&["setup", "--scope", "project", "claude-code"]);
    assert!(again.contains("nothing to do"), "{again}");
    assert_eq!(home.files(), edited);
    home.run(&["setup", "--scope", "project", "claude-code", "--undo"]);
    assert_eq!(home.read("work/CLAUDE.md").trim(), "Never force-push.");
    assert!(home.read("work/.mcp.json").contains("// of the team"));

    let home = Home::new();
    home.run(&["setup", "agents-md"]);
    let changed = home.read("work/AGENTS.md").replacen("memo search", "memo search --mine", 1);
    home.write("work/AGENTS.md", Some(changed.as_str()));
    for undo in [&["setup", "agents-md"][..], &["setup", "agents-md", "--undo"]] {
        let said = home.run(undo);
        assert!(said.contains("AGENTS.md: left alone: its text is not what `memo setup` writes"), "{said}");
        assert_eq!(home.read("work/AGENTS.md"), changed);
    }
}
