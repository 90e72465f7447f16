//! Is what other repositories have searched here, and changed there alone?

use serde_json::{Value, json};

use super::postgres::Postgres;
use super::{Member, server};
use crate::live::until;

const SHOP: &str = "git.example.com/acme/shop";
const TILL: &str = "git.example.com/acme/till";

/// Lets a role see repositories.
fn allow(server: &Postgres, role: &str, repositories: &[&str]) {
    server.sql("admin", "team", &format!("CREATE ROLE {role} LOGIN PASSWORD '{role}'"));
    for repository in repositories {
        let sql = format!("INSERT INTO memod.member VALUES('{role}', '{repository}', true)");
        server.sql("admin", "team", &sql);
    }
}

/// Makes a clone of a repository that follows others.
fn follower(server: &Postgres, role: &str, repository: &str, follow: &str) -> Member {
    Member::with(server, role, &format!("https://{repository}.git"), &format!("follow = \"{follow}\""))
}

/// Returns what a search finds: texts with their repositories, sorted.
fn found(member: &Member, query: &str, scope: Option<&str>) -> Vec<(String, String)> {
    let answer = member.call("search", json!({ "query": query, "kind": ["memory"], "scope": scope }));
    let hits = answer["hits"].as_array().unwrap().iter();
    let mut found: Vec<_> = hits
        .map(|hit| {
            let repository = hit["memory"]["repository"].as_str().unwrap_or_default().to_owned();
            (hit["snippet"].as_str().unwrap().to_owned(), repository)
        })
        .collect();
    found.sort();
    found
}

fn pair(text: &str, repository: &str) -> (String, String) {
    (text.to_owned(), repository.to_owned())
}

fn restart(member: &Member) {
    member.live.kill();
    member.live.start();
}

#[test]
fn another_repository_is_searched_here_and_changed_there() {
    let Some(server) = server() else { return };
    let ann = Member::new(&server, "ann");
    allow(&server, "bob", &["git.example.com/acme/*"]);
    let id = ann.add("refunds go through the ledger");
    ann.sync();
    let bob = follower(&server, "bob", TILL, "git.example.com/acme/*");
    bob.call("memory.add", json!({ "content": "refunds are slow", "client": "cli" }));
    let synced = bob.sync();
    assert_eq!(synced["followed"], json!([{ "repository": SHOP, "memories": 1 }]));
    assert_eq!(synced["memories"], 0, "of its own repository");

    let (of_shop, own) = (pair("refunds go through the ledger", SHOP), pair("refunds are slow", ""));
    assert_eq!(found(&bob, "refunds", None), [own.clone(), of_shop.clone()]);
    assert_eq!(found(&bob, "refunds", Some("team")), [of_shop]);
    assert_eq!(found(&bob, "refunds", Some("mine")), [own]);
    let shown = String::from_utf8(bob.live.memo(&["get", &id]).output().unwrap().stdout).unwrap();
    assert!(shown.contains("git.example.com/acme/shop; change the memory there"), "{shown}");
    assert_eq!(bob.get(&id)["trust"], "team");
    let recalled = bob.call("memory.recall", json!({ "query": "refunds ledger", "client": "cli" }));
    assert_eq!(recalled["memories"][0]["id"], json!(id), "{recalled}");
    assert_eq!(bob.get(&id)["access_count"], 0, "recalls change nothing of it");

    for verb in [
        &["update", &id, "--content", "x"][..],
        &["append", &id, "x"],
        &["forget", "--yes", &id],
        &["forget", "--dry-run", &id],
        &["purge", "--yes", &id],
        &["restore", &id],
        &["confirm", &id],
        &["promote", &id],
        &["share", &id],
        &["share", "--team", &id],
        &["unshare", &id],
    ] {
        let output = bob.live.memo(verb).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("only be read here"), "{verb:?}: {said}");
    }
    assert_eq!(bob.get(&id)["content"], "refunds go through the ledger");
    let export = String::from_utf8(bob.live.memo(&["export"]).output().unwrap().stdout).unwrap();
    assert!(export.contains("refunds are slow") && !export.contains("ledger"), "{export}");
    assert_eq!(server.sql("admin", "team", "SELECT count(*) FROM memod.version"), "1", "nothing was sent");

    ann.update(&id, "refunds go through the new ledger");
    until("the change comes by itself", || {
        found(&bob, "refunds ledger", Some("team")) == [pair("refunds go through the new ledger", SHOP)]
    });
    ann.call("memory.forget", json!({ "ids": [id], "client": "cli" }));
    until("it is gone", || found(&bob, "refunds", Some("team")).is_empty());
    assert!(bob.archived().is_empty());
}

#[test]
fn a_copy_never_stands_for_a_memory_of_this_repository() {
    let Some(server) = server() else { return };
    let ann = Member::new(&server, "ann");
    let id = ann.add("the same text");
    ann.sync();
    // The memory was once in till, too, and was forgotten there before this clone was made.
    let till = format!(
        "INSERT INTO memod.repository VALUES('{TILL}', 1);
         INSERT INTO memod.version SELECT '{TILL}', 1, id, NULL, sha256(''), '', 'x', 1, author FROM memod.version;
         INSERT INTO memod.memory SELECT '{TILL}', id, 1, sha256('') FROM memod.memory"
    );
    server.sql("admin", "team", &till);
    allow(&server, "bob", &[TILL, SHOP]);
    let bob = follower(&server, "bob", TILL, SHOP);
    bob.sync();
    let own = bob.add("the same text");
    assert_ne!(own, id, "what shop has may be gone tomorrow");
    assert_eq!(found(&bob, "same text", None), [pair("the same text", ""), pair("the same text", SHOP)]);
    restart(&bob);
    bob.sync();
    let of_till =
        format!("SELECT string_agg(id, ' ' ORDER BY seq) FROM memod.version WHERE repository = '{TILL}'");
    assert_eq!(server.sql("admin", "team", &of_till), format!("{id} {own}"), "nothing of shop came to till");

    bob.live.memo(&["reset", "--yes"]).output().unwrap();
    bob.sync();
    assert_eq!(found(&bob, "same text", None).len(), 2, "all comes again");
    ann.call("memory.forget", json!({ "ids": [id], "client": "cli" }));
    until("the copy goes", || found(&bob, "same text", None) == [pair("the same text", "")]);
    bob.sync();
    assert_eq!(server.sql("admin", "team", &of_till), format!("{id} {own}"));
}

#[test]
fn copies_are_what_the_server_has_and_the_role_may_see() {
    let Some(server) = server() else { return };
    let ann = Member::new(&server, "ann");
    allow(&server, "bob", &[TILL, SHOP]);
    let gone = ann.add("the vault has two keys");
    ann.add("the cellar has one key");
    ann.sync();
    let bob = follower(&server, "bob", TILL, "*");
    bob.sync();
    let n_keys = || found(&bob, "keys", None).len();
    assert_eq!(n_keys(), 2);

    // It is there after a restart, without the server; and only what the server still has, when that has forgotten changes.
    server.stop();
    restart(&bob);
    assert_eq!(n_keys(), 2);
    ann.live.kill(); // it would bring back what the server has forgotten
    server.run();
    let forget = format!(
        "DELETE FROM memod.memory WHERE id = '{gone}'; DELETE FROM memod.version WHERE id = '{gone}';
         UPDATE memod.version SET client = 'another'"
    );
    server.sql("admin", "team", &forget);
    restart(&bob);
    bob.sync();
    assert_eq!(found(&bob, "keys", None), [pair("the cellar has one key", SHOP)]);

    let revoke = format!("DELETE FROM memod.member WHERE role = 'bob' AND repository = '{SHOP}'");
    server.sql("admin", "team", &revoke);
    assert_eq!(bob.sync()["followed"], Value::Null);
    assert_eq!(n_keys(), 0);

    server.sql("admin", "team", &format!("INSERT INTO memod.member VALUES('bob', '{SHOP}', false)"));
    bob.sync();
    assert_eq!(n_keys(), 1);
    server.sql("admin", "team", "DELETE FROM memod.member WHERE role = 'bob'");
    let output = bob.live.memo(&["team", "pull"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("may not see"));
    assert_eq!(n_keys(), 0, "who may see nothing keeps no copies");
}

#[test]
fn what_is_new_in_many_repositories_comes_by_itself() {
    let Some(server) = server() else { return };
    allow(&server, "ann", &["git.example.com/acme/*"]);
    let of = |name: &str| Member::of(&server, "ann", &format!("https://git.example.com/acme/{name}.git"));
    let mut others: Vec<Member> = ["one", "two"].map(of).into();
    for other in &others {
        other.add("the first key");
        other.sync();
    }
    let bob = follower(&server, "admin", TILL, "*");
    bob.sync();
    let n_found = |word: &str| found(&bob, word, Some("team")).len();
    assert_eq!(n_found("first"), 2);
    restart(&bob); // what is known is not asked for again
    bob.sync();
    others.push(of("three"));
    for (nth, word) in ["second", "third"].into_iter().enumerate() {
        for other in &others {
            other.add(&format!("the {word} key"));
            other.sync();
        }
        if nth == 0 {
            bob.sync(); // nobody tells of a repository that is new
        }
        until("all of them come", || n_found(word) == 3);
    }
}

#[test]
fn who_follows_no_more_keeps_nothing_even_without_a_server() {
    let Some(server) = server() else { return };
    let ann = Member::new(&server, "ann");
    ann.add("the vault has two keys");
    ann.sync();
    let bob = follower(&server, "admin", TILL, SHOP);
    bob.sync();
    assert_eq!(found(&bob, "keys", None).len(), 1);
    server.stop();
    let file = bob.live.sandbox.path("home/.config/memod/config.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, settings.replace(&format!("follow = \"{SHOP}\""), "follow = \"\"")).unwrap();
    restart(&bob);
    until("the copies go", || found(&bob, "keys", None).is_empty());
}
