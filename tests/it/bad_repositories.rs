//! Is a repository that is damaged, incomplete or locked served as well as it can be, with a clear word about it?

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::live::{Live, not_checked, until, word};

/// Returns what a search says does not work.
fn degraded(live: &Live) -> String {
    let answer = live.call("search", json!({ "query": "alpha", "mode": "keyword", "wait_ms": 60_000 }));
    answer["degraded"].to_string()
}

/// Asserts that what is written now, tracked or not, in a directory known or new, is found.
fn expect_watched(live: &Live, number: usize, what: &str) {
    for (offset, path) in ["a.md", "new/deep/n.md"].into_iter().enumerate() {
        let word = word(2 * number + offset);
        live.write(path, &word);
        live.expect(&word, path, what);
    }
    live.remove("new");
    live.expect(&word(2 * number + 1), "", what);
}

#[test]
fn damaged_files_of_gits() {
    // What is done to it, and what is said of it.
    let cases = [
        ("printf garbage > .git/index", "tracked files are unknown, so the ignore files decide"),
        ("head -c 60 .git/index > i; mv i .git/index", "tracked files are unknown"),
        ("printf '[core\nno' > .git/config", "[TOP]/work/.git/config: "),
        ("git config extensions.objectFormat md5", "object format md5 is not supported"),
        ("printf xyz > .git/HEAD", ""),
        ("rm .git/HEAD; mkdir .git/HEAD", ""),
        ("printf xyz > .git/packed-refs", ""),
        ("rm -r .git/refs/heads", ""),
        ("find .git/objects -type f -delete", ""),
        ("printf xyz > .git/info/exclude; chmod 0 .git/info/exclude", ""),
    ];
    for (number, (spoil, said)) in cases.into_iter().enumerate() {
        let live = Live::idle();
        live.write("a.md", "alpha");
        live.write(".gitignore", "*.log");
        live.write("kept.log", "kept");
        live.git(&["add", "-f", "."]);
        live.commit_all();
        live.sh("cp -a .git ../whole");
        let tell = |what: &str| {
            let shown = degraded(&live).replace(live.sandbox.path("").to_str().unwrap(), "[TOP]/");
            assert!(shown.contains(said), "{spoil}: {what}: {shown}");
        };
        // Before the daemon starts, and while it runs.
        live.sh(spoil);
        live.start();
        live.expect("alpha", "a.md", spoil);
        tell("at the start");
        expect_watched(&live, 10 * number, spoil);
        let mend = "mv .git/memo ../memo; rm -rf .git; cp -a ../whole .git; mv ../memo .git/memo";
        live.kill();
        live.sh(mend);
        live.start();
        live.expect("kept", "kept.log", "mended");
        live.sh(spoil);
        expect_watched(&live, 10 * number + 1, spoil);
        tell("while it runs");
        for file in ["HEAD", "config", "index", "packed-refs"] {
            live.sh(&format!(
                "rm -rf .git/{file}; if [ -e ../whole/{file} ]; then cp -a ../whole/{file} .git; fi"
            ));
        }
        live.sh("cp -af ../whole/objects ../whole/refs .git");
        live.expect("kept", "kept.log", &format!("{spoil}: mended while it runs"));
        expect_watched(&live, 10 * number + 2, spoil);
        assert!(!degraded(&live).contains("files:"), "{spoil}: {}", degraded(&live));
    }
}

#[test]
fn what_is_no_repository_any_more_is_told() {
    for part in ["HEAD", "objects", "refs"] {
        let live = Live::idle();
        live.write("a.md", "alpha");
        live.remove(&format!(".git/{part}"));
        let said = live.sandbox.show(&mut live.memo(&["search", "alpha"]));
        let expected = format!(
            "exit 2\nerr: memo: [TOP]/work/.git: a broken git directory, without {part}\n\
             err: hint: `git status` says more; `git worktree repair` mends a moved worktree\n"
        );
        assert_eq!(said, expected);
        assert!(!live.root().join(".memo").exists());
        live.sh("rm -rf .git; mkdir .git"); // nobody's: as if it were not there
        assert_eq!(live.memo(&["init", "-q"]).status().unwrap().code(), Some(0));
        let found = live.memo(&["search", "alpha"]).output().unwrap();
        assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
        live.memo(&["stop"]).output().unwrap();
    }
}

#[test]
fn heads_and_refs_of_every_kind() {
    let cases = [
        ("git checkout -q --detach", None),
        ("git checkout -q --orphan unborn", Some("refs/heads/unborn")),
        ("git pack-refs --all --prune", Some("refs/heads/main")),
        ("git symbolic-ref HEAD refs/heads/nowhere", Some("refs/heads/nowhere")),
        ("git symbolic-ref HEAD refs/remotes/x/y", Some("refs/remotes/x/y")),
        ("rm -rf .git/logs; git refs migrate --ref-format=reftable", Some("null")),
    ];
    for (number, (script, head)) in cases.into_iter().enumerate() {
        let live = Live::new();
        let usage = live.sandbox.program("git", &["refs", "migrate", "-h"]).output().unwrap();
        if script.contains("refs migrate") && usage.status.code() != Some(129) {
            not_checked("a repository with reftables: this git has no `git refs migrate` (2.46)");
            continue;
        }
        live.write("a.md", "alpha");
        live.commit_all();
        live.expect("alpha", "a.md", script);
        live.sh(script);
        expect_watched(&live, 10 * number, script);
        live.kill();
        live.start();
        expect_watched(&live, 10 * number + 1, script);
        let status = live.call("status", json!({}));
        let expected = match head {
            None => json!(fs::read_to_string(live.root().join(".git/HEAD")).unwrap().trim()),
            Some("null") => Value::Null,
            Some(head) => json!(head),
        };
        assert_eq!(status["views"][0]["head"], expected, "{script}");
    }
}

#[test]
fn clones_without_all_objects() {
    let origin = Live::idle();
    origin.write("a.md", "alpha");
    origin.write("out/.gitignore", "*.log");
    origin.commit_all();
    origin.write("a.md", "beta");
    origin.write("out/o.md", "omicron");
    origin.commit_all();
    origin.sh("git config uploadpack.allowFilter true");
    let url = format!("file://{}", origin.root().display());
    let cases = [
        format!("git clone -q --depth 1 {url} ."),
        format!("git clone -q --filter=blob:none {url} ."),
        format!("git clone -q --filter=blob:none --sparse {url} ."),
        format!("git clone -q --filter=tree:0 --no-checkout {url} .; git reset -q; git checkout -q -- a.md"),
        format!("git clone -q --shared {url} ."),
    ];
    for (number, script) in cases.iter().enumerate() {
        let live = Live::idle();
        live.sh(&format!("rm -rf .git; {script}"));
        // Nothing is fetched, whatever is missing.
        live.sh("git remote set-url origin /nowhere");
        live.start();
        live.expect("beta", "a.md", script);
        live.expect("alpha", "", script);
        live.write("out/x.log", "ignored");
        live.write("out/y.md", "listed");
        live.expect("listed", "out/y.md", script);
        expect_watched(&live, 10 * number, script);
    }
}

#[test]
fn a_lock_that_is_left_for_ever() {
    let live = Live::new();
    live.write("a.md", "alpha");
    live.commit_all();
    live.expect("alpha", "a.md", "before");
    live.write(".git/index.lock", "");
    for number in 0..5 {
        live.write("a.md", word(number));
        let started = Instant::now();
        live.expect(&word(number), "a.md", "who asks does not wait for git");
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    }
    // Nobody asks: after 10 s it is indexed all the same.
    let before = live.counter("parses");
    live.write("a.md", "omega");
    until("it is indexed", || live.counter("parses") > before);
    live.expect("omega", "a.md", "afterwards");
    live.remove(".git/index.lock");
    live.git(&["commit", "-qam", "x"]);
    live.expect("omega", "a.md", "without the lock");
}

/// Somebody who is not root: root may write everywhere.
const SOMEBODY: u32 = 12_345;

fn run_as(uid: u32, mut command: Command) -> Command {
    if memod_base::paths::effective_uid() == 0 {
        command.uid(uid);
    }
    command
}

fn chmod(path: &Path, mode: &str) {
    assert!(Command::new("chmod").args(["-R", mode]).arg(path).status().unwrap().success());
}

#[test]
fn a_repository_that_may_only_be_read() {
    let live = Live::idle();
    live.write("a.md", "alpha");
    live.commit_all();
    let top = live.sandbox.path("");
    fs::set_permissions(&top, fs::Permissions::from_mode(0o755)).unwrap();
    if memod_base::paths::effective_uid() == 0 {
        let uid = SOMEBODY.to_string();
        assert!(Command::new("chown").args(["-R", &uid]).arg(&top).status().unwrap().success());
    }
    chmod(&live.root(), "a-w");
    if let Err(error) = run_as(SOMEBODY, live.memo(&["--version"])).output() {
        not_checked(&format!("a repository that may only be read: another user cannot run memo: {error}"));
        return;
    }
    let memo = |args: &[&str]| run_as(SOMEBODY, live.memo(args)).output().unwrap();
    let search = |word: &str| -> Value {
        let output = memo(&["search", word, "--mode", "keyword", "--json"]);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let found = search("alpha");
    assert_eq!((&found["fresh"], &found["hits"][0]["path"]), (&json!(true), &json!("a.md")), "{found}");
    let status: Value = serde_json::from_slice(&memo(&["status", "--json"]).stdout).unwrap();
    let state_dir = status["state_dir"].as_str().unwrap();
    let state_home = live.sandbox.path("home/.local/state/memod");
    assert!(Path::new(state_dir).starts_with(&state_home), "{state_dir}");
    assert!(!live.root().join(".git/memo").exists());
    // The files may be written although git's may not.
    let file = live.root().join("a.md");
    chmod(&file, "u+w");
    fs::write(&file, "beta").unwrap();
    assert_eq!(search("beta")["hits"][0]["path"], "a.md");
    let gone = search("alpha");
    assert_eq!((&gone["fresh"], gone["total"].as_u64()), (&json!(true), Some(0)), "{gone}");
    // What may be written again has its state inside, as for whoever starts a daemon now.
    chmod(&live.root(), "u+w");
    let found = search("beta");
    assert_eq!((&found["fresh"], &found["hits"][0]["path"]), (&json!(true), &json!("a.md")), "{found}");
    assert!(live.root().join(".git/memo").exists());
    assert!(memo(&["stop"]).status.success());
}
