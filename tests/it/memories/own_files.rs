//! Tests what becomes of our own files when memories go out and come in.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::{add, call, db, is_whole, memo, stop, texts};
use crate::live::{Live, memo_in, until};

#[test]
fn nothing_is_written_onto_our_own_state() {
    let live = Live::new();
    add(&live, "fact");
    let (state, other) = (live.layout().state_dir, live.sandbox.path("other"));
    fs::create_dir(&other).unwrap();
    symlink(db(&live), other.join("link")).unwrap();
    fs::hard_link(state.join("index.db"), other.join("hard")).unwrap();
    symlink(&state, other.join("dir")).unwrap();
    let text = |name: &str| other.join(name).to_str().unwrap().to_owned();
    let targets = [
        db(&live).to_str().unwrap().to_owned(),
        ".git/memo/index.db".to_owned(),
        ".git/../.git/memo/memory.db-wal".to_owned(),
        ".git/memo/config.toml".to_owned(),
        ".git/memo/memory.db.finished".to_owned(),
        text("link"),
        text("hard"),
        text("dir/new.jsonl"),
    ];
    for target in &targets {
        for args in [["export", "--out", target.as_str()].as_slice(), &["backup", target.as_str()]] {
            let (code, answer) = memo(&live, args);
            let message = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(code == 2 && message.contains("memod's own state"), "{args:?}: {code} {answer}");
        }
    }
    assert!(!state.join("config.toml").exists() && !state.join("memory.db.finished").exists());
    let inside = memo_in(&live, &state, &["export", "--out", "memory.db"]);
    assert_ne!(inside.0, 0, "{inside:?}");
    assert_eq!(texts(&live), ["fact"]);
    assert!(is_whole(&live));
    for args in [["export", "--out", &text("out.jsonl")].as_slice(), &["backup", &text("out.db")]] {
        assert_eq!(memo(&live, args).0, 0, "{args:?}");
    }
}

#[test]
fn the_copy_of_an_import_goes_with_its_client() {
    let live = Live::idle();
    let left = live.layout().state_dir.join("import");
    fs::create_dir(&left).unwrap();
    for name in ["copy.db", "copy.db-wal", "copy.db-shm"] {
        fs::write(left.join(name), "left by a daemon that was killed").unwrap();
    }
    live.start();
    add(&live, "fact");
    assert!(!left.exists(), "what was left is removed at the start");
    let source = live.sandbox.path("source.db");
    assert_eq!(memo(&live, &["backup", source.to_str().unwrap()]).0, 0);
    let params = json!({ "cwd": live.root(), "path": source, "system": "memod" });
    let mut client = live.connect();
    let page = client.call("memory.read_database", &params).unwrap();
    assert_ne!(page["next"], json!(null), "{page}");
    assert!(left.join("copy.db").exists());
    let mut other = live.connect();
    other.call("memory.list", &json!({ "cwd": live.root() })).unwrap();
    drop(other);
    call(&live, "memory.list", json!({}));
    assert!(left.join("copy.db").exists(), "others who end have nothing to do with it");
    drop(client);
    until("the copy is removed", || !left.exists());
    let mut params = params;
    params["after"] = page["next"].clone();
    let rest = live.connect().call("memory.read_database", &params).unwrap();
    assert_eq!(rest["drafts"], json!([]), "who comes back goes on: {rest}");
    stop(&live);
}
