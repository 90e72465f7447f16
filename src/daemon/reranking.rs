//! Compares the first hits of an answer with the query by a cross-encoder.
//!
//! The scores of the answer are kept and given to its hits in another order, so thresholds and what follows the first hits are
//! not affected. If the model cannot run, or not in time, the order stays.

use std::collections::HashMap;
use std::time::Duration;

use super::shared::Shared;
use crate::proto::{Hit, Signal};

/// Hits that are compared.
pub(super) const FIRST: usize = 20;

/// Longest time for that.
const LIMIT: Duration = Duration::from_secs(3);

/// Texts of hits by path and lines.
pub(super) type Texts = HashMap<(String, (u32, u32)), String>;

/// Returns the texts of some hits by path and lines.
pub(super) fn texts(hits: &[Hit], texts: Vec<String>) -> Texts {
    hits.iter().map(|hit| (hit.path.clone(), hit.lines)).zip(texts).collect()
}

/// Reorders the first hits.
///
/// # Errors
/// Why they have the order that they had.
pub(super) fn rerank(shared: &Shared, query: &str, hits: &mut [Hit], texts: &Texts) -> Result<(), String> {
    let n_first = hits.len().min(FIRST);
    let first = &mut hits[..n_first];
    if first.is_empty() || query.trim().is_empty() {
        return Ok(()); // a query of filters alone asks nothing
    }
    let told = |why: String| format!("rerank: {why}");
    let reranker = shared.models.reranker().map_err(told)?;
    let passages: Vec<String> = first.iter().map(|hit| passage(hit, texts)).collect();
    let scores = reranker.scores(query, &passages, LIMIT).map_err(told)?;
    for (hit, score) in first.iter_mut().zip(scores) {
        hit.arms.rerank = Some(score);
    }
    reorder(first);
    Ok(())
}

/// Returns what is read of a hit: where it is, what it is called, and its text.
fn passage(hit: &Hit, texts: &Texts) -> String {
    let text = texts.get(&(hit.path.clone(), hit.lines)).unwrap_or(&hit.snippet);
    let title = hit.title.as_deref().or(hit.symbol.as_deref()).unwrap_or_default();
    let path = if hit.id.is_some() || hit.commit.is_some() { "" } else { &hit.path };
    format!("{path} {title}\n{text}").trim().to_owned()
}

/// Sorts hits by what the cross-encoder says of them; the best one gets the largest of their scores, and so on.
fn reorder(hits: &mut [Hit]) {
    let scores: Vec<f64> = hits.iter().map(|hit| hit.score).collect();
    hits.sort_by(|left, right| right.arms.rerank.partial_cmp(&left.arms.rerank).expect("scores are finite")); // stable
    for ((nth, hit), score) in (1..).zip(hits).zip(scores) {
        hit.score = score;
        if let Some(explain) = &mut hit.explain {
            let value = hit.arms.rerank.map(f64::from);
            explain.signals.push(Signal { arm: "rerank".to_owned(), rank: Some(nth), value });
        }
    }
}
