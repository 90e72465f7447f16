//! Nothing is left in the state dir of a file that has become a secret.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde_json::json;

use crate::live::{Live, PATIENCE, word};

/// Files that stay, so that the trees of the index are more than a page each.
const OTHERS: usize = 200;

/// Bytes at the end of a word that no other one has. FTS5 leaves out what a term has in common with the one before it.
const N_OWN: usize = 5;

/// Returns a word whose end is its own.
fn own_word(nth: usize) -> String {
    word(0xF0_05A5 + (nth << 16))
}

/// Returns the files below `dir` that hold the end of the word.
fn holders(dir: &Path, word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holders(&path, word));
        } else if let Ok(bytes) = fs::read(&path)
            && bytes.windows(N_OWN).any(|window| word.as_bytes().ends_with(window))
        {
            found.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    found
}

/// A text that has the word in every part of the index: names, title, skeleton, body.
fn code(word: &str) -> String {
    format!(
        "/// The {word} of it.\npub struct {word} {{\n    {word}: u8,\n}}\n\nfn of_{word}() {{ {word}() }}\n"
    )
}

fn settle(live: &Live) {
    let sync = live.call("sync", json!({ "sync": "full", "wait_ms": PATIENCE.as_millis() }));
    assert_eq!(sync["fresh"], true, "{sync}");
}

fn copy(live: &Live, from: &str, to: &str) {
    fs::copy(live.root().join(from), live.root().join(to)).unwrap();
}

/// What makes a secret of `a.rs`, and maybe `b.md`, whose word is given.
type Change = fn(&Live, &str);

const CHANGES: &[(&str, Change)] = &[
    ("renamed to a secret name", |live, _| live.rename("d/a.rs", "d/.env")),
    ("renamed into a secret directory", |live, _| {
        live.write("d/.aws/config", "x");
        live.rename("d/a.rs", "d/.aws/credentials");
    }),
    ("renamed to a secret name that git ignores", |live, _| live.rename("d/a.rs", "d/.env.local")),
    ("renamed and written on", |live, _| {
        live.rename("d/a.rs", "d/id_rsa");
        let mut moved = fs::File::options().append(true).open(live.root().join("d/id_rsa")).unwrap();
        moved.write_all(b"more\n").unwrap();
    }),
    ("copied, and replaced", |live, _| {
        copy(live, "d/a.rs", "d/.env");
        live.write("d/a.rs", "fn other() {}\n");
    }),
    ("copied, and replaced later", |live, _| {
        copy(live, "d/a.rs", "d/.npmrc");
        settle(live);
        live.write("d/a.rs", "fn other() {}\n");
    }),
    ("moved by git", |live, _| {
        live.git(&["mv", "d/a.rs", "d/.netrc"]);
    }),
    ("cut, once its name says that it is a password", |live, word| {
        live.write("d/a.rs", format!("const PASSWORD: &str = \"{word}7x7\";\n"));
    }),
    ("encrypted", |live, _| live.write("d/a.rs", b"\0GITCRYPT\0abc")),
];

#[test]
fn nothing_is_left_of_what_became_a_secret() {
    let live = Live::new();
    let state = live.layout().state_dir;
    live.write(".gitignore", ".env.local\n");
    for nth in 0..OTHERS {
        live.write(&format!("o/{nth}.rs"), code(&word(1_000 + nth)));
    }
    let mut words = Vec::new();
    for (nth, (what, change)) in CHANGES.iter().enumerate() {
        let word = own_word(nth);
        live.write("d/a.rs", code(&word));
        live.commit_all();
        settle(&live);
        // Others come and go, so that what is kept of it moves about.
        for other in 0..OTHERS / 4 {
            live.write(&format!("o/{other}.rs"), code(&word_of_round(nth, other)));
        }
        settle(&live);
        live.expect(&word, "d/a.rs", what);
        assert!(!holders(&state, &word).is_empty(), "{what}: the search sees nothing");
        change(&live, &word);
        live.expect(&word, "", what);
        assert_eq!(holders(&state, &word), [""; 0], "{what}");
        words.push((what, word));
        let _ = fs::remove_dir_all(live.root().join("d")); // moved away, perhaps
        settle(&live);
    }
    let nowhere = |when: &str| {
        for (what, word) in &words {
            assert_eq!(holders(&state, word), [""; 0], "{what}, {when}");
        }
    };
    nowhere("after the others");
    live.call("reindex", json!({}));
    settle(&live);
    nowhere("after `reindex`");
    live.memo(&["stop"]).output().unwrap();
    live.wait_for_end();
    nowhere("after `stop`");
}

fn word_of_round(round: usize, other: usize) -> String {
    word(100_000 + round * 1_000 + other)
}
