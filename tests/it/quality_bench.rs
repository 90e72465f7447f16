//! Does `memod bench quality` measure what the daemon answers, and change nothing?

use std::fs;
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Value, json};

use crate::live::{Live, bench};

const TOKEN: &str = "//! Signs tokens.\n\npub fn sign(token: &str) -> u64 {\n    token.len() as u64\n}\n\n\
                     pub fn verify(token: &str, signature: u64) -> bool {\n    sign(token) == signature\n}\n";
const GUIDE: &str = "# Guide\n\nRead this first.\n\n## Set up\n\nInstall the compiler and a badger.\n\n## Expiry\n\n\
                     A session ends after 24 hours.\n";

/// Returns a repository, and writes questions beside it: a file, lines, a section, and what is not there.
fn asked() -> (Live, String) {
    let live = Live::idle();
    live.write("src/token.rs", TOKEN);
    live.write("src/config.rs", "pub fn read_config() -> String {\n    String::from(\"depth = 3\")\n}\n");
    live.write("docs/guide.md", GUIDE);
    live.commit_all();
    let questions = [
        json!({ "qid": "file", "query": "where is the configuration read", "relevant": ["src/config.rs"] }),
        json!({ "qid": "lines", "query": "verify a token's signature", "relevant": ["src/token.rs#L7-L9"] }),
        json!({ "qid": "section", "query": "install the compiler", "relevant": ["docs/guide.md#set-up"] }),
        json!({ "qid": "gone", "query": "session ends", "relevant": ["docs/guide.md#expiry", "docs/old.md", "docs/guide.md#no"] }),
    ];
    let file = live.sandbox.path("questions.jsonl");
    fs::write(&file, questions.map(|question| format!("{question}\n")).concat()).unwrap();
    (live, file.display().to_string())
}

fn near(value: &Value, expected: f64) -> bool {
    (value.as_f64().unwrap() - expected).abs() < 1e-9
}

#[test]
fn questions_of_ones_own_are_measured_in_the_current_worktree() {
    let (live, file) = asked();
    let runs = live.sandbox.path("runs");
    let args = ["quality", &file, "--leave-out", "path,knn", "--runs", runs.to_str().unwrap()];
    fs::create_dir_all(runs.join("hybrid")).unwrap();
    fs::write(runs.join("hybrid/questions.run"), "of another run\n").unwrap();
    let (exit, report) = bench(&live, &args);
    assert_eq!(exit, 0, "{report}");
    let lean = live.bench(&args).arg("--json").current_dir(live.root()).output().unwrap();
    let lean: Value = serde_json::from_slice(&lean.stdout).unwrap();
    assert_eq!(lean["sets"][0]["arms"][1]["without"], json!("path"), "figures are never left out: {lean}");
    let set = &report["sets"][0];
    assert_eq!(
        (&set["set"], &set["missing"]),
        (&json!("questions"), &json!(["docs/guide.md#no", "docs/old.md"]))
    );
    let arms: Vec<(&Value, &Value, usize)> = set["arms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|arm| (&arm["mode"], &arm["without"], arm["questions"].as_u64().unwrap() as usize))
        .collect();
    let hybrid = json!("hybrid");
    assert_eq!(arms, [(&hybrid, &Value::Null, 4), (&hybrid, &json!("path"), 4), (&hybrid, &json!("knn"), 4)]);
    let whole = &set["arms"][0];
    // All that is there is found: of the three answers to the last question, one.
    assert!(near(&whole["scores"]["recall_10"]["mean"], (3.0 + 1.0 / 3.0) / 4.0), "{whole}");
    assert!(whole["scores"]["mrr_10"]["mean"].as_f64() > Some(0.5), "{whole}");
    let interval = &whole["scores"]["ndcg_10"];
    assert!(
        interval["low"].as_f64() <= interval["mean"].as_f64() && interval["high"].as_f64() <= Some(1.0),
        "{whole}"
    );
    assert!(
        whole["p99_ms"].as_f64() >= whole["p50_ms"].as_f64() && whole["p50_ms"].as_f64() > Some(0.0),
        "{whole}"
    );
    assert!(
        set["arms"][1]["difference"]["ndcg_10"]["mean"].is_number() && whole["difference"].is_null(),
        "{set}"
    );
    let run = fs::read_to_string(runs.join("hybrid-without-path/questions.run")).unwrap();
    let whole_run = fs::read_to_string(runs.join("hybrid/questions.run")).unwrap();
    assert!(whole_run.starts_with("file\t1\t"), "{whole_run}");
    assert!(run.starts_with("file\t1\tsrc/config.rs#L1-L3\t"), "{run}");
    let (_, again) = bench(&live, &args);
    assert_eq!(again["sets"][0]["arms"][0]["scores"], whole["scores"], "intervals are the same each time");
    assert_eq!(live.git(&["status", "--porcelain", "--ignored"]), "", "nothing is written to the worktree");
}

#[test]
fn the_table_has_a_line_for_each_mode_and_each_part() {
    let (live, file) = asked();
    let output =
        live.bench(&["quality", &file, "--modes", "hybrid,keyword", "--leave-out"]).output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].contains("questions  ") && lines[0].ends_with("p50 ms  p99 ms"), "{out}");
    assert!(
        lines[1].starts_with("questions  hybrid ") && lines[2].starts_with("questions  keyword "),
        "{out}"
    );
    assert!(
        out.contains("\ndifference to the whole") && out.contains("\nhybrid: no question changes without "),
        "{out}"
    );
    let unchanged = lines.iter().find(|line| line.starts_with("keyword: no question changes without "));
    assert!(unchanged.is_some_and(|line| line.contains(" knn, ") && line.contains(" lock, ")), "{out}");
    let said =
        "questions: 2 answers are not in the tree and counted as missed: docs/guide.md#no, docs/old.md";
    assert!(err.contains(said), "{err}");
}

#[test]
fn the_file_of_the_questions_answers_none_of_them() {
    let (live, file) = asked();
    fs::copy(&file, live.root().join("queries.jsonl")).unwrap();
    let (exit, report) = bench(&live, &["quality", "."]);
    assert_eq!((exit, &report["sets"][0]["set"]), (0, &json!("work")), "{report}");
    // It would come before each answer.
    assert!(report["sets"][0]["arms"][0]["scores"]["mrr_10"]["mean"].as_f64() > Some(0.5), "{report}");
}

/// Writes a suite of sets of three kinds and their trees.
fn suite(live: &Live) {
    let top = live.sandbox.path("eval");
    let write = |name: &str, lines: &[Value]| {
        let file = top.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    };
    write("code/queries.jsonl", &[json!({ "query": "verify a token", "relevant": ["src/token.rs"] })]);
    fs::write(top.join("code/files.txt"), "src/token.rs\n").unwrap();
    let section = |id: &str, line: u32| json!({ "id": id, "path": "guide.md", "start_line": line });
    write(
        "docs/corpus.jsonl",
        &[section("guide.md", 1), section("guide.md#set-up", 5), section("guide.md#expiry", 9)],
    );
    write(
        "docs/queries.jsonl",
        &[json!({ "query": "session ends", "relevant": ["guide.md#expiry"], "exclude": ["guide.md"] })],
    );
    let text = |id: &str, haystack: &str| json!({ "id": id, "haystack": haystack });
    write("talk/corpus.jsonl", &[text("one:1", "one"), text("two:1", "two")]);
    write(
        "talk/queries.jsonl",
        &[json!({ "query": "what did Kim eat", "relevant": ["two:1"], "haystack": "two" })],
    );
    write("gone/queries.jsonl", &[json!({ "query": "anything", "relevant": ["a"] })]);
    write("gone/manifest.json", &[json!({ "repo": "me/gone", "commit": "12ab" })]);
    let tree = |set: &str, files: &[(&str, &str)]| {
        let dir = live.sandbox.path("trees").join(set);
        for (name, text) in files {
            fs::create_dir_all(dir.join(name).parent().unwrap()).unwrap();
            fs::write(dir.join(name), text).unwrap();
        }
        live.git_in(&dir, &["init", "-q"]);
        live.git_in(&dir, &["add", "-A"]);
        live.git_in(&dir, &["commit", "-q", "-m", "snapshot"]);
    };
    tree(
        "eval/code",
        &[("src/token.rs", TOKEN), ("src/other.rs", "/// Verifies a token.\npub fn verify_token() {}\n")],
    );
    tree("docs", &[("guide.md", GUIDE)]);
    tree("eval/talk", &[("one/one_1.md", "Kim: I ate soup\n"), ("two/two_1.md", "Kim: I ate bread\n")]);
}

#[cfg(unix)]
#[test]
fn each_set_is_asked_in_its_own_tree_and_a_missing_one_is_named() {
    let live = Live::idle();
    suite(&live);
    let (eval, trees) = (live.sandbox.path("eval"), live.sandbox.path("trees"));
    let args = ["quality", eval.to_str().unwrap(), "--trees", trees.to_str().unwrap()];
    let (exit, report) = bench(&live, &args);
    assert_eq!(exit, 2, "{report}");
    let sets: Vec<&Value> = report["sets"].as_array().unwrap().iter().map(|set| &set["set"]).collect();
    assert_eq!(sets, ["code", "docs", "talk"]);
    for set in report["sets"].as_array().unwrap() {
        assert!(near(&set["arms"][0]["scores"]["ndcg_10"]["mean"], 1.0), "{set}");
        assert_eq!(set["missing"], json!([]));
        let state = Path::new(set["root"].as_str().unwrap()).join(".git/memo");
        let endpoint: Value = serde_json::from_slice(&fs::read(state.join("endpoint")).unwrap()).unwrap();
        let socket = endpoint["socket"].as_str().unwrap();
        assert!(UnixStream::connect(socket).is_err(), "the daemon of {} is stopped", state.display());
    }
    assert!(near(&report["mean"][0]["scores"]["ndcg_10"]["mean"], 1.0), "{report}");
    let failed = &report["failed"][0];
    assert!(
        failed["set"] == "gone"
            && failed["error"]
                .as_str()
                .unwrap()
                .starts_with("no worktree for the set gone (me/gone at 12ab): "),
        "{failed}"
    );
    let told = live.bench(&args[..2]).output().unwrap();
    let told = String::from_utf8(told.stderr).unwrap();
    assert!(told.contains("a worktree of its own") && told.contains("--trees DIR"), "{told}");
}

#[test]
fn hits_count_one_by_one_where_a_suite_has_annotations() {
    let live = Live::idle();
    suite(&live);
    let folder = live.sandbox.path("lines/annotations");
    fs::create_dir_all(&folder).unwrap();
    let span = json!({ "path": "token.rs", "start_line": 7, "end_line": 9 });
    let question = json!({ "qid": "q", "query": "verify a token", "relevant": [span], "secondary": ["src/other.rs", "gone.rs"] });
    fs::write(folder.join("code.jsonl"), question.to_string()).unwrap();
    let (lines, trees) = (live.sandbox.path("lines"), live.sandbox.path("trees/eval"));
    let runs = live.sandbox.path("runs");
    let [lines, trees, to] = [&lines, &trees, &runs].map(|path| path.to_str().unwrap());
    let (exit, report) = bench(&live, &["quality", lines, "--trees", trees, "--runs", to]);
    assert_eq!(exit, 0, "{report}");
    assert!(near(&report["sets"][0]["arms"][0]["scores"]["recall_10"]["mean"], 2.0 / 3.0), "{report}");
    assert_eq!(report["sets"][0]["missing"], json!(["gone.rs"]), "an answer may be the end of a path");
    let run = fs::read_to_string(runs.join("hybrid/lines.run")).unwrap();
    assert!(
        run.lines().any(|row| row.starts_with("code\tq\t") && row.ends_with("\tsrc/token.rs\t7\t9")),
        "{run}"
    );
}

#[test]
fn what_is_wrong_with_a_set_is_said() {
    let live = Live::idle();
    let check = |text: &str, words: &[&str], expected: &str| {
        let file = live.sandbox.path("questions.jsonl");
        fs::write(&file, text).unwrap();
        let output = live.bench(&["quality", file.to_str().unwrap()]).args(words).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && told.contains(expected), "{told}");
    };
    check("{\"query\": \"q\"}\n", &[], "questions.jsonl:1: no \"relevant\"");
    check("\n{\"query\": 1}\n", &[], "questions.jsonl:2:11: invalid type: integer `1`, expected a string");
    check("", &[], "no questions in it");
    let fine = "{\"query\": \"q\", \"relevant\": [\"a.rs\"]}\n";
    let inside = live.root().join("new/runs").display().to_string();
    check(fine, &["--runs", &inside], "is inside the worktree that is searched");
    assert!(!live.root().join("new").exists());
    check(
        &fine.replace("a.rs", "a.rs#L9-L3"),
        &[],
        "questions.jsonl:1: the lines of an answer end before they begin",
    );
    check(&fine.replace("{", "{\"qid\": \"a\\tb\", "), &[], "its \"qid\" has a control character");
    check(
        "",
        &["--leave-out", "words"],
        "words: not a part of the ranking; the parts are bm25, path, symbol",
    );
    let told = live.bench(&["quality", "nowhere"]).output().unwrap();
    let (exit, told) = (told.status.code(), String::from_utf8(told.stderr).unwrap());
    assert!(exit == Some(2) && told.contains("nowhere") && told.contains("typing error"), "{told}");
}

#[test]
fn memo_names_the_program_that_measures() {
    let live = Live::idle();
    let output = live.memo(&["bench", "quality", "questions.jsonl"]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(told.contains("\"bench quality questions.jsonl\" is no verb"), "{told}");
    assert!(told.contains("hint: memod bench measures answers"), "{told}");
}

#[test]
fn a_part_of_the_ranking_is_left_out_on_request() {
    let (live, _) = asked();
    live.start();
    let factors = |without: &[&str]| {
        let params = json!({ "query": "verify", "sync": "full", "explain": true, "without": without });
        let found = live.call("search", params);
        let explain = found["hits"][0]["explain"].clone();
        let names = explain["factors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|factor| factor["name"].as_str().unwrap().to_owned());
        (names.collect::<Vec<_>>(), explain["fused"].as_f64().unwrap())
    };
    let (whole, fused) = factors(&[]);
    let (without, same) = factors(&["definition"]);
    assert!(
        whole.contains(&"definition".to_owned()) && !without.contains(&"definition".to_owned()),
        "{whole:?}"
    );
    assert!((fused - same).abs() < 1e-9, "a factor changes no signal");
    let params = json!({ "cwd": live.root(), "query": "verify", "without": ["words"] });
    let told = live.rpc().call("search", &params).unwrap_err().to_string();
    assert!(told.contains("without") && told.contains("bm25, path, symbol"), "{told}");
}

#[cfg(unix)]
#[test]
fn an_answer_that_the_index_cannot_have_is_missing() {
    let (live, file) = asked();
    live.write(".gitignore", "own.md\n");
    live.write("own.md", "# Own\n");
    std::os::unix::fs::symlink("/dev/zero", live.root().join("zero.md")).unwrap();
    let labels =
        json!({ "query": "own", "relevant": ["own.md", "own.md#own", "zero.md#own", "./docs/guide.md"] });
    fs::write(&file, format!("{labels}\n")).unwrap();
    let (exit, report) = bench(&live, &["quality", &file, "--modes", "keyword,keyword"]);
    assert_eq!(exit, 0, "{report}");
    let set = &report["sets"][0];
    assert_eq!(set["missing"], json!(["own.md", "own.md#own", "zero.md#own"]));
    assert_eq!(set["arms"].as_array().unwrap().len(), 1, "a mode counts once");
}
