//! Are proposals shown with what would carry them out, and is nothing done by itself?

use std::fs;

use serde_json::{Value, json};

use super::server::Act;
use super::{Helped, KEY};
use crate::live::memo;

/// Runs `memo` and returns status, stdout and stderr in one text.
fn shown(helped: &Helped, args: &[&str]) -> String {
    helped.live.sandbox.show(&mut helped.live.memo(args))
}

/// Checks that a dry run shows what is then sent, and sends nothing.
fn check_dry_run(helped: &Helped, args: &[&str]) {
    let before = helped.server.sent().len();
    let (_, dry) = memo(&helped.live, &[args, &["--dry-run"]].concat());
    assert_eq!(helped.server.sent().len(), before, "{args:?}");
    shown(helped, args);
    let sent = helped.server.sent();
    assert_eq!(dry["requests"][0]["messages"], sent[before].body["messages"], "{args:?}");
    assert!(dry["requests"][0]["tokens"].as_u64().unwrap() > 50);
}

fn token() -> String {
    ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat()
}

#[test]
fn a_brief_is_summarised_or_shown() {
    let helped = Helped::new(|_| Act::says(r#"{"summary": "Hotels,\nand \u001b[31mcookies."}"#));
    helped
        .live
        .write("README.md", format!("# Hotels\n\nRooms for guests, key {KEY}.\n\ntoken = \"{}\"\n", token()));
    helped.live.call("sync", json!({ "wait_ms": 60_000 }));
    let text = shown(&helped, &["brief", "--summarise"]);
    assert_eq!(
        text,
        "exit 0\nout: Hotels,\nout: and [31mcookies.\nerr: memo: a language model wrote this from the output of `memo brief`\n"
    );
    check_dry_run(&helped, &["brief", "--summarise"]);
    let sent = format!("{:?}", helped.server.sent().iter().map(|sent| sent.body.clone()).collect::<Vec<_>>());
    assert!(sent.contains("Rooms for guests") && !sent.contains(KEY) && !sent.contains(&token()), "{sent}");

    let hanging = Helped::with(|_| Act::Hang, "task_seconds = 1\n");
    hanging.live.write("README.md", "# Hotels\n\nRooms for guests, and cookies for those who stay.\n");
    hanging.live.call("sync", json!({ "wait_ms": 60_000 }));
    let text = shown(&hanging, &["brief", "--summarise"]);
    assert!(text.contains("out: Hotels: Rooms for guests, and cookies"), "{text}");
    assert!(text.contains("err: memo: no summary: the server did not answer in time"), "{text}");
}

#[test]
fn a_new_memory_gets_suggestions_and_keeps_its_fields() {
    let answer = r##"{"title": "Deploys on 'Tuesdays'", "tags": ["Ops", "$(rm -rf)", "release plan"]}"##;
    let helped = Helped::new(move |_| Act::says(answer));
    let content = "deploys are on Tuesdays, after the standup";
    check_dry_run(&helped, &["add", "--suggest", content]);
    let text = shown(&helped, &["add", "--suggest", "backups are made on Fridays at noon"]);
    let id = text.lines().nth(1).unwrap().strip_prefix("out: ").unwrap().to_owned();
    let title =
        r"memo: suggested title: memo update ID --title 'Deploys on '\''Tuesdays'\'''".replace("ID", &id);
    assert!(
        text.contains(&title)
            && text.contains(&format!("memo: suggested tags: memo tag {id} ops release-plan\n")),
        "{text}"
    );
    let memory = &helped.live.call("memory.get", json!({ "ids": [id] }))["memories"][0];
    assert_eq!((&memory["title"], &memory["tags"]), (&Value::Null, &json!([])), "nothing is done by itself");

    let hanging = Helped::with(|_| Act::Hang, "task_seconds = 1\n");
    let text = shown(&hanging, &["add", "--suggest", content]);
    assert!(
        text.starts_with("exit 0\nout: mem_") && text.contains("no suggestion: the server did not"),
        "{text}"
    );
}

#[test]
fn pairs_of_memories_are_judged_and_left_alone() {
    let lies = json!({ "pairs": [
        { "pair": 1, "verdict": "same", "better": "B", "reason": "both name\nthe day" },
        { "pair": 1, "verdict": "contradict" },
        { "pair": 7, "verdict": "same" },
        { "pair": 2, "verdict": "forget both" },
    ] });
    let helped = Helped::new(move |_| Act::says(&lies.to_string()));
    let texts =
        ["the release is cut on every Tuesday morning", "the release is cut each Tuesday in the morning"];
    let ids: Vec<String> = texts
        .iter()
        .map(|text| {
            let params = json!({ "content": text, "force": true });
            helped.live.call("memory.add", params)["memory"]["id"].as_str().unwrap().to_owned()
        })
        .collect();
    let text = shown(&helped, &["dedupe", "--propose", "--threshold", "0.5"]);
    let (first, second) = (&ids[0], &ids[1]);
    assert!(text.starts_with("exit 0\nout: same       0."), "{text}");
    assert!(text.contains(&format!("out:   $ memo link {second} {first} --kind supersedes\n")), "{text}");
    assert!(text.contains("out:   both name the day\n") && text.matches("$ memo").count() == 1, "{text}");
    let links = helped.live.call("memory.links", json!({ "id": first }));
    assert_eq!(links["links"], json!([]), "nothing is done by itself");
    check_dry_run(&helped, &["dedupe", "--propose", "--threshold", "0.5"]);
    // What is proposed can be done, and is then not asked about again.
    shown(&helped, &["link", second, first, "--kind", "supersedes"]);
    let text = shown(&helped, &["dedupe", "--propose", "--threshold", "0.5"]);
    assert_eq!(text, "exit 1\nerr: memo: no two memories of a container are near each other\n");

    let broken = Helped::new(|_| Act::says("{\"pairs\": [{\"pair\""));
    for text in texts {
        broken.live.call("memory.add", json!({ "content": text, "force": true }));
    }
    let text = shown(&broken, &["dedupe", "--propose", "--threshold", "0.5"]);
    assert!(text.contains("out: near ") && text.contains("the model did not answer with JSON"), "{text}");
}

#[test]
fn a_transcript_becomes_lines_that_can_be_imported() {
    let answer = json!({ "memories": [
        { "text": "Deploys are on Tuesdays, because support is staffed then.", "title": "Deploys", "tags": ["ops"] },
        { "text": format!("use {}", token()) },
        { "text": "" },
    ] });
    let helped = Helped::new(move |_| Act::says(&answer.to_string()));
    let session = helped.live.sandbox.path("session.jsonl");
    let said =
        |text: String| json!({ "type": "user", "message": { "role": "user", "content": text } }).to_string();
    fs::write(
        &session,
        [said(format!("we deploy on Tuesdays, {KEY} {}", token())), said("ok".to_owned())].join("\n"),
    )
    .unwrap();
    let session = session.to_str().unwrap();
    let text = shown(&helped, &["distil", session]);
    assert!(text.starts_with("exit 0\nout: {") && text.contains("memo: 1 memory is proposed"), "{text}");
    let sent = helped.server.sent();
    let sent = sent[0].user();
    assert!(sent.contains("user: we deploy on Tuesdays, [REDACTED] [REDACTED]\n\nuser: ok"), "{sent}");
    assert_eq!(helped.live.call("memory.list", json!({}))["total"], 0, "nothing is done by itself");
    check_dry_run(&helped, &["distil", session]);

    let lines: String =
        text.lines().filter_map(|line| line.strip_prefix("out: ")).map(|line| format!("{line}\n")).collect();
    let file = helped.live.sandbox.path("candidates.jsonl");
    fs::write(&file, lines).unwrap();
    let text = shown(&helped, &["import", file.to_str().unwrap()]);
    assert!(text.contains("1 added") || text.contains("1 new") || text.starts_with("exit 0"), "{text}");
    let memory = &helped.live.call("memory.list", json!({}))["memories"][0];
    assert_eq!(
        (&memory["source"], &memory["confidence"], &memory["tags"]),
        (&json!("import"), &json!(0.5), &json!(["ops"]))
    );

    let refusing = Helped::new(|_| Act::of(401, "", ""));
    let text = shown(&refusing, &["distil", session]);
    assert!(
        text.starts_with("exit 1\n")
            && text.contains("the transcript was not read completely: the server refuses the key (401)"),
        "{text}"
    );
}
