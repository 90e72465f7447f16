//! Do the addresses do what the methods do?

use serde_json::{Value, json};

use super::Web;

#[test]
fn memories_have_addresses() {
    let web = Web::new();
    let created =
        web.ask("POST", "/v1/memories", &json!({ "content": "tokens last a day", "tags": ["auth"] }));
    assert_eq!(created.status, 201);
    let created = created.json();
    assert_eq!(created["memory"]["source"], "api", "it was not typed at a terminal");
    let one = created["memory"]["id"].as_str().unwrap();
    let again = web.ask("POST", "/v1/memories", &json!({ "content": "tokens last a day", "client": "cli" }));
    assert_eq!(
        (again.status, &again.json()["created"]),
        (200, &json!(false)),
        "the same text is stored once"
    );
    let drafts =
        json!({ "drafts": [{ "content": "carts have a price" }, { "content": "postage is three" }] });
    let fates: Vec<_> = web.get("POST", "/v1/memories/bulk", &drafts)["drafts"].as_array().unwrap().clone();
    assert!(fates.len() == 2 && fates.iter().all(|draft| draft["fate"] == "added"), "{fates:?}");
    let two = fates[0]["id"].as_str().unwrap();

    let path = format!("/v1/memories/{one}");
    let show = |path: &str| web.get("GET", path, &json!(null));
    assert_eq!(show(&path)["memories"][0]["content"], "tokens last a day");
    assert_eq!(show("/v1/memories?tags=auth&limit=5")["total"], 1);
    assert_eq!(show("/v1/memories?match=price%20carts")["memories"][0]["id"], two);
    assert_eq!(show("/v1/search?query=tokens&kind=memory")["hits"][0]["id"], one);
    assert_eq!(web.get("PATCH", &path, &json!({ "priority": 8 }))["changed"], json!(["priority"]));
    assert_eq!(web.get("PUT", &path, &json!({ "title": "Tokens" }))["memory"]["title"], "Tokens");
    assert_eq!(web.get("POST", "/v1/recall", &json!({ "query": "tokens" }))["memories"][0]["id"], one);
    web.get("POST", "/v1/links", &json!({ "from": one, "to": two }));
    assert_eq!(show(&format!("{path}/links"))["memories"].as_array().unwrap().len(), 2);
    web.get("DELETE", "/v1/links", &json!({ "from": one, "to": two }));
    web.get("POST", &format!("{path}/promote"), &json!({}));
    assert!(show(&format!("{path}/history")).is_object() && show(&format!("{path}/related")).is_object());
    assert_eq!(show("/v1/containers")["names"][0]["memories"], 3);
    assert_eq!(show("/v1/tags")["names"], json!([{ "name": "auth", "memories": 1 }]));
    let exported = show("/v1/export");
    assert_eq!(exported["memories"].as_array().unwrap().len(), 3);

    assert_eq!(web.get("DELETE", &path, &json!({ "dry_run": true }))["memories"][0]["id"], one);
    web.get("DELETE", &path, &json!({}));
    assert_eq!(
        (&show("/v1/stats")["living"], &show("/v1/archive")["memories"][0]["id"]),
        (&json!(2), &json!(one))
    );
    web.get("POST", &format!("/v1/archive/{one}/restore"), &json!({}));
    web.get("POST", "/v1/forget", &json!({ "ids": [two] }));
    web.get("DELETE", &format!("/v1/archive/{two}"), &json!({}));
    assert_eq!((&show("/v1/stats")["living"], &show("/v1/stats")["archived"]), (&json!(2), &json!(0)));
    let imported = web.get("POST", "/v1/import", &json!({ "drafts": exported["memories"] }));
    let fates: Vec<_> = imported["drafts"].as_array().unwrap().iter().map(|draft| &draft["fate"]).collect();
    assert_eq!(fates.iter().filter(|fate| **fate == "added").count(), 1, "{fates:?}");
}

#[test]
fn what_is_wrong_has_a_status() {
    let web = Web::new();
    let check = |verb: &str, path: &str, body: Value, status: u16, code: &str| {
        let answer = web.ask(verb, path, &body);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (status, code),
            "{verb} {path}: {}",
            answer.json()
        );
        let error = answer.json()["error"].clone();
        assert!(!error["message"].as_str().unwrap().is_empty(), "{error}");
    };
    check("GET", "/v1/memories/mem_zzz", json!(null), 404, "not-found");
    check("DELETE", "/v1/memories/mem_zzz", json!({}), 404, "not-found");
    check("GET", "/v1/memories?limit=many", json!(null), 400, "usage");
    check("GET", "/v1/memories?limit=5000", json!(null), 400, "usage");
    check("GET", "/v1/memories?tag=auth", json!(null), 400, "usage");
    check("GET", "/v1/memories?tier=eternal", json!(null), 400, "usage");
    check("POST", "/v1/memories", json!({}), 400, "usage");
    check("POST", "/v1/memories", json!([]), 400, "usage");
    check("POST", "/v1/memories", json!({ "content": 3 }), 400, "usage");
    check("POST", "/v1/memories?content=x", json!({}), 400, "usage");
    check("POST", "/v1/search", json!({ "query": "x", "cwd": "work" }), 400, "usage");
    check("POST", "/v1/nothing", json!({}), 404, "no-method");
    for body in ["{", "{\"a\":\"\u{0}\"}", "nonsense"] {
        let answer = web.ask_with("POST", "/v1/search", &[], body);
        assert_eq!((answer.status, answer.code().as_str()), (400, "usage"), "{body}");
    }
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100), "]".repeat(100));
    assert_eq!(web.ask_with("POST", "/v1/search", &[], &deep).status, 400);
}

#[cfg(unix)]
#[test]
fn what_failed_inside_is_in_the_log_alone() {
    let web = Web::new();
    let endless = web.live.root().join("endless");
    std::os::unix::fs::symlink(&endless, &endless).unwrap();
    let answer = web.ask("POST", "/v1/search", &json!({ "query": "x", "cwd": endless }));
    assert_eq!((answer.status, answer.code().as_str()), (500, "io"));
    let (told, name) = (String::from_utf8(answer.body).unwrap(), endless.display().to_string());
    assert!(!told.contains(&name), "{told}");
    let log = std::fs::read_to_string(web.live.layout().log_file()).unwrap();
    assert!(log.contains(&name), "{log}");
    web.assert_alive("afterwards");
}

/// A worktree of its own is meant only when it is named.
#[test]
fn the_worktree_is_that_of_the_command() {
    let web = Web::new();
    web.live.commit_all();
    web.live.git(&["worktree", "add", "-q", "../second"]);
    let second = web.live.sandbox.path("second");
    std::fs::write(second.join("b.md"), "beta alpha").unwrap();
    let search = |cwd: Value| {
        let found = web.get("POST", "/v1/search", &json!({ "query": "beta", "cwd": cwd, "wait_ms": 60_000 }));
        found["hits"].as_array().unwrap().iter().filter(|hit| hit["path"] == "b.md").count()
    };
    assert_eq!((search(json!(null)), search(json!("")), search(json!(second))), (0, 0, 1));
    let told = web.live.call_in(&second, "serve.start", json!({}));
    assert_eq!(
        (&told["port"], &told["root"]),
        (&json!(web.port), &json!(web.live.root())),
        "one for all worktrees"
    );
}
