//! Do memories come over from other systems' databases, and is what they hold read as data alone?
//!
//! The databases are made from the schemas that these systems had: memo 2026-02, memori 0.7.1, ai-memory 0.6.4.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::live::{Live, memo, not_checked};

fn import(live: &Live, from: &str, path: &Path) -> (i32, Value) {
    memo(live, &["import", "--from", from, path.to_str().unwrap()])
}

fn list(live: &Live, args: &[&str]) -> Vec<Value> {
    let (_, answer) = memo(live, &[&["list", "--all", "--sort", "created"], args].concat());
    answer["memories"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

/// Makes a database in the directory of the test by SQL, with Python's SQLite; the log stays where `ends` says so. False
/// where there is no Python.
fn database(path: &Path, sql: &str) -> bool {
    let script = "import os, sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.executescript(sys.argv[2])
os._exit(0)"; // as a crash would: what is in the log stays there
    let made = Command::new("python3").args(["-c", script]).arg(path).arg(sql).output();
    match made {
        Ok(made) if made.status.success() => true,
        Ok(made) => panic!("{}", String::from_utf8_lossy(&made.stderr)),
        Err(_) => {
            not_checked("databases of other systems: there is no python3");
            false
        }
    }
}

const MEMO: &str = "PRAGMA journal_mode = WAL;
CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT NOT NULL, vector BLOB NOT NULL, container_tag TEXT NOT NULL,
  tags TEXT, type TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, metadata TEXT, display_name TEXT,
  user_name TEXT, user_email TEXT, project_path TEXT, project_name TEXT, git_repo_url TEXT);
CREATE VIRTUAL TABLE fts_memories USING fts5(content, memory_id UNINDEXED, container_tag UNINDEXED, tokenize='unicode61');
INSERT INTO memories VALUES('mem_1771355620142_y259isiqp', 'Auth uses JWT', x'00', 'memo_project_0123456789abcdef', 'auth,jwt', NULL,
  1771355620142, 1771355620143, NULL, 'shop', 'Ann', 'ann@example.org', '/shop', 'shop', NULL);
INSERT INTO memories VALUES('mem_2', 'a chunk', x'00', 'memo_container_react-router', '/docs/a.md', 'doc_chunk',
  1771355620144, 1771355620144, '{\"chunkIndex\":0}', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO memories VALUES('mem_3', x'ff00', x'00', 'memo_project_0', NULL, NULL, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO memories VALUES('mem_4', 'not a date', x'00', 'memo_project_0', NULL, NULL, 'soon', 1, '[1]', NULL, NULL, NULL, NULL, NULL, NULL);";

const MEMORI: &str = "PRAGMA user_version = 9;
CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT NOT NULL, vector BLOB, metadata TEXT, created_at REAL NOT NULL,
  updated_at REAL NOT NULL, last_accessed REAL DEFAULT 0.0, access_count INTEGER DEFAULT 0);
INSERT INTO memories VALUES('57446832-7d95', 'FTS5 hyphens crash MATCH', NULL, '{\"type\":\"debugging\",\"priority\":\"8\"}',
  1795268601.25, 1795268602.5, 1795268603.0, 4);";

const AI_MEMORY: &str = "CREATE TABLE memories (id TEXT PRIMARY KEY, tier TEXT NOT NULL, namespace TEXT NOT NULL DEFAULT 'global',
  title TEXT NOT NULL, content TEXT NOT NULL, tags TEXT NOT NULL DEFAULT '[]', priority INTEGER NOT NULL DEFAULT 5,
  confidence REAL NOT NULL DEFAULT 1.0, source TEXT NOT NULL DEFAULT 'api', access_count INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL, last_accessed_at TEXT, expires_at TEXT, embedding BLOB);
CREATE TABLE memory_links (source_id TEXT NOT NULL, target_id TEXT NOT NULL, relation TEXT NOT NULL, created_at TEXT NOT NULL);
CREATE TABLE archived_memories (id TEXT PRIMARY KEY, tier TEXT NOT NULL, namespace TEXT NOT NULL, title TEXT NOT NULL,
  content TEXT NOT NULL, tags TEXT NOT NULL, priority INTEGER NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
  archived_at TEXT NOT NULL, archive_reason TEXT NOT NULL);
CREATE TABLE schema_version(version INTEGER); INSERT INTO schema_version VALUES(4);
INSERT INTO memories VALUES('a', 'long', 'My Infra', 'PostgreSQL 16', 'shared_buffers is 4 GB', '[\"postgres\",\"db\"]', 9, 0.75,
  'claude', 12, '2026-04-03T15:00:00+00:00', '2026-04-04T15:00:00+00:00', '2026-04-05T15:00:00+00:00', NULL, NULL);
INSERT INTO memories VALUES('b', 'short', 'infra', 'Old', 'was before', '[]', 5, 1.0, 'api', 0, '2026-04-03T15:00:00Z',
  '2026-04-03T15:00:00Z', NULL, '2099-01-01T00:00:00Z', NULL);
INSERT INTO memories VALUES('c', 'wide', 'infra', 'Bad', 'no such tier', '[]', 5, 1.0, 'api', 0, 'x', 'x', NULL, NULL, NULL);
INSERT INTO archived_memories VALUES('d', 'mid', 'infra', 'Gone', 'archived', '[]', 5, '2026-04-03T15:00:00Z', '2026-04-03T15:00:00Z',
  '2026-04-06T15:00:00Z', 'gc');
INSERT INTO memory_links VALUES('a', 'b', 'supersedes', '2026-04-03T15:00:00Z');
INSERT INTO memory_links VALUES('a', 'nobody', 'related_to', '2026-04-03T15:00:00Z');";

#[test]
fn other_systems_keep_nothing_back() {
    let live = Live::new();
    let path = live.sandbox.path("memo.db");
    if !database(&path, MEMO) {
        return;
    }
    assert!(fs::metadata(live.sandbox.path("memo.db-wal")).unwrap().len() > 0, "it is all in the log");
    let (code, answer) = import(&live, "memo", &path);
    assert_eq!((code, &answer["added"]), (1, &json!(2)), "{answer}");
    assert_eq!(answer["refused"].as_array().unwrap().len(), 2, "a blob and no date: {answer}");
    let memories = list(&live, &[]);
    let chunk = &memories[0];
    assert_eq!((&chunk["key"], &chunk["container"]), (&json!("import:/docs/a.md"), &json!("react-router")));
    let first = &memories[1];
    assert_eq!(
        (&first["tags"], &first["author"]),
        (&json!(["auth", "jwt"]), &json!("Ann <ann@example.org>"))
    );
    assert_eq!(first["created"], "2026-02-17T19:13:40.142Z");
    assert_eq!(first["metadata"]["imported"]["id"], "mem_1771355620142_y259isiqp");
    assert_eq!(import(&live, "memo", &path).1["same"], 2);

    let live = Live::new();
    let path = live.sandbox.path("memori.db");
    database(&path, MEMORI);
    let (code, answer) = import(&live, "memori", &path);
    assert_eq!((code, &answer["added"]), (0, &json!(1)), "{answer}");
    assert!(answer["notes"].to_string().contains("version 9, newer than 3"), "{answer}");
    let memory = &list(&live, &[])[0];
    assert_eq!((&memory["tags"], &memory["priority"]), (&json!(["debugging"]), &json!(8)));
    assert_eq!(
        (&memory["access_count"], &memory["created"]),
        (&json!(4), &json!("2026-11-21T13:43:21.250Z"))
    );

    let live = Live::new();
    let path = live.sandbox.path("ai-memory.db");
    database(&path, AI_MEMORY);
    let (code, answer) = import(&live, "ai-memory", &path);
    assert_eq!((code, &answer["added"], &answer["links"]), (1, &json!(3), &json!(1)), "{answer}");
    let refused = answer["refused"].to_string();
    assert!(refused.contains("none of short, mid, long") && refused.contains("nobody"), "{refused}");
    let memories = list(&live, &["--container", "my-infra"]);
    let (memory, expected) = (
        &memories[0],
        json!({ "title": "PostgreSQL 16", "tier": "long", "priority": 9, "confidence": 0.75,
        "source": "claude", "access_count": 12, "tags": ["db", "postgres"], "last_access": "2026-04-05T15:00:00.000Z" }),
    );
    expected
        .as_object()
        .unwrap()
        .iter()
        .for_each(|(name, value)| assert_eq!(&memory[name], value, "{memory}"));
    assert_eq!(list(&live, &["--archived"])[0]["archived_why"], "expired");
    assert_eq!(import(&live, "ai-memory", &path).1["same"], 3);
    let left = fs::read_dir(live.layout().state_dir.join("import")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "no copy stays");
    let names = fs::read_dir(path.parent().unwrap()).unwrap().flatten();
    let beside =
        names.filter(|entry| entry.file_name().to_string_lossy().starts_with("ai-memory.db")).count();
    assert_eq!(beside, 1, "and nothing appears beside the original");
}

#[cfg(unix)]
#[test]
fn another_repository_is_united_with_this_one() {
    let (here, there) = (Live::new(), Live::new());
    for (live, text) in [(&here, "mine"), (&there, "theirs"), (&there, "both"), (&here, "both")] {
        assert_eq!(memo(live, &["add", text]).0, 0);
    }
    let db = there.layout().state_dir.join("memory.db"); // its daemon runs
    let (code, answer) = import(&here, "memod", &db);
    assert_eq!((code, &answer["added"], &answer["same"]), (0, &json!(1), &json!(1)), "{answer}");
    let own = here.layout().state_dir.join("memory.db");
    let (code, answer) = import(&here, "memod", &own);
    assert!(code == 2 && answer.to_string().contains("memory.db of this repository"), "{answer}");
    std::os::unix::fs::symlink(&own, here.sandbox.path("link.db")).unwrap();
    assert_eq!(import(&here, "memod", &here.sandbox.path("link.db")).0, 2);
    assert_eq!(memo(&here, &["add", "still here"]).0, 0);
}

#[test]
fn a_hostile_database_is_refused() {
    let endless = "CREATE VIEW memories AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r)
        SELECT x AS id, x AS content, NULL AS metadata, 1 AS created_at, 1 AS updated_at FROM r;";
    let computed =
        "CREATE TABLE memories(id, content AS (zeroblob(900000000)), metadata, created_at, updated_at);
        INSERT INTO memories(id) VALUES(1);";
    let virtual_table =
        "CREATE VIRTUAL TABLE memories USING fts5(id, content, metadata, created_at, updated_at);";
    let live = Live::new();
    for (number, (sql, said)) in [
        (endless, "is a view"),
        (computed, "no column content"),
        (virtual_table, "is a virtual table"),
        ("CREATE TABLE other(a);", "has no table memories"),
    ]
    .into_iter()
    .enumerate()
    {
        let path = live.sandbox.path(&format!("{number}.db"));
        if !database(&path, sql) {
            return;
        }
        let (code, answer) = import(&live, "memori", &path);
        assert!(code == 2 && answer.to_string().contains(said), "{said}: {answer}");
    }
    let path = live.sandbox.path("memory.db");
    database(&path, "CREATE VIEW memory AS SELECT 1 AS container;");
    assert!(import(&live, "memod", &path).1.to_string().contains("is a view"));
    let text = live.sandbox.path("text.db");
    fs::write(&text, "no database").unwrap();
    assert!(import(&live, "memo", &text).1.to_string().contains("not a database of SQLite"));
    let fifo = live.sandbox.path("fifo.db");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert!(import(&live, "memo", &fifo).1.to_string().contains("not a regular file"));
    let cut = live.sandbox.path("cut.db");
    let whole = live.sandbox.path("whole.db");
    database(&whole, &format!("PRAGMA journal_mode = DELETE; {}", MEMO.split_once(';').unwrap().1));
    fs::write(&cut, &fs::read(&whole).unwrap()[..9_000]).unwrap();
    assert_eq!(import(&live, "memo", &cut).0, 2);
    assert_eq!(list(&live, &[]).len(), 0);
}

#[cfg(unix)]
#[test]
fn a_backup_comes_back_and_nothing_is_lost_by_it() {
    let live = Live::new();
    let first = memo(&live, &["add", "one"]).1["memory"]["id"].clone();
    memo(&live, &["add", "two"]);
    let path = live.sandbox.path("kept.db");
    let path = path.to_str().unwrap();
    fs::write(format!("{path}.part"), "somebody's").unwrap();
    let (code, answer) = memo(&live, &["backup", path]);
    assert_eq!((code, &answer["memories"]), (0, &json!(2)), "{answer}");
    assert_eq!(fs::read_to_string(format!("{path}.part")).unwrap(), "somebody's");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let (code, answer) = memo(&live, &["backup", path]);
    assert!(code == 2 && answer.to_string().contains("the file exists already"), "{answer}");
    let (_, own) = memo(&live, &["backup"]);
    assert!(own["path"].as_str().unwrap().ends_with("-asked.db"), "{own}");

    memo(&live, &["update", first.as_str().unwrap(), "--content", "one and a half"]);
    memo(&live, &["forget", "--match", "two", "--yes"]);
    memo(&live, &["add", "three"]);
    let texts = |live: &Live| -> Vec<String> {
        let mut texts: Vec<_> =
            list(live, &[]).iter().map(|memory| memory["content"].as_str().unwrap().to_owned()).collect();
        texts.sort();
        texts
    };
    assert_eq!(memo(&live, &["restore-backup", path]).0, 2, "nobody can be asked");
    let (code, answer) = memo(&live, &["restore-backup", path, "--dry-run"]);
    assert_eq!(code, 0, "{answer}");
    for (name, value) in [("here", 3), ("there", 2), ("only_here", 1), ("only_there", 0), ("differ", 2)] {
        assert_eq!(answer[name], value, "{name}: {answer}");
    }
    assert_eq!(texts(&live), ["one and a half", "three"]);
    let (code, answer) = memo(&live, &["restore-backup", path, "--yes"]);
    assert_eq!(code, 0, "{answer}");
    assert_eq!(texts(&live), ["one", "two"]);
    let (_, found) = memo(&live, &["search", "--kind", "memory", "three"]);
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(0), "what went is not found: {found}");
    let kept = answer["kept"].as_str().unwrap().to_owned();
    live.kill();
    assert_eq!(texts(&live), ["one", "two"], "and so it is for the next daemon");
    let (code, answer) = memo(&live, &["restore-backup", "latest", "--dry-run"]);
    assert!(code <= 1, "the newest may be of today, and hold what is here: {answer}");
    assert_eq!(memo(&live, &["restore-backup", &kept, "--yes"]).0, 0);
    assert_eq!(texts(&live), ["one and a half", "three"], "what was replaced comes back");
    assert_eq!(memo(&live, &["restore-backup", &kept, "--yes"]).0, 1, "there is nothing more to do");
    for bad in ["/nonexistent.db", "/etc/passwd"] {
        assert!(memo(&live, &["restore-backup", bad, "--yes"]).0 >= 2, "{bad}");
    }
    assert_eq!(texts(&live), ["one and a half", "three"]);
    let hostile = live.sandbox.path("hostile.db");
    fs::copy(path, &hostile).unwrap();
    if database(&hostile, "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM memory; END") {
        let (code, answer) = memo(&live, &["restore-backup", hostile.to_str().unwrap(), "--yes"]);
        assert!(code == 2 && answer.to_string().contains("triggers"), "{answer}");
        assert_eq!(texts(&live), ["one and a half", "three"]);
    }
}
