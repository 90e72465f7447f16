//! Compares the words of a query with those of its candidates.
//!
//! A definition is compared three times: by all its words, by those of its head (its names and first lines, which say what
//! it is for), and by those of its path (which say what it belongs to).

use std::collections::HashMap;

use memod_base::types::{ChunkId, Kind};
use memod_database::DatabaseError;
use memod_embed::Builtin;
use memod_index_db::Reader;

use super::kept_rows::KeptRows;
use super::maxsim::{Largest, MaxSim};
use super::query::Query;
use super::rerank::Candidate;

/// Sets how similar the words of each definition are to those of the query, rare words counting more.
///
/// # Errors
/// When the database cannot be read.
pub(super) fn compare_words(
    (reader, kept): (&Reader, &KeptRows),
    query: &Query,
    idf_of_words: &[f64],
    candidates: &mut [Candidate],
) -> Result<(), DatabaseError> {
    let Ok(model) = Builtin::shared() else { return Ok(()) };
    let Some(mut maxsim) = MaxSim::new(&model, weighed(query, idf_of_words)) else { return Ok(()) };
    let keys: Vec<ChunkId> = candidates.iter().map(|candidate| candidate.key).collect();
    let mut of_definitions: HashMap<ChunkId, [Largest; 2]> = HashMap::with_capacity(keys.len());
    for (candidate, pieces) in candidates.iter().zip(kept.pieces(reader, &keys)?) {
        match of_definitions.get_mut(&candidate.definition) {
            Some([text, head]) => {
                maxsim.raise(text, &pieces.text);
                maxsim.raise(head, &pieces.head);
            }
            None => {
                let largest = [maxsim.largest(&pieces.text), maxsim.largest(&pieces.head)];
                of_definitions.insert(candidate.definition, largest);
            }
        }
    }
    let mut of_paths: HashMap<u32, f64> = HashMap::new();
    for candidate in candidates {
        let Some([text, head]) = of_definitions.get(&candidate.definition) else { continue };
        candidate.signals.maxsim = Some(maxsim.mean(text));
        candidate.signals.maxsim_head = maxsim.mean(head);
        if candidate.kind != Kind::Commit {
            // All chunks of a content have one path.
            candidate.signals.maxsim_path = *of_paths.entry(candidate.content).or_insert_with(|| {
                let largest = maxsim.largest(&kept.pieces_of_path(&model, &candidate.path));
                maxsim.mean(&largest)
            });
        }
    }
    Ok(())
}

/// Returns the words that are looked for with their weights. A word that was there before, and those beyond the limit, have
/// no phrases.
fn weighed<'q>(query: &'q Query, idf_of_words: &[f64]) -> Vec<(&'q str, f64)> {
    let rarest = idf_of_words.iter().copied().reduce(f64::max).unwrap_or(1.0);
    let idf = |nth: usize| idf_of_words.get(nth).copied().unwrap_or(rarest);
    let mut looked_for: Vec<usize> = query.phrases().iter().map(|(_, nth)| nth).collect();
    looked_for.sort_unstable();
    let texts = query.wanted_texts().into_iter().enumerate();
    texts
        .filter(|(nth, _)| looked_for.binary_search(nth).is_ok())
        .map(|(nth, text)| (text, idf(nth)))
        .collect()
}
