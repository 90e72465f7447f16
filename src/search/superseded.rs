//! Puts what supersedes a memory right before it.
//!
//! Both answer the same question, and need not share a word. Pure.

use crate::proto::Hit;

/// An entry of a ranked list that may be a memory.
pub trait Superseded {
    /// Id of the memory; `None` for anything else.
    fn id(&self) -> Option<&str>;
    /// Ids of the living memories that supersede it.
    fn successors(&self) -> &[String];
    /// Ranks it no lower than an entry that it supersedes.
    fn raise_to(&mut self, superseded: &Self);
}

impl Superseded for Hit {
    fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn successors(&self) -> &[String] {
        self.memory.as_ref().map_or(&[], |memory| &memory.superseded_by)
    }

    fn raise_to(&mut self, superseded: &Self) {
        self.score = superseded.score;
    }
}

/// Moves the successors of a memory before it, as far as they are in the list. In a circle the first stays.
pub fn put_above_superseded<T: Superseded>(ranked: &mut Vec<T>) {
    let n_hits = ranked.len();
    let mut at = 0;
    let mut moved = 0;
    while at < ranked.len() && moved <= n_hits {
        let successors = ranked[at].successors();
        let is_successor = |hit: &T| hit.id().is_some_and(|id| successors.iter().any(|other| other == id));
        let later = if successors.is_empty() { None } else { ranked[at..].iter().position(is_successor) };
        match later.filter(|later| *later > 0) {
            Some(later) => {
                let mut hit = ranked.remove(at + later);
                hit.raise_to(&ranked[at]);
                ranked.insert(at, hit);
                moved += 1;
            }
            None => at += 1,
        }
    }
}
