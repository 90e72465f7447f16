//! Compares hits with the definitions that answer a question, by path and lines, and scores the ranks of the definitions.

use memod_base::types::ChunkKind;

/// Number of hits that are scored for a question with definitions.
pub(crate) const DEFINITION_CUT: usize = 100;

/// Number of metrics.
const N_METRICS: usize = 4;

/// Name of each metric in tables and in JSON.
pub(crate) const DEFINITION_METRICS: [(&str, &str); N_METRICS] =
    [("R@5", "recall_5"), ("R@10", "recall_10"), ("R@100", "recall_100"), ("MRR@100", "mrr_100")];

/// A hit counts if it has at most `MAX_TIMES_LINES` times the lines of the definition plus `MAX_MORE_LINES`. In a longer hit a
/// reader would still have to search.
const MAX_TIMES_LINES: u64 = 3;
const MAX_MORE_LINES: u64 = 30;

/// A definition that answers a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AnswerDefinition {
    pub(crate) path: String,
    /// First and last line.
    pub(crate) lines: (u32, u32),
    /// Name of the definition; empty if the set gives none.
    pub(crate) name: String,
    /// Whether the definition must be read to answer the question.
    pub(crate) must: bool,
}

impl AnswerDefinition {
    /// Returns whether a hit shows the definition: it is in the same file, is not much longer, and the lines in common are at
    /// least half of the shorter one. So a piece of the definition counts, but not its neighbour or the whole file. The map of a
    /// file does not count either, because it names definitions and shows none.
    pub(crate) fn is_shown_by(&self, kind: ChunkKind, path: &str, lines: (u32, u32)) -> bool {
        let is_of_file = !matches!(kind, ChunkKind::Map | ChunkKind::Commit | ChunkKind::Memory);
        if !is_of_file || path != self.path {
            return false;
        }
        let overlap = (lines.0.max(self.lines.0), lines.1.min(self.lines.1));
        let (n_own, n_hit) = (count_lines(self.lines), count_lines(lines));
        2 * count_lines(overlap) >= n_own.min(n_hit).max(1)
            && n_hit <= MAX_TIMES_LINES * n_own + MAX_MORE_LINES
    }

    /// Returns whether the definition must be read. If no answer of the question is marked as such, all of them count.
    pub(crate) fn is_required(&self, answers: &[Self]) -> bool {
        self.must || !answers.iter().any(|answer| answer.must)
    }
}

/// Returns the number of lines in a span; 0 if the span is reversed.
fn count_lines((first, last): (u32, u32)) -> u64 {
    (u64::from(last) + 1).saturating_sub(u64::from(first))
}

/// The metrics of a question, each 0 to 1, in the order of [`DEFINITION_METRICS`].
pub(crate) type DefinitionScores = [f64; N_METRICS];

/// The scores of a question by the ranks of its definitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DefinitionFigures {
    /// Scores of the first answer alone, the best one.
    pub(crate) first: DefinitionScores,
    /// Scores of all answers that must be read, or of all where none must.
    pub(crate) must: DefinitionScores,
}

impl DefinitionFigures {
    /// Scores the ranks of the definitions. Ranks start at 0; `None` means that no hit shows the definition.
    pub(crate) fn score_ranks(definitions: &[AnswerDefinition], ranks: &[Option<usize>]) -> Self {
        let pairs =
            definitions.iter().zip(ranks).filter(|(definition, _)| definition.is_required(definitions));
        let required: Vec<Option<usize>> = pairs.map(|(_, rank)| *rank).collect();
        Self { first: compute_scores(ranks.get(..1).unwrap_or_default()), must: compute_scores(&required) }
    }
}

/// Returns the recall at 5, 10 and [`DEFINITION_CUT`], and the reciprocal of the best rank, counted from 1.
fn compute_scores(ranks: &[Option<usize>]) -> DefinitionScores {
    let recalls = [5, 10, DEFINITION_CUT].map(|cut| {
        ranks.iter().flatten().filter(|rank| **rank < cut).count() as f64 / ranks.len().max(1) as f64
    });
    let best = ranks.iter().flatten().min().filter(|rank| **rank < DEFINITION_CUT);
    [recalls[0], recalls[1], recalls[2], best.map_or(0.0, |rank| 1.0 / (rank + 1) as f64)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition_at(lines: (u32, u32), must: bool) -> AnswerDefinition {
        AnswerDefinition { path: "a.rs".to_owned(), lines, name: String::new(), must }
    }

    #[test]
    fn a_hit_is_of_a_definition_that_it_shares_half_of_the_shorter_with() {
        let check = |lines: (u32, u32), hit: (u32, u32), expected: bool| {
            let found = definition_at(lines, true).is_shown_by(ChunkKind::Symbol, "a.rs", hit);
            assert_eq!(found, expected, "{lines:?} and {hit:?}");
        };
        check((10, 19), (10, 19), true);
        check((10, 19), (1, 9), false);
        check((10, 19), (20, 29), false);
        // A piece of the definition, and the type that it is a method of.
        check((10, 99), (40, 42), true);
        check((10, 19), (1, 30), true);
        // Half of the shorter, and one line less.
        check((10, 19), (15, 40), true);
        check((10, 19), (16, 40), false);
        check((10, 19), (19, 20), true);
        check((10, 19), (19, 21), false);
        check((7, 7), (7, 7), true);
        check((7, 7), (8, 8), false);
        // As long as a hit may be, and one line longer.
        check((10, 19), (1, 60), true);
        check((10, 19), (1, 61), false);
        check((10, 9), (10, 9), false);
        check((1, u32::MAX - 1), (1, 1), true);
    }

    #[test]
    fn only_text_of_its_file_is_of_a_definition() {
        let definition = definition_at((1, 9), true);
        let is_at = |kind, path| definition.is_shown_by(kind, path, (1, 9));
        assert!(
            is_at(ChunkKind::Symbol, "a.rs")
                && is_at(ChunkKind::Text, "a.rs")
                && is_at(ChunkKind::Doc, "a.rs")
        );
        assert!(!is_at(ChunkKind::Symbol, "b/a.rs"));
        assert!(
            !is_at(ChunkKind::Map, "a.rs")
                && !is_at(ChunkKind::Commit, "a.rs")
                && !is_at(ChunkKind::Memory, "a.rs")
        );
    }

    #[test]
    fn the_first_answer_and_those_that_must_be_read_are_scored() {
        let definitions =
            [definition_at((1, 2), true), definition_at((3, 4), false), definition_at((5, 6), true)];
        let check = |ranks: [Option<usize>; 3], first: DefinitionScores, must: DefinitionScores| {
            assert_eq!(
                DefinitionFigures::score_ranks(&definitions, &ranks),
                DefinitionFigures { first, must }
            );
        };
        check([Some(0), None, Some(1)], [1.0; 4], [1.0; 4]);
        check([None, Some(0), None], [0.0; 4], [0.0; 4]);
        check([Some(4), Some(0), Some(9)], [1.0, 1.0, 1.0, 0.2], [0.5, 1.0, 1.0, 0.2]);
        check([None, None, Some(99)], [0.0; 4], [0.0, 0.0, 0.5, 0.01]);
        check([Some(100), None, None], [0.0; 4], [0.0; 4]);
        let found = DefinitionFigures::score_ranks(&[definition_at((1, 2), false)], &[Some(0)]);
        assert_eq!(found, DefinitionFigures { first: [1.0; 4], must: [1.0; 4] });
    }
}
