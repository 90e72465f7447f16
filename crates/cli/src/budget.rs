//! Chooses how much of each hit is printed within a budget of tokens.

use memod_base::types::TOKEN_CHARS;
use memod_proto::{Hit, SearchResult};

/// What stands between two hits, characters.
const BETWEEN: usize = 1;

/// Keeps the matching lines of as many hits as fit, the best first; then, the best first again, the whole text of each that
/// still fits. `n_chars` counts what is printed.
pub(super) fn fit(result: &mut SearchResult, tokens: usize, n_chars: impl Fn(&SearchResult) -> usize) {
    let hits = std::mem::take(&mut result.hits);
    result.left_out = hits.len(); // it is printed, too
    let empty = n_chars(result);
    let cost = |hit: &Hit| {
        let alone = SearchResult { hits: vec![hit.clone()], ..result.clone() };
        (n_chars(&alone) + BETWEEN).saturating_sub(empty)
    };
    let mut room = tokens.saturating_mul(TOKEN_CHARS).saturating_sub(empty);
    let mut kept: Vec<(Hit, usize, Option<String>)> = Vec::new();
    for mut hit in hits {
        let text = hit.text.take();
        let cost = cost(&hit);
        if cost > room {
            break;
        }
        room -= cost;
        kept.push((hit, cost, text));
    }
    for (hit, short, text) in &mut kept {
        let Some(text) = text.take() else { continue };
        let whole = Hit { snippet: text, snippet_line: hit.lines.0, ..hit.clone() };
        let more = cost(&whole).saturating_sub(*short);
        if more <= room {
            room -= more;
            *hit = whole;
        }
    }
    result.left_out -= kept.len();
    result.hits = kept.into_iter().map(|(hit, ..)| hit).collect();
}

/// Returns how many of the first rows fit; `n_chars` counts what that many take.
pub(super) fn fit_rows(n_rows: usize, tokens: usize, n_chars: impl Fn(usize) -> usize) -> usize {
    let room = tokens.saturating_mul(TOKEN_CHARS);
    let sizes: Vec<usize> = (0..=n_rows).collect();
    sizes.partition_point(|n| *n == 0 || n_chars(*n) <= room).saturating_sub(1)
}
