//! Lists the addresses of the HTTP API, and the params that only the socket has.
//!
//! Every method is `POST /v1/METHOD`. [`ROUTES`] gives those about memories the addresses of a REST API as well. The daemon
//! and the description of the API are both made from these tables.

use crate::methods::ASKS_A_MODEL;

/// Where all addresses but `/health` begin.
pub const PREFIX: &str = "/v1/";

/// The type of a param that is given in the query of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// Text.
    Text,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// `true`, which nothing stands for as well, or `false`.
    Flag,
    /// An array of texts: the name is given once for each.
    List,
}

/// The param that the `{id}` of an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Id {
    /// The text of this param.
    One(&'static str),
    /// The only item of this array.
    Only(&'static str),
}

/// One address of the API, and the method that answers it.
#[derive(Debug)]
pub struct Route {
    /// `GET`, which needs a method that only reads, `POST`, `PATCH`, `PUT` or `DELETE`.
    pub verb: &'static str,
    /// The path, with `{id}` in it if there is an `id`.
    pub path: &'static str,
    /// Name of the method.
    pub method: &'static str,
    /// The param that `{id}` is.
    pub id: Option<Id>,
    /// Params that the query may have; all others are in the body.
    pub query: &'static [(&'static str, Query)],
    /// A param that is `true`.
    pub flag: Option<&'static str>,
}

const fn route(verb: &'static str, path: &'static str, method: &'static str) -> Route {
    Route { verb, path, method, id: None, query: &[], flag: None }
}

impl Route {
    const fn of(self, id: Id) -> Self {
        Self { id: Some(id), ..self }
    }

    const fn with(self, query: &'static [(&'static str, Query)]) -> Self {
        Self { query, ..self }
    }

    const fn set(self, flag: &'static str) -> Self {
        Self { flag: Some(flag), ..self }
    }
}

const NONE: &[(&str, Query)] = &[("cwd", Query::Text)];
const LIST: &[(&str, Query)] = &[
    ("cwd", Query::Text),
    ("container", Query::Text),
    ("tags", Query::List),
    ("tier", Query::Text),
    ("author", Query::Text),
    ("agent", Query::Text),
    ("source", Query::Text),
    ("min_priority", Query::Integer),
    ("since", Query::Text),
    ("until", Query::Text),
    ("match", Query::Text),
    ("state", Query::List),
    ("about", Query::List),
    ("sort", Query::Text),
    ("limit", Query::Integer),
    ("offset", Query::Integer),
];
const EXPORT: &[(&str, Query)] = &[
    ("cwd", Query::Text),
    ("container", Query::Text),
    ("tags", Query::List),
    ("archived", Query::Flag),
    ("include_vectors", Query::Flag),
    ("after", Query::Integer),
];
const SEARCH: &[(&str, Query)] = &[
    ("cwd", Query::Text),
    ("query", Query::Text),
    ("mode", Query::Text),
    ("sync", Query::Text),
    ("kind", Query::List),
    ("only", Query::List),
    ("path", Query::List),
    ("lang", Query::List),
    ("container", Query::Text),
    ("tag", Query::List),
    ("since", Query::Text),
    ("until", Query::Text),
    ("threshold", Query::Number),
    ("limit", Query::Integer),
    ("wait_ms", Query::Integer),
];
const STATUS: &[(&str, Query)] = &[("cwd", Query::Text), ("files", Query::Flag), ("skipped", Query::Flag)];

/// Every address besides `POST /v1/METHOD`.
pub const ROUTES: &[Route] = &[
    route("GET", "/v1/memories", "memory.list").with(LIST),
    route("POST", "/v1/memories", "memory.add"),
    route("POST", "/v1/memories/bulk", "memory.import"),
    route("GET", "/v1/memories/{id}", "memory.get").of(Id::Only("ids")).with(NONE),
    route("PATCH", "/v1/memories/{id}", "memory.update").of(Id::One("id")),
    route("PUT", "/v1/memories/{id}", "memory.update").of(Id::One("id")),
    route("DELETE", "/v1/memories/{id}", "memory.forget").of(Id::Only("ids")),
    route("POST", "/v1/memories/{id}/promote", "memory.promote").of(Id::One("id")),
    route("POST", "/v1/memories/{id}/confirm", "memory.confirm").of(Id::One("id")),
    route("GET", "/v1/memories/{id}/history", "memory.history").of(Id::Only("ids")).with(NONE),
    route("GET", "/v1/memories/{id}/links", "memory.links").of(Id::One("id")).with(NONE),
    route("GET", "/v1/memories/{id}/related", "memory.related").of(Id::One("id")).with(NONE),
    route("GET", "/v1/search", "search").with(SEARCH),
    route("POST", "/v1/recall", "memory.recall"),
    route("POST", "/v1/forget", "memory.forget"),
    route("POST", "/v1/consolidate", "memory.consolidate"),
    route("POST", "/v1/links", "memory.link"),
    route("DELETE", "/v1/links", "memory.unlink"),
    route("GET", "/v1/archive", "memory.list").with(LIST).set("archived"),
    route("POST", "/v1/archive/{id}/restore", "memory.restore").of(Id::Only("ids")),
    route("DELETE", "/v1/archive/{id}", "memory.purge").of(Id::Only("ids")),
    route("GET", "/v1/tags", "memory.tags").with(NONE),
    route("GET", "/v1/containers", "memory.containers").with(NONE),
    route("GET", "/v1/stats", "memory.stats").with(NONE),
    route("GET", "/v1/export", "memory.export").with(EXPORT),
    route("POST", "/v1/import", "memory.import"),
    route("GET", "/v1/status", "status").with(STATUS),
];

/// Params that HTTP does not have, by method, and why. `false` and null leave one out.
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
        for Route { verb, path, method, id, query, .. } in ROUTES {
            let known = Method::find(method).unwrap_or_else(|| panic!("{path}: no method {method}"));
            assert!(known.only_reads || *verb != "GET", "{path}: GET changes nothing");
            assert!(query.is_empty() || *verb == "GET", "{path}: params of a change are in its body");
            assert_eq!(path.contains("{id}"), id.is_some(), "{path}");
            assert_eq!(known.socket_only, None, "{path}");
        }
        for (method, ..) in SOCKET_ONLY_PARAMS {
            assert!(Method::find(method).is_some(), "no method {method}");
        }
    }
}
