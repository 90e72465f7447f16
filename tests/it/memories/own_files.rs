//! Tests what becomes of our own files when memories go out and come in.

use std::fs;

use serde_json::json;

use super::{add, call, memo, stop};
use crate::live::{Live, until};

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
