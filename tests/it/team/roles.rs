//! What happens to a member who may only read, or none, or whose server is gone or slow?

use serde_json::json;

use super::{Member, server};

#[test]
fn who_may_only_read_keeps_changes_here_and_is_told() {
    let Some(server) = server() else { return };
    let (ann, bob) = (Member::new(&server, "ann"), Member::new(&server, "bob"));
    server.sql("admin", "team", "UPDATE memod.member SET may_write = false WHERE role = 'bob'");
    let id = ann.add("of ann");
    ann.sync();
    bob.sync();
    bob.update(&id, "of bob");
    let status = bob.sync();
    assert_eq!((&status["unsent"], &status["may_write"]), (&json!(1), &json!(false)), "{status}");
    assert!(status["failure"].as_str().unwrap().contains("may only read"), "{status}");
    ann.sync();
    assert_eq!(
        (ann.texts()[&id].clone(), bob.texts()[&id].clone()),
        (vec!["of ann".to_owned()], vec!["of bob".to_owned()])
    );
    server.sql("admin", "team", "UPDATE memod.member SET may_write = true WHERE role = 'bob'");
    bob.live.kill();
    bob.live.start();
    assert_eq!(bob.sync()["unsent"], 0);
    ann.sync();
    assert_eq!(ann.texts()[&id], ["of bob"]);
}

#[test]
fn without_a_server_all_goes_on_and_status_says_why() {
    let Some(server) = server() else { return };
    let ann = Member::new(&server, "ann");
    ann.sync();
    server.kill();
    let id = ann.add("while it is gone");
    assert_eq!(ann.get(&id)["scope"], "team");
    let output = ann.live.memo(&["team", "push"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("127.0.0.1"), "{said}");
    let status = ann.call("team.status", json!({}));
    assert_eq!((&status["unsent"], &status["is_connected"]), (&json!(1), &json!(false)), "{status}");
    let hits = ann.call("search", json!({ "query": "while", "scope": "team" }));
    assert_eq!(hits["hits"].as_array().unwrap().len(), 1, "{hits}");
    let degraded = hits["degraded"].to_string();
    assert!(degraded.contains("team"), "an old copy is not silently stale: {degraded}");
    server.run();
    assert_eq!(ann.sync()["unsent"], 0);
}

#[test]
fn other_repositories_take_no_part() {
    let Some(server) = server() else { return };
    server.sql("admin", "team", "CREATE ROLE ann LOGIN PASSWORD 'ann'");
    server.sql("admin", "team", "INSERT INTO memod.member VALUES('ann', '*', true)");
    let ann = Member::of(&server, "ann", "https://git.example.com/private/diary.git");
    let id = ann.add("nobody's business");
    assert_eq!(ann.get(&id)["scope"], "mine", "team.tags holds for repositories of the team only");
    let output = ann.live.memo(&["share", "--team", &id]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("not in team.repositories"), "{said}");
    assert_eq!(server.sql("admin", "team", "SELECT count(*) FROM memod.version"), "0");
}

#[test]
fn another_remote_gets_nothing_and_who_leaves_keeps_all() {
    let Some(server) = server() else { return };
    let ann = Member::new(&server, "ann");
    let id = ann.add("of the shop");
    ann.sync();
    ann.live.kill();
    ann.live.git(&["remote", "set-url", "origin", "https://git.example.com/acme/fork.git"]);
    ann.live.start();
    let output = ann.live.memo(&["team", "push"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("acme/shop") && said.contains("memo share team leave"), "{said}");
    assert_eq!(
        server.sql("admin", "team", "SELECT DISTINCT repository FROM memod.version"),
        "git.example.com/acme/shop"
    );
    assert_eq!(ann.call("team.leave", json!({}))["memories"], 1);
    assert_eq!((ann.get(&id)["scope"].clone(), ann.texts().len()), (json!("mine"), 1));
    assert_eq!(ann.sync()["memories"], 0, "a fork has a memory of its own");
}

#[test]
fn a_reset_leaves_the_team_alone_and_what_is_erased_is_gone() {
    let Some(server) = server() else { return };
    let (ann, bob) = (Member::new(&server, "ann"), Member::new(&server, "bob"));
    let (id, secret) = (ann.add("kept"), ann.add("to be erased"));
    ann.sync();
    bob.sync();
    let shown = bob.call("memory.reset", json!({ "dry_run": true }));
    bob.call("memory.reset", json!({ "expect": shown["digest"] }));
    bob.sync();
    ann.sync();
    for member in [&ann, &bob] {
        assert_eq!(member.texts()[&id], ["kept"], "{}", member.role);
    }
    assert!(
        server
            .try_sql("ann", "team", &format!("SELECT memod.erase('git.example.com/acme/shop', '{secret}')"))
            .is_err()
    );
    server.sql("admin", "team", &format!("SELECT memod.erase('git.example.com/acme/shop', '{secret}')"));
    bob.sync();
    assert!(!bob.texts().contains_key(&secret));
    assert_eq!(
        server.sql("admin", "team", "SELECT count(*) FROM memod.version WHERE text LIKE '%erased%'"),
        "0"
    );
    bob.call("memory.restore", json!({ "ids": [secret], "client": "cli" }));
    bob.sync();
    ann.sync();
    assert_eq!(ann.texts()[&secret], ["to be erased"], "who has it in the archive may bring it back");
}
