//! Merges the hits of the index with those of the memories.

use memod_base::types::ChunkKind;
use memod_proto::Hit;
use memod_search::query::SymbolName;
use memod_search::ranking::beside_definition::{NameRelation, scores_beside_definition};
use memod_search::ranking::rare_word::{WordlessFactors, factors_for_merged_hits};

/// What decides the places of memories among the hits of files: if the query is one word, the score of each candidate among the files
/// and whether it has the word; if the query asks for a definition, its name, and how each memory relates to it.
type MergeFacts<'a> = (Option<&'a [(f64, bool)]>, Option<(&'a SymbolName<'a>, &'a [NameRelation])>);

/// Merges two sorted lists. At equal scores, memories come first. If the query is one word, hits that contain the word come first. If
/// it asks for a definition, no memory comes before the definition. Returns the hits, and the text of each hit that has one.
pub(super) fn merge_hits(
    memories: Vec<Hit>,
    mut files: Vec<(Hit, Option<String>)>,
    (of_files, beside): MergeFacts<'_>,
    limit: usize,
) -> (Vec<Hit>, Vec<Option<String>>) {
    // A memory without the word that is ranked before a memory with the word supersedes that memory, and keeps its place.
    let n_meant = memories.iter().rposition(|hit| hit.arms.has_query_word()).map_or(0, |last| last + 1);
    let scores: Vec<_> = (0..).zip(&memories).map(|(nth, hit)| (hit.score, nth < n_meant)).collect();
    let factors =
        of_files.map_or_else(WordlessFactors::default, |files| factors_for_merged_hits(&scores, files));
    let mut memories = memories;
    for (hit, (_, has_word)) in memories.iter_mut().zip(scores) {
        hit.score *= factors.memories.filter(|_| !has_word).unwrap_or(1.0);
    }
    for (hit, _) in &mut files {
        hit.score *= factors.files.filter(|_| !hit.arms.has_query_word()).unwrap_or(1.0);
    }
    if let Some((name, relations)) = beside {
        place_beside_definition(&mut memories, &files, (name, relations));
    }
    let memories = memories.into_iter().map(|hit| (hit, None));
    let mut all: Vec<_> = memories.chain(files).collect();
    all.sort_by(|(left, ..), (right, ..)| right.score.total_cmp(&left.score)); // stable
    all.truncate(limit);
    all.into_iter().unzip()
}

/// Sets the scores of memories so that they come after the best definition of a name, if one was found.
fn place_beside_definition(
    memories: &mut [Hit],
    files: &[(Hit, Option<String>)],
    (name, relations): (&SymbolName<'_>, &[NameRelation]),
) {
    let definitions = files.iter().map(|(hit, _)| hit).filter(|hit| defines_name(hit, name));
    let Some(definition) = definitions.map(|hit| hit.score).reduce(f64::max) else { return };
    let related: Vec<_> =
        memories.iter().zip(relations).map(|(hit, relation)| (hit.score, *relation)).collect();
    for (hit, score) in memories.iter_mut().zip(scores_beside_definition(definition, &related)) {
        hit.score = score;
    }
}

/// Returns whether a hit defines a name, in any spelling. Several short definitions may be one hit.
fn defines_name(hit: &Hit, name: &SymbolName<'_>) -> bool {
    let title = hit.title.as_deref().unwrap_or_default();
    let first = title.split([' ', ',']).next().unwrap_or_default();
    let names = hit.symbol.as_deref().unwrap_or_default().split_whitespace();
    let before = &first[..first.len() - memod_base::types::last_part(first).len()];
    hit.kind == ChunkKind::Symbol
        && (name.is_end_of(title) || names.into_iter().any(|own| name.is_end_of(&format!("{before}{own}"))))
}
