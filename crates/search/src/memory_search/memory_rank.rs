//! Ranks memories.
//!
//! Fuses the values of the arms to one score, multiplies the score by factors, and converts it to the scale of other hits. Pure.

use std::collections::HashMap;

use memod_base::types::MemoryRow;
use memod_memory_db::RankingFacts;
use memod_proto::anchor::AnchorState;
use memod_proto::memory::Tier;

use super::superseded::{Supersedable, move_successors_up};
use crate::candidates::arm_signals::{ArmSignals, COSINE_FLOOR};
use crate::candidates::ranked::{RankedCandidate, ScoreFactor};
use crate::ranking::rare_word::lower_hits_without_word;

// The factors up to `USE` are small, so that they only decide among similar matches.

/// Strength: 1 at priority 10, 0 at 5, negative below 5.
const PRIORITY: ScoreFactor = ScoreFactor::new("priority", 1.15);
/// Strength: 1 at confidence 0, 0 at confidence 1.
const CONFIDENCE: ScoreFactor = ScoreFactor::new("confidence", 0.7);
/// Strength: 1 for the tier `short`, 0.5 for `mid`, 0 for `long`.
const TIER: ScoreFactor = ScoreFactor::new("tier", 0.94);
/// Strength: 0 right after the last change or access, 0.5 after 69 days, as in memori: e^(-0.01 days).
const AGE: ScoreFactor = ScoreFactor::new("age", 0.9);
/// Strength: logarithmic in the number of recalls, 1 from 50 recalls on.
const USE: ScoreFactor = ScoreFactor::new("use", 1.12);
/// Applies to a superseded memory, which never ranks above its successor either.
const SUPERSEDED: ScoreFactor = ScoreFactor::new("superseded", 0.5);
/// Applies if the code that the memory is about has changed since.
const DRIFTED: ScoreFactor = ScoreFactor::new("drifted", 0.7);
/// Applies if the code that the memory is about is gone.
const ORPHANED: ScoreFactor = ScoreFactor::new("orphaned", 0.5);
/// Applies to every memory. A memory was written to be found, so it counts more than a section with the same words.
const WRITTEN: ScoreFactor = ScoreFactor::new("written", 2.0);
/// Smallest difference from 1 at which a factor is applied.
const LEAST_EFFECT: f64 = 5e-4;

/// Days after which [`AGE`] has the strength 0.5.
const HALF_LIFE_DAYS: f64 = 69.0;
/// Number of recalls from which on [`USE`] has the strength 1.
const FULL_STRENGTH_USES: f64 = 50.0;
/// Weight of the vector arm. The weight of BM25 is 1.
const KNN_WEIGHT: f64 = 0.5;
/// Weight of `maxsim`. The weight of BM25 is 1.
const MAXSIM_WEIGHT: f64 = 0.75;
/// Share of a memory's score that is added to the memories written right before and right after. One conversation may spread an
/// answer over several memories.
const NEIGHBOUR_SHARE: f64 = 0.25;
/// Longest time between the creation of two neighbours, ms.
const MOST_BETWEEN_MS: i64 = 3_600_000;
/// Cosine at which a memory almost certainly matches. One in twenty related pairs has a larger cosine (models/builtin/README.md).
const COSINE_FULL: f64 = 0.75;

/// Least cosine of a clear match that has no word of the query (models/builtin/README.md: a vector hit that no other arm supports).
const CLEAR_MATCH_COSINE: f32 = 0.5;

/// A memory that some arm found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecallCandidate {
    /// The facts of the memory.
    pub facts: RankingFacts,
    /// The ranks and values in each arm.
    pub signals: ArmSignals,
    /// Share of the query's words that the memory contains, 0 to 1.
    pub covered: f64,
    /// State of the code that the memory is about; `None` if the memory has no anchors, or their state is unknown.
    pub state: Option<AnchorState>,
}

impl RecallCandidate {
    /// Returns whether the memory has a word of the query, or a vector that is clearly near the query.
    pub fn is_clear_match(&self) -> bool {
        self.signals.bm25.is_some() || self.signals.cosine.is_some_and(|cosine| cosine >= CLEAR_MATCH_COSINE)
    }
}

impl RankedCandidate<RecallCandidate> {
    /// Applies a factor at a strength, unless the effect is too small to be seen.
    fn apply_if_visible(&mut self, factor: ScoreFactor, strength: f64) {
        if (factor.at_strength(strength) - 1.0).abs() > LEAST_EFFECT {
            self.apply_at_strength(factor, strength);
        }
    }
}

/// Ranks candidates by score, and candidates with equal scores by id, newest first. If the query is one rare word, candidates with
/// the word come first.
pub(crate) fn rank_memories(
    candidates: Vec<RecallCandidate>,
    is_one_word: bool,
    now_ms: i64,
) -> Vec<RankedCandidate<RecallCandidate>> {
    let fused = fuse_signals(&candidates);
    let neighbours = best_neighbour_scores(&candidates, &fused);
    let mut ranked = RankedCandidate::with_scores(candidates, fused);
    for (hit, neighbour) in ranked.iter_mut().zip(neighbours) {
        // Only for a question, where words are compared: its answer may be spread over several memories.
        if hit.candidate.signals.maxsim.is_some() && hit.fused > 0.0 {
            hit.apply_factor("beside", 1.0 + NEIGHBOUR_SHARE * neighbour / hit.fused);
        }
        apply_fact_factors(hit, now_ms);
        hit.apply_if_visible(WRITTEN, 1.0);
    }
    if is_one_word {
        lower_hits_without_word(&mut ranked, |candidate| &candidate.signals);
    }
    ranked.iter_mut().for_each(RankedCandidate::bound_score);
    ranked.sort_by(compare_rank);
    move_successors_up(&mut ranked);
    ranked
}

fn compare_rank(
    left: &RankedCandidate<RecallCandidate>,
    right: &RankedCandidate<RecallCandidate>,
) -> std::cmp::Ordering {
    right.score.total_cmp(&left.score).then_with(|| right.candidate.facts.id.cmp(&left.candidate.facts.id))
}

/// Applies the factors that follow from the facts and the state of a memory.
fn apply_fact_factors(hit: &mut RankedCandidate<RecallCandidate>, now_ms: i64) {
    let facts = hit.candidate.facts.clone();
    hit.apply_if_visible(PRIORITY, (f64::from(facts.priority) - 5.0) / 5.0);
    hit.apply_if_visible(CONFIDENCE, 1.0 - facts.confidence);
    let shortness = match facts.tier {
        Tier::Short => 1.0,
        Tier::Mid => 0.5,
        Tier::Long => 0.0,
    };
    hit.apply_if_visible(TIER, shortness);
    let seen = facts.last_access.map_or(facts.updated, |at| at.max(facts.updated));
    let days = (now_ms - seen).max(0) as f64 / 86_400_000.0;
    hit.apply_if_visible(AGE, 1.0 - (-days / HALF_LIFE_DAYS).exp2());
    hit.apply_if_visible(USE, ((facts.access_count as f64).ln_1p() / FULL_STRENGTH_USES.ln_1p()).min(1.0));
    if !facts.successors.is_empty() {
        hit.apply_if_visible(SUPERSEDED, 1.0);
    }
    match hit.candidate.state {
        None | Some(AnchorState::Fresh) => {}
        Some(AnchorState::Drifted) => hit.apply_if_visible(DRIFTED, 1.0),
        Some(AnchorState::Orphaned) => hit.apply_if_visible(ORPHANED, 1.0),
    }
}

impl Supersedable for RankedCandidate<RecallCandidate> {
    fn id(&self) -> Option<&str> {
        Some(&self.candidate.facts.id)
    }

    fn successors(&self) -> &[String] {
        &self.candidate.facts.successors
    }

    fn raise_score_to(&mut self, superseded: &Self) {
        self.score = superseded.score;
    }
}

/// Returns one score for each candidate, `[n_candidates]`, 0 to 1.
///
/// The score is a weighted sum, times the quality of the best match. The terms of the sum are: BM25 times the covered share of the
/// query, relative to the best (BM25 alone prefers a short memory with one rare word); the cosine and `maxsim`, each scaled between
/// worst and best. The quality is computed from the covered share of the query and the cosine of the nearest memory. It does not
/// depend on BM25, because some memory always has the best BM25, even if none matches well.
fn fuse_signals(candidates: &[RecallCandidate]) -> Vec<f64> {
    let first = candidates.iter().max_by(|left, right| text_score(left).total_cmp(&text_score(right)));
    let (best, covered) = first.map_or((0.0, 0.0), |first| (text_score(first), first.covered));
    let floor = f64::from(COSINE_FLOOR);
    let nearest = candidates.iter().filter_map(cosine_of).fold(floor, f64::max);
    let farthest = candidates.iter().filter_map(cosine_of).fold(nearest, f64::min).max(floor);
    let certain = ((nearest - floor) / (COSINE_FULL - floor)).clamp(0.0, 1.0);
    let similar = candidates.iter().filter_map(|candidate| candidate.signals.maxsim);
    let (least_similar, most_similar) = (similar.clone().fold(1.0, f64::min), similar.fold(0.0, f64::max));
    let weights = (
        if best > 0.0 { 1.0 } else { 0.0 },
        if nearest > floor { KNN_WEIGHT } else { 0.0 },
        if most_similar > 0.0 { MAXSIM_WEIGHT } else { 0.0 },
    );
    let possible = f64::max(weights.0 + weights.1 + weights.2, f64::EPSILON);
    let strength = if best > 0.0 { (2.0 * covered + certain) / 3.0 } else { certain * certain };
    let values = candidates.iter().map(|candidate| {
        let words = if best > 0.0 { text_score(candidate) / best } else { 0.0 };
        let near = cosine_of(candidate).map_or(0.0, |cosine| match nearest - farthest {
            range if range > 0.0 => ((cosine - farthest) / range).clamp(0.0, 1.0),
            _ if cosine > floor => 1.0,
            _ => 0.0,
        });
        let similar = candidate.signals.maxsim.map_or(0.0, |similar| match most_similar - least_similar {
            range if range > 0.0 => (similar - least_similar) / range,
            _ => 1.0,
        });
        strength * (weights.0 * words + weights.1 * near + weights.2 * similar) / possible
    });
    values.collect()
}

/// Returns BM25 times the covered share of the query.
fn text_score(candidate: &RecallCandidate) -> f64 {
    candidate.signals.bm25.map_or(0.0, |place| place.bm25 * candidate.covered)
}

fn cosine_of(candidate: &RecallCandidate) -> Option<f64> {
    candidate.signals.cosine.map(f64::from)
}

/// Returns the larger score of the two neighbours of each candidate, `[n_candidates]`; 0 without a neighbour.
fn best_neighbour_scores(candidates: &[RecallCandidate], fused: &[f64]) -> Vec<f64> {
    let places: HashMap<MemoryRow, usize> =
        candidates.iter().enumerate().map(|(nth, candidate)| (candidate.facts.row, nth)).collect();
    candidates
        .iter()
        .map(|RecallCandidate { facts, .. }| {
            let neighbours = [facts.row.0 - 1, facts.row.0 + 1].into_iter().filter_map(|row| {
                let nth = *places.get(&MemoryRow(row))?;
                are_neighbours(facts, &candidates[nth].facts).then_some(fused[nth])
            });
            neighbours.fold(0.0, f64::max)
        })
        .collect()
}

/// Returns whether two memories with successive ids belong together: same container, and created within an hour.
fn are_neighbours(one: &RankingFacts, other: &RankingFacts) -> bool {
    one.container == other.container && one.created.abs_diff(other.created) <= MOST_BETWEEN_MS.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::arm_signals::TextRank;

    const DAY: i64 = 86_400_000;
    const NOW: i64 = 1_000 * DAY;

    /// Matches as well as all others; row and id by number.
    fn alike(row: i64, change: impl FnOnce(&mut RecallCandidate)) -> RecallCandidate {
        let facts = RankingFacts {
            row: MemoryRow(row),
            id: format!("mem_{row}"),
            priority: 5,
            confidence: 1.0,
            updated: NOW,
            ..RankingFacts::default()
        };
        let signals = ArmSignals {
            bm25: Some(TextRank { rank: 1, bm25: 2.0 }),
            cosine: Some(0.6),
            ..ArmSignals::default()
        };
        let mut candidate = RecallCandidate { facts, signals, covered: 1.0, state: None };
        change(&mut candidate);
        candidate
    }

    fn rows(ranked: &[RankedCandidate<RecallCandidate>]) -> Vec<i64> {
        ranked.iter().map(|hit| hit.candidate.facts.row.0).collect()
    }

    #[test]
    fn what_was_written_beside_a_match_gains_from_it() {
        let weak = |row: i64, change: fn(&mut RecallCandidate)| {
            alike(row, |c| {
                (c.covered, c.signals.maxsim) = (0.5, Some(0.5));
                change(c);
            })
        };
        let strong = alike(2, |c| c.signals.maxsim = Some(0.9));
        let others: [fn(&mut RecallCandidate); 2] =
            [|c| c.facts.container = "another".to_owned(), |c| c.facts.created = MOST_BETWEEN_MS + 1];
        for other in others {
            let ranked = rank_memories(
                vec![weak(1, |_| ()), strong.clone(), weak(3, other), weak(9, |_| ())],
                false,
                NOW,
            );
            assert_eq!(rows(&ranked), [2, 1, 9, 3], "of equals the newer comes first, but for the neighbour");
            let names: Vec<&str> = ranked[1].factors.iter().map(|factor| factor.0).collect();
            assert!(names.contains(&"beside"), "{names:?}");
        }
    }

    #[test]
    fn each_factor_moves_what_matches_alike() {
        type Change = fn(&mut RecallCandidate);
        let better: [(ScoreFactor, Change); 2] =
            [(PRIORITY, |c| c.facts.priority = 8), (USE, |c| c.facts.access_count = 9)];
        let worse: [(ScoreFactor, Change); 7] = [
            (PRIORITY, |c| c.facts.priority = 2),
            (CONFIDENCE, |c| c.facts.confidence = 0.5),
            (TIER, |c| c.facts.tier = Tier::Short),
            (AGE, |c| c.facts.updated = NOW - 69 * DAY),
            (SUPERSEDED, |c| c.facts.successors = vec!["mem_99".to_owned()]),
            (DRIFTED, |c| c.state = Some(AnchorState::Drifted)),
            (ORPHANED, |c| c.state = Some(AnchorState::Orphaned)),
        ];
        for (first, cases) in [(2, &better[..]), (1, &worse[..])] {
            for (factor, change) in cases {
                // Without its factor 2 would come first where it must be worse: of equals the newer does.
                let id = if first == 2 { 0 } else { 2 };
                let other = alike(2, |c| {
                    c.facts.id = format!("mem_{id}");
                    change(c);
                });
                let ranked = rank_memories(vec![alike(1, |_| ()), other], false, NOW);
                assert_eq!(rows(&ranked)[0], first, "{}", factor.name);
                let changed = ranked.iter().find(|hit| hit.candidate.facts.row.0 == 2).unwrap();
                assert_eq!(changed.factors[0].0, factor.name);
                assert_eq!(changed.factors.last().unwrap().0, WRITTEN.name);
            }
        }
        let aged = rank_memories(vec![alike(1, |c| c.facts.updated = NOW - 69 * DAY)], false, NOW);
        assert!((aged[0].factors[0].1 - 0.95).abs() < 1e-9, "{:?}", aged[0].factors);
    }

    #[test]
    fn what_is_neither_named_nor_near_is_not_meant() {
        let is_meant = |bm25: Option<f64>, cosine| {
            let bm25 = bm25.map(|bm25| TextRank { rank: 1, bm25 });
            alike(1, |c| (c.signals.bm25, c.signals.cosine) = (bm25, cosine)).is_clear_match()
        };
        assert!(is_meant(Some(0.1), None) && is_meant(Some(0.1), Some(0.1)) && is_meant(None, Some(0.6)));
        assert!(!is_meant(None, Some(0.4)));
    }

    #[test]
    fn the_superseded_stand_below_what_supersedes_them() {
        let better = |row, successor: &[i64]| {
            let successors: Vec<_> = successor.iter().map(|row| format!("mem_{row}")).collect();
            alike(row, |c| {
                c.facts.successors = successors;
                c.signals.bm25 = Some(TextRank { rank: 1, bm25: 9.0 });
            })
        };
        let ranked = rank_memories(vec![better(1, &[2]), alike(2, |_| ()), alike(3, |_| ())], false, NOW);
        let place = |row| rows(&ranked).iter().position(|other| *other == row);
        assert_eq!((place(2), place(1)), (Some(0), Some(1)), "both are among the first: {:?}", rows(&ranked));
        assert!(ranked.is_sorted_by(|left, right| left.score >= right.score));
        let circle = rank_memories(vec![better(1, &[2]), better(2, &[1])], false, NOW);
        assert_eq!(circle.len(), 2);
    }

    #[test]
    fn what_covers_little_of_the_query_scores_little() {
        let score = |covered| rank_memories(vec![alike(1, |c| c.covered = covered)], false, NOW)[0].score;
        assert!(score(0.2) < score(0.6) && score(0.6) < score(1.0) && score(1.0) <= 1.0);
        let far = alike(1, |c| (c.signals.bm25, c.signals.cosine) = (None, Some(0.3)));
        assert!(rank_memories(vec![far], false, NOW)[0].score < 0.1);
        assert!(rank_memories(Vec::new(), false, NOW).is_empty());
    }
}
