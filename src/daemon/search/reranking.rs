//! Reorders the first hits of an answer with a cross-encoder, which compares their texts with the query.
//!
//! The first hits exchange their scores, so that thresholds and the hits after them are not affected. If the model cannot run, or
//! not in time, the order stays as it is.

use std::iter::repeat;
use std::time::Duration;

use memod_proto::{Hit, Signal};

use crate::daemon::shared::Shared;

/// Number of first hits that are compared with the query.
pub(in crate::daemon) const N_RERANKED: usize = 20;

/// Time limit of the comparison.
const RERANK_TIME_LIMIT: Duration = Duration::from_secs(3);

/// Reorders the first hits. A hit without a text in `texts` is compared by its snippet.
///
/// # Errors
/// When the order is unchanged; the error says why.
pub(in crate::daemon) fn rerank_hits(
    shared: &Shared,
    query: &str,
    hits: &mut [Hit],
    texts: &[Option<String>],
) -> Result<(), String> {
    let n_first = hits.len().min(N_RERANKED);
    let first = &mut hits[..n_first];
    if first.is_empty() || query.trim().is_empty() {
        return Ok(()); // a query of filters alone has nothing to compare with
    }
    let reranker = shared.engine.models.load_reranker().map_err(|why| format!("rerank: {why}"))?;
    let passages: Vec<String> = first
        .iter()
        .zip(texts.iter().map(Option::as_deref).chain(repeat(None)))
        .map(|(hit, text)| render_passage(hit, text))
        .collect();
    let scores =
        reranker.score_texts(query, &passages, RERANK_TIME_LIMIT).map_err(|why| format!("rerank: {why}"))?;
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

/// Sorts hits by the scores of the cross-encoder; the best hit gets the largest of the former scores, and so on.
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
