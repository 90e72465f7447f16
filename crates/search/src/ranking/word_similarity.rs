//! Compares the words of a query with the words of its candidates.
//!
//! A definition is compared three times: by all its words, by the words of its head (the names and first lines, which tell the
//! purpose), and by the words of its path (which tell the subject).

use std::collections::HashMap;

use memod_base::types::{ChunkId, ChunkKind};
use memod_database::DatabaseError;
use memod_embed::BuiltinModel;

use crate::candidates::chunk_candidate::ChunkCandidate;
use crate::candidates::row_cache::CachedReader;
use crate::query::Query;
use crate::text_scores::maxsim::{LargestCosines, MaxSim};

/// Sets `maxsim`, `maxsim_head` and `maxsim_path` of each candidate: the similarities of its words to the words of the query. Rare
/// words count more. Does nothing if the model knows too few words of the query.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn set_word_similarity(
    rows: CachedReader<'_>,
    query: &Query,
    idf_of_words: &[f64],
    candidates: &mut [ChunkCandidate],
) -> Result<(), DatabaseError> {
    let Ok(model) = BuiltinModel::shared() else { return Ok(()) };
    let Some(mut maxsim) = MaxSim::new(&model, weigh_words(query, idf_of_words)) else { return Ok(()) };
    let keys: Vec<ChunkId> = candidates.iter().map(|candidate| candidate.key).collect();
    let mut of_definitions: HashMap<ChunkId, [LargestCosines; 2]> = HashMap::with_capacity(keys.len());
    for (candidate, pieces) in candidates.iter().zip(rows.chunk_pieces(&keys)?) {
        match of_definitions.get_mut(&candidate.definition) {
            Some([text, head]) => {
                maxsim.raise_cosines(text, &pieces.text);
                maxsim.raise_cosines(head, &pieces.head);
            }
            None => {
                let largest = [maxsim.largest_cosines(&pieces.text), maxsim.largest_cosines(&pieces.head)];
                of_definitions.insert(candidate.definition, largest);
            }
        }
    }
    let mut of_paths: HashMap<u32, f64> = HashMap::new();
    for candidate in candidates {
        let Some([text, head]) = of_definitions.get(&candidate.definition) else { continue };
        candidate.signals.maxsim = Some(maxsim.weighted_mean(text));
        candidate.signals.maxsim_head = maxsim.weighted_mean(head);
        if candidate.kind != ChunkKind::Commit {
            // A query shows each content under one path, so the chunks of a content share this value.
            candidate.signals.maxsim_path = *of_paths.entry(candidate.content).or_insert_with(|| {
                let largest = maxsim.largest_cosines(&rows.cache.pieces_of_path(&model, &candidate.path));
                maxsim.weighted_mean(&largest)
            });
        }
    }
    Ok(())
}

/// Returns the wanted words with their weights. Leaves out words without phrases: repeated words, and words beyond the limit.
fn weigh_words<'q>(query: &'q Query, idf_of_words: &[f64]) -> Vec<(&'q str, f64)> {
    let rarest = idf_of_words.iter().copied().reduce(f64::max).unwrap_or(1.0);
    let mut looked_for: Vec<usize> = query.wanted_phrases().iter().map(|(_, nth)| nth).collect();
    looked_for.sort_unstable();
    let texts = query.wanted_texts().into_iter().enumerate();
    texts
        .filter(|(nth, _)| looked_for.binary_search(nth).is_ok())
        .map(|(nth, text)| (text, idf_of_words.get(nth).copied().unwrap_or(rarest)))
        .collect()
}
