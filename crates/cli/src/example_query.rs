//! Finds a question that a repository can answer, for hints.

use memod_base::types::Kind;
use memod_client::Client;
use memod_proto::{MapParams, MapResult, SearchParams, SearchResult, Sync};

/// Length of a name that is hardly a type parameter or a loop variable, in characters.
const TELLING_NAME: usize = 4;

/// Longest heading that is shown as a query, in characters.
const MOST_HEADING: usize = 40;

/// Returns a query about the most used definition, or else about a heading; nothing if the daemon does not answer in time or
/// nothing is indexed.
pub(super) fn example_query(client: &mut Client, cwd: &str) -> Option<String> {
    match most_used_name(client, cwd) {
        Some(name) => Some(format!("where is {name} used")),
        None => heading(client, cwd),
    }
}

fn most_used_name(client: &mut Client, cwd: &str) -> Option<String> {
    let params = MapParams { cwd: cwd.to_owned(), budget: Some(0), sync: Sync::None, ..MapParams::default() };
    let MapResult { names, .. } = client.call("map", &params).ok()?;
    names.into_iter().find(|name| name.chars().count() >= TELLING_NAME)
}

fn heading(client: &mut Client, cwd: &str) -> Option<String> {
    let params = SearchParams {
        cwd: cwd.to_owned(),
        query: format!("kind:{}", Kind::Doc.as_str()),
        sync: Sync::None,
        limit: Some(1),
        ..SearchParams::default()
    };
    let SearchResult { hits, .. } = client.call("search", &params).ok()?;
    let title = hits.into_iter().next()?.title?;
    let last = title.rsplit(" > ").next()?.trim();
    (!last.is_empty() && last.chars().count() <= MOST_HEADING).then(|| last.to_owned())
}
