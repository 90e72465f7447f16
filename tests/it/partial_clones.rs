//! Is nothing ever fetched in a partial clone, and is what is missing said?

use std::fs;
use std::path::{Path, PathBuf};

use crate::live::{Live, memo_in};

/// Makes a repository of two commits and a partial clone of it, without the objects that the filter leaves out. The remote logs each
/// program that serves it, so a fetch would be seen.
fn partial_clone(filter: &str) -> (Live, PathBuf) {
    let live = Live::idle();
    live.write("src/core.py", "def core():\n    return 1\n");
    live.write("lib/helper.py", "def helper():\n    return 1\n");
    live.commit_all();
    live.write("lib/helper.py", "def helper():\n    return 2\n\n\ndef other():\n    return 3\n");
    live.commit_all();
    live.git(&["config", "uploadpack.allowFilter", "true"]);
    live.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let url = format!("file://{}", live.root().display());
    live.git(&["clone", "-q", "--sparse", &format!("--filter={filter}"), &url, "../partial"]);
    let clone = live.sandbox.path("partial");
    live.git_in(&clone, &["sparse-checkout", "set", "src"]);
    let log = live.sandbox.path("served");
    let serve = live.sandbox.path("serve");
    fs::write(&serve, format!("#!/bin/sh\necho served >> {}\nexec git-upload-pack \"$@\"\n", log.display()))
        .unwrap();
    live.git_in(&clone, &["config", "remote.origin.uploadpack", &format!("sh {}", serve.display())]);
    (live, clone)
}

fn count_objects(live: &Live, clone: &Path) -> String {
    live.git_in(clone, &["count-objects", "-v"])
}

#[test]
fn nothing_is_fetched_and_what_is_missing_is_said() {
    for filter in ["blob:none", "tree:0", "blob:limit=10"] {
        let (live, clone) = partial_clone(filter);
        let before = count_objects(&live, &clone);
        for args in [
            &["changed"][..],
            &["changed", "--since", "HEAD~1"],
            &["changed", "HEAD~1", "HEAD"],
            &["why", "lib/helper.py"],
            &["why", "src/core.py:2"],
            &["why", "src/core.py"],
            &["show", "lib/helper.py"],
            &["search", "helper"],
            &["impact", "--since", "HEAD~1"],
            &["tests", "--since", "HEAD~1"],
            &["brief"],
            &["status"],
        ] {
            let output = live.memo(args).current_dir(&clone).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned()
                + &String::from_utf8_lossy(&output.stdout);
            assert!(!said.contains("panic") && !said.contains("damaged"), "{filter} {args:?}: {said}");
            assert!(!live.sandbox.path("served").exists(), "{filter} {args:?} fetched: {said}");
        }
        assert_eq!(count_objects(&live, &clone), before, "{filter}");
        let (_, why) = memo_in(&live, &clone, &["why", "lib/helper.py"]);
        let is_whole = filter != "tree:0";
        assert_eq!(why["complete"], is_whole, "{filter}: {why}");
        assert_eq!(why["commits"].as_array().unwrap().len(), if is_whole { 2 } else { 1 }, "{filter}: {why}");
        live.memo(&["stop"]).current_dir(&clone).output().unwrap();
    }
}

#[test]
fn the_command_that_is_named_brings_what_is_missing() {
    let (live, clone) = partial_clone("tree:0");
    let run = |args: &[&str]| live.sandbox.show(live.memo(args).current_dir(&clone));
    let said = run(&["changed", "HEAD~1", "HEAD"]);
    assert!(said.contains("is not in this repository"), "{said}");
    assert!(said.contains("`git fetch --refetch --no-filter` in a partial one"), "{said}");
    live.git_in(&clone, &["config", "--unset", "remote.origin.uploadpack"]);
    live.git_in(&clone, &["fetch", "-q", "--refetch", "--no-filter"]);
    let said = run(&["changed", "HEAD~1", "HEAD"]);
    assert!(said.contains("M lib/helper.py"), "{said}");
    live.memo(&["stop"]).current_dir(&clone).output().unwrap();
}
