//! Reorders the fused candidates by explained factors.
//!
//! The fused score is multiplied by small factors, each of which has a reason that a person would give. Their sizes follow
//! from what they must outweigh, not from a search for the best figures. Those of the `…_AMONG_WORDS` constants were chosen on
//! training repositories (docs/src/benchmarks.md, Ranking).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use memod_base::types::{ChunkId, ClassSet, FileClass, Kind, RankingParts};
use memod_text::words as tokens;

use super::class_rules;
use super::fuse::{self, Signals, Weights};
use super::path_words::PathWords;
use super::query::Query;
use super::ranked::{Factor, Ranked};
use super::rare_word::lower_wordless;
use super::translation;

/// A query for a name wants its definition before its many uses, and before what has a similar name. It must outweigh a file
/// name and folder that match, and several matches in a file.
const DEFINITION: Factor = Factor::new("definition", 6.0);
/// A query with other words wants what they say; the name is one of its words.
const DEFINITION_AMONG_WORDS: Factor = Factor::new("definition", 1.4);
/// Files are named after their content. Not applied where words are compared one by one: `maxsim_path` says the same for code,
/// and for documents the halves disagree (nDCG@10 of sections -1.3 and +0.8).
const STEM: Factor = Factor::new("stem", 1.6);
/// Folders name an area, for many files at once.
const FOLDER: Factor = Factor::new("folder", 1.2);
/// A file about the subject mentions it in several places; only its best chunk gains.
const MATCHES: Factor = Factor::new("matches", 1.5);
/// A question is answered by one good chunk, so many matches in a file say less.
const MATCHES_AMONG_WORDS: Factor = Factor::new("matches", 1.3);
/// A map record repeats the definitions of its file with less detail.
const MAP: Factor = Factor::new("map", 0.8);
/// So it does of a question, where its many words find much.
const MAP_AMONG_WORDS: Factor = Factor::new("map", 0.5);
/// Text between definitions has no name that says what it is about.
const TEXT: Factor = Factor::new("text", 0.7);
/// A commit message describes former code with the same names; the worktree takes precedence.
const COMMIT: Factor = Factor::new("commit", 0.4);
/// A second chunk of a file is worth less than the first of another, because there are only ten places.
const FURTHER: Factor = Factor::new("further", 0.5);
/// A question is answered by a definition, and the next best may stand beside it.
const FURTHER_AMONG_WORDS: Factor = Factor::new("further", 0.8);

/// A chunk that some arm found.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The chunk.
    pub key: ChunkId,
    /// The first piece found of its definition; itself where it is whole.
    pub definition: ChunkId,
    /// Which content of the view it is part of.
    pub content: u32,
    /// Worktree-relative, with `/`.
    pub path: String,
    /// Classes of its file.
    pub classes: ClassSet,
    /// Kind of source.
    pub kind: Kind,
    /// Name of the definition.
    pub symbol: Option<Arc<str>>,
    /// Heading path, or enclosing names and own name.
    pub title: Option<Arc<str>>,
    /// First and last line, 1-based and inclusive.
    pub lines: (u32, u32),
    /// Byte span, half-open.
    pub bytes: (usize, usize),
    /// Its rank in each arm.
    pub signals: Signals,
}

/// Orders candidates by score, then by path, lines and key, which makes the order total. `wanted` are classes of files that
/// are asked for otherwise than in words. The parts of `without` have no effect.
pub(crate) fn rank(
    query: &Query,
    wanted: ClassSet,
    without: RankingParts,
    candidates: Vec<Candidate>,
) -> Vec<Ranked<Candidate>> {
    let signals: Vec<_> = candidates.iter().map(|c| (c.kind, c.signals)).collect();
    let by_word = signals.iter().any(|(_, signals)| signals.maxsim.is_some());
    let fused = fuse::fuse(&signals, &Weights::new(query, by_word).without(without));
    let mut ranked = Ranked::all(candidates, fused);
    ranked.iter_mut().for_each(|hit| hit.without = without);
    let target = Target::of(query);
    let asked = class_rules::asked(query).union(wanted);
    let mut shares_of_paths: HashMap<u32, PathShares> = HashMap::new();
    for hit in &mut ranked {
        let factor = if query.is_one_word() { DEFINITION } else { DEFINITION_AMONG_WORDS };
        hit.apply_at(factor, target.definition(&hit.candidate));
        if hit.candidate.kind != Kind::Commit {
            let Candidate { content, path, .. } = &hit.candidate;
            // All chunks of a content have one path.
            let shares = *shares_of_paths.entry(*content).or_insert_with(|| PathShares::of(query, path));
            apply_path(query, asked, shares, by_word, hit);
        } else if !query.asks_for_history() {
            hit.apply_at(COMMIT, 1.0);
        }
    }
    if by_word {
        ranked.iter_mut().for_each(lower_kinds);
    }
    lift_files(&mut ranked, by_word);
    merge_pieces(&mut ranked);
    spread_files(&mut ranked, if by_word { FURTHER_AMONG_WORDS } else { FURTHER });
    if query.is_one_word() {
        lower_wordless(&mut ranked, |candidate| &candidate.signals);
    }
    ranked.iter_mut().for_each(Ranked::bound);
    ranked.sort_by(order);
    ranked
}

fn order(left: &Ranked<Candidate>, right: &Ranked<Candidate>) -> std::cmp::Ordering {
    fn place(c: &Candidate) -> (&str, (u32, u32), ChunkId) {
        (&c.path, c.lines, c.key)
    }
    right.score.total_cmp(&left.score).then_with(|| place(&left.candidate).cmp(&place(&right.candidate)))
}

/// The names in a query.
struct Target<'a> {
    symbols: &'a [String],
    joined: Vec<String>,
    joined_words: Option<String>,
    /// How likely a name that differs in case or separators is meant.
    of_variant: f64,
}

impl<'a> Target<'a> {
    fn of(query: &'a Query) -> Self {
        let symbols = query.symbols();
        let joined = symbols.iter().map(|name| tokens::joined(name)).collect();
        let of_variant = if query.is_one_word() { 0.2 } else { 0.4 };
        Self { symbols, joined, joined_words: query.joined_words(), of_variant }
    }

    /// Returns how likely the candidate defines a name of the query, 0 to 1.
    fn definition(&self, candidate: &Candidate) -> f64 {
        let (Kind::Symbol, Some(symbol)) = (candidate.kind, candidate.symbol.as_deref()) else { return 0.0 };
        if self.joined.is_empty() && self.joined_words.is_none() {
            return 0.0;
        }
        let title = candidate.title.as_deref().unwrap_or(symbol);
        let is_named = |name: &str| title == name || symbol == name;
        let is_qualified = |name: &String| tokens::joined(title).ends_with(&tokens::joined(name));
        if let Some(name) = self.symbols.iter().find(|name| is_named(name)) {
            // `login` of another type is worth less than `Session::login` if the query names that.
            let full =
                self.symbols.iter().find(|full| full.len() > name.len() && full.ends_with(name.as_str()));
            return if full.is_none_or(is_qualified) { 1.0 } else { 0.6 };
        }
        let joined = tokens::joined(symbol);
        let is_same = |name: &String| *name == joined;
        if self.joined.iter().any(is_same) {
            return self.of_variant;
        }
        if self.joined_words.as_ref().is_some_and(is_same) { 0.5 } else { 0.0 }
    }
}

/// Lowers what has no name of its own: it holds many words on many subjects.
fn lower_kinds(hit: &mut Ranked<Candidate>) {
    match hit.candidate.kind {
        Kind::Map => hit.apply_at(MAP_AMONG_WORDS, 1.0),
        Kind::Text => hit.apply_at(TEXT, 1.0),
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
    fn of(query: &Query, path: &str) -> Self {
        let words = PathWords::of(path);
        let (stem, folders): (Vec<&str>, Vec<&str>) = (words.stem().collect(), words.folders().collect());
        let nearest = folders.len().saturating_sub(4);
        Self { stem: shared_words(query, &stem), folder: shared_words(query, &folders[nearest..]) }
    }
}

fn apply_path(
    query: &Query,
    asked: ClassSet,
    shares: PathShares,
    by_word: bool,
    hit: &mut Ranked<Candidate>,
) {
    if !by_word {
        hit.apply_at(STEM, shares.stem);
    }
    hit.apply_at(FOLDER, shares.folder);
    let classes = match is_in_test_module(&hit.candidate) {
        true => hit.candidate.classes.union(ClassSet::of(&[FileClass::Test])),
        false => hit.candidate.classes,
    };
    let is_own_language = || translation::is_asked(query, &hit.candidate.path);
    let asked = match classes.has(FileClass::Translation) && is_own_language() {
        true => asked.union(ClassSet::of(&[FileClass::Translation])),
        false => asked,
    };
    class_rules::factors(classes, asked).for_each(|(name, factor)| hit.apply(name, factor));
}

/// Returns whether a definition is in a module of tests beside the code: `mod tests` of Rust.
fn is_in_test_module(candidate: &Candidate) -> bool {
    let of_module = |title: &str| {
        ["::test::", "::tests::"]
            .iter()
            .any(|module| title.starts_with(&module[2..]) || title.contains(module))
    };
    candidate.path.ends_with(".rs") && candidate.title.as_deref().is_some_and(of_module)
}

/// Returns the similarity of a name and the query, 0 to 1: the mean of the share of the name in the query and of the share
/// of the query in the name.
fn shared_words(query: &Query, name: &[&str]) -> f64 {
    let asked: Vec<&str> =
        query.words().iter().map(|word| word.text.as_str()).filter(|w| w.len() > 1).collect();
    if asked.is_empty() || name.is_empty() {
        return 0.0;
    }
    let of_name: f64 = name.iter().map(|word| likest(word, asked.iter().copied())).sum();
    let of_query: f64 = asked.iter().map(|word| likest(word, name.iter().copied())).sum();
    (of_name / name.len() as f64 + of_query / asked.len() as f64) / 2.0
}

pub(super) fn likest<'a>(word: &str, others: impl Iterator<Item = &'a str>) -> f64 {
    others.map(|other| likeness(word, other)).fold(0.0, f64::max)
}

/// Returns 1 for the same word, 0.6 for a likely form of it (`retry`, `retries`), and 0 otherwise.
fn likeness(left: &str, right: &str) -> f64 {
    if left == right {
        return 1.0;
    }
    let n_common = left.bytes().zip(right.bytes()).take_while(|(l, r)| l == r).count();
    let shorter = left.len().min(right.len());
    // At three quarters, `parse` and `parsing` match, and `content` and `context` do not.
    if n_common >= 4 && 4 * n_common >= 3 * shorter { 0.6 } else { 0.0 }
}

/// Indices of all hits, those of each file together, best first.
fn by_file(ranked: &[Ranked<Candidate>]) -> Vec<usize> {
    let content = |nth: usize| ranked[nth].candidate.content;
    let mut all: Vec<usize> = (0..ranked.len()).collect();
    all.sort_by(|&left, &right| {
        content(left).cmp(&content(right)).then_with(|| order(&ranked[left], &ranked[right]))
    });
    all
}

/// Moves map records below their definitions, and raises the best chunk of a file by its other matches, relative to the file
/// with the most.
fn lift_files(ranked: &mut [Ranked<Candidate>], by_word: bool) {
    let matches = if by_word { MATCHES_AMONG_WORDS } else { MATCHES };
    let all = by_file(ranked);
    let is_one =
        |left: &usize, right: &usize| ranked[*left].candidate.content == ranked[*right].candidate.content;
    let files: Vec<&[usize]> = all.chunk_by(is_one).collect();
    let further = |file: &[usize]| file[1..].iter().map(|&nth| ranked[nth].fused).sum::<f64>();
    let sums: Vec<f64> = files.iter().map(|file| further(file)).collect();
    let most = sums.iter().copied().fold(0.0, f64::max);
    for (file, sum) in files.iter().zip(sums) {
        let has_symbol = file.iter().any(|&nth| ranked[nth].candidate.kind == Kind::Symbol);
        for &nth in file.iter().filter(|_| has_symbol && !by_word) {
            if ranked[nth].candidate.kind == Kind::Map {
                ranked[nth].apply_at(MAP, 1.0);
            }
        }
        if most > 0.0 {
            let best = file.iter().copied().min_by(|&left, &right| order(&ranked[left], &ranked[right]));
            ranked[best.unwrap_or(file[0])].apply_at(matches, sum / most);
        }
    }
}

/// Keeps the best piece of each definition.
fn merge_pieces(ranked: &mut Vec<Ranked<Candidate>>) {
    ranked.sort_by(order);
    let mut seen = HashSet::new();
    ranked.retain(|hit| seen.insert(hit.candidate.definition));
}

/// Lowers each further chunk of a file once more, except sections of a document, which have subjects of their own.
fn spread_files(ranked: &mut [Ranked<Candidate>], further: Factor) {
    let (mut times, mut last) = (1.0, None);
    for nth in by_file(ranked) {
        let content = ranked[nth].candidate.content;
        if last.replace(content) != Some(content) {
            times = 1.0;
        }
        if ranked[nth].candidate.kind != Kind::Doc {
            ranked[nth].apply(further.name, times);
            times *= further.at_full;
        }
    }
}

#[cfg(test)]
mod tests;
