//! Do memories come in whole, go out whole, and does nothing hostile come with them?

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::live::{Live, memo};
use crate::memories::texts;

/// Imports and checks the tally.
fn import(live: &Live, args: &[&str], expected: &Value) -> Value {
    let (code, answer) = memo(live, &[&["import"], args].concat());
    let is_whole = answer["refused"].as_array().is_some_and(Vec::is_empty);
    assert_eq!(code, i32::from(!is_whole), "{args:?}: {answer}");
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&answer[name], value, "{args:?}: {name} of {answer}");
    }
    answer
}

fn refused(answer: &Value) -> Vec<(u64, String)> {
    let refused = answer["refused"].as_array().unwrap().iter();
    refused.map(|it| (it["line"].as_u64().unwrap(), it["why"].as_str().unwrap().to_owned())).collect()
}

fn export(live: &Live) -> String {
    let output = live.memo(&["export", "--archived"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// All living memories, as `memo list` shows them.
fn list(live: &Live) -> Vec<Value> {
    let (_, answer) = memo(live, &["list", "--all"]);
    answer["memories"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

/// Writes a file beside the repository; returns its path.
fn file(live: &Live, name: &str, text: &str) -> String {
    let path = live.sandbox.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn files_start_at_the_directory_of_the_command() {
    let live = Live::new();
    live.write("note.txt", "at the top");
    live.write("sub/note.txt", "in the directory");
    let add = |verb: &[&str]| {
        let (code, answer) = memo(&live, &[verb, &["--file", "note.txt"]].concat());
        assert_eq!(code, 0, "{answer}");
        answer["memory"].clone()
    };
    assert_eq!(add(&["add"])["content"], "at the top");
    let memory = add(&["-C", "sub", "add"]);
    assert_eq!(memory["content"], "in the directory");
    let appended = add(&["append", memory["id"].as_str().unwrap()]);
    assert_eq!(appended["content"], "in the directory\nat the top");
    let absolute = live.root().join("note.txt");
    let (code, answer) = memo(&live, &["-C", "sub", "add", "--file", absolute.to_str().unwrap()]);
    assert_eq!((code, &answer["memory"]["content"]), (0, &json!("at the top")), "{answer}");
}

#[test]
fn what_goes_out_comes_in_the_same() {
    let (here, there) = (Live::new(), Live::new());
    let full = json!({ "content": "é\n \"two\" lines \u{202e}", "title": "T", "tags": ["b", "a"], "tier": "mid",
        "priority": 9, "confidence": 0.25, "metadata": { "k": [1, null, { "x": "y" }] }, "container": "Other One" });
    let first = here.call("memory.add", full)["memory"]["id"].clone();
    let second = here.call("memory.add", json!({ "content": "two" }))["memory"]["id"].clone();
    here.call("memory.update", json!({ "id": second, "append": "more", "ttl": "3d" }));
    here.call("memory.add", json!({ "content": "gone" }));
    here.call("memory.forget", json!({ "match": "gone" }));
    let link =
        json!({ "source": first, "target": second, "kind": "supersedes", "created": "2026-01-02T03:04:05Z" });
    let linked = here.call("memory.import", json!({ "links": [link, link] }));
    assert_eq!((&linked["links"][0]["fate"], &linked["links"][1]["fate"]), (&json!("added"), &json!("same")));
    let written = export(&here);
    let path = file(&there, "e.jsonl", &written);
    import(&there, &[&path, "--dry-run"], &json!({ "added": 3, "dry_run": true }));
    assert_eq!(texts(&there).len(), 0, "a dry run changes nothing");
    import(&there, &[&path, "--own"], &json!({ "added": 3, "links": 1 }));
    assert_eq!(export(&there), written);
    import(&there, &[&path], &json!({ "added": 0, "same": 3, "links": 0 }));
    assert_eq!(export(&there), written, "nothing comes twice");

    let out = there.sandbox.path("out.jsonl");
    assert!(there.memo(&["export", "--archived", "--out"]).arg(&out).output().unwrap().status.success());
    assert_eq!(fs::read_to_string(&out).unwrap(), written);
    fs::write(&out, "mine").unwrap();
    let refused = there.memo(&["export", "--archived", "--out"]).arg(&out).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("the file exists\nhint: name another file, or replace it with --force"), "{said}");
    assert_eq!((refused.status.code(), fs::read_to_string(&out).unwrap()), (Some(2), "mine".to_owned()));
    let forced = there.memo(&["export", "--archived", "--force", "--out"]).arg(&out).output().unwrap();
    assert_eq!((forced.status.code(), fs::read_to_string(&out).unwrap()), (Some(0), written.clone()));
    let bad = there.memo(&["export", "--out", "../nowhere/x"]).output().unwrap();
    assert_eq!(bad.status.code(), Some(2), "{bad:?}");

    let anew = Live::new();
    let path = file(&anew, "e.jsonl", &written);
    import(&anew, &[&path, "--new-ids", "--own"], &json!({ "added": 3, "links": 1 }));
    let copy = export(&anew);
    let ids = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter_map(|line| line["memory"]["id"].as_str().map(str::to_owned)).collect()
    };
    let renamed = ids(&written).iter().zip(ids(&copy)).fold(written.clone(), |text, (old, new)| {
        assert_ne!(*old, new);
        text.replace(old, &new)
    });
    assert_eq!(copy, renamed, "all but the ids, and the links follow them");
}

#[test]
fn vectors_go_out_and_come_in_where_they_fit() {
    let (here, there) = (Live::new(), Live::new());
    here.call("memory.add", json!({ "content": "the parser keeps comments", "title": "Parser" }));
    for content in ["lunch is at noon", "tests run twice", "keys rotate daily", "logs are kept a week", "é"]
    {
        here.call("memory.add", json!({ "content": content }));
    }
    let vectors = |live: &Live| -> Vec<Value> {
        let written = live.memo(&["export", "--include-vectors"]).output().unwrap().stdout;
        let lines = std::str::from_utf8(&written).unwrap().lines();
        let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line.get("memory").is_some()).collect()
    };
    let right = vectors(&here);
    let vector = |line: &Value| line["memory"]["vector"].clone();
    assert_eq!(vector(&right[0])["int8"].as_array().unwrap().len(), 256, "{}", right[0]);
    assert!(!export(&here).contains("int8"), "only if they are asked for");
    let mut lines = right.clone();
    // Of unit length, but of no text, to see whose it is afterwards.
    lines[0]["memory"]["vector"]["int8"] = json!([[8; 128], [-8; 128]].concat());
    lines[1]["memory"]["vector"] = json!({ "model": "other", "int8": [1, 2, 3] });
    lines[2]["memory"]["vector"]["int8"] = json!(vec![1; 256]);
    lines[3]["memory"]["vector"]["int8"] = json!("AAAA");
    lines[4]["memory"]["vector"] = json!([1e300]);
    lines[5]["memory"]["content"] = json!("edited by hand");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let path = file(&there, "e.jsonl", &text);
    let answer = import(&there, &[&path], &json!({ "added": 6 }));
    assert!(answer.to_string().contains("do not fit the model or the stored text"), "{answer}");
    let taken = vectors(&there);
    assert_eq!(vector(&taken[0]), vector(&lines[0]));
    for n in 1..5 {
        assert_eq!(vector(&taken[n]), vector(&right[n]), "computed again: {}", lines[n]);
    }
    here.call("memory.add", json!({ "content": "edited by hand" }));
    assert_eq!(vector(&taken[5]), vector(&vectors(&here)[6]), "that of the new text");
}

#[cfg(unix)]
#[test]
fn an_export_takes_the_place_of_files_alone() {
    let live = Live::new();
    live.call("memory.add", json!({ "content": "one" }));
    let path = |name: &str| live.sandbox.path(name).to_str().unwrap().to_owned();
    let (old, link, pipe) = (file(&live, "old.jsonl", "old"), path("link"), path("pipe"));
    std::os::unix::fs::symlink(&old, &link).unwrap();
    assert_eq!(memo(&live, &["export", "--out", &link]).0, 2);
    assert_eq!(memo(&live, &["export", "--force", "--out", &link]).0, 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&old).unwrap().contains("one"));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    assert_eq!(memo(&live, &["export", "--out", &pipe]).0, 0);
    assert_eq!(reader.join().unwrap(), fs::read_to_string(&old).unwrap());
    assert!(!fs::metadata(&pipe).unwrap().is_file());
}

#[cfg(unix)]
#[test]
fn an_export_writes_through_no_link_that_lies_beside_its_file() {
    let live = Live::new();
    live.call("memory.add", json!({ "content": "one" }));
    let other = file(&live, "other", "as it was");
    // Whoever makes the links knows the id of the process, which `exec` keeps.
    let export = |links: &str| {
        let memo = env!("CARGO_BIN_EXE_memo");
        let script = format!(
            "for end in {links}; do ln -s {other} out.jsonl.$$$end.part; done; exec {memo} export -o out.jsonl"
        );
        live.sandbox.program("sh", &["-ec", &script]).output().unwrap()
    };
    let written = export("''");
    assert!(written.status.success(), "{written:?}");
    assert_eq!(fs::read_to_string(&other).unwrap(), "as it was");
    let out = live.root().join("out.jsonl");
    assert!(fs::read_to_string(&out).unwrap().contains("one") && !out.is_symlink());

    fs::remove_file(&out).unwrap();
    let refused = export("'' $(seq -f -%g 100)");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && said.contains("create out.jsonl.") && said.contains("exists"),
        "{said}"
    );
    assert!(fs::read_to_string(&other).unwrap() == "as it was" && !out.exists());
}

#[test]
fn what_is_about_code_goes_where_that_code_is_not() {
    let (here, there, anew) = (Live::new(), Live::new(), Live::new());
    here.write("a.rs", "fn here() {\n    let a = 1;\n}\n");
    let args =
        ["add", "a fact", "--about", "a.rs#here", "--about", "a.rs:1-2", "--tag", "t", "--meta", "k=1"];
    let (code, answer) = memo(&here, &args);
    assert_eq!((code, &answer["memory"]["state"]), (0, &json!("fresh")), "{answer}");
    let id = answer["memory"]["id"].as_str().unwrap();
    let other = here.call("memory.add", json!({ "content": "beside it" }))["memory"]["id"].clone();
    here.call("memory.link", json!({ "from": id, "to": other, "kind": "derived_from" }));
    assert_eq!(memo(&here, &["recall", "fact"]).0, 0);
    let stats = here.call("memory.stats", json!({}));
    assert_eq!((&stats["links"], &stats["links_archived"]), (&json!(1), &json!(0)), "{stats}");
    here.call("memory.forget", json!({ "ids": [other] }));
    let stats = here.call("memory.stats", json!({}));
    assert_eq!((&stats["links"], &stats["links_archived"]), (&json!(0), &json!(1)), "{stats}");
    let written = export(&here);
    let path = file(&there, "e.jsonl", &written);
    import(&there, &[&path, "--own"], &json!({ "added": 2, "links": 1, "refused": [] }));
    assert_eq!(export(&there), written, "with all that was seen of the code, and nothing of what it is now");
    let memory = memo(&there, &["get", id]).1["memories"][0].clone();
    assert_eq!((&memory["state"], &memory["access_count"]), (&json!("orphaned"), &json!(1)), "{memory}");
    there.write("b.rs", "fn here() {\n    let a = 1;\n}\n");
    assert_eq!(memo(&there, &["list", "--state", "orphaned"]).1["total"], 0, "the same code is elsewhere");
    import(&anew, &[&path, "--new-ids"], &json!({ "added": 2, "links": 1, "refused": [] }));
    assert_eq!(memo(&anew, &["list", "--state", "orphaned"]).1["total"], 1);
    let anchors =
        |text: &str| text.split("\"anchors\":").nth(1).unwrap().split("}]").next().unwrap().to_owned();
    assert_eq!(anchors(&export(&anew)), anchors(&written));
}

#[test]
fn what_differs_is_said_and_nothing_is_lost() {
    let live = Live::new();
    let id = live.call("memory.add", json!({ "content": "old" }))["memory"]["id"].clone();
    let before = file(&live, "before.jsonl", &export(&live));
    live.call("memory.update", json!({ "id": id, "content": "new" }));
    let answer = import(&live, &[&before], &json!({ "added": 0, "same": 0 }));
    assert!(refused(&answer)[0].1.contains("differs in content; the stored version is newer"), "{answer}");
    import(&live, &[&before, "--merge"], &json!({ "older": 1 }));
    assert_eq!(texts(&live), ["new"]);
    let after = file(&live, "after.jsonl", &export(&live));
    let other = Live::new();
    import(&other, &[&before], &json!({ "added": 1 }));
    import(&other, &[&after, "--merge"], &json!({ "updated": 1 }));
    assert_eq!(texts(&other), ["new"]);
    let history = other.call("memory.history", json!({ "ids": [id] }));
    assert_eq!(history["changes"][1]["fields"]["content"], json!(["old", "new"]));
    let cut: String = export(&live).lines().take(2).map(|line| format!("{line}\n")).collect();
    let cut = file(&other, "cut.jsonl", &cut);
    let answer = import(&other, &[&cut], &json!({ "same": 1 }));
    assert!(refused(&answer)[0].1.contains("incomplete"), "{answer}");
}

#[test]
fn bad_lines_are_listed_and_the_rest_goes_in() {
    let live = Live::new();
    let token = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    let id = "mem_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let other = "mem_01ARZ3NDEKTSV4RRFFQ69G5FAW";
    let lines = [
        json!({ "content": "one" }).to_string(),
        "nonsense".to_owned(),
        json!({ "content": "x".repeat((64 << 10) + 1) }).to_string(),
        json!({ "content": token }).to_string(),
        json!({ "content": "a <private>planted</private>" }).to_string(),
        json!({ "content": "x", "priority": 11 }).to_string(),
        json!({ "content": "x", "created": "yesterday" }).to_string(),
        json!({ "content": "x", "id": "mem_1" }).to_string(),
        json!({ "content": "x", "tags": ["a,b"] }).to_string(),
        json!({ "content": "x\u{0}" }).to_string(),
        json!({ "content": "x", "access_count": u64::MAX }).to_string(),
        json!({ "content": "one" }).to_string(),
        format!("{{\"metadata\":{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_001)),
        json!({ "content": "two", "id": id }).to_string(),
        json!({ "link": { "source": id, "target": id, "kind": "related_to" } }).to_string(),
        json!({ "link": { "source": id, "target": "mem_0", "kind": "related_to" } }).to_string(),
        json!({ "link": { "source": id, "target": "mem_0", "kind": "likes" } }).to_string(),
        json!({ "content": "three", "id": other }).to_string(),
        json!({ "link": { "source": id, "target": other, "kind": "supersedes" } }).to_string(),
        json!({ "link": { "source": other, "target": id, "kind": "supersedes" } }).to_string(),
        json!({ "link": { "source": id, "target": other, "kind": "contradicts" } }).to_string(),
        json!({ "link": { "source": other, "target": id, "kind": "contradicts" } }).to_string(),
    ];
    let path = file(&live, "bad.jsonl", &lines.join("\n"));
    let answer = import(&live, &[&path], &json!({ "added": 4, "same": 1, "links": 2, "redacted": 1 }));
    let expected = [
        (2, "not a JSON object"),
        (3, "65537 bytes, over 65536"),
        (4, "GitHub token"),
        (6, "11 is not between 1 and 10"),
        (7, "\"yesterday\" is not a time"),
        (8, "\"mem_1\" is not the id"),
        (9, "\"a,b\" is not a tag"),
        (10, "has a NUL"),
        (11, "access_count"),
        (13, "recursion limit"),
        (15, "refers to itself"),
        (16, "no memory has the id \"mem_0\""),
        (17, "kind: \"likes\""),
        (20, "kind: mem_01ARZ3NDEKTSV4RRFFQ69G5FAW is superseded by mem_01ARZ3NDEKTSV4RRFFQ69G5FAV already"),
    ];
    let refused = refused(&answer);
    assert_eq!(refused.len(), expected.len(), "{answer}");
    for ((line, why), (at, said)) in refused.iter().zip(expected) {
        assert!(*line == at && why.contains(said), "{line} {why}: {at} {said}");
    }
    assert_eq!(texts(&live), ["a [REDACTED]", "one", "three", "two"]);
    let newer =
        file(&live, "newer.jsonl", "{\"format\":\"memod-memories\",\"version\":99,\"memod\":\"9\"}\n");
    let (code, answer) = memo(&live, &["import", &newer]);
    assert!(code == 2 && answer.to_string().contains("version 99"), "{answer}");
    assert_eq!(memo(&live, &["import", "../nowhere"]).0, 2);
    assert_eq!(memo(&live, &["import", &newer, &newer]).0, 2);
}

/// What the daemon does not even read as a request must not take the other lines of its batch along.
#[test]
fn a_line_that_cannot_be_sent_is_refused_alone() {
    let live = Live::new();
    let deep = |n: usize| {
        format!("{{\"content\":\"deep {n}\",\"metadata\":{}1{}}}", "{\"a\":".repeat(n), "}".repeat(n))
    };
    let large =
        |n: usize| json!({ "content": format!("large {n}"), "metadata": { "a": "x".repeat(1 << 20) } });
    let mut lines = vec!["\u{feff}{\"content\":\"first\"}".to_owned(), deep(60), deep(61), deep(120)];
    lines.extend((0..10).map(|n| large(n).to_string()));
    lines.extend((0..200).map(|n| {
        json!({ "content": format!("n{n:03}"), "metadata": { "a": "x".repeat(60_000) } }).to_string()
    }));
    lines.push(
        json!({ "link": { "source": "a".repeat(1 << 20), "target": "b", "kind": "related_to" } }).to_string(),
    );
    let answer = import(&live, &[&file(&live, "odd.jsonl", &lines.join("\n"))], &json!({ "added": 202 }));
    let refused = refused(&answer);
    let numbers: Vec<u64> = refused.iter().map(|(line, _)| *line).collect();
    assert_eq!(numbers, [&[3, 4][..], &(5..15).collect::<Vec<_>>(), &[215]].concat(), "{refused:?}");
    assert!(refused[0].1.contains("nested deeper than 61"), "{refused:?}");
    assert!(refused[2].1.contains("over 65536"), "{refused:?}");
    let all = export(&live);
    assert_eq!(all.lines().count(), 204);
    assert_eq!(memo(&live, &["recall", "deep"]).0, 0);
}

#[test]
fn links_from_a_file_obey_the_rules_of_links() {
    let live = Live::new();
    let id = |end: char| format!("mem_01ARZ3NDEKTSV4RRFFQ69G5FA{end}");
    let memory =
        |end: char| json!({ "content": format!("rule {end}"), "id": id(end), "access_count": i64::MAX });
    let link = |source: char, target: char, kind: &str| json!({ "link": { "source": id(source), "target": id(target), "kind": kind } });
    let lines = [
        memory('A'),
        memory('B'),
        memory('C'),
        link('A', 'B', "supersedes"),
        link('B', 'C', "supersedes"),
        link('C', 'A', "supersedes"),
        link('A', 'B', "related_to"),
        link('B', 'A', "related_to"),
    ];
    let path = file(&live, "links.jsonl", &lines.map(|line| line.to_string()).join("\n"));
    let answer = import(&live, &[&path], &json!({ "added": 3, "links": 3 }));
    let why = format!("kind: {} is superseded by {} already", id('C'), id('A'));
    assert_eq!(refused(&answer), [(6, why)]);
    let history = live.call("memory.history", json!({ "ids": [id('C')] })).to_string();
    assert!(history.contains("superseded_by"), "a link is a change: {history}");
    assert_eq!(memo(&live, &["recall", "rule"]).0, 0, "the most recalls there can be");
}

#[test]
fn a_line_without_end_harms_nobody() {
    let live = Live::new();
    let mut child =
        live.memo(&["import", "-", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let block = vec![b'x'; 1 << 20];
    (0..300).for_each(|_| stdin.write_all(&block).unwrap());
    stdin.write_all(b"\n{\"content\":\"behind it\"}\n").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(refused(&answer), [(1, "a line over 2 MiB".to_owned())]);
    assert_eq!(texts(&live), ["behind it"]);
}

#[cfg(unix)]
#[test]
fn a_folder_of_documents_is_taken_as_it_is() {
    let live = Live::new();
    let docs = live.sandbox.path("docs");
    let path = docs.to_str().unwrap().to_owned();
    file(&live, "docs/a.md", "# A\n\nfirst\n\n## B\n\nsecond\n");
    file(&live, "docs/deep/b.markdown", "# A\n\nfirst\n");
    file(&live, "docs/out.mdx", "# Out\n\n<!-- vector-index: false -->\n");
    file(&live, "docs/latin.md", "x");
    fs::write(docs.join("latin.md"), b"caf\xe9").unwrap();
    file(&live, "docs/code.rs", "fn main() {}");
    file(&live, "elsewhere/secret.md", "# Not in the folder\n");
    std::os::unix::fs::symlink(live.sandbox.path("elsewhere"), docs.join("link")).unwrap();
    std::os::unix::fs::symlink(live.sandbox.path("elsewhere/secret.md"), docs.join("link.md")).unwrap();
    assert!(Command::new("mkfifo").arg(docs.join("fifo.md")).status().unwrap().success());
    let args = ["--from", "markdown", "--container", "Hand Book", "--tag", "docs", path.as_str()];
    let answer = import(&live, &args, &json!({ "added": 3 }));
    assert_eq!(refused(&answer), [(0, "not UTF-8".to_owned())]);
    assert!(answer["notes"].to_string().contains("vector-index"), "{answer}");
    let ids = |live: &Live| {
        let memories = list(live);
        let by_title = |memory: &Value| (memory["title"].to_string(), memory["key"].to_string());
        let mut ids: Vec<_> =
            memories.iter().map(|memory| (by_title(memory), memory["id"].clone())).collect();
        ids.sort_by(|a, b| a.0.cmp(&b.0));
        ids
    };
    let before = ids(&live);
    let memory = &list(&live)[0];
    assert_eq!(
        (&memory["source"], &memory["container"], &memory["tags"]),
        (&json!("import"), &json!("hand-book"), &json!(["docs"]))
    );
    assert!(memory["key"].as_str().unwrap().starts_with(&format!("import:{path}/")), "{memory}");
    let hash = blake3::hash(memory["content"].as_str().unwrap().as_bytes()).to_hex();
    assert_eq!(memory["metadata"]["hash"], hash.as_str(), "{memory}");
    import(&live, &args, &json!({ "added": 0, "same": 3, "archived": 0 }));
    file(&live, "docs/a.md", "# A\n\nfirst\n\n## B\n\nthird\n");
    import(
        &live,
        &[args.as_slice(), &["--dry-run"]].concat(),
        &json!({ "added": 1, "same": 2, "archived": 1 }),
    );
    import(&live, &args, &json!({ "added": 1, "same": 2, "archived": 1 }));
    assert_eq!(ids(&live).iter().filter(|now| before.contains(now)).count(), 2, "what stayed keeps its id");
    let mine = live.call("memory.add", json!({ "content": "# A\n\nfirst", "container": "hand-book" }));
    assert_eq!(mine["created"], true, "what a document says may be said beside it");
    fs::remove_file(docs.join("deep/b.markdown")).unwrap();
    import(&live, &args, &json!({ "same": 2, "archived": 1 }));
    let edited =
        list(&live).into_iter().find(|memory| memory["content"].to_string().contains("third")).unwrap();
    live.call("memory.update", json!({ "id": edited["id"], "append": "my own words" }));
    import(&live, &args, &json!({ "added": 1, "same": 1, "archived": 0 }));
    assert!(texts(&live).iter().any(|text| text.contains("my own words")), "who rewrites it makes it theirs");
    let archived = live.call("memory.list", json!({ "archived": true }));
    assert_eq!(archived["memories"][0]["archived_why"], "replaced");
    assert_eq!(memo(&live, &["import", "--from", "markdown", "/nonexistent.md"]).0, 2);
}

#[test]
fn a_repo_map_is_one_snapshot() {
    let live = Live::new();
    let whole = json!([
        { "path": "a.go", "language": "go", "symbols": ["A", "b"], "content": "type A struct" },
        { "path": "b.go" },
        { "symbols": [] },
    ]);
    let path = file(&live, "map.json", &whole.to_string());
    let answer = import(&live, &["--from", "repo-map", &path], &json!({ "added": 2 }));
    assert_eq!(refused(&answer), [(3, "path: missing".to_owned())]);
    assert_eq!(texts(&live), ["a.go [go] A b\ntype A struct", "b.go [unknown]"]);
    assert_eq!(list(&live)[0]["key"], format!("repo-map:{path}"));
    file(&live, "map.json", "[{\"path\": \"b.go\"}]");
    import(&live, &["--from", "repo-map", &path], &json!({ "same": 1, "archived": 1 }));
    for broken in ["[{\"path\": ", "{}", "\"x\"", ""] {
        file(&live, "map.json", broken);
        let (code, answer) = memo(&live, &["import", "--from", "repo-map", &path]);
        assert!(code == 2 && answer["error"]["message"].as_str().unwrap().contains("map.json"), "{answer}");
    }
    assert_eq!(texts(&live), ["b.go [unknown]"], "what cannot be read replaces nothing");
    let many: Vec<_> = (0..1_200).map(|number| json!({ "path": format!("{number}.go") })).collect();
    file(&live, "map.json", &json!(many).to_string());
    import(&live, &["--from", "repo-map", &path], &json!({ "added": 1_200, "archived": 1 }));
    import(&live, &["--from", "repo-map", &path], &json!({ "same": 1_200, "archived": 0 }));
}

#[test]
fn conversations_come_in_whole() {
    let live = Live::new();
    let long = "word ".repeat(8_000);
    let claude = json!([{ "uuid": "c1", "name": "About auth", "created_at": "2026-01-01T00:00:00Z", "chat_messages": [
        { "sender": "human", "text": "how?", "created_at": "2026-01-01T00:00:01Z" },
        { "sender": "assistant", "content": [{ "type": "text", "text": "with tokens" }], "created_at": "2026-01-01T00:00:02Z" },
        { "sender": "human", "text": long },
    ] }, { "uuid": "c2", "chat_messages": [] }, 7]);
    let path = file(&live, "claude/conversations.json", &claude.to_string());
    let answer = import(&live, &["--from", "claude", &path], &json!({ "added": 4 }));
    assert_eq!(refused(&answer), [(3, "not an object".to_owned())]);
    let first = list(&live).into_iter().find(|memory| memory["metadata"]["imported"]["part"] == 1).unwrap();
    assert_eq!(first["content"], "user: how?\n\nassistant: with tokens");
    assert_eq!(
        (&first["title"], &first["created"]),
        (&json!("About auth (1/4)"), &json!("2026-01-01T00:00:01.000Z"))
    );
    import(&live, &["--from", "claude", &path], &json!({ "added": 0, "same": 4 }));
    let timeless =
        list(&live).into_iter().find(|memory| memory["metadata"]["imported"]["part"] == 2).unwrap();
    live.call("memory.update", json!({ "id": timeless["id"], "content": "changed here" }));
    import(&live, &["--from", "claude", &path, "--merge"], &json!({ "added": 0, "same": 3, "older": 1 }));
    assert!(texts(&live).contains(&"changed here".to_owned()));

    let node = |parent: Value, role: &str, text: &str, children: Value| {
        json!({ "parent": parent, "children": children,
        "message": { "author": { "role": role }, "create_time": 1_700_000_000.5, "content": { "parts": [text] } } })
    };
    let chatgpt = json!([{ "id": "g1", "title": "Tree", "current_node": "d", "mapping": {
        "a": { "message": null, "parent": null, "children": ["b"] },
        "b": node(json!("a"), "user", "asked", json!(["c", "d"])),
        "c": node(json!("b"), "assistant", "first try", json!([])),
        "d": node(json!("b"), "assistant", "second try", json!([])),
    } }, { "id": "ring", "mapping": { "x": node(json!("x"), "user", "round and round", json!(["x"])) }, "current_node": "x" }]);
    let path = file(&live, "chatgpt.json", &chatgpt.to_string());
    import(&live, &["--from", "chatgpt", &path], &json!({ "added": 2 }));
    assert!(
        texts(&live).contains(&"user: asked\n\nassistant: second try".to_owned()),
        "the branch that counts"
    );

    let message =
        |text: &str| json!([{ "type": "message", "user": "U1", "text": text, "ts": "1700000000.0001" }]);
    file(&live, "slack/general/2026-01-01.json", &message("hello").to_string());
    file(&live, "slack/general/2026-01-02.json", &message("world").to_string());
    file(&live, "slack/general/2026-01-03.json", "{");
    let users = json!([{ "id": "U1", "name": "ann", "profile": { "real_name": "Ann\n\nLee" } }]);
    file(&live, "slack/users.json", &users.to_string());
    let path = live.sandbox.path("slack").to_str().unwrap().to_owned();
    let answer = import(&live, &["--from", "slack", &path], &json!({ "added": 1 }));
    assert!(refused(&answer)[0].1.starts_with("not a list of messages"), "{answer}");
    assert!(texts(&live).contains(&"Ann Lee: hello\n\nAnn Lee: world".to_owned()));
    let zip = file(&live, "export.zip", "PK\u{3}\u{4}");
    let (code, answer) = memo(&live, &["import", "--from", "claude", &zip]);
    assert!(code == 2 && answer.to_string().contains("zip"), "{answer}");
}

#[test]
fn what_looks_like_a_credential_says_how_it_comes_in() {
    let live = Live::new();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).get(..36).unwrap());
    let file = live.sandbox.path("kept.jsonl");
    std::fs::write(&file, json!({ "content": format!("the old token was {token}") }).to_string()).unwrap();
    let file = file.to_str().unwrap();
    let refused = live.memo(&["import", file]).output().unwrap();
    let said =
        String::from_utf8_lossy(&refused.stderr).into_owned() + &String::from_utf8_lossy(&refused.stdout);
    assert!(refused.status.code() == Some(1) && said.contains("--allow-secret"), "{said}");
    assert!(live.memo(&["import", "--allow-secret", file]).status().unwrap().success());
}

#[test]
fn a_slack_export_with_names_is_known_from_the_one_without() {
    let live = Live::new();
    let message = |number: usize| {
        json!({ "user": "U1", "text": format!("<@U2> number {number} &lt; {}", "x".repeat(60)),
        "ts": (1_700_000_000 + number).to_string() })
    };
    let day: Vec<Value> = (0..800).map(message).collect();
    file(&live, "slack/general/2026-01-01.json", &json!(day).to_string());
    let path = live.sandbox.path("slack").to_str().unwrap().to_owned();
    let first = import(&live, &["--from", "slack", &path], &json!({}));
    let n_parts = first["added"].as_u64().unwrap();
    assert!(n_parts > 3, "{first}");
    assert!(texts(&live).iter().all(|text| text.starts_with("U1: @U2 number")));

    let person = |id: &str, name: &str| json!({ "id": id, "profile": { "real_name": name } });
    let long = "somebody with a rather long name ".repeat(2);
    let users = json!([person("U1", &format!("One {long}")), person("U2", &format!("Two {long}"))]);
    file(&live, "slack/users.json", &users.to_string());
    let again = import(&live, &["--from", "slack", &path], &json!({ "added": 0 }));
    assert_eq!(refused(&again).len() as u64, n_parts, "{again}");
    assert!(refused(&again)[0].1.contains("differs in content"), "{again}");
    assert_eq!(texts(&live).len() as u64, n_parts, "nothing is there twice");

    import(&live, &["--from", "slack", &path, "--merge"], &json!({ "added": 0, "updated": n_parts }));
    let named = texts(&live);
    assert_eq!(named.len() as u64, n_parts);
    assert!(
        named.iter().all(|text| text.starts_with("One somebody") && text.contains(": @Two somebody")),
        "{named:?}"
    );
    for number in 0..800 {
        let said = named.iter().filter(|text| text.contains(&format!("number {number} <"))).count();
        assert_eq!(said, 1, "message {number}");
    }
    import(&live, &["--from", "slack", &path], &json!({ "added": 0, "same": n_parts }));
}

#[test]
fn a_source_may_be_in_several_containers() {
    let live = Live::new();
    let file = live.sandbox.path("notes.md");
    let import = |text: &str, container: &str| {
        std::fs::write(&file, text).unwrap();
        memo(&live, &["import", "--from", "markdown", file.to_str().unwrap(), "--container", container])
    };
    let texts = |container: &str| {
        let listed = memo(&live, &["list", "--container", container]).1;
        listed["memories"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["content"].to_string())
            .collect::<String>()
    };
    assert_eq!(import("# Walrus\n\nIt winters on the ice.\n", "first").0, 0);
    assert_eq!(import("# Walrus\n\nIt winters on the ice.\n", "second").0, 0);
    assert!(texts("first").contains("winters") && texts("second").contains("winters"));
    assert_eq!(import("# Walrus\n\nIt summers on a beach.\n", "second").0, 0);
    assert!(texts("first").contains("winters"), "{}", texts("first"));
    assert!(
        texts("second").contains("summers") && !texts("second").contains("winters"),
        "{}",
        texts("second")
    );
}

#[test]
fn no_import_looks_like_a_person() {
    let live = Live::new();
    let sources = ["user", "User", "u\u{200b}ser", "us\u{435}r", "u5er", "slack"];
    let lines = sources.map(|source| {
        let memory = json!({ "memory": { "content": format!("said by {source}"), "source": source } });
        format!("{memory}\n")
    });
    let path = file(&live, "said.jsonl", &lines.concat());
    import(&live, &[&path], &json!({ "added": 6 }));
    let mut seen: Vec<_> =
        list(&live).iter().map(|memory| memory["source"].as_str().unwrap().to_owned()).collect();
    seen.sort();
    assert_eq!(seen, ["import", "import", "import", "import", "import", "slack"]);
}
