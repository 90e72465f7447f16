//! Does the script with which a reader checks the promises see when they are kept, and when they are broken?

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::live::Live;

/// Runs the script, with the programs of `first` before those of the build.
fn run_script(live: &Live, first: &Path) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/check-it-yourself.sh");
    let build = Path::new(env!("CARGO_BIN_EXE_memo")).parent().unwrap();
    let mut command: Command = live.sandbox.program("sh", &[script.to_str().unwrap(), "11"]);
    command.env("PATH", format!("{}:{}:/usr/local/bin:/usr/bin:/bin", first.display(), build.display()));
    let output = command.output().unwrap();
    let left = fs::read_dir(live.sandbox.path("tmp")).unwrap().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
    output
}

fn seen(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8(output.stdout.clone()).unwrap())
}

#[test]
fn the_promises_are_kept() {
    let live = Live::idle();
    let output = run_script(&live, Path::new("/no/such/dir"));
    let expected = "11 writes, a search right after each: 0 answers without what was written\n\
                    2 memories, kill -9 right after each: 0 lost\n\
                    memory.db overwritten: 2 of 2 memories are there; the answer says so: yes\n";
    assert_eq!(seen(&output), (Some(0), expected.to_owned()), "{output:?}");
}

#[test]
fn broken_promises_are_seen() {
    let live = Live::idle();
    let real = env!("CARGO_BIN_EXE_memo");
    let dir = live.sandbox.path("broken");
    fs::create_dir(&dir).unwrap();
    let program = dir.join("memo");
    let behave = |script: &str| {
        fs::write(&program, format!("#!/bin/sh\n{script}\nexec {real} \"$@\"\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        seen(&run_script(&live, &dir))
    };
    let (code, shown) = behave("[ \"$1\" != search ] || exit 1");
    assert!(code == Some(1) && shown.contains("11 answers without what was written"), "{shown}");
    let (code, shown) = behave("[ \"$1\" != add ] || exit 0");
    assert!(code == Some(1) && shown.contains("2 lost") && shown.contains("0 of 2 memories"), "{shown}");
    let (code, shown) = behave("[ \"$1\" != list ] || exec 2> /dev/null");
    assert!(code == Some(1) && shown.contains("0 lost") && shown.contains("says so: no"), "{shown}");
}
