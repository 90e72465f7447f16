//! Builds the params of a method from the address and the body of a request.

use memod_base::types::parse_with_exact_metadata;
use memod_proto::http::{ApiRoute, PathId, QueryType, SOCKET_ONLY_PARAMS};
use memod_proto::max_nesting_depth;
use memod_proto::{MAX_JSON_DEPTH, RpcError, code};
use serde_json::{Map, Number, Value};

type Params = Map<String, Value>;

fn bad_param_error(message: String) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, message)
}

fn body_error(message: &str) -> RpcError {
    RpcError::new(code::PARSE, format!("body: {message}"))
}

/// Parses a body as a JSON object; an empty body means an empty object.
pub(super) fn parse_body(bytes: &[u8]) -> Result<Params, RpcError> {
    let text = std::str::from_utf8(bytes).map_err(|error| body_error(&format!("not UTF-8: {error}")))?;
    if text.trim_ascii().is_empty() {
        return Ok(Params::new());
    }
    if max_nesting_depth(text) > MAX_JSON_DEPTH {
        return Err(body_error(&format!("nested deeper than {MAX_JSON_DEPTH}")));
    }
    match parse_with_exact_metadata(text) {
        Ok(Value::Object(params)) => Ok(params),
        Ok(_) => Err(bad_param_error("body: an object is needed, each param by its name".to_owned())),
        Err(error) => Err(body_error(&format!("not JSON: {error}"))),
    }
}

/// Adds the params in the address of a route to those of the body. The `id` in the path replaces that of the body, a list in the
/// query is appended to that of the body, and any other param of the query that is in the body too is an error.
pub(super) fn add_address_params(
    params: &mut Params,
    route: &ApiRoute,
    id: Option<&str>,
    query: Option<&str>,
) -> Result<(), RpcError> {
    for (name, text) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let Some((name, kind)) = route.query.iter().find(|(known, _)| *known == name) else {
            return Err(unknown_param_error(&name, route));
        };
        let value = parse_value(*kind, &text).ok_or_else(|| {
            let what = if *kind == QueryType::Flag { "true or false" } else { "a number" };
            bad_param_error(format!("{name}: {what} is needed, not {text}"))
        })?;
        match params.get_mut(*name) {
            Some(Value::Array(items)) if *kind == QueryType::List => items.push(value),
            Some(_) => return Err(bad_param_error(format!("{name}: given twice"))),
            None if *kind == QueryType::List => drop(params.insert((*name).to_owned(), vec![value].into())),
            None => drop(params.insert((*name).to_owned(), value)),
        }
    }
    match (route.id, id) {
        (Some(PathId::One(name)), Some(id)) => drop(params.insert(name.to_owned(), id.into())),
        (Some(PathId::OnlyItem(name)), Some(id)) => drop(params.insert(name.to_owned(), vec![id].into())),
        _ => {}
    }
    if let Some(flag) = route.flag {
        params.insert(flag.to_owned(), true.into());
    }
    Ok(())
}

/// Returns the error for an unknown param in a query. It is not ignored, because a misspelt filter must not select everything.
fn unknown_param_error(name: &str, route: &ApiRoute) -> RpcError {
    let hint = match route.query {
        [] => "the params of this address are in its body".to_owned(),
        known => {
            let known: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            format!("known are {}", known.join(", "))
        }
    };
    bad_param_error(format!("{name}: no param of the query of {} {}", route.verb, route.path)).with_hint(hint)
}

fn parse_value(kind: QueryType, text: &str) -> Option<Value> {
    match kind {
        QueryType::Text | QueryType::List => Some(text.into()),
        QueryType::Integer => text.parse::<i64>().ok().map(Value::from),
        QueryType::Number => text.parse::<f64>().ok().and_then(Number::from_f64).map(Value::from),
        QueryType::Flag => match text {
            "" | "true" => Some(true.into()),
            "false" => Some(false.into()),
            _ => None,
        },
    }
}

/// Adds to the params of a method the client, and the worktree unless the params name one.
pub(super) fn complete_params(params: &mut Params, method: &str, root: &str) -> Result<(), RpcError> {
    for (_, name, why) in SOCKET_ONLY_PARAMS.iter().filter(|(for_method, ..)| *for_method == method) {
        if params.get(*name).is_some_and(|value| !value.is_null() && value != false) {
            return Err(bad_param_error(format!("{name}: not available over HTTP, because {why}"))
                .with_hint("leave it out, or use `memo` or the socket"));
        }
    }
    if params.get("cwd").is_none_or(|cwd| cwd.is_null() || cwd == "") {
        params.insert("cwd".to_owned(), root.into());
    }
    // Memories record the client; a request over HTTP was not typed at a terminal.
    params.insert("client".to_owned(), "http".into());
    Ok(())
}

#[cfg(test)]
mod tests {
    use memod_proto::http::ROUTES;
    use serde_json::json;

    use super::*;

    fn route(verb: &str, path: &str) -> &'static ApiRoute {
        ROUTES.iter().find(|route| route.verb == verb && route.path == path).expect("a route")
    }

    #[test]
    fn a_body_is_an_object() {
        let check = |body: &str, expected: Option<Value>| {
            assert_eq!(parse_body(body.as_bytes()).ok().map(Value::Object), expected, "{body}");
        };
        check("", Some(json!({})));
        check(" \n", Some(json!({})));
        check("{\"a\":[1]}", Some(json!({ "a": [1] })));
        for wrong in ["[]", "null", "1", "{", "{} {}", &format!("{{\"a\":{}", "[".repeat(100_000))] {
            check(wrong, None);
        }
        assert!(parse_body(b"{\"a\":\"\xff\"}").is_err());
    }

    #[test]
    fn the_address_has_params() {
        let check = |verb, path, id, query, body: Value, expected: Option<Value>| {
            let Value::Object(mut params) = body else { panic!("an object") };
            let added = add_address_params(&mut params, route(verb, path), id, Some(query));
            assert_eq!(added.is_ok().then_some(Value::Object(params)), expected, "{verb} {path}?{query}");
        };
        let list = "/v1/memories";
        check("GET", list, None, "", json!({}), Some(json!({})));
        check(
            "GET",
            list,
            None,
            "limit=5&tags=a%20b&tags=c+d&match=20",
            json!({}),
            Some(json!({ "limit": 5, "tags": ["a b", "c d"], "match": "20" })),
        );
        check("GET", list, None, "limit=x", json!({}), None);
        check("GET", list, None, "limit=1&limit=2", json!({}), None);
        check("GET", list, None, "tag=a", json!({}), None);
        check("GET", "/v1/archive", None, "", json!({}), Some(json!({ "archived": true })));
        check(
            "GET",
            "/v1/status",
            None,
            "files&skipped=false",
            json!({}),
            Some(json!({ "files": true, "skipped": false })),
        );
        let one = "/v1/memories/{id}";
        check("GET", one, Some("mem_1"), "", json!({}), Some(json!({ "ids": ["mem_1"] })));
        let body = json!({ "id": "mem_2", "priority": 7 });
        check("PATCH", one, Some("mem_1"), "", body, Some(json!({ "id": "mem_1", "priority": 7 })));
        check("DELETE", one, Some("mem_1"), "dry_run=true", json!({}), None);
    }

    #[test]
    fn what_is_left_out_is_completed() {
        let check = |method, params: Value, expected: Option<Value>| {
            let Value::Object(mut params) = params else { panic!("an object") };
            let completed = complete_params(&mut params, method, "/r");
            assert_eq!(completed.is_ok().then_some(Value::Object(params)), expected, "{method}");
        };
        check("search", json!({}), Some(json!({ "cwd": "/r", "client": "http" })));
        check(
            "search",
            json!({ "cwd": "/s", "client": "cli" }),
            Some(json!({ "cwd": "/s", "client": "http" })),
        );
        check("search", json!({ "cwd": 3 }), Some(json!({ "cwd": 3, "client": "http" })));
        check(
            "memory.backup",
            json!({ "path": null }),
            Some(json!({ "path": null, "cwd": "/r", "client": "http" })),
        );
        check("memory.backup", json!({ "path": "/etc/cron.d/x" }), None);
    }
}
