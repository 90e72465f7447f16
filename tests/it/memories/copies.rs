//! Tests which copies come back after a damage, and which are kept until then.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::json;

use super::{add, beside, call, db, is_whole, memo, stop, texts};
use crate::live::{Live, until};

fn copies(live: &Live) -> PathBuf {
    live.layout().state_dir.join("backups")
}

/// Returns the one copy that is there.
fn copy(live: &Live) -> PathBuf {
    let mut entries = fs::read_dir(copies(live)).unwrap().map(|entry| entry.unwrap().path());
    let copy = entries.next().unwrap();
    assert_eq!(entries.next(), None);
    copy
}

/// Damages the database so that nothing of it can be read; returns what is said when it is opened.
fn damage(live: &Live) -> String {
    fs::write(db(live), "damaged ".repeat(5_000)).unwrap();
    notice(live)
}

/// Returns what `memo doctor` says of the repair; the answers have a line about it.
fn notice(live: &Live) -> String {
    assert!(memo(live, &["list"]).1["notice"].as_str().unwrap().contains("`memo doctor --ack`"));
    let checks = memo(live, &["doctor"]).1["checks"].clone();
    let check = checks.as_array().unwrap().iter().find(|check| check["name"] == "memory.db notice").unwrap();
    check["detail"].as_str().unwrap().to_owned()
}

fn change(copy: &Path, sql: &str) {
    Connection::open(copy).unwrap().execute_batch(sql).unwrap();
}

/// A daemon that adds these and ends, which makes a copy.
fn session(live: &Live, adds: &[&str]) {
    live.start();
    adds.iter().for_each(|text| drop(add(live, text)));
    stop(live);
}

#[test]
fn a_copy_of_a_clock_that_was_ahead_does_not_win() {
    let live = Live::idle();
    session(&live, &["fact 0"]);
    fs::rename(copy(&live), copies(&live).join("memory-20361121T000000Z.db")).unwrap();
    session(&live, &["fact 1", "fact 2", "fact 3"]);
    assert!(damage(&live).contains("4 memories are restored"));
    assert_eq!(texts(&live), ["fact 0", "fact 1", "fact 2", "fact 3"]);
    assert!(is_whole(&live));
    stop(&live);
    fs::write(db(&live), "damaged again").unwrap();
    add(&live, "fact 4");
    assert_eq!(texts(&live).len(), 5, "the copies of what was restored are newer than those of before");
}

#[test]
fn a_copy_of_a_clock_that_was_behind_stays() {
    let live = Live::idle();
    session(&live, &["old"]);
    let old = copy(&live);
    for day in 1..=9 {
        fs::copy(&old, copies(&live).join(format!("memory-2036110{day}T000000Z.db"))).unwrap();
    }
    fs::remove_file(&old).unwrap();
    session(&live, &["new"]);
    assert!(damage(&live).contains("2 memories are restored"));
    assert_eq!(texts(&live), ["new", "old"]);
}

#[test]
fn the_latest_backup_is_the_one_that_holds_the_latest() {
    let live = Live::idle();
    session(&live, &["old"]);
    fs::rename(copy(&live), copies(&live).join("memory-20361121T000000Z.db")).unwrap();
    session(&live, &["new"]);
    live.start();
    let shown = memo(&live, &["restore-backup", "latest", "--dry-run"]).1;
    assert_eq!((&shown["there"], &shown["only_here"]), (&json!(2), &json!(0)), "{shown}");
    let asked = memo(&live, &["backup"]).1["path"].as_str().unwrap().to_owned();
    let changed = memo(&live, &["list"]).1["memories"][0]["id"].clone();
    add(&live, "newer");
    call(&live, "memory.update", json!({ "id": changed, "content": "changed" }));
    let (code, answer) = memo(&live, &["restore-backup", &asked, "--yes"]);
    assert_eq!((code, &answer["there"]), (0, &json!(2)), "{answer}");
    let backups = call(&live, "memory.stats", json!({}))["backups"].clone();
    let place = |path| backups.as_array().unwrap().iter().position(|backup| backup["path"] == path).unwrap();
    assert!(place(answer["kept"].clone()) < place(json!(asked)), "the newest first: {backups}");
    stop(&live);
    assert!(damage(&live).contains("2 memories are restored"));
    assert_eq!(
        texts(&live),
        ["new", "old"],
        "what a person has put back is not undone by what was there before"
    );
}

/// What is wrong with the newest copy.
const USELESS: [(&str, &str, &str); 4] = [
    ("newer", "PRAGMA user_version = 99", "newer memod"),
    ("foreign", "PRAGMA user_version = 0", "it has tables, but no schema version of memod"),
    ("not to be migrated", "PRAGMA user_version = 1", "duplicate column"),
    (
        "with broken rows",
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE name = 'memory';
         PRAGMA writable_schema = RESET;
         UPDATE memory SET priority = 'high' WHERE content = 'second'",
        "not all memories can be read",
    ),
];

#[test]
fn a_copy_that_is_of_no_use_is_passed_over() {
    for (what, sql, said) in USELESS {
        let live = Live::idle();
        session(&live, &["first"]);
        fs::rename(copy(&live), copies(&live).join("memory-20251121T000000Z.db")).unwrap();
        session(&live, &["second"]);
        let newest = fs::read_dir(copies(&live)).unwrap().map(|entry| entry.unwrap().path());
        let newest = newest.into_iter().find(|path| !path.ends_with("memory-20251121T000000Z.db")).unwrap();
        change(&newest, sql);
        let notice = damage(&live);
        assert!(notice.contains("1 memories are restored"), "{what}: {notice}");
        assert!(notice.contains(newest.file_name().unwrap().to_str().unwrap()), "{what}: {notice}");
        assert!(notice.contains(said), "{what}: {notice}");
        assert_eq!(texts(&live), ["first"], "{what}");
        assert!(newest.exists(), "{what}: it is kept");
    }
}

/// Schemas that a database does not have, whatever it says.
const OTHER_SCHEMAS: [(&str, &str, &str); 6] = [
    ("an older one", "PRAGMA user_version = 3", "its tables differ from schema 3: "),
    ("one without a value twice", "PRAGMA user_version = 5", "its tables differ from schema 5: "),
    ("one below zero", "PRAGMA user_version = -7", "its schema version is below zero"),
    ("no memories", "PRAGMA foreign_keys = OFF; DROP TABLE memory", "without its memory."),
    (
        "an older one of another program",
        "PRAGMA foreign_keys = OFF; DROP TABLE memory; CREATE TABLE memory(id TEXT, text TEXT);
         PRAGMA user_version = 3",
        "schema 3 without its memory.",
    ),
    ("no history", "DROP TABLE history", "without its history."),
];

#[test]
fn a_database_without_the_tables_of_its_schema_is_put_aside() {
    for (what, sql, said) in OTHER_SCHEMAS {
        let live = Live::idle();
        session(&live, &["first", "second"]);
        change(&db(&live), sql);
        let answer = memo(&live, &["list"]).1;
        let notice = answer["notice"].as_str().unwrap_or_else(|| panic!("{what}: {answer}"));
        assert!(notice.contains("is damaged") && notice.contains(said), "{what}: {notice}");
        assert_eq!(texts(&live), ["first", "second"], "{what}");
        assert_eq!(beside(&live, "memory.db.damaged-").len(), 1, "{what}: it is kept");
        assert!(is_whole(&live), "{what}");
        let schema_backups = fs::read_dir(copies(&live)).unwrap().flatten();
        let names = schema_backups.map(|entry| entry.file_name().into_string().unwrap());
        assert!(!names.into_iter().any(|name| name.contains("-schema")), "{what}: nothing was migrated");
        stop(&live);
    }
}

#[test]
fn a_database_that_cannot_be_migrated_now_stays_and_is_copied_before_it_is() {
    let live = Live::idle();
    session(&live, &["first", "second"]);
    change(&db(&live), "ALTER TABLE memory DROP COLUMN remarks; PRAGMA user_version = 15");
    let of_schema = || {
        let names = fs::read_dir(copies(&live)).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().contains("-schema15")).count()
    };
    let other = Connection::open(db(&live)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (code, answer) = memo(&live, &["list"]);
    assert!(code == 3 && answer.to_string().contains("locked"), "{code}: {answer}");
    assert_eq!((beside(&live, "memory.db.damaged-").len(), of_schema()), (0, 0));
    other.execute_batch("ROLLBACK").unwrap();
    drop(other);
    assert_eq!(texts(&live), ["first", "second"]);
    assert_eq!((beside(&live, "memory.db.damaged-").len(), of_schema()), (0, 1));
    stop(&live);
}

#[test]
fn a_database_of_a_newer_schema_is_refused_and_stays() {
    let live = Live::idle();
    session(&live, &["first"]);
    change(&db(&live), "PRAGMA user_version = 99");
    let (code, answer) = memo(&live, &["list"]);
    let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(code, 3, "{answer}");
    assert!(message.contains("written by a newer memod (schema 99, this memod knows "), "{message}");
    assert!(answer["error"]["hint"].as_str().unwrap().contains("install the version"), "{answer}");
    stop(&live);
    change(&db(&live), &format!("PRAGMA user_version = {}", newest_schema(&live)));
    assert_eq!(texts(&live), ["first"], "it was left alone");
}

/// Returns the number of the schema of the newest copy.
fn newest_schema(live: &Live) -> i64 {
    let conn = rusqlite::Connection::open(copy(live)).unwrap();
    conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn what_two_copies_hold_is_united() {
    let live = Live::idle();
    live.start();
    let [both, forgotten, purged, linked] =
        ["both", "forgotten", "purged", "linked"].map(|text| add(&live, text));
    call(&live, "memory.link", json!({ "from": both, "to": linked }));
    stop(&live);
    let fork = fs::read(db(&live)).unwrap();
    live.start();
    add(&live, "left");
    call(&live, "memory.update", json!({ "id": both, "title": "left title" }));
    stop(&live);
    let left = fs::read(copy(&live)).unwrap();
    fs::remove_dir_all(copies(&live)).unwrap();
    fs::write(db(&live), fork).unwrap();
    live.start();
    add(&live, "right");
    call(&live, "memory.update", json!({ "id": both, "content": "both, later" }));
    call(&live, "memory.unlink", json!({ "from": both, "to": linked }));
    call(&live, "memory.forget", json!({ "ids": [forgotten, purged] }));
    call(&live, "memory.purge", json!({ "ids": [purged] }));
    stop(&live);
    fs::write(copies(&live).join("memory-20361121T000000Z.db"), left).unwrap();
    let notice = damage(&live);
    assert!(notice.contains("1 more or newer ones from"), "{notice}");
    assert!(notice.contains("memory-20361121T000000Z.db"), "{notice}");
    assert!(notice.contains("may have their old state"), "{notice}");
    assert_eq!(texts(&live), ["both, later", "left", "linked", "right"]);
    let archived = call(&live, "memory.list", json!({ "archived": true }));
    assert_eq!((&archived["total"], &archived["memories"][0]["content"]), (&json!(1), &json!("forgotten")));
    let got = call(&live, "memory.get", json!({ "ids": [both] }))["memories"][0].clone();
    assert_eq!(got["links"], json!([]), "what was unlinked stays so: {got}");
    let history = call(&live, "memory.history", json!({ "ids": [both] }))["changes"].to_string();
    assert!(history.contains("left title"), "what the other one knew of is kept: {history}");
    assert!(is_whole(&live));
}

#[test]
fn a_database_without_a_version_is_put_aside() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.start();
    live.expect("alpha", "a.md", "search");
    add(&live, "fact");
    stop(&live);
    fs::remove_dir_all(copies(&live)).unwrap();
    let index = live.layout().state_dir.join("index.db");
    change(&db(&live), "PRAGMA user_version = 0");
    change(&index, "PRAGMA user_version = 0");
    live.start();
    live.expect("alpha", "a.md", "the index is made anew");
    assert_eq!(texts(&live), ["fact"]);
    assert!(notice(&live).contains("it has tables, but no schema version of memod"));
    assert!(is_whole(&live));
    for (name, n_kept) in [("memory.db.damaged-", 1), ("index.db.damaged-", 0)] {
        assert_eq!(beside(&live, name).len(), n_kept, "{name}");
    }
}

#[test]
fn what_a_killed_daemon_wrote_is_copied_by_the_next_one() {
    let live = Live::idle();
    live.start();
    let first = add(&live, "alpha fact about routers");
    until("the first write is copied", || {
        copies(&live).exists() && fs::read_dir(copies(&live)).unwrap().count() == 1
    });
    let second = add(&live, "beta fact about cookies");
    call(&live, "memory.update", json!({ "id": second, "content": "beta fact about cakes" }));
    call(&live, "memory.link", json!({ "from": first, "to": second }));
    live.kill();
    live.start();
    stop(&live); // it has written nothing itself
    let conn = Connection::open(copy(&live)).unwrap();
    let count = |table: &str| -> i64 {
        conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    assert_eq!((count("memory"), count("link")), (2, 1));
    drop(conn);
    let name = copy(&live);
    live.start();
    stop(&live);
    assert_eq!(copy(&live), name, "nothing has changed since");
    zero_roots(&live, &["link", "history"]);
    let notice = notice(&live);
    assert!(!notice.contains("could be read"), "all of it is in the copy: {notice}");
    assert_eq!(
        call(&live, "memory.get", json!({ "ids": [first] }))["memories"][0]["links"][0]["id"],
        json!(second)
    );
    let history = call(&live, "memory.history", json!({ "ids": [second] }))["changes"].to_string();
    assert!(history.contains("beta fact about cookies"), "{history}");
}

#[test]
fn what_could_not_be_saved_is_said() {
    let live = Live::idle();
    session(&live, &["first", "second"]);
    let old = fs::read(copy(&live)).unwrap();
    live.start();
    let [one, other] = ["third", "fourth"].map(|text| add(&live, text));
    call(&live, "memory.link", json!({ "from": one, "to": other }));
    stop(&live);
    fs::write(copy(&live), old).unwrap();
    zero_roots(&live, &["link", "history"]);
    let line = memo(&live, &["list"]).1["notice"].as_str().unwrap().to_owned();
    let said = "not all of the damaged file could be read: content of histories, links newer than the backups may be lost";
    assert!(line.contains("4 memories were restored") && line.contains(said), "{line}");
    assert!(notice(&live).contains(said));
    stop(&live);
    assert!(damage(&live).contains("no part of the damaged file could be read"));
}

/// What can be read says that it is shared, and no file says so while it is in the archive.
#[test]
fn a_forgotten_memory_is_shared_as_before_after_damage() {
    let live = Live::new();
    let [gone, edited] = ["alpha shared", "bravo"].map(|text| add(&live, text));
    call(&live, "memory.share", json!({ "ids": [gone, edited] }));
    call(&live, "memory.forget", json!({ "ids": [gone] }));
    stop(&live);
    let older = copy(&live);
    let saved = fs::read(&older).unwrap();
    assert_eq!(memo(&live, &["update", &edited, "--content", "bravo newer"]).0, 0);
    stop(&live);
    fs::remove_dir_all(copies(&live)).unwrap();
    fs::create_dir(copies(&live)).unwrap();
    fs::write(&older, saved).unwrap();
    zero_roots(&live, &["memory_fts_data"]);
    let get = |id: &str| memo(&live, &["get", id]).1["memories"][0].clone();
    assert_eq!(get(&gone)["scope"], "repo");
    let known = get(&edited);
    assert_eq!((&known["content"], &known["trust"]), (&json!("bravo newer"), &json!("own")), "{known}");
    assert_eq!(memo(&live, &["restore", &gone]).0, 0);
    assert!(live.root().join(format!(".memod/memories/{gone}.md")).exists());
}

/// Overwrites the first page of tables.
fn zero_roots(live: &Live, tables: &[&str]) {
    let conn = Connection::open(db(live)).unwrap();
    let root = |table: &&str| -> u64 {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        conn.query_row(sql, [table], |row| row.get(0)).unwrap()
    };
    let roots: Vec<u64> = tables.iter().map(root).collect();
    drop(conn);
    let file = fs::File::options().write(true).open(db(live)).unwrap();
    for root in roots {
        (&file).seek(SeekFrom::Start((root - 1) * 4_096)).unwrap();
        (&file).write_all(&[0; 4_096]).unwrap();
    }
}

/// What happened to a file is no part of the memories that a backup of it has.
#[test]
fn a_notice_does_not_come_back_with_a_backup() {
    let live = Live::idle();
    session(&live, &["fact"]);
    assert!(damage(&live).contains("memory.db is damaged"));
    let backup = call(&live, "memory.backup", json!({}))["path"].clone();
    let restore = |live: &Live| call(live, "memory.restore_backup", json!({ "path": backup }));
    let told = |live: &Live| memo(live, &["list"]).1["notice"].clone();
    let other = Live::new();
    restore(&other);
    assert_eq!((texts(&other), told(&other)), (vec!["fact".to_owned()], json!(null)), "it is of another one");
    restore(&live);
    assert!(
        told(&live).to_string().contains("memory.db is damaged"),
        "nobody has acknowledged it: {}",
        told(&live)
    );
    call(&live, "doctor.acknowledge", json!({}));
    restore(&live);
    assert_eq!(told(&live), json!(null), "it was acknowledged");
    stop(&live);
    assert_eq!(told(&live), json!(null));
}
