//! Ranks files and symbols with PageRank.

use super::file_edges::FileEdges;
use super::map_file::contains_path;
use super::{CodeFile, CodeMap};

/// Share of a file's rank that goes to the files that it uses; the rest restarts. Brin and Page, "The anatomy of a
/// large-scale hypertextual Web search engine", 1998.
const DAMPING: f64 = 0.85;

/// Maximum number of rounds. Each round multiplies the error by [`DAMPING`]; all of them reduce it to 1 %.
const MAX_ROUNDS: usize = 30;

/// Sum of changes of the ranks, which sum to 1, below which iteration stops.
const CONVERGED: f64 = 1e-6;

/// Share of the restarts that begin at a file in focus.
const FOCUS_SHARE: f64 = 0.7;
/// Share of the restarts that begin at a neighbour of a file in focus; the remaining restarts are uniform.
const NEIGHBOUR_SHARE: f64 = 0.2;

/// Share of the restarts that begin at a main file: an entry point, or the file of the main class. A reader begins there too.
const MAIN_SHARE: f64 = 0.15;

/// An order of files and of their symbols.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    /// Positions of the files, the most important first.
    pub files: Vec<usize>,
    /// Weight of the uses of each symbol in other files; the symbols of file `n` begin at `starts[n]`.
    uses: Vec<f64>,
    starts: Vec<usize>,
}

/// Orders files by PageRank over their uses, then by path. Tests and generated or vendored files come last, unless they are
/// in focus.
///
/// `focus` has worktree-relative paths of files or folders to favour. Paths that match no file are ignored; without focus, the
/// files at the positions `main_files` are favoured a little.
pub fn rank_files(map: &CodeMap, focus: &[&str], main_files: &[usize]) -> Ranking {
    let (scores, ranks) = score_files(map, focus, main_files);
    let (uses, starts) = uses_by_symbol(map, &ranks);
    let mut files: Vec<usize> = (0..map.n_files()).collect();
    files.sort_unstable_by(|&left, &right| {
        let by_place = is_last(map, left, focus).cmp(&is_last(map, right, focus));
        by_place
            .then(scores[right].total_cmp(&scores[left]))
            .then_with(|| map.file_at(left).path.cmp(&map.file_at(right).path))
    });
    Ranking { files, uses, starts }
}

/// Returns whether a file comes after the others: it is a test, or generated or vendored, and not in focus.
fn is_last(map: &CodeMap, file: usize, focus: &[&str]) -> bool {
    let CodeFile { path, ranks_last: is_aside, .. } = map.file_at(file);
    *is_aside && !focus.iter().any(|at| contains_path(at, path))
}

/// Returns the score of each file, which is half its PageRank and half its restart probability, and the PageRank of each
/// file. The scores sum to 1, and so do the PageRanks.
pub(super) fn score_files(map: &CodeMap, focus: &[&str], main_files: &[usize]) -> (Vec<f64>, Vec<f64>) {
    let start = restart_probabilities(map, focus, main_files);
    let ranks = page_rank(&map.edges, &start);
    // Restarts at a file count as much as uses of it: otherwise a focused file that no other uses would rank below the files
    // that it uses.
    let scores = ranks.iter().zip(&start).map(|(rank, start)| f64::midpoint(*rank, *start)).collect();
    (scores, ranks)
}

impl Ranking {
    /// Returns the ranking without the files outside of `paths`; with all files if `paths` is empty.
    pub fn retain_below(mut self, map: &CodeMap, paths: &[String]) -> Self {
        self.files.retain(|file| {
            paths.is_empty() || paths.iter().any(|path| contains_path(path, map.files()[*file].path()))
        });
        self
    }

    /// Returns the positions of a file's symbols, ordered by the weight of their uses, then by line; symbols that no other
    /// file uses come last, and of these the functions and types first.
    pub fn ordered_symbols(&self, map: &CodeMap, file: usize) -> Vec<usize> {
        let lines = map.files()[file].symbols();
        let uses = &self.uses[self.starts[file]..];
        let mut symbols: Vec<usize> = (0..lines.len()).collect();
        symbols.sort_by(|&left, &right| {
            let by_kind = lines[left].is_value.cmp(&lines[right].is_value);
            uses[right].total_cmp(&uses[left]).then(by_kind).then(lines[left].line.cmp(&lines[right].line))
        });
        symbols
    }
}

/// Returns the restart probability of each file, `[n_files]`, summing to 1.
fn restart_probabilities(map: &CodeMap, focus: &[&str], main_files: &[usize]) -> Vec<f64> {
    let n_files = map.n_files();
    let is_focused: Vec<bool> =
        map.files().iter().map(|file| focus.iter().any(|at| contains_path(at, file.path()))).collect();
    let mut is_near = vec![false; n_files];
    for user in 0..n_files {
        for (definer, _) in map.edges.definer_shares(user) {
            is_near[*definer as usize] |= is_focused[user];
            is_near[user] |= is_focused[*definer as usize];
        }
    }
    let n_focused = is_focused.iter().filter(|is| **is).count() as f64;
    let n_near = is_near.iter().filter(|is| **is).count() as f64;
    let focus_share = if n_focused > 0.0 { FOCUS_SHARE } else { 0.0 };
    let near_share = if n_near > 0.0 { NEIGHBOUR_SHARE } else { 0.0 };
    let main_share = if n_focused > 0.0 || main_files.is_empty() { 0.0 } else { MAIN_SHARE };
    let anywhere = (1.0 - focus_share - near_share - main_share) / n_files as f64;
    let shares = is_focused.iter().zip(&is_near);
    let mut restarts: Vec<f64> = shares
        .map(|(&is_focused, &is_near)| {
            let focus = if is_focused { focus_share / n_focused } else { 0.0 };
            let near = if is_near { near_share / n_near } else { 0.0 };
            anywhere + focus + near
        })
        .collect();
    main_files.iter().for_each(|file| restarts[*file] += main_share / main_files.len() as f64);
    restarts
}

/// Returns the PageRank of each file, `[n_files]`, summing to 1. The rank of a file without uses restarts.
fn page_rank(edges: &FileEdges, start: &[f64]) -> Vec<f64> {
    let mut ranks = start.to_vec();
    for _ in 0..MAX_ROUNDS {
        let mut next = vec![0.0; ranks.len()];
        let mut unspent = 0.0;
        for (user, rank) in ranks.iter().enumerate() {
            let ends = edges.definer_shares(user);
            if ends.is_empty() {
                unspent += rank;
            }
            for (definer, share) in ends {
                next[*definer as usize] += DAMPING * rank * share;
            }
        }
        let restarted = 1.0 - DAMPING + DAMPING * unspent;
        next.iter_mut().zip(start).for_each(|(rank, share)| *rank += restarted * share);
        let change: f64 = next.iter().zip(&ranks).map(|(new, old)| (new - old).abs()).sum();
        ranks = next;
        if change < CONVERGED {
            break;
        }
    }
    ranks
}

/// Returns the weight of each symbol, and the position of each file's first symbol. The weight of a symbol is the sum, over
/// the files that use it, of the file's rank times the share of the use.
fn uses_by_symbol(map: &CodeMap, ranks: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let mut n_symbols = 0;
    let starts: Vec<usize> = map
        .files()
        .iter()
        .map(|file| {
            n_symbols += file.symbols().len();
            n_symbols - file.symbols().len()
        })
        .collect();
    let mut weights = vec![0.0; n_symbols];
    for (user, rank) in ranks.iter().enumerate() {
        let found = map.graph.uses_of(user);
        let total: f64 = found.iter().map(|one| one.weight).sum();
        for one in found {
            weights[starts[one.definer as usize] + one.symbol as usize] += rank * one.weight / total;
        }
    }
    (weights, starts)
}
