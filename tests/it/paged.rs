//! Does a long answer go through a pager on a terminal, and only there?

use std::fmt::Write as _;

use crate::live::{Live, not_checked, until};
use crate::terminal::Terminal;

const MEMO: &str = env!("CARGO_BIN_EXE_memo");
const N_LINES: usize = 60;

/// A file that is longer than the terminal of [`shown`], and one that is not.
fn repository() -> Live {
    let live = Live::new();
    let mut text = String::new();
    for number in 1..=N_LINES {
        writeln!(text, "word number {number} of the text.").unwrap();
    }
    live.write("long.txt", text);
    live.write("short.txt", "one line of the text.\n");
    live.commit_all();
    live
}

/// Returns what a terminal of 20 rows shows of a line for the shell; `None` where there is no `script`.
fn shown(live: &Live, line: &str) -> Option<String> {
    let mut terminal = match Terminal::run(live, &format!("stty rows 20; {line}; echo END-$?")) {
        Ok(terminal) => terminal,
        Err(error) => {
            not_checked(&format!("memo show at a terminal: script: {error}"));
            return None;
        }
    };
    terminal.end();
    Some(terminal.shown().replace('\r', ""))
}

#[test]
fn a_long_answer_goes_through_the_pager_that_is_set() {
    let live = repository();
    let check = |line: &str, is_paged: bool| {
        let Some(text) = shown(&live, line) else { return };
        assert_eq!(text.contains("PAGED:"), is_paged, "{line}: {text}");
        assert!(text.ends_with("END-0\n"), "{line}: {text}");
        let n_lines = text.matches("of the text.").count();
        assert_eq!(n_lines, if line.contains("short.txt") { 1 } else { N_LINES }, "{line}: {text}");
    };
    let paged = "MEMO_PAGER='sed s/^/PAGED:/'";
    check(&format!("{paged} {MEMO} show long.txt"), true);
    check(&format!("{paged} {MEMO} show short.txt"), false);
    check(&format!("{paged} {MEMO} --no-pager show long.txt"), false);
    check(&format!("{paged} {MEMO} show long.txt | cat"), false);
    check(&format!("{paged} {MEMO} show long.txt --json"), false);
    check(&format!("MEMO_PAGER= PAGER='sed s/^/PAGED:/' {MEMO} show long.txt"), false);
    check(&format!("GIT_PAGER='sed s/^/PAGED:/' {MEMO} show long.txt"), true);
    check(&format!("PAGER='sed s/^/PAGED:/' {MEMO} show long.txt"), true);
    live.git(&["config", "--global", "core.pager", "sed s/^/PAGED:/"]);
    check(&format!("PAGER=cat {MEMO} show long.txt"), true);
    check(&format!("MEMO_UI_PAGER=off {MEMO} show long.txt"), false);
    check(&format!("MEMO_PAGER=no-such-pager {MEMO} show long.txt"), false);
    live.git(&["config", "core.pager", "sed s/^/OF-REPOSITORY:/"]);
    let Some(text) = shown(&live, &format!("{MEMO} show long.txt")) else { return };
    assert!(!text.contains("OF-REPOSITORY:"), "a repository may have come with an archive: {text}");
    assert!(
        live.memo(&["config", "set", "ui.pager", "less"]).output().unwrap().status.code() != Some(0),
        "as here"
    );
}

#[test]
fn a_pager_that_cannot_run_costs_no_line() {
    let live = repository();
    const N_LONG: usize = 6_000; // more than a pipe holds
    live.write("longer.txt", "one more of the text.\n".repeat(N_LONG));
    let denied = live.sandbox.path("denied");
    std::fs::write(&denied, "#!/bin/sh\n").unwrap();
    for pager in ["no-such-pager", denied.to_str().unwrap(), "exec <&-; no-such-pager"] {
        let Some(text) = shown(&live, &format!("MEMO_PAGER='{pager}' {MEMO} show longer.txt")) else {
            return;
        };
        assert_eq!(text.matches("of the text.").count(), N_LONG, "{pager}");
        assert!(text.ends_with("END-0\n"), "{pager}");
    }
}

#[test]
fn a_reader_may_leave_early() {
    let live = repository();
    let Some(text) = shown(&live, &format!("MEMO_PAGER='head -n 1' {MEMO} show long.txt")) else { return };
    assert!(text.ends_with("END-0\n") && text.matches("of the text.").count() <= 1, "{text}");
    if !live.sandbox.has_program("less") {
        return not_checked("a pager that is left at the first page: less is not installed");
    }
    let mut terminal =
        Terminal::run(&live, &format!("stty rows 20; MEMO_PAGER=less {MEMO} show long.txt")).unwrap();
    terminal.after("word number 9 of the text.", "q");
    assert_eq!(terminal.end(), Some(0));
    assert!(!terminal.shown().contains("word number 40 "), "{}", terminal.shown());
}

#[test]
fn what_is_said_comes_after_the_pager() {
    let live = repository();
    let line = format!(
        "MEMO_PAGER='sed s/^/PAGED:/; echo LEFT' {MEMO} search 'word' --full --path long.txt --path none.txt"
    );
    let Some(text) = shown(&live, &line) else { return };
    let (paged, said) = text.split_once("LEFT\n").unwrap_or_else(|| panic!("{text}"));
    assert!(paged.contains("PAGED:") && !paged.contains("memo: "), "{text}");
    assert!(said.contains("path none.txt: no indexed file matches") && said.ends_with("END-0\n"), "{text}");
}

#[test]
fn what_has_no_end_has_no_pager() {
    let live = repository();
    let line =
        format!("stty rows 2; MEMO_PAGER='sed s/^/PAGED:/' env --default-signal=INT {MEMO} logs --follow");
    let mut terminal = match Terminal::run(&live, &line) {
        Ok(terminal) => terminal,
        Err(error) => return not_checked(&format!("memo daemon logs at a terminal: script: {error}")),
    };
    until("more lines than the terminal has", || {
        terminal.shown().matches("migrated to version").count() == 2
    });
    assert!(!terminal.shown().contains("PAGED:"), "{}", terminal.shown());
    terminal.after("migrated to version", "\u{3}");
    assert_ne!(terminal.end(), Some(0), "Ctrl-C ends it");
}
