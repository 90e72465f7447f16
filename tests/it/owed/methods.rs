//! The table: each method of the protocol, under each fault.

use memod_proto::{AnswerPart, METHODS, Method, RequiredCaveats};
use serde_json::{Value, json};

use super::{Broken, DIRECTORY, FILE, Fault, LISTING, LSTAT, LSTAT_OF_FILE, REFS, SOURCE_FILE, text};
use crate::live::{PATIENCE, until};

/// Methods that owe nothing: a new method is either here or has a row below.
const OWE_NOTHING: &[&str] = &[
    "hello",
    "subscribe",
    "unsubscribe",
    "reindex",
    "doctor.acknowledge",
    "stop",
    "serve.start",
    "serve.stop",
    "serve.status",
    "hooks.install",
    "hooks.uninstall",
    "hooks.status",
    "model.list",
    "model.import",
    "model.use",
    "model.remove",
    "llm.status",
    "llm.expand",
    "llm.summarise",
    "llm.distil",
    "team.status",
    "team.sync",
    "team.leave",
    "team.members",
    "memory.check_files",
    "memory.read_database",
];

/// Returns params of a method that succeed where all can be read.
fn row(method: &str, broken: &Broken) -> Option<Value> {
    let Broken { anchored, own, archived, shared, disputed, .. } = broken;
    let wait = PATIENCE.as_millis();
    let of = |target: &str| json!({ "target": target, "with": ["memories"], "wait_ms": wait });
    Some(match method {
        "search" => json!({ "query": "billing rule", "wait_ms": wait }),
        "brief" | "map" | "status" | "sync" | "doctor" => json!({ "wait_ms": wait }),
        "advise" => json!({ "prompt": "what does the billing rule say of rotate?", "within_ms": wait }),
        "show" | "outline" | "why" => json!({ "target": "a.py", "wait_ms": wait }),
        "refs" | "callers" | "impact" | "tests" => of("rotate"),
        "callees" => of("Leaf.go"),
        "implements" => of("Base"),
        "changed" => json!({ "since": "HEAD", "wait_ms": wait }),
        "complete" => json!({ "what": "path" }),
        "llm.compare" => json!({ "dry_run": true }),
        "llm.suggest" => json!({ "content": "a port", "dry_run": true }),
        "memory.add" => json!({ "content": "the moon is far away" }),
        "memory.get" => json!({ "ids": [shared] }),
        "memory.history" => json!({ "ids": [shared] }),
        "memory.list" | "memory.tags" | "memory.containers" | "memory.stats" | "memory.dedupe" => json!({}),
        "memory.update" => json!({ "id": own[0], "priority": 7 }),
        "memory.confirm" => json!({ "id": anchored }),
        "memory.forget" => json!({ "ids": [own[3]] }),
        "memory.restore" => json!({ "ids": [archived[0]] }),
        "memory.purge" => json!({ "ids": [archived[1]] }),
        "memory.reset" | "memory.auto_consolidate" | "memory.restore_backup" => json!({ "dry_run": true }),
        "memory.recall" => json!({ "query": "billing rule" }),
        "memory.promote" | "memory.links" | "memory.related" => json!({ "id": own[0] }),
        "memory.share" => json!({ "ids": [own[0]], "dry_run": true }),
        "memory.unshare" => json!({ "ids": [shared], "dry_run": true }),
        "memory.resolve_file" => json!({ "id": disputed, "side": "ours" }),
        "memory.restore_file" => json!({ "id": shared, "text": "" }),
        "memory.link" | "memory.unlink" => json!({ "from": own[0], "to": own[1] }),
        "memory.resolve" => json!({ "winner": own[0], "loser": own[1] }),
        "memory.consolidate" => json!({ "ids": [own[4], own[5]], "summary": "tide and bread" }),
        "memory.merge" => json!({ "keep": anchored, "ids": [own[2]] }),
        "memory.import" => json!({ "drafts": [{ "content": "an imported thing" }] }),
        "memory.import_markdown" => {
            json!({ "text": "# One\n\na section that comes\n", "path": "/tmp/one.md" })
        }
        "memory.import_keys" => json!({ "beginning": "" }),
        "memory.export" | "memory.backup" => json!({}),
        _ => return None,
    })
}

/// Returns whether the answer to a row is made of what cannot be read; `None` if that depends on more than the row.
fn is_hit(method: &Method, fault: Fault) -> Option<bool> {
    let (part, parts) = (fault.part, method.required_caveats.answer_parts());
    if !parts.contains(&part) {
        let is_behind = fault.stops_walk && parts.contains(&AnswerPart::Code);
        return (!is_behind && method.name != "complete").then_some(false);
    }
    match (part, method.name) {
        // The rows ask for memories and not for commits, or are of memories without code.
        (AnswerPart::Commits, "search" | "brief" | "why" | "changed" | "sync" | "status" | "doctor") => {
            Some(true)
        }
        (AnswerPart::Commits, _) => Some(false),
        (AnswerPart::Code, name) if name.starts_with("memory.") => None,
        (AnswerPart::Code, "why" | "advise" | "status" | "doctor") => None,
        _ => Some(true),
    }
}

fn check(broken: &Broken, method: &Method, params: Value) {
    let Broken { live, fault, .. } = broken;
    let mut params = params;
    params["cwd"] = json!(live.root());
    let answer = live.rpc().call(method.name, &params);
    let what = format!("{} under {fault:?}: {answer:?}", method.name);
    let is_hit = is_hit(method, *fault);
    let result = match &answer {
        Err(error) => {
            // A verb that writes finds that the file is newer than what is known of it.
            let said = text(&error["message"]);
            let is_told = said.contains(fault.message) || said.contains("was edited during the change");
            assert!(is_hit != Some(false) && is_told, "{what}");
            return;
        }
        Ok(result) => result,
    };
    match method.required_caveats {
        RequiredCaveats::Nothing => assert!(result.get("fresh").is_none(), "{what}"),
        RequiredCaveats::Fresh(_) => {
            let (fresh, reason) = (result["fresh"].as_bool().expect(&what), text(&result["reason"]));
            assert_eq!(fresh, reason.is_empty(), "a reason is there if it is not fresh: {what}");
            if let Some(is_hit) = is_hit {
                assert_eq!(fresh, !is_hit, "{what}");
                assert!(fresh || broken.is_named_in(reason), "{what}");
            }
        }
        RequiredCaveats::Report if is_hit == Some(true) => {
            assert!(broken.is_named_in(&result.to_string()), "{what}");
        }
        RequiredCaveats::Report => {}
    }
    let has_told = result["degraded"].as_array().is_none_or(|told| {
        fault.part != AnswerPart::Memories || told.iter().any(|why| broken.is_named_in(text(why)))
    });
    assert!(has_told, "{what}");
}

fn check_all(fault: Fault) {
    let Some(broken) = Broken::by(fault) else { return };
    if !fault.stops_walk && fault.part == AnswerPart::Memories {
        let ask = json!({ "cwd": broken.live.root(), "wait_ms": PATIENCE.as_millis() });
        until("the index is built", || broken.live.rpc().call("sync", &ask).unwrap()["fresh"] == true);
    }
    let mut n_rows = 0;
    for method in METHODS {
        if method.required_caveats == RequiredCaveats::Nothing {
            assert!(OWE_NOTHING.contains(&method.name), "{} owes nothing? say so here", method.name);
            continue;
        }
        let params = row(method.name, &broken).unwrap_or_else(|| panic!("{} has no row", method.name));
        check(&broken, method, params);
        n_rows += 1;
    }
    assert_eq!(n_rows + OWE_NOTHING.len(), METHODS.len());
}

#[test]
fn a_file_of_a_memory_that_cannot_be_read() {
    check_all(FILE);
}

#[test]
fn a_file_of_a_memory_that_cannot_be_looked_at() {
    check_all(LSTAT_OF_FILE);
}

#[test]
fn a_directory_of_memories_that_cannot_be_opened() {
    check_all(DIRECTORY);
}

#[test]
fn a_directory_of_memories_that_cannot_be_listed() {
    check_all(LISTING);
}

#[test]
fn a_directory_of_memories_that_cannot_be_looked_at() {
    check_all(LSTAT);
}

#[test]
fn a_source_file_that_cannot_be_read() {
    check_all(SOURCE_FILE);
}

#[test]
fn refs_that_cannot_be_read() {
    check_all(REFS);
}

/// A search owes nothing of what it does not search.
#[test]
fn what_is_not_searched_is_not_told() {
    let Some(broken) = Broken::by(FILE) else { return };
    let ask = |params: Value| broken.live.call("search", params);
    let wait = PATIENCE.as_millis();
    let docs = ask(json!({ "query": "rotate", "kind": ["symbol"], "wait_ms": wait }));
    assert_eq!((&docs["fresh"], &docs["degraded"]), (&json!(true), &json!([])), "{docs}");
    let memories = ask(json!({ "query": "billing", "kind": ["memory"] }));
    assert_eq!(memories["fresh"], false, "{memories}");
}
