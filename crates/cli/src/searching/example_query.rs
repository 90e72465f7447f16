//! Builds a query that a search of the repository can answer, as an example in hints.

use memod_base::types::ChunkKind;
use memod_client::Client;
use memod_proto::{FreshnessLevel, MapParams, MapResult, SearchParams, SearchResult};

/// Shortest name that is used in the query, in characters. A shorter name may be a type parameter or a loop variable.
const MIN_NAME_CHARS: usize = 4;

/// Longest heading that is used as the query, in characters.
const MAX_HEADING_CHARS: usize = 40;

/// Returns a query about the most used definition, or else a heading; `None` if the daemon does not answer in time or nothing is
/// indexed.
pub(crate) fn build_example_query(client: &mut Client, cwd: &str) -> Option<String> {
    match most_used_name(client, cwd) {
        Some(name) => Some(format!("where is {name} used")),
        None => find_heading(client, cwd),
    }
}

fn most_used_name(client: &mut Client, cwd: &str) -> Option<String> {
    let params = MapParams {
        cwd: cwd.to_owned(),
        budget: Some(0),
        sync: FreshnessLevel::None,
        ..MapParams::default()
    };
    let MapResult { names, .. } = client.call("map", &params).ok()?;
    names.into_iter().find(|name| name.chars().count() >= MIN_NAME_CHARS)
}

fn find_heading(client: &mut Client, cwd: &str) -> Option<String> {
    let params = SearchParams {
        cwd: cwd.to_owned(),
        query: format!("kind:{}", ChunkKind::Doc.as_str()),
        sync: FreshnessLevel::None,
        limit: Some(1),
        ..SearchParams::default()
    };
    let SearchResult { hits, .. } = client.call("search", &params).ok()?;
    let title = hits.into_iter().next()?.title?;
    let last = title.rsplit(" > ").next()?.trim();
    (!last.is_empty() && last.chars().count() <= MAX_HEADING_CHARS).then(|| last.to_owned())
}
