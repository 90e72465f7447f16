//! Sums the uses between files.

use super::graph::UseGraph;

/// The uses of each file, summed by the files that define the names, as shares of all its uses.
#[derive(Clone, Default)]
pub(super) struct FileEdges {
    /// Defining files with their shares; those of file `n` are `ends[starts[n]..starts[n + 1]]`.
    ends: Vec<(u32, f64)>,
    starts: Vec<usize>,
}

impl FileEdges {
    pub(super) fn from_graph(graph: &UseGraph, n_files: usize) -> Self {
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

    pub(super) fn definer_shares(&self, user: usize) -> &[(u32, f64)] {
        &self.ends[self.starts[user]..self.starts[user + 1]]
    }

    /// Returns the size in memory, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.ends) + size_of_val(&*self.starts)
    }
}
