//! The same through each front end: the verbs in their formats, agents, HTTP and Python.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{Broken, DIRECTORY, FILE, text};
use crate::live::{PATIENCE, not_checked, until};

/// Returns command lines whose answers have memories.
fn lines(broken: &Broken) -> Vec<Vec<String>> {
    let Broken { anchored, own, archived, shared, .. } = broken;
    let [one, two, three, four, ..] = own;
    let lines = [
        "search billing".to_owned(),
        "explain billing -n 1".to_owned(),
        "brief".to_owned(),
        "why a.py".to_owned(),
        "refs rotate --with memories".to_owned(),
        "callers rotate --with memories".to_owned(),
        "impact rotate --with memories".to_owned(),
        "tests rotate --with memories".to_owned(),
        "implements Base --with memories".to_owned(),
        format!("get {shared}"),
        "list".to_owned(),
        "recall billing".to_owned(),
        "recent".to_owned(),
        "tags".to_owned(),
        "containers".to_owned(),
        "stats".to_owned(),
        format!("history {shared}"),
        format!("links {one}"),
        format!("related {one}"),
        "dedupe".to_owned(),
        "add a-new-thing-to-know".to_owned(),
        format!("update {one} --priority 8"),
        format!("append {one} more"),
        format!("tag {one} t"),
        format!("untag {one} t"),
        format!("confirm {anchored}"),
        format!("promote {one}"),
        format!("link {one} {two}"),
        format!("unlink {one} {two}"),
        format!("resolve {one} {two}"),
        format!("consolidate {three} {four} --summary both"),
        format!("forget {two} --yes"),
        format!("restore {}", archived[0]),
        format!("purge {} --yes", archived[1]),
        "reset --dry-run".to_owned(),
        format!("share {one} --dry-run"),
        format!("unshare {shared} --dry-run"),
        "backup".to_owned(),
        "restore-backup latest --dry-run".to_owned(),
        "status".to_owned(),
        "doctor".to_owned(),
    ];
    lines.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

/// Runs `memo`; returns its status, stdout and stderr.
fn memo(broken: &Broken, words: &[String], more: &[&str]) -> (i32, String, String) {
    let words: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
    let output = broken.live.memo(&words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn verbs_tell_people_and_programs() {
    for more in [&[][..], &["-q"], &["--json"], &["--json=full"]] {
        let Some(broken) = Broken::by(FILE) else { return };
        let is_json = more.iter().any(|word| word.starts_with("--json"));
        for words in lines(&broken) {
            let (code, out, err) = memo(&broken, &words, more);
            let what = format!("{words:?} {more:?}: {code}\n{out}\n{err}");
            let is_report = ["status", "doctor"].contains(&&*words[0]);
            if is_json && !is_report {
                let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{what}"));
                let is_error = answer.get("error").is_some();
                let said = if is_error { &answer["error"]["message"] } else { &answer["reason"] };
                assert!(is_error || answer["fresh"] == false, "{what}");
                assert!(broken.is_named_in(text(said)), "{what}");
            } else if is_report {
                assert!(broken.is_named_in(&out), "{what}");
            } else if more.is_empty() || words[0] != "search" && words[0] != "brief" {
                assert!(broken.is_named_in(&err) || is_quiet(&words, more), "{what}");
            }
        }
        for words in ["outline a.py", "show a.py", "map", "changed"] {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            let (_, out, err) = memo(&broken, &words, more);
            assert!(!broken.is_named_in(&format!("{out}{err}")), "{words:?} owes nothing of memories: {err}");
        }
    }
}

/// Returns whether `--quiet` hides it, as of an answer about code that is not fresh.
fn is_quiet(words: &[String], more: &[&str]) -> bool {
    let of_code = ["explain", "why", "refs", "callers", "impact", "tests", "implements"];
    more.contains(&"-q") && of_code.contains(&&*words[0])
}

#[test]
fn formats_have_it_beside_them() {
    let Some(broken) = Broken::by(FILE) else { return };
    for format in ["csv", "jsonl", "md", "xml", "toon"] {
        for verb in ["list", "search", "recall", "tags", "history", "related", "links", "why"] {
            let argument = match verb {
                "search" | "recall" => vec!["billing".to_owned()],
                "history" | "related" | "links" => vec![broken.own[0].clone()],
                "why" => vec!["a.py".to_owned()],
                _ => Vec::new(),
            };
            let words = [vec![verb.to_owned()], argument].concat();
            let (code, out, err) = memo(&broken, &words, &["--format", format]);
            assert!(broken.is_named_in(&err), "{verb} --format {format}: {code}\n{out}\n{err}");
        }
    }
}

#[test]
fn an_export_that_may_be_old_is_no_success() {
    for fault in [FILE, DIRECTORY] {
        let Some(broken) = Broken::by(fault) else { return };
        let export = ["export".to_owned()];
        let (code, out, err) = memo(&broken, &export, &[]);
        assert_eq!(code, 1, "{err}");
        assert!(broken.is_named_in(&err) && out.contains("8080"), "{out}\n{err}");
        let (code, _, err) = memo(&broken, &export, &["--out", "e.jsonl"]);
        assert!(code == 1 && broken.is_named_in(&err), "{err}");
        let (code, out, _) = memo(&broken, &export, &["--out", "e.jsonl", "--force", "--json"]);
        let told: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((code, &told["fresh"]), (1, &json!(false)), "{told}");
        assert!(broken.is_named_in(text(&told["reason"])), "{told}");
        let (code, out, err) = memo(&broken, &["sync-notes".to_owned()], &[]);
        assert!(code != 0 && broken.is_named_in(&err), "what is not known is not sent: {code}\n{out}\n{err}");
    }
}

#[test]
fn agents_are_told() {
    let Some(broken) = Broken::by(FILE) else { return };
    let mut server = broken.live.memo(&["mcp"]);
    let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut say = |message: Value| writeln!(server.stdin.as_mut().unwrap(), "{message}").unwrap();
    say(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "0" } } }));
    say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let calls = [
        ("search", json!({ "query": "billing" })),
        ("brief", json!({})),
        ("why", json!({ "target": "a.py" })),
        ("memo", json!({ "command": "list" })),
        ("memo", json!({ "command": "recall billing" })),
        ("memo", json!({ "command": "list --json" })),
    ];
    for (id, (name, arguments)) in calls.iter().enumerate() {
        let params = json!({ "name": name, "arguments": arguments });
        say(json!({ "jsonrpc": "2.0", "id": id + 1, "method": "tools/call", "params": params }));
    }
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(server.stdout.take().unwrap()));
    let mut answered = 0;
    while answered < calls.len() {
        let line = lines.next().unwrap().unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        let Some(id) = answer["id"].as_u64().filter(|id| *id > 0) else { continue };
        let call = &calls[usize::try_from(id).unwrap() - 1];
        if answer["result"]["isError"] == true && answer.to_string().contains("no tool") {
            panic!("{call:?}: {answer}");
        }
        assert!(broken.is_named_in(&answer.to_string()), "{call:?}: {answer}");
        answered += 1;
    }
    drop(server.stdin.take());
    server.wait().unwrap();
}

#[test]
fn http_and_python_are_told() {
    let Some(broken) = Broken::by(FILE) else { return };
    let serve = broken.live.call("serve.start", json!({}));
    let port = u16::try_from(serve["port"].as_u64().unwrap()).unwrap();
    let token = text(&serve["url"]).split_once("#token=").unwrap().1.to_owned();
    let addresses =
        ["memories", "export", "search?query=billing", "tags", "stats"].map(|path| format!("GET /v1/{path}"));
    for address in addresses {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "{address} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.contains("\"fresh\":false"),
            "{address}: {answer}"
        );
        assert!(broken.is_named_in(&answer), "{address}: {answer}");
    }
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/python/src");
    let script = "from memod import Memo\n\
                  memo = Memo('.')\n\
                  for answer in [memo.list(), memo.search('billing'), memo.tags(), memo.why('a.py')]:\n\
                  \x20   assert not answer.fresh, answer\n\
                  \x20   print(answer.reason)\n";
    let mut python = broken.live.sandbox.program("python3", &["-c", script]);
    let output = python.env("PYTHONPATH", package).env("PYTHONDONTWRITEBYTECODE", "1").output();
    let Ok(output) = output else { return not_checked("the client of Python: there is no python3") };
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    assert!(out.lines().count() == 4 && out.lines().all(|line| broken.is_named_in(line)), "{out}");
}

/// What can be read again is told again without a caveat.
#[test]
fn an_answer_is_fresh_again_once_the_file_can_be_read() {
    let Some(broken) = Broken::by(FILE) else { return };
    let listed = broken.live.call("memory.list", json!({}));
    assert!(listed["fresh"] == false && listed.to_string().contains("8080"), "{listed}");
    broken.live.kill();
    broken.live.start();
    until("the file is read", || broken.live.call("memory.list", json!({}))["fresh"] == true);
    assert!(broken.live.call("memory.list", json!({})).to_string().contains("9090"));
}
