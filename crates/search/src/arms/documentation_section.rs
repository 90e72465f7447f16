//! Finds the section of a document that answers a question of a user.

use std::collections::HashMap;

use memod_base::types::{ChunkId, ChunkKind};
use memod_database::DatabaseError;
use memod_index_db::IndexReader;

use crate::candidates::chunk_candidate::ChunkCandidate;
use crate::candidates::ranked::RankedCandidate;
use crate::query::Query;
use crate::query::documentation_question::asks_for_any_document;

/// Returns the best section that has more of the question than it lacks, by the rarity of the words; `None` if there is none.
///
/// # Errors
/// When the database cannot be read.
pub(crate) fn find_documentation_section(
    reader: &IndexReader,
    query: &Query,
    idf_of_words: &[f64],
    ranked: &[RankedCandidate<ChunkCandidate>],
) -> Result<Option<ChunkId>, DatabaseError> {
    let sections = ranked.iter().map(|hit| &hit.candidate).filter(|found| found.kind == ChunkKind::Doc);
    // For each section, whether it has each word.
    let mut has_words: HashMap<ChunkId, Vec<bool>> =
        sections.clone().map(|section| (section.key, vec![false; idf_of_words.len()])).collect();
    if has_words.is_empty() {
        return Ok(None);
    }
    let postings = reader.read_postings()?;
    for (phrase, word) in query.wanted_phrases().iter() {
        postings.each_match(phrase, |id, _| {
            if let Some(has_word) = has_words.get_mut(&id).and_then(|words| words.get_mut(word)) {
                *has_word = true;
            }
        })?;
    }
    let texts = query.wanted_texts().into_iter().chain(std::iter::repeat(""));
    let weights = idf_of_words.iter().zip(texts);
    let weights: Vec<f64> =
        weights.map(|(idf, text)| if asks_for_any_document(text) { 0.0 } else { *idf }).collect();
    let total: f64 = weights.iter().sum();
    let mut answers = sections.filter(|section| {
        let present = has_words[&section.key].iter().zip(&weights);
        let present: f64 = present.filter(|(has_word, _)| **has_word).map(|(_, weight)| weight).sum();
        2.0 * present > total
    });
    Ok(answers.next().map(|section| section.key))
}
