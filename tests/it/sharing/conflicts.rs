//! Is a conflict of git visible, found on both sides, and ended?

use serde_json::json;

use super::{add_shared, complaint, found, get, listed, path_of, text_of, write_file};
use crate::live::{Live, memo};
use crate::memories::{call, refusal};

/// Returns a repository with a memory in conflict: `beta` here, `gamma` there.
pub(super) fn in_conflict() -> (Live, String) {
    let live = Live::new();
    let id = add_shared(&live, "alpha is the first");
    live.commit_all();
    live.git(&["switch", "-q", "-c", "side"]);
    call(&live, "memory.update", json!({ "id": id, "content": "gamma is theirs" }));
    live.commit_all();
    live.git(&["switch", "-q", "main"]);
    call(&live, "memory.update", json!({ "id": id, "content": "beta is ours" }));
    live.commit_all();
    assert!(!live.git_may_fail(&["merge", "side"]).status.success());
    (live, id)
}

#[test]
fn both_sides_are_there_until_it_is_resolved() {
    let (live, id) = in_conflict();
    let sides = listed(&live, &id);
    let said: Vec<_> = sides.iter().map(|side| (&side["conflict"], &side["content"])).collect();
    assert_eq!(
        said,
        [(&json!("ours"), &json!("beta is ours")), (&json!("theirs"), &json!("gamma is theirs"))]
    );
    assert_eq!((found(&live, "beta"), found(&live, "gamma")), (vec![id.clone()], vec![id.clone()]));
    assert_eq!(complaint(&live, &format!("{id}.md")).unwrap(), "in conflict");
    assert!(call(&live, "memory.list", json!({}))["notice"].as_str().unwrap().contains("1 in conflict"));
    let why = refusal(&live, "memory.update", json!({ "id": id, "add_tags": ["x"] }));
    assert!(why.contains("in conflict"), "{why}");
    let (code, answer) = memo(&live, &["resolve", &id, "--theirs"]);
    assert_eq!((code, &answer["memory"]["content"]), (0, &json!("gamma is theirs")), "{answer}");
    assert_eq!((listed(&live, &id).len(), complaint(&live, &format!("{id}.md"))), (1, None));
    assert!(text_of(&live, &id).ends_with("\ngamma is theirs\n"));
    assert_eq!(get(&live, &id)["trust"], "own");
    live.commit_all();
    assert!(
        refusal(&live, "memory.resolve_file", json!({ "id": id, "side": "ours" }))
            .contains("not in conflict")
    );
}

#[test]
fn a_text_or_an_editor_ends_it_too() {
    let (live, id) = in_conflict();
    let (code, answer) = memo(&live, &["resolve", &id, "--text", "delta is both"]);
    assert_eq!((code, &answer["memory"]["content"]), (0, &json!("delta is both")), "{answer}");
    let (live, id) = in_conflict();
    let text = memod_memory::file::parse_conflict_sides(&text_of(&live, &id)).unwrap().unwrap()[1].clone();
    write_file(&live, &id, &text);
    assert_eq!(get(&live, &id)["content"], "gamma is theirs");
    assert_eq!(complaint(&live, &format!("{id}.md")), None);
}

#[test]
fn an_aborted_merge_is_as_before() {
    let (live, id) = in_conflict();
    assert_eq!(listed(&live, &id).len(), 2);
    live.git(&["merge", "--abort"]);
    assert_eq!(listed(&live, &id).len(), 1);
    assert_eq!(
        (&get(&live, &id)["content"], &get(&live, &id)["trust"]),
        (&json!("beta is ours"), &json!("own"))
    );
    assert!(path_of(&live, &id).exists());
}

#[test]
fn a_file_that_one_side_has_removed_is_listed_until_git_knows_the_outcome() {
    for (removed_on, kept) in [("main", "removed by the side"), ("side", "changed by the side")] {
        let live = Live::new();
        let id = add_shared(&live, "alpha is the first");
        live.commit_all();
        live.git(&["branch", "side"]);
        for branch in ["main", "side"] {
            live.git(&["switch", "-q", branch]);
            match branch == removed_on {
                true => live.call("memory.forget", json!({ "ids": [id] })),
                false => live.call("memory.update", json!({ "id": id, "content": "gamma is new" })),
            };
            live.commit_all();
        }
        live.git(&["switch", "-q", "main"]);
        assert!(!live.git_may_fail(&["merge", "side"]).status.success());
        let name = format!(".memod/memories/{id}.md");
        assert!(complaint(&live, &name).unwrap().starts_with(kept), "{removed_on}");
        assert_eq!(found(&live, "gamma"), std::slice::from_ref(&id), "what was changed is found");
        let end = if removed_on == "main" { ["rm", "-q", &name] } else { ["add", "--", &name] };
        live.git(&end);
        assert_eq!(complaint(&live, &name), None);
        assert_eq!(found(&live, "gamma").is_empty(), removed_on == "main");
    }
}

/// Removes a file in conflict, in a worktree or with it.
type Removal = fn(&Live, &std::path::Path, &str);

#[test]
fn the_other_side_is_in_the_history_when_its_file_is_gone() {
    let cases: [(&str, Removal); 3] = [
        ("rm", |_, side, name| std::fs::remove_file(side.join(name)).unwrap()),
        ("git rm", |live, side, name| drop(live.git_in(side, &["rm", "-q", "-f", name]))),
        ("git worktree remove", |live, _, _| drop(live.git(&["worktree", "remove", "--force", "../side"]))),
    ];
    for (what, remove) in cases {
        let (live, id) = in_conflict();
        live.git(&["merge", "--abort"]);
        live.git(&["worktree", "add", "-q", "--detach", "../side", "main"]);
        let side = live.sandbox.path("side");
        live.sh_in(&side, "git merge -q side || true");
        assert_eq!(live.call_in(&side, "memory.list", json!({}))["total"], 2, "{what}");
        remove(&live, &side, &format!(".memod/memories/{id}.md"));
        if side.exists() {
            assert_eq!(live.call_in(&side, "memory.list", json!({}))["total"], 0, "{what}");
        }
        assert_eq!(get(&live, &id)["content"], "beta is ours", "{what}");
        let history = call(&live, "memory.history", json!({ "ids": [id] })).to_string();
        assert!(history.contains("[\"gamma is theirs\",\"beta is ours\"]"), "{what}: {history}");
    }
}

#[test]
fn what_goes_with_a_memory_is_told_before_it_goes() {
    let (live, id) = in_conflict();
    let told = |answer: &serde_json::Value| answer["notice"].as_str().unwrap().to_owned();
    let dry = live.call("memory.forget", json!({ "ids": [id], "dry_run": true }));
    assert!(
        told(&dry).starts_with(
            "would be removed with their files in the worktree: 1; in conflict, would be removed with both sides: 1"
        ),
        "{dry}"
    );
    assert_eq!(dry["memories"].as_array().unwrap().len(), 1, "{dry}");
    let (code, reset) = memo(&live, &["reset", "--dry-run"]);
    assert!(code == 0 && told(&reset).contains("would be removed with their files"), "{reset}");
    let gone = live.call("memory.forget", json!({ "ids": [id] }));
    assert!(told(&gone).contains("in conflict, removed with both sides"), "{gone}");
    assert_eq!((listed(&live, &id).len(), path_of(&live, &id).exists()), (0, false));
    let own = live.call("memory.add", json!({ "content": "delta is mine" }))["memory"]["id"].clone();
    assert_eq!(live.call("memory.forget", json!({ "ids": [own] }))["notice"], json!(null));
}

#[test]
fn a_text_of_both_keeps_what_is_beside_both_sides() {
    let live = Live::new();
    let id = add_shared(&live, "alpha is the first");
    live.commit_all();
    for (branch, line) in [("side", "# of the side\nfoo: bar\ntags: [b]"), ("main", "# of main\ntags: [a]")] {
        live.git(&["switch", "-q", "-C", branch, "main"]);
        let text =
            text_of(&live, &id).replace("---\n\nalpha is the first", &format!("{line}\n---\n\nof {branch}"));
        write_file(&live, &id, &text);
        if branch == "side" {
            live.commit_all();
        }
    }
    live.commit_all();
    assert!(!live.git_may_fail(&["merge", "side"]).status.success());
    live.call("memory.resolve_file", json!({ "id": id, "text": "of both" }));
    let text = text_of(&live, &id);
    for line in ["# of main", "# of the side", "foo: bar", "  - a", "  - b", "of both"] {
        assert!(text.lines().any(|known| known == line), "{line}: {text}");
    }
}

#[test]
fn a_text_of_both_is_refused_where_both_together_have_too_many_tags() {
    let live = Live::new();
    let id = add_shared(&live, "alpha");
    live.commit_all();
    for branch in ["side", "main"] {
        live.git(&["switch", "-q", "-C", branch, "main"]);
        let tags: Vec<String> = (0..40).map(|n| format!("{branch}-{n}")).collect();
        let front = format!("tags: [{}]\n---\n\nof {branch}", tags.join(", "));
        write_file(&live, &id, &text_of(&live, &id).replace("---\n\nalpha", &front));
        if branch == "side" {
            live.commit_all();
        }
    }
    live.commit_all();
    assert!(!live.git_may_fail(&["merge", "side"]).status.success());
    let refused = live.memo(&["resolve", &id, "--text", "of both"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("tags") && said.contains("choose a side with --ours or --theirs"), "{said}");
    live.call("memory.resolve_file", json!({ "id": id, "side": "theirs" }));
    assert_eq!(get(&live, &id)["tags"].as_array().unwrap().len(), 40);
}

#[test]
fn a_side_with_an_underlined_title_is_resolved_by_a_text() {
    let live = Live::new();
    let id = add_shared(&live, "alpha");
    let (front, _) =
        text_of(&live, &id).split_once("\n---\n\n").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let body = "<<<<<<< HEAD\nTitle\n=======\nours\n=======\ntheirs\n>>>>>>> side";
    write_file(&live, &id, &format!("{front}\n---\n\n{body}\n"));
    let name = format!(".memod/memories/{id}.md");
    assert!(complaint(&live, &name).unwrap().contains("more than one line may part its sides"));
    let refused = refusal(&live, "memory.update", json!({ "id": id, "content": "x" }));
    assert!(refused.contains(&name) && refused.contains("nothing was changed"), "{refused}");
    let refused = refusal(&live, "memory.resolve_file", json!({ "id": id, "side": "ours" }));
    assert!(refused.contains("more than one line may part its sides"), "{refused}");
    live.call("memory.resolve_file", json!({ "id": id, "text": "alpha of both" }));
    assert_eq!((get(&live, &id)["content"].clone(), complaint(&live, &name)), (json!("alpha of both"), None));
    assert!(text_of(&live, &id).ends_with("\n\nalpha of both\n"));
}

#[test]
fn markers_of_another_size_are_of_git_too() {
    for size in [3, 4, 6, 12] {
        let live = Live::new();
        live.write(".gitattributes", format!("*.md conflict-marker-size={size}\n"));
        let id = add_shared(&live, "line one\nline two alpha\nline three");
        live.commit_all();
        let say = |word: &str| write_file(&live, &id, &text_of(&live, &id).replace("alpha", word));
        live.git(&["switch", "-q", "-c", "side"]);
        say("gamma");
        live.commit_all();
        live.git(&["switch", "-q", "main"]);
        say("beta");
        live.commit_all();
        assert!(!live.git_may_fail(&["merge", "side"]).status.success());
        let complaint = complaint(&live, &format!("{id}.md")).unwrap();
        if size < 4 {
            assert!(complaint.starts_with("unmerged, and its conflict markers"), "{complaint}");
            continue;
        }
        assert_eq!(complaint, "in conflict");
        let sides = listed(&live, &id);
        let said: Vec<_> = sides.iter().map(|side| side["content"].as_str().unwrap()).collect();
        assert_eq!(
            said,
            ["line one\nline two beta\nline three", "line one\nline two gamma\nline three"],
            "{size}"
        );
        let (code, answer) = memo(&live, &["resolve", &id, "--theirs"]);
        assert_eq!((code, &answer["memory"]["content"]), (0, &json!(said[1])), "{answer}");
    }
}
