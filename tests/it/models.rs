//! Can another model be installed and used, and do searches go on meanwhile?
//!
//! The model of these tests has a vector for each of some words (`tests/it/models/tiny_model.py`).

mod process;
mod rerank;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::live::{Live, PATIENCE, memo, not_checked, until};

/// Returns the library of ONNX Runtime; nothing where this machine has none.
pub(crate) fn library() -> Option<std::ffi::OsString> {
    let library = std::env::var_os("ORT_DYLIB_PATH");
    if library.is_none() && std::env::var_os("MEMO_TEST_WITHOUT_ONNX").is_some() {
        let mut stderr = std::io::stderr();
        writeln!(stderr, "NOT CHECKED: models in the ONNX format").unwrap(); // as `.ci/run` said
    } else if library.is_none() {
        not_checked("models in the ONNX format: ORT_DYLIB_PATH does not name libonnxruntime");
    }
    library
}

/// Starts a daemon that finds the library of ONNX Runtime; nothing where this machine has none.
fn start() -> Option<Live> {
    let library = library()?;
    let live = Live::idle();
    for nth in 0..20 {
        live.write(
            &format!("docs/{nth}.md"),
            format!("# Orders {nth}\n\nthe orders of day {nth} in the chart\n"),
        );
    }
    live.write("answer.md", "# Session\n\nrefresh the expired session, or login\n");
    start_daemon(&live, &library);
    let (exit, added) = memo(&live, &["add", "an expired login ends the session"]);
    assert_eq!(exit, 0, "{added}");
    Some(live)
}

fn start_daemon(live: &Live, library: &std::ffi::OsStr) {
    live.start_as(live.memod().env("MEMO_MODEL_RUNTIME", library));
    let sync = live.call("sync", json!({ "sync": "full", "wait_ms": PATIENCE.as_millis() }));
    assert_eq!(sync["fresh"], true, "{sync}");
}

/// The folder of the model.
fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/models/tiny")
}

fn import(live: &Live, dir: &Path, name: &str) -> (i32, Value) {
    memo(live, &["model", "import", dir.to_str().unwrap(), "--name", name])
}

fn models(live: &Live) -> Value {
    live.call("model.list", json!({}))
}

fn is_installed(live: &Live, name: &str) -> bool {
    let models = models(live);
    let mut models = models["models"].as_array().unwrap().iter();
    models.any(|model| model["name"] == name && !model["id"].is_null())
}

/// Searches by meaning; returns the best hit and what was said about vectors.
fn search(live: &Live, query: &str, kind: &str) -> (Value, Vec<String>) {
    let params = json!({ "query": query, "mode": "vector", "kind": [kind], "limit": 3 });
    let found = live.call("search", params);
    let said = found["degraded"].as_array().unwrap().iter().map(|why| why.as_str().unwrap().to_owned());
    (found["hits"][0].clone(), said.filter(|why| why.contains("knn")).collect())
}

/// Uses a model; returns what searches said until the index and the memories have its vectors.
fn switch(live: &Live, name: &str, id: &str) -> Vec<String> {
    let (exit, used) = memo(live, &["model", "use", name]);
    assert_eq!(exit, 0, "{used}");
    let mut said = Vec::new();
    until("the model answers", || {
        for kind in ["doc", "memory"] {
            let (hit, why) = search(live, "refresh the expired session", kind);
            assert!(hit["arms"]["knn"].is_number() || !why.is_empty(), "{hit}");
            said.extend(why);
        }
        let models = models(live);
        assert_eq!(models["problem"], Value::Null, "{models}");
        models["active"] == id && models["active_for_memories"] == id
    });
    said
}

#[test]
fn a_model_is_installed_used_and_removed_while_searches_go_on() {
    let Some(live) = start() else { return };
    let builtin = models(&live)["active"].as_str().unwrap().to_owned();
    let (exit, imported) = import(&live, &tiny(), "tiny");
    assert_eq!(exit, 0, "{imported}");
    let tiny = imported["models"].as_array().unwrap().iter().find(|model| model["name"] == "tiny").unwrap();
    assert_eq!(tiny["dims"], 16);
    let id = tiny["id"].as_str().unwrap().to_owned();
    assert_eq!(switch(&live, "tiny", &id), Vec::<String>::new(), "vectors were there all the time");
    assert_eq!(live.call("status", json!({}))["model"]["id"], id.as_str());
    let (hit, said) = search(&live, "refresh the expired session", "doc");
    assert_eq!((hit["path"].as_str(), said), (Some("answer.md"), Vec::new()));
    live.write("new.md", "# Retry\n\nretry the upload\n");
    until("what is new has a vector of the model", || {
        search(&live, "retry the upload", "doc").0["path"] == "new.md"
    });
    let (exit, refused) = memo(&live, &["model", "remove", "tiny"]);
    assert!(exit != 0 && refused["error"]["message"].as_str().unwrap().contains("in use"), "{refused}");
    switch(&live, "builtin", &builtin);
    let (exit, removed) = memo(&live, &["model", "remove", "tiny"]);
    assert_eq!((exit, is_installed(&live, "tiny")), (0, false), "{removed}");
}

#[test]
fn a_daemon_that_is_killed_while_it_switches_goes_on() {
    let Some(live) = start() else { return };
    let builtin = models(&live)["active"].as_str().unwrap().to_owned();
    let (_, imported) = import(&live, &tiny(), "tiny");
    let all = imported["models"].as_array().unwrap();
    let id = all.iter().find(|model| model["name"] == "tiny").unwrap()["id"].as_str().unwrap().to_owned();
    for nth in 0..6 {
        let (name, wanted) = if nth % 2 == 0 { ("tiny", &id) } else { ("builtin", &builtin) };
        let (exit, used) = memo(&live, &["model", "use", name]);
        assert_eq!(exit, 0, "{used}");
        for _ in 0..4 * nth {
            search(&live, "refresh the expired session", "doc");
        }
        live.kill();
        live.start_as(live.memod().env("MEMO_MODEL_RUNTIME", std::env::var_os("ORT_DYLIB_PATH").unwrap()));
        until("the model answers", || {
            let (hit, why) = search(&live, "refresh the expired session", "doc");
            assert!(hit["arms"]["knn"].is_number() || !why.is_empty(), "{hit}");
            assert!(why.iter().all(|why| why.ends_with("loading")), "{why:?}");
            models(&live)["active"] == wanted.as_str()
        });
        assert_eq!(live.call("status", json!({}))["model"]["id"], wanted.as_str());
    }
}

#[test]
fn what_is_no_model_is_refused_and_leaves_nothing() {
    let Some(live) = start() else { return };
    let dir = live.sandbox.path("bad");
    let model = fs::read(tiny().join("model.onnx")).unwrap();
    let tokenizer = fs::read(tiny().join("tokenizer.json")).unwrap();
    let cases: [(&str, &[u8], &[u8]); 5] = [
        ("truncated", &model[..model.len() / 2], &tokenizer),
        ("no model at all", b"MZ\x90\0 this program cannot be run", &tokenizer),
        ("empty", b"", &tokenizer),
        ("tokenizer of nonsense", &model, b"{\"version\": 7}"),
        ("tokenizer cut", &model, &tokenizer[..tokenizer.len() / 2]),
    ];
    for (what, model, tokenizer) in cases {
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("model.onnx"), model).unwrap();
        fs::write(dir.join("tokenizer.json"), tokenizer).unwrap();
        let (exit, error) = import(&live, &dir, "bad");
        assert!(
            exit != 0 && error["error"]["message"].as_str().is_some_and(|why| why.len() > 10),
            "{what}: {error}"
        );
        assert!(!is_installed(&live, "bad"), "{what}");
    }
    fs::remove_file(dir.join("tokenizer.json")).unwrap();
    let (_, error) = import(&live, &dir, "bad");
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.ends_with("tokenizer.json: does not exist"), "{error}");
    let (exit, _) = memo(&live, &["model", "use", "bad"]);
    assert_eq!(exit, 2, "it is not installed");
    let left = fs::read_dir(models(&live)["dir"].as_str().unwrap()).unwrap().count();
    assert_eq!((left, search(&live, "session", "doc").1), (0, Vec::new()), "the builtin model serves on");
}

#[test]
fn a_model_that_was_damaged_later_is_named_and_words_still_find() {
    let Some(live) = start() else { return };
    let (_, imported) = import(&live, &tiny(), "tiny");
    let models = imported["models"].as_array().unwrap();
    let id = models.iter().find(|model| model["name"] == "tiny").unwrap()["id"].as_str().unwrap().to_owned();
    switch(&live, "tiny", &id);
    live.kill();
    let file = Path::new(imported["dir"].as_str().unwrap()).join("tiny/model.onnx");
    let model = fs::read(&file).unwrap();
    fs::write(&file, &model[..model.len() / 2]).unwrap();
    live.start_as(live.memod().env("MEMO_MODEL_RUNTIME", std::env::var_os("ORT_DYLIB_PATH").unwrap()));
    until("the file is blamed", || {
        let said = search(&live, "session", "doc").1;
        said.iter().any(|why| why.contains("model.onnx") && why.contains("bytes instead of"))
    });
    live.expect("refresh", "answer.md", "words find it");
    let (exit, _) = memo(&live, &["model", "use", "builtin"]);
    assert_eq!(exit, 0);
    until("the builtin model answers", || search(&live, "session", "doc").1.is_empty());
}
