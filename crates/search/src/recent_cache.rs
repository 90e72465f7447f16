//! Caches the most recently used values, without a list of their order. Pure.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

/// A cache of at most `MOST` values in two halves. When the young half is full, it replaces the old half, whose values are dropped.
/// A value that is used moves to the young half.
pub struct RecentCache<K, V, const MOST: usize> {
    young: HashMap<K, V, RandomState>,
    old: HashMap<K, V, RandomState>,
}

impl<K, V, const MOST: usize> Default for RecentCache<K, V, MOST> {
    fn default() -> Self {
        Self { young: HashMap::default(), old: HashMap::default() }
    }
}

impl<K: Eq + Hash + Clone, V, const MOST: usize> RecentCache<K, V, MOST> {
    /// Returns the value of a key, if the cache has it, and moves the value to the young half.
    pub fn get<Q: ?Sized + Eq + Hash>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        if !self.young.contains_key(key) {
            let (key, value) = self.old.remove_entry(key)?;
            self.insert(key, value);
        }
        self.young.get(key)
    }

    /// Adds the value of a key. May drop the values that were not used recently.
    pub fn insert(&mut self, key: K, value: V) {
        if self.young.len() >= MOST / 2 {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_used_lately_is_dropped() {
        let mut recent: RecentCache<i32, i32, 10> = RecentCache::default();
        for key in 0..100 {
            recent.insert(key, 2 * key);
            assert_eq!(recent.get(&0), Some(&0), "used each time");
            assert_eq!(recent.get(&key), Some(&(2 * key)));
            assert!(recent.young.len() + recent.old.len() <= 11);
        }
        assert_eq!(recent.get(&50), None);
    }
}
