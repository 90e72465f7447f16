//! Compares the first hits of an answer with the query by a cross-encoder.
//!
//! The scores of the answer are kept and given to its hits in another order, so thresholds and what follows the first hits are
//! not affected. If the model cannot run, or not in time, the order stays.

use std::iter::repeat;
use std::time::Duration;

use memod_proto::{Hit, Signal};

use crate::daemon::shared::Shared;

/// Hits that are compared.
pub(in crate::daemon) const FIRST: usize = 20;

/// Longest time for that.
const LIMIT: Duration = Duration::from_secs(3);

/// Reorders the first hits. Of a hit without a text the snippet is read.
///
/// # Errors
/// Why they have the order that they had.
pub(in crate::daemon) fn rerank_hits(
    shared: &Shared,
    query: &str,
    hits: &mut [Hit],
    texts: &[Option<String>],
) -> Result<(), String> {
    let n_first = hits.len().min(FIRST);
    let first = &mut hits[..n_first];
    if first.is_empty() || query.trim().is_empty() {
        return Ok(()); // a query of filters alone asks nothing
    }
    let reranker = shared.engine.models.load_reranker().map_err(|why| format!("rerank: {why}"))?;
    let passages: Vec<String> = first
        .iter()
        .zip(texts.iter().map(Option::as_deref).chain(repeat(None)))
        .map(|(hit, text)| render_passage(hit, text))
        .collect();
    let scores = reranker.score_texts(query, &passages, LIMIT).map_err(|why| format!("rerank: {why}"))?;
    for (hit, score) in first.iter_mut().zip(scores) {
        hit.arms.rerank = Some(score);
    }
    reorder_hits(first);
    Ok(())
}

/// Returns the text of a hit for the cross-encoder: its path, its title, and its text.
fn render_passage(hit: &Hit, text: Option<&str>) -> String {
    let text = text.unwrap_or(&hit.snippet);
    let title = hit.title.as_deref().or(hit.symbol.as_deref()).unwrap_or_default();
    let path = if hit.id.is_some() || hit.commit.is_some() { "" } else { &hit.path };
    format!("{path} {title}\n{text}").trim().to_owned()
}

/// Sorts hits by their scores of the cross-encoder; the best one gets the largest of their scores, and so on.
fn reorder_hits(hits: &mut [Hit]) {
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
