//! Finds tests whose text is similar to the names and signatures of changed definitions.
//!
//! Frameworks call functions without naming them, so uses do not lead to all tests. Either order alone had a changed test among the
//! first five for 71 % of 450 commits, and both together for 82 % (`benches/references/history.py`).

use std::collections::HashSet;

use memod_base::paths::CallerDir;
use memod_base::types::{ClassSet, FileClass, RankingParts, SourceKey, has_lines, last_part};
use memod_engine::errors::RpcResult;
use memod_engine::freshness::Freshness;
use memod_index_db::IndexReader;
use memod_proto::SearchMode;
use memod_search::filter::SearchFilter;
use memod_search::filter::restriction::SearchConditions;
use memod_search::query::parse_query;
use memod_search::{self as search, SearchRequest};
use memod_structure::resolve::StructureStore as _;

use super::answer_texts::{AnswerTexts, read_entries};
use super::question_targets::{QuestionTargets, TargetDefinition};
use super::worktree_structures::{CodeNode, WorktreeStructures};
use crate::daemon::shared::Shared;

/// Maximum number of words that are searched for; each costs time.
const MOST_WORDS: usize = 60;
/// Maximum number of definitions whose words are used.
const MOST_DEFINITIONS: usize = 60;
/// Maximum number of files of tests that are found.
const MOST_FILES: usize = 50;

/// Returns the most similar definition of each file of tests that is similar to the targets, to removed names or to what was said of the change, the most similar
/// file first; and why a part of the search could not be done, if so.
pub(super) fn find_similar_tests(
    (shared, reader): (&Shared, &IndexReader),
    structures: &WorktreeStructures<'_>,
    (at, dir): (&Freshness, &CallerDir),
    (targets, removed, query): (&QuestionTargets, &[String], &str),
) -> RpcResult<(Vec<CodeNode>, Option<String>)> {
    let tests = ClassSet::from_classes(&[FileClass::Test]);
    // Changed tests are found anyway, and their words are about other things.
    let definitions: Vec<_> = targets
        .definitions
        .iter()
        .filter(|(key, _)| !structures.chunks.path_classes(key.as_str()).intersects(tests))
        .take(MOST_DEFINITIONS)
        .collect();
    let words = collect_words((shared, reader), (at, dir), (&definitions, removed, query))?;
    if words.is_empty() {
        return Ok((Vec::new(), None));
    }
    let embedder = shared.engine.active_model(reader);
    let filter = SearchFilter { required_classes: vec![tests], ..SearchFilter::default() };
    let ask = SearchRequest {
        worktree: at.worktree,
        chunks: &structures.chunks,
        query: &parse_query(&words.join(" ")),
        mode: SearchMode::Hybrid,
        filter: &filter,
        conditions: &SearchConditions::default(),
        disabled_parts: RankingParts::default(),
        limit: MOST_FILES,
        min_cosine: shared.engine.config.search.min_cosine,
        embedder: embedder.as_deref().map_err(String::as_str),
        vectors: &shared.engine.vectors,
        row_cache: &shared.rows,
    };
    let answer = search::run_search(reader, &ask)?;
    let why = answer.is_outdated.then(|| "the model was switched during the search".to_owned());
    let why = answer.degraded.into_iter().next().or(why).map(|why| format!("similar tests: {why}"));
    let (mut nodes, mut known) = (Vec::new(), HashSet::new());
    for candidate in answer.found.iter().map(|found| &found.ranked.candidate) {
        let Some(file) = structures.paths.number_of(&candidate.path) else { continue };
        if nodes.len() < MOST_FILES && known.insert(file) {
            let structure = structures.structure_of(file);
            let around = structure
                .declared
                .iter()
                .rposition(|declared| has_lines(declared.lines, (candidate.lines.0, candidate.lines.0)));
            nodes.push(CodeNode { file, declared: around.map(|id| id as u32) });
        }
    }
    Ok((nodes, why))
}

/// Returns the words of the query, of names and of signatures, in lower case, because a word in capitals may be an operator of a query.
fn collect_words(
    (shared, reader): (&Shared, &IndexReader),
    (at, dir): (&Freshness, &CallerDir),
    (definitions, removed, query): (&[&(SourceKey, TargetDefinition)], &[String], &str),
) -> RpcResult<Vec<String>> {
    let entries = read_entries(reader, at, definitions.iter().map(|(key, _)| key.clone()))?;
    let mut texts = AnswerTexts::new((shared, at), dir, entries);
    let mut words: Vec<String> = Vec::new();
    add_words(&mut words, query);
    removed.iter().for_each(|title| add_words(&mut words, last_part(title)));
    for (key, definition) in definitions {
        let own = last_part(&definition.title);
        add_words(&mut words, own);
        // If a file has changed meanwhile, only the names of its definitions are used.
        if let Some((_, signature)) =
            texts.read_lines(key)?.and_then(|lines| lines.find_signature(own, definition.lines.0))
        {
            add_words(&mut words, &signature);
        }
    }
    Ok(words)
}

/// Adds the words of a text, up to the limit of all words.
fn add_words(words: &mut Vec<String>, text: &str) {
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|part| !part.is_empty());
    words.extend(parts.map(str::to_lowercase).take(MOST_WORDS.saturating_sub(words.len())));
}
