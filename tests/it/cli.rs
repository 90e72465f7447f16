//! Do verbs print what they promise, where they promise it?

use std::fs;
use std::process::Stdio;

use memod_client::VERSION;
use memod_proto::Request;
use serde_json::{Value, json};

#[cfg(unix)]
use crate::fake::{Answer, Fake};
use crate::live::{Live, memo};
use crate::sandbox::Sandbox;

/// Runs `memo` with words separated by spaces and compares status, stdout and stderr.
fn check(sandbox: &Sandbox, line: &str, expected: &str) {
    let args: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
    assert_eq!(sandbox.run(&args), expected, "memo {line}");
}

#[test]
fn wrong_usage_is_explained() {
    let sandbox = Sandbox::new();
    let help = "`memo search --help` lists its arguments";
    let cases = [
        ("search -n ten x", "invalid value 'ten' for '--limit <N>': not a whole number", help),
        ("search -n 0 x", "invalid value '0' for '--limit <N>': 0 is not in 1..=200", help),
        (
            "search --threshold nan x",
            "invalid value 'nan' for '--threshold <SCORE>': not between 0 and 1",
            help,
        ),
        (
            "search --kind poem x",
            "invalid value 'poem' for '--kind <KIND>'",
            "there are: doc, map, symbol, text, commit, memory",
        ),
    ];
    for (line, what, hint) in cases {
        check(&sandbox, line, &format!("exit 2\nerr: memo: {what}\nerr: hint: {hint}\n"));
    }
    check(
        &sandbox,
        "search --json -n 0 x",
        "exit 2\nout: {\"error\":{\"code\":\"usage\",\
         \"message\":\"invalid value '0' for '--limit <N>': 0 is not in 1..=200\",\
         \"hint\":\"`memo search --help` lists its arguments\"}}\n",
    );
}

#[test]
fn a_path_that_is_not_there_is_wrong_usage() {
    let live = Live::new();
    let verbs: &[&[&str]] = &[
        &["import", "none.jsonl"],
        &["import", "--from", "markdown", "none"],
        &["import", "--from", "memori", "none.db"],
        &["import", "--from", "claude", "none/conversations.json"],
        &["export", "--out", "none/out.jsonl"],
        &["backup", "none/copy.db"],
        &["restore-backup", "none.db", "--yes"],
    ];
    for verb in verbs {
        let (exit, answer) = memo(&live, verb);
        assert_eq!((exit, &answer["error"]["code"]), (2, &json!("no-such-path")), "{verb:?}: {answer}");
    }
}

#[test]
fn files_start_at_the_directory_of_c() {
    let live = Live::new();
    live.write("docs/a.md", "# One\n\na section of some words\n");
    let done: &[&[&str]] = &[
        &["import", "--from", "markdown", "a.md"],
        &["export", "--out", "out.jsonl"],
        &["import", "out.jsonl"],
        &["backup", "copy.db"],
    ];
    for verb in done {
        let (exit, answer) = memo(&live, &[&["-C", "docs"], *verb].concat());
        assert_eq!(exit, 0, "{verb:?}: {answer}");
    }
    assert!(live.memo(&["-C", "docs", "man", "--to", "pages"]).output().unwrap().status.success());
    for name in ["out.jsonl", "copy.db", "pages/memo.1"] {
        assert!(live.root().join("docs").join(name).exists(), "{name}");
    }
    let (_, answer) = memo(&live, &["-C", "docs", "restore-backup", "copy.db", "--dry-run"]);
    assert_eq!(answer["differ"], 0, "{answer}");
}

/// What the system says of a path below a file.
const BELOW_A_FILE: &str = match cfg!(windows) {
    true => "open file/x: No such file or directory (os error 2)",
    false => "open file/x: Not a directory (os error 20)",
};

#[test]
fn a_place_that_cannot_be_served_is_named() {
    let sandbox = Sandbox::new();
    fs::write(sandbox.path("work/file"), "").unwrap();
    for name in ["bare.git/objects", "bare.git/refs", "torn"] {
        fs::create_dir_all(sandbox.path(name)).unwrap();
    }
    fs::write(sandbox.path("bare.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(sandbox.path("torn/.git"), "gitdir: ../nowhere\n").unwrap();
    let cases = [
        (
            "../none",
            "open ../none: No such file or directory (os error 2)",
            "name an existing directory with -C",
        ),
        ("file", "[TOP]/work/file: not a directory", "name the directory around it with -C"),
        ("file/x", BELOW_A_FILE, "name an existing directory with -C"),
        (
            "../bare.git",
            "[TOP]/bare.git: a git directory, not a worktree",
            "run memo in a worktree; `git worktree add DIR` makes one of a bare repository",
        ),
        (
            "../torn",
            "[TOP]/torn/.git: leads to [TOP]/torn/../nowhere, which does not exist",
            "`git status` says more; `git worktree repair` mends a moved worktree",
        ),
        (
            "../home",
            "[TOP]/home: too large to index outside a git repository",
            "name a smaller directory with -C, or run `git init` in it",
        ),
    ];
    for (dir, message, hint) in cases {
        for verb in ["search x", "status", "init", "map", "stop"] {
            check(
                &sandbox,
                &format!("-C {dir} {verb}"),
                &format!("exit 2\nerr: memo: {message}\nerr: hint: {hint}\n"),
            );
        }
    }
}

#[test]
fn no_daemon_program() {
    let sandbox = Sandbox::new();
    let message = "cannot start [TOP]/no-such-daemon: No such file or directory (os error 2)";
    let hint = "install memod beside memo or in PATH, or name it in MEMO_DAEMON";
    check(&sandbox, "search x", &format!("exit 3\nerr: memo: {message}\nerr: hint: {hint}\n"));
    check(
        &sandbox,
        "status --json",
        &format!(
            "exit 3\nout: {{\"error\":{{\"code\":\"no-daemon\",\"message\":\"{message}\",\"hint\":\"{hint}\"}}}}\n"
        ),
    );
    check(
        &sandbox,
        "doctor",
        &format!(
            "exit 1\nout: ok    worktree: [TOP]/work\nout: ok    settings: [TOP]/work/.git/memo/config.toml\n\
             out: ok    state dir: [TOP]/work/.git/memo\nout: FAIL  daemon: {message}\nout:       hint: {hint}\n"
        ),
    );
}

#[test]
fn some_verbs_never_start_a_daemon() {
    let sandbox = Sandbox::new();
    check(&sandbox, "stop", "exit 0\nerr: memo: no daemon was running\n");
    check(&sandbox, "stop -q", "exit 0\n");
    check(&sandbox, "stop --json", "exit 0\nout: {\"stopped\":false}\n");
    check(&sandbox, "version", &format!("exit 0\nout: memo {VERSION} (protocol 1)\n"));
    let no_log = "err: memo: [TOP]/work/.git/memo/memod.log: no log yet\n\
                  err: hint: `memo status` starts the daemon, which writes the log\n";
    check(&sandbox, "logs", &format!("exit 1\n{no_log}"));
    assert!(!sandbox.path("work/.git/memo").exists(), "nothing was written");
}

#[test]
fn logs_come_from_both_files() {
    let sandbox = Sandbox::new();
    let place = sandbox.layout();
    fs::write(place.state_dir.join("memod.log.1"), "one\ntwo\n").unwrap();
    fs::write(place.log_file(), "three\n\x1b[31mfour\n").unwrap();
    check(&sandbox, "logs -n 3", "exit 0\nout: two\nout: three\nout: \\u{1b}[31mfour\n");
    check(&sandbox, "logs -n 1 --json", "exit 0\nout: {\"line\":\"\\u001b[31mfour\"}\n");
}

#[test]
fn settings_are_shown_and_changed() {
    let sandbox = Sandbox::new();
    let file = "[TOP]/work/.git/memo/config.toml";
    check(&sandbox, "config get search.limit", "exit 0\nout: 10\n");
    check(
        &sandbox,
        "config set search.limit 20",
        &format!("exit 0\nerr: memo: search.limit = 20 in {file}\n"),
    );
    check(
        &sandbox,
        "config get search.limit --json",
        &format!("exit 0\nout: {{\"key\":\"search.limit\",\"origin\":\"{file}\",\"value\":20}}\n"),
    );
    check(
        &sandbox,
        "config set --user watch.poll true",
        "exit 0\nerr: memo: watch.poll = true in [TOP]/home/.config/memod/config.toml\n\
         err: memo: the daemon reads this setting only when it starts: run `memo daemon restart`\n",
    );
    let shown = sandbox.run(&["config"]);
    assert!(
        shown.contains("watch.poll = true                    [TOP]/home/.config/memod/config.toml\n"),
        "{shown}"
    );
    check(
        &sandbox,
        "config get search.limits",
        "exit 2\nerr: memo: command line: unknown key search.limits\nerr: hint: did you mean search.limit?\n",
    );
    check(
        &sandbox,
        "config unset search.limit",
        &format!("exit 0\nerr: memo: search.limit is removed from {file}\n"),
    );
    check(
        &sandbox,
        "config unset search.limit",
        &format!("exit 1\nerr: memo: search.limit is not in {file}\n"),
    );
    check(&sandbox, "config get search.limit", "exit 0\nout: 10\n");
    let mut with_variable = sandbox.memo(&["search", "x"]);
    with_variable.env("MEMO_SEARCH_LIMIT", "many");
    assert_eq!(
        sandbox.show(&mut with_variable),
        "exit 2\nerr: memo: MEMO_SEARCH_LIMIT: search.limit = many: expected a whole number from 1 to 200\n\
         err: hint: `memo config template` shows every key with its default\n"
    );
}

/// Two hits: one that is plain, one from a repository that means no good.
fn hits() -> Value {
    let hit = |path: &str, title: Option<&str>, snippet: &str, line: u32| {
        json!({
            "kind": "doc", "path": path, "lines": [line, line + 1], "symbol": null, "title": title,
            "snippet": snippet, "snippet_line": line, "score": 0.5, "view": "/w", "blob": "00", "trust": "repo",
            "arms": { "bm25": 1, "path": null, "symbol": null, "knn": null, "cosine": null },
            "id": null, "state": null,
        })
    };
    json!([
        hit("docs/login.md", Some("Guide > Login"), "# Login\nHow to login", 9),
        hit("evil\n\x1b]0;.md", None, "\x1b[2Jgone \u{202e}nigol", 1),
    ])
}

#[cfg(unix)]
fn answer(request: &Request) -> Answer {
    let hits = match (request.method.as_str(), request.params["query"].as_str()) {
        ("search", Some("login")) => hits(),
        ("search", Some("none")) => json!([]),
        _ => return Answer::Error(memod_proto::code::NO_METHOD, 0),
    };
    Answer::Result(json!({
        "query": request.params["query"], "mode": "hybrid", "hits": hits, "total": 2, "fresh": true, "reason": null,
        "pending": { "files": 0, "embeddings": 3 }, "degraded": ["knn: model loading"], "clock": "m1:1:1:1",
        "took_ms": 0.5,
    }))
}

#[cfg(unix)]
#[test]
fn hits_are_readable_and_harmless() {
    let sandbox = Sandbox::new();
    let fake = Fake::start(&sandbox.layout(), VERSION, answer);
    let note = "3 chunks still without a vector; degraded: knn: model loading";
    check(
        &sandbox,
        "search login",
        &format!(
            "exit 0\nout: docs/login.md:9-10  Guide > Login\nout:    9  # Login\nout:   10  How to login\nout:\n\
             out: evil\\n\\u{{1b}}]0;.md:1-2\nout:   1  \\u{{1b}}[2Jgone \\u{{202e}}nigol\nerr: memo: {note}\n"
        ),
    );
    check(&sandbox, "search none", &format!("exit 1\nerr: memo: no match for none; {note}\n"));
    check(&sandbox, "search none -q", "exit 1\n");
    let coloured = sandbox.run(&["search", "login", "--color", "always"]);
    let first = "out: \x1b[35mdocs/login.md\x1b[0m:\x1b[32m9-10\x1b[0m  \x1b[36mGuide > Login\x1b[0m\n\
                 out:   \x1b[32m 9\x1b[0m  # \x1b[1m\x1b[31mLogin\x1b[0m\n";
    assert!(coloured.contains(first), "{}", coloured.escape_debug());
    check(
        &sandbox,
        "map",
        "exit 3\nerr: memo: fake\nerr: hint: `memo daemon restart` starts the daemon of this version\n",
    );
    assert_eq!(fake.methods(), "search search search search map");
}

#[cfg(unix)]
#[test]
fn json_is_the_result() {
    let sandbox = Sandbox::new();
    let _fake = Fake::start(&sandbox.layout(), VERSION, answer);
    let output = sandbox.memo(&["search", "login", "--json"]).output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((result["hits"][0]["lines"][1].as_u64(), &output.stderr[..]), (Some(10), &b""[..]));
    assert_eq!(result["hits"][1]["path"], "evil\n\x1b]0;.md", "JSON escapes by itself");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let sandbox = Sandbox::new();
    let mut child = sandbox.memo(&["completions", "bash"]);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[cfg(unix)]
#[test]
fn init_reports_what_it_did() {
    let sandbox = Sandbox::new();
    let root = sandbox.path("work").display().to_string();
    let mut polls = 0;
    let answer = move |request: &Request| match request.method.as_str() {
        "sync" => {
            polls += 1;
            let left = 3_u64.saturating_sub(polls);
            let pending = json!({ "files": left, "embeddings": left });
            Answer::Result(json!({
                "fresh": left == 0, "reason": null, "pending": pending, "clock": "m1:1:1:1",
            }))
        }
        "status" => Answer::Result(status(&root)),
        "hooks.install" => {
            Answer::Result(json!({ "method": "watch-only", "hooks": [], "changed": [], "notes": [] }))
        }
        "map" => Answer::Result(json!({
            "text": "", "tokens": 0, "files": 0, "total_files": 3, "names": ["T", "price_of"],
            "fresh": true, "reason": null, "clock": "m1:1:1:1",
        })),
        _ => Answer::Close,
    };
    let fake = Fake::start(&sandbox.layout(), VERSION, answer);
    let shown = sandbox.run(&["init"]);
    // How long it took is no part of the promise.
    let lines: Vec<_> = shown.lines().filter(|line| !line.contains("searchable")).collect();
    let expected = "exit 0\nout: indexed    3 files of [TOP]/work\nout: index      9 chunks, 8 embeddings\n\
                    out: skipped    2 binary (memo status --skipped lists them)\n\
                    out: hooks      watch-only (memo hooks says why)\n\
                    out: degraded   watch: limit reached\n\
                    out: next       memo search \"where is price_of used\"";
    assert_eq!(lines.join("\n"), expected);
    assert_eq!(fake.methods(), "hooks.install sync sync sync sync status map callers callers callers");
    let next = |dir: &str| {
        let shown = sandbox.run(&["init", "-C", dir]);
        let next = shown.lines().last().unwrap().strip_prefix("out: next       ").unwrap();
        next.strip_suffix(" search \"where is price_of used\"").unwrap().to_owned()
    };
    std::fs::create_dir(sandbox.path("work/it's here")).unwrap();
    assert_eq!(next("."), "memo -C .");
    assert_eq!(next("it's here"), r"memo -C 'it'\''s here'");
    let without = sandbox.run(&["init", "--no-hooks"]);
    assert!(!without.contains("hooks"), "{without}");
}

/// A status with the fields that matter here.
fn status(root: &str) -> Value {
    json!({
        "daemon": { "pid": 7, "version": "0.1.0", "uptime_s": 61, "rss_bytes": 1048576 },
        "repo": format!("{root}/.git"), "state_dir": format!("{root}/.git/memo"), "socket": "/s",
        "views": [{ "root": root, "head": "ref: refs/heads/main", "files": 3, "seq": 1, "fresh": true }],
        "counts": { "blobs": 3, "chunks": 9, "embeddings": 8, "memories": 0 },
        "counters": { "events": 0, "rescans": 0, "parses": 3, "embeds": 8, "queries": 1 },
        "pending": { "files": 0, "embeddings": 1 }, "skipped": { "binary": 2 },
        "watch": { "backend": "inotify", "dirs": 1 }, "hooks": "none",
        "model": { "id": "builtin", "dims": 256, "state": "ready" }, "degraded": ["watch: limit reached"],
        "files": ["a b.md", "n\nl.md"], "skipped_files": [["x.png", "binary"]],
    })
}

#[cfg(unix)]
#[test]
fn status_is_a_table_or_a_list() {
    let sandbox = Sandbox::new();
    let root = sandbox.path("work").display().to_string();
    let _fake = Fake::start(&sandbox.layout(), VERSION, move |_| Answer::Result(status(&root)));
    check(
        &sandbox,
        "status",
        "exit 0\nout: daemon     0.1.0, pid 7, up 1 min 1 s, 1.0 MiB\nout: repository [TOP]/work/.git\n\
         out: state      [TOP]/work/.git/memo\nout: socket     /s\n\
         out: worktree   [TOP]/work (main), 3 files, up to date\n\
         out: index      3 blobs, 9 chunks, 8 embeddings, 0 memories\nout: pending    0 files, 1 embedding\n\
         out: skipped    2 binary (memo status --skipped lists them)\nout: watch      inotify, 1 directory\n\
         out: hooks      none\nout: model      builtin, 256 dimensions, ready\n\
         out: counters   0 events, 0 rescans, 0 reconciles, 3 parses, 8 embeds, 1 query\n\
         out: degraded   watch: limit reached\n",
    );
    check(&sandbox, "status --files", "exit 0\nout: a b.md\nout: n\\nl.md\n");
    check(&sandbox, "status --skipped", "exit 0\nout: binary\tx.png\n");
    let raw = sandbox.memo(&["status", "--files", "-z"]).output().unwrap();
    assert_eq!(raw.stdout, b"a b.md\0n\nl.md\0");
}

#[cfg(unix)]
#[test]
fn status_says_the_step_of_indexing() {
    let sandbox = Sandbox::new();
    let mut answer = status(&sandbox.path("work").display().to_string());
    answer["progress"] =
        json!({ "step": "reading", "done": 1, "total": 3, "done_bytes": 10, "total_bytes": 2048 });
    let _fake = Fake::start(&sandbox.layout(), VERSION, move |_| Answer::Result(answer.clone()));
    let shown = sandbox.run(&["status"]);
    assert!(shown.contains("out: indexing   step 2 of 4, reading: 1 of 3 files"), "{shown}");
}

#[cfg(unix)] // a script stands in for the daemon
#[test]
fn the_daemon_is_started_without_the_environment_of_a_hook() {
    let sandbox = Sandbox::new();
    sandbox.behave("env > environment; echo '{\"error\":\"enough\",\"hint\":\"none needed\"}'");
    let mut command = sandbox.memo(&["status"]);
    command
        .env("MEMO_DAEMON", Sandbox::daemon())
        .env("GIT_DIR", "/else")
        .env("GIT_INDEX_FILE", "x")
        .env("KEPT", "1");
    let expected = "exit 3\nerr: memo: the daemon did not start: enough\nerr: hint: none needed\n";
    assert_eq!(sandbox.show(&mut command), expected);
    let environment = fs::read_to_string(sandbox.layout().state_dir.join("environment")).unwrap();
    assert!(environment.contains("KEPT=1"), "{environment}");
    assert!(!environment.contains("GIT_DIR") && !environment.contains("GIT_INDEX_FILE"), "{environment}");
    assert!(
        environment.contains("GIT_CONFIG_NOSYSTEM=1"),
        "the settings of git hold for the daemon too: {environment}"
    );
}

#[test]
fn where_memo_runs_is_not_where_manuals_go() {
    let sandbox = Sandbox::new();
    for line in ["-C ../home man", "man -C ../home"] {
        let shown = sandbox.run(&line.split(' ').collect::<Vec<_>>());
        assert!(shown.starts_with("exit 0\nout: ") && shown.contains("out: .TH memo 1"), "{line}: {shown}");
        assert!(!sandbox.path("home/memo.1").exists(), "{line} wrote its page into the directory of -C");
    }
}

#[test]
fn help_is_asked_for_as_of_other_tools() {
    let sandbox = Sandbox::new();
    for (asked, same) in
        [("help", "--help"), ("help search", "search --help"), ("help config set", "config set --help")]
    {
        let [asked, same] = [asked, same].map(|line| sandbox.run(&line.split(' ').collect::<Vec<_>>()));
        assert!(asked.starts_with("exit 0\nout: "), "{asked}");
        assert_eq!(asked, same);
    }
    assert!(
        sandbox.run(&["help", "serch"]).starts_with("exit 2\nerr: memo: unrecognized subcommand 'serch'\n")
    );
}

#[test]
fn manuals_name_every_verb() {
    let sandbox = Sandbox::new();
    let shown = sandbox.run(&["man", "--to", "pages"]);
    for page in ["memo.1", "memo-search.1", "memo-version.1"] {
        let path = std::path::Path::new("pages").join(page);
        assert!(shown.contains(&format!("out: {}\n", path.display())), "{shown}");
        let text = fs::read_to_string(sandbox.path("work/pages").join(page)).unwrap();
        assert!(text.contains(&format!(".TH {} 1", page.trim_end_matches(".1"))), "{text}");
    }
    let pages = sandbox.path("work/pages");
    for page in ["memo.1", "memo-hooks.1", "memo-config.1"] {
        let text = fs::read_to_string(pages.join(page)).unwrap();
        let named: Vec<_> = text.lines().filter_map(|line| line.strip_suffix("(1)")).collect();
        assert!(!named.is_empty(), "{text}");
        for name in named {
            let file = format!("{}.1", name.replace('\\', ""));
            assert!(pages.join(&file).is_file(), "{page} names {file}");
        }
    }
    for verb in
        ["init", "search", "map", "status", "sync", "daemon logs", "doctor", "tag remove", "share team"]
    {
        for flag in ["-h", "--help"] {
            let help = sandbox.run(&verb.split(' ').chain([flag]).collect::<Vec<_>>());
            assert!(help.contains(&format!("out: Examples:\nout:   memo {verb}")), "{help}");
            assert!(!help.contains("--no-pager"), "the flags of every verb are listed once: {help}");
        }
    }
}
