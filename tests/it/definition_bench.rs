//! Are definitions that answer questions counted by their lines, and their candidates written with what a model needs?

use std::fs;

use serde_json::{Value, json};

use crate::live::{Live, bench};

const TOKEN: &str = "//! Signs tokens.\n\n/// Signs a token with the key of today.\npub fn sign(token: &str) -> u64 {\n    \
                     token.len() as u64\n}\n\n/// Compares a signature in constant time.\npub fn verify(token: &str, \
                     signature: u64) -> bool {\n    sign(token) == signature\n}\n";

/// Returns a repository and a file of questions beside it, of which nothing answers the last.
fn asked() -> (Live, String) {
    let live = Live::idle();
    live.write("src/token.rs", TOKEN);
    live.write(
        "src/config.rs",
        "/// Reads the settings.\npub fn read_config() -> String {\n    String::new()\n}\n",
    );
    live.commit_all();
    let answer = |path: &str, lines: [u32; 2], must: bool| json!({ "path": path, "lines": lines, "name": "f", "must": must });
    let lines = [
        json!({ "repository": "me/shop", "commit": "12ab", "language": "rust" }),
        json!({ "kind": "short", "query": "compare a signature in constant time", "why": "w",
                "answers": [answer("src/token.rs", [8, 11], true), answer("src/token.rs", [3, 6], false)] }),
        json!({ "kind": "topic", "query": "read the settings", "why": "w",
                "answers": [answer("src/config.rs", [1, 4], true), answer("src/gone.rs", [1, 9], true)] }),
        json!({ "kind": "absent", "query": "where is the printer driver", "answers": [], "why": "w" }),
    ];
    let file = live.sandbox.path("me+shop.jsonl");
    fs::write(&file, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    (live, file.display().to_string())
}

#[test]
fn definitions_stand_beside_files() {
    let (live, file) = asked();
    let args = ["quality", &file, "--leave-out", "bm25"];
    let (exit, report) = bench(&live, &args);
    assert_eq!(exit, 0, "{report}");
    let set = &report["sets"][0];
    assert_eq!((&set["set"], &set["absent"]), (&json!("me+shop"), &json!(1)));
    assert_eq!(set["missing"], json!(["src/gone.rs"]));
    let whole = &set["arms"][0];
    assert_eq!((&whole["questions"], &whole["definitions"]["questions"]), (&json!(2), &json!(2)));
    let figure = |answer: &str, metric: &str| whole["definitions"][answer][metric]["mean"].as_f64().unwrap();
    // Of the definitions that must be read one of three is not there; of the files, too.
    assert_eq!((figure("first", "recall_5"), figure("must", "recall_100")), (1.0, 0.75), "{whole}");
    assert_eq!(whole["scores"]["recall_10"]["mean"], json!(0.75), "{whole}");
    assert!(figure("first", "mrr_100") > 0.5 && figure("must", "mrr_100") > 0.5, "{whole}");
    assert!(set["arms"][1]["definitions_difference"]["must"]["recall_5"]["mean"].is_number(), "{set}");
    let output = live.bench(&args).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let row = |start: &str| out.lines().any(|line| line.starts_with(start));
    assert!(row(&format!("me+shop      hybrid  first{:>15}  100.0", 2)), "{out}");
    assert!(row(&format!("me+shop      hybrid  must read{:>11}  ", 2)), "{out}");
    assert!(row("1 question without an answer was not asked"), "{out}");
}

#[test]
fn candidates_have_signals_tokens_and_the_answers_that_they_are() {
    let (live, file) = asked();
    let to = live.sandbox.path("candidates.jsonl");
    let (exit, told) = bench(&live, &["candidates", &file, "--out", to.to_str().unwrap()]);
    assert_eq!((exit, &told["questions"]), (0, &json!(3)), "{told}");
    let text = fs::read_to_string(&to).unwrap();
    assert_eq!(told["bytes"], json!(text.len()));
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_type = |name: &str| rows.iter().filter(|row| row["type"] == name).collect::<Vec<_>>();
    let header = &rows[0];
    assert_eq!(
        (&header["type"], &header["repository"], &header["commit"]),
        (&json!("header"), &json!("me/shop"), &json!("12ab"))
    );
    let (chunks, questions) = (of_type("chunk"), of_type("question"));
    assert_eq!((json!(chunks.len()), questions.len()), (told["chunks"].clone(), 3));
    assert!((0..).zip(&chunks).all(|(id, chunk)| chunk["id"] == json!(id)), "numbered as they come");
    let first = &questions[0];
    assert_eq!((&first["kind"], &first["answers"][1]["must"]), (&json!("short"), &json!(false)));
    let best = &first["candidates"][0];
    assert_eq!(best["answers"], json!([0]), "{first}");
    assert!(best["signals"]["bm25"][0] == json!(1) && best["signals"]["maxsim"][1].is_number(), "{best}");
    assert!(best["fused"].is_number() && best["factors"].is_object(), "{best}");
    let chunk = chunks[best["chunk"].as_u64().unwrap() as usize];
    assert_eq!(
        (&chunk["path"], &chunk["kind"], &chunk["symbol"]),
        (&json!("src/token.rs"), &json!("symbol"), &json!("verify"))
    );
    let tokens = |row: &Value, key: &str| row[key].as_array().unwrap().clone();
    let head = tokens(chunk, "head_tokens");
    assert!(head.len() == 1 && tokens(chunk, "body_tokens").contains(&head[0]), "{chunk}");
    assert!(
        tokens(first, "tokens").iter().any(|token| tokens(chunk, "body_tokens").contains(token)),
        "{chunk}"
    );
    assert!(questions[2]["answers"] == json!([]) && questions[2]["candidates"].is_array(), "{text}");
    assert_eq!(live.git(&["status", "--porcelain", "--ignored"]), "", "nothing is written to the worktree");
}

#[test]
fn what_no_candidates_can_be_written_of_is_said() {
    let (live, file) = asked();
    let check = |file: &str, to: &str, expected: &str| {
        let output = live.bench(&["candidates", file, "--out", to]).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && told.contains(expected), "{told}");
    };
    let inside = live.root().join("candidates.jsonl").display().to_string();
    check(&file, &inside, "is inside the worktree that is searched");
    let outside = live.sandbox.path("candidates.jsonl").display().to_string();
    let own = live.sandbox.path("own.jsonl");
    fs::write(&own, "{\"query\": \"q\", \"relevant\": [\"a.rs\"]}\n").unwrap();
    check(own.to_str().unwrap(), &outside, "no question names definitions");
    fs::write(&own, "{\"query\": \"q\", \"answers\": []}\n").unwrap();
    let output = live.bench(&["quality", own.to_str().unwrap()]).output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains("no question has an answer"));
    assert!(!live.sandbox.path("candidates.jsonl").exists());
}
