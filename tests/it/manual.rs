//! Are the manual pages shown and written?

use crate::live::{Live, not_checked};
use crate::sandbox::Sandbox;
use crate::terminal::Terminal;

#[test]
fn pages_are_printed_and_written() {
    let sandbox = Sandbox::new();
    let shown = |args: &[&str]| sandbox.show(&mut sandbox.memo(args));
    assert!(shown(&["man", "search"]).contains(".TH memo-search 1"), "{}", shown(&["man", "search"]));
    assert!(shown(&["man", "config", "set"]).contains(".TH memo-config-set 1"));
    assert!(shown(&["man"]).contains(".TH memo 1"));
    let written = shown(&["man", "--to", "pages"]);
    assert!(written.starts_with("exit 0\nout: pages/memo.1\n"), "{written}");
    assert!(sandbox.path("work/pages/memo-config-set.1").is_file());
    let wrong = shown(&["man", "serch"]);
    assert!(wrong.starts_with("exit 2\nerr: memo: serch: memo has no such verb\n"), "{wrong}");
    assert!(!sandbox.path("work/serch").exists());
}

#[test]
fn a_terminal_shows_the_page() {
    let live = Live::idle();
    match Terminal::open(&live, "man search") {
        // By `man`, or else the help.
        Ok(mut terminal) => {
            terminal.after("Search documents", "q");
            assert_eq!(terminal.end(), Some(0));
        }
        Err(error) => not_checked(&format!("memo man at a terminal: script: {error}")),
    }
}
