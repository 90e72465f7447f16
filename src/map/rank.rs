//! Ranks files and symbols with PageRank.

use super::MapFile;
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

/// A ranked file.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedFile {
    /// Position in the files given.
    pub file: usize,
    /// Half its PageRank, half its share of the focus; the scores of all files sum to 1.
    pub score: f64,
    /// Positions of its symbols, the most used first.
    pub symbols: Vec<usize>,
}

/// Orders files by PageRank over their references, then by path.
///
/// `focus` has worktree-relative paths of files or folders to favour. Paths that match nothing are ignored; without any, all
/// files are equal.
pub fn rank(files: &[MapFile<'_>], focus: &[&str]) -> Vec<RankedFile> {
    let graph = Graph::of(files);
    let edges = Edges::of(&graph, files.len());
    let start = start_shares(files, focus, &edges);
    let scores = page_rank(&edges, &start);
    let uses = uses_by_symbol(files, &graph, &scores);
    // Restarts at a file count as much as references to it: otherwise a focused file without references would rank below
    // everything that it references.
    let scores = scores.iter().zip(&start).map(|(rank, start)| f64::midpoint(*rank, *start));
    let mut ranked: Vec<RankedFile> = scores
        .enumerate()
        .map(|(file, score)| RankedFile { file, score, symbols: by_use(&files[file], &uses[file]) })
        .collect();
    ranked.sort_by(|left, right| {
        let paths = || files[left.file].path.cmp(files[right.file].path);
        right.score.total_cmp(&left.score).then_with(paths).then(left.file.cmp(&right.file))
    });
    ranked
}

/// References between files, summed, as shares of all that a file makes.
struct Edges {
    /// Definer and share; those of file `n` are `ends[starts[n]..starts[n + 1]]`.
    ends: Vec<(u32, f64)>,
    starts: Vec<usize>,
}

impl Edges {
    fn of(graph: &Graph, n_files: usize) -> Self {
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
}

/// Returns the restart probabilities, `[n_files]`, summing to 1.
fn start_shares(files: &[MapFile<'_>], focus: &[&str], edges: &Edges) -> Vec<f64> {
    let n_files = files.len() as f64;
    let is_focused: Vec<bool> =
        files.iter().map(|file| focus.iter().any(|at| holds(at, file.path))).collect();
    let mut is_near = vec![false; files.len()];
    for user in 0..files.len() {
        for (definer, _) in edges.from(user) {
            is_near[*definer as usize] |= is_focused[user];
            is_near[user] |= is_focused[*definer as usize];
        }
    }
    let n_focused = is_focused.iter().filter(|is| **is).count() as f64;
    let n_near = is_near.iter().filter(|is| **is).count() as f64;
    let focus_share = if n_focused > 0.0 { FOCUS_SHARE } else { 0.0 };
    let near_share = if n_near > 0.0 { NEIGHBOUR_SHARE } else { 0.0 };
    let anywhere = (1.0 - focus_share - near_share) / n_files;
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

/// Returns the weight of each symbol of each file: the sum over its users of their rank times the share of the use.
fn uses_by_symbol(files: &[MapFile<'_>], graph: &Graph, ranks: &[f64]) -> Vec<Vec<f64>> {
    let mut uses: Vec<Vec<f64>> = files.iter().map(|file| vec![0.0; file.symbols.len()]).collect();
    for (user, rank) in ranks.iter().enumerate() {
        let found = graph.uses_of(user);
        let total: f64 = found.iter().map(|one| one.weight).sum();
        for one in found {
            uses[one.definer as usize][one.symbol as usize] += rank * one.weight / total;
        }
    }
    uses
}

/// Orders the symbols of a file by use, then by line; symbols without outside uses come last.
fn by_use(file: &MapFile<'_>, uses: &[f64]) -> Vec<usize> {
    let mut symbols: Vec<usize> = (0..uses.len()).collect();
    symbols.sort_by(|&left, &right| {
        let lines = || file.symbols[left].line.cmp(&file.symbols[right].line);
        uses[right].total_cmp(&uses[left]).then_with(lines).then(left.cmp(&right))
    });
    symbols
}
