//! Does the description of the HTTP API have the methods, addresses and types that the code has?

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use memod_proto::http::{API_PREFIX, ApiRoute, PathId, QueryType, ROUTES};
use memod_proto::{METHODS, Method, Topic};
use serde_json::{Map, Value, json};

use super::proto_types::{Field, Kind, Types};
use super::top;

const FILE: &str = "src/daemon/web/openapi.json";

/// The schemas of objects, by name.
struct Schemas<'a> {
    types: &'a Types,
    done: BTreeMap<String, Value>,
}

impl Schemas<'_> {
    /// Returns a reference to the schema of an object, which is made if it is not there yet.
    ///
    /// What a caller sends may leave keys out that are always in an answer, so an object has two schemas if it is in both.
    fn object(&mut self, name: &str, is_input: bool) -> Value {
        let of_input = if is_input && !name.ends_with("Params") { "Input" } else { "" };
        let schema_name = format!("{name}{of_input}");
        if !self.done.contains_key(&schema_name) {
            self.done.insert(schema_name.clone(), Value::Null); // a type may have itself inside
            let schema = self.keys(name, is_input);
            self.done.insert(schema_name.clone(), schema);
        }
        json!({ "$ref": format!("#/components/schemas/{schema_name}") })
    }

    fn keys(&mut self, name: &str, is_input: bool) -> Value {
        let types = self.types;
        let may_lack_all = is_input && types.has_defaults(name);
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for field in types.fields(name) {
            let mut schema = self.of(&types.kind(&field.rust), is_input);
            let meaning = types.meaning(field);
            if !meaning.is_empty() {
                schema["description"] = json!(meaning);
            }
            properties.insert(field.name.clone(), schema);
            if !may_lack_all && !field.is_optional {
                required.push(field.name.clone());
            }
        }
        // The daemon adds the states of anchors to whatever has memories, and whether they are up to date.
        if !is_input && name.ends_with("Result") && types.fields(name).iter().any(has_memories) {
            let fresh = json!({ "type": "boolean", "description": "Whether all states are up to date." });
            properties.entry("fresh").or_insert(fresh);
            let reason = json!({ "type": ["string", "null"], "description": "Why they are not." });
            properties.entry("reason").or_insert(reason);
        }
        json!({ "type": "object", "properties": properties, "required": required })
    }

    fn of(&mut self, kind: &Kind<'_>, is_input: bool) -> Value {
        match kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::Boolean => json!({ "type": "boolean" }),
            Kind::Number => json!({ "type": "number" }),
            Kind::Integer => json!({ "type": "integer" }),
            Kind::Unsigned => json!({ "type": "integer", "minimum": 0 }),
            Kind::Any => json!({}),
            Kind::Map => json!({ "type": "object" }),
            Kind::Words(words) => json!({ "enum": words }),
            Kind::Array(inner) => json!({ "type": "array", "items": self.of(inner, is_input) }),
            Kind::Tuple(items) => {
                let items: Vec<_> = items.iter().map(|item| self.of(item, is_input)).collect();
                json!({ "type": "array", "prefixItems": items, "items": false, "minItems": items.len() })
            }
            Kind::OrNull(inner) => {
                json!({ "anyOf": [self.of(inner, is_input), { "type": "null" }] })
            }
            Kind::Object(name) => self.object(name, is_input),
        }
    }

    fn result(&mut self, method: &Method) -> Value {
        match method.result {
            "" => json!({ "type": "object" }),
            name => self.object(name, false),
        }
    }

    /// Returns the operation of a method, at its own address or at a route.
    fn operation(&mut self, method: &Method, route: Option<&ApiRoute>) -> Value {
        let content = |schema: Value| json!({ "application/json": { "schema": schema } });
        let result = content(self.result(method));
        let mut responses = json!({
            "200": { "description": format!("The result of {}.", method.name), "content": result.clone() },
            "default": { "$ref": "#/components/responses/Error" },
        });
        if route.is_some_and(|route| route.verb == "POST" && method.name == "memory.add") {
            responses["201"] = json!({ "description": "A memory was created.", "content": result });
        }
        let mut operation = json!({ "summary": method.name, "responses": responses });
        if route.is_none_or(|route| route.verb != "GET") {
            let params = match method.params {
                "" => json!({ "type": "object" }),
                name => self.object(name, true),
            };
            operation["requestBody"] = json!({ "content": content(params) });
        }
        if let Some(route) = route {
            operation["parameters"] = parameters(self.types, method, route);
        }
        operation
    }
}

fn has_memories(field: &&Field) -> bool {
    ["memory", "memories"].contains(&field.name.as_str())
}

fn parameters(types: &Types, method: &Method, route: &ApiRoute) -> Value {
    let fields = types.fields(method.params);
    let meaning = |name: &str| {
        let field = fields.iter().find(|field| field.name == name);
        let field = field.unwrap_or_else(|| panic!("{}: {} has no param {name}", route.path, method.name));
        (types.meaning(field), types.kind(&field.rust))
    };
    let mut parameters = Vec::new();
    if let Some(PathId::One(name) | PathId::OnlyItem(name)) = route.id {
        let description = meaning(name).0;
        let schema = json!({ "type": "string" });
        parameters.push(
            json!({ "name": "id", "in": "path", "required": true, "description": description, "schema": schema }),
        );
    }
    for (name, query) in route.query {
        let (description, kind) = meaning(name);
        let inner = if let Kind::OrNull(inner) = &kind { inner } else { &kind };
        let (fits, schema) = match query {
            QueryType::Text => (matches!(inner, Kind::Text | Kind::Words(_)), json!({ "type": "string" })),
            QueryType::Integer => {
                (matches!(inner, Kind::Integer | Kind::Unsigned), json!({ "type": "integer" }))
            }
            QueryType::Number => (matches!(inner, Kind::Number), json!({ "type": "number" })),
            QueryType::Flag => (matches!(inner, Kind::Boolean), json!({ "type": "boolean" })),
            QueryType::List => {
                (matches!(inner, Kind::Array(_)), json!({ "type": "array", "items": { "type": "string" } }))
            }
        };
        assert!(fits, "{}: the query has {name} as another type than {}", route.path, method.params);
        parameters.push(json!({ "name": name, "in": "query", "description": description, "schema": schema }));
    }
    if let Some(flag) = route.flag {
        assert!(matches!(meaning(flag).1, Kind::Boolean), "{}: {flag} is no flag", route.path);
    }
    json!(parameters)
}

/// Returns the addresses with their operations.
fn paths(schemas: &mut Schemas<'_>) -> BTreeMap<String, Map<String, Value>> {
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for method in METHODS.iter().filter(|method| method.socket_only.is_none()) {
        let operation = schemas.operation(method, None);
        paths.entry(format!("{API_PREFIX}{}", method.name)).or_default().insert("post".to_owned(), operation);
    }
    for route in ROUTES {
        let operation = schemas.operation(Method::find_method(route.method).unwrap(), Some(route));
        paths.entry(route.path.to_owned()).or_default().insert(route.verb.to_lowercase(), operation);
    }
    let json_of = |schema: Value| json!({ "application/json": { "schema": schema } });
    let text = json!({ "type": "string" });
    let health = json_of(json!({ "type": "object", "properties": { "status": text, "reason": text } }));
    let own = [
        (
            "/health",
            "get",
            json!({
                "summary": "Whether the daemon can answer",
                "security": [],
                "responses": {
                    "200": { "description": "It can.", "content": health },
                    "503": { "description": "It cannot; `reason` says why in a word.", "content": health },
                },
            }),
        ),
        (
            "/v1/openapi.json",
            "get",
            json!({
                "summary": "This description",
                "responses": { "200": { "description": "OpenAPI 3.1.", "content": json_of(json!({ "type": "object" })) } },
            }),
        ),
        (
            "/v1/events",
            "get",
            json!({
                "summary": "Streams what happens, as server-sent events",
                "parameters": [{
                    "name": "topics", "in": "query", "explode": false,
                    "description": "All topics when absent.",
                    "schema": { "type": "array", "items": { "enum": Topic::ALL.map(Topic::as_str) } },
                }, {
                    "name": "cwd", "in": "query",
                    "description": "Absolute path inside the worktree whose events are wanted.",
                    "schema": { "type": "string" },
                }],
                "responses": {
                    "200": {
                        "description": "The event is the topic, or `lost`; the data is one line of JSON.",
                        "content": { "text/event-stream": { "schema": { "type": "string" } } },
                    },
                    "default": { "$ref": "#/components/responses/Error" },
                },
            }),
        ),
        (
            "/v1/session",
            "post",
            json!({
                "summary": "Exchanges the token for the cookie of a session",
                "security": [{}, { "token": [] }],
                "requestBody": {
                    "content": json_of(json!({ "type": "object", "properties": { "token": text } })),
                },
                "responses": {
                    "204": { "description": "`Set-Cookie` has the cookie." },
                    "default": { "$ref": "#/components/responses/Error" },
                },
            }),
        ),
    ];
    for (path, verb, operation) in own {
        paths.entry(path.to_owned()).or_default().insert(verb.to_owned(), operation);
    }
    for (path, verbs) in &mut paths {
        for (verb, operation) in verbs {
            let words =
                path.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
            let words: Vec<_> = words.filter(|word| *word != "v1").collect();
            operation["operationId"] = json!(format!("{verb}_{}", words.join("_")));
        }
    }
    paths
}

/// Writes an object with one line for each of its keys, so that a difference shows what changed.
fn lines(object: impl IntoIterator<Item = (String, Value)>) -> String {
    let lines: Vec<_> = object.into_iter().map(|(key, value)| format!("{}:{value}", json!(key))).collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}

fn description() -> String {
    let types = Types::read();
    let mut schemas = Schemas { types: &types, done: BTreeMap::new() };
    let paths = paths(&mut schemas);
    let error = json!({
        "type": "object",
        "required": ["error"],
        "properties": { "error": {
            "type": "object",
            "required": ["code", "message", "hint"],
            "properties": {
                "code": { "type": "string", "description": "A word, as in the JSON of `memo`." },
                "message": { "type": "string" },
                "hint": { "type": ["string", "null"], "description": "What to do about it." },
            },
        } },
    });
    schemas.done.insert("Error".to_owned(), error);
    let failed = json!({ "Error": {
        "description": "What failed, and what to do about it.",
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
    } });
    let proofs = json!({
        "token": { "type": "http", "scheme": "bearer", "description": "The token that `memo serve` prints." },
        "session": {
            "type": "apiKey", "in": "cookie", "name": "memo-PORT",
            "description": "The cookie that `POST /v1/session` sets.",
        },
    });
    let info = json!({
        "title": "memod",
        "version": memod_proto::PROTOCOL.to_string(),
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        "description": "The methods of memod's socket over HTTP. `cwd` is an absolute path inside a worktree; left out, \
                        it is the one that `memo serve` was run in.",
    });
    let mut text = String::new();
    writeln!(text, "{{\n\"openapi\":\"3.1.0\",\n\"info\":{info},").unwrap();
    writeln!(text, "\"servers\":[{{\"url\":\"/\"}}],\n\"security\":[{{\"token\":[]}},{{\"session\":[]}}],")
        .unwrap();
    writeln!(text, "\"paths\":{},", lines(paths.into_iter().map(|(path, verbs)| (path, json!(verbs)))))
        .unwrap();
    writeln!(text, "\"components\":{{\n\"securitySchemes\":{proofs},\n\"responses\":{failed},").unwrap();
    writeln!(text, "\"schemas\":{}\n}}\n}}", lines(schemas.done)).unwrap();
    text
}

#[test]
fn the_description_has_every_method_and_type() {
    let expected = description();
    let path = top().join(FILE);
    if std::env::var_os("MEMO_BLESS").is_some() {
        fs::write(path, expected).unwrap();
        return;
    }
    let actual = fs::read_to_string(path).unwrap();
    let differs = actual.lines().zip(expected.lines()).find(|(actual, expected)| actual != expected);
    assert!(
        actual == expected,
        "{FILE} is out of date: `MEMO_BLESS=1 cargo test --test it docs::` writes it anew\nfirst difference: {differs:?}"
    );
}

#[test]
fn operations_have_names_of_their_own() {
    let description: Value = serde_json::from_str(&description()).unwrap();
    let operations = description["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|verbs| verbs.as_object().unwrap().values());
    let mut names: Vec<_> = operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    let n_operations = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), n_operations);
}
