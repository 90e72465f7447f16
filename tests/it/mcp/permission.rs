//! What may a model not do?

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::{Mcp, indexed, text};
use crate::live::{Live, until};

/// Runs a command line as a model does; returns whether it failed, and the text.
fn run(mcp: &mut Mcp, command: &str) -> (bool, String) {
    let answer = mcp.tool("memo", json!({ "command": command }));
    (answer["isError"] == true, text(&answer).to_owned())
}

/// Runs a command with a path that is refused for a reason.
fn is_refused(mcp: &mut Mcp, command: &str, path: &str, why: &str) {
    let (is_error, shown) = run(mcp, &command.replace("{}", path));
    assert!(is_error && shown.starts_with(&format!("error: {path}: {why}")), "{command} {path}: {shown}");
}

fn nothing_is_remembered(mcp: &mut Mcp) {
    let listed = mcp.tool("memo", json!({ "command": "list" }));
    assert_eq!(listed["structuredContent"]["memories"], json!([]));
}

/// Makes a repository with links that lead out of it, and files outside.
fn with_ways_out() -> Live {
    let live = indexed();
    let home = live.sandbox.path("home");
    fs::write(home.join("secret.md"), "hidden outside").unwrap();
    fs::write(home.join("lines.jsonl"), "{\"content\":\"hidden outside\"}\n").unwrap();
    symlink(&home, live.root().join("up")).unwrap();
    symlink(home.join("secret.md"), live.root().join("link.md")).unwrap();
    symlink(home.join("not-yet"), live.root().join("dangling")).unwrap();
    symlink("docs/auth.md", live.root().join("inside.md")).unwrap();
    live.write("notes.db", "a database");
    symlink(home.join("secret.md"), live.root().join("notes.db-wal")).unwrap();
    live.write(".env.example", "NAME=value\n");
    live
}

#[test]
fn files_outside_the_worktree_are_neither_read_nor_written() {
    let live = with_ways_out();
    let home = live.sandbox.path("home").display().to_string();
    let mut mcp = Mcp::legacy(&live, &[]);
    let (outside, git_dir) = ("outside the worktree", "in the git directory");
    for (command, path, why) in [
        ("add --file {}", format!("{home}/secret.md"), outside),
        ("add --file {}", "../home/secret.md".to_owned(), outside),
        ("add --file {}", "docs/../../home/secret.md".to_owned(), outside),
        ("add --file {}", "link.md".to_owned(), outside),
        ("add --file {}", "up/secret.md".to_owned(), outside),
        ("add --file {}", "/etc/passwd".to_owned(), outside),
        ("add --file {}", "/proc/self/root/etc/passwd".to_owned(), outside),
        ("add --file {}", "/proc/self/environ".to_owned(), outside),
        ("add --file {}", "/proc/self/cwd/../home/secret.md".to_owned(), outside),
        ("add --file {}", "/proc/self/fd/0".to_owned(), "not a regular file"),
        ("add --file {}", "dangling".to_owned(), "a link that leads nowhere"),
        ("add --file {}", ".git/config".to_owned(), git_dir),
        ("append mem_01 --file {}", "link.md".to_owned(), outside),
        ("import {}", format!("{home}/lines.jsonl"), outside),
        ("import --from markdown {}", "..".to_owned(), outside),
        ("import --from markdown docs/auth.md {}", "up".to_owned(), outside),
        ("import --from slack {}", "up".to_owned(), outside),
        ("import --from memori {}", "link.md".to_owned(), outside),
        ("import {}", ".git/memo/memory.db".to_owned(), git_dir),
        ("import --from memori notes.db", "notes.db-wal".to_owned(), outside),
        ("restore-backup --dry-run notes.db", "notes.db-wal".to_owned(), outside),
        ("export --out {}", format!("{home}/out.jsonl"), outside),
        ("export --out {}", "../out.jsonl".to_owned(), outside),
        ("export --out {}", "up/out.jsonl".to_owned(), outside),
        ("export --out {}", "dangling".to_owned(), "a link that leads nowhere"),
        ("export --out {}", ".git/hooks/post-commit".to_owned(), git_dir),
        ("export --out {}", "/proc/self/cwd/.git/info/exclude2".to_owned(), git_dir),
        ("backup {}", format!("{home}/copy.db"), outside),
        ("backup {}", "up/copy.db".to_owned(), outside),
        ("backup {}", "./dangling".to_owned(), "a link that leads nowhere"),
        ("backup {}", ".git/copy.db".to_owned(), git_dir),
        ("restore-backup --dry-run {}", format!("{home}/copy.db"), outside),
    ] {
        let command = command.replace("{}", &path);
        let (is_error, shown) = run(&mut mcp, &command);
        let expected = format!("error: {path}: {why}");
        assert!(is_error && shown.starts_with(&expected), "{command}: {shown}");
        assert!(shown.contains("\nhint: name a file of the worktree, or ask the user"), "{command}: {shown}");
    }
    nothing_is_remembered(&mut mcp);
    let left: Vec<_> = fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        !left.iter().any(|name| name == "out.jsonl" || name == "copy.db" || name == "not-yet"),
        "{left:?}"
    );
    assert!(!live.sandbox.path("out.jsonl").exists());
}

#[test]
fn files_of_the_worktree_are_read_and_written() {
    let live = with_ways_out();
    let root = live.root().display().to_string();
    let mut mcp = Mcp::legacy(&live, &[]);
    for command in [
        "add --file docs/auth.md",
        "add --file inside.md",
        &format!("add --file {root}/docs/../src/session.rs"),
        "add --file .env.example",
        "import --from markdown docs/auth.md inside.md",
        "export --out docs/memories.jsonl",
        "import docs/memories.jsonl",
        "backup copy.db",
        "restore-backup --dry-run copy.db",
        "backup",
        "restore-backup --dry-run latest",
    ] {
        let (is_error, shown) = run(&mut mcp, command);
        assert!(!is_error, "{command}: {shown}");
    }
    assert!(live.root().join("docs/memories.jsonl").exists() && live.root().join("copy.db").exists());
    let (is_error, shown) = run(&mut mcp, "export --out docs/memories.jsonl");
    assert!(is_error && shown.starts_with("error: docs/memories.jsonl: the file exists"), "{shown}");
    let (is_error, shown) = run(&mut mcp, "add --file no/such/file");
    assert!(is_error && shown.contains("no/such"), "{shown}");
}

#[test]
fn what_memod_never_reads_is_not_read_for_a_model() {
    let live = indexed();
    live.write(".env", "hidden by its name\n");
    live.write("deploy.pem", "hidden by its name\n");
    live.write("conf/.aws/notes.md", "hidden by its name\n");
    symlink(".env", live.root().join("plain.md")).unwrap();
    let mut mcp = Mcp::legacy(&live, &[]);
    for (command, path) in [
        ("add --file {}", ".env"),
        ("add --file {}", "docs/../.env"),
        ("add --file {}", "plain.md"),
        ("append mem_01 --file {}", "deploy.pem"),
        ("import {}", ".env"),
        ("import --from markdown docs/auth.md {}", "conf/.aws/notes.md"),
        ("restore-backup --dry-run {}", "deploy.pem"),
    ] {
        is_refused(&mut mcp, command, path, "its name says that it holds credentials");
    }
    for command in [
        "add --allow-secret 'password = \"S7#kqP2!vx\"'",
        "add --file docs/auth.md --allow-secret",
        "append mem_01 --allow-secret more",
        "update mem_01 --allow-secret --content other",
        "consolidate mem_01 mem_02 --summary both --allow-secret",
        "import docs/auth.md --allow-secret",
    ] {
        let (is_error, shown) = run(&mut mcp, command);
        assert!(is_error && shown.starts_with("error: --allow-secret "), "{command}: {shown}");
        assert!(shown.ends_with("\nhint: ask the user to run it in a terminal"), "{command}: {shown}");
    }
    let (is_error, shown) = run(&mut mcp, "import docs/auth.md --own");
    assert!(is_error && shown.starts_with("error: --own says that a person"), "{shown}");
    nothing_is_remembered(&mut mcp);
}

#[test]
fn a_directory_is_not_read_because_its_files_may_be_links() {
    let live = with_ways_out();
    live.write("chats/notes.md", "text\n");
    symlink(live.sandbox.path("home/lines.jsonl"), live.root().join("chats/conversations.json")).unwrap();
    let mut mcp = Mcp::legacy(&live, &[]);
    for (command, path) in [
        ("import --from claude {}", "chats"),
        ("import --from slack {}", "chats"),
        ("import --from markdown docs/auth.md {}", "chats"),
        ("import --from markdown {}", "."),
        ("add --file {}", "chats"),
    ] {
        is_refused(&mut mcp, command, path, "a directory");
    }
    nothing_is_remembered(&mut mcp);
}

#[test]
fn a_model_writes_no_instructions_and_no_settings() {
    let live = indexed();
    for dir in [".cursor/rules", "x.git/hooks"] {
        fs::create_dir_all(live.root().join(dir)).unwrap();
    }
    symlink(".cursor/rules", live.root().join("rules")).unwrap();
    let mut mcp = Mcp::legacy(&live, &[]);
    let (export, backup, hidden) =
        ("not a name that ends in .jsonl", "not a name that ends in .db", "hidden");
    for (command, path, why) in [
        ("export --out {}", "AGENTS.md", export),
        ("export --out {}", "x.git/hooks/post-commit", export),
        ("export --out {}", "package.json", export),
        ("export --out {}", "copy.db", export),
        ("export --out {}", ".memoignore", hidden),
        ("export --out {}", ".jsonl", hidden),
        ("export --out {}", ".cursor/rules/x.mdc", hidden),
        ("export --out {}", ".cursor/rules/x.jsonl", hidden),
        ("export --out {}", "rules/x.jsonl", hidden),
        ("export --out {}", "docs/../.cursor/x.jsonl", hidden),
        ("backup {}", "./Makefile", backup),
        ("backup {}", "copy.jsonl", backup),
        ("backup {}", ".copy.db", hidden),
        ("backup {}", ".cursor/copy.db", hidden),
    ] {
        let (is_error, shown) = run(&mut mcp, &command.replace("{}", path));
        let expected = format!("error: {path}: {why}");
        assert!(is_error && shown.starts_with(&expected), "{command} {path}: {shown}");
        assert!(!live.root().join(path).exists(), "{path}");
    }
}

#[test]
fn a_server_elsewhere_looks_at_its_own_worktree() {
    let live = with_ways_out();
    let mut command = live.memo(&["-C", live.root().to_str().unwrap(), "mcp"]);
    let mut mcp = Mcp::start(command.current_dir(live.sandbox.path("home")));
    mcp.initialize(super::LEGACY);
    let (is_error, shown) = run(&mut mcp, "add --file link.md");
    assert!(is_error && shown.contains("outside the worktree"), "{shown}");
    let (is_error, shown) = run(&mut mcp, "add --file docs/auth.md");
    assert!(!is_error, "{shown}");
}

#[test]
fn memories_are_deleted_for_good_by_people() {
    let live = indexed();
    let mut mcp = Mcp::legacy(&live, &["--profile", "full"]);
    let (is_error, shown) = run(&mut mcp, "add --tag t 'stays in the archive'");
    assert!(!is_error, "{shown}");
    let (is_error, shown) = run(&mut mcp, "forget --tag t --yes");
    assert!(!is_error, "{shown}");
    let purges =
        ["purge", "forget purge --yes", "forget purge --tag t --yes"].map(|command| (command, "purge"));
    let resets = ["forget reset --yes", "reset --dry-run"].map(|command| (command, "reset"));
    for (command, verb) in purges.into_iter().chain(resets) {
        let (is_error, shown) = run(&mut mcp, command);
        let denied = format!("error: memo forget {verb} deletes ");
        assert!(is_error && shown.starts_with(&denied), "{command}: {shown}");
        let hint = if verb == "purge" {
            "type `memo forget purge ID…` in a terminal"
        } else {
            "run it in a terminal"
        };
        assert!(shown.contains(&format!("\nhint: ask the user to {hint}")), "{command}: {shown}");
    }
    let answers = [
        mcp.tool("memo", json!({ "command": "purge --dry-run" })),
        mcp.tool("archive_purge", json!({})),
        mcp.tool("archive_purge", json!({ "tag": "t", "since": "1h" })),
    ];
    for answer in answers {
        let shown = &answer["structuredContent"];
        assert_eq!(
            (&shown["dry_run"], &shown["memories"][0]["line"]),
            (&json!(true), &json!("stays in the archive")),
            "{answer}"
        );
    }
    let answer = mcp.tool("archive_purge", json!({ "tag": "t", "yes": true }));
    assert!(answer["isError"] == true && text(&answer).contains("unknown argument: yes"), "{answer}");
    for (since, n) in [("1h", 1), ("2999-01-01", 0)] {
        let answer = mcp.tool("archive_list", json!({ "since": since }));
        assert_eq!(answer["structuredContent"]["total"], n, "{answer}");
    }
    let answer = mcp.tool("archive_list", json!({ "until": "1h" }));
    assert_eq!(answer["structuredContent"]["total"], 0, "{answer}");
}

#[test]
fn the_machine_and_the_daemon_are_for_people() {
    let live = indexed();
    let mut mcp = Mcp::legacy(&live, &[]);
    let pid = live.endpoint().pid;
    for command in [
        "init",
        "init --no-hooks",
        "setup",
        "setup --show",
        "setup --undo",
        "uninstall --dry-run",
        "hooks install --chain",
        "hooks uninstall",
        "config set search.limit 20",
        "config set search.limit 20 --user",
        "config unset search.limit",
        "daemon stop",
        "daemon restart",
        "serve",
        "serve --status",
        "reindex",
        "doctor --ack",
        "backup restore latest --yes",
        "backup restore latest",
    ] {
        let (is_error, shown) = run(&mut mcp, command);
        let verb = format!("error: memo {}", command.split_whitespace().next().unwrap());
        assert!(is_error && shown.starts_with(&verb), "{command}: {shown}");
        assert!(shown.ends_with("\nhint: ask the user to run it in a terminal"), "{command}: {shown}");
    }
    for command in
        ["brief --summarise", "dedupe --propose", "add --suggest x", "distil docs/auth.md --dry-run"]
    {
        let (is_error, shown) = run(&mut mcp, command);
        assert!(is_error && shown.starts_with("error: it would send texts"), "{command}: {shown}");
    }
    for command in ["search --expand x", "search --expand --dry-run x", "explain --expand x"] {
        let (is_error, shown) = run(&mut mcp, command);
        assert!(is_error && shown.starts_with("error: --expand sends the query"), "{command}: {shown}");
    }
    assert_eq!(live.endpoint().pid, pid, "the daemon goes on");
    assert!(!live.root().join(".git/hooks/post-commit").exists());
    let answers =
        ["config", "config get search.limit", "config path", "hooks", "hooks status", "logs", "doctor"];
    for command in answers {
        let (is_error, shown) = run(&mut mcp, command);
        assert!(!is_error, "{command}: {shown}");
    }
    for (command, key) in [
        ("config get search.limit", "value"),
        ("hooks", "hooks"),
        ("doctor", "checks"),
        ("version", "daemon"),
    ] {
        let answer = mcp.tool("memo", json!({ "command": command }));
        assert!(!answer["structuredContent"][key].is_null(), "{command}: {answer}");
    }
}

#[test]
fn nothing_is_deleted_for_good_by_an_end_that_a_model_sets() {
    let live = Live::idle();
    fs::write(live.layout().config_file(), "[memory]\non_expiry = \"purge\"\n").unwrap();
    live.start();
    let add = |text: &str| {
        let added = live.call("memory.add", json!({ "content": text, "client": "cli" }));
        added["memory"]["id"].as_str().unwrap().to_owned()
    };
    let [theirs, ours] = ["a person wrote this", "a person ends this"].map(add);
    let mut mcp = Mcp::legacy(&live, &[]);
    let (is_error, shown) = run(&mut mcp, &format!("update {theirs} --ttl 1s"));
    assert!(!is_error, "{shown}");
    live.call("memory.update", json!({ "id": ours, "ttl": "300ms", "client": "cli" }));
    until("both are over", || live.call("memory.list", json!({}))["total"] == 0);
    let archived = || live.call("memory.list", json!({ "archived": true }))["memories"].clone();
    until("it is in the archive", || archived().as_array().unwrap().len() == 1);
    assert_eq!((&archived()[0]["id"], &archived()[0]["archived_why"]), (&json!(theirs), &json!("expired")));
    live.call("memory.restore", json!({ "ids": [theirs] }));
    assert_eq!(live.call("memory.list", json!({}))["memories"][0]["content"], "a person wrote this");
}

#[test]
fn backups_of_a_model_do_not_replace_those_of_a_person() {
    let live = indexed();
    live.call("memory.add", json!({ "content": "one", "client": "cli" }));
    let asked = live.call("memory.backup", json!({ "client": "cli" }))["path"].as_str().unwrap().to_owned();
    let mut mcp = Mcp::legacy(&live, &[]);
    for _ in 0..9 {
        assert!(!run(&mut mcp, "backup").0);
    }
    assert!(fs::exists(&asked).unwrap(), "{asked}");
    let names = fs::read_dir(live.layout().state_dir.join("backups")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.ends_with("-agent.db")).count(), 7);
}
