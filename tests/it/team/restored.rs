//! Does a team get over a server that was restored from a backup or replaced, and over copies of a database?

use std::fs;
use std::process::Command;

use serde_json::json;

use super::{Member, Postgres, SHOP, apart, server};
use crate::memories::stop;

#[test]
fn what_a_restored_server_has_forgotten_comes_back() {
    let Some(server) = server() else { return };
    let (ann, bob) = (Member::new(&server, "ann"), Member::new(&server, "bob"));
    let [changed, gone] = ["before the backup", "to be forgotten"].map(|text| ann.add(text));
    ann.sync();
    bob.sync();
    server.stop();
    server.copy("data", "backup");
    server.run();
    let new = bob.add("after the backup");
    bob.update(&changed, "changed after the backup");
    bob.call("memory.forget", json!({ "ids": [gone] }));
    bob.sync();
    ann.sync();
    server.stop();
    server.copy("backup", "data");
    server.run();
    // Somebody who has all of that before writes first.
    let last = ann.add("after the restoring");
    for member in [&ann, &bob, &ann] {
        member.live.kill();
        member.live.start();
        member.sync();
    }
    let expected = [
        (changed, vec!["changed after the backup".to_owned()]),
        (new, vec!["after the backup".to_owned()]),
        (last, vec!["after the restoring".to_owned()]),
    ];
    for member in [&ann, &bob] {
        assert_eq!(member.texts(), expected.clone().into(), "{}", member.role);
        assert_eq!(member.archived(), [gone.as_str()], "{}", member.role);
    }
    let carol = Member::new(&server, "carol");
    carol.sync();
    assert_eq!(carol.texts(), expected.into(), "the server has all again");
}

#[test]
fn who_has_lost_how_far_the_changes_are_known_takes_what_the_team_has() {
    let Some(server) = server() else { return };
    let (ann, bob) = (Member::new(&server, "ann"), Member::new(&server, "bob"));
    let [back, gone, changed] = ["came back", "went", "to be changed"].map(|text| ann.add(text));
    ann.sync();
    bob.sync();
    ann.call("memory.forget", json!({ "ids": [back] }));
    ann.sync();
    bob.sync();
    stop(&ann.live);
    bob.call("memory.restore", json!({ "ids": [back] }));
    bob.call("memory.forget", json!({ "ids": [gone] }));
    bob.update(&changed, "changed");
    bob.sync();
    set_place(&ann, "DELETE FROM meta WHERE key = 'team'");
    ann.sync();
    bob.sync();
    let expected = [(back, vec!["came back".to_owned()]), (changed, vec!["changed".to_owned()])];
    for member in [&ann, &bob] {
        assert_eq!(member.texts(), expected.clone().into(), "{}", member.role);
        assert_eq!(member.archived(), [gone.as_str()], "{}", member.role);
    }
}

#[test]
fn a_conflict_with_what_was_taken_back_outlives_a_restored_server() {
    let Some(server) = server() else { return };
    let (ann, bob) = (Member::new(&server, "ann"), Member::new(&server, "bob"));
    let [taken_back, edited] = ["first of both", "second of both"].map(|text| ann.add(text));
    ann.sync();
    bob.sync();
    apart(&server, [&bob, &ann], || {
        bob.call("memory.unshare", json!({ "ids": [taken_back] }));
        for member in [&ann, &bob] {
            member.update(&taken_back, &format!("first of {}", member.role));
            member.update(&edited, &format!("second of {}", member.role));
        }
    });
    ann.sync();
    bob.sync();
    let assert_shown = || {
        assert_eq!(bob.texts()[&taken_back], ["first of bob", "first of ann"]);
        assert_eq!(ann.texts()[&edited], ["second of ann", "second of bob"]);
        for (member, id) in [(&bob, &taken_back), (&ann, &edited)] {
            assert_eq!(member.sync()["conflicts"], 1, "{}", member.role);
            let checks = member.call("doctor", json!({}))["checks"].to_string();
            assert!(checks.contains(id), "{checks}");
        }
    };
    assert_shown();
    server.stop();
    server.copy("data", "backup");
    server.run();
    ann.add("after the backup");
    ann.sync();
    bob.sync();
    server.stop();
    server.copy("backup", "data");
    server.run();
    for member in [&ann, &bob, &ann, &bob] {
        member.live.kill();
        member.live.start();
        member.sync();
    }
    assert_shown();
}

/// Changes how far the team's changes are known, while the daemon does not run, and starts it.
fn set_place(member: &Member, sql: &str) {
    let database = rusqlite::Connection::open(member.live.layout().state_dir.join("memory.db")).unwrap();
    assert_eq!(database.execute(sql, []).unwrap(), 1);
    drop(database);
    member.live.start();
}

#[test]
fn a_comparison_that_was_killed_goes_on_as_one() {
    let Some(server) = server() else { return };
    let (ann, bob) = (Member::new(&server, "ann"), Member::new(&server, "bob"));
    let [gone, newer] = ["went", "before the backup"].map(|text| ann.add(text));
    ann.sync();
    bob.sync();
    server.stop();
    server.copy("data", "backup");
    server.run();
    ann.call("memory.forget", json!({ "ids": [gone] }));
    ann.update(&newer, "after the backup");
    ann.sync();
    stop(&ann.live);
    server.stop();
    server.copy("backup", "data");
    server.run();
    // As it is stored when the comparison begins.
    set_place(
        &ann,
        r#"UPDATE meta SET value = json_set(value, '$.mark', json('{"seq":0,"client":"","n":0}'), '$.server_has_forgotten', json('true'))
           WHERE key = 'team'"#,
    );
    ann.sync();
    bob.sync();
    for member in [&ann, &bob] {
        assert_eq!(
            member.texts(),
            [(newer.clone(), vec!["after the backup".to_owned()])].into(),
            "{}",
            member.role
        );
        assert_eq!(member.archived(), [gone.as_str()], "{}", member.role);
    }
}

#[test]
fn what_was_sent_before_anything_was_taken_is_not_forgotten() {
    let Some(server) = server() else { return };
    let (ann, bob) = (Member::new(&server, "ann"), Member::new(&server, "bob"));
    let id = ann.add("before");
    ann.sync();
    let read = "SELECT value ->> '$.mark' FROM meta WHERE key = 'team'";
    let path = ann.live.layout().state_dir.join("memory.db");
    let database = rusqlite::Connection::open(path).unwrap();
    let mark: String = database.query_row(read, [], |row| row.get(0)).unwrap();
    drop(database);
    bob.add("of bob");
    bob.sync();
    ann.sync();
    server.stop();
    server.copy("data", "backup");
    server.run();
    ann.update(&id, "sent, and acknowledged");
    ann.sync();
    stop(&ann.live);
    bob.live.kill();
    server.stop();
    server.copy("backup", "data");
    server.run();
    // As if the connection had been lost before it took what bob has sent.
    set_place(
        &ann,
        &format!("UPDATE meta SET value = json_set(value, '$.mark', json('{mark}')) WHERE key = 'team'"),
    );
    bob.live.start();
    for member in [&ann, &bob, &ann] {
        member.sync();
    }
    for member in [&ann, &bob] {
        assert_eq!(member.texts()[&id], ["sent, and acknowledged"], "{}", member.role);
        assert_eq!(member.texts().len(), 2, "{}", member.role);
    }
}

#[test]
fn who_was_away_while_a_server_was_restored_undoes_nothing() {
    let Some(server) = server() else { return };
    let [ann, bob, carol] = ["ann", "bob", "carol"].map(|role| Member::new(&server, role));
    let everybody = [&ann, &bob, &carol];
    let [edited, gone, taken_back] = ["edited", "gone", "taken back"].map(|text| ann.add(text));
    everybody.iter().for_each(|member| drop(member.sync()));
    server.stop();
    server.copy("data", "backup");
    server.run();
    bob.call("memory.forget", json!({ "ids": [edited] }));
    bob.update(&taken_back, "changed, and taken back");
    bob.add("more");
    bob.sync();
    everybody.iter().for_each(|member| drop(member.sync()));
    carol.live.kill();
    server.stop();
    server.copy("backup", "data");
    server.run();
    for member in [&ann, &bob, &ann] {
        member.sync();
    }
    ann.call("memory.restore", json!({ "ids": [edited] }));
    ann.update(&edited, "edited since");
    bob.call("memory.forget", json!({ "ids": [gone] }));
    bob.call("memory.unshare", json!({ "ids": [taken_back] }));
    for member in [&ann, &bob, &ann] {
        member.sync();
    }
    carol.live.start();
    for member in [&carol, &ann, &bob, &carol] {
        member.sync();
    }
    for member in everybody {
        assert_eq!(member.texts()[&edited], ["edited since"], "{}", member.role);
        assert!(member.archived().contains(&gone), "{}", member.role);
        let is_bob = member.role == "bob";
        assert_eq!(member.texts().contains_key(&taken_back), is_bob, "{}", member.role);
    }
    assert_eq!(bob.get(&taken_back)["scope"], "mine");
}

/// Whoever of the two tells the restored server first, one that has forgotten both memories.
#[test]
fn what_is_taken_out_right_after_a_restoring_stays_out() {
    let Some(server) = server() else { return };
    let (ann, bob) = (Member::new(&server, "ann"), Member::new(&server, "bob"));
    for (first, second) in [(&ann, &bob), (&bob, &ann)] {
        server.stop();
        server.copy("data", "backup");
        server.run();
        let role = &first.role;
        let [unshared, forgotten] =
            ["to be unshared", "to be forgotten"].map(|text| bob.add(&format!("{text}, {role}")));
        for member in [&bob, &ann] {
            member.sync();
        }
        assert!(ann.texts().contains_key(&unshared));
        server.stop();
        server.copy("backup", "data");
        bob.call("memory.unshare", json!({ "ids": [unshared] }));
        bob.call("memory.forget", json!({ "ids": [forgotten] }));
        second.live.kill();
        server.run();
        first.sync();
        second.live.start();
        for member in [second, first, second, first] {
            member.sync();
        }
        assert_eq!(bob.texts()[&unshared], [format!("to be unshared, {role}")]);
        assert_eq!(bob.get(&unshared)["scope"], "mine");
        for id in [&unshared, &forgotten] {
            assert!(ann.archived().contains(id), "{id} is of the team, {role} was first");
        }
        assert!(bob.archived().contains(&forgotten), "{role} was first");
        let checks = bob.call("doctor", json!({}))["checks"].to_string();
        assert!(!checks.contains(&unshared), "{checks}");
    }
}

/// The server has forgotten the memory and that it was archived, and who has it comes last.
#[test]
fn what_was_archived_before_a_restoring_is_not_brought_back_by_who_was_away() {
    let Some(server) = server() else { return };
    let (ann, bob) = (Member::new(&server, "ann"), Member::new(&server, "bob"));
    server.stop();
    server.copy("data", "backup");
    server.run();
    let [unshared, forgotten] = ["to be unshared", "to be forgotten"].map(|text| bob.add(text));
    for member in [&bob, &ann] {
        member.sync();
    }
    ann.live.kill();
    bob.call("memory.unshare", json!({ "ids": [unshared] }));
    bob.call("memory.forget", json!({ "ids": [forgotten] }));
    bob.sync();
    server.stop();
    server.copy("backup", "data");
    server.run();
    bob.sync();
    ann.live.start();
    for member in [&ann, &bob, &ann] {
        member.sync();
    }
    for id in [&unshared, &forgotten] {
        assert!(ann.archived().contains(id), "{id}");
    }
    assert!(bob.archived().contains(&forgotten));
    assert_eq!(bob.get(&unshared)["scope"], "mine");
}

#[test]
fn an_edit_that_outlived_an_archiving_outlives_a_restored_server() {
    let Some(server) = server() else { return };
    let (ann, bob) = (Member::new(&server, "ann"), Member::new(&server, "bob"));
    let (kept, edited) = (bob.add("of bob"), ann.add("to be forgotten and edited"));
    for member in [&ann, &bob, &ann] {
        member.sync();
    }
    server.stop();
    bob.update(&kept, "edited while away");
    bob.live.kill();
    server.run();
    ann.call("memory.forget", json!({ "ids": [kept] }));
    ann.sync();
    server.stop();
    server.copy("data", "archived");
    server.run();
    bob.live.start();
    bob.sync();
    ann.sync();
    assert_eq!(ann.texts()[&kept], ["edited while away"]);
    assert_eq!(bob.get(&kept)["trust"], "own");

    // Somebody knows one only as archived, and is away when the server is restored to before that.
    ann.call("memory.forget", json!({ "ids": [edited] }));
    ann.sync();
    let dave = Member::new(&server, "dave");
    dave.sync();
    assert!(!dave.texts().contains_key(&edited));
    dave.live.kill();
    let restart = |members: &[&Member]| {
        for member in members {
            member.live.kill();
            member.live.start();
        }
        members.iter().chain(members).for_each(|member| drop(member.sync()));
    };
    server.stop();
    server.copy("archived", "data");
    server.run();
    restart(&[&bob, &ann]);
    for member in [&ann, &bob] {
        assert_eq!(member.texts()[&kept], ["edited while away"], "{}", member.role);
    }
    ann.call("memory.restore", json!({ "ids": [edited] }));
    ann.update(&edited, "lives again");
    ann.sync();
    let again = "CREATE ROLE dave LOGIN PASSWORD 'dave';
        INSERT INTO memod.member VALUES('dave', 'git.example.com/acme/*', true)";
    server.sql("admin", "team", again); // the server was restored to before he came
    dave.live.start();
    for member in [&dave, &ann, &bob] {
        member.sync();
    }
    for member in [&ann, &bob, &dave] {
        assert_eq!(member.texts()[&edited], ["lives again"], "{}", member.role);
    }
}

#[test]
fn an_empty_server_gets_all() {
    let Some(server) = server() else { return };
    let (ann, bob) = (Member::new(&server, "ann"), Member::new(&server, "bob"));
    let ids = ["one", "two"].map(|text| ann.add(text));
    ann.sync();
    bob.sync();
    bob.update(&ids[1], "two, changed");
    server.sql("admin", "team", "TRUNCATE memod.repository, memod.version, memod.memory");
    for member in [&bob, &ann] {
        member.live.kill();
        member.live.start();
        member.sync();
    }
    bob.sync();
    for member in [&ann, &bob] {
        assert_eq!(member.texts()[&ids[1]], ["two, changed"], "{}", member.role);
        assert_eq!(member.texts().len(), 2, "{}", member.role);
    }
    assert_eq!(server.sql("admin", "team", "SELECT count(*) FROM memod.memory"), "2");
}

#[test]
fn a_server_that_is_emptied_under_open_connections_gets_all() {
    let Some(server) = server() else { return };
    let (ann, bob) = (Member::new(&server, "ann"), Member::new(&server, "bob"));
    let ids = ["one", "two", "three"].map(|text| ann.add(text));
    ann.sync();
    bob.sync();
    server.sql("admin", "team", "TRUNCATE memod.repository, memod.version, memod.memory");
    bob.update(&ids[1], "two, changed");
    for member in [&bob, &ann, &bob] {
        member.sync();
    }
    for member in [&ann, &bob] {
        assert_eq!(member.texts()[&ids[1]], ["two, changed"], "{}", member.role);
        assert_eq!(member.texts().len(), 3, "{}", member.role);
    }
    assert_eq!(server.sql("admin", "team", "SELECT count(*) FROM memod.memory"), "3");
}

#[test]
fn a_copied_database_sends_its_own_changes_too() {
    let Some(server) = server() else { return };
    let (ann, bob) = (Member::new(&server, "ann"), Member::new(&server, "bob"));
    let shared = ann.add("queued before the copy");
    ann.sync();
    ann.live.kill();
    // Bob's clone is a copy of Ann's, with its database.
    bob.live.kill();
    let (from, to) = (ann.live.layout().state_dir, bob.live.layout().state_dir);
    fs::remove_dir_all(&to).unwrap();
    assert!(Command::new("cp").arg("-a").args([&from, &to]).status().unwrap().success());
    for member in [&ann, &bob] {
        member.live.start();
    }
    let [of_ann, of_bob] = [ann.add("of ann after it"), bob.add("of bob after it")];
    for member in [&ann, &bob, &ann, &bob] {
        member.sync();
    }
    let expected = [
        (shared, vec!["queued before the copy".to_owned()]),
        (of_ann, vec!["of ann after it".to_owned()]),
        (of_bob, vec!["of bob after it".to_owned()]),
    ];
    for member in [&ann, &bob] {
        assert_eq!(member.texts(), expected.clone().into(), "{}", member.role);
    }
    let n = server.sql("admin", "team", "SELECT count(*) FROM memod.version");
    assert_eq!(n, "3", "each came once");
}

#[test]
fn a_newer_server_is_left_alone() {
    let Some(server) = server() else { return };
    let ann = Member::new(&server, "ann");
    ann.add("kept here");
    ann.sync();
    server.sql("admin", "team", "UPDATE memod.schema_version SET version = 99");
    ann.live.kill();
    ann.live.start();
    assert_eq!(ann.sync()["unsent"], 0, "nothing says that it cannot be used");
    server.sql("admin", "team", "UPDATE memod.schema_version SET needs = 99");
    for is_new in [false, true] {
        if is_new {
            ann.live.kill();
            ann.live.start();
        }
        let output = ann.live.memo(&["team", "push"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("version 99 of the tables") && said.contains("newer memod"), "{said}");
    }
    assert_eq!(ann.texts().len(), 1);
}

#[test]
fn an_older_server_serves_members_until_its_owner_comes() {
    let Some(server) = Postgres::start() else { return };
    for script in [
        include_str!("../../../crates/team/src/schema.sql"),
        include_str!("../../../crates/team/src/erase.sql"),
    ] {
        server.sql("admin", "team", script);
    }
    let version = || server.sql("admin", "team", "SELECT version FROM memod.schema_version");
    let (ann, bob) = (Member::new(&server, "ann"), Member::new(&server, "bob"));
    let id = ann.add("of ann");
    ann.sync();
    bob.sync();
    assert_eq!((bob.texts()[&id].as_slice(), version().as_str()), (["of ann".to_owned()].as_slice(), "2"));
    Member::of(&server, "admin", SHOP).sync();
    assert_eq!(version(), "3");
    bob.update(&id, "of bob");
    bob.sync();
    ann.sync();
    assert_eq!(ann.texts()[&id], ["of bob"]);
}
