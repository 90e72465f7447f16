//! Are answers as `GET /v1/openapi.json` describes them?

use boon::{Compiler, Schemas};
use serde_json::{Map, Value, json};

use super::Web;

/// Where the checker of schemas finds the description.
const BASE: &str = "memod:///openapi.json";

/// Forbids keys that are not described: clients ignore them, but the daemon has none.
fn make_strict(schema: &mut Value) {
    if let Some(schema) = schema.as_object_mut().filter(|schema| schema.contains_key("properties")) {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}

/// Returns what is wrong with an answer to an operation; nothing if it is as described.
fn wrong(description: &Value, path: &str, verb: &str, answer: &super::Answer) -> Option<String> {
    let escaped = path.replace('~', "~0").replace('/', "~1");
    let responses = &description["paths"][path][verb]["responses"];
    let status = answer.status.to_string();
    if responses[&status].is_null() {
        return Some(format!("{status} is not described: {}", answer.json()));
    }
    let mut compiler = Compiler::new();
    compiler.add_resource(BASE, description.clone()).unwrap();
    let schema =
        format!("{BASE}#/paths/{escaped}/{verb}/responses/{status}/content/application~1json/schema");
    let mut schemas = Schemas::new();
    let schema = compiler.compile(&schema, &mut schemas).unwrap_or_else(|error| panic!("{path}: {error:#}"));
    schemas.validate(&answer.json(), schema).err().map(|error| format!("{error:#}"))
}

/// Params with which an operation answers something that has much in it.
fn sample(summary: &str, one: &str, two: &str) -> Value {
    match summary {
        "hello" => json!({ "version": "0.1.0", "protocol": 1 }),
        "search" => json!({ "query": "words", "explain": true, "texts": true }),
        "memory.recall" => json!({ "query": "thing" }),
        "why" => json!({ "target": "a.md" }),
        "show" | "outline" => json!({ "target": "src/lib.rs" }),
        "refs" | "callers" | "callees" | "impact" | "tests" => json!({ "target": "src/lib.rs#one" }),
        "changed" => json!({ "since": "HEAD" }),
        "complete" => json!({ "kind": "path", "prefix": "" }),
        "memory.get" | "memory.history" => json!({ "ids": [one] }),
        "memory.add" => {
            json!({ "content": "a third one, about the weather in March", "about": ["src/lib.rs#one"] })
        }
        "memory.update" => json!({ "id": one, "priority": 7 }),
        "memory.promote" | "memory.links" | "memory.related" => json!({ "id": one }),
        "memory.link" | "memory.unlink" => json!({ "from": one, "to": two }),
        "memory.import" => json!({ "drafts": [{ "content": "an imported one" }, { "content": "" }] }),
        "memory.merge" => json!({ "keep": one, "ids": [two] }),
        "status" => json!({ "files": true, "skipped": true }),
        _ if summary.contains("forget") || summary.contains("purge") => {
            json!({ "match": "first", "dry_run": true })
        }
        _ => json!({ "dry_run": true }),
    }
}

#[test]
fn answers_are_as_described() {
    let web = Web::new();
    web.live.write(
        "src/lib.rs",
        "/// Returns two.\npub fn one() -> u32 {\n    two()\n}\n\nfn two() -> u32 {\n    2\n}\n",
    );
    web.live.write(".env", "SECRET=1\n");
    web.live.commit_all();
    let (one, two) =
        (web.add("the first thing to remember"), web.add("entirely different: lunch is at noon"));
    web.get("POST", "/v1/links", &json!({ "from": one, "to": two, "kind": "supersedes" }));
    let mut description = web.get("GET", "/v1/openapi.json", &json!(null));
    assert_eq!(description["openapi"], "3.1.0");
    description["components"]["schemas"].as_object_mut().unwrap().values_mut().for_each(make_strict);

    let (mut n_checked, mut broken) = (0, Vec::new());
    let paths: Map<String, Value> = description["paths"].as_object().unwrap().clone();
    for (path, verbs) in &paths {
        for (verb, operation) in verbs.as_object().unwrap() {
            // It would empty the index under the others, or set aside what they ask for; a stream has no end.
            let summary = operation["summary"].as_str().unwrap();
            if ["reindex", "memory.reset", "memory.restore_backup"].contains(&summary)
                || ["/v1/session", "/v1/events"].contains(&path.as_str())
            {
                continue;
            }
            let mut body = sample(summary, &one, &two);
            let path_with_id = path.replace("{id}", &one);
            let query = if path == "/v1/search" { "?query=words" } else { "" };
            let answer = match verb.as_str() {
                "get" => web.ask("GET", &format!("{path_with_id}{query}"), &json!(null)),
                verb => {
                    if path.contains("{id}") {
                        body.as_object_mut()
                            .unwrap()
                            .retain(|key, _| !["id", "ids", "match"].contains(&key.as_str()));
                    }
                    web.ask(&verb.to_uppercase(), &path_with_id, &body)
                }
            };
            if answer.status >= 400 {
                continue; // some need more than this sample
            }
            n_checked += 1;
            let why = wrong(&description, path, verb, &answer);
            broken.extend(why.map(|why| format!("{verb} {path}: {why}")));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(n_checked >= 60, "only {n_checked} operations answered");
}
