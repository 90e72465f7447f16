//! Lists the addresses of the HTTP API, and the params that only the socket accepts.
//!
//! Every method is `POST /v1/METHOD`. [`ROUTES`] adds the addresses of a REST API, most of them for memories. The
//! daemon and the description of the API are both built from these tables.

use crate::methods::ASKS_A_MODEL;

/// Prefix of all addresses except `/health`.
pub const API_PREFIX: &str = "/v1/";

/// The type of a param in the query of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryType {
    /// Text.
    Text,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// `true`, also without a value, or `false`.
    Flag,
    /// An array of texts; the name is repeated for each text.
    List,
}

/// The param to which the `{id}` in an address is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathId {
    /// The id is the value of this param.
    One(&'static str),
    /// The id is the only item of this array.
    OnlyItem(&'static str),
}

/// One address of the API, and the method that answers it.
#[derive(Debug)]
pub struct ApiRoute {
    /// `GET` (for methods that only read), `POST`, `PATCH`, `PUT` or `DELETE`.
    pub verb: &'static str,
    /// The path; it contains `{id}` if `id` is set.
    pub path: &'static str,
    /// Name of the method.
    pub method: &'static str,
    /// The param that takes `{id}`.
    pub id: Option<PathId>,
    /// Params that the query accepts; all others are in the body.
    pub query: &'static [(&'static str, QueryType)],
    /// Name of a param that is always `true`.
    pub flag: Option<&'static str>,
}

const fn new_route(verb: &'static str, path: &'static str, method: &'static str) -> ApiRoute {
    ApiRoute { verb, path, method, id: None, query: &[], flag: None }
}

impl ApiRoute {
    const fn with_id(self, id: PathId) -> Self {
        Self { id: Some(id), ..self }
    }

    const fn with_query(self, query: &'static [(&'static str, QueryType)]) -> Self {
        Self { query, ..self }
    }

    const fn with_flag(self, flag: &'static str) -> Self {
        Self { flag: Some(flag), ..self }
    }
}

const CWD_QUERY: &[(&str, QueryType)] = &[("cwd", QueryType::Text)];
const LIST_QUERY: &[(&str, QueryType)] = &[
    ("cwd", QueryType::Text),
    ("container", QueryType::Text),
    ("tags", QueryType::List),
    ("tier", QueryType::Text),
    ("author", QueryType::Text),
    ("agent", QueryType::Text),
    ("source", QueryType::Text),
    ("min_priority", QueryType::Integer),
    ("since", QueryType::Text),
    ("until", QueryType::Text),
    ("match", QueryType::Text),
    ("state", QueryType::List),
    ("about", QueryType::List),
    ("sort", QueryType::Text),
    ("limit", QueryType::Integer),
    ("offset", QueryType::Integer),
];
const EXPORT_QUERY: &[(&str, QueryType)] = &[
    ("cwd", QueryType::Text),
    ("container", QueryType::Text),
    ("tags", QueryType::List),
    ("archived", QueryType::Flag),
    ("include_vectors", QueryType::Flag),
    ("after", QueryType::Integer),
];
const SEARCH_QUERY: &[(&str, QueryType)] = &[
    ("cwd", QueryType::Text),
    ("query", QueryType::Text),
    ("mode", QueryType::Text),
    ("sync", QueryType::Text),
    ("kind", QueryType::List),
    ("only", QueryType::List),
    ("path", QueryType::List),
    ("lang", QueryType::List),
    ("container", QueryType::Text),
    ("tag", QueryType::List),
    ("since", QueryType::Text),
    ("until", QueryType::Text),
    ("threshold", QueryType::Number),
    ("limit", QueryType::Integer),
    ("wait_ms", QueryType::Integer),
];
const STATUS_QUERY: &[(&str, QueryType)] =
    &[("cwd", QueryType::Text), ("files", QueryType::Flag), ("skipped", QueryType::Flag)];

/// Every address except `POST /v1/METHOD`.
pub const ROUTES: &[ApiRoute] = &[
    new_route("GET", "/v1/memories", "memory.list").with_query(LIST_QUERY),
    new_route("POST", "/v1/memories", "memory.add"),
    new_route("POST", "/v1/memories/bulk", "memory.import"),
    new_route("GET", "/v1/memories/{id}", "memory.get")
        .with_id(PathId::OnlyItem("ids"))
        .with_query(CWD_QUERY),
    new_route("PATCH", "/v1/memories/{id}", "memory.update").with_id(PathId::One("id")),
    new_route("PUT", "/v1/memories/{id}", "memory.update").with_id(PathId::One("id")),
    new_route("DELETE", "/v1/memories/{id}", "memory.forget").with_id(PathId::OnlyItem("ids")),
    new_route("POST", "/v1/memories/{id}/promote", "memory.promote").with_id(PathId::One("id")),
    new_route("POST", "/v1/memories/{id}/confirm", "memory.confirm").with_id(PathId::One("id")),
    new_route("GET", "/v1/memories/{id}/history", "memory.history")
        .with_id(PathId::OnlyItem("ids"))
        .with_query(CWD_QUERY),
    new_route("GET", "/v1/memories/{id}/links", "memory.links")
        .with_id(PathId::One("id"))
        .with_query(CWD_QUERY),
    new_route("GET", "/v1/memories/{id}/related", "memory.related")
        .with_id(PathId::One("id"))
        .with_query(CWD_QUERY),
    new_route("GET", "/v1/search", "search").with_query(SEARCH_QUERY),
    new_route("POST", "/v1/recall", "memory.recall"),
    new_route("POST", "/v1/forget", "memory.forget"),
    new_route("POST", "/v1/consolidate", "memory.consolidate"),
    new_route("POST", "/v1/links", "memory.link"),
    new_route("DELETE", "/v1/links", "memory.unlink"),
    new_route("GET", "/v1/archive", "memory.list").with_query(LIST_QUERY).with_flag("archived"),
    new_route("POST", "/v1/archive/{id}/restore", "memory.restore").with_id(PathId::OnlyItem("ids")),
    new_route("DELETE", "/v1/archive/{id}", "memory.purge").with_id(PathId::OnlyItem("ids")),
    new_route("GET", "/v1/tags", "memory.tags").with_query(CWD_QUERY),
    new_route("GET", "/v1/containers", "memory.containers").with_query(CWD_QUERY),
    new_route("GET", "/v1/stats", "memory.stats").with_query(CWD_QUERY),
    new_route("GET", "/v1/export", "memory.export").with_query(EXPORT_QUERY),
    new_route("POST", "/v1/import", "memory.import"),
    new_route("GET", "/v1/status", "status").with_query(STATUS_QUERY),
];

/// Params that HTTP does not accept, by method, each with the reason. The values `false` and null count as absent.
pub const SOCKET_ONLY_PARAMS: &[(&str, &str, &str)] = &[
    ("memory.backup", "path", "it names a file anywhere"),
    ("memory.restore_backup", "path", "it names a file anywhere"),
    ("search", "expand", ASKS_A_MODEL),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Method;

    #[test]
    fn routes_lead_to_methods() {
        for ApiRoute { verb, path, method, id, query, .. } in ROUTES {
            let known = Method::find_method(method).unwrap_or_else(|| panic!("{path}: no method {method}"));
            assert!(known.only_reads || *verb != "GET", "{path}: GET changes nothing");
            assert!(query.is_empty() || *verb == "GET", "{path}: params of a change are in its body");
            assert_eq!(path.contains("{id}"), id.is_some(), "{path}");
            assert_eq!(known.socket_only, None, "{path}");
        }
        for (method, ..) in SOCKET_ONLY_PARAMS {
            assert!(Method::find_method(method).is_some(), "no method {method}");
        }
    }
}
