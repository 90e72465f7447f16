//! Ranks files and symbols with PageRank.

use super::CodeMap;
use super::graph::Graph;

/// Share of a file's rank that follows its references; the rest restarts.
/// Brin and Page, "The anatomy of a large-scale hypertextual Web search engine", 1998.
const DAMPING: f64 = 0.85;

/// Maximum number of rounds. Each multiplies the error by [`DAMPING`], to 1 % in total.
const MAX_ROUNDS: usize = 30;

/// Sum of changes of the ranks, which sum to 1, below which iteration stops.
const CONVERGED: f64 = 1e-6;

/// Share of restarts in the focused files and their neighbours; the rest is uniform.
const FOCUS_SHARE: f64 = 0.7;
const NEIGHBOUR_SHARE: f64 = 0.2;

/// An order of files and of their symbols.
#[derive(Clone, Debug, Default)]
pub struct Ranking {
    /// Positions of the files, the most important first.
    pub files: Vec<usize>,
    /// How much each symbol is used from outside; those of file `n` begin at `starts[n]`.
    uses: Vec<f64>,
    starts: Vec<usize>,
}

/// Orders files by PageRank over their references, then by path; those that are aside come last, unless they are in focus.
///
/// `focus` has worktree-relative paths of files or folders to favour. Paths that match nothing are ignored; without any, all
/// files are equal.
pub fn rank(map: &CodeMap, focus: &[&str]) -> Ranking {
    let (scores, ranks) = scores(map, focus);
    let (uses, starts) = uses_by_symbol(map, &ranks);
    let is_focused = |file: &str| focus.iter().any(|at| holds(at, file));
    let is_last = |file: usize| map.listed(file).is_aside && !is_focused(&map.listed(file).path);
    let mut files: Vec<usize> = (0..map.n_files()).collect();
    files.sort_unstable_by(|&left, &right| {
        let paths = || map.listed(left).path.cmp(&map.listed(right).path);
        let by_place = is_last(left).cmp(&is_last(right));
        by_place.then(scores[right].total_cmp(&scores[left])).then_with(paths)
    });
    Ranking { files, uses, starts }
}

/// Returns the score of each file, half its PageRank and half its share of the focus, and its PageRank; both sum to 1.
pub(super) fn scores(map: &CodeMap, focus: &[&str]) -> (Vec<f64>, Vec<f64>) {
    let start = start_shares(map, focus);
    let ranks = page_rank(&map.edges, &start);
    // Restarts at a file count as much as references to it: otherwise a focused file without references would rank below
    // everything that it references.
    let scores = ranks.iter().zip(&start).map(|(rank, start)| f64::midpoint(*rank, *start)).collect();
    (scores, ranks)
}

impl Ranking {
    /// Returns the same order without the files outside these paths; all files if there are none.
    pub fn below(mut self, map: &CodeMap, paths: &[String]) -> Self {
        let is_below = |file: &usize| paths.iter().any(|path| holds(path, map.files()[*file].path()));
        self.files.retain(|file| paths.is_empty() || is_below(file));
        self
    }

    /// Returns the positions of a file's symbols: by use, then by line; symbols without outside uses come last.
    pub fn symbols(&self, map: &CodeMap, file: usize) -> Vec<usize> {
        let lines = map.files()[file].symbols();
        let uses = &self.uses[self.starts[file]..];
        let mut symbols: Vec<usize> = (0..lines.len()).collect();
        symbols.sort_by(|&left, &right| {
            uses[right].total_cmp(&uses[left]).then(lines[left].line.cmp(&lines[right].line))
        });
        symbols
    }
}

/// References between files, summed, as shares of all that a file makes.
#[derive(Clone, Default)]
pub(super) struct Edges {
    /// Definer and share; those of file `n` are `ends[starts[n]..starts[n + 1]]`.
    ends: Vec<(u32, f64)>,
    starts: Vec<usize>,
}

impl Edges {
    pub(super) fn of(graph: &Graph, n_files: usize) -> Self {
        let mut edges = Self { ends: Vec::new(), starts: vec![0] };
        let mut sums = vec![0.0; n_files];
        for user in 0..n_files {
            let mut definers: Vec<u32> = Vec::new();
            for found in graph.uses_of(user) {
                if sums[found.definer as usize] == 0.0 {
                    definers.push(found.definer);
                }
                sums[found.definer as usize] += found.weight;
            }
            let total: f64 = definers.iter().map(|&definer| sums[definer as usize]).sum();
            for definer in definers {
                let sum = std::mem::take(&mut sums[definer as usize]);
                edges.ends.push((definer, sum / total));
            }
            edges.starts.push(edges.ends.len());
        }
        edges
    }

    fn from(&self, user: usize) -> &[(u32, f64)] {
        &self.ends[self.starts[user]..self.starts[user + 1]]
    }

    /// Their memory, bytes.
    pub(super) fn size(&self) -> usize {
        size_of_val(&*self.ends) + size_of_val(&*self.starts)
    }
}

/// Returns the restart probabilities, `[n_files]`, summing to 1.
fn start_shares(map: &CodeMap, focus: &[&str]) -> Vec<f64> {
    let n_files = map.n_files();
    let is_focused: Vec<bool> =
        map.files().iter().map(|file| focus.iter().any(|at| holds(at, file.path()))).collect();
    let mut is_near = vec![false; n_files];
    for user in 0..n_files {
        for (definer, _) in map.edges.from(user) {
            is_near[*definer as usize] |= is_focused[user];
            is_near[user] |= is_focused[*definer as usize];
        }
    }
    let n_focused = is_focused.iter().filter(|is| **is).count() as f64;
    let n_near = is_near.iter().filter(|is| **is).count() as f64;
    let focus_share = if n_focused > 0.0 { FOCUS_SHARE } else { 0.0 };
    let near_share = if n_near > 0.0 { NEIGHBOUR_SHARE } else { 0.0 };
    let anywhere = (1.0 - focus_share - near_share) / n_files as f64;
    let share = |is: bool, share: f64, n: f64| if is { share / n } else { 0.0 };
    let shares = is_focused.iter().zip(&is_near);
    shares
        .map(|(&is_focused, &is_near)| {
            anywhere + share(is_focused, focus_share, n_focused) + share(is_near, near_share, n_near)
        })
        .collect()
}

/// Tells whether `path` is `focus` or inside of it.
pub fn holds(focus: &str, path: &str) -> bool {
    let focus = focus.trim_start_matches("./").trim_end_matches('/');
    let rest = path.strip_prefix(focus);
    matches!(focus, "" | ".") || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the ranks, `[n_files]`, summing to 1. The rank of files without references restarts.
fn page_rank(edges: &Edges, start: &[f64]) -> Vec<f64> {
    let mut ranks = start.to_vec();
    for _ in 0..MAX_ROUNDS {
        let mut next = vec![0.0; ranks.len()];
        let mut unspent = 0.0;
        for (user, rank) in ranks.iter().enumerate() {
            let ends = edges.from(user);
            if ends.is_empty() {
                unspent += rank;
            }
            for (definer, share) in ends {
                next[*definer as usize] += DAMPING * rank * share;
            }
        }
        let anew = 1.0 - DAMPING + DAMPING * unspent;
        next.iter_mut().zip(start).for_each(|(rank, share)| *rank += anew * share);
        let change: f64 = next.iter().zip(&ranks).map(|(new, old)| (new - old).abs()).sum();
        ranks = next;
        if change < CONVERGED {
            break;
        }
    }
    ranks
}

/// Returns the weight of each symbol, and where those of each file begin: the sum over its users of their rank times the
/// share of the use.
fn uses_by_symbol(map: &CodeMap, ranks: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let mut n_symbols = 0;
    let begin = |file: &super::code_map::MapFile| {
        n_symbols += file.symbols().len();
        n_symbols - file.symbols().len()
    };
    let starts: Vec<usize> = map.files().iter().map(begin).collect();
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
