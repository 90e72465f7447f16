//! Are memories of other repositories searched here, and changed there alone?

use serde_json::{Value, json};

use super::{Member, SHOP, server};
use crate::live::until;

const TILL: &str = "https://git.example.com/acme/till.git";

/// Returns what a search finds: texts with their repositories.
fn found(member: &Member, params: Value) -> Vec<(String, String)> {
    let mut params = params;
    params["kind"] = json!(["memory"]);
    let answer = member.call("search", params);
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| {
        let repository = hit["memory"]["repository"].as_str().unwrap_or_default().to_owned();
        (hit["snippet"].as_str().unwrap().to_owned(), repository)
    })
    .collect()
}

fn pair(text: &str, repository: &str) -> (String, String) {
    (text.to_owned(), repository.to_owned())
}

#[test]
fn another_repository_is_searched_here_and_changed_there() {
    let Some(server) = server() else { return };
    let shop = "git.example.com/acme/shop";
    let ann = Member::new(&server, "ann");
    server.sql("admin", "team", "CREATE ROLE bob LOGIN PASSWORD 'bob'");
    server.sql("admin", "team", "INSERT INTO memod.member VALUES('bob', 'git.example.com/acme/*', true)");
    let id = ann.add("refunds go through the ledger");
    ann.sync();
    let bob = Member::with(&server, "bob", TILL, "follow = \"git.example.com/acme/*\"");
    bob.call("memory.add", json!({ "content": "refunds are slow", "client": "cli" }));
    let synced = bob.sync();
    assert_eq!(synced["followed"], json!([{ "repository": shop, "memories": 1 }]));
    assert_eq!(synced["memories"], 0, "of its own repository");

    let of_shop = pair("refunds go through the ledger", shop);
    let mut all = found(&bob, json!({ "query": "refunds" }));
    all.sort();
    assert_eq!(all, [pair("refunds are slow", ""), of_shop.clone()]);
    assert_eq!(found(&bob, json!({ "query": "refunds", "scope": "team" })), [of_shop.clone()]);
    assert_eq!(found(&bob, json!({ "query": "refunds", "scope": "mine" })), [pair("refunds are slow", "")]);
    let shown = String::from_utf8(bob.live.memo(&["get", &id]).output().unwrap().stdout).unwrap();
    assert!(shown.contains("git.example.com/acme/shop; it is changed there"), "{shown}");

    for verb in [&["update", &id, "--content", "x"][..], &["forget", "--yes", &id], &["unshare", &id]] {
        let output = bob.live.memo(verb).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("only read here"), "{verb:?}: {said}");
        assert_eq!(bob.get(&id)["content"], "refunds go through the ledger", "{verb:?}");
    }
    assert_eq!(bob.get(&id)["trust"], "team");
    bob.call("memory.confirm", json!({ "id": id, "client": "cli" }));
    assert_eq!(bob.get(&id)["trust"], "own");
    let export = String::from_utf8(bob.live.memo(&["export"]).output().unwrap().stdout).unwrap();
    assert!(export.contains("refunds are slow") && !export.contains("ledger"), "{export}");
    assert_eq!(server.sql("admin", "team", "SELECT count(*) FROM memod.version"), "1", "nothing was sent");

    ann.update(&id, "refunds go through the new ledger");
    until("the change comes by itself", || {
        found(&bob, json!({ "query": "refunds ledger", "scope": "team" }))
            == [pair("refunds go through the new ledger", shop)]
    });
    assert_eq!(bob.get(&id)["trust"], "team", "another text than the one that was confirmed");
    ann.call("memory.forget", json!({ "ids": [id], "client": "cli" }));
    until("it is gone", || found(&bob, json!({ "query": "refunds", "scope": "team" })).is_empty());
    assert!(bob.archived().is_empty());
}

#[test]
fn what_the_role_may_not_see_any_more_is_gone() {
    let Some(server) = server() else { return };
    let ann = Member::new(&server, "ann");
    server.sql("admin", "team", "CREATE ROLE bob LOGIN PASSWORD 'bob'");
    let rights = "INSERT INTO memod.member VALUES('bob', 'git.example.com/acme/till', true),
         ('bob', 'git.example.com/acme/shop', false)";
    server.sql("admin", "team", rights);
    ann.add("the vault has two keys");
    ann.sync();
    let bob = Member::with(&server, "bob", TILL, "follow = \"*\"");
    bob.sync();
    let keys = || found(&bob, json!({ "query": "keys" })).len();
    assert_eq!(keys(), 1);

    // It is there after a restart, without the server; and once, when that has forgotten changes.
    server.stop();
    bob.live.kill();
    bob.live.start();
    assert_eq!(keys(), 1);
    server.run();
    server.sql("admin", "team", "UPDATE memod.version SET client = 'another'");
    bob.live.kill();
    bob.live.start();
    bob.sync();
    assert_eq!(keys(), 1);

    server.sql("admin", "team", "DELETE FROM memod.member WHERE role = 'bob' AND repository LIKE '%shop'");
    bob.sync();
    assert_eq!(keys(), 0);
    assert_eq!(bob.sync()["followed"], Value::Null);
}

#[test]
fn a_memory_that_moves_between_repositories_is_there_once() {
    let Some(server) = server() else { return };
    let ann = Member::of(&server, "admin", SHOP);
    let id = ann.add("moved");
    ann.sync();
    let bob = Member::with(&server, "admin", TILL, "follow = \"git.example.com/acme/shop\"");
    bob.sync();
    assert_eq!(bob.get(&id)["repository"], "git.example.com/acme/shop");
    // Somebody imports it into the other repository, too.
    server.sql(
        "admin",
        "team",
        "INSERT INTO memod.repository VALUES('git.example.com/acme/till', 1);
         INSERT INTO memod.version SELECT 'git.example.com/acme/till', 1, id, NULL, hash, text, 'x', 1, author
             FROM memod.version WHERE repository = 'git.example.com/acme/shop';
         INSERT INTO memod.memory SELECT 'git.example.com/acme/till', id, 1, hash FROM memod.memory",
    );
    bob.sync();
    assert_eq!(bob.get(&id)["repository"], Value::Null);
    assert_eq!(bob.texts().len(), 1);
    assert_eq!(ann.texts().len(), 1);
}
