//! Chooses how much of each hit is printed within a budget of tokens.

use memod_base::types::CHARS_PER_TOKEN;
use memod_proto::{Hit, SearchResult};

/// Characters between two hits.
const SEPARATOR_CHARS: usize = 1;

/// Keeps as many hits as fit into `tokens` with their matching lines, best first. Then replaces these lines by the whole text in
/// those hits for which it fits, again best first. `n_chars` counts the characters that a result prints.
pub(crate) fn fit_hits_to_budget(
    result: &mut SearchResult,
    tokens: usize,
    n_chars: impl Fn(&SearchResult) -> usize,
) {
    let hits = std::mem::take(&mut result.hits);
    result.left_out = hits.len(); // this number is printed as well
    let empty = n_chars(result);
    let mut chars_left = tokens.saturating_mul(CHARS_PER_TOKEN).saturating_sub(empty);
    let mut shown: Vec<(Hit, usize, Option<String>)> = Vec::new();
    for mut hit in hits {
        let text = hit.text.take();
        let cost = count_hit_chars(&hit, result, empty, &n_chars);
        if cost > chars_left {
            break;
        }
        chars_left -= cost;
        shown.push((hit, cost, text));
    }
    for (hit, short, text) in &mut shown {
        let Some(text) = text.take() else { continue };
        let whole_hit = Hit { snippet: text, snippet_line: hit.lines.0, ..hit.clone() };
        let more = count_hit_chars(&whole_hit, result, empty, &n_chars).saturating_sub(*short);
        if more <= chars_left {
            chars_left -= more;
            *hit = whole_hit;
        }
    }
    result.left_out -= shown.len();
    result.hits = shown.into_iter().map(|(hit, ..)| hit).collect();
}

/// Returns the number of characters that a hit adds to a result without hits, which itself prints `empty` characters.
fn count_hit_chars(
    hit: &Hit,
    result: &SearchResult,
    empty: usize,
    n_chars: impl Fn(&SearchResult) -> usize,
) -> usize {
    let alone = SearchResult { hits: vec![hit.clone()], ..result.clone() };
    (n_chars(&alone) + SEPARATOR_CHARS).saturating_sub(empty)
}

/// Returns how many of the first rows fit into `tokens`. `n_chars` counts the characters that the first n rows print.
pub(crate) fn count_fitting_rows(n_rows: usize, tokens: usize, n_chars: impl Fn(usize) -> usize) -> usize {
    let max_chars = tokens.saturating_mul(CHARS_PER_TOKEN);
    let sizes: Vec<usize> = (0..=n_rows).collect();
    sizes.partition_point(|n| *n == 0 || n_chars(*n) <= max_chars).saturating_sub(1)
}
