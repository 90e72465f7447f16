//! Are the manual pages shown and written?

use crate::live::{Live, not_checked, until};
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
    let dir = live.sandbox.path("bin");
    std::fs::create_dir(&dir).unwrap();
    let man = dir.join("man");
    // Only this program shows a page; the help is no page.
    for (script, shown) in [("cat \"$2\"", ".TH memo-search 1"), ("exit 1", "Usage: memo search")] {
        std::fs::write(&man, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&man, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let line =
            format!("PATH={}:$PATH {} --no-pager man search", dir.display(), env!("CARGO_BIN_EXE_memo"));
        match Terminal::run(&live, &line) {
            Ok(mut terminal) => {
                assert_eq!(terminal.end(), Some(0));
                until(shown, || terminal.shown().contains(shown));
                assert_eq!(terminal.shown().contains(".TH"), shown.starts_with(".TH"), "{script}");
            }
            Err(error) => return not_checked(&format!("memo man at a terminal: script: {error}")),
        }
    }
}
