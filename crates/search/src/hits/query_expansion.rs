//! Adds hits for other words, which a language model proposed, to the hits of a query. Pure.

use memod_proto::{Factor, Hit};

/// Every hit at a multiple of this position may be one that only the other words found.
///
/// Measured with 38 questions about two repositories, in words that the code does not use: 31 had an answer among the first 5 hits,
/// and 34 among the first 10. With fitting other words, these were 37 and 38. With the words of another question, they stayed at 31
/// and 34, and the mean reciprocal rank fell from 0.715 to 0.705. Sorting by score gained more with fitting words, but lost more
/// with wrong words (docs/src/reference/benchmarks-history.md, Words of a language model).
const EXPANDED_HIT_INTERVAL: usize = 3;

/// Inserts hits of a query with other words into the hits of the query as typed, which keep their order. At most a third of the
/// `limit` hits are new unless the typed query has too few, so wrong words replace few hits.
pub fn add_expanded_hits(hits: &mut Vec<Hit>, others: Vec<Hit>, limit: usize) {
    let mut others = others.into_iter();
    let mut at = 0;
    loop {
        at = (at + EXPANDED_HIT_INTERVAL - 1).min(hits.len());
        let other = others.by_ref().find(|other| !hits.iter().any(|hit| is_same_hit(hit, other)));
        let Some(mut other) = other.filter(|_| at < limit) else { break };
        // Hits are sorted by score, so an inserted hit gets the score of the hit before it.
        let before = at.checked_sub(1).map_or(other.score, |before| hits[before].score);
        if let Some(explain) = &mut other.explain {
            let times = if other.score > 0.0 { before / other.score } else { 1.0 };
            explain.factors.push(Factor { name: "expanded".to_owned(), times });
        }
        other.score = before;
        hits.insert(at, other);
        at += 1;
    }
    hits.truncate(limit);
}

/// Returns whether two hits are the same lines, memory or commit.
fn is_same_hit(left: &Hit, right: &Hit) -> bool {
    left.kind == right.kind
        && left.path == right.path
        && left.lines == right.lines
        && left.id == right.id
        && commit_oid(left) == commit_oid(right)
}

fn commit_oid(hit: &Hit) -> Option<String> {
    hit.commit.as_ref().map(|commit| commit.oid.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hits(of: &str, scores: &[f64]) -> Vec<Hit> {
        let hit = |(nth, score): (usize, &f64)| {
            let arms = json!({ "bm25": 1, "path": null, "symbol": null, "knn": null, "cosine": null });
            let hit = json!({
                "kind": "doc", "path": format!("{of}{nth}"), "lines": [1, 1], "symbol": null, "title": null,
                "snippet": "", "snippet_line": 1, "score": score, "arms": arms, "id": null, "view": "", "blob": "",
                "trust": "repo", "state": null
            });
            serde_json::from_value(hit).unwrap()
        };
        scores.iter().enumerate().map(hit).collect()
    }

    #[test]
    fn typed_words_keep_their_order() {
        let check = |own: &[f64], other: &[f64], expected: &str| {
            let mut found = hits("a", own);
            let mut others = hits("a", &own[..own.len().min(1)]); // it finds the first one too
            others.extend(hits("b", other));
            add_expanded_hits(&mut found, others, 7);
            let paths: Vec<_> = found.iter().map(|hit| hit.path.as_str()).collect();
            assert_eq!(paths.join(" "), expected);
            assert!(found.is_sorted_by(|left, right| left.score >= right.score), "{expected}");
        };
        check(&[0.9, 0.8], &[1.0, 0.9], "a0 a1 b0 b1");
        check(&[0.9, 0.8, 0.7, 0.6, 0.5], &[0.1], "a0 a1 b0 a2 a3 a4");
        check(&[0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3], &[1.0; 9], "a0 a1 b0 a2 a3 b1 a4");
        check(&[0.9], &[1.0; 9], "a0 b0 b1 b2 b3 b4 b5");
        check(&[], &[1.0; 9], "b0 b1 b2 b3 b4 b5 b6");
        check(&[0.9], &[], "a0");
    }
}
