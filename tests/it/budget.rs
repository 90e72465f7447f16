//! Does `memo search --budget` print what fits, and say what does not?

use serde_json::Value;

use crate::live::{Live, not_checked, until};
#[cfg(unix)]
use crate::terminal::Terminal;

const BODY: usize = 12;

fn repository() -> Live {
    let live = Live::new();
    for nth in 0..8 {
        let body: String = (0..BODY).map(|line| format!("    lease.step_{line}({nth});\n")).collect();
        live.write(
            &format!("src/f{nth}.rs"),
            format!("/// Renews {nth}.\npub fn renew_{nth}() {{\n{body}}}\n"),
        );
    }
    live
}

/// Returns what a search prints on stdout and stderr, and its exit status.
fn search(live: &Live, args: &[&str]) -> (String, String, i32) {
    let fixed = ["search", "renew lease", "--kind", "symbol", "--sync", "full", "--wait-ms", "60000"];
    let output = live.memo(&[&fixed[..], args].concat()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

#[test]
fn a_budget_holds_in_every_format() {
    let live = repository();
    for tokens in [120, 300, 1_000] {
        for format in ["text", "json", "jsonl", "csv", "md", "xml", "toon"] {
            let (out, said, _) = search(&live, &["--budget", &tokens.to_string(), "--format", format]);
            assert!(out.chars().count() <= tokens * 4, "{format}, {tokens}: {out}");
            assert!(!out.is_empty(), "{format}, {tokens}: {said}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_budget_holds_with_the_numbers_that_a_terminal_is_shown() {
    let live = repository();
    search(&live, &[]); // all of it is indexed
    for tokens in (60..140).step_by(5) {
        let line = format!(
            "{} --no-pager --color never search 'renew lease' --kind symbol --budget {tokens} 2>{}; echo END",
            env!("CARGO_BIN_EXE_memo"),
            live.sandbox.path("said").display()
        );
        match Terminal::run(&live, &line) {
            Ok(mut terminal) => {
                terminal.end();
                until("all is shown", || terminal.shown().contains("END"));
                let shown = terminal.shown().replace('\r', "").replace("END\n", "");
                assert!(
                    shown.chars().count() <= tokens * 4,
                    "{tokens}: {} in {shown}",
                    shown.chars().count()
                );
            }
            Err(error) => return not_checked(&format!("a budget at a terminal: script: {error}")),
        }
    }
}

#[test]
fn more_budget_shows_more_hits_and_then_whole_definitions() {
    let live = repository();
    let answer = |tokens: &str| -> (Vec<usize>, Value) {
        let (out, ..) = search(&live, &["--json", "--budget", tokens]);
        let answer: Value = serde_json::from_str(&out).unwrap();
        let lines = |hit: &Value| hit["snippet"].as_str().unwrap().lines().count();
        (answer["hits"].as_array().unwrap().iter().map(lines).collect(), answer["left_out"].clone())
    };
    let (few, left_out) = answer("300");
    assert!((1..8).contains(&few.len()), "{few:?}");
    assert_eq!(left_out, 8 - few.len(), "{few:?}");
    let (some, left_out) = answer("1000");
    assert_eq!((some.len(), &left_out), (8, &Value::Null), "{some:?}");
    let n_whole = some.iter().take_while(|lines| **lines == BODY + 3).count();
    assert!((1..8).contains(&n_whole), "the best are whole: {some:?}");
    assert_eq!(answer("10000").0, vec![BODY + 3; 8]);

    let (out, said, exit) = search(&live, &["--budget", "100"]);
    let n_shown = out.lines().filter(|line| line.starts_with("src/")).count();
    let n_left = 8 - n_shown;
    assert_eq!((said, exit), (format!("memo: {n_left} more hits do not fit into the budget\n"), 0), "{out}");
    let (out, said, exit) = search(&live, &["--budget", "1"]);
    let none = "memo: 8 more hits do not fit into the budget\n";
    assert_eq!((out.as_str(), said.as_str(), exit), ("", none, 1));
}
