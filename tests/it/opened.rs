//! Do `memo open` and `memo show` take the hit that was meant?

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::live::{Live, memo, not_checked};

fn repository() -> Live {
    let live = Live::new();
    live.write(
        "src/renew.rs",
        "/// A lease.\npub struct Lease;\n\n/// Ends it.\npub fn walrus() {\n    badger();\n}\n",
    );
    live.write("src/other.rs", "pub fn other() {}\n");
    live
}

fn search(live: &Live, args: &[&str]) {
    let output = live.memo(&[&["search", "--wait-ms=60000"][..], args].concat()).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
}

/// Opens with an editor that prints its arguments; returns what was printed, said, and the exit status.
fn open(live: &Live, target: &str) -> (String, String, i32) {
    let output = live.memo(&["open", target]).env("EDITOR", "echo -g").output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

#[test]
fn a_hit_of_the_last_search_is_opened_at_its_line() {
    let live = repository();
    let vim = live.sandbox.path("vim");
    std::fs::write(&vim, "#!/bin/sh\necho \"$@\"\n").unwrap();
    std::fs::set_permissions(&vim, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert!(open(&live, "1").1.contains("1: no search of this terminal in this repository yet"));
    search(&live, &["badger", "--kind", "symbol"]);
    let path = live.root().join("src/renew.rs");
    let output = live.memo(&["open", "1"]).env("VISUAL", &vim).env("EDITOR", "false").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("+6 {}\n", path.display()));
    let shown = live.memo(&["show", "1"]).output().unwrap();
    let text = String::from_utf8(shown.stdout).unwrap();
    let whole = "src/renew.rs:4-7\n  4  /// Ends it.\n  5  pub fn walrus() {\n  6      badger();\n  7  }\n";
    assert_eq!(text, whole);
    let none = live.memo(&["show", "9"]).output().unwrap();
    assert_eq!(none.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&none.stderr).contains("9: the last search of this terminal has 1 hit"),
        "{none:?}"
    );
    let opened = (format!("-g {}\n", path.display()), String::new(), 0);
    assert_eq!(open(&live, "1"), opened);
    // What editors read is no list of hits.
    search(&live, &["other", "--vimgrep"]);
    assert_eq!(open(&live, "1"), opened);

    // The file is private, and has no text.
    let dir = live.root().join(".git/memo/searches");
    let file = std::fs::read_dir(dir).unwrap().next().unwrap().unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let kept: Value = serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap();
    let place = json!({ "file": { "path": "src/renew.rs", "line": 6, "lines": [4, 7] } });
    assert_eq!(kept["places"][0], place);

    let later = SystemTime::now() + Duration::from_secs(60);
    std::fs::File::open(&path).unwrap().set_modified(later).unwrap();
    let (_, said, exit) = open(&live, "1");
    assert_eq!(
        (said.as_str(), exit),
        ("memo: src/renew.rs has changed since the search; line 6 may be a different one\n", 0)
    );
}

#[test]
fn a_hit_that_is_a_memory_is_shown_as_a_whole() {
    let live = repository();
    let (_, added) = memo(&live, &["add", "the walrus sleeps\nuntil noon"]);
    let id = added["memory"]["id"].as_str().unwrap_or_else(|| panic!("{added}"));
    search(&live, &["walrus noon", "--kind", "memory"]);
    let shown = live.sandbox.show(&mut live.memo(&["show", "1"]));
    assert_eq!(shown, live.sandbox.show(&mut live.memo(&["get", id])));
    assert!(shown.contains("until noon"), "{shown}");
    let (_, said, exit) = open(&live, "1");
    assert!(exit == 1 && said.contains("1: a memory"), "{said}");
}

#[test]
fn the_numbers_are_those_of_the_list_that_was_printed() {
    let live = repository();
    live.write("docs/a.md", "# A\n\nbadger one\n\n# B\n\nbadger two\n");
    search(&live, &["badger"]);
    let listed = live.memo(&["search", "--wait-ms=60000", "--files", "badger"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let paths: Vec<&str> = listed.lines().collect();
    assert_eq!(paths.len(), 2, "{listed}");
    for (number, path) in (1..).zip(&paths) {
        let file = live.root().join(path);
        assert_eq!(open(&live, &format!("{number}")).0, format!("-g {}\n", file.display()), "{listed}");
    }
    assert!(open(&live, "3").1.contains("the last search of this terminal has 2 hits"));
    // In JSON the hits are listed, as without the flag.
    search(&live, &["badger", "--files", "--json"]);
    assert_eq!(open(&live, "3").2, 0);
}

#[test]
fn what_has_come_into_the_place_of_a_hit_is_not_opened() {
    let live = repository();
    search(&live, &["badger", "--kind", "symbol"]);
    let (root, outside) = (live.root(), live.sandbox.path("outside"));
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("renew.rs"), "fn outside() {}\n").unwrap();
    let file = root.join("src/renew.rs");
    let refused = || {
        let (opened, said, exit) = open(&live, "1");
        assert_eq!((opened.as_str(), exit), ("", 1), "{said}");
        assert!(said.contains("src/renew.rs: not a regular file any more"), "{said}");
    };
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(outside.join("renew.rs"), &file).unwrap();
    refused();
    std::fs::remove_file(&file).unwrap();
    crate::sandbox::mkfifo(&file);
    refused();
    std::fs::rename(root.join("src"), root.join("moved")).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("src")).unwrap();
    refused();
}

#[test]
fn what_show_takes_is_opened_too() {
    let live = repository();
    let place = |target: &str| {
        let answer = live.memo(&["open", "--json", target]).env("EDITOR", "true").output().unwrap();
        let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
        (answer["path"].as_str().map(str::to_owned), answer["line"].as_u64())
    };
    let path = live.root().join("src/renew.rs").to_str().map(str::to_owned);
    for (target, line) in
        [("src/renew.rs", 1), ("src/renew.rs:6", 6), ("src/renew.rs#walrus", 4), ("walrus", 4)]
    {
        assert_eq!(place(target), (path.clone(), Some(line)), "{target}");
    }
}

#[test]
fn what_cannot_be_opened_is_explained() {
    let live = repository();
    let id = memo(&live, &["add", "a platypus swims"]).1["memory"]["id"].as_str().unwrap().to_owned();
    search(&live, &["platypus", "--kind", "memory"]);
    for (target, message) in [
        ("1", "1: a memory"),
        ("2", "2: the last search of this terminal has 1 hit"),
        ("0", "0: the last search of this terminal has 1 hit"),
        ("nothing_like_it", "nothing_like_it: no indexed file, and no definition of that name"),
    ] {
        let (_, said, exit) = open(&live, target);
        let first = said.lines().next().unwrap_or_default();
        assert_eq!((first, exit), (format!("memo: {message}").as_str(), 1), "{said}");
        assert!(said.contains("\nhint: "), "{said}");
    }
    assert!(open(&live, "1").1.contains(&id));
    let none = live.memo(&["open", "walrus"]).output().unwrap();
    let said = String::from_utf8(none.stderr).unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(said.starts_with("memo: no editor: neither VISUAL nor EDITOR is set\nhint: "), "{said}");
    let failed = live.memo(&["open", "walrus"]).env("EDITOR", "false").status().unwrap();
    assert_eq!(failed.code(), Some(3));
}

#[test]
fn each_terminal_has_its_own_last_search() {
    let live = repository();
    search(&live, &["badger", "--kind", "symbol"]);
    let mut elsewhere = live.sandbox.program("setsid", &["-w", env!("CARGO_BIN_EXE_memo"), "open", "1"]);
    match elsewhere.current_dir(live.root()).env("EDITOR", "echo").output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("1: no search of this terminal"), "{said}");
        }
        Err(error) => not_checked(&format!("another session, by setsid: {error}")),
    }
}

/// As for what `docker exec` starts: its session is led by a process of another namespace, and its number is 0.
#[test]
fn a_session_that_cannot_be_seen_is_one_too() {
    let live = repository();
    let unshare = ["--user", "--map-root-user", "--pid", "--fork", "--"];
    let inside = |args: &[&str]| {
        let program = [&unshare[..], &[env!("CARGO_BIN_EXE_memo")], args].concat();
        live.sandbox.program("unshare", &program).current_dir(live.root()).env("EDITOR", "echo -g").output()
    };
    match live.sandbox.program("unshare", &[&unshare[..], &["true"]].concat()).output() {
        Ok(output) if output.status.success() => {}
        refused => {
            // Not `not_checked`: hosts that build in containers allow no namespaces, and there every test has session 0.
            let said =
                format!("NOT CHECKED: a session led from outside the namespace: unshare: {refused:?}\n");
            std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes()).unwrap();
            return;
        }
    }
    let found = inside(&["search", "--wait-ms=60000", "badger", "--kind", "symbol"]).unwrap();
    assert!(found.status.success(), "{found:?}");
    let opened = inside(&["open", "1"]).unwrap();
    assert_eq!(
        opened.stdout,
        format!("-g {}\n", live.root().join("src/renew.rs").display()).as_bytes(),
        "{opened:?}"
    );
}

#[test]
fn paths_are_links_where_the_terminal_has_them() {
    let live = repository();
    let shown = |args: &[&str], forced: bool| {
        let mut command = live.memo(&[args, &["--wait-ms=60000"]].concat());
        if forced {
            command.env("FORCE_HYPERLINK", "1");
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let path = live.root().join("src/renew.rs");
    let (start, end) = ("\u{1b}]8;;file://", "\u{1b}]8;;\u{1b}\\");
    let link = format!("{}\u{1b}\\", path.display());
    let search = ["search", "badger", "--kind", "symbol"];
    for verb in [&search[..], &["show", "walrus"], &["search", "badger", "--files"]] {
        let text = shown(&[verb, &["--color", "always"]].concat(), true);
        assert!(text.contains(start) && text.contains(&link) && text.contains(end), "{verb:?}: {text:?}");
        let plain = shown(verb, true);
        assert!(!plain.contains('\u{1b}') && plain.contains("src/renew.rs"), "a pipe has none: {plain:?}");
        assert!(!shown(&[verb, &["--color", "always"]].concat(), false).contains(start), "{verb:?}");
    }
}
