//! Is what cannot be changed left alone, and told of?

use std::fs;

use super::fixture::{Home, SERVERS};
use crate::live::{not_checked, ran_without_privileges};

/// Sets up an agent with this text in its file, and returns what was said; the file is as before.
fn left_alone(agent: &str, file: &str, text: &[u8]) -> String {
    let home = Home::new();
    home.write(file, "");
    fs::write(home.path(file), text).unwrap();
    let before = home.files();
    let said = home.run(&["setup", agent, "zed"]);
    assert!(said.starts_with("exit 1\n"), "{said}");
    assert_eq!(fs::read(home.path(file)).unwrap(), text);
    assert!(home.read("home/.config/zed/settings.json").contains("memod"), "the others are still set up");
    home.run(&["setup", "--undo", agent, "zed"]);
    assert_eq!(home.files(), before);
    said
}

#[test]
fn files_that_do_not_parse() {
    for server in SERVERS.iter().filter(|server| server.scope == "user" && server.agent != "zed") {
        for text in ["{\"a\": ", "[1, 2", "= 1", "\u{0}\u{1}", "<xml/>", "{\"a\": 1} trailing"] {
            let said = left_alone(server.agent, server.file, text.as_bytes());
            assert!(said.contains("left alone: it is not valid"), "{text:?}: {said}");
            assert!(said.contains(server.file.strip_prefix("home").unwrap()), "the path is named: {said}");
        }
    }
}

#[test]
fn files_that_are_no_text() {
    let claude = |text: &[u8]| left_alone("claude-code", "home/.claude.json", text);
    assert!(claude(b"{\"a\": \"\xff\"}").contains("it is not UTF-8"));
    assert!(claude(b"\xff\xfe{\0}\0").contains("it is not UTF-8"));
    let mut big = vec![b' '; 9 << 20];
    big[0] = b'{';
    big[(9 << 20) - 1] = b'}';
    assert!(claude(&big).contains("it is larger than 8 MiB"));
    assert!(claude("[".repeat(100_000).as_bytes()).contains("it is not valid JSON"));
}

#[test]
fn entries_of_others() {
    let said = left_alone(
        "claude-code",
        "home/.claude.json",
        br#"{"mcpServers": {"memod": {"command": "npx", "args": ["-y", "memod"]}}}"#,
    );
    assert!(said.contains("it has an entry `memod` that `memo setup` did not write"), "{said}");
    let said = left_alone("codex", "home/.codex/config.toml", b"[mcp_servers.memod]\ncommand = \"x\"\n");
    assert!(said.contains("it has an entry `memod` that `memo setup` did not write"), "{said}");
    let said = left_alone("gemini", "home/.gemini/settings.json", br#"{"hooks": {"AfterTool": "x"}}"#);
    assert!(said.contains("hooks.AfterTool is not an array"), "{said}");
    let said = left_alone("claude-code", "home/.claude/skills/memod-search/SKILL.md", b"mine");
    assert!(
        said.contains("memod-search/SKILL.md: left alone: its text is not what `memo setup` writes"),
        "{said}"
    );
    let said = left_alone("claude-code", "home/.claude/CLAUDE.md", b"<!-- memod: end -->\n");
    assert!(said.contains("it must have one `memod: begin` and one `memod: end` mark"), "{said}");
}

#[test]
fn what_is_no_file() {
    let home = Home::new();
    fs::create_dir_all(home.path("home/.claude.json")).unwrap();
    let said = home.run(&["setup", "claude-code"]);
    assert!(said.contains("~/.claude.json: left alone: it is not a file"), "{said}");
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_stay() {
    let home = Home::new();
    home.write("home/dotfiles/zed.json", "{}\n");
    fs::create_dir_all(home.path("home/.config/zed")).unwrap();
    let link = home.path("home/.config/zed/settings.json");
    std::os::unix::fs::symlink("../../dotfiles/zed.json", &link).unwrap();
    let before = home.files();
    assert!(home.run(&["setup", "zed"]).starts_with("exit 0"));
    assert!(link.is_symlink() && home.read("home/dotfiles/zed.json").contains("memod"));
    home.run(&["setup", "zed", "--undo"]);
    assert_eq!(home.files(), before);

    fs::remove_file(home.path("home/dotfiles/zed.json")).unwrap();
    let said = home.run(&["setup", "zed"]);
    assert!(said.contains("left alone: it is a symbolic link to a path that does not exist"), "{said}");
    assert!(link.is_symlink() && !home.exists("home/dotfiles/zed.json"));
}

#[cfg(unix)]
#[test]
fn two_names_of_one_file_have_one_record() {
    let home = Home::new();
    home.write("work/AGENTS.md", "# Mine\n");
    std::os::unix::fs::symlink("AGENTS.md", home.path("work/CLAUDE.md")).unwrap();
    let before = home.files();
    home.run(&["setup", "--scope", "project", "codex", "claude-code"]);
    assert_eq!(home.read("work/AGENTS.md").matches("memod: begin").count(), 1);
    let kept = home.run(&["setup", "--scope", "project", "--undo", "codex"]);
    assert!(kept.contains("kept: AGENTS.md: claude-code also reads this file"), "{kept}");
    home.run(&["setup", "--scope", "project", "--undo", "claude-code"]);
    assert_eq!(home.files(), before);
}

#[cfg(unix)]
#[test]
fn modes_stay() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.write("home/.claude.json", "{}");
    let path = home.path("home/.claude.json");
    let mode = |mode: u32| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o600);
    home.run(&["setup", "claude-code"]);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    home.run(&["setup", "claude-code", "--undo"]);
    mode(0o400);
    let said = home.run(&["setup", "claude-code"]);
    assert!(said.contains("~/.claude.json: left alone: it is read-only"), "{said}");
    assert_eq!(home.read("home/.claude.json"), "{}");
    let shown = home.run(&["setup", "claude-code", "--show"]);
    assert!(shown.contains("left alone: it is read-only"), "--show says the same: {shown}");
}

#[cfg(unix)]
#[test]
fn the_owner_stays() {
    use std::os::unix::fs::{MetadataExt, chown};
    let home = Home::new();
    home.write("home/.claude.json", "{}");
    let path = home.path("home/.claude.json");
    if chown(&path, Some(12_345), Some(12_346)).is_err() {
        return not_checked("setup::refused::the_owner_stays: only root gives files away");
    }
    assert!(home.run(&["setup", "claude-code"]).starts_with("exit 0"));
    let meta = fs::metadata(&path).unwrap();
    assert!(home.read("home/.claude.json").contains("memod"));
    assert_eq!((meta.uid(), meta.gid()), (12_345, 12_346));
}

#[cfg(unix)]
#[test]
fn links_of_a_project_lead_nowhere_else() {
    use std::os::unix::fs::symlink;
    let home = Home::new();
    home.write("home/.bashrc", "# mine\n");
    home.write("home/.claude/settings.json", "{}\n");
    home.write("work/CLAUDE.md", "# Rules\n");
    symlink("CLAUDE.md", home.path("work/AGENTS.md")).unwrap();
    symlink(home.path("home/.bashrc"), home.path("work/.mcp.json")).unwrap();
    symlink(home.path("home/.claude"), home.path("work/.claude")).unwrap();
    let said = home.run(&["setup", "--scope", "project", "claude-code", "codex"]);
    assert!(said.starts_with("exit 1\n"), "{said}");
    for file in [".mcp.json", ".claude/settings.json", ".claude/skills/memod-search/SKILL.md"] {
        assert!(said.contains(&format!("{file}: left alone: it leads out of the project")), "{file}: {said}");
    }
    assert_eq!(home.read("home/.bashrc"), "# mine\n");
    assert_eq!(home.read("home/.claude/settings.json"), "{}\n");
    assert!(!home.exists("home/.claude/skills"));
    assert!(home.read("work/CLAUDE.md").contains("memod: begin"), "a link inside the project is followed");
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_written() {
    use std::os::unix::fs::PermissionsExt;
    if ran_without_privileges("setup::refused::a_directory_that_cannot_be_written") {
        return;
    }
    let home = Home::new();
    home.write("home/.config/zed/settings.json", "{}\n");
    let dir = home.path("home/.config/zed");
    let before = home.files();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o500)).unwrap();
    let said = home.run(&["setup", "zed"]);
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(said.starts_with("exit 1\n") && said.contains("left alone: write "), "{said}");
    assert_eq!(home.files(), before);
    assert!(!home.has_records(), "nothing is on record that was not done");
}

#[test]
fn without_a_home_it_says_what_to_set() {
    let home = Home::new();
    for value in [None, Some("relative/home")] {
        let mut command = home.program(env!("CARGO_BIN_EXE_memo"), &["setup", "zed"]);
        match value {
            Some(value) => command.env("HOME", value),
            None => command.env_remove("HOME"),
        };
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains("no home directory") && said.contains("hint: set HOME to an absolute path"),
            "{said}"
        );
    }
    assert_eq!(home.files(), Home::new().files());
}

#[cfg(unix)]
#[test]
fn a_run_that_is_stuck_is_named() {
    let home = Home::new();
    home.write("home/.local/state/memod/setup.lock", "");
    let lock = fs::File::open(home.path("home/.local/state/memod/setup.lock")).unwrap();
    lock.lock().unwrap();
    let said = home.run(&["setup", "zed", "--show"]);
    assert!(said.starts_with("exit 0"), "what is only shown waits for nobody: {said}");
    let said = home.run(&["setup", "zed"]);
    assert!(said.starts_with("exit 3\n") && said.contains("setup.lock: another `memo setup`"), "{said}");
    assert!(!home.exists("home/.config/zed"));
    drop(lock);
    assert!(home.run(&["setup", "zed"]).starts_with("exit 0"));
}

#[test]
fn wrong_usage() {
    let home = Home::new();
    assert!(home.run(&["setup", "emacs"]).starts_with("exit 2\n"));
    let said = home.run(&["setup", "agents-md", "--scope", "user"]);
    assert!(
        said.starts_with("exit 2\n") && said.contains("agents-md has no settings files in the scope `user`"),
        "{said}"
    );
}
