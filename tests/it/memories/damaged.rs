//! What becomes of the memories when the file is damaged or gone?

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{add, beside, call, db, is_whole, memo, stop, texts};
use crate::live::{Live, not_checked};

/// What is done to a database while no daemon runs, and what is said of it.
type Damage = (&'static str, fn(&Path), &'static str);

const DAMAGES: &[Damage] = &[
    ("a zeroed page", |db| zero(db, 3), "is damaged"),
    ("every second page zeroed", |db| (1..40).step_by(2).for_each(|page| zero(db, page)), "is damaged"),
    (
        "cut short",
        |db| fs::File::options().write(true).open(db).unwrap().set_len(20_000).unwrap(),
        "is damaged",
    ),
    ("cut to nothing", |db| fs::write(db, "").unwrap(), "was empty"),
    ("replaced by text", |db| fs::write(db, "# Memories\n".repeat(5_000)).unwrap(), "is damaged"),
    (
        "replaced by another database",
        |db| drop(fs::remove_file(db).map(|()| other_database(db))),
        "is damaged",
    ),
    ("deleted", |db| fs::remove_file(db).unwrap(), "was gone"),
];

fn zero(db: &Path, page: u64) {
    let mut file = fs::File::options().write(true).open(db).unwrap();
    if file.metadata().unwrap().len() >= (page + 1) * 4_096 {
        file.seek(SeekFrom::Start(page * 4_096)).unwrap();
        file.write_all(&[0; 4_096]).unwrap();
    }
}

/// An empty database of SQLite is one page.
fn other_database(db: &Path) {
    let python =
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('CREATE TABLE t(a)'); c.close()";
    let made = Command::new("python3").args(["-c", python]).arg(db).status();
    if !made.is_ok_and(|status| status.success()) {
        not_checked("another database in the place of memory.db: there is no python3; it is text instead");
        fs::write(db, "text").unwrap();
    }
}

#[test]
fn a_damaged_database_is_put_aside_and_restored() {
    for (what, damage, said) in DAMAGES {
        let live = Live::idle();
        let expected: Vec<_> = (10..60).map(|number| format!("fact {number} {}", "x".repeat(500))).collect();
        live.start();
        for text in &expected {
            call(&live, "memory.add", json!({ "content": text, "tags": ["t"] }));
        }
        stop(&live); // a copy is made
        damage(&db(&live));
        let output = live.memo(&["list", "--all", "--json"]).output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let notice = answer["notice"].as_str().unwrap_or_else(|| panic!("{what}: nothing is said"));
        assert!(notice.contains(said), "{what}: {notice}");
        assert_eq!(texts(&live), expected, "{what}: {notice}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{what}: a person is told");
        let status = call(&live, "status", json!({}));
        assert!(status["degraded"].to_string().contains(said), "{what}: status says so");
        let log = fs::read_to_string(live.layout().log_file()).unwrap();
        assert!(log.contains(said), "{what}: the log says so");
        assert!(is_whole(&live), "{what}");
        let aside = beside(&live, "memory.db.damaged-");
        assert_eq!(aside.is_empty(), *what == "deleted", "{what}: the old file is kept: {aside:?}");
        add(&live, "written afterwards");
        assert_eq!(texts(&live).len(), expected.len() + 1, "{what}");
    }
}

#[test]
fn a_repair_is_told_in_a_line_until_it_is_acknowledged() {
    let live = Live::idle();
    let damage = |text: &str| {
        live.start();
        add(&live, text);
        stop(&live);
        fs::write(db(&live), format!("damaged {text} ").repeat(2_000)).unwrap();
        fs::write(live.layout().state_dir.join("index.db"), "damaged ".repeat(2_000)).unwrap();
        memo(&live, &["list"]).1["notice"].as_str().unwrap().to_owned()
    };
    let degraded = || call(&live, "status", json!({}))["degraded"].as_array().unwrap().clone();
    let notice = damage("one");
    assert!(
        notice.starts_with("memory.db is damaged (file is not a database); 1 memory was restored; "),
        "{notice}"
    );
    let [kept] = &beside(&live, "memory.db.damaged-")[..] else { panic!("it is kept once") };
    assert!(!notice.contains(kept), "the file is told by doctor alone: {notice}");
    assert_eq!(degraded().len(), 2, "one line each: {:?}", degraded());
    let (code, report) = memo(&live, &["doctor"]);
    assert_eq!((code, report.to_string().matches(kept.as_str()).count()), (1, 1), "{report}");
    assert!(report.to_string().contains("index.db was damaged"), "{report}");
    // Who looks at what others have left must not end it.
    assert_eq!(degraded().len(), 2);
    let shown = live.sandbox.show(&mut live.memo(&["doctor", "--ack"]));
    assert!(shown.starts_with("exit 0\nout: ack   "), "{shown}");
    assert_eq!(shown.matches(kept.as_str()).count(), 1, "{shown}");
    assert_eq!((degraded(), memo(&live, &["list"]).1.get("notice")), (vec![], None));
    stop(&live);
    assert_eq!((degraded_after_start(&live), beside(&live, kept).len()), (vec![], 1), "nothing was deleted");
    assert!(live.sandbox.show(&mut live.memo(&["doctor", "--ack"])).contains("nothing to acknowledge"));
    stop(&live);
    assert!(damage("two").contains("2 memories were restored"), "what happens next is told again");
}

fn degraded_after_start(live: &Live) -> Vec<Value> {
    live.start();
    call(live, "status", json!({}))["degraded"].as_array().unwrap().clone()
}

#[test]
fn what_no_copy_has_is_saved_from_the_damaged_file() {
    let live = Live::idle();
    live.start();
    add(&live, "old");
    stop(&live);
    let copies = live.layout().state_dir.join("backups");
    let kept = live.sandbox.path("copies");
    Command::new("cp").arg("-r").args([&copies, &kept]).status().unwrap();
    live.start();
    let new: Vec<_> = (0..400).map(|number| format!("new {number:03} {}", "y".repeat(300))).collect();
    let added = new.iter().map(|text| call(&live, "memory.add", json!({ "content": text })));
    let ids: Vec<_> = added.map(|answer| answer["memory"]["id"].clone()).collect();
    call(&live, "memory.link", json!({ "from": ids[0], "to": ids[1] }));
    let forgotten = memo(&live, &["forget", "--match", "old", "--yes"]);
    assert_eq!(forgotten.0, 0, "{forgotten:?}");
    stop(&live);
    fs::remove_dir_all(&copies).unwrap();
    Command::new("cp").arg("-r").args([&kept, &copies]).status().unwrap();
    let pages = fs::metadata(db(&live)).unwrap().len() / 4_096;
    zero(&db(&live), pages / 2);
    let found = texts(&live);
    assert!(found.len() >= new.len() - 30, "only {} of {} were saved", found.len(), new.len());
    assert!(!found.contains(&"old".to_owned()), "what was forgotten stays so");
    let first = call(&live, "memory.get", json!({ "ids": [ids[0]] }))["memories"][0].clone();
    assert_eq!(first["links"][0]["id"], ids[1], "links are saved too: {first}");
    assert!(is_whole(&live));
}

/// What was restored is whole before anything is renamed: a daemon that is killed between two renames leaves this.
#[test]
fn a_restore_that_was_killed_at_its_end_is_finished() {
    let lefts: [fn(&Path); 2] = [|_| (), |db| fs::write(db, "damaged").unwrap()];
    for left in lefts {
        let live = Live::idle();
        live.start();
        add(&live, "restored");
        stop(&live);
        let db = db(&live);
        fs::rename(&db, db.with_extension("db.finished")).unwrap();
        fs::remove_dir_all(live.layout().state_dir.join("backups")).unwrap();
        left(&db);
        assert_eq!(texts(&live), ["restored"]);
        assert!(!db.with_extension("db.finished").exists());
        assert!(is_whole(&live));
    }
}

#[test]
fn a_file_that_is_taken_away_from_a_running_daemon_comes_back() {
    type Take = fn(&Path);
    let takes: [(&str, Take); 4] = [
        ("deleted", |db| fs::remove_file(db).unwrap()),
        ("deleted with its log", |db| {
            fs::remove_file(db).unwrap();
            let _ = fs::remove_file(db.with_extension("db-wal"));
            let _ = fs::remove_file(db.with_extension("db-shm"));
        }),
        ("replaced", |db| {
            fs::write(db.with_extension("x"), "text").unwrap();
            fs::rename(db.with_extension("x"), db).unwrap();
        }),
        ("overwritten", |db| fs::write(db, "text ".repeat(2_000)).unwrap()),
    ];
    for (what, take) in takes {
        let live = Live::new();
        add(&live, "one");
        add(&live, "two");
        take(&db(&live));
        add(&live, "three");
        assert_eq!(texts(&live), ["one", "three", "two"], "{what}");
        live.kill();
        assert_eq!(texts(&live), ["one", "three", "two"], "{what}, and by the next daemon");
        assert!(is_whole(&live), "{what}");
    }
}

#[test]
fn a_log_without_its_database_is_read() {
    let live = Live::new();
    add(&live, "one");
    add(&live, "two");
    live.kill();
    fs::remove_file(db(&live)).unwrap();
    assert_eq!(texts(&live), ["one", "two"]);
}

#[test]
fn searching_goes_on_without_memories() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    fs::create_dir(db(&live)).unwrap(); // not a file, and not ours to remove
    live.start();
    let found = live.search("alpha");
    assert!(found.paths.contains("a.md"), "{found:?}");
    assert!(
        !found.fresh && found.reason.to_string().contains("memory.db"),
        "no memory was searched: {found:?}"
    );
    let (code, answer) = memo(&live, &["add", "text"]);
    assert_eq!((code, &answer["error"]["code"]), (3, &json!("store")), "{answer}");
    assert!(call(&live, "status", json!({}))["degraded"].to_string().contains("memory.db"));
    fs::remove_dir(db(&live)).unwrap();
    add(&live, "text");
}

/// A disk may lose a bit, and SQLite keeps no checksums. A long text lies beside its row, where a changed letter breaks nothing else.
#[test]
fn a_text_that_has_changed_without_memod_is_named_with_the_backup_that_has_it() {
    let live = Live::idle();
    live.start();
    let id = add(&live, &format!("Harbor of Walnut {}", "x".repeat(9_000)));
    stop(&live); // a copy is made
    let mut bytes = fs::read(db(&live)).unwrap();
    let places: Vec<usize> =
        bytes.windows(6).enumerate().filter(|(_, part)| part == b"Walnut").map(|(at, _)| at).collect();
    assert!(!places.is_empty(), "the text is in the file as it was typed");
    for at in places {
        bytes[at] ^= 1;
    }
    fs::write(db(&live), bytes).unwrap();
    assert_eq!(super::texts(&live).len(), 1);
    let checks = call(&live, "doctor", json!({}))["checks"].clone();
    let check = checks.as_array().unwrap().iter().find(|check| check["name"] == "memory.db").unwrap();
    let detail = check["detail"].as_str().unwrap();
    assert_eq!(check["ok"], false, "{check}");
    let named =
        format!("the text of {id} has changed without memod; a backup with the original text is in /");
    assert!(detail.contains(&named), "{detail}");
    let (_, restore) = detail.split_once("`memo ").unwrap();
    let restore: Vec<&str> = restore.split_once('`').unwrap().0.split(' ').chain(["--yes"]).collect();
    assert!(live.memo(&restore).output().unwrap().status.success(), "{restore:?}");
    assert!(super::texts(&live).concat().starts_with("Harbor of Walnut"));
    assert!(is_whole(&live));
}
