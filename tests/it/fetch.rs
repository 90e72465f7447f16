//! Does `memod fetch` get a file whole, whatever servers and connections do?

mod hub;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memod_embed::onnx::LIBRARY;
use memod_proto::{FETCH_HUB_VARIABLE, FETCH_INDEX_VARIABLE, FetchReportLine};
use sha2::{Digest as _, Sha256};

use crate::file_server::{Asked, FileServer, Reply};
use crate::live::until;

/// What stands for the library: half a megabyte that cannot be packed.
fn library() -> Vec<u8> {
    let mut seed = 7_u64;
    let next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 56) as u8
    };
    std::iter::repeat_with(next).take(500_000).collect()
}

/// A wheel with the library under the name it has on this platform.
fn wheel(library: &[u8]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for (name, content) in [
        ("onnxruntime/capi/libonnxruntime_providers_shared.so".to_owned(), &b"no"[..]),
        (format!("onnxruntime/capi/{LIBRARY}"), library),
        ("../../evil".to_owned(), b"no"),
    ] {
        archive.start_file(name, options).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn platform_tag() -> &'static str {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("macos", _) => "macosx_14_0_universal2",
        ("linux", "aarch64") => "manylinux_2_28_aarch64",
        _ => "manylinux_2_28_x86_64",
    }
}

fn hex(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A package index with one wheel, which it says has this hash; `answer` sends it.
fn index(sha256: &str, answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> FileServer {
    let file = format!("onnxruntime-1.99.0-cp311-cp311-{}.whl", platform_tag());
    let page = format!(
        r#"{{"files":[{{"filename":"{file}","url":"/files/{file}","hashes":{{"sha256":"{sha256}"}},"yanked":false}}]}}"#
    );
    FileServer::start(move |asked| match asked.path.as_str() {
        "/simple/onnxruntime/" => {
            Reply::of(page.clone()).with("Content-Type", "application/vnd.pypi.simple.v1+json")
        }
        _ => answer(asked),
    })
}

/// Runs `memod fetch` in a cache directory of its own.
struct Cache {
    dir: tempfile::TempDir,
}

impl Cache {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn command(&self, server: &FileServer) -> Command {
        self.command_with(&format!("{}/simple", server.url))
    }

    fn command_with(&self, index: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memod"));
        command.args(["fetch", "--patience", "1", "--cache-dir"]).arg(self.dir.path());
        command
            .env_clear()
            .env("HOME", self.dir.path())
            .env(FETCH_INDEX_VARIABLE, index)
            .stdout(Stdio::piped());
        command
    }

    /// Returns what it said; the last report says how it ended.
    fn fetch(&self, server: &FileServer) -> Vec<FetchReportLine> {
        said(&mut self.command(server))
    }

    /// Fetches, and returns why that failed.
    fn error(&self, server: &FileServer) -> String {
        match self.fetch(server).pop() {
            Some(FetchReportLine::Failed { error, hint }) => {
                assert!(hint.is_some_and(|hint| hint.contains("PIP_INDEX_URL")), "{error}");
                assert!(!self.library_file().exists(), "{error}");
                error
            }
            other => panic!("{other:?}"),
        }
    }

    fn library_file(&self) -> PathBuf {
        self.dir.path().join("onnxruntime").join(LIBRARY)
    }

    /// Whether the library is there and nothing else is left of the download.
    fn check(&self, reports: &[FetchReportLine], what: &str) {
        assert_eq!(reports.last(), Some(&FetchReportLine::Done), "{what}: {reports:?}");
        assert!(fs::read(self.library_file()).unwrap() == library(), "{what}: another content");
        assert_eq!(self.left(), ["onnxruntime.lock"], "{what}");
        assert_eq!(fs::read_dir(self.dir.path().join("onnxruntime")).unwrap().count(), 1, "{what}");
        assert!(!self.dir.path().join("evil").exists());
    }

    /// Names in the directory of downloads.
    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.dir.path().join("downloads")).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn said(command: &mut Command) -> Vec<FetchReportLine> {
    let output = command.output().unwrap();
    output.stdout.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

/// Bytes of the file that each request for it asked to leave out.
fn ranges(server: &FileServer) -> Vec<String> {
    let files = server.asked().into_iter().filter(|asked| asked.path.starts_with("/files/"));
    files.map(|asked| asked.header("range").unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_library_is_fetched_once() {
    let wheel = wheel(&library());
    let server = index(&hex(&wheel), move |asked| Reply::file(asked, &wheel, "\"a\""));
    let cache = Cache::new();
    let reports = cache.fetch(&server);
    cache.check(&reports, "plain");
    let told = |report: &FetchReportLine| matches!(report, FetchReportLine::Note { text } if text.contains("1.99.0"));
    assert!(told(&reports[0]) && reports.len() > 2, "{reports:?}");
    assert_eq!((cache.fetch(&server), server.asked().len()), (vec![FetchReportLine::Done], 2));
}

#[test]
fn a_connection_that_is_cut_goes_on_where_it_was() {
    let wheel = wheel(&library());
    let (hash, n) = (hex(&wheel), AtomicUsize::new(0));
    let server = index(&hash, move |asked| {
        let nth = n.fetch_add(1, Ordering::SeqCst);
        let mut reply = Reply::file(asked, &wheel, "\"a\"");
        match nth {
            0 => reply.cut_after = Some(200_000),
            1 => return Reply::status(503),
            2 => reply.stall_after = Some(100_000),
            _ => {}
        }
        reply
    });
    let cache = Cache::new();
    cache.check(&cache.fetch(&server), "cut, refused and stalled");
    assert_eq!(ranges(&server), ["", "bytes=200000-", "bytes=200000-", "bytes=300000-"]);
}

#[test]
fn a_download_that_was_killed_goes_on_where_it_was() {
    let wheel = wheel(&library());
    let (hash, n) = (hex(&wheel), AtomicUsize::new(0));
    let server = index(&hash, move |asked| {
        let mut reply = Reply::file(asked, &wheel, "\"a\"");
        reply.stall_after = (n.fetch_add(1, Ordering::SeqCst) == 0).then_some(250_000);
        reply
    });
    let cache = Cache::new();
    let mut child = cache.command(&server).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let part = cache.dir.path().join("downloads/onnxruntime-1.99.0.whl.part");
    until("half of it is there", || fs::metadata(&part).is_ok_and(|part| part.len() == 250_000));
    child.kill().unwrap();
    child.wait().unwrap();
    drop(lines);
    cache.check(&cache.fetch(&server), "killed");
    assert_eq!(ranges(&server), ["", "bytes=250000-"]);
}

#[test]
fn a_file_that_has_changed_or_cannot_be_resumed_is_sent_anew() {
    let (old, new) = (wheel(b"old"), wheel(&library()));
    // Whether the server heeds ranges, and whether it says so by an entity tag.
    for (what, has_ranges, etags) in [
        ("changed", true, ["\"a\"", "\"b\""]),
        ("changed, and the range sent all the same", true, ["W/\"a\"", "W/\"b\""]),
        ("no ranges", false, ["\"a\"", "\"a\""]),
    ] {
        let (hash, n) = (hex(&new), AtomicUsize::new(0));
        let (old, new) = (if has_ranges { old.repeat(1_000) } else { new.clone() }, new.clone());
        let server = index(&hash, move |asked| {
            let nth = n.fetch_add(1, Ordering::SeqCst);
            let asked = if has_ranges { asked.clone() } else { Asked::default() };
            let mut reply = Reply::file(&asked, if nth == 0 { &old } else { &new }, etags[nth.min(1)]);
            reply.cut_after = (nth == 0).then_some(100_000);
            reply
        });
        let cache = Cache::new();
        cache.check(&cache.fetch(&server), what);
    }
}

#[test]
fn a_part_that_was_damaged_meanwhile_is_dropped() {
    let wheel = wheel(&library());
    let (hash, n) = (hex(&wheel), AtomicUsize::new(0));
    let server = index(&hash, move |asked| {
        let mut reply = Reply::file(asked, &wheel, "\"a\"");
        reply.cut_after = (n.fetch_add(1, Ordering::SeqCst) < 5)
            .then_some(if asked.header("range").is_some() { 0 } else { 100_000 });
        reply
    });
    let cache = Cache::new();
    let error = cache.error(&server);
    assert!(error.ends_with("Peer disconnected"), "{error}");
    let part = cache.dir.path().join("downloads/onnxruntime-1.99.0.whl.part");
    fs::write(&part, vec![0; 100_000]).unwrap();
    cache.check(&cache.fetch(&server), "damaged");
}

#[test]
fn a_server_is_not_asked_for_ever() {
    type Answer = fn(&Asked, &[u8], usize) -> Reply;
    let cut = |reply: Reply| Reply { cut_after: Some(100_000), ..reply };
    let cases: [(&str, Answer, &str, usize); 2] = [
        (
            "another file each time",
            |asked, wheel, nth| {
                let status = if asked.header("range").is_some() { 206 } else { 200 };
                Reply { status, ..Reply::of(wheel) }.with("ETag", format!("\"{nth}\""))
            },
            "Peer disconnected",
            5,
        ),
        ("a damaged file in two parts", |asked, wheel, _| Reply::file(asked, wheel, "\"a\""), "SHA-256 ", 4),
    ];
    for (what, answer, expected, n_expected) in cases {
        let (wheel, n) = (wheel(&library()), AtomicUsize::new(0));
        let server = index(&"0".repeat(64), move |asked| {
            let reply = answer(asked, &wheel, n.fetch_add(1, Ordering::SeqCst));
            if asked.header("range").is_none() { cut(reply) } else { reply }
        });
        let error = Cache::new().error(&server);
        assert!(error.contains(expected), "{what}: {error}");
        assert_eq!(server.asked().len() - 1, n_expected, "{what}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let wheel = wheel(&library());
    let hash = hex(&wheel);
    let whole = Arc::new(wheel);
    let sends = |reply: Reply| move |_: &Asked| reply.clone();
    let cases = [
        ("wrong checksum", index(&"0".repeat(64), sends(Reply::of(whole.to_vec()))), "SHA-256 "),
        ("absent", index(&hash, sends(Reply::status(404))), "404"),
        ("forbidden", index(&hash, sends(Reply::status(401))), "401"),
        ("broken", index(&hash, sends(Reply::status(500))), "500"),
        (
            "endless redirection",
            index(&hash, sends(Reply::status(302).with("Location", "/files/x"))),
            "10 times",
        ),
        (
            "silent",
            index(&hash, sends(Reply { stall_after: Some(0), ..Reply::of(whole.to_vec()) })),
            "imeout",
        ),
        ("no zip", index(&hex(b"MZ"), sends(Reply::of("MZ"))), "Zip"),
    ];
    for (what, server, expected) in cases {
        let error = Cache::new().error(&server);
        assert!(error.contains(expected), "{what}: {error}");
        assert!(error.contains("onnxruntime-1.99.0"), "{what}: {error}");
        let n_asked = server.asked().len();
        let is_tried_again = matches!(what, "broken" | "silent" | "endless redirection");
        assert_eq!(n_asked > 2, is_tried_again, "{what}: asked {n_asked} times");
    }
    let login = FileServer::start(|_| Reply::of("<html>Sign in</html>"));
    let error = Cache::new().error(&login);
    assert!(error.contains("/simple/onnxruntime/: has no wheel"), "{error}");
}

#[test]
fn credentials_go_to_the_index_alone() {
    let wheel = wheel(&library());
    let (hash, sent) = (hex(&wheel), wheel.clone());
    let elsewhere = FileServer::start(move |asked| Reply::file(asked, &sent, "\"a\""));
    let to = elsewhere.url.clone();
    let server =
        index(&hash, move |asked| Reply::status(302).with("Location", format!("{to}{}", asked.path)));
    let cache = Cache::new();
    let url = server.url.replace("http://", "http://me:s%40cret@");
    let output = cache.command_with(&format!("{url}/simple/")).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.ends_with("{\"report\":\"done\"}\n") && !said.contains("cret"), "{said}");
    let sent = |server: &FileServer| -> Vec<_> {
        server.asked().iter().map(|asked| asked.header("authorization").map(str::to_owned)).collect()
    };
    let basic = Some("Basic bWU6c0BjcmV0".to_owned());
    assert_eq!((sent(&server), sent(&elsewhere)), (vec![basic.clone(), basic], vec![None]));
}
