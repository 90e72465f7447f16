//! Finds the position of an id in a sorted list of ids, in constant time. Pure.

/// A sorted list of ids, as one bit for each possible id, in words of 64 bits.
#[derive(Clone, Debug, Default)]
pub(super) struct IdPositions {
    /// The id of the first bit; a multiple of 64.
    first: i64,
    /// The bits of 64 ids, and the number of listed ids before them.
    words: Vec<(u64, u32)>,
}

impl IdPositions {
    /// Creates the list from ids, which must ascend.
    pub(super) fn new(ids: impl Iterator<Item = i64>) -> Self {
        let mut places = Self::default();
        for (place, id) in (0..).zip(ids) {
            if place == 0 {
                places.first = id & !63;
            }
            let distance = (id - places.first) as usize;
            if places.words.len() <= distance / 64 {
                places.words.resize(distance / 64 + 1, (0, place));
            }
            places.words[distance / 64].0 |= 1 << (distance % 64);
        }
        places
    }

    /// Returns the position of an id (the number of smaller ids), if the id is in the list.
    #[inline]
    pub(super) fn get(&self, id: i64) -> Option<usize> {
        let distance = usize::try_from(id - self.first).ok()?;
        let (word, before) = self.words.get(distance / 64)?;
        let bit = 1 << (distance % 64);
        (word & bit != 0).then(|| *before as usize + (word & (bit - 1)).count_ones() as usize)
    }

    /// Returns the size in memory, bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.words.len() * size_of::<(u64, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use memod_testing::RandomNumbers;

    use super::*;

    #[test]
    fn places_are_those_in_the_list() {
        let mut random = RandomNumbers::new(6);
        for most in [1, 3, 200] {
            let mut id = random.number_below(5_000) as i64;
            let ids: Vec<i64> = (0..300)
                .map(|_| {
                    id += 1 + random.number_below(most) as i64;
                    id
                })
                .collect();
            let places = IdPositions::new(ids.iter().copied());
            for id in ids[0] - 70..=ids[299] + 70 {
                assert_eq!(places.get(id), ids.binary_search(&id).ok(), "{id}");
            }
        }
        assert_eq!(IdPositions::new([].into_iter()).get(0), None);
    }
}
