//! What becomes of a memory that two members change?

use serde_json::json;

use super::{Member, Postgres, apart, server};

/// Returns two members who have the same memory, and its id.
fn two(server: &Postgres) -> (Member, Member, String) {
    let (ann, bob) = (Member::new(server, "ann"), Member::new(server, "bob"));
    let id = ann.add("first line\n\nsecond line\n\nthird line");
    ann.sync();
    bob.sync();
    assert_eq!(bob.texts().keys().collect::<Vec<_>>(), [&id]);
    (ann, bob, id)
}

#[test]
fn a_memory_comes_to_others_with_its_author_and_is_theirs_to_confirm() {
    let Some(server) = server() else { return };
    let (ann, bob, id) = two(&server);
    let (of_ann, of_bob) = (ann.get(&id), bob.get(&id));
    assert_eq!((&of_ann["trust"], &of_ann["scope"]), (&json!("own"), &json!("team")));
    assert_eq!((&of_bob["trust"], &of_bob["scope"]), (&json!("team"), &json!("team")));
    assert_eq!((&of_bob["author"], &of_bob["created"]), (&of_ann["author"], &of_ann["created"]));
    bob.call("memory.confirm", json!({ "id": id, "client": "cli" }));
    assert_eq!(bob.get(&id)["trust"], "own");
    ann.update(&id, "another text");
    ann.sync();
    bob.sync();
    assert_eq!(bob.get(&id)["trust"], "team", "what was changed is to be confirmed again");
    let history = bob.call("memory.history", json!({ "ids": [id] }));
    let last = history["changes"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        (&last["action"], &last["author"], &last["source"]),
        (&json!("update"), &json!("ann"), &json!("team"))
    );
}

#[test]
fn changes_that_do_not_touch_are_joined() {
    let Some(server) = server() else { return };
    let (ann, bob, id) = two(&server);
    apart(&server, [&ann, &bob], || {
        ann.update(&id, "first line\n\nsecond line\n\nlast line");
        bob.call("memory.update", json!({ "id": id, "priority": 9, "client": "cli" }));
    });
    for member in [&bob, &ann] {
        member.sync();
    }
    for member in [&ann, &bob] {
        let memory = member.get(&id);
        assert_eq!(memory["content"], "first line\n\nsecond line\n\nlast line", "{}", member.role);
        assert_eq!(memory["priority"], 9, "{}", member.role);
    }
}

#[test]
fn changes_of_one_line_show_both_sides_until_somebody_chooses() {
    let Some(server) = server() else { return };
    let (ann, bob, id) = two(&server);
    apart(&server, [&ann, &bob], || {
        for member in [&ann, &bob] {
            let role = &member.role;
            member.call(
                "memory.update",
                json!({ "id": id, "content": format!("of {role}"), "add_tags": [role], "client": "cli" }),
            );
        }
    });
    let status = bob.sync();
    assert_eq!((&status["conflicts"], &status["unsent"]), (&json!(1), &json!(0)), "{status}");
    assert_eq!(bob.texts()[&id], ["of bob", "of ann"]);
    let hits = bob.call("search", json!({ "query": "of", "kind": ["memory"], "mode": "keyword" }));
    let mut sides: Vec<_> =
        hits["hits"].as_array().unwrap().iter().map(|hit| hit["memory"]["conflict"].clone()).collect();
    sides.sort_by_key(ToString::to_string);
    assert_eq!(sides, [json!("ours"), json!("theirs")], "{hits}");
    let checks = bob.call("doctor", json!({}))["checks"].to_string();
    assert!(checks.contains("in conflict with the version of the team"), "{checks}");
    assert_eq!(ann.texts()[&id], ["of ann"], "the side that was not chosen is not sent");
    let refused = bob.live.memo(&["update", &id, "--content", "x"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
    bob.call("memory.resolve_file", json!({ "id": id, "text": "of both", "client": "cli" }));
    bob.sync();
    ann.sync();
    for member in [&ann, &bob] {
        assert_eq!(member.texts()[&id], ["of both"], "{}", member.role);
        let tags = member.call("memory.get", json!({ "ids": [id] }))["memories"][0]["tags"].clone();
        assert_eq!(tags, json!(["ann", "bob", "team"]), "{}", member.role);
    }
}

#[test]
fn a_side_can_be_taken_as_it_is() {
    let Some(server) = server() else { return };
    let (ann, bob, id) = two(&server);
    for (side, expected) in [("theirs", "of ann 1"), ("ours", "of bob 2")] {
        let n = if side == "theirs" { 1 } else { 2 };
        apart(&server, [&ann, &bob], || {
            ann.update(&id, &format!("of ann {n}"));
            bob.update(&id, &format!("of bob {n}"));
        });
        bob.sync();
        bob.call("memory.resolve_file", json!({ "id": id, "side": side, "client": "cli" }));
        bob.sync();
        ann.sync();
        for member in [&ann, &bob] {
            assert_eq!(member.texts()[&id], [expected], "{} {side}", member.role);
        }
    }
}

#[test]
fn an_edit_outlives_an_archiving_whoever_comes_first() {
    let Some(server) = server() else { return };
    let (ann, bob, id) = two(&server);
    for first in [0, 1] {
        let text = format!("kept {first}");
        let order = if first == 0 { [&ann, &bob] } else { [&bob, &ann] };
        apart(&server, order, || {
            ann.update(&id, &text);
            bob.call("memory.forget", json!({ "ids": [id] }));
        });
        for member in [order[1], order[0]] {
            member.sync();
        }
        for member in [&ann, &bob] {
            assert_eq!(member.texts()[&id], [text.as_str()], "{} {first}", member.role);
        }
    }
    bob.call("memory.forget", json!({ "ids": [id] }));
    bob.sync();
    ann.sync();
    assert_eq!((ann.texts().len(), ann.archived()), (0, vec![id]));
}

#[test]
fn unsharing_keeps_it_here_and_archives_it_for_others() {
    let Some(server) = server() else { return };
    let (ann, bob, id) = two(&server);
    let other = bob.add("another one");
    bob.call("memory.link", json!({ "from": other, "to": id, "kind": "supersedes" }));
    bob.sync();
    ann.sync();
    assert_eq!(ann.get(&other)["links"][0]["relation"], "supersedes", "{}", ann.get(&other));
    ann.call("memory.unshare", json!({ "ids": [id] }));
    ann.sync();
    bob.sync();
    assert_eq!(ann.get(&id)["scope"], "mine");
    assert_eq!(bob.archived(), [id.as_str()]);
    ann.call("memory.forget", json!({ "ids": [other] }));
    ann.call("memory.purge", json!({ "ids": [other] }));
    ann.sync();
    bob.sync();
    assert!(bob.archived().contains(&other), "what one purges, the others keep in their archive");
}

#[test]
fn what_was_taken_back_stays_ones_own_though_another_edits_it() {
    let Some(server) = server() else { return };
    let (ann, bob, id) = two(&server);
    server.stop();
    ann.call("memory.update", json!({ "id": id, "priority": 9, "client": "cli" }));
    ann.live.kill();
    server.run();
    bob.call("memory.unshare", json!({ "ids": [id] }));
    bob.sync();
    bob.call("memory.update", json!({ "id": id, "metadata": { "note": "of bob" }, "client": "cli" }));
    let before = bob.get(&id);
    ann.live.start();
    ann.sync();
    bob.sync();
    assert_eq!(ann.get(&id)["priority"], 9, "who edits it keeps it");
    for key in ["scope", "priority", "metadata", "content"] {
        assert_eq!(bob.get(&id)[key], before[key], "{key}");
    }
    let checks = bob.call("doctor", json!({}))["checks"].to_string();
    assert!(checks.contains(&id) && checks.contains("a private memory of yours has its id"), "{checks}");
    // Both are shown, and nothing says otherwise.
    assert!(!checks.contains("not shown here"), "{checks}");
    let status = bob.sync();
    assert_eq!([&status["unreadable"], &status["conflicts"]], [0, 1], "{status}");
    let listed = bob.call("memory.list", json!({}));
    assert_eq!(bob.texts()[&id].len(), 2);
    assert!(!listed.to_string().contains("not shown here"), "{listed}");
    bob.update(&id, "private of bob");
    let refused = bob.live.memo(&["share", "--team", &id]).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("in conflict with another version"), "{said}");
    bob.sync();
    ann.sync();
    let of_ann = ann.get(&id);
    let both = ["private of bob", of_ann["content"].as_str().unwrap()];
    assert_eq!(
        (bob.get(&id)["scope"].clone(), bob.texts()[&id].as_slice()),
        (json!("mine"), &both.map(str::to_owned)[..])
    );
    assert!(!ann.get(&id).to_string().contains("of bob"));

    let same = json!({ "id": id, "content": of_ann["content"], "priority": 9, "metadata": { "note": null }, "client": "cli" });
    bob.call("memory.update", same);
    bob.call("memory.share", json!({ "ids": [id], "team": true }));
    bob.update(&id, "of all again");
    bob.sync();
    ann.sync();
    assert_eq!(ann.texts()[&id], ["of all again"]);
}

#[test]
fn what_is_taken_back_offline_is_shown_with_an_edit_that_came_first() {
    let Some(server) = server() else { return };
    let (ann, bob, edited) = two(&server);
    let [unchanged, forgotten, in_files] =
        ["unchanged", "forgotten", "in the files"].map(|text| ann.add(text));
    let all = [&edited, &unchanged, &forgotten, &in_files];
    ann.sync();
    bob.sync();
    apart(&server, [&ann, &bob], || {
        bob.call("memory.unshare", json!({ "ids": all }));
        bob.update(&edited, "of bob alone");
        bob.call("memory.forget", json!({ "ids": [forgotten] }));
        bob.call("memory.share", json!({ "ids": [in_files] }));
        (1..).zip(all).for_each(|(n, id)| ann.update(id, &format!("of ann {n}")));
    });
    // The versions come with the refused changes, then with all that is new, and again.
    for _ in 0..3 {
        bob.sync();
    }
    let expected: [(&str, &[&str]); 4] = [
        (&edited, &["of bob alone", "of ann 1"]),
        (&unchanged, &["unchanged", "of ann 2"]),
        (&forgotten, &["of ann 3"]),
        (&in_files, &["in the files"]),
    ];
    let checks = bob.call("doctor", json!({}))["checks"].to_string();
    for (id, texts) in expected {
        assert_eq!(bob.texts().get(id).map(Vec::as_slice).unwrap_or_default(), texts);
        assert!(checks.contains(id), "{checks}");
    }
    let status = bob.sync();
    assert_eq!([&status["unreadable"], &status["conflicts"]], [1, 3], "{status}");
    bob.call("memory.restore", json!({ "ids": [forgotten] }));
    assert_eq!(bob.texts()[&forgotten], ["forgotten", "of ann 3"]);
    for id in [&edited, &unchanged, &forgotten] {
        bob.call("memory.resolve_file", json!({ "id": id, "side": "ours", "client": "cli" }));
    }
    ann.call("memory.forget", json!({ "ids": [in_files] }));
    for member in [&bob, &ann, &bob] {
        member.sync();
    }
    let checks = bob.call("doctor", json!({}))["checks"].to_string();
    assert!(!all.iter().any(|id| checks.contains(*id)), "{checks}");
    for (id, text) in [(&edited, "of bob alone"), (&unchanged, "unchanged"), (&forgotten, "forgotten")] {
        assert_eq!([&ann.texts()[id][..], &bob.texts()[id][..]], [[text], [text]]);
    }
}

#[test]
fn what_the_team_has_is_shown_alone_while_ones_own_is_in_the_archive() {
    let Some(server) = server() else { return };
    let (ann, bob, id) = two(&server);
    apart(&server, [&bob, &ann], || {
        ann.call("memory.unshare", json!({ "ids": [id] }));
        ann.update(&id, "of ann alone");
        bob.update(&id, "of bob 1");
    });
    ann.sync();
    assert_eq!(ann.texts()[&id], ["of ann alone", "of bob 1"]);
    ann.call("memory.forget", json!({ "ids": [id] }));
    let assert_shown = |text: &str| {
        assert_eq!(ann.texts()[&id], [text]);
        let shown = ann.call("memory.list", json!({ "ids": [id] }))["memories"][0].clone();
        assert_eq!((&shown["conflict"], &shown["scope"]), (&json!(null), &json!("team")), "{shown}");
        let found = ann.call("search", json!({ "query": "bob", "kind": ["memory"], "mode": "keyword" }));
        assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
        assert_eq!(ann.archived(), [id.as_str()]);
        assert_eq!(ann.sync()["unreadable"], 0);
    };
    assert_shown("of bob 1");
    bob.update(&id, "of bob 2");
    bob.sync();
    ann.sync();
    assert_shown("of bob 2");
    // Which of the two a verb means, cannot be told: none changes either, and each says what to do.
    let other = ann.add("another one");
    let verbs: [&[&str]; 8] = [
        &["resolve", &id, "--theirs"],
        &["append", &id, "more"],
        &["update", &id, "--priority", "9"],
        &["promote", &id, "--to", "long"],
        &["confirm", &id],
        &["unshare", &id],
        &["forget", "--yes", &id],
        &["link", &id, &other],
    ];
    for args in verbs {
        let refused = ann.live.memo(args).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(&format!("restore yours with `memo restore {id}`")), "{args:?}: {said}");
    }
    assert_shown("of bob 2");
    bob.sync();
    assert_eq!(bob.texts()[&id], ["of bob 2"]);
    ann.call("memory.restore", json!({ "ids": [id] }));
    assert_eq!(ann.texts()[&id], ["of ann alone", "of bob 2"]);
    ann.call("memory.resolve_file", json!({ "id": id, "side": "theirs", "client": "cli" }));
    assert_eq!(ann.texts()[&id], ["of bob 2"]);
    ann.update(&id, "of ann again");
    ann.sync();
    bob.sync();
    assert_eq!(bob.texts()[&id], ["of ann again"]);
}
