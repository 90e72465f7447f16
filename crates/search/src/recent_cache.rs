//! Caches the most recently used values, without a list of their order. Pure.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

/// A cache of the most recently used values, in two halves: when the young half is full, the old half is dropped.
pub struct RecentCache<K, V> {
    young: HashMap<K, V, RandomState>,
    old: HashMap<K, V, RandomState>,
}

impl<K, V> Default for RecentCache<K, V> {
    fn default() -> Self {
        Self { young: HashMap::default(), old: HashMap::default() }
    }
}

impl<K: Eq + Hash + Clone, V> RecentCache<K, V> {
    /// Returns a value; the cache holds at most `most`.
    pub fn get<Q: ?Sized + Eq + Hash>(&mut self, key: &Q, most: usize) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        if !self.young.contains_key(key) {
            let (key, value) = self.old.remove_entry(key)?;
            self.put(key, value, most);
        }
        self.young.get(key)
    }

    /// Adds a value.
    pub fn put(&mut self, key: K, value: V, most: usize) {
        if self.young.len() >= most / 2 {
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
        let mut recent: RecentCache<i32, i32> = RecentCache::default();
        for key in 0..100 {
            recent.put(key, 2 * key, 10);
            assert_eq!(recent.get(&0, 10), Some(&0), "used each time");
            assert_eq!(recent.get(&key, 10), Some(&(2 * key)));
            assert!(recent.young.len() + recent.old.len() <= 11);
        }
        assert_eq!(recent.get(&50, 10), None);
    }
}
