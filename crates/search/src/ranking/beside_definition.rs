//! Places memories beside the definition of the name that a query asks for.

/// How a memory relates to the name whose definition is asked for, the weakest relation first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameRelation {
    /// The memory has at most some words of the name.
    Loose,
    /// The text of the memory has the name.
    Named,
    /// The memory is about the definition.
    Attached,
}

/// Largest score of a memory, as a share of the definition's.
const BELOW_DEFINITION: f64 = 0.99;

/// Returns the scores of memories beside a definition with the score `definition`, in the same order. Memories with the name, or
/// about the definition, come right after it; others come after it, and keep their scores if these are lower already.
pub fn scores_beside_definition(definition: f64, memories: &[(f64, NameRelation)]) -> Vec<f64> {
    let highest = |is_near: bool| {
        let of_group = memories.iter().filter(|(_, relation)| (*relation > NameRelation::Loose) == is_near);
        of_group.map(|(score, _)| *score).fold(0.0, f64::max)
    };
    let (best_near, best_loose) = (highest(true), highest(false));
    let bound = BELOW_DEFINITION * definition;
    let place = |(score, relation): &(f64, NameRelation)| match relation {
        NameRelation::Attached => bound,
        // A memory with the name is about what was asked for, so it comes right after the definition, however low its own score is.
        NameRelation::Named => BELOW_DEFINITION * bound * (score / best_near.max(f64::MIN_POSITIVE)),
        // The best of these comes after the best memory with the name.
        NameRelation::Loose if best_loose >= bound => {
            BELOW_DEFINITION * BELOW_DEFINITION * bound * (score / best_loose)
        }
        NameRelation::Loose => *score,
    };
    memories.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_follow_the_definition() {
        use NameRelation::{Attached, Loose, Named};
        let check = |definition: f64, memories: &[(f64, NameRelation)], expected: &[usize]| {
            let scores = scores_beside_definition(definition, memories);
            assert!(scores.iter().all(|score| *score < definition), "{scores:?}");
            let mut order: Vec<usize> = (0..memories.len()).collect();
            order.sort_by(|left, right| scores[*right].total_cmp(&scores[*left]));
            assert_eq!(order, expected, "{scores:?}");
        };
        check(0.8, &[(0.9, Loose), (0.7, Named), (0.0, Attached)], &[2, 1, 0]);
        check(0.8, &[(0.95, Loose), (0.9, Loose), (0.9, Named)], &[2, 0, 1]);
        check(0.9, &[(0.5, Loose), (0.2, Named), (0.1, Named)], &[1, 0, 2]);
        check(0.9, &[], &[]);
        let kept = scores_beside_definition(0.9, &[(0.5, Loose)]);
        assert!((kept[0] - 0.5).abs() < 1e-9, "{kept:?}");
        assert!(scores_beside_definition(0.9, &[(0.0, Named)])[0].abs() < 1e-9);
    }
}
