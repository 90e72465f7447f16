//! Finds the newest successors of a superseded memory, and ranks them right before the memory.
//!
//! A memory and its successor answer the same question, even if they share no word. Pure.

use std::collections::{HashMap, HashSet};

use memod_proto::Hit;

/// An entry of a ranked list, which may be a superseded memory.
pub trait Supersedable {
    /// Returns the id of the memory; `None` if the entry is no memory.
    fn id(&self) -> Option<&str>;
    /// Returns the ids of the living memories that supersede this memory.
    fn successors(&self) -> &[String];
    /// Sets the score to the score of an entry that this memory supersedes.
    fn raise_score_to(&mut self, superseded: &Self);
}

impl Supersedable for Hit {
    fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn successors(&self) -> &[String] {
        self.memory.as_ref().map_or(&[], |memory| &memory.superseded_by)
    }

    fn raise_score_to(&mut self, superseded: &Self) {
        self.score = superseded.score;
    }
}

/// Moves the successors of each memory right before the memory, if they are in the list and rank lower. Memories that supersede
/// each other in a circle keep their first entry in place.
pub fn move_successors_up<T: Supersedable>(ranked: &mut Vec<T>) {
    let n_hits = ranked.len();
    let mut at = 0;
    let mut moved = 0;
    while at < ranked.len() && moved <= n_hits {
        let successors = ranked[at].successors();
        let later = if successors.is_empty() {
            None
        } else {
            ranked[at..]
                .iter()
                .position(|hit| hit.id().is_some_and(|id| successors.iter().any(|other| other == id)))
        };
        match later.filter(|later| *later > 0) {
            Some(later) => {
                let mut hit = ranked.remove(at + later);
                hit.raise_score_to(&ranked[at]);
                ranked.insert(at, hit);
                moved += 1;
            }
            None => at += 1,
        }
    }
}

/// The successors of memories, to follow chains of them.
pub(crate) struct SuccessorChains {
    /// By id of a memory: the ids of the memories that supersede it directly.
    pub(crate) successors: HashMap<String, Vec<String>>,
    /// Ids of the memories that pass a filter.
    pub(crate) passing: HashSet<String>,
}

impl SuccessorChains {
    /// Returns the newest direct and indirect successors of a memory: those without successors, and those that pass the filter
    /// while none of their successors does. If there are none, because the chain is a circle, returns the direct successors.
    pub(crate) fn newest_successors(&self, id: &str) -> Vec<String> {
        let above = self.all_successors(id);
        let newest: Vec<String> = above
            .into_iter()
            .filter(|id| {
                self.direct_successors(id).is_empty()
                    || self.passing.contains(*id) && !self.has_passing_successor(id)
            })
            .map(str::to_owned)
            .collect();
        if newest.is_empty() { self.direct_successors(id).to_vec() } else { newest }
    }

    /// Returns all direct and indirect successors of a memory, nearest first.
    fn all_successors<'a>(&'a self, id: &'a str) -> Vec<&'a str> {
        let mut above = vec![id];
        let mut seen = HashSet::from([id]);
        let mut at = 0;
        while let Some(id) = above.get(at) {
            above.extend(self.direct_successors(id).iter().map(String::as_str).filter(|id| seen.insert(*id)));
            at += 1;
        }
        above.remove(0);
        above
    }

    /// Returns whether a direct or indirect successor of a memory passes the filter.
    fn has_passing_successor(&self, id: &str) -> bool {
        self.all_successors(id).into_iter().any(|id| self.passing.contains(id))
    }

    fn direct_successors(&self, id: &str) -> &[String] {
        self.successors.get(id).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_that_pass_are_named() {
        let chains = |links: &[(&str, &[&str])], passing: &[&str]| SuccessorChains {
            successors: links
                .iter()
                .map(|(id, above)| ((*id).to_owned(), above.iter().copied().map(str::to_owned).collect()))
                .collect(),
            passing: passing.iter().copied().map(str::to_owned).collect(),
        };
        let chain: &[(&str, &[&str])] = &[("a", &["b"]), ("b", &["c", "x"]), ("c", &["d"])];
        assert_eq!(chains(chain, &["a", "b", "c", "d", "x"]).newest_successors("a"), ["x", "d"]);
        assert_eq!(
            chains(chain, &["a", "b", "x"]).newest_successors("a"),
            ["x", "d"],
            "named though left out"
        );
        assert_eq!(chains(chain, &["a", "b", "c"]).newest_successors("a"), ["c", "x", "d"]);
        assert!(chains(chain, &["d"]).newest_successors("d").is_empty());
        let circle: &[(&str, &[&str])] = &[("a", &["b"]), ("b", &["a"])];
        assert_eq!(chains(circle, &["a", "b"]).newest_successors("a"), ["b"]);
    }
}
