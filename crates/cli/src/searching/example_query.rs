//! Chooses a question that the repository can answer well, as an example in hints.

use memod_base::types::ChunkKind;
use memod_client::Client;
use memod_proto::{
    FreshnessLevel, MapParams, MapResult, ReachParams, ReachResult, SearchParams, SearchResult,
};

/// Shortest name that is used in the query, in characters. A shorter name may be a type parameter or a loop variable.
const MIN_NAME_CHARS: usize = 4;

/// Longest heading that is used as the query, in characters.
const MAX_HEADING_CHARS: usize = 40;

/// Least number of proved callers of a definition in an example.
const MIN_CALLERS: usize = 2;

/// Most names and headings that are tried.
const MOST_TRIED: usize = 5;

/// A question that has a good answer.
pub(crate) enum ExampleQuestion {
    /// The callers of the definition with this name, which has several certain ones.
    Callers(String),
    /// A search with this query.
    Search(String),
}

/// Returns a question whose answer was tried: the callers of a definition that certainly has several, or else a search; `None` if
/// the daemon does not answer in time or nothing is indexed.
pub(crate) fn choose_example_question(client: &mut Client, cwd: &str) -> Option<ExampleQuestion> {
    let names = list_used_names(client, cwd);
    let mut tried = names.iter().take(MOST_TRIED);
    if let Some(name) = tried.find(|name| has_proved_callers(client, cwd, name)) {
        return Some(ExampleQuestion::Callers(name.clone()));
    }
    question_about(&names, client, cwd).map(ExampleQuestion::Search)
}

/// Returns a query about the most used definition, or else a heading; `None` if the daemon does not answer in time or nothing is
/// indexed.
pub(crate) fn build_example_query(client: &mut Client, cwd: &str) -> Option<String> {
    question_about(&list_used_names(client, cwd), client, cwd)
}

/// Returns a query about the first name, or else a heading.
fn question_about(names: &[String], client: &mut Client, cwd: &str) -> Option<String> {
    match names.first() {
        Some(name) => Some(format!("where is {name} used")),
        None => find_heading(client, cwd),
    }
}

/// Returns the names of the most used definitions.
fn list_used_names(client: &mut Client, cwd: &str) -> Vec<String> {
    let params = MapParams {
        cwd: cwd.to_owned(),
        budget: Some(0),
        sync: FreshnessLevel::None,
        ..MapParams::default()
    };
    let names = client.call("map", &params).map_or_else(|_| Vec::new(), |MapResult { names, .. }| names);
    names.into_iter().filter(|name| name.chars().count() >= MIN_NAME_CHARS).collect()
}

/// Returns whether only one definition has a name, and several definitions certainly call it.
fn has_proved_callers(client: &mut Client, cwd: &str, name: &str) -> bool {
    let params = ReachParams {
        cwd: cwd.to_owned(),
        target: Some(name.to_owned()),
        sync: FreshnessLevel::None,
        ..ReachParams::default()
    };
    client.call("callers", &params).is_ok_and(|ReachResult { found, n_definitions, .. }| {
        n_definitions == 1 && found.iter().filter(|found| found.certainty == "exact").count() >= MIN_CALLERS
    })
}

/// Returns a heading whose search finds its own section first, preferably one of the README; or else the first heading.
fn find_heading(client: &mut Client, cwd: &str) -> Option<String> {
    let of_documents = format!("kind:{}", ChunkKind::Doc.as_str());
    let of_readme = run_search(client, cwd, format!("{of_documents} path:README*"), MOST_TRIED)?;
    let of_all = run_search(client, cwd, of_documents, MOST_TRIED)?;
    let hits = of_readme.hits.into_iter().chain(of_all.hits);
    let headings: Vec<_> = hits
        .filter_map(|hit| {
            let heading = hit.title.as_deref()?.rsplit(" > ").next()?.trim().to_owned();
            let is_short = !heading.is_empty() && heading.chars().count() <= MAX_HEADING_CHARS;
            is_short.then_some((heading, hit.path, hit.lines))
        })
        .collect();
    let best = headings.iter().take(MOST_TRIED).find(|(heading, path, lines)| {
        let found = run_search(client, cwd, heading.clone(), 1);
        found.is_some_and(|found| {
            found.hits.first().is_some_and(|hit| hit.path == *path && hit.lines == *lines)
        })
    });
    best.or(headings.first()).map(|(heading, ..)| heading.clone())
}

fn run_search(client: &mut Client, cwd: &str, query: String, limit: usize) -> Option<SearchResult> {
    let (cwd, sync, limit) = (cwd.to_owned(), FreshnessLevel::None, Some(limit));
    client.call("search", &SearchParams { cwd, query, sync, limit, ..SearchParams::default() }).ok()
}
