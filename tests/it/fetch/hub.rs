//! Does `memo model use` get a model from a hub?

use std::collections::HashMap;
use std::sync::Mutex;

use super::*;
use crate::live::{Live, PATIENCE};
use serde_json::{Value, json};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// The model that is asked for, and where the hub has it.
const NAME: &str = "gte-small";
const REPOSITORY: &str = "/thenlper/gte-small/resolve";

/// Answers instead of the hub and its storage: the path without the revision, and how often it was asked for before.
type Fault = dyn Fn(&Asked, &str, usize) -> Option<Reply> + Send + Sync;

/// A hub that keeps large files elsewhere, and redirects to small ones with an address without a host.
struct FakeHub {
    server: FileServer,
    storage: FileServer,
}

fn tiny(name: &str) -> Vec<u8> {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/models/tiny");
    fs::read(dir.join(name)).unwrap()
}

fn git_blob(content: &[u8]) -> String {
    let digest = <sha1::Sha1 as sha1::Digest>::digest(
        [format!("blob {}\0", content.len()).as_bytes(), content].concat(),
    );
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl FakeHub {
    fn new(
        model: Vec<u8>,
        fault: impl Fn(&Asked, &str, usize) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let (fault, counts): (Arc<Fault>, Arc<Mutex<HashMap<String, usize>>>) =
            (Arc::new(fault), Arc::default());
        let wrong = move |asked: &Asked, file: &str| {
            let mut counts = counts.lock().unwrap();
            let count = counts.entry(file.to_owned()).or_default();
            *count += 1;
            fault(asked, file, *count - 1)
        };
        let (wrong_in_storage, sha256, stored) = (wrong.clone(), hex(&model), model);
        let storage = FileServer::start(move |asked| {
            wrong_in_storage(asked, "storage").unwrap_or_else(|| Reply::file(asked, &stored, "\"part-1\""))
        });
        let at = storage.url.clone();
        let server = FileServer::start(move |asked| {
            if let Some(file) = asked.path.strip_prefix("/cached/") {
                let content = tiny(file);
                let reply = wrong(asked, &format!("cached/{file}"));
                return reply
                    .unwrap_or_else(|| Reply::file(asked, &content, &format!("\"{}\"", git_blob(&content))));
            }
            let path = asked.path.strip_prefix(REPOSITORY).unwrap_or_default();
            let (revision, file) = path[1..].split_once('/').unwrap();
            assert!(revision == "main" || revision == COMMIT, "{path}");
            let reply = wrong(asked, file).unwrap_or_else(|| match file {
                "onnx/model.onnx" => Reply::status(302)
                    .with("Location", format!("{at}/a-signed-address?signature=cret"))
                    .with("X-Linked-ETag", format!("\"{sha256}\"")),
                "config.json" | "tokenizer.json" => {
                    Reply::status(307).with("Location", format!("/cached/{file}"))
                }
                _ => Reply::status(404).with("X-Error-Message", "Entry not found"),
            });
            reply.with("X-Repo-Commit", COMMIT)
        });
        Self { server, storage }
    }

    /// Downloads without a library that could run the model; returns why that failed.
    fn error(&self, cache: &Cache, token: Option<&str>) -> (String, Option<String>) {
        let library = cache.dir.path().join("no-library");
        fs::write(&library, "").unwrap();
        let mut command = cache.command_with("http://127.0.0.1:1/simple");
        command.args(["--model", NAME, "--runtime"]).arg(&library).env(FETCH_HUB_VARIABLE, &self.server.url);
        command.envs(token.map(|token| ("HF_TOKEN", token)));
        match said(&mut command).pop() {
            Some(FetchReportLine::Failed { error, hint }) => (error, hint),
            other => panic!("{other:?}"),
        }
    }

    /// Downloads all, and checks that only the library was missing then.
    fn downloads(&self, cache: &Cache, model: &[u8], what: &str) {
        let (error, _) = self.error(cache, None);
        assert!(error.contains("no-library"), "{what}: {error}");
        let dir = cache.dir.path().join("downloads").join(NAME);
        for (file, content) in [
            ("onnx/model.onnx", model),
            ("tokenizer.json", &tiny("tokenizer.json")),
            ("config.json", &tiny("config.json")),
        ] {
            assert!(fs::read(dir.join(file)).unwrap() == content, "{what}: {file}");
        }
        assert!(!cache.dir.path().join("models").join(NAME).exists(), "{what}");
    }

    fn ranges(&self) -> Vec<String> {
        let asked = self.storage.asked();
        asked.iter().map(|asked| asked.header("range").unwrap_or_default().to_owned()).collect()
    }
}

#[test]
fn a_model_is_downloaded_file_by_file_and_goes_on_where_it_was() {
    let model = library();
    let hub = FakeHub::new(model.clone(), |_, file, nth| match (file, nth) {
        ("storage", 0) => {
            Some(Reply { cut_after: Some(300_000), ..Reply::of(library()).with("ETag", "\"part-1\"") })
        }
        ("storage", 1) => Some(Reply::status(503)),
        ("config.json", 0) => Some(Reply::status(502)),
        _ => None,
    });
    let cache = Cache::new();
    hub.downloads(&cache, &model, "first");
    assert_eq!(hub.ranges(), ["", "bytes=300000-", "bytes=300000-"]);
    assert!(hub.server.asked().iter().all(|asked| asked.header("authorization").is_none()));
    let paths: Vec<_> = hub.server.asked().into_iter().map(|asked| asked.path).collect();
    assert!(paths.contains(&format!("{REPOSITORY}/{COMMIT}/tokenizer.json")), "all of one commit: {paths:?}");
    hub.downloads(&cache, &model, "again");
    assert_eq!(hub.ranges().len(), 3, "what is complete is not downloaded again");
}

#[test]
fn a_model_that_changed_between_two_attempts_is_downloaded_anew() {
    let (old, new) = (vec![1; 400_000], library());
    let cache = Cache::new();
    let first = FakeHub::new(old.clone(), move |_, file, _| {
        (file == "storage")
            .then(|| Reply { cut_after: Some(100_000), ..Reply::of(old.clone()).with("ETag", "\"same\"") })
    });
    let (error, hint) = first.error(&cache, None);
    assert!(error.contains("onnx/model.onnx: ") && !error.contains("cret"), "{error}");
    assert!(hint.unwrap().contains("HF_ENDPOINT"));
    // The storage has the same tag for another file, and does as it is told.
    let second = FakeHub::new(new.clone(), |asked, file, _| {
        (file == "storage").then(|| Reply::file(asked, &library(), "\"same\""))
    });
    second.downloads(&cache, &new, "changed");
    assert_eq!(second.ranges(), ["bytes=100000-", ""]);
}

#[test]
fn what_a_hub_refuses_is_named() {
    type Case = (&'static str, &'static str, Reply, &'static str);
    let cases: [Case; 6] = [
        ("no tokenizer", "tokenizer.json", Reply::status(404), "tokenizer.json: http"),
        ("no model", "onnx/model.onnx", Reply::status(404), "/model.onnx: http"),
        ("forbidden", "config.json", Reply::status(401), "401"),
        ("down", "config.json", Reply::status(500), "500"),
        ("damaged", "storage", Reply::of(vec![7; 500_000]), "the downloaded file has SHA-256 "),
        (
            "damaged small file",
            "cached/tokenizer.json",
            Reply::of("{}").with("ETag", format!("\"{COMMIT}\"")),
            "git object ",
        ),
    ];
    for (what, wrong, reply, expected) in cases {
        let hub = FakeHub::new(library(), move |_, file, _| (file == wrong).then(|| reply.clone()));
        let cache = Cache::new();
        let (error, hint) = hub.error(&cache, Some("hf_token"));
        assert!(error.contains(expected) && !error.contains("cret"), "{what}: {error}");
        assert!(error.contains(&format!("{}{REPOSITORY}/", hub.server.url)), "{what}: {error}");
        let remedy = if what == "forbidden" { "HF_TOKEN" } else { "HF_ENDPOINT" };
        assert!(
            hint.is_some_and(|hint| hint.contains(remedy) && hint.contains("memo model import")),
            "{what}"
        );
        let bearer = |asked: &Asked| asked.header("authorization") == Some("Bearer hf_token");
        assert!(hub.server.asked().iter().all(bearer), "{what}");
        assert!(!hub.storage.asked().iter().any(bearer), "{what}: the storage is somebody else");
    }
}

#[test]
fn credentials_of_a_hub_are_sent_and_not_shown() {
    let hub = FakeHub::new(library(), |_, _, _| None);
    let cache = Cache::new();
    let mut command = cache.command_with("http://127.0.0.1:1/simple");
    let library = cache.dir.path().join("no-library");
    fs::write(&library, "").unwrap();
    command.args(["--model", NAME, "--runtime"]).arg(&library).env("HF_TOKEN", "hf_token");
    command.env(FETCH_HUB_VARIABLE, hub.server.url.replace("http://", "http://me:s%40cret@"));
    let reports = format!("{:?}", said(&mut command));
    assert!(reports.contains("no-library") && !reports.contains("cret"), "{reports}");
    let basic = |asked: &Asked| asked.header("authorization") == Some("Basic bWU6c0BjcmV0");
    assert!(hub.server.asked().iter().all(basic) && !hub.storage.asked().iter().any(basic));
}

#[test]
fn use_downloads_the_library_and_the_model() {
    let Some(library) = crate::models::library().map(PathBuf::from) else { return };
    let library = if library.is_dir() {
        let entries = fs::read_dir(&library).unwrap().map(|entry| entry.unwrap().path());
        let is_library = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(LIBRARY);
        entries.filter(is_library).max().unwrap()
    } else {
        library
    };
    let wheel = wheel(&fs::read(library).unwrap());
    let index = index(&hex(&wheel), move |asked| Reply::file(asked, &wheel, "\"a\""));
    let hub = FakeHub::new(tiny("model.onnx"), |_, _, _| None);
    let live = Live::new();
    live.write("answer.md", "# Session\n\nrefresh the expired session, or login\n");
    let mut memo = live.memo(&["model", "use", NAME, "--json"]);
    memo.env("HF_ENDPOINT", &hub.server.url).env("PIP_INDEX_URL", format!("{}/simple", index.url));
    let output = memo.output().unwrap();
    let used: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("downloading ONNX Runtime 1.99.0") && told.contains("downloading gte-small, about "),
        "{told}"
    );
    assert_eq!(used["has_runtime"], true, "{used}");
    let model = used["models"].as_array().unwrap().iter().find(|model| model["name"] == NAME).unwrap();
    assert_eq!(model["source"], format!("{}/thenlper/gte-small@{COMMIT}", hub.server.url));
    let id = &model["id"];
    until("it answers", || live.call("model.list", json!({}))["active"] == *id);
    live.call("sync", json!({ "sync": "full", "wait_ms": PATIENCE.as_millis() }));
    let cache = PathBuf::from(used["dir"].as_str().unwrap());
    let mut left: Vec<_> = fs::read_dir(cache.with_file_name("downloads"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["gte-small.lock", "onnxruntime.lock"]);
    let n_asked = hub.server.asked().len();
    let (exit, _) = crate::live::memo(&live, &["model", "use", NAME]);
    assert_eq!((exit, hub.server.asked().len()), (0, n_asked), "it is there already");
}
