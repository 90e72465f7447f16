//! Stores sets of row ids with one bit for each id.

/// A set of row ids, which are positive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdSet {
    bits: Vec<u8>,
}

impl IdSet {
    /// Creates a set with all ids from 0 to `last`, and up to seven more: the last byte is filled.
    pub fn with_ids_up_to(last: i64) -> Self {
        Self { bits: vec![u8::MAX; usize::try_from(last).map_or(0, |last| last / 8 + 1)] }
    }

    /// Returns whether the id is in the set.
    pub fn contains(&self, id: impl Into<i64>) -> bool {
        usize::try_from(id.into())
            .is_ok_and(|id| self.bits.get(id / 8).is_some_and(|byte| byte >> (id % 8) & 1 == 1))
    }

    /// Adds the ids that are in `other`.
    pub fn union_with(&mut self, other: &Self) {
        if self.bits.len() < other.bits.len() {
            self.bits.resize(other.bits.len(), 0);
        }
        self.bits.iter_mut().zip(&other.bits).for_each(|(bits, other)| *bits |= other);
    }

    /// Removes the ids that are not in `other`.
    pub fn intersect_with(&mut self, other: &Self) {
        self.bits.truncate(other.bits.len());
        self.bits.iter_mut().zip(&other.bits).for_each(|(bits, other)| *bits &= other);
    }

    /// Removes the ids that are in `other`.
    pub fn difference_with(&mut self, other: &Self) {
        self.bits.iter_mut().zip(&other.bits).for_each(|(bits, other)| *bits &= !other);
    }
}

impl<Id: Into<i64>> FromIterator<Id> for IdSet {
    fn from_iter<I: IntoIterator<Item = Id>>(ids: I) -> Self {
        let mut set = Self::default();
        for id in ids {
            let id = id.into() as usize;
            if set.bits.len() <= id / 8 {
                set.bits.resize(id / 8 + 1, 0);
            }
            set.bits[id / 8] |= 1 << (id % 8);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in() {
        let ids = [0_i64, 7, 8, 63, 64, 1_000];
        let set: IdSet = ids.into_iter().collect();
        for id in [-1, 0, 1, 7, 8, 9, 63, 64, 65, 999, 1_000, 1_001, i64::MAX] {
            assert_eq!(set.contains(id), ids.contains(&id), "{id}");
        }
        assert!(IdSet::with_ids_up_to(9).contains(9_i64) && !IdSet::with_ids_up_to(9).contains(99_i64));
    }

    #[test]
    fn sets_of_different_length_are_combined() {
        for (left, right) in
            [(&[1, 9][..], &[1, 2, 90][..]), (&[1, 2, 90], &[1, 9]), (&[], &[3]), (&[3], &[])]
        {
            let set = |ids: &[i64]| ids.iter().copied().collect::<IdSet>();
            let [mut both, mut rest, mut either] = [(); 3].map(|()| set(left));
            both.intersect_with(&set(right));
            either.union_with(&set(right));
            rest.difference_with(&set(right));
            for id in 0..100 {
                let (in_left, in_right) = (left.contains(&id), right.contains(&id));
                assert_eq!(both.contains(id), in_left && in_right, "{id}");
                assert_eq!(rest.contains(id), in_left && !in_right, "{id}");
                assert_eq!(either.contains(id), in_left || in_right, "{id}");
            }
        }
    }
}
