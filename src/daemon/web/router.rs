//! Finds the target of a request by its verb and its path.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use matchit::Router;
use memod_proto::METHODS;
use memod_proto::http::{API_PREFIX, ApiRoute, ROUTES};

/// The code that answers requests to an address.
#[derive(Clone, Copy, Debug)]
pub(super) enum RouteTarget {
    /// A method, addressed by its name or by a route.
    Method(&'static str, Option<&'static ApiRoute>),
    /// The description of the API.
    Description,
    /// A stream of events.
    Events,
    /// The function that opens a session.
    Session,
}

/// HTTP verbs with their targets.
type VerbTargets = Vec<(&'static str, RouteTarget)>;

/// Path of the description of the API.
const DESCRIPTION: &str = "/v1/openapi.json";
/// Path at which events are streamed.
const EVENTS: &str = "/v1/events";
/// Path at which a session is opened; requests need no session there.
const SESSION: &str = "/v1/session";

static ROUTER: LazyLock<Router<VerbTargets>> = LazyLock::new(|| {
    let mut router = Router::new();
    for (path, verbs) in list_addresses() {
        router.insert(path, verbs).expect("a path of the tables fits the others");
    }
    router
});

fn list_addresses() -> BTreeMap<String, VerbTargets> {
    let mut addresses: BTreeMap<String, VerbTargets> = BTreeMap::new();
    let mut add = |path: String, verb, target| addresses.entry(path).or_default().push((verb, target));
    for method in METHODS {
        add(format!("{API_PREFIX}{}", method.name), "POST", RouteTarget::Method(method.name, None));
    }
    for route in ROUTES {
        add(route.path.to_owned(), route.verb, RouteTarget::Method(route.method, Some(route)));
    }
    add(DESCRIPTION.to_owned(), "GET", RouteTarget::Description);
    add(EVENTS.to_owned(), "GET", RouteTarget::Events);
    add(SESSION.to_owned(), "POST", RouteTarget::Session);
    addresses
}

/// Why an address has no target.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoRoute {
    /// There is no such path.
    NoPath,
    /// The path answers only these verbs.
    OnlyVerbs(Vec<&'static str>),
}

/// Returns the target of an address, and the `{id}` in its path.
pub(super) fn find_target<'a>(verb: &str, path: &'a str) -> Result<(RouteTarget, Option<&'a str>), NoRoute> {
    let found = ROUTER.at(path).map_err(|_| NoRoute::NoPath)?;
    let id = found.params.get("id");
    match found.value.iter().find(|(known, _)| *known == verb) {
        Some((_, target)) => Ok((*target, id)),
        None => Err(NoRoute::OnlyVerbs(found.value.iter().map(|(known, _)| *known).collect())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_one_target() {
        for (path, verbs) in list_addresses() {
            let mut names: Vec<_> = verbs.iter().map(|(verb, _)| *verb).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), verbs.len(), "{path}");
        }
    }

    #[test]
    fn paths_are_compared_as_they_are() {
        let check = |verb: &str, path: &str, expected: &str| {
            let found = match find_target(verb, path) {
                Ok((RouteTarget::Method(method, _), id)) => format!("{method} {}", id.unwrap_or_default()),
                Ok((target, _)) => format!("{target:?}"),
                Err(nothing) => format!("{nothing:?}"),
            };
            assert_eq!(found.trim(), expected, "{verb} {path}");
        };
        check("POST", "/v1/search", "search");
        check("GET", "/v1/search", "search");
        check("POST", "/v1/memory.add", "memory.add");
        check("GET", "/v1/memories/mem_1", "memory.get mem_1");
        check("POST", "/v1/memories/bulk", "memory.import");
        check("GET", "/v1/memories/mem_1/links", "memory.links mem_1");
        check("POST", "/v1/session", "Session");
        check("GET", "/v1/openapi.json", "Description");
        check("GET", "/v1/memory.add", "OnlyVerbs([\"POST\"])");
        for path in
            ["/v1/", "/v1", "/v1/memories/", "/v1/../app.js", "/v1//search", "/v1/Search", "/V1/search"]
        {
            check("POST", path, "NoPath");
        }
    }
}
