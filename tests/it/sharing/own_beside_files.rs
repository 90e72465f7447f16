//! Is a memory of this user alone never changed from outside, whatever a file under its id says?

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{add_shared, complaint, file, found, get, listed, path_of, text_of, write_file};
use crate::live::{Live, memo};
use crate::memories::{add, call, refusal};

/// Returns a repository with a memory of this user alone, `alpha is mine`, and a file under its id that says `beta is theirs`.
fn disputed() -> (Live, String) {
    let live = Live::new();
    let id = add(&live, "alpha is mine");
    write_file(&live, &id, &file("beta is theirs", "tags: [x]\nfoo: bar\n"));
    (live, id)
}

/// Returns the sides and texts of a memory, as they are listed.
fn sides(live: &Live, id: &str) -> Vec<(Value, Value)> {
    listed(live, id).iter().map(|memory| (memory["conflict"].clone(), memory["content"].clone())).collect()
}

fn both() -> Vec<(Value, Value)> {
    vec![(json!("ours"), json!("alpha is mine")), (json!("theirs"), json!("beta is theirs"))]
}

fn whole(text: &str) -> Vec<(Value, Value)> {
    vec![(Value::Null, json!(text))]
}

/// Returns the history of a memory, as text.
fn history(live: &Live, id: &str) -> String {
    call(live, "memory.history", json!({ "ids": [id] }))["changes"].to_string()
}

/// Returns the texts in the archive.
fn archived(live: &Live) -> Vec<String> {
    let list = call(live, "memory.list", json!({ "archived": true }));
    let texts = list["memories"].as_array().unwrap().iter();
    texts.map(|memory| memory["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn both_sides_count_as_one_memory() {
    let (live, id) = disputed();
    call(&live, "memory.update", json!({ "id": id, "add_tags": ["x"] }));
    assert_eq!(sides(&live, &id), both());
    assert_eq!(call(&live, "memory.tags", json!({}))["names"], json!([{ "name": "x", "memories": 1 }]));
    let names = &call(&live, "memory.containers", json!({}))["names"];
    assert_eq!(names[0]["memories"], 1, "{names}");
    let numbers = call(&live, "memory.stats", json!({}));
    assert_eq!((&numbers["living"], &numbers["archived"]), (&json!(1), &json!(0)), "{numbers}");
}

#[test]
fn both_texts_are_there_until_somebody_decides() {
    let (live, id) = disputed();
    for _ in 0..2 {
        assert_eq!(sides(&live, &id), both());
        assert_eq!((found(&live, "alpha"), found(&live, "beta")), (vec![id.clone()], vec![id.clone()]));
        let own = get(&live, &id);
        assert_eq!(
            (&own["content"], &own["shared"], &own["trust"]),
            (&json!("alpha is mine"), &json!(false), &json!("own"))
        );
        assert!(
            complaint(&live, &format!("{id}.md")).unwrap().contains("a private memory of yours has its id")
        );
        assert!(call(&live, "memory.list", json!({}))["notice"].as_str().unwrap().contains("1 in conflict"));
        assert!(!history(&live, &id).contains("beta"), "nothing has happened to what is mine");
        live.kill();
        live.start();
    }
    for method in ["memory.share", "memory.unshare"] {
        assert!(refusal(&live, method, json!({ "ids": [id] })).contains("in conflict"), "{method}");
    }
    // Each side goes on by itself.
    call(&live, "memory.update", json!({ "id": id, "add_tags": ["own"] }));
    write_file(&live, &id, &file("beta is theirs", "tags: [y]\n"));
    let tags: Vec<Value> = listed(&live, &id).iter().map(|memory| memory["tags"].clone()).collect();
    assert_eq!(tags, [json!(["own"]), json!(["y"])]);
    live.remove(&format!(".memod/memories/{id}.md"));
    assert_eq!(sides(&live, &id), whole("alpha is mine"));
    assert_eq!((complaint(&live, &format!("{id}.md")), archived(&live).len()), (None, 0));
    assert_eq!(get(&live, &id)["shared"], false);
}

#[test]
fn what_says_the_same_is_the_same_memory() {
    let live = Live::new();
    let id = add_shared(&live, "alpha is shared");
    let text = text_of(&live, &id);
    let [same, edited] = [Live::new(), Live::new()];
    let exported = live.memo(&["export"]).output().unwrap().stdout;
    for other in [&same, &edited] {
        other.write("memories.jsonl", &exported);
        assert_eq!(memo(other, &["import", "--own", "memories.jsonl"]).0, 0);
        assert_eq!(get(other, &id)["shared"], false);
        call(other, "memory.recall", json!({ "query": "alpha" }));
    }
    call(&edited, "memory.update", json!({ "id": id, "content": "alpha is edited" }));
    for (other, is_same) in [(&same, true), (&edited, false)] {
        write_file(other, &id, &text);
        let seen = get(other, &id);
        assert_eq!(
            (&seen["shared"], &seen["trust"], &seen["access_count"]),
            (&json!(is_same), &json!("own"), &json!(1))
        );
        assert_eq!(listed(other, &id).len(), if is_same { 1 } else { 2 });
    }
    // Who makes theirs say the same ends it.
    call(&edited, "memory.update", json!({ "id": id, "content": "alpha is shared" }));
    assert_eq!(sides(&edited, &id), whole("alpha is shared"));
    assert_eq!((get(&edited, &id)["shared"].clone(), text_of(&edited, &id)), (json!(true), text));
}

#[test]
fn each_outcome_keeps_what_was_written() {
    let (live, id) = disputed();
    let (code, answer) = memo(&live, &["resolve", &id, "--theirs"]);
    assert_eq!((code, &answer["memory"]["content"]), (0, &json!("beta is theirs")), "{answer}");
    assert_eq!(sides(&live, &id), whole("beta is theirs"));
    assert_eq!(
        (get(&live, &id)["shared"].clone(), get(&live, &id)["trust"].clone()),
        (json!(true), json!("own"))
    );
    assert!(history(&live, &id).contains("alpha is mine"));

    let (live, id) = disputed();
    assert_eq!(memo(&live, &["resolve", &id, "--ours"]).0, 0);
    assert_eq!(sides(&live, &id), whole("alpha is mine"));
    let text = text_of(&live, &id);
    assert!(text.ends_with("\nalpha is mine\n") && text.contains("\nfoo: bar\n"), "{text}");
    assert!(get(&live, &id)["shared"] == true && complaint(&live, &format!("{id}.md")).is_none());

    let (live, id) = disputed();
    assert_eq!(memo(&live, &["resolve", &id, "--text", "gamma is both"]).0, 0);
    assert_eq!(sides(&live, &id), whole("gamma is both"));
    assert!(
        text_of(&live, &id).ends_with("\ngamma is both\n") && history(&live, &id).contains("alpha is mine")
    );
    assert_eq!(get(&live, &id)["tags"], json!(["x"]), "what is beside the texts is of both");
}

#[test]
fn both_may_stay_under_two_ids() {
    let (live, id) = disputed();
    let [note, shared] = [add(&live, "delta knows mine"), add_shared(&live, "epsilon knows theirs")];
    for from in [&note, &shared] {
        call(&live, "memory.link", json!({ "from": from, "to": id, "kind": "derived_from" }));
    }
    call(&live, "memory.recall", json!({ "query": "alpha" }));
    let (code, answer) = memo(&live, &["resolve", &id, "--both"]);
    let own = answer["memory"]["id"].as_str().unwrap().to_owned();
    assert!(code == 0 && own != id && answer["notice"].as_str().unwrap().contains(&own), "{answer}");
    assert_eq!((sides(&live, &own), sides(&live, &id)), (whole("alpha is mine"), whole("beta is theirs")));
    let [mine, theirs] = [&own, &id].map(|id| get(&live, id));
    assert_eq!(
        (&mine["shared"], &theirs["shared"], &mine["access_count"]),
        (&json!(false), &json!(true), &json!(1))
    );
    assert_eq!((&mine["links"][0]["id"], &theirs["links"][0]["id"]), (&json!(note), &json!(shared)));
    assert!(history(&live, &own).contains("\"add\""));
    assert_eq!(text_of(&live, &id), file("beta is theirs", "tags: [x]\nfoo: bar\n"));
    let why = refusal(&live, "memory.resolve_file", json!({ "id": id, "side": "both" }));
    assert!(why.contains("not in conflict"), "{why}");
}

/// Returns the texts that the changes of a memory say it had, the last one last.
fn past_texts(live: &Live, id: &str) -> Vec<Value> {
    let changes = call(live, "memory.history", json!({ "ids": [id] }))["changes"].clone();
    let texts = changes.as_array().unwrap().iter().filter_map(|change| change["fields"].get("content"));
    texts.flat_map(|pair| pair.as_array().unwrap().clone()).collect()
}

#[test]
fn each_takes_the_changes_of_its_text_when_they_part() {
    let edited = json!(["beta is theirs", "beta is edited"]);
    let edit = |live: &Live, id: &str| {
        write_file(live, id, &file("beta is edited", ""));
        assert_eq!(listed(live, id).len(), 2);
    };
    for by in ["--both", "purge", "unshare"] {
        let (live, id) = disputed();
        assert_eq!(sides(&live, &id), both());
        if by == "unshare" {
            call(&live, "memory.forget", json!({ "ids": [id] }));
            call(&live, "memory.update", json!({ "id": id, "content": "beta is edited" }));
        } else {
            edit(&live, &id);
        }
        let (_, told) = memo(&live, &["history", &id]);
        assert!(told.to_string().contains(r#""beside":[null,"file"]"#), "{by}: {told}");
        let (code, answer) = match by {
            "--both" => memo(&live, &["resolve", &id, by]),
            "purge" => {
                call(&live, "memory.forget", json!({ "ids": [id] }));
                memo(&live, &["purge", &id, "--yes"])
            }
            _ => memo(&live, &[by, &id]),
        };
        assert_eq!(code, 0, "{by}: {answer}");
        assert_eq!(json!(past_texts(&live, &id)), edited, "{by}");
        assert!(!history(&live, &id).contains("beside"), "{by}: it stands alone now");
        if by == "--both" {
            let own = answer["memory"]["id"].as_str().unwrap().to_owned();
            assert_eq!(past_texts(&live, &own), Vec::<Value>::new());
        }
    }
}

#[test]
fn the_archive_keeps_what_is_mine() {
    let (live, id) = disputed();
    call(&live, "memory.forget", json!({ "ids": [id] }));
    assert_eq!(
        (sides(&live, &id), archived(&live)),
        (whole("beta is theirs"), vec!["alpha is mine".to_owned()])
    );
    assert_eq!(complaint(&live, &format!("{id}.md")), None);
    // A change is one of what is shown.
    call(&live, "memory.update", json!({ "id": id, "content": "beta is changed" }));
    assert!(text_of(&live, &id).ends_with("\nbeta is changed\n"));
    assert_eq!(archived(&live), ["alpha is mine"]);
    call(&live, "memory.restore", json!({ "ids": [id] }));
    assert_eq!(sides(&live, &id)[0], both()[0]);
    call(&live, "memory.forget", json!({ "ids": [id] }));
    call(&live, "memory.purge", json!({ "ids": [id] }));
    assert_eq!((sides(&live, &id), archived(&live).len()), (whole("beta is changed"), 0));
    assert!(path_of(&live, &id).exists() && !history(&live, &id).contains("alpha"));
    // One that was in the archive before the file came.
    let live = Live::new();
    let id = add(&live, "alpha is mine");
    call(&live, "memory.forget", json!({ "ids": [id] }));
    write_file(&live, &id, &file("beta is theirs", ""));
    assert_eq!(
        (sides(&live, &id), archived(&live)),
        (whole("beta is theirs"), vec!["alpha is mine".to_owned()])
    );
}

#[test]
fn a_reset_deletes_mine_and_leaves_theirs() {
    let (live, id) = disputed();
    let told = call(&live, "memory.forget", json!({ "ids": [id], "dry_run": true }));
    assert!(told["notice"].as_str().unwrap().contains("would remain in the version of others: 1"), "{told}");
    let dry = call(&live, "memory.reset", json!({ "dry_run": true }));
    let gone = call(&live, "memory.reset", json!({ "expect": dry["digest"] }));
    assert!(gone["notice"].as_str().unwrap().contains("remaining in the version of others: 1"), "{gone}");
    assert_eq!((sides(&live, &id), path_of(&live, &id).exists()), (whole("beta is theirs"), true), "{gone}");
    let again = call(&live, "memory.reset", json!({ "dry_run": true }));
    call(&live, "memory.reset", json!({ "expect": again["digest"] }));
    assert_eq!(
        (listed(&live, &id).len(), path_of(&live, &id).exists()),
        (0, false),
        "it is a shared one then"
    );
}

#[test]
fn a_recall_of_both_sides_counts_once() {
    let (live, id) = disputed();
    call(&live, "memory.update", json!({ "id": id, "content": "walrus is mine" }));
    write_file(&live, &id, &file("walrus is theirs, as I said of the walrus", ""));
    let found = call(&live, "memory.recall", json!({ "query": "walrus" }))["memories"].clone();
    let said: Vec<&Value> = found.as_array().unwrap().iter().map(|hit| &hit["content"]).collect();
    assert_eq!(said.len(), 2, "{found}");
    assert!(said.contains(&&json!("walrus is mine")), "each side is shown as it is: {found}");
    assert_eq!(get(&live, &id)["access_count"], 1);
    let history = call(&live, "memory.history", json!({ "ids": [id] }))["changes"].to_string();
    assert_eq!(history.matches("\"recall\"").count(), 1, "{history}");
}

#[test]
fn a_merge_in_conflict_does_not_touch_what_is_mine() {
    let (live, id) = disputed();
    let [ours, theirs] = ["beta", "gamma"].map(|text| file(text, ""));
    let front = ours.strip_suffix("beta\n").unwrap();
    write_file(&live, &id, &format!("{front}<<<<<<< HEAD\nbeta\n=======\ngamma\n>>>>>>> side\n"));
    assert_eq!(sides(&live, &id), whole("alpha is mine"));
    assert!(complaint(&live, &format!("{id}.md")).unwrap().contains("resolve the conflict in git first"));
    for side in [json!({ "id": id, "side": "ours" }), json!({ "id": id, "text": "delta" })] {
        assert!(refusal(&live, "memory.resolve_file", side).contains("resolve the conflict in git first"));
    }
    write_file(&live, &id, &theirs);
    assert_eq!(sides(&live, &id)[1].1, "gamma");
    assert_eq!(
        complaint(&live, &format!("{id}.md")).unwrap(),
        "in conflict: a private memory of yours has its id and another text"
    );
}

#[test]
fn what_was_unshared_is_not_hidden_by_what_others_say() {
    let live = Live::new();
    let id = add_shared(&live, "alpha");
    let text = text_of(&live, &id);
    call(&live, "memory.unshare", json!({ "ids": [id] }));
    write_file(&live, &id, &text);
    assert_eq!((sides(&live, &id), get(&live, &id)["shared"].clone()), (whole("alpha"), json!(false)));
    assert_eq!((complaint(&live, &format!("{id}.md")), found(&live, "alpha").len()), (None, 1));
    call(&live, "memory.forget", json!({ "ids": [id] }));
    assert_eq!((sides(&live, &id), archived(&live).len()), (whole("alpha"), 1), "theirs is shown now");
    call(&live, "memory.forget", json!({ "ids": [id] }));
    assert!(listed(&live, &id).is_empty() && !path_of(&live, &id).exists());
    call(&live, "memory.restore", json!({ "ids": [id] }));
    call(&live, "memory.update", json!({ "id": id, "content": "alpha, for me alone" }));
    write_file(&live, &id, &text.replace("alpha", "alpha, by another"));
    let expected = ["alpha, for me alone", "alpha, by another"];
    assert_eq!(sides(&live, &id).into_iter().map(|(_, text)| text).collect::<Vec<_>>(), expected);
    assert!(complaint(&live, &format!("{id}.md")).unwrap().starts_with("in conflict"));
    live.remove(&format!(".memod/memories/{id}.md"));
    assert_eq!(sides(&live, &id), whole("alpha, for me alone"));
}

#[test]
fn each_worktree_disputes_its_own_file() {
    let live = Live::new();
    live.write("a.md", "x");
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../side", "-b", "side"]);
    let (root, side) = (live.root(), live.sandbox.path("side"));
    let id = add(&live, "alpha is mine");
    let write = |dir: &Path, text: &str| {
        fs::create_dir_all(dir.join(".memod/memories")).unwrap();
        fs::write(dir.join(format!(".memod/memories/{id}.md")), file(text, "")).unwrap();
    };
    let texts = |dir: &Path| -> Vec<String> {
        let list = live.call_in(dir, "memory.list", json!({ "limit": 1000 }));
        let mut texts: Vec<String> = list["memories"]
            .as_array()
            .unwrap()
            .iter()
            .map(|memory| memory["content"].as_str().unwrap().to_owned())
            .collect();
        texts.sort();
        texts
    };
    write(&root, "beta is here");
    assert_eq!(
        (texts(&root), texts(&side)),
        (vec!["alpha is mine".to_owned(), "beta is here".to_owned()], vec!["alpha is mine".to_owned()])
    );
    write(&side, "gamma is there");
    assert_eq!(texts(&side), ["alpha is mine", "gamma is there"]);
    // Decided in one, it is a shared memory, of which each has its own version.
    live.call_in(&root, "memory.resolve_file", json!({ "id": id, "side": "theirs", "client": "cli" }));
    assert_eq!(
        (texts(&root), texts(&side)),
        (vec!["beta is here".to_owned()], vec!["gamma is there".to_owned()])
    );
    assert!(history(&live, &id).contains("alpha is mine"));
}

/// Removing the file, or the worktree, takes away the only place where that text was.
#[test]
fn what_a_file_said_beside_what_is_ones_own_is_in_the_history_once_it_is_gone() {
    let (live, id) = disputed();
    assert_eq!(sides(&live, &id), both());
    fs::remove_file(path_of(&live, &id)).unwrap();
    assert_eq!(sides(&live, &id), whole("alpha is mine"));
    assert!(history(&live, &id).contains("beta is theirs"), "{}", history(&live, &id));
    // Of one in the archive, the file's alone is shown.
    let (live, id) = disputed();
    assert_eq!(sides(&live, &id), both());
    call(&live, "memory.forget", json!({ "ids": [id] }));
    assert_eq!(sides(&live, &id), whole("beta is theirs"));
    fs::remove_file(path_of(&live, &id)).unwrap();
    assert!(listed(&live, &id).is_empty());
    assert!(history(&live, &id).contains("beta is theirs"), "{}", history(&live, &id));
    // In another worktree, which goes.
    let (live, id) = disputed();
    live.commit_all();
    live.git(&["worktree", "add", "-q", "../side"]);
    let side = live.sandbox.path("side");
    let theirs = side.join(format!(".memod/memories/{id}.md"));
    fs::write(&theirs, fs::read_to_string(&theirs).unwrap().replace("beta is", "gamma is")).unwrap();
    live.call_in(&side, "memory.list", json!({}));
    live.git(&["worktree", "remove", "--force", "../side"]);
    assert_eq!(sides(&live, &id), both());
    assert!(history(&live, &id).contains("gamma is theirs"), "{}", history(&live, &id));
}

/// Comments and unknown keys are nowhere else either.
#[test]
fn what_a_file_remarks_beside_what_is_ones_own_is_in_the_history_once_it_is_gone() {
    let (live, id) = disputed();
    assert_eq!(sides(&live, &id), both());
    let text = text_of(&live, &id);
    write_file(&live, &id, &text.replace("foo: bar", "foo: baz"));
    assert_eq!(sides(&live, &id), both());
    assert!(history(&live, &id).contains("foo: bar"), "it was edited: {}", history(&live, &id));
    fs::remove_file(path_of(&live, &id)).unwrap();
    assert_eq!(sides(&live, &id), whole("alpha is mine"));
    let said = history(&live, &id);
    assert!(said.contains("foo: baz") && said.contains("beta is theirs"), "{said}");
    // One that says the same, and is not taken for the memory, because that was taken out of the files.
    let live = Live::new();
    let id = add_shared(&live, "alpha is shared");
    let text = text_of(&live, &id);
    call(&live, "memory.unshare", json!({ "ids": [id] }));
    write_file(&live, &id, &text.replacen("---\n", "---\n# reviewed by Ann\n", 1));
    assert_eq!(sides(&live, &id), whole("alpha is shared"));
    fs::remove_file(path_of(&live, &id)).unwrap();
    assert_eq!(sides(&live, &id), whole("alpha is shared"));
    assert!(history(&live, &id).contains("reviewed by Ann"), "{}", history(&live, &id));
}
