//! Reorders the fused candidates by explained factors.
//!
//! The fused score is multiplied by small factors, each with a reason that a person would give. The size of a factor follows
//! from the factors that it must outweigh, not from a search for the best figures. The `…_AMONG_WORDS` constants were chosen
//! on training repositories (docs/src/benchmarks.md, Ranking).

use std::collections::{HashMap, HashSet};

use memod_base::types::{ChunkId, ChunkKind, ClassSet, FileClass, RankingParts};
use memod_text::words as tokens;

use super::fuse::{self, Weights};
use super::rare_word::lower_wordless;
use crate::candidates::chunk_candidate::ChunkCandidate;
use crate::candidates::ranked::{RankedCandidate, ScoreFactor};
use crate::paths::path_words::PathWords;
use crate::paths::word_likeness::best_likeness;
use crate::paths::{class_rules, translation};
use crate::query::Query;

/// A query for a name wants its definition before its many uses, and before similar names. The factor must outweigh a file
/// name and folder that match, and several matches in a file.
const DEFINITION: ScoreFactor = ScoreFactor::new("definition", 6.0);
/// In a query with other words, the name is only one of the words.
const DEFINITION_AMONG_WORDS: ScoreFactor = ScoreFactor::new("definition", 1.4);
/// Files are named after their content. Not applied where words are compared one by one: `maxsim_path` says the same for code,
/// and for documents halves A and B of the questions (docs/src/benchmarks.md) give opposite results (nDCG@10 of sections -1.3 and
/// +0.8).
const STEM: ScoreFactor = ScoreFactor::new("stem", 1.6);
/// Folders name an area, for many files at once.
const FOLDER: ScoreFactor = ScoreFactor::new("folder", 1.2);
/// A file about the subject mentions it in several places; only its best chunk gains.
const MATCHES: ScoreFactor = ScoreFactor::new("matches", 1.5);
/// A question is answered by one good chunk, so many matches in a file say less.
const MATCHES_AMONG_WORDS: ScoreFactor = ScoreFactor::new("matches", 1.3);
/// A map record repeats the definitions of its file with less detail.
const MAP: ScoreFactor = ScoreFactor::new("map", 0.8);
/// The factor of map records for a question, which the many words of a map record match.
const MAP_AMONG_WORDS: ScoreFactor = ScoreFactor::new("map", 0.5);
/// Text between definitions has no name that tells its subject.
const TEXT: ScoreFactor = ScoreFactor::new("text", 0.7);
/// A commit message describes former code with the same names; the worktree takes precedence.
const COMMIT: ScoreFactor = ScoreFactor::new("commit", 0.4);
/// A second chunk of a file is worth less than the first of another, because there are only ten places.
const FURTHER: ScoreFactor = ScoreFactor::new("further", 0.5);
/// A definition answers a question, and the next best may be in the same file.
const FURTHER_AMONG_WORDS: ScoreFactor = ScoreFactor::new("further", 0.8);

/// Orders candidates by score, then by path, lines and key, which makes the order total. `wanted` has the classes of files
/// that a filter asks for. The parts in `without` have no effect.
pub(crate) fn rank_chunks(
    query: &Query,
    wanted: ClassSet,
    without: RankingParts,
    candidates: Vec<ChunkCandidate>,
) -> Vec<RankedCandidate<ChunkCandidate>> {
    let signals: Vec<_> = candidates.iter().map(|c| (c.kind, c.signals)).collect();
    let compares_words = signals.iter().any(|(_, signals)| signals.maxsim.is_some());
    let fused = fuse::fuse_scores(&signals, &Weights::new(query, compares_words).without_parts(without));
    let mut ranked = RankedCandidate::with_scores(candidates, fused);
    ranked.iter_mut().for_each(|hit| hit.without = without);
    let target = QueryTarget::from_query(query);
    let asked = class_rules::asked_classes(query).union(wanted);
    let mut shares_of_paths: HashMap<u32, PathShares> = HashMap::new();
    for hit in &mut ranked {
        let factor = if query.is_one_word() { DEFINITION } else { DEFINITION_AMONG_WORDS };
        hit.apply_at_strength(factor, target.definition_likelihood(&hit.candidate));
        if hit.candidate.kind != ChunkKind::Commit {
            let ChunkCandidate { content, path, .. } = &hit.candidate;
            // All chunks of a content have one path.
            let shares = *shares_of_paths.entry(*content).or_insert_with(|| PathShares::measure(query, path));
            apply_path(query, asked, shares, compares_words, hit);
        } else if !query.asks_for_history() {
            hit.apply_at_strength(COMMIT, 1.0);
        }
    }
    if compares_words {
        ranked.iter_mut().for_each(lower_kinds);
    }
    adjust_by_file(&mut ranked, compares_words);
    merge_pieces(&mut ranked);
    lower_further_chunks(&mut ranked, if compares_words { FURTHER_AMONG_WORDS } else { FURTHER });
    if query.is_one_word() {
        lower_wordless(&mut ranked, |candidate| &candidate.signals);
    }
    ranked.iter_mut().for_each(RankedCandidate::bound_score);
    ranked.sort_by(compare_rank);
    ranked
}

fn compare_rank(
    left: &RankedCandidate<ChunkCandidate>,
    right: &RankedCandidate<ChunkCandidate>,
) -> std::cmp::Ordering {
    fn place(c: &ChunkCandidate) -> (&str, (u32, u32), ChunkId) {
        (&c.path, c.lines, c.key)
    }
    right.score.total_cmp(&left.score).then_with(|| place(&left.candidate).cmp(&place(&right.candidate)))
}

/// The names in a query.
struct QueryTarget<'a> {
    symbols: &'a [String],
    joined: Vec<String>,
    joined_words: Option<String>,
    /// Likelihood that the query means a name that differs in case or separators.
    of_variant: f64,
}

impl<'a> QueryTarget<'a> {
    fn from_query(query: &'a Query) -> Self {
        let symbols = query.symbol_names();
        let joined = symbols.iter().map(|name| tokens::joined(name)).collect();
        let of_variant = if query.is_one_word() { 0.2 } else { 0.4 };
        Self { symbols, joined, joined_words: query.joined_words(), of_variant }
    }

    /// Returns how likely the candidate defines a name of the query, 0 to 1.
    fn definition_likelihood(&self, candidate: &ChunkCandidate) -> f64 {
        let (ChunkKind::Symbol, Some(symbol)) = (candidate.kind, candidate.symbol.as_deref()) else {
            return 0.0;
        };
        if self.joined.is_empty() && self.joined_words.is_none() {
            return 0.0;
        }
        let title = candidate.title.as_deref().unwrap_or(symbol);
        if let Some(name) = self.symbols.iter().find(|name| title == **name || symbol == **name) {
            // `login` of another type is worth less than `Session::login` if the query names that.
            let full =
                self.symbols.iter().find(|full| full.len() > name.len() && full.ends_with(name.as_str()));
            return if full.is_none_or(|name| tokens::joined(title).ends_with(&tokens::joined(name))) {
                1.0
            } else {
                0.6
            };
        }
        let joined = tokens::joined(symbol);
        if self.joined.contains(&joined) {
            return self.of_variant;
        }
        if self.joined_words.as_ref() == Some(&joined) { 0.5 } else { 0.0 }
    }
}

/// Lowers chunks without a name of their own, which hold many words on many subjects.
fn lower_kinds(hit: &mut RankedCandidate<ChunkCandidate>) {
    match hit.candidate.kind {
        ChunkKind::Map => hit.apply_at_strength(MAP_AMONG_WORDS, 1.0),
        ChunkKind::Text => hit.apply_at_strength(TEXT, 1.0),
        _ => {}
    }
}

/// How similar the names of a path are to the query, 0 to 1.
#[derive(Clone, Copy)]
struct PathShares {
    stem: f64,
    folder: f64,
}

impl PathShares {
    fn measure(query: &Query, path: &str) -> Self {
        let words = PathWords::from_path(path);
        let (stem, folders): (Vec<&str>, Vec<&str>) = (words.stem().collect(), words.folders().collect());
        let nearest = folders.len().saturating_sub(4);
        Self { stem: shared_words(query, &stem), folder: shared_words(query, &folders[nearest..]) }
    }
}

fn apply_path(
    query: &Query,
    asked: ClassSet,
    shares: PathShares,
    compares_words: bool,
    hit: &mut RankedCandidate<ChunkCandidate>,
) {
    if !compares_words {
        hit.apply_at_strength(STEM, shares.stem);
    }
    hit.apply_at_strength(FOLDER, shares.folder);
    let classes = match is_in_test_module(&hit.candidate) {
        true => hit.candidate.classes.union(ClassSet::from_classes(&[FileClass::Test])),
        false => hit.candidate.classes,
    };
    let asked = match classes.contains(FileClass::Translation)
        && translation::asks_for_language(query, &hit.candidate.path)
    {
        true => asked.union(ClassSet::from_classes(&[FileClass::Translation])),
        false => asked,
    };
    class_rules::lowering_factors(classes, asked).for_each(|(name, factor)| hit.apply_factor(name, factor));
}

/// Returns whether a definition is in a module of tests beside the code: `mod tests` of Rust.
fn is_in_test_module(candidate: &ChunkCandidate) -> bool {
    candidate.path.ends_with(".rs")
        && candidate.title.as_deref().is_some_and(|title| {
            ["::test::", "::tests::"]
                .iter()
                .any(|module| title.starts_with(&module[2..]) || title.contains(module))
        })
}

/// Returns the similarity of a name and the query, 0 to 1: the mean of the share of the name in the query and the share of
/// the query in the name.
fn shared_words(query: &Query, name: &[&str]) -> f64 {
    let asked: Vec<&str> =
        query.words().iter().map(|word| word.text.as_str()).filter(|w| w.len() > 1).collect();
    if asked.is_empty() || name.is_empty() {
        return 0.0;
    }
    let of_name: f64 = name.iter().map(|word| best_likeness(word, asked.iter().copied())).sum();
    let of_query: f64 = asked.iter().map(|word| best_likeness(word, name.iter().copied())).sum();
    (of_name / name.len() as f64 + of_query / asked.len() as f64) / 2.0
}

/// Returns the indices of all hits, grouped by file, best first.
fn group_by_file(ranked: &[RankedCandidate<ChunkCandidate>]) -> Vec<usize> {
    let mut all: Vec<usize> = (0..ranked.len()).collect();
    all.sort_by(|&left, &right| {
        let (left, right) = (&ranked[left], &ranked[right]);
        left.candidate.content.cmp(&right.candidate.content).then_with(|| compare_rank(left, right))
    });
    all
}

/// Moves map records below their definitions, and raises the best chunk of a file by its other matches, relative to the file
/// with the most. `compares_words`: words were compared one by one, so map records keep their place.
fn adjust_by_file(ranked: &mut [RankedCandidate<ChunkCandidate>], compares_words: bool) {
    let matches = if compares_words { MATCHES_AMONG_WORDS } else { MATCHES };
    let all = group_by_file(ranked);
    let files: Vec<&[usize]> = all
        .chunk_by(|left, right| ranked[*left].candidate.content == ranked[*right].candidate.content)
        .collect();
    let sums: Vec<f64> =
        files.iter().map(|file| file[1..].iter().map(|&nth| ranked[nth].fused).sum::<f64>()).collect();
    let most = sums.iter().copied().fold(0.0, f64::max);
    for (file, sum) in files.iter().zip(sums) {
        let has_symbol = file.iter().any(|&nth| ranked[nth].candidate.kind == ChunkKind::Symbol);
        for &nth in file.iter().filter(|_| has_symbol && !compares_words) {
            if ranked[nth].candidate.kind == ChunkKind::Map {
                ranked[nth].apply_at_strength(MAP, 1.0);
            }
        }
        if most > 0.0 {
            let best =
                file.iter().copied().min_by(|&left, &right| compare_rank(&ranked[left], &ranked[right]));
            ranked[best.unwrap_or(file[0])].apply_at_strength(matches, sum / most);
        }
    }
}

/// Keeps the best piece of each definition.
fn merge_pieces(ranked: &mut Vec<RankedCandidate<ChunkCandidate>>) {
    ranked.sort_by(compare_rank);
    let mut seen = HashSet::new();
    ranked.retain(|hit| seen.insert(hit.candidate.definition));
}

/// Lowers each further chunk of a file again, except sections of a document, which have subjects of their own.
fn lower_further_chunks(ranked: &mut [RankedCandidate<ChunkCandidate>], further: ScoreFactor) {
    let (mut times, mut last) = (1.0, None);
    for nth in group_by_file(ranked) {
        let content = ranked[nth].candidate.content;
        if last.replace(content) != Some(content) {
            times = 1.0;
        }
        if ranked[nth].candidate.kind != ChunkKind::Doc {
            ranked[nth].apply_factor(further.name, times);
            times *= further.at_full;
        }
    }
}

#[cfg(test)]
mod tests;
