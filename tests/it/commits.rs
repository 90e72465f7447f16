//! Does a search see the commits that HEAD reaches, all of them and no others?

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::live::{Live, PATIENCE, until, word};

/// Returns the subjects of the commits that show a word, in a worktree.
fn subjects_in(live: &Live, cwd: &Path, word: &str) -> BTreeSet<String> {
    let params = json!({ "query": word, "kind": ["commit"], "limit": 50, "wait_ms": PATIENCE.as_millis() });
    let result = live.call_in(cwd, "search", params);
    assert_eq!(result["fresh"], true, "{result}");
    let text = |hit: &Value, key: &str| hit[key].as_str().unwrap().to_owned();
    let hits = result["hits"].as_array().unwrap().iter();
    let shows = |hit: &&Value| text(hit, "snippet").contains(word) || text(hit, "title").contains(word);
    hits.filter(shows).map(|hit| text(hit, "title")).collect()
}

fn expect(live: &Live, word: &str, expected: &[&str], what: &str) {
    let expected: BTreeSet<String> = expected.iter().map(|&subject| subject.to_owned()).collect();
    assert_eq!(subjects_in(live, &live.root(), word), expected, "{what}: {word}");
}

/// Makes a commit that changes nothing; returns its id.
fn commit(live: &Live, message: &str) -> String {
    live.git(&["commit", "-q", "--allow-empty", "-m", message]);
    head(live)
}

fn head(live: &Live) -> String {
    live.git(&["rev-parse", "HEAD"])
}

/// Returns the ids of the indexed commits.
fn indexed(live: &Live, limit: usize) -> BTreeSet<String> {
    let params =
        json!({ "query": "everybody", "kind": ["commit"], "limit": limit, "wait_ms": PATIENCE.as_millis() });
    let result = live.call("search", params);
    let oid = |hit: &Value| hit["commit"]["oid"].as_str().unwrap().to_owned();
    result["hits"].as_array().unwrap().iter().map(oid).collect()
}

fn degraded(live: &Live) -> String {
    live.call("status", json!({}))["degraded"].to_string()
}

#[test]
fn the_next_answer_holds_whatever_moved_the_branch() {
    let live = Live::new();
    expect(&live, "alpha", &[], "no commit at all");
    let first = commit(&live, "alpha one\n\nbecause of beta");
    expect(&live, "beta", &["alpha one"], "commit");
    live.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "alpha two"]);
    expect(&live, "alpha", &["alpha two"], "amend");
    expect(&live, "beta", &[], "amend");
    let second = head(&live);
    live.git(&["update-ref", "refs/heads/main", &first]);
    expect(&live, "alpha", &["alpha one"], "update-ref");
    commit(&live, "gamma");
    expect(&live, "gamma", &["gamma"], "commit on top");
    live.git(&["reset", "-q", "--soft", &second]);
    expect(&live, "gamma", &[], "reset --soft");
    expect(&live, "alpha", &["alpha two"], "reset --soft");
    live.git(&["checkout", "-q", "--detach"]);
    commit(&live, "delta");
    expect(&live, "delta", &["delta"], "detached");
    live.git(&["checkout", "-q", "main"]);
    expect(&live, "delta", &[], "back on the branch");
    live.git(&["checkout", "-q", "--orphan", "other"]);
    expect(&live, "alpha", &[], "orphan without a commit");
    commit(&live, "epsilon");
    expect(&live, "epsilon", &["epsilon"], "orphan");
    expect(&live, "alpha", &[], "orphan");
    live.git(&["merge", "-q", "--allow-unrelated-histories", "-m", "zeta", "main"]);
    expect(&live, "alpha", &["alpha two"], "merge");
    expect(&live, "zeta", &["zeta"], "merge");
    live.git(&["gc", "-q", "--prune=now"]);
    assert!(live.root().join(".git/packed-refs").is_file());
    expect(&live, "epsilon", &["epsilon"], "gc");
    commit(&live, "eta");
    expect(&live, "eta", &["eta"], "commit after gc");
    live.git(&["clone", "-q", ".", "../upstream"]);
    live.git(&["-C", "../upstream", "commit", "-q", "--allow-empty", "-m", "theta"]);
    live.git(&["fetch", "-q", "../upstream"]);
    expect(&live, "theta", &[], "fetched only");
    live.git(&["merge", "-q", "--ff-only", "FETCH_HEAD"]);
    expect(&live, "theta", &["theta"], "merged");
    live.kill();
    live.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "iota"]);
    live.start();
    expect(&live, "theta", &[], "amended while no daemon ran");
    expect(&live, "iota", &["iota"], "amended while no daemon ran");
    live.call("reindex", json!({}));
    expect(&live, "iota", &["iota"], "reindex");
    assert_eq!(degraded(&live), "[]");
}

#[test]
fn a_commit_of_one_worktree_is_not_found_from_another() {
    let live = Live::new();
    commit(&live, "shared");
    live.git(&["worktree", "add", "-q", "../linked", "-b", "side"]);
    let linked = live.sandbox.path("linked");
    live.git(&["-C", "../linked", "commit", "-q", "--allow-empty", "-m", "only there"]);
    commit(&live, "only here");
    let names = |names: &[&str]| -> BTreeSet<String> { names.iter().map(|&name| name.to_owned()).collect() };
    assert_eq!(subjects_in(&live, &linked, "only"), names(&["only there"]));
    assert_eq!(subjects_in(&live, &live.root(), "only"), names(&["only here"]));
    assert_eq!(subjects_in(&live, &linked, "shared"), names(&["shared"]));
    live.git(&["-C", "../linked", "reset", "-q", "--soft", "HEAD~1"]);
    assert_eq!(subjects_in(&live, &linked, "only"), names(&[]));
    live.git(&["-C", "../linked", "checkout", "-q", "--detach", "main"]);
    assert_eq!(subjects_in(&live, &linked, "only"), names(&["only here"]));
}

#[test]
fn files_stay_files() {
    let live = Live::idle();
    live.write("a.rs", "fn kappa() {}\n");
    live.write("commit/b.md", "kappa");
    live.git(&["add", "-A"]);
    let oid = commit(&live, "kappa in two places");
    live.start(); // now, for what is indexed while it is being written is a content as well
    let search = |params: Value| {
        let mut params = params;
        params["wait_ms"] = json!(PATIENCE.as_millis());
        params["query"] = json!("kappa");
        let result = live.call("search", params);
        let path = |hit: &Value| hit["path"].as_str().unwrap().to_owned();
        result["hits"].as_array().unwrap().iter().map(path).collect::<BTreeSet<_>>()
    };
    let set = |paths: &[&str]| paths.iter().map(|&path| path.to_owned()).collect::<BTreeSet<_>>();
    let key = format!("commit:{oid}");
    assert_eq!(search(json!({})), set(&["a.rs", "commit/b.md", &key]));
    assert_eq!(search(json!({ "kind": ["commit"] })), set(&[&key]));
    assert_eq!(search(json!({ "path": ["**"] })), set(&["a.rs", "commit/b.md"]));
    assert_eq!(search(json!({ "path": ["commit*"] })), set(&["commit/b.md"]));
    assert_eq!(search(json!({ "lang": ["rust"] })), set(&["a.rs"]));
    assert_eq!(live.listed().0, ["a.rs", "commit/b.md"]);
    let status = live.call("status", json!({}));
    assert_eq!((&status["views"][0]["files"], &status["views"][0]["commits"]), (&json!(2), &json!(1)));
    assert_eq!(status["counts"]["blobs"], 2);
    // A file may have the name of a commit.
    live.write(&key, "kappa lambda");
    live.expect("lambda", &key, "the file");
    assert_eq!(search(json!({ "kind": ["commit"] })), set(&[]));
    live.remove(&key);
    live.expect("lambda", "", "the file is gone");
    let second = commit(&live, "kappa again");
    assert_eq!(search(json!({ "kind": ["commit"] })), set(&[&key, &format!("commit:{second}")]));
}

#[test]
fn a_commit_is_shown_with_its_message_and_paths() {
    let live = Live::new();
    for nth in 0..150 {
        live.write(&format!("dir/{}.txt", word(nth)), "");
    }
    live.git(&["add", "-A"]);
    let key = format!("API_TOKEN={}{}", "9f86d081884c", "7d659a2feaa0");
    let oid = commit(&live, &format!("Add files\nfor mu\n\nThey hold nothing.\n{key}\n\nSigned-off-by: t"));
    let result = live.call("search", json!({ "query": "mu", "wait_ms": PATIENCE.as_millis() }));
    let hit = &result["hits"][0];
    assert_eq!(hit["kind"], "commit");
    assert_eq!(hit["commit"]["oid"], oid.as_str());
    assert_eq!(hit["commit"]["author"], "t <t@example.org>");
    // Earlier versions of git write the offset of UTC as digits.
    let date = live.git(&["log", "-1", "--format=%aI"]).replace("+00:00", "Z");
    assert_eq!(hit["commit"]["date"], date.as_str());
    assert_eq!(hit["title"], "Add files for mu");
    let found = |word: &str| subjects_in(&live, &live.root(), word).len();
    assert_eq!((found("REDACTED"), found("9f86d081884c7d659a2feaa0")), (1, 0));
    assert_eq!(found("Signed"), 1);
    assert_eq!(found(&word(0)), 1, "a changed path");
    assert_eq!(found("50 paths more"), 1);
    assert!(indexed(&live, 10).is_empty());
    let by_oid = live.call("search", json!({ "query": oid, "wait_ms": PATIENCE.as_millis() }));
    assert_eq!(by_oid["hits"][0]["commit"]["oid"], oid.as_str());
    let shown = live.sandbox.show(&mut live.memo(&["search", "They hold nothing"]));
    assert!(shown.starts_with(&format!("exit 0\nout: {} ", &oid[..12])), "{shown}");
}

#[test]
fn odd_commits_survive() {
    let live = Live::new();
    live.git(&["-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-m", "x"]);
    let tree = live.git(&["rev-parse", "HEAD^{tree}"]);
    let raw = |parent: &str, rest: &[u8]| {
        let who = "A <a@example.org> 1700000000 +0100";
        let mut bytes = format!("tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}\n").into_bytes();
        bytes.extend(rest);
        fs::write(live.sandbox.path("raw"), bytes).unwrap();
        let path = live.sandbox.path("raw");
        live.git(&["hash-object", "-t", "commit", "-w", "--literally", path.to_str().unwrap()])
    };
    let mut at = head(&live);
    let long = format!("\nlong {}\n", "omicron ".repeat(1_000_000));
    let messages: [&[u8]; 6] = [
        b"encoding ISO-8859-1\n\ngr\xf6\xdfe of latin",
        b"\nnul\0here",
        b"\nbad \xff\xfe utf8",
        b"\n",
        b"",
        long.as_bytes(),
    ];
    for message in messages {
        at = raw(&at, message);
    }
    fs::write(
        live.sandbox.path("raw"),
        format!("tree {tree}\nparent {at}\nauthor <>\n\nnobody wrote this\n"),
    )
    .unwrap();
    let raw = live.sandbox.path("raw");
    at = live.git(&["hash-object", "-t", "commit", "-w", "--literally", raw.to_str().unwrap()]);
    live.git(&["update-ref", "refs/heads/main", &at]);
    expect(&live, "größe", &["größe of latin"], "ISO-8859-1");
    expect(&live, "here", &["nul here"], "NUL");
    expect(&live, "utf8", &["bad \u{fffd}\u{fffd} utf8"], "not UTF-8");
    expect(&live, "nobody", &["nobody wrote this"], "damaged author, no committer");
    assert_eq!(subjects_in(&live, &live.root(), "omicron").len(), 1);
    commit(&live, "last");
    expect(&live, "last", &["last"], "afterwards");
}

#[test]
fn a_history_with_an_end_ends_there() {
    let live = Live::idle();
    live.write("a.txt", "one");
    live.commit_all();
    live.write("a.txt", "two");
    live.git(&["commit", "-qam", "second"]);
    live.write("a.txt", "three");
    live.git(&["commit", "-qam", "third"]);
    let url = format!("file://{}", live.root().display());
    let clone = |args: &[&str], dir: &str| {
        let args = [&["clone", "-q"], args, &[&url, dir]].concat();
        live.git(&args);
        live.sandbox.path(dir.trim_start_matches("../"))
    };
    let ask = |dir: &Path, word: &str| {
        let args = ["-C", dir.to_str().unwrap(), "search", "--json", "-k", "commit", "--wait-ms=60000", word];
        let output = live.memo(&args).output().unwrap();
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(result["fresh"], true, "{result}");
        let title = |hit: &Value| hit["title"].as_str().unwrap().to_owned();
        result["hits"].as_array().unwrap().iter().map(title).collect::<BTreeSet<_>>()
    };
    let both = BTreeSet::from(["second".to_owned(), "third".to_owned()]);
    let status = |dir: &Path| {
        let output = live.memo(&["-C", dir.to_str().unwrap(), "status", "--json"]).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["degraded"].to_string()
    };

    let shallow = clone(&["--depth=1"], "../shallow");
    assert_eq!(ask(&shallow, "second OR third"), BTreeSet::from(["third".to_owned()]));
    assert!(status(&shallow).contains("1 commits are searched without their changed paths"));
    live.git(&["-C", shallow.to_str().unwrap(), "fetch", "-q", "--unshallow"]);
    assert_eq!(ask(&shallow, "second OR third"), both);
    assert_eq!(ask(&shallow, "a.txt"), BTreeSet::from(["second".into(), "third".into(), "x".into()]));
    assert_eq!(status(&shallow), "[]");

    live.git(&["config", "uploadpack.allowFilter", "true"]);
    let partial = clone(&["--filter=tree:0", "--no-checkout"], "../partial");
    assert_eq!(ask(&partial, "second OR third"), both);
    assert!(status(&partial).contains("without their changed paths"), "{}", status(&partial));

    let alternate = clone(&["--shared"], "../alternate");
    assert_eq!(ask(&alternate, "second OR third"), both);

    // A commit that is gone ends the history, and says so.
    let broken = clone(&["--no-local"], "../broken");
    let object = live.git(&["rev-parse", "HEAD~1"]);
    live.git(&["-C", "../broken", "cat-file", "-e", &object]);
    let pack_dir = broken.join(".git/objects/pack");
    let pack = fs::read_dir(&pack_dir).unwrap().map(|entry| entry.unwrap().path());
    let pack = pack.into_iter().find(|path| path.extension().is_some_and(|end| end == "pack")).unwrap();
    let moved = live.sandbox.path("moved.pack");
    fs::rename(&pack, &moved).unwrap();
    fs::remove_dir_all(&pack_dir).unwrap();
    live.sh_in(&broken, &format!("git unpack-objects -q < {}", moved.display()));
    fs::remove_file(broken.join(format!(".git/objects/{}/{}", &object[..2], &object[2..]))).unwrap();
    assert_eq!(ask(&broken, "second OR third"), BTreeSet::from(["third".to_owned()]));
    assert!(status(&broken).contains(&format!("git object {object} is not in this repository")));
    for dir in [shallow, partial, alternate, broken] {
        live.memo(&["-C", dir.to_str().unwrap(), "stop"]).output().unwrap();
    }
}

#[test]
fn refs_that_cannot_be_read_break_nothing() {
    let live = Live::idle();
    let made = live.git_may_fail(&["init", "-q", "--ref-format=reftable", "../reftable"]);
    let dir = live.sandbox.path("reftable");
    if !made.status.success() {
        return crate::live::not_checked("this git has no reftable");
    }
    let path = dir.to_str().unwrap();
    fs::write(dir.join("a.md"), "alpha").unwrap();
    live.git(&["-C", path, "add", "-A"]);
    live.git(&["-C", path, "commit", "-qm", "beta"]);
    let output = live.memo(&["-C", path, "search", "--json", "alpha"]).output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&result["fresh"], &result["hits"][0]["path"]), (&json!(true), &json!("a.md")), "{result}");
    let output = live.memo(&["-C", path, "search", "-k", "commit", "beta"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("reftable"), "{said}");
    let status = live.memo(&["-C", path, "status"]).output().unwrap();
    assert!(String::from_utf8_lossy(&status.stdout).contains("reftable"));
    live.memo(&["-C", path, "stop"]).output().unwrap();
}

#[test]
fn so_many_commits_and_no_more() {
    let live = Live::idle();
    for nth in 0..6 {
        commit(&live, &format!("everybody {nth}"));
    }
    let config = |limit: &str| {
        let output = live.memo(&["config", "set", "index.commits", limit]).output().unwrap();
        assert!(output.status.success());
    };
    config("3");
    live.start();
    let newest = |n: &str| -> BTreeSet<String> {
        live.git(&["log", "--format=%H", "-n", n]).lines().map(str::to_owned).collect()
    };
    let notes = |query: &str| {
        let result = live.call("search", json!({ "query": query, "wait_ms": PATIENCE.as_millis() }));
        result["parsed"]["notes"].clone()
    };
    assert_eq!(indexed(&live, 50), newest("3"));
    commit(&live, "everybody 7");
    assert_eq!(indexed(&live, 50), newest("3"));
    let note = "only the newest 3 commits are indexed (index.commits), and there are older ones";
    assert_eq!(notes("everybody kind:commit"), json!([note]));
    assert_eq!(notes("everybody"), Value::Null, "commits were not asked for");
    let status = live.memo(&["status"]).output().unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(status.contains(", newest 3 commits, up to date"), "{status}");
    live.kill();
    config("0");
    live.start();
    assert_eq!(indexed(&live, 50), BTreeSet::new());
    let note = "no commit is indexed (index.commits), and there are older ones";
    assert_eq!(notes("everybody kind:commit"), json!([note]));
    live.kill();
    config("7");
    live.start();
    assert_eq!(indexed(&live, 50), newest("7"));
    assert_eq!(notes("everybody kind:commit"), Value::Null, "there are no older ones");
    assert_eq!(live.call("status", json!({}))["views"][0]["older_commits"], false);
}

#[test]
fn commits_whose_objects_were_away_come_back() {
    let live = Live::idle();
    commit(&live, "alpha one");
    commit(&live, "alpha two");
    live.git(&["repack", "-q", "-a", "-d"]);
    let pack = live.root().join(".git/objects/pack");
    let away = pack.with_extension("away");
    fs::rename(&pack, &away).unwrap();
    live.start();
    expect(&live, "alpha", &[], "away");
    assert!(degraded(&live).contains("is not in this repository"), "{}", degraded(&live));
    fs::rename(&away, &pack).unwrap();
    until("they are back", || subjects_in(&live, &live.root(), "alpha").len() == 2);
    assert_eq!(degraded(&live), "[]");
}
