//! Multiplies the fused scores of candidates by factors, and sorts the candidates.
//!
//! Each factor has a reason that a person would understand. Its size follows from the factors that it must outweigh, not from a
//! search for the best benchmark results. The constants `…_AMONG_WORDS` were chosen on training repositories
//! (docs/src/reference/benchmarks-history.md, Ranking).

use std::collections::{HashMap, HashSet};

use memod_base::types::{ChunkId, ChunkKind, ClassSet, FileClass, RankingParts};
use memod_text::words as tokens;

use super::fuse::{self, WeightsByKind};
use super::rare_word::lower_hits_without_word;
use crate::candidates::chunk_candidate::ChunkCandidate;
use crate::candidates::ranked::{RankedCandidate, ScoreFactor};
use crate::paths::path_words::PathWords;
use crate::paths::word_likeness::best_likeness;
use crate::paths::{class_rules, translation};
use crate::query::Query;

/// For the definition of a name, if the query is this name: it ranks before uses and similar names. The factor must outweigh a
/// matching file name and folder, and several matches in a file.
const DEFINITION: ScoreFactor = ScoreFactor::new("definition", 6.0);
/// For the definition of a name, if the query has other words too, and the name is only one of them.
const DEFINITION_AMONG_WORDS: ScoreFactor = ScoreFactor::new("definition", 1.4);
/// For a file name that matches the query, because files are named after their content. Not applied if words are compared one by
/// one: for code, `maxsim_path` has the same effect. For documents, the halves A and B of the questions (docs/src/reference/benchmarks-history.md)
/// gave opposite results (nDCG@10 of sections -1.3 and +0.8).
const STEM: ScoreFactor = ScoreFactor::new("stem", 1.6);
/// For folder names that match the query. A folder names the area of many files, so the factor is small.
const FOLDER: ScoreFactor = ScoreFactor::new("folder", 1.2);
/// For the best chunk of a file with several matches, because a file about a subject mentions it in several places.
const MATCHES: ScoreFactor = ScoreFactor::new("matches", 1.5);
/// As [`MATCHES`], if words are compared one by one: one good chunk answers a question, so other matches mean less.
const MATCHES_AMONG_WORDS: ScoreFactor = ScoreFactor::new("matches", 1.3);
/// For a map record, which repeats the definitions of its file with less detail.
const MAP: ScoreFactor = ScoreFactor::new("map", 0.8);
/// For a map record, if words are compared one by one: its many words match every question.
const MAP_AMONG_WORDS: ScoreFactor = ScoreFactor::new("map", 0.5);
/// For text between definitions, which has no name that tells its subject.
const TEXT: ScoreFactor = ScoreFactor::new("text", 0.7);
/// For a commit, whose message describes former code with the same names, so that current code ranks before it.
const COMMIT: ScoreFactor = ScoreFactor::new("commit", 0.4);
/// For each further chunk of a file, so that a second chunk ranks after the first chunks of other files.
const FURTHER: ScoreFactor = ScoreFactor::new("further", 0.5);
/// As [`FURTHER`], if words are compared one by one: a definition answers a question, and the next best may be in the same file.
const FURTHER_AMONG_WORDS: ScoreFactor = ScoreFactor::new("further", 0.8);

/// Ranks candidates by score, and candidates with equal scores by path, lines and id. `wanted` are the classes of files that a
/// filter asks for. The parts of the ranking in `without` have no effect.
pub(crate) fn rank_chunks(
    query: &Query,
    wanted: ClassSet,
    without: RankingParts,
    candidates: Vec<ChunkCandidate>,
) -> Vec<RankedCandidate<ChunkCandidate>> {
    let signals: Vec<_> = candidates.iter().map(|c| (c.kind, c.signals)).collect();
    let compares_words = signals.iter().any(|(_, signals)| signals.maxsim.is_some());
    let fused =
        fuse::fuse_scores(&signals, &WeightsByKind::new(query, compares_words).without_parts(without));
    let mut ranked = RankedCandidate::with_scores(candidates, fused);
    ranked.iter_mut().for_each(|hit| hit.disabled_factors = without);
    let target = QueryNames::from_query(query);
    let asked = class_rules::asked_classes(query).union(wanted);
    let mut shares_of_paths: HashMap<u32, PathSimilarity> = HashMap::new();
    for hit in &mut ranked {
        let factor = if query.is_one_word() { DEFINITION } else { DEFINITION_AMONG_WORDS };
        hit.apply_at_strength(factor, target.definition_likelihood(&hit.candidate));
        if hit.candidate.kind != ChunkKind::Commit {
            let ChunkCandidate { content, path, .. } = &hit.candidate;
            // A query shows each content under one path, so the chunks of a content share this value.
            let shares =
                *shares_of_paths.entry(*content).or_insert_with(|| PathSimilarity::measure(query, path));
            apply_path_factors(query, asked, shares, compares_words, hit);
        } else if !query.asks_for_history() {
            hit.apply_at_strength(COMMIT, 1.0);
        }
    }
    if compares_words {
        ranked.iter_mut().for_each(lower_unnamed_chunks);
    }
    adjust_by_file(&mut ranked, compares_words);
    keep_best_pieces(&mut ranked);
    lower_further_chunks(&mut ranked, if compares_words { FURTHER_AMONG_WORDS } else { FURTHER });
    if query.is_one_word() {
        lower_hits_without_word(&mut ranked, |candidate| &candidate.signals);
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
struct QueryNames<'a> {
    /// Possible names of symbols in the query, as typed.
    symbols: &'a [String],
    /// The same names in their joined form.
    joined: Vec<String>,
    /// All words of the query, joined to one name.
    joined_words: Option<String>,
    /// Likelihood that the query means a symbol whose name differs in case or separators.
    of_variant: f64,
}

impl<'a> QueryNames<'a> {
    fn from_query(query: &'a Query) -> Self {
        let symbols = query.symbol_names();
        let joined = symbols.iter().map(|name| tokens::joined_name(name)).collect();
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
            // If the query names `Session::login`, the method `login` of another type is worth less.
            let full =
                self.symbols.iter().find(|full| full.len() > name.len() && full.ends_with(name.as_str()));
            return if full.is_none_or(|name| tokens::joined_name(title).ends_with(&tokens::joined_name(name)))
            {
                1.0
            } else {
                0.6
            };
        }
        let joined = tokens::joined_name(symbol);
        if self.joined.contains(&joined) {
            return self.of_variant;
        }
        if self.joined_words.as_ref() == Some(&joined) { 0.5 } else { 0.0 }
    }
}

/// Lowers map records and text between definitions, which contain many words on many subjects.
fn lower_unnamed_chunks(hit: &mut RankedCandidate<ChunkCandidate>) {
    match hit.candidate.kind {
        ChunkKind::Map => hit.apply_at_strength(MAP_AMONG_WORDS, 1.0),
        ChunkKind::Text => hit.apply_at_strength(TEXT, 1.0),
        _ => {}
    }
}

/// How similar the file name and the folders of a path are to the query, each 0 to 1.
#[derive(Clone, Copy)]
struct PathSimilarity {
    stem: f64,
    folder: f64,
}

impl PathSimilarity {
    fn measure(query: &Query, path: &str) -> Self {
        let words = PathWords::from_path(path);
        let (stem, folders): (Vec<&str>, Vec<&str>) =
            (words.file_stem().collect(), words.folder_words().collect());
        let nearest = folders.len().saturating_sub(4);
        Self { stem: name_similarity(query, &stem), folder: name_similarity(query, &folders[nearest..]) }
    }
}

/// Applies the factors that follow from the path and the classes of a file.
fn apply_path_factors(
    query: &Query,
    asked: ClassSet,
    shares: PathSimilarity,
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

/// Returns whether a definition is in a Rust module `test` or `tests` within a source file.
fn is_in_test_module(candidate: &ChunkCandidate) -> bool {
    candidate.path.ends_with(".rs")
        && candidate.title.as_deref().is_some_and(|title| {
            ["::test::", "::tests::"]
                .iter()
                .any(|module| title.starts_with(&module[2..]) || title.contains(module))
        })
}

/// Returns the similarity of a name and the query, 0 to 1: the mean of the share of the name's words that the query contains, and
/// the share of the query's words that the name contains.
fn name_similarity(query: &Query, name: &[&str]) -> f64 {
    let asked: Vec<&str> =
        query.words().iter().map(|word| word.text.as_str()).filter(|w| w.len() > 1).collect();
    if asked.is_empty() || name.is_empty() {
        return 0.0;
    }
    let of_name: f64 = name.iter().map(|word| best_likeness(word, asked.iter().copied())).sum();
    let of_query: f64 = asked.iter().map(|word| best_likeness(word, name.iter().copied())).sum();
    (of_name / name.len() as f64 + of_query / asked.len() as f64) / 2.0
}

/// Returns the indices of all hits, grouped by file; the hits of a file are in the order of their ranks.
fn group_by_file(ranked: &[RankedCandidate<ChunkCandidate>]) -> Vec<usize> {
    let mut all: Vec<usize> = (0..ranked.len()).collect();
    all.sort_by(|&left, &right| {
        let (left, right) = (&ranked[left], &ranked[right]);
        left.candidate.content.cmp(&right.candidate.content).then_with(|| compare_rank(left, right))
    });
    all
}

/// Lowers the map record of a file with a matching definition, unless `compares_words`. Raises the best chunk of each file by the
/// scores of the other matches in the file, relative to the file with the largest sum.
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

/// Sorts the hits, and removes all pieces of each definition but the best.
fn keep_best_pieces(ranked: &mut Vec<RankedCandidate<ChunkCandidate>>) {
    ranked.sort_by(compare_rank);
    let mut seen = HashSet::new();
    ranked.retain(|hit| seen.insert(hit.candidate.definition));
}

/// Lowers the second chunk of a file by the factor `further`, the third by its square, and so on. Sections of documents are not
/// lowered, because each has its own subject.
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
