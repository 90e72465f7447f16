//! Does a number in metadata keep its digits, through whatever door it comes?

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::Web;

/// As it is typed, and as it is kept.
const TYPED: &str =
    r#"{"v":1.10,"l":[1.10,2.0,7654321e12],"o":{"v":123456789012345678901234567890},"n":12,"f":0.5}"#;

fn kept() -> Value {
    json!({
        "v": "1.10", "l": ["1.10", 2.0, "7654321e12"], "o": { "v": "123456789012345678901234567890" }, "n": 12, "f": 0.5,
    })
}

fn metadata_of(web: &Web, content: &str) -> Value {
    let list = web.live.call("memory.list", json!({ "limit": 100 }));
    let found = list["memories"].as_array().unwrap().iter().find(|memory| memory["content"] == content);
    found.unwrap_or_else(|| panic!("{content}: {list}"))["metadata"].clone()
}

#[test]
fn numbers_in_metadata_keep_their_digits() {
    let web = Web::new();
    let live = &web.live;
    let meta =
        ["v=1.10", "l=[1.10,2.0,7654321e12]", r#"o={"v":123456789012345678901234567890}"#, "n=12", "f=0.5"];
    let args: Vec<&str> = meta.iter().flat_map(|meta| ["--meta", meta]).collect();
    let output = live.memo(&[&["add", "by an option"][..], &args].concat()).output().unwrap();
    assert!(output.status.success(), "{output:?}");

    let mut import = live
        .memo(&["import", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let line = format!("{{\"content\":\"by an import\",\"metadata\":{TYPED}}}\n");
    import.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
    assert!(import.wait_with_output().unwrap().status.success());

    let mut socket = live.connect();
    let params =
        format!("{{\"cwd\":{},\"content\":\"by the socket\",\"metadata\":{TYPED}}}", json!(live.root()));
    socket.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"memory.add\",\"params\":{params}}}\n"));
    let answer = socket.receive().unwrap();
    assert_eq!(answer["error"], Value::Null, "{answer}");

    let body = format!("{{\"content\":\"by HTTP\",\"metadata\":{TYPED}}}");
    let answer = web.ask_with("POST", "/v1/memories", &[], &body);
    assert!(answer.status < 300, "{}", answer.json());

    let file = format!(
        "---\ntier: long\nauthor: Bob\ncreated: 2026-01-02T03:04:05Z\nmetadata: {TYPED}\n---\n\nby a file\n"
    );
    live.write(".memod/memories/mem_01ARZ3NDEKTSV4RRFFQ69G5FAV.md", &file);

    for door in ["an option", "an import", "the socket", "HTTP", "a file"] {
        assert_eq!(metadata_of(&web, &format!("by {door}")), kept(), "{door}");
    }
    let found = live.memo(&["list", "--meta", "v=1.10", "--json"]).output().unwrap().stdout;
    assert_eq!(String::from_utf8(found).unwrap().matches("\"by ").count(), 5, "the filter has the same rule");
}
