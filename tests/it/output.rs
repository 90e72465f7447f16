//! Do programs read what the verbs print, in every format?

use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::live::Live;

/// Each with what it lists.
const VERBS: &[(&str, &str, &str)] = &[
    ("list", "memories", "content"),
    ("get mem_0", "memories", "content"),
    ("search --kind doc --sync full zebra", "hits", "snippet"),
    ("tags", "names", "name"),
    ("containers", "names", "name"),
    ("history mem_0", "changes", "action"),
    ("changed --since 1d", "files", "path"),
    ("why zoo.md", "commits", "subject"),
];

const NASTY: &str = "zebra, \"quoted\" | pipe <tag> & \u{1b}[2J\nsecond \\ line \u{202e} 🦓";

fn zoo() -> Live {
    let live = Live::new();
    live.write("zoo.md", "# Zoo\n\nA zebra, \"striped\" | <b>black</b> & white.\n");
    live.git(&["add", "."]);
    live.git(&["commit", "-qm", "Let the zebra in"]);
    assert!(live.memo(&["add", "--tag", "animal", "--", NASTY]).output().unwrap().status.success());
    live
}

fn run(live: &Live, verb: &str, more: &[&str]) -> Output {
    let args: Vec<_> = verb.split(' ').chain(more.iter().copied()).collect();
    let output = live.memo(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    output
}

fn printed(live: &Live, verb: &str, more: &[&str]) -> String {
    String::from_utf8(run(live, verb, more).stdout).unwrap()
}

#[test]
fn every_list_is_read_back_from_every_format() {
    let live = zoo();
    for (verb, rows, field) in VERBS {
        let json: Value = serde_json::from_str(&printed(&live, verb, &["--format", "json"])).unwrap();
        let expected: Vec<_> = json[rows].as_array().unwrap().iter().map(|row| row[field].clone()).collect();
        assert_eq!(expected.len(), 1, "{verb}: {json}");
        let expected = expected[0].as_str().unwrap();

        let lines = printed(&live, verb, &["--format", "jsonl"]);
        let row: Value = serde_json::from_str(lines.trim_end()).unwrap();
        assert_eq!(row[field], expected, "{verb}");

        let text = printed(&live, verb, &["--format", "csv"]);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let at = reader.headers().unwrap().iter().position(|name| name == *field).unwrap();
        let records: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!((records.len(), &records[0][at]), (1, expected), "{verb}");

        let text = printed(&live, verb, &["--format", "xml"]);
        let document = roxmltree::Document::parse(&text).unwrap();
        let element = document.descendants().find(|node| node.has_tag_name(*field)).unwrap();
        let shown = element.text().unwrap().replace("\\u{1b}", "\u{1b}");
        assert_eq!((document.root_element().tag_name().name(), shown.as_str()), (*rows, expected), "{verb}");

        let toon = printed(&live, verb, &["--format", "toon"]);
        let header = toon.lines().nth(1).unwrap();
        assert!(header.starts_with(&format!("{rows}[")) && header.ends_with("]:"), "{verb}: {toon}");
        assert_eq!(toon.lines().count(), 3, "{verb}: {toon}");
        let compact = printed(&live, verb, &["--format", "toon-compact"]);
        assert!(compact.len() <= toon.len(), "{verb}: {compact}");

        let table = printed(&live, verb, &["--format", "md"]);
        assert_eq!(table.lines().count(), 3, "{verb}: {table}");

        let column = printed(&live, verb, &["--fields", field]);
        assert_eq!(column.lines().count(), 1, "{verb}: {column}");
        assert!(!column.trim_end().contains(char::is_control), "{verb}: {column}");
    }
}

#[test]
fn json_is_lean_unless_all_is_asked_for() {
    let live = zoo();
    let keys = |line: &str| -> (Value, Vec<String>) {
        let answer: Value = serde_json::from_str(&printed(&live, line, &["zebra"])).unwrap();
        let hit = answer["hits"][0].as_object().unwrap_or_else(|| panic!("{line}: {answer}")).clone();
        (answer, hit.keys().cloned().collect())
    };
    let search = "search --kind doc --sync full --wait-ms 60000";
    let full = keys(&format!("{search} --json=full"));
    // `--json` takes no word after it, and stands before the verb, too.
    for line in [&format!("{search} --json"), &format!("--json {search}"), &format!("{search} --format json")]
    {
        let (answer, hit) = keys(line);
        let expected = "kind lines path rank score snippet snippet_line title trust";
        assert_eq!(hit.join(" "), expected, "{line}: {answer}");
        assert_eq!((&answer["hits"][0]["rank"], &answer["fresh"]), (&1.into(), &true.into()), "{line}");
        for key in hit.iter().filter(|key| *key != "score") {
            assert_eq!(answer["hits"][0][key], full.0["hits"][0][key], "{key}");
        }
        assert!(answer["clock"].is_null() && answer["took_ms"].is_null(), "{line}: {answer}");
    }
    for key in ["arms", "blob", "classes", "state", "view"] {
        assert!(full.1.iter().any(|known| known == key), "{key}: {full:?}");
    }
    assert!(full.0["clock"].is_string() && full.0["took_ms"].is_number(), "{full:?}");
    let memory: Value = serde_json::from_str(&printed(&live, "get mem_0", &["--json"])).unwrap();
    let shown = memory["memories"][0].as_object().unwrap();
    assert!(shown.values().all(|value| !value.is_null()) && !shown.contains_key("key"), "{memory}");
}

#[test]
fn a_terminal_shows_priority_and_tier_in_colours() {
    let live = Live::new();
    let add = ["add", "--priority", "8", "--tier", "short", "alpha"];
    assert!(live.memo(&add).output().unwrap().status.success());
    let (green, red) = ("\u{1b}[32m████████░░\u{1b}[0m", "\u{1b}[1m\u{1b}[31mshort");
    for verb in ["list", "get mem_0"] {
        let coloured = printed(&live, verb, &["--color", "always"]);
        assert!(coloured.contains(green) && coloured.contains(red), "{coloured:?}");
        let plain = printed(&live, verb, &[]);
        assert!(!plain.contains(['\u{1b}', '█']), "{plain:?}");
    }
    assert!(printed(&live, "list", &[]).contains("  p8  project  alpha"));
}

#[test]
fn python_reads_it_too() {
    let live = zoo();
    let script = "import csv, io, json, sys, xml.etree.ElementTree as tree\n\
        texts = [open(name, newline='', encoding='utf-8').read() for name in sys.argv[1:]]\n\
        a = [json.loads(line)['content'] for line in texts[0].splitlines()]\n\
        b = [row['content'] for row in csv.DictReader(io.StringIO(texts[1], newline=''))]\n\
        c = [e.text.replace('\\\\u{1b}', '\\x1b') for e in tree.fromstring(texts[2].encode()).iter('content')]\n\
        assert a == b == c and len(a) == 1, (a, b, c)\n";
    let files = ["jsonl", "csv", "xml"].map(|format| {
        let path = live.sandbox.path(format);
        std::fs::write(&path, printed(&live, "list", &["--format", format])).unwrap();
        path.into_os_string().into_string().unwrap()
    });
    let mut args = vec!["-c", script];
    args.extend(files.iter().map(String::as_str));
    match live.sandbox.program("python3", &args).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => crate::live::not_checked(&format!("formats by python3: {error}")),
    }
}

#[test]
fn wrong_formats_and_fields_are_refused_before_anything_is_done() {
    let live = Live::idle(); // no daemon is started for them either
    let check = |line: &str, expected: &str| {
        let shown = live.sandbox.run(&line.split(' ').collect::<Vec<_>>());
        assert!(shown.starts_with(&format!("exit 2\n{expected}")), "{line}: {shown}");
    };
    check(
        "list --format yaml",
        "err: memo: invalid value 'yaml' for '--format <FORMAT>'\nerr: hint: did you mean xml? there are: text, json,",
    );
    check(
        "tags --fields nam",
        "err: memo: --fields: names have no field \"nam\"\nerr: hint: there are: name, memories\n",
    );
    check("tags --fields=", "err: memo: --fields: names have no field \"\"\n");
    check(
        "tags --format jsonl --fields x",
        "out: {\"error\":{\"code\":\"usage\",\"message\":\"--fields: names",
    );
    check(
        "tags --format=json --nonsense",
        "out: {\"error\":{\"code\":\"usage\",\"message\":\"unexpected argument",
    );
    check(
        "list --json --format csv",
        "out: {\"error\":{\"code\":\"usage\",\"message\":\"the argument '--json[=<FORM>]' cannot",
    );
    check(
        "list --json=all",
        "out: {\"error\":{\"code\":\"usage\",\"message\":\"invalid value 'all' for '--json[=<FORM>]'",
    );
    check("stop --format csv", "err: memo: unexpected argument '--format' found");
}

#[test]
fn whoever_has_read_enough_may_go() {
    let live = Live::new();
    let long = "x".repeat(60_000);
    for nth in 0..10 {
        let text = format!("{nth} {long}");
        assert!(live.memo(&["add", &text]).output().unwrap().status.success());
    }
    for format in ["text", "json", "jsonl", "csv", "md", "xml", "toon"] {
        let mut command = live.memo(&["list", "--all", "--format", format, "--fields", "content,id"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0; 1];
        let mut stdout = BufReader::with_capacity(1, child.stdout.take().unwrap());
        std::io::Read::read_exact(&mut stdout, &mut first).unwrap();
        drop(stdout);
        let talk: Vec<_> = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap).collect();
        assert_eq!((child.wait().unwrap().code(), talk), (Some(0), Vec::new()), "{format}");
    }
}
