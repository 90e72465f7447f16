//! Finds tests whose text is similar to the names and signatures of what has changed.
//!
//! Frameworks call functions without naming them, so uses do not lead to all tests. Of 450 commits either order alone had a changed test
//! among the first five in 71 %, both together in 82 % (`benches/references/history.py`).

use std::collections::HashSet;

use memod_base::paths::CallerDir;
use memod_base::types::{ClassSet, FileClass, RankingParts, SourceKey};
use memod_engine::errors::RpcResult;
use memod_engine::event::Freshness;
use memod_index_db::Reader;
use memod_proto::Mode;
use memod_search::filter::Filter;
use memod_search::query::parse;
use memod_search::restriction::Conditions;
use memod_search::{self as search, Ask};
use memod_structure::resolve::Structures as _;

use super::joined::{Joined, Node};
use super::targets::{TargetDefinition, Targets};
use super::texts::{Texts, entries};
use crate::daemon::request::path_spec::own_name;
use crate::daemon::shared::Shared;

/// Most words that are searched for; each costs time.
const MOST_WORDS: usize = 60;
/// Most definitions whose words are looked at.
const MOST_DEFINITIONS: usize = 60;
/// Most files of tests that are found.
const MOST_FILES: usize = 50;

/// Returns the best definition of each file of tests that is similar to the targets or to names that are gone, the most similar file
/// first; and why not all of the search could be done, if so.
pub(super) fn similar(
    (shared, reader): (&Shared, &Reader),
    joined: &Joined<'_>,
    (at, dir): (&Freshness, &CallerDir),
    (targets, removed): (&Targets, &[String]),
) -> RpcResult<(Vec<Node>, Option<String>)> {
    let tests = ClassSet::of(&[FileClass::Test]);
    // Tests that have changed are found anyway, and what they say is of other things.
    let is_no_test =
        |(key, _): &&(SourceKey, TargetDefinition)| !joined.chunks.classes(key.as_str()).meets(tests);
    let definitions: Vec<_> = targets.definitions.iter().filter(is_no_test).take(MOST_DEFINITIONS).collect();
    let words = words((shared, reader), (at, dir), (&definitions, removed))?;
    if words.is_empty() {
        return Ok((Vec::new(), None));
    }
    let embedder = shared.engine.model_of(reader);
    let filter = Filter { only: vec![tests], ..Filter::default() };
    let ask = Ask {
        view: at.view,
        chunks: &joined.chunks,
        query: &parse(&words.join(" ")),
        mode: Mode::Hybrid,
        filter: &filter,
        conditions: &Conditions::default(),
        without: RankingParts::default(),
        limit: MOST_FILES,
        min_cosine: shared.engine.config.search.min_cosine,
        embedder: embedder.as_deref().map_err(String::as_str),
        nearest: &shared.engine.nearest,
        kept: &shared.rows,
    };
    let answer = search::run(reader, &ask)?;
    let why = answer.is_outdated.then(|| "another model answers from now on".to_owned());
    let why = answer.degraded.into_iter().next().or(why).map(|why| format!("similar tests: {why}"));
    let (mut nodes, mut known) = (Vec::new(), HashSet::new());
    for candidate in answer.found.iter().map(|found| &found.ranked.candidate) {
        let Some(file) = joined.paths.number(&candidate.path) else { continue };
        if nodes.len() < MOST_FILES && known.insert(file) {
            let structure = joined.of(file);
            let is_it = |lines: (u32, u32)| lines.0 <= candidate.lines.0 && candidate.lines.0 <= lines.1;
            let around = structure.declared.iter().rposition(|declared| is_it(declared.lines));
            nodes.push(Node { file, declared: around.map(|id| id as u32) });
        }
    }
    Ok((nodes, why))
}

/// Returns the words of names and signatures, in small letters: a word in capitals may be an operator of a query.
fn words(
    (shared, reader): (&Shared, &Reader),
    (at, dir): (&Freshness, &CallerDir),
    (definitions, removed): (&[&(SourceKey, TargetDefinition)], &[String]),
) -> RpcResult<Vec<String>> {
    let entries = entries(reader, at, definitions.iter().map(|(key, _)| key.clone()))?;
    let mut texts = Texts::new((shared, at), dir, entries);
    let mut words: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|part| !part.is_empty());
        words.extend(parts.map(str::to_lowercase).take(MOST_WORDS.saturating_sub(words.len())));
    };
    removed.iter().for_each(|title| add(own_name(title)));
    for (key, definition) in definitions {
        let own = own_name(&definition.title);
        add(own);
        // Of a file that has changed meanwhile only the names count.
        if let Some((_, signature)) =
            texts.of(key)?.and_then(|lines| lines.signature(own, definition.lines.0))
        {
            add(&signature);
        }
    }
    Ok(words)
}
